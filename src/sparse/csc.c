// A sparse matrix given back.
#include "sparse/sparse.h"

void flx__csc_release(flx_context* ctx, flx_csc* a)
{
    flx__free(ctx, a->first);
    flx__free(ctx, a->row);
    flx__free(ctx, a->value);
    *a = (flx_csc){0};
}
