// Elimination tree, postorder and column counts.
//
//   parent(j) = min { i > j : l_ij != 0 }
//   row i of L is the subtree of the elimination tree that is spanned by i and the k < i with a_ik != 0;
//   |L_j| = 1 + number of row subtrees that contain j, counted by their leaves and the leaves' common ancestors.
// Based on [Liu90] (tree, path compression) and [GilbertNgPeyton94] (counts).
#include "sparse/tree.h"

#include <string.h>

flx_status flx__rows_from_lower(flx_context* ctx, const flx_csc* a, int32_t free_count, flx__rows* out)
{
    flx_status    status = FLX_OK;
    const int32_t n      = a->n;
    *out                 = (flx__rows){.n = n};

    FLX_NEW_ZERO(ctx, out->first, (int64_t)n + 1);
    for (int32_t k = 0; k < free_count; ++k)
        for (int64_t p = a->first[k]; p < a->first[k + 1]; ++p)
            if (a->row[p] > k) ++out->first[a->row[p] + 1];
    for (int32_t i = 0; i < n; ++i) out->first[i + 1] += out->first[i];

    FLX_NEW(ctx, out->column, out->first[n]);
    for (int32_t k = 0; k < free_count; ++k)
        for (int64_t p = a->first[k]; p < a->first[k + 1]; ++p)
            if (a->row[p] > k) out->column[out->first[a->row[p]]++] = k;
    memmove(out->first + 1, out->first, (size_t)n * sizeof *out->first); // first[i] has become the end of row i
    out->first[0] = 0;

done:
    if (status != FLX_OK) flx__rows_release(ctx, out);
    return status;
}

void flx__rows_release(flx_context* ctx, flx__rows* rows)
{
    flx__free(ctx, rows->first);
    flx__free(ctx, rows->column);
    *rows = (flx__rows){0};
}

void flx__etree(const flx__rows* rows, int32_t* parent, int32_t* ancestor)
{
    for (int32_t i = 0; i < rows->n; ++i)
    {
        parent[i] = ancestor[i] = -1;
        for (int64_t p = rows->first[i]; p < rows->first[i + 1]; ++p)
        {
            int32_t k = rows->column[p];
            while (k != -1 && k < i)
            {
                const int32_t next = ancestor[k];
                ancestor[k]        = i;
                if (next == -1) parent[k] = i;
                k = next;
            }
        }
    }
}

/// Children of each node as linked lists, walked in the order wanted.
static void link_children(int32_t n, const int32_t* parent, const int32_t* key, int32_t* head, int32_t* next,
                          int32_t* bucket)
{
    for (int32_t i = 0; i < n; ++i) head[i] = -1;
    if (!key)
    {
        for (int32_t i = n - 1; i >= 0; --i)
        {
            if (parent[i] < 0) continue;
            next[i]         = head[parent[i]];
            head[parent[i]] = i;
        }
        return;
    }
    // nodes by descending key (keys are below n + 1), so that pushing in front leaves the smallest first
    for (int32_t i = 0; i < n; ++i) bucket[i] = -1;
    for (int32_t i = 0; i < n; ++i)
    {
        const int32_t b = key[i] < n ? key[i] : n - 1;
        next[i]         = bucket[b];
        bucket[b]       = i;
    }
    for (int32_t b = n - 1; b >= 0; --b)
        for (int32_t i = bucket[b]; i >= 0;)
        {
            const int32_t following = next[i];
            if (parent[i] >= 0)
            {
                next[i]         = head[parent[i]];
                head[parent[i]] = i;
            }
            i = following;
        }
}

void flx__postorder(int32_t n, const int32_t* parent, const int32_t* key, int32_t* post, int32_t* work)
{
    int32_t* head  = work;
    int32_t* next  = work + n;
    int32_t* stack = work + 2 * (int64_t)n;
    link_children(n, parent, key, head, next, stack);

    int32_t placed = 0;
    for (int32_t root = 0; root < n; ++root)
    {
        if (parent[root] >= 0) continue;
        int32_t depth = 0;
        stack[0]      = root;
        while (depth >= 0)
        {
            const int32_t node  = stack[depth];
            const int32_t child = head[node];
            if (child < 0)
            {
                post[placed++] = node;
                --depth;
            }
            else
            {
                head[node]     = next[child];
                stack[++depth] = child;
            }
        }
    }
}

/// Root of j's set in a forest with path compression.
static int32_t find_root(int32_t* ancestor, int32_t j)
{
    int32_t root = j;
    while (ancestor[root] != root) root = ancestor[root];
    while (j != root)
    {
        const int32_t up = ancestor[j];
        ancestor[j]      = root;
        j                = up;
    }
    return root;
}

void flx__column_counts(const flx_csc* a, int32_t free_count, const int32_t* parent, const int32_t* post,
                        int32_t* count, int32_t* work)
{
    const int32_t n          = a->n;
    int32_t*      ancestor   = work;
    int32_t*      first_leaf = work + n;              // [j] place of j's first descendant in the postorder
    int32_t*      reached    = work + 2 * (int64_t)n; // [i] largest first_leaf met in row i
    int32_t*      last_leaf  = work + 3 * (int64_t)n; // [i] leaf of row i's subtree met last

    for (int32_t j = 0; j < n; ++j)
    {
        first_leaf[j] = reached[j] = last_leaf[j] = -1;
        ancestor[j]                               = j;
    }
    for (int32_t k = 0; k < n; ++k)
    {
        int32_t j = post[k];
        count[j]  = first_leaf[j] == -1 ? 1 : 0; // a leaf starts with its diagonal; others get theirs from below
        for (; j != -1 && first_leaf[j] == -1; j = parent[j]) first_leaf[j] = k;
    }
    for (int32_t k = 0; k < n; ++k)
    {
        const int32_t j = post[k];
        if (parent[j] != -1) --count[parent[j]];
        for (int64_t p = a->first[j]; j < free_count && p < a->first[j + 1]; ++p)
        {
            const int32_t i = a->row[p];
            if (i <= j || first_leaf[j] <= reached[i]) continue;
            reached[i] = first_leaf[j]; // j is a leaf of row i's subtree
            ++count[j];
            if (last_leaf[i] != -1) --count[find_root(ancestor, last_leaf[i])]; // the paths meet there
            last_leaf[i] = j;
        }
        if (parent[j] != -1) ancestor[j] = parent[j];
    }
    for (int32_t j = 0; j < n; ++j)
        if (parent[j] != -1) count[parent[j]] += count[j];
}
