/// @file
/// Context, status codes, memory and logging: what every other part of Flexor stands on.
#ifndef FLEXOR_BASE_H
#define FLEXOR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FLX_API __attribute__((visibility("default")))
#define FLX_MUST_CHECK __attribute__((warn_unused_result))
#define FLX_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define FLX_API
#define FLX_MUST_CHECK
#define FLX_PRINTF(format_at, first_at)
#endif

#define FLX_VERSION_MAJOR 0
#define FLX_VERSION_MINOR 1
#define FLX_VERSION_PATCH 0
#define FLX_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/// Outcome of every fallible call. The text that belongs to it is in the context.
typedef enum flx_status
{
    FLX_OK = 0,
    FLX_ERR_MEMORY,      ///< an allocation failed
    FLX_ERR_IO,          ///< a file could not be opened, read, written or renamed
    FLX_ERR_EXISTS,      ///< the output is there already and overwriting was not asked for
    FLX_ERR_FORMAT,      ///< a mesh file, recording or checkpoint is malformed
    FLX_ERR_MESH,        ///< a mesh was read but cannot be simulated
    FLX_ERR_SCENE,       ///< a scene is malformed or contradicts itself
    FLX_ERR_SETTING,     ///< a setting is outside its range
    FLX_ERR_ARGUMENT,    ///< the caller passed something that makes no sense
    FLX_ERR_UNHELD,      ///< the system matrix is singular: a component that nothing holds
    FLX_ERR_NONFINITE,   ///< a step produced NaN or infinity; the state is as it was
    FLX_ERR_UNSUPPORTED, ///< valid input that this version or build does not do
    FLX_ERR_CANCELLED,   ///< a callback asked to stop
    FLX_STATUS_COUNT
} flx_status;

typedef enum flx_log_level
{
    FLX_LOG_ERROR = 0,
    FLX_LOG_WARNING,
    FLX_LOG_NOTICE, ///< something was repaired, dropped or guessed: the user should know
    FLX_LOG_INFO,
    FLX_LOG_DEBUG
} flx_log_level;

typedef struct flx_context flx_context;

typedef void (*flx_log_fn)(void* user, flx_log_level level, const char* text);
typedef void* (*flx_allocate_fn)(void* user, size_t bytes); ///< 64-byte aligned, NULL on failure
typedef void (*flx_release_fn)(void* user, void* memory, size_t bytes);

/// What a context is made from. Get one from flx_context_desc_default(), change what you need.
typedef struct flx_context_desc
{
    size_t          struct_size;
    int32_t         worker_count; ///< threads that compute, the caller's included; 0 = all cores
    const char*     isa;          ///< "auto", "scalar", "sse2", "avx2", "avx512", "neon"
    flx_log_fn      log;          ///< may be NULL: silent
    void*           log_user;
    flx_allocate_fn allocate; ///< may be NULL: the C library's
    flx_release_fn  release;
    void*           memory_user;
    const char*     cache_dir; ///< folder, made when needed, that keeps elimination orders and factors of large systems
                               ///< for later runs, by their contents: the same bits, sooner. Safe to delete at any
                               ///< time. NULL (the default): nothing is kept
    int64_t cache_bytes;       ///< most that it holds (default 4e9): what was not used for longest goes first
} flx_context_desc;

FLX_API flx_context_desc flx_context_desc_default(void);

/// Create a context: allocator, workers, log and the last error text. One context belongs to one
/// calling thread at a time; different contexts are independent.
///
/// `desc` may be NULL: the defaults. The context must outlive everything made with it.
///
/// Returns FLX_ERR_ARGUMENT for an unknown instruction set, a worker count outside [0, 256], only one of `allocate` and
/// `release`, negative `cache_bytes`, or a description of another size; FLX_ERR_UNSUPPORTED when this processor lacks the instruction set asked
/// for; FLX_ERR_MEMORY. There is no text then: texts live in the context.
FLX_API FLX_MUST_CHECK flx_status flx_context_create(const flx_context_desc* desc, flx_context** out);
FLX_API void                      flx_context_destroy(flx_context* ctx);

/// Text of the last failure: one line, or several when a scene has several mistakes. Never NULL.
FLX_API const char* flx_context_error(const flx_context* ctx);
FLX_API const char* flx_status_name(flx_status status);
FLX_API int32_t     flx_context_worker_count(const flx_context* ctx);
FLX_API const char* flx_context_isa(const flx_context* ctx);

/// Bytes now held, their maximum so far, and how many allocations were made since creation.
FLX_API int64_t flx_context_bytes_now(const flx_context* ctx);
FLX_API int64_t flx_context_bytes_peak(const flx_context* ctx);
FLX_API int64_t flx_context_allocation_count(const flx_context* ctx);

/// Test aid: let `countdown` allocations succeed and make the next one fail, and each one after it until called again
/// with -1.
FLX_API void flx_context_fail_allocation(flx_context* ctx, int64_t countdown);

/// Bytes a second that the context's workers read from memory together, now: best of a few readings of 256 MB (an eighth
/// of the memory if that is less), which are allocated for it and count in flx_context_bytes_peak(). Takes about a tenth
/// of a second. 0 when the memory cannot be had.
FLX_API double flx_context_read_bandwidth(flx_context* ctx);

FLX_API const char* flx_version(void);

#ifdef __cplusplus
}
#endif
#endif
