// JSON, written by hand: one event a line, or one indented object.
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

json json_memory(bool pretty)
{
    json j = {.pretty = pretty};
    return j;
}

static void put(json* j, const char* text, size_t bytes)
{
    if (j->bytes + bytes + 1 > j->capacity)
    {
        j->capacity = 2 * j->capacity + bytes + 256;
        j->text     = realloc(j->text, j->capacity);
        if (!j->text) abort(); // a program without a kilobyte of memory has nothing left to say
    }
    memcpy(j->text + j->bytes, text, bytes);
    j->bytes += bytes;
    j->text[j->bytes] = 0;
}

static void put_text(json* j, const char* text)
{
    put(j, text, strlen(text));
}

static void put_string(json* j, const char* s)
{
    put(j, "\"", 1);
    for (; *s; ++s)
    {
        const unsigned char ch = (unsigned char)*s;
        char                escape[8];
        if (ch == '"' || ch == '\\')
            snprintf(escape, sizeof escape, "\\%c", ch);
        else if (ch == '\n')
            snprintf(escape, sizeof escape, "\\n");
        else if (ch < 0x20)
            snprintf(escape, sizeof escape, "\\u%04x", ch);
        else
            snprintf(escape, sizeof escape, "%c", ch);
        put_text(j, escape);
    }
    put(j, "\"", 1);
}

static void new_line(json* j)
{
    char blanks[64];
    snprintf(blanks, sizeof blanks, "\n%*s", 2 * j->depth < 60 ? 2 * j->depth : 60, "");
    put_text(j, blanks);
}

static void place(json* j, const char* key)
{
    if (j->comma) put(j, ",", 1);
    if (j->pretty && j->depth > 0) new_line(j);
    if (key)
    {
        put_string(j, key);
        put_text(j, j->pretty ? ": " : ":");
    }
    j->comma = true;
}

void json_open(json* j, const char* key, char bracket)
{
    place(j, key);
    put(j, &bracket, 1);
    ++j->depth;
    j->comma = false;
}

void json_close(json* j, char bracket)
{
    --j->depth;
    if (j->pretty && j->comma) new_line(j);
    put(j, &bracket, 1);
    j->comma = true;
}

void json_text(json* j, const char* key, const char* value)
{
    place(j, key);
    if (value)
        put_string(j, value);
    else
        put_text(j, "null");
}

void json_real(json* j, const char* key, double value)
{
    char number[32];
    snprintf(number, sizeof number, isfinite(value) ? "%.15g" : "null", value);
    if (isfinite(value) && strtod(number, NULL) != value) snprintf(number, sizeof number, "%.17g", value);
    place(j, key);
    put_text(j, number);
}

void json_integer(json* j, const char* key, int64_t value)
{
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)value);
    place(j, key);
    put_text(j, number);
}

void json_bool(json* j, const char* key, bool value)
{
    place(j, key);
    put_text(j, value ? "true" : "false");
}

char* json_end(json* j)
{
    put(j, "\n", 1);
    return j->text;
}

json json_event(const char* event)
{
    json j = json_memory(false);
    json_open(&j, NULL, '{');
    json_text(&j, "schema", "flexor.run/1");
    json_text(&j, "event", event);
    return j;
}

void json_send(cli* c, json* j)
{
    json_close(j, '}');
    char* text = json_end(j);
    print_data(c, text);
    free(text);
}

bool print_data(cli* c, const char* text)
{
    if (c->stdout_gone) return false;
    if (fputs(text, stdout) != EOF && fflush(stdout) == 0) return true;
    const int why  = errno;
    c->stdout_gone = true;
    if (why == EPIPE) return false;
    c->stdout_failed = true;
    cli_error(c, CODE_INTERNAL, "standard output: %s", strerror(why));
    return false;
}
