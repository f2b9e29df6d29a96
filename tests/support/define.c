/* define.c - see define.h. */
#include "define.h"

#include <stdio.h>
#include <stdlib.h>

uf_func *define(const char *name, const char *layout, const char *signatures, const char *source, unsigned flags,
                int64_t max_steps) {
    uf_func *f;
    const uf_section only = {signatures, source};
    if (uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                       .name = name,
                                       .nsections = 1,
                                       .sections = &only,
                                       .layout = layout,
                                       .flags = flags,
                                       .max_steps = max_steps})) {
        fprintf(stderr, "%s\n", uf_last_error()->message);
        abort();
    }
    return f;
}

uf_func *make(const char *signatures, const char *source) { return define("f", NULL, signatures, source, 0, 0); }
