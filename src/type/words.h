/* words.h - dtypes by the names that C, NumPy and Numba have for them. */
#ifndef UF_TYPE_WORDS_H
#define UF_TYPE_WORDS_H

#include "type/type.h"

/* The words of which C's types are made up. A type is a set of them, in which `long` may occur twice. */
typedef enum c_type_word {
    WORD_SIGNED = 1,
    WORD_UNSIGNED = 2,
    WORD_CHAR = 4,
    WORD_SHORT = 8,
    WORD_INT = 16,
    WORD_LONG = 32,
    WORD_LONG_LONG = 64,
    WORD_FLOAT = 128,
    WORD_DOUBLE = 256,
    WORD_COMPLEX = 512,
    WORD_BOOL = 1024
} c_type_word;

int type_word_find(const char *word, size_t length); /* 0: it is none of them */
bool type_words_add(int *set, int word);             /* false: the set has the word already */
dtype dtype_of_words(int set);                       /* DT_NONE: the words are no type */

/* C's other names, "int32_t", "size_t"; DT_NONE if unknown. */
dtype dtype_of_c_name(const char *name, size_t length);
/* NumPy's and Numba's names beside their type characters, "f8", "intp", without a byte order; DT_NONE if unknown. */
dtype dtype_of_array_name(const char *name, size_t length);
/* Tries the names of dtypes that kernels and signatures have in common. */
void dtype_names_try(nearest_word *n);

#endif
