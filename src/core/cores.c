/* cores.c - reductions over core dimensions: uf_reduce, uf_accumulate and uf_reduceat with a generalized ufunc, whose elements are
 * vectors or matrices. A core of few scalars is a state of as many values: for the sizes of its dimensions the function gets a form, a
 * reduction over scalars that combines by the kernel's own text, and each array is taken apart into one for each scalar, as arrays of
 * records are. So these reductions have all that reductions have. */
#include "core/cores.h"

/* ---- Which functions reduce ---- */

/* The dimensions of a layout in classes, of which each has one size where all operands have cores of one shape: a dimension's class is
 * the lowest dimension that is in it. */
typedef struct classes {
    uint8_t of[LAYOUT_MAX_DIMS];
    int64_t frozen[LAYOUT_MAX_DIMS]; /* by class; 0: not frozen */
} classes;

static void classes_join(classes *c, int ndims, int a, int b) {
    int from = c->of[a] > c->of[b] ? c->of[a] : c->of[b], to = c->of[a] > c->of[b] ? c->of[b] : c->of[a];
    for (int d = 0; d < ndims; d++)
        if (c->of[d] == from)
            c->of[d] = (uint8_t)to;
}

/* False: the operands cannot have cores of one shape. */
static bool classes_find(const core_layout *l, classes *c) {
    const layout_operand *o = l->operands;
    if (l->nin != 2 || l->nout != 1 || o[0].rank != o[1].rank || o[0].rank != o[2].rank)
        return false;
    for (int d = 0; d < l->ndims; d++)
        c->of[d] = (uint8_t)d;
    for (int i = 0; i < o[0].rank; i++)
        for (int k = 1; k < 3; k++)
            classes_join(c, l->ndims, o[0].dim[i], o[k].dim[i]);
    memset(c->frozen, 0, sizeof c->frozen);
    for (int d = 0; d < l->ndims; d++) {
        int64_t frozen = l->dims[d].frozen, *known = &c->frozen[c->of[d]];
        if (l->dims[d].steps || (frozen && *known && frozen != *known))
            return false;
        *known = frozen ? frozen : *known;
    }
    return true;
}

bool core_folds(const uf_func *f) {
    classes c;
    return classes_find(f->layout, &c);
}

/* ---- The shape of the cores of a call ---- */

static uf_status rank_check(const uf_func *f, const DLTensor *t, int k) {
    int rank = f->layout->operands[0].rank;
    return t->ndim < rank
               ? fail_argument(UF_ERR_SHAPE, k, -1,
                               "its rank is %d, but the last %d dimension%s core dimensions of %s, %s", t->ndim, rank,
                               rank == 1 ? " is one of the" : "s are the", f->name, f->layout_text)
               : UF_OK;
}

/* Reads the sizes from the input, and checks that they can be those of all operands. */
static uf_status sizes_read(const uf_func *f, const DLTensor *t, core *x) {
    const core_layout *l = f->layout;
    const uint8_t *dim = l->operands[0].dim;
    int first[LAYOUT_MAX_DIMS];
    classes c;
    classes_find(l, &c);
    memset(first, -1, sizeof first);
    TRY(rank_check(f, t, 0));
    x->rank = l->operands[0].rank;
    x->count = 1;
    for (int i = 0; i < x->rank; i++) {
        int at = t->ndim - x->rank + i, class = c.of[dim[i]];
        x->size[i] = t->shape[at];
        if (__builtin_mul_overflow(x->count, x->size[i], &x->count))
            return fail_argument(UF_ERR_SHAPE, 0, at, "makes a core of 2^63 scalars or more");
        if (c.frozen[class] && x->size[i] != c.frozen[class])
            return fail_argument(UF_ERR_SHAPE, 0, at, "core dimension %d of %s, %s, has size %lld, but must have %lld",
                                 i, f->name, f->layout_text, (long long)x->size[i], (long long)c.frozen[class]);
        if (first[class] >= 0 && x->size[i] != x->size[first[class]])
            return fail_argument(UF_ERR_SHAPE, 0, at,
                                 "core dimension %d of %s, %s, has size %lld, and core dimension %d has %lld, but a "
                                 "reduction needs them to be the same",
                                 i, f->name, f->layout_text, (long long)x->size[i], first[class],
                                 (long long)x->size[first[class]]);
        if (first[class] < 0)
            first[class] = i;
    }
    return UF_OK;
}

static uf_status sizes_match(const uf_func *f, const core *x, const DLTensor *t, int k) {
    TRY(rank_check(f, t, k));
    for (int i = 0; i < x->rank; i++)
        if (t->shape[t->ndim - x->rank + i] != x->size[i])
            return fail_argument(UF_ERR_SHAPE, k, t->ndim - x->rank + i,
                                 "core dimension %d of %s, %s, has size %lld, but that of the input has %lld", i,
                                 f->name, f->layout_text, (long long)t->shape[t->ndim - x->rank + i],
                                 (long long)x->size[i]);
    return UF_OK;
}

/* Reads the core of a call: its shape from the arrays, its dtype from the signature that serves them. */
static __attribute__((noinline)) uf_status core_read(const plan_request *r, core *out) {
    const uf_func *f = r->func;
    const binding *b;
    call_args a;
    void *data[PLAN_ARGUMENTS];
    int nin, nout;
    TRY(r->verb->arity(r, &nin, &nout));
    TRY(args_take(nin, r->nargs, r->args, f->layout, r->options, r->how, &a, data));
    TRY(sizes_read(f, &r->args[0], out));
    for (int k = 1; k < a.nargs; k++)
        TRY(sizes_match(f, out, &r->args[k], k));
    TRY(fold_find(f, &a, r->options->casting, r->options->signature, r->options->flags, &b));
    out->type = b->types[0];
    out->result = b->types[2];
    out->section = b->section;
    return UF_OK;
}

/* ---- Forms ---- */

/* Only the form that combines depends on the sizes of a core. */
static bool form_is(const core_form *x, const core *c, core_purpose purpose) {
    return x->purpose == (int)purpose && x->type == c->type && x->section == c->section &&
           (purpose != CORE_COMBINES || memcmp(x->size, c->size, (size_t)c->rank * sizeof *c->size) == 0);
}

static core_form *form_known(const uf_func *f, const core *c, core_purpose purpose) {
    core_form *x = atomic_load(&((uf_func *)(uintptr_t)f)->core_forms);
    while (x && !form_is(x, c, purpose))
        x = x->next;
    return x;
}

void core_forms_free(core_form *list) {
    for (core_form *next; list; list = next) {
        next = list->next;
        func_destroy(list->func);
    }
}

typedef struct making {
    const uf_func *func;
    const core *core;
    core_purpose purpose;
    core_form *made;
} making;

/* Sets the operands: scalars of the accumulator's dtype; those of the functions of cores have a mask among the inputs. */
static uf_status operands_set(uf_func *h, const core *x, core_purpose purpose) {
    static const uint8_t inputs[] = {[CORE_LOOPS] = 1, [CORE_FILLS] = 1, [CORE_SELECTS] = 2};
    dtype types[2 * UF_MAX_STATE];
    int nout = purpose == CORE_COMBINES ? (int)x->count : 1, mask = purpose == CORE_FILLS ? 0 : 1;
    h->nin = purpose == CORE_COMBINES ? nout : inputs[purpose];
    for (int k = 0; k < h->nin + nout; k++)
        types[k] = x->type;
    if (purpose >= CORE_FILLS)
        types[mask] = DT_BOOL;
    return hidden_sign(h, types, h->nin + nout);
}

/* Makes h the generalized ufunc of a text. */
static uf_status ufunc_form(uf_func *h, const uf_func *f, const core *x, core_purpose purpose, const char *source) {
    text t = {0}, dims = {0};
    section *s = h->sections = arena_alloc(&h->arena, sizeof *s);
    core_layout *l = arena_alloc(&h->arena, sizeof *l);
    for (int i = 0; i < x->rank; i++)
        text_printf(&dims, "%sn%d", i ? "," : "", i);
    if (purpose == CORE_SELECTS)
        text_printf(&t, "(%s),", dims.failed ? "" : dims.data);
    text_printf(&t, "()->(%s)", dims.failed ? "" : dims.data);
    h->layout_text = t.failed || dims.failed ? NULL : arena_text(&h->arena, t.data, t.length);
    text_free(&t);
    text_free(&dims);
    if (!s || !l || !h->layout_text)
        return fail_memory();
    h->nsections = 1;
    h->layout = l;
    *s = (section){.source = source, .layout = l, .layout_text = h->layout_text};
    TRY(layout_parse(&h->arena, h->layout_text, l));
    TRY(lang_parse(&h->arena, source, &f->scope.names, &s->syntax));
    TRY(scope_text_key(&f->scope, &h->arena, source, &s->key));
    return section_check(h, s, &h->signatures);
}

static uf_status form_fill(uf_func *h, const making *m) {
    const char *source, *identity;
    TRY(operands_set(h, m->core, m->purpose));
    TRY(core_texts(h, m->func, m->core, m->purpose, &source, &identity));
    return m->purpose >= CORE_FILLS ? ufunc_form(h, m->func, m->core, m->purpose, source)
                                    : values_form(h, m->func, source, identity);
}

/* Makes a form. Runs on a big stack. */
static uf_status form_make(void *user) {
    making *m = user;
    uf_func *h = hidden_new(m->func);
    core_form *x = h ? arena_alloc(&h->arena, sizeof *x) : NULL;
    uf_status s = x ? form_fill(h, m) : fail_memory();
    if (s) {
        if (h)
            func_destroy(h);
        return text_named(s, m->func->name, (definition_place){IN_SOURCE, m->core->section});
    }
    *x = (core_form){.func = h, .purpose = (int)m->purpose, .type = m->core->type, .section = m->core->section};
    memcpy(x->size, m->core->size, sizeof x->size);
    m->made = x;
    return UF_OK;
}

uf_status core_form_find(const uf_func *f, const core *c, core_purpose purpose, const uf_func **out) {
    making m = {f, c, purpose, NULL};
    core_form *x = form_known(f, c, purpose);
    if (!x) {
        TRY(on_big_stack(form_make, &m));
        core_form *head = atomic_load(&((uf_func *)(uintptr_t)f)->core_forms);
        do {
            x = form_known(f, c, purpose);
            if (x) {
                core_forms_free(m.made);
                break;
            }
            m.made->next = head;
        } while (!atomic_compare_exchange_weak(&((uf_func *)(uintptr_t)f)->core_forms, &head, m.made));
        x = x ? x : m.made;
    }
    *out = x->func;
    return UF_OK;
}

/* ---- Taking arrays apart ---- */

/* The strides of an array, which are written into words where it says none. */
static const int64_t *strides_of(const DLTensor *t, int64_t *words) {
    int64_t dense = 1;
    for (int d = t->ndim - 1; d >= 0 && !t->strides; d--) {
        words[d] = dense;
        dense *= t->shape[d] > 1 ? t->shape[d] : 1;
    }
    return t->strides ? t->strides : words;
}

/* The tensor of a scalar: the offset, which may be negative, goes to the address, which is NULL in plans that are given it later. */
static DLTensor scalar_of(const DLTensor *t, int64_t offset, int ndim, const int64_t *strides) {
    DLTensor to = *t;
    to.data = t->data ? (void *)((uintptr_t)t->data + (uintptr_t)offset) : NULL;
    to.ndim = ndim;
    to.strides = ndim ? (int64_t *)(uintptr_t)strides : NULL;
    return to;
}

/* Appends the scalars of argument k: each is an array over the loop dimensions. Cores without scalars lie nowhere, and a call takes
 * them as if they had one, which it does not touch (ARGS_EMPTY). */
static void array_expand(expansion *e, core *x, int64_t count, const DLTensor *t, int k, bool unread) {
    const int64_t *strides = unread ? NULL : strides_of(t, e->words);
    int size = unread ? 0 : dtypes[dtype_of_dl(t->dtype)].size, loops = unread ? 0 : t->ndim - x->rank;
    e->words += unread ? 0 : t->ndim;
    e->align[k] = 1;
    x->strides[k] = unread ? NULL : strides + loops;
    for (int64_t i = 0; i < count; i++) {
        e->of[e->n] = (uint8_t)k;
        e->offset[e->n] = unread ? 0 : core_offset(x, strides + loops, i) * size;
        e->args[e->n] = unread ? *t : scalar_of(t, e->offset[e->n], loops, x->count ? strides : NULL);
        e->n++;
    }
}

/* Checks the shape of the value that a fold begins with, which is read when it runs. */
static uf_status initial_shape_check(const core *x, const DLTensor *t, bool lasting) {
    const dtype_info *type = &dtypes[dtype_of_dl(t->dtype)];
    if (t->ndim != x->rank)
        return nd_fail(UF_ERR_ARGUMENT, ND_INITIAL, -1, "its rank is %d, but must be %d, that of the core", t->ndim,
                       x->rank);
    TRY(nd_check(t, ND_INITIAL, type->size, type->align, !lasting));
    for (int i = 0; i < x->rank; i++)
        if (t->shape[i] != x->size[i])
            return nd_fail(UF_ERR_ARGUMENT, ND_INITIAL, i, "has size %lld, but that of the core has %lld",
                           (long long)t->shape[i], (long long)x->size[i]);
    return UF_OK;
}

/* The value that a fold begins with, an array of the core's shape: a number for each scalar. */
static uf_status initial_expand(expansion *e, core *x, int64_t count, const plan_request *r) {
    const DLTensor *t = r->initial;
    if (!t)
        return UF_OK;
    if (dtype_of_dl(t->dtype) == DT_NONE)
        return nd_fail(UF_ERR_ARGUMENT, ND_INITIAL, -1, "its dtype is none of the fifteen");
    TRY(initial_shape_check(x, t, r->how & (ARGS_LASTING | ARGS_NO_DATA)));
    const int64_t *strides = strides_of(t, e->words);
    e->words += t->ndim;
    x->initial = strides;
    for (int64_t i = 0; i < count; i++) {
        e->initial_of[e->ninitial] = 0;
        e->initial_offset[e->ninitial] = core_offset(x, strides, i) * dtypes[dtype_of_dl(t->dtype)].size;
        e->initial[e->ninitial] = scalar_of(t, e->initial_offset[e->ninitial], 0, NULL);
        e->ninitial++;
    }
    e->request.initial = e->initial;
    return UF_OK;
}

/* Makes the request of a form, which takes so many scalars of each core. */
static uf_status expand(expansion *e, const plan_request *r, core *x, int64_t count, const uf_func *form) {
    size_t need = 0;
    e->n = e->ninitial = 0;
    e->nin = 1;
    for (int k = 0; k < r->nargs; k++)
        need += (size_t)(r->how & ARGS_NO_OUTPUTS && k ? 0 : r->args[k].ndim);
    need += (size_t)x->rank;
    e->words = e->few;
    if (need > COUNT(e->few)) {
        e->words = e->block = mem_alloc(need * sizeof *e->words);
        if (!e->block)
            return fail_memory();
    }
    for (int k = 0; k < r->nargs; k++)
        array_expand(e, x, count, &r->args[k], k, r->how & ARGS_NO_OUTPUTS && k);
    e->options = *r->options;
    e->request = *r;
    e->request.expanded = e;
    e->request.func = form;
    e->request.core = x;
    e->request.args = e->args;
    e->request.nargs = e->n;
    e->request.options = &e->options;
    if (e->options.signature)
        e->options.signature = form->signatures_text;
    return initial_expand(e, x, count, r);
}

/* ---- Doing something with the form in place of the function ---- */

/* Writes the output that was inferred to the caller's: behind the loop dimensions, whose extents are there, come those of the core. */
static uf_status output_return(const expansion *e, const plan_request *r, const core *x) {
    DLTensor *to = (DLTensor *)(uintptr_t)&r->args[1];
    int loops = e->args[e->n - 1].ndim;
    if (!(r->how & ARGS_NO_OUTPUTS))
        return UF_OK;
    memcpy(to->shape + loops, x->size, (size_t)x->rank * sizeof *x->size);
    to->ndim = loops + x->rank;
    to->dtype = e->args[e->n - 1].dtype;
    return UF_OK;
}

/* Does something with a form in place of the function. verb: that of the request. */
static __attribute__((noinline)) uf_status form_do(const plan_request *r, core *x, core_purpose purpose,
                                                   const plan_verb *verb,
                                                   uf_status (*run)(const plan_request *r, void *user), void *user) {
    expansion e; /* not worth clearing */
    const uf_func *form;
    TRY(core_form_find(r->func, x, purpose, &form));
    e.block = NULL;
    uf_status s = expand(&e, r, x, purpose == CORE_COMBINES ? x->count : 1, form);
    if (!s) {
        e.request.verb = verb;
        e.request.how |= (x->rank ? ARGS_ARRAYS : 0) | (x->count ? 0 : ARGS_EMPTY);
        s = expansion_run(&e, run, user);
    }
    if (!s)
        s = output_return(&e, r, x);
    expansion_end(&e);
    return s;
}

uf_status cores_do(const plan_request *r, uf_status (*run)(const plan_request *r, void *user), void *user) {
    core x = {0};
    TRY(core_read(r, &x));
    if (x.count > 0 && x.count <= UF_MAX_STATE)
        return form_do(r, &x, CORE_COMBINES, r->verb, run, user);
    if (r->how & ARGS_NO_OUTPUTS)
        return form_do(r, &x, CORE_LOOPS, r->verb, run, user);
    if (r->verb != &reduce_verb)
        return fail_argument(UF_ERR_SHAPE, 0, -1,
                             "has cores of %lld scalars, but %s takes 1 to %d; uf_reduce any number",
                             (long long)x.count, r->name, UF_MAX_STATE);
    return form_do(r, &x, CORE_LOOPS, &chain_verb, run, user);
}
