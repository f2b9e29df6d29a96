/* math.c - calls of the math table's functions. On the GPU libdevice's names. On the CPU no name of libm appears: LLVM would
 * fold constants with the libm of its own process and pick other routines for vectors. A function of libmvec, or one of our own in its
 * place (vector_forms.h), is always reached through a function of the module, @m_sin_f32, which calls the one routine of the host's
 * width with its argument in every lane; the vectoriser is told (attribute vector-function-abi-variant) that this routine, and
 * functions of the module that split and pad to its width, are what a vector of calls is. So a result has the same bits wherever it
 * is computed. */
#include <stdio.h>

#include "ir/common/internal.h"
#include "ir/common/target.h"
#include "ir/common/vector_forms.h"

enum {
    MAX_ARITY = 4
};

static dtype argument_type(const math_row *row, dtype wide, int i) {
    bool is_int = (row->rule == MATH_FLOATING_INT && i == row->arity - 1) || (row->rule == MATH_INT_FLOATING && i == 0);
    return is_int ? DT_INT32 : wide;
}

static dtype result_type(const math_row *row, dtype wide) {
    return row->rule == MATH_TO_INT || row->rule == MATH_BITS ? DT_INT32 : wide;
}

/* "float %r1, float %r2"; without args the types alone. */
static fragment argument_list(const math_row *row, dtype wide, const ssa *args, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < row->arity && i < MAX_ARITY; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s%s%s", i ? ", " : "",
                                 ir_value_type(argument_type(row, wide, i)), args ? " " : "", args ? args[i].text : "");
    return fragment_of("%s", ir_value_type(result_type(row, wide)));
}

/* A declared function of that name called with the row's types. */
static ssa call_declared(emit *e, const math_row *row, dtype wide, const char *name, const char *attributes,
                         const ssa *args) {
    char types[64], values[256];
    fragment result = argument_list(row, wide, NULL, types, sizeof types);
    argument_list(row, wide, args, values, sizeof values);
    emit_declare(e, "declare %s @%s(%s)%s", result.text, name, types, attributes);
    return emit_value(e, "call %s @%s(%s)", result.text, name, values);
}

/* ---- Counting bits: in 32 or 64 bits, corrected for shorter types ---- */

static ssa count_bits(emit *e, const char *name, dtype type, ssa x) {
    int bits = 8 * dtypes[type].size;
    bool leading = !strcmp(name, "llvm.ctlz"), trailing = !strcmp(name, "llvm.cttz");
    const char *flag = leading || trailing ? ", i1" : "", *flag_value = leading || trailing ? ", i1 false" : "";
    const char *t = bits == 64 ? "i64" : "i32";
    if (bits < 32)
        x = emit_value(e, "zext %s %s to i32", ir_value_type(type), x.text);
    if (bits < 32 && trailing)
        x = emit_value(e, "or i32 %s, %d", x.text, 1 << bits);
    emit_declare(e, "declare %s @%s.%s(%s%s)", t, name, t, t, flag);
    ssa n = emit_value(e, "call %s @%s.%s(%s %s%s)", t, name, t, t, x.text, flag_value);
    if (bits < 32 && leading)
        n = emit_value(e, "sub i32 %s, %d", n.text, 32 - bits);
    return bits == 64 ? emit_value(e, "trunc i64 %s to i32", n.text) : n;
}

/* ---- Functions of vectors ---- */

/* What is common to the functions that lead to one routine. */
typedef struct vector_math {
    const char *scalar; /* m_sin_f32 */
    const char *type;   /* float */
    const char *routine;
    int lanes, arity;
    bool own; /* the routine is a function of the module */
} vector_math;

static void mask(text *t, int width, int first, int count) {
    text_printf(t, "<%d x i32> <", width);
    for (int i = 0; i < width; i++)
        text_printf(t, "%si32 %d", i ? ", " : "", first + i % count);
    text_puts(t, ">");
}

/* shufflevector of two vectors of `width` lanes that takes `taken` lanes, first, first + 1 .. repeating after count. */
static ssa shuffle(emit *e, const vector_math *m, int width, ssa a, ssa b, int taken, int first, int count) {
    text lanes = {0};
    mask(&lanes, taken, first, count);
    e->failed |= lanes.failed;
    ssa r = emit_value(e, "shufflevector <%d x %s> %s, <%d x %s> %s, %s", width, m->type, a.text, width, m->type,
                       b.text, lanes.failed ? "" : lanes.data);
    text_free(&lanes);
    return r;
}

static ssa call_routine(emit *e, const vector_math *m, const ssa *args) {
    char values[256];
    size_t used = 0;
    for (int i = 0; i < m->arity; i++)
        used += (size_t)snprintf(values + used, sizeof values - used, "%s<%d x %s> %s", i ? ", " : "", m->lanes,
                                 m->type, args[i].text);
    return emit_value(e, "call <%d x %s> @%s(%s) nounwind readnone noinline", m->lanes, m->type, m->routine, values);
}

/* "float %x0, float %x1", of a type. */
static void parameters(const vector_math *m, const char *type, char *out, size_t size) {
    size_t used = 0;
    for (int i = 0; i < m->arity; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s %%x%d", i ? ", " : "", type, i);
}

static void define_scalar(emit *e, const vector_math *m) {
    char list[64];
    definition s;
    ssa args[MAX_ARITY];
    parameters(m, m->type, list, sizeof list);
    if (!emit_define(e, &s, "define internal %s @%s(%s) noinline nounwind readnone", m->type, m->scalar, list))
        return;
    for (int i = 0; i < m->arity; i++) {
        ssa one = emit_value(e, "insertelement <%d x %s> undef, %s %%x%d, i32 0", m->lanes, m->type, m->type, i);
        args[i] = emit_value(e, "shufflevector <%d x %s> %s, <%d x %s> undef, <%d x i32> zeroinitializer", m->lanes,
                             m->type, one.text, m->lanes, m->type, m->lanes);
    }
    ssa all = call_routine(e, m, args);
    ssa r = emit_value(e, "extractelement <%d x %s> %s, i32 0", m->lanes, m->type, all.text);
    emit_line(e, "ret %s %s", m->type, r.text);
    emit_define_end(e, &s);
}

/* The function for half the lanes: the other half repeats them. */
static ssa define_half(emit *e, const vector_math *m, int width) {
    ssa args[MAX_ARITY];
    for (int i = 0; i < m->arity; i++)
        args[i] = shuffle(e, m, width, ssa_named("%%x%d", i), ssa_literal("undef"), m->lanes, 0, width);
    return shuffle(e, m, m->lanes, call_routine(e, m, args), ssa_literal("undef"), width, 0, width);
}

static ssa define_double(emit *e, const vector_math *m, int width) {
    ssa half[2];
    for (int k = 0; k < 2; k++) {
        ssa args[MAX_ARITY];
        for (int i = 0; i < m->arity; i++)
            args[i] =
                shuffle(e, m, width, ssa_named("%%x%d", i), ssa_literal("undef"), m->lanes, k * m->lanes, m->lanes);
        half[k] = call_routine(e, m, args);
    }
    return shuffle(e, m, m->lanes, half[0], half[1], width, 0, width);
}

/* @m_sin_f32_x8: the function for `width` lanes. */
static void define_width(emit *e, const vector_math *m, int width, const char *name) {
    char type[32], list[128];
    definition s;
    snprintf(type, sizeof type, "<%d x %s>", width, m->type);
    parameters(m, type, list, sizeof list);
    if (!emit_define(e, &s, "define internal %s @%s(%s) noinline nounwind readnone", type, name, list))
        return;
    ssa r = width < m->lanes ? define_half(e, m, width) : define_double(e, m, width);
    emit_line(e, "ret %s %s", type, r.text);
    emit_define_end(e, &s);
    emit_used(e, name, type, m->arity);
}

/* Defines everything for one routine and lists what the vectoriser may use. */
static int define_vector_math(emit *e, const vector_math *m, char isa) {
    char type[32], variants[384], name[64];
    const char *v = &"vvvv"[MAX_ARITY - m->arity];
    size_t used =
        (size_t)snprintf(variants, sizeof variants, "_ZGV%cN%d%s_%s(%s)", isa, m->lanes, v, m->scalar, m->routine);
    bool first = emit_once(e, m->scalar);
    snprintf(type, sizeof type, "<%d x %s>", m->lanes, m->type);
    if (first) {
        if (!m->own)
            emit_declare(e, "declare %s @%s(%s%s%s) nounwind readnone", type, m->routine, type,
                         m->arity > 1 ? ", " : "", m->arity > 1 ? type : "");
        define_scalar(e, m);
        emit_used(e, m->scalar, m->type, m->arity);
        emit_used(e, m->routine, type, m->arity);
    }
    for (int width = m->lanes / 2; width <= 2 * m->lanes; width *= 4) {
        if (width < 2)
            continue;
        snprintf(name, sizeof name, "%s_x%d", m->scalar, width);
        used += (size_t)snprintf(variants + used, sizeof variants - used, ",_ZGV_LLVM_N%d%s_%s(%s)", width, v,
                                 m->scalar, name);
        if (first)
            define_width(e, m, width, name);
    }
    return emit_attributes(e, "nounwind readnone \"vector-function-abi-variant\"=\"%s\"", variants);
}

static void routine_name(const math_row *row, dtype wide, char isa, int lanes, char *name, size_t size) {
    snprintf(name, size, "_ZGV%cN%d%s_%s%s", isa, lanes, row->arity > 1 ? "vv" : "v", row->cpu,
             wide == DT_FLOAT32 ? "f" : "");
}

bool emit_math_has_vectors(const emit *e, const math_row *row, dtype wide) {
    char name[48], isa = 0;
    int lanes = row->vector ? target_lanes(e->target, wide, &isa) : 0;
    if (row->rule == MATH_BITS || !strncmp(row->cpu, "llvm.", 5))
        return true;
    routine_name(row, wide, isa, lanes, name, sizeof name);
    return lanes && target_vector_symbol(name);
}

/* The name of our own form, or of libmvec's routine for so many lanes; false if there is neither. */
static bool find_routine(emit *e, const math_row *row, dtype wide, char isa, int lanes, vector_math *m, char *name,
                         size_t size) {
    const char *own = emit_vector_form(e, row, wide);
    m->own = own;
    m->routine = name;
    if (own)
        return snprintf(name, size, "%s", own) > 0;
    routine_name(row, wide, isa, lanes, name, size);
    const void *address = target_vector_symbol(name);
    if (!address)
        return false;
    emit_symbol(e, name, address);
    char routine[48];
    snprintf(routine, sizeof routine, "%s", name);
    m->own = emit_in_domain(e, row, wide, routine, name, size);
    return true;
}

/* A call of the routine of the host's width; false if there is none. */
static bool call_vector(emit *e, const math_row *row, dtype wide, const ssa *args, ssa *result) {
    char scalar[48], routine[48], values[256], isa = 0;
    int lanes = row->vector ? target_lanes(e->target, wide, &isa) : 0;
    vector_math m = {.scalar = scalar, .type = ir_value_type(wide), .lanes = lanes, .arity = row->arity};
    if (!lanes || !find_routine(e, row, wide, isa, lanes, &m, routine, sizeof routine))
        return false;
    e->vector_lanes = e->vector_lanes && e->vector_lanes < lanes ? e->vector_lanes : lanes;
    snprintf(scalar, sizeof scalar, "m_%s_%s", row->cpu, wide == DT_FLOAT32 ? "f32" : "f64");
    int group = define_vector_math(e, &m, isa);
    argument_list(row, wide, args, values, sizeof values);
    *result = emit_value(e, "call %s @%s(%s) #%d", m.type, scalar, values, group);
    return true;
}

ssa emit_form_call(emit *e, const char *scalar, const char *form, dtype type, int arity, const ssa *args) {
    char isa, values[256];
    const char *t = ir_value_type(type);
    vector_math m = {.scalar = scalar,
                     .type = t,
                     .routine = form,
                     .lanes = target_lanes(e->target, type, &isa),
                     .arity = arity,
                     .own = true};
    size_t used = 0;
    int group = define_vector_math(e, &m, isa);
    for (int i = 0; i < arity; i++)
        used += (size_t)snprintf(values + used, sizeof values - used, "%s%s %s", i ? ", " : "", t, args[i].text);
    return emit_value(e, "call %s @%s(%s) #%d", t, scalar, values, group);
}

/* ---- */

ssa emit_libm(emit *e, const math_row *row, dtype wide, const ssa *args) {
    char name[48];
    snprintf(name, sizeof name, "libm_%s%s", row->cpu, wide == DT_FLOAT32 ? "f" : "");
    emit_symbol(e, name, wide == DT_FLOAT32 ? row->address32 : row->address64);
    return call_declared(e, row, wide, name, " nounwind readnone", args);
}

/* A function around a routine of libdevice, whose code libNVVM inlines there: once a module instead of once a call. */
static void define_copy(emit *e, const math_row *row, dtype wide, const char *routine, const char *name) {
    const ssa parameters[MAX_ARITY] = {ssa_named("%%a0"), ssa_named("%%a1"), ssa_named("%%a2")};
    char list[96];
    definition s;
    fragment type = argument_list(row, wide, parameters, list, sizeof list);
    if (!emit_define(e, &s, "define internal %s @%s(%s) noinline nounwind readnone", type.text, name, list))
        return;
    ssa r = call_declared(e, row, wide, routine, " nounwind readnone", parameters);
    emit_line(e, "ret %s %s", type.text, r.text);
    emit_define_end(e, &s);
}

static ssa call_libdevice(emit *e, const math_row *row, dtype wide, const ssa *args) {
    enum {
        FEW_LINES = 4,     /* of the routines that are instructions on the CPU (fabs), */
        SHORT_LINES = 60,  /* of the routines that libmvec has, too, */
        OTHER_LINES = 300, /* of the others (remainders, scaling), */
        LONG_LINES = 1500  /* and of those with large errors: gamma and Bessel functions; all roughly */
    };
    char name[48], copy[56], values[256];
    snprintf(name, sizeof name, "%s%s", row->gpu, wide == DT_FLOAT32 ? "f" : "");
    e->module->math = true;
    if (!e->plain) {
        bool few = !strncmp(row->cpu, "llvm.", 5);
        e->written.lines += few ? FEW_LINES : row->vector ? SHORT_LINES : row->ulp64 > 5 ? LONG_LINES : OTHER_LINES;
        return call_declared(e, row, wide, name, " nounwind readnone", args);
    }
    snprintf(copy, sizeof copy, "m%s", name);
    define_copy(e, row, wide, name, copy);
    fragment type = argument_list(row, wide, args, values, sizeof values);
    return emit_value(e, "call %s @%s(%s)", type.text, copy, values);
}

static ssa call_intrinsic(emit *e, const math_row *row, dtype wide, const char *base, const ssa *args) {
    char name[48];
    snprintf(name, sizeof name, "%s.%s", base, wide == DT_FLOAT32 ? "f32" : "f64");
    return call_declared(e, row, wide, name, "", args);
}

/* 1 / x as -(-1 / x), of which the sign is changed in the bits: x may be -0, and some compilers take a quotient of numbers that are not
 * below 0 for one that is not either (quotient.c). */
static ssa invert(emit *e, dtype wide, ssa x) {
    const char *type = ir_value_type(wide);
    int bits = 8 * dtypes[wide].size;
    ssa r = emit_value(e, "fdiv %s -1.0, %s", type, x.text);
    r = emit_value(e, "bitcast %s %s to i%d", type, r.text, bits);
    r = emit_value(e, "xor i%d %s, %s", bits, r.text, bits == 32 ? "-2147483648" : "-9223372036854775808");
    return emit_value(e, "bitcast i%d %s to %s", bits, r.text, type);
}

ssa emit_math(emit *e, const math_row *row, dtype wide, const ssa *args) {
    const char *name = target_math_name(e->target, row);
    ssa result;
    if (row->direction)
        return emit_directed(e, row, wide, args);
    if (row->rule == MATH_BITS)
        return count_bits(e, name, wide, args[0]);
    if (emit_half_exp(e, row, wide, args[0], &result))
        return result;
    if (!strncmp(name, "llvm.", 5)) {
        result = call_intrinsic(e, row, wide, name, args);
        return row->inverted ? invert(e, wide, result) : result;
    }
    if (e->target->gpu)
        return call_libdevice(e, row, wide, args);
    if (!strcmp(row->name, "fmod"))
        return emit_remainder(e, row, wide, false, args);
    if (emit_exponent(e, row, wide, args, &result))
        return result;
    return call_vector(e, row, wide, args, &result) ? result : emit_libm(e, row, wide, args);
}
