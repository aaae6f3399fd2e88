// What is the same for all types of constraints: memory, S q, projection and energy.
//
// Loops run over chunks whose boundaries depend on the number of constraints alone, and each constraint writes its own
// results: the same bits for any number of workers. The energy adds one partial sum for each chunk, in order.
#include "constraints/constraints_internal.h"
#include "constraints/projections.h"

#include "math/mat3.h"

#include <math.h>

#define GRAIN 1024
#define MOST_PARTIALS 256

typedef struct batch_pass
{
    const flx_constraint_batch* batch;
    const double*               in;
    const double*               other;
    double*                     out;
    flx_project_fn              project;
    int64_t                     grain;
} batch_pass;

void flx__constraint_batch_release(flx_context* ctx, flx_constraint_batch* batch)
{
    if (!batch) return;
    flx__free(ctx, batch->first);
    flx__free(ctx, batch->vertex);
    flx__free(ctx, batch->coefficient);
    flx__free(ctx, batch->weight);
    flx__free(ctx, batch->param);
    *batch = (flx_constraint_batch){0};
}

flx_status flx__constraint_batch_create(flx_context* ctx, const flx_constraint_type* type, int32_t count,
                                        int32_t corners, const char* what, flx_constraint_batch* out)
{
    flx_status status = FLX_OK;
    *out              = (flx_constraint_batch){.type = type, .count = count};
    if ((int64_t)count * corners > INT32_MAX)
        FLX_TRY(flx__fail(ctx, FLX_ERR_MESH, "%d %ss are too many: at most %d", count, what, INT32_MAX / corners));
    FLX_NEW(ctx, out->first, (int64_t)count + 1);
    FLX_NEW(ctx, out->vertex, (int64_t)count * corners);
    FLX_NEW(ctx, out->coefficient, (int64_t)count * corners * type->rows);
    FLX_NEW(ctx, out->weight, count);
    FLX_NEW(ctx, out->param, (int64_t)count * type->params);
    for (int32_t j = 0; j <= count; ++j) out->first[j] = j * corners;
done:
    return status;
}

flx_status flx__constraint_stiffness(flx_context* ctx, const double* weight, int32_t j, const char* what, double* out)
{
    *out = weight ? weight[j] : 1;
    if (*out >= 0 && isfinite(*out)) return FLX_OK;
    return flx__fail(ctx, FLX_ERR_SETTING, "%s %d has stiffness %g; it must be finite and not negative", what, j + 1,
                     *out);
}

flx_status flx__constraint_limits(flx_context* ctx, const char* what, bool zero_too, double least, double most)
{
    if ((zero_too ? least >= 0 : least > 0) && least <= most && isfinite(most)) return FLX_OK;
    return flx__fail(ctx, FLX_ERR_SETTING, "%s limits [%g, %g]: they must be finite, in order and %s", what, least,
                     most, zero_too ? "not negative" : "positive");
}

flx_status flx__triangle_area(flx_context* ctx, const double* x, const int32_t* triangle, int32_t number, double* area)
{
    const double *a = x + 3 * (int64_t)triangle[0], *b = x + 3 * (int64_t)triangle[1],
                 *c = x + 3 * (int64_t)triangle[2];
    double ab[3], ac[3], normal[3];
    flx__sub3(b, a, ab);
    flx__sub3(c, a, ac);
    flx__cross3(ab, ac, normal);
    *area                = flx__norm3(normal) / 2;
    const double longest = fmax(fmax(flx__norm3(ab), flx__norm3(ac)), flx__distance3(b, c));
    if (*area > FLX_FLAT * longest * longest && isfinite(*area)) return FLX_OK;
    return flx__fail(ctx, FLX_ERR_MESH,
                     "triangle %d has area %g m^2; it must be more than %g of its longest edge squared", number, *area,
                     FLX_FLAT);
}

// --- use -----------------------------------------------------------------------------------------------------

/// Inlined for each number of rows, which the compiler then unrolls.
static inline void measure_rows(const batch_pass* pass, int rows, int64_t begin, int64_t end)
{
    const flx_constraint_batch* batch = pass->batch;
    int32_t                     k     = batch->first[begin];
    for (int64_t j = begin; j < end; ++j)
    {
        double        z[3 * FLX_CONSTRAINT_ROWS] = {0};
        const int32_t last                       = batch->first[j + 1];
        for (; k < last; ++k)
        {
            const double* q = pass->in + 3 * (int64_t)batch->vertex[k];
            const double* c = batch->coefficient + (int64_t)k * rows;
            for (int r = 0; r < rows; ++r)
                for (int axis = 0; axis < 3; ++axis) z[3 * r + axis] += c[r] * q[axis];
        }
        for (int i = 0; i < 3 * rows; ++i) pass->out[3 * rows * j + i] = z[i];
    }
}

static void measure_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const batch_pass* pass = user;
    switch (pass->batch->type->rows)
    {
    case 1:
        measure_rows(pass, 1, begin, end);
        break;
    case 2:
        measure_rows(pass, 2, begin, end);
        break;
    default:
        measure_rows(pass, 3, begin, end);
    }
}

void flx__constraints_measure(flx_context* ctx, const flx_constraint_batch* batch, const double* q, double* z)
{
    batch_pass pass = {.batch = batch, .in = q, .out = z};
    flx__parallel_for(ctx, batch->count, GRAIN, measure_range, &pass);
}

static void project_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const batch_pass*          pass = user;
    const flx_constraint_type* type = pass->batch->type;
    const int64_t              at   = 3 * type->rows * begin;
    pass->project((int32_t)(end - begin), pass->in + at, pass->batch->param + type->params * begin, pass->out + at);
}

void flx__constraints_project(flx_context* ctx, const flx_constraint_batch* batch, const double* z, double* p)
{
    const flx_project_fn project = flx__projection_for(flx__context_isa(ctx), batch->type);
    batch_pass           pass    = {.batch = batch, .in = z, .out = p, .project = project};
    flx__parallel_for(ctx, batch->count, GRAIN, project_range, &pass);
}

static void energy_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const batch_pass* pass = user;
    const int         size = 3 * pass->batch->type->rows;
    double            sum  = 0;
    for (int64_t j = begin; j < end; ++j)
    {
        double square = 0;
        for (int64_t i = size * j; i < size * (j + 1); ++i)
        {
            const double d = pass->in[i] - pass->other[i];
            square += d * d;
        }
        sum += pass->batch->weight[j] / 2 * square;
    }
    pass->out[begin / pass->grain] = sum;
}

double flx__constraints_energy(flx_context* ctx, const flx_constraint_batch* batch, const double* z, const double* p)
{
    double        partial[MOST_PARTIALS], sum = 0;
    const int64_t many = ((int64_t)batch->count + MOST_PARTIALS - 1) / MOST_PARTIALS;
    batch_pass    pass = {.batch = batch, .in = z, .other = p, .out = partial, .grain = many > GRAIN ? many : GRAIN};
    flx__parallel_for(ctx, batch->count, pass.grain, energy_range, &pass);
    for (int64_t k = 0; k * pass.grain < batch->count; ++k) sum += partial[k];
    return sum;
}
