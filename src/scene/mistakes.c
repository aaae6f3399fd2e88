// The text a person reads when a scene is wrong. One mistake is three lines:
//
//   scenes/elbow.yaml:5:16: error: unknown key 'tet' in bodies[0].lattice; did you mean 'tets'?
//       5 |     lattice: {tet: 640 k}
//         |               ^~~
#include "scene/mistakes.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 400
#define SNIPPET_CHARACTERS 100 // of a source line that are shown
#define REPORT_BYTES 8192      // what the context keeps of an error text
#define REPORT_TAIL 64         // room for "... and N more"

typedef struct mistake
{
    flx__place at;
    int32_t    sequence; // ties are shown in the order they were found
    char       text[MESSAGE_BYTES];
} mistake;

struct flx__mistakes
{
    int64_t count;
    int64_t out_of_range;
    int32_t kept;
    mistake item[FLX__MISTAKES_SHOWN];
};

flx__mistakes* flx__mistakes_create(flx__arena* arena)
{
    return flx__arena_take(arena, 1, sizeof(flx__mistakes));
}
int64_t flx__mistakes_count(const flx__mistakes* mistakes)
{
    return mistakes->count;
}

// --- text that is safe to print -------------------------------------------------------------------------

/// Bytes of the UTF-8 character at p, or 0 when it is not one.
static size_t character_bytes(const char* p, const char* end)
{
    const unsigned char c    = (unsigned char)*p;
    const size_t        size = c < 0x80                ? 1
                               : c >= 0xC2 && c < 0xE0 ? 2
                               : c >= 0xE0 && c < 0xF0 ? 3
                               : c >= 0xF0 && c < 0xF5 ? 4
                                                       : 0;
    if (size == 0 || (size_t)(end - p) < size) return 0;
    for (size_t i = 1; i < size; ++i)
        if (((unsigned char)p[i] & 0xC0) != 0x80) return 0;
    return size;
}

/// Control characters and broken UTF-8 would disturb a terminal; they become '?'. Tabs become one blank.
static void make_printable(char* text)
{
    const char* end = text + strlen(text);
    for (char* p = text; p < end;)
    {
        const size_t size = character_bytes(p, end);
        if (size == 0 || (unsigned char)*p < 0x20 || *p == 0x7F)
        {
            *p = *p == '\t' || *p == '\n' ? ' ' : '?';
            ++p;
        }
        else
            p += size;
    }
}

// --- collecting -----------------------------------------------------------------------------------------

static void add(flx__mistakes* mistakes, flx__place at, const char* format, va_list args)
{
    mistakes->count += 1;
    if (mistakes->kept == FLX__MISTAKES_SHOWN) return;
    mistake* m            = &mistakes->item[mistakes->kept];
    m->at                 = at;
    m->sequence           = mistakes->kept++;
    const locale_t c      = newlocale(LC_ALL_MASK, "C", (locale_t)0); // numbers read the same everywhere
    const locale_t before = c ? uselocale(c) : (locale_t)0;
    vsnprintf(m->text, sizeof m->text, format, args);
    if (c)
    {
        uselocale(before);
        freelocale(c);
    }
    make_printable(m->text);
}

void flx__mistake(flx__mistakes* mistakes, flx__place at, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    add(mistakes, at, format, args);
    va_end(args);
}

void flx__mistake_range(flx__mistakes* mistakes, flx__place at, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    add(mistakes, at, format, args);
    va_end(args);
    mistakes->out_of_range += 1;
}

// --- reporting ------------------------------------------------------------------------------------------

static int by_place(const void* left, const void* right)
{
    const mistake* a       = left;
    const mistake* b       = right;
    const int32_t  order_a = a->at.source ? a->at.source->order : -1;
    const int32_t  order_b = b->at.source ? b->at.source->order : -1;
    if (order_a != order_b) return order_a < order_b ? -1 : 1;
    if (a->at.line != b->at.line) return a->at.line < b->at.line ? -1 : 1;
    if (a->at.column != b->at.column) return a->at.column < b->at.column ? -1 : 1;
    return a->sequence < b->sequence ? -1 : 1;
}

static const char* find_line(const flx__source* source, int32_t line, size_t* length)
{
    const char* p   = source->text;
    const char* end = source->text + source->length;
    for (int32_t i = 1; i < line && p < end; ++p)
        if (*p == '\n' || (*p == '\r' && !(p + 1 < end && p[1] == '\n'))) ++i;
    const char* stop = p;
    while (stop < end && *stop != '\n' && *stop != '\r') ++stop;
    *length = (size_t)(stop - p);
    return p;
}

/// Copies characters [first, first + SNIPPET_CHARACTERS) of a line; returns how many characters were copied.
static int32_t copy_snippet(const char* line, size_t length, int32_t first, char* out, size_t capacity)
{
    const char* end     = line + length;
    int32_t     index   = 0;
    int32_t     copied  = 0;
    size_t      written = 0;
    for (const char* p = line; p < end && copied < SNIPPET_CHARACTERS; ++index)
    {
        const size_t size  = character_bytes(p, end);
        const size_t bytes = size ? size : 1;
        if (index >= first)
        {
            if (written + bytes + 1 > capacity) break;
            memcpy(out + written, p, bytes);
            written += bytes;
            ++copied;
        }
        p += bytes;
    }
    out[written] = '\0';
    make_printable(out);
    return copied;
}

/// The source line and the caret below it; a long line is shown from a little before the place.
static void write_snippet(const flx__place* at, char* out, size_t capacity)
{
    size_t        length = 0;
    const char*   line   = find_line(at->source, at->line, &length);
    const int32_t column = at->column > 0 ? at->column - 1 : 0;
    const int32_t first  = column > SNIPPET_CHARACTERS - 20 ? column - 40 : 0;
    const int32_t dots   = first > 0 ? 3 : 0; // "..." for what is left out in front
    char          text[4 * SNIPPET_CHARACTERS + 1];
    const int32_t copied = copy_snippet(line, length, first, text, sizeof text);
    const int32_t shown  = column - first;

    char    caret[2 * SNIPPET_CHARACTERS + 8];
    int32_t width = at->width > 1 ? at->width : 1;
    if (shown + width > copied) width = copied > shown ? copied - shown : 1;
    if (width > SNIPPET_CHARACTERS) width = SNIPPET_CHARACTERS;
    const int32_t indent = shown + dots;
    memset(caret, ' ', (size_t)indent);
    caret[indent] = '^';
    memset(caret + indent + 1, '~', (size_t)(width - 1));
    caret[indent + width] = '\0';

    char margin[16] = "     ";
    if (!at->source->is_override) snprintf(margin, sizeof margin, "%5d", at->line);
    snprintf(out, capacity, "%s | %s%s\n%*s | %s\n", margin, dots > 0 ? "..." : "", text, (int)strlen(margin), "",
             caret);
}

static void write_mistake(const mistake* m, char* out, size_t capacity)
{
    const flx__source* source = m->at.source;
    if (!source)
        snprintf(out, capacity, "error: %s\n", m->text);
    else if (m->at.line <= 0)
        snprintf(out, capacity, "%.300s: error: %s\n", source->name, m->text);
    else
    {
        int head = 0;
        if (source->is_override)
            head = snprintf(out, capacity, "%.300s: error: %s\n", source->name, m->text);
        else
            head =
                snprintf(out, capacity, "%.300s:%d:%d: error: %s\n", source->name, m->at.line, m->at.column, m->text);
        if (head > 0 && (size_t)head < capacity) write_snippet(&m->at, out + head, capacity - (size_t)head);
    }
}

flx_status flx__mistakes_report(flx_context* ctx, flx__mistakes* mistakes)
{
    if (mistakes->count == 0) return FLX_OK;
    qsort(mistakes->item, (size_t)mistakes->kept, sizeof mistakes->item[0], by_place);

    char    text[REPORT_BYTES];
    size_t  used  = 0;
    int64_t shown = 0;
    text[0]       = '\0';
    for (; shown < mistakes->kept; ++shown)
    {
        char one[2048];
        write_mistake(&mistakes->item[shown], one, sizeof one);
        const size_t length = strlen(one);
        if (used + length + REPORT_TAIL > sizeof text) break;
        memcpy(text + used, one, length + 1);
        used += length;
    }
    if (shown < mistakes->count)
        snprintf(text + used, sizeof text - used, "... and %lld more\n", (long long)(mistakes->count - shown));
    else if (used > 0)
        text[used - 1] = '\0'; // the last line ends without a newline, as other error texts do
    if (used > 0 && text[strlen(text) - 1] == '\n') text[strlen(text) - 1] = '\0';

    const bool only_ranges = mistakes->out_of_range == mistakes->count;
    return flx__fail(ctx, only_ranges ? FLX_ERR_SETTING : FLX_ERR_SCENE, "%s", text);
}

// --- did you mean ---------------------------------------------------------------------------------------

#define GUESS_LENGTH 48

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/// Edits from a to b: insert, delete, replace, swap two neighbours (each once), upper and lower case alike.
static int32_t edit_distance(const char* a, const char* b)
{
    const int32_t n = (int32_t)strlen(a);
    const int32_t m = (int32_t)strlen(b);
    if (n > GUESS_LENGTH || m > GUESS_LENGTH) return INT32_MAX;
    int32_t row[3][GUESS_LENGTH + 1]; // rows i-2, i-1, i, by i modulo 3
    for (int32_t j = 0; j <= m; ++j) row[0][j] = j;
    for (int32_t i = 1; i <= n; ++i)
    {
        int32_t*       now    = row[i % 3];
        const int32_t* before = row[(i + 2) % 3];
        const int32_t* older  = row[(i + 1) % 3];
        now[0]                = i;
        for (int32_t j = 1; j <= m; ++j)
        {
            const int32_t replace = before[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            now[j]                = least(replace, least(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = least(now[j], older[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

flx__guess flx__guess_start(const char* word)
{
    return (flx__guess){.word = word, .distance = INT32_MAX};
}

void flx__guess_offer(flx__guess* guess, const char* candidate)
{
    const int32_t length   = (int32_t)strlen(guess->word);
    const int32_t allowed  = length < 6 ? (length < 3 ? 1 : 2) : length / 3;
    int32_t       distance = edit_distance(guess->word, candidate);
    if (length >= 3 && distance > allowed && strncmp(guess->word, candidate, (size_t)length) == 0)
        distance = allowed; // an abbreviation: 'fore' for 'forearm'
    if (distance > allowed || distance >= guess->distance) return;
    if (distance >= (int32_t)strlen(candidate)) return; // nothing in common
    guess->best     = candidate;
    guess->distance = distance;
}
