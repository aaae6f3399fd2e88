// The two bodies of the laboratory: a square cloth and a box of tets, with masses of mean 1 kg.
#ifndef FLX_REDUCE_LAB_SHAPES_H
#define FLX_REDUCE_LAB_SHAPES_H

#include "base/base.h"

typedef struct flx_lab_shape
{
    int32_t  n;
    double*  x;    // [n][3] m
    double*  mass; // [n] kg
    int32_t  triangle_count;
    int32_t* triangle; // [triangle_count][3]; of a box its boundary
    int32_t  tet_count;
    int32_t* tet; // [tet_count][4]; NULL: a cloth
} flx_lab_shape;

flx_status flx__lab_cloth(flx_context* ctx, int32_t side, flx_lab_shape* out);
flx_status flx__lab_box(flx_context* ctx, int32_t cells, flx_lab_shape* out);
void       flx__lab_shape_release(flx_context* ctx, flx_lab_shape* shape);

#endif
