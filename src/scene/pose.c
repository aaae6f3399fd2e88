// Scripted rigid motion.
//
//   own pose of a thing     P = M_k o ... o M_1, its motions in the order of the scene
//   one motion              M(x) = R(axis, angle) (x - about) + about + translate        (Rodrigues)
//   a bone below a parent   parent's pose o P
//
// What does not move is exactly the identity, bit for bit, and multiples of 90 degrees have exact sines and cosines.
#include "scene/pose.h"

#include "flexor/scene.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct pose
{
    double R[9], t[3];
    bool   identity;
} pose;

static pose identity_pose(void)
{
    return (pose){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .t = {0, 0, 0}, .identity = true};
}

static void sin_cos_deg(double angle, double* s, double* c)
{
    const double turn    = fmod(angle, 360.0); // exact
    const double quarter = nearbyint(turn / 90.0);
    const double rest    = (turn - 90.0 * quarter) * (PI / 180.0); // within 45 degrees
    const double sr      = sin(rest);
    const double cr      = cos(rest);
    switch (((int)quarter % 4 + 4) % 4)
    {
    case 0:
        *s = sr, *c = cr;
        break;
    case 1:
        *s = cr, *c = -sr;
        break;
    case 2:
        *s = -sr, *c = -cr;
        break;
    default:
        *s = -cr, *c = sr;
        break;
    }
}

/// R = c I + s [axis]_x + (1 - c) axis axis^T
static void rotation(const double axis[3], double angle_deg, double R[9])
{
    double s, c;
    sin_cos_deg(angle_deg, &s, &c);
    const double x = axis[0], y = axis[1], z = axis[2], d = 1.0 - c;
    const double m[9] = {c + d * x * x,     d * x * y - s * z, d * x * z + s * y, d * x * y + s * z, c + d * y * y,
                         d * y * z - s * x, d * x * z - s * y, d * y * z + s * x, c + d * z * z};
    memcpy(R, m, sizeof m);
}

static void apply(const double R[9], const double x[3], double out[3])
{
    for (int i = 0; i < 3; ++i) out[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

/// after o before
static pose compose(const pose* after, const pose* before)
{
    if (after->identity) return *before;
    if (before->identity) return *after;
    pose   out = {.identity = false};
    double moved[3];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out.R[3 * i + j] = after->R[3 * i] * before->R[j] + after->R[3 * i + 1] * before->R[3 + j] +
                               after->R[3 * i + 2] * before->R[6 + j];
    apply(after->R, before->t, moved);
    for (int i = 0; i < 3; ++i) out.t[i] = moved[i] + after->t[i];
    return out;
}

// --- motions ----------------------------------------------------------------------------------------------

static void key_at(const flx_motion_desc* motion, double time, double* angle_deg, double translate[3])
{
    const flx_key* key  = motion->key;
    const int32_t  last = motion->key_count - 1;
    int32_t        i    = 0;
    while (i < last && time >= key[i + 1].time) ++i; // key i is the last one at or before `time`, or the first
    *angle_deg = key[i].angle_deg;
    memcpy(translate, key[i].translate, 3 * sizeof(double));
    if (i == last || !(time > key[i].time)) return;

    const double w = (time - key[i].time) / (key[i + 1].time - key[i].time);
    *angle_deg += w * (key[i + 1].angle_deg - key[i].angle_deg);
    for (int k = 0; k < 3; ++k) translate[k] += w * (key[i + 1].translate[k] - key[i].translate[k]);
}

static pose motion_pose(const flx_motion_desc* motion, double time)
{
    pose p = identity_pose();
    if (motion->key_count <= 0) return p;
    double angle;
    key_at(motion, time, &angle, p.t);
    p.identity = angle == 0.0 && p.t[0] == 0.0 && p.t[1] == 0.0 && p.t[2] == 0.0;
    if (p.identity) return identity_pose();
    if (angle == 0.0) return p;

    double turned[3];
    rotation(motion->axis, angle, p.R);
    apply(p.R, motion->about, turned);
    for (int i = 0; i < 3; ++i) p.t[i] += motion->about[i] - turned[i];
    return p;
}

static pose own_pose(const flx_scene* scene, int32_t bone, int32_t obstacle, double time)
{
    pose p = identity_pose();
    for (int32_t i = 0; i < scene->motion_count; ++i)
    {
        const flx_motion_desc* m = &scene->motion[i];
        if (bone >= 0 ? m->bone != bone : m->obstacle != obstacle) continue;
        const pose next = motion_pose(m, time);
        p               = compose(&next, &p);
    }
    return p;
}

void flx_scene_bone_pose(const flx_scene* scene, int32_t bone, double time, double R[9], double t[3])
{
    FLX_ASSERT(scene && bone >= 0 && bone < scene->bone_count);
    pose p = own_pose(scene, bone, -1, time);
    // a scene made by hand may have a circle of parents: stop after as many steps as there are bones
    int32_t up = scene->bone[bone].parent;
    for (int32_t steps = 0; up >= 0 && up < scene->bone_count && steps < scene->bone_count; ++steps)
    {
        const pose parent = own_pose(scene, up, -1, time);
        p                 = compose(&parent, &p);
        up                = scene->bone[up].parent;
    }
    memcpy(R, p.R, sizeof p.R);
    memcpy(t, p.t, sizeof p.t);
}

void flx_scene_obstacle_pose(const flx_scene* scene, int32_t obstacle, double time, double R[9], double t[3])
{
    FLX_ASSERT(scene && obstacle >= 0 && obstacle < scene->obstacle_count);
    const pose p = own_pose(scene, -1, obstacle, time);
    memcpy(R, p.R, sizeof p.R);
    memcpy(t, p.t, sizeof p.t);
}

void flx__place_point(const double rotate_deg[3], const double translate[3], const double x[3], double out[3])
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double              p[3]       = {x[0], x[1], x[2]};
    for (int k = 0; k < 3; ++k)
    {
        if (rotate_deg[k] == 0.0) continue;
        double R[9], turned[3];
        rotation(axes[k], rotate_deg[k], R);
        apply(R, p, turned);
        memcpy(p, turned, sizeof p);
    }
    for (int k = 0; k < 3; ++k) out[k] = p[k] + translate[k];
}
