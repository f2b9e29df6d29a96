/* at.c - updates in place on the CPU. They are made in the order of the indices, and so on one thread. But where the
 * indices stay the same along the rows of the loop, each thread takes some columns of it, and makes the updates of
 * these in the order of the rows. */
#include "cpu/cpu.h"

enum {
    COLUMNS = 64, /* a unit has at least so many columns, */
    UNITS = 256   /* and there are at most so many units */
};

static void columns_run(const work *w, int64_t first, int64_t last) {
    int64_t n = w->l->loop->extent[0], begin = first * w->piece, end = last * w->piece;
    rows_run(w->c, w->l, begin, (end < n ? end : n) - begin, 0, w->l->loop->count / n);
}

void cpu_at_launch(code *c, const launch *l) {
    int64_t n = l->loop->extent[0], rows = l->loop->count / n, piece = (n + UNITS - 1) / UNITS;
    piece = (piece + COLUMNS - 1) / COLUMNS * COLUMNS;
    if (piece >= n || !variant_at_rows(l->v)) {
        rows_run(c, l, 0, n, 0, rows);
        return;
    }
    work_run(&(work){.c = c,
                     .l = l,
                     .run = columns_run,
                     .units = (n + piece - 1) / piece,
                     .unit_steps = (double)piece * (double)rows,
                     .probe_min = PROBE_MIN,
                     .grain = 1,
                     .piece = piece});
}
