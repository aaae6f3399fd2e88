// The scene format as a manual: docs/scene.md.
#include "scene/manual.h"

#include "base/file.h"
#include "scene/reader.h"
#include "scene/units.h"

#include <string.h>

static const char* const opening =
    "<!-- Written by `flexor schema --markdown` from the table that checks scenes. Change src/scene/schema.c and\n"
    "     src/solver/settings.def, not this file. -->\n"
    "# Scenes\n"
    "\n"
    "A scene says what deforms, what moves it and what it touches. It is a YAML file, or JSON, which is YAML.\n"
    "\n"
    "```yaml\n"
    "flexor: 1                                   # scene format\n"
    "joints:\n"
    "  - {name: elbow, at: [0.28, 0, 0]}\n"
    "bodies:\n"
    "  - name: arm\n"
    "    surface: arm.obj                        # embedded in a lattice made here\n"
    "    lattice: {tets: 640 k}\n"
    "    material: {young: 30 kPa, density: 1000 kg/m3}\n"
    "bones:\n"
    "  - {name: humerus, capsule: {from: [0, 0, 0], to: elbow, radius: 11 mm}}\n"
    "  - {name: forearm, capsule: {from: elbow, to: [0.53, 0, 0], radius: 10 mm}}\n"
    "attach: {body: arm, bones: [humerus, forearm], points: 4000, stiffness: 2 N/mm}\n"
    "motion:\n"
    "  - {bone: forearm, about: elbow, axis: [0, -1, 0], degrees_per_frame: 2.5, to: 110, then: hold}\n"
    "contact:\n"
    "  - {self: arm, region: {sphere: {center: [0.28, 0, 0.03], radius: 60 mm}}}\n"
    "run: {frames: 74, fps: 30}\n"
    "```\n"
    "\n"
    "* **Numbers** may carry a unit: `30 kPa`, `2 mm`, `2.5 deg`, `640 k`. Without one they are in SI units (m, kg, s, "
    "Pa,\n"
    "  N) and degrees. They must be finite; the decimal point is a point.\n"
    "* **Points** are `[x, y, z]` in m, or the name of a joint. **Directions** are `[x, y, z]` of any length.\n"
    "* **Lists** with one entry may be written without the list: `attach: {...}`.\n"
    "* **Names** are checked: a bone that nothing declares is refused, with the nearest name. Order does not matter.\n"
    "* **Paths** are relative to the scene file. `data:some/file.obj` is relative to the folder given by `--data`.\n"
    "* **On the command line**, `--set` overrides any value: `--set run.frames=10`,\n"
    "  `--set 'bodies[0].material.young=50 kPa'`, `--set bodies[arm].repair=true`. A key alone is one of the "
    "solver's:\n"
    "  `--set outer=3`.\n"
    "* Anchors, aliases and tags of YAML are not used. Unknown and repeated keys are mistakes; all mistakes are listed "
    "at\n"
    "  once, with their lines.\n"
    "\n"
    "`flexor schema` prints the same as a JSON Schema for editors.\n";

static void range(flx__text* t, const flx__field* field)
{
    char text[96];
    flx__field_range(field, text, sizeof text);
    flx__text_print(t, "%s", text);
}

static void words(flx__text* t, const char* list)
{
    const char* word;
    size_t      length;
    for (int32_t i = 0; (length = flx__word_at(list, i, &word)) > 0; ++i)
        flx__text_print(t, "%s`%.*s`", i > 0 ? ", " : "", (int)length, word);
}

static const char* without_article(const char* what)
{
    return strncmp(what, "an ", 3) == 0 ? what + 3 : strncmp(what, "a ", 2) == 0 ? what + 2 : what;
}

static void value(flx__text* t, const flx__field* field)
{
    const char* unit    = field->unit ? field->unit : "";
    const char* what    = without_article(flx__dimension_find(unit)->what);
    const char* section = field->section ? field->section->name : "";
    switch (field->kind)
    {
    case FLX__NUMBER:
        flx__text_print(t, "%s, ", unit[0] ? what : "number");
        range(t, field);
        break;
    case FLX__COUNT:
        flx__text_print(t, "whole number, ");
        range(t, field);
        break;
    case FLX__FLAG:
        flx__text_print(t, "`true`, `false`");
        break;
    case FLX__NAME:
        flx__text_print(t, "name");
        break;
    case FLX__TEXT:
        flx__text_print(t, "text");
        break;
    case FLX__PATH:
        flx__text_print(t, "path");
        break;
    case FLX__WORD:
        words(t, field->words);
        break;
    case FLX__POINT:
        flx__text_print(t, "point");
        break;
    case FLX__DIRECTION:
        flx__text_print(t, "direction");
        break;
    case FLX__VECTOR:
        flx__text_print(t, "three numbers, %s", unit);
        break;
    case FLX__GRAVITY:
        flx__text_print(t, "number or three, %s", unit);
        break;
    case FLX__REF:
        flx__text_print(t, "name of %s", flx__names_one(field->names));
        break;
    case FLX__REFS:
        flx__text_print(t, "names of %s", field->names == FLX__BONES ? "bones" : "bodies");
        break;
    case FLX__SHAPE:
        flx__text_print(t, "[shape](#%s), ", section);
        words(t, field->words);
        break;
    case FLX__ONE:
        flx__text_print(t, "[section](#%s)", section);
        break;
    case FLX__MANY:
        flx__text_print(t, "list of [%s](#%s)", section, section);
        break;
    }
}

static void fallback(flx__text* t, const flx__field* field)
{
    const char* word   = NULL;
    size_t      length = 0;
    if (field->flags & FLX__REQUIRED)
        flx__text_print(t, "**required**");
    else if (field->shown)
        flx__text_print(t, "%s", field->shown);
    else if (field->fallback)
        flx__text_print(t, "%s", field->fallback);
    else if (field->kind == FLX__WORD && (length = flx__word_at(field->words, 0, &word)) > 0)
        flx__text_print(t, "%.*s", (int)length, word);
    else if (field->kind == FLX__VECTOR)
        flx__text_print(t, "[0, 0, 0]");
}

static void chapter(flx__text* t, const flx__section* section)
{
    flx__text_print(t, "\n## %s\n\n", section->name);
    flx__text_add(t, section->help, strlen(section->help));
    flx__text_print(t, "\n\n");
    if (section->example)
    {
        flx__text_print(t, "```yaml\n");
        flx__text_add(t, section->example, strlen(section->example));
        flx__text_print(t, "\n```\n\n");
    }
    flx__text_print(t, "| key | value | default | meaning |\n|---|---|---|---|\n");
    for (int32_t i = 0; i < section->field_count; ++i)
    {
        const flx__field* field = &section->field[i];
        flx__text_print(t, "| `%s` | ", field->key);
        value(t, field);
        flx__text_print(t, " | ");
        fallback(t, field);
        flx__text_print(t, " | %s |\n", field->help);
    }
}

void flx__write_markdown(flx__text* t)
{
    const flx__section* list[FLX__SECTIONS_MAX];
    const int32_t       count = flx__sections_list(list);
    flx__text_add(t, opening, strlen(opening));
    for (int32_t i = 0; i < count; ++i) chapter(t, list[i]);
}
