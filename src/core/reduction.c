/* reduction.c - reductions from their texts. They are checked when they are registered, and typed for the dtypes of
 * a call, which makes a fold. A binary function becomes a fold by NumPy's rules: it takes two operands of one dtype,
 * that of the accumulator, which the input casts to. */
#include <assert.h>
#include <stdio.h>

#include "core/core.h"

enum {
    /* Dtypes tried in turn until what combining gives has the dtypes of what it takes. Each is above the one before,
     * so that few do. */
    ROUNDS = 4
};

/* ---- Errors ---- */

/* Says in the thread's error, and in *place, which text the error is about. */
static uf_status about(uf_status status, definition_place *place, int part) {
    static const char *const names[] = {[IN_MAP] = "map",
                                        [IN_COMBINE] = "combine",
                                        [IN_FINISH] = "finish",
                                        [IN_STATE] = "state",
                                        [IN_IDENTITY] = "identity"};
    uf_error *e = error_slot();
    char message[sizeof e->message];
    if (!status || status == UF_ERR_MEMORY)
        return status;
    place->part = part;
    memcpy(message, e->message, sizeof message);
    size_t skip = fail_place_length(e), room = sizeof e->message - skip;
    if (snprintf(e->message + skip, room, "%s: %s", names[part], message + skip) >= (int)room)
        strcpy(e->message + sizeof e->message - sizeof " ..", " ..");
    return status;
}

static const char *plural(int n) { return n == 1 ? "" : "s"; }

/* ---- Typing the texts ---- */

typedef struct typing {
    const uf_func *func;
    fold *x;
    arena *arena;
    definition_place *place; /* where an error is */
} typing;

/* Types one text for the dtypes of its inputs. Outputs of DT_NONE get the dtype of what the text gives. */
static uf_status text_type(const typing *t, const section *source, int part, const dtype *in, int nin, dtype *out,
                           int nout, const tree **result) {
    tree *made;
    uf_status s = lang_check(t->arena, source->syntax, NULL, source->records, in, nin, out, nout,
                             t->func->flags & UF_UNCHECKED, &made);
    *result = made;
    return text_named(about(s, t->place, part), t->func->name, *t->place);
}

static void types_unknown(dtype *types, int n) {
    for (int k = 0; k < n; k++)
        types[k] = DT_NONE;
}

/* Types the map, from inputs to a state. If the state has no dtypes yet, they become those that the map gives, or
 * without a map those of the inputs. */
static uf_status map_type(const typing *t) {
    const section *source = &t->func->reduction->map;
    fold *x = t->x;
    dtype in[UF_MAX_OPERANDS + 1];
    if (!source->syntax) {
        if (x->state[0] == DT_NONE)
            memcpy(x->state, x->in, (size_t)x->nstate * sizeof *x->state);
        return UF_OK;
    }
    x->takes_position = lang_indices(source->syntax);
    memcpy(in, x->in, (size_t)x->nin * sizeof *in);
    in[x->nin] = DT_INT64;
    return text_type(t, source, IN_MAP, in, x->nin + x->takes_position, x->state, x->nstate, &x->map);
}

/* Types the combination of two states. result[k] of DT_NONE becomes the dtype of what it gives. */
static uf_status combine_type(const typing *t, dtype *result) {
    fold *x = t->x;
    dtype in[2 * UF_MAX_STATE];
    memcpy(in, x->state, (size_t)x->nstate * sizeof *in);
    memcpy(in + x->nstate, x->state, (size_t)x->nstate * sizeof *in);
    return text_type(t, &t->func->reduction->combine, IN_COMBINE, in, 2 * x->nstate, result, x->nstate, &x->combine);
}

/* Finds the dtypes of a state that stay what they are when states are combined, beginning with x->state. They may
 * have to go up: two int8 added give an int32, for example. */
static uf_status state_find(const typing *t) {
    fold *x = t->x;
    dtype result[UF_MAX_STATE];
    size_t size = (size_t)x->nstate * sizeof *result;
    for (int round = 0; round < ROUNDS; round++) {
        types_unknown(result, x->nstate);
        TRY(combine_type(t, result));
        if (memcmp(result, x->state, size) == 0)
            return UF_OK;
        memcpy(x->state, result, size);
    }
    return about(fail(UF_ERR_TYPE,
                      "what it gives has other dtypes than what it takes, time and again; name those of the "
                      "state"),
                 t->place, IN_COMBINE);
}

static uf_status finish_type(const typing *t) {
    const section *finish = &t->func->reduction->finish;
    fold *x = t->x;
    dtype in[UF_MAX_STATE + 1];
    if (!finish->syntax) {
        if (x->out[0] == DT_NONE)
            memcpy(x->out, x->state, (size_t)x->nout * sizeof *x->out);
        return UF_OK;
    }
    x->takes_count = lang_inputs(finish->syntax) > t->func->reduction->nvalues;
    memcpy(in, x->state, (size_t)x->nstate * sizeof *in);
    in[x->nstate] = DT_INT64;
    return text_type(t, finish, IN_FINISH, in, x->nstate + x->takes_count, x->out, x->nout, &x->finish);
}

static uf_status identity_type(const typing *t) {
    if (!t->func->identity.syntax)
        return UF_OK;
    return text_type(t, &t->func->identity, IN_IDENTITY, NULL, 0, t->x->state, t->x->nstate, &t->x->identity);
}

/* Types what does not depend on the inputs: combination, identity and finish. */
static uf_status state_type(const typing *t) {
    dtype result[UF_MAX_STATE];
    memcpy(result, t->x->state, sizeof result);
    TRY(combine_type(t, result));
    TRY(identity_type(t));
    return finish_type(t);
}

/* Types all texts of a reduction. The dtypes of inputs are given; those of state and outputs are given too, or begin
 * with DT_NONE and are found. */
static uf_status reduction_type(const typing *t) {
    bool found = t->x->state[0] == DT_NONE;
    TRY(map_type(t));
    if (found)
        TRY(state_find(t));
    return state_type(t);
}

static void fold_begin(const uf_func *f, fold *x) {
    *x = (fold){.nin = f->nin, .nstate = f->reduction->nstate, .nout = f->nout, .order = f->order};
    types_unknown(x->in, UF_MAX_OPERANDS);
    types_unknown(x->state, UF_MAX_STATE);
    types_unknown(x->out, UF_MAX_OPERANDS);
    if (f->any_types && f->reduction->state)
        memcpy(x->state, f->reduction->state, (size_t)x->nstate * sizeof *x->state);
}

/* Sets the dtypes that a signature names. */
static void fold_of_signature(const uf_func *f, int s, fold *x) {
    const reduction *r = f->reduction;
    const dtype *types = f->signatures.types + (size_t)s * (size_t)(f->nin + f->nout);
    memcpy(x->in, types, (size_t)f->nin * sizeof *types);
    memcpy(x->out, types + f->nin, (size_t)f->nout * sizeof *types);
    memcpy(x->state, r->state + (size_t)s * (size_t)r->nstate, (size_t)r->nstate * sizeof *types);
}

/* ---- Reading the texts ---- */

static uf_status text_copy(uf_func *f, const char *source, const char **out) {
    *out = arena_text(&f->arena, source, strlen(source));
    return *out ? UF_OK : UF_ERR_MEMORY;
}

uf_status identity_add(uf_func *f, const char *source, definition_place *place) {
    arena scratch = {0};
    section *own = &f->identity;
    tree *t;
    dtype type = DT_FLOAT64; /* any numeric dtype will do: a text that is right for one is right for all */
    place->part = IN_IDENTITY;
    TRY(text_copy(f, source, &own->source));
    TRY(about(lang_parse_values(&f->arena, own->source, &f->scope.names, &own->syntax), place, IN_IDENTITY));
    int values = lang_outputs(own->syntax), wanted = f->reduction ? f->reduction->nvalues : 1;
    if (values != wanted)
        return about(
            lang_fail(own->syntax, UF_ERR_TYPE, "%d value%s, but the state has %d", values, plural(values), wanted),
            place, IN_IDENTITY);
    if (f->reduction || (!f->any_types && !f->signatures.count))
        return UF_OK; /* the form types it */
    uf_status s = lang_check(&scratch, own->syntax, NULL, NULL, NULL, 0, &type, 1, false, &t);
    arena_free(&scratch);
    return about(s, place, IN_IDENTITY);
}

uf_status core_identity_add(uf_func *f, const char *source, definition_place *place) {
    arena scratch = {0};
    section *own = &f->identity;
    const dtype indices[LAYOUT_MAX_RANK] = {DT_INT64, DT_INT64, DT_INT64, DT_INT64,
                                            DT_INT64, DT_INT64, DT_INT64, DT_INT64};
    int rank = f->layout->operands[0].rank;
    dtype type = DT_FLOAT64; /* any numeric dtype will do */
    tree *t;
    if (!strchr(source, '{'))
        return identity_add(f, source, place);
    place->part = IN_IDENTITY;
    TRY(text_copy(f, source, &own->source));
    TRY(about(lang_parse(&f->arena, own->source, &f->scope.names, &own->syntax), place, IN_IDENTITY));
    if (lang_indices(own->syntax) != rank || lang_inputs(own->syntax) || lang_outputs(own->syntax) != 1)
        return about(
            lang_fail(own->syntax, UF_ERR_TYPE,
                      "%d indices, %d parameters and %d outputs; %d ind%s, which count in the core, no parameter "
                      "and one output are needed",
                      lang_indices(own->syntax), lang_inputs(own->syntax), lang_outputs(own->syntax), rank,
                      rank == 1 ? "ex" : "ices"),
            place, IN_IDENTITY);
    uf_status s = lang_check(&scratch, own->syntax, NULL, NULL, indices, rank, &type, 1, false, &t);
    arena_free(&scratch);
    return about(s, place, IN_IDENTITY);
}

/* What a text must take and give. */
typedef struct arity {
    /* It has `inputs` parameters, or up to `more` beyond those. */
    int inputs, more;
    int outputs;
    int indices; /* at most so many */
    /* Whose inputs and outputs those are, as errors say it. */
    const char *takes, *gives;
} arity;

static uf_status arity_check(const syntax *s, const arity *want, definition_place *place, int part) {
    int inputs = lang_inputs(s), outputs = lang_outputs(s), indices = lang_indices(s);
    uf_status status = UF_OK;
    if (indices > want->indices)
        status = lang_fail(s, UF_ERR_TYPE, "%d %s; %s", indices, indices == 1 ? "index" : "indices",
                           want->indices ? "there is one, the position" : "only a map has one");
    else if (inputs < want->inputs || inputs > want->inputs + want->more)
        status = lang_fail(s, UF_ERR_TYPE, "%d parameter%s; %d needed: %s", inputs, plural(inputs), want->inputs,
                           want->takes);
    else if (outputs != want->outputs)
        status = lang_fail(s, UF_ERR_TYPE, "it gives %d value%s; %d needed: %s", outputs, plural(outputs),
                           want->outputs, want->gives);
    return about(status, place, part);
}

static uf_status text_read(uf_func *f, const char *source, section *out, definition_place *place, int part) {
    if (!source)
        return UF_OK;
    TRY(text_copy(f, source, &out->source));
    return about(lang_parse(&f->arena, out->source, &f->scope.names, &out->syntax), place, part);
}

/* Reads the texts, and finds the number of values in the state. */
static uf_status texts_read(uf_func *f, reduction *r, const uf_reduction_def *def, definition_place *place) {
    TRY(text_read(f, def->map, &r->map, place, IN_MAP));
    TRY(text_read(f, def->combine, &r->combine, place, IN_COMBINE));
    TRY(text_read(f, def->finish, &r->finish, place, IN_FINISH));
    const syntax *s = r->combine.syntax;
    r->nvalues = r->nstate = lang_outputs(s);
    if (r->nstate > UF_MAX_STATE)
        return about(lang_fail(s, UF_ERR_TYPE, "%d values of state; at most %d are possible", r->nstate, UF_MAX_STATE),
                     place, IN_COMBINE);
    const arity want = {.inputs = 2 * r->nstate,
                        .outputs = r->nstate,
                        .takes = "the values of one state, then those of the other, as many as it gives"};
    return arity_check(s, &want, place, IN_COMBINE);
}

/* Reads the signatures into *list, and sets the number of operands: that of the signatures, or without any what the texts take and
 * give. */
static uf_status signatures_read(uf_func *f, const reduction *r, const char *signatures, definition_place *place,
                                 signature_list *list) {
    f->any_types = !signatures;
    f->nin = r->map.syntax ? lang_inputs(r->map.syntax) : r->nstate;
    f->nout = r->finish.syntax ? lang_outputs(r->finish.syntax) : r->nstate;
    if (!signatures)
        return UF_OK;
    place->part = IN_SIGNATURES;
    const record_texts texts = reduction_texts(r);
    TRY(lists_read(f, &texts, signatures, signatures_parse, list));
    if (!r->map.syntax && list->nin != r->nstate)
        return fail(UF_ERR_TYPE, "%s: %d input%s, but the state has %d value%s; without a map they are the same",
                    f->name, list->nin, plural(list->nin), r->nstate, plural(r->nstate));
    if (!r->finish.syntax && list->nout != r->nstate)
        return fail(UF_ERR_TYPE, "%s: %d output%s, but the state has %d value%s; without a finish they are the same",
                    f->name, list->nout, plural(list->nout), r->nstate, plural(r->nstate));
    f->nin = list->nin;
    f->nout = list->nout;
    f->section_of = arena_alloc(&f->arena, (size_t)list->count * sizeof *f->section_of);
    for (int s = 0; s < list->count; s++)
        TRY(signature_spell(f, list, s));
    return f->section_of ? UF_OK : UF_ERR_MEMORY;
}

static uf_status arities_check(const uf_func *f, const reduction *r, definition_place *place) {
    const arity mapping = {.inputs = f->nin,
                           .outputs = r->nstate,
                           .indices = 1,
                           .takes = "the inputs of the signatures",
                           .gives = "the state, as combine gives it"};
    const arity finishing = {.inputs = r->nstate,
                             .more = 1,
                             .outputs = f->nout,
                             .takes = "the values of the state; the count may follow",
                             .gives = "the outputs of the signatures"};
    if (f->nin == 0)
        return about(lang_fail(r->map.syntax, UF_ERR_TYPE, "no parameters; a reduction has inputs"), place, IN_MAP);
    if (r->map.syntax)
        TRY(arity_check(r->map.syntax, &mapping, place, IN_MAP));
    return r->finish.syntax ? arity_check(r->finish.syntax, &finishing, place, IN_FINISH) : UF_OK;
}

/* Reads the types of the state: one list for all signatures, or one for each. */
static uf_status state_read(uf_func *f, const reduction *r, const char *source, int wanted, definition_place *place,
                            signature_list *out) {
    place->part = IN_STATE;
    const record_texts texts = reduction_texts(r);
    TRY(about(states_read(f, &texts, source, r->nvalues, out), place, IN_STATE));
    if (out->count != 1 && out->count != wanted)
        return about(fail(UF_ERR_TYPE, "%d lists of dtypes, but there %s %d signature%s; one for all is possible, too",
                          out->count, wanted == 1 ? "is" : "are", wanted, plural(wanted)),
                     place, IN_STATE);
    if (f->any_types && signature_has_records(out, 0))
        return about(fail(UF_ERR_TYPE, "a state with records needs signatures"), place, IN_STATE);
    return UF_OK;
}

/* Without a text for the state its types are those of the outputs. */
static uf_status state_of_outputs(uf_func *f, const reduction *r, const signature_list *signatures,
                                  definition_place *place, signature_list *out) {
    size_t n = (size_t)(f->nin + f->nout), width = (size_t)r->nvalues, count = (size_t)signatures->count;
    if (f->nout != r->nvalues)
        return about(fail(UF_ERR_TYPE, "dtypes are needed: there %s %d output%s, but %d value%s of state",
                          f->nout == 1 ? "is" : "are", f->nout, plural(f->nout), r->nvalues, plural(r->nvalues)),
                     place, IN_COMBINE);
    *out = (signature_list){.count = signatures->count, .nin = r->nvalues};
    out->types = arena_alloc(&f->arena, count * width * sizeof *out->types);
    out->records = arena_alloc(&f->arena, count * width * sizeof *out->records);
    if (!out->types || !out->records)
        return UF_ERR_MEMORY;
    for (size_t s = 0; s < count; s++) {
        size_t to = s * width, from = s * n + (size_t)f->nin;
        memcpy(out->types + to, signatures->types + from, width * sizeof *out->types);
        if (signatures->records)
            memcpy(out->records + to, signatures->records + from, width * sizeof *out->records);
    }
    return UF_OK;
}

/* Finds the types of the state: a row for all signatures, or one for each; none where combining finds them. */
static uf_status states_find(uf_func *f, const reduction *r, const char *source, const signature_list *signatures,
                             definition_place *place, signature_list *out) {
    *out = (signature_list){.nin = r->nvalues};
    if (source)
        return state_read(f, r, source, f->any_types ? 1 : signatures->count, place, out);
    return f->any_types ? UF_OK : state_of_outputs(f, r, signatures, place, out);
}

/* Makes a form of each signature that names records, or whose state does. The others stay in the list, with their state in
 * r->state. */
static uf_status signatures_serve(uf_func *f, reduction *r, signature_list *list, const signature_list *states,
                                  definition_place *place) {
    size_t width = (size_t)r->nvalues, n = (size_t)(list->nin + list->nout), plain = 0;
    dtype *types = arena_alloc(&f->arena, (size_t)(list->count + 1) * width * sizeof *types);
    if (!types)
        return UF_ERR_MEMORY;
    for (int s = 0; s < list->count; s++) {
        int state = states->count == 1 ? 0 : s;
        record_form *x;
        if (signature_has_records(list, s) || signature_has_records(states, state)) {
            TRY(reduction_form_make(f, list, s, states, state, place, &x));
            form_append(f, x);
            continue;
        }
        assert(states->types); /* where there are signatures, there are dtypes of states */
        memcpy(types + plain * width, states->types + (size_t)state * width, width * sizeof *types);
        memmove(list->types + plain++ * n, list->types + (size_t)s * n, n * sizeof *list->types);
    }
    if (f->any_types && states->count)
        memcpy(types, states->types, width * sizeof *types);
    r->state = f->any_types && !states->count ? NULL : types;
    f->signatures = (signature_list){.count = (int)plain, .nin = list->nin, .nout = list->nout, .types = list->types};
    return UF_OK;
}

/* Checks that the texts type for every signature, or, if there are none, what of them does not depend on the inputs.
 * The trees are thrown away. */
static uf_status types_check(const uf_func *f, definition_place *place) {
    for (int s = 0; s < f->signatures.count || (s == 0 && f->any_types && f->reduction->state); s++) {
        arena scratch = {0};
        fold x;
        const typing t = {f, &x, &scratch, place};
        fold_begin(f, &x);
        if (!f->any_types)
            fold_of_signature(f, s, &x);
        uf_status status = f->any_types ? state_type(&t) : reduction_type(&t);
        arena_free(&scratch);
        TRY(status);
    }
    return UF_OK;
}

/* ---- Forms ---- */

/* Sets the state of a form, which has these values, and what each text takes and gives. */
static uf_status state_set(uf_func *h, record_form *x, reduction *r, const record *const *records, const dtype *types) {
    dtype leaves[UF_MAX_OPERANDS + 1];
    size_t n = (size_t)r->nvalues;
    r->nstate = leaves_write(records, types, r->nvalues, leaves);
    if (r->nstate > UF_MAX_STATE)
        return fail(UF_ERR_TYPE,
                    "%s: the state of %s has more than %d scalars, a complex number in a record counted as two",
                    h->name, x->signature, UF_MAX_STATE);
    dtype *state = arena_alloc(&h->arena, (size_t)r->nstate * sizeof *state);
    const record **of = arena_alloc(&h->arena, 3 * n * sizeof *of);
    if (!state || !of)
        return UF_ERR_MEMORY;
    memcpy(state, leaves, (size_t)r->nstate * sizeof *state);
    for (size_t k = 0; k < 3 * n; k++)
        of[k] = records ? records[k % n] : NULL;
    r->state = state;
    r->combine.records = of;
    h->identity.records = of;
    x->state = of;
    h->reduction = r;
    return UF_OK;
}

/* Sets what a text takes and gives that has `n` values, and then `more`; `gap` scalars stand between them. */
static uf_status records_set(uf_func *h, section *s, const record *const *first, int n, int gap,
                             const record *const *then, int more) {
    const record **of = arena_alloc(&h->arena, (size_t)(n + gap + more) * sizeof *of);
    if (!of)
        return UF_ERR_MEMORY;
    memcpy(of, first, (size_t)n * sizeof *of);
    memcpy(of + n + gap, then, (size_t)more * sizeof *of);
    s->records = of;
    return UF_OK;
}

/* Without a map the inputs are the state, without a finish the state is the outputs: then both are of the same records. */
static uf_status same_records(const uf_func *h, const record_form *x, const record *const *operands, const char *what) {
    for (int k = 0; k < h->reduction->nvalues; k++)
        if (operands[k] != x->state[k] && !record_same(operands[k], x->state[k]))
            return fail(UF_ERR_TYPE, "%s: %s %d of %s is %s, but value %d of the state is %s", h->name, what, k,
                        x->signature, operands[k] ? operands[k]->name : "a scalar", k,
                        x->state[k] ? x->state[k]->name : "a scalar");
    return UF_OK;
}

uf_status combine_form(uf_func *h, const uf_func *f, record_form *x, definition_place *place) {
    reduction *r = arena_alloc(&h->arena, sizeof *r);
    if (!r)
        return UF_ERR_MEMORY;
    r->nvalues = 1;
    r->combine = f->sections[x->section];
    h->identity = f->identity;
    TRY(state_set(h, x, r, x->records, NULL));
    return types_check(h, place);
}

uf_status reduction_form(uf_func *h, const uf_func *f, record_form *x, const signature_list *states, int state,
                         definition_place *place) {
    const reduction *from = f->reduction;
    size_t first = (size_t)state * (size_t)from->nvalues;
    reduction *r = arena_alloc(&h->arena, sizeof *r);
    if (!r)
        return UF_ERR_MEMORY;
    *r = *from;
    h->identity = f->identity;
    TRY(state_set(h, x, r, states->records ? states->records + first : NULL, states->types + first));
    if (r->map.syntax)
        TRY(records_set(h, &r->map, x->records, x->nin, lang_indices(r->map.syntax), x->state, r->nvalues));
    else
        TRY(same_records(h, x, x->records, "input"));
    int count = r->finish.syntax ? lang_inputs(r->finish.syntax) - r->nvalues : 0;
    if (r->finish.syntax)
        TRY(records_set(h, &r->finish, x->state, r->nvalues, count, x->records + x->nin, x->nout));
    else
        TRY(same_records(h, x, x->records + x->nin, "output"));
    return types_check(h, place);
}

uf_status values_form(uf_func *h, const uf_func *f, const char *combine, const char *identity) {
    definition_place place = {IN_SOURCE, 0};
    reduction *r = arena_alloc(&h->arena, sizeof *r);
    if (!r)
        return UF_ERR_MEMORY;
    h->reduction = r;
    *r = (reduction){.nvalues = h->nout, .nstate = h->nout, .state = h->signatures.types};
    r->combine.source = combine;
    TRY(lang_parse(&h->arena, combine, &f->scope.names, &r->combine.syntax));
    TRY(scope_text_key(&f->scope, &h->arena, combine, &r->combine.key));
    if (identity) {
        h->identity.source = identity;
        TRY(lang_parse(&h->arena, identity, &f->scope.names, &h->identity.syntax));
        TRY(scope_text_key(&f->scope, &h->arena, identity, &h->identity.key));
    }
    return types_check(h, &place);
}

/* ---- Registering ---- */

uf_status reduction_add(uf_func *f, const uf_definition *d, definition_place *place) {
    const uf_reduction_def *def = d->reduction;
    signature_list list = {0}, states;
    reduction *r = arena_alloc(&f->arena, sizeof *r);
    if (!r)
        return UF_ERR_MEMORY;
    f->reduction = r;
    f->order = def->flags & UF_SERIAL ? FOLD_SERIAL : def->flags & UF_ORDERED ? FOLD_ORDERED : FOLD_FREE;
    TRY(texts_read(f, r, def, place));
    TRY(signatures_read(f, r, d->sections[0].signatures, place, &list));
    TRY(arities_check(f, r, place));
    TRY(states_find(f, r, def->state, &list, place, &states));
    if (def->identity)
        TRY(identity_add(f, def->identity, place));
    TRY(signatures_serve(f, r, &list, &states, place));
    return types_check(f, place);
}

uf_status reduction_keys(uf_func *f) {
    reduction *r = (reduction *)(uintptr_t)f->reduction;
    section *const texts[] = {&r->map, &r->combine, &r->finish};
    for (size_t i = 0; i < COUNT(texts); i++)
        if (texts[i]->source)
            TRY(scope_text_key(&f->scope, &f->arena, texts[i]->source, &texts[i]->key));
    return UF_OK;
}

/* ---- A fold for the dtypes of a call ---- */

typedef struct request {
    const uf_func *func;
    const call_args *args;
    /* The options that the choice of a signature sees. */
    uf_options options;
    fold_order order;
    int chosen;  /* the signature that is forced; -1: none */
    bool values; /* the values of numbers take part in the choice */
    binding *b;
} request;

static uf_status reduction_fill(request *q, fold *x) {
    const uf_func *f = q->func;
    definition_place place = {0};
    int chosen = q->chosen, section_index;
    fold_begin(f, x);
    if (f->any_types) {
        dtype types[UF_MAX_OPERANDS];
        TRY(choose_types(f, q->args, &q->options, false, types, &section_index));
        memcpy(x->in, types, (size_t)f->nin * sizeof *types);
    } else {
        if (chosen < 0)
            TRY(choose_signature(f, q->args, &q->options, q->values, &chosen));
        fold_of_signature(f, chosen, x);
    }
    return reduction_type(&(typing){f, x, &q->b->arena, &place});
}

/* ---- Binary functions ---- */

/* A function of two operands of dtype `operand`, and the dtype of what it gives. */
typedef struct pair {
    dtype operand, result;
    int section;
    const tree *tree;
} pair;

/* Types the function on two operands. A result of DT_NONE becomes the dtype of what it gives. */
static uf_status pair_type(request *q, pair *p) {
    const uf_func *f = q->func;
    const dtype in[2] = {p->operand, p->operand};
    tree *t;
    const section *own = &f->sections[p->section];
    uf_status s =
        lang_check(&q->b->arena, own->syntax, own->layout, NULL, in, 2, &p->result, 1, f->flags & UF_UNCHECKED, &t);
    p->tree = t;
    return text_named(s, f->name, (definition_place){IN_SOURCE, p->section});
}

static uf_status unequal(const uf_func *f, const dtype *types) {
    char spelled[SIGNATURE_TEXT];
    signature_format(spelled, types, 2, 1);
    return fail(UF_ERR_SIGNATURE, "%s cannot reduce by its signature %s: operands of one dtype are needed", f->name,
                spelled);
}

/* The pair of the signature that serves two operands of these dtypes. */
static uf_status pair_choose(request *q, dtype a, dtype b, pair *p) {
    const uf_func *f = q->func;
    const dispatch_input inputs[2] = {{.type = a}, {.type = b}};
    int chosen = q->chosen;
    *p = (pair){.operand = dtype_promote(a, b), .result = DT_NONE};
    if (!f->any_types) {
        if (chosen < 0)
            TRY(dispatch(f->name, &f->signatures, inputs, q->options.flags, q->options.casting, NULL, &chosen));
        const dtype *types = f->signatures.types + (size_t)chosen * 3;
        if (types[0] != types[1])
            return unequal(f, types);
        *p = (pair){.operand = types[0], .result = types[2], .section = f->section_of[chosen]};
    }
    return pair_type(q, p);
}

/* The section whose kernel takes two bools and gives a bool; -1: there is none. */
static int bools_section(const uf_func *f) {
    static const dtype bools[3] = {DT_BOOL, DT_BOOL, DT_BOOL};
    for (int s = 0; s < f->signatures.count; s++)
        if (memcmp(f->signatures.types + (size_t)s * 3, bools, sizeof bools) == 0)
            return f->section_of[s];
    return f->any_types ? 0 : -1;
}

/* An associative function that gives bool, such as &&, folds bools, as in NumPy, if it has a kernel for them. */
static uf_status bools_choose(request *q, pair *p) {
    pair own = {
        .operand = DT_BOOL, .result = q->func->any_types ? DT_NONE : DT_BOOL, .section = bools_section(q->func)};
    bool wanted = p->result == DT_BOOL && p->operand != DT_BOOL && q->order != FOLD_SERIAL && q->chosen < 0;
    if (!wanted || own.section < 0)
        return UF_OK;
    uf_status s = pair_type(q, &own);
    if (!s && own.result == DT_BOOL)
        *p = own;
    return s == UF_ERR_MEMORY ? s : UF_OK;
}

/* The pair that folds operands of these dtypes: its result must cast safely to its operands. */
static uf_status pair_find(request *q, dtype a, dtype b, pair *p) {
    TRY(pair_choose(q, a, b, p));
    for (int round = 0; round < ROUNDS; round++) {
        TRY(bools_choose(q, p));
        if (dtype_can_cast(p->result, p->operand, UF_CAST_SAFE))
            return UF_OK;
        if (q->chosen >= 0 || p->operand == p->result)
            break;
        /* The result does not cast: two int8 added give an int32, divided a float64. So operands of the result's
         * dtype are tried. */
        pair next;
        uf_status s = pair_choose(q, p->result, p->result, &next);
        if (s == UF_ERR_SIGNATURE)
            break;
        TRY(s);
        *p = next;
    }
    return fail(UF_ERR_SIGNATURE, "%s cannot reduce %s: it gives %s, which does not cast safely to its operands'",
                q->func->name, dtypes[p->operand].name, dtypes[p->result].name);
}

/* The accumulator's dtype under UF_WIDEN. */
static dtype widened(dtype t) {
    if (t == DT_BOOL)
        return DT_INT64;
    if (dtype_is_integer(t))
        return dtypes[t].is_signed ? DT_INT64 : DT_UINT64;
    return t;
}

/* As in NumPy the first operand is the accumulator, which has the output's dtype if there is an output. */
static uf_status binary_fill(request *q, fold *x, const char **kernel) {
    const uf_func *f = q->func;
    definition_place place = {0};
    bool given = q->args->nargs > q->args->nin, widens = f->widen && q->chosen < 0;
    dtype in = (dtype)(q->args->key.type[0] & ~BINDING_NUMBER), first = in;
    pair p;
    if (q->chosen < 0 && given)
        first = (dtype)q->args->key.type[1];
    else if (widens)
        first = widened(in);
    dtype meet = dtype_promote(first, in);
    bool half = widens && dtype_is_half(meet);
    TRY(half ? pair_find(q, DT_FLOAT32, DT_FLOAT32, &p) : pair_find(q, first, in, &p));
    *x = (fold){.nin = 1, .nstate = 1, .nout = 1, .combine = p.tree};
    x->in[0] = x->state[0] = p.operand;
    x->out[0] = half && p.operand == DT_FLOAT32 ? meet : p.operand;
    *kernel = f->sections[p.section].key;
    q->b->section = p.section;
    q->b->types[2] = p.result;
    if (f->layout)
        return UF_OK; /* a form combines, and has the identity */
    return identity_type(&(typing){f, x, &q->b->arena, &place});
}

/* ---- Bindings ---- */

static void types_print(text *t, const dtype *types, int n) {
    text_puts(t, " ");
    signature_print(t, types, n, 0);
}

static void source_print(text *t, const char *what, const char *source) {
    text_printf(t, "\n%s %zu ", what, source ? strlen(source) : 0);
    text_puts(t, source ? source : "");
}

/* Writes a text that says everything that the code of a fold depends on, for the key of the code. */
static uf_status source_write(const request *q, const fold *x, const char *kernel, const char **out) {
    const uf_func *f = q->func;
    const reduction *r = f->reduction;
    const function *combine = x->combine->kernel;
    dtype combined[UF_MAX_STATE];
    text t = {0};
    for (int k = 0; k < x->nstate; k++)
        combined[k] = combine->locals[combine->nparams + k].type;
    text_printf(&t, "fold %d", x->order);
    types_print(&t, x->in, x->nin);
    types_print(&t, x->state, x->nstate);
    types_print(&t, combined, x->nstate);
    types_print(&t, x->out, x->nout);
    source_print(&t, "map", r ? r->map.key : NULL);
    source_print(&t, "combine", kernel);
    source_print(&t, "finish", r ? r->finish.key : NULL);
    source_print(&t, "identity", f->identity.key);
    *out = t.failed ? NULL : arena_text(&q->b->arena, t.data, t.length);
    text_free(&t);
    return *out ? UF_OK : fail_memory();
}

/* Makes the content of a binding. Runs on a big stack. */
static uf_status fold_fill(void *user) {
    request *q = user;
    const uf_func *f = q->func;
    binding *b = q->b;
    fold *x = arena_alloc(&b->arena, sizeof *x);
    if (!x)
        return UF_ERR_MEMORY;
    const char *kernel = f->reduction ? f->reduction->combine.key : NULL;
    TRY(f->reduction ? reduction_fill(q, x) : binary_fill(q, x, &kernel));
    x->order = q->order;
    memcpy(b->types, x->in, (size_t)x->nin * sizeof *b->types);
    memcpy(b->types + x->nin, x->out, (size_t)x->nout * sizeof *b->types);
    b->layout = "";
    if (!f->layout) {
        b->fold = x;
        ir_fold_traits(x, &b->traits);
        TRY(source_write(q, x, kernel, &b->source));
    }
    return results_check(f, q->args, b->types, q->options.casting);
}

static uf_status fold_make(binding *b, void *user) {
    request *q = user;
    q->b = b;
    return on_big_stack(fold_fill, q);
}

/* Finds the signature that is forced, in the list of the function. It becomes part of the key. */
static uf_status signature_force(request *q, const char *signature) {
    const uf_func *f = q->func;
    if (!signature)
        return UF_OK;
    q->options.signature = signature;
    if (f->reduction || f->any_types)
        return choose_signature(f, q->args, &q->options, true, &q->chosen);
    const dispatch_input in = {.type = (dtype)(q->args->key.type[0] & ~BINDING_NUMBER)}, inputs[2] = {in, in};
    return dispatch(f->name, &f->signatures, inputs, 0, q->options.casting, signature, &q->chosen);
}

int fold_states(const uf_func *f) {
    if (f->reduction)
        return f->reduction->nstate;
    return f->layout ? core_folds(f) : f->nin == 2 && f->nout == 1;
}

uf_status fold_arity(const uf_func *f, const char *verb, int *nin, int *nout) {
    if (!fold_states(f))
        return fail(
            UF_ERR_ARGUMENT,
            "%s: %s has %d input%s and %d output%s%s%s; a reduction, or a function of two inputs and one output, whose "
            "operands can have cores of one shape, is needed",
            verb, f->name, f->nin, plural(f->nin), f->nout, plural(f->nout), f->layout ? " with core dimensions, " : "",
            f->layout ? f->layout_text : "");
    *nin = f->reduction ? f->nin : 1;
    *nout = f->reduction ? f->nout : 1;
    return UF_OK;
}

uf_status fold_find(const uf_func *f, const call_args *args, uf_casting casting, const char *signature, unsigned flags,
                    const binding **out) {
    binding_key key = args->key;
    int nout = f->reduction ? f->nout : 1;
    request q = {.func = f,
                 .args = args,
                 .options = {.size = sizeof q.options, .casting = casting, .flags = flags & UF_FIRST_MATCH},
                 .order = flags & UF_SERIAL    ? FOLD_SERIAL
                          : flags & UF_ORDERED ? FOLD_ORDERED
                                               : f->order,
                 .chosen = -1};
    TRY(signature_force(&q, signature));
    key.forced = q.chosen + 1;
    key.verb = VERB_FOLD;
    key.casting = (int32_t)casting;
    key.flags = (int32_t)(flags & (UF_FIRST_MATCH | UF_ORDERED | UF_SERIAL));
    for (int k = args->nargs; k < args->nin + nout; k++)
        key.type[k] = DT_NONE; /* not given: it is inferred */
    return binding_get_for(f, args, &key, offsetof(binding_key, type) + (size_t)(args->nin + nout), fold_make, &q,
                           &q.values, out);
}
