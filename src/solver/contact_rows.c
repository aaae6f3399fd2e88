// Rows of the contacts that push, or may: U = W Sigma^-1, their Gram matrix, and what forces on them move.
//
//   B_ij = (U W^T)_ij (n_i . n_j) + delta_ij / c_i      unilateral law; without the normals for the spring law
//
// Rows join from a place on; those before it are kept. B is symmetric and stored whole, since a solve reads rows of any
// subset; a task writes the tile below the diagonal and its mirror image.
#include "solver/solver_internal.h"

#include "math/mat3.h"

#define TILE 8 // rows of B a task fills: as many as a cache line of its mirror image holds

typedef struct join_args
{
    flx_solver* s;
    int32_t     from; // first new place in the working set
    bool        normals;
} join_args;

/// The corners of a contact that are prone, with their weights, as row `i` of W.
static void write_corners(const flx_solver* s, int32_t i, flx_contact_row* row)
{
    const flx_contact* c = &s->contact.contact[s->contact.pushing[i]];
    row->count           = 0;
    for (int corner = 0; corner < FLX_CONTACT_CORNERS; ++corner)
    {
        if (c->vertex[corner] < s->n1 || c->weight[corner] == 0) continue; // unused corners are -1
        row->at[row->count]       = c->vertex[corner] - s->n1;
        row->weight[row->count++] = c->weight[corner];
    }
}

static void join_rows(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const join_args*  a    = user;
    const flx_solver* s    = a->s;
    const size_t      size = s->single ? sizeof(float) : sizeof(double);
    for (int64_t i = a->from + begin; i < a->from + end; ++i)
    {
        flx_contact_row* row = &s->contact.row[i];
        write_corners(s, (int32_t)i, row);
        (s->single ? s->kernel.rows_build_f32
                   : s->kernel.rows_build_f64)(s->schur_inverse, s->n2, row->count, row->at, row->weight,
                                               (char*)s->contact.rows + i * s->n2 * (int64_t)size);
    }
}

/// (U W^T)_ij = sum_b w_jb U_i[v_jb]
static double row_dot(const flx_solver* s, int64_t i, const flx_contact_row* j)
{
    double sum = 0;
    if (s->single)
    {
        const float* u = (const float*)s->contact.rows + i * s->n2;
        for (int32_t b = 0; b < j->count; ++b) sum += j->weight[b] * (double)u[j->at[b]];
    }
    else
    {
        const double* u = (const double*)s->contact.rows + i * s->n2;
        for (int32_t b = 0; b < j->count; ++b) sum += j->weight[b] * u[j->at[b]];
    }
    return sum;
}

static double gram_entry(const join_args* a, int64_t i, int64_t j)
{
    const flx_contact_work* w = &a->s->contact;
    const flx_contact *     c = &w->contact[w->pushing[i]], *d = &w->contact[w->pushing[j]];
    double                  b = row_dot(a->s, i, &w->row[j]);
    if (a->normals) b *= flx__dot3(c->normal, d->normal);
    return i == j ? b + 1 / flx__contact_stiffness(a->s, c) : b;
}

/// Tiles of TILE rows, from the first that holds a new row on; rows that were there already are left alone.
static void join_gram(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const join_args*  a     = user;
    flx_contact_work* w     = &a->s->contact;
    const int64_t     first = a->from / TILE;
    for (int64_t t = first + begin; t < first + end; ++t)
    {
        const int64_t i0 = t * TILE > a->from ? t * TILE : a->from;
        const int64_t i1 = (t + 1) * TILE < w->pushing_count ? (t + 1) * TILE : w->pushing_count;
        for (int64_t j = 0; j < i1; ++j)
            for (int64_t i = i0 > j ? i0 : j; i < i1; ++i)
                w->gram[i * w->gram_ld + j] = w->gram[j * w->gram_ld + i] = gram_entry(a, i, j);
    }
}

void flx__rows_join(flx_solver* s, int32_t from, bool normals)
{
    const flx_contact_work* w     = &s->contact;
    join_args               args  = {s, from, normals};
    const int32_t           tiles = (w->pushing_count + TILE - 1) / TILE - from / TILE;
    if (w->pushing_count == from) return;
    flx__parallel_for(s->ctx, w->pushing_count - from, 4, join_rows, &args);
    flx__parallel_for(s->ctx, tiles, 1, join_gram, &args);
}

typedef struct move_args
{
    flx_solver*   s;
    int32_t       count;
    const double* force[3];
} move_args;

static void move_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const move_args*        a = user;
    const flx_contact_work* w = &a->s->contact;
    (a->s->single ? a->s->kernel.rows_move_f32 : a->s->kernel.rows_move_f64)(w->rows, a->s->n2, a->count, a->force,
                                                                             begin, end, a->s->delta);
}

void flx__rows_move(flx_solver* s, int32_t count, double* const f[3])
{
    move_args args = {s, count, {f[0], f[1], f[2]}};
    flx__parallel_for(s->ctx, s->n2, 512, move_range, &args);
}
