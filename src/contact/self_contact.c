// Self contact: which proxies are inside, or nearly inside, the body's own deformed flesh.
//
// For each proxy p with deformed outward normal m, a box query in the deformed tets finds those that hold
//   p itself                          -> it has penetrated foreign flesh, or
//   the probe p + (margin + offset) m -> it is free, and a partner lies ahead: a candidate with a gap.
// What follows from a holding tet to the partner point, its row and its normal is self_partner.c's. Of several holding
// tets the least violent partner is taken: tets that are not inverted first, then the smallest |gap|, then the lowest
// tet. A probe only matters while p itself is free, and the gap of both is measured from p along the partner's normal:
// so the gap runs through zero without a jump when a fold closes.
//
// Based on [MZS*11] section 5. Differs: candidates ahead of contact, see above, so that an active set can settle.
#include "contact/self_contact_internal.h"

#include "math/mat3.h"

#define HOLD_SLACK -1e-9 // weights above this hold: a point on a shared face must not slip between its two tets
#define PROBE_HITS 16    // tets kept that hold one probe and have material there; more than two is rare
#define PROXY_GRAIN 32

// --- create ------------------------------------------------------------------------------------------------

static bool non_negative(double v)
{
    return v >= 0 && v < INFINITY;
}

static flx_status check_sizes(flx_context* ctx, const flx_self_contact_desc* d)
{
    if (!non_negative(d->exclude) || !non_negative(d->margin) || !non_negative(d->offset) || !non_negative(d->depth) ||
        d->depth == 0)
        return flx__fail(ctx, FLX_ERR_SETTING,
                         "self contact: exclude = %g m, margin = %g m, offset = %g m must not be negative and depth = "
                         "%g m must be positive",
                         d->exclude, d->margin, d->offset, d->depth);
    return FLX_OK;
}

static bool corners_valid(const int32_t* corner, int32_t vertex_count)
{
    for (int i = 0; i < 4; ++i)
        if (corner[i] < 0 || corner[i] >= vertex_count) return false;
    return true;
}

static flx_status check_indices(flx_context* ctx, const flx_self_contact_desc* d)
{
    for (int64_t i = 0; i < 3 * (int64_t)d->vertex_count; ++i)
        if (!isfinite(d->x_rest[i]))
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "self contact: rest position of vertex %lld is %g, not finite",
                             (long long)(i / 3), d->x_rest[i]);
    for (int32_t s = 0; s < d->search_count; ++s)
    {
        const int32_t t = d->search[s];
        if (t < 0 || t >= d->tet_count || !corners_valid(d->tet + 4 * (int64_t)t, d->vertex_count))
            return flx__fail(ctx, FLX_ERR_ARGUMENT,
                             "self contact: searched tet %d must be in [0, %d) with corners in [0, %d)", t,
                             d->tet_count, d->vertex_count);
    }
    for (int32_t i = 0; i < d->proxy_count; ++i)
        if (!corners_valid(d->proxy[i].vertex, d->vertex_count))
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "self contact: proxy %d must have four corners in [0, %d)", i,
                             d->vertex_count);
    return FLX_OK;
}

/// The corners of the face opposite corner `skip`, ascending.
static void face_key(const int32_t* corner, int skip, int32_t key[3])
{
    int n = 0;
    for (int i = 0; i < 4; ++i)
        if (i != skip) key[n++] = corner[i];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2 - i; ++j)
            if (key[j] > key[j + 1])
            {
                const int32_t t = key[j];
                key[j]          = key[j + 1];
                key[j + 1]      = t;
            }
}

/// Faces wait in a chain at their lowest vertex until their twin comes.
static flx_status link_neighbours(flx_context* ctx, const flx_self_contact_desc* d, int32_t* neighbour)
{
    flx_status    status = FLX_OK;
    const int64_t faces  = 4 * (int64_t)d->search_count;
    int64_t *     head = NULL, *next = NULL;
    FLX_NEW(ctx, head, d->vertex_count);
    FLX_NEW(ctx, next, faces);

    for (int32_t v = 0; v < d->vertex_count; ++v) head[v] = -1;
    for (int64_t f = 0; f < faces; ++f)
    {
        int32_t key[3], other[3];
        face_key(d->tet + 4 * (int64_t)d->search[f / 4], (int)(f % 4), key);
        neighbour[f]  = -1;
        int64_t* link = &head[key[0]];
        while (*link >= 0)
        {
            const int64_t g = *link;
            face_key(d->tet + 4 * (int64_t)d->search[g / 4], (int)(g % 4), other);
            if (key[1] == other[1] && key[2] == other[2])
            {
                neighbour[f] = (int32_t)(g / 4);
                neighbour[g] = (int32_t)(f / 4);
                *link        = next[g]; // taken out: a third tet on the face finds no one
                break;
            }
            link = &next[g];
        }
        if (neighbour[f] >= 0) continue;
        next[f]      = head[key[0]];
        head[key[0]] = f;
    }

done:
    flx__free(ctx, head);
    flx__free(ctx, next);
    return status;
}

flx_status flx__self_contact_create(flx_context* ctx, const flx_self_contact_desc* desc, flx_self_contact** out)
{
    flx_status        status = FLX_OK;
    flx_self_contact* self   = NULL;
    uint8_t*          near   = NULL;

    *out = NULL;
    FLX_TRY(check_sizes(ctx, desc));
    FLX_TRY(check_indices(ctx, desc));

    FLX_NEW_ZERO(ctx, self, 1);
    self->ctx  = ctx;
    self->desc = *desc;
    FLX_NEW(ctx, self->neighbour, 4 * (int64_t)desc->search_count);
    FLX_NEW(ctx, self->proxy_normal, 3 * (int64_t)desc->proxy_count);
    FLX_NEW_ZERO(ctx, self->outcome, desc->proxy_count);
    FLX_NEW(ctx, self->overlap, desc->proxy_count);
    FLX_TRY(link_neighbours(ctx, desc, self->neighbour));
    FLX_NEW_ZERO(ctx, near, desc->tet_count);
    for (int32_t i = 0; i < desc->search_count; ++i) near[desc->search[i]] = 1;
    FLX_TRY(flx__skin_create(ctx, flx__triangle_bvh_count(desc->bvh), desc->surface_triangle, desc->surface, desc->tet,
                             near, &self->skin));
    FLX_TRY(flx__deformed_bvh_create(ctx, desc->x_rest, desc->tet, desc->search_count, desc->search, &self->bvh));

    for (int32_t i = 0; i < desc->proxy_count; ++i)
    {
        const double* n      = desc->proxy[i].normal;
        const double  length = flx__norm3(n);
        for (int k = 0; k < 3; ++k)
            self->proxy_normal[3 * (int64_t)i + k] = length > 0 && length < INFINITY ? n[k] / length : 0.0;
    }
    *out = self;
    self = NULL;

done:
    flx__free(ctx, near);
    flx__self_contact_destroy(self);
    return status;
}

void flx__self_contact_destroy(flx_self_contact* self)
{
    if (!self) return;
    flx__deformed_bvh_destroy(self->bvh);
    flx__skin_destroy(self->skin);
    flx__free(self->ctx, self->neighbour);
    flx__free(self->ctx, self->proxy_normal);
    flx__free(self->ctx, self->outcome);
    flx__free(self->ctx, self->overlap);
    flx__free(self->ctx, self);
}

// --- find --------------------------------------------------------------------------------------------------

typedef struct find_args
{
    flx_self_contact* self;
    const double*     x;
    flx_contact*      out; // [proxy_count] one place a proxy, closed up afterwards
} find_args;

typedef struct probe_hit
{
    int32_t slot;
    bool    inverted;
    double  X[3];
} probe_hit;

/// Search of one proxy.
typedef struct search
{
    const flx_self_contact* self;
    const double*           x;
    flx_prober              prober;
    bool                    has_probe;
    double                  probe[3];
    int32_t                 hit_count; // of the probe
    probe_hit               hit[PROBE_HITS];

    flx_partner_outcome outcome;
    bool                inverted; // of the best so far
    int32_t             tet;
    flx_contact*        best;
} search;

static bool better(const search* s, bool inverted, double gap, int32_t tet)
{
    if (s->outcome == FLX_PARTNER_NONE) return true;
    if (inverted != s->inverted) return !inverted;
    const double now = fabs(gap), before = fabs(s->best->gap);
    return now < before || (now == before && tet < s->tet);
}

static void consider(search* s, int32_t slot, bool inverted, const double X[3])
{
    flx_contact               c;
    const flx_partner_outcome outcome = flx__partner_contact(s->self, s->x, &s->prober, slot, X, &c);
    const int32_t             tet     = s->self->desc.search[slot];
    if (outcome == FLX_PARTNER_NONE || !better(s, inverted, c.gap, tet)) return;
    s->outcome  = outcome;
    s->inverted = inverted;
    s->tet      = tet;
    *s->best    = c;
}

/// Does the tet hold q, and material where q lies? Then X is where that is at rest.
static bool holds(const search* s, int32_t slot, const flx_tet_frame* frame, const double q[3], double X[3])
{
    double w[4];
    flx__tet_frame_weights(frame, q, w);
    for (int i = 0; i < 4; ++i)
        if (!(w[i] >= HOLD_SLACK)) return false;
    return flx__partner_possible(s->self, s->prober.proxy, slot, w, X);
}

static void visit(void* user, int32_t slot)
{
    search*       s = user;
    flx_tet_frame frame;
    double        X[3];
    if (!flx__tet_frame(s->x, s->self->desc.tet + 4 * (int64_t)s->self->desc.search[slot], &frame)) return;
    if (holds(s, slot, &frame, s->prober.p, X)) consider(s, slot, frame.inverted, X);
    if (!s->has_probe || s->outcome != FLX_PARTNER_NONE || s->hit_count == PROBE_HITS) return;
    if (!holds(s, slot, &frame, s->probe, X)) return;
    probe_hit* hit = &s->hit[s->hit_count++];
    hit->slot      = slot;
    hit->inverted  = frame.inverted;
    for (int k = 0; k < 3; ++k) hit->X[k] = X[k];
}

static void place(const flx_self_contact* self, const double* x, int32_t i, search* s)
{
    const flx_self_contact_desc* d     = &self->desc;
    const flx_proxy*             proxy = &d->proxy[i];
    double                       stretch;
    s->prober.proxy = i;
    for (int k = 0; k < 3; ++k)
    {
        s->prober.p[k] = 0;
        for (int c = 0; c < 4; ++c) s->prober.p[k] += proxy->weight[c] * x[3 * (int64_t)proxy->vertex[c] + k];
    }
    double*    m    = s->prober.normal;
    const bool good = flx__carry_normal(d->x_rest, x, proxy->vertex, self->proxy_normal + 3 * (int64_t)i, m, &stretch);
    for (int k = 0; k < 3; ++k)
    {
        if (!good) m[k] = 0;
        s->probe[k] = s->prober.p[k] + (d->margin + d->offset) * m[k];
    }
    s->has_probe = good && d->margin + d->offset > 0;
}

static uint8_t find_one(const find_args* args, int32_t i)
{
    const flx_self_contact* self = args->self;
    search                  s;
    s.self      = self;
    s.x         = args->x;
    s.hit_count = 0;
    s.outcome   = FLX_PARTNER_NONE;
    s.inverted  = false;
    s.tet       = -1;
    s.best      = &args->out[i];
    place(self, args->x, i, &s);

    double lo[3], hi[3];
    for (int k = 0; k < 3; ++k)
    {
        const double a = s.prober.p[k], b = s.has_probe ? s.probe[k] : a;
        lo[k] = a < b ? a : b;
        hi[k] = a < b ? b : a;
    }
    flx__deformed_bvh_query(self->bvh, lo, hi, visit, &s);

    if (s.outcome == FLX_PARTNER_NONE)
    {
        for (int32_t h = 0; h < s.hit_count; ++h) consider(&s, s.hit[h].slot, s.hit[h].inverted, s.hit[h].X);
    }
    return (uint8_t)s.outcome;
}

static void find_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const find_args* args = user;
    for (int64_t i = begin; i < end; ++i) args->self->outcome[i] = find_one(args, (int32_t)i);
}

int32_t flx__self_contact_find(flx_self_contact* self, const double* x, flx_contact* out)
{
    find_args args = {self, x, out};
    flx__deformed_bvh_refit(self->bvh, x);
    flx__skin_update(self->skin, x);
    flx__parallel_for(self->ctx, self->desc.proxy_count, PROXY_GRAIN, find_range, &args);

    int32_t count = 0;
    self->skipped = 0;
    for (int32_t i = 0; i < self->desc.proxy_count; ++i)
    {
        if (self->outcome[i] == FLX_PARTNER_NOT_PRONE) ++self->skipped;
        if (self->outcome[i] != FLX_PARTNER_FOUND) continue;
        if (count != i) out[count] = out[i];
        ++count;
    }
    return count;
}

int32_t flx__self_contact_skipped(const flx_self_contact* self)
{
    return self->skipped;
}

// --- at rest -----------------------------------------------------------------------------------------------

#define OVERLAP_WINDING 1.5 // under the proxy's skin: more winding than this is other material besides its own
#define OVERLAP_STEP 1e-4   // of depth: least step of the march
#define OVERLAP_STEPS 10000

/// Is there other material besides the proxy's own, t under its skin?
static bool overlap_at(const flx_self_contact* self, int32_t i, double t, double q[3])
{
    const double* n = self->proxy_normal + 3 * (int64_t)i;
    for (int k = 0; k < 3; ++k) q[k] = self->desc.proxy[i].rest[k] - t * n[k];
    return flx__triangle_bvh_winding(self->desc.bvh, q) > OVERLAP_WINDING;
}

/// How far under the proxy's skin the other material's surface lies: 0 when there is none, at most `depth`. The march
/// goes from surface to surface, each step as long as the nearest one is away.
static double overlap_of(const flx_self_contact* self, int32_t i)
{
    const double depth = self->desc.depth, least = OVERLAP_STEP * depth;
    double       t = least, q[3];
    if (!overlap_at(self, i, t, q)) return 0;
    for (int step = 0; step < OVERLAP_STEPS && t < depth; ++step)
    {
        flx_closest  c;
        const double clear = flx__triangle_bvh_closest(self->desc.bvh, q, depth, &c) ? c.distance : depth;
        t += clear > least ? clear : least;
        if (!overlap_at(self, i, t, q)) break;
    }
    return t < depth ? t : depth;
}

static void overlap_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    flx_self_contact* self = user;
    for (int64_t i = begin; i < end; ++i) self->overlap[i] = overlap_of(self, (int32_t)i);
}

int32_t flx__self_contact_rest_overlaps(flx_self_contact* self, double* deepest)
{
    flx__parallel_for(self->ctx, self->desc.proxy_count, PROXY_GRAIN, overlap_range, self);
    int32_t count = 0;
    double  most  = 0;
    for (int32_t i = 0; i < self->desc.proxy_count; ++i)
    {
        if (self->overlap[i] > 0) ++count;
        if (self->overlap[i] > most) most = self->overlap[i];
    }
    if (deepest) *deepest = most;
    return count;
}
