/* call.c - uf_call and uf_infer. */
#include "core/core.h"

/* Space on the stack for the loops of calls up to 8 operands of rank 8; beyond, one block. */
enum {
    SPACE_WORDS = 256
};

uf_status uf_call(const uf_func *func, int nargs, const DLTensor *args, const uf_options *options) {
    RANGE("uf_call", func);
    uf_options own;
    call_args a;
    uf_plan plan;
    int64_t words[SPACE_WORDS];
    TRY(options_read(options, &own, &options));
    if (options->flags & UF_STAGE)
        return stage_call(func, nargs, args, options);
    TRY(args_read(func, nargs, args, options, 0, &a));

    size_t need = plan_space(func, &a);
    void *space = need <= sizeof words ? words : mem_alloc(need);
    if (!space)
        return fail_memory();
    uf_status s = plan_make(&plan, func, &a, options, space);
    if (!s) {
        void *data[VARIANT_OPERANDS];
        for (int k = 0; k < a.narrays; k++)
            data[k] = a.array[k].data;
        s = plan_execute(&plan, data, options->stream);
    }
    if (space != words)
        mem_free(space);
    return s;
}

uf_status uf_infer(const uf_func *func, int nargs, DLTensor *args, const uf_options *options) {
    uf_options own;
    call_args a;
    dtype types[UF_MAX_OPERANDS];
    int section_index;
    TRY(options_read(options, &own, &options));
    TRY(args_read(func, nargs, args, options, ARGS_NO_OUTPUTS | ARGS_NO_DATA, &a));
    TRY(choose_types(func, &a, options, true, types, &section_index));
    if (func->any_types) {
        arena scratch = {0};
        tree *t;
        uf_status typed = type_kernel(func, section_index, types, &scratch, &t);
        arena_free(&scratch);
        TRY(typed);
    }
    TRY(func->kind->infer(func, &a, options, types, args));
    for (int k = func->nin; k < nargs; k++)
        args[k].dtype = dtypes[types[k]].dl;
    return UF_OK;
}
