// A small vocabulary for WIDE_LANES doubles at once, of the compiler's vector types. Included once in a compilation,
// after WIDE_LANES is defined. Arithmetic operators work on `wide` as they are; masks are combined with & and |.
// Intrinsics are confined to this file.
#if !defined(WIDE_LANES)
#error "define WIDE_LANES before including constraints/wide.h"
#endif

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && WIDE_LANES > 2
#include <immintrin.h>
#endif

typedef double  wide __attribute__((vector_size(8 * WIDE_LANES)));
typedef int64_t wide_mask __attribute__((vector_size(8 * WIDE_LANES)));

static inline wide wide_set(double a)
{
    return a - (wide){0};
}
static inline wide wide_load(const double* p)
{
    wide a;
    memcpy(&a, p, sizeof a);
    return a;
}
static inline void wide_store(double* p, wide a)
{
    memcpy(p, &a, sizeof a);
}
static inline wide_mask wide_less(wide a, wide b)
{
    return (wide_mask)(a < b);
}
static inline wide wide_select(wide_mask m, wide a, wide b)
{
    return (wide)((m & (wide_mask)a) | (~m & (wide_mask)b));
}
static inline wide wide_min(wide a, wide b)
{
    return wide_select(wide_less(b, a), b, a);
}
static inline wide wide_max(wide a, wide b)
{
    return wide_select(wide_less(a, b), b, a);
}
static inline wide wide_abs(wide a)
{
    return (wide)((wide_mask)a & INT64_MAX);
}
/// |a| with the sign of b
static inline wide wide_sign(wide a, wide b)
{
    return (wide)(((wide_mask)a & INT64_MAX) | ((wide_mask)b & INT64_MIN));
}
static inline wide wide_sqrt(wide a)
{
#if defined(__AVX512F__) && WIDE_LANES == 8
    return (wide)_mm512_sqrt_pd((__m512d)a);
#elif defined(__AVX__) && WIDE_LANES == 4
    return (wide)_mm256_sqrt_pd((__m256d)a);
#else
    wide r;
    for (int i = 0; i < WIDE_LANES; ++i) r[i] = sqrt(a[i]);
    return r;
#endif
}
static inline int wide_any(wide_mask m)
{
#if defined(__AVX512DQ__) && WIDE_LANES == 8
    return _mm512_movepi64_mask((__m512i)m) != 0;
#elif defined(__AVX__) && WIDE_LANES == 4
    return _mm256_movemask_pd((__m256d)m) != 0;
#else
    int64_t any = 0;
    for (int i = 0; i < WIDE_LANES; ++i) any |= m[i];
    return any != 0;
#endif
}

static inline wide wide_dot3(const wide a[3], const wide b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
/// Numbers of WIDE_LANES records of `size` doubles each, number by number.
static inline void wide_load_records(const double* record, int size, wide* out)
{
    double lane[9][WIDE_LANES];
    for (int i = 0; i < WIDE_LANES; ++i)
        for (int c = 0; c < size; ++c) lane[c][i] = record[size * i + c];
    for (int c = 0; c < size; ++c) out[c] = wide_load(lane[c]);
}
static inline void wide_store_records(double* record, int size, const wide* in)
{
    double lane[9][WIDE_LANES];
    for (int c = 0; c < size; ++c) wide_store(lane[c], in[c]);
    for (int i = 0; i < WIDE_LANES; ++i)
        for (int c = 0; c < size; ++c) record[size * i + c] = lane[c][i];
}
