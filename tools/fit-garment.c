// flexor-fit-garment: puts a MakeHuman garment on MakeHuman's base body, for the scenes.
//
// A garment is modelled on some body; its .mhclo file ties each of its vertices to the base mesh, either to one vertex
// or to three with an offset, so it can be put on any body that has the base mesh's vertices:
//
//   x_i = w_0 b_j0 + w_1 b_j1 + w_2 b_j2 + S d_i,     S = diag of |b_m - b_n| along an axis / the same on that body
//
// The files are in decimetres, what is written is in metres. Parts that no face connects become groups, part1, part2,
// ... in the order of their first vertices: a jacket and a skirt can be two bodies of a scene.
#include "base/file.h"
#include "flexor/mesh.h"
#include "mesh/mesh_internal.h"
#include "mesh/text_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define METRES 0.1

typedef struct binding
{
    int64_t vertex[3]; // of the base mesh
    double  weight[3];
    double  offset[3]; // before S
} binding;

typedef struct fitting
{
    flx_text        t;
    const flx_mesh* base;
    double          scale[3]; // S
    int64_t         count, capacity;
    binding*        binding; // [count], one for each vertex of the garment
} fitting;

// --- the .mhclo file ----------------------------------------------------------------------------------------

static flx_status next_on_line(fitting* f, const char* what, flx_word* word)
{
    if (flx__text_word_on_line(&f->t, word)) return FLX_OK;
    return flx__text_fail(&f->t, "the line ends where the %s should be", what);
}

static flx_status read_vertex(fitting* f, int64_t* vertex)
{
    flx_status status = FLX_OK;
    flx_word   word;
    FLX_TRY(next_on_line(f, "vertex of the base mesh", &word));
    FLX_TRY(flx__word_integer(&f->t, word, "vertex of the base mesh", 0, f->base->vertex_count - 1, vertex));
done:
    return status;
}

static flx_status read_number(fitting* f, const char* what, double* number)
{
    flx_status status = FLX_OK;
    flx_word   word;
    FLX_TRY(next_on_line(f, what, &word));
    FLX_TRY(flx__word_real(&f->t, word, what, number));
done:
    return status;
}

/// `x_scale m n distance`: how far the vertices m and n were apart along x when the garment was made.
static flx_status read_scale(fitting* f, int axis)
{
    flx_status status = FLX_OK;
    int64_t    m, n;
    double     distance;
    FLX_TRY(read_vertex(f, &m));
    FLX_TRY(read_vertex(f, &n));
    FLX_TRY(read_number(f, "distance", &distance));
    if (!(distance > 0)) FLX_TRY(flx__text_fail(&f->t, "distance %g; it must be above 0", distance));
    f->scale[axis] = fabs(f->base->x[3 * m + axis] - f->base->x[3 * n + axis]) / distance;
    if (!(f->scale[axis] > 0))
        FLX_TRY(flx__text_fail(&f->t, "vertices %lld and %lld of the base mesh have the same %c: offsets would be lost",
                               (long long)m, (long long)n, "xyz"[axis]));
    FLX_TRY(flx__text_end_line(&f->t, "the distance"));
done:
    return status;
}

static flx_status read_binding(fitting* f)
{
    flx_status status = FLX_OK;
    binding    b      = {.weight = {1, 0, 0}};
    FLX_TRY(read_vertex(f, &b.vertex[0]));
    flx_text ahead = f->t;
    flx_word word;
    if (flx__text_word_on_line(&ahead, &word))
    {
        for (int k = 1; k < 3; ++k) FLX_TRY(read_vertex(f, &b.vertex[k]));
        for (int k = 0; k < 3; ++k) FLX_TRY(read_number(f, "weight", &b.weight[k]));
        for (int k = 0; k < 3; ++k) FLX_TRY(read_number(f, "offset", &b.offset[k]));
        const double sum = b.weight[0] + b.weight[1] + b.weight[2];
        if (fabs(sum - 1) > 1e-3) FLX_TRY(flx__text_fail(&f->t, "the weights' sum is %g; it must be 1", sum));
    }
    FLX_TRY(flx__text_end_line(&f->t, "the vertex"));
    FLX_RESERVE(f->t.ctx, f->binding, f->capacity, f->count + 1);
    f->binding[f->count++] = b;
done:
    return status;
}

/// The lines after `verts`, up to one that does not begin with a number.
static flx_status read_bindings(fitting* f)
{
    flx_status status = FLX_OK;
    for (;;)
    {
        flx_text ahead = f->t;
        flx_word word;
        if (!flx__text_word(&ahead, &word) || ((word.text[0] < '0' || word.text[0] > '9') && word.text[0] != '-'))
            break;
        f->t.at   = word.text;
        f->t.line = ahead.line;
        FLX_TRY(read_binding(f));
    }
    if (f->count == 0) FLX_TRY(flx__text_fail(&f->t, "no vertices follow 'verts'"));
done:
    return status;
}

static flx_status read_statements(fitting* f)
{
    static const char* const scale[3] = {"x_scale", "y_scale", "z_scale"};
    flx_word                 word;
    while (flx__text_word(&f->t, &word))
    {
        if (flx__word_is(word, "verts"))
        {
            flx__text_skip_line(&f->t);
            return read_bindings(f);
        }
        int axis = 0;
        while (axis < 3 && !flx__word_is(word, scale[axis])) ++axis;
        const flx_status status = axis < 3 ? read_scale(f, axis) : FLX_OK;
        if (status != FLX_OK) return status;
        if (axis == 3) flx__text_skip_line(&f->t);
    }
    return flx__fail(f->t.ctx, FLX_ERR_FORMAT, "%s: no line 'verts': not a .mhclo file", f->t.path);
}

static flx_status read_fitting(flx_context* ctx, const char* path, const flx_mesh* base, fitting* f)
{
    flx_status status = FLX_OK;
    char*      data   = NULL;
    int64_t    bytes  = 0;
    *f                = (fitting){.base = base, .scale = {1, 1, 1}};
    FLX_TRY(flx__file_read_all(ctx, path, &data, &bytes));
    FLX_TRY(flx__text_begin(&f->t, ctx, path, data, bytes));
    f->t.comment = '#';
    status       = read_statements(f);
    flx__text_end(&f->t);
done:
    flx__free(ctx, data);
    return status;
}

// --- the garment --------------------------------------------------------------------------------------------

static void fit(const fitting* f, double* x)
{
    for (int64_t i = 0; i < f->count; ++i)
        for (int k = 0; k < 3; ++k)
        {
            const binding* b   = &f->binding[i];
            double         sum = f->scale[k] * b->offset[k];
            for (int c = 0; c < 3; ++c) sum += b->weight[c] * f->base->x[3 * b->vertex[c] + k];
            x[3 * i + k] = METRES * sum;
        }
}

static flx_status add_part(flx_context* ctx, flx_mesh* m, const int32_t* label, int32_t part)
{
    flx_status     status = FLX_OK;
    flx_mesh_group g      = {0};
    FLX_NEW(ctx, g.name, 16);
    FLX_NEW(ctx, g.triangle, m->triangle_count);
    snprintf(g.name, 16, "part%d", part + 1);
    for (int32_t t = 0; t < m->triangle_count; ++t)
        if (label[m->triangle[3 * (int64_t)t]] == part) g.triangle[g.triangle_count++] = t;
    m->group[m->group_count++] = g;
    g                          = (flx_mesh_group){0};
done:
    flx__free(ctx, g.name);
    flx__free(ctx, g.triangle);
    return status;
}

static flx_status group_parts(flx_context* ctx, flx_mesh* m)
{
    flx_status status = FLX_OK;
    int32_t*   label  = NULL;
    int32_t    parts  = 0;
    int64_t    room   = m->group_count;
    FLX_NEW(ctx, label, m->vertex_count);
    FLX_TRY(flx__mesh_components(ctx, m->vertex_count, m->triangle_count, 3, m->triangle, label, &parts));
    FLX_RESERVE(ctx, m->group, room, m->group_count + parts);
    for (int32_t i = 0; i < parts; ++i) FLX_TRY(add_part(ctx, m, label, i));
done:
    flx__free(ctx, label);
    return status;
}

static flx_status fit_garment(flx_context* ctx, const char* base_path, const char* garment_path, const char* mhclo_path,
                              const char* out_path)
{
    flx_status status  = FLX_OK;
    flx_mesh*  base    = NULL;
    flx_mesh*  garment = NULL;
    fitting    f       = {0};

    FLX_TRY(flx_mesh_read(ctx, base_path, NULL, &base));
    FLX_TRY(flx_mesh_read(ctx, garment_path, NULL, &garment));
    FLX_TRY(read_fitting(ctx, mhclo_path, base, &f));
    if (f.count != garment->vertex_count)
        FLX_TRY(flx__fail(ctx, FLX_ERR_FORMAT, "%s: %lld vertices are tied to the base mesh, but %s has %d", mhclo_path,
                          (long long)f.count, garment_path, garment->vertex_count));
    fit(&f, garment->x);
    FLX_TRY(group_parts(ctx, garment));
    FLX_TRY(flx_mesh_write(ctx, out_path, garment, true));
    fprintf(stderr, "%s: %d vertices, %d triangles, in metres\n", out_path, garment->vertex_count,
            garment->triangle_count);

done:
    flx__free(ctx, f.binding);
    flx_mesh_destroy(ctx, garment);
    flx_mesh_destroy(ctx, base);
    return status;
}

// --- command line ---------------------------------------------------------------------------------------------

static const char usage[] = "usage: flexor-fit-garment BASE.obj GARMENT.obj GARMENT.mhclo -o OUT.obj\n"
                            "  BASE.obj      MakeHuman's base mesh, helpers included: the .mhclo counts its vertices\n"
                            "  -o OUT.obj    where to write, in metres (also .ply, .stl); replaced when it is there\n";

static int misused(const char* why, const char* what)
{
    fprintf(stderr, "flexor-fit-garment: %s%s\n%s", why, what, usage);
    return 2;
}

int main(int argc, char** argv)
{
    const char* out = NULL;
    const char* input[3];
    int         inputs = 0;
    for (int i = 1; i < argc; ++i)
    {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
        {
            fputs(usage, stdout);
            return 0;
        }
        if (!strcmp(argv[i], "-o") && i + 1 < argc)
            out = argv[++i];
        else if (argv[i][0] == '-' || inputs == 3)
            return misused("no sense in ", argv[i]);
        else
            input[inputs++] = argv[i];
    }
    if (inputs < 3 || !out) return misused("three files to read and -o are needed", "");

    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = 1;
    flx_context* ctx      = NULL;
    if (flx_context_create(&desc, &ctx) != FLX_OK) return 1;
    const flx_status status = fit_garment(ctx, input[0], input[1], input[2], out);
    if (status != FLX_OK) fprintf(stderr, "flexor-fit-garment: %s\n", flx_context_error(ctx));
    flx_context_destroy(ctx);
    return status == FLX_OK ? 0 : 1;
}
