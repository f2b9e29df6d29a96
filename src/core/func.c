/* func.c - registers functions: from texts to a uf_func that is checked and never changes. */
#include <stdio.h>
#include <stdlib.h>

#include "core/core.h"

uf_status name_check(const char *name) {
    if (!name)
        return fail(UF_ERR_ARGUMENT, "the name is NULL");
    size_t n = strlen(name);
    if (n < 1 || n > 127)
        return fail(UF_ERR_ARGUMENT, "the name has %zu characters; 1 to 127 are needed", n);
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        if (!letter && !(i > 0 && c >= '0' && c <= '9'))
            return fail(UF_ERR_ARGUMENT, "the name \"%s\" is no identifier: character %zu", name, i + 1);
    }
    return UF_OK;
}

static uf_status sections_check(const uf_definition *d) {
    if (d->nsections < 1)
        return fail(UF_ERR_ARGUMENT, "%s: %d sections; at least one (signatures, source) is needed", d->name,
                    d->nsections);
    if (!d->sections)
        return fail(UF_ERR_ARGUMENT, "%s: sections is NULL", d->name);
    for (int i = 0; i < d->nsections && !d->reduction; i++) {
        if (!d->sections[i].source && d->nsections == 1)
            return fail(UF_ERR_ARGUMENT, "%s: the source is NULL", d->name);
        if (!d->sections[i].source)
            return fail(UF_ERR_ARGUMENT, "%s: the source of section %d is NULL", d->name, i);
        if (!d->sections[i].signatures && d->nsections > 1)
            return fail(UF_ERR_ARGUMENT, "%s: the %s of section %d are NULL, which only a single section may have",
                        d->name, d->flags & UF_KERNEL ? "parameters" : "signatures", i);
    }
    return UF_OK;
}

static uf_status order_check(const char *name, unsigned flags) {
    if (flags & UF_ORDERED && flags & UF_SERIAL)
        return fail(UF_ERR_ARGUMENT, "%s: UF_ORDERED and UF_SERIAL; it combines in one order or the other", name);
    return UF_OK;
}

static uf_status bits_check(const char *name, const char *what, unsigned bits, unsigned known) {
    if (bits & ~known)
        return fail(UF_ERR_ARGUMENT, "%s: %s is 0x%x; bits 0x%x are unknown", name, what, bits, bits & ~known);
    return UF_OK;
}

/* Checks that a reduction has no kernel, layout or identity beside those of its own definition. */
static uf_status reduction_check(const uf_definition *d) {
    const struct uf_reduction_def *r = d->reduction;
    if (!r)
        return UF_OK;
    if (d->nsections != 1 || d->sections[0].source)
        return fail(UF_ERR_ARGUMENT, "%s: a reduction has one section, whose source is NULL", d->name);
    if (d->layout || d->blas)
        return fail(UF_ERR_ARGUMENT, "%s: a reduction has no %s", d->name, d->layout ? "layout" : "BLAS form");
    if (d->identity)
        return fail(UF_ERR_ARGUMENT, "%s: the identity of a reduction is in its uf_reduction_def", d->name);
    if (d->flags & (UF_ORDERED | UF_SERIAL | UF_WIDEN))
        return fail(UF_ERR_ARGUMENT,
                    "%s: flags is 0x%x; of a reduction, the order is in its uf_reduction_def, and its state says in "
                    "what it accumulates",
                    d->name, d->flags);
    if (!r->combine)
        return fail(UF_ERR_ARGUMENT, "%s: combine is NULL", d->name);
    TRY(bits_check(d->name, "flags of the reduction", r->flags, UF_ORDERED | UF_SERIAL));
    return order_check(d->name, r->flags);
}

/* Checks that a kernel over indices has nothing that only other functions have. */
static uf_status kernel_check(const uf_definition *d) {
    if (!(d->flags & UF_KERNEL))
        return UF_OK;
    const char *wrong = d->reduction                          ? "reduction"
                        : d->layout                           ? "layout"
                        : d->blas                             ? "BLAS form"
                        : d->identity                         ? "identity"
                        : d->flags & (UF_ORDERED | UF_SERIAL) ? "order (UF_ORDERED, UF_SERIAL)"
                        : d->flags & UF_WIDEN                 ? "accumulator (UF_WIDEN)"
                                                              : NULL;
    return wrong ? fail(UF_ERR_ARGUMENT, "%s: a kernel over indices (UF_KERNEL) has no %s", d->name, wrong) : UF_OK;
}

static uf_status definition_check(const uf_definition *d, definition_place *place) {
    place->part = IN_NAME;
    TRY(name_check(d->name));
    place->part = IN_OPTIONS;
    TRY(bits_check(d->name, "flags", d->flags,
                   UF_UNCHECKED | UF_DEBUG | UF_LINES | UF_ORDERED | UF_SERIAL | UF_WIDEN | UF_KERNEL));
    TRY(kernel_check(d));
    TRY(sections_check(d));
    TRY(bits_check(d->name, "fast", d->fast, UF_FAST_ALL));
    TRY(order_check(d->name, d->flags));
    if (d->max_registers && (d->max_registers < 16 || d->max_registers > 255))
        return fail(UF_ERR_ARGUMENT, "%s: max_registers is %d; 16 to 255 are possible, 0 leaves it to the compiler",
                    d->name, d->max_registers);
    if (d->max_steps < 0)
        return fail(UF_ERR_ARGUMENT, "%s: max_steps is %lld; it must not be negative, and 0 allows any number", d->name,
                    (long long)d->max_steps);
    if (d->max_extent < 0 || (d->max_extent && !d->layout))
        return fail(UF_ERR_ARGUMENT, "%s: max_extent is %lld; %s", d->name, (long long)d->max_extent,
                    d->max_extent < 0 ? "it must not be negative, and 0 allows any extent"
                                      : "it is of core dimensions, which a function without a layout does not have");
    return reduction_check(d);
}

/* Copies a text into the function's arena. */
static uf_status keep_text(uf_func *f, const char *s, const char **out) {
    *out = arena_text(&f->arena, s, strlen(s));
    return *out ? UF_OK : UF_ERR_MEMORY;
}

/* Writes what errors call a text of a definition: "f", "map of f". */
static void text_name(const char *owner, definition_place place, char *out, size_t size) {
    static const char *const names[] = {
        [IN_LAYOUT] = "layout", [IN_SIGNATURES] = "signatures", [IN_MAP] = "map",          [IN_COMBINE] = "combine",
        [IN_FINISH] = "finish", [IN_STATE] = "state",           [IN_IDENTITY] = "identity"};
    const char *name = (size_t)place.part < COUNT(names) ? names[place.part] : NULL;
    bool of_section = place.part == IN_SIGNATURES || place.part == IN_SOURCE;
    char later[32] = "";
    if (of_section && place.section)
        snprintf(later, sizeof later, ", section %d", place.section);
    snprintf(out, size, "%s%s%s%s", name ? name : "", name ? " of " : "", owner, later);
}

uf_status text_named(uf_status status, const char *owner, definition_place place) {
    char name[192];
    text_name(owner, place, name, sizeof name);
    return fail_named(status, "%s", name);
}

bool text_is_own(const char *owner, definition_place place) {
    char name[192];
    text_name(owner, place, name, sizeof name);
    return strcmp(error_slot()->source, name) == 0;
}

uf_status section_type(const uf_func *f, const section *s, dtype *types, arena *a, tree **out) {
    dtype in[UF_MAX_OPERANDS + LAYOUT_MAX_RANK];
    int nindices = s->layout ? s->layout->nindices : 0;
    memcpy(in, types, (size_t)f->nin * sizeof *in);
    for (int d = 0; d < nindices; d++)
        in[f->nin + d] = DT_INT64;
    uf_status status = lang_check(a, s->syntax, s->layout, s->records, in, f->nin + nindices, types + f->nin, f->nout,
                                  f->flags & UF_UNCHECKED, out);
    return text_named(status, f->name, (definition_place){IN_SOURCE, s->index});
}

/* The trees are thrown away; calls make their own. Of what is built in the tests have checked all signatures. */
uf_status section_check(const uf_func *f, const section *s, const signature_list *list) {
    size_t n = (size_t)(list->nin + list->nout);
    for (int i = 0; i < list->count && !f->built_in; i++) {
        arena scratch = {0};
        dtype types[UF_MAX_OPERANDS];
        tree *t;
        memcpy(types, list->types + (size_t)i * n, n * sizeof *types);
        if (signature_has_patterns(list, i))
            continue; /* the dtypes of each call decide */
        uf_status status = section_type(f, s, types, &scratch, &t);
        arena_free(&scratch);
        TRY(status);
    }
    return UF_OK;
}

static uf_status arity_check(const uf_func *f, int nin, int nout, const char *what, const char *kernel) {
    if (nin == f->nin && nout == f->nout)
        return UF_OK;
    return fail(UF_ERR_TYPE, "%s: %s %d input%s and %d output%s, but %s has %d and %d", f->name, what, nin,
                nin == 1 ? "" : "s", nout, nout == 1 ? "" : "s", kernel, f->nin, f->nout);
}

/* The `n` bytes of `before` and then the `more` bytes of `behind` (NULL: left uninitialised), in the function's
 * arena. NULL: out of memory. */
static void *joined(uf_func *f, const void *before, size_t n, const void *behind, size_t more) {
    char *all = arena_alloc(&f->arena, n + more);
    if (all && n)
        memcpy(all, before, n);
    if (all && more && behind)
        memcpy(all + n, behind, more);
    return all;
}

/* Adds plain signatures that a section serves to those of the function. */
static uf_status signatures_join(uf_func *f, int index, const signature_list *list) {
    const signature_list old = f->signatures;
    size_t n = (size_t)(list->nin + list->nout), before = (size_t)old.count, more = (size_t)list->count,
           size = n * sizeof *list->types;
    int *of = joined(f, f->section_of, before * sizeof *of, NULL, more * sizeof *of);
    f->signatures = (signature_list){.count = (int)(before + more), .nin = list->nin, .nout = list->nout};
    f->signatures.types = joined(f, old.types, before * size, list->types, more * size);
    if (list->ranks) {
        f->signatures.ranks = joined(f, old.ranks, before * n, list->ranks, more * n);
        f->signatures.indices = joined(f, old.indices, before, list->indices, more);
        f->signatures.patterns = joined(f, old.patterns, before * n * sizeof *list->patterns, list->patterns,
                                        more * n * sizeof *list->patterns);
    }
    if (!of || !f->signatures.types ||
        (list->ranks && (!f->signatures.ranks || !f->signatures.indices || !f->signatures.patterns)))
        return UF_ERR_MEMORY;
    for (size_t i = before; i < before + more; i++)
        of[i] = index;
    f->section_of = of;
    return UF_OK;
}

uf_status signature_spell(uf_func *f, const signature_list *list, int s) {
    text_puts(&f->spelled, f->spelled.length ? "; " : "");
    signature_list_print(&f->spelled, list, s);
    return f->spelled.failed ? fail_memory() : UF_OK;
}

/* Leaves the signatures of a list that name no records; returns how many there are. */
static int signatures_plain(signature_list *list) {
    size_t n = (size_t)(list->nin + list->nout);
    int plain = 0;
    for (int s = 0; s < list->count; s++) {
        if (signature_has_records(list, s))
            continue;
        memmove(list->types + (size_t)plain * n, list->types + (size_t)s * n, n * sizeof *list->types);
        if (list->ranks) {
            memmove(list->ranks + (size_t)plain * n, list->ranks + (size_t)s * n, n);
            list->indices[plain] = list->indices[s];
            memmove((type_pattern *)(uintptr_t)list->patterns + (size_t)plain * n, list->patterns + (size_t)s * n,
                    n * sizeof *list->patterns);
        }
        plain++;
    }
    list->records = NULL;
    return list->count = plain;
}

/* Adds the signatures that a section serves: of those that name records a form each. */
static uf_status signatures_add(uf_func *f, int index, signature_list *list) {
    record_form *x;
    for (int s = 0; s < list->count; s++) {
        TRY(signature_spell(f, list, s));
        if (!signature_has_records(list, s))
            continue;
        TRY(kernel_form_make(f, index, list, s, &x));
        form_append(f, x);
    }
    if (!signatures_plain(list))
        return UF_OK;
    TRY(section_check(f, &f->sections[index], list));
    return signatures_join(f, index, list);
}

static uf_status source_add(uf_func *f, section *s, const char *source) {
    TRY(keep_text(f, source, &s->source));
    return lang_parse(&f->arena, s->source, &f->scope.names, &s->syntax);
}

static uf_status section_add(uf_func *f, int index, const uf_section *from, definition_place *place) {
    section *s = &f->sections[index];
    *place = (definition_place){IN_SOURCE, index};
    TRY(source_add(f, s, from->source));
    s->index = index;
    s->layout = f->layout;
    s->layout_text = f->layout ? f->layout_text : "";
    int nin = lang_inputs(s->syntax), nout = lang_outputs(s->syntax);
    if (lang_indices(s->syntax))
        return lang_fail(s->syntax, UF_ERR_SYNTAX,
                         "only kernels over indices (uf_kernel) and the map of a reduction have indices, [k](x) ..");
    if (f->layout_text) {
        TRY(arity_check(f, nin, nout, "the kernel has", "the layout"));
    } else if (index == 0) {
        f->nin = nin;
        f->nout = nout;
    }
    TRY(arity_check(f, nin, nout, "the kernel of a later section has", "that of the first"));
    if (!from->signatures) {
        f->any_types = true;
        return UF_OK;
    }
    signature_list list;
    place->part = IN_SIGNATURES;
    TRY(lists_read(f, &(record_texts){1, {s->syntax}}, from->signatures, signatures_parse, &list));
    TRY(arity_check(f, list.nin, list.nout, "the signatures have", "the kernel"));
    place->part = IN_SOURCE;
    return signatures_add(f, index, &list);
}

/* ---- Kernels over indices ---- */

static uf_status parameters_check(const uf_func *f, const char *what, int got, const char *of, int needed) {
    if (got == needed)
        return UF_OK;
    return fail(UF_ERR_TYPE, "%s: %s %d parameter%s, but %s has %d", f->name, what, got, got == 1 ? "" : "s", of,
                needed);
}

/* Checks that the parameter lists of one section differ in dtypes alone, as ranks decide what the kernel means. */
static uf_status ranks_check(const uf_func *f, const signature_list *list) {
    size_t n = (size_t)list->nin;
    for (int i = 1; i < list->count; i++) {
        text first = {0}, other = {0};
        if (memcmp(list->ranks, list->ranks + (size_t)i * n, n) == 0)
            continue;
        signature_list_print(&first, list, 0);
        signature_list_print(&other, list, i);
        uf_status s =
            first.failed || other.failed
                ? fail_memory()
                : fail(UF_ERR_TYPE, "%s: the lists \"%s\" and \"%s\" have other ranks, which takes a section for each",
                       f->name, first.data, other.data);
        text_free(&first);
        text_free(&other);
        return s;
    }
    return UF_OK;
}

/* Adds the layout that stands for the parameters' ranks and for the indices, and its text for keys. */
static uf_status space_add(uf_func *f, section *s, const uint8_t *ranks, int nindices) {
    core_layout *l = arena_alloc(&f->arena, sizeof *l);
    char *ranks_text = arena_alloc(&f->arena, (size_t)f->nin + 1);
    if (!l || !ranks_text)
        return UF_ERR_MEMORY;
    TRY(parameters_layout(&f->arena, ranks, f->nin, nindices, l));
    for (int k = 0; k < f->nin; k++)
        ranks_text[k] = (char)('0' + ranks[k]);
    s->layout = l;
    s->layout_text = ranks_text;
    return UF_OK;
}

/* Reads the parameter lists of a section; NULL: any dtypes. */
static uf_status parameters_read(uf_func *f, const section *s, const char *parameters, definition_place *place,
                                 signature_list *out) {
    const record_texts texts = {1, {s->syntax}};
    if (parameters) {
        place->part = IN_SIGNATURES;
        return lists_read(f, &texts, parameters, parameters_parse, out);
    }
    text any = {0};
    uf_status status = lang_parameters(s->syntax, &any);
    if (!status)
        status = lists_read(f, &texts, any.data, parameters_parse, out);
    text_free(&any);
    return status;
}

static uf_status space_section_add(uf_func *f, int index, const uf_section *from, definition_place *place) {
    section *s = &f->sections[index];
    signature_list list;
    *place = (definition_place){IN_SOURCE, index};
    TRY(source_add(f, s, from->source));
    int nindices = lang_indices(s->syntax), nparams = lang_inputs(s->syntax);
    if (!nindices)
        return lang_fail(s->syntax, UF_ERR_SYNTAX, "a kernel over indices names them before its parameters: [i](x) ..");
    s->index = index;
    if (index == 0)
        f->nin = nparams;
    TRY(parameters_check(f, "the kernel of a later section has", nparams, "that of the first", f->nin));
    TRY(parameters_read(f, s, from->signatures, place, &list));
    TRY(parameters_check(f, "the parameter lists have", list.nin, "the kernel", f->nin));
    TRY(ranks_check(f, &list));
    TRY(space_add(f, s, list.ranks, nindices));
    list.indices = arena_alloc(&f->arena, (size_t)list.count);
    if (!list.indices)
        return UF_ERR_MEMORY;
    memset(list.indices, nindices, (size_t)list.count);
    place->part = IN_SOURCE;
    return signatures_add(f, index, &list);
}

/* ---- What the sections have in common ---- */

/* The same of signatures that name records, which forms serve. */
static uf_status forms_check(const uf_func *f, definition_place *place) {
    for (const record_form *x = atomic_load(&((uf_func *)(uintptr_t)f)->forms); x; x = x->next)
        for (const record_form *y = x->next; y; y = y->next) {
            if (x->nindices != y->nindices || strcmp(x->signature, y->signature) != 0)
                continue;
            *place = (definition_place){IN_SIGNATURES, y->section};
            return fail(UF_ERR_SYNTAX, "%s: sections %d and %d both have the %s %s", f->name, x->section, y->section,
                        x->ranks ? "parameter list" : "signature", x->signature);
        }
    return UF_OK;
}

/* Checks that no two sections have the same signature. Within one section the parser has checked that. Kernels over
 * different numbers of indices may have the same parameters. */
static uf_status duplicates_check(const uf_func *f, definition_place *place) {
    const signature_list *list = &f->signatures;
    map seen = {0}; /* spelling -> section, counted from 1 */
    uf_status s = UF_OK;
    for (int i = 0; i < list->count && f->nsections > 1 && !s; i++) {
        char spelled[1 + ENTRY_TEXT];
        spelled[0] = (char)(list->ranks ? list->indices[i] : 0);
        signature_list_format(spelled + 1, list, i);
        size_t size = 1 + strlen(spelled + 1);
        intptr_t own = f->section_of[i] + 1, earlier = (intptr_t)map_get(&seen, spelled, size);
        *place = (definition_place){IN_SIGNATURES, f->section_of[i]};
        if (earlier)
            s = fail(UF_ERR_SYNTAX, "%s: sections %d and %d both have the %s %s", f->name, (int)earlier - 1,
                     (int)own - 1, list->ranks ? "parameter list" : "signature", spelled + 1);
        else if (!map_put(&seen, spelled, size, (void *)own))
            s = fail_memory();
    }
    map_free(&seen);
    return s ? s : forms_check(f, place);
}

static uf_status signatures_spell(uf_func *f) {
    if (f->any_types)
        return UF_OK;
    TRY(keep_text(f, f->spelled.data, &f->signatures_text));
    text_free(&f->spelled);
    return UF_OK;
}

/* Adds the layout, which the kernels are checked against, and its BLAS form. A function whose layout has no core
 * dimension at all is elementwise. */
static uf_status layout_add(uf_func *f, const uf_definition *d, definition_place *place) {
    place->part = d->layout ? IN_LAYOUT : IN_BLAS;
    if (!d->layout)
        return blas_read(f->name, d->blas, NULL, &f->form);
    const char *source;
    core_layout *l = arena_alloc(&f->arena, sizeof *l);
    TRY(l ? keep_text(f, d->layout, &source) : UF_ERR_MEMORY);
    TRY(layout_parse(&f->arena, source, l));
    place->part = IN_BLAS;
    TRY(blas_read(f->name, d->blas, l, &f->form));
    text t = {0};
    layout_print(&t, l);
    uf_status s = t.failed ? fail_memory() : keep_text(f, t.data, &f->layout_text);
    text_free(&t);
    TRY(s);
    f->nin = l->nin;
    f->nout = l->nout;
    for (int k = 0; k < l->nin + l->nout; k++)
        if (l->operands[k].rank)
            f->layout = l;
    return UF_OK;
}

#define FOLDING_NEEDS                                                                                             \
    "functions of two inputs and one output reduce, elementwise ones and those whose operands can have cores of " \
    "one shape"

/* Adds what the definition says of reducing, which functions of two inputs and one output do. */
static uf_status folding_add(uf_func *f, const uf_definition *d, definition_place *place) {
    bool binary = f->nin == 2 && f->nout == 1, folds = f->layout ? core_folds(f) : binary;
    const struct {
        int part;
        bool given, possible;
        const char *what, *needed;
    } entries[] = {
        {IN_IDENTITY, d->identity, folds, "an identity", FOLDING_NEEDS},
        {IN_ORDER, d->flags & (UF_ORDERED | UF_SERIAL), folds, "an order (UF_ORDERED, UF_SERIAL)", FOLDING_NEEDS},
        {IN_WIDEN, d->flags & UF_WIDEN, binary && !f->layout, "a wide accumulator (UF_WIDEN)",
         "elementwise functions of two inputs and one output have one"}};
    for (size_t i = 0; i < COUNT(entries); i++)
        if (entries[i].given && !entries[i].possible) {
            place->part = entries[i].part;
            return fail(UF_ERR_ARGUMENT, "%s has %s, but only %s", f->name, entries[i].what, entries[i].needed);
        }
    f->order = d->flags & UF_SERIAL ? FOLD_SERIAL : d->flags & UF_ORDERED || f->layout ? FOLD_ORDERED : FOLD_FREE;
    f->widen = d->flags & UF_WIDEN;
    if (!d->identity)
        return UF_OK;
    return (f->layout ? core_identity_add : identity_add)(f, d->identity, place);
}

static uf_status kernels_add(uf_func *f, const uf_definition *d, definition_place *place) {
    f->sections = arena_alloc(&f->arena, (size_t)d->nsections * sizeof *f->sections);
    if (!f->sections)
        return UF_ERR_MEMORY;
    f->nsections = d->nsections;
    TRY(layout_add(f, d, place));
    for (int i = 0; i < d->nsections; i++)
        TRY((d->flags & UF_KERNEL ? space_section_add : section_add)(f, i, &d->sections[i], place));
    TRY(duplicates_check(f, place));
    TRY(folding_add(f, d, place));
    for (record_form *x = atomic_load(&f->forms); x; x = x->next)
        TRY(form_fold(f, x, place));
    return UF_OK;
}

typedef struct registration {
    uf_func *func;
    const uf_definition *definition;
    const text_origin *from;
    definition_place *place;
} registration;

/* ---- What other texts see of a function, and what stands for that in keys ---- */

const char *func_kind(const uf_func *f) {
    return is_kernel(f) ? "kernel over indices" : f->layout ? "generalized ufunc" : "function";
}

static uf_status section_key(uf_func *f, section *s) {
    return s->source ? scope_text_key(&f->scope, &f->arena, s->source, &s->key) : UF_OK;
}

static uf_status keys_add(uf_func *f) {
    digest d;
    TRY(scope_close(&f->scope));
    for (int i = 0; i < f->nsections; i++)
        TRY(section_key(f, &f->sections[i]));
    TRY(section_key(f, &f->identity));
    if (f->reduction)
        TRY(reduction_keys(f));
    for (record_form *x = atomic_load(&f->forms); x; x = x->next)
        TRY(form_keys(f, x));
    digest_begin(&d);
    digest_add_text(&d, f->name);
    digest_add_text(&d, f->signatures_text);
    for (int i = 0; i < f->nsections; i++)
        digest_add_text(&d, f->sections[i].key);
    digest_add_text(&d, f->reduction ? f->reduction->combine.key : NULL);
    digest_end(&d, f->key);
    return UF_OK;
}

/* Adds what texts see: of an elementwise function its kernels, of a reduction how it combines, as a function of two states. */
static uf_status callable_add(uf_func *f) {
    const reduction *r = f->reduction;
    int n = r ? 1 : f->nsections;
    if (is_kernel(f) || f->layout)
        return UF_OK;
    lang_function *c = arena_alloc(&f->arena, sizeof *c);
    const syntax **sections = arena_alloc(&f->arena, (size_t)n * sizeof *sections);
    if (!c || !sections)
        return UF_ERR_MEMORY;
    for (int i = 0; i < n; i++)
        sections[i] = r ? r->combine.syntax : f->sections[i].syntax;
    *c = (lang_function){.name = f->name,
                         .nin = r ? 2 * r->nstate : f->nin,
                         .nout = r ? r->nstate : f->nout,
                         .signatures = r || !f->signatures.count ? NULL : &f->signatures,
                         .section_of = f->section_of,
                         .sections = sections};
    f->callable = c;
    return UF_OK;
}

/* Runs on a big stack, as parsing and checking recurse over the user's text. */
static uf_status register_texts(void *user) {
    const registration *x = user;
    uf_func *f = x->func;
    const uf_definition *d = x->definition;
    TRY(keep_text(f, d->name, &f->name));
    TRY(keep_text(f, d->doc ? d->doc : "", &f->doc));
    TRY(scope_open(&f->scope, f->name, d->nmodules, d->modules, d->nfunctions, d->functions, x->from));
    TRY(d->reduction ? reduction_add(f, d, x->place) : kernels_add(f, d, x->place));
    TRY(signatures_spell(f));
    TRY(keys_add(f));
    return callable_add(f);
}

void func_destroy(uf_func *f) {
    text_free(&f->spelled);
    forms_free(atomic_load(&f->forms));
    core_forms_free(atomic_load(&f->core_forms));
    layouts_free(atomic_load(&f->layouts));
    for (binding *b = atomic_load(&f->bindings), *next; b; b = next) {
        next = b->next;
        binding_free(b);
    }
    scope_free(&f->scope);
    arena_free(&f->arena);
    mem_free(f);
}

/* Who is kept in place of f: a form lives as long as the function that it is of. */
static uf_func *kept(const uf_func *f) { return (uf_func *)(uintptr_t)(f->owner ? f->owner : f); }

void func_keep(const uf_func *f) { atomic_fetch_add(&kept(f)->references, 1); }

void func_drop(const uf_func *f) {
    uf_func *own = kept(f);
    if (atomic_fetch_sub(&own->references, 1) == 1)
        func_destroy(own);
}

/* Reads a caller's definition, and that of its reduction. The lists of modules and functions stand in one of them. */
static uf_status definition_read(const uf_definition *definition, uf_definition *d, uf_reduction_def *r) {
    TRY(struct_read(definition, d, sizeof *d, "uf_definition"));
    if (!d->reduction)
        return UF_OK;
    TRY(struct_read(d->reduction, r, sizeof *r, "uf_reduction_def"));
    d->reduction = r;
    if ((r->nmodules || r->nfunctions) && (d->nmodules || d->nfunctions))
        return fail(UF_ERR_ARGUMENT, "modules or functions are in both the uf_definition and its uf_reduction_def");
    if (r->nmodules || r->nfunctions) {
        d->nmodules = r->nmodules;
        d->modules = r->modules;
        d->nfunctions = r->nfunctions;
        d->functions = r->functions;
    }
    return UF_OK;
}

uint64_t func_number(void) {
    static _Atomic(uint64_t) last;
    return atomic_fetch_add(&last, 1) + 1;
}

uf_status func_define(uf_func **out, const uf_definition *definition, const text_origin *from,
                      definition_place *place) {
    *place = (definition_place){IN_OPTIONS, 0};
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    *out = NULL;
    if (!definition)
        return fail(UF_ERR_ARGUMENT, "the definition is NULL");
    uf_definition d;
    uf_reduction_def def;
    TRY(definition_read(definition, &d, &def));
    TRY(definition_check(&d, place));
    uf_func *f = mem_zero(1, sizeof *f);
    if (!f)
        return fail_memory();
    atomic_init(&f->references, 1);
    f->number = func_number();
    f->fast = d.fast;
    f->flags = d.flags & (UF_UNCHECKED | UF_DEBUG | UF_LINES | UF_KERNEL);
    f->built_in = from && from->built_in;
    f->max_registers = d.max_registers;
    f->max_steps = d.max_steps;
    f->max_extent = d.max_extent;
    uf_status s = on_big_stack(register_texts, &(registration){f, &d, from, place});
    if (s)
        func_destroy(f);
    else
        *out = f;
    return text_named(s, d.name, *place);
}

uf_status uf_define(uf_func **out, const uf_definition *definition) {
    definition_place place;
    return func_define(out, definition, NULL, &place);
}

uf_status uf_vectorize(uf_func **out, const char *name, const char *signatures, const char *source) {
    uf_section only = {.signatures = signatures, .source = source};
    return uf_define(out,
                     &(uf_definition){.size = sizeof(uf_definition), .name = name, .nsections = 1, .sections = &only});
}

uf_status uf_guvectorize(uf_func **out, const char *name, const char *layout, const char *signatures,
                         const char *source) {
    uf_section only = {.signatures = signatures, .source = source};
    if (out && !layout) {
        *out = NULL;
        return fail(UF_ERR_ARGUMENT, "the layout is NULL; uf_vectorize registers elementwise functions");
    }
    return uf_define(
        out, &(uf_definition){
                 .size = sizeof(uf_definition), .name = name, .nsections = 1, .sections = &only, .layout = layout});
}

uf_status uf_reduction(uf_func **out, const char *name, const char *signatures, const uf_reduction_def *def) {
    uf_section only = {.signatures = signatures};
    if (out && !def) {
        *out = NULL;
        return fail(UF_ERR_ARGUMENT, "the uf_reduction_def is NULL");
    }
    return uf_define(
        out, &(uf_definition){
                 .size = sizeof(uf_definition), .name = name, .nsections = 1, .sections = &only, .reduction = def});
}

uf_status uf_kernel(uf_func **out, const char *name, const char *parameters, const char *source) {
    uf_section only = {.signatures = parameters, .source = source};
    return uf_define(
        out, &(uf_definition){
                 .size = sizeof(uf_definition), .name = name, .nsections = 1, .sections = &only, .flags = UF_KERNEL});
}

void uf_free(uf_func *f) {
    if (f)
        func_drop(f);
}

uf_status uf_describe(const uf_func *f, uf_description *out) {
    if (!f || !out)
        return fail(UF_ERR_ARGUMENT, "%s is NULL", f ? "out" : "func");
    static const unsigned orders[] = {[FOLD_FREE] = 0, [FOLD_ORDERED] = UF_ORDERED, [FOLD_SERIAL] = UF_SERIAL};
    const char *identity = f->identity.source;
    const uf_description all = {.name = f->name,
                                .doc = f->doc,
                                .kind = is_kernel(f)     ? "kernel"
                                        : f->reduction   ? "reduction"
                                        : f->layout_text ? "gufunc"
                                                         : "elementwise",
                                .nin = f->nin,
                                .nout = f->nout,
                                .signatures = f->signatures_text,
                                .layout = f->layout_text,
                                .identity = identity ? identity + text_head_read(identity).length : NULL,
                                .order = f->layout && !core_folds(f) ? 0 : orders[f->order],
                                .nstate = fold_states(f)};
    return struct_write(&all, sizeof all, out, "uf_description");
}

const uf_func *func_publish(_Atomic(uf_func *) *made, uf_func *mine) {
    uf_func *first = NULL;
    if (atomic_compare_exchange_strong(made, &first, mine))
        return mine;
    uf_free(mine);
    return first;
}
