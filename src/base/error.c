/* error.c - the calling thread's last error. It has a buffer of fixed size, so that reporting an error never
 * allocates. */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

static _Thread_local uf_error last;

static const struct {
    uf_status status;
    const char *text;
} sentences[] = {
    {UF_OK, "no error"},
    {UF_ERR_ARGUMENT, "an argument is wrong"},
    {UF_ERR_SYNTAX, "a text cannot be read"},
    {UF_ERR_TYPE, "a kernel does not type-check"},
    {UF_ERR_SIGNATURE, "no signature matches the inputs"},
    {UF_ERR_SHAPE, "extents do not agree"},
    {UF_ERR_CAST, "a value does not cast under the casting rule"},
    {UF_ERR_DEVICE, "arrays are on different devices, or a device reported an error"},
    {UF_ERR_LIBRARY, "a library is missing or unusable"},
    {UF_ERR_COMPILE, "generated code was refused by a compiler"},
    {UF_ERR_KERNEL, "a kernel reported an error"},
    {UF_ERR_MEMORY, "out of memory"},
    {UF_ERR_IO, "a file cannot be read or written"},
};

uf_error *error_slot(void) { return &last; }

static void set(uf_status status, int argument, int dimension) {
    last.status = status;
    last.argument = argument;
    last.dimension = dimension;
    last.line = last.column = 0;
    last.source[0] = 0;
}

/* Appends to the message. What does not fit is cut, and " .." marks the cut. */
static void append(const char *format, va_list arguments) {
    static const char cut[] = " ..";
    size_t used = strlen(last.message), left = sizeof last.message - used;
    int n = vsnprintf(last.message + used, left, format, arguments);
    if (n >= 0 && (size_t)n >= left) {
        char *end = last.message + sizeof last.message - sizeof cut;
        while (end > last.message && ((unsigned char)*end & 0xC0) == 0x80) /* a UTF-8 character is not cut in two */
            end--;
        strcpy(end, cut);
    }
}

static void append_format(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
}

uf_status fail(uf_status status, const char *format, ...) {
    va_list arguments;
    set(status, -1, -1);
    last.message[0] = 0;
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
    return status;
}

uf_status fail_argument(uf_status status, int argument, int dimension, const char *format, ...) {
    va_list arguments;
    set(status, argument, dimension);
    snprintf(last.message, sizeof last.message, dimension < 0 ? "argument %d: " : "argument %d: dimension %d ",
             argument, dimension);
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
    return status;
}

void source_position(const char *source, size_t offset, int *line, int *column) {
    *line = *column = 1;
    for (size_t i = 0; i < offset && source[i]; i++) {
        if (source[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)source[i] & 0xC0) != 0x80) {
            ++*column;
        }
    }
}

/* Appends the line that an offset is in, or a window of it, and below it a caret at the offset. */
static void append_line(const char *source, size_t offset) {
    enum {
        WINDOW = 100
    }; /* bytes of the line that are shown, since a kernel from UF_SOURCE is one long line */
    size_t first = offset, end = offset;
    while (first > 0 && source[first - 1] != '\n')
        first--;
    while (source[end] && source[end] != '\n' && source[end] != '\r')
        end++;
    bool cut_left = offset - first > WINDOW * 2 / 3;
    if (cut_left)
        first = offset - WINDOW / 2;
    bool cut_right = end - first > WINDOW;
    if (cut_right)
        end = first + WINDOW;
    while (first < offset && ((unsigned char)source[first] & 0xC0) == 0x80)
        first++;
    while (end > offset && ((unsigned char)source[end] & 0xC0) == 0x80)
        end--;
    append_format("\n  %s%.*s%s\n  %s", cut_left ? ".." : "", (int)(end - first), source + first, cut_right ? ".." : "",
                  cut_left ? "  " : "");
    for (size_t i = first; i < offset; i++)
        if (((unsigned char)source[i] & 0xC0) != 0x80)
            append_format("%c", source[i] == '\t' ? '\t' : ' ');
    append_format("^");
}

/* Begins the message about a position in a text: path, line and column. */
static void set_source(uf_status status, const char *path, const char *source, size_t offset) {
    enum {
        SHOWN = sizeof last.source - 1 /* bytes of a path that are shown */
    };
    size_t length = strlen(path), cut = length > SHOWN ? length - SHOWN : 0;
    set(status, -1, -1);
    strcpy(last.source, path + cut);
    source_position(source, offset, &last.line, &last.column);
    snprintf(last.message, sizeof last.message, "%s%s%s%d:%d: ", cut ? ".." : "", path + cut, *path ? ":" : "",
             last.line, last.column);
}

uf_status fail_source(uf_status status, const char *source, size_t offset, const char *format, ...) {
    va_list arguments;
    set_source(status, "", source, offset);
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
    append_line(source, offset);
    return status;
}

uf_status fail_file(uf_status status, const char *path, const char *source, size_t offset, const char *format, ...) {
    va_list arguments;
    set_source(status, path, source, offset);
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
    append_line(source, offset);
    return status;
}

uf_status fail_named(uf_status status, const char *format, ...) {
    va_list arguments;
    if (!status || !last.line || last.source[0])
        return status;
    va_start(arguments, format);
    vsnprintf(last.source, sizeof last.source, format, arguments);
    va_end(arguments);
    return status;
}

uf_status fail_about(uf_status status, const char *name) {
    static const char *const about[] = {"argument ", "where: ", "starts: ", "initial value ", "axis ",
                                        "axes ",     "naxes ",  "indices[", "operand: ",      "target: "};
    bool fits = status == UF_ERR_SHAPE && !strstr(last.message, name);
    for (size_t i = 0; i < COUNT(about); i++)
        fits |= !strncmp(last.message, about[i], strlen(about[i]));
    if (!status || !fits)
        return status;
    char was[sizeof last.message];
    strcpy(was, last.message);
    last.message[0] = 0;
    append_format("%s: %s", name, was);
    return status;
}

void fail_renumber(const char *what, int (*number)(const void *user, int n), const void *user) {
    char was[sizeof last.message];
    size_t length = strlen(what);
    strcpy(was, last.message);
    last.message[0] = 0;
    for (const char *at = was, *next; *at; at = next) {
        const char *found = strstr(at, what);
        if (!found || found[length] < '0' || found[length] > '9') {
            next = found ? found + length : at + strlen(at);
            append_format("%.*s", (int)(next - at), at);
            continue;
        }
        char *end;
        long n = strtol(found + length, &end, 10);
        append_format("%.*s%d", (int)(found + length - at), at, number(user, (int)n));
        next = end;
    }
}

uf_status fail_memory(void) { return fail(UF_ERR_MEMORY, "out of memory"); }

const uf_error *uf_last_error(void) { return &last; }

const char *uf_status_text(uf_status status) {
    for (size_t i = 0; i < COUNT(sentences); i++)
        if (sentences[i].status == status)
            return sentences[i].text;
    return "unknown status";
}
