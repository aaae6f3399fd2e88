// Tetrahedral strain: keeps the stretches of a tetrahedron within limits; with [1, 1] it is as near to a rotation as
// can be.
//
//   S q = F^T,   F = U diag(sigma) V^T,   p = V diag(clamp(sigma)) U^T,   w_j = weight x volume
//
// U and V are rotations, so the least sigma has the sign of det F, and clamping it turns an inverted element right side
// out: det p > 0. [Bouaziz14] section 5; [MPB] section 3.
#include "constraints/constraints_internal.h"

#include "math/mat3.h"
#include "math/rotation.h"

#include <math.h>
#include <string.h>

void flx__gradient_stretches(const double z[9], double sigma[3], double U[3][3], double V[3][3])
{
    double F[9] = {0}, scale = 0;
    bool   finite = true;
    for (int i = 0; i < 9; ++i) finite = finite && isfinite(z[i]), scale = fmax(scale, fabs(z[i]));
    if (!(finite && scale > 1e-300)) scale = 0;
    for (int i = 0; scale > 0 && i < 9; ++i) F[i] = z[3 * (i % 3) + i / 3] / scale; // squares of z may overflow
    flx__stretches(F, sigma, U, V);
    for (int k = 0; k < 3; ++k) sigma[k] *= scale;
}

void flx__gradient_compose(const double s[3], const double U[3][3], const double V[3][3], double p[9])
{
    for (int r = 0; r < 3; ++r)
        for (int i = 0; i < 3; ++i)
            p[3 * r + i] = s[0] * V[0][r] * U[0][i] + s[1] * V[1][r] * U[1][i] + s[2] * V[2][r] * U[2][i];
}

static void project(int32_t count, const double* z, const double* param, double* p)
{
    for (int64_t j = 0; j < count; ++j)
    {
        const double least = param[2 * j], most = param[2 * j + 1];
        double       sigma[3], U[3][3], V[3][3];
        bool         inside = true;
        flx__gradient_stretches(z + 9 * j, sigma, U, V);
        for (int k = 0; k < 3; ++k)
        {
            inside   = inside && sigma[k] >= least && sigma[k] <= most;
            sigma[k] = fmin(fmax(sigma[k], least), most);
        }
        if (inside)
            memmove(p + 9 * j, z + 9 * j, 9 * sizeof *p);
        else
            flx__gradient_compose(sigma, U, V, p + 9 * j);
    }
}

const flx_constraint_type flx__tet_strain = {.name = "tet_strain", .rows = 3, .params = 2, .project = project};

flx_status flx__tet_gradients(flx_context* ctx, const flx_constraint_type* type, const double* x, int32_t count,
                              const int32_t* tet, const double* weight, double least, double most,
                              flx_constraint_batch* out)
{
    flx_status status = FLX_OK;
    FLX_TRY(flx__constraint_batch_create(ctx, type, count, 4, "tetrahedron", out));
    for (int32_t j = 0; j < count; ++j)
    {
        const int32_t* corner = tet + 4 * (int64_t)j;
        double         edges[9], inverse[9] = {0}, longest = 0, stiffness; // edges are rows: Dm^T
        double*        c = out->coefficient + 12 * (int64_t)j;
        for (int k = 0; k < 3; ++k)
            flx__sub3(x + 3 * (int64_t)corner[k + 1], x + 3 * (int64_t)corner[0], edges + 3 * k);
        for (int k = 0; k < 6; ++k)
        {
            static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
            longest =
                fmax(longest, flx__distance3(x + 3 * (int64_t)corner[ends[k][0]], x + 3 * (int64_t)corner[ends[k][1]]));
        }
        const double volume = flx__det3(edges) / 6;
        if (!(volume > FLX_FLAT * longest * longest * longest && isfinite(volume) && flx__invert3(edges, inverse)))
            FLX_TRY(flx__fail(ctx, FLX_ERR_MESH,
                              "tetrahedron %d has volume %g m^3; it must be more than %g of its longest edge cubed",
                              j + 1, volume, FLX_FLAT));
        FLX_TRY(flx__constraint_stiffness(ctx, weight, j, "tetrahedron", &stiffness));
        for (int r = 0; r < 3; ++r)
        {
            for (int k = 0; k < 3; ++k) c[3 * (k + 1) + r] = inverse[3 * r + k]; // Dm^-T
            c[r] = -(c[3 + r] + c[6 + r] + c[9 + r]);
        }
        memcpy(out->vertex + 4 * (int64_t)j, corner, 4 * sizeof *corner);
        out->weight[j]                 = stiffness * volume;
        out->param[2 * (int64_t)j]     = least;
        out->param[2 * (int64_t)j + 1] = most;
    }
done:
    if (status != FLX_OK) flx__constraint_batch_release(ctx, out);
    return status;
}

flx_status flx__tet_strains(flx_context* ctx, const double* x, int32_t count, const int32_t* tet, const double* weight,
                            double least, double most, flx_constraint_batch* out)
{
    flx_status status = FLX_OK;
    *out              = (flx_constraint_batch){0};
    FLX_TRY(flx__constraint_limits(ctx, "tetrahedron stretch", false, least, most));
    FLX_TRY(flx__tet_gradients(ctx, &flx__tet_strain, x, count, tet, weight, least, most, out));
done:
    return status;
}
