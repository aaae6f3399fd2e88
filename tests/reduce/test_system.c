// The full order obeys the laws of what it discretises.
#include "reduce/lab.h"

#include "model/model.h"
#include "reduce/lab_shapes.h"

static void a_sheet_falls_as_bodies_do(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "B1", 15, 25, FLX_RUN_TRAIN);
    lab_run(&l);
    const flx_pd_system* s = l.e->system;
    for (int32_t t = 0; t <= 25; ++t)
    {
        const double fallen = 0.5 * 9.81 * s->h * s->h * t * (t + 1); // backward Euler's parabola
        for (int32_t i = 0; i < s->n; ++i)
        {
            const double* q = l.record.q + 3 * ((int64_t)t * s->n + i);
            CHECK_NEAR(q[0], s->x_rest[3 * i], 1e-11); // A is 3600 M and stiffer: a few ulps a round
            CHECK_NEAR(q[1], -fallen, 1e-11);
            CHECK_NEAR(q[2], s->x_rest[3 * i + 2], 1e-11);
        }
    }
    lab_close(&l);
}

static void momentum_is_what_the_poke_gave_and_stays(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "B2", 15, 25, FLX_RUN_TRAIN);
    flx_context* ctx = l.ctx;
    for (int32_t t = 1; t <= 25; ++t)
    {
        double linear[3], angular[3];
        CHECK_OK(flx__pd_frame(l.e->system, &l.drive, FLX_LAB_ROUNDS, &l.state, NULL, NULL));
        flx__pd_momentum(l.e->system, &l.state, linear, angular);
        const double given = 2000.0 * (t < 5 ? t : 5) * l.e->system->h;
        CHECK_NEAR(linear[0], 0.0, 1e-9 * given);
        CHECK_NEAR(linear[1], given, 1e-9 * given);
        CHECK_NEAR(linear[2], 0.0, 1e-9 * given);
    }
    lab_close(&l);
}

/// Forces of a rotation-invariant energy have no torque: for v_1 = v_0 + h M^-1 f(x_1), x_1 = x_0 + h v_1,
/// L_1 = L_0 + h sum m v_1 x v_0, as long as the rounds have converged.
static void internal_forces_have_no_torque(void** state)
{
    (void)state;
    flx_context*         ctx   = test_context(1);
    flx_lab_shape        shape = {0};
    flx_constraint_batch batch = {0};
    flx_pd_system*       s     = NULL;
    flx_pd_state         st    = {0};
    CHECK_OK(flx__lab_box(ctx, 2, &shape));
    CHECK_OK(flx__tet_strains(ctx, shape.x, shape.tet_count, shape.tet, NULL, 1.0, 1.0, &batch));
    for (int32_t j = 0; j < batch.count; ++j) batch.weight[j] *= 1e5;
    CHECK_OK(flx__pd_system_create(ctx, shape.n, shape.x, shape.mass, 1.0 / 60, 1, &batch, 0, NULL, 0.0, &s));
    CHECK_OK(flx__pd_state_create(s, &st));
    for (int32_t i = 0; i < s->n; ++i) // spin about (1, 2, -1), and a stretch to let it ring
    {
        double *q = st.q + 3 * i, *v = st.v + 3 * i;
        v[0] = 2 * q[2] + q[1], v[1] = -q[0] - q[2], v[2] = q[1] - 2 * q[0];
        q[0] *= 1.1;
    }
    for (int32_t t = 0; t < 20; ++t)
    {
        double  linear[3], before[3], after[3], turn[3] = {0};
        double* old = malloc(3 * (size_t)s->n * sizeof *old);
        memcpy(old, st.v, 3 * (size_t)s->n * sizeof *old);
        flx__pd_momentum(s, &st, linear, before);
        CHECK_OK(flx__pd_frame(s, NULL, 400, &st, NULL, NULL));
        flx__pd_momentum(s, &st, linear, after);
        for (int32_t i = 0; i < s->n; ++i)
            for (int c = 0; c < 3; ++c)
            {
                const int     a = (c + 1) % 3, b = (c + 2) % 3;
                const double *v = st.v + 3 * i, *o = old + 3 * i;
                turn[c] += s->h * s->mass[i] * (v[a] * o[b] - v[b] * o[a]);
            }
        for (int c = 0; c < 3; ++c) CHECK_NEAR(after[c], before[c] + turn[c], 1e-7 * s->n);
        free(old);
    }
    flx__pd_state_release(ctx, &st);
    flx__pd_system_destroy(s);
    flx__lab_shape_release(ctx, &shape);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void momentum_of_a_rigid_motion(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "B1", 15, 0, FLX_RUN_TRAIN);
    const flx_pd_system* s = l.e->system;
    double               linear[3], angular[3], inertia = 0.0, middle = 0.0;
    for (int32_t i = 0; i < s->n; ++i)
    {
        const double* x      = s->x_rest + 3 * i;
        l.state.v[3 * i]     = 2.0 * x[2]; // spin 2/s about y
        l.state.v[3 * i + 2] = -2.0 * x[0];
        inertia += s->mass[i] * (x[0] * x[0] + x[2] * x[2]);
        middle += s->mass[i] * x[2];
    }
    flx__pd_momentum(s, &l.state, linear, angular);
    CHECK_NEAR(linear[0], 2.0 * middle, 1e-10);
    CHECK_NEAR(angular[1], 2.0 * inertia, 1e-10);
    CHECK_NEAR(angular[0], 0.0, 1e-10);
    lab_close(&l);
}

typedef struct descent
{
    flx_pd_system* system;
    double         before;
    double         worst; // largest relative rise
    int32_t        rounds;
} descent;

static void follow_objective(void* user, int32_t frame, int32_t round, const double* const* z, const double* const* p)
{
    descent* d = user;
    (void)frame, (void)z, (void)p;
    const double now = flx__pd_objective(d->system, d->system->inertia, d->system->rhs);
    if (round > 0) d->worst = fmax(d->worst, (now - d->before) / d->before);
    d->before = now;
    ++d->rounds;
}

static void no_round_raises_the_objective(void** state)
{
    (void)state;
    for (int32_t k = 0; k < FLX_EXPERIMENT_COUNT; ++k)
    {
        lab l;
        lab_open(&l, 1, flx__experiment_id(k), 10, 0, FLX_RUN_TRAIN);
        flx_context* ctx = l.ctx;
        descent      d   = {.system = l.e->system};
        for (int32_t t = 0; t < 10; ++t)
            CHECK_OK(flx__pd_frame(l.e->system, &l.drive, FLX_LAB_ROUNDS, &l.state, follow_objective, &d));
        assert_int_equal(d.rounds, 10 * FLX_LAB_ROUNDS);
        if (strcmp(l.e->id, "B1") != 0) // falls without any energy but round-off
            CHECK_BELOW(d.worst, 1e-11);
        lab_close(&l);
    }
}

static void the_solve_inverts_the_matrix(void** state)
{
    (void)state;
    for (int32_t k = 0; k < FLX_EXPERIMENT_COUNT; ++k)
    {
        lab l;
        lab_open(&l, 2, flx__experiment_id(k), 15, 0, FLX_RUN_TRAIN);
        flx_context*   ctx = l.ctx;
        flx_pd_system* s   = l.e->system;
        flx_csc        a   = {0};
        flx_csr        m   = {0};
        double *       d = calloc((size_t)s->n, sizeof *d), *b = calloc(3 * (size_t)s->n, sizeof *b);
        double *       x = calloc((size_t)s->n, sizeof *x), *y = calloc((size_t)s->n, sizeof *y);
        uint64_t       seed = 7;
        for (int32_t i = 0; i < s->n; ++i) d[i] = s->mass[i] / (s->h * s->h);
        for (int32_t i = 0; i < s->held_count; ++i) d[s->held[i]] += s->held_weight;
        for (int32_t i = 0; i < 3 * s->n; ++i) b[i] = test_random(&seed) - 0.5;
        CHECK_OK(flx__constraints_assemble(ctx, s->n, d, s->batch_count, s->batch, &a));
        CHECK_OK(flx__csr_from_lower(ctx, &a, &m));
        flx__pd_solve(s, b);
        seed = 7;
        for (int32_t i = 0; i < s->n; ++i) x[i] = b[3 * i + 1];
        flx__csr_multiply(ctx, &m, x, y);
        for (int32_t i = 0; i < s->n; ++i)
            for (int c = 0; c < 3; ++c)
            {
                const double wanted = test_random(&seed) - 0.5;
                if (c == 1) CHECK_NEAR(y[i], wanted, 1e-9); // A reaches 1e8, the solution 1e-4
            }
        free(d), free(b), free(x), free(y);
        flx__csr_release(ctx, &m);
        flx__csc_release(ctx, &a);
        lab_close(&l);
    }
}

static uint64_t hash_after(const char* id, int32_t side, int32_t workers)
{
    lab l;
    lab_open(&l, workers, id, side, 4, FLX_RUN_TRAIN);
    lab_run(&l);
    const int64_t bytes = 3 * (int64_t)l.e->system->n * (int64_t)sizeof(double);
    uint64_t      h     = flx__hash(FLX_HASH_START, l.state.q, bytes);
    h                   = flx__hash(h, l.state.v, bytes);
    h                   = flx__hash(h, l.record.elastic, 5 * (int64_t)sizeof(double));
    lab_close(&l);
    return h;
}

static void same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    const uint64_t cloth = hash_after("C1", 50, 1), box = hash_after("V1", 4, 1); // 2500 vertices: several chunks
    for (int32_t workers = 2; workers <= 5; ++workers)
    {
        assert_true(hash_after("C1", 50, workers) == cloth);
        assert_true(hash_after("V1", 4, workers) == box);
    }
}

static void a_frame_touches_no_heap(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 2, "C1", 15, 5, FLX_RUN_TRAIN);
    const int64_t before = flx_context_allocation_count(l.ctx);
    lab_run(&l);
    assert_int_equal(flx_context_allocation_count(l.ctx), before);
    lab_close(&l);
}

static void nowhere(void* user, int32_t frame, double* f)
{
    (void)user;
    if (frame == 2) f[0] = INFINITY;
}

static void a_frame_that_is_not_finite_says_so(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "S1", 15, 0, FLX_RUN_TRAIN);
    flx_context*       ctx   = l.ctx;
    const flx_pd_drive drive = {.force = nowhere};
    CHECK_OK(flx__pd_frame(l.e->system, &drive, 2, &l.state, NULL, NULL));
    CHECK_FAILS(flx__pd_frame(l.e->system, &drive, 2, &l.state, NULL, NULL), FLX_ERR_NONFINITE);
    lab_close(&l);
}

static void what_makes_no_system_is_refused(void** state)
{
    (void)state;
    flx_context*   ctx     = test_context(1);
    const double   x[6]    = {0, 0, 0, 1, 0, 0};
    const double   none[2] = {1, 0}, mass[2] = {1, 1};
    const int32_t  beyond = 2;
    flx_pd_system* s      = NULL;
    CHECK_FAILS(flx__pd_system_create(ctx, 2, x, none, 0.1, 0, NULL, 0, NULL, 1.0, &s), FLX_ERR_ARGUMENT);
    CHECK_FAILS(flx__pd_system_create(ctx, 2, x, mass, 0.0, 0, NULL, 0, NULL, 1.0, &s), FLX_ERR_ARGUMENT);
    CHECK_FAILS(flx__pd_system_create(ctx, 2, x, mass, 0.1, 0, NULL, 1, &beyond, 1.0, &s), FLX_ERR_ARGUMENT);
    assert_null(s);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_falls_as_bodies_do),
        cmocka_unit_test(momentum_is_what_the_poke_gave_and_stays),
        cmocka_unit_test(internal_forces_have_no_torque),
        cmocka_unit_test(momentum_of_a_rigid_motion),
        cmocka_unit_test(no_round_raises_the_objective),
        cmocka_unit_test(the_solve_inverts_the_matrix),
        cmocka_unit_test(same_bits_for_any_number_of_workers),
        cmocka_unit_test(a_frame_touches_no_heap),
        cmocka_unit_test(a_frame_that_is_not_finite_says_so),
        cmocka_unit_test(what_makes_no_system_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
