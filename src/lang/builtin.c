/* builtin.c - checks what is called like a function but takes no values: len and extent of an array, atomic functions
 * of an element, and assert, which is a statement. */
#include "lang/check.h"

typedef enum builtin {
    BUILTIN_LEN,
    BUILTIN_EXTENT,
    BUILTIN_ASSERT,
    BUILTIN_ATOMICS /* from here on the atomic functions of ops.h */
} builtin;

const char *builtin_name(int i) {
    static const char *const names[BUILTIN_ATOMICS] = {
        [BUILTIN_LEN] = "len", [BUILTIN_EXTENT] = "extent", [BUILTIN_ASSERT] = "assert"};
    if (i < BUILTIN_ATOMICS)
        return names[i];
    return i < BUILTIN_ATOMICS + ATOMIC_COUNT ? atomics[i - BUILTIN_ATOMICS].name : NULL;
}

int builtin_find(const char *word, int length) {
    for (int i = 0; builtin_name(i); i++)
        if (strlen(builtin_name(i)) == (size_t)length && memcmp(builtin_name(i), word, (size_t)length) == 0)
            return i;
    return -1;
}

static void arity_check(check *c, const syn *s, const char *callee, int arity) {
    int count = 0;
    for (const syn *a = s->list; a; a = a->next)
        count++;
    if (count != arity)
        check_fail(c, s->at, "'%s' takes %d argument%s, got %d", callee, arity, arity == 1 ? "" : "s", count);
}

/* ---- Extents ---- */

node *extent_node(check *c, int slot, int d, const syn *at) {
    const local *l = &c->now->f.locals[slot];
    if (l->extent[d] >= 0)
        return integer_node(c, l->extent[d], DT_INT64, at);
    node *n = node_new(c, N_SIZE, DT_INT64, at);
    n->dim = l->dim[d];
    return n;
}

static node *extent_check(check *c, const syn *s) {
    int slot = array_named(c, s->list, "extent");
    node *n = expression_check(c, s->list->next);
    const local *l = &c->now->f.locals[slot];
    if (n->kind != N_CONST || !dtype_is_integer(n->type))
        check_fail(c, s->list->next->at, "the dimension must be a constant integer: extent(%s, 0)", l->name);
    if (n->value.as.u >= (uint64_t)l->rank)
        check_fail(c, s->list->next->at, "'%s' has %d dimension%s, the last is %d", l->name, l->rank,
                   l->rank > 1 ? "s" : "", l->rank - 1);
    return extent_node(c, slot, (int)n->value.as.i, s);
}

/* ---- Atomic functions ---- */

static bool atomic_defined(char kind, dtype type) {
    bool whole = dtype_is_integer(type), floating = dtype_is_floating(type);
    switch (kind) {
    case 'A':
        return whole || floating;
    case 'B':
        return whole || type == DT_BOOL;
    default:
        return type != DT_COMPLEX128;
    }
}

/* Checks the element that an atomic function changes. */
static node *target_check(check *c, const syn *s, const atomic_info *info) {
    if (!kernel_indices(c) || !c->frame->is_kernel)
        check_fail(c, s->at, "'%s' stands in the body of a kernel over indices only", info->name);
    if (c->pure)
        check_fail(c, s->at, "'%s' cannot be called here: %s has no effects", info->name, c->pure);
    if (s->list->kind != S_INDEX)
        check_fail(c, s->list->at, "'%s' needs an element of an array first: %s(h[i], ..)", info->name, info->name);
    node *n = expression_check(c, s->list);
    if (n->kind != N_ELEMENT)
        check_fail(c, s->list->at,
                   "'%s' needs an element at one place: not one that an index chooses among those of a record, nor a "
                   "complex number in a record, which is two",
                   info->name);
    const local *l = &c->now->f.locals[n->local];
    if (!l->core)
        check_fail(c, s->list->at, "'%s' needs an element of a parameter; '%s' is a local array, which nobody shares",
                   info->name, l->name);
    if (!atomic_defined(info->kind, n->type))
        check_fail(c, s->list->at, "'%s' needs %s, got %s", info->name,
                   info->kind == 'A'   ? "integers or floating numbers"
                   : info->kind == 'B' ? "integers or bool"
                                       : "a type of at most 64 bits",
                   dtypes[n->type].name);
    return n;
}

static node *atomic_check(check *c, const syn *s, atomic_op o) {
    const atomic_info *info = &atomics[o];
    arity_check(c, s, info->name, info->operands + 1);
    node *target = target_check(c, s, info), *n = node_new(c, N_ATOMIC, target->type, s);
    const syn *operand = s->list->next;
    n->op = (uint8_t)o;
    n->kid[0] = target;
    for (int k = 1; k <= info->operands; k++, operand = operand->next)
        n->kid[k] = convert(c, expression_check(c, operand), target->type, operand);
    return n;
}

/* ---- assert ---- */

bool is_assert(const check *c, const syn *s) {
    if (!s || s->kind != S_CALL)
        return false;
    const name *n = &c->frame->u->s->names[s->name];
    return !overload_known(c, n->text, n->length) && !variable_find(c, s->name) &&
           builtin_find(n->text, n->length) == BUILTIN_ASSERT;
}

node *assert_check(check *c, const syn *s) {
    arity_check(c, s, "assert", 1);
    node *n = node_new(c, N_ASSERT, DT_NONE, s);
    n->value = (number){.type = DT_INT64, .as.i = (int64_t)s->at};
    node *condition = pure_check(c, s->list, "the condition of an assert");
    if (condition->kind == N_RECORD)
        fail_record(c, condition, s->list->at);
    n->kid[0] = to_bool(c, condition, s->list);
    return n;
}

/* ---- */

node *builtin_check(check *c, const syn *s, int which) {
    switch (which) {
    case BUILTIN_LEN:
        arity_check(c, s, "len", 1);
        return extent_node(c, array_named(c, s->list, "len"), 0, s);
    case BUILTIN_EXTENT:
        arity_check(c, s, "extent", 2);
        return extent_check(c, s);
    case BUILTIN_ASSERT:
        check_fail(c, s->at, "assert is a statement and has no value");
    default:
        return atomic_check(c, s, (atomic_op)(which - BUILTIN_ATOMICS));
    }
}
