// flexor info: facts of a scene's model, of a recording, or of this program on this machine.
#include "cli.h"

#include <stdlib.h>

static void fact_integer(json* j, const char* name, int64_t value)
{
    if (j)
        json_integer(j, name, value);
    else
        printf("  %-24s %lld\n", name, (long long)value);
}

static void fact_real(json* j, const char* name, double value)
{
    if (j)
        json_real(j, name, value);
    else
        printf("  %-24s %.6g\n", name, value);
}

static void fact_text(json* j, const char* name, const char* value)
{
    if (j)
        json_text(j, name, value);
    else
        printf("  %-24s %s\n", name, value);
}

static void fact_hash(json* j, const char* name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)value);
    fact_text(j, name, text);
}

static void program_facts(cli* c, json* j)
{
    static const char* const names[] = {"scalar", "sse2", "avx2", "avx512", "neon", NULL};
    fact_text(j, "version", flx_version());
    fact_text(j, "compiler", FLX_CLI_COMPILER);
    fact_integer(j, "workers", flx_context_worker_count(c->ctx));
    fact_text(j, "isa", flx_context_isa(c->ctx));
    char have[64] = "";
    for (int i = 0, used = 0; names[i]; ++i)
    {
        flx_context_desc desc  = flx_context_desc_default();
        flx_context*     other = NULL;
        desc.isa               = names[i];
        desc.worker_count      = 1;
        if (flx_context_create(&desc, &other) != FLX_OK) continue;
        used += snprintf(have + used, sizeof have - (size_t)used, "%s%s", used ? " " : "", names[i]);
        flx_context_destroy(other);
    }
    fact_text(j, "isa_available", have);
}

static int scene_facts(cli* c, json* j)
{
    flx_scene* scene = NULL;
    flx_model* model = NULL;
    int        code  = cli_scene(c, c->operand[0], &scene);
    if (code >= 0) return code;
    const flx_status status = flx_model_compile(c->ctx, scene, cli_setup_progress, c, &model);
    cli_clear_bar(c);
    if (status == FLX_OK)
    {
        const flx_model_info info = flx_model_get_info(model);
        fact_text(j, "scene", scene->name ? scene->name : "");
        fact_integer(j, "bodies", info.body_count);
        fact_integer(j, "vertices", info.vertex_count);
        fact_integer(j, "tets", info.tet_count);
        fact_integer(j, "prone_vertices", info.prone_count);
        fact_integer(j, "proxies", info.proxy_count);
        fact_integer(j, "attachments", info.attachment_count);
        fact_integer(j, "surface_vertices", info.surface_vertex_count);
        fact_integer(j, "surface_triangles", info.surface_triangle_count);
        fact_text(j, "contact_region", info.region_proposed ? "proposed by the engine" : "the scene's");
        fact_real(j, "cell_m", info.cell);
        fact_real(j, "size_m", info.size);
        fact_hash(j, "model_hash", info.hash);
        code = CODE_FINE;
    }
    else
        code = cli_fail(c, status);
    flx_model_destroy(model);
    flx_scene_destroy(c->ctx, scene);
    return code;
}

static int recording_facts(cli* c, json* j)
{
    flx_recording*   recording = NULL;
    const flx_status status    = flx_recording_open(c->ctx, c->operand[0], &recording);
    if (status != FLX_OK) return cli_fail(c, status);
    const flx_recording_info info = flx_recording_get_info(recording);
    fact_text(j, "scene", flx_recording_scene_name(recording));
    fact_integer(j, "frames", info.frame_count);
    fact_real(j, "fps", info.fps);
    fact_real(j, "seconds", info.fps > 0 && info.frame_count > 0 ? (info.frame_count - 1) / info.fps : 0);
    fact_integer(j, "bodies", info.body_count);
    fact_integer(j, "vertices", info.vertex_count);
    fact_integer(j, "tets", info.tet_count);
    fact_integer(j, "surface_vertices", info.surface_vertex_count);
    fact_integer(j, "surface_triangles", info.surface_triangle_count);
    fact_text(j, "up", info.up_axis == 1 ? "y" : "z");
    fact_hash(j, "model_hash", info.model_hash);
    flx_recording_close(recording);
    return CODE_FINE;
}

static int info(cli* c)
{
    int code = cli_context(c);
    if (code >= 0) return code;
    json  memory = json_memory(true);
    json* j      = c->json ? &memory : NULL;
    code         = CODE_FINE;
    if (j)
    {
        json_open(j, NULL, '{');
        json_text(j, "schema", "flexor.info/1");
    }
    if (c->operand_count == 0)
        program_facts(c, j);
    else
        code = is_scene_path(c->operand[0]) ? scene_facts(c, j) : recording_facts(c, j);
    if (j)
    {
        json_close(j, '}');
        char* text = json_end(j);
        if (code == CODE_FINE) print_data(c, text);
        free(text);
    }
    return code;
}

static const cli_option options[] = {
    CLI_CACHE_OPTION,
    CLI_SCENE_OPTIONS,
    {0, NULL, NULL, NULL},
};

const cli_verb cli_info = {
    .name         = "info",
    .operands     = "[SCENE|RECORDING]",
    .summary      = "Facts of a scene's model, of a recording, or of this program.",
    .options      = options,
    .operands_max = 1,
    .run          = info,
};
