/* test_cpu.c - the CPU engine by itself, on IR written by hand in the layout of variant.h: what it compiles, how it walks
 * loops and cuts them over threads, and what it says when something is missing. Each libLLVM installed here gets a process
 * of its own (this program again, steered by the variables CHILD and UFUNC_LLVM), for a process opens only one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "cpu/cpu.h"
#include "cpu/llvm.h"
#include "failing.h"

#include <cmocka.h> /* last: its macro fail() is not ours */

enum {
    SKIPPED = 77
};

/* ---- Kernels ---- */

/* Reads word `index` into %<name>. */
#define WORD(name, index) \
    "  %p" #name " = getelementptr i64, i64* %w, i64 " #index "\n  %" #name " = load i64, i64* %p" #name "\n"

/* float, float -> float, flat: words a b r n. body computes %s from %x and %y. */
#define FLAT(name, body)                                                                                               \
    "define internal void @flat(float* noalias %a, float* noalias %b, float* noalias %r, i64 %n) alwaysinline "        \
    "nounwind"                                                                                                         \
    " \"prefer-vector-width\"=\"512\" {\nentry:\n  %some = icmp sgt i64 %n, 0\n  br i1 %some, label %loop, label "     \
    "%end\n"                                                                                                           \
    "loop:\n  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n  %pa = getelementptr float, float* %a, i64 %i\n"          \
    "  %pb = getelementptr float, float* %b, i64 %i\n  %pr = getelementptr float, float* %r, i64 %i\n"                 \
    "  %x = load float, float* %pa\n  %y = load float, float* %pb\n" body "  store float %s, float* %pr\n"             \
    "  %next = add nsw i64 %i, 1\n  %more = icmp slt i64 %next, %n\n  br i1 %more, label %loop, label %end\n"          \
    "end:\n  ret void\n}\n"                                                                                            \
    "define void @" name "(i64* %w) nounwind \"prefer-vector-width\"=\"512\" {\n" WORD(wa, 0) WORD(wb, 1) WORD(wr, 2)  \
        WORD(n, 3) "  %a = inttoptr i64 %wa to float*\n  %b = inttoptr i64 %wb to float*\n"                            \
                   "  %r = inttoptr i64 %wr to float*\n  call void @flat(float* %a, float* %b, float* %r, i64 %n)\n  " \
                   "ret void\n}\n"

static const char add_flat[] = FLAT("uf_add", "  %s = fadd float %x, %y\n");
static const char sin_flat[] =
    FLAT("uf_sin",
         "  %q = call float @sinf(float %x) #0\n  %s = fadd float %q, %y\n") "declare float @sinf(float)\ndeclare <4 x "
                                                                             "float> @_ZGVbN4v_sinf(<4 x float>)\n"
                                                                             "declare <8 x float> @_ZGVdN8v_sinf(<8 x "
                                                                             "float>)\n"
                                                                             "@llvm.compiler.used = appending global "
                                                                             "[2 x i8*] [i8* bitcast (<4 x float> (<4 "
                                                                             "x float>)* @_ZGVbN4v_sinf to i8*), "
                                                                             "i8* bitcast (<8 x float> (<8 x float>)* "
                                                                             "@_ZGVdN8v_sinf to i8*)], section "
                                                                             "\"llvm.metadata\"\n"
                                                                             "attributes #0 = { nounwind readnone "
                                                                             "\"vector-function-abi-variant\"=\"_"
                                                                             "ZGVbN4v_sinf(_ZGVbN4v_sinf),_ZGVdN8v_"
                                                                             "sinf(_ZGVdN8v_sinf)\" }\n";
static const char spare_flat[] = FLAT(
    "uf_spare", "  %s = fadd float %x, %y\n") "define internal float @kept(float %x) noinline {\n  ret float %x\n}\n"
                                              "@llvm.compiler.used = appending global [1 x i8*] [i8* bitcast (float "
                                              "(float)* @kept to i8*)], section \"llvm.metadata\"\n";
static const char far_flat[] =
    FLAT("uf_far", "  %q = call float @far(float %x)\n  %s = fadd float %q, %y\n") "declare float @far(float)\n";

/* int32, int32 -> int32 + 3 * b, rows and general: words a b r n m, strides of dimensions 0 and 1 of each. */
static const char add_strided[] = "define void @uf_strided(i64* %w) nounwind {\nentry:\n" WORD(wa, 0) WORD(wb, 1)
    WORD(wr, 2) WORD(n, 3) WORD(m, 4) WORD(a0, 5) WORD(a1, 6) WORD(b0, 7) WORD(b1, 8) WORD(r0, 9) WORD(
        r1, 10) "  %a = inttoptr i64 %wa to i32*\n  %b = inttoptr i64 %wb to i32*\n  %r = inttoptr i64 %wr to i32*\n"
                "  br label %row\n"
                "row:\n  %j = phi i64 [ 0, %entry ], [ %j2, %next ]\n  %ja = mul i64 %j, %a1\n  %jb = mul i64 %j, %b1\n"
                "  %jr = mul i64 %j, %r1\n  br label %loop\n"
                "loop:\n  %i = phi i64 [ 0, %row ], [ %i2, %loop ]\n"
                "  %ia = mul i64 %i, %a0\n  %ib = mul i64 %i, %b0\n  %ir = mul i64 %i, %r0\n"
                "  %oa = add i64 %ia, %ja\n  %ob = add i64 %ib, %jb\n  %or = add i64 %ir, %jr\n"
                "  %qa = getelementptr i32, i32* %a, i64 %oa\n  %qb = getelementptr i32, i32* %b, i64 %ob\n"
                "  %qr = getelementptr i32, i32* %r, i64 %or\n  %x = load i32, i32* %qa\n  %y = load i32, i32* %qb\n"
                "  %y3 = mul i32 %y, 3\n  %s = add i32 %x, %y3\n  store i32 %s, i32* %qr\n"
                "  %i2 = add nsw i64 %i, 1\n  %more = icmp slt i64 %i2, %n\n  br i1 %more, label %loop, label %next\n"
                "next:\n  %j2 = add nsw i64 %j, 1\n  %again = icmp slt i64 %j2, %m\n  br i1 %again, label %row, label "
                "%end\n"
                "end:\n  ret void\n}\n";

/* int32 (n), (n) -> (), inner calls: words a b r n m, strides of dimensions 0 and 1 of each, then the core parameters: k, and the
 * core strides of a and b. r is the sum of a * b. */
static const char inner_calls[] = "define void @uf_inner(i64* %w) nounwind {\nentry:\n" WORD(wa, 0) WORD(wb, 1) WORD(
    wr, 2) WORD(n, 3) WORD(m, 4) WORD(a0, 5) WORD(a1, 6) WORD(b0, 7) WORD(b1, 8) WORD(r0, 9) WORD(r1, 10) WORD(k, 11)
    WORD(ac, 12) WORD(
        bc, 13) "  %a = inttoptr i64 %wa to i32*\n  %b = inttoptr i64 %wb to i32*\n  %r = inttoptr i64 %wr to i32*\n"
                "  %some = icmp sgt i64 %k, 0\n  br label %row\n"
                "row:\n  %j = phi i64 [ 0, %entry ], [ %j2, %next ]\n  %ja = mul i64 %j, %a1\n"
                "  %jb = mul i64 %j, %b1\n  %jr = mul i64 %j, %r1\n  br label %call\n"
                "call:\n  %i = phi i64 [ 0, %row ], [ %i2, %store ]\n"
                "  %ia = mul i64 %i, %a0\n  %ib = mul i64 %i, %b0\n  %ir = mul i64 %i, %r0\n"
                "  %oa = add i64 %ia, %ja\n  %ob = add i64 %ib, %jb\n  %or = add i64 %ir, %jr\n"
                "  %qa = getelementptr i32, i32* %a, i64 %oa\n  %qb = getelementptr i32, i32* %b, i64 %ob\n"
                "  %qr = getelementptr i32, i32* %r, i64 %or\n  br i1 %some, label %step, label %store\n"
                "step:\n  %c = phi i64 [ 0, %call ], [ %c2, %step ]\n  %t = phi i32 [ 0, %call ], [ %t2, %step ]\n"
                "  %ca = mul i64 %c, %ac\n  %cb = mul i64 %c, %bc\n  %pa = getelementptr i32, i32* %qa, i64 %ca\n"
                "  %pb = getelementptr i32, i32* %qb, i64 %cb\n  %x = load i32, i32* %pa\n  %y = load i32, i32* %pb\n"
                "  %xy = mul i32 %x, %y\n  %t2 = add i32 %t, %xy\n  %c2 = add nsw i64 %c, 1\n"
                "  %on = icmp slt i64 %c2, %k\n  br i1 %on, label %step, label %store\n"
                "store:\n  %s = phi i32 [ 0, %call ], [ %t2, %step ]\n  store i32 %s, i32* %qr\n"
                "  %i2 = add nsw i64 %i, 1\n  %more = icmp slt i64 %i2, %n\n  br i1 %more, label %call, label %next\n"
                "next:\n  %j2 = add nsw i64 %j, 1\n  %again = icmp slt i64 %j2, %m\n"
                "  br i1 %again, label %row, label %end\nend:\n  ret void\n}\n";

/* A number of each width: complex128 (two words) and float64; r[i] = re + im * d, for one element. */
static const char numbers_flat[] = "define void @uf_numbers(i64* %w) nounwind {\n" WORD(re, 0) WORD(im, 1) WORD(d, 2)
    WORD(wr,
         3) "  %fre = bitcast i64 %re to double\n  %fim = bitcast i64 %im to double\n  %fd = bitcast i64 %d to double\n"
            "  %r = inttoptr i64 %wr to double*\n  %t = fmul double %fim, %fd\n  %s = fadd double %fre, %t\n"
            "  store double %s, double* %r\n  ret void\n}\n";

static const char nothing[] = "define void @uf_nothing(i64* %w) nounwind {\n  ret void\n}\n";

static code_module module_of(const char *ir, const char *entry) {
    code_module module = {.nsymbols = 0};
    text_puts(&module.ir, ir);
    strcpy(module.entry, entry);
    return module;
}

static uf_status try_compile(const char *ir, const char *entry, code_symbol *symbols, int nsymbols, code **out) {
    code_module module = module_of(ir, entry);
    module.symbols = symbols;
    module.nsymbols = nsymbols;
    code_target target = {.vector_bits = 128};
    uf_status status = cpu_engine.compile(&module, &target, 0, out);
    text_free(&module.ir);
    return status;
}

static code *compile(const char *ir, const char *entry) {
    code *c;
    if (try_compile(ir, entry, NULL, 0, &c))
        fail_msg("%s", uf_last_error()->message);
    assert_non_null(c);
    return c;
}

/* A flat loop over n elements of up to eight operands of one dtype. */
typedef struct flat {
    variant v;
    nd_loop loop;
    int64_t extent[1], stride[8];
    char *data[8];
    launch l;
} flat;

static void flat_make(flat *f, dtype type, int nin, int nout, int64_t n) {
    memset(f, 0, sizeof *f);
    f->v = (variant){.loop = LOOP_FLAT, .ndim = 1, .nin = (uint8_t)nin, .nout = (uint8_t)nout};
    for (int k = 0; k < nin + nout; k++) {
        f->v.operand[k] = (variant_operand){.memory = (uint8_t)type, .value = (uint8_t)type};
        f->stride[k] = 1;
    }
    f->extent[0] = n;
    f->loop = (nd_loop){.ndim = 1, .narrays = nin + nout, .count = n, .extent = f->extent, .stride = f->stride};
    f->l = (launch){.v = &f->v, .loop = &f->loop, .data = f->data};
}

static void run(const code *c, const launch *l) { assert_int_equal(cpu_engine.launch(c, l), UF_OK); }

static void check_add(const code *c, int64_t n) {
    float x[600], y[600], r[600];
    flat f;
    assert_true(n < 600);
    for (int i = 0; i < 600; i++)
        x[i] = (float)i, y[i] = 0.5f, r[i] = -1;
    flat_make(&f, DT_FLOAT32, 2, 1, n);
    f.data[0] = (char *)x, f.data[1] = (char *)y, f.data[2] = (char *)r;
    run(c, &f.l);
    for (int i = 0; i < 600; i++)
        assert_true(r[i] == (i < n ? (float)i + 0.5f : -1));
}

/* A launch is kept where nothing is left to decide, and repeated where the code is known to take so little time that there is nothing to
 * divide over threads. */
static void kept_launches(void **unused) {
    (void)unused;
    float x[] = {1, 2, 3, 4, 5}, y[] = {10, 20, 30, 40, 50}, r[5] = {0};
    code *c = compile(add_flat, "uf_add");
    kept_launch k;
    flat f;
    flat_make(&f, DT_FLOAT32, 2, 1, 5);
    f.data[0] = (char *)x, f.data[1] = (char *)y, f.data[2] = (char *)r;
    assert_true(cpu_engine.keep(c, &f.l, &k));
    assert_false(cpu_engine.repeat(&k)); /* what it takes is not known */
    assert_true(r[0] == 0);
    run(c, &f.l);
    c->cost[0] = 1; /* however long it took on a busy machine */
    for (int times = 0; times < 3; times++) {
        x[4] += 1;
        assert_true(cpu_engine.repeat(&k));
        assert_true(r[0] == 11 && r[4] == x[4] + 50);
    }
    c->cost[0] = UINT32_MAX; /* takes long */
    assert_false(cpu_engine.repeat(&k));
    f.l.threads = 1;
    assert_true(cpu_engine.keep(c, &f.l, &k) && cpu_engine.repeat(&k));
    int stop = 0;
    f.l.cancel = &stop;
    assert_false(cpu_engine.keep(c, &f.l, &k));
    f.l.cancel = NULL;
    f.v.operand[1].kind = OPERAND_NUMBER;
    assert_false(cpu_engine.keep(c, &f.l, &k));
    cpu_engine.release(c);
}

/* In place of a kernel of one input and one output: what it is told of the elements. */
static struct {
    int calls;
    struct {
        uintptr_t from, to;
        int64_t n;
    } call[4];
} told;

static void note_elements(const uint64_t *words) {
    assert_true(told.calls < (int)COUNT(told.call));
    told.call[told.calls].from = (uintptr_t)words[0];
    told.call[told.calls].to = (uintptr_t)words[1];
    told.call[told.calls++].n = (int64_t)words[2];
}

/* From 16 KiB of output on elements in front of its first whole line go by a call of their own, if there is a line that begins with an element; in
 * launches that are made again, too. All elements are computed once. */
static void flat_heads(void **unused) {
    (void)unused;
    static const struct {
        dtype type;
        int64_t bytes;
        int offset, head; /* of the output; elements */
        operand_kind kind;
    } cases[] = {
        {DT_FLOAT32, 1 << 14, 16, 12, OPERAND_CONTIGUOUS},  {DT_FLOAT32, (1 << 14) - 4, 16, 0, OPERAND_CONTIGUOUS},
        {DT_FLOAT32, 1 << 20, 0, 0, OPERAND_CONTIGUOUS},    {DT_FLOAT32, 1 << 14, 18, 0, OPERAND_CONTIGUOUS},
        {DT_INT8, 1 << 14, 1, 63, OPERAND_CONTIGUOUS},      {DT_COMPLEX128, 1 << 14, 48, 1, OPERAND_CONTIGUOUS},
        {DT_COMPLEX128, 1 << 14, 8, 0, OPERAND_CONTIGUOUS}, {DT_FLOAT64, 1 << 14, 56, 1, OPERAND_INTERLEAVED}};
    char *memory = NULL;
    assert_false(posix_memalign((void **)&memory, 64, (1 << 20) + 64));
    for (size_t i = 0; i < COUNT(cases); i++) {
        code c = {.run = note_elements, .cost = {1}}; /* it is known to take little */
        int64_t size = dtypes[cases[i].type].size, n = cases[i].bytes / size;
        bool record = cases[i].kind == OPERAND_INTERLEAVED;
        kept_launch k;
        flat f;
        flat_make(&f, cases[i].type, 1, 1, n);
        f.v.operand[1].kind = (uint8_t)cases[i].kind;
        f.v.operand[1].record = record ? (uint8_t)(2 * size) : 0;
        f.data[0] = memory, f.data[1] = memory + cases[i].offset;
        f.l.threads = 1;
        for (int again = 0; again < 2; again++) {
            told.calls = 0;
            if (again)
                assert_true(cpu_engine.keep(&c, &f.l, &k) && cpu_engine.repeat(&k));
            else
                run(&c, &f.l);
            int64_t done = 0, head = record ? 0 : cases[i].head;
            for (int call = 0; call < told.calls; call++) {
                if (told.call[call].from != (uintptr_t)(memory + done * size) ||
                    told.call[call].to != (uintptr_t)(f.data[1] + done * size * (record ? 2 : 1)))
                    fail_msg("case %d, call %d", (int)i, call);
                if (head && !call)
                    assert_int_equal(told.call[call].n, head);
                done += told.call[call].n;
            }
            assert_int_equal(done, n);
            assert_int_equal(told.calls, 1 + (head > 0));
        }
    }
    free(memory);
}

/* ---- Random numbers ---- */

static uint64_t state;

static int64_t below(int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

static int seed(void **unused) {
    (void)unused;
    const char *given = getenv("UF_SEED");
    state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid();
    print_message("UF_SEED=%llu\n", (unsigned long long)state);
    return 0;
}

/* ---- What every version must do ---- */

static void flat_every_length(void **unused) {
    (void)unused;
    code *c = compile(add_flat, "uf_add");
    for (int64_t n = 0; n < 300; n++)
        check_add(c, n);
    cpu_engine.release(c);
}

/* Vector functions of glibc, called through the attribute. */
static void vector_math(void **unused) {
    (void)unused;
    void *libmvec = dlopen("libmvec.so.1", RTLD_NOW);
    code_symbol symbols[] = {{"sinf", (const void *)(uintptr_t)sinf},
                             {"_ZGVbN4v_sinf", libmvec ? dlsym(libmvec, "_ZGVbN4v_sinf") : NULL},
                             {"_ZGVdN8v_sinf", libmvec ? dlsym(libmvec, "_ZGVdN8v_sinf") : NULL}};
    if (!symbols[2].address || !__builtin_cpu_supports("avx2"))
        skip();
    code *c;
    if (try_compile(sin_flat, "uf_sin", symbols, 3, &c))
        fail_msg("%s", uf_last_error()->message);
    float x[333], y[333] = {0}, r[333];
    for (int i = 0; i < 333; i++)
        x[i] = (float)i * 0.25f - 40;
    flat f;
    flat_make(&f, DT_FLOAT32, 2, 1, 333);
    f.data[0] = (char *)x, f.data[1] = (char *)y, f.data[2] = (char *)r;
    run(c, &f.l);
    for (int i = 0; i < 333; i++)
        assert_true(fabs((double)r[i] - sin((double)x[i])) <= 4 * 6e-8);
    cpu_engine.release(c);
    code_module module = module_of(sin_flat, "uf_sin");
    text out = {0};
    assert_int_equal(cpu_engine.inspect(&module, NULL, 0, UF_VIEW_RESOURCES, &out), UF_OK);
    assert_non_null(strstr(out.data, "code "));
    assert_non_null(strstr(out.data, "_ZGVdN8v_sinf"));
    text_free(&out);
    assert_int_equal(cpu_engine.inspect(&module, NULL, 0, UF_VIEW_ASSEMBLY, &out), UF_OK);
    assert_non_null(strstr(out.data, "uf_sin:"));
    text_free(&out);
    assert_int_equal(cpu_engine.inspect(&module, NULL, 0, UF_VIEW_PTX, &out), UF_ERR_ARGUMENT);
    text_free(&out);
    text_free(&module.ir);
}

static int count_of(const char *in, const char *what) {
    int n = 0;
    for (; (in = strstr(in, what)); in++)
        n++;
    return n;
}

/* A loop is vectors, a few side by side, and what they leave over: no copies of that. A function that was kept for the vectoriser
 * is gone where no loop calls it. It begins at a multiple of 32 bytes. */
static void short_code(void **unused) {
    (void)unused;
    code_module module = module_of(spare_flat, "uf_spare");
    text out = {0};
    assert_int_equal(cpu_engine.inspect(&module, NULL, 0, UF_VIEW_ASSEMBLY, &out), UF_OK);
    assert_null(strstr(out.data, "kept:"));
#if defined(__x86_64__)
    assert_in_range(count_of(out.data, "addps"), 1, 8);
    assert_non_null(strstr(out.data, ".p2align\t5"));
#endif
    text_free(&out);
    text_free(&module.ir);
}

/* A function far from everything: below 2^31, while code and stack lie near 2^47. */
static void far_symbol(void **unused) {
    (void)unused;
#if defined(__x86_64__)
    static const unsigned char body[] = {0xf3, 0x0f, 0x58, 0xc0, 0xc3}; /* addss xmm0, xmm0; ret */
    unsigned char *at = mmap((void *)0x50000000, 4096, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    memcpy(at, body, sizeof body);
    assert_int_equal(mprotect(at, 4096, PROT_READ | PROT_EXEC), 0);
    code_symbol symbol = {"far", at};
    code *c;
    if (try_compile(far_flat, "uf_far", &symbol, 1, &c))
        fail_msg("%s", uf_last_error()->message);
    float x[5] = {1, 2, 3, 4, 5}, y[5] = {10, 10, 10, 10, 10}, r[5];
    flat f;
    flat_make(&f, DT_FLOAT32, 2, 1, 5);
    f.data[0] = (char *)x, f.data[1] = (char *)y, f.data[2] = (char *)r;
    run(c, &f.l);
    for (int i = 0; i < 5; i++)
        assert_true(r[i] == 2 * x[i] + 10);
    cpu_engine.release(c);
    symbol.address = at + 64; /* one name is one address */
    assert_int_equal(try_compile(far_flat, "uf_far", &symbol, 1, &c), UF_ERR_COMPILE);
    assert_non_null(strstr(uf_last_error()->message, "far"));
#else
    skip();
#endif
}

static long pages(const char *file) { /* resident pages, or lines of a file */
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    long size, resident = 0, lines = 0;
    if (strstr(file, "statm")) {
        assert_int_equal(fscanf(in, "%ld %ld", &size, &resident), 2);
    } else {
        for (int c; (c = getc(in)) != EOF;)
            lines += c == '\n';
    }
    fclose(in);
    return resident ? resident : lines;
}

/* Compiling and releasing leaves nothing behind. */
static void cycles(void **unused) {
    (void)unused;
    enum {
        WARM = 60,
        CYCLES = 300
    };
    long resident = 0, maps = 0;
    code *kept = compile(add_flat, "uf_add");
    for (int k = 0; k < WARM + CYCLES; k++) {
        if (k == WARM) {
            resident = pages("/proc/self/statm");
            maps = pages("/proc/self/maps");
        }
        code *c = compile(nothing, "uf_nothing");
        c->run(NULL);
        cpu_engine.release(c);
    }
    check_add(kept, 100);
    cpu_engine.release(kept);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)resident; /* they keep what was freed */
    (void)maps;
#else
    assert_in_range(pages("/proc/self/maps"), 1, maps + 20);
    assert_in_range(pages("/proc/self/statm"), 1, resident + 1024); /* 4 MiB of malloc's noise */
#endif
}

/* Text that is not IR, IR that is not valid, and IR that asks for what it was not given. */
static void bad_modules(void **unused) {
    (void)unused;
    static const struct {
        const char *ir, *entry, *says;
    } bad[] = {
        {"define void @k(i64* %w) {\n  retvoid\n}\n", "k", "expected instruction opcode"},
        {"", "k", "no such function"},
        {"declare void @k(i64*)\n", "k", "no such function"},
        {"define void @k(i64* %w) {\n  ret void\n}\n", "other", "no such function"},
        {"define i32 @k(i64* %w) {\n  br i1 true, label %a, label %b\na:\n  %x = add i32 1, 2\n  br label %b\nb:\n"
         "  ret i32 %x\n}\n",
         "k", "does not dominate"},
        {"declare void @nobody()\ndefine void @k(i64* %w) {\n  call void @nobody()\n  ret void\n}\n", "k", "nobody"},
        {"define void @k(i64* %w) {\n  call void asm \"nonsense\", \"\"()\n  ret void\n}\n", "k", ""},
    };
    for (size_t k = 0; k < COUNT(bad); k++) {
        code *c = (code *)&c;
        assert_int_equal(try_compile(bad[k].ir, bad[k].entry, NULL, 0, &c), UF_ERR_COMPILE);
        assert_null(c);
        if (!strstr(uf_last_error()->message, bad[k].says))
            fail_msg("'%s' is not in: %s", bad[k].says, uf_last_error()->message);
    }
    flat_every_length(NULL);
}

/* ---- Vectors whose lanes lie apart ---- */

#define GATHER "@llvm.masked.gather.v4f32.v4p0f32(<4 x float*> "
#define SCATTER "@llvm.masked.scatter.v4f32.v4p0f32(<4 x float> "
#define ALL "<4 x i1> <i1 true, i1 true, i1 true, i1 true>"

/* Reads elements 0, 3, 6 and 9 of w[0], writes them to 0, 2, 2 and 5 of w[1], and 9 to elements 6 to 9 of it where they are above 0. */
static const char lanes_apart[] =
    "declare <4 x float> @llvm.masked.gather.v4f32.v4p0f32(<4 x float*>, i32, <4 x i1>, <4 x float>)\n"
    "declare void @llvm.masked.scatter.v4f32.v4p0f32(<4 x float>, <4 x float*>, i32, <4 x i1>)\n"
    "define void @uf_apart(i64* %w) nounwind {\n"
    "  %p = bitcast i64* %w to float**\n"
    "  %x = load float*, float** %p\n"
    "  %q = getelementptr float*, float** %p, i64 1\n"
    "  %y = load float*, float** %q\n"
    "  %from = getelementptr float, float* %x, <4 x i64> <i64 0, i64 3, i64 6, i64 9>\n"
    "  %v = call <4 x float> " GATHER "%from, i32 4, " ALL ", <4 x float> undef)\n"
    "  %to = getelementptr float, float* %y, <4 x i64> <i64 0, i64 2, i64 2, i64 5>\n"
    "  call void " SCATTER "%v, <4 x float*> %to, i32 4, " ALL ")\n"
    "  %above = fcmp ogt <4 x float> %v, zeroinitializer\n"
    "  %more = getelementptr float, float* %y, <4 x i64> <i64 6, i64 7, i64 8, i64 9>\n"
    "  call void " SCATTER "<float 9.0, float 9.0, float 9.0, float 9.0>, <4 x float*> %more, i32 4, <4 x i1> %above)\n"
    "  ret void\n}\n";

/* Calls of functions whose names begin so. */
static int calls_of(const llvm *l, llvm_value function, const char *prefix) {
    int n = 0;
    size_t length;
    for (llvm_block b = l->GetFirstBasicBlock(function); b; b = l->GetNextBasicBlock(b))
        for (llvm_value i = l->GetFirstInstruction(b); i; i = l->GetNextInstruction(i))
            n += l->IsACallInst(i) && !strncmp(l->GetValueName2(l->GetCalledValue(i), &length), prefix, strlen(prefix));
    return n;
}

/* What is not behind a condition is taken apart, and nothing else. The values are the same on processors where it is and where it isn't. */
static void gathers(void **unused) {
    (void)unused;
    const llvm *l;
    llvm_module module;
    char *message = NULL;
    assert_int_equal(llvm_open(&l), UF_OK);
    llvm_context context = l->ContextCreate();
    llvm_buffer bytes = l->CreateMemoryBufferWithMemoryRange(lanes_apart, sizeof lanes_apart - 1, "apart", 1);
    assert_int_equal(l->ParseIRInContext(context, bytes, &module, &message), 0);
    llvm_value entry = l->GetNamedFunction(module, "uf_apart");
    assert_int_equal(calls_of(l, entry, "llvm.masked.gather."), 1);
    assert_int_equal(calls_of(l, entry, "llvm.masked.scatter."), 2);
    llvm_spread_gathers(l, module);
    assert_int_equal(calls_of(l, entry, "llvm.masked.gather."), 0);
    assert_int_equal(calls_of(l, entry, "llvm.masked.scatter."), 1);
    assert_int_equal(l->VerifyModule(module, LLVM_RETURN_STATUS, &message), 0);
    l->DisposeMessage(message);
    l->DisposeModule(module);
    l->ContextDispose(context);

    code *c = compile(lanes_apart, "uf_apart");
    static const float x[10] = {1, 50, 50, -2, 50, 50, 3, 50, 50, -4}, want[10] = {1, 0, 3, 0, 0, -4, 9, 0, 9, 0};
    float y[10] = {0};
    uint64_t words[] = {(uintptr_t)x, (uintptr_t)y};
    c->run(words);
    assert_memory_equal(y, want, sizeof y);
    cpu_engine.release(c);
}

/* ---- Loops ---- */

enum {
    DIMS = 5,
    BUFFER = 40000
};

typedef struct box {
    int ndim;
    int64_t extent[DIMS], stride[DIMS * 3], span[3]; /* strides of a, b, r; elements from lowest to highest */
    int64_t low[3];
} box;

/* Random extents and strides; the output's strides keep its elements apart, inputs may have any, zero and negative too. */
static void box_random(box *b) {
    b->ndim = 1 + (int)below(DIMS);
    int64_t apart = 1 + below(2);
    for (int k = 0; k < 3; k++)
        b->low[k] = b->span[k] = 0;
    for (int d = 0; d < b->ndim; d++) {
        b->extent[d] = b->ndim == 1 ? 1 + below(3000) : 1 + below(d == 0 ? 60 : 6);
        int64_t *s = b->stride + (size_t)d * 3;
        s[0] = below(7) - 3;
        s[1] = below(3) ? below(9) - 4 : 0;
        s[2] = below(4) ? apart : -apart;
        apart *= b->extent[d] + below(2);
        for (int k = 0; k < 3; k++) {
            int64_t reach = s[k] * (b->extent[d] - 1);
            b->low[k] += reach < 0 ? -reach : 0;
            b->span[k] += reach < 0 ? -reach : reach;
        }
    }
}

/* Every element by division of its number: nothing shared with the engine's walk. */
static void box_oracle(const box *b, const int32_t *x, const int32_t *y, int32_t *r) {
    int64_t count = 1;
    for (int d = 0; d < b->ndim; d++)
        count *= b->extent[d];
    for (int64_t e = 0; e < count; e++) {
        int64_t rest = e, at[3] = {b->low[0], b->low[1], b->low[2]};
        for (int d = 0; d < b->ndim; rest /= b->extent[d], d++)
            for (int k = 0; k < 3; k++)
                at[k] += rest % b->extent[d] * b->stride[(size_t)d * 3 + (size_t)k];
        r[at[2]] = x[at[0]] + 3 * y[at[1]];
    }
}

static void box_launch(code *c, box *b, int32_t *x, int32_t *y, int32_t *r, int threads) {
    char *data[3] = {(char *)(x + b->low[0]), (char *)(y + b->low[1]), (char *)(r + b->low[2])};
    variant v = {.loop = LOOP_GENERAL, .nin = 2, .nout = 1};
    nd_loop loop = {.ndim = b->ndim, .narrays = 3, .count = 1, .extent = b->extent, .stride = b->stride};
    for (int d = 0; d < b->ndim; d++)
        loop.count *= b->extent[d];
    for (int k = 0; k < 3; k++)
        v.operand[k] = (variant_operand){.memory = DT_INT32, .value = DT_INT32, .kind = OPERAND_STRIDED};
    cpu_engine.specialise(&v, &(loop_problem){.loop = &loop, .traits = &(code_traits){.nodes = 4}});
    assert_int_equal(v.ndim, b->ndim < 2 ? b->ndim : 2);
    run(c, &(launch){.v = &v, .loop = &loop, .data = data, .threads = threads});
}

/* Random loops, on one thread and cut in many ways: the cost that the engine believes in decides how. */
static void nested(void **unused) {
    (void)unused;
    code *c = compile(add_strided, "uf_strided");
    int32_t *x = malloc(4 * BUFFER * sizeof *x), *y = x + BUFFER, *r = y + BUFFER, *expected = r + BUFFER;
    assert_non_null(x);
    for (int i = 0; i < 2 * BUFFER; i++)
        x[i] = (int32_t)below(1 << 20);
    static const uint32_t costs[] = {0, 1, 1 << 20, 4000000000u};
    for (int trial = 0; trial < 1500; trial++) {
        box b;
        do
            box_random(&b);
        while (b.span[0] >= BUFFER || b.span[1] >= BUFFER || b.span[2] >= BUFFER);
        for (int i = 0; i < BUFFER; i++)
            r[i] = expected[i] = -7;
        box_oracle(&b, x, y, expected);
        atomic_store(&c->cost[0], costs[below(4)]);
        box_launch(c, &b, x, y, r, (int)below(5));
        if (memcmp(r, expected, BUFFER * sizeof *r))
            fail_msg("trial %d: %d dimensions, extents %d %d ..", trial, b.ndim, (int)b.extent[0], (int)b.extent[1]);
    }
    free(x);
    cpu_engine.release(c);
}

/* Inner calls over random loops, with core dimensions of any size and stride. */
typedef struct calls {
    box b;
    int64_t core[3]; /* the core parameters of (n),(n)->(): n, and the strides of the inputs */
} calls;

static const layout_operand inner_operands[] = {{.rank = 1, .strides = 1}, {.rank = 1, .strides = 2}, {.strides = 3}};
static const layout_dim inner_dims[] = {{.name = "n"}};
static const core_layout inner_layout = {
    .nin = 2, .nout = 1, .ndims = 1, .nparameters = 3, .dims = inner_dims, .operands = inner_operands};

static void calls_random(calls *c) {
    do {
        box_random(&c->b);
        if (c->b.ndim == 1)
            c->b.extent[0] = 1 + below(c->b.extent[0]) / (below(2) ? 300 : 1); /* few heavy calls, too */
        c->core[0] = below(8) ? below(40) : 0;
        for (int k = 0; k < 2; k++) {
            int64_t reach = (c->core[1 + k] = c->core[0] > 1 ? below(7) - 3 : 0) * (c->core[0] ? c->core[0] - 1 : 0);
            c->b.low[k] += reach < 0 ? -reach : 0;
            c->b.span[k] += reach < 0 ? -reach : reach;
        }
    } while (c->b.span[0] >= BUFFER || c->b.span[1] >= BUFFER || c->b.span[2] >= BUFFER);
}

static void calls_oracle(const calls *c, const int32_t *x, const int32_t *y, int32_t *r) {
    int64_t count = 1;
    for (int d = 0; d < c->b.ndim; d++)
        count *= c->b.extent[d];
    for (int64_t e = 0; e < count; e++) {
        int64_t rest = e, at[3] = {c->b.low[0], c->b.low[1], c->b.low[2]};
        for (int d = 0; d < c->b.ndim; rest /= c->b.extent[d], d++)
            for (int k = 0; k < 3; k++)
                at[k] += rest % c->b.extent[d] * c->b.stride[(size_t)d * 3 + (size_t)k];
        r[at[2]] = 0;
        for (int64_t j = 0; j < c->core[0]; j++)
            r[at[2]] += x[at[0] + j * c->core[1]] * y[at[1] + j * c->core[2]];
    }
}

static void calls_launch(code *made, calls *c, int32_t *x, int32_t *y, int32_t *r, int threads) {
    char *data[3] = {(char *)(x + c->b.low[0]), (char *)(y + c->b.low[1]), (char *)(r + c->b.low[2])};
    variant v = {.loop = LOOP_GUFUNC, .nin = 2, .nout = 1};
    nd_loop loop = {.ndim = c->b.ndim, .narrays = 3, .count = 1, .extent = c->b.extent, .stride = c->b.stride};
    for (int d = 0; d < c->b.ndim; d++)
        loop.count *= c->b.extent[d];
    for (int k = 0; k < 3; k++)
        v.operand[k] = (variant_operand){.memory = DT_INT32, .value = DT_INT32, .kind = OPERAND_STRIDED};
    cpu_engine.specialise(
        &v,
        &(loop_problem){.loop = &loop, .layout = &inner_layout, .core = c->core, .traits = &(code_traits){.nodes = 4}});
    assert_int_equal(v.ndim, c->b.ndim < 2 ? c->b.ndim : 2);
    for (int k = 0; k < 2; k++)
        assert_int_equal(v.operand[k].unit, c->core[0] < 2 || c->core[1 + k] == 1 || v.operand[k].staged);
    run(made,
        &(launch){.v = &v, .loop = &loop, .data = data, .threads = threads, .layout = &inner_layout, .core = c->core});
}

static void inner_calls_anyhow(void **unused) {
    (void)unused;
    code *made = compile(inner_calls, "uf_inner");
    int32_t *x = malloc(4 * BUFFER * sizeof *x), *y = x + BUFFER, *r = y + BUFFER, *expected = r + BUFFER;
    assert_non_null(x);
    for (int i = 0; i < 2 * BUFFER; i++)
        x[i] = (int32_t)below(1 << 10);
    static const uint32_t costs[] = {0, 0, 1, 1 << 20, 4000000000u};
    for (int trial = 0; trial < 1000; trial++) {
        calls c;
        calls_random(&c);
        for (int i = 0; i < BUFFER; i++)
            r[i] = expected[i] = -7;
        calls_oracle(&c, x, y, expected);
        for (int size = 0; size < COST_SIZES; size++)
            atomic_store(&made->cost[size], costs[below(5)]);
        if (!below(3))
            for (int size = 0; size < COST_SIZES; size++)
                atomic_store(&made->cost[size], 0);
        calls_launch(made, &c, x, y, r, (int)below(5));
        if (memcmp(r, expected, BUFFER * sizeof *r))
            fail_msg("trial %d: %d dimensions, extents %d %d .., n %d", trial, c.b.ndim, (int)c.b.extent[0],
                     (int)c.b.extent[1], (int)c.core[0]);
    }
    free(x);
    cpu_engine.release(made);
}

/* Flat loops cut over threads at any alignment. */
static void flat_cut(void **unused) {
    (void)unused;
    code *c = compile(add_flat, "uf_add");
    enum {
        N = 20000
    };
    float *x = malloc(3 * N * sizeof *x), *y = x + N, *r = y + N;
    assert_non_null(x);
    for (int i = 0; i < N; i++)
        x[i] = (float)i, y[i] = (float)(i % 7);
    for (int trial = 0; trial < 500; trial++) {
        int64_t n = 1 + below(below(2) ? 200 : N - 20), at = below(17);
        for (int i = 0; i < N; i++)
            r[i] = -1;
        flat f;
        flat_make(&f, DT_FLOAT32, 2, 1, n);
        f.data[0] = (char *)(x + below(N - n)), f.data[1] = (char *)y, f.data[2] = (char *)(r + at);
        f.l.threads = (int)below(5);
        const float *from = (const float *)(void *)f.data[0];
        atomic_store(&c->cost[0], below(3) ? 4000000000u : below(2) ? 100000 : 0);
        run(c, &f.l);
        for (int i = 0; i < N; i++)
            if (r[i] != (i >= at && i < at + n ? from[i - at] + y[i - at] : -1))
                fail_msg("trial %d: n %d at %d: element %d", trial, (int)n, (int)at, i);
    }
    free(x);
    cpu_engine.release(c);
}

static void numbers(void **unused) {
    (void)unused;
    code *c = compile(numbers_flat, "uf_numbers");
    double in[3] = {1.5, 2, 4}, r = 0;
    uint64_t values[3][2] = {{0}};
    memcpy(values[0], in, 16);
    memcpy(values[1], in + 2, 8);
    flat f;
    flat_make(&f, DT_FLOAT64, 2, 1, 1);
    f.v.operand[0] = (variant_operand){.memory = DT_COMPLEX128, .value = DT_COMPLEX128, .kind = OPERAND_NUMBER};
    f.v.operand[1].kind = OPERAND_NUMBER;
    f.data[2] = (char *)&r;
    f.l.numbers = (const uint64_t(*)[2])values;
    run(c, &f.l);
    assert_true(r == 9.5);
    atomic_store(&c->cost[0], 1);
    r = 0;
    run(c, &f.l);
    assert_true(r == 9.5);
    cpu_engine.release(c);
}

/* A buffer whose end, or beginning, touches memory that must not be touched. */
static char *guarded(size_t size, bool at_end) {
    size_t whole = (size + 4095) / 4096 * 4096;
    char *room = mmap(NULL, whole + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    assert_int_equal(mprotect(room + 4096, whole, PROT_READ | PROT_WRITE), 0);
    return at_end ? room + 4096 + whole - size : room + 4096;
}

static void guard_pages(void **unused) {
    (void)unused;
    code *c = compile(add_flat, "uf_add");
    for (int end = 0; end < 2; end++)
        for (int64_t n = 1; n < 200; n += 1 + n / 16) {
            size_t size = (size_t)n * 4;
            flat f;
            flat_make(&f, DT_FLOAT32, 2, 1, n);
            for (int k = 0; k < 3; k++)
                memset(f.data[k] = guarded(size, end), 0, size);
            run(c, &f.l);
            for (int k = 0; k < 3; k++) {
                char *room = (char *)((uintptr_t)f.data[k] & ~(uintptr_t)4095) - 4096;
                munmap(room, (size + 4095) / 4096 * 4096 + 8192);
            }
        }
    cpu_engine.release(c);
}

/* Stores past the caches: the same results as a plain run, at every alignment, on one thread and more. */
static void streaming(void **unused) {
    (void)unused;
    code *c = compile(add_flat, "uf_add");
    enum {
        N = (17 << 20) / 4,
        ROOM = 64
    };
    float *x = malloc(3 * (size_t)(N + ROOM) * sizeof *x), *y = x + N + ROOM, *r = y + N + ROOM;
    assert_non_null(x);
    for (int i = 0; i < N; i++)
        x[i] = (float)i, y[i] = (float)(i % 101);
    for (int trial = 0; trial < 4; trial++) {
        int64_t n = N - below(100), at = 1 + below(40);
        for (int i = 0; i < N + ROOM; i++)
            r[i] = -1;
        flat f;
        flat_make(&f, DT_FLOAT32, 2, 1, n);
        f.data[0] = (char *)x, f.data[1] = (char *)y, f.data[2] = (char *)(r + at);
        f.l.threads = trial % 2 ? 1 : 3;
#if defined(__x86_64__)
        assert_true(nontemporal_wanted(&f.l, n));
#endif
        assert_false(nontemporal_wanted(&f.l, 1000));
        run(c, &f.l);
        for (int i = 0; i < N + ROOM; i++)
            if (r[i] != (i >= at && i < at + n ? x[i - at] + y[i - at] : -1))
                fail_msg("n %d at %d: element %d", (int)n, (int)at, i);
        f.data[2] = f.data[1]; /* in place */
        assert_false(nontemporal_wanted(&f.l, n));
        f.data[2] = (char *)r + 2 * 64;
        f.v.nin = 1, f.v.nout = 2; /* outputs that are not aligned alike */
        f.data[1] = (char *)r + 4;
        assert_false(nontemporal_wanted(&f.l, n));
    }
    free(x);
    cpu_engine.release(c);
}

/* Flat loops whose code can write whole lines past the caches. */
static void by_lines(void **unused) {
    static const struct {
        dtype input, output, value;
        uint8_t kind; /* of the second input; interleaved: all are records of 16 bytes */
        int64_t n;
        bool masked, has_loop, lines, sums;
    } rows[] = {
        {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, OPERAND_CONTIGUOUS, 3 << 20, false, false, true, false},
        {DT_INT8, DT_INT8, DT_INT8, OPERAND_NUMBER, 17 << 20, false, false, true, false},
        {DT_FLOAT64, DT_FLOAT64, DT_FLOAT64, OPERAND_CONSTANT, 3 << 20, false, false, true, false},
        {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, OPERAND_CONTIGUOUS, 2 << 20, false, false, false, false},
        {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, OPERAND_CONTIGUOUS, 3 << 20, true, false, false, false},
        {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, OPERAND_CONTIGUOUS, 3 << 20, false, true, false, false},
        {DT_FLOAT32, DT_FLOAT64, DT_FLOAT64, OPERAND_CONTIGUOUS, 3 << 20, false, false, false, false},
        {DT_FLOAT32, DT_FLOAT32, DT_FLOAT64, OPERAND_CONTIGUOUS, 3 << 20, false, false, false, false},
        {DT_FLOAT16, DT_FLOAT16, DT_FLOAT16, OPERAND_CONTIGUOUS, 9 << 20, false, false, false, false},
        {DT_COMPLEX64, DT_COMPLEX64, DT_COMPLEX64, OPERAND_CONTIGUOUS, 3 << 20, false, false, false, false},
        {DT_COMPLEX64, DT_COMPLEX64, DT_COMPLEX64, OPERAND_CONTIGUOUS, 3 << 20, false, false, true, true},
        {DT_FLOAT16, DT_FLOAT16, DT_FLOAT16, OPERAND_CONTIGUOUS, 9 << 20, false, false, false, true},
        {DT_BOOL, DT_BOOL, DT_BOOL, OPERAND_CONTIGUOUS, 17 << 20, false, false, false, false},
        {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, OPERAND_INTERLEAVED, 1 << 20, false, false, true, false},
        {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, OPERAND_INTERLEAVED, 1 << 19, false, false, false, false},
        {DT_FLOAT32, DT_FLOAT64, DT_FLOAT64, OPERAND_INTERLEAVED, 1 << 20, false, false, false, false},
    };
    (void)unused;
#if defined(__x86_64__)
    for (size_t r = 0; r < COUNT(rows); r++) {
        flat f;
        code_traits traits = {.has_loop = rows[r].has_loop, .sums = rows[r].sums};
        flat_make(&f, rows[r].input, 2, 1, rows[r].n);
        f.v.operand[1].kind = rows[r].kind;
        for (int k = 0; k < 3 && rows[r].kind == OPERAND_INTERLEAVED; k++)
            f.v.operand[k] = (variant_operand){.memory = (uint8_t)rows[r].input,
                                               .value = (uint8_t)rows[r].input,
                                               .kind = OPERAND_INTERLEAVED,
                                               .group = (uint8_t)(k + 1),
                                               .record = 16};
        f.v.operand[2].memory = rows[r].output;
        f.v.operand[2].value = rows[r].value;
        f.v.masked = rows[r].masked;
        cpu_engine.specialise(&f.v, &(loop_problem){.loop = &f.loop, .traits = &traits});
        if (f.v.operand[2].nontemporal != rows[r].lines || f.v.operand[0].nontemporal)
            fail_msg("row %zu", r);
    }
#endif
}

/* ---- Threads, fork ---- */

static void *compile_and_run(void *user) {
    (void)user;
    for (int k = 0; k < 4; k++) {
        code *c = compile(k % 2 ? add_flat : nothing, k % 2 ? "uf_add" : "uf_nothing");
        if (k % 2)
            check_add(c, 100 + k);
        cpu_engine.release(c);
    }
    return NULL;
}

static void threads(void **unused) {
    (void)unused;
    pthread_t thread[8];
    for (size_t k = 0; k < COUNT(thread); k++)
        assert_int_equal(pthread_create(&thread[k], NULL, compile_and_run, NULL), 0);
    for (size_t k = 0; k < COUNT(thread); k++)
        pthread_join(thread[k], NULL);
}

static _Atomic bool stop;

static void *compile_on_and_on(void *user) {
    while (!atomic_load(&stop))
        cpu_engine.release(compile(nothing, "uf_nothing"));
    return user;
}

/* A child of a process that is compiling at that moment can compile and run what its parent had. Not under the address
 * sanitizer: its allocator (gcc 12) does not hold its locks over a fork as malloc does, and the child waits for ever. */
static void forks(void **unused) {
    (void)unused;
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    pthread_t thread;
    code *before = compile(add_flat, "uf_add");
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&thread, NULL, compile_on_and_on, NULL), 0);
    int status = 0;
    for (int k = 0; k < 5 && !status; k++) {
        usleep(3000);
        pid_t child = fork();
        if (!child) {
            alarm(30);
            code *c;
            float x[3] = {1, 2, 3}, y[3] = {4, 5, 6}, r[3] = {0};
            uint64_t words[] = {(uintptr_t)x, (uintptr_t)y, (uintptr_t)r, 3};
            before->run(words);
            bool good = r[2] == 9 && !try_compile(add_flat, "uf_add", NULL, 0, &c);
            words[1] = words[0];
            if (good)
                c->run(words);
            _exit(good && r[2] == 6 ? 0 : 1);
        }
        if (waitpid(child, &status, 0) != child)
            status = -1;
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(status, 0);
    cpu_engine.release(before);
}

/* ---- Memory ---- */

static void allocation_failures(void **unused) {
    (void)unused;
    code *c;
    uf_status status = UF_ERR_MEMORY;
    int failures = 0;
    for (; status; failures++) {
        code_module module = module_of(add_flat, "uf_add");
        allocations_fail_after(failures);
        status = cpu_engine.compile(&module, &(code_target){0}, 0, &c);
        allocations_succeed();
        text_free(&module.ir);
        if (status) {
            assert_int_equal(status, UF_ERR_MEMORY);
            assert_null(c);
        }
    }
    assert_true(failures > 1);
    check_add(c, 50);
    cpu_engine.release(c);
    code_module module = module_of(add_flat, "uf_add");
    text out = {0};
    allocations_fail_after(0);
    status = cpu_engine.inspect(&module, NULL, 0, UF_VIEW_ASSEMBLY, &out);
    allocations_succeed();
    assert_int_equal(status, UF_ERR_MEMORY);
    text_free(&out);
    text_free(&module.ir);
}

static void memory(void **unused) {
    (void)unused;
    DLDevice cpu = {kDLCPU, 0};
    static const size_t sizes[] = {0, 1, 63, 64, 100000, 5 << 20};
    for (size_t k = 0; k < COUNT(sizes); k++) {
        void *block, *copy;
        assert_int_equal(cpu_engine.alloc(cpu, sizes[k], &block), UF_OK);
        assert_int_equal(cpu_engine.scratch(0, sizes[k], NULL, &copy), UF_OK);
        assert_int_equal((uintptr_t)block % 64, 0);
        memset(block, 0x5a, sizes[k]);
        assert_int_equal(cpu_engine.copy(0, copy, block, sizes[k], NULL, true), UF_OK);
        assert_memory_equal(copy, block, sizes[k]);
        cpu_engine.free(cpu, block);
        cpu_engine.scratch_free(0, copy, NULL);
    }
    void *block = &block;
    assert_int_equal(cpu_engine.alloc(cpu, SIZE_MAX - 10, &block), UF_ERR_MEMORY);
    assert_null(block);
    allocations_fail_after(0);
    uf_status status = cpu_engine.alloc(cpu, 100, &block);
    allocations_succeed();
    assert_int_equal(status, UF_ERR_MEMORY);
    cpu_engine.free(cpu, NULL);
    assert_int_equal(cpu_engine.sync(0, NULL), UF_OK);
}

/* ---- Times of the processor, which are shown ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void times(void **unused) {
    (void)unused;
    double first = now();
    code *c = compile(add_flat, "uf_add");
    first = now() - first;
    float x[16], y[16], r[16];
    flat f;
    for (int i = 0; i < 16; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    flat_make(&f, DT_FLOAT32, 2, 1, 16);
    f.data[0] = (char *)x, f.data[1] = (char *)y, f.data[2] = (char *)r;
    double best = 1e9;
    for (int k = 0; k < 20; k++) {
        double t = now();
        for (int i = 0; i < 10000; i++)
            cpu_engine.launch(c, &f.l);
        t = (now() - t) * 100;
        best = t < best ? t : best;
    }
    print_message("a compilation %.2f ms, a launch of 16 elements %.1f ns\n", first, best);
    for (int i = 0; i < 16; i++)
        assert_true(r[i] == (float)(i + 1));
    cpu_engine.release(c);
}

static void information(void **unused) {
    (void)unused;
    text out = {0};
    code_target target;
    assert_int_equal(cpu_engine.target(0, &target), UF_OK);
    assert_true(target.vector_bits == 128 || target.vector_bits == 256 || target.vector_bits == 512);
    assert_false(target.gpu);
    assert_int_equal(cpu_engine.target(-90, &target), UF_ERR_ARGUMENT);
    cpu_engine.info(&out);
    const llvm *l;
    assert_int_equal(llvm_open(&l), UF_OK);
    assert_non_null(strstr(out.data, l->version));
    assert_non_null(strstr(out.data, l->path));
    assert_non_null(strstr(out.data, "libmvec"));
    assert_non_null(strstr(l->features, ",-sse4a")); /* what comes last counts */
    text_free(&out);
}

/* ---- Processes of their own ---- */

static int run_child(const char *role, const char *library) {
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        setenv("CHILD", role, 1);
        if (library)
            setenv("UFUNC_LLVM", library, 1);
        execl("/proc/self/exe", "test_cpu", (char *)NULL);
        _exit(126);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The file does not exist: the error says so, how to steer the search, and what to install. */
static int child_missing(void) {
    code_target target;
    code *c;
    const char *message = uf_last_error()->message, *file = getenv("UFUNC_LLVM");
    if (!file || cpu_engine.target(0, &target) != UF_ERR_LIBRARY || !strstr(message, file) ||
        !strstr(message, "UFUNC_LLVM=") || !strstr(message, "apt-get install libllvm15"))
        return 1;
    if (try_compile(nothing, "uf_nothing", NULL, 0, &c) != UF_ERR_LIBRARY || c)
        return 2;
    text out = {0};
    cpu_engine.info(&out);
    if (!strstr(out.data, "missing") || !strstr(out.data, file))
        return 3;
    text_free(&out);
    cpu_engine.release(NULL);
    unsetenv("UFUNC_LLVM"); /* the search is made again */
    return cpu_engine.target(0, &target) ? 4 : 0;
}

/* The file is another library. */
static int child_other(void) {
    code_target target;
    if (cpu_engine.target(0, &target) != UF_ERR_LIBRARY || !strstr(uf_last_error()->message, "LLVMInitialize"))
        return 1;
    return strstr(uf_last_error()->message, "libm.so.6") ? 0 : 2;
}

/* A library that says it is version 99, and does what the one does that the other variables name: one that is not tested is tried
 * out before it is used. */
static int child_newer(void) {
    code_target target;
    code *c;
    const llvm *l;
    const char *file = getenv("UFUNC_LLVM");
    setenv("MOCKLLVM_BREAKS", "parse", 1);
    if (cpu_engine.target(0, &target) != UF_ERR_LIBRARY)
        return 1;
    static const char *const parts[] = {"version 99.1.0", "15 to 22", "does not read the code that is generated: mock",
                                        "UFUNC_LLVM_UNTRIED=1", "UFUNC_LLVM=<file>"};
    for (size_t k = 0; k < COUNT(parts); k++)
        if (!strstr(uf_last_error()->message, parts[k]) || !strstr(uf_last_error()->message, file))
            return 2;
    setenv("MOCKLLVM_BREAKS", "emit", 1);
    if (cpu_engine.target(0, &target) != UF_ERR_LIBRARY ||
        !strstr(uf_last_error()->message, "does not compile the code that is generated: mock"))
        return 3;
    setenv("UFUNC_LLVM_UNTRIED", "1", 1); /* is believed: compiling then says what is wrong */
    if (cpu_engine.target(0, &target) || try_compile(nothing, "uf_nothing", NULL, 0, &c) != UF_ERR_COMPILE)
        return 4;
    return llvm_open(&l) || strcmp(l->version, "99.1.0") ? 5 : 0;
}

/* Does LLVM know the passes of each kind of module? */
static bool knows_all_passes(void) {
    code_target target = {.vector_bits = 128};
    bool knows = true;
    for (int kind = 0; kind < 4; kind++) {
        code *c;
        code_module module = module_of(nothing, "uf_nothing");
        module.outer_vectors = kind == 1;
        module.plain = kind == 2;
        module.straight = kind == 3;
        bool compiled = !cpu_engine.compile(&module, &target, 0, &c);
        if (compiled)
            cpu_engine.release(c);
        knows &= compiled;
        text_free(&module.ir);
    }
    return knows;
}

/* The same library, nothing being wrong with it, is used. One target machine serves a compilation after the other, also after one
 * whose passes fail. */
static int child_newer_good(void) {
    code *c;
    const llvm *l;
    if (llvm_open(&l) || strcmp(l->version, "99.1.0"))
        return 1;
    void *mock = dlopen(getenv("UFUNC_LLVM"), RTLD_NOW | RTLD_NOLOAD);
    int (*machines)(void) = mock ? (int (*)(void))(uintptr_t)dlsym(mock, "mockllvm_machines") : NULL;
    if (!machines)
        return 2;
    int made = 0;
    for (int k = 0; k < 3; k++) {
        setenv("MOCKLLVM_BREAKS", "passes", 1);
        if (try_compile(nothing, "uf_nothing", NULL, 0, &c) != UF_ERR_COMPILE ||
            !strstr(uf_last_error()->message, "kernel 'uf_nothing': optimisation: "))
            return 5;
        unsetenv("MOCKLLVM_BREAKS");
        if (try_compile(nothing, "uf_nothing", NULL, 0, &c))
            return 3;
        cpu_engine.release(c);
        if (k && machines() != made)
            return 4;
        made = machines();
    }
    return knows_all_passes() ? 0 : 6;
}

/* A library that says it is version 14, which is known to compute wrong results. */
static int child_older(void) {
    code_target target;
    setenv("MOCKLLVM_VERSION", "14", 1);
    if (cpu_engine.target(0, &target) != UF_ERR_LIBRARY)
        return 1;
    return strstr(uf_last_error()->message, "is version 14.1.0") && strstr(uf_last_error()->message, "15 to 22") ? 0
                                                                                                                 : 2;
}

static int child_version(void) {
    const llvm *l;
    if (llvm_open(&l))
        return SKIPPED;
    print_message("LLVM %s, %s\n", l->version, l->path);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_every_length),
        cmocka_unit_test(kept_launches),
        cmocka_unit_test(flat_heads),
        cmocka_unit_test(vector_math),
        cmocka_unit_test(short_code),
        cmocka_unit_test(far_symbol),
        cmocka_unit_test(bad_modules),
        cmocka_unit_test(gathers),
        cmocka_unit_test(cycles),
        cmocka_unit_test(times),
    };
    return cmocka_run_group_tests_name("a version of LLVM", tests, NULL, NULL) ? 1 : 0;
}

static void missing_library(void **unused) {
    (void)unused;
    assert_int_equal(run_child("missing", "/nowhere/libLLVM.so"), 0);
    assert_int_equal(run_child("other", "libm.so.6"), 0);
}

static void newer_version(void **unused) {
    (void)unused;
    char mock[PATH_MAX];
    const llvm *l;
    assert_int_equal(llvm_open(&l), UF_OK);
    ssize_t length = readlink("/proc/self/exe", mock, sizeof mock - 32);
    assert_true(length > 0);
    mock[length] = '\0';
    strcpy(strrchr(mock, '/') + 1, "libmockllvm.so");
    setenv("MOCKLLVM_REAL", l->path, 1);
    assert_int_equal(run_child("newer", mock), 0);
    assert_int_equal(run_child("newer good", mock), 0);
    assert_int_equal(run_child("older", mock), 0);
    unsetenv("MOCKLLVM_REAL");
}

static void every_version(void **unused) {
    (void)unused;
    static const char *const names[] = {"libLLVM-15.so.1", "libLLVM-16.so.1", "libLLVM-17.so.1", "libLLVM.so.18.1",
                                        "libLLVM.so.19.1", "libLLVM.so.20.1", "libLLVM.so.21.1", "libLLVM.so.22.1"};
    int ran = 0;
    for (size_t k = 0; k < COUNT(names); k++) {
        int exit_code = run_child("version", names[k]);
        if (exit_code == SKIPPED)
            continue;
        ran++;
        if (exit_code)
            fail_msg("%s: %d", names[k], exit_code);
    }
    assert_true(ran > 0);
}

static int run_role(const char *role) {
    static const struct {
        const char *name;
        int (*run)(void);
    } roles[] = {{"missing", child_missing},       {"other", child_other}, {"newer", child_newer},
                 {"newer good", child_newer_good}, {"older", child_older}, {"version", child_version}};
    for (size_t k = 0; k < COUNT(roles); k++)
        if (!strcmp(role, roles[k].name))
            return roles[k].run();
    return 126;
}

int main(void) {
    const char *role = getenv("CHILD");
    if (role)
        return run_role(role);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gathers),
        cmocka_unit_test(missing_library),
        cmocka_unit_test(newer_version),
        cmocka_unit_test(every_version),
        cmocka_unit_test(information),
        cmocka_unit_test(nested),
        cmocka_unit_test(inner_calls_anyhow),
        cmocka_unit_test(flat_cut),
        cmocka_unit_test(numbers),
        cmocka_unit_test(guard_pages),
        cmocka_unit_test(streaming),
        cmocka_unit_test(by_lines),
        cmocka_unit_test(threads),
        cmocka_unit_test(forks),
        cmocka_unit_test(allocation_failures),
        cmocka_unit_test(memory),
        cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
