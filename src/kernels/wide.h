// A small vocabulary for WIDE_LANES numbers of type WIDE_REAL at once. Included once per kernel compilation, after
// those two are defined; WIDE_LANES 1 is plain scalar code and the reference for the others.
//
// Arithmetic operators work on `wide` as they are. Comparisons give `wide_mask`; masks are combined with & and |.
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
static inline wide_mask wide_equal(wide a, wide b)
{
    return a == b;
}
static inline wide wide_select(wide_mask m, wide a, wide b)
{
    return m ? a : b;
}
static inline int wide_any(wide_mask m)
{
    return m;
}
static inline int wide_bit(wide_mask m, int lane)
{
    (void)lane;
    return m;
}
static inline wide_mask wide_not(wide_mask m)
{
    return !m;
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

typedef float   wide __attribute__((vector_size(4 * WIDE_LANES)));
typedef int32_t wide_mask __attribute__((vector_size(4 * WIDE_LANES)));

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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
static inline wide_mask wide_less(wide a, wide b)
{
    return (wide_mask)(a < b);
}
static inline wide_mask wide_equal(wide a, wide b)
{
    return (wide_mask)(a == b);
}
static inline wide_mask wide_not(wide_mask m)
{
    return ~m;
}
static inline wide wide_select(wide_mask m, wide a, wide b)
{
    return (wide)((m & (wide_mask)a) | (~m & (wide_mask)b));
}
static inline int wide_any(wide_mask m)
{
    int any = 0;
    for (int i = 0; i < WIDE_LANES; ++i) any |= m[i];
    return any != 0;
}
static inline int wide_bit(wide_mask m, int lane)
{
    return m[lane] != 0;
}
static inline wide wide_abs(wide a)
{
    return (wide)((wide_mask)a & ~(wide_mask)wide_set(-0.0f));
}

static inline wide wide_sqrt(wide a)
{
#if WIDE_LANES == 16 && defined(__AVX512F__)
    return (wide)_mm512_sqrt_ps((__m512)a);
#elif WIDE_LANES == 8 && defined(__AVX__)
    return (wide)_mm256_sqrt_ps((__m256)a);
#elif WIDE_LANES == 4 && defined(__SSE2__)
    return (wide)_mm_sqrt_ps((__m128)a);
#else
    wide r;
    for (int i = 0; i < WIDE_LANES; ++i) r[i] = sqrtf(a[i]);
    return r;
#endif
}

#endif
