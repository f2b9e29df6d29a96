/* interleave.c - from the strides and addresses of a loop's arrays to groups of arrays that lie interleaved, as the fields of an array of
 * records do: code that knows them reads and writes whole records. */
#include "nd/nd.h"

__extension__ typedef unsigned __int128 bytes_mask; /* bit i: byte i of a record; ND_RECORD_MAX bits */

/* What is searched: the arrays of a loop, or of a reduction, through all dimensions of its two loops. */
typedef struct walk {
    const nd_loop *loops[2]; /* the second one may be NULL */
    const nd_place *place;
} walk;

/* The stride of array k in dimension d in bytes; 0 also where it has one element. */
static int64_t step(const walk *w, int d, int k) {
    int inner = w->loops[0]->ndim;
    const nd_loop *loop = d < inner ? w->loops[0] : w->loops[1];
    d = d < inner ? d : d - inner;
    return loop->extent[d] == 1 ? 0 : loop->stride[d * loop->narrays + k] * w->place[k].size;
}

static int dimensions(const walk *w) { return w->loops[0]->ndim + (w->loops[1] ? w->loops[1]->ndim : 0); }

static bool same_steps(const walk *w, int a, int b) {
    for (int d = 0, n = dimensions(w); d < n; d++)
        if (step(w, d, a) != step(w, d, b))
            return false;
    return true;
}

/* The smallest distance of two elements that are neighbours in a dimension; INT64_MAX: there are none. */
static int64_t nearest(const walk *w, int k) {
    int64_t least = INT64_MAX;
    for (int d = 0, n = dimensions(w); d < n; d++) {
        int64_t s = step(w, d, k);
        s = s < 0 ? -s : s;
        least = s && s < least ? s : least;
    }
    return least;
}

static uint8_t alignment(const walk *w, int k) {
    uint64_t all = w->place[k].address | ACCESS_BYTES;
    for (int d = 0, n = dimensions(w); d < n; d++)
        all |= (uint64_t)step(w, d, k);
    return (uint8_t)__builtin_ctzll(all);
}

/* Elements that lie side by side by themselves make wide accesses without others. */
static bool is_free(const walk *w, const nd_member *m, int k) {
    int kind = w->loops[0]->kind[k];
    bool strided = w->loops[1] ? kind < OPERAND_NUMBER && nearest(w, k) > w->place[k].size : kind == OPERAND_STRIDED;
    return strided && !m[k].group && w->place[k].address;
}

/* The array of the lowest address among first .. last-1 that is in no group and was not tried; -1: there is none. */
static int lowest(const walk *w, const nd_member *m, const bool *tried, int first, int last) {
    int found = -1;
    for (int k = first; k < last; k++)
        if (!tried[k] && is_free(w, m, k) && (found < 0 || w->place[k].address < w->place[found].address))
            found = k;
    return found;
}

static bool belongs(const walk *w, int leader, int k, int64_t most) {
    const nd_place *from = &w->place[leader], *to = &w->place[k];
    uintptr_t offset = to->address - from->address;
    return to->address >= from->address && offset + to->size <= (uintptr_t)most && offset % to->align == 0 &&
           same_steps(w, leader, k);
}

/* The arrays that belong to a leader, itself among them, and what they cover. */
typedef struct company {
    int n, reach, covered;
    uint8_t array[VARIANT_OPERANDS];
} company;

static void company_find(const walk *w, const nd_member *m, int leader, int first, int last, company *c) {
    int64_t most = nearest(w, leader);
    bytes_mask mask = 0;
    c->n = c->reach = 0;
    for (int k = first; k < last; k++) {
        if (!is_free(w, m, k) || !belongs(w, leader, k, most < ND_RECORD_MAX ? most : ND_RECORD_MAX))
            continue;
        int offset = (int)(w->place[k].address - w->place[leader].address), end = offset + w->place[k].size;
        mask |= (((bytes_mask)1 << w->place[k].size) - 1) << offset;
        c->reach = end > c->reach ? end : c->reach;
        c->array[c->n++] = (uint8_t)k;
    }
    c->covered = __builtin_popcountll((uint64_t)mask) + __builtin_popcountll((uint64_t)(mask >> 64));
}

/* Makes a group of them, if they are more than the leader, and cover at least half of what they reach. records: the stride of dimension 0
 * may be a record's, of which they must cover as much. */
static void group_make(const walk *w, int leader, int first, int last, bool records, nd_member *m) {
    company c;
    company_find(w, m, leader, first, last, &c);
    if (c.covered <= w->place[leader].size || 2 * c.covered < c.reach)
        return;
    int64_t inner = step(w, 0, leader);
    bool record = records && inner > 0 && inner <= ND_RECORD_MAX && 2 * c.covered >= inner;
    for (int i = 0; i < c.n; i++)
        m[c.array[i]] = (nd_member){.group = (uint8_t)(leader + 1),
                                    .offset = (uint8_t)(w->place[c.array[i]].address - w->place[leader].address),
                                    .record = (uint8_t)(record ? inner : 0),
                                    .align = alignment(w, leader)};
}

static void groups_make(const walk *w, int first, int last, bool records, nd_member *m) {
    bool tried[VARIANT_OPERANDS] = {false};
    for (int k; (k = lowest(w, m, tried, first, last)) >= 0;) {
        group_make(w, k, first, last, records, m);
        tried[k] = true;
    }
}

loop_class nd_interleave(const nd_loop *loop, const nd_place *place, int nin, int nout, nd_member *out) {
    const walk w = {.loops = {loop, NULL}, .place = place};
    bool strided = false;
    memset(out, 0, (size_t)loop->narrays * sizeof *out);
    groups_make(&w, 0, nin, true, out);
    groups_make(&w, nin, nin + nout, true, out);
    for (int k = 0; k < loop->narrays; k++)
        strided |= loop->kind[k] == OPERAND_STRIDED && !out[k].record;
    return nd_loop_class(loop, strided);
}

void nd_fold_interleave(const nd_fold *f, const nd_place *place, int nin, nd_member *out) {
    const walk w = {.loops = {&f->reduced, &f->kept}, .place = place};
    memset(out, 0, (size_t)f->kept.narrays * sizeof *out);
    groups_make(&w, 0, nin, false, out);
}
