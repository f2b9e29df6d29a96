/* distance.h - how far apart two words are: for the library's errors about words that are not known, and for those of the tool. */
#ifndef BASE_DISTANCE_H
#define BASE_DISTANCE_H

#include <stddef.h>

/* How many letters must be inserted, removed, replaced or swapped with their neighbour to turn one word into another
 * (the Damerau-Levenshtein distance). Of words of more than 127 letters only the beginnings are compared. */
int word_distance(const char *a, size_t na, const char *b, size_t nb);

#endif
