// Constraints of a body as batches over all its elements, in the user's numbering; compile.c renumbers.
#include "model/model.h"

#include "base/file.h"

#include <string.h>

/// The same stiffness for `count` elements. flx__free() it.
static flx_status evenly(flx_context* ctx, int32_t count, double stiffness, double** out)
{
    flx_status status = FLX_OK;
    FLX_NEW(ctx, *out, count);
    for (int32_t i = 0; i < count; ++i) (*out)[i] = stiffness;
done:
    return status;
}

static flx_status edge_springs(flx_model* m, const flx_body* b, double stiffness, flx_constraint_batch* out)
{
    flx_status status = FLX_OK;
    int32_t*   edge   = NULL;
    double*    weight = NULL;
    int32_t    count  = 0;
    FLX_TRY(flx__triangle_edges(m->ctx, b->cloth_count, m->cloth + 3 * (int64_t)b->cloth_first, &count, &edge));
    FLX_TRY(evenly(m->ctx, count, stiffness, &weight));
    status = flx__edge_springs(m->ctx, m->user_rest, count, edge, weight, out);
done:
    flx__free(m->ctx, edge);
    flx__free(m->ctx, weight);
    return status;
}

static flx_status build_batch(flx_model* m, const flx_body* b, const flx_constraint_desc* d, flx_constraint_batch* out)
{
    flx_status     status   = FLX_OK;
    flx_context*   ctx      = m->ctx;
    double*        weight   = NULL;
    const int32_t* triangle = b->is_cloth ? m->cloth + 3 * (int64_t)b->cloth_first : NULL;
    const int32_t* tet      = m->user_tet + 4 * (int64_t)b->tet_first;
    if (d->kind == FLX_CONSTRAINT_SPRING) return edge_springs(m, b, d->stiffness, out);
    FLX_TRY(evenly(ctx,
                   d->kind == FLX_CONSTRAINT_BENDING ? m->user_vertex_count
                   : b->is_cloth                     ? b->cloth_count
                                                     : b->tet_count,
                   d->stiffness, &weight));
    if (d->kind == FLX_CONSTRAINT_BENDING)
        status = flx__bendings(ctx, m->user_vertex_count, m->user_rest, b->cloth_count, triangle, weight, out);
    else if (d->kind == FLX_CONSTRAINT_STRAIN)
        status =
            flx__triangle_strains(ctx, m->user_rest, b->cloth_count, triangle, weight, d->least, d->most, NULL, out);
    else if (d->kind == FLX_CONSTRAINT_TET_STRAIN)
        status = flx__tet_strains(ctx, m->user_rest, b->tet_count, tet, weight, d->least, d->most, out);
    else
        status = flx__tet_volumes(ctx, m->user_rest, b->tet_count, tet, weight, d->least, d->most, out);
done:
    flx__free(ctx, weight);
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
            status = build_batch(m, &m->body[i], &d->constraint[k], &m->batch[m->batch_count]);
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
    return status;
}
