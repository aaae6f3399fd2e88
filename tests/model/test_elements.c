// Elements packed for the kernels: complete, in order, and with the right numbers.
#include "model_fixture.h"

static void open_block(fixture* f, model_log* log)
{
    model_start(f, log);
    fixture_box(f, "b.mesh", (const int[3]){8, 6, 7}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
    model_open(f, "flexor: 1\n"
                  "bodies: [{name: b, tets: b.mesh, material: {young: 30 kPa, density: 800 kg/m3}}]\n"
                  "bones: [{name: rod, capsule: {from: [0.2, 0.3, 0.3], to: [0.6, 0.3, 0.3], radius: 50 mm}}]\n"
                  "attach: {body: b, bones: [rod], points: 50, stiffness: 3 N/mm}\n"
                  "fix: {body: b, region: {box: {min: [-1, -1, -1], max: [0.01, 1, 1]}}}\n"
                  "obstacles: [{name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}]\n"
                  "contact: [{body: b, obstacle: floor, region: {box: {min: [-1, -1, -1], max: [9, 0.45, 0.21]}}}]\n"
                  "run: {frames: 1, fps: 30}\n");
}

/// Count what the patches hold; each used lane must repeat its tet's numbers.
static void count_tets(const flx_model* m, const flx_patches* p, int* times)
{
    int32_t used = 0, most = 0;
    for (int32_t k = 0; k < p->patch_count; ++k)
    {
        const int32_t first = p->first_local[k];
        most                = p->first_local[k + 1] - first > most ? p->first_local[k + 1] - first : most;
        for (int32_t b = p->first_block[k]; b < p->first_block[k + 1]; ++b)
            for (int lane = 0; lane < FLX_LANES; ++lane)
            {
                const int32_t e = p->tet[b * FLX_LANES + lane];
                for (int c = 0; c < 4; ++c) // unused lanes too may be read
                    assert_in_range(first + p->corner[(b * 4 + c) * FLX_LANES + lane], first,
                                    p->first_local[k + 1] - 1);
                if (e < 0)
                {
                    assert_true(p->stiffness_f32[b * FLX_LANES + lane] == 0); // an unused lane pulls at nothing
                    continue;
                }
                ++times[e];
                ++used;
                for (int c = 0; c < 4; ++c)
                    assert_int_equal(p->vertex[first + p->corner[(b * 4 + c) * FLX_LANES + lane]], m->tet[4 * e + c]);
                for (int c = 0; c < 9; ++c)
                    assert_true(p->rest_inv_f32[(b * 9 + c) * FLX_LANES + lane] == (float)m->rest_inv[9 * e + c]);
                assert_true(p->stiffness_f32[b * FLX_LANES + lane] == (float)m->stiffness[e]);
            }
    }
    assert_int_equal(used, p->tet_count);
    assert_int_equal(most, p->local_max);
    assert_int_equal(p->first_block[p->patch_count], p->block_count);
    assert_int_equal(p->first_local[p->patch_count], p->local_count);
}

static void every_tet_is_in_exactly_one_lane_of_alpha_or_beta(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    open_block(&f, &log);
    const flx_model* m = f.model;
    int *alpha = calloc((size_t)m->tet_count, sizeof *alpha), *beta = calloc((size_t)m->tet_count, sizeof *beta);
    count_tets(m, &m->alpha, alpha);
    count_tets(m, &m->beta, beta);
    assert_true(m->alpha.patch_count > 2 && m->beta.tet_count > 50);
    for (int32_t e = 0; e < m->tet_count; ++e)
    {
        int prone = 0;
        for (int c = 0; c < 4; ++c) prone += m->tet[4 * e + c] >= m->free_count;
        assert_int_equal(beta[e], prone == 4);
        assert_int_equal(alpha[e], prone != 4);
    }
    for (int32_t k = 0; k < m->beta.tet_count; ++k)
    {
        assert_int_equal(beta[m->beta_tet[k]], 1);
        if (k > 0) assert_true(m->beta_tet[k] > m->beta_tet[k - 1]);
    }
    free(alpha);
    free(beta);
    model_end(&f);
}

static void check_gather(const flx_patches* p, const int32_t* first, const int32_t* slot, int32_t first_vertex,
                         int32_t count)
{
    int* times = calloc((size_t)p->local_count + 1, sizeof *times);
    assert_int_equal(first[0], 0);
    assert_int_equal(first[count], p->local_count);
    for (int32_t i = 0; i < count; ++i)
        for (int32_t k = first[i]; k < first[i + 1]; ++k)
        {
            assert_int_equal(p->vertex[slot[k]], first_vertex + i);
            if (k > first[i]) assert_true(slot[k] > slot[k - 1]); // the order in which they are added is fixed
            ++times[slot[k]];
        }
    for (int32_t k = 0; k < p->local_count; ++k) assert_int_equal(times[k], 1);
    free(times);
}

static void gather_lists_name_every_local_entry_once_in_order(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    open_block(&f, &log);
    const flx_model* m = f.model;
    check_gather(&m->alpha, m->alpha_first, m->alpha_slot, 0, m->vertex_count);
    check_gather(&m->beta, m->beta_first, m->beta_slot, m->free_count, m->prone_count);
    model_end(&f);
}

static void rest_inverses_undo_the_rest_edges_and_volumes_are_right(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    open_block(&f, &log);
    const flx_model* m = f.model;
    for (int32_t e = 0; e < m->tet_count; ++e)
    {
        double dm[9], unit[9];
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i)
                dm[3 * i + j] = m->x_rest[3 * m->tet[4 * e + j + 1] + i] - m->x_rest[3 * m->tet[4 * e] + i];
        flx__mul3(dm, m->rest_inv + 9 * e, unit);
        for (int k = 0; k < 9; ++k) CHECK_NEAR(unit[k], k % 4 == 0, 1e-13);
        CHECK_NEAR(m->stiffness[e], 2 * 15e3 * 0.001 / 6, 1e-12); // 2 mu times a sixth of a cube of 1 dm
    }
    model_end(&f);
}

static void spring_lists_name_every_corner_that_carries_weight_once(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    open_block(&f, &log);
    const flx_model* m     = f.model;
    int*             times = calloc(4 * (size_t)m->spring_count, sizeof *times);
    for (int32_t v = 0; v < m->vertex_count; ++v)
        for (int32_t k = m->spring_first[v]; k < m->spring_first[v + 1]; ++k)
        {
            const int32_t entry = m->spring_entry[k];
            assert_int_equal(m->spring[entry / 4].vertex[entry % 4], v);
            ++times[entry];
        }
    int32_t bones = 0, fixed = 0;
    for (int32_t s = 0; s < m->spring_count; ++s)
    {
        const flx_spring* p   = &m->spring[s];
        double            sum = 0, at[3] = {0};
        for (int c = 0; c < 4; ++c)
        {
            assert_int_equal(times[4 * s + c], p->weight[c] != 0);
            sum += p->weight[c];
            for (int a = 0; a < 3; ++a) at[a] += p->weight[c] * m->x_rest[3 * p->vertex[c] + a];
        }
        CHECK_NEAR(sum, 1, 1e-12);
        for (int a = 0; a < 3; ++a) CHECK_NEAR(at[a], p->rest[a], 1e-12); // made where the point is: no pull at rest
        bones += p->bone == 0;
        fixed += p->bone == -1;
        if (p->bone == 0)
        {
            assert_true(p->stiffness == 3000);
            const double x = fmin(fmax(p->rest[0], 0.2), 0.6), axis[3] = {x, 0.3, 0.3};
            CHECK_NEAR(flx__distance3(p->rest, axis), 0.05, 1e-3); // on the capsule, facets apart
        }
        else
            assert_true(p->rest[0] == 0 && p->stiffness > 0);
    }
    assert_int_equal(bones, 50);
    assert_int_equal(fixed, 7 * 8); // the face x = 0
    free(times);
    model_end(&f);
}

static void the_matrix_is_what_elements_springs_and_masses_add_up_to(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    model_start(&f, &log);
    fixture_box(&f, "b.mesh", (const int[3]){2, 2, 2}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
    model_open(&f, "flexor: 1\n"
                   "bodies: [{name: b, tets: b.mesh, material: {young: 30 kPa, density: 800 kg/m3}}]\n"
                   "bones: [{name: rod, capsule: {from: [0.05, 0.1, 0.1], to: [0.15, 0.1, 0.1], radius: 20 mm}}]\n"
                   "attach: {body: b, bones: [rod], points: 20, stiffness: 3 N/mm}\n"
                   "fix: {body: b, region: {box: {min: [-1, -1, -1], max: [0.01, 1, 1]}}, from: 1, until: 2}\n"
                   "run: {frames: 1, fps: 30}\n");
    const flx_model* m = f.model;
    const int32_t    n = m->vertex_count;
    for (int on = 0; on < 2; ++on)
    {
        const double time  = on ? 1.5 : 0.5;
        double*      dense = calloc((size_t)n * (size_t)n, sizeof *dense);
        for (int32_t i = 0; i < n; ++i) dense[i * n + i] = 900 * m->mass[i];
        for (int32_t e = 0; e < m->tet_count; ++e)
        {
            double g[4][3] = {{0}};
            for (int j = 0; j < 3; ++j)
                for (int c = 0; c < 3; ++c) g[j + 1][c] = m->rest_inv[9 * e + 3 * j + c], g[0][c] -= g[j + 1][c];
            for (int a = 0; a < 4; ++a)
                for (int b = 0; b < 4; ++b)
                    dense[m->tet[4 * e + a] * n + m->tet[4 * e + b]] += m->stiffness[e] * flx__dot3(g[a], g[b]);
        }
        for (int32_t s = 0; s < m->spring_count; ++s)
        {
            const flx_spring* p = &m->spring[s];
            assert_int_equal(flx__spring_active(p, time), p->bone >= 0 || on);
            for (int a = 0; a < 4 && flx__spring_active(p, time); ++a)
                for (int b = 0; b < 4; ++b)
                    dense[p->vertex[a] * n + p->vertex[b]] += p->stiffness * p->weight[a] * p->weight[b];
        }
        flx_csc      a;
        flx_context* ctx = f.ctx;
        CHECK_OK(flx__model_assemble(m, time, 900, &a));
        double scale = 0;
        for (int32_t i = 0; i < n; ++i) scale = fmax(scale, dense[i * n + i]);
        for (int32_t j = 0; j < n; ++j)
        {
            for (int64_t k = a.first[j]; k < a.first[j + 1]; ++k)
            {
                assert_true(a.row[k] >= j);
                CHECK_NEAR(a.value[k], dense[a.row[k] * n + j], 1e-13 * scale);
                dense[a.row[k] * n + j] = 0;
            }
            for (int32_t i = j; i < n; ++i) CHECK_NEAR(dense[i * n + j], 0, 1e-13 * scale); // nothing is left out
        }
        flx__csc_release(ctx, &a);
        free(dense);
    }
    model_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tet_is_in_exactly_one_lane_of_alpha_or_beta),
        cmocka_unit_test(gather_lists_name_every_local_entry_once_in_order),
        cmocka_unit_test(rest_inverses_undo_the_rest_edges_and_volumes_are_right),
        cmocka_unit_test(spring_lists_name_every_corner_that_carries_weight_once),
        cmocka_unit_test(the_matrix_is_what_elements_springs_and_masses_add_up_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
