// Projections of WIDE_LANES constraints at once.
//
// Lanes do the usual cases; those that squares or a direction are not safe for (zero, not finite, huge, nearly flat) go
// one by one to the type's reference. Which way a lane goes, and how often it is turned, is its own affair, so no
// result depends on a neighbour. A last, partial block repeats its last constraint.
#include "constraints/projections.h"
#include "constraints/wide.h"

#define LEAST_SQUARE 1e-70 // of S q: fourth powers are then safe as well
#define MOST_SQUARE 1e70
#define FLAT_SHARE 1e-8 // least stretch, of the largest
#define SWEEPS 12
#define PERPENDICULAR 1e-30 // squared cosine

/// z and param of a block to p; in `odd` are lanes that it is not right for.
typedef void (*block_fn)(const wide* z, const wide* param, wide* p, wide_mask* odd);

/// The type's numbers of a constraint are constants here, so that loops over them are unrolled.
typedef struct shape
{
    const flx_constraint_type* type;
    int                        size, params;
} shape;

static inline __attribute__((always_inline)) void run_block(shape s, int32_t lanes, block_fn block, const double* z,
                                                            const double* param, double* p)
{
    const int size = s.size;
    wide      in[9], limits[3], out[9] = {0};
    wide_mask odd;
    wide_load_records(z, size, in);
    wide_load_records(param, s.params, limits);
    block(in, limits, out, &odd);
    if (!wide_any(odd) && lanes == WIDE_LANES)
    {
        wide_store_records(p, size, out);
        return;
    }
    double kept[9 * WIDE_LANES], result[9 * WIDE_LANES];
    memcpy(kept, z, (size_t)(size * WIDE_LANES) * sizeof *kept); // p may be z
    wide_store_records(result, size, out);
    for (int i = 0; i < lanes; ++i)
        if (odd[i])
            s.type->project(1, kept + size * i, param + s.params * i, p + size * i);
        else
            memcpy(p + size * i, result + size * i, (size_t)size * sizeof *p);
}

static inline __attribute__((always_inline)) void run(shape s, block_fn block, int32_t count, const double* z,
                                                      const double* param, double* p)
{
    const int size = s.size, params = s.params;
    int32_t   j = 0;
    for (; j + WIDE_LANES <= count; j += WIDE_LANES)
        run_block(s, WIDE_LANES, block, z + (int64_t)size * j, param + (int64_t)params * j, p + (int64_t)size * j);
    if (j == count) return;
    double last_z[9 * WIDE_LANES], last_param[3 * WIDE_LANES];
    for (int i = 0; i < WIDE_LANES; ++i)
    {
        const int64_t k = j + i < count ? j + i : count - 1;
        memcpy(last_z + size * i, z + size * k, (size_t)size * sizeof *z);
        memcpy(last_param + params * i, param + params * k, (size_t)params * sizeof *param);
    }
    run_block(s, count - j, block, last_z, last_param, p + (int64_t)size * j);
}

static inline wide_mask unsafe(wide square)
{
    return ~(wide_less(wide_set(LEAST_SQUARE), square) & wide_less(square, wide_set(MOST_SQUARE))); // NaN is unsafe
}

// --- length --------------------------------------------------------------------------------------------------------

static inline void length_block(const wide* z, const wide* param, wide* p, wide_mask* odd)
{
    const wide square = wide_dot3(z, z), factor = param[0] / wide_sqrt(square);
    for (int i = 0; i < 3; ++i) p[i] = factor * z[i];
    *odd = unsafe(square);
}

static void length(int32_t count, const double* z, const double* param, double* p)
{
    run((shape){&flx__edge_spring, 3, 1}, length_block, count, z, param, p);
}

// --- triangle strain -------------------------------------------------------------------------------------------------

/// The rows of Z turned by (c, s) until they are perpendicular, a the longer one; what rounding leaves of a in b is
/// then taken out of b.
static inline void strain_block(const wide* z, const wide* param, wide* p, wide_mask* odd)
{
    const wide      one = wide_set(1), zero = wide_set(0);
    const wide      aa = wide_dot3(z, z), bb = wide_dot3(z + 3, z + 3), ab = wide_dot3(z, z + 3);
    const wide      d = aa - bb, r = wide_sqrt(d * d + 4 * ab * ab);
    const wide_mask round = wide_less(r, 1e-20 * (aa + bb)), swap = wide_less(d, zero);
    const wide      safe  = wide_select(round, one, r);
    const wide      large = wide_sqrt(0.5 + 0.5 * wide_abs(d) / safe), small = ab / (safe * large);
    wide            c = wide_select(swap, wide_abs(small), large), s = wide_select(swap, wide_sign(large, ab), small);
    c = wide_select(round, one, c), s = wide_select(round, zero, s);

    wide a[3], b[3];
    for (int i = 0; i < 3; ++i) a[i] = c * z[i] + s * z[3 + i], b[i] = c * z[3 + i] - s * z[i];
    const wide square = wide_dot3(a, a), mixed = wide_dot3(a, b) / square;
    for (int i = 0; i < 3; ++i) b[i] -= mixed * a[i];
    const wide      sigma0 = wide_sqrt(square), sigma1 = wide_sqrt(wide_dot3(b, b));
    const wide      to0     = wide_min(wide_max(sigma0, param[0]), param[1]) / sigma0;
    const wide      to1     = wide_min(wide_max(sigma1, param[0]), param[1]) / sigma1;
    const wide_mask outside = (wide_mask)(to0 != one) | (wide_mask)(to1 != one);
    for (int i = 0; i < 3; ++i)
    {
        const wide x = to0 * a[i], y = to1 * b[i];
        p[i]     = wide_select(outside, c * x - s * y, z[i]);
        p[3 + i] = wide_select(outside, s * x + c * y, z[3 + i]);
    }
    *odd = unsafe(aa + bb) | ~wide_less(FLAT_SHARE * sigma0, sigma1);
}

static void strain(int32_t count, const double* z, const double* param, double* p)
{
    run((shape){&flx__triangle_strain, 6, 2}, strain_block, count, z, param, p);
}

// --- tetrahedral strain ----------------------------------------------------------------------------------------------

/// Columns p and q of B and V turned so that those of B are perpendicular, in lanes where they are not; returns those.
static inline wide_mask make_perpendicular(wide B[3][3], wide V[3][3], int p, int q)
{
    const wide      pp = wide_dot3(B[p], B[p]), qq = wide_dot3(B[q], B[q]), pq = wide_dot3(B[p], B[q]);
    const wide_mask turning = wide_less(PERPENDICULAR * pp * qq, pq * pq);
    const wide      one = wide_set(1), zero = wide_set(0);
    const wide      zeta = (qq - pp) / (2 * wide_select(turning, pq, one));
    const wide      size = one / (wide_abs(zeta) + wide_sqrt(one + zeta * zeta));
    const wide      t = wide_select(turning, wide_sign(size, zeta), zero), c = one / wide_sqrt(one + t * t), s = c * t;
    for (int i = 0; i < 3; ++i)
    {
        const wide bp = B[p][i], bq = B[q][i], vp = V[p][i], vq = V[q][i];
        B[p][i] = c * bp - s * bq, B[q][i] = s * bp + c * bq;
        V[p][i] = c * vp - s * vq, V[q][i] = s * vp + c * vq;
    }
    return turning;
}

static inline wide determinant(const wide B[3][3])
{
    return B[0][0] * (B[1][1] * B[2][2] - B[1][2] * B[2][1]) - B[0][1] * (B[1][0] * B[2][2] - B[1][2] * B[2][0]) +
           B[0][2] * (B[1][0] * B[2][1] - B[1][1] * B[2][0]);
}

/// Columns of F = z^T turned until they are perpendicular: B = F V, sigma_k = |B_k|, the least one signed like det F.
static inline void tet_strain_block(const wide* z, const wide* param, wide* p, wide_mask* odd)
{
    const wide one = wide_set(1), zero = wide_set(0);
    wide       B[3][3], V[3][3], sigma[3], factor[3];
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i) B[k][i] = z[3 * k + i], V[k][i] = k == i ? one : zero;
    *odd = unsafe(wide_dot3(z, z) + wide_dot3(z + 3, z + 3) + wide_dot3(z + 6, z + 6));
    for (int i = 0; i < 9; ++i) B[i / 3][i % 3] = wide_select(*odd, i % 4 == 0 ? one : zero, z[i]);

    wide_mask turning = ~(wide_mask){0};
    for (int sweep = 0; wide_any(turning) && sweep < SWEEPS; ++sweep)
    {
        const wide_mask x = make_perpendicular(B, V, 0, 1), y = make_perpendicular(B, V, 0, 2);
        turning = make_perpendicular(B, V, 1, 2) | x | y;
    }
    for (int k = 0; k < 3; ++k) sigma[k] = wide_sqrt(wide_dot3(B[k], B[k]));
    const wide      least = wide_min(sigma[0], wide_min(sigma[1], sigma[2]));
    const wide      most  = wide_max(sigma[0], wide_max(sigma[1], sigma[2]));
    const wide_mask first = ~wide_less(least, sigma[0]), second = ~wide_less(least, sigma[1]) & ~first;
    const wide_mask which[3] = {first, second, ~(first | second)}, inverted = wide_less(determinant(B), zero);
    wide_mask       outside = {0};
    for (int k = 0; k < 3; ++k)
    {
        const wide_mask negative = which[k] & inverted;
        const wide      s        = wide_select(negative, -sigma[k], sigma[k]);
        factor[k]                = wide_min(wide_max(s, param[0]), param[1]) / s;
        outside |= (wide_mask)(factor[k] != one);
        for (int i = 0; i < 3; ++i) B[k][i] *= factor[k];
    }
    for (int r = 0; r < 3; ++r)
        for (int i = 0; i < 3; ++i)
            p[3 * r + i] =
                wide_select(outside, V[0][r] * B[0][i] + V[1][r] * B[1][i] + V[2][r] * B[2][i], z[3 * r + i]);
    *odd |= ~wide_less(FLAT_SHARE * most, least);
}

static void tet_strain(int32_t count, const double* z, const double* param, double* p)
{
    run((shape){&flx__tet_strain, 9, 2}, tet_strain_block, count, z, param, p);
}
