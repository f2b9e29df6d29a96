/* test_emit.c - the IR emitter: typed trees built by hand, judged by every LLVM and libNVVM found, run and compared with C. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "element_module.h"
#include "failing.h"
#include "ir/common/emit.h"
#include "ir_check.h"
#include "wide.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

static const code_target gpu = {.gpu = true, .arch = 90};
static const code_target plain_cpu = {0};
static code_target host; /* as the engine would say */

static arena memory;

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

/* ---- Modules ---- */

static code_module module_of(const tree *t, const code_target *target, unsigned fast, unsigned flags) {
    return element_module(&memory, t, target, fast, flags);
}

enum {
    DEBUG_TOO = 16
};

static void accept_everywhere(const tree *t, unsigned fast, unsigned how) {
    const code_target *targets[] = {&plain_cpu, &host, &gpu};
    for (size_t k = 0; k < COUNT(targets); k++)
        for (unsigned debug = 0; debug < (how & DEBUG_TOO ? 2 : 1); debug++) {
            code_module m = module_of(t, targets[k], fast, debug ? UF_DEBUG : 0);
            assert_true(judge_accept(&m, targets[k], how, random_bits()));
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
    accept_everywhere(rel_diff_tree(DT_FLOAT32), 0, JUDGE_ASSEMBLE | DEBUG_TOO);
    accept_everywhere(rel_diff_tree(DT_FLOAT64), UF_FAST_ALL, JUDGE_ONE_ARCH);
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
    accept_everywhere(math_tree(DT_FLOAT32), 0, JUDGE_ONE_ARCH);
    accept_everywhere(math_tree(DT_FLOAT64), 0, JUDGE_ONE_ARCH);
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
        assert_true(judge_accept(&m, &gpu, JUDGE_ONE_ARCH, random_bits()));
        text_free(&m.ir);
    }
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

/* Runs the module's entry over arrays on one judge. */
static void run_entry(int i, const code_module *m, int level, char **arrays, int64_t n) {
    judged *result = judge_compile(i, m, level);
    ((void (*)(char **, int64_t))judge_address(result, "entry"))(arrays, n);
    judge_free(result);
}

static void run_control(int i, int level) {
    enum {
        COUNT_ALL = 20 * 60
    };
    code_module m = module_of(control_tree(), &host, 0, UF_DEBUG);
    int32_t x[COUNT_ALL], n[COUNT_ALL], r[COUNT_ALL];
    for (int k = 0; k < COUNT_ALL; k++) {
        x[k] = k % 20 - 5;
        n[k] = k / 20;
    }
    char *arrays[] = {(char *)x, (char *)n, (char *)r};
    run_entry(i, &m, level, arrays, COUNT_ALL);
    for (int k = 0; k < COUNT_ALL; k++)
        if (r[k] != control_in_c(x[k], n[k]))
            fail_msg("%s: control(%d, %d) is %d, not %d", judge_name(i), x[k], n[k], r[k], control_in_c(x[k], n[k]));
    text_free(&m.ir);
}

static void test_control(void **state) {
    (void)state;
    accept_everywhere(control_tree(), 0, JUDGE_ASSEMBLE | DEBUG_TOO);
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
            run_entry(i, &m, level, arrays, 64);
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
    accept_everywhere(complex_tree(), 0, JUDGE_ASSEMBLE | DEBUG_TOO);
    float x[8] = {1, 2, 3, -4, 5, 6, 0, 0}, y[8] = {2, 1, 3, -4, 0.5, 0.25, 1, 0}, z[8];
    const float want[8] = {-25, 0, -3, 4, (1 - 18.0625f), 8.5f, 0, 0}; /* (x y)^2, or -x where x is y */
    bool b[4];
    char *arrays[] = {(char *)x, (char *)y, (char *)z, (char *)b};
    for (int i = 0; i < judge_count(); i++) {
        code_module m = module_of(complex_tree(), &host, 0, 0);
        run_entry(i, &m, 3, arrays, 4);
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
    judged *result = judge_compile(i, &m, 3);
    void (*f)(char **, int64_t) = (void (*)(char **, int64_t))judge_address(result, "entry");
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
        if (!same_bits(out, all + k * rsize, one + k * rsize))
            fail_msg("%s: %s %s of %Lg depends on the position", judge_name(i), dtypes[in].name, name,
                     read_wide(in, x + k * size).re);
    judge_free(result);
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

/* ---- Division: what compilers conclude from the signs of its operands ---- */

static node *root(dtype t) { return math("sqrt", t, var(t, 0)); }
static node *quotient(node *a, node *b) { return binary(OP_DIV, a, b); }

/* (x) -> (below) { t r; first; r = value; below = r < 0; } */
static tree *below_zero_tree(dtype t, node *first, node *value) {
    function *f = new_function("kernel", 1, 1, 3, (dtype[]){t, DT_BOOL, t});
    node *below = eval(assign(var(DT_BOOL, 1), binary(OP_LT, var(t, 2), number_node(t, 0))));
    f->body = list(eval(first), eval(assign(var(t, 2), value)), below, make(N_RETURN, DT_NONE), NULL);
    return new_tree(f);
}

/* The same of 1 / sqrt(x), computed by a helper. */
static tree *helper_quotient_tree(dtype t) {
    function *helper = new_function("ratio", 2, 1, 3, (dtype[]){t, t, t});
    helper->body = list(eval(assign(var(t, 2), quotient(var(t, 0), var(t, 1)))), make(N_RETURN, DT_NONE), NULL);
    node *call = make(N_CALL, t);
    call->callee = helper;
    call->args = list(number_node(t, 1), root(t), NULL);
    tree *result = below_zero_tree(t, number_node(t, 0), call);
    helper->next = result->kernel;
    return new_tree(helper);
}

/* Kernels whose quotient is -infinity for an x of -0, and infinity for one of 0. */
static int sign_trees(dtype t, tree **trees) {
    int count = 0;
    dtype other = t == DT_FLOAT32 ? DT_FLOAT64 : DT_FLOAT32;
    node *none = number_node(t, 0), *one = number_node(t, 1);
    trees[count++] = below_zero_tree(t, none, quotient(one, root(t)));
    trees[count++] = below_zero_tree(t, none, quotient(one, binary(OP_MUL, number_node(t, 2), root(t))));
    trees[count++] = below_zero_tree(t, none, quotient(one, binary(OP_ADD, root(t), number_node(t, -0.0))));
    trees[count++] =
        below_zero_tree(t, none, quotient(one, convert(t, math("sqrt", other, convert(other, var(t, 0))))));
    node *square = binary(OP_MUL, var(t, 0), var(t, 0));
    trees[count++] = below_zero_tree(t, none, quotient(binary(OP_ADD, square, one), root(t)));
    trees[count++] = below_zero_tree(t, assign(var(t, 0), root(t)), quotient(one, var(t, 0)));
    trees[count++] = below_zero_tree(t, assign(var(t, 2), one), compound(OP_DIV, t, var(t, 2), root(t)));
    trees[count++] = helper_quotient_tree(t);
    return count;
}

static void check_sign_cpu(const tree *t, dtype type, int which) {
    code_module m = module_of(t, &host, 0, 0);
    for (int i = 0; i < judge_count(); i++) {
        judged *result = judge_compile(i, &m, 3);
        void (*f)(char **, int64_t) = (void (*)(char **, int64_t))judge_address(result, "entry");
        char x[2 * 8], below[2];
        write_wide(DT_FLOAT64, (wide_value){-0.0, 0}, type, x);
        write_wide(DT_FLOAT64, (wide_value){0.0, 0}, type, x + dtypes[type].size);
        f((char *[]){x, below}, 2);
        if (below[0] != 1 || below[1] != 0)
            fail_msg("%s, %s, kernel %d: below 0 for -0: %d, for 0: %d", judge_name(i), dtypes[type].name, which,
                     below[0], below[1]);
        judge_free(result);
    }
    text_free(&m.ir);
}

/* libNVVM, of either dialect, has left the comparison in the code. */
static void check_sign_gpu(const tree *t, dtype type, int which) {
    static const int archs[] = {90, 100};
    const char *ptx;
    for (size_t k = 0; k < COUNT(archs); k++) {
        const code_target target = {.gpu = true, .arch = archs[k]};
        code_module m = module_of(t, &target, 0, 0);
        assert_null(nvvm_judge(&m, target.arch, false, &ptx));
        if (!strstr(ptx, "setp.lt."))
            fail_msg("%s, kernel %d: nothing is compared in\n%s", dtypes[type].name, which, ptx);
        text_free(&m.ir);
    }
}

static void test_signs_of_quotients(void **state) {
    (void)state;
    tree *trees[16];
    for (dtype t = DT_FLOAT32; t <= DT_FLOAT64; t++)
        for (int k = 0, count = sign_trees(t, trees); k < count; k++) {
            check_sign_cpu(trees[k], t, k);
            if (nvvm_found())
                check_sign_gpu(trees[k], t, k);
        }
}

/* Does the module of "value < 0" have the instruction, and nothing else for the quotient? */
static void expect_plain(node *value, dtype other, bool compared) {
    dtype t = (dtype)value->type;
    node *result = compared ? binary(OP_LT, value, number_node(t, 0)) : value;
    code_module m = module_of(expression_tree(2, (dtype[]){t, other, (dtype)result->type}, result), &host, 0, 0);
    if (!strstr(m.ir.data, " = fdiv ") || strstr(m.ir.data, "@fdiv_"))
        fail_msg("divided with care:\n%s", m.ir.data);
    text_free(&m.ir);
}

/* Where nothing false can be concluded, or nothing is compared, a division is one instruction. */
static void test_plain_quotients(void **state) {
    (void)state;
    dtype t = DT_FLOAT32;
    node *x = var(t, 0), *y = var(t, 1), *one = number_node(t, 1);
    expect_plain(quotient(x, root(t)), t, true);
    expect_plain(quotient(root(t), y), t, true);
    expect_plain(quotient(root(t), number_node(t, 3)), t, true);
    expect_plain(quotient(one, binary(OP_ADD, root(t), one)), t, true);
    expect_plain(quotient(one, unary(OP_NEG, binary(OP_SUB, root(t), y))), t, true);
    expect_plain(quotient(binary(OP_MUL, number_node(t, 2), y), root(t)), t, true);
    expect_plain(quotient(root(t), convert(t, var(DT_UINT32, 1))), DT_UINT32, true);
    expect_plain(quotient(convert(t, var(DT_FLOAT16, 1)), root(t)), DT_FLOAT16, true);
    expect_plain(quotient(three(N_IMAG, t, var(DT_COMPLEX64, 1), NULL, NULL), root(t)), DT_COMPLEX64, true);
    expect_plain(quotient(one, root(t)), t, false);
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
    node *inner = math("tan", DT_FLOAT32, var(DT_FLOAT32, 0));
    return expression_tree(1, (dtype[]){DT_FLOAT32, DT_FLOAT64}, math("tan", DT_FLOAT64, convert(DT_FLOAT64, inner)));
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
#if !defined(__x86_64__)
    skip();
#endif
    static const struct {
        int bits;
        const char *cpu, *tan32, *tan64, *half32, *twice64;
    } rows[] = {{512, "skylake-avx512", "@_ZGVeN16v_tanf(", "@_ZGVeN8v_tan(", "@m_tan_f32_x8(", "@m_tan_f64_x16("},
                {256, "haswell", "@_ZGVdN8v_tanf(", "@_ZGVdN4v_tan(", "@m_tan_f32_x4(", "@m_tan_f64_x8("},
                {128, "x86-64", "@_ZGVbN4v_tanf(", "@_ZGVbN2v_tan(", "@m_tan_f32_x2(", "@m_tan_f64_x4("}};
    const tree *tan32 = math_call_tree("tan", DT_FLOAT32, DT_FLOAT32, DT_FLOAT32);
    const tree *tan64 = math_call_tree("tan", DT_FLOAT64, DT_FLOAT64, DT_FLOAT64);
    const tree *inner64 = math_call_tree("tan", DT_FLOAT32, DT_FLOAT64, DT_FLOAT32), *mixed = mixed_tree();
    for (size_t k = 0; k < COUNT(rows); k++) {
        code_target t = {.vector_bits = rows[k].bits};
        const char *const only32[] = {rows[k].tan32, ""}, *const only64[] = {rows[k].tan64, ""};
        const char *const narrow[] = {rows[k].tan64, rows[k].half32}, *const broad[] = {rows[k].tan32, rows[k].twice64};
        const char *const twice[] = {rows[k].twice64, ""};
        expect_calls(tan32, &t, rows[k].cpu, only32, only32);
        expect_calls(tan64, &t, rows[k].cpu, only64, only64);
        expect_calls(inner64, &t, rows[k].cpu, twice, only64);
        expect_calls(mixed, &t, rows[k].cpu, narrow, broad);
    }
}

/* Functions that we have forms of: the form where vectors are as wide as it asks for, libmvec's routine elsewhere, by type. The passes that inline
 * it are not run. */
static void test_vector_forms(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    static const struct {
        const char *name;
        int bits[2]; /* of the narrowest vectors, of float32 and float64; 0: there is none */
    } rows[] = {{"atan2", {512, 512}}, {"cos", {256, 0}},   {"exp", {256, 256}}, {"exp2", {256, 256}},
                {"log", {256, 512}},   {"pow", {512, 512}}, {"sin", {256, 0}},   {"tanh", {512, 512}}};
    static const struct {
        int bits;
        const char *cpu, *letter;
    } widths[] = {{512, "skylake-avx512", "e"}, {256, "haswell", "d"}, {128, "x86-64", "b"}};
    for (size_t k = 0; k < 2 * COUNT(rows); k++) {
        dtype type = k % 2 ? DT_FLOAT64 : DT_FLOAT32;
        const char *name = rows[k / 2].name, *more = math_find(name, strlen(name))->arity == 2 ? "v" : "";
        const tree *call = math_call_tree(name, type, type, type);
        int least = rows[k / 2].bits[k % 2];
        for (size_t w = 0; w < COUNT(widths); w++) {
            char wanted[32];
            const char *const pair[] = {wanted, ""};
            if (least && widths[w].bits >= least)
                snprintf(wanted, sizeof wanted, "@v_%s_%s(", name, k % 2 ? "f64" : "f32");
            else if (!strcmp(name, "log") && widths[w].bits > 128)
                snprintf(wanted, sizeof wanted, "@v_log_in_domain_f64(");
            else
                snprintf(wanted, sizeof wanted, "@_ZGV%sN%dv%s_%s%s(", widths[w].letter,
                         widths[w].bits / 8 / dtypes[type].size, more, name, k % 2 ? "" : "f");
            expect_calls(call, &(code_target){.vector_bits = widths[w].bits}, widths[w].cpu, pair, pair);
        }
    }
}

/* Functions of libmvec with a domain are called of vectors that lie in it; in the others NaN takes the place of what lies outside. */
static void test_domains(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    static const char *const names[] = {"acos", "acosh", "asin", "atanh", "log", "log10", "log1p", "log2"};
    for (size_t k = 0; k < 2 * COUNT(names); k++) {
        const dtype type = k % 2 ? DT_FLOAT64 : DT_FLOAT32;
        char routine[48], head[64];
        for (int bits = 128; bits <= 512; bits *= 2) {
            if (!strcmp(names[k / 2], "log") && bits >= (k % 2 ? 512 : 256))
                continue; /* our own */
            const code_target t = {.vector_bits = bits};
            code_module m = module_of(math_call_tree(names[k / 2], type, type, type), &t, 0, 0);
            snprintf(routine, sizeof routine, "@_ZGV%cN%dv_%s%s(",
                     bits == 128   ? 'b'
                     : bits == 256 ? 'd'
                                   : 'e',
                     bits / 8 / dtypes[type].size, names[k / 2], k % 2 ? "" : "f");
            assert_non_null(strstr(m.ir.data, routine));
            snprintf(head, sizeof head, "@v_%s_outside_%s(", names[k / 2], k % 2 ? "f64" : "f32");
            const char *call = strstr(m.ir.data, head), *defined = call ? strstr(call + 1, head) : NULL;
            assert_true(!defined == (bits == 128));
            if (defined)
                assert_non_null(strstr(strstr(defined, "select"), routine));
            text_free(&m.ir);
        }
    }
}

/* A vector twice as wide as libmvec's is two calls: of its halves, and of nothing else. */
static void test_doubled(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    code_target t = {.vector_bits = 512};
    code_module m = module_of(math_call_tree("tan", DT_FLOAT32, DT_FLOAT32, DT_FLOAT32), &t, 0, 0);
    const char *at = function_text(m.ir.data, "define internal <32 x float> @m_tan_f32_x32(");
    int calls = 0;
    while ((at = strstr(at, "call <16 x float> @_ZGVeN16v_tanf("))) {
        calls++;
        at++;
    }
    assert_int_equal(calls, 2);
    text_free(&m.ir);
}

static int times(const char *at, const char *part) {
    int n = 0;
    for (; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* Loops that call routines of whole vectors compute one vector at a time, of as many lanes as these have, also where elements in memory are
 * shorter or longer; others leave it to LLVM. What is left goes by one vector more, where lanes have conditions: of 512 bits, and of 256 where elements
 * in memory have 4 or 8 bytes. */
static void test_one_vector(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    static const struct {
        const char *function;
        dtype memory;
        int bits;
        bool one;
        int lanes; /* that are said; 0: LLVM's choice, which is right */
    } rows[] = {
        {"sin", DT_FLOAT32, 512, true, 0},  {"sin", DT_FLOAT32, 256, true, 0},   {"exp", DT_FLOAT32, 512, true, 0},
        {"exp", DT_FLOAT32, 128, true, 0},  {"sqrt", DT_FLOAT32, 512, false, 0}, {"sin", DT_FLOAT16, 512, true, 16},
        {"exp", DT_BFLOAT16, 256, true, 8}, {"exp", DT_INT8, 512, true, 16},     {"exp", DT_INT8, 256, true, 8},
        {"exp", DT_FLOAT64, 512, true, 16}, {"sqrt", DT_FLOAT16, 512, false, 0}};
    for (size_t r = 0; r < COUNT(rows); r++) {
        code_target t = {.vector_bits = rows[r].bits};
        const tree *call = math_call_tree(rows[r].function, DT_FLOAT32, DT_FLOAT32, DT_FLOAT32);
        arena a = {0};
        variant v = {.loop = LOOP_FLAT, .ndim = 1, .nin = 1, .nout = 1};
        code_module m = {.nsymbols = 0};
        char width[64];
        snprintf(width, sizeof width, "llvm.loop.vectorize.width\", i32 %d}", rows[r].lanes);
        for (int k = 0; k < 2; k++)
            v.operand[k] = (variant_operand){.memory = (uint8_t)rows[r].memory, .value = DT_FLOAT32};
        assert_int_equal(ir_elementwise(&a, "f", call, &v, &t, &m), UF_OK);
        bool conditions = rows[r].bits == 512 || (rows[r].bits == 256 && dtypes[rows[r].memory].size >= 4);
        int rest = rows[r].one && conditions;
        if (times(m.ir.data, "llvm.loop.interleave.count\", i32 1}") != rows[r].one + rest ||
            times(m.ir.data, "llvm.loop.vectorize.width") != (rows[r].lanes > 0) + rest ||
            (rows[r].lanes && !strstr(m.ir.data, width)))
            fail_msg("%s of %s, %d bits", rows[r].function, dtypes[rows[r].memory].name, rows[r].bits);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Loops that call both a form of our own and libmvec take four vectors at a time with AVX2. */
static void test_mixed_vectors(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    static const struct {
        const char *outer, *inner;
        int bits, vectors;
    } rows[] = {{"tan", "exp", 256, 4},
                {"exp", "tan", 256, 4},
                {"exp", "exp2", 256, 1},
                {"tan", "sinh", 256, 1},
                {"tan", "exp", 512, 1}};
    for (size_t r = 0; r < COUNT(rows); r++) {
        code_target t = {.vector_bits = rows[r].bits};
        const dtype types[] = {DT_FLOAT32, DT_FLOAT32};
        node *inner = math(rows[r].inner, DT_FLOAT32, var(DT_FLOAT32, 0));
        const tree *call = expression_tree(1, types, math(rows[r].outer, DT_FLOAT32, inner));
        arena a = {0};
        variant v = {.loop = LOOP_FLAT, .ndim = 1, .nin = 1, .nout = 1};
        code_module m = {.nsymbols = 0};
        for (int k = 0; k < 2; k++)
            v.operand[k] = (variant_operand){.memory = DT_FLOAT32, .value = DT_FLOAT32};
        assert_int_equal(ir_elementwise(&a, "f", call, &v, &t, &m), UF_OK);
        if (times(m.ir.data, "llvm.loop.interleave.count\", i32 4}") != (rows[r].vectors == 4))
            fail_msg("%s of %s, %d bits", rows[r].outer, rows[r].inner, rows[r].bits);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* fmod divides where the quotient is not large; in float64 only where a multiplication and subtraction that rounds once is an instruction. */
static void test_remainder(void **state) {
    (void)state;
    static const struct {
        dtype type;
        int bits;
        bool divides;
    } rows[] = {{DT_FLOAT32, 128, true}, {DT_FLOAT32, 512, true}, {DT_FLOAT64, 128, false}, {DT_FLOAT64, 256, true}};
    for (size_t r = 0; r < COUNT(rows); r++) {
        code_target t = {.vector_bits = rows[r].bits};
        const tree *call = math_call_tree("fmod", rows[r].type, rows[r].type, rows[r].type);
        arena a = {0};
        variant v = {.loop = LOOP_FLAT, .ndim = 1, .nin = 1, .nout = 1};
        code_module m = {.nsymbols = 0};
        for (int k = 0; k < 2; k++)
            v.operand[k] = (variant_operand){.memory = (uint8_t)rows[r].type, .value = (uint8_t)rows[r].type};
        assert_int_equal(ir_elementwise(&a, "f", call, &v, &t, &m), UF_OK);
        if ((strstr(m.ir.data, "fdiv double") != NULL) != rows[r].divides || !strstr(m.ir.data, "libm_fmod"))
            fail_msg("%s, %d bits\n%s", dtypes[rows[r].type].name, rows[r].bits, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* What is made of a number's bits is vectors, and nothing of the C library's. */
static void test_exponents(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    for (int k = 0; k < 2; k++) {
        dtype type = k ? DT_FLOAT64 : DT_FLOAT32;
        const code_target t = {.vector_bits = 256};
        const char *const vectors[] = {k ? "<4 x i64>" : "<8 x i32>", ""};
        const tree *call = math_call_tree("nextafter", type, type, type);
        code_module m = module_of(call, &t, 0, 0);
        assert_null(strstr(m.ir.data, "libm_"));
        text_free(&m.ir);
        expect_calls(call, &t, "haswell", vectors, vectors);
    }
}

/* Of elements under a mask 32 that all count are computed by vectors, and not one by one: rows that no vector takes have one or two instructions
 * for single elements. */
static void test_chunks(void **state) {
    enum {
        SINGLE_MOST = 4
    };
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    static const dtype types[] = {DT_FLOAT64, DT_FLOAT64, DT_FLOAT64, DT_BOOL};
    static const char single[] = "fadd double ";
    const tree *sum = expression_tree(2, types, binary(OP_ADD, var(DT_FLOAT64, 0), var(DT_FLOAT64, 1)));
    const code_target t = {.vector_bits = 256};
    variant v = {.loop = LOOP_FLAT, .ndim = 1, .nin = 2, .nout = 1, .masked = 1};
    arena a = {0};
    code_module m = {.nsymbols = 0};
    for (int k = 0; k <= variant_mask(&v); k++)
        v.operand[k] = (variant_operand){.memory = (uint8_t)types[k], .value = (uint8_t)types[k]};
    assert_int_equal(ir_elementwise(&a, "f", sum, &v, &t, &m), UF_OK);
    for (int i = 0; i < judge_count(); i++) {
        const char *ir = judge_optimised(i, m.ir.data, "haswell", "");
        int count = 0;
        assert_non_null(strstr(ir, "fadd <4 x double>"));
        for (const char *at = strstr(ir, single); at; at = strstr(at + 1, single))
            count++;
        if (count > SINGLE_MOST)
            fail_msg("%s: %d additions of single elements", judge_name(i), count);
    }
    text_free(&m.ir);
    arena_free(&a);
}

/* Elements with gaps between them that no vectors are put together of: with AVX2 there is one load for all of an array. */
static void test_single_elements(void **state) {
    static const struct {
        int bits;
        const char *hint;
    } rows[] = {{256, "!{!\"llvm.loop.unroll.count\", i32 1}"}, {512, "!{!\"llvm.loop.unroll.count\", i32 4}"}};
    (void)state;
    for (size_t r = 0; r < COUNT(rows); r++) {
        const code_target t = {.vector_bits = rows[r].bits};
        const tree *sum = expression_tree(2, (const dtype[]){DT_INT64, DT_INT64, DT_INT64},
                                          binary(OP_ADD, var(DT_INT64, 0), var(DT_INT64, 1)));
        variant v = {.loop = LOOP_ROWS, .ndim = 1, .nin = 2, .nout = 1};
        arena a = {0};
        code_module m = {.nsymbols = 0};
        for (int k = 0; k < 3; k++)
            v.operand[k] = (variant_operand){
                .memory = DT_INT64, .value = DT_INT64, .kind = k < 2 ? OPERAND_STRIDED : OPERAND_CONTIGUOUS};
        assert_int_equal(ir_elementwise(&a, "f", sum, &v, &t, &m), UF_OK);
        if (!strstr(m.ir.data, rows[r].hint))
            fail_msg("%d bits: no %s in\n%s", rows[r].bits, rows[r].hint, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* 1 / x of integers is a choice; 2 / x is divided. */
static void test_one_divided(void **state) {
    (void)state;
    static const dtype types[] = {DT_INT32, DT_UINT32, DT_INT64, DT_UINT64};
    for (size_t i = 0; i < 2 * COUNT(types); i++) {
        const dtype type = types[i / 2];
        const code_target t = {.vector_bits = 256};
        node *divided = quotient(number_node(type, i % 2 + 1), var(type, 0));
        code_module m = module_of(expression_tree(1, (const dtype[]){type, type}, divided), &t, 0, 0);
        assert_int_equal(!strstr(m.ir.data, "div"), !(i % 2));
        text_free(&m.ir);
    }
}

/* 64-bit integers of numbers: by instructions of vectors also where AVX2 has none for it. */
static void test_wide_conversions(void **state) {
    (void)state;
    static const struct {
        dtype from, to;
        int bits;
        bool converts;
    } rows[] = {{DT_FLOAT64, DT_INT64, 256, false},
                {DT_FLOAT32, DT_UINT64, 256, false},
                {DT_FLOAT64, DT_INT64, 512, true},
                {DT_FLOAT64, DT_INT32, 256, true},
                {DT_FLOAT64, DT_INT64, 128, true}};
    for (size_t r = 0; r < COUNT(rows); r++) {
        code_target t = {.vector_bits = rows[r].bits};
        const dtype types[] = {rows[r].from, rows[r].to};
        code_module m = module_of(expression_tree(1, types, convert(rows[r].to, var(rows[r].from, 0))), &t, 0, 0);
        if ((strstr(m.ir.data, "fptosi") || strstr(m.ir.data, "fptoui")) != rows[r].converts)
            fail_msg("%s of %s, %d bits\n%s", dtypes[rows[r].to].name, dtypes[rows[r].from].name, rows[r].bits,
                     m.ir.data);
        text_free(&m.ir);
    }
}

/* LLVM would take the sign of a half that tanh is rounded to, one after the other, as that of its argument. */
static void test_signs_of_vectors(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    code_target t = {.vector_bits = 512};
    code_module m = module_of(math_call_tree("tanh", DT_FLOAT32, DT_FLOAT32, DT_FLOAT32), &t, 0, 0);
    assert_null(strstr(m.ir.data, "llvm.copysign"));
    text_free(&m.ir);
}

/* No compiler calls a helper for halves: Debian's libgcc and LLVM disagree about their arguments. */
static void test_no_half_helpers(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
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

/* ---- Memory ---- */

static void test_out_of_memory(void **state) {
    (void)state;
    const code_target *targets[] = {&host, &gpu};
    const tree *trees[] = {math_tree(DT_FLOAT32), complex_tree()};
    for (size_t k = 0; k < COUNT(targets); k++) {
        for (int n = 0;; n++) {
            code_module m = {.entry = "entry", .flags = UF_DEBUG};
            arena own = {0};
            emit e;
            allocation_fails_after(n);
            emit_begin(&e, &own, &m, targets[k], "memory");
            emit_functions(&e, trees[k], "kernel");
            uf_status status = emit_finish(&e);
            allocations_succeed();
            text_free(&m.ir);
            arena_free(&own);
            if (status == UF_OK)
                break;
            assert_int_equal(status, UF_ERR_MEMORY);
            assert_true(n < 5000);
        }
    }
}

static int set_up(void **state) {
    (void)state;
    wide_seed();
    host = judge_host();
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

/* What debuggers and profilers show of a kernel. */
static void test_names(void **unused) {
    (void)unused;
    static const struct {
        const char *name;
        loop_class loop;
        dtype type[3]; /* two inputs and an output */
        bool to_states;
        const char *entry;
    } rows[] = {
        {"add", LOOP_FLAT, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, false, "uf_add_flat_f32"},
        {"a<b", LOOP_ROWS, {DT_BFLOAT16, DT_UINT8, DT_BOOL}, false, "uf_a_b_rows_bf16_u8_bool"},
        {"sum", LOOP_FOLD, {DT_COMPLEX128, DT_COMPLEX128, DT_INT64}, true, "uf_sum_reduce_to_states_c128_c128_i64"},
        {"scatter", LOOP_AT, {DT_INT16, DT_INT16, DT_INT16}, false, "uf_scatter_at_i16"},
        {"a_name_that_is_much_longer_than_the_room_that_there_is_for_it",
         LOOP_GENERAL,
         {DT_FLOAT64, DT_FLOAT64, DT_FLOAT64},
         false,
         "uf_a_name_that_is_much_longer_than_the_room_that_th_general_f64"},
    };
    for (size_t k = 0; k < COUNT(rows); k++) {
        code_module m = {.nsymbols = 0};
        variant v = {.loop = (uint8_t)rows[k].loop, .nin = 2, .nout = 1};
        if (rows[k].to_states)
            v.reduction.to_states = 1;
        for (int o = 0; o < 3; o++)
            v.operand[o].memory = (uint8_t)rows[k].type[o];
        emit_name(&m, rows[k].name, &v);
        assert_string_equal(m.entry, rows[k].entry);
    }
    code_module m = {.nsymbols = 0};
    variant wide = {.loop = LOOP_FORALL, .nin = UF_MAX_OPERANDS};
    wide.operand[0].memory = DT_FLOAT64; /* the others are bool */
    emit_name(&m, "many_parameters_with_many_dtypes", &wide);
    assert_int_equal(strlen(m.entry), sizeof m.entry - 1);
    assert_memory_equal(m.entry, "uf_many_parameters_with_man_forall_f64_bool_", 44);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_math_accepted),
        cmocka_unit_test(test_control),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_complex),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_vectorised),
        cmocka_unit_test(test_vector_forms),
        cmocka_unit_test(test_doubled),
        cmocka_unit_test(test_one_vector),
        cmocka_unit_test(test_mixed_vectors),
        cmocka_unit_test(test_remainder),
        cmocka_unit_test(test_exponents),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_single_elements),
        cmocka_unit_test(test_one_divided),
        cmocka_unit_test(test_domains),
        cmocka_unit_test(test_wide_conversions),
        cmocka_unit_test(test_signs_of_vectors),
        cmocka_unit_test(test_no_half_helpers),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_signs_of_quotients),
        cmocka_unit_test(test_plain_quotients),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
