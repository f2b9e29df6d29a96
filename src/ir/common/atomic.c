/* atomic.c - atomic updates: by an instruction, or by a loop that compares and swaps the word around the element until no other thread
 * came in between. The word has 32 or 64 bits on the GPU, and the size of the element on the CPU. */
#include "ir/common/atomic.h"

#include <math.h>

static ssa typed(emit *e, const char *from, ssa pointer, const char *to) {
    const char *star = ir_global_pointer(e);
    return emit_value(e, "bitcast %s%s %s to %s%s", from, star, pointer.text, to, star);
}

/* ---- Words ---- */

/* The word that holds an element: its address, and by how many bits the element is shifted in it (none: they are the same). */
typedef struct word {
    const char *type;
    ssa pointer, shift;
    int bits; /* of the element */
} word;

static bool is_word(const emit *e, dtype t) { return !e->target->gpu || dtypes[t].size >= 4; }

static const char *word_type(const emit *e, dtype t) {
    switch (dtypes[t].size) {
    case 1:
        return e->target->gpu ? "i32" : "i8";
    case 2:
        return e->target->gpu ? "i32" : "i16";
    case 4:
        return "i32";
    default:
        return "i64";
    }
}

static word word_around(emit *e, dtype t, ssa element) {
    const char *memory = ir_memory_type(t), *star = ir_global_pointer(e);
    word x = {.type = word_type(e, t), .bits = 8 * dtypes[t].size, .shift = ssa_none()};
    if (is_word(e, t)) {
        x.pointer = strcmp(memory, x.type) ? typed(e, memory, element, x.type) : element;
        return x;
    }
    ssa address = emit_value(e, "ptrtoint %s%s %s to i64", memory, star, element.text);
    ssa start = emit_value(e, "and i64 %s, -4", address.text);
    x.pointer = emit_value(e, "inttoptr i64 %s to i32%s", start.text, star);
    ssa bytes = emit_value(e, "and i32 %s, 3", emit_value(e, "trunc i64 %s to i32", address.text).text);
    x.shift = emit_value(e, "shl i32 %s, 3", bytes.text);
    return x;
}

/* A part of a complex from its bits, or a floating number. */
static ssa floating_of(emit *e, dtype type, ssa bits) {
    return emit_value(e, "bitcast i%d %s to %s", 8 * dtypes[type].size, bits.text, ir_value_type(type));
}

static ssa bits_of_floating(emit *e, dtype type, ssa value) {
    return emit_value(e, "bitcast %s %s to i%d", ir_value_type(type), value.text, 8 * dtypes[type].size);
}

static bool is_float(dtype type) { return type == DT_FLOAT32 || type == DT_FLOAT64; }

/* The element that a word holds, as a load would give it. */
static ssa element_of(emit *e, dtype t, const word *x, ssa whole) {
    if (t == DT_COMPLEX64) {
        ssa low = emit_value(e, "trunc i64 %s to i32", whole.text);
        ssa high = emit_value(e, "trunc i64 %s to i32", emit_value(e, "lshr i64 %s, 32", whole.text).text);
        return emit_complex(e, t, floating_of(e, DT_FLOAT32, low), floating_of(e, DT_FLOAT32, high));
    }
    if (ssa_is_set(x->shift)) {
        ssa low = emit_op(e, "lshr i32", whole, x->shift);
        whole = emit_value(e, "trunc i32 %s to i%d", low.text, x->bits);
    }
    if (t == DT_BOOL)
        return emit_value(e, "icmp ne i8 %s, 0", whole.text);
    return is_float(t) ? floating_of(e, t, whole) : whole;
}

/* An element's bits as they lie in memory. */
static ssa bits_of(emit *e, dtype t, ssa value) {
    if (t == DT_COMPLEX64) {
        ssa part[2];
        for (int i = 0; i < 2; i++) {
            ssa bits = bits_of_floating(e, DT_FLOAT32, emit_part(e, t, value, i));
            part[i] = emit_value(e, "zext i32 %s to i64", bits.text);
        }
        return emit_op(e, "or i64", part[0], emit_value(e, "shl i64 %s, 32", part[1].text));
    }
    if (t == DT_BOOL)
        return emit_value(e, "zext i1 %s to i8", value.text);
    return is_float(t) ? bits_of_floating(e, t, value) : value;
}

/* The word with another element in it. */
static ssa word_with(emit *e, dtype t, const word *x, ssa whole, ssa value) {
    ssa bits = bits_of(e, t, value);
    if (!ssa_is_set(x->shift))
        return bits;
    ssa mask = emit_value(e, "shl i32 %d, %s", (1 << x->bits) - 1, x->shift.text);
    ssa others = emit_op(e, "and i32", whole, emit_value(e, "xor i32 %s, -1", mask.text));
    bits = emit_value(e, "zext i%d %s to i32", x->bits, bits.text);
    return emit_op(e, "or i32", others, emit_op(e, "shl i32", bits, x->shift));
}

/* libNVVM takes no atomic loads; a volatile one is relaxed in PTX. */
static ssa load_word(emit *e, const word *x, int bytes) {
    bool gpu = e->target->gpu;
    return emit_value(e, "load %s %s, %s%s %s%s, align %d", gpu ? "volatile" : "atomic", x->type, x->type,
                      ir_global_pointer(e), x->pointer.text, gpu ? "" : " monotonic", bytes);
}

static ssa compare_and_swap(emit *e, const word *x, ssa expected, ssa desired) {
    return emit_value(e, "cmpxchg %s%s %s, %s %s, %s %s monotonic monotonic", x->type, ir_global_pointer(e),
                      x->pointer.text, x->type, expected.text, x->type, desired.text);
}

/* Replaces a word by what `next` makes of it. A value that is there already is not written again. */
static void exchange(emit *e, const word *x, int align, ssa (*next)(emit *e, void *user, ssa whole), void *user) {
    int before = emit_label_new(e), again = emit_label_new(e), swap = emit_label_new(e), end = emit_label_new(e);
    ssa seen = ssa_named("%%seen%d", again);
    emit_branch(e, before);
    emit_label(e, before);
    ssa first = load_word(e, x, align);
    emit_branch(e, again);
    emit_label(e, again);
    ssa whole = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", x->type, first.text, before, seen.text, swap);
    ssa new = next(e, user, whole);
    emit_branch_if(e, emit_value(e, "icmp eq %s %s, %s", x->type, whole.text, new.text), end, swap);
    emit_label(e, swap);
    ssa pair = compare_and_swap(e, x, whole, new);
    emit_line(e, "%s = extractvalue { %s, i1 } %s, 0", seen.text, x->type, pair.text);
    emit_branch_if(e, emit_value(e, "icmp eq %s %s, %s", x->type, seen.text, whole.text), end, again);
    emit_label(e, end);
}

typedef struct element_exchange {
    dtype t;
    word x;
    ssa (*compute)(emit *e, void *user, ssa old);
    void *user;
    ssa old;
} element_exchange;

static ssa next_element(emit *e, void *user, ssa whole) {
    element_exchange *p = user;
    p->old = element_of(e, p->t, &p->x, whole);
    return word_with(e, p->t, &p->x, whole, p->compute(e, p->user, p->old));
}

ssa emit_exchange(emit *e, dtype t, ssa pointer, ssa (*compute)(emit *e, void *user, ssa old), void *user) {
    element_exchange p = {.t = t, .x = word_around(e, t, pointer), .compute = compute, .user = user};
    exchange(e, &p.x, is_word(e, t) ? dtypes[t].size : 4, next_element, &p);
    return p.old;
}

/* ---- Records in a word ---- */

typedef struct record_exchange {
    word x;
    int bytes, n;
    const packed_leaf *leaves;
    void (*compute)(emit *e, void *user, const ssa *old, ssa *new);
    void *user;
} record_exchange;

/* A leaf out of the word, as a load would give it. */
static ssa leaf_read(emit *e, const record_exchange *p, const packed_leaf *leaf, ssa whole) {
    int bits = 8 * dtypes[leaf->type].size;
    const word own = {.bits = bits, .shift = ssa_none()};
    if (leaf->offset)
        whole = emit_value(e, "lshr %s %s, %d", p->x.type, whole.text, 8 * leaf->offset);
    if (bits < 8 * p->bytes)
        whole = emit_value(e, "trunc %s %s to i%d", p->x.type, whole.text, bits);
    return element_of(e, leaf->type, &own, whole);
}

/* Its bits at their place in a word. */
static ssa leaf_bits(emit *e, const record_exchange *p, const packed_leaf *leaf, ssa value) {
    int bits = 8 * dtypes[leaf->type].size;
    ssa at = bits_of(e, leaf->type, value);
    if (bits < 8 * p->bytes)
        at = emit_value(e, "zext i%d %s to %s", bits, at.text, p->x.type);
    return leaf->offset ? emit_value(e, "shl %s %s, %d", p->x.type, at.text, 8 * leaf->offset) : at;
}

/* The bytes of the word in which no leaf lies, as they were. */
static ssa between_leaves(emit *e, const record_exchange *p, ssa whole) {
    uint64_t covered = 0, all = UINT64_MAX >> (64 - 8 * p->bytes);
    for (int i = 0; i < p->n; i++)
        covered |= UINT64_MAX >> (64 - 8 * dtypes[p->leaves[i].type].size) << 8 * p->leaves[i].offset;
    if (covered == all)
        return ssa_none();
    return emit_value(e, "and %s %s, %lld", p->x.type, whole.text, (long long)(all & ~covered));
}

static ssa next_record(emit *e, void *user, ssa whole) {
    const record_exchange *p = user;
    ssa old[VARIANT_OPERANDS] = {0}, new[VARIANT_OPERANDS] = {0};
    fragment merge = fragment_of("or %s", p->x.type);
    for (int i = 0; i < p->n; i++)
        old[i] = leaf_read(e, p, &p->leaves[i], whole);
    p->compute(e, p->user, old, new);
    ssa all = between_leaves(e, p, whole);
    for (int i = 0; i < p->n; i++) {
        ssa bits = leaf_bits(e, p, &p->leaves[i], new[i]);
        all = ssa_is_set(all) ? emit_op(e, merge.text, all, bits) : bits;
    }
    return all;
}

void emit_exchange_record(emit *e, int bytes, int n, const packed_leaf *leaves, ssa pointer,
                          void (*compute)(emit *e, void *user, const ssa *old, ssa *new), void *user) {
    record_exchange p = {.bytes = bytes, .n = n, .leaves = leaves, .compute = compute, .user = user};
    p.x = (word){.type = bytes == 4 ? "i32" : "i64", .bits = 8 * bytes, .shift = ssa_none()};
    p.x.pointer = typed(e, ir_memory_type(leaves[0].type), pointer, p.x.type);
    exchange(e, &p.x, bytes, next_record, &p);
}

/* ---- What the functions do ---- */

/* The one of two values that is less, or greater; NaN if one is (see min and max in lang/prelude.c). */
static ssa extreme(emit *e, op o, dtype t, ssa old, ssa value) {
    dtype wide = dtype_is_half(t) ? DT_FLOAT32 : t;
    ssa a = emit_convert(e, old, t, wide), b = emit_convert(e, value, t, wide);
    ssa keep = emit_binary(e, o, wide, a, b, wide);
    if (dtype_is_floating(t))
        keep = emit_op(e, "or i1", keep, emit_binary(e, OP_NE, wide, a, a, wide));
    return emit_select(e, t, keep, old, value);
}

ssa atomic_combine(emit *e, atomic_op o, dtype t, ssa old, ssa value) {
    static const uint8_t operators[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = OP_ADD, [ATOMIC_SUB] = OP_SUB, [ATOMIC_AND] = OP_AND, [ATOMIC_OR] = OP_OR,
        [ATOMIC_XOR] = OP_XOR, [ATOMIC_MIN] = OP_LT,  [ATOMIC_MAX] = OP_GT};
    op by = (op)operators[o];
    if (o == ATOMIC_MIN || o == ATOMIC_MAX)
        return extreme(e, by, t, old, value);
    if (!dtype_is_half(t))
        return emit_binary(e, by, t, old, value, t);
    ssa a = emit_convert(e, old, t, DT_FLOAT32), b = emit_convert(e, value, t, DT_FLOAT32);
    return emit_convert(e, emit_binary(e, by, DT_FLOAT32, a, b, DT_FLOAT32), DT_FLOAT32, t);
}

/* The largest or the smallest value of a dtype. */
static number bound_of(dtype t, bool largest) {
    int bits = 8 * dtypes[t].size;
    number n = {.type = t};
    if (dtype_is_floating(t)) {
        n.as.f[0] = largest ? INFINITY : -INFINITY;
    } else if (dtypes[t].is_signed) {
        n.as.i = INT64_MAX >> (64 - bits);
        n.as.i = largest ? n.as.i : -n.as.i - 1;
    } else {
        n.as.u = largest ? UINT64_MAX >> (64 - bits) : 0;
    }
    return n;
}

/* Of sums of floating numbers -0, which leaves a 0 of either sign what it is. */
ssa atomic_identity(atomic_op o, dtype t) {
    number n = {.type = t};
    if (o == ATOMIC_MIN || o == ATOMIC_MAX)
        n = bound_of(t, o == ATOMIC_MIN);
    else if (o == ATOMIC_AND)
        return ssa_constant(-1);
    else if (dtype_is_floating(t))
        n.as.f[0] = -0.0;
    return emit_constant(n, t);
}

atomic_op atomic_merge(atomic_op o) { return o == ATOMIC_SUB ? ATOMIC_ADD : o; }

/* ---- Instructions ---- */

bool atomic_adds(const code_target *target, dtype t) {
    enum {
        FLOAT64_ADDS = 60 /* the first architecture that adds float64 atomically */
    };
    return target->gpu && (t == DT_FLOAT32 || (t == DT_FLOAT64 && target->arch >= FLOAT64_ADDS));
}

static ssa add_floating(emit *e, dtype type, ssa pointer, ssa value) {
    const char *t = ir_value_type(type), *star = ir_global_pointer(e), *size = type == DT_FLOAT32 ? "f32" : "f64";
    int space = e->shared ? 3 : 1;
    emit_declare(e, "declare %s @llvm.nvvm.atomic.load.add.%s.p%d%s(%s%s, %s)", t, size, space, size, t, star, t);
    return emit_value(e, "call %s @llvm.nvvm.atomic.load.add.%s.p%d%s(%s%s %s, %s %s)", t, size, space, size, t, star,
                      pointer.text, t, value.text);
}

/* Of integers that are words; NULL: none. */
static const char *instruction_of(const emit *e, atomic_op o, dtype t) {
    static const char *const names[ATOMIC_COUNT][2] = {
        [ATOMIC_ADD] = {"add", "add"},  [ATOMIC_SUB] = {"sub", "sub"}, [ATOMIC_MIN] = {"umin", "min"},
        [ATOMIC_MAX] = {"umax", "max"}, [ATOMIC_AND] = {"and", "and"}, [ATOMIC_OR] = {"or", "or"},
        [ATOMIC_XOR] = {"xor", "xor"},  [ATOMIC_EXCHANGE] = {NULL},    [ATOMIC_COMPARE_EXCHANGE] = {NULL}};
    return dtype_is_integer(t) && is_word(e, t) ? names[o][dtypes[t].is_signed] : NULL;
}

/* Replaces a word, whatever it holds, or if it holds the expected one. */
static ssa exchange_words(emit *e, atomic_op o, dtype t, ssa pointer, ssa value, ssa expected) {
    word x = word_around(e, t, pointer);
    ssa bits = bits_of(e, t, value), old;
    if (o == ATOMIC_EXCHANGE)
        old = emit_value(e, "atomicrmw xchg %s%s %s, %s %s monotonic", x.type, ir_global_pointer(e), x.pointer.text,
                         x.type, bits.text);
    else
        old = emit_value(e, "extractvalue { %s, i1 } %s, 0", x.type,
                         compare_and_swap(e, &x, bits_of(e, t, expected), bits).text);
    return element_of(e, t, &x, old);
}

typedef struct operation {
    atomic_op o;
    dtype t;
    ssa value, expected;
} operation;

static ssa compute(emit *e, void *user, ssa old) {
    const operation *p = user;
    if (p->o == ATOMIC_EXCHANGE)
        return p->value;
    if (p->o != ATOMIC_COMPARE_EXCHANGE)
        return atomic_combine(e, p->o, p->t, old, p->value);
    ssa same = emit_value(e, "icmp eq %s %s, %s", ir_value_type(p->t), old.text, p->expected.text);
    return emit_select(e, p->t, same, p->value, old);
}

/* A bool is true as any byte but 0, so that its bits cannot be compared: it goes by emit_exchange. */
ssa emit_atomic(emit *e, atomic_op o, dtype t, ssa pointer, ssa value, ssa expected) {
    const char *instruction = instruction_of(e, o, t);
    if (instruction)
        return emit_value(e, "atomicrmw %s %s%s %s, %s %s monotonic", instruction, ir_value_type(t),
                          ir_global_pointer(e), pointer.text, ir_value_type(t), value.text);
    if ((o == ATOMIC_ADD || o == ATOMIC_SUB) && atomic_adds(e->target, t))
        return add_floating(e, t, pointer, o == ATOMIC_SUB ? emit_unary(e, OP_NEG, t, value) : value);
    if ((o == ATOMIC_EXCHANGE || o == ATOMIC_COMPARE_EXCHANGE) && is_word(e, t) && t != DT_BOOL)
        return exchange_words(e, o, t, pointer, value, expected);
    operation p = {o, t, value, expected};
    return emit_exchange(e, t, pointer, compute, &p);
}

/* ---- Halves ---- */

static ssa half_of(emit *e, ssa value, int half) {
    if (half)
        value = emit_value(e, "lshr i64 %s, 32", value.text);
    return emit_value(e, "trunc i64 %s to i32", value.text);
}

void emit_add_halves(emit *e, atomic_op o, ssa pointer, ssa value) {
    int more = emit_label_new(e), end = emit_label_new(e);
    if (o == ATOMIC_SUB)
        value = emit_value(e, "sub i64 0, %s", value.text);
    ssa low = half_of(e, value, 0), high = half_of(e, value, 1), at[2];
    at[0] = emit_value(e, "bitcast i64 addrspace(3)* %s to i32 addrspace(3)*", pointer.text);
    at[1] = emit_value(e, "getelementptr i32, i32 addrspace(3)* %s, i64 1", at[0].text);
    ssa old = emit_value(e, "atomicrmw add i32 addrspace(3)* %s, i32 %s monotonic", at[0].text, low.text);
    ssa sum = emit_value(e, "add i32 %s, %s", old.text, low.text);
    ssa carried = emit_value(e, "icmp ult i32 %s, %s", sum.text, old.text);
    high = emit_value(e, "add i32 %s, %s", high.text, emit_value(e, "zext i1 %s to i32", carried.text).text);
    emit_branch_if(e, emit_value(e, "icmp ne i32 %s, 0", high.text), more, end);
    emit_label(e, more);
    emit_value(e, "atomicrmw add i32 addrspace(3)* %s, i32 %s monotonic", at[1].text, high.text);
    emit_branch(e, end);
    emit_label(e, end);
}
