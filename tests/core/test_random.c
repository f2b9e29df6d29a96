/* test_random.c - programs through the interpreter and through the library: the same bits, on the CPU and, with
 * UF_TEST_GPU=1, on the GPU. Constants, every operator and every conversion on hard values; then random programs for 3 s
 * times PROP_N. Random program k of a run has seed UF_SEED + k: UF_SEED=<the seed printed> PROP_N=0 runs that one alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ref/random.h"
#include "ref/ref.h"
#include "rewrite.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    MAX_ELEMENTS = 160,
    ELEMENT = 16,                                 /* bytes of the largest dtype */
    GAPS = 8,                                     /* elements that rows may have behind them, at least */
    BUFFER = 4 * (MAX_ELEMENTS + GAPS) * ELEMENT, /* steps of 2, forwards and backwards from the middle */
    STEPS = 1000000
};

/* One argument: a view into a buffer of its own. */
typedef struct argument {
    _Alignas(64) char buffer[BUFFER];
    int64_t shape[2], strides[2];
    DLTensor tensor;
    DLManagedTensor *device; /* the buffer's copy on the GPU */
} argument;

typedef struct experiment {
    uint64_t seed;
    program p;
    source s;
    arena a;
    const tree *tree;
    bool any_types, plain, flat; /* plain: dense arrays only; flat: outputs have rank 1 */
    int64_t rows, columns;
    argument args[PROGRAM_TYPES];
    number expected[MAX_ELEMENTS][PROGRAM_TYPES]; /* [element][output] */
} experiment;

static int64_t accepted, rejected, unending;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Arguments ---- */

/* Where the element at (row, column) of an argument lies in its buffer; its tensor has rank 0, 1 or 2. */
static char *element_at(const argument *a, int64_t row, int64_t column) {
    const DLTensor *t = &a->tensor;
    int64_t at = 0;
    if (t->ndim > 0 && t->shape[t->ndim - 1] != 1)
        at += column * t->strides[t->ndim - 1];
    if (t->ndim > 1 && t->shape[0] != 1)
        at += row * t->strides[0];
    return (char *)t->data + at * (t->dtype.bits / 8);
}

/* A view of rows x columns, somewhere in the middle of the buffer: dense, stepped, reversed, transposed. */
static void lay_out(experiment *x, argument *a, dtype t, bool output, bool dense) {
    int64_t step = 1, pad = 0, sign = 1;
    bool transposed = false;
    if (!dense) {
        step = random_chance(&x->s, 25) ? 2 : 1;
        pad = random_chance(&x->s, 25) ? 1 : 0;
        sign = random_chance(&x->s, 20) ? -1 : 1;
        transposed = random_chance(&x->s, 20);
    }
    a->shape[0] = x->rows;
    a->shape[1] = x->columns;
    a->strides[1] = sign * step * (transposed ? x->rows : 1);
    a->strides[0] = step * (transposed ? 1 : x->columns + pad);
    if (!output && !dense && random_chance(&x->s, 30))
        a->shape[random_between(&x->s, 0, 1)] = 1; /* broadcasts */
    a->tensor = (DLTensor){.data = a->buffer + BUFFER / 2,
                           .device = {kDLCPU, 0},
                           .ndim = 2,
                           .dtype = dtypes[t].dl,
                           .shape = a->shape,
                           .strides = a->strides};
    if (x->rows == 1 && (x->flat || (!output && random_chance(&x->s, 50)))) {
        a->tensor.ndim = 1;
        a->tensor.shape++;
        a->tensor.strides++;
    }
    if (!output && !dense && !x->any_types && random_chance(&x->s, 10))
        a->tensor.ndim = 0; /* a number */
}

/* One row or several; short or long ones. */
static void choose_arguments(experiment *x) {
    bool dense = x->plain || random_chance(&x->s, 40);
    x->rows = x->plain || random_chance(&x->s, 50) ? 1 : random_between(&x->s, 2, 5);
    x->flat = x->plain || (x->rows == 1 && random_chance(&x->s, 70));
    x->columns = random_between(&x->s, x->plain ? MAX_ELEMENTS : 1,
                                !x->plain && random_chance(&x->s, 50) ? 31 : MAX_ELEMENTS / x->rows);
    for (int k = 0; k < x->p.nin + x->p.nout; k++) {
        argument *a = &x->args[k];
        memset(a->buffer, 0xA5, sizeof a->buffer);
        lay_out(x, a, x->p.types[k], k >= x->p.nin, dense);
        if (k < x->p.nin)
            for (int64_t i = 0; i < x->rows * x->columns; i++)
                number_write(random_number(&x->s, x->p.types[k]), x->p.types[k],
                             element_at(a, i / x->columns, i % x->columns));
    }
}

static number read_element(const experiment *x, int k, int64_t i) {
    return number_read(x->p.types[k], element_at(&x->args[k], i / x->columns, i % x->columns));
}

/* ---- Reports ---- */

static void print_number(const char *what, number n) {
    if (dtypes[n.type].kind >= DK_FLOATING)
        print_error("  %s: %s %a %a\n", what, dtypes[n.type].name, n.as.f[0], dtype_is_complex(n.type) ? n.as.f[1] : 0);
    else
        print_error("  %s: %s %lld (0x%llx)\n", what, dtypes[n.type].name, (long long)n.as.i,
                    (unsigned long long)n.as.u);
}

static void report(const experiment *x, const char *where, const char *what) {
    print_error("UF_SEED=%llu, %s: %s\n%s\n%s\n", (unsigned long long)x->seed, where, what, x->p.signature,
                x->p.source.data);
    print_error("%lld rows of %lld\n", (long long)x->rows, (long long)x->columns);
    for (int k = 0; k < x->p.nin + x->p.nout; k++) {
        const DLTensor *t = &x->args[k].tensor;
        print_error("argument %d: rank %d", k, t->ndim);
        for (int d = 0; d < t->ndim; d++)
            print_error(", %lld stride %lld", (long long)t->shape[d], (long long)t->strides[d]);
        print_error("\n");
    }
}

/* ---- The oracle ---- */

static bool interpret(experiment *x) {
    for (int64_t i = 0; i < x->rows * x->columns; i++) {
        number in[PROGRAM_TYPES];
        for (int k = 0; k < x->p.nin; k++)
            in[k] = read_element(x, k, i);
        const char *wrong = ref_run(x->tree, in, x->expected[i], STEPS);
        if (wrong == ref_endless)
            return false;
        if (wrong) {
            report(x, "interpreter", wrong);
            fail_msg("%s", wrong);
        }
        for (int k = 0; k < x->p.nout; k++)
            x->expected[i][k] = ref_convert(x->expected[i][k], x->p.types[x->p.nin + k]);
    }
    return true;
}

static void compare(const experiment *x, const char *where) {
    for (int64_t i = 0; i < x->rows * x->columns; i++)
        for (int k = 0; k < x->p.nout; k++) {
            number got = read_element(x, x->p.nin + k, i);
            if (ref_same(got, x->expected[i][k]))
                continue;
            report(x, where, "results differ");
            print_error("element %lld, output %d\n", (long long)i, k);
            for (int j = 0; j < x->p.nin; j++)
                print_number("input", read_element(x, j, i));
            print_number("interpreter", x->expected[i][k]);
            print_number(where, got);
            fail_msg("results differ");
        }
}

static void must(const experiment *x, const char *where, uf_status status) {
    if (status == UF_OK)
        return;
    report(x, where, uf_last_error()->message);
    fail_msg("%s", uf_status_text(status));
}

/* ---- The library ---- */

/* A number has the type that the signature wants. */
static const uf_options own_types = {.size = sizeof own_types, .flags = UF_STRONG_NUMBERS};

/* On a machine that is there for its GPU, libLLVM may be missing. */
static bool no_cpu_here(uf_status status) {
    static bool said;
    if (status != UF_ERR_LIBRARY || !getenv("UF_TEST_GPU"))
        return false;
    if (!said)
        print_message("CPU left out: %s\n", uf_last_error()->message);
    return said = true;
}

static void run_on_cpu(experiment *x, const uf_func *f) {
    DLTensor tensors[PROGRAM_TYPES];
    int n = x->p.nin + x->p.nout;
    for (int k = 0; k < n; k++)
        tensors[k] = x->args[k].tensor;
    uf_status status = uf_call(f, n, tensors, &own_types);
    if (no_cpu_here(status))
        return;
    must(x, "CPU", status);
    compare(x, "CPU");
}

static DLTensor bytes_of(argument *a) {
    static int64_t size[1] = {BUFFER};
    return (DLTensor){.data = a->buffer, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLUInt, 8, 1}, .shape = size};
}

static void run_on_gpu(experiment *x, const uf_func *f) {
    static const DLDevice gpu = {kDLCUDA, 0};
    static const int64_t size[1] = {BUFFER};
    DLTensor tensors[PROGRAM_TYPES] = {{0}}, host;
    int n = x->p.nin + x->p.nout;
    for (int k = 0; k < n; k++) {
        argument *a = &x->args[k];
        host = bytes_of(a);
        must(x, "GPU", uf_empty(&a->device, gpu, host.dtype, 1, size));
        must(x, "GPU", uf_copy(&a->device->dl_tensor, &host, NULL));
        tensors[k] = a->tensor;
        if (a->tensor.ndim == 0)
            continue; /* a number stays on the host */
        tensors[k].device = gpu;
        tensors[k].data = (char *)a->device->dl_tensor.data + ((char *)a->tensor.data - a->buffer);
    }
    must(x, "GPU", uf_call(f, n, tensors, &own_types));
    for (int k = 0; k < n; k++) {
        argument *a = &x->args[k];
        host = bytes_of(a);
        must(x, "GPU", uf_copy(&host, &a->device->dl_tensor, NULL));
        a->device->deleter(a->device);
    }
    compare(x, "GPU");
}

static void wipe_outputs(experiment *x) {
    for (int k = x->p.nin; k < x->p.nin + x->p.nout; k++)
        memset(x->args[k].buffer, 0xA5, BUFFER);
}

/* The oracle's own front-end run. False: the program does not type-check. */
static bool check_program(experiment *x) {
    const syntax *s;
    tree *t;
    dtype *out = &x->p.types[x->p.nin];
    for (int k = 0; k < x->p.nout && x->any_types; k++)
        out[k] = DT_NONE;
    if (lang_parse(&x->a, x->p.source.data, NULL, &s) ||
        lang_check(&x->a, s, NULL, NULL, x->p.types, x->p.nin, out, x->p.nout, false, &t))
        return false;
    x->tree = t;
    return true;
}

/* The program, typed and registered, on `rounds` sets of arguments. */
static void run_rounds(experiment *x, const uf_func *f, int rounds) {
    for (int round = 0; round < rounds; round++) {
        choose_arguments(x);
        if (!interpret(x)) {
            unending++;
            return;
        }
        run_on_cpu(x, f);
        wipe_outputs(x);
        if (getenv("UF_TEST_GPU"))
            run_on_gpu(x, f);
    }
    accepted++;
}

static void run_experiment(experiment *x, int rounds) {
    uf_func *f = NULL;
    bool fits = check_program(x);
    uf_status status = uf_vectorize(&f, "random", x->any_types ? NULL : x->p.signature, x->p.source.data);
    if (fits) {
        must(x, "registration", status);
        run_rounds(x, f, rounds);
    } else {
        rejected++;
        if (getenv("UF_VERBOSE"))
            print_message("%s\n", uf_last_error()->message);
        if (!x->any_types)
            assert_true(status == UF_ERR_TYPE || status == UF_ERR_SYNTAX);
    }
    uf_free(f);
    program_free(&x->p);
    arena_free(&x->a);
}

static void run_program(experiment *x, uint64_t seed) {
    *x = (experiment){.seed = seed, .s = {seed}};
    random_program(&x->p, &x->s);
    x->any_types = !strstr(x->p.source.data, "->") && random_chance(&x->s, 10);
    run_experiment(x, 1);
}

static void programs_agree(void **state) {
    static experiment x;
    uint64_t seed = *(uint64_t *)*state;
    const char *scale = getenv("PROP_N");
    accepted = rejected = 0;
    double end = now() + 3 * (scale ? atof(scale) : 1);
    do
        run_program(&x, seed++);
    while (now() < end);
    print_message("%lld programs agree, %lld do not type-check, %lld do not end\n", (long long)accepted,
                  (long long)rejected, (long long)unending);
    if (accepted + rejected > 100)
        assert_true(accepted > rejected && unending * 20 < accepted);
}

/* ---- Every operator and conversion, on hard values ---- */

enum {
    ROUNDS = 6
};

/* Adds an output of a type: "oK = <expression>;". */
static void add_output(experiment *x, text *body, dtype t, const char *expression) {
    text_printf(body, " o%d = %s;", x->p.nout, expression);
    x->p.types[x->p.nin + x->p.nout++] = t;
}

/* Wraps the body into a kernel and runs it. */
static void run_body(experiment *x, text *body) {
    program *p = &x->p;
    text signature = {0};
    text_puts(&p->source, p->nin == 1 ? "(x) -> (" : "(x, y) -> (");
    for (int k = 0; k < p->nout; k++)
        text_printf(&p->source, "%so%d", k ? ", " : "", k);
    text_printf(&p->source, ") {%s }", body->data);
    signature_print(&signature, p->types, p->nin, p->nout);
    snprintf(p->signature, sizeof p->signature, "%s", signature.data);
    text_free(&signature);
    text_free(body);
    run_experiment(x, ROUNDS);
}

/* x of one type, y of another: all operators that these have. */
static void run_operators(experiment *x, uint64_t seed, dtype a, dtype b) {
    static const char *const any[] = {"x + y", "x - y", "x * y", "x / y", "-x", "x ? x : y", "x += y"};
    static const char *const integers[] = {"x % y", "x & y", "x ^ y", "x | y", "x << y", "x >> y", "~x"};
    static const char *const ordered[] = {"x < y", "x <= y", "x > y", "x >= y"};
    static const char *const truths[] = {"x == y", "x != y", "x && y", "x || y", "!x"};
    text body = {0};
    int kind = dtypes[a].kind > dtypes[b].kind ? dtypes[a].kind : dtypes[b].kind;
    dtype wide = kind == DK_COMPLEX ? DT_COMPLEX128 : kind == DK_FLOATING ? DT_FLOAT64 : DT_INT64;
    *x = (experiment){.seed = seed, .s = {seed}, .plain = true};
    x->p.nin = 2;
    x->p.types[0] = a;
    x->p.types[1] = b;
    for (size_t i = 0; i < COUNT(truths); i++)
        add_output(x, &body, DT_BOOL, truths[i]);
    for (size_t i = 0; i < COUNT(ordered) && kind < DK_COMPLEX; i++)
        add_output(x, &body, DT_BOOL, ordered[i]);
    for (size_t i = 0; i < COUNT(integers) && kind < DK_FLOATING; i++)
        add_output(x, &body, wide, integers[i]);
    for (size_t i = 0; i < COUNT(any) - 1; i++)
        add_output(x, &body, wide, any[i]);
    if (dtypes[a].kind >= dtypes[b].kind)
        add_output(x, &body, wide, any[COUNT(any) - 1]); /* last: it changes x */
    run_body(x, &body);
}

static void every_operator(void **state) {
    static experiment x;
    uint64_t seed = *(uint64_t *)*state;
    source s = {seed};
    accepted = rejected = 0;
    for (dtype a = 0; a < DT_COUNT; a++) {
        run_operators(&x, seed++, a, a);
        run_operators(&x, seed++, a, (dtype)random_between(&s, 0, DT_COUNT - 1));
    }
    assert_int_equal(rejected, 0);
}

static void every_conversion(void **state) {
    static experiment x;
    uint64_t seed = *(uint64_t *)*state;
    accepted = rejected = 0;
    for (dtype from = 0; from < DT_COUNT; from++, seed++) {
        text body = {0};
        x = (experiment){.seed = seed, .s = {seed}, .plain = true};
        x.p.nin = 1;
        x.p.types[0] = from;
        for (dtype to = 0; to < DT_COUNT; to++)
            add_output(&x, &body, to, "x");
        run_body(&x, &body);
    }
    assert_int_equal(rejected, 0);
}

/* ---- Constants: what the front end evaluates against what the interpreter does ---- */

/* A value as a constant expression of its type. */
static void print_constant(text *out, number n) {
    double f = n.as.f[0];
    text_printf(out, "(%s)", dtypes[n.type].name);
    if (dtypes[n.type].kind < DK_FLOATING)
        text_printf(out, "0x%llxull", (unsigned long long)n.as.u);
    else if (f != f)
        text_puts(out, "NAN");
    else if (f - f != 0)
        text_puts(out, f > 0 ? "INFINITY" : "(-INFINITY)");
    else
        text_printf(out, "(%a)", f);
}

/* An operation on two operands, or a cast of one. */
static void print_operation(text *out, const char *spelling, bool is_cast, const char *left, const char *right) {
    if (is_cast)
        text_printf(out, "(%s)(%s)", spelling, left);
    else if (spelling[0] == '?')
        text_printf(out, "%s ? %s : %s", left, right, left);
    else if (strchr("!~", spelling[0]) && !spelling[1])
        text_printf(out, "%s(%s)", spelling, left);
    else
        text_printf(out, "%s %s %s", left, spelling, right);
}

/* The same operation on variables, which the interpreter computes, and on constants, which the front end may. */
static void one_operation(source *s) {
    static const char *const spellings[] = {"+",  "-",  "*", "/",  "%",  "&",  "|",  "^", "<<", ">>", "<",
                                            "<=", "==", ">", ">=", "!=", "&&", "||", "?", "!",  "~"};
    number in[2], out[2];
    dtype types[4], results[2] = {DT_NONE, DT_NONE};
    text left = {0}, right = {0}, body = {0};
    arena a = {0};
    const syntax *parsed;
    tree *t;
    bool is_cast = random_chance(s, 20);
    for (int k = 0; k < 2; k++) {
        types[k] = (dtype)random_between(s, 0, DT_FLOAT64);
        in[k] = random_number(s, types[k]);
    }
    const char *spelling = is_cast ? dtypes[random_between(s, 0, DT_COUNT - 1)].name
                                   : spellings[random_between(s, 0, (int64_t)COUNT(spellings) - 1)];
    print_constant(&left, in[0]);
    print_constant(&right, in[1]);
    text_puts(&body, "(x, y) -> (p, q) { p = ");
    print_operation(&body, spelling, is_cast, "x", "y");
    text_puts(&body, "; q = ");
    print_operation(&body, spelling, is_cast, left.data, right.data);
    text_puts(&body, "; }");
    if (lang_parse(&a, body.data, NULL, &parsed) == UF_OK &&
        lang_check(&a, parsed, NULL, NULL, types, 2, results, 2, false, &t) == UF_OK) {
        accepted++;
        if (ref_run(t, in, out, STEPS) || out[0].type != out[1].type || !ref_same(out[0], out[1])) {
            print_error("%s\n", body.data);
            print_number("computed", out[0]);
            print_number("constant", out[1]);
            fail_msg("a constant expression has another value");
        }
    } else {
        rejected++; /* % and & on floats */
    }
    text_free(&left);
    text_free(&right);
    text_free(&body);
    arena_free(&a);
}

static void constants_are_evaluated_alike(void **state) {
    source s = {*(uint64_t *)*state};
    const char *scale = getenv("PROP_N");
    accepted = rejected = 0;
    for (int64_t n = (int64_t)(20000 * (scale ? atof(scale) : 1)); n >= 0; n--)
        one_operation(&s);
    print_message("%lld operations, %lld more do not type-check\n", (long long)accepted, (long long)rejected);
    if (accepted + rejected > 100)
        assert_true(accepted > 3 * rejected);
}

/* Helpers that call each other: a few of them are inlined, the others called. */
static void helpers_that_call_each_other(void **state) {
    static experiment x;
    static const int shapes[][2] = {{3, 1}, {200, 1}, {5, 2}, {12, 2}}; /* levels, calls in each */
    for (size_t k = 0; k < COUNT(shapes); k++) {
        x = (experiment){.seed = *(uint64_t *)*state, .s = {*(uint64_t *)*state}, .p = {.nin = 1, .nout = 1}};
        x.p.types[0] = x.p.types[1] = DT_INT64;
        strcpy(x.p.signature, "int64->int64");
        text_puts(&x.p.source, "f0(x) { return x + 1; }");
        for (int i = 1; i < shapes[k][0]; i++) {
            text_printf(&x.p.source, "f%d(x) { auto a = x * %d + 1; return a", i, i);
            for (int call = 0; call < shapes[k][1]; call++)
                text_printf(&x.p.source, " + f%d(a - %d) * x", i - 1, call);
            text_puts(&x.p.source, "; }");
        }
        text_printf(&x.p.source, "(x) { return f%d(x); }", shapes[k][0] - 1);
        accepted = 0;
        run_experiment(&x, 1);
        assert_int_equal(accepted, 1);
    }
}

/* Comparisons of what is NaN because of constants alone, which compilers find out once variables, loops and functions are resolved: each of
 * two variables with itself and with the other. Outputs are read before they are written, and are 0 then. */
static void constants_that_are_nan(void **state) {
    static experiment x;
    static const char *const types[] = {"float32", "float64", "complex64", "complex128"};
    static const char *const values[] = {"zero / zero", "large * 10 - large * 10", "large * 10 * zero",
                                         "(c - 3) / zero", "quotient(zero, zero)"};
    static const char *const pairs[][2] = {{"p", "p"}, {"p", "q"}, {"q", "zero / zero"}, {"p", "in"}};
    static const char *const comparisons[] = {"==", "!=", "<=", ">=", "<", ">"};
    for (size_t type = 0; type < COUNT(types); type++) {
        for (size_t value = 0; value < COUNT(values); value++) {
            bool is_complex = type >= 2;
            x = (experiment){.seed = *(uint64_t *)*state, .s = {*(uint64_t *)*state}, .p = {.nin = 1, .nout = 2}};
            x.p.types[0] = x.p.types[2] = DT_FLOAT64;
            x.p.types[1] = DT_INT32;
            strcpy(x.p.signature, "float64->int32,float64");
            text_printf(&x.p.source,
                        "quotient(x, y) { return x / y; }\n(in) -> (bits, zero) { %s p, q, large = %s; int32 c = 0;"
                        " for (int i = 0; i < 3; i++) c += i; p = %s; q = %s;\n",
                        types[type], type % 2 ? "1e308" : "3e38f", values[value], values[value]);
            int bit = 0;
            for (size_t pair = 0; pair < COUNT(pairs); pair++)
                for (int o = 0; o < (is_complex ? 2 : 6); o++)
                    text_printf(&x.p.source, "if (%s %s %s) bits |= 1 << %d;\n", pairs[pair][0], comparisons[o],
                                pairs[pair][1], bit++);
            text_puts(&x.p.source, "zero = in; }");
            accepted = 0;
            run_experiment(&x, 1);
            assert_int_equal(accepted, 1);
        }
    }
}

/* Random programs, of trees in which expressions and statements are rewritten: see rewrite.h. */
static void rewritten_programs_agree(void **state) {
    tree_rewrites = 15;
    programs_agree(state);
    tree_rewrites = 0;
    const char *scale = getenv("PROP_N");
    if (!scale || atof(scale) >= 1)
        assert_true(tree_rewritten.sequences > 100 && tree_rewritten.calls > 100 && tree_rewritten.inlines > 100);
}

int main(void) {
    const char *given = getenv("UF_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003u ^ (uint64_t)getpid() << 20;
    print_message("UF_SEED=%llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(constants_are_evaluated_alike, &seed),
                                       cmocka_unit_test_prestate(every_operator, &seed),
                                       cmocka_unit_test_prestate(every_conversion, &seed),
                                       cmocka_unit_test_prestate(programs_agree, &seed),
                                       cmocka_unit_test_prestate(helpers_that_call_each_other, &seed),
                                       cmocka_unit_test_prestate(constants_that_are_nan, &seed),
                                       cmocka_unit_test_prestate(rewritten_programs_agree, &seed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
