// Workers and flx__parallel_for, the only threading primitive.
//
// Chunks are handed out by an atomic counter; which worker gets which chunk is free, what a chunk computes is not.
// A loop has a gate: workers that see it open join, and the caller closes it when no chunk is left and waits for those
// that joined only. A worker that sleeps, or that a busy machine does not run, holds nobody up.
// Workers spin briefly before they sleep: a step has dozens of short loops.
#include "base/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

// The gate: workers inside, one bit for open, and the number of the loop.
#define GATE_INSIDE UINT64_C(0xffff)
#define GATE_OPEN (UINT64_C(1) << 16)
#define GATE_LOOP (UINT64_C(1) << 17)

struct flx_workers
{
    int32_t         thread_count; // without the caller
    pthread_t       thread[255];
    pthread_mutex_t lock;
    pthread_cond_t  wake;
    pthread_cond_t  idle;

    _Atomic uint64_t gate;
    _Atomic int64_t  next; // next chunk of the current loop
    _Atomic bool     stop;

    // written by the caller while the gate is closed, read by workers inside
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

static bool is_new_loop(uint64_t gate, uint64_t last)
{
    return (gate & GATE_OPEN) && gate / GATE_LOOP != last;
}

/// Until a loop opens that this worker has not joined; false when the workers are to stop.
static bool wait_for_loop(flx_workers* w, uint64_t last)
{
    for (int i = 0; i < SPINS; ++i)
    {
        if (atomic_load_explicit(&w->stop, memory_order_acquire)) return false;
        if (is_new_loop(atomic_load_explicit(&w->gate, memory_order_acquire), last)) return true;
        relax();
    }
    pthread_mutex_lock(&w->lock);
    while (!atomic_load(&w->stop) && !is_new_loop(atomic_load(&w->gate), last)) pthread_cond_wait(&w->wake, &w->lock);
    pthread_mutex_unlock(&w->lock);
    return !atomic_load(&w->stop);
}

/// Join the open loop; false when it closed meanwhile.
static bool enter(flx_workers* w, uint64_t* last)
{
    uint64_t gate = atomic_load_explicit(&w->gate, memory_order_acquire);
    while (is_new_loop(gate, *last))
    {
        if (!atomic_compare_exchange_weak_explicit(&w->gate, &gate, gate + 1, memory_order_acq_rel,
                                                   memory_order_acquire))
            continue;
        *last = gate / GATE_LOOP;
        return true;
    }
    return false;
}

static void leave(flx_workers* w)
{
    const uint64_t before = atomic_fetch_sub_explicit(&w->gate, 1, memory_order_acq_rel);
    if ((before & GATE_OPEN) || (before & GATE_INSIDE) != 1) return;
    pthread_mutex_lock(&w->lock); // the caller may sleep until the last one is out
    pthread_cond_broadcast(&w->idle);
    pthread_mutex_unlock(&w->lock);
}

static void* worker_main(void* argument)
{
    worker_start start = *(worker_start*)argument;
    flx_workers* w     = start.workers;
    uint64_t     last  = 0; // loop joined last

    // argument lives on the creator's stack: tell it that it has been read
    pthread_mutex_lock(&w->lock);
    ((worker_start*)argument)->workers = NULL;
    pthread_cond_broadcast(&w->idle);
    pthread_mutex_unlock(&w->lock);

    while (wait_for_loop(w, last))
    {
        if (!enter(w, &last)) continue;
        run_chunks(w, start.index);
        leave(w);
    }
    return NULL;
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
        worker_start start = {w, i};
        if (pthread_create(&w->thread[w->thread_count], NULL, worker_main, &start) != 0) break; // fewer will do
        pthread_mutex_lock(&w->lock);
        while (start.workers) pthread_cond_wait(&w->idle, &w->lock);
        pthread_mutex_unlock(&w->lock);
        ++w->thread_count;
    }
    return true;
}

static void open_gate(flx_workers* w)
{
    pthread_mutex_lock(&w->lock);
    const uint64_t loop = atomic_load_explicit(&w->gate, memory_order_relaxed) / GATE_LOOP + 1;
    atomic_store_explicit(&w->gate, loop * GATE_LOOP | GATE_OPEN, memory_order_release);
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

/// Nobody enters any more; wait for those inside.
static void close_gate(flx_workers* w)
{
    uint64_t gate = atomic_fetch_and_explicit(&w->gate, ~GATE_OPEN, memory_order_acq_rel);
    for (int i = 0; i < SPINS && (gate & GATE_INSIDE); ++i)
    {
        relax();
        gate = atomic_load_explicit(&w->gate, memory_order_acquire);
    }
    if (!(gate & GATE_INSIDE)) return;
    pthread_mutex_lock(&w->lock);
    while (atomic_load(&w->gate) & GATE_INSIDE) pthread_cond_wait(&w->idle, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

void flx__workers_stop(flx_context* ctx)
{
    flx_workers* w = ctx->workers;
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    atomic_store(&w->stop, true);
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
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
    open_gate(w);
    run_chunks(w, 0);
    close_gate(w);
}
