// What the verbs share: options, talk, JSON, the context.
//
// stdout is data, stderr is talk. Exit codes: 0 fine, 1 internal or i/o, 2 usage, 3 bad scene or mesh, 4 diverged,
// 5 a check failed, 130 and 143 by signal.
#ifndef FLEXOR_CLI_H
#define FLEXOR_CLI_H

#include "flexor/flexor.h"

#include <stdio.h>

enum
{
    CODE_FINE     = 0,
    CODE_INTERNAL = 1,
    CODE_USAGE    = 2,
    CODE_SCENE    = 3,
    CODE_DIVERGED = 4,
    CODE_CHECK    = 5
};

// --- options ------------------------------------------------------------------------------------------------

/// One line of an option table: getopt_long, --help and completion are all made from it.
typedef struct cli_option
{
    char        letter;   // 0 = long form only
    const char* name;     // NULL ends a table
    const char* argument; // NULL = a flag; "A|B" offers words
    const char* help;
} cli_option;

typedef struct cli cli;

typedef struct cli_verb
{
    const char*       name;
    const char*       operands; // as help shows them
    const char*       summary;
    const char*       details;
    const cli_option* options;
    int               operands_min, operands_max;
    int (*run)(cli* c);
} cli_verb;

extern const cli_verb* const cli_verbs[]; // NULL at the end
extern const cli_option      cli_common[];

/// Scene verbs add these.
#define CLI_SCENE_OPTIONS                                                                                              \
    {'s', "set", "KEY=VALUE",                                                                                          \
     "override a setting: outer=3, run.frames=10, bodies[0].material.young=50kPa; repeatable"},                        \
    {                                                                                                                  \
        0, "data", "DIR", "folder that the scene's `data:` paths are relative to"                                      \
    }

/// Verbs that set a scene up and may find an earlier setup's results add this one.
#define CLI_CACHE_OPTION                                                                                               \
    {                                                                                                                  \
        0, "no-cache", NULL, "neither use nor keep elimination orders and factors on disk (~/.cache/flexor)"           \
    }

typedef struct cli_found
{
    const char* name;
    const char* value; // NULL for a flag
} cli_found;

typedef enum cli_progress_kind
{
    CLI_PROGRESS_NONE,
    CLI_PROGRESS_LINES,
    CLI_PROGRESS_BAR
} cli_progress_kind;

#define CLI_PHASES 48

struct cli
{
    const char*     program; // as typed
    const cli_verb* verb;
    int             argc;
    char**          argv;
    cli_found*      found;
    int             found_count;
    char**          operand;
    int             operand_count;

    bool              json, quiet, color;
    int               verbose;
    cli_progress_kind progress;

    flx_context* ctx;

    // talk
    bool   bar_shown;
    double started, bar_time, line_time;
    double line_done;

    // phases of the setup, timed by their progress calls
    int    phase_count;
    char   phase[CLI_PHASES][48];
    double phase_seconds[CLI_PHASES];
    double phase_since;

    bool stdout_gone;   // nothing more can be written: the reader went away, a clean end, or
    bool stdout_failed; // the disk is full or the like, an error
};

/// Fills `c`. Returns -1 to go on, else an exit code (help was asked for, or usage was wrong).
int         cli_parse(cli* c, const cli_verb* verb, int argc, char** argv);
void        cli_help(const cli* c, const cli_verb* verb, FILE* out);
void        cli_completion(FILE* out);
bool        cli_flag(const cli* c, const char* name);
const char* cli_text(const cli* c, const char* name, const char* otherwise); // the last one given
/// Numbers in [low, high]; false after having said what is wrong.
bool cli_integer(cli* c, const char* name, int32_t low, int32_t high, int32_t* value);
bool cli_real(cli* c, const char* name, double low, double high, double* value);
/// "0,22,44" with an optional count limit; false after having said what is wrong. values are malloc'ed.
bool cli_integers(cli* c, const char* name, const char* text, int32_t** values, int32_t* count);
bool cli_triple(const char* text, double out[3]);
bool parse_real(const char* text, double* out);
/// The word of `name` that is nearest to `word`, or NULL when none is near.
const char* cli_nearest(const char* word, const char* const* names);

// --- context, scene, files --------------------------------------------------------------------------------------

/// Creates c->ctx by --threads, --isa and --no-cache; -1 to go on, else an exit code after having said why.
int cli_context(cli* c);
/// The same for given values; without a cache.
int   cli_context_as(cli* c, int32_t workers, const char* isa, flx_context** out);
int   cli_scene(cli* c, const char* path, flx_scene** out); // by --set and --data
int   cli_fail(cli* c, flx_status status);                  // says the context's error, returns the exit code
int   cli_code(flx_status status);
bool  is_scene_path(const char* path);
char* stem_of(const char* path, const char* const* endings); // malloc'ed copy without a known ending
bool  cli_taken(cli* c, const char* path); // a file is there and --force is not given: said, before work is done for it
bool  make_parent_folders(cli* c, const char* path);
char* text_of(const char* format, ...) FLX_PRINTF(1, 2); // malloc'ed
void  print_shell_word(FILE* out, const char* word);

// --- talk ---------------------------------------------------------------------------------------------------

double cli_now(void); // s
void   cli_error(cli* c, int code, const char* format, ...) FLX_PRINTF(3, 4);
void   cli_say(cli* c, const char* format, ...) FLX_PRINTF(2, 3); // a line on stderr unless -q
void   cli_log(void* user, flx_log_level level, const char* text);
void   cli_clear_bar(cli* c);
/// For flx_model_compile and flx_solver_create: bar or lines, and the phases' times.
bool cli_setup_progress(void* user, const char* what, double done);
void cli_setup_end(cli* c);
void cli_frame_progress(cli* c, int32_t frame, int32_t frames, int32_t first, double since, double ms_step);
/// One task whose share of the whole is known, with an ETA.
void cli_share_progress(cli* c, const char* what, double done);
void format_bytes(char text[32], double bytes);

// --- signals ------------------------------------------------------------------------------------------------

void cli_signals_watch(void); // first SIGINT or SIGTERM is noted, the second ends the program
int  cli_signal_seen(void);   // 0 = none
void cli_signal_raise(int signal_number);
bool cli_status_wanted(void); // SIGUSR1 came; resets

// --- JSON ---------------------------------------------------------------------------------------------------

typedef struct json
{
    char*  text;
    size_t bytes, capacity;
    int    depth;
    bool   pretty, comma;
} json;

json json_memory(bool pretty);
void json_open(json* j, const char* key, char bracket); // '{' or '['; key NULL inside arrays and at the top
void json_close(json* j, char bracket);
void json_text(json* j, const char* key, const char* value); // NULL gives null
void json_real(json* j, const char* key, double value);      // not finite gives null
void json_integer(json* j, const char* key, int64_t value);
void json_bool(json* j, const char* key, bool value);
/// Ends the text with a newline; the caller frees it.
char* json_end(json* j);
/// `{"schema":"flexor.run/1","event":...` left open for more.
json json_event(const char* event);
void json_send(cli* c, json* j);           // closes the object and prints the line
bool print_data(cli* c, const char* text); // to stdout; false when the reader is gone or the disk is full

// --- verbs --------------------------------------------------------------------------------------------------

extern const cli_verb cli_run, cli_check, cli_mesh, cli_render, cli_export, cli_info, cli_schema, cli_bench, cli_study,
    cli_reduce;

#endif
