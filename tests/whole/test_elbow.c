// The elbow, end to end: scenes/elbow-small.yaml on the arm that flexor-make-arm makes, and what the fold must keep.
#include "test.h"

#include "flexor/flexor.h"

#ifdef FLX_MAKE_ARM

// Where the arm and a copy of the scene lie: a folder of its own, removed at the end.
static char folder[] = "/tmp/flexor-elbow-XXXXXX";

enum
{
    FRAMES    = 74,
    HELD_FROM = 44
}; // of the scene: bent to 110 degrees at frame 44, held for 30

// --- an elbow opened, run, closed ----------------------------------------------------------------------------

typedef struct elbow
{
    flx_context*   ctx;
    flx_scene*     scene;
    flx_model*     model;
    flx_solver*    solver;
    flx_state*     state;
    flx_model_info info;
} elbow;

#define SETS(...)                                                                                                      \
    (int32_t)(sizeof((const char* const[]){__VA_ARGS__}) / sizeof(char*)), (const char* const[])                       \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static void open_elbow(elbow* e, int32_t workers, int32_t override_count, const char* const* overrides)
{
    char path[256];
    memset(e, 0, sizeof *e);
    e->ctx                    = test_context(workers);
    flx_context*      ctx     = e->ctx;
    flx_scene_options options = flx_scene_options_default();
    options.override_count    = override_count;
    options.overrides         = overrides;
    snprintf(path, sizeof path, "%s/elbow.yaml", folder);
    CHECK_OK(flx_scene_read(ctx, path, &options, &e->scene));
    CHECK_OK(flx_model_compile(ctx, e->scene, NULL, NULL, &e->model));
    CHECK_OK(flx_solver_create(ctx, e->model, NULL, NULL, NULL, &e->solver));
    CHECK_OK(flx_state_create(ctx, e->model, &e->state));
    e->info = flx_model_get_info(e->model);
}

static void close_elbow(elbow* e)
{
    flx_state_destroy(e->state);
    flx_solver_destroy(e->solver);
    flx_model_destroy(e->model);
    flx_scene_destroy(e->ctx, e->scene);
    assert_int_equal(flx_context_bytes_now(e->ctx), 0);
    flx_context_destroy(e->ctx);
}

static flx_step_stats bend(elbow* e, int32_t frames)
{
    flx_context*   ctx   = e->ctx;
    flx_step_stats stats = {0};
    for (int32_t k = 0; k < frames; ++k) CHECK_OK(flx_solver_step(e->solver, e->state, &stats));
    return stats;
}

static double* vector_of(int32_t count)
{
    double* x = malloc(3 * sizeof(double) * (size_t)count);
    assert_non_null(x);
    return x;
}

/// Largest distance between corresponding points of two vertex lists.
static double farthest(const double* a, const double* b, int32_t count)
{
    double most = 0.0;
    for (int32_t v = 0; v < count; ++v)
    {
        double d2 = 0.0;
        for (int k = 0; k < 3; ++k) d2 += (a[3 * v + k] - b[3 * v + k]) * (a[3 * v + k] - b[3 * v + k]);
        if (!(d2 <= most)) most = d2; // written so that NaN shows
    }
    return sqrt(most);
}

static int64_t crossings(elbow* e)
{
    flx_context* ctx   = e->ctx;
    int64_t      count = -1;
    double*      x     = vector_of(e->info.surface_vertex_count);
    flx_state_surface_positions(e->state, x);
    CHECK_OK(flx_surface_crossings(ctx, e->info.surface_vertex_count, x, e->info.surface_triangle_count,
                                   flx_model_surface_triangles(e->model), &count));
    free(x);
    return count;
}

static int32_t inverted(elbow* e)
{
    int32_t count = 0;
    double* ratio = malloc(sizeof(double) * (size_t)e->info.tet_count);
    assert_non_null(ratio);
    flx_state_tet_strain(e->state, NULL, ratio);
    for (int32_t t = 0; t < e->info.tet_count; ++t) count += !(ratio[t] > 0.0);
    free(ratio);
    return count;
}

// --- the scene as it is, run once, in single precision and in double side by side --------------------------------

typedef struct history
{
    bool           done;
    double         cell;        // m
    double         rest_error;  // m: embedded surface at rest against the file
    double         moved_error; // m: the same with all of it turned and moved
    flx_step_stats stats[FRAMES + 1];
    int64_t        crossing[FRAMES + 1];  // -1: not counted
    double         precision[FRAMES + 1]; // m: single against double, all vertices
    int32_t        switched_after[4];     // in outer iterations after the last frame, one by one
    int32_t        inverted_at_the_end;
    double         finger[3];      // m: the vertex with the largest x at rest, at the end
    double         finger_goal[3]; // m: where the forearm's motion takes it
} history;

static history elbow_run;

/// A third of a turn about (1, 1, 1), half a metre away.
static void move_rigidly(double x[3])
{
    const double y[3] = {x[2] + 0.3, x[0] - 0.4, x[1]};
    memcpy(x, y, sizeof y);
}

/// The embedded surface against the file: at rest, and when the lattice is turned and moved as a whole.
static void compare_with_the_file(elbow* e, history* h)
{
    char         path[256];
    flx_context* ctx     = e->ctx;
    flx_mesh*    mesh    = NULL;
    double*      surface = vector_of(e->info.surface_vertex_count);
    double*      x       = vector_of(e->info.vertex_count);
    snprintf(path, sizeof path, "%s/arm.obj", folder);
    CHECK_OK(flx_mesh_read(ctx, path, NULL, &mesh));
    assert_int_equal(mesh->vertex_count, e->info.surface_vertex_count);
    flx_state_surface_positions(e->state, surface);
    h->rest_error    = farthest(surface, mesh->x, mesh->vertex_count);
    flx_state* moved = NULL;
    CHECK_OK(flx_state_create(ctx, e->model, &moved));
    flx_state_positions(moved, x);
    for (int32_t v = 0; v < e->info.vertex_count; ++v) move_rigidly(x + 3 * v);
    flx_state_set_positions(moved, x);
    flx_state_surface_positions(moved, surface);
    for (int32_t v = 0; v < mesh->vertex_count; ++v) move_rigidly(mesh->x + 3 * v);
    h->moved_error = farthest(surface, mesh->x, mesh->vertex_count);
    flx_state_destroy(moved);
    free(x);
    free(surface);
    flx_mesh_destroy(ctx, mesh);
}

static void find_the_finger(elbow* e, history* h, int32_t* finger)
{
    double* x = vector_of(e->info.surface_vertex_count);
    double  R[9], t[3];
    flx_scene_bone_pose(e->scene, 1, FRAMES / e->scene->run.fps, R, t);
    flx_state_surface_positions(e->state, x);
    *finger = 0;
    for (int32_t v = 0; v < e->info.surface_vertex_count; ++v)
        if (x[3 * v] > x[3 * *finger]) *finger = v;
    const double* rest = x + 3 * *finger;
    for (int k = 0; k < 3; ++k)
        h->finger_goal[k] = R[3 * k] * rest[0] + R[3 * k + 1] * rest[1] + R[3 * k + 2] * rest[2] + t[k];
    free(x);
}

/// A step counts what changed from its beginning to its end: contacts that go on and off within it show only in steps
/// of one iteration.
static void watch_single_iterations(elbow* e, history* h)
{
    flx_context*   ctx      = e->ctx;
    flx_solver*    solver   = NULL;
    flx_state*     state    = NULL;
    flx_settings   settings = e->scene->settings;
    flx_step_stats stats;
    settings.outer = 1;
    CHECK_OK(flx_solver_create(ctx, e->model, &settings, NULL, NULL, &solver));
    CHECK_OK(flx_state_create(ctx, e->model, &state));
    flx_state_copy(state, e->state);
    for (int k = 0; k < 4; ++k)
    {
        CHECK_OK(flx_solver_step(solver, state, &stats));
        h->switched_after[k] = stats.switched;
    }
    flx_state_destroy(state);
    flx_solver_destroy(solver);
}

static const history* the_run(void)
{
    history* h = &elbow_run;
    if (h->done) return h;
    elbow       e;
    flx_solver* wide       = NULL;
    flx_state*  wide_state = NULL;
    int32_t     finger     = 0;
    open_elbow(&e, 2, 0, NULL);
    assert_int_equal(e.scene->run.frames, FRAMES);
    flx_context* ctx      = e.ctx;
    flx_settings settings = e.scene->settings;
    settings.precision    = FLX_PRECISION_DOUBLE;
    CHECK_OK(flx_solver_create(ctx, e.model, &settings, NULL, NULL, &wide));
    CHECK_OK(flx_state_create(ctx, e.model, &wide_state));
    double* x = vector_of(e.info.vertex_count);
    double* y = vector_of(e.info.vertex_count);
    h->cell   = e.info.cell;
    compare_with_the_file(&e, h);
    find_the_finger(&e, h, &finger);
    for (int32_t k = 1; k <= FRAMES; ++k)
    {
        h->stats[k] = bend(&e, 1);
        CHECK_OK(flx_solver_step(wide, wide_state, NULL));
        flx_state_positions(e.state, x);
        flx_state_positions(wide_state, y);
        h->precision[k] = farthest(x, y, e.info.vertex_count);
        h->crossing[k]  = k % 10 == 0 || k == FRAMES ? crossings(&e) : -1;
    }
    h->inverted_at_the_end = inverted(&e);
    watch_single_iterations(&e, h);
    double* surface = vector_of(e.info.surface_vertex_count);
    flx_state_surface_positions(e.state, surface);
    memcpy(h->finger, surface + 3 * finger, sizeof h->finger);
    h->done = true;
    free(surface);
    free(x);
    free(y);
    flx_state_destroy(wide_state);
    flx_solver_destroy(wide);
    close_elbow(&e);
    return h;
}

static void the_embedded_surface_at_rest_is_the_input(void** state)
{
    (void)state;
    CHECK_BELOW(the_run()->rest_error, 1e-12);  // m: roundings of an arm of 0.66 m
    CHECK_BELOW(the_run()->moved_error, 1e-12); // m: the weights give the place, not only its displacement
}

static void the_arm_bends_with_its_bone(void** state)
{
    (void)state;
    const history* h = the_run();
    CHECK_BELOW(farthest(h->finger, h->finger_goal, 1), 2e-3); // m: the flesh around a finger's end
    assert_true(h->finger[2] > 0.3);                           // up, m
    assert_true(h->finger[0] < 0.28);                          // and back over the upper arm
}

static void the_skin_meets_itself_and_is_pushed_apart(void** state)
{
    (void)state;
    const history* h = the_run();
    for (int32_t k = 1; k <= 30; ++k) assert_int_equal(h->stats[k].active, 0); // nothing touches before 75 degrees
    for (int32_t k = HELD_FROM; k <= FRAMES; ++k) assert_true(h->stats[k].active > 0);
}

static void held_it_comes_to_rest(void** state)
{
    (void)state;
    const history* h = the_run();
    CHECK_BELOW(h->stats[FRAMES].motion / h->cell,
                1e-3); // of a cell, in the last outer iteration of the 30th held frame
}

static void no_contact_switches_in_the_last_ten_frames(void** state)
{
    (void)state;
    const history* h = the_run();
    for (int32_t k = FRAMES - 9; k <= FRAMES; ++k) assert_int_equal(h->stats[k].switched, 0);
    for (int k = 0; k < 4; ++k) assert_int_equal(h->switched_after[k], 0);
}

static void nothing_is_deeper_than_a_tenth_of_a_cell(void** state)
{
    (void)state;
    const history* h = the_run();
    for (int32_t k = 1; k <= FRAMES; ++k) CHECK_BELOW(h->stats[k].penetration / h->cell, 0.1);
}

static void no_element_is_inverted(void** state)
{
    (void)state;
    const history* h = the_run();
    for (int32_t k = 1; k <= FRAMES; ++k) assert_int_equal(h->stats[k].inverted, 0);
    assert_int_equal(h->inverted_at_the_end, 0);
}

static void the_skin_does_not_pass_through_itself(void** state)
{
    (void)state;
    const history* h       = the_run();
    int            counted = 0;
    for (int32_t k = 1; k <= FRAMES; ++k)
        if (h->crossing[k] >= 0)
        {
            ++counted;
            assert_int_equal(h->crossing[k], 0); // pairs of triangles, exactly
        }
    assert_int_equal(counted, 8);
    assert_int_equal(h->crossing[FRAMES], 0);
}

static void single_precision_stays_with_double(void** state)
{
    (void)state;
    const history* h     = the_run();
    int32_t        worst = 0;
    for (int32_t k = 1; k <= FRAMES; ++k)
        if (!(h->precision[k] <= h->precision[worst])) worst = k;
    print_message(
        "    single against double: %.2g of a cell at most, in frame %d; %.2g before contacts, %.2g at the end\n",
        h->precision[worst] / h->cell, worst, h->precision[30] / h->cell, h->precision[FRAMES] / h->cell);
    CHECK_BELOW(h->precision[worst] / h->cell, 1e-4); // of a cell
}

// --- bent further: a fold that carries ----------------------------------------------------------------------------

static void bent_to_125_degrees_dozens_of_contacts_carry_and_come_to_rest(void** state)
{
    (void)state;
    elbow          e;
    flx_step_stats stats   = {0};
    double         deepest = 0.0;
    open_elbow(&e, 2, SETS("motion[0].to=125"));
    bend(&e, 49); // the last frame before it is held
    for (int32_t k = 50; k <= 80; ++k)
    {
        stats   = bend(&e, 1);
        deepest = fmax(deepest, stats.penetration);
        if (k > 70) assert_int_equal(stats.switched, 0);
    }
    assert_true(stats.active >= 12);
    CHECK_BELOW(stats.motion / e.info.cell, 1e-3); // of a cell
    CHECK_BELOW(deepest / e.info.cell, 0.1);
    assert_int_equal(inverted(&e), 0);
    assert_int_equal(crossings(&e), 0);
    close_elbow(&e);
}

static void the_same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    static const int32_t workers[]  = {1, 2, 3, 8};
    uint64_t             model_hash = 0, state_hash = 0;
    for (int i = 0; i < 4; ++i)
    {
        elbow e;
        open_elbow(&e, workers[i],
                   SETS("bodies[0].surface=arm-coarse.obj", "bodies[0].lattice.tets=16 k", "motion[0].to=130",
                        "motion[0].degrees_per_frame=5"));
        const flx_step_stats stats = bend(&e, 32); // 26 of bending
        assert_true(stats.active > 0);
        if (i == 0)
        {
            model_hash = e.info.hash;
            state_hash = flx_state_hash(e.state);
        }
        assert_true(e.info.hash == model_hash);
        assert_true(flx_state_hash(e.state) == state_hash);
        close_elbow(&e);
    }
}

// --- a fold that starts tangled ------------------------------------------------------------------------------------

/// Bent and held without contacts, until the flesh of the two arms lies in one another: positions, user's numbering.
static double* bent_without_contacts(void)
{
    elbow e;
    open_elbow(&e, 2, 0, NULL);
    flx_context* ctx = e.ctx;
    flx_state_destroy(e.state);
    flx_solver_destroy(e.solver);
    flx_model_destroy(e.model);
    e.scene->contact_count = 0;
    CHECK_OK(flx_model_compile(ctx, e.scene, NULL, NULL, &e.model));
    CHECK_OK(flx_solver_create(ctx, e.model, NULL, NULL, NULL, &e.solver));
    CHECK_OK(flx_state_create(ctx, e.model, &e.state));
    bend(&e, FRAMES);
    double* x = vector_of(e.info.vertex_count);
    flx_state_positions(e.state, x);
    close_elbow(&e);
    return x;
}

static void contacts_switched_on_in_a_tangled_fold_open_it(void** state)
{
    (void)state;
    double*                  x       = bent_without_contacts();
    static const char* const inner[] = {"inner=1", "inner=3", "inner=5"};
    for (int i = 0; i < 3; ++i)
    {
        elbow e;
        open_elbow(&e, 2, SETS("motion[0].degrees_per_frame=110", "outer=1", inner[i]));
        bend(&e, 1); // the bones stand at their last pose from here on
        flx_state_set_positions(e.state, x);
        const int64_t before = crossings(&e);
        assert_in_range(before, 100, 1000);
        assert_true(inverted(&e) > 0);
        for (int k = 1; k <= 30; ++k)
        {
            bend(&e, 1);
            if (k % 5 == 0) assert_true(crossings(&e) < before);
        }
        assert_true(crossings(&e) <= before / 10); // what stays lies at the bottom of the crease, in one layer
        assert_true(inverted(&e) < 30);            // elements; 13 at the start
        close_elbow(&e);
    }
    free(x);
}

// --- a region that nobody named -------------------------------------------------------------------------------------

static void a_proposed_region_keeps_the_skin_apart_as_well(void** state)
{
    (void)state;
    elbow e;
    open_elbow(&e, 2, SETS("contact[0].region=auto", "bodies[0].surface=arm-coarse.obj", "motion[0].to=120"));
    assert_true(e.info.region_proposed);
    assert_in_range(e.info.prone_count, 100, e.info.vertex_count / 3); // the fold, not the whole arm
    const flx_step_stats stats = bend(&e, FRAMES);
    assert_true(stats.active > 0);
    assert_int_equal(crossings(&e), 0);
    assert_int_equal(inverted(&e), 0);
    CHECK_BELOW(stats.penetration / e.info.cell, 0.1);
    close_elbow(&e);
}

// --- the paper's ways ------------------------------------------------------------------------------------------------

static void compliance_and_refactorization_agree_on_springs(void** state)
{
    (void)state;
    static const double tolerance[] = {1e-4, 1e-9}; // of the largest motion: single, double
    elbow               e;
    open_elbow(&e, 2, SETS("contact[0].law=spring", "motion[0].degrees_per_frame=5"));
    flx_context* ctx = e.ctx;
    bend(&e, 20); // 100 degrees: the skin touches
    double* start = vector_of(e.info.vertex_count);
    double* x     = vector_of(e.info.vertex_count);
    double* y     = vector_of(e.info.vertex_count);
    flx_state_positions(e.state, start);
    for (int precision = 0; precision < 2; ++precision)
    {
        flx_state*     q[2]  = {NULL, NULL};
        flx_step_stats stats = {0};
        for (int strategy = 0; strategy < 2; ++strategy)
        {
            flx_solver*  solver   = NULL;
            flx_settings settings = e.scene->settings;
            settings.precision    = precision ? FLX_PRECISION_DOUBLE : FLX_PRECISION_SINGLE;
            settings.strategy     = strategy ? FLX_STRATEGY_REFACTOR : FLX_STRATEGY_COMPLIANCE;
            CHECK_OK(flx_solver_create(ctx, e.model, &settings, NULL, NULL, &solver));
            CHECK_OK(flx_state_create(ctx, e.model, &q[strategy]));
            flx_state_copy(q[strategy], e.state);
            for (int k = 0; k < 3; ++k)
            {
                CHECK_OK(flx_solver_step(solver, q[strategy], &stats));
                assert_true(stats.active > 0);
            }
            flx_solver_destroy(solver);
        }
        flx_state_positions(q[0], x);
        flx_state_positions(q[1], y);
        const double motion = farthest(x, start, e.info.vertex_count);
        print_message("    %s: %.2g of the motion\n", precision ? "double" : "single",
                      farthest(x, y, e.info.vertex_count) / motion);
        CHECK_BELOW(farthest(x, y, e.info.vertex_count) / motion, tolerance[precision]);
        flx_state_destroy(q[0]);
        flx_state_destroy(q[1]);
    }
    free(start);
    free(x);
    free(y);
    close_elbow(&e);
}

static void the_papers_own_settings_run_to_the_end(void** state)
{
    (void)state;
    elbow e;
    open_elbow(&e, 2, SETS("contact[0].law=spring", "strategy=refactor", "follow=none", "outer=1", "inner=1"));
    const flx_step_stats stats = bend(&e, FRAMES); // a step that is not finite fails
    assert_true(stats.active > 0);
    assert_true(isfinite(stats.energy) && isfinite(stats.residual) && isfinite(stats.penetration));
    CHECK_BELOW(stats.motion / e.info.cell, 0.5); // it does not come to rest, but it stays together
    CHECK_BELOW(inverted(&e), 0.01 * e.info.tet_count);
    close_elbow(&e);
}

// --- the folder ----------------------------------------------------------------------------------------------

static int shell(const char* command)
{
    return system(command);
}

static int make_folder(void** state)
{
    char command[1024];
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(command, sizeof command,
             "cp '%s/scenes/elbow-small.yaml' '%s/elbow.yaml' && "
             "'%s' '%s/arm.obj' 2>/dev/null && '%s' --cell 5mm '%s/arm-coarse.obj' 2>/dev/null",
             FLX_SOURCE_DIR, folder, FLX_MAKE_ARM, folder, FLX_MAKE_ARM, folder);
    return shell(command);
}

static int remove_folder(void** state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return shell(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_embedded_surface_at_rest_is_the_input),
        cmocka_unit_test(the_arm_bends_with_its_bone),
        cmocka_unit_test(the_skin_meets_itself_and_is_pushed_apart),
        cmocka_unit_test(held_it_comes_to_rest),
        cmocka_unit_test(no_contact_switches_in_the_last_ten_frames),
        cmocka_unit_test(nothing_is_deeper_than_a_tenth_of_a_cell),
        cmocka_unit_test(no_element_is_inverted),
        cmocka_unit_test(the_skin_does_not_pass_through_itself),
        cmocka_unit_test(single_precision_stays_with_double),
        cmocka_unit_test(bent_to_125_degrees_dozens_of_contacts_carry_and_come_to_rest),
        cmocka_unit_test(the_same_bits_for_any_number_of_workers),
        cmocka_unit_test(contacts_switched_on_in_a_tangled_fold_open_it),
        cmocka_unit_test(a_proposed_region_keeps_the_skin_apart_as_well),
        cmocka_unit_test(compliance_and_refactorization_agree_on_springs),
        cmocka_unit_test(the_papers_own_settings_run_to_the_end),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

#else

int main(void)
{
    puts("skipped: built without the programs that make the arm");
    return 77;
}

#endif
