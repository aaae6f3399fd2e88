// Programs of tools/ run from outside, in a folder of the test's own.
#ifndef FLX_TESTS_PROGRAM_H
#define FLX_TESTS_PROGRAM_H

#include "test.h"

#include <stdarg.h>
#include <sys/wait.h>

static char folder[] = "flexor-tool-XXXXXX"; // removed at the end

static const char* in_folder(const char* name)
{
    static char path[4][256];
    static int  turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

/// The exit code; what the program says goes to `said` in the folder.
__attribute__((format(printf, 2, 3))) static int run_program(const char* program, const char* arguments, ...)
{
    char    command[4096];
    int     used = snprintf(command, sizeof command, "'%s' ", program);
    va_list list;
    va_start(list, arguments);
    used += vsnprintf(command + used, sizeof command - (size_t)used, arguments, list);
    va_end(list);
    snprintf(command + used, sizeof command - (size_t)used, " >/dev/null 2>'%s'", in_folder("said"));
    const int result = system(command);
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

static char* read_all(const char* path, long* bytes)
{
    FILE* f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *bytes = ftell(f);
    rewind(f);
    char* data = calloc((size_t)*bytes + 1, 1);
    assert_int_equal(fread(data, 1, (size_t)*bytes, f), *bytes);
    fclose(f);
    return data;
}

static int make_folder(void** state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

#endif
