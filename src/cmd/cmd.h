/* cmd.h - what the verbs of the `ufunc` tool share. A verb is a file of its own and a row of the table in main.c. */
#ifndef CMD_H
#define CMD_H

#include <ufunc.h>

/* Exit statuses. */
enum {
    DONE = 0,
    FAILED = 1,    /* the library or the system reported an error */
    BAD_USAGE = 2, /* the command line cannot be understood */
    HELP = -1      /* of parse functions: the usage is asked for; no status of the program */
};

typedef struct verb {
    const char *name;
    const char *arguments;             /* the usage line, after the name */
    const char *summary;               /* one line */
    const char *details;               /* the options, one a line, or "" */
    int (*run)(int argc, char **argv); /* argv[0] is the verb */
} verb;

int run_info(int argc, char **argv);
int run_inspect(int argc, char **argv);
int run_list(int argc, char **argv);

/* Is it something for uf_load: a path that ends in .uf, or a name of the catalogue? */
bool is_function(const char *what);

/* Says on stderr what is wrong with the command line; BAD_USAGE. */
int bad_usage(const char *verb_name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says on stderr why something failed, or what the library's last error is; FAILED. */
int failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
int library_failed(void);
/* Prints the usage of a verb; DONE. */
int print_usage(const char *verb_name);
/* Writes a text and a newline, if it has none at its end, to stdout, and releases it; DONE or FAILED. */
int print_text(char *text);

#endif
