/* man.c - manual pages, made of the tables that `--help` prints: ufunc(1), and one for each group of verbs. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

/* Prints part of a line of text for troff: what is between backquotes is bold. */
static void print_escaped(const char *text, size_t length) {
    static bool bold;
    for (size_t i = 0; i < length; i++)
        switch (text[i]) {
        case '`':
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fR", stdout);
            break;
        case '\\':
            fputs("\\e", stdout);
            break;
        case '-':
            fputs("\\-", stdout);
            break;
        case '\'':
            fputs("\\(aq", stdout);
            break;
        case '^':
            fputs("\\(ha", stdout);
            break;
        case '~':
            fputs("\\(ti", stdout);
            break;
        default:
            putchar(text[i]);
        }
}

/* Prints lines; an empty one begins a paragraph, or is none. */
static void print_lines(const char *text) {
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        fputs(!length ? ".PP" : *text == '.' ? "\\&" : "", stdout);
        print_escaped(text, length);
        putchar('\n');
    }
}

static void print_word(const char *font, const char *text) {
    printf("\\f%s", font);
    print_escaped(text, strlen(text));
    fputs("\\fR", stdout);
}

static void print_title(const char *name) {
    printf(".\\\" Made by `ufunc help --man`.\n.TH ");
    for (const char *at = name; *at; at++)
        putchar(toupper((unsigned char)*at));
    printf(" 1 \"\" \"libufunc %s\" \"User Commands\"\n.SH NAME\n", uf_version());
}

static void print_exit_statuses(void) {
    printf(".SH EXIT STATUS\n");
    for (int i = 0; exit_status_at(i); i++) {
        printf(".TP\n.B %s\n", exit_status_at(i)->status);
        print_lines(exit_status_at(i)->meaning);
        putchar('\n');
    }
}

static void print_see_also(const char *but) {
    const char *comma = "";
    printf(".SH SEE ALSO\n");
    if (strcmp(but, "ufunc") != 0) {
        printf(".BR ufunc (1)");
        comma = ",\n";
    }
    for (int i = 0; page_at(i); i++)
        if (strcmp(page_at(i)->name, but) != 0) {
            printf("%s.BR %s (1)", comma, page_at(i)->name);
            comma = ",\n";
        }
    printf("%s.BR libufunc (3)\n", comma);
}

/* ---- ufunc(1) ---- */

static void print_verbs(void) {
    printf(".SH VERBS\n");
    for (int i = 0; verb_at(i); i++) {
        printf(".TP\n.B %s\n", verb_at(i)->name);
        print_lines(verb_at(i)->summary);
        printf("\n");
    }
}

static void print_main_page(void) {
    print_title("ufunc");
    printf("ufunc \\- applies functions to arrays in files\n.SH SYNOPSIS\n.B ufunc\n.I VERB ..\n.br\n.B ufunc "
           "help\n.RI [ VERB ]\n"
           ".br\n.B ufunc \\-\\-version\n.SH DESCRIPTION\n");
    print_lines(tool_purpose);
    printf("\n");
    print_verbs();
    print_exit_statuses();
    print_see_also("ufunc");
}

/* ---- Groups of verbs ---- */

static void print_synopsis(const page *p) {
    printf(".SH SYNOPSIS\n");
    for (int i = 0, n = 0; verb_at(i); i++)
        if (verb_at(i)->bit & p->verbs) {
            printf("%s.B ufunc %s\n", n++ ? ".br\n" : "", verb_at(i)->name);
            print_lines(verb_at(i)->arguments);
            printf("\n");
        }
}

static void print_descriptions(const page *p) {
    printf(".SH DESCRIPTION\n");
    for (int i = 0; verb_at(i); i++)
        if (verb_at(i)->bit & p->verbs) {
            printf(".SS ufunc %s\n", verb_at(i)->name);
            print_lines(verb_at(i)->summary);
            printf(".\n.PP\n");
            print_lines(verb_at(i)->details);
        }
    printf(".SS Operands\n");
    for (int i = 0; note_at(i); i++)
        if (note_at(i)->verbs & p->verbs) {
            printf(".PP\n");
            print_lines(note_at(i)->text);
        }
}

/* The verbs of the page that have the option: "(run, outer)", or nothing if all do. */
static void print_whose(const page *p, unsigned verbs) {
    const char *before = " (";
    if ((p->verbs & verbs) == p->verbs)
        return;
    for (int i = 0; verb_at(i); i++)
        if (verb_at(i)->bit & p->verbs & verbs) {
            printf("%s%s", before, verb_at(i)->name);
            before = ", ";
        }
    printf(")");
}

static void print_option(const page *p, const option_row *o) {
    printf(".TP\n");
    if (o->letter)
        printf("\\fB\\-%c\\fR, ", o->letter);
    printf("\\fB\\-\\-");
    print_escaped(o->name, strlen(o->name));
    printf("\\fR");
    if (o->value) {
        putchar(' ');
        print_word("I", o->value);
    }
    print_whose(p, o->verbs);
    putchar('\n');
    print_lines(o->help);
    putchar('\n');
}

static void print_examples(const page *p) {
    printf(".SH EXAMPLES\n.nf\n");
    for (int i = 0; verb_at(i); i++)
        if (verb_at(i)->bit & p->verbs)
            print_lines(verb_at(i)->examples);
    printf(".fi\n");
}

static void print_group_page(const page *p) {
    print_title(p->name);
    printf("%s", p->name);
    for (int i = 0; verb_at(i); i++)
        if (verb_at(i)->bit & p->verbs && strcmp(verb_at(i)->name, p->name + strlen("ufunc-")) != 0)
            printf(", ufunc\\-%s", verb_at(i)->name);
    printf(" \\- %s\n", p->summary);
    print_synopsis(p);
    print_descriptions(p);
    printf(".SH OPTIONS\n");
    for (int i = 0; option_at(i); i++)
        if (option_at(i)->verbs & p->verbs)
            print_option(p, option_at(i));
    print_examples(p);
    print_exit_statuses();
    print_see_also(p->name);
}

bool print_man(const char *name) {
    const verb *v = strncmp(name, "ufunc-", 6) == 0 ? verb_named(name + 6) : NULL;
    if (strcmp(name, "ufunc") == 0) {
        print_main_page();
        return true;
    }
    for (int i = 0; page_at(i); i++)
        if (strcmp(page_at(i)->name, name) == 0) {
            print_group_page(page_at(i));
            return true;
        }
    for (int i = 0; v && page_at(i); i++)
        if (page_at(i)->verbs & v->bit) {
            printf(".so man1/%s.1\n", page_at(i)->name);
            return true;
        }
    return false;
}
