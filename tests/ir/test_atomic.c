/* test_atomic.c - atomic functions on elements: every function of every dtype on the CPU and on the simulated GPU against a serial
 * fold, neighbours being left alone; sums, exchanges and locks by many threads at once; the code for GPUs before its judges. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/common/atomic.h"
#include "ir/common/skeleton.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "gpu_sim.h"
#include "ir_check.h"

static const code_target gpu = {.gpu = true, .arch = 90};

static bool takes(atomic_op o, dtype t) {
    switch (atomics[o].kind) {
    case 'A':
        return dtype_is_integer(t) || dtype_is_floating(t);
    case 'B':
        return dtype_is_integer(t) || t == DT_BOOL;
    default:
        return t != DT_COMPLEX128;
    }
}

/* ---- Code: results[i] = atomic(&array[index[i]], value[i], expected[i]). Operands: array, index, value, expected, results; the
 * word n. On the GPU a thread has an i. ---- */

enum {
    ARRAY,
    INDEX,
    VALUE,
    EXPECTED,
    RESULTS,
    OPERANDS
};

typedef struct wanted {
    const variant *v;
    dtype t;
    int first, last; /* functions, one after the other */
    bool shared;
} wanted;

static ssa element(skeleton *s, int k, ssa i) { return skeleton_address(s, k, s->base[k], i); }

/* As an address in shared memory, which it is where nobody looks. */
static ssa shared_pointer(skeleton *s, ssa pointer) {
    const char *type = ir_memory_type(skeleton_memory(s, ARRAY));
    ssa address = emit_value(s->e, "ptrtoint %s%s %s to i64", type, ir_global_pointer(s->e), pointer.text);
    return emit_value(s->e, "inttoptr i64 %s to %s addrspace(3)*", address.text, type);
}

static void write_one(skeleton *s, const wanted *w, ssa i) {
    emit *e = s->e;
    ssa at = element(s, ARRAY, emit_load(e, DT_INT64, element(s, INDEX, i)));
    ssa value = emit_load(e, w->t, element(s, VALUE, i)), expected = emit_load(e, w->t, element(s, EXPECTED, i));
    if (w->shared)
        at = shared_pointer(s, at);
    for (int o = w->first; o <= w->last; o++) {
        if (!takes((atomic_op)o, w->t))
            continue;
        e->shared = w->shared;
        ssa old = emit_atomic(e, (atomic_op)o, w->t, at, value, expected);
        e->shared = false;
        emit_store(e, w->t, old, element(s, RESULTS, i));
    }
}

static void write(emit *e, void *user) {
    const wanted *w = user;
    skeleton *s = arena_alloc(e->a, sizeof *s);
    skeleton_begin(s, e, NULL, w->v, NULL);
    ssa n = skeleton_parameter(s, e->target->gpu ? GPU_FLAT_ELEMENTS : CPU_FLAT_ELEMENTS);
    if (e->target->gpu)
        skeleton_parameter(s, GPU_FLAT_HEAD); /* which these do not look at */
    if (!e->target->gpu) {
        counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), n);
        write_one(s, w, l.i);
        counted_loop_end(e, &l, ssa_constant(1), 0);
    } else {
        ssa block = emit_op(e, "mul i32", emit_special_register(e, "ctaid"), emit_special_register(e, "ntid"));
        ssa i = emit_widen(e, emit_op(e, "add i32", block, emit_special_register(e, "tid")));
        int end = skeleton_if(s, emit_op(e, "icmp slt i64", i, n));
        write_one(s, w, i);
        skeleton_end_if(s, end);
    }
    skeleton_end(s);
}

static code_module module_of(arena *a, dtype t, int first, int last, const code_target *target, bool shared) {
    variant v;
    code_module m = {.nsymbols = 0};
    memset(&v, 0, sizeof v);
    v.loop = LOOP_FLAT;
    v.nin = OPERANDS;
    for (int k = 0; k < OPERANDS; k++)
        v.operand[k].memory = v.operand[k].value = (uint8_t)(k == INDEX ? DT_INT64 : t);
    wanted w = {&v, t, first, last, shared};
    assert_int_equal(skeleton_module(a, "atomic", &v, target, &m, write, &w), UF_OK);
    return m;
}

/* ---- What is right ---- */

static float as_float(dtype t, const void *from) { return (float)number_read(t, from).as.f[0]; }

static void put_float(dtype t, float value, void *to) {
    number_write((number){.type = DT_FLOAT32, .as.f = {value}}, t, to);
}

static void fold_floating(atomic_op o, dtype t, void *element, const void *value) {
    double a = number_read(t, element).as.f[0], b = number_read(t, value).as.f[0];
    double sum = o == ATOMIC_ADD ? a + b : a - b;
    if (o == ATOMIC_MIN || o == ATOMIC_MAX) {
        if (!((o == ATOMIC_MIN ? a < b : a > b) || a != a))
            memcpy(element, value, dtypes[t].size);
    } else if (t == DT_FLOAT64) {
        memcpy(element, &sum, sizeof sum);
    } else {
        float x = as_float(t, element), y = as_float(t, value);
        put_float(t, o == ATOMIC_ADD ? x + y : x - y, element);
    }
}

static void fold_integer(atomic_op o, dtype t, void *element, const void *value) {
    number a = number_read(t, element), b = number_read(t, value);
    bool less = dtypes[t].is_signed ? a.as.i < b.as.i : a.as.u < b.as.u;
    uint64_t results[] = {
        [ATOMIC_ADD] = a.as.u + b.as.u,        [ATOMIC_SUB] = a.as.u - b.as.u, [ATOMIC_MIN] = less ? a.as.u : b.as.u,
        [ATOMIC_MAX] = less ? b.as.u : a.as.u, [ATOMIC_AND] = a.as.u & b.as.u, [ATOMIC_OR] = a.as.u | b.as.u,
        [ATOMIC_XOR] = a.as.u ^ b.as.u};
    memcpy(element, &results[o], dtypes[t].size); /* little-endian hosts */
}

static void fold_one(atomic_op o, dtype t, void *element, const void *value, const void *expected) {
    size_t size = dtypes[t].size;
    if (o == ATOMIC_EXCHANGE || (o == ATOMIC_COMPARE_EXCHANGE && !memcmp(element, expected, size)))
        memcpy(element, value, size);
    else if (o != ATOMIC_COMPARE_EXCHANGE)
        (dtype_is_floating(t) ? fold_floating : fold_integer)(o, t, element, value);
}

static bool is_nan(dtype t, const void *x) { return dtype_is_floating(t) && as_float(t, x) != as_float(t, x); }

static bool same(dtype t, const void *a, const void *b) {
    return !memcmp(a, b, dtypes[t].size) || (is_nan(t, a) && is_nan(t, b));
}

/* ---- Folds ---- */

enum {
    ELEMENTS = 9,
    UPDATES = 64
};

/* Arrays of one run, of 16 bytes an element at most. */
typedef struct data {
    _Alignas(16) char array[16 * ELEMENTS];
    int64_t index[UPDATES];
    _Alignas(16) char value[16 * UPDATES], expected[16 * UPDATES], results[16 * UPDATES];
} data;

/* Any bits: small numbers, large ones, and, of floating dtypes, infinities and NaN. */
static void draw_element(dtype t, void *to) {
    uint64_t bits[2] = {draw_bits() << 11 ^ draw_bits(), draw_bits() << 11 ^ draw_bits()};
    dtype part = (dtype)dtypes[t].component;
    memcpy(to, bits, dtypes[t].size);
    if (t == DT_BOOL)
        *(uint8_t *)to = (uint8_t)chance(50);
    else if (chance(70))
        for (int i = 0; i < (dtype_is_complex(t) ? 2 : 1); i++)
            number_write((number){.type = DT_INT64, .as.i = pick(0, 3)}, part, (char *)to + i * dtypes[part].size);
}

/* The elements at both ends are nobody's. */
static void draw_data(dtype t, data *d) {
    size_t size = dtypes[t].size;
    memset(d, 0, sizeof *d);
    for (int i = 0; i < ELEMENTS; i++)
        draw_element(t, d->array + size * (size_t)i);
    for (int i = 0; i < UPDATES; i++) {
        d->index[i] = pick(1, ELEMENTS - 2);
        draw_element(t, d->value + size * (size_t)i);
        memcpy(d->expected + size * (size_t)i, d->array + size * (size_t)d->index[i], size);
        if (chance(50))
            draw_element(t, d->expected + size * (size_t)i);
    }
}

static void words_of(data *d, uint64_t *words) {
    words[ARRAY] = (uintptr_t)d->array;
    words[INDEX] = (uintptr_t)d->index;
    words[VALUE] = (uintptr_t)d->value;
    words[EXPECTED] = (uintptr_t)d->expected;
    words[RESULTS] = (uintptr_t)d->results;
    words[OPERANDS] = UPDATES;
}

static void compare(const char *where, atomic_op o, dtype t, const data *before, const data *after) {
    data d = *before;
    size_t size = dtypes[t].size;
    for (int i = 0; i < UPDATES; i++) {
        char *at = d.array + size * (size_t)d.index[i];
        if (!same(t, after->results + size * (size_t)i, at))
            fail_msg("%s: %s of %s: result %d", where, atomics[o].name, dtypes[t].name, i);
        fold_one(o, t, at, d.value + size * (size_t)i, d.expected + size * (size_t)i);
    }
    for (int i = 0; i < ELEMENTS; i++)
        if (!same(t, after->array + size * (size_t)i, d.array + size * (size_t)i))
            fail_msg("%s: %s of %s: element %d", where, atomics[o].name, dtypes[t].name, i);
}

typedef void entry(const uint64_t *words);

static void on_the_cpu(atomic_op o, dtype t) {
    arena a = {0};
    data before, after;
    uint64_t words[OPERANDS + 2] = {0};
    code_target host = judge_host();
    code_module m = module_of(&a, t, o, o, &host, false);
    judged *j = judge_compile((int)pick(0, judge_count() - 1), &m, (int)pick(0, 3));
    draw_data(t, &before);
    after = before;
    words_of(&after, words);
    ((entry *)judge_address(j, m.entry))(words);
    compare("CPU", o, t, &before, &after);
    judge_free(j);
    text_free(&m.ir);
    arena_free(&a);
}

static void on_the_gpu(atomic_op o, dtype t, bool shared) {
    arena a = {0};
    data before, after;
    uint64_t words[OPERANDS + 2] = {0};
    code_module m = module_of(&a, t, o, o, &gpu, shared);
    draw_data(t, &before);
    after = before;
    words_of(&after, words);
    const char *wrong = sim_run(&m, words, OPERANDS + 2, UPDATES, 1); /* a block each, in order */
    if (wrong)
        fail_msg("%s", wrong);
    compare(shared ? "shared" : "GPU", o, t, &before, &after);
    text_free(&m.ir);
    arena_free(&a);
}

static void folds_on_the_cpu(void **state) {
    (void)state;
    if (!judge_count())
        skip();
    for (int o = 0; o < ATOMIC_COUNT; o++)
        for (dtype t = DT_BOOL; t < DT_COUNT; t++)
            if (takes((atomic_op)o, t))
                on_the_cpu((atomic_op)o, t);
}

static void folds_on_the_gpu(void **state) {
    (void)state;
    if (!sim_there())
        skip();
    for (int o = 0; o < ATOMIC_COUNT; o++)
        for (dtype t = DT_BOOL; t < DT_COUNT; t++)
            if (takes((atomic_op)o, t))
                on_the_gpu((atomic_op)o, t, chance(50));
}

/* ---- Many at once ---- */

enum {
    THREADS = 4,
    ROUNDS = 4000
};

typedef struct crowd {
    entry *run;
    dtype t;
    char *array;
    int64_t slots;
    uint64_t sums[ELEMENTS]; /* of what this thread put in */
    int number;
} crowd;

static void *add_in_turn(void *user) {
    crowd *c = user;
    char value[8] = {0}, result[8];
    uint64_t state = (uint64_t)c->number + 1;
    for (int i = 0; i < ROUNDS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int64_t index = (int64_t)(state >> 33) % c->slots, small = (int64_t)(state >> 60);
        number_write((number){.type = DT_INT64, .as.i = small}, c->t, value);
        c->sums[index] += (uint64_t)small;
        uint64_t words[] = {(uintptr_t)c->array, (uintptr_t)&index, (uintptr_t)value,
                            (uintptr_t)value,    (uintptr_t)result, 1};
        c->run(words);
    }
    return NULL;
}

/* Every value comes back once, or stays. */
static void *exchange_in_turn(void *user) {
    crowd *c = user;
    int64_t index = 0, value, result;
    for (int i = 0; i < ROUNDS; i++) {
        value = 1 + c->number * ROUNDS + i;
        uint64_t words[] = {(uintptr_t)c->array, (uintptr_t)&index,  (uintptr_t)&value,
                            (uintptr_t)&value,   (uintptr_t)&result, 1};
        c->run(words);
        c->sums[0] += (uint64_t)(value - result);
    }
    return NULL;
}

/* Counts up as long as it was first. */
static void *count_in_turn(void *user) {
    crowd *c = user;
    int64_t index = 0, expected = 0, next = 1, result = 0;
    uint64_t words[] = {(uintptr_t)c->array,  (uintptr_t)&index,  (uintptr_t)&next,
                        (uintptr_t)&expected, (uintptr_t)&result, 1};
    for (int i = 0; i < ROUNDS;) {
        c->run(words);
        i += result == expected;
        expected = result == expected ? next : result;
        next = expected + 1;
    }
    return NULL;
}

static void run_crowd(crowd *all, atomic_op o, dtype t, void *(*body)(void *), char *array, int64_t slots) {
    arena a = {0};
    code_target host = judge_host();
    code_module m = module_of(&a, t, o, o, &host, false);
    judged *j = judge_compile(0, &m, 3);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        all[i] = (crowd){(entry *)judge_address(j, m.entry), t, array, slots, {0}, i};
        assert_int_equal(pthread_create(&threads[i], NULL, body, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    judge_free(j);
    text_free(&m.ir);
    arena_free(&a);
}

static void crowds(void **state) {
    (void)state;
    _Alignas(64) char array[8 * ELEMENTS];
    crowd all[THREADS];
    if (!judge_count())
        skip();
    for (dtype t = DT_INT8; t <= DT_FLOAT64; t++) {
        if (dtype_is_half(t))
            continue; /* their sums are not exact */
        memset(array, 0, sizeof array);
        run_crowd(all, ATOMIC_ADD, t, add_in_turn, array, ELEMENTS);
        for (int i = 0; i < ELEMENTS; i++) {
            char right[8];
            uint64_t sum = 0;
            for (int k = 0; k < THREADS; k++)
                sum += all[k].sums[i];
            number_write((number){.type = DT_INT64, .as.i = (int64_t)sum}, t, right);
            if (dtype_is_integer(t))
                memcpy(right, &sum, dtypes[t].size);
            if (memcmp(right, array + i * dtypes[t].size, dtypes[t].size) != 0)
                fail_msg("%s: sum %d", dtypes[t].name, i);
        }
    }
    int64_t cell = 0;
    uint64_t sum = 0;
    run_crowd(all, ATOMIC_EXCHANGE, DT_INT64, exchange_in_turn, (char *)&cell, 1);
    for (int k = 0; k < THREADS; k++)
        sum += all[k].sums[0];
    assert_true(sum == (uint64_t)cell);
    cell = 0;
    run_crowd(all, ATOMIC_COMPARE_EXCHANGE, DT_INT64, count_in_turn, (char *)&cell, 1);
    assert_true(cell == THREADS * ROUNDS);
}

/* ---- Judges ---- */

static void accepted(void **state) {
    (void)state;
    code_target host = judge_host();
    for (dtype t = DT_BOOL; t < DT_COMPLEX128; t++)
        for (int way = 0; way < 3; way++) {
            arena a = {0};
            const code_target *target = way ? &gpu : &host;
            code_module m = module_of(&a, t, 0, ATOMIC_COUNT - 1, target, way == 2);
            if (!judge_accept(&m, target, JUDGE_ASSEMBLE | JUDGE_ONE_ARCH, draw_bits()))
                fail_msg("%s, way %d", dtypes[t].name, way);
            text_free(&m.ir);
            arena_free(&a);
        }
}

/* What has an instruction takes that one, without a loop. */
static void instructions(void **state) {
    (void)state;
    static const struct {
        atomic_op o;
        dtype t;
        bool shared;
        const char *wanted;
    } rows[] = {
        {ATOMIC_ADD, DT_INT32, false, "atom.global.add.u32"},
        {ATOMIC_ADD, DT_UINT64, true, "atom.shared.add.u64"},
        {ATOMIC_ADD, DT_FLOAT32, false, "atom.global.add.f32"},
        {ATOMIC_SUB, DT_FLOAT32, true, "atom.shared.add.f32"},
        {ATOMIC_ADD, DT_FLOAT64, true, "atom.shared.add.f64"},
        {ATOMIC_MIN, DT_INT32, false, "atom.global.min.s32"},
        {ATOMIC_MAX, DT_UINT64, false, "atom.global.max.u64"},
        {ATOMIC_XOR, DT_INT64, true, "atom.shared.xor.b64"},
        {ATOMIC_EXCHANGE, DT_FLOAT32, false, "atom.global.exch.b32"},
        {ATOMIC_COMPARE_EXCHANGE, DT_FLOAT64, true, "atom.shared.cas.b64"},
        {ATOMIC_COMPARE_EXCHANGE, DT_COMPLEX64, false, "atom.global.cas.b64"},
    };
    if (!nvvm_found())
        skip();
    for (size_t i = 0; i < COUNT(rows); i++) {
        arena a = {0};
        const char *ptx;
        code_module m = module_of(&a, rows[i].t, rows[i].o, rows[i].o, &gpu, rows[i].shared);
        const char *wrong = nvvm_judge(&m, 90, false, &ptx);
        if (wrong)
            fail_msg("%s", wrong);
        const char *atom = strstr(ptx, "atom.");
        if (!strstr(ptx, rows[i].wanted) || strstr(atom + 1, "atom.") || strstr(ptx, "ld.volatile"))
            fail_msg("%s of %s: no %s alone in\n%s", atomics[rows[i].o].name, dtypes[rows[i].t].name, rows[i].wanted,
                     ptx);
        text_free(&m.ir);
        arena_free(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(folds_on_the_cpu, draw_seed),
                                       cmocka_unit_test_setup(folds_on_the_gpu, draw_seed), cmocka_unit_test(crowds),
                                       cmocka_unit_test_setup(accepted, draw_seed), cmocka_unit_test(instructions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
