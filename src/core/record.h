/* record.h - an argument list with the leaves of its records in place of these (record.c). */
#ifndef UF_CORE_RECORD_H
#define UF_CORE_RECORD_H

#include "core/core.h"

/* What a plan keeps of an expansion, and what errors are restated by. */
typedef struct expansion_map {
    int n, ncaller;  /* arguments, and those of the caller that they are leaves of */
    uint8_t *of;     /* by argument: the caller's; in a plan also of all other addresses that a run takes */
    int64_t *offset; /* bytes from the caller's address */
    uint8_t *align;  /* by caller's argument: what its address must be aligned to */
    int ninitial;
    uint8_t *initial_of; /* by initial value: the caller's */
} expansion_map;

typedef struct expansion {
    plan_request request;
    uf_options options;
    uf_axes axes;
    const record_form *form;
    int nin, n, ninitial; /* nin: the caller's inputs */
    DLTensor args[UF_MAX_OPERANDS], initial[UF_MAX_STATE];
    uint8_t of[UF_MAX_OPERANDS], align[UF_MAX_OPERANDS], initial_of[UF_MAX_STATE];
    int64_t offset[UF_MAX_OPERANDS], initial_offset[UF_MAX_STATE];
    uf_axis_list lists[UF_MAX_OPERANDS];
    int64_t *words, *block; /* for strides: what is left, and what must be freed */
    int64_t few[128];
} expansion;

static inline const record_form *forms_of(const uf_func *f) { return atomic_load(&((uf_func *)(uintptr_t)f)->forms); }
/* Chooses the form of a request whose arguments may be arrays of records, of which so many are inputs, and takes these apart;
 * *found: there is one. x->request is then that of the form. expansion_end comes after it, whatever the status is. */
uf_status expansion_begin(expansion *x, const plan_request *r, int nin, bool *found);
void expansion_end(expansion *x);
/* Calls `run` with the request of an expansion; restates its errors in terms of the caller's arguments. */
uf_status expansion_run(expansion *x, uf_status (*run)(const plan_request *r, void *user), void *user);
/* Bytes from the caller's argument to leaf k of the expanded arguments. */
static inline int64_t expanded_offset(const expansion *x, int k) { return x->offset[k]; }
/* The record that argument 0 of the caller's is; NULL: it is a scalar. */
static inline const record *expanded_target(const expansion *x) { return x->form->records[0]; }
/* Room for a map in a plan's memory; NULL: there is none. */
expansion_map *expansion_map_new(uf_plan *p);
/* The DLPack type of an array of a record: where all leaves have one dtype, lanes of that; else bytes. */
DLDataType record_dtype(const record *r);

#endif
