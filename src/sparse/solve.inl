// The substitutions in one precision. The including file defines REAL, PANELS, WORK, SUFFIX(name) and KERNEL(name).

typedef struct SUFFIX(pass)
{
    flx_factor* f;
    REAL*       b[3];
    int64_t     begin; // first row to load or store

    const flx__piece* piece; // of the top, in work
    const int32_t*    slot;
} SUFFIX(pass);

static void SUFFIX(load)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const SUFFIX(pass)* s = user;
    const REAL* b0        = s->b[0] + s->begin;
    const REAL* b1        = s->b[1] + s->begin;
    const REAL* b2        = s->b[2] + s->begin;
    REAL*       x         = s->f->WORK.x + 4 * s->begin;
    (void)worker;
    for (int64_t i = begin; i < end; ++i)
    {
        x[4 * i]     = b0[i];
        x[4 * i + 1] = b1[i];
        x[4 * i + 2] = b2[i];
        x[4 * i + 3] = 0;
    }
}

static void SUFFIX(store)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const SUFFIX(pass)* s = user;
    REAL*       b0        = s->b[0] + s->begin;
    REAL*       b1        = s->b[1] + s->begin;
    REAL*       b2        = s->b[2] + s->begin;
    const REAL* x         = s->f->WORK.x + 4 * s->begin;
    (void)worker;
    for (int64_t i = begin; i < end; ++i)
    {
        b0[i] = x[4 * i];
        b1[i] = x[4 * i + 1];
        b2[i] = x[4 * i + 2];
    }
}

/// Clear the slots that padding and, in the forward pass, rows outside of a task are added to.
static void SUFFIX(clear)(const flx_factor* f, int64_t begin, int64_t end)
{
    memset(f->WORK.x + 4 * begin, 0, (size_t)(end - begin) * 4 * sizeof(REAL));
}

static const int32_t* SUFFIX(slots)(const flx_factor* f, int32_t s, const flx__piece* p)
{
    return f->plan.slot + f->plan.slot_first[s] + p->offset + p->width;
}

// --- forward -----------------------------------------------------------------------------------------------

static void SUFFIX(forward_task)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const SUFFIX(pass)* pass = user;
    const flx_factor* f      = pass->f;
    REAL*             x      = f->WORK.x;
    (void)worker;
    for (int64_t k = begin; k < end; ++k)
    {
        const int32_t t = f->plan.division.schedule[k];
        SUFFIX(clear)(f, f->sym.n + f->plan.out_first[t], f->sym.n + f->plan.out_first[t + 1]);
        for (int32_t s = f->plan.division.begin[t]; s < f->plan.division.end[t]; ++s)
            for (int32_t q = f->panels.piece_first[s]; q < f->panels.piece_first[s + 1]; ++q)
            {
                const flx__piece* p    = &f->panels.piece[q];
                const int32_t     rows = (int32_t)flx__padded(p->rows);
                REAL*             y    = x + 4 * (int64_t)p->first;
                f->kernels.KERNEL(forward_diagonal)(f->panels.PANELS + p->diagonal, p->width, y);
                f->kernels.KERNEL(forward_below)(f->panels.PANELS + p->below, p->width, rows, 0, rows,
                                                 SUFFIX(slots)(f, s, p), y, x);
            }
    }
}

static void SUFFIX(forward_rows)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const SUFFIX(pass)* pass = user;
    const flx_factor* f      = pass->f;
    const flx__piece* p      = pass->piece;
    REAL*             x      = f->WORK.x;
    (void)worker;
    f->kernels.KERNEL(forward_below)(f->panels.PANELS + p->below, p->width, (int32_t)flx__padded(p->rows),
                                     (int32_t)begin, (int32_t)end, pass->slot, x + 4 * (int64_t)p->first, x);
}

/// Add what the tasks gathered for rows above them, task after task.
static void SUFFIX(gather)(const flx_factor* f)
{
    REAL*       x    = f->WORK.x;
    const REAL* from = x + 4 * (int64_t)f->sym.n;
    for (int64_t q = 0; q < f->plan.out_first[f->plan.division.task_count]; ++q)
    {
        if (f->plan.out_row[q] < 0) continue;
        REAL* to = x + 4 * (int64_t)f->plan.out_row[q];
        for (int c = 0; c < 4; ++c) to[c] += from[4 * q + c];
    }
}

static void SUFFIX(forward)(flx_factor* f, REAL* const b[3])
{
    SUFFIX(pass) pass = {.f = f, .b = {b[0], b[1], b[2]}};
    flx__parallel_for(f->ctx, f->sym.n, 8192, SUFFIX(load), &pass);
    SUFFIX(clear)(f, f->plan.pad, f->plan.pad + 1);
    flx__parallel_for(f->ctx, f->plan.division.task_count, 1, SUFFIX(forward_task), &pass);
    SUFFIX(gather)(f);
    for (int32_t k = 0; k < f->plan.division.top_count; ++k)
    {
        const int32_t s = f->plan.division.top[k];
        for (int32_t q = f->panels.piece_first[s]; q < f->panels.piece_first[s + 1]; ++q)
        {
            const flx__piece* p = &f->panels.piece[q];
            f->kernels.KERNEL(forward_diagonal)(f->panels.PANELS + p->diagonal, p->width,
                                                f->WORK.x + 4 * (int64_t)p->first);
            pass.piece = p;
            pass.slot  = SUFFIX(slots)(f, s, p);
            flx__parallel_for(f->ctx, flx__padded(p->rows), FLX__SOLVE_ROWS, SUFFIX(forward_rows), &pass);
        }
    }
    flx__parallel_for(f->ctx, f->sym.n, 8192, SUFFIX(store), &pass);
}

// --- backward ------------------------------------------------------------------------------------------------

static void SUFFIX(backward_task)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const SUFFIX(pass)* pass  = user;
    const flx_factor* f       = pass->f;
    REAL*             x       = f->WORK.x;
    REAL*             scratch = f->WORK.scratch + (int64_t)worker * FLX__SUBSTITUTE_SCRATCH;
    REAL              sum[4 * FLX__PIECE] __attribute__((aligned(64)));
    for (int64_t k = begin; k < end; ++k)
    {
        const int32_t t = f->plan.division.schedule[k];
        for (int64_t q = f->plan.out_first[t]; q < f->plan.out_first[t + 1]; ++q)
        {
            const int32_t row = f->plan.out_row[q];
            for (int c = 0; c < 4; ++c) x[4 * (f->sym.n + q) + c] = row < 0 ? 0 : x[4 * (int64_t)row + c];
        }
        for (int32_t s = f->plan.division.end[t] - 1; s >= f->plan.division.begin[t]; --s)
            for (int32_t q = f->panels.piece_first[s + 1] - 1; q >= f->panels.piece_first[s]; --q)
            {
                const flx__piece* p    = &f->panels.piece[q];
                const int32_t     rows = (int32_t)flx__padded(p->rows);
                f->kernels.KERNEL(backward_below)(f->panels.PANELS + p->below, p->width, rows, 0, rows,
                                                  SUFFIX(slots)(f, s, p), x, sum, scratch);
                f->kernels.KERNEL(backward_diagonal)(f->panels.PANELS + p->transposed, p->width, sum,
                                                     x + 4 * (int64_t)p->first);
            }
    }
}

static void SUFFIX(backward_rows)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const SUFFIX(pass)* pass = user;
    const flx_factor* f      = pass->f;
    const flx__piece* p      = pass->piece;
    REAL*             sum    = f->WORK.partial + (begin / FLX__SOLVE_ROWS + 1) * 4 * p->width;
    f->kernels.KERNEL(backward_below)(f->panels.PANELS + p->below, p->width, (int32_t)flx__padded(p->rows),
                                      (int32_t)begin, (int32_t)end, pass->slot, f->WORK.x, sum,
                                      f->WORK.scratch + (int64_t)worker * FLX__SUBSTITUTE_SCRATCH);
}

static void SUFFIX(backward_piece)(flx_factor* f, int32_t s, const flx__piece* p, SUFFIX(pass) * pass)
{
    const int64_t rows   = flx__padded(p->rows);
    const int64_t chunks = (rows + FLX__SOLVE_ROWS - 1) / FLX__SOLVE_ROWS;
    REAL*         sum    = f->WORK.partial;
    pass->piece          = p;
    pass->slot           = SUFFIX(slots)(f, s, p);
    flx__parallel_for(f->ctx, rows, FLX__SOLVE_ROWS, SUFFIX(backward_rows), pass);
    memset(sum, 0, 4 * (size_t)p->width * sizeof *sum);
    for (int64_t chunk = 1; chunk <= chunks; ++chunk)
        for (int32_t i = 0; i < 4 * p->width; ++i) sum[i] += sum[chunk * 4 * p->width + i];
    f->kernels.KERNEL(backward_diagonal)(f->panels.PANELS + p->transposed, p->width, sum,
                                         f->WORK.x + 4 * (int64_t)p->first);
}

static void SUFFIX(backward)(flx_factor* f, REAL* const b[3])
{
    SUFFIX(pass) pass = {.f = f, .b = {b[0], b[1], b[2]}};
    flx__parallel_for(f->ctx, f->sym.n, 8192, SUFFIX(load), &pass);
    SUFFIX(clear)(f, f->plan.pad, f->plan.pad + 1);
    for (int32_t k = f->plan.division.top_count - 1; k >= 0; --k)
    {
        const int32_t s = f->plan.division.top[k];
        for (int32_t q = f->panels.piece_first[s + 1] - 1; q >= f->panels.piece_first[s]; --q)
            SUFFIX(backward_piece)(f, s, &f->panels.piece[q], &pass);
    }
    flx__parallel_for(f->ctx, f->plan.division.task_count, 1, SUFFIX(backward_task), &pass);
    flx__parallel_for(f->ctx, f->sym.free_count, 8192, SUFFIX(store), &pass);
}
