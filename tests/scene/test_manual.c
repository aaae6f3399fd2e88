// The two descriptions of the format are those of the table, and its examples are scenes.
#include "scene_test.h"

#include "base/file.h"
#include "scene/manual.h"
#include "scene/tree.h"

static void docs_scene_md_is_what_the_table_says(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    char *       text = NULL, *file = NULL;
    int64_t      bytes = 0;
    CHECK_OK(flx_scene_schema(ctx, true, &text));
    CHECK_OK(flx__file_read_all(ctx, FLX_SOURCE_DIR "/docs/scene.md", &file, &bytes));
    if (strcmp(text, file) != 0) fail_msg("docs/scene.md is out of date: flexor schema --markdown > docs/scene.md");
    flx_text_free(ctx, text);
    flx__free(ctx, file);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static const flx__node* value_of(const flx__node* map, const char* key)
{
    const flx__node* node = flx__tree_key(map, key);
    if (!node) fail_msg("the schema has no '%s'", key);
    return node->value;
}

static void the_json_schema_is_json_and_knows_every_section(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    char*        text = NULL;
    CHECK_OK(flx_scene_schema(ctx, false, &text));
    flx__arena*       arena    = flx__arena_create(ctx);
    flx__mistakes*    mistakes = flx__mistakes_create(arena);
    const flx__source source   = {.name = "schema", .text = text, .length = strlen(text)};
    const flx__node*  root     = flx__tree_parse(arena, mistakes, &source, text, strlen(text), 0);
    assert_non_null(root);
    assert_int_equal(flx__mistakes_count(mistakes), 0);
    assert_string_equal(value_of(root, "$schema")->text, "http://json-schema.org/draft-07/schema#");

    const flx__section* list[FLX__SECTIONS_MAX];
    const int32_t       count = flx__sections_list(list);
    assert_in_range(count, 20, FLX__SECTIONS_MAX);
    for (int32_t i = 0; i < count; ++i)
    {
        const flx__node* section    = i == 0 ? root : value_of(value_of(root, "definitions"), list[i]->name);
        const flx__node* properties = value_of(section, "properties");
        assert_string_equal(value_of(section, "additionalProperties")->text, "false");
        assert_int_equal(properties->count, list[i]->field_count);
        for (int32_t k = 0; k < list[i]->field_count; ++k) value_of(properties, list[i]->field[k].key);
    }
    flx__arena_destroy(arena);
    flx_text_free(ctx, text);
    flx_context_destroy(ctx);
}

typedef struct around
{
    const char* section;
    const char* before; // what the example refers to, or what it stands in
} around;

#define ARM "bodies: {name: arm, surface: a.obj}\n"
#define BEAM "bodies: {name: beam, tets: a.msh}\n"
#define ELBOW "joints: {name: elbow, at: [0.28, 0, 0]}\n"
#define BONES                                                                                                          \
    "bones: [{name: humerus, capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1}},\n"                                 \
    "        {name: forearm, capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1}}]\n"

static const around surroundings[] = {
    {"joints", ARM},
    {"bodies", ""},
    {"lattice", "bodies:\n  surface: a.obj\n  "},
    {"shapes", "bodies: {surface: a.obj}\nfix:\n  "},
    {"material", "bodies:\n  surface: a.obj\n  "},
    {"constraints", "bodies:\n  cloth: a.obj\n  "},
    {"wind", "bodies: {cloth: a.obj, constraints: {strain: 1}}\n"},
    {"bones", ARM ELBOW},
    {"attach", ARM BONES},
    {"fix", BEAM},
    {"loads", BEAM},
    {"motion", ARM ELBOW BONES "obstacles: {name: lid, sphere: {center: elbow, radius: 1}}\n"},
    {"obstacles", ARM},
    {"contact", ARM ELBOW "obstacles: {name: floor, plane: {point: elbow, normal: [0, 0, 1]}}\n"},
    {"solver", ARM},
    {"run", ARM},
    {"cameras", ARM},
};

static void the_examples_of_the_manual_are_right(void** state)
{
    (void)state;
    const bool          has_data = access(FLX_SHARED_DIR "/data/makehuman/base.obj", R_OK) == 0;
    flx_context*        ctx      = test_context(1);
    const flx__section* list[FLX__SECTIONS_MAX];
    const int32_t       count = flx__sections_list(list);
    for (int32_t i = 0; i < count; ++i)
    {
        if (!list[i]->example || (strcmp(list[i]->name, "joints") == 0 && !has_data)) continue;
        const around* a = NULL;
        for (size_t k = 0; k < sizeof surroundings / sizeof surroundings[0]; ++k)
            if (strcmp(surroundings[k].section, list[i]->name) == 0) a = &surroundings[k];
        if (!a) fail_msg("the example of '%s' is not tried here", list[i]->name);

        char              text[4096];
        flx_scene*        scene   = NULL;
        flx_scene_options options = flx_scene_options_default();
        options.skip_files        = true;
        options.data_path         = FLX_SHARED_DIR "/data";
        snprintf(text, sizeof text, "flexor: 1\n%s%s\n", a->before, list[i]->example);
        write_file("scene.yaml", text, strlen(text));
        CHECK_OK(flx_scene_read(ctx, "scene.yaml", &options, &scene));
        flx_scene_destroy(ctx, scene);
    }
    flx_context_destroy(ctx);
}

static void every_failed_allocation_fails_cleanly(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    for (int markdown = 0; markdown < 2; ++markdown)
    {
        char*         text   = NULL;
        const int64_t before = flx_context_allocation_count(ctx);
        CHECK_OK(flx_scene_schema(ctx, markdown, &text));
        const int64_t wanted = flx_context_allocation_count(ctx) - before;
        flx_text_free(ctx, text);
        for (int64_t n = 0; n < wanted; ++n)
        {
            flx_context_fail_allocation(ctx, n);
            CHECK_FAILS(flx_scene_schema(ctx, markdown, &text), FLX_ERR_MEMORY);
            flx_context_fail_allocation(ctx, -1);
            assert_null(text);
            assert_int_equal(flx_context_bytes_now(ctx), 0);
        }
    }
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(docs_scene_md_is_what_the_table_says),
        cmocka_unit_test(the_json_schema_is_json_and_knows_every_section),
        cmocka_unit_test(the_examples_of_the_manual_are_right),
        cmocka_unit_test(every_failed_allocation_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, scene_folder_enter, scene_folder_leave);
}
