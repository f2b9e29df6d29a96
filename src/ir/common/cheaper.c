/* cheaper.c - instructions in place of which there are cheaper ones, where no compiler looks for that: addresses whose index has a constant
 * part, halves of words, divisions by constants. */
#include <stdio.h>

#include "ir/common/numbering.h"

/* A value that is another one and a constant. */
typedef struct sum {
    const char *type; /* "i64"; or "i32" of one that does not wrap around */
    const char *of;
    int64_t constant;
} sum;

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

/* An element whose index is a sum with a constant: the address without that, and the constant from there on, which becomes part of the
 * access. at: "getelementptr inbounds T, T* %p, i64 %i". */
static bool split_address(numbering *n, const char *name, const char *at, int here) {
    char head[160];
    const char *end = at + strlen(at), *type = at + strlen("getelementptr "), *index = text_find(at, end, ", i64 ");
    text_passes(&type, end, "inbounds ");
    const char *pointer = text_find(type, end, ", ");
    if (!index || *type == '[' || *type == '<' || pointer >= index || index[strlen(", i64 ")] != '%')
        return false;
    const char *i = index + strlen(", i64 ");
    const char *by = i + name_length(i) == end ? numbering_copy(n, i, (size_t)(end - i)) : NULL;
    const sum *s = by ? sum_of(n, by, "i64") : NULL;
    const char *base = index; /* of the name of the pointer */
    while (*base != ' ')
        base--;
    int size = snprintf(head, sizeof head, "getelementptr %.*s, i64 %s", (int)(index - type), type, s ? s->of : "");
    const char *from = s && size < (int)sizeof head ? numbering_besides(n, name, "_b", head, here) : NULL;
    if (!from)
        return false;
    text_printf(n->out, "  %s = getelementptr %.*s %s, i64 %lld\n", name, (int)(base - type), type, from,
                (long long)s->constant);
    return true;
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
                    {"getelementptr", split_address},
                    {"insertelement", insertelement},
                    {"lshr", lshr},
                    {"shl", shl},
                    {"trunc", trunc_word},
                    {"udiv", divide},
                    {"urem", divide},
                    {"zext", zext}};

bool write_cheaper(numbering *n, const char *name, const char *at, size_t length, int here) {
    char line[256];
    size_t word = strcspn(at, " ");
    if (length >= sizeof line)
        return false;
    for (size_t i = 0; i < COUNT(instructions); i++)
        if (strlen(instructions[i].word) == word && memcmp(instructions[i].word, at, word) == 0) {
            memcpy(line, at, length);
            line[length] = 0;
            return instructions[i].write(n, name, line, here);
        }
    return false;
}
