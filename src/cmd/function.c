/* function.c - the function on a command line: of the catalogue, from a function file, a kernel or a formula. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

/* The content of a file, NUL-terminated. NULL: errno says why. */
static char *read_all(FILE *from) {
    size_t length = 0, capacity = 4096;
    char *content = malloc(capacity);
    while (content) {
        length += fread(content + length, 1, capacity - 1 - length, from);
        if (length < capacity - 1)
            break;
        char *larger = realloc(content, capacity *= 2);
        if (!larger)
            free(content);
        content = larger;
    }
    if (content && ferror(from)) {
        free(content);
        return NULL;
    }
    if (content)
        content[length] = 0;
    return content;
}

static char *read_file(const char *path) {
    bool standard = strcmp(path, "-") == 0;
    FILE *from = standard ? stdin : fopen(path, "r");
    char *content = from ? read_all(from) : NULL;
    int error = errno;
    if (from && !standard)
        fclose(from);
    errno = error;
    return content;
}

static uf_status define(const function_request *r, const char *source, uf_func **out) {
    uf_section section = {.signatures = r->signatures, .source = source};
    uf_definition definition = {.size = sizeof definition,
                                .name = "kernel",
                                .nsections = 1,
                                .sections = &section,
                                .fast = r->fast,
                                .flags = r->flags,
                                .max_registers = r->max_registers,
                                .max_steps = r->max_steps,
                                .layout = r->layout};
    return uf_define(out, &definition);
}

static int make_formula(const function_request *r, const verb *v, const char *expression, uf_func **out) {
    if (strchr(expression, ';'))
        return failed("\"%s\" is no expression, and no kernel: that is written (x, y) { return x * y; }", expression);
    if (r->flags & UF_KERNEL)
        return bad_usage(v->name, "\"%s\" is no kernel over indices: that is written [i](x, y) { y[i] = 2 * x[i]; }",
                         expression);
    char *kernel = formula_kernel(expression);
    if (!kernel)
        return failed("out of memory");
    int status = define(r, kernel, out) ? library_failed(v->bit) : DONE;
    free(kernel);
    return status;
}

/* Registers a kernel, or that of a formula. */
static int make_kernel(const function_request *r, const verb *v, const char *source, uf_func **out) {
    char *code = without_comments(source);
    if (!code)
        return failed("out of memory");
    int status;
    if (strchr(code, '{'))
        status = define(r, source, out) ? library_failed(v->bit) : DONE;
    else
        status = make_formula(r, v, code, out);
    free(code);
    return status;
}

static int make_file(const function_request *r, const verb *v, uf_func **out) {
    char *source = read_file(r->what);
    if (!source)
        return failed("%s: %s", r->what, strerror(errno));
    int status = make_kernel(r, v, source, out);
    free(source);
    return status;
}

static int load(const function_request *r, const verb *v, uf_func **out) {
    if (r->signatures || r->layout || r->fast || r->flags || r->max_registers || r->max_steps)
        return bad_usage(v->name, "\"%s\" has its own signatures, layout and flags; options for them are for kernels",
                         r->what);
    return uf_load(out, r->what) ? library_failed(v->bit) : DONE;
}

bool is_function(const char *what) {
    size_t length = strlen(what);
    if (length >= 3 && strcmp(what + length - 3, ".uf") == 0)
        return true;
    for (int64_t i = 0; uf_catalogue(i); i++)
        if (strcmp(uf_catalogue(i), what) == 0)
            return true;
    return false;
}

/* A name that no file has, which is then meant to be one of the catalogue. */
static bool is_bare_name(const char *what) {
    for (const char *at = what; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_')
            return false;
    return *what && access(what, F_OK) != 0;
}

static int make_plain(const function_request *r, const verb *v, uf_func **out) {
    const char *what = r->kernel ? r->kernel : r->what;
    if (r->kernel && is_function(what))
        return bad_usage(
            v->name,
            "-e needs a kernel or a formula; \"%s\" is a function, which goes in front of the inputs, without -e",
            what);
    if (r->kernel || strchr(what, '{'))
        return make_kernel(r, v, what, out);
    if (is_function(what))
        return load(r, v, out);
    if (names_data(what))
        return bad_usage(v->name, "\"%s\" is a file of data; the function stands in front of it, or behind -e", what);
    if (is_bare_name(what)) /* whose error names the nearest one */
        return uf_load(out, what) ? library_failed(v->bit) : DONE;
    if ((is_formula(what) || strchr(what, ';')) && access(what, F_OK) != 0)
        return make_kernel(r, v, what, out);
    return make_file(r, v, out);
}

int make_function(const function_request *r, const verb *v, uf_func **out) {
    uf_func *of = NULL;
    int status = make_plain(r, v, &of);
    *out = of;
    if (status != DONE || !r->derived)
        return status;
    status = uf_derivative(out, of, r->input) ? library_failed(v->bit) : DONE;
    uf_free(of);
    return status;
}
