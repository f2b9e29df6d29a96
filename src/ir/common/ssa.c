/* ssa.c - see ssa.h. */
#include "ir/common/ssa.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

static void spell(char *out, size_t size, const char *format, va_list arguments) {
    int length = vsnprintf(out, size, format, arguments);
    assert(length >= 0 && (size_t)length < size);
    (void)length;
}

/* Decimal digits: registers and constants are most of what is spelled, and printf takes several times as long. */
static void spell_integer(char *out, int64_t value) {
    char digits[20];
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    int n = 0;
    do
        digits[n++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *out++ = '-';
    while (n)
        *out++ = digits[--n];
    *out = 0;
}

ssa ssa_register(int number) {
    ssa x = {.kind = SSA_REGISTER, .number = number, .text = "%r"};
    spell_integer(x.text + strlen(x.text), number);
    return x;
}

ssa ssa_constant(int64_t value) {
    ssa x = {.kind = SSA_INTEGER, .number = value};
    spell_integer(x.text, value);
    return x;
}

ssa ssa_bool(bool value) {
    static const ssa values[] = {{.kind = SSA_INTEGER, .text = "false"},
                                 {.kind = SSA_INTEGER, .number = 1, .text = "true"}};
    return values[value];
}

ssa ssa_named(const char *format, ...) {
    ssa x = {.kind = SSA_NAMED};
    va_list arguments;
    va_start(arguments, format);
    spell(x.text, sizeof x.text, format, arguments);
    va_end(arguments);
    assert(x.text[0] == '%' || x.text[0] == '@');
    return x;
}

ssa ssa_literal(const char *format, ...) {
    ssa x = {.kind = SSA_LITERAL};
    va_list arguments;
    va_start(arguments, format);
    spell(x.text, sizeof x.text, format, arguments);
    va_end(arguments);
    return x;
}

bool ssa_same(const ssa *a, const ssa *b) {
    bool spelled = a->kind == SSA_NAMED || a->kind == SSA_LITERAL;
    return a->kind == b->kind && (spelled ? !strcmp(a->text, b->text) : a->number == b->number);
}

fragment fragment_of(const char *format, ...) {
    fragment x;
    va_list arguments;
    va_start(arguments, format);
    spell(x.text, sizeof x.text, format, arguments);
    va_end(arguments);
    return x;
}
