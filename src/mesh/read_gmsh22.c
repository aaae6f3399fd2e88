// Nodes and elements of Gmsh 2.2. The counts are text in both kinds of file; of a binary one the items are
//   node     int32 tag, double x y z
//   elements int32 type, count, tags; then `count` times int32 tag, tags, nodes
#include "mesh/gmsh.h"

#define TAGS_MAX 64

static flx_status read_count(gmsh_reader* r, const char* what, int64_t bytes_each, int64_t* count)
{
    flx_status status = FLX_OK;
    FLX_TRY(flx__text_integer(&r->t, "count", 0, INT64_MAX, count));
    FLX_TRY(flx__text_end_line(&r->t, "the count"));
    r->t.line -= 1; // the count's own line
    FLX_TRY(flx__text_check_count(&r->t, *count, bytes_each, what));
    r->t.line += 1;
done:
    return status;
}

flx_status flx__gmsh22_nodes(gmsh_reader* r)
{
    flx_status status = FLX_OK;
    int64_t    count, tag;
    double     x[3];
    FLX_TRY(read_count(r, "nodes", r->binary ? 28 : 8, &count));
    FLX_TRY(flx__draft_reserve_vertices(r->d, count));
    for (int64_t i = 0; i < count; ++i)
    {
        if (r->binary)
        {
            FLX_TRY(flx__gmsh_need(r, 28, "$Nodes"));
            tag = flx__gmsh_take_i32(r);
            for (int k = 0; k < 3; ++k) x[k] = flx__gmsh_take_f64(r);
        }
        else
        {
            FLX_TRY(flx__text_integer(&r->t, "node number", 1, INT64_MAX, &tag));
            r->t.item = tag;
            FLX_TRY(flx__text_real(&r->t, "x of node", x));
            FLX_TRY(flx__text_real(&r->t, "y of node", x + 1));
            FLX_TRY(flx__text_real(&r->t, "z of node", x + 2));
            FLX_TRY(flx__text_end_line(&r->t, "a node"));
            r->t.item = 0;
        }
        FLX_TRY(flx__gmsh_add_node(r, tag, x));
    }
done:
    return status;
}

static flx_status known_type(gmsh_reader* r, int64_t number, gmsh_type* type)
{
    *type = flx__gmsh_type(number);
    return type->shape != GMSH_UNKNOWN ? FLX_OK : flx__gmsh_fail(r, "element type %lld is not known", number);
}

// tag type tag-count tags... nodes..., one a line
static flx_status read_text_element(gmsh_reader* r)
{
    flx_status status = FLX_OK;
    flx_text*  t      = &r->t;
    int64_t    tag, number, tags, value;
    int64_t    node[128];
    int32_t    physical = 0;
    gmsh_type  type;
    FLX_TRY(flx__text_integer(t, "element number", 0, INT64_MAX, &tag));
    FLX_TRY(flx__text_integer(t, "element type", 0, INT32_MAX, &number));
    FLX_TRY(known_type(r, number, &type));
    FLX_TRY(flx__text_integer(t, "number of tags", 0, TAGS_MAX, &tags));
    for (int64_t i = 0; i < tags; ++i)
    {
        FLX_TRY(flx__text_integer(t, "tag", INT32_MIN + 1, INT32_MAX, &value));
        if (i == 0) physical = (int32_t)value;
    }
    for (int32_t i = 0; i < type.nodes; ++i) FLX_TRY(flx__text_integer(t, "node of element", 1, INT64_MAX, node + i));
    FLX_TRY(flx__gmsh_add_element(r, type, tag, node, tags > 0, &physical));
    FLX_TRY(flx__text_end_line(t, "the nodes of an element"));
done:
    return status;
}

static flx_status read_binary_batch(gmsh_reader* r, int64_t* left)
{
    flx_status status = FLX_OK;
    int64_t    node[128];
    gmsh_type  type;
    FLX_TRY(flx__gmsh_need(r, 12, "$Elements"));
    FLX_TRY(known_type(r, flx__gmsh_take_i32(r), &type));
    const int64_t count = flx__gmsh_take_i32(r);
    const int64_t tags  = flx__gmsh_take_i32(r);
    if (count < 1 || count > *left)
        FLX_TRY(flx__gmsh_fail(r, "a batch of %lld elements is more than announced, or none", count));
    if (tags < 0 || tags > TAGS_MAX) FLX_TRY(flx__gmsh_fail(r, "%lld tags an element", tags));
    FLX_TRY(flx__gmsh_need(r, count * 4 * (1 + tags + type.nodes), "$Elements"));
    for (int64_t k = 0; k < count; ++k)
    {
        const int64_t tag      = flx__gmsh_take_i32(r);
        int32_t       physical = 0;
        for (int64_t i = 0; i < tags; ++i)
        {
            const int32_t value = flx__gmsh_take_i32(r);
            if (i == 0 && value > INT32_MIN) physical = value;
        }
        for (int32_t i = 0; i < type.nodes; ++i) node[i] = flx__gmsh_take_i32(r);
        FLX_TRY(flx__gmsh_add_element(r, type, tag, node, tags > 0, &physical));
    }
    *left -= count;
done:
    return status;
}

flx_status flx__gmsh22_elements(gmsh_reader* r)
{
    flx_status status = FLX_OK;
    int64_t    count;
    FLX_TRY(read_count(r, "elements", 8, &count));
    if (r->binary)
        for (int64_t left = count; left > 0;) FLX_TRY(read_binary_batch(r, &left));
    else
        for (int64_t i = 0; i < count; ++i) FLX_TRY(read_text_element(r));
done:
    return status;
}
