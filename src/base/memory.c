// Counted memory. Each block carries its size in a 64-byte header, so that release needs no size and the
// context always knows how much is held. Safe from one thread at a time, which is all a context allows.
#include "base/context.h"

#include <stdio.h>
#include <string.h>

#define HEADER 64

void* flx__alloc(flx_context* ctx, int64_t count, size_t size)
{
    FLX_ASSERT(count >= 0 && size > 0);
    if (ctx->fail_at == 0 || (uint64_t)count > (uint64_t)(INT64_MAX / 2) / size)
    {
        (void)flx__fail(ctx, FLX_ERR_MEMORY, "out of memory: %lld items of %zu bytes were wanted", (long long)count,
                        size);
        return NULL;
    }
    if (ctx->fail_at > 0) --ctx->fail_at;

    const size_t bytes = ((size_t)count * size + HEADER + 63) & ~(size_t)63;
    char*        block = ctx->desc.allocate(ctx->desc.memory_user, bytes);
    if (!block)
    {
        (void)flx__fail(ctx, FLX_ERR_MEMORY, "out of memory: %.1f MB were wanted, %.1f MB are in use",
                        (double)bytes / 1e6, (double)ctx->bytes_now / 1e6);
        return NULL;
    }
    memcpy(block, &bytes, sizeof bytes);
    ctx->bytes_now += (int64_t)bytes;
    ctx->allocation_count += 1;
    if (ctx->bytes_now > ctx->bytes_peak) ctx->bytes_peak = ctx->bytes_now;
    return block + HEADER;
}

void* flx__alloc_zero(flx_context* ctx, int64_t count, size_t size)
{
    void* p = flx__alloc(ctx, count, size);
    if (p) memset(p, 0, (size_t)count * size);
    return p;
}

static size_t block_bytes(const void* memory)
{
    size_t bytes;
    memcpy(&bytes, (const char*)memory - HEADER, sizeof bytes);
    return bytes;
}

void flx__free(flx_context* ctx, void* memory)
{
    if (!memory) return;
    const size_t bytes = block_bytes(memory);
    ctx->bytes_now -= (int64_t)bytes;
    ctx->desc.release(ctx->desc.memory_user, (char*)memory - HEADER, bytes);
}

void* flx__realloc(flx_context* ctx, void* memory, int64_t count, size_t size)
{
    void* grown = flx__alloc(ctx, count, size);
    if (!grown || !memory) return grown;
    const size_t old_bytes = block_bytes(memory) - HEADER;
    const size_t new_bytes = (size_t)count * size;
    memcpy(grown, memory, old_bytes < new_bytes ? old_bytes : new_bytes);
    flx__free(ctx, memory);
    return grown;
}

char* flx__strdup(flx_context* ctx, const char* text)
{
    const size_t length = strlen(text) + 1;
    char*        copy   = flx__alloc(ctx, (int64_t)length, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

char* flx__format(flx_context* ctx, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) return NULL;
    char* text = flx__alloc(ctx, (int64_t)length + 1, 1);
    if (!text) return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}
