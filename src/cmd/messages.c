/* messages.c - what the tool says on standard error, and texts on standard output. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

int bad_usage(const char *verb_name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "ufunc %s: ", verb_name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "; `ufunc %s --help` shows the usage\n", verb_name);
    va_end(arguments);
    return BAD_USAGE;
}

int failed(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "ufunc: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    return FAILED;
}

int argument_failed(unsigned verb_bit, const char *argument) {
    const uf_error *e = uf_last_error();
    const char *hint = advice(e->message, verb_bit);
    fprintf(stderr, "ufunc: %s", worded(e->message));
    if (argument)
        fprintf(stderr, " (argument %d is \"%s\")", e->argument, argument);
    fprintf(stderr, hint ? "\n  %s\n" : "\n", hint);
    return FAILED;
}

int library_failed(unsigned verb_bit) { return argument_failed(verb_bit, NULL); }

int print_text(char *text) {
    size_t length = strlen(text);
    fputs(text, stdout);
    if (length && text[length - 1] != '\n')
        putchar('\n');
    free(text);
    return DONE;
}
