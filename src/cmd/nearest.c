/* nearest.c - how far apart two names are, to guess which one was meant. */
#include <limits.h>
#include <string.h>

#include "cmd.h"

enum {
    LONGEST = 64
};

static int least(int a, int b, int c) {
    int two = a < b ? a : b;
    return two < c ? two : c;
}

int letters_apart(const char *a, const char *b) {
    int rows[3][LONGEST + 1]; /* of the table of distances between beginnings of a and of b, the last three */
    const int n = (int)strlen(a), m = (int)strlen(b);
    if (n >= LONGEST || m >= LONGEST)
        return INT_MAX;
    for (int j = 0; j <= m; j++)
        rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = rows[i % 3];
        const int *last = rows[(i + 2) % 3], *second_last = rows[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            now[j] = least(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && second_last[j - 2] + 1 < now[j])
                now[j] = second_last[j - 2] + 1;
        }
    }
    return rows[n % 3][m];
}

bool is_near(const char *given, const char *name) {
    size_t length = strlen(name);
    return letters_apart(given, name) <= (length < 3 ? 0 : length < 6 ? 1 : 2);
}
