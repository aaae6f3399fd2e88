// Reading by content, options, groups, destruction. The formats are in read_*.c.
#include "base/file.h"
#include "mesh/draft.h"
#include "mesh/mesh_internal.h"
#include "mesh/weld.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

flx_mesh_options flx_mesh_options_default(void)
{
    return (flx_mesh_options){.struct_size = sizeof(flx_mesh_options), .scale = 1.0};
}

void flx_mesh_destroy(flx_context* ctx, flx_mesh* mesh)
{
    if (!mesh) return;
    flx__free(ctx, mesh->x);
    flx__free(ctx, mesh->triangle);
    flx__free(ctx, mesh->triangle_number);
    flx__free(ctx, mesh->tet);
    flx__free(ctx, mesh->tet_number);
    for (int32_t i = 0; i < mesh->group_count; ++i)
    {
        flx__free(ctx, mesh->group[i].name);
        flx__free(ctx, mesh->group[i].triangle);
        flx__free(ctx, mesh->group[i].tet);
    }
    flx__free(ctx, mesh->group);
    flx__free(ctx, mesh->path);
    flx__free(ctx, mesh);
}

// --- which format ---------------------------------------------------------------------------------

typedef flx_status (*reader_fn)(flx_draft* d, const char* data, int64_t bytes);

static const char* extension_of(const char* path)
{
    const char* slash = strrchr(path, '/');
    const char* dot   = strrchr(slash ? slash : path, '.');
    return dot ? dot : "";
}

static bool is_tetgen(const char* path)
{
    const char* e = extension_of(path);
    return strcasecmp(e, ".node") == 0 || strcasecmp(e, ".ele") == 0 || strcasecmp(e, ".face") == 0;
}

static bool begins_with(const char* data, int64_t bytes, const char* text)
{
    const int64_t length = (int64_t)strlen(text);
    return bytes >= length && memcmp(data, text, (size_t)length) == 0;
}

// The first word that is not in a '#' comment: what tells the text formats apart.
static flx_word first_word(flx_context* ctx, const char* path, const char* data, int64_t bytes)
{
    flx_text t = {.ctx = ctx, .path = path, .begin = data, .at = data, .end = data + bytes, .line = 1, .comment = '#'};
    flx_word word = {.text = data};
    if (begins_with(data, bytes, "\xEF\xBB\xBF")) t.at += 3;
    return flx__text_word(&t, &word) ? word : (flx_word){.text = data, .length = 0};
}

static bool is_off_header(flx_word w)
{
    int64_t i = 0;
    while (i < w.length && strchr("STCN4n", w.text[i])) ++i;
    return w.length - i >= 3 && memcmp(w.text + i, "OFF", 3) == 0;
}

// Not s, l and p, which other formats cut short begin with too.
static bool is_obj_keyword(flx_word w)
{
    static const char* const words[] = {"v", "vt", "vn", "vp", "f", "g", "o", "mtllib", "usemtl"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (flx__word_is(w, words[i])) return true;
    return false;
}

static reader_fn by_content(const char* data, int64_t bytes, flx_word first)
{
    if (first.length > 1 && first.text[0] == '$') return flx__read_gmsh;
    if (flx__word_is(first, "ply")) return flx__read_ply;
    if (flx__word_is_nocase(first, "MeshVersionFormatted")) return flx__read_medit;
    if (flx__looks_like_binary_stl(data, bytes)) return flx__read_stl; // its header may begin with any of what follows
    if (is_off_header(first)) return flx__read_off;
    if (flx__word_is_nocase(first, "solid")) return flx__read_stl;
    if (is_obj_keyword(first)) return flx__read_obj;
    return NULL;
}

static reader_fn by_extension(const char* path)
{
    static const struct
    {
        const char* extension;
        reader_fn   reader;
    } all[] = {{".obj", flx__read_obj}, {".ply", flx__read_ply},  {".stl", flx__read_stl},
               {".off", flx__read_off}, {".msh", flx__read_gmsh}, {".mesh", flx__read_medit}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (strcasecmp(extension_of(path), all[i].extension) == 0) return all[i].reader;
    return NULL;
}

// Formats that people have and that are not read here: say what to do instead of "malformed".
typedef struct foreign_format
{
    const char *begin, *extension; // extension NULL: any
    const char *name, *convert;    // the converted file's format; NULL: no converter is known to us
} foreign_format;

static const foreign_format* find_foreign(const char* path, const char* data, int64_t bytes)
{
    static const foreign_format all[] = {{"# vtk DataFile", NULL, "legacy VTK", "msh"},
                                         {"<?xml", ".vtu", "VTK XML", "msh"},
                                         {"<VTKFile", NULL, "VTK XML", "msh"},
                                         {"MFEM mesh", NULL, "an MFEM mesh", NULL},
                                         {"glTF", NULL, "glTF", NULL},
                                         {"{", ".gltf", "glTF", NULL},
                                         {"Kaydara FBX", NULL, "FBX", NULL},
                                         {"<?xml", ".dae", "COLLADA", NULL},
                                         {"\x89HDF", NULL, "HDF5", NULL},
                                         {"*", ".inp", "Abaqus input", "msh"},
                                         {"\x01\x00\x00\x00", ".meshb", "binary Medit", "mesh"},
                                         {"PK", ".3mf", "3MF", NULL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    {
        const char*   begin  = all[i].begin;
        const int64_t length = begin[0] == '\x01' ? 4 : (int64_t)strlen(begin);
        if (bytes < length || memcmp(data, begin, (size_t)length) != 0) continue;
        if (!all[i].extension || strcasecmp(extension_of(path), all[i].extension) == 0) return all + i;
    }
    return NULL;
}

static flx_status fail_foreign(flx_context* ctx, const char* path, const foreign_format* f)
{
    if (f->convert)
        return flx__fail(ctx, FLX_ERR_UNSUPPORTED, "%s: is %s, which is not read; convert it: meshio convert %s new.%s",
                         path, f->name, path, f->convert);
    return flx__fail(ctx, FLX_ERR_UNSUPPORTED,
                     "%s: is %s, which is not read; export it as OBJ (surface) or Gmsh .msh (tets)", path, f->name);
}

static flx_status fail_unknown(flx_context* ctx, const char* path, flx_word first)
{
    char shown[FLX_WORD_ROOM];
    return flx__fail(
        ctx, FLX_ERR_FORMAT,
        "%s: neither its content (it begins with '%s') nor its extension is known; read are OBJ, PLY, STL, OFF, "
        "Gmsh .msh, Medit .mesh, TetGen .node/.ele",
        path, flx__word_show(first, shown));
}

static bool is_utf16(const char* data, int64_t bytes)
{
    return begins_with(data, bytes, "\xFF\xFE") || begins_with(data, bytes, "\xFE\xFF");
}

static flx_status read_draft(flx_draft* d)
{
    flx_status   status = FLX_OK;
    flx_context* ctx    = d->ctx;
    char*        data   = NULL;
    int64_t      bytes  = 0;

    if (is_tetgen(d->path)) return flx__read_tetgen(d, d->path);
    FLX_TRY(flx__file_read_all(ctx, d->path, &data, &bytes));
    const flx_word        first   = first_word(ctx, d->path, data, bytes);
    const foreign_format* foreign = find_foreign(d->path, data, bytes);
    reader_fn             reader  = by_content(data, bytes, first);
    if (is_utf16(data, bytes))
        FLX_TRY(flx__fail(ctx, FLX_ERR_FORMAT, "%s:1: the file is UTF-16 text, which is not read; save it as UTF-8",
                          d->path));
    if (foreign) FLX_TRY(fail_foreign(ctx, d->path, foreign));
    if (!reader) reader = by_extension(d->path);
    if (!reader) FLX_TRY(fail_unknown(ctx, d->path, first));
    FLX_TRY(reader(d, data, bytes));

done:
    flx__free(ctx, data);
    return status;
}

// --- options --------------------------------------------------------------------------------------

static flx_status check_options(flx_context* ctx, const flx_mesh_options* o)
{
    if (o->struct_size != sizeof *o)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "flx_mesh_options.struct_size is %zu, not %zu", o->struct_size,
                         sizeof *o);
    if (!(o->scale > 0.0 && o->scale <= 1e30)) // written so that NaN fails too
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "scale %g is outside (0, 1e30]", o->scale);
    if (!(o->weld_tolerance >= 0.0 && o->weld_tolerance <= 0.1))
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "weld tolerance %g is outside [0, 0.1] of the diagonal",
                         o->weld_tolerance);
    return FLX_OK;
}

static flx_status apply_scale(flx_context* ctx, flx_mesh* mesh, double scale)
{
    if (scale == 1.0) return FLX_OK;
    for (int64_t i = 0; i < 3 * (int64_t)mesh->vertex_count; ++i)
    {
        mesh->x[i] *= scale;
        if (!isfinite(mesh->x[i]))
            return flx__fail(ctx, FLX_ERR_FORMAT, "%s: vertex %lld is not finite after scaling by %g", mesh->path,
                             (long long)(i / 3 + 1), scale);
    }
    return FLX_OK;
}

static double diagonal(const flx_mesh* mesh)
{
    double sum = 0.0;
    for (int d = 0; d < 3; ++d)
    {
        double lo = mesh->vertex_count ? mesh->x[d] : 0.0;
        double hi = lo;
        for (int64_t v = 0; v < mesh->vertex_count; ++v)
        {
            lo = fmin(lo, mesh->x[3 * v + d]);
            hi = fmax(hi, mesh->x[3 * v + d]);
        }
        sum += (hi - lo) * (hi - lo);
    }
    return sqrt(sum);
}

flx_status flx_mesh_read(flx_context* ctx, const char* path, const flx_mesh_options* options, flx_mesh** out)
{
    FLX_ASSERT(ctx && path && out);
    flx_status             status = FLX_OK;
    flx_mesh*              mesh   = NULL;
    flx_draft              draft;
    const flx_mesh_options o = options ? *options : flx_mesh_options_default();

    *out = NULL;
    flx__draft_begin(&draft, ctx, path);
    FLX_TRY(check_options(ctx, &o));
    FLX_TRY(read_draft(&draft));
    const bool weld = o.weld || draft.always_weld;
    FLX_TRY(flx__draft_finish(&draft, &mesh));
    FLX_TRY(apply_scale(ctx, mesh, o.scale));
    if (weld) FLX_TRY(flx__mesh_weld(ctx, mesh, o.weld ? o.weld_tolerance * diagonal(mesh) : 0.0));
    if (o.group) FLX_TRY(flx__mesh_keep_group(ctx, mesh, o.group));
    *out = mesh;
    mesh = NULL;

done:
    flx_mesh_destroy(ctx, mesh);
    flx__draft_end(&draft);
    return status;
}

// --- groups ---------------------------------------------------------------------------------------

static flx_status fail_no_group(flx_context* ctx, const flx_mesh* mesh, const char* group)
{
    char names[1024] = "";
    for (int32_t i = 0; i < mesh->group_count; ++i)
    {
        const size_t used = strlen(names);
        if (used > sizeof names - 128)
        {
            snprintf(names + used, sizeof names - used, ", ... (%d in all)", mesh->group_count);
            break;
        }
        snprintf(names + used, sizeof names - used, "%s'%.60s'", i ? ", " : "", mesh->group[i].name);
    }
    return flx__fail(ctx, FLX_ERR_MESH, "%s: no group '%s'; %s%s", mesh->path ? mesh->path : "mesh", group,
                     mesh->group_count ? "there are " : "the mesh has no groups", names);
}

flx_status flx__mesh_keep_group(flx_context* ctx, flx_mesh* mesh, const char* group)
{
    flx_status            status = FLX_OK;
    bool*                 tri    = NULL;
    bool*                 tet    = NULL;
    const flx_mesh_group* g      = NULL;

    for (int32_t i = 0; i < mesh->group_count && !g; ++i)
        if (strcmp(mesh->group[i].name, group) == 0) g = mesh->group + i;
    if (!g) FLX_TRY(fail_no_group(ctx, mesh, group));
    if (g->triangle_count == 0 && g->tet_count == 0)
        FLX_TRY(flx__fail(ctx, FLX_ERR_MESH, "%s: group '%s' has neither triangles nor tetrahedra",
                          mesh->path ? mesh->path : "mesh", group));
    FLX_NEW_ZERO(ctx, tri, mesh->triangle_count);
    FLX_NEW_ZERO(ctx, tet, mesh->tet_count);
    for (int32_t i = 0; i < g->triangle_count; ++i) tri[g->triangle[i]] = true;
    for (int32_t i = 0; i < g->tet_count; ++i) tet[g->tet[i]] = true;
    FLX_TRY(flx__mesh_filter(ctx, mesh, tri, tet));

done:
    flx__free(ctx, tri);
    flx__free(ctx, tet);
    return status;
}
