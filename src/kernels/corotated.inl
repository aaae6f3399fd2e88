// Corotated forces for patches of tets, WIDE_LANES tets at a time.
//
//   H = F - I = dU Dm^-1,   W = R - I,   P = 2 mu (H - W),   [f1 f2 f3] = -vol P Dm^-T,   f0 = -(f1 + f2 + f3)
//
// Working with H and W instead of F and R keeps small strains accurate to rounding, and gives exactly zero force at
// rest.
//
// Nearest rotation, three stages:
//   1. closed form [Markley93] (FOAM): the largest root l of (l^2 - |F|^2)^2 - 8 l det F - 4 |adj F|^2, from above,
//   then
//      R = ((k + |F|^2) F + l adj(F)^T - F F^T F) / z with k = (l^2 - |F|^2)/2, z = k l - det F, made orthonormal by a
//      Newton-Schulz step;
//   2. one Newton correction in W: with S = R^T F, (tr(S) I - sym S) w = axial(S - S^T), R <- R (I + [w]). Each of the
//      two steps leaves the square of what it took away: lanes in which that is above the rounding of H get both again;
//   3. a certificate: tr(S) I - sym S positive definite, R orthonormal and det R > 0 mean the nearest rotation,
//      globally. Lanes that fail it (inverted, flat or needle elements) are done again one by one by the robust
//      double-precision routine of math/rotation.h.
// Based on [LLKS] eq. 1-6, [Markley93]. Differs: root, certificate and correction are ours.

#include "kernels/kernels.h"
#include "kernels/wide.h"
#include "math/rotation.h"

typedef struct wide3x3
{
    wide m[9];
} wide3x3;

static inline wide3x3 wide_mul(const wide3x3* a, const wide3x3* b)
{
    wide3x3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c.m[3 * i + j] = a->m[3 * i] * b->m[j] + a->m[3 * i + 1] * b->m[3 + j] + a->m[3 * i + 2] * b->m[6 + j];
    return c;
}

static inline wide3x3 wide_mul_tn(const wide3x3* a, const wide3x3* b) // a^T b
{
    wide3x3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c.m[3 * i + j] = a->m[i] * b->m[j] + a->m[3 + i] * b->m[3 + j] + a->m[6 + i] * b->m[6 + j];
    return c;
}

static inline wide3x3 wide_cofactor(const wide3x3* a)
{
    const wide* m = a->m;
    wide3x3     c;
    c.m[0] = m[4] * m[8] - m[5] * m[7], c.m[1] = m[5] * m[6] - m[3] * m[8], c.m[2] = m[3] * m[7] - m[4] * m[6];
    c.m[3] = m[2] * m[7] - m[1] * m[8], c.m[4] = m[0] * m[8] - m[2] * m[6], c.m[5] = m[1] * m[6] - m[0] * m[7];
    c.m[6] = m[1] * m[5] - m[2] * m[4], c.m[7] = m[2] * m[3] - m[0] * m[5], c.m[8] = m[0] * m[4] - m[1] * m[3];
    return c;
}

#define UNIT_ROUNDOFF (sizeof(WIDE_REAL) == 4 ? 6e-8 : 1.1e-16)
#define ROOT_STEPS 12
#define ROOT_TOLERANCE (sizeof(WIDE_REAL) == 4 ? 2e-4 : 1e-8) // of a step, relative: what is left is its square
#define ROOM (1.0 / 256)                                      // of |F|^3: how far tr(S) I - sym S must be from singular

typedef struct quartic
{
    wide root;
    wide inverse_slope; // 1/p' at the root, nearly
    wide above;         // root^2 - |F|^2
} quartic;

/// The largest root of p(l) = (l^2 - |F|^2)^2 - 8 l det F - 4 |adj F|^2. All four roots are real, so one step of Halley
/// and then Newton come down to it monotonically. Newton's first 1/p' is Halley's, corrected: most lanes divide once.
static inline quartic largest_root(wide ff, wide det, wide aa)
{
    const wide two = wide_set(2), four = wide_set(4), eight = wide_set(8);
    const wide bound = wide_sqrt(wide_set(3) * ff), tolerance = wide_set((WIDE_REAL)ROOT_TOLERANCE) * bound;
    const wide p0 = four * ff * ff - eight * bound * det - four * aa, q0 = eight * (bound * ff - det);
    wide       y    = q0 / (q0 * q0 - wide_set(16) * ff * p0);
    wide       root = bound - p0 * y;
    wide       above, slope;
    wide_mask  live = wide_less(wide_set(0), bound);
    for (int k = 0; k < ROOT_STEPS && wide_any(live); ++k)
    {
        above           = root * root - ff;
        slope           = four * root * above - eight * det;
        const wide next = k == 0 ? y * (two - slope * y) : wide_set(1) / slope;
        const wide step = (above * above - eight * root * det - four * aa) * next;
        root            = wide_select(live, root - step, root);
        y               = wide_select(live, next, y);
        live &= wide_less(tolerance, wide_abs(step));
    }
    above = root * root - ff;
    slope = four * root * above - eight * det;
    return (quartic){root, y * (two - slope * y), above};
}

/// Closed form; W may be rough (or garbage in degenerate lanes).
static inline wide3x3 rotation_guess(const wide3x3* f, const wide3x3* adj, wide det, wide ff)
{
    wide aa = wide_set(0);
    for (int i = 0; i < 9; ++i) aa += adj->m[i] * adj->m[i];
    const quartic l     = largest_root(ff, det, aa);
    const wide    inv   = wide_set(8) * l.inverse_slope; // p'(l) = 8 (k l - det F)
    const wide    scale = wide_set((WIDE_REAL)0.5) * l.above + ff;
    const wide3x3 ftf   = wide_mul_tn(f, f);
    const wide3x3 fff   = wide_mul(f, &ftf);
    wide3x3       w;
    for (int i = 0; i < 9; ++i) w.m[i] = (scale * f->m[i] + l.root * adj->m[i] - fff.m[i]) * inv - wide_set(i % 4 == 0);
    return w;
}

/// W <- W - (E + W E)/2 with E = W + W^T + W^T W: one Newton-Schulz step to an orthonormal R. Returns |E|^2.
static inline wide make_orthonormal(wide3x3* w)
{
    const wide3x3 ww = wide_mul_tn(w, w);
    wide3x3       e;
    wide          off = wide_set(0);
    for (int i = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j)
        {
            e.m[3 * i + j] = e.m[3 * j + i] = ww.m[3 * i + j] + (w->m[3 * i + j] + w->m[3 * j + i]);
            off += wide_set(i == j ? 1 : 2) * e.m[3 * i + j] * e.m[3 * i + j];
        }
    const wide3x3 we   = wide_mul(w, &e);
    const wide    half = wide_set((WIDE_REAL)0.5);
    for (int i = 0; i < 9; ++i) w->m[i] -= half * (e.m[i] + we.m[i]);
    return off;
}

/// One Newton step towards symmetric R^T F: R <- R (I + [w]). Returns |w|^2 and adds the lanes whose certificate fails:
/// det(tr S I - sym S) is the product of the sums of two singular values and must exceed `room`.
static inline wide polish(const wide3x3* h, wide3x3* w, wide room, wide_mask* bad)
{
    const wide    one = wide_set(1), half = wide_set((WIDE_REAL)0.5), zero = wide_set(0);
    const wide3x3 wh = wide_mul_tn(w, h);
    wide3x3       q; // S - I = H + W^T + W^T H
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) q.m[3 * i + j] = h->m[3 * i + j] + w->m[3 * j + i] + wh.m[3 * i + j];

    const wide a0 = q.m[7] - q.m[5], a1 = q.m[2] - q.m[6], a2 = q.m[3] - q.m[1]; // axial(S - S^T)
    const wide s00 = one + q.m[0], s11 = one + q.m[4], s22 = one + q.m[8];
    const wide m00 = s11 + s22, m11 = s00 + s22, m22 = s00 + s11;
    const wide m01 = -half * (q.m[1] + q.m[3]), m02 = -half * (q.m[2] + q.m[6]), m12 = -half * (q.m[5] + q.m[7]);

    const wide c00 = m11 * m22 - m12 * m12, c01 = m02 * m12 - m01 * m22, c02 = m01 * m12 - m02 * m11;
    const wide c11 = m00 * m22 - m02 * m02, c12 = m01 * m02 - m00 * m12, c22 = m00 * m11 - m01 * m01;
    const wide det = m00 * c00 + m01 * c01 + m02 * c02;

    const wide_mask good = wide_less(zero, m00) & wide_less(zero, c22) & wide_less(room, det);
    *bad |= wide_not(good);

    const wide inv = one / wide_select(good, det, one);
    const wide x   = (c00 * a0 + c01 * a1 + c02 * a2) * inv;
    const wide y   = (c01 * a0 + c11 * a1 + c12 * a2) * inv;
    const wide z   = (c02 * a0 + c12 * a1 + c22 * a2) * inv;

    for (int i = 0; i < 3; ++i)
    {
        const wide r0 = w->m[3 * i] + wide_set(i == 0), r1 = w->m[3 * i + 1] + wide_set(i == 1),
                   r2 = w->m[3 * i + 2] + wide_set(i == 2);
        w->m[3 * i] += r1 * z - r2 * y;
        w->m[3 * i + 1] += r2 * x - r0 * z;
        w->m[3 * i + 2] += r0 * y - r1 * x;
    }
    return x * x + y * y + z * z;
}

static inline wide3x3 plus_identity(const wide3x3* h)
{
    wide3x3 f = *h;
    for (int i = 0; i < 3; ++i) f.m[4 * i] += wide_set(1);
    return f;
}

static inline wide determinant(const wide3x3* f, const wide3x3* cofactor)
{
    return f->m[0] * cofactor->m[0] + f->m[1] * cofactor->m[1] + f->m[2] * cofactor->m[2];
}

/// Lanes of W whose certificate failed, done again one by one.
static void robust_lanes(const wide3x3* h, wide3x3* w, wide_mask bad)
{
    WIDE_REAL hs[9][WIDE_LANES], ws[9][WIDE_LANES];
    for (int i = 0; i < 9; ++i) wide_store(hs[i], h->m[i]), wide_store(ws[i], w->m[i]);
    for (int lane = 0; lane < WIDE_LANES; ++lane)
    {
        if (!wide_bit(bad, lane)) continue;
        double F[9], R[9];
        for (int i = 0; i < 9; ++i) F[i] = (double)hs[i][lane] + (i % 4 == 0 ? 1 : 0);
        flx__nearest_rotation(F, R);
        for (int i = 0; i < 9; ++i) ws[i][lane] = (WIDE_REAL)(R[i] - (i % 4 == 0 ? 1 : 0));
    }
    for (int i = 0; i < 9; ++i) w->m[i] = wide_load(ws[i]);
}

/// W = R - I for H = F - I, and det F. No lane's answer depends on another lane.
static inline wide3x3 nearest_rotation(const wide3x3* h, wide* det)
{
    const wide3x3 f = plus_identity(h), adj = wide_cofactor(&f);
    wide          ff = wide_set(0), hh = wide_set(0);
    for (int i = 0; i < 9; ++i) ff += f.m[i] * f.m[i], hh += h->m[i] * h->m[i];
    *det = determinant(&f, &adj);

    const wide room = wide_set((WIDE_REAL)ROOM) * ff * wide_sqrt(ff);
    wide3x3    w    = rotation_guess(&f, &adj, *det, ff);
    const wide off  = make_orthonormal(&w);
    wide_mask  bad  = wide_not(wide_less(off, wide_set((WIDE_REAL)0.01)));
    const wide turn = polish(h, &w, room, &bad);

    // both corrections leave their square: below the rounding of H that is nothing
    const wide      limit = wide_set((WIDE_REAL)(UNIT_ROUNDOFF * UNIT_ROUNDOFF)) * hh;
    const wide_mask rough = wide_less(limit, off * off) | wide_less(limit, turn * turn);
    if (wide_any(rough))
    {
        wide3x3 v = w;
        make_orthonormal(&v);
        wide_mask worse = bad;
        polish(h, &v, room, &worse);
        worse |= wide_not(wide_less(make_orthonormal(&v), wide_set((WIDE_REAL)1e-4))); // then 1e-4 or better is left
        for (int i = 0; i < 9; ++i) w.m[i] = wide_select(rough, v.m[i], w.m[i]);
        bad |= worse & rough;
    }
    const wide3x3 r = plus_identity(&w), c = wide_cofactor(&r);
    bad |= wide_not(wide_less(wide_set(0), determinant(&r, &c))); // a reflection is no rotation
    bad |= wide_less(ff, wide_set((WIDE_REAL)0.0225));            // differences from I lose the digits of a vanishing F
    if (wide_any(bad)) robust_lanes(h, &w, bad);
    return w;
}

/// Where Dm^-1 of the tets at hand stands: entry c at base + c stride. Single precision reads the packed blocks, double
/// precision (one lane) the model's own arrays.
typedef struct rest_shape
{
    const WIDE_REAL* base;
    int64_t          stride;
    wide             stiffness;
} rest_shape;

static inline rest_shape rest_of(const flx_patches* p, int64_t block, int lane0)
{
    rest_shape r;
    if (sizeof(WIDE_REAL) == 4)
    {
        r.base      = (const WIDE_REAL*)(const void*)p->rest_inv_f32 + block * 9 * FLX_LANES + lane0;
        r.stride    = FLX_LANES;
        r.stiffness = wide_load((const WIDE_REAL*)(const void*)p->stiffness_f32 + block * FLX_LANES + lane0);
        return r;
    }
    const int32_t tet = p->tet[block * FLX_LANES + lane0];
    r.base            = (const WIDE_REAL*)(const void*)p->rest_inv_f64 + 9 * (int64_t)(tet < 0 ? 0 : tet);
    r.stride          = 1;
    r.stiffness       = wide_set(tet < 0 ? 0 : (WIDE_REAL)p->stiffness_f64[tet]);
    return r;
}

/// H of WIDE_LANES tets from local displacements [.][4].
static inline wide3x3 strain_of(const WIDE_REAL* local, const uint16_t* corner, const rest_shape* rest)
{
    wide3x3 du, inv; // column j of dU = corner j+1 less corner 0
    wide    a[3], b[3];
    wide_gather_points(local, corner, a);
    for (int j = 0; j < 3; ++j)
    {
        wide_gather_points(local, corner + (j + 1) * FLX_LANES, b);
        for (int i = 0; i < 3; ++i) du.m[3 * i + j] = b[i] - a[i];
    }
    for (int i = 0; i < 9; ++i) inv.m[i] = wide_load(rest->base + i * rest->stride);
    return wide_mul(&du, &inv);
}

/// The displacements of a patch's vertices, relative to its first one; asks for the `ahead` vertices after them.
static void load_local(const int32_t* vertex, int32_t count, int32_t ahead, const double* u, WIDE_REAL* local)
{
    const double* origin = u + 3 * (int64_t)vertex[0];
    for (int32_t i = 0; i < count; ++i) wide_point_from(u + 3 * (int64_t)vertex[i], origin, local + 4 * i);
    for (int32_t i = count; i < count + ahead; ++i) __builtin_prefetch(u + 3 * (int64_t)vertex[i]);
}

/// Adds the forces -P Dm^-T of WIDE_LANES tets to their corners, P = k E.
static inline void add_forces(WIDE_REAL* sum, const uint16_t* corner, const rest_shape* rest, const wide3x3* stress)
{
    wide first[3] = {wide_set(0), wide_set(0), wide_set(0)};
    for (int j = 0; j < 3; ++j)
    {
        wide g[3], force[3];
        for (int c = 0; c < 3; ++c) g[c] = wide_load(rest->base + (3 * j + c) * rest->stride);
        for (int i = 0; i < 3; ++i)
        {
            const wide pull = stress->m[3 * i] * g[0] + stress->m[3 * i + 1] * g[1] + stress->m[3 * i + 2] * g[2];
            first[i] += pull;
            force[i] = -pull;
        }
        wide_add_points(sum, corner + (j + 1) * FLX_LANES, force);
    }
    wide_add_points(sum, corner, first);
}

typedef struct patch_total
{
    double  energy[WIDE_LANES];
    int32_t inverted;
} patch_total;

/// Forces of WIDE_LANES tets into `sum` [.][4]. `turned` gives R; it is `local` or the displacements of u_rotation.
static inline void tet_forces(const WIDE_REAL* local, const WIDE_REAL* turned, const uint16_t* corner,
                              const rest_shape* rest, WIDE_REAL* sum, patch_total* total)
{
    wide          det;
    wide3x3       h    = strain_of(turned, corner, rest);
    const wide3x3 w    = nearest_rotation(&h, &det);
    const wide    zero = wide_set(0);
    if (turned != local) h = strain_of(local, corner, rest);

    wide3x3 stress;
    wide    density = zero;
    for (int i = 0; i < 9; ++i)
    {
        const wide e = h.m[i] - w.m[i];
        stress.m[i]  = rest->stiffness * e;
        density += e * stress.m[i];
    }
    add_forces(sum, corner, rest, &stress);

    WIDE_REAL lane[WIDE_LANES];
    wide_store(lane, density);
    for (int i = 0; i < WIDE_LANES; ++i) total->energy[i] += (double)lane[i];
    total->inverted += wide_count(wide_less(zero, rest->stiffness) & wide_not(wide_less(zero, det)));
}

static void corotated(const flx_corotated_pass* pass, int64_t begin, int64_t end, int32_t worker)
{
    const flx_patches* p      = pass->patches;
    WIDE_REAL*         local  = (WIDE_REAL*)pass->scratch + (int64_t)worker * 12 * p->local_max;
    WIDE_REAL*         turned = pass->u_rotation ? local + 4 * p->local_max : local;
    WIDE_REAL*         sum    = local + 8 * p->local_max;

    for (int64_t patch = begin; patch < end; ++patch)
    {
        const int32_t  first = p->first_local[patch], count = p->first_local[patch + 1] - first;
        const int32_t* vertex = p->vertex + first;
        const int32_t  ahead  = patch + 1 < end ? p->first_local[patch + 2] - p->first_local[patch + 1] : 0;
        load_local(vertex, count, ahead, pass->u, local);
        if (pass->u_rotation) load_local(vertex, count, ahead, pass->u_rotation, turned);
        memset(sum, 0, sizeof(WIDE_REAL) * 4 * (size_t)count);

        patch_total total = {0};
        for (int32_t block = p->first_block[patch]; block < p->first_block[patch + 1]; ++block)
            for (int lane0 = 0; lane0 < FLX_LANES; lane0 += WIDE_LANES)
            {
                const rest_shape rest = rest_of(p, block, lane0);
                tet_forces(local, turned, p->corner + (int64_t)block * 4 * FLX_LANES + lane0, &rest, sum, &total);
            }

        double energy = 0;
        for (int i = 0; i < WIDE_LANES; ++i) energy += total.energy[i];
        memcpy((WIDE_REAL*)pass->force + 4 * (int64_t)first, sum, sizeof(WIDE_REAL) * 4 * (size_t)count);
        pass->energy[patch]   = 0.5 * energy;
        pass->inverted[patch] = total.inverted;
    }
}

static void rotation(int64_t count, const void* h_in, void* w_out)
{
    const WIDE_REAL* in  = h_in;
    WIDE_REAL*       out = w_out;
    for (int64_t k = 0; k < count; k += WIDE_LANES)
    {
        WIDE_REAL buffer[9][WIDE_LANES];
        for (int lane = 0; lane < WIDE_LANES; ++lane)
            for (int i = 0; i < 9; ++i) buffer[i][lane] = k + lane < count ? in[9 * (k + lane) + i] : 0;
        wide3x3 h;
        for (int i = 0; i < 9; ++i) h.m[i] = wide_load(buffer[i]);
        wide          det;
        const wide3x3 w = nearest_rotation(&h, &det);
        for (int i = 0; i < 9; ++i) wide_store(buffer[i], w.m[i]);
        for (int lane = 0; lane < WIDE_LANES && k + lane < count; ++lane)
            for (int i = 0; i < 9; ++i) out[9 * (k + lane) + i] = buffer[i][lane];
    }
}
