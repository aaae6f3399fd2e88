#include "reduce/model.h"

#include <string.h>

static const char* const method_name[FLX_REDUCTION_COUNT] = {
    [FLX_REDUCTION_SECS]         = "secs",
    [FLX_REDUCTION_BLOCK_DEIM]   = "block_deim",
    [FLX_REDUCTION_DEIM]         = "deim",
    [FLX_REDUCTION_QDEIM]        = "qdeim",
    [FLX_REDUCTION_GPD]          = "gpd",
    [FLX_REDUCTION_GPD_MAP]      = "gpd_map",
    [FLX_REDUCTION_GPDS]         = "gpds",
    [FLX_REDUCTION_POU]          = "pou",
    [FLX_REDUCTION_W]            = "w",
    [FLX_REDUCTION_W_ECSW]       = "w_ecsw",
    [FLX_REDUCTION_W_MIXED]      = "w_mixed",
    [FLX_REDUCTION_W_GPD]        = "w_gpd",
    [FLX_REDUCTION_W_BLOCK_DEIM] = "w_block_deim",
    [FLX_REDUCTION_W_SECS]       = "w_secs",
};

const char* flx__reduction_name(flx_reduction method)
{
    return (unsigned)method < FLX_REDUCTION_COUNT ? method_name[method] : "?";
}

bool flx__reduction_find(const char* name, flx_reduction* out)
{
    for (int i = 0; i < FLX_REDUCTION_COUNT; ++i)
        if (strcmp(name, method_name[i]) == 0)
        {
            *out = (flx_reduction)i;
            return true;
        }
    return false;
}

bool flx__reduction_in_subspace(flx_reduction method)
{
    return method >= FLX_REDUCTION_W;
}

bool flx__reduction_is_secs(flx_reduction method)
{
    return method == FLX_REDUCTION_SECS || method == FLX_REDUCTION_W_SECS;
}

flx_fit flx__reduction_fit(flx_reduction method)
{
    switch (method)
    {
    case FLX_REDUCTION_DEIM:
    case FLX_REDUCTION_QDEIM:
    case FLX_REDUCTION_GPD:
    case FLX_REDUCTION_GPD_MAP:
    case FLX_REDUCTION_W_GPD:
        return FLX_FIT_SHARED;
    case FLX_REDUCTION_BLOCK_DEIM:
    case FLX_REDUCTION_W_BLOCK_DEIM:
        return FLX_FIT_SPLIT;
    case FLX_REDUCTION_GPDS:
    case FLX_REDUCTION_POU:
        return FLX_FIT_SCALAR;
    default:
        return FLX_FIT_NONE;
    }
}

void flx__reduced_model_destroy(flx_reduced_model* m)
{
    if (!m) return;
    flx_context* ctx = m->ctx;
    for (int32_t b = 0; m->batch && b < m->batch_count; ++b)
    {
        flx__free(ctx, m->batch[b].element);
        flx__free(ctx, m->batch[b].weight);
        flx__free(ctx, m->batch[b].at);
        flx__free(ctx, m->batch[b].fit);
    }
    flx__free(ctx, m->batch);
    flx__free(ctx, m->load);
    flx__free(ctx, m->response);
    flx__free(ctx, m->c);
    flx__free(ctx, m->k);
    flx__free(ctx, m->w);
    flx__free(ctx, m->matrix);
    flx__free(ctx, m->lift);
    flx__free(ctx, m);
}

static uint64_t hash_batch(uint64_t hash, const flx_constraint_batch* b)
{
    const int64_t entries = b->first[b->count];
    hash                  = flx__hash(hash, b->type->name, (int64_t)strlen(b->type->name));
    hash                  = flx__hash(hash, b->first, ((int64_t)b->count + 1) * (int64_t)sizeof *b->first);
    hash                  = flx__hash(hash, b->vertex, entries * (int64_t)sizeof *b->vertex);
    hash                  = flx__hash(hash, b->coefficient, entries * b->type->rows * (int64_t)sizeof *b->coefficient);
    hash                  = flx__hash(hash, b->weight, b->count * (int64_t)sizeof *b->weight);
    if (b->type == &flx__attachment) return hash; // targets move
    return flx__hash(hash, b->param, (int64_t)b->count * b->type->params * (int64_t)sizeof *b->param);
}

uint64_t flx__pd_system_hash(const flx_pd_system* s)
{
    uint64_t hash = flx__hash(FLX_HASH_START, &s->n, sizeof s->n);
    hash          = flx__hash(hash, &s->h, sizeof s->h);
    if (s->still) hash = flx__hash(hash, &s->rate, sizeof s->rate);
    hash = flx__hash(hash, s->x_rest, (int64_t)s->n * 3 * (int64_t)sizeof *s->x_rest);
    hash = flx__hash(hash, s->mass, s->n * (int64_t)sizeof *s->mass);
    for (int32_t b = 0; b < s->batch_count; ++b) hash = hash_batch(hash, &s->batch[b]);
    hash = flx__hash(hash, s->held, s->held_count * (int64_t)sizeof *s->held);
    return flx__hash(hash, &s->held_weight, sizeof s->held_weight);
}
