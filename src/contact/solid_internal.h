// The insides of flx_solid, for solid.c, sample.c and tessellate.c only.
#ifndef FLX_CONTACT_SOLID_INTERNAL_H
#define FLX_CONTACT_SOLID_INTERNAL_H

#include "contact/solid.h"

struct flx_solid
{
    flx_context* ctx;
    flx_shape    shape;        // plane: b made a unit vector; path and group are NULL
    const char * path, *group; // only while being made
    double       area;         // m^2
    double       axis[3];      // capsule: unit, from a to b; sphere: z
    double       length;       // m, capsule: of the segment; sphere: 0
    // mesh
    int32_t             vertex_count, triangle_count;
    double*             x;        // [vertex_count][3]
    int32_t*            triangle; // [triangle_count][3]
    flx_distance_field* field;
};

void flx__solid_sideways(const double axis[3], double out[3]);

#endif
