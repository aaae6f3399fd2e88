// Proxies against one obstacle: a signed distance d(q) in the obstacle's rest frame, q = R^T (p - t).
//
//   n = R grad d / |grad d|,   target = p - (d - offset) n,   gap = n . (p - target) = d - offset
//
// The target lies on the surface grown by the offset. Based on [LLKS] section 3.1. Differs: proxies that are near but
// not inside are contacts too, with a positive gap, so that unilateral laws have candidates.
#include "contact/contact.h"

#include "math/mat3.h"

#define PROXY_GRAIN 128

typedef struct obstacle_args
{
    const flx_solid*         solid;
    const flx_obstacle_pose* pose;
    int32_t                  obstacle;
    const flx_proxy*         proxy;
    const double*            x;
    double                   margin, offset;
    int32_t*                 found; // [proxy_count]
    flx_contact*             out;   // [proxy_count] one place a proxy, closed up afterwards
} obstacle_args;

static bool touch(const obstacle_args* a, int32_t i, flx_contact* c)
{
    const flx_proxy* proxy = &a->proxy[i];
    double           p[3], q[3], gradient[3];
    for (int k = 0; k < 3; ++k)
    {
        p[k] = 0;
        for (int v = 0; v < 4; ++v) p[k] += proxy->weight[v] * a->x[3 * (int64_t)proxy->vertex[v] + k];
    }
    flx__pose_undo(a->pose->R, a->pose->t, p, q);
    const double gap = flx__solid_distance(a->solid, q, gradient) - a->offset;
    if (!(gap < a->margin)) return false; // far, or NaN

    const double length = flx__norm3(gradient);
    if (!(length > 1e-12 && length < 1e12)) return false; // a point without a way out, not finite
    for (int k = 0; k < 3; ++k) gradient[k] /= length;
    flx__pose_rotate(a->pose->R, gradient, c->normal);

    c->proxy    = i;
    c->obstacle = a->obstacle;
    c->partner  = -1;
    c->gap      = gap;
    for (int k = 0; k < 3; ++k) c->target[k] = p[k] - gap * c->normal[k];
    for (int v = 0; v < FLX_CONTACT_CORNERS; ++v)
    {
        c->vertex[v] = v < 4 ? proxy->vertex[v] : -1;
        c->weight[v] = v < 4 ? proxy->weight[v] : 0.0;
    }
    return true;
}

static void touch_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const obstacle_args* a = user;
    for (int64_t i = begin; i < end; ++i) a->found[i] = touch(a, (int32_t)i, &a->out[i]);
}

int32_t flx__obstacle_contacts(flx_context* ctx, const flx_solid* solid, const flx_obstacle_pose* pose,
                               int32_t obstacle, int32_t proxy_count, const flx_proxy* proxy, const double* x,
                               double margin, double offset, int32_t* scratch, flx_contact* out)
{
    obstacle_args args = {solid, pose, obstacle, proxy, x, margin, offset, scratch, out};
    flx__parallel_for(ctx, proxy_count, PROXY_GRAIN, touch_range, &args);

    int32_t count = 0;
    for (int32_t i = 0; i < proxy_count; ++i)
    {
        if (!scratch[i]) continue;
        if (count != i) out[count] = out[i];
        ++count;
    }
    return count;
}
