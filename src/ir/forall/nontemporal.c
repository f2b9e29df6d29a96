/* nontemporal.c - see nontemporal.h. An element has the same place within a cache line in the buffer as in the array, so that lines can be
 * copied whole.
 *
 * While a strip is copied out nothing is read, and the processor's own fetching ahead ends. Where an operand is read at several rows, as
 * windows are, each strip therefore asks for what the next one reads of the row that lies last in memory; the others were that row
 * before. One row alone is fetched well enough by the processor. */
#include <assert.h>

#include "ir/forall/nontemporal.h"

#include "ir/common/nodes.h"
#include "ir/common/whole_line.h"
#include "ir/forall/guards.h"

enum {
    STRIP_BYTES = 1024, /* of the buffer of an operand; with 2048 windows of 3 x 3 float32 were a quarter slower */
    ROWS_MOST = 16      /* of an operand, that are looked for */
};

_Static_assert(STRIP_BYTES % LINE_BYTES == 0, "strips are whole lines");

/* ---- Which ---- */

typedef struct search {
    int k, nparams, elements;
    bool assigned, returns;
} search;

static void look(const node *n, void *user) {
    search *s = user;
    s->elements += n->kind == N_ELEMENT && n->local == s->k;
    for (const node *to = node_assigned(n); to; to = to->next)
        s->assigned |= to->local < s->nparams;
    s->returns |= n->kind == N_RETURN;
}

/* The first write to operand k that stands in a list and that nothing returns before. */
static const node *write_in(const node *list, int k) {
    for (const node *n = list; n; n = n->next) {
        search s = {.k = k};
        const node *to = n->kind == N_EVAL && n->kid[0]->kind == N_ASSIGN ? n->kid[0]->kid[0] : NULL;
        if (to && to->kind == N_ELEMENT && to->local == k)
            return to;
        const node *inner = node_is_block(n) ? write_in(n->body, k) : NULL;
        if (inner)
            return inner;
        node_visit(n, look, &s);
        if (s.returns)
            return NULL;
    }
    return NULL;
}

/* The statements that every point gets to, but for those that guards leave out. */
static const node *statements(const tree *t, int last) {
    const node *first = t->kernel->body;
    guards g;
    guards_find(t, last, &g);
    if (!first || !guards_decide(&g, first))
        return first;
    return first->body && first->body->kind == N_RETURN ? first->next : first->body;
}

static bool moves(const tree *t, int index, const node *n) {
    if (n->kind == N_LOCAL)
        return n->local == index;
    if (n->kind != N_BINARY || (n->op != OP_ADD && n->op != OP_SUB))
        return false;
    return (moves(t, index, n->kid[0]) && guards_fixed(t, index, n->kid[1])) ||
           (n->op == OP_ADD && moves(t, index, n->kid[1]) && guards_fixed(t, index, n->kid[0]));
}

/* The dimension in which a write to operand k that fills rows goes along them; -1: there is none. */
static int find(const tree *t, int last, int k, const node **write) {
    const function *f = t->kernel;
    int index = f->nparams - t->layout->nindices + last, along = -1;
    search s = {.k = k, .nparams = f->nparams};
    node_each(f->body, look, &s);
    const node *n = *write = write_in(statements(t, last), k);
    if (!n || s.elements != 1 || s.assigned)
        return -1;
    for (int d = 0, rank = f->locals[k].rank; d < rank; d++) {
        const node *i = element_index(n, rank, d);
        if (guards_fixed(t, index, i))
            continue;
        if (along >= 0 || !moves(t, index, i))
            return -1;
        along = d;
    }
    return along;
}

bool nontemporal_fills(const tree *t, int last, int k) {
    const node *write;
    return find(t, last, k, &write) >= 0;
}

/* ---- Code ---- */

/* The address of an element of operand k that a point accesses. */
static ssa element_of(forall_writer *w, int k, const node *n, const ssa *index) {
    emit *e = w->g.s.e;
    const layout_operand *o = &w->g.layout->operands[k];
    ssa offset = ssa_constant(0);
    for (int d = 0; d < o->rank; d++) {
        ssa i = forall_value(w, index, element_index(n, o->rank, d));
        if (w->g.s.v->operand[k].unit != d + 1)
            i = emit_op(e, "mul i64", i, w->g.core[o->strides + d]);
        offset = emit_op(e, "add i64", offset, i);
    }
    return skeleton_address(&w->g.s, k, w->g.s.base[k], offset);
}

static ssa number_of(forall_writer *w, int k, ssa pointer) {
    const char *type = ir_memory_type((dtype)w->g.s.v->operand[k].memory);
    return emit_value(w->g.s.e, "ptrtoint %s* %s to i64", type, pointer.text);
}

typedef void points_writer(forall_writer *w, ssa *index, ssa first, ssa limit);

/* A strip of an operand: the addresses of its first element in the array and in the buffer; and the base address that the array would
 * have if its elements of this strip lay in the buffer. */
typedef struct strip {
    ssa to, from, base;
} strip;

static strip enter(forall_writer *w, int k, const ssa *index) {
    emit *e = w->g.s.e;
    const char *type = ir_memory_type((dtype)w->g.s.v->operand[k].memory);
    strip s;
    s.to = number_of(w, k, element_of(w, k, w->nontemporal[k].write, index));
    s.from = emit_op(e, "add i64", w->nontemporal[k].buffer, emit_op(e, "and i64", s.to, ssa_constant(LINE_BYTES - 1)));
    ssa moved = emit_op(e, "sub i64", number_of(w, k, w->g.s.base[k]), emit_op(e, "sub i64", s.to, s.from));
    s.base = emit_value(e, "inttoptr i64 %s to %s*", moved.text, type);
    return s;
}

static void leave(forall_writer *w, int k, const strip *s, ssa count) {
    emit *e = w->g.s.e;
    ssa bytes = emit_value(e, "mul i64 %s, %d", count.text, dtypes[w->g.s.v->operand[k].memory].size);
    ssa to = emit_value(e, "inttoptr i64 %s to i8*", s->to.text);
    ssa from = emit_value(e, "inttoptr i64 %s to i8*", s->from.text);
    emit_line(e, "call void %s(i8* %s, i8* %s, i64 %s)", w->copy.text, to.text, from.text, bytes.text);
}

/* How many points a strip may have: up to the end of a cache line of the widest operand, so that all strips but the first and the last
 * are whole lines. */
static ssa points_of(forall_writer *w, const strip *s) {
    emit *e = w->g.s.e;
    int widest = -1;
    for (int k = 0; k < w->g.s.v->nin; k++)
        if (w->nontemporal[k].write &&
            (widest < 0 || dtypes[w->g.s.v->operand[k].memory].size > dtypes[w->g.s.v->operand[widest].memory].size))
            widest = k;
    assert(widest >= 0); /* strips are there because an operand is written past the caches */
    ssa before = emit_op(e, "and i64", s[widest].to, ssa_constant(LINE_BYTES - 1));
    ssa bytes = emit_op(e, "sub i64", ssa_constant(STRIP_BYTES), before);
    return emit_value(e, "udiv i64 %s, %d", bytes.text, dtypes[w->g.s.v->operand[widest].memory].size);
}

/* ---- Fetching ahead ---- */

/* Elements of operand k along whose dimension `along` the points of a row go, each of another row of the array. */
typedef struct rows {
    const tree *t;
    int k, index, along, count;
    const node *element[ROWS_MOST];
} rows;

/* Do two elements differ along the row alone? */
static bool in_one_row(const rows *r, const node *a, const node *b) {
    int rank = r->t->kernel->locals[r->k].rank;
    for (int d = 0; d < rank; d++)
        if (d != r->along && !node_same(element_index(a, rank, d), element_index(b, rank, d), -1, -1))
            return false;
    return true;
}

static void find_rows(const node *n, void *user) {
    rows *r = user;
    if (n->kind != N_ELEMENT || n->local != r->k || r->count == ROWS_MOST)
        return;
    for (int d = 0, rank = r->t->kernel->locals[r->k].rank; d < rank; d++) {
        const node *i = element_index(n, rank, d);
        if (d == r->along ? !moves(r->t, r->index, i) : !guards_fixed(r->t, r->index, i))
            return;
    }
    for (int i = 0; i < r->count; i++)
        if (in_one_row(r, n, r->element[i]))
            return;
    r->element[r->count++] = n;
}

static rows rows_of(const forall_writer *w, int k) {
    const function *f = w->g.s.t->kernel;
    const variant *v = w->g.s.v;
    rows r = {.t = w->g.s.t,
              .k = k,
              .index = f->nparams - w->g.layout->nindices + v->ndim - 1,
              .along = v->operand[k].unit - 1};
    if (r.along >= 0)
        node_each(f->body, find_rows, &r);
    return r;
}

/* Has what `count` points from one on read of operand k fetched, where that is of several rows. */
static void fetch_operand(forall_writer *w, int k, const ssa *index, ssa count) {
    emit *e = w->g.s.e;
    rows r = rows_of(w, k);
    if (r.count < 2)
        return;
    ssa last = number_of(w, k, element_of(w, k, r.element[0], index));
    for (int i = 1; i < r.count; i++) {
        ssa at = number_of(w, k, element_of(w, k, r.element[i], index));
        last = emit_select_as(e, "i64", emit_op(e, "icmp ugt i64", at, last), at, last);
    }
    ssa from = emit_value(e, "inttoptr i64 %s to i8*", last.text);
    ssa bytes = emit_value(e, "mul i64 %s, %d", count.text, dtypes[w->g.s.v->operand[k].memory].size);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), bytes);
    emit_prefetch(e, "i8", from, l.i, PREFETCH_READ);
    counted_loop_end(e, &l, ssa_constant(LINE_BYTES), 0);
}

static void fetch(forall_writer *w, ssa *index, ssa from, ssa count) {
    int last = w->g.s.v->ndim - 1;
    ssa here = index[last];
    index[last] = from;
    for (int k = 0; k < w->g.s.v->nin; k++)
        if (!w->nontemporal[k].write)
            fetch_operand(w, k, index, count);
    index[last] = here;
}

static void row_by_strips(forall_writer *w, ssa *index, ssa first, ssa limit, points_writer *run) {
    emit *e = w->g.s.e;
    strip strips[UF_MAX_OPERANDS] = {0};
    ssa base[UF_MAX_OPERANDS] = {0};
    counted_loop l = counted_loop_begin(e, "i64", first, limit);
    index[w->g.s.v->ndim - 1] = l.i;
    for (int k = 0; k < w->g.s.v->nin; k++)
        if (w->nontemporal[k].write)
            strips[k] = enter(w, k, index);
    ssa left = emit_op(e, "sub i64", limit, l.i), most = points_of(w, strips);
    ssa count = emit_min(e, left, most);
    for (int k = 0; k < w->g.s.v->nin; k++) {
        base[k] = w->g.s.base[k];
        if (w->nontemporal[k].write)
            w->g.s.base[k] = strips[k].base;
    }
    ssa end = emit_op(e, "add i64", l.i, count);
    fetch(w, index, end, count);
    run(w, index, l.i, end);
    memcpy(w->g.s.base, base, (size_t)w->g.s.v->nin * sizeof *base);
    for (int k = 0; k < w->g.s.v->nin; k++)
        if (w->nontemporal[k].write)
            leave(w, k, &strips[k], count);
    counted_loop_end(e, &l, count, 0);
}

/* ---- Line by line ---- */

/* The operand that is written so; -1: there is none. Narrow elements are computed in wider vectors, which are no line, and loops of the text keep
 * points from being vectors. */
static int line_operand(const forall_writer *w) {
    int found = -1;
    for (int k = 0; k < w->g.s.v->nin; k++) {
        if (!w->nontemporal[k].write) {
            if (rows_of(w, k).count > 1)
                return -1;
            continue;
        }
        if (found >= 0 || dtypes[w->g.s.v->operand[k].memory].size < 4)
            return -1;
        found = k;
    }
    return w->outer || w->g.s.t->has_loop ? -1 : found;
}

/* The points of a line, whose elements have so many bytes, from one on. */
static void line(forall_writer *w, ssa *index, ssa first, int size) {
    emit *e = w->g.s.e;
    int hints[1 + WHOLE_LINE_HINTS] = {emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", w->group)};
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), ssa_constant(LINE_BYTES / size));
    index[w->g.s.v->ndim - 1] = emit_op(e, "add i64", first, l.i);
    forall_point(w, "kernel", index);
    whole_line_hints(e, size, whole_line_piece(e, size, false), hints + 1);
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, COUNT(hints));
}

/* Has the next point of a row written at the beginning of the array of operand k: as if the row were the only one, and began there. So LLVM
 * sees that it is there. */
static void enter_line(forall_writer *w, int k, const ssa *index) {
    emit *e = w->g.s.e;
    const layout_operand *o = &w->g.layout->operands[k];
    int along = w->g.s.v->operand[k].unit - 1;
    ssa at = forall_value(w, index, element_index(w->nontemporal[k].write, o->rank, along));
    for (int d = 0; d < o->rank; d++)
        if (d != along)
            w->g.core[o->strides + d] = ssa_constant(0);
    dtype type = skeleton_memory(&w->g.s, k);
    w->g.s.base[k] = emit_element_beyond(e, type, whole_line_elements(e, w->nontemporal[k].array, type),
                                         emit_op(e, "sub i64", ssa_constant(0), at));
}

/* Whole lines: so many points from one on. */
static void lines(forall_writer *w, ssa *index, ssa first, ssa count) {
    emit *e = w->g.s.e;
    int k = w->by_lines, last = w->g.s.v->ndim - 1, size = dtypes[skeleton_memory(&w->g.s, k)].size;
    const layout_operand *o = &w->g.layout->operands[k];
    ssa base = w->g.s.base[k], points = ssa_constant(LINE_BYTES / size), strides[LAYOUT_MAX_RANK];
    memcpy(strides, w->g.core + o->strides, (size_t)o->rank * sizeof *strides);
    counted_loop l = counted_loop_begin(e, "i64", first, emit_op(e, "add i64", first, count));
    index[last] = l.i;
    ssa to = element_of(w, k, w->nontemporal[k].write, index);
    enter_line(w, k, index);
    line(w, index, l.i, size);
    w->g.s.base[k] = base;
    memcpy(w->g.core + o->strides, strides, (size_t)o->rank * sizeof *strides);
    whole_line_store(e, w->nontemporal[k].array, skeleton_memory(&w->g.s, k), whole_line_piece(e, size, false), to);
    counted_loop_end(e, &l, points, loop_no_unroll(e));
}

/* Points before the first line and behind the last one are written like any others. */
static void row_by_lines(forall_writer *w, ssa *index, ssa first, ssa limit, points_writer *run) {
    emit *e = w->g.s.e;
    int k = w->by_lines, last = w->g.s.v->ndim - 1, size = dtypes[w->g.s.v->operand[k].memory].size;
    int whole = emit_label_new(e), some = emit_label_new(e), end = emit_label_new(e);
    counted_loop l = counted_loop_begin(e, "i64", first, limit);
    index[last] = l.i;
    ssa to = number_of(w, k, element_of(w, k, w->nontemporal[k].write, index)),
        into = emit_op(e, "and i64", to, ssa_constant(LINE_BYTES - 1)), left = emit_op(e, "sub i64", limit, l.i),
        in_lines = emit_op(e, "and i64", left, ssa_constant(-(LINE_BYTES / size))),
        to_line = emit_value(e, "udiv i64 %s, %d", emit_op(e, "sub i64", ssa_constant(LINE_BYTES), into).text, size);
    ssa begins = emit_op(e, "and i1", emit_op(e, "icmp eq i64", into, ssa_constant(0)),
                         emit_op(e, "icmp ne i64", in_lines, ssa_constant(0)));
    ssa count = emit_select_as(e, "i64", begins, in_lines, emit_min(e, left, to_line));
    emit_branch_if(e, begins, whole, some);
    emit_label(e, whole);
    lines(w, index, l.i, count);
    emit_branch(e, end);
    emit_label(e, some);
    run(w, index, l.i, emit_op(e, "add i64", l.i, count));
    emit_branch(e, end);
    emit_label(e, end);
    counted_loop_end(e, &l, count, 0);
}

static void buffer_make(forall_writer *w, int k) {
    emit *e = w->g.s.e;
    int bytes = w->by_lines == k ? LINE_BYTES : STRIP_BYTES + LINE_BYTES;
    w->nontemporal[k].array =
        w->by_lines == k ? whole_line_array(e) : emit_value(e, "alloca [%d x i8], align %d", bytes, LINE_BYTES);
    w->nontemporal[k].buffer = emit_value(e, "ptrtoint [%d x i8]* %s to i64", bytes, w->nontemporal[k].array.text);
}

void nontemporal_begin(forall_writer *w) {
    const variant *v = w->g.s.v;
    for (int k = 0; k < v->nin; k++) {
        const node *write;
        if (!v->operand[k].nontemporal || find(w->g.s.t, v->ndim - 1, k, &write) != v->operand[k].unit - 1 ||
            !(write->unchecked || (write->conditional && v->forall.proved)))
            continue;
        w->nontemporal[k].write = write;
    }
    w->by_lines = line_operand(w);
    for (int k = 0; k < v->nin; k++)
        if (w->nontemporal[k].write)
            buffer_make(w, k);
}

bool nontemporal_any(const forall_writer *w) {
    for (int k = 0; k < w->g.s.v->nin; k++)
        if (w->nontemporal[k].write)
            return true;
    return false;
}

void nontemporal_row(forall_writer *w, ssa *index, ssa first, ssa limit, points_writer *run) {
    (w->by_lines >= 0 ? row_by_lines : row_by_strips)(w, index, first, limit, run);
}
