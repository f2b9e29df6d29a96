/* at.c - uf_at: updates in place of elements that are found by indices. The loop goes over the indices and what is left of the
 * target without its indexed dimensions, in C order; the target takes part twice, as the first input and as the output. What
 * overlaps the target is copied first, and indices in host memory are looked at before anything is written.
 *
 * Errors count the target as argument 0, then the indices, then the operand. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/core.h"

enum {
    TARGET = 0,
    ARRAYS = 3 + UF_MAX_NDIM,
    SPACE_WORDS = 256, /* on the stack; beyond, one block */
    CHUNK = 256        /* indices looked at together */
};

typedef struct job {
    const uf_func *func;
    const uf_options *options;
    const DLTensor *target, *indices, *operand;
    int nindices, rest; /* dimensions of the target: indexed, and left */
    call_args a;        /* target, operand, target */
    const binding *binding;
    int ndim; /* of the updates: the shape of the indices, then what is left of the target */
    int64_t shape[UF_MAX_NDIM];
    int narrays;
    nd_array array[ARRAYS]; /* the variant's operands */
    nd_loop loop;
    int64_t *indexed;        /* extent and stride of each indexed dimension */
    int64_t lowest, highest; /* elements of the target, counted from its element 0 */
} job;

/* ---- Errors in the caller's words ---- */

static void name_of(int argument, int nindices, char name[32]) {
    if (argument == TARGET)
        snprintf(name, 32, "target");
    else if (argument <= nindices)
        snprintf(name, 32, "indices[%d]", argument - 1);
    else
        snprintf(name, 32, "operand");
}

/* Replaces each "argument N" of the message, where it stands for our argument first + N, or for which[N]. No name is longer. */
static uf_status named(uf_status status, const job *j, int first, const int *which) {
    uf_error *e = error_slot();
    char was[sizeof e->message], *to = e->message;
    if (!status)
        return UF_OK;
    strcpy(was, e->message);
    for (const char *at = was; *at;) {
        char name[32], *end;
        if (strncmp(at, "argument ", 9) != 0 || !isdigit((unsigned char)at[9])) {
            *to++ = *at++;
            continue;
        }
        long n = strtol(at + 9, &end, 10);
        name_of(which ? which[n] : first + (int)n, j->nindices, name);
        to = stpcpy(to, name);
        at = end;
    }
    *to = 0;
    if (e->argument >= 0)
        e->argument = which ? which[e->argument] : first + e->argument;
    return status;
}

/* ---- Arguments ---- */

static uf_status updates_check(const job *j) {
    const uf_func *f = j->func;
    TRY(func_check(f));
    if (f->reduction || f->layout || f->nout != 1 || f->nin < 1 || f->nin > 2)
        return fail(UF_ERR_ARGUMENT,
                    "uf_at of %s: the function must be elementwise, of one or two inputs and one output", f->name);
    return UF_OK;
}

static uf_status pointers_check(const job *j) {
    const char *name = j->func->name;
    if (!j->target || !j->indices)
        return fail(UF_ERR_ARGUMENT, "uf_at of %s: %s is NULL", name, j->target ? "indices" : "target");
    if (j->nindices < 1)
        return fail(UF_ERR_ARGUMENT, "uf_at of %s: nindices is %d; at least one index array is needed", name,
                    j->nindices);
    if (j->func->nin == 2 && !j->operand)
        return fail(UF_ERR_ARGUMENT, "%s has two inputs, but operand is NULL", name);
    if (j->func->nin == 1 && j->operand)
        return fail(UF_ERR_ARGUMENT, "%s has one input; operand must be NULL", name);
    return UF_OK;
}

static uf_status options_check(const uf_options *o) {
    const char *wrong = o->flags & UF_STAGE ? "UF_STAGE"
                        : o->where          ? "uf_options.where"
                        : o->axes           ? "uf_options.axes"
                                            : NULL;
    return wrong ? fail(UF_ERR_ARGUMENT, "uf_at does not take %s", wrong) : UF_OK;
}

/* The target, the operand, and the target again, as the arguments of a call. */
static uf_status operands_read(job *j) {
    int nin = j->func->nin, operand = 1 + j->nindices;
    const int which[2][3] = {{TARGET, TARGET}, {TARGET, operand, TARGET}};
    DLTensor args[3] = {*j->target, *j->target, *j->target};
    if (nin == 2)
        args[1] = *j->operand;
    return named(args_read(j->func, nin + 1, args, j->options, 0, &j->a), j, 0, which[nin - 1]);
}

static uf_status index_read(job *j, int i) {
    const DLTensor *t = &j->indices[i];
    TRY(array_check(t, i));
    dtype type = dtype_of_dl(t->dtype);
    if (!dtype_is_integer(type))
        return fail_argument(UF_ERR_ARGUMENT, i, -1, "its dtype is %s; indices are integers", dtypes[type].name);
    j->array[j->func->nin + 1 + i] = (nd_array){.data = t->data ? (char *)t->data + t->byte_offset : NULL,
                                                .shape = t->shape,
                                                .strides = t->strides,
                                                .ndim = t->ndim,
                                                .size = dtypes[type].size};
    return UF_OK;
}

/* Where all of them are. */
static uf_status place_all(job *j) {
    placement p = placement_none;
    TRY(place(&p, j->target, TARGET));
    for (int i = 0; i < j->nindices; i++)
        TRY(place(&p, &j->indices[i], 1 + i));
    if (j->operand && !j->a.array[1].number)
        TRY(place(&p, j->operand, 1 + j->nindices));
    return place_decide(&p, 0, &j->a);
}

static uf_status arguments_read(job *j) {
    TRY(updates_check(j));
    TRY(pointers_check(j));
    TRY(options_check(j->options));
    TRY(operands_read(j));
    if (j->nindices > j->target->ndim)
        return fail(UF_ERR_ARGUMENT, "nindices is %d, but the rank of target is %d", j->nindices, j->target->ndim);
    j->rest = j->target->ndim - j->nindices;
    j->narrays = j->func->nin + 1 + j->nindices;
    for (int i = 0; i < j->nindices; i++)
        TRY(named(index_read(j, i), j, 1, NULL));
    return named(place_all(j), j, 0, NULL);
}

/* The kernel for these dtypes. */
static uf_status bind(job *j) {
    int nin = j->func->nin, operand = 1 + j->nindices;
    const int which[2][3] = {{TARGET, TARGET}, {TARGET, operand, TARGET}};
    return named(binding_find(j->func, &j->a, j->options, &j->binding), j, 0, which[nin - 1]);
}

/* ---- Shapes ---- */

/* Of the updates. */
static uf_status shape_find(job *j) {
    TRY(named(nd_broadcast(j->array + j->func->nin + 1, j->nindices, &j->ndim, j->shape), j, 1, NULL));
    if (j->ndim + j->rest > UF_MAX_NDIM)
        return fail(UF_ERR_SHAPE, "the indices' rank, %d, and the dimensions of target that are left, %d, exceed %d",
                    j->ndim, j->rest, UF_MAX_NDIM);
    for (int d = 0; d < j->rest; d++)
        j->shape[j->ndim + d] = j->target->shape[j->nindices + d];
    j->ndim += j->rest;
    return UF_OK;
}

static uf_status operand_fit(const job *j) {
    const nd_array *x = &j->a.array[1];
    int argument = 1 + j->nindices;
    if (!j->operand || x->number)
        return UF_OK;
    if (x->ndim > j->ndim)
        return named(fail_argument(UF_ERR_SHAPE, argument, -1, "its rank is %d, but that of the updates is %d", x->ndim,
                                   j->ndim),
                     j, 0, NULL);
    for (int d = 0, shift = j->ndim - x->ndim; d < x->ndim; d++)
        if (x->shape[d] != 1 && x->shape[d] != j->shape[d + shift])
            return named(fail_argument(UF_ERR_SHAPE, argument, d,
                                       "is %lld, but dimension %d of the updates (the shape of the indices, then what "
                                       "is left of target's) is %lld: it must be that or 1",
                                       (long long)x->shape[d], d + shift, (long long)j->shape[d + shift]),
                         j, 0, NULL);
    return UF_OK;
}

/* ---- Indices in host memory ---- */

/* The first of n indices that is outside of an extent, or n. With `up`, the extent, they count from the end too. What is in range
 * leaves the sign bits of itself (moved up) and of its distance from the last one clear: neighbours are looked at CHUNK at a time,
 * by vectors, and one by one where a bit is set. */
#define OUTSIDE(name, type, wide, counts_down)                                                           \
    static bool name##_chunk(const type *x, uint64_t up, uint64_t last) {                                \
        uint64_t bits = 0;                                                                               \
        for (int i = 0; i < CHUNK; i++) {                                                                \
            uint64_t index = (uint64_t)(wide)x[i] + up;                                                  \
            bits |= index | (last - index);                                                              \
        }                                                                                                \
        return bits >> 63;                                                                               \
    }                                                                                                    \
    static int64_t name(const void *data, int64_t n, int64_t stride, int64_t extent) {                   \
        const type *x = data;                                                                            \
        const uint64_t up = (counts_down) ? (uint64_t)extent : 0, end = (uint64_t)extent + up;           \
        for (int64_t first = 0, last; first < n; first = last) {                                         \
            last = n - first < CHUNK ? n : first + CHUNK;                                                \
            if (stride == 1 && last - first == CHUNK && extent && !name##_chunk(x + first, up, end - 1)) \
                continue;                                                                                \
            for (int64_t i = first; i < last; i++)                                                       \
                if ((uint64_t)(wide)x[i * stride] + up >= end)                                           \
                    return i;                                                                            \
        }                                                                                                \
        return n;                                                                                        \
    }
OUTSIDE(outside_int8, int8_t, int64_t, true)
OUTSIDE(outside_int16, int16_t, int64_t, true)
OUTSIDE(outside_int32, int32_t, int64_t, true)
OUTSIDE(outside_int64, int64_t, int64_t, true)
OUTSIDE(outside_uint8, uint8_t, uint64_t, false)
OUTSIDE(outside_uint16, uint16_t, uint64_t, false)
OUTSIDE(outside_uint32, uint32_t, uint64_t, false)
OUTSIDE(outside_uint64, uint64_t, uint64_t, false)

typedef int64_t find_outside(const void *data, int64_t n, int64_t stride, int64_t extent);
static find_outside *const outside_of[DT_COUNT] = {
    [DT_INT8] = outside_int8,     [DT_INT16] = outside_int16,  [DT_INT32] = outside_int32,
    [DT_INT64] = outside_int64,   [DT_UINT8] = outside_uint8,  [DT_UINT16] = outside_uint16,
    [DT_UINT32] = outside_uint32, [DT_UINT64] = outside_uint64};

/* The number, in C order, of the first index of a loop over one array that is outside; *at is its address; -1: none. */
static int64_t outside_loop(const nd_loop *loop, const char *data, dtype type, int64_t extent, const char **at) {
    int64_t index[UF_MAX_NDIM] = {0}, size = dtypes[type].size, n = loop->extent[0];
    for (int64_t row = 0; row < loop->count; row += n) {
        int64_t bad = outside_of[type](data, n, loop->stride[0], extent);
        *at = data + bad * loop->stride[0] * size;
        if (bad < n)
            return row + bad;
        for (int d = 1; d < loop->ndim; d++) {
            data += loop->stride[d] * size;
            if (++index[d] < loop->extent[d])
                break;
            data -= loop->stride[d] * loop->extent[d] * size;
            index[d] = 0;
        }
    }
    return -1;
}

/* "element (2, 3) ", "" of a rank of 0. */
static void position_print(text *t, const nd_array *x, int64_t position) {
    int64_t index[UF_MAX_NDIM];
    for (int d = x->ndim - 1; d >= 0; d--) {
        index[d] = position % x->shape[d];
        position /= x->shape[d];
    }
    for (int d = 0; d < x->ndim; d++)
        text_printf(t, "%s%lld%s", d ? ", " : "element (", (long long)index[d], d == x->ndim - 1 ? ") " : "");
}

static uf_status index_outside(const job *j, int i, int64_t position, const char *at) {
    const nd_array *x = &j->array[j->func->nin + 1 + i];
    dtype type = dtype_of_dl(j->indices[i].dtype);
    int64_t extent = j->target->shape[i];
    number found = number_read(type, at);
    text t = {0};
    position_print(&t, x, position);
    text_printf(&t, dtypes[type].is_signed ? "is %lld" : "is %llu", (long long)found.as.i);
    text_printf(&t, ", but dimension %d of target is %lld: ", i, (long long)extent);
    if (!extent)
        text_puts(&t, "there is no index");
    else
        text_printf(&t, "%lld to %lld are possible", dtypes[type].is_signed ? -(long long)extent : 0LL,
                    (long long)extent - 1);
    uf_status s = t.failed ? fail_memory() : named(fail_argument(UF_ERR_ARGUMENT, 1 + i, -1, "%s", t.data), j, 0, NULL);
    text_free(&t);
    return s;
}

static uf_status indices_check(const job *j) {
    int64_t space[2 * UF_MAX_NDIM + 1];
    for (int i = 0; i < j->nindices; i++) {
        const nd_array *x = &j->array[j->func->nin + 1 + i];
        nd_loop loop;
        const char *at;
        TRY(nd_plan(x, 1, 1, ND_KEEP_ORDER, space, &loop));
        int64_t position = outside_loop(&loop, x->data, dtype_of_dl(j->indices[i].dtype), j->target->shape[i], &at);
        if (position >= 0)
            return index_outside(j, i, position, at);
    }
    return UF_OK;
}

/* ---- The loop ---- */

/* What the target reaches; no element of it may be two. */
static uf_status target_check(job *j) {
    int64_t space[2 * UF_MAX_NDIM + 1];
    nd_array whole = j->a.array[0];
    nd_loop loop;
    whole.output = false;
    TRY(nd_plan(&whole, 1, 1, ND_KEEP_ORDER, space, &loop));
    if (nd_self_overlap(&loop, 0))
        return named(fail_argument(UF_ERR_ARGUMENT, TARGET, -1,
                                   "has two elements at one address (or its strides are too many to tell)"),
                     j, 0, NULL);
    nd_bounds(&loop, 0, &j->lowest, &j->highest);
    return UF_OK;
}

/* Words for shapes, strides and the loop. */
static size_t space_words(const job *j) {
    size_t views = j->rest ? (size_t)j->nindices * 2 * (size_t)j->ndim : 0;
    return views + 2 * (size_t)j->nindices + nd_space(j->ndim, j->narrays) / sizeof(int64_t);
}

/* The index array with a dimension of extent 1 for each one of the target that is left. */
static int64_t *index_view(nd_array *x, int rest, int64_t *words) {
    int ndim = x->ndim + rest;
    int64_t *shape = words, *strides = words + ndim;
    if (x->ndim)
        memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
    if (x->ndim && x->strides)
        memcpy(strides, x->strides, (size_t)x->ndim * sizeof *strides);
    for (int d = x->ndim; d < ndim; d++)
        shape[d] = strides[d] = 1;
    x->strides = x->strides ? strides : NULL;
    x->shape = shape;
    x->ndim = ndim;
    return words + 2 * ndim;
}

static void indexed_fill(job *j) {
    const nd_array *t = &j->a.array[0];
    int64_t dense = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (d < j->nindices) {
            j->indexed[2 * d] = t->shape[d];
            j->indexed[2 * d + 1] = t->strides ? t->strides[d] : dense;
        }
        dense *= t->shape[d];
    }
}

static uf_status loop_make(job *j, int64_t *words) {
    int nin = j->func->nin;
    nd_array left = j->a.array[0];
    left.output = false;
    left.ndim = j->rest;
    left.shape += j->nindices;
    left.strides = left.strides ? left.strides + j->nindices : NULL;
    if (nin == 2)
        j->array[1] = j->a.array[1];
    j->array[0] = j->array[nin] = left;
    for (int i = 0; i < j->nindices && j->rest; i++)
        words = index_view(&j->array[nin + 1 + i], j->rest, words);
    j->indexed = words;
    indexed_fill(j);
    TRY(nd_plan(j->array, j->narrays, j->narrays, ND_KEEP_ORDER, words + 2 * j->nindices, &j->loop));
    j->loop.loop = LOOP_AT;
    return UF_OK;
}

/* ---- The variant ---- */

static void operands_fill(const job *j, variant *v) {
    int nin = j->func->nin;
    for (int k = 0; k <= nin; k++) {
        variant_operand *o = &v->operand[k];
        o->value = (uint8_t)j->binding->types[k];
        o->memory = j->array[k].number ? o->value : (uint8_t)(j->a.key.type[k] & ~BINDING_NUMBER);
    }
    for (int i = 0; i < j->nindices; i++)
        v->operand[nin + 1 + i] =
            (variant_operand){.memory = (uint8_t)dtype_of_dl(j->indices[i].dtype), .value = DT_INT64};
    for (int k = 0; k < j->narrays; k++)
        v->operand[k].kind = j->loop.kind[k];
}

/* Must each element be one warp's? Where no instruction and no compare and swap does it, or results would depend on the order. */
static bool is_owned(const job *j, const variant *v, const code_target *target) {
    at_way way = ir_at_way(j->binding->tree, v, target);
    bool aligned = (uintptr_t)j->array[0].data % j->array[0].size == 0; /* complex numbers need not be */
    return way == AT_OWNED || (way == AT_EXCHANGE && !aligned) ||
           (way != AT_EXACT && j->options->flags & UF_DETERMINISTIC);
}

static uf_status variant_make(const job *j, variant *v) {
    memset(v, 0, sizeof *v);
    v->loop = LOOP_AT;
    v->reports = func_reports_steps(j->func, j->binding->traits.unbounded, j->options->cancel);
    v->nin = (uint8_t)j->func->nin;
    v->nout = 1;
    v->nindices = (uint8_t)j->nindices;
    operands_fill(j, v);
    if (j->a.engine == ENGINE_CUDA) {
        code_target target;
        TRY(engines[ENGINE_CUDA]->target(j->a.device, &target));
        v->deterministic = is_owned(j, v, &target);
    }
    engines[j->a.engine]->specialise(v, &j->loop, NULL, NULL, &j->binding->traits);
    return UF_OK;
}

/* ---- Running ---- */

/* Copies operand k if it meets the target. */
static uf_status copy_apart(const job *j, int k, char **address, void **block) {
    const nd_array *x = &j->array[k], *target = &j->array[0];
    int64_t lowest, highest;
    if (x->number)
        return UF_OK;
    nd_bounds(&j->loop, k, &lowest, &highest);
    uintptr_t first = (uintptr_t)(x->data + lowest * x->size), end = (uintptr_t)(x->data + (highest + 1) * x->size);
    uintptr_t target_first = (uintptr_t)(target->data + j->lowest * target->size);
    uintptr_t target_end = (uintptr_t)(target->data + (j->highest + 1) * target->size);
    if (end <= target_first || target_end <= first)
        return UF_OK;
    return stretch_copy(engines[j->a.engine], j->a.device, j->options->stream, lowest, highest, x->size, address,
                        block);
}

static uf_status launch_apart(const job *j, const variant *v, const code *compiled, const uint64_t (*numbers)[2]) {
    char *address[ARRAYS];
    void *block[ARRAYS] = {NULL};
    const engine *e = engines[j->a.engine];
    uf_status s = UF_OK;
    for (int k = 0; k < j->narrays && !s; k++) {
        address[k] = j->array[k].data;
        if (k != 0 && k != j->func->nin)
            s = copy_apart(j, k, &address[k], &block[k]);
    }
    if (!s)
        s = e->launch(compiled, &(launch){.v = v,
                                          .loop = &j->loop,
                                          .data = address,
                                          .numbers = numbers,
                                          .device = j->a.device,
                                          .stream = j->options->stream,
                                          .threads = j->options->threads,
                                          .cancel = j->options->cancel,
                                          .name = j->func->name,
                                          .source = "",
                                          .indexed = j->indexed});
    for (int k = 0; k < j->narrays; k++)
        if (block[k])
            e->scratch_free(j->a.device, block[k], j->options->stream);
    return s;
}

static uf_status run(job *j, int64_t *words) {
    variant v;
    const code *compiled;
    uint64_t numbers[ARRAYS][2];
    TRY(loop_make(j, words));
    if (!j->loop.count)
        return UF_OK;
    TRY(variant_make(j, &v));
    TRY(binding_code(j->func, j->binding, &v, &compiled));
    if (j->operand && j->array[1].number) {
        dtype from = (dtype)(j->a.key.type[1] & ~BINDING_NUMBER), to = j->binding->types[1];
        bool wraps = numbers_wrap(j->options->signature, j->options->casting);
        TRY(named(argument_convert(1 + j->nindices, from, j->array[1].data, to, wraps, numbers[1]), j, 0, NULL));
    }
    return launch_apart(j, &v, compiled, (const uint64_t(*)[2])numbers);
}

uf_status uf_at(const uf_func *func, const DLTensor *target, int nindices, const DLTensor *indices,
                const DLTensor *operand, const uf_options *options) {
    RANGE("uf_at", func);
    uf_options own;
    int64_t few[SPACE_WORDS];
    job j; /* 12 KiB, not worth clearing */
    j.func = func;
    j.target = target;
    j.indices = indices;
    j.operand = operand;
    j.nindices = nindices;
    TRY(options_read(options, &own, &j.options));
    TRY(arguments_read(&j));
    TRY(bind(&j));
    TRY(shape_find(&j));
    TRY(operand_fit(&j));
    TRY(target_check(&j));
    if (j.a.engine == ENGINE_CPU)
        TRY(indices_check(&j));
    size_t need = space_words(&j);
    int64_t *words = need <= SPACE_WORDS ? few : mem_alloc(need * sizeof *words);
    if (!words)
        return fail_memory();
    uf_status s = run(&j, words);
    if (words != few)
        mem_free(words);
    return s;
}
