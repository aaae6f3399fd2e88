// Contact with obstacles in a subspace: the engine's law, how deep things sink, what is touched.
#include "solver/fixture.h"

#include "reduce/full_run.h"
#include "reduce/judge.h"
#include "reduce/reduced_contact.h"
#include "solver/lcp.h"

#define DRAPE                                                                                                          \
    "flexor: 1\ngravity: 9.81\n"                                                                                       \
    "bodies:\n"                                                                                                        \
    "  - {name: sheet, cloth: sheet.obj, material: {area_density: 200 g/m2},\n"                                        \
    "     constraints: [{strain: 100 N/m, min: 0.98, max: 1.02}, {bending: 50 uN m}]}\n"                               \
    "obstacles:\n"                                                                                                     \
    "  - {name: ball, sphere: {center: [0.02, 0.01, -0.21], radius: 0.2}}\n"                                           \
    "  - {name: floor, plane: {point: [0, 0, -0.3], normal: [0, 0, 1]}}\n"                                             \
    "contact: [{obstacle: ball, offset: 5 mm}, {obstacle: floor, offset: 5 mm}]\n"                                     \
    "solver: {mode: dynamic, precision: double, outer: 10, inner: 1, substeps: 2, damping: 1}\n"                       \
    "run: {frames: 15, fps: 30}\n"

static void open_drape(fixture* f, int32_t workers, int override_count, const char* const* overrides)
{
    fixture_start(f, workers);
    fixture_sheet(f, "sheet.obj", (const int[2]){14, 14}, (const double[3]){-0.35, -0.35, 0}, 0.05);
    fixture_open(f, DRAPE, override_count, overrides);
}

static flx_reduced_model* learn(fixture* f, const char* method, int32_t modes, int32_t rounds)
{
    flx_context*       ctx   = f->ctx;
    flx_reduction_desc desc  = flx_reduction_desc_default();
    flx_reduced_model* model = NULL;
    desc.method = method, desc.modes = modes, desc.rounds = rounds, desc.force = true;
    CHECK_OK(flx_reduced_model_train(ctx, f->model, &desc, NULL, NULL, &model));
    return model;
}

/// Deepest proxy below the distance kept, m; at the state's own positions.
static double depth(const flx_model* m, const flx_state* state)
{
    double       deepest = 0;
    flx_contact* found   = calloc((size_t)m->proxy_count, sizeof *found);
    int32_t*     scratch = calloc((size_t)m->proxy_count, sizeof *scratch);
    for (int32_t i = 0; i < m->group_count; ++i)
    {
        const flx_contact_group* g = &m->group[i];
        flx_obstacle_pose        pose;
        flx_scene_obstacle_pose(m->scene, g->obstacle, flx_state_time(state), pose.R, pose.t);
        const int32_t count = flx__obstacle_contacts(m->ctx, m->solid[g->obstacle], &pose, g->obstacle, g->proxy_count,
                                                     m->proxy + g->proxy_first, state->x, 0, g->offset, scratch, found);
        for (int32_t k = 0; k < count; ++k) deepest = fmax(deepest, -found[k].gap);
    }
    free(found);
    free(scratch);
    return deepest;
}

/// b of row-major [k][3] and rows of W at a proxy
static void row_of(const flx_model* m, const flx_reduced_model* r, int32_t proxy, double* out)
{
    memset(out, 0, (size_t)r->subspace * sizeof *out);
    for (int c = 0; c < 4; ++c)
        for (int32_t j = 0; j < r->subspace; ++j)
            out[j] += m->proxy[proxy].weight[c] * r->w[(int64_t)m->proxy[proxy].vertex[c] * r->subspace + j];
}

/// The forces found are those of the complementarity problem that the engine solves, with A_r for Sigma, and the answer
/// is the free one moved by them.
static void a_round_solves_the_engines_complementarity_problem(void** state)
{
    (void)state;
    fixture f;
    open_drape(&f, 2, 0, NULL);
    flx_context*         ctx     = f.ctx;
    flx_reduced_model*   model   = learn(&f, "w", 12, 10);
    const int32_t        k       = model->subspace;
    flx_reduced_contact* contact = NULL;
    double *factor = calloc((size_t)k * k, 8), *a = calloc(3 * (size_t)k, 8), *free_a = calloc(3 * (size_t)k, 8),
           *inverse = calloc((size_t)k * k, 8), *moved = calloc(3 * (size_t)k, 8);
    CHECK_OK(flx__reduced_contact_create(ctx, f.model, model, f.solver->dt, &contact));
    memcpy(factor, model->matrix, (size_t)k * k * sizeof *factor);
    memcpy(inverse, model->matrix, (size_t)k * k * sizeof *factor);
    CHECK_OK(flx__dense_cholesky_f64(ctx, k, factor, k, NULL));
    CHECK_OK(flx__dense_inverse_f64(ctx, k, inverse, k, NULL));
    flx__reduced_contact_factor(contact, factor);

    // from where the run's 20th step ends, the sheet sinks by 4 mm more and bulges
    fixture_steps(&f, 20, NULL);
    for (int32_t v = 0; v < f.model->vertex_count; ++v)
        for (int32_t j = 0; j < k; ++j)
            for (int d = 0; d < 3; ++d)
                a[3 * j + d] += f.model->mass[v] * model->w[(int64_t)v * k + j] * f.state->x[3 * (int64_t)v + d];
    memcpy(free_a, a, 3 * (size_t)k * sizeof *a);
    for (int32_t j = 0; j < k; ++j)
    {
        double sum = 0;
        for (int32_t v = 0; v < f.model->vertex_count; ++v) sum += f.model->mass[v] * model->w[(int64_t)v * k + j];
        free_a[3 * j + 2] -= 4e-3 * sum;
        free_a[3 * j] += 1e-3 * ((double)(j % 3) - 1);
    }
    memcpy(moved, free_a, 3 * (size_t)k * sizeof *a);
    flx__reduced_contact_begin(contact, 20 * f.solver->dt, a);
    flx__reduced_contact_apply(contact, moved);
    const flx_reduced_contact_stats stats = flx__reduced_contact_end(contact, f.state);
    print_message("%d of %d push, deepest %.2g m\n", stats.active, stats.candidates, stats.penetration);
    assert_int_equal(stats.unsolved, 0);
    assert_in_range(stats.active, 5, 64);

    // the same by B and q, rows found anew
    const flx_model* m = f.model;
    double *         J = calloc((size_t)m->proxy_count * k, 8), *q = calloc((size_t)m->proxy_count, 8),
           *B = calloc((size_t)m->proxy_count * m->proxy_count, 8), *lambda = calloc((size_t)m->proxy_count, 8);
    flx_contact* c       = calloc((size_t)m->proxy_count, sizeof *c);
    int32_t*     scratch = calloc((size_t)m->proxy_count, sizeof *scratch);
    double*      x       = calloc(3 * (size_t)m->vertex_count, 8);
    int32_t      count   = 0;
    for (int32_t v = 0; v < m->vertex_count; ++v)
        for (int32_t j = 0; j < k; ++j)
            for (int d = 0; d < 3; ++d) x[3 * v + d] += model->w[(int64_t)v * k + j] * a[3 * j + d];
    for (int32_t g = 0; g < m->group_count; ++g)
    {
        flx_obstacle_pose pose;
        flx_scene_obstacle_pose(m->scene, m->group[g].obstacle, 0, pose.R, pose.t);
        const int32_t found = flx__obstacle_contacts(ctx, m->solid[m->group[g].obstacle], &pose, 0,
                                                     m->group[g].proxy_count, m->proxy + m->group[g].proxy_first, x,
                                                     m->group[g].margin, m->group[g].offset, scratch, c + count);
        for (int32_t i = 0; i < found; ++i) c[count + i].proxy += m->group[g].proxy_first;
        count += found;
    }
    assert_int_equal(count, stats.candidates);
    for (int32_t i = 0; i < count; ++i)
    {
        row_of(m, model, c[i].proxy, J + (int64_t)i * k);
        q[i] = c[i].gap;
        for (int32_t j = 0; j < k; ++j)
            for (int d = 0; d < 3; ++d)
                q[i] += c[i].normal[d] * J[(int64_t)i * k + j] * (free_a[3 * j + d] - a[3 * j + d]);
    }
    for (int32_t i = 0; i < count; ++i)
        for (int32_t j = 0; j < count; ++j)
        {
            double sum = 0;
            for (int32_t r = 0; r < k; ++r)
                for (int32_t l = 0; l < k; ++l)
                    sum += J[(int64_t)i * k + r] * inverse[(int64_t)r * k + l] * J[(int64_t)j * k + l];
            B[(int64_t)i * count + j] =
                sum * flx__dot3(c[i].normal, c[j].normal) + (i == j ? 1 / m->group[0].stiffness : 0);
        }
    flx_lcp lcp;
    CHECK_OK(flx__lcp_create(ctx, count, &lcp));
    assert_true(flx__lcp_solve(ctx, &lcp, count, B, count, q, 1000, lambda) >= 0);
    double most = 0, off = 0;
    for (int32_t i = 0; i < count; ++i)
    {
        most = fmax(most, lambda[i]);
        off  = fmax(off, fabs(lambda[i] - f.state->push[c[i].proxy]));
        for (int32_t r = 0; r < k; ++r) // free_a += A_r^-1 J^T lambda n
            for (int32_t l = 0; l < k; ++l)
                for (int d = 0; d < 3; ++d)
                    free_a[3 * r + d] +=
                        inverse[(int64_t)r * k + l] * J[(int64_t)i * k + l] * lambda[i] * c[i].normal[d];
    }
    print_message("largest force %.3g N, off by %.2g\n", most, off);
    assert_true(most > 0.01);
    CHECK_BELOW(off, 1e-7 * most);
    for (int32_t i = 0; i < 3 * k; ++i) CHECK_NEAR(moved[i], free_a[i], 1e-8);

    flx__lcp_release(ctx, &lcp);
    flx__reduced_contact_destroy(contact);
    flx_reduced_model_destroy(model);
    void* const owned[] = {factor, a, free_a, inverse, moved, J, q, B, lambda, c, scratch, x};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) free(owned[i]);
    fixture_end(&f);
}

/// With the whole space there is nothing to miss: the engine's motion and forces.
static void a_subspace_of_everything_is_the_engine(void** state)
{
    (void)state;
    fixture f;
    open_drape(&f, 2, 0, NULL);
    flx_context*       ctx     = f.ctx;
    flx_reduced_model* model   = learn(&f, "w", 90, 10); // 31 poses, three columns each
    flx_reduced*       reduced = NULL;
    flx_state*         small   = NULL;
    CHECK_OK(flx_reduced_create(ctx, f.model, model, &reduced));
    CHECK_OK(flx_state_create(ctx, f.model, &small));
    double worst = 0, force = 0, engine_force = 0, sunk = 0;
    for (int step = 0; step < 30; ++step)
    {
        flx_step_stats a, b;
        fixture_steps(&f, 1, &a);
        CHECK_OK(flx_reduced_step(reduced, small, &b));
        for (int64_t i = 0; i < 3 * (int64_t)f.model->vertex_count; ++i)
            worst = fmax(worst, fabs(small->x[i] - f.state->x[i]));
        assert_int_equal(b.unsolved, 0);
        sunk         = fmax(sunk, depth(f.model, small));
        force        = b.contact_force[2];
        engine_force = a.contact_force[2];
    }
    print_message("worst %.2g m, deepest %.2g m, force %.3g N (engine %.3g N)\n", worst, sunk, force, engine_force);
    CHECK_BELOW(worst, 0.02);  // of a sheet 0.7 m wide, which folds; measured 7e-3
    CHECK_BELOW(sunk, 0.5e-3); // of 5 mm kept
    CHECK_NEAR(force, engine_force, 0.2 * fabs(engine_force));
    flx_state_destroy(small);
    flx_reduced_destroy(reduced);
    flx_reduced_model_destroy(model);
    fixture_end(&f);
}

static uint64_t hash_of_run(int32_t workers)
{
    fixture f;
    open_drape(&f, workers, 0, NULL);
    flx_context*       ctx     = f.ctx;
    flx_reduced_model* model   = learn(&f, "w_secs", 16, 10);
    flx_reduced*       reduced = NULL;
    CHECK_OK(flx_reduced_create(ctx, f.model, model, &reduced));
    const int64_t before = flx_context_allocation_count(ctx);
    for (int step = 0; step < 30; ++step) CHECK_OK(flx_reduced_step(reduced, f.state, NULL));
    assert_int_equal(flx_context_allocation_count(ctx), before); // no heap in a step
    const uint64_t hash = flx_state_hash(f.state);
    flx_reduced_destroy(reduced);
    flx_reduced_model_destroy(model);
    fixture_end(&f);
    return hash;
}

static void the_same_bits_for_any_number_of_threads_and_no_heap(void** state)
{
    (void)state;
    const uint64_t one = hash_of_run(1);
    assert_int_equal(hash_of_run(2), one);
    assert_int_equal(hash_of_run(5), one);
}

typedef struct touch
{
    flx_reduced_contact* contact;
    flx_reduced_solver*  solver;
} touch;

static void give_way(void* user, int32_t frame, int32_t round, double* a)
{
    const touch* t = user;
    flx__reduced_contact_act(t->contact, t->solver, frame, round, a);
}

/// Rounds read the proxies' rows, k numbers each, and nothing of the mesh.
static void rounds_touch_proxies_only(void** state)
{
    (void)state;
    fixture f;
    open_drape(&f, 2, 0, NULL);
    flx_context*         ctx     = f.ctx;
    flx_reduced_model*   model   = learn(&f, "w_ecsw", 16, 10);
    flx_scene_system     scene   = {0};
    flx_reduced_contact* contact = NULL;
    flx_reduced_solver*  solver  = NULL;
    flx_pd_state         s;
    CHECK_OK(flx__scene_system_create(ctx, f.model, &scene));
    CHECK_OK(flx__reduced_contact_create(ctx, f.model, model, f.solver->dt, &contact));
    CHECK_OK(flx__reduced_solver_create(scene.system, model, &solver));
    CHECK_OK(flx__pd_state_create(scene.system, &s));
    touch acts = {contact, solver};
    flx__reduced_set_action(solver, give_way, &acts);
    const flx_pd_drive drive = flx__scene_system_drive(&scene);
    flx__reduced_start(solver, &s);
    for (int frame = 0; frame < 20; ++frame) CHECK_OK(flx__reduced_frame(solver, &drive, 10, NULL, NULL));
    const flx_reduced_counts counts = flx__reduced_counts_of(solver);
    assert_int_equal(counts.round_entries, 0);
    const int64_t entries = flx__reduced_contact_entries(contact);
    const int64_t of_all  = (int64_t)f.model->proxy_count * (model->subspace + 3);
    print_message("%.3g times all proxies' rows a frame\n", (double)entries / 20 / (double)of_all);
    assert_in_range(entries, 20 * of_all,
                    20 * of_all * (1 + 10 * 4)); // detection; at most 4 steps a round
    flx__pd_state_release(ctx, &s);
    flx__reduced_solver_destroy(solver);
    flx__reduced_contact_destroy(contact);
    flx__scene_system_release(&scene);
    flx_reduced_model_destroy(model);
    fixture_end(&f);
}

#define BLOCK                                                                                                          \
    "flexor: 1\ngravity: 9.81\n"                                                                                       \
    "bodies: [{name: block, tets: block.mesh, material: {young: 100 kPa, density: 1000 kg/m3}}]\n"                     \
    "obstacles: [{name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}]\n"                                       \
    "contact: {obstacle: floor, region: {box: {min: [-1, -1, -1 mm], max: [1, 1, 1 mm]}}}\n"                           \
    "solver: {mode: dynamic, precision: double, outer: 10, substeps: 4, damping: 4, proximal: 1000}\n"                 \
    "run: {frames: 30, fps: 30}\n"

/// At rest the floor carries the weight, dynamic and quasi-static; with modes for its 25 proxies, and with 4 affine
/// ones, whose matrix is then the smaller one.
static void a_block_is_carried_by_the_floor(void** state)
{
    (void)state;
    static const char* const still[] = {"solver.mode=quasistatic"};
    for (int run = 0; run < 4; ++run)
    {
        const int i = run % 2, affine = run / 2;
        fixture   f;
        fixture_start(&f, 2);
        fixture_box(&f, "block.mesh", (const int[3]){4, 4, 4}, (const double[3]){0, 0, 0}, 0.05, 1, 0);
        fixture_open(&f, BLOCK, i, still);
        flx_context*       ctx     = f.ctx;
        flx_reduced_model* model   = learn(&f, "w_ecsw", affine ? 4 : 12, 10);
        flx_reduced*       reduced = NULL;
        flx_step_stats     stats   = {0};
        CHECK_OK(flx_reduced_create(ctx, f.model, model, &reduced));
        for (int step = 0; step < (i == 0 ? 120 : 60); ++step) CHECK_OK(flx_reduced_step(reduced, f.state, &stats));
        print_message("error %.2g, force %.6g N, deepest %.2g m\n", flx_reduced_model_get_info(model).error,
                      stats.contact_force[2], stats.penetration);
        assert_int_equal(stats.active, 25);
        CHECK_NEAR(stats.contact_force[2], 9.81 * 1000 * 0.2 * 0.2 * 0.2, i == 0 ? 0.05 : 0.5);
        CHECK_BELOW(flx_reduced_model_get_info(model).error, affine ? 2e-3 : 1e-5); // no bulge, 1.4e-3
        flx_reduced_destroy(reduced);
        flx_reduced_model_destroy(model);
        fixture_end(&f);
    }
}

static void every_refused_allocation_is_reported_and_nothing_is_lost(void** state)
{
    (void)state;
    static const char* const still[] = {"solver.mode=quasistatic", "run.frames=2"};
    fixture                  f;
    fixture_start(&f, 1);
    fixture_box(&f, "block.mesh", (const int[3]){1, 1, 2}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
    fixture_open(&f, BLOCK, 2, still);
    flx_context*       ctx   = f.ctx;
    flx_reduced_model* model = learn(&f, "w_ecsw", 5, 3);
    const int64_t      held  = flx_context_bytes_now(ctx);
    for (int64_t k = 0;; ++k)
    {
        flx_reduced* reduced = NULL;
        flx_context_fail_allocation(ctx, k);
        const flx_status status = flx_reduced_create(ctx, f.model, model, &reduced);
        flx_context_fail_allocation(ctx, -1);
        flx_reduced_destroy(reduced);
        assert_int_equal(flx_context_bytes_now(ctx), held);
        if (status == FLX_OK) break;
        assert_int_equal(status, FLX_ERR_MEMORY);
        assert_null(reduced);
    }
    flx_reduced_model_destroy(model);
    fixture_end(&f);
}

static void what_contact_is_not_known_is_refused_by_name(void** state)
{
    (void)state;
    static const struct
    {
        const char *set, *method, *says;
    } cases[] = {{"contact[0].law=spring", "w", "unilateral"}, {"run.frames=2", "secs", "w_secs"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    {
        static const char* const laws[] = {"contact[1].law=spring"};
        const char*              set[]  = {cases[i].set, laws[0]};
        fixture                  f;
        open_drape(&f, 1, i == 0 ? 2 : 1, set);
        flx_context*       ctx   = f.ctx;
        flx_reduction_desc desc  = flx_reduction_desc_default();
        flx_reduced_model* model = NULL;
        desc.method              = cases[i].method;
        CHECK_FAILS(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model), FLX_ERR_UNSUPPORTED);
        print_message("%s\n", flx_context_error(ctx));
        assert_non_null(strstr(flx_context_error(ctx), cases[i].says));
        assert_null(model);
        fixture_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_solves_the_engines_complementarity_problem),
        cmocka_unit_test(a_subspace_of_everything_is_the_engine),
        cmocka_unit_test(the_same_bits_for_any_number_of_threads_and_no_heap),
        cmocka_unit_test(rounds_touch_proxies_only),
        cmocka_unit_test(a_block_is_carried_by_the_floor),
        cmocka_unit_test(every_refused_allocation_is_reported_and_nothing_is_lost),
        cmocka_unit_test(what_contact_is_not_known_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
