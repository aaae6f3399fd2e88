// A chain of blocks from the context's allocator; pieces are handed out from the newest block.
#include "scene/arena.h"

#include <string.h>

#define BLOCK_BYTES 8192
#define ALIGNMENT 16

typedef struct arena_block
{
    struct arena_block* older;
    size_t              used, capacity; // bytes after this header
} arena_block;

#define HEADER_BYTES ((sizeof(arena_block) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1))

struct flx__arena
{
    flx_context* ctx;
    arena_block* newest;
    bool         failed;
};

flx__arena* flx__arena_create(flx_context* ctx)
{
    flx__arena* arena = flx__alloc_zero(ctx, 1, sizeof *arena);
    if (arena) arena->ctx = ctx;
    return arena;
}

void flx__arena_destroy(flx__arena* arena)
{
    if (!arena) return;
    for (arena_block* block = arena->newest; block;)
    {
        arena_block* older = block->older;
        flx__free(arena->ctx, block);
        block = older;
    }
    flx__free(arena->ctx, arena);
}

static arena_block* add_block(flx__arena* arena, size_t bytes)
{
    const size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    arena_block* block    = flx__alloc(arena->ctx, (int64_t)(HEADER_BYTES + capacity), 1);
    if (!block) return NULL;
    *block        = (arena_block){.older = arena->newest, .capacity = capacity};
    arena->newest = block;
    return block;
}

void* flx__arena_take(flx__arena* arena, int64_t count, size_t size)
{
    FLX_ASSERT(count >= 0 && size > 0);
    if (arena->failed || (uint64_t)count > (uint64_t)(INT64_MAX / 4) / size)
    {
        arena->failed = true;
        return NULL;
    }
    const size_t bytes = ((size_t)count * size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    arena_block* block = arena->newest;
    if (!block || block->capacity - block->used < bytes) block = add_block(arena, bytes);
    if (!block)
    {
        arena->failed = true;
        return NULL;
    }
    void* piece = (char*)block + HEADER_BYTES + block->used;
    block->used += bytes;
    return memset(piece, 0, bytes);
}

char* flx__arena_text(flx__arena* arena, const char* text, size_t length)
{
    char* copy = flx__arena_take(arena, (int64_t)length + 1, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

bool flx__arena_failed(const flx__arena* arena)
{
    return arena->failed;
}
