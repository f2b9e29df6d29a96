/* test_convert.c - conversions between all pairs of dtypes, and operators, as the emitter writes them: compiled by every LLVM
 * found, run, and compared with long double and 128-bit arithmetic. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/common/emit.h"
#include "ir_check.h"
#include "wide.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

static const code_target gpu = {.gpu = true, .arch = 90};
static code_target host;
static arena memory;

/* ---- Conversions ---- */

/* Near the powers of two, in both signs; halfway cases of every format. */
static void write_edge(dtype t, void *p) {
    static const double steps[] = {0,         0x1p-7,  0x1p-8,  0x1p-9,  0x1p-10, 0x1p-11,        0x1p-12,
                                   0x1.8p-11, 0x1p-23, 0x1p-24, 0x1p-40, 0x1p-52, 0x1.0000001p-11};
    uint64_t r = random_bits();
    int exponent = (int)(r % 300) - 150;
    double step = steps[r / 512 % COUNT(steps)], more = steps[r / 8192 % COUNT(steps)];
    double v = ldexp(1 + (r & 1 << 20 ? step : -step) + (r & 1 << 21 ? more : 0), exponent);
    write_wide(DT_FLOAT64, (wide_value){r & 1 << 22 ? -v : v, v / 3}, t, p);
}

enum {
    VALUES = 4096,     /* of the wider types */
    ALL_VALUES = 65536 /* of those of up to 16 bits */
};

static int values_of(dtype t) { return dtypes[t].size <= 2 ? ALL_VALUES : VALUES; }

static void fill(dtype t, char *data) {
    static const double special[] = {0.0,      -0.0,  INFINITY, -INFINITY, NAN,    65504,
                                     65519.99, 65520, 65536,    3.4e38,    3.5e38, 1e300};
    size_t size = dtypes[t].size;
    for (int k = 0; k < values_of(t); k++) {
        uint64_t bits[2] = {size <= 2 ? (uint64_t)k : random_bits(), random_bits()};
        int64_t shifted = (int64_t)bits[0] >> (bits[1] % 64), s = k % 4 == 3 ? k / 4 : (int)COUNT(special);
        char *p = data + (size_t)k * size;
        if (size == 8 && k % 16 == 0) { /* halfway between two halves, and one off */
            int e = 8 + (int)(bits[1] % 56);
            bits[0] = (UINT64_C(1) << e) + (bits[1] >> 32 & 127) * (UINT64_C(1) << (e - 7)) + (UINT64_C(1) << (e - 8));
            bits[0] += (uint64_t)(k / 16 % 3) - 1;
        }
        if (size > 2 && k % 4 == 1) /* integers next to their ends */
            bits[0] = (UINT64_C(1) << (k / 4 % 64)) - 2 + (uint64_t)(k / 256 % 5);
        memcpy(p, bits, size);
        if (t == DT_BOOL)
            *p = (char)(k & 1);
        if (size <= 2)
            continue;
        if (k % 4 == 0 && (t > DT_UINT64 || k % 16))
            write_edge(t, p);
        if (k % 4 == 1 && t > DT_UINT64)
            write_wide(DT_INT64, (wide_value){(int64_t)bits[0], 1}, t, p);
        if (k % 4 == 2)
            write_wide(DT_INT64, (wide_value){shifted, -1}, t, p);
        if (s < (int)COUNT(special))
            write_wide(DT_FLOAT64, (wide_value){special[s], special[(s + 5) % (int)COUNT(special)]}, t, p);
    }
}

static void entry_name(char *name, size_t size, dtype from, dtype to) {
    snprintf(name, size, "%s_%s", dtypes[from].name, dtypes[to].name);
}

/* A module with a loop for each pair, without kernels in between. */
static code_module conversions(const code_target *target) {
    code_module m = {.entry = "entry"};
    emit e;
    char name[64];
    emit_begin(&e, &memory, &m, target, "conversions");
    for (int from = 0; from < DT_COUNT; from++)
        for (int to = 0; to < DT_COUNT; to++) {
            entry_name(name, sizeof name, from, to);
            text_printf(e.out, "define void @%s(%s%s noalias %%in, %s%s noalias %%out, i64 %%n) nounwind {\nentry:\n",
                        name, ir_memory_type(from), ir_global_pointer(&e), ir_memory_type(to), ir_global_pointer(&e));
            emit_line(&e, "br label %%head");
            text_printf(e.out, "head:\n  %%i = phi i64 [ 0, %%entry ], [ %%j, %%head ]\n");
            ssa v = emit_load(&e, from, emit_element(&e, from, ssa_named("%%in"), ssa_named("%%i")));
            v = emit_convert(&e, v, from, to);
            emit_store(&e, to, v, emit_element(&e, to, ssa_named("%%out"), ssa_named("%%i")));
            text_puts(e.out, "  %j = add i64 %i, 1\n  %more = icmp ult i64 %j, %n\n");
            text_printf(e.out, "  br i1 %s, label %%head, label %%end\nend:\n  ret void\n}\n\n",
                        target->gpu ? "false" : "%more"); /* libNVVM would unroll for seconds */
        }
    assert_int_equal(emit_finish(&e), UF_OK);
    return m;
}

static void check_pair(dtype from, dtype to, const char *in, const char *want, const char *got, const char *who) {
    for (int k = 0; k < values_of(from); k++) {
        const char *x = in + (size_t)k * dtypes[from].size, *w = want + (size_t)k * dtypes[to].size;
        const char *g = got + (size_t)k * dtypes[to].size;
        if (!same_bits(to, g, w)) {
            wide_value v = read_wide(from, x), e = read_wide(to, w), r = read_wide(to, g);
            print_message("%s: %s -> %s of %La %La: got %La %La, want %La %La\n", who, dtypes[from].name,
                          dtypes[to].name, v.re, v.im, r.re, r.im, e.re, e.im);
            fail_msg("conversion");
        }
    }
}

static void test_conversions(void **state) {
    (void)state;
    static char in[ALL_VALUES * 16], want[ALL_VALUES * 16], got[ALL_VALUES * 16];
    code_target targets[2] = {host, host};
    judged *codes[2][8];
    int turn = judge_count() ? (int)(random_bits() % (uint64_t)judge_count()) : 0;
    targets[0].f16c = false;
    code_module on_gpu = conversions(&gpu);
    assert_true(judge_accept(&on_gpu, &gpu, JUDGE_ONE_ARCH, random_bits()));
    text_free(&on_gpu.ir);
    for (int h = 0; h < 2; h++) {
        code_module m = conversions(&targets[h]);
        for (int i = 0; i < judge_count(); i++) /* each in turn optimises, and does without F16C */
            codes[h][i] = h || i == turn ? judge_compile(i, &m, h && i == turn ? 3 : 0) : NULL;
        text_free(&m.ir);
    }
    for (int from = 0; from < DT_COUNT; from++) {
        fill((dtype)from, in);
        for (int to = 0; to < DT_COUNT; to++) {
            char name[64];
            entry_name(name, sizeof name, from, to);
            for (int k = 0; k < values_of(from); k++) {
                const char *x = in + (size_t)k * dtypes[from].size;
                write_wide(from, read_wide(from, x), to, want + (size_t)k * dtypes[to].size);
                number_write(number_read(from, x), to, got + (size_t)k * dtypes[to].size);
            }
            check_pair(from, to, in, want, got, "number_write");
            for (int h = 0; h < 2; h++)
                for (int i = 0; i < judge_count(); i++) {
                    if (!codes[h][i])
                        continue;
                    uintptr_t loop = judge_address(codes[h][i], name);
                    ((void (*)(const void *, void *, int64_t))loop)(in, got, values_of(from));
                    check_pair(from, to, in, want, got, judge_name(i));
                }
        }
    }
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < judge_count(); i++)
            judge_free(codes[h][i]);
}

/* ---- Operators: total, against 128-bit arithmetic ---- */

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static const dtype operand_types[] = {DT_INT32, DT_INT64, DT_UINT32, DT_UINT64, DT_FLOAT32, DT_FLOAT64};
static const dtype count_types[] = {DT_INT32, DT_INT64, DT_UINT32, DT_UINT64};

static bool has_operator(op o, dtype t) {
    return ops[o].precedence &&
           (!dtype_is_floating(t) || ops[o].kind == 'A' || ops[o].kind == 'R' || ops[o].kind == 'E');
}

static dtype operator_result(op o, dtype t) { return ops[o].kind == 'R' || ops[o].kind == 'E' ? DT_BOOL : t; }

/* void name(type *a, count_type *b, result *out, i64 n) */
static void operator_loop(emit *e, op o, dtype t, dtype c) {
    dtype r = operator_result(o, t);
    text_printf(e->out, "define void @op%d_%s_%s(%s* %%a, %s* %%b, %s* %%c, i64 %%n) nounwind {\nentry:\n", o,
                dtypes[t].name, dtypes[c].name, ir_memory_type(t), ir_memory_type(c), ir_memory_type(r));
    text_puts(e->out, "  br label %head\nhead:\n  %i = phi i64 [ 0, %entry ], [ %j, %head ]\n");
    ssa a = emit_load(e, t, emit_element(e, t, ssa_named("%%a"), ssa_named("%%i")));
    ssa b = emit_load(e, c, emit_element(e, c, ssa_named("%%b"), ssa_named("%%i")));
    emit_store(e, r, emit_binary(e, o, t, a, b, c), emit_element(e, r, ssa_named("%%c"), ssa_named("%%i")));
    text_puts(e->out, "  %j = add i64 %i, 1\n  %more = icmp ult i64 %j, %n\n");
    text_puts(e->out, "  br i1 %more, label %head, label %end\nend:\n  ret void\n}\n\n");
}

static int128 integer_at(dtype t, const void *p) {
    return t == DT_INT32    ? (int128) * (const int32_t *)p
           : t == DT_UINT32 ? (int128) * (const uint32_t *)p
           : t == DT_INT64  ? (int128) * (const int64_t *)p
                            : (int128) * (const uint64_t *)p;
}

static int128 shifted(op o, dtype t, int128 a, dtype c, int128 b) {
    int width = 8 * dtypes[t].size;
    if (b < 0)
        b += (int128)1 << (8 * dtypes[c].size);
    if (b >= width)
        return o == OP_SHR && a < 0 ? -1 : 0;
    return o == OP_SHR ? a >> b : (int128)((uint128)a << b);
}

/* Exact, to be cut to the width. */
static int128 integer_result(op o, dtype t, int128 a, dtype c, int128 b) {
    switch (o) {
    case OP_MUL:
        return (int128)((uint128)a * (uint128)b);
    case OP_DIV:
        return b ? a / b : 0;
    case OP_REM:
        return b ? a % b : 0;
    case OP_FLOOR_DIV:
        return b ? a / b - (a % b && (a < 0) != (b < 0)) : 0;
    case OP_FLOOR_MOD:
        return b ? (a % b + b) % b : 0;
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_SHL:
    case OP_SHR:
        return shifted(o, t, a, c, b);
    case OP_LT:
        return a < b;
    case OP_LE:
        return a <= b;
    case OP_GT:
        return a > b;
    case OP_GE:
        return a >= b;
    case OP_EQ:
        return a == b;
    case OP_NE:
        return a != b;
    case OP_AND:
        return a & b;
    case OP_XOR:
        return a ^ b;
    default:
        return a | b;
    }
}

#define FLOAT_RESULT(type, o, a, b, out)                                                   \
    do {                                                                                   \
        type x = *(const type *)(a), y = *(const type *)(b), z = 0;                        \
        bool truth = (o) == OP_LT   ? x < y                                                \
                     : (o) == OP_LE ? x <= y                                               \
                     : (o) == OP_GT ? x > y                                                \
                     : (o) == OP_GE ? x >= y                                               \
                     : (o) == OP_EQ ? x == y                                               \
                                    : x != y;                                              \
        z = (o) == OP_MUL ? x * y : (o) == OP_DIV ? x / y : (o) == OP_ADD ? x + y : x - y; \
        if (ops[o].kind == 'A')                                                            \
            memcpy(out, &z, sizeof z);                                                     \
        else                                                                               \
            memcpy(out, &truth, 1);                                                        \
    } while (0)

static void check_operator(uintptr_t loop, op o, dtype t, dtype c, const char *who) {
    enum {
        N = 600
    };
    char a[N * 8], b[N * 8], out[N * 8], want[16];
    dtype r = operator_result(o, t);
    size_t size = dtypes[t].size, csize = dtypes[c].size, rsize = dtypes[r].size;
    for (size_t k = 0; k < N; k++) { /* near 0, near the powers of two, anything */
        uint64_t p = k % 3 ? UINT64_C(1) << (random_bits() % 64) : 0,
                 q = k % 5 ? 0 : UINT64_C(1) << (random_bits() % 64);
        uint64_t x = k % 7 ? p + random_bits() % 5 - 2 : random_bits(),
                 y = k % 4 ? q + random_bits() % 5 - 2 : random_bits();
        if (ops[o].kind == 'S' && k & 1)
            y = random_bits() % 70;
        memcpy(a + k * size, &x, size);
        memcpy(b + k * csize, &y, csize);
        if (dtype_is_floating(t) && k % 2) {
            static const double edges[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.1, 1e-310, 3e38};
            write_wide(DT_FLOAT64, (wide_value){edges[k / 2 % 10], 0}, t, a + k * size);
            write_wide(DT_FLOAT64, (wide_value){edges[k / 20 % 10], 0}, t, b + k * size);
        }
    }
    ((void (*)(const void *, const void *, void *, int64_t))loop)(a, b, out, N);
    for (size_t k = 0; k < N; k++) {
        if (t == DT_FLOAT32) {
            FLOAT_RESULT(float, o, a + k * size, b + k * csize, want);
        } else if (t == DT_FLOAT64) {
            FLOAT_RESULT(double, o, a + k * size, b + k * csize, want);
        } else {
            int128 v = integer_result(o, t, integer_at(t, a + k * size), c, integer_at(c, b + k * csize));
            memcpy(want, &v, sizeof v);
        }
        if (!same_bits(r, want, out + k * rsize))
            fail_msg("%s: %Lg %s %Lg of %s, %s: got %Lg, want %Lg", who, read_wide(t, a + k * size).re, ops[o].spelling,
                     read_wide(c, b + k * csize).re, dtypes[t].name, dtypes[c].name, read_wide(r, out + k * rsize).re,
                     read_wide(r, want).re);
    }
}

static void test_operators(void **state) {
    (void)state;
    code_module m = {.entry = "entry"};
    emit e;
    emit_begin(&e, &memory, &m, &host, "operators");
    for (int o = 0; o < OP_COUNT; o++)
        for (size_t t = 0; t < COUNT(operand_types); t++)
            for (size_t c = 0; c < COUNT(count_types); c++)
                if (has_operator(o, operand_types[t]) && (c == 0 || ops[o].kind == 'S'))
                    operator_loop(&e, o, operand_types[t], ops[o].kind == 'S' ? count_types[c] : operand_types[t]);
    assert_int_equal(emit_finish(&e), UF_OK);
    for (int i = 0; i < judge_count(); i++) {
        judged *result = judge_compile(i, &m, i ? 0 : 3);
        for (int o = 0; o < OP_COUNT; o++)
            for (size_t t = 0; t < COUNT(operand_types); t++)
                for (size_t c = 0; c < COUNT(count_types); c++)
                    if (has_operator(o, operand_types[t]) && (c == 0 || ops[o].kind == 'S')) {
                        dtype type = operand_types[t], count = ops[o].kind == 'S' ? count_types[c] : type;
                        char name[64];
                        snprintf(name, sizeof name, "op%d_%s_%s", o, dtypes[type].name, dtypes[count].name);
                        check_operator(judge_address(result, name), o, type, count, judge_name(i));
                    }
        judge_free(result);
    }
    text_free(&m.ir);
}

static int set_up(void **state) {
    (void)state;
    wide_seed();
    host = judge_host();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_free(&memory);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conversions), cmocka_unit_test(test_operators)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
