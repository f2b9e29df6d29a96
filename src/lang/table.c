/* table.c - tables: local arrays that nothing writes and all of whose elements are constants. They take no room among the local
 * variables, and no statement initialises them: they are read-only data of the compiled code. */
#include "lang/check.h"

/* A table that has been counted. Its elements tell it apart: locals of several functions may share them. */
struct table_counted {
    const number *values;
    struct table_counted *next;
};

int64_t table_size(check *c, dtype type, int rank, const int64_t *extent, size_t at) {
    int64_t most = LANG_MAX_TABLE_BYTES / dtypes[type].size, size = 1;
    for (int d = 0; d < rank && size <= most; d++)
        size = extent[d] > most ? extent[d] : size * extent[d];
    if (size > most)
        check_limit(c, at, "a constant array takes more than %d bytes", LANG_MAX_TABLE_BYTES);
    return size;
}

void table_make(check *c, int slot, const number *values, size_t at) {
    local *l = &c->now->f.locals[slot];
    l->table = values;
    for (const struct table_counted *t = c->tables; t; t = t->next)
        if (t->values == values)
            return;
    struct table_counted *t = arena_alloc(c->a, sizeof *t);
    *t = (struct table_counted){values, c->tables};
    c->tables = t;
    c->table_bytes += table_size(c, l->type, l->rank, l->extent, at) * dtypes[l->type].size;
    if (c->table_bytes > LANG_MAX_TABLE_BYTES)
        check_limit(c, at, "the constant arrays of the function take %lld bytes together, more than %d",
                    (long long)c->table_bytes, LANG_MAX_TABLE_BYTES);
}

int table_local(check *c, const char *title, dtype type, int rank, const int64_t *extent, const number *values,
                size_t at) {
    int slot = local_add(c, title, type, rank, extent);
    table_make(c, slot, values, at);
    return slot;
}
