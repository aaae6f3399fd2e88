// Workers and flx__parallel_for, the only threading primitive.
//
// Chunks are handed out by an atomic counter; which worker gets which chunk is free, what a chunk computes is not.
// Workers spin briefly before they sleep: a step has dozens of short loops.
#include "base/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct flx_workers
{
    int32_t        thread_count; // without the caller
    pthread_t      thread[255];
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_cond_t idle;

    _Atomic uint64_t generation; // one more for each loop
    _Atomic int64_t  next;       // next chunk of the current loop
    _Atomic int32_t  busy;       // threads that have not finished the current loop
    bool             stop;

    int64_t      count;
    int64_t      grain;
    int64_t      chunk_count;
    flx_range_fn body;
    void*        user;
};

typedef struct worker_start
{
    flx_workers* workers;
    int32_t      index;
} worker_start;

static void run_chunks(flx_workers* w, int32_t worker)
{
    for (;;)
    {
        const int64_t chunk = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
        if (chunk >= w->chunk_count) return;
        const int64_t begin = chunk * w->grain;
        const int64_t end   = begin + w->grain < w->count ? begin + w->grain : w->count;
        w->body(w->user, begin, end, worker);
    }
}

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

#define SPINS 2000

static void* worker_main(void* argument)
{
    worker_start start = *(worker_start*)argument;
    flx_workers* w     = start.workers;
    uint64_t     seen  = 0;

    // argument lives on the creator's stack: tell it that it has been read
    pthread_mutex_lock(&w->lock);
    ((worker_start*)argument)->workers = NULL;
    pthread_cond_broadcast(&w->idle);
    pthread_mutex_unlock(&w->lock);

    for (;;)
    {
        for (int i = 0; i < SPINS && atomic_load_explicit(&w->generation, memory_order_acquire) == seen; ++i) relax();
        if (atomic_load_explicit(&w->generation, memory_order_acquire) == seen)
        {
            pthread_mutex_lock(&w->lock);
            while (atomic_load(&w->generation) == seen) pthread_cond_wait(&w->wake, &w->lock);
            pthread_mutex_unlock(&w->lock);
        }
        seen = atomic_load_explicit(&w->generation, memory_order_acquire);
        if (w->stop) return NULL;

        run_chunks(w, start.index);

        if (atomic_fetch_sub_explicit(&w->busy, 1, memory_order_acq_rel) == 1)
        {
            pthread_mutex_lock(&w->lock);
            pthread_cond_broadcast(&w->idle);
            pthread_mutex_unlock(&w->lock);
        }
    }
}

bool flx__workers_start(flx_context* ctx)
{
    if (ctx->worker_count == 1) return true;
    flx_workers* w = ctx->desc.allocate(ctx->desc.memory_user, (sizeof *w + 63) & ~(size_t)63);
    if (!w) return false;
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    pthread_cond_init(&w->idle, NULL);
    ctx->workers = w;

    for (int32_t i = 1; i < ctx->worker_count; ++i)
    {
        worker_start start = { w, i };
        if (pthread_create(&w->thread[w->thread_count], NULL, worker_main, &start) != 0) break; // fewer will do
        pthread_mutex_lock(&w->lock);
        while (start.workers) pthread_cond_wait(&w->idle, &w->lock);
        pthread_mutex_unlock(&w->lock);
        ++w->thread_count;
    }
    return true;
}

static void publish(flx_workers* w)
{
    pthread_mutex_lock(&w->lock);
    atomic_fetch_add_explicit(&w->generation, 1, memory_order_release);
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

void flx__workers_stop(flx_context* ctx)
{
    flx_workers* w = ctx->workers;
    if (!w) return;
    w->stop = true;
    publish(w);
    for (int32_t i = 0; i < w->thread_count; ++i) pthread_join(w->thread[i], NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->wake);
    pthread_cond_destroy(&w->idle);
    ctx->desc.release(ctx->desc.memory_user, w, (sizeof *w + 63) & ~(size_t)63);
    ctx->workers = NULL;
}

void flx__parallel_for(flx_context* ctx, int64_t count, int64_t grain, flx_range_fn body, void* user)
{
    FLX_ASSERT(grain > 0);
    if (count <= 0) return;
    flx_workers*  w      = ctx->workers;
    const int64_t chunks = (count + grain - 1) / grain;
    if (!w || chunks == 1)
    {
        for (int64_t begin = 0; begin < count; begin += grain)
            body(user, begin, begin + grain < count ? begin + grain : count, 0);
        return;
    }
    w->count       = count;
    w->grain       = grain;
    w->chunk_count = chunks;
    w->body        = body;
    w->user        = user;
    atomic_store_explicit(&w->next, 0, memory_order_relaxed);
    atomic_store_explicit(&w->busy, w->thread_count, memory_order_relaxed);
    publish(w);

    run_chunks(w, 0);

    for (int i = 0; i < SPINS && atomic_load_explicit(&w->busy, memory_order_acquire) > 0; ++i) relax();
    if (atomic_load_explicit(&w->busy, memory_order_acquire) > 0)
    {
        pthread_mutex_lock(&w->lock);
        while (atomic_load(&w->busy) > 0) pthread_cond_wait(&w->idle, &w->lock);
        pthread_mutex_unlock(&w->lock);
    }
}
