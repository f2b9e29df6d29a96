/* cheaper.c - instructions in place of which there are cheaper ones, where no compiler looks for that: what is computed of constants, or changes
 * nothing, addresses whose index has a constant part, addresses that are multiples of a stride apart, halves of words, divisions by constants. */
#include <stdio.h>
#include <stdlib.h>

#include "ir/common/numbering.h"

/* A value that is another one and a constant. */
typedef struct sum {
    const char *type; /* "i64"; or "i32" of one that does not wrap around */
    const char *of;
    int64_t constant;
} sum;

/* A value that is a multiple of another one, all of 64 bits. */
typedef struct multiple {
    const char *of;
    int64_t times;
} multiple;

/* The last address that is a multiple of a stride behind another one. */
typedef struct walk {
    const char *at;
    int64_t times;
    int block;
} walk;

/* What is known of a value that has to do with the two halves, of 16 bits each, of a word. */
typedef enum half_kind {
    HALF_LOW,  /* i16: a half of the word */
    HALF_HIGH, /* a half of the word */
    WORD_LOW,  /* i32: the lower half, the upper one being 0 */
    WORD_HIGH, /* i32: the upper half, moved to the lower one */
    PAIR,      /* <2 x i16>: both */
    FIRST      /* <2 x i16>: what `word` names is its first element */
} half_kind;

typedef struct half {
    half_kind kind;
    const char *word;
} half;

/* ---- Constants ---- */

/* An operation on integers: what the right operand is that changes nothing, and whether so is the left one. */
typedef struct operation {
    const char *word;
    int64_t neutral;
    bool commutes;
} operation;

static const operation operations[] = {{"add", 0, true},   {"and", -1, true}, {"ashr", 0, false},
                                       {"lshr", 0, false}, {"mul", 1, true},  {"or", 0, true},
                                       {"shl", 0, false},  {"sub", 0, false}, {"xor", 0, true}};

static const operation *operation_of(const char *line) {
    size_t word = strcspn(line, " ");
    for (size_t i = 0; i < COUNT(operations); i++)
        if (strlen(operations[i].word) == word && memcmp(operations[i].word, line, word) == 0)
            return &operations[i];
    return NULL;
}

static bool is_number(const char *x, int64_t *value) {
    char *end;
    if (strcmp(x, "true") == 0)
        x = "-1";
    *value = strtoll(x, &end, 10);
    return end > x && !*end;
}

/* Of constants of 64 bits, which offsets are made of; false: it is another operation. */
static bool compute(const char *word, int64_t a, int64_t b, int64_t *result) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    if (strcmp(word, "add") == 0)
        *result = (int64_t)(x + y);
    else if (strcmp(word, "sub") == 0)
        *result = (int64_t)(x - y);
    else if (strcmp(word, "mul") == 0)
        *result = (int64_t)(x * y);
    else
        return false;
    return true;
}

static bool stand_for(numbering *n, const char *name, const char *value) {
    const char *kept = numbering_copy(n, value, strlen(value));
    if (!kept || map_get(&n->awaited, name, strlen(name)))
        return false;
    numbering_put(n, &n->renamed, name, strlen(name), (void *)(uintptr_t)kept);
    return true;
}

/* Does a constant, or an operand, stand for the result? */
static bool simplify(numbering *n, const char *name, const char *line) {
    char type[8], a[64], b[64], rest[2], number[32];
    int64_t x, y, result;
    const operation *o = operation_of(line);
    if (!o || sscanf(line, "%*s %7s %63[^, ], %63s%1s", type, a, b, rest) != 3 || *type != 'i')
        return false;
    bool left = is_number(a, &x), right = is_number(b, &y);
    if (left && right && strcmp(type, "i64") == 0 && compute(o->word, x, y, &result)) {
        snprintf(number, sizeof number, "%lld", (long long)result);
        return stand_for(n, name, number);
    }
    if (right && y == o->neutral)
        return stand_for(n, name, a);
    return left && o->commutes && x == o->neutral && stand_for(n, name, b);
}

/* ---- Sums with a constant ---- */

static void note_sum(numbering *n, const char *name, const char *type, const char *of, int64_t constant) {
    const sum *before = map_get(&n->sums, of, strlen(of));
    sum *s = numbering_take(n, sizeof *s);
    if (s) {
        bool further = before && strcmp(before->type, type) == 0;
        *s = (sum){type, further ? before->of : numbering_copy(n, of, strlen(of)),
                   constant + (further ? before->constant : 0)};
        numbering_put(n, &n->sums, name, strlen(name), s);
    }
}

static const sum *sum_of(const numbering *n, const char *name, const char *type) {
    const sum *s = map_get(&n->sums, name, strlen(name));
    return s && strcmp(s->type, type) == 0 ? s : NULL;
}

/* A sum of 32 bits that does not wrap around, made one of 64: the constant is added last. */
static bool widen_sum(numbering *n, const char *name, const char *of, int here) {
    char narrow[96];
    const sum *s = sum_of(n, of, "i32");
    if (!s)
        return false;
    snprintf(narrow, sizeof narrow, "zext i32 %s to i64", s->of);
    const char *wide = numbering_besides(n, name, "_z", narrow, here);
    if (!wide)
        return false;
    text_printf(n->out, "  %s = add i64 %s, %lld\n", name, wide, (long long)s->constant);
    note_sum(n, name, "i64", wide, s->constant);
    return true;
}

/* ---- Addresses: "getelementptr inbounds T, T* %p, i64 %i" ---- */

typedef struct address {
    const char *head; /* "T, T* %p", in memory of the function's, .. */
    int types;        /* .. of which so many bytes are the types */
    const char *index;
} address;

static bool read_address(numbering *n, const char *at, address *a) {
    const char *end = at + strlen(at), *type = at + strlen("getelementptr "), *index = text_find(at, end, ", i64 ");
    text_passes(&type, end, "inbounds ");
    const char *pointer = text_find(type, end, ", ");
    if (!index || *type == '[' || *type == '<' || pointer >= index || index[strlen(", i64 ")] != '%')
        return false;
    const char *i = index + strlen(", i64 "), *base = index; /* of the name of the pointer */
    if (i + name_length(i) != end)
        return false;
    while (*base != ' ')
        base--;
    *a = (address){numbering_copy(n, type, (size_t)(index - type)), (int)(base - type),
                   numbering_copy(n, i, (size_t)(end - i))};
    return a->head && a->index;
}

/* An element whose index is a sum with a constant: the address without that, and the constant from there on, which becomes part of the
 * access. */
static bool split_address(numbering *n, const char *name, const address *a, const sum *s, int here) {
    char whole[160];
    int size = snprintf(whole, sizeof whole, "getelementptr %s, i64 %s", a->head, s->of);
    const char *from = size < (int)sizeof whole ? numbering_besides(n, name, "_b", whole, here) : NULL;
    if (from)
        text_printf(n->out, "  %s = getelementptr %.*s %s, i64 %lld\n", name, a->types, a->head, from,
                    (long long)s->constant);
    return from;
}

/* The product by which an address is further than the one before it; NULL: no memory, or none before it. */
static const char *step_of(numbering *n, const char *name, const multiple *m, const walk *before, int here) {
    char product[96];
    if (m->times <= before->times)
        return NULL;
    if (m->times == before->times + 1)
        return m->of;
    int size = snprintf(product, sizeof product, "mul i64 %s, %lld", m->of, (long long)(m->times - before->times));
    return size < (int)sizeof product ? numbering_besides(n, name, "_s", product, here) : NULL;
}

/* An element whose index is a multiple of a stride: from the last one before it on, in place of a product of 64 bits for each. false: it is
 * the first one itself, or there is no memory. */
static bool walk_on(numbering *n, const char *name, const address *a, const multiple *m, int here) {
    char key[160];
    int size = snprintf(key, sizeof key, "%s by %s", a->head, m->of);
    if (size >= (int)sizeof key)
        return false;
    const walk *before = map_get(&n->walks, key, (size_t)size), first = {a->head + a->types + 1, 0, here};
    if (!before || !flow_dominates(&n->blocks, before->block, here))
        before = &first;
    const char *step = m->times == 1 ? NULL : step_of(n, name, m, before, here),
               *kept = numbering_copy(n, key, (size_t)size);
    walk *next = numbering_take(n, sizeof *next);
    if ((!step && m->times != 1) || !next || !kept)
        return false;
    if (step)
        text_printf(n->out, "  %s = getelementptr %.*s %s, i64 %s\n", name, a->types, a->head, before->at, step);
    *next = (walk){name, m->times, here};
    numbering_put(n, &n->walks, kept, (size_t)size, next);
    return step;
}

/* ---- Halves of words ---- */

static void note_half(numbering *n, const char *name, half_kind kind, const char *word) {
    half *h = numbering_take(n, sizeof *h);
    if (h) {
        *h = (half){kind, numbering_copy(n, word, strlen(word))};
        numbering_put(n, &n->halves, name, strlen(name), h);
    }
}

static const half *half_of(const numbering *n, const char *name, half_kind low, half_kind high) {
    const half *h = map_get(&n->halves, name, strlen(name));
    return h && (h->kind == low || h->kind == high) ? h : NULL;
}

/* ---- Instructions, by their first word: whether something cheaper was written, or else nothing but noted ---- */

static bool add(numbering *n, const char *name, const char *line, int here) {
    char of[64];
    long long constant;
    (void)here;
    if (sscanf(line, "add i64 %63[^, ], %lld", of, &constant) == 2)
        note_sum(n, name, "i64", of, constant);
    else if (sscanf(line, "add nuw i32 %63[^, ], %lld", of, &constant) == 2)
        note_sum(n, name, "i32", of, constant);
    return false;
}

static bool mul(numbering *n, const char *name, const char *line, int here) {
    char of[64];
    long long times;
    (void)here;
    if (sscanf(line, "mul i64 %63[^, ], %lld", of, &times) == 2 && *of == '%') {
        multiple *m = numbering_take(n, sizeof *m);
        if (m) {
            *m = (multiple){numbering_copy(n, of, strlen(of)), times};
            numbering_put(n, &n->multiples, name, strlen(name), m);
        }
    }
    return false;
}

static bool getelementptr(numbering *n, const char *name, const char *line, int here) {
    address a;
    if (!read_address(n, line, &a))
        return false;
    const sum *s = sum_of(n, a.index, "i64");
    const multiple *m = map_get(&n->multiples, a.index, strlen(a.index)), once = {a.index, 1};
    return s ? split_address(n, name, &a, s, here) : walk_on(n, name, &a, m ? m : &once, here);
}

static bool zext(numbering *n, const char *name, const char *line, int here) {
    char of[64], type[4];
    if (sscanf(line, "zext i32 %63s to i64", of) == 1)
        return widen_sum(n, name, of, here);
    const half *h = sscanf(line, "zext i16 %63s to %3s", of, type) == 2 && strcmp(type, "i32") == 0
                        ? half_of(n, of, HALF_LOW, HALF_HIGH)
                        : NULL;
    if (!h)
        return false;
    text_printf(n->out, h->kind == HALF_LOW ? "  %s = and i32 %s, 65535\n" : "  %s = lshr i32 %s, 16\n", name, h->word);
    note_half(n, name, h->kind == HALF_LOW ? WORD_LOW : WORD_HIGH, h->word);
    return true;
}

static bool lshr(numbering *n, const char *name, const char *line, int here) {
    char of[64];
    int by;
    (void)here;
    if (sscanf(line, "lshr i32 %63[^, ], %d", of, &by) == 2 && by == 16)
        note_half(n, name, WORD_HIGH, of);
    return false;
}

static bool shl(numbering *n, const char *name, const char *line, int here) {
    char of[64];
    int by;
    (void)here;
    const half *h =
        sscanf(line, "shl i32 %63[^, ], %d", of, &by) == 2 && by == 16 ? half_of(n, of, WORD_LOW, WORD_HIGH) : NULL;
    if (h)
        text_printf(n->out, h->kind == WORD_LOW ? "  %s = shl i32 %s, 16\n" : "  %s = and i32 %s, -65536\n", name,
                    h->word);
    return h;
}

static bool trunc_word(numbering *n, const char *name, const char *line, int here) {
    char of[64];
    (void)here;
    if (sscanf(line, "trunc i32 %63s to i16", of) == 1) {
        const half *h = half_of(n, of, WORD_HIGH, WORD_HIGH);
        note_half(n, name, h ? HALF_HIGH : HALF_LOW, h ? h->word : of);
    }
    return false;
}

static bool bitcast(numbering *n, const char *name, const char *line, int here) {
    char of[64], type[4];
    (void)here;
    if (sscanf(line, "bitcast i32 %63s to <2 x i16%1[>]", of, type) == 2)
        note_half(n, name, PAIR, of);
    const half *h = sscanf(line, "bitcast <2 x i16> %63s to %3s", of, type) == 2 && strcmp(type, "i32") == 0
                        ? half_of(n, of, PAIR, PAIR)
                        : NULL;
    if (h)
        numbering_put(n, &n->renamed, name, strlen(name), (void *)(uintptr_t)h->word);
    return h;
}

static bool extractelement(numbering *n, const char *name, const char *line, int here) {
    char of[64];
    int which;
    (void)here;
    const half *h =
        sscanf(line, "extractelement <2 x i16> %63[^, ], i32 %d", of, &which) == 2 ? half_of(n, of, PAIR, PAIR) : NULL;
    if (h)
        note_half(n, name, which ? HALF_HIGH : HALF_LOW, h->word);
    return false;
}

static bool insertelement(numbering *n, const char *name, const char *line, int here) {
    char into[64], value[64];
    int which;
    (void)here;
    if (sscanf(line, "insertelement <2 x i16> %63[^, ], i16 %63[^, ], i32 %d", into, value, &which) != 3)
        return false;
    if (!which && strcmp(into, "undef") == 0)
        note_half(n, name, FIRST, value);
    const half *first = which ? half_of(n, into, FIRST, FIRST) : NULL;
    const half *low = first ? half_of(n, first->word, HALF_LOW, HALF_LOW) : NULL,
               *high = half_of(n, value, HALF_HIGH, HALF_HIGH);
    if (low && high && strcmp(low->word, high->word) == 0)
        note_half(n, name, PAIR, low->word);
    return false;
}

static bool divide(numbering *n, const char *name, const char *line, int here) {
    (void)here;
    return write_constant_division(n->out, name, line, strlen(line));
}

static const struct {
    const char *word;
    bool (*write)(numbering *n, const char *name, const char *line, int here);
} instructions[] = {{"add", add},
                    {"bitcast", bitcast},
                    {"extractelement", extractelement},
                    {"getelementptr", getelementptr},
                    {"insertelement", insertelement},
                    {"lshr", lshr},
                    {"mul", mul},
                    {"sdiv", divide},
                    {"shl", shl},
                    {"srem", divide},
                    {"trunc", trunc_word},
                    {"udiv", divide},
                    {"urem", divide},
                    {"zext", zext}};

bool write_cheaper(numbering *n, const char *name, const char *at, size_t length, int here) {
    char line[256];
    size_t word = strcspn(at, " ");
    if (length >= sizeof line)
        return false;
    memcpy(line, at, length);
    line[length] = 0;
    if (simplify(n, name, line))
        return true;
    for (size_t i = 0; i < COUNT(instructions); i++)
        if (strlen(instructions[i].word) == word && memcmp(instructions[i].word, at, word) == 0)
            return instructions[i].write(n, name, line, here);
    return false;
}
