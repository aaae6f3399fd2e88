// How far single-precision stepping strays from double: both run the same scene from rest, side by side, and the
// largest distance between corresponding vertices is written for each frame, in cells.
//
//   study_precision SCENE OUTER INNER [KEY=VALUE ...] > frames.csv
//
// Beside the two runs, `step` is the error of one single-precision step from the double run's own state: what a frame
// adds, apart from what it inherits.
#include "study.h"

#include <math.h>

enum
{
    SINGLE, // a run of its own
    DOUBLE, // the reference
    STEP,   // single, from the reference's last state
    RUN_COUNT
};

typedef struct comparison
{
    double  farthest; // m
    double  rms;      // m
    int32_t vertex;   // where
} comparison;

static comparison compare(int32_t vertex_count, const double* x, const double* y)
{
    comparison c    = {0};
    double     sum2 = 0.0;
    for (int32_t v = 0; v < vertex_count; ++v)
    {
        double d2 = 0.0;
        for (int k = 0; k < 3; ++k) d2 += (x[3 * v + k] - y[3 * v + k]) * (x[3 * v + k] - y[3 * v + k]);
        sum2 += d2;
        if (d2 <= c.farthest) continue; // written so that NaN shows
        c.farthest = d2;
        c.vertex   = v;
    }
    c.farthest = sqrt(c.farthest);
    c.rms      = sqrt(sum2 / vertex_count);
    return c;
}

int main(int count, char** argument)
{
    if (count < 4)
    {
        fprintf(stderr, "usage: study_precision SCENE OUTER INNER [KEY=VALUE ...]\n");
        return 2;
    }
    flx_context*         ctx      = study_context();
    flx_scene*           scene    = study_scene(ctx, argument[1], count - 4, argument + 4);
    flx_model*           model    = study_model(ctx, scene);
    const flx_model_info info     = flx_model_get_info(model);
    flx_settings         settings = scene->settings;
    flx_solver*          solver[2];
    flx_state*           state[RUN_COUNT];
    double*              x[RUN_COUNT];

    study_check(ctx, flx_settings_set(ctx, &settings, "outer", argument[2]));
    study_check(ctx, flx_settings_set(ctx, &settings, "inner", argument[3]));
    settings.precision = FLX_PRECISION_SINGLE;
    solver[SINGLE]     = study_solver(ctx, model, &settings);
    settings.precision = FLX_PRECISION_DOUBLE;
    solver[DOUBLE]     = study_solver(ctx, model, &settings);
    for (int r = 0; r < RUN_COUNT; ++r)
    {
        state[r] = study_state(ctx, model);
        x[r]     = study_alloc(3 * (size_t)info.vertex_count, sizeof(double));
    }

    const double* rest = flx_model_rest_positions(model);
    comparison    most = {0};
    printf("frame,difference_cells,rms_cells,step_cells,vertex,rest_x_m,rest_y_m,rest_z_m,active_single,active_double,"
           "residual_single_N,residual_double_N,inverted_double\n");
    for (int32_t frame = 1; frame <= scene->run.frames; ++frame)
    {
        flx_step_stats stats[RUN_COUNT];
        flx_state_copy(state[STEP], state[DOUBLE]);
        for (int r = 0; r < RUN_COUNT; ++r)
        {
            study_check(ctx, flx_solver_step(solver[r == DOUBLE], state[r], &stats[r]));
            flx_state_positions(state[r], x[r]);
        }
        const comparison c = compare(info.vertex_count, x[SINGLE], x[DOUBLE]);
        const comparison s = compare(info.vertex_count, x[STEP], x[DOUBLE]);
        printf("%d,%.3g,%.3g,%.3g,%d,%.5f,%.5f,%.5f,%d,%d,%.3g,%.3g,%d\n", frame, c.farthest / info.cell,
               c.rms / info.cell, s.farthest / info.cell, c.vertex, rest[3 * c.vertex], rest[3 * c.vertex + 1],
               rest[3 * c.vertex + 2], stats[SINGLE].active, stats[DOUBLE].active, stats[SINGLE].residual,
               stats[DOUBLE].residual, stats[DOUBLE].inverted);
        fflush(stdout);
        if (c.farthest > most.farthest) most = c;
    }
    fprintf(stderr, "%d tets, cell %.3g mm, %d outer x %d inner: %.2g of a cell at most\n", info.tet_count,
            1e3 * info.cell, settings.outer, settings.inner, most.farthest / info.cell);

    for (int r = 0; r < RUN_COUNT; ++r)
    {
        free(x[r]);
        flx_state_destroy(state[r]);
    }
    flx_solver_destroy(solver[SINGLE]);
    flx_solver_destroy(solver[DOUBLE]);
    flx_model_destroy(model);
    flx_scene_destroy(ctx, scene);
    flx_context_destroy(ctx);
    return 0;
}
