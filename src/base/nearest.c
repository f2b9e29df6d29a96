/* nearest.c - the known word that is most like a word that is not known, for errors that ask whether it was meant. */
#include "base/base.h"
#include "base/distance.h"

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Do the words differ in nothing but capital letters? */
static bool same_but_case(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

nearest_word nearest_begin(const char *word, size_t length) {
    /* What differs in fewer letters than this is taken for the word, misspelled. */
    int distance = length <= 1 ? 1 : length <= 4 ? 2 : length <= 7 ? 3 : 4;
    return (nearest_word){.word = word, .length = length, .distance = distance};
}

void nearest_try(nearest_word *n, const char *known, size_t length) {
    size_t more = length > n->length ? length - n->length : n->length - length;
    if (more >= (size_t)n->distance)
        return; /* so many letters are missing at least */
    int distance = length == n->length && same_but_case(n->word, known, length)
                       ? 0
                       : word_distance(n->word, n->length, known, length);
    size_t shorter = length < n->length ? length : n->length;
    if (distance < n->distance && 2 * (size_t)distance <= shorter) {
        n->distance = distance;
        n->best = known;
        n->best_length = length;
    }
}

void nearest_try_text(nearest_word *n, const char *known) { nearest_try(n, known, strlen(known)); }
