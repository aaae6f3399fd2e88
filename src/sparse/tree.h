// Elimination tree of a symmetric pattern, its postorder and the column counts of L.
#ifndef FLX_SPARSE_TREE_H
#define FLX_SPARSE_TREE_H

#include "sparse/sparse.h"

/// Pattern of the strict lower triangle by rows: the columns k < i of row i, ascending. Entries whose column is
/// `free_count` or more are left out: those columns are not eliminated.
typedef struct flx__rows
{
    int32_t  n;
    int64_t* first;  // [n + 1]
    int32_t* column; // [first[n]]
} flx__rows;

flx_status flx__rows_from_lower(flx_context* ctx, const flx_csc* a, int32_t free_count, flx__rows* out);
void       flx__rows_release(flx_context* ctx, flx__rows* rows);

/// out parent [n], -1 for a root; scratch ancestor [n].
void flx__etree(const flx__rows* rows, int32_t* parent, int32_t* ancestor);
/// Children before parents, each subtree contiguous, children of one parent in ascending `key` (NULL: index) order.
/// out post [n]; scratch work [3 n].
void flx__postorder(int32_t n, const int32_t* parent, const int32_t* key, int32_t* post, int32_t* work);
/// Entries of each column of L, the diagonal included; only those of the first `free_count` columns have a meaning.
/// out count [n]; scratch work [4 n].
void flx__column_counts(const flx_csc* a, int32_t free_count, const int32_t* parent, const int32_t* post,
                        int32_t* count, int32_t* work);

#endif
