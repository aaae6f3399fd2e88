// The test body of all benchmarks, the "cylinder arm": a body-centred cubic lattice that fills a cylinder of
// radius 11.4 cells, held by springs on an inner tube, with a ball of collision-prone nodes at its side half way along.
#ifndef FLX_BENCH_BODY_H
#define FLX_BENCH_BODY_H

#include "contact/contact.h"
#include "sparse/sparse.h"

#define BODY_LENGTH 137 // cells

typedef struct body
{
    flx_csc a;             // in elimination order, prone nodes last
    flx_csc in_mesh_order; // the same matrix with the free nodes as the lattice numbers them, prone nodes last in the
                           // order of `a`: for those who order themselves
    int32_t  free_count;
    int32_t* mesh_place; // [n] of in_mesh_order: which unknown of `a` the k-th is
    int32_t* prone_at;   // [n - free_count][3] position of the prone nodes in half cells
    double   ms_order;
    // for ordering again
    flx_graph graph;
    uint8_t*  prone; // [n] in the lattice's numbering
    int32_t   length;
} body;

body body_make(flx_context* ctx, int32_t length);
void body_free(body* b);

/// `count` contacts that act on the prone nodes (numbered from 0), proxy i in contact i, gaps and targets left zero.
/// Every second one is against an obstacle (the 4 corners of a tet), the others against a fold of the same body (4 + 12
/// corners), with smooth normals.
void body_contacts(const body* b, int32_t count, flx_contact* out);

#endif
