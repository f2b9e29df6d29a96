/* test_parameters.c - parameter lists of kernels over indices: reading, writing, errors; the layouts that stand for them; and which
 * list the arguments of a call choose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "type/type.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"

static arena memory;

static int reset(void **unused) {
    (void)unused;
    arena_free(&memory);
    memory = (arena){0};
    return 0;
}

/* A list in its canonical spelling, entry by entry. */
static const char *respell(const char *source) {
    static char all[4 * ENTRY_TEXT];
    char entry[ENTRY_TEXT], *at = all;
    signature_list list;
    if (parameters_parse(&memory, source, NULL, &list))
        return uf_last_error()->message;
    for (int s = 0; s < list.count; s++) {
        signature_list_format(entry, &list, s);
        at += sprintf(at, "%s%s", s ? "; " : "", entry);
    }
    return all;
}

static void test_spellings(void **unused) {
    static const char *const rows[][2] = {
        {"float64[], float64[,], int32", "float64[], float64[,], int32"},
        {"d[],d[,],i", "float64[], float64[,], int32"},
        {"  float32 [ , , ]\t,\r?;\n\n;f[,,],b  ;; ", "float32[,,], bool; float32[,,], int8"},
        {"complex128[,,,,,,,]", "complex128[,,,,,,,]"},
        {"int8\nE[]\n", "int8; bfloat16[]"},
        {"double[], int, size_t", "float64[], int32, uint64"},
        {"unsigned  char[,], long long", "uint8[,], int64"},
        {"any[], floating[,], integer, complex[]", "any[], floating[,], integer, complex[]"},
        {"T[], T[,], T; Value[],T[,] , any", "T[], T[,], T; Value[], T[,], any"},
        {"double complex[], float _Complex", "complex128[], complex64"},
        {"<f8[], i4[,], |b1, =u2", "float64[], int32[,], bool, uint16"},
        {"d[]; d; d[,]", "float64[]; float64; float64[,]"},
        {"", ""},
        {" ;\n ", ""},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(respell(rows[i][0]), rows[i][1]);
}

static void test_mistakes(void **unused) {
    static const struct {
        const char *source;
        int line, column;
        const char *part;
    } rows[] = {
        {"float64[", 1, 9, "expected \",\" or \"]\""},
        {"float64[3]", 1, 9, "got \"3\""},
        {"float64[;]", 1, 9, "got \";\""},
        {"float64[:, :]", 1, 9, "got \":\""},
        {"float64]", 1, 8, "got \"]\""},
        {"float64[][]", 1, 10, "expected the dimensions of an array as commas, as in \"float64[,]\", got \"[\""},
        {"[]", 1, 1, "expected a dtype, got \"[\""},
        {"d[],", 1, 5, "expected a dtype, got the end"},
        {",d", 1, 1, "expected a dtype"},
        {"d[] i", 1, 5, "expected \";\", a new line or the end, got \"i\""},
        {"integr", 1, 1, "unknown dtype \"integr\"; the dtypes and their codes are bool ?"},
        {"flaot[]", 1, 1, "unknown dtype \"flaot\"; did you mean \"float\"?"},
        {"float *", 1, 7, "expected \"[]\" behind the dtype of an array, got \"*\""},
        {"dd[]", 1, 1, "unknown dtype \"dd\""},
        {"Float32[]", 1, 1, "unknown dtype \"Float32\"; did you mean \"float32\"?"},
        {"T[], t[]", 1, 6, "unknown dtype \"t\""},
        {"Abcdefghijk[]", 1, 1, "unknown dtype \"Abcdefghijk\""},
        {"T[], any; T[], any", 1, 11, "the list \"T[], any\" repeats \"T[], any\" at 1:1"},
        {"d[];\nf[], z", 2, 6, "unknown dtype \"z\""},
        {"d[,,,,,,,,]", 1, 2, "an array of rank 9; 8 is the most"},
        {"d[]; d[], i", 1, 6, "a list of 2 parameters, where the first one has 1"},
        {"d[], i; d[]", 1, 9, "a list of 1 parameter, where the first one has 2"},
        {"d[], i;\n float64[],int32", 2, 2,
         "the list \"float64[],int32\" repeats \"d[], i\" at 1:1: both are float64[], int32"},
        {"d[] -> d", 1, 5, "has no outputs"},
        {"-> d", 1, 1, "expected a dtype, got \"->\""},
        {"d[\x01]", 1, 3, "got character 0x01"},
        {"d[\xC3\xA4]", 1, 3, "got \"\xC3\xA4\""},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        signature_list list;
        uf_status s = parameters_parse(&memory, rows[i].source, NULL, &list);
        const uf_error *e = uf_last_error();
        if (s != UF_ERR_SYNTAX || !strstr(e->message, rows[i].part) || e->line != rows[i].line ||
            e->column != rows[i].column)
            print_error("%s: %s\n", rows[i].source, e->message);
        assert_int_equal(s, UF_ERR_SYNTAX);
        assert_non_null(strstr(e->message, rows[i].part));
        assert_int_equal(e->line, rows[i].line);
        assert_int_equal(e->column, rows[i].column);
        assert_true(list.count == 0 && !list.types && !list.ranks);
    }
}

static void test_longest(void **unused) {
    char source[UF_MAX_OPERANDS * 24 + 32] = "", *at = source;
    dtype types[UF_MAX_OPERANDS];
    uint8_t ranks[UF_MAX_OPERANDS];
    int n;
    (void)unused;
    for (int k = 0; k < UF_MAX_OPERANDS; k++)
        at += sprintf(at, "%scomplex128[,,,,,,,]", k ? ", " : "");
    assert_string_equal(respell(source), source);
    assert_true(strlen(source) < ENTRY_TEXT);
    assert_int_equal(parameter_list_parse(source, types, ranks, &n), UF_OK);
    assert_true(n == UF_MAX_OPERANDS && types[n - 1] == DT_COMPLEX128 && ranks[n - 1] == 8);
    strcpy(at, ", d");
    assert_int_equal(parameter_list_parse(source, types, ranks, &n), UF_ERR_SYNTAX);
    assert_non_null(strstr(uf_last_error()->message, "at most 64 parameters"));
}

static void test_one_list(void **unused) {
    dtype types[UF_MAX_OPERANDS];
    uint8_t ranks[UF_MAX_OPERANDS];
    int n;
    (void)unused;
    assert_int_equal(parameter_list_parse("\n; d[,], i ;", types, ranks, &n), UF_OK);
    assert_true(n == 2 && types[0] == DT_FLOAT64 && ranks[0] == 2 && types[1] == DT_INT32 && ranks[1] == 0);
    assert_int_equal(parameter_list_parse("", types, ranks, &n), UF_OK);
    assert_int_equal(n, 0);
    assert_int_equal(parameter_list_parse("d; f", types, ranks, &n), UF_ERR_SYNTAX);
    assert_non_null(strstr(uf_last_error()->message, "expected one parameter list"));
}

/* What is written is read again. */
static void test_random(void **unused) {
    (void)unused;
    for (int64_t i = trials(2000); i > 0; i--) {
        dtype types[UF_MAX_OPERANDS], read[UF_MAX_OPERANDS];
        uint8_t ranks[UF_MAX_OPERANDS], read_ranks[UF_MAX_OPERANDS];
        char spelled[PARAMETERS_TEXT];
        int n = (int)pick(0, UF_MAX_OPERANDS), read_n;
        for (int k = 0; k < n; k++) {
            types[k] = (dtype)pick(0, DT_COUNT - 1);
            ranks[k] = (uint8_t)pick(0, LAYOUT_MAX_RANK);
        }
        parameters_format(spelled, types, ranks, n);
        assert_int_equal(parameter_list_parse(spelled, read, read_ranks, &read_n), UF_OK);
        assert_int_equal(read_n, n);
        assert_memory_equal(read, types, (size_t)n * sizeof *types);
        assert_memory_equal(read_ranks, ranks, (size_t)n);
    }
}

/* Core words: the sizes of all dimensions, then the strides of each array. */
static void test_layouts(void **unused) {
    static const uint8_t ranks[] = {2, 0, 1, 3};
    core_layout l;
    (void)unused;
    assert_int_equal(parameters_layout(&memory, ranks, 4, 2, &l), UF_OK);
    assert_true(l.nin == 6 && l.nout == 0 && l.nindices == 2 && l.ndims == 8 && l.nparameters == 14);
    int dim = 2, stride = 8;
    for (int k = 0; k < 6; k++) {
        assert_int_equal(l.operands[k].rank, k < 4 ? ranks[k] : 0);
        assert_int_equal(l.operands[k].strides, stride);
        stride += l.operands[k].rank;
        for (int d = 0; d < l.operands[k].rank; d++)
            assert_int_equal(l.operands[k].dim[d], dim++);
    }
    assert_true(dim == l.ndims && stride == l.nparameters);
    for (int d = 0; d < l.ndims; d++)
        assert_true(!l.dims[d].name && !l.dims[d].frozen && !l.dims[d].steps && !l.dims[d].optional);
    uint8_t most[8] = {8, 8, 8, 8, 8, 8, 8, 7};
    assert_int_equal(parameters_layout(&memory, most, 8, 1, &l), UF_OK);
    assert_int_equal(l.ndims, LAYOUT_MAX_DIMS);
    assert_int_equal(parameters_layout(&memory, most, 8, 2, &l), UF_ERR_SYNTAX);
    assert_non_null(strstr(uf_last_error()->message, "63 dimensions of arrays beside 2 indices; together, 64"));
    assert_int_equal(parameters_layout(&memory, most, 0, 1, &l), UF_OK);
    assert_true(l.nin == 1 && l.ndims == 1 && l.nparameters == 1);
}

/* ---- Choosing ---- */

typedef struct choice {
    const char *list;
    const char *arguments; /* as a parameter list; "#" before a dtype: an array of rank 0 */
    unsigned flags;
    int expected; /* -1: none matches */
} choice;

static void arguments_of(const char *source, dispatch_input *inputs) {
    dtype types[UF_MAX_OPERANDS];
    uint8_t ranks[UF_MAX_OPERANDS];
    int n;
    assert_int_equal(parameter_list_parse(source, types, ranks, &n), UF_OK);
    for (int k = 0; k < n; k++)
        inputs[k] =
            (dispatch_input){.type = types[k], .is_number = !ranks[k], .rank = ranks[k], .value = {.type = types[k]}};
}

static void test_choices(void **unused) {
    static const choice rows[] = {
        {"d[], d; f[], f", "d[], d", 0, 0},
        {"d[], d; f[], f", "f[], d", 0, 1}, /* numbers are weak beside arrays */
        {"d[], d; f[], f", "f[], i", 0, 1},
        {"d[], d; f[], f", "f[], F", 0, -1},
        {"d[], d; f[], f", "f[], d", UF_STRONG_NUMBERS, -1},
        {"d[], d; f[], f", "f[], e", UF_STRONG_NUMBERS, 1},
        {"d[], d; f[], f", "f[,], d", 0, -1},
        {"d[], d; f[], f", "i[], d", 0, -1}, /* arrays are not cast */
        {"d[], d; f[], f", "d[], d[]", 0, -1},
        {"d[], d; f[], f", "d, d", 0, -1},
        {"d[], f; d[], i; d[], d", "d[], i", 0, 1},
        {"d[], f; d[], i; d[], d", "d[], d", 0, 0}, /* of those that a weak number matches the narrowest */
        {"d[], d; d[], f", "d[], d", 0, 1},
        {"d[], d; d[], f", "d[], d", UF_FIRST_MATCH, 0},
        {"d[], d; d[], f", "d[], f", UF_STRONG_NUMBERS, 1},
        {"i[], e; i[], d; i[], f", "i[], f", 0, 1}, /* beside lesser arrays as float64, int64 .. */
        {"?[], b; ?[], l; ?[], L", "?[], i", 0, 1},
        {"i[], F; i[], D", "i[], F", 0, 1},
        {"i[], f", "i[], d", 0, 0}, /* .. but if no list has these, by kind */
        {"i[], f; i[], i", "i[], d", 0, 0},
        {"?[], L; ?[], f", "?[], i", 0, 0},
        {"i[], f", "i[], d", UF_STRONG_NUMBERS, -1},
        {"i[], f", "i[], D", 0, -1},
        {"d, d; f, f", "f, f", 0, 1}, /* no arrays: numbers are strong */
        {"d, d; f, f", "f, d", 0, 0},
        {"d, d; f, f", "F, d", 0, -1},
        {"", "", 0, 0},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        signature_list list;
        dispatch_input inputs[UF_MAX_OPERANDS];
        int chosen;
        assert_int_equal(parameters_parse(&memory, rows[i].list, NULL, &list), UF_OK);
        list.indices = arena_alloc(&memory, (size_t)list.count);
        memset(list.indices, 3, (size_t)list.count);
        arguments_of(rows[i].arguments, inputs);
        uf_status s = dispatch_kernel("k", &list, 3, inputs, rows[i].flags, NULL, &chosen);
        if (s != (rows[i].expected < 0 ? UF_ERR_SIGNATURE : UF_OK) || (!s && chosen != rows[i].expected))
            print_error("row %zu: %s\n", i, s ? uf_last_error()->message : "another one is chosen");
        assert_int_equal(s, rows[i].expected < 0 ? UF_ERR_SIGNATURE : UF_OK);
        if (!s)
            assert_int_equal(chosen, rows[i].expected);
    }
}

/* A list of kernels over one and over two indices. */
static void mixed_list(signature_list *list) {
    assert_int_equal(parameters_parse(&memory, "d[], i; f[], i; d[,], i; d[], h", NULL, list), UF_OK);
    list->indices = arena_alloc(&memory, 4);
    memcpy(list->indices, (uint8_t[]){1, 1, 2, 2}, 4);
}

static void test_indices(void **unused) {
    signature_list list;
    dispatch_input inputs[2];
    int chosen;
    (void)unused;
    mixed_list(&list);
    arguments_of("d[], i", inputs);
    assert_int_equal(dispatch_kernel("k", &list, 1, inputs, 0, NULL, &chosen), UF_OK);
    assert_int_equal(chosen, 0);
    assert_int_equal(dispatch_kernel("k", &list, 2, inputs, 0, NULL, &chosen), UF_OK);
    assert_int_equal(chosen, 3);
    assert_int_equal(dispatch_kernel("k", &list, 1, inputs, 0, " l[],i", &chosen), UF_ERR_SIGNATURE);
    assert_int_equal(dispatch_kernel("k", &list, 1, inputs, 0, "d[],i", &chosen), UF_OK);
    assert_int_equal(chosen, 0);
    assert_int_equal(dispatch_kernel("k", &list, 2, inputs, 0, "d[],i", &chosen), UF_ERR_SIGNATURE);
    assert_string_equal(uf_last_error()->message,
                        "k: the parameter list asked for, float64[], int32, is not in its list\n"
                        "  float64[], int32: over 1 index\n"
                        "  float32[], int32: over 1 index\n"
                        "  float64[,], int32: argument 0 is float64[], which is not float64[,]\n"
                        "  float64[], int16");
}

/* Among the lists whose indices and arrays are those of the call, the choice is that of signatures; where there is none, that of
 * signatures for which numbers count by kind. */
static void test_random_choices(void **unused) {
    enum {
        LISTS = 12,
        PARAMETERS = 4
    };
    static const dtype some[] = {DT_BOOL, DT_INT8, DT_INT32, DT_UINT64, DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64};
    int matched = 0;
    (void)unused;
    for (int64_t trial = trials(20000); trial > 0; trial--) {
        dtype types[LISTS * PARAMETERS], like_types[LISTS * (PARAMETERS + 1)], kind_types[LISTS * (PARAMETERS + 2)];
        uint8_t ranks[LISTS * PARAMETERS], indices[LISTS];
        int n = (int)pick(1, PARAMETERS), of[LISTS], chosen, expected;
        signature_list list = {.count = (int)pick(1, LISTS),
                               .nin = n,
                               .types = types,
                               .ranks = ranks,
                               .indices = indices},
                       like = {.nin = n, .nout = 1, .types = like_types},
                       by_kind = {.nin = n + 1, .nout = 1, .types = kind_types};
        dispatch_input inputs[PARAMETERS + 1];
        bool arrays = false;
        for (int k = 0; k < n; k++) {
            bool is_number = chance(60);
            arrays |= !is_number;
            inputs[k] = (dispatch_input){.type = some[pick(0, COUNT(some) - 1)],
                                         .is_number = is_number,
                                         .rank = is_number ? 0 : (int)pick(1, 2)};
            inputs[k].value.type = inputs[k].type;
        }
        for (int s = 0; s < list.count; s++) {
            bool fits = (indices[s] = (uint8_t)pick(1, 2)) == 1;
            for (int k = 0; k < n; k++) {
                bool same = chance(80);
                types[s * n + k] = same && !inputs[k].is_number ? inputs[k].type : some[pick(0, COUNT(some) - 1)];
                ranks[s * n + k] = (uint8_t)(same ? inputs[k].rank : pick(0, 2));
                fits = fits && ranks[s * n + k] == inputs[k].rank &&
                       (inputs[k].is_number || types[s * n + k] == inputs[k].type);
            }
            if (!fits)
                continue;
            memcpy(like_types + like.count * (n + 1), types + s * n, (size_t)n * sizeof *types);
            like_types[like.count * (n + 1) + n] = DT_BOOL;
            memcpy(kind_types + like.count * (n + 2), types + s * n, (size_t)n * sizeof *types);
            kind_types[like.count * (n + 2) + n] = kind_types[like.count * (n + 2) + n + 1] = DT_COMPLEX128;
            of[like.count++] = s;
        }
        by_kind.count = like.count;
        inputs[n] = (dispatch_input){.type = DT_COMPLEX128};
        unsigned flags = (chance(30) ? UF_FIRST_MATCH : 0u) | (chance(30) ? UF_STRONG_NUMBERS : 0u);
        uf_status s = dispatch_kernel("k", &list, 1, inputs, flags, NULL, &chosen);
        uf_status t =
            like.count ? dispatch("k", &like, inputs, flags, UF_CAST_DEFAULT, NULL, &expected) : UF_ERR_SIGNATURE;
        if (like.count && t && arrays) /* beside one more array, of the most general kind, numbers count by theirs */
            t = dispatch("k", &by_kind, inputs, flags, UF_CAST_DEFAULT, NULL, &expected);
        assert_int_equal(s, t);
        matched += !s;
        if (!s)
            assert_int_equal(chosen, of[expected]);
    }
    assert_true(matched > 0);
}

/* Every list, and the first argument that does not fit. */
static void test_errors(void **unused) {
    signature_list list;
    dispatch_input inputs[2];
    int chosen;
    (void)unused;
    mixed_list(&list);
    arguments_of("d[], d", inputs);
    assert_int_equal(dispatch_kernel("k", &list, 1, inputs, 0, NULL, &chosen), UF_ERR_SIGNATURE);
    assert_string_equal(uf_last_error()->message,
                        "k: no parameter list matches the arguments (float64[], a floating number)\n"
                        "  float64[], int32: argument 1 is a floating number, which does not cast safely to int32\n"
                        "  float32[], int32: argument 0 is float64[], which is not float32[]\n"
                        "  float64[,], int32: over 2 indices\n"
                        "  float64[], int16: over 2 indices");
    arguments_of("i, d[,,]", inputs);
    assert_int_equal(dispatch_kernel("k", &list, 2, inputs, 0, NULL, &chosen), UF_ERR_SIGNATURE);
    assert_non_null(strstr(uf_last_error()->message, "(an integer number, float64[,,])"));
    assert_non_null(strstr(uf_last_error()->message, "argument 0 is an integer number, which is not float64[,]"));
    arguments_of("d[], d[,,]", inputs);
    assert_int_equal(dispatch_kernel("k", &list, 2, inputs, 0, NULL, &chosen), UF_ERR_SIGNATURE);
    assert_non_null(strstr(uf_last_error()->message, "argument 1 is float64[,,], which is not a number: int16"));
    inputs[1] = (dispatch_input){.type = DT_INT16, .rank = 0}; /* in device memory */
    assert_int_equal(dispatch_kernel("k", &list, 2, inputs, 0, NULL, &chosen), UF_ERR_SIGNATURE);
    assert_non_null(strstr(uf_last_error()->message, "argument 1 is int16 of rank 0, which is not a number: int16"));
    inputs[1].rank = 64;
    assert_int_equal(dispatch_kernel("k", &list, 2, inputs, 0, NULL, &chosen), UF_ERR_SIGNATURE);
    assert_non_null(strstr(uf_last_error()->message, "int16 of rank 64"));
}

static void test_values(void **unused) {
    signature_list list;
    dispatch_input inputs[2];
    int chosen;
    (void)unused;
    mixed_list(&list);
    arguments_of("d[], l", inputs);
    inputs[1].value.as.i = 40000;
    assert_int_equal(dispatch_kernel("k", &list, 1, inputs, 0, NULL, &chosen), UF_OK);
    assert_int_equal(dispatch_kernel("k", &list, 2, inputs, 0, NULL, &chosen), UF_ERR_CAST);
    assert_non_null(
        strstr(uf_last_error()->message,
               "argument 1: 40000 does not fit int16, its dtype in the parameter list float64[], int16 of k"));
    assert_int_equal(dispatch_kernel("k", &list, 2, inputs, 0, "d[], h", &chosen), UF_ERR_CAST);
    /* Another list of the same arrays may have room. */
    assert_int_equal(parameters_parse(&memory, "d[], h; d[], b; d[], i; d[], L", NULL, &list), UF_OK);
    list.indices = arena_alloc(&memory, 4);
    memset(list.indices, 1, 4);
    static const struct {
        int64_t value;
        int chosen;
    } rows[] = {{-128, 1}, {128, 0}, {-40000, 2}, {40000, 2}, {3000000000, -1}, {-3000000000, -1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        inputs[1].value.as.i = rows[i].value;
        uf_status s = dispatch_kernel("k", &list, 1, inputs, 0, NULL, &chosen);
        assert_int_equal(s, rows[i].chosen < 0 ? UF_ERR_CAST : UF_OK);
        assert_true(s || chosen == rows[i].chosen);
    }
    mixed_list(&list);
    arguments_of("d[], d", inputs);
    assert_int_equal(dispatch_kernel("k", &list, 2, inputs, 0, "d[], h", &chosen), UF_ERR_CAST);
    arguments_of("f[], i", inputs);
    assert_int_equal(dispatch_kernel("k", &list, 2, inputs, 0, "d[], h", &chosen), UF_ERR_SIGNATURE);
    assert_int_equal(uf_last_error()->argument, 0);
    assert_non_null(strstr(uf_last_error()->message,
                           "is float32[], but the parameter list asked for (float64[], int16) of k has float64[]"));
    assert_int_equal(dispatch_kernel("k", &list, 2, inputs, 0, "d[", &chosen), UF_ERR_SYNTAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_spellings, reset),      cmocka_unit_test_teardown(test_mistakes, reset),
        cmocka_unit_test_teardown(test_longest, reset),        cmocka_unit_test_teardown(test_one_list, reset),
        cmocka_unit_test_teardown(test_random, reset),         cmocka_unit_test_teardown(test_layouts, reset),
        cmocka_unit_test_teardown(test_choices, reset),        cmocka_unit_test_teardown(test_indices, reset),
        cmocka_unit_test_teardown(test_random_choices, reset), cmocka_unit_test_teardown(test_errors, reset),
        cmocka_unit_test_teardown(test_values, reset),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
