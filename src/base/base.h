// Everything rooms share: failure text, memory, workers. See include/flexor/base.h for the public part.
#ifndef FLX_BASE_BASE_H
#define FLX_BASE_BASE_H

#include "flexor/base.h"

#include <assert.h>
#include <stdarg.h>

#define FLX_ASSERT(condition) assert(condition)

/// Use inside a function with `flx_status status` and a `done:` label.
#define FLX_TRY(call)                                                                                                  \
    do                                                                                                                 \
    {                                                                                                                  \
        if ((status = (call)) != FLX_OK) goto done;                                                                    \
    } while (0)

// --- failure and log ------------------------------------------------------------------------------

/// Record the text and return `status`: `return flx__fail(ctx, FLX_ERR_MESH, "%s:%d: ...", path, line);`
FLX_PRINTF(3, 4) flx_status flx__fail(flx_context* ctx, flx_status status, const char* format, ...);
FLX_PRINTF(3, 4) void flx__log(flx_context* ctx, flx_log_level level, const char* format, ...);

// --- memory ---------------------------------------------------------------------------------------

/// 64-byte aligned memory of `count` x `size` bytes (the product is checked), uninitialised. Count 0 gives
/// a valid pointer. NULL on failure, with the context's error text set to say how much was wanted.
void* flx__alloc(flx_context* ctx, int64_t count, size_t size);
void* flx__alloc_zero(flx_context* ctx, int64_t count, size_t size);
/// Grow or shrink to `count` x `size`, keeping contents. On failure the old block stays valid; NULL returned.
void* flx__realloc(flx_context* ctx, void* memory, int64_t count, size_t size);
void  flx__free(flx_context* ctx, void* memory); // NULL is welcome
char* flx__strdup(flx_context* ctx, const char* text);
FLX_PRINTF(2, 3) char* flx__format(flx_context* ctx, const char* format, ...); // allocated text, or NULL

/// `FLX_NEW(ctx, p, n)`: p = n uninitialised items, else `status = FLX_ERR_MEMORY; goto done`.
#define FLX_NEW(ctx, pointer, count)                                                                                   \
    do                                                                                                                 \
    {                                                                                                                  \
        (pointer) = flx__alloc((ctx), (int64_t)(count), sizeof *(pointer));                                            \
        if (!(pointer))                                                                                                \
        {                                                                                                              \
            status = FLX_ERR_MEMORY;                                                                                   \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)
#define FLX_NEW_ZERO(ctx, pointer, count)                                                                              \
    do                                                                                                                 \
    {                                                                                                                  \
        (pointer) = flx__alloc_zero((ctx), (int64_t)(count), sizeof *(pointer));                                       \
        if (!(pointer))                                                                                                \
        {                                                                                                              \
            status = FLX_ERR_MEMORY;                                                                                   \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)
/// Make room for `wanted` items in a growing array with `capacity`; doubles.
#define FLX_RESERVE(ctx, pointer, capacity, wanted)                                                                    \
    do                                                                                                                 \
    {                                                                                                                  \
        if ((int64_t)(wanted) > (int64_t)(capacity))                                                                   \
        {                                                                                                              \
            int64_t reserve_count_ = (int64_t)(capacity)*2;                                                            \
            if (reserve_count_ < (int64_t)(wanted)) reserve_count_ = (int64_t)(wanted);                                \
            if (reserve_count_ < 16) reserve_count_ = 16;                                                              \
            void* reserve_new_ = flx__realloc((ctx), (pointer), reserve_count_, sizeof *(pointer));                    \
            if (!reserve_new_)                                                                                         \
            {                                                                                                          \
                status = FLX_ERR_MEMORY;                                                                               \
                goto done;                                                                                             \
            }                                                                                                          \
            (pointer)  = reserve_new_;                                                                                 \
            (capacity) = reserve_count_; /* declare capacity as int64_t */                                             \
        }                                                                                                              \
    } while (0)

// --- workers --------------------------------------------------------------------------------------

/// Run `body` over [0, count) in chunks of `grain`; chunk boundaries depend on count and grain only, never on the
/// number of workers, so a body whose chunks do not touch each other's results gives the same bits for any
/// number of threads. `worker` < flx_context_worker_count(ctx) names a scratch slot. No heap. Not reentrant.
typedef void (*flx_range_fn)(void* user, int64_t begin, int64_t end, int32_t worker);
void flx__parallel_for(flx_context* ctx, int64_t count, int64_t grain, flx_range_fn body, void* user);

// --- small ----------------------------------------------------------------------------------------

/// Entries by key: those with key k are entry[first[k] .. first[k + 1]), ascending; entries with a negative key are
/// left out. first [key_count + 1] and entry [entry_count] are the caller's to flx__free(), also when the call fails.
flx_status flx__group(flx_context* ctx, int32_t entry_count, const int32_t* key, int32_t key_count, int32_t** first,
                      int32_t** entry);

uint64_t flx__hash(uint64_t seed, const void* data, int64_t bytes); // FNV-1a, 64 bit; seed 0 starts
#define FLX_HASH_START 0

/// 128 bits that tell contents apart and find damage, at the speed of memory; {0} starts. Not for security, and another
/// value on a machine of another byte order.
typedef struct flx__digest
{
    uint64_t word[2];
} flx__digest;
void flx__digest_add(flx__digest* digest, const void* data, int64_t bytes);

double flx__now(void); // s, monotonic

#endif
