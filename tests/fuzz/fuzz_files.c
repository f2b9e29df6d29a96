/* fuzz_files.c - the files that the tool reads: .npy, .npz, text and raw data, and the form of the last on the command line. Whatever the
 * bytes are, there is an array that lies in memory which is there, or an error that says something. What was read of a text is written
 * and read again, which gives the same numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "targets.h"

enum {
    PATH = 64,
    IN_A_PIPE = 1 << 15 /* bytes that a pipe takes before anyone reads */
};

/* A file in memory with these bytes, which is made anew each time. */
static int file_with(const uint8_t *data, size_t size, char path[PATH]) {
    int there = memfd_create("fuzz", MFD_CLOEXEC);
    PROMISED(there >= 0 && write_all(there, data, size));
    snprintf(path, PATH, "/proc/self/fd/%d", there);
    return there;
}

/* A pipe with these bytes, of which no more come. */
static int pipe_with(const uint8_t *data, size_t size, char path[PATH]) {
    int ends[2];
    PROMISED(!pipe(ends) && write_all(ends[1], data, size) && !close(ends[1]));
    snprintf(path, PATH, "/proc/self/fd/%d", ends[0]);
    return ends[0];
}

static size_t elements_of(const DLTensor *t) {
    size_t n = 1;
    for (int d = 0; d < t->ndim; d++) {
        PROMISED(t->shape[d] >= 0);
        n *= (size_t)t->shape[d];
    }
    return n;
}

/* What an answer must be like. Every byte of an array is read. */
static void judge(bool good, const npy *file, const char *why) {
    const DLTensor *t = &file->array;
    if (!good) {
        PROMISED(*why && !file->map && !file->memory);
        return;
    }
    PROMISED(t->ndim >= 0 && t->ndim <= UF_MAX_NDIM && dtype_of(t->dtype) && t->dtype.lanes);
    size_t bytes = elements_of(t) * element_bytes(t->dtype);
    unsigned sum = 0;
    for (size_t i = 0; i < bytes; i++)
        sum += ((const unsigned char *)t->data)[i];
    PROMISED(sum <= 255 * bytes);
    PROMISED(!bytes || (uintptr_t)t->data % dtype_of(t->dtype)->align == 0);
}

/* ---- .npy ---- */

/* The header of a copy whose end the address sanitizer sees; written again, it says the same. */
static void judge_header(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + !size), again[NPY_HEADER_SIZE];
    npy_header h, same;
    char why[WHY_SIZE] = "";
    PROMISED(copy);
    if (size)
        memcpy(copy, data, size);
    bool good = npy_parse(copy, size, &h, why);
    free(copy);
    PROMISED(good == !*why);
    if (!good || h.fields[0])
        return;
    DLTensor t = {.dtype = h.type->type, .ndim = h.ndim, .shape = h.shape};
    size_t length = npy_format(&t, NULL, again);
    PROMISED(length % 64 == 0 && npy_parse(again, length, &same, why));
    PROMISED(same.type == h.type && same.ndim == h.ndim && same.size == h.size && same.offset == length);
}

void fuzz_npy(const uint8_t *data, size_t size) {
    char path[PATH], why[WHY_SIZE] = "";
    npy file;
    judge_header(data, size);
    int there = file_with(data, size, path);
    bool good = npy_read(&file, path, true, why);
    judge(good, &file, why);
    npy_close(&file);
    close(there);
    if (size > IN_A_PIPE)
        return;
    there = pipe_with(data, size, path);
    PROMISED(npy_read(&file, path, true, why) == good);
    judge(good, &file, why);
    npy_close(&file);
    close(there);
}

/* ---- .npz ---- */

/* A member as it is unpacked, whatever its checksum is, which changed bytes hardly ever have. */
static void judge_member(const zip_member *m) {
    char why[WHY_SIZE] = "";
    unsigned char *unpacked = m->method ? zip_unpack(m, why) : NULL;
    const unsigned char *bytes = m->method ? unpacked : m->data;
    PROMISED(bytes || *why);
    if (bytes) {
        judge_header(bytes, m->size);
        zip_intact(m, bytes, why);
    }
    free(unpacked);
}

static void judge_archive(const char *path, const char *member) {
    char why[WHY_SIZE] = "";
    npy file;
    bool good = npz_read(&file, path, member, true, why);
    judge(good, &file, why);
    npy_close(&file);
}

void fuzz_npz(const uint8_t *data, size_t size) {
    char path[PATH], why[WHY_SIZE] = "";
    zip_walk z;
    zip_member m;
    int there = file_with(data, size, path);
    judge_archive(path, NULL);
    char *copy = text_of(data, size);
    bool open = zip_open(&z, (const unsigned char *)copy, size, why);
    for (int n = 0; open && n < 8 && zip_next(&z, &m, why) > 0; n++) {
        char *name = text_of((const uint8_t *)m.name, m.name_length);
        judge_archive(path, name);
        judge_member(&m);
        free(name);
    }
    free(copy);
    close(there);
}

/* ---- Text ---- */

/* Number i as a complex one: texts do not keep the dtype of whole numbers. */
static void value_of(const DLTensor *t, size_t i, double to[2]) {
    const dtype_row *type = dtype_of(t->dtype);
    const void *at = (const char *)t->data + i * type->size;
    to[0] = to[1] = 0;
    switch (type->kind) {
    case 'b':
        to[0] = *(const bool *)at;
        break;
    case 'i':
        to[0] = (double)*(const int64_t *)at;
        break;
    case 'u':
        to[0] = (double)*(const uint64_t *)at;
        break;
    default:
        memcpy(to, at, type->size);
    }
}

static bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void judge_again(const npy *first) {
    char path[PATH], why[WHY_SIZE] = "";
    npy second;
    int there = file_with((const uint8_t *)"", 0, path);
    PROMISED(csv_put(there, &first->array, NULL) && text_read(&second, path, why));
    size_t n = elements_of(&first->array);
    PROMISED(elements_of(&second.array) == n && second.array.ndim == first->array.ndim);
    for (size_t i = 0; i < n; i++) {
        double a[2], b[2];
        value_of(&first->array, i, a);
        value_of(&second.array, i, b);
        PROMISED(same_number(a[0], b[0]) && same_number(a[1], b[1]));
    }
    npy_close(&second);
    close(there);
}

void fuzz_text(const uint8_t *data, size_t size) {
    char path[PATH], why[WHY_SIZE] = "";
    npy file;
    int there = file_with(data, size, path);
    bool good = text_read(&file, path, why);
    judge(good, &file, why);
    if (good)
        judge_again(&file);
    npy_close(&file);
    close(there);
}

/* ---- Raw data ---- */

/* The first line is the form, the rest are the data. */
void fuzz_raw(const uint8_t *data, size_t size) {
    char path[PATH], why[WHY_SIZE] = "";
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    size_t line = newline ? (size_t)(newline - data) : size, behind = newline ? line + 1 : size;
    npy_header h;
    npy file;
    char *form = text_of(data, line);
    if (raw_parse(form, &h)) {
        int there = file_with(data + behind, size - behind, path);
        judge(raw_read(&file, path, &h, why), &file, why);
        npy_close(&file);
        close(there);
    }
    free(form);
}
