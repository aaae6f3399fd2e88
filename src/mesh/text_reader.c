#include "mesh/text_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- begin and end --------------------------------------------------------------------------------

flx_status flx__text_begin(flx_text* t, flx_context* ctx, const char* path, const char* data, int64_t bytes)
{
    *t = (flx_text){.ctx = ctx, .path = path, .begin = data, .at = data, .end = data + bytes, .line = 1};

    const unsigned char* b = (const unsigned char*)data;
    if (bytes >= 2 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF)))
        return flx__text_fail(t, "the file is UTF-16 text, which is not read; save it as UTF-8");
    if (bytes >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF) t->at += 3;

    t->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!t->c_locale) return flx__fail(ctx, FLX_ERR_MEMORY, "%s: no memory for the number reader", path);
    return FLX_OK;
}

void flx__text_end(flx_text* t)
{
    if (t->c_locale) freelocale(t->c_locale);
    t->c_locale = (locale_t)0;
}

flx_status flx__text_refuse_nul(flx_text* t)
{
    const char* nul = memchr(t->at, '\0', (size_t)(t->end - t->at));
    if (!nul) return FLX_OK;
    flx_text here = *t;
    for (flx_text next = here; next.at <= nul; flx__text_skip_line(&next)) here = next;
    return flx__text_fail(&here, "a NUL byte: this is not plain text");
}

// --- words and lines ------------------------------------------------------------------------------

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}
static bool is_newline(char c)
{
    return c == '\n' || c == '\r';
}

static void pass_newline(flx_text* t)
{
    const bool pair = t->at[0] == '\r' && t->at + 1 < t->end && t->at[1] == '\n';
    t->at += pair ? 2 : 1;
    t->line += 1;
}

static bool at_joint(const flx_text* t) // backslash, end of line
{
    return t->continuation && t->at[0] == '\\' && t->at + 1 < t->end && is_newline(t->at[1]);
}

static void pass_blanks(flx_text* t)
{
    while (t->at < t->end)
    {
        if (is_blank(*t->at))
            t->at += 1;
        else if (at_joint(t))
        {
            t->at += 1;
            pass_newline(t);
        }
        else
            break;
    }
    if (t->at < t->end && t->comment && *t->at == t->comment)
        while (t->at < t->end && !is_newline(*t->at)) t->at += 1;
}

bool flx__text_word_on_line(flx_text* t, flx_word* word)
{
    pass_blanks(t);
    word->text = t->at;
    while (t->at < t->end && !is_blank(*t->at) && !is_newline(*t->at) && !at_joint(t)) t->at += 1;
    word->length = t->at - word->text;
    return word->length > 0;
}

bool flx__text_word(flx_text* t, flx_word* word)
{
    while (!flx__text_word_on_line(t, word))
    {
        if (t->at >= t->end) return false;
        pass_newline(t);
    }
    return true;
}

void flx__text_skip_line(flx_text* t)
{
    while (t->at < t->end && !is_newline(*t->at)) t->at += 1;
    if (t->at < t->end) pass_newline(t);
}

void flx__text_skip_statement(flx_text* t)
{
    while (t->at < t->end && !is_newline(*t->at))
    {
        if (at_joint(t))
        {
            t->at += 1;
            pass_newline(t);
        }
        else
            t->at += 1;
    }
    if (t->at < t->end) pass_newline(t);
}

bool flx__text_at_end(const flx_text* t)
{
    return t->at >= t->end;
}

flx_word flx__text_rest_of_line(flx_text* t)
{
    while (t->at < t->end && is_blank(*t->at)) t->at += 1;
    flx_word word = {.text = t->at};
    while (t->at < t->end && !is_newline(*t->at)) t->at += 1;
    const char* last = t->at;
    while (last > word.text && is_blank(last[-1])) --last;
    word.length = last - word.text;
    return word;
}

flx_status flx__text_end_line(flx_text* t, const char* after)
{
    flx_word word;
    char     shown[FLX_WORD_ROOM];
    if (flx__text_word_on_line(t, &word))
        return flx__text_fail(t, "'%s' after %s: the line should end here", flx__word_show(word, shown), after);
    if (t->at < t->end) pass_newline(t);
    return FLX_OK;
}

// --- messages -------------------------------------------------------------------------------------

flx_status flx__text_fail(flx_text* t, const char* format, ...)
{
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return flx__fail(t->ctx, FLX_ERR_FORMAT, "%s:%lld: %s", t->path, (long long)t->line, text);
}

flx_status flx__text_fail_at_byte(flx_text* t, const char* format, ...)
{
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return flx__fail(t->ctx, FLX_ERR_FORMAT, "%s: byte %lld: %s", t->path, (long long)(t->at - t->begin), text);
}

// Bytes of the UTF-8 character at p, 0 when it is none.
static int64_t utf8_bytes(const char* p, int64_t left)
{
    const unsigned char c = (unsigned char)*p;
    const int64_t       n = c < 0x80                ? 1
                            : c >= 0xC2 && c < 0xE0 ? 2
                            : c >= 0xE0 && c < 0xF0 ? 3
                            : c >= 0xF0 && c < 0xF5 ? 4
                                                    : 0;
    if (n == 0 || n > left) return 0;
    for (int64_t i = 1; i < n; ++i)
        if (((unsigned char)p[i] & 0xC0) != 0x80) return 0;
    return n;
}

const char* flx__word_show(flx_word word, char text[FLX_WORD_ROOM])
{
    const int64_t room = FLX_WORD_ROOM - 4; // three points and the NUL
    int64_t       used = 0;
    int64_t       i    = 0;
    while (i < word.length)
    {
        const int64_t bytes = utf8_bytes(word.text + i, word.length - i);
        const int64_t out   = bytes > 0 ? bytes : 1;
        if (used + out > room) break;
        memcpy(text + used, word.text + i, (size_t)out);
        if (bytes == 0 || (unsigned char)text[used] < ' ' || text[used] == 127) text[used] = '?';
        used += out;
        i += out;
    }
    memcpy(text + used, "...", 4);
    if (i == word.length) text[used] = '\0';
    return text;
}

bool flx__word_is(flx_word word, const char* text)
{
    return (int64_t)strlen(text) == word.length && memcmp(word.text, text, (size_t)word.length) == 0;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool flx__word_is_nocase(flx_word word, const char* text)
{
    if ((int64_t)strlen(text) != word.length) return false;
    for (int64_t i = 0; i < word.length; ++i)
        if (lower(word.text[i]) != lower(text[i])) return false;
    return true;
}

// --- numbers --------------------------------------------------------------------------------------

// Up to 15 digits times or over a power of ten that a double holds exactly is one rounding, hence correct [Clinger90];
// everything else goes to strtod in the C locale.
static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

int flx__parse_real(const char* text, int64_t length, locale_t c_locale, double* value)
{
    const char* p        = text;
    const char* end      = text + length;
    const bool  negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;

    uint64_t mantissa = 0;
    int      digits   = 0; // significant ones
    int64_t  scale    = 0;
    bool     any      = false;
    for (bool point = false; p < end; ++p)
    {
        if (*p == '.' && !point)
        {
            point = true;
            continue;
        }
        if (*p < '0' || *p > '9') break;
        any = true;
        if (point) --scale;
        if (digits > 0 || *p != '0') ++digits;
        if (digits <= 18) mantissa = mantissa * 10 + (uint64_t)(*p - '0');
    }
    if (!any) return 1;

    if (p < end && (*p == 'e' || *p == 'E'))
    {
        ++p;
        const bool down = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) ++p;
        if (p >= end) return 1;
        int64_t exponent = 0;
        for (; p < end && *p >= '0' && *p <= '9'; ++p)
            if (exponent < 1000000) exponent = exponent * 10 + (*p - '0');
        scale += down ? -exponent : exponent;
    }
    if (p != end) return 1;

    if (digits <= 15 && scale >= -22 && scale <= 22)
    {
        const double m = (double)mantissa;
        const double r = scale < 0 ? m / powers_of_ten[-scale] : m * powers_of_ten[scale];
        *value         = negative ? -r : r;
        return 0;
    }
    const double r = strtod_l(text, NULL, c_locale); // stops at the blank or NUL behind the word
    if (!(fabs(r) <= 1.7976931348623157e308)) return 2;
    *value = r;
    return 0;
}

// "x of vertex" becomes "x of vertex 12" while an item is being read.
#define WHAT_ROOM 96
static const char* name_item(const flx_text* t, const char* what, char text[WHAT_ROOM])
{
    if (t->item <= 0) return what;
    snprintf(text, WHAT_ROOM, "%s %lld", what, (long long)t->item);
    return text;
}

flx_status flx__word_real(flx_text* t, flx_word word, const char* what, double* value)
{
    char      shown[FLX_WORD_ROOM], named[WHAT_ROOM];
    const int problem = flx__parse_real(word.text, word.length, t->c_locale, value);
    if (problem == 0) return FLX_OK;
    flx__word_show(word, shown);
    what = name_item(t, what, named);
    if (problem == 2) return flx__text_fail(t, "%s: '%s' is too large; at most 1.797e308 is allowed", what, shown);
    if (memchr(word.text, ',', (size_t)word.length))
        return flx__text_fail(t, "%s: '%s' is not a number; the decimal sign is '.', not ','", what, shown);
    return flx__text_fail(t, "%s: '%s' is not a number; a finite decimal number such as -1.5e-3 is wanted", what,
                          shown);
}

flx_status flx__word_integer(flx_text* t, flx_word word, const char* what, int64_t lo, int64_t hi, int64_t* value)
{
    char          shown[FLX_WORD_ROOM], named[WHAT_ROOM];
    const bool    negative = word.length > 0 && word.text[0] == '-';
    int64_t       i        = word.length > 0 && (negative || word.text[0] == '+') ? 1 : 0;
    int64_t       v        = 0;
    bool          large    = false;
    const int64_t first    = i;
    for (; i < word.length && word.text[i] >= '0' && word.text[i] <= '9'; ++i)
    {
        if (v > (INT64_MAX - 9) / 10)
            large = true;
        else
            v = v * 10 + (word.text[i] - '0');
    }
    if (negative) v = -v;
    const bool whole = i > first && i == word.length;
    if (whole && !large && v >= lo && v <= hi)
    {
        *value = v;
        return FLX_OK;
    }
    flx__word_show(word, shown);
    what = name_item(t, what, named);
    if (!whole) return flx__text_fail(t, "%s: '%s' is not a whole number", what, shown);
    if (hi == INT64_MAX) return flx__text_fail(t, "%s: %s is not allowed; at least %lld", what, shown, (long long)lo);
    return flx__text_fail(t, "%s: %s is outside [%lld, %lld]", what, shown, (long long)lo, (long long)hi);
}

static flx_status want_word(flx_text* t, const char* what, flx_word* word)
{
    char named[WHAT_ROOM];
    if (flx__text_word(t, word)) return FLX_OK;
    return flx__text_fail(t, "the file ends where %s should be", name_item(t, what, named));
}

flx_status flx__text_real(flx_text* t, const char* what, double* value)
{
    flx_word         word;
    const flx_status status = want_word(t, what, &word);
    return status == FLX_OK ? flx__word_real(t, word, what, value) : status;
}

flx_status flx__text_integer(flx_text* t, const char* what, int64_t lo, int64_t hi, int64_t* value)
{
    flx_word         word;
    const flx_status status = want_word(t, what, &word);
    return status == FLX_OK ? flx__word_integer(t, word, what, lo, hi, value) : status;
}

flx_status flx__text_check_count(flx_text* t, int64_t count, int64_t bytes_each, const char* what)
{
    const int64_t left = t->end - t->at;
    if (count > INT32_MAX) return flx__text_fail(t, "%lld %s: at most %d are read", (long long)count, what, INT32_MAX);
    if (count > (left + 1) / bytes_each) // the last item needs no separator
        return flx__text_fail(t, "%lld %s are announced, but only %lld bytes are left in the file", (long long)count,
                              what, (long long)left);
    return FLX_OK;
}
