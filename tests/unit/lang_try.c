#include "lang_try.h"

static int types_read(const char *s, size_t length, dtype *types) {
    int count = 0;
    for (size_t at = 0; at < length;) {
        size_t word = strcspn(s + at, ", ");
        if (word > length - at)
            word = length - at;
        if (word)
            types[count++] = dtype_of_name(s + at, word);
        at += word ? word : 1;
    }
    return count;
}

uf_status lang_try(arena *a, const char *source, const char *types, tree **out) {
    dtype in[UF_MAX_OPERANDS], results[UF_MAX_OPERANDS];
    const syntax *s;
    tree *t;
    TRY(lang_parse(a, source, &s));
    const char *arrow = strstr(types, "->");
    int nin = types_read(types, arrow ? (size_t)(arrow - types) : strlen(types), in), nout = lang_outputs(s);
    for (int k = 0; k < nout; k++)
        results[k] = DT_NONE;
    if (arrow)
        nout = types_read(arrow + 2, strlen(arrow + 2), results);
    TRY(lang_check(a, s, in, nin, results, nout, false, &t));
    if (out)
        *out = t;
    return UF_OK;
}
