// Forces of the air on cloth.
#ifndef FLX_SOLVER_AIR_H
#define FLX_SOLVER_AIR_H

#include "model/model.h"

/// f [3] N on a triangle with corners x and their velocities v, by the wind's law; at most what brings its mass to the
/// air's speed within dt.
void flx__air_on_triangle(const flx_wind_desc* wind, double dt, double area_density, const double x[3][3],
                          const double v[3][3], double f[3]);

/// force [n][3] += those of all triangles of cloth at positions x and velocities v [n][3]; a third to each corner.
void flx__air_forces(const flx_model* model, double dt, const double* x, const double* v, double* force);

#endif
