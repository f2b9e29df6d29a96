/* mocklibrary.h - what mocks of libraries of CUDA's share: calls that are counted and made to fail, handles, versions, and LAPACK. Each
 * mock includes it once and has its own state. NOT_INITIALIZED and INVALID_VALUE are the includer's, as libraries number them differently. */
#ifndef MOCKLIBRARY_H
#define MOCKLIBRARY_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the symbols are the library's */

#define API __attribute__((visibility("default")))

enum {
    MAX_COUNTED = 128
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *name;
    int count;
} counted[MAX_COUNTED];
static char fail_function[64];
static int fail_status;

/* Counts a call; the status it is to report, or 0. */
static int enter(const char *name) {
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < MAX_COUNTED - 1 && counted[i].name && strcmp(counted[i].name, name))
        i++;
    counted[i].name = name;
    counted[i].count++;
    int status = strcmp(name, fail_function) == 0 ? fail_status : 0;
    pthread_mutex_unlock(&lock);
    return status;
}

#define CALL()                    \
    int status = enter(__func__); \
    if (status)                   \
    return status
#define NEED(condition, error) \
    if (!(condition))          \
    return error

/* What tests call: every call of one function reports `status` from now on; NULL: none. */
static void control_fail_name(const char *function, int status) {
    pthread_mutex_lock(&lock);
    snprintf(fail_function, sizeof fail_function, "%s", function ? function : "");
    fail_status = status;
    pthread_mutex_unlock(&lock);
}

/* Calls of a function since the process began. */
static int control_count(const char *function) {
    int n = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_COUNTED && counted[i].name; i++)
        if (strcmp(counted[i].name, function) == 0)
            n = counted[i].count;
    pthread_mutex_unlock(&lock);
    return n;
}

/* ---- Handles ---- */

struct handle {
    struct handle *self; /* while it is alive */
    void *stream, *workspace;
    size_t size;
    int set, math, busy; /* set: it was told a stream */
};

static void *last_stream; /* of the last routine */

static int handle_make(struct handle **out) {
    *out = calloc(1, sizeof **out);
    (*out)->self = *out;
    return 0;
}

static int is_alive(const struct handle *h) { return h && h->self == h; }

/* A new stream takes the workspace away. */
static void handle_set(struct handle *h, void *stream) {
    h->stream = stream;
    h->workspace = NULL;
    h->set = 1;
}

/* A routine begins. */
static int is_ready(struct handle *h) {
    if (!is_alive(h) || !h->set)
        return 0;
    pthread_mutex_lock(&lock);
    last_stream = h->stream;
    pthread_mutex_unlock(&lock);
    return 1;
}

static void *control_stream(void) { return last_stream; }

/* ---- LAPACK of OpenBLAS ---- */

typedef void fortran(void);

static fortran *find(const char *name) {
    static void *library;
    fortran *found = NULL;
    pthread_mutex_lock(&lock);
    if (!library)
        library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    *(void **)&found = library ? dlsym(library, name) : NULL;
    pthread_mutex_unlock(&lock);
    if (!found)
        abort();
    return found;
}

static const char *op_of(int op) { return op == 2 ? "C" : op ? "T" : "N"; }

#define LAPACK(name, parameters, ...) ((void(*) parameters)find(name))(__VA_ARGS__)

/* Its parameters: arrays, numbers, characters. */
typedef void *P;
typedef const int *N;
typedef const char *S;

#endif
