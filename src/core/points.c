/* points.c - calls of generalized ufuncs that run as kernels over indices: those whose inner calls are windows (ir_points), in large arrays.
 * The plan stays that of the call, with its loop, its operands and their overlaps; what is compiled and launched is the kernel over
 * indices, whose arrays have the loop's dimensions before those of the core. That follows from the function, the dtypes, shapes
 * and strides alone. */
#include <limits.h>
#include <stdio.h>

#include "core/core.h"

enum {
    POINTS_LEAST = 4096, /* of a call: fewer are not worth the compilation */
    ROW_LEAST = 32       /* points of the last range: shorter rows are better off in one thread */
};

static const int64_t nothing_moves[LAYOUT_MAX_RANK * UF_MAX_OPERANDS];

/* ---- Bindings ---- */

static const binding *binding_of(const binding *b, int loops, uint64_t numbers) {
    const binding *x = atomic_load_explicit(&((binding *)(uintptr_t)b)->points, memory_order_acquire);
    while (x && (x->form.loops != loops || x->form.numbers != numbers))
        x = x->next;
    return x;
}

typedef struct making {
    const binding *from;
    binding *to;
} making;

/* The text of the layout stands for all that the tree differs by from others of its source. */
static uf_status make(void *user) {
    const making *m = user;
    const binding *from = m->from;
    binding *to = m->to;
    size_t size = strlen(from->layout) + 64;
    char *layout = arena_alloc(&to->arena, size);
    if (!layout || !ir_points(&to->arena, from->tree, &to->form))
        return fail_memory();
    snprintf(layout, size, "%s as points, %d, %llx", from->layout, to->form.loops,
             (unsigned long long)to->form.numbers);
    to->layout = layout;
    to->tree = (tree *)(uintptr_t)to->form.tree;
    return to->tree ? ir_traits(to->tree, &to->traits) : UF_OK;
}

/* Adds what binding_of does not find; two threads may do so at once, and add the same. */
static uf_status binding_new(binding *b, int loops, uint64_t numbers, const binding **out) {
    binding *x = mem_zero(1, sizeof *x);
    if (!x)
        return fail_memory();
    x->key = b->key;
    x->source = b->source;
    x->form = (points_form){.loops = loops, .numbers = numbers};
    memcpy(x->types, b->types, sizeof x->types);
    uf_status s = on_big_stack(make, &(making){b, x});
    if (s) {
        binding_free(x);
        return s;
    }
    x->next = atomic_load(&b->points);
    while (!atomic_compare_exchange_weak(&b->points, &x->next, x))
        ;
    *out = x;
    return UF_OK;
}

/* ---- What a call is as a kernel over indices ---- */

static int operands_of(const uf_plan *p) { return p->layout->nin + p->layout->nout; }

static bool stays_number(const uf_plan *p, int k) { return p->pass[0].loops.kept.kind[k] == OPERAND_NUMBER; }

/* May it be one? Operands that are converted as they are read or written, and small cores, whose loops are unrolled, stay as they are. */
static bool may_be(const uf_plan *p) {
    const variant *v = &p->pass[0].v;
    const nd_loop *loop = &p->pass[0].loops.kept;
    if (!p->binding->traits.windows || p->idle || v->reports || v->masked || p->func->form.blas ||
        p->func->form.lapack || (p->unrolled && p->unrolled < INT_MAX) || loop->ndim >= LAYOUT_MAX_RANK)
        return false;
    for (int k = 0; k < operands_of(p); k++)
        if (v->operand[k].memory != v->operand[k].value && !stays_number(p, k))
            return false;
    return true;
}

static int64_t range_of(const uf_plan *p, int64_t range) { return range < 0 ? -1 - range : p->core[range]; }

/* The space: the loop's dimensions, outermost first, then the ranges. False: it is small. */
static bool space_set(const uf_plan *p, plan_points *x) {
    const nd_loop *from = &p->pass[0].loops.kept;
    const points_form *form = &x->binding->form;
    int n = form->tree->layout->nindices;
    x->loop = (nd_loop){.ndim = n, .narrays = operands_of(p), .count = 1, .loop = LOOP_FORALL};
    x->loop.extent = x->reversed;
    x->loop.stride = x->loop.offset = (int64_t *)(uintptr_t)nothing_moves;
    bool overflow = false;
    for (int d = 0; d < n; d++) {
        int64_t extent =
            d < form->loops ? from->extent[form->loops - 1 - d] : range_of(p, form->range[d - form->loops]);
        x->core[d] = x->reversed[n - 1 - d] = extent;
        overflow |= __builtin_mul_overflow(x->loop.count, extent, &x->loop.count);
    }
    return !overflow && x->loop.count >= POINTS_LEAST && x->core[n - 1] >= ROW_LEAST;
}

/* Extents and strides of operand k: in the loop, then in its core. A stride that is never used is 0. */
static void operand_set(const uf_plan *p, plan_points *x, int k) {
    const nd_loop *loop = &p->pass[0].loops.kept;
    const layout_operand *from = &p->layout->operands[k], *to = &x->binding->tree->layout->operands[k];
    int loops = x->binding->form.loops;
    x->loop.kind[k] = to->rank ? OPERAND_STRIDED : OPERAND_NUMBER;
    for (int d = 0; d < to->rank; d++) {
        int outer = loops - 1 - d, inner = d - loops;
        int64_t extent = inner < 0 ? loop->extent[outer] : p->core[from->dim[inner]];
        int64_t stride = inner < 0 ? loop->stride[outer * loop->narrays + k] : p->core[from->strides + inner];
        x->core[to->dim[d]] = extent;
        x->core[to->strides + d] = extent == 1 ? 0 : stride;
    }
    if (to->rank)
        forall_stretch_find(to, x->core, dtypes[p->binding->types[k]].size, &x->array[k]);
}

/* The address of an operand's first element in loop order. NULL: it is not known. */
static const char *address_of(const uf_plan *p, void *const *data, int k) {
    const plan_pass *s = &p->pass[0];
    const char *from = data ? data[s->source[k]] : NULL;
    return from ? from + s->shift[k] + s->loops.kept.offset[k] * dtypes[s->v.operand[k].memory].size : NULL;
}

static void align_find(const uf_plan *p, const plan_points *x, void *const *data, uint8_t *align) {
    for (int k = 0; k < operands_of(p); k++)
        align[k] = stays_number(p, k) ? 0 : forall_alignment(&x->array[k], address_of(p, data, k));
}

/* Outputs overlap nothing: what they overlap is copied first. */
static void variant_make(const uf_plan *p, const plan_points *x, const uint8_t *align, variant *v) {
    memset(v, 0, offsetof(variant, operand));
    v->loop = LOOP_FORALL;
    v->ndim = (uint8_t)x->loop.ndim;
    v->nin = (uint8_t)operands_of(p);
    v->forall.proved = lang_needs_hold(p->binding->tree, p->core, NULL, false);
    v->forall.noalias = true;
    v->forall.known = x->known;
    for (int k = 0; k < v->nin; k++) {
        const variant_operand *from = &p->pass[0].v.operand[k];
        v->operand[k] = (variant_operand){
            .memory = from->memory, .value = from->value, .kind = x->loop.kind[k], .unit = x->array[k].unit};
    }
    engines[p->engine]->specialise(v, &(loop_problem){.loop = &x->loop,
                                                      .layout = x->binding->tree->layout,
                                                      .core = x->core,
                                                      .traits = x->traits,
                                                      .align = align});
}

uf_status points_choose(uf_plan *p, void *const *data) {
    uint64_t numbers = 0;
    if (!may_be(p))
        return UF_OK;
    for (int k = 0; k < operands_of(p); k++)
        numbers |= (uint64_t)stays_number(p, k) << k;
    int loops = p->pass[0].loops.kept.ndim;
    const binding *b = binding_of(p->binding, loops, numbers);
    if (!b)
        TRY(binding_new((binding *)(uintptr_t)p->binding, loops, numbers, &b));
    if (!b->tree)
        return UF_OK;
    plan_points *x = plan_space(p, sizeof *x);
    if (!x)
        return fail_memory();
    memset(x, 0, sizeof *x);
    x->binding = b;
    if (!space_set(p, x))
        return UF_OK;
    for (int k = 0; k < operands_of(p); k++)
        operand_set(p, x, k);
    TRY(extents_know(b, x->core, x->loop.count, &x->known, &x->traits));
    align_find(p, x, data, x->align);
    variant_make(p, x, x->align, &x->v);
    p->windows = x;
    return UF_OK;
}

bool points_fit(const uf_plan *p, void *const *data) {
    uint8_t align[UF_MAX_OPERANDS];
    align_find(p, p->windows, data, align);
    return !memcmp(align, p->windows->align, (size_t)operands_of(p));
}

uf_status points_specialise(const uf_plan *p, void *const *data, variant *v) {
    uint8_t align[UF_MAX_OPERANDS];
    align_find(p, p->windows, data, align);
    variant_make(p, p->windows, align, v);
    return UF_OK;
}
