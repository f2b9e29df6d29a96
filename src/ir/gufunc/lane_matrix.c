/* lane_matrix.c - see lane_matrix.h. */
#include <assert.h>
#include <math.h>

#include "ir/common/lanes.h"
#include "ir/gufunc/lane_matrix.h"

/* ---- Lanes ---- */

/* log2 of the lanes of a group: no more than a warp's, of which a block that has a matrix has several. */
static int lanes_of(const gufunc_writer *w) {
    int coop = w->s.v->gufunc.coop;
    return coop < COOP_WARP ? coop : COOP_WARP;
}

ssa lane_told(const gufunc_writer *w, dtype type, ssa value, ssa lane) {
    return lanes_shuffle(w->s.e, "idx", ssa_constant(-1), type, value, lane, lanes_of(w));
}

num lane_told_num(const gufunc_writer *w, const num_kind *of, num x, ssa lane) {
    for (int i = 0; i < of->parts; i++)
        x.part[i] = lane_told(w, of->real, x.part[i], lane);
    return x;
}

ssa lane_ballot_of_warp(const gufunc_writer *w, ssa is) { return lanes_ballot(w->s.e, is); }

ssa lane_ballot(const gufunc_writer *w, ssa is) {
    emit *e = w->s.e;
    int lanes = lanes_of(w);
    ssa all = lane_ballot_of_warp(w, is);
    if (lanes == COOP_WARP)
        return all;
    ssa group = emit_value(e, "and i32 %s, %d", emit_special_register(e, "tid").text, 31 & ~((1 << lanes) - 1));
    return emit_value(e, "and i32 %s, %d", emit_op(e, "lshr i32", all, group).text, (1 << (1 << lanes)) - 1);
}

ssa lane_largest(const gufunc_writer *w, ssa x) {
    emit *e = w->s.e;
    int lanes = lanes_of(w);
    for (int by = 1 << lanes >> 1; by; by /= 2) {
        ssa other = lanes_shuffle(e, "bfly", ssa_constant(-1), DT_INT32, x, ssa_constant(by), lanes);
        x = emit_select_as(e, "i32", emit_op(e, "icmp sgt i32", x, other), x, other);
    }
    return x;
}

num lane_sum(const gufunc_writer *w, const num_kind *of, num x) {
    emit *e = w->s.e;
    int lanes = lanes_of(w);
    for (int by = 1 << lanes >> 1; by; by /= 2)
        for (int i = 0; i < of->parts; i++) {
            ssa other = lanes_shuffle(e, "bfly", ssa_constant(-1), of->real, x.part[i], ssa_constant(by), lanes);
            x.part[i] = emit_binary(e, OP_ADD, of->real, x.part[i], other, of->real);
        }
    return x;
}

/* ---- Loops ---- */

carrying_loop carrying_loop_new(emit *e, int most) {
    return (carrying_loop){.e = e, .list = arena_alloc(e->a, (size_t)most * sizeof(carried)), .most = most};
}

void carry(carrying_loop *l, ssa *at, const char *type) {
    if (!ssa_is_set(*at))
        return;
    assert(l->n < l->most);
    l->list[l->n++] = (carried){.at = at, .type = type, .before = *at};
}

void carry_num(carrying_loop *l, const num_kind *of, num *x) {
    for (int i = 0; i < of->parts; i++)
        carry(l, &x->part[i], ir_value_type(of->real));
}

void carrying_loop_begin(carrying_loop *l) {
    emit *e = l->e;
    l->before = emit_label_new(e), l->head = emit_label_new(e);
    l->step = emit_label_new(e), l->after = emit_label_new(e);
    emit_branch(e, l->before);
    emit_label(e, l->before);
    emit_branch(e, l->head);
    emit_loop_begin(e);
    emit_label(e, l->head);
    l->phis = e->out->length;
    for (int i = 0; i < l->n; i++)
        *l->list[i].at = l->list[i].name = ssa_named("%%c%d_%d", l->head, i);
}

void carrying_loop_while(carrying_loop *l, ssa condition) {
    emit_branch_if(l->e, condition, l->step, l->after);
    emit_label(l->e, l->step);
}

/* What the values of a step become is known at its end alone, so that the head's phis are written then. Behind the loop they stand for those of
 * the head, too: of others the assembler would keep a copy. */
void carrying_loop_end(carrying_loop *l) {
    emit *e = l->e;
    const int hint = loop_no_unroll(e), latch = emit_label_new(e);
    emit_branch(e, latch);
    emit_label(e, latch);
    emit_line(e, "br label %%L%d%s", l->head, loop_hints(e, &hint, 1).text);
    emit_loop_end(e);
    text phis = {0};
    for (int i = 0; i < l->n; i++)
        text_printf(&phis, "  %s = phi %s [ %s, %%L%d ], [ %s, %%L%d ]\n", l->list[i].name.text, l->list[i].type,
                    l->list[i].before.text, l->before, l->list[i].at->text, latch);
    e->failed |= phis.failed || e->out->failed;
    if (!e->failed)
        text_insert(e->out, l->phis, phis.data, phis.length);
    text_free(&phis);
    for (int i = 0; i < l->n; i++)
        *l->list[i].at = l->list[i].name;
    emit_label(e, l->after);
}

/* ---- Core operands ---- */

int64_t matrix_extent(const gufunc_writer *w, int k, int d) {
    return w->s.v->gufunc.size[w->layout->operands[k].dim[d]];
}

/* The stride along the dimension (i64). */
static ssa stride_of(const gufunc_writer *w, int k, int d) {
    const layout_operand *o = &w->layout->operands[k];
    int64_t count = 1;
    if (!w->s.v->operand[k].fixed)
        return w->core[o->strides + d];
    for (int i = d + 1; i < o->rank; i++)
        count *= matrix_extent(w, k, i);
    return ssa_constant(count);
}

ssa matrix_offset(const gufunc_writer *w, ssa x, int k, int d) {
    return emit_op(w->s.e, "mul i64", x, stride_of(w, k, d));
}

ssa matrix_moved(const gufunc_writer *w, int k, ssa pointer, ssa offset) {
    return emit_element(w->s.e, (dtype)w->s.v->operand[k].memory, pointer, offset);
}

ssa matrix_element(const gufunc_writer *w, int k, int d, ssa first, int t, ssa *last) {
    int64_t stride;
    if (ssa_is_constant(stride_of(w, k, d), &stride))
        return t ? matrix_moved(w, k, first, ssa_constant(t * stride)) : first;
    *last = t ? matrix_moved(w, k, *last, stride_of(w, k, d)) : first;
    return *last;
}

num matrix_load(const gufunc_writer *w, int k, ssa pointer) {
    const variant_operand *o = &w->s.v->operand[k];
    num_kind of = num_kind_of(w->s.e, (dtype)o->value);
    ssa x = emit_load(w->s.e, (dtype)o->memory, pointer);
    return num_of_value(&of, emit_convert(w->s.e, x, (dtype)o->memory, (dtype)o->value));
}

void matrix_store(const gufunc_writer *w, int k, ssa pointer, num x) {
    const variant_operand *o = &w->s.v->operand[k];
    num_kind of = num_kind_of(w->s.e, (dtype)o->value);
    emit_store(w->s.e, (dtype)o->memory, emit_convert(w->s.e, num_value(&of, x), (dtype)o->value, (dtype)o->memory),
               pointer);
}

num matrix_load_hermitian(const gufunc_writer *w, ssa own, int t, ssa column, ssa row, ssa *last) {
    emit *e = w->s.e;
    num_kind of = num_kind_of(e, (dtype)w->s.v->operand[0].value);
    fragment type = fragment_of("%s%s", ir_memory_type((dtype)w->s.v->operand[0].memory), ir_global_pointer(e));
    ssa below = emit_value(e, "icmp sle i32 %s, %d", own.text, t);
    ssa there = matrix_element(w, 0, 0, column, t, &last[0]), turned = matrix_element(w, 0, 1, row, t, &last[1]);
    num x = matrix_load(w, 0, emit_select_as(e, type.text, below, there, turned));
    return num_select(&of, below, x, num_conjugate(&of, x));
}

/* ---- Exponents ---- */

matrix_scale matrix_scale_of(const num_kind *of, ssa largest) {
    emit *e = of->e;
    const num_precision *p = num_precision_of(of);
    /* Of a wide one the upper half is there. */
    ssa biased = emit_value(e, "lshr i32 %s, %d", largest.text, p->mantissa % 32);
    ssa exponent = emit_value(e, "sub i32 %s, %d", biased.text, p->bias + p->scale);
    matrix_scale s = {.back = num_power_of_two(of, exponent),
                      .out = num_power_of_two(of, emit_op(e, "sub i32", ssa_constant(0), exponent)),
                      .finite = emit_value(e, "icmp slt i32 %s, %d", biased.text, 2 * p->bias + 1)};
    s.back.by[0] = emit_select(e, of->real, s.finite, s.back.by[0], num_constant(of, NAN));
    return s;
}

matrix_scale matrix_take_exponent(const gufunc_writer *w, const num_kind *of, num *x, int n) {
    emit *e = w->s.e;
    ssa most = ssa_constant(0);
    for (int i = 0; i < n * of->parts; i++) {
        ssa size = part_size(of, x[i / of->parts].part[i % of->parts]);
        most = emit_select_as(e, "i32", emit_op(e, "icmp sgt i32", size, most), size, most);
    }
    matrix_scale s = matrix_scale_of(of, lane_largest(w, most));
    for (int i = 0; i < n * of->parts; i++) {
        ssa *part = &x[i / of->parts].part[i % of->parts];
        *part = part_times(of, *part, &s.out);
    }
    return s;
}
