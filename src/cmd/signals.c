/* signals.c - what is left behind when the program is interrupted: no half-written file, and no line of progress. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "cmd.h"

static const char *volatile temporary; /* the file that is being written, or NULL */

/* Those that end a program from outside, or for what it takes: time of the processor, sizes of files. */
static const int watched[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGXCPU, SIGXFSZ};

enum {
    WATCHED = sizeof watched / sizeof *watched
};

/* Cleans up, and ends the program by the signal itself, so that a shell sees what it was (130 for SIGINT). */
static void end(int which) {
    const char *path = temporary;
    if (path)
        unlink(path);
    progress_wipe();
    signal(which, SIG_DFL);
    raise(which);
}

void signals_watch(void) {
    struct sigaction now, then = {.sa_handler = end};
    sigemptyset(&then.sa_mask);
    for (int i = 0; i < WATCHED; i++)
        sigaddset(&then.sa_mask, watched[i]);
    for (int i = 0; i < WATCHED; i++)
        if (!sigaction(watched[i], NULL, &now) && now.sa_handler != SIG_IGN) /* nohup has it ignored */
            sigaction(watched[i], &then, NULL);
}

void signals_hold(bool hold) {
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < WATCHED; i++)
        sigaddset(&set, watched[i]);
    pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

void signals_temporary(const char *path) { temporary = path; }
