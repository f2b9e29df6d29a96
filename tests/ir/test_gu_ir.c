/* test_gu_ir.c - code of generalized ufuncs: directed and random kernels for random variants are accepted by every LLVM and
 * by libNVVM; for every kind of cooperative group, run on a simulated GPU, they give what the interpreter gives; the text has the loads,
 * shuffles and meetings that it must have, and no others; the CPU's inner loops are vector loops. UF_SEED repeats a run,
 * UF_TRIALS sets the number of variants (default: as many as go in a second), UF_BLESS=1 rewrites the goldens in tests/ir. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ir/ir.h"
#include "ir_check.h"
#include "lang_try.h"
#include "ref/random.h"
#include "type/schema.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "failing.h"
#include "gpu_sim.h"
#include "gu_case.h"
#include "rewrite.h"

static const code_target gpu = {.gpu = true, .arch = 90}, cpu = {.vector_bits = 256, .f16c = true};

typedef struct kernel {
    const char *name, *layout, *source, *types;
} kernel;

/* A helper that calls another one twice. */
#define CALLS(f, g) f "(x) { auto w = x * 3 + 1; return " g "(w) + " g "(x) * w; }"

static const kernel kernels[] = {
    {"table", "(n),(m)->(m)",
     "(x, at) -> (y) { const float32 t[8] = {1, 2, 4, 8, 16, 32, 64}; const bool odd[2] = {0, 1}; forall (i : m) y[i] "
     "= "
     "t[at[i]] * x[at[i]] + odd[at[i] & 1]; }",
     "float32,int32->float32"},
    {"at", "(m,n),(n)->(m)",
     "at(a[m][n], i, j) { return a[i][j]; } (A, x) -> (y) { forall (i : m) y[i] = sum(j : n, at(A, i, j) * x[j]); }",
     "float32,float32->float32"},
    {"fill", "(m,n),(n)->(m)",
     "fill(y[m], a[m][n], x[n]) { forall (i : m) y[i] = sum(j : n, a[i][j] * x[j]); } (A, x) -> (y) { fill(y, A, x); }",
     "float32,float32->float32"},
    {"call_chain", "(n)->(n)",
     "a(x) { return x + 1; }" CALLS("b", "a") CALLS("c", "b") CALLS("d", "c") CALLS("e", "d") CALLS("f", "e")
         CALLS("g", "f") CALLS("h", "g") CALLS("i", "h") CALLS("j", "i") CALLS("k", "j") CALLS("l", "k")
             CALLS("m", "l") "(x) -> (y) { forall (i : n) y[i] = m(x[i]); }",
     "int32->int32"},
    {"matvec", "(m,n),(n)->(m)", "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }",
     "float32,float32->float32"},
    {"vecmat", "(m),(m,n)->(n)", "(x, A) -> (y) { forall (j : n) y[j] = sum(i : m, x[i] * A[i][j]); }",
     "float32,float32->float32"},
    {"matmul", "(m,n),(n,p)->(m,p)", "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]); }",
     "float64,float64->float64"},
    {"complex_matmul", "(m,n),(n,p)->(m,p)",
     "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * conj(B[k][j])); }",
     "complex64,complex128->complex128"},
    {"spread", "(n),(n),()->(n),()",
     "(x, w, a) -> (y, z) { auto top = max(i : n, x[i]); auto s = sum(i : n, x[i] - top); forall (i : n) y[i] = (x[i] "
     "- "
     "top) * w[i] + s + a; z = s; }",
     "int32,int16,int32->int32,int32"},
    {"columns", "(n)->(n)",
     "(x) -> (y) { auto low = min(i : n, x[i]); forall (i : n) if (x[i] > low) y[i] = x[n - 1 - i]; }",
     "float32->float32"},
    {"norm", "(n)->()", "(x) -> (y) { y = sqrt(sum(i : n, x[i] * x[i])); }", "float32->float32"},
    {"softmax", "(n)->(n)",
     "(x) -> (y) { auto m = max(i : n, x[i]); auto s = sum(i : n, exp(x[i] - m)); forall (i : n) y[i] = exp(x[i] - m) "
     "/ s; }",
     "float32->float32"},
    {"rows", "(m,n)->(m)",
     "(A) -> (y) { forall (i : m) { auto s = sum(j : n, A[i][j]) / n; auto v = sum(j : n, (A[i][j] - s) * (A[i][j] - "
     "s)); if (v > 1) y[i] = v; else y[i] = s > 0 ? min(j : n, A[i][j]) : 0; } }",
     "float32->float32"},
    {"layer", "(m,n)->(m,n)",
     "(A) -> (y) { forall (i : m) { auto s = sum(j : n, A[i][j]) / n; forall (j : n) y[i][j] = A[i][j] - s; } }",
     "bfloat16->float16"},
    {"two_moments", "(m,n)->(m),(m)",
     "(A) -> (s, q) { forall (i : m) { auto t = sum(j : n, A[i][j]); auto u = t / n; s[i] = u; q[i] = "
     "sum(j : n, (A[i][j] - u) * (A[i][j] - u)); } }",
     "float32->float32,float32"},
    {"helper", "(n)->(),()",
     "first(a, b) { return a * b + a; } (x) -> (y, z) { y = reduce(first, i : n, x[i]); z = any(i : n, x[i] > 3) ? 1 "
     ": 0; }",
     "int8->int32,uint8"},
    {"looping_helper", "(m,n)->(m),()",
     "up(a, b) { auto c = a; while (c < b) c += c; return c; } (x) -> (y, z) { forall (i : m) y[i] = reduce(up, j : n, "
     "x[i][j]); z = reduce(up, i : m, j : n, x[i][j]); }",
     "int64->int64,int64"},
    {"complex_helper", "(n)->()", "one(a, b) { return a * b + 1; } (x) -> (y) { y = reduce(one, i : n, x[i]); }",
     "complex128->complex128"},
    {"bools", "(m,n)->(m),()",
     "(x) -> (y, z) { forall (i : m) y[i] = all(j : n, x[i][j]) || any(j : n, !x[i][j]); z = all(i : m, any(j : n, "
     "x[i][j])); }",
     "bool->bool,bool"},
    {"three_ranges", "(m,n,p)->()", "(x) -> (s) { s = prod(i : m, j : n, k : p, x[i][j][k]); }", "float16->float32"},
    {"four_ranges", "(m,n)->(m,n)",
     "(x) -> (y) { forall (i : m, a : 2, b : 1, j : n) y[i][j] = sum(k : n, l : 3, x[i][k] * l + a * b); }",
     "uint16->int32"},
    {"many_ranges", "(n)->()", "(x) -> (s) { s = sum(a : 2, b : 2, c : 2, d : 2, e : 2, i : n, x[i]); }",
     "float32->float32"},
    {"read_back", "(n)->(n)",
     "(x) -> (y) { forall (i : n) y[i] = x[i] * 2; auto s = sum(i : n, y[i]); forall (i : n) y[i] = y[n - 1 - i] / s; "
     "}",
     "float64->float64"},
    {"own_store", "(m,n)->(m),(m)",
     "(A) -> (y, z) { forall (i : m) { y[i] = sum(j : n, A[i][j]); z[i] = sum(j : n, A[i][j] * y[i]); } }",
     "float32->float32,float32"},
    {"update", "(m,n)->(m)", "(A) -> (y) { forall (i : m) y[i] += sum(j : n, A[i][j]); }", "float32->float32"},
    {"scatter", "(n),(n)->(n)", "(x, at) -> (y) { forall (i : n) y[i] = 0; forall (i : n) y[at[i]] = x[i]; }",
     "int8,int32->int8"},
    {"rounds", "(n)->(n)", "(x) -> (y) { for (int64 t = 0; t < 3; t++) forall (i : n) y[(i + t) % n] = x[i] + t; }",
     "int32->int32"},
    {"plain_loop", "(n)->(n)",
     "(x) -> (y) { auto s = x[0] * 0; for (int64 i = 0; i < n; i++) { s += x[i]; y[i] = s; } }", "float32->float32"},
    {"early", "(n)->(n)", "(x) -> (y) { if (sum(i : n, x[i]) < 0) return; forall (i : n) y[i] = x[i]; }",
     "float32->float32"},
    {"checked", "(n),(m)->(m)", "(x, at) -> (y) { forall (i : m) y[i] = x[at[i]] + x[i]; }", "float16,int32->float32"},
    {"local_array", "(m,n)->(m)",
     "(A) -> (y) { forall (i : m) { float32 t[4]; for (int64 k = 0; k < 4; k++) t[k] = sum(j : n, A[i][j] * k); y[i] = "
     "t[0] + t[3]; } }",
     "float32->float64"},
    {"shared_array", "(n)->()",
     "(x) -> (s) { float32 t[4]; forall (k : 4) t[k] = sum(i : n, x[i] * k); s = sum(k : 4, t[k]); }",
     "float32->float32"},
    {"conditional", "(m,n)->(n)",
     "(A) -> (y) { forall (i : n) y[i] = i < n - 1 ? sum(j : m, A[j][i + 1]) : sum(j : m, A[j][i]) + 1; }",
     "float32->float32"},
    {"triangle", "(n,n)->(n)", "(A) -> (y) { forall (i : n) y[i] = sum(j : i, A[i][j]) - sum(j : n - i, A[j][i]); }",
     "float32->float32"},
    {"nested_sums", "(m,n)->()", "(A) -> (s) { s = sum(i : m, prod(j : n, A[i][j]) * max(j : n, A[i][j])); }",
     "int16->int64"},
    {"range_of_sum", "(n)->()", "(x) -> (s) { s = sum(i : sum(j : n, (int64)x[j]), i * i); }", "uint8->int64"},
    {"range_of_output", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = x[i]; forall (i : (int64)y[0]) y[i] = 1; }",
     "int32->int32"},
    {"nothing", "(n)->(n)", "(x) -> (y) { forall (i : 0) y[i] = x[i]; forall (i : -3) y[i] = 1; }", "int32->int32"},
    {"frozen", "(3),(3)->(3)",
     "(a, b) -> (c) { c[0] = a[1] * b[2] - a[2] * b[1]; c[1] = a[2] * b[0] - a[0] * b[2]; c[2] = a[0] * b[1] - a[1] * "
     "b[0]; }",
     "float64,float64->float64"},
    {"scaled", "(),(n),()->(n),()",
     "(a, x, k) -> (y, s) { a = a + 1; forall (i : n) y[i] = a * x[i] + k; s = sum(i : n, x[i]) * a; }",
     "float32,float32,int32->float32,float64"},
    {"outer", "(m),(n)->(m,n)", "(x, y) -> (z) { forall (i : m, j : n) z[i][j] = x[i] * y[j]; }", "int8,int8->int16"},
};

static void test_spreads(void **state);

static const kernel *kernel_of(const char *name) {
    for (size_t k = 0; k < COUNT(kernels); k++)
        if (!strcmp(kernels[k].name, name))
            return &kernels[k];
    fail_msg("no kernel %s", name);
    return NULL;
}

static tree *tree_of(arena *a, const kernel *k) {
    tree *t = NULL;
    if (lang_try_core(a, k->layout, k->source, k->types, &t))
        fail_msg("%s: %s", k->name, uf_last_error()->message);
    return t;
}

/* ---- Variants ---- */

/* Arrays in the signature's types, with the last core dimension as the unit. */
static variant variant_of(const tree *t, int coop, int lanes, int vector, int repeat) {
    variant v;
    memset(&v, 0, sizeof v);
    v.loop = LOOP_GUFUNC;
    v.ndim = 1;
    v.nin = (uint8_t)t->layout->nin;
    v.nout = (uint8_t)t->layout->nout;
    v.gufunc.coop = (uint8_t)coop;
    v.gufunc.lanes = (uint8_t)lanes;
    v.gufunc.vector = (uint8_t)vector;
    v.gufunc.steps = (uint8_t)repeat;
    for (int k = 0; k < v.nin + v.nout; k++)
        v.operand[k] = (variant_operand){.memory = (uint8_t)t->kernel->locals[k].type,
                                         .value = (uint8_t)t->kernel->locals[k].type,
                                         .kind = OPERAND_STRIDED,
                                         .unit = (uint8_t)t->layout->operands[k].rank};
    return v;
}

static void random_operand(const tree *t, variant *v, int k) {
    variant_operand *o = &v->operand[k];
    bool input = k < v->nin;
    int rank = t->layout->operands[k].rank;
    if (chance(25))
        do
            o->memory = (uint8_t)pick(0, DT_COUNT - 1);
        while (input ? !dtype_can_cast((dtype)o->memory, (dtype)o->value, UF_CAST_SAFE)
                     : !dtype_can_cast((dtype)o->value, (dtype)o->memory, UF_CAST_SAME_KIND));
    if (input && !rank && chance(40)) {
        o->kind = OPERAND_NUMBER;
        o->memory = o->value;
    }
    if (chance(30))
        o->unit = (uint8_t)pick(0, rank);
}

/* May neighbouring calls stand side by side? */
static bool can_be_across(const code_traits *traits) {
    for (int i = 0; i < traits->nconstructs; i++)
        if (traits->construct[i].nested)
            return false;
    return traits->uniform && traits->maps_to_threads;
}

/* Inputs with one core dimension, staged whole for a cooperative group, now and then. */
static void draw_whole(const tree *t, variant *v) {
    bool group = (v->gufunc.coop > COOP_WARP && v->gufunc.coop <= COOP_BLOCK) || v->gufunc.across;
    for (int k = 0; k < v->nin && group; k++) {
        v->operand[k].staged =
            t->layout->operands[k].rank == 1 && (v->gufunc.across || v->operand[k].unit) && chance(60);
        if (v->operand[k].staged && v->gufunc.across)
            v->operand[k].unit = 0;
    }
}

static void draw_across(variant *v, const code_traits *traits) {
    if (!v->gufunc.coop || !can_be_across(traits) || chance(50))
        return;
    v->gufunc.along = v->gufunc.lanes = 0;
    v->gufunc.vector = 1;
    v->gufunc.across = (uint8_t)pick(1, 5);
    v->gufunc.coop = (uint8_t)pick(1, 9 - v->gufunc.across);
}

static variant random_variant(const tree *t, bool on_gpu) {
    code_traits size;
    ir_traits(t, &size);
    int coop = on_gpu && size.maps_to_threads && chance(90) ? (int)pick(0, COOP_GRID) : 0;
    variant v = variant_of(t, coop, 0, 1, 1);
    v.ndim = (uint8_t)pick(1, on_gpu ? 3 : 2);
    v.gufunc.along = (coop || !on_gpu) && chance(40);
    if (coop) {
        v.gufunc.lanes = v.gufunc.along ? 0 : (uint8_t)pick(0, coop < COOP_WARP ? coop : COOP_WARP);
        v.gufunc.vector = (uint8_t)(1 << pick(0, 4));
        v.gufunc.steps = (uint8_t)(1 << pick(0, 3));
    }
    v.wide = on_gpu && chance(25);
    draw_across(&v, &size);
    for (int k = 0; k < v.nin + v.nout; k++)
        random_operand(t, &v, k);
    draw_whole(t, &v);
    bool staged = on_gpu && !coop && chance(60);
    if (staged)
        v.ndim = 1;
    for (int k = 0; k < v.nin + v.nout && staged; k++)
        v.operand[k].staged = t->layout->operands[k].rank && chance(70);
    return v;
}

static void describe(const kernel *k, const variant *v) {
    fprintf(stderr, "%s, %s, %s\n%s\nndim %d wide %d vector %d repeat %d coop %d across %d lanes %d along %d\n",
            k->name, k->layout, k->types, k->source, v->ndim, v->wide, v->gufunc.vector, v->gufunc.steps,
            v->gufunc.coop, v->gufunc.across, v->gufunc.lanes, v->gufunc.along);
    for (int i = 0; i < v->nin + v->nout; i++)
        fprintf(stderr, "operand %d: %s as %s, kind %d, unit %d, staged %d\n", i, dtypes[v->operand[i].memory].name,
                dtypes[v->operand[i].value].name, v->operand[i].kind, v->operand[i].unit, v->operand[i].staged);
}

static code_module generate(arena *a, const kernel *k, const tree *t, const variant *v, const code_target *target) {
    code_module m = {.flags = 0};
    if (ir_gufunc(a, k->name, t, v, target, &m)) {
        describe(k, v);
        fail_msg("%s", uf_last_error()->message);
    }
    return m;
}

static int occurrences(const char *where, const char *what) {
    int n = 0;
    for (const char *at = where; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

/* ---- Accepted ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One LLVM by turn; for the GPU libNVVM for an architecture by turn, of both its dialects, now and then with ptxas. */
static const char *judge(const code_module *m, bool on_gpu, int64_t turn) {
    static const int archs[] = {90, 100, 75, 120};
    const char *wrong = judge_count() ? judge_ir((int)(turn % judge_count()), m->ir.data) : NULL, *ptx = "";
    if (wrong || !on_gpu || !nvvm_found())
        return wrong;
    wrong = nvvm_judge(m, archs[turn % (int64_t)COUNT(archs)], turn % 16 == 3, &ptx);
    return wrong ? wrong : strstr(ptx, ".extern .func");
}

static void accept(const kernel *k, const tree *t, bool on_gpu, int64_t turn) {
    arena a = {0};
    variant v = random_variant(t, on_gpu);
    code_module m = generate(&a, k, t, &v, on_gpu ? &gpu : &cpu);
    const char *wrong = judge(&m, on_gpu, turn);
    if (wrong) {
        if (getenv("SHOW_IR"))
            puts(m.ir.data);
        describe(k, &v);
        fail_msg("%s", wrong);
    }
    text_free(&m.ir);
    arena_free(&a);
}

/* Calls try until the time or the number of trials is over. */
static void sample(void (*try)(int64_t turn)) {
    const char *given = getenv("UF_TRIALS");
    int64_t most = given ? atoll(given) : INT64_MAX, turn = 0;
    double end = now() + (given ? 1e9 : 0.7);
    for (; turn < most && now() < end; turn++)
        try(turn);
    print_message("%lld variants\n", (long long)turn);
}

static void try_directed(int64_t turn) {
    arena a = {0};
    const kernel *k = &kernels[pick(0, COUNT(kernels) - 1)];
    const tree *t = tree_of(&a, k);
    for (int i = 0; i < 4; i++)
        accept(k, t, false, 4 * turn + i);
    accept(k, t, true, turn);
    arena_free(&a);
}

static void test_directed(void **state) {
    (void)state;
    sample(try_directed);
}

static void try_random(int64_t turn) {
    arena a = {0};
    core_program c = {.tame = false};
    core_layout l;
    const syntax *s;
    tree *t;
    source from = {draw_bits()};
    random_core_program(&c, &from);
    kernel k = {"random", c.layout.data, c.p.source.data, c.p.signature};
    if (!layout_parse(&a, k.layout, &l) && !lang_parse(&a, k.source, NULL, &s) &&
        !lang_check(&a, s, &l, NULL, c.p.types, c.p.nin, c.p.types + c.p.nin, c.p.nout, false, &t)) {
        accept(&k, t, false, turn);
        accept(&k, t, true, turn);
    }
    core_program_free(&c);
    arena_free(&a);
}

static void test_random(void **state) {
    (void)state;
    sample(try_random);
}

/* The same of trees in which expressions and statements are rewritten: see rewrite.h. */
static void test_rewritten(void **state) {
    tree_rewrites = 15;
    test_directed(state);
    test_random(state);
    tree_rewrites = 0;
}

/* ---- What the PTX says ---- */

typedef struct fact {
    const char *kernel;
    int coop, lanes, along, vector, repeat;
    const char *what; /* of which there must be .. */
    int least, most;
} fact;

enum {
    ANY = 1 << 20
};

static const fact facts[] = {
    /* 16 bytes of read-only data at a time */
    {"matvec", 5, 3, 0, 4, 1, "ld.global.nc.v4.f32", 2, ANY},
    {"matvec", 5, 3, 0, 4, 4, "ld.global.nc.v4.f32", 5, ANY},
    {"matmul", 7, 0, 1, 2, 1, "ld.global.nc.v2.f64", 1, ANY},
    {"matmul", 7, 0, 1, 2, 1, "st.global.v2.f64", 1, ANY},
    {"norm", 8, 0, 0, 4, 4, "ld.global.nc.v4.f32", 4, ANY},
    {"outer", 8, 0, 0, 8, 1, "st.global.v4", 1, ANY},
    {"read_back", 8, 0, 0, 2, 1, "ld.global.v2.f64", 1, ANY}, /* an output: not by the read-only path */
    /* a look-up is a read of constant memory, and nothing lies on the stack */
    {"table", 0, 0, 0, 1, 1, "ld.global.nc.f32", 2, ANY},
    {"table", 0, 0, 0, 1, 1, "local", 0, 0},
    /* helpers that are called too often to be inlined are called */
    {"call_chain", 0, 0, 0, 1, 1, "call.uni", 2, 40},
    /* a body in place reads by vectors, and its constructs are mapped to threads */
    {"at", 5, 3, 0, 4, 1, "ld.global.nc.v4.f32", 2, ANY},
    {"fill", 5, 3, 0, 4, 1, "ld.global.nc.v4.f32", 2, ANY},
    {"fill", 8, 5, 0, 4, 1, "shfl.sync", 5, ANY},
    /* meetings: only where something could be read or overwritten */
    {"matvec", 8, 5, 0, 4, 1, "bar", 0, 0},
    {"matvec", 8, 5, 0, 4, 1, "shfl.sync", 5, ANY},
    {"matvec", 8, 0, 1, 4, 2, "shfl.sync", 0, 0},
    {"matvec", 3, 0, 0, 1, 1, "shfl.sync", 0, 0},
    {"matvec", 0, 0, 0, 1, 1, "shfl", 0, 0},
    {"matvec", 0, 0, 0, 1, 1, "bar", 0, 0},
    {"outer", 10, 0, 0, 8, 2, "bar", 0, 0},
    {"norm", 5, 0, 0, 1, 1, "shfl.sync.bfly", 5, ANY},
    {"norm", 5, 0, 0, 1, 1, "bar.sync", 0, 0},
    {"softmax", 8, 0, 0, 4, 1, "bar.sync", 2, ANY},
    {"read_back", 8, 0, 0, 2, 1, "bar.sync", 3, ANY},
    {"read_back", 4, 0, 0, 2, 1, "bar.warp.sync", 2, ANY},
    {"scatter", 8, 0, 0, 1, 1, "bar.sync", 1, ANY},
    {"scatter", 5, 0, 0, 1, 1, "bar.warp.sync", 1, ANY},
    {"rounds", 8, 0, 0, 1, 1, "bar.sync", 1, ANY},
    {"read_back", 11, 0, 0, 2, 1, "membar.gl", 1, ANY},
    {"matvec", 11, 5, 0, 4, 1, "membar.gl", 0, 0},
    /* of a row that reads what it has stored no two threads know */
    {"own_store", 5, 5, 0, 1, 1, "shfl.sync", 0, 0},
    {"update", 5, 5, 0, 1, 1, "shfl.sync", 5, ANY},
};

static void test_ptx(void **state) {
    (void)state;
    if (!nvvm_found())
        skip();
    for (size_t i = 0; i < COUNT(facts); i++) {
        const fact *f = &facts[i];
        const kernel *k = kernel_of(f->kernel);
        arena a = {0};
        const tree *t = tree_of(&a, k);
        variant v = variant_of(t, f->coop, f->lanes, f->vector, f->repeat);
        v.gufunc.along = (uint8_t)f->along;
        code_module m = generate(&a, k, t, &v, &gpu);
        const char *ptx = "", *wrong = nvvm_judge(&m, 90, false, &ptx);
        int n = wrong ? 0 : occurrences(ptx, f->what);
        if (wrong || n < f->least || n > f->most) {
            if (getenv("SHOW_IR"))
                puts(wrong ? m.ir.data : ptx);
            describe(k, &v);
            fail_msg("fact %zu: %s is there %d times; %s", i, f->what, n, wrong ? wrong : "");
        }
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* ---- Staged outputs: copied in unless all is assigned and nothing read ---- */

static void test_staged(void **state) {
    (void)state;
    static const struct {
        const char *source;
        int copies; /* of x in, of y out, of y in */
    } cases[] = {
        {"(x) -> (y) { forall (i : n) y[i] = x[i]; }", 2},
        {"(x) -> (y) { { forall (i : n) { y[i] = x[i]; } } }", 2},
        {"(x) -> (y) { forall (i : n) y[i] = y[i] + x[i]; }", 3},
        {"(x) -> (y) { forall (i : n) y[i] += x[i]; }", 3},
        {"(x) -> (y) { forall (i : n - 1) y[i] = x[i]; }", 3},
        {"(x) -> (y) { forall (i : n) y[n - 1 - i] = x[i]; }", 3},
        {"(x) -> (y) { forall (i : -1) y[i] = x[i]; }", 3},
        {"(x) -> (y) { if (x[0] > 0) return; forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { { if (x[0] > 0) { return; } } forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { if (x[0] > 0) forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { forall (i : n) if (x[i] > 0) y[i] = x[i]; }", 3},
        {"(x) -> (y) { for (int64 t = 0; t < n; t++) forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { auto s = sum(i : n, y[i]); forall (i : n) y[i] = s; }", 3},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        kernel k = {"staged", "(n)->(n)", cases[i].source, "float32->float32"};
        const tree *t = tree_of(&a, &k);
        variant v = variant_of(t, 0, 0, 1, 1);
        v.operand[0].staged = v.operand[1].staged = 1;
        code_module m = generate(&a, &k, t, &v, &gpu);
        int n = occurrences(m.ir.data, "ptrtoint float addrspace(1)*"); /* of each copy, to see its alignment */
        if (n != cases[i].copies)
            fail_msg("%s: %d copies, not %d", k.source, n, cases[i].copies);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* ---- Sizes as constants ---- */

/* All sizes of the layout's dimensions are n. */
static variant unrolled_of(const tree *t, int n) {
    variant v = variant_of(t, 0, 0, 1, 1);
    v.gufunc.unrolled = 1;
    for (int d = 0; d < t->layout->ndims; d++)
        v.gufunc.size[d] = (uint8_t)(t->layout->dims[d].frozen ? t->layout->dims[d].frozen : n);
    for (int k = 0; k < v.nin + v.nout; k++)
        v.operand[k].staged = t->layout->operands[k].rank > 0;
    return v;
}

/* Unrolled kernels have no array in memory, whatever their indices are, and no loop; staged cores move by 16 bytes. */
static void test_registers(void **state) {
    (void)state;
    static const char *const names[] = {"matmul",  "matvec", "scatter",      "rounds",         "local_array",
                                        "checked", "early",  "shared_array", "complex_matmul", "plain_loop"};
    if (!nvvm_found())
        skip();
    for (size_t i = 0; i < COUNT(names); i++) {
        arena a = {0};
        const kernel *k = kernel_of(names[i]);
        const tree *t = tree_of(&a, k);
        variant v = unrolled_of(t, 4);
        code_module m = generate(&a, k, t, &v, &gpu);
        const char *ptx = "", *wrong = nvvm_judge(&m, 90, true, &ptx);
        if (wrong || strstr(ptx, ".local") || !strstr(ptx, "ld.global.nc.v4.u32"))
            fail_msg("%s: %s\n%s", k->name, wrong ? wrong : "", ptx);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* An output is read only if the kernel might read an element, or leave it out, before it assigns it. */
static void test_content(void **state) {
    (void)state;
    static const struct {
        const char *source;
        int copies; /* of x in, of y out, of y in */
    } cases[] = {
        {"(x) -> (y) { forall (i : n) y[n - 1 - i] = x[i]; }", 2},
        {"(x) -> (y) { for (int64 i = 0; i < n; i++) { y[i] = x[i]; y[i] += y[0]; } }", 2},
        {"(x) -> (y) { if (x[0] > 0) { y[0] = 1; y[1] = 2; y[2] = 3; } else forall (i : n) y[i] = x[i]; }", 2},
        {"(x) -> (y) { if (x[0] > 0) { y[0] = 1; y[2] = 3; } else forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { forall (i : n - 1) y[i] = x[i]; }", 3},
        {"(x) -> (y) { if (x[0] > 0) return; forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { forall (i : n) if (x[i] > 0) y[i] = x[i]; }", 3},
        {"(x) -> (y) { y[0] = 1; y[1] = y[2]; y[2] = 1; }", 3},
        {"(x) -> (y) { forall (i : n) y[(int64)x[i]] = x[i]; }", 3},
        {"(x) -> (y) { switch ((int64)x[0]) { case 1: y[0] = 1; default: y[1] = 2; } y[2] = y[0] = 0; }", 2},
        {"(x) -> (y) { for (int64 i = 0; i < n; i++) { if (x[i] > 1) break; y[i] = 0; } }", 3},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        kernel k = {"content", "(n)->(n)", cases[i].source, "float32->float32"};
        const tree *t = tree_of(&a, &k);
        variant v = unrolled_of(t, 3);
        code_module m = generate(&a, &k, t, &v, &gpu);
        int n = occurrences(m.ir.data, "ptrtoint float addrspace(1)*"); /* of each copy, to see its alignment */
        if (n != cases[i].copies)
            fail_msg("%s: %d copies, not %d", k.source, n, cases[i].copies);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* What is measured is the same each time; loops that data ends, or nothing, are refused, and so is what is long. */
static void test_unrolled(void **state) {
    (void)state;
    static const struct {
        const char *source;
        int least, most;
    } cases[] = {
        {"(x) -> (y) { forall (i : n) y[i] = x[i] + 1; }", 8, 200},
        {"(x) -> (y) { int64 i = 0; do { y[i] = x[i]; i += 2; } while (i < n); }", 8, 200},
        {"(x) -> (y) { for (int64 i = n - 1; i >= 0; i--) for (int64 j = i; j; j--) y[i] += x[j]; }", 30, 800},
        {"(x) -> (y) { int64 i = 0; while (x[i] > 0) i++; y[0] = i; }", INT32_MAX, INT32_MAX},
        {"(x) -> (y) { forall (i : (int64)x[0]) y[i] = 1; }", INT32_MAX, INT32_MAX},
        {"(x) -> (y) { for (;;) if (x[0] > 1) { y[0] = 1; break; } }", INT32_MAX, INT32_MAX},
        {"(x) -> (y) { for (int64 i = 0; i < 100000; i++) for (int64 j = 0; j < 100000; j++) y[0] += 1; }", INT32_MAX,
         INT32_MAX},
        {"(x) -> (y) { y[0] = sum(i : 100, j : 100, x[i % n] * j); }", INT32_MAX, INT32_MAX},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        kernel k = {"unrolled", "(n)->(n)", cases[i].source, "float32->float32"};
        const tree *t = tree_of(&a, &k);
        const int64_t sizes[] = {8};
        int lines = ir_unrolled(&a, t, sizes, 4000);
        assert_int_equal(lines, ir_unrolled(&a, t, sizes, 4000));
        if (lines < cases[i].least || lines > cases[i].most)
            fail_msg("%s: %d lines", k.source, lines);
        arena_free(&a);
    }
}

/* Products along vectors: whole ones, and a shorter last one; rows share them. */
static void test_columns(void **state) {
    (void)state;
    arena a = {0};
    const kernel *k = kernel_of("matmul");
    const tree *t = tree_of(&a, k);
    code_traits traits;
    ir_traits(t, &traits);
    assert_true(traits.columns);
    variant v = unrolled_of(t, 7);
    v.gufunc.unrolled = 0;
    v.gufunc.columns = 1;
    code_module m = generate(&a, k, t, &v, &cpu);
    for (int i = 0; i < judge_count(); i++)
        assert_null(judge_ir(i, m.ir.data));
    assert_int_equal(occurrences(m.ir.data, "alloca <4 x double>"), 6);
    assert_int_equal(occurrences(m.ir.data, "alloca <3 x double>"), 6);
    assert_null(strstr(m.ir.data, "llvm.vector"));
    text_free(&m.ir);
    static const char *const others[] = {"matvec", "complex_matmul", "conditional", "plain_loop", "layer"};
    for (size_t i = 0; i < COUNT(others); i++) {
        ir_traits(tree_of(&a, kernel_of(others[i])), &traits);
        assert_false(traits.columns);
    }
    arena_free(&a);
}

/* ---- The CPU's inner loops ---- */

static void test_cpu_vectors(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    static const struct {
        kernel k;
        int along;
        const char *packed[2];
    } loops[] = {
        {{"matvec", "(m,n),(n)->(m)", "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }",
          "float32,float32->float32"},
         0,
         {"vfmadd231ps", "%ymm"}},
        {{"vecmat", "(m),(m,n)->(n)", "(x, A) -> (y) { forall (j : n) y[j] = sum(i : m, x[i] * A[i][j]); }",
          "float64,float64->float64"},
         1,
         {"vfmadd", "pd"}},
        {{"matmul", "(m,n),(n,p)->(m,p)",
          "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]) + 1; }",
          "float32,float32->float32"},
         1,
         {"vfmadd", "ps"}},
        {{"total", "(n)->()", "(x) -> (s) { s = sum(i : n, x[i]); }", "float32->float32"}, 0, {"vaddps", "%ymm"}},
        {{"largest", "(n)->()", "(x) -> (s) { s = max(i : n, x[i]); }", "float32->float32"}, 0, {"vblendvps", "%ymm"}},
        {{"integers", "(n)->()", "(x) -> (s) { s = sum(i : n, x[i]); }", "int32->int64"}, 0, {"vpaddq", "%ymm"}},
        {{"columns", "(m,n)->(n)", "(A) -> (y) { forall (j : n) y[j] = max(i : m, A[i][j]); }", "float32->float32"},
         1,
         {"vblendvps", "%ymm"}},
        {{"scale", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = x[i] * 2; }", "float32->float32"},
         0,
         {"vaddps", "%ymm"}},
    };
    for (size_t i = 0; i < COUNT(loops); i++) {
        arena a = {0};
        const tree *t = tree_of(&a, &loops[i].k);
        variant v = variant_of(t, 0, 0, 1, 1);
        v.gufunc.along = (uint8_t)loops[i].along;
        code_module m = generate(&a, &loops[i].k, t, &v, &cpu);
        for (int j = 0; j<judge_count(); j += judge_count()> 1 ? judge_count() - 1 : 1) {
            const char *assembly = judge_assembly(j, m.ir.data, "haswell", "");
            const char *packed = loops[i].packed[0];
            bool found = false;
            bool apart = tree_rewrites_plainly && !strncmp(packed, "vfmadd", strlen("vfmadd"));
            packed = apart ? "vmulp" : packed; /* only a product that is itself the term is rounded with the sum */
            for (const char *at = assembly; !found && (at = strstr(at, packed)); at++) {
                const char *end = strchr(at, '\n'), *other = strstr(at, loops[i].packed[1]);
                found = other && other < end && memchr(at, '%', (size_t)(end - at)) && strstr(at, "%ymm") < end;
            }
            if (!found) {
                if (getenv("SHOW_IR"))
                    puts(assembly);
                fail_msg("%s, %s: no %s .. %s", judge_name(j), loops[i].k.name, packed, loops[i].packed[1]);
            }
        }
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* ---- The same code ---- */

/* Values that are sequences, which only declare variables, keep nothing from being written for lanes or made vectors. */
static void test_sequences(void **state) {
    tree_rewrites = 100;
    tree_rewrites_plainly = true;
    test_ptx(state);
    test_cpu_vectors(state);
    test_spreads(state);
    tree_rewrites = 0;
    tree_rewrites_plainly = false;
}

/* A body in place that nothing leaves early is the same code as its statements, constructs that are mapped to threads included. */
static void test_in_place(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT(kernels); k++)
        for (int way = 0; way < 3; way++) {
            arena a = {0};
            tree *t = tree_of(&a, &kernels[k]);
            node *all = arena_alloc(&a, sizeof *all);
            code_traits size;
            ir_traits(t, &size);
            variant v = variant_of(t, way && size.maps_to_threads ? COOP_WARP : 0, 0, way ? 2 : 1, 1);
            if (way == 2)
                for (int i = 0; i < v.nin + v.nout && !v.gufunc.coop; i++)
                    v.operand[i].staged = t->layout->operands[i].rank > 0;
            code_module plain = generate(&a, &kernels[k], t, &v, way ? &gpu : &cpu);
            *all = (node){.kind = N_INLINE, .type = DT_NONE, .wide = DT_NONE, .body = t->kernel->body};
            if (strstr(kernels[k].source, "return;"))
                all->kind = N_BLOCK; /* a body in place has none */
            t->kernel->body = all;
            t->nodes++;
            assert_null(tree_fault(t));
            code_traits again;
            ir_traits(t, &again);
            assert_int_equal(again.maps_to_threads, size.maps_to_threads);
            assert_int_equal(again.nconstructs, size.nconstructs);
            code_module inside = generate(&a, &kernels[k], t, &v, way ? &gpu : &cpu);
            assert_string_equal(plain.ir.data, inside.ir.data);
            text_free(&plain.ir);
            text_free(&inside.ir);
            arena_free(&a);
        }
}

/* ---- Run on the CPU ---- */

enum {
    PARAMETERS = 64
};

/* One inner call of arrays in C order. */
static void run_one(const kernel *k, bool along, const int64_t *sizes, void *const *data) {
    arena a = {0};
    const tree *t = tree_of(&a, k);
    const core_layout *l = t->layout;
    variant v = variant_of(t, 0, 0, 1, 1);
    uint64_t parameters[PARAMETERS];
    int64_t core[PARAMETERS];
    int operands = l->nin + l->nout;
    v.gufunc.along = along;
    memcpy(core, sizes, (size_t)l->ndims * sizeof *core);
    for (int i = 0; i < operands; i++)
        for (int64_t d = l->operands[i].rank - 1, stride = 1; d >= 0; stride *= sizes[l->operands[i].dim[d--]])
            core[l->operands[i].strides + d] = stride;
    parameter_writer w = parameters_write(parameters, &v, l, false);
    for (int i = 0; i < operands; i++)
        put_operand(&w, i, (uintptr_t)data[i], NULL);
    for (int d = 0; d < 2; d++)
        put_parameter(&w, CPU_LOOP_EXTENTS, 1);
    for (int i = 0; i < 2 * operands; i++)
        put_parameter(&w, CPU_LOOP_STRIDES, 0);
    put_core(&w, l, core);
    parameters_finish(&w);
    code_module m = generate(&a, k, t, &v, &cpu);
    judged *compiled = judge_compile(0, &m, 1);
    ((void (*)(const uint64_t *))judge_address(compiled, m.entry))(parameters);
    judge_free(compiled);
    text_free(&m.ir);
    arena_free(&a);
}

/* A sum that only some elements want reads nothing for the others: what lies behind the matrix cannot be read. */
static void test_guarded_sum(void **state) {
    (void)state;
    if (!judge_count())
        skip();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    enum {
        M = 3,
        N = 40
    };
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    float *A = (float *)(void *)(memory + page) - M * N, y[N];
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    for (int i = 0; i < M * N; i++)
        A[i] = (float)i;
    run_one(kernel_of("conditional"), true, (int64_t[]){M, N}, (void *[]){A, y});
    for (int i = 0; i < N; i++) {
        float sum = i < N - 1 ? 0 : 1;
        for (int j = 0; j < M; j++)
            sum += A[j * N + (i < N - 1 ? i + 1 : i)];
        assert_true(y[i] == sum);
    }
    munmap(memory, 2 * page);
}

/* The helper of `reduce` is called with terms and what it has returned; this one never ends for 0. */
static void test_looping_helper(void **state) {
    (void)state;
    if (!judge_count())
        skip();
    enum {
        M = 3,
        N = 100
    };
    int64_t x[M * N], y[M], z;
    for (int i = 0; i < M * N; i++)
        x[i] = (int64_t)1 << (i * 7 % 40); /* of powers of two it is the larger */
    alarm(60);
    for (int64_t n = 0; n <= N; n += n < 3 ? 1 : 97) {
        int64_t all = 0;
        run_one(kernel_of("looping_helper"), false, (int64_t[]){M, n}, (void *[]){x, y, &z});
        for (int i = 0; i < M; i++) {
            int64_t most = 0;
            for (int64_t j = 0; j < n; j++)
                most = x[i * n + j] > most ? x[i * n + j] : most;
            assert_true(y[i] == most);
            all = most > all ? most : all;
        }
        assert_true(z == all);
    }
    alarm(0);
}

/* ---- Run as a GPU would ---- */

/* The variant for the arrays of a case, and the parameters of its launch. */
typedef struct launched {
    variant v;
    uint64_t words[512];
    uint64_t slots[2 * COOP_SLOT / 8];
    int nparameters, blocks, threads;
    int64_t calls;
} launched;

static int64_t count_unrolled;

/* Some core dimension that has stride 1; see variant_operand. */
static uint8_t unit_of(const gu_case *x, int k) {
    uint8_t unit = 0;
    for (int d = 0; d < x->c.operand[k].rank; d++)
        if (x->args[k].core_stride[d] == 1)
            unit = (uint8_t)(d + 1);
    return unit;
}

static bool operand_aligned(const gu_case *x, const variant *v, int k, const void *data) {
    const gu_array *a = &x->args[k];
    const layout_operand *o = &x->tree->layout->operands[k];
    int unit = v->operand[k].unit, size = dtypes[a->type].size;
    if (!unit || x->words[o->dim[unit - 1]] < v->gufunc.vector)
        return true;
    bool good = (uintptr_t)data % (uintptr_t)(size * v->gufunc.vector) == 0;
    for (int d = 0; d < o->rank; d++)
        good &= d == unit - 1 || a->core_stride[d] % v->gufunc.vector == 0;
    for (int d = 0; d < x->ndim; d++)
        good &= a->loop_stride[d] % v->gufunc.vector == 0;
    return good;
}

/* Elements of a core that lies in C order without gaps, call upon call; else 0. */
static int64_t packed_count(const gu_case *x, int k) {
    const layout_operand *o = &x->tree->layout->operands[k];
    int64_t count = 1;
    for (int d = o->rank - 1; d >= 0; count *= x->words[o->dim[d--]])
        if (x->words[o->dim[d]] != 1 && x->args[k].core_stride[d] != count)
            return 0;
    return x->ndim == 1 && x->args[k].loop_stride[0] == count && o->rank ? count : 0;
}

static int64_t pitch_of(int64_t count, int size) {
    return size >= 4 ? count | 1 : (((count * size + 3) / 4) | 1) * 4 / size;
}

static void choose_staged(const gu_case *x, launched *l) {
    int64_t bytes = 0;
    for (int k = 0; k < l->v.nin + l->v.nout; k++) {
        int64_t more = pitch_of(packed_count(x, k), dtypes[x->args[k].type].size) * 16 * l->threads;
        if (packed_count(x, k) < 1 || bytes + more > SIM_SHARED || chance(20))
            continue;
        l->v.operand[k].staged = 1;
        bytes += more;
    }
}

/* Constants for sizes, if the kernel can be written without loops for them; then cores that may be staged are, most of them. */
static bool choose_unrolled(const gu_case *x, launched *l) {
    enum {
        LINES = 3000
    };
    const core_layout *layout = x->tree->layout;
    arena a = {0};
    bool fits = layout->ndims <= GUFUNC_SIZES && !cores_convert(&l->v);
    for (int d = 0; d < layout->ndims && fits; d++)
        fits = x->words[d] >= 1 && x->words[d] <= GUFUNC_SIZE_MAX;
    fits = fits && ir_unrolled(&a, x->tree, x->words, LINES) <= LINES;
    arena_free(&a);
    if (!fits)
        return false;
    l->v.gufunc.unrolled = 1;
    for (int d = 0; d < layout->ndims; d++)
        l->v.gufunc.size[d] = (uint8_t)x->words[d];
    for (int k = 0; k < l->v.nin + l->v.nout; k++) {
        l->v.operand[k].staged = packed_count(x, k) > 0 && chance(80);
        if (cores_pitch(&l->v, layout) * 32 > UNROLLED_SHARED)
            l->v.operand[k].staged = 0;
    }
    l->threads = core_threads(&l->v, layout);
    count_unrolled++;
    return true;
}

static void put_whole(parameter_writer *w, const gu_case *x, const launched *l) {
    int64_t offset = 0;
    for (int k = 0; k < l->v.nin; k++) {
        int64_t count = x->words[x->tree->layout->operands[k].dim[0]];
        if (!l->v.operand[k].staged)
            continue;
        put_parameter(w, GPU_GUFUNC_STAGED, count);
        put_parameter(w, GPU_GUFUNC_STAGED, 0);
        put_parameter(w, GPU_GUFUNC_STAGED, offset);
        offset += (((count * dtypes[x->args[k].type].size) << l->v.gufunc.across) + 15) & -16;
    }
    assert_true(offset <= SIM_SHARED);
}

static void put_staged(parameter_writer *w, const gu_case *x, const launched *l) {
    int64_t offset = 0;
    for (int k = 0; k < l->v.nin + l->v.nout; k++) {
        int64_t count = packed_count(x, k), size = dtypes[x->args[k].type].size, pitch = pitch_of(count, (int)size);
        if (!l->v.operand[k].staged || l->v.gufunc.unrolled)
            continue;
        put_parameter(w, GPU_GUFUNC_STAGED, count);
        put_parameter(w, GPU_GUFUNC_STAGED, pitch);
        put_parameter(w, GPU_GUFUNC_STAGED, offset);
        offset += l->threads * pitch * size;
    }
}

/* Operands; are all of them aligned for vectors? */
static bool put_operands(parameter_writer *w, const gu_case *x, const launched *l) {
    const core_layout *layout = x->tree->layout;
    bool aligned = true;
    for (int k = 0; k < layout->nin + layout->nout; k++) {
        const gu_buffer *b = &x->buffers[x->args[k].buffer];
        char *data = (k < layout->nin ? b->before : b->used) + x->args[k].at;
        aligned &= operand_aligned(x, &l->v, k, data);
        put_operand(w, k, (uintptr_t)data, NULL);
    }
    return aligned;
}

static void put_parameters(const gu_case *x, launched *l) {
    const core_layout *layout = x->tree->layout;
    parameter_writer w = parameters_write(l->words, &l->v, layout, true);
    bool aligned = put_operands(&w, x, l);
    put_parameter(&w, GPU_GUFUNC_CALLS, l->calls);
    put_parameter(&w, GPU_GUFUNC_ALIGNED, aligned);
    for (int d = 0; d < l->v.ndim - 1; d++)
        put_divisor(&w, GPU_GUFUNC_EXTENTS, x->extent[x->ndim - 1 - d]);
    for (int k = 0; k < layout->nin + layout->nout; k++)
        for (int d = 0; d < l->v.ndim; d++)
            put_parameter(&w, GPU_GUFUNC_STRIDES, d < x->ndim ? x->args[k].loop_stride[x->ndim - 1 - d] : 0);
    (l->v.gufunc.coop ? put_whole : put_staged)(&w, x, l);
    if (l->v.gufunc.coop == COOP_GRID) {
        memset(l->slots, 0, sizeof l->slots);
        put_parameter(&w, GPU_GUFUNC_BLOCKS, 1);
        put_address(&w, GPU_GUFUNC_SLOTS, l->slots);
    }
    put_core(&w, layout, x->words);
    parameters_finish(&w);
    l->nparameters = (int)(w.next - l->words);
}

static void draw_launch(const gu_case *x, launched *l) {
    code_traits size;
    ir_traits(x->tree, &size);
    int coop = size.maps_to_threads && chance(80) ? (int)(chance(70) ? pick(1, 7) : pick(0, COOP_GRID)) : 0;
    variant v = variant_of(x->tree, coop, 0, 1, 1);
    v.ndim = (uint8_t)(x->ndim > 1 ? x->ndim : 1);
    v.gufunc.along = coop && chance(40);
    if (coop) {
        v.gufunc.lanes = v.gufunc.along ? 0 : (uint8_t)pick(0, coop < COOP_WARP ? coop : COOP_WARP);
        v.gufunc.vector = (uint8_t)(1 << pick(0, 3));
        v.gufunc.steps = (uint8_t)(1 << pick(0, 3));
    }
    v.wide = chance(25);
    l->calls = 1;
    for (int d = 0; d < x->ndim; d++)
        l->calls *= x->extent[d];
    for (int k = 0; k < v.nin + v.nout; k++) {
        v.operand[k].memory = (uint8_t)x->args[k].type;
        v.operand[k].unit = chance(85) ? unit_of(x, k) : 0;
    }
    draw_across(&v, &size);
    if (chance(60))
        draw_whole(x->tree, &v);
    coop = v.gufunc.coop;
    l->v = v;
    l->blocks = (int)pick(1, 2);
    l->threads = v.gufunc.across     ? 1 << (coop + v.gufunc.across)
                 : coop <= COOP_WARP ? 32 << pick(0, 1)
                                     : 1 << (coop == COOP_GRID ? COOP_GRID_BLOCK : coop);
    if (coop == COOP_GRID)
        l->blocks = 1;
    if (!coop && !v.gufunc.across && chance(60) && choose_unrolled(x, l))
        return;
    if (!coop && x->ndim == 1 && chance(75))
        choose_staged(x, l);
}

/* The same bits, or zeros: a sum of negative ones may be positive. */
static bool same_number(number a, number b) {
    return ref_same(a, b) || (dtypes[a.type].kind >= DK_FLOATING && a.as.f[0] == b.as.f[0] && a.as.f[1] == b.as.f[1]);
}

static const char *first_difference(const gu_case *x, int k) {
    const gu_array *a = &x->args[k];
    const gu_buffer *b = &x->buffers[k];
    static char where[96];
    size_t size = (size_t)dtypes[a->type].size;
    for (size_t i = a->at % size; i + size <= b->size; i += size)
        if (memcmp(b->used + i, b->expected + i, size) != 0 &&
            !same_number(number_read(a->type, b->used + i), number_read(a->type, b->expected + i))) {
            snprintf(where, sizeof where, "argument %d, element %lld of the buffer from its first", k,
                     ((long long)i - (long long)a->at) / (long long)size);
            return where;
        }
    return NULL;
}

static void simulate(gu_case *x, launched *l) {
    kernel k = {"simulated", x->c.layout.data, x->c.p.source.data, x->c.p.signature};
    arena a = {0};
    draw_launch(x, l);
    if (!l->calls)
        return;
    for (int i = l->v.nin; i < l->v.nin + l->v.nout; i++)
        memcpy(x->buffers[i].used, x->buffers[i].before, x->buffers[i].size);
    put_parameters(x, l);
    code_module m = generate(&a, &k, x->tree, &l->v, &gpu);
    const char *wrong = NULL;
    if (sim_can(&m)) {
        wrong = sim_run(&m, l->words, l->nparameters, l->blocks, l->threads);
        for (int i = l->v.nin; i < l->v.nin + l->v.nout && !wrong; i++)
            wrong = first_difference(x, i);
    }
    if (wrong) {
        if (getenv("SHOW_IR"))
            puts(m.ir.data);
        describe(&k, &l->v);
        for (int i = 0; i < CORE_NAMES; i++)
            fprintf(stderr, "%s is %lld, ", core_names[i], (long long)x->sizes[i]);
        for (int d = 0; d < x->ndim; d++)
            fprintf(stderr, "loop %lld, ", (long long)x->extent[d]);
        fail_msg("%d threads, %d blocks: %s", l->threads, l->blocks, wrong);
    }
    text_free(&m.ir);
    arena_free(&a);
}

static void try_simulated(int64_t turn) {
    static launched l;
    static gu_case x;
    uint64_t seed = draw_bits();
    (void)turn;
    x = (gu_case){.seed = seed, .s = {seed}};
    random_core_program(&x.c, &x.s);
    if (gu_check(&x)) {
        x.steps = 20000;
        gu_draw(&x, chance(70) ? 0 : 1);
        if (gu_interpret(&x) == GU_FINE)
            simulate(&x, &l);
        gu_release(&x);
    }
    core_program_free(&x.c);
    arena_free(&x.a);
}

/* Directed kernels that are exact on small integers, over plain names and arrays of rank at most 3. */
static void try_simulated_directed(int64_t turn) {
    static const char *const some[] = {
        "matvec",      "vecmat",       "matmul",          "complex_matmul", "bools",       "four_ranges",
        "read_back",   "own_store",    "update",          "scatter",        "rounds",      "plain_loop",
        "early",       "checked",      "local_array",     "shared_array",   "conditional", "triangle",
        "nested_sums", "range_of_sum", "range_of_output", "nothing",        "outer",       "table",
        "at",          "fill",         "spread",          "columns"};
    static const char letters[] = "nmp";
    static launched l;
    static gu_case x;
    const kernel *k = kernel_of(some[pick(0, COUNT(some) - 1)]);
    int operands = 0;
    (void)turn;
    x = (gu_case){.seed = draw_bits()};
    x.s.state = x.seed;
    x.c.tame = true;
    text_puts(&x.c.layout, k->layout);
    text_puts(&x.c.p.source, k->source);
    for (const char *at = k->layout; *at; at++) {
        const char *letter = strchr(letters, *at);
        core_operand *o = &x.c.operand[operands];
        if (letter) {
            o->dim[o->rank++] = (core_dim){.kind = CORE_NAME, .name = (int)(letter - letters)};
            x.c.in_inputs[letter - letters] = true;
        }
        x.c.p.nin = *at == '-' ? operands : x.c.p.nin;
        operands += *at == ')';
    }
    x.c.p.nout = operands - x.c.p.nin;
    arena a = {0};
    const tree *t = tree_of(&a, k);
    for (int i = 0; i < operands; i++)
        x.c.p.types[i] = t->kernel->locals[i].type;
    arena_free(&a);
    assert_true(gu_check(&x));
    x.steps = 50000;
    gu_draw(&x, chance(60) ? 0 : 1);
    if (gu_interpret(&x) == GU_FINE)
        simulate(&x, &l);
    gu_release(&x);
    core_program_free(&x.c);
    arena_free(&x.a);
}

static void test_simulated(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    count_unrolled = 0;
    sample(try_simulated);
    sample(try_simulated_directed);
    for (int i = 0; i < 200 && !count_unrolled; i++) /* however few there was time for */
        try_simulated_directed(i);
    print_message("%lld unrolled\n", (long long)count_unrolled);
    assert_true(count_unrolled);
}

static void test_simulated_rewritten(void **state) {
    int64_t before = tree_rewritten.sequences;
    tree_rewrites = 10;
    test_simulated(state);
    tree_rewrites = 0;
    assert_true(tree_rewritten.sequences > before);
}

/* Calls that a mask leaves out, and threads past the last call, come to every barrier and store nothing; in place, too. */
static void test_masked_lines(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    enum {
        N = 37,
        CALLS = 45
    };
    const kernel k = {
        "masked", "(n)->(n)",
        "(x) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, x[i] - top); forall (i : n) y[i] = "
        "x[i] - s; }",
        "int32->int32"};
    for (int way = 0; way < 16; way++) {
        bool across = way & 1, staged = way & 2, in_place = way & 4;
        arena a = {0};
        const tree *t = tree_of(&a, &k);
        int32_t x[N * CALLS], before[N * CALLS], y[N * CALLS] = {0};
        uint8_t mask[CALLS];
        uint64_t words[PARAMETERS];
        const uint64_t numbers[3][2] = {{0}};
        int64_t along = across ? CALLS : 1, between = across ? 1 : N, core[] = {N, along, along};
        variant v = variant_of(t, across ? 3 : 6, 0, 1, 2);
        v.ndim = v.masked = 1;
        v.gufunc.across = across ? 4 : 0;
        v.operand[0].staged = staged;
        v.operand[0].unit = v.operand[1].unit = !across;
        v.operand[2] = (variant_operand){.memory = DT_BOOL, .value = DT_BOOL, .kind = OPERAND_STRIDED};
        for (int i = 0; i < N * CALLS; i++)
            before[i] = x[i] = (int32_t)pick(-1000, 1000);
        for (int i = 0; i < CALLS; i++)
            mask[i] = chance(60);
        int32_t *out = in_place ? x : y;
        parameter_writer w = parameters_write(words, &v, t->layout, true);
        const void *const data[] = {x, out, mask};
        for (int i = 0; i < 3; i++)
            put_operand(&w, i, (uintptr_t)data[i], numbers);
        put_parameter(&w, GPU_GUFUNC_CALLS, CALLS);
        put_parameter(&w, GPU_GUFUNC_ALIGNED, 0);
        for (int i = 0; i < 3; i++)
            put_parameter(&w, GPU_GUFUNC_STRIDES, i < 2 ? between : 1);
        for (int i = 0; i < 3 && staged; i++)
            put_parameter(&w, GPU_GUFUNC_STAGED, i ? 0 : N);
        put_core(&w, t->layout, core);
        parameters_finish(&w);
        code_module m = generate(&a, &k, t, &v, &gpu);
        const char *wrong =
            sim_can(&m) ? sim_run(&m, words, (int)(w.next - words), way & 8 ? 1 : 3, across ? 128 : 64) : NULL;
        if (wrong)
            fail_msg("way %d: %s", way, wrong);
        for (int c = 0; c < CALLS && sim_there(); c++) {
            int32_t top = INT32_MIN, sum = 0;
            for (int i = 0; i < N; i++)
                top = before[i * along + c * between] > top ? before[i * along + c * between] : top;
            for (int i = 0; i < N; i++)
                sum += before[i * along + c * between] - top;
            for (int i = 0; i < N; i++) {
                int64_t at = i * along + c * between;
                int32_t without = in_place ? before[at] : 0;
                if (out[at] != (mask[c] ? before[at] - sum : without))
                    fail_msg("way %d: call %d, element %d", way, c, i);
            }
        }
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* ---- Traits ---- */

static void size_of(const char *name, code_traits *size) {
    arena a = {0};
    ir_traits(tree_of(&a, kernel_of(name)), size);
    arena_free(&a);
}

/* Only where every call comes to the same constructs may calls share a block's barriers. */
static void test_uniform(void **state) {
    (void)state;
    static const struct {
        const char *source;
        bool uniform;
    } cases[] = {
        {"(x) -> (y) { auto s = sum(i : n, x[i]); forall (i : n) y[i] = x[i] / s; }", true},
        {"(x) -> (y) { { auto s = x[0] > 0 ? 1 : 2; forall (i : n) y[i] = x[i] > 0 ? x[i] : s; } }", true},
        {"(x) -> (y) { if (x[0] > 0) forall (i : n) y[i] = x[i]; }", false},
        {"(x) -> (y) { for (int64 t = 0; t < 3; t++) forall (i : n) y[i] = x[i] * t; }", false},
        {"(x) -> (y) { if (x[0] > 0) return; forall (i : n) y[i] = x[i]; }", false},
        {"(x) -> (y) { auto s = x[0] > 0 ? sum(i : n, x[i]) : 1; forall (i : n) y[i] = s; }", false},
        {"(x) -> (y) { bool s = x[0] > 0 && any(i : n, x[i] > 1); forall (i : n) y[i] = s; }", false},
        {"(x) -> (y) { auto c = x[0]; while (c < 9) c += c; forall (i : n) y[i] = c; }", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        kernel k = {"uniform", "(n)->(n)", cases[i].source, "float32->float32"};
        code_traits traits;
        ir_traits(tree_of(&a, &k), &traits);
        if (traits.uniform != cases[i].uniform)
            fail_msg("%s: %d", k.source, traits.uniform);
        arena_free(&a);
    }
}

static void test_spreads(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        bool maps_to_threads;
        int constructs;
    } cases[] = {
        {"matvec", true, 1},           {"softmax", true, 3},       {"rows", true, 1},
        {"helper", true, 2},           {"bools", true, 2},         {"read_back", true, 3},
        {"scatter", true, 2},          {"rounds", true, 1},        {"early", true, 2},
        {"local_array", true, 1},      {"four_ranges", true, 1},   {"scaled", true, 2},
        {"range_of_sum", true, 2}, /* the sum in the range is spread as well */
        {"many_ranges", false, 1}, /* more than CODE_RANGES */
        {"plain_loop", false, 0},  /* nothing to spread, and an output is assigned outside */
        {"frozen", false, 0},          {"shared_array", false, 2}, /* a local array of all is assigned in the forall */
        {"range_of_output", false, 2},                             /* each thread would read it at another time */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        code_traits size;
        size_of(cases[i].kernel, &size);
        if (size.maps_to_threads != cases[i].maps_to_threads || size.nconstructs != cases[i].constructs)
            fail_msg("%s: maps_to_threads %d, %d constructs", cases[i].kernel, size.maps_to_threads, size.nconstructs);
    }
}

static void expect_construct(const code_construct *c, bool reduces, bool nested, const char *outer, const char *inner) {
    char list[2][CODE_RANGES * 4 + 1] = {"", ""};
    for (int i = 0; i < c->nouter; i++)
        sprintf(list[0] + strlen(list[0]), "%d ", c->outer[i]);
    for (int i = 0; i < c->ninner; i++)
        sprintf(list[1] + strlen(list[1]), "%d ", c->inner[i]);
    assert_int_equal(c->reduces, reduces);
    assert_int_equal(c->nested, nested);
    assert_string_equal(list[0], outer);
    assert_string_equal(list[1], inner);
}

static void expect_access(const code_access *a, int operand, int outer, int inner) {
    assert_int_equal(a->operand, operand);
    assert_int_equal(a->outer, outer);
    assert_int_equal(a->inner, inner);
}

static void test_constructs(void **state) {
    (void)state;
    code_traits s;
    size_of("matmul", &s); /* m 0, n 1, p 2 */
    expect_construct(&s.construct[0], false, true, "0 2 ", "1 ");
    assert_int_equal(s.construct[0].naccesses, 2);
    expect_access(&s.construct[0].access[0], 0, 0, 2);
    expect_access(&s.construct[0].access[1], 1, 2, 1);
    size_of("norm", &s);
    expect_construct(&s.construct[0], true, false, "0 ", "");
    assert_int_equal(s.construct[0].naccesses, 2);
    expect_access(&s.construct[0].access[0], 0, 1, 0);
    size_of("four_ranges", &s);
    expect_construct(&s.construct[0], false, true, "0 -1 -1 1 ", "1 -1 ");
    size_of("vecmat", &s); /* m 0, n 1: along j, which is A's second dimension */
    expect_construct(&s.construct[0], false, true, "1 ", "0 ");
    expect_access(&s.construct[0].access[0], 0, 0, 1);
    expect_access(&s.construct[0].access[1], 1, 2, 1);
    size_of("outer", &s);
    expect_construct(&s.construct[0], false, false, "0 1 ", "");
    assert_int_equal(s.construct[0].naccesses, 3);
}

/* More of everything than the tables hold. */
static void test_many(void **state) {
    (void)state;
    text written = {0};
    arena a = {0};
    text_puts(&written, "(x) -> (s) { auto t = x[0];");
    for (int i = 0; i < 3 * CODE_CONSTRUCTS; i++)
        text_printf(&written, " auto a%d = sum(i : n, x[i] * %d%s);", i, i + 2, i ? "" : " + x[n - 1 - i] * x[i]");
    text_puts(&written, " s = sum(i : n, 0");
    for (int i = 0; i < 2 * CODE_ACCESSES; i++)
        text_printf(&written, " + x[i] * %d", i);
    text_puts(&written, ") + t + a3; }");
    kernel k = {"many", "(n)->()", written.data, "float32->float32"};
    const tree *t = tree_of(&a, &k);
    code_traits s;
    ir_traits(t, &s);
    assert_int_equal(s.nconstructs, CODE_CONSTRUCTS);
    assert_true(s.maps_to_threads);
    accept(&k, t, false, 0);
    accept(&k, t, true, 0);
    arena_free(&a);
    text_free(&written);
}

/* ---- Memory, goldens ---- */

static void test_out_of_memory(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        bool gpu;
        int coop, lanes, along, staged;
    } cases[] = {{"matmul", true, 11, 3, 0, 0}, {"two_moments", true, 7, 0, 1, 0}, {"softmax", true, 6, 0, 0, 0},
                 {"scatter", true, 0, 0, 0, 1}, {"matmul", false, 0, 0, 1, 0},     {"helper", false, 0, 0, 0, 0},
                 {"table", false, 0, 0, 0, 0},  {"table", true, 5, 0, 0, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena trees = {0};
        const kernel *k = kernel_of(cases[i].kernel);
        const tree *t = tree_of(&trees, k);
        variant v = variant_of(t, cases[i].coop, cases[i].lanes, cases[i].coop ? 4 : 1, cases[i].coop ? 2 : 1);
        uf_status status = UF_ERR_MEMORY;
        int failures = 0;
        v.gufunc.along = (uint8_t)cases[i].along;
        for (int j = 0; j < v.nin + v.nout; j++)
            v.operand[j].staged = cases[i].staged && t->layout->operands[j].rank;
        for (int64_t n = 0; status; n += 1 + n / 16, failures++) {
            arena a = {0};
            code_module m = {.flags = UF_DEBUG};
            code_traits size;
            allocations_fail_after(n);
            ir_traits(t, &size);
            status = ir_gufunc(&a, "f", t, &v, cases[i].gpu ? &gpu : &cpu, &m);
            allocations_succeed();
            assert_true(status == UF_OK || status == UF_ERR_MEMORY);
            assert_null(a.escape);
            text_free(&m.ir);
            arena_free(&a);
        }
        assert_true(failures > 10);
        arena_free(&trees);
    }
}

static void check_golden(const char *file, const char *name, const code_target *target, int coop, int lanes) {
    arena a = {0};
    const tree *t = tree_of(&a, kernel_of(name));
    variant v = variant_of(t, coop, lanes, 1, 1);
    code_module m = generate(&a, kernel_of(name), t, &v, target);
    judge_golden(file, &m);
    arena_free(&a);
}

static void check_unrolled_golden(const char *file, const char *name) {
    arena a = {0};
    const tree *t = tree_of(&a, kernel_of(name));
    variant v = unrolled_of(t, 3);
    code_module m = generate(&a, kernel_of(name), t, &v, &gpu);
    judge_golden(file, &m);
    arena_free(&a);
}

static void test_goldens(void **state) {
    (void)state;
    check_golden("gufunc_cpu", "matvec", &cpu, 0, 0);
    check_golden("gufunc_gpu", "matvec", &gpu, 5, 3);
    check_unrolled_golden("gufunc_unrolled_gpu", "frozen");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directed),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_ptx),
        cmocka_unit_test(test_staged),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_content),
        cmocka_unit_test(test_unrolled),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_cpu_vectors),
        cmocka_unit_test(test_guarded_sum),
        cmocka_unit_test(test_looping_helper),
        cmocka_unit_test(test_spreads),
        cmocka_unit_test(test_constructs),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_goldens),
        cmocka_unit_test(test_rewritten),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_simulated_rewritten),
        cmocka_unit_test(test_masked_lines),
        cmocka_unit_test(test_uniform),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
