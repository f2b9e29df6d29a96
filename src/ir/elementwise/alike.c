/* alike.c - CPU: records without gaps all of whose fields are computed alike, as in r.x = a.x + b.x, r.y = a.y + b.y. The arrays then are arrays
 * of the fields, several times as long, and the loop goes over these: whole vectors are read and written, and nothing is shuffled.
 * That fields are computed alike is seen from what a kernel without branches makes of its parameters, symbols of which equal ones are
 * one: if each parameter that is a first field is replaced by field f, the first field of a result must become its field f. */
#include "ir/common/nodes.h"
#include "ir/common/whole_line.h"
#include "ir/elementwise/elementwise.h"
#include "ir/elementwise/symbols.h"

/* ---- Fields ---- */

static int size_of(const variant_operand *o) { return dtypes[o->memory].size; }

/* Operand k's fellow in its group at field f; -1: there is none of its dtypes. */
static int fellow_of(const skeleton *s, int k, int f) {
    const variant_operand *o = &s->v->operand[k];
    for (int i = 0; i < s->v->nin + s->v->nout; i++) {
        const variant_operand *p = &s->v->operand[i];
        if (p->group == o->group && p->offset == f * size_of(o) && p->memory == o->memory && p->value == o->value &&
            skeleton_is_output(s, i) == skeleton_is_output(s, k))
            return i;
    }
    return -1;
}

/* Is operand k a number, or a field of records that are nothing but so many fields of its dtypes, all of which are operands, and are read as
 * numbers of one dtype alone? */
static bool is_even(const skeleton *s, int k, int fields) {
    const variant_operand *o = &s->v->operand[k];
    if (o->kind == OPERAND_NUMBER)
        return true;
    if (o->kind != OPERAND_INTERLEAVED || !o->group || o->record != fields * size_of(o) ||
        o->memory != s->v->operand[o->group - 1].memory)
        return false;
    for (int f = 0; f < fields; f++)
        if (fellow_of(s, k, f) < 0)
            return false;
    return true;
}

/* What symbol i is where all fields are replaced by fields f. */
static int image_of(const skeleton *s, symbols *x, int i, int f, int *known) {
    if (i < 0 || known[i] >= 0)
        return i < 0 ? i : known[i];
    symbol new = x->of[i];
    if (new.kind == N_LOCAL && s->v->operand[new.local].kind != OPERAND_NUMBER)
        new.local = fellow_of(s, new.local, f);
    for (int k = 0; k < 3 && !x->failed; k++)
        new.kid[k] = image_of(s, x, new.kid[k], f, known);
    return x->failed ? -1 : (known[i] = symbol_intern(x, &new));
}

/* Is field f of each result what field 0 is, of fields f? For f = 0 this says that field 0 is made of nothing but fields 0. */
static bool fields_agree(const skeleton *s, symbols *x, const int *results, int f) {
    int known[SYMBOLS_MOST];
    memset(known, -1, sizeof known);
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        if (!s->v->operand[k].offset &&
            image_of(s, x, results[k - s->nin], f, known) != results[fellow_of(s, k, f) - s->nin])
            return false;
    return !x->failed;
}

int alike_fields(skeleton *s) {
    int first = s->nin, fields = s->v->operand[first].record / size_of(&s->v->operand[first]);
    int arguments[UF_MAX_OPERANDS] = {0}, results[UF_MAX_OPERANDS] = {0};
    if (s->v->masked || s->v->reports || s->v->operand[first].kind != OPERAND_INTERLEAVED || s->t->layout)
        return 0;
    for (int k = 0; k < s->nin + s->v->nout; k++)
        if (!is_even(s, k, fields))
            return 0;
    symbols *x = symbols_new(s->e->a);
    for (int k = 0; k < s->nin; k++) {
        const variant_operand *o = &s->v->operand[k];
        int same = o->kind == OPERAND_NUMBER ? k : fellow_of(s, k, o->offset / size_of(o)); /* the first of one field */
        arguments[k] = symbol_of_parameter(x, same, DT_NONE);
    }
    symbols_of_results(x, s->t->kernel, arguments, results);
    for (int f = 0; f < fields && !x->failed; f++)
        if (!fields_agree(s, x, results, f))
            return 0;
    return x->failed ? 0 : fields;
}

/* ---- The loop ---- */

/* Computes n fields. given: so many hints about vectors; without any LLVM decides. */
static void row_of_fields(skeleton *s, ssa n, const ssa *row, const int *given, int ngiven) {
    emit *e = s->e;
    ssa in[VARIANT_OPERANDS] = {0}, results[UF_MAX_OPERANDS];
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), n);
    int group = e->access_group = emit_metadata(e, "distinct !{}");
    for (int k = 0; k < s->nin; k++) {
        int leader = s->v->operand[k].group - 1;
        if (leader == k)
            in[k] = emit_load(e, skeleton_memory(s, k), skeleton_address(s, k, row[k], l.i));
    }
    for (int k = 0; k < s->nin; k++)
        if (s->v->operand[k].group)
            in[k] = in[s->v->operand[k].group - 1];
    skeleton_compute(s, in, results);
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        if (s->v->operand[k].group == k + 1)
            emit_store(e, skeleton_memory(s, k), results[k - s->nin], skeleton_address(s, k, row[k], l.i));
    e->access_group = 0;
    int count = 1, hints[2 + WHOLE_LINE_HINTS] = {emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", group)};
    for (int i = 0; i < ngiven; i++)
        hints[count++] = given[i];
    if (!ngiven && e->vector_lanes)
        hints[count++] = emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 1}");
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, count);
}

static ssa fields_of(skeleton *s, ssa n, int fields) { return emit_value(s->e, "mul i64 %s, %d", n.text, fields); }

/* The fields from number `first` on. */
static void row_from(skeleton *s, const ssa *row, ssa first, ssa *from) {
    for (int k = 0; k < s->nin + s->v->nout; k++)
        if (s->v->operand[k].group == k + 1)
            from[k] = skeleton_address(s, k, row[k], first);
}

void alike_row(skeleton *s, ssa n, int fields, const ssa *row) {
    ssa all = fields_of(s, n, fields), rest[VARIANT_OPERANDS] = {0};
    if (!cpu_reads_narrowly(s, fields)) {
        row_of_fields(s, all, row, NULL, 0);
        return;
    }
    narrow_loops by = cpu_narrow(s, all, size_of(&s->v->operand[s->nin]));
    row_of_fields(s, by.whole, row, by.hints[0], NARROW_HINTS);
    row_from(s, row, by.whole, rest);
    row_of_fields(s, by.rest, rest, by.hints[1], NARROW_HINTS);
}

void alike_by_lines(skeleton *s, ssa n, int fields, const ssa *array) {
    emit *e = s->e;
    ssa row[VARIANT_OPERANDS] = {0}, to[VARIANT_OPERANDS] = {0};
    int first = s->nin, end = first + s->v->nout, size = size_of(&s->v->operand[first]), elements = LINE_BYTES / size;
    int hints[WHOLE_LINE_HINTS], piece = whole_line_piece(e, size, cpu_does_little(s, fields));
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), fields_of(s, n, fields));
    row_from(s, s->base, l.i, row);
    for (int k = first; k < end; k++)
        if (s->v->operand[k].group == k + 1) {
            to[k] = row[k];
            row[k] = whole_line_elements(e, array[k], skeleton_memory(s, k));
        }
    whole_line_hints(e, size, piece, hints);
    row_of_fields(s, ssa_constant(elements), row, hints, WHOLE_LINE_HINTS);
    for (int k = first; k < end; k++)
        if (s->v->operand[k].group == k + 1)
            whole_line_store(e, array[k], skeleton_memory(s, k), piece, to[k]);
    counted_loop_end(e, &l, ssa_constant(elements), loop_no_unroll(e));
}
