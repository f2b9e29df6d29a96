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
static bool split_address(numbering *n, const char *name, const char *at, size_t length, int here) {
    char head[160];
    const char *end = at + length, *type = at + strlen("getelementptr "), *index = text_find(at, end, ", i64 ");
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

/* Halves that are taken out of words and put together. */
static void note_halves(numbering *n, const char *name, const char *line) {
    char a[64], b[64];
    int which;
    const half *h, *g;
    if (sscanf(line, "lshr i32 %63[^, ], %d", a, &which) == 2 && which == 16)
        note_half(n, name, WORD_HIGH, a);
    else if (sscanf(line, "trunc i32 %63s to i16", a) == 1 && (h = half_of(n, a, WORD_HIGH, WORD_HIGH)))
        note_half(n, name, HALF_HIGH, h->word);
    else if (sscanf(line, "trunc i32 %63s to i16", a) == 1)
        note_half(n, name, HALF_LOW, a);
    else if (sscanf(line, "bitcast i32 %63s to <2 x i16%1[>]", a, b) == 2)
        note_half(n, name, PAIR, a);
    else if (sscanf(line, "extractelement <2 x i16> %63[^, ], i32 %d", a, &which) == 2 &&
             (h = half_of(n, a, PAIR, PAIR)))
        note_half(n, name, which ? HALF_HIGH : HALF_LOW, h->word);
    else if (sscanf(line, "insertelement <2 x i16> undef, i16 %63[^, ], i32 %d", a, &which) == 2 && !which)
        note_half(n, name, FIRST, a);
    else if (sscanf(line, "insertelement <2 x i16> %63[^, ], i16 %63[^, ], i32 %d", a, b, &which) == 3 && which &&
             (h = half_of(n, a, FIRST, FIRST)) && (h = half_of(n, h->word, HALF_LOW, HALF_LOW)) &&
             (g = half_of(n, b, HALF_HIGH, HALF_HIGH)) && strcmp(h->word, g->word) == 0)
        note_half(n, name, PAIR, h->word);
}

/* A half that is widened, or moved to the upper end, is one operation on its word; and both are that word. */
static bool write_half(numbering *n, const char *name, const char *line) {
    char a[64], b[64];
    int by;
    const half *h;
    if (sscanf(line, "zext i16 %63s to i3%1[2]", a, b) == 2 && (h = half_of(n, a, HALF_LOW, HALF_HIGH))) {
        text_printf(n->out, h->kind == HALF_LOW ? "  %s = and i32 %s, 65535\n" : "  %s = lshr i32 %s, 16\n", name,
                    h->word);
        note_half(n, name, h->kind == HALF_LOW ? WORD_LOW : WORD_HIGH, h->word);
    } else if (sscanf(line, "shl i32 %63[^, ], %d", a, &by) == 2 && by == 16 &&
               (h = half_of(n, a, WORD_LOW, WORD_HIGH))) {
        text_printf(n->out, h->kind == WORD_LOW ? "  %s = shl i32 %s, 16\n" : "  %s = and i32 %s, -65536\n", name,
                    h->word);
    } else if (sscanf(line, "bitcast <2 x i16> %63s to i3%1[2]", a, b) == 2 && (h = half_of(n, a, PAIR, PAIR))) {
        numbering_put(n, &n->renamed, name, strlen(name), (void *)(uintptr_t)h->word);
    } else {
        return false;
    }
    return true;
}

bool write_cheaper(numbering *n, const char *name, const char *at, size_t length, int here) {
    char line[160], of[64];
    long long constant;
    if (text_begins(at, "getelementptr "))
        return split_address(n, name, at, length, here);
    if (length >= sizeof line)
        return false;
    memcpy(line, at, length);
    line[length] = 0;
    if (sscanf(line, "add i64 %63[^, ], %lld", of, &constant) == 2)
        note_sum(n, name, "i64", of, constant);
    else if (sscanf(line, "add nuw i32 %63[^, ], %lld", of, &constant) == 2)
        note_sum(n, name, "i32", of, constant);
    else if (sscanf(line, "zext i32 %63s to i64", of) == 1)
        return widen_sum(n, name, of, here);
    note_halves(n, name, line);
    return write_half(n, name, line) || write_constant_division(n->out, name, at, length);
}
