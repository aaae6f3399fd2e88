// Public doors to what the mesh room does for the rooms above it: lattices and crossings.
#include "flexor/mesh.h"

#include "mesh/lattice.h"
#include "mesh/mesh_internal.h"

#include <string.h>

flx_status flx_surface_crossings(flx_context* ctx, int32_t vertex_count, const double* x, int32_t triangle_count,
                                 const int32_t* triangle, int64_t* count)
{
    return flx__surface_crossings(ctx, vertex_count, x, triangle_count, triangle, count, NULL, 0);
}

flx_status flx_surface_has_inside(flx_context* ctx, const flx_mesh* surface)
{
    flx_status        status = FLX_OK;
    flx_triangle_bvh* bvh    = NULL;
    double            sign = 1, threshold = 0.5;

    if (surface->triangle_count == 0)
        return flx__fail(ctx, FLX_ERR_MESH, "%s: no triangles: no inside", surface->path ? surface->path : "surface");
    FLX_TRY(flx__triangle_bvh_create(ctx, surface->vertex_count, surface->x, surface->triangle_count, surface->triangle,
                                     &bvh));
    status = flx__surface_orientation(ctx, bvh, surface->path ? surface->path : "surface", &sign, &threshold);

done:
    flx__triangle_bvh_destroy(bvh);
    return status;
}

flx_status flx_lattice_mesh(flx_context* ctx, const flx_mesh* surface, double cell, int32_t tet_count, flx_mesh** out)
{
    flx_status          status  = FLX_OK;
    flx_triangle_bvh*   bvh     = NULL;
    flx_lattice*        lattice = NULL;
    flx_mesh*           mesh    = NULL;
    flx_lattice_options options = {.cell = cell, .target_tets = tet_count};
    const char*         path    = surface->path ? surface->path : "surface";

    *out = NULL;
    FLX_TRY(flx__triangle_bvh_create(ctx, surface->vertex_count, surface->x, surface->triangle_count, surface->triangle,
                                     &bvh));
    FLX_TRY(flx__lattice_create(ctx, path, surface->vertex_count, surface->x, surface->triangle_count,
                                surface->triangle, bvh, &options, &lattice));
    FLX_NEW_ZERO(ctx, mesh, 1);
    FLX_NEW(ctx, mesh->x, 3 * (int64_t)lattice->vertex_count);
    FLX_NEW(ctx, mesh->tet, 4 * (int64_t)lattice->tet_count);
    mesh->vertex_count = lattice->vertex_count;
    mesh->tet_count    = lattice->tet_count;
    memcpy(mesh->x, lattice->x, sizeof *mesh->x * 3 * (size_t)lattice->vertex_count);
    memcpy(mesh->tet, lattice->tet, sizeof *mesh->tet * 4 * (size_t)lattice->tet_count);
    FLX_TRY(flx__tet_boundary(ctx, mesh->tet_count, mesh->tet, &mesh->triangle_count, &mesh->triangle));

    *out = mesh;
    mesh = NULL;
done:
    flx_mesh_destroy(ctx, mesh);
    flx__lattice_destroy(ctx, lattice);
    flx__triangle_bvh_destroy(bvh);
    return status;
}
