/* record.c - how a record lies in memory: as C lays out a struct (ISO C11, 6.7.2.1, with the alignments of dtype.c). */
#include "type/record.h"

#include <stdio.h>

static int64_t aligned_up(int64_t n, int align) { return (n + align - 1) / align * align; }

static int64_t element_size(const record_field *f) { return f->record ? f->record->size : dtypes[f->type].size; }
static int element_align(const record_field *f) { return f->record ? f->record->align : dtypes[f->type].align; }
static int element_leaves(const record_field *f) { return f->record ? f->record->nleaves : scalar_leaves(f->type); }

/* How many elements a field has; more than RECORD_MAX_LEAVES are counted as one more than those. */
static int elements(const record_field *f) {
    int64_t n = 1;
    for (int d = 0; d < f->rank && n <= RECORD_MAX_LEAVES; d++)
        n *= f->extent[d] <= RECORD_MAX_LEAVES ? f->extent[d] : RECORD_MAX_LEAVES + 1;
    return n <= RECORD_MAX_LEAVES ? (int)n : RECORD_MAX_LEAVES + 1;
}

/* ".m[1][2]" for element i of a field, and the path of a leaf in it. */
static const char *path_of(arena *a, const record_field *f, int i, const char *inner) {
    char path[1024];
    size_t n = (size_t)snprintf(path, sizeof path / 2, "%s", f->name);
    int64_t below = elements(f);
    for (int d = 0; d < f->rank; d++) {
        below /= f->extent[d];
        n += (size_t)snprintf(path + n, sizeof path - n, "[%lld]", (long long)(i / below % f->extent[d]));
    }
    n += (size_t)snprintf(path + n, sizeof path - n, "%s%s", *inner ? "." : "", inner);
    return arena_text(a, path, n < sizeof path ? n : sizeof path - 1);
}

/* Leaf k of an element of a field, as it lies in the element. */
static record_leaf leaf_in(const record_field *f, int k) {
    static const char *const parts[] = {"re", "im"};
    if (f->record)
        return f->record->leaves[k];
    dtype part = (dtype)dtypes[f->type].component;
    return (record_leaf){.path = part == f->type ? "" : parts[k],
                         .type = part,
                         .scalar = f->type,
                         .offset = (int64_t)k * dtypes[part].size};
}

static void leaves_add(arena *a, record *r, const record_field *f) {
    for (int i = 0; i < elements(f); i++)
        for (int k = 0; k < element_leaves(f); k++) {
            record_leaf leaf = leaf_in(f, k);
            leaf.path = path_of(a, f, i, leaf.path);
            leaf.offset += f->offset + i * element_size(f);
            r->leaves[r->nleaves++] = leaf;
        }
}

bool record_lay(arena *a, record *r) {
    int64_t leaves = 0, end = 0;
    for (int i = 0; i < r->nfields; i++)
        leaves += (int64_t)elements(&r->fields[i]) * element_leaves(&r->fields[i]);
    if (leaves > RECORD_MAX_LEAVES)
        return false;
    r->leaves = arena_alloc(a, (size_t)(leaves + 1) * sizeof *r->leaves);
    r->nleaves = 0;
    r->align = 1;
    for (int i = 0; i < r->nfields; i++) {
        record_field *f = &r->fields[i];
        f->offset = aligned_up(end, element_align(f));
        f->leaf = r->nleaves;
        f->nleaves = elements(f) * element_leaves(f);
        end = f->offset + elements(f) * element_size(f);
        r->align = element_align(f) > r->align ? element_align(f) : r->align;
        leaves_add(a, r, f);
    }
    r->size = aligned_up(end, r->align);
    return true;
}

bool record_same(const record *a, const record *b) {
    if (a == b)
        return true;
    if (!a || !b || a->definition != b->definition || a->argument != b->argument)
        return false;
    return a->argument_record == b->argument_record || record_same(a->argument_record, b->argument_record);
}

dtype record_uniform(const record *r) {
    int64_t end = 0;
    for (int i = 0; i < r->nleaves; i++) {
        if (r->leaves[i].scalar != r->leaves[0].scalar || r->leaves[i].offset != end)
            return DT_NONE;
        end += dtypes[r->leaves[i].type].size;
    }
    return r->nleaves && end == r->size ? r->leaves[0].scalar : DT_NONE;
}

int record_scalars(const record *r) {
    int n = 0;
    for (int i = 0; i < r->nleaves; i += scalar_leaves(r->leaves[i].scalar))
        n++;
    return n;
}
