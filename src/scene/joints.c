// A joint at the middle of a mesh group: rigs mark joints with small cubes named after them.
#include "scene/reader.h"

#include "flexor/mesh.h"
#include "scene/pose.h"

#include <stdio.h>
#include <string.h>

static const flx_mesh_group* find_group(const flx_mesh* mesh, const char* name)
{
    for (int32_t i = 0; i < mesh->group_count; ++i)
        if (strcmp(mesh->group[i].name, name) == 0) return &mesh->group[i];
    return NULL;
}

static void complain_group(flx__reader* r, const flx__node* map, const flx_mesh* mesh, const char* group)
{
    flx__guess guess = flx__guess_start(group);
    for (int32_t i = 0; i < mesh->group_count; ++i) flx__guess_offer(&guess, mesh->group[i].name);
    const flx__place at = flx__place_of_key(map, "group");
    if (guess.best)
        flx__mistake(r->mistakes, at, "%s.group is '%.60s', which is not in the mesh; did you mean '%.60s'?", r->path,
                     group, guess.best);
    else
        flx__mistake(r->mistakes, at, "%s.group is '%.60s', which is not among the %d groups of the mesh", r->path,
                     group, mesh->group_count);
}

/// Reads the mesh unless it is the one read last.
static bool open_mesh(flx__reader* r, const flx__node* map, char* path)
{
    if (r->mesh && strcmp(r->mesh_path, path) == 0) return true;
    flx_mesh_destroy(r->ctx, r->mesh);
    r->mesh                        = NULL;
    r->mesh_path                   = path;
    const flx_mesh_options options = flx_mesh_options_default();
    const flx_status       status  = flx_mesh_read(r->ctx, path, &options, &r->mesh);
    if (status == FLX_OK) return true;
    if (status == FLX_ERR_MEMORY)
        (void)flx__arena_take(r->scratch, INT64_MAX, 1); // remembered; ends the read
    else
        flx__mistake(r->mistakes, flx__place_of_key(map, "mesh"), "%s: %.300s", r->path, flx_context_error(r->ctx));
    return false;
}

void flx__joint_from_mesh(flx__reader* r, const flx__node* map, flx__joint* joint)
{
    if (!open_mesh(r, map, joint->mesh)) return;
    const flx_mesh*       mesh  = r->mesh;
    const flx_mesh_group* group = find_group(mesh, joint->group);
    if (!group)
    {
        complain_group(r, map, mesh, joint->group);
        return;
    }

    // each vertex once, however many triangles share it, in vertex order
    bool* used = flx__arena_take(r->scratch, mesh->vertex_count, sizeof *used);
    if (!used) return;
    for (int32_t i = 0; i < group->triangle_count; ++i)
        for (int32_t k = 0; k < 3; ++k) used[mesh->triangle[3 * (int64_t)group->triangle[i] + k]] = true;
    for (int32_t i = 0; i < group->tet_count; ++i)
        for (int32_t k = 0; k < 4; ++k) used[mesh->tet[4 * (int64_t)group->tet[i] + k]] = true;
    double  sum[3] = {0.0, 0.0, 0.0};
    int32_t count  = 0;
    for (int32_t v = 0; v < mesh->vertex_count; ++v)
    {
        if (!used[v]) continue;
        for (int32_t k = 0; k < 3; ++k) sum[k] += mesh->x[3 * (int64_t)v + k];
        ++count;
    }
    if (count == 0)
    {
        flx__mistake(r->mistakes, flx__place_of_key(map, "group"), "%s.group '%.60s' has no elements", r->path,
                     joint->group);
        return;
    }
    for (int32_t k = 0; k < 3; ++k) sum[k] = sum[k] / count * joint->scale;
    flx__place_point(joint->rotate_deg, joint->translate, sum, joint->at);
    joint->known = true;
}
