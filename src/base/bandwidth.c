// How fast this machine reads memory, by the workers that will also read the factor.
//
// What a pass over the factor is measured against: best of a few readings of a block that no cache holds.
#include "base/context.h"

#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES (INT64_C(256) << 20) // several times the last-level cache that one chip's cores share
#define CHUNK (1 << 16)                  // lines of 64 bytes
#define MOST_READS 5
#define MOST_SECONDS 0.05 // of reading

typedef struct reading
{
    double* data; // [line][8]
    double  sum[256][8];
} reading;

static void write_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const reading* r = user;
    memset(r->data + 8 * begin, 0, 64 * (size_t)(end - begin));
}

static void read_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    typedef double line __attribute__((vector_size(64)));
    reading*       r    = user;
    const line*    data = (const line*)r->data;
    line           s[4] = {{0}}; // four chains of additions: the additions must not be what is measured
    int64_t        i    = begin;
    for (; i + 4 <= end; i += 4)
        for (int k = 0; k < 4; ++k) s[k] += data[i + k];
    for (; i < end; ++i) s[0] += data[i];
    for (int k = 0; k < 4; ++k)
        for (int c = 0; c < 8; ++c) r->sum[worker][c] += s[k][c];
}

/// A block larger than the caches, but no more than an eighth of the memory.
static int64_t line_count(void)
{
    const int64_t pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    const int64_t eighth = pages > 0 && page_bytes > 0 ? pages * page_bytes / 8 : BLOCK_BYTES;
    return (eighth < BLOCK_BYTES ? eighth : BLOCK_BYTES) / 64;
}

double flx_context_read_bandwidth(flx_context* ctx)
{
    const int64_t lines = line_count();
    reading       r     = {.data = flx__alloc(ctx, lines, 64)};
    double        best  = 0;
    if (!r.data) return 0;
    flx__parallel_for(ctx, lines, CHUNK, write_range, &r); // pages nobody wrote are all the same page of zeros
    const double begin = flx__now();
    for (int k = 0; k < MOST_READS && (k < 2 || flx__now() - begin < MOST_SECONDS); ++k)
    {
        const double start = flx__now();
        flx__parallel_for(ctx, lines, CHUNK, read_range, &r);
        const double rate = 64 * (double)lines / (flx__now() - start);
        if (rate > best) best = rate;
    }
    flx__free(ctx, r.data);
    return best;
}
