/* record_trial.c - see record_trial.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/core.h"
#include "element_module.h"
#include "gpu_sim.h"
#include "lang_try.h"
#include "record_trial.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "expect.h"

void trial_cpu(const record_trial *t) {
    uf_module *module;
    uf_func *f;
    DLTensor args[TRIAL_MAX_OPERANDS];
    int64_t n = t->n;
    const uf_section only = {.signatures = t->types, .source = t->source};
    OK(uf_module_load(&module, t->module));
    OK(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                      .name = "trial",
                                      .nsections = 1,
                                      .sections = &only,
                                      .fast = t->fast,
                                      .nmodules = 1,
                                      .modules = &module}));
    uf_module_free(module);
    for (int k = 0; k < t->noperands; k++) {
        const trial_operand *o = &t->operands[k];
        args[k] =
            (DLTensor){.data = o->data, .device = {kDLCPU, 0}, .ndim = 1, .dtype = dtypes[o->type].dl, .shape = &n};
        args[k].dtype.lanes = (uint16_t)o->scalars;
    }
    OK(uf_call(f, t->noperands, args, NULL));
    uf_free(f);
}

/* ---- The simulated GPU, whose kernel has an array for each scalar of a record ---- */

enum {
    BLOCK = 1024, /* threads */
    MAX_LEAVES = 16
};

/* Copies `count` records from element `from` on, between their place and the arrays of their scalars. */
static void leaves_copy(const trial_operand *o, int64_t from, int64_t count, char **leaves, bool back) {
    size_t size = (size_t)dtypes[o->type].size;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < o->scalars; k++) {
            char *whole = (char *)o->data + (size_t)((from + i) * o->scalars + k) * size;
            char *own = leaves[k] + (size_t)i * size;
            memcpy(back ? whole : own, back ? own : whole, size);
        }
}

static bool block_run(const record_trial *t, code_module *m, char **leaves, int64_t from) {
    uint64_t words[MAX_LEAVES];
    int nleaves = 0;
    int64_t count = t->n - from < BLOCK ? t->n - from : BLOCK;
    for (int k = 0; k < t->noperands; nleaves += t->operands[k++].scalars)
        leaves_copy(&t->operands[k], from, count, leaves + nleaves, false);
    for (int k = 0; k < nleaves; k++)
        words[k] = (uint64_t)(uintptr_t)leaves[k];
    GOOD(sim_run(m, words, nleaves, 1, (int)count));
    const trial_operand *result = &t->operands[t->noperands - 1];
    leaves_copy(result, from, count, leaves + nleaves - result->scalars, true);
    return true;
}

/* The text of a module of the catalogue: what follows the line "text" of its file. */
static const char *module_text(const char *name) {
    const catalogue_entry *e = catalogue_find(&catalogue_modules, name);
    assert_non_null(e);
    return strstr((const char *)e->source, "\ntext\n") + strlen("\ntext\n");
}

bool trial_gpu(const record_trial *t) {
    static const code_target gpu = {.gpu = true, .arch = 90};
    char source[1024], *leaves[MAX_LEAVES];
    arena a = {0};
    tree *checked;
    const char *const modules[] = {t->module, module_text(t->module), NULL};
    snprintf(source, sizeof source, "use %s;\n%s", t->module, t->source);
    OK(lang_try_with(&a, &(lang_trial){.source = source, .types = t->types, .modules = modules}, &checked));
    GOOD(tree_fault(checked));
    for (int k = 0; k < MAX_LEAVES; k++)
        leaves[k] = arena_alloc(&a, BLOCK * 16);
    code_module m = element_module(&a, checked, &gpu, t->fast, 0);
    /* What fast allows would not show in all results: some compilers make no use of it. */
    assert_true(!t->fast || (!strstr(m.ir.data, " contract ") && !strstr(m.ir.data, " arcp ")));
    bool runs = sim_can(&m);
    text_free(&m.ir);
    for (int64_t from = 0; runs && from < t->n; from += BLOCK) {
        m = element_module(&a, checked, &gpu, t->fast, 0); /* the simulator rewrites it */
        block_run(t, &m, leaves, from);
        text_free(&m.ir);
    }
    arena_free(&a);
    return runs;
}
