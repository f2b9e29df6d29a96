/* form.c - makes the forms of a function: for each signature that names records a function of its own, whose operands are the
 * leaves of the records. Below that there are no records. A form is checked as any function is, and kept by the function that it is
 * a form of. record.c chooses the form of a call. */
#include <stdio.h>

#include "core/core.h"

/* ---- Where the names of records are looked up ---- */

record_texts reduction_texts(const reduction *r) {
    const syntax *const all[] = {r->combine.syntax, r->map.syntax, r->finish.syntax};
    record_texts t = {0};
    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i])
            t.of[t.n++] = all[i];
    return t;
}

record_texts texts_of(const uf_func *f) {
    return f->reduction ? reduction_texts(f->reduction) : (record_texts){1, {f->sections[0].syntax}};
}

uf_status texts_record(arena *a, const record_texts *t, const char *name, size_t length, const record **out) {
    uf_status status = lang_record(a, t->of[0], name, length, out);
    const uf_error first = *error_slot();
    for (int i = 1; i < t->n && status && status != UF_ERR_MEMORY; i++) {
        uf_status other = lang_record(a, t->of[i], name, length, out);
        if (!other || other == UF_ERR_MEMORY)
            return other;
        *error_slot() = first;
    }
    return status;
}

typedef struct finder {
    arena *arena;
    const record_texts *texts;
} finder;

static uf_status record_find(void *user, const char *name, size_t length, const record **out) {
    const finder *x = user;
    return texts_record(x->arena, x->texts, name, length, out);
}

/* ---- Leaves ---- */

static int leaves_of(const record *r) { return r ? r->nleaves : 1; }

int leaves_write(const record *const *records, const dtype *types, int n, dtype *out) {
    int count = 0;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < leaves_of(records ? records[k] : NULL); i++) {
            if (count == UF_MAX_OPERANDS)
                return UF_MAX_OPERANDS + 1;
            out[count++] = records && records[k] ? records[k]->leaves[i].type : types[k];
        }
    return count;
}

/* ---- Making a form ---- */

static void *copied(arena *a, const void *from, size_t size) {
    void *to = arena_alloc(a, size);
    return to ? memcpy(to, from, size) : NULL;
}

uf_func *hidden_new(const uf_func *f) {
    uf_func *h = mem_zero(1, sizeof *h);
    if (!h)
        return NULL;
    h->number = func_number();
    h->owner = f;
    h->name = f->name;
    h->doc = f->doc;
    h->signatures_text = "";
    h->fast = f->fast;
    h->flags = f->flags;
    h->max_registers = f->max_registers;
    h->max_steps = f->max_steps;
    h->max_extent = f->max_extent;
    h->order = f->order;
    return h;
}

/* Spells the only signature of a hidden function. */
static uf_status signature_set(uf_func *h) {
    text t = {0};
    signature_list_print(&t, &h->signatures, 0);
    h->signatures_text = t.failed ? NULL : arena_text(&h->arena, t.data, t.length);
    text_free(&t);
    return h->signatures_text ? UF_OK : fail_memory();
}

uf_status hidden_sign(uf_func *h, const dtype *types, int n) {
    h->nout = n - h->nin;
    h->signatures = (signature_list){.count = 1, .nin = h->nin, .nout = h->nout};
    h->signatures.types = copied(&h->arena, types, (size_t)n * sizeof *types);
    h->section_of = arena_alloc(&h->arena, sizeof *h->section_of);
    return h->signatures.types && h->section_of ? signature_set(h) : UF_ERR_MEMORY;
}

/* Sets the operands of a hidden function: the leaves of these inputs and outputs. */
static uf_status operands_set(uf_func *h, const record_form *x, const record *const *records, const dtype *types,
                              int nin, int nout) {
    dtype leaves[UF_MAX_OPERANDS + 1];
    h->nin = leaves_write(records, types, nin, leaves);
    int n = leaves_write(records, types, nin + nout, leaves);
    if (n > UF_MAX_OPERANDS)
        return fail(
            UF_ERR_TYPE,
            "%s: the operands of %s have more than %d scalars together, a complex number in a record counted as two",
            h->name, x->signature, UF_MAX_OPERANDS);
    return hidden_sign(h, leaves, n);
}

static uf_status layout_set(uf_func *h, const section *from, const record_form *x, section *s) {
    int leaves[UF_MAX_OPERANDS];
    uint8_t ranks[UF_MAX_OPERANDS];
    if (!from->layout)
        return UF_OK;
    core_layout *l = arena_alloc(&h->arena, sizeof *l);
    if (!l)
        return UF_ERR_MEMORY;
    s->layout = l;
    for (int k = 0; k < x->nin + x->nout; k++)
        leaves[k] = leaves_of(x->records[k]);
    if (!x->ranks) {
        h->layout = l;
        h->layout_text = s->layout_text;
        return layout_expand(&h->arena, from->layout, leaves, l);
    }
    int n = 0;
    for (int k = 0; k < x->nin; k++)
        for (int i = 0; i < leaves[k]; i++)
            ranks[n++] = x->ranks[k];
    h->signatures.ranks = copied(&h->arena, ranks, (size_t)n);
    h->signatures.indices = copied(&h->arena, &(uint8_t){(uint8_t)x->nindices}, 1);
    if (!h->signatures.ranks || !h->signatures.indices)
        return UF_ERR_MEMORY;
    TRY(signature_set(h));
    return parameters_layout(&h->arena, ranks, n, x->nindices, l);
}

/* Says which parameters and outputs of the text are records: the indices stand between them. */
static uf_status records_set(uf_func *h, const record_form *x, section *s) {
    const record **of = arena_alloc(&h->arena, (size_t)(x->nin + x->nindices + x->nout + 1) * sizeof *of);
    if (!of)
        return UF_ERR_MEMORY;
    memcpy(of, x->records, (size_t)x->nin * sizeof *of);
    memcpy(of + x->nin + x->nindices, x->records + x->nin, (size_t)x->nout * sizeof *of);
    s->records = of;
    return UF_OK;
}

/* Makes the function over leaves of a section of f: an elementwise one, a generalized ufunc or a kernel over indices. */
static uf_status kernel_form(uf_func *h, const uf_func *f, const record_form *x) {
    section *s = arena_alloc(&h->arena, sizeof *s);
    if (!s)
        return UF_ERR_MEMORY;
    h->sections = s;
    h->nsections = 1;
    TRY(operands_set(h, x, x->records, x->types, x->nin, x->nout));
    *s = f->sections[x->section];
    TRY(layout_set(h, &f->sections[x->section], x, s));
    TRY(records_set(h, x, s));
    return section_check(h, s, &h->signatures);
}

/* Can reductions combine by the form: is it f(r, r) -> r for one record? */
static bool combines(const uf_func *f, const record_form *x) {
    return !f->layout && !x->ranks && x->nin == 2 && x->nout == 1 && x->records[0] &&
           x->records[0]->nleaves <= UF_MAX_STATE && record_same(x->records[0], x->records[1]) &&
           record_same(x->records[0], x->records[2]);
}

/* ---- Keys ---- */

/* Adds to a section's key what its operands are, which the dtypes of leaves do not tell. */
static uf_status section_key(uf_func *h, const record_form *x, const section *from, section *to) {
    text t = {0};
    if (!from->key)
        return UF_OK;
    text_puts(&t, from->key);
    text_puts(&t, "\002");
    text_puts(&t, x->signature);
    text_puts(&t, x->state_text);
    to->key = t.failed ? NULL : arena_text(&h->arena, t.data, t.length);
    text_free(&t);
    return to->key ? UF_OK : fail_memory();
}

static uf_status hidden_keys(uf_func *h, const uf_func *f, const record_form *x) {
    TRY(section_key(h, x, &f->identity, &h->identity));
    if (!h->reduction)
        return section_key(h, x, &f->sections[x->section], &h->sections[0]);
    reduction *to = (reduction *)(uintptr_t)h->reduction;
    const reduction *from = f->reduction;
    if (!from)
        return section_key(h, x, &f->sections[x->section], &to->combine);
    TRY(section_key(h, x, &from->map, &to->map));
    TRY(section_key(h, x, &from->combine, &to->combine));
    return section_key(h, x, &from->finish, &to->finish);
}

uf_status form_keys(const uf_func *f, record_form *x) {
    TRY(hidden_keys(x->func, f, x));
    return x->fold && x->fold != x->func ? hidden_keys(x->fold, f, x) : UF_OK;
}

/* ---- The two kinds of forms ---- */

static void hidden_free(uf_func *h) {
    if (h)
        func_destroy(h);
}

void forms_free(record_form *list) {
    for (record_form *next; list; list = next) {
        next = list->next;
        arena names = list->names;
        if (list->fold != list->func)
            hidden_free(list->fold);
        hidden_free(list->func);
        arena_free(&names);
    }
}

/* Begins the form of row s of a list: the form lives in the arena of its function. */
static uf_status form_begin(const uf_func *f, const signature_list *list, int s, record_form **out) {
    size_t n = (size_t)(list->nin + list->nout), first = (size_t)s * n;
    uf_func *h = hidden_new(f);
    record_form *x = h ? arena_alloc(&h->arena, sizeof *x) : NULL;
    text t = {0};
    signature_list_print(&t, list, s);
    if (x && !t.failed) {
        *x = (record_form){.func = h, .nin = list->nin, .nout = list->nout, .state_text = ""};
        x->signature = arena_text(&h->arena, t.data, t.length);
        x->records = list->records ? copied(&h->arena, list->records + first, n * sizeof *x->records)
                                   : arena_alloc(&h->arena, n * sizeof *x->records);
        x->types = copied(&h->arena, list->types + first, n * sizeof *x->types);
        x->ranks = list->ranks ? copied(&h->arena, list->ranks + first, n) : NULL;
    }
    text_free(&t);
    bool made = x && x->signature && x->records && x->types && (x->ranks || !list->ranks);
    if (!made)
        hidden_free(h);
    *out = made ? x : NULL;
    return made ? UF_OK : fail_memory();
}

uf_status kernel_form_make(const uf_func *f, int section_index, const signature_list *list, int s, record_form **out) {
    record_form *x;
    TRY(form_begin(f, list, s, &x));
    x->section = section_index;
    x->nindices = x->ranks ? f->sections[section_index].layout->nindices : 0;
    uf_status status = kernel_form(x->func, f, x);
    if (status)
        forms_free(x);
    *out = status ? NULL : x;
    return status;
}

uf_status form_fold(const uf_func *f, record_form *x, definition_place *place) {
    if (!combines(f, x))
        return UF_OK;
    x->fold = hidden_new(f);
    if (!x->fold)
        return fail_memory();
    TRY(operands_set(x->fold, x, x->records, x->types, 1, 1));
    return combine_form(x->fold, f, x, place);
}

uf_status reduction_form_make(const uf_func *f, const signature_list *list, int s, const signature_list *states,
                              int state, definition_place *place, record_form **out) {
    record_form *x;
    text t = {0};
    TRY(form_begin(f, list, s, &x));
    signature_list_print(&t, states, state);
    x->fold = x->func;
    x->state_text = t.failed ? NULL : arena_text(&x->func->arena, t.data, t.length);
    text_free(&t);
    uf_status status = x->state_text ? operands_set(x->func, x, x->records, x->types, x->nin, x->nout) : fail_memory();
    if (!status)
        status = reduction_form(x->func, f, x, states, state, place);
    if (status)
        forms_free(x);
    *out = status ? NULL : x;
    return status;
}

void form_append(uf_func *f, record_form *x) {
    record_form *last = atomic_load(&f->forms);
    while (last && last->next)
        last = last->next;
    if (last)
        last->next = x;
    else
        atomic_store(&f->forms, x);
}

/* ---- Forms made when they are asked for, of functions of any types ---- */

static record_form *form_known(const uf_func *f, const char *signature) {
    record_form *x = atomic_load(&((uf_func *)(uintptr_t)f)->forms);
    while (x && strcmp(x->signature, signature) != 0)
        x = x->next;
    return x;
}

typedef struct asking {
    const uf_func *func;
    const char *signature;
    record_form *made;
} asking;

/* Makes the form of a signature, if that names records. Runs on a big stack. */
static uf_status form_make(void *user) {
    asking *x = user;
    const uf_func *f = x->func;
    arena scratch = {0};
    const record_texts texts = texts_of(f);
    finder own = {&scratch, &texts};
    signature_list list;
    definition_place place = {IN_SOURCE, 0};
    uf_status s = signatures_parse(&scratch, x->signature, &(record_lookup){record_find, &own}, &list);
    if (!s && list.count == 1 && list.nin == f->nin && list.nout == f->nout && signature_has_records(&list, 0)) {
        s = kernel_form_make(f, 0, &list, 0, &x->made);
        if (!s)
            s = form_fold(f, x->made, &place);
        if (!s)
            s = form_keys(f, x->made);
        if (s && x->made)
            forms_free(x->made);
        if (!s) {
            /* The records must live as long as the form. */
            x->made->names = scratch;
            return UF_OK;
        }
    }
    arena_free(&scratch);
    return s;
}

uf_status form_ask(const uf_func *f, const char *signature, record_form **out) {
    asking x = {f, signature, NULL};
    *out = form_known(f, signature);
    if (*out || !f->any_types || f->reduction)
        return UF_OK;
    TRY(fail_named(on_big_stack(form_make, &x), "signature of the options"));
    if (!x.made)
        return UF_OK;
    record_form *head = atomic_load(&((uf_func *)(uintptr_t)f)->forms);
    do {
        *out = form_known(f, x.made->signature);
        if (*out) {
            forms_free(x.made);
            return UF_OK;
        }
        x.made->next = head;
    } while (!atomic_compare_exchange_weak(&((uf_func *)(uintptr_t)f)->forms, &head, x.made));
    *out = x.made;
    return UF_OK;
}

/* ---- Reading signatures ---- */

uf_status lists_read(uf_func *f, const record_texts *t, const char *source, signature_reader *read,
                     signature_list *out) {
    finder own = {&f->arena, t};
    return read(&f->arena, source, &(record_lookup){record_find, &own}, out);
}

uf_status states_read(uf_func *f, const record_texts *t, const char *source, int width, signature_list *out) {
    finder own = {&f->arena, t};
    return type_lists_parse(&f->arena, source, &(record_lookup){record_find, &own}, width, out);
}
