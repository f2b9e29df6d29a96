/* shared_rows.c - rows that all points read, through shared memory: see shared_rows.h. */
#include "ir/forall/shared_rows.h"

#include "ir/common/lanes.h"
#include "ir/common/nodes.h"

/* ---- Which loop, and which array ---- */

typedef struct search {
    const function *f;
    const uint16_t *use;
    int counter;
    int array;   /* -1: none */
    bool ragged; /* the text jumps, or has other loops */
    int loops;
} search;

/* Is it an element of a row whose number is the loop's counter, at a constant place? */
static bool is_in_row(const function *f, const node *n, int counter) {
    const local *l = &f->locals[n->local];
    if (n->kind != N_ELEMENT || !l->core || l->rank != 2)
        return false;
    const node *row = element_index(n, 2, 0), *place = element_index(n, 2, 1);
    return row->kind == N_LOCAL && row->local == counter && place->kind == N_CONST;
}

static void look(const node *n, void *user) {
    search *s = user;
    s->loops += n->kind == N_LOOP || n->kind == N_FORALL || (n->kind == N_REDUCE && n->args);
    s->ragged |= n->kind == N_RETURN || n->kind == N_BREAK || n->kind == N_CONTINUE;
    for (const node *to = node_assigned(n); to; to = to->next)
        s->ragged |= s->counter >= 0 && to->local == s->counter;
    if (s->counter >= 0 && s->array < 0 && is_in_row(s->f, n, s->counter) &&
        !(s->use[n->local] & (USE_WRITE | USE_ATOMIC)))
        s->array = n->local;
}

/* The loop behind this declaration, if it counts an int64 from 0 up to a size by ones; NULL: none. */
static const node *counted_rows(const node *declared) {
    const node *loop = declared->next;
    if (declared->kind != N_DECLARE || !declared->kid[0] || !loop || loop->kind != N_LOOP || loop->next ||
        loop->test_last)
        return NULL;
    const node *start = declared->kid[0], *test = loop->kid[0], *step = loop->step;
    if (start->kind != N_CONST || start->type != DT_INT64 || start->value.as.i || !test || test->kind != N_BINARY ||
        test->op != OP_LT || test->kid[0]->kind != N_LOCAL || test->kid[0]->local != declared->local ||
        test->kid[1]->kind != N_SIZE)
        return NULL;
    if (!step || step->next || step->kind != N_EVAL || step->kid[0]->kind != N_UPDATE || step->kid[0]->op != OP_ADD)
        return NULL;
    const node *counter = step->kid[0]->kid[0];
    return counter->kind == N_LOCAL && counter->local == declared->local ? loop : NULL;
}

/* In the kernel's outermost statements, which all points execute. */
static const node *find_rows(const function *f) {
    for (const node *n = f->body; n; n = n->next)
        if (n->kind == N_BLOCK && n->body && counted_rows(n->body))
            return n->body;
    return NULL;
}

uint8_t shared_rows_array(const tree *t, const uint16_t *use) {
    search s = {.f = t->kernel, .use = use, .counter = -1, .array = -1};
    const node *declared = t->layout->nindices == 1 ? find_rows(t->kernel) : NULL;
    node_each(t->kernel->body, look, &s);
    if (!declared || s.ragged || s.loops != 1)
        return 0;
    s.counter = declared->local;
    node_each(declared->next->body, look, &s);
    return s.ragged ? 0 : (uint8_t)(s.array + 1);
}

/* ---- Code ---- */

/* The loop that is being written: of which rows, and which of those in shared memory an iteration is about. */
static const variant *variant_of(const body *b) { return b->e->frame->v; }
static int array_of(const body *b) { return variant_of(b)->forall.shared_rows - 1; }
static dtype type_of(const body *b) { return (dtype)variant_of(b)->operand[array_of(b)].memory; }
static int group_of(const body *b) { return variant_of(b)->operand[array_of(b)].record / dtypes[type_of(b)].size; }

static ssa staged_row(const body *b, ssa row) {
    emit *e = b->e;
    ssa base = emit_shared_address(e, ssa_constant(0), ir_memory_type((dtype)dtypes[type_of(b)].component));
    e->shared = true;
    return emit_element(e, type_of(b), base, emit_value(e, "mul i64 %s, %d", row.text, group_of(b)));
}

/* The threads of the block copy `count` rows, from row `first` on. */
static void stage(const body *b, ssa first, ssa count) {
    emit *e = b->e;
    ssa values[ACCESS_BYTES];
    ssa thread = emit_widen(e, emit_special_register(e, "tid")),
        threads = emit_widen(e, emit_special_register(e, "ntid"));
    counted_loop l = counted_loop_begin(e, "i64", thread, count);
    ssa offset = emit_value(e, "mul i64 %s, %d", emit_op(e, "add i64", first, l.i).text, group_of(b));
    emit_invariant(e, true);
    emit_load_vector(e, type_of(b), emit_element(e, type_of(b), ssa_named("%%p%d", array_of(b)), offset), group_of(b),
                     values);
    e->invariant = 0;
    emit_store_vector(e, type_of(b), values, staged_row(b, l.i), group_of(b));
    e->shared = false;
    counted_loop_end(e, &l, threads, loop_no_unroll(e));
}

const node *shared_rows_loop(body *b, const node *n) {
    const node *loop = n->kind == N_DECLARE ? counted_rows(n) : NULL;
    emit *e = b->e;
    if (!loop)
        return NULL;
    ssa limit = emit_expression(b, loop->kid[0]->kid[1]);
    counted_loop tiles = counted_loop_begin(e, "i64", ssa_constant(0), limit);
    ssa count = emit_min(e, emit_op(e, "sub i64", limit, tiles.i), ssa_constant(SHARED_ROWS));
    emit_block_barrier(e);
    stage(b, tiles.i, count);
    emit_block_barrier(e);
    counted_loop rows = counted_loop_begin(e, "i64", ssa_constant(0), count);
    b->staged_row = rows.i;
    b->bound[n->local] = emit_op(e, "add i64", tiles.i, rows.i);
    emit_statements(b, loop->body);
    b->bound[n->local] = b->staged_row = ssa_none();
    counted_loop_end(e, &rows, ssa_constant(1), emit_metadata(e, "!{!\"llvm.loop.unroll.count\", i32 8}"));
    counted_loop_end(e, &tiles, ssa_constant(SHARED_ROWS), loop_no_unroll(e));
    return loop;
}

bool shared_rows_recall(body *b, const node *n, ssa *value) {
    emit *e = b->e;
    ssa values[ACCESS_BYTES];
    if (!ssa_is_set(b->staged_row) || n->local != array_of(b))
        return false;
    const node *row = element_index(n, 2, 0), *place = element_index(n, 2, 1);
    if (row->kind != N_LOCAL || !ssa_is_set(b->bound[row->local]) || place->kind != N_CONST ||
        !(n->unchecked || (n->conditional && variant_of(b)->forall.proved)))
        return false;
    emit_load_vector(e, type_of(b), staged_row(b, b->staged_row), group_of(b), values);
    e->shared = false;
    *value = emit_convert(e, values[place->value.as.i], type_of(b), (dtype)n->type);
    return true;
}
