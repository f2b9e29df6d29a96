/* function.c - the function on a command line: of the catalogue, from a function file, or a kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int make_kernel(const function_request *r, const char *source, uf_func **out) {
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
    return uf_define(out, &definition) ? library_failed() : DONE;
}

static int make_file(const function_request *r, uf_func **out) {
    char *source = read_file(r->what);
    if (!source)
        return failed("%s: %s", r->what, strerror(errno));
    int status = make_kernel(r, source, out);
    free(source);
    return status;
}

static int load(const function_request *r, const char *verb_name, uf_func **out) {
    if (r->signatures || r->layout || r->fast || r->flags || r->max_registers || r->max_steps)
        return bad_usage(verb_name, "\"%s\" has its own signatures, layout and flags; options for them are for kernels",
                         r->what);
    return uf_load(out, r->what) ? library_failed() : DONE;
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

int make_function(const function_request *r, const char *verb_name, uf_func **out) {
    if (r->kernel)
        return make_kernel(r, r->kernel, out);
    if (is_function(r->what))
        return load(r, verb_name, out);
    return strchr(r->what, '{') ? make_kernel(r, r->what, out) : make_file(r, out);
}
