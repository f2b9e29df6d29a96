/* catalogue.c - the functions that are built into the library: the files of layouts/, which tools/catalogue.sh turns
 * into C. */
#include "core/core.h"

const char *uf_catalogue(int64_t i) { return i >= 0 && (uint64_t)i < catalogue_count ? catalogue[i].name : NULL; }

static uf_status unknown_name(const char *name) {
    const char *nearest = NULL;
    size_t length = strlen(name);
    /* Names that differ in fewer letters are taken for misspelled ones. */
    int least = length <= 4 ? 2 : 4, cut = (int)(length > 127 ? 127 : length);
    for (size_t i = 0; i < catalogue_count; i++) {
        int distance = word_distance(name, length, catalogue[i].name, strlen(catalogue[i].name));
        if (distance < least) {
            least = distance;
            nearest = catalogue[i].name;
        }
    }
    if (nearest)
        return fail(UF_ERR_ARGUMENT, "the catalogue has no \"%.*s\"; did you mean \"%s\"?", cut, name, nearest);
    return fail(UF_ERR_ARGUMENT,
                "the catalogue has no \"%.*s\"; uf_catalogue lists its names, and a path has a '/' or ends in .uf", cut,
                name);
}

uf_status catalogue_load(uf_func **out, const char *name) {
    for (size_t low = 0, high = catalogue_count; low < high;) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, catalogue[middle].name);
        if (order == 0)
            return func_load(out, name, (const char *)catalogue[middle].source, catalogue[middle].length);
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return unknown_name(name);
}
