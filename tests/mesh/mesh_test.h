// What the tests of mesh input and output share: a context whose notices are kept, readers that stop on failure, sums.
#ifndef FLX_TESTS_MESH_TEST_H
#define FLX_TESTS_MESH_TEST_H

#include "test.h"

#include "flexor/mesh.h"
#include "mesh/mesh_internal.h"

static flx_context* ctx;
static char         notices[16384]; // every log line since the last clear

static inline void keep_notice(void* user, flx_log_level level, const char* text)
{
    (void)user;
    (void)level;
    const size_t used = strlen(notices);
    snprintf(notices + used, sizeof notices - used, "%s\n", text);
}

static inline int open_context(void** state)
{
    (void)state;
    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = 1;
    desc.log              = keep_notice;
    notices[0]            = '\0';
    return flx_context_create(&desc, &ctx) == FLX_OK ? 0 : -1;
}

static inline int close_context(void** state)
{
    (void)state;
    const int64_t held = flx_context_bytes_now(ctx);
    flx_context_destroy(ctx);
    if (held != 0) print_message("%lld bytes are still held\n", (long long)held);
    return held == 0 ? 0 : -1;
}

#define MESH_TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)

static inline flx_mesh* read_at(const char* path)
{
    flx_mesh* mesh = NULL;
    notices[0]     = '\0';
    CHECK_OK(flx_mesh_read(ctx, path, NULL, &mesh));
    return mesh;
}

/// Reads ../shared/<relative>, or skips the test.
static inline flx_mesh* read_shared(const char* relative)
{
    return read_at(shared_or_skip(relative));
}

static inline flx_mesh* read_welded(const char* relative, double tolerance)
{
    flx_mesh*        mesh = NULL;
    flx_mesh_options o    = flx_mesh_options_default();
    o.weld                = true;
    o.weld_tolerance      = tolerance;
    notices[0]            = '\0';
    CHECK_OK(flx_mesh_read(ctx, shared_or_skip(relative), &o, &mesh));
    return mesh;
}

/// The file is refused with this status, and the message holds `text`.
static inline void check_refused(const char* relative, flx_status status, const char* text)
{
    flx_mesh* mesh = NULL;
    CHECK_FAILS(flx_mesh_read(ctx, shared_or_skip(relative), NULL, &mesh), status);
    assert_null(mesh);
    if (!strstr(flx_context_error(ctx), text))
        fail_msg("%s: the message '%s' does not hold '%s'", relative, flx_context_error(ctx), text);
}

static inline void check_counts(const flx_mesh* mesh, int32_t vertices, int32_t triangles, int32_t tets)
{
    if (mesh->vertex_count != vertices || mesh->triangle_count != triangles || mesh->tet_count != tets)
        fail_msg("%s: %d vertices, %d triangles, %d tets; expected %d, %d, %d", mesh->path, mesh->vertex_count,
                 mesh->triangle_count, mesh->tet_count, vertices, triangles, tets);
}

static inline void check_same_mesh(const flx_mesh* a, const flx_mesh* b)
{
    check_counts(a, b->vertex_count, b->triangle_count, b->tet_count);
    assert_memory_equal(a->x, b->x, 3 * (size_t)a->vertex_count * sizeof *a->x);
    assert_memory_equal(a->triangle, b->triangle, 3 * (size_t)a->triangle_count * sizeof *a->triangle);
    assert_memory_equal(a->tet, b->tet, 4 * (size_t)a->tet_count * sizeof *a->tet);
}

static inline const flx_mesh_group* group_named(const flx_mesh* mesh, const char* name)
{
    for (int32_t i = 0; i < mesh->group_count; ++i)
        if (strcmp(mesh->group[i].name, name) == 0) return mesh->group + i;
    fail_msg("%s has no group '%s'", mesh->path, name);
    return NULL;
}

static inline flx_doctor_report examine(flx_mesh* mesh)
{
    flx_doctor_report r;
    notices[0] = '\0';
    CHECK_OK(flx_mesh_doctor(ctx, mesh, NULL, &r));
    return r;
}

static inline flx_doctor_report examine_shared(const char* relative)
{
    flx_mesh*               mesh = read_shared(relative);
    const flx_doctor_report r    = examine(mesh);
    flx_mesh_destroy(ctx, mesh);
    return r;
}

#define CHECK_SAID(text)                                                                                               \
    do                                                                                                                 \
    {                                                                                                                  \
        if (!strstr(notices, text)) fail_msg("no notice holds '%s'; there are:\n%s", text, notices);                   \
    } while (0)

#endif
