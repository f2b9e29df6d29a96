/* main.c - the tool `ufunc`: finds the verb, reads its command line, and runs it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

static int run_verb(const verb *v, int argc, char **argv) {
    job j;
    int status = read_job(&j, v, argc, argv);
    if (status != HELP)
        return status == DONE ? v->run(&j) : status;
    print_help(v);
    return DONE;
}

static int unknown_verb(const char *name) {
    const char *like = verb_like(name);
    fprintf(stderr, "ufunc: there is no verb \"%s\"", name);
    if (like)
        fprintf(stderr, "; did you mean \"%s\"?\n", like);
    else if (is_function(name) || is_formula(name) || strchr(name, '{'))
        fprintf(stderr, "; `ufunc run '%s' INPUT ..` applies the function\n", name);
    else
        fprintf(stderr, "; `ufunc --help` lists them\n");
    return BAD_USAGE;
}

/* `ufunc help [VERB]` */
static int help(const char *name) {
    const verb *v = name ? verb_named(name) : NULL;
    if (name && !v)
        return unknown_verb(name);
    if (v)
        print_help(v);
    else
        print_overview(stdout);
    return DONE;
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        print_overview(stderr);
        return BAD_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(NULL);
    if (strcmp(argv[1], "help") == 0)
        return help(argv[2]);
    if (strcmp(argv[1], "--version") == 0) {
        printf("ufunc %s\n", uf_version());
        return DONE;
    }
    const verb *v = verb_named(argv[1]);
    return v ? run_verb(v, argc - 1, argv + 1) : unknown_verb(argv[1]);
}

int main(int argc, char **argv) {
    signals_watch();
    int status = run(argc, argv);
    if (fflush(stdout) || ferror(stdout))
        return failed("standard output: %s", strerror(errno));
    return status;
}
