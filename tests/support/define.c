/* define.c - see define.h. */
#include "define.h"

#include <stdio.h>
#include <stdlib.h>

static uf_func *defined(const uf_definition *definition) {
    uf_func *f;
    if (uf_define(&f, definition)) {
        fprintf(stderr, "%s\n", uf_last_error()->message);
        abort();
    }
    return f;
}

uf_func *define(const char *name, const char *layout, const char *signatures, const char *source, unsigned flags,
                int64_t max_steps) {
    const uf_section only = {signatures, source};
    return defined(&(uf_definition){.size = sizeof(uf_definition),
                                    .name = name,
                                    .nsections = 1,
                                    .sections = &only,
                                    .layout = layout,
                                    .flags = flags,
                                    .max_steps = max_steps});
}

uf_func *define_with(const uf_definition *definition, const char *signatures, const char *source) {
    const uf_section only = {signatures, source};
    uf_definition all = *definition;
    all.size = sizeof all;
    all.name = "f";
    all.nsections = 1;
    all.sections = &only;
    return defined(&all);
}

uf_func *make(const char *signatures, const char *source) { return define("f", NULL, signatures, source, 0, 0); }
