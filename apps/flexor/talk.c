// stderr: errors, notes, progress.
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_clear_bar(cli* c)
{
    if (c->bar_shown) fputs("\r\033[K", stderr);
    c->bar_shown = false;
}

static void say_colored(cli* c, const char* color, const char* word, const char* text)
{
    cli_clear_bar(c);
    if (c->color)
        fprintf(stderr, "flexor: \033[%sm%s:\033[0m %s\n", color, word, text);
    else
        fprintf(stderr, "flexor: %s: %s\n", word, text);
}

void cli_error(cli* c, int code, const char* format, ...)
{
    static char text[9000];
    va_list     args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);

    if (strchr(text, '\n')) // a scene's mistakes come with place, line and caret: nothing to add
    {
        cli_clear_bar(c);
        fprintf(stderr, "%s%s", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
    }
    else
        say_colored(c, "1;31", "error", text);
    if (c->json)
    {
        json j = json_event("error");
        json_integer(&j, "exit", code);
        json_text(&j, "message", text);
        json_send(c, &j);
    }
}

void cli_say(cli* c, const char* format, ...)
{
    if (c->quiet) return;
    va_list args;
    va_start(args, format);
    cli_clear_bar(c);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void cli_log(void* user, flx_log_level level, const char* text)
{
    static const char* const words[]  = {"error", "warning", "note", "info", "debug"};
    static const char* const colors[] = {"1;31", "1;35", "1;36", "2", "2"};
    cli*                     c        = user;
    const flx_log_level      most     = c->quiet          ? FLX_LOG_ERROR
                                        : c->verbose == 0 ? FLX_LOG_NOTICE
                                        : c->verbose == 1 ? FLX_LOG_INFO
                                                          : FLX_LOG_DEBUG;
    if (level <= most) say_colored(c, colors[level], words[level], text);
}

// --- progress ---------------------------------------------------------------------------------------------------

#define BAR_WIDTH 28
#define BAR_DELAY 0.5    // s before a bar shows: short work needs none
#define BAR_PERIOD 0.1   // s between two drawings
#define LINE_PERIOD 10.0 // s between two lines, or a tenth of the way

static void draw_bar(cli* c, const char* what, double done, const char* rest)
{
    char      bar[BAR_WIDTH + 1];
    const int full = (int)(done * BAR_WIDTH + 0.5);
    for (int i = 0; i < BAR_WIDTH; ++i) bar[i] = i < full ? '=' : i == full ? '>' : ' ';
    bar[BAR_WIDTH] = 0;
    fprintf(stderr, "\r\033[K%-24s [%s] %3.0f %%  %s", what, bar, 100 * done, rest);
    fflush(stderr);
    c->bar_shown = true;
}

static void show(cli* c, const char* what, double done, bool begins, const char* rest)
{
    const double now = cli_now();
    done             = done > 0 ? done < 1 ? done : 1 : 0;
    if (c->progress == CLI_PROGRESS_BAR)
    {
        if (now - c->started < BAR_DELAY || now - c->bar_time < BAR_PERIOD) return;
        c->bar_time = now;
        draw_bar(c, what, done, rest);
    }
    else if (c->progress == CLI_PROGRESS_LINES)
    {
        if (!begins && now - c->line_time < LINE_PERIOD && done - c->line_done < 0.1) return;
        c->line_time = now;
        c->line_done = done;
        fprintf(stderr, "%s%s%.0f %%%s%s\n", what, *what ? ": " : "", 100 * done, *rest ? "  " : "", rest);
    }
}

bool cli_setup_progress(void* user, const char* what, double done)
{
    cli*         c      = user;
    const double now    = cli_now();
    const bool   begins = c->phase_count == 0 || strcmp(c->phase[c->phase_count - 1], what) != 0;
    if (begins)
    {
        cli_setup_end(c);
        if (c->phase_count < CLI_PHASES)
        {
            snprintf(c->phase[c->phase_count], sizeof c->phase[0], "%s", what);
            c->phase_seconds[c->phase_count++] = 0;
            c->phase_since                     = now;
        }
        c->line_done = 0;
        if (c->json && !c->quiet)
        {
            json j = json_event("progress");
            json_text(&j, "phase", what);
            json_real(&j, "done", done);
            json_send(c, &j);
        }
    }
    // lines: a phase that is over at once needs none
    if (c->progress == CLI_PROGRESS_LINES && begins)
        c->line_time = now;
    else
        show(c, what, done, false, "");
    return cli_signal_seen() == 0 && !c->stdout_gone;
}

void cli_setup_end(cli* c)
{
    if (c->phase_since > 0 && c->phase_count > 0) c->phase_seconds[c->phase_count - 1] += cli_now() - c->phase_since;
    c->phase_since = 0;
}

void cli_frame_progress(cli* c, int32_t frame, int32_t frames, int32_t first, double since, double ms_step)
{
    const int32_t done = frame - first, all = frames - first;
    const double  used = cli_now() - since, left = done > 0 ? used / done * (all - done) : 0;
    char          rest[96];
    snprintf(rest, sizeof rest, "frame %d/%d  %.0f ms/step  ETA %d:%02d", frame, frames, ms_step, (int)left / 60,
             (int)left % 60);
    show(c, "", all > 0 ? (double)done / all : 1, false, rest);
}

void cli_share_progress(cli* c, const char* what, double done)
{
    const double used = cli_now() - c->started, left = done > 0 ? used / done * (1 - done) : 0;
    char         rest[32];
    snprintf(rest, sizeof rest, "ETA %d:%02d", (int)left / 60, (int)left % 60);
    show(c, what, done, false, done > 0 ? rest : "");
}

void format_bytes(char text[32], double bytes)
{
    const char* const units[] = {"B", "KB", "MB", "GB", "TB"};
    int               u       = 0;
    while (bytes >= 1000 && u < 4)
    {
        bytes /= 1000;
        ++u;
    }
    snprintf(text, 32, bytes < 10 && u > 0 ? "%.1f %s" : "%.0f %s", bytes, units[u]);
}
