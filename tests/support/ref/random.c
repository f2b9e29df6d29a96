/* random.c - generates kernel C as text. Expressions are made for one of three kinds: what must be an integer, what may be
 * any real, what may be complex too; statements change only variables that are not loop counters, and every loop counts.
 * Where there are core dimensions, each forall has places of its own to write to, which nothing else in it reads. */
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

/* ---- Numbers ---- */

uint64_t random_bits(source *s) { /* splitmix64 */
    uint64_t z = s->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

int64_t random_between(source *s, int64_t low, int64_t high) {
    return low + (int64_t)(random_bits(s) % ((uint64_t)(high - low) + 1));
}

bool random_chance(source *s, int percent) { return random_between(s, 0, 99) < percent; }

/* The bits of zero, one, the smallest, largest .. of a floating type of 16, 32 or 64 bits: its fraction has `fraction`. */
static uint64_t hard_bits(source *s, int bits, int fraction) {
    uint64_t one = 1, infinity = ((one << (bits - 1 - fraction)) - 1) << fraction;
    uint64_t unit = (infinity >> (fraction + 1)) << fraction; /* 1.0 */
    const uint64_t hard[] = {0,
                             1,
                             2,
                             (one << fraction) - 1,
                             one << fraction,
                             infinity - 1,
                             infinity,
                             unit,
                             unit + 1,
                             unit - 1,
                             infinity | one << (fraction - 1),
                             unit / 2,
                             unit / 4,
                             unit + (one << fraction),
                             infinity - (one << fraction)};
    uint64_t sign = random_chance(s, 40) ? one << (bits - 1) : 0;
    return hard[random_between(s, 0, (int64_t)COUNT(hard) - 1)] | sign;
}

static uint64_t random_floating(source *s, int bits, int fraction) {
    int64_t way = random_between(s, 0, 9);
    if (way < 3)
        return hard_bits(s, bits, fraction);
    uint64_t any = random_bits(s);
    if (way < 5)
        return any >> (64 - bits);
    /* An exponent near that of 1. */
    uint64_t bias = ((uint64_t)1 << (bits - 2 - fraction)) - 1, exponent = bias + (uint64_t)random_between(s, -4, 6);
    uint64_t digits = random_chance(s, 40) ? any << 40 >> (64 - fraction) : any >> (64 - fraction);
    return (any & 1) << (bits - 1) | exponent << fraction | (digits & (((uint64_t)1 << fraction) - 1));
}

static uint64_t random_integer(source *s, int bits) {
    static const uint64_t hard[] = {0, 1, 2, 3, 7, 31, 32, 63, 64, 127, 128, 255, UINT64_MAX, UINT64_MAX - 1};
    int64_t way = random_between(s, 0, 9);
    uint64_t top = (uint64_t)1 << (bits - 1);
    if (way < 3)
        return hard[random_between(s, 0, (int64_t)COUNT(hard) - 1)];
    if (way < 4)
        return top - (uint64_t)random_between(s, 0, 1);
    return way < 7 ? (uint64_t)random_between(s, -20, 20) : random_bits(s) >> random_between(s, 0, bits - 1);
}

number random_number(source *s, dtype type) {
    uint64_t data[2] = {0};
    dtype component = dtypes[type].component;
    int bits = 8 * dtypes[component].size;
    static const int fractions[] = {10, 7, 23, 52}; /* float16 .. float64 */
    for (int i = 0; i < 1 + dtype_is_complex(type); i++) {
        uint64_t raw = type == DT_BOOL                ? random_bits(s) & 1
                       : dtype_is_floating(component) ? random_floating(s, bits, fractions[component - DT_FLOAT16])
                                                      : random_integer(s, bits);
        memcpy((char *)data + i * bits / 8, &raw, (size_t)bits / 8);
    }
    return number_read(type, data);
}

/* ---- The state of a generation ---- */

typedef enum kind {
    INTEGER,
    REAL,
    COMPLEX
} kind;

typedef struct variable {
    char name[8];
    dtype type;
    int rank;
    int extent[4];
    bool counter;         /* of a loop or range, or a size: not assigned */
    bool fixed;           /* not assigned here */
    bool hidden;          /* not to be touched here: the place that a forall writes to */
    bool input;           /* a core operand that nobody assigns */
    const core_dim *dims; /* of a core operand, else NULL */
    char bound[24];       /* the extent that a counter runs over; "" if it does not */
} variable;

enum {
    MAX_VARIABLES = 48,
    MAX_HELPERS = 3,
    MAX_DEPTH = 5
};

typedef struct generator {
    source *s;
    text *out;
    program *p;
    variable variables[MAX_VARIABLES];
    int nvariables, names;
    int arity[MAX_HELPERS], nhelpers;
    int budget;            /* expressions left; below 0 only leaves are made */
    int loops, breakable;  /* nesting: loops; loops and switches */
    bool named, in_helper; /* outputs are named; generic parameters: their kind is not known */
    core_program *core;    /* NULL: elementwise */
    int nest;              /* ranges and loops over sizes around */
    bool in_forall, in_term;
} generator;

static int64_t pick(generator *g, int64_t low, int64_t high) { return random_between(g->s, low, high); }
static bool chance(generator *g, int percent) { return random_chance(g->s, percent); }
#define ONE_OF(g, array) (array)[pick(g, 0, (int64_t)COUNT(array) - 1)]

static kind kind_of(dtype t) { return dtype_is_complex(t) ? COMPLEX : dtype_is_floating(t) ? REAL : INTEGER; }

static variable *new_variable(generator *g, const char *prefix, dtype type) {
    if (g->nvariables == MAX_VARIABLES)
        return NULL;
    variable *v = &g->variables[g->nvariables++];
    *v = (variable){.type = type};
    snprintf(v->name, sizeof v->name, "%s%d", prefix, g->names++ % 1000);
    return v;
}

/* A variable of at most a kind; NULL if there is none. */
static variable *some_variable(generator *g, kind k, bool to_assign, bool array) {
    variable *found = NULL;
    int seen = 0;
    for (int i = 0; i < g->nvariables; i++) {
        variable *v = &g->variables[i];
        bool usable = !v->hidden && !(to_assign && (v->counter || v->fixed));
        if (usable && kind_of(v->type) <= k && (v->rank > 0) == array && pick(g, 0, seen++) == 0)
            found = v;
    }
    return found;
}

static void put(generator *g, const char *s) { text_puts(g->out, s); }

static dtype random_type(generator *g, kind k) {
    static const dtype integers[] = {DT_BOOL,  DT_INT8,   DT_INT16,  DT_INT32, DT_INT64,
                                     DT_UINT8, DT_UINT16, DT_UINT32, DT_UINT64};
    static const dtype reals[] = {DT_FLOAT16, DT_BFLOAT16, DT_FLOAT32, DT_FLOAT32, DT_FLOAT64};
    static const dtype complexes[] = {DT_COMPLEX64, DT_COMPLEX128};
    if (k == COMPLEX && chance(g, 50))
        return ONE_OF(g, complexes);
    return k >= REAL && chance(g, 60) ? ONE_OF(g, reals) : ONE_OF(g, integers);
}

/* A type's name in one of its spellings. */
static const char *type_name(generator *g, dtype t) {
    static const char *const others[DT_COUNT] = {[DT_BOOL] = "_Bool",
                                                 [DT_INT8] = "signed char",
                                                 [DT_INT16] = "short",
                                                 [DT_INT32] = "int",
                                                 [DT_INT64] = "long long",
                                                 [DT_UINT8] = "uint8_t",
                                                 [DT_UINT16] = "uint16_t",
                                                 [DT_UINT32] = "unsigned",
                                                 [DT_UINT64] = "unsigned long",
                                                 [DT_FLOAT32] = "float",
                                                 [DT_FLOAT64] = "double",
                                                 [DT_COMPLEX64] = "float _Complex",
                                                 [DT_COMPLEX128] = "double _Complex"};
    return others[t] && chance(g, 30) ? others[t] : dtypes[t].name;
}

/* ---- Expressions ---- */

static void expression(generator *g, kind k, int depth);

static void literal(generator *g, kind k) {
    static const char *const integers[] = {"0",           "1",
                                           "2",           "3",
                                           "7",           "10",
                                           "31",          "32",
                                           "100",         "255",
                                           "256",         "65535",
                                           "2147483647",  "2147483648",
                                           "4294967295u", "0x7fffffffffffffff",
                                           "1u",          "3l",
                                           "5ul",         "0xff",
                                           "12ull",       "9223372036854775807",
                                           "017",         "0b1"};
    static const char *const reals[] = {"0.5",   "1.5",  "0.1",  "2.",     ".25",    "1e3",      "1e-3",     "3.0f",
                                        "0.7f",  "1e30", "1e10", "0x1p-3", "1e300",  "INFINITY", "NAN",      "M_PI",
                                        "1e-40", "0.0",  "2.5",  "1e5f",   "65504.", "1e-7",     "16777217."};
    static const char *const complexes[] = {"I", "2.0*I", "(1 + 0.5*I)", "(0.5f - I)", "I*I"};
    size_t way = (size_t)pick(g, 0, 9);
    if (k == COMPLEX && way < 4)
        put(g, ONE_OF(g, complexes));
    else if (k >= REAL && way < 7)
        put(g, ONE_OF(g, reals));
    else
        put(g, ONE_OF(g, integers));
}

/* A counter of a loop around, in simple arithmetic: what the front end tries to prove in range. */
static bool counted_index(generator *g) {
    static const char operators[] = "..+-*/%&"; /* .: none */
    const variable *found = NULL;
    for (int i = 0; i < g->nvariables; i++)
        if (g->variables[i].counter && (!found || chance(g, 50)))
            found = &g->variables[i];
    if (!found)
        return false;
    char sign = operators[pick(g, 0, (int64_t)sizeof operators - 2)];
    put(g, found->name);
    if (sign != '.')
        text_printf(g->out, " %c %d", sign, (int)pick(g, 0, 4));
    return true;
}

/* An index of a core operand: mostly in range, a counter over that very extent if there is one. */
static void core_index(generator *g, const variable *v, int d, int depth) {
    int64_t way = pick(g, 0, 99);
    for (int i = g->nvariables - 1; i >= 0 && way < 55; i--)
        if (*g->variables[i].bound && strcmp(g->variables[i].bound, v->dims[d].bound) == 0 && chance(g, 70)) {
            put(g, g->variables[i].name);
            return;
        }
    if (way < 85 && counted_index(g))
        return;
    if (way < 92)
        text_printf(g->out, "%d", (int)pick(g, -1, 4));
    else
        expression(g, INTEGER, depth - 2);
}

static void array_index(generator *g, const variable *v, int d, int depth) {
    int64_t way = pick(g, 0, 9);
    if (way < 4)
        text_printf(g->out, "%d", (int)pick(g, 0, v->extent[d] - (way < 3)));
    else if (way > 7 || !counted_index(g))
        expression(g, INTEGER, depth - 2);
}

static void element(generator *g, const variable *v, int depth) {
    put(g, v->name);
    for (int d = 0; d < v->rank; d++) {
        put(g, "[");
        (v->dims ? core_index : array_index)(g, v, d, depth);
        put(g, "]");
    }
}

static void leaf(generator *g, kind k, int depth) {
    variable *v = some_variable(g, k, false, depth > 0 && chance(g, g->core ? 60 : 25));
    if (v && v->rank && chance(g, 70))
        element(g, v, depth);
    else if (v && !v->rank && chance(g, 75))
        put(g, v->name);
    else
        literal(g, k);
}

static void infix(generator *g, kind left, const char *op, kind right, int depth) {
    put(g, "(");
    expression(g, left, depth - 1);
    text_printf(g->out, " %s ", op);
    expression(g, right, depth - 1);
    put(g, ")");
}

static void arithmetic(generator *g, kind k, int depth) {
    static const char *const any[] = {"+", "-", "*", "/"};
    static const char *const integers[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
    infix(g, k, k == INTEGER ? ONE_OF(g, integers) : ONE_OF(g, any), k, depth);
}

static void comparison(generator *g, int depth) {
    static const char *const ordered[] = {"<", "<=", ">", ">="}, *const equal[] = {"==", "!="};
    static const char *const logical[] = {"&&", "||"};
    int64_t way = pick(g, 0, 9);
    kind k = chance(g, 60) ? REAL : INTEGER;
    if (way < 5)
        infix(g, k, ONE_OF(g, ordered), chance(g, 70) ? k : REAL, depth);
    else if (way < 7)
        infix(g, chance(g, 30) ? COMPLEX : k, ONE_OF(g, equal), k, depth);
    else
        infix(g, REAL, ONE_OF(g, logical), REAL, depth);
}

static void prefix(generator *g, kind k, int depth) {
    static const char *const any[] = {"-", "-", "+"}, *const integers[] = {"-", "~", "!", "+"};
    put(g, k == INTEGER ? ONE_OF(g, integers) : ONE_OF(g, any));
    put(g, "(");
    expression(g, k, depth - 1);
    put(g, ")");
}

static void conditional(generator *g, kind k, int depth) {
    put(g, "(");
    comparison(g, depth - 1);
    put(g, " ? ");
    expression(g, k, depth - 1);
    put(g, " : ");
    expression(g, k, depth - 1);
    put(g, ")");
}

static void cast(generator *g, kind k, int depth) {
    text_printf(g->out, "(%s)(", type_name(g, random_type(g, k)));
    expression(g, k == INTEGER ? REAL : COMPLEX, depth - 1);
    put(g, ")");
}

/* What a function takes and gives. Nothing that shows the sign of a NaN: engines differ in it. */
typedef struct exact_function {
    const char *name;
    int arity;
    kind argument, last, result; /* last: of the last argument */
} exact_function;

static const exact_function exact_functions[] = {
    /* clang-format off */
    {"popcount", 1, INTEGER, INTEGER, INTEGER}, {"clz", 1, INTEGER, INTEGER, INTEGER},
    {"ctz", 1, INTEGER, INTEGER, INTEGER},      {"ilogb", 1, REAL, REAL, INTEGER},
    {"min", 2, INTEGER, INTEGER, INTEGER},      {"max", 2, INTEGER, INTEGER, INTEGER},
    {"abs", 1, INTEGER, INTEGER, INTEGER},      {"clamp", 3, INTEGER, INTEGER, INTEGER},
    {"floor_div", 2, INTEGER, INTEGER, INTEGER}, {"floor_mod", 2, INTEGER, INTEGER, INTEGER},
    {"isnan", 1, COMPLEX, COMPLEX, INTEGER},    {"isfinite", 1, COMPLEX, COMPLEX, INTEGER},
    {"isinf", 1, COMPLEX, COMPLEX, INTEGER},    {"lrint", 1, REAL, REAL, INTEGER},
    {"lround", 1, REAL, REAL, INTEGER},         {"sign", 1, INTEGER, INTEGER, INTEGER},
    {"min", 2, REAL, REAL, REAL},               {"max", 2, REAL, REAL, REAL},
    {"fmin", 2, REAL, REAL, REAL},              {"fmax", 2, REAL, REAL, REAL},
    {"fdim", 2, REAL, REAL, REAL},              {"abs", 1, REAL, REAL, REAL},
    {"clamp", 3, REAL, REAL, REAL},             {"sign", 1, REAL, REAL, REAL},
    {"sqrt", 1, REAL, REAL, REAL},              {"floor", 1, REAL, REAL, REAL},
    {"ceil", 1, REAL, REAL, REAL},              {"trunc", 1, REAL, REAL, REAL},
    {"round", 1, REAL, REAL, REAL},             {"rint", 1, REAL, REAL, REAL},
    {"nearbyint", 1, REAL, REAL, REAL},         {"fabs", 1, REAL, REAL, REAL},
    {"logb", 1, REAL, REAL, REAL},              {"fma", 3, REAL, REAL, REAL},
    {"fmod", 2, REAL, REAL, REAL},              {"cimag", 1, COMPLEX, COMPLEX, REAL},
    {"nextafter", 2, REAL, REAL, REAL},         {"ldexp", 2, REAL, INTEGER, REAL},
    {"scalbn", 2, REAL, INTEGER, REAL},         {"real", 1, COMPLEX, COMPLEX, REAL},
    {"imag", 1, COMPLEX, COMPLEX, REAL},        {"creal", 1, COMPLEX, COMPLEX, REAL},
    {"CMPLX", 2, REAL, REAL, COMPLEX},          {"conj", 1, COMPLEX, COMPLEX, COMPLEX},
    {"add_down", 2, REAL, REAL, REAL},          {"sub_up", 2, REAL, REAL, REAL},
    {"mul_up", 2, REAL, REAL, REAL},            {"div_down", 2, REAL, REAL, REAL},
    {"sqrt_up", 1, REAL, REAL, REAL},           {"fma_down", 3, REAL, REAL, REAL},
    /* clang-format on */
};

static void function_call(generator *g, kind k, int depth) {
    const exact_function *f;
    do
        f = &ONE_OF(g, exact_functions);
    while (f->result > k || (k == INTEGER && f->result != INTEGER));
    text_printf(g->out, "%s(", f->name);
    for (int i = 0; i < f->arity; i++) {
        put(g, i ? ", " : "");
        expression(g, i + 1 == f->arity ? f->last : f->argument, depth - 1);
    }
    put(g, ")");
}

static void helper_call(generator *g, kind k, int depth) {
    int which = (int)pick(g, 0, g->nhelpers - 1);
    text_printf(g->out, "h%d(", which);
    for (int i = 0; i < g->arity[which]; i++) {
        put(g, i ? ", " : "");
        expression(g, k, depth - 1);
    }
    put(g, ")");
}

/* Assignment, compound assignment or ++ and -- of a variable or element, as an expression. */
static void update(generator *g, kind k, int depth) {
    static const char *const any[] = {"=", "+=", "-=", "*=", "/="}, *const steps[] = {"++", "--"};
    static const char *const integers[] = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
    variable *v = some_variable(g, k, true, chance(g, 30));
    if (!v) {
        leaf(g, k, depth);
        return;
    }
    bool is_integer = kind_of(v->type) == INTEGER, step = kind_of(v->type) < COMPLEX && chance(g, 25);
    const char *before = step && chance(g, 50) ? ONE_OF(g, steps) : "",
               *after = step && !*before ? ONE_OF(g, steps) : "";
    put(g, "(");
    put(g, before);
    if (v->rank)
        element(g, v, depth);
    else
        put(g, v->name);
    put(g, after);
    if (!step) {
        const char *op = is_integer ? ONE_OF(g, integers) : ONE_OF(g, any);
        text_printf(g->out, " %s ", op);
        expression(g, is_integer ? INTEGER : kind_of(v->type), depth - 1);
    }
    put(g, ")");
}

static void generic(generator *g, kind k, int depth) {
    put(g, "_Generic(");
    expression(g, COMPLEX, depth - 2);
    put(g, ", float32: ");
    expression(g, k, depth - 1);
    put(g, ", integer: ");
    expression(g, k, depth - 1);
    put(g, ", default: ");
    expression(g, k, depth - 1);
    put(g, ")");
}

/* ---- Reductions ---- */

enum {
    MAX_NEST = 3
};

/* Something to run over: mostly an extent of an operand. */
static void random_bound(generator *g, char bound[24]) {
    const core_operand *o = &g->core->operand[pick(g, 0, g->p->nin + g->p->nout - 1)];
    int64_t way = pick(g, 0, 99);
    if (way < 8 || !o->rank)
        snprintf(bound, 24, "%d", (int)pick(g, way < 2 ? -1 : 1, 7));
    else if (way < 88)
        snprintf(bound, 24, "%s", o->dim[pick(g, 0, o->rank - 1)].bound);
    else
        snprintf(bound, 24, "%s %c %d", o->dim[0].bound, "+-/%"[pick(g, 0, 3)], (int)pick(g, 1, 3));
}

/* "i7 : n"; the variable is there afterwards. */
static bool new_range(generator *g, const char *bound) {
    variable *v = new_variable(g, "i", DT_INT64);
    if (!v)
        return false;
    v->counter = true;
    snprintf(v->bound, sizeof v->bound, "%s", bound);
    text_printf(g->out, "%s : %s", v->name, bound);
    return true;
}

/* An element of an input, which is a small integer whatever its type. */
static bool tame_load(generator *g, kind k, int depth) {
    const variable *found = NULL;
    int seen = 0;
    for (int i = 0; i < g->nvariables; i++)
        if (g->variables[i].input && kind_of(g->variables[i].type) <= k && pick(g, 0, seen++) == 0)
            found = &g->variables[i];
    if (found)
        element(g, found, depth);
    return found != NULL;
}

/* None is a negative zero: a sum may begin with 0 or with its first term. */
static void tame_term(generator *g, kind k, int depth) {
    bool product = chance(g, 50);
    put(g, k == COMPLEX ? "CMPLX(0.f, 0.f) + " : "0 + ");
    if (!tame_load(g, k, depth) || (product && chance(g, 30))) {
        put(g, product ? "" : "1.5f");
        return;
    }
    put(g, product ? " * " : " + ");
    if (!tame_load(g, k, depth))
        put(g, "2");
}

/* What stands in the parentheses after the ranges, so that the order does not matter: whole numbers; floating sums of small
 * ones; the least and largest without a negative zero. */
static void reduction_term(generator *g, kind k, const char *name, int depth) {
    if (name[0] == 'a') {
        comparison(g, depth - 1);
    } else if (k > INTEGER && name[0] == 'm') {
        put(g, "0 + ");
        expression(g, REAL, depth - 1);
    } else if (k > INTEGER) {
        tame_term(g, k, depth - 1);
    } else {
        expression(g, INTEGER, depth - 1);
    }
}

static void reduction(generator *g, kind k, int depth) {
    static const char *const whole[] = {"sum", "sum", "prod",         "min",         "max",
                                        "any", "all", "reduce(rd0, ", "reduce(rd1, "};
    static const char *const floating[] = {"sum", "sum", "sum", "min", "max"};
    const char *name = k > INTEGER && g->core->tame ? ONE_OF(g, floating) : ONE_OF(g, whole);
    bool in_term = g->in_term;
    int visible = g->nvariables, ranges = chance(g, 80) || g->nest + 2 > MAX_NEST ? 1 : 2;
    char bound[2][24];
    if (name[0] != 's' && name[0] != 'm')
        k = INTEGER;
    else if (!g->core->tame)
        k = name[0] == 'm' && chance(g, 50) ? k : INTEGER;
    g->in_term = true;
    g->nest += ranges;
    put(g, name);
    put(g, strchr(name, '(') ? "" : "(");
    for (int i = 0; i < ranges; i++)
        random_bound(g, bound[i]);
    for (int i = 0; i < ranges && new_range(g, bound[i]); i++)
        put(g, ", ");
    reduction_term(g, k, name, depth);
    put(g, ")");
    g->in_term = in_term;
    g->nest -= ranges;
    g->nvariables = visible;
}

/* ---- All expressions ---- */

static void expression(generator *g, kind k, int depth) {
    int64_t way = pick(g, 0, 99);
    if (depth <= 0 || --g->budget < 0) {
        leaf(g, k, depth);
        return;
    }
    if (k > INTEGER && way < 12) /* something less general does as well */
        k--;
    if (g->core && g->nest < MAX_NEST && g->nvariables < MAX_VARIABLES - 4 && chance(g, 12))
        reduction(g, k, depth);
    else if (way < 40)
        arithmetic(g, k, depth);
    else if (way < 48)
        comparison(g, depth);
    else if (way < 54)
        prefix(g, k, depth);
    else if (way < 60)
        conditional(g, k, depth);
    else if (way < 68)
        cast(g, k, depth);
    else if (way < 78)
        function_call(g, k, depth);
    else if (way < 83 && g->nhelpers)
        helper_call(g, k, depth);
    else if (way < 87 && !g->in_helper && !g->in_term)
        update(g, k, depth);
    else if (way < 89)
        generic(g, k, depth);
    else
        leaf(g, k, depth);
}

/* ---- Statements ---- */

static void statement(generator *g, int depth);

static void indent(generator *g, int depth) { text_printf(g->out, "%*s", 4 * (MAX_DEPTH - depth), ""); }

static void block(generator *g, int depth) {
    int visible = g->nvariables;
    put(g, "{\n");
    for (int64_t n = pick(g, 1, 3); n > 0; n--)
        statement(g, depth - 1);
    indent(g, depth);
    put(g, "}");
    g->nvariables = visible;
}

static void declare(generator *g, int depth) {
    dtype t = random_type(g, COMPLEX);
    bool initial = chance(g, 80), plain = initial && chance(g, 30); /* typeof and auto need an expression of one type */
    if (plain) {
        put(g, "auto");
    } else {
        put(g, type_name(g, t));
    }
    char name[8];
    snprintf(name, sizeof name, "v%d", g->names++ % 1000);
    text_printf(g->out, " %s", name);
    if (plain)
        text_printf(g->out, " = (%s)(", dtypes[t].name);
    else if (initial)
        put(g, " = ");
    if (initial)
        expression(g, COMPLEX, depth);
    put(g, plain ? ");\n" : ";\n");
    variable *v = new_variable(g, "v", t);
    if (v)
        memcpy(v->name, name, sizeof name);
}

static void declare_array(generator *g, int depth) {
    variable v = {.type = random_type(g, COMPLEX), .rank = chance(g, 75) ? 1 : (int)pick(g, 2, 4)};
    bool table = chance(g, 40); /* all of whose values are constants */
    v.fixed = table;
    snprintf(v.name, sizeof v.name, "a%d", g->names++ % 1000);
    text_printf(g->out, "%s%s %s", table ? "const " : "", type_name(g, v.type), v.name);
    for (int d = 0; d < v.rank; d++) {
        v.extent[d] = v.rank == 1 && chance(g, 10) ? 1 << pick(g, 6, 8) : (int)pick(g, 1, v.rank == 1 ? 9 : 3);
        text_printf(g->out, "[%d]", v.extent[d]);
    }
    if (table || (v.rank == 1 && chance(g, 60))) {
        put(g, " = {");
        for (int64_t i = 0, n = pick(g, 1, v.extent[0]); i < n && i < 12; i++) {
            put(g, i ? ", " : "");
            if (table)
                literal(g, kind_of(v.type));
            else
                expression(g, kind_of(v.type), depth - 2);
        }
        put(g, "}");
    }
    put(g, ";\n");
    if (g->nvariables < MAX_VARIABLES)
        g->variables[g->nvariables++] = v;
}

static void if_else(generator *g, int depth) {
    put(g, "if (");
    comparison(g, depth);
    put(g, ") ");
    block(g, depth);
    if (chance(g, 40)) {
        put(g, " else ");
        block(g, depth);
    }
    put(g, "\n");
}

/* for, in the forms that bounds are read from and others. The counter's type holds every count. */
static void for_head(generator *g, const variable *v, int times) {
    static const char *const steps[] = {"++", "++", " += 1", " += 2"};
    int64_t first = pick(g, 0, 2), step = pick(g, 0, (int64_t)COUNT(steps) - 1), form = pick(g, 0, 5);
    const char *name = v->name;
    text_printf(g->out, "for (%s %s = %d; ", dtypes[v->type].name, name, (int)first);
    if (form == 0)
        text_printf(g->out, "%s <= %d; ", name, times > 0 ? times - 1 : 0);
    else if (form == 1)
        text_printf(g->out, "%s != %d; ", name, (int)first + 2 * (times / 2)); /* met by steps of 1 and 2 */
    else if (form == 2)
        text_printf(g->out, "%d > %s; ", times, name);
    else
        text_printf(g->out, "%s < %d; ", name, times);
    text_printf(g->out, "%s%s) ", name, steps[step]);
}

/* One of the three loops, counting to a small number. A continue cannot skip the count. */
static void loop(generator *g, int depth) {
    static const dtype types[] = {DT_INT32, DT_INT32, DT_INT64, DT_UINT8, DT_INT16, DT_UINT32, DT_UINT64};
    int times = (int)pick(g, 0, g->loops ? 3 : 6), form = (int)pick(g, 0, 3), visible = g->nvariables;
    variable *counter = new_variable(g, "i", ONE_OF(g, types));
    if (!counter)
        return;
    counter->counter = true;
    const variable v = *counter;
    const char *type = dtypes[v.type].name, *name = v.name;
    g->loops++;
    g->breakable++;
    if (form < 2)
        for_head(g, &v, times);
    else if (form == 2)
        text_printf(g->out, "%s %s = 0;\n%*swhile (%s++ < %d) ", type, name, 4 * (MAX_DEPTH - depth), "", name, times);
    else
        text_printf(g->out, "%s %s = 0;\n%*sdo ", type, name, 4 * (MAX_DEPTH - depth), "");
    block(g, depth);
    if (form == 3)
        text_printf(g->out, " while (++%s < %d);", name, times);
    put(g, "\n");
    g->loops--;
    g->breakable--;
    if (form < 2)
        g->nvariables = visible;
}

static void switch_over(generator *g, int depth) {
    int64_t value = pick(g, -2, 1);
    put(g, "switch (");
    expression(g, INTEGER, depth - 1);
    put(g, ") {\n");
    g->breakable++;
    for (int64_t n = pick(g, 1, 4), by_default = pick(g, 0, 4); n > 0; n--) {
        int visible = g->nvariables;
        indent(g, depth);
        if (n == by_default)
            put(g, "default:\n");
        else
            text_printf(g->out, "case %lld:\n", (long long)value);
        value += pick(g, 1, 3);
        if (chance(g, 85)) {
            indent(g, depth - 1);
            block(g, depth - 1);
            put(g, "\n");
        }
        if (chance(g, 60)) {
            indent(g, depth - 1);
            put(g, "break;\n");
        }
        g->nvariables = visible;
    }
    g->breakable--;
    indent(g, depth);
    put(g, "}\n");
}

static void jump(generator *g, int depth) {
    put(g, "if (");
    comparison(g, depth);
    put(g, ") ");
    if (g->breakable && chance(g, 40)) {
        put(g, "break;\n");
    } else if (g->loops && chance(g, 50)) {
        put(g, "continue;\n");
    } else if (g->in_forall) {
        put(g, ";\n");
    } else if (g->named) {
        put(g, "return;\n");
    } else {
        put(g, "return ");
        expression(g, COMPLEX, depth - 1);
        put(g, ";\n");
    }
}

static void core_statement(generator *g, int depth);

static void statement(generator *g, int depth) {
    int64_t way = pick(g, 0, 99);
    indent(g, depth);
    if (g->core && g->nest < MAX_NEST && depth > 1 && chance(g, 30))
        core_statement(g, depth);
    else if (depth <= 1 || g->budget < 0 || way < 40) {
        update(g, COMPLEX, depth + 1);
        put(g, ";\n");
    } else if (way < 58) {
        declare(g, depth);
    } else if (way < 66) {
        declare_array(g, depth);
    } else if (way < 76) {
        if_else(g, depth);
    } else if (way < 87 && g->loops < 2) {
        loop(g, depth);
    } else if (way < 93) {
        switch_over(g, depth);
    } else {
        jump(g, depth);
    }
}

/* ---- Foralls ---- */

/* An element that one combination of a forall's variables writes to, and no other. */
typedef struct target {
    variable *v;
    char index[4][48]; /* per dimension */
} target;

static void put_target(generator *g, const target *t) {
    put(g, t->v->name);
    for (int d = 0; d < t->v->rank; d++)
        text_printf(g->out, "[%s]", t->index[d]);
}

static const char *extent_text(const variable *v, int d, char buffer[24]) {
    if (v->dims)
        return v->dims[d].bound;
    snprintf(buffer, 24, "%d", v->extent[d]);
    return buffer;
}

/* "i7", or another index that differs where i7 does. */
static void index_of(generator *g, char index[48], const char *bound) {
    const char *name = g->variables[g->nvariables - 1].name;
    int64_t way = pick(g, 0, 99);
    if (way < 76)
        snprintf(index, 48, "%s", name);
    else if (way < 84)
        snprintf(index, 48, "%s - 1 - %s", bound, name);
    else if (way < 92)
        snprintf(index, 48, "%s %c %d", name, "+-"[way & 1], (int)pick(g, 1, 2));
    else
        snprintf(index, 48, "2 * %s", name);
}

/* One or two assignments to the target. */
static void write_target(generator *g, const target *t, int depth) {
    static const char *const any[] = {" = ", " = ", " = ", " += ", " *= "};
    for (int64_t n = pick(g, 1, 100) > 75 ? 2 : 1; n > 0; n--) {
        kind k = kind_of(t->v->type);
        if (chance(g, 15)) {
            put(g, "if (");
            comparison(g, depth);
            put(g, ") ");
        }
        put_target(g, t);
        put(g, ONE_OF(g, any));
        if (chance(g, 20)) {
            put_target(g, t);
            put(g, " + ");
        }
        expression(g, k, depth);
        put(g, ";\n");
        indent(g, depth - 1);
    }
}

/* Nothing that is there may be assigned in the forall that follows; returns it as it was in `before`. */
static void fix_all(generator *g, variable before[MAX_VARIABLES]) {
    memcpy(before, g->variables, sizeof g->variables);
    for (int i = 0; i < g->nvariables; i++)
        g->variables[i].fixed = true;
}

/* Statements on locals of the forall's own, then the target, perhaps in a loop or forall over a dimension that is left. */
static void forall_body(generator *g, target *t, int depth, int dim) {
    char buffer[24];
    const char *bound = dim < t->v->rank ? extent_text(t->v, dim, buffer) : "";
    put(g, "{\n");
    for (int64_t n = pick(g, -1, 2); n > 0; n--)
        statement(g, depth - 1);
    indent(g, depth - 1);
    if (dim < t->v->rank && g->nest < MAX_NEST && g->nvariables < MAX_VARIABLES - 4 && chance(g, 70)) {
        variable before[MAX_VARIABLES];
        bool serial = chance(g, 50);
        int visible = g->nvariables;
        memcpy(before, g->variables, sizeof before);
        g->nest++;
        if (serial) {
            variable *c = new_variable(g, "i", DT_INT64);
            c->counter = true;
            snprintf(c->bound, sizeof c->bound, "%s", bound);
            text_printf(g->out, "for (int64 %s = 0; %s < %s; %s++) ", c->name, c->name, bound, c->name);
        } else {
            fix_all(g, before);
            put(g, "forall (");
            new_range(g, bound);
            put(g, ") ");
        }
        index_of(g, t->index[dim], bound);
        forall_body(g, t, depth - 1, dim + 1);
        memcpy(g->variables, before, sizeof before);
        g->nest--;
        g->nvariables = visible;
    } else {
        for (; dim < t->v->rank; dim++)
            snprintf(t->index[dim], sizeof t->index[dim], "%d", (int)pick(g, 0, 2));
        write_target(g, t, depth - 1);
    }
    put(g, "}\n");
}

/* The first index by two variables: all elements of what is laid out in rows. */
static void flat_ranges(generator *g, target *t) {
    char first[24], second[24];
    random_bound(g, first);
    random_bound(g, second);
    new_range(g, first);
    put(g, ", ");
    new_range(g, second);
    const variable *j = &g->variables[g->nvariables - 1];
    snprintf(t->index[0], sizeof t->index[0], "%s * (%s) + %s", (j - 1)->name, second, j->name);
    g->nest++;
}

/* A forall that writes to v. */
static void forall(generator *g, int depth, variable *v) {
    variable before[MAX_VARIABLES];
    target t = {.v = v};
    char buffer[24];
    bool in_forall = g->in_forall, flat = v->rank == 1 && g->nest + 2 <= MAX_NEST && chance(g, 10);
    int visible = g->nvariables, loops = g->loops, breakable = g->breakable, nest = g->nest;
    int ranges = v->rank > 1 && g->nest + 2 <= MAX_NEST && chance(g, 50) ? 2 : 1;
    fix_all(g, before);
    v->hidden = g->in_forall = true;
    g->loops = g->breakable = 0;
    put(g, "forall (");
    if (flat)
        flat_ranges(g, &t);
    for (int d = 0; d < ranges && !flat; d++) {
        put(g, d ? ", " : "");
        new_range(g, extent_text(v, d, buffer));
        index_of(g, t.index[d], g->variables[g->nvariables - 1].bound);
        g->nest++;
    }
    put(g, ") ");
    forall_body(g, &t, depth, flat ? 1 : ranges);
    memcpy(g->variables, before, sizeof before);
    g->nvariables = visible;
    g->in_forall = in_forall;
    g->loops = loops;
    g->breakable = breakable;
    g->nest = nest;
}

/* A loop over a size, in which elements are written at any place. */
static void size_loop(generator *g, int depth) {
    int visible = g->nvariables;
    char bound[24];
    random_bound(g, bound);
    variable *c = new_variable(g, "i", chance(g, 80) ? DT_INT64 : DT_INT32);
    c->counter = true;
    snprintf(c->bound, sizeof c->bound, "%s", bound);
    text_printf(g->out, "for (%s %s = %s0; %s < %s; %s++) ", dtypes[c->type].name, c->name, chance(g, 80) ? "" : "1 + ",
                c->name, bound, c->name);
    g->nest++;
    g->loops++;
    g->breakable++;
    block(g, depth);
    put(g, "\n");
    g->nest--;
    g->loops--;
    g->breakable--;
    g->nvariables = visible;
}

static void core_statement(generator *g, int depth) {
    variable *v = some_variable(g, COMPLEX, true, true);
    if (g->nvariables > MAX_VARIABLES - 8)
        put(g, ";\n");
    else if (v && chance(g, 75))
        forall(g, depth, v);
    else
        size_loop(g, depth);
}

/* ---- Programs ---- */

/* A helper of generic parameters: operators that every kind has. */
static void helper(generator *g) {
    static const char *const bodies[] = {
        "{ return a * 2 + b; }",
        "{ auto t = a - b; return t < 0 ? -t : t; }",
        "{ auto t = a; for (int i = 0; i < 3; i++) t = t * b + 1; return t; }",
        "{ if (a == b) return a; return a / b; }",
        "{ a += b; b -= a; return a + 3 * b; }",
        "{ int64 c = 0; while (c < 4) { if (a == c) break; c++; } return a + c * b; }",
        "{ return _Generic(a, integer: a ^ 1, floating: a * 0.5, default: a) + b; }",
        "{ typeof(a) t[3] = {a, b}; t[2] = t[1] - t[0]; return t[2] + t[0]; }",
    };
    text_printf(g->out, "h%d(a, b) %s\n", g->nhelpers, ONE_OF(g, bodies));
    g->arity[g->nhelpers++] = 2;
}

static void core_variable(generator *g, variable *v, int k) {
    if (!g->core || !g->core->operand[k].rank)
        return;
    v->rank = g->core->operand[k].rank;
    v->dims = g->core->operand[k].dim;
    v->input = v->fixed = k < g->p->nin;
}

static void parameters(generator *g) {
    program *p = g->p;
    put(g, "(");
    for (int i = 0; i < p->nin; i++) {
        variable *v = new_variable(g, "x", p->types[i]);
        core_variable(g, v, i);
        text_printf(g->out, "%s%s", i ? ", " : "", v->name);
    }
    put(g, ")");
    for (int i = 0; i < p->nout && g->named; i++) {
        variable *v = new_variable(g, "y", p->types[p->nin + i]);
        core_variable(g, v, p->nin + i);
        text_printf(g->out, "%s%s", i ? ", " : " -> (", v->name);
    }
    put(g, g->named ? ") {\n" : " {\n");
}

static void choose_types(generator *g) {
    program *p = g->p;
    text list = {0};
    p->nin = (int)pick(g, 1, 3);
    p->nout = chance(g, 60) ? 1 : (int)pick(g, 2, 3);
    g->named = p->nout > 1 || chance(g, 20);
    kind top = chance(g, 25) ? COMPLEX : chance(g, 75) ? REAL : INTEGER;
    for (int i = 0; i < p->nin + p->nout; i++)
        p->types[i] = random_type(g, top);
    signature_print(&list, p->types, p->nin, p->nout);
    snprintf(p->signature, sizeof p->signature, "%s", list.data);
    text_free(&list);
}

void random_program(program *p, source *s) {
    *p = (program){.nin = 0};
    generator g = {.s = s, .out = &p->source, .p = p, .budget = (int)random_between(s, 5, 120)};
    choose_types(&g);
    for (int64_t n = pick(&g, -1, MAX_HELPERS); n > 0; n--)
        helper(&g);
    parameters(&g);
    for (int64_t n = pick(&g, 0, 6); n > 0; n--)
        statement(&g, MAX_DEPTH - 1);
    for (int i = 0; i < p->nout && g.named; i++) {
        text_printf(g.out, "    %s = ", g.variables[p->nin + i].name);
        expression(&g, COMPLEX, MAX_DEPTH);
        put(&g, ";\n");
    }
    if (!g.named) {
        put(&g, "    return ");
        expression(&g, COMPLEX, MAX_DEPTH);
        put(&g, ";\n");
    }
    put(&g, "}\n");
}

void program_free(program *p) { text_free(&p->source); }

/* ---- Generalized ufuncs ---- */

const char *const core_names[CORE_NAMES] = {"n", "m", "p"};

/* Computed sizes: of the first name and the second. */
static const char *const computed[] = {"%s+%s-1", "2*%s", "%s*(%s-1)/2", "%s/2+1", "%s*%s", "(%s+%s)", "3+%s-1"};

int64_t core_extent(const core_dim *d, const int64_t *sizes) {
    int64_t a = sizes[d->name], b = sizes[d->other];
    if (d->kind == CORE_FROZEN)
        return d->value;
    if (d->kind != CORE_COMPUTED)
        return a;
    switch (d->value) {
    case 0:
        return a + b - 1;
    case 1:
        return 2 * a;
    case 2:
        return a * (b - 1) / 2;
    case 3:
        return a / 2 + 1;
    case 4:
        return a * b;
    case 5:
        return a + b;
    default:
        return a + 2;
    }
}

/* How a layout spells a dimension. */
static void put_dim(generator *g, const core_dim *d) {
    text *out = &g->core->layout;
    if (d->kind == CORE_FROZEN)
        text_printf(out, "%d", (int)d->value);
    else if (d->kind == CORE_COMPUTED)
        text_printf(out, computed[d->value], core_names[d->name], core_names[d->other]);
    else
        text_printf(out, "%s%s", core_names[d->name],
                    d->kind == CORE_STRETCH      ? "|1"
                    : g->core->optional[d->name] ? "?"
                                                 : "");
}

/* A dimension of operand k; earlier ones are known. */
static core_dim random_dim(generator *g, bool output) {
    core_program *c = g->core;
    core_dim d = {.kind = CORE_NAME, .name = (int)pick(g, 0, CORE_NAMES - 1)};
    int64_t way = pick(g, 0, 99);
    d.other = (int)pick(g, 0, CORE_NAMES - 1);
    bool plain = c->in_inputs[d.name] && !c->optional[d.name];
    if (way < 8) {
        d = (core_dim){.kind = CORE_FROZEN, .value = pick(g, 1, 5)};
    } else if (way < 18 && !output && plain) {
        d.kind = CORE_STRETCH;
    } else if (way < 30 && output && plain) {
        d.kind = CORE_COMPUTED;
        d.value = pick(g, 0, (int64_t)COUNT(computed) - 1);
        if (!c->in_inputs[d.other] || c->optional[d.other])
            d.other = d.name;
    } else if (output && !c->in_inputs[d.name] && (c->optional[d.name] || chance(g, 60))) {
        d.name = 0; /* few sizes that only outputs have */
    }
    if (d.kind == CORE_NAME || d.kind == CORE_STRETCH)
        (output ? c->in_outputs : c->in_inputs)[d.name] = true;
    if (d.kind == CORE_FROZEN)
        snprintf(d.bound, sizeof d.bound, "%d", (int)d.value);
    else if (d.kind == CORE_COMPUTED)
        snprintf(d.bound, sizeof d.bound, computed[d.value], core_names[d.name], core_names[d.other]);
    else
        snprintf(d.bound, sizeof d.bound, "%s", core_names[d.name]);
    return d;
}

static void put_blank(generator *g) { text_puts(&g->core->layout, chance(g, 8) ? " " : ""); }

static void random_layout(generator *g) {
    static const int ranks[] = {0, 1, 1, 1, 1, 2, 2, 2, 3};
    core_program *c = g->core;
    for (int i = 1; i < CORE_NAMES; i++)
        c->optional[i] = chance(g, 12);
    for (int k = 0; k < g->p->nin + g->p->nout; k++) {
        core_operand *o = &c->operand[k];
        text_puts(&c->layout, k == g->p->nin ? "->" : k ? "," : "");
        put_blank(g);
        text_puts(&c->layout, "(");
        o->rank = ONE_OF(g, ranks);
        if (k == 0 && o->rank == 0)
            o->rank = 1;
        for (int d = 0; d < o->rank; d++) {
            text_puts(&c->layout, d ? "," : "");
            put_blank(g);
            o->dim[d] = k || d ? random_dim(g, k >= g->p->nin) : (core_dim){.kind = CORE_NAME, .bound = "n"};
            c->in_inputs[0] = true;
            put_dim(g, &o->dim[d]);
            put_blank(g);
        }
        text_puts(&c->layout, ")");
    }
}

/* The helpers that reductions combine with: on whole numbers, any order gives the same. */
static void core_helpers(generator *g) {
    static const char *const bodies[] = {"{ return a ^ b; }",         "{ return a + b - 3; }",
                                         "{ return a * b + a + b; }", "{ return a < b ? b : a; }",
                                         "{ return a & b; }",         "{ auto t = a; t |= b; return t; }"};
    for (int i = 0; i < 2; i++)
        text_printf(g->out, "rd%d(a, b) %s\n", i, ONE_OF(g, bodies));
}

/* The sizes as variables. */
static void core_sizes(generator *g) {
    for (int i = 0; i < CORE_NAMES; i++)
        if (g->core->in_inputs[i] || g->core->in_outputs[i]) {
            variable *v = new_variable(g, "", DT_INT64);
            v->counter = true;
            snprintf(v->name, sizeof v->name, "%s", core_names[i]);
        }
}

static void core_output(generator *g, variable *v) {
    put(g, "    ");
    if (v->rank) {
        forall(g, MAX_DEPTH - 1, v);
        return;
    }
    text_printf(g->out, "%s = ", v->name);
    expression(g, COMPLEX, MAX_DEPTH);
    put(g, ";\n");
}

void random_core_program(core_program *c, source *s) {
    program *p = &c->p;
    *c = (core_program){.tame = random_chance(s, 50)};
    generator g = {.s = s, .out = &p->source, .p = p, .core = c, .budget = (int)random_between(s, 5, 60)};
    choose_types(&g);
    g.named = true;
    random_layout(&g);
    for (int64_t n = pick(&g, -1, MAX_HELPERS); n > 0; n--)
        helper(&g);
    core_helpers(&g);
    parameters(&g);
    core_sizes(&g);
    for (int64_t n = pick(&g, -1, 3); n > 0; n--)
        statement(&g, MAX_DEPTH - 1);
    for (int i = 0; i < p->nout; i++)
        if (chance(&g, 85))
            core_output(&g, &g.variables[p->nin + i]);
    put(&g, "}\n");
}

void core_program_free(core_program *c) {
    program_free(&c->p);
    text_free(&c->layout);
}
