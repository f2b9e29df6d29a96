/* transpose.c - see transpose.h. A perfect shuffle of all vectors' elements, as often as the logarithm of their number says. What lies in
 * different parts of a vector is never mixed: the parts have 16 bytes, within which an instruction for wider vectors shuffles. */
#include "ir/common/transpose.h"

#include <assert.h>
#include <string.h>

/* In each part the elements of two vectors in turn, those of its low or of its high half. */
static ssa interleave(emit *e, const char *type, int n, int parts, ssa a, ssa b, bool high) {
    text mask = {0};
    for (int i = 0; i < n * parts; i++)
        text_printf(&mask, "%si32 %d", i ? ", " : "",
                    i / n * n + i % n / 2 + (high ? n / 2 : 0) + (i % 2 ? n * parts : 0));
    e->failed |= mask.failed;
    ssa all = emit_value(e, "shufflevector %s %s, %s %s, <%d x i32> <%s>", type, a.text, type, b.text, n * parts,
                         mask.failed ? "" : mask.data);
    text_free(&mask);
    return all;
}

void emit_transpose(emit *e, const char *type, int n, int parts, ssa *vectors) {
    ssa next[SQUARE_MAX];
    assert(n <= SQUARE_MAX);
    for (int step = 1; step < n; step *= 2) {
        for (int i = 0; i < n / 2; i++)
            for (int high = 0; high < 2; high++)
                next[2 * i + high] = interleave(e, type, n, parts, vectors[i], vectors[i + n / 2], high);
        memcpy(vectors, next, (size_t)n * sizeof *vectors);
    }
}
