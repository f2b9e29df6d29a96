/* help.c - what `--help` prints, made of the tables of verbs and options. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"

enum {
    COLUMN = 28 /* where the descriptions of options begin */
};

const char tool_purpose[] = "Applies functions to arrays in files: of the catalogue, or written down as formulas.";

static const exit_status statuses[] = {
    {"0", "done"},
    {"1", "the library or the system reported an error"},
    {"2", "the command line cannot be understood"},
    {"128+N", "ended by signal N, as a shell counts: 130 after an interrupt; no output is half written"},
};

enum {
    STATUSES = sizeof statuses / sizeof *statuses
};

const exit_status *exit_status_at(int i) { return i < STATUSES ? &statuses[i] : NULL; }

void print_overview(FILE *to) {
    fprintf(to, "usage: ufunc VERB ..\n\n%s\n\n", tool_purpose);
    for (int i = 0; verb_at(i); i++)
        fprintf(to, "  %-11s %s\n", verb_at(i)->name, verb_at(i)->summary);
    fprintf(to, "\n`ufunc VERB --help` shows a verb's options; `ufunc --version` the version. Exit status:\n\n");
    for (int i = 0; i < STATUSES; i++)
        fprintf(to, "  %-11s %s\n", statuses[i].status, statuses[i].meaning);
}

/* Prints an option, with the first line of its description beside it and the others below. */
static void print_option(const option_row *o) {
    int column = o->letter ? printf("  -%c, --%s", o->letter, o->name) : printf("      --%s", o->name);
    column += o->value ? printf(" %s", o->value) : 0;
    const char *line = o->help;
    for (size_t length; *line; line += length + (line[length] == '\n')) {
        length = strcspn(line, "\n");
        if (column + 2 > COLUMN)
            column = printf("\n") - 1;
        printf("%*s%.*s\n", COLUMN - column, "", (int)length, line);
        column = 0;
    }
}

void print_help(const verb *v) {
    printf("usage: ufunc %s%s%s\n%s\n", v->name, *v->arguments ? " " : "", v->arguments, v->summary);
    if (*v->details)
        printf("\n%s", v->details);
    for (int i = 0; note_at(i); i++)
        if (note_at(i)->verbs & v->bit)
            printf("\n%s", note_at(i)->text);
    printf("\n");
    for (int i = 0; option_at(i); i++)
        if (option_at(i)->verbs & v->bit)
            print_option(option_at(i));
    if (*v->examples)
        printf("\nExamples:\n");
    for (const char *line = v->examples; *line; line += strcspn(line, "\n") + 1)
        printf("  %.*s\n", (int)strcspn(line, "\n"), line);
}
