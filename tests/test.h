// What every test file starts from: cmocka, a context, and where shared inputs lie.
#ifndef FLX_TESTS_TEST_H
#define FLX_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

#define CHECK_OK(call)                                                                                                 \
    do                                                                                                                 \
    {                                                                                                                  \
        const flx_status check_status_ = (call);                                                                       \
        if (check_status_ != FLX_OK)                                                                                   \
            fail_msg("%s: %s: %s", #call, flx_status_name(check_status_), flx_context_error(ctx));                     \
    } while (0)
#define CHECK_FAILS(call, expected)                                                                                    \
    do                                                                                                                 \
    {                                                                                                                  \
        const flx_status check_status_ = (call);                                                                       \
        if (check_status_ != (expected))                                                                               \
            fail_msg("%s: got '%s' (%s), expected '%s'", #call, flx_status_name(check_status_),                        \
                     flx_context_error(ctx), flx_status_name(expected));                                               \
    } while (0)
#define CHECK_NEAR(a, b, tolerance)                                                                                    \
    do                                                                                                                 \
    {                                                                                                                  \
        const double check_a_ = (a), check_b_ = (b), check_t_ = (tolerance);                                           \
        if (!(fabs(check_a_ - check_b_) <= check_t_))                                                                  \
            fail_msg("%s = %.17g, %s = %.17g: differ by %g > %g", #a, check_a_, #b, check_b_,                          \
                     fabs(check_a_ - check_b_), check_t_);                                                             \
    } while (0)
#define CHECK_BELOW(a, limit)                                                                                          \
    do                                                                                                                 \
    {                                                                                                                  \
        const double check_a_ = (a), check_l_ = (limit);                                                               \
        if (!(check_a_ < check_l_)) fail_msg("%s = %.17g is not below %g", #a, check_a_, check_l_);                    \
    } while (0)

static inline flx_context* test_context(int32_t workers)
{
    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = workers;
    flx_context* ctx      = NULL;
    if (flx_context_create(&desc, &ctx) != FLX_OK) fail_msg("no context");
    return ctx;
}

/// Path below the folder of shared inputs; skips the test, saying so, when the file is not there.
static inline const char* shared_or_skip(const char* relative)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", FLX_SHARED_DIR, relative);
    struct stat info;
    if (stat(path, &info) != 0)
    {
        print_message("skipped: %s is not there\n", path);
        skip();
    }
    return path;
}

/// splitmix64, uniform in [0, 1)
static inline double test_random(uint64_t* seed)
{
    uint64_t z = (*seed += UINT64_C(0x9E3779B97F4A7C15));
    z          = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

#endif
