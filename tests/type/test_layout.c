/* test_layout.c - layouts against what NumPy 2.4 makes of the same texts, random ones against the tree they were written
 * from, and every error with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "type/type.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "failing.h"

/* ---- What a layout is, as a text of its own: "m n:0,1;1>0", dimensions, then each operand's ---- */

static void describe_dim(text *t, const layout_dim *d) {
    if (d->name)
        text_puts(t, d->name);
    else if (d->frozen)
        text_printf(t, "%lld", (long long)d->frozen);
    for (int i = 0; i < d->nsteps; i++) {
        const layout_step *s = &d->steps[i];
        text_puts(t, i ? " " : "[");
        if (s->op == 'n')
            text_printf(t, "%lld", (long long)s->value);
        else if (s->op == 'd')
            text_printf(t, "d%d", s->dim);
        else
            text_add(t, &s->op, 1);
    }
    text_printf(t, "%s%s%s ", d->nsteps ? "]" : "", d->optional ? "?" : "", d->output_only ? "!" : "");
}

static char *describe(const core_layout *l) {
    text t = {0};
    int words = l->ndims;
    for (int d = 0; d < l->ndims; d++)
        describe_dim(&t, &l->dims[d]);
    text_puts(&t, ":");
    for (int k = 0; k < l->nin + l->nout; k++) {
        const layout_operand *o = &l->operands[k];
        text_puts(&t, k == l->nin ? ">" : k ? ";" : "");
        for (int i = 0; i < o->rank; i++)
            text_printf(&t, "%s%d%s", i ? "," : "", o->dim[i], o->stretch[i] ? "|" : "");
        assert_int_equal(o->strides, words);
        words += o->rank;
    }
    assert_int_equal(l->nparameters, words);
    return text_take(&t);
}

static char *printed(const core_layout *l) {
    text t = {0};
    layout_print(&t, l);
    return text_take(&t);
}

static void expect_layout(const char *source, const char *description, const char *canonical) {
    arena a = {0};
    core_layout l;
    if (layout_parse(&a, source, &l))
        fail_msg("%s: %s", source, uf_last_error()->message);
    char *got = describe(&l), *again = printed(&l);
    assert_string_equal(got, description);
    assert_string_equal(again, canonical ? canonical : source);
    mem_free(got);
    mem_free(again);
    arena_free(&a);
}

/* ---- NumPy's grammar: ranks, dimensions and flags are those of numpy._core._umath_tests.test_signature ---- */

static void what_numpy_reads(void **unused) {
    (void)unused;
    expect_layout("(i),(i)->()", "i :0;0>", NULL);
    expect_layout("(),()->()", ":;>", NULL);
    expect_layout("()->()", ":>", NULL);
    expect_layout("(i1, i2),(J_1)->(_kAB)", "i1 i2 J_1 _kAB! :0,1;2>3", "(i1,i2),(J_1)->(_kAB)");
    expect_layout("(i1, i12),   (J_1)->(i12, i2)", "i1 i12 J_1 i2! :0,1;2>1,3", "(i1,i12),(J_1)->(i12,i2)");
    expect_layout("(n,k),(k,m)->(n,m)", "n k m :0,1;1,2>0,2", NULL);
    expect_layout("(n?,k),(k,m?)->(n?,m?)", "n? k m? :0,1;1,2>0,2", NULL);
    expect_layout("(m?,n),(n,p?)->(m?,p?)", "m? n p? :0,1;1,2>0,2", NULL);
    expect_layout("(3)->()", "3 :0>", NULL);
    expect_layout("(3),(03,3),(n)->(9)", "3 n 9 :0;0,0;1>2", "(3),(3,3),(n)->(9)");
    expect_layout("(3?),(3?,3?),(n)->(9)", "3? n 9 :0;0,0;1>2", NULL);
    expect_layout("(  3)  -> ( )", "3 :0>", "(3)->()");
    expect_layout("( 3? ) , (3? ,  3?) ,(n )-> ( 9)", "3? n 9 :0;0,0;1>2", "(3?),(3?,3?),(n)->(9)");
    expect_layout("  (  )  ,  (i)  ->  ( j )", "i j! :;0>1", "(),(i)->(j)");
    expect_layout("(3,n)->(3)", "3 n :0,1>0", NULL);
    expect_layout("(3)->(9,3)", "3 9 :0>1,0", NULL);
    expect_layout("(1)->()", "1 :0>", NULL);
    expect_layout("(n,n)->()", "n :0,0>", NULL);
    expect_layout("->()", ":>", NULL);
    expect_layout("->(n)", "n! :>0", NULL);
    expect_layout("(n?)->(n?)", "n? :0>0", NULL);
    expect_layout("(n)->(p?)", "n p?! :0>1", NULL);
    expect_layout("(\tn? )->()", "n? :0>", "(n?)->()");
    expect_layout("(n)->(),(),(n)", "n :0>;;0", NULL);
    expect_layout("(4294967297)->()", "4294967297 :0>", NULL);
}

static void stretched(void **unused) {
    (void)unused;
    expect_layout("(n|1),(n)->(n)", "n :0|;0>0", NULL);
    expect_layout("(n | 1 , m|1,3|1)->()", "n m 3 :0|,1|,2|>", "(n|1,m|1,3|1)->()");
    expect_layout("(n?|1),(n?)->(n?)", "n? :0|;0>0", NULL);
    expect_layout("\n(n)\n ->\r\n(n)", "n :0>0", "(n)->(n)");
}

static void computed(void **unused) {
    (void)unused;
    expect_layout("(n)->(n*(n-1)/2)", "n [d0 d0 1 - * 2 /] :0>1", NULL);
    expect_layout("(m),(n)->(m+n-1)", "m n [d0 d1 + 1 -] :0;1>2", NULL);
    expect_layout("(n)->((n+1)/2)", "n [d0 1 + 2 /] :0>1", NULL);
    expect_layout("(n+1),(n)->( n + 1 )", "n [d0 1 +] :1;0>1", "(n+1),(n)->(n+1)");
    expect_layout("(n)->(n+1,((n)+(01)),1+n)", "n [d0 1 +] [1 d0 +] :0>1,1,2", "(n)->(n+1,n+1,1+n)");
    expect_layout("(n)->((n+n)+n,n+(n+n))", "n [d0 d0 + d0 +] [d0 d0 d0 + +] :0>1,2", "(n)->(n+n+n,n+(n+n))");
    expect_layout("(n)->(n/n*n,n/(n*n),n-n-n,n-(n-n))",
                  "n [d0 d0 / d0 *] [d0 d0 d0 * /] [d0 d0 - d0 -] [d0 d0 d0 - -] :0>1,2,3,4", NULL);
    expect_layout("(n)->(-n+4)", "n [0 d0 - 4 +] :0>1", NULL);
    expect_layout("(n)->(0-n+4)", "n [0 d0 - 4 +] :0>1", "(n)->(-n+4)");
    expect_layout("(n)->(4*-n)", "n [4 0 d0 - *] :0>1", NULL);
    expect_layout("(n)->(0-n*4)", "n [0 d0 4 * -] :0>1", "(n)->(-(n*4))");
    expect_layout("(n)->((-n)*4)", "n [0 d0 - 4 *] :0>1", "(n)->(-n*4)");
    expect_layout("(n)->(--n)", "n [0 0 d0 - -] :0>1", NULL);
    expect_layout("(n)->(n- -3)", "n [d0 0 3 - -] :0>1", "(n)->(n--3)");
    expect_layout("(2*3,6)->((7-1))", "6 :0,0>0", "(6,6)->(6)");
    expect_layout("->(p+1,p)", "p! [d0 1 +] :>1,0", NULL);
    expect_layout("(p+1)->(p)", "p! [d0 1 +] :1>0", NULL);
    expect_layout("(a0?,b)->(a0?,a0*b)", "a0? b [d0 d1 *] :0,1>0,2", NULL);
    expect_layout("(m,n)->(m, min( m ,n)),(min(m,n),n)", "m n [d0 d1 <] :0,1>0,2;2,1",
                  "(m,n)->(m,min(m,n)),(min(m,n),n)");
    expect_layout("(m,n)->(2*max(m+1,min(n,3))-1)", "m n [2 d0 1 + d1 3 < > * 1 -] :0,1>2", NULL);
    expect_layout("(max(2,3))->()", "3 :0>", "(3)->()");
    expect_layout("(min,max)->(min+max)", "min max [d0 d1 +] :0,1>2", NULL); /* names like others */
}

/* The value of the only computed size for n. */
static void computes(const char *source, int64_t n, bool fine, int64_t value) {
    arena a = {0};
    core_layout l;
    int64_t got = -7;
    assert_int_equal(layout_parse(&a, source, &l), UF_OK);
    assert_int_equal(layout_compute(&l.dims[1], &n, &got), fine);
    assert_true(got == value);
    arena_free(&a);
}

static void edges_of_arithmetic(void **unused) {
    (void)unused;
    computes("(n)->(n*(n-1)/2)", 5, true, 10);
    computes("(n)->(n-5)", 5, true, 0);
    computes("(n)->(n-6)", 5, false, -1);
    computes("(n)->(-n/2+3)", 5, true, 1); /* towards zero */
    computes("(n)->(1/n)", 0, false, 0);
    computes("(n)->(n+1)", INT64_MAX, false, INT64_MAX);
    computes("(n)->(n*n)", (int64_t)1 << 32, false, INT64_MAX);
    computes("(n)->(-n-2)", INT64_MAX, false, INT64_MAX);
    computes("(n)->((-n-1)/1)", INT64_MAX, false, INT64_MIN);
    computes("(n)->((-n-1)/-1)", INT64_MAX, false, INT64_MAX);
    computes("(n)->((n-1)/0*0)", 3, false, 0);
    computes("(n)->(min(n,3))", 5, true, 3);
    computes("(n)->(min(n,3))", 2, true, 2);
    computes("(n)->(max(n,3))", 5, true, 5);
    computes("(n)->(max(3,n))", 2, true, 3);
}

/* ---- Errors ---- */

static void refuse(const char *source, int column, const char *message) {
    arena a = {0};
    core_layout l;
    char start[512];
    assert_int_equal(layout_parse(&a, source, &l), UF_ERR_SYNTAX);
    const uf_error *e = uf_last_error();
    snprintf(start, sizeof start, "1:%d: %s\n", column, message);
    if (strncmp(e->message, start, strlen(start)))
        fail_msg("%s: %s", source, e->message);
    assert_int_equal(e->column, column);
    assert_int_equal(e->line, 1);
    assert_int_equal(l.nin + l.nout + l.ndims, 0);
    arena_free(&a);
}

/* Columns are NumPy's positions plus one. */
static void what_numpy_refuses(void **unused) {
    (void)unused;
    refuse("", 1, "expected \"(\" or \"->\", got the end");
    refuse(" ", 2, "expected \"(\" or \"->\", got the end");
    refuse("n->()", 1, "expected \"(\" or \"->\", got \"n\"");
    refuse("(", 2, "expected a name or a number, got the end");
    refuse("(n", 3, "expected \",\" or \")\", got the end");
    refuse("(n,", 4, "expected a name or a number, got the end");
    refuse("(n)", 4, "expected \",\" or \"->\", got the end");
    refuse("(n)-", 4, "expected \",\" or \"->\", got \"-\"");
    refuse("(n)- >()", 4, "expected \",\" or \"->\", got \"-\"");
    refuse("(n)->", 6, "expected \"(\", got the end");
    refuse("(n)->(", 7, "expected a name or a number, got the end");
    refuse("(n)->n", 6, "expected \"(\", got \"n\"");
    refuse("(n)()->()", 4, "expected \",\" or \"->\", got \"(\"");
    refuse("(n)->()x", 8, "expected \",\" or the end, got \"x\"");
    refuse("(n)->()->()", 8, "expected \",\" or the end, got \"->\"");
    refuse("(n)->(),", 9, "expected \"(\", got the end");
    refuse("(i),->()", 5, "expected \"(\", got \"->\"");
    refuse("(i),)i(->()", 5, "expected \"(\", got \")\"");
    refuse("(n,)->()", 4, "expected a name or a number, got \")\"");
    refuse("(,n)->()", 2, "expected a name or a number, got \",\"");
    refuse("(n->()", 3, "expected \",\" or \")\", got \"->\"");
    refuse("(n m)->()", 4, "expected \",\" or \")\", got \"m\"");
    refuse("((i)),(i)->()", 2, "a name or a number by itself goes without parentheses");
    refuse("((3)),(i)->()", 2, "a name or a number by itself goes without parentheses");
    refuse("(0)->()", 2, "a frozen size is at least 1, got 0");
    refuse("(00)->()", 2, "a frozen size is at least 1, got 0");
    refuse("(-1)->()", 2, "a frozen size is at least 1, got -1");
    refuse("(9223372036854775808)->()", 2, "\"9223372036854775808\" does not fit 64 bits");
    refuse("(99999999999999999999999)->()", 2, "\"99999999999999999999999\" does not fit 64 bits");
    refuse("(3n)->()", 2, "expected a name or a number, got \"3n\"");
    refuse("(0x3)->()", 2, "expected a name or a number, got \"0x3\"");
    refuse("(x)->(3x)", 7, "expected a name or a number, got \"3x\"");
    refuse("(i)->(+)", 7, "expected a name or a number, got \"+\"");
    refuse("(\xc3\xa9)->()", 2, "expected a name or a number, got \"\xc3\xa9\"");
    refuse("(?)->()", 2, "expected a name or a number, got \"?\"");
    refuse("(n?\?)->()", 4, "expected \",\" or \")\", got \"?\"");
    refuse("(n ?)->()", 4, "expected \",\" or \")\", got \"?\"");
    refuse("(n?3)->()", 4, "expected \",\" or \")\", got \"3\"");
    refuse("(i?),(i)->()", 7, "\"i\" must be followed by \"?\" here: it was seen with it");
    refuse("(i?),(i )->()", 7, "\"i\" must be followed by \"?\" here: it was seen with it");
    refuse("(i),(i?)->()", 6, "\"i\" cannot be followed by \"?\" here: it was seen without");
    refuse("(n)->(n?)", 7, "\"n\" cannot be followed by \"?\" here: it was seen without");
    refuse("(3?),(3)->()", 7, "3 must be followed by \"?\" here: it was seen with it");
    refuse("(3),(3?)->()", 6, "3 cannot be followed by \"?\" here: it was seen without");
    refuse("(3?,3)->()", 5, "3 must be followed by \"?\" here: it was seen with it");
    refuse("(3)->(3?)", 7, "3 cannot be followed by \"?\" here: it was seen without");
}

static void what_else_is_refused(void **unused) {
    (void)unused;
    refuse("(n)->(n|1)", 8, "an output does not broadcast: \"|1\" is for inputs");
    refuse("(n|2)->()", 4, "expected 1 after \"|\", got \"2\"");
    refuse("(n|10)->()", 4, "expected 1 after \"|\", got \"10\"");
    refuse("(n|)->()", 4, "expected 1 after \"|\", got \")\"");
    refuse("(n|1?)->()", 5, "expected \",\" or \")\", got \"?\"");
    refuse("(n+1|1,n)->()", 5, "only a name or a number can be followed by \"|1\"");
    refuse("(n+1?,n)->()", 5, "only a name or a number can be followed by \"?\"");
    refuse("(n)->(2+1?)", 10, "only a name or a number can be followed by \"?\"");
    refuse("(3?)->(2+1)", 8, "3 must be followed by \"?\" here: it was seen with it");
    refuse("(m)->(k+1)", 7, "\"k\" occurs in computed sizes only: it must stand by itself somewhere");
    refuse("(k*m,k/m)->(m)", 2, "\"k\" occurs in computed sizes only: it must stand by itself somewhere");
    refuse("(n)->((n+1)", 12, "expected \",\" or \")\", got the end");
    refuse("(n)->((n+1", 11, "expected an operator or \")\", got the end");
    refuse("(n)->(n+)", 9, "expected a name or a number, got \")\"");
    refuse("(n)->(n%2)", 8, "expected \",\" or \")\", got \"%\"");
    refuse("(n)->(n*)", 9, "expected a name or a number, got \")\"");
    refuse("(n)->(+n)", 7, "expected a name or a number, got \"+\"");
    refuse("(n)->(1/0)", 7, "this size divides by zero");
    refuse("(n)->(9223372036854775807+1)", 7, "this size overflows");
    refuse("(n)->(n+99999999999999999999)", 9, "\"99999999999999999999\" does not fit 64 bits");
    refuse("(n)->(3-3)", 7, "a frozen size is at least 1, got 0");
    refuse("(n)->(min(n))", 12, "expected an operator or \",\", got \")\"");
    refuse("(n)->(min(n,2,3))", 14, "expected an operator or \")\", got \",\"");
    refuse("(n)->(min (n,2))", 11, "expected \",\" or \")\", got \"(\"");
    refuse("(n)->(mean(n,2))", 11, "expected \",\" or \")\", got \"(\"");
    refuse("(\x01)->()", 2, "expected a name or a number, got character 0x01");
    refuse("(n|1),(n", 9, "expected \",\" or \")\", got the end");
    refuse("(n)->(a_name_that_is_much_longer_than_what_an_error_repeats_of_it+1)", 7,
           "\"a_name_that_is_much_longer_than_what_an_err..\" occurs in computed sizes only: it must stand by itself "
           "somewhere");
}

/* before, then `unit` n times with commas between, then after. */
static const char *repeat(const char *before, const char *unit, int n, const char *after) {
    static char buffer[4096];
    char *at = buffer + sprintf(buffer, "%s", before);
    for (int i = 0; i < n; i++) {
        at += sprintf(at, "%s", i && *unit != '-' && *unit != '+' ? "," : "");
        at += sprintf(at, unit, i);
    }
    strcpy(at, after);
    return buffer;
}

static void accept(const char *source) {
    arena a = {0};
    core_layout l;
    if (layout_parse(&a, source, &l))
        fail_msg("%s: %s", source, uf_last_error()->message);
    arena_free(&a);
}

static void limits(void **unused) {
    (void)unused;
    static const char opening[] = "((((((((((((((((((((((((((((((((", closing[] = "))))))))))))))))))))))))))))))))";
    accept(repeat("(", "n", 8, ")->()"));
    refuse(repeat("(", "n", 9, ")->()"), 18, "an operand has at most 8 core dimensions, got more");
    accept(repeat("", "()", 63, "->()"));
    refuse(repeat("", "()", 64, "->()"), 194, "expected at most 64 operands, got more");
    refuse(repeat("", "()", 65, "->()"), 193, "expected at most 64 operands, got more");
    accept(repeat("", "(n%02d)", 63, "->(n63)"));
    refuse(repeat("", "(n%02d)", 63, "->(n63,n64)"), 385, "more than 64 different core dimensions");
    refuse(repeat("", "(n%02d)", 63, "->(n63,99)"), 385, "more than 64 different core dimensions");
    refuse(repeat("", "(n%02d)", 63, "->(n63,n1)"), 385, "more than 64 different core dimensions");
    refuse(repeat("", "(n%02d)", 63, "->(n63,n01+1)"), 385, "more than 64 different core dimensions");
    accept(repeat("(n)->(n", "+1", 31, ")"));
    refuse(repeat("(n)->(n", "+1", 32, ")"), 70,
           "a computed size has at most 64 names, numbers and operators, got more");
    accept(repeat("(n)->(", "-", 31, "n)"));
    refuse(repeat("(n)->(", "-", 32, "n)"), 39, "signs and parentheses nest more than 32 deep");
    char nested[128];
    for (int deep = 31; deep <= 32; deep++) {
        sprintf(nested, "(n)->(%.*sn+1%.*s)", deep, opening, deep, closing);
        if (deep == 31)
            accept(nested);
        else
            refuse(nested, 39, "signs and parentheses nest more than 32 deep");
    }
}

/* ---- Random layouts ---- */

__extension__ typedef __int128 wide;

typedef struct term {
    char op; /* 'n', 'd' or an operator */
    int dim;
    int64_t value;
    int left, right; /* indices of terms */
} term;

typedef struct drawn {
    term terms[256];
    int nterms;
    char text[4096];
    int at;
} drawn;

static const char *const names[] = {"n", "m", "k1", "_p"};

static void blanks(drawn *w) {
    while (chance(15))
        w->text[w->at++] = " \t\n"[pick(0, 2)];
    w->text[w->at] = 0;
}

static void put(drawn *w, const char *s) {
    blanks(w);
    w->at += sprintf(w->text + w->at, "%s", s);
    blanks(w);
}

static int draw_term(drawn *w, int depth) {
    int i = w->nterms++;
    term *t = &w->terms[i];
    if (depth == 0 || chance(25)) {
        *t = chance(60) ? (term){.op = 'd', .dim = (int)pick(0, 3)} : (term){.op = 'n', .value = pick(0, 3)};
        if (t->op == 'n' && chance(5))
            t->value = INT64_MAX - pick(0, 2);
        return i;
    }
    char op = "+-*/"[pick(0, 3)];
    int left = draw_term(w, depth - 1), right = draw_term(w, depth - 1);
    w->terms[i] = (term){.op = op, .left = left, .right = right};
    return i;
}

static int level(const term *t) { return t->op == '+' || t->op == '-' ? 1 : t->op == '*' || t->op == '/' ? 2 : 3; }

/* Writes a term with the parentheses it needs, and some that it does not. */
static void write_term(drawn *w, int i, int least) {
    const term *t = &w->terms[i];
    bool parentheses = level(t) < least || (least > 0 && chance(15));
    char digits[32];
    if (parentheses)
        put(w, "(");
    if (t->op == 'n') {
        sprintf(digits, "%s%lld", chance(10) ? "00" : "", (long long)t->value);
        put(w, digits);
    } else if (t->op == 'd') {
        put(w, names[t->dim]);
    } else {
        const term *left = &w->terms[t->left];
        if (!(t->op == '-' && left->op == 'n' && left->value == 0 && least <= 1 && level(&w->terms[t->right]) == 3))
            write_term(w, t->left, level(t));
        put(w, (const char[]){t->op, 0});
        write_term(w, t->right, level(t) + 1);
    }
    if (parentheses)
        put(w, ")");
}

/* The value; false if it is negative or there is none. */
static bool value_of(const drawn *w, int i, const int64_t *sizes, int64_t *value) {
    const term *t = &w->terms[i];
    int64_t a, b;
    if (t->op == 'n' || t->op == 'd') {
        *value = t->op == 'n' ? t->value : sizes[t->dim];
        return true;
    }
    if (!value_of(w, t->left, sizes, &a) || !value_of(w, t->right, sizes, &b) || (t->op == '/' && b == 0))
        return false;
    wide r = t->op == '+' ? (wide)a + b : t->op == '-' ? (wide)a - b : t->op == '*' ? (wide)a * b : (wide)a / b;
    *value = (int64_t)r;
    return r >= INT64_MIN && r <= INT64_MAX;
}

static bool has_name(const drawn *w, int i) {
    const term *t = &w->terms[i];
    return t->op == 'd' || (t->op != 'n' && (has_name(w, t->left) || has_name(w, t->right)));
}

static bool same_layout(const char *source, const char *description) {
    arena a = {0};
    core_layout l;
    if (layout_parse(&a, source, &l))
        return false;
    char *got = describe(&l);
    bool same = !strcmp(got, description);
    mem_free(got);
    arena_free(&a);
    return same;
}

/* The canonical text says the same; without any pair of its inner parentheses it does not. */
static void check_canonical(const core_layout *l) {
    char *description = describe(l), *canonical = printed(l);
    assert_null(strpbrk(canonical, " \t\n"));
    if (!same_layout(canonical, description))
        fail_msg("printed as %s, which is another layout", canonical);
    int open[64], depth = 0;
    for (int i = 0; canonical[i]; i++) {
        if (canonical[i] == '(')
            open[depth++] = i;
        if (canonical[i] != ')' || --depth == 0)
            continue;
        canonical[open[depth]] = canonical[i] = ' ';
        if (same_layout(canonical, description))
            fail_msg("needless parentheses: %s", canonical);
        canonical[open[depth]] = '(';
        canonical[i] = ')';
    }
    mem_free(description);
    mem_free(canonical);
}

static int64_t draw_size(void) {
    return chance(80) ? pick(0, 9) : chance(50) ? INT64_MAX - pick(0, 3) : pick(1, 1) << 32;
}

/* Dimension 4 is what the drawn term makes. */
static void check_values(const core_layout *l, const drawn *w) {
    for (int i = 0; i < 8; i++) {
        int64_t sizes[4], value = -7, expected;
        for (int d = 0; d < 4; d++)
            sizes[d] = draw_size();
        bool fine = value_of(w, 0, sizes, &expected);
        assert_int_equal(layout_compute(&l->dims[4], sizes, &value), fine && expected >= 0);
        if (fine)
            assert_true(value == expected);
        else
            assert_true(value == 0 || value == INT64_MAX);
    }
}

static void random_sizes(void **unused) {
    (void)unused;
    for (int64_t t = trials(20000); t > 0; t--) {
        static drawn w;
        arena a = {0};
        core_layout l;
        w.nterms = w.at = 0;
        do
            w.nterms = 0, draw_term(&w, (int)pick(1, 4));
        while (!has_name(&w, 0) || w.terms[0].op == 'd' || w.nterms > 50);
        put(&w, "(n,m,k1,_p)->(");
        write_term(&w, 0, 0);
        put(&w, ")");
        if (layout_parse(&a, w.text, &l))
            fail_msg("%s: %s", w.text, uf_last_error()->message);
        assert_int_equal(l.ndims, 5);
        check_values(&l, &w);
        check_canonical(&l);
        arena_free(&a);
    }
}

/* A size by itself, in text and as describe() has it. */
static void draw_extent(drawn *w, bool output, char *what) {
    static const char *const sizes[] = {"n", "m?", "k1", "3", "7?", "_p"};
    const char *size = sizes[pick(0, 5)];
    bool stretch = !output && chance(20);
    put(w, size);
    if (stretch) {
        put(w, "|");
        put(w, "1");
    }
    sprintf(what, "%s%s", size, stretch ? "|1" : "");
}

static void random_layouts(void **unused) {
    (void)unused;
    for (int64_t t = trials(10000); t > 0; t--) {
        static drawn w;
        char canonical[2048] = "", *at = canonical, extent[16];
        arena a = {0};
        core_layout l;
        int nin = (int)pick(0, 4), n = nin + (int)pick(1, 3);
        w.at = 0;
        for (int k = 0; k < n; k++) {
            put(&w, k == nin ? "->" : k ? "," : "");
            put(&w, "(");
            at += sprintf(at, k == nin ? "->(" : k ? ",(" : "(");
            for (int i = 0, rank = (int)pick(0, 4); i < rank; i++) {
                put(&w, i ? "," : "");
                draw_extent(&w, k >= nin, extent);
                at += sprintf(at, "%s%s", i ? "," : "", extent);
            }
            put(&w, ")");
            at += sprintf(at, ")");
        }
        if (layout_parse(&a, w.text, &l))
            fail_msg("%s: %s", w.text, uf_last_error()->message);
        assert_int_equal(l.nin, nin);
        assert_int_equal(l.nout, n - nin);
        char *got = printed(&l);
        assert_string_equal(got, canonical);
        mem_free(got);
        check_canonical(&l);
        arena_free(&a);
    }
}

/* ---- Garbage ---- */

static void check_any(const char *source) {
    arena a = {0};
    core_layout l;
    if (layout_parse(&a, source, &l)) {
        const uf_error *e = uf_last_error();
        assert_int_equal(e->status, UF_ERR_SYNTAX);
        assert_true(e->line >= 1 && e->column >= 1 && (size_t)e->column <= strlen(source) + 1);
    } else {
        check_canonical(&l);
    }
    arena_free(&a);
}

static void garbage(void **unused) {
    (void)unused;
    static const char alphabet[] = "(((()))),,,,->->nnm3?|1+-*/ 0_\xc3\xa9\t%";
    static const char *const seeds[] = {"(m?,n),(n,p?)->(m?,p?)", "(n)->(n*(n-1)/2)", "(m|1,3),(n)->(m+n-1),(3)"};
    for (int64_t t = trials(60000); t > 0; t--) {
        char source[64] = "";
        int length = (int)pick(0, 40);
        if (chance(30)) {
            for (int i = 0; i < length; i++)
                source[i] = alphabet[pick(0, (int64_t)sizeof alphabet - 2)];
        } else {
            strcpy(source, seeds[pick(0, 2)]);
            for (int64_t edits = pick(1, 3); edits > 0; edits--) {
                int64_t at = pick(0, (int64_t)strlen(source) - 1), to = pick(0, 1);
                memmove(source + at + to, source + at + 1 - to, strlen(source + at + 1 - to) + 1);
                if (to)
                    source[at] = alphabet[pick(0, (int64_t)sizeof alphabet - 2)];
            }
        }
        check_any(source);
    }
}

/* ---- Memory ---- */

static void out_of_memory(void **unused) {
    (void)unused;
    char source[512];
    strcpy(source, repeat("(n),", "(a_dimension_with_a_long_name%d)", 5, "->(n*(n-1)/2,p)"));
    for (int escape = 0; escape < 2; escape++)
        for (int n = 0;; n++) {
            arena a = {0};
            core_layout l;
            jmp_buf out;
            uf_status status = UF_ERR_MEMORY;
            a.escape = escape ? &out : NULL;
            allocations_fail_after(n);
            if (!setjmp(out))
                status = layout_parse(&a, source, &l);
            allocations_succeed();
            arena_free(&a);
            if (!status) {
                assert_true(n > 0);
                break;
            }
            assert_int_equal(status, UF_ERR_MEMORY);
            assert_int_equal(uf_last_error()->status, UF_ERR_MEMORY);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_numpy_reads),   cmocka_unit_test(stretched),
        cmocka_unit_test(computed),           cmocka_unit_test(edges_of_arithmetic),
        cmocka_unit_test(what_numpy_refuses), cmocka_unit_test(limits),
        cmocka_unit_test(random_sizes),       cmocka_unit_test(what_else_is_refused),
        cmocka_unit_test(random_layouts),     cmocka_unit_test(garbage),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
