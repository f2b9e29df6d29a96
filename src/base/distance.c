/* distance.c - how far apart two words are. It uses nothing else of the library, and is built into the tool as well. */
#include "base/distance.h"

enum {
    LETTERS = 127 /* of longer words only the beginnings are compared */
};

int word_distance(const char *a, size_t na, const char *b, size_t nb) {
    int rows[3][LETTERS + 1], *before = rows[0], *last = rows[1], *now = rows[2];
    int rest = (int)((na > LETTERS) != (nb > LETTERS)); /* one word was cut and the other was not: they differ */
    na = na > LETTERS ? LETTERS : na;
    nb = nb > LETTERS ? LETTERS : nb;
    for (size_t j = 0; j <= nb; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        int *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[nb] + rest;
}
