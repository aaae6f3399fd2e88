// Samples of a time, and what a fair race needs: alternate the contestants, let the loser's threads fall asleep first.
#ifndef FLX_BENCH_MEASURE_H
#define FLX_BENCH_MEASURE_H

#include <stdlib.h>
#include <time.h>

#define MOST_SAMPLES 64

typedef struct samples
{
    int    count;
    double value[MOST_SAMPLES];
} samples;

static inline double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/// OpenBLAS, OpenMP and our workers all spin for some milliseconds after their last work, and would take the cores from
/// whoever is measured next.
static inline void settle(void)
{
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = 150000000};
    nanosleep(&pause, NULL);
}

static inline void sample_add(samples* s, double value)
{
    if (s->count < MOST_SAMPLES) s->value[s->count++] = value;
}

static inline int compare_doubles(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/// Quantile q in [0, 1], between neighbours by straight lines; 0 without samples.
static inline double quantile(const samples* s, double q)
{
    if (s->count == 0) return 0;
    samples sorted = *s;
    qsort(sorted.value, (size_t)sorted.count, sizeof(double), compare_doubles);
    const double at = q * (sorted.count - 1);
    const int    i = (int)at < sorted.count - 1 ? (int)at : sorted.count - 1, j = i + 1 < sorted.count ? i + 1 : i;
    return sorted.value[i] + (at - i) * (sorted.value[j] - sorted.value[i]);
}

static inline double median(const samples* s)
{
    return quantile(s, 0.5);
}

#endif
