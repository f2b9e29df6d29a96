/* shifted.c - GPU: neighbouring elements at an address that is no multiple of the bytes of all of them, cut out of the two aligned vectors
 * that have them. So an array whose rows begin elsewhere than those of the others is read by vectors, too. The vectors reach beyond the
 * elements, by less than their bytes. */
#include "ir/common/internal.h"

#include <assert.h>

enum {
    WORD = 4,
    WORDS = ACCESS_BYTES / WORD
};

/* The words of an aligned vector, `offset` (i64) bytes from a byte. */
static void load_words(emit *e, ssa byte, ssa offset, int words, ssa *word) {
    ssa at = emit_element(e, DT_UINT8, byte, offset);
    emit_load_vector(e, DT_UINT32, emit_pointer_as(e, ir_memory_type(DT_UINT8), at, ir_memory_type(DT_UINT32)), words,
                     word);
}

/* Moves the words that are `beyond` (i64) bytes on, a multiple of `least` or of a word, to the front: by half of them or not, by a quarter
 * or not, and so on. */
static void shift_words(emit *e, ssa *word, int words, int least, ssa beyond) {
    int count = 2 * words;
    for (int by = words / 2; by * WORD >= least && by; by /= 2) {
        ssa bit = emit_value(e, "and i64 %s, %d", beyond.text, by * WORD);
        ssa moved = emit_value(e, "icmp ne i64 %s, 0", bit.text);
        count -= by;
        for (int i = 0; i < count; i++)
            word[i] = emit_select_as(e, "i32", moved, word[i + by], word[i]);
    }
}

/* The same by the bytes that are less than a word. */
static void shift_bytes(emit *e, ssa *word, int words, ssa beyond) {
    ssa bytes = emit_value(e, "and i64 %s, %d", beyond.text, WORD - 1);
    ssa bits = emit_value(e, "shl i64 %s, 3", bytes.text);
    for (int i = 0; i < words; i++) {
        ssa high = emit_value(e, "shl i64 %s, 32", emit_value(e, "zext i32 %s to i64", word[i + 1].text).text);
        ssa both = emit_op(e, "or i64", high, emit_value(e, "zext i32 %s to i64", word[i].text));
        word[i] = emit_value(e, "trunc i64 %s to i32", emit_op(e, "lshr i64", both, bits).text);
    }
}

/* The components of a type that lie in words. */
static void components_of(emit *e, dtype component, const ssa *word, int words, ssa *parts) {
    const char *type = ir_memory_type(component);
    int size = dtypes[component].size, packed = WORD / size;
    for (int i = 0; i < words; i++) {
        if (size == WORD) {
            parts[i] = emit_value(e, "bitcast i32 %s to %s", word[i].text, type);
        } else if (size > WORD) {
            ssa both = emit_value(e, "insertelement <2 x i32> undef, i32 %s, i32 0", word[i].text);
            both = emit_value(e, "insertelement <2 x i32> %s, i32 %s, i32 1", both.text, word[i + 1].text);
            parts[i++ / 2] = emit_value(e, "bitcast <2 x i32> %s to %s", both.text, type);
        } else {
            ssa few = emit_value(e, "bitcast i32 %s to <%d x %s>", word[i].text, packed, type);
            for (int j = 0; j < packed; j++)
                parts[i * packed + j] = emit_value(e, "extractelement <%d x %s> %s, i32 %d", packed, type, few.text, j);
        }
    }
}

void emit_load_shifted(emit *e, dtype t, ssa pointer, ssa alike, int n, ssa *values) {
    ssa word[2 * WORDS], parts[ACCESS_BYTES];
    int bytes = n * dtypes[t].size, words = bytes / WORD, apart = dtype_is_complex(t) ? 2 : 1;
    assert(bytes % WORD == 0 && words && words <= WORDS);
    const char *type = ir_memory_type(t);
    ssa at = emit_value(e, "ptrtoint %s%s %s to i64", type, ir_global_pointer(e), alike.text);
    ssa beyond = emit_value(e, "and i64 %s, %d", at.text, bytes - 1),
        byte = emit_pointer_as(e, type, pointer, ir_memory_type(DT_UINT8));
    ssa before = emit_value(e, "sub i64 0, %s", beyond.text);
    ssa aligned = emit_value(e, "icmp eq i64 %s, 0", beyond.text);
    load_words(e, byte, before, words, word);
    load_words(e, byte, emit_select_as(e, "i64", aligned, before, emit_value(e, "add i64 %s, %d", before.text, bytes)),
               words, word + words);
    shift_words(e, word, words, dtypes[t].size, beyond);
    if (dtypes[t].size < WORD)
        shift_bytes(e, word, words, beyond);
    components_of(e, (dtype)dtypes[t].component, word, words, parts);
    for (int i = 0; i < n; i++)
        values[i] = emit_value_of_parts(e, t, parts + i * apart);
}

ssa emit_whole_vectors(emit *e, ssa count) {
    const variant *v = e->frame->v;
    int vector = v->gufunc.vector;
    if (!variant_shifts(v))
        return emit_value(e, "udiv i64 %s, %d", count.text, vector);
    count = emit_value(e, "sub i64 %s, %d", count.text, vector - 1);
    return emit_value(e, "sdiv i64 %s, %d", count.text, vector); /* 0 if that is negative, as it is above -vector */
}
