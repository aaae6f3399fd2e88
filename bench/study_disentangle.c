// The test of [LLKS] figure 4: an elbow is bent to its last pose with collisions disabled, so that the flesh of the two
// arms lies in one another; then collision response is enabled, and the pose is held while the solver disentangles it.
//
//   study_disentangle run SCENE METHOD INNER OUTER RECORDING|- [KEY=VALUE ...] > METHOD-INNER.csv
//   study_disentangle draw OUT.svg METHOD-INNER.csv ...
//
// METHOD: `paper`    springs while a proxy penetrates, dense refactorization in every inner iteration
//         `contacts` contacts that only push, by compliance
//         `flexor`   the same, and squeezed elements are held open (min_stretch): what a scene does by default
// A step of one outer iteration is taken at a time. Bending uses a model of the same scene without its `contact:`; its
// positions go to a model with contacts, whose bones stand where the motion ends.
#include "study.h"

#include "plot.h"

#include <math.h>
#include <string.h>

// --- methods -------------------------------------------------------------------------------------------------

typedef struct method
{
    const char *name, *label, *color;
    bool        springs, open;
} method;

static const method methods[] = {{"paper", "[LLKS]: springs, refactorization", "#d95f02", true, false},
                                 {"contacts", "Flexor, min_stretch: 0", "#1f5fa8", false, false},
                                 {"flexor", "Flexor", "#2a9d4a", false, true}};

/// The method whose name the text begins with; NULL when there is none.
static const method* method_of(const char* text)
{
    for (size_t k = 0; k < sizeof methods / sizeof *methods; ++k)
        if (strncmp(text, methods[k].name, strlen(methods[k].name)) == 0) return &methods[k];
    return NULL;
}

// --- one curve -----------------------------------------------------------------------------------------------

typedef struct point
{
    double iteration;
    double ms;          // solver's wall time so far
    double penetration; // cells
    double crossings;   // pairs of triangles
    double energy;      // J, elastic and attachments
    double residual;    // N, left by this iteration
    double motion;      // cells
    double active, switched, inverted;
} point;

static const char header[] = "iteration,ms,penetration_cells,crossings,energy_J,residual_N,motion_cells,active,"
                             "switched,inverted";
#define POINT_VALUES 10 // of a struct of doubles, in the order of the header

static void write_point(const point* p)
{
    printf("%g,%.3f,%.5g,%g,%.10g,%.5g,%.5g,%g,%g,%g\n", p->iteration, p->ms, p->penetration, p->crossings, p->energy,
           p->residual, p->motion, p->active, p->switched, p->inverted);
    fflush(stdout);
}

static double count_crossings(flx_context* ctx, const flx_model* model, const flx_state* state, double* surface)
{
    const flx_model_info info  = flx_model_get_info(model);
    int64_t              pairs = 0;
    flx_state_surface_positions(state, surface);
    study_check(ctx, flx_surface_crossings(ctx, info.surface_vertex_count, surface, info.surface_triangle_count,
                                           flx_model_surface_triangles(model), &pairs));
    return (double)pairs;
}

static double count_inverted(const flx_model* model, const flx_state* state, double* ratio)
{
    const int32_t tet_count = flx_model_get_info(model).tet_count;
    int32_t       inverted  = 0;
    flx_state_tet_strain(state, NULL, ratio);
    for (int32_t t = 0; t < tet_count; ++t) inverted += !(ratio[t] > 0);
    return inverted;
}

// --- bending with collisions disabled --------------------------------------------------------------------------

/// Positions [vertex_count][3] at the end of the scene's motion, found without contacts.
static double* bend(flx_context* ctx, flx_scene* scene)
{
    scene->contact_count        = 0;
    flx_model*           model  = study_model(ctx, scene);
    const flx_model_info info   = flx_model_get_info(model);
    flx_solver*          solver = study_solver(ctx, model, NULL);
    flx_state*           state  = study_state(ctx, model);
    double*              x      = study_alloc(3 * (size_t)info.vertex_count, sizeof *x);
    flx_step_stats       stats  = {0};
    for (int32_t k = 0; k < scene->run.frames; ++k) study_check(ctx, flx_solver_step(solver, state, &stats));
    fprintf(stderr, "bent without contacts: residual %.3g N, motion %.3g cells\n", stats.residual,
            stats.motion / info.cell);
    flx_state_positions(state, x);
    flx_state_destroy(state);
    flx_solver_destroy(solver);
    flx_model_destroy(model);
    return x;
}

/// All motion ended from the start: bones stand at their last pose.
static void hold_last_pose(flx_scene* scene)
{
    for (int32_t m = 0; m < scene->motion_count; ++m)
    {
        flx_motion_desc* motion = &scene->motion[m];
        motion->key[0]          = motion->key[motion->key_count - 1];
        motion->key[0].time     = 0;
        motion->key_count       = 1;
    }
}

static void choose_method(flx_context* ctx, flx_scene* scene, const method* chosen, const char* inner)
{
    for (int32_t c = 0; c < scene->contact_count; ++c)
        scene->contact[c].law = chosen->springs ? FLX_LAW_SPRING : FLX_LAW_UNILATERAL;
    scene->settings.strategy = chosen->springs ? FLX_STRATEGY_REFACTOR : FLX_STRATEGY_COMPLIANCE;
    scene->settings.outer    = 1;
    if (!chosen->open) scene->settings.min_stretch = 0;
    study_check(ctx, flx_settings_set(ctx, &scene->settings, "inner", inner));
}

// --- disentangling ---------------------------------------------------------------------------------------------

typedef struct run
{
    flx_context*   ctx;
    flx_model*     model;
    flx_model_info info;
    flx_solver*    solver;
    flx_state*     state;
    flx_recorder*  recorder; // or NULL
    double*        surface;  // scratch [surface_vertex_count][3]
    double*        ratio;    // scratch [tet_count]
} run;

static void record(run* r, const flx_step_stats* stats)
{
    if (r->recorder) study_check(r->ctx, flx_recorder_frame(r->recorder, r->state, stats));
}

static point look(run* r, double iteration)
{
    return (point){.iteration   = iteration,
                   .penetration = NAN,
                   .motion      = NAN,
                   .crossings   = count_crossings(r->ctx, r->model, r->state, r->surface),
                   .inverted    = count_inverted(r->model, r->state, r->ratio),
                   .energy      = flx_solver_energy(r->solver, r->state)};
}

/// Every iteration at first, then every fifth: to look takes longer than to step.
static bool worth_a_look(int32_t k)
{
    return k <= 20 || k % 5 == 0;
}

static bool is_power_of_ten(int32_t k)
{
    while (k % 10 == 0) k /= 10;
    return k == 1;
}

static void disentangle(run* r, int32_t outer)
{
    point  last   = look(r, 0);
    bool   looked = true;
    double ms     = 0;
    record(r, NULL);
    for (int32_t k = 1; k <= outer + 1; ++k) // the step after the last tells the residual that it left
    {
        flx_step_stats stats;
        study_check(r->ctx, flx_solver_step(r->solver, r->state, &stats));
        last.residual = stats.residual;
        if (looked) write_point(&last);
        ms += stats.ms_total;
        looked = worth_a_look(k);
        if (k > outer || !looked) continue;
        last             = look(r, k);
        last.ms          = ms;
        last.penetration = stats.penetration / r->info.cell;
        last.motion      = stats.motion / r->info.cell;
        last.active      = stats.active;
        last.switched    = stats.switched;
        if (is_power_of_ten(k) || k == outer) record(r, &stats);
    }
}

static int run_command(int count, char** argument)
{
    const method* chosen = count < 5 ? NULL : method_of(argument[1]);
    if (!chosen) return 2;
    const char *  scene_path = argument[0], *inner = argument[2], *recording = argument[4];
    const int32_t outer = atoi(argument[3]);
    run           r     = {.ctx = study_context()};

    flx_scene* scene = study_scene(r.ctx, scene_path, count - 5, argument + 5);
    double*    x     = bend(r.ctx, scene);
    flx_scene_destroy(r.ctx, scene);

    scene = study_scene(r.ctx, scene_path, count - 5, argument + 5);
    hold_last_pose(scene);
    choose_method(r.ctx, scene, chosen, inner);
    r.model   = study_model(r.ctx, scene);
    r.info    = flx_model_get_info(r.model);
    r.solver  = study_solver(r.ctx, r.model, NULL);
    r.state   = study_state(r.ctx, r.model);
    r.surface = study_alloc(3 * (size_t)r.info.surface_vertex_count, sizeof *r.surface);
    r.ratio   = study_alloc((size_t)r.info.tet_count, sizeof *r.ratio);
    flx_state_set_positions(r.state, x);
    if (strcmp(recording, "-") != 0)
        study_check(r.ctx, flx_recorder_create(r.ctx, recording, r.model, true, false, &r.recorder));
    puts(header);
    disentangle(&r, outer);

    study_check(r.ctx, flx_recorder_close(r.recorder));
    free(r.ratio);
    free(r.surface);
    free(x);
    flx_state_destroy(r.state);
    flx_solver_destroy(r.solver);
    flx_model_destroy(r.model);
    flx_scene_destroy(r.ctx, scene);
    flx_context_destroy(r.ctx);
    return 0;
}

// --- the picture -----------------------------------------------------------------------------------------------

enum
{
    ROWS    = 4,
    COLUMNS = 2
};

typedef struct table
{
    char    label[96];
    int32_t count;
    double* column[POINT_VALUES];
} table;

static table read_table(const char* path)
{
    table t    = {0};
    FILE* file = fopen(path, "r");
    char  text[512];
    if (!file || !fgets(text, sizeof text, file) || strncmp(text, header, sizeof header - 1) != 0)
    {
        fprintf(stderr, "%s: not a curve\n", path);
        exit(1);
    }
    int32_t room = 0;
    while (fgets(text, sizeof text, file)) ++room;
    for (int c = 0; c < POINT_VALUES; ++c) t.column[c] = study_alloc((size_t)room, sizeof(double));
    rewind(file);
    if (!fgets(text, sizeof text, file)) exit(1);
    for (; fgets(text, sizeof text, file); ++t.count)
    {
        char* at = text;
        for (int c = 0; c < POINT_VALUES; ++c)
        {
            t.column[c][t.count] = strtod(at, &at);
            if (*at == ',') ++at;
        }
    }
    fclose(file);
    return t;
}

/// Colour by method, dash by inner iterations, both from the file's name: .../METHOD-INNER.csv
static plot_curve style(table* t, const char* path)
{
    const char*   name   = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const method* chosen = method_of(name);
    const char*   dash   = strchr(name, '-');
    const int     inner  = dash ? atoi(dash + 1) : 0;
    if (!chosen || inner < 1)
    {
        fprintf(stderr, "%s: not named METHOD-INNER.csv\n", path);
        exit(2);
    }
    snprintf(t->label, sizeof t->label, "%s, %d inner iteration%s", chosen->label, inner, inner == 1 ? "" : "s");
    return (plot_curve){.color = chosen->color,
                        .dash  = inner == 1   ? "2 3"
                                 : inner == 3 ? "8 4"
                                              : "none",
                        .label = t->label,
                        .count = t->count};
}

static int draw_command(int count, char** argument)
{
    static const struct
    {
        const char* title;
        int         column;
        double      floor;
    } row[ROWS] = {{"deepest penetration, cells", 2, 1e-4},
                   {"crossing pairs of skin triangles", 3, 0.1},
                   {"residual, N", 5, 1e-4},
                   {"motion in an outer iteration, cells", 6, 1e-5}};
    if (count < 2) return 2;
    const int32_t curve_count = count - 1;
    table*        tables      = study_alloc((size_t)curve_count, sizeof *tables);
    plot_curve*   curve       = study_alloc((size_t)curve_count * ROWS * COLUMNS, sizeof *curve);
    plot_panel    panel[ROWS * COLUMNS];
    for (int32_t k = 0; k < curve_count; ++k) tables[k] = read_table(argument[1 + k]);
    for (int32_t i = 0; i < ROWS * COLUMNS; ++i)
    {
        panel[i] = (plot_panel){.title       = row[i / COLUMNS].title,
                                .x_label     = i % COLUMNS == 0 ? "outer iterations" : "ms of solver time",
                                .floor       = row[i / COLUMNS].floor,
                                .curve_count = curve_count,
                                .curve       = curve + (size_t)i * curve_count};
        for (int32_t k = 0; k < curve_count; ++k)
        {
            plot_curve* c = curve + (size_t)i * curve_count + k;
            *c            = style(&tables[k], argument[1 + k]);
            c->x          = tables[k].column[i % COLUMNS];
            c->y          = tables[k].column[row[i / COLUMNS].column];
        }
    }
    FILE* file = fopen(argument[0], "w");
    if (!file)
    {
        perror(argument[0]);
        return 1;
    }
    plot_write(file, "Bent without collisions, then disentangled", ROWS, COLUMNS, panel);
    const bool bad = ferror(file) != 0, written = fclose(file) == 0 && !bad;
    for (int32_t k = 0; k < curve_count; ++k)
        for (int c = 0; c < POINT_VALUES; ++c) free(tables[k].column[c]);
    free(tables);
    free(curve);
    return written ? 0 : 1;
}

int main(int count, char** argument)
{
    int result = 2;
    if (count > 1 && strcmp(argument[1], "run") == 0) result = run_command(count - 2, argument + 2);
    if (count > 1 && strcmp(argument[1], "draw") == 0) result = draw_command(count - 2, argument + 2);
    if (result == 2)
        fprintf(stderr, "usage: study_disentangle run SCENE METHOD INNER OUTER RECORDING|- [KEY=VALUE ...]\n"
                        "       study_disentangle draw OUT.svg METHOD-INNER.csv ...\n"
                        "METHOD is paper, contacts or flexor\n");
    return result;
}
