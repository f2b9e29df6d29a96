/* call_copy.c - see call_copy.h. On x86-64 squares of elements are transposed in registers, whose rows have 16 bytes, or 32 of elements of 8 bytes
 * with AVX2. The last squares of a row and of a group lie over those before them; where a square has no room, and on other processors,
 * elements are copied one by one. All squares of the same elements follow each other, so that each line of the cache is read or written
 * once. This is part of the library, as generating it took up to half of the time to compile a kernel. */
#include "ir/gufunc/call_copy.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef void copy_function(char *array, char *memory, int64_t extent, int64_t step, int64_t count, int64_t pitch);

/* A function of the library, and its name, which no other one has. */
typedef struct named_copy {
    copy_function *function;
    const char *name;
} named_copy;

static inline void move(char *array, char *memory, size_t size, bool out) {
    if (out)
        memcpy(memory, array, size);
    else
        memcpy(array, memory, size);
}

/* Inlined with what they are told, which is constant. */
#define INLINE static inline __attribute__((always_inline))

/* Where lines of the array are several lines of the cache in memory, and these so far apart that the processor does not foresee them, some elements
 * are asked for before they are copied. Single ones came no faster for it. */
enum {
    LINE = 64,    /* bytes of the cache */
    AHEAD = 16,   /* elements */
    FAR = 2 << 10 /* bytes */
};

/* Asks for n elements, from number `first` on, of each of so many lines. There may be no such elements. */
INLINE void fetch(const char *memory, int64_t first, int64_t n, int64_t step, int64_t bytes, bool out) {
    for (int64_t i = first; i < first + n; i++)
        for (int64_t line = 0; line < bytes; line += LINE) {
            const void *at = (const void *)((uintptr_t)memory + (uintptr_t)(i * step + line));
            if (out)
                __builtin_prefetch(at, 1);
            else
                __builtin_prefetch(at, 0);
        }
}

INLINE void copy_elements(char *array, char *memory, int64_t extent, int64_t step, int64_t count, int64_t pitch,
                          size_t size, bool out) {
    for (int64_t i = 0; i < extent; i++)
        for (int64_t call = 0; call < count; call++)
            move(array + call * pitch + i * (int64_t)size, memory + i * step + call * (int64_t)size, size, out);
}

typedef void copy_square(char *array, int64_t pitch, char *memory, int64_t step, bool out);

/* By squares of n rows. */
INLINE void copy_squares(char *array, char *memory, int64_t extent, int64_t step, int64_t count, int64_t pitch,
                         int64_t size, bool out, int64_t n, copy_square *square) {
    if (extent < n || count < n) {
        copy_elements(array, memory, extent, step, count, pitch, (size_t)size, out);
        return;
    }
    bool far = (step >= FAR || step <= -FAR) && count * size > LINE;
    for (int64_t along = 0; along < extent; along += n) {
        int64_t i = along < extent - n ? along : extent - n;
        if (far)
            fetch(memory, along + AHEAD, n, step, count * size, out);
        for (int64_t across = 0; across < count; across += n) {
            int64_t call = across < count - n ? across : count - n;
            square(array + call * pitch + i * size, pitch, memory + i * step + call * size, step, out);
        }
    }
}

#if defined(__x86_64__)

#define UNROLLED _Pragma("GCC unroll 16") /* so that rows are in registers */

/* n rows of 16 bytes: a perfect shuffle of all elements, as often as the logarithm of n says. */
#define SQUARE(bits, n)                                                                                  \
    static inline void square_##bits(char *array, int64_t pitch, char *memory, int64_t step, bool out) { \
        __m128i a[n], b[n];                                                                              \
        UNROLLED for (int i = 0; i < (n); i++) a[i] =                                                    \
            _mm_loadu_si128((const __m128i *)(out ? array + i * pitch : memory + i * step));             \
        UNROLLED for (int half = 1; half < (n); half *= 2) {                                             \
            UNROLLED for (int i = 0; i < (n) / 2; i++) {                                                 \
                b[2 * i] = _mm_unpacklo_epi##bits(a[i], a[i + (n) / 2]);                                 \
                b[2 * i + 1] = _mm_unpackhi_epi##bits(a[i], a[i + (n) / 2]);                             \
            }                                                                                            \
            UNROLLED for (int i = 0; i < (n); i++) a[i] = b[i];                                          \
        }                                                                                                \
        UNROLLED for (int i = 0; i < (n); i++)                                                           \
            _mm_storeu_si128((__m128i *)(out ? memory + i * step : array + i * pitch), a[i]);            \
    }
SQUARE(8, 16)
SQUARE(16, 8)
SQUARE(32, 4)
SQUARE(64, 2)

__attribute__((target("avx2"))) static inline void square_wide(char *array, int64_t pitch, char *memory, int64_t step,
                                                               bool out) {
    __m256i a[4], b[4];
    UNROLLED for (int i = 0; i < 4; i++) a[i] =
        _mm256_loadu_si256((const __m256i *)(out ? array + i * pitch : memory + i * step));
    UNROLLED for (int i = 0; i < 2; i++) {
        b[i] = _mm256_unpacklo_epi64(a[2 * i], a[2 * i + 1]);
        b[2 + i] = _mm256_unpackhi_epi64(a[2 * i], a[2 * i + 1]);
    }
    UNROLLED for (int i = 0; i < 2; i++) {
        a[i] = _mm256_permute2x128_si256(b[2 * i], b[2 * i + 1], 0x20);
        a[2 + i] = _mm256_permute2x128_si256(b[2 * i], b[2 * i + 1], 0x31);
    }
    UNROLLED for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)(out ? memory + i * step : array + i * pitch), a[i]);
}

#define COPY(bits, n)                                                                                   \
    static void copy_in_##bits(char *array, char *memory, int64_t extent, int64_t step, int64_t count,  \
                               int64_t pitch) {                                                         \
        copy_squares(array, memory, extent, step, count, pitch, (bits) / 8, false, n, square_##bits);   \
    }                                                                                                   \
    static void copy_out_##bits(char *array, char *memory, int64_t extent, int64_t step, int64_t count, \
                                int64_t pitch) {                                                        \
        copy_squares(array, memory, extent, step, count, pitch, (bits) / 8, true, n, square_##bits);    \
    }

__attribute__((target("avx2"))) static void copy_in_wide(char *array, char *memory, int64_t extent, int64_t step,
                                                         int64_t count, int64_t pitch) {
    copy_squares(array, memory, extent, step, count, pitch, 8, false, 4, square_wide);
}

__attribute__((target("avx2"))) static void copy_out_wide(char *array, char *memory, int64_t extent, int64_t step,
                                                          int64_t count, int64_t pitch) {
    copy_squares(array, memory, extent, step, count, pitch, 8, true, 4, square_wide);
}

#else

#define COPY(bits, n)                                                                                   \
    static void copy_in_##bits(char *array, char *memory, int64_t extent, int64_t step, int64_t count,  \
                               int64_t pitch) {                                                         \
        copy_elements(array, memory, extent, step, count, pitch, (bits) / 8, false);                    \
    }                                                                                                   \
    static void copy_out_##bits(char *array, char *memory, int64_t extent, int64_t step, int64_t count, \
                                int64_t pitch) {                                                        \
        copy_elements(array, memory, extent, step, count, pitch, (bits) / 8, true);                     \
    }

#endif

COPY(8, 16)
COPY(16, 8)
COPY(32, 4)
COPY(64, 2)

static void copy_in_128(char *array, char *memory, int64_t extent, int64_t step, int64_t count, int64_t pitch) {
    copy_elements(array, memory, extent, step, count, pitch, 16, false);
}

static void copy_out_128(char *array, char *memory, int64_t extent, int64_t step, int64_t count, int64_t pitch) {
    copy_elements(array, memory, extent, step, count, pitch, 16, true);
}

/* ---- Fewer calls than a vector has ---- */

INLINE void copy_few(char *array, char *memory, int64_t extent, int64_t step, int64_t count, int64_t pitch, size_t size,
                     bool out) {
    int64_t lanes = out ? count : pitch / (int64_t)size;
    for (int64_t i = 0; i < extent; i++)
        for (int64_t lane = 0; lane < lanes; lane++) {
            int64_t call = lane < count ? lane : count - 1;
            move(array + i * pitch + lane * (int64_t)size, memory + i * step + call * (int64_t)size, size, out);
        }
}

#if defined(__x86_64__)

/* Into lines of 32 bytes, of elements of so many words. */
__attribute__((target("avx2"))) INLINE void few_in_wide(char *array, char *memory, int64_t extent, int64_t step,
                                                        int64_t count, int words) {
    __m256i word = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), n = _mm256_set1_epi32((int)count * words);
    __m256i last = _mm256_sub_epi32(_mm256_or_si256(n, _mm256_and_si256(word, _mm256_set1_epi32(words - 1))),
                                    _mm256_set1_epi32(words)); /* the same word of the last element */
    __m256i there = _mm256_cmpgt_epi32(n, word), from = _mm256_min_epi32(word, last);
    for (int64_t i = 0; i < extent; i++) {
        __m256i x = _mm256_maskload_epi32((const int *)(memory + i * step), there);
        _mm256_storeu_si256((__m256i *)array + i, _mm256_permutevar8x32_epi32(x, from));
    }
}

#define FEW_WIDE(bits)                                                                                           \
    __attribute__((target("avx2"))) static void few_in_wide_##bits(char *array, char *memory, int64_t extent,    \
                                                                   int64_t step, int64_t count, int64_t pitch) { \
        (void)pitch;                                                                                             \
        few_in_wide(array, memory, extent, step, count, (bits) / 32);                                            \
    }
FEW_WIDE(32)
FEW_WIDE(64)

#endif

#define FEW(bits)                                                                                                      \
    static void few_in_##bits(char *array, char *memory, int64_t extent, int64_t step, int64_t count, int64_t pitch) { \
        copy_few(array, memory, extent, step, count, pitch, (bits) / 8, false);                                        \
    }                                                                                                                  \
    static void few_out_##bits(char *array, char *memory, int64_t extent, int64_t step, int64_t count,                 \
                               int64_t pitch) {                                                                        \
        copy_few(array, memory, extent, step, count, pitch, (bits) / 8, true);                                         \
    }
FEW(8)
FEW(16)
FEW(32)
FEW(64)

/* ---- By name ---- */

/* By the logarithm of an element's size; [out]. */
static const named_copy by_size[][2] = {{{copy_in_8, "uf_copy_in_8"}, {copy_out_8, "uf_copy_out_8"}},
                                        {{copy_in_16, "uf_copy_in_16"}, {copy_out_16, "uf_copy_out_16"}},
                                        {{copy_in_32, "uf_copy_in_32"}, {copy_out_32, "uf_copy_out_32"}},
                                        {{copy_in_64, "uf_copy_in_64"}, {copy_out_64, "uf_copy_out_64"}},
                                        {{copy_in_128, "uf_copy_in_128"}, {copy_out_128, "uf_copy_out_128"}}};

static const named_copy few_by_size[][2] = {{{few_in_8, "uf_few_in_8"}, {few_out_8, "uf_few_out_8"}},
                                            {{few_in_16, "uf_few_in_16"}, {few_out_16, "uf_few_out_16"}},
                                            {{few_in_32, "uf_few_in_32"}, {few_out_32, "uf_few_out_32"}},
                                            {{few_in_64, "uf_few_in_64"}, {few_out_64, "uf_few_out_64"}}};

static named_copy copy_of(int size, bool out) {
    named_copy copy = by_size[__builtin_ctz((unsigned)size)][out];
#if defined(__x86_64__)
    if (size == 8 && __builtin_cpu_supports("avx2"))
        copy.function = out ? copy_out_wide : copy_in_wide;
#endif
    return copy;
}

/* line: bytes of the array's lines. */
static named_copy few_of(int size, int line, bool out) {
#if defined(__x86_64__)
    static const named_copy wide[] = {{few_in_wide_32, "uf_few_in_wide_32"}, {few_in_wide_64, "uf_few_in_wide_64"}};
    if (!out && size >= 4 && line == 32 && __builtin_cpu_supports("avx2"))
        return wide[size == 8];
#endif
    (void)line;
    return few_by_size[__builtin_ctz((unsigned)size)][out];
}

static void emit_copy(emit *e, const call_copy *c, named_copy copy) {
    ssa size = ssa_constant(c->size), step = emit_op(e, "mul i64", c->step, size),
        pitch = emit_op(e, "mul i64", c->pitch, size);
    emit_declare(e, "declare void @%s(i8*, i8*, i64, i64, i64, i64)", copy.name);
    emit_symbol(e, copy.name, __extension__(const void *) copy.function);
    emit_line(e, "call void @%s(i8* %s, i8* %s, i64 %s, i64 %s, i64 %s, i64 %s)", copy.name, c->array.text,
              c->memory.text, c->extent.text, step.text, c->count.text, pitch.text);
}

ssa call_copy_place(const gufunc_writer *w, int k, ssa base, ssa index) {
    dtype t = skeleton_memory(&w->s, k);
    return emit_pointer_as(w->s.e, ir_memory_type(t), emit_element(w->s.e, t, base, index), "i8");
}

void emit_call_copy(emit *e, const call_copy *c, bool out) { emit_copy(e, c, copy_of(c->size, out)); }

void emit_few_calls_copy(emit *e, const call_copy *c, int lanes, bool out) {
    call_copy few = *c;
    few.pitch = ssa_constant(lanes);
    emit_copy(e, &few, few_of(c->size, lanes * c->size, out));
}

/* ---- Cores ---- */

ssa core_array_step(const gufunc_writer *w, const layout_operand *o, int d, int apart) {
    ssa n = ssa_constant(apart);
    for (int i = d + 1; i < o->rank; i++)
        n = emit_op(w->s.e, "mul i64", n, w->core[o->dim[i]]);
    return n;
}

typedef struct core_walk {
    gufunc_writer *w;
    const layout_operand *o;
    int apart;
    void (*line)(const void *user, ssa offset, ssa element);
    const void *user;
} core_walk;

/* All dimensions from d on. */
static void walk_from(const core_walk *c, int d, ssa offset, ssa element) {
    emit *e = c->w->s.e;
    if (d >= c->o->rank - 1) {
        c->line(c->user, offset, element);
        return;
    }
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), c->w->core[c->o->dim[d]]);
    walk_from(c, d + 1, emit_op(e, "add i64", offset, emit_op(e, "mul i64", l.i, c->w->core[c->o->strides + d])),
              emit_op(e, "add i64", element, emit_op(e, "mul i64", l.i, core_array_step(c->w, c->o, d, c->apart))));
    int hints[] = {loop_no_vectors(e), loop_no_unroll(e)};
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, COUNT(hints));
}

void core_array_lines(gufunc_writer *w, const layout_operand *o, int apart, ssa offset, ssa element,
                      void (*line)(const void *user, ssa offset, ssa element), const void *user) {
    walk_from(&(core_walk){w, o, apart, line, user}, 0, offset, element);
}
