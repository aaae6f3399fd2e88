// Corotated forces for patches of tets, WIDE_LANES tets at a time.
//
//   H = F - I = dU Dm^-1,   W = R - I,   P = 2 mu (H - W),   [f1 f2 f3] = -vol P Dm^-T,   f0 = -(f1 + f2 + f3)
//
// Working with H and W instead of F and R keeps small strains accurate to rounding, and gives exactly zero force at
// rest.
//
// Nearest rotation, three stages:
//   1. closed form [Markley93] (FOAM): the largest root of (l^2 - |F|^2)^2 - 8 l det F - 4 |adj F|^2 by Newton from
//   above,
//      then R = ((k + |F|^2) F + l adj(F)^T - F F^T F) / z with k = (l^2 - |F|^2)/2, z = k l - det F;
//   2. two Newton corrections in W: with S = R^T F, (tr(S) I - sym S) w = axial(S - S^T), R <- R (I + [w]),
//      and R made orthonormal again; all in differences from I;
//   3. a certificate: tr(S) I - sym S positive definite, R orthonormal and det R > 0 mean the nearest rotation,
//      globally. Lanes that fail it (inverted, flat or needle elements) are done again one by one by the robust
//      double-precision routine of math/rotation.h.
// Based on [LLKS] eq. 1-6, [Markley93]. Differs: certificate and correction are ours.

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

static inline wide wide_max(wide a, wide b)
{
    return wide_select(wide_less(a, b), b, a);
}

#define ROOT_STEPS (sizeof(WIDE_REAL) == 4 ? 7 : 12)
#define POLISHES 2

/// Closed form; W may be rough (or garbage in degenerate lanes).
static inline wide3x3 rotation_guess(const wide3x3* f)
{
    const wide one = wide_set(1), zero = wide_set(0), half = wide_set((WIDE_REAL)0.5);
    wide       big = zero;
    for (int i = 0; i < 9; ++i) big = wide_max(big, wide_abs(f->m[i]));
    const wide scale = one / wide_select(wide_less(zero, big), big, one);
    wide3x3    b;
    for (int i = 0; i < 9; ++i) b.m[i] = f->m[i] * scale;

    const wide3x3 adj = wide_cofactor(&b);
    const wide    det = b.m[0] * adj.m[0] + b.m[1] * adj.m[1] + b.m[2] * adj.m[2];
    wide          bb = zero, aa = zero;
    for (int i = 0; i < 9; ++i) bb += b.m[i] * b.m[i], aa += adj.m[i] * adj.m[i];

    wide root = wide_sqrt(wide_set(3) * bb); // an upper bound of the largest root, so Newton comes down monotonically
    for (unsigned k = 0; k < ROOT_STEPS; ++k)
    {
        const wide d = root * root - bb;
        const wide p = d * d - wide_set(8) * root * det - wide_set(4) * aa;
        const wide q = wide_set(4) * root * d - wide_set(8) * det;
        root -= p / wide_select(wide_less(zero, wide_abs(q)), q, one);
    }
    const wide    kappa = half * (root * root - bb);
    const wide    zeta  = kappa * root - det;
    const wide    inv   = one / wide_select(wide_less(zero, wide_abs(zeta)), zeta, one);
    const wide3x3 btb   = wide_mul_tn(&b, &b);
    const wide3x3 bbb   = wide_mul(&b, &btb);
    wide3x3       w;
    for (int i = 0; i < 9; ++i)
        w.m[i] = ((kappa + bb) * b.m[i] + root * adj.m[i] - bbb.m[i]) * inv - (i % 4 == 0 ? one : zero);
    return w;
}

/// W <- W - (E + W E)/2 with E = W + W^T + W^T W: one Newton-Schulz step to an orthonormal R. Returns max |E|.
static inline wide make_orthonormal(wide3x3* w)
{
    wide    off = wide_set(0);
    wide3x3 e   = wide_mul_tn(w, w);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) e.m[3 * i + j] += w->m[3 * i + j] + w->m[3 * j + i];
    const wide3x3 we   = wide_mul(w, &e);
    const wide    half = wide_set((WIDE_REAL)0.5);
    for (int i = 0; i < 9; ++i)
    {
        off = wide_max(off, wide_abs(e.m[i]));
        w->m[i] -= half * (e.m[i] + we.m[i]);
    }
    return off;
}

/// One Newton step towards symmetric R^T F; returns the lanes whose certificate fails.
static inline wide_mask polish(const wide3x3* h, wide3x3* w, wide size)
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

    // positive definite, with room: det = product of pair sums of singular values
    const wide      floor3 = wide_set((WIDE_REAL)0.02) * size * size * size;
    const wide_mask good   = wide_less(zero, m00) & wide_less(zero, c22) & wide_less(floor3, det);

    const wide inv = one / wide_select(good, det, one);
    const wide x   = (c00 * a0 + c01 * a1 + c02 * a2) * inv;
    const wide y   = (c01 * a0 + c11 * a1 + c12 * a2) * inv;
    const wide z   = (c02 * a0 + c12 * a1 + c22 * a2) * inv;

    for (int i = 0; i < 3; ++i) // R (I + [w])
    {
        const wide r0 = w->m[3 * i] + (i == 0 ? one : zero), r1 = w->m[3 * i + 1] + (i == 1 ? one : zero),
                   r2 = w->m[3 * i + 2] + (i == 2 ? one : zero);
        w->m[3 * i] += r1 * z - r2 * y;
        w->m[3 * i + 1] += r2 * x - r0 * z;
        w->m[3 * i + 2] += r0 * y - r1 * x;
    }
    const wide_mask orthonormal =
        wide_less(make_orthonormal(w), wide_set((WIDE_REAL)0.01)); // then 1e-4 or better is left
    return wide_not(good & orthonormal);
}

static inline wide determinant_plus_identity(const wide3x3* w)
{
    wide3x3 r = *w;
    for (int i = 0; i < 3; ++i) r.m[4 * i] += wide_set(1);
    const wide3x3 c = wide_cofactor(&r);
    return r.m[0] * c.m[0] + r.m[1] * c.m[1] + r.m[2] * c.m[2];
}

/// W = R - I for H = F - I.
static inline wide3x3 nearest_rotation(const wide3x3* h)
{
    const wide one = wide_set(1);
    wide       big = wide_set(0);
    wide3x3    f;
    for (int i = 0; i < 9; ++i)
    {
        f.m[i] = h->m[i] + (i % 4 == 0 ? one : wide_set(0));
        big    = wide_max(big, wide_abs(f.m[i]));
    }
    wide3x3   w   = rotation_guess(&f);
    wide_mask bad = wide_not(wide_less(make_orthonormal(&w), wide_set((WIDE_REAL)0.1)));
    for (int k = 0; k < POLISHES; ++k) bad |= polish(h, &w, big);
    bad |= wide_not(wide_less(wide_set(0), determinant_plus_identity(&w))); // a reflection is no rotation
    bad |= wide_less(big, wide_set((WIDE_REAL)0.05)); // differences from I lose the digits of a vanishing F

    if (wide_any(bad))
    {
        WIDE_REAL hs[9][WIDE_LANES], ws[9][WIDE_LANES];
        for (int i = 0; i < 9; ++i) wide_store(hs[i], h->m[i]), wide_store(ws[i], w.m[i]);
        for (int lane = 0; lane < WIDE_LANES; ++lane)
        {
            if (!wide_bit(bad, lane)) continue;
            double F[9], R[9];
            for (int i = 0; i < 9; ++i) F[i] = (double)hs[i][lane] + (i % 4 == 0 ? 1 : 0);
            flx__nearest_rotation(F, R);
            for (int i = 0; i < 9; ++i) ws[i][lane] = (WIDE_REAL)(R[i] - (i % 4 == 0 ? 1 : 0));
        }
        for (int i = 0; i < 9; ++i) w.m[i] = wide_load(ws[i]);
    }
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
static inline wide3x3 strain_of(const WIDE_REAL* local, const uint16_t* corner, int lane0, const rest_shape* rest)
{
    WIDE_REAL d[9][WIDE_LANES]; // dU: column j = corner j+1 less corner 0
    for (int lane = 0; lane < WIDE_LANES; ++lane)
    {
        const WIDE_REAL* a = local + 4 * corner[lane0 + lane];
        for (int j = 0; j < 3; ++j)
        {
            const WIDE_REAL* b = local + 4 * corner[(j + 1) * FLX_LANES + lane0 + lane];
            for (int i = 0; i < 3; ++i) d[3 * i + j][lane] = b[i] - a[i];
        }
    }
    wide3x3 du, inv;
    for (int i = 0; i < 9; ++i)
    {
        du.m[i]  = wide_load(d[i]);
        inv.m[i] = wide_load(rest->base + i * rest->stride);
    }
    return wide_mul(&du, &inv);
}

static void load_local(const int32_t* vertex, int32_t count, const double* u, WIDE_REAL* local)
{
    const double* origin = u + 3 * (int64_t)vertex[0];
    for (int32_t i = 0; i < count; ++i)
    {
        const double* p = u + 3 * (int64_t)vertex[i];
        for (int c = 0; c < 3; ++c) local[4 * i + c] = (WIDE_REAL)(p[c] - origin[c]);
        local[4 * i + 3] = 0;
    }
}

static void corotated(const flx_corotated_pass* pass, int64_t begin, int64_t end, int32_t worker)
{
    const flx_patches* p      = pass->patches;
    WIDE_REAL*         local  = (WIDE_REAL*)pass->scratch + (int64_t)worker * 12 * p->local_max;
    WIDE_REAL*         turned = local + 4 * p->local_max;
    WIDE_REAL*         sum    = turned + 4 * p->local_max;

    for (int64_t patch = begin; patch < end; ++patch)
    {
        const int32_t  first = p->first_local[patch], count = p->first_local[patch + 1] - first;
        const int32_t* vertex = p->vertex + first;
        load_local(vertex, count, pass->u, local);
        const WIDE_REAL* local_rotation = local;
        if (pass->u_rotation)
        {
            load_local(vertex, count, pass->u_rotation, turned);
            local_rotation = turned;
        }
        memset(sum, 0, sizeof(WIDE_REAL) * 4 * (size_t)count);

        double  energy   = 0;
        int32_t inverted = 0;
        for (int32_t block = p->first_block[patch]; block < p->first_block[patch + 1]; ++block)
        {
            const uint16_t* corner = p->corner + (int64_t)block * 4 * FLX_LANES;
            for (int lane0 = 0; lane0 < FLX_LANES; lane0 += WIDE_LANES)
            {
                const rest_shape rest = rest_of(p, block, lane0);
                wide3x3          h    = strain_of(local_rotation, corner, lane0, &rest);
                const wide3x3    w    = nearest_rotation(&h);

                wide3x3 f;
                for (int i = 0; i < 9; ++i) f.m[i] = h.m[i] + wide_set(i % 4 == 0);
                const wide3x3 cof = wide_cofactor(&f);
                const wide    det = f.m[0] * cof.m[0] + f.m[1] * cof.m[1] + f.m[2] * cof.m[2];

                if (pass->u_rotation) h = strain_of(local, corner, lane0, &rest);
                const wide k = rest.stiffness;
                wide3x3    stress;
                wide       density = wide_set(0);
                for (int i = 0; i < 9; ++i)
                {
                    const wide e = h.m[i] - w.m[i];
                    stress.m[i]  = k * e;
                    density += e * stress.m[i];
                }
                WIDE_REAL out[12][WIDE_LANES], es[WIDE_LANES], ds[WIDE_LANES];
                for (int i = 0; i < 3; ++i)
                {
                    wide total = wide_set(0);
                    for (int j = 0; j < 3; ++j)
                    {
                        wide force = wide_set(0); // -(P Dm^-T)_ij = -sum_k P_ik Dm^-1_jk
                        for (int c = 0; c < 3; ++c)
                            force -= stress.m[3 * i + c] * wide_load(rest.base + (3 * j + c) * rest.stride);
                        wide_store(out[3 * (j + 1) + i], force);
                        total -= force;
                    }
                    wide_store(out[i], total);
                }
                wide_store(es, density);
                wide_store(ds, det);
                for (int lane = 0; lane < WIDE_LANES; ++lane)
                {
                    for (int j = 0; j < 4; ++j)
                    {
                        WIDE_REAL* at = sum + 4 * corner[j * FLX_LANES + lane0 + lane];
                        for (int i = 0; i < 3; ++i) at[i] += out[3 * j + i][lane];
                    }
                    energy += (double)es[lane];
                    inverted += (ds[lane] <= 0) & (p->tet[(int64_t)block * FLX_LANES + lane0 + lane] >= 0);
                }
            }
        }
        memcpy((WIDE_REAL*)pass->force + 4 * (int64_t)first, sum, sizeof(WIDE_REAL) * 4 * (size_t)count);
        pass->energy[patch]   = 0.5 * energy;
        pass->inverted[patch] = inverted;
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
        const wide3x3 w = nearest_rotation(&h);
        for (int i = 0; i < 9; ++i) wide_store(buffer[i], w.m[i]);
        for (int lane = 0; lane < WIDE_LANES && k + lane < count; ++lane)
            for (int i = 0; i < 9; ++i) out[9 * (k + lane) + i] = buffer[i][lane];
    }
}
