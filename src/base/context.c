// The context: the one object that owns what would otherwise be global.
#include "base/context.h"

#include "base/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CONTEXT_BYTES ((sizeof(flx_context) + 63) & ~(size_t)63)

/// Large blocks are streamed through: ask for large pages, which halves the misses of the page table and the faults.
static void advise_large_pages(void* memory, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    const uintptr_t page  = 4096;
    const uintptr_t begin = ((uintptr_t)memory + page - 1) & ~(page - 1);
    const uintptr_t end   = ((uintptr_t)memory + bytes) & ~(page - 1);
    if (end > begin) (void)madvise((void*)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}

static void* default_allocate(void* user, size_t bytes)
{
    (void)user;
    void* memory = aligned_alloc(64, bytes);
    if (memory && bytes >= (size_t)4 << 20) advise_large_pages(memory, bytes);
    return memory;
}

static void default_release(void* user, void* memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

flx_context_desc flx_context_desc_default(void)
{
    return (flx_context_desc){
        .struct_size = sizeof(flx_context_desc), .worker_count = 0, .isa = "auto", .cache_bytes = INT64_C(4000000000)};
}

/// The uncounted part of a context's own memory: whole multiples of 64 bytes.
static size_t text_bytes(const char* text)
{
    return (strlen(text) + 1 + 63) & ~(size_t)63;
}

static bool copy_cache_dir(flx_context* ctx)
{
    const char* dir = ctx->desc.cache_dir;
    if (!dir || !*dir) return true;
    ctx->cache_dir = ctx->desc.allocate(ctx->desc.memory_user, text_bytes(dir));
    if (ctx->cache_dir) strcpy(ctx->cache_dir, dir);
    return ctx->cache_dir != NULL;
}

static int32_t core_count(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 256 ? 256 : (int32_t)n;
}

static void release(flx_context* ctx)
{
    const flx_context_desc d = ctx->desc;
    if (ctx->cache_dir) d.release(d.memory_user, ctx->cache_dir, text_bytes(ctx->cache_dir));
    d.release(d.memory_user, ctx, CONTEXT_BYTES);
}

flx_status flx_context_create(const flx_context_desc* desc, flx_context** out)
{
    if (!out) return FLX_ERR_ARGUMENT;
    *out = NULL;

    flx_context_desc d = flx_context_desc_default();
    if (desc)
    {
        if (desc->struct_size != sizeof d) return FLX_ERR_ARGUMENT;
        d = *desc;
    }
    if (d.worker_count < 0 || d.worker_count > 256 || d.cache_bytes < 0) return FLX_ERR_ARGUMENT;
    if ((d.allocate == NULL) != (d.release == NULL)) return FLX_ERR_ARGUMENT;
    if (!d.allocate)
    {
        d.allocate = default_allocate;
        d.release  = default_release;
    }

    flx_isa          isa    = FLX_ISA_SCALAR;
    const flx_status chosen = flx__isa_choose(d.isa ? d.isa : "auto", &isa);
    if (chosen != FLX_OK) return chosen;

    flx_context* ctx = d.allocate(d.memory_user, CONTEXT_BYTES);
    if (!ctx) return FLX_ERR_MEMORY;
    memset(ctx, 0, sizeof *ctx);
    ctx->desc         = d;
    ctx->isa          = isa;
    ctx->worker_count = d.worker_count > 0 ? d.worker_count : core_count();
    ctx->fail_at      = -1;

    if (!copy_cache_dir(ctx) || !flx__workers_start(ctx))
    {
        release(ctx);
        return FLX_ERR_MEMORY;
    }
    *out = ctx;
    return FLX_OK;
}

void flx_context_destroy(flx_context* ctx)
{
    if (!ctx) return;
    flx__workers_stop(ctx);
    release(ctx);
}

const char* flx_context_error(const flx_context* ctx)
{
    return ctx ? ctx->error : "no context";
}
int32_t flx_context_worker_count(const flx_context* ctx)
{
    return ctx->worker_count;
}
const char* flx_context_isa(const flx_context* ctx)
{
    return flx__isa_name(ctx->isa);
}
int64_t flx_context_bytes_now(const flx_context* ctx)
{
    return ctx->bytes_now;
}
int64_t flx_context_bytes_peak(const flx_context* ctx)
{
    return ctx->bytes_peak;
}
int64_t flx_context_allocation_count(const flx_context* ctx)
{
    return ctx->allocation_count;
}
void flx_context_fail_allocation(flx_context* ctx, int64_t countdown)
{
    ctx->fail_at = countdown;
}
const char* flx_version(void)
{
    return FLX_VERSION;
}

const char* flx_status_name(flx_status status)
{
    static const char* const names[FLX_STATUS_COUNT] = {
        "ok",        "out of memory", "i/o error",    "exists already",   "malformed file", "unusable mesh",
        "bad scene", "setting",       "bad argument", "nothing holds it", "not finite",     "unsupported",
        "cancelled"};
    return (unsigned)status < FLX_STATUS_COUNT ? names[status] : "unknown status";
}

flx_status flx__fail(flx_context* ctx, flx_status status, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ctx->error, sizeof ctx->error, format, args);
    va_end(args);
    return status;
}

void flx__log(flx_context* ctx, flx_log_level level, const char* format, ...)
{
    if (!ctx->desc.log) return;
    char    text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ctx->desc.log(ctx->desc.log_user, level, text);
}

double flx__now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
