// Polygons to triangles: convex or not, planar or not, the same triangles on every run.
#ifndef FLX_MESH_POLYGON_H
#define FLX_MESH_POLYGON_H

#include "base/base.h"

/// More corners than this are refused by the readers: splitting takes time that grows with their square.
#define FLX_POLYGON_MAX 20000

/// What had to be left out or guessed so far, for one notice a file.
typedef struct flx_polygon_notes
{
    int64_t repeated_corners; // neighbours in the corner list that are the same vertex
    int64_t vanished;         // polygons with fewer than three different corners, or without any area
    int64_t flat_parts;       // zero-area parts left out
    int64_t crossing;         // polygons far from flat or crossing themselves (split, but as a guess)
    int64_t first_vanished;   // numbers of the first ones, 0 = none
    int64_t first_crossing;
} flx_polygon_notes;

/// Memory that grows with the largest polygon and is used again for the next.
typedef struct flx_polygon_scratch
{
    int64_t  capacity; // corners
    int32_t* corner;   // [capacity]     vertex
    double*  u;        // [capacity][2]  in the plane
    int32_t* next;     // [capacity]
    int32_t* prev;     // [capacity]
    int32_t* blocker;  // [capacity]     corners that are not convex
    int32_t* place;    // [capacity]     where in `blocker`, -1 = not there
} flx_polygon_scratch;

void flx__polygon_scratch_end(flx_context* ctx, flx_polygon_scratch* scratch);

/// Split one polygon of `corner_count` >= 3 corners.
///
/// in   x [..][3], corner [corner_count] vertices, number: of the polygon in its file
/// out  triangle [corner_count - 2][3], *triangle_count of them are filled
flx_status flx__polygon_split(flx_context* ctx, flx_polygon_scratch* scratch, const double* x, int64_t corner_count,
                              const int32_t* corner, int64_t number, int32_t* triangle, int64_t* triangle_count,
                              flx_polygon_notes* notes);

#endif
