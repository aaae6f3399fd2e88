#include "reduce/experiment.h"

#include "reduce/lab_shapes.h"
#include "reduce/loads.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define TIME_STEP (1.0 / 60.0)
#define HELD_WEIGHT 1e8
#define DOWN                                                                                                           \
    {                                                                                                                  \
        0.0, -FLX_LAB_GRAVITY, 0.0                                                                                     \
    }

typedef struct plan
{
    const char*  id;
    const char*  title;
    double       bending, spring, strain, tet; // weights; 0: no such constraints
    flx_hold     hold;
    bool         brief;
    int32_t      frames, bending_frames;
    int32_t      run_count;
    flx_lab_load load[FLX_RUN_MOST]; // train, unseen, further training
} plan;

#define SIDE(share)                                                                                                    \
    {                                                                                                                  \
        .gravity = { 0.0, -FLX_LAB_GRAVITY, (share)*FLX_LAB_GRAVITY }                                                  \
    }
#define PULL(by)                                                                                                       \
    {                                                                                                                  \
        .gravity = DOWN, .pull = (by)                                                                                  \
    }
#define TWIST(by)                                                                                                      \
    {                                                                                                                  \
        .speed = (by)                                                                                                  \
    }
#define POKE(force, x, z)                                                                                              \
    {                                                                                                                  \
        .poke = (force), .poke_at = {(x), (z) }                                                                        \
    }
#define POKES(force)                                                                                                   \
    POKE(force, 0.5, 0.5), POKE(force, 0.35, 0.62), POKE(force, 0.25, 0.25), POKE(force, 0.25, 0.75),                  \
        POKE(force, 0.75, 0.25), POKE(force, 0.75, 0.75)

// clang-format off
static const plan plans[FLX_EXPERIMENT_COUNT] = {
    {.id = "C1", .title = "cloth hung by two corners: bending, springs and strain",
     .bending = 1e-1, .spring = 1e6, .strain = 1e-2, .hold = FLX_HOLD_CORNERS, .frames = 100, .bending_frames = 25,
     .run_count = 4, .load = {SIDE(0.0), SIDE(0.15), SIDE(0.3), SIDE(-0.3)}},
    {.id = "B1", .title = "flat sheet in free fall: bending",
     .bending = 1.0, .frames = 25, .bending_frames = 25,
     .run_count = 2, .load = {{.gravity = DOWN}, {.gravity = {0.5 * FLX_LAB_GRAVITY, -FLX_LAB_GRAVITY, 0.0}}}},
    {.id = "B1w", .title = "wavy sheet in free fall: bending",
     .bending = 1.0, .frames = 25, .bending_frames = 25,
     .run_count = 2, .load = {{.gravity = DOWN, .wave = {1, 2}}, {.gravity = DOWN, .wave = {2, 2}}}},
    {.id = "B2", .title = "free sheet, poked: bending",
     .bending = 1.0, .brief = true, .frames = 25, .bending_frames = 25,
     .run_count = 6, .load = {POKES(2000.0)}},
    {.id = "S1", .title = "stretched cloth: springs",
     .spring = 1e6, .hold = FLX_HOLD_PULLED, .frames = 100,
     .run_count = 4, .load = {PULL(0.3), PULL(0.45), PULL(0.6), PULL(0.15)}},
    {.id = "S2", .title = "twisted cloth: springs",
     .spring = 1e6, .hold = FLX_HOLD_TWISTED, .frames = 100,
     .run_count = 4, .load = {TWIST(1.0), TWIST(1.5), TWIST(2.0), TWIST(-1.0)}},
    {.id = "T1", .title = "stretched cloth: strain",
     .strain = 1e6, .hold = FLX_HOLD_PULLED, .frames = 100,
     .run_count = 4, .load = {PULL(0.3), PULL(0.45), PULL(0.6), PULL(0.15)}},
    {.id = "T2", .title = "taut cloth, poked: strain",
     .strain = 1e6, .hold = FLX_HOLD_STRETCHED, .frames = 100,
     .run_count = 6, .load = {POKES(5e4)}},
    {.id = "T3", .title = "twisted cloth: strain",
     .strain = 1e6, .hold = FLX_HOLD_TWISTED, .frames = 100,
     .run_count = 4, .load = {TWIST(1.0), TWIST(1.5), TWIST(2.0), TWIST(-1.0)}},
    {.id = "V1", .title = "twisted box: tet strain",
     .tet = 2e6, .hold = FLX_HOLD_TWISTED, .frames = 100,
     .run_count = 4, .load = {TWIST(1.0), TWIST(1.5), TWIST(2.0), TWIST(-1.0)}},
    {.id = "V2", .title = "beam under its weight: tet strain",
     .tet = 3e5, .hold = FLX_HOLD_LEFT, .frames = 100,
     .run_count = 4, .load = {{.gravity = DOWN},
                              {.gravity = {0.0, -0.6 * FLX_LAB_GRAVITY, 0.8 * FLX_LAB_GRAVITY}},
                              {.gravity = {0.0, 0.0, FLX_LAB_GRAVITY}},
                              {.gravity = {0.0, 0.0, -FLX_LAB_GRAVITY}}}},
};
// clang-format on

flx_experiment_size flx__experiment_size_default(void)
{
    return (flx_experiment_size){.cloth_side = 30, .box_cells = 3};
}

const char* flx__experiment_id(int32_t index)
{
    return plans[index].id;
}

// --- create --------------------------------------------------------------------------------------------------

typedef struct batches
{
    int32_t              count;
    flx_constraint_batch item[FLX_EXPERIMENT_BATCHES];
    double*              weight; // [most elements] all the same, for the builders
    int32_t*             edge;
} batches;

static const double* same_weight(batches* b, double weight, int32_t count)
{
    for (int32_t k = 0; k < count; ++k) b->weight[k] = weight;
    return b->weight;
}

static flx_status build_batches(flx_context* ctx, const plan* p, const flx_lab_shape* s, batches* b)
{
    static const double in_the_sheet[6] = {1, 0, 0, 0, 0, 1};
    flx_status          status          = FLX_OK;
    const int64_t       most            = 3 * (int64_t)s->triangle_count + s->tet_count + s->n;
    FLX_NEW(ctx, b->weight, most);
    if (p->bending > 0)
        FLX_TRY(flx__bendings(ctx, s->n, s->x, s->triangle_count, s->triangle, same_weight(b, p->bending, s->n),
                              &b->item[b->count++]));
    if (p->spring > 0)
    {
        int32_t edges = 0;
        FLX_TRY(flx__triangle_edges(ctx, s->triangle_count, s->triangle, &edges, &b->edge));
        FLX_TRY(flx__edge_springs(ctx, s->x, edges, b->edge, same_weight(b, p->spring, edges), &b->item[b->count++]));
    }
    if (p->strain > 0)
        FLX_TRY(flx__triangle_strains(ctx, s->x, s->triangle_count, s->triangle,
                                      same_weight(b, p->strain, s->triangle_count), 1.0, 1.0, in_the_sheet,
                                      &b->item[b->count++]));
    if (p->tet > 0)
        FLX_TRY(flx__tet_strains(ctx, s->x, s->tet_count, s->tet, same_weight(b, p->tet, s->tet_count), 1.0, 1.0,
                                 &b->item[b->count++]));

done:
    flx__free(ctx, b->weight);
    flx__free(ctx, b->edge);
    return status;
}

static flx_status build_system(flx_context* ctx, const plan* p, const flx_lab_shape* s, flx_pd_system** out)
{
    flx_status status     = FLX_OK;
    int32_t    held_count = 0, *held = NULL;
    batches    b = {0};
    FLX_TRY(flx__hold_vertices(ctx, p->hold, s->n, s->x, &held_count, &held));
    FLX_TRY(build_batches(ctx, p, s, &b));
    FLX_TRY(flx__pd_system_create(ctx, s->n, s->x, s->mass, TIME_STEP, b.count, b.item, held_count, held, HELD_WEIGHT,
                                  out));

done:
    for (int32_t k = 0; k < b.count; ++k) flx__constraint_batch_release(ctx, &b.item[k]);
    flx__free(ctx, held);
    return status;
}

static flx_status add_runs(flx_context* ctx, const plan* p, flx_experiment* e)
{
    flx_status status = FLX_OK;
    e->run_count      = p->run_count;
    for (int32_t r = 0; r < p->run_count; ++r)
    {
        e->run[r] = (flx_experiment_run){.of = e, .load = p->load[r]};
        if (p->load[r].poke == 0) continue;
        FLX_NEW(ctx, e->run[r].share, e->system->n);
        flx__poke_shares(e->system->n, e->system->x_rest, p->load[r].poke_at, e->run[r].share);
    }

done:
    return status;
}

flx_status flx__experiment_create(flx_context* ctx, const char* id, const flx_experiment_size* size,
                                  flx_experiment** out)
{
    flx_status      status = FLX_OK;
    const plan*     p      = NULL;
    flx_experiment* e      = NULL;
    flx_lab_shape   shape  = {0};
    *out                   = NULL;

    for (int32_t k = 0; k < FLX_EXPERIMENT_COUNT; ++k)
        if (strcmp(plans[k].id, id) == 0) p = &plans[k];
    if (!p) return flx__fail(ctx, FLX_ERR_ARGUMENT, "there is no experiment '%s'", id);
    if (size->cloth_side < 4 || size->cloth_side > 2000 || size->box_cells < 1 || size->box_cells > 100)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "a cloth of side %d or a box of %d cells across is out of range",
                         size->cloth_side, size->box_cells);

    FLX_NEW_ZERO(ctx, e, 1);
    *e = (flx_experiment){.id = p->id, .title = p->title, .hold = p->hold, .brief = p->brief, .frames = p->frames};
    if (p->tet > 0)
        FLX_TRY(flx__lab_box(ctx, size->box_cells, &shape));
    else
        FLX_TRY(flx__lab_cloth(ctx, size->cloth_side, &shape));
    FLX_TRY(build_system(ctx, p, &shape, &e->system));
    FLX_TRY(add_runs(ctx, p, e));
    for (int32_t b = 0; b < e->system->batch_count; ++b)
        e->batch_frames[b] = e->system->batch[b].type == &flx__bending ? p->bending_frames : p->frames;

    e->triangle_count = shape.triangle_count;
    e->triangle       = shape.triangle;
    shape.triangle    = NULL;
    *out              = e;
    e                 = NULL;

done:
    flx__lab_shape_release(ctx, &shape);
    if (e && !e->system)
        flx__free(ctx, e); // nothing in it yet
    else
        flx__experiment_destroy(e);
    return status;
}

void flx__experiment_destroy(flx_experiment* e)
{
    if (!e) return;
    flx_context* ctx = e->system->ctx;
    for (int32_t r = 0; r < e->run_count; ++r) flx__free(ctx, e->run[r].share);
    flx__free(ctx, e->triangle);
    flx__pd_system_destroy(e->system);
    flx__free(ctx, e);
}

// --- runs ----------------------------------------------------------------------------------------------------

flx_status flx__experiment_start(const flx_experiment* e, int32_t run, flx_pd_state* out)
{
    const flx_lab_load* load   = &e->run[run].load;
    flx_status          status = flx__pd_state_create(e->system, out);
    if (status != FLX_OK) return status;
    for (int32_t i = 0; i < e->system->n; ++i)
    {
        double* q = out->q + 3 * (int64_t)i;
        if (load->wave[0] > 0) q[1] = 0.1 * sin(load->wave[0] * PI * q[0]) * sin(load->wave[1] * PI * q[2]);
        if (e->hold == FLX_HOLD_STRETCHED) q[0] *= FLX_LAB_STRETCH;
    }
    return FLX_OK;
}

flx_pd_drive flx__experiment_drive(const flx_experiment* e, int32_t run)
{
    return (flx_pd_drive){.user    = (void*)(uintptr_t)&e->run[run],
                          .force   = flx__load_force,
                          .targets = flx__load_targets,
                          .steady  = e->run[run].load.poke == 0};
}
