/* fuzz_calls.c - calls of every verb on tensors that the bytes describe: dtypes, ranks, extents, strides, too few of them and too many, in
 * memory that ends at a page which nobody may touch. Whatever they are, the verb answers, and nothing outside of the arrays'
 * memory is read or written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ufunc.h>

#include "targets.h"

enum {
    ARRAYS = 6,
    RANK = 5,
    PAGE = 4096,
    ROOM = 16 * PAGE, /* of one array */
};

/* The bytes that are left; behind their end there are zeros. */
typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static uint8_t take(bytes *b) { return b->at < b->end ? *b->at++ : 0; }
static int below(bytes *b, int n) { return take(b) % n; }

/* ---- Functions: some of every kind ---- */

static uf_func *functions[20];
static int nfunctions;

static void keep(uf_status status, uf_func *const *f) {
    if (status || nfunctions == (int)(sizeof functions / sizeof *functions)) {
        fprintf(stderr, "%s\n", uf_last_error()->message);
        abort();
    }
    functions[nfunctions++] = *f;
}

static void make_functions(void) {
    static const char *const names[] = {"add", "multiply", "maximum", "less",    "sqrt",   "divmod",
                                        "sum", "argmax",   "mean",    "softmax", "matmul", "cross1d"};
    uf_func *f;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        keep(uf_load(&f, names[i]), &f);
    keep(uf_vectorize(&f, "any", NULL, "(x, y) { return x * y + 1; }"), &f);
    keep(uf_guvectorize(&f, "pick", "(n),(k)->(k)", "fl->f; dl->d",
                        "(x, at) -> (y) { forall (i : k) y[i] = x[at[i]]; }"),
         &f);
    keep(uf_kernel(&f, "window", "float32[], float32[]; float64[], float64[]",
                   "[i](x, y) { y[i] = x[i - 1] + x[i] + x[i + 1]; }"),
         &f);
    keep(uf_kernel(&f, "count", "uint8[], int64[]; int8[], int64[]", "[i](x, h) { atomic_add(h[(int64)x[i]], 1); }"),
         &f);
    keep(uf_kernel(&f, "plate", "float32[,], float32[,], float32",
                   "[i : n, j : m](u, v, k) { v[i][j] = u[i][j] + k * u[j][i]; }"),
         &f);
}

/* ---- Arrays ---- */

typedef struct memory {
    uint8_t *room; /* with a page before and a page behind it that cannot be touched */
    int64_t shape[RANK], strides[RANK];
} memory;

static memory memories[ARRAYS];

static void make_memory(void) {
    for (int k = 0; k < ARRAYS; k++) {
        uint8_t *all = mmap(NULL, ROOM + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED || mprotect(all + PAGE, ROOM, PROT_READ | PROT_WRITE))
            abort();
        memories[k].room = all + PAGE;
    }
}

static DLDataType type_from(bytes *b) {
    static const DLDataType types[] = {
        {kDLFloat, 32, 1}, {kDLFloat, 64, 1},  {kDLInt, 32, 1},      {kDLInt, 64, 1},     {kDLUInt, 8, 1},
        {kDLFloat, 16, 1}, {kDLBfloat, 16, 1}, {UF_BOOL_CODE, 8, 1}, {kDLInt, 8, 1},      {kDLInt, 16, 1},
        {kDLUInt, 16, 1},  {kDLUInt, 32, 1},   {kDLUInt, 64, 1},     {kDLComplex, 64, 1}, {kDLComplex, 128, 1}};
    int i = below(b, 18);
    if (i < 15)
        return types[i];
    return (DLDataType){take(b), take(b), take(b)};
}

/* Bytes of an element; 0: no such dtype is known here, and the library should not look at the memory. */
static int64_t size_of(DLDataType t) {
    int64_t bits = (int64_t)t.bits * t.lanes;
    return bits % 8 ? 0 : bits / 8;
}

/* An array whose first or last byte is next to a page that cannot be touched. sizes: extents that several arrays share. */
static DLTensor array_from(bytes *b, int k, const int64_t *sizes) {
    memory *m = &memories[k];
    DLTensor t = {
        .device = {kDLCPU, 0}, .ndim = below(b, RANK), .dtype = type_from(b), .shape = m->shape, .strides = m->strides};
    int64_t low = 0, high = 0, size = size_of(t.dtype), step = 1;
    int form = below(b, 4);
    bool empty = false;
    for (int d = t.ndim - 1; d >= 0; d--) {
        m->shape[d] = below(b, 8) ? sizes[below(b, 3)] : below(b, 4);
        m->strides[d] = form == 3 ? (int64_t)below(b, 15) - 7 : form == 2 ? -step : step;
        step *= m->shape[d];
        empty |= m->shape[d] == 0;
        int64_t reach = (m->shape[d] - 1) * m->strides[d];
        *(reach < 0 ? &low : &high) += reach;
    }
    if (form == 0)
        t.strides = NULL;
    if (t.ndim == 0 && below(b, 2))
        t.shape = NULL;
    int64_t span = empty ? 0 : (high - low + 1) * size;
    if (span > ROOM || span < 0 || size == 0) {
        t.data = NULL;
        return t;
    }
    int64_t first = below(b, 2) ? 0 : ROOM - span;
    t.data = m->room + first - low * size;
    if (below(b, 8) == 0) {
        t.byte_offset = (uint64_t)size;
        t.data = (uint8_t *)t.data - size;
    }
    if (empty && below(b, 2))
        t.data = NULL;
    if (below(b, 64) == 0)
        t.device.device_type = (DLDeviceType)take(b);
    return t;
}

/* ---- Calls ---- */

static void *address(const DLTensor *t) { return t->data ? (uint8_t *)t->data + t->byte_offset : NULL; }

static void run_plan(const uf_plan *plan, int nargs, const DLTensor *args, const DLTensor *where,
                     const DLTensor *initial) {
    void *data[ARRAYS + 2];
    int n = 0;
    for (int k = 0; k < nargs; k++)
        data[n++] = address(&args[k]);
    if (where)
        data[n++] = address(where);
    if (initial)
        data[n++] = address(initial);
    uf_plan_run(plan, data, NULL);
}

static void call_from(bytes *b, const uf_func *f, int nargs, DLTensor *args) {
    static const char *const forced[] = {NULL, NULL, NULL, "float32,float32->float32", "d->d", "dd->d", "nonsense", ""};
    static const unsigned flags[] = {0, 0, 0, UF_FIRST_MATCH, UF_STRONG_NUMBERS, UF_ORDERED, UF_SERIAL, 0x8000};
    int axis = below(b, 7) - 3;
    const uf_axes axes = {.size = sizeof axes, .axis = &axis, .keepdims = below(b, 2)};
    const uf_options o = {.size = sizeof o,
                          .threads = 1,
                          .casting = (uf_casting)below(b, 7),
                          .signature = forced[below(b, 8)],
                          .flags = flags[below(b, 8)],
                          .where = below(b, 8) ? NULL : &args[ARRAYS - 1],
                          .axes = below(b, 4) ? NULL : &axes};
    const uf_reduce_options r = {.size = sizeof r,
                                 .threads = 1,
                                 .casting = o.casting,
                                 .signature = o.signature,
                                 .naxes = below(b, 3),
                                 .axes = (int[]){axis, below(b, 7) - 3},
                                 .keepdims = below(b, 2),
                                 .where = o.where,
                                 .initial = below(b, 4) ? NULL : &args[ARRAYS - 2],
                                 .flags = o.flags};
    const int64_t extents[] = {below(b, 9), below(b, 9), below(b, 9)};
    size_t bytes_needed;
    uf_plan *plan = NULL;
    int verb = below(b, 12);
    uf_status status = verb == 0    ? uf_call(f, nargs, args, &o)
                       : verb == 1  ? uf_reduce(f, nargs, args, below(b, 3) ? &r : NULL)
                       : verb == 2  ? uf_accumulate(f, nargs, args, axis, &o)
                       : verb == 3  ? uf_outer(f, nargs, args, &o)
                       : verb == 4  ? uf_reduceat(f, nargs, args, &args[ARRAYS - 1], axis, &o)
                       : verb == 5  ? uf_at(f, &args[0], below(b, 3), &args[1], &args[3], &o)
                       : verb == 6  ? uf_forall(f, below(b, 4), extents, nargs, args, &o)
                       : verb == 7  ? uf_copy(&args[0], &args[1], NULL)
                       : verb == 8  ? uf_plan_new(&plan, f, nargs, args, &o)
                       : verb == 9  ? uf_reduce_plan(&plan, f, nargs, args, &r)
                       : verb == 10 ? uf_reduce_scratch_size(&bytes_needed, f, nargs, args, &r)
                                    : uf_call(f, nargs, args, NULL);
    if (status && (uf_last_error()->status != status || !uf_last_error()->message[0]))
        abort();
    if (plan)
        run_plan(plan, nargs, args, verb == 9 ? r.where : o.where, verb == 9 ? r.initial : NULL);
    uf_plan_free(plan);
}

void fuzz_calls(const uint8_t *data, size_t size) {
    bytes b = {data, data + size};
    DLTensor args[ARRAYS];
    if (!nfunctions) {
        make_functions();
        make_memory();
    }
    const uf_func *f = functions[below(&b, nfunctions)];
    uf_description about = {.size = sizeof about};
    if (uf_describe(f, &about))
        abort();
    int nargs = below(&b, 16) ? about.nin + about.nout : below(&b, ARRAYS);
    const int64_t sizes[] = {below(&b, 6), below(&b, 20), below(&b, 3)};
    for (int k = 0; k < ARRAYS; k++) {
        args[k] = array_from(&b, k, sizes);
        for (int i = 0; i < ROOM; i += 61)
            memories[k].room[i] = (uint8_t)(i * 7 + k);
    }
    call_from(&b, f, nargs, args);
}
