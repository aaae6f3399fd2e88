// Signals. The handlers only take notes; a second Ctrl-C is left to the system's own way.
#include "cli.h"

#include <signal.h>
#include <string.h>

// handlers can reach nothing else
static volatile sig_atomic_t stop_signal   = 0;
static volatile sig_atomic_t status_wanted = 0;

static void on_stop(int number)
{
    stop_signal = number;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static void on_status(int number)
{
    (void)number;
    status_wanted = 1;
}

static void watch(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = handler;
    action.sa_flags   = SA_RESTART;
    sigaction(number, &action, NULL);
}

void cli_signals_watch(void)
{
    watch(SIGINT, on_stop);
    watch(SIGTERM, on_stop);
    watch(SIGUSR1, on_status);
}

int cli_signal_seen(void)
{
    return stop_signal;
}

bool cli_status_wanted(void)
{
    const bool wanted = status_wanted != 0;
    status_wanted     = 0;
    return wanted;
}

void cli_signal_raise(int signal_number)
{
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}
