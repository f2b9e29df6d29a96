/* forall_case.c - kernels over indices without core: see forall_case.h. */
#include "forall_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "lang_try.h"

static void check(uf_status status) {
    if (!status)
        return;
    fprintf(stderr, "%s\n", uf_last_error()->message);
    abort();
}

static int64_t stride_at(const DLTensor *array, int d) {
    int64_t stride = 1;
    if (array->strides)
        return array->strides[d];
    for (int e = d + 1; e < array->ndim; e++)
        stride *= array->shape[e];
    return stride;
}

static uint8_t unit_of(const DLTensor *array) {
    uint8_t unit = 0;
    for (int d = 0; d < array->ndim; d++)
        if (array->shape[d] > 1 && stride_at(array, d) == 1)
            unit = (uint8_t)(1 + d);
    return unit;
}

static void put_argument(forall_case *f, int k, const DLTensor *array) {
    const layout_operand *o = &f->t->layout->operands[k];
    dtype type = f->t->kernel->locals[k].type;
    f->data[k] = (char *)array->data + array->byte_offset;
    f->v.operand[k] = (variant_operand){.memory = (uint8_t)type,
                                        .value = (uint8_t)type,
                                        .kind = array->ndim ? OPERAND_CONTIGUOUS : OPERAND_NUMBER,
                                        .unit = unit_of(array)};
    if (!array->ndim)
        memcpy(f->numbers[k], f->data[k], dtypes[type].size);
    for (int d = 0; d < array->ndim; d++) {
        f->core[o->dim[d]] = array->shape[d];
        f->core[o->strides + d] = array->shape[d] == 1 ? 0 : stride_at(array, d);
    }
}

static void put_space(forall_case *f, int ndim, const int64_t *extents) {
    f->loop = (nd_loop){.ndim = ndim, .count = 1, .narrays = f->v.nin};
    f->loop.extent = arena_alloc(&f->memory, (size_t)ndim * sizeof *f->loop.extent);
    f->loop.stride = arena_alloc(&f->memory, (size_t)(ndim * f->v.nin) * sizeof *f->loop.stride);
    for (int d = 0; d < ndim; d++) {
        f->core[d] = f->loop.extent[ndim - 1 - d] = extents[d];
        f->loop.count *= extents[d];
    }
}

void forall_open(forall_case *f, const char *parameters, const char *source, int ndim, const int64_t *extents,
                 const DLTensor *args, bool apart) {
    memset(f, 0, sizeof *f);
    check(lang_try_kernel(&f->memory, parameters, source, &f->t));
    f->v.loop = LOOP_FORALL;
    f->v.nin = (uint8_t)(f->t->kernel->nparams - ndim);
    f->core = arena_alloc(&f->memory, (size_t)f->t->layout->nparameters * sizeof *f->core);
    put_space(f, ndim, extents);
    for (int k = 0; k < f->v.nin; k++)
        put_argument(f, k, &args[k]);
    f->v.forall.noalias = apart;
    f->v.forall.proved = lang_needs_hold(f->t, f->core, NULL, false);
    ir_traits(f->t, &f->size);
    cpu_engine.specialise(
        &f->v, &(loop_problem){.loop = &f->loop, .layout = f->t->layout, .core = f->core, .traits = &f->size});
    f->l = (launch){.v = &f->v,
                    .loop = &f->loop,
                    .data = f->data,
                    .numbers = (const uint64_t(*)[2])f->numbers,
                    .layout = f->t->layout,
                    .core = f->core};
}

void forall_compile(forall_case *f) {
    code_module m = {.nsymbols = 0};
    code_target target;
    check(cpu_engine.target(0, &target));
    check(ir_forall(&f->memory, "kernel", f->t, &f->v, &target, &m));
    if (getenv("UF_SHOW_IR"))
        fputs(m.ir.data, stderr);
    check(cpu_engine.compile(&m, &target, 0, &f->code));
    text_free(&m.ir);
}

void forall_launch(forall_case *f, int threads) {
    f->l.threads = threads;
    check(cpu_engine.launch(f->code, &f->l));
}

void forall_close(forall_case *f) {
    if (f->code)
        cpu_engine.release(f->code);
    arena_free(&f->memory);
}
