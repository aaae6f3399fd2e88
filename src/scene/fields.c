// One word as one value: numbers with units and ranges, counts, flags, choices.
#include "scene/schema.h"

#include "base/file.h"
#include "scene/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int32_t flx__field_index(const flx__section* section, const char* key)
{
    for (int32_t i = 0; i < section->field_count; ++i)
        if (strcmp(section->field[i].key, key) == 0) return i;
    return -1;
}

bool flx__field_is_list(const flx__field* field)
{
    return field->kind == FLX__MANY || field->kind == FLX__REFS;
}

size_t flx__word_at(const char* words, int32_t index, const char** start)
{
    const char* p = words;
    while (p && index-- > 0)
    {
        p = strchr(p, '|');
        if (p) ++p;
    }
    if (!p) return 0;
    *start = p;
    return strcspn(p, "|");
}

bool flx__field_in_range(const flx__field* field, double value)
{
    const bool low_enough = field->flags & FLX__ABOVE ? value > field->low : value >= field->low;
    return low_enough && value <= field->high;
}

void flx__field_range(const flx__field* field, char* out, size_t capacity)
{
    const char* unit  = field->unit ? field->unit : "";
    const char* blank = unit[0] ? " " : "";
    if (field->low == field->high)
        flx__print_c(out, capacity, "only %.10g%s%s", field->low, blank, unit);
    else if (field->flags & FLX__ABOVE)
        flx__print_c(out, capacity, "above %.10g and at most %.10g%s%s", field->low, field->high, blank, unit);
    else
        flx__print_c(out, capacity, "%.10g to %.10g%s%s", field->low, field->high, blank, unit);
}

/// "a, b or c" from "a|b|c"
static void list_words(const char* words, char* out, size_t capacity)
{
    size_t used = 0;
    out[0]      = '\0';
    for (int32_t i = 0;; ++i)
    {
        const char*  word;
        const char*  after;
        const size_t length = flx__word_at(words, i, &word);
        if (length == 0) return;
        const char* joint = i == 0 ? "" : flx__word_at(words, i + 1, &after) > 0 ? ", " : " or ";
        const int   wrote = snprintf(out + used, capacity - used, "%s%.*s", joint, (int)length, word);
        if (wrote < 0 || (size_t)wrote >= capacity - used) return;
        used += (size_t)wrote;
    }
}

static bool parse_word(const flx__field* field, const char* path, const char* text, int32_t* target, char* problem,
                       size_t capacity)
{
    flx__guess guess    = flx__guess_start(text);
    char       near[48] = "", words[200];
    for (int32_t i = 0;; ++i)
    {
        const char*  word;
        const size_t length = flx__word_at(field->words, i, &word);
        if (length == 0) break;
        if (strlen(text) == length && memcmp(text, word, length) == 0)
        {
            *target = field->first_word + i;
            return true;
        }
        char          one[48];
        const int32_t before = guess.distance;
        snprintf(one, sizeof one, "%.*s", (int)length, word);
        flx__guess_offer(&guess, one);
        if (guess.distance < before) memcpy(near, one, sizeof near);
    }
    list_words(field->words, words, sizeof words);
    if (near[0])
        snprintf(problem, capacity, "%s is '%.60s'; did you mean '%s'? Allowed is %s", path, text, near, words);
    else
        snprintf(problem, capacity, "%s is '%.60s'; allowed is %s", path, text, words);
    return false;
}

static bool parse_number(const flx__field* field, const char* path, const char* text, double* value, bool* out_of_range,
                         char* problem, size_t capacity)
{
    if ((field->flags & FLX__AUTO) && strcmp(text, "auto") == 0)
    {
        *value = 0.0;
        return true;
    }
    char why[240], range[96];
    if (!flx__quantity_parse(text, field->unit ? field->unit : "", value, why, sizeof why))
    {
        snprintf(problem, capacity, "%s is '%.60s'%s", path, text, why);
        return false;
    }
    if (flx__field_in_range(field, *value)) return true;
    flx__field_range(field, range, sizeof range);
    snprintf(problem, capacity, "%s is %.60s; allowed is %s%s%s%s", path, text, range,
             field->flags & FLX__AUTO ? ", or auto" : "", field->reason ? ": " : "",
             field->reason ? field->reason : "");
    *out_of_range = true;
    return false;
}

bool flx__field_parse(const flx__field* field, const char* path, const char* text, void* target, bool* out_of_range,
                      char* problem, size_t capacity)
{
    double value  = 0.0;
    *out_of_range = false;
    switch (field->kind)
    {
    case FLX__WORD:
        return parse_word(field, path, text, target, problem, capacity);
    case FLX__FLAG:
        if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        {
            *(bool*)target = text[0] == 't';
            return true;
        }
        snprintf(problem, capacity, "%s is '%.60s'; write true or false", path, text);
        return false;
    case FLX__COUNT:
        if (!parse_number(field, path, text, &value, out_of_range, problem, capacity)) return false;
        if (value != nearbyint(value))
        {
            snprintf(problem, capacity, "%s is %.60s; wanted is a whole number", path, text);
            return false;
        }
        *(int32_t*)target = (int32_t)value;
        return true;
    case FLX__NUMBER:
    default:
        if (!parse_number(field, path, text, &value, out_of_range, problem, capacity)) return false;
        *(double*)target = value;
        return true;
    }
}
