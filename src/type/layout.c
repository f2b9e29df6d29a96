/* layout.c - reads and writes the text of layouts, "(m,n),(n)->(m)", and computes the sizes in them. The grammar is
 * NumPy's, and more:
 *    layout   := [ operands ] "->" operands
 *    operands := operand { "," operand }
 *    operand  := "(" [ extent { "," extent } ] ")"
 *    extent   := size [ "?" ] [ "|" "1" ]
 *    size     := term { ("+" | "-") term }
 *    term     := factor { ("*" | "/") factor }
 *    factor   := "-" factor | name | number | "(" size ")" | ("min" | "max") "(" size "," size ")"
 * A size is kept as steps for a stack (reverse Polish notation), and is printed from them with no more parentheses than
 * it takes to read the same steps again. Blanks may stand between any two tokens, but, as in NumPy, not before "?". */
#include <assert.h>
#include <stdio.h>

#include "type/type.h"

enum {
    MAX_STEPS = 64, /* of one computed size; its stack is not deeper */
    MAX_DEPTH = 32  /* of parentheses and signs within each other */
};

/* ---- Computed sizes ---- */

static const char overflowed[] = "overflows", divided[] = "divides by zero";

/* *value = a op b. False, with the reason in *why, if there is no result. */
static bool apply(char op, int64_t a, int64_t b, int64_t *value, const char **why) {
    bool overflow = false;
    *why = divided;
    switch (op) {
    case STEP_MIN:
        *value = a < b ? a : b;
        break;
    case STEP_MAX:
        *value = a > b ? a : b;
        break;
    case '+':
        overflow = __builtin_add_overflow(a, b, value);
        break;
    case '-':
        overflow = __builtin_sub_overflow(a, b, value);
        break;
    case '*':
        overflow = __builtin_mul_overflow(a, b, value);
        break;
    default:
        if (b == 0)
            return false;
        overflow = a == INT64_MIN && b == -1;
        if (!overflow)
            *value = a / b;
    }
    *why = overflowed;
    return !overflow;
}

static bool evaluate(const layout_step *steps, int n, const int64_t *sizes, int64_t *value, const char **why) {
    int64_t stack[MAX_STEPS] = {0};
    int top = 0;
    for (int i = 0; i < n; i++) {
        const layout_step *s = &steps[i];
        if (s->op == 'n' || s->op == 'd') {
            stack[top++] = s->op == 'n' ? s->value : sizes[s->dim];
            continue;
        }
        assert(top >= 2); /* the parser pushes an operator after its two operands */
        top--;
        if (!apply(s->op, stack[top - 1], stack[top], &stack[top - 1], why))
            return false;
    }
    assert(top == 1);
    *value = stack[0];
    return true;
}

bool layout_compute(const layout_dim *d, const int64_t *sizes, int64_t *value) {
    const char *why;
    if (!evaluate(d->steps, d->nsteps, sizes, value, &why)) {
        *value = why == divided ? 0 : INT64_MAX;
        return false;
    }
    return *value >= 0;
}

/* ---- Writing ---- */

static const struct {
    const char *word;
    char op;
} choices[] = {{"min", STEP_MIN}, {"max", STEP_MAX}};

static int precedence(char op) { return op == '+' || op == '-' ? 1 : op == '*' || op == '/' ? 2 : 3; }

/* The index of the first step of the operand whose last step is steps[last]. */
static int first_step(const layout_step *steps, int last) {
    int wanted = 1;
    for (;; last--) {
        wanted += steps[last].op == 'n' || steps[last].op == 'd' ? -1 : 1;
        if (!wanted)
            return last;
    }
}

/* Writes the operand whose last step is steps[last], in parentheses if its operator binds less tightly than `least`. */
static void print_steps(text *out, const core_layout *l, const layout_step *steps, int last, int least) {
    const layout_step *s = &steps[last];
    if (s->op == 'n') {
        text_printf(out, "%lld", (long long)s->value);
        return;
    }
    if (s->op == 'd') {
        text_puts(out, l->dims[s->dim].name);
        return;
    }
    int left = first_step(steps, last - 1) - 1, level = precedence(s->op);
    for (size_t i = 0; i < COUNT(choices); i++)
        if (s->op == choices[i].op) {
            text_printf(out, "%s(", choices[i].word);
            print_steps(out, l, steps, left, 0);
            text_puts(out, ",");
            print_steps(out, l, steps, last - 1, 0);
            text_puts(out, ")");
            return;
        }
    bool sign = s->op == '-' && steps[left].op == 'n' && steps[left].value == 0;
    bool parentheses = !sign && level < least;
    if (parentheses)
        text_puts(out, "(");
    if (!sign)
        print_steps(out, l, steps, left, level);
    text_add(out, &s->op, 1);
    print_steps(out, l, steps, last - 1, sign ? 3 : level + 1);
    if (parentheses)
        text_puts(out, ")");
}

void layout_dim_print(text *out, const core_layout *l, int d) {
    const layout_dim *dim = &l->dims[d];
    if (dim->name)
        text_puts(out, dim->name);
    else if (dim->frozen)
        text_printf(out, "%lld", (long long)dim->frozen);
    else
        print_steps(out, l, dim->steps, dim->nsteps - 1, 0);
}

void layout_print(text *out, const core_layout *l) {
    for (int k = 0; k < l->nin + l->nout; k++) {
        const layout_operand *o = &l->operands[k];
        text_puts(out, k == l->nin ? "->(" : k ? ",(" : "(");
        for (int i = 0; i < o->rank; i++) {
            text_puts(out, i ? "," : "");
            layout_dim_print(out, l, o->dim[i]);
            text_puts(out, l->dims[o->dim[i]].optional ? "?" : "");
            text_puts(out, o->stretch[i] ? "|1" : "");
        }
        text_puts(out, ")");
    }
}

/* ---- Reading: tokens ---- */

typedef struct parser {
    const char *text;
    size_t at;
    arena *a;
    int nin, noperands, ndims, nsteps;
    layout_operand operands[UF_MAX_OPERANDS];
    layout_dim dims[LAYOUT_MAX_DIMS];
    size_t seen[LAYOUT_MAX_DIMS];   /* offset of the dimension's first occurrence */
    bool alone[LAYOUT_MAX_DIMS];    /* it occurs by itself, and not only in computed sizes */
    bool in_input[LAYOUT_MAX_DIMS]; /* it occurs by itself in an input */
    layout_step steps[MAX_STEPS];   /* steps of the size that is being read */
} parser;

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static const char *next(parser *p) {
    while (is_blank(p->text[p->at]))
        p->at++;
    return p->text + p->at;
}

static size_t word_length(const char *word) {
    size_t n = 0;
    while (is_letter(word[n]) || is_digit(word[n]))
        n++;
    return n;
}

/* Takes a character; "-" only where it does not begin the arrow. */
static bool take(parser *p, char c) {
    const char *here = next(p);
    bool found = *here == c && !(c == '-' && here[1] == '>');
    p->at += found;
    return found;
}

static bool take_arrow(parser *p) {
    bool found = !strncmp(next(p), "->", 2);
    p->at += found ? 2 : 0;
    return found;
}

/* ---- Reading: errors ---- */

enum {
    QUOTED = 48 /* bytes of a user's text that a message repeats */
};

static void quote(char out[QUOTED], const char *word, size_t length) {
    size_t most = QUOTED - sizeof "\"..\"", n = length < most ? length : most;
    snprintf(out, QUOTED, "\"%.*s%s\"", (int)n, word, n < length ? ".." : "");
}

/* What stands at `at`, for a message. */
static void describe(char out[QUOTED], const char *at) {
    size_t word = word_length(at), character = *at != 0;
    while (character && ((unsigned char)at[character] & 0xC0) == 0x80)
        character++;
    if (!*at)
        strcpy(out, "the end");
    else if (word)
        quote(out, at, word);
    else if (!strncmp(at, "->", 2))
        quote(out, at, 2);
    else if ((unsigned char)*at < ' ' || *at == 0x7F)
        snprintf(out, QUOTED, "character 0x%02x", (unsigned char)*at);
    else
        quote(out, at, character);
}

static uf_status expected(parser *p, const char *what) {
    char got[QUOTED];
    describe(got, next(p));
    return fail_source(UF_ERR_SYNTAX, p->text, p->at, "expected %s, got %s", what, got);
}

#define REFUSE(p, offset, ...) fail_source(UF_ERR_SYNTAX, (p)->text, offset, __VA_ARGS__)

/* ---- Reading: dimensions ---- */

/* Adds a dimension. The caller fills its members. */
static uf_status add_dim(parser *p, size_t offset, int *d) {
    if (p->ndims == LAYOUT_MAX_DIMS)
        return REFUSE(p, offset, "more than %d different core dimensions", LAYOUT_MAX_DIMS);
    *d = p->ndims++;
    p->dims[*d] = (layout_dim){0};
    p->seen[*d] = offset;
    p->alone[*d] = p->in_input[*d] = false;
    return UF_OK;
}

static uf_status name_dim(parser *p, size_t offset, size_t length, int *d) {
    const char *word = p->text + offset;
    for (*d = 0; *d < p->ndims; ++*d) {
        const char *name = p->dims[*d].name;
        if (name && !strncmp(name, word, length) && !name[length])
            return UF_OK;
    }
    TRY(add_dim(p, offset, d));
    p->dims[*d].name = arena_text(p->a, word, length);
    return p->dims[*d].name ? UF_OK : UF_ERR_MEMORY;
}

static uf_status frozen_dim(parser *p, size_t offset, int64_t value, int *d) {
    if (value < 1)
        return REFUSE(p, offset, "a frozen size is at least 1, got %lld", (long long)value);
    for (*d = 0; *d < p->ndims; ++*d)
        if (p->dims[*d].frozen == value)
            return UF_OK;
    TRY(add_dim(p, offset, d));
    p->dims[*d].frozen = value;
    return UF_OK;
}

static bool same_steps(const layout_step *a, const layout_step *b, int n) {
    for (int i = 0; i < n; i++)
        if (a[i].op != b[i].op || a[i].dim != b[i].dim || a[i].value != b[i].value)
            return false;
    return true;
}

static uf_status computed_dim(parser *p, size_t offset, int *d) {
    for (*d = 0; *d < p->ndims; ++*d) {
        const layout_dim *other = &p->dims[*d];
        if (other->steps && other->nsteps == p->nsteps && same_steps(other->steps, p->steps, p->nsteps))
            return UF_OK;
    }
    TRY(add_dim(p, offset, d));
    layout_step *steps = arena_alloc(p->a, (size_t)p->nsteps * sizeof *steps);
    if (!steps)
        return UF_ERR_MEMORY;
    memcpy(steps, p->steps, (size_t)p->nsteps * sizeof *steps);
    p->dims[*d].steps = steps;
    p->dims[*d].nsteps = p->nsteps;
    return UF_OK;
}

/* ---- Reading: sizes ---- */

static uf_status push(parser *p, size_t offset, layout_step step) {
    if (p->nsteps == MAX_STEPS)
        return REFUSE(p, offset, "a computed size has at most %d names, numbers and operators, got more", MAX_STEPS);
    p->steps[p->nsteps++] = step;
    return UF_OK;
}

static uf_status read_number(parser *p) {
    size_t start = p->at, length = word_length(p->text + start);
    int64_t value = 0;
    bool overflow = false, digits = true;
    char word[QUOTED];
    quote(word, p->text + start, length);
    for (; p->at < start + length; p->at++) {
        digits &= is_digit(p->text[p->at]);
        overflow |= __builtin_mul_overflow(value, 10, &value);
        overflow |= __builtin_add_overflow(value, p->text[p->at] - '0', &value);
    }
    if (!digits)
        return REFUSE(p, start, "expected a name or a number, got %s", word);
    if (overflow)
        return REFUSE(p, start, "%s does not fit 64 bits", word);
    return push(p, start, (layout_step){.op = 'n', .value = value});
}

static uf_status read_name(parser *p) {
    size_t start = p->at, length = word_length(p->text + start);
    int d;
    TRY(name_dim(p, start, length, &d));
    p->at += length;
    return push(p, start, (layout_step){.op = 'd', .dim = d});
}

static uf_status read_size(parser *p, int depth);

/* The operator whose word stands here with a parenthesis directly behind it; 0: none does. */
static char choice_at(const char *here) {
    size_t length = word_length(here);
    for (size_t i = 0; i < COUNT(choices); i++)
        if (here[length] == '(' && strlen(choices[i].word) == length && !strncmp(choices[i].word, here, length))
            return choices[i].op;
    return 0;
}

/* The lesser or the greater of two sizes. */
static uf_status read_choice(parser *p, char op, int depth) {
    size_t start = p->at;
    p->at += word_length(p->text + start) + 1;
    TRY(read_size(p, depth + 1));
    if (!take(p, ','))
        return expected(p, "an operator or \",\"");
    TRY(read_size(p, depth + 1));
    if (!take(p, ')'))
        return expected(p, "an operator or \")\"");
    return push(p, start, (layout_step){.op = op});
}

static uf_status read_factor(parser *p, int depth) {
    const char *here = next(p);
    size_t start = p->at;
    if (depth == MAX_DEPTH)
        return REFUSE(p, start, "signs and parentheses nest more than %d deep", MAX_DEPTH);
    if (take(p, '-')) {
        TRY(push(p, start, (layout_step){.op = 'n'}));
        TRY(read_factor(p, depth + 1));
        return push(p, start, (layout_step){.op = '-'});
    }
    if (take(p, '(')) {
        TRY(read_size(p, depth + 1));
        return take(p, ')') ? UF_OK : expected(p, "an operator or \")\"");
    }
    if (is_digit(*here))
        return read_number(p);
    if (choice_at(here))
        return read_choice(p, choice_at(here), depth);
    return is_letter(*here) ? read_name(p) : expected(p, "a name or a number");
}

/* Operands with operators of one level between them: level 1 is a size, level 2 a term. */
static uf_status read_level(parser *p, int level, int depth) {
    TRY(level == 2 ? read_factor(p, depth) : read_level(p, 2, depth));
    for (;;) {
        char op = *next(p);
        size_t start = p->at;
        if (!op || !strchr("+-*/", op) || precedence(op) != level || !take(p, op))
            return UF_OK;
        TRY(level == 2 ? read_factor(p, depth) : read_level(p, 2, depth));
        TRY(push(p, start, (layout_step){.op = op}));
    }
}

static uf_status read_size(parser *p, int depth) { return read_level(p, 1, depth); }

/* The dimension that the steps stand for which were just read: a name, a frozen size (numbers alone), or a computed
 * size. */
static uf_status dim_of_steps(parser *p, size_t offset, int *d) {
    int64_t value;
    const char *why;
    for (int i = 0; i < p->nsteps; i++)
        if (p->steps[i].op == 'd') {
            *d = p->steps[i].dim;
            return p->nsteps > 1 ? computed_dim(p, offset, d) : UF_OK;
        }
    if (!evaluate(p->steps, p->nsteps, NULL, &value, &why))
        return REFUSE(p, offset, "this size %s", why);
    return frozen_dim(p, offset, value, d);
}

/* ---- Reading: operands ---- */

/* Reads "?", which follows its name or number directly. It must stand at every occurrence of the name or number, or at
 * none. */
static uf_status read_option(parser *p, size_t start, int d, bool first) {
    const layout_dim *dim = &p->dims[d];
    bool optional = p->text[p->at] == '?' && !is_blank(p->text[p->at - 1]);
    char name[QUOTED];
    if (dim->name)
        quote(name, dim->name, strlen(dim->name));
    else
        snprintf(name, sizeof name, "%lld", (long long)dim->frozen);
    if (optional && p->nsteps > 1)
        return REFUSE(p, p->at, "only a name or a number can be followed by \"?\"");
    if (!first && optional && !dim->optional)
        return REFUSE(p, start, "%s cannot be followed by \"?\" here: it was seen without", name);
    if (!first && !optional && dim->optional)
        return REFUSE(p, start, "%s must be followed by \"?\" here: it was seen with it", name);
    p->dims[d].optional = optional;
    p->at += optional;
    return UF_OK;
}

static uf_status read_stretch(parser *p, bool output, bool *stretch) {
    *stretch = *next(p) == '|';
    size_t bar = p->at;
    if (!*stretch)
        return UF_OK;
    if (output)
        return REFUSE(p, bar, "an output does not broadcast: \"|1\" is for inputs");
    if (p->nsteps > 1)
        return REFUSE(p, bar, "only a name or a number can be followed by \"|1\"");
    p->at++;
    const char *one = next(p);
    if (*one != '1' || word_length(one) != 1)
        return expected(p, "1 after \"|\"");
    p->at++;
    return UF_OK;
}

/* extent := size [ "?" ] [ "|" "1" ] */
static uf_status read_extent(parser *p, layout_operand *o, bool output) {
    char first = *next(p);
    size_t start = p->at;
    int d;
    p->nsteps = 0;
    if (o->rank == LAYOUT_MAX_RANK)
        return REFUSE(p, start, "an operand has at most %d core dimensions, got more", LAYOUT_MAX_RANK);
    TRY(read_size(p, 0));
    if (p->nsteps == 1 && first == '(')
        return REFUSE(p, start, "a name or a number by itself goes without parentheses");
    TRY(dim_of_steps(p, start, &d));
    TRY(read_option(p, start, d, !p->alone[d]));
    p->alone[d] = true;
    p->in_input[d] |= !output;
    o->dim[o->rank] = (uint8_t)d;
    TRY(read_stretch(p, output, &o->stretch[o->rank]));
    o->rank++;
    return UF_OK;
}

/* operand := "(" [ extent { "," extent } ] ")" */
static uf_status read_operand(parser *p, bool output) {
    if (*next(p) != '(')
        return expected(p, "\"(\"");
    if (p->noperands == UF_MAX_OPERANDS)
        return REFUSE(p, p->at, "expected at most %d operands, got more", UF_MAX_OPERANDS);
    layout_operand *o = &p->operands[p->noperands++];
    *o = (layout_operand){0};
    p->at++;
    if (take(p, ')'))
        return UF_OK;
    do
        TRY(read_extent(p, o, output));
    while (take(p, ','));
    return take(p, ')') ? UF_OK : expected(p, "\",\" or \")\"");
}

static uf_status read_operands(parser *p, bool output) {
    do
        TRY(read_operand(p, output));
    while (take(p, ','));
    return UF_OK;
}

/* layout := [ operands ] "->" operands */
static uf_status read_layout(parser *p) {
    if (*next(p) == '(')
        TRY(read_operands(p, false));
    p->nin = p->noperands;
    if (!take_arrow(p))
        return expected(p, p->nin ? "\",\" or \"->\"" : "\"(\" or \"->\"");
    TRY(read_operands(p, true));
    return *next(p) ? expected(p, "\",\" or the end") : UF_OK;
}

/* A name must occur by itself somewhere, since computed sizes bind no name to a size. */
static uf_status check_names(parser *p) {
    for (int d = 0; d < p->ndims; d++) {
        layout_dim *dim = &p->dims[d];
        char name[QUOTED];
        if (dim->name && !p->alone[d]) {
            quote(name, dim->name, strlen(dim->name));
            return REFUSE(p, p->seen[d], "%s occurs in computed sizes only: it must stand by itself somewhere", name);
        }
        dim->output_only = dim->name && !p->in_input[d];
    }
    return UF_OK;
}

static uf_status finish(parser *p, core_layout *out) {
    int words = p->ndims;
    for (int k = 0; k < p->noperands; k++) {
        p->operands[k].strides = words;
        words += p->operands[k].rank;
    }
    size_t dims_size = (size_t)p->ndims * sizeof *p->dims;
    size_t operands_size = (size_t)p->noperands * sizeof *p->operands;
    void *dims = arena_alloc(p->a, dims_size), *operands = arena_alloc(p->a, operands_size);
    if (!dims || !operands)
        return UF_ERR_MEMORY;
    *out = (core_layout){.nin = p->nin,
                         .nout = p->noperands - p->nin,
                         .ndims = p->ndims,
                         .nparameters = words,
                         .dims = memcpy(dims, p->dims, dims_size),
                         .operands = memcpy(operands, p->operands, operands_size)};
    return UF_OK;
}

/* The operands of an elementwise call: inputs and outputs, and a mask. */
static const layout_operand scalars[UF_MAX_OPERANDS + 1];
const core_layout layout_scalars = {.operands = scalars};

uf_status layout_parse(arena *a, const char *source, core_layout *out) {
    parser p;
    p.text = source;
    p.a = a;
    p.at = 0;
    p.nin = p.noperands = p.ndims = p.nsteps = 0;
    *out = (core_layout){0};
    TRY(read_layout(&p));
    TRY(check_names(&p));
    return finish(&p, out);
}
