// A scene of a few lines and a box of tets, opened the way a user's program would: files, scene, model, solver, state.
#ifndef FLX_TESTS_SOLVER_FIXTURE_H
#define FLX_TESTS_SOLVER_FIXTURE_H

#include "test.h"

#include "flexor/flexor.h"
#include "math/mat3.h"
#include "model/model.h"
#include "solver/solver_internal.h"

typedef struct fixture
{
    char         folder[64];
    flx_context* ctx;
    flx_scene*   scene;
    flx_model*   model;
    flx_solver*  solver;
    flx_state*   state;
} fixture;

static inline void fixture_folder(fixture* f)
{
    snprintf(f->folder, sizeof f->folder, "/tmp/flexor-test-XXXXXX");
    if (!mkdtemp(f->folder)) fail_msg("no temporary folder");
}

/// Box [lo, lo + n h] of n[0] n[1] n[2] cubes, 6 tets each, appended copies at `shift` apart along x. Medit file.
static inline void fixture_box(const fixture* f, const char* name, const int n[3], const double lo[3], double h,
                               int copies, double shift)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE* out = fopen(path, "w");
    if (!out) fail_msg("cannot write %s", path);
    static const int kuhn[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
    const int        per        = (n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    fprintf(out, "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n", copies * per);
    for (int b = 0; b < copies; ++b)
        for (int k = 0; k <= n[2]; ++k)
            for (int j = 0; j <= n[1]; ++j)
                for (int i = 0; i <= n[0]; ++i)
                    fprintf(out, "%.17g %.17g %.17g 0\n", lo[0] + h * i + b * shift, lo[1] + h * j, lo[2] + h * k);
    fprintf(out, "Tetrahedra\n%d\n", copies * 6 * n[0] * n[1] * n[2]);
    for (int b = 0; b < copies; ++b)
        for (int k = 0; k < n[2]; ++k)
            for (int j = 0; j < n[1]; ++j)
                for (int i = 0; i < n[0]; ++i)
                    for (int t = 0; t < 6; ++t)
                    {
                        for (int c = 0; c < 4; ++c)
                        {
                            const int v = kuhn[t][c], x = i + (v & 1), y = j + (v >> 1 & 1), z = k + (v >> 2);
                            fprintf(out, "%d ", 1 + b * per + x + (n[0] + 1) * (y + (n[1] + 1) * z));
                        }
                        fprintf(out, "1\n");
                    }
    fprintf(out, "End\n");
    fclose(out);
}

/// Sheets [lo, lo + n h] of n[0] n[1] squares in the planes z = lo[2], lo[2] + gap, ...: two triangles each square,
/// diagonals alternating. OBJ file.
static inline void fixture_sheets(const fixture* f, const char* name, const int n[2], const double lo[3], double h,
                                  int layers, double gap)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE* out = fopen(path, "w");
    if (!out) fail_msg("cannot write %s", path);
    for (int k = 0; k < layers; ++k)
        for (int j = 0; j <= n[1]; ++j)
            for (int i = 0; i <= n[0]; ++i)
                fprintf(out, "v %.17g %.17g %.17g\n", lo[0] + h * i, lo[1] + h * j, lo[2] + gap * k);
    for (int k = 0; k < layers; ++k)
        for (int j = 0; j < n[1]; ++j)
            for (int i = 0; i < n[0]; ++i)
            {
                const int a = 1 + i + (n[0] + 1) * (j + (n[1] + 1) * k), b = a + 1, d = a + n[0] + 1, c = d + 1,
                          odd = (i + j) % 2;
                fprintf(out, "f %d %d %d\nf %d %d %d\n", a, b, odd ? d : c, odd ? b : a, c, d);
            }
    fclose(out);
}

/// One such sheet.
static inline void fixture_sheet(const fixture* f, const char* name, const int n[2], const double lo[3], double h)
{
    fixture_sheets(f, name, n, lo, h, 1, 0);
}

/// Box of n[0] n[1] n[2] bricks with edges h, each cut into 12 tets around its middle; faces are cut between their
/// corners with i + j + k even, so the mesh is mirror symmetric along axes with an even number. Bends more easily than
/// fixture_box().
static inline void fixture_bricks(const fixture* f, const char* name, const int n[3], const double lo[3],
                                  const double h[3])
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE* out = fopen(path, "w");
    if (!out) fail_msg("cannot write %s", path);
    const int corners = (n[0] + 1) * (n[1] + 1) * (n[2] + 1), bricks = n[0] * n[1] * n[2];
    fprintf(out, "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n", corners + bricks);
    for (int middle = 0; middle < 2; ++middle)
        for (int k = 0; k <= n[2] - middle; ++k)
            for (int j = 0; j <= n[1] - middle; ++j)
                for (int i = 0; i <= n[0] - middle; ++i)
                    fprintf(out, "%.17g %.17g %.17g 0\n", lo[0] + h[0] * (i + 0.5 * middle),
                            lo[1] + h[1] * (j + 0.5 * middle), lo[2] + h[2] * (k + 0.5 * middle));
    fprintf(out, "Tetrahedra\n%d\n", 12 * bricks);
    for (int b = 0; b < bricks; ++b)
        for (int side = 0; side < 6; ++side)
        {
            const int at[3] = {b % n[0], b / n[0] % n[1], b / n[0] / n[1]};
            const int a = side / 2, u = (a + 1) % 3, v = (a + 2) % 3;
            int       ring[4]; // counter-clockwise seen from outside, beginning at an even corner
            int       odd = 0;
            for (int c = 0; c < 4; ++c)
            {
                int p[3] = {at[0], at[1], at[2]};
                p[a] += side % 2;
                p[u] += side % 2 ? c == 1 || c == 2 : c >= 2;
                p[v] += side % 2 ? c >= 2 : c == 1 || c == 2;
                if (c == 0) odd = (p[0] + p[1] + p[2]) % 2;
                ring[c] = 1 + p[0] + (n[0] + 1) * (p[1] + (n[1] + 1) * p[2]);
            }
            for (int t = 0; t < 2; ++t)
                fprintf(out, "%d %d %d %d 1\n", ring[odd], ring[(odd + 2 + t) % 4], ring[(odd + 1 + t) % 4],
                        1 + corners + b);
        }
    fprintf(out, "End\n");
    fclose(out);
}

static inline void fixture_close_parts(fixture* f)
{
    flx_state_destroy(f->state);
    flx_solver_destroy(f->solver);
    flx_model_destroy(f->model);
    flx_scene_destroy(f->ctx, f->scene);
    f->state = NULL, f->solver = NULL, f->model = NULL, f->scene = NULL;
}

/// Every call may be NULL-checked by the caller through the returned status; what was made so far stays in f.
static inline flx_status fixture_try_open(fixture* f, const char* yaml, int override_count,
                                          const char* const* overrides)
{
    flx_status status = FLX_OK;
    char       path[128];
    snprintf(path, sizeof path, "%s/scene.yaml", f->folder);
    FILE* out = fopen(path, "w");
    if (!out) fail_msg("cannot write %s", path);
    fputs(yaml, out);
    fclose(out);
    flx_scene_options options = flx_scene_options_default();
    options.override_count    = override_count;
    options.overrides         = overrides;
    FLX_TRY(flx_scene_read(f->ctx, path, &options, &f->scene));
    FLX_TRY(flx_model_compile(f->ctx, f->scene, NULL, NULL, &f->model));
    FLX_TRY(flx_solver_create(f->ctx, f->model, NULL, NULL, NULL, &f->solver));
    FLX_TRY(flx_state_create(f->ctx, f->model, &f->state));
done:
    return status;
}

static inline void fixture_open(fixture* f, const char* yaml, int override_count, const char* const* overrides)
{
    const flx_status status = fixture_try_open(f, yaml, override_count, overrides);
    if (status != FLX_OK) fail_msg("%s: %s", flx_status_name(status), flx_context_error(f->ctx));
}

static inline void fixture_start(fixture* f, int32_t workers)
{
    *f     = (fixture){0};
    f->ctx = test_context(workers);
    fixture_folder(f);
}

static inline void fixture_end(fixture* f)
{
    fixture_close_parts(f);
    assert_int_equal(flx_context_bytes_now(f->ctx), 0);
    flx_context_destroy(f->ctx);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    if (system(command) != 0) print_message("could not remove %s\n", f->folder);
}

static inline void fixture_steps(fixture* f, int count, flx_step_stats* stats)
{
    for (int i = 0; i < count; ++i)
    {
        const flx_status status = flx_solver_step(f->solver, f->state, stats);
        if (status != FLX_OK) fail_msg("step %d: %s", i, flx_context_error(f->ctx));
    }
}

#endif
