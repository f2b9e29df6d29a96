/* npy_read.c - reads arrays from .npy files. A file is mapped if its data can be used as they are; otherwise they are
 * read into memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"

static bool data_missing(const npy_header *h, size_t there, char *why) {
    return refuse(why, "ends after %zu bytes; its header promises %zu of data from byte %zu on", there, h->size,
                  h->offset);
}

/* Reads until *got is `size` or the file ends; *got counts on from what it was. */
static bool read_on(int from, unsigned char *to, size_t size, size_t *got) {
    while (*got < size) {
        ssize_t n = read(from, to + *got, size - *got);
        if (n == 0)
            return true;
        if (n > 0)
            *got += (size_t)n;
        else if (errno != EINTR)
            return false;
    }
    return true;
}

/* Reads up to `size` bytes into memory that grows with what is read, since a header can claim any size. NULL: errno
 * says why. */
static unsigned char *read_growing(int from, size_t size, size_t *got) {
    size_t capacity = size < 1 << 20 ? size : 1 << 20;
    unsigned char *memory = malloc(capacity + !capacity);
    *got = 0;
    while (memory) {
        if (!read_on(from, memory, capacity, got)) {
            free(memory);
            return NULL;
        }
        if (*got < capacity || capacity == size)
            return memory;
        capacity = size / 2 < capacity ? size : 2 * capacity;
        unsigned char *larger = realloc(memory, capacity);
        if (!larger)
            free(memory);
        memory = larger;
    }
    return NULL;
}

/* Reads the header of a file that cannot be mapped, from its current position on, and no byte more. */
static bool stream_header(int from, npy_header *h, char *why) {
    unsigned char prefix[NPY_PREFIX_SIZE], *header;
    size_t got = 0, offset;
    if (!read_on(from, prefix, sizeof prefix, &got))
        return refuse_by_errno(why);
    if (!npy_prefix(prefix, got, &offset, why))
        return false;
    if (!(header = malloc(offset)))
        return refuse_by_errno(why);
    memcpy(header, prefix, got);
    bool good = read_on(from, header, offset, &got) ? npy_parse(header, got, h, why) : refuse_by_errno(why);
    free(header);
    return good;
}

static bool read_stream(int from, npy *out, npy_header *h, char *why) {
    size_t got;
    if (!stream_header(from, h, why))
        return false;
    out->memory = read_growing(from, h->size, &got);
    if (!out->memory)
        return refuse_by_errno(why);
    out->array.data = out->memory;
    return got == h->size || data_missing(h, h->offset + got, why);
}

static bool read_mapped(npy *out, npy_header *h, char *why) {
    if (!npy_parse(out->map, out->mapped, h, why))
        return false;
    if (out->mapped - h->offset < h->size)
        return data_missing(h, out->mapped, why);
    out->array.data = (unsigned char *)out->map + h->offset;
    return true;
}

/* data may be NULL if there are no bytes, and no offset may be added to it then. */
static void swap_bytes(unsigned char *data, size_t bytes, size_t size) {
    for (size_t at = 0; at < bytes; at += size)
        for (size_t i = 0; i < size / 2; i++) {
            unsigned char kept = data[at + i];
            data[at + i] = data[at + size - 1 - i];
            data[at + size - 1 - i] = kept;
        }
}

/* Copies data that are not aligned, or in the other byte order, into memory of the program's own, and puts their bytes
 * in order. */
static bool align_and_swap(npy *out, const npy_header *h, char *why) {
    size_t align = h->fields[0] ? 16 : h->type->align; /* records may need as much as any dtype does */
    bool aligned = (uintptr_t)out->array.data % align == 0;
    if (h->size && (!aligned || (h->swapped && !out->memory))) {
        void *copy = malloc(h->size);
        if (!copy)
            return refuse_by_errno(why);
        memcpy(copy, out->array.data, h->size);
        free(out->memory);
        out->memory = copy;
        out->array.data = copy;
    }
    if (h->swapped)
        swap_bytes(out->array.data, h->size, h->type->align);
    return true;
}

static void describe(npy *out, const npy_header *h) {
    out->opaque = h->opaque;
    out->array.device = (DLDevice){kDLCPU, 0};
    out->array.dtype = h->type->type;
    out->array.dtype.lanes = (uint16_t)(h->element / h->type->size);
    memcpy(out->fields, h->fields, sizeof out->fields);
    out->array.ndim = h->ndim;
    out->array.shape = out->shape;
    int64_t stride = 1;
    for (int d = 0; d < h->ndim; d++) {
        out->shape[d] = h->shape[d];
        out->strides[d] = stride;
        stride *= h->shape[d] ? h->shape[d] : 1;
    }
    if (h->fortran)
        out->array.strides = out->strides;
}

bool npy_known(const npy_header *h, bool bfloat16, char why[WHY_SIZE]) {
    return !h->opaque || bfloat16 ||
           refuse(why, "has dtype V2, which does not say what it holds; with --dtype bfloat16 it is that");
}

bool npy_take(npy *out, const npy_header *h, const unsigned char *data, char why[WHY_SIZE]) {
    describe(out, h);
    out->array.data = (void *)(uintptr_t)data;
    return align_and_swap(out, h, why);
}

/* Maps a regular file, unless it is standard input, whose position counts. */
static bool map_file(int from, npy *out, char *why) {
    struct stat about;
    if (fstat(from, &about))
        return refuse_by_errno(why);
    if (S_ISDIR(about.st_mode))
        return refuse(why, "%s", strerror(EISDIR));
    if (from == STDIN_FILENO || !S_ISREG(about.st_mode) || !about.st_size)
        return true;
    void *map = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, from, 0);
    if (map != MAP_FAILED) {
        out->map = map;
        out->mapped = (size_t)about.st_size;
    }
    return true;
}

static bool read_open(int from, npy *out, bool bfloat16, char *why) {
    npy_header h;
    if (!map_file(from, out, why) || !(out->map ? read_mapped(out, &h, why) : read_stream(from, out, &h, why)))
        return false;
    return npy_known(&h, bfloat16, why) && npy_take(out, &h, out->array.data, why);
}

static int open_path(const char *path) {
    return strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
}

static void close_path(int from) {
    if (from != STDIN_FILENO)
        close(from);
}

bool npy_read(npy *out, const char *path, bool bfloat16, char why[WHY_SIZE]) {
    memset(out, 0, sizeof *out);
    int from = open_path(path);
    if (from < 0)
        return refuse_by_errno(why);
    bool good = read_open(from, out, bfloat16, why);
    close_path(from);
    if (!good)
        npy_close(out);
    return good;
}

bool npy_bytes(npy *out, const char *path, const unsigned char **bytes, size_t *length, char why[WHY_SIZE]) {
    memset(out, 0, sizeof *out);
    int from = open_path(path);
    if (from < 0)
        return refuse_by_errno(why);
    bool good = map_file(from, out, why);
    *length = out->mapped;
    if (good && !out->map && !(out->memory = read_growing(from, SIZE_MAX / 2, length)))
        good = refuse_by_errno(why);
    close_path(from);
    *bytes = out->map ? out->map : out->memory;
    return good;
}

void npy_close(npy *file) {
    if (file->map)
        munmap(file->map, file->mapped);
    free(file->memory);
    memset(file, 0, sizeof *file);
}

bool npy_make_writable(npy *file) { return !file->map || !mprotect(file->map, file->mapped, PROT_READ | PROT_WRITE); }
