// Solver settings: defaults, ranges and words come from solver/settings.def and nowhere else.
#include "scene/schema.h"

#include "base/file.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#define FLX__FIELD_OF_double FLX__NUMBER
#define FLX__FIELD_OF_int32_t FLX__COUNT

static const flx__field fields[] = {
#define FLX_KNOB(type, name_, default_, min_, max_, unit_, help_)                                                      \
    {.key      = #name_,                                                                                               \
     .kind     = FLX__FIELD_OF_##type,                                                                                 \
     .offset   = offsetof(flx_settings, name_),                                                                        \
     .unit     = unit_,                                                                                                \
     .low      = (min_),                                                                                               \
     .high     = (max_),                                                                                               \
     .fallback = #default_,                                                                                            \
     .help     = help_},
#define FLX_CHOICE(name_, default_, words_, help_)                                                                     \
    {.key = #name_, .kind = FLX__WORD, .offset = offsetof(flx_settings, name_), .words = words_, .help = help_},
#include "solver/settings.def"
#undef FLX_KNOB
#undef FLX_CHOICE
};

// The schema writes the first word when the key is absent, so a default must be the first enumerator; and the reader
// stores words as int32_t.
#define FLX_KNOB(type, name_, default_, min_, max_, unit_, help_)
#define FLX_CHOICE(name_, default_, words_, help_)                                                                     \
    _Static_assert((default_) == 0, #name_ ": the default must be the first word");                                    \
    _Static_assert(sizeof(((flx_settings*)0)->name_) == sizeof(int32_t), #name_ ": an enum of another size");
#include "solver/settings.def"
#undef FLX_KNOB
#undef FLX_CHOICE

static const flx__advice advice[] = {
    {"dt", "the time step is 1 / (fps x substeps); set run.fps (above 0) and solver.substeps (1 to 1000)"},
    {"time_step", "the time step is 1 / (fps x substeps); set run.fps (above 0) and solver.substeps (1 to 1000)"},
    {"iterations", "there are outer and inner iterations; set outer (1 to 10000) or inner (1 to 1000)"},
    {"threads", "the number of threads belongs to the run, not to the scene; use --threads (1 to 256)"},
    {"gravity", "gravity stands at the top of the scene, not under solver"},
    {"friction", "contacts are frictionless in this version; there is no such setting"},
    {NULL, NULL},
};

const flx__section flx__section_solver = {
    .name        = "solver",
    .field       = fields,
    .field_count = (int32_t)(sizeof fields / sizeof fields[0]),
    .size        = sizeof(flx_settings),
    .advice      = advice,
    .help        = "How the equations are solved. Any of these can be given on the command line too: `--set outer=3`.",
    .example     = "solver: {mode: dynamic, outer: 10, substeps: 2, damping: 0.5}",
};

flx_settings flx_settings_default(void)
{
    flx_settings s = {.struct_size = sizeof s};
#define FLX_KNOB(type, name_, default_, min_, max_, unit_, help_) s.name_ = (default_);
#define FLX_CHOICE(name_, default_, words_, help_) s.name_ = (default_);
#include "solver/settings.def"
#undef FLX_KNOB
#undef FLX_CHOICE
    return s;
}

static int32_t word_count(const char* words)
{
    const char* word = NULL;
    int32_t     n    = 0;
    while (flx__word_at(words, n, &word) > 0) ++n;
    return n;
}

flx_status flx_settings_check(flx_context* ctx, const flx_settings* settings)
{
    FLX_ASSERT(ctx && settings);
    if (settings->struct_size != sizeof *settings)
        return flx__fail(ctx, FLX_ERR_ARGUMENT,
                         "flx_settings has %zu bytes here and %zu in the caller: start from flx_settings_default()",
                         sizeof *settings, settings->struct_size);
    for (int32_t i = 0; i < flx__section_solver.field_count; ++i)
    {
        const flx__field* field = &fields[i];
        const char*       value = (const char*)settings + field->offset;
        char              range[96], number[32];
        if (field->kind == FLX__WORD)
        {
            int32_t word;
            memcpy(&word, value, sizeof word);
            if (word < 0 || word >= word_count(field->words))
                return flx__fail(ctx, FLX_ERR_SETTING, "solver.%s is %d; allowed is %s", field->key, word,
                                 field->words);
            continue;
        }
        double x = 0.0;
        if (field->kind == FLX__COUNT)
        {
            int32_t n;
            memcpy(&n, value, sizeof n);
            x = n;
        }
        else
            memcpy(&x, value, sizeof x);
        if (flx__field_in_range(field, x)) continue;
        flx__field_range(field, range, sizeof range);
        flx__print_c(number, sizeof number, "%g", x);
        return flx__fail(ctx, FLX_ERR_SETTING, "solver.%s is %s; allowed is %s", field->key, number, range);
    }
    return FLX_OK;
}

flx_status flx_settings_set(flx_context* ctx, flx_settings* settings, const char* name, const char* value)
{
    FLX_ASSERT(ctx && settings && name && value);
    const int32_t index = flx__field_index(&flx__section_solver, name);
    if (index < 0)
    {
        for (const flx__advice* a = advice; a->key; ++a)
            if (strcmp(a->key, name) == 0)
                return flx__fail(ctx, FLX_ERR_SETTING, "unknown setting '%.60s': %s", name, a->say);
        flx__guess guess = flx__guess_start(name);
        for (int32_t i = 0; i < flx__section_solver.field_count; ++i) flx__guess_offer(&guess, fields[i].key);
        if (guess.best)
            return flx__fail(ctx, FLX_ERR_SETTING, "unknown setting '%.60s'; did you mean '%s'?", name, guess.best);
        return flx__fail(ctx, FLX_ERR_SETTING, "unknown setting '%.60s'", name);
    }
    char path[80], problem[400];
    bool out_of_range = false;
    flx__print_c(path, sizeof path, "solver.%s", fields[index].key);
    if (flx__field_parse(&fields[index], path, value, (char*)settings + fields[index].offset, &out_of_range, problem,
                         sizeof problem))
        return FLX_OK;
    return flx__fail(ctx, FLX_ERR_SETTING, "%s", problem);
}
