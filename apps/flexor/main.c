// flexor: the command line. This file finds the verb; each verb has its own file.
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const cli_verb* const cli_verbs[] = {&cli_run,    &cli_check, &cli_mesh,  &cli_render, &cli_export, &cli_info,
                                     &cli_schema, &cli_bench, &cli_study, &cli_reduce, NULL};

#define FORM_WIDTH 34 // columns; longer forms have a line of their own

static void print_overview(FILE* out)
{
    fprintf(out, "flexor %s: Projective Dynamics\n\n  flexor SCENE                      the same as flexor run SCENE\n",
            flx_version());
    for (int i = 0; cli_verbs[i]; ++i)
    {
        char*      form = text_of("flexor %s %s", cli_verbs[i]->name, cli_verbs[i]->operands);
        const bool fits = strlen(form) < FORM_WIDTH;
        fprintf(out, "  %-*s%s", FORM_WIDTH, form, fits ? "" : "\n");
        fprintf(out, "%*s%s\n", fits ? 0 : FORM_WIDTH + 2, "", cli_verbs[i]->summary);
        free(form);
    }
    fprintf(out, "\n  flexor VERB --help                options of a verb\n  flexor --version\n"
                 "  flexor --completion               for bash: eval \"$(flexor --completion)\"\n");
}

static const cli_verb* verb_named(const char* name)
{
    for (int i = 0; cli_verbs[i]; ++i)
        if (strcmp(cli_verbs[i]->name, name) == 0) return cli_verbs[i];
    return NULL;
}

static int unknown_verb(cli* c, const char* word)
{
    const char* names[16];
    int         n = 0;
    for (; cli_verbs[n] && n < 15; ++n) names[n] = cli_verbs[n]->name;
    names[n]         = NULL;
    const char* near = cli_nearest(word, names);
    if (near)
        cli_error(c, CODE_USAGE, "'%s' is neither a verb nor a scene; did you mean '%s'?", word, near);
    else
        cli_error(c, CODE_USAGE, "'%s' is neither a verb nor a scene; flexor --help lists the verbs", word);
    return CODE_USAGE;
}

/// NO_COLOR wins over auto, --color over NO_COLOR; CI and files get lines instead of a bar.
static void choose_looks(cli* c)
{
    const char* color    = cli_text(c, "color", "auto");
    const char* progress = cli_text(c, "progress", "auto");
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM"), *ci = getenv("CI");
    const bool  terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;

    c->quiet = cli_flag(c, "quiet");
    c->json  = cli_flag(c, "json");
    for (int i = 0; i < c->found_count; ++i) c->verbose += strcmp(c->found[i].name, "verbose") == 0;
    c->color = strcmp(color, "always") == 0 || (strcmp(color, "auto") == 0 && terminal && !(no_color && *no_color));
    if (strcmp(progress, "bar") == 0)
        c->progress = CLI_PROGRESS_BAR;
    else if (strcmp(progress, "lines") == 0)
        c->progress = CLI_PROGRESS_LINES;
    else if (strcmp(progress, "none") == 0 || c->quiet)
        c->progress = CLI_PROGRESS_NONE;
    else
        c->progress = terminal && !(ci && *ci) ? CLI_PROGRESS_BAR : CLI_PROGRESS_LINES;
}

static int print_version(cli* c)
{
    char* text = text_of("flexor %s (%s)\n", flx_version(), FLX_CLI_COMPILER);
    print_data(c, text);
    free(text);
    return CODE_FINE;
}

int main(int argc, char** argv)
{
    cli c = {.program = argv[0], .argc = argc, .argv = argv, .started = cli_now(), .verb = &cli_run};
    signal(SIGPIPE, SIG_IGN); // a reader that goes away is a clean end

    if (argc < 2)
    {
        print_overview(stderr);
        return CODE_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
    {
        print_overview(stdout);
        return CODE_FINE;
    }
    if (strcmp(argv[1], "--version") == 0) return print_version(&c);
    if (strcmp(argv[1], "--completion") == 0)
    {
        cli_completion(stdout);
        return CODE_FINE;
    }

    const cli_verb* verb = verb_named(argv[1]);
    const bool      bare = !verb; // flexor SCENE
    if (bare)
    {
        struct stat info;
        if (argv[1][0] != '-' && !is_scene_path(argv[1]) && stat(argv[1], &info) != 0) return unknown_verb(&c, argv[1]);
        verb = &cli_run;
    }
    int code = cli_parse(&c, verb, bare ? argc : argc - 1, bare ? argv : argv + 1);
    if (code < 0)
    {
        choose_looks(&c);
        code = verb->run(&c);
        cli_clear_bar(&c);
        flx_context_destroy(c.ctx);
    }
    // what printf could not write: a reader that went away is fine, a full disk is not
    if ((fflush(stdout) != 0 || ferror(stdout)) && errno != EPIPE && !c.stdout_gone)
    {
        cli_error(&c, CODE_INTERNAL, "standard output: %s", strerror(errno));
        c.stdout_failed = true;
    }
    if (c.stdout_failed && code == CODE_FINE) code = CODE_INTERNAL;
    free(c.found);
    free(c.operand);
    return code;
}
