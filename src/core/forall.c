/* forall.c - uf_forall, uf_forall_plan and uf_launch_info: kernels over indices. Shapes and strides of the
 * parameters become core words, as those of a generalized ufunc do. The code also depends on alignment and overlap
 * of the addresses, and on whether indices that numbers bound are proved (forall_facts). A plan's code is made for the addresses and
 * numbers that the plan was made with; a run with others that differ in this takes other code. */
#include <stdio.h>

#include "core/core.h"

enum {
    ALIGN_MOST = 4 /* log2 of the longest access in bytes, 16 */
};

/* Strides and offsets of all operands: none moves along the loop, since kernels index arrays by themselves. */
static const int64_t nothing_moves[LAYOUT_MAX_RANK * UF_MAX_OPERANDS];

static int64_t *still(void) { return (int64_t *)(uintptr_t)nothing_moves; }

/* ---- The space ---- */

static uf_status space_check(const uf_func *f, int ndim, const int64_t *extents) {
    if (ndim < 1 || ndim > LAYOUT_MAX_RANK)
        return fail(UF_ERR_ARGUMENT, "uf_forall of %s: ndim is %d; 1 to %d are possible", f->name, ndim,
                    LAYOUT_MAX_RANK);
    if (!extents)
        return fail(UF_ERR_ARGUMENT, "uf_forall of %s: extents is NULL", f->name);
    for (int d = 0; d < ndim; d++)
        if (extents[d] < 0)
            return fail(UF_ERR_ARGUMENT, "uf_forall of %s: extents[%d] is %lld; it must not be negative", f->name, d,
                        (long long)extents[d]);
    return UF_OK;
}

static uf_status space_set(uf_plan *p, const plan_request *r) {
    const int64_t *extents = r->extents;
    nd_loop *loop = &p->pass[0].loops.kept;
    int64_t count = 1;
    int ndim = r->ndim;
    bool overflow = false, empty = false;
    for (int d = 0; d < ndim; d++) {
        p->points[d] = p->forall.core[d] = p->forall.reversed[ndim - 1 - d] = extents[d];
        empty |= extents[d] == 0;
        overflow |= __builtin_mul_overflow(count, extents[d], &count);
    }
    if (overflow && !empty)
        return fail(UF_ERR_SHAPE, "uf_forall of %s: the product of the extents is 2^63 or more", p->func->name);
    p->npoints = ndim;
    p->idle = empty;
    loop->ndim = ndim;
    loop->narrays = p->func->nin;
    loop->count = empty ? 0 : count;
    loop->extent = p->forall.reversed;
    loop->stride = loop->offset = still();
    loop->loop = LOOP_FORALL;
    return UF_OK;
}

/* ---- The parameter list ---- */

static uf_status kernel_check(const plan_request *r) {
    const uf_func *f = r->func;
    const char *verb = r->name;
    int nargs = r->nargs;
    if (!f)
        return fail(UF_ERR_ARGUMENT, "kernel is NULL");
    if (!is_kernel(f))
        return fail(UF_ERR_ARGUMENT, "%s is no kernel over indices (uf_kernel); %s runs no other functions", f->name,
                    verb);
    if (nargs != f->nin)
        return fail(UF_ERR_ARGUMENT, "%s of %s: %d argument%s, but the kernel has %d parameter%s", verb, f->name, nargs,
                    nargs == 1 ? "" : "s", f->nin, f->nin == 1 ? "" : "s");
    if (!r->args && nargs)
        return fail(UF_ERR_ARGUMENT, "%s of %s: args is NULL", verb, f->name);
    return UF_OK;
}

static uf_status forall_arity(const plan_request *r, int *nin, int *nout) {
    TRY(kernel_check(r));
    *nin = r->nargs;
    *nout = 0;
    return space_check(r->func, r->ndim, r->extents);
}

static uf_status forall_arguments(const plan_request *r, call_args *a, void **data) {
    int nin, nout;
    TRY(forall_arity(r, &nin, &nout));
    return args_take(r->nargs, r->nargs, r->args, NULL, r->options, r->how, a, data);
}

/* The key of an argument: its dtype, with the rank of an array. Ranks that no parameter has give keys from 0xC0 on,
 * for which no binding is made. */
static uint8_t type_key(uint8_t type, const nd_array *x) {
    if (x->number)
        return type;
    return (uint8_t)(type | (x->ndim < 1 ? 0xC0 : x->ndim > LAYOUT_MAX_RANK ? 0xD0 : BINDING_RANK * (x->ndim - 1)));
}

/* Checks that a section has so many indices. */
static uf_status indices_check(const uf_func *f, int ndim) {
    char numbers[LAYOUT_MAX_RANK * 8], *at = numbers;
    unsigned known = 0;
    for (int s = 0; s < f->nsections; s++)
        known |= 1u << f->sections[s].layout->nindices;
    if (known >> ndim & 1)
        return UF_OK;
    for (int n = 1; n <= LAYOUT_MAX_RANK; n++)
        if (known >> n & 1)
            at += sprintf(at, "%s%d", at == numbers ? "" : " or ", n);
    return fail(UF_ERR_ARGUMENT, "uf_forall of %s: ndim is %d, but its number of indices is %s", f->name, ndim,
                numbers);
}

/* What a parameter list is chosen by. */
typedef struct choice {
    const plan_request *request;
    const call_args *args;
    bool values; /* the values of numbers take part in the choice */
} choice;

/* Whether some list of the function has patterns is asked of each call that has no binding yet. */
static bool has_patterns(const signature_list *list) {
    for (int s = 0; s < list->count; s++)
        if (signature_has_patterns(list, s))
            return true;
    return false;
}

/* Chooses among the lists with dtypes in place of patterns. types: gets those of the list that is chosen. */
static uf_status choose_among(const choice *c, const dispatch_input *inputs, signature_list *list, int *chosen,
                              dtype *types) {
    const plan_request *r = c->request;
    const uf_options *o = r->options;
    if (o->signature && has_patterns(list)) {
        dtype forced[UF_MAX_OPERANDS];
        uint8_t ranks[UF_MAX_OPERANDS];
        int n;
        TRY(fail_named(parameter_list_parse(o->signature, forced, ranks, &n), "signature of the options"));
        if (n == list->nin)
            patterns_force(&r->func->signatures, forced, ranks, list->types);
    } else if (has_patterns(list)) {
        patterns_match(&r->func->signatures, inputs, o->flags, list->types);
    }
    TRY(dispatch_kernel(r->func->name, list, r->ndim, inputs, o->flags, o->signature, chosen));
    memcpy(types, list->types + (size_t)*chosen * (size_t)list->nin, (size_t)list->nin * sizeof *types);
    return UF_OK;
}

static uf_status choose_list(const choice *c, int *chosen, dtype *types) {
    const plan_request *r = c->request;
    const call_args *a = c->args;
    const uf_func *f = r->func;
    dispatch_input inputs[UF_MAX_OPERANDS];
    TRY(indices_check(f, r->ndim));
    for (int k = 0; k < f->nin; k++) {
        const nd_array *x = &a->array[k];
        inputs[k] = (dispatch_input){.type = (dtype)(a->key.type[k] & 0xF), .is_number = x->number, .rank = x->ndim};
        if (c->values && x->number && x->data)
            inputs[k].value = number_read(inputs[k].type, x->data);
    }
    signature_list list = f->signatures;
    size_t bytes = (size_t)list.count * (size_t)list.nin * sizeof *list.types;
    list.types = mem_alloc(bytes + 1);
    if (!list.types)
        return fail_memory();
    if (bytes)
        memcpy(list.types, f->signatures.types, bytes);
    uf_status s = choose_among(c, inputs, &list, chosen, types);
    mem_free(list.types);
    return s;
}

static uf_status binding_fill(binding *b, void *user) {
    const choice *c = user;
    const uf_func *f = c->request->func;
    int chosen;
    TRY(choose_list(c, &chosen, b->types));
    const section *s = &f->sections[f->section_of[chosen]];
    b->source = s->key;
    b->layout = s->layout_text;
    TRY(type_kernel(f, f->section_of[chosen], b->types, &b->arena, &b->tree));
    TRY(ir_traits(b->tree, &b->traits));
    return UF_OK;
}

static uf_status forall_bind(const plan_request *r, call_args *a, const binding **out) {
    choice c = {r, a, true};
    int n = r->func->nin, chosen;
    dtype types[UF_MAX_OPERANDS];
    a->key.verb = VERB_FORALL;
    a->key.ndim = r->ndim;
    for (int k = 0; k < n; k++)
        a->key.type[k] = type_key(a->key.type[k], &a->array[k]);
    /* The signature is part of the key, so that it is chosen in each call, before the lookup. */
    if (r->options->signature) {
        TRY(choose_list(&c, &chosen, types));
        a->key.forced = chosen + 1;
    }
    return binding_get_for(r->func, a, &a->key, offsetof(binding_key, type) + (size_t)n, binding_fill, &c, &c.values,
                           out);
}

/* ---- Parameters ---- */

static int log2_of_multiple(uint64_t bytes) { return __builtin_ctzll(bytes | 1 << ALIGN_MOST); }

/* Writes extents and strides of an array to the core parameters. Is the array contiguous in C order? A stride that is
 * never used becomes 0, so that it makes no difference. */
static bool array_parameters(const layout_operand *o, const nd_array *x, int64_t *core) {
    bool packed = true, empty = false;
    for (int d = 0; d < x->ndim; d++) {
        core[o->dim[d]] = x->shape[d];
        core[o->strides + d] = 0;
        empty |= x->shape[d] == 0;
    }
    int64_t dense = 1;
    for (int d = x->ndim - 1; d >= 0 && !empty; d--) {
        int64_t extent = x->shape[d], stride = x->strides ? x->strides[d] : dense;
        packed &= extent == 1 || stride == dense;
        core[o->strides + d] = extent == 1 ? 0 : stride;
        dense *= extent;
    }
    return packed;
}

/* 1 + the dimension of stride 1, the last one if there are several; 0: there is none. The stride of a dimension of
 * one element does not matter (array_parameters made it 0), so that the last dimension may stand in if no other has
 * stride 1. */
static uint8_t unit_dimension(const layout_operand *o, const int64_t *core) {
    for (int d = o->rank; d > 0; d--)
        if (core[o->strides + d - 1] == 1)
            return (uint8_t)d;
    return core[o->dim[o->rank - 1]] <= 1 ? o->rank : 0;
}

void forall_stretch_find(const layout_operand *o, const int64_t *core, int64_t size, forall_stretch *out) {
    uint8_t unit = unit_dimension(o, core);
    int64_t lowest = 0, highest = 0;
    uint64_t strides = 0;
    bool empty = false;
    for (int d = 0; d < o->rank; d++) {
        int64_t extent = core[o->dim[d]], stride = core[o->strides + d];
        empty |= extent == 0;
        *(stride < 0 ? &lowest : &highest) += (extent - 1) * stride;
        strides |= d + 1 == unit ? 0 : (uint64_t)(stride * size);
    }
    *out = (forall_stretch){.lowest = empty ? 0 : lowest * size,
                            .end = empty ? 0 : (highest + 1) * size,
                            .unit = unit,
                            .align = (uint8_t)log2_of_multiple(strides)};
}

static uf_status writable_check(const uf_plan *p, int k) {
    static const int64_t one = 1;
    nd_loop point = {.ndim = 1, .narrays = UF_MAX_OPERANDS, .count = 1, .loop = LOOP_FORALL};
    point.extent = (int64_t *)(uintptr_t)&one;
    point.stride = point.offset = still();
    point.kind[k] = OPERAND_STRIDED;
    if (nd_core_self_overlap(&point, p->layout, p->core, k))
        return fail_argument(UF_ERR_ARGUMENT, k, -1,
                             "is written to and has two elements at one address (or its strides are too many to tell)");
    return UF_OK;
}

static uf_status parameter_set(uf_plan *p, int k, const nd_array *a) {
    const layout_operand *o = &p->layout->operands[k];
    plan_pass *s = &p->pass[0];
    forall_part *x = &p->forall;
    uint16_t use = p->binding->traits.use[k];
    dtype type = p->binding->types[k];
    s->source[k] = (uint8_t)k;
    s->shift[k] = 0;
    s->loops.kept.kind[k] = o->rank ? OPERAND_STRIDED : OPERAND_NUMBER;
    if (!o->rank)
        return UF_OK;
    bool packed = array_parameters(o, a, x->core), written = use & (USE_WRITE | USE_ATOMIC);
    bool whole = use & USE_ATOMIC && dtypes[type].align < dtypes[type].size;
    forall_stretch_find(o, x->core, dtypes[type].size, &x->array[k]);
    x->written |= (uint64_t)written << k;
    x->whole |= (uint64_t)whole << k;
    return written && !packed ? writable_check(p, k) : UF_OK;
}

/* ---- What follows from addresses ---- */

static bool is_array(const uf_plan *p, int k) { return p->pass[0].loops.kept.kind[k] != OPERAND_NUMBER; }

/* The bytes of array k, from *first up to *end. False if it has no elements, or is a number. */
static bool bytes_of(const uf_plan *p, void *const *data, int k, intptr_t *first, intptr_t *end) {
    if (!is_array(p, k))
        return false;
    *first = (intptr_t)data[k] + p->forall.array[k].lowest;
    *end = (intptr_t)data[k] + p->forall.array[k].end;
    return *first < *end;
}

/* Is no array that is written to overlapped by another parameter? */
static bool apart(const uf_plan *p, void *const *data) {
    for (uint64_t left = p->forall.written; left; left &= left - 1) {
        int w = __builtin_ctzll(left);
        intptr_t first, end, other, other_end;
        if (!bytes_of(p, data, w, &first, &end))
            continue;
        for (int k = 0; k < p->func->nin; k++)
            if (k != w && bytes_of(p, data, k, &other, &other_end) && other < end && first < other_end)
                return false;
    }
    return true;
}

uint8_t forall_alignment(const forall_stretch *array, const void *data) {
    int align = log2_of_multiple((uintptr_t)data);
    return (uint8_t)(align < array->align ? align : array->align);
}

static uint8_t alignment(const uf_plan *p, int k, const void *data) {
    return forall_alignment(&p->forall.array[k], data);
}

/* The numbers among the arguments, by parameter. False: the address of one is not known. */
static bool numbers_read(const uf_plan *p, void *const *data, int64_t *out) {
    for (int k = 0; k < p->func->nin; k++) {
        out[k] = 0;
        if (is_array(p, k))
            continue;
        if (!data[k])
            return false;
        number n = number_read((dtype)p->argument[k].type, data[k]);
        out[k] = dtypes[n.type].kind <= DK_INTEGER ? n.as.i : 0; /* of others nothing is needed */
    }
    return true;
}

/* Do the sizes and the numbers of a run prove what the kernel's indices need? Numbers that are not known are taken for such that do, as
 * most are. */
static bool is_proved(const uf_plan *p, void *const *data) {
    int64_t numbers[UF_MAX_OPERANDS];
    const forall_part *x = &p->forall;
    bool known = x->numbers && numbers_read(p, data, numbers);
    return lang_needs_hold(p->binding->tree, x->core, known ? numbers : NULL, true);
}

/* Finds the facts for numbers and addresses; !addresses: those of most arrays, which are aligned and do not overlap. */
static void facts_find(const uf_plan *p, void *const *all, bool addresses, forall_facts *out) {
    void *const *data = addresses ? all : NULL;
    out->proved = is_proved(p, all);
    out->noalias = !data || apart(p, data);
    for (int k = 0; k < p->func->nin; k++)
        if (is_array(p, k))
            out->align[k] = alignment(p, k, data ? data[k] : NULL);
}

static bool forall_fits(const uf_plan *p, void *const *data) {
    const forall_facts *facts = &p->forall.facts;
    for (int k = 0; k < p->func->nin; k++)
        if (is_array(p, k) && alignment(p, k, data[k]) != facts->align[k])
            return false;
    return apart(p, data) == facts->noalias && (!p->forall.numbers || is_proved(p, data) == facts->proved);
}

static uint8_t reports_of(const uf_plan *p) {
    return func_reports_sized(p->func, p->binding, p->forall.core, p->cancel);
}

/* Makes the variant for addresses with these facts. */
static void variant_make(const uf_plan *p, const forall_facts *facts, variant *v) {
    const forall_part *x = &p->forall;
    const nd_loop *loop = &p->pass[0].loops.kept;
    memset(v, 0, offsetof(variant, operand));
    v->loop = LOOP_FORALL;
    v->ndim = (uint8_t)loop->ndim;
    v->nin = (uint8_t)p->func->nin;
    v->reports = reports_of(p);
    v->forall.proved = facts->proved;
    v->forall.noalias = facts->noalias;
    v->forall.known = x->known;
    for (int k = 0; k < v->nin; k++) {
        uint8_t type = (uint8_t)p->binding->types[k];
        v->operand[k] = (variant_operand){.memory = type, .value = type, .kind = loop->kind[k]};
        if (is_array(p, k))
            v->operand[k].unit = x->array[k].unit;
    }
    engines[p->engine]->specialise(v, &(loop_problem){.loop = loop,
                                                      .layout = p->layout,
                                                      .core = p->core,
                                                      .traits = x->traits,
                                                      .elements = x->elements,
                                                      .block = p->block,
                                                      .align = facts->align});
}

static uf_status forall_specialise(const uf_plan *p, void *const *data, variant *v) {
    forall_facts facts;
    facts_find(p, data, true, &facts);
    variant_make(p, &facts, v);
    return UF_OK;
}

/* ---- Plans ---- */

/* Are the addresses known of all arrays that have elements? */
static bool are_known(const uf_plan *p, void *const *data) {
    for (int k = 0; k < p->func->nin; k++)
        if (is_array(p, k) && !data[k] && p->forall.array[k].end > p->forall.array[k].lowest)
            return false;
    return true;
}

static uf_status forall_lay(uf_plan *p, const plan_request *r, call_args *a, void *const *data) {
    forall_part *x = &p->forall;
    p->layout = p->binding->tree->layout;
    p->core = x->core;
    p->source = p->binding->source;
    p->nargs = a->nin;
    x->elements = r->options->elements;
    x->written = x->whole = 0;
    TRY(space_set(p, r));
    for (int k = 0; k < a->nin; k++) {
        plan_argument_set(p, k, (dtype)(a->key.type[k] & 0xF), a->array[k].number ? NULL : &a->array[k], k);
        TRY(parameter_set(p, k, &a->array[k]));
    }
    if (p->idle)
        return UF_OK;
    x->numbers = lang_needs_numbers(p->binding->tree);
    x->traits = &p->binding->traits;
    x->known = (known_extents){0};
    if (!reports_of(p)) /* what reports is compiled as it was written */
        TRY(extents_know(p->binding, x->core, p->pass[0].loops.kept.count, &x->known, &x->traits));
    facts_find(p, data, !p->lasts || are_known(p, data), &x->facts);
    variant_make(p, &x->facts, &p->pass[0].v);
    return UF_OK;
}

/* Checks the alignment of elements that an atomic function swaps as one piece. A complex number need only be aligned
 * as its parts are, but hardware swaps both parts only where they are aligned together. */
static uf_status whole_check(plan_run *run) {
    const uf_plan *p = run->plan;
    const forall_part *x = &p->forall;
    for (uint64_t left = p->idle ? 0 : x->whole; left; left &= left - 1) {
        int k = __builtin_ctzll(left), size = dtypes[p->binding->types[k]].size;
        if (x->array[k].end > x->array[k].lowest && (uintptr_t)run->data[k] % (uintptr_t)size)
            return fail_argument(UF_ERR_ARGUMENT, k, -1,
                                 "its element 0 is at 0x%llx, but must be aligned to %d bytes for atomic functions",
                                 (unsigned long long)(uintptr_t)run->data[k], size);
    }
    return UF_OK;
}

/* Checks that numbers fit, which holds even where there are no points. */
static uf_status numbers_check(const plan_run *run) {
    const uf_plan *p = run->plan;
    uint64_t words[2];
    for (int k = 0; k < p->nargs; k++)
        if (!is_array(p, k))
            TRY(plan_number(p, k, run->data[k], p->binding->types[k], words));
    return UF_OK;
}

/* ---- Looking at kernels ---- */

/* Finds the parameter list `wanted`, or the first one if that is NULL. Also the first if there is no such list:
 * dispatch then makes the error. */
static uf_status list_find(const uf_func *f, const char *wanted, int *out, dtype *wanted_types) {
    const signature_list *list = &f->signatures;
    dtype types[UF_MAX_OPERANDS];
    uint8_t ranks[UF_MAX_OPERANDS];
    size_t n = (size_t)list->nin;
    int given;
    *out = 0;
    memcpy(wanted_types, list->types, n * sizeof *wanted_types);
    if (!wanted && signature_has_patterns(list, 0))
        return fail(UF_ERR_ARGUMENT, "%s: its first parameter list takes several dtypes; name a list of dtypes",
                    f->name);
    if (!wanted)
        return UF_OK;
    TRY(fail_named(parameter_list_parse(wanted, types, ranks, &given), "types"));
    for (int k = 0; k < list->nin; k++)
        if (wanted_types[k] == DT_NONE)
            wanted_types[k] = DT_FLOAT64; /* where there is no such list, dispatch makes the error */
    if (given != list->nin)
        return UF_OK;
    dtype *all = mem_alloc((size_t)list->count * n * sizeof *all + 1);
    if (!all)
        return fail_memory();
    patterns_force(list, types, ranks, all);
    for (int s = 0; s < list->count; s++)
        if (!memcmp(all + (size_t)s * n, types, n * sizeof *types) && !memcmp(list->ranks + (size_t)s * n, ranks, n)) {
            *out = s;
            memcpy(wanted_types, types, n * sizeof *types);
            break;
        }
    mem_free(all);
    return UF_OK;
}

/* Makes up the arguments of a call of list s, in which every extent is the same. */
static void arguments_imagine(const uf_func *f, int s, const dtype *types, const int64_t *extents, call_args *a) {
    size_t first = (size_t)s * (size_t)f->nin;
    a->nin = a->nargs = a->narrays = f->nin;
    for (int k = 0; k < f->nin; k++) {
        dtype type = types[k];
        int rank = f->signatures.ranks[first + (size_t)k];
        a->array[k] = (nd_array){.shape = extents, .ndim = rank, .size = dtypes[type].size, .number = rank == 0};
        a->key.type[k] = (uint8_t)(type | (rank ? 0 : BINDING_NUMBER));
    }
}

enum {
    /* Log2 of the number of elements of the largest array, and of the points of the space. */
    LOG_ELEMENTS = 24
};

/* Makes up a call of the list that is asked for, with contiguous arrays. */
static uf_status forall_imagine(uf_plan *p, plan_request *r, const char *wanted, call_args *a) {
    const uf_func *f = p->func;
    int s;
    dtype types[UF_MAX_OPERANDS];
    TRY(list_find(f, wanted, &s, types));
    uf_options *options = plan_space(p, sizeof *options);
    char *spelled = plan_space(p, ENTRY_TEXT);
    int64_t *extents = plan_space(p, LAYOUT_MAX_RANK * sizeof *extents);
    if (!options || !spelled || !extents)
        return fail_memory();
    signature_list_format(spelled, &f->signatures, s);
    *options = (uf_options){.size = sizeof *options, .signature = wanted ? wanted : spelled};
    r->options = options;
    r->ndim = f->signatures.indices[s];
    int most = r->ndim;
    for (int k = 0; k < f->nin; k++)
        if (f->signatures.ranks[s * f->nin + k] > most)
            most = f->signatures.ranks[s * f->nin + k];
    for (int d = 0; d < LAYOUT_MAX_RANK; d++)
        extents[d] = (int64_t)1 << LOG_ELEMENTS / most;
    r->extents = extents;
    arguments_imagine(f, s, types, extents, a);
    return forall_bind(r, a, &p->binding);
}

const plan_verb forall_verb = {.options = "uf_options",
                               .arity = forall_arity,
                               .arguments = forall_arguments,
                               .bind = forall_bind,
                               .lay = forall_lay,
                               .imagine = forall_imagine,
                               .check = whole_check,
                               .check_idle = numbers_check,
                               .fits = forall_fits,
                               .specialise = forall_specialise};

/* ---- The verbs ---- */

static inline plan_request forall_request(const char *name, const uf_func *kernel, int ndim, const int64_t *extents,
                                          int nargs, const DLTensor *args, const uf_options *options) {
    return (plan_request){.verb = &forall_verb,
                          .name = name,
                          .func = kernel,
                          .options = options,
                          .nargs = nargs,
                          .args = args,
                          .ndim = ndim,
                          .extents = extents};
}

uf_status uf_forall(const uf_func *kernel, int ndim, const int64_t *extents, int nargs, const DLTensor *args,
                    const uf_options *options) {
    RANGE("uf_forall", kernel);
    uf_options own;
    TRY(forall_options_read(options, &own, &options));
    const plan_request r = forall_request("uf_forall", kernel, ndim, extents, nargs, args, options);
    return plan_once(&r);
}

uf_status uf_forall_plan(uf_plan **out, const uf_func *kernel, int ndim, const int64_t *extents, int nargs,
                         const DLTensor *args, const uf_options *options) {
    uf_options own;
    TRY(plan_out(out));
    TRY(forall_options_read(options, &own, &options));
    const plan_request r = forall_request("uf_forall_plan", kernel, ndim, extents, nargs, args, options);
    return plan_new(out, &r);
}

static uf_status launch_tell(const plan_request *r, void *user) {
    uf_plan p;
    void *data[PLAN_ARGUMENTS];
    uf_status s = plan_make(&p, r, data);
    if (!s && !p.idle) {
        launch l = plan_launch(&p, p.pass);
        l.data = (char *const *)data;
        l.stream = r->options->stream;
        s = engines[p.engine]->launch_info(p.pass[0].code, &l, user);
    }
    plan_end(&p);
    return s;
}

uf_status uf_launch_info(const uf_func *kernel, int ndim, const int64_t *extents, int nargs, const DLTensor *args,
                         const uf_options *options, uf_launch *out) {
    uf_options own;
    uf_launch all = {.size = out ? out->size : 0};
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    TRY(forall_options_read(options, &own, &options));
    const plan_request r = forall_request("uf_launch_info", kernel, ndim, extents, nargs, args, options);
    uf_status s = with_records(&r, launch_tell, &all);
    return s ? s : struct_write(&all, sizeof all, out, "uf_launch");
}
