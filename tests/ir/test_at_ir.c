/* test_at_ir.c - updates in place on a GPU, without one: which operators have an instruction; the code of all dtypes before every
 * judge of IR, libNVVM and ptxas, and what instructions it comes to; and random cases on the simulated GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/code.h"
#include "ir/at/at.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "at_case.h"
#include "draw.h"
#include "gpu_sim.h"
#include "ir_check.h"
#include "lang_try.h"
#include "mock_child.h"

static const code_target sm_90 = {.gpu = true, .arch = 90};

static void check(uf_status status) {
    if (status)
        fail_msg("%s", uf_last_error()->message);
}

static tree *tree_of(arena *a, const char *source, dtype x, dtype y, dtype result) {
    char types[64];
    tree *t;
    if (y == DT_NONE)
        snprintf(types, sizeof types, "%s%s%s", dtypes[x].name, result == DT_NONE ? "" : "->",
                 result == DT_NONE ? "" : dtypes[result].name);
    else
        snprintf(types, sizeof types, "%s,%s%s%s", dtypes[x].name, dtypes[y].name, result == DT_NONE ? "" : "->",
                 result == DT_NONE ? "" : dtypes[result].name);
    check(lang_try(a, source, types, &t));
    return t;
}

/* A variant whose operands have these dtypes in memory; values are those of the tree. */
static variant variant_of(const tree *t, dtype target, dtype operand, int nindices, dtype index) {
    variant v;
    const function *f = t->kernel;
    memset(&v, 0, sizeof v);
    v.loop = LOOP_AT;
    v.nin = (uint8_t)f->nparams;
    v.nout = 1;
    v.nindices = (uint8_t)nindices;
    v.ndim = v.general.elements_per_thread = 1;
    for (int k = 0; k <= v.nin; k++)
        v.operand[k] = (variant_operand){.memory = (uint8_t)(k == 1 && v.nin == 2 ? operand : target),
                                         .value = (uint8_t)f->locals[k].type,
                                         .kind = k == 1 && v.nin == 2 ? OPERAND_CONTIGUOUS : OPERAND_CONSTANT};
    for (int i = 0; i < nindices; i++)
        v.operand[v.nin + 1 + i] =
            (variant_operand){.memory = (uint8_t)index, .value = DT_INT64, .kind = OPERAND_CONTIGUOUS};
    return v;
}

/* ---- Operators ---- */

static void operators(void **state) {
    (void)state;
    static const struct {
        const char *source;
        dtype type, operand;
        at_way way;
        const char *instruction;
    } rows[] = {
        {"(x, y) { return x + y; }", DT_INT32, DT_INT32, AT_EXACT, "add"},
        {"(x, y) { return y + x; }", DT_UINT64, DT_UINT64, AT_EXACT, "add"},
        {"(x, y) { return x - y; }", DT_INT64, DT_INT64, AT_EXACT, "sub"},
        {"(x, y) { return y - x; }", DT_INT64, DT_INT64, AT_EXCHANGE, NULL},
        {"(x, y) { return x & y; }", DT_UINT32, DT_UINT32, AT_EXACT, "and"},
        {"(x, y) { return y | x; }", DT_UINT32, DT_UINT32, AT_EXACT, "or"},
        {"(x, y) { return x ^ y; }", DT_INT32, DT_INT32, AT_EXACT, "xor"},
        {"(x, y) { return x + x; }", DT_INT32, DT_INT32, AT_EXCHANGE, NULL},
        {"(x, y) { return x * y; }", DT_INT32, DT_INT32, AT_EXCHANGE, NULL},
        {"(x, y) { return x + y + 1; }", DT_INT32, DT_INT32, AT_EXCHANGE, NULL},
        {"(x, y) { x = 3; return x + y; }", DT_INT32, DT_INT32, AT_EXCHANGE, NULL},
        {"(x, y) -> (r) { r = x + y; }", DT_INT32, DT_INT32, AT_EXACT, "add"},
        {"(x, y) -> (r) { r = x + y; r = 1; }", DT_INT32, DT_INT32, AT_EXCHANGE, NULL},
        {"(x, y) -> (r) { r = x + y; return; }", DT_INT32, DT_INT32, AT_EXACT, "add"},
        {"(x, y) { return max(x, y); }", DT_INT32, DT_INT32, AT_EXACT, "max"},
        {"(x, y) { return max(y, x); }", DT_UINT64, DT_UINT64, AT_EXACT, "umax"},
        {"(x, y) { return min(x, y); }", DT_UINT32, DT_UINT32, AT_EXACT, "umin"},
        {"(x, y) { return max(x, y); }", DT_FLOAT32, DT_FLOAT32, AT_EXCHANGE, NULL},
        {"(x, y) { return x > y ? x : y; }", DT_INT64, DT_INT64, AT_EXACT, "max"},
        {"(x, y) { return x <= y ? x : y; }", DT_INT64, DT_INT64, AT_EXACT, "min"},
        {"(x, y) { return y >= x ? x : y; }", DT_INT64, DT_INT64, AT_EXACT, "min"},
        {"(x, y) { return y < x ? x : y; }", DT_INT64, DT_INT64, AT_EXACT, "max"},
        {"(x, y) { return x > y ? x : x; }", DT_INT64, DT_INT64, AT_EXCHANGE, NULL},
        {"(x, y) { return x == y ? x : y; }", DT_INT64, DT_INT64, AT_EXCHANGE, NULL},
        {"twice(a, b) { return b - a; } (x, y) { return twice(y, x); }", DT_INT32, DT_INT32, AT_EXACT, "sub"},
        {"twice(a, b) { return b - a; } (x, y) { return twice(x, y); }", DT_INT32, DT_INT32, AT_EXCHANGE, NULL},
        {"twice(a, b) { return a + b; } (x, y) { return twice(x, x); }", DT_INT32, DT_INT32, AT_EXCHANGE, NULL},
        {"(x, y) { return x + y; }", DT_FLOAT32, DT_FLOAT32, AT_ATOMIC, "add"},
        {"(x, y) { return x - y; }", DT_FLOAT64, DT_FLOAT64, AT_ATOMIC, "sub"},
        {"(x, y) { return x + y; }", DT_COMPLEX64, DT_COMPLEX64, AT_ATOMIC, "add"},
        {"(x, y) { return x + y; }", DT_COMPLEX128, DT_COMPLEX128, AT_ATOMIC, "add"},
        {"(x, y) { return x * y; }", DT_COMPLEX64, DT_COMPLEX64, AT_EXCHANGE, NULL},
        {"(x, y) { return x * y; }", DT_COMPLEX128, DT_COMPLEX128, AT_OWNED, NULL},
        {"(x, y) { return x + y; }", DT_FLOAT16, DT_FLOAT16, AT_EXCHANGE, NULL},
        {"(x, y) { return x + y; }", DT_INT8, DT_INT8, AT_EXCHANGE, NULL},
        {"(x, y) { return x + y; }", DT_FLOAT32, DT_INT8, AT_EXCHANGE, NULL}, /* converted in the kernel */
        {"(x, y) { return x + y; }", DT_INT32, DT_INT64, AT_EXCHANGE, NULL},
        {"(x) { return -x; }", DT_INT32, DT_NONE, AT_EXCHANGE, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        arena a = {0};
        const tree *t = tree_of(&a, rows[i].source, rows[i].type, rows[i].operand, rows[i].type);
        variant v = variant_of(t, rows[i].type, rows[i].operand, 1, DT_INT64);
        const char *found = at_instruction(t, &v);
        if (rows[i].instruction && dtypes[rows[i].type].size >= 4 &&
            (!found || strcmp(found, rows[i].instruction) != 0))
            fail_msg("row %zu, %s: %s", i, rows[i].source, found ? found : "nothing");
        if (ir_at_way(t, &v, &sm_90) != rows[i].way)
            fail_msg("row %zu, %s: %d", i, rows[i].source, ir_at_way(t, &v, &sm_90));
        arena_free(&a);
    }
    arena a = {0};
    const tree *t = tree_of(&a, rows[0].source, DT_FLOAT64, DT_FLOAT64, DT_FLOAT64);
    variant v = variant_of(t, DT_FLOAT64, DT_FLOAT64, 1, DT_INT64);
    assert_int_equal(ir_at_way(t, &v, &(code_target){.gpu = true, .arch = 52}), AT_EXCHANGE);
    arena_free(&a);
}

/* ---- Code ---- */

static code_module module_of(arena *a, const tree *t, const variant *v, const code_target *target) {
    code_module m = {0};
    check(ir_at(a, "at", t, v, target, &m));
    return m;
}

static void accepted(void **state) {
    (void)state;
    code_target cpu = judge_host();
    for (int r = 0; r < AT_RULES; r++)
        for (dtype type = DT_BOOL; type < DT_COUNT; type++) {
            arena a = {0};
            if (dtype_is_complex(type) && !at_rules[r].complex)
                continue;
            dtype operand = at_rules[r].unary ? DT_NONE : type, index = (dtype)pick(DT_INT8, DT_UINT64);
            const tree *t = tree_of(&a, at_rules[r].source, type, operand, DT_NONE);
            variant v = variant_of(t, type, operand, (int)pick(1, 3), index);
            v.ndim = (uint8_t)pick(1, 3);
            v.general.elements_per_thread = (uint8_t)pick(1, 2);
            v.wide = chance(50);
            v.at.deterministic = ir_at_way(t, &v, &sm_90) == AT_OWNED || chance(30);
            code_module m = module_of(&a, t, &v, &sm_90);
            assert_true(judge_accept(&m, &sm_90, JUDGE_ASSEMBLE | JUDGE_ONE_ARCH, draw_bits()));
            text_free(&m.ir);
            v.at.deterministic = v.wide = 0;
            v.general.elements_per_thread = 1;
            m = module_of(&a, t, &v, &cpu);
            assert_true(judge_accept(&m, &cpu, 0, 0));
            text_free(&m.ir);
            arena_free(&a);
        }
}

/* What PTX says of the operators that have instructions. */
static void instructions(void **state) {
    (void)state;
    static const struct {
        const char *source;
        dtype type;
        const char *ptx;
        int times;
    } rows[] = {{"(x, y) { return x + y; }", DT_INT32, "global.add.u32", 1},
                {"(x, y) { return x + y; }", DT_UINT64, "global.add.u64", 1},
                {"(x, y) { return max(x, y); }", DT_INT32, "global.max.s32", 1},
                {"(x, y) { return min(x, y); }", DT_UINT64, "global.min.u64", 1},
                {"(x, y) { return x ^ y; }", DT_INT64, "global.xor.b64", 1},
                {"(x, y) { return x & y; }", DT_UINT32, "global.and.b32", 1},
                {"(x, y) { return x | y; }", DT_UINT64, "global.or.b64", 1},
                {"(x, y) { return x - y; }", DT_INT32, "global.add.u32", 1},
                {"(x, y) { return x - y; }", DT_UINT64, "global.add.u64", 1},
                {"(x, y) { return min(x, y); }", DT_INT64, "global.min.s64", 1},
                {"(x, y) { return max(x, y); }", DT_UINT32, "global.max.u32", 1},
                {"(x, y) { return x - y; }", DT_FLOAT32, "global.add.f32", 1},
                {"(x, y) { return x + y; }", DT_FLOAT64, "global.add.f64", 1},
                {"(x, y) { return x + y; }", DT_COMPLEX64, "global.add.f32", 2},
                {"(x, y) { return x - y; }", DT_COMPLEX128, "global.add.f64", 2},
                {"(x, y) { return x * y; }", DT_FLOAT32, "global.cas.b32", 1},
                {"(x, y) { return x + y; }", DT_UINT8, "global.cas.b32", 1},
                {"(x, y) { return x * y; }", DT_COMPLEX64, "global.cas.b64", 1}};
    if (!nvvm_found())
        skip();
    for (size_t i = 0; i < COUNT(rows); i++) {
        arena a = {0};
        const tree *t = tree_of(&a, rows[i].source, rows[i].type, rows[i].type, rows[i].type);
        variant v = variant_of(t, rows[i].type, rows[i].type, 1, DT_INT64);
        code_module m = module_of(&a, t, &v, &sm_90);
        const char *ptx = "", *wrong = nvvm_judge(&m, 90, true, &ptx);
        if (wrong)
            fail_msg("%s", wrong);
        int times = 0;
        for (const char *at = ptx; (at = strstr(at, rows[i].ptx)); at++)
            times++;
        if (times != rows[i].times)
            fail_msg("row %zu: %s stands there %d times:\n%s", i, rows[i].ptx, times, ptx);
        text_free(&m.ir);
        arena_free(&a);
    }
}

static void goldens(void **state) {
    (void)state;
    static const code_target cpu = {.vector_bits = 256, .f16c = true};
    arena a = {0};
    const tree *t = tree_of(&a, "(x, y) { return x + y; }", DT_FLOAT32, DT_FLOAT32, DT_FLOAT32);
    variant v = variant_of(t, DT_FLOAT32, DT_FLOAT32, 1, DT_INT64);
    code_module m = module_of(&a, t, &v, &cpu);
    judge_golden("at_cpu", &m);
    m = module_of(&a, t, &v, &sm_90);
    judge_golden("at_gpu", &m);
    arena_free(&a);
}

/* ---- Simulated ---- */

enum {
    OPERANDS = 3 + AT_INDICES,
    WORDS = 256
};

static int privatised[PRIVATE_TALLY + 1];

/* The loop of a case, as core makes it. */
typedef struct sim_case {
    const at_case *c;
    int nin, narrays;
    nd_array array[OPERANDS];
    int64_t shape[OPERANDS][VIEW_RANK], strides[OPERANDS][VIEW_RANK], indexed[2 * AT_INDICES];
    int64_t space[256];
    nd_loop loop;
} sim_case;

static void add_array(sim_case *s, int k, const view *x, int from, int more) {
    int ndim = x->host.ndim - from;
    for (int d = 0; d < ndim + more; d++) {
        s->shape[k][d] = d < ndim ? x->shape[from + d] : 1;
        s->strides[k][d] = d < ndim ? x->strides[from + d] : 1;
    }
    s->array[k] = (nd_array){.data = x->host.data,
                             .shape = s->shape[k],
                             .strides = s->strides[k],
                             .ndim = ndim + more,
                             .size = (uint8_t)(x->host.dtype.bits / 8)};
}

static void make_loop(sim_case *s, const at_case *c) {
    memset(s, 0, sizeof *s);
    s->c = c;
    s->nin = at_rules[c->rule].unary ? 1 : 2;
    s->narrays = s->nin + 1 + c->nindices;
    add_array(s, 0, &c->target, c->nindices, 0);
    if (s->nin == 2) {
        add_array(s, 1, &c->operand, 0, 0);
        s->array[1].number = c->number;
    }
    add_array(s, s->nin, &c->target, c->nindices, 0);
    for (int i = 0; i < c->nindices; i++) {
        add_array(s, s->nin + 1 + i, &c->index[i], 0, c->rest);
        s->indexed[2 * i] = c->target.shape[i];
        s->indexed[2 * i + 1] = c->target.strides[i];
    }
    assert_true(nd_space(c->ndim, s->narrays) <= sizeof s->space);
    check(nd_plan(s->array, s->narrays, s->narrays, ND_KEEP_ORDER, s->space, &s->loop));
    s->loop.loop = LOOP_AT;
}

/* Privatises the target where it may be: with so few updates it would not be by itself. */
static void privatise(const sim_case *s, const tree *t, variant *v) {
    const at_case *c = s->c;
    at_counters counters = ir_at_counters(t, v, &sm_90);
    bool whole = counters && !v->at.deterministic && c->rest == 0;
    int64_t bytes = 8;
    for (int i = 0; i < c->nindices; i++)
        bytes *= c->target.shape[i];
    if (!whole || bytes > 1 << 14 || chance(20))
        return;
    v->operand[0].privatised = counters == COUNTERS_ADDED && v->operand[1].kind == OPERAND_NUMBER ? PRIVATE_TALLY : 1;
    v->reports = 0;
    privatised[v->operand[0].privatised]++;
}

static variant sim_variant(sim_case *s, const tree *t) {
    const at_case *c = s->c;
    variant v = variant_of(t, c->type, c->operand_type, c->nindices, DT_INT64);
    for (int k = 0; k < s->narrays; k++)
        v.operand[k].kind = s->loop.kind[k];
    if (c->number && s->nin == 2)
        v.operand[1].memory = v.operand[1].value;
    for (int i = 0; i < c->nindices; i++)
        v.operand[s->nin + 1 + i].memory = (uint8_t)dtype_of_dl(c->index[i].host.dtype);
    at_way way = ir_at_way(t, &v, &sm_90);
    v.at.deterministic = way == AT_OWNED || (way != AT_EXACT && c->deterministic) ||
                         (uintptr_t)c->target.host.data % (uintptr_t)dtypes[c->type].size != 0;
    code_traits size;
    ir_traits(t, &size);
    gpu_specialise(&v, &(loop_problem){.loop = &s->loop, .traits = &size});
    v.wide |= chance(30);
    v.reports = (uint8_t)(chance(30) ? pick(1, 3) * REPORTS_STEPS : 0);
    privatise(s, t, &v);
    return v;
}

static const char *simulate(sim_case *s, const tree *t, arena *a) {
    const at_case *c = s->c;
    variant v = sim_variant(s, t);
    char *data[OPERANDS];
    uint64_t numbers[OPERANDS][2] = {{0}}, words[WORDS];
    grid g;
    static const volatile int never;
    report said = {.cancel = (uintptr_t)&never};
    for (int k = 0; k < s->narrays; k++)
        data[k] = s->array[k].data;
    if (c->number && s->nin == 2)
        number_write(number_read(c->operand_type, c->value), (dtype)v.operand[1].value, numbers[1]);
    launch l = {.v = &v,
                .loop = &s->loop,
                .data = data,
                .numbers = (const uint64_t(*)[2])numbers,
                .indexed = s->indexed,
                .report = &said};
    assert_true(schema_count(&v, NULL, true) <= WORDS);
    check(gpu_layout(&l, &(occupancy){.block = 32u << pick(0, 2), .sms = (int)pick(1, 3), .resident = (int)pick(1, 3)},
                     words, &g));
    code_module m = module_of(a, t, &v, &sm_90);
    if (!sim_can(&m)) {
        text_free(&m.ir);
        return "not simulated";
    }
    const char *wrong = sim_run(&m, words, (int)g.parameters, (int)g.blocks, (int)g.threads);
    text_free(&m.ir);
    return wrong || !said.state ? wrong : "it reports";
}

static void simulate_case(at_case *c) {
    sim_case s;
    arena a = {0};
    make_loop(&s, c);
    dtype operand = s.nin == 1 ? DT_NONE : c->operand_type;
    const tree *t = tree_of(&a, at_rules[c->rule].source, c->type, operand, DT_NONE);
    const char *wrong = s.loop.count ? simulate(&s, t, &a) : NULL;
    if (wrong)
        fail_msg("%s of %s: %s", at_rules[c->rule].source, dtypes[c->type].name, wrong);
    at_expect(c);
    assert_memory_equal(c->target.block, c->expected.block, (size_t)c->target.elements * (size_t)dtypes[c->type].size);
    arena_free(&a);
}

static void simulated(void **state) {
    (void)state;
    if (!sim_there())
        skip();
    for (int64_t i = trials(150); i > 0; i--) {
        at_case c;
        at_draw(&c, true);
        simulate_case(&c);
        at_release(&c);
    }
}

/* Cases in which an instruction does the updates, and indices reach all of the target, so that it may be privatised. */
static void simulated_copies(void **state) {
    (void)state;
    if (!sim_there())
        skip();
    int64_t cases = 50 * trials(60);
    while (privatised[1] + privatised[PRIVATE_TALLY] < trials(60) || !privatised[1] || !privatised[PRIVATE_TALLY]) {
        at_case c;
        at_draw(&c, true);
        if (c.rest == 0 && c.operand_type == c.type && dtypes[c.type].size >= 4 && !at_rules[c.rule].unary) {
            assert_true(cases-- > 0); /* one of ten counts: of 60, none does in one run of 500 */
            simulate_case(&c);
        }
        at_release(&c);
    }
    print_message("copies %d, counts %d\n", privatised[1], privatised[PRIVATE_TALLY]);
}

/* A target of records, which is as many operands as they have leaves, here two: each record belongs to a warp, or is exchanged as a word. */
typedef struct pair {
    double value;
    float tag;
} pair;
typedef struct word_pair { /* three bytes behind the tag hold nothing, and stay as they are */
    float value;
    int8_t tag;
} word_pair;

enum {
    PAIRS = 7,
    PAIR_UPDATES = 100,
    LEAVES = 2,
    PAIR_ARRAYS = 3 * LEAVES + 1
};

typedef struct record_case {
    const char *source, *types;
    dtype leaf[LEAVES];
    int bytes, offset[LEAVES];
    bool exchanged;
} record_case;

static void records_run(const record_case *c, void *target, void *operand, int64_t *at) {
    int64_t updates = PAIR_UPDATES, places[2] = {PAIRS, c->bytes / dtypes[c->leaf[0]].size}, steps[LEAVES], space[256];
    nd_array arrays[PAIR_ARRAYS] = {0};
    char *data[PAIR_ARRAYS];
    uint64_t words[WORDS], numbers[PAIR_ARRAYS][2] = {{0}};
    arena a = {0};
    nd_loop loop;
    variant v;
    code_traits traits;
    report said = {0};
    grid g;
    tree *t;
    check(lang_try(&a, c->source, c->types, &t));
    memset(&v, 0, sizeof v);
    v.loop = LOOP_AT;
    v.nin = 2 * LEAVES;
    v.nout = LEAVES;
    v.nindices = v.ndim = v.general.elements_per_thread = 1;
    v.at.deterministic = !c->exchanged;
    v.at.record = (uint8_t)(c->exchanged ? c->bytes : 0);
    for (int k = 0; k < PAIR_ARRAYS; k++) {
        bool other = k / LEAVES == 1, index = k == PAIR_ARRAYS - 1;
        dtype type = index ? DT_INT64 : c->leaf[k % LEAVES];
        steps[k % LEAVES] = c->bytes / dtypes[c->leaf[k % LEAVES]].size;
        data[k] = index ? (char *)at : (char *)(other ? operand : target) + c->offset[k % LEAVES];
        arrays[k] = (nd_array){.data = data[k],
                               .shape = &updates,
                               .strides = other ? &steps[k % LEAVES] : NULL,
                               .ndim = other || index,
                               .size = dtypes[type].size};
        v.operand[k] = (variant_operand){
            .memory = (uint8_t)type, .value = (uint8_t)type, .offset = (uint8_t)(k < LEAVES ? c->offset[k] : 0)};
    }
    assert_int_equal(ir_at_way(t, &v, &sm_90), c->exchanged ? AT_EXCHANGE : AT_OWNED);
    check(nd_plan(arrays, PAIR_ARRAYS, PAIR_ARRAYS, ND_KEEP_ORDER, space, &loop));
    loop.loop = LOOP_AT;
    for (int k = 0; k < PAIR_ARRAYS; k++)
        v.operand[k].kind = loop.kind[k];
    ir_traits(t, &traits);
    gpu_specialise(&v, &(loop_problem){.loop = &loop, .traits = &traits});
    launch l = {.v = &v,
                .loop = &loop,
                .data = data,
                .numbers = (const uint64_t(*)[2])numbers,
                .indexed = places,
                .report = &said};
    check(gpu_layout(&l, &(occupancy){.block = 64, .sms = 2}, words, &g));
    code_module m = module_of(&a, t, &v, &sm_90);
    assert_int_equal(strstr(m.ir.data, "cmpxchg") != NULL, c->exchanged);
    assert_true(judge_accept(&m, &sm_90, JUDGE_ASSEMBLE | JUDGE_ONE_ARCH, draw_bits()));
    const char *wrong =
        sim_can(&m) ? sim_run(&m, words, (int)g.parameters, (int)g.blocks, (int)g.threads) : "not simulated";
    text_free(&m.ir);
    arena_free(&a);
    if (wrong)
        fail_msg("%s", wrong);
}

/* An index, some out of range; -1: it is. */
static int place_draw(int64_t *index) {
    *index = pick(-PAIRS - 2, PAIRS + 1);
    if (*index < -PAIRS || *index >= PAIRS)
        return -1;
    return (int)(*index < 0 ? *index + PAIRS : *index);
}

static void simulated_records(void **state) {
    (void)state;
    static const record_case c = {"(v, s, x, y) -> (p, q) { p = v * (s > 0 ? 1 : -1) + x; q = y - s; }",
                                  "float64,float32,float64,float32->float64,float32",
                                  {DT_FLOAT64, DT_FLOAT32},
                                  sizeof(pair),
                                  {0, offsetof(pair, tag)},
                                  false};
    pair target[PAIRS], want[PAIRS], operand[PAIR_UPDATES];
    int64_t at[PAIR_UPDATES];
    if (!sim_there())
        skip();
    memset(target, 0, sizeof target);
    for (int i = 0; i < PAIRS; i++)
        want[i] = target[i] = (pair){i, (float)(i % 3)};
    for (int i = 0; i < PAIR_UPDATES; i++) {
        int place = place_draw(&at[i]);
        operand[i] = (pair){(double)pick(-9, 9), (float)pick(-1, 1)};
        if (place < 0)
            continue;
        pair *p = &want[place];
        *p = (pair){p->value * (p->tag > 0 ? 1 : -1) + operand[i].value, operand[i].tag - p->tag};
    }
    records_run(&c, target, operand, at);
    for (int i = 0; i < PAIRS; i++)
        assert_true(target[i].value == want[i].value && target[i].tag == want[i].tag);
}

/* Records of 8 bytes with a gap, and of 4 without. The value depends on the tag, so that leaves that were exchanged one by one would show. */
static void simulated_words(void **state) {
    (void)state;
    static const record_case wide = {"(v, s, x, y) -> (p, q) { p = v + x; q = s ^ y; }",
                                     "float32,int8,float32,int8->float32,int8",
                                     {DT_FLOAT32, DT_INT8},
                                     sizeof(word_pair),
                                     {0, offsetof(word_pair, tag)},
                                     true};
    static const record_case narrow = {"(v, s, x, y) -> (p, q) { p = max(v, x); q = v < x ? y : s; }",
                                       "int16,uint16,int16,uint16->int16,uint16",
                                       {DT_INT16, DT_UINT16},
                                       4,
                                       {0, 2},
                                       true};
    word_pair target[PAIRS], want[PAIRS], operand[PAIR_UPDATES];
    int16_t best[PAIRS][2], seen[PAIRS][2], offered[PAIR_UPDATES][2];
    int64_t at[PAIR_UPDATES];
    if (!sim_there())
        skip();
    memset(target, 0x5A, sizeof target);
    memset(best, 0, sizeof best);
    for (int i = 0; i < PAIRS; i++) {
        target[i].value = (float)i;
        target[i].tag = (int8_t)pick(-128, 127);
        best[i][0] = (int16_t)-i;
    }
    memcpy(want, target, sizeof want);
    memcpy(seen, best, sizeof seen);
    for (int i = 0; i < PAIR_UPDATES; i++) {
        int place = place_draw(&at[i]);
        operand[i] = (word_pair){(float)pick(-9, 9), (int8_t)pick(-128, 127)};
        offered[i][0] = offered[i][1] = (int16_t)pick(1, 30000);
        if (place < 0)
            continue;
        want[place].value += operand[i].value;
        want[place].tag ^= operand[i].tag;
        if (offered[i][0] > seen[place][0])
            memcpy(seen[place], offered[i], sizeof offered[i]);
    }
    records_run(&wide, target, operand, at);
    assert_memory_equal(target, want, sizeof want);
    records_run(&narrow, best, offered, at);
    assert_memory_equal(best, seen, sizeof seen);
}

/* ---- From uf_at to a launch of real PTX, by the mock driver: it refuses parameter blocks of another size than the PTX declares.
 * Device memory is memory of this process. ---- */

static const DLDevice cuda_device_0 = {kDLCUDA, 0};

static DLManagedTensor *device_line(dtype type, int64_t n) {
    DLManagedTensor *m;
    CHECK(!uf_empty(&m, cuda_device_0, dtypes[type].dl, 1, &n));
    return m;
}

static uintptr_t address_of(const DLManagedTensor *m) { return (uintptr_t)m->dl_tensor.data; }

static const mock_launch *launched(int times) {
    static int before;
    int now;
    const mock_launch *l = mock->launch(&now);
    CHECK(now == before + times);
    before = now;
    return l;
}

static void launch_body(void *unused) {
    (void)unused;
    enum {
        TARGET = 1000,
        UPDATES = 5000
    };
    uf_func *add, *mul;
    CHECK(!uf_vectorize(&add, "add", NULL, "(x, y) { return x + y; }"));
    CHECK(!uf_vectorize(&mul, "mul", NULL, "(x, y) { return x * y; }"));
    DLManagedTensor *x = device_line(DT_FLOAT32, TARGET), *y = device_line(DT_FLOAT32, UPDATES),
                    *i = device_line(DT_INT32, UPDATES);
    uf_options sure = {.size = sizeof sure, .flags = UF_DETERMINISTIC, .stream = (void *)0x99};
    CHECK(!uf_at(add, &x->dl_tensor, 1, &i->dl_tensor, &y->dl_tensor, NULL));
    const mock_launch *l = launched(1);
    /* the target, the operand, the target, the index; its extent and stride; how many */
    CHECK(l->words[0] == address_of(x) && l->words[1] == address_of(y) && l->words[2] == address_of(x) &&
          l->words[3] == address_of(i) && l->words[4] == TARGET && l->words[5] == 1 && l->words[6] == UPDATES);
    unsigned plain = l->blocks;
    CHECK(!uf_at(add, &x->dl_tensor, 1, &i->dl_tensor, &y->dl_tensor, &sure));
    l = launched(1);
    CHECK(l->stream == (void *)0x99 && l->blocks == 4 && plain != 4); /* the mock's multiprocessors */
    CHECK(!uf_at(mul, &x->dl_tensor, 1, &i->dl_tensor, &UF_SCALAR(2), NULL));
    launched(1);
    CHECK(mock->live().allocations == 3);
    /* what overlaps is copied in the stream's order; an index that does, too */
    CHECK(!uf_at(add, &y->dl_tensor, 1, &i->dl_tensor, &y->dl_tensor, NULL));
    l = launched(1);
    CHECK(l->words[0] == address_of(y) && l->words[1] != address_of(y) && l->words[3] == address_of(i));
    CHECK(!uf_at(add, &i->dl_tensor, 1, &i->dl_tensor, &UF_SCALAR(2), NULL));
    CHECK(launched(1)->words[2 + 1] != address_of(i));
    /* the host cannot look at these */
    DLManagedTensor *z = device_line(DT_COMPLEX64, TARGET);
    z->dl_tensor.byte_offset = 4;
    z->dl_tensor.shape[0] = TARGET - 1;
    CHECK(!uf_at(mul, &z->dl_tensor, 1, &i->dl_tensor, &UF_SCALAR(2), NULL)); /* its elements are at no 8 bytes */
    CHECK(launched(1)->blocks == 4);
    CHECK(!uf_at(add, &z->dl_tensor, 1, &i->dl_tensor, &UF_SCALAR(2), NULL));
    CHECK(launched(1)->blocks != 4);
    CHECK(mock->live().depth == 0);
    DLManagedTensor *all[] = {x, y, i, z};
    for (size_t k = 0; k < COUNT(all); k++)
        all[k]->deleter(all[k]);
    uf_free(add);
    uf_free(mul);
}

/* Records that are exchanged as words, and such that each belong to a warp: the mock has 4 multiprocessors. */
static void record_launch_body(void *unused) {
    (void)unused;
    enum {
        RECORDS = 1000,
        UPDATES = 5000,
        OWNED = 4
    };
    static const struct {
        const char *source, *name;
        uint16_t bytes;
        bool exchanged;
    } rows[] = {{"struct tagged { float32 value; int8 tag; };", "tagged", 8, true},
                {"struct wave { complex64 value; };", "wave", 8, true},
                {"struct small { int16 value; uint8 a, b; };", "small", 4, true},
                {"struct bytes { int8 value, b; };", "bytes", 2, false},
                {"struct pixel { float32 value, g, b; };", "pixel", 12, false},
                {"struct range { float64 value, high; };", "range", 16, false}};
    const uf_options sure = {.size = sizeof sure, .flags = UF_DETERMINISTIC};
    DLManagedTensor *i = device_line(DT_INT32, UPDATES);
    for (size_t k = 0; k < COUNT(rows); k++) {
        char signature[64];
        uf_module *m;
        uf_func *f;
        snprintf(signature, sizeof signature, "%s,%s->%s", rows[k].name, rows[k].name, rows[k].name);
        const uf_section only = {.signatures = signature, .source = "(x, y) { x.value += y.value; return x; }"};
        CHECK(!uf_module_new(
            &m, &(uf_module_definition){.size = sizeof(uf_module_definition), .name = "m", .source = rows[k].source}));
        CHECK(!uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                              .name = "f",
                                              .nsections = 1,
                                              .sections = &only,
                                              .nmodules = 1,
                                              .modules = &m}));
        DLManagedTensor *memory = device_line(DT_UINT8, rows[k].bytes * UPDATES);
        DLTensor x = memory->dl_tensor, y = x;
        int64_t updates = UPDATES, records = RECORDS;
        x.dtype.lanes = y.dtype.lanes = rows[k].bytes;
        x.shape = &records;
        y.shape = &updates;
        x.strides = y.strides = NULL;
        CHECK(!uf_at(f, &x, 1, &i->dl_tensor, &y, NULL));
        CHECK((launched(1)->blocks == OWNED) == !rows[k].exchanged);
        CHECK(!uf_at(f, &x, 1, &i->dl_tensor, &y, &sure));
        CHECK(launched(1)->blocks == OWNED);
        if (!strcmp(rows[k].name, "tagged")) { /* aligned to the record, but not to the word */
            x.byte_offset = 4;
            CHECK(!uf_at(f, &x, 1, &i->dl_tensor, &y, NULL));
            CHECK(launched(1)->blocks == OWNED);
        }
        memory->deleter(memory);
        uf_free(f);
        uf_module_free(m);
    }
    i->deleter(i);
}

static void launches_of_records(void **state) {
    (void)state;
    assert_true(mock_find());
    if (!nvvm_found())
        skip();
    in_child(record_launch_body, NULL);
}

static void launches(void **state) {
    (void)state;
    assert_true(mock_find());
    if (!nvvm_found())
        skip();
    in_child(launch_body, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(operators),
                                       cmocka_unit_test_setup(accepted, draw_seed),
                                       cmocka_unit_test(instructions),
                                       cmocka_unit_test(goldens),
                                       cmocka_unit_test_setup(simulated, draw_seed),
                                       cmocka_unit_test_setup(simulated_copies, draw_seed),
                                       cmocka_unit_test_setup(simulated_records, draw_seed),
                                       cmocka_unit_test_setup(simulated_words, draw_seed),
                                       cmocka_unit_test(launches),
                                       cmocka_unit_test(launches_of_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
