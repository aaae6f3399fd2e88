// Attachment: a weighted sum of vertices is pulled to a place.
//
//   S q = sum_k c_k q_k,   p = target
//
// Linear: the manifold is a point. A single vertex is one column of coefficient 1.
#include "constraints/constraints_internal.h"

#include <math.h>
#include <string.h>

static void project(int32_t count, const double* z, const double* param, double* p)
{
    (void)z;
    memcpy(p, param, 3 * (size_t)count * sizeof *p);
}

const flx_constraint_type flx__attachment = {.name = "attachment", .rows = 1, .params = 3, .project = project};

flx_status flx__attachments(flx_context* ctx, int32_t count, int32_t corners, const int32_t* vertex,
                            const double* corner_weight, const double* target, const double* weight,
                            flx_constraint_batch* out)
{
    FLX_ASSERT(corners >= 1 && (corner_weight || corners == 1));
    flx_status           status = FLX_OK;
    flx_constraint_batch b      = {0};
    *out                        = (flx_constraint_batch){0};
    FLX_TRY(flx__constraint_batch_create(ctx, &flx__attachment, count, corners, "attachment", &b));
    for (int32_t j = 0; j < count; ++j)
    {
        const double* at = target + 3 * (int64_t)j;
        if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2]))
            FLX_TRY(flx__fail(ctx, FLX_ERR_ARGUMENT, "attachment %d has the target %g %g %g; it must be finite", j + 1,
                              at[0], at[1], at[2]));
        FLX_TRY(flx__constraint_stiffness(ctx, weight, j, "attachment", &b.weight[j]));
        memcpy(b.param + 3 * (int64_t)j, at, 3 * sizeof *at);
    }
    for (int64_t k = 0; k < (int64_t)count * corners; ++k)
    {
        b.vertex[k]      = vertex[k];
        b.coefficient[k] = corner_weight ? corner_weight[k] : 1;
    }
    *out = b;
    b    = (flx_constraint_batch){0};
done:
    flx__constraint_batch_release(ctx, &b);
    return status;
}
