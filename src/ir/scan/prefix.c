/* prefix.c - accumulations of integers on the CPU, a vector at a time: each lane is combined with those before it in steps of 1, 2, 4 .. lanes, at
 * first within 128 bits, where shifting takes one instruction, then from the last lane of 128 bits to all lanes of the next ones. What comes
 * before the vector is added to all lanes at once, so that one operation a vector is all that has to wait for the vector before. Integers
 * are the same however they are grouped. The steps are those of W. D. Hillis and G. L. Steele, "Data Parallel Algorithms", Communications
 * of the ACM 29 (1986), and of J. Sklansky, "Conditional-Sum Addition Logic", IRE Transactions EC-9 (1960). */
#include "ir/common/internal.h"
#include "ir/common/nodes.h"
#include "ir/scan/scan.h"

enum {
    WIDE_BITS = 512, /* of the narrowest vectors of which there is a maximum of 64-bit integers */
    PART_BITS = 128  /* within which x86 shifts lanes by one instruction */
};

/* What combines two vectors: an instruction, or an intrinsic function. */
static const struct {
    const char *name, *instruction, *intrinsic;
} operators[] = {{"add", "add", NULL},  {"and", "and", NULL},  {"or", "or", NULL},     {"xor", "xor", NULL},
                 {"min", NULL, "smin"}, {"max", NULL, "smax"}, {"umin", NULL, "umin"}, {"umax", NULL, "umax"}};

/* Of the input, then of what is combined: is each no narrower than the one before? */
static bool widens(const fold_writer *w) {
    dtype memory = skeleton_memory(&w->s, 0), in = w->f->in[0], state = w->f->state[0];
    bool whole = memory == DT_BOOL || (dtype_is_integer(memory) && in != DT_BOOL);
    return whole && dtypes[memory].size <= dtypes[in].size && dtypes[in].size <= dtypes[state].size;
}

bool prefix_begin(fold_writer *w, prefix *p) {
    const fold *f = w->f;
    const variant *v = w->s.v;
    dtype state = f->state[0];
    number none;
    if (v->nin != 1 || v->nout != 1 || w->nstate != 1 || f->map || f->finish || v->masked || v->reduction.from_states ||
        v->reduction.to_states || v->operand[0].kind != OPERAND_CONTIGUOUS ||
        v->operand[1].kind != OPERAND_CONTIGUOUS || !dtype_is_integer(state) || !widens(w) ||
        !dtype_is_integer(skeleton_memory(&w->s, 1)) || w->s.e->plain)
        return false;
    const char *name = tree_operator(f->combine, state);
    *p = (prefix){.e = w->s.e,
                  .state = state,
                  .bits = 8 * dtypes[state].size,
                  .from = skeleton_memory(&w->s, 0),
                  .in = f->in[0],
                  .to = skeleton_memory(&w->s, 1)};
    p->lanes = w->s.e->target->vector_bits / p->bits;
    p->row = -1;
    for (size_t i = 0; i < COUNT(operators) && name; i++)
        if (!strcmp(operators[i].name, name))
            p->row = (int)i;
    bool slow = p->row >= 0 && operators[p->row].intrinsic && p->bits == 64 && w->s.e->target->vector_bits < WIDE_BITS;
    if (p->lanes < 2 || p->row < 0 || slow || !fold_neutral_or_last(f, &none))
        return false;
    p->type = fragment_of("<%d x i%d>", p->lanes, p->bits);
    p->neutral = prefix_splat(p, emit_constant(none, state));
    return true;
}

ssa prefix_splat(const prefix *p, ssa x) {
    ssa one = emit_value(p->e, "insertelement %s undef, i%d %s, i32 0", p->type.text, p->bits, x.text);
    return emit_value(p->e, "shufflevector %s %s, %s undef, <%d x i32> zeroinitializer", p->type.text, one.text,
                      p->type.text, p->lanes);
}

ssa prefix_lane(const prefix *p, ssa x, int lane) {
    return emit_value(p->e, "extractelement %s %s, i32 %d", p->type.text, x.text, lane);
}

ssa prefix_join(const prefix *p, ssa a, ssa b) {
    const char *t = p->type.text, *instruction = operators[p->row].instruction,
               *intrinsic = operators[p->row].intrinsic;
    if (instruction)
        return emit_value(p->e, "%s %s %s, %s", instruction, t, a.text, b.text);
    emit_declare(p->e, "declare %s @llvm.%s.v%di%d(%s, %s)", t, intrinsic, p->lanes, p->bits, t, t);
    return emit_value(p->e, "call %s @llvm.%s.v%di%d(%s %s, %s %s)", t, intrinsic, p->lanes, p->bits, t, a.text, t,
                      b.text);
}

/* Lane i of the result is lane lanes[i] of x; of those that are negative it is neutral. */
static ssa pick_lanes(const prefix *p, ssa x, const int *lanes) {
    text mask = {0};
    for (int i = 0; i < p->lanes; i++)
        text_printf(&mask, "%si32 %d", i ? ", " : "", lanes[i] < 0 ? p->lanes : lanes[i]);
    ssa r = emit_value(p->e, "shufflevector %s %s, %s %s, <%d x i32> <%s>", p->type.text, x.text, p->type.text,
                       p->neutral.text, p->lanes, mask.failed ? "" : mask.data);
    p->e->failed |= mask.failed;
    text_free(&mask);
    return r;
}

ssa prefix_lanes(const prefix *p, ssa x) {
    int lanes[PREFIX_LANES], part = PART_BITS / p->bits;
    for (int step = 1; step < p->lanes; step *= 2) {
        for (int i = 0; i < p->lanes; i++)
            lanes[i] = step < part ? (i % part >= step ? i - step : -1) : i & step ? i / step * step - 1 : -1;
        x = prefix_join(p, pick_lanes(p, x, lanes), x);
    }
    return x;
}

ssa prefix_last(const prefix *p, ssa x) {
    int lanes[PREFIX_LANES];
    for (int i = 0; i < p->lanes; i++)
        lanes[i] = p->lanes - 1;
    return pick_lanes(p, x, lanes);
}

/* ---- Memory ---- */

static ssa resized(const prefix *p, ssa x, dtype from, dtype to) {
    int n = p->lanes, a = 8 * dtypes[from].size, b = 8 * dtypes[to].size;
    if (from == DT_BOOL) {
        ssa set = emit_value(p->e, "icmp ne <%d x i8> %s, zeroinitializer", n, x.text);
        return emit_value(p->e, "zext <%d x i1> %s to <%d x i%d>", n, set.text, n, b);
    }
    if (a == b)
        return x;
    const char *how = a > b ? "trunc" : dtypes[from].is_signed ? "sext" : "zext";
    return emit_value(p->e, "%s <%d x i%d> %s to <%d x i%d>", how, n, a, x.text, n, b);
}

static ssa address(const prefix *p, dtype type, ssa at) {
    int bits = 8 * dtypes[type].size;
    return emit_value(p->e, "bitcast i%d* %s to <%d x i%d>*", bits, at.text, p->lanes, bits);
}

ssa prefix_load(const prefix *p, ssa at) {
    int bits = 8 * dtypes[p->from].size, n = p->lanes;
    ssa x = emit_value(p->e, "load <%d x i%d>, <%d x i%d>* %s, align %d", n, bits, n, bits,
                       address(p, p->from, at).text, dtypes[p->from].size);
    return resized(p, resized(p, x, p->from, p->in), p->in, p->state);
}

void prefix_store(const prefix *p, ssa x, ssa at) {
    int bits = 8 * dtypes[p->to].size, n = p->lanes;
    x = resized(p, x, p->state, p->to);
    emit_line(p->e, "store <%d x i%d> %s, <%d x i%d>* %s, align %d", n, bits, x.text, n, bits,
              address(p, p->to, at).text, dtypes[p->to].size);
}
