/* gpu_at.c - updates in place on the GPU. A thread has an update, which it does by an atomic instruction, or by a loop that compares and
 * swaps the 32 or 64 bits around the element, or that a record is, until no other thread came in between. Where results must not depend on the order
 * (deterministic), each element belongs to one warp: every warp looks at all updates, 32 at a time, and does those of its own elements
 * one after the other. A small target that an operator updates is privatised: a block updates a copy of it in shared memory by instructions, for
 * which elements of 1 and 2 bytes have a word there, or counts how often a number is added to each element, loops over updates, and merges the copy
 * into the target.
 *
 * Updates of one element that follow each other, as they do where indices are sorted, are combined by the lanes of a warp before the
 * first of them does them all: atomic updates of one element come one after the other. So are those of a column that a thread has. */
#include "ir/at/at.h"

#include <assert.h>

#include "ir/common/atomic.h"
#include "ir/common/lanes.h"

typedef struct writer {
    skeleton *s;
    const general *f;
    const indexed *x;
    const char *instruction; /* NULL: compare and swap, or the element is owned */
    const char *by;          /* by which the operands of several updates may be combined; NULL: none */
    dtype own;               /* privatised: the dtype of the copy's elements, */
    ssa base, elements;      /* where it is, and the number of its elements (i64) */
    ssa first, behind;       /* variant_adds_halves: the target, if it is one piece of memory (i64) */
} writer;

/* One update: where its element is, also as a number (i64), and whether it is to be done (i1). By operand: where it is, and, behind those
 * of the target, what was loaded. The value by which an operator updates: of a tally, by how much it grows (i32). */
typedef struct update {
    ssa target, place, wanted;
    ssa *at, *in;
    ssa value;
} update;

static dtype target_type(const writer *w) { return skeleton_memory(w->s, 0); }

static bool is_private(const writer *w) { return w->s->v->operand[0].privatised; }

static bool is_tally(const writer *w) { return w->s->v->operand[0].privatised == PRIVATE_TALLY; }

/* Is an update its value, which the kernel takes as it is? What compares and swaps takes a number, and other dtypes, as they lie in memory. */
static bool combines_values(const writer *w) {
    const variant_operand *o = w->s->v->operand;
    return w->by && (w->instruction || is_private(w) || (!w->s->uniform[1] && o[1].memory == o[0].memory));
}

/* Updates beside each other along a dimension of the target that is not indexed are of different elements, but not those of a column. */
static bool combines_lanes(const writer *w) {
    return combines_values(w) && w->s->v->operand[0].kind == OPERAND_CONSTANT;
}
static bool combines_columns(const writer *w) { return combines_values(w) && variant_at_columns(w->s->v); }

/* ---- Instructions ---- */

static void add_parts(emit *e, dtype type, ssa pointer, ssa value) {
    dtype part = (dtype)dtypes[type].component;
    for (int i = 0; i < 2; i++) {
        ssa at = emit_value(e, "getelementptr inbounds %s, %s%s %s, i64 %d", ir_memory_type(part), ir_memory_type(part),
                            ir_global_pointer(e), pointer.text, i);
        emit_atomic(e, ATOMIC_ADD, part, at, emit_part(e, type, value, i), ssa_none());
    }
}

static void by_instruction(const writer *w, const update *u) {
    skeleton *s = w->s;
    emit *e = s->e;
    dtype type = target_type(w);
    ssa value = u->value;
    if (dtype_is_integer(type)) {
        const char *t = ir_value_type(type);
        emit_value(e, "atomicrmw %s %s%s %s, %s %s monotonic", w->instruction, t, ir_global_pointer(e), u->target.text,
                   t, value.text);
        return;
    }
    if (!strcmp(w->instruction, "sub"))
        value = emit_unary(e, OP_NEG, type, value);
    if (dtype_is_complex(type))
        add_parts(e, type, u->target, value);
    else
        emit_atomic(e, ATOMIC_ADD, type, u->target, value, ssa_none());
}

/* ---- Compare and swap ---- */

typedef struct swap {
    const writer *w;
    const update *u;
} swap;

/* What the kernel makes of the old leaves of an element and of the update's operand. */
static void compute_leaves(emit *e, void *user, const ssa *old, ssa *new) {
    const swap *x = user;
    skeleton *s = x->w->s;
    ssa in[UF_MAX_OPERANDS] = {0};
    (void)e;
    for (int k = 0; k < s->nin; k++)
        in[k] = k < at_targets(s) ? old[k] : x->u->in[k];
    if (combines_lanes(x->w) || combines_columns(x->w))
        in[1] = x->u->value;
    skeleton_compute(s, in, new);
}

static ssa compute_element(emit *e, void *user, ssa old) {
    ssa new[1];
    compute_leaves(e, user, &old, new);
    return new[0];
}

static void by_exchange(const writer *w, const update *u) {
    skeleton *s = w->s;
    swap x = {w, u};
    packed_leaf leaves[UF_MAX_OPERANDS];
    if (!s->v->at.record) {
        emit_exchange(s->e, target_type(w), u->target, compute_element, &x);
        return;
    }
    for (int k = 0; k < at_targets(s); k++)
        leaves[k] = (packed_leaf){skeleton_memory(s, k), s->v->operand[k].offset};
    emit_exchange_record(s->e, s->v->at.record, at_targets(s), leaves, u->target, compute_leaves, &x);
}

/* ---- Halves ---- */

/* The instruction that adds a pair of halves; NULL: there is none. */
static const char *pair_instruction(const writer *w) {
    enum {
        BFLOAT16_ADDS = 90 /* the first architecture that adds pairs of bfloat16 atomically */
    };
    bool sum = w->by && (!strcmp(w->by, "add") || !strcmp(w->by, "sub")) && combines_values(w);
    if (!variant_adds_halves(w->s->v) || !sum)
        return NULL;
    if (target_type(w) == DT_FLOAT16)
        return "f16x2";
    return w->s->e->target->arch >= BFLOAT16_ADDS ? "bf16x2" : NULL;
}

/* The half and the one beside it in a word, to which -0 is added, which leaves it what it is. Only if it is the target's, too: of other
 * numbers that would change those which are NaN as halves. Else the word is compared and swapped. */
static void by_pairs(const writer *w, const update *u) {
    skeleton *s = w->s;
    emit *e = s->e;
    ssa word[LANE_WORDS], address = emit_value(e, "ptrtoint %s%s %s to i64", ir_memory_type(target_type(w)),
                                               ir_global_pointer(e), u->target.text);
    ssa at = emit_value(e, "and i64 %s, -4", address.text);
    ssa inside = emit_op(e, "and i1", emit_op(e, "icmp uge i64", at, w->first),
                         emit_op(e, "icmp ule i64", emit_value(e, "add i64 %s, 4", at.text), w->behind));
    int pairs = emit_label_new(e), single = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, inside, pairs, single);
    emit_label(e, pairs);
    lanes_words(e, target_type(w), u->value, word);
    if (!strcmp(w->by, "sub"))
        word[0] = emit_value(e, "xor i32 %s, 32768", word[0].text);
    ssa high = emit_value(e, "trunc i64 %s to i1", emit_value(e, "lshr i64 %s, 1", address.text).text);
    ssa upper = emit_value(e, "or i32 %s, 32768", emit_value(e, "shl i32 %s, 16", word[0].text).text),
        lower = emit_value(e, "or i32 %s, -2147483648", word[0].text);
    ssa both = emit_select_as(e, "i32", high, upper, lower);
    emit_line(e, "call void asm sideeffect \"red.global.add.noftz.%s [$0], $1;\", \"l,r,~{memory}\"(i64 %s, i32 %s)",
              pair_instruction(w), at.text, both.text);
    emit_branch(e, end);
    emit_label(e, single);
    by_exchange(w, u);
    emit_branch(e, end);
    emit_label(e, end);
}

/* ---- Private copies ---- */

static atomic_op operation_of(const writer *w) {
    static const struct {
        const char *name;
        atomic_op o;
    } rows[] = {{"add", ATOMIC_ADD},  {"sub", ATOMIC_SUB}, {"and", ATOMIC_AND},
                {"or", ATOMIC_OR},    {"xor", ATOMIC_XOR}, {"min", ATOMIC_MIN},
                {"umin", ATOMIC_MIN}, {"max", ATOMIC_MAX}, {"umax", ATOMIC_MAX}};
    size_t i = 0;
    assert(w->by);
    while (strcmp(rows[i].name, w->by) != 0)
        i++;
    return rows[i].o;
}

/* The address of an element of the copy. Until the caller clears e->shared, addresses are in shared memory. */
static ssa private_at(const writer *w, ssa i) {
    w->s->e->shared = true;
    return emit_element(w->s->e, w->own, w->base, i);
}

static void into_copy(const writer *w, const update *u) {
    emit *e = w->s->e;
    atomic_op o = operation_of(w);
    e->shared = true;
    bool halves = dtype_is_integer(w->own) && dtypes[w->own].size == 8 && (o == ATOMIC_ADD || o == ATOMIC_SUB);
    if (is_tally(w))
        emit_atomic(e, ATOMIC_ADD, DT_UINT32, u->target, u->value, ssa_none());
    else if (halves)
        emit_add_halves(e, o, u->target, u->value);
    else
        emit_atomic(e, o, w->own, u->target, u->value, ssa_none());
    e->shared = false;
}

static void clear_element(const writer *w, ssa i) {
    emit_store(w->s->e, w->own, atomic_identity(operation_of(w), w->own), private_at(w, i));
    w->s->e->shared = false;
}

/* Element i of the target, in C order of its indexed dimensions. */
static ssa target_element(const writer *w, ssa i) {
    skeleton *s = w->s;
    emit *e = s->e;
    ssa offset = ssa_constant(0);
    for (int j = s->v->nindices - 1; j >= 0; j--) {
        ssa index = j ? emit_op(e, "urem i64", i, w->x->extent[j]) : i;
        if (j)
            i = emit_op(e, "udiv i64", i, w->x->extent[j]);
        offset = emit_op(e, "add i64", offset, emit_op(e, "mul i64", index, w->x->stride[j]));
    }
    return skeleton_address(s, 0, s->base[0], offset);
}

/* Of an element that the copy has in a wider dtype. */
typedef struct element_merge {
    const writer *w;
    ssa value;
} element_merge;

static ssa merge_wide(emit *e, void *user, ssa old) {
    const element_merge *m = user;
    dtype narrow = target_type(m->w), own = m->w->own;
    ssa wide = emit_convert(e, old, narrow, own);
    return emit_convert(e, atomic_combine(e, atomic_merge(operation_of(m->w)), own, wide, m->value), own, narrow);
}

static void merge_element(const writer *w, ssa i) {
    skeleton *s = w->s;
    emit *e = s->e;
    dtype to = target_type(w);
    atomic_op o = operation_of(w);
    ssa value = emit_load(e, w->own, private_at(w, i));
    e->shared = false;
    int end = -1;
    if (is_tally(w)) {
        end = skeleton_if(s, emit_value(e, "icmp ne i32 %s, 0", value.text));
        value = emit_binary(e, OP_MUL, to, emit_convert(e, value, DT_UINT32, to), s->value[1], to);
    }
    ssa at = target_element(w, i);
    element_merge m = {w, value};
    if (is_tally(w) || to == w->own)
        emit_atomic(e, is_tally(w) ? o : atomic_merge(o), to, at, value, ssa_none());
    else
        emit_exchange(e, to, at, merge_wide, &m);
    if (end >= 0)
        skeleton_end_if(s, end);
}

/* Blocks begin with different elements, so that fewer of them wait for each other. */
static void merge_in_turn(const writer *w, ssa i) {
    emit *e = w->s->e;
    ssa first = emit_op(e, "mul i64", emit_widen(e, emit_special_register(e, "ctaid")),
                        emit_widen(e, emit_special_register(e, "ntid")));
    ssa at = emit_op(e, "urem i64", emit_op(e, "add i64", i, first), w->elements);
    merge_element(w, at);
}

/* The block's threads share the elements of the copy. */
static void each_element(const writer *w, void (*visit)(const writer *w, ssa i)) {
    emit *e = w->s->e;
    counted_loop l = counted_loop_begin(e, "i64", emit_widen(e, emit_special_register(e, "tid")), w->elements);
    visit(w, l.i);
    counted_loop_end(e, &l, emit_widen(e, emit_special_register(e, "ntid")), loop_no_unroll(e));
}

/* The dtype of a copy's elements: one that instructions in shared memory take. */
static dtype private_type(const writer *w) {
    dtype type = target_type(w);
    if (is_tally(w))
        return DT_UINT32;
    if (dtypes[type].size >= 4)
        return type;
    return dtype_is_half(type) ? DT_FLOAT32 : dtypes[type].is_signed ? DT_INT32 : DT_UINT32;
}

static void private_begin(writer *w) {
    skeleton *s = w->s;
    w->own = private_type(w);
    w->base = emit_shared_address(s->e, ssa_constant(0), ir_memory_type(w->own));
    w->elements = w->x->extent[0];
    for (int j = 1; j < s->v->nindices; j++)
        w->elements = emit_op(s->e, "mul i64", w->elements, w->x->extent[j]);
}

/* The indices' dimensions as they lie in the copy. */
static indexed *private_indices(const writer *w) {
    emit *e = w->s->e;
    indexed *x = arena_alloc(e->a, sizeof *x);
    *x = *w->x;
    int last = w->s->v->nindices - 1;
    x->stride[last] = ssa_constant(1);
    for (int j = last - 1; j >= 0; j--)
        x->stride[j] = emit_op(e, "mul i64", x->stride[j + 1], x->extent[j + 1]);
    return x;
}

/* ---- Updates of one element that follow each other ---- */

/* Does this lane's update follow one of the same element? The lanes that do, as bits. */
static ssa behind_others(const writer *w, const update *u, ssa lane, ssa *bits) {
    emit *e = w->s->e;
    if (is_private(w)) { /* places are few numbers from 0 on */
        ssa none = emit_value(e, "xor i32 %s, -1", lane.text);
        ssa place = emit_select_as(e, "i32", u->wanted, emit_value(e, "trunc i64 %s to i32", u->place.text), none);
        ssa before = lanes_shuffle(e, "up", ssa_constant(-1), DT_INT32, place, ssa_constant(1), COOP_WARP);
        ssa same = emit_op(e, "icmp eq i32", place, before);
        same = emit_op(e, "and i1", same, emit_value(e, "icmp ne i32 %s, 0", lane.text));
        *bits = lanes_ballot(e, same);
        return same;
    }
    ssa before = lanes_shuffle(e, "up", ssa_constant(-1), DT_INT64, u->place, ssa_constant(1), COOP_WARP);
    ssa same = emit_op(e, "icmp eq i64", u->place, before);
    ssa wanted = emit_value(e, "shl i32 %s, 1",
                            lanes_ballot(e, u->wanted).text); /* by the lane before; of lane 0 there is none */
    wanted = emit_value(e, "trunc i32 %s to i1", emit_op(e, "lshr i32", wanted, lane).text);
    ssa behind = emit_op(e, "and i1", emit_op(e, "and i1", same, wanted), u->wanted);
    *bits = lanes_ballot(e, behind);
    return behind;
}

/* From a lane on, up to the next one that is not behind others. */
static ssa length_of_run(emit *e, ssa bits, ssa lane) {
    emit_declare(e, "declare i32 @llvm.cttz.i32(i32, i1)");
    ssa others = emit_value(e, "xor i32 %s, -1", bits.text);
    others = emit_value(e, "lshr i32 %s, 1", emit_op(e, "lshr i32", others, lane).text);
    ssa length =
        emit_value(e, "add i32 %s, 1", emit_value(e, "call i32 @llvm.cttz.i32(i32 %s, i1 false)", others.text).text);
    ssa most = emit_value(e, "sub i32 32, %s", lane.text);
    return emit_select_as(e, "i32", emit_op(e, "icmp ult i32", length, most), length, most);
}

/* The dtype in which values are combined. */
static dtype value_type(const writer *w) { return is_private(w) ? w->own : target_type(w); }

static ssa combine_run(const writer *w, ssa value, ssa length) {
    emit *e = w->s->e;
    dtype type = value_type(w);
    for (int by = 1; by < WARP; by *= 2) {
        ssa next = lanes_shuffle(e, "down", ssa_constant(-1), type, value, ssa_constant(by), COOP_WARP);
        ssa both = atomic_combine(e, atomic_merge(operation_of(w)), type, value, next);
        value = emit_select(e, type, emit_value(e, "icmp ugt i32 %s, %d", length.text, by), both, value);
    }
    return value;
}

/* In shared memory few updates of one element at a time cost less than combining them. */
static ssa pays(const writer *w, ssa bits) {
    emit *e = w->s->e;
    if (!is_private(w) || is_tally(w))
        return emit_value(e, "icmp ne i32 %s, 0", bits.text);
    emit_declare(e, "declare i32 @llvm.ctpop.i32(i32)");
    return emit_value(e, "icmp ugt i32 %s, %d", emit_value(e, "call i32 @llvm.ctpop.i32(i32 %s)", bits.text).text,
                      WARP / 2);
}

/* The first of several updates of one element becomes that of all of them, and the others become none. All lanes of a warp get here. */
static void combine_updates(const writer *w, update *u) {
    emit *e = w->s->e;
    const char *type = is_tally(w) ? "i32" : ir_value_type(value_type(w));
    ssa lane = emit_value(e, "and i32 %s, 31", emit_special_register(e, "tid").text), bits,
        behind = behind_others(w, u, lane, &bits);
    int before = emit_label_new(e), some = emit_label_new(e), end = emit_label_new(e);
    emit_branch(e, before);
    emit_label(e, before);
    emit_branch_if(e, pays(w, bits), some, end);
    emit_label(e, some);
    ssa length = length_of_run(e, bits, lane), all = is_tally(w) ? length : combine_run(w, u->value, length);
    ssa first = emit_op(e, "and i1", u->wanted, emit_value(e, "xor i1 %s, true", behind.text));
    int after = e->block;
    emit_branch(e, end);
    emit_label(e, end);
    u->value = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", type, u->value.text, before, all.text, after);
    u->wanted = emit_value(e, "phi i1 [ %s, %%L%d ], [ %s, %%L%d ]", u->wanted.text, before, first.text, after);
}

/* ---- Updates ---- */

/* The value by which the operator updates. */
static ssa value_of(const writer *w, const ssa *in) {
    skeleton *s = w->s;
    dtype type = target_type(w);
    if (is_tally(w))
        return ssa_constant(1);
    ssa value = s->uniform[1] ? s->value[1] : emit_convert(s->e, in[1], skeleton_memory(s, 1), type);
    return emit_convert(s->e, value, type, value_type(w));
}

/* Update number x, which exists if `exists` (i1) is true or none. load: its operand is loaded. */
static update find_update(const writer *w, ssa x, ssa exists, bool load) {
    skeleton *s = w->s;
    ssa *at = arena_alloc(s->e->a, VARIANT_OPERANDS * sizeof *at),
        *in = arena_alloc(s->e->a, UF_MAX_OPERANDS * sizeof *in);
    update u = {.at = at, .in = in};
    general_find(s, w->f, x, at);
    u.place = indexed_offset(s, w->x, at, &u.wanted);
    for (int k = 0; k < at_targets(s) && !is_private(w); k++)
        at[k] = indexed_address(s, k, at[k], u.place);
    u.target = is_private(w) ? private_at(w, u.place) : at[0];
    s->e->shared = false;
    if ((combines_lanes(w) || combines_columns(w)) && !is_private(w))
        u.place = emit_value(s->e, "ptrtoint %s%s %s to i64", ir_memory_type(target_type(w)), ir_global_pointer(s->e),
                             u.target.text);
    if (ssa_is_set(exists))
        u.wanted = emit_op(s->e, "and i1", u.wanted, exists);
    for (int k = at_targets(s); k < s->nin && load; k++)
        if (!s->uniform[k])
            in[k] = emit_load(s->e, skeleton_memory(s, k), at[k]);
    if (w->by && load)
        u.value = value_of(w, in);
    return u;
}

/* The number of update g of a thread of the block that begins with update `base`, and whether there is one (i1). */
static ssa update_of_line(const writer *w, ssa base, int g, ssa *exists) {
    emit *e = w->s->e;
    ssa thread = emit_special_register(e, "tid"), threads = emit_special_register(e, "ntid");
    ssa far = g ? emit_op(e, "add i32", thread, emit_value(e, "mul i32 %s, %d", threads.text, g)) : thread;
    ssa x = emit_value(e, "add %s %s, %s", w->f->type, base.text, (w->f->wide ? emit_widen(e, far) : far).text);
    *exists = emit_value(e, "icmp ult %s %s, %s", w->f->type, x.text, w->f->n.text);
    return emit_select_as(e, w->f->type, *exists, x, ssa_constant(0));
}

/* The same of column by column: a thread has some rows of one. */
static ssa update_of_column(const writer *w, int g, ssa *exists) {
    skeleton *s = w->s;
    emit *e = s->e;
    const general *f = w->f;
    ssa block = emit_special_register(e, "ctaid"), threads = emit_special_register(e, "ntid"),
        own = emit_special_register(e, "tid");
    ssa thread = f->wide ? emit_op(e, "add i64", emit_op(e, "mul i64", emit_widen(e, block), emit_widen(e, threads)),
                                   emit_widen(e, own))
                         : emit_op(e, "add i32", emit_op(e, "mul i32", block, threads), own);
    ssa some, column, rows, none;
    skeleton_divide(s, &f->extent[0], f->wide, thread, &some, &column);
    skeleton_divide(s, &f->extent[0], f->wide, f->n, &rows, &none);
    ssa row = emit_value(e, "mul %s %s, %d", f->type, some.text, s->v->general.elements_per_thread);
    row = g ? emit_value(e, "add %s %s, %d", f->type, row.text, g) : row;
    *exists = emit_value(e, "icmp ult %s %s, %s", f->type, row.text, rows.text);
    row = emit_select_as(e, f->type, *exists, row, ssa_constant(0));
    ssa first = emit_value(e, "mul %s %s, %s", f->type, row.text, f->extent[0].extent.text);
    return emit_value(e, "add %s %s, %s", f->type, first.text, column.text);
}

/* Of updates of one element that follow each other in a column the first becomes that of all of them. */
static void combine_column(const writer *w, update *all, int n) {
    emit *e = w->s->e;
    for (int g = n - 1; g > 0; g--) {
        update *u = &all[g], *before = &all[g - 1];
        ssa same = emit_op(e, "and i1", emit_op(e, "and i1", u->wanted, before->wanted),
                           emit_op(e, "icmp eq i64", u->place, before->place));
        ssa both = atomic_combine(e, atomic_merge(operation_of(w)), value_type(w), before->value, u->value);
        before->value = emit_select(e, value_type(w), same, both, before->value);
        u->wanted = emit_op(e, "and i1", u->wanted, emit_value(e, "xor i1 %s, true", same.text));
    }
}

/* Finds some updates of a thread of the block that begins with update `base`, and loads their operands, before it does the first. All
 * threads of the block get here. */
static void some_updates(const writer *w, ssa base) {
    skeleton *s = w->s;
    int repeat = s->v->general.elements_per_thread;
    update *all = arena_alloc(s->e->a, (size_t)repeat * sizeof *all);
    for (int g = 0; g < repeat; g++) {
        ssa exists,
            x = variant_at_columns(s->v) ? update_of_column(w, g, &exists) : update_of_line(w, base, g, &exists);
        all[g] = find_update(w, x, exists, true);
    }
    if (combines_columns(w))
        combine_column(w, all, repeat);
    for (int g = 0; g < repeat; g++) {
        if (combines_lanes(w))
            combine_updates(w, &all[g]);
        int skip = skeleton_if(s, all[g].wanted);
        (is_private(w)         ? into_copy
         : w->instruction      ? by_instruction
         : pair_instruction(w) ? by_pairs
                               : by_exchange)(w, &all[g]);
        skeleton_end_if(s, skip);
    }
}

/* The first update of the block. */
static ssa block_base(const writer *w) {
    emit *e = w->s->e;
    ssa tile =
        emit_value(e, "mul i32 %s, %d", emit_special_register(e, "ntid").text, w->s->v->general.elements_per_thread);
    ssa block = emit_special_register(e, "ctaid");
    return w->f->wide ? emit_op(e, "mul i64", emit_widen(e, block), emit_widen(e, tile))
                      : emit_op(e, "mul i32", block, tile);
}

/* Blocks loop over all updates. */
static void private_updates(writer *w) {
    skeleton *s = w->s;
    emit *e = s->e;
    private_begin(w);
    writer inner = *w;
    inner.x = private_indices(w);
    each_element(w, clear_element);
    emit_block_barrier(e);
    ssa step = emit_op(e, "mul i32", emit_special_register(e, "nctaid"), emit_special_register(e, "ntid"));
    step = emit_value(e, "mul i32 %s, %d", step.text, s->v->general.elements_per_thread);
    counted_loop l = counted_loop_begin(e, w->f->type, block_base(w), w->f->n);
    some_updates(&inner, l.i);
    counted_loop_end(e, &l, w->f->wide ? emit_widen(e, step) : step, loop_no_unroll(e));
    emit_block_barrier(e);
    each_element(w, dtypes[target_type(w)].size < 4 ? merge_in_turn : merge_element);
}

/* ---- Owned elements ---- */

/* The warp (i32, of `warps`) that an element belongs to, by its address. */
static ssa owner_of(const writer *w, ssa element, ssa warps) {
    emit *e = w->s->e;
    dtype type = target_type(w);
    ssa address = emit_value(e, "ptrtoint %s%s %s to i64", ir_memory_type(type), ir_global_pointer(e), element.text);
    ssa nth = emit_value(e, "udiv i64 %s, %d", address.text, dtypes[type].size);
    ssa mixed = emit_value(e, "mul i64 %s, -7046029254386353131", nth.text); /* 2^64 by the golden ratio */
    ssa high = emit_value(e, "trunc i64 %s to i32", emit_value(e, "lshr i64 %s, 32", mixed.text).text);
    emit_declare(e, "declare i32 @llvm.nvvm.mulhi.ui(i32, i32)");
    return emit_value(e, "call i32 @llvm.nvvm.mulhi.ui(i32 %s, i32 %s)", high.text, warps.text);
}

static void do_owned(const writer *w, const update *u) {
    skeleton *s = w->s;
    ssa in[UF_MAX_OPERANDS] = {0}, result[UF_MAX_OPERANDS] = {0};
    for (int k = 0; k < s->nin; k++)
        if (!s->uniform[k])
            in[k] = emit_load(s->e, skeleton_memory(s, k), u->at[k]);
    skeleton_compute(s, in, result);
    for (int k = 0; k < at_targets(s); k++)
        emit_store(s->e, skeleton_memory(s, k), result[k], u->at[k]);
}

/* The lanes whose bit is set do their updates one after the other; each sees what the one before has written. */
static void in_turn(const writer *w, const update *u, ssa lanes, ssa lane) {
    emit *e = w->s->e;
    int before = emit_label_new(e), turn = emit_label_new(e), next = emit_label_new(e), end = emit_label_new(e);
    ssa left = ssa_named("%%left%d", turn);
    emit_declare(e, "declare i32 @llvm.cttz.i32(i32, i1)");
    emit_declare(e, "declare void @llvm.nvvm.bar.warp.sync(i32)");
    emit_branch(e, before);
    emit_label(e, before);
    emit_branch_if(e, emit_value(e, "icmp ne i32 %s, 0", lanes.text), turn, end);
    emit_label(e, turn);
    ssa now = emit_value(e, "phi i32 [ %s, %%L%d ], [ %s, %%L%d ]", lanes.text, before, left.text, next);
    ssa first = emit_value(e, "call i32 @llvm.cttz.i32(i32 %s, i1 false)", now.text);
    int others = skeleton_if(w->s, emit_op(e, "icmp eq i32", first, lane));
    do_owned(w, u);
    skeleton_end_if(w->s, others);
    emit_branch(e, next);
    emit_label(e, next);
    emit_line(e, "call void @llvm.nvvm.bar.warp.sync(i32 -1)");
    ssa less = emit_value(e, "add i32 %s, -1", now.text);
    emit_line(e, "%s = and i32 %s, %s", left.text, now.text, less.text);
    emit_branch_if(e, emit_value(e, "icmp ne i32 %s, 0", left.text), turn, end);
    emit_label(e, end);
}

static void owned_updates(const writer *w) {
    skeleton *s = w->s;
    emit *e = s->e;
    const general *f = w->f;
    ssa thread = emit_special_register(e, "tid"), threads = emit_special_register(e, "ntid"),
        block = emit_special_register(e, "ctaid");
    ssa lane = emit_value(e, "and i32 %s, 31", thread.text);
    ssa own = emit_op(e, "add i32", emit_op(e, "mul i32", block, threads), thread);
    own = emit_value(e, "lshr i32 %s, 5", own.text);
    ssa warps = emit_op(e, "mul i32", emit_special_register(e, "nctaid"), threads);
    warps = emit_value(e, "lshr i32 %s, 5", warps.text);
    counted_loop l = counted_loop_begin(e, f->type, ssa_constant(0), f->n);
    ssa far = emit_op(e, f->wide ? "add i64" : "add i32", l.i, f->wide ? emit_widen(e, lane) : lane);
    ssa exists = emit_value(e, "icmp ult %s %s, %s", f->type, far.text, f->n.text);
    update u = find_update(w, emit_select_as(e, f->type, exists, far, l.i), exists, false);
    ssa mine = emit_op(e, "icmp eq i32", owner_of(w, u.target, warps), own);
    mine = emit_op(e, "and i1", mine, u.wanted);
    in_turn(w, &u, lanes_ballot(e, mine), lane);
    counted_loop_end(e, &l, ssa_constant(32), loop_no_unroll(e));
}

void gpu_at(skeleton *s) {
    writer w = {.s = s};
    w.x = indexed_read(s);
    w.f = general_read(s);
    if (variant_adds_halves(s->v)) {
        w.first = skeleton_parameter(s, GPU_AT_FIRST);
        w.behind = skeleton_parameter(s, GPU_AT_BEHIND);
    }
    at_way way = ir_at_way(s->t, s->v, s->e->target);
    if (way == AT_EXACT || way == AT_ATOMIC)
        w.instruction = at_instruction(s->t, s->v);
    w.by = s->v->at.record ? NULL : at_operator(s->t, s->v);
    if (is_private(&w))
        private_updates(&w);
    else if (s->v->at.deterministic)
        owned_updates(&w);
    else
        some_updates(&w, block_base(&w));
}
