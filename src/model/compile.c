// Compile: scene -> model. The story; the details are in bodies.c, attach.c, region.c, elements.c.
#include "model/model.h"

#include <string.h>

flx_status flx__build_progress(const flx_build* build, const char* what, double done)
{
    if (build->progress && !build->progress(build->user, what, done))
        return flx__fail(build->model->ctx, FLX_ERR_CANCELLED, "cancelled while %s", what);
    return FLX_OK;
}

/// Vertices of cloth and constraints by another numbering.
static void renumber_constraints(flx_model* m, const int32_t* to)
{
    for (int64_t k = 0; k < 3 * (int64_t)m->cloth_count; ++k) m->cloth[k] = to[m->cloth[k]];
    for (int32_t b = 0; b < m->batch_count; ++b)
        for (int32_t k = 0; k < m->batch[b].first[m->batch[b].count]; ++k)
            m->batch[b].vertex[k] = to[m->batch[b].vertex[k]];
}

/// Where the gathers of each batch are, in a numbering of n vertices.
static flx_status gather_constraints(flx_model* m, int32_t n)
{
    flx_status status = FLX_OK;
    if (!m->gather) FLX_NEW_ZERO(m->ctx, m->gather, m->batch_count);
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        flx__constraint_gather_release(m->ctx, &m->gather[b]);
        FLX_TRY(flx__constraint_gather_create(m->ctx, &m->batch[b], n, &m->gather[b]));
    }
done:
    return status;
}

/// Constraints in the order of their first vertices, so that what a step reads together lies together.
static flx_status sort_batch(flx_context* ctx, flx_constraint_batch* b, int32_t n)
{
    flx_status           status = FLX_OK;
    flx_constraint_batch to     = {.type = b->type, .count = b->count};
    const int32_t        rows = b->type->rows, params = b->type->params;
    int32_t *            key = NULL, *first = NULL, *from = NULL;
    FLX_NEW(ctx, key, b->count);
    for (int32_t j = 0; j < b->count; ++j)
    {
        key[j] = b->vertex[b->first[j]];
        for (int32_t k = b->first[j]; k < b->first[j + 1]; ++k) key[j] = b->vertex[k] < key[j] ? b->vertex[k] : key[j];
    }
    FLX_TRY(flx__group(ctx, b->count, key, n, &first, &from));
    FLX_NEW(ctx, to.first, (int64_t)b->count + 1);
    FLX_NEW(ctx, to.vertex, b->first[b->count]);
    FLX_NEW(ctx, to.coefficient, (int64_t)b->first[b->count] * rows);
    FLX_NEW(ctx, to.weight, b->count);
    FLX_NEW(ctx, to.param, (int64_t)b->count * params);
    to.first[0] = 0;
    for (int32_t j = 0; j < b->count; ++j)
    {
        const int32_t at = b->first[from[j]], columns = b->first[from[j] + 1] - at;
        memcpy(to.vertex + to.first[j], b->vertex + at, 4 * (size_t)columns);
        memcpy(to.coefficient + (int64_t)to.first[j] * rows, b->coefficient + (int64_t)at * rows,
               8 * (size_t)columns * (size_t)rows);
        memcpy(to.param + (int64_t)j * params, b->param + (int64_t)from[j] * params, 8 * (size_t)params);
        to.weight[j]    = b->weight[from[j]];
        to.first[j + 1] = to.first[j] + columns;
    }
    flx__constraint_batch_release(ctx, b);
    *b = to;
    to = (flx_constraint_batch){0};
done:
    flx__constraint_batch_release(ctx, &to);
    flx__free(ctx, key);
    flx__free(ctx, first);
    flx__free(ctx, from);
    return status;
}

/// Neighbours of vertex i by constraints, those not seen yet.
static flx_status meet_in_constraints(const flx_model* m, int32_t i, int32_t* seen, flx_graph* graph, int64_t* room,
                                      int64_t* at)
{
    flx_status status = FLX_OK;
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        const flx_constraint_gather* g     = &m->gather[b];
        const flx_constraint_batch*  batch = &m->batch[b];
        for (int32_t k = g->first[i]; k < g->first[i + 1]; ++k)
        {
            const int32_t j = g->of[g->entry[k]];
            FLX_RESERVE(m->ctx, graph->adjacent, *room, *at + batch->first[j + 1] - batch->first[j]);
            for (int32_t c = batch->first[j]; c < batch->first[j + 1]; ++c)
                if (seen[batch->vertex[c]] != i)
                    seen[batch->vertex[c]] = i, graph->adjacent[(*at)++] = batch->vertex[c];
        }
    }
done:
    return status;
}

/// Solver's numbering: used vertices only, by nested dissection, prone ones last.
static flx_status number_vertices(flx_build* build)
{
    flx_status   status = FLX_OK;
    flx_model*   m      = build->model;
    flx_context* ctx    = m->ctx;
    flx_graph    graph  = {0};
    int32_t *    used = NULL, *order = NULL, *first = NULL, *entry = NULL, *seen = NULL;
    uint8_t*     prone = NULL;
    int64_t      room  = 0;

    FLX_NEW(ctx, m->of_user, m->user_vertex_count);
    FLX_NEW(ctx, used, m->user_vertex_count);
    for (int32_t i = 0; i < m->user_vertex_count; ++i) m->of_user[i] = -1;
    for (int64_t k = 0; k < 4 * (int64_t)m->tet_count; ++k) m->of_user[m->user_tet[k]] = 0;
    for (int64_t k = 0; k < 3 * (int64_t)m->cloth_count; ++k) m->of_user[m->cloth[k]] = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < m->user_vertex_count; ++i)
        if (m->of_user[i] == 0) m->of_user[i] = n, used[n++] = i;
    m->vertex_count = n;

    // adjacency through tets and constraints
    FLX_NEW(ctx, m->tet, 4 * (int64_t)m->tet_count);
    for (int64_t k = 0; k < 4 * (int64_t)m->tet_count; ++k) m->tet[k] = m->of_user[m->user_tet[k]];
    FLX_TRY(flx__group(ctx, 4 * m->tet_count, m->tet, n, &first, &entry));
    renumber_constraints(m, m->of_user);
    FLX_TRY(gather_constraints(m, n));
    FLX_NEW(ctx, seen, n);
    FLX_NEW(ctx, graph.first, (int64_t)n + 1);
    for (int32_t i = 0; i < n; ++i) seen[i] = -1;
    graph.n    = n;
    int64_t at = 0;
    for (int32_t i = 0; i < n; ++i)
    {
        graph.first[i] = at;
        seen[i]        = i;
        FLX_RESERVE(ctx, graph.adjacent, room, at + 3 * (int64_t)(first[i + 1] - first[i]));
        for (int32_t k = first[i]; k < first[i + 1]; ++k)
            for (int c = 0; c < 4; ++c)
            {
                const int32_t j = m->tet[entry[k] / 4 * 4 + c];
                if (seen[j] != i) seen[j] = i, graph.adjacent[at++] = j;
            }
        FLX_TRY(meet_in_constraints(m, i, seen, &graph, &room, &at));
    }
    graph.first[n] = at;

    FLX_NEW(ctx, prone, n);
    FLX_NEW(ctx, order, n);
    for (int32_t i = 0; i < n; ++i) prone[i] = build->prone[used[i]], m->prone_count += prone[i] != 0;
    m->free_count      = n - m->prone_count;
    const double start = flx__now();
    FLX_TRY(flx__order_nested_dissection(ctx, &graph, m->contact_everywhere ? NULL : prone, order));
    m->ms_order = 1e3 * (flx__now() - start);

    FLX_NEW(ctx, m->user_of, n);
    for (int32_t k = 0; k < n; ++k) seen[order[k]] = k;
    renumber_constraints(m, seen);
    for (int32_t b = 0; b < m->batch_count; ++b) FLX_TRY(sort_batch(ctx, &m->batch[b], n));
    FLX_TRY(gather_constraints(m, n));
    FLX_NEW(ctx, m->x_rest, 3 * (int64_t)n);
    for (int32_t k = 0; k < n; ++k)
    {
        const int32_t u = used[order[k]];
        m->user_of[k]   = u;
        m->of_user[u]   = k;
        memcpy(m->x_rest + 3 * (int64_t)k, m->user_rest + 3 * (int64_t)u, 3 * sizeof(double));
    }
    for (int64_t k = 0; k < 4 * (int64_t)m->tet_count; ++k) m->tet[k] = m->of_user[m->user_tet[k]];
    for (int64_t k = 0; k < 4 * (int64_t)m->surface_vertex_count; ++k)
        m->surface_corner[k] = m->of_user[m->surface_corner[k]];
    for (int32_t s = 0; s < m->spring_count; ++s)
        for (int c = 0; c < 4; ++c) m->spring[s].vertex[c] = m->of_user[m->spring[s].vertex[c]];
    for (int32_t i = 0; i < m->proxy_count; ++i)
        for (int c = 0; c < 4; ++c) m->proxy[i].vertex[c] = m->of_user[m->proxy[i].vertex[c]];
    for (int32_t l = 0; l < m->load_count; ++l)
        for (int32_t k = 0; k < m->load[l].count; ++k) m->load[l].vertex[k] = m->of_user[m->load[l].vertex[k]];

done:
    flx__free(ctx, graph.first);
    flx__free(ctx, graph.adjacent);
    flx__free(ctx, used);
    flx__free(ctx, order);
    flx__free(ctx, first);
    flx__free(ctx, entry);
    flx__free(ctx, seen);
    flx__free(ctx, prone);
    return status;
}

#define HASH(item) h = flx__hash(h, &(item), sizeof(item))

static uint64_t hash_constraints(uint64_t h, const flx_model* m)
{
    for (int32_t i = 0; i < m->batch_count; ++i)
    {
        const flx_constraint_batch* b     = &m->batch[i];
        const int64_t               count = b->first[b->count];
        h                                 = flx__hash(h, b->type->name, (int64_t)strlen(b->type->name));
        h                                 = flx__hash(h, b->vertex, 4 * count);
        h                                 = flx__hash(h, b->coefficient, 8 * count * b->type->rows);
        h                                 = flx__hash(h, b->weight, 8 * (int64_t)b->count);
        h                                 = flx__hash(h, b->param, 8 * (int64_t)b->count * b->type->params);
    }
    const flx_wind_desc* w = &m->scene->wind;
    if (m->cloth_count > 0) HASH(w->velocity), HASH(w->drag), HASH(w->density);
    return h;
}

static uint64_t hash_shape(uint64_t h, const flx_shape* s)
{
    const double number[] = {(double)s->kind, s->a[0], s->a[1],   s->a[2], s->b[0],
                             s->b[1],         s->b[2], s->radius, s->scale};
    return HASH(number);
}

/// Identity of everything that decides the motion, settings apart: a state resumes only where it came from. Fields are
/// hashed one by one: structs have padding.
static uint64_t hash_of(const flx_model* m)
{
    const flx_scene* scene = m->scene;
    uint64_t         h     = FLX_HASH_START;
    h                      = flx__hash(h, m->x_rest, 24 * (int64_t)m->vertex_count);
    h                      = flx__hash(h, m->tet, 16 * (int64_t)m->tet_count);
    h                      = flx__hash(h, m->stiffness, 8 * (int64_t)m->tet_count);
    h                      = flx__hash(h, m->mass, 8 * (int64_t)m->vertex_count);
    h                      = hash_constraints(h, m);
    for (int32_t i = 0; i < m->spring_count; ++i)
    {
        const flx_spring* s = &m->spring[i];
        HASH(s->vertex), HASH(s->weight), HASH(s->stiffness), HASH(s->rest), HASH(s->offset), HASH(s->bone),
            HASH(s->from), HASH(s->until);
    }
    for (int32_t i = 0; i < m->load_count; ++i)
    {
        h = flx__hash(h, m->load[i].vertex, 4 * (int64_t)m->load[i].count);
        HASH(m->load[i].share), HASH(m->load[i].from), HASH(m->load[i].until);
    }
    for (int32_t i = 0; i < m->proxy_count; ++i) HASH(m->proxy[i].rest);
    for (int32_t i = 0; i < m->group_count; ++i)
    {
        const flx_contact_group* g = &m->group[i];
        HASH(g->obstacle), HASH(g->stiffness), HASH(g->margin), HASH(g->offset), HASH(scene->contact[i].law);
    }
    for (int32_t i = 0; i < scene->obstacle_count; ++i)
    {
        h                 = hash_shape(h, &scene->obstacle[i].shape);
        const double area = flx__solid_area(m->solid[i]); // what a mesh holds, up to shapes of equal area
        HASH(area);
    }
    for (int32_t i = 0; i < scene->bone_count; ++i) HASH(scene->bone[i].parent);
    for (int32_t i = 0; i < scene->motion_count; ++i)
    {
        const flx_motion_desc* d = &scene->motion[i];
        HASH(d->bone), HASH(d->obstacle), HASH(d->about), HASH(d->axis);
        for (int32_t k = 0; k < d->key_count; ++k)
            HASH(d->key[k].time), HASH(d->key[k].angle_deg), HASH(d->key[k].translate);
    }
    HASH(scene->run.fps);
    return HASH(scene->gravity);
}

flx_status flx_model_compile(flx_context* ctx, const flx_scene* scene, flx_progress_fn progress, void* user,
                             flx_model** out)
{
    flx_status status = FLX_OK;
    flx_build  build  = {.progress = progress, .user = user};
    flx_model* m      = NULL;

    *out = NULL;
    FLX_NEW_ZERO(ctx, m, 1);
    build.model = m;
    m->ctx      = ctx;
    m->scene    = scene;

    FLX_TRY(flx__build_bodies(&build));
    FLX_TRY(flx__build_fill(&build));
    FLX_TRY(flx__build_constraints(&build));
    FLX_TRY(flx__build_progress(&build, "attaching", 0.35));
    FLX_TRY(flx__build_springs(&build));
    FLX_TRY(flx__build_loads(&build));
    FLX_TRY(flx__build_progress(&build, "finding collision-prone vertices", 0.4));
    FLX_TRY(flx__build_contact(&build));
    FLX_TRY(flx__build_progress(&build, "ordering", 0.55));
    FLX_TRY(number_vertices(&build));
    FLX_TRY(flx__build_progress(&build, "packing elements", 0.75));
    FLX_TRY(flx__build_elements(&build));
    FLX_TRY(flx__build_progress(&build, "computing rest-pose distances", 0.85));
    FLX_TRY(flx__build_self_fields(&build));
    m->hash = hash_of(m);
    FLX_TRY(flx__build_progress(&build, "compiled", 1));
    *out = m;
    m    = NULL;

done:
    flx__free(ctx, build.prone);
    flx_model_destroy(m);
    return status;
}

void flx_model_destroy(flx_model* m)
{
    if (!m) return;
    flx_context* ctx = m->ctx;
    for (int32_t i = 0; i < m->body_count; ++i)
    {
        flx_body* b = &m->body[i];
        flx__lattice_destroy(ctx, b->lattice);
        flx__tet_locator_destroy(b->locator);
        flx__triangle_bvh_destroy(b->bvh);
        flx__triangle_bvh_destroy(b->whole_bvh);
        flx__free(ctx, b->source_triangle);
        flx__free(ctx, b->young);
        flx_mesh_destroy(ctx, b->mesh);
    }
    for (int32_t i = 0; i < m->load_count; ++i) flx__free(ctx, m->load[i].vertex);
    for (int32_t i = 0; i < m->group_count; ++i)
    {
        flx__distance_field_destroy(m->group[i].field);
        flx__free(ctx, m->group[i].search);
    }
    for (int32_t i = 0; m->solid && i < m->solid_count; ++i) flx__solid_destroy(m->solid[i]);
    for (int32_t i = 0; m->batch && i < m->batch_count; ++i) flx__constraint_batch_release(ctx, &m->batch[i]);
    for (int32_t i = 0; m->gather && i < m->batch_count; ++i) flx__constraint_gather_release(ctx, &m->gather[i]);
    flx__patches_release(ctx, &m->alpha);
    flx__patches_release(ctx, &m->beta);
    void* const arrays[] = {m->body,           m->user_rest,
                            m->user_tet,       m->tet_body,
                            m->fill,           m->of_user,
                            m->user_of,        m->x_rest,
                            m->mass,           m->tet,
                            m->rest_inv,       m->stiffness,
                            m->beta_tet,       m->alpha_first,
                            m->alpha_slot,     m->beta_first,
                            m->beta_slot,      m->spring,
                            m->spring_first,   m->spring_entry,
                            m->load,           m->surface_triangle,
                            m->surface,        m->surface_rest,
                            m->group,          m->proxy,
                            m->proxy_surface,  m->solid,
                            m->surface_corner, m->cloth,
                            m->batch,          m->gather};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) flx__free(ctx, arrays[i]);
    flx__free(ctx, m);
}

flx_model_info flx_model_get_info(const flx_model* m)
{
    return (flx_model_info){.body_count             = m->body_count,
                            .vertex_count           = m->user_vertex_count,
                            .tet_count              = m->tet_count,
                            .prone_count            = m->prone_count,
                            .proxy_count            = m->proxy_count,
                            .attachment_count       = m->spring_count,
                            .surface_vertex_count   = m->surface_vertex_count,
                            .surface_triangle_count = m->surface_triangle_count,
                            .region_proposed        = m->region_proposed,
                            .cell                   = m->cell,
                            .size                   = m->size,
                            .hash                   = m->hash};
}

const flx_scene* flx_model_scene(const flx_model* m)
{
    return m->scene;
}
const int32_t* flx_model_tets(const flx_model* m)
{
    return m->user_tet;
}
const int32_t* flx_model_surface_triangles(const flx_model* m)
{
    return m->surface_triangle;
}
const double* flx_model_rest_positions(const flx_model* m)
{
    return m->user_rest;
}
const int32_t* flx_model_tet_body(const flx_model* m)
{
    return m->tet_body;
}
