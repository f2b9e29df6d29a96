/* interleave.c - from the strides and addresses of a loop's arrays to groups of arrays that lie interleaved, as the fields of an array of
 * records do: code that knows them reads and writes whole records. */
#include "nd/nd.h"

__extension__ typedef unsigned __int128 bytes_mask; /* bit i: byte i of a record; ND_RECORD_MAX bits */

static int64_t step(const nd_loop *loop, const nd_place *place, int d, int k) {
    return loop->stride[d * loop->narrays + k] * place[k].size;
}

static bool same_steps(const nd_loop *loop, const nd_place *place, int a, int b) {
    for (int d = 0; d < loop->ndim; d++)
        if (step(loop, place, d, a) != step(loop, place, d, b))
            return false;
    return true;
}

/* What follows from a group's strides. A record is not longer than the stride of dimension 0. */
static int64_t longest(const nd_loop *loop, const nd_place *place, int k) {
    int64_t s = step(loop, place, 0, k);
    s = s < 0 ? -s : s;
    return s < ND_RECORD_MAX ? s : ND_RECORD_MAX;
}

static uint8_t alignment(const nd_loop *loop, const nd_place *place, int k) {
    uint64_t all = place[k].address | ACCESS_BYTES;
    for (int d = 0; d < loop->ndim; d++)
        all |= (uint64_t)step(loop, place, d, k);
    return (uint8_t)__builtin_ctzll(all);
}

static bool is_free(const nd_loop *loop, const nd_place *place, const nd_member *m, int k) {
    return loop->kind[k] == OPERAND_STRIDED && !m[k].group && place[k].address;
}

/* The operand of the lowest address among first .. last-1 that is in no group yet and whose number is in `left`; -1: there is none. */
static int lowest(const nd_loop *loop, const nd_place *place, const nd_member *m, const bool *done, int first,
                  int last) {
    int found = -1;
    for (int k = first; k < last; k++)
        if (!done[k] && is_free(loop, place, m, k) && (found < 0 || place[k].address < place[found].address))
            found = k;
    return found;
}

static bool belongs(const nd_loop *loop, const nd_place *place, int leader, int k, int64_t most) {
    uintptr_t offset = place[k].address - place[leader].address;
    return (int64_t)offset + place[k].size <= most && offset % place[k].align == 0 &&
           same_steps(loop, place, leader, k);
}

/* Makes a group of the operands that belong to a leader, if they are more than the leader itself, and cover at least half of a record; of a
 * stride that is no record's, half of what they reach. */
static void group_make(const nd_loop *loop, const nd_place *place, int leader, int first, int last, nd_member *m) {
    int64_t most = longest(loop, place, leader), reach = 0, inner = step(loop, place, 0, leader);
    bytes_mask mask = 0;
    uint8_t which[VARIANT_OPERANDS];
    int n = 0;
    for (int k = first; k < last; k++) {
        if (!is_free(loop, place, m, k) || place[k].address < place[leader].address ||
            !belongs(loop, place, leader, k, most))
            continue;
        int64_t offset = (int64_t)(place[k].address - place[leader].address);
        mask |= (((bytes_mask)1 << place[k].size) - 1) << offset;
        reach = offset + place[k].size > reach ? offset + place[k].size : reach;
        which[n++] = (uint8_t)k;
    }
    bool record = inner > 0 && inner <= ND_RECORD_MAX;
    int covered = __builtin_popcountll((uint64_t)mask) + __builtin_popcountll((uint64_t)(mask >> 64));
    if (covered <= place[leader].size || 2 * covered < (record ? inner : reach))
        return;
    for (int i = 0; i < n; i++)
        m[which[i]] = (nd_member){.group = (uint8_t)(leader + 1),
                                  .offset = (uint8_t)(place[which[i]].address - place[leader].address),
                                  .record = (uint8_t)(record ? inner : 0),
                                  .align = alignment(loop, place, leader)};
}

static void groups_make(const nd_loop *loop, const nd_place *place, int first, int last, nd_member *m) {
    bool done[VARIANT_OPERANDS] = {false};
    for (int k; (k = lowest(loop, place, m, done, first, last)) >= 0;) {
        group_make(loop, place, k, first, last, m);
        done[k] = true;
    }
}

loop_class nd_interleave(const nd_loop *loop, const nd_place *place, int nin, int nout, nd_member *out) {
    bool strided = false;
    memset(out, 0, (size_t)loop->narrays * sizeof *out);
    groups_make(loop, place, 0, nin, out);
    groups_make(loop, place, nin, nin + nout, out);
    for (int k = 0; k < loop->narrays; k++)
        strided |= loop->kind[k] == OPERAND_STRIDED && !out[k].record;
    return nd_loop_class(loop, strided);
}
