/* directed.c - arithmetic that is rounded toward -infinity or +infinity: add_down, add_up and the others of the math table.
 *
 * A GPU has an instruction for each, and so has AVX-512, of whole vectors. Other CPUs have a rounding mode, which LLVM does not know of,
 * and which would have to be set for every operation. So there the result r is rounded to nearest as usual, the sign of what it lacks,
 * exact - r, is computed, and where that is negative, r becomes the number below it. That needs no branch, so that loops are vectorised. What is lacking is a
 * number in add, mul, div and sqrt, and a sum of three in fma (T. J. Dekker, 1971; S. Boldo and J.-M. Muller, Exact and Approximated
 * Error of the FMA, 2011). In float32 it is computed in float64, where nothing overflows or underflows; in float64 the operands are
 * scaled by powers of two where it would underflow. Of an infinite r what is lacking comes out as an infinity if r overflowed,
 * and as NaN, which is not negative, if the exact result is infinite.
 *
 * Upward is downward of negated operands, negated, since rounding to nearest is symmetric. */
#include <assert.h>
#include <stdio.h>

#include "ir/common/internal.h"
#include "ir/common/vector_ops.h"

enum {
    MAX_ARITY = 3,
    ROUND_DOWN = 9, /* as the intrinsics of AVX-512 take it; without exceptions */
    ROUND_UP = 10
};

/* ---- Instructions on a floating type ---- */

/* Where instructions go, and the type of their operands. */
typedef struct place {
    emit *e;
    dtype type;
    const char *t, *bits; /* "float" and "i32", its bits */
} place;

static place place_of(emit *e, dtype type) {
    return (place){e, type, ir_value_type(type), ir_value_type(type == DT_FLOAT32 ? DT_INT32 : DT_INT64)};
}

static ssa two(const place *p, const char *instruction, ssa x, ssa y) {
    return emit_value(p->e, "%s %s %s, %s", instruction, p->t, x.text, y.text);
}

static ssa add(const place *p, ssa x, ssa y) { return two(p, "fadd", x, y); }
static ssa subtract(const place *p, ssa x, ssa y) { return two(p, "fsub", x, y); }
static ssa multiply(const place *p, ssa x, ssa y) { return two(p, "fmul", x, y); }
static ssa less(const place *p, ssa x, ssa y) { return two(p, "fcmp olt", x, y); }
static ssa equal(const place *p, ssa x, ssa y) { return two(p, "fcmp oeq", x, y); }
static ssa both(const place *p, ssa x, ssa y) { return emit_op(p->e, "and i1", x, y); }
static ssa either(const place *p, ssa x, ssa y) { return emit_op(p->e, "or i1", x, y); }
static ssa choose(const place *p, ssa condition, ssa yes, ssa no) {
    return emit_select_as(p->e, p->t, condition, yes, no);
}

static const char *suffix(const place *p) { return p->type == DT_FLOAT32 ? "f32" : "f64"; }

static ssa one_operand(const place *p, const char *name, ssa x) {
    emit_declare(p->e, "declare %s @%s.%s(%s)", p->t, name, suffix(p), p->t);
    return emit_value(p->e, "call %s @%s.%s(%s %s)", p->t, name, suffix(p), p->t, x.text);
}

static ssa magnitude(const place *p, ssa x) { return one_operand(p, "llvm.fabs", x); }
static ssa root(const place *p, ssa x) { return one_operand(p, "llvm.sqrt", x); }

static ssa fused(const place *p, ssa x, ssa y, ssa z) {
    emit_declare(p->e, "declare %s @llvm.fma.%s(%s, %s, %s)", p->t, suffix(p), p->t, p->t, p->t);
    return emit_value(p->e, "call %s @llvm.fma.%s(%s %s, %s %s, %s %s)", p->t, suffix(p), p->t, x.text, p->t, y.text,
                      p->t, z.text);
}

static ssa zero(void) { return ssa_literal("0.0"); }
static ssa infinity(void) { return ssa_literal("0x7FF0000000000000"); }
/* 2 to an exponent in the range of float64's. */
static ssa power(int exponent) { return ssa_literal("0x%016llX", (unsigned long long)(1023 + exponent) << 52); }

static ssa bits_of(const place *p, ssa x) { return emit_value(p->e, "bitcast %s %s to %s", p->t, x.text, p->bits); }

static ssa from_bits(const place *p, ssa x) { return emit_value(p->e, "bitcast %s %s to %s", p->bits, x.text, p->t); }

static ssa bitwise(const place *p, const char *instruction, ssa x, ssa y) {
    return emit_value(p->e, "%s %s %s, %s", instruction, p->bits, x.text, y.text);
}

static int width(const place *p) { return 8 * dtypes[p->type].size; }
static ssa sign_bit(const place *p) { return ssa_constant(INT64_MIN >> (64 - width(p))); }

/* In the bits, of which compilers conclude nothing. */
static ssa negate(const place *p, ssa x) { return from_bits(p, bitwise(p, "xor", bits_of(p, x), sign_bit(p))); }

/* float32 <-> float64 */
static ssa widen(const place *p, ssa x) {
    return p->type == DT_FLOAT32 ? emit_value(p->e, "fpext float %s to double", x.text) : x;
}
static ssa narrow(const place *p, ssa x) { return emit_value(p->e, "fptrunc double %s to float", x.text); }

/* ---- Steps ---- */

/* The number below x where the condition holds, else x. Of a positive number the bits, read as an integer, are one less, of a
 * negative one and of -0 one more. x is not +0 where the condition holds. */
static ssa step_down(const place *p, ssa x, ssa condition) {
    ssa bits = bits_of(p, x);
    ssa negative = bitwise(p, "lshr", bits, ssa_constant(width(p) - 2));
    negative = bitwise(p, "and", negative, ssa_constant(2));
    ssa step = bitwise(p, "sub", negative, ssa_constant(1)); /* 1 or -1 */
    step = emit_select_as(p->e, p->bits, condition, step, ssa_constant(0));
    return from_bits(p, bitwise(p, "add", bits, step));
}

/* The sum of numbers with these bits, of which only the signs count, where they cancel exactly: +0 if both are +0, else -0. */
static ssa zero_sum(const place *p, ssa x, ssa y) {
    return from_bits(p, bitwise(p, "and", bitwise(p, "or", x, y), sign_bit(p)));
}

/* s = RN(x + y), and *error = x + y - s. Without the order that T. J. Dekker wants of x and y; s may not overflow. */
static ssa two_sum(const place *p, ssa x, ssa y, ssa *error) {
    ssa s = add(p, x, y), y_part = subtract(p, s, x), x_part = subtract(p, s, y_part);
    *error = add(p, subtract(p, x, x_part), subtract(p, y, y_part));
    return s;
}

/* ---- Sums ---- */

/* The larger one first: then nothing but the sum itself can overflow. */
static ssa add_down(const place *p, const ssa *x) {
    ssa exchange = less(p, magnitude(p, x[0]), magnitude(p, x[1]));
    ssa large = choose(p, exchange, x[1], x[0]), small = choose(p, exchange, x[0], x[1]);
    ssa s = add(p, large, small), lacking = subtract(p, small, subtract(p, s, large));
    ssa r = step_down(p, s, less(p, lacking, zero()));
    return choose(p, equal(p, s, zero()), zero_sum(p, bits_of(p, x[0]), bits_of(p, x[1])), r);
}

/* ---- Products ---- */

/* In float64 the product of two float32 is exact. */
static ssa multiply_down_narrow(const place *p, const ssa *x) {
    place w = place_of(p->e, DT_FLOAT64);
    ssa exact = multiply(&w, widen(p, x[0]), widen(p, x[1])), r = narrow(&w, exact);
    return step_down(p, r, less(&w, exact, widen(p, r)));
}

/* What is lacking underflows where the product is small; then neither factor is large, or the other one is 0. */
static ssa multiply_down(const place *p, const ssa *x) {
    ssa r = multiply(p, x[0], x[1]), small = less(p, magnitude(p, r), power(-800));
    ssa scale = choose(p, small, power(600), power(0));
    ssa scaled = multiply(p, multiply(p, r, scale), scale);
    ssa lacking = fused(p, multiply(p, x[0], scale), multiply(p, x[1], scale), negate(p, scaled));
    return step_down(p, r, less(p, lacking, zero()));
}

/* ---- Quotients: x0 / x1 - r has the sign of (x0 - r x1) x1 ---- */

static ssa step_quotient(const place *p, ssa r, const place *w, ssa remainder, ssa divisor) {
    ssa sign = bitwise(w, "and", bits_of(w, divisor), sign_bit(w));
    ssa lacking = from_bits(w, bitwise(w, "xor", bits_of(w, remainder), sign));
    return step_down(p, r, less(w, lacking, zero()));
}

static ssa divide_down_narrow(const place *p, const ssa *x) {
    place w = place_of(p->e, DT_FLOAT64);
    ssa r = two(p, "fdiv", x[0], x[1]), divisor = widen(p, x[1]);
    ssa remainder = subtract(&w, widen(p, x[0]), multiply(&w, widen(p, r), divisor));
    return step_quotient(p, r, &w, remainder, divisor);
}

static ssa divide_down(const place *p, const ssa *x) {
    ssa r = two(p, "fdiv", x[0], x[1]), small = less(p, magnitude(p, x[0]), power(-800));
    ssa scale = choose(p, small, power(200), power(0));
    ssa remainder = fused(p, negate(p, multiply(p, r, scale)), x[1], multiply(p, x[0], scale));
    return step_quotient(p, r, p, remainder, x[1]);
}

/* ---- Square roots: sqrt(x) - r has the sign of x - r^2 ---- */

/* The root, and what x has more than its square. */
static ssa root_and_rest(const place *p, ssa x, ssa *rest) {
    ssa r = root(p, x);
    if (p->type == DT_FLOAT32) {
        place w = place_of(p->e, DT_FLOAT64);
        *rest = subtract(&w, widen(p, x), multiply(&w, widen(p, r), widen(p, r)));
        return r;
    }
    ssa small = less(p, x, power(-800)), scale = choose(p, small, power(100), power(0));
    ssa scaled = multiply(p, r, scale);
    *rest = fused(p, negate(p, scaled), scaled, multiply(p, multiply(p, x, scale), scale));
    return r;
}

static ssa root_down(const place *p, const ssa *x) {
    ssa rest, r = root_and_rest(p, x[0], &rest);
    return step_down(p, r, emit_value(p->e, "fcmp olt double %s, 0.0", rest.text));
}

static ssa root_up(const place *p, const ssa *x) {
    ssa rest, r = root_and_rest(p, x[0], &rest);
    return negate(p, step_down(p, negate(p, r), emit_value(p->e, "fcmp ogt double %s, 0.0", rest.text)));
}

/* ---- Fused: x0 x1 + x2 ---- */

static ssa product_sign(const place *p, const ssa *x) { return bitwise(p, "xor", bits_of(p, x[0]), bits_of(p, x[1])); }

/* In float64 the product is exact, and the sum s lacks `error`. r is s rounded again, so it is the wanted number or the one above
 * it: which of the two, s - r says, and where that is 0, error. */
static ssa fused_down_narrow(const place *p, const ssa *x) {
    place w = place_of(p->e, DT_FLOAT64);
    ssa error, s = two_sum(&w, multiply(&w, widen(p, x[0]), widen(p, x[1])), widen(p, x[2]), &error);
    ssa r = narrow(&w, s), again = widen(p, r);
    ssa on_it = both(&w, equal(&w, s, again), less(&w, error, zero()));
    ssa down = step_down(p, r, either(&w, less(&w, s, again), on_it));
    return choose(p, equal(&w, s, zero()), zero_sum(p, product_sign(p, x), bits_of(p, x[2])), down);
}

/* The operands scaled so that nothing which counts overflows or underflows: by 2^600 where the product and the addend are small,
 * by 2^-300 where one of them is large. */
typedef struct scaled {
    ssa x[3], scale, back; /* back = 1 / scale */
} scaled;

static scaled scale_operands(const place *p, const ssa *x) {
    scaled s;
    ssa product = magnitude(p, multiply(p, x[0], x[1])), addend = magnitude(p, x[2]);
    ssa most = choose(p, less(p, product, addend), addend, product);
    ssa small = less(p, most, power(-800)), large = less(p, power(900), most);
    s.scale = choose(p, small, power(600), choose(p, large, power(-300), power(0)));
    s.back = choose(p, small, power(-600), choose(p, large, power(300), power(0)));
    /* beside a factor of 0 the other one may be so large that it would overflow */
    ssa none = either(p, equal(p, x[0], zero()), equal(p, x[1], zero()));
    for (int i = 0; i < 2; i++)
        s.x[i] = multiply(p, choose(p, none, zero(), x[i]), s.scale);
    /* beside a large product all that counts of a small addend is its sign, which it must not lose */
    ssa kept = both(p, large, less(p, addend, power(-400)));
    s.x[2] = choose(p, kept, x[2], multiply(p, multiply(p, x[2], s.scale), s.scale));
    return s;
}

/* Is x0 x1 + x2 - r negative? */
static ssa lacks(const place *p, const ssa *x, ssa r) {
    ssa alpha_error, beta_error, product = multiply(p, x[0], x[1]);
    ssa product_error = fused(p, x[0], x[1], negate(p, product));
    ssa alpha = two_sum(p, x[2], product_error, &alpha_error), beta = two_sum(p, product, alpha, &beta_error);
    ssa gamma = add(p, subtract(p, beta, r), beta_error);
    return less(p, add(p, gamma, alpha_error), zero());
}

/* Is the product so small beside the addend that only its sign counts? *negative: is it below 0? */
static ssa product_vanishes(const place *p, const ssa *x, const scaled *s, ssa *negative) {
    ssa product = magnitude(p, multiply(p, s->x[0], s->x[1]));
    ssa there = both(p, two(p, "fcmp une", x[0], zero()), two(p, "fcmp une", x[1], zero()));
    *negative = both(p, there, emit_value(p->e, "icmp slt %s %s, 0", p->bits, product_sign(p, x).text));
    return less(p, product, multiply(p, magnitude(p, s->x[2]), power(-120)));
}

/* Is an operand infinite or NaN? */
static ssa any_special(const place *p, const ssa *x) {
    ssa special = ssa_none();
    for (int i = 0; i < 3; i++) {
        ssa one = two(p, "fcmp uge", magnitude(p, x[i]), infinity());
        special = i ? either(p, special, one) : one;
    }
    return special;
}

/* Rounded down to 53 bits while it is scaled, and then, where it becomes subnormal or too large, once more: the two together are one
 * rounding, as both go down. */
static ssa fused_down(const place *p, const ssa *x) {
    scaled s = scale_operands(p, x);
    ssa negative, r = fused(p, s.x[0], s.x[1], s.x[2]), vanishes = product_vanishes(p, x, &s, &negative);
    ssa lacking = either(p, lacks(p, s.x, r), equal(p, r, infinity()));
    lacking =
        either(p, both(p, vanishes, negative), both(p, emit_value(p->e, "xor i1 %s, true", vanishes.text), lacking));
    ssa down = step_down(p, r, lacking);
    ssa result = multiply(p, multiply(p, down, s.back), s.back);
    ssa again = multiply(p, multiply(p, result, s.scale), s.scale);
    result = step_down(p, result, less(p, down, again));
    result = choose(p, equal(p, r, zero()), zero_sum(p, product_sign(p, x), bits_of(p, x[2])), result);
    return choose(p, any_special(p, x), fused(p, x[0], x[1], x[2]), result);
}

/* ---- Functions of the module ---- */

typedef ssa writer(const place *p, const ssa *x);

/* An operation of the math table: as a row's `cpu` names it. */
typedef struct operation {
    const char *name;
    writer *down[2]; /* in float32, in float64 */
    writer *up;      /* NULL: down, of negated operands */
    int negated;     /* which operands are negated for that, a bit each */
    int lines;       /* of the longer form, roughly */
} operation;

static const operation operations[] = {
    {"add", {add_down, add_down}, NULL, 3, 22},
    {"div", {divide_down_narrow, divide_down}, NULL, 1, 25},
    {"fma", {fused_down_narrow, fused_down}, NULL, 5, 110},
    {"mul", {multiply_down_narrow, multiply_down}, NULL, 1, 20},
    {"sqrt", {root_down, root_down}, root_up, 0, 20},
};

static const operation *operation_find(const char *name) {
    size_t i = 0;
    while (i + 1 < COUNT(operations) && strcmp(operations[i].name, name) != 0)
        i++;
    assert(!strcmp(operations[i].name, name)); /* what a row names, it does */
    return &operations[i];
}

/* "double %x0, double %x1" */
static void list(const place *p, const ssa *x, int arity, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < arity; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s%s%s", i ? ", " : "", p->t, x ? " " : "",
                                 x ? x[i].text : "");
}

static ssa call_cpu(const place *p, const operation *o, bool up, const ssa *x, int arity) {
    const ssa parameters[MAX_ARITY] = {ssa_named("%%x0"), ssa_named("%%x1"), ssa_named("%%x2")};
    writer *write = up && o->up ? o->up : o->down[p->type != DT_FLOAT32];
    bool negates = up && !o->up;
    const char *way = up && o->up ? "up" : "down";
    char values[256];
    ssa args[MAX_ARITY];
    definition s;
    list(p, parameters, arity, values, sizeof values);
    if (emit_define(p->e, &s, "define internal %s @%s_%s_%s(%s) nounwind readnone %s", p->t, o->name, way, suffix(p),
                    values, p->e->plain ? "noinline" : "alwaysinline")) {
        emit_line(p->e, "ret %s %s", p->t, write(p, parameters).text);
        emit_define_end(p->e, &s);
    }
    for (int i = 0; i < arity; i++)
        args[i] = negates && (o->negated >> i & 1) ? negate(p, x[i]) : x[i];
    list(p, args, arity, values, sizeof values);
    p->e->written.lines += p->e->plain ? 0 : o->lines;
    ssa r = emit_value(p->e, "call %s @%s_%s_%s(%s)", p->t, o->name, way, suffix(p), values);
    return negates ? negate(p, r) : r;
}

/* "<8 x double> %x0, <8 x double> %x1"; without names the types alone. */
static void vector_list(const vec *v, int arity, bool names, char *out, size_t size) {
    size_t used = 0;
    for (int i = 0; i < arity; i++)
        used += (size_t)snprintf(out + used, size - used, names ? "%s%s %%x%d" : "%s%s", i ? ", " : "", v->real, i);
}

/* Defines the function of whole vectors: one instruction. */
static void define_instruction(const place *p, const math_row *row, const char *name) {
    vec v = vec_of(p->e, p->type);
    char values[128], types[128];
    const char *what = row->subtracts ? "sub" : row->arity == 3 ? "vfmadd" : row->cpu;
    definition s;
    vector_list(&v, row->arity, true, values, sizeof values);
    vector_list(&v, row->arity, false, types, sizeof types);
    if (!emit_define(p->e, &s, "define internal %s @%s(%s) nounwind readnone alwaysinline", v.real, name, values))
        return;
    emit_declare(p->e, "declare %s @llvm.x86.avx512.%s.%s.512(%s, i32)", v.real, what, v.suffix, types);
    ssa r = emit_value(p->e, "call %s @llvm.x86.avx512.%s.%s.512(%s, i32 %d)", v.real, what, v.suffix, values,
                       row->direction > 0 ? ROUND_UP : ROUND_DOWN);
    emit_line(p->e, "ret %s %s", v.real, r.text);
    emit_define_end(p->e, &s);
}

static ssa call_instruction(const place *p, const math_row *row, const ssa *x) {
    char form[40], scalar[40];
    snprintf(form, sizeof form, "v_%s_%s", row->name, suffix(p));
    snprintf(scalar, sizeof scalar, "m_%s_%s", row->name, suffix(p));
    define_instruction(p, row, form);
    return emit_form_call(p->e, scalar, form, p->type, row->arity, x);
}

/* llvm.nvvm.add.rm.f: rounds toward minus infinity; rp: plus. None of them flushes subnormals. */
static ssa call_gpu(const place *p, const char *name, bool up, const ssa *x, int arity) {
    char types[64], values[256];
    const char *way = up ? "rp" : "rm", *kind = p->type == DT_FLOAT32 ? "f" : "d";
    list(p, NULL, arity, types, sizeof types);
    list(p, x, arity, values, sizeof values);
    emit_declare(p->e, "declare %s @%s.%s.%s(%s)", p->t, name, way, kind, types);
    return emit_value(p->e, "call %s @%s.%s.%s(%s)", p->t, name, way, kind, values);
}

ssa emit_directed(emit *e, const math_row *row, dtype type, const ssa *args) {
    place p = place_of(e, type);
    bool up = row->direction > 0;
    if (!e->target->gpu && e->target->vector_bits == 512)
        return call_instruction(&p, row, args);
    if (!e->target->gpu && row->subtracts)
        return call_cpu(&p, operation_find(row->cpu), up, (ssa[]){args[0], negate(&p, args[1])}, row->arity);
    if (!e->target->gpu)
        return call_cpu(&p, operation_find(row->cpu), up, args, row->arity);
    /* a - b as b * -1 + a: libNVVM makes a `neg` of every way to write -b, and under -ftz=1 that flushes subnormals */
    if (row->subtracts)
        return call_gpu(&p, row->gpu, up, (ssa[]){args[1], ssa_literal("-1.0"), args[0]}, 3);
    return call_gpu(&p, row->gpu, up, args, row->arity);
}
