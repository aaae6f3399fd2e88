#include "sparse/factor_cache.h"

#include "sparse/blas.h"
#include "sparse/factor_internal.h"

#include <metis.h>
#include <string.h>

// FLX_FACTOR_CODE is a digest of the sources and the compiler that results depend on, made by cmake/rooms.cmake:
// whoever changes a bit of a result need not remember to count a version up.

static void add_text(flx__digest* d, const char* text)
{
    flx__digest_add(d, text, (int64_t)strlen(text));
}

// --- order --------------------------------------------------------------------------------------------------

static flx__digest order_key(const flx_graph* graph, const uint8_t* prone)
{
    flx__digest   d         = {0};
    const int32_t numbers[] = {METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR,
                               IDXTYPEWIDTH,    graph->n,        prone != NULL};
    add_text(&d, FLX_FACTOR_CODE);
    flx__digest_add(&d, numbers, sizeof numbers);
    flx__digest_add(&d, graph->first, ((int64_t)graph->n + 1) * (int64_t)sizeof *graph->first);
    flx__digest_add(&d, graph->adjacent, graph->first[graph->n] * (int64_t)sizeof *graph->adjacent);
    if (prone) flx__digest_add(&d, prone, graph->n);
    return d;
}

/// An order addresses memory: that it names each vertex once is not left to a digest.
static bool is_permutation(flx_context* ctx, int32_t n, const int32_t* order)
{
    uint8_t* seen = flx__alloc_zero(ctx, n, 1);
    bool     good = seen != NULL;
    for (int32_t k = 0; good && k < n; ++k)
    {
        good = order[k] >= 0 && order[k] < n && !seen[order[k]];
        if (good) seen[order[k]] = 1;
    }
    flx__free(ctx, seen);
    return good;
}

bool flx__order_load(flx_context* ctx, const flx_graph* graph, const uint8_t* prone, int32_t* order,
                     flx__cache_entry* entry)
{
    *entry = (flx__cache_entry){0};
    if (!flx__cache_wanted(ctx) || graph->n < FLX__CACHED_UNKNOWNS) return false;
    *entry = (flx__cache_entry){.kind       = "order",
                                .key        = order_key(graph, prone),
                                .part_count = 1,
                                .part       = {{order, graph->n * (int64_t)sizeof *order}}};
    return flx__cache_open(ctx, entry) && flx__cache_read(ctx, entry) && is_permutation(ctx, graph->n, order);
}

void flx__order_save(flx_context* ctx, const flx__cache_entry* entry)
{
    if (entry->part_count) flx__cache_write(ctx, entry);
}

// --- factor -------------------------------------------------------------------------------------------------

static flx__digest factor_key(const flx_factor* f, const flx_csc* a, const flx_factor_keep* keep)
{
    flx__digest   d         = {0};
    const int64_t nonzeros  = a->first[a->n];
    const int32_t numbers[] = {
        a->n, f->sym.free_count, f->options.single, f->options.keep_double, f->options.single_arithmetic, keep->what};
    add_text(&d, FLX_FACTOR_CODE);
    add_text(&d, openblas_get_config()); // BLAS is chosen, and may be another one, when the program starts
    add_text(&d, openblas_get_corename());
    flx__digest_add(&d, numbers, sizeof numbers);
    flx__digest_add(&d, &keep->beside_bytes, sizeof keep->beside_bytes);
    flx__digest_add(&d, a->first, ((int64_t)a->n + 1) * (int64_t)sizeof *a->first);
    flx__digest_add(&d, a->row, nonzeros * (int64_t)sizeof *a->row);
    flx__digest_add(&d, a->value, nonzeros * (int64_t)sizeof *a->value);
    return d;
}

static void name_parts(const flx_factor* f, void* beside, const flx_factor_keep* keep, flx__cache_entry* e)
{
    const int64_t length = f->panels.length;
    e->kind              = "factor";
    e->key               = keep->key;
    e->part_count        = 3;
    e->part[0]           = (flx__cache_part){f->panels.single, f->panels.single ? length * (int64_t)sizeof(float) : 0};
    e->part[1]           = (flx__cache_part){f->panels.twice, f->panels.twice ? length * (int64_t)sizeof(double) : 0};
    e->part[2]           = (flx__cache_part){beside, keep->beside_bytes};
}

bool flx__factor_load(flx_factor* f, const flx_csc* a, flx_factor_keep* keep)
{
    if (!keep) return false;
    keep->beside = NULL;
    keep->wanted = flx__cache_wanted(f->ctx) && a->n >= FLX__CACHED_UNKNOWNS;
    if (!keep->wanted) return false;

    flx__cache_entry e = {0};
    keep->key          = factor_key(f, a, keep);
    name_parts(f, NULL, keep, &e);
    if (!flx__cache_open(f->ctx, &e)) return false;
    void* beside = flx__alloc(f->ctx, keep->beside_bytes, 1);
    name_parts(f, beside, keep, &e);
    if (!beside)
        flx__cache_close(&e);
    else if (flx__cache_read(f->ctx, &e))
    {
        keep->beside = beside;
        return true;
    }
    flx__free(f->ctx, beside);
    return false;
}

void flx__factor_save(const flx_factor* factor, const flx_factor_keep* keep, const void* beside)
{
    flx__cache_entry e = {0};
    if (!keep->wanted) return;
    name_parts(factor, (void*)beside, keep, &e); // only read from
    flx__cache_write(factor->ctx, &e);
}
