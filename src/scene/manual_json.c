// The scene format as a JSON Schema (draft-07), for editors: completion and red lines while typing.
#include "scene/manual.h"

#include "base/file.h"
#include "scene/units.h"

#include <string.h>

static void quoted(flx__text* t, const char* s)
{
    flx__text_add(t, "\"", 1);
    for (const char* p = s; *p; ++p)
    {
        if (*p == '"' || *p == '\\') flx__text_add(t, "\\", 1);
        if (*p == '\n')
            flx__text_add(t, "\\n", 2);
        else
            flx__text_add(t, p, 1);
    }
    flx__text_add(t, "\"", 1);
}

/// `30`, `"30 kPa"`, `"auto"`: a number with its range, or text with one of the units.
static void number_type(flx__text* t, const flx__field* field)
{
    const flx__dimension* dimension = flx__dimension_find(field->unit ? field->unit : "");
    char                  low[32], high[32];
    flx__print_c(low, sizeof low, "%.10g", field->low);
    flx__print_c(high, sizeof high, "%.10g", field->high);
    flx__text_print(t, "\"anyOf\": [{\"type\": \"%s\", \"%s\": %s, \"maximum\": %s}",
                    field->kind == FLX__COUNT ? "integer" : "number",
                    field->flags & FLX__ABOVE ? "exclusiveMinimum" : "minimum", low, high);
    flx__text_print(
        t, ", {\"type\": \"string\", \"pattern\": \"^ *[+-]?([0-9]+\\\\.?[0-9]*|\\\\.[0-9]+)([eE][+-]?[0-9]+)? *(");
    const char* unit;
    for (int32_t i = 0; (unit = flx__unit_name(dimension, i)); ++i)
    {
        if (i > 0) flx__text_add(t, "|", 1);
        for (const char* p = unit; *p; ++p)
        {
            if (*p == '^') flx__text_add(t, "\\\\", 2);
            flx__text_add(t, p, 1);
        }
    }
    flx__text_print(t, ")?$\"}");
    if (field->flags & FLX__AUTO) flx__text_print(t, ", {\"enum\": [\"auto\"]}");
    flx__text_print(t, "]");
}

static void vector_type(flx__text* t, const flx__field* field)
{
    flx__text_print(t, "\"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, \"items\": {");
    number_type(t, field);
    flx__text_print(t, "}");
}

static void words_type(flx__text* t, const char* words)
{
    const char* word;
    size_t      length;
    flx__text_print(t, "\"enum\": [");
    for (int32_t i = 0; (length = flx__word_at(words, i, &word)) > 0; ++i)
        flx__text_print(t, "%s\"%.*s\"", i > 0 ? ", " : "", (int)length, word);
    flx__text_print(t, "]");
}

static void field_type(flx__text* t, const flx__field* field)
{
    const char* section = field->section ? field->section->name : "";
    switch (field->kind)
    {
    case FLX__NUMBER:
    case FLX__COUNT:
        number_type(t, field);
        break;
    case FLX__FLAG:
        flx__text_print(t, "\"type\": \"boolean\"");
        break;
    case FLX__NAME:
    case FLX__TEXT:
    case FLX__PATH:
    case FLX__REF:
        flx__text_print(t, "\"type\": \"string\"");
        break;
    case FLX__WORD:
        words_type(t, field->words);
        break;
    case FLX__POINT:
        flx__text_print(t, "\"anyOf\": [{\"type\": \"string\"}, {");
        vector_type(t, field);
        flx__text_print(t, "}]");
        break;
    case FLX__VECTOR:
    case FLX__DIRECTION:
        vector_type(t, field);
        break;
    case FLX__GRAVITY:
        flx__text_print(t, "\"anyOf\": [{");
        number_type(t, field);
        flx__text_print(t, "}, {");
        vector_type(t, field);
        flx__text_print(t, "}]");
        break;
    case FLX__REFS:
        flx__text_print(
            t, "\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": \"string\"}}]");
        break;
    case FLX__SHAPE:
        flx__text_print(t, "\"anyOf\": [{\"$ref\": \"#/definitions/%s\"}, {", section);
        words_type(t, field->words);
        flx__text_print(t, "}]");
        break;
    case FLX__ONE:
        flx__text_print(t, "\"allOf\": [{\"$ref\": \"#/definitions/%s\"}]", section);
        break;
    case FLX__MANY:
        flx__text_print(t, "\"anyOf\": [{\"type\": \"array\", \"items\": {\"$ref\": \"#/definitions/%s\"}}, ", section);
        flx__text_print(t, "{\"$ref\": \"#/definitions/%s\"}]", section);
        break;
    }
}

static void section_type(flx__text* t, const flx__section* section, const char* indent)
{
    flx__text_print(t, "%s\"type\": \"object\",\n%s\"additionalProperties\": false,\n%s\"description\": ", indent,
                    indent, indent);
    quoted(t, section->help);
    flx__text_print(t, ",\n%s\"required\": [", indent);
    bool first = true;
    for (int32_t i = 0; i < section->field_count; ++i)
    {
        if (!(section->field[i].flags & FLX__REQUIRED)) continue;
        flx__text_print(t, "%s\"%s\"", first ? "" : ", ", section->field[i].key);
        first = false;
    }
    flx__text_print(t, "],\n%s\"properties\": {\n", indent);
    for (int32_t i = 0; i < section->field_count; ++i)
    {
        const flx__field* field = &section->field[i];
        flx__text_print(t, "%s  \"%s\": {\"description\": ", indent, field->key);
        quoted(t, field->help);
        flx__text_print(t, ", ");
        field_type(t, field);
        flx__text_print(t, "}%s\n", i + 1 < section->field_count ? "," : "");
    }
    flx__text_print(t, "%s}", indent);
}

void flx__write_json_schema(flx__text* t)
{
    const flx__section* list[FLX__SECTIONS_MAX];
    const int32_t       count = flx__sections_list(list);
    flx__text_print(
        t,
        "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n  \"title\": \"Flexor scene, format 1\",\n");
    section_type(t, list[0], "  ");
    flx__text_print(t, ",\n  \"definitions\": {\n");
    for (int32_t i = 1; i < count; ++i)
    {
        flx__text_print(t, "    \"%s\": {\n", list[i]->name);
        section_type(t, list[i], "      ");
        flx__text_print(t, "\n    }%s\n", i + 1 < count ? "," : "");
    }
    flx__text_print(t, "  }\n}\n");
}
