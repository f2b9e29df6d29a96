/* options.c - option structs of any age: the size member says what the caller's header knew. */
#include "core/core.h"

uf_status struct_read(const void *from, void *to, size_t known, const char *what) {
    size_t size;
    memcpy(&size, from, sizeof size);
    if (size < sizeof size)
        return fail(UF_ERR_ARGUMENT, "%s.size is %zu; set it to sizeof(%s)", what, size, what);
    memset(to, 0, known);
    memcpy(to, from, size < known ? size : known);
    memcpy(to, &known, sizeof known); /* what is passed on has our size */
    for (size_t i = known; i < size; i++)
        if (((const unsigned char *)from)[i])
            return fail(UF_ERR_ARGUMENT,
                        "%s.size is %zu, but this library (version %s) knows %zu bytes, and byte %zu is not zero", what,
                        size, uf_version(), known, i);
    return UF_OK;
}

uf_status options_read(const uf_options *options, uf_options *scratch, const uf_options **out) {
    static const uf_options defaults = {.size = sizeof defaults};
    if (!options) {
        *out = &defaults;
        return UF_OK;
    }
    if (options->size != sizeof *options) {
        TRY(struct_read(options, scratch, sizeof *scratch, "uf_options"));
        options = scratch;
    }
    const unsigned known = UF_FIRST_MATCH | UF_STRONG_NUMBERS | UF_STAGE;
    if (options->flags & ~known)
        return fail(UF_ERR_ARGUMENT, "uf_options.flags is 0x%x; bits 0x%x are unknown", options->flags,
                    options->flags & ~known);
    if ((unsigned)options->casting > UF_CAST_UNSAFE)
        return fail(UF_ERR_ARGUMENT, "uf_options.casting is %d; known are 0 to %d", (int)options->casting,
                    UF_CAST_UNSAFE);
    if (options->threads < 0)
        return fail(UF_ERR_ARGUMENT, "uf_options.threads is %d; it must not be negative", options->threads);
    *out = options;
    return UF_OK;
}
