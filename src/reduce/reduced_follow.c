// The engine's warm start (solver/follow.c), projected: x += sum_b w_b (D_b x - x) with D_b x = R x + t.
//
//   a += sum_b P_b a (R - I)^T + p_b t^T,   P_b = W^T M diag(w_b) W,   p_b = W^T M w_b,   A w_b = sum_{s of b} c_s w_s
#include "reduce/reduced_follow.h"

#include "solver/follow.h"
#include "sparse/blas.h"

#include <string.h>

struct flx_reduced_follow
{
    flx_context*     ctx;
    const flx_scene* scene;
    double           h; // s
    int32_t          k, count;
    int32_t*         bone;         // [count]
    double *         P, *p;        // [count][k][k], [count][k]
    double *         moved, *next; // [k][3]
};

/// column [n] := w_b of up to three bones, beside each other.
static void weights(flx_scene_system* scene, const int32_t* bone, int32_t count, double* column)
{
    const flx_model* m = scene->model;
    memset(column, 0, 3 * (size_t)m->vertex_count * sizeof *column);
    for (int32_t i = 0; i < m->spring_count; ++i)
        for (int32_t b = 0; b < count; ++b)
            for (int c = 0; c < 4 && m->spring[i].bone == bone[b]; ++c)
                column[3 * (int64_t)m->spring[i].vertex[c] + b] += m->spring[i].stiffness * m->spring[i].weight[c];
    flx__pd_solve(scene->system, column);
}

static void project(const flx_pd_system* system, const flx_reduced_model* model, const double* weight, double* P,
                    double* p)
{
    const int k = model->subspace;
    for (int64_t v = 0; v < system->n; ++v)
    {
        const double* w = model->w + v * k;
        cblas_dger(CblasRowMajor, k, k, system->mass[v] * weight[3 * v], w, 1, w, 1, P, k);
        cblas_daxpy(k, system->mass[v] * weight[3 * v], w, 1, p, 1);
    }
}

flx_status flx__reduced_follow_create(flx_scene_system* scene, const flx_reduced_model* model, flx_reduced_follow** out)
{
    flx_status          status = FLX_OK;
    flx_context*        ctx    = scene->system->ctx;
    const flx_scene*    of     = scene->model->scene;
    const int64_t       k      = model->subspace;
    flx_reduced_follow* f      = NULL;
    double*             column = NULL;
    *out                       = NULL;
    if (!scene->system->still || of->settings.follow == FLX_FOLLOW_NONE) return FLX_OK;
    FLX_NEW_ZERO(ctx, f, 1);
    *f = (flx_reduced_follow){.ctx = ctx, .scene = of, .h = scene->h, .k = model->subspace};
    FLX_NEW(ctx, f->bone, of->bone_count);
    f->count = flx__followers(scene->model, f->bone);
    FLX_NEW_ZERO(ctx, f->P, f->count * k * k);
    FLX_NEW_ZERO(ctx, f->p, f->count * k);
    FLX_NEW(ctx, f->moved, 3 * k);
    FLX_NEW(ctx, f->next, 3 * k);
    FLX_NEW(ctx, column, 3 * (int64_t)scene->system->n);
    for (int32_t first = 0; first < f->count; first += 3)
    {
        const int32_t count = f->count - first < 3 ? f->count - first : 3;
        weights(scene, f->bone + first, count, column);
        for (int32_t b = 0; b < count; ++b)
            project(scene->system, model, column + b, f->P + (first + b) * k * k, f->p + (first + b) * k);
    }
    *out = f;
    f    = NULL;
done:
    flx__free(ctx, column);
    flx__reduced_follow_destroy(f);
    return status;
}

void flx__reduced_follow_destroy(flx_reduced_follow* f)
{
    if (!f) return;
    void* const owned[] = {f->bone, f->P, f->p, f->moved, f->next};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) flx__free(f->ctx, owned[i]);
    flx__free(f->ctx, f);
}

void flx__reduced_follow(flx_reduced_follow* f, int32_t frame, double* a)
{
    const int k = f->k;
    memcpy(f->next, a, 3 * (size_t)k * sizeof *a);
    for (int32_t b = 0; b < f->count; ++b)
    {
        double R[9], t[3];
        if (!flx__bone_motion(f->scene, f->bone[b], (frame - 1) * f->h, frame * f->h, R, t)) continue;
        R[0] -= 1, R[4] -= 1, R[8] -= 1;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, 3, k, 1.0, f->P + (int64_t)b * k * k, k, a, 3, 0.0,
                    f->moved, 3);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, k, 3, 3, 1.0, f->moved, 3, R, 3, 1.0, f->next, 3);
        cblas_dger(CblasRowMajor, k, 3, 1.0, f->p + (int64_t)b * k, 1, t, 1, f->next, 3);
    }
    memcpy(a, f->next, 3 * (size_t)k * sizeof *a);
}
