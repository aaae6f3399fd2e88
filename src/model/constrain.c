// Constraints of a body as batches over all its elements, in the user's numbering; compile.c renumbers.
#include "model/model.h"

#include "base/file.h"

#include <string.h>

/// Elements that a constraint is on, and the stiffness of each.
typedef struct selection
{
    int32_t  count;
    int32_t* element; // [count][corners]
    double*  weight;  // [count]
} selection;

static flx_status find_group(const flx_model* m, int32_t body, const char* name, const flx_mesh_group** out)
{
    const flx_mesh* mesh = m->body[body].mesh;
    for (int32_t i = 0; mesh && i < mesh->group_count; ++i)
        if (strcmp(mesh->group[i].name, name) == 0)
        {
            *out = &mesh->group[i];
            return FLX_OK;
        }
    return flx__fail(m->ctx, FLX_ERR_SCENE, "body '%s': a constraint is for group '%.60s', which its mesh has not",
                     m->scene->body[body].name, name);
}

static flx_status select_elements(const flx_model* m, int32_t body, const flx_constraint_desc* d, selection* out)
{
    flx_status      status  = FLX_OK;
    flx_context*    ctx     = m->ctx;
    const flx_body* b       = &m->body[body];
    const int32_t   corners = b->is_cloth ? 3 : 4, all = b->is_cloth ? b->cloth_count : b->tet_count;
    const int32_t*  from =
        b->is_cloth ? m->cloth + 3 * (int64_t)b->cloth_first : m->user_tet + 4 * (int64_t)b->tet_first;
    const flx_mesh_group* group  = NULL;
    double*               factor = NULL;
    if (d->group) FLX_TRY(find_group(m, body, d->group, &group));
    if (d->file)
    {
        char what[120];
        flx__print_c(what, sizeof what, "body '%.80s'", m->scene->body[body].name);
        FLX_TRY(flx__element_values(ctx, d->file, all, what, &factor));
    }
    out->count = !group ? all : b->is_cloth ? group->triangle_count : group->tet_count;
    FLX_NEW(ctx, out->element, corners * (int64_t)out->count);
    FLX_NEW(ctx, out->weight, out->count);
    for (int32_t i = 0; i < out->count; ++i)
    {
        const int32_t e = !group ? i : b->is_cloth ? group->triangle[i] : group->tet[i];
        memcpy(out->element + corners * (int64_t)i, from + corners * (int64_t)e, sizeof(int32_t) * (size_t)corners);
        out->weight[i] = d->stiffness * (factor ? factor[e] : 1);
    }
done:
    flx__free(ctx, factor);
    return status;
}

/// The same stiffness for `count` edges or vertices. flx__free() it.
static flx_status evenly(flx_context* ctx, int32_t count, double stiffness, double** out)
{
    flx_status status = FLX_OK;
    FLX_NEW(ctx, *out, count);
    for (int32_t i = 0; i < count; ++i) (*out)[i] = stiffness;
done:
    return status;
}

static flx_status edge_springs(flx_model* m, const selection* on, double stiffness, flx_constraint_batch* out)
{
    flx_status status = FLX_OK;
    int32_t*   edge   = NULL;
    double*    weight = NULL;
    int32_t    count  = 0;
    FLX_TRY(flx__triangle_edges(m->ctx, on->count, on->element, &count, &edge));
    FLX_TRY(evenly(m->ctx, count, stiffness, &weight));
    status = flx__edge_springs(m->ctx, m->user_rest, count, edge, weight, out);
done:
    flx__free(m->ctx, edge);
    flx__free(m->ctx, weight);
    return status;
}

static flx_status build_batch(flx_model* m, int32_t body, const flx_constraint_desc* d, flx_constraint_batch* out)
{
    flx_status    status = FLX_OK;
    flx_context*  ctx    = m->ctx;
    double*       vertex = NULL;
    const double* x      = m->user_rest;
    selection     on     = {0};
    FLX_TRY(select_elements(m, body, d, &on));
    switch (d->kind)
    {
    case FLX_CONSTRAINT_SPRING:
        status = edge_springs(m, &on, d->stiffness, out);
        break;
    case FLX_CONSTRAINT_STRAIN:
        status = flx__triangle_strains(ctx, x, on.count, on.element, on.weight, d->least, d->most, NULL, out);
        break;
    case FLX_CONSTRAINT_BENDING:
        FLX_TRY(evenly(ctx, m->user_vertex_count, d->stiffness, &vertex));
        status = flx__bendings(ctx, m->user_vertex_count, x, on.count, on.element, vertex, out);
        break;
    case FLX_CONSTRAINT_TET_STRAIN:
        status = flx__tet_strains(ctx, x, on.count, on.element, on.weight, d->least, d->most, out);
        break;
    case FLX_CONSTRAINT_TET_VOLUME:
        status = flx__tet_volumes(ctx, x, on.count, on.element, on.weight, d->least, d->most, out);
        break;
    }
done:
    flx__free(ctx, on.element);
    flx__free(ctx, on.weight);
    flx__free(ctx, vertex);
    return status;
}

/// Does the kind go with the body? The scene reader has checked what it read; scenes made by hand come here unchecked.
static flx_status check_kind(const flx_model* m, int32_t body, const flx_constraint_desc* d)
{
    const bool of_cloth = d->kind <= FLX_CONSTRAINT_BENDING;
    if (of_cloth == m->body[body].is_cloth && d->stiffness > 0) return FLX_OK;
    return flx__fail(m->ctx, FLX_ERR_ARGUMENT, "body '%s': a constraint is %s", m->scene->body[body].name,
                     of_cloth != m->body[body].is_cloth ? of_cloth ? "for cloth only" : "not for cloth"
                                                        : "without a stiffness above 0");
}

flx_status flx__build_constraints(flx_build* build)
{
    flx_status       status = FLX_OK;
    flx_model*       m      = build->model;
    const flx_scene* scene  = m->scene;
    int32_t          count  = 0;
    for (int32_t i = 0; i < scene->body_count; ++i) count += scene->body[i].constraint_count;
    FLX_NEW_ZERO(m->ctx, m->batch, count);
    for (int32_t i = 0; i < scene->body_count; ++i)
    {
        const flx_body_desc* d = &scene->body[i];
        if (d->cloth && d->constraint_count == 0)
        {
            status = flx__fail(m->ctx, FLX_ERR_ARGUMENT, "body '%s' is cloth without constraints", d->name);
            goto done;
        }
        for (int32_t k = 0; k < d->constraint_count; ++k)
        {
            FLX_TRY(check_kind(m, i, &d->constraint[k]));
            status = build_batch(m, i, &d->constraint[k], &m->batch[m->batch_count]);
            if (status == FLX_ERR_MESH || status == FLX_ERR_SETTING)
            {
                char why[400];
                flx__print_c(why, sizeof why, "%s", flx_context_error(m->ctx));
                status = flx__fail(m->ctx, status, "body '%s': %s", d->name, why);
            }
            if (status != FLX_OK) goto done;
            ++m->batch_count;
        }
    }
done:
    for (int32_t i = 0; i < m->body_count; ++i)
    {
        flx_mesh_destroy(m->ctx, m->body[i].mesh);
        m->body[i].mesh = NULL;
    }
    return status;
}
