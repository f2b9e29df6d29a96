/* exponent.c - CPU: functions of a number's exponent, and the next number, by its bits. The C library's are called for one element after the
 * other, at 3 to 10 ns each; these are some ten instructions, which there are for vectors. All are exact, or rounded once, as the C
 * library's are. A subnormal number is multiplied by a power of two first, so that its exponent is one. */
#include "ir/common/internal.h"

/* A floating type, and the integers that have its bits. */
typedef struct format {
    emit *e;
    const char *type, *integer, *overload;
    int bits, digits, bias; /* digits: stored, behind the leading one */
} format;

static format format_of(emit *e, dtype type) {
    return type == DT_FLOAT32 ? (format){e, "float", "i32", "f32", 32, 23, 127}
                              : (format){e, "double", "i64", "f64", 64, 52, 1023};
}

static ssa bits_of(const format *f, ssa x) {
    return emit_value(f->e, "bitcast %s %s to %s", f->type, x.text, f->integer);
}

static ssa number_of(const format *f, ssa bits) {
    return emit_value(f->e, "bitcast %s %s to %s", f->integer, bits.text, f->type);
}

static ssa integer(const format *f, const char *operation, ssa x, int64_t by) {
    return emit_value(f->e, "%s %s %s, %lld", operation, f->integer, x.text, (long long)by);
}

static ssa integers(const format *f, const char *operation, ssa a, ssa b) {
    return emit_value(f->e, "%s %s %s, %s", operation, f->integer, a.text, b.text);
}

static ssa magnitude(const format *f, ssa x) {
    emit_declare(f->e, "declare %s @llvm.fabs.%s(%s)", f->type, f->overload, f->type);
    return emit_value(f->e, "call %s @llvm.fabs.%s(%s %s)", f->type, f->overload, f->type, x.text);
}

/* Of a normal number: LLVM writes constants of both types as doubles. */
static ssa power(int exponent) { return ssa_literal("0x%016llX", (unsigned long long)(exponent + 1023) << 52); }

/* x as a normal number, multiplied by 2^(digits + 1) if it is subnormal or 0, and how much more the exponent field then holds. */
static ssa normalised(const format *f, ssa x, ssa *more) {
    ssa size = magnitude(f, x);
    ssa small = emit_value(f->e, "fcmp olt %s %s, %s", f->type, size.text, power(1 - f->bias).text);
    ssa scaled = emit_value(f->e, "fmul %s %s, %s", f->type, x.text, power(f->digits + 1).text);
    *more = emit_value(f->e, "select i1 %s, %s %d, %s 0", small.text, f->integer, f->digits + 1, f->integer);
    return emit_select_as(f->e, f->type, small, scaled, x);
}

/* The exponent of a number that is none of 0, infinity and NaN; y: the number as normalised(). */
static ssa exponent(const format *f, ssa x, ssa *y) {
    ssa more;
    *y = normalised(f, x, &more);
    ssa field = integer(f, "and", integer(f, "lshr", bits_of(f, *y), f->digits), 2 * f->bias + 1);
    return integers(f, "sub", integer(f, "sub", field, f->bias), more);
}

/* Is |x| neither infinite nor 0, and a number? */
static ssa is_ordinary(const format *f, ssa x) {
    ssa size = magnitude(f, x);
    ssa finite = emit_value(f->e, "fcmp olt %s %s, 0x7FF0000000000000", f->type, size.text);
    return emit_op(f->e, "and i1", finite, emit_value(f->e, "fcmp one %s %s, 0.0", f->type, size.text));
}

/* Of infinities the largest integer, of 0 and NaN the least. */
static void ilogb_body(const format *f) {
    ssa x = ssa_named("%%x"), y, e = exponent(f, x, &y);
    ssa infinite = emit_value(f->e, "fcmp oeq %s %s, 0x7FF0000000000000", f->type, magnitude(f, x).text);
    if (f->bits == 64)
        e = emit_value(f->e, "trunc i64 %s to i32", e.text);
    ssa other = emit_value(f->e, "select i1 %s, i32 2147483647, i32 -2147483648", infinite.text);
    emit_line(f->e, "ret i32 %s", emit_select_as(f->e, "i32", is_ordinary(f, x), e, other).text);
}

static ssa clamp(const format *f, ssa x, int low, int high) {
    const char *t = f->integer;
    emit_declare(f->e, "declare %s @llvm.smax.%s(%s, %s)", t, t, t, t);
    emit_declare(f->e, "declare %s @llvm.smin.%s(%s, %s)", t, t, t, t);
    x = emit_value(f->e, "call %s @llvm.smax.%s(%s %s, %s %d)", t, t, t, x.text, t, low);
    return emit_value(f->e, "call %s @llvm.smin.%s(%s %s, %s %d)", t, t, t, x.text, t, high);
}

/* x 2^e, -bias < e <= bias. */
static ssa times_power(const format *f, ssa x, ssa e) {
    ssa scale = number_of(f, integer(f, "shl", integer(f, "add", e, f->bias), f->digits));
    return emit_value(f->e, "fmul %s %s, %s", f->type, x.text, scale.text);
}

/* The number with exponent 0 is multiplied by two powers of two, of which the first leaves it normal, so that it is rounded by the second
 * alone. */
static void ldexp_body(const format *f) {
    ssa x = ssa_named("%%x"), n = ssa_named("%%n"), y, e = exponent(f, x, &y);
    int far = 8 * f->bias; /* beyond all sums that make a difference */
    if (f->bits == 64)
        n = emit_value(f->e, "sext i32 %%n to i64");
    e = integers(f, "add", e, clamp(f, n, -far, far));
    ssa kept = integer(f, "and", bits_of(f, y), ~((int64_t)(2 * f->bias + 1) << f->digits));
    ssa m = number_of(f, integer(f, "or", kept, (int64_t)f->bias << f->digits));
    ssa first = clamp(f, e, 1 - f->bias, f->bias);
    ssa rest = clamp(f, integers(f, "sub", e, first), 1 - f->bias, f->bias);
    ssa r = times_power(f, times_power(f, m, first), rest);
    ssa same = emit_value(f->e, "fadd %s %%x, %%x", f->type); /* 0, infinities, and a quiet NaN */
    emit_line(f->e, "ret %s %s", f->type, emit_select_as(f->e, f->type, is_ordinary(f, x), r, same).text);
}

/* The bits of numbers of a sign are ordered as their magnitudes are. */
static void nextafter_body(const format *f) {
    ssa x = ssa_named("%%x"), y = ssa_named("%%y"), bits = bits_of(f, x);
    ssa below = emit_value(f->e, "fcmp olt %s %%x, %%y", f->type), positive = integer(f, "icmp sge", bits, 0);
    ssa inwards = emit_op(f->e, "xor i1", below, positive);
    ssa step = emit_value(f->e, "select i1 %s, %s -1, %s 1", inwards.text, f->integer, f->integer);
    ssa next = number_of(f, integers(f, "add", bits, step));
    emit_declare(f->e, "declare %s @llvm.copysign.%s(%s, %s)", f->type, f->overload, f->type, f->type);
    ssa least = number_of(f, ssa_constant(1));
    least = emit_value(f->e, "call %s @llvm.copysign.%s(%s %s, %s %%y)", f->type, f->overload, f->type, least.text,
                       f->type);
    ssa zero = emit_value(f->e, "fcmp oeq %s %%x, 0.0", f->type),
        alike = emit_value(f->e, "fcmp oeq %s %%x, %%y", f->type);
    ssa nan = emit_value(f->e, "fcmp uno %s %%x, %%y", f->type), sum = emit_value(f->e, "fadd %s %%x, %%y", f->type);
    ssa r = emit_select_as(f->e, f->type, zero, least, next);
    r = emit_select_as(f->e, f->type, alike, y, r);
    emit_line(f->e, "ret %s %s", f->type, emit_select_as(f->e, f->type, nan, sum, r).text);
}

static const struct {
    const char *function;
    const char *result, *second; /* types; "": that of the first parameter; NULL: there is none */
    const char *name;            /* of the second parameter */
    void (*body)(const format *f);
} rows[] = {{"ilogb", "i32", NULL, NULL, ilogb_body},
            {"ldexp", "", "i32", "n", ldexp_body},
            {"scalbn", "", "i32", "n", ldexp_body},
            {"nextafter", "", "", "y", nextafter_body}};

bool emit_exponent(emit *e, const math_row *row, dtype wide, const ssa *args, ssa *result) {
    const format f = format_of(e, wide);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].function, row->name) != 0)
            continue;
        const char *to = *rows[i].result ? rows[i].result : f.type;
        fragment name = fragment_of("%s_%s", rows[i].function, f.type), second = fragment_none(),
                 given = fragment_none();
        if (rows[i].second) {
            const char *type = *rows[i].second ? rows[i].second : f.type;
            second = fragment_of(", %s %%%s", type, rows[i].name);
            given = fragment_of(", %s %s", type, args[1].text);
        }
        definition s;
        if (emit_define(e, &s, "define internal %s @%s(%s %%x%s) nounwind readnone alwaysinline", to, name.text, f.type,
                        second.text)) {
            rows[i].body(&f);
            emit_define_end(e, &s);
        }
        *result = emit_value(e, "call %s @%s(%s %s%s)", to, name.text, f.type, args[0].text, given.text);
        return true;
    }
    return false;
}
