// Elimination order: nested dissection of the free vertices, postordered; the prone vertices last.
//
// METIS sees the graph of the free vertices only, so its separators never contain a vertex that has to come last.
// The postorder along the elimination tree changes no fill and makes supernodes and subtrees contiguous; children with
// fewer entries come first, so that the heaviest child sits next to its parent and can be merged with it.
// The prone vertices follow in reverse Cuthill-McKee order: their block is dense in the end, what counts is that rows
// which occur together in the factor lie close together.
// Based on [KarypisKumar98] (METIS), [Liu90] (postorder), [CuthillMcKee69].
#include "sparse/factor_cache.h"
#include "sparse/tree.h"

#include <metis.h>
#include <string.h>

#define SEED 20170901

/// The part of a graph that some vertices span, with its own numbering.
typedef struct subgraph
{
    int32_t  n;
    int32_t* vertex; // [n] number in the whole graph
    int32_t* local;  // [whole n] number here, -1 = not here
    idx_t*   first;  // [n + 1]
    idx_t*   adjacent;
} subgraph;

static void subgraph_release(flx_context* ctx, subgraph* g)
{
    flx__free(ctx, g->vertex);
    flx__free(ctx, g->local);
    flx__free(ctx, g->first);
    flx__free(ctx, g->adjacent);
    *g = (subgraph){0};
}

static flx_status subgraph_extract(flx_context* ctx, const flx_graph* graph, const uint8_t* prone, bool want_prone,
                                   subgraph* out)
{
    flx_status    status = FLX_OK;
    const int32_t n      = graph->n;
    *out                 = (subgraph){0};
    FLX_NEW(ctx, out->local, n);
    for (int32_t v = 0; v < n; ++v) out->local[v] = (prone && prone[v]) == want_prone ? out->n++ : -1;

    FLX_NEW(ctx, out->vertex, out->n);
    FLX_NEW(ctx, out->first, (int64_t)out->n + 1);
    int64_t edges = 0;
    for (int32_t v = 0; v < n; ++v)
        for (int64_t p = graph->first[v]; out->local[v] >= 0 && p < graph->first[v + 1]; ++p)
            edges += out->local[graph->adjacent[p]] >= 0;
    if (edges > INT32_MAX)
    {
        status = flx__fail(ctx, FLX_ERR_MEMORY, "the graph to be ordered has %lld edges, at most %d are handled",
                           (long long)edges, INT32_MAX);
        goto done;
    }
    FLX_NEW(ctx, out->adjacent, edges);
    idx_t end     = 0;
    out->first[0] = 0;
    for (int32_t v = 0; v < n; ++v)
    {
        const int32_t here = out->local[v];
        if (here < 0) continue;
        out->vertex[here] = v;
        for (int64_t p = graph->first[v]; p < graph->first[v + 1]; ++p)
            if (out->local[graph->adjacent[p]] >= 0 && graph->adjacent[p] != v)
                out->adjacent[end++] = out->local[graph->adjacent[p]];
        out->first[here + 1] = end;
    }

done:
    if (status != FLX_OK) subgraph_release(ctx, out);
    return status;
}

/// METIS' order of a subgraph: order[k] = local vertex eliminated k-th.
static flx_status dissect(flx_context* ctx, subgraph* g, int32_t* order)
{
    flx_status status = FLX_OK;
    idx_t*     place  = NULL;
    FLX_NEW(ctx, place, g->n);

    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED]      = SEED;
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_COMPRESS]  = 0;
    idx_t n                         = g->n;
    // METIS aborts on a graph without edges in some versions; any order is as good as another there
    if (g->first[g->n] == 0)
        for (int32_t v = 0; v < g->n; ++v) order[v] = v;
    else if (METIS_NodeND(&n, g->first, g->adjacent, NULL, options, order, place) != METIS_OK)
        status = flx__fail(ctx, FLX_ERR_MEMORY, "METIS could not order a graph of %d vertices and %d edges", g->n,
                           g->first[g->n]);
done:
    flx__free(ctx, place);
    return status;
}

/// Lower-triangle pattern of the subgraph in a given order, enough for the elimination tree.
static flx_status ordered_pattern(flx_context* ctx, const subgraph* g, const int32_t* order, flx_csc* out)
{
    flx_status status = FLX_OK;
    int32_t*   place  = NULL;
    *out              = (flx_csc){.n = g->n};
    FLX_NEW(ctx, place, g->n);
    FLX_NEW(ctx, out->first, (int64_t)g->n + 1);
    FLX_NEW(ctx, out->row, g->first[g->n] / 2 + 1);
    for (int32_t k = 0; k < g->n; ++k) place[order[k]] = k;

    int64_t end = 0;
    for (int32_t k = 0; k < g->n; ++k)
    {
        out->first[k]   = end;
        const int32_t v = order[k];
        for (idx_t p = g->first[v]; p < g->first[v + 1]; ++p)
            if (place[g->adjacent[p]] > k) out->row[end++] = place[g->adjacent[p]];
    }
    out->first[g->n] = end;

done:
    flx__free(ctx, place);
    if (status != FLX_OK)
    {
        flx__free(ctx, out->first);
        flx__free(ctx, out->row);
        *out = (flx_csc){0};
    }
    return status;
}

/// Replace `order` by an equivalent one in which every subtree of the elimination tree is contiguous.
static flx_status postorder(flx_context* ctx, const subgraph* g, int32_t* order)
{
    flx_status    status  = FLX_OK;
    const int64_t n       = g->n;
    flx_csc       pattern = {0};
    flx__rows     rows    = {0};
    int32_t*      block   = NULL;
    FLX_TRY(ordered_pattern(ctx, g, order, &pattern));
    FLX_TRY(flx__rows_from_lower(ctx, &pattern, g->n, &rows));
    FLX_NEW(ctx, block, 7 * n);
    int32_t* parent = block;
    int32_t* post   = block + n;
    int32_t* count  = block + 2 * n;
    int32_t* work   = block + 3 * n;

    flx__etree(&rows, parent, work);
    flx__postorder(g->n, parent, NULL, post, work);
    flx__column_counts(&pattern, g->n, parent, post, count, work);
    flx__postorder(g->n, parent, count, post, work);
    for (int64_t k = 0; k < n; ++k) work[k] = order[post[k]];
    memcpy(order, work, (size_t)n * sizeof *order);

done:
    flx__free(ctx, block);
    flx__rows_release(ctx, &rows);
    flx__free(ctx, pattern.first);
    flx__free(ctx, pattern.row);
    return status;
}

/// Breadth-first levels from `start`; returns the vertex visited last. `order` gets the visited vertices.
static int32_t breadth_first(const subgraph* g, int32_t start, int32_t mark, int32_t* seen, int32_t* order,
                             int32_t* visited)
{
    int32_t end  = 0;
    order[end++] = start;
    seen[start]  = mark;
    for (int32_t begin = 0; begin < end; ++begin)
        for (idx_t p = g->first[order[begin]]; p < g->first[order[begin] + 1]; ++p)
        {
            const int32_t w = g->adjacent[p];
            if (seen[w] == mark) continue;
            seen[w]      = mark;
            order[end++] = w;
        }
    *visited = end;
    return order[end - 1];
}

/// Reverse Cuthill-McKee, component by component, each from an end found by two sweeps.
static flx_status level_order(flx_context* ctx, const subgraph* g, int32_t* order)
{
    flx_status status = FLX_OK;
    int32_t*   seen   = NULL;
    FLX_NEW_ZERO(ctx, seen, g->n);
    int32_t done_count = 0;
    for (int32_t v = 0; v < g->n; ++v)
    {
        if (seen[v]) continue;
        int32_t visited = 0;
        int32_t end     = breadth_first(g, v, 1, seen, order + done_count, &visited);
        end             = breadth_first(g, end, 2, seen, order + done_count, &visited);
        (void)breadth_first(g, end, 3, seen, order + done_count, &visited);
        done_count += visited;
    }
    for (int32_t a = 0, b = g->n - 1; a < b; ++a, --b)
    {
        const int32_t keep = order[a];
        order[a]           = order[b];
        order[b]           = keep;
    }

done:
    flx__free(ctx, seen);
    return status;
}

flx_status flx__order_nested_dissection(flx_context* ctx, const flx_graph* graph, const uint8_t* prone, int32_t* order)
{
    flx_status       status = FLX_OK;
    subgraph         part   = {0};
    int32_t          placed = 0;
    flx__cache_entry kept;

    if (flx__order_load(ctx, graph, prone, order, &kept)) return FLX_OK;
    for (int32_t pass = 0; pass < 2; ++pass)
    {
        FLX_TRY(subgraph_extract(ctx, graph, prone, pass == 1, &part));
        if (part.n > 0 && pass == 0)
        {
            FLX_TRY(dissect(ctx, &part, order));
            FLX_TRY(postorder(ctx, &part, order));
        }
        if (part.n > 0 && pass == 1) FLX_TRY(level_order(ctx, &part, order + placed));
        for (int32_t k = 0; k < part.n; ++k) order[placed + k] = part.vertex[order[placed + k]];
        placed += part.n;
        subgraph_release(ctx, &part);
    }
    flx__order_save(ctx, &kept);

done:
    subgraph_release(ctx, &part);
    return status;
}
