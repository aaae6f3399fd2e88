// Memory: none asked for in a step, and every refusal survived.
#include "solver/scenes.h"

#include <execinfo.h>

// --- steps ----------------------------------------------------------------------------------------------------

static void no_allocation_over(int scene, int override_count, const char* const* overrides, int steps)
{
    fixture        f;
    flx_step_stats stats;
    int64_t        touched = 0;
    open_scene(&f, scene, 2, override_count, overrides);
    const int64_t count = flx_context_allocation_count(f.ctx), bytes = flx_context_bytes_now(f.ctx);
    for (int k = 0; k < steps; ++k)
    {
        fixture_steps(&f, 1, &stats);
        touched += stats.active;
    }
    if (flx_context_allocation_count(f.ctx) != count || flx_context_bytes_now(f.ctx) != bytes)
        fail_msg("%s, %s, %s: %lld allocations in %d steps", test_scenes[scene].name, overrides[0], overrides[1],
                 (long long)(flx_context_allocation_count(f.ctx) - count), steps);
    assert_true(touched > steps); // with contacts at work
    fixture_end(&f);
}

static void no_allocation_in_fifty_steps(void** state)
{
    (void)state;
    for (int scene = 0; scene < SCENE_COUNT; ++scene)
        for (int dynamic = 0; dynamic < 2; ++dynamic)
            for (int wide = 0; wide < 2; ++wide)
                for (int law = 0; law < 2; ++law)
                {
                    const char* const sets[] = {dynamic ? "mode=dynamic" : "mode=quasistatic",
                                                law ? "contact[0].law=spring" : "contact[0].law=unilateral",
                                                wide ? "precision=double" : "precision=single", "inner=2"};
                    no_allocation_over(scene, 4, sets, scene == SCENE_BALL && wide ? 10 : 50);
                }
}

static void no_allocation_in_fifty_steps_of_the_papers_strategies(void** state)
{
    (void)state;
    // strategy full allocates: it is the reference that factorizes anew in each step, and says so
    for (int wide = 0; wide < 2; ++wide)
        for (int pcg = 0; pcg < 2; ++pcg)
        {
            const char* const sets[] = {"contact[0].law=spring", pcg ? "strategy=pcg" : "strategy=refactor",
                                        wide ? "precision=double" : "precision=single", "pcg_iterations=20"};
            no_allocation_over(SCENE_PAIR, 4, sets, 50);
            no_allocation_over(SCENE_PRESS, 4, sets, wide ? 20 : 50);
        }
}

static void queries_of_a_state_allocate_nothing(void** state)
{
    (void)state;
    fixture f;
    open_scene(&f, SCENE_PRESS, 2, 0, NULL);
    fixture_steps(&f, 3, NULL);
    const int64_t        count = flx_context_allocation_count(f.ctx);
    const flx_model_info info  = flx_model_get_info(f.model);
    const size_t         most  = (size_t)(info.vertex_count + info.surface_vertex_count + info.tet_count);
    double*              out   = malloc(3 * sizeof(double) * most);
    flx_state_positions(f.state, out);
    flx_state_set_positions(f.state, out);
    flx_state_velocities(f.state, out);
    flx_state_set_velocities(f.state, out);
    flx_state_surface_positions(f.state, out);
    flx_state_surface_contact_force(f.state, out);
    flx_state_tet_strain(f.state, out, out + info.tet_count);
    assert_true(isfinite(flx_solver_energy(f.solver, f.state)));
    void* block = malloc((size_t)flx_state_bytes(f.state));
    flx_state_write(f.state, block);
    assert_int_equal(flx_state_read(f.ctx, f.state, block, flx_state_bytes(f.state)), FLX_OK);
    assert_true(flx_context_allocation_count(f.ctx) == count);
    free(block);
    free(out);
    fixture_end(&f);
}

// --- refusals ---------------------------------------------------------------------------------------------------

// A bit of everything: lattice and tet bodies, bones, a joint, self contact, obstacles, proposed regions, loads,
// motion.
static const char everything_yaml[] =
    "flexor: 1\n"
    "gravity: 9.81\n"
    "joints: [{name: middle, at: [0, 0, 0]}]\n"
    "bodies:\n"
    "  - {name: soft, surface: soft.obj, lattice: {cell: 0.1}, material: {young: 20 kPa, density: 1000 kg/m3}}\n"
    "  - {name: box, tets: box.mesh, material: {young: 20 kPa, density: 1000 kg/m3}}\n"
    "bones:\n"
    "  - {name: left, capsule: {from: [-0.15, 0, 0], to: [-0.05, 0, 0], radius: 20 mm}}\n"
    "  - {name: right, capsule: {from: [0.05, 0, 0], to: [0.15, 0, 0], radius: 20 mm}, parent: left}\n"
    "attach: {body: soft, bones: [left, right], points: 12, stiffness: 2 N/mm}\n"
    "fix: {body: box, region: {box: {min: [-9, -9, 0.99], max: [9, 9, 9]}}}\n"
    "loads: {body: box, region: all, force: [1, 0, 0]}\n"
    "motion: [{bone: right, about: middle, axis: [0, -1, 0], degrees_per_frame: 30, to: 150, then: hold}]\n"
    "obstacles:\n"
    "  - {name: floor, plane: {point: [0, 0, -0.1], normal: [0, 0, 1]}}\n"
    "  - {name: lump, mesh: bone.obj, cell: 0.1}\n"
    "contact:\n"
    "  - {self: soft, region: auto, spacing: 0.04}\n"
    "  - {body: soft, obstacle: floor, region: auto}\n"
    "  - {body: box, obstacle: lump, region: all}\n"
    "solver: {acceleration: anderson}\n"
    "cameras: [{name: side, from: [0, -1, 0], at: middle}]\n"
    "run: {frames: 6, fps: 30}\n";

/// Closed box surface from lo to hi, n squares along each edge, each two triangles.
static void write_box_surface(const fixture* f, const char* name, const double lo[3], const double hi[3], int n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE* out = fopen(path, "w");
    if (!out) fail_msg("cannot write %s", path);
    int*      number  = malloc(sizeof(int) * (size_t)((n + 1) * (n + 1) * (n + 1)));
    int       count   = 0;
    const int step[3] = {1, n + 1, (n + 1) * (n + 1)};
    for (int k = 0; k <= n; ++k)
        for (int j = 0; j <= n; ++j)
            for (int i = 0; i <= n; ++i)
            {
                if (i % n != 0 && j % n != 0 && k % n != 0) continue;
                number[i + j * step[1] + k * step[2]] = ++count;
                fprintf(out, "v %.17g %.17g %.17g\n", lo[0] + (hi[0] - lo[0]) * i / n, lo[1] + (hi[1] - lo[1]) * j / n,
                        lo[2] + (hi[2] - lo[2]) * k / n);
            }
    for (int side = 0; side < 6; ++side)
    {
        const int a = side / 2, u = (a + 1) % 3, v = (a + 2) % 3;
        for (int p = 0; p < n; ++p)
            for (int q = 0; q < n; ++q)
            {
                const int at   = (side % 2) * n * step[a] + p * step[u] + q * step[v];
                const int c[4] = {number[at], number[at + step[u]], number[at + step[u] + step[v]],
                                  number[at + step[v]]};
                if (side % 2)
                    fprintf(out, "f %d %d %d\nf %d %d %d\n", c[0], c[1], c[2], c[0], c[2], c[3]);
                else
                    fprintf(out, "f %d %d %d\nf %d %d %d\n", c[0], c[2], c[1], c[0], c[3], c[2]);
            }
    }
    free(number);
    fclose(out);
}

// Loops allocate again and again from the same place. To try each place once, and not each of a thousand allocations,
// the context's allocator notes who asked.

enum
{
    MOST_ALLOCATIONS = 8192,
    CALLERS          = 8
}; // 8: from the allocator up to the step of the compile

typedef struct call_log
{
    bool     on;
    int32_t  count;
    uint64_t place[MOST_ALLOCATIONS]; // hash of the callers' addresses
} call_log;

static call_log calls;

static void* logging_allocate(void* user, size_t bytes)
{
    call_log* c = user;
    if (c->on && c->count < MOST_ALLOCATIONS)
    {
        void*     caller[CALLERS];
        const int depth      = backtrace(caller, CALLERS);
        c->place[c->count++] = flx__hash(FLX_HASH_START, caller, (int64_t)sizeof(void*) * depth);
    }
    return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

static void logging_release(void* user, void* memory, size_t bytes)
{
    (void)user, (void)bytes;
    free(memory);
}

static void write_everything(fixture* f)
{
    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = 1;
    desc.allocate         = logging_allocate;
    desc.release          = logging_release;
    desc.memory_user      = &calls;
    *f                    = (fixture){0};
    if (flx_context_create(&desc, &f->ctx) != FLX_OK) fail_msg("no context");
    fixture_folder(f);
    write_box_surface(f, "soft.obj", (const double[3]){-0.2, -0.05, -0.05}, (const double[3]){0.2, 0.05, 0.05}, 3);
    write_box_surface(f, "bone.obj", (const double[3]){0.05, -0.02, -0.02}, (const double[3]){0.15, 0.02, 0.02}, 1);
    fixture_box(f, "box.mesh", (const int[3]){2, 1, 1}, (const double[3]){0, 0, 0.5}, 0.5, 1, 0);
    fixture_box(f, "pair.mesh", (const int[3]){3, 3, 3}, (const double[3]){0, 0, 0}, 0.05, 2, 0.16);
    fixture_box(f, "block.mesh", (const int[3]){2, 2, 2}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
}

/// One refusal after `countdown` allocations: true when the whole went through instead.
static bool survives(fixture* f, const char* yaml, int override_count, const char* const* overrides, int64_t countdown)
{
    flx_context_fail_allocation(f->ctx, countdown);
    const flx_status status = fixture_try_open(f, yaml, override_count, overrides);
    flx_context_fail_allocation(f->ctx, -1);
    if (status != FLX_OK)
    {
        if (status != FLX_ERR_MEMORY)
            fail_msg("allocation %lld refused: %s instead of out of memory: %s", (long long)countdown,
                     flx_status_name(status), flx_context_error(f->ctx));
        // each call that failed left its target empty, and what came after was never called
        assert_null(f->state);
        assert_non_null(strstr(flx_context_error(f->ctx), "memory"));
    }
    fixture_close_parts(f);
    if (flx_context_bytes_now(f->ctx) != 0)
        fail_msg("allocation %lld refused: %lld bytes are lost", (long long)countdown,
                 (long long)flx_context_bytes_now(f->ctx));
    return status == FLX_OK;
}

static flx_status make_solver(fixture* f)
{
    flx_status status = FLX_OK;
    FLX_TRY(flx_solver_create(f->ctx, f->model, NULL, NULL, NULL, &f->solver));
    FLX_TRY(flx_state_create(f->ctx, f->model, &f->state));
done:
    return status;
}

/// Refuse the first allocation of each place, and the last one: cleaning up in the middle of a loop is another matter.
static void refuse_each_place(fixture* f, const char* yaml, int override_count, const char* const* overrides,
                              int fewest)
{
    calls.count = 0;
    calls.on    = true;
    fixture_open(f, yaml, override_count, overrides);
    calls.on            = false;
    const int32_t count = calls.count;
    int           tried = 0;
    // the solver and the state: of the model that is there
    flx_state_destroy(f->state);
    flx_solver_destroy(f->solver);
    f->state = NULL, f->solver = NULL;
    const int64_t before_solver = flx_context_allocation_count(f->ctx), bytes = flx_context_bytes_now(f->ctx);
    assert_int_equal(make_solver(f), FLX_OK);
    const int32_t of_solver = (int32_t)(flx_context_allocation_count(f->ctx) - before_solver);
    flx_state_destroy(f->state);
    flx_solver_destroy(f->solver);
    for (int32_t k = 0; k < of_solver; ++k)
    {
        f->solver = (flx_solver*)f, f->state = (flx_state*)f; // not NULL: the calls must make them so
        flx_context_fail_allocation(f->ctx, k);
        assert_int_equal(make_solver(f), FLX_ERR_MEMORY);
        flx_context_fail_allocation(f->ctx, -1);
        if (f->solver && f->solver != (flx_solver*)f)
            flx_solver_destroy(f->solver), assert_null(f->state); // the state failed
        else
            assert_null(f->solver);
        if (flx_context_bytes_now(f->ctx) != bytes)
            fail_msg("solver, allocation %d refused: %lld bytes are lost", k,
                     (long long)(flx_context_bytes_now(f->ctx) - bytes));
        ++tried;
    }
    f->solver = NULL, f->state = NULL;
    fixture_close_parts(f);
    assert_true(count < MOST_ALLOCATIONS);
    // the scene and the model
    for (int32_t k = 0; k < count - of_solver; ++k)
    {
        bool before = false, after = false;
        for (int32_t i = 0; i < k; ++i) before = before || calls.place[i] == calls.place[k];
        for (int32_t i = k + 1; i < count; ++i) after = after || calls.place[i] == calls.place[k];
        if (before && after) continue;
        if (survives(f, yaml, override_count, overrides, k))
            fail_msg("allocation %d of %d was refused and nobody noticed", k, count);
        ++tried;
    }
    assert_true(survives(f, yaml, override_count, overrides, count));
    print_message("    %d of %d allocations refused\n", tried, count);
    assert_true(tried >= fewest);
}

static void every_refused_allocation_fails_cleanly_from_the_scene_to_the_state(void** state)
{
    (void)state;
    fixture f;
    write_everything(&f);
    refuse_each_place(&f, everything_yaml, 0, NULL, 300);
    fixture_end(&f);
}

static void every_refused_allocation_fails_cleanly_with_the_papers_strategies(void** state)
{
    (void)state;
    static const char* const strategies[] = {"strategy=refactor", "strategy=full", "strategy=pcg", "precision=double"};
    fixture                  f;
    write_everything(&f);
    for (int i = 0; i < 4; ++i)
        refuse_each_place(&f, test_scenes[SCENE_PRESS].yaml, 2,
                          (const char* const[]){"contact[0].law=spring", strategies[i]}, 100);
    fixture_end(&f);
}

static void a_step_refused_memory_keeps_the_state_and_can_be_repeated(void** state)
{
    (void)state;
    // steps that factorize anew: strategy full, and fixed regions that come and go
    static const char* const what[] = {"strategy=full", "fix[0].until=0.05"};
    for (int i = 0; i < 2; ++i)
    {
        const char* const sets[] = {"contact[0].law=spring", what[i], "mode=dynamic"};
        fixture           f, calm;
        flx_step_stats    stats;
        write_everything(&f);
        write_everything(&calm);
        fixture_open(&f, test_scenes[SCENE_PRESS].yaml, 3, sets);
        fixture_open(&calm, test_scenes[SCENE_PRESS].yaml, 3, sets);
        int64_t refused = 0;
        for (int step = 0; step < 5; ++step)
        {
            fixture_steps(&calm, 1, &stats);
            for (int64_t k = 0;; ++k)
            {
                const uint64_t before = flx_state_hash(f.state);
                flx_context_fail_allocation(f.ctx, k);
                const flx_status status = flx_solver_step(f.solver, f.state, NULL);
                flx_context_fail_allocation(f.ctx, -1);
                if (status == FLX_OK) break;
                assert_int_equal(status, FLX_ERR_MEMORY);
                assert_true(flx_state_hash(f.state) == before);
                ++refused;
            }
            assert_true(flx_state_hash(f.state) == flx_state_hash(calm.state));
        }
        assert_true(refused > 5);
        fixture_end(&f);
        fixture_end(&calm);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allocation_in_fifty_steps),
        cmocka_unit_test(no_allocation_in_fifty_steps_of_the_papers_strategies),
        cmocka_unit_test(queries_of_a_state_allocate_nothing),
        cmocka_unit_test(every_refused_allocation_fails_cleanly_from_the_scene_to_the_state),
        cmocka_unit_test(every_refused_allocation_fails_cleanly_with_the_papers_strategies),
        cmocka_unit_test(a_step_refused_memory_keeps_the_state_and_can_be_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
