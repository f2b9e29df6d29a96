/* test_record_programs.c - random programs over random records: calls on the CPU, the interpreter, the simulated GPU, and the same programs
 * in C with structs, by the machine's compiler, give the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <dlfcn.h>

#include "lang/lang.h"

#include "c_code.h"
#include "draw.h"
#include "element_module.h"
#include "gpu_sim.h"
#include "record_program.h"
#include "ref/random.h"
#include "ref/ref.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "expect.h"

enum {
    BATCH = 100, /* programs that are compiled as one C file */
    ELEMENTS = 9,
    STEPS = 1 << 20
};

/* A program as the library sees it. */
typedef struct experiment {
    record_program p;
    uint64_t seed;
    arena a;
    tree *tree;
    const record *records[RECORD_PROGRAM_OPERANDS]; /* NULL: a scalar */
    int64_t size[RECORD_PROGRAM_OPERANDS];
    int nin, nout; /* in leaves */
    dtype leaf[UF_MAX_OPERANDS];
    char *memory[RECORD_PROGRAM_OPERANDS];   /* ELEMENTS of each operand */
    char *expected[RECORD_PROGRAM_OPERANDS]; /* of outputs, by C */
} experiment;

static _Noreturn void fail_with(const experiment *x, const char *where, const char *what) {
    /* cmocka's own printing cuts long texts off */
    fprintf(stderr, "%s: %s\n%s\n---- module\n%s\n---- kernel\n%s\n---- C\n%s\n", where, what, x->p.signature,
            x->p.module.data, x->p.kernel.data, x->p.c.data);
    fail_msg("%s: %s", where, what);
    abort();
}

static void must(const experiment *x, const char *where, uf_status status) {
    if (status)
        fail_with(x, where, uf_last_error()->message);
}

static int64_t refused; /* programs beyond a limit of the language */

/* ---- From text to tree ---- */

static void operands_find(experiment *x, const syntax *s) {
    const record_program *p = &x->p;
    int leaves = 0;
    for (int k = 0; k < p->nin + p->nout; k++) {
        const random_record *r = p->types[k].record;
        if (k == p->nin)
            x->nin = leaves;
        x->size[k] = r ? 0 : dtypes[p->types[k].type].size;
        if (!r)
            x->leaf[leaves++] = p->types[k].type;
        if (!r)
            continue;
        must(x, "record", lang_record(&x->a, s, r->kernel, strlen(r->kernel), &x->records[k]));
        x->size[k] = x->records[k]->size;
        for (int i = 0; i < x->records[k]->nleaves; i++)
            x->leaf[leaves++] = x->records[k]->leaves[i].type;
    }
    x->nout = leaves - x->nin;
}

static bool check_program(experiment *x) {
    const syntax *module, *s;
    dtype out[UF_MAX_OPERANDS];
    must(x, "module", lang_parse_module(&x->a, "module m", x->p.module.data, NULL, &module));
    must(x, "kernel", lang_parse(&x->a, x->p.kernel.data, &(lang_names){.nmodules = 1, .modules = &module}, &s));
    operands_find(x, s);
    memcpy(out, x->leaf + x->nin, (size_t)x->nout * sizeof *out);
    uf_status status = lang_check(&x->a, s, NULL, x->records, x->leaf, x->nin, out, x->nout, false, &x->tree);
    if (status == UF_ERR_SYNTAX && strstr(uf_last_error()->message, "more than"))
        return false;
    /* A constant that came to an index by way of a helper in place. */
    if (status == UF_ERR_TYPE && strstr(uf_last_error()->message, "index ") &&
        strstr(uf_last_error()->message, "which has"))
        return false;
    must(x, "check", status);
    return true;
}

/* ---- Operands ---- */

static int leaves_of(const experiment *x, int k) { return x->records[k] ? x->records[k]->nleaves : 1; }
static int64_t offset_of(const experiment *x, int k, int leaf) {
    return x->records[k] ? x->records[k]->leaves[leaf].offset : 0;
}

static void operands_make(experiment *x) {
    source s = {draw_bits()};
    int leaf = 0;
    for (int k = 0; k < x->p.nin + x->p.nout; k++) {
        x->memory[k] = malloc((size_t)(ELEMENTS * x->size[k]));
        x->expected[k] = malloc((size_t)(ELEMENTS * x->size[k]));
        memset(x->memory[k], 0x5A, (size_t)(ELEMENTS * x->size[k]));
        for (int j = 0; j < leaves_of(x, k); j++, leaf++)
            for (int i = 0; i < ELEMENTS && k < x->p.nin; i++)
                number_write(random_number(&s, x->leaf[leaf]), x->leaf[leaf],
                             x->memory[k] + i * x->size[k] + offset_of(x, k, j));
    }
}

static void operands_free(experiment *x) {
    for (int k = 0; k < x->p.nin + x->p.nout; k++) {
        free(x->memory[k]);
        free(x->expected[k]);
    }
}

static void compare_leaf(const experiment *x, const char *where, int k, int j, int i, number got) {
    const char *at = x->expected[k] + i * x->size[k] + offset_of(x, k, j);
    number expected = number_read(got.type, at);
    if (ref_same(got, expected))
        return;
    char what[200];
    bool floating = dtypes[got.type].kind >= DK_FLOATING;
    snprintf(what, sizeof what, "element %d, output %d, scalar %d (%s) is %.17g, %lld; in C %.17g, %lld", i,
             k - x->p.nin, j, dtypes[got.type].name, floating ? got.as.f[0] : 0, floating ? 0 : (long long)got.as.i,
             floating ? expected.as.f[0] : 0, floating ? 0 : (long long)expected.as.i);
    fail_with(x, where, what);
}

/* ---- The four ---- */

static void run_c(experiment *x, void *library) {
    void (*entry)(char **);
    *(void **)&entry = dlsym(library, x->p.name);
    for (int i = 0; i < ELEMENTS; i++) {
        char *operands[RECORD_PROGRAM_OPERANDS];
        for (int k = 0; k < x->p.nin + x->p.nout; k++)
            operands[k] = (k < x->p.nin ? x->memory[k] : x->expected[k]) + i * x->size[k];
        entry(operands);
    }
}

static void run_interpreter(experiment *x) {
    for (int i = 0; i < ELEMENTS; i++) {
        number in[UF_MAX_OPERANDS], out[UF_MAX_OPERANDS];
        int leaf = 0;
        for (int k = 0; k < x->p.nin; k++)
            for (int j = 0; j < leaves_of(x, k); j++, leaf++)
                in[leaf] = number_read(x->leaf[leaf], x->memory[k] + i * x->size[k] + offset_of(x, k, j));
        const char *wrong = ref_run(x->tree, in, out, STEPS);
        if (wrong)
            fail_with(x, "interpreter", wrong);
        leaf = 0;
        for (int k = x->p.nin; k < x->p.nin + x->p.nout; k++)
            for (int j = 0; j < leaves_of(x, k); j++, leaf++)
                compare_leaf(x, "interpreter", k, j, i, ref_convert(out[leaf], x->leaf[x->nin + leaf]));
    }
}

static void run_cpu(experiment *x) {
    static int64_t shape[1] = {ELEMENTS};
    DLTensor t[RECORD_PROGRAM_OPERANDS];
    uf_module *m;
    uf_func *f;
    const uf_section only = {.signatures = x->p.signature, .source = x->p.kernel.data};
    must(x, "uf_module_new",
         uf_module_new(&m, &(uf_module_definition){
                               .size = sizeof(uf_module_definition), .name = "m", .source = x->p.module.data}));
    must(x, "uf_define",
         uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                        .name = "random",
                                        .nsections = 1,
                                        .sections = &only,
                                        .nmodules = 1,
                                        .modules = &m}));
    for (int k = 0; k < x->p.nin + x->p.nout; k++) {
        t[k] = (DLTensor){.data = x->memory[k], .device = {kDLCPU, 0}, .ndim = 1, .shape = shape};
        t[k].dtype = x->records[k] ? (DLDataType){kDLUInt, 8, (uint16_t)x->size[k]} : dtypes[x->p.types[k].type].dl;
    }
    must(x, "uf_call", uf_call(f, x->p.nin + x->p.nout, t, NULL));
    int leaf = x->nin;
    for (int k = x->p.nin; k < x->p.nin + x->p.nout; k++)
        for (int j = 0; j < leaves_of(x, k); j++, leaf++)
            for (int i = 0; i < ELEMENTS; i++)
                compare_leaf(x, "CPU", k, j, i,
                             number_read(x->leaf[leaf], x->memory[k] + i * x->size[k] + offset_of(x, k, j)));
    uf_free(f);
    uf_module_free(m);
}

static int64_t simulated;

static void run_gpu(experiment *x) {
    static const code_target gpu = {.gpu = true, .arch = 90};
    char *arrays[UF_MAX_OPERANDS];
    uint64_t words[UF_MAX_OPERANDS];
    int leaf = 0;
    if (!sim_there())
        return;
    code_module m = element_module(&x->a, x->tree, &gpu, 0, 0);
    if (!sim_can(&m)) {
        text_free(&m.ir);
        return;
    }
    for (int k = 0; k < x->p.nin + x->p.nout; k++)
        for (int j = 0; j < leaves_of(x, k); j++, leaf++) {
            int size = dtypes[x->leaf[leaf]].size;
            arrays[leaf] = arena_alloc(&x->a, ELEMENTS * 16);
            words[leaf] = (uint64_t)(uintptr_t)arrays[leaf];
            for (int i = 0; i < ELEMENTS && k < x->p.nin; i++)
                memcpy(arrays[leaf] + i * size, x->memory[k] + i * x->size[k] + offset_of(x, k, j), (size_t)size);
        }
    const char *wrong = sim_run(&m, words, leaf, 1, ELEMENTS);
    if (wrong)
        fail_with(x, "simulated GPU", wrong);
    leaf = x->nin;
    for (int k = x->p.nin; k < x->p.nin + x->p.nout; k++)
        for (int j = 0; j < leaves_of(x, k); j++, leaf++)
            for (int i = 0; i < ELEMENTS; i++)
                compare_leaf(x, "simulated GPU", k, j, i,
                             number_read(x->leaf[leaf], arrays[leaf] + i * dtypes[x->leaf[leaf]].size));
    simulated++;
    text_free(&m.ir);
}

/* ---- */

static void run_program(experiment *x, void *library) {
    draw_state = x->seed;
    if (!check_program(x)) {
        refused++;
        return;
    }
    operands_make(x);
    run_c(x, library);
    run_interpreter(x);
    run_cpu(x);
    if (chance(25))
        run_gpu(x);
    operands_free(x);
}

static void batch_run(int64_t count) {
    experiment *all = calloc((size_t)count, sizeof *all);
    text c = {0};
    text_puts(&c, record_program_c);
    for (int64_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", (int)i);
        draw_state = all[i].seed = draw_bits() << 11 | 1;
        record_program_make(&all[i].p, name);
        text_puts(&c, all[i].p.c.data);
        draw_state = all[i].seed ^ 0x5555555555555555u;
    }
    uint64_t next = draw_state;
    if (getenv("UF_VERBOSE"))
        print_message("%s\n%s\n%s\n", all[0].p.module.data, all[0].p.kernel.data, c.data);
    void *library = c_code_load(c.data);
    for (int64_t i = 0; i < count; i++) {
        run_program(&all[i], library);
        arena_free(&all[i].a);
        record_program_free(&all[i].p);
    }
    draw_state = next;
    text_free(&c);
    free(all);
}

static void programs_agree(void **unused) {
    (void)unused;
    if (!c_compiler_there()) {
        print_message("no C compiler here\n");
        skip();
    }
    int64_t wanted = trials(200);
    for (int64_t done = 0; done < wanted; done += BATCH)
        batch_run(wanted - done < BATCH ? wanted - done : BATCH);
    print_message("%lld programs agree, %lld of them on the simulated GPU too; %lld are beyond a limit\n",
                  (long long)(wanted - refused), (long long)simulated, (long long)refused);
    assert_true(refused * 5 < wanted || wanted < 50);
    assert_true(simulated * 20 > wanted || wanted < 50 || !sim_there());
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_agree)};
    return cmocka_run_group_tests_name("random programs over records", tests, draw_seed, NULL);
}
