/* bench_shapes.c - our side of the benchmark of shapes on the GPU: operands that are broadcast, lie apart, across or under a mask, and axes in the
 * middle, beside a copy of as many bytes as are read and written. Some thousand elements' results are compared with the CPU's before a case is timed.
 * Argument: what the name of a case must contain. */
#include "bench.h"

enum {
    RANK = 3,
    OPERANDS = 4,
    CHECKED = 50,        /* of the first dimension */
    LARGEST = 1 << 29,   /* bytes of the largest operand of a case */
    ROOM = LARGEST + 256 /* and of gaps */
};

typedef enum shape_kind {
    CALLS,
    MASKED, /* the last operand is the mask */
    REDUCES,
    SCANS
} shape_kind;

/* An operand is a word: the dimensions that it moves along, the first to change last ("ab" is in C order, "b" the same row for all, "ba" lies across);
 * "+": one element lies between its rows; "^": it is read backwards. The first dimension is as long as fills LARGEST bytes. */
typedef struct shape_case {
    const char *name, *text, *signature;
    shape_kind kind;
    DLDataType type[OPERANDS];
    const char *operand[OPERANDS];
    int64_t rest[RANK - 1]; /* extents of the other dimensions, up to a 0 */
} shape_case;

#define ADD "(x, z) { return x + z; }"
#define I8 \
    { kDLInt, 8, 1 }
#define U8 \
    { kDLUInt, 8, 1 }
#define BF16 \
    { kDLBfloat, 16, 1 }
#define F32 \
    { kDLFloat, 32, 1 }
#define BOOL \
    { UF_BOOL_CODE, 8, 1 }

static const shape_case cases[] = {
    {"row_bf16_1001", ADD, "bfloat16,bfloat16->bfloat16", CALLS, {BF16, BF16, BF16}, {"ab", "b", "ab"}, {1001}},
    {"row_bf16_100", ADD, "bfloat16,bfloat16->bfloat16", CALLS, {BF16, BF16, BF16}, {"ab", "b", "ab"}, {100}},
    {"row_i8_100", ADD, "int8,int8->int8", CALLS, {I8, I8, I8}, {"ab", "b", "ab"}, {100}},
    {"row_f32_33", ADD, "float32,float32->float32", CALLS, {F32, F32, F32}, {"ab", "b", "ab"}, {33}},
    {"column_bf16_100", ADD, "bfloat16,bfloat16->bfloat16", CALLS, {BF16, BF16, BF16}, {"ab", "a", "ab"}, {100}},
    {"outer_bf16_100", ADD, "bfloat16,bfloat16->bfloat16", CALLS, {BF16, BF16, BF16}, {"a", "b", "ab"}, {100}},
    {"apart_bf16_1000", ADD, "bfloat16,bfloat16->bfloat16", CALLS, {BF16, BF16, BF16}, {"ab+", "ab", "ab"}, {1000}},
    {"backwards_i8", ADD, "int8,int8->int8", CALLS, {I8, I8, I8}, {"ab^", "ab", "ab"}, {1000}},
    {"channel_bf16_7x33", ADD, "bfloat16,bfloat16->bfloat16", CALLS, {BF16, BF16, BF16}, {"abc", "b", "abc"}, {7, 33}},
    {"mask_f32", ADD, "float32,float32->float32", MASKED, {F32, F32, F32, BOOL}, {"ab", "ab", "ab", "ab"}, {100}},
    {"mask_i8", ADD, "int8,int8->int8", MASKED, {I8, I8, I8, BOOL}, {"ab", "ab", "ab", "ab"}, {100}},
    {"pixels_f32_3", "(x) { return -x; }", "float32->float32", CALLS, {F32, F32}, {"ba", "ab"}, {3}},
    {"pixels_f32_8", "(x) { return -x; }", "float32->float32", CALLS, {F32, F32}, {"ba", "ab"}, {8}},
    {"pixels_u8_f32_4", "(x) { return x; }", "uint8->float32", CALLS, {U8, F32}, {"ba", "ab"}, {4}},
    {"sum_f32_17x33", "sum", NULL, REDUCES, {F32, F32}, {"abc", "ac"}, {17, 33}},
    {"sum_f32_64x64", "sum", NULL, REDUCES, {F32, F32}, {"abc", "ac"}, {64, 64}},
    {"max_bf16_64x64", "max", NULL, REDUCES, {BF16, BF16}, {"abc", "ac"}, {64, 64}},
    {"cumsum_f32_17x33", "cumsum", NULL, SCANS, {F32, F32}, {"abc", "abc"}, {17, 33}},
    {"cumsum_f32_64x64", "cumsum", NULL, SCANS, {F32, F32}, {"abc", "abc"}, {64, 64}},
    {"cumsum_bf16_20x100", "cumsum", NULL, SCANS, {BF16, BF16}, {"abc", "abc"}, {20, 100}},
};

/* The shapes live here: do not copy. */
typedef struct shape_call {
    uf_func *f;
    shape_kind kind;
    int nargs, axis;
    int64_t bytes; /* of all operands */
    DLTensor args[OPERANDS];
    int64_t shape[OPERANDS][RANK], strides[OPERANDS][RANK];
    uf_options options;
} shape_call;

static void shape_run(void *user) {
    shape_call *c = user;
    if (c->kind == REDUCES)
        MUST(uf_reduce(c->f, 2, c->args,
                       &(uf_reduce_options){.size = sizeof(uf_reduce_options), .naxes = 1, .axes = &c->axis}));
    else if (c->kind == SCANS)
        MUST(uf_accumulate(c->f, 2, c->args, c->axis, NULL));
    else
        MUST(uf_call(c->f, c->nargs, c->args, &c->options));
}

/* The tensor of operand k over memory of the device. Returns the bytes of its elements. */
static int64_t operand_make(shape_call *c, const shape_case *x, int k, const int64_t *extent, int rank, void *data,
                            DLDevice device) {
    int64_t step = 1, count = 1, of[RANK] = {0};
    const char *word = x->operand[k];
    bool apart = strchr(word, '+'), backwards = strchr(word, '^');
    int n = (int)strspn(word, "abc"), bits = x->type[k].bits;
    DLTensor *t = &c->args[k];
    *t = (DLTensor){.device = device, .dtype = x->type[k], .shape = c->shape[k], .strides = c->strides[k]};
    for (int i = n - 1; i >= 0; i--) {
        int d = word[i] - 'a';
        of[d] = step;
        step = step * extent[d] + (i == n - 1 && apart);
        count *= extent[d];
    }
    int last = word[n - 1] - 'a';
    t->data = (char *)data + (backwards ? (extent[last] - 1) * (bits / 8) : 0);
    of[last] = backwards ? -of[last] : of[last];
    for (int d = 0; d < rank; d++) {
        bool has = memchr(word, 'a' + d, (size_t)n);
        if (!has && k == 1 && x->kind == REDUCES)
            continue;
        c->shape[k][t->ndim] = has ? extent[d] : 1;
        c->strides[k][t->ndim++] = of[d];
    }
    return count * (bits / 8);
}

static int rank_of(const shape_case *x) { return x->rest[1] ? 3 : 2; }

static int last_operand(const shape_case *x) {
    int k = 0;
    while (k + 1 < OPERANDS && x->operand[k + 1])
        k++;
    return k;
}

/* The bytes that one index of the first dimension takes in the operand that takes most. */
static int64_t bytes_each(const shape_case *x) {
    int64_t rest = x->rest[0] * (x->rest[1] ? x->rest[1] : 1), most = 1;
    for (int k = 0; k < OPERANDS && x->operand[k]; k++)
        if (rest * (x->type[k].bits / 8) > most)
            most = rest * (x->type[k].bits / 8);
    return most;
}

static void call_make(shape_call *c, const shape_case *x, int64_t first, void *const *data, DLDevice device) {
    const int64_t extent[RANK] = {first, x->rest[0], x->rest[1] ? x->rest[1] : 1};
    *c = (shape_call){.kind = x->kind, .axis = 1, .options = {.size = sizeof c->options}};
    for (int k = 0; k < OPERANDS && x->operand[k]; k++, c->nargs++)
        c->bytes += operand_make(c, x, k, extent, rank_of(x), data[k], device);
    if (x->kind == MASKED)
        c->options.where = &c->args[--c->nargs];
    if (x->signature)
        MUST(uf_vectorize(&c->f, x->name, x->signature, x->text));
    else
        MUST(uf_load(&c->f, x->text));
}

static void copy_bytes(void *to, DLDevice to_device, void *from, DLDevice from_device, int64_t bytes) {
    DLTensor a = {.data = to, .device = to_device, .ndim = 1, .dtype = U8, .shape = &bytes}, b = a;
    b.data = from;
    b.device = from_device;
    MUST(uf_copy(&a, &b, NULL));
}

/* Small whole numbers, so that sums are exact in every dtype; under a mask, ones. */
static void fill(void *to, DLDataType type, int64_t n) {
    uint8_t *small = memory((size_t)n);
    for (int64_t i = 0; i < n; i++)
        small[i] = (uint8_t)(type.code == UF_BOOL_CODE ? 1 : noise(0, 3));
    DLTensor from = {.data = small, .device = {kDLCPU, 0}, .ndim = 1, .dtype = U8, .shape = &n}, all = from;
    all.data = to;
    all.dtype = type.code == UF_BOOL_CODE ? (DLDataType)U8 : type;
    MUST(uf_copy(&all, &from, NULL));
    free(small);
}

/* Does a small array of the case have the CPU's results? */
static void shape_check(const shape_case *x, void *const *there) {
    const DLDevice cpu = {kDLCPU, 0}, gpu = {kDLCUDA, 0};
    const int64_t room = CHECKED * bytes_each(x) + 4096;
    int out = last_operand(x) - (x->kind == MASKED);
    void *here[OPERANDS], *got = memory((size_t)room);
    shape_call host, device;
    for (int k = 0; k < OPERANDS; k++)
        here[k] = memory((size_t)room);
    for (int k = 0; k < OPERANDS && x->operand[k]; k++) {
        if (k != out)
            fill(here[k], x->type[k], room / (x->type[k].bits / 8));
        copy_bytes(there[k], gpu, here[k], cpu, room);
    }
    call_make(&host, x, CHECKED, here, cpu);
    call_make(&device, x, CHECKED, there, gpu);
    shape_run(&host);
    shape_run(&device);
    copy_bytes(got, cpu, there[out], gpu, room);
    check(!memcmp(got, here[out], (size_t)room), x->name);
    uf_free(host.f);
    uf_free(device.f);
    free(got);
    for (int k = 0; k < OPERANDS; k++)
        free(here[k]);
}

/* A mask that is true everywhere. */
static void fill_ones(void *to) {
    int64_t n = LARGEST;
    DLTensor all = {.data = to, .device = {kDLCUDA, 0}, .ndim = 1, .dtype = U8, .shape = &n};
    uf_func *f;
    MUST(uf_vectorize(&f, "ones", "uint8->uint8", "(x) { return 1; }"));
    MUST(uf_call(f, 2, (DLTensor[]){all, all}, NULL));
    uf_free(f);
}

static void copy_run(void *user) {
    void *const *there = user;
    cu.copy((unsigned long long)(uintptr_t)there[1], (unsigned long long)(uintptr_t)there[0], LARGEST, NULL);
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : "";
    double t[REPETITIONS], copied[REPETITIONS];
    void *there[OPERANDS];
    if (!driver_open())
        return 0;
    for (int k = 0; k < OPERANDS; k++)
        there[k] = on_gpu((DLDataType)U8, ROOM + LARGEST / 16).data;
    gpu_time(copy_run, there, copied, REPETITIONS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const shape_case *x = &cases[i];
        char name[64];
        shape_call c;
        snprintf(name, sizeof name, "gpu_shape_%s", x->name);
        if (!strstr(name, only))
            continue;
        shape_check(x, there);
        if (x->kind == MASKED)
            fill_ones(there[OPERANDS - 1]);
        call_make(&c, x, LARGEST / bytes_each(x), there, (DLDevice){kDLCUDA, 0});
        shape_run(&c);
        gpu_time(shape_run, &c, t, REPETITIONS);
        row(name, "libufunc", "GB/s", 1e-9 * (double)c.bytes, t, REPETITIONS);
        row(name, "cudaMemcpyAsync", "GB/s", 2e-9 * LARGEST, copied, REPETITIONS);
        uf_free(c.f);
    }
    return 0;
}
