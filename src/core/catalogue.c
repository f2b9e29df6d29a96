/* catalogue.c - what is built into the library: the functions of layouts/ and the modules of modules/, which tools/catalogue.sh
 * turns into C. */
#include "core/core.h"

static const char *name_at(const catalogue_list *list, int64_t i) {
    return i >= 0 && (uint64_t)i < list->count ? list->entries[i].name : NULL;
}

const char *uf_catalogue(int64_t i) { return name_at(&catalogue, i); }
const char *uf_catalogue_module(int64_t i) { return name_at(&catalogue_modules, i); }

const catalogue_entry *catalogue_find(const catalogue_list *list, const char *name) {
    for (size_t low = 0, high = list->count; low < high;) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, list->entries[middle].name);
        if (order == 0)
            return &list->entries[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const char *catalogue_nearest(const catalogue_list *list, const char *name) {
    nearest_word n = nearest_begin(name, strlen(name));
    for (size_t i = 0; i < list->count; i++)
        nearest_try_text(&n, list->entries[i].name);
    return n.best;
}

uf_status catalogue_unknown(const catalogue_list *list, const char *name) {
    const char *near = catalogue_nearest(list, name);
    size_t length = strlen(name);
    int cut = (int)(length > 127 ? 127 : length);
    if (near)
        return fail(UF_ERR_ARGUMENT, "the %s has no \"%.*s\"; did you mean \"%s\"?", list->what, cut, name, near);
    return fail(UF_ERR_ARGUMENT, "the %s has no \"%.*s\"; %s lists its names, and a path has a '/' or ends in .uf",
                list->what, cut, name, list->lister);
}

uf_status catalogue_load(uf_func **out, const char *name) {
    const catalogue_entry *entry = catalogue_find(&catalogue, name);
    if (!entry)
        return catalogue_unknown(&catalogue, name);
    imported x;
    uf_status s = source_load(&x, name, NULL, (const char *)entry->source, entry->length, NULL);
    *out = s ? NULL : x.func;
    return s;
}
