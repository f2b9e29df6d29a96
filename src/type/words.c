/* words.c - dtypes by the names that other languages have for them: those of C, in kernels and in signatures, and in signatures those of
 * NumPy and Numba, "f8", "<i4", "intp". C's names mean what they mean in C on the machines that this library runs on, where long has 64
 * bits; so float is float32, as in kernels, and not NumPy's. */
#include "type/words.h"

static const struct {
    const char *text;
    int word;
} words[] = {
    {"char", WORD_CHAR},       {"short", WORD_SHORT},       {"int", WORD_INT},     {"long", WORD_LONG},
    {"signed", WORD_SIGNED},   {"unsigned", WORD_UNSIGNED}, {"float", WORD_FLOAT}, {"double", WORD_DOUBLE},
    {"complex", WORD_COMPLEX}, {"_Complex", WORD_COMPLEX},  {"_Bool", WORD_BOOL},
};

static const struct {
    int words;
    dtype type;
} types[] = {
    {WORD_BOOL, DT_BOOL},
    {WORD_CHAR, DT_INT8},
    {WORD_SIGNED | WORD_CHAR, DT_INT8},
    {WORD_UNSIGNED | WORD_CHAR, DT_UINT8},
    {WORD_SHORT, DT_INT16},
    {WORD_UNSIGNED | WORD_SHORT, DT_UINT16},
    {WORD_INT, DT_INT32},
    {WORD_SIGNED, DT_INT32},
    {WORD_UNSIGNED, DT_UINT32},
    {WORD_LONG, DT_INT64},
    {WORD_UNSIGNED | WORD_LONG, DT_UINT64},
    {WORD_LONG | WORD_LONG_LONG, DT_INT64},
    {WORD_UNSIGNED | WORD_LONG | WORD_LONG_LONG, DT_UINT64},
    {WORD_FLOAT, DT_FLOAT32},
    {WORD_DOUBLE, DT_FLOAT64},
    {WORD_FLOAT | WORD_COMPLEX, DT_COMPLEX64},
    {WORD_DOUBLE | WORD_COMPLEX, DT_COMPLEX128},
};

typedef struct named {
    const char *name;
    dtype type;
} named;

/* C's names of one word, beside those above. */
static const named c_names[] = {
    {"int8_t", DT_INT8},      {"int16_t", DT_INT16},    {"int32_t", DT_INT32},   {"int64_t", DT_INT64},
    {"uint8_t", DT_UINT8},    {"uint16_t", DT_UINT16},  {"uint32_t", DT_UINT32}, {"uint64_t", DT_UINT64},
    {"size_t", DT_UINT64},    {"ssize_t", DT_INT64},    {"ptrdiff_t", DT_INT64}, {"intptr_t", DT_INT64},
    {"uintptr_t", DT_UINT64}, {"_Float16", DT_FLOAT16}, {"__bf16", DT_BFLOAT16},
};

/* Names of NumPy and Numba. */
static const named array_names[] = {
    {"b1", DT_BOOL},           {"i1", DT_INT8},
    {"i2", DT_INT16},          {"i4", DT_INT32},
    {"i8", DT_INT64},          {"u1", DT_UINT8},
    {"u2", DT_UINT16},         {"u4", DT_UINT32},
    {"u8", DT_UINT64},         {"f2", DT_FLOAT16},
    {"f4", DT_FLOAT32},        {"f8", DT_FLOAT64},
    {"c8", DT_COMPLEX64},      {"c16", DT_COMPLEX128},
    {"bool_", DT_BOOL},        {"boolean", DT_BOOL},
    {"byte", DT_INT8},         {"ubyte", DT_UINT8},
    {"half", DT_FLOAT16},      {"single", DT_FLOAT32},
    {"csingle", DT_COMPLEX64}, {"cdouble", DT_COMPLEX128},
    {"intp", DT_INT64},        {"uintp", DT_UINT64},
};

static dtype look_up(const named *list, size_t count, const char *name, size_t length) {
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i].name) == length && memcmp(list[i].name, name, length) == 0)
            return list[i].type;
    return DT_NONE;
}

int type_word_find(const char *word, size_t length) {
    for (size_t i = 0; i < COUNT(words); i++)
        if (strlen(words[i].text) == length && memcmp(words[i].text, word, length) == 0)
            return words[i].word;
    return 0;
}

bool type_words_add(int *set, int word) {
    if (word == WORD_LONG && *set & WORD_LONG && !(*set & WORD_LONG_LONG))
        word = WORD_LONG_LONG;
    bool once = !(*set & word);
    *set |= word;
    return once;
}

/* Beside another word for an integer type, `int` and `signed` make no difference. */
dtype dtype_of_words(int set) {
    if (set & (WORD_SHORT | WORD_LONG | WORD_UNSIGNED) && !(set & WORD_CHAR))
        set &= ~WORD_INT;
    if (set & (WORD_SHORT | WORD_LONG | WORD_INT) && !(set & WORD_UNSIGNED))
        set &= ~WORD_SIGNED;
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i].words == set)
            return types[i].type;
    return DT_NONE;
}

dtype dtype_of_c_name(const char *name, size_t length) { return look_up(c_names, COUNT(c_names), name, length); }

dtype dtype_of_array_name(const char *name, size_t length) {
    return look_up(array_names, COUNT(array_names), name, length);
}

void dtype_names_try(nearest_word *n) {
    for (int t = 0; t < DT_COUNT; t++)
        nearest_try_text(n, dtypes[t].name);
    for (size_t i = 0; i < COUNT(words); i++)
        nearest_try_text(n, words[i].text);
    for (size_t i = 0; i < COUNT(c_names); i++)
        nearest_try_text(n, c_names[i].name);
}
