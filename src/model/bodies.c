// Bodies: read, check and place the meshes; build lattices; embed surfaces. All in the user's numbering.
#include "model/model.h"

#include "base/file.h"
#include "flexor/mesh.h"
#include "math/mat3.h"
#include "math/rotation.h"
#include "mesh/mesh_internal.h"
#include "mesh/shape.h"

#include <string.h>

#define PI 3.14159265358979323846

/// What one body contributes before it is appended to the model's arrays.
typedef struct body_parts
{
    int32_t       vertex_count, tet_count;
    double*       x;
    int32_t*      tet;
    int32_t       surface_vertex_count, surface_triangle_count;
    int32_t*      surface_triangle;
    flx_embedded* surface;        // tet indices of this body alone
    int32_t*      surface_corner; // of cloth: [..][4] vertices of this body alone; else NULL
    double*       surface_x;
} body_parts;

static void parts_release(flx_context* ctx, body_parts* p)
{
    flx__free(ctx, p->x);
    flx__free(ctx, p->tet);
    flx__free(ctx, p->surface_triangle);
    flx__free(ctx, p->surface);
    flx__free(ctx, p->surface_corner);
    flx__free(ctx, p->surface_x);
    *p = (body_parts){0};
}

static void place(const flx_body_desc* d, int32_t count, double* x)
{
    double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int axis = 0; axis < 3; ++axis)
    {
        if (d->rotate_deg[axis] == 0) continue;
        double       A[9], B[9];
        const double e[3] = {axis == 0, axis == 1, axis == 2};
        flx__axis_rotation(e, d->rotate_deg[axis] * PI / 180, A);
        flx__mul3(A, R, B);
        memcpy(R, B, sizeof R);
    }
    const bool turned = d->rotate_deg[0] != 0 || d->rotate_deg[1] != 0 || d->rotate_deg[2] != 0;
    for (int32_t i = 0; i < count; ++i)
    {
        double p[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
        if (turned) flx__apply3(R, x + 3 * i, p);
        for (int c = 0; c < 3; ++c) x[3 * i + c] = p[c] + d->translate[c];
    }
}

static flx_status read_placed(flx_context* ctx, const flx_body_desc* d, const char* path, flx_mesh** out)
{
    flx_status        status  = FLX_OK;
    flx_mesh*         mesh    = NULL;
    flx_mesh_options  options = flx_mesh_options_default();
    flx_doctor_report report;

    *out                   = NULL;
    options.scale          = d->scale;
    options.weld           = d->weld;
    options.weld_tolerance = d->weld_tolerance;
    options.repair         = d->repair;
    options.may_be_open    = d->cloth != NULL;
    options.group          = d->group;
    FLX_TRY(flx_mesh_read(ctx, path, &options, &mesh));
    FLX_TRY(flx_mesh_doctor(ctx, mesh, &options, &report));
    if (d->cloth && report.repeated_triangle.count > 0 && !options.repair) // each would be mass and stiffness once more
    {
        options.repair = true;
        FLX_TRY(flx_mesh_doctor(ctx, mesh, &options, &report));
    }
    place(d, mesh->vertex_count, mesh->x);
    *out = mesh;
    mesh = NULL;

done:
    flx_mesh_destroy(ctx, mesh);
    return status;
}

/// The vertices that triangles use, in order, and the triangles over them. used [vertex_count] of the mesh's index or
/// -1.
static flx_status compact_surface(flx_context* ctx, int32_t vertex_count, const double* x, int32_t triangle_count,
                                  const int32_t* triangle, int32_t* out_count, double** out_x, int32_t** out_triangle,
                                  int32_t** out_source)
{
    flx_status status = FLX_OK;
    int32_t*   to     = NULL;
    FLX_NEW(ctx, to, vertex_count);
    for (int32_t i = 0; i < vertex_count; ++i) to[i] = -1;
    for (int64_t i = 0; i < 3 * (int64_t)triangle_count; ++i) to[triangle[i]] = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < vertex_count; ++i)
        if (to[i] == 0) to[i] = count++;
    FLX_NEW(ctx, *out_x, 3 * (int64_t)count);
    FLX_NEW(ctx, *out_source, count);
    FLX_NEW(ctx, *out_triangle, 3 * (int64_t)triangle_count);
    for (int32_t i = 0; i < vertex_count; ++i)
        if (to[i] >= 0)
        {
            memcpy(*out_x + 3 * (int64_t)to[i], x + 3 * (int64_t)i, 3 * sizeof(double));
            (*out_source)[to[i]] = i;
        }
    for (int64_t i = 0; i < 3 * (int64_t)triangle_count; ++i) (*out_triangle)[i] = to[triangle[i]];
    *out_count = count;

done:
    flx__free(ctx, to);
    return status; // the caller releases what was made
}

static flx_status orient_surface(flx_context* ctx, const char* path, int32_t vertex_count, const double* x,
                                 int32_t triangle_count, int32_t* triangle, flx_triangle_bvh** bvh)
{
    flx_status status = FLX_OK;
    double     sign = 1, threshold = 0.5;
    FLX_TRY(flx__triangle_bvh_create(ctx, vertex_count, x, triangle_count, triangle, bvh));
    FLX_TRY(flx__surface_orientation(ctx, *bvh, path, &sign, &threshold));
    if (sign < 0)
    {
        flx__log(ctx, FLX_LOG_NOTICE, "%s: the surface is inside out; all %d triangles were turned", path,
                 triangle_count);
        for (int32_t i = 0; i < triangle_count; ++i)
        {
            const int32_t t     = triangle[3 * i + 1];
            triangle[3 * i + 1] = triangle[3 * i + 2];
            triangle[3 * i + 2] = t;
        }
        flx__triangle_bvh_destroy(*bvh);
        *bvh = NULL;
        FLX_TRY(flx__triangle_bvh_create(ctx, vertex_count, x, triangle_count, triangle, bvh));
    }
done:
    return status;
}

/// Closed surface -> lattice.
static flx_status lattice_body(flx_context* ctx, const flx_body_desc* d, flx_body* body, body_parts* parts)
{
    flx_status        status   = FLX_OK;
    flx_mesh*         mesh     = NULL;
    flx_triangle_bvh* bvh      = NULL;
    double*           x        = NULL;
    int32_t *         triangle = NULL, *source = NULL, *kept = NULL;
    int32_t           vertex_count = 0;

    FLX_TRY(read_placed(ctx, d, d->surface, &mesh));
    if (mesh->triangle_count == 0)
    {
        status =
            flx__fail(ctx, FLX_ERR_MESH, "%s: no triangles found; a lattice body needs a closed surface", d->surface);
        goto done;
    }
    FLX_TRY(compact_surface(ctx, mesh->vertex_count, mesh->x, mesh->triangle_count, mesh->triangle, &vertex_count, &x,
                            &triangle, &source));
    FLX_TRY(orient_surface(ctx, d->surface, vertex_count, x, mesh->triangle_count, triangle, &bvh));

    const flx_lattice_options options = {
        .cell = d->lattice_cell, .target_tets = d->lattice_tets, .crop_count = d->crop_count, .crop = d->crop};
    FLX_TRY(flx__lattice_create(ctx, d->surface, vertex_count, x, mesh->triangle_count, triangle, bvh, &options,
                                &body->lattice));
    const flx_lattice* l = body->lattice;

    parts->vertex_count           = l->vertex_count;
    parts->tet_count              = l->tet_count;
    parts->surface_vertex_count   = l->surface_vertex_count;
    parts->surface_triangle_count = l->surface_triangle_count;
    FLX_NEW(ctx, parts->x, 3 * (int64_t)l->vertex_count);
    FLX_NEW(ctx, parts->tet, 4 * (int64_t)l->tet_count);
    FLX_NEW(ctx, parts->surface_triangle, 3 * (int64_t)l->surface_triangle_count);
    FLX_NEW(ctx, parts->surface, l->surface_vertex_count);
    FLX_NEW(ctx, parts->surface_x, 3 * (int64_t)l->surface_vertex_count);
    memcpy(parts->x, l->x, 3 * sizeof(double) * (size_t)l->vertex_count);
    memcpy(parts->tet, l->tet, 4 * sizeof(int32_t) * (size_t)l->tet_count);
    memcpy(parts->surface_triangle, l->surface_triangle, 3 * sizeof(int32_t) * (size_t)l->surface_triangle_count);
    memcpy(parts->surface, l->surface, sizeof(flx_embedded) * (size_t)l->surface_vertex_count);

    // which input triangle each embedded one is: the lattice keeps their order and drops some
    FLX_NEW(ctx, kept, vertex_count);
    FLX_NEW(ctx, body->source_triangle, l->surface_triangle_count);
    for (int32_t i = 0; i < vertex_count; ++i) kept[i] = -1;
    for (int32_t i = 0; i < l->surface_vertex_count; ++i)
    {
        kept[l->surface_vertex[i]] = i;
        memcpy(parts->surface_x + 3 * (int64_t)i, x + 3 * (int64_t)l->surface_vertex[i], 3 * sizeof(double));
    }
    int32_t at = 0;
    for (int32_t i = 0; i < mesh->triangle_count && at < l->surface_triangle_count; ++i)
    {
        const int32_t* t = triangle + 3 * (int64_t)i;
        const int32_t* s = l->surface_triangle + 3 * (int64_t)at;
        if (kept[t[0]] == s[0] && kept[t[1]] == s[1] && kept[t[2]] == s[2]) body->source_triangle[at++] = i;
    }
    FLX_ASSERT(at == l->surface_triangle_count);
    body->cell      = l->cell;
    body->whole_bvh = bvh;
    bvh             = NULL;

done:
    flx__triangle_bvh_destroy(bvh);
    flx__free(ctx, x);
    flx__free(ctx, triangle);
    flx__free(ctx, source);
    flx__free(ctx, kept);
    flx_mesh_destroy(ctx, mesh);
    return status;
}

static double mean_edge(int32_t tet_count, const int32_t* tet, const double* x)
{
    double  sum   = 0;
    int64_t count = 0;
    for (int32_t e = 0; e < tet_count; ++e)
        for (int a = 0; a < 4; ++a)
            for (int b = a + 1; b < 4; ++b, ++count)
                sum += flx__distance3(x + 3 * (int64_t)tet[4 * e + a], x + 3 * (int64_t)tet[4 * e + b]);
    return count ? sum / (double)count : 0;
}

/// The tet mesh's own boundary as the surface: each surface vertex is a tet corner.
static flx_status boundary_surface(flx_context* ctx, body_parts* parts)
{
    flx_status status   = FLX_OK;
    int32_t *  boundary = NULL, *source = NULL, *corner = NULL;
    FLX_TRY(flx__tet_boundary(ctx, parts->tet_count, parts->tet, &parts->surface_triangle_count, &boundary));
    FLX_TRY(compact_surface(ctx, parts->vertex_count, parts->x, parts->surface_triangle_count, boundary,
                            &parts->surface_vertex_count, &parts->surface_x, &parts->surface_triangle, &source));
    FLX_NEW(ctx, parts->surface, parts->surface_vertex_count);
    FLX_NEW(ctx, corner, parts->vertex_count);
    for (int32_t i = 0; i < parts->vertex_count; ++i) corner[i] = -1;
    for (int32_t k = 4 * parts->tet_count - 1; k >= 0; --k) corner[parts->tet[k]] = k; // first use
    for (int32_t i = 0; i < parts->surface_vertex_count; ++i)
    {
        const int32_t k                 = corner[source[i]];
        parts->surface[i]               = (flx_embedded){.tet = k / 4};
        parts->surface[i].weight[k % 4] = 1;
    }
done:
    flx__free(ctx, boundary);
    flx__free(ctx, source);
    flx__free(ctx, corner);
    return status;
}

/// Conforming tet mesh, with its boundary or a finer surface embedded in it.
static flx_status tet_body(flx_context* ctx, const flx_body_desc* d, flx_body* body, body_parts* parts,
                           int32_t* outside_count)
{
    flx_status status = FLX_OK;
    flx_mesh * cage = NULL, *skin = NULL;
    int32_t*   source = NULL;

    FLX_TRY(read_placed(ctx, d, d->tets, &cage));
    if (cage->tet_count == 0)
    {
        status = flx__fail(ctx, FLX_ERR_MESH, "%s: no tetrahedra, %d triangles found; did you mesh the volume?",
                           d->tets, cage->triangle_count);
        goto done;
    }
    parts->vertex_count = cage->vertex_count;
    parts->tet_count    = cage->tet_count;
    parts->x            = cage->x;
    parts->tet          = cage->tet;
    cage->x             = NULL;
    cage->tet           = NULL;
    body->cell          = mean_edge(parts->tet_count, parts->tet, parts->x);
    FLX_TRY(flx__tet_locator_create(ctx, parts->vertex_count, parts->x, parts->tet_count, parts->tet, &body->locator));

    if (!d->surface)
        FLX_TRY(boundary_surface(ctx, parts));
    else
    {
        FLX_TRY(read_placed(ctx, d, d->surface, &skin));
        parts->surface_triangle_count = skin->triangle_count;
        FLX_TRY(compact_surface(ctx, skin->vertex_count, skin->x, skin->triangle_count, skin->triangle,
                                &parts->surface_vertex_count, &parts->surface_x, &parts->surface_triangle, &source));
        FLX_NEW(ctx, parts->surface, parts->surface_vertex_count);
        double  farthest = 0;
        int32_t outside  = 0;
        for (int32_t i = 0; i < parts->surface_vertex_count; ++i)
        {
            const double off =
                flx__tet_locator_find(body->locator, parts->surface_x + 3 * (int64_t)i, &parts->surface[i]);
            outside += off > 1e-12 * body->cell;
            farthest = fmax(farthest, off);
        }
        *outside_count += outside;
        if (outside)
            flx__log(ctx, FLX_LOG_NOTICE,
                     "%s: %d of %d vertices lie outside %s, the farthest by %.3g m; they follow the nearest element",
                     d->surface, outside, parts->surface_vertex_count, d->tets, farthest);
        if (farthest > 4 * body->cell)
        {
            status = flx__fail(ctx, FLX_ERR_MESH,
                               "%s: a vertex lies %.3g m outside %s; at most 4 mean edges (%.3g m) can follow it",
                               d->surface, farthest, d->tets, 4 * body->cell);
            goto done;
        }
    }
    if (parts->surface_triangle_count > 0)
        FLX_TRY(flx__triangle_bvh_create(ctx, parts->surface_vertex_count, parts->surface_x,
                                         parts->surface_triangle_count, parts->surface_triangle, &body->whole_bvh));
    body->mesh = cage;
    cage       = NULL;
done:
    flx__free(ctx, source);
    flx_mesh_destroy(ctx, cage);
    flx_mesh_destroy(ctx, skin);
    return status;
}

/// Triangles as they are: each vertex that one uses is a surface vertex.
static flx_status cloth_body(flx_context* ctx, const flx_body_desc* d, flx_body* body, body_parts* parts)
{
    flx_status status = FLX_OK;
    flx_mesh*  mesh   = NULL;
    int32_t*   source = NULL;
    FLX_TRY(read_placed(ctx, d, d->cloth, &mesh));
    if (mesh->triangle_count == 0)
    {
        status = flx__fail(ctx, FLX_ERR_MESH, "%s: no triangles, %d tetrahedra found; cloth is a triangle mesh",
                           d->cloth, mesh->tet_count);
        goto done;
    }
    parts->vertex_count           = mesh->vertex_count;
    parts->x                      = mesh->x;
    mesh->x                       = NULL;
    parts->surface_triangle_count = mesh->triangle_count;
    FLX_TRY(compact_surface(ctx, parts->vertex_count, parts->x, mesh->triangle_count, mesh->triangle,
                            &parts->surface_vertex_count, &parts->surface_x, &parts->surface_triangle, &source));
    FLX_NEW(ctx, parts->surface, parts->surface_vertex_count);
    FLX_NEW(ctx, parts->surface_corner, 4 * (int64_t)parts->surface_vertex_count);
    for (int32_t i = 0; i < parts->surface_vertex_count; ++i)
    {
        parts->surface[i] = (flx_embedded){.tet = -1, .weight = {1, 0, 0, 0}};
        for (int c = 0; c < 4; ++c) parts->surface_corner[4 * (int64_t)i + c] = source[i];
    }
    double sum = 0;
    for (int64_t k = 0; k < 3 * (int64_t)mesh->triangle_count; ++k)
        sum += flx__distance3(parts->x + 3 * (int64_t)mesh->triangle[k],
                              parts->x + 3 * (int64_t)mesh->triangle[k % 3 < 2 ? k + 1 : k - 2]);
    body->cell         = sum / (3.0 * mesh->triangle_count);
    body->is_cloth     = true;
    body->area_density = d->material.area_density;
    body->cloth_count  = mesh->triangle_count;
    for (int32_t i = 0; i < d->constraint_count; ++i)
        if (d->constraint[i].kind != FLX_CONSTRAINT_BENDING) body->tension += d->constraint[i].stiffness;
    body->mesh = mesh;
    mesh       = NULL;
done:
    flx__free(ctx, source);
    flx_mesh_destroy(ctx, mesh);
    return status;
}

static flx_status append(flx_context* ctx, void** array, int64_t old_items, const void* more, int64_t new_items,
                         size_t size)
{
    void* grown = flx__realloc(ctx, *array, old_items + new_items, size);
    if (!grown) return FLX_ERR_MEMORY;
    if (new_items) memcpy((char*)grown + (size_t)old_items * size, more, (size_t)new_items * size);
    *array = grown;
    return FLX_OK;
}
#define APPEND(array, old_items, more, new_items)                                                                      \
    FLX_TRY(append(ctx, (void**)&(array), (int64_t)(old_items), (more), (int64_t)(new_items), sizeof *(array)))

/// The vertices of each surface point's tet, or what cloth says.
static flx_status append_corners(flx_model* m, const body_parts* p)
{
    flx_status status = FLX_OK;
    int32_t*   grown  = flx__realloc(m->ctx, m->surface_corner,
                                     4 * ((int64_t)m->surface_vertex_count + p->surface_vertex_count), sizeof *grown);
    if (!grown) return FLX_ERR_MEMORY;
    m->surface_corner = grown;
    int32_t* corner   = grown + 4 * (int64_t)m->surface_vertex_count;
    for (int64_t k = 0; k < 4 * (int64_t)p->surface_vertex_count; ++k)
        corner[k] = m->user_vertex_count +
                    (p->surface_corner ? p->surface_corner[k] : p->tet[4 * (int64_t)p->surface[k / 4].tet + k % 4]);
    return status;
}

static flx_status append_cloth(flx_model* m, flx_body* b, const body_parts* p)
{
    flx_status   status = FLX_OK;
    flx_context* ctx    = m->ctx;
    b->cloth_first      = m->cloth_count;
    if (!b->is_cloth) return FLX_OK;
    APPEND(m->cloth, 3 * (int64_t)m->cloth_count, p->surface_triangle, 3 * (int64_t)b->cloth_count);
    for (int64_t k = 3 * (int64_t)m->cloth_count; k < 3 * ((int64_t)m->cloth_count + b->cloth_count); ++k)
        m->cloth[k] = m->user_vertex_count + p->surface_corner[4 * (int64_t)m->cloth[k]];
    m->cloth_count += b->cloth_count;
done:
    return status;
}

static flx_status add_body(flx_build* build, int32_t index, const body_parts* p)
{
    flx_status   status = FLX_OK;
    flx_model*   m      = build->model;
    flx_context* ctx    = m->ctx;
    flx_body*    b      = &m->body[index];

    b->vertex_first = m->user_vertex_count, b->vertex_count = p->vertex_count;
    b->tet_first = m->tet_count, b->tet_count = p->tet_count;
    b->surface_vertex_first = m->surface_vertex_count, b->surface_vertex_count = p->surface_vertex_count;
    b->surface_triangle_first = m->surface_triangle_count, b->surface_triangle_count = p->surface_triangle_count;
    if ((int64_t)m->tet_count + p->tet_count > INT32_MAX / 4 ||
        (int64_t)m->user_vertex_count + p->vertex_count > INT32_MAX / 4)
    {
        status = flx__fail(ctx, FLX_ERR_MESH, "the bodies together have more than %d elements", INT32_MAX / 4);
        goto done;
    }
    APPEND(m->user_rest, 3 * (int64_t)m->user_vertex_count, p->x, 3 * (int64_t)p->vertex_count);
    APPEND(m->user_tet, 4 * (int64_t)m->tet_count, p->tet, 4 * (int64_t)p->tet_count);
    APPEND(m->surface_triangle, 3 * (int64_t)m->surface_triangle_count, p->surface_triangle,
           3 * (int64_t)p->surface_triangle_count);
    APPEND(m->surface, m->surface_vertex_count, p->surface, p->surface_vertex_count);
    APPEND(m->surface_rest, 3 * (int64_t)m->surface_vertex_count, p->surface_x, 3 * (int64_t)p->surface_vertex_count);
    FLX_TRY(append_corners(m, p));
    FLX_TRY(append_cloth(m, b, p));
    int32_t* grown = flx__realloc(ctx, m->tet_body, (int64_t)m->tet_count + p->tet_count, sizeof *grown);
    if (!grown)
    {
        status = FLX_ERR_MEMORY;
        goto done;
    }
    m->tet_body = grown;
    for (int32_t e = 0; e < p->tet_count; ++e) m->tet_body[m->tet_count + e] = index;
    for (int64_t k = 0; k < 4 * (int64_t)p->tet_count; ++k)
        m->user_tet[4 * (int64_t)m->tet_count + k] += m->user_vertex_count;
    for (int64_t k = 0; k < 3 * (int64_t)p->surface_triangle_count; ++k)
        m->surface_triangle[3 * (int64_t)m->surface_triangle_count + k] += m->surface_vertex_count;
    for (int32_t k = 0; k < p->surface_vertex_count && !b->is_cloth; ++k)
        m->surface[m->surface_vertex_count + k].tet += m->tet_count;
    m->user_vertex_count += p->vertex_count;
    m->tet_count += p->tet_count;
    m->surface_vertex_count += p->surface_vertex_count;
    m->surface_triangle_count += p->surface_triangle_count;

    for (int c = 0; c < 3; ++c) b->box_min[c] = INFINITY, b->box_max[c] = -INFINITY;
    for (int32_t i = 0; i < p->vertex_count; ++i)
        for (int c = 0; c < 3; ++c)
        {
            b->box_min[c] = fmin(b->box_min[c], p->x[3 * (int64_t)i + c]);
            b->box_max[c] = fmax(b->box_max[c], p->x[3 * (int64_t)i + c]);
        }
    if (p->surface_triangle_count > 0)
        FLX_TRY(flx__triangle_bvh_create(ctx, p->surface_vertex_count, p->surface_x, p->surface_triangle_count,
                                         p->surface_triangle, &b->bvh));
done:
    return status;
}

static flx_status read_young(flx_context* ctx, const flx_body_desc* d, int32_t tet_count, flx_body* b)
{
    flx_status status = FLX_OK;
    char       what[120];
    double     sum = 0;
    flx__print_c(what, sizeof what, "body '%.80s'", d->name);
    FLX_TRY(flx__element_values(ctx, d->material.young_file, tet_count, what, &b->young));
    for (int32_t e = 0; e < tet_count; ++e) sum += b->young[e];
    b->mu = 0.5 * sum / tet_count;
done:
    return status;
}

flx_status flx__build_bodies(flx_build* build)
{
    flx_status       status = FLX_OK;
    flx_model*       m      = build->model;
    flx_context*     ctx    = m->ctx;
    const flx_scene* scene  = m->scene;
    body_parts       parts  = {0};

    if (scene->body_count == 0)
    {
        status = flx__fail(ctx, FLX_ERR_SCENE, "the scene has no bodies");
        goto done;
    }
    FLX_NEW_ZERO(ctx, m->body, scene->body_count);
    m->body_count = scene->body_count;
    for (int32_t i = 0; i < scene->body_count; ++i)
    {
        const flx_body_desc* d = &scene->body[i];
        FLX_TRY(flx__build_progress(build, d->tets || d->cloth ? "reading the mesh" : "building the lattice",
                                    0.3 * i / scene->body_count));
        if (d->cloth)
            FLX_TRY(cloth_body(ctx, d, &m->body[i], &parts));
        else if (d->tets)
            FLX_TRY(tet_body(ctx, d, &m->body[i], &parts, &m->embedded_outside));
        else
            FLX_TRY(lattice_body(ctx, d, &m->body[i], &parts));
        m->body[i].mu      = 0.5 * d->material.young; // nu = 0
        m->body[i].density = d->material.density;
        if (d->material.young_file) FLX_TRY(read_young(ctx, d, parts.tet_count, &m->body[i]));
        FLX_TRY(add_body(build, i, &parts));
        parts_release(ctx, &parts);
    }

    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    m->cell = INFINITY;
    for (int32_t i = 0; i < m->body_count; ++i)
    {
        m->cell = fmin(m->cell, m->body[i].cell);
        for (int c = 0; c < 3; ++c)
            lo[c] = fmin(lo[c], m->body[i].box_min[c]), hi[c] = fmax(hi[c], m->body[i].box_max[c]);
    }
    m->size = flx__distance3(lo, hi);
    // the locators were built on the bodies' own arrays, which are gone: build them on the model's
    for (int32_t i = 0; i < m->body_count; ++i)
    {
        flx_body* b = &m->body[i];
        if (!b->locator) continue;
        flx__tet_locator_destroy(b->locator);
        b->locator = NULL;
        FLX_TRY(flx__tet_locator_create(ctx, m->user_vertex_count, m->user_rest, b->tet_count,
                                        m->user_tet + 4 * (int64_t)b->tet_first, &b->locator));
    }
done:
    parts_release(ctx, &parts);
    return status;
}

double flx__body_embed(const flx_model* m, int32_t body, const double p[3], int32_t surface_triangle, flx_embedded* out)
{
    const flx_body* b = &m->body[body];
    double          outside;
    if (b->lattice)
        outside =
            flx__lattice_embed(b->lattice, p, surface_triangle >= 0 ? b->source_triangle[surface_triangle] : -1, out);
    else
        outside = flx__tet_locator_find(b->locator, p, out);
    if (out->tet >= 0) out->tet += b->tet_first;
    return outside;
}

double flx__body_corners(const flx_model* m, int32_t body, const double p[3], int32_t surface_triangle,
                         int32_t vertex[4], double weight[4])
{
    const flx_body* b = &m->body[body];
    if (!b->is_cloth)
    {
        flx_embedded e;
        const double outside = flx__body_embed(m, body, p, surface_triangle, &e);
        if (e.tet < 0) return INFINITY;
        memcpy(vertex, m->user_tet + 4 * (int64_t)e.tet, 4 * sizeof *vertex);
        memcpy(weight, e.weight, 4 * sizeof *weight);
        return outside;
    }
    flx_closest near;
    if (!flx__triangle_bvh_closest(b->bvh, p, INFINITY, &near)) return INFINITY;
    const int32_t* v = m->cloth + 3 * ((int64_t)b->cloth_first + near.triangle);
    for (int c = 0; c < 4; ++c)
    {
        vertex[c] = v[c < 3 ? c : 0];
        weight[c] = c < 3 ? near.weight[c] : 0;
    }
    return near.distance;
}

flx_status flx__used_vertices(const flx_model* m, uint8_t** out)
{
    *out = flx__alloc_zero(m->ctx, m->user_vertex_count, 1);
    if (!*out) return FLX_ERR_MEMORY;
    for (int64_t k = 0; k < 4 * (int64_t)m->tet_count; ++k) (*out)[m->user_tet[k]] = 1;
    for (int64_t k = 0; k < 3 * (int64_t)m->cloth_count; ++k) (*out)[m->cloth[k]] = 1;
    return FLX_OK;
}

flx_status flx__fail_empty_region(const flx_model* m, const char* section, int32_t index, int32_t body)
{
    const flx_body* b     = &m->body[body];
    double          lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t s = b->surface_vertex_first; s < b->surface_vertex_first + b->surface_vertex_count; ++s)
        for (int c = 0; c < 3; ++c)
        {
            lo[c] = fmin(lo[c], m->surface_rest[3 * (int64_t)s + c]);
            hi[c] = fmax(hi[c], m->surface_rest[3 * (int64_t)s + c]);
        }
    return flx__fail(m->ctx, FLX_ERR_SCENE,
                     "%s[%d]: no vertex of body '%s' lies in the region; the body reaches from (%.4g, %.4g, %.4g) to "
                     "(%.4g, %.4g, %.4g) m",
                     section, index, m->scene->body[body].name, lo[0], lo[1], lo[2], hi[0], hi[1], hi[2]);
}

double flx__body_stiffness(const flx_body* b, double factor)
{
    return b->is_cloth ? factor * b->tension : factor * 2 * b->mu * b->cell;
}
