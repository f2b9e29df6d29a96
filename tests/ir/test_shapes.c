/* test_shapes.c - the elementwise kernel skeletons, run and read.
 *
 * Run: random loops (class, extents, strides, dtypes in memory and in the signature, numbers, mask, in-place operands) through
 * CPU kernels, and through GPU kernels on the simulated GPU. The parameters are packed here by type/schema.h, the expected elements are computed here from number_read
 * and number_write. Buffers are surrounded by canaries and compared whole, so each element must be written exactly once and
 * nothing else; vector accesses of misaligned addresses fault.
 *
 * Read: the text must pass LLVM's verifier (by being compiled) and libNVVM's, compile for every architecture and assemble;
 * the PTX must have the accesses that the shapes promise. Skipped without libnvvm, ptxas. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu/cpu.h"
#include "cuda/toolkit.h"
#include "ir/ir.h"

typedef struct cuda_code cuda_code; /* each engine has a struct code of its own */
#define code cuda_code
#include "cuda/code.h"
#undef code

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "failing.h"
#include "gpu_sim.h"
#include "ir_check.h"
#include "lang_try.h"
#include "leaks.h"

static void check(uf_status status) {
    if (status)
        fail_msg("%s", uf_last_error()->message);
}

/* ---- Kernels ---- */

typedef enum kernel {
    K_ADD,
    K_REL_DIFF,
    K_LESS,
    K_TWO,
    K_CHAIN, /* of halves, each result rounded */
    K_BITS,  /* never ends on no integer, long on large ones */
    K_SIN,
    K_PRODUCT, /* of complex numbers */
    K_EQUAL
} kernel;

static const struct {
    int nin, nout;
    const char *source;
} kernels[] = {
    [K_ADD] = {2, 1, "(x, y) { return x + y; }"},
    [K_REL_DIFF] = {2, 1, "(x, y) { return 2 * (x - y) / (x + y); }"},
    [K_LESS] = {2, 1, "(x, y) { return x < y; }"},
    [K_TWO] = {2, 2, "(x, y) -> (p, q) { p = x + y; q = x - y; }"},
    [K_CHAIN] = {2, 1,
                 "scaled(a) { typeof(a) r = a * 0.5; r -= 3; return r; }"
                 "(x, y) -> (z) { z = x * y; typeof(z) t = -z; z += scaled(t); t = y; z = z - t; }"},
    [K_BITS] = {1, 1, "(x) -> (r) { while (x > 0) { x = x / 2; r = r + 1; } }"},
    [K_SIN] = {1, 1, "(x) { return sin(x); }"},
    [K_PRODUCT] = {2, 1, "(x, y) { auto z = x * y; return z - conj(x); }"},
    [K_EQUAL] = {2, 1, "(x, y) { return x == y; }"},
};

static dtype result_type(kernel k, dtype t) { return k == K_LESS || k == K_EQUAL ? DT_BOOL : t; }

static tree *make_tree(arena *a, kernel k, dtype t) {
    const char *in = dtypes[t].name, *out = dtypes[result_type(k, t)].name;
    char types[80];
    tree *made;
    snprintf(types, sizeof types, "%s%s%s->%s%s%s", in, kernels[k].nin > 1 ? "," : "", kernels[k].nin > 1 ? in : "",
             out, kernels[k].nout > 1 ? "," : "", kernels[k].nout > 1 ? out : "");
    check(lang_try(a, kernels[k].source, types, &made));
    return made;
}

/* The type arithmetic on T is done in. */
static dtype arithmetic(dtype t) {
    if (dtype_is_half(t))
        return DT_FLOAT32;
    return dtypes[t].kind <= DK_INTEGER && dtypes[t].size < 4 ? DT_INT32 : t;
}

/* What it computes, on numbers of the signature's dtype. */
static number as_type(number n, dtype t) {
    unsigned char bytes[16];
    number_write(n, t, bytes);
    return number_read(t, bytes);
}

static number sum(number x, number y, int sign) {
    dtype t = x.type;
    number r = {.type = arithmetic(t)};
    x = as_type(x, r.type);
    y = as_type(y, r.type);
    if (dtypes[r.type].kind >= DK_FLOATING)
        for (int i = 0; i < 2; i++)
            r.as.f[i] = sign > 0 ? x.as.f[i] + y.as.f[i] : x.as.f[i] - y.as.f[i];
    else
        r.as.u = sign > 0 ? x.as.u + y.as.u : x.as.u - y.as.u;
    return as_type(as_type(r, r.type), t);
}

static number product(number x, number y) { return as_type((number){x.type, .as.f = {x.as.f[0] * y.as.f[0]}}, x.type); }

/* K_CHAIN: each operation is exact in double, or near enough, and then rounded. */
static number chain(number x, number y) {
    number z = product(x, y), half = {x.type, .as.f = {0.5}}, three = {x.type, .as.f = {3}};
    number t = product(z, (number){x.type, .as.f = {-1}});
    return sum(sum(z, sum(product(t, half), three, -1), 1), y, -1);
}

static void oracle(kernel k, dtype t, const number *in, number *out) {
    number x = in[0], y = in[kernels[k].nin - 1];
    switch (k) {
    case K_CHAIN:
        out[0] = chain(x, y);
        break;
    case K_ADD:
    case K_TWO:
        out[0] = sum(x, y, 1);
        out[k == K_TWO] = k == K_TWO ? sum(x, y, -1) : out[0];
        break;
    case K_LESS: {
        bool less = dtypes[t].kind >= DK_FLOATING ? x.as.f[0] < y.as.f[0]
                    : dtypes[t].is_signed         ? x.as.i < y.as.i
                                                  : x.as.u < y.as.u;
        out[0] = (number){.type = DT_BOOL, .as.u = less};
        break;
    }
    default: {
        int64_t bits = 0;
        for (uint64_t v = dtypes[t].is_signed && x.as.i < 0 ? 0 : x.as.u; v; v /= 2)
            bits++;
        out[0] = (number){.type = t, .as.i = bits};
    }
    }
}

/* ---- Loops: what nd and the engines would make of a call ---- */

enum {
    MAX_DIMS = 5,
    MAX_OPERANDS = 6,
    CANARY = 64
};

typedef struct loop {
    variant v;
    kernel k;
    dtype t; /* of the signature */
    int ndim;
    int64_t extent[MAX_DIMS];
    int64_t stride[MAX_OPERANDS][MAX_DIMS];
    int64_t lowest[MAX_OPERANDS];
    size_t bytes[MAX_OPERANDS]; /* of the buffer, canaries included */
    unsigned char *buffer[MAX_OPERANDS];
    char *mapped[MAX_OPERANDS]; /* of those that end at a page's end; else NULL */
    size_t mapped_bytes[MAX_OPERANDS];
    char *data[MAX_OPERANDS]; /* element 0 */
    uint64_t number[MAX_OPERANDS][2];
    int in_place; /* the first output is this input; -1: none is */
} loop;

/* Some inputs end where a page begins that nobody may touch. */
static void guard(loop *l, int k, int64_t low, int64_t high) {
    size_t size = dtypes[l->v.operand[k].memory].size, span = (size_t)(high - low + 1) * size, page = 4096,
           pages = (CANARY + span + page - 1) / page * page;
    char *all = mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + pages, page, PROT_NONE))
        abort();
    l->mapped[k] = all;
    l->mapped_bytes[k] = pages + page;
    l->bytes[k] = span + 2 * CANARY; /* the second one is not there */
    l->buffer[k] = (unsigned char *)all + pages - span - CANARY;
    l->data[k] = (char *)l->buffer[k] + CANARY + (size_t)(-low) * size;
}

static void reach(loop *l, int k, int shift) {
    int64_t low = 0, high = 0;
    size_t size = dtypes[l->v.operand[k].memory].size;
    for (int d = 0; d < l->ndim; d++)
        *(l->stride[k][d] < 0 ? &low : &high) += l->stride[k][d] * (l->extent[d] - 1);
    bool output = k >= l->v.nin && k < l->v.nin + l->v.nout;
    if (!output && chance(25)) {
        guard(l, k, low, high);
        return;
    }
    l->bytes[k] = (size_t)(high - low + 1) * size + 2 * CANARY + 64;
    if (posix_memalign((void **)&l->buffer[k], 64, l->bytes[k]))
        abort();
    for (size_t i = 0; i < l->bytes[k]; i++)
        l->buffer[k][i] = (unsigned char)draw_bits();
    l->data[k] =
        (char *)l->buffer[k] + CANARY + (size_t)(-low) * size + (size_t)shift * dtypes[l->v.operand[k].memory].align;
}

/* Sensible values: random bytes are mostly huge floats. */
static void fill(loop *l, int k) {
    dtype t = (dtype)l->v.operand[k].memory;
    size_t size = dtypes[t].size;
    char *first = (char *)l->buffer[k] + CANARY;
    size_t skew = (size_t)(l->data[k] - first) % size;
    for (char *p = first + skew; p + size <= (char *)l->buffer[k] + l->bytes[k] - CANARY; p += size) {
        number n = {.type = DT_INT64, .as.i = chance(20) ? pick(-3, 3) : pick(-1000000, 1000000)};
        if (dtypes[t].kind >= DK_FLOATING)
            n = (number){.type = DT_COMPLEX128,
                         .as.f = {(double)pick(-99999, 99999) / 64, (double)pick(-999, 999) / 8}};
        number_write(n, t, p);
        if (t == DT_BOOL && chance(20))
            *p = (char)pick(2, 255); /* true as well */
    }
}

static char *element(const loop *l, int k, const int64_t *index, char *data) {
    for (int d = 0; d < l->ndim; d++)
        data += l->stride[k][d] * index[d] * dtypes[l->v.operand[k].memory].size;
    return data;
}

/* Runs the loop on the buffers in `expected` (copies of the outputs' buffers). */
static void run_oracle(const loop *l, unsigned char *const *expected) {
    int64_t index[MAX_DIMS] = {0};
    for (;;) {
        number in[MAX_OPERANDS], out[2];
        int mask = l->v.nin + l->v.nout;
        for (int k = 0; k < l->v.nin; k++) {
            const variant_operand *o = &l->v.operand[k];
            const void *at = o->kind == OPERAND_NUMBER ? (const void *)l->number[k] : element(l, k, index, l->data[k]);
            in[k] = as_type(number_read((dtype)o->memory, at), (dtype)o->value);
        }
        bool some =
            !l->v.masked || (l->v.operand[mask].kind == OPERAND_NUMBER ? 1 : *element(l, mask, index, l->data[mask]));
        oracle(l->k, l->t, in, out);
        for (int k = l->v.nin; some && k < mask; k++) {
            char *data = (char *)expected[k] + (l->data[k] - (char *)l->buffer[k]);
            number_write(out[k - l->v.nin], (dtype)l->v.operand[k].memory, element(l, k, index, data));
        }
        int d = 0;
        while (d < l->ndim && ++index[d] == l->extent[d])
            index[d++] = 0;
        if (d == l->ndim)
            return;
    }
}

static void loop_free(loop *l) {
    for (int k = 0; k < variant_operands(&l->v); k++)
        if (l->mapped[k])
            munmap(l->mapped[k], l->mapped_bytes[k]);
        else if (k != l->v.nin || l->in_place < 0)
            free(l->buffer[k]);
}

/* ---- Parameters ---- */

static void put_operands(parameter_writer *w, const loop *l) {
    for (int k = 0; k < variant_operands(&l->v); k++)
        put_operand(w, k, (uintptr_t)l->data[k], l->number);
}

static void put_strides(parameter_writer *w, const loop *l, parameter_id id, int from, int to) {
    for (int k = 0; k < variant_operands(&l->v); k++)
        for (int d = from; d < to && l->v.operand[k].kind != OPERAND_NUMBER; d++)
            put_parameter(w, id, d < l->ndim ? l->stride[k][d] : 0);
}

/* Elements in one access, and vectors, rows or elements that a thread takes, by class. */
static int vector_of(const variant *v) {
    return v->loop == LOOP_FLAT ? v->flat.vector : v->loop == LOOP_ROWS ? v->rows.vector : 1;
}
static void set_vectors(variant *v, int vector, int repeat) {
    if (v->loop == LOOP_FLAT) {
        v->flat.vector = (uint8_t)vector;
        v->flat.vectors_per_thread = (uint8_t)repeat;
    } else if (v->loop == LOOP_ROWS) {
        v->rows.vector = (uint8_t)vector;
        v->rows.rows_per_thread = (uint8_t)repeat;
    } else if (v->loop == LOOP_TILE) {
        v->tile.vector = (uint8_t)vector;
        v->tile.rows = (uint8_t)repeat;
        v->tile.columns = v->tile.across = 4;
    } else {
        v->general.elements_per_thread = (uint8_t)repeat;
    }
}
static int repeat_of(const variant *v) {
    return v->loop == LOOP_FLAT   ? v->flat.vectors_per_thread
           : v->loop == LOOP_ROWS ? v->rows.rows_per_thread
                                  : v->general.elements_per_thread;
}

static bool aligned(const loop *l, int k, int64_t first) {
    int size = dtypes[l->v.operand[k].memory].size;
    return l->v.operand[k].kind != OPERAND_CONTIGUOUS ||
           (uintptr_t)(l->data[k] + first * size) % (uintptr_t)(vector_of(&l->v) * size) == 0;
}

static int64_t head_of(const loop *l) {
    for (int64_t head = 0; head < vector_of(&l->v); head++) {
        bool good = true;
        for (int k = 0; k < variant_operands(&l->v); k++)
            good &= aligned(l, k, head);
        if (good)
            return head < l->extent[0] ? head : l->extent[0];
    }
    return -1;
}

static bool rows_aligned(const loop *l) {
    for (int k = 0; k < variant_operands(&l->v); k++) {
        if (!aligned(l, k, 0))
            return false;
        for (int d = 1; d < l->ndim; d++)
            if (l->v.operand[k].kind == OPERAND_CONTIGUOUS && l->stride[k][d] % vector_of(&l->v))
                return false;
    }
    return true;
}

/* Each writes what comes after the operands, and returns the number of blocks. */

static int64_t put_flat(parameter_writer *w, const loop *l, int threads) {
    int64_t n = l->extent[0], per = threads * vector_of(&l->v) * repeat_of(&l->v);
    put_parameter(w, GPU_FLAT_ELEMENTS, n);
    put_parameter(w, GPU_FLAT_HEAD, head_of(l));
    return n > per ? (n + per - 1) / per : 1;
}

static int64_t put_rows(parameter_writer *w, const loop *l, int threads, int shift) {
    const variant *v = &l->v;
    int64_t width = (int64_t)v->rows.vector << shift, height = (int64_t)(threads >> shift) * v->rows.rows_per_thread;
    int64_t across = (l->extent[0] + width - 1) / width, down = (l->extent[1] + height - 1) / height;
    int64_t blocks = across * down;
    put_parameter(w, GPU_ROWS_EXTENTS, l->extent[0]);
    put_parameter(w, GPU_ROWS_EXTENTS, l->extent[1]);
    put_parameter(w, GPU_ROWS_SHIFT, shift);
    put_parameter(w, GPU_ROWS_VECTORS, rows_aligned(l));
    put_divisor(w, GPU_ROWS_ACROSS, across);
    put_divisor(w, GPU_ROWS_DOWN, down);
    for (int d = 2; d < l->ndim; d++) {
        if (d < l->ndim - 1)
            put_divisor(w, GPU_ROWS_OUTER, l->extent[d]);
        blocks *= l->extent[d];
    }
    put_strides(w, l, GPU_ROWS_STRIDES, 1, l->ndim);
    return blocks;
}

static int64_t put_general(parameter_writer *w, const loop *l, int threads) {
    int64_t count = 1, per = threads * vector_of(&l->v) * repeat_of(&l->v);
    for (int d = 0; d < l->ndim; d++)
        count *= l->extent[d];
    put_parameter(w, GPU_GENERAL_ELEMENTS, count);
    for (int d = 0; d < l->ndim - 1; d++)
        put_divisor(w, GPU_GENERAL_EXTENTS, l->extent[d]);
    put_strides(w, l, GPU_GENERAL_STRIDES, 0, l->ndim);
    return (count + per - 1) / per;
}

/* Parameters of a GPU launch; returns their number, sets the number of blocks. */
static int put_gpu(const loop *l, uint64_t *to, int threads, int shift, int64_t *blocks) {
    parameter_writer w = parameters_write(to, &l->v, NULL, true);
    put_operands(&w, l);
    *blocks = l->v.loop == LOOP_FLAT   ? put_flat(&w, l, threads)
              : l->v.loop == LOOP_ROWS ? put_rows(&w, l, threads, shift)
                                       : put_general(&w, l, threads);
    parameters_finish(&w);
    return (int)(w.next - to);
}

/* The loop as nd gives it to the engines; space holds its numbers. */
static nd_loop nd_of(const loop *l, int64_t *space) {
    int n = variant_operands(&l->v);
    nd_loop nd = {.ndim = l->ndim,
                  .narrays = n,
                  .count = 1,
                  .extent = space,
                  .stride = space + MAX_DIMS,
                  .loop = (loop_class)l->v.loop};
    for (int d = 0; d < l->ndim; d++) {
        nd.count *= nd.extent[d] = l->extent[d];
        for (int k = 0; k < n; k++)
            nd.stride[d * n + k] = l->stride[k][d];
    }
    nd.offset = nd.stride + l->ndim * n;
    for (int k = 0; k < n; k++) {
        nd.offset[k] = 0;
        nd.kind[k] = l->v.operand[k].kind;
    }
    return nd;
}

/* The parameters and the grid that the CUDA engine makes, for a variant that it specialised. */
static int put_engine(const loop *l, uint64_t *w, int *threads, int64_t *blocks) {
    int64_t space[MAX_DIMS + (MAX_DIMS + 1) * MAX_OPERANDS];
    nd_loop nd = nd_of(l, space);
    launch run = {.v = &l->v, .loop = &nd, .data = l->data, .numbers = l->number};
    grid g;
    check(gpu_layout(&run, &(occupancy){.block = (unsigned)*threads, .sms = (int)pick(1, 40)}, w, &g));
    assert_int_equal((int)g.parameters, schema_count(&l->v, NULL, true));
    *threads = (int)g.threads;
    *blocks = g.blocks;
    return (int)g.parameters;
}

static int put_cpu(const loop *l, uint64_t *to) {
    parameter_writer w = parameters_write(to, &l->v, NULL, false);
    put_operands(&w, l);
    if (l->v.loop == LOOP_FLAT) {
        put_parameter(&w, CPU_FLAT_ELEMENTS, l->extent[0]);
    } else {
        put_parameter(&w, CPU_LOOP_EXTENTS, l->extent[0]);
        put_parameter(&w, CPU_LOOP_EXTENTS, l->ndim > 1 ? l->extent[1] : 1);
        put_strides(&w, l, CPU_LOOP_STRIDES, 0, 2);
    }
    parameters_finish(&w);
    return (int)(w.next - to);
}

/* ---- Making and running code ---- */

static bool debug;

static uf_status generate(arena *a, const loop *l, const code_target *target, code_module *m) {
    *m = (code_module){.flags = debug ? UF_DEBUG : 0};
    return ir_elementwise(a, "f", make_tree(a, l->k, l->t), &l->v, target, m);
}

static code_target host, gpu = {.gpu = true, .arch = 90};

static void print_loop(const loop *l) {
    static const char *const classes[LOOP_CLASSES] = {
        [LOOP_FLAT] = "flat", [LOOP_ROWS] = "rows", [LOOP_GENERAL] = "general", [LOOP_TILE] = "tile"};
    static const char *const kinds[] = {"contiguous", "constant", "strided", "interleaved", "number"};
    print_message("kernel %d of %s, %s, ndim %d, vector %d, repeat %d, wide %d, masked %d, in place %d\n", l->k,
                  dtypes[l->t].name, classes[l->v.loop], l->ndim, vector_of(&l->v), repeat_of(&l->v), l->v.wide,
                  l->v.masked, l->in_place);
    for (int d = 0; d < l->ndim; d++)
        print_message(" extent %lld\n", (long long)l->extent[d]);
    for (int k = 0; k < variant_operands(&l->v); k++) {
        const variant_operand *o = &l->v.operand[k];
        print_message(" %s in memory, %s, fixed %d, strides", dtypes[o->memory].name, kinds[o->kind], o->fixed);
        for (int d = 0; d < l->ndim; d++)
            print_message(" %lld", (long long)l->stride[k][d]);
        print_message("\n");
    }
}

/* Compares the outputs' buffers with the expected ones, NaN equal to NaN. */
static bool same(const loop *l, int k, const unsigned char *expected) {
    dtype t = (dtype)dtypes[l->v.operand[k].memory].component;
    size_t size = dtypes[t].size;
    if (!memcmp(expected, l->buffer[k], l->bytes[k]))
        return true;
    size_t skew = (size_t)(l->data[k] - (char *)l->buffer[k]) % size;
    for (size_t i = skew; i + size <= l->bytes[k]; i += size) {
        if (!memcmp(expected + i, l->buffer[k] + i, size))
            continue;
        number x = number_read(t, expected + i), y = number_read(t, l->buffer[k] + i);
        if (dtypes[t].kind >= DK_FLOATING && x.as.f[0] != x.as.f[0] && y.as.f[0] != y.as.f[0])
            continue;
        print_message("operand %d, byte %zu of %zu (element 0 at %td): %g %lld, not %g %lld\n", k, i, l->bytes[k],
                      l->data[k] - (char *)l->buffer[k], y.as.f[0], (long long)y.as.i, x.as.f[0], (long long)x.as.i);
        return false;
    }
    return true;
}

static void run_cpu(const loop *l, const code_module *m, uint64_t *w) {
    code *c;
    if (cpu_compile(m, &host, 0, &c)) {
        print_loop(l);
        fail_msg("%s\n%s", uf_last_error()->message, m->ir.data);
    }
    c->run(w);
    cpu_release(c);
}

static void run_gpu(const loop *l, code_module *m, const uint64_t *w, int nwords, int blocks, int threads) {
    const char *wrong = sim_run(m, w, nwords, blocks, threads);
    if (wrong) {
        print_loop(l);
        fail_msg("%s", wrong);
    }
}

/* shift: log2 of the threads along a row; -1: as the engine lays the loop out. */
static void run_loop(loop *l, bool on_gpu, int threads, int shift) {
    arena a = {0};
    code_module m;
    uint64_t w[256] = {0};
    unsigned char *expected[MAX_OPERANDS] = {NULL};
    for (int k = l->v.nin; k < l->v.nin + l->v.nout; k++) {
        expected[k] = malloc(l->bytes[k]);
        memcpy(expected[k], l->buffer[k], l->bytes[k]);
    }
    code_target cpu = host;
    cpu.narrow_reads = chance(50);
    run_oracle(l, expected);
    check(generate(&a, l, on_gpu ? &gpu : &cpu, &m));
    int64_t blocks = 0; /* of the GPU's grid */
    int n = !on_gpu     ? put_cpu(l, w)
            : shift < 0 ? put_engine(l, w, &threads, &blocks)
                        : put_gpu(l, w, threads, shift, &blocks);
    if (on_gpu)
        run_gpu(l, &m, w, n, (int)blocks, threads);
    else
        run_cpu(l, &m, w);
    for (int k = l->v.nin; k < l->v.nin + l->v.nout; k++) {
        if (!same(l, k, expected[k])) {
            print_loop(l);
            if (on_gpu)
                print_message("threads %d, shift %d\n", threads, shift);
            if (getenv("SHOW_IR"))
                puts(m.ir.data);
            fail_msg("%s", "wrong result");
        }
        free(expected[k]);
    }
    text_free(&m.ir);
    arena_free(&a);
}

/* ---- Random loops ---- */

static dtype random_type(bool halves) {
    for (;;) {
        dtype t = (dtype)pick(0, DT_COUNT - 1);
        if (halves || !dtype_is_half(t))
            return t;
    }
}

static void random_kernel(loop *l, bool halves) {
    static const kernel some[] = {K_ADD, K_ADD, K_LESS, K_TWO, K_BITS};
    *l = (loop){.k = some[pick(0, (int64_t)COUNT(some) - 1)], .in_place = -1};
    do
        l->t = random_type(halves);
    while ((l->k == K_LESS && dtype_is_complex(l->t)) || (l->k == K_BITS && !dtype_is_integer(l->t)) ||
           l->t == DT_BOOL);
    variant *v = &l->v;
    v->nin = (uint8_t)kernels[l->k].nin;
    v->nout = (uint8_t)kernels[l->k].nout;
    v->masked = chance(25);
    for (int k = 0; k < variant_operands(v); k++) {
        dtype value = k < v->nin ? l->t : k < v->nin + v->nout ? result_type(l->k, l->t) : DT_BOOL;
        dtype memory = value;
        if (k < v->nin + v->nout && chance(30))
            do
                memory = random_type(halves);
            while (dtype_is_complex(memory) && !dtype_is_complex(value));
        v->operand[k] = (variant_operand){.memory = (uint8_t)memory, .value = (uint8_t)value};
        if (k < v->nin && chance(12)) {
            v->operand[k].kind = OPERAND_NUMBER;
            v->operand[k].memory = (uint8_t)value;
            number_write((number){.type = DT_INT64, .as.i = pick(-100, 100)}, value, l->number[k]);
        }
    }
}

static void chain_kernel(loop *l) {
    *l = (loop){.k = K_CHAIN, .t = chance(50) ? DT_FLOAT16 : DT_BFLOAT16, .in_place = -1};
    l->v.nin = 2;
    l->v.nout = 1;
    for (int k = 0; k < 3; k++)
        l->v.operand[k] = (variant_operand){.memory = (uint8_t)l->t, .value = (uint8_t)l->t};
}

/* Kinds and strides: outputs dense in some order with gaps, inputs anyhow within what the class allows. */
static void random_strides(loop *l) {
    variant *v = &l->v;
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        bool output = k >= v->nin && k < v->nin + v->nout, general = v->loop == LOOP_GENERAL;
        if (o->kind == OPERAND_NUMBER)
            continue;
        bool constant = !output && chance(20);
        l->stride[k][0] = constant ? 0 : general && chance(60) ? pick(-3, 3) : 1;
        if (output && !l->stride[k][0])
            l->stride[k][0] = 2;
        int64_t span = l->stride[k][0] * l->extent[0];
        span = span < 0 ? -span : span;
        for (int d = 1; d < l->ndim; d++) {
            int64_t pad = chance(50) ? 0 : pick(0, 20);
            l->stride[k][d] = !output && chance(30) ? 0 : (span + pad) * (general && chance(20) ? -1 : 1);
            span = (span + pad) * l->extent[d];
        }
        int64_t s = l->stride[k][0];
        o->kind = s == 1 ? OPERAND_CONTIGUOUS : s == 0 ? OPERAND_CONSTANT : OPERAND_STRIDED;
        o->fixed = v->loop == LOOP_ROWS && l->stride[k][1] == 0;
    }
}

/* Across: each array is dense, but for gaps, in an order of its own, in which dimension 0 or 1 comes first. plain: all but the last output are
 * in one order, without gaps. */
static void tile_strides(loop *l, bool plain) {
    variant *v = &l->v;
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        bool output = k >= v->nin && k < v->nin + v->nout, across = chance(output ? 35 : 60);
        int64_t span = plain || chance(90) ? 1 : pick(2, 3);
        if (plain)
            across = k == v->nin + v->nout - 1;
        if (o->kind == OPERAND_NUMBER)
            continue;
        for (int i = 0; i < l->ndim; i++) {
            int d = i < 2 && across ? 1 - i : i;
            l->stride[k][d] = plain ? span : !output && chance(8) ? 0 : span * (chance(8) ? -1 : 1);
            span = span * l->extent[d] + (plain || chance(70) ? 0 : pick(0, 20));
        }
        int64_t s = l->stride[k][0];
        o->kind = s == 1 ? OPERAND_CONTIGUOUS : s == 0 ? OPERAND_CONSTANT : OPERAND_STRIDED;
    }
}

static void random_data(loop *l) {
    variant *v = &l->v;
    int same_shift = chance(60) ? (int)pick(0, 3) : -1;
    bool even = chance(50);
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind != OPERAND_NUMBER) {
            reach(l, k, even ? 0 : same_shift >= 0 ? same_shift : (int)pick(0, 5));
            fill(l, k);
        }
    if (!chance(25) || l->mapped[0] || v->operand[0].kind != v->operand[v->nin].kind ||
        v->operand[0].memory != v->operand[v->nin].memory ||
        memcmp(l->stride[0], l->stride[v->nin], sizeof l->stride[0]))
        return;
    l->in_place = 0;
    free(l->buffer[v->nin]);
    l->buffer[v->nin] = l->buffer[0];
    l->bytes[v->nin] = l->bytes[0];
    l->data[v->nin] = l->data[0];
}

static void random_loop(loop *l, loop_class class, bool on_gpu, bool chained) {
    if (chained)
        chain_kernel(l);
    else
        random_kernel(l, !on_gpu);
    variant *v = &l->v;
    v->loop = (uint8_t) class;
    int most = on_gpu ? MAX_DIMS : 2;
    l->ndim = class == LOOP_FLAT ? 1 : (int)pick(class == LOOP_ROWS ? 2 : 1, most);
    v->ndim = (uint8_t)l->ndim;
    int64_t budget = on_gpu ? 4000 : 3000;
    for (int d = 0; d < l->ndim; d++) {
        int64_t most_here = d == 0 ? (l->ndim == 1 ? budget : 200) : d == 1 ? 30 : 4;
        l->extent[d] = chance(30) ? pick(1, most_here > 20 ? 20 : most_here) : pick(1, most_here);
    }
    if (on_gpu && class != LOOP_GENERAL) {
        int vector = 1 << pick(0, 4);
        set_vectors(v, vector, (int)(vector > 4 ? pick(1, 2) : pick(1, 4)));
    } else if (on_gpu) {
        set_vectors(v, 1, (int)pick(1, 5));
        v->wide = chance(30);
    }
    random_strides(l);
    random_data(l);
}

/* chained: kernels that are chains of operations on halves, whose operands are all of one dtype. */
static void run_random(loop_class class, bool on_gpu, bool chained, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        loop l;
        random_loop(&l, class, on_gpu, chained);
        int threads = 1 << pick(3, 8);
        if (on_gpu && class == LOOP_FLAT && chance(30)) {
            /* The last tile is full, whatever there is before the first. */
            int64_t head = head_of(&l) > 0 ? head_of(&l) : 0, tile = threads * vector_of(&l.v) * repeat_of(&l.v);
            if (l.extent[0] >= head + tile)
                l.extent[0] = head + (l.extent[0] - head) / tile * tile;
        }
        int shift = (int)pick(0, threads >= 64 ? 6 : 3);
        if (on_gpu && chance(40)) {
            int64_t space[MAX_DIMS + (MAX_DIMS + 1) * MAX_OPERANDS];
            nd_loop nd = nd_of(&l, space);
            gpu_specialise(
                &l.v, &(loop_problem){.loop = &nd, .traits = &(code_traits){.nodes = 20, .has_loop = l.k == K_BITS}});
            threads = 64 << pick(0, 2);
            shift = -1;
        }
        if (!on_gpu && class != LOOP_FLAT && chance(60)) {
            int64_t space[MAX_DIMS + (MAX_DIMS + 1) * MAX_OPERANDS];
            nd_loop nd = nd_of(&l, space);
            cpu_engine.specialise(&l.v, &(loop_problem){.loop = &nd, .traits = &(code_traits){.nodes = 20}});
        }
        run_loop(&l, on_gpu, threads, shift);
        loop_free(&l);
    }
}

/* What the engines make of a loop of the class tile, at sizes around those of tiles. The CPU's kernel takes some columns at once. */
static void random_tile(loop *l, bool on_gpu) {
    bool plain = on_gpu && chance(30);
    do
        random_kernel(l, !on_gpu);
    while (plain && (l->v.nout < 2 || l->v.masked));
    l->v.loop = LOOP_TILE;
    l->ndim = on_gpu && chance(40) ? (int)pick(3, MAX_DIMS) : 2;
    l->v.ndim = (uint8_t)l->ndim;
    for (int d = 0; d < l->ndim; d++)
        l->extent[d] = d > 1 ? pick(2, 3) : on_gpu ? pick(16, chance(50) ? 40 : 140) : pick(2, TILE_COLUMNS);
    if (chance(30))
        l->extent[1] = pick(2, on_gpu ? GPU_NARROW_MAX : CPU_NARROW_MAX);
    else if (chance(30))
        l->extent[pick(0, 1)] = 32 << pick(0, on_gpu ? 2 : 1);
    tile_strides(l, plain);
    random_data(l);
}

/* An extent of wide elements: it is narrow if a set of the first level cache has lines for as many columns and two more. */
static int by_ways(int extent) {
    long ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC);
    return extent + 2 <= (ways > 8 ? ways : 8) ? extent : 0;
}

/* CPU: a narrow dimension is taken together, unless its elements have many bytes, or are complex numbers and many, and the cache does not keep
 * their lines; or records are long and none of them is written, while squares have their elements. */
static void test_narrow_tiles(void **state) {
    const struct {
        dtype type;
        int64_t extent;
        int nodes, narrow;
        bool writes; /* the output has the records, not the input */
    } cases[] = {
        {DT_COMPLEX64, 9, 5, by_ways(9), true},
        {DT_COMPLEX64, 11, 5, by_ways(11), true},
        {DT_COMPLEX128, 7, 20, by_ways(7), true},
        {DT_COMPLEX128, 10, 5, by_ways(10), false},
        {DT_FLOAT64, 13, 5, by_ways(13), true},
        {DT_COMPLEX128, 9, 20, 0, true},
        {DT_FLOAT32, 15, 5, 15, true},
        {DT_FLOAT32, 16, 5, 0, true},
        {DT_FLOAT32, 9, 20, 0, true},
        {DT_FLOAT32, 8, 5, 8, false},
        {DT_FLOAT32, 9, 5, 0, false},
        {DT_FLOAT64, 12, 5, 12, true},
        {DT_FLOAT64, 12, 5, 0, false},
        {DT_FLOAT64, 15, 5, 0, true},
        {DT_INT8, 15, 5, 15, false},
        {DT_INT16, 9, 5, 0, false},
        {DT_COMPLEX64, 8, 5, 8, false},
        {DT_COMPLEX64, 15, 5, 0, true},
        {DT_COMPLEX128, 6, 5, 6, true},
        {DT_COMPLEX128, 15, 5, 0, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t extent[] = {1000, cases[i].extent}, offset[2] = {0};
        int64_t stride[] = {extent[1], 1, 1, extent[0]}, written[] = {1, extent[1], extent[0], 1};
        variant v = {.loop = LOOP_TILE, .ndim = 2, .nin = 1, .nout = 1};
        for (int k = 0; k < 2; k++)
            v.operand[k] = (variant_operand){.memory = (uint8_t)cases[i].type,
                                             .value = (uint8_t)cases[i].type,
                                             .kind = k ? OPERAND_CONTIGUOUS : OPERAND_STRIDED};
        nd_loop nd = {.ndim = 2,
                      .narrays = 2,
                      .count = extent[0] * extent[1],
                      .extent = extent,
                      .stride = cases[i].writes ? written : stride,
                      .offset = offset};
        cpu_engine.specialise(&v, &(loop_problem){.loop = &nd, .traits = &(code_traits){.nodes = cases[i].nodes}});
        if (v.tile.narrow != cases[i].narrow)
            fail_msg("case %zu: %d", i, v.tile.narrow);
        if (cases[i].writes)
            continue;
        assert_int_equal(v.operand[0].staged, !cases[i].narrow);
        assert_int_equal(v.operand[0].kind, cases[i].narrow ? OPERAND_INTERLEAVED : OPERAND_CONTIGUOUS);
    }
}

static void run_tiles(bool on_gpu, int64_t count) {
    int tiles = 0, narrow = 0, general = 0, outputs = 0, halos = 0, in_place = 0;
    for (int64_t i = 0; i < count; i++) {
        loop l;
        int64_t space[MAX_DIMS + (MAX_DIMS + 1) * MAX_OPERANDS];
        random_tile(&l, on_gpu);
        nd_loop nd = nd_of(&l, space);
        code_traits traits = {.nodes = chance(20) ? 300 : 20, .has_loop = l.k == K_BITS};
        loop_problem problem = {.loop = &nd, .traits = &traits};
        (on_gpu ? gpu_specialise : cpu_engine.specialise)(&l.v, &problem);
        tiles += l.v.loop == LOOP_TILE && !l.v.tile.narrow;
        narrow += l.v.loop == LOOP_TILE && l.v.tile.narrow;
        general += l.v.loop == LOOP_GENERAL;
        for (int k = l.v.nin; k < l.v.nin + l.v.nout; k++)
            outputs += l.v.operand[k].staged;
        halos += l.v.loop == LOOP_TILE && l.v.tile.halo;
        in_place += l.v.loop == LOOP_TILE && l.v.tile.halo && l.in_place >= 0;
        run_loop(&l, on_gpu, 256, -1);
        loop_free(&l);
    }
    print_message("%d tiles, %d of a narrow dimension, %d general, %d outputs staged, %d halos, %d of them in place\n",
                  tiles, narrow, general, outputs, halos, in_place);
    assert_true(count < 40 || (tiles && narrow && (outputs || !on_gpu)));
    assert_true(count < 400 || !on_gpu || (halos && (in_place || count < 4000)));
}

static void test_cpu_tile(void **unused) { (void)unused, run_tiles(false, trials(14)); }
static void test_gpu_tile(void **unused) { (void)unused, run_tiles(true, trials(18)); }
static void test_cpu_flat(void **unused) { (void)unused, run_random(LOOP_FLAT, false, false, trials(14)); }
static void test_cpu_rows(void **unused) { (void)unused, run_random(LOOP_ROWS, false, false, trials(10)); }
static void test_cpu_general(void **unused) { (void)unused, run_random(LOOP_GENERAL, false, false, trials(14)); }
static void test_gpu_flat(void **unused) { (void)unused, run_random(LOOP_FLAT, true, false, trials(14)); }
/* The last of an odd number of elements, one by one, is converted by instructions that not every processor has. */
static void test_gpu_halves(void **unused) {
    (void)unused;
    if (!host.f16c)
        skip();
    run_random(LOOP_FLAT, true, true, trials(8));
    run_random(LOOP_ROWS, true, true, trials(8));
}
static void test_gpu_rows(void **unused) { (void)unused, run_random(LOOP_ROWS, true, false, trials(18)); }
static void test_gpu_general(void **unused) { (void)unused, run_random(LOOP_GENERAL, true, false, trials(14)); }

/* ---- Reading the text ---- */

/* A variant in short: operands' dtypes in memory and kinds ("c" contiguous, "0" constant, "s" strided, "n" number; with
 * "f" after it fixed), in order. Tiles: "x" an input across, "i" records of a narrow dimension, whose extent `repeat` then is. */
typedef struct sketch {
    kernel k;
    dtype t;
    loop_class class;
    int ndim, vector, repeat;
    bool masked;
    const char *memory; /* "": the signature's */
    const char *kinds;
} sketch;

static loop loop_of(const sketch *k) {
    static const char kinds[] = "c0sin"; /* operand_kind */
    loop l = {.k = k->k, .t = k->t, .in_place = -1, .ndim = k->ndim};
    l.v = (variant){.loop = (uint8_t)k->class,
                    .ndim = (uint8_t)k->ndim,
                    .nin = (uint8_t)kernels[k->k].nin,
                    .nout = (uint8_t)kernels[k->k].nout,
                    .masked = k->masked};
    set_vectors(&l.v, k->vector, k->repeat);
    dtype memory[MAX_OPERANDS];
    int count = 0;
    const char *kind = k->kinds;
    if (k->memory[0])
        check(types_parse(k->memory, memory, &count));
    for (int i = 0; i < variant_operands(&l.v); i++) {
        variant_operand *o = &l.v.operand[i];
        dtype value = i < l.v.nin ? k->t : i < l.v.nin + l.v.nout ? result_type(k->k, k->t) : DT_BOOL;
        o->value = (uint8_t)value;
        o->memory = (uint8_t)(i < count ? memory[i] : value);
        o->staged = o->unit = *kind == 'x';
        o->record = *kind == 'i' ? (uint8_t)(k->repeat * dtypes[o->memory].size) : 0;
        if (*kind == 'i')
            l.v.tile.narrow = (uint8_t)k->repeat;
        o->kind = (uint8_t)(*kind == 'x' ? OPERAND_CONTIGUOUS : strchr(kinds, *kind) - kinds);
        kind++;
        o->fixed = *kind == 'f';
        kind += o->fixed;
    }
    if (l.v.loop == LOOP_TILE && l.v.tile.narrow) {
        l.v.tile.columns = 8;
        l.v.tile.across = 0;
    }
    return l;
}

static code_module module_of(arena *a, const sketch *k, const code_target *target) {
    loop l = loop_of(k);
    code_module m;
    check(generate(a, &l, target, &m));
    return m;
}

/* PTX as the library makes it, which ptxas accepts. */
static char *ptx_of(const sketch *k, int arch) {
    code_target target = {.gpu = true, .arch = arch};
    arena a = {0};
    text ptx = {0};
    if (!nvvm_found())
        skip();
    code_module m = module_of(&a, k, &target);
    uf_status status = nvvm_verify(&m, arch);
    if (!status)
        status = nvvm_compile(&m, arch, &ptx);
    if (status)
        fail_msg("%s\n%s", uf_last_error()->message, m.ir.data);
    const char *wrong = nvvm_judge(&m, arch, true, NULL);
    if (wrong)
        fail_msg("%s\n%s", wrong, m.ir.data);
    text_free(&m.ir);
    arena_free(&a);
    return text_take(&ptx);
}

static int count(const char *in, const char *what) {
    int n = 0;
    for (const char *p = in; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

/* In every stretch of PTX without a label or branch, no load comes after a store. */
static bool loads_first(const char *ptx) {
    bool stored = false;
    for (const char *line = ptx; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t n = strcspn(line, "\n");
        if (*line == '$' || memmem(line, n, "bra", 3) || memmem(line, n, "ret;", 4))
            stored = false;
        stored |= memmem(line, n, "st.global", 9) != NULL;
        if (stored && memmem(line, n, "ld.global", 9))
            return false;
    }
    return true;
}

static void test_ptx_facts(void **unused) {
    (void)unused;
    static const struct {
        sketch k;
        const char *access;
        int loads;
        const char *store;
        int stores;
    } facts[] = {
        {{K_REL_DIFF, DT_FLOAT32, LOOP_FLAT, 1, 4, 2, false, "", "ccc"}, "ld.global.v4.f32", 4, "st.global.v4.f32", 2},
        {{K_ADD, DT_INT32, LOOP_FLAT, 1, 4, 1, false, "", "ccc"}, "ld.global.v4.u32", 2, "st.global.v4.u32", 1},
        {{K_ADD, DT_INT8, LOOP_FLAT, 1, 16, 1, false, "", "ccc"}, "ld.global.v4.b32", 2, "st.global.v4.u32", 1},
        {{K_ADD, DT_UINT16, LOOP_FLAT, 1, 8, 1, false, "", "c0c"}, "ld.global.v4.u32", 1, "st.global.v4.u32", 1},
        {{K_ADD, DT_FLOAT16, LOOP_FLAT, 1, 8, 1, false, "", "ccc"}, "ld.global.v4.u32", 2, "st.global.v4.u32", 1},
        {{K_LESS, DT_FLOAT32, LOOP_FLAT, 1, 16, 1, false, "", "ccc"}, "ld.global.v4.f32", 8, "st.global.v4.u32", 1},
        {{K_ADD, DT_FLOAT64, LOOP_FLAT, 1, 2, 2, false, "", "ccc"}, "ld.global.v2.f64", 4, "st.global.v2.f64", 2},
        {{K_ADD, DT_COMPLEX64, LOOP_FLAT, 1, 2, 1, false, "", "cnc"}, "ld.global.v4.f32", 1, "st.global.v4.f32", 1},
        {{K_ADD, DT_COMPLEX128, LOOP_FLAT, 1, 1, 2, false, "", "ccc"}, "ld.global.v2.f64", 4, "st.global.v2.f64", 2},
        {{K_REL_DIFF, DT_FLOAT32, LOOP_ROWS, 2, 4, 4, false, "", "0cfc"}, "ld.global.v4.f32", 1, "st.global.v4.f32", 4},
        {{K_REL_DIFF, DT_FLOAT32, LOOP_ROWS, 2, 4, 4, false, "", "ccfc"}, "ld.global.v4.f32", 3, "st.global.v4.f32", 2},
        {{K_REL_DIFF, DT_FLOAT32, LOOP_ROWS, 3, 4, 2, false, "", "ccc"}, "ld.global.v4.f32", 2, "st.global.v4.f32", 1},
        {{K_REL_DIFF, DT_FLOAT32, LOOP_GENERAL, 3, 1, 4, false, "", "ssc"}, "ld.global.f32", 8, "st.global.f32", 4},
        {{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 4, 4, false, "", "cxc"}, "ld.global.v4.f32", 8, "st.global.v4.f32", 4},
        {{K_ADD, DT_FLOAT32, LOOP_TILE, 3, 4, 4, false, "", "xxc"}, "ld.shared.v4.f32", 8, "st.shared.v4.f32", 8},
        {{K_ADD, DT_UINT8, LOOP_TILE, 2, 8, 8, false, "", "nxc"}, "ld.global.v4.u32", 4, "st.global.v2.u32", 8},
        {{K_ADD, DT_FLOAT64, LOOP_TILE, 2, 2, 2, false, "", "cxc"}, "ld.shared.v2.f64", 2, "st.shared.v2.f64", 2},
        {{K_ADD, DT_UINT8, LOOP_TILE, 2, 16, 3, false, "", "nic"}, "ld.global.v4.b32", 3, "st.global.v4.u32", 3},
        {{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 4, 3, false, "", "cni"}, "ld.global.v4.f32", 3, "st.global.v4.u32", 3},
    };
    static const int archs[] = {75, 90, 100};
    for (size_t i = 0; i < COUNT(facts); i++) {
        char *ptx = ptx_of(&facts[i].k, archs[i % COUNT(archs)]);
        if (count(ptx, facts[i].access) != facts[i].loads || count(ptx, facts[i].store) != facts[i].stores ||
            !loads_first(ptx) || strstr(ptx, ".local") || !strstr(ptx, ".maxntid 256") || strstr(ptx, "div.s") ||
            strstr(ptx, "div.u") || strstr(ptx, "rem."))
            fail_msg("fact %zu\n%s", i, ptx);
        free(ptx);
    }
}

/* Kernels of halves whose every result is rounded are computed by pairs, where the architecture has the instructions; others not. */
static void test_pairs_of_halves(void **unused) {
    (void)unused;
    static const struct {
        kernel k;
        dtype t;
        const char *kinds;
        int arch;
        const char *instruction;
        int count;
    } rows[] = {
        {K_ADD, DT_FLOAT16, "ccc", 75, "add.rn.f16x2", 4},     {K_CHAIN, DT_FLOAT16, "ccc", 90, "mul.rn.f16x2", 8},
        {K_CHAIN, DT_BFLOAT16, "ccc", 90, "mul.rn.bf16x2", 8}, {K_CHAIN, DT_BFLOAT16, "ccc", 120, "sub.rn.bf16x2", 12},
        {K_CHAIN, DT_BFLOAT16, "ccc", 80, "rn.bf16x2\t", 0},   {K_REL_DIFF, DT_FLOAT16, "ccc", 90, "f16x2", 0},
        {K_TWO, DT_BFLOAT16, "cccc", 90, "add.rn.bf16x2", 4},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        sketch k = {rows[i].k, rows[i].t, LOOP_FLAT, 1, 8, 1, false, "", rows[i].kinds};
        char *ptx = ptx_of(&k, rows[i].arch);
        if (count(ptx, rows[i].instruction) != rows[i].count)
            fail_msg("row %zu: %d of %s\n%s", i, count(ptx, rows[i].instruction), rows[i].instruction, ptx);
        free(ptx);
    }
}

/* Bytes without a sign are taken out of their word by one instruction each. */
static void test_bytes_of_words(void **unused) {
    (void)unused;
    static const struct {
        const char *memory;
        int taken;
    } rows[] = {{"uint8,uint8,int32", 32}, {"uint8,int32,int32", 16}, {"int8,int8,int32", 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        sketch k = {K_ADD, DT_INT32, LOOP_FLAT, 1, 16, 1, false, rows[i].memory, "ccc"};
        char *ptx = ptx_of(&k, 90);
        if (count(ptx, "prmt.b32") != rows[i].taken)
            fail_msg("row %zu: %d taken\n%s", i, count(ptx, "prmt.b32"), ptx);
        free(ptx);
    }
}

/* Each row on one architecture in turn, so that all see every class. */
static void test_ptx_assembles(void **unused) {
    (void)unused;
    static const sketch sketches[] = {
        {K_ADD, DT_INT16, LOOP_FLAT, 1, 8, 2, true, "int8,int64,uint16", "cccc"},
        {K_TWO, DT_BFLOAT16, LOOP_FLAT, 1, 8, 1, false, "", "c0cc"},
        {K_LESS, DT_FLOAT64, LOOP_FLAT, 1, 4, 1, false, "uint64,float16,bool", "ccc"},
        {K_SIN, DT_FLOAT32, LOOP_FLAT, 1, 4, 1, false, "", "cc"},
        {K_BITS, DT_INT64, LOOP_FLAT, 1, 1, 1, true, "", "ccc"},
        {K_ADD, DT_COMPLEX128, LOOP_ROWS, 4, 1, 2, false, "complex64,float32,complex128", "c0fc"},
        {K_REL_DIFF, DT_FLOAT32, LOOP_ROWS, 2, 16, 2, false, "int8,uint8,bool", "ccfc"},
        {K_TWO, DT_INT32, LOOP_ROWS, 3, 4, 3, true, "", "cncc0"},
        {K_REL_DIFF, DT_FLOAT64, LOOP_GENERAL, 6, 1, 4, false, "", "s0s"},
        {K_ADD, DT_COMPLEX64, LOOP_GENERAL, 1, 1, 2, true, "", "nsss"},
    };
    static const int archs[] = {75, 80, 90, 100, 120};
    for (size_t i = 0; i < COUNT(sketches); i++) {
        int arch = archs[(i + (size_t)pick(0, 4)) % COUNT(archs)];
        debug = i % 3 == 0;
        char *ptx = ptx_of(&sketches[i], arch);
        if (strstr(ptx, ", debug") || (debug && !strstr(ptx, ".loc")))
            fail_msg("sketch %zu, sm_%d\n%s", i, arch, ptx);
        free(ptx);
    }
    debug = false;
}

/* ---- Every LLVM there is reads it ---- */

static void test_llvm_reads(void **unused) {
    (void)unused;
    assert_true(judge_count() > 0);
    for (int i = 0; i < trials(60); i++) {
        loop l;
        bool on_gpu = chance(50);
        arena a = {0};
        code_module m;
        if (chance(25)) {
            int64_t space[MAX_DIMS + (MAX_DIMS + 1) * MAX_OPERANDS];
            random_tile(&l, on_gpu);
            nd_loop nd = nd_of(&l, space);
            loop_problem problem = {.loop = &nd, .traits = &(code_traits){.nodes = 20, .has_loop = l.k == K_BITS}};
            (on_gpu ? gpu_specialise : cpu_engine.specialise)(&l.v, &problem);
        } else {
            random_loop(&l, (loop_class)pick(0, LOOP_GENERAL), on_gpu, false);
        }
        code_target target = {
            .gpu = on_gpu, .arch = 90, .vector_bits = on_gpu ? 0 : 128 << pick(0, 2), .f16c = chance(50)};
        debug = chance(30);
        check(generate(&a, &l, &target, &m));
        debug = false;
        const char *wrong = judge_ir(i % judge_count(), m.ir.data);
        if (wrong)
            fail_msg("%s\n%s", wrong, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
        loop_free(&l);
    }
}

/* ---- The CPU's loops are vector loops ---- */

static bool has_one(const char *in, const char *names) {
    for (size_t n; n = strcspn(names, "|"), n; names += n + (names[n] == '|'))
        if (memmem(in, strlen(in), names, n))
            return true;
    return false;
}

static void test_cpu_vectors(void **unused) {
    (void)unused;
    static const struct {
        sketch k;
        const char *packed; /* what must be there on vectors; with a bar between them, one of these */
        /* LIGHT: it goes by narrow vectors where these read faster. GATHERED: under a mask, which LLVM takes for slower than elements one by one
         * on some processors with AVX2 alone. */
        enum {
            PLAIN,
            LIGHT,
            GATHERED
        } how;
    } facts[] = {
        {{K_REL_DIFF, DT_FLOAT32, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, "divps", PLAIN},
        {{K_REL_DIFF, DT_FLOAT32, LOOP_FLAT, 1, 1, 1, false, "", "c0c"}, "divps", PLAIN},
        {{K_REL_DIFF, DT_FLOAT32, LOOP_FLAT, 1, 1, 1, true, "", "cccc"}, "divps", PLAIN},
        {{K_REL_DIFF, DT_FLOAT32, LOOP_ROWS, 2, 1, 1, false, "", "cnc"}, "divps", PLAIN},
        {{K_REL_DIFF, DT_FLOAT32, LOOP_GENERAL, 2, 1, 1, true, "", "scsc"}, "divps", GATHERED},
        {{K_SIN, DT_FLOAT64, LOOP_GENERAL, 2, 1, 1, false, "", "ss"}, "_ZGV", PLAIN},
        {{K_REL_DIFF, DT_FLOAT64, LOOP_FLAT, 1, 1, 1, false, "float32,int32,float32", "ccc"}, "divpd", PLAIN},
        {{K_REL_DIFF, DT_FLOAT32, LOOP_TILE, 2, 4, 4, false, "", "xcc"}, "divps", PLAIN},
        {{K_REL_DIFF, DT_FLOAT32, LOOP_TILE, 2, 4, 4, false, "", "xcc"}, "unpckhp|punpckhdq|vperm", PLAIN},
        {{K_REL_DIFF, DT_FLOAT32, LOOP_TILE, 2, 4, 3, false, "", "cic"}, "divps", PLAIN},
        {{K_ADD, DT_INT8, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, "paddb", LIGHT},
        {{K_ADD, DT_FLOAT64, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, "addpd", LIGHT},
        {{K_ADD, DT_FLOAT64, LOOP_FLAT, 1, 1, 1, true, "", "cccc"}, "addpd", PLAIN},
        {{K_LESS, DT_FLOAT32, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, "cmp", LIGHT},
        {{K_ADD, DT_COMPLEX64, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, "addps", LIGHT},
        {{K_SIN, DT_FLOAT64, LOOP_FLAT, 1, 1, 1, false, "", "cc"}, "_ZGV", PLAIN},
        {{K_SIN, DT_FLOAT32, LOOP_FLAT, 1, 1, 1, false, "", "cc"}, "fmadd|fmsub", PLAIN},
    };
    if (host.vector_bits < 256)
        skip();
    for (size_t i = 0; i < 2 * COUNT(facts); i++) {
        arena a = {0};
        text assembly = {0};
        code_target target = host;
        if (facts[i / 2].how == GATHERED && host.vector_bits == 256)
            continue;
        target.narrow_reads = i % 2;
        code_module m = module_of(&a, &facts[i / 2].k, &target);
        check(cpu_inspect(&m, &target, 0, UF_VIEW_ASSEMBLY, &assembly));
        bool narrow = host.vector_bits == 256 || (facts[i / 2].how == LIGHT && target.narrow_reads);
        bool wide = strstr(assembly.data, "%zmm") != NULL;
        if (!has_one(assembly.data, facts[i / 2].packed) || wide == narrow || !has_one(assembly.data, "%zmm|%ymm"))
            fail_msg("fact %zu: %s\n%s", i, facts[i / 2].packed, assembly.data);
        text_free(&assembly);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Narrow vectors are four at once, but of bytes two: a short array has no 128 of them. */
static void test_cpu_narrow_vectors(void **unused) {
    (void)unused;
    static const struct {
        dtype type;
        int at_once;
    } cases[] = {{DT_INT8, 2}, {DT_INT16, 4}, {DT_FLOAT32, 4}, {DT_FLOAT64, 4}};
    code_target target = host;
    target.narrow_reads = true;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        char hint[64];
        const sketch k = {K_ADD, cases[i].type, LOOP_FLAT, 1, 1, 1, false, "", "ccc"};
        code_module m = module_of(&a, &k, &target);
        snprintf(hint, sizeof hint, "interleave.count\", i32 %d}", cases[i].at_once);
        if (!strstr(m.ir.data, hint))
            fail_msg("%s: no %s\n%s", dtypes[cases[i].type].name, hint, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Loops with math functions say how many lanes these have where elements are of another size; pairs are two numbers. */
static void test_cpu_math_lanes(void **unused) {
    (void)unused;
    static const struct {
        dtype type;
        bool says;
    } cases[] = {{DT_FLOAT32, false}, {DT_FLOAT64, false}, {DT_FLOAT16, true}, {DT_COMPLEX64, false}};
    if (host.vector_bits < 256)
        skip();
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        sketch k = {K_SIN, cases[i].type, LOOP_FLAT, 1, 1, 1, false, "", "cc"};
        code_target target = host;
        target.vector_bits = 128; /* else what is left goes by vectors, too */
        code_module m = module_of(&a, &k, &target);
        if (!strstr(m.ir.data, "llvm.loop.vectorize.width") == cases[i].says)
            fail_msg("%s\n%s", dtypes[cases[i].type].name, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

static bool ir_has(const sketch *k, const code_target *target, const char *what) {
    arena a = {0};
    code_module m = module_of(&a, k, target);
    bool has = strstr(m.ir.data, what) != NULL;
    text_free(&m.ir);
    arena_free(&a);
    return has;
}

/* Complex numbers whose parts are neighbours in vectors of 256 bits: where nothing but sums, products and parts of them is computed, and all
 * operands are of one dtype. */
static void test_cpu_pairs(void **unused) {
    (void)unused;
    static const struct {
        sketch k;
        bool pairs;
    } cases[] = {{{K_ADD, DT_COMPLEX64, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, true},
                 {{K_PRODUCT, DT_COMPLEX64, LOOP_FLAT, 1, 1, 1, false, "", "c0c"}, true},
                 {{K_PRODUCT, DT_COMPLEX128, LOOP_GENERAL, 2, 1, 1, false, "", "scs"}, true},
                 {{K_TWO, DT_COMPLEX128, LOOP_ROWS, 2, 1, 1, false, "", "cncc"}, true},
                 {{K_ADD, DT_COMPLEX64, LOOP_FLAT, 1, 1, 1, true, "", "cccc"}, false},
                 {{K_ADD, DT_COMPLEX64, LOOP_FLAT, 1, 1, 1, false, "complex64,float32,complex64", "ccc"}, false},
                 {{K_REL_DIFF, DT_COMPLEX64, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *vectors = cases[i].k.t == DT_COMPLEX64 ? "<8 x float>" : "<4 x double>";
        code_target target = {.vector_bits = 256};
        if (ir_has(&cases[i].k, &target, vectors) != cases[i].pairs)
            fail_msg("case %zu", i);
    }
}

/* What a loop asks for: of a row one vector at a time; where results are smaller than operands, lanes for more of them, unless the vectors have 512
 * bits. */
static void test_cpu_hints(void **unused) {
    (void)unused;
    static const char *const one = "llvm.loop.interleave.count\", i32 1}", *const lanes =
                                                                               "llvm.loop.vectorize.width\", i32 16}";
    static const struct {
        sketch k;
        int bits;
        bool one, lanes;
    } cases[] = {{{K_ADD, DT_FLOAT32, LOOP_ROWS, 2, 1, 1, false, "", "c0c"}, 256, true, false},
                 {{K_ADD, DT_FLOAT32, LOOP_GENERAL, 2, 1, 1, false, "", "ccc"}, 512, true, false},
                 {{K_ADD, DT_FLOAT32, LOOP_GENERAL, 2, 1, 1, true, "", "cccc"}, 256, false, false},
                 {{K_ADD, DT_FLOAT32, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, 256, false, false},
                 {{K_LESS, DT_FLOAT64, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, 256, true, true},
                 {{K_LESS, DT_INT8, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, 256, false, false},
                 {{K_LESS, DT_FLOAT64, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, 512, false, false}};
    const sketch bytes = {K_ADD, DT_INT8, LOOP_ROWS, 2, 1, 1, false, "", "c0c"};
    for (int bits = 256; bits <= 512; bits *= 2) { /* a row of bytes ends by shorter vectors */
        code_target target = {.vector_bits = bits};
        assert_true(ir_has(&bytes, &target, bits == 256 ? "width\", i32 32}" : "width\", i32 64}") &&
                    ir_has(&bytes, &target, "width\", i32 8}"));
    }
    /* A row of comparisons by several vectors of 512 bits at once, and then by one. */
    const sketch row = {K_LESS, DT_FLOAT32, LOOP_ROWS, 2, 1, 1, false, "", "c0c"};
    const code_target long_vectors = {.vector_bits = 512};
    assert_true(ir_has(&row, &long_vectors, "interleave.count\", i32 4}") &&
                ir_has(&row, &long_vectors, "width\", i32 16}") && ir_has(&row, &long_vectors, "width\", i32 8}"));
    for (size_t i = 0; i < COUNT(cases); i++) {
        code_target target = {.vector_bits = cases[i].bits};
        if (ir_has(&cases[i].k, &target, one) != cases[i].one || ir_has(&cases[i].k, &target, lanes) != cases[i].lanes)
            fail_msg("case %zu", i);
    }
}

/* Records of a narrow dimension are vectors themselves if they have 16 bytes or eight elements, and several operands are such. No vectors
 * are made of loops over longer ones that are written, or that are of complex numbers or of less than 4 bytes. */
static void test_cpu_records(void **unused) {
    (void)unused;
    static const struct {
        sketch k;
        bool vectors;
    } cases[] = {{{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 4, 4, false, "", "cii"}, true},
                 {{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 4, 3, false, "", "cii"}, false},
                 {{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 4, 4, false, "", "cci"}, false},
                 {{K_ADD, DT_INT8, LOOP_TILE, 2, 4, 4, false, "", "cii"}, false},
                 {{K_ADD, DT_INT8, LOOP_TILE, 2, 4, 8, false, "", "cii"}, true},
                 {{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 4, 10, false, "", "cci"}, true},
                 {{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 4, 10, false, "", "cic"}, false},
                 {{K_ADD, DT_INT16, LOOP_TILE, 2, 4, 10, false, "", "cic"}, true},
                 {{K_ADD, DT_INT16, LOOP_TILE, 2, 4, 6, false, "", "cic"}, false},
                 {{K_ADD, DT_COMPLEX64, LOOP_TILE, 2, 4, 5, false, "", "cic"}, true},
                 {{K_ADD, DT_COMPLEX64, LOOP_TILE, 2, 4, 4, false, "", "cic"}, false}};
    static const code_target target = {.vector_bits = 256};
    for (size_t i = 0; i < COUNT(cases); i++)
        if (ir_has(&cases[i].k, &target, "llvm.loop.vectorize.enable\", i1 false") != cases[i].vectors)
            fail_msg("case %zu", i);
    code_traits light = {.nodes = 5}, heavy = {.nodes = 50}, loops = {.nodes = 5, .has_loop = true};
    assert_int_equal(cpu_engine.tile_narrow(&light), CPU_NARROW_MAX);
    assert_true(cpu_engine.tile_narrow(&heavy) < CPU_NARROW_MAX && cpu_engine.tile_narrow(&loops) < CPU_NARROW_MAX);
}

/* What goes by single elements: those with gaps between them where vectors of them are gathered and scattered, but where a division takes longer; and
 * complex numbers that are compared. */
static void test_cpu_gaps(void **unused) {
    (void)unused;
    static const char no_vectors[] = "llvm.loop.vectorize.enable\", i1 false";
    static const struct {
        sketch k;
        bool singly[2]; /* with vectors of 256 and of 512 bits */
    } cases[] = {{{K_ADD, DT_FLOAT64, LOOP_GENERAL, 2, 1, 1, false, "", "ssc"}, {false, true}},
                 {{K_ADD, DT_INT32, LOOP_GENERAL, 2, 1, 1, false, "", "ccs"}, {false, true}},
                 {{K_ADD, DT_INT8, LOOP_GENERAL, 2, 1, 1, false, "", "ssc"}, {false, true}},
                 {{K_ADD, DT_INT64, LOOP_GENERAL, 2, 1, 1, false, "", "ccs"}, {true, true}},
                 {{K_REL_DIFF, DT_FLOAT32, LOOP_GENERAL, 2, 1, 1, false, "", "scs"}, {false, false}},
                 {{K_EQUAL, DT_COMPLEX64, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, {true, false}},
                 {{K_EQUAL, DT_FLOAT32, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, {false, false}}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int wide = 0; wide < 2; wide++) {
            const code_target target = {.vector_bits = wide ? 512 : 256};
            if (ir_has(&cases[i].k, &target, no_vectors) != cases[i].singly[wide])
                fail_msg("case %zu, %d bits", i, target.vector_bits);
        }
}

/* Places of every second element do not wrap, without which LLVM gathers them. */
static void test_cpu_every_second(void **unused) {
    (void)unused;
    static const code_target target = {.vector_bits = 512};
    static const struct {
        sketch k;
        bool told;
    } cases[] = {{{K_ADD, DT_FLOAT32, LOOP_GENERAL, 2, 1, 2, false, "", "iic"}, true},
                 {{K_ADD, DT_FLOAT64, LOOP_ROWS, 2, 1, 2, false, "", "cic"}, true},
                 {{K_ADD, DT_FLOAT32, LOOP_GENERAL, 2, 1, 3, false, "", "iic"}, false},
                 {{K_ADD, DT_FLOAT32, LOOP_GENERAL, 2, 1, 1, false, "", "ssc"}, false}};
    for (size_t i = 0; i < COUNT(cases); i++)
        if (ir_has(&cases[i].k, &target, "mul nsw i64") != cases[i].told)
            fail_msg("case %zu", i);
}

/* Rows of quotients and square roots end by a vector whose lanes have conditions, or by one of half the lanes if those are more than four; not
 * where AVX2 puts vectors together of single elements, or writes them so. */
static void test_cpu_roots(void **unused) {
    (void)unused;
    static const struct {
        sketch k;
        int bits;
        bool eight, sixteen; /* lanes */
    } cases[] = {{{K_REL_DIFF, DT_FLOAT32, LOOP_ROWS, 2, 1, 1, false, "", "ccc"}, 512, true, true},
                 {{K_REL_DIFF, DT_FLOAT32, LOOP_GENERAL, 2, 1, 1, false, "", "scs"}, 512, true, true},
                 {{K_REL_DIFF, DT_FLOAT64, LOOP_GENERAL, 2, 1, 1, false, "", "ccs"}, 512, true, false},
                 {{K_REL_DIFF, DT_FLOAT32, LOOP_ROWS, 2, 1, 1, false, "", "c0c"}, 256, true, false},
                 {{K_REL_DIFF, DT_FLOAT32, LOOP_GENERAL, 2, 1, 1, false, "", "scc"}, 256, false, false},
                 {{K_REL_DIFF, DT_FLOAT32, LOOP_ROWS, 2, 1, 1, true, "", "cccc"}, 512, false, false},
                 {{K_REL_DIFF, DT_FLOAT32, LOOP_FLAT, 1, 1, 1, false, "", "ccc"}, 512, false, false},
                 {{K_ADD, DT_FLOAT32, LOOP_GENERAL, 2, 1, 1, false, "", "scc"}, 512, false, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const code_target target = {.vector_bits = cases[i].bits};
        if (ir_has(&cases[i].k, &target, "vectorize.width\", i32 8}") != cases[i].eight ||
            ir_has(&cases[i].k, &target, "vectorize.width\", i32 16}") != cases[i].sixteen)
            fail_msg("case %zu", i);
    }
}

/* What no square of a tile has is copied element by element, without vectors for columns that lie side by side, which a tile's do not. */
static void test_cpu_rest_of_tile(void **unused) {
    (void)unused;
    static const struct {
        sketch k;
        int loops; /* that are to have no vectors */
    } cases[] = {{{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 4, 4, false, "", "xcc"}, 1},
                 {{K_ADD, DT_FLOAT64, LOOP_TILE, 2, 4, 4, false, "", "xxc"}, 2},
                 {{K_ADD, DT_INT8, LOOP_TILE, 2, 4, 4, false, "", "xcc"}, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        code_module m = module_of(&a, &cases[i].k, &host);
        int loops = 0;
        for (const char *at = m.ir.data; (at = strstr(at, "llvm.loop.vectorize.enable\", i1 false")) != NULL; at++)
            loops++;
        if (loops != cases[i].loops)
            fail_msg("case %zu: %d\n%s", i, loops, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Lines of a tile are turned, for which the address is a number, where a warp writes a part of a line and its elements are neither few
 * bytes nor many. */
static void test_gpu_turned(void **unused) {
    (void)unused;
    static const struct {
        sketch k;
        bool turned;
    } cases[] = {{{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 4, 4, false, "", "cxc"}, true},
                 {{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 4, 4, false, "", "ccx"}, true},
                 {{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 4, 4, true, "", "cxcc"}, true},
                 {{K_ADD, DT_FLOAT32, LOOP_TILE, 2, 2, 2, false, "", "cxc"}, false},
                 {{K_ADD, DT_FLOAT64, LOOP_TILE, 2, 2, 2, false, "", "cxc"}, false},
                 {{K_ADD, DT_FLOAT64, LOOP_TILE, 2, 2, 2, false, "", "ccx"}, false},
                 {{K_ADD, DT_INT8, LOOP_TILE, 2, 8, 8, false, "", "ccx"}, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        code_module m = module_of(&a, &cases[i].k, &gpu);
        if ((strstr(m.ir.data, "ptrtoint") != NULL) != cases[i].turned)
            fail_msg("case %zu\n%s", i, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* ---- Goldens ---- */

static void test_goldens(void **unused) {
    (void)unused;
    static const code_target cpu = {.vector_bits = 256, .f16c = true};
    static const sketch k = {K_REL_DIFF, DT_FLOAT32, LOOP_FLAT, 1, 1, 1, false, "", "ccc"},
                        four = {K_REL_DIFF, DT_FLOAT32, LOOP_FLAT, 1, 4, 1, false, "", "ccc"},
                        across = {K_ADD, DT_FLOAT64, LOOP_TILE, 2, 2, 2, false, "", "cxc"},
                        halo = {K_ADD, DT_FLOAT64, LOOP_TILE, 2, 2, 2, false, "", "ccx"};
    arena a = {0};
    code_module m = module_of(&a, &k, &cpu);
    judge_golden("elementwise_cpu", &m);
    debug = true;
    m = module_of(&a, &four, &gpu);
    debug = false;
    judge_golden("elementwise_gpu", &m);
    m = module_of(&a, &across, &cpu);
    judge_golden("tile_cpu", &m);
    m = module_of(&a, &across, &gpu);
    judge_golden("tile_gpu", &m);
    loop l = loop_of(&halo);
    l.v.tile.halo = 4;
    check(generate(&a, &l, &gpu, &m));
    judge_golden("tile_halo_gpu", &m);
    arena_free(&a);
}

/* ---- Memory ---- */

static void test_out_of_memory(void **unused) {
    (void)unused;
    static const sketch k = {K_TWO, DT_FLOAT16, LOOP_ROWS, 3, 4, 2, true, "int8,float32,float64", "c0fcc0"};
    loop l = loop_of(&k);
    arena trees = {0};
    const tree *t = make_tree(&trees, l.k, l.t);
    uf_status status = UF_ERR_MEMORY;
    int failures = 0;
    for (int64_t n = 0; status; n += 1 + n / 16, failures++) {
        arena a = {0};
        code_module m = {.flags = UF_DEBUG};
        allocations_fail_after(n);
        status = ir_elementwise(&a, "f", t, &l.v, &gpu, &m);
        allocations_succeed();
        assert_true(status == UF_OK || status == UF_ERR_MEMORY);
        text_free(&m.ir);
        arena_free(&a);
    }
    assert_true(failures > 10);
    arena_free(&trees);
}

int main(void) {
    if (cpu_engine.target(0, &host)) {
        print_message("%s\n", uf_last_error()->message);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_flat),         cmocka_unit_test(test_cpu_rows),
        cmocka_unit_test(test_cpu_general),      cmocka_unit_test(test_cpu_tile),
        cmocka_unit_test(test_narrow_tiles),     cmocka_unit_test(test_gpu_tile),
        cmocka_unit_test(test_gpu_turned),       cmocka_unit_test(test_gpu_flat),
        cmocka_unit_test(test_gpu_halves),       cmocka_unit_test(test_gpu_rows),
        cmocka_unit_test(test_gpu_general),      cmocka_unit_test(test_ptx_facts),
        cmocka_unit_test(test_bytes_of_words),   cmocka_unit_test(test_pairs_of_halves),
        cmocka_unit_test(test_ptx_assembles),    cmocka_unit_test(test_llvm_reads),
        cmocka_unit_test(test_cpu_vectors),      cmocka_unit_test(test_cpu_narrow_vectors),
        cmocka_unit_test(test_cpu_records),      cmocka_unit_test(test_cpu_pairs),
        cmocka_unit_test(test_cpu_hints),        cmocka_unit_test(test_cpu_gaps),
        cmocka_unit_test(test_cpu_every_second), cmocka_unit_test(test_cpu_math_lanes),
        cmocka_unit_test(test_cpu_rest_of_tile), cmocka_unit_test(test_cpu_roots),
        cmocka_unit_test(test_goldens),          cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
