// Pairs of triangles of one surface that cross.
//
// Two triangles cross when their open insides meet and their planes differ. Then each has corners strictly on both
// sides of the other's plane, and the line in which the planes meet runs through both: from edge ab to edge ac of one,
// from de to df of the other, a and d being the corners alone on their side. With a and d brought to the positive
// sides, the two stretches overlap in more than a point exactly when
//   orient(a, b, d, e) < 0  and  orient(a, c, f, d) < 0.
// Touching in a corner, along an edge or within one plane is no crossing, so neighbours need no exception: what they
// share is never inside both. All signs are exact (predicates.c).
//
// Based on [Guigue03] section 3. Differs: corners on the other's plane count as the side of the pair, so that contacts
// without inside drop out; strict inequalities.
#include "mesh/mesh_internal.h"
#include "mesh/predicates.h"
#include "mesh/triangle_bvh_internal.h"

#include <math.h>

// --- two triangles -----------------------------------------------------------------------------------------

static void rotate(const double* t[3], int first)
{
    const double* r[3] = {t[first], t[(first + 1) % 3], t[(first + 2) % 3]};
    for (int k = 0; k < 3; ++k) t[k] = r[k];
}

static void swap_last(const double* t[3])
{
    const double* r = t[1];
    t[1]            = t[2];
    t[2]            = r;
}

/// Bring the corner that is alone on its side to the front and return that side; 0 when the sides are not both there.
static int front_lone(const double* t[3], const int side[3])
{
    int above = 0, below = 0;
    for (int k = 0; k < 3; ++k)
    {
        above += side[k] > 0;
        below += side[k] < 0;
    }
    if (above == 0 || below == 0) return 0;
    const int lone = above == 1 ? 1 : -1; // with one of each and one on the plane either will do
    for (int k = 0; k < 3; ++k)
        if (side[k] == lone)
        {
            rotate(t, k);
            break;
        }
    return lone;
}

static bool triangles_cross(const double* p, const double* q)
{
    const double* a[3] = {p, p + 3, p + 6};
    const double* d[3] = {q, q + 3, q + 6};
    int           side[3];
    for (int k = 0; k < 3; ++k) side[k] = flx__orient(d[0], d[1], d[2], a[k]);
    const int a_side = front_lone(a, side);
    if (a_side == 0) return false;
    for (int k = 0; k < 3; ++k) side[k] = flx__orient(a[0], a[1], a[2], d[k]); // a was only turned round, not over
    const int d_side = front_lone(d, side);
    if (d_side == 0) return false;
    if (a_side < 0) swap_last(d); // turns the plane of d, so that a lies above it
    if (d_side < 0) swap_last(a);
    return flx__orient(a[0], a[1], d[0], d[1]) < 0 && flx__orient(a[0], a[2], d[2], d[0]) < 0;
}

// --- all pairs -----------------------------------------------------------------------------------------------

typedef struct crossing_job
{
    const flx_triangle_bvh* bvh;
    const int32_t*          triangle;
    const int64_t*          first; // [triangle] place of its first pair; NULL = only count
    int32_t*                count; // [triangle] partners with a higher index
    int32_t*                pairs; // [capacity][2]
    int64_t                 capacity;
} crossing_job;

typedef struct crossing_search
{
    const crossing_job* job;
    const double*       corner;
    int32_t             triangle;
    int32_t             count;
    int32_t*            keep; // the lowest partners
    int32_t             kept, capacity;
} crossing_search;

static int shared_corners(const int32_t* a, const int32_t* b)
{
    int shared = 0;
    for (int i = 0; i < 3; ++i) shared += a[i] == b[0] || a[i] == b[1] || a[i] == b[2];
    return shared;
}

static void try_pair(void* user, int32_t slot)
{
    crossing_search*    s     = user;
    const crossing_job* job   = s->job;
    const int32_t       other = job->bvh->triangle[slot];
    if (other <= s->triangle) return;
    // neighbours across an edge meet in that edge or in one plane: never a crossing
    if (shared_corners(&job->triangle[3 * (int64_t)s->triangle], &job->triangle[3 * (int64_t)other]) >= 2) return;
    // the lower triangle first: the same question for any tree
    if (!triangles_cross(s->corner, &job->bvh->corner[9 * (int64_t)slot])) return;
    ++s->count;
    flx__keep_least_offer(s->keep, &s->kept, s->capacity, other);
}

static void search_slot(const crossing_job* job, int32_t slot)
{
    const int32_t   t = job->bvh->triangle[slot];
    const double*   c = &job->bvh->corner[9 * (int64_t)slot];
    crossing_search s = {.job = job, .corner = c, .triangle = t};
    if (job->first) // second time: gather the partners where they belong, then write the pairs from the back
    {
        if (job->count[t] == 0 || job->first[t] >= job->capacity) return;
        const int64_t room = job->capacity - job->first[t];
        s.keep             = &job->pairs[2 * job->first[t]];
        s.capacity         = room < job->count[t] ? (int32_t)room : job->count[t];
    }
    double lo[3], hi[3];
    for (int k = 0; k < 3; ++k)
    {
        lo[k] = fmin(c[k], fmin(c[3 + k], c[6 + k]));
        hi[k] = fmax(c[k], fmax(c[3 + k], c[6 + k]));
    }
    flx__triangle_bvh_visit(job->bvh, lo, hi, try_pair, &s);
    if (!job->first)
    {
        job->count[t] = s.count;
        return;
    }
    flx__keep_least_sort(s.keep, s.kept);
    for (int32_t i = s.kept - 1; i >= 0; --i)
    {
        const int32_t other = s.keep[i];
        s.keep[2 * i]       = t;
        s.keep[2 * i + 1]   = other;
    }
}

static void search_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    for (int64_t slot = begin; slot < end; ++slot) search_slot(user, (int32_t)slot);
}

flx_status flx__surface_crossings(flx_context* ctx, int32_t vertex_count, const double* x, int32_t triangle_count,
                                  const int32_t* triangle, int64_t* crossing_count, int32_t* pairs, int64_t capacity)
{
    flx_status        status = FLX_OK;
    flx_triangle_bvh* bvh    = NULL;
    int32_t*          count  = NULL;
    int64_t*          first  = NULL;
    *crossing_count          = 0;

    FLX_TRY(flx__triangle_bvh_create_bare(ctx, vertex_count, x, triangle_count, triangle, &bvh));
    FLX_NEW(ctx, count, triangle_count);
    FLX_NEW(ctx, first, triangle_count);
    crossing_job job = {.bvh = bvh, .triangle = triangle, .count = count};
    flx__parallel_for(ctx, triangle_count, 256, search_range, &job);

    int64_t total = 0;
    for (int32_t t = 0; t < triangle_count; ++t)
    {
        first[t] = total;
        total += count[t];
    }
    if (pairs && capacity > 0 && total > 0)
    {
        job.first    = first;
        job.pairs    = pairs;
        job.capacity = capacity;
        flx__parallel_for(ctx, triangle_count, 256, search_range, &job);
    }
    *crossing_count = total;

done:
    flx__triangle_bvh_destroy(bvh);
    flx__free(ctx, count);
    flx__free(ctx, first);
    return status;
}
