/* forms.c - which form a file has: its name's suffix says it, or what stands behind a colon. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"

typedef enum form {
    NPY,
    NPZ,
    TEXT,
    RAW
} form;

static const struct {
    const char *name; /* also the suffix */
    form form;
    array_writer *put; /* NULL: it is not written */
} forms[] = {
    {"npy", NPY, npy_put},  {"npz", NPZ, NULL},    {"csv", TEXT, csv_put}, {"tsv", TEXT, tsv_put},
    {"txt", TEXT, txt_put}, {"raw", RAW, raw_put}, {"bin", RAW, raw_put},
};

enum {
    FORMS = sizeof forms / sizeof *forms
};

/* The row of a form; -1: there is none of this name. */
static int form_named(const char *name) {
    for (int i = 0; i < FORMS; i++)
        if (strcmp(forms[i].name, name) == 0)
            return i;
    return -1;
}

/* The row of the form that a path's suffix says; -1: it says none. */
static int suffix_form(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? form_named(dot + 1) : -1;
}

/* The row of a path's form: the first, if its suffix says none. */
static int form_of(const char *path) {
    int i = suffix_form(path);
    return i < 0 ? 0 : i;
}

static bool read_plain(npy *out, const char *path, int i, bool bfloat16, char *why) {
    switch (forms[i].form) {
    case NPY:
        return npy_read(out, path, bfloat16, why);
    case NPZ:
        return npz_read(out, path, NULL, bfloat16, why);
    case TEXT:
        return text_read(out, path, why);
    default:
        return refuse(
            why,
            "raw data do not say what they are; :float32[100,3] behind the path does, -1 is an extent that they say");
    }
}

/* Reads PATH:FORM, where FORM is a form, a dtype and shape of raw data, or the name of an array in an archive. */
static bool read_as(npy *out, const char *path, const char *form_text, bool bfloat16, char *why) {
    npy_header raw;
    int i = form_named(form_text);
    if (raw_parse(form_text, &raw))
        return raw_read(out, path, &raw, why);
    if (i >= 0)
        return read_plain(out, path, i, bfloat16, why);
    if (forms[form_of(path)].form == NPZ)
        return npz_read(out, path, form_text, bfloat16, why);
    return refuse(
        why,
        "\"%.60s\" is no form: npy, npz, csv, tsv and txt are, float32[100,3] of raw data, and names of arrays in "
        ".npz files",
        form_text);
}

static bool is_file(const char *path) { return strcmp(path, "-") == 0 || access(path, F_OK) == 0; }

/* The colon before a form, of a text that as a whole is no file's path; NULL: there is none. The first colon behind which the text is
 * no path any more. */
static char *form_colon(char *text) {
    if (is_file(text))
        return NULL;
    for (char *colon = strrchr(text, ':'); colon; colon = memrchr(text, ':', (size_t)(colon - text))) {
        *colon = 0;
        bool there = is_file(text);
        *colon = ':';
        if (there)
            return colon;
    }
    return NULL;
}

/* Does a regular file begin as .npy or .npz files do? */
static bool begins_as_data(const char *path) {
    static const char *const begins[] = {"\x93NUMPY", "PK\3\4", "PK\5\6"};
    char first[8] = "";
    struct stat about;
    FILE *from = !stat(path, &about) && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    if (!from)
        return false;
    size_t n = fread(first, 1, sizeof first - 1, from);
    fclose(from);
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (n >= strlen(begins[i]) && memcmp(first, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

bool names_data(const char *text) {
    char *copy = strdup(text);
    bool colon = copy && form_colon(copy);
    free(copy);
    if (colon || strcmp(text, "-") == 0 || !is_file(text))
        return colon;
    int i = suffix_form(text);
    return (i >= 0 && strcmp(forms[i].name, "txt") != 0) || begins_as_data(text);
}

bool file_read(npy *out, const char *text, bool bfloat16, char why[WHY_SIZE]) {
    char *path = strdup(text);
    memset(out, 0, sizeof *out);
    if (!path)
        return refuse(why, "out of memory");
    char *colon = form_colon(path);
    if (colon)
        *colon = 0;
    bool good =
        colon ? read_as(out, path, colon + 1, bfloat16, why) : read_plain(out, path, form_of(path), bfloat16, why);
    free(path);
    return good;
}

/* The form of an output, and the length of its path. Behind a colon that follows standard output or a name with a suffix, and where
 * an input has a shape, stands a form, or a mistake: then -1. */
static int output_form(const char *text, size_t *path, char *why) {
    const char *colon = strrchr(text, ':');
    int i = colon ? form_named(colon + 1) : -1;
    npy_header raw;
    *path = i < 0 ? strlen(text) : (size_t)(colon - text);
    if (i >= 0 || !colon)
        return i < 0 ? form_of(text) : i;
    char before[PATH_MAX];
    snprintf(before, sizeof before, "%.*s", (int)(colon - text), text);
    if (strcmp(before, "-") != 0 && suffix_form(before) < 0 && !raw_parse(colon + 1, &raw))
        return form_of(text);
    refuse(why, "\"%.60s\" is no form of an output; npy, csv, tsv, txt and raw are", colon + 1);
    return -1;
}

static bool form_accepts(int i, int ndim, bool records, char *why) {
    if (!forms[i].put)
        return refuse(why, "archives are not written; .npy files are");
    if (forms[i].form != TEXT || (!records && ndim <= 2))
        return true;
    return refuse(why, "text has rows and columns of numbers; the output has %s",
                  records     ? "records"
                  : ndim == 3 ? "3 dimensions"
                              : "more dimensions");
}

bool file_accepts(const char *text, int ndim, bool records, char why[WHY_SIZE]) {
    size_t length;
    int i = output_form(text, &length, why);
    if (i < 0 || !form_accepts(i, ndim, records, why))
        return false;
    char *path = strndup(text, length);
    bool good = path ? path_accepts(path, why) : refuse(why, "out of memory");
    free(path);
    return good;
}

bool file_write(const char *text, const DLTensor *array, const char *descr, char why[WHY_SIZE]) {
    size_t length;
    int i = output_form(text, &length, why);
    if (i < 0 || !form_accepts(i, array->ndim, descr, why))
        return false;
    char *path = strndup(text, length);
    bool good = path ? write_with(forms[i].put, path, array, descr, why) : refuse(why, "out of memory");
    free(path);
    return good;
}

/* The file that an output replaces or makes; NULL: none. */
static char *output_file(const char *text) {
    char why[WHY_SIZE];
    size_t length;
    char *path = output_form(text, &length, why) < 0 ? NULL : strndup(text, length);
    char *file = path ? file_replaced(path) : NULL;
    free(path);
    return file;
}

bool same_output(const char *a, const char *b) {
    if (strcmp(a, b) == 0)
        return strcmp(a, "/dev/null") != 0;
    char *first = output_file(a), *second = output_file(b);
    bool same = first && second && strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}
