/* bind.c - from the dtypes of a call to a signature and a typed tree, once for each combination of dtypes; then to
 * compiled variants. Bindings and variants are lists that readers walk without a lock: entries are added at the head
 * and never change. */
#include "core/core.h"

/* ---- Choosing types ---- */

/* The dtype of a weak number beside arrays whose dtypes promote to `arrays`, for a kernel of any types. It is the
 * one that the number counts as there, if there is one; else that of the arrays if its kind is as high as the
 * number's; else the complex dtype that goes with it. */
static dtype weak_dtype(dtype weak, dtype arrays) {
    dtype counts = number_counts_as(weak, dtypes[arrays].kind);
    if (counts != DT_NONE)
        return counts;
    if (dtypes[weak].kind == DK_BOOL)
        return DT_BOOL;
    return dtypes[weak].kind <= dtypes[arrays].kind ? arrays : dtype_promote(DT_COMPLEX64, arrays);
}

static void any_types(const uf_func *f, const call_args *args, const uf_options *options, dtype *types) {
    dtype arrays = DT_NONE;
    for (int k = 0; k < f->nin; k++) {
        types[k] = (dtype)(args->key.type[k] & ~BINDING_NUMBER);
        if (!args->array[k].number)
            arrays = arrays == DT_NONE ? types[k] : dtype_promote(arrays, types[k]);
    }
    if (arrays != DT_NONE && !(options->flags & UF_STRONG_NUMBERS))
        for (int k = 0; k < f->nin; k++)
            if (args->array[k].number)
                types[k] = weak_dtype(types[k], arrays);
    for (int k = 0; k < f->nout; k++)
        types[f->nin + k] = DT_NONE;
}

uf_status choose_signature(const uf_func *f, const call_args *args, const uf_options *options, bool values,
                           int *chosen) {
    if (f->any_types)
        return fail(UF_ERR_ARGUMENT, "%s was registered for any types; it has no signature to force (\"%s\")", f->name,
                    options->signature);
    dispatch_input inputs[UF_MAX_OPERANDS];
    for (int k = 0; k < f->nin; k++) {
        inputs[k] =
            (dispatch_input){.type = (dtype)(args->key.type[k] & ~BINDING_NUMBER), .is_number = args->array[k].number};
        if (values && inputs[k].is_number && args->array[k].data)
            inputs[k].value = number_read(inputs[k].type, args->array[k].data);
    }
    unsigned flags =
        options->flags | (f->owner ? DISPATCH_BY_KIND : 0); /* record.c chose the form by the kinds of numbers */
    return dispatch(f->name, &f->signatures, inputs, flags, options->casting, options->signature, chosen);
}

uf_status choose_types(const uf_func *f, const call_args *args, const uf_options *options, bool values, dtype *types,
                       int *section_index) {
    *section_index = 0;
    if (f->any_types && !options->signature) {
        any_types(f, args, options, types);
        return UF_OK;
    }
    int chosen, n = f->nin + f->nout;
    TRY(choose_signature(f, args, options, values, &chosen));
    memcpy(types, f->signatures.types + (size_t)chosen * (size_t)n, (size_t)n * sizeof *types);
    *section_index = f->section_of[chosen];
    return UF_OK;
}

typedef struct typing {
    const uf_func *func;
    const section *section;
    dtype *types;
    arena *arena;
    tree **out;
} typing;

static uf_status type_on_big_stack(void *user) {
    const typing *t = user;
    return section_type(t->func, t->section, t->types, t->arena, t->out);
}

uf_status type_kernel(const uf_func *f, int section_index, dtype *types, arena *a, tree **out) {
    return on_big_stack(type_on_big_stack, &(typing){f, &f->sections[section_index], types, a, out});
}

/* ---- Bindings ---- */

static binding *binding_lookup(const uf_func *f, const binding_key *key, size_t size) {
    binding *b = atomic_load_explicit(&((uf_func *)(uintptr_t)f)->bindings, memory_order_acquire);
    while (b && memcmp(&b->key, key, size) != 0)
        b = b->next;
    return b;
}

/* Adds b to the list. If another thread has added a binding of the same key, that one is returned, and b is left
 * out. */
static binding *binding_add(uf_func *f, binding *b, size_t size) {
    binding *head = atomic_load(&f->bindings), *first;
    do {
        first = binding_lookup(f, &b->key, size);
        b->next = head;
    } while (!first && !atomic_compare_exchange_weak(&f->bindings, &head, b));
    return first;
}

void binding_free(binding *b) {
    for (variant_code *c = atomic_load(&b->codes), *next; c; c = next) {
        next = c->next;
        code_drop(c->entry);
        mem_free(c);
    }
    for (binding *x = atomic_load(&b->points), *next; x; x = next) { /* which have none themselves */
        next = x->next;
        binding_free(x);
    }
    extents_free(b);
    arena_free(&b->arena);
    mem_free(b);
}

/* The binding of a key. If there is none, `fill` makes it. */
static uf_status binding_get(const uf_func *f, const binding_key *key, size_t size,
                             uf_status (*fill)(binding *b, void *user), void *user, const binding **out) {
    *out = binding_lookup(f, key, size);
    if (*out)
        return UF_OK;
    binding *b = mem_zero(1, sizeof *b);
    if (!b)
        return fail_memory();
    memcpy(&b->key, key, size);
    uf_status s = fill(b, user);
    binding *first = s ? NULL : binding_add((uf_func *)(uintptr_t)f, b, size);
    if (s || first)
        binding_free(b);
    *out = s ? NULL : first ? first : b;
    return s;
}

/* Is input k a number that does not fit the dtype chosen for it? *n is then its value. */
static bool is_crowded(const call_args *args, const dtype *types, int k, number *n) {
    if (!args->array[k].number || !args->array[k].data)
        return false;
    *n = number_read((dtype)(args->key.type[k] & ~BINDING_NUMBER), args->array[k].data);
    return !number_fits(*n, types[k]);
}

/* Are there such numbers among the inputs? Then *held is the key with the dtypes that hold them. */
static bool key_hold_numbers(const binding_key *key, size_t size, const call_args *args, const dtype *types,
                             binding_key *held) {
    bool any = false;
    number n;
    for (int k = 0; k < args->nin; k++) {
        if (!is_crowded(args, types, k, &n))
            continue;
        if (!any)
            memcpy(held, key, size);
        held->type[k] = (uint8_t)(BINDING_NUMBER | BINDING_HELD | number_holder(n));
        any = true;
    }
    return any;
}

uf_status binding_get_for(const uf_func *f, const call_args *args, const binding_key *key, size_t size,
                          uf_status (*fill)(binding *b, void *user), void *user, bool *values, const binding **out) {
    binding_key held;
    *values = false;
    TRY(binding_get(f, key, size, fill, user, out));
    if (f->any_types || key->forced || !key_hold_numbers(key, size, args, (*out)->types, &held))
        return UF_OK;
    *values = true;
    return binding_get(f, &held, size, fill, user, out);
}

uf_status results_check(const uf_func *f, const call_args *args, const dtype *types, uf_casting casting) {
    for (int k = args->nin; k < args->nargs; k++) {
        dtype to = (dtype)args->key.type[k];
        if (!dtype_can_cast(types[k], to, casting))
            return fail_argument(
                UF_ERR_CAST, k, -1,
                "is %s, but %s gives %s, which does not cast to it under the rule %s; the rule %s allows it",
                dtypes[to].name, f->name, dtypes[types[k]].name, casting_name(casting),
                casting_name(casting_least(types[k], to)));
    }
    return UF_OK;
}

typedef struct call_types {
    const uf_func *func;
    const call_args *args;
    const uf_options *options;
    bool values; /* the values of numbers take part in the choice */
} call_types;

static uf_status binding_fill(binding *b, void *user) {
    const call_types *c = user;
    int section_index;
    TRY(choose_types(c->func, c->args, c->options, c->values, b->types, &section_index));
    b->source = c->func->sections[section_index].key;
    b->layout = c->func->sections[section_index].layout_text;
    TRY(type_kernel(c->func, section_index, b->types, &b->arena, &b->tree));
    TRY(ir_traits(b->tree, &b->traits));
    if (b->tree->layout)
        TRY(sizes_begin(b));
    return results_check(c->func, c->args, b->types, c->options->casting);
}

uf_status binding_find(const uf_func *f, const call_args *args, const uf_options *options, const binding **out) {
    binding_key own;
    const binding_key *key = &args->key;
    size_t size = offsetof(binding_key, type) + (size_t)(f->nin + f->nout);
    call_types c = {f, args, options, false};
    /* The signature is part of the key, so that it is chosen in each call, before the lookup. */
    if (options->signature) {
        int chosen;
        TRY(choose_signature(f, args, options, true, &chosen));
        memcpy(&own, &args->key, size);
        own.forced = chosen + 1;
        key = &own;
    }
    return binding_get_for(f, args, key, size, binding_fill, &c, &c.values, out);
}

/* ---- Codes ---- */

const code *binding_has(const binding *b, const variant *v) {
    const variant_code *c = atomic_load_explicit(&((binding *)(uintptr_t)b)->codes, memory_order_acquire);
    while (c && !variant_same(v, &c->v))
        c = c->next;
    return c ? code_of(c->entry) : NULL;
}

/* Adds an entry, which holds the code. If another thread has added one for the variant, the entry is dropped. */
static uf_status code_add(binding *b, const variant *v, code_entry *entry) {
    variant_code *c = mem_alloc(sizeof *c), *head;
    if (!c) {
        code_drop(entry);
        return fail_memory();
    }
    c->entry = entry;
    memset(&c->v, 0, sizeof c->v);
    memcpy(&c->v, v, variant_size(v));
    head = atomic_load(&b->codes);
    do {
        if (binding_has(b, v)) {
            code_drop(entry);
            mem_free(c);
            return UF_OK;
        }
        c->next = head;
    } while (!atomic_compare_exchange_weak(&b->codes, &head, c));
    return UF_OK;
}

compile_job binding_job(const uf_func *f, const binding *b, const variant *v) {
    return (compile_job){.name = f->name,
                         .source = b->source,
                         .layout = b->layout,
                         .tree = b->tree,
                         .fold = b->fold,
                         .v = v,
                         .engine = b->key.engine,
                         .device = b->key.device,
                         .fast = f->fast,
                         .flags = f->flags,
                         .max_registers = f->max_registers,
                         .max_steps = f->max_steps};
}

uf_status binding_codes(const uf_func *f, const binding *b, const variant *const *v, int n, const code **out) {
    compile_job jobs[CODE_TOGETHER];
    code_entry *entry[CODE_TOGETHER];
    const variant *wanted[CODE_TOGETHER];
    int count = 0;
    for (int i = 0; i < n; i++) {
        out[i] = binding_has(b, v[i]);
        if (out[i])
            continue;
        wanted[count] = v[i];
        jobs[count] = binding_job(f, b, v[i]);
        TRY(engines[b->key.engine]->target(b->key.device, &jobs[count].target));
        count++;
    }
    if (!count)
        return UF_OK;
    TRY(code_get(jobs, count, entry));
    uf_status s = UF_OK;
    for (int i = 0; i < count; i++) {
        uf_status own = code_add((binding *)(uintptr_t)b, wanted[i], entry[i]);
        s = s ? s : own;
    }
    for (int i = 0; i < n && !s; i++)
        out[i] = binding_has(b, v[i]);
    return s;
}

uf_status binding_code(const uf_func *f, const binding *b, const variant *v, const code **out) {
    *out = binding_has(b, v);
    return *out ? UF_OK : binding_codes(f, b, &v, 1, out);
}
