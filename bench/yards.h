// Makers of yardsticks. Each returns false when the package was not there at build time.
#ifndef FLX_BENCH_YARDS_H
#define FLX_BENCH_YARDS_H

#include "body.h"
#include "yard.h"

/// Ours: nested dissection with the prone nodes last, partial factor with Sigma in double, substitutions in single.
/// `arm` must outlive it: the order is made anew in each setup. The matrix given to setup is ours already.
bool yard_flexor(flx_context* ctx, const body* arm, yard* out);
/// What ours holds after setup.
flx_factor* yard_flexor_factor(const yard* y);
/// Our Jacobi-preconditioned conjugate gradients, in double, to |r| <= tolerance |b| in each column.
bool    yard_pcg(flx_context* ctx, double tolerance, yard* out);
int32_t yard_pcg_iterations(const yard* y); // of the last solve
bool    yard_cholmod(int32_t workers, bool own_order, yard* out);
/// MKL lives in modules of its own, loaded at run time: its BLAS would replace OpenBLAS in the whole program. `helped`
/// takes the module that is told to run on an Intel processor, so that it uses its best code path elsewhere.
bool yard_pardiso(int32_t workers, bool single, bool partial, bool helped, yard* out);

#ifdef FLX_HAVE_EIGEN
bool yard_eigen(int32_t workers, yard* out);
#endif

#endif
