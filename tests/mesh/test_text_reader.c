// Promises of mesh/text_reader.h: numbers exactly as strtod has them, lines counted, words and names as they stand.
#include "mesh_test.h"

#include "mesh/text_reader.h"

static flx_text begin(const char* text)
{
    flx_text t;
    CHECK_OK(flx__text_begin(&t, ctx, "f", text, (int64_t)strlen(text)));
    return t;
}

static void numbers_equal_strtod_bit_for_bit(void** state)
{
    (void)state;
    static const char* const format[] = {"%.17g", "%.9g", "%.3f", "%e", "%.0f", "%.25g", "%+.4E"};
    uint64_t                 seed     = 3;
    flx_text                 t        = begin("");
    for (int i = 0; i < 50000; ++i)
    {
        char         text[512];
        const double x    = (test_random(&seed) - 0.5) * pow(10.0, floor(60.0 * test_random(&seed)) - 30.0);
        const int    n    = snprintf(text, sizeof text, format[i % 7], x);
        double       mine = 0.0;
        assert_int_equal(flx__parse_real(text, n, t.c_locale, &mine), 0);
        const double theirs = strtod(text, NULL);
        if (memcmp(&mine, &theirs, sizeof mine) != 0) fail_msg("%s: %.17g, strtod %.17g", text, mine, theirs);
    }
    flx__text_end(&t);
}

static void numbers_at_the_edges(void** state)
{
    (void)state;
    static const struct
    {
        const char* text;
        double      value;
    } good[]                         = {{"0", 0.0},
                                        {"-0", -0.0},
                                        {"5e-324", 5e-324},
                                        {"1e-400", 0.0},
                                        {"1.7976931348623157e308", 1.7976931348623157e308},
                                        {".5", 0.5},
                                        {"5.", 5.0},
                                        {"+1", 1.0},
                                        {"1E+05", 1e5},
                                        {"000001", 1.0},
                                        {"9007199254740993", 9007199254740992.0},
                                        {"0.000000000000000000000000000000000000001e39", 1.0},
                                        {"1e0000000000000000001", 10.0}};
    static const char* const bad[]   = {"nan", "NAN", "inf", "-inf", "infinity", "0x10", "1,5", "1.5.2",  "e5", "-",
                                        "+",   ".",   "1e",  "1e+",  "1d5",      "--1",  "1-",  "3.1+e2", ""};
    static const char* const large[] = {"1e400", "-1e309", "1e99999999999999999999"};
    flx_text                 t       = begin("");
    double                   x       = 0.0;
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i)
    {
        assert_int_equal(flx__parse_real(good[i].text, (int64_t)strlen(good[i].text), t.c_locale, &x), 0);
        assert_memory_equal(&x, &good[i].value, sizeof x);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
        assert_int_equal(flx__parse_real(bad[i], (int64_t)strlen(bad[i]), t.c_locale, &x), 1);
    for (size_t i = 0; i < sizeof large / sizeof *large; ++i)
        assert_int_equal(flx__parse_real(large[i], (int64_t)strlen(large[i]), t.c_locale, &x), 2);
    flx__text_end(&t);
}

static void whole_numbers_are_checked(void** state)
{
    (void)state;
    flx_text t = begin("12 -7 99999999999999999999 1.5 3");
    int64_t  v = 0;
    t.item     = 4;
    CHECK_OK(flx__text_integer(&t, "index of face", 0, 20, &v));
    assert_int_equal(v, 12);
    CHECK_FAILS(flx__text_integer(&t, "index of face", 0, 20, &v), FLX_ERR_FORMAT);
    assert_string_equal(flx_context_error(ctx), "f:1: index of face 4: -7 is outside [0, 20]");
    CHECK_FAILS(flx__text_integer(&t, "n", 0, INT64_MAX, &v), FLX_ERR_FORMAT);
    CHECK_FAILS(flx__text_integer(&t, "n", 0, 20, &v), FLX_ERR_FORMAT);
    assert_non_null(strstr(flx_context_error(ctx), "'1.5' is not a whole number"));
    CHECK_OK(flx__text_integer(&t, "n", 3, 3, &v));
    CHECK_FAILS(flx__text_integer(&t, "n", 3, 3, &v), FLX_ERR_FORMAT);
    assert_non_null(strstr(flx_context_error(ctx), "the file ends where n 4 should be"));
    flx__text_end(&t);
}

static void lines_are_counted_whatever_ends_them(void** state)
{
    (void)state;
    flx_text t     = begin("a\nb\r\nc\rd\r\r\ne \\\n f # g\nh");
    t.comment      = '#';
    t.continuation = true;
    static const struct
    {
        const char* word;
        int64_t     line;
    } expected[] = {{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}, {"e", 6}, {"f", 7}, {"h", 8}};
    flx_word word;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i)
    {
        assert_true(flx__text_word(&t, &word));
        assert_true(flx__word_is(word, expected[i].word));
        assert_int_equal(t.line, expected[i].line);
    }
    assert_false(flx__text_word(&t, &word));
    flx__text_end(&t);
}

static void shown_words_are_short_and_valid_utf8(void** state)
{
    (void)state;
    char           shown[FLX_WORD_ROOM];
    char           many[200];
    const flx_word bad = {"a\x01\xFFö\xC3", 6};
    assert_string_equal(flx__word_show(bad, shown), "a??ö?");
    for (int i = 0; i < 200; i += 2) memcpy(many + i, "ö", 2);
    flx__word_show((flx_word){many, 200}, shown);
    assert_int_equal(strlen(shown), 63); // thirty whole letters and three points
    assert_string_equal(shown + 60, "...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MESH_TEST(numbers_equal_strtod_bit_for_bit),
        MESH_TEST(numbers_at_the_edges),
        MESH_TEST(whole_numbers_are_checked),
        MESH_TEST(lines_are_counted_whatever_ends_them),
        MESH_TEST(shown_words_are_short_and_valid_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
