/* nontemporal.c - flat loops, and kernels over indices (ir/forall/nontemporal.c), whose outputs do not stay in the caches: they are written
 * by stores that do not read the line first. Where all elements have one size the kernel's code has such stores, of whole lines
 * (ir/elementwise/cpu_loop.c). Other kernels write strip by strip into a buffer in the first level cache, which is then copied out. The
 * results are those of the plain way.
 *
 * float32, x + y, 2^22 and 2^24 elements, one thread of a Zen 4 guest, ns an element: plain 0.33 and 0.45, lines 0.21 and 0.29, strips of
 * 2 KiB 0.25 and 0.35, and 0.37 and 0.43 with the next strip asked for; in place plain 0.16 and 0.25, lines 0.20 and 0.29. Of strips:
 * float32, 2^24 elements, one thread of a Sapphire Rapids guest, 10^9 elements a second, plain (gcc -O3 -march=native is the
 * same) and by strips of 1, 2 and 4 KiB:
 *     2 * (x - y) / (x + y)   1.2 to 1.3;   1.8, 1.6 to 2.1, 1.6;   with the next strip asked for 2.2 to 2.6, 1.9 to 2.1, 2.0
 *     exp(x)                  1.7;          1.7, 2.2 to 2.4, 2.2 to 2.4;   2.2, 2.3 to 2.4, 2.4
 * Costly bodies want longer strips, as each call of the kernel costs some 30 ns. With 64-byte stores it is no faster than
 * with 32, with 16-byte stores it is slower. Where the output fits the second level cache it loses. 3 * 10^6 elements, one thread of a
 * Zen 5 guest, ns an element, plain and by strips of half a KiB, 1 and 2 KiB, all asking for the next:
 *     complex64, x + y        0.47;         0.41, 0.45, 0.52
 *     complex128, x * y       1.17;         0.88, 1.05, 0.90
 *     complex64, x + 1        0.30;         0.28, 0.25, 0.34
 *     float64 to float32      0.21;         0.20, 0.28, 0.42
 *     float32 to float64      0.21;         0.24, 0.19, 0.19 */
#include <unistd.h>

#include "cpu/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum {
    STRIP_BYTES = 1024, /* that are computed before they go past the caches together */
    MOST_OUTPUTS = 4,
    MOST_CACHE = 32 << 20 /* no process counts on more of a last level cache to itself */
};

_Static_assert(STRIP_BYTES % LINE_BYTES == 0, "strips are whole lines");

/* Whole lines from a buffer to memory, both at multiples of 64 bytes. */
typedef void line_copy(char *to, const char *from, size_t bytes);

static void copy_sse2(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 16)
        _mm_stream_si128((__m128i *)(to + at), _mm_load_si128((const __m128i *)(from + at)));
}

__attribute__((target("avx"))) static void copy_avx(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 32)
        _mm256_stream_si256((__m256i *)(to + at), _mm256_load_si256((const __m256i *)(from + at)));
}

static line_copy *host_copy(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx") ? copy_avx : copy_sse2;
}

/* When a loop went over more bytes than this, what it wrote first will not be found in a cache again. */
static size_t cache_bytes(void) {
    static _Atomic size_t known;
    size_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (!bytes) {
        long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
        bytes = size > 0 && size < MOST_CACHE ? (size_t)size : MOST_CACHE;
        atomic_store_explicit(&known, bytes, memory_order_relaxed);
    }
    return bytes;
}

bool nontemporal_pays(double bytes) { return bytes > (double)cache_bytes(); }

void nontemporal_copy(char *to, const char *from, int64_t bytes) {
    size_t n = (size_t)bytes, head = (0 - (uintptr_t)to) % LINE_BYTES;
    head = head < n ? head : n;
    size_t lines = (n - head) / LINE_BYTES * LINE_BYTES;
    memcpy(to, from, head);
    host_copy()(to + head, from + head, lines);
    memcpy(to + head + lines, from + head + lines, n - head - lines);
}

void nontemporal_end(void) { _mm_sfence(); }

/* Bytes from an element of operand k to the next. */
static int64_t step_of(const launch *l, int k) {
    const variant_operand *o = &l->v->operand[k];
    return o->kind == OPERAND_INTERLEAVED ? o->record : dtypes[o->memory].size;
}

/* Elements before operand k is at a multiple of 64 bytes; it may not be before the next 64. */
static int64_t lead_of(const launch *l, int k) {
    int64_t lead = 0, step = step_of(l, k);
    while (lead < LINE_BYTES && ((uintptr_t)l->data[k] + (uintptr_t)(lead * step)) % LINE_BYTES)
        lead++;
    return lead;
}

/* Is it an array by itself, or the first of a group? */
static bool is_whole(const launch *l, int k) {
    const variant_operand *o = &l->v->operand[k];
    return o->kind == OPERAND_CONTIGUOUS || (o->kind == OPERAND_INTERLEAVED && o->group == k + 1);
}

/* The first output that is; -1: there is none. */
static int first_whole(const launch *l) {
    for (int k = l->v->nin; k < l->v->nin + l->v->nout; k++)
        if (is_whole(l, k))
            return k;
    return -1;
}

static bool is_input(const launch *l, int k) {
    for (int i = 0; i < l->v->nin; i++)
        if (l->v->operand[i].kind != OPERAND_NUMBER && l->data[i] == l->data[k])
            return true;
    return false;
}

/* Every output is written in full lines that begin at the same element, and none is computed in place. Records are so by the code of whole
 * lines alone. */
static bool suits(const launch *l) {
    const variant *v = l->v;
    bool lines = variant_has_nontemporal(v);
    int first = first_whole(l);
    if (first < 0)
        return false;
    int64_t lead = lead_of(l, first);
    for (int k = v->nin; k < v->nin + v->nout; k++) {
        if (v->operand[k].kind != OPERAND_CONTIGUOUS && !(lines && v->operand[k].kind == OPERAND_INTERLEAVED))
            return false;
        if (is_whole(l, k) &&
            (((uintptr_t)l->data[k] + (uintptr_t)(lead * step_of(l, k))) % LINE_BYTES || is_input(l, k)))
            return false;
    }
    return (lines || v->nout <= MOST_OUTPUTS) && !v->masked;
}

bool nontemporal_wanted(const launch *l, int64_t n) {
    size_t bytes = 0;
    for (int k = 0, count = variant_operands(l->v); k < count; k++)
        if (is_whole(l, k))
            bytes += (size_t)(n * step_of(l, k));
    return nontemporal_pays((double)bytes) && suits(l);
}

static void run_plain(const code *c, const launch *l, int64_t first, int64_t n) {
    if (n)
        flat_run(c, l, first, n, NULL, false);
}

/* n elements from `first`, which is at a multiple of a line in every output; n is one of LINE_BYTES. */
static void run_strip(const code *c, const launch *l, int64_t first, int64_t n, line_copy *copy) {
    const variant *v = l->v;
    _Alignas(LINE_BYTES) char buffer[MOST_OUTPUTS][STRIP_BYTES];
    char *outputs[MOST_OUTPUTS] = {0};
    for (int k = 0; k < v->nout; k++)
        outputs[k] = buffer[k];
    flat_run(c, l, first, n, outputs, false);
    for (int k = 0; k < v->nout; k++) {
        size_t size = dtypes[v->operand[v->nin + k].memory].size;
        copy(l->data[v->nin + k] + (size_t)first * size, buffer[k], (size_t)n * size);
    }
}

/* Asks for the lines of n elements from `first` of every contiguous input. */
static void fetch(const launch *l, int64_t first, int64_t n) {
    for (int k = 0; k < l->v->nin; k++) {
        if (l->v->operand[k].kind != OPERAND_CONTIGUOUS)
            continue;
        size_t size = dtypes[l->v->operand[k].memory].size;
        const char *at = l->data[k] + (size_t)first * size, *end = at + (size_t)n * size;
        for (; at < end; at += LINE_BYTES)
            _mm_prefetch(at, _MM_HINT_T0);
    }
}

void nontemporal_run(const code *c, const launch *l, int64_t first, int64_t n) {
    const variant *v = l->v;
    line_copy *copy = host_copy();
    size_t widest = 1;
    for (int k = v->nin; k < v->nin + v->nout; k++)
        widest = dtypes[v->operand[k].memory].size > widest ? dtypes[v->operand[k].memory].size : widest;
    int64_t strip = (int64_t)(STRIP_BYTES / widest), end = first + n;
    int64_t head = ((lead_of(l, first_whole(l)) - first) % LINE_BYTES + LINE_BYTES) % LINE_BYTES;
    run_plain(c, l, first, head < n ? head : n);
    first += head;
    if (variant_has_nontemporal(v) && end - first >= LINE_BYTES) {
        int64_t lines = (end - first) / LINE_BYTES * LINE_BYTES;
        flat_run(c, l, first, lines, NULL, true);
        first += lines;
    }
    while (end - first >= LINE_BYTES) {
        int64_t take = end - first < strip ? (end - first) / LINE_BYTES * LINE_BYTES : strip;
        if (end - first >= 2 * strip)
            fetch(l, first + strip, strip);
        run_strip(c, l, first, take, copy);
        first += take;
    }
    nontemporal_end(); /* the results are there when another thread learns of it */
    if (end > first)
        run_plain(c, l, first, end - first);
}

#else

bool nontemporal_pays(double bytes) {
    (void)bytes;
    return false;
}

void nontemporal_copy(char *to, const char *from, int64_t bytes) { memcpy(to, from, (size_t)bytes); }

void nontemporal_end(void) {}

bool nontemporal_wanted(const launch *l, int64_t n) {
    (void)l, (void)n;
    return false;
}

void nontemporal_run(const code *c, const launch *l, int64_t first, int64_t n) {
    (void)c, (void)l, (void)first, (void)n;
}

#endif
