/* test_gu_ir.c - code of generalized ufuncs: directed and random kernels for random variants are accepted by every LLVM and
 * by libNVVM; for every kind of cooperative group, run on a simulated GPU, they give what the interpreter gives.
 * What the code and the traits of single kernels are is in test_gu_code.c. UF_SEED repeats a run, PROP_N=n tries n times as many
 * variants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/ir.h"
#include "ir_check.h"
#include "lang_try.h"
#include "ref/random.h"
#include "type/schema.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "failing.h"
#include "gpu_sim.h"
#include "gu_case.h"
#include "gu_kernel.h"
#include "rewrite.h"

/* ---- Variants ---- */

enum {
    ACROSS_MOST = 8 /* log2 of the calls that a grid has side by side */
};

/* log2 of the calls that a grid has side by side where there are so many; 0: they are not side by side. */
static uint8_t grid_width(int64_t calls) {
    int width = 0;
    while (1 << width < calls && width <= ACROSS_MOST)
        width++;
    return width <= ACROSS_MOST ? (uint8_t)width : 0;
}

static bool only_rare; /* variants are simulated only if they are what is drawn rarely */

/* May neighbouring calls stand side by side? */
static bool can_be_across(const code_traits *traits) {
    for (int i = 0; i < traits->nconstructs; i++)
        if (traits->construct[i].nested)
            return false;
    return traits->uniform && traits->maps_to_threads;
}

/* Inputs with one core dimension, staged whole for a cooperative group, now and then. */
static void draw_whole(const tree *t, variant *v) {
    bool block = v->gufunc.coop <= COOP_BLOCK, group = block && (v->gufunc.coop > COOP_WARP || v->gufunc.across);
    for (int k = 0; k < v->nin && group; k++) {
        v->operand[k].staged =
            t->layout->operands[k].rank == 1 && (v->gufunc.across || v->operand[k].unit) && chance(60);
        if (v->operand[k].staged && v->gufunc.across)
            v->operand[k].unit = 0;
    }
}

static void draw_across(variant *v, const code_traits *traits) {
    if (!v->gufunc.coop || !can_be_across(traits) || chance(only_rare ? 20 : 50))
        return;
    v->gufunc.along = v->gufunc.lanes = 0;
    v->gufunc.vector = 1;
    v->gufunc.across = (uint8_t)pick(1, 5);
    v->gufunc.coop = (uint8_t)pick(1, 9 - v->gufunc.across);
    if (!only_rare && chance(20)) {
        v->gufunc.across = (uint8_t)pick(1, ACROSS_MOST);
        v->gufunc.coop = COOP_GRID;
    }
}

/* The core dimension that all constructs go along alone; -1: there is none. */
static int one_range(const code_traits *traits) {
    int d = traits->nconstructs && traits->nconstructs < CODE_CONSTRUCTS ? traits->construct[0].outer[0] : -1;
    for (int i = 0; i < traits->nconstructs; i++)
        if (traits->construct[i].nested || traits->construct[i].nouter != 1 || traits->construct[i].outer[0] != d)
            d = -1;
    return d;
}

/* Pieces of the one range, now and then: of a group of several blocks only of what is staged whole. Operands whose unit is another
 * dimension have none. */
static void draw_pieces(const tree *t, variant *v, const code_traits *traits) {
    int d = one_range(traits), lead = -1;
    if (d < 0 || !v->gufunc.coop || v->gufunc.across || chance(30))
        return;
    v->gufunc.pieces = 1;
    for (int k = v->nin + v->nout - 1; k >= 0; k--) {
        const layout_operand *o = &t->layout->operands[k];
        if (v->operand[k].unit && o->dim[v->operand[k].unit - 1] != d)
            v->operand[k].unit = v->operand[k].staged = 0;
        lead = v->operand[k].unit ? k : lead;
    }
    for (int k = lead + 1; lead >= 0 && k < v->nin; k++) {
        int bytes = dtypes[v->operand[k].memory].size * v->gufunc.vector;
        v->operand[k].shifted = v->operand[k].unit && t->layout->operands[k].rank == 1 && !v->operand[k].staged &&
                                bytes >= 4 && bytes <= 16 && chance(40);
    }
    for (int k = 0; k < v->nin && v->gufunc.coop == COOP_GRID; k++)
        v->operand[k].staged = v->operand[k].unit && !v->operand[k].shifted && t->layout->operands[k].rank == 1 &&
                               !(traits->elsewhere >> k & 1) && chance(70);
    v->gufunc.pieces = lead >= 0;
}

/* Inputs with one core dimension in registers, now and then: so many elements (of rows, vectors) of one of the dimensions, which has as many
 * as `sizes` says; NULL: any. */
static void draw_held(const tree *t, variant *v, const int64_t *sizes) {
    bool rows = !v->gufunc.across;
    if ((!only_rare && chance(40)) || v->gufunc.coop > COOP_BLOCK || (rows && (v->gufunc.coop < 1 || v->gufunc.pieces)))
        return;
    int dimension = (int)pick(0, 2), vector = rows ? v->gufunc.vector : 1;
    int64_t held = pick(HELD_LOOSE + 1, 12), extent = sizes && dimension < t->layout->ndims ? sizes[dimension] : -1;
    if (extent >= 0)
        held = pick(0, 1) + ((extent / vector - 1) >> v->gufunc.coop) + 1;
    if (held <= HELD_LOOSE)
        held = HELD_LOOSE + 1;
    if (held * vector > HELD_MOST ||
        (extent >= 0 && (extent % vector || (held - HELD_LOOSE) << v->gufunc.coop > extent / vector)))
        return;
    for (int k = 0; k < v->nin; k++) {
        const layout_operand *o = &t->layout->operands[k];
        if (o->rank != 1 || o->dim[0] != dimension || v->operand[k].kind == OPERAND_NUMBER ||
            (rows && !v->operand[k].unit) || chance(20))
            continue;
        v->operand[k].held = 1;
        v->operand[k].staged = 0;
        v->gufunc.held = (uint8_t)held;
    }
}

static void random_operand(const tree *t, variant *v, int k) {
    variant_operand *o = &v->operand[k];
    bool input = k < v->nin;
    int rank = t->layout->operands[k].rank;
    if (chance(25))
        do
            o->memory = (uint8_t)pick(0, DT_COUNT - 1);
        while (input ? !dtype_can_cast((dtype)o->memory, (dtype)o->value, UF_CAST_SAFE)
                     : !dtype_can_cast((dtype)o->value, (dtype)o->memory, UF_CAST_SAME_KIND));
    if (input && !rank && chance(40)) {
        o->kind = OPERAND_NUMBER;
        o->memory = o->value;
    }
    if (chance(30))
        o->unit = (uint8_t)pick(0, rank);
}

static variant random_variant(const tree *t, bool on_gpu) {
    code_traits size;
    ir_traits(t, &size);
    int coop = on_gpu && size.maps_to_threads && chance(90) ? (int)pick(0, COOP_GRID) : 0;
    variant v = gu_variant(t, coop, 0, 1, 1);
    v.ndim = (uint8_t)pick(1, on_gpu ? 3 : 2);
    v.gufunc.along = (coop || !on_gpu) && chance(40);
    if (coop) {
        v.gufunc.lanes = v.gufunc.along ? 0 : (uint8_t)pick(0, coop < COOP_WARP ? coop : COOP_WARP);
        v.gufunc.vector = (uint8_t)(1 << pick(0, 4));
        v.gufunc.steps = (uint8_t)(1 << pick(0, 3));
    }
    v.wide = on_gpu && chance(25);
    draw_across(&v, &size);
    for (int k = 0; k < v.nin + v.nout; k++)
        random_operand(t, &v, k);
    draw_whole(t, &v);
    draw_pieces(t, &v, &size);
    draw_held(t, &v, NULL);
    bool staged = on_gpu && !coop && chance(60);
    if (staged)
        v.ndim = 1;
    for (int k = 0; k < v.nin + v.nout && staged; k++)
        v.operand[k].staged = t->layout->operands[k].rank && chance(70);
    return v;
}

/* ---- Accepted ---- */

/* One LLVM by turn; for the GPU libNVVM for an architecture by turn, of both its dialects, now and then with ptxas. */
static const char *judge(const code_module *m, bool on_gpu, int64_t turn) {
    static const int archs[] = {90, 100, 75, 120};
    const char *wrong = judge_count() ? judge_ir((int)(turn % judge_count()), m->ir.data) : NULL, *ptx = "";
    if (wrong || !on_gpu || !nvvm_found())
        return wrong;
    wrong = nvvm_judge(m, archs[turn % (int64_t)COUNT(archs)], turn % 16 == 3, &ptx);
    return wrong ? wrong : strstr(ptx, ".extern .func");
}

static void accept(const gu_kernel *k, const tree *t, bool on_gpu, int64_t turn) {
    arena a = {0};
    variant v = random_variant(t, on_gpu);
    code_module m = gu_generate(&a, k, t, &v, on_gpu ? &gu_gpu : &gu_cpu);
    const char *wrong = judge(&m, on_gpu, turn);
    if (wrong) {
        if (getenv("SHOW_IR"))
            puts(m.ir.data);
        gu_describe(k, &v);
        fail_msg("%s", wrong);
    }
    text_free(&m.ir);
    arena_free(&a);
}

static void sample(void (*try)(int64_t turn), int64_t n) {
    for (int64_t turn = 0; turn < trials(n); turn++)
        try(turn);
}

/* libNVVM takes most of the time where it is. */
static int64_t accepted_trials(void) { return nvvm_found() ? 12 : 60; }

static void try_directed(int64_t turn) {
    arena a = {0};
    const gu_kernel *k = &gu_kernels[pick(0, gu_kernel_count - 1)];
    const tree *t = gu_tree(&a, k);
    for (int i = 0; i < 4; i++)
        accept(k, t, false, 4 * turn + i);
    accept(k, t, true, turn);
    arena_free(&a);
}

static void test_directed(void **state) {
    (void)state;
    sample(try_directed, accepted_trials());
}

static void try_random(int64_t turn) {
    arena a = {0};
    core_program c = {.tame = false};
    core_layout l;
    const syntax *s;
    tree *t;
    source from = {draw_bits()};
    random_core_program(&c, &from);
    gu_kernel k = {"random", c.layout.data, c.p.source.data, c.p.signature};
    if (!layout_parse(&a, k.layout, &l) && !lang_parse(&a, k.source, NULL, &s) &&
        !lang_check(&a, s, &l, NULL, c.p.types, c.p.nin, c.p.types + c.p.nin, c.p.nout, false, &t)) {
        accept(&k, t, false, turn);
        accept(&k, t, true, turn);
    }
    core_program_free(&c);
    arena_free(&a);
}

static void test_random(void **state) {
    (void)state;
    sample(try_random, accepted_trials());
}

/* More of everything than the tables hold. */
static void test_many(void **state) {
    (void)state;
    text written = {0};
    arena a = {0};
    text_puts(&written, "(x) -> (s) { auto t = x[0];");
    for (int i = 0; i < 3 * CODE_CONSTRUCTS; i++)
        text_printf(&written, " auto a%d = sum(i : n, x[i] * %d%s);", i, i + 2, i ? "" : " + x[n - 1 - i] * x[i]");
    text_puts(&written, " s = sum(i : n, 0");
    for (int i = 0; i < 2 * CODE_ACCESSES; i++)
        text_printf(&written, " + x[i] * %d", i);
    text_puts(&written, ") + t + a3; }");
    gu_kernel k = {"many", "(n)->()", written.data, "float32->float32"};
    const tree *t = gu_tree(&a, &k);
    code_traits s;
    ir_traits(t, &s);
    assert_int_equal(s.nconstructs, CODE_CONSTRUCTS);
    assert_true(s.maps_to_threads);
    accept(&k, t, false, 0);
    accept(&k, t, true, 0);
    arena_free(&a);
    text_free(&written);
}

/* The same of trees in which expressions and statements are rewritten: see rewrite.h. */
static void test_rewritten(void **state) {
    tree_rewrites = 15;
    test_directed(state);
    test_random(state);
    tree_rewrites = 0;
}

/* ---- Run on the CPU ---- */

enum {
    PARAMETERS = 64
};

/* One inner call of arrays in C order. */
static void run_one(const gu_kernel *k, bool along, const int64_t *sizes, void *const *data) {
    arena a = {0};
    const tree *t = gu_tree(&a, k);
    const core_layout *l = t->layout;
    variant v = gu_variant(t, 0, 0, 1, 1);
    uint64_t parameters[PARAMETERS];
    int64_t core[PARAMETERS];
    int operands = l->nin + l->nout;
    v.gufunc.along = along;
    memcpy(core, sizes, (size_t)l->ndims * sizeof *core);
    for (int i = 0; i < operands; i++)
        for (int64_t d = l->operands[i].rank - 1, stride = 1; d >= 0; stride *= sizes[l->operands[i].dim[d--]])
            core[l->operands[i].strides + d] = stride;
    parameter_writer w = parameters_write(parameters, &v, l, false);
    for (int i = 0; i < operands; i++)
        put_operand(&w, i, (uintptr_t)data[i], NULL);
    for (int d = 0; d < 2; d++)
        put_parameter(&w, CPU_LOOP_EXTENTS, 1);
    for (int i = 0; i < 2 * operands; i++)
        put_parameter(&w, CPU_LOOP_STRIDES, 0);
    put_core(&w, l, core);
    parameters_finish(&w);
    code_module m = gu_generate(&a, k, t, &v, &gu_cpu);
    judged *compiled = judge_compile(0, &m, 1);
    ((void (*)(const uint64_t *))judge_address(compiled, m.entry))(parameters);
    judge_free(compiled);
    text_free(&m.ir);
    arena_free(&a);
}

/* A sum that only some elements want reads nothing for the others: what lies behind the matrix cannot be read. */
static void test_guarded_sum(void **state) {
    (void)state;
    if (!judge_count())
        skip();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    enum {
        M = 3,
        N = 40
    };
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    float *A = (float *)(void *)(memory + page) - M * N, y[N];
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    for (int i = 0; i < M * N; i++)
        A[i] = (float)i;
    run_one(gu_kernel_of("conditional"), true, (int64_t[]){M, N}, (void *[]){A, y});
    for (int i = 0; i < N; i++) {
        float sum = i < N - 1 ? 0 : 1;
        for (int j = 0; j < M; j++)
            sum += A[j * N + (i < N - 1 ? i + 1 : i)];
        assert_true(y[i] == sum);
    }
    munmap(memory, 2 * page);
}

/* The helper of `reduce` is called with terms and what it has returned; this one never ends for 0. */
static void test_looping_helper(void **state) {
    (void)state;
    if (!judge_count())
        skip();
    enum {
        M = 3,
        N = 100
    };
    int64_t x[M * N], y[M], z;
    for (int i = 0; i < M * N; i++)
        x[i] = (int64_t)1 << (i * 7 % 40); /* of powers of two it is the larger */
    alarm(60);
    for (int64_t n = 0; n <= N; n += n < 3 ? 1 : 97) {
        int64_t all = 0;
        run_one(gu_kernel_of("looping_helper"), false, (int64_t[]){M, n}, (void *[]){x, y, &z});
        for (int i = 0; i < M; i++) {
            int64_t most = 0;
            for (int64_t j = 0; j < n; j++)
                most = x[i * n + j] > most ? x[i * n + j] : most;
            assert_true(y[i] == most);
            all = most > all ? most : all;
        }
        assert_true(z == all);
    }
    alarm(0);
}

/* ---- Run as a GPU would ---- */

/* The variant for the arrays of a case, and the parameters of its launch. */
typedef struct launched {
    variant v;
    uint64_t words[512];
    int nparameters, blocks, threads;
    int64_t calls;
} launched;

static uint64_t slots[16 + (COOP_ENTRY * (COOP_BLOCKS_MAX + 1) << ACROSS_MOST)]; /* of one group, at most */

/* The blocks of the one group that there is, threads for each of the calls if they are side by side, and where the blocks meet. */
static void put_grid(parameter_writer *w, const variant *v, int blocks, int64_t calls) {
    assert_true((size_t)variant_slot_bytes(v) <= sizeof slots);
    memset(slots, 0, (size_t)variant_slot_bytes(v));
    put_parameter(w, GPU_GUFUNC_BLOCKS, blocks);
    if (v->gufunc.across) {
        put_divisor(w, GPU_GUFUNC_SIDE, calls);
        put_parameter(w, GPU_GUFUNC_RANKS,
                      chance(50) ? (1 << COOP_GRID_BLOCK) / calls : pick(1, (1 << COOP_GRID_BLOCK) / calls));
    }
    put_address(w, GPU_GUFUNC_SLOTS, slots);
}

static int64_t count_planes, count_in_place;
static int64_t count_unrolled, count_parts, count_pieces, count_heads, count_held;
static bool planes;  /* arrays are planes of neighbouring calls */
static bool sharing; /* all variants are unrolled, and threads share calls if they can */

/* Some core dimension that has stride 1; see variant_operand. */
static uint8_t unit_of(const gu_case *x, int k) {
    uint8_t unit = 0;
    for (int d = 0; d < x->c.operand[k].rank; d++)
        if (x->args[k].core_stride[d] == 1)
            unit = (uint8_t)(d + 1);
    return unit;
}

/* The same for pieces: the operands' rows are at places that differ by whole vectors. */
static bool operand_alike(const gu_case *x, const variant *v, int k, const char *const *data) {
    int lead = variant_lead(v), unit = v->operand[k].unit, size = dtypes[x->args[k].type].size,
        from = dtypes[x->args[lead].type].size;
    if (!unit || v->operand[k].shifted)
        return true;
    bool good = (uintptr_t)data[k] % (uintptr_t)size == 0;
    int64_t apart =
        (int64_t)((uintptr_t)data[k] / (uintptr_t)size) - (int64_t)((uintptr_t)data[lead] / (uintptr_t)from);
    good &= apart % v->gufunc.vector == 0;
    for (int d = 0; d < x->tree->layout->operands[k].rank; d++)
        good &= d == unit - 1 || x->args[k].core_stride[d] % v->gufunc.vector == 0;
    for (int d = 0; d < x->ndim; d++)
        good &= (x->args[k].loop_stride[d] - x->args[lead].loop_stride[d]) % v->gufunc.vector == 0;
    return good;
}

static bool operand_aligned(const gu_case *x, const variant *v, int k, const void *data) {
    const gu_array *a = &x->args[k];
    const layout_operand *o = &x->tree->layout->operands[k];
    int unit = v->operand[k].unit, size = dtypes[a->type].size;
    if (!unit || x->words[o->dim[unit - 1]] < v->gufunc.vector)
        return true;
    bool good = (uintptr_t)data % (uintptr_t)(size * v->gufunc.vector) == 0;
    for (int d = 0; d < o->rank; d++)
        good &= d == unit - 1 || a->core_stride[d] % v->gufunc.vector == 0;
    for (int d = 0; d < x->ndim; d++)
        good &= a->loop_stride[d] % v->gufunc.vector == 0;
    return good;
}

/* Elements of a core that lies in C order without gaps, call upon call; else 0. */
static int64_t packed_count(const gu_case *x, int k) {
    const layout_operand *o = &x->tree->layout->operands[k];
    int64_t count = 1;
    for (int d = o->rank - 1; d >= 0; count *= x->words[o->dim[d--]])
        if (x->words[o->dim[d]] != 1 && x->args[k].core_stride[d] != count)
            return 0;
    return x->ndim == 1 && x->args[k].loop_stride[0] == count && o->rank ? count : 0;
}

static int64_t pitch_of(int64_t count, int size) {
    return size >= 4 ? count | 1 : (((count * size + 3) / 4) | 1) * 4 / size;
}

static void choose_staged(const gu_case *x, launched *l) {
    int64_t bytes = 0;
    for (int k = 0; k < l->v.nin + l->v.nout; k++) {
        int64_t more = pitch_of(packed_count(x, k), dtypes[x->args[k].type].size) * 16 * l->threads;
        if (packed_count(x, k) < 1 || bytes + more > SIM_SHARED || chance(20))
            continue;
        l->v.operand[k].staged = 1;
        bytes += more;
    }
}

/* Threads share a call along some of the dimensions that allow it, if anything is staged. */
static void choose_parts(const gu_case *x, launched *l) {
    const core_layout *layout = x->tree->layout;
    variant v = l->v;
    code_traits traits;
    bool staged = false;
    ir_traits(x->tree, &traits);
    for (int k = 0; k < v.nin + v.nout; k++)
        staged |= v.operand[k].staged;
    for (int d = 0; d < layout->ndims && d < GUFUNC_SIZES; d++) {
        int size = v.gufunc.size[d], shares = (int)pick(1, size < 5 ? size : 5);
        if (traits.separable >> d & 1)
            v.gufunc.part[d] = (uint8_t)((size + shares - 1) / shares);
    }
    if (!staged || !core_has_parts(&v) || core_calls_step(&v, layout) * cores_pitch(&v, layout) > UNROLLED_SHARED ||
        core_threads(&v, layout) > 512)
        return;
    l->v = v;
    count_parts += core_sharers(&v) > 1;
}

/* Is the operand's core a plane: elements of the calls along the last dimension side by side, and no gaps? */
static bool is_plane(const gu_case *x, int k) {
    const layout_operand *o = &x->tree->layout->operands[k];
    int64_t count = 1, side = x->extent[1];
    for (int d = o->rank - 1; d >= 0; count *= x->words[o->dim[d--]])
        if (x->words[o->dim[d]] != 1 && x->args[k].core_stride[d] != count * side)
            return false;
    return o->rank && x->args[k].loop_stride[1] == 1 && x->args[k].loop_stride[0] == count * side;
}

/* Outputs may take the places of inputs. */
static void stage_in_place(const gu_case *x, launched *l) {
    code_traits traits;
    ir_traits(x->tree, &traits);
    for (int k = l->v.nin; k < l->v.nin + l->v.nout; k++) {
        if (!l->v.operand[k].staged || !(traits.assigned >> k & 1) || chance(30))
            continue;
        l->v.operand[k].staged = STAGED_IN_PLACE;
        if (staged_place(&l->v, x->tree->layout, k) == k)
            l->v.operand[k].staged = 1;
        else
            count_in_place++;
    }
}

/* Planes of calls, if any operand has some, and they fit. */
static void choose_planes(const gu_case *x, launched *l) {
    const core_layout *layout = x->tree->layout;
    variant before = l->v;
    bool any = false;
    l->v.gufunc.plane = (uint8_t)x->extent[1];
    for (int k = 0; k < l->v.nin + l->v.nout; k++)
        any |= l->v.operand[k].staged = is_plane(x, k) && chance(90);
    stage_in_place(x, l);
    int calls = core_calls(&l->v, layout);
    if (any && calls <= 512 && calls / core_side(&l->v) * cores_pitch(&l->v, layout) <= UNROLLED_SHARED)
        count_planes++;
    else
        l->v = before;
}

/* Constants for sizes, if the kernel can be written without loops for them; then cores that may be staged are, most of them. */
static bool choose_unrolled(const gu_case *x, launched *l) {
    enum {
        LINES = 3000
    };
    const core_layout *layout = x->tree->layout;
    arena a = {0};
    bool fits = layout->ndims <= GUFUNC_SIZES && !cores_convert(&l->v);
    for (int d = 0; d < layout->ndims && fits; d++)
        fits = x->words[d] >= 1 && x->words[d] <= GUFUNC_SIZE_MAX;
    fits = fits && ir_unrolled(&a, x->tree, x->words, LINES) <= LINES;
    arena_free(&a);
    if (!fits)
        return false;
    l->v.gufunc.unrolled = 1;
    for (int d = 0; d < layout->ndims; d++)
        l->v.gufunc.size[d] = (uint8_t)x->words[d];
    for (int k = 0; k < l->v.nin + l->v.nout; k++) {
        l->v.operand[k].staged = packed_count(x, k) > 0 && chance(80);
        if (cores_pitch(&l->v, layout) * 32 > UNROLLED_SHARED)
            l->v.operand[k].staged = 0;
    }
    if (x->planes)
        choose_planes(x, l);
    else if (sharing || chance(70))
        choose_parts(x, l);
    if (!core_has_parts(&l->v) && !l->v.gufunc.plane)
        stage_in_place(x, l);
    l->threads = core_threads(&l->v, layout);
    count_unrolled++;
    return true;
}

static void put_whole(parameter_writer *w, const gu_case *x, const launched *l) {
    int64_t offset = 0;
    for (int k = 0; k < l->v.nin; k++) {
        int64_t count = x->words[x->tree->layout->operands[k].dim[0]];
        if (!l->v.operand[k].staged)
            continue;
        if (l->v.gufunc.pieces)
            count += l->v.gufunc.vector;
        put_parameter(w, GPU_GUFUNC_STAGED, count);
        put_parameter(w, GPU_GUFUNC_STAGED, 0);
        put_parameter(w, GPU_GUFUNC_STAGED, offset);
        offset += (((count * dtypes[x->args[k].type].size) << l->v.gufunc.across) + 15) & -16;
    }
    assert_true(offset <= SIM_SHARED);
}

static void put_staged(parameter_writer *w, const gu_case *x, const launched *l) {
    int64_t offset = 0;
    for (int k = 0; k < l->v.nin + l->v.nout; k++) {
        int64_t count = packed_count(x, k), size = dtypes[x->args[k].type].size, pitch = pitch_of(count, (int)size);
        if (!l->v.operand[k].staged || l->v.gufunc.unrolled)
            continue;
        put_parameter(w, GPU_GUFUNC_STAGED, count);
        put_parameter(w, GPU_GUFUNC_STAGED, pitch);
        put_parameter(w, GPU_GUFUNC_STAGED, offset);
        offset += l->threads * pitch * size;
    }
}

/* Operands; are all of them aligned for vectors? */
static bool put_operands(parameter_writer *w, const gu_case *x, const launched *l) {
    const core_layout *layout = x->tree->layout;
    const char *data[UF_MAX_OPERANDS];
    bool aligned = true;
    for (int k = 0; k < layout->nin + layout->nout; k++) {
        const gu_buffer *b = &x->buffers[x->args[k].buffer];
        data[k] = (k < layout->nin ? b->before : b->used) + x->args[k].at;
        put_operand(w, k, (uintptr_t)data[k], NULL);
    }
    for (int k = 0; k < layout->nin + layout->nout; k++)
        aligned &= l->v.gufunc.pieces ? operand_alike(x, &l->v, k, data) : operand_aligned(x, &l->v, k, data[k]);
    count_heads += l->v.gufunc.pieces && aligned && l->v.gufunc.vector > 1;
    return aligned;
}

static void put_parameters(const gu_case *x, launched *l) {
    const core_layout *layout = x->tree->layout;
    parameter_writer w = parameters_write(l->words, &l->v, layout, true);
    bool aligned = put_operands(&w, x, l);
    put_parameter(&w, GPU_GUFUNC_CALLS, l->calls);
    put_parameter(&w, GPU_GUFUNC_ALIGNED, aligned);
    for (int d = 0; d < l->v.ndim - 1; d++)
        put_divisor(&w, GPU_GUFUNC_EXTENTS, x->extent[x->ndim - 1 - d]);
    for (int k = 0; k < layout->nin + layout->nout; k++)
        for (int d = 0; d < l->v.ndim; d++)
            put_parameter(&w, GPU_GUFUNC_STRIDES, d < x->ndim ? x->args[k].loop_stride[x->ndim - 1 - d] : 0);
    (l->v.gufunc.coop ? put_whole : put_staged)(&w, x, l);
    if (l->v.gufunc.coop == COOP_GRID)
        put_grid(&w, &l->v, l->blocks, l->calls);
    put_core(&w, layout, x->words);
    parameters_finish(&w);
    l->nparameters = (int)(w.next - l->words);
}

static void draw_launch(const gu_case *x, launched *l) {
    code_traits size;
    ir_traits(x->tree, &size);
    int coop = !sharing && size.maps_to_threads && chance(80) ? (int)(chance(70) ? pick(1, 7) : pick(0, COOP_GRID)) : 0;
    variant v = gu_variant(x->tree, coop, 0, 1, 1);
    v.ndim = (uint8_t)(x->ndim > 1 ? x->ndim : 1);
    v.gufunc.along = coop && chance(40);
    if (coop) {
        v.gufunc.lanes = v.gufunc.along ? 0 : (uint8_t)pick(0, coop < COOP_WARP ? coop : COOP_WARP);
        v.gufunc.vector = (uint8_t)(1 << pick(0, 3));
        v.gufunc.steps = (uint8_t)(1 << pick(0, 3));
    }
    v.wide = chance(25);
    l->calls = 1;
    for (int d = 0; d < x->ndim; d++)
        l->calls *= x->extent[d];
    for (int k = 0; k < v.nin + v.nout; k++) {
        v.operand[k].memory = (uint8_t)x->args[k].type;
        v.operand[k].unit = chance(85) ? unit_of(x, k) : 0;
    }
    if (!sharing)
        draw_across(&v, &size);
    if (v.gufunc.across && v.gufunc.coop == COOP_GRID)
        v.gufunc.across = grid_width(l->calls);
    if (!sharing && chance(60))
        draw_whole(x->tree, &v);
    draw_pieces(x->tree, &v, &size);
    count_pieces += v.gufunc.pieces;
    draw_held(x->tree, &v, x->words);
    coop = v.gufunc.coop;
    l->v = v;
    l->blocks = (int)pick(1, 2);
    l->threads = v.gufunc.across     ? 1 << variant_block_across(&v)
                 : coop <= COOP_WARP ? 32 << pick(0, 1)
                                     : 1 << (coop == COOP_GRID ? COOP_GRID_BLOCK : coop);
    if (coop == COOP_GRID)
        l->blocks = v.gufunc.across ? (int)pick(1, 3) : 1;
    if (!coop && !v.gufunc.across && (sharing || chance(60)) && choose_unrolled(x, l))
        return;
    if (!coop && x->ndim == 1 && chance(75))
        choose_staged(x, l);
}

/* The same bits, or zeros: a sum of negative ones may be positive. */
static bool same_number(number a, number b) {
    return ref_same(a, b) || (dtypes[a.type].kind >= DK_FLOATING && a.as.f[0] == b.as.f[0] && a.as.f[1] == b.as.f[1]);
}

static const char *first_difference(const gu_case *x, int k) {
    const gu_array *a = &x->args[k];
    const gu_buffer *b = &x->buffers[k];
    static char where[96];
    size_t size = (size_t)dtypes[a->type].size;
    for (size_t i = a->at % size; i + size <= b->size; i += size)
        if (memcmp(b->used + i, b->expected + i, size) != 0 &&
            !same_number(number_read(a->type, b->used + i), number_read(a->type, b->expected + i))) {
            snprintf(where, sizeof where, "argument %d, element %lld of the buffer from its first", k,
                     ((long long)i - (long long)a->at) / (long long)size);
            return where;
        }
    return NULL;
}

static bool is_rare(const variant *v) {
    return sharing ? v->gufunc.unrolled && core_sharers(v) > 1 : v->gufunc.unrolled || v->gufunc.held;
}

static void simulate(gu_case *x, launched *l) {
    gu_kernel k = {"simulated", x->c.layout.data, x->c.p.source.data, x->c.p.signature};
    arena a = {0};
    draw_launch(x, l);
    if (!l->calls || (only_rare && !is_rare(&l->v)))
        return;
    for (int i = l->v.nin; i < l->v.nin + l->v.nout; i++)
        memcpy(x->buffers[i].used, x->buffers[i].before, x->buffers[i].size);
    put_parameters(x, l);
    code_module m = gu_generate(&a, &k, x->tree, &l->v, &gu_gpu);
    const char *wrong = NULL;
    if (sim_can(&m)) {
        count_held += l->v.gufunc.held > 0;
        wrong = sim_run(&m, l->words, l->nparameters, l->blocks, l->threads);
        for (int i = l->v.nin; i < l->v.nin + l->v.nout && !wrong; i++)
            wrong = first_difference(x, i);
    }
    if (wrong) {
        if (getenv("SHOW_IR"))
            puts(m.ir.data);
        gu_describe(&k, &l->v);
        for (int i = 0; i < CORE_NAMES; i++)
            fprintf(stderr, "%s is %lld, ", core_names[i], (long long)x->sizes[i]);
        for (int d = 0; d < x->ndim; d++)
            fprintf(stderr, "loop %lld, ", (long long)x->extent[d]);
        fail_msg("%d threads, %d blocks: %s", l->threads, l->blocks, wrong);
    }
    text_free(&m.ir);
    arena_free(&a);
}

static void try_simulated(int64_t turn) {
    static launched l;
    static gu_case x;
    uint64_t seed = draw_bits();
    (void)turn;
    x = (gu_case){.seed = seed, .s = {seed}};
    random_core_program(&x.c, &x.s);
    if (gu_check(&x)) {
        x.steps = 20000;
        x.planes = planes;
        gu_draw(&x, chance(70) ? 0 : 1);
        if (gu_interpret(&x) == GU_FINE)
            simulate(&x, &l);
        gu_release(&x);
    }
    core_program_free(&x.c);
    arena_free(&x.a);
}

/* Directed kernels that are exact on small integers, over plain names and arrays of rank at most 3. */
static void try_simulated_directed(int64_t turn) {
    static const char *const some[] = {
        "matvec",      "vecmat",       "matmul",          "complex_matmul", "bools",       "four_ranges",
        "read_back",   "own_store",    "update",          "scatter",        "rounds",      "plain_loop",
        "early",       "checked",      "local_array",     "shared_array",   "conditional", "triangle",
        "nested_sums", "range_of_sum", "range_of_output", "nothing",        "outer",       "table",
        "at",          "fill",         "spread",          "columns"};
    static const char *const divided[] = {"matvec", "vecmat", "matmul", "complex_matmul", "outer"};
    static const char letters[] = "nmp";
    static launched l;
    static gu_case x;
    const gu_kernel *k = gu_kernel_of(sharing ? divided[pick(0, COUNT(divided) - 1)] : some[pick(0, COUNT(some) - 1)]);
    int operands = 0;
    (void)turn;
    x = (gu_case){.seed = draw_bits()};
    x.s.state = x.seed;
    x.c.tame = true;
    x.planes = planes;
    text_puts(&x.c.layout, k->layout);
    text_puts(&x.c.p.source, k->source);
    for (const char *at = k->layout; *at; at++) {
        const char *letter = strchr(letters, *at);
        core_operand *o = &x.c.operand[operands];
        if (letter) {
            o->dim[o->rank++] = (core_dim){.kind = CORE_NAME, .name = (int)(letter - letters)};
            x.c.in_inputs[letter - letters] = true;
        }
        x.c.p.nin = *at == '-' ? operands : x.c.p.nin;
        operands += *at == ')';
    }
    x.c.p.nout = operands - x.c.p.nin;
    arena a = {0};
    const tree *t = gu_tree(&a, k);
    for (int i = 0; i < operands; i++)
        x.c.p.types[i] = t->kernel->locals[i].type;
    arena_free(&a);
    assert_true(gu_check(&x));
    x.steps = 50000;
    gu_draw(&x, chance(60) ? 0 : 1);
    if (gu_interpret(&x) == GU_FINE)
        simulate(&x, &l);
    gu_release(&x);
    core_program_free(&x.c);
    arena_free(&x.a);
}

static void test_simulated(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    if (!sim_there())
        skip();
    count_unrolled = count_parts = count_held = 0;
    sample(try_simulated, 60);
    sample(try_simulated_directed, 100);
    only_rare = true;
    for (int i = 0; i < 40000 && !(count_unrolled && count_held); i++) /* however few were tried */
        try_simulated_directed(i);
    sharing = true;
    for (int i = 0; i < 40000 && count_parts < 3; i++)
        try_simulated_directed(i);
    sharing = only_rare = false;
    print_message("%lld unrolled, %lld of them shared by threads\n", (long long)count_unrolled, (long long)count_parts);
    print_message("%lld held\n", (long long)count_held);
    print_message("%lld in pieces, %lld of these by vectors\n", (long long)count_pieces, (long long)count_heads);
    assert_true(count_unrolled && count_held);
    assert_true(count_parts >= 3);
}

/* Calls side by side, whole planes of which a block has in shared memory. */
static void test_simulated_planes(void **state) {
    (void)state;
    if (!sim_there())
        skip();
    count_planes = count_in_place = 0;
    planes = only_rare = true;
    for (int64_t i = 0; i < trials(60) || (i < 40000 && (count_planes < 20 || !count_in_place)); i++)
        (i % 3 ? try_simulated_directed : try_simulated)(i);
    planes = only_rare = false;
    print_message("%lld with planes, %lld outputs in place\n", (long long)count_planes, (long long)count_in_place);
    assert_true(count_planes >= 20 && count_in_place);
}

static void test_simulated_rewritten(void **state) {
    int64_t before = tree_rewritten.sequences;
    if (!sim_there())
        skip();
    tree_rewrites = 10;
    test_simulated(state);
    tree_rewrites = 0;
    assert_true(tree_rewritten.sequences > before);
}

/* One of the ways in which cooperative groups take lines. */
typedef struct line_way {
    bool across, staged, in_place, few; /* few: one block loops over the calls */
    bool held;                          /* each thread has its elements in registers */
    int n, calls, coop, width; /* elements of a line; lines; log2 of threads along one and of lines side by side */
    int vector;                /* elements of an access */
    int cluster;               /* across, not staged: log2 of the blocks that a line's threads are in */
    int blocks;                /* the same, not in clusters: those of a grid; 0: it is none */
} line_way;

enum {
    LINE_MOST = 100
};

/* A warp and more in a block, and a lane for each block. */
static void draw_cluster(line_way *w) {
    w->cluster = (int)pick(1, 2);
    w->coop = (int)pick(w->cluster, 5 - w->cluster);
    w->width = (int)pick(COOP_WARP - w->coop, 5);
    w->coop += w->cluster;
}

static void draw_grid(line_way *w) {
    w->blocks = (int)pick(1, 5);
    w->calls = (int)pick(2, LINE_MOST);
    w->width = grid_width(w->calls);
    w->coop = COOP_GRID;
}

static line_way draw_line_way(int i) {
    line_way w = {.across = i & 1, .staged = i & 2, .in_place = i & 4, .few = i & 8, .n = 37, .calls = 45};
    w.held = i & 16 && !w.staged;
    w.vector = 1 << (int)pick(0, 3);
    w.coop = w.across ? 3 : 6;
    w.width = w.across ? 4 : 0;
    if (!w.held && w.across && !w.staged && chance(50))
        draw_cluster(&w);
    else if (!w.held && w.across && !w.staged && chance(60))
        draw_grid(&w);
    if (!w.held)
        return w;
    if (!w.across) {
        w.coop = (int)pick(1, w.vector < 4 ? 5 : w.vector < 8 ? 4 : 3);
        w.n = w.vector * (int)pick((1 << w.coop) + 1, LINE_MOST / w.vector);
        return w;
    }
    w.width = (int)pick(1, 5);
    w.coop = (int)pick(1, w.width > 2 ? 7 - w.width : 5);
    if (chance(50))
        draw_cluster(&w);
    w.calls = (int)pick(1, LINE_MOST);
    do
        w.n = (int)pick(1, LINE_MOST);
    while (w.n <= 2 << w.coop);
    return w;
}

static variant line_variant(const tree *t, const line_way *way) {
    variant v = gu_variant(t, way->coop, 0, way->vector, 1 << (int)pick(0, 3));
    v.ndim = v.masked = 1;
    v.gufunc.across = (uint8_t)way->width;
    v.gufunc.cluster = (uint8_t)way->cluster;
    v.operand[0].staged = way->staged;
    v.operand[0].unit = v.operand[1].unit = !way->across;
    v.operand[2] = (variant_operand){.memory = DT_BOOL, .value = DT_BOOL, .kind = OPERAND_STRIDED};
    if (way->held) {
        v.operand[0].held = 1;
        int n = way->across ? way->n : way->n / way->vector;
        v.gufunc.held = (uint8_t)(((n - 1) >> way->coop) + 1 + pick(0, 1));
        if (v.gufunc.held <= HELD_LOOSE)
            v.gufunc.held = HELD_LOOSE + 1;
        if ((v.gufunc.held - HELD_LOOSE) << way->coop > n)
            v.gufunc.held--;
    }
    return v;
}

/* Two sums and a maximum of each line, of which neither has the order of its elements. */
static void check_lines(const line_way *way, const int32_t *before, const int32_t *out, const uint8_t *mask,
                        int64_t along, int64_t between) {
    for (int c = 0; c < way->calls; c++) {
        int32_t top = INT32_MIN, sum = 0;
        for (int i = 0; i < way->n; i++)
            top = before[i * along + c * between] > top ? before[i * along + c * between] : top;
        for (int i = 0; i < way->n; i++)
            sum += (before[i * along + c * between] - top) * (i + 1);
        for (int i = 0; i < way->n; i++) {
            int64_t at = i * along + c * between;
            int32_t without = way->in_place ? before[at] : 0;
            if (out[at] != (mask[c] ? before[at] - sum : without))
                fail_msg("%d elements, %d calls, groups of 2^%d, 2^%d side by side, held %d: call %d, element %d",
                         way->n, way->calls, way->coop, way->width, way->held, c, i);
        }
    }
}

static void try_lines(const gu_kernel *k, const line_way *way) {
    static _Alignas(32) int32_t x[LINE_MOST * LINE_MOST], before[LINE_MOST * LINE_MOST], y[LINE_MOST * LINE_MOST];
    arena a = {0};
    const tree *t = gu_tree(&a, k);
    uint8_t mask[LINE_MOST];
    uint64_t words[PARAMETERS];
    const uint64_t numbers[3][2] = {{0}};
    int64_t along = way->across ? way->calls : 1, between = way->across ? 1 : way->n, core[] = {way->n, along, along};
    variant v = line_variant(t, way);
    memset(y, 0, sizeof y);
    for (int i = 0; i < way->n * way->calls; i++)
        before[i] = x[i] = (int32_t)pick(-1000, 1000);
    for (int i = 0; i < way->calls; i++)
        mask[i] = chance(60);
    int32_t *out = way->in_place ? x : y;
    parameter_writer w = parameters_write(words, &v, t->layout, true);
    const void *const data[] = {x, out, mask};
    for (int i = 0; i < 3; i++)
        put_operand(&w, i, (uintptr_t)data[i], numbers);
    put_parameter(&w, GPU_GUFUNC_CALLS, way->calls);
    put_parameter(&w, GPU_GUFUNC_ALIGNED,
                  way->held && !way->across && chance(60) &&
                      ((uintptr_t)x | (uintptr_t)out) % (4 * (uintptr_t)way->vector) == 0);
    for (int i = 0; i < 3; i++)
        put_parameter(&w, GPU_GUFUNC_STRIDES, i < 2 ? between : 1);
    for (int i = 0; i < 3 && way->staged; i++)
        put_parameter(&w, GPU_GUFUNC_STAGED, i ? 0 : way->n);
    if (way->blocks)
        put_grid(&w, &v, way->blocks, way->calls);
    put_core(&w, t->layout, core);
    parameters_finish(&w);
    code_module m = gu_generate(&a, k, t, &v, &gu_gpu);
    int groups = way->cluster  ? (way->calls + (1 << way->width) - 1) >> way->width
                 : way->blocks ? way->blocks
                 : way->few    ? 1
                               : 3;
    int lanes = way->across ? variant_block_across(&v) : way->coop;
    int threads = 1 << (way->across || lanes > COOP_WARP ? lanes : COOP_WARP);
    const char *wrong = sim_can(&m) ? sim_run(&m, words, (int)(w.next - words), groups << way->cluster, threads) : NULL;
    if (wrong)
        fail_msg("%d elements, %d calls, held %d, clusters of %d: %s", way->n, way->calls, way->held, 1 << way->cluster,
                 wrong);
    if (sim_there())
        check_lines(way, before, out, mask, along, between);
    text_free(&m.ir);
    arena_free(&a);
}

/* Calls that a mask leaves out, and threads past the last call, come to every barrier and store nothing; in place, too. */
static void test_masked_lines(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    const gu_kernel k = {"masked", "(n)->(n)",
                         "(x) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, (x[i] - top) * (int32)(i + "
                         "1)); forall (i : n) y[i] "
                         "= x[i] - s; }",
                         "int32->int32"};
    for (int i = 0; i < 32; i++) {
        line_way way = draw_line_way(i);
        try_lines(&k, &way);
    }
}

typedef struct paired_kernel {
    dtype x, y; /* of the first input and of the first output */
    const char *signature, *value;
} paired_kernel;

static number number_at(dtype t, const char *from, int64_t i) { return number_read(t, from + i * dtypes[t].size); }

/* The element of y for x - s. */
static number paired_value(dtype y, int64_t difference) {
    return ref_convert((number){.type = DT_INT64, .as.i = y == DT_BOOL ? difference > 0 : difference}, y);
}

/* Two calls a thread: inputs that both have and inputs of their own, an output that is kept until both are there, and one that is not. */
static void try_paired_lines(const paired_kernel *p) {
    enum {
        ALL = LINE_MOST * LINE_MOST
    };
    static _Alignas(32) char x[2 * ALL], y[8 * ALL];
    static int32_t g[ALL], z[ALL];
    arena a = {0};
    text body = {0};
    text_printf(
        &body,
        "(x, g) -> (y, z) { %ssum(i : n, (int32)x[i] * g[i]); auto top = max(i : n, g[i]); forall (i : n) y[i] = "
        "%s; forall (i : n) z[n - 1 - i] = g[i] - top; }",
        chance(50) ? "auto s = " : "int32 s = 0; s += ", p->value); /* both calls' sums together, or not */
    const gu_kernel k = {"paired", "(n),(n)->(n),(n)", body.data, p->signature};
    const tree *t = gu_tree(&a, &k);
    uint64_t words[PARAMETERS];
    const uint64_t numbers[4][2] = {{0}};
    line_way way;
    do
        way = draw_line_way(17); /* across, held */
    while (2 * (((way.n - 1) >> way.coop) + 1) > HELD_MOST);
    int n = way.n, calls = 2 * (int)pick(1, LINE_MOST / 2);
    bool same = chance(50);
    int64_t core[] = {n, calls, same ? 1 : calls, calls, calls};
    variant v = gu_variant(t, way.coop, 0, 1, 1 << (int)pick(0, 3));
    v.ndim = 1;
    v.gufunc.across = (uint8_t)way.width;
    v.gufunc.cluster = (uint8_t)way.cluster;
    v.gufunc.calls = 1;
    v.operand[0].held = 1;
    v.operand[1].held = chance(50);
    v.operand[1].fixed = same;
    for (int i = 0; i < 4; i++)
        v.operand[i].unit = 0;
    v.gufunc.held = (uint8_t)(((n - 1) >> way.coop) + 1);
    v.gufunc.held = v.gufunc.held <= HELD_LOOSE ? HELD_LOOSE + 1 : v.gufunc.held;
    for (int i = 0; i < n * calls; i++) {
        number_write((number){.type = DT_INT64, .as.i = pick(-100, 100)}, p->x, x + i * dtypes[p->x].size);
        g[i] = (int32_t)pick(-1000, 1000);
        z[i] = -1;
    }
    memset(y, 0x55, sizeof y);
    parameter_writer w = parameters_write(words, &v, t->layout, true);
    const void *const data[] = {x, g, y, z};
    for (int i = 0; i < 4; i++)
        put_operand(&w, i, (uintptr_t)data[i], numbers);
    put_parameter(&w, GPU_GUFUNC_CALLS, calls);
    put_parameter(&w, GPU_GUFUNC_ALIGNED, chance(60));
    for (int i = 0; i < 4; i++)
        put_parameter(&w, GPU_GUFUNC_STRIDES, i == 1 && same ? 0 : 1);
    put_core(&w, t->layout, core);
    parameters_finish(&w);
    code_module m = gu_generate(&a, &k, t, &v, &gu_gpu);
    int groups = way.cluster ? (calls / 2 + (1 << way.width) - 1) >> way.width : (int)pick(1, 3);
    int threads = 1 << (way.coop - way.cluster + way.width);
    const char *wrong = sim_can(&m) ? sim_run(&m, words, (int)(w.next - words), groups << way.cluster, threads) : NULL;
    for (int c = 0; c < calls && sim_there() && !wrong; c++) {
        int64_t sum = 0, top = INT32_MIN;
        for (int i = 0; i < n; i++) {
            int32_t weight = same ? g[i] : g[i * calls + c];
            sum += ref_convert(number_at(p->x, x, i * calls + c), DT_INT64).as.i * weight;
            top = weight > top ? weight : top;
        }
        for (int i = 0; i < n; i++) {
            int64_t difference = ref_convert(number_at(p->x, x, i * calls + c), DT_INT64).as.i - sum;
            if (!ref_same(number_at(p->y, y, i * calls + c), paired_value(p->y, difference)) ||
                z[(n - 1 - i) * calls + c] != (same ? g[i] : g[i * calls + c]) - top)
                wrong = "a wrong element";
        }
    }
    if (wrong)
        fail_msg(
            "%s, %d elements, %d calls, groups of 2^%d in 2^%d blocks, 2^%d side by side, held %d, the same %d: %s",
            p->signature, n, calls, way.coop, way.cluster, way.width, v.gufunc.held, same, wrong);
    text_free(&body);
    text_free(&m.ir);
    arena_free(&a);
}

static void test_paired_lines(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    static const paired_kernel kernels[] = {
        {DT_INT8, DT_INT32, "int8,int32->int32,int32", "(int32)x[i] - s"},
        {DT_INT8, DT_BOOL, "int8,int32->bool,int32", "(int32)x[i] > s"},
        {DT_INT8, DT_COMPLEX64, "int8,int32->complex64,int32", "(int32)x[i] - s"},
        {DT_INT16, DT_INT16, "int16,int32->int16,int32", "(int16)((int32)x[i] - s)"},
    };
    for (int i = 0; i < 16; i++) {
        tree_rewrites =
            i / 4 % 2 ? 10 : 0; /* reductions, too, that what stands before them in an expression declares */
        try_paired_lines(&kernels[i % COUNT(kernels)]);
    }
    tree_rewrites = 0;
}

/* Only where every call comes to the same constructs may calls share a block's barriers. */
static void test_uniform(void **state) {
    (void)state;
    static const struct {
        const char *source;
        bool uniform;
    } cases[] = {
        {"(x) -> (y) { auto s = sum(i : n, x[i]); forall (i : n) y[i] = x[i] / s; }", true},
        {"(x) -> (y) { { auto s = x[0] > 0 ? 1 : 2; forall (i : n) y[i] = x[i] > 0 ? x[i] : s; } }", true},
        {"(x) -> (y) { if (x[0] > 0) forall (i : n) y[i] = x[i]; }", false},
        {"(x) -> (y) { for (int64 t = 0; t < 3; t++) forall (i : n) y[i] = x[i] * t; }", false},
        {"(x) -> (y) { if (x[0] > 0) return; forall (i : n) y[i] = x[i]; }", false},
        {"(x) -> (y) { auto s = x[0] > 0 ? sum(i : n, x[i]) : 1; forall (i : n) y[i] = s; }", false},
        {"(x) -> (y) { bool s = x[0] > 0 && any(i : n, x[i] > 1); forall (i : n) y[i] = s; }", false},
        {"(x) -> (y) { auto c = x[0]; while (c < 9) c += c; forall (i : n) y[i] = c; }", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {"uniform", "(n)->(n)", cases[i].source, "float32->float32"};
        code_traits traits;
        ir_traits(gu_tree(&a, &k), &traits);
        if (traits.uniform != cases[i].uniform)
            fail_msg("%s: %d", k.source, traits.uniform);
        arena_free(&a);
    }
}

/* ---- Memory ---- */

static void test_out_of_memory(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        bool gpu;
        int coop, lanes, along, staged;
    } cases[] = {{"matmul", true, 11, 3, 0, 0}, {"two_moments", true, 7, 0, 1, 0}, {"softmax", true, 6, 0, 0, 0},
                 {"scatter", true, 0, 0, 0, 1}, {"matmul", false, 0, 0, 1, 0},     {"helper", false, 0, 0, 0, 0},
                 {"table", false, 0, 0, 0, 0},  {"table", true, 5, 0, 0, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena trees = {0};
        const gu_kernel *k = gu_kernel_of(cases[i].kernel);
        const tree *t = gu_tree(&trees, k);
        variant v = gu_variant(t, cases[i].coop, cases[i].lanes, cases[i].coop ? 4 : 1, cases[i].coop ? 2 : 1);
        uf_status status = UF_ERR_MEMORY;
        int failures = 0;
        v.gufunc.along = (uint8_t)cases[i].along;
        for (int j = 0; j < v.nin + v.nout; j++)
            v.operand[j].staged = cases[i].staged && t->layout->operands[j].rank;
        for (int64_t n = 0; status; n += 1 + n / 16, failures++) {
            arena a = {0};
            code_module m = {.flags = UF_DEBUG};
            code_traits size;
            allocations_fail_after(n);
            ir_traits(t, &size);
            status = ir_gufunc(&a, "f", t, &v, cases[i].gpu ? &gu_gpu : &gu_cpu, &m);
            allocations_succeed();
            assert_true(status == UF_OK || status == UF_ERR_MEMORY);
            assert_null(a.escape);
            text_free(&m.ir);
            arena_free(&a);
        }
        assert_true(failures > 10);
        arena_free(&trees);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directed),     cmocka_unit_test(test_random),
        cmocka_unit_test(test_simulated),    cmocka_unit_test(test_simulated_planes),
        cmocka_unit_test(test_guarded_sum),  cmocka_unit_test(test_looping_helper),
        cmocka_unit_test(test_many),         cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_rewritten),    cmocka_unit_test(test_simulated_rewritten),
        cmocka_unit_test(test_masked_lines), cmocka_unit_test(test_paired_lines),
        cmocka_unit_test(test_uniform),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
