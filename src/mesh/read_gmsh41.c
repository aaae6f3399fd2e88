// Entities, nodes and elements of Gmsh 4.1: blocks by entity. In binary files counts and tags are 8-byte unsigned,
// dimensions, entity tags and element types int32. Each number is read by one function for both kinds of file.
#include "mesh/gmsh.h"

static flx_status read_int(gmsh_reader* r, const char* what, int64_t lo, int64_t hi, int64_t* value)
{
    if (!r->binary) return flx__text_integer(&r->t, what, lo, hi, value);
    const flx_status status = flx__gmsh_need(r, 4, what);
    if (status != FLX_OK) return status;
    *value = flx__gmsh_take_i32(r);
    if (*value >= lo && *value <= hi) return FLX_OK;
    return flx__text_fail_at_byte(&r->t, "%s: %lld is not allowed", what, (long long)*value);
}

static flx_status read_size(gmsh_reader* r, const char* what, int64_t* value)
{
    if (!r->binary) return flx__text_integer(&r->t, what, 0, INT64_MAX, value);
    const flx_status status = flx__gmsh_need(r, 8, what);
    if (status != FLX_OK) return status;
    *value = flx__gmsh_take_size(r);
    if (*value >= 0) return FLX_OK;
    return flx__text_fail_at_byte(&r->t, "%s: more than 2^63", what);
}

static flx_status read_real(gmsh_reader* r, const char* what, double* value)
{
    if (!r->binary) return flx__text_real(&r->t, what, value);
    const flx_status status = flx__gmsh_need(r, 8, what);
    if (status == FLX_OK) *value = flx__gmsh_take_f64(r);
    return status;
}

static flx_status end_line(gmsh_reader* r, const char* after)
{
    return r->binary ? FLX_OK : flx__text_end_line(&r->t, after);
}

static flx_status check_count(gmsh_reader* r, int64_t count, int64_t text_bytes, int64_t binary_bytes, const char* what)
{
    return flx__text_check_count(&r->t, count, r->binary ? binary_bytes : text_bytes, what);
}

// --- entities -------------------------------------------------------------------------------------

// tag, a place or a box, physicals, and (but for points) bounding entities
static flx_status read_entity(gmsh_reader* r, int32_t dimension)
{
    flx_status    status = FLX_OK;
    const int64_t start  = r->listed_count;
    int64_t       tag, count, value;
    int32_t*      at = NULL;
    double        ignored;
    FLX_TRY(read_int(r, "entity", INT32_MIN, INT32_MAX, &tag));
    for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) FLX_TRY(read_real(r, "extent of entity", &ignored));
    FLX_TRY(read_size(r, "number of physical groups", &count));
    FLX_TRY(check_count(r, count, 2, 4, "physical groups"));
    if (start + count + 1 > INT32_MAX) FLX_TRY(flx__gmsh_fail(r, "too many physical groups: %lld", start + count));
    FLX_RESERVE(r->d->ctx, r->listed, r->listed_capacity, start + count + 1);
    r->listed[r->listed_count++] = (int32_t)count;
    for (int64_t i = 0; i < count; ++i)
    {
        FLX_TRY(read_int(r, "physical group", INT32_MIN + 1, INT32_MAX, &value));
        r->listed[r->listed_count++] = (int32_t)value;
    }
    if (dimension > 0)
    {
        FLX_TRY(read_size(r, "number of bounding entities", &count));
        FLX_TRY(check_count(r, count, 2, 4, "bounding entities"));
        for (int64_t i = 0; i < count; ++i) FLX_TRY(read_int(r, "bounding entity", INT32_MIN, INT32_MAX, &value));
    }
    const int32_t key[2] = {dimension, (int32_t)tag};
    FLX_TRY(flx__tuple_add(&r->entity, key, (int32_t)start, &at));
    FLX_TRY(end_line(r, "an entity"));
done:
    return status;
}

flx_status flx__gmsh41_entities(gmsh_reader* r)
{
    flx_status status = FLX_OK;
    int64_t    count[4];
    for (int k = 0; k < 4; ++k) FLX_TRY(read_size(r, "number of entities", count + k));
    FLX_TRY(end_line(r, "the numbers of entities"));
    for (int32_t k = 0; k < 4; ++k)
    {
        FLX_TRY(check_count(r, count[k], k == 0 ? 10 : 18, k == 0 ? 36 : 68, "entities"));
        for (int64_t i = 0; i < count[k]; ++i) FLX_TRY(read_entity(r, k));
    }
done:
    return status;
}

// --- nodes ----------------------------------------------------------------------------------------

// First the tags of a block, then its coordinates: the tags are put down with the vertices and the places follow.
static flx_status read_node_block(gmsh_reader* r, int64_t* left, int64_t lowest, int64_t highest, int64_t** tags,
                                  int64_t* capacity)
{
    flx_status status = FLX_OK;
    int64_t    dimension, entity, parametric, count;
    FLX_TRY(read_int(r, "dimension", 0, 3, &dimension));
    FLX_TRY(read_int(r, "entity", INT32_MIN, INT32_MAX, &entity));
    FLX_TRY(read_int(r, "parametric", 0, 1, &parametric));
    FLX_TRY(read_size(r, "number of nodes in block", &count));
    FLX_TRY(end_line(r, "the number of nodes in block"));
    if (count > *left) FLX_TRY(flx__gmsh_fail(r, "a block of %lld nodes: more than the section announced", count));
    const int64_t reals = 3 + (parametric ? dimension : 0);
    FLX_TRY(check_count(r, count, 2 + 2 * reals, 8 + 8 * reals, "nodes"));
    FLX_RESERVE(r->d->ctx, *tags, *capacity, count);
    for (int64_t i = 0; i < count; ++i)
    {
        FLX_TRY(read_size(r, "node number", *tags + i));
        if ((*tags)[i] < lowest || (*tags)[i] > highest)
            FLX_TRY(flx__gmsh_fail(r, "node number %lld is outside the range that the section announced", (*tags)[i]));
    }
    for (int64_t i = 0; i < count; ++i)
    {
        double x[3], ignored;
        r->t.item = (*tags)[i];
        for (int k = 0; k < 3; ++k) FLX_TRY(read_real(r, "coordinate of node", x + k));
        for (int64_t k = 3; k < reals; ++k) FLX_TRY(read_real(r, "parameter of node", &ignored));
        FLX_TRY(end_line(r, "a node"));
        FLX_TRY(flx__gmsh_add_node(r, (*tags)[i], x));
    }
    r->t.item = 0;
    *left -= count;
done:
    return status;
}

static flx_status read_section_head(gmsh_reader* r, const char* what, int64_t text_bytes, int64_t binary_bytes,
                                    int64_t head[4])
{
    flx_status status = FLX_OK;
    FLX_TRY(read_size(r, "number of blocks", head));
    FLX_TRY(read_size(r, "count", head + 1));
    FLX_TRY(read_size(r, "lowest number", head + 2));
    FLX_TRY(read_size(r, "highest number", head + 3));
    FLX_TRY(check_count(r, head[0], 8, 20, "blocks"));
    FLX_TRY(check_count(r, head[1], text_bytes, binary_bytes, what));
    FLX_TRY(end_line(r, "the highest number"));
done:
    return status;
}

flx_status flx__gmsh41_nodes(gmsh_reader* r)
{
    flx_status status   = FLX_OK;
    int64_t*   tags     = NULL;
    int64_t    capacity = 0;
    int64_t    head[4];
    FLX_TRY(read_section_head(r, "nodes", 8, 32, head));
    FLX_TRY(flx__draft_reserve_vertices(r->d, head[1]));
    int64_t left = head[1];
    for (int64_t i = 0; i < head[0]; ++i) FLX_TRY(read_node_block(r, &left, head[2], head[3], &tags, &capacity));
    if (left > 0) FLX_TRY(flx__gmsh_fail(r, "%lld nodes fewer in the blocks than the section announced", left));
done:
    flx__free(r->d->ctx, tags);
    return status;
}

// --- elements -------------------------------------------------------------------------------------

static flx_status read_element_block(gmsh_reader* r, int64_t* left)
{
    flx_status status = FLX_OK;
    int64_t    dimension, entity, number, count, tag;
    int64_t    node[128];
    FLX_TRY(read_int(r, "dimension", 0, 3, &dimension));
    FLX_TRY(read_int(r, "entity", INT32_MIN, INT32_MAX, &entity));
    FLX_TRY(read_int(r, "element type", 0, INT32_MAX, &number));
    FLX_TRY(read_size(r, "number of elements in block", &count));
    FLX_TRY(end_line(r, "the number of elements in block"));
    const gmsh_type type = flx__gmsh_type(number);
    if (type.shape == GMSH_UNKNOWN) FLX_TRY(flx__gmsh_fail(r, "element type %lld is not known", number));
    if (count > *left) FLX_TRY(flx__gmsh_fail(r, "a block of %lld elements: more than the section announced", count));
    FLX_TRY(check_count(r, count, 2 * (1 + type.nodes), 8 * (1 + type.nodes), "elements"));

    const int32_t key[2] = {(int32_t)dimension, (int32_t)entity};
    const int32_t start  = flx__tuple_get(&r->entity, key);
    for (int64_t i = 0; i < count; ++i)
    {
        FLX_TRY(read_size(r, "element number", &tag));
        for (int32_t k = 0; k < type.nodes; ++k) FLX_TRY(read_size(r, "node of element", node + k));
        FLX_TRY(flx__gmsh_add_element(r, type, tag, node, start < 0 ? 0 : r->listed[start],
                                      start < 0 ? NULL : r->listed + start + 1));
        FLX_TRY(end_line(r, "the nodes of an element"));
    }
    *left -= count;
done:
    return status;
}

flx_status flx__gmsh41_elements(gmsh_reader* r)
{
    flx_status status = FLX_OK;
    int64_t    head[4];
    FLX_TRY(read_section_head(r, "elements", 4, 16, head));
    int64_t left = head[1];
    for (int64_t i = 0; i < head[0]; ++i) FLX_TRY(read_element_block(r, &left));
    if (left > 0) FLX_TRY(flx__gmsh_fail(r, "%lld elements fewer in the blocks than the section announced", left));
done:
    return status;
}
