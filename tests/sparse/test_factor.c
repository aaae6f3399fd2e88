#include "test.h"

#include "matrices.h"

// CHOLMOD's own OpenMP loops look like races to the thread sanitizer, which cannot see into libgomp.
#if defined(__SANITIZE_THREAD__)
#undef FLX_HAVE_CHOLMOD
#endif
#ifdef FLX_HAVE_CHOLMOD
#include <cholmod.h>
#endif

// --- the matrices -----------------------------------------------------------------------------------------------

/// Make the diagonal dominate: positive definite whatever the signs of the entries.
static void dominate(edges* e)
{
    for (int32_t i = 0; i < e->n; ++i) e->diagonal[i] = 1.0;
    for (int64_t k = 0; k < e->count; ++k)
    {
        e->diagonal[e->i[k]] += fabs(e->value[k]);
        e->diagonal[e->j[k]] += fabs(e->value[k]);
    }
}

static edges random_sparse(int32_t n, int32_t per_row, uint64_t seed)
{
    edges e = edges_new(n);
    for (int32_t i = 0; i < n; ++i)
        for (int32_t k = 0; k < per_row; ++k)
        {
            const int32_t j = (int32_t)(test_random(&seed) * n);
            if (i != j) edges_add(&e, i, j, 2.0 * test_random(&seed) - 1.0);
        }
    dominate(&e);
    return e;
}

static edges arrow(int32_t n, bool last)
{
    edges e = edges_new(n);
    for (int32_t i = 1; i < n; ++i) edges_add(&e, last ? i - 1 : i, last ? n - 1 : 0, 0.5);
    dominate(&e);
    return e;
}

static edges banded(int32_t n, int32_t band)
{
    edges    e    = edges_new(n);
    uint64_t seed = 5;
    for (int32_t i = 0; i < n; ++i)
        for (int32_t k = 1; k <= band && i + k < n; ++k) edges_add(&e, i, i + k, test_random(&seed) - 0.5);
    dominate(&e);
    return e;
}

static edges diagonal_only(int32_t n)
{
    edges e = edges_new(n);
    for (int32_t i = 0; i < n; ++i) e.diagonal[i] = 1.0 + i;
    return e;
}

/// Lattice held by few springs.
static edges held_lattice(int32_t nx, int32_t ny, int32_t nz)
{
    edges e = edges_lattice(nx, ny, nz, NULL, NULL);
    for (int32_t v = 0; v < e.n; v += 17) e.diagonal[v] += 2.0;
    return e;
}

static bool two_bars(int32_t x, int32_t y, int32_t z)
{
    (void)x;
    (void)z;
    return y == 0 || y == 3;
}

static edges several_components(void)
{
    edges e = edges_lattice(4, 4, 3, two_bars, NULL);
    for (int32_t v = 0; v < e.n; v += 5) e.diagonal[v] += 1.0;
    return e;
}

#define CASES 14
static edges make_case(int32_t which)
{
    switch (which)
    {
    case 0:
        return diagonal_only(1);
    case 1:
        return banded(2, 1);
    case 2:
        return diagonal_only(40);
    case 3:
        return arrow(60, true);
    case 4:
        return arrow(60, false);
    case 5:
        return banded(200, 3);
    case 6:
        return banded(150, 149); // dense
    case 7:
        return random_sparse(120, 2, 1);
    case 8:
        return random_sparse(300, 3, 2);
    case 9:
        return random_sparse(90, 20, 3);
    case 10:
        return held_lattice(3, 3, 3);
    case 11:
        return held_lattice(9, 3, 3);
    case 12:
        return several_components();
    default:
        return banded(400, 140); // wider than one piece
    }
}

// --- dense reference ----------------------------------------------------------------------------------------------

static double* dense_of(const flx_csc* a)
{
    const int64_t n = a->n;
    double*       d = calloc((size_t)(n * n) + 1, sizeof *d);
    for (int64_t j = 0; j < n; ++j)
        for (int64_t p = a->first[j]; p < a->first[j + 1]; ++p)
            d[a->row[p] + j * n] = d[j + a->row[p] * n] = a->value[p];
    return d;
}

/// Eliminate the first `count` unknowns of a full symmetric matrix; what is left of the rest is Sigma.
static void eliminate(double* d, int64_t n, int64_t count)
{
    for (int64_t k = 0; k < count; ++k)
        for (int64_t j = k + 1; j < n; ++j)
        {
            const double factor = d[k + j * n] / d[k + k * n];
            for (int64_t i = k + 1; i < n; ++i) d[i + j * n] -= factor * d[i + k * n];
        }
}

typedef struct system_under_test
{
    flx_context* ctx;
    flx_csc      a;
    flx_factor*  f;
    double*      x[3]; // the solution that belongs to b
    double*      b[3];
    float*       b32[3];
} system_under_test;

static void open_system(system_under_test* s, const edges* e, int32_t workers, const char* isa, int32_t free_count,
                        const int32_t* order)
{
    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = workers;
    desc.isa              = isa;
    if (flx_context_create(&desc, &s->ctx) != FLX_OK) fail_msg("no context");
    flx_context*       ctx     = s->ctx;
    flx_factor_options options = {.single = true, .keep_double = true};
    s->a                       = edges_matrix(e, order);
    CHECK_OK(flx__factor_create(ctx, &s->a, free_count, &options, NULL, &s->f));
    uint64_t seed = 99;
    for (int c = 0; c < 3; ++c)
    {
        s->x[c]   = malloc((size_t)e->n * sizeof(double));
        s->b[c]   = malloc((size_t)e->n * sizeof(double));
        s->b32[c] = malloc((size_t)e->n * sizeof(float));
        for (int32_t i = 0; i < e->n; ++i) s->x[c][i] = 2.0 * test_random(&seed) - 1.0;
        csc_multiply(&s->a, s->x[c], s->b[c]);
        for (int32_t i = 0; i < e->n; ++i) s->b32[c][i] = (float)s->b[c][i];
    }
}

static void close_system(system_under_test* s)
{
    flx__factor_destroy(s->f);
    assert_int_equal(flx_context_bytes_now(s->ctx), 0);
    flx_context_destroy(s->ctx);
    for (int c = 0; c < 3; ++c)
    {
        free(s->x[c]);
        free(s->b[c]);
        free(s->b32[c]);
    }
    csc_free(&s->a);
}

/// Forward, the dense solve of Sigma's block, backward: b becomes A^-1 b.
static void solve_all(system_under_test* s, int32_t free_count)
{
    flx_context*  ctx = s->ctx;
    const int32_t n2  = s->a.n - free_count;
    double*       l   = malloc(((size_t)n2 * (size_t)n2 + 1) * sizeof *l);
    memcpy(l, flx__factor_schur(s->f), (size_t)n2 * (size_t)n2 * sizeof *l);
    if (n2 > 0) CHECK_OK(flx__dense_cholesky_f64(ctx, n2, l, n2, NULL));

    const int64_t allocations = flx_context_allocation_count(ctx);
    flx__factor_forward_f64(s->f, s->b);
    flx__factor_forward_f32(s->f, s->b32);
    for (int c = 0; c < 3; ++c)
    {
        double* part = malloc((size_t)n2 * sizeof *part + 8);
        for (int32_t i = 0; i < n2; ++i) part[i] = s->b32[c][free_count + i];
        flx__dense_solve_f64(ctx, n2, l, n2, s->b[c] + free_count, n2, 1);
        flx__dense_solve_f64(ctx, n2, l, n2, part, n2, 1);
        for (int32_t i = 0; i < n2; ++i) s->b32[c][free_count + i] = (float)part[i];
        free(part);
    }
    flx__factor_backward_f64(s->f, s->b);
    flx__factor_backward_f32(s->f, s->b32);
    assert_int_equal(flx_context_allocation_count(ctx), allocations); // no heap in a solve
    free(l);
}

static double largest(const double* x, int64_t n)
{
    double m = 0.0;
    for (int64_t i = 0; i < n; ++i) m = fmax(m, fabs(x[i]));
    return m;
}

// --- promises ------------------------------------------------------------------------------------------------------

static void check_case(const edges* e, const int32_t* order, int32_t free_count, const char* isa)
{
    system_under_test s;
    open_system(&s, e, 2, isa, free_count, order);
    const int64_t n = e->n, n2 = n - free_count;

    double*      d     = dense_of(&s.a);
    const double scale = largest(d, n * n);
    eliminate(d, n, free_count);
    const double* schur = flx__factor_schur(s.f);
    for (int64_t j = 0; j < n2; ++j)
        for (int64_t i = 0; i < n2; ++i)
        {
            // rounding of some hundred products beside the largest entry
            CHECK_NEAR(schur[i + j * n2], d[free_count + i + (free_count + j) * n], 1e-12 * scale);
            assert_true(schur[i + j * n2] == schur[j + i * n2]);
        }
    free(d);

    solve_all(&s, free_count);
    for (int c = 0; c < 3; ++c)
        for (int64_t i = 0; i < n; ++i)
        {
            CHECK_NEAR(s.b[c][i], s.x[c][i], 1e-9);           // condition below 1e5
            CHECK_NEAR((double)s.b32[c][i], s.x[c][i], 2e-3); // the same in single precision
        }
    close_system(&s);
}

static void schur_and_solutions_equal_a_dense_computation(void** state)
{
    (void)state;
    const char* const isas[] = {"auto", "scalar"};
    for (int32_t which = 0; which < CASES; ++which)
    {
        edges         e        = make_case(which);
        const int32_t counts[] = {e.n, 0, e.n / 2, e.n - e.n / 7};
        for (int k = 0; k < 4; ++k) check_case(&e, NULL, counts[k], isas[k % 2]);
        edges_free(&e);
    }
}

static void every_instruction_set_solves(void** state)
{
    (void)state;
    const char* const isas[] = {"scalar", "sse2", "avx2", "avx512"};
    edges             e      = held_lattice(6, 4, 4);
    for (int k = 0; k < 4; ++k)
    {
        flx_context_desc desc = flx_context_desc_default();
        flx_context*     ctx  = NULL;
        desc.isa              = isas[k];
        if (flx_context_create(&desc, &ctx) != FLX_OK) continue; // not on this processor
        flx_context_destroy(ctx);
        check_case(&e, NULL, e.n, isas[k]);
        check_case(&e, NULL, e.n - 77, isas[k]);
    }
    edges_free(&e);
}

static void ordered_lattices_with_prone_vertices_are_solved(void** state)
{
    (void)state;
    flx_context* ctx   = test_context(1);
    edges        e     = held_lattice(7, 6, 5);
    flx_graph    graph = edges_graph(&e);
    int32_t*     order = malloc((size_t)e.n * sizeof *order);
    uint8_t*     prone = calloc((size_t)e.n, 1);
    int32_t      count = e.n;
    for (int32_t v = 0; v < e.n; ++v)
        if (v % 9 < 2)
        {
            prone[v] = 1;
            --count;
        }
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, prone, order));
    check_case(&e, order, count, "auto");
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, NULL, order));
    check_case(&e, order, e.n, "auto");
    free(order);
    free(prone);
    graph_free(&graph);
    edges_free(&e);
    flx_context_destroy(ctx);
}

static void partial_solves_keep_the_prone_part(void** state)
{
    (void)state;
    edges             e = held_lattice(5, 4, 4);
    system_under_test s;
    const int32_t     n1 = e.n - 60;
    open_system(&s, &e, 2, "auto", n1, NULL);
    double* before[3];
    flx__factor_forward_f64(s.f, s.b);
    for (int c = 0; c < 3; ++c)
    {
        before[c] = malloc(60 * sizeof(double));
        memcpy(before[c], s.b[c] + n1, 60 * sizeof(double));
    }
    flx__factor_backward_f64(s.f, s.b);
    for (int c = 0; c < 3; ++c)
    {
        assert_memory_equal(before[c], s.b[c] + n1, 60 * sizeof(double));
        free(before[c]);
    }
    close_system(&s);
    edges_free(&e);
}

/// Forward and backward with free_count == n are L and its transpose: (L x)' (L x) = x' A x for x = L^-T u.
static void forward_and_backward_are_transposes_of_one_factor(void** state)
{
    (void)state;
    edges             e = held_lattice(5, 4, 3);
    system_under_test s;
    open_system(&s, &e, 1, "auto", e.n, NULL);
    double* u[3];
    double* au = malloc((size_t)e.n * sizeof *au);
    for (int c = 0; c < 3; ++c)
    {
        u[c] = malloc((size_t)e.n * sizeof(double));
        memcpy(u[c], s.x[c], (size_t)e.n * sizeof(double));
    }
    flx__factor_backward_f64(s.f, u); // u = L^-T x
    for (int c = 0; c < 3; ++c)
    {
        double uau = 0.0, xx = 0.0;
        csc_multiply(&s.a, u[c], au);
        for (int32_t i = 0; i < e.n; ++i)
        {
            uau += u[c][i] * au[i];
            xx += s.x[c][i] * s.x[c][i];
        }
        CHECK_NEAR(uau, xx, 1e-11 * xx); // (L^-T x)' L L' (L^-T x) = x'x
    }
    // forward after A u gives L^-1 L L' u = L' u = x
    for (int c = 0; c < 3; ++c)
    {
        csc_multiply(&s.a, u[c], au);
        memcpy(u[c], au, (size_t)e.n * sizeof(double));
    }
    flx__factor_forward_f64(s.f, u);
    for (int c = 0; c < 3; ++c)
    {
        for (int32_t i = 0; i < e.n; ++i) CHECK_NEAR(u[c][i], s.x[c][i], 1e-10);
        free(u[c]);
    }
    free(au);
    close_system(&s);
    edges_free(&e);
}

static uint64_t hash_of(system_under_test* s, int32_t free_count)
{
    const int64_t n2   = s->a.n - free_count;
    uint64_t      hash = flx__hash(FLX_HASH_START, flx__factor_schur(s->f), n2 * n2 * (int64_t)sizeof(double));
    solve_all(s, free_count);
    for (int c = 0; c < 3; ++c)
    {
        hash = flx__hash(hash, s->b[c], s->a.n * (int64_t)sizeof(double));
        hash = flx__hash(hash, s->b32[c], s->a.n * (int64_t)sizeof(float));
    }
    return hash;
}

static void same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    const int32_t workers[] = {1, 2, 3, 8};
    flx_context*  ctx       = test_context(1);
    edges         e         = held_lattice(20, 12, 12); // large enough for several tasks and a tiled top
    flx_graph     graph     = edges_graph(&e);
    int32_t*      order     = malloc((size_t)e.n * sizeof *order);
    uint8_t*      prone     = calloc((size_t)e.n, 1);
    int32_t       count     = e.n;
    for (int32_t v = 0; v < e.n; ++v)
        if (v % 13 == 0)
        {
            prone[v] = 1;
            --count;
        }
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, prone, order));
    uint64_t first = 0;
    for (int k = 0; k < 4; ++k)
    {
        system_under_test s;
        open_system(&s, &e, workers[k], "auto", count, order);
        const uint64_t hash = hash_of(&s, count);
        if (k == 0) first = hash;
        assert_true(hash == first);
        for (int c = 0; c < 3; ++c)
            for (int32_t i = 0; i < e.n; ++i)
            {
                CHECK_NEAR(s.b[c][i], s.x[c][i], 1e-9);
                CHECK_NEAR((double)s.b32[c][i], s.x[c][i], 1e-3);
            }
        close_system(&s);
    }
    free(order);
    free(prone);
    graph_free(&graph);
    edges_free(&e);
    flx_context_destroy(ctx);
}

static void single_precision_equals_double_within_1e_4(void** state)
{
    (void)state;
    edges e = edges_lattice(8, 5, 5, NULL, NULL);
    for (int32_t v = 0; v < e.n; ++v) e.diagonal[v] += 0.5; // condition about 50
    system_under_test s;
    open_system(&s, &e, 2, "auto", e.n - 100, NULL);
    flx__factor_forward_f64(s.f, s.b);
    flx__factor_forward_f32(s.f, s.b32);
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < e.n; ++i) CHECK_NEAR((double)s.b32[c][i], s.b[c][i], 1e-4 * largest(s.b[c], e.n));
    flx__factor_backward_f64(s.f, s.b);
    flx__factor_backward_f32(s.f, s.b32);
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < e.n; ++i) CHECK_NEAR((double)s.b32[c][i], s.b[c][i], 1e-4 * largest(s.b[c], e.n));
    close_system(&s);
    edges_free(&e);
}

/// The answer of single-precision panels to b = A x, by a dense solve of Sigma; x[c][i] = 1 for c = 0, else random.
static void solve_single(flx_context* ctx, flx_factor* f, const flx_csc* a, int32_t free_count, float* x)
{
    const int32_t n = a->n, n2 = n - free_count;
    double*       l    = malloc(((size_t)n2 * (size_t)n2 + 1) * sizeof *l);
    double*       b    = malloc((size_t)n * sizeof *b);
    double*       one  = malloc((size_t)n * sizeof *one);
    float* const  y[3] = {x, x + n, x + 2 * (int64_t)n};
    uint64_t      seed = 99;
    for (int c = 0; c < 3; ++c)
    {
        for (int32_t i = 0; i < n; ++i) one[i] = c == 0 ? 1 : 2.0 * test_random(&seed) - 1.0;
        csc_multiply(a, one, b);
        for (int32_t i = 0; i < n; ++i) y[c][i] = (float)b[i];
    }
    memcpy(l, flx__factor_schur(f), (size_t)n2 * (size_t)n2 * sizeof *l);
    if (n2 > 0) CHECK_OK(flx__dense_cholesky_f64(ctx, n2, l, n2, NULL));
    flx__factor_forward_f32(f, y);
    for (int c = 0; c < 3; ++c)
    {
        for (int32_t i = 0; i < n2; ++i) b[i] = (double)y[c][free_count + i];
        flx__dense_solve_f64(ctx, n2, l, n2, b, n2, 1);
        for (int32_t i = 0; i < n2; ++i) y[c][free_count + i] = (float)b[i];
    }
    flx__factor_backward_f32(f, y);
    free(l);
    free(b);
    free(one);
}

/// A lattice of several tasks and a tiled top, held by springs of this stiffness, every 13th vertex prone.
static flx_csc large_lattice(double stiffness, int32_t* free_count)
{
    flx_context* ctx   = test_context(1);
    edges        e     = edges_lattice(20, 12, 12, NULL, NULL);
    flx_graph    graph = edges_graph(&e);
    int32_t*     order = malloc((size_t)e.n * sizeof *order);
    uint8_t*     prone = calloc((size_t)e.n, 1);
    *free_count        = e.n;
    for (int32_t v = 0; v < e.n; v += 13)
    {
        prone[v] = 1;
        --*free_count;
    }
    for (int32_t v = 0; v < e.n; v += 17) e.diagonal[v] += stiffness;
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, prone, order));
    const flx_csc a = edges_matrix(&e, order);
    free(order);
    free(prone);
    graph_free(&graph);
    edges_free(&e);
    flx_context_destroy(ctx);
    return a;
}

static void single_arithmetic_solves_with_the_same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    const int32_t            workers[] = {1, 2, 3, 8};
    const flx_factor_options options   = {.single = true, .single_arithmetic = true};
    int32_t                  n1;
    flx_csc                  a     = large_lattice(2.0, &n1);
    const int64_t            n2    = a.n - n1;
    float*                   x     = malloc(3 * (size_t)a.n * sizeof *x);
    uint64_t                 first = 0;
    for (int k = 0; k < 4; ++k)
    {
        flx_context* ctx = test_context(workers[k]);
        flx_factor*  f   = NULL;
        CHECK_OK(flx__factor_create(ctx, &a, n1, &options, NULL, &f));
        assert_true(flx__factor_get_info(f).single_arithmetic);
        uint64_t hash = flx__hash(FLX_HASH_START, flx__factor_schur(f), n2 * n2 * (int64_t)sizeof(double));
        solve_single(ctx, f, &a, n1, x);
        hash          = flx__hash(hash, x, 3 * (int64_t)a.n * (int64_t)sizeof *x);
        uint64_t seed = 99;
        for (int32_t i = 0; i < a.n; ++i) CHECK_NEAR((double)x[i], 1.0, 1e-4); // the softest motion
        for (int32_t i = a.n; i < 3 * a.n; ++i) CHECK_NEAR((double)x[i], 2.0 * test_random(&seed) - 1.0, 1e-3);
        if (k == 0) first = hash;
        assert_true(hash == first);
        flx__factor_destroy(f);
        flx_context_destroy(ctx);
    }
    free(x);
    csc_free(&a);
}

static void what_single_arithmetic_would_spoil_is_done_in_double(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    int32_t      n1;
    flx_csc      a    = large_lattice(1e-5, &n1); // 1e7 times softer than it is stiff inside
    float*       x[2] = {malloc(3 * (size_t)a.n * sizeof(float)), malloc(3 * (size_t)a.n * sizeof(float))};
    for (int k = 0; k < 2; ++k)
    {
        const flx_factor_options options = {.single = true, .single_arithmetic = k == 1};
        flx_factor*              f       = NULL;
        CHECK_OK(flx__factor_create(ctx, &a, n1, &options, NULL, &f));
        assert_false(flx__factor_get_info(f).single_arithmetic);
        solve_single(ctx, f, &a, n1, x[k]);
        flx__factor_destroy(f);
    }
    assert_memory_equal(x[0], x[1], 3 * (size_t)a.n * sizeof(float));
    free(x[0]);
    free(x[1]);
    csc_free(&a);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void a_component_that_nothing_holds_is_named(void** state)
{
    (void)state;
    flx_context*       ctx     = test_context(2);
    flx_factor_options options = {.single = true};
    edges              e       = edges_lattice(4, 4, 3, two_bars, NULL);
    int32_t(*at)[3];
    edges same = edges_lattice(4, 4, 3, two_bars, &at);
    edges_free(&same);
    for (int32_t v = 0; v < e.n; ++v)
        if (at[v][1] <= 2) e.diagonal[v] += 1.0; // only the bar at small y is held
    flx_graph graph = edges_graph(&e);
    int32_t*  order = malloc((size_t)e.n * sizeof *order);
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, NULL, order));
    flx_csc     a   = edges_matrix(&e, order);
    flx_factor* f   = NULL;
    int32_t     bad = -1;
    for (int k = 0; k < 2; ++k)
    {
        options.single_arithmetic = k == 1;
        CHECK_FAILS(flx__factor_create(ctx, &a, a.n, &options, &bad, &f), FLX_ERR_UNHELD);
        assert_null(f);
        assert_in_range(bad, 0, e.n - 1);
        assert_true(at[order[bad]][1] > 2);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    csc_free(&a);
    free(order);
    free(at);
    graph_free(&graph);
    edges_free(&e);
    flx_context_destroy(ctx);
}

static void indefinite_and_nonfinite_matrices_are_refused(void** state)
{
    (void)state;
    flx_context*       ctx     = test_context(1);
    flx_factor_options options = {.single = true};
    const double       evil[]  = {NAN, INFINITY, -INFINITY};
    flx_factor*        f       = NULL;
    int32_t            bad     = -1;
    edges              e       = banded(30, 3);
    for (int k = 0; k < 3; ++k)
        for (int32_t free_count = 0; free_count <= 30; free_count += 15)
        {
            flx_csc a                = edges_matrix(&e, NULL);
            a.value[a.first[20] + 1] = evil[k];
            CHECK_FAILS(flx__factor_create(ctx, &a, free_count, &options, &bad, &f), FLX_ERR_UNHELD);
            assert_int_equal(bad, 21);
            a.value[a.first[20] + 1] = 0.0;
            a.value[a.first[7]]      = evil[k];
            CHECK_FAILS(flx__factor_create(ctx, &a, free_count, &options, &bad, &f), FLX_ERR_UNHELD);
            assert_int_equal(bad, 7);
            csc_free(&a);
        }
    e.diagonal[11] = 0.01; // less than its neighbours take away
    flx_csc a      = edges_matrix(&e, NULL);
    CHECK_FAILS(flx__factor_create(ctx, &a, 30, &options, NULL, &f), FLX_ERR_UNHELD);
    CHECK_FAILS(flx__factor_create(ctx, &a, 31, &options, NULL, &f), FLX_ERR_ARGUMENT);
    csc_free(&a);
    edges_free(&e);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void fail_every_allocation(double stiffness, const flx_factor_options* options)
{
    flx_context* ctx = test_context(2);
    edges        e   = edges_lattice(3, 3, 3, NULL, NULL);
    for (int32_t v = 0; v < e.n; v += 17) e.diagonal[v] += stiffness;
    flx_csc     a         = edges_matrix(&e, NULL);
    flx_factor* f         = NULL;
    int64_t     countdown = 0;
    for (;; ++countdown)
    {
        flx_context_fail_allocation(ctx, countdown);
        const flx_status status = flx__factor_create(ctx, &a, a.n - 20, options, NULL, &f);
        flx_context_fail_allocation(ctx, -1);
        if (status == FLX_OK) break;
        assert_int_equal(status, FLX_ERR_MEMORY);
        assert_null(f);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    assert_true(countdown > 30);
    flx__factor_destroy(f);
    flx__factor_destroy(NULL);
    csc_free(&a);
    edges_free(&e);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void every_failed_allocation_leaves_nothing_behind(void** state)
{
    (void)state;
    fail_every_allocation(2.0, &(flx_factor_options){.single = true, .keep_double = true});
    fail_every_allocation(1e-7, &(flx_factor_options){.single = true, .single_arithmetic = true}); // twice: then double
}

static void the_top_of_the_tree_survives_failed_allocations_too(void** state)
{
    (void)state;
    flx_context*       ctx     = test_context(2);
    flx_factor_options options = {.single = true};
    edges              e       = held_lattice(12, 12, 12);
    flx_graph          graph   = edges_graph(&e);
    int32_t*           order   = malloc((size_t)e.n * sizeof *order);
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, NULL, order));
    flx_csc     a = edges_matrix(&e, order);
    flx_factor* f = NULL;
    CHECK_OK(flx__factor_create(ctx, &a, a.n, &options, NULL, &f));
    flx__factor_destroy(f);
    const int64_t before = flx_context_allocation_count(ctx);
    CHECK_OK(flx__factor_create(ctx, &a, a.n, &options, NULL, &f));
    flx__factor_destroy(f);
    const int64_t total = flx_context_allocation_count(ctx) - before;
    for (int64_t countdown = total - 1; countdown >= total - 8; --countdown) // the last ones happen above the tasks
    {
        flx_context_fail_allocation(ctx, countdown);
        CHECK_FAILS(flx__factor_create(ctx, &a, a.n, &options, NULL, &f), FLX_ERR_MEMORY);
        flx_context_fail_allocation(ctx, -1);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    csc_free(&a);
    free(order);
    graph_free(&graph);
    edges_free(&e);
    flx_context_destroy(ctx);
}

static void schur_is_handed_over_once(void** state)
{
    (void)state;
    edges             e = banded(20, 2);
    system_under_test s;
    open_system(&s, &e, 1, "auto", 15, NULL);
    double* schur = flx__factor_take_schur(s.f);
    assert_non_null(schur);
    assert_null(flx__factor_schur(s.f));
    assert_null(flx__factor_take_schur(s.f));
    flx__free(s.ctx, schur);
    close_system(&s);
    edges_free(&e);
}

static void solutions_equal_cholmod(void** state)
{
    (void)state;
#ifndef FLX_HAVE_CHOLMOD
    print_message("skipped: built without CHOLMOD (libsuitesparse-dev), or with the thread sanitizer\n");
    skip();
#else
    edges             e = held_lattice(9, 7, 6);
    system_under_test s;
    const int32_t     n1 = e.n - 150;
    open_system(&s, &e, 2, "auto", n1, NULL);

    cholmod_common c;
    cholmod_l_start(&c);
    cholmod_sparse* m =
        cholmod_l_allocate_sparse((size_t)e.n, (size_t)e.n, (size_t)s.a.first[e.n], 1, 1, -1, CHOLMOD_REAL, &c);
    for (int64_t j = 0; j <= e.n; ++j) ((int64_t*)m->p)[j] = s.a.first[j];
    for (int64_t p = 0; p < s.a.first[e.n]; ++p)
    {
        ((int64_t*)m->i)[p] = s.a.row[p];
        ((double*)m->x)[p]  = s.a.value[p];
    }
    cholmod_factor* l = cholmod_l_analyze(m, &c);
    cholmod_l_factorize(m, l, &c);
    cholmod_dense* b = cholmod_l_allocate_dense((size_t)e.n, 3, (size_t)e.n, CHOLMOD_REAL, &c);
    for (int k = 0; k < 3; ++k) memcpy((double*)b->x + (int64_t)k * e.n, s.b[k], (size_t)e.n * sizeof(double));
    cholmod_dense* x = cholmod_l_solve(CHOLMOD_A, l, b, &c);

    solve_all(&s, n1);
    for (int k = 0; k < 3; ++k)
    {
        const double* expected = (double*)x->x + (int64_t)k * e.n;
        for (int32_t i = 0; i < e.n; ++i)
        {
            CHECK_NEAR(s.b[k][i], expected[i], 1e-10);
            CHECK_NEAR((double)s.b32[k][i], expected[i], 1e-3);
        }
    }
    cholmod_l_free_dense(&b, &c);
    cholmod_l_free_dense(&x, &c);
    cholmod_l_free_factor(&l, &c);
    cholmod_l_free_sparse(&m, &c);
    cholmod_l_finish(&c);
    close_system(&s);
    edges_free(&e);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schur_and_solutions_equal_a_dense_computation),
        cmocka_unit_test(every_instruction_set_solves),
        cmocka_unit_test(ordered_lattices_with_prone_vertices_are_solved),
        cmocka_unit_test(partial_solves_keep_the_prone_part),
        cmocka_unit_test(forward_and_backward_are_transposes_of_one_factor),
        cmocka_unit_test(same_bits_for_any_number_of_workers),
        cmocka_unit_test(single_precision_equals_double_within_1e_4),
        cmocka_unit_test(single_arithmetic_solves_with_the_same_bits_for_any_number_of_workers),
        cmocka_unit_test(what_single_arithmetic_would_spoil_is_done_in_double),
        cmocka_unit_test(a_component_that_nothing_holds_is_named),
        cmocka_unit_test(indefinite_and_nonfinite_matrices_are_refused),
        cmocka_unit_test(every_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(the_top_of_the_tree_survives_failed_allocations_too),
        cmocka_unit_test(schur_is_handed_over_once),
        cmocka_unit_test(solutions_equal_cholmod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
