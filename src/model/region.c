// Contact regions: which surface points are proxies, which vertices are collision-prone, where self contact looks.
//
// x_2 of [LLKS] section 4 is the set of vertices of the tets that hold a proxy; self contact adds the ring of tets
// around them. Tets all of whose corners are in x_2 form the set beta (a superset of the paper's, which asks for a
// proxy inside: it still touches x_2 only).
#include "model/model.h"

#include "contact/cloth_contact.h"
#include "contact/cloth_topology.h"

#include "math/mat3.h"
#include "mesh/shape.h"

#include <stdio.h>
#include <string.h>

#define MOST_PRONE 20000 // Sigma in double precision would take 3.2 GB
#define FEW_PRONE 400    // of cloth: what is dense takes no time
#define MANY_PRONE 2000  // of cloth: Sigma^-1 is slow then, however large the rest of the cloth

void flx__vertex_normals(int32_t vertex_count, const double* x, int32_t triangle_count, const int32_t* triangle,
                         double* normal)
{
    memset(normal, 0, 3 * sizeof(double) * (size_t)vertex_count);
    for (int32_t t = 0; t < triangle_count; ++t)
    {
        const int32_t* v = triangle + 3 * (int64_t)t;
        double         e[3], f[3], n[3];
        flx__sub3(x + 3 * (int64_t)v[1], x + 3 * (int64_t)v[0], e);
        flx__sub3(x + 3 * (int64_t)v[2], x + 3 * (int64_t)v[0], f);
        flx__cross3(e, f, n); // weighted by area
        for (int k = 0; k < 3; ++k)
            for (int c = 0; c < 3; ++c) normal[3 * (int64_t)v[k] + c] += n[c];
    }
    for (int32_t i = 0; i < vertex_count; ++i)
    {
        double*      n    = normal + 3 * (int64_t)i;
        const double size = flx__norm3(n);
        for (int c = 0; c < 3; ++c) n[c] = size > 0 ? n[c] / size : c == 2;
    }
}

static void mark_prone(flx_build* build, int32_t tet)
{
    for (int c = 0; c < 4; ++c) build->prone[build->model->user_tet[4 * (int64_t)tet + c]] = 1;
}

/// vertex, weight [4]: what the point is embedded in, all of which becomes prone; a vertex of weight 0 that repeats
/// another is no corner of its own.
static flx_status add_proxy(flx_build* build, int64_t* capacity, const int32_t* vertex, const double* weight,
                            const double p[3], const double normal[3], int32_t surface_vertex)
{
    flx_status   status = FLX_OK;
    flx_model*   m      = build->model;
    flx_context* ctx    = m->ctx;
    if (m->proxy_count + 1 > *capacity)
    {
        const int64_t wanted = *capacity * 2 > 1024 ? *capacity * 2 : 1024;
        flx_proxy*    a      = flx__realloc(ctx, m->proxy, wanted, sizeof *a);
        if (a) m->proxy = a;
        int32_t* b = a ? flx__realloc(ctx, m->proxy_surface, wanted, sizeof *b) : NULL;
        if (b) m->proxy_surface = b;
        if (!b)
        {
            status = FLX_ERR_MEMORY;
            goto done;
        }
        *capacity = wanted;
    }
    flx_proxy* x = &m->proxy[m->proxy_count];
    memcpy(x->vertex, vertex, sizeof x->vertex);
    memcpy(x->weight, weight, sizeof x->weight);
    memcpy(x->rest, p, sizeof x->rest);
    memcpy(x->normal, normal, sizeof x->normal);
    m->proxy_surface[m->proxy_count++] = surface_vertex;
    for (int c = 0; c < 4; ++c) build->prone[vertex[c]] = 1;
done:
    return status;
}

/// Points spread `spacing` apart over the triangles whose corners are all hit.
static flx_status sample_triangles(flx_build* build, const flx_body* b, const uint8_t* hit, double spacing,
                                   int64_t* capacity)
{
    flx_status   status   = FLX_OK;
    flx_model*   m        = build->model;
    flx_context* ctx      = m->ctx;
    int32_t *    triangle = NULL, *source = NULL, *on = NULL;
    double *     point = NULL, *weight = NULL;
    int32_t      count = 0;
    double       area  = 0;

    FLX_NEW(ctx, triangle, 3 * (int64_t)b->surface_triangle_count);
    FLX_NEW(ctx, source, b->surface_triangle_count);
    for (int32_t t = 0; t < b->surface_triangle_count; ++t)
    {
        const int32_t* v    = m->surface_triangle + 3 * ((int64_t)b->surface_triangle_first + t);
        bool           keep = true;
        for (int k = 0; k < 3; ++k) keep = keep && hit[v[k] - b->surface_vertex_first];
        if (!keep) continue;
        double e[3], f[3], n[3];
        flx__sub3(m->surface_rest + 3 * (int64_t)v[1], m->surface_rest + 3 * (int64_t)v[0], e);
        flx__sub3(m->surface_rest + 3 * (int64_t)v[2], m->surface_rest + 3 * (int64_t)v[0], f);
        flx__cross3(e, f, n);
        area += 0.5 * flx__norm3(n);
        memcpy(triangle + 3 * (int64_t)count, v, 3 * sizeof *v);
        source[count++] = t;
    }
    const double wanted = area / (spacing * spacing);
    if (wanted > 200000)
    {
        status =
            flx__fail(ctx, FLX_ERR_SCENE, "contact: a spacing of %g m gives %.0f proxies; at most 200000 are allowed",
                      spacing, wanted);
        goto done;
    }
    const int32_t samples = (int32_t)wanted;
    if (count == 0 || samples == 0) goto done;
    FLX_NEW(ctx, point, 3 * (int64_t)samples);
    FLX_NEW(ctx, weight, 3 * (int64_t)samples);
    FLX_NEW(ctx, on, samples);
    FLX_TRY(flx__surface_sample(ctx, m->surface_rest, count, triangle, samples, point, on, weight));
    for (int32_t i = 0; i < samples; ++i)
    {
        const int32_t* v = triangle + 3 * (int64_t)on[i];
        const double*  w = weight + 3 * (int64_t)i;
        double         e[3], f[3], n[3];
        flx__sub3(m->surface_rest + 3 * (int64_t)v[1], m->surface_rest + 3 * (int64_t)v[0], e);
        flx__sub3(m->surface_rest + 3 * (int64_t)v[2], m->surface_rest + 3 * (int64_t)v[0], f);
        flx__cross3(e, f, n);
        const double size = flx__norm3(n);
        for (int c = 0; c < 3; ++c) n[c] /= size > 0 ? size : 1;
        const int nearest = w[0] >= w[1] ? (w[0] >= w[2] ? 0 : 2) : (w[1] >= w[2] ? 1 : 2);
        int32_t   corner[4];
        double    share[4];
        if (isfinite(
                flx__body_corners(m, (int32_t)(b - m->body), point + 3 * (int64_t)i, source[on[i]], corner, share)))
            FLX_TRY(add_proxy(build, capacity, corner, share, point + 3 * (int64_t)i, n, v[nearest]));
    }
done:
    flx__free(ctx, triangle);
    flx__free(ctx, source);
    flx__free(ctx, on);
    flx__free(ctx, point);
    flx__free(ctx, weight);
    return status;
}

static double mean_surface_edge(const flx_model* m, const flx_body* b, const uint8_t* hit)
{
    double  sum   = 0;
    int64_t count = 0;
    for (int32_t t = 0; t < b->surface_triangle_count; ++t)
    {
        const int32_t* v = m->surface_triangle + 3 * ((int64_t)b->surface_triangle_first + t);
        for (int k = 0; k < 3; ++k)
        {
            const int32_t p = v[k], q = v[(k + 1) % 3];
            if (!hit[p - b->surface_vertex_first] || !hit[q - b->surface_vertex_first]) continue;
            sum += flx__distance3(m->surface_rest + 3 * (int64_t)p, m->surface_rest + 3 * (int64_t)q);
            ++count;
        }
    }
    return count ? sum / (double)count : 0;
}

typedef struct search_args
{
    const flx_model* m;
    const flx_body*  b;
    const uint8_t*   hit;
    double           lo[3], hi[3], depth;
    uint8_t*         near; // [tet_count of the body]
} search_args;

static void find_near(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    search_args*     a = user;
    const flx_model* m = a->m;
    for (int64_t e = begin; e < end; ++e)
    {
        const int32_t* v = m->user_tet + 4 * (a->b->tet_first + e);
        double         p[3];
        bool           in = true;
        for (int c = 0; c < 3; ++c)
        {
            p[c] = 0;
            for (int k = 0; k < 4; ++k) p[c] += 0.25 * m->user_rest[3 * (int64_t)v[k] + c];
            in = in && p[c] >= a->lo[c] && p[c] <= a->hi[c];
        }
        a->near[e] = 0;
        flx_closest closest;
        if (!in || !flx__triangle_bvh_closest(a->b->bvh, p, a->depth, &closest)) continue;
        const int32_t* t = m->surface_triangle + 3 * ((int64_t)a->b->surface_triangle_first + closest.triangle);
        for (int k = 0; k < 3; ++k) a->near[e] |= a->hit[t[k] - a->b->surface_vertex_first];
    }
}

/// Tets with material near the region's surface: where a proxy may be found after it went through the skin.
static flx_status find_search_tets(flx_model* m, const flx_body* b, const uint8_t* hit, flx_contact_group* g)
{
    flx_status  status = FLX_OK;
    search_args a      = {.m = m, .b = b, .hit = hit, .depth = g->depth};
    for (int c = 0; c < 3; ++c) a.lo[c] = INFINITY, a.hi[c] = -INFINITY;
    for (int32_t i = 0; i < b->surface_vertex_count; ++i)
    {
        if (!hit[i]) continue;
        const double* p = m->surface_rest + 3 * ((int64_t)b->surface_vertex_first + i);
        for (int c = 0; c < 3; ++c) a.lo[c] = fmin(a.lo[c], p[c] - g->depth), a.hi[c] = fmax(a.hi[c], p[c] + g->depth);
    }
    FLX_NEW(m->ctx, a.near, b->tet_count);
    flx__parallel_for(m->ctx, b->tet_count, 4096, find_near, &a);
    for (int32_t e = 0; e < b->tet_count; ++e) g->search_count += a.near[e];
    FLX_NEW(m->ctx, g->search, g->search_count);
    int32_t at = 0;
    for (int32_t e = 0; e < b->tet_count; ++e)
        if (a.near[e]) g->search[at++] = b->tet_first + e;
done:
    flx__free(m->ctx, a.near);
    return status;
}

/// One ring more of prone vertices around those of the proxies: a fold squeezes the flesh under its skin too, and only
/// elements of prone vertices can be kept from being turned inside out (solver/detect.c).
static flx_status thicken(flx_build* build, const flx_body* b, const flx_contact_group* g)
{
    flx_status       status = FLX_OK;
    const flx_model* m      = build->model;
    uint8_t*         core   = NULL;
    FLX_NEW_ZERO(m->ctx, core, m->user_vertex_count);
    for (int32_t i = g->proxy_first; i < g->proxy_first + g->proxy_count; ++i)
        for (int c = 0; c < 4; ++c) core[m->proxy[i].vertex[c]] = 1;
    for (int32_t e = b->tet_first; e < b->tet_first + b->tet_count; ++e)
    {
        const int32_t* v = m->user_tet + 4 * (int64_t)e;
        if (core[v[0]] || core[v[1]] || core[v[2]] || core[v[3]]) mark_prone(build, e);
    }
done:
    flx__free(m->ctx, core);
    return status;
}

static flx_status check_cloth(flx_context* ctx, const flx_contact_desc* d, int32_t index, const char* name)
{
    if (!(d->offset > 0))
        return flx__fail(ctx, FLX_ERR_SCENE,
                         "contact[%d]: body '%s' is cloth, which has no inside: give the offset that its layers keep, "
                         "above 0, such as offset: 4 mm",
                         index, name);
    if (d->spacing > 0)
        return flx__fail(ctx, FLX_ERR_SCENE,
                         "contact[%d]: body '%s' is cloth, which touches itself with its vertices and edges: leave "
                         "spacing out",
                         index, name);
    return FLX_OK;
}

/// Cloth that touches itself: each vertex in the region has several proxies, for as many partners, and each edge has
/// one, as contact/cloth_contact.h wants them. Triangles whose corners are all in the region are the partners.
static flx_status cloth_proxies(flx_build* build, int32_t index, const uint8_t* hit, const double* normal,
                                int64_t* capacity)
{
    flx_status         status   = FLX_OK;
    flx_model*         m        = build->model;
    flx_context*       ctx      = m->ctx;
    flx_contact_group* g        = &m->group[index];
    const flx_body*    b        = &m->body[g->body];
    int32_t *          triangle = NULL, *surface_of = NULL; // of a vertex: its surface vertex
    flx_cloth_topology top = {0};
    char               who[96];

    FLX_NEW(ctx, surface_of, b->vertex_count);
    for (int32_t i = 0; i < b->surface_vertex_count; ++i)
    {
        const int32_t s = b->surface_vertex_first + i, v = m->surface_corner[4 * (int64_t)s];
        const double* x                 = m->surface_rest + 3 * (int64_t)s;
        surface_of[v - b->vertex_first] = s;
        if (!hit[i]) continue;
        ++g->point_count;
        for (int k = 0; k < FLX_CLOTH_PARTNERS; ++k)
            FLX_TRY(add_proxy(build, capacity, m->surface_corner + 4 * (int64_t)s, m->surface[s].weight, x,
                              normal + 3 * (int64_t)s, s));
    }
    FLX_NEW(ctx, g->search, b->cloth_count);
    FLX_NEW(ctx, triangle, 3 * (int64_t)b->cloth_count);
    for (int32_t t = b->cloth_first; t < b->cloth_first + b->cloth_count; ++t)
    {
        const int32_t* v  = m->cloth + 3 * (int64_t)t;
        bool           in = true;
        for (int k = 0; k < 3; ++k)
        {
            triangle[3 * (int64_t)g->search_count + k] = v[k];
            in = in && hit[surface_of[v[k] - b->vertex_first] - b->surface_vertex_first];
        }
        if (in) g->search[g->search_count++] = t;
    }
    snprintf(who, sizeof who, "contact[%d]: body '%.40s'", index, m->scene->body[g->body].name);
    FLX_TRY(
        flx__cloth_topology_create(ctx, m->user_vertex_count, g->search_count, triangle, who, b->vertex_first, &top));
    for (int32_t e = 0; e < top.edge_count; ++e)
    {
        const int32_t v = top.edge[2 * (int64_t)e], w = top.edge[2 * (int64_t)e + 1],
                      s = surface_of[v - b->vertex_first];
        double x[3];
        for (int k = 0; k < 3; ++k) x[k] = 0.5 * (m->user_rest[3 * (int64_t)v + k] + m->user_rest[3 * (int64_t)w + k]);
        FLX_TRY(add_proxy(build, capacity, (const int32_t[4]){v, w, v, v}, (const double[4]){0.5, 0.5, 0, 0}, x,
                          normal + 3 * (int64_t)s, s));
    }
    g->memory_first = m->memory_count;
    m->memory_count += FLX_CLOTH_PARTNERS * g->point_count;
done:
    flx__cloth_topology_release(ctx, &top);
    flx__free(ctx, triangle);
    flx__free(ctx, surface_of);
    return status;
}

static flx_status build_group(flx_build* build, int32_t index, int64_t* capacity)
{
    flx_status              status = FLX_OK;
    flx_model*              m      = build->model;
    flx_context*            ctx    = m->ctx;
    const flx_contact_desc* d      = &m->scene->contact[index];
    const flx_body*         b      = &m->body[d->body];
    flx_contact_group*      g      = &m->group[index];
    uint8_t*                hit    = NULL;
    double*                 normal = NULL;

    *g             = (flx_contact_group){.desc        = index,
                                         .body        = d->body,
                                         .obstacle    = d->self ? -1 : d->obstacle,
                                         .proxy_first = m->proxy_count,
                                         .margin      = d->margin > 0            ? d->margin
                                                        : d->self && b->is_cloth ? d->offset
                                                                                 : 0.5 * b->cell,
                                         .offset      = d->offset,
                                         .exclude     = 0.5 * b->cell,
                                         .depth       = (b->is_cloth ? 1 : 5) * b->cell};
    m->group_count = index + 1;
    // a unilateral contact is nearly hard; a spring that stiff pulls flesh in before the rest can follow
    g->stiffness = d->stiffness > 0 ? d->stiffness : flx__body_stiffness(b, d->law == FLX_LAW_SPRING ? 1 : 100);

    if (d->self && b->is_cloth) FLX_TRY(check_cloth(ctx, d, index, m->scene->body[d->body].name));
    FLX_NEW_ZERO(ctx, hit, b->surface_vertex_count);
    FLX_NEW(ctx, normal, 3 * (int64_t)m->surface_vertex_count);
    flx__vertex_normals(m->surface_vertex_count, m->surface_rest, m->surface_triangle_count, m->surface_triangle,
                        normal);
    if (d->region.kind == FLX_SHAPE_AUTO && !b->is_cloth) // no bones say where cloth goes: all of it may touch
    {
        m->region_proposed = true;
        FLX_TRY(flx__propose_region(build, index, hit));
    }
    else
        for (int32_t i = 0; i < b->surface_vertex_count; ++i)
            hit[i] = flx__shape_contains(&d->region, m->surface_rest + 3 * ((int64_t)b->surface_vertex_first + i));

    if (d->self && b->is_cloth)
        FLX_TRY(cloth_proxies(build, index, hit, normal, capacity));
    else if (d->spacing > 0)
        FLX_TRY(sample_triangles(build, b, hit, d->spacing, capacity));
    else
    {
        for (int32_t i = 0; i < b->surface_vertex_count; ++i)
        {
            const int32_t s = b->surface_vertex_first + i;
            if (hit[i])
                FLX_TRY(add_proxy(build, capacity, m->surface_corner + 4 * (int64_t)s, m->surface[s].weight,
                                  m->surface_rest + 3 * (int64_t)s, normal + 3 * (int64_t)s, s));
        }
        if (!b->is_cloth &&
            mean_surface_edge(m, b, hit) > 1.5 * b->cell) // skin coarser than the lattice: fill in between its vertices
            FLX_TRY(sample_triangles(build, b, hit, b->cell, capacity));
    }
    g->proxy_count = m->proxy_count - g->proxy_first;
    if (g->proxy_count == 0)
    {
        if (d->region.kind == FLX_SHAPE_AUTO)
            flx__log(ctx, FLX_LOG_NOTICE,
                     "contact[%d]: the motion brings no part of body '%s' near %s; this contact does nothing", index,
                     m->scene->body[d->body].name, d->self ? "itself" : "the obstacle");
        else
            status = flx__fail_empty_region(m, "contact", index, d->body);
        goto done;
    }
    if (d->self && !b->is_cloth)
    {
        FLX_TRY(find_search_tets(m, b, hit, g));
        FLX_TRY(thicken(build, b, g));
    }

done:
    flx__free(ctx, hit);
    flx__free(ctx, normal);
    return status;
}

/// Cloth without tets, and so much of it prone that A^-1 by substitutions costs less than Sigma^-1 held: its
/// contacts are solved for by contact_everywhere.c. The elements of tets need the nested iterations.
static bool touches_everywhere(const flx_model* m, int32_t prone)
{
    if (m->tet_count > 0 || m->group_count == 0 || m->scene->contact[0].law != FLX_LAW_UNILATERAL) return false;
    return prone > MANY_PRONE || (prone >= FEW_PRONE && 4 * (int64_t)prone >= m->user_vertex_count);
}

flx_status flx__build_contact(flx_build* build)
{
    flx_status       status   = FLX_OK;
    flx_model*       m        = build->model;
    flx_context*     ctx      = m->ctx;
    const flx_scene* scene    = m->scene;
    int64_t          capacity = 0;

    FLX_NEW_ZERO(ctx, build->prone, m->user_vertex_count);
    if (scene->obstacle_count) FLX_NEW_ZERO(ctx, m->solid, scene->obstacle_count);
    m->solid_count = scene->obstacle_count;
    for (int32_t i = 0; i < scene->obstacle_count; ++i)
        FLX_TRY(flx__solid_create(ctx, &scene->obstacle[i].shape, &m->solid[i]));

    if (scene->contact_count) FLX_NEW_ZERO(ctx, m->group, scene->contact_count);
    for (int32_t i = 0; i < scene->contact_count; ++i)
    {
        if (scene->contact[i].law != scene->contact[0].law)
        {
            status = flx__fail(ctx, FLX_ERR_SCENE,
                               "contact[%d]: one scene has one contact law; contact[0] has the other one", i);
            goto done;
        }
        FLX_TRY(build_group(build, i, &capacity));
    }
    int32_t prone = 0;
    for (int32_t i = 0; i < m->user_vertex_count; ++i) prone += build->prone[i];
    m->contact_everywhere = touches_everywhere(m, prone);
    if (m->contact_everywhere)
    {
        memset(build->prone, 1, (size_t)m->user_vertex_count);
        goto done;
    }
    if (prone > MOST_PRONE)
        status = flx__fail(ctx, FLX_ERR_SCENE,
                           "contact: the regions hold %d collision-prone vertices; at most %d are allowed: name "
                           "smaller regions or use a coarser lattice or cloth (a scene of cloth alone under "
                           "`law: unilateral` has no such limit)",
                           prone, MOST_PRONE);
done:
    return status;
}

flx_status flx__build_self_fields(flx_build* build)
{
    flx_status   status = FLX_OK;
    flx_model*   m      = build->model;
    flx_context* ctx    = m->ctx;
    for (int32_t i = 0; i < m->group_count; ++i)
    {
        flx_contact_group* g = &m->group[i];
        if (g->obstacle >= 0 || g->proxy_count == 0 || m->body[g->body].is_cloth) continue;
        const flx_body* b     = &m->body[g->body];
        double          lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (int32_t k = 0; k < g->search_count; ++k)
            for (int j = 0; j < 4; ++j)
                for (int c = 0; c < 3; ++c)
                {
                    const double x = m->user_rest[3 * (int64_t)m->user_tet[4 * (int64_t)g->search[k] + j] + c];
                    lo[c] = fmin(lo[c], x), hi[c] = fmax(hi[c], x);
                }
        const char* path =
            m->scene->body[g->body].surface ? m->scene->body[g->body].surface : m->scene->body[g->body].tets;
        FLX_TRY(flx__distance_field_create(ctx, path, b->whole_bvh ? b->whole_bvh : b->bvh, lo, hi, 0.75 * b->cell,
                                           g->depth + b->cell, &g->field));
    }
done:
    return status;
}
