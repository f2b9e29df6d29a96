/* gu_random.c - random generalized ufuncs on random arrays; floating sums against exact ones. */
#include "gu_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gu_case.h"

#undef fail /* base.h's */
#include <cmocka.h>

static struct { int64_t programs, calls, rejected, unending, ambiguous; } count;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(double n) {
    const char *scale = getenv("PROP_N");
    return scale ? n * atof(scale) : n;
}

/* One set of arrays; what takes the interpreter too long is drawn smaller. */
static void run_round(gu_case *x, const uf_func *f, int class) {
    gu_verdict verdict;
    for (;; class --) {
        x->steps = class == 3 ? 3000000 : 200000;
        gu_draw(x, class);
        verdict = gu_interpret(x);
        if (verdict != GU_LONG || class == 0)
            break;
        gu_release(x);
    }
    count.unending += verdict == GU_LONG;
    count.ambiguous += verdict == GU_AMBIGUOUS;
    count.calls += verdict == GU_FINE;
    if (verdict == GU_FINE && gu_gpu)
        gu_run_gpu(x, f);
    else if (verdict == GU_FINE)
        gu_run_cpu(x, f);
    if (verdict == GU_FINE)
        gu_run_infer(x, f);
    gu_release(x);
}

static int draw_class(gu_case *x) {
    int64_t way = random_between(&x->s, 0, 99);
    return way < 60 ? 0 : way < 84 ? 1 : way < 96 ? 2 : 3;
}

static void run_case(gu_case *x, int rounds) {
    uf_func *f = NULL;
    const core_program *c = &x->c;
    bool fits = gu_check(x);
    uf_status status = uf_guvectorize(&f, "random", c->layout.data, c->p.signature, c->p.source.data);
    if (fits) {
        gu_must(x, "registration", status);
        for (int round = 0; round < rounds; round++)
            run_round(x, f, draw_class(x));
        count.programs++;
    } else {
        if (status != UF_ERR_TYPE && status != UF_ERR_SYNTAX)
            print_error("%s\n%s\n", c->p.source.data, uf_last_error()->message);
        assert_true(status == UF_ERR_TYPE || status == UF_ERR_SYNTAX);
        if (getenv("UF_VERBOSE"))
            print_message("%s\n", uf_last_error()->message);
        count.rejected++;
    }
    uf_free(f);
    core_program_free(&x->c);
    arena_free(&x->a);
}

void gu_random_programs(void **state) {
    static gu_case x;
    uint64_t seed = *(uint64_t *)*state;
    double end = now() + seconds(3.5);
    memset(&count, 0, sizeof count);
    do {
        x = (gu_case){.seed = seed, .s = {seed}};
        seed++;
        random_core_program(&x.c, &x.s);
        run_case(&x, 2);
    } while (now() < end);
    print_message(
        "%lld programs in %lld calls; %lld do not type-check, %lld calls are too long, %lld have no one result\n",
        (long long)count.programs, (long long)count.calls, (long long)count.rejected, (long long)count.unending,
        (long long)count.ambiguous);
    if (count.programs + count.rejected > 50)
        assert_true(count.programs > 2 * count.rejected && 20 * count.ambiguous < count.calls);
}

/* ---- Floating sums ---- */

/* Layouts of plain names and rank at most 3. */
static const struct {
    const char *layout, *source;
} sums[] = {
    {"(n)->()", "(x) -> (s) { s = sum(i : n, x[i]); }"},
    {"(n)->()", "(x) -> (s) { s = sum(i : n, x[i]) / n; }"},
    {"(n)->()", "(x) -> (s) { for (int64 i = 0; i < n; i++) s += x[i]; }"},
    {"(n),(n)->()", "(x, y) -> (s) { s = sum(i : n, x[i] * y[i]); }"},
    {"(n)->(n)", "(x) -> (y) { auto s = sum(i : n, x[i]); forall (i : n) y[i] = x[i] - s; }"},
    {"(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = x[i] - sum(j : 5, x[i - j]); }"},
    {"(m,n)->()", "(x) -> (s) { s = sum(i : m, j : n, x[i][j]); }"},
    {"(m,n)->()", "(x) -> (s) { s = sum(i : m, sum(j : n, x[i][j])); }"},
    {"(m,n)->(m)", "(x) -> (s) { forall (i : m) s[i] = sum(j : n, x[i][j]); }"},
    {"(m,n)->(n)", "(x) -> (s) { forall (j : n) s[j] = sum(i : m, x[i][j]); }"},
    {"(m,n),(n)->(m)", "(x, v) -> (s) { forall (i : m) s[i] = sum(j : n, x[i][j] * v[j]); }"},
    {"(m,n),(m)->(n)", "(x, v) -> (s) { forall (j : n) s[j] = sum(i : m, x[i][j] * v[i]); }"},
    {"(m,n),(n,p)->(m,p)", "(a, b) -> (c) { forall (i : m, k : p) c[i][k] = sum(j : n, a[i][j] * b[j][k]); }"},
    {"(m,n),(n,p)->(m,p)",
     "(a, b) -> (c) { forall (i : m) forall (k : p) { auto t = a[i][0] * 0; for (int64 j = 0; j < n; j++) "
     "t += a[i][j] * b[j][k]; c[i][k] = t; } }"},
    {"(m,n),(p,n)->(m,p)", "(a, b) -> (c) { forall (i : m, k : p) c[i][k] = sum(j : n, a[i][j] * b[k][j]); }"},
    {"(n)->(),()", "(x) -> (s, t) { s = sum(i : n, x[i]); t = sum(i : n, x[n - 1 - i] * x[i]); }"},
};

static void from_layout(core_program *c, const char *layout) {
    static const char letters[] = "nmp";
    int k = 0;
    for (const char *p = layout; *p; p++) {
        core_operand *o = &c->operand[k];
        const char *letter = strchr(letters, *p);
        if (letter) {
            o->dim[o->rank++] = (core_dim){.kind = CORE_NAME, .name = (int)(letter - letters)};
            c->in_inputs[letter - letters] = true;
        }
        c->p.nin = p[0] == '-' ? k : c->p.nin;
        k += *p == ')';
    }
    c->p.nout = k - c->p.nin;
    text_puts(&c->layout, layout);
}

void gu_sums(void **state) {
    static const dtype types[] = {DT_FLOAT16, DT_BFLOAT16, DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};
    static gu_case x;
    uint64_t seed = *(uint64_t *)*state;
    double end = now() + seconds(1.5);
    memset(&count, 0, sizeof count);
    do {
        text signature = {0};
        size_t which = (size_t)(seed % COUNT(sums));
        x = (gu_case){.seed = seed, .s = {seed}, .tolerant = true};
        seed++;
        core_program *c = &x.c;
        from_layout(c, sums[which].layout);
        dtype t = types[random_between(&x.s, 0, (int64_t)COUNT(types) - 1)];
        for (int k = 0; k < c->p.nin + c->p.nout; k++)
            c->p.types[k] = t;
        text_puts(&c->p.source, sums[which].source);
        signature_print(&signature, c->p.types, c->p.nin, c->p.nout);
        snprintf(c->p.signature, sizeof c->p.signature, "%s", signature.data);
        text_free(&signature);
        run_case(&x, 2);
    } while (now() < end);
    print_message("%lld calls\n", (long long)count.calls);
    assert_int_equal(count.rejected, 0);
}
