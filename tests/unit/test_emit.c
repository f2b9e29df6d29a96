/* test_emit.c - the IR emitter: typed trees built by hand, judged by every LLVM and libNVVM found, run and compared with C.
 * UF_BLESS=1 rewrites the goldens in tests/ir. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ir/emit.h"
#include "ir_check.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

static const code_target gpu = {.gpu = true, .arch = 90};
static const code_target plain_cpu = {0};
static code_target host; /* as the engine would say */

static arena memory;

/* ---- Random numbers (splitmix64) ---- */

static uint64_t random_state;

static uint64_t random_bits(void) {
    uint64_t z = (random_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* ---- Trees by hand ---- */

static node *make(node_kind kind, dtype type) {
    node *n = arena_alloc(&memory, sizeof *n);
    n->kind = (uint8_t)kind;
    n->type = (uint8_t)type;
    n->line = 1 + kind % 7;
    return n;
}

static node *number_node(dtype type, double value) {
    node *n = make(N_CONST, type);
    n->value = number_read(DT_FLOAT64, &value);
    char bytes[16];
    number_write(n->value, type, bytes);
    n->value = number_read(type, bytes);
    return n;
}

static node *var(dtype type, int k) {
    node *n = make(N_LOCAL, type);
    n->local = k;
    return n;
}

static node *convert(dtype type, node *kid) {
    node *n = make(N_CONVERT, type);
    n->kid[0] = kid;
    return n;
}

static node *binary(op o, node *a, node *b) {
    node *n = make(N_BINARY, ops[o].kind == 'R' || ops[o].kind == 'E' ? DT_BOOL : (dtype)a->type);
    n->op = (uint8_t)o;
    n->kid[0] = a;
    n->kid[1] = b;
    return n;
}

static node *unary(op o, node *a) {
    node *n = make(N_UNARY, (dtype)a->type);
    n->op = (uint8_t)o;
    n->kid[0] = a;
    return n;
}

static node *three(node_kind kind, dtype type, node *a, node *b, node *c) {
    node *n = make(kind, type);
    n->kid[0] = a;
    n->kid[1] = b;
    n->kid[2] = c;
    return n;
}

static node *assign(node *place, node *value) { return three(N_ASSIGN, (dtype)place->type, place, value, NULL); }
static node *eval(node *e) { return three(N_EVAL, DT_NONE, e, NULL, NULL); }

static node *compound(op o, dtype wide, node *place, node *value) {
    node *n = three(N_COMPOUND, (dtype)place->type, place, value, NULL);
    n->op = (uint8_t)o;
    n->wide = (uint8_t)wide;
    return n;
}

static node *update(op o, dtype wide, bool postfix, node *place) {
    node *n = three(N_UPDATE, (dtype)place->type, place, NULL, NULL);
    n->op = (uint8_t)o;
    n->wide = (uint8_t)wide;
    n->postfix = postfix;
    return n;
}

/* A list of nodes, NULL-terminated. */
static node *list(node *first, ...) {
    va_list arguments;
    va_start(arguments, first);
    for (node *n = first, *next; n; n = next) {
        next = va_arg(arguments, node *);
        n->next = next;
    }
    va_end(arguments);
    return first;
}

static node *math(const char *name, dtype wide, node *args) {
    node *n = make(N_MATH, wide);
    n->math = math_find(name, strlen(name));
    assert_non_null(n->math);
    n->wide = (uint8_t)wide;
    n->args = args;
    if (n->math->rule == MATH_TO_INT || n->math->rule == MATH_BITS)
        n->type = DT_INT32;
    return n;
}

static function *new_function(const char *name, int nparams, int nresults, int nlocals, const dtype *types) {
    function *f = arena_alloc(&memory, sizeof *f);
    f->name = name;
    f->nparams = nparams;
    f->nresults = nresults;
    f->nlocals = nlocals;
    f->locals = arena_alloc(&memory, (size_t)nlocals * sizeof *f->locals);
    for (int k = 0; k < nlocals; k++)
        f->locals[k].type = types[k];
    return f;
}

static tree *new_tree(function *first) {
    tree *t = arena_alloc(&memory, sizeof *t);
    t->functions = first;
    while (first->next)
        first = first->next;
    t->kernel = first;
    return t;
}

/* (x0 ..) { return expression; }: results is one. types: parameters, then the result. */
static tree *expression_tree(int nparams, const dtype *types, node *expression) {
    function *f = new_function("kernel", nparams, 1, nparams + 1, types);
    f->body = list(eval(assign(var(types[nparams], nparams), expression)), make(N_RETURN, DT_NONE), NULL);
    return new_tree(f);
}

/* ---- Modules: the kernel over n elements. CPU: entry(char **arrays, int64_t n); GPU: one thread an element. ---- */

static void write_element(emit *e, const tree *t, const ssa *base, ssa index) {
    const function *f = t->kernel;
    ssa in[UF_MAX_OPERANDS], out[UF_MAX_OPERANDS];
    for (int k = 0; k < f->nparams; k++)
        in[k] = emit_load(e, f->locals[k].type, emit_element(e, f->locals[k].type, base[k], index));
    emit_kernel_call(e, t, in, out);
    for (int k = 0; k < f->nresults; k++) {
        dtype type = f->locals[f->nparams + k].type;
        emit_store(e, type, out[k], emit_element(e, type, base[f->nparams + k], index));
    }
}

static void cpu_entry(emit *e, const tree *t, const char *name) {
    const function *f = t->kernel;
    ssa base[UF_MAX_OPERANDS];
    int entry = emit_label_new(e), head = emit_label_new(e), end = emit_label_new(e);
    text_printf(e->out, "define void @%s(i8** %%arrays, i64 %%n) nounwind \"prefer-vector-width\"=\"512\"%s {\n", name,
                emit_scope(e, name, 1).text);
    emit_label(e, entry);
    for (int k = 0; k < f->nparams + f->nresults; k++) {
        const char *type = ir_memory_type(f->locals[k].type);
        ssa slot = emit_value(e, "getelementptr i8*, i8** %%arrays, i64 %d", k);
        ssa typed = emit_value(e, "bitcast i8** %s to %s**", slot.text, type);
        base[k] = emit_value(e, "load %s*, %s** %s", type, type, typed.text);
    }
    emit_branch(e, head);
    emit_label(e, head);
    emit_line(e, "%%i%d = phi i64 [ 0, %%L%d ], [ %%j%d, %%L%d ]", head, entry, head, head + 1000);
    write_element(e, t, base, ssa_text("%%i%d", head));
    emit_branch(e, head + 1000);
    emit_label(e, head + 1000);
    emit_line(e, "%%j%d = add i64 %%i%d, 1", head, head);
    ssa more = emit_value(e, "icmp ult i64 %%j%d, %%n", head);
    emit_branch_if(e, more, head, end);
    emit_label(e, end);
    emit_line(e, "ret void");
    text_puts(e->out, "}\n\n");
    emit_scope_end(e);
}

static void gpu_entry(emit *e, const tree *t, const char *name) {
    const function *f = t->kernel;
    ssa base[UF_MAX_OPERANDS];
    text types = {0};
    text_printf(e->out, "define void @%s(", name);
    text_puts(&types, "void (");
    for (int k = 0; k < f->nparams + f->nresults; k++) {
        const char *comma = k ? ", " : "", *type = ir_memory_type(f->locals[k].type);
        text_printf(e->out, "%s%s%s %%w%d", comma, type, ir_global_pointer(e), k);
        text_printf(&types, "%s%s%s", comma, type, ir_global_pointer(e));
        base[k] = ssa_text("%%w%d", k);
    }
    text_puts(&types, ")");
    text_printf(e->out, ") nounwind%s {\n", emit_scope(e, name, 1).text);
    emit_declare(e, "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
    ssa thread = emit_value(e, "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
    write_element(e, t, base, emit_value(e, "zext i32 %s to i64", thread.text));
    emit_line(e, "ret void");
    text_puts(e->out, "}\n\n");
    emit_scope_end(e);
    emit_kernel_annotation(e, types.data, 256);
    text_free(&types);
}

static code_module module_of(const tree *t, const code_target *target, unsigned fast, unsigned flags) {
    code_module m = {.entry = "entry", .fast = fast, .flags = flags};
    emit e;
    emit_begin(&e, &memory, &m, target, "example");
    emit_functions(&e, t);
    (target->gpu ? gpu_entry : cpu_entry)(&e, t, "entry");
    assert_int_equal(emit_finish(&e), UF_OK);
    return m;
}

enum {
    ASSEMBLE = 1, /* with ptxas too */
    DEBUG_TOO = 2,
    ONE_ARCH = 4 /* in turn */
};

static void accept(const code_module *m, const code_target *target, unsigned how) {
    static const int archs[] = {75, 90, 100, 120};
    for (int i = 0; i < judge_count(); i++) {
        const char *wrong = judge_ir(i, m->ir.data);
        if (wrong)
            print_message("%s\n%s: %s\n", m->ir.data, judge_name(i), wrong);
        assert_null(wrong);
    }
    size_t step = how & ONE_ARCH ? COUNT(archs) : how & ASSEMBLE ? 1 : 2;
    size_t first = how & ONE_ARCH ? random_bits() % COUNT(archs) : 0;
    for (size_t k = first; target->gpu && nvvm_found() && k < COUNT(archs); k += step) {
        const char *ptx = "", *wrong = nvvm_judge(m, archs[k], how & ASSEMBLE, &ptx);
        if (!wrong && strstr(ptx, ".extern"))
            wrong = strstr(ptx, ".extern");
        if (wrong)
            print_message("%s\ncompute_%d: %s\n", m->ir.data, archs[k], wrong);
        assert_null(wrong);
    }
}

static void accept_everywhere(const tree *t, unsigned fast, unsigned how) {
    const code_target *targets[] = {&plain_cpu, &host, &gpu};
    for (size_t k = 0; k < COUNT(targets); k++)
        for (unsigned debug = 0; debug <= (how & DEBUG_TOO) / 2; debug++) {
            code_module m = module_of(t, targets[k], fast, debug ? UF_DEBUG : 0);
            accept(&m, targets[k], how);
            text_free(&m.ir);
        }
}

/* ---- Shape of the text: verified everywhere ---- */

static tree *rel_diff_tree(dtype t) {
    node *difference = binary(OP_SUB, var(t, 0), var(t, 1)), *sum = binary(OP_ADD, var(t, 0), var(t, 1));
    node *r = binary(OP_DIV, binary(OP_MUL, number_node(t, 2), difference), sum);
    return expression_tree(2, (dtype[]){t, t, t}, r);
}

static void test_accepted(void **state) {
    (void)state;
    accept_everywhere(rel_diff_tree(DT_FLOAT32), 0, ASSEMBLE | DEBUG_TOO);
    accept_everywhere(rel_diff_tree(DT_FLOAT64), UF_FAST_ALL, 0);
    tree *t = rel_diff_tree(DT_FLOAT32);
    code_module m = module_of(t, &plain_cpu, UF_FAST_CONTRACT, 0);
    assert_non_null(strstr(m.ir.data, "fmul contract"));
    text_free(&m.ir);
    m = module_of(t, &plain_cpu, UF_FAST_DIVIDE | UF_FAST_FLUSH, 0);
    assert_null(strstr(m.ir.data, "contract"));
    text_free(&m.ir);
}

/* Every row of the math table, in both precisions, in one module a precision. */
static tree *math_tree(dtype t) {
    function *f = new_function("kernel", 2, 2, 4, (dtype[]){t, DT_INT32, t, DT_INT32});
    node *last = NULL;
    for (int i = 0; i < math_row_count; i++) {
        const math_row *row = &math_rows[i];
        node *args = NULL;
        for (int k = row->arity - 1; k >= 0; k--) {
            bool is_int = (row->rule == MATH_FLOATING_INT && k == row->arity - 1) ||
                          (row->rule == MATH_INT_FLOATING && k == 0) || row->rule == MATH_BITS;
            node *a = is_int ? var(DT_INT32, 1) : var(t, 0);
            a->next = args;
            args = a;
        }
        node *call = math(row->name, row->rule == MATH_BITS ? DT_INT32 : t, args);
        node *place = call->type == DT_INT32 ? var(DT_INT32, 3) : var(t, 2);
        node *s = eval(compound(OP_ADD, (dtype)call->type, place, call));
        *(last ? &last->next : &f->body) = s;
        last = s;
    }
    return new_tree(f);
}

static void test_math_accepted(void **state) {
    (void)state;
    accept_everywhere(math_tree(DT_FLOAT32), 0, ONE_ARCH);
    accept_everywhere(math_tree(DT_FLOAT64), 0, ONE_ARCH);
    static const dtype integers[] = {DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_UINT32, DT_UINT64};
    static const char *const names[] = {"clz", "ctz", "popcount"};
    for (size_t n = 0; n < COUNT(names); n++) {
        function *f = new_function(
            "kernel", COUNT(integers), 1, COUNT(integers) + 1,
            (dtype[]){DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_UINT32, DT_UINT64, DT_INT32});
        node *sum = number_node(DT_INT32, 0);
        for (size_t k = 0; k < COUNT(integers); k++)
            sum = binary(OP_ADD, sum, math(names[n], integers[k], var(integers[k], (int)k)));
        f->body = eval(assign(var(DT_INT32, COUNT(integers)), sum));
        tree *t = new_tree(f);
        code_module m = module_of(t, &gpu, 0, 0);
        accept(&m, &gpu, 0);
        text_free(&m.ir);
    }
}

/* ---- Conversions: all pairs, on every LLVM, against long double, which holds every real dtype exactly ---- */

typedef struct wide_value {
    long double re, im;
} wide_value;

static wide_value read_wide(dtype t, const void *p) {
    switch (t) {
    case DT_BOOL:
        return (wide_value){*(const uint8_t *)p != 0, 0};
    case DT_INT8:
        return (wide_value){*(const int8_t *)p, 0};
    case DT_INT16:
        return (wide_value){*(const int16_t *)p, 0};
    case DT_INT32:
        return (wide_value){*(const int32_t *)p, 0};
    case DT_INT64:
        return (wide_value){*(const int64_t *)p, 0};
    case DT_UINT8:
        return (wide_value){*(const uint8_t *)p, 0};
    case DT_UINT16:
        return (wide_value){*(const uint16_t *)p, 0};
    case DT_UINT32:
        return (wide_value){*(const uint32_t *)p, 0};
    case DT_UINT64:
        return (wide_value){*(const uint64_t *)p, 0};
    case DT_FLOAT16: {
        uint16_t h = *(const uint16_t *)p;
        int e = h >> 10 & 31, m = h & 1023;
        long double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpl(1024 + m, e - 25) : ldexpl(m, -24);
        return (wide_value){h >> 15 ? -v : v, 0};
    }
    case DT_BFLOAT16: {
        uint32_t bits = (uint32_t) * (const uint16_t *)p << 16;
        float f;
        memcpy(&f, &bits, sizeof f);
        return (wide_value){f, 0};
    }
    case DT_FLOAT32:
        return (wide_value){*(const float *)p, 0};
    case DT_FLOAT64:
        return (wide_value){*(const double *)p, 0};
    case DT_COMPLEX64:
        return (wide_value){((const float *)p)[0], ((const float *)p)[1]};
    default:
        return (wide_value){((const double *)p)[0], ((const double *)p)[1]};
    }
}

/* To nearest even with `precision` bits, least exponent `lowest`, largest `highest`. */
static long double rounded(long double v, int precision, int lowest, int highest) {
    if (isnan(v) || isinf(v) || v == 0)
        return v;
    int e = ilogbl(v) < lowest ? lowest : ilogbl(v);
    long double unit = ldexpl(1, e - precision + 1), r = rintl(v / unit) * unit;
    return fabsl(r) >= ldexpl(1, highest + 1) ? copysignl(INFINITY, v) : r;
}

/* An integer is made modulo 2^64 from an integer, saturated from a float. */
static uint64_t to_integer(long double v, bool from_integer, int bits, bool is_signed) {
    if (from_integer)
        return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
    long double lowest = is_signed ? -ldexpl(1, bits - 1) : 0, limit = ldexpl(1, bits - is_signed);
    if (isnan(v))
        return 0;
    if (v <= lowest)
        return is_signed ? UINT64_MAX << (bits - 1) : 0;
    if (v >= limit)
        return is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static uint16_t half_bits(long double v, int precision) {
    int exponent_bits = 16 - precision, bias = (1 << (exponent_bits - 1)) - 1, fraction = precision - 1;
    long double r = fabsl(rounded(v, precision, 1 - bias, bias));
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    if (isnan(v))
        return 0x7FFF;
    if (isinf(r))
        return (uint16_t)(sign | (((1 << exponent_bits) - 1) << fraction));
    if (r < ldexpl(1, 1 - bias))
        return (uint16_t)(sign | (int)ldexpl(r, bias - 1 + fraction));
    int e = ilogbl(r);
    return (uint16_t)(sign | (e + bias) << fraction | ((int)ldexpl(r, fraction - e) & ((1 << fraction) - 1)));
}

static void write_wide(dtype from, wide_value v, dtype to, void *p) {
    bool whole = from <= DT_UINT64;
    switch (to) {
    case DT_BOOL:
        *(uint8_t *)p = v.re != 0 || v.im != 0;
        break;
    case DT_INT8:
    case DT_UINT8:
        *(uint8_t *)p = (uint8_t)to_integer(v.re, whole, 8, to == DT_INT8);
        break;
    case DT_INT16:
    case DT_UINT16:
        *(uint16_t *)p = (uint16_t)to_integer(v.re, whole, 16, to == DT_INT16);
        break;
    case DT_INT32:
    case DT_UINT32:
        *(uint32_t *)p = (uint32_t)to_integer(v.re, whole, 32, to == DT_INT32);
        break;
    case DT_INT64:
    case DT_UINT64:
        *(uint64_t *)p = to_integer(v.re, whole, 64, to == DT_INT64);
        break;
    case DT_FLOAT16:
        *(uint16_t *)p = half_bits(v.re, 11);
        break;
    case DT_BFLOAT16:
        *(uint16_t *)p = half_bits(v.re, 8);
        break;
    case DT_FLOAT32:
        *(float *)p = (float)v.re;
        break;
    case DT_FLOAT64:
        *(double *)p = (double)v.re;
        break;
    case DT_COMPLEX64:
        ((float *)p)[0] = (float)v.re, ((float *)p)[1] = (float)v.im;
        break;
    default:
        ((double *)p)[0] = (double)v.re, ((double *)p)[1] = (double)v.im;
        break;
    }
}

/* Bits are the same, or both are NaN. */
static bool same_real(dtype t, const void *a, const void *b) {
    long double x = read_wide(t, a).re, y = read_wide(t, b).re;
    return memcmp(a, b, dtypes[t].size) == 0 || (isnan(x) && isnan(y));
}

static bool same(dtype t, const char *a, const char *b) {
    dtype part = (dtype)dtypes[t].component;
    size_t size = dtypes[part].size;
    if (!memcmp(a, b, dtypes[t].size))
        return true;
    return same_real(part, a, b) && (!dtype_is_complex(t) || same_real(part, a + size, b + size));
}

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
            ssa v = emit_load(&e, from, emit_element(&e, from, ssa_text("%%in"), ssa_text("%%i")));
            v = emit_convert(&e, v, from, to);
            emit_store(&e, to, v, emit_element(&e, to, ssa_text("%%out"), ssa_text("%%i")));
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
        if (!same(to, g, w)) {
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
    accept(&on_gpu, &gpu, ONE_ARCH);
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
    ssa a = emit_load(e, t, emit_element(e, t, ssa_text("%%a"), ssa_text("%%i")));
    ssa b = emit_load(e, c, emit_element(e, c, ssa_text("%%b"), ssa_text("%%i")));
    emit_store(e, r, emit_binary(e, o, t, a, b, c), emit_element(e, r, ssa_text("%%c"), ssa_text("%%i")));
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
        if (!same(r, want, out + k * rsize))
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
    }
    text_free(&m.ir);
}

/* ---- Statements ---- */

static node *constant(int64_t v) {
    node *n = make(N_CONST, DT_INT32);
    n->value = (number){.type = DT_INT32, .as.i = v};
    return n;
}

static node *block(node *body) {
    node *n = make(N_BLOCK, DT_NONE);
    n->body = body;
    return n;
}

static node *if_else(node *condition, node *yes, node *no) {
    node *n = three(N_IF, DT_NONE, condition, NULL, NULL);
    n->body = yes;
    n->other = no;
    return n;
}

static node *loop(node *condition, node *body, node *step, bool test_last) {
    node *n = three(N_LOOP, DT_NONE, condition, NULL, NULL);
    n->body = body;
    n->step = step;
    n->test_last = test_last;
    return n;
}

static node *switch_on(node *value, node *body) {
    node *n = three(N_SWITCH, DT_NONE, convert(DT_INT64, value), NULL, NULL);
    n->body = body;
    return n;
}

static node *case_of(int64_t v, bool is_default) {
    node *n = make(N_CASE, DT_NONE);
    n->value = (number){.type = DT_INT64, .as.i = v};
    n->is_default = is_default;
    return n;
}

static node *declare(int k, node *value) {
    node *n = three(N_DECLARE, DT_NONE, value, NULL, NULL);
    n->local = k;
    return n;
}

static node *element(dtype t, int k, node *i, node *j) {
    node *n = three(N_ELEMENT, t, convert(DT_INT64, i), j ? convert(DT_INT64, j) : NULL, NULL);
    n->local = k;
    return n;
}

static node *jump(node_kind kind) { return make(kind, DT_NONE); }
static node *v32(int k) { return var(DT_INT32, k); }
static node *add(node *place, node *value) { return eval(compound(OP_ADD, DT_INT32, place, value)); }

/* int32 (x, n) -> r. The same in C is control_in_c. */
enum {
    X,
    N,
    R,
    I,
    J,
    A, /* int32[5] */
    B, /* bool[2][3] */
    U, /* uint8 */
    D, /* int32[3], declared in a loop */
    F, /* int32[2][2][2][2] */
    LOCALS
};

static node *four(node *a, node *b, node *c, node *d) {
    node *n = make(N_ELEMENT, DT_INT32);
    n->local = F;
    n->args = list(convert(DT_INT64, a), convert(DT_INT64, b), convert(DT_INT64, c), convert(DT_INT64, d), NULL);
    return n;
}

static node *control_loop(void) {
    node *inner =
        switch_on(binary(OP_REM, v32(I), constant(6)),
                  list(case_of(0, false), add(v32(R), constant(1)), case_of(1, false), add(v32(R), constant(10)),
                       jump(N_BREAK), case_of(0, true), add(v32(R), constant(1000)), jump(N_BREAK), case_of(3, false),
                       if_else(binary(OP_GT, v32(X), constant(4)), jump(N_CONTINUE), NULL), add(v32(R), constant(7)),
                       case_of(4, false),
                       switch_on(v32(X), list(case_of(2, false), jump(N_BREAK), case_of(3, false),
                                              add(v32(R), constant(5)), NULL)),
                       add(v32(R), constant(100)), NULL));
    return list(declare(D, NULL), eval(update(OP_ADD, DT_INT32, true, element(DT_INT32, D, v32(I), NULL))),
                add(v32(R), element(DT_INT32, D, v32(I), NULL)), inner,
                eval(assign(element(DT_INT32, A, v32(I), NULL), binary(OP_ADD, v32(R), v32(I)))),
                if_else(binary(OP_GT, v32(R), constant(30000)), jump(N_BREAK), NULL),
                eval(compound(OP_MUL, DT_INT32, var(DT_UINT8, U), constant(3))), NULL);
}

static tree *control_tree(void) {
    function *f = new_function(
        "kernel", 2, 1, LOCALS,
        (dtype[]){DT_INT32, DT_INT32, DT_INT32, DT_INT32, DT_INT32, DT_INT32, DT_BOOL, DT_UINT8, DT_INT32, DT_INT32});
    f->locals[A].rank = f->locals[D].rank = 1;
    f->locals[A].extent[0] = 5;
    f->locals[D].extent[0] = 3;
    f->locals[B].rank = 2;
    f->locals[B].extent[0] = 2;
    f->locals[B].extent[1] = 3;
    f->locals[F].rank = 4;
    for (int d = 0; d < 4; d++)
        f->locals[F].extent[d] = 2;
    node *odd = binary(OP_EQ, binary(OP_AND, v32(J), constant(1)), constant(1));
    node *side = binary(OP_GT, update(OP_ADD, DT_INT32, false, v32(J)), constant(2));
    f->body =
        list(declare(A, NULL), declare(B, NULL), declare(F, NULL), declare(U, number_node(DT_UINT8, 7)),
             declare(I, constant(-2)),
             loop(binary(OP_LT, v32(I), v32(N)), control_loop(),
                  list(eval(update(OP_ADD, DT_INT32, false, v32(I))), NULL), false),
             declare(J, constant(0)),
             loop(binary(OP_LT, v32(J), constant(4)),
                  list(eval(assign(element(DT_BOOL, B, v32(J), binary(OP_SUB, v32(X), v32(J))), odd)),
                       if_else(element(DT_BOOL, B, v32(J), binary(OP_SUB, v32(X), v32(J))),
                               list(add(v32(R), constant(3)), NULL), list(add(v32(R), constant(2)), NULL)),
                       eval(update(OP_ADD, DT_INT32, true, v32(J))), NULL),
                  NULL, true),
             eval(assign(four(v32(X), constant(1), constant(0), constant(1)), constant(9))),
             add(v32(R), four(v32(X), constant(1), constant(0), constant(1))), eval(assign(v32(J), constant(0))),
             if_else(three(N_AND, DT_BOOL, binary(OP_GT, v32(X), constant(0)), side, NULL), NULL, add(v32(R), v32(J))),
             if_else(three(N_OR, DT_BOOL, binary(OP_GT, v32(X), constant(3)),
                           binary(OP_GT, update(OP_ADD, DT_INT32, true, v32(J)), constant(0)), NULL),
                     add(v32(R), constant(40)), NULL),
             eval(assign(v32(J), three(N_SELECT, DT_INT32, binary(OP_LT, v32(X), constant(2)),
                                       update(OP_SUB, DT_INT32, true, v32(J)), assign(v32(I), constant(77))))),
             if_else(binary(OP_EQ, v32(X), constant(5)),
                     block(list(add(v32(R), constant(1)), jump(N_RETURN), add(v32(R), constant(9)), NULL)), NULL),
             add(v32(R), binary(OP_ADD, v32(I), v32(J))), add(v32(R), convert(DT_INT32, var(DT_UINT8, U))),
             add(v32(R), element(DT_INT32, A, v32(X), NULL)),
             add(v32(R), assign(element(DT_INT32, A, v32(X), NULL), constant(4))),
             add(v32(R), compound(OP_SHL, DT_INT32, element(DT_INT32, A, v32(X), NULL), constant(2))), NULL);
    return new_tree(f);
}

static int32_t control_in_c(int32_t x, int32_t n) {
    int32_t r = 0, i, j = 0, a[5] = {0}, f[2][2][2][2] = {0};
    bool b[2][3] = {0};
    uint8_t u = 7;
    for (i = -2; i < n; ++i) {
        int32_t d[3] = {0};
        if ((uint32_t)i < 3) {
            d[i]++;
            r += d[i];
        }
        switch (i % 6) {
        case 0:
            r += 1; /* fall through */
        case 1:
            r += 10;
            break;
        default:
            r += 1000;
            break;
        case 3:
            if (x > 4)
                continue;
            r += 7; /* fall through */
        case 4:
            switch (x) {
            case 2:
                break;
            case 3:
                r += 5;
            }
            r += 100;
        }
        if ((uint32_t)i < 5)
            a[i] = r + i;
        if (r > 30000)
            break;
        u *= 3;
    }
    do {
        int32_t k = x - j;
        bool fits = (uint32_t)j < 2 && (uint32_t)k < 3;
        if (fits)
            b[j][k] = (j & 1) == 1;
        r += fits && b[j][k] ? 3 : 2;
        j++;
    } while (j < 4);
    if ((uint32_t)x < 2)
        f[x][1][0][1] = 9, r += f[x][1][0][1];
    j = 0;
    if (!(x > 0 && ++j > 2))
        r += j;
    if (x > 3 || j++ > 0)
        r += 40;
    j = x < 2 ? j : (i = 77); /* j = j-- */
    if (x == 5)
        return r + 1;
    r += i + j;
    r += u;
    bool fits = (uint32_t)x < 5;
    r += fits ? a[x] : 0;
    r += 4; /* the value of a[x] = 4, also where it is dropped */
    r += fits ? 4 << 2 : 0;
    return r;
}

static void run_control(int i, int level) {
    enum {
        COUNT_ALL = 20 * 60
    };
    code_module m = module_of(control_tree(), &host, 0, UF_DEBUG);
    judged *result = judge_compile(i, &m, level);
    int32_t x[COUNT_ALL], n[COUNT_ALL], r[COUNT_ALL];
    for (int k = 0; k < COUNT_ALL; k++) {
        x[k] = k % 20 - 5;
        n[k] = k / 20;
    }
    char *arrays[] = {(char *)x, (char *)n, (char *)r};
    ((void (*)(char **, int64_t))judge_address(result, "entry"))(arrays, COUNT_ALL);
    for (int k = 0; k < COUNT_ALL; k++)
        if (r[k] != control_in_c(x[k], n[k]))
            fail_msg("%s: control(%d, %d) is %d, not %d", judge_name(i), x[k], n[k], r[k], control_in_c(x[k], n[k]));
    text_free(&m.ir);
}

static void test_control(void **state) {
    (void)state;
    accept_everywhere(control_tree(), 0, ASSEMBLE | DEBUG_TOO);
    for (int i = 0; i < judge_count(); i++) {
        run_control(i, 0);
        run_control(i, 3);
    }
}

/* switch (x) { case 1: ; int32 g[2]; case 2: r = g[0]; g[0] = 7; } r += a[x / 3][x % 3], with a[i][j] = 10 i + j: a declaration
 * that is jumped over leaves 0 there, not what the last call left. */
static tree *arrays_tree(void) {
    enum {
        G = 4,
        H = 5
    };
    function *f =
        new_function("kernel", 1, 1, 6, (dtype[]){DT_INT32, DT_INT32, DT_INT32, DT_INT32, DT_INT32, DT_INT32});
    f->locals[G].rank = 1;
    f->locals[G].extent[0] = 2;
    f->locals[H].rank = 2;
    f->locals[H].extent[0] = 2;
    f->locals[H].extent[1] = 3;
    node *set = eval(
        assign(element(DT_INT32, H, v32(2), v32(3)), binary(OP_ADD, binary(OP_MUL, constant(10), v32(2)), v32(3))));
    node *inner = loop(binary(OP_LT, v32(3), constant(3)), set, eval(update(OP_ADD, DT_INT32, false, v32(3))), false);
    f->body = list(
        declare(H, NULL),
        loop(binary(OP_LT, v32(2), constant(2)), list(declare(3, NULL), inner, NULL),
             eval(update(OP_ADD, DT_INT32, false, v32(2))), false),
        switch_on(v32(0), list(case_of(1, false), declare(G, NULL), case_of(2, false),
                               eval(assign(v32(1), element(DT_INT32, G, constant(0), NULL))),
                               eval(assign(element(DT_INT32, G, constant(0), NULL), constant(7))), NULL)),
        add(v32(1), element(DT_INT32, H, binary(OP_DIV, v32(0), constant(3)), binary(OP_REM, v32(0), constant(3)))),
        NULL);
    return new_tree(f);
}

static void test_arrays(void **state) {
    (void)state;
    static const int32_t want[] = {0, 1, 2, 10, 11, 12, 0, 0};
    int32_t x[64], r[64];
    char *arrays[] = {(char *)x, (char *)r};
    for (int k = 0; k < 64; k++)
        x[k] = k % 9 < 3 ? 2 : k % 8;
    for (int i = 0; i < judge_count(); i++)
        for (int level = 0; level <= 3; level += 3) {
            code_module m = module_of(arrays_tree(), &host, 0, 0);
            ((void (*)(char **, int64_t))judge_address(judge_compile(i, &m, level), "entry"))(arrays, 64);
            for (int k = 0; k < 64; k++)
                assert_int_equal(r[k], want[x[k]]);
            text_free(&m.ir);
        }
}

/* A helper of two complex parameters that is called in one way and in both compound ones; complex ==, select and parts. */
static tree *complex_tree(void) {
    dtype c = DT_COMPLEX64, r = DT_FLOAT32;
    function *times = new_function("times", 2, 1, 3, (dtype[]){c, c, c});
    node *a = var(c, 0), *b = var(c, 1);
    node *re = binary(OP_SUB, binary(OP_MUL, three(N_REAL, r, a, 0, 0), three(N_REAL, r, b, 0, 0)),
                      binary(OP_MUL, three(N_IMAG, r, var(c, 0), 0, 0), three(N_IMAG, r, var(c, 1), 0, 0)));
    node *im = binary(OP_ADD, binary(OP_MUL, three(N_REAL, r, var(c, 0), 0, 0), three(N_IMAG, r, var(c, 1), 0, 0)),
                      binary(OP_MUL, three(N_IMAG, r, var(c, 0), 0, 0), three(N_REAL, r, var(c, 1), 0, 0)));
    times->body = list(eval(assign(var(c, 2), three(N_COMPLEX, c, re, im, 0))), jump(N_RETURN), NULL);
    function *f = new_function("kernel", 2, 2, 5, (dtype[]){c, c, c, DT_BOOL, c});
    node *call = make(N_CALL, c);
    call->callee = times;
    call->args = list(var(c, 0), var(c, 1), NULL);
    node *square = compound(OP_MUL, c, var(c, 4), var(c, 4));
    square->callee = times;
    f->locals[4].rank = 0;
    f->body = list(eval(assign(var(c, 4), call)), eval(square),
                   eval(assign(var(c, 2), three(N_SELECT, c, binary(OP_NE, var(c, 0), var(c, 1)), var(c, 4),
                                                assign(var(c, 4), unary(OP_NEG, var(c, 0)))))),
                   eval(assign(var(DT_BOOL, 3), unary(OP_LNOT, binary(OP_EQ, var(c, 2), var(c, 4))))), NULL);
    times->next = f;
    return new_tree(times);
}

static void test_complex(void **state) {
    (void)state;
    accept_everywhere(complex_tree(), 0, ASSEMBLE | DEBUG_TOO);
    float x[8] = {1, 2, 3, -4, 5, 6, 0, 0}, y[8] = {2, 1, 3, -4, 0.5, 0.25, 1, 0}, z[8];
    const float want[8] = {-25, 0, -3, 4, (1 - 18.0625f), 8.5f, 0, 0}; /* (x y)^2, or -x where x is y */
    bool b[4];
    char *arrays[] = {(char *)x, (char *)y, (char *)z, (char *)b};
    for (int i = 0; i < judge_count(); i++) {
        code_module m = module_of(complex_tree(), &host, 0, 0);
        ((void (*)(char **, int64_t))judge_address(judge_compile(i, &m, 3), "entry"))(arrays, 4);
        for (int k = 0; k < 8; k++)
            assert_float_equal(z[k], want[k], 0);
        for (int k = 0; k < 4; k++)
            assert_false(b[k]);
        text_free(&m.ir);
    }
}

/* ---- Math: one result for one argument, wherever it stands ---- */

static tree *math_call_tree(const char *name, dtype in, dtype wide, dtype out) {
    node *args = convert(wide, var(in, 0));
    if (math_find(name, strlen(name))->arity == 2)
        args->next = number_node(wide, 0.75);
    return expression_tree(1, (dtype[]){in, out}, convert(out, math(name, wide, args)));
}

static void check_positions(int i, const char *name, dtype in, dtype wide, dtype out) {
    enum {
        COUNT_ALL = 77
    };
    code_module m = module_of(math_call_tree(name, in, wide, out), &host, 0, 0);
    void (*f)(char **, int64_t) = (void (*)(char **, int64_t))judge_address(judge_compile(i, &m, 3), "entry");
    char x[COUNT_ALL * 8], all[COUNT_ALL * 8], one[COUNT_ALL * 8];
    size_t size = dtypes[in].size, rsize = dtypes[out].size;
    for (size_t k = 0; k < COUNT_ALL; k++) {
        static const double edges[] = {0, 0.5, 1, 2, 1e6, 1e30, INFINITY, NAN, -1, -1e10, 1e-40, 88, 0.9999};
        double v = k % 3 ? ldexp((double)random_bits(), -62) : edges[k / 3 % 13];
        write_wide(DT_FLOAT64, (wide_value){v, 0}, in, x + k * size);
    }
    f((char *[]){x, all}, COUNT_ALL);
    for (size_t k = 0; k < COUNT_ALL; k++)
        f((char *[]){x + k * size, one + k * rsize}, 1);
    for (size_t k = 0; k < COUNT_ALL; k++)
        if (!same(out, all + k * rsize, one + k * rsize))
            fail_msg("%s: %s %s of %Lg depends on the position", judge_name(i), dtypes[in].name, name,
                     read_wide(in, x + k * size).re);
    text_free(&m.ir);
}

static void test_positions(void **state) {
    (void)state;
    int turn = (int)(random_bits() % 2); /* each in one precision, by turns */
    for (int k = 0; judge_count() && k < math_row_count; k++) {
        dtype t = (k + turn) & 1 ? DT_FLOAT32 : DT_FLOAT64;
        if (math_rows[k].vector)
            check_positions(0, math_rows[k].name, t, t, t);
    }
    for (int i = 0; i < judge_count(); i++) {
        check_positions(i, "sin", DT_FLOAT32, DT_FLOAT32, DT_FLOAT32);
        check_positions(i, "sin", DT_FLOAT32, DT_FLOAT64, DT_FLOAT32);
        check_positions(i, "pow", DT_FLOAT32, DT_FLOAT32, DT_FLOAT64);
        check_positions(i, "exp", DT_INT16, DT_FLOAT32, DT_FLOAT32);
        check_positions(i, "exp", DT_UINT8, DT_FLOAT32, DT_UINT8);
        check_positions(i, "log", DT_FLOAT16, DT_FLOAT32, DT_FLOAT16);
    }
}

/* The text of one function of a module. */
static char *function_text(const char *ir, const char *head) {
    static char body[1 << 18];
    const char *start = strstr(ir, head), *end = start ? strstr(start, "\n}") : NULL;
    assert_non_null(end);
    assert_true((size_t)(end - start) < sizeof body);
    memcpy(body, start, (size_t)(end - start));
    body[end - start] = 0;
    return body;
}

static tree *mixed_tree(void) { /* float64 sin(sin(float32)) */
    node *inner = math("sin", DT_FLOAT32, var(DT_FLOAT32, 0));
    return expression_tree(1, (dtype[]){DT_FLOAT32, DT_FLOAT64}, math("sin", DT_FLOAT64, convert(DT_FLOAT64, inner)));
}

/* Both of a pair; other: or both of another. */
static void expect_calls(const tree *t, const code_target *target, const char *cpu, const char *const *pair,
                         const char *const *other) {
    code_module m = module_of(t, target, 0, 0);
    for (int i = 0; i < judge_count(); i++) {
        char *entry = function_text(judge_optimised(i, m.ir.data, cpu, ""), "define void @entry(");
        bool first = strstr(entry, pair[0]) && strstr(entry, pair[1]);
        if (!first && !(strstr(entry, other[0]) && strstr(entry, other[1])))
            fail_msg("%s, %s: %s or %s missing in\n%s", judge_name(i), cpu, pair[0], pair[1], entry);
    }
    text_free(&m.ir);
}

static void test_vectorised(void **state) {
    (void)state;
    static const struct {
        int bits;
        const char *cpu, *sin32, *sin64, *half32, *twice64;
    } rows[] = {{512, "skylake-avx512", "@_ZGVeN16v_sinf(", "@_ZGVeN8v_sin(", "@m_sin_f32_x8(", "@m_sin_f64_x16("},
                {256, "haswell", "@_ZGVdN8v_sinf(", "@_ZGVdN4v_sin(", "@m_sin_f32_x4(", "@m_sin_f64_x8("},
                {128, "x86-64", "@_ZGVbN4v_sinf(", "@_ZGVbN2v_sin(", "@m_sin_f32_x2(", "@m_sin_f64_x4("}};
    const tree *sin32 = math_call_tree("sin", DT_FLOAT32, DT_FLOAT32, DT_FLOAT32);
    const tree *sin64 = math_call_tree("sin", DT_FLOAT64, DT_FLOAT64, DT_FLOAT64);
    const tree *inner64 = math_call_tree("sin", DT_FLOAT32, DT_FLOAT64, DT_FLOAT32), *mixed = mixed_tree();
    for (size_t k = 0; k < COUNT(rows); k++) {
        code_target t = {.vector_bits = rows[k].bits};
        const char *const only32[] = {rows[k].sin32, ""}, *const only64[] = {rows[k].sin64, ""};
        const char *const narrow[] = {rows[k].sin64, rows[k].half32}, *const broad[] = {rows[k].sin32, rows[k].twice64};
        const char *const twice[] = {rows[k].twice64, ""};
        expect_calls(sin32, &t, rows[k].cpu, only32, only32);
        expect_calls(sin64, &t, rows[k].cpu, only64, only64);
        expect_calls(inner64, &t, rows[k].cpu, twice, only64);
        expect_calls(mixed, &t, rows[k].cpu, narrow, broad);
    }
}

/* No compiler calls a helper for halves: Debian's libgcc and LLVM disagree about their arguments. */
static void test_no_half_helpers(void **state) {
    (void)state;
    static const dtype others[] = {DT_INT64, DT_BFLOAT16, DT_FLOAT32, DT_FLOAT64};
    for (int hardware = 0; hardware < 2; hardware++) {
        code_target t = {.f16c = hardware};
        for (size_t k = 0; k < COUNT(others); k++) {
            code_module m = module_of(
                expression_tree(2, (dtype[]){others[k], DT_FLOAT16, DT_FLOAT16},
                                three(N_SELECT, DT_FLOAT16, convert(DT_BOOL, convert(others[k], var(DT_FLOAT16, 1))),
                                      convert(DT_FLOAT16, var(others[k], 0)), var(DT_FLOAT16, 1))),
                &t, 0, 0);
            for (int i = 0; i < judge_count(); i++) {
                const char *assembly = judge_assembly(i, m.ir.data, "x86-64", hardware ? "+f16c,+avx" : "");
                if (strstr(assembly, "hf2") || strstr(assembly, "__gnu_"))
                    fail_msg("%s: a helper is called for %s\n%s", judge_name(i), dtypes[others[k]].name, assembly);
            }
            text_free(&m.ir);
        }
    }
}

/* ---- Memory, goldens ---- */

static int countdown;

static bool may_alloc(size_t size) {
    (void)size;
    return countdown-- != 0;
}

static void test_out_of_memory(void **state) {
    (void)state;
    const code_target *targets[] = {&host, &gpu};
    const tree *trees[] = {math_tree(DT_FLOAT32), complex_tree()};
    for (size_t k = 0; k < COUNT(targets); k++) {
        for (int n = 0;; n++) {
            code_module m = {.entry = "entry", .flags = UF_DEBUG};
            arena own = {0};
            emit e;
            countdown = n;
            mem_may_alloc = may_alloc;
            emit_begin(&e, &own, &m, targets[k], "memory");
            emit_functions(&e, trees[k]);
            uf_status status = emit_finish(&e);
            mem_may_alloc = NULL;
            text_free(&m.ir);
            arena_free(&own);
            if (status == UF_OK)
                break;
            assert_int_equal(status, UF_ERR_MEMORY);
            assert_true(n < 5000);
        }
    }
}

static void check_golden(const char *name, const tree *t, const code_target *target, unsigned fast, unsigned flags) {
    code_module m = {.entry = "entry", .fast = fast, .flags = flags};
    emit e;
    char path[128];
    emit_begin(&e, &memory, &m, target, name);
    emit_functions(&e, t);
    assert_int_equal(emit_finish(&e), UF_OK);
    snprintf(path, sizeof path, "tests/ir/%s.ll", name);
    if (getenv("UF_BLESS")) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fwrite(m.ir.data, 1, m.ir.length, f);
        fclose(f);
    }
    char *golden = calloc(1, 1 << 18);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing; run from the repository's root", path);
    size_t n = fread(golden, 1, (1 << 18) - 1, f);
    fclose(f);
    golden[n] = 0;
    if (strcmp(golden, m.ir.data)) {
        print_message("%s", m.ir.data);
        fail_msg("%s differs; look, then UF_BLESS=1", path);
    }
    free(golden);
    text_free(&m.ir);
}

static void test_goldens(void **state) {
    (void)state;
    code_target wide = {.vector_bits = 512, .f16c = true}, soft = {0};
    check_golden("rel_diff_cpu", rel_diff_tree(DT_FLOAT32), &wide, 0, 0);
    check_golden("rel_diff_gpu", rel_diff_tree(DT_FLOAT32), &gpu, UF_FAST_CONTRACT, UF_DEBUG);
    check_golden("sin_cpu", math_call_tree("sin", DT_FLOAT16, DT_FLOAT32, DT_FLOAT16), &wide, 0, 0);
    check_golden("sin_gpu", math_call_tree("sin", DT_FLOAT16, DT_FLOAT32, DT_FLOAT16), &gpu, 0, 0);
    check_golden("lgamma_cpu", math_call_tree("lgamma", DT_FLOAT16, DT_FLOAT64, DT_INT8), &soft, 0, 0);
    check_golden("control", control_tree(), &gpu, 0, 0);
    check_golden("complex", complex_tree(), &gpu, 0, 0);
}

static int set_up(void **state) {
    (void)state;
    const char *seed = getenv("UF_SEED");
    random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    print_message("UF_SEED=%llu\n", (unsigned long long)random_state);
    host.vector_bits = __builtin_cpu_supports("avx512f") ? 512 : __builtin_cpu_supports("avx2") ? 256 : 128;
    host.f16c = __builtin_cpu_supports("avx2");
    for (int i = 0; i < judge_count(); i++)
        print_message("judge: %s\n", judge_name(i));
    print_message("judge: libnvvm %s, ptxas %s\n", nvvm_found() ? "yes" : "no", ptxas_found() ? "yes" : "no");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_free(&memory);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),      cmocka_unit_test(test_math_accepted),
        cmocka_unit_test(test_conversions),   cmocka_unit_test(test_operators),
        cmocka_unit_test(test_control),       cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_complex),       cmocka_unit_test(test_positions),
        cmocka_unit_test(test_vectorised),    cmocka_unit_test(test_no_half_helpers),
        cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_goldens),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
