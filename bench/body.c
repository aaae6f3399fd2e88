#include "body.h"

#include "matrices.h"
#include "measure.h"

#define RADIUS 11.4
#define MIDDLE 12.0         // of the cylinder in x and y, cells
#define PRONE_RADIUS 10.645 // of a ball around a point of the surface half way along, cells: 4,304 nodes
#define BONE_RADIUS 4.0

static bool in_cylinder(int32_t x, int32_t y, int32_t z)
{
    const double dx = x + 0.5 - MIDDLE, dy = y + 0.5 - MIDDLE;
    (void)z;
    return dx * dx + dy * dy < RADIUS * RADIUS;
}

/// order[k] = node of the k-th unknown: the free ones as they come, the prone ones as in `last`.
static void mesh_order(const body* b, const int32_t* eliminated, int32_t* order)
{
    const int32_t n     = b->graph.n;
    int32_t       count = 0;
    for (int32_t v = 0; v < n; ++v)
        if (!b->prone[v]) order[count++] = v;
    for (int32_t k = b->free_count; k < n; ++k) order[k] = eliminated[k];
}

body body_make(flx_context* ctx, int32_t length)
{
    int32_t(*at)[3];
    body     out   = {.length = length};
    edges    e     = edges_lattice(24, 24, length, in_cylinder, &at);
    int32_t* order = malloc((size_t)e.n * sizeof *order);
    int32_t* place = malloc((size_t)e.n * sizeof *place);
    int32_t* other = malloc((size_t)e.n * sizeof *other);
    out.prone      = calloc((size_t)e.n, 1);
    out.free_count = e.n;
    for (int32_t v = 0; v < e.n; ++v)
    {
        const double x = 0.5 * at[v][0] - MIDDLE, y = 0.5 * at[v][1] - MIDDLE, z = 0.5 * at[v][2] - 0.5 * length;
        const double r = sqrt(x * x + y * y), d = sqrt((x - RADIUS) * (x - RADIUS) + y * y + z * z);
        if (fabs(r - BONE_RADIUS) < 0.5) e.diagonal[v] += 2.0;
        out.prone[v] = d < PRONE_RADIUS;
        out.free_count -= out.prone[v];
    }
    out.graph          = edges_graph(&e);
    const double start = now_ms();
    if (flx__order_nested_dissection(ctx, &out.graph, out.prone, order) != FLX_OK) abort();
    out.ms_order = now_ms() - start;
    out.a        = edges_matrix(&e, order);
    mesh_order(&out, order, other);
    out.in_mesh_order = edges_matrix(&e, other);

    out.mesh_place = malloc((size_t)e.n * sizeof *out.mesh_place);
    for (int32_t k = 0; k < e.n; ++k) place[order[k]] = k;
    for (int32_t k = 0; k < e.n; ++k) out.mesh_place[k] = place[other[k]];
    out.prone_at = malloc(3 * (size_t)(e.n - out.free_count + 1) * sizeof *out.prone_at);
    for (int32_t k = out.free_count; k < e.n; ++k)
        memcpy(out.prone_at + 3 * (size_t)(k - out.free_count), at[order[k]], sizeof at[0]);
    edges_free(&e);
    free(order);
    free(place);
    free(other);
    free(at);
    return out;
}

void body_free(body* b)
{
    csc_free(&b->a);
    csc_free(&b->in_mesh_order);
    graph_free(&b->graph);
    free(b->mesh_place);
    free(b->prone_at);
    free(b->prone);
}

// --- contacts ------------------------------------------------------------------------------------------------

typedef struct lookup
{
    int32_t  size[3];
    int32_t* node; // prone node at a position in half cells, -1 = none
} lookup;

static int32_t node_at(const lookup* l, const int32_t at[3])
{
    for (int k = 0; k < 3; ++k)
        if (at[k] < 0 || at[k] >= l->size[k]) return -1;
    return l->node[((int64_t)at[2] * l->size[1] + at[1]) * l->size[0] + at[0]];
}

/// The lattice's tets whose corners are all prone: two centres along an axis, and an edge of the face between them.
static int32_t prone_tets(const body* b, int32_t (**out)[4])
{
    const int32_t n2 = b->a.n - b->free_count;
    lookup        l  = {.size = {49, 49, 2 * b->length + 1}};
    const size_t  m  = (size_t)l.size[0] * (size_t)l.size[1] * (size_t)l.size[2];
    l.node           = malloc(m * sizeof *l.node);
    memset(l.node, 0xff, m * sizeof *l.node);
    for (int32_t v = 0; v < n2; ++v)
    {
        const int32_t* at                                                = b->prone_at + 3 * (size_t)v;
        l.node[((int64_t)at[2] * l.size[1] + at[1]) * l.size[0] + at[0]] = v;
    }
    int32_t(*tet)[4] = malloc(12 * (size_t)n2 * sizeof *tet);
    int32_t count    = 0;
    for (int32_t v = 0; v < n2; ++v)
    {
        const int32_t* at = b->prone_at + 3 * (size_t)v;
        for (int axis = 0; (at[0] & 1) && axis < 3; ++axis)
            for (int side = 0; side < 4; ++side)
            {
                static const int around[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
                const int        p = (axis + 1) % 3, q = (axis + 2) % 3;
                int32_t          to[3] = {at[0], at[1], at[2]};
                int32_t          t[4]  = {v, -1, -1, -1};
                to[axis] += 2;
                t[1] = node_at(&l, to);
                to[axis] -= 1;
                for (int k = 0; k < 2; ++k)
                {
                    to[p]    = at[p] + around[(side + k) % 4][0];
                    to[q]    = at[q] + around[(side + k) % 4][1];
                    t[2 + k] = node_at(&l, to);
                }
                if (t[1] < 0 || t[2] < 0 || t[3] < 0) continue;
                memcpy(tet[count++], t, sizeof t);
            }
    }
    free(l.node);
    *out = tet;
    return count;
}

void body_contacts(const body* b, int32_t count, flx_contact* out)
{
    static const double own[4] = {0.4, 0.3, 0.2, 0.1};
    int32_t(*tet)[4];
    const int32_t tets = prone_tets(b, &tet);
    for (int32_t i = 0; i < count; ++i)
    {
        const int64_t t = (int64_t)i * (2 * tets / 5) / count; // partners are in the other half, and not near
        flx_contact   c = {.proxy = i, .obstacle = i % 2 ? -1 : 0, .partner = i % 2 ? 0 : -1};
        for (int k = 0; k < FLX_CONTACT_CORNERS; ++k) c.vertex[k] = -1;
        for (int k = 0; k < 4; ++k)
        {
            c.vertex[k] = tet[t][k];
            c.weight[k] = own[k];
        }
        for (int k = 0; i % 2 && k < 12; ++k) // a triangle's three corners, each in a tet far from the proxy's
        {
            const int64_t partner = tets - 1 - t - k / 4;
            c.vertex[4 + k]       = tet[partner][k % 4];
            c.weight[4 + k]       = -own[k % 4] / 3;
        }
        const double tilt = 0.002 * i, length = sqrt(1.0 + 0.09 * (1.0 + sin(tilt) * sin(tilt)));
        c.normal[0] = -1.0 / length;
        c.normal[1] = 0.3 / length;
        c.normal[2] = 0.3 * sin(tilt) / length;
        out[i]      = c;
    }
    free(tet);
}
