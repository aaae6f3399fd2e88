// One bounded tokenizer for every text format: words, lines, numbers, and messages that name file and line.
//
// Lines end with LF, CRLF or a lone CR. Words may be as long as the file. Numbers are decimal with a point whatever
// setlocale() said; nan, inf, hexadecimal and what overflows a double are refused.
#ifndef FLX_MESH_TEXT_READER_H
#define FLX_MESH_TEXT_READER_H

#include "base/base.h"

#include <locale.h>

typedef struct flx_text
{
    flx_context* ctx;
    const char*  path;
    const char*  begin;
    const char*  at;
    const char*  end;          // *end is readable and NUL
    int64_t      line;         // of `at`, 1-based; right after a word was read: the word's line
    char         comment;      // a word that starts with it ends the line; '\0': none
    bool         continuation; // a backslash before the end of a line joins it with the next (OBJ)
    int64_t      item;         // number of the vertex or element being read, for messages; 0: none
    locale_t     c_locale;
} flx_text;

typedef struct flx_word // not NUL-terminated
{
    const char* text;
    int64_t     length;
} flx_word;

/// Begin at the first byte after a UTF-8 byte order mark. data [bytes + 1] with data[bytes] == NUL stays the caller's.
/// FLX_ERR_FORMAT for UTF-16.
flx_status flx__text_begin(flx_text* t, flx_context* ctx, const char* path, const char* data, int64_t bytes);
void       flx__text_end(flx_text* t);

/// FLX_ERR_FORMAT naming the line of the first NUL byte: this is not text.
flx_status flx__text_refuse_nul(flx_text* t);

bool flx__text_word(flx_text* t, flx_word* word);         ///< the next word, on whatever line; false at the end
bool flx__text_word_on_line(flx_text* t, flx_word* word); ///< the next word on this line; false at its end
void flx__text_skip_line(flx_text* t);                    ///< to the start of the next line
void flx__text_skip_statement(flx_text* t);               ///< the same, continued lines included
bool flx__text_at_end(const flx_text* t);
/// The rest of the line without blanks around it (a name may hold blanks); the line end is left.
flx_word flx__text_rest_of_line(flx_text* t);
/// FLX_ERR_FORMAT when this line holds another word; else on to the next line. `after` names what went before.
flx_status flx__text_end_line(flx_text* t, const char* after);

/// `path:line: ...` and FLX_ERR_FORMAT.
FLX_PRINTF(2, 3) flx_status flx__text_fail(flx_text* t, const char* format, ...);
/// `path: byte N: ...` and FLX_ERR_FORMAT, for binary parts.
FLX_PRINTF(2, 3) flx_status flx__text_fail_at_byte(flx_text* t, const char* format, ...);

/// A word made safe for messages: control bytes as '?', long ones cut. `room` is what it needs; returns `text`.
#define FLX_WORD_ROOM 64
const char* flx__word_show(flx_word word, char text[FLX_WORD_ROOM]);
bool        flx__word_is(flx_word word, const char* text);        ///< exactly
bool        flx__word_is_nocase(flx_word word, const char* text); ///< ASCII letters of either case

/// Numbers. `what` names the value in messages ("x of vertex"). Each fails with file, line, word and what is allowed.
flx_status flx__word_real(flx_text* t, flx_word word, const char* what, double* value);
flx_status flx__word_integer(flx_text* t, flx_word word, const char* what, int64_t lo, int64_t hi, int64_t* value);
/// The same for the next word on any line; a missing word says that the file ends.
flx_status flx__text_real(flx_text* t, const char* what, double* value);
flx_status flx__text_integer(flx_text* t, const char* what, int64_t lo, int64_t hi, int64_t* value);

/// Refuse a count that the rest of the file cannot hold when each item takes at least `bytes_each`. Call it before
/// anything is allocated. Also refuses more than 2^31 - 1.
flx_status flx__text_check_count(flx_text* t, int64_t count, int64_t bytes_each, const char* what);

/// As flx__word_real without a message: 0, or 1 (not a number), 2 (too large).
int flx__parse_real(const char* text, int64_t length, locale_t c_locale, double* value);

#endif
