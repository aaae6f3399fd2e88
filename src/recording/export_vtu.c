// PVD collection of VTU files for ParaView: of each frame the tets with every field (part 0), the embedded surface with
// displacement and contact force (part 1), then obstacles and bones if there are any. Arrays are appended raw, little
// endian: after the '_' each has its byte count as 64 bits, then its bytes; offsets count from behind the '_'. Axes are
// the scene's.
#include "recording/export.h"

#include "recording/recording_reader.h"
#include "recording/xdmf.h"

#include <string.h>

typedef enum word_type
{
    FLOAT32,
    INT32,
    UINT8
} word_type;

typedef struct array
{
    const char* name;
    word_type   type;
    int32_t     components;
    int64_t     count; // tuples
    const void* data;  // UINT8: NULL, all are VTK's cell type
} array;

typedef struct piece
{
    int32_t point_count, cell_count;
    int     cell_type; // VTK's number
    array   points, connectivity, offsets, types;
    array   point_field[2];
    int32_t point_field_count;
    array   cell_field[3];
    int32_t cell_field_count;
} piece;

typedef struct frames
{
    float*   x;            // [vertex_count][3], scaled
    float*   displacement; // [vertex_count][3], scaled
    double*  x_read;       // [vertex_count][3]
    float*   strain;
    float*   volume_ratio;
    float*   surface_displacement; // [surface_vertex_count][3], scaled
    float*   contact_force;
    int32_t* tet_offsets;      // [tet_count]
    int32_t* triangle_offsets; // as many as any surface has triangles
    float*   solid_x[2];       // by flx_solid_kind, scaled
} frames;

// --- one file -------------------------------------------------------------------------------------

static int64_t array_bytes(const array* a)
{
    return a->count * a->components * (a->type == UINT8 ? 1 : 4);
}

static void declare(flx_file* file, const array* a, int64_t* offset)
{
    static const char* const type_name[] = {"Float32", "Int32", "UInt8"};
    flx__file_printf(file, "<DataArray type=\"%s\" Name=\"%s\"", type_name[a->type], a->name);
    if (a->components > 1) flx__file_printf(file, " NumberOfComponents=\"%d\"", a->components); // meshio: 1 is a matrix
    flx__file_printf(file, " format=\"appended\" offset=\"%lld\"/>\n", (long long)*offset);
    *offset += 8 + array_bytes(a);
}

static void append(const flx__export* e, flx_file* file, const array* a, int cell_type)
{
    const uint64_t bytes   = (uint64_t)array_bytes(a);
    const uint32_t size[2] = {(uint32_t)bytes, (uint32_t)(bytes >> 32)};
    flx__export_words(e, file, size, 2, false);
    if (a->type != UINT8)
    {
        flx__export_words(e, file, a->data, a->count * a->components, false);
        return;
    }
    memset(e->buffer, cell_type, FLX__EXPORT_BUFFER);
    for (int64_t left = a->count; left > 0; left -= FLX__EXPORT_BUFFER)
        flx__file_write(file, e->buffer, left < FLX__EXPORT_BUFFER ? left : FLX__EXPORT_BUFFER);
}

static void write_piece(const flx__export* e, flx_file* file, const piece* p, double time)
{
    int64_t offset = 0;
    flx__file_printf(
        file,
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
        "<UnstructuredGrid>\n<FieldData>\n"
        "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">%.17g</DataArray>\n"
        "</FieldData>\n<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n<Points>\n",
        time, p->point_count, p->cell_count);
    declare(file, &p->points, &offset);
    flx__file_printf(file, "</Points>\n<Cells>\n");
    declare(file, &p->connectivity, &offset);
    declare(file, &p->offsets, &offset);
    declare(file, &p->types, &offset);
    flx__file_printf(file, "</Cells>\n<PointData>\n");
    for (int32_t i = 0; i < p->point_field_count; ++i) declare(file, &p->point_field[i], &offset);
    flx__file_printf(file, "</PointData>\n<CellData>\n");
    for (int32_t i = 0; i < p->cell_field_count; ++i) declare(file, &p->cell_field[i], &offset);
    flx__file_printf(file, "</CellData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
    append(e, file, &p->points, 0);
    append(e, file, &p->connectivity, 0);
    append(e, file, &p->offsets, 0);
    append(e, file, &p->types, p->cell_type);
    for (int32_t i = 0; i < p->point_field_count; ++i) append(e, file, &p->point_field[i], 0);
    for (int32_t i = 0; i < p->cell_field_count; ++i) append(e, file, &p->cell_field[i], 0);
    flx__file_printf(file, "\n</AppendedData>\n</VTKFile>\n");
}

static piece piece_of(int32_t points, int32_t cells, int32_t corners, int cell_type, const float* x,
                      const int32_t* connectivity, const int32_t* offsets)
{
    return (piece){.point_count  = points,
                   .cell_count   = cells,
                   .cell_type    = cell_type,
                   .points       = {"Points", FLOAT32, 3, points, x},
                   .connectivity = {"connectivity", INT32, 1, (int64_t)corners * cells, connectivity},
                   .offsets      = {"offsets", INT32, 1, cells, offsets},
                   .types        = {"types", UINT8, 1, cells, NULL}};
}

static flx_status write_file(flx__export* e, int32_t output, const piece* p, double time)
{
    flx_file*        file   = NULL;
    const flx_status status = flx__export_open(e, output, &file);
    if (status != FLX_OK) return status;
    write_piece(e, file, p, time);
    return flx__file_commit(file);
}

// --- one frame ------------------------------------------------------------------------------------

static void frames_release(flx_context* ctx, frames* f)
{
    flx__free(ctx, f->x);
    flx__free(ctx, f->displacement);
    flx__free(ctx, f->x_read);
    flx__free(ctx, f->strain);
    flx__free(ctx, f->volume_ratio);
    flx__free(ctx, f->surface_displacement);
    flx__free(ctx, f->contact_force);
    flx__free(ctx, f->tet_offsets);
    flx__free(ctx, f->triangle_offsets);
    for (int k = 0; k < 2; ++k) flx__free(ctx, f->solid_x[k]);
}

static flx_status frames_allocate(flx__export* e, frames* f)
{
    flx_context*              ctx    = e->ctx;
    flx_status                status = FLX_OK;
    const flx_recording_info* n      = &e->info;

    FLX_NEW(ctx, f->x, 3 * (int64_t)n->vertex_count);
    FLX_NEW(ctx, f->displacement, 3 * (int64_t)n->vertex_count);
    FLX_NEW(ctx, f->x_read, 3 * (int64_t)n->vertex_count);
    FLX_NEW(ctx, f->strain, n->tet_count);
    FLX_NEW(ctx, f->volume_ratio, n->tet_count);
    FLX_NEW(ctx, f->surface_displacement, 3 * (int64_t)n->surface_vertex_count);
    FLX_NEW(ctx, f->contact_force, 3 * (int64_t)n->surface_vertex_count);
    FLX_NEW(ctx, f->tet_offsets, n->tet_count);
    int32_t most = n->surface_triangle_count;
    for (int k = 0; k < 2; ++k)
    {
        const flx_recording_solids s = flx_recording_get_solids(e->recording, (flx_solid_kind)k);
        FLX_NEW(ctx, f->solid_x[k], 3 * (int64_t)s.vertex_count);
        if (s.triangle_count > most) most = s.triangle_count;
    }
    FLX_NEW(ctx, f->triangle_offsets, most);
    for (int32_t i = 0; i < n->tet_count; ++i) f->tet_offsets[i] = 4 * (i + 1);
    for (int32_t i = 0; i < most; ++i) f->triangle_offsets[i] = 3 * (i + 1);

done:
    return status;
}

static void scale(float* v, int64_t count, double by)
{
    for (int64_t i = 0; i < count; ++i) v[i] *= (float)by;
}

static flx_status read_frame(flx__export* e, int32_t k, frames* f, double* time)
{
    flx_frame        frame  = {.x                   = f->x_read,
                               .surface_x           = e->surface,
                               .contact_force       = f->contact_force,
                               .displacement        = f->surface_displacement,
                               .strain              = f->strain,
                               .volume_ratio        = f->volume_ratio,
                               .vertex_displacement = f->displacement,
                               .obstacle_x          = f->solid_x[FLX_SOLID_OBSTACLE],
                               .bone_x              = f->solid_x[FLX_SOLID_BONE]};
    const flx_status status = flx_recording_frame(e->recording, flx__export_frame(e, k), &frame);
    if (status != FLX_OK) return status;
    const int64_t n = 3 * (int64_t)e->info.vertex_count, s = 3 * (int64_t)e->info.surface_vertex_count;
    for (int64_t i = 0; i < n; ++i) f->x[i] = (float)f->x_read[i];
    scale(f->x, n, e->options.scale);
    scale(f->displacement, n, e->options.scale);
    scale(e->surface, s, e->options.scale);
    scale(f->surface_displacement, s, e->options.scale);
    for (int i = 0; i < 2; ++i)
        scale(f->solid_x[i], 3 * (int64_t)flx_recording_get_solids(e->recording, (flx_solid_kind)i).vertex_count,
              e->options.scale);
    *time = frame.time;
    return FLX_OK;
}

/// Files of one frame.
static int32_t part_count(const flx__export* e)
{
    return (e->info.tet_count > 0) + (e->info.surface_triangle_count > 0) +
           (flx_recording_get_solids(e->recording, FLX_SOLID_OBSTACLE).triangle_count > 0) +
           (flx_recording_get_solids(e->recording, FLX_SOLID_BONE).triangle_count > 0);
}

static flx_status write_frame(flx__export* e, int32_t k, frames* f, double* time)
{
    const flx_recording_info* n      = &e->info;
    flx_status                status = FLX_OK;
    int32_t                   output = k * part_count(e);

    FLX_TRY(read_frame(e, k, f, time));
    if (n->tet_count > 0)
    {
        piece p =
            piece_of(n->vertex_count, n->tet_count, 4, 10, f->x, flx_recording_tets(e->recording), f->tet_offsets);
        p.point_field[p.point_field_count++] = (array){"displacement", FLOAT32, 3, n->vertex_count, f->displacement};
        p.cell_field[p.cell_field_count++]   = (array){"strain", FLOAT32, 1, n->tet_count, f->strain};
        p.cell_field[p.cell_field_count++]   = (array){"volume_ratio", FLOAT32, 1, n->tet_count, f->volume_ratio};
        p.cell_field[p.cell_field_count++] =
            (array){"body", INT32, 1, n->tet_count, flx_recording_tet_body(e->recording)};
        FLX_TRY(write_file(e, output++, &p, *time));
    }
    if (n->surface_triangle_count > 0)
    {
        const int32_t  points   = n->surface_vertex_count;
        const int32_t* triangle = flx_recording_surface_triangles(e->recording);

        piece p = piece_of(points, n->surface_triangle_count, 3, 5, e->surface, triangle, f->triangle_offsets);
        p.point_field[p.point_field_count++] = (array){"displacement", FLOAT32, 3, points, f->surface_displacement};
        p.point_field[p.point_field_count++] = (array){"contact_force", FLOAT32, 3, points, f->contact_force};
        FLX_TRY(write_file(e, output++, &p, *time));
    }
    for (int i = 0; i < 2; ++i)
    {
        const flx_recording_solids s = flx_recording_get_solids(e->recording, (flx_solid_kind)i);
        if (s.triangle_count == 0) continue;
        piece p = piece_of(s.vertex_count, s.triangle_count, 3, 5, f->solid_x[i], s.triangles, f->triangle_offsets);
        p.cell_field[p.cell_field_count++] = (array){"solid", INT32, 1, s.triangle_count, s.triangle_solid};
        FLX_TRY(write_file(e, output++, &p, *time));
    }

done:
    return status;
}

// --- the collection -------------------------------------------------------------------------------

static flx_status claim_all(flx__export* e)
{
    static const char* const kind[4]  = {"", "_surface", "_obstacles", "_bones"};
    const int32_t            cells[4] = {e->info.tet_count, e->info.surface_triangle_count,
                                         flx_recording_get_solids(e->recording, FLX_SOLID_OBSTACLE).triangle_count,
                                         flx_recording_get_solids(e->recording, FLX_SOLID_BONE).triangle_count};
    flx_status               status   = FLX_OK;
    char                     ending[64];
    for (int32_t k = 0; k < e->frame_count; ++k)
        for (int i = 0; i < 4; ++i)
        {
            if (cells[i] == 0) continue;
            flx__print_c(ending, sizeof ending, "%s_%04d.vtu", kind[i], flx__export_frame(e, k));
            FLX_TRY(flx__export_claim(e, flx__export_sibling(e, ending)));
        }
    FLX_TRY(flx__export_claim(e, flx__strdup(e->ctx, e->path))); // last: it names the others

done:
    return status;
}

static flx_status write_collection(flx__export* e, const double* times)
{
    flx_context*  ctx    = e->ctx;
    flx_status    status = FLX_OK;
    flx_file*     file   = NULL;
    char*         name   = NULL;
    const int32_t parts  = (e->output_count - 1) / e->frame_count;

    FLX_TRY(flx__export_open(e, e->output_count - 1, &file));
    flx__file_printf(file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n");
    for (int32_t i = 0; i < e->output_count - 1; ++i)
    {
        const char* path  = e->output[i].path;
        const char* slash = strrchr(path, '/');
        flx__free(ctx, name);
        name = flx__xml_text(ctx, slash ? slash + 1 : path);
        if (!name)
        {
            status = FLX_ERR_MEMORY;
            goto done;
        }
        flx__file_printf(file, "<DataSet timestep=\"%.15g\" part=\"%d\" file=\"%s\"/>\n", times[i / parts], i % parts,
                         name);
    }
    flx__file_printf(file, "</Collection>\n</VTKFile>\n");
    status = flx__file_commit(file);
    file   = NULL;

done:
    flx__file_abort(file);
    flx__free(ctx, name);
    return status;
}

flx_status flx__export_pvd(flx__export* e)
{
    flx_context* ctx    = e->ctx;
    flx_status   status = FLX_OK;
    frames       f      = {0};
    double*      times  = NULL;

    FLX_TRY(claim_all(e));
    FLX_TRY(frames_allocate(e, &f));
    FLX_NEW(ctx, times, e->frame_count);
    for (int32_t k = 0; k < e->frame_count; ++k) FLX_TRY(write_frame(e, k, &f, &times[k]));
    FLX_TRY(write_collection(e, times));

done:
    frames_release(ctx, &f);
    flx__free(ctx, times);
    return status;
}
