// Numbers with units: exact, independent of the locale, and precise about what is wrong.
#include "test.h"

#include "scene/schema.h"
#include "scene/units.h"

#include <locale.h>

static double parsed(const char* text, const char* si)
{
    char   problem[240] = "";
    double value        = NAN;
    if (!flx__quantity_parse(text, si, &value, problem, sizeof problem)) fail_msg("'%s'%s", text, problem);
    return value;
}

static void refused(const char* text, const char* si, const char* expected)
{
    char   problem[240] = "";
    double value        = 7.0;
    assert_false(flx__quantity_parse(text, si, &value, problem, sizeof problem));
    assert_string_equal(problem, expected);
    assert_true(value == 7.0); // untouched
}

static void quantities_are_the_nearest_double_in_si_units(void** state)
{
    (void)state;
    // every whole number of mm, kPa and so on up to 10000, against the decimal written out
    for (int i = 0; i <= 10000; ++i)
    {
        char text[32], plain[32];
        snprintf(text, sizeof text, "%d mm", i);
        snprintf(plain, sizeof plain, "%de-3", i);
        assert_true(parsed(text, "m") == strtod(plain, NULL));
        snprintf(text, sizeof text, "%d um", i);
        snprintf(plain, sizeof plain, "%de-6", i);
        assert_true(parsed(text, "m") == strtod(plain, NULL));
        snprintf(text, sizeof text, "%dkPa", i);
        assert_true(parsed(text, "Pa") == i * 1000.0);
    }
    assert_true(parsed("2 N/mm", "N/m") == 2000.0);
    assert_true(parsed("1000 kg/m3", "kg/m3") == 1000.0 && parsed("1 g/cm3", "kg/m3") == 1000.0);
    assert_true(parsed("640 k", "") == 640000.0 && parsed("1.5 M", "") == 1500000.0);
    assert_true(parsed("2.5 deg", "deg") == 2.5 && parsed("90 \xC2\xB0", "deg") == 90.0);
    CHECK_NEAR(parsed("3.14159265358979323846 rad", "deg"), 180.0, 3e-14); // one ulp of 180
    assert_true(parsed("250 ms", "s") == 0.25 && parsed("2 min", "s") == 120.0 && parsed("60 Hz", "1/s") == 60.0);
    assert_true(parsed("3 \xC2\xB5m", "m") == 3e-6 && parsed("3 \xCE\xBCm", "m") == 3e-6);
    assert_true(parsed("9.81 m/s2", "m/s2") == 9.81 && parsed("9.81 m/s^2", "m/s2") == 9.81);
}

static void bare_numbers_are_si_in_every_spelling(void** state)
{
    (void)state;
    assert_true(parsed("30", "Pa") == 30.0 && parsed("+3", "m") == 3.0 && parsed("-.5", "m") == -0.5);
    assert_true(parsed("5.", "m") == 5.0 && parsed("1e-3", "m") == 0.001 && parsed("3E+4", "") == 30000.0);
    assert_true(parsed("0.1", "m") == 0.1 && parsed("4.9406564584124654e-324", "m") > 0.0);
    assert_true(parsed("123456789012345678901234567890", "") == 123456789012345678901234567890.0);
}

static void what_is_no_number_is_refused(void** state)
{
    (void)state;
    static const char* const words[] = {"", "-", ".", "e5", "abc", "--3", "+-3", "_1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) refused(words[i], "", ", which is not a number");
    static const char* const endless[] = {"nan",  ".nan",  "NaN",      "inf",      "-inf",
                                          ".inf", "-.INF", "infinity", "+Infinity"};
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; ++i)
        refused(endless[i], "m", "; wanted is a finite number");
    refused("1e999", "m", ", which is too large for a number");
    refused("1e308 GPa", "Pa", ", which is too large for a number");
    refused("1,5", "m", ", which is not a number; the decimal point is written '.'");
    refused("0x10", "", "; 'x10' does not belong there, wanted is a plain number (k = 1000, M = 1000000)");
    refused("1:30", "s", "; ':30' is no known unit, wanted is a time in s, ms or min");
    refused("3 mPa", "Pa", "; 'mPa' is no known unit, wanted is a pressure in Pa, kPa, MPa or GPa");
    refused("3 mm", "Pa", ", a length; wanted is a pressure in Pa, kPa, MPa or GPa");
    refused("3 mm", "", ", a length; wanted is a plain number");
}

static void numbers_read_the_same_under_a_decimal_comma(void** state)
{
    (void)state;
    static const char* const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "pl_PL.UTF-8", "de_DE.utf8"};
    bool                     found     = false;
    for (size_t i = 0; i < sizeof locales / sizeof locales[0] && !found; ++i)
        found = setlocale(LC_ALL, locales[i]) != NULL;
    if (!found) print_message("no locale with a decimal comma here: only the C locale was tried\n");
    assert_true(parsed("2.5 mm", "m") == 0.0025);
    assert_true(parsed("0.0703125", "") == 0.0703125);
    refused("2,5", "", ", which is not a number; the decimal point is written '.'");
    const flx__field field = {.kind = FLX__NUMBER, .low = 0.25, .high = 2.5};
    char             range[96];
    flx__field_range(&field, range, sizeof range);
    assert_string_equal(range, "0.25 to 2.5");
    setlocale(LC_ALL, "C");
}

static void check_units(const flx__section* section, int depth)
{
    assert_in_range(depth, 0, 8);
    for (int32_t i = 0; i < section->field_count; ++i)
    {
        const flx__field* field = &section->field[i];
        const char*       unit  = field->unit ? field->unit : "";
        if (strcmp(flx__dimension_find(unit)->si, unit) != 0)
            fail_msg("%s.%s: unit '%s'", section->name, field->key, unit);
        if (field->kind == FLX__NUMBER || field->kind == FLX__COUNT || field->kind == FLX__VECTOR)
            assert_true(field->low <= field->high);
        if (field->kind == FLX__COUNT) assert_true(field->low >= INT32_MIN && field->high <= INT32_MAX);
        if (field->section) check_units(field->section, depth + 1);
    }
}

static void every_key_of_the_format_has_a_unit_and_a_range(void** state)
{
    (void)state;
    check_units(&flx__section_scene, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_are_the_nearest_double_in_si_units),
        cmocka_unit_test(bare_numbers_are_si_in_every_spelling),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(numbers_read_the_same_under_a_decimal_comma),
        cmocka_unit_test(every_key_of_the_format_has_a_unit_and_a_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
