/* nearest.c - how far apart two names are, to guess which one was meant. */
#include <string.h>

#include "base/distance.h"
#include "cmd.h"

int letters_apart(const char *a, const char *b) { return word_distance(a, strlen(a), b, strlen(b)); }

bool is_near(const char *given, const char *name) {
    size_t length = strlen(name);
    return letters_apart(given, name) <= (length < 3 ? 0 : length < 6 ? 1 : 2);
}
