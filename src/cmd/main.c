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

/* The pages of the manual: that of the tool, and one for each verb. */
static int print_pages(void) {
    printf("ufunc\n");
    for (int i = 0; verb_at(i); i++)
        printf("ufunc-%s\n", verb_at(i)->name);
    return DONE;
}

/* `ufunc help [VERB]`, or what the project's build asks for: --pages, --man PAGE, --completion SHELL */
static int help(const char *what, const char *value) {
    const verb *v = what ? verb_named(what) : NULL;
    if (what && strcmp(what, "--pages") == 0)
        return print_pages();
    if (what && value && strcmp(what, "--man") == 0)
        return print_man(value) ? DONE : bad_usage("help", "there is no page \"%s\"", value);
    if (what && value && strcmp(what, "--completion") == 0)
        return print_completion(value) ? DONE : bad_usage("help", "--completion needs bash or zsh, not \"%s\"", value);
    if (what && !v && strcmp(what, "--help") != 0 && strcmp(what, "-h") != 0)
        return unknown_verb(what);
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
        return help(NULL, NULL);
    if (strcmp(argv[1], "help") == 0)
        return help(argv[2], argc > 3 ? argv[3] : NULL);
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
