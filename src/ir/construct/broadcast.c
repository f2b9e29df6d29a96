/* broadcast.c - see broadcast.h. A block of 2^across columns has 2^(coop - cluster) ranks, of which a thread's is one, and a rank the rows
 * rank, rank + 2^coop .. : row number j of a rank that is number t in its block lies at t * pitch + j * size of shared memory. */
#include "ir/construct/broadcast.h"

#include "ir/common/skeleton.h"
#include "ir/construct/cooperative.h"

static int log2_ranks(const variant *v) { return v->gufunc.coop - v->gufunc.cluster; }

/* The address in shared memory of what rank number `rank` (i32) of the block has of operand k from row `row` (i32) on. */
static ssa shared_rows(emit *e, int k, ssa rank, ssa row) {
    const variant *v = e->frame->v;
    dtype t = (dtype)v->operand[k].memory;
    int bytes = variant_broadcast_pitch(v, k) << log2_ranks(v);
    fragment name = fragment_of("@broadcast_%d", k);
    if (emit_once(e, name.text))
        text_printf(&e->declarations, "%s = internal addrspace(3) global [%d x i8] undef, align 16\n", name.text,
                    bytes);
    ssa at = emit_value(e, "mul i32 %s, %d", rank.text, variant_broadcast_pitch(v, k));
    at = emit_op(e, "add i32", at, emit_value(e, "mul i32 %s, %d", row.text, dtypes[t].size));
    at = emit_value(e, "getelementptr [%d x i8], [%d x i8] addrspace(3)* %s, i64 0, i64 %s", bytes, bytes, name.text,
                    emit_widen(e, at).text);
    return emit_value(e, "bitcast i8 addrspace(3)* %s to %s addrspace(3)*", at.text, ir_memory_type(t));
}

/* The rank for which a thread loads, and the first of the rows of that: neighbouring threads load neighbouring rows of memory. */
static void find_load(emit *e, ssa *rank, ssa *row) {
    const variant *v = e->frame->v;
    ssa thread = lanes_thread(e);
    *rank = emit_value(e, "and i32 %s, %d", thread.text, (1 << log2_ranks(v)) - 1);
    *row = emit_value(e, "lshr i32 %s, %d", thread.text, log2_ranks(v));
    *row = emit_value(e, "mul i32 %s, %d", row->text, variant_broadcast_loads(v));
}

/* Its address in memory; rows behind the last are the rank's first once more, as in held.index. */
static ssa memory_row(emit *e, int k, ssa rank, ssa row) {
    const variant *v = e->frame->v;
    const layout_operand *o = &e->frame->layout->operands[k];
    if (v->gufunc.cluster) {
        ssa block =
            emit_value(e, "and i32 %s, %d", emit_special_register(e, "ctaid").text, (1 << v->gufunc.cluster) - 1);
        rank = emit_op(e, "or i32", rank, emit_value(e, "shl i32 %s, %d", block.text, log2_ranks(v)));
    }
    ssa i = emit_op(e, "or i32", emit_value(e, "shl i32 %s, %d", row.text, v->gufunc.coop), rank);
    i = emit_widen(e, i);
    i = emit_select_as(e, "i64", emit_value(e, "icmp slt i64 %s, %%s%d", i.text, o->dim[0]), i, emit_widen(e, rank));
    i = emit_value(e, "mul i64 %s, %%s%d", i.text, o->strides);
    return emit_element(e, (dtype)v->operand[k].memory, ssa_named("%%p%d", k), i);
}

void broadcast_load(body *b, broadcast_loads *l) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    int loads = variant_broadcast_loads(v);
    *l = (broadcast_loads){0};
    for (int k = 0; k < v->nin; k++) {
        if (!v->operand[k].broadcast)
            continue;
        ssa rank, row;
        find_load(e, &rank, &row);
        l->value[k] = arena_alloc(e->a, (size_t)loads * sizeof *l->value[k]);
        for (int i = 0; i < loads; i++) {
            ssa at = memory_row(e, k, rank, emit_value(e, "add i32 %s, %d", row.text, i));
            emit_invariant(e, true);
            l->value[k][i] = emit_load(e, (dtype)v->operand[k].memory, at);
            e->invariant = 0;
        }
    }
}

typedef void move(emit *e, dtype t, ssa *values, ssa pointer, int n);

static void store(emit *e, dtype t, ssa *values, ssa pointer, int n) { emit_store_vector(e, t, values, pointer, n); }

static void load(emit *e, dtype t, ssa *values, ssa pointer, int n) { emit_load_vector(e, t, pointer, n, values); }

/* Moves what a rank has of rows row + first, row + first + 1 .., so many, by accesses as wide as these numbers allow. `row` is a multiple of the
 * last. */
static void move_rows(emit *e, int k, ssa rank, ssa row, int first, int rows, ssa *values, move *by) {
    dtype t = (dtype)e->frame->v->operand[k].memory;
    for (int i = 0, width; i < rows; i += width) {
        width = ACCESS_BYTES / dtypes[t].size;
        while (width > 1 && (i + width > rows || (first + i) % width))
            width /= 2;
        ssa at = shared_rows(e, k, rank, emit_value(e, "add i32 %s, %d", row.text, first + i));
        e->shared = true;
        by(e, t, values + i, at, width);
        e->shared = false;
    }
}

void broadcast_share(body *b, const broadcast_loads *l) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    if (!variant_broadcast_bytes(v))
        return;
    ssa rank, row;
    find_load(e, &rank, &row);
    for (int k = 0; k < v->nin; k++)
        if (l->value[k])
            move_rows(e, k, rank, row, 0, variant_broadcast_loads(v), l->value[k], store);
    emit_block_barrier(e);
}

void broadcast_read(body *b, int first, int rows) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    for (int k = 0; k < v->nin; k++) {
        if (!v->operand[k].broadcast)
            continue;
        ssa *value = arena_alloc(e->a, (size_t)rows * sizeof *value),
            rank = emit_value(e, "lshr i32 %s, %d", lanes_thread(e).text, v->gufunc.across);
        move_rows(e, k, rank, ssa_constant(0), first, rows, value, load);
        emit_convert_all(e, value, rows, (dtype)v->operand[k].memory, (dtype)b->f->locals[k].type);
        b->held->broadcast[k] = value;
    }
}
