/* foreign.c - words that other languages have and kernel C has not, with what to write in their place, for errors about words that are
 * not known. */
#include "lang/syntax.h"

static const struct {
    const char *word;
    foreign_use use;
    const char *advice; /* of FOREIGN_NAME the name here, else a sentence */
} words[] = {
    {"arccos", FOREIGN_NAME, "acos"},
    {"arccosh", FOREIGN_NAME, "acosh"},
    {"arcsin", FOREIGN_NAME, "asin"},
    {"arcsinh", FOREIGN_NAME, "asinh"},
    {"arctan", FOREIGN_NAME, "atan"},
    {"arctan2", FOREIGN_NAME, "atan2"},
    {"arctanh", FOREIGN_NAME, "atanh"},
    {"absolute", FOREIGN_NAME, "abs"},
    {"bitwise_count", FOREIGN_NAME, "popcount"},
    {"clip", FOREIGN_NAME, "clamp"},
    {"conjugate", FOREIGN_NAME, "conj"},
    {"gamma", FOREIGN_NAME, "tgamma"},
    {"gammaln", FOREIGN_NAME, "lgamma"},
    {"inf", FOREIGN_NAME, "INFINITY"},
    {"Inf", FOREIGN_NAME, "INFINITY"},
    {"ln", FOREIGN_NAME, "log"},
    {"maximum", FOREIGN_NAME, "max"},
    {"minimum", FOREIGN_NAME, "min"},
    {"mod", FOREIGN_NAME, "fmod"},
    {"pi", FOREIGN_NAME, "M_PI"},
    {"PI", FOREIGN_NAME, "M_PI"},
    {"power", FOREIGN_NAME, "pow"},
    {"reciprocal", FOREIGN_NAME, "rcp"},
    {"sgn", FOREIGN_NAME, "sign"},

    {"and", FOREIGN_WORD, "write &&"},
    {"or", FOREIGN_WORD, "write ||"},
    {"not", FOREIGN_WORD, "write !"},
    {"is", FOREIGN_WORD, "write =="},
    {"in", FOREIGN_WORD, "a loop is written for (int i = 0; i < n; i++)"},
    {"elif", FOREIGN_WORD, "write else if (..)"},
    {"elseif", FOREIGN_WORD, "write else if (..)"},
    {"then", FOREIGN_WORD, "an if has no 'then': if (x > 0) { .. }"},
    {"let", FOREIGN_WORD, "a variable is declared by auto, or by its type: auto y = .."},
    {"var", FOREIGN_WORD, "a variable is declared by auto, or by its type: auto y = .."},
    {"def", FOREIGN_WORD, "a helper is written f(x) { return ..; }, a kernel (x) { return ..; }"},
    {"fn", FOREIGN_WORD, "a helper is written f(x) { return ..; }, a kernel (x) { return ..; }"},
    {"function", FOREIGN_WORD, "a helper is written f(x) { return ..; }, a kernel (x) { return ..; }"},
    {"lambda", FOREIGN_WORD, "a kernel is written (x) { return ..; }"},
    {"template", FOREIGN_WORD,
     "there are no templates: a helper's parameters without types take any type, f(x) { return ..; }"},
    {"import", FOREIGN_WORD, "a text uses modules and functions by 'use name;' at its head"},
    {"class", FOREIGN_WORD, "a record is written struct point { float x, y; };"},
    {"typedef", FOREIGN_WORD, "a record is written struct point { float x, y; };"},
    {"enum", FOREIGN_WORD, "constants are written const red = 0, green = 1;"},
    {"void", FOREIGN_WORD, "a helper is written f(x) { return ..; }, without types"},
    {"static", FOREIGN_WORD, "constants stand before the kernel, const n = 3; and no variable outlives its element"},
    {"inline", FOREIGN_WORD, "all helpers are inlined"},
    {"goto", FOREIGN_WORD, "loops are left by break, continue and return"},
    {"sizeof", FOREIGN_WORD, "the number of elements of an array is len(a)"},
    {"__global__", FOREIGN_WORD,
     "a kernel has neither a type nor a name: (x, y) { .. }, or [i](a, b) { .. } over indices"},
    {"__device__", FOREIGN_WORD, "a helper has no type: f(x) { return ..; }"},

    {"None", FOREIGN_VALUE, "there is no such value; NAN marks floating numbers that are missing"},
    {"NULL", FOREIGN_VALUE, "there are no pointers in kernel C"},
    {"nullptr", FOREIGN_VALUE, "there are no pointers in kernel C"},
    {"np", FOREIGN_VALUE, "functions stand alone: sqrt(x)"},
    {"numpy", FOREIGN_VALUE, "functions stand alone: sqrt(x)"},
    {"math", FOREIGN_VALUE, "functions stand alone: sqrt(x)"},
    {"threadIdx", FOREIGN_VALUE, "a kernel over indices names them in front: [i, j](..)"},
    {"blockIdx", FOREIGN_VALUE, "a kernel over indices names them in front: [i, j](..)"},
    {"blockDim", FOREIGN_VALUE, "a kernel over indices names its extents in front: [i : n, j : m](..)"},

    {"print", FOREIGN_CALL, "kernels print nothing"},
    {"printf", FOREIGN_CALL, "kernels print nothing"},
    {"malloc", FOREIGN_CALL, "there is no memory to allocate; a variable is declared by its type: float64 w[8];"},
    {"free", FOREIGN_CALL, "there is no memory to free"},
    {"memcpy", FOREIGN_CALL, "elements are copied one by one: forall (i : n) a[i] = b[i];"},
    {"memset", FOREIGN_CALL, "elements are set one by one: forall (i : n) a[i] = 0;"},
    {"range", FOREIGN_CALL, "a loop is written for (int i = 0; i < n; i++), and a sum sum(i : n, ..)"},
    {"rand", FOREIGN_CALL, "random numbers are random_uniform(seed, i, 0) and its like"},
    {"random", FOREIGN_CALL, "random numbers are random_uniform(seed, i, 0) and its like"},
    {"size", FOREIGN_CALL, "the number of elements of an array is len(a)"},
    {"shape", FOREIGN_CALL, "the extents of an array are extent(a, 0), extent(a, 1) .."},
    {"float", FOREIGN_CALL, "a value is converted by a cast: (float)x"},
    {"mean", FOREIGN_CALL, "a mean is a sum that is divided: sum(i : n, x[i]) / n"},
    {"zeros", FOREIGN_CALL, "an array is declared by its type: float64 w[8] = {0};"},
    {"__syncthreads", FOREIGN_CALL, "points of a space do not wait for each other"},
    {"atomicAdd", FOREIGN_CALL, "atomic_add takes the element: atomic_add(h[i], 1)"},
};

const char *foreign_find(const char *word, size_t length, foreign_use use) {
    for (size_t i = 0; i < COUNT(words); i++)
        if (words[i].use == use && strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0)
            return words[i].advice;
    return NULL;
}
