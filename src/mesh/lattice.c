// A body-centred-cubic lattice around a closed surface: cell size, stages in order, the embedded surface.
//
// Number of tets before anything is built: a tet is kept when it meets the body, so for a body K with volume V, area A,
// mean width b and a tet T thrown at random (kinematic formula [Santalo76])
//   n = 12 / h^3 (V(K) + A(K) b(T) / 2 + b(K) A(T) / 2 + V(T)),   b(T) = 0.8273 h, A(T) = sqrt(2) h^2, V(T) = h^3 / 12
// A count of the real lattice corrects the formula's factor, and the next cell size follows from it.
#include "mesh/lattice_internal.h"

#include <math.h>
#include <string.h>

#define TRIALS 24
#define CENTERED_TRIALS 3

typedef struct build
{
    lattice_grid     grid;
    lattice_surface  surface;
    lattice_raster   raster;
    lattice_material material;
    lattice_pieces   pieces;
    int32_t*         copy_tet;
} build;

static void release_stages(flx_context* ctx, build* b)
{
    flx__lattice_raster_release(ctx, &b->raster);
    flx__lattice_material_release(ctx, &b->material);
    flx__lattice_pieces_release(ctx, &b->pieces);
    flx__free(ctx, b->copy_tet);
    b->copy_tet = NULL;
}

// --- how many tets -------------------------------------------------------------------------------------------

static double expected_tets(const lattice_surface* s, double h)
{
    const double width = 0.5 * (s->box_max[0] - s->box_min[0] + s->box_max[1] - s->box_min[1] + s->box_max[2] -
                                s->box_min[2]); // of the box: near enough for the smallest term
    return 12.0 / (h * h * h) * (s->volume + 0.41365 * h * s->area + 0.70711 * h * h * width + h * h * h / 12.0);
}

static double cell_for(const lattice_surface* s,
                       double                 tets) // by bisection in the logarithm; expected_tets falls with h
{
    const double size = s->box_max[0] - s->box_min[0] + s->box_max[1] - s->box_min[1] + s->box_max[2] - s->box_min[2];
    double       low = log(size * 1e-9), high = log(size * 1e3);
    for (int i = 0; i < 200; ++i)
    {
        const double mid = 0.5 * (low + high);
        if (expected_tets(s, exp(mid)) > tets)
            low = mid;
        else
            high = mid;
    }
    return exp(0.5 * (low + high));
}

static flx_status too_many(flx_context* ctx, const char* path, const lattice_surface* s, double cell, double tets)
{
    double advice = cell_for(s, 0.9 * (double)FLX_LATTICE_TET_LIMIT);
    while (flx__lattice_site_estimate(advice, s->box_min, s->box_max) > (double)FLX_LATTICE_SITE_LIMIT) advice *= 1.05;
    return flx__fail(
        ctx, FLX_ERR_SETTING,
        "%s: a lattice with cells of %.4g m would have about %.3g tets in a box of %.3g cells; at most %lld "
        "tets in %lld cells are built: a cell of %.4g m would do",
        path, cell, tets, flx__lattice_site_estimate(cell, s->box_min, s->box_max), (long long)FLX_LATTICE_TET_LIMIT,
        (long long)FLX_LATTICE_SITE_LIMIT, advice);
}

// Everything up to knowing how many tets there are.
static flx_status count_with_cell(flx_context* ctx, const char* path, const flx_triangle_bvh* bvh,
                                  const flx_lattice_options* options, double cell, const double* shift, build* b)
{
    flx_status       status = FLX_OK;
    lattice_surface* s      = &b->surface;
    const double     about  = expected_tets(s, cell);

    release_stages(ctx, b);
    if (flx__lattice_site_estimate(cell, s->box_min, s->box_max) > (double)FLX_LATTICE_SITE_LIMIT ||
        (options->crop_count == 0 && about > 1.1 * (double)FLX_LATTICE_TET_LIMIT))
        return too_many(ctx, path, s, cell, about);

    flx__lattice_grid_make(cell, s->box_min, s->box_max, shift, &b->grid);
    flx__lattice_surface_snap(ctx, &b->grid, s);
    FLX_TRY(flx__lattice_raster_make(ctx, &b->grid, s, &b->raster));
    FLX_TRY(flx__lattice_material_make(ctx, &b->grid, s, bvh, &b->raster, options, &b->material));
    if (b->material.kept_count > FLX_LATTICE_TET_LIMIT)
        status = too_many(ctx, path, s, cell, (double)b->material.kept_count);
done:
    return status;
}

static double cell_of_trial(const lattice_surface* s, double target, double factor)
{
    double size = 0.0;
    for (int k = 0; k < 3; ++k) size = fmax(size, s->box_max[k] - s->box_min[k]);
    return fmin(cell_for(s, target / factor), 2.0 * size); // larger cells do not make fewer tets
}

// A symmetric lattice on a symmetric or box-shaped body gains tets in whole layers: when the first trials miss, the
// lattice is moved a little differently against the body in each further one.
static flx_status count_with_target(flx_context* ctx, const char* path, const flx_triangle_bvh* bvh,
                                    const flx_lattice_options* options, build* b)
{
    flx_status   status = FLX_OK;
    const double target = (double)options->target_tets;
    double       factor = 1.0, best_cell = 0.0, best_error = INFINITY; // factor: counted over expected
    double       shift[3], best_shift[3] = {0};
    double       previous   = 0.0;
    int          best_trial = 0;

    for (int trial = 0; trial < TRIALS; ++trial)
    {
        for (int k = 0; k < 3; ++k) // a low-discrepancy sequence: powers of the root of r^4 = r + 1
            shift[k] = fmod(trial * (k == 0   ? 0.8191725133961645
                                     : k == 1 ? 0.6710436067037893
                                              : 0.5497004779019703),
                            1.0);
        const double cell = cell_of_trial(&b->surface, target, factor);
        FLX_TRY(count_with_cell(ctx, path, bvh, options, cell, trial < CENTERED_TRIALS ? NULL : shift, b));
        const double count = (double)b->material.kept_count;
        const double error = fabs(count - target) / target;
        if (error < best_error)
        {
            best_error = error;
            best_cell  = cell;
            best_trial = trial;
            memcpy(best_shift, shift, sizeof shift);
        }
        if (error <= (trial < CENTERED_TRIALS ? 0.01 : 0.02)) goto done;
        // a crop that keeps nothing yet is smaller than a cell
        factor = fmax(count, 0.125) / expected_tets(&b->surface, cell);
        if (count > target && cell == previous) break; // as large as cells get
        previous = cell;
    }
    FLX_TRY(count_with_cell(ctx, path, bvh, options, best_cell, best_trial < CENTERED_TRIALS ? NULL : best_shift, b));
    if (best_error > 0.02)
        flx__log(ctx, FLX_LOG_NOTICE, "%s: %lld tets were wanted; %lld is the nearest a lattice of this body comes",
                 path, (long long)options->target_tets, (long long)b->material.kept_count);
done:
    return status;
}

// --- the embedded surface -------------------------------------------------------------------------------------------

static flx_status embed_surface(flx_context* ctx, const build* b, flx_lattice* l)
{
    flx_status             status = FLX_OK;
    const lattice_surface* s      = &b->surface;
    int32_t*               tet    = NULL; // [vertex] -1 = cropped away or unused
    int32_t*               number = NULL; // [vertex] in the embedded surface

    FLX_NEW(ctx, tet, s->vertex_count);
    FLX_NEW(ctx, number, s->vertex_count);
    memset(tet, 0xFF, (size_t)s->vertex_count * sizeof *tet);
    memset(number, 0xFF, (size_t)s->vertex_count * sizeof *number);
    for (int64_t cut = 0; cut < b->material.cut_count; ++cut)
        for (int64_t i = b->material.cut_meet[cut]; i < b->material.cut_meet[cut + 1]; ++i)
            for (int v = 0; v < 3; ++v)
                if (b->raster.meet[i].bits & FLX_MEET_VERTEX(v))
                    tet[s->triangle[3 * (int64_t)b->raster.meet[i].triangle + v]] =
                        b->copy_tet[b->pieces.first[cut] + b->pieces.of_meet[i]];

    for (int pass = 0; pass < 2; ++pass) // which vertices are used, then the triangles
    {
        l->surface_triangle_count = 0;
        for (int64_t t = 0; t < s->triangle_count; ++t)
        {
            const int32_t* v = s->triangle + 3 * t;
            if (tet[v[0]] < 0 || tet[v[1]] < 0 || tet[v[2]] < 0) continue;
            for (int c = 0; c < 3; ++c)
            {
                if (pass == 0)
                    number[v[c]] = 0;
                else
                    l->surface_triangle[3 * (int64_t)l->surface_triangle_count + c] = number[v[c]];
            }
            ++l->surface_triangle_count;
        }
        if (pass == 1) break;
        for (int32_t v = 0; v < s->vertex_count; ++v)
            if (number[v] == 0) number[v] = l->surface_vertex_count++;
        FLX_NEW(ctx, l->surface_vertex, l->surface_vertex_count);
        FLX_NEW(ctx, l->surface, l->surface_vertex_count);
        FLX_NEW(ctx, l->surface_triangle, 3 * (int64_t)l->surface_triangle_count);
    }
    for (int32_t v = 0; v < s->vertex_count; ++v)
    {
        if (number[v] < 0) continue;
        flx_embedded* e              = &l->surface[number[v]];
        l->surface_vertex[number[v]] = v;
        e->tet                       = tet[v];
        flx__tet_weights(l->x, l->tet + 4 * (int64_t)tet[v], s->x + 3 * (int64_t)v, e->weight);
    }
done:
    flx__free(ctx, tet);
    flx__free(ctx, number);
    return status;
}

// --- create --------------------------------------------------------------------------------------------------

static flx_status check_options(flx_context* ctx, const char* path, const flx_lattice_options* o)
{
    if (o->cell != 0.0 && !(o->cell > 0.0 && isfinite(o->cell)))
        return flx__fail(ctx, FLX_ERR_SETTING, "%s: a lattice cell of %g m is not a size", path, o->cell);
    if (o->cell == 0.0 && !(o->target_tets >= 1 && o->target_tets <= FLX_LATTICE_TET_LIMIT))
        return flx__fail(ctx, FLX_ERR_SETTING, "%s: a lattice of %lld tets was asked for; 1 to %lld are allowed", path,
                         (long long)o->target_tets, (long long)FLX_LATTICE_TET_LIMIT);
    return FLX_OK;
}

flx_status flx__lattice_create(flx_context* ctx, const char* path, int32_t vertex_count, const double* x,
                               int32_t triangle_count, const int32_t* triangle, const flx_triangle_bvh* bvh,
                               const flx_lattice_options* options, flx_lattice** out)
{
    flx_status   status      = FLX_OK;
    build        b           = {0};
    flx_lattice* l           = NULL;
    int32_t*     lattice_tet = NULL;

    *out               = NULL;
    b.surface          = (lattice_surface){.vertex_count = vertex_count, .triangle_count = triangle_count};
    b.surface.x        = x;
    b.surface.triangle = triangle;
    if (!path) path = "surface";
    FLX_TRY(check_options(ctx, path, options));
    FLX_TRY(flx__lattice_surface_measure(ctx, path, &b.surface));
    FLX_TRY(flx__surface_orientation(ctx, bvh, path, &b.surface.sign, &b.surface.threshold));
    FLX_TRY(flx__lattice_surface_connect(ctx, &b.surface));
    if (options->cell > 0.0)
        FLX_TRY(count_with_cell(ctx, path, bvh, options, options->cell, NULL, &b));
    else
        FLX_TRY(count_with_target(ctx, path, bvh, options, &b));

    FLX_NEW_ZERO(ctx, l, 1);
    l->cell = b.grid.cell;
    memcpy(l->origin, b.grid.origin, sizeof l->origin);
    memcpy(l->grid, b.grid.cells, sizeof l->grid);
    FLX_TRY(flx__lattice_pieces_make(ctx, &b.grid, &b.surface, bvh, &b.raster, &b.material, &b.pieces));
    FLX_TRY(flx__lattice_glue(ctx, &b.grid, &b.raster, &b.material, &b.pieces, options, l, &lattice_tet, &b.copy_tet));
    if (l->tet_count == 0)
    {
        flx__free(ctx, lattice_tet);
        status = flx__fail(ctx, FLX_ERR_MESH,
                           "%s: the crop leaves nothing of the body, which reaches from (%g %g %g) to "
                           "(%g %g %g)",
                           path, b.surface.box_min[0], b.surface.box_min[1], b.surface.box_min[2], b.surface.box_max[0],
                           b.surface.box_max[1], b.surface.box_max[2]);
        goto done;
    }
    FLX_TRY(flx__lattice_lookup_make(ctx, &b.grid, &b.surface, &b.raster, &b.material, &b.pieces, b.copy_tet,
                                     lattice_tet, l));
    FLX_TRY(embed_surface(ctx, &b, l));

    *out = l;
    l    = NULL;

done:
    release_stages(ctx, &b);
    flx__lattice_surface_release(ctx, &b.surface);
    flx__lattice_destroy(ctx, l);
    return status;
}

void flx__lattice_destroy(flx_context* ctx, flx_lattice* l)
{
    if (!l) return;
    flx__lattice_lookup_destroy(ctx, l->lookup);
    flx__free(ctx, l->x);
    flx__free(ctx, l->tet);
    flx__free(ctx, l->surface_vertex);
    flx__free(ctx, l->surface_triangle);
    flx__free(ctx, l->surface);
    flx__free(ctx, l);
}
