#include "mesh/tuple_table.h"

#include <string.h>

void flx__tuple_table_begin(flx_tuple_table* table, flx_context* ctx, int32_t width)
{
    FLX_ASSERT(width >= 1 && width <= FLX_TUPLE_MAX);
    *table = (flx_tuple_table){.ctx = ctx, .width = width};
}

void flx__tuple_table_end(flx_tuple_table* table)
{
    if (table->ctx) flx__free(table->ctx, table->slot);
    table->slot       = NULL;
    table->slot_count = 0;
    table->count      = 0;
}

static int32_t* find(const flx_tuple_table* table, const int32_t* key)
{
    const int32_t width = table->width;
    uint64_t      hash  = UINT64_C(0x9E3779B97F4A7C15);
    for (int32_t i = 0; i < width; ++i)
    {
        hash ^= (uint32_t)key[i];
        hash *= UINT64_C(0xBF58476D1CE4E5B9);
        hash ^= hash >> 29;
    }
    const uint64_t mask = (uint64_t)table->slot_count - 1;
    for (uint64_t i = hash & mask;; i = (i + 1) & mask)
    {
        int32_t* slot = table->slot + i * (uint64_t)(width + 1);
        if (slot[width] < 0 || memcmp(slot, key, (size_t)width * sizeof *key) == 0) return slot;
    }
}

static flx_status grow(flx_tuple_table* table)
{
    const int64_t   step  = table->width + 1;
    flx_tuple_table wider = *table;
    wider.slot_count      = table->slot_count ? table->slot_count * 2 : 64;
    wider.slot            = flx__alloc(table->ctx, wider.slot_count * step, sizeof *wider.slot);
    if (!wider.slot) return FLX_ERR_MEMORY;
    memset(wider.slot, 0xFF, (size_t)(wider.slot_count * step) * sizeof *wider.slot);
    for (int64_t i = 0; i < table->slot_count; ++i)
    {
        const int32_t* slot = table->slot + i * step;
        if (slot[table->width] >= 0) memcpy(find(&wider, slot), slot, (size_t)step * sizeof *slot);
    }
    flx__free(table->ctx, table->slot);
    *table = wider;
    return FLX_OK;
}

flx_status flx__tuple_add(flx_tuple_table* table, const int32_t* key, int32_t initial, int32_t** value)
{
    FLX_ASSERT(initial >= 0);
    if (table->count * 3 >= table->slot_count * 2)
    {
        const flx_status status = grow(table);
        if (status != FLX_OK) return status;
    }
    int32_t* slot = find(table, key);
    if (slot[table->width] < 0)
    {
        memcpy(slot, key, (size_t)table->width * sizeof *key);
        slot[table->width] = initial;
        table->count += 1;
    }
    *value = slot + table->width;
    return FLX_OK;
}

int32_t flx__tuple_get(const flx_tuple_table* table, const int32_t* key)
{
    return table->slot_count == 0 ? -1 : find(table, key)[table->width];
}

void flx__tuple_sort(int32_t* key, int32_t width)
{
    for (int32_t i = 1; i < width; ++i)
        for (int32_t j = i; j > 0 && key[j - 1] > key[j]; --j)
        {
            const int32_t t = key[j];
            key[j]          = key[j - 1];
            key[j - 1]      = t;
        }
}
