/* expression.c - expressions of the typed tree. Every local variable is an alloca in the entry block, of which LLVM and libNVVM make
 * a register. Operands are evaluated from left to right. */
#include <assert.h>
#include <stdio.h>

#include "ir/common/atomic.h"
#include "ir/common/nodes.h"
#include "ir/common/report.h"
#include "ir/common/unrolled.h"

/* ---- Places: variables, elements of local arrays and tables, elements of core operands. An element out of range reads as 0, and a
 * store to it does nothing. In a local array or table such an access goes to element 0, and a select gives the result; a core operand
 * may have no element at all, so that there a branch goes around the access. ---- */

typedef struct lvalue {
    dtype type;
    dtype memory; /* of a core operand's element; DT_NONE: a variable of the function */
    ssa pointer;
    ssa in_range; /* i1; none: always */
    bool guarded; /* and where body.there is true */
    ssa flag;     /* i1*: is set where the place is written; none: no flag */
    bool packed;  /* an element, in memory form: bool is a byte */
    bool staged, input;
    bool table;      /* of a table, in which element 0 stands in for those out of range, as in a local array */
    bool privatised; /* in the private copy of a block, or of a call on the CPU, which holds this type: */
    dtype held;
    const node *from; /* what is assigned to it; NULL: not told */
    bool variable;    /* `local` itself */
    int local;
    const unrolled_place *unrolled; /* an element that is a variable, in an unrolled kernel; NULL: it is not */
} lvalue;

static const char *element_type(dtype t) { return t == DT_BOOL ? "i8" : ir_value_type(t); }

static void all_in_range(emit *e, ssa *in_range, ssa fits) {
    *in_range = ssa_is_set(*in_range) ? emit_value(e, "and i1 %s, %s", in_range->text, fits.text) : fits;
}

/* Index d of an element must be below an extent. If it is not, that is reported, or goes into *in_range. */
static void check_index(body *b, const node *n, int d, ssa index, ssa extent, ssa *in_range) {
    emit *e = b->e;
    ssa fits = emit_value(e, "icmp ult i64 %s, %s", index.text, extent.text);
    if (reports_errors(e))
        report_unless(b, fits,
                      &(failure){.what = REPORT_INDEX,
                                 .line = n->line,
                                 .operand = b->f->locals[n->local].core ? n->local : -1,
                                 .dimension = d,
                                 .value = index,
                                 .extent = extent});
    else
        all_in_range(e, in_range, fits);
}

/* Evaluates the indices: the number of the element, and whether it is there. */
static ssa flat_index(body *b, const node *n, const local *l, ssa *in_range) {
    emit *e = b->e;
    ssa flat = ssa_constant(0);
    for (int d = 0; d < l->rank; d++) {
        ssa i = emit_expression(b, element_index(n, l->rank, d));
        if (!n->unchecked)
            check_index(b, n, d, i, ssa_constant(l->extent[d]), in_range);
        if (d) {
            flat = emit_value(e, "mul i64 %s, %lld", flat.text, (long long)l->extent[d]);
            i = emit_value(e, "add i64 %s, %s", flat.text, i.text);
        }
        flat = i;
    }
    return !ssa_is_set(*in_range) ? flat : emit_value(e, "select i1 %s, i64 %s, i64 0", in_range->text, flat.text);
}

static ssa core_size(const body *b, int dimension) {
    int64_t size;
    return frame_size(b->e->frame, dimension, &size) ? ssa_constant(size) : ssa_named("%%s%d", dimension);
}

static ssa core_extent(const body *b, const local *l, int d) {
    return l->extent[d] >= 0 ? ssa_constant(l->extent[d]) : core_size(b, l->dim[d]);
}

/* Do accesses of operand k go to a private copy? Either all do, or none. */
static bool is_privatised(const frame *f, int k) { return f->private_copies && f->private_copies[k].on; }

/* The offset in elements from the operand's first element, by its strides. */
static ssa core_offset(body *b, const node *n, const local *l, ssa *in_range) {
    emit *e = b->e;
    const frame *f = e->frame;
    ssa offset = ssa_none();
    for (int d = 0; d < l->rank; d++) {
        ssa i = emit_expression(b, element_index(n, l->rank, d));
        if (!n->unchecked && !(n->conditional && f->v->forall.proved))
            check_index(b, n, d, i, core_extent(b, l, d), in_range);
        if (is_privatised(f, n->local))
            offset = d ? emit_value(e, "mul i64 %s, %s", offset.text, core_extent(b, l, d).text) : offset;
        else if (f->v->operand[n->local].unit != d + 1)
            i = emit_value(e, "mul i64 %s, %%s%d", i.text, f->layout->operands[n->local].strides + d);
        offset = ssa_is_set(offset) ? emit_value(e, "add i64 %s, %s", offset.text, i.text) : i;
    }
    return offset;
}

static int64_t local_size(const local *l) {
    int64_t size = 1;
    for (int d = 0; d < l->rank; d++)
        size *= l->extent[d];
    return size;
}

bool operand_stays(const frame *f, const function *kernel, int k) {
    if (!f->layout->nindices)
        return k < kernel->nparams;
    return f->v->forall.noalias && !(f->operand_uses[k] & (USE_WRITE | USE_ATOMIC));
}

/* An element for which a variable stands (body_hooks.variable). */
static lvalue variable_place(body *b, const node *n, const local *l, int k, bool written) {
    lvalue p = {.type = l->type, .memory = DT_NONE, .pointer = ssa_named("%%q%d", k)};
    core_offset(b, n, l, &p.in_range);
    if (written)
        p.flag = ssa_named("%%f%d", k);
    return p;
}

typedef struct index_search {
    const body *b;
    bool varies;
} index_search;

/* A variable may have been set from what varies. */
static void find_varying(const node *n, void *user) {
    index_search *s = user;
    s->varies |= n->kind == N_LOCAL && (n->local == s->b->along || !ssa_is_set(s->b->bound[n->local]));
}

/* May an element be another one in another iteration along the range of b->along? One that is not is loaded once, without a condition. */
static bool varies(const body *b, const node *element, int rank) {
    index_search s = {.b = b};
    for (int d = 0; d < rank; d++)
        node_visit(element_index(element, rank, d), find_varying, &s);
    return s.varies;
}

/* The operand's address is in memory elements; emit_element counts in values. */
static lvalue core_place(body *b, const node *n, const local *l) {
    emit *e = b->e;
    bool written;
    int k = b->hooks && b->hooks->variable ? b->hooks->variable(b, n, &written) : -1;
    if (k >= 0)
        return variable_place(b, n, l, k, written);
    const variant_operand *o = &e->frame->v->operand[n->local];
    bool privatised = is_privatised(e->frame, n->local);
    lvalue p = {.type = l->type,
                .memory = (dtype)o->memory,
                .privatised = privatised,
                .held = privatised ? e->frame->private_copies[n->local].type : (dtype)o->memory,
                .input = operand_stays(e->frame, b->f, n->local) && (e->target->gpu || !o->staged)};
    p.staged = e->target->gpu && (o->staged || privatised); /* a copy on the CPU is memory, and another call's later */
    ssa offset = core_offset(b, n, l, &p.in_range);
    p.guarded = ssa_is_set(b->there) && varies(b, n, l->rank);
    ssa base = b->core ? b->core[n->local] : ssa_named("%%p%d", n->local);
    e->shared = p.staged;
    if (o->nontemporal && !e->target->gpu) /* elements may be in a buffer, with a base as if the array were there */
        p.pointer = emit_element_beyond(e, p.held, base, offset);
    else
        p.pointer = emit_element(e, p.held, privatised ? e->frame->private_copies[n->local].base : base, offset);
    e->shared = false;
    return p;
}

static lvalue table_place(body *b, const node *n, const local *l) {
    lvalue p = {.type = l->type, .memory = l->type, .input = true, .table = true};
    ssa base = emit_table(b->e, l), index = flat_index(b, n, l, &p.in_range);
    p.pointer = emit_element(b->e, l->type, base, index);
    return p;
}

static lvalue find_place(body *b, const node *n) {
    assert(n->local >= 0 && n->local < b->f->nlocals);
    const local *l = &b->f->locals[n->local];
    if (b->unrolled && l->rank && !l->table)
        return (lvalue){.type = l->type, .memory = DT_NONE, .unrolled = unrolled_find(b, n)};
    if (l->core)
        return core_place(b, n, l);
    if (l->table)
        return table_place(b, n, l);
    lvalue p = {.type = l->type, .memory = DT_NONE, .pointer = emit_local_slot(b, n->local)};
    if (n->kind == N_ELEMENT && l->rank) {
        const char *t = element_type(l->type);
        long long size = (long long)local_size(l);
        ssa i = flat_index(b, n, l, &p.in_range);
        p.packed = true;
        p.pointer = emit_value(b->e, "getelementptr [%lld x %s], [%lld x %s]* %s, i64 0, i64 %s", size, t, size, t,
                               p.pointer.text, i.text);
    } else {
        p.variable = true;
        p.local = n->local;
    }
    return p;
}

/* ---- Values that come from two blocks ---- */

/* The value that one of them brings: a complex one is taken apart there, so that one phi joins each part. */
typedef struct incoming {
    ssa part[2];
    int block;
} incoming;

static incoming incoming_of(emit *e, dtype type, ssa value) {
    incoming w = {.part = {value}};
    for (int i = 0; dtype_is_complex(type) && i < 2; i++)
        w.part[i] = emit_part(e, type, value, i);
    w.block = e->block;
    return w;
}

/* All values of a block are joined before the first of them is made whole: phis come first in a block. */
static incoming join_parts(emit *e, dtype type, const incoming *a, const incoming *b) {
    incoming w = {.block = e->block};
    const char *t = ir_value_type((dtype)dtypes[type].component);
    int parts = dtype_is_complex(type) ? 2 : 1;
    for (int i = 0; i < parts; i++)
        w.part[i] = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", t, a->part[i].text, a->block, b->part[i].text,
                               b->block);
    return w;
}

static ssa make_whole(emit *e, dtype type, const incoming *joined) {
    return dtype_is_complex(type) ? emit_complex(e, type, joined->part[0], joined->part[1]) : joined->part[0];
}

static ssa join_incoming(emit *e, dtype type, const incoming *a, const incoming *b) {
    incoming joined = join_parts(e, type, a, b);
    return make_whole(e, type, &joined);
}

/* ---- Loads and stores ---- */

/* Inputs are not written while the kernel runs, so their loads may go through the GPU's read-only cache; and of a kernel over indices on
 * the CPU LLVM learns by it that what is written beside its own stores, past the caches, is no input. */
void emit_invariant(emit *e, bool is_input) {
    bool tells = e->target->gpu || (e->frame && e->frame->v->loop == LOOP_FORALL);
    if (tells && is_input && !e->shared && !e->invariant_node)
        e->invariant_node = emit_metadata(e, "!{}");
    e->invariant = is_input && !e->shared ? e->invariant_node : 0;
}

static ssa load_core(body *b, const lvalue *p) {
    emit *e = b->e;
    e->shared = p->staged;
    emit_invariant(e, p->input);
    ssa v = emit_load(e, p->memory, p->pointer);
    e->invariant = 0;
    e->shared = false;
    return emit_convert(e, v, p->memory, p->type);
}

/* What follows an access of a local array. Where calls go by strips its elements are one iteration's each (ir/gufunc/call_strips.c). */
static fragment access_of(const body *b, const lvalue *p) {
    const emit *e = b->e;
    bool own = p->packed && e->access_group && frame_has_strips(e->frame);
    return own ? fragment_of(", !llvm.access.group !%d", e->access_group) : fragment_none();
}

/* What is stored there, as a value. */
static ssa load_raw(body *b, const lvalue *p) {
    if (p->memory != DT_NONE)
        return load_core(b, p);
    const char *t = p->packed ? element_type(p->type) : ir_value_type(p->type);
    ssa v = emit_value(b->e, "load %s, %s* %s%s", t, t, p->pointer.text, access_of(b, p).text);
    return p->packed && p->type == DT_BOOL ? emit_value(b->e, "icmp ne i8 %s, 0", v.text) : v;
}

static ssa in_range_or(body *b, const lvalue *p, ssa value, ssa other) {
    return ssa_is_set(p->in_range) ? emit_select(b->e, p->type, p->in_range, value, other) : value;
}

static ssa load_guarded(body *b, const lvalue *p, ssa condition, ssa other) {
    emit *e = b->e;
    int there = emit_label_new(e), join = emit_label_new(e);
    incoming none = incoming_of(e, p->type, other);
    emit_branch_if(e, condition, there, join);
    emit_label(e, there);
    incoming some = incoming_of(e, p->type, load_core(b, p));
    emit_branch(e, join);
    emit_label(e, join);
    return join_incoming(e, p->type, &some, &none);
}

static ssa load_place(body *b, const lvalue *p) {
    ssa known;
    if (p->unrolled)
        return unrolled_load(b, p->unrolled);
    if (p->variable && unrolled_knows(b, p->local, &known))
        return known;
    bool absent = p->guarded && !ssa_is_set(p->in_range); /* 1 is a better argument of most functions than 0 */
    ssa nothing = emit_constant((number){.type = DT_INT64, .as.i = absent}, p->type), condition = p->in_range;
    if (p->guarded)
        all_in_range(b->e, &condition, b->there);
    if (p->memory != DT_NONE && !p->table && ssa_is_set(condition))
        return load_guarded(b, p, condition, nothing);
    known = load_raw(b, p);
    if (p->variable)
        unrolled_loaded(b, p->local, known);
    return in_range_or(b, p, known, nothing);
}

/* Where the index is in range, and where this thread is the one that stores. */
static void store_core(body *b, const lvalue *p, ssa value) {
    emit *e = b->e;
    ssa condition = p->in_range;
    if (p->guarded)
        all_in_range(e, &condition, b->there_too);
    if (ssa_is_set(b->store_mask))
        all_in_range(e, &condition, b->store_mask);
    value = emit_convert(e, value, p->type, p->memory);
    int there = 0, join = 0;
    if (ssa_is_set(condition)) {
        there = emit_label_new(e);
        join = emit_label_new(e);
        emit_branch_if(e, condition, there, join);
        emit_label(e, there);
    }
    e->shared = p->staged;
    emit_store(e, p->memory, value, p->pointer);
    e->shared = false;
    if (join) {
        emit_branch(e, join);
        emit_label(e, join);
    }
}

/* Sets the flag of a variable that was written, if the element is in range. */
static void note_store(body *b, const lvalue *p) {
    ssa written = ssa_bool(true);
    if (ssa_is_set(p->in_range)) {
        ssa before = emit_value(b->e, "load i1, i1* %s", p->flag.text);
        written = emit_value(b->e, "or i1 %s, %s", before.text, p->in_range.text);
    }
    emit_line(b->e, "store i1 %s, i1* %s", written.text, p->flag.text);
}

/* Stores if the place is in range. The value of the assignment is what was to be stored, in range or not. */
static ssa store_place(body *b, const lvalue *p, ssa value) {
    if (p->unrolled) {
        unrolled_store(b, p->unrolled, value, p->from);
        return value;
    }
    if (p->memory != DT_NONE) {
        store_core(b, p, value);
        return value;
    }
    const char *t = p->packed ? element_type(p->type) : ir_value_type(p->type);
    ssa stored = ssa_is_set(p->in_range) ? in_range_or(b, p, value, load_raw(b, p)) : value;
    if (p->packed && p->type == DT_BOOL)
        stored = emit_value(b->e, "zext i1 %s to i8", stored.text);
    emit_line(b->e, "store %s %s, %s* %s%s", t, stored.text, t, p->pointer.text, access_of(b, p).text);
    if (ssa_is_set(p->flag))
        note_store(b, p);
    if (p->variable)
        unrolled_note(b, p->local, value, p->from);
    return value;
}

void emit_core_store(body *b, const node *element, ssa value) {
    lvalue p = find_place(b, element);
    store_place(b, &p, value);
}

/* 16-bit values as the two halves of words: then a float32 is made of each by one instruction, since a shift up undoes the shift down. */
static void pair_halves(emit *e, ssa *values, int n) {
    for (int i = 0; i + 1 < n; i += 2) {
        ssa both = emit_value(e, "insertelement <2 x i16> undef, i16 %s, i32 0", values[i].text);
        both = emit_value(e, "insertelement <2 x i16> %s, i16 %s, i32 1", both.text, values[i + 1].text);
        both = emit_value(e, "bitcast <2 x i16> %s to i32", both.text);
        values[i] = emit_value(e, "trunc i32 %s to i16", both.text);
        values[i + 1] = emit_value(e, "trunc i32 %s to i16", emit_value(e, "lshr i32 %s, 16", both.text).text);
    }
}

/* n values that a vector had in memory, as values of `type`. */
static void convert_vector(emit *e, dtype memory, dtype type, int n, ssa *values) {
    if (memory == DT_BFLOAT16 && e->target->gpu)
        pair_halves(e, values, n);
    for (int i = 0; i < n; i++)
        values[i] = emit_convert(e, values[i], memory, type);
}

void emit_neighbours(emit *e, dtype memory, dtype type, ssa pointer, int n, bool by_vectors, ssa *values) {
    if (by_vectors) {
        emit_load_vector(e, memory, pointer, n, values);
        convert_vector(e, memory, type, n, values);
        return;
    }
    for (int i = 0; i < n; i++) {
        values[i] = emit_load(e, memory, emit_element(e, memory, pointer, ssa_constant(i)));
        values[i] = emit_convert(e, values[i], memory, type);
    }
}

void emit_if_aligned(body *b, dtype type, int n, ssa *values, neighbours_loader *load, void *user) {
    emit *e = b->e;
    if (e->frame->v->gufunc.aligned) {
        load(b, user, true, values);
        return;
    }
    incoming *way[2];
    int label[2] = {emit_label_new(e), emit_label_new(e)}, done = emit_label_new(e);
    emit_branch_if(e, ssa_named("%%aligned"), label[0], label[1]);
    for (int w = 0; w < 2; w++) {
        way[w] = arena_alloc(e->a, (size_t)n * sizeof *way[w]);
        emit_label(e, label[w]);
        load(b, user, w == 0, values);
        for (int i = 0; i < n; i++)
            way[w][i] = incoming_of(e, type, values[i]);
        emit_branch(e, done);
    }
    emit_label(e, done);
    for (int i = 0; i < n; i++)
        way[0][i] = join_parts(e, type, &way[0][i], &way[1][i]);
    for (int i = 0; i < n; i++)
        values[i] = make_whole(e, type, &way[0][i]);
}

void emit_store_if_aligned(body *b, neighbours_storer *store, void *user) {
    emit *e = b->e;
    if (e->frame->v->gufunc.aligned) {
        store(b, user, true);
        return;
    }
    int label[2] = {emit_label_new(e), emit_label_new(e)}, done = emit_label_new(e);
    emit_branch_if(e, ssa_named("%%aligned"), label[0], label[1]);
    for (int w = 0; w < 2; w++) {
        emit_label(e, label[w]);
        store(b, user, w == 0);
        emit_branch(e, done);
    }
    emit_label(e, done);
}

/* An access to neighbours. */
typedef struct neighbours {
    lvalue place;
    int n;
} neighbours;

static void load_neighbours(body *b, void *user, bool by_vectors, ssa *values) {
    emit *e = b->e;
    const neighbours *x = user;
    e->shared = x->place.staged;
    emit_invariant(e, x->place.input);
    emit_neighbours(e, x->place.memory, x->place.type, x->place.pointer, x->n, by_vectors, values);
    e->invariant = 0;
    e->shared = false;
}

/* The vectors of all tiles of a range lie as the first one's. */
static void load_shifted(emit *e, const lvalue *p, int k, int n, ssa *values) {
    ssa first = emit_element(e, p->memory, ssa_named("%%p%d", k), emit_value(e, "add i64 %%from, %%head"));
    emit_invariant(e, p->input);
    emit_load_shifted(e, p->memory, p->pointer, first, n, values);
    e->invariant = 0;
    convert_vector(e, p->memory, p->type, n, values);
}

ssa *emit_core_vector(body *b, const node *element, int n) {
    neighbours x = {find_place(b, element), n};
    ssa *values = arena_alloc(b->e->a, (size_t)n * sizeof *values);
    if (b->e->frame->v->operand[element->local].shifted)
        load_shifted(b->e, &x.place, element->local, n, values);
    else if (b->if_aligned)
        emit_if_aligned(b, x.place.type, n, values, load_neighbours, &x);
    else
        load_neighbours(b, &x, true, values);
    return values;
}

void emit_store_neighbours(emit *e, dtype memory, const ssa *values, ssa pointer, int n, bool by_vectors) {
    if (by_vectors)
        emit_store_vector(e, memory, values, pointer, n);
    for (int i = 0; i < n && !by_vectors; i++)
        emit_store(e, memory, values[i], emit_element(e, memory, pointer, ssa_constant(i)));
}

/* Values for neighbours, converted. */
typedef struct neighbour_values {
    neighbours to;
    ssa *values;
} neighbour_values;

static void store_neighbours(body *b, void *user, bool by_vectors) {
    const neighbour_values *x = user;
    emit_store_neighbours(b->e, x->to.place.memory, x->values, x->to.place.pointer, x->to.n, by_vectors);
}

void emit_core_store_vector(body *b, const node *element, const ssa *values, int n) {
    neighbour_values x = {{find_place(b, element), n}, arena_alloc(b->e->a, (size_t)n * sizeof *x.values)};
    for (int i = 0; i < n; i++)
        x.values[i] = values[i];
    emit_convert_all(b->e, x.values, n, x.to.place.type, x.to.place.memory);
    if (b->if_aligned)
        emit_store_if_aligned(b, store_neighbours, &x);
    else
        store_neighbours(b, &x, true);
}

/* Is it short, and without effects, calls and loops? Then it is computed whether it is needed or not, which spares a branch and is
 * safe, since every operation is total. */
static bool is_cheap(const node *n, int *budget) {
    if (--*budget < 0)
        return false;
    switch (n->kind) {
    case N_CONST:
    case N_LOCAL:
        return true;
    case N_BINARY:
        if (op_divides((op)n->op))
            return false;
        break;
    case N_CONVERT:
    case N_UNARY:
    case N_AND:
    case N_OR:
    case N_COMPLEX:
    case N_REAL:
    case N_IMAG:
        break;
    default:
        return false;
    }
    for (int k = 0; k < 3; k++)
        if (n->kid[k] && !is_cheap(n->kid[k], budget))
            return false;
    return true;
}

static bool all_cheap(const node *a, const node *b) {
    int budget = 8;
    return is_cheap(a, &budget) && (!b || is_cheap(b, &budget));
}

/* ---- One function a kind of node ---- */

static ssa constant(body *b, const node *n) {
    (void)b;
    return emit_constant(n->value, (dtype)n->type);
}

static ssa read_place(body *b, const node *n) {
    ssa known;
    if (ssa_is_set(b->bound[n->local]))
        return b->bound[n->local];
    if (n == b->steady)
        return b->steady_value;
    if (emit_byte_lookup(b, n, &known))
        return known;
    lvalue p = find_place(b, n);
    return load_place(b, &p);
}

static ssa convert(body *b, const node *n) {
    ssa v;
    if (emit_round_trip(b, n, &v))
        return v;
    v = emit_expression(b, n->kid[0]);
    return emit_convert(b->e, v, (dtype)n->kid[0]->type, (dtype)n->type);
}

static ssa unary(body *b, const node *n) {
    ssa v = emit_expression(b, n->kid[0]);
    return emit_unary(b->e, (op)n->op, (dtype)n->kid[0]->type, v);
}

/* Reports a division of integers by 0. */
static void check_divisor(body *b, const node *n, dtype type, ssa divisor) {
    bool divides = op_divides((op)n->op) && dtype_is_integer(type);
    if (!divides || !reports_errors(b->e))
        return;
    ssa fits = emit_value(b->e, "icmp ne %s %s, 0", ir_value_type(type), divisor.text);
    report_unless(b, fits,
                  &(failure){.what = REPORT_DIVISION,
                             .line = n->line,
                             .operand = -1,
                             .dimension = -1,
                             .value = ssa_constant(0),
                             .extent = ssa_constant(0)});
}

/* Are the high 32 bits of this uint64 known to be 0: is it a converted uint32, or such a constant? */
static bool is_half(const node *n) {
    return (n->kind == N_CONST && n->value.as.u <= UINT32_MAX) ||
           (n->kind == N_CONVERT && n->kid[0]->type == DT_UINT32);
}

static ssa half_word(body *b, const node *n) {
    return n->kind == N_CONST ? ssa_constant((int32_t)n->value.as.u) : emit_expression(b, n->kid[0]);
}

/* The 64-bit product of two 32-bit numbers, in halves: libNVVM would extend both to 64 bits, and multiply these. */
static ssa whole_product(body *b, const node *n) {
    emit *e = b->e;
    ssa x = half_word(b, n->kid[0]), y = half_word(b, n->kid[1]);
    emit_declare(e, "declare i32 @llvm.nvvm.mulhi.ui(i32, i32)");
    ssa high = emit_value(e, "call i32 @llvm.nvvm.mulhi.ui(i32 %s, i32 %s)", x.text, y.text);
    ssa low = emit_value(e, "mul i32 %s, %s", x.text, y.text);
    high = emit_value(e, "shl i64 %s, 32", emit_value(e, "zext i32 %s to i64", high.text).text);
    return emit_value(e, "or i64 %s, %s", high.text, emit_value(e, "zext i32 %s to i64", low.text).text);
}

/* a op b of the node's kids, N_BINARY's or N_COMPOUND's, whose values in the type of the computation these are. */
static ssa operate(body *b, const node *n, dtype type, ssa x, ssa y) {
    check_divisor(b, n, type, y);
    if (n->op == OP_DIV && dtype_is_floating(type))
        return emit_quotient(b, type, n->kid[0], n->kid[1], x, y);
    if (compares_numbers(n))
        return emit_comparison(b, (op)n->op, type, n->kid[0], n->kid[1], x, y);
    if (op_divides((op)n->op) && dtype_is_integer(type))
        return emit_integer_quotient(b, (op)n->op, type, n->kid[0], n->kid[1], x, y);
    return emit_binary(b->e, (op)n->op, type, x, y, (dtype)n->kid[1]->type);
}

static ssa binary(body *b, const node *n) {
    if (b->e->target->gpu && n->op == OP_MUL && n->type == DT_UINT64 && is_half(n->kid[0]) && is_half(n->kid[1]))
        return whole_product(b, n);
    ssa x = emit_expression(b, n->kid[0]), y = emit_expression(b, n->kid[1]);
    return operate(b, n, (dtype)n->kid[0]->type, x, y);
}

/* && and ||: the right side is skipped where the left one decides. */
static ssa logical(body *b, const node *n) {
    emit *e = b->e;
    bool is_and = n->kind == N_AND;
    int64_t known;
    ssa left = emit_expression(b, n->kid[0]);
    if (ssa_is_constant(left, &known))
        return known == is_and ? emit_expression(b, n->kid[1]) : left;
    if (all_cheap(n->kid[1], NULL)) {
        ssa right = emit_expression(b, n->kid[1]);
        return emit_value(e, "%s i1 %s, %s", is_and ? "and" : "or", left.text, right.text);
    }
    int more = emit_label_new(e), join = emit_label_new(e);
    incoming decided = incoming_of(e, DT_BOOL, ssa_bool(!is_and));
    emit_branch_if(e, left, is_and ? more : join, is_and ? join : more);
    unrolled_jump(b, join);
    emit_label(e, more);
    incoming right = incoming_of(e, DT_BOOL, emit_expression(b, n->kid[1]));
    emit_branch(e, join);
    unrolled_jump(b, join);
    emit_label(e, join);
    unrolled_land(b, join);
    return join_incoming(e, DT_BOOL, &decided, &right);
}

static bool is_same_local(const node *a, const node *b) {
    return a->kind == N_LOCAL && b->kind == N_LOCAL && a->local == b->local;
}

/* Is n "x > y || x != x ? x : y", with any comparison, of floating numbers? So max and min are written. */
static bool keeps_nan(const node *n) {
    const node *either = n->kid[0], *x = n->kid[1], *order = either->kid[0], *other = either->kid[1];
    return (n->type == DT_FLOAT32 || n->type == DT_FLOAT64) && either->kind == N_OR && order->kind == N_BINARY &&
           other->kind == N_BINARY && other->op == OP_NE && is_same_local(other->kid[0], x) &&
           is_same_local(other->kid[1], x) && is_same_local(order->kid[0], x) &&
           is_same_local(order->kid[1], n->kid[2]);
}

/* CPU: the larger of two numbers is one instruction, if NaN is a condition of its own. LLVM would make one of the two again, but for the
 * sum, which of a NaN and itself is that NaN. */
static ssa larger_or_nan(body *b, const node *n) {
    emit *e = b->e;
    dtype type = (dtype)n->type;
    ssa x = emit_expression(b, n->kid[1]), y = emit_expression(b, n->kid[2]);
    ssa first = emit_select(e, type, emit_expression(b, n->kid[0]->kid[0]), x, y);
    ssa nan = emit_binary(e, OP_NE, type, x, x, type);
    return emit_select(e, type, nan, emit_value(e, "fadd %s %s, %s", ir_value_type(type), x.text, x.text), first);
}

static ssa conditional(body *b, const node *n) {
    emit *e = b->e;
    dtype type = (dtype)n->type;
    int64_t known;
    if (!e->target->gpu && keeps_nan(n))
        return larger_or_nan(b, n);
    ssa condition = emit_expression(b, n->kid[0]);
    if (ssa_is_constant(condition, &known))
        return emit_expression(b, n->kid[known ? 1 : 2]);
    if (all_cheap(n->kid[1], n->kid[2])) {
        ssa yes = emit_expression(b, n->kid[1]), no = emit_expression(b, n->kid[2]);
        return emit_select(e, type, condition, yes, no);
    }
    int labels[2] = {emit_label_new(e), emit_label_new(e)}, join = emit_label_new(e);
    incoming incomings[2];
    emit_branch_if(e, condition, labels[0], labels[1]);
    unrolled_jump(b, labels[1]);
    for (int i = 0; i < 2; i++) {
        emit_label(e, labels[i]);
        unrolled_land(b, labels[i]);
        ssa value = emit_expression(b, n->kid[i + 1]);
        incomings[i] = incoming_of(e, type, value);
        emit_branch(e, join);
        unrolled_jump(b, join);
    }
    emit_label(e, join);
    unrolled_land(b, join);
    return join_incoming(e, type, &incomings[0], &incomings[1]);
}

static ssa assign(body *b, const node *n) {
    lvalue p = find_place(b, n->kid[0]);
    p.from = n->kid[1];
    return store_place(b, &p, emit_expression(b, n->kid[1]));
}

static bool adds_halves(const node *n, dtype t) {
    return (n->op == ATOMIC_ADD || n->op == ATOMIC_SUB) && (t == DT_INT64 || t == DT_UINT64);
}

/* A call on the CPU has its copy to itself, so the update need not be atomic. But several points update one element, so the access
 * is in no group of independent ones. */
static ssa update_private(emit *e, const node *n, const lvalue *p, ssa value) {
    int group = e->access_group;
    e->access_group = 0;
    ssa old = emit_load(e, p->memory, p->pointer);
    emit_store(e, p->memory, atomic_combine(e, (atomic_op)n->op, p->type, old, value), p->pointer);
    e->access_group = group;
    return old;
}

static ssa update_in_step(body *b, const node *n, const lvalue *p, const ssa *values) {
    emit *e = b->e;
    ssa old = ssa_constant(0); /* the old value in a copy is never used */
    e->shared = p->staged;
    if (p->privatised && p->held != p->memory) {
        emit_atomic(e, (atomic_op)n->op, p->held, p->pointer, emit_convert(e, values[0], p->type, p->held), ssa_none());
    } else if (p->privatised && e->target->gpu && adds_halves(n, p->type)) {
        emit_add_halves(e, (atomic_op)n->op, p->pointer, values[0]);
    } else if (p->privatised && !e->target->gpu) {
        old = update_private(e, n, p, values[0]);
    } else {
        bool compares = n->op == ATOMIC_COMPARE_EXCHANGE;
        old = emit_atomic(e, (atomic_op)n->op, p->type, p->pointer, values[compares], values[0]);
    }
    e->shared = false;
    return old;
}

static ssa atomic(body *b, const node *n) {
    emit *e = b->e;
    number zero = {.type = DT_INT64};
    lvalue p = find_place(b, n->kid[0]);
    ssa values[2] = {0}, nothing = emit_constant(zero, p.type);
    for (int i = 0; i < atomics[n->op].operands; i++)
        values[i] = emit_expression(b, n->kid[1 + i]);
    if (!ssa_is_set(p.in_range))
        return update_in_step(b, n, &p, values);
    int there = emit_label_new(e), join = emit_label_new(e);
    incoming none = incoming_of(e, p.type, nothing);
    emit_branch_if(e, p.in_range, there, join);
    emit_label(e, there);
    incoming some = incoming_of(e, p.type, update_in_step(b, n, &p, values));
    emit_branch(e, join);
    emit_label(e, join);
    return join_incoming(e, p.type, &some, &none);
}

static ssa size_of_dimension(body *b, const node *n) { return core_size(b, n->dim); }

/* A call whose arguments ("float %r1, i32 4") are evaluated: results[k] becomes result k. */
static void call_function(body *b, const function *f, const char *arguments, int line, ssa *results) {
    emit *e = b->e;
    fragment name = emit_function_name(e, f);
    text type = {0}, more = {0};
    emit_result_type(e, &type, f);
    if (reports(e))
        report_helper_arguments(b, &more, line);
    const char *result = type.failed ? "" : type.data;
    ssa all = emit_invoke(e, result, name.text, arguments, more.failed ? NULL : more.data);
    if (reports(e))
        report_pass_on(b, f, result, all);
    for (int k = 0; k < f->nresults; k++)
        results[k] = emit_value(e, "extractvalue %s %s, %d", result, all.text, k);
    e->failed |= type.failed || more.failed;
    text_free(&type);
    text_free(&more);
}

static void call_all(body *b, const function *f, const ssa *values, int line, ssa *results) {
    text arguments = {0};
    for (int k = 0; k < f->nparams; k++)
        text_printf(&arguments, "%s%s %s", k ? ", " : "", ir_value_type(f->locals[k].type), values[k].text);
    call_function(b, f, arguments.data && !arguments.failed ? arguments.data : "", line, results);
    b->e->failed |= arguments.failed;
    text_free(&arguments);
}

ssa emit_call(body *b, const function *f, const ssa *values, int line) {
    assert(f->nresults == 1);
    ssa result;
    call_all(b, f, values, line, &result);
    return result;
}

/* A call of a function with one result is its value; several are assigned to the variables of n->other. */
static ssa call(body *b, const node *n) {
    arena *a = b->e->a;
    const function *f = n->callee;
    if (!b->e->target->gpu && extreme_is_nested(n))
        return emit_extreme(b, n);
    ssa *values = arena_alloc(a, (size_t)(f->nparams + 1) * sizeof *values);
    ssa *results = arena_alloc(a, (size_t)f->nresults * sizeof *results), *next = values;
    for (const node *argument = n->args; argument; argument = argument->next)
        *next++ = emit_expression(b, argument);
    assert(next - values == f->nparams);
    call_all(b, f, values, n->line, results);
    if (!n->other)
        return results[0];
    for (const node *to = n->other; to; to = to->next) {
        lvalue p = find_place(b, to);
        store_place(b, &p, *results++);
    }
    return ssa_none();
}

static ssa sequence(body *b, const node *n) {
    emit_statements(b, n->body);
    return emit_expression(b, n->kid[0]);
}

static ssa compound(body *b, const node *n) {
    emit *e = b->e;
    dtype type = (dtype)n->kid[0]->type, wide = (dtype)n->wide, right = (dtype)n->kid[1]->type;
    lvalue p = find_place(b, n->kid[0]);
    ssa kept = load_place(b, &p), old = emit_convert(e, kept, type, wide);
    ssa operand = emit_expression(b, n->kid[1]), value;
    if (n->callee) {
        char arguments[160];
        snprintf(arguments, sizeof arguments, "%s %s, %s %s", ir_value_type(wide), old.text, ir_value_type(right),
                 operand.text);
        assert(n->callee->nresults == 1);
        call_function(b, n->callee, arguments, n->line, &value);
    } else {
        value = operate(b, n, wide, old, operand);
    }
    value = emit_convert(e, value, wide, type);
    if (ssa_is_set(b->chosen))
        value = emit_select(e, type, b->chosen, value, kept);
    return store_place(b, &p, value);
}

static ssa update(body *b, const node *n) {
    emit *e = b->e;
    dtype type = (dtype)n->kid[0]->type, wide = (dtype)n->wide;
    number one = {.type = DT_INT64, .as.i = 1};
    lvalue p = find_place(b, n->kid[0]);
    ssa old = load_place(b, &p), converted = emit_convert(e, old, type, wide);
    ssa value = emit_binary(e, (op)n->op, wide, converted, emit_constant(one, wide), wide);
    ssa stored = store_place(b, &p, emit_convert(e, value, wide, type));
    return n->postfix ? old : stored;
}

bool is_uniform(body *b, const node *n) {
    while (n && n->kind == N_CONVERT)
        n = n->kid[0];
    return n && b->e->uniform && n->kind == N_LOCAL && is_input(b, n) && b->e->uniform >> n->local & 1;
}

/* Is it pow, with an exponent that all elements share? */
static bool has_one_exponent(body *b, const node *n) {
    return n->args && !strcmp(n->math->name, "pow") && is_uniform(b, n->args->next);
}

/* Is it fmod on the CPU, of float16 alone? */
static bool is_remainder_of_float16(const body *b, const node *n) {
    bool halves = !b->e->target->gpu && !strcmp(n->math->name, "fmod");
    for (const node *a = n->args; a; a = a->next)
        halves &= a->kind == N_CONVERT && a->kid[0]->type == DT_FLOAT16;
    return halves;
}

static ssa math(body *b, const node *n) {
    ssa args[3] = {0};
    int count = 0;
    for (const node *a = n->args; a && count < 3; a = a->next)
        args[count++] = emit_expression(b, a);
    if (n->counted && counts_steps(b->e)) /* the order, which is not negative: as many steps, in a library */
        steps_take(b, emit_convert(b->e, args[0], DT_INT32, DT_INT64), n->line);
    assert(count == n->math->arity);
    if (has_one_exponent(b, n))
        return emit_power(b->e, n->math, (dtype)n->wide, args);
    if (is_remainder_of_float16(b, n))
        return emit_remainder(b->e, n->math, (dtype)n->wide, true, args);
    return emit_math(b->e, n->math, (dtype)n->wide, args);
}

static ssa make_complex(body *b, const node *n) {
    ssa re = emit_expression(b, n->kid[0]), im = emit_expression(b, n->kid[1]);
    return emit_complex(b->e, (dtype)n->type, re, im);
}

static ssa part(body *b, const node *n) {
    ssa v = emit_expression(b, n->kid[0]);
    return emit_part(b->e, (dtype)n->kid[0]->type, v, n->kind == N_IMAG);
}

ssa emit_expression(body *b, const node *n) {
    static ssa (*const writers[])(body *, const node *) = {
        [N_CONST] = constant,     [N_LOCAL] = read_place,  [N_ELEMENT] = read_place,
        [N_CONVERT] = convert,    [N_UNARY] = unary,       [N_BINARY] = binary,
        [N_AND] = logical,        [N_OR] = logical,        [N_SELECT] = conditional,
        [N_ASSIGN] = assign,      [N_COMPOUND] = compound, [N_UPDATE] = update,
        [N_CALL] = call,          [N_MATH] = math,         [N_COMPLEX] = make_complex,
        [N_REAL] = part,          [N_IMAG] = part,         [N_SIZE] = size_of_dimension,
        [N_REDUCE] = emit_reduce, [N_ATOMIC] = atomic,     [N_SEQUENCE] = sequence,
    };
    ssa known;
    emit_bound(b->e);
    if ((b->hooks && b->hooks->recall && b->hooks->recall(b, n, &known)) || (b->jam && jam_recall(b, n, &known)))
        return known;
    if (n->line)
        b->e->line = n->line;
    assert(n->kind < COUNT(writers) && writers[n->kind]); /* an expression, no statement */
    bool operation = narrow_is_operation(n), around = b->wide;
    if (operation && !around && emit_narrow(b, n, &known))
        return known;
    b->wide = operation; /* so that the parts of one are not looked at again, which would take time by their depth */
    ssa value = writers[n->kind](b, n);
    b->wide = around;
    return value;
}
