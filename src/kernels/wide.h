// A small vocabulary for WIDE_LANES numbers of type WIDE_REAL at once. Included once per kernel compilation, after
// those two are defined; WIDE_LANES 1 is plain scalar code and the reference for the others.
//
// Arithmetic operators work on `wide` as they are. Comparisons give `wide_mask`; masks are combined with & and |.
// A point is 4 numbers in memory, x y z and an unused one that stays 0, so that a lane's point is one short load.
// Intrinsics are confined to this file.
#if !defined(WIDE_REAL) || !defined(WIDE_LANES)
#error "define WIDE_REAL and WIDE_LANES before including kernels/wide.h"
#endif

#include <math.h>
#include <stdint.h>
#include <string.h>

#if WIDE_LANES == 1

typedef WIDE_REAL wide;
typedef int       wide_mask;

static inline wide wide_set(WIDE_REAL a)
{
    return a;
}
static inline wide wide_load(const WIDE_REAL* p)
{
    return *p;
}
static inline void wide_store(WIDE_REAL* p, wide a)
{
    *p = a;
}
static inline wide_mask wide_less(wide a, wide b)
{
    return a < b;
}
static inline wide_mask wide_not(wide_mask m)
{
    return !m;
}
static inline wide wide_select(wide_mask m, wide a, wide b)
{
    return m ? a : b;
}
static inline int wide_any(wide_mask m)
{
    return m;
}
static inline int wide_count(wide_mask m)
{
    return m;
}
static inline int wide_bit(wide_mask m, int lane)
{
    (void)lane;
    return m;
}
static inline wide wide_sqrt(wide a)
{
    return sizeof(WIDE_REAL) == 4 ? (wide)sqrtf((float)a) : (wide)sqrt((double)a);
}
static inline wide wide_abs(wide a)
{
    return a < 0 ? -a : a;
}

#else

typedef float wide __attribute__((vector_size(4 * WIDE_LANES)));

static inline wide wide_set(float a)
{
    return a - (wide){0};
}
static inline wide wide_load(const float* p)
{
    wide a;
    memcpy(&a, p, sizeof a);
    return a;
}
static inline void wide_store(float* p, wide a)
{
    memcpy(p, &a, sizeof a);
}

#if defined(__x86_64__)
#include <immintrin.h>
#if WIDE_LANES == 16
#define WIDE_PS(name) _mm512_##name##_ps
#elif WIDE_LANES == 8
#define WIDE_PS(name) _mm256_##name##_ps
#else
#define WIDE_PS(name) _mm_##name##_ps
#endif
#endif

#if defined(__AVX512F__) && WIDE_LANES == 16

typedef __mmask16 wide_mask; // masks have registers of their own

static inline wide_mask wide_less(wide a, wide b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
static inline wide_mask wide_not(wide_mask m)
{
    return (wide_mask)~m;
}
static inline wide wide_select(wide_mask m, wide a, wide b)
{
    return _mm512_mask_blend_ps(m, b, a);
}
static inline unsigned wide_bits(wide_mask m)
{
    return m;
}

#else

typedef int32_t wide_mask __attribute__((vector_size(4 * WIDE_LANES)));

static inline wide_mask wide_less(wide a, wide b)
{
    return (wide_mask)(a < b);
}
static inline wide_mask wide_not(wide_mask m)
{
    return ~m;
}
static inline wide wide_select(wide_mask m, wide a, wide b)
{
#if defined(__AVX__) && WIDE_LANES == 8
    return _mm256_blendv_ps(b, a, (__m256)m);
#else
    return (wide)((m & (wide_mask)a) | (~m & (wide_mask)b));
#endif
}
static inline unsigned wide_bits(wide_mask m)
{
#if defined(__x86_64__)
    return (unsigned)WIDE_PS(movemask)((wide)m);
#else
    unsigned bits = 0;
    for (int i = 0; i < WIDE_LANES; ++i) bits |= (unsigned)(m[i] & 1) << i;
    return bits;
#endif
}

#endif

static inline int wide_any(wide_mask m)
{
    return wide_bits(m) != 0;
}
static inline int wide_count(wide_mask m)
{
    return __builtin_popcount(wide_bits(m));
}
static inline int wide_bit(wide_mask m, int lane)
{
    return wide_bits(m) >> lane & 1;
}
static inline wide wide_abs(wide a)
{
    typedef int32_t bits __attribute__((vector_size(4 * WIDE_LANES)));
    return (wide)((bits)a & ~(bits)wide_set(-0.0f));
}
static inline wide wide_sqrt(wide a)
{
#if defined(__x86_64__)
    return WIDE_PS(sqrt)(a);
#else
    wide r;
    for (int i = 0; i < WIDE_LANES; ++i) r[i] = sqrtf(a[i]);
    return r;
#endif
}

#endif

#if WIDE_LANES > 1 && defined(__x86_64__)

/// out[4] = p - origin, in double until rounded.
static inline void wide_point_from(const double* p, const double* origin, float* out)
{
    const __m128d xy = _mm_sub_pd(_mm_loadu_pd(p), _mm_loadu_pd(origin));
    const __m128d z  = _mm_sub_sd(_mm_load_sd(p + 2), _mm_load_sd(origin + 2));
    _mm_storeu_ps(out, _mm_movelh_ps(_mm_cvtpd_ps(xy), _mm_cvtpd_ps(z)));
}

/// Points k, k + 4, k + 8.. of a list of lanes, one in each quarter.
static inline wide wide_quarters(const float* base, const uint16_t* at)
{
#if WIDE_LANES == 16
    __m512 r = _mm512_castps128_ps512(_mm_loadu_ps(base + 4 * (size_t)at[0]));
    r        = _mm512_insertf32x4(r, _mm_loadu_ps(base + 4 * (size_t)at[4]), 1);
    r        = _mm512_insertf32x4(r, _mm_loadu_ps(base + 4 * (size_t)at[8]), 2);
    return _mm512_insertf32x4(r, _mm_loadu_ps(base + 4 * (size_t)at[12]), 3);
#elif WIDE_LANES == 8
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(base + 4 * (size_t)at[0])),
                                _mm_loadu_ps(base + 4 * (size_t)at[4]), 1);
#else
    return _mm_loadu_ps(base + 4 * (size_t)at[0]);
#endif
}

static inline void wide_add_point(float* point, __m128 a)
{
    _mm_storeu_ps(point, _mm_add_ps(_mm_loadu_ps(point), a));
}

static inline void wide_add_quarters(float* base, const uint16_t* at, wide a)
{
#if WIDE_LANES == 16
    wide_add_point(base + 4 * (size_t)at[0], _mm512_castps512_ps128(a));
    wide_add_point(base + 4 * (size_t)at[4], _mm512_extractf32x4_ps(a, 1));
    wide_add_point(base + 4 * (size_t)at[8], _mm512_extractf32x4_ps(a, 2));
    wide_add_point(base + 4 * (size_t)at[12], _mm512_extractf32x4_ps(a, 3));
#elif WIDE_LANES == 8
    wide_add_point(base + 4 * (size_t)at[0], _mm256_castps256_ps128(a));
    wide_add_point(base + 4 * (size_t)at[4], _mm256_extractf128_ps(a, 1));
#else
    wide_add_point(base + 4 * (size_t)at[0], a);
#endif
}

/// p[axis] lane i = point at[i] of base [.][4].
static inline void wide_gather_points(const float* base, const uint16_t* at, wide p[3])
{
    const wide a = wide_quarters(base, at), b = wide_quarters(base, at + 1);
    const wide c = wide_quarters(base, at + 2), d = wide_quarters(base, at + 3);
    const wide ab = WIDE_PS(unpacklo)(a, b), cd = WIDE_PS(unpacklo)(c, d); // x x y y
    p[0] = WIDE_PS(shuffle)(ab, cd, 0x44);
    p[1] = WIDE_PS(shuffle)(ab, cd, 0xee);
    p[2] = WIDE_PS(shuffle)(WIDE_PS(unpackhi)(a, b), WIDE_PS(unpackhi)(c, d), 0x44);
}

/// Point at[i] of base [.][4] += p[axis] lane i, one lane after the other: lanes may share a point.
static inline void wide_add_points(float* base, const uint16_t* at, const wide p[3])
{
    const wide zero = {0};
    const wide lo = WIDE_PS(unpacklo)(p[0], p[1]), lo_z = WIDE_PS(unpacklo)(p[2], zero); // x y x y, z 0 z 0
    const wide hi = WIDE_PS(unpackhi)(p[0], p[1]), hi_z = WIDE_PS(unpackhi)(p[2], zero);
    wide_add_quarters(base, at, WIDE_PS(shuffle)(lo, lo_z, 0x44));
    wide_add_quarters(base, at + 1, WIDE_PS(shuffle)(lo, lo_z, 0xee));
    wide_add_quarters(base, at + 2, WIDE_PS(shuffle)(hi, hi_z, 0x44));
    wide_add_quarters(base, at + 3, WIDE_PS(shuffle)(hi, hi_z, 0xee));
}

#else

/// out[4] = p - origin, in double until rounded.
static inline void wide_point_from(const double* p, const double* origin, WIDE_REAL* out)
{
    for (int c = 0; c < 3; ++c) out[c] = (WIDE_REAL)(p[c] - origin[c]);
    out[3] = 0;
}

/// p[axis] lane i = point at[i] of base [.][4].
static inline void wide_gather_points(const WIDE_REAL* base, const uint16_t* at, wide p[3])
{
    WIDE_REAL lane[3][WIDE_LANES];
    for (int i = 0; i < WIDE_LANES; ++i)
        for (int c = 0; c < 3; ++c) lane[c][i] = base[4 * (size_t)at[i] + c];
    for (int c = 0; c < 3; ++c) p[c] = wide_load(lane[c]);
}

/// Point at[i] of base [.][4] += p[axis] lane i, one lane after the other: lanes may share a point.
static inline void wide_add_points(WIDE_REAL* base, const uint16_t* at, const wide p[3])
{
    WIDE_REAL lane[3][WIDE_LANES];
    for (int c = 0; c < 3; ++c) wide_store(lane[c], p[c]);
    for (int i = 0; i < WIDE_LANES; ++i)
        for (int c = 0; c < 3; ++c) base[4 * (size_t)at[i] + c] += lane[c][i];
}

#endif
