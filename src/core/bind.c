/* bind.c - from the dtypes of a call to a signature and a typed tree, once per combination; then to compiled variants.
 * Both are lists that readers walk without a lock: entries are added at the head and never change. */
#include "core/core.h"

/* ---- Choosing types ---- */

/* The dtype of a weak number beside arrays whose dtypes promote to `arrays`, where a kernel takes any types: that dtype if
 * its kind reaches the number's, else the smallest of the number's kind that goes with it. */
static dtype weak_dtype(dtype weak, dtype arrays) {
    dtype_kind have = dtypes[arrays].kind, want = dtypes[weak].kind;
    if (want == DK_BOOL)
        return DT_BOOL;
    if (want <= have)
        return arrays;
    switch (want) {
    case DK_INTEGER:
        return DT_INT64;
    case DK_FLOATING:
        return DT_FLOAT64;
    default:
        return have == DK_FLOATING && arrays != DT_FLOAT64 ? DT_COMPLEX64 : DT_COMPLEX128;
    }
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

uf_status choose_types(const uf_func *f, const call_args *args, const uf_options *options, dtype *types,
                       int *section_index) {
    *section_index = 0;
    if (f->any_types) {
        if (options->signature)
            return fail(UF_ERR_ARGUMENT, "%s was registered for any types; it has no signature to force (\"%s\")",
                        f->name, options->signature);
        any_types(f, args, options, types);
        return UF_OK;
    }
    dispatch_input inputs[UF_MAX_OPERANDS];
    for (int k = 0; k < f->nin; k++) {
        inputs[k] =
            (dispatch_input){.type = (dtype)(args->key.type[k] & ~BINDING_NUMBER), .is_number = args->array[k].number};
        if (inputs[k].is_number && args->array[k].data)
            inputs[k].value = number_read(inputs[k].type, args->array[k].data);
    }
    int chosen;
    TRY(dispatch(f->name, &f->signatures, inputs, options->flags, options->casting, options->signature, &chosen));
    int n = f->nin + f->nout;
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
    const uf_func *f = t->func;
    return lang_check(t->arena, t->section->syntax, f->layout, t->types, f->nin, t->types + f->nin, f->nout,
                      f->flags & UF_UNCHECKED, t->out);
}

uf_status type_kernel(const uf_func *f, int section_index, dtype *types, arena *a, tree **out) {
    return on_big_stack(type_on_big_stack, &(typing){f, &f->sections[section_index], types, a, out});
}

/* ---- Bindings ---- */

static size_t key_size(const uf_func *f) { return offsetof(binding_key, type) + (size_t)(f->nin + f->nout); }

static binding *binding_lookup(const uf_func *f, const binding_key *key) {
    size_t size = key_size(f);
    binding *b = atomic_load_explicit(&((uf_func *)(uintptr_t)f)->bindings, memory_order_acquire);
    while (b && memcmp(&b->key, key, size) != 0)
        b = b->next;
    return b;
}

static uf_status outputs_check(const uf_func *f, const call_args *args, const dtype *types, uf_casting casting) {
    for (int k = f->nin; k < f->nin + f->nout; k++) {
        dtype to = (dtype)args->key.type[k];
        if (!dtype_can_cast(types[k], to, casting))
            return fail_argument(UF_ERR_CAST, k, -1,
                                 "is %s, but %s gives %s, which does not cast to it under the rule %s", dtypes[to].name,
                                 f->name, dtypes[types[k]].name, casting_name(casting));
    }
    return UF_OK;
}

/* Adds b unless another thread was first, whose binding is then returned. */
static binding *binding_add(uf_func *f, binding *b) {
    binding *head = atomic_load(&f->bindings), *first;
    do {
        first = binding_lookup(f, &b->key);
        b->next = head;
    } while (!first && !atomic_compare_exchange_weak(&f->bindings, &head, b));
    return first;
}

static uf_status binding_fill(const uf_func *f, const call_args *args, const uf_options *options, binding *b) {
    int section_index;
    TRY(choose_types(f, args, options, b->types, &section_index));
    b->source = f->sections[section_index].source;
    TRY(type_kernel(f, section_index, b->types, &b->arena, &b->tree));
    ir_traits(b->tree, &b->size);
    return outputs_check(f, args, b->types, options->casting);
}

static uf_status binding_make(const uf_func *f, const call_args *args, const binding_key *key,
                              const uf_options *options, const binding **out) {
    binding *b = mem_zero(1, sizeof *b);
    if (!b)
        return fail_memory();
    memcpy(&b->key, key, key_size(f));
    uf_status s = binding_fill(f, args, options, b);
    binding *first = s ? NULL : binding_add((uf_func *)(uintptr_t)f, b);
    if (s || first) {
        arena_free(&b->arena);
        mem_free(b);
    }
    *out = first ? first : b;
    return s;
}

/* With a forced signature the key says which: dispatch runs first, each time. */
static uf_status forced_key(const uf_func *f, const call_args *args, const uf_options *options, binding_key *key) {
    dtype types[UF_MAX_OPERANDS];
    int section_index, n = f->nin + f->nout;
    TRY(choose_types(f, args, options, types, &section_index));
    int i = 0;
    while (memcmp(f->signatures.types + (size_t)i * (size_t)n, types, (size_t)n * sizeof *types) != 0)
        i++;
    memcpy(key, &args->key, key_size(f));
    key->forced = i + 1;
    return UF_OK;
}

uf_status binding_find(const uf_func *f, const call_args *args, const uf_options *options, const binding **out) {
    binding_key own;
    const binding_key *key = &args->key;
    if (options->signature) {
        TRY(forced_key(f, args, options, &own));
        key = &own;
    }
    *out = binding_lookup(f, key);
    return *out ? UF_OK : binding_make(f, args, key, options, out);
}

/* ---- Codes ---- */

static const code *code_lookup(const binding *b, const variant *v) {
    size_t size = variant_key_size(v);
    const variant_code *c = atomic_load_explicit(&((binding *)(uintptr_t)b)->codes, memory_order_acquire);
    while (c && memcmp(&c->v, v, size) != 0)
        c = c->next;
    return c ? code_of(c->entry) : NULL;
}

/* Adds an entry unless another thread was first; holds on to it or drops it. */
static uf_status code_add(binding *b, const variant *v, code_entry *entry) {
    variant_code *c = mem_alloc(sizeof *c), *head;
    if (!c) {
        code_drop(entry);
        return fail_memory();
    }
    c->entry = entry;
    memset(&c->v, 0, sizeof c->v);
    memcpy(&c->v, v, variant_key_size(v));
    head = atomic_load(&b->codes);
    do {
        if (code_lookup(b, v)) {
            code_drop(entry);
            mem_free(c);
            return UF_OK;
        }
        c->next = head;
    } while (!atomic_compare_exchange_weak(&b->codes, &head, c));
    return UF_OK;
}

uf_status binding_code(const uf_func *f, const binding *b, const variant *v, const code **out) {
    *out = code_lookup(b, v);
    if (*out)
        return UF_OK;
    compile_job job = {.name = f->name,
                       .source = b->source,
                       .layout = f->layout ? f->layout_text : "",
                       .tree = b->tree,
                       .fold = b->fold,
                       .v = v,
                       .engine = b->key.engine,
                       .device = b->key.device,
                       .fast = f->fast,
                       .flags = f->flags,
                       .max_registers = f->max_registers};
    code_entry *entry;
    TRY(engines[job.engine]->target(job.device, &job.target));
    TRY(code_get(&job, &entry));
    TRY(code_add((binding *)(uintptr_t)b, v, entry));
    *out = code_lookup(b, v);
    return UF_OK;
}
