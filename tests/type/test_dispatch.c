/* test_dispatch.c - choosing a signature, against hand-made cases and against the definition written out naively.
 * With --choose it answers the questions on standard input, for tests/oracle/dispatch.py, which compares with NumPy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "type/type.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

/* ---- Requests ---- */

/* Inputs as text: dtype names; "#int64" is a number of value 1, "#int64=300" one of value 300. */
static int read_inputs(const char *source, dispatch_input *inputs) {
    char copy[1024], *rest = NULL;
    int n = 0;
    snprintf(copy, sizeof copy, "%s", source);
    for (char *word = strtok_r(copy, ", \n", &rest); word; word = strtok_r(NULL, ", \n", &rest)) {
        dispatch_input *in = &inputs[n++];
        in->is_number = *word == '#';
        word += in->is_number;
        char *value = strchr(word, '=');
        size_t length = value ? (size_t)(value - word) : strlen(word);
        in->type = dtype_of_name(word, length);
        assert_int_not_equal(in->type, DT_NONE);
        in->value.type = in->type;
        if (dtypes[in->type].kind >= DK_FLOATING)
            in->value.as.f[0] = value ? strtod(value + 1, NULL) : 1;
        else
            in->value.as.i = value ? (int64_t)strtoull(value + 1, NULL, 0) : 1;
    }
    return n;
}

static uf_status ask(const char *signatures, const char *source, unsigned flags, uf_casting casting, const char *forced,
                     int *chosen) {
    arena a = {0};
    signature_list list;
    dispatch_input inputs[UF_MAX_OPERANDS];
    memset(inputs, 0, sizeof inputs);
    assert_int_equal(signatures_parse(&a, signatures, NULL, &list), UF_OK);
    assert_int_equal(read_inputs(source, inputs), list.nin);
    *chosen = -1;
    uf_status status = dispatch("f", &list, inputs, flags, casting, forced, chosen);
    arena_free(&a);
    return status;
}

/* The signature chosen, as the index in the list; fails the test when there is none. */
static int chosen(const char *signatures, const char *inputs, unsigned flags) {
    int s;
    uf_status status = ask(signatures, inputs, flags, UF_CAST_DEFAULT, NULL, &s);
    if (status)
        print_error("%s for %s: %s\n", signatures, inputs, uf_last_error()->message);
    assert_int_equal(status, UF_OK);
    return s;
}

/* ---- The rules, case by case ---- */

static void test_narrowest(void **state) {
    (void)state;
    static const struct {
        const char *signatures, *inputs;
        int want, first;
    } rows[] = {
        {"dd->d; ff->f", "float32,float32", 1, 0}, /* the order of the list is no trap */
        {"dd->d; ff->f", "float32,float64", 0, 0},
        {"dd->d; ff->f; ee->e", "int8,int8", 2, 0},
        {"dd->d; ff->f; ee->e", "int16,int8", 1, 0},
        {"dd->d; ff->f; ee->e", "int64,int8", 0, 0},
        {"DD->D; dd->d; ll->l", "int32,uint8", 2, 0},
        {"DD->D; dd->d; ll->l", "int32,uint64", 1, 0},
        {"f->f; i->i", "int8", 1, 0}, /* neither is narrower: the kind stays */
        {"f->f; i->i", "int16", 1, 0},
        {"E->E; e->e", "int8", 0, 0}, /* neither is narrower, both change the kind: the order */
        {"e->e; E->E", "int8", 0, 0},
        {"b->b; B->B", "bool", 0, 0},
        {"B->B; b->b", "bool", 0, 0},
        {"fi->f; ff->f", "float32,int32", 0, 0}, /* int32 does not cast safely to float32 */
        {"ff->f; fi->f", "float32,int16", 1, 0}, /* both match, the kinds decide */
        {"fd->f; df->d", "float32,float32", 0, 0},
        {"df->d; fd->f", "float32,float32", 0, 0},
        {"dd->d; fd->f; df->d", "float32,float32", 1, 0},
        {"dd->d; df->d; fd->f; ff->f", "float32,float32", 3, 0},
        {"f->f; f->d", "float32", 0, 0}, /* the same inputs: the order */
        {"f->d; f->f", "float32", 0, 0},
        {"->f; ->d", "", 0, 0},
        {"FF->F; ff->f", "bfloat16,uint16", 1, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int got = chosen(rows[i].signatures, rows[i].inputs, 0);
        int first = chosen(rows[i].signatures, rows[i].inputs, UF_FIRST_MATCH);
        if (got != rows[i].want || first != rows[i].first)
            print_error("%s for %s\n", rows[i].signatures, rows[i].inputs);
        assert_int_equal(got, rows[i].want);
        assert_int_equal(first, rows[i].first);
    }
}

/* ORDER dtype. "??->?" would be a trigraph. */
#define EVERY                                                                                                      \
    "bool,bool->bool; bb->b; hh->h; ii->i; ll->l; BB->B; HH->H; II->I; LL->L; ee->e; EE->E; ff->f; dd->d; FF->F; " \
    "DD->D"

/* With every dtype in the list a pair gets the smallest that both cast to. */
static void test_narrowest_is_promotion(void **state) {
    (void)state;
    for (dtype a = 0; a < DT_COUNT; a++)
        for (dtype b = 0; b < DT_COUNT; b++) {
            char inputs[64];
            snprintf(inputs, sizeof inputs, "%s,%s", dtypes[a].name, dtypes[b].name);
            assert_int_equal(chosen(EVERY, inputs, 0), dtype_promote(a, b));
        }
}

static void test_weak_numbers(void **state) {
    (void)state;
    static const struct {
        const char *signatures, *inputs, *want; /* the input dtypes of the signature chosen */
    } rows[] = {
        {EVERY, "float32,#float64", "float32,float32"},
        {EVERY, "#float64=0.1,float16", "float16,float16"},
        {EVERY, "float32,#int64=16777217", "float32,float32"},
        {EVERY, "bfloat16,#int32=7", "bfloat16,bfloat16"},
        {EVERY, "uint8,#int32=255", "uint8,uint8"},
        {EVERY, "int8,#int64=-128", "int8,int8"},
        {EVERY, "uint64,#uint64=18446744073709551615", "uint64,uint64"},
        {EVERY, "uint8,#bool", "uint8,uint8"},
        {EVERY, "bool,#bool", "bool,bool"},
        {EVERY, "complex64,#float64", "complex64,complex64"},
        {EVERY, "complex64,#complex128", "complex64,complex64"},
        {EVERY, "float32,#complex128", "complex64,complex64"},
        {EVERY, "int64,#float32", "float64,float64"},
        {EVERY, "int16,#float64", "float64,float64"}, /* no array of its kind: NumPy's default dtype */
        {EVERY, "int8,#float16=1e6", "float64,float64"},
        {EVERY, "#bfloat16,uint8", "float64,float64"},
        {EVERY, "bool,#float32", "float64,float64"},
        {EVERY, "bool,#int64=300", "int64,int64"},
        {EVERY, "#uint8,bool", "int64,int64"},
        {EVERY, "int8,#complex64", "complex128,complex128"},
        {EVERY, "bool,#complex64", "complex128,complex128"},
        {EVERY, "float16,#complex128", "complex64,complex64"}, /* floating and complex are one */
        {EVERY, "bfloat16,#complex128", "complex64,complex64"},
        {EVERY, "float64,#complex64", "complex128,complex128"},
        {"eee->e; fff->f; ddd->d", "int8,#float64,#int64=3", "float64,float64,float64"},
        {"eee->e; fff->f; ddd->d", "int8,#float64,float16", "float16,float16,float16"},
        {"lbd->d; bbe->e", "int8,#int64=3,#float64", "int64,int8,float64"},
        {"ib->b; ?l->b", "bool,#int8", "bool,int64"},
        {EVERY, "#int64=300,#uint8", "int64,int64"}, /* no array: by dtype */
        {EVERY, "#float32,#int8", "float32,float32"},
        {"ff->f; dd->d", "float32,#int64=20", "float32,float32"},
        {"ff->f; dd->d", "#int64=20,#float32", "float64,float64"},
        {"ff->f; fi->f", "float32,#int64=3", "float32,int32"},
        {"DDi->D; dfi->d", "float32,#float64,#int64", "float64,float32,int32"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        arena a = {0};
        signature_list list;
        text t = {0};
        int s = chosen(rows[i].signatures, rows[i].inputs, 0);
        assert_int_equal(signatures_parse(&a, rows[i].signatures, NULL, &list), UF_OK);
        signature_print(&t, list.types + s * (list.nin + list.nout), list.nin, 0);
        assert_string_equal(t.data, rows[i].want);
        text_free(&t);
        arena_free(&a);
    }
}

static void test_strong_numbers(void **state) {
    (void)state;
    assert_int_equal(chosen("ff->f; dd->d", "float32,#float64", UF_STRONG_NUMBERS), 1);
    assert_int_equal(chosen("BB->B; hh->h; ll->l", "uint8,#int64=1", UF_STRONG_NUMBERS), 2);
    assert_int_equal(chosen("ff->f; dd->d", "float32,#float64", UF_STRONG_NUMBERS | UF_FIRST_MATCH), 1);
    assert_int_equal(chosen("dd->d; ff->f", "float32,#float64", UF_FIRST_MATCH), 0);
    int s;
    assert_int_equal(ask("dd->d; ff->f", "float64,complex64", UF_FIRST_MATCH, 0, NULL, &s), UF_ERR_SIGNATURE);
}

/* ---- Errors ---- */

static void expect_error(const char *signatures, const char *inputs, uf_casting casting, const char *forced,
                         uf_status status, int argument, const char *message) {
    int s;
    assert_int_equal(ask(signatures, inputs, 0, casting, forced, &s), status);
    const uf_error *e = uf_last_error();
    if (strcmp(e->message, message))
        print_error("got:\n%s\nwant:\n%s\n", e->message, message);
    assert_string_equal(e->message, message);
    assert_int_equal(e->status, status);
    assert_int_equal(e->argument, argument);
}

static void test_no_match(void **state) {
    (void)state;
    expect_error("ff->f; dd->d; Fi->F", "complex64,float32", UF_CAST_DEFAULT, NULL, UF_ERR_SIGNATURE, -1,
                 "f: no signature matches the inputs (complex64, float32)\n"
                 "  float32,float32->float32: argument 0 is complex64, which does not cast safely to float32\n"
                 "  float64,float64->float64: argument 0 is complex64, which does not cast safely to float64\n"
                 "  complex64,int32->complex64: argument 1 is float32, which does not cast safely to int32");
    expect_error("ff->f; dd->d", "float32,#complex64", UF_CAST_UNSAFE, NULL, UF_ERR_SIGNATURE, -1,
                 "f: no signature matches the inputs (float32, a complex number)\n"
                 "  float32,float32->float32: argument 1 is a complex number, which does not cast safely to float32\n"
                 "  float64,float64->float64: argument 1 is a complex number, which does not cast safely to float64");
    expect_error("f->f", "int64", UF_CAST_SAME_KIND, NULL, UF_ERR_SIGNATURE, -1,
                 "f: no signature matches the inputs (int64)\n"
                 "  float32->float32: argument 0 is int64, which does not cast safely to float32");
}

/* What a number counts as, where it is not its kind alone. */
static void test_no_match_of_a_number(void **state) {
    (void)state;
    expect_error(
        "ff->f; ii->i", "int16,#float32", UF_CAST_DEFAULT, NULL, UF_ERR_SIGNATURE, -1,
        "f: no signature matches the inputs (int16, a floating number (float64))\n"
        "  float32,float32->float32: argument 1 is a floating number (float64), which does not cast safely to "
        "float32\n"
        "  int32,int32->int32: argument 1 is a floating number (float64), which does not cast safely to int32");
    int s; /* a signature that is asked for says what it is */
    assert_int_equal(ask("ff->f; ii->i", "int16,#float32", 0, UF_CAST_SAFE, "ff->f", &s), UF_OK);
    assert_int_equal(ask("bool,uint64->uint64", "bool,#int64", 0, UF_CAST_DEFAULT, "bool,uint64->uint64", &s), UF_OK);
}

/* no and equiv narrow what matches; a weak number has no dtype that they could hold it to. */
static void test_casting_narrows(void **state) {
    (void)state;
    int s;
    for (uf_casting casting = UF_CAST_NO; casting <= UF_CAST_EQUIV; casting++) {
        assert_int_equal(ask("dd->d; ff->f", "float32,float32", 0, casting, NULL, &s), UF_OK);
        assert_int_equal(s, 1);
        assert_int_equal(ask("dd->d; ff->f", "float32,#float64", 0, casting, NULL, &s), UF_OK);
        assert_int_equal(s, 1);
        expect_error("dd->d; ff->f", "float32,float64", casting, NULL, UF_ERR_SIGNATURE, -1,
                     "f: no signature matches the inputs (float32, float64)\n"
                     "  float64,float64->float64: argument 0 is float32, which is not float64\n"
                     "  float32,float32->float32: argument 1 is float64, which is not float32");
    }
}

static void test_value_does_not_fit(void **state) {
    (void)state;
    expect_error(EVERY, "uint8,#int64=300", UF_CAST_DEFAULT, NULL, UF_ERR_CAST, 1,
                 "argument 1: 300 does not fit uint8, its dtype in signature uint8,uint8->uint8 of f");
    expect_error(EVERY, "#int64=-1,uint64", UF_CAST_DEFAULT, NULL, UF_ERR_CAST, 0,
                 "argument 0: -1 does not fit uint64, its dtype in signature uint64,uint64->uint64 of f");
    expect_error(EVERY, "int64,#uint64=18446744073709551615", UF_CAST_DEFAULT, NULL, UF_ERR_CAST, 1,
                 "argument 1: 18446744073709551615 does not fit int64, its dtype in signature int64,int64->int64 of f");
    expect_error(EVERY, "uint8,#int64=256", UF_CAST_SAME_KIND, "BB->B", UF_ERR_CAST, 1,
                 "argument 1: 256 does not fit uint8, its dtype in signature uint8,uint8->uint8 of f");
    /* Unsafe takes what does not fit if the signature is forced: else there is another one that fits. */
    expect_error(EVERY, "uint8,#int64=256", UF_CAST_UNSAFE, NULL, UF_ERR_CAST, 1,
                 "argument 1: 256 does not fit uint8, its dtype in signature uint8,uint8->uint8 of f");
    int s;
    assert_int_equal(ask("BB->B; ii->i", "uint8,#int64=256", 0, UF_CAST_UNSAFE, "BB->B", &s), UF_OK);
    assert_int_equal(s, 0);
}

#define COMPARED                                                                       \
    "bool,bool->bool; bb->?; BB->?; hh->?; HH->?; ii->?; II->?; ll->?; LL->?; lL->?; " \
    "Ll->?; dd->?"

/* Where there is a signature of the same outputs that has room for the number. */
static void test_value_finds_room(void **state) {
    (void)state;
    static const struct {
        const char *signatures, *inputs, *want; /* NULL: CAST */
    } rows[] = {
        {COMPARED, "uint8,#int64=255", "uint8,uint8"},
        {COMPARED, "uint8,#int64=256", "int16,int16"},
        {COMPARED, "uint8,#int64=-1", "int16,int16"},
        {COMPARED, "#int64=-1,uint8", "int16,int16"},
        {COMPARED, "int8,#uint8=128", "int16,int16"},
        {COMPARED, "uint16,#int64=-1", "int32,int32"},
        {COMPARED, "uint32,#int64=-1", "int64,int64"},
        {COMPARED, "uint32,#int64=4294967296", "int64,int64"},
        {COMPARED, "uint64,#int64=-1", "uint64,int64"},
        {COMPARED, "#int8=-1,uint64", "int64,uint64"},
        {COMPARED, "int64,#uint64=9223372036854775808", "int64,uint64"},
        {COMPARED, "int8,#uint64=9223372036854775808", "int64,uint64"},
        {COMPARED, "bool,#uint64=9223372036854775808", "uint64,uint64"},
        {COMPARED, "bool,#int64=300", "int64,int64"},
        {"BB->f; hh->f", "uint8,#int64=300", "int16,int16"},
        {"BB->f; hh->h; ii->f", "uint8,#int64=300", NULL}, /* the next one gives something else */
        {"BB->f; hh->f", "uint8,#int64=40000", NULL},
        {"Bbb->?; hbb->?", "uint8,#int64=-1,#int64=-200", NULL}, /* the second one has no room either */
        {"Bbb->?; Bhb->?; Bhh->?", "uint8,#int64=-129,#int64=-200", "uint8,int16,int16"},
        {"BB->BB; hh->BB", "uint8,#int64=300", "int16,int16"},
        {"BB->BB; hh->Bh", "uint8,#int64=300", NULL},
        {EVERY, "uint64,#int64=-1", NULL},
        {EVERY, "bool,#uint64=9223372036854775808", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (unsigned flags = 0; flags <= UF_FIRST_MATCH; flags += UF_FIRST_MATCH) {
            arena a = {0};
            signature_list list;
            text t = {0};
            int s;
            uf_status status = ask(rows[i].signatures, rows[i].inputs, flags, UF_CAST_DEFAULT, NULL, &s);
            assert_int_equal(status, rows[i].want ? UF_OK : UF_ERR_CAST);
            if (status)
                continue;
            assert_int_equal(signatures_parse(&a, rows[i].signatures, NULL, &list), UF_OK);
            signature_print(&t, list.types + s * (list.nin + list.nout), list.nin, 0);
            assert_string_equal(t.data, rows[i].want);
            text_free(&t);
            arena_free(&a);
        }
    expect_error(COMPARED, "uint8,#int64=300", UF_CAST_DEFAULT, "BB->?", UF_ERR_CAST, 1,
                 "argument 1: 300 does not fit uint8, its dtype in signature uint8,uint8->bool of f");
}

static void test_forced(void **state) {
    (void)state;
    static const char *const spellings[] = {"dd->d", "float64,float64->float64", " float64 ( float64, float64 );"};
    int s;
    for (size_t i = 0; i < COUNT(spellings); i++) {
        assert_int_equal(ask("ff->f; dd->d", "float32,int64", 0, UF_CAST_DEFAULT, spellings[i], &s), UF_OK);
        assert_int_equal(s, 1);
    }
    /* Inputs follow `casting`: what no safe match would allow. */
    assert_int_equal(ask("ff->f; dd->d", "float64,int64", 0, UF_CAST_DEFAULT, "ff->f", &s), UF_OK);
    assert_int_equal(ask("ff->f; ii->i", "float64,float32", 0, UF_CAST_UNSAFE, "ii->i", &s), UF_OK);
    assert_int_equal(ask("ff->f; ii->i", "int32,#float32=1.5", 0, UF_CAST_UNSAFE, "ii->i", &s), UF_OK);
    assert_int_equal(s, 1);
    assert_int_equal(ask("ff->f; BB->B", "uint8,#int64=7", 0, UF_CAST_SAFE, "BB->B", &s), UF_OK);
    assert_int_equal(ask("f->f; f->d", "float32", 0, UF_CAST_DEFAULT, "f->d", &s), UF_OK);
    assert_int_equal(s, 1);
}

static void test_forced_errors(void **state) {
    (void)state;
    expect_error("ff->f; dd->d", "float32,complex64", UF_CAST_DEFAULT, "dd->d", UF_ERR_CAST, 1,
                 "argument 1: complex64 does not cast under same_kind to float64, as the signature asked for "
                 "(float64,float64->float64) of f needs; the rule unsafe allows it");
    expect_error("ff->f; dd->d", "float64,float32", UF_CAST_SAFE, "ff->f", UF_ERR_CAST, 0,
                 "argument 0: float64 does not cast safely to float32, as the signature asked for "
                 "(float32,float32->float32) of f needs; the rule same_kind allows it");
    expect_error("ff->f; ii->i", "int32,#float32", UF_CAST_DEFAULT, "ii->i", UF_ERR_CAST, 1,
                 "argument 1: a floating number does not cast under same_kind to int32, as the signature asked for "
                 "(int32,int32->int32) of f needs; the rule unsafe allows it");
    expect_error("ff->f; dd->d", "float32,float32", UF_CAST_DEFAULT, "ee->e", UF_ERR_SIGNATURE, -1,
                 "f: the signature asked for, float16,float16->float16, is not in its list\n"
                 "  float32,float32->float32\n  float64,float64->float64");
    expect_error("ff->f", "float32,float32", UF_CAST_DEFAULT, "f->f", UF_ERR_SIGNATURE, -1,
                 "f: the signature asked for, float32->float32, is not in its list\n  float32,float32->float32");
    expect_error("ff->f", "float32,float32", UF_CAST_DEFAULT, "ff->d", UF_ERR_SIGNATURE, -1,
                 "f: the signature asked for, float32,float32->float64, is not in its list\n"
                 "  float32,float32->float32");
    expect_error("ff->f", "float32,float32", UF_CAST_DEFAULT, "ff->", UF_ERR_SYNTAX, -1,
                 "1:5: expected type codes, such as \"f\", got the end\n  ff->\n      ^");
    assert_int_equal(uf_last_error()->column, 5);
}

/* Many long signatures: the message is cut at a line and says how much is missing. */
static void test_long_list_is_cut(void **state) {
    (void)state;
    text signatures = {0}, inputs = {0};
    for (int t = 0; t < DT_COMPLEX128; t++) {
        for (int k = 0; k < UF_MAX_OPERANDS - 1; k++)
            text_printf(&signatures, "%c", dtypes[t].code);
        text_puts(&signatures, "->f\n");
    }
    for (int k = 0; k < UF_MAX_OPERANDS - 1; k++)
        text_printf(&inputs, "%scomplex128", k ? "," : "");
    int s;
    assert_int_equal(ask(signatures.data, inputs.data, 0, 0, NULL, &s), UF_ERR_SIGNATURE);
    const char *message = uf_last_error()->message, *last = strrchr(message, '\n');
    int lines = 0, left = 0;
    for (const char *p = message; *p; p++)
        lines += *p == '\n';
    assert_int_equal(sscanf(last, "\n  .. and %d more", &left), 1);
    assert_int_equal(lines - 1 + left, DT_COMPLEX128);
    assert_true(lines > 3);
    assert_true(strlen(message) < sizeof uf_last_error()->message - 8);
    text_free(&signatures);
    text_free(&inputs);
}

static int allocations;
static bool count_allocation(size_t size) {
    (void)size;
    allocations++;
    return false;
}

static void test_allocates_nothing(void **state) {
    (void)state;
    arena a = {0};
    signature_list list;
    dispatch_input inputs[2];
    int s;
    memset(inputs, 0, sizeof inputs);
    assert_int_equal(signatures_parse(&a, EVERY, NULL, &list), UF_OK);
    read_inputs("float32,#float64", inputs);
    mem_may_alloc = count_allocation;
    uf_status statuses[] = {dispatch("f", &list, inputs, 0, 0, NULL, &s),
                            dispatch("f", &list, inputs, UF_FIRST_MATCH, 0, NULL, &s),
                            dispatch("f", &list, inputs, 0, 0, "float64(float64,float64)", &s),
                            dispatch("f", &list, inputs, 0, 0, "ff->d", &s),
                            dispatch("f", &list, inputs, UF_STRONG_NUMBERS, UF_CAST_NO, NULL, &s)};
    mem_may_alloc = NULL;
    static const uf_status want[] = {UF_OK, UF_OK, UF_OK, UF_ERR_SIGNATURE, UF_ERR_SIGNATURE};
    assert_memory_equal(statuses, want, sizeof want);
    assert_int_equal(allocations, 0);
    arena_free(&a);
}

/* ---- Against the definition ---- */

static uint64_t random_state;

static int random_below(int n) { /* splitmix64 */
    uint64_t z = (random_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (int)((z ^ (z >> 31)) % (uint64_t)n);
}

static bool safe(const dtype *from, const dtype *to, int n) {
    bool all = true;
    for (int k = 0; k < n; k++)
        all = all && dtype_can_cast(from[k], to[k], UF_CAST_SAFE);
    return all;
}

/* Does a weak number match? NumPy's kinds, in which floating and complex are one, and its default dtypes. */
static bool number_matches(dtype from, dtype to, const dispatch_input *inputs, int n) {
    static const int kinds[] = {[DK_BOOL] = 0, [DK_INTEGER] = 1, [DK_FLOATING] = 2, [DK_COMPLEX] = 2};
    static const dtype standard[] = {DT_BOOL, DT_INT64, DT_FLOAT64, DT_COMPLEX128};
    int most = 0, kind = dtypes[from].kind;
    for (int k = 0; k < n; k++)
        if (!inputs[k].is_number && kinds[dtypes[inputs[k].type].kind] > most)
            most = kinds[dtypes[inputs[k].type].kind];
    return kinds[kind] > most ? dtype_can_cast(standard[kind], to, UF_CAST_SAFE) : kind <= dtypes[to].kind;
}

/* The choice as include/ufunc.h states it (uf_call): mark the matches, drop those with a narrower match, rank what is left. */
static int by_definition(const signature_list *list, const dispatch_input *inputs, bool weak) {
    enum {
        MOST = 64
    };
    bool match[MOST], minimal[MOST];
    int width = list->nin + list->nout, n = list->nin, best = -1, best_changes = 0;
    for (int s = 0; s < list->count; s++) {
        match[s] = true;
        for (int k = 0; k < n; k++) {
            dtype from = inputs[k].type, to = list->types[s * width + k];
            match[s] &= weak && inputs[k].is_number ? number_matches(from, to, inputs, n)
                                                    : dtype_can_cast(from, to, UF_CAST_SAFE);
        }
    }
    for (int s = 0; s < list->count; s++) {
        minimal[s] = match[s];
        for (int t = 0; t < list->count; t++) {
            const dtype *a = list->types + t * width, *b = list->types + s * width;
            if (match[t] && safe(a, b, n) && !safe(b, a, n))
                minimal[s] = false;
        }
    }
    for (int s = 0; s < list->count; s++) {
        int changes = 0;
        for (int k = 0; k < n; k++)
            changes += dtypes[inputs[k].type].kind != dtypes[list->types[s * width + k]].kind;
        if (minimal[s] && (best < 0 || changes < best_changes)) {
            best = s;
            best_changes = changes;
        }
    }
    return best;
}

static void test_random_lists(void **state) {
    (void)state;
    int matched = 0;
    for (int i = 0; i < 100000; i++) {
        dtype types[40 * 4];
        signature_list list = {.count = 1 + random_below(39), .nin = random_below(4), .nout = 1, .types = types};
        dispatch_input inputs[3];
        memset(inputs, 0, sizeof inputs);
        for (int k = 0; k < list.count * (list.nin + 1); k++)
            types[k] = (dtype)random_below(DT_COUNT);
        bool arrays = false, strong = random_below(2);
        for (int k = 0; k < list.nin; k++) {
            inputs[k] = (dispatch_input){.type = (dtype)random_below(DT_COUNT), .is_number = random_below(3) == 0};
            inputs[k].value.type = inputs[k].type;
            arrays |= !inputs[k].is_number;
        }
        int want = by_definition(&list, inputs, arrays && !strong), got = -1;
        uf_status status = dispatch("f", &list, inputs, strong ? UF_STRONG_NUMBERS : 0, 0, NULL, &got);
        assert_int_equal(status, want < 0 ? UF_ERR_SIGNATURE : UF_OK);
        assert_int_equal(got, want);
        matched += want >= 0;
    }
    assert_true(matched > 20000);
}

/* ---- What tests/oracle/dispatch.py asks ---- */

/* Lines "flags | signatures | inputs" in; the signature chosen out, or the number of the status. */
static int choose(void) {
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin)) {
        char *signatures = strchr(line, '|'), *inputs = strrchr(line, '|');
        dispatch_input in[UF_MAX_OPERANDS];
        arena a = {0};
        signature_list list;
        int s;
        *signatures = *inputs = 0;
        memset(in, 0, sizeof in);
        read_inputs(inputs + 1, in);
        uf_status status = signatures_parse(&a, signatures + 1, NULL, &list);
        if (!status)
            status = dispatch("f", &list, in, (unsigned)strtoul(line, NULL, 0), UF_CAST_DEFAULT, NULL, &s);
        if (status) {
            printf("%d\n", status);
        } else {
            char printed[SIGNATURE_TEXT];
            signature_format(printed, list.types + s * (list.nin + list.nout), list.nin, list.nout);
            printf("%s\n", printed);
        }
        arena_free(&a);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--choose"))
        return choose();
    const char *seed = getenv("UF_SEED");
    random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32;
    print_message("# UF_SEED=%llu\n", (unsigned long long)random_state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_narrowest),
        cmocka_unit_test(test_narrowest_is_promotion),
        cmocka_unit_test(test_weak_numbers),
        cmocka_unit_test(test_strong_numbers),
        cmocka_unit_test(test_no_match),
        cmocka_unit_test(test_casting_narrows),
        cmocka_unit_test(test_no_match_of_a_number),
        cmocka_unit_test(test_value_finds_room),
        cmocka_unit_test(test_value_does_not_fit),
        cmocka_unit_test(test_forced),
        cmocka_unit_test(test_forced_errors),
        cmocka_unit_test(test_long_list_is_cut),
        cmocka_unit_test(test_allocates_nothing),
        cmocka_unit_test(test_random_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
