// flexor mesh: convert a mesh, or fill a closed surface with a lattice of tets.
#include "cli.h"

static int convert(cli* c)
{
    flx_mesh *        mesh = NULL, *lattice = NULL;
    flx_doctor_report report  = {0};
    flx_mesh_options  options = flx_mesh_options_default();
    const char*       path    = cli_text(c, "output", NULL);
    double            cell    = 0;
    int32_t           tets    = 0;
    if (!path)
    {
        cli_error(c, CODE_USAGE, "where to? -o x.obj, x.ply, x.stl, x.mesh or x.msh");
        return CODE_USAGE;
    }
    if (!cli_real(c, "scale", 1e-12, 1e12, &options.scale) || !cli_real(c, "cell", 1e-9, 1e9, &cell) ||
        !cli_integer(c, "tets", 1, 100000000, &tets))
        return CODE_USAGE;
    if (cell > 0 && tets > 0)
    {
        cli_error(c, CODE_USAGE, "--cell and --tets: one of the two");
        return CODE_USAGE;
    }
    options.weld   = cli_flag(c, "weld");
    options.repair = cli_flag(c, "repair");

    int code = cli_context(c);
    if (code >= 0) return code;
    flx_status status = flx_mesh_read(c->ctx, c->operand[0], &options, &mesh);
    if (status == FLX_OK) status = flx_mesh_doctor(c->ctx, mesh, &options, &report);
    if (status == FLX_OK && (cell > 0 || tets > 0)) status = flx_lattice_mesh(c->ctx, mesh, cell, tets, &lattice);
    const flx_mesh* result = lattice ? lattice : mesh;
    if (status == FLX_OK && !make_parent_folders(c, path))
    {
        code = CODE_INTERNAL;
        goto done;
    }
    if (status == FLX_OK) status = flx_mesh_write(c->ctx, path, result, cli_flag(c, "force"));
    code = status == FLX_OK ? CODE_FINE : cli_fail(c, status);
    if (code == CODE_FINE)
        cli_say(c, "wrote %s: %d vertices, %d triangles, %d tets", path, result->vertex_count, result->triangle_count,
                result->tet_count);
done:
    flx_mesh_destroy(c->ctx, lattice);
    flx_mesh_destroy(c->ctx, mesh);
    return code;
}

static const cli_option options[] = {
    {'o', "output", "PATH", ".obj .ply .stl .mesh .msh"},
    {'f', "force", NULL, "overwrite"},
    {0, "cell", "METRES", "fill the surface with a lattice of this cell size"},
    {0, "tets", "COUNT", "fill the surface with a lattice of about this many tets"},
    {0, "scale", "FACTOR", "file unit to m (0.001 for mm)"},
    {0, "weld", NULL, "merge vertices at the same place"},
    {0, "repair", NULL, "drop flat and repeated elements"},
    {0, NULL, NULL, NULL},
};

const cli_verb cli_mesh = {
    .name         = "mesh",
    .operands     = "MESH -o PATH",
    .summary      = "Convert a mesh, or fill a closed surface with a lattice of tets.",
    .options      = options,
    .operands_min = 1,
    .operands_max = 1,
    .run          = convert,
};
