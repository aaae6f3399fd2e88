// Components, what holds them, and what a run will need: estimates from counts, no lattice, no matrix.
#include "geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char* geometry_path(const flx_body_desc* body)
{
    return body->tets ? body->tets : body->cloth ? body->cloth : body->surface;
}

void geometry_place(flx_mesh* mesh, const flx_body_desc* body)
{
    for (int32_t i = 0; i < mesh->vertex_count; ++i)
    {
        double* p = mesh->x + 3 * (int64_t)i;
        for (int axis = 0; axis < 3; ++axis)
        {
            const double angle = body->rotate_deg[axis] * 3.14159265358979323846 / 180, c = cos(angle), s = sin(angle);
            if (angle == 0) continue;
            double *     a = &p[(axis + 1) % 3], *b = &p[(axis + 2) % 3];
            const double turned = c * *a - s * *b;
            *b                  = s * *a + c * *b;
            *a                  = turned;
        }
        for (int k = 0; k < 3; ++k) p[k] += body->translate[k];
    }
}

static double squared_distance(const double a[3], const double b[3])
{
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

bool geometry_inside(const flx_shape* shape, const double p[3])
{
    switch (shape->kind)
    {
    case FLX_SHAPE_ALL:
    case FLX_SHAPE_AUTO:
        return true;
    case FLX_SHAPE_PLANE:
        return (p[0] - shape->a[0]) * shape->b[0] + (p[1] - shape->a[1]) * shape->b[1] +
                   (p[2] - shape->a[2]) * shape->b[2] <=
               0;
    case FLX_SHAPE_SPHERE:
        return squared_distance(p, shape->a) <= shape->radius * shape->radius;
    case FLX_SHAPE_BOX:
        for (int k = 0; k < 3; ++k)
            if (!(p[k] >= shape->a[k] && p[k] <= shape->b[k])) return false;
        return true;
    case FLX_SHAPE_CAPSULE:
    {
        double along = 0, length = squared_distance(shape->a, shape->b), q[3];
        for (int k = 0; k < 3; ++k) along += (p[k] - shape->a[k]) * (shape->b[k] - shape->a[k]);
        along = length > 0 ? along / length : 0;
        along = along < 0 ? 0 : along > 1 ? 1 : along;
        for (int k = 0; k < 3; ++k) q[k] = shape->a[k] + along * (shape->b[k] - shape->a[k]);
        return squared_distance(p, q) <= shape->radius * shape->radius;
    }
    default:
        return false;
    }
}

// --- components -----------------------------------------------------------------------------------------------

static int32_t root_of(int32_t* parent, int32_t i)
{
    while (parent[i] != i)
    {
        parent[i] = parent[parent[i]];
        i         = parent[i];
    }
    return i;
}

static bool boxes_meet(const component* c, const double low[3], const double high[3])
{
    for (int k = 0; k < 3; ++k)
        if (low[k] > c->high[k] || high[k] < c->low[k]) return false;
    return true;
}

static void mark_held(const flx_scene* scene, int32_t body, const flx_mesh* mesh, const int32_t* label, component* all,
                      int32_t count)
{
    for (int32_t f = 0; f < scene->fix_count; ++f)
    {
        if (scene->fix[f].body != body) continue;
        for (int32_t i = 0; i < mesh->vertex_count; ++i)
            if (label[i] >= 0 && geometry_inside(&scene->fix[f].region, mesh->x + 3 * (int64_t)i))
                all[label[i]].fixed = true;
    }
    for (int32_t a = 0; a < scene->attach_count; ++a)
    {
        if (scene->attach[a].body != body) continue;
        for (int32_t b = 0; b < scene->attach[a].bone_count; ++b)
        {
            const flx_shape* s = &scene->bone[scene->attach[a].bone[b]].shape;
            for (int32_t k = 0; k < count; ++k)
            {
                if (s->kind != FLX_SHAPE_CAPSULE) // a bone's mesh is not opened here: taken as near
                {
                    all[k].attached = true;
                    continue;
                }
                double low[3], high[3];
                for (int i = 0; i < 3; ++i)
                {
                    low[i]  = fmin(s->a[i], s->b[i]) - s->radius;
                    high[i] = fmax(s->a[i], s->b[i]) + s->radius;
                }
                if (boxes_meet(&all[k], low, high)) all[k].attached = true;
            }
        }
    }
}

component* geometry_components(const flx_scene* scene, int32_t body, const flx_mesh* mesh, int32_t* count)
{
    const int32_t  corners  = mesh->tet_count > 0 ? 4 : 3;
    const int64_t  elements = mesh->tet_count > 0 ? mesh->tet_count : mesh->triangle_count;
    const int32_t* element  = mesh->tet_count > 0 ? mesh->tet : mesh->triangle;
    const int32_t  n        = mesh->vertex_count;
    int32_t*       parent   = malloc(sizeof *parent * ((size_t)n + 1));
    int32_t*       label    = malloc(sizeof *label * ((size_t)n + 1));
    component*     all      = NULL;
    *count                  = 0;
    if (!parent || !label) goto done;

    for (int32_t i = 0; i < n; ++i) parent[i] = i, label[i] = -1;
    for (int64_t e = 0; e < elements; ++e)
        for (int32_t k = 1; k < corners; ++k)
        {
            const int32_t a = root_of(parent, element[corners * e]), b = root_of(parent, element[corners * e + k]);
            if (a < b) parent[b] = a;
            if (b < a) parent[a] = b;
        }
    for (int64_t i = 0; i < corners * elements; ++i)
    {
        const int32_t root = root_of(parent, element[i]);
        if (label[root] < 0) label[root] = (*count)++;
        label[element[i]] = label[root];
    }
    all = calloc((size_t)*count + 1, sizeof *all);
    if (!all) goto done;
    for (int32_t k = 0; k < *count; ++k)
        for (int i = 0; i < 3; ++i) all[k].low[i] = INFINITY, all[k].high[i] = -INFINITY;
    for (int32_t v = 0; v < n; ++v)
    {
        if (label[v] < 0) continue;
        component* c = &all[label[v]];
        ++c->vertex_count;
        for (int i = 0; i < 3; ++i)
        {
            c->low[i]  = fmin(c->low[i], mesh->x[3 * (int64_t)v + i]);
            c->high[i] = fmax(c->high[i], mesh->x[3 * (int64_t)v + i]);
        }
    }
    mark_held(scene, body, mesh, label, all, *count);
done:
    free(parent);
    free(label);
    return all;
}

// --- estimates ----------------------------------------------------------------------------------------------

double geometry_share_cropped(const flx_body_desc* body, const flx_mesh* mesh)
{
    if (body->crop_count == 0 || mesh->triangle_count == 0) return 1;
    int64_t inside = 0;
    for (int64_t t = 0; t < mesh->triangle_count; ++t)
        for (int32_t k = 0; k < body->crop_count; ++k)
            if (geometry_inside(&body->crop[k], mesh->x + 3 * (int64_t)mesh->triangle[3 * t]))
            {
                ++inside;
                break;
            }
    return (double)inside / mesh->triangle_count;
}

/// By area for surfaces. A region the engine proposes is all of a cloth, and taken as a tenth of another body.
double geometry_share_in_contact(const flx_scene* scene, int32_t body, const flx_mesh* mesh)
{
    double area = 0, inside = 0;
    bool   proposed = false;
    for (int32_t k = 0; k < scene->contact_count; ++k)
        proposed |= scene->contact[k].body == body && scene->contact[k].region.kind == FLX_SHAPE_AUTO;
    for (int64_t t = 0; t < mesh->triangle_count; ++t)
    {
        const double* p[3];
        double        u[3], v[3], middle[3];
        for (int k = 0; k < 3; ++k) p[k] = mesh->x + 3 * (int64_t)mesh->triangle[3 * t + k];
        for (int i = 0; i < 3; ++i)
        {
            u[i]      = p[1][i] - p[0][i];
            v[i]      = p[2][i] - p[0][i];
            middle[i] = (p[0][i] + p[1][i] + p[2][i]) / 3;
        }
        const double n0 = u[1] * v[2] - u[2] * v[1], n1 = u[2] * v[0] - u[0] * v[2], n2 = u[0] * v[1] - u[1] * v[0];
        const double a = 0.5 * sqrt(n0 * n0 + n1 * n1 + n2 * n2);
        area += a;
        for (int32_t k = 0; k < scene->contact_count; ++k)
            if (scene->contact[k].body == body && scene->contact[k].region.kind != FLX_SHAPE_AUTO &&
                geometry_inside(&scene->contact[k].region, middle))
            {
                inside += a;
                break;
            }
    }
    const double share = area > 0 ? inside / area : 0, least = scene->body[body].cloth ? 1.0 : 0.1;
    return proposed ? fmax(share, least) : share;
}

void estimate_body(estimate* e, const flx_scene* scene, int32_t body, const flx_mesh* mesh,
                   const flx_doctor_report* report)
{
    const flx_body_desc* b    = &scene->body[body];
    const double         used = (double)(report->vertex_count - report->unreferenced.count);
    if (b->cloth)
    {
        e->triangles += mesh->triangle_count;
        e->vertices += used;
        e->sheet_vertices += used;
        e->prone += geometry_share_in_contact(scene, body, mesh) * used;
        return;
    }
    if (mesh->tet_count > 0)
    {
        e->tets += mesh->tet_count;
        e->vertices += used;
        for (int32_t k = 0; k < scene->contact_count; ++k)
            if (scene->contact[k].body == body) e->prone += 6 * pow(used, 2.0 / 3) / scene->contact_count;
        return;
    }
    // A cubic lattice of cell a: V / a^3 + 0.75 A / a^2 cells touch the body, 12 tets each less 2 a boundary face.
    const double crop = geometry_share_cropped(b, mesh);
    const double V = fabs(report->enclosed_volume) * crop, A = report->area * crop;
    double       cell = b->lattice_cell, tets = b->lattice_tets;
    if (cell > 0)
        tets = 12 * V / (cell * cell * cell) + 6 * A / (cell * cell);
    else
    {
        cell = cbrt(12 * V / (tets > 0 ? tets : 1));
        for (int i = 0; i < 30; ++i) cell = cbrt((12 * V + 6 * A * cell) / (tets > 0 ? tets : 1));
    }
    e->tets += tets;
    e->vertices += tets / 5.5;
    // prone: corners of the cells along the surface in the contact regions, and one layer below
    const double share = geometry_share_in_contact(scene, body, mesh);
    e->prone += fmin(tets / 5.5, cell > 0 ? 3.5 * share * report->area / (cell * cell) : 0);
}

/// Contacts of cloth alone are solved for without an inverse: the rule of the engine's compile.
static bool touches_everywhere(const estimate* e, const flx_scene* scene)
{
    return scene->contact_count > 0 && scene->contact[0].law == FLX_LAW_UNILATERAL && e->tets == 0 &&
           (e->prone > 2000 || (e->prone >= 400 && 4 * e->prone >= e->vertices));
}

void estimate_finish(estimate* e, const flx_scene* scene)
{
    // constants of the elbow (625 k tets, 3,544 prone) and of sheets (up to 200 x 200, strain and bending) on two
    // cores; nested dissection of a solid gives n^(4/3) entries, of a sheet n log n
    const bool   everywhere = touches_everywhere(e, scene);
    const double n = fmax(e->vertices - e->sheet_vertices, 0), sheet = e->sheet_vertices;
    e->factor_nonzeros = 10.4 * pow(n, 1.31) + 8.5 * sheet * log2(sheet + 1);
    const double flops =
        45.5e9 * pow(n / 114973, 2) + 170 * pow(sheet, 1.5) + (everywhere ? 0 : pow(e->prone, 3) * (1 + 1.0 / 3));
    const bool   single = scene->settings.precision == FLX_PRECISION_SINGLE;
    const double per_nz = single ? 4 : 8;
    const double dense  = everywhere ? 1500 * e->vertices : e->prone * e->prone * (8 + per_nz);
    e->bytes            = e->factor_nonzeros * 2 * per_nz + dense + 330 * (e->tets + e->triangles) + 2e7;
    e->setup_seconds    = flops / 45e9 + 3e-6 * (e->tets + e->triangles);
    const double outer  = 2e3 * e->factor_nonzeros * per_nz / 20e9 + 2e-5 * (e->tets + e->triangles); // ms
    const double inner  = everywhere ? 4e-8 * e->factor_nonzeros * sqrt(e->vertices) + 1e-4 * e->vertices
                                     : 1e3 * e->prone * e->prone * per_nz / 20e9 + 3e-3 * e->prone; // ms
    const double steps  = scene->settings.mode == FLX_MODE_DYNAMIC ? scene->settings.substeps : 1;
    e->frame_ms         = steps * scene->settings.outer * (outer + scene->settings.inner * inner);
}
