/* messages.c - what the tool says on standard error, and texts on standard output. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

enum {
    LONGEST = 16384 /* bytes of a message */
};

/* Writes a message, in which control characters, which names in strangers' files may have, are question marks. */
static void say(const char *format, va_list arguments) {
    char text[LONGEST];
    vsnprintf(text, sizeof text, format, arguments);
    for (char *c = text; *c; c++)
        fputc(((unsigned char)*c < ' ' && *c != '\n' && *c != '\t') || *c == 127 ? '?' : *c, stderr);
}

int bad_usage(const char *verb_name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "ufunc %s: ", verb_name);
    say(format, arguments);
    fprintf(stderr, "; `ufunc %s --help` shows the usage\n", verb_name);
    va_end(arguments);
    return BAD_USAGE;
}

int failed(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "ufunc: ");
    say(format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    return FAILED;
}

int argument_failed(unsigned verb_bit, const char *argument) {
    const uf_error *e = uf_last_error();
    const char *hint = advice(e->message, verb_bit), *before = hint ? "\n  " : "";
    hint = hint ? hint : "";
    if (argument)
        return failed("%s (argument %d is \"%s\")%s%s", worded(e->message), e->argument, argument, before, hint);
    return failed("%s%s%s", worded(e->message), before, hint);
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
