// Ear clipping in the plane of the polygon's area vector.
//
//   N = 1/2 sum x_i x x_(i+1)                 area vector; the axis of its largest entry is dropped, which rounds
//   nothing ear i: (prev, i, next) turns left, and no corner that does not turn left lies in the closed triangle
//
// Corners on a straight line are never ears but do block: cutting past them would leave them on an edge that does not
// own them (a T-junction). Quads take the shorter diagonal inside; of two equal ones that with the smallest vertex
// number, so that neither the run nor the corner a file starts with decides.
#include "mesh/polygon.h"

#include <math.h>
#include <string.h>

#define FLAT_SINE 1e-12      // sine of the angle at a corner below which it is straight
#define TEST_LIMIT 200000000 // point-in-triangle tests for one polygon, after which ears are cut without them

static flx_status reserve(flx_context* ctx, flx_polygon_scratch* s, int64_t count)
{
    flx_status status = FLX_OK;
    if (count <= s->capacity) return FLX_OK;
    flx__polygon_scratch_end(ctx, s);
    const int64_t capacity = count < 64 ? 64 : count;
    FLX_NEW(ctx, s->corner, capacity);
    FLX_NEW(ctx, s->u, 2 * capacity);
    FLX_NEW(ctx, s->next, capacity);
    FLX_NEW(ctx, s->prev, capacity);
    FLX_NEW(ctx, s->blocker, capacity);
    FLX_NEW(ctx, s->place, capacity);
    s->capacity = capacity;

done:
    return status;
}

void flx__polygon_scratch_end(flx_context* ctx, flx_polygon_scratch* s)
{
    flx__free(ctx, s->corner);
    flx__free(ctx, s->u);
    flx__free(ctx, s->next);
    flx__free(ctx, s->prev);
    flx__free(ctx, s->blocker);
    flx__free(ctx, s->place);
    *s = (flx_polygon_scratch){0};
}

// --- geometry -------------------------------------------------------------------------------------

static int32_t without_repeats(flx_polygon_scratch* s, int64_t count, const int32_t* corner)
{
    int32_t n = 0;
    for (int64_t i = 0; i < count; ++i)
        if (n == 0 || s->corner[n - 1] != corner[i]) s->corner[n++] = corner[i];
    while (n > 1 && s->corner[n - 1] == s->corner[0]) --n;
    return n;
}

static void area_vector(const flx_polygon_scratch* s, const double* x, int32_t n, double N[3])
{
    const double* o = x + 3 * (int64_t)s->corner[0]; // relative to a corner: far from the origin costs no digits
    N[0] = N[1] = N[2] = 0.0;
    for (int32_t i = 1; i + 1 < n; ++i)
    {
        const double* p    = x + 3 * (int64_t)s->corner[i];
        const double* q    = x + 3 * (int64_t)s->corner[i + 1];
        const double  a[3] = {p[0] - o[0], p[1] - o[1], p[2] - o[2]};
        const double  b[3] = {q[0] - o[0], q[1] - o[1], q[2] - o[2]};
        N[0] += a[1] * b[2] - a[2] * b[1];
        N[1] += a[2] * b[0] - a[0] * b[2];
        N[2] += a[0] * b[1] - a[1] * b[0];
    }
}

static void project(flx_polygon_scratch* s, const double* x, int32_t n, const double N[3])
{
    const double a[3] = {fabs(N[0]), fabs(N[1]), fabs(N[2])};
    const int    drop = a[0] >= a[1] && a[0] >= a[2] ? 0 : a[1] >= a[2] ? 1 : 2;
    int          j    = (drop + 1) % 3;
    int          k    = (drop + 2) % 3;
    if (N[drop] < 0.0) // seen from the other side, so that the outline turns left
    {
        const int t = j;
        j           = k;
        k           = t;
    }
    for (int32_t i = 0; i < n; ++i)
    {
        s->u[2 * i]     = x[3 * (int64_t)s->corner[i] + j];
        s->u[2 * i + 1] = x[3 * (int64_t)s->corner[i] + k];
    }
}

static double turn(const double* a, const double* b, const double* c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool turns_left(const double* a, const double* b, const double* c)
{
    const double ab = hypot(b[0] - a[0], b[1] - a[1]);
    const double bc = hypot(c[0] - b[0], c[1] - b[1]);
    return turn(a, b, c) > FLAT_SINE * ab * bc;
}

static bool same_place(const double* a, const double* b)
{
    return a[0] == b[0] && a[1] == b[1];
}

static double distance_squared(const double* x, int32_t a, int32_t b)
{
    double sum = 0.0;
    for (int d = 0; d < 3; ++d)
    {
        const double e = x[3 * (int64_t)a + d] - x[3 * (int64_t)b + d];
        sum += e * e;
    }
    return sum;
}

// In space: by far not planar polygons have triangles that are fine although their projection is flat or turned over.
static bool has_area(const double* x, int32_t a, int32_t b, int32_t c)
{
    const double* p = x + 3 * (int64_t)a;
    const double* q = x + 3 * (int64_t)b;
    const double* r = x + 3 * (int64_t)c;
    double        e[3], f[3];
    for (int d = 0; d < 3; ++d)
    {
        e[d] = q[d] - p[d];
        f[d] = r[d] - p[d];
    }
    const double n[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
    const double nn   = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    const double ee   = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    const double ff   = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
    return nn > FLAT_SINE * FLAT_SINE * ee * ff;
}

// --- quads ----------------------------------------------------------------------------------------

static void put(int32_t* triangle, int64_t* count, int32_t a, int32_t b, int32_t c)
{
    int32_t* t = triangle + 3 * *count;
    t[0]       = a;
    t[1]       = b;
    t[2]       = c;
    *count += 1;
}

// 0: corners 0-2, 1: corners 1-3, -1: neither leaves two triangles with area
static int quad_diagonal(const flx_polygon_scratch* s, const double* x, bool* crossing)
{
    const double*  u    = s->u;
    const int32_t* v    = s->corner;
    bool           even = turns_left(u, u + 2, u + 4) && turns_left(u, u + 4, u + 6);
    bool           odd  = turns_left(u + 2, u + 4, u + 6) && turns_left(u + 2, u + 6, u);
    if (!even && !odd)
    {
        even      = has_area(x, v[0], v[1], v[2]) && has_area(x, v[0], v[2], v[3]);
        odd       = has_area(x, v[1], v[2], v[3]) && has_area(x, v[1], v[3], v[0]);
        *crossing = even || odd;
    }
    if (!even || !odd) return even ? 0 : odd ? 1 : -1;
    const double length = distance_squared(x, v[0], v[2]);
    const double other  = distance_squared(x, v[1], v[3]);
    if (length != other) return length < other ? 0 : 1;
    const int32_t low_even = v[0] < v[2] ? v[0] : v[2];
    const int32_t low_odd  = v[1] < v[3] ? v[1] : v[3];
    return low_even < low_odd ? 0 : 1;
}

// --- any number of corners --------------------------------------------------------------------------

typedef struct outline
{
    flx_polygon_scratch* s;
    int32_t              left; // corners not yet cut off
    int32_t              blocker_count;
    int64_t              tests;
} outline;

static void update_blocker(outline* o, int32_t i)
{
    flx_polygon_scratch* s      = o->s;
    const bool           convex = turns_left(s->u + 2 * s->prev[i], s->u + 2 * i, s->u + 2 * s->next[i]);
    if (!convex && s->place[i] < 0)
    {
        s->place[i]                    = o->blocker_count;
        s->blocker[o->blocker_count++] = i;
    }
    else if (convex && s->place[i] >= 0)
    {
        const int32_t last      = s->blocker[--o->blocker_count];
        s->blocker[s->place[i]] = last;
        s->place[last]          = s->place[i];
        s->place[i]             = -1;
    }
}

static bool is_ear(outline* o, int32_t i)
{
    const flx_polygon_scratch* s = o->s;
    if (s->place[i] >= 0) return false;
    const double* a = s->u + 2 * s->prev[i];
    const double* b = s->u + 2 * i;
    const double* c = s->u + 2 * s->next[i];
    if (o->tests > TEST_LIMIT) return true;
    for (int32_t k = 0; k < o->blocker_count; ++k)
    {
        const double* p = s->u + 2 * s->blocker[k];
        o->tests += 1;
        if (turn(a, b, p) < 0.0 || turn(b, c, p) < 0.0 || turn(c, a, p) < 0.0) continue;
        if (!same_place(p, a) && !same_place(p, b) && !same_place(p, c)) return false;
    }
    return true;
}

static void cut(outline* o, int32_t i)
{
    flx_polygon_scratch* s = o->s;
    if (s->place[i] >= 0)
    {
        const int32_t last      = s->blocker[--o->blocker_count];
        s->blocker[s->place[i]] = last;
        s->place[last]          = s->place[i];
    }
    s->next[s->prev[i]] = s->next[i];
    s->prev[s->next[i]] = s->prev[i];
    o->left -= 1;
    update_blocker(o, s->prev[i]);
    update_blocker(o, s->next[i]);
}

// The next ear from `start` on; else the first corner that turns left, as when the outline crosses itself; else the
// first whose triangle has area in space; else -1.
static int32_t choose(outline* o, const double* x, int32_t start, bool* crossing)
{
    const flx_polygon_scratch* s = o->s;
    int32_t                    i = start;
    for (int32_t k = 0; k < o->left; ++k, i = s->next[i])
        if (is_ear(o, i)) return i;
    *crossing = true;
    for (int32_t k = 0; k < o->left; ++k, i = s->next[i])
        if (s->place[i] < 0) return i;
    for (int32_t k = 0; k < o->left; ++k, i = s->next[i])
        if (has_area(x, s->corner[s->prev[i]], s->corner[i], s->corner[s->next[i]])) return i;
    *crossing = false;
    return -1;
}

static void clip(flx_polygon_scratch* s, const double* x, int32_t n, int32_t* triangle, int64_t* count, bool* crossing,
                 bool* flat)
{
    outline o = {.s = s, .left = n};
    for (int32_t i = 0; i < n; ++i)
    {
        s->next[i]  = i + 1 < n ? i + 1 : 0;
        s->prev[i]  = i > 0 ? i - 1 : n - 1;
        s->place[i] = -1;
    }
    for (int32_t i = 0; i < n; ++i) update_blocker(&o, i);

    int32_t i = 0;
    while (o.left > 3)
    {
        const int32_t ear = choose(&o, x, i, crossing);
        if (ear < 0)
        {
            *flat = true; // what is left has no area
            return;
        }
        put(triangle, count, s->corner[s->prev[ear]], s->corner[ear], s->corner[s->next[ear]]);
        i = s->next[s->next[ear]]; // not the neighbour: that would make a fan of thin ones
        cut(&o, ear);
    }
    if (has_area(x, s->corner[s->prev[i]], s->corner[i], s->corner[s->next[i]]))
        put(triangle, count, s->corner[s->prev[i]], s->corner[i], s->corner[s->next[i]]);
    else
        *flat = true;
    if (o.tests > TEST_LIMIT) *crossing = true;
}

static void note(int64_t* count, int64_t* first, int64_t number)
{
    if (*count == 0) *first = number;
    *count += 1;
}

flx_status flx__polygon_split(flx_context* ctx, flx_polygon_scratch* s, const double* x, int64_t corner_count,
                              const int32_t* corner, int64_t number, int32_t* triangle, int64_t* triangle_count,
                              flx_polygon_notes* notes)
{
    FLX_ASSERT(corner_count >= 3 && corner_count <= FLX_POLYGON_MAX);
    *triangle_count         = 0;
    const flx_status status = reserve(ctx, s, corner_count);
    if (status != FLX_OK) return status;

    const int32_t n = without_repeats(s, corner_count, corner);
    notes->repeated_corners += corner_count - n;
    const int32_t* v = s->corner;
    if (n == 3) put(triangle, triangle_count, v[0], v[1], v[2]); // flat or not: the doctor's business
    if (n > 3)
    {
        double N[3];
        area_vector(s, x, n, N);
        project(s, x, n, N);
        bool      crossing = false;
        bool      flat     = false;
        const int diagonal = n == 4 ? quad_diagonal(s, x, &crossing) : -1;
        if (diagonal == 0)
        {
            put(triangle, triangle_count, v[0], v[1], v[2]);
            put(triangle, triangle_count, v[0], v[2], v[3]);
        }
        else if (diagonal == 1)
        {
            put(triangle, triangle_count, v[1], v[2], v[3]);
            put(triangle, triangle_count, v[1], v[3], v[0]);
        }
        else
            clip(s, x, n, triangle, triangle_count, &crossing, &flat);
        notes->flat_parts += flat;
        if (crossing) note(&notes->crossing, &notes->first_crossing, number);
    }
    if (*triangle_count == 0) note(&notes->vanished, &notes->first_vanished, number);
    return FLX_OK;
}
