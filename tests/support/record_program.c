/* record_program.c - see record_program.h. An expression is made in both languages at once, of a type that is known, so that the C text says
 * which helper, operator or conversion is meant where kernel C has to find it among those of a name. */
#include "record_program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"

#define ONE_OF(array) (array)[pick(0, (int64_t)COUNT(array) - 1)]

/* clang-format off */
const char record_program_c[] =
    "#include <complex.h>\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n#undef I\n"
    "static float half_value(uint16_t h) {\n"
    "    int e = h >> 10 & 31, m = h & 1023;\n"
    "    float v = e == 31 ? m ? NAN : INFINITY : e ? ldexpf((float)(m + 1024), e - 25) : ldexpf((float)m, -24);\n"
    "    return h >> 15 ? -v : v;\n"
    "}\n"
    "static float brain_value(uint16_t h) { uint32_t w = (uint32_t)h << 16; float v; memcpy(&v, &w, 4); return v; }\n"
    "#define INTEGER(name, type, low, high, bits) \\\n"
    "    static type to_##name(double x) { return x != x ? 0 : x <= (double)(low) ? (low) : x >= (double)(high) ? (high) : (type)x; }\n"
    "#define OPERATIONS(name, type, low, bits) \\\n"
    "    static type div_##name(type a, type b) { return b == 0 ? 0 : low && b == (type)-1 ? (type)(0 - a) : a / b; } \\\n"
    "    static type mod_##name(type a, type b) { return b == 0 || (low && b == (type)-1) ? 0 : a % b; } \\\n"
    "    static type shl_##name(type a, uint64_t n) { return n < bits ? (type)((uint64_t)a << n) : 0; } \\\n"
    "    static type shr_##name(type a, uint64_t n) { return n < bits ? a >> n : a < 0 ? (type)-1 : 0; }\n"
    "INTEGER(int8, int8_t, INT8_MIN, INT8_MAX, 8)\nINTEGER(int16, int16_t, INT16_MIN, INT16_MAX, 16)\n"
    "INTEGER(int32, int32_t, INT32_MIN, INT32_MAX, 32)\nINTEGER(int64, int64_t, INT64_MIN, INT64_MAX, 64)\n"
    "INTEGER(uint8, uint8_t, 0, UINT8_MAX, 8)\nINTEGER(uint16, uint16_t, 0, UINT16_MAX, 16)\n"
    "INTEGER(uint32, uint32_t, 0, UINT32_MAX, 32)\nINTEGER(uint64, uint64_t, 0, UINT64_MAX, 64)\n"
    "OPERATIONS(int32, int32_t, 1, 32)\nOPERATIONS(int64, int64_t, 1, 64)\n"
    "OPERATIONS(uint32, uint32_t, 0, 32)\nOPERATIONS(uint64, uint64_t, 0, 64)\n";

/* What arithmetic is done in, and operators of records are over. */
static const dtype work_types[] = {DT_INT32, DT_INT64, DT_UINT32, DT_UINT64, DT_FLOAT32, DT_FLOAT64};
static const dtype field_types[] = {DT_FLOAT64, DT_FLOAT64, DT_FLOAT32, DT_FLOAT32, DT_INT64, DT_INT32, DT_UINT32, DT_UINT64,
                                    DT_BOOL, DT_INT8, DT_INT16, DT_UINT8, DT_UINT16, DT_FLOAT16, DT_BFLOAT16,
                                    DT_COMPLEX64, DT_COMPLEX128};
/* clang-format on */

typedef struct expr {
    char *k, *c;
} expr;

typedef struct variable {
    char k[12], c[32];
    random_type type;
    bool is_array;
    char bound[16]; /* its extent */
    bool fixed, hidden;
} variable;

typedef enum operation {
    ADD,
    SUB,
    MUL,
    NEG,
    SQRT,
    LESS,
    FROM, /* from the type of the first field that is computed with */
    TO,   /* to float64 */
    OPERATIONS
} operation;

enum {
    MAX_VARIABLES = 40,
    MAX_HELPERS = 8,
    MAX_PARAMS = 3
};

typedef struct helper {
    char k[16], c[40];
    bool typed;            /* its parameters have types in kernel C, else they take those of arguments */
    int nparams, nresults; /* 0 results: it changes its array, the first parameter */
    random_type param[MAX_PARAMS], result[2];
} helper;

typedef struct generator {
    record_program *p;
    arena a;
    variable variables[MAX_VARIABLES];
    int nvariables;
    helper helpers[MAX_HELPERS];
    int nhelpers;
    unsigned has[RECORDS_DEFINITIONS]; /* by definition, a bit by operation */
    int names, budget, nest;
    random_type returns; /* of the helper or kernel around; DT_NONE and NULL: it has named results */
} generator;

/* ---- Texts in both languages ---- */

static void put_format(text *out, bool c, const char *format, va_list args) {
    for (; *format; format++) {
        if (*format == '$') { /* an expr */
            expr e = va_arg(args, expr);
            text_puts(out, c ? e.c : e.k);
        } else if (*format == '@') { /* a type */
            random_type t = va_arg(args, random_type);
            text_puts(out, c ? c_type_name(t) : kernel_type_name(t));
        } else if (*format == '#') { /* words */
            text_puts(out, va_arg(args, const char *));
        } else {
            text_add(out, format, 1);
        }
    }
}

static char *kept(generator *g, text *t) {
    char *s = arena_text(&g->a, t->data ? t->data : "", t->length);
    text_free(t);
    return s;
}

/* Of formats for kernel C and for C: $ is an expr, @ a random_type, # a string. */
static expr say_two(generator *g, const char *k, const char *c, ...) {
    expr e;
    text t = {0};
    va_list args;
    va_start(args, c);
    put_format(&t, false, k, args);
    va_end(args);
    e.k = kept(g, &t);
    va_start(args, c);
    put_format(&t, true, c, args);
    va_end(args);
    e.c = kept(g, &t);
    return e;
}
#define say(g, format, ...) say_two(g, format, format, __VA_ARGS__)

static const char *number_text(generator *g, int64_t n) {
    text t = {0};
    text_printf(&t, "%lld", (long long)n);
    return kept(g, &t);
}

static expr words(generator *g, const char *k, const char *c) {
    return (expr){arena_text(&g->a, k, strlen(k)), arena_text(&g->a, c, strlen(c))};
}

static expr joined(generator *g, expr a, expr b) { return say(g, "$$", a, b); }

/* ---- Types and variables ---- */

static random_type scalar_type(dtype t) { return (random_type){t, NULL}; }
static random_type record_type(const random_record *r) { return (random_type){DT_NONE, r}; }
static bool same(random_type a, random_type b) { return a.type == b.type && a.record == b.record; }
static dtype work_type(void) { return ONE_OF(work_types); }
static bool is_work(random_type t) {
    for (size_t i = 0; i < COUNT(work_types); i++)
        if (!t.record && t.type == work_types[i])
            return true;
    return false;
}

static const random_record *any_record(generator *g) {
    return &g->p->records.record[pick(0, g->p->records.nrecords - 1)];
}

static random_type any_type(generator *g) { return chance(70) ? record_type(any_record(g)) : scalar_type(work_type()); }

static variable *variable_new(generator *g, const char *prefix, random_type t) {
    if (g->nvariables == MAX_VARIABLES)
        abort();
    variable *v = &g->variables[g->nvariables++];
    *v = (variable){.type = t};
    snprintf(v->k, sizeof v->k, "%s%d", prefix, g->names++ % 10000);
    strcpy(v->c, v->k);
    return v;
}

static bool room(const generator *g) { return g->nvariables < MAX_VARIABLES - 6; }

/* A variable, of a type if it is given. */
static variable *some_variable(generator *g, const random_type *t, bool array, bool to_assign) {
    variable *found = NULL;
    int seen = 0;
    for (int i = 0; i < g->nvariables; i++) {
        variable *v = &g->variables[i];
        if (!v->hidden && v->is_array == array && !(to_assign && v->fixed) && (!t || same(v->type, *t)) &&
            pick(0, seen++) == 0)
            found = v;
    }
    return found;
}

/* ---- Conversions ---- */

static expr scalar(generator *g, dtype t, int depth);
static expr record_value(generator *g, const random_record *r, int depth);
static expr condition(generator *g, int depth);

/* C's side of a conversion of a scalar. */
static const char *c_convert(generator *g, dtype to, dtype from, const char *inner) {
    text t = {0};
    const char *name = c_type_name(scalar_type(to));
    if (from == DT_FLOAT16 || from == DT_BFLOAT16) {
        text_printf(&t, "%s(%s)", from == DT_FLOAT16 ? "half_value" : "brain_value", inner);
        return c_convert(g, to, DT_FLOAT32, kept(g, &t));
    }
    if (to == DT_BOOL) {
        text_printf(&t, "((%s) != 0)", inner);
        return kept(g, &t);
    }
    if (dtype_is_complex(from) && !dtype_is_complex(to)) {
        text_printf(&t, "creal(%s)", inner);
        return c_convert(g, to, DT_FLOAT64, kept(g, &t));
    }
    if (dtype_is_floating(from) && dtypes[to].kind < DK_FLOATING)
        text_printf(&t, "to_%s(%s)", dtypes[to].name, inner);
    else
        text_printf(&t, "((%s)(%s))", name, inner);
    return kept(g, &t);
}

static expr converted(generator *g, dtype to, dtype from, expr e) {
    expr r = say(g, "((@)$)", scalar_type(to), e);
    r.c = words(g, "", c_convert(g, to, from, e.c)).c;
    return r;
}

/* A value for a variable, field or parameter of any dtype, which kernel C converts by itself. */
static expr value_for(generator *g, dtype t, int depth) {
    static const char *const halves[][3] = {{"0.0", "0", "0"},
                                            {"1.5", "0x3E00", "0x3FC0"},
                                            {"-2.0", "0xC000", "0xC000"},
                                            {"0.25", "0x3400", "0x3E80"},
                                            {"INFINITY", "0x7C00", "0x7F80"}};
    if (dtype_is_half(t)) {
        const char *const *row = ONE_OF(halves);
        return words(g, row[0], row[t == DT_FLOAT16 ? 1 : 2]);
    }
    dtype from = chance(60) && is_work(scalar_type(t)) ? t : work_type();
    expr e = scalar(g, from, depth);
    return (expr){e.k, words(g, "", c_convert(g, t, from, e.c)).c};
}

static expr value_of(generator *g, random_type t, int depth) {
    return t.record ? record_value(g, t.record, depth) : scalar(g, t.type, depth);
}

/* ---- Places: variables and parts of them ---- */

typedef struct place {
    expr path;
    char *before, *holds; /* C: declarations of the indices, and what says that they are in range; "" */
    random_type type;
    bool chosen; /* an array in a record has had an index that is no constant */
    bool fixed;
} place;

static expr index_value(generator *g, int depth) {
    dtype t = chance(50) ? DT_INT32 : DT_INT64;
    variable *v = some_variable(g, &(random_type){DT_INT64, NULL}, false, false);
    if (v && chance(40))
        return words(g, v->k, v->c);
    if (chance(40))
        return say(g, "($ & 3)", scalar(g, t, depth - 2));
    return scalar(g, t, depth - 2);
}

/* Appends an index below a bound: in C it is evaluated once, before the place is touched. */
static void place_index(generator *g, place *p, expr index, const char *bound) {
    text name = {0};
    text_printf(&name, "u%d_", g->names++);
    const char *u = kept(g, &name);
    expr path = p->path;
    p->path.k = say(g, "#[#]", path.k, index.k).k;
    p->path.c = say(g, "#[#]", path.c, u).c;
    p->before = say(g, "#int64_t # = #; ", p->before, u, index.c).c;
    p->holds = say(g, "#(uint64_t)# < # && ", p->holds, u, bound).c;
}

static place place_of(generator *g, const variable *v, int depth) {
    place p = {.path = words(g, v->k, v->c), .type = v->type, .fixed = v->fixed};
    p.before = p.holds = words(g, "", "").c;
    if (v->is_array)
        place_index(g, &p, index_value(g, depth), v->bound);
    return p;
}

static void place_constant_indices(generator *g, place *p, const random_field *f) {
    for (int d = 0; d < f->rank; d++)
        p->path = say(g, "$[#]", p->path, number_text(g, pick(0, f->extent[d] - 1)));
}

/* An index that is no constant, as a constant one out of range is an error; false: there is no variable for it. */
static bool moving_index(generator *g, expr *out) {
    variable *v = some_variable(g, &(random_type){chance(50) ? DT_INT64 : DT_INT32, NULL}, false, false);
    if (!v)
        return false;
    const char *form = chance(60) ? "($ & 3)" : chance(50) ? "($ % 3)" : "$"; /* say evaluates its format twice */
    *out = say(g, form, words(g, v->k, v->c));
    return true;
}

/* Goes on to a field. */
static void place_field(generator *g, place *p, const random_field *f) {
    p->path = say(g, "$.#", p->path, f->name);
    expr moving;
    if (f->rank && !p->chosen && chance(40) && moving_index(g, &moving)) {
        for (int d = 0; d < f->rank; d++)
            place_index(g, p, d ? say(g, "($ & 1)", moving) : moving, number_text(g, f->extent[d]));
        p->chosen = true;
    } else {
        place_constant_indices(g, p, f);
    }
    p->type = f->type;
}

static const random_field *any_field(const random_record *r) { return &r->field[pick(0, r->nfields - 1)]; }

/* The value there; that of an index out of range is 0. */
static expr place_value(generator *g, const place *p) {
    if (!*p->holds)
        return p->path;
    return (expr){p->path.k, say(g, "({ #(#1) ? # : (@){0}; })", p->before, p->holds, p->path.c, p->type).c};
}

static expr place_set(generator *g, const place *p, const char *op, expr value) {
    return (expr){say(g, "# #= #;\n", p->path.k, op, value.k).k,
                  say(g, "{ #if (#1) # #= #; }\n", p->before, p->holds, p->path.c, op, value.c).c};
}

/* ---- Scalars ---- */

static expr literal(generator *g, dtype t) {
    static const char *const integers[] = {"0", "1", "2", "3", "7", "31", "100", "255", "65535", "2147483647"};
    static const char *const reals[] = {"0.5", "1.5", "2.0", "0.25", "1e3", "3.0", "1024.5", "INFINITY", "NAN", "0.0"};
    for (int i = 0; i < g->nvariables && chance(25); i++) /* a constant of the text */
        if (g->variables[i].k[0] == 'k' && chance(50))
            return converted(g, t, DT_FLOAT64, words(g, g->variables[i].k, g->variables[i].c));
    if (dtypes[t].kind < DK_FLOATING)
        return say(g, "((@)#)", scalar_type(t), ONE_OF(integers));
    return say(g, "((@)#)", scalar_type(t), chance(80) ? ONE_OF(reals) : ONE_OF(integers));
}

static expr read_scalar(generator *g, dtype t, int depth) {
    random_type exact = scalar_type(t);
    variable *v = some_variable(g, chance(50) ? &exact : NULL, chance(25), false);
    if (!v)
        return literal(g, t);
    place p = place_of(g, v, depth);
    while (p.type.record)
        place_field(g, &p, any_field(p.type.record));
    expr e = place_value(g, &p);
    return p.type.type == t && !*p.holds ? e : converted(g, t, p.type.type, e);
}

static expr arithmetic(generator *g, dtype t, int depth) {
    static const char *const any[] = {"+", "-", "*"}, *const bits[] = {"&", "|", "^"};
    static const char *const total[][2] = {{"/", "div"}, {"%", "mod"}, {"<<", "shl"}, {">>", "shr"}};
    expr a = scalar(g, t, depth - 1), b = scalar(g, t, depth - 1);
    bool integer = dtypes[t].kind < DK_FLOATING;
    if (chance(50) || !integer)
        return say(g, "($ # $)", a, !integer && chance(20) ? "/" : ONE_OF(any), b);
    if (chance(30))
        return say(g, "($ # $)", a, ONE_OF(bits), b);
    const char *const *row = ONE_OF(total);
    return (expr){say(g, "(# # #)", a.k, row[0], b.k).k, say(g, "#_#(#, #)", row[1], dtypes[t].name, a.c, b.c).c};
}

static expr call_of(generator *g, const helper *h, int depth) {
    expr list = {"", ""};
    for (int k = 0; k < h->nparams; k++)
        list = say(g, "$#$", list, k ? ", " : "", value_of(g, h->param[k], depth - 1));
    return say_two(g, "#($)", "#($)", h->k, list);
}

/* A helper of one result of a type. */
static const helper *some_helper(generator *g, random_type t) {
    const helper *found = NULL;
    int seen = 0;
    for (int i = 0; i < g->nhelpers; i++)
        if (g->helpers[i].nresults == 1 && same(g->helpers[i].result[0], t) && pick(0, seen++) == 0)
            found = &g->helpers[i];
    return found;
}

static expr helper_call(generator *g, const helper *h, int depth) {
    expr e = call_of(g, h, depth);
    e.c = say(g, "##", h->c, strchr(e.c, '(')).c;
    return e;
}

/* The first field that operators of the record compute with; -1: there is none, and so there are no operators. */
static int leading(const random_record *r) {
    for (int k = 0; k < r->nfields; k++)
        if (!r->field[k].rank && is_work(r->field[k].type))
            return k;
    return -1;
}

static bool has(const generator *g, const random_record *r, operation o) {
    return g->has[r->definition] >> o & 1 &&
           (!g->p->records.definition[r->definition].has_parameter || is_work(r->argument));
}

static const random_record *record_with(generator *g, operation o) {
    const random_record *found = NULL;
    int seen = 0;
    for (int i = 0; i < g->p->records.nrecords; i++)
        if (has(g, &g->p->records.record[i], o) && pick(0, seen++) == 0)
            found = &g->p->records.record[i];
    return found;
}

static expr sum_over(generator *g, int depth) {
    if (!room(g))
        return literal(g, DT_INT64);
    int before = g->nvariables;
    variable *v = variable_new(g, "n", scalar_type(DT_INT64));
    v->fixed = true;
    const char *name = words(g, v->k, "").k, *extent = number_text(g, pick(0, 3));
    expr term = scalar(g, DT_INT64, depth - 1);
    g->nvariables = before;
    return (expr){
        say(g, "sum(# : #, #)", name, extent, term.k).k,
        say(g, "({ int64_t s_ = 0; for (int64_t # = 0; # < #; #++) s_ += #; s_; })", name, name, extent, name, term.c)
            .c};
}

static expr compound_scalar(generator *g, dtype t, int depth) {
    const helper *h = some_helper(g, scalar_type(t));
    const random_record *r = record_with(g, TO);
    dtype other = work_type();
    switch (pick(0, 7)) {
    case 0:
        return say(g, "($ ? $ : $)", condition(g, depth - 1), scalar(g, t, depth - 1), scalar(g, t, depth - 1));
    case 1:
        if (h)
            return helper_call(g, h, depth);
        return arithmetic(g, t, depth);
    case 2:
        if (r && t == DT_FLOAT64) {
            expr e = record_value(g, r, depth - 1);
            return (expr){say(g, "((float64)#)", e.k).k, say(g, "#_TO(#)", r->c, e.c).c};
        }
        return arithmetic(g, t, depth);
    case 3:
        if (t == DT_INT64 && g->nest < 2) {
            g->nest++;
            expr e = sum_over(g, depth);
            g->nest--;
            return (expr){say(g, "#", e.k).k, e.c};
        }
        return arithmetic(g, t, depth);
    case 4:
        return converted(g, t, other, scalar(g, other, depth - 1));
    case 5:
        if (dtypes[t].kind == DK_FLOATING)
            return say_two(g, "sqrt($)", t == DT_FLOAT32 ? "sqrtf($)" : "sqrt($)", scalar(g, t, depth - 1));
        return say(g, "(~$)", scalar(g, t, depth - 1));
    case 6:
        return say(g, "(-$)", scalar(g, t, depth - 1));
    default:
        return arithmetic(g, t, depth);
    }
}

static expr scalar(generator *g, dtype t, int depth) {
    if (g->budget-- <= 0 || depth <= 0 || chance(30))
        return chance(80) ? read_scalar(g, t, g->budget > 0 ? depth : 0) : literal(g, t);
    return compound_scalar(g, t, depth);
}

static expr condition(generator *g, int depth) {
    static const char *const relations[] = {"<", "<=", ">", ">=", "==", "!="}, *const joins[] = {"&&", "||"};
    dtype t = work_type();
    const random_record *r = record_with(g, LESS);
    if (g->budget-- > 0 && depth > 1 && chance(25))
        return say(g, "($ # $)", condition(g, depth - 1), ONE_OF(joins), condition(g, depth - 1));
    if (depth > 0 && chance(25)) { /* of records as wholes */
        r = any_record(g);
        expr a = record_value(g, r, depth - 1), b = record_value(g, r, depth - 1);
        bool equal = chance(50);
        return (expr){say(g, "(# # #)", a.k, equal ? "==" : "!=", b.k).k,
                      say(g, "(##_same(#, #))", equal ? "" : "!", r->c, a.c, b.c).c};
    }
    if (r && depth > 0 && chance(30)) {
        expr a = record_value(g, r, depth - 1), b = record_value(g, r, depth - 1);
        return (expr){say(g, "(# < #)", a.k, b.k).k, say(g, "#_LESS(#, #)", r->c, a.c, b.c).c};
    }
    return say(g, "($ # $)", scalar(g, t, depth - 1), ONE_OF(relations), scalar(g, t, depth - 1));
}

/* ---- Records ---- */

static expr braces(generator *g, const random_record *r, int depth);

static expr field_value(generator *g, const random_field *f, int depth) {
    if (!f->type.record)
        return value_for(g, f->type.type, depth - 1);
    return chance(50) ? braces(g, f->type.record, depth - 1) : record_value(g, f->type.record, depth - 1);
}

/* { .. } of the elements of an array, or of a row of it. */
static expr array_braces(generator *g, const random_field *f, int d, int depth) {
    expr list = {"", ""};
    int64_t given = pick(1, f->extent[d]);
    for (int64_t i = 0; i < given; i++)
        list = say(g, "$#$", list, i ? ", " : "",
                   d + 1 < f->rank ? array_braces(g, f, d + 1, depth) : field_value(g, f, depth));
    return say(g, "{$}", list);
}

static expr braces(generator *g, const random_record *r, int depth) {
    expr list = {"", ""};
    bool named = chance(25);
    int64_t given = chance(80) ? r->nfields : pick(1, r->nfields), first = named ? pick(0, r->nfields - 1) : 0;
    for (int64_t i = first; i < r->nfields && i < first + given; i++) {
        const random_field *f = &r->field[i];
        expr e = f->rank ? array_braces(g, f, 0, depth) : field_value(g, f, depth);
        list = say(g, "$#", list, i > first ? ", " : "");
        if (named)
            list = say(g, "$.# = ", list, f->name);
        list = joined(g, list, e);
    }
    return say(g, "{$}", list);
}

static expr record_literal(generator *g, const random_record *r, int depth) {
    return say_two(g, "((@)$)", "((@)$)", record_type(r), braces(g, r, depth));
}

/* A variable of the type, or a part of one that is of it; the same text twice is NULL. */
static bool record_part(generator *g, const random_record *r, int depth, expr *out) {
    random_type t = record_type(r);
    for (int i = 0; i < 6; i++) {
        variable *v = some_variable(g, i < 3 ? &t : NULL, chance(35), false);
        if (!v)
            continue;
        place p = place_of(g, v, depth);
        while (p.type.record && p.type.record != r)
            place_field(g, &p, any_field(p.type.record));
        if (p.type.record == r) {
            *out = place_value(g, &p);
            return true;
        }
    }
    return false;
}

static expr operated(generator *g, const random_record *r, operation o, const char *sign, int depth) {
    expr a = record_value(g, r, depth - 1), b = record_value(g, r, depth - 1);
    static const char *const names[] = {"ADD", "SUB", "MUL"};
    if (has(g, r, FROM) && chance(25)) { /* 2 * x */
        a = (expr){"2", say(g, "#_FROM(2)", r->c).c};
        if (chance(50)) {
            expr other = a;
            a = b;
            b = other;
        }
    }
    return (expr){say(g, "(# # #)", a.k, sign, b.k).k, say(g, "#_#(#, #)", r->c, names[o], a.c, b.c).c};
}

static expr record_compound(generator *g, const random_record *r, int depth) {
    static const char *const signs[] = {"+", "-", "*"};
    const helper *h = some_helper(g, record_type(r));
    operation o = (operation)pick(ADD, MUL);
    expr e;
    switch (pick(0, 5)) {
    case 0:
        return say(g, "($ ? $ : $)", condition(g, depth - 1), record_value(g, r, depth - 1),
                   record_value(g, r, depth - 1));
    case 1:
        if (h)
            return helper_call(g, h, depth);
        break;
    case 2:
        if (has(g, r, FROM)) {
            e = scalar(g, r->field[leading(r)].type.type, depth - 1);
            return (expr){say(g, "((@)#)", record_type(r), e.k).k, say(g, "#_FROM(#)", r->c, e.c).c};
        }
        break;
    case 3:
        if (has(g, r, NEG) && has(g, r, SQRT)) {
            bool neg = chance(50);
            e = record_value(g, r, depth - 1);
            return (expr){say(g, "(##)", neg ? "-" : "sqrt", say(g, "(#)", e.k).k).k,
                          say(g, "#_#(#)", r->c, neg ? "NEG" : "SQRT", e.c).c};
        }
        break;
    default:
        if (has(g, r, o))
            return operated(g, r, o, signs[o], depth);
    }
    return record_literal(g, r, depth);
}

static expr record_value(generator *g, const random_record *r, int depth) {
    expr e;
    g->budget -= r->nleaves / 4 + 1;
    if (g->budget > 0 && depth > 0 && chance(45))
        return record_compound(g, r, depth);
    if (record_part(g, r, g->budget > 0 ? depth : 0, &e))
        return e;
    return record_literal(g, r, 0);
}

/* ---- Statements ---- */

static expr statement(generator *g, int depth);

static expr statements(generator *g, int count, int depth) {
    expr all = {"", ""};
    while (count-- > 0)
        all = joined(g, all, statement(g, depth));
    return all;
}

static expr block(generator *g, int depth) {
    int before = g->nvariables;
    expr e = statements(g, (int)pick(1, 3), depth);
    g->nvariables = before;
    return say(g, "{\n$}\n", e);
}

static expr declare(generator *g, int depth) {
    random_type t = any_type(g);
    if (!room(g))
        return (expr){"", ""};
    bool is_auto = chance(40), is_braces = !is_auto && t.record && chance(40), is_empty = !is_auto && chance(15);
    expr e = is_braces ? braces(g, t.record, depth) : value_of(g, t, depth);
    variable *v = variable_new(g, "v", t);
    if (is_empty) {
        expr c = say(g, "@ # = {0};\n", t, v->c), k = say(g, "@ #;\n", t, v->k);
        return (expr){k.k, c.c};
    }
    expr made = say(g, "@ # = $;\n", t, v->k, e);
    return is_auto ? (expr){say(g, "auto # = $;\n", v->k, e).k, made.c} : made;
}

static expr declare_array(generator *g, int depth) {
    random_type t = any_type(g);
    int64_t extent = pick(1, 4), given = pick(0, extent);
    if (!room(g))
        return (expr){"", ""};
    expr list = {"", ""};
    for (int64_t i = 0; i < given; i++)
        list = say(g, "$#$", list, i ? ", " : "",
                   t.record && chance(50) ? braces(g, t.record, depth - 1) : value_of(g, t, depth - 1));
    variable *v = variable_new(g, "a", t);
    v->is_array = true;
    snprintf(v->bound, sizeof v->bound, "%d", (int)extent);
    if (!given)
        return say_two(g, "@ #[#];\n", "@ #[#] = {0};\n", t, v->k, v->bound);
    return say(g, "@ #[#] = {$};\n", t, v->k, v->bound, list);
}

static expr assign(generator *g, int depth) {
    static const char *const signs[] = {"+", "-", "*"};
    static const char *const names[] = {"ADD", "SUB", "MUL"};
    variable *v = some_variable(g, NULL, chance(40), true);
    if (!v)
        return declare(g, depth);
    place p = place_of(g, v, depth);
    while (p.type.record && chance(70))
        place_field(g, &p, any_field(p.type.record));
    operation o = (operation)pick(ADD, MUL);
    if (p.type.record && has(g, p.type.record, o) && chance(60)) { /* a += b */
        expr e = record_value(g, p.type.record, depth), set = place_set(g, &p, signs[o], e);
        set.c = place_set(g, &p, "", (expr){"", say(g, "#_#(#, #)", p.type.record->c, names[o], p.path.c, e.c).c}).c;
        return set;
    }
    if (p.type.record)
        return place_set(g, &p, "", record_value(g, p.type.record, depth));
    if (is_work(p.type) && chance(40))
        return place_set(g, &p, signs[o], scalar(g, p.type.type, depth));
    return place_set(g, &p, "", value_for(g, p.type.type, depth));
}

static expr loop(generator *g, int depth) {
    if (g->nest >= 2 || !room(g))
        return assign(g, depth);
    int before = g->nvariables;
    variable *v = variable_new(g, "i", scalar_type(DT_INT64));
    v->fixed = true;
    const char *name = words(g, v->k, "").k, *extent = number_text(g, pick(0, 4));
    g->nest++;
    expr body = block(g, depth - 1);
    g->nest--;
    g->nvariables = before;
    return say_two(g, "for (int64 # = 0; # < #; #++) $", "for (int64_t # = 0; # < #; #++) $", name, name, extent, name,
                   body);
}

/* Each iteration sets an element of its own, from what no iteration sets. */
static expr forall(generator *g, int depth) {
    variable *a = some_variable(g, NULL, true, true);
    if (!a || g->nest >= 2 || !room(g))
        return assign(g, depth);
    int before = g->nvariables;
    variable *v = variable_new(g, "i", scalar_type(DT_INT64));
    v->fixed = a->hidden = true;
    const char *name = words(g, v->k, "").k;
    g->nest++;
    expr e = value_of(g, a->type, depth - 1);
    g->nest--;
    a->hidden = false;
    g->nvariables = before;
    return (expr){say(g, "forall (# : #) #[#] = #;\n", name, a->bound, a->k, name, e.k).k,
                  say(g, "for (int64_t # = 0; # < #; #++) #[#] = #;\n", name, name, a->bound, name, a->c, name, e.c).c};
}

static expr branch(generator *g, int depth) {
    expr test = condition(g, depth), yes = block(g, depth - 1);
    if (chance(50))
        return say(g, "if ($) $", test, yes);
    return say(g, "if ($) $else $", test, yes, block(g, depth - 1));
}

static expr return_of(generator *g, int depth) { return say(g, "return $;\n", value_of(g, g->returns, depth)); }

/* A call of a helper of two results, or of one that changes an array. */
static expr call_statement(generator *g, int depth) {
    const helper *h = NULL;
    for (int i = 0; i < g->nhelpers; i++)
        if (g->helpers[i].nresults != 1 && (!h || chance(50)))
            h = &g->helpers[i];
    if (!h || !room(g))
        return assign(g, depth);
    expr list = {"", ""};
    const variable *array = h->nresults ? NULL : some_variable(g, &h->param[0], true, true);
    if (!h->nresults && !array)
        return declare_array(g, depth);
    for (int k = !h->nresults; k < h->nparams; k++)
        list = say(g, "$#$", list, k && (k > 1 || h->nresults) ? ", " : "", value_of(g, h->param[k], depth - 1));
    if (!h->nresults) {
        const char *comma = h->nparams > 1 ? ", " : "";
        return (expr){say(g, "#(###);\n", h->k, array->k, comma, list.k).k,
                      say(g, "#(#, ###);\n", h->c, array->c, array->bound, comma, list.c).c};
    }
    variable *q = variable_new(g, "q", h->result[0]), *r = variable_new(g, "r", h->result[1]);
    expr k = say(g, "auto (#, #) = #(#);\n", q->k, r->k, h->k, list.k);
    expr c =
        say(g, "@ #; @ #; #(##&#, &#);\n", q->type, q->c, r->type, r->c, h->c, list.c, *list.c ? ", " : "", q->c, r->c);
    return (expr){k.k, c.c};
}

static expr statement(generator *g, int depth) {
    if (g->budget <= 0)
        return assign(g, 1);
    int64_t way = pick(0, 99);
    if (way < 20)
        return declare(g, depth);
    if (way < 32)
        return declare_array(g, depth);
    if (way < 40 && depth > 1)
        return branch(g, depth);
    if (way < 50 && depth > 1)
        return loop(g, depth);
    if (way < 57)
        return forall(g, depth);
    if (way < 68)
        return call_statement(g, depth);
    if (way < 71 && depth > 1 && (g->returns.record || g->returns.type != DT_NONE))
        return say(g, "if ($) $", condition(g, depth), return_of(g, depth));
    return assign(g, depth);
}

/* ---- File scope ---- */

/* Kernel C in the module, or in the kernel's text once that one has begun. */
static text *kernel_text(generator *g) { return g->p->kernel.length ? &g->p->kernel : &g->p->module; }

static void write(generator *g, expr e) {
    text_puts(kernel_text(g), e.k);
    text_puts(&g->p->c, e.c);
}

static void constants_make(generator *g) {
    static const char *const values[] = {"0.5", "3.25", "-1.5", "0.125"};
    variable *v;
    for (int64_t n = pick(0, 2); n > 0; n--) {
        v = variable_new(g, "k", scalar_type(DT_FLOAT64));
        v->fixed = v->hidden = true; /* weak: literals have it, with a cast */
        snprintf(v->c, sizeof v->c, "%s_%s", g->p->name, v->k);
        const char *value = ONE_OF(values);
        write(g,
              (expr){say(g, "const # = #;\n", v->k, value).k, say(g, "static const double # = #;\n", v->c, value).c});
    }
    for (int64_t n = pick(0, 2); n > 0; n--) {
        random_type t = scalar_type(work_type());
        expr list = {"", ""};
        int64_t extent = pick(1, 6);
        for (int64_t i = 0; i < extent; i++)
            list = say(g, "$##", list, i ? ", " : "", number_text(g, pick(0, 200)));
        v = variable_new(g, "t", t);
        v->is_array = v->fixed = true;
        snprintf(v->bound, sizeof v->bound, "%d", (int)extent);
        snprintf(v->c, sizeof v->c, "%s_%s", g->p->name, v->k);
        expr name = words(g, v->k, v->c);
        expr e = say(g, "const @ $[#] = {$};\n", t, name, v->bound, list);
        e.c = say(g, "static #", e.c).c;
        write(g, e);
    }
}

/* ---- Operators, which are written for all records of a definition at once ---- */

static const char *const operator_names[OPERATIONS] = {"ADD", "SUB", "MUL", "NEG", "SQRT", "LESS", "FROM", "TO"};

/* The fields that operators compute with: of the type parameter, or of a work type. */
static bool computed(const struct random_definition_field *f) {
    return f->of_parameter < 0 && !f->field.rank && (f->field.is_parameter || is_work(f->field.type));
}

/* The body of an operator, the same text in both languages but for the words `auto` and `float64`. */
static void operator_body(text *out, const random_definition *d, operation o, const char *type, const char *real,
                          unsigned odd) {
    static const char *const terms[] = {"a.%1$s + b.%1$s", "a.%1$s - b.%1$s", "a.%1$s * b.%1$s", "-a.%1$s",
                                        "a.%1$s * a.%1$s"};
    const char *first = NULL;
    if (o <= SQRT)
        text_printf(out, "    %s r = a;\n", type);
    for (int k = 0; k < d->nfields; k++) {
        const char *name = d->field[k].field.name;
        if (!computed(&d->field[k]))
            continue;
        first = first ? first : name;
        if (o <= SQRT && odd >> k & 1) {
            text_printf(out, "    r.%s = ", name);
            text_printf(out, terms[o], name);
            text_puts(out, ";\n");
        }
    }
    if (o <= SQRT)
        text_puts(out, "    return r;\n");
    else if (o == LESS)
        text_printf(out, "    return a.%s < b.%s;\n", first, first);
    else if (o == FROM)
        text_printf(out, "    return (%s){.%s = x};\n", type, first);
    else
        text_printf(out, "    return (%s)a.%s;\n", real, first);
}

/* Its parameters. */
static void operator_head(text *out, operation o, const char *type, const char *number_type) {
    if (o == FROM)
        text_printf(out, "(%s x) {\n", number_type);
    else if (o == NEG || o == SQRT || o == TO)
        text_printf(out, "(%s a) {\n", type);
    else
        text_printf(out, "(%s a, %s b) {\n", type, type);
}

static void operator_make(generator *g, int definition, operation o) {
    static const char *const signs[] = {"operator +", "operator -", "operator *", "operator -", "sqrt", "operator <"};
    const random_definition *d = &g->p->records.definition[definition];
    text *out = kernel_text(g);
    char type[32];
    unsigned odd = (unsigned)pick(1, 63) | 1;
    const struct random_definition_field *first = d->field;
    while (!computed(first))
        first++;
    snprintf(type, sizeof type, "%s%s", d->name, d->has_parameter ? "(T)" : "");
    const char *argument = first->field.is_parameter ? "T" : kernel_type_name(first->field.type);
    if (o == FROM)
        text_printf(out, "operator %s ", d->name);
    else
        text_puts(out, o == TO ? "operator float64 " : signs[o]);
    operator_head(out, o, type, argument);
    operator_body(out, d, o, o <= SQRT ? "auto" : type, "float64", odd);
    text_puts(out, "}\n");
    for (int i = 0; i < g->p->records.nrecords; i++) {
        const random_record *r = &g->p->records.record[i];
        if (r->definition != definition || !has(g, r, o))
            continue;
        random_type leads = r->field[leading(r)].type;
        text_printf(&g->p->c, "static %s %s_%s",
                    o == LESS ? "int"
                    : o == TO ? "double"
                              : r->c,
                    r->c, operator_names[o]);
        operator_head(&g->p->c, o, r->c, c_type_name(leads));
        operator_body(&g->p->c, d, o, r->c, "double", odd);
        text_puts(&g->p->c, "}\n");
    }
}

static void operators_make(generator *g, int definition) {
    const random_definition *d = &g->p->records.definition[definition];
    bool any = false, on_parameter = false;
    for (int k = 0; k < d->nfields; k++)
        if (computed(&d->field[k])) {
            on_parameter |= !any && d->field[k].field.is_parameter;
            any = true;
        }
    for (int o = 0; any && o < OPERATIONS; o++) {
        if (chance(35) || (o == FROM && d->has_parameter && !on_parameter))
            continue;
        g->has[definition] |= 1u << o;
        operator_make(g, definition, (operation)o);
    }
}

/* C's equality: of all scalars. */
static void same_make(generator *g, const random_record *r) {
    text *c = &g->p->c;
    text_printf(c, "static int %s_same(%s a, %s b) {\n    int e = 1;\n", r->c, r->c, r->c);
    for (int k = 0; k < r->nfields; k++) {
        const random_field *f = &r->field[k];
        for (int i = 0; i < (f->rank > 0 ? f->extent[0] : 1); i++)
            for (int j = 0; j < (f->rank > 1 ? f->extent[1] : 1); j++) {
                char path[48];
                snprintf(path, sizeof path, f->rank > 1 ? "%s[%d][%d]" : f->rank ? "%s[%d]" : "%s", f->name, i, j);
                if (f->type.record)
                    text_printf(c, "    e &= %s_same(a.%s, b.%s);\n", f->type.record->c, path, path);
                else if (dtype_is_half(f->type.type))
                    text_printf(c, "    e &= %s(a.%s) == %s(b.%s);\n",
                                f->type.type == DT_FLOAT16 ? "half_value" : "brain_value", path,
                                f->type.type == DT_FLOAT16 ? "half_value" : "brain_value", path);
                else
                    text_printf(c, "    e &= a.%s == b.%s;\n", path, path);
            }
    }
    text_puts(c, "    return e;\n}\n");
}

/* ---- Helpers ---- */

/* Is there a helper of this name that the arguments of the other could be for? Only those of one result whose parameters all have types
 * share names. */
static bool helper_clashes(const generator *g, const helper *h) {
    for (int i = 0; i < g->nhelpers; i++) {
        const helper *other = &g->helpers[i];
        bool alike = other->nparams == h->nparams;
        if (strcmp(other->k, h->k) != 0)
            continue;
        for (int k = 0; k < h->nparams && alike; k++)
            alike = same(other->param[k], h->param[k]);
        if (alike || !other->typed || other->nresults != 1)
            return true;
    }
    return false;
}

static void helper_name(generator *g, helper *h) {
    snprintf(h->k, sizeof h->k, "h%d", (int)pick(0, g->nhelpers));
    if (!h->typed || h->nresults != 1 || helper_clashes(g, h))
        snprintf(h->k, sizeof h->k, "h%d", g->nhelpers + MAX_HELPERS);
    snprintf(h->c, sizeof h->c, "%s_h%d", g->p->name, g->nhelpers);
}

/* Binds the parameters and makes their list; a helper without results has an array, by reference, as its first. */
static expr parameters_make(generator *g, const helper *h) {
    expr list = {"", ""};
    for (int i = 0; i < h->nparams; i++) {
        variable *v = variable_new(g, "p", h->param[i]);
        const char *comma = i ? ", " : "";
        expr type = h->typed ? say(g, "@ ", v->type) : words(g, "", "");
        type.c = say(g, "@ ", v->type).c;
        if (i || h->nresults) {
            list = say(g, "$#$#", list, comma, type, v->k);
            continue;
        }
        v->is_array = true;
        strcpy(v->bound, "n");
        list = say_two(g, "$#[n]", "$*#, int64_t n", type, v->k);
    }
    return list;
}

/* In kernel C: records have to be named, other results may be. */
static const char *result_type(random_type t) { return t.record || chance(50) ? kernel_type_name(t) : ""; }

/* Statements, and then what sets or returns the results. */
static void helper_write(generator *g, const helper *h, expr list) {
    static const char *const words_of[2][2] = {{"x", "y"}, {"y", "x"}};
    expr body = statements(g, (int)pick(h->nresults ? 0 : 1, 3), 3);
    if (h->nresults == 1) {
        expr value = return_of(g, 3);
        write(g, (expr){say(g, "#(#) {\n##}\n", h->k, list.k, body.k, value.k).k,
                        say(g, "static @ #(#) {\n##}\n", h->result[0], h->c, list.c, body.c, value.c).c});
    } else if (h->nresults == 2) {
        const char *const *order = words_of[pick(0, 1)];
        expr x = value_of(g, h->result[0], 3), y = value_of(g, h->result[1], 3);
        expr k = say(g, "#(#) -> (# x, # y) {\n#", h->k, list.k, result_type(h->result[0]), result_type(h->result[1]),
                     body.k);
        k = say(g, "## = #;\n# = #;\n}\n", k.k, order[0], *order[0] == 'x' ? x.k : y.k, order[1],
                *order[1] == 'x' ? x.k : y.k);
        expr c = say(g, "static void #(##@ *x, @ *y) {\n#*x = #;\n*y = #;\n}\n", h->c, list.c, *list.c ? ", " : "",
                     h->result[0], h->result[1], body.c, x.c, y.c);
        write(g, (expr){k.k, c.c});
    } else {
        write(g, (expr){say(g, "#(#) {\n#}\n", h->k, list.k, body.k).k,
                        say(g, "static void #(#) {\n#}\n", h->c, list.c, body.c).c});
    }
}

static void helper_make(generator *g) {
    helper *h = &g->helpers[g->nhelpers];
    int before = g->nvariables;
    *h = (helper){.typed = chance(70), .nparams = (int)pick(1, MAX_PARAMS), .nresults = (int)pick(0, 2)};
    for (int k = 0; k < h->nparams; k++)
        h->param[k] = any_type(g);
    h->result[0] = any_type(g);
    h->result[1] = any_type(g);
    helper_name(g, h);
    expr list = parameters_make(g, h);
    g->returns = h->nresults == 1 ? h->result[0] : (random_type){DT_NONE, NULL};
    g->budget = 25;
    helper_write(g, h, list);
    g->nvariables = before;
    g->nhelpers++;
}

/* ---- The kernel ---- */

static int leaves_of(random_type t) { return t.record ? t.record->nleaves : 1; }

static void operands_draw(generator *g) {
    record_program *p = g->p;
    int leaves = 0;
    p->nin = (int)pick(1, RECORD_PROGRAM_INPUTS);
    p->nout = (int)pick(1, RECORD_PROGRAM_OUTPUTS);
    for (int k = 0; k < p->nin + p->nout; k++) {
        p->types[k] = any_type(g);
        if (leaves + leaves_of(p->types[k]) > UF_MAX_OPERANDS - 4 + k)
            p->types[k] = scalar_type(work_type());
        leaves += leaves_of(p->types[k]);
    }
    text signature = {0};
    for (int k = 0; k < p->nin + p->nout; k++)
        text_printf(&signature, "%s%s", k == p->nin ? "->" : k ? "," : "", kernel_type_name(p->types[k]));
    snprintf(p->signature, sizeof p->signature, "%s", signature.data);
    text_free(&signature);
}

/* C's entry: takes the operands from memory, calls the kernel, and puts the results there. */
static void entry_write(record_program *p) {
    text *c = &p->c;
    text_printf(c, "void %s(char **operands) {\n", p->name);
    for (int k = 0; k < p->nin + p->nout; k++)
        text_printf(c, "    %s o%d; memcpy(&o%d, operands[%d], sizeof o%d);\n", c_type_name(p->types[k]), k, k, k, k);
    text_puts(c, "    ");
    if (p->nout == 1)
        text_printf(c, "o%d = ", p->nin);
    text_printf(c, "%s_kernel(", p->name);
    for (int k = 0; k < p->nin; k++)
        text_printf(c, "%so%d", k ? ", " : "", k);
    for (int k = p->nin; k < p->nin + p->nout && p->nout > 1; k++)
        text_printf(c, ", &o%d", k);
    text_puts(c, ");\n");
    for (int k = p->nin; k < p->nin + p->nout; k++)
        text_printf(c, "    memcpy(operands[%d], &o%d, sizeof o%d);\n", k, k, k);
    text_puts(c, "}\n");
}

static void kernel_make(generator *g) {
    record_program *p = g->p;
    const char *name = arena_text(&g->a, p->name, strlen(p->name));
    expr list = {"", ""}, outputs = {"", ""}, first = {"", ""}, last = {"", ""};
    for (int k = 0; k < p->nin; k++) {
        variable *v = variable_new(g, "x", p->types[k]);
        list = (expr){say(g, "###", list.k, k ? ", " : "", v->k).k,
                      say(g, "##@ #", list.c, k ? ", " : "", p->types[k], v->k).c};
    }
    for (int k = 0; k < p->nout && p->nout > 1; k++) {
        random_type t = p->types[p->nin + k];
        variable *v = variable_new(g, "y", t);
        outputs = (expr){say(g, "###", outputs.k, k ? ", " : "", v->k).k, say(g, "#, @ *#_", outputs.c, t, v->k).c};
        first.c = say(g, "#@ # = {0};\n", first.c, t, v->k).c;
        last.c = say(g, "#*#_ = #;\n", last.c, v->k, v->k).c;
    }
    g->returns = p->nout == 1 ? p->types[p->nin] : (random_type){DT_NONE, NULL};
    g->budget = 120;
    expr body = statements(g, (int)pick(1, 7), 4);
    if (p->nout == 1) {
        expr value = return_of(g, 4);
        write(g, (expr){say(g, "(#) {\n##}\n", list.k, body.k, value.k).k,
                        say(g, "static @ #_kernel(#) {\n##}\n", g->returns, name, list.c, body.c, value.c).c});
        return;
    }
    write(g, (expr){say(g, "(#) -> (#) {\n#}\n", list.k, outputs.k, body.k).k,
                    say(g, "static void #_kernel(##) {\n###}\n", name, list.c, outputs.c, first.c, body.c, last.c).c});
}

/* Records first, as the C text has those that later text is over. */
static void records_make(generator *g) {
    record_program *p = g->p;
    for (int64_t n = pick(1, 4); n > 0; n--) {
        random_record_define(&p->records, field_types, COUNT(field_types));
        int definition = p->records.ndefinitions - 1;
        for (int64_t k = pick(1, 3); k > 0; k--) {
            random_type t = scalar_type(chance(85) ? work_type() : ONE_OF(field_types));
            if (chance(15) && p->records.nrecords)
                t = record_type(any_record(g));
            random_record_of(&p->records, definition, t);
        }
    }
    while (!p->records.nrecords) {
        random_record_define(&p->records, work_types, 1);
        random_record_of(&p->records, p->records.ndefinitions - 1, scalar_type(DT_FLOAT32));
    }
}

void record_program_make(record_program *p, const char *name) {
    static generator made;
    generator *g = &made;
    *p = (record_program){0};
    *g = (generator){.p = p};
    snprintf(p->name, sizeof p->name, "%s", name);
    p->records.prefix = p->name;
    p->records.most_leaves = 16; /* as f(r, r) -> r is made for reductions too, whose states have so many */
    records_make(g);
    text_puts(&p->module, p->records.kernel.data);
    text_puts(&p->c, p->records.c.data);
    for (int i = 0; i < p->records.nrecords; i++)
        same_make(g, &p->records.record[i]);
    constants_make(g);
    for (int d = 0; d < p->records.ndefinitions; d++)
        operators_make(g, d);
    int64_t helpers = pick(0, MAX_HELPERS),
            seen = pick(0, helpers); /* so many in the module, the others beside the kernel */
    for (int64_t k = 0; k < helpers; k++) {
        if (k == seen)
            text_puts(&p->kernel, "\n");
        helper_make(g);
    }
    if (!p->kernel.length)
        text_puts(&p->kernel, "\n");
    operands_draw(g);
    kernel_make(g);
    entry_write(p);
    arena_free(&g->a);
}

void record_program_free(record_program *p) {
    random_records_free(&p->records);
    text_free(&p->module);
    text_free(&p->kernel);
    text_free(&p->c);
}
