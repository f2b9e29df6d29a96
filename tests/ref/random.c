/* random.c - generates kernel C as text. Expressions are made for one of three kinds: what must be an integer, what may be
 * any real, what may be complex too; statements change only variables that are not loop counters, and every loop counts. */
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
    bool counter; /* of a loop: not assigned */
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
        if (kind_of(v->type) <= k && (v->rank > 0) == array && !(to_assign && v->counter) && pick(g, 0, seen++) == 0)
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

static void element(generator *g, const variable *v, int depth) {
    put(g, v->name);
    for (int d = 0; d < v->rank; d++) {
        int64_t way = pick(g, 0, 9);
        put(g, "[");
        if (way < 4)
            text_printf(g->out, "%d", (int)pick(g, 0, v->extent[d] - (way < 3)));
        else if (way > 7 || !counted_index(g))
            expression(g, INTEGER, depth - 2);
        put(g, "]");
    }
}

static void leaf(generator *g, kind k, int depth) {
    variable *v = some_variable(g, k, false, depth > 0 && chance(g, 25));
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

static void expression(generator *g, kind k, int depth) {
    int64_t way = pick(g, 0, 99);
    if (depth <= 0 || --g->budget < 0) {
        leaf(g, k, depth);
        return;
    }
    if (k > INTEGER && way < 12) /* something less general does as well */
        k--;
    if (way < 40)
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
    else if (way < 87 && !g->in_helper)
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
    snprintf(v.name, sizeof v.name, "a%d", g->names++ % 1000);
    text_printf(g->out, "%s %s", type_name(g, v.type), v.name);
    for (int d = 0; d < v.rank; d++) {
        v.extent[d] = v.rank == 1 && chance(g, 10) ? 1 << pick(g, 6, 8) : (int)pick(g, 1, v.rank == 1 ? 9 : 3);
        text_printf(g->out, "[%d]", v.extent[d]);
    }
    if (v.rank == 1 && chance(g, 60)) {
        put(g, " = {");
        for (int64_t i = 0, n = pick(g, 1, v.extent[0]); i < n && i < 12; i++) {
            put(g, i ? ", " : "");
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
    } else if (g->named) {
        put(g, "return;\n");
    } else {
        put(g, "return ");
        expression(g, COMPLEX, depth - 1);
        put(g, ";\n");
    }
}

static void statement(generator *g, int depth) {
    int64_t way = pick(g, 0, 99);
    indent(g, depth);
    if (depth <= 1 || g->budget < 0 || way < 40) {
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

static void parameters(generator *g) {
    program *p = g->p;
    put(g, "(");
    for (int i = 0; i < p->nin; i++) {
        variable *v = new_variable(g, "x", p->types[i]);
        text_printf(g->out, "%s%s", i ? ", " : "", v->name);
    }
    put(g, ")");
    for (int i = 0; i < p->nout && g->named; i++) {
        variable *v = new_variable(g, "y", p->types[p->nin + i]);
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
