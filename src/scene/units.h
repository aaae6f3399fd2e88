// Numbers as people write them: `30 kPa`, `2 mm`, `640 k`, `2.5 deg`.
#ifndef FLX_SCENE_UNITS_H
#define FLX_SCENE_UNITS_H

#include "base/base.h"

/// A kind of quantity, named by its unit in structs ("" for plain numbers).
typedef struct flx__dimension
{
    const char* si;    // "Pa"
    const char* what;  // "a pressure"
    const char* units; // "Pa, kPa, MPa or GPa"
} flx__dimension;

/// Never NULL: `si` is one of ours ("", m, s, Pa, kg/m3, N/m, N, m/s, m/s2, 1/s, deg).
const flx__dimension* flx__dimension_find(const char* si);

/// Units of a dimension one by one: NULL at the end. For the schema.
const char* flx__unit_name(const flx__dimension* dimension, int32_t index);

/// Read text as a quantity of the dimension `si`; a bare number is in `si`. Independent of the locale.
/// On failure returns false and says in `problem` what is wrong, to follow "x is 'text'": ", which is not a number".
bool flx__quantity_parse(const char* text, const char* si, double* out, char* problem, size_t capacity);

#endif
