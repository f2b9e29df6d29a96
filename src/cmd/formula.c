/* formula.c - an expression in place of a kernel: "x * x" is "(x) { return x * x; }". */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

/* Words of kernel C that are no variables: constants, and words of types, which stand in casts. */
static const char *const words[] = {
    "NAN",     "INFINITY",  "I",         "M_E",      "M_LOG2E",   "M_LOG10E", "M_LN2",      "M_LN10",
    "M_PI",    "M_PI_2",    "M_PI_4",    "M_1_PI",   "M_2_PI",    "M_SQRT2",  "M_2_SQRTPI", "true",
    "false",   "M_SQRT1_2", "_Bool",     "char",     "short",     "int",      "long",       "signed",
    "float",   "double",    "complex",   "_Complex", "unsigned",  "int8_t",   "int16_t",    "int32_t",
    "int64_t", "uint8_t",   "uint16_t",  "uint32_t", "uint64_t",  "const",    "typeof",     "sizeof",
    "size_t",  "ssize_t",   "ptrdiff_t", "intptr_t", "uintptr_t", "_Float16", "__bf16",
};

enum {
    WORDS = sizeof words / sizeof *words
};

static bool begins_name(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static size_t name_length(const char *at) {
    size_t n = 0;
    while (in_name(at[n]))
        n++;
    return n;
}

static bool is_word(const char *at, size_t length) {
    for (int i = 0; i < WORDS; i++)
        if (strlen(words[i]) == length && memcmp(words[i], at, length) == 0)
            return true;
    for (int i = 0; i < DTYPES; i++)
        if (strlen(dtype_rows[i].name) == length && memcmp(dtype_rows[i].name, at, length) == 0)
            return true;
    return false;
}

/* Does the list "x, y" have the name? */
static bool is_listed(const char *list, const char *at, size_t length) {
    for (; *list; list += name_length(list), list += strspn(list, ", "))
        if (name_length(list) == length && memcmp(list, at, length) == 0)
            return true;
    return false;
}

/* The next name that stands for a value, from `at` on: no word, no function, no field. NULL: there is none. */
static const char *next_variable(const char *expression, const char *at) {
    for (; *at; at++) {
        bool first = at == expression || (!in_name(at[-1]) && at[-1] != '.');
        size_t length = first && begins_name(*at) ? name_length(at) : 0;
        if (length && at[length + strspn(at + length, " \t\n")] != '(' && !is_word(at, length))
            return at;
    }
    return NULL;
}

bool is_formula(const char *text) {
    if (strpbrk(text, ";{}") || !*text)
        return false;
    if (strpbrk(text, "+*%()<>=!&|^~?:, \n"))
        return true;
    /* "x/y" and "x-2.5" are formulas, "folder/kernel.txt", "./x" and "x" are not */
    bool path = *text == '/' || *text == '.';
    for (const char *dot = strchr(text, '.'); dot; dot = strchr(dot + 1, '.'))
        path |= begins_name(dot[1]) || dot[1] == '/' || dot[1] == '.';
    return !path && strpbrk(text, "/-") && strcmp(text, "-") != 0;
}

/* The end of the comment that begins here; NULL: none does. */
static char *comment_end(char *at) {
    if (strncmp(at, "//", 2) == 0)
        return at + strcspn(at, "\n");
    if (strncmp(at, "/*", 2) != 0)
        return NULL;
    char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

static void blank(char *from, const char *to) {
    for (; from < to; from++)
        *from = *from == '\n' ? '\n' : ' ';
}

char *without_comments(const char *text) {
    char *copy = strdup(text), *end;
    for (char *at = copy; at && *at; at++)
        if ((end = comment_end(at)))
            blank(at, end);
    return copy;
}

/* Does kernel C have the function itself? It says of others that it does not know them, and of its own, where the one argument is
 * wrong, something else. */
static bool is_built_in(const char *name) {
    uf_func *trial = NULL;
    char kernel[160];
    snprintf(kernel, sizeof kernel, "(x) { return %s(x); }", name);
    bool known =
        !uf_vectorize(&trial, "trial", "float64->float64", kernel) || !strstr(uf_last_error()->message, "is not known");
    uf_free(trial);
    return known;
}

/* The next function of the catalogue that is called and kernel C has not, from `at` on; NULL: there is none. *length: of its name. */
static const char *next_called(const char *expression, const char *at, size_t *length) {
    char name[128];
    for (; *at; at++) {
        bool first = at == expression || !in_name(at[-1]);
        *length = first && begins_name(*at) ? name_length(at) : 0;
        if (!*length || at[*length + strspn(at + *length, " \t\n")] != '(' || *length >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)*length, at);
        if (is_function(name) && !is_built_in(name))
            return at;
    }
    return NULL;
}

/* Writes "use f; use g; " for the functions of the catalogue that are called; how many bytes. */
static size_t put_uses(const char *expression, char *to) {
    char *end = to;
    size_t n;
    *to = 0;
    for (const char *at = expression; (at = next_called(expression, at, &n)); at += n) {
        char one[160];
        snprintf(one, sizeof one, "use %.*s; ", (int)n, at);
        if (!strstr(to, one))
            end = stpcpy(end, one);
    }
    return (size_t)(end - to);
}

char *formula_kernel(const char *expression) {
    size_t length = strlen(expression), used;
    char *kernel =
        malloc(10 * length + 64); /* a name of n letters takes n + 2 in the parameters, and n + 6 to be used */
    if (!kernel)
        return NULL;
    used = put_uses(expression, kernel);
    kernel[used++] = '(';
    kernel[used] = 0;
    const size_t first = used;
    for (const char *at = expression; (at = next_variable(expression, at)); at += name_length(at)) {
        size_t n = name_length(at);
        if (!is_listed(kernel + first, at, n))
            used += (size_t)sprintf(kernel + used, "%s%.*s", used > first ? ", " : "", (int)n, at);
    }
    sprintf(kernel + used, ") { return %s; }", expression);
    return kernel;
}
