/* fuzz_texts.c - the texts that the library reads: kernels, signatures, layouts, parameter lists, identities, expressions, modules,
 * function files. Whatever the text is, there is a function, or an error that says something and points into the text; nothing leaks
 * (the address sanitizer looks at that), and nothing takes long for its size (libFuzzer's -timeout). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ufunc.h>
#include <unistd.h>

#include "targets.h"

char *text_of(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    return text;
}

static int lines_of(const char *text) {
    int n = 1;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* What an answer must be like. A text with a #line has lines of its own numbers. */
static void judge(uf_status status, const void *made, const char *text) {
    const uf_error *e = uf_last_error();
    PROMISED((status == UF_OK) == (made != NULL));
    if (!status)
        return;
    PROMISED(e->status == status && e->message[0]);
    PROMISED(e->line >= 0 && e->column >= 0);
    PROMISED(!text || strstr(text, "#line") || e->line <= lines_of(text) + 1);
}

static void judge_function(uf_status status, uf_func *const *f, const char *text) {
    judge(status, *f, text);
    uf_free(*f);
}

static void kernel(const uint8_t *data, size_t size) {
    char *text = text_of(data, size);
    uf_func *f;
    judge_function(uf_vectorize(&f, "f", "float64,int32->float64; float32->float32", text), &f, text);
    judge_function(uf_vectorize(&f, "f", "complex64,float16->complex64", text), &f, text);
    judge_function(uf_vectorize(&f, "f", NULL, text), &f, text);
    free(text);
}

static void core_kernel(const uint8_t *data, size_t size) {
    char *text = text_of(data, size);
    uf_func *f;
    judge_function(uf_guvectorize(&f, "f", "(n)->(n)", "f->f", text), &f, text);
    judge_function(uf_guvectorize(&f, "f", "(m,n),(n)->(m)", "dd->d", text), &f, text);
    free(text);
}

static void index_kernel(const uint8_t *data, size_t size) {
    char *text = text_of(data, size);
    uf_func *f;
    judge_function(uf_kernel(&f, "f", "float32[], float32[]", text), &f, text);
    judge_function(uf_kernel(&f, "f", "uint8[,], int64[], float64", text), &f, text);
    free(text);
}

static void signatures(const uint8_t *data, size_t size) {
    char *text = text_of(data, size);
    uf_func *f;
    judge_function(uf_vectorize(&f, "f", text, "(x, y) { return x; }"), &f, NULL);
    judge_function(uf_vectorize(&f, "f", text, "(x) { return x; }"), &f, NULL);
    free(text);
}

static void parameters(const uint8_t *data, size_t size) {
    char *text = text_of(data, size);
    uf_func *f;
    judge_function(uf_kernel(&f, "f", text, "[i](x, y) { x[i] = y; }"), &f, NULL);
    free(text);
}

static void layout(const uint8_t *data, size_t size) {
    char *text = text_of(data, size);
    uf_func *f;
    judge_function(uf_guvectorize(&f, "f", text, NULL, "(x) -> (y) { }"), &f, NULL);
    judge_function(uf_guvectorize(&f, "f", text, "ff->f", "(x, z) -> (y) { }"), &f, NULL);
    free(text);
}

static void identity(const uint8_t *data, size_t size) {
    char *text = text_of(data, size);
    uf_func *f;
    const uf_section section = {"ff->f; ii->i", "(x, y) { return x + y; }"};
    const uf_definition d = {.size = sizeof d, .name = "f", .nsections = 1, .sections = &section, .identity = text};
    judge_function(uf_define(&f, &d), &f, NULL);
    free(text);
}

static void expression(const uint8_t *data, size_t size) {
    char *text = text_of(data, size);
    uf_func *f;
    judge_function(uf_compose(&f, "f", "x, y, z", text, 0, NULL), &f, NULL);
    free(text);
}

static void module(const uint8_t *data, size_t size) {
    char *text = text_of(data, size);
    uf_module *m;
    const uf_module_definition d = {.size = sizeof d, .name = "m", .source = text};
    uf_status status = uf_module_new(&m, &d);
    judge(status, m, text);
    uf_module_free(m);
    free(text);
}

/* A file of functions or of a module, in memory. */
static void file(const uint8_t *data, size_t size) {
    static int there = -1;
    char path[64];
    uf_func *f;
    uf_module *m;
    if (there < 0)
        there = memfd_create("fuzz", 0);
    if (there < 0 || ftruncate(there, 0) || pwrite(there, data, size, 0) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", there);
    judge_function(uf_load(&f, path), &f, NULL);
    uf_status status = uf_module_load(&m, path);
    judge(status, m, NULL);
    uf_module_free(m);
}

/* ---- The list ---- */

static const fuzz_target targets[] = {
    {"kernel", kernel},
    {"core_kernel", core_kernel},
    {"index_kernel", index_kernel},
    {"signatures", signatures},
    {"parameters", parameters},
    {"layout", layout},
    {"identity", identity},
    {"expression", expression},
    {"module", module},
    {"file", file},
    {"npy", fuzz_npy},
    {"npz", fuzz_npz},
    {"text", fuzz_text},
    {"raw", fuzz_raw},
    {"calls", fuzz_calls},
};

const fuzz_target *fuzz_target_at(int i) {
    return i >= 0 && i < (int)(sizeof targets / sizeof *targets) ? &targets[i] : NULL;
}

const fuzz_target *fuzz_target_named(const char *name) {
    for (int i = 0; fuzz_target_at(i); i++)
        if (name && strcmp(targets[i].name, name) == 0)
            return &targets[i];
    return NULL;
}
