/* raw.c - raw binary data, whose dtype and shape the command line says: "float32[100,-1]". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

enum {
    FORM_SIZE = 24 * UF_MAX_NDIM
};

/* How many extents are left to the data; each other one must not be negative. -1: one is. */
static int open_extents(const npy_header *h) {
    int n = 0;
    for (int d = 0; d < h->ndim; d++) {
        if (h->shape[d] < -1)
            return -1;
        n += h->shape[d] == -1;
    }
    return n;
}

bool raw_parse(const char *form, npy_header *out) {
    char text[FORM_SIZE];
    const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    int64_t offset = 0;
    memset(out, 0, sizeof *out);
    if (*form == '<' || *form == '>')
        out->swapped = *form++ == (big ? '<' : '>');
    size_t name = strcspn(form, "["), inside = strcspn(form + name, "]");
    const char *behind = form + name + inside;
    if (!form[name] || *behind != ']' || name >= sizeof text || inside >= sizeof text)
        return false;
    if (behind[1] && (behind[1] != '@' || (!read_steps(behind + 2, &offset) && strcmp(behind + 2, "0") != 0)))
        return false;
    snprintf(text, sizeof text, "%.*s", (int)name, form);
    out->type = dtype_given(text);
    snprintf(text, sizeof text, "%.*s", (int)inside - 1, form + name + 1);
    if (!out->type || !read_integers(*text ? text : "-1", UF_MAX_NDIM, out->shape, &out->ndim))
        return false;
    out->element = out->type->size;
    out->swapped &= out->type->size > 1;
    out->offset = (size_t)offset;
    return open_extents(out) >= 0 && open_extents(out) <= 1;
}

/* Bytes of the extents that are known. False: they are 2^63 or more. */
static bool known_size(const npy_header *h, size_t *size) {
    int64_t n = h->element;
    bool empty = false;
    for (int d = 0; d < h->ndim; d++) {
        empty |= !h->shape[d];
        if (h->shape[d] > 0 && __builtin_mul_overflow(n, h->shape[d], &n))
            return false;
    }
    *size = empty ? 0 : (size_t)n;
    return true;
}

/* Sets the extent that the data say, and checks that they are as long as the shape. */
static bool complete(npy_header *h, size_t length, char *why) {
    size_t unit, there = length - h->offset;
    if (length < h->offset) {
        return refuse(why, "ends after %zu bytes, before byte %zu, where the data are to begin", length, h->offset);
    }
    if (!known_size(h, &unit))
        return refuse(why, "the shape's size exceeds 2^63 - 1 bytes");
    bool open = open_extents(h) && unit;
    for (int d = 0; d < h->ndim; d++)
        if (h->shape[d] == -1)
            h->shape[d] = unit ? (int64_t)(there / unit) : 0;
    h->size = open ? there : unit;
    if (open ? there % unit == 0 : there == unit)
        return true;
    return refuse(why, "has %zu bytes%s; the dtype and shape given need %s%zu", there,
                  h->offset ? " behind the offset" : "", open ? "a multiple of " : "", unit);
}

bool raw_read(npy *out, const char *path, const npy_header *form, char why[WHY_SIZE]) {
    npy_header h = *form;
    const unsigned char *bytes;
    size_t length;
    bool good = npy_bytes(out, path, &bytes, &length, why) && complete(&h, length, why) &&
                npy_take(out, &h, h.size ? bytes + h.offset : bytes, why);
    if (!good)
        npy_close(out);
    return good;
}

bool raw_put(int to, const DLTensor *array, const char *descr) {
    size_t size = array_bytes(array);
    (void)descr;
    return !size || write_all(to, (const char *)array->data + array->byte_offset, size);
}
