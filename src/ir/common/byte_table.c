/* byte_table.c - CPU: bytes looked up in a table of at most 256 bytes by a uint8, as images are. LLVM reads such a table element by element.
 * With AVX-512 VBMI it fits four registers, two of which an instruction looks 64 bytes up in: so the look-up is a function, of which the
 * vectoriser is told forms for vectors (see math.c). A call costs more than a load, so this is for elements that lie side by side, which
 * are computed without loops and branches. Indices beyond the table find 0, as they do everywhere. */
#include <stdio.h>

#include "ir/common/internal.h"
#include "ir/common/nodes.h"

enum {
    MOST = 256,
    LANES = 64, /* of a register */
    LEAST_LANES = 8
};

/* ---- Which ---- */

/* Does a node leave something out, or do something again? */
static void note_branch(const node *n, void *user) {
    static const bool branches[] = {
        [N_SELECT] = true, [N_AND] = true,    [N_OR] = true,     [N_IF] = true,     [N_LOOP] = true,
        [N_SWITCH] = true, [N_REDUCE] = true, [N_FORALL] = true, [N_INLINE] = true, [N_SEQUENCE] = true};
    *(bool *)user |= n->kind < COUNT(branches) && branches[n->kind];
}

bool byte_tables_pay(const emit *e, const tree *t, const variant *v) {
    bool any = t->has_loop || v->masked || v->reports || !e->target->vbmi;
    for (int k = 0; k < v->nin + v->nout; k++)
        any |= v->operand[k].kind == OPERAND_STRIDED || v->operand[k].kind == OPERAND_INTERLEAVED;
    node_each(t->kernel->body, note_branch, &any);
    return !any;
}

static bool is_byte(dtype t) { return t == DT_UINT8 || t == DT_INT8; }

/* The index of a look-up, a uint8; NULL: it is no such look-up. */
static const node *index_of(const body *b, const node *n) {
    const local *l = &b->f->locals[n->local];
    if (!b->e->byte_tables || b->f != b->e->kernel || n->kind != N_ELEMENT || !l->table || l->rank != 1 ||
        l->extent[0] > MOST || !is_byte(l->type))
        return NULL;
    const node *i = element_index(n, 1, 0);
    while (i->kind == N_CONVERT && i->type != DT_UINT8 && dtype_is_integer(i->kid[0]->type))
        i = i->kid[0];
    return i->type == DT_UINT8 ? i : NULL;
}

/* ---- Code ---- */

/* Elements first .. first + LANES - 1 as a constant. */
static void lanes_of(emit *e, const local *l, int first, text *out) {
    text_printf(out, "<");
    for (int i = first; i < first + LANES; i++) {
        int value = i < l->extent[0] ? (int)(l->type == DT_INT8 ? l->table[i].as.i : (int64_t)l->table[i].as.u) : 0;
        text_printf(out, "%si8 %d", i > first ? ", " : "", value);
    }
    text_printf(out, ">");
    e->failed |= out->failed;
}

/* The elements that 128 of the table, from `first` on, have at 64 indices, of which seven bits count. */
static ssa look(emit *e, const local *l, int first) {
    text low = {0}, high = {0};
    lanes_of(e, l, first, &low);
    lanes_of(e, l, first + LANES, &high);
    emit_declare(e, "declare <64 x i8> @llvm.x86.avx512.vpermi2var.qi.512(<64 x i8>, <64 x i8>, <64 x i8>)");
    ssa r = e->failed
                ? ssa_none()
                : emit_value(
                      e, "call <64 x i8> @llvm.x86.avx512.vpermi2var.qi.512(<64 x i8> %s, <64 x i8> %%i, <64 x i8> %s)",
                      low.data, high.data);
    text_free(&low);
    text_free(&high);
    return r;
}

static void define_scalar(emit *e, const local *l, const char *name) {
    definition s;
    if (!emit_define(e, &s, "define internal i8 @%s(i8 %%i) noinline nounwind readnone", name))
        return;
    ssa table = emit_table(e, l), index = emit_value(e, "zext i8 %%i to i64");
    bool whole = l->extent[0] == MOST;
    ssa inside = whole ? ssa_none() : emit_value(e, "icmp ult i64 %s, %lld", index.text, (long long)l->extent[0]);
    if (!whole)
        index = emit_value(e, "select i1 %s, i64 %s, i64 0", inside.text, index.text);
    ssa r = emit_value(e, "load i8, i8* %s", emit_element(e, l->type, table, index).text);
    if (!whole)
        r = emit_value(e, "select i1 %s, i8 %s, i8 0", inside.text, r.text);
    emit_line(e, "ret i8 %s", r.text);
    emit_define_end(e, &s);
    emit_used(e, name, "i8", 1);
}

static void define_vector(emit *e, const local *l, const char *name) {
    definition s;
    if (!emit_define(e, &s, "define internal <64 x i8> @%s(<64 x i8> %%i) nounwind readnone alwaysinline", name))
        return;
    ssa low = look(e, l, 0), high = l->extent[0] > 2 * LANES ? look(e, l, 2 * LANES) : ssa_literal("zeroinitializer");
    ssa upper = emit_value(e, "icmp slt <64 x i8> %%i, zeroinitializer");
    ssa r = emit_value(e, "select <64 x i1> %s, <64 x i8> %s, <64 x i8> %s", upper.text, high.text, low.text);
    emit_line(e, "ret <64 x i8> %s", r.text);
    emit_define_end(e, &s);
    emit_used(e, name, "<64 x i8>", 1);
}

/* Fewer lanes: those of the whole register that are left are not looked at. */
static void define_narrow(emit *e, const char *whole, const char *name, int lanes) {
    definition s;
    text widen = {0}, narrow = {0};
    char type[32];
    snprintf(type, sizeof type, "<%d x i8>", lanes);
    for (int i = 0; i < LANES; i++)
        text_printf(&widen, "%si32 %d", i ? ", " : "", i < lanes ? i : lanes);
    for (int i = 0; i < lanes; i++)
        text_printf(&narrow, "%si32 %d", i ? ", " : "", i);
    e->failed |= widen.failed || narrow.failed;
    if (!e->failed &&
        emit_define(e, &s, "define internal %s @%s(%s %%i) nounwind readnone alwaysinline", type, name, type)) {
        ssa all = emit_value(e, "shufflevector %s %%i, %s zeroinitializer, <64 x i32> <%s>", type, type, widen.data);
        ssa r = emit_value(e, "call <64 x i8> @%s(<64 x i8> %s)", whole, all.text);
        r = emit_value(e, "shufflevector <64 x i8> %s, <64 x i8> undef, <%d x i32> <%s>", r.text, lanes, narrow.data);
        emit_line(e, "ret %s %s", type, r.text);
        emit_define_end(e, &s);
        emit_used(e, name, type, 1);
    }
    text_free(&widen);
    text_free(&narrow);
}

bool emit_byte_lookup(body *b, const node *n, ssa *value) {
    emit *e = b->e;
    const node *index = index_of(b, n);
    const local *l = &b->f->locals[n->local];
    char name[32], whole[40], narrow[40], variants[256];
    if (!index)
        return false;
    ssa i = emit_expression(b, index);
    emit_table(e, l);
    int id = (int)(intptr_t)map_get(&e->tables, &l->table, sizeof l->table);
    snprintf(name, sizeof name, "lookup%d", id);
    snprintf(whole, sizeof whole, "%s_x%d", name, LANES);
    define_scalar(e, l, name);
    define_vector(e, l, whole);
    int used = snprintf(variants, sizeof variants, "_ZGVeN%dv_%s(%s)", LANES, name, whole);
    for (int lanes = LEAST_LANES; lanes < LANES; lanes *= 2) {
        snprintf(narrow, sizeof narrow, "%s_x%d", name, lanes);
        define_narrow(e, whole, narrow, lanes);
        used +=
            snprintf(variants + used, sizeof variants - (size_t)used, ",_ZGV_LLVM_N%dv_%s(%s)", lanes, name, narrow);
    }
    int group = emit_attributes(e, "nounwind readnone \"vector-function-abi-variant\"=\"%s\"", variants);
    *value = emit_value(e, "call i8 @%s(i8 %s) #%d", name, i.text, group);
    return true;
}
