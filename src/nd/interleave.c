/* interleave.c - from the strides and addresses of a loop's arrays to groups of arrays that lie interleaved, as the fields of an array of
 * records do: code that knows them reads and writes whole records. */
#include "nd/nd.h"

/* What is searched: the arrays of a loop, or of a reduction, through all dimensions of its two loops. */
typedef struct walk {
    const nd_loop *loops[2]; /* the second one may be NULL */
    const nd_place *place;
} walk;

static const nd_loop *loop_after(const walk *w, const nd_loop *loop) {
    return loop == w->loops[0] ? w->loops[1] : NULL;
}

/* The stride of array k in dimension d of a loop in bytes; 0 also where it has one element. */
static inline int64_t step(const walk *w, const nd_loop *loop, int d, int k) {
    return loop->extent[d] == 1 ? 0 : loop->stride[d * loop->narrays + k] * w->place[k].size;
}

static bool same_steps(const walk *w, int a, int b) {
    for (const nd_loop *loop = w->loops[0]; loop; loop = loop_after(w, loop))
        for (int d = 0; d < loop->ndim; d++)
            if (step(w, loop, d, a) != step(w, loop, d, b))
                return false;
    return true;
}

/* The smallest distance of two elements that are neighbours in a dimension; INT64_MAX: there are none. */
static int64_t nearest(const walk *w, int k) {
    int64_t least = INT64_MAX;
    for (const nd_loop *loop = w->loops[0]; loop; loop = loop_after(w, loop))
        for (int d = 0; d < loop->ndim; d++) {
            int64_t s = step(w, loop, d, k);
            s = s < 0 ? -s : s;
            least = s && s < least ? s : least;
        }
    return least;
}

static uint8_t alignment(const walk *w, int k) {
    uint64_t all = w->place[k].address | ACCESS_BYTES;
    for (const nd_loop *loop = w->loops[0]; loop; loop = loop_after(w, loop))
        for (int d = 0; d < loop->ndim; d++)
            all |= (uint64_t)step(w, loop, d, k);
    return (uint8_t)__builtin_ctzll(all);
}

/* May array k be in a group? Elements that lie side by side by themselves make wide accesses without others. */
static bool may_join(const walk *w, int k) {
    int kind = w->loops[0]->kind[k];
    bool strided = w->loops[1] ? kind < OPERAND_NUMBER && nearest(w, k) > w->place[k].size : kind == OPERAND_STRIDED;
    return strided && w->place[k].address;
}

/* Arrays by ascending addresses, and those of one address by their numbers. */
typedef struct array_list {
    int n;
    uint8_t array[VARIANT_OPERANDS];
} array_list;

/* Puts array k, whose number is the highest, in its place, which is mostly the end. */
static void list_add(const walk *w, array_list *l, int k) {
    int i = l->n++;
    for (; i > 0 && w->place[l->array[i - 1]].address > w->place[k].address; i--)
        l->array[i] = l->array[i - 1];
    l->array[i] = (uint8_t)k;
}

static bool belongs(const walk *w, int leader, int k, int64_t most) {
    const nd_place *from = &w->place[leader], *to = &w->place[k];
    uintptr_t offset = to->address - from->address; /* the leader's is the lowest address */
    return offset + to->size <= (uintptr_t)most && !(offset & (uintptr_t)(to->align - 1)) && same_steps(w, leader, k);
}

/* Makes a group of the arrays that belong to a leader, if they are more than itself, and cover at least half of what they reach. records: the
 * stride of dimension 0 may be a record's, of which they must cover as much. */
static void group_make(const walk *w, int leader, const array_list *company, bool records, nd_member *m) {
    int reach = 0, covered = 0;
    for (int i = 0; i < company->n; i++) {
        const nd_place *p = &w->place[company->array[i]];
        int offset = (int)(p->address - w->place[leader].address), end = offset + p->size;
        if (end <= reach)
            continue;
        covered += end - (offset > reach ? offset : reach);
        reach = end;
    }
    if (covered <= w->place[leader].size || 2 * covered < reach)
        return;
    int64_t inner = step(w, w->loops[0], 0, leader);
    bool record = records && inner > 0 && inner <= ND_RECORD_MAX && 2 * covered >= inner;
    nd_member member = {
        .group = (uint8_t)(leader + 1), .record = (uint8_t)(record ? inner : 0), .align = alignment(w, leader)};
    for (int i = 0; i < company->n; i++) {
        int k = company->array[i];
        member.offset = (uint8_t)(w->place[k].address - w->place[leader].address);
        m[k] = member;
    }
}

/* Makes a group of the array of the lowest address and those that belong to it, if they are one, and leaves in the list what may still be in
 * another. */
static void group_take(const walk *w, bool records, array_list *left, nd_member *m) {
    int leader = left->array[0], n = left->n;
    int64_t most = nearest(w, leader);
    array_list company = {0};
    most = most < ND_RECORD_MAX ? most : ND_RECORD_MAX;
    for (int i = 0; i < n; i++)
        if (belongs(w, leader, left->array[i], most))
            company.array[company.n++] = left->array[i];
    group_make(w, leader, &company, records, m);
    left->n = 0;
    for (int i = 1; i < n; i++)
        if (!m[left->array[i]].group)
            left->array[left->n++] = left->array[i];
}

static void groups_make(const walk *w, int first, int last, bool records, nd_member *m) {
    array_list left = {0};
    for (int k = first; k < last; k++)
        if (may_join(w, k))
            list_add(w, &left, k);
    while (left.n > 1) /* one alone makes no group */
        group_take(w, records, &left, m);
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
