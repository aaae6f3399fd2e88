// A hash table from a few int32 to one int32: edges, faces and tets by their sorted corners, entities by tag.
#ifndef FLX_MESH_TUPLE_TABLE_H
#define FLX_MESH_TUPLE_TABLE_H

#include "base/base.h"

#define FLX_TUPLE_MAX 4

typedef struct flx_tuple_table
{
    flx_context* ctx;
    int32_t      width;      // int32 in a key, 2 to FLX_TUPLE_MAX
    int64_t      count;      // keys held
    int64_t      slot_count; // a power of two, or 0
    int32_t*     slot;       // [slot_count][width + 1]: key, value; value -1 = free
} flx_tuple_table;

void flx__tuple_table_begin(flx_tuple_table* table, flx_context* ctx, int32_t width);
void flx__tuple_table_end(flx_tuple_table* table);

/// *value points at the key's value; a key that is new gets `initial` (>= 0). Valid until the next add.
flx_status flx__tuple_add(flx_tuple_table* table, const int32_t* key, int32_t initial, int32_t** value);
/// The key's value, or -1.
int32_t flx__tuple_get(const flx_tuple_table* table, const int32_t* key);

/// Sort 2, 3 or 4 corners ascending, in place: the key that does not depend on their order.
void flx__tuple_sort(int32_t* key, int32_t width);

#endif
