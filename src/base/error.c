/* error.c - the calling thread's last error. It has a buffer of fixed size, so that reporting an error never
 * allocates. */
#include <limits.h>
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
static void set_source(uf_status status, const char *path, size_t length, int line, int column) {
    enum {
        SHOWN = sizeof last.source - 1 /* bytes of a path that are shown */
    };
    size_t cut = length > SHOWN ? length - SHOWN : 0;
    set(status, -1, -1);
    last.line = line;
    last.column = column;
    memcpy(last.source, path + cut, length - cut);
    last.source[length - cut] = 0;
    snprintf(last.message, sizeof last.message, "%s%s%s%d:", cut ? ".." : "", last.source, length ? ":" : "", line);
}

static uf_status fail_position(uf_status status, const char *path, const char *source, size_t offset,
                               const char *format, va_list arguments) {
    int line, column;
    source_position(source, offset, &line, &column);
    set_source(status, path, strlen(path), line, column);
    append_format("%d: ", column);
    append(format, arguments);
    append_line(source, offset);
    return status;
}

uf_status fail_source(uf_status status, const char *source, size_t offset, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_position(status, "", source, offset, format, arguments);
    va_end(arguments);
    return status;
}

uf_status fail_file(uf_status status, const char *path, const char *source, size_t offset, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_position(status, path, source, offset, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- Texts with a #line at their head ---- */

text_head text_head_read(const char *source) {
    static const char word[] = "#line ";
    const text_head none = {0};
    size_t at = sizeof word - 1;
    int line = 0;
    if (strncmp(source, word, at) != 0)
        return none;
    for (; source[at] >= '0' && source[at] <= '9'; at++) {
        if (line > INT_MAX / 20) /* so that the lines behind it have numbers, too */
            return none;
        line = 10 * line + (source[at] - '0');
    }
    size_t path = at + 2, end = at + strcspn(source + at, "\n");
    bool quoted = end >= path + 1 && source[at] == ' ' && source[at + 1] == '"' && source[end - 1] == '"';
    if (!line || !quoted || !source[end])
        return none;
    return (text_head){.length = end + 1, .line = line, .path = source + path, .path_length = (int)(end - 1 - path)};
}

/* A position in the head is taken for the first one behind it. */
void kernel_position(const char *source, size_t offset, int *line, int *column) {
    text_head head = text_head_read(source);
    source_position(source + head.length, offset > head.length ? offset - head.length : 0, line, column);
    *line += head.length ? head.line - 1 : 0;
}

uf_status fail_kernel(uf_status status, const char *source, size_t offset, const char *format, ...) {
    text_head head = text_head_read(source);
    int line, column;
    va_list arguments;
    va_start(arguments, format);
    if (head.length) {
        kernel_position(source, offset, &line, &column);
        set_source(status, head.path, (size_t)head.path_length, line, column);
        append_format(" ");
        append(format, arguments);
        append_line(source, offset > head.length ? offset : head.length);
    } else {
        fail_position(status, "", source, offset, format, arguments);
    }
    va_end(arguments);
    return status;
}

size_t fail_place_length(const uf_error *e) {
    char place[sizeof e->source + 64];
    size_t cut = strncmp(e->message, "..", 2) ? 0 : 2;
    for (int form = 0; e->line && form < 3; form++) {
        bool named = form > 0, column = form < 2;
        int n = snprintf(place, sizeof place, "%s%s%d:", named ? e->source : "", named ? ":" : "", e->line);
        n += snprintf(place + n, sizeof place - (size_t)n, column ? "%d: " : " ", e->column);
        if (strncmp(e->message + cut, place, (size_t)n) == 0)
            return cut + (size_t)n;
    }
    return 0;
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

void uf_check(uf_status status, const char *file, int line) {
    if (!status)
        return;
    fprintf(stderr, "%s:%d: %s\n", file, line, last.status == status ? last.message : uf_status_text(status));
    exit(EXIT_FAILURE);
}

const char *uf_status_text(uf_status status) {
    for (size_t i = 0; i < COUNT(sentences); i++)
        if (sentences[i].status == status)
            return sentences[i].text;
    return "unknown status";
}
