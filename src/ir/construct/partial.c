/* partial.c - see partial.h. Values are combined in a fixed order, so that results are the same in each run. */
#include "ir/construct/partial.h"

#include <assert.h>

#include "ir/common/skeleton.h"

ssa lanes_thread(emit *e) { return emit_special_register(e, "tid"); }

/* ---- Lanes of a warp ---- */

ssa coop_lane(body *b, int lanes) {
    return emit_widen(b->e, emit_value(b->e, "and i32 %s, %d", lanes_thread(b->e).text, (1 << lanes) - 1));
}

/* Combines two values, either of which may be missing. */
static void join(body *b, const node *reduce, ssa *value, ssa *present, ssa other, ssa other_present) {
    dtype type = (dtype)reduce->type;
    if (ssa_is_set(*present) && combines_by_loop(reduce)) {
        accumulator a = accumulator_new(b, reduce);
        accumulator_clear(b, reduce, &a);
        accumulator_join(b, reduce, &a, *value, *present);
        accumulator_join(b, reduce, &a, other, other_present);
        *value = accumulator_read(b, reduce, &a);
        *present = accumulator_present(b, &a);
        return;
    }
    ssa both = combine(b, reduce, *value, other);
    if (ssa_is_set(*present)) {
        both = emit_select(b->e, type, other_present, both, *value);
        both = emit_select(b->e, type, *present, both, other);
        *present = emit_value(b->e, "or i1 %s, %s", present->text, other_present.text);
    }
    *value = both;
}

/* Is the operator commutative to the bit? Then each lane may combine for itself (butterfly), and all get the same bits. */
static bool is_symmetric(const node *reduce) { return !reduce->callee && reduce->is_identity; }

/* Do all lanes of a warp come here together, whatever groups they make? Then shuffles need no mask that the compiler does not know. */
static bool warp_together(const variant *v) {
    return v->loop == LOOP_GUFUNC && v->gufunc.across && variant_block_across(v) >= COOP_WARP;
}

void lanes_reduce(body *b, const node *reduce, int lanes, ssa *value, ssa *present) {
    emit *e = b->e;
    dtype type = (dtype)reduce->type;
    const char *mode = is_symmetric(reduce) ? "bfly" : "down";
    if (!lanes)
        return;
    ssa mask = warp_together(e->frame->v) ? ssa_constant(-1) : lanes_mask(e, lanes);
    for (int by = 1 << lanes >> 1; by; by >>= 1) {
        ssa other = lanes_shuffle(e, mode, mask, type, *value, ssa_constant(by), lanes), other_present = ssa_none();
        if (ssa_is_set(*present))
            other_present = lanes_shuffle(e, mode, mask, DT_BOOL, *present, ssa_constant(by), lanes);
        if (ssa_is_set(*present) && combines_by_loop(reduce)) { /* lanes past the last have no value */
            ssa lane = emit_value(e, "and i32 %s, %d", lanes_thread(e).text, (1 << lanes) - 1);
            ssa there = emit_value(e, "icmp ult i32 %s, %d", lane.text, (1 << lanes) - by);
            other_present = emit_op(e, "and i1", other_present, there);
        }
        join(b, reduce, value, present, other, other_present);
    }
    if (is_symmetric(reduce))
        return;
    *value = lanes_shuffle(e, "idx", mask, type, *value, ssa_constant(0), lanes);
    if (ssa_is_set(*present))
        *present = lanes_shuffle(e, "idx", mask, DT_BOOL, *present, ssa_constant(0), lanes);
}

static online_state state_of(const partial *p) { return (online_state){p->value, p->count}; }

/* A reduction that adds counts: such values as the second are added, too. */
static const node *counting(const partial *p) { return p->online->second; }

/* The second value as it would be had it been computed with the first one that is now known. */
static void correct(body *b, partial *p, online_state before) {
    if (p->online)
        p->second = online_correct(b, p->online, p->second, before, state_of(p));
}

void partial_reduce(body *b, int lanes, partial *p) {
    online_state before = state_of(p);
    ssa none = ssa_none();
    if (!lanes)
        return;
    lanes_reduce(b, p->reduce, lanes, &p->value, &p->present);
    if (p->online && p->online->counted)
        lanes_reduce(b, counting(p), lanes, &p->count, &none);
    correct(b, p, before);
    if (p->online)
        lanes_reduce(b, p->online->second, lanes, &p->second, &none);
}

/* ---- Through memory ---- */

int partial_words(emit *e, const partial *p, ssa *words) {
    assert(partial_word_count(p) <= PARTIAL_WORDS);
    int n = lanes_words(e, (dtype)p->reduce->type, p->value, words);
    if (ssa_is_set(p->present))
        n += lanes_words(e, DT_BOOL, p->present, words + n);
    if (p->online)
        n += lanes_words(e, (dtype)p->online->second->type, p->second, words + n);
    if (p->online && p->online->counted)
        n += lanes_words(e, (dtype)counting(p)->type, p->count, words + n);
    return n;
}

static ssa next_value(emit *e, dtype type, const ssa **words) {
    ssa value = lanes_value(e, type, *words);
    *words += lanes_word_count(type);
    return value;
}

void partial_read(emit *e, partial *p, const ssa *words) {
    p->value = next_value(e, (dtype)p->reduce->type, &words);
    if (ssa_is_set(p->present))
        p->present = next_value(e, DT_BOOL, &words);
    if (p->online)
        p->second = next_value(e, (dtype)p->online->second->type, &words);
    if (p->online && p->online->counted)
        p->count = next_value(e, (dtype)counting(p)->type, &words);
}

int partial_word_count(const partial *p) {
    int more = p->online ? lanes_word_count((dtype)p->online->second->type) : 0;
    return lanes_word_count((dtype)p->reduce->type) + ssa_is_set(p->present) + more +
           (p->online && p->online->counted ? more : 0);
}

/* ---- One after the other ---- */

partial_accumulator partial_begin(body *b, const partial *like) {
    partial_accumulator all = {.like = *like, .first = accumulator_new(b, like->reduce)};
    accumulator_clear(b, like->reduce, &all.first);
    if (like->online) {
        all.second = accumulator_new(b, like->online->second);
        accumulator_clear(b, like->online->second, &all.second);
    }
    if (like->online && like->online->counted) {
        all.count = accumulator_new(b, counting(like));
        accumulator_clear(b, counting(like), &all.count);
    }
    return all;
}

void partial_join(body *b, const partial_accumulator *all, const partial *p) {
    partial so_far = partial_end(b, all), one = *p;
    online_state before = state_of(&so_far);
    accumulator_join(b, p->reduce, &all->first, p->value, p->present);
    if (!p->online)
        return;
    if (p->online->counted)
        accumulator_join(b, counting(p), &all->count, p->count, ssa_none());
    partial now = partial_end(b, all);
    so_far.value = one.value = now.value;
    so_far.count = one.count = now.count;
    correct(b, &so_far, before);
    correct(b, &one, state_of(p));
    accumulator_set(b, p->online->second, &all->second, so_far.second);
    accumulator_join(b, p->online->second, &all->second, one.second, ssa_none());
}

partial partial_end(body *b, const partial_accumulator *all) {
    partial p = all->like;
    p.value = accumulator_read(b, p.reduce, &all->first);
    p.present = accumulator_present(b, &all->first);
    if (p.online)
        p.second = accumulator_read(b, p.online->second, &all->second);
    if (p.online && p.online->counted)
        p.count = accumulator_read(b, counting(&p), &all->count);
    return p;
}

void partial_set(body *b, const partial_accumulator *all, const partial *p) {
    accumulator_set(b, p->reduce, &all->first, p->value);
    if (p->online)
        accumulator_set(b, p->online->second, &all->second, p->second);
    if (p->online && p->online->counted)
        accumulator_set(b, counting(p), &all->count, p->count);
}

void partial_correct(body *b, partial *p, const partial *before) { correct(b, p, state_of(before)); }

/* Each is corrected once, when the first values of all are combined. */
partial partial_gather(body *b, const partial *all, int count) {
    partial p = all[0];
    if (count == 1)
        return p;
    accumulator first = accumulator_new(b, p.reduce);
    accumulator_clear(b, p.reduce, &first);
    for (int i = 0; i < count; i++)
        accumulator_join(b, p.reduce, &first, all[i].value, all[i].present);
    p.value = accumulator_read(b, p.reduce, &first);
    p.present = accumulator_present(b, &first);
    for (int i = 1; i < count && p.online && p.online->counted; i++)
        p.count = online_add(b, p.online, p.count, all[i].count);
    for (int i = 0; i < count && p.online; i++) {
        ssa one = online_correct(b, p.online, all[i].second, state_of(&all[i]), state_of(&p));
        p.second = i ? combine(b, p.online->second, p.second, one) : one;
    }
    return p;
}

void partial_finish(body *b, partial *p) {
    if (p->online)
        p->second = online_finish(b, p->online, p->second, state_of(p));
}
