// A unit is a factor times/by: mm is 1/1000, so that "11 mm" is the double nearest to 0.011 (0.001 is not exact, 1000
// is).
#include "scene/units.h"

#include "base/file.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const flx__dimension dimensions[] = {
    {"", "a plain number", "none; k and M are thousand and million"},
    {"m", "a length", "m, km, cm, mm or um"},
    {"s", "a time", "s, ms or min"},
    {"Pa", "a pressure", "Pa, kPa, MPa or GPa"},
    {"kg/m3", "a density", "kg/m3 or g/cm3"},
    {"kg/m2", "a mass per area", "kg/m2 or g/m2"},
    {"N/m", "a stiffness", "N/m, kN/m or N/mm"},
    {"N m", "a bending stiffness", "N m, mN m or uN m"},
    {"N", "a force", "N, mN or kN"},
    {"m/s", "a velocity", "m/s, cm/s or mm/s"},
    {"m/s2", "an acceleration", "m/s2"},
    {"1/s", "a rate", "1/s or Hz"},
    {"1/s^2", "a rate squared", "1/s2"},
    {"deg", "an angle", "deg or rad"},
};

typedef struct unit
{
    const char* name;
    const char* si;
    double      times, by;
} unit;

static const unit units[] = {
    {"k", "", 1e3, 1.0},
    {"M", "", 1e6, 1.0},
    {"m", "m", 1.0, 1.0},
    {"km", "m", 1e3, 1.0},
    {"cm", "m", 1.0, 1e2},
    {"mm", "m", 1.0, 1e3},
    {"um", "m", 1.0, 1e6},
    {"\xC2\xB5m", "m", 1.0, 1e6}, // micro sign
    {"\xCE\xBCm", "m", 1.0, 1e6}, // Greek mu
    {"s", "s", 1.0, 1.0},
    {"ms", "s", 1.0, 1e3},
    {"min", "s", 60.0, 1.0},
    {"Pa", "Pa", 1.0, 1.0},
    {"kPa", "Pa", 1e3, 1.0},
    {"MPa", "Pa", 1e6, 1.0},
    {"GPa", "Pa", 1e9, 1.0},
    {"kg/m3", "kg/m3", 1.0, 1.0},
    {"kg/m^3", "kg/m3", 1.0, 1.0},
    {"g/cm3", "kg/m3", 1e3, 1.0},
    {"g/cm^3", "kg/m3", 1e3, 1.0},
    {"kg/m2", "kg/m2", 1.0, 1.0},
    {"kg/m^2", "kg/m2", 1.0, 1.0},
    {"g/m2", "kg/m2", 1.0, 1e3},
    {"g/m^2", "kg/m2", 1.0, 1e3},
    {"N m", "N m", 1.0, 1.0},
    {"mN m", "N m", 1.0, 1e3},
    {"uN m", "N m", 1.0, 1e6},
    {"N/m", "N/m", 1.0, 1.0},
    {"kN/m", "N/m", 1e3, 1.0},
    {"N/mm", "N/m", 1e3, 1.0},
    {"N", "N", 1.0, 1.0},
    {"mN", "N", 1.0, 1e3},
    {"kN", "N", 1e3, 1.0},
    {"m/s", "m/s", 1.0, 1.0},
    {"cm/s", "m/s", 1.0, 1e2},
    {"mm/s", "m/s", 1.0, 1e3},
    {"m/s2", "m/s2", 1.0, 1.0},
    {"m/s^2", "m/s2", 1.0, 1.0},
    {"1/s", "1/s", 1.0, 1.0},
    {"Hz", "1/s", 1.0, 1.0},
    {"1/s2", "1/s^2", 1.0, 1.0},
    {"1/s^2", "1/s^2", 1.0, 1.0},
    {"deg", "deg", 1.0, 1.0},
    {"\xC2\xB0", "deg", 1.0, 1.0}, // degree sign
    {"rad", "deg", 57.295779513082320877, 1.0},
};

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))

const flx__dimension* flx__dimension_find(const char* si)
{
    for (int32_t i = 0; i < COUNT(dimensions); ++i)
        if (strcmp(dimensions[i].si, si) == 0) return &dimensions[i];
    FLX_ASSERT(false); // the table of fields names a unit that the table of dimensions lacks
    return &dimensions[0];
}

const char* flx__unit_name(const flx__dimension* dimension, int32_t index)
{
    for (int32_t i = 0; i < COUNT(units); ++i)
        if (strcmp(units[i].si, dimension->si) == 0 && index-- == 0) return units[i].name;
    return NULL;
}

static const unit* find_unit(const char* name)
{
    for (int32_t i = 0; i < COUNT(units); ++i)
        if (strcmp(units[i].name, name) == 0) return &units[i];
    return NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char* skip_digits(const char* p)
{
    while (is_digit(*p)) ++p;
    return p;
}

/// [+-] digits [. digits] [e [+-] digits]; returns the end, or `text` when there is no number.
static const char* scan_number(const char* text)
{
    const char* p = text;
    if (*p == '+' || *p == '-') ++p;
    const char* whole = p;
    p                 = skip_digits(p);
    bool any          = p > whole;
    if (*p == '.')
    {
        const char* fraction = p + 1;
        p                    = skip_digits(fraction);
        any                  = any || p > fraction;
    }
    if (!any) return text;
    if (*p == 'e' || *p == 'E')
    {
        const char* exponent = p + 1;
        if (*exponent == '+' || *exponent == '-') ++exponent;
        if (is_digit(*exponent)) p = skip_digits(exponent);
    }
    return p;
}

/// The text was scanned already, so only rounding is left to the library, in the C locale.
static double to_double(const char* text)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) return strtod(text, NULL); // glibc's C locale needs no memory: not reached there
    const double value = strtod_l(text, NULL, c);
    freelocale(c);
    return value;
}

static bool is_nonfinite_word(const char* text)
{
    static const char* const words[] = {"nan", ".nan", "inf", ".inf", "infinity"};
    if (*text == '+' || *text == '-') ++text;
    for (int32_t i = 0; i < COUNT(words); ++i)
    {
        const char* a = text;
        const char* b = words[i];
        while (*a && *b && ((*a | 0x20) == *b || *a == *b)) ++a, ++b;
        if (!*a && !*b) return true;
    }
    return false;
}

bool flx__quantity_parse(const char* text, const char* si, double* out, char* problem, size_t capacity)
{
    const flx__dimension* dimension = flx__dimension_find(si);
    const bool            plain     = si[0] == '\0';

    while (*text == ' ') ++text;
    const char* end = scan_number(text);
    if (end == text)
    {
        if (is_nonfinite_word(text))
            flx__print_c(problem, capacity, "; wanted is a finite number");
        else if (plain)
            flx__print_c(problem, capacity, ", which is not a number");
        else
            flx__print_c(problem, capacity, ", which is not a number; wanted is %s in %s", dimension->what,
                         dimension->units);
        return false;
    }
    double value = to_double(text);
    if (!isfinite(value))
    {
        flx__print_c(problem, capacity, ", which is too large for a number");
        return false;
    }

    while (*end == ' ') ++end;
    if (*end != '\0')
    {
        const unit* u = find_unit(end);
        if (!u && *end == ',')
            flx__print_c(problem, capacity, ", which is not a number; the decimal point is written '.'");
        else if (!u && plain)
            flx__print_c(problem, capacity,
                         "; '%.20s' does not belong there, wanted is a plain number (k = 1000, M = 1000000)", end);
        else if (!u)
            flx__print_c(problem, capacity, "; '%.20s' is no known unit, wanted is %s in %s", end, dimension->what,
                         dimension->units);
        else if (strcmp(u->si, si) != 0 && plain)
            flx__print_c(problem, capacity, ", %s; wanted is a plain number", flx__dimension_find(u->si)->what);
        else if (strcmp(u->si, si) != 0)
            flx__print_c(problem, capacity, ", %s; wanted is %s in %s", flx__dimension_find(u->si)->what,
                         dimension->what, dimension->units);
        if (!u || strcmp(u->si, si) != 0) return false;
        value = value * u->times / u->by;
        if (!isfinite(value))
        {
            flx__print_c(problem, capacity, ", which is too large for a number");
            return false;
        }
    }
    *out = value;
    return true;
}
