/* structured.c - the structured dtypes of .npy files, as the records of a function's signatures have them. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"

enum {
    NAME_SIZE = 512 /* bytes of a type in a signature */
};

/* ---- Signatures ---- */

/* Copies type number k of a signature, without blanks: types are separated by commas outside of parentheses, and by "->". */
static bool type_at(const char *signature, int k, char name[NAME_SIZE]) {
    int depth = 0;
    size_t n = 0;
    for (const char *s = signature; *s && *s != ';' && *s != '\n'; s++) {
        depth += (*s == '(') - (*s == ')');
        bool arrow = !depth && s[0] == '-' && s[1] == '>';
        if ((*s == ',' && !depth) || arrow) {
            k -= !(arrow && s == signature); /* nothing stands before the arrow */
            s += arrow;
        } else if (k == 0 && *s != ' ' && *s != '\t') {
            if (n + 1 == NAME_SIZE)
                return false;
            name[n++] = *s;
        }
        if (k < 0)
            break;
    }
    name[n] = 0;
    return n > 0;
}

static const char *next_signature(const char *s) {
    s += strcspn(s, ";\n");
    return *s ? s + 1 : NULL;
}

/* The operand of the signature that argument k is: a binary function that reduces takes its first, and gives its third. */
static int operand_of(const call *c, int k) { return c->nin < c->about.nin && k ? c->about.nin : k; }

/* ---- Records ---- */

/* A text that is written as far as it fits. */
typedef struct writer {
    char *text;
    size_t size, used;
    bool full;
} writer;

static void put(writer *w, const char *text) {
    size_t n = strlen(text);
    w->full |= w->used + n >= w->size;
    if (w->full)
        return;
    memcpy(w->text + w->used, text, n + 1);
    w->used += n;
}

static int64_t elements(const uf_field *f) {
    int64_t n = 1;
    for (int d = 0; d < f->ndim; d++)
        n *= f->shape[d];
    return n;
}

/* Writes where the scalars of a record are, as npy_header has it. */
static bool scalars_put(writer *w, const uf_func *func, const char *name, int64_t offset) {
    uf_record r = {.size = sizeof r};
    if (uf_function_record(func, name, &r))
        return false;
    for (int i = 0; i < r.nfields; i++) {
        const uf_field *f = r.fields[i];
        const dtype_row *type = dtype_named(f->type);
        uf_record inner = {.size = sizeof inner};
        if (!type && uf_function_record(func, f->type, &inner))
            return false;
        for (int64_t k = 0; k < elements(f); k++) {
            char one[64];
            int64_t at = offset + f->offset + k * (type ? type->size : inner.bytes);
            if (!type && !scalars_put(w, func, f->type, at))
                return false;
            if (type) {
                snprintf(one, sizeof one, "%c%d@%lld;", type->kind, type->size, (long long)at);
                put(w, one);
            }
        }
    }
    return !w->full;
}

static void gap_put(writer *w, int64_t bytes) {
    char text[64];
    snprintf(text, sizeof text, "%s('', '|V%lld')", w->used && w->text[w->used - 1] != '[' ? ", " : "",
             (long long)bytes);
    if (bytes)
        put(w, text);
}

static bool descr_put(writer *w, const uf_func *func, const char *name);

static bool field_put(writer *w, const uf_func *func, const uf_field *f) {
    const dtype_row *type = dtype_named(f->type);
    const char native = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? '>' : '<';
    char text[64];
    put(w, w->text[w->used - 1] != '[' ? ", ('" : "('");
    put(w, f->name);
    put(w, "', ");
    if (!type && !descr_put(w, func, f->type))
        return false;
    snprintf(text, sizeof text, "'%c%c%d'", type && type->size > 1 ? native : '|', type ? type->kind : ' ',
             type ? type->size : 0);
    put(w, type ? text : "");
    for (int d = 0; d < f->ndim; d++) {
        snprintf(text, sizeof text, "%s%lld%s", d ? ", " : ", (", (long long)f->shape[d], d < f->ndim - 1 ? "" : ",)");
        put(w, text);
    }
    put(w, ")");
    return !w->full;
}

/* Writes the descr of a record, with its gaps as NumPy writes those of an aligned dtype. */
static bool descr_put(writer *w, const uf_func *func, const char *name) {
    uf_record r = {.size = sizeof r}, inner = {.size = sizeof inner};
    int64_t end = 0;
    if (uf_function_record(func, name, &r))
        return false;
    put(w, "[");
    for (int i = 0; i < r.nfields && !w->full; i++) {
        const uf_field *f = r.fields[i];
        const dtype_row *type = dtype_named(f->type);
        if (!type && uf_function_record(func, f->type, &inner))
            return false;
        gap_put(w, f->offset - end);
        if (!field_put(w, func, f))
            return false;
        end = f->offset + elements(f) * (type ? type->size : inner.bytes);
    }
    gap_put(w, r.bytes - end);
    put(w, "]");
    return !w->full;
}

/* ---- The signature that files fit ---- */

/* Is what a signature has for argument k what its file holds, or its array, if that is known? */
static bool argument_fits(const call *c, const char *signature, int k) {
    char name[NAME_SIZE], scalars[NPY_FIELDS_SIZE];
    writer w = {.text = scalars, .size = sizeof scalars};
    uf_record r = {.size = sizeof r};
    bool from_file = k < c->nin && c->files[k].fields[0];
    if (!type_at(signature, operand_of(c, k), name))
        return false;
    if (!from_file && c->args[k].dtype.lanes <= 1)
        return true;
    if (uf_function_record(c->func, name, &r))
        return false;
    if (from_file)
        return scalars_put(&w, c->func, name, 0) && strcmp(scalars, c->files[k].fields) == 0;
    return (int64_t)element_bytes(c->args[k].dtype) == r.bytes;
}

static const char *signature_find(const call *c, int n) {
    const char *s = c->job->signature ? c->job->signature : c->about.signatures;
    for (; s; s = next_signature(s)) {
        int k = 0;
        while (k < n && argument_fits(c, s, k))
            k++;
        if (k == n)
            return s;
    }
    return NULL;
}

bool records_fit(const call *c) { return signature_find(c, c->nin) != NULL; }

bool record_descr(const call *c, int k, char descr[NPY_DESCR_SIZE]) {
    const char *s = signature_find(c, c->nargs);
    char name[NAME_SIZE];
    writer w = {.text = descr, .size = NPY_DESCR_SIZE};
    return s && type_at(s, operand_of(c, k), name) && descr_put(&w, c->func, name);
}
