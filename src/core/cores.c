/* cores.c - reductions over core dimensions: uf_reduce, uf_accumulate and uf_reduceat with a generalized ufunc, whose elements are
 * vectors or matrices. A core of few scalars is a state of as many values: for the sizes of its dimensions the function gets a form, a
 * reduction over scalars that combines by the kernel's own text, and each array is taken apart into one for each scalar, as arrays of
 * records are. So these reductions have all that reductions have. */
#include <stdio.h>

#include "core/record.h"

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

/* A core: what a call combines. */
typedef struct core {
    int rank;
    int64_t size[LAYOUT_MAX_RANK];
    int64_t count; /* of its scalars */
    int section;
    dtype type;
} core;

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
        x->count *= x->size[i]; /* at most the elements of the array, which nd_check has counted, unless it has none */
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
    out->section = b->section;
    return UF_OK;
}

/* ---- The texts of a form ---- */

/* Writes into `out` a beginning of names that none of these texts has (a text may be NULL). */
static void prefix_choose(const char *a, const char *b, char *out, size_t size) {
    snprintf(out, size, "core_");
    while ((strstr(a, out) || (b && strstr(b, out))) && strlen(out) + 1 < size)
        strcat(out, "_");
}

static void newlines_add(text *t, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (from[i] == '\n')
            text_puts(t, "\n");
}

/* Writes the parameters of the kernel as arrays: "a[m][n], b[n][p], c[m][p]". */
static void arrays_print(text *t, const uf_func *f, const section *s, const char *prefix) {
    const core_layout *l = f->layout;
    for (int k = 0; k < 3; k++) {
        const layout_operand *o = &l->operands[k];
        int length;
        const char *name = lang_operand_name(s->syntax, k, &length);
        text_printf(t, "%s%.*s", k ? ", " : "", length, name);
        for (int i = 0; i < o->rank; i++)
            if (l->dims[o->dim[i]].name)
                text_printf(t, "[%s]", l->dims[o->dim[i]].name);
            else
                text_printf(t, "[%ssize%d]", prefix, o->dim[i]);
    }
}

/* Writes a text whose kernel is a helper: what stands before it, this head, and its body on the lines where it was. */
static void helper_print(text *t, const section *s, const char *head) {
    const kernel_text at = lang_kernel_text(s->syntax);
    text_add(t, s->source, at.head);
    text_puts(t, head);
    newlines_add(t, s->source + at.head, at.body - at.head);
    text_puts(t, s->source + at.body);
    text_puts(t, "\n");
}

/* Writes prefix, letter and number of each scalar: "core_a0, core_a1". */
static void scalars_print(text *t, const char *prefix, char letter, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        text_printf(t, "%s%s%c%lld", i ? ", " : "", prefix, letter, (long long)i);
}

/* Writes what stands behind the name of an array for its scalar `at`: "[1][2]"; or as arguments, "(int64)1, (int64)2". */
static void index_print(text *t, const core *x, int64_t at, bool arguments) {
    int64_t index[LAYOUT_MAX_RANK];
    for (int i = x->rank - 1; i >= 0; i--) {
        index[i] = at % x->size[i];
        at /= x->size[i];
    }
    for (int i = 0; i < x->rank; i++)
        if (arguments)
            text_printf(t, "%s(int64)%lld", i ? ", " : "", (long long)index[i]);
        else
            text_printf(t, "[%lld]", (long long)index[i]);
}

static void array_declare(text *t, const core *x, const char *prefix, char letter, bool initialised) {
    text_printf(t, "    %s %s%c", dtypes[x->type].name, prefix, letter);
    for (int i = 0; i < x->rank; i++)
        text_printf(t, "[%lld]", (long long)x->size[i]);
    if (initialised) {
        text_puts(t, " = {");
        scalars_print(t, prefix, letter, x->count);
        text_puts(t, "}");
    }
    text_puts(t, ";\n");
}

/* Writes the combination of two cores, each given by its scalars. */
static void combine_print(text *t, const uf_func *f, const core *x, const char *prefix) {
    const section *s = &f->sections[x->section];
    text head = {0};
    text_printf(&head, "%scombine(", prefix);
    arrays_print(&head, f, s, prefix);
    text_puts(&head, ") ");
    t->failed |= head.failed;
    helper_print(t, s, head.failed ? "" : head.data);
    text_free(&head);
    text_puts(t, "(");
    scalars_print(t, prefix, 'a', x->count);
    text_puts(t, ", ");
    scalars_print(t, prefix, 'b', x->count);
    text_puts(t, ") -> (");
    scalars_print(t, prefix, 'c', x->count);
    text_puts(t, ") {\n");
    for (char letter = 'a'; letter <= 'c'; letter++)
        array_declare(t, x, prefix, letter, letter < 'c');
    text_printf(t, "    %scombine(%sa, %sb, %sc);\n", prefix, prefix, prefix, prefix);
    for (int64_t i = 0; i < x->count; i++) {
        text_printf(t, "    %sc%lld = %sc", prefix, (long long)i, prefix);
        index_print(t, x, i, false);
        text_puts(t, ";\n");
    }
    text_puts(t, "}\n");
}

/* Writes the identity, a value for each scalar. */
static void identity_print(text *t, const uf_func *f, const core *x, const char *prefix) {
    const section *s = &f->identity;
    const kernel_text at = lang_kernel_text(s->syntax);
    bool indexed = lang_indices(s->syntax) > 0;
    if (indexed) {
        text head = {0};
        text_printf(&head, "%sidentity(", prefix);
        for (int i = 0; i < x->rank; i++) {
            int length;
            const char *name = lang_operand_name(s->syntax, i, &length);
            text_printf(&head, "%s%.*s", i ? ", " : "", length, name);
        }
        text_puts(&head, ") ");
        t->failed |= head.failed;
        helper_print(t, s, head.failed ? "" : head.data);
        text_free(&head);
    } else
        text_add(t, s->source, at.head);
    text_puts(t, "() -> (");
    scalars_print(t, prefix, 'c', x->count);
    text_puts(t, ") {\n");
    for (int64_t i = 0; i < x->count; i++) {
        text_printf(t, "    %sc%lld = ", prefix, (long long)i);
        if (indexed) {
            text_printf(t, "%sidentity(", prefix);
            index_print(t, x, i, true);
        } else
            text_printf(t, "(%s\n", s->source + at.head);
        text_puts(t, ");\n");
    }
    text_puts(t, "}\n");
}

/* ---- Forms ---- */

static bool form_is(const core_form *x, const core *c) {
    return x->type == c->type && x->section == c->section &&
           memcmp(x->size, c->size, (size_t)c->rank * sizeof *c->size) == 0;
}

static core_form *form_known(const uf_func *f, const core *c) {
    core_form *x = atomic_load(&((uf_func *)(uintptr_t)f)->core_forms);
    while (x && !form_is(x, c))
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
    core_form *made;
} making;

/* A text in the arena of a function; frees t. */
static const char *text_keep(uf_func *h, text *t) {
    const char *kept = t->failed ? NULL : arena_text(&h->arena, t->data, t->length);
    text_free(t);
    return kept;
}

static uf_status form_fill(uf_func *h, const uf_func *f, const core *x) {
    dtype types[2 * UF_MAX_STATE];
    char prefix[LAYOUT_MAX_DIMS + 16];
    text combine = {0}, identity = {0};
    h->nin = (int)x->count;
    for (int64_t i = 0; i < 2 * x->count; i++)
        types[i] = x->type;
    TRY(hidden_sign(h, types, (int)(2 * x->count)));
    prefix_choose(f->sections[x->section].source, f->identity.source, prefix, sizeof prefix);
    combine_print(&combine, f, x, prefix);
    const char *combined = text_keep(h, &combine), *begun = NULL;
    if (!combined)
        return fail_memory();
    if (f->identity.syntax) {
        identity_print(&identity, f, x, prefix);
        begun = text_keep(h, &identity);
        if (!begun)
            return fail_memory();
    }
    return values_form(h, f, combined, begun);
}

/* Makes the form for a core. Runs on a big stack. */
static uf_status form_make(void *user) {
    making *m = user;
    uf_func *h = hidden_new(m->func);
    core_form *x = h ? arena_alloc(&h->arena, sizeof *x) : NULL;
    uf_status s = x ? form_fill(h, m->func, m->core) : fail_memory();
    if (s) {
        if (h)
            func_destroy(h);
        return text_named(s, m->func->name, (definition_place){IN_SOURCE, m->core->section});
    }
    *x = (core_form){.func = h, .type = m->core->type, .section = m->core->section};
    memcpy(x->size, m->core->size, sizeof x->size);
    m->made = x;
    return UF_OK;
}

static uf_status form_find(const uf_func *f, const core *c, const core_form **out) {
    making m = {f, c, NULL};
    *out = form_known(f, c);
    if (*out)
        return UF_OK;
    TRY(on_big_stack(form_make, &m));
    core_form *head = atomic_load(&((uf_func *)(uintptr_t)f)->core_forms);
    do {
        *out = form_known(f, c);
        if (*out) {
            core_forms_free(m.made);
            return UF_OK;
        }
        m.made->next = head;
    } while (!atomic_compare_exchange_weak(&((uf_func *)(uintptr_t)f)->core_forms, &head, m.made));
    *out = m.made;
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

/* Bytes from the first scalar of a core to scalar `at`. */
static int64_t scalar_offset(const core *x, const int64_t *strides, int64_t at, int size) {
    int64_t offset = 0;
    for (int i = x->rank - 1; i >= 0; i--) {
        offset += at % x->size[i] * strides[i];
        at /= x->size[i];
    }
    return offset * size;
}

/* The tensor of a scalar: the offset, which may be negative, goes to the address, which is NULL in plans that are given it later. */
static DLTensor scalar_of(const DLTensor *t, int64_t offset, int ndim, const int64_t *strides) {
    DLTensor to = *t;
    to.data = t->data ? (void *)((uintptr_t)t->data + (uintptr_t)offset) : NULL;
    to.ndim = ndim;
    to.strides = ndim ? (int64_t *)(uintptr_t)strides : NULL;
    return to;
}

/* Appends the scalars of argument k: each is an array over the loop dimensions. */
static void array_expand(expansion *e, const core *x, const DLTensor *t, int k, bool unread) {
    const int64_t *strides = unread ? NULL : strides_of(t, e->words);
    int size = dtypes[dtype_of_dl(t->dtype)].size, loops = unread ? 0 : t->ndim - x->rank;
    e->words += unread ? 0 : t->ndim;
    e->align[k] = 1;
    for (int64_t i = 0; i < x->count; i++) {
        e->of[e->n] = (uint8_t)k;
        e->offset[e->n] = unread ? 0 : scalar_offset(x, strides + loops, i, size);
        e->args[e->n] = unread ? *t : scalar_of(t, e->offset[e->n], loops, strides);
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
static uf_status initial_expand(expansion *e, const core *x, const plan_request *r) {
    const DLTensor *t = r->initial;
    if (!t)
        return UF_OK;
    if (dtype_of_dl(t->dtype) == DT_NONE)
        return nd_fail(UF_ERR_ARGUMENT, ND_INITIAL, -1, "its dtype is none of the fifteen");
    TRY(initial_shape_check(x, t, r->how & (ARGS_LASTING | ARGS_NO_DATA)));
    const int64_t *strides = strides_of(t, e->words);
    e->words += t->ndim;
    for (int64_t i = 0; i < x->count; i++) {
        e->initial_of[e->ninitial] = 0;
        e->initial_offset[e->ninitial] = scalar_offset(x, strides, i, dtypes[dtype_of_dl(t->dtype)].size);
        e->initial[e->ninitial] = scalar_of(t, e->initial_offset[e->ninitial], 0, NULL);
        e->ninitial++;
    }
    e->request.initial = e->initial;
    return UF_OK;
}

static uf_status expand(expansion *e, const plan_request *r, const core *x, const core_form *f) {
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
        array_expand(e, x, &r->args[k], k, r->how & ARGS_NO_OUTPUTS && k);
    e->options = *r->options;
    e->request = *r;
    e->request.expanded = e;
    e->request.func = f->func;
    e->request.args = e->args;
    e->request.nargs = e->n;
    e->request.options = &e->options;
    if (e->options.signature)
        e->options.signature = f->func->signatures_text;
    return initial_expand(e, x, r);
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

static __attribute__((noinline)) uf_status form_do(const plan_request *r, const core *x,
                                                   uf_status (*run)(const plan_request *r, void *user), void *user) {
    expansion e; /* not worth clearing */
    const core_form *f;
    TRY(form_find(r->func, x, &f));
    e.block = NULL;
    uf_status s = expand(&e, r, x, f);
    if (!s)
        s = expansion_run(&e, run, user);
    if (!s)
        s = output_return(&e, r, x);
    expansion_end(&e);
    return s;
}

uf_status cores_do(const plan_request *r, uf_status (*run)(const plan_request *r, void *user), void *user) {
    core x = {0};
    TRY(core_read(r, &x));
    if (x.count < 1 || x.count > UF_MAX_STATE)
        return fail_argument(UF_ERR_SHAPE, 0, -1, "has cores of %lld scalars; %s reduces cores of 1 to %d",
                             (long long)x.count, r->name, UF_MAX_STATE);
    return form_do(r, &x, run, user);
}
