/* derivative.c - uf_derivative: the derivative of an elementwise function as a function of the same inputs. Its kernel calls that of the
 * function with a dual number (modules/dual.uf) in place of the input that is derived by, and returns what the outputs carry. */
#include <stdio.h>

#include "core/core.h"

/* Called for a section of the function, without signatures: what the kernel is typed for is known already, and dual numbers are none of
 * the dtypes that signatures have. */
typedef struct deriving {
    const uf_func *f;
    int input;
    char name[128];       /* of the derivative */
    text *signatures;     /* by section of f: those that have a derivative */
    text *sources;        /* the kernels */
    uf_func **elements;   /* what these call */
    uf_section *sections; /* of the derivative */
    int *section_of;      /* by section of the derivative: that of f */
    int nsections;
} deriving;

/* ---- Which signatures have a derivative ---- */

static bool is_derivable(const uf_func *f, int input, const dtype *types) {
    bool all = dtype_is_floating(types[input]);
    for (int k = 0; k < f->nout; k++)
        all &= dtype_is_floating(types[f->nin + k]);
    return all;
}

static uf_status signatures_choose(deriving *x) {
    const uf_func *f = x->f;
    for (int s = 0; s < f->signatures.count; s++) {
        const dtype *types = f->signatures.types + (size_t)s * (size_t)(f->nin + f->nout);
        text *t = &x->signatures[f->section_of[s]];
        if (!is_derivable(f, x->input, types))
            continue;
        text_puts(t, t->length ? "; " : "");
        signature_print(t, types, f->nin, f->nout);
        if (t->failed)
            return fail_memory();
    }
    return UF_OK;
}

/* ---- Texts ---- */

static void list_print(text *t, const char *prefix, int n) {
    for (int k = 0; k < n; k++)
        text_printf(t, "%s%s%d", k ? ", " : "", prefix, k);
}

/* "f(x0, (dual(T)){x1, 1})", where T is the type that all inputs have in common, of integers alone float64. Numbers stay numbers, but
 * where a derivative is derived again, other inputs may be dual numbers of the first, and become constants of the second. */
static void call_print(text *t, const deriving *x, const char *callee) {
    static const char type[] = "dual(typeof(_Generic(common, integer: 0.0, default: common)))";
    text_printf(t, "%s(", callee);
    for (int k = 0; k < x->f->nin; k++)
        if (k == x->input)
            text_printf(t, "%s(%s){x%d, 1}", k ? ", " : "", type, k);
        else
            text_printf(t, "%s_Generic(x%d, integer: x%d, floating: x%d, complex: x%d, default: (%s){x%d, 0})",
                        k ? ", " : "", k, k, k, k, type, k);
    text_puts(t, ")");
}

static uf_status source_print(deriving *x, int which, const char *callee) {
    text *t = &x->sources[which];
    int nout = x->f->nout;
    text_puts(t, "use dual;\n(");
    list_print(t, "x", x->f->nin);
    text_puts(t, ")");
    if (nout > 1) {
        text_puts(t, " -> (");
        list_print(t, "d", nout);
        text_puts(t, ")");
    }
    text_puts(t, " {\n    auto common = ");
    for (int k = 0; k < x->f->nin; k++)
        text_printf(t, "%s+x%d", k ? " + " : "", k);
    if (nout > 1) {
        text_puts(t, ";\n    auto (");
        list_print(t, "y", nout);
        text_puts(t, ") = ");
    } else {
        text_puts(t, ";\n    return derivative(");
    }
    call_print(t, x, callee);
    text_puts(t, nout > 1 ? ";\n" : ");\n");
    for (int k = 0; k < nout && nout > 1; k++)
        text_printf(t, "    d%d = derivative(y%d);\n", k, k);
    text_puts(t, "}");
    return t->failed ? fail_memory() : UF_OK;
}

/* ---- Making ---- */

static uf_status section_derive(deriving *x, int s) {
    const uf_func *f = x->f;
    const text_origin like = {.title = f->name, .like = &f->scope};
    const uf_section only = {.source = f->sections[s].source};
    char callee[160];
    definition_place place;
    snprintf(callee, sizeof callee, "%.90s_of_dual_%d", f->name, s);
    TRY(func_define(&x->elements[x->nsections],
                    &(uf_definition){.size = sizeof(uf_definition),
                                     .name = callee,
                                     .nsections = 1,
                                     .sections = &only,
                                     .nmodules = f->scope.names.nmodules,
                                     .modules = f->scope.modules,
                                     .nfunctions = f->scope.names.nfunctions,
                                     .functions = f->scope.functions},
                    &like, &place));
    x->section_of[x->nsections] = s;
    TRY(source_print(x, x->nsections, callee));
    x->sections[x->nsections] =
        (uf_section){f->any_types ? NULL : x->signatures[s].data, x->sources[x->nsections].data};
    x->nsections++;
    return UF_OK;
}

/* An error in the function's own kernel names that, rather than the derivative. */
static uf_status restate(const deriving *x, uf_status status, definition_place place) {
    if (!status || place.part != IN_SOURCE || !text_is_own(x->name, place))
        return status;
    error_slot()->source[0] = 0;
    place.section = x->section_of[place.section];
    return text_named(status, x->f->name, place);
}

static uf_status derive(deriving *x, uf_func **out) {
    const uf_func *f = x->f;
    definition_place place;
    char doc[320];
    TRY(signatures_choose(x));
    for (int s = 0; s < f->nsections; s++)
        if (f->any_types || x->signatures[s].length)
            TRY(section_derive(x, s));
    if (!x->nsections)
        return fail(UF_ERR_SIGNATURE, "%s: input %d and the outputs are floating in none of the signatures %s", f->name,
                    x->input, f->signatures_text);
    snprintf(doc, sizeof doc, "The derivative of %s by input %d.", f->name, x->input);
    const uf_definition d = {.size = sizeof d,
                             .name = x->name,
                             .doc = doc,
                             .nsections = x->nsections,
                             .sections = x->sections,
                             .fast = f->fast,
                             .flags = f->flags & (UF_UNCHECKED | UF_DEBUG | UF_LINES),
                             .max_registers = f->max_registers,
                             .max_steps = f->max_steps,
                             .nfunctions = x->nsections,
                             .functions = x->elements};
    uf_status s = func_define(out, &d, NULL, &place);
    return restate(x, s, place);
}

static uf_status input_check(const uf_func *f, int input) {
    if (f->reduction || is_kernel(f) || f->layout)
        return fail(UF_ERR_ARGUMENT, "%s is a %s; derivatives are those of elementwise functions", f->name,
                    f->reduction ? "reduction" : func_kind(f));
    if (input < 0 || input >= f->nin)
        return fail(UF_ERR_ARGUMENT, "%s: input is %d; it has %d input%s, counted from 0", f->name, input, f->nin,
                    f->nin == 1 ? "" : "s");
    return UF_OK;
}

uf_status uf_derivative(uf_func **out, const uf_func *f, int input) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    *out = NULL;
    if (!f)
        return fail(UF_ERR_ARGUMENT, "func is NULL");
    TRY(input_check(f, input));
    arena a = {0};
    size_t n = (size_t)f->nsections;
    deriving x = {.f = f, .input = input};
    snprintf(x.name, sizeof x.name, "%.110s_d%d", f->name, input);
    x.signatures = arena_alloc(&a, n * sizeof *x.signatures);
    x.sources = arena_alloc(&a, n * sizeof *x.sources);
    x.elements = arena_alloc(&a, n * sizeof *x.elements);
    x.sections = arena_alloc(&a, n * sizeof *x.sections);
    x.section_of = arena_alloc(&a, n * sizeof *x.section_of);
    bool room = x.signatures && x.sources && x.elements && x.sections && x.section_of;
    uf_status s = room ? derive(&x, out) : fail_memory();
    for (size_t i = 0; i < n && room; i++) {
        text_free(&x.signatures[i]);
        text_free(&x.sources[i]);
        uf_free(x.elements[i]);
    }
    arena_free(&a);
    return s;
}
