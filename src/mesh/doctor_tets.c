// The doctor on tetrahedra: orientation, thickness, repeats, shared faces, and boundary faces that lie inside.
//
//   6 V = (x1 - x0) . ((x2 - x0) x (x3 - x0))        flat when |6 V| <= max(1e-11 L^3, 16 eps D L^2)
//
// with L the longest edge and D the largest coordinate. The dihedral angle at an edge is the angle between the two
// faces there, from their outward normals: cos = - n_a . n_b.
#include "mesh/doctor.h"
#include "mesh/point_tree.h"
#include "mesh/tuple_table.h"

#include "math/mat3.h"

#include <float.h>
#include <math.h>

// Corners of the face opposite corner i, outward for positive volume.
static const int face_corner[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static double six_volumes(const double* x, const int32_t* t, double* longest)
{
    double e[3][3], n[3], edge[3];
    double most = 0.0;
    for (int k = 0; k < 3; ++k)
    {
        flx__sub3(x + 3 * (int64_t)t[k + 1], x + 3 * (int64_t)t[0], e[k]);
        most = fmax(most, flx__dot3(e[k], e[k]));
        flx__sub3(x + 3 * (int64_t)t[1 + (k + 1) % 3], x + 3 * (int64_t)t[1 + k], edge);
        most = fmax(most, flx__dot3(edge, edge));
    }
    *longest = sqrt(most);
    flx__cross3(e[1], e[2], n);
    return flx__dot3(e[0], n);
}

static double smallest_dihedral(const double* x, const int32_t* t)
{
    double n[4][3];
    for (int f = 0; f < 4; ++f)
    {
        double a[3], b[3];
        flx__sub3(x + 3 * (int64_t)t[face_corner[f][1]], x + 3 * (int64_t)t[face_corner[f][0]], a);
        flx__sub3(x + 3 * (int64_t)t[face_corner[f][2]], x + 3 * (int64_t)t[face_corner[f][0]], b);
        flx__cross3(a, b, n[f]);
    }
    double smallest = M_PI;
    for (int f = 0; f < 4; ++f)
        for (int g = f + 1; g < 4; ++g)
        {
            double c[3];
            flx__cross3(n[f], n[g], c);
            smallest =
                fmin(smallest, atan2(sqrt(flx__dot3(c, c)), -flx__dot3(n[f], n[g]))); // exact near 0, where acos is not
        }
    return smallest * (180.0 / M_PI);
}

static void examine_tet(flx_doctor* d, int32_t i, bool* drop, double* sum, int64_t* good)
{
    flx_doctor_report* r       = d->report;
    int32_t*           t       = d->mesh->tet + 4 * (int64_t)i;
    const int64_t      number  = flx__tet_number(d->mesh, i);
    double             longest = 0.0;
    double             six     = six_volumes(d->mesh->x, t, &longest);
    const bool repeated = t[0] == t[1] || t[0] == t[2] || t[0] == t[3] || t[1] == t[2] || t[1] == t[3] || t[2] == t[3];
    const double rounding = 16.0 * DBL_EPSILON * d->largest * longest * longest;
    if (repeated || !(fabs(six) > fmax(FLX_FLAT * longest * longest * longest, rounding)))
    {
        flx__doctor_note(&r->flat, number);
        *drop = true;
        return;
    }
    if (six < 0.0)
    {
        const int32_t swap = t[2];
        t[2]               = t[3];
        t[3]               = swap;
        six                = -six;
        flx__doctor_note(&r->reoriented, number);
    }
    *sum += six / 6.0;
    if (*good == 0 || six / 6.0 < r->min_volume) r->min_volume = six / 6.0;
    const double angle = smallest_dihedral(d->mesh->x, t);
    if (angle < 1.0) flx__doctor_note(&r->sliver, number);
    if (*good == 0 || angle < r->min_dihedral_deg)
    {
        r->min_dihedral_deg = angle;
        r->worst_tet        = number;
    }
    *good += 1;
}

static flx_status find_repeats(flx_doctor* d)
{
    flx_status      status = FLX_OK;
    flx_tuple_table seen;
    flx__tuple_table_begin(&seen, d->ctx, 4);
    for (int32_t i = 0; i < d->mesh->tet_count; ++i)
    {
        if (d->drop_tet[i]) continue; // flat
        int32_t  key[4];
        int32_t* first = NULL;
        for (int k = 0; k < 4; ++k) key[k] = d->mesh->tet[4 * (int64_t)i + k];
        flx__tuple_sort(key, 4);
        FLX_TRY(flx__tuple_add(&seen, key, i, &first));
        if (*first == i) continue;
        flx__doctor_note(&d->report->repeated_tet, flx__tet_number(d->mesh, i));
        d->drop_tet[i] = true;
    }
done:
    flx__tuple_table_end(&seen);
    return status;
}

// The face's direction relative to its sorted corners: two tets on either side of a face see it in opposite ones.
static int parity(const int32_t c[3])
{
    return (c[0] > c[1]) ^ (c[1] > c[2]) ^ (c[0] > c[2]);
}

// Each face's value: uses + 4 x (uses in even direction), both capped at 3.
static flx_status find_shared_faces(flx_doctor* d)
{
    flx_status      status  = FLX_OK;
    int64_t         overlap = 0;
    flx_tuple_table faces;
    flx__tuple_table_begin(&faces, d->ctx, 3);
    bool suspect = false; // of a clean mesh every face has one tet, or two that see it in opposite directions
    for (int pass = 0; pass == 0 || (pass == 1 && suspect); ++pass)
        for (int32_t i = 0; i < d->mesh->tet_count; ++i)
        {
            bool shared = false;
            if (d->drop_tet[i]) continue;
            for (int f = 0; f < 4; ++f)
            {
                int32_t c[3], *value = NULL;
                for (int k = 0; k < 3; ++k) c[k] = d->mesh->tet[4 * (int64_t)i + face_corner[f][k]];
                const int even = parity(c) == 0;
                flx__tuple_sort(c, 3);
                if (pass == 0)
                {
                    FLX_TRY(flx__tuple_add(&faces, c, 0, &value));
                    if (*value % 4 < 3) *value += 1 + 4 * even;
                    suspect |= *value % 4 > 1 && *value != 2 + 4;
                }
                else
                {
                    const int32_t uses = flx__tuple_get(&faces, c);
                    shared |= uses % 4 == 3;
                    overlap += uses % 4 == 2 && uses / 4 != 1;
                }
            }
            if (shared) flx__doctor_note(&d->report->shared_face, flx__tet_number(d->mesh, i));
        }
    if (overlap > 0)
        flx__log(d->ctx, FLX_LOG_NOTICE, "%s: %lld faces have both their tetrahedra on the same side: these overlap",
                 d->name, (long long)(overlap / 2));
done:
    flx__tuple_table_end(&faces);
    return status;
}

flx_status flx__doctor_tets(flx_doctor* d)
{
    flx_status status = FLX_OK;
    double     sum    = 0.0;
    int64_t    good   = 0;
    FLX_NEW_ZERO(d->ctx, d->drop_tet, d->mesh->tet_count);
    for (int32_t i = 0; i < d->mesh->tet_count; ++i) examine_tet(d, i, d->drop_tet + i, &sum, &good);
    d->report->volume      = sum;
    d->report->mean_volume = good > 0 ? sum / (double)good : 0.0;
    FLX_TRY(find_repeats(d));
    FLX_TRY(find_shared_faces(d));
done:
    return status;
}

// --- boundary faces that lie inside -------------------------------------------------------------------

typedef struct touching
{
    const double*  x;
    const int32_t* triangle;
    const double*  center; // [triangle_count][3]
    const double*  normal; // [triangle_count][3] not normalised: twice the area
    bool*          inside; // [triangle_count]
    int32_t        self;
    double         reach; // m
    int64_t        budget;
} touching;

// Does the centre of face `other` lie in face `self`, back to back with it? Then both lie inside the body.
static bool touch_if_back_to_back(void* user, int32_t other)
{
    touching*      t  = user;
    const double*  n  = t->normal + 3 * (int64_t)t->self;
    const double*  m  = t->normal + 3 * (int64_t)other;
    const double*  c  = t->center + 3 * (int64_t)other;
    const int32_t* v  = t->triangle + 3 * (int64_t)t->self;
    const double   nn = flx__dot3(n, n);
    if (other == t->self || nn == 0.0) return --t->budget > 0;
    if (!(flx__dot3(n, m) < -(1.0 - 1e-6) * sqrt(nn * flx__dot3(m, m)))) return --t->budget > 0; // not opposite
    bool in = true;
    for (int k = 0; k < 3; ++k)
    {
        double edge[3], to[3], side[3];
        flx__sub3(t->x + 3 * (int64_t)v[(k + 1) % 3], t->x + 3 * (int64_t)v[k], edge);
        flx__sub3(c, t->x + 3 * (int64_t)v[k], to);
        if (k == 0) in &= fabs(flx__dot3(to, n)) <= t->reach * sqrt(nn); // in the plane
        flx__cross3(edge, to, side);
        in &= flx__dot3(side, n) >= -t->reach * sqrt(flx__dot3(edge, edge) * nn);
    }
    if (in) t->inside[other] = t->inside[t->self] = true;
    return --t->budget > 0;
}

flx_status flx__doctor_inner_faces(flx_doctor* d, int32_t triangle_count, const int32_t* triangle)
{
    flx_status     status = FLX_OK;
    const double*  x      = d->mesh->x;
    double *       center = NULL, *normal = NULL;
    bool*          inside = NULL;
    flx_point_tree tree   = {0};

    FLX_NEW(d->ctx, center, 3 * (int64_t)triangle_count);
    FLX_NEW(d->ctx, normal, 3 * (int64_t)triangle_count);
    FLX_NEW_ZERO(d->ctx, inside, triangle_count);
    for (int64_t i = 0; i < triangle_count; ++i)
    {
        const double *a = x + 3 * (int64_t)triangle[3 * i], *b = x + 3 * (int64_t)triangle[3 * i + 1],
                     *c = x + 3 * (int64_t)triangle[3 * i + 2];
        double u[3], v[3];
        flx__sub3(b, a, u);
        flx__sub3(c, a, v);
        flx__cross3(u, v, normal + 3 * i);
        for (int k = 0; k < 3; ++k) center[3 * i + k] = a[k] + (u[k] + v[k]) / 3.0;
    }
    FLX_TRY(flx__point_tree_begin(d->ctx, &tree, triangle_count, NULL, center));
    touching t = {.x = x, .triangle = triangle, .center = center, .normal = normal, .inside = inside};
    t.budget   = 200000000; // pairs looked at: a bound on the time for meshes made to hurt
    for (t.self = 0; t.self < triangle_count && t.budget > 0; ++t.self)
    {
        double low[3], high[3], size = 0.0;
        for (int k = 0; k < 3; ++k)
        {
            const int32_t* v = triangle + 3 * (int64_t)t.self;
            const double   a = x[3 * (int64_t)v[0] + k], b = x[3 * (int64_t)v[1] + k], c = x[3 * (int64_t)v[2] + k];
            low[k]  = fmin(a, fmin(b, c));
            high[k] = fmax(a, fmax(b, c));
            size    = fmax(size, high[k] - low[k]);
        }
        t.reach = FLX_TOUCH * size + 16.0 * DBL_EPSILON * d->largest;
        for (int k = 0; k < 3; ++k)
        {
            low[k] -= t.reach;
            high[k] += t.reach;
        }
        flx__point_tree_box(&tree, low, high, touch_if_back_to_back, &t);
    }
    for (int32_t i = 0; i < triangle_count; ++i) d->report->inner_boundary_faces += inside[i];
    if (t.budget <= 0)
        flx__log(d->ctx, FLX_LOG_NOTICE, "%s: the search for boundary faces that lie inside was given up", d->name);

done:
    flx__point_tree_end(d->ctx, &tree);
    flx__free(d->ctx, center);
    flx__free(d->ctx, normal);
    flx__free(d->ctx, inside);
    return status;
}
