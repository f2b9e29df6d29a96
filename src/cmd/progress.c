/* progress.c - a line on the terminal about work that takes more than a second: how much is done, how fast, how long it will take. A
 * thread of its own writes it, so that work of which nobody says how much is done is seen to go on, too. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"

enum {
    FIRST = 1000, /* milliseconds until the first line */
    NEXT = 200    /* and between two */
};

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool running, ended;
    const char *what, *unit;
    int64_t total;
    volatile double share; /* that is done */
    double begin;
    atomic_bool visible;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void scaled_text(double value, const char *unit, char to[32]) {
    static const char prefixes[] = " kMGTPE";
    int i = 0;
    for (; value >= 999.5 && i < 6; i++)
        value /= 1000;
    if (i)
        snprintf(to, 32, "%.3g %c%s", value, prefixes[i], unit);
    else
        snprintf(to, 32, "%.3g%s%s", value, *unit == ' ' ? "" : " ", unit);
}

static void time_text(double seconds, char to[32]) {
    int s = seconds < 1e9 ? (int)(seconds + 0.5) : 1000000000;
    if (s < 100)
        snprintf(to, 32, "%d s", s);
    else if (s < 6000)
        snprintf(to, 32, "%d min %02d s", s / 60, s % 60);
    else
        snprintf(to, 32, "%d h %02d min", s / 3600, s % 3600 / 60);
}

/* Writes the line in one piece, over the one before it. */
static void show(double passed) {
    char line[160], total[32], rate[32], left[32];
    double share;
    __atomic_load(&state.share, &share, __ATOMIC_RELAXED);
    scaled_text((double)state.total, state.unit, total);
    time_text(passed, left);
    int length = snprintf(line, sizeof line, "\r%s %s, %s\033[K", state.what, total, left);
    if (share > 0) {
        scaled_text(share * (double)state.total / passed, state.unit, rate);
        time_text((1 - share) / share * passed, left);
        length = snprintf(line, sizeof line, "\r%s %s, %2d %% done, %s/s, %s left\033[K", state.what, total,
                          (int)(100 * share), rate, left);
    }
    atomic_store(&state.visible, true);
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return;
}

/* The time at which so many milliseconds will have passed. */
static struct timespec later(long milliseconds) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += milliseconds % 1000 * 1000000;
    t.tv_sec += milliseconds / 1000 + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void *tick(void *unused) {
    struct timespec next = later(FIRST);
    (void)unused;
    pthread_mutex_lock(&state.lock);
    while (!state.ended)
        if (pthread_cond_timedwait(&state.over, &state.lock, &next) && !state.ended) {
            show(seconds_now() - state.begin);
            next = later(NEXT);
        }
    pthread_mutex_unlock(&state.lock);
    return NULL;
}

void progress_begin(const char *what, int64_t total, const char *unit) {
    pthread_condattr_t by_clock;
    state.what = what;
    state.unit = unit;
    state.total = total;
    state.ended = false;
    state.begin = seconds_now();
    state.share = 0;
    if (!isatty(STDERR_FILENO))
        return;
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&state.over, &by_clock);
    pthread_condattr_destroy(&by_clock);
    signals_hold(true); /* the thread has none */
    state.running = pthread_create(&state.thread, NULL, tick, NULL) == 0;
    signals_hold(false);
}

volatile double *progress_share(void) { return &state.share; }

void progress_end(void) {
    if (!state.running)
        return;
    pthread_mutex_lock(&state.lock);
    state.ended = true;
    pthread_cond_signal(&state.over);
    pthread_mutex_unlock(&state.lock);
    pthread_join(state.thread, NULL);
    pthread_cond_destroy(&state.over);
    state.running = false;
    progress_wipe();
}

void progress_wipe(void) {
    static const char wipe[] = "\r\033[K";
    if (atomic_exchange(&state.visible, false) && write(STDERR_FILENO, wipe, sizeof wipe - 1) < 0)
        return;
}
