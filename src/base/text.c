/* text.c - a text buffer that grows. A failure to grow is kept in the buffer, so that writers need not check each
 * step. */
#include <stdio.h>

#include "base/base.h"

static bool reserve(text *t, size_t more) {
    if (t->failed || more > SIZE_MAX / 2 - t->length) {
        t->failed = true;
        return false;
    }
    size_t need = t->length + more + 1;
    if (t->data && need <= t->capacity)
        return true;
    size_t capacity = need < 256 ? 256 : need + need / 2;
    char *data = mem_resize(t->data, capacity);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void text_add(text *t, const char *bytes, size_t length) {
    if (!reserve(t, length))
        return;
    memcpy(t->data + t->length, bytes, length);
    t->length += length;
    t->data[t->length] = 0;
}

void text_insert(text *t, size_t at, const char *bytes, size_t length) {
    if (!reserve(t, length))
        return;
    memmove(t->data + at + length, t->data + at, t->length - at);
    memcpy(t->data + at, bytes, length);
    t->length += length;
    t->data[t->length] = 0;
}

void text_puts(text *t, const char *s) { text_add(t, s, strlen(s)); }

void text_vprintf(text *t, const char *format, va_list arguments) {
    char small[256];
    va_list again;
    va_copy(again, arguments);
    int n = vsnprintf(small, sizeof small, format, arguments);
    if (n < 0) {
        t->failed = true;
    } else if ((size_t)n < sizeof small) {
        text_add(t, small, (size_t)n);
    } else if (reserve(t, (size_t)n)) {
        vsnprintf(t->data + t->length, (size_t)n + 1, format, again);
        t->length += (size_t)n;
    }
    va_end(again);
}

void text_printf(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(t, format, arguments);
    va_end(arguments);
}

void text_free(text *t) {
    mem_free(t->data);
    *t = (text){0};
}

char *text_take(text *t) {
    if (!t->data)
        text_add(t, "", 0);
    char *data = t->failed ? NULL : t->data;
    if (data)
        *t = (text){0};
    else
        text_free(t);
    return data;
}
