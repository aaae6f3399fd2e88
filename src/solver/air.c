// The air around cloth: each triangle is pushed along its normal, by the velocities at the beginning of the step.
//
//   f = drag density/2 area u |u| n,   u = n . (air - triangle),   at most what gives its mass the air's speed in a
//   step
#include "solver/air.h"

#include "math/mat3.h"

#include <math.h>

void flx__air_on_triangle(const flx_wind_desc* wind, double dt, double area_density, const double x[3][3],
                          const double v[3][3], double f[3])
{
    double e[3], g[3], normal[3], across = 0;
    flx__sub3(x[1], x[0], e);
    flx__sub3(x[2], x[0], g);
    flx__cross3(e, g, normal);
    const double twice = flx__norm3(normal);
    f[0] = f[1] = f[2] = 0;
    if (!(twice > 0)) return;
    for (int c = 0; c < 3; ++c)
    {
        normal[c] /= twice;
        double u = wind->velocity[c];
        for (int k = 0; k < 3; ++k) u -= v[k][c] / 3;
        across += u * normal[c];
    }
    const double rate = fmin(0.5 * wind->drag * wind->density * fabs(across), area_density / dt); // kg/(m^2 s)
    for (int c = 0; c < 3; ++c) f[c] = rate * across * 0.5 * twice * normal[c];
}

void flx__air_forces(const flx_model* m, double dt, const double* x, const double* v, double* force)
{
    for (int32_t i = 0; i < m->body_count; ++i)
        for (int32_t t = m->body[i].cloth_first; t < m->body[i].cloth_first + m->body[i].cloth_count; ++t)
        {
            const int32_t* at = m->cloth + 3 * (int64_t)t;
            double         corner[3][3], speed[3][3], f[3];
            for (int k = 0; k < 3; ++k)
                for (int c = 0; c < 3; ++c)
                {
                    corner[k][c] = x[3 * (int64_t)at[k] + c];
                    speed[k][c]  = v[3 * (int64_t)at[k] + c];
                }
            flx__air_on_triangle(&m->scene->wind, dt, m->body[i].area_density, corner, speed, f);
            for (int k = 0; k < 3; ++k)
                for (int c = 0; c < 3; ++c) force[3 * (int64_t)at[k] + c] += f[c] / 3;
        }
}
