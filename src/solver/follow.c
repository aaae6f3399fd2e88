// Quasi-static warm start: before anything is solved, each vertex goes along with the bones that hold it.
//
//   x <- x + sum_b w_b (D_b x - x),   D_b the bone's rigid motion during the step,   A w_b = sum_{s of b} c_s w_s
//
// w_b is what the global step answers when bone b alone moves by a unit: weights that know the flesh's shape. They are
// between 0 and 1 on lattices, and with those of the bones that stay they sum to 1 where only bones hold the body.
// The plain iteration finds the translation part of this motion by itself, but not the rotation: a hand that swings
// with the forearm would be turned one element layer an iteration. It moves where the iteration begins, not what an
// equilibrium is. Differs: not in [LLKS].
#include "solver/follow.h"
#include "solver/solver_internal.h"

#include "math/mat3.h"
#include "mesh/shape.h"

#include <string.h>

static bool moves(const flx_scene* scene, int32_t bone)
{
    for (; bone >= 0; bone = scene->bone[bone].parent)
        for (int32_t i = 0; i < scene->motion_count; ++i)
            if (scene->motion[i].bone == bone) return true;
    return false;
}

int32_t flx__followers(const flx_model* m, int32_t* bone)
{
    int32_t count = 0;
    for (int32_t b = 0; b < m->scene->bone_count; ++b)
    {
        bool holds = false;
        for (int32_t i = 0; i < m->spring_count && !holds; ++i) holds = m->spring[i].bone == b;
        if (holds && moves(m->scene, b)) bone[count++] = b;
    }
    return count;
}

bool flx__bone_motion(const flx_scene* scene, int32_t bone, double from, double to, double R[9], double t[3])
{
    double R0[9], t0[3], R1[9], t1[3], before[9], turned[3];
    flx_scene_bone_pose(scene, bone, from, R0, t0);
    flx_scene_bone_pose(scene, bone, to, R1, t1);
    if (memcmp(R0, R1, sizeof R0) == 0 && memcmp(t0, t1, sizeof t0) == 0) return false; // held: exactly nothing
    flx__transpose3(R0, before);
    flx__mul3(R1, before, R); // D = now o before^-1
    flx__apply3(R, t0, turned);
    flx__sub3(t1, turned, t);
    return true;
}

flx_status flx__follow_create(flx_solver* s)
{
    flx_status       status = FLX_OK;
    const flx_model* m      = s->model;

    if (s->settings.mode == FLX_MODE_DYNAMIC || s->settings.follow == FLX_FOLLOW_NONE) return FLX_OK;
    FLX_NEW(s->ctx, s->follower, m->scene->bone_count);
    s->follower_count = flx__followers(m, s->follower);
    FLX_NEW_ZERO(s->ctx, s->follow_weight, (int64_t)s->follower_count * s->n);
    for (int32_t first = 0; first < s->follower_count; first += 3)
    {
        const int32_t count = s->follower_count - first < 3 ? s->follower_count - first : 3;
        for (int c = 0; c < 3; ++c) memset(s->r[c], 0, sizeof(double) * (size_t)s->n);
        for (int32_t i = 0; i < m->spring_count; ++i)
            for (int32_t k = 0; k < count; ++k)
                for (int a = 0; m->spring[i].bone == s->follower[first + k] && a < 4; ++a)
                    if (m->spring[i].weight[a] != 0)
                        s->r[k][m->spring[i].vertex[a]] += m->spring[i].stiffness * m->spring[i].weight[a];
        if (!flx__plain_solve(s))
        {
            s->follower_count = 0;
            return FLX_OK;
        }
        for (int32_t k = 0; k < count; ++k)
            for (int32_t v = 0; v < s->n; ++v) s->follow_weight[(int64_t)(first + k) * s->n + v] = (float)s->r[k][v];
    }
done:
    return status;
}

typedef struct follow_args
{
    flx_solver*  s;
    const float* weight;
    double       R[9], t[3];
} follow_args;

static void follow_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const follow_args* a = user;
    for (int64_t v = begin; v < end; ++v)
    {
        const double* from = a->s->x_start + 3 * v;
        double        to[3];
        flx__pose_apply(a->R, a->t, from, to);
        for (int c = 0; c < 3; ++c) a->s->x[3 * v + c] += (double)a->weight[v] * (to[c] - from[c]);
    }
}

void flx__follow_bones(flx_solver* s, double time)
{
    for (int32_t k = 0; k < s->follower_count; ++k)
    {
        follow_args a = {s, s->follow_weight + (int64_t)k * s->n, {0}, {0}};
        if (flx__bone_motion(s->model->scene, s->follower[k], time - s->dt, time, a.R, a.t))
            flx__parallel_for(s->ctx, s->n, FLX_CHUNK, follow_range, &a);
    }
}
