// Writing meshes: OBJ, PLY (binary little endian), STL (binary), Medit, Gmsh 4.1 ASCII. Text has the shortest of 15 or
// 17 digits that reads back to the same bits. Surface formats get the boundary of a tet mesh, all vertices in their
// order.
#include "base/file.h"
#include "mesh/mesh_internal.h"
#include "mesh/tuple_table.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct mesh_writer
{
    flx_context*    ctx;
    flx_file*       file;
    const flx_mesh* mesh;
    int32_t         triangle_count; // of the mesh, or of the boundary of its tets
    const int32_t*  triangle;
    int32_t*        boundary; // owned
    int32_t*        class_of; // [triangle_count, then tet_count] which groups an element is in
    int32_t         class_count;
    int32_t*        class_parent; // [class_count] the class without its last group; class 0 is in none
    int32_t*        class_group;  // [class_count] the last group
} mesh_writer;

// --- which groups an element is in ----------------------------------------------------------------------

// Elements in the same groups get the same class. Going over the groups in turn, class c in group g becomes the class
// (c, g): exact, and linear in the sizes of the groups.
static flx_status classify(mesh_writer* w)
{
    flx_status      status   = FLX_OK;
    const flx_mesh* m        = w->mesh;
    int64_t         capacity = 1, group_capacity = 1;
    flx_tuple_table table;
    flx__tuple_table_begin(&table, w->ctx, 2);
    FLX_NEW_ZERO(w->ctx, w->class_of, (int64_t)m->triangle_count + m->tet_count);
    FLX_NEW_ZERO(w->ctx, w->class_parent, 1);
    FLX_NEW_ZERO(w->ctx, w->class_group, 1);
    w->class_group[0] = -1;
    w->class_count    = 1;
    for (int32_t g = 0; g < m->group_count; ++g)
    {
        const flx_mesh_group* group = m->group + g;
        for (int64_t i = 0; i < (int64_t)group->triangle_count + group->tet_count; ++i)
        {
            int32_t* c =
                w->class_of + (i < group->triangle_count ? group->triangle[i]
                                                         : m->triangle_count + group->tet[i - group->triangle_count]);
            const int32_t key[2] = {*c, g};
            int32_t*      value  = NULL;
            FLX_TRY(flx__tuple_add(&table, key, w->class_count, &value));
            if (*value == w->class_count)
            {
                FLX_RESERVE(w->ctx, w->class_parent, capacity, w->class_count + 1);
                FLX_RESERVE(w->ctx, w->class_group, group_capacity, w->class_count + 1);
                w->class_parent[w->class_count]  = *c;
                w->class_group[w->class_count++] = g;
            }
            *c = *value;
        }
    }
done:
    flx__tuple_table_end(&table);
    return status;
}

static int32_t class_at(const mesh_writer* w, bool tet, int32_t i)
{
    return w->class_of[tet ? w->mesh->triangle_count + (int64_t)i : i];
}

// --- numbers --------------------------------------------------------------------------------------

static const char* show(double value, char text[32])
{
    flx__print_c(text, 32, "%.15g", value);
    locale_t     c    = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const double back = strtod_l(text, NULL, c);
    freelocale(c);
    if (memcmp(&back, &value, sizeof back) != 0) flx__print_c(text, 32, "%.17g", value);
    return text;
}

static void write_point(mesh_writer* w, const char* before, int32_t v, const char* after)
{
    char          x[32], y[32], z[32];
    const double* p = w->mesh->x + 3 * (int64_t)v;
    (void)flx__file_printf(w->file, "%s%s %s %s%s\n", before, show(p[0], x), show(p[1], y), show(p[2], z), after);
}

static void write_f32(mesh_writer* w, double value)
{
    const float f = (float)value;
    uint32_t    bits;
    memcpy(&bits, &f, sizeof bits);
    const unsigned char b[4] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                                (unsigned char)(bits >> 24)};
    (void)flx__file_write(w->file, b, sizeof b);
}

static void write_f64(mesh_writer* w, double value)
{
    uint64_t      bits;
    unsigned char b[8];
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; ++i) b[i] = (unsigned char)(bits >> (8 * i));
    (void)flx__file_write(w->file, b, sizeof b);
}

static void write_u32(mesh_writer* w, uint32_t v)
{
    const unsigned char b[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                                (unsigned char)(v >> 24)};
    (void)flx__file_write(w->file, b, sizeof b);
}

// --- OBJ ------------------------------------------------------------------------------------------

static int32_t depth_of(const mesh_writer* w, int32_t class)
{
    int32_t depth = 0;
    for (; class != 0; class = w->class_parent[class]) ++depth;
    return depth;
}

// The i-th group of a class, in the order of the mesh's groups.
static int32_t group_at(const mesh_writer* w, int32_t class, int32_t i)
{
    for (int32_t k = depth_of(w, class) - 1; k > i; --k) class = w->class_parent[class];
    return w->class_group[class];
}

// The names of a class on one `g` line; a blank in a name would make two of it.
static void write_obj_groups(mesh_writer* w, int32_t class)
{
    (void)flx__file_printf(w->file, "g");
    for (int32_t i = 0; i < depth_of(w, class); ++i)
    {
        (void)flx__file_printf(w->file, " ");
        for (const char* p = w->mesh->group[group_at(w, class, i)].name; *p; ++p)
        {
            const char c = *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' ? '_' : *p;
            (void)flx__file_write(w->file, &c, 1);
        }
    }
    (void)flx__file_printf(w->file, "\n");
}

static flx_status write_obj(mesh_writer* w)
{
    int32_t class = 0;
    (void)flx__file_printf(w->file, "# %d vertices, %d triangles, in metres\n", w->mesh->vertex_count,
                           w->triangle_count);
    for (int32_t v = 0; v < w->mesh->vertex_count; ++v) write_point(w, "v ", v, "");
    for (int32_t i = 0; i < w->triangle_count; ++i)
    {
        const int32_t* t    = w->triangle + 3 * (int64_t)i;
        const int32_t  next = w->boundary ? 0 : class_at(w, false, i);
        if (next != class) write_obj_groups(w, next);
        class = next;
        (void)flx__file_printf(w->file, "f %d %d %d\n", t[0] + 1, t[1] + 1, t[2] + 1);
    }
    return FLX_OK;
}

// --- PLY, STL -------------------------------------------------------------------------------------

static flx_status write_ply(mesh_writer* w)
{
    (void)flx__file_printf(
        w->file,
        "ply\nformat binary_little_endian 1.0\ncomment in metres\nelement vertex %d\nproperty double x\n"
        "property double y\nproperty double z\nelement face %d\nproperty list uchar int vertex_indices\n"
        "end_header\n",
        w->mesh->vertex_count, w->triangle_count);
    for (int64_t i = 0; i < 3 * (int64_t)w->mesh->vertex_count; ++i) write_f64(w, w->mesh->x[i]);
    for (int64_t i = 0; i < 3 * (int64_t)w->triangle_count; ++i)
    {
        if (i % 3 == 0) (void)flx__file_write(w->file, "\3", 1);
        write_u32(w, (uint32_t)w->triangle[i]);
    }
    return FLX_OK;
}

static flx_status write_stl(mesh_writer* w)
{
    char header[80] = "binary STL, in metres"; // must not begin with "solid"
    (void)flx__file_write(w->file, header, sizeof header);
    write_u32(w, (uint32_t)w->triangle_count);
    for (int32_t i = 0; i < w->triangle_count; ++i)
    {
        const int32_t* t = w->triangle + 3 * (int64_t)i;
        const double * a = w->mesh->x + 3 * (int64_t)t[0], *b = w->mesh->x + 3 * (int64_t)t[1],
                     *c   = w->mesh->x + 3 * (int64_t)t[2];
        const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        const double v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
        const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
        const double s    = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; ++k) write_f32(w, s > 0.0 ? n[k] / s : 0.0);
        for (int k = 0; k < 9; ++k) write_f32(w, w->mesh->x[3 * (int64_t)t[k / 3] + k % 3]);
        (void)flx__file_write(w->file, "\0\0", 2);
    }
    return FLX_OK;
}

// --- Medit ----------------------------------------------------------------------------------------

// "ref_7" is reference 7; other groups count from 1. An element in several groups has the first's.
static int64_t reference_of(const mesh_writer* w, int32_t class)
{
    if (class == 0) return 0;
    const int32_t group = group_at(w, class, 0);
    const char*   name  = w->mesh->group[group].name;
    char*         end   = NULL;
    if (strncmp(name, "ref_", 4) == 0)
    {
        const long long ref = strtoll(name + 4, &end, 10);
        if (end != name + 4 && *end == '\0' && ref >= INT32_MIN && ref <= INT32_MAX) return ref;
    }
    return group + 1;
}

static flx_status write_medit(mesh_writer* w)
{
    const flx_mesh* m = w->mesh;
    (void)flx__file_printf(w->file, "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n", m->vertex_count);
    for (int32_t v = 0; v < m->vertex_count; ++v) write_point(w, "", v, " 0");
    if (m->triangle_count > 0) (void)flx__file_printf(w->file, "Triangles\n%d\n", m->triangle_count);
    for (int32_t i = 0; i < m->triangle_count; ++i)
    {
        const int32_t* t = m->triangle + 3 * (int64_t)i;
        (void)flx__file_printf(w->file, "%d %d %d %lld\n", t[0] + 1, t[1] + 1, t[2] + 1,
                               (long long)reference_of(w, class_at(w, false, i)));
    }
    if (m->tet_count > 0) (void)flx__file_printf(w->file, "Tetrahedra\n%d\n", m->tet_count);
    for (int32_t i = 0; i < m->tet_count; ++i)
    {
        const int32_t* t = m->tet + 4 * (int64_t)i;
        (void)flx__file_printf(w->file, "%d %d %d %d %lld\n", t[0] + 1, t[1] + 1, t[2] + 1, t[3] + 1,
                               (long long)reference_of(w, class_at(w, true, i)));
    }
    (void)flx__file_printf(w->file, "End\n");
    return FLX_OK;
}

// --- Gmsh -----------------------------------------------------------------------------------------

// Group g is physical g + 1 in each dimension that it has elements of; class c is entity c + 1.
static void write_gmsh_names(mesh_writer* w)
{
    const flx_mesh* m     = w->mesh;
    int32_t         count = 0;
    for (int32_t g = 0; g < m->group_count; ++g)
        count += (m->group[g].triangle_count > 0) + (m->group[g].tet_count > 0 || m->group[g].triangle_count == 0);
    if (count == 0) return;
    (void)flx__file_printf(w->file, "$PhysicalNames\n%d\n", count);
    for (int32_t g = 0; g < m->group_count; ++g)
    {
        const flx_mesh_group* p = m->group + g;
        if (p->triangle_count > 0) (void)flx__file_printf(w->file, "2 %d \"%s\"\n", g + 1, p->name);
        if (p->tet_count > 0 || p->triangle_count == 0)
            (void)flx__file_printf(w->file, "3 %d \"%s\"\n", g + 1, p->name);
    }
    (void)flx__file_printf(w->file, "$EndPhysicalNames\n");
}

static flx_status write_gmsh_entities(mesh_writer* w, bool* used)
{
    const flx_mesh* m         = w->mesh;
    double          box[2][3] = {{0}};
    int32_t         count[2]  = {0, 0};
    memset(used, 0, 2 * (size_t)w->class_count);
    for (int32_t i = 0; i < m->triangle_count; ++i) used[class_at(w, false, i)] = true;
    for (int32_t i = 0; i < m->tet_count; ++i) used[w->class_count + class_at(w, true, i)] = true;
    for (int32_t c = 0; c < 2 * w->class_count; ++c) count[c >= w->class_count] += used[c];
    for (int64_t i = 0; i < 3 * (int64_t)m->vertex_count; ++i)
    {
        box[0][i % 3] = i < 3 ? m->x[i] : fmin(box[0][i % 3], m->x[i]);
        box[1][i % 3] = i < 3 ? m->x[i] : fmax(box[1][i % 3], m->x[i]);
    }
    (void)flx__file_printf(w->file, "$Entities\n0 0 %d %d\n", count[0], count[1]);
    for (int32_t c = 0; c < 2 * w->class_count; ++c)
    {
        if (!used[c]) continue;
        const int32_t groups = depth_of(w, c % w->class_count);
        char          text[32];
        (void)flx__file_printf(w->file, "%d", c % w->class_count + 1);
        for (int k = 0; k < 6; ++k) (void)flx__file_printf(w->file, " %s", show(box[k / 3][k % 3], text));
        (void)flx__file_printf(w->file, " %d", groups);
        for (int32_t k = 0; k < groups; ++k)
            (void)flx__file_printf(w->file, " %d", group_at(w, c % w->class_count, k) + 1);
        (void)flx__file_printf(w->file, " 0\n");
    }
    return flx__file_printf(w->file, "$EndEntities\n");
}

static void write_gmsh_nodes(mesh_writer* w, const bool* used)
{
    const int32_t n      = w->mesh->vertex_count;
    int32_t       entity = 0;
    const int32_t dim    = w->mesh->tet_count > 0 ? 3 : 2;
    while (entity < w->class_count && !used[(dim == 3 ? w->class_count : 0) + entity]) ++entity;
    (void)flx__file_printf(w->file, "$Nodes\n%d %d %d %d\n", n > 0, n, n > 0, n);
    if (n > 0) (void)flx__file_printf(w->file, "%d %d 0 %d\n", dim, entity < w->class_count ? entity + 1 : 1, n);
    for (int32_t v = 0; v < n; ++v) (void)flx__file_printf(w->file, "%d\n", v + 1);
    for (int32_t v = 0; v < n; ++v) write_point(w, "", v, "");
    (void)flx__file_printf(w->file, "$EndNodes\n");
}

// Blocks of one class in the order of the mesh; pass 0 only counts them.
static int64_t write_gmsh_blocks(mesh_writer* w, bool tets, bool count_only)
{
    const flx_mesh* m       = w->mesh;
    const int32_t   n       = tets ? m->tet_count : m->triangle_count;
    const int32_t   corners = tets ? 4 : 3;
    const int32_t*  element = tets ? m->tet : m->triangle;
    int64_t         blocks  = 0;
    for (int32_t begin = 0, end; begin < n; begin = end)
    {
        const int32_t class = class_at(w, tets, begin);
        for (end = begin; end < n && class_at(w, tets, end) == class;) ++end;
        ++blocks;
        if (count_only) continue;
        (void)flx__file_printf(w->file, "%d %d %d %d\n", tets ? 3 : 2, class + 1, tets ? 4 : 2, end - begin);
        for (int32_t i = begin; i < end; ++i)
        {
            (void)flx__file_printf(w->file, "%lld", (long long)i + 1 + (tets ? m->triangle_count : 0));
            for (int32_t k = 0; k < corners; ++k)
                (void)flx__file_printf(w->file, " %d", element[(int64_t)corners * i + k] + 1);
            (void)flx__file_printf(w->file, "\n");
        }
    }
    return blocks;
}

static flx_status write_gmsh(mesh_writer* w)
{
    flx_status    status = FLX_OK;
    bool*         used   = NULL; // [2][class_count]: of triangles, of tets
    const int64_t count  = (int64_t)w->mesh->triangle_count + w->mesh->tet_count;
    FLX_NEW(w->ctx, used, 2 * (int64_t)w->class_count);
    (void)flx__file_printf(w->file, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n");
    write_gmsh_names(w);
    FLX_TRY(write_gmsh_entities(w, used));
    write_gmsh_nodes(w, used);
    (void)flx__file_printf(w->file, "$Elements\n%lld %lld %d %lld\n",
                           (long long)(write_gmsh_blocks(w, false, true) + write_gmsh_blocks(w, true, true)),
                           (long long)count, count > 0, (long long)count);
    (void)write_gmsh_blocks(w, false, false);
    (void)write_gmsh_blocks(w, true, false);
    (void)flx__file_printf(w->file, "$EndElements\n");
done:
    flx__free(w->ctx, used);
    return status;
}

// --- the flow -------------------------------------------------------------------------------------

typedef struct output_format
{
    const char* extension;
    bool        surface_only;
    flx_status (*write)(mesh_writer* w);
} output_format;

static const output_format* format_of(const char* path)
{
    static const output_format all[] = {{".obj", true, write_obj},
                                        {".ply", true, write_ply},
                                        {".stl", true, write_stl},
                                        {".mesh", false, write_medit},
                                        {".msh", false, write_gmsh}};
    const char*                dot   = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof all / sizeof *all; ++i)
        if (strcasecmp(dot, all[i].extension) == 0) return all + i;
    return NULL;
}

static flx_status check_mesh(flx_context* ctx, const flx_mesh* m)
{
    for (int64_t i = 0; i < 3 * (int64_t)m->vertex_count; ++i)
        if (!isfinite(m->x[i]))
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "vertex %lld is not finite: it is not written",
                             (long long)(i / 3 + 1));
    for (int64_t i = 0; i < 3 * (int64_t)m->triangle_count; ++i)
        if (m->triangle[i] < 0 || m->triangle[i] >= m->vertex_count)
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "triangle %lld names a vertex that is not there",
                             (long long)(i / 3 + 1));
    for (int64_t i = 0; i < 4 * (int64_t)m->tet_count; ++i)
        if (m->tet[i] < 0 || m->tet[i] >= m->vertex_count)
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "tetrahedron %lld names a vertex that is not there",
                             (long long)(i / 4 + 1));
    return FLX_OK;
}

flx_status flx_mesh_write(flx_context* ctx, const char* path, const flx_mesh* mesh, bool overwrite)
{
    FLX_ASSERT(ctx && path && mesh);
    flx_status           status = FLX_OK;
    const output_format* format = format_of(path);
    mesh_writer w = {.ctx = ctx, .mesh = mesh, .triangle_count = mesh->triangle_count, .triangle = mesh->triangle};

    if (!format)
        FLX_TRY(flx__fail(ctx, FLX_ERR_ARGUMENT,
                          "%s: the extension decides the format; .obj, .ply, .stl, .mesh, .msh are written", path));
    FLX_TRY(check_mesh(ctx, mesh));
    if (format->surface_only && mesh->tet_count > 0)
    {
        FLX_TRY(flx__tet_boundary(ctx, mesh->tet_count, mesh->tet, &w.triangle_count, &w.boundary));
        w.triangle = w.boundary;
        flx__log(ctx, FLX_LOG_NOTICE, "%s: the format has no tetrahedra; their %d boundary triangles are written", path,
                 w.triangle_count);
    }
    FLX_TRY(classify(&w));
    FLX_TRY(flx__file_begin(ctx, path, overwrite, &w.file));
    FLX_TRY(format->write(&w));
    status = flx__file_commit(w.file);
    w.file = NULL;

done:
    flx__file_abort(w.file);
    flx__free(ctx, w.boundary);
    flx__free(ctx, w.class_of);
    flx__free(ctx, w.class_parent);
    flx__free(ctx, w.class_group);
    return status;
}
