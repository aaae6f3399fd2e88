// The XDMF sidecar: a temporal collection with a spatial collection of grids, tets, surface, obstacles and bones, for
// each frame. Every array is one whole dataset: readers of hyperslabs are not to be relied upon.
#include "recording/xdmf.h"

#include "base/file.h"

#include <string.h>

char* flx__xml_text(flx_context* ctx, const char* text)
{
    static const char        special[] = "&<>\"'";
    static const char* const entity[]  = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};

    char* out = flx__alloc(ctx, (int64_t)strlen(text) * 6 + 1, 1);
    if (!out) return NULL;
    char* p = out;
    for (; *text; ++text)
    {
        const char* found = strchr(special, *text);
        if (found)
        {
            const char* e = entity[found - special];
            memcpy(p, e, strlen(e));
            p += strlen(e);
        }
        else
            *p++ = (unsigned char)*text < 0x20 ? ' ' : *text;
    }
    *p = '\0';
    return out;
}

typedef struct writer
{
    flx_file*            file;
    const char*          folder; // escaped name
    const flx__topology* shape;
} writer;

// columns 0: a list of numbers. frame < 0: from the topology file.
static void item(const writer* w, bool integer, int32_t rows, int32_t columns, int32_t frame, const char* dataset)
{
    flx__file_printf(w->file, "<DataItem Format=\"HDF\" NumberType=\"%s\" Precision=\"4\" Dimensions=\"%d",
                     integer ? "Int" : "Float", rows);
    if (columns > 0) flx__file_printf(w->file, " %d", columns);
    if (frame < 0)
        flx__file_printf(w->file, "\">%s/topology.h5:/%s</DataItem>", w->folder, dataset);
    else
        flx__file_printf(w->file, "\">%s/frame_%06d.h5:/%s</DataItem>", w->folder, frame, dataset);
}

static void attribute(const writer* w, const char* name, bool on_cells, int32_t rows, int32_t columns, int32_t frame,
                      const char* dataset)
{
    flx__file_printf(w->file, "     <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"%s\">", name,
                     columns > 0 ? "Vector" : "Scalar", on_cells ? "Cell" : "Node");
    item(w, frame < 0, rows, columns, frame, dataset);
    flx__file_printf(w->file, "</Attribute>\n");
}

static void grid_begin(const writer* w, const char* name, const char* cells, int32_t cell_count, int32_t corners,
                       const char* cell_dataset, int32_t point_count, int32_t frame, const char* point_dataset)
{
    flx__file_printf(w->file,
                     "    <Grid Name=\"%s\" GridType=\"Uniform\">\n"
                     "     <Topology TopologyType=\"%s\" NumberOfElements=\"%d\">",
                     name, cells, cell_count);
    item(w, true, cell_count, corners, -1, cell_dataset);
    flx__file_printf(w->file, "</Topology>\n     <Geometry GeometryType=\"XYZ\">");
    item(w, false, point_count, 3, frame, point_dataset);
    flx__file_printf(w->file, "</Geometry>\n");
}

static void write_frame(const writer* w, int32_t frame, double time)
{
    const flx__topology* t = w->shape;
    flx__file_printf(w->file,
                     "   <Grid Name=\"frame %d\" GridType=\"Collection\" CollectionType=\"Spatial\">\n"
                     "    <Time Value=\"%.15g\"/>\n",
                     frame, time);
    if (t->tet_count > 0)
    {
        grid_begin(w, "tets", "Tetrahedron", t->tet_count, 4, "tets", t->vertex_count, frame, "x");
        attribute(w, "displacement", false, t->vertex_count, 3, frame, "displacement");
        attribute(w, "strain", true, t->tet_count, 0, frame, "tet/strain");
        attribute(w, "volume_ratio", true, t->tet_count, 0, frame, "tet/volume_ratio");
        attribute(w, "body", true, t->tet_count, 0, -1, "tet_body");
        flx__file_printf(w->file, "    </Grid>\n");
    }
    if (t->surface_triangle_count > 0)
    {
        grid_begin(w, "surface", "Triangle", t->surface_triangle_count, 3, "surface/triangles", t->surface_vertex_count,
                   frame, "surface/x");
        attribute(w, "displacement", false, t->surface_vertex_count, 3, frame, "surface/displacement");
        attribute(w, "contact_force", false, t->surface_vertex_count, 3, frame, "surface/contact_force");
        flx__file_printf(w->file, "    </Grid>\n");
    }
    for (int k = 0; k < FLX__SOLID_KINDS; ++k)
    {
        const flx_recording_solids* s    = &t->solids[k];
        const flx_solid_kind        kind = (flx_solid_kind)k;
        if (s->triangle_count == 0) continue;
        grid_begin(w, kind == FLX_SOLID_BONE ? "bones" : "obstacles", "Triangle", s->triangle_count, 3,
                   flx__solid_dataset(kind, "triangles"), s->vertex_count, frame, flx__solid_dataset(kind, "x"));
        attribute(w, "solid", true, s->triangle_count, 0, -1, flx__solid_dataset(kind, "triangle_solid"));
        flx__file_printf(w->file, "    </Grid>\n");
    }
    flx__file_printf(w->file, "   </Grid>\n");
}

flx_status flx__xdmf_write(flx_context* ctx, const flx__folder* folder, const flx__topology* shape, int32_t frame_count,
                           const double* times)
{
    flx_status status = FLX_OK;
    flx_file*  file   = NULL;
    char*      name   = flx__xml_text(ctx, folder->name);
    if (!name) return FLX_ERR_MEMORY;

    FLX_TRY(flx__file_begin(ctx, folder->xdmf, true, &file));
    const writer w = {.file = file, .folder = name, .shape = shape};
    flx__file_printf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<Xdmf Version=\"3.0\">\n"
                           " <Domain>\n"
                           "  <Grid Name=\"flexor\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int32_t k = 0; k < frame_count; ++k) write_frame(&w, k, times[k]);
    flx__file_printf(file, "  </Grid>\n </Domain>\n</Xdmf>\n");
    status = flx__file_commit(file);
    file   = NULL;

done:
    flx__file_abort(file);
    flx__free(ctx, name);
    return status;
}
