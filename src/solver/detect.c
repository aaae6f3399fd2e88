// Contact detection of one inner iteration: every `contact:` entry of the scene, in order.
#include "solver/solver_internal.h"

void flx__find_contacts(flx_solver* s, double time)
{
    const flx_model*  m = s->model;
    flx_contact_work* w = &s->contact;
    w->count            = 0;
    for (int32_t i = 0; i < m->group_count; ++i)
    {
        const flx_contact_group* g   = &m->group[i];
        flx_contact*             out = w->contact + w->count;
        int32_t                  found = 0;
        if (g->proxy_count == 0) continue;
        if (g->obstacle >= 0)
        {
            flx_obstacle_pose pose;
            flx_scene_obstacle_pose(m->scene, g->obstacle, time, pose.R, pose.t);
            found = flx__obstacle_contacts(s->ctx, m->solid[g->obstacle], &pose, g->obstacle, g->proxy_count,
                                           m->proxy + g->proxy_first, s->x, g->margin, g->offset, w->scratch, out);
        }
        else
            found = flx__self_contact_find(s->self[i], s->x, out);
        for (int32_t k = 0; k < found; ++k) out[k].proxy += g->proxy_first;
        w->count += found;
    }
}
