// Connected components by union-find; the smaller root wins, so labels count components in order of their first vertex.
#include "mesh/mesh_internal.h"

#include "base/sets.h"

flx_status flx__mesh_components(flx_context* ctx, int32_t vertex_count, int64_t element_count, int32_t corners,
                                const int32_t* element, int32_t* label, int32_t* count)
{
    flx_status status = FLX_OK;
    int32_t*   parent = NULL;

    *count = 0;
    FLX_NEW(ctx, parent, vertex_count);
    for (int32_t v = 0; v < vertex_count; ++v)
    {
        parent[v] = v;
        label[v]  = -1;
    }
    for (int64_t e = 0; e < element_count; ++e)
    {
        const int32_t* c = element + e * corners;
        label[c[0]]      = 0; // used by an element; its number comes below
        for (int32_t k = 1; k < corners; ++k)
        {
            label[c[k]] = 0;
            flx__set_join(parent, c[0], c[k]);
        }
    }
    for (int32_t v = 0; v < vertex_count; ++v)
    {
        if (label[v] < 0) continue;
        const int32_t root = flx__set_root(parent, v); // the smallest vertex of the component: labelled already
        label[v]           = root == v ? (*count)++ : label[root];
    }

done:
    flx__free(ctx, parent);
    return status;
}
