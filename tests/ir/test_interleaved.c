/* test_interleaved.c - operands that lie interleaved, as the fields of an array of records do: what nd finds in random layouts, and
 * kernels over them, on the CPU through uf_call and plans, and on the simulated GPU.
 *
 * A case has two inputs of records with the same fields in layouts of their own, an output of such records, and perhaps an array of
 * numbers and a mask. Fields are added, which is exact since values are small. Each array lies against a page that cannot be
 * touched, at its end or its beginning, and whole buffers are compared: bytes that no field covers must stay as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cuda/toolkit.h"
#include "gpu/gpu.h"
#include "ir/ir.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "gpu_sim.h"
#include "ir_check.h"
#include "lang_try.h"

enum {
    FIELDS = 5,
    DIMS = 3,
    MOST = 3 * FIELDS + 2, /* operands */
    PAGE = 4096
};

/* An array of records, or of single elements. */
typedef struct records {
    int nfields;
    dtype type[FIELDS];
    int offset[FIELDS], bytes; /* of a record */
    int64_t step[DIMS];        /* in bytes */
    int64_t strides[FIELDS][DIMS];
    char *map, *first; /* record 0 of the loop */
    size_t mapped;
} records;

typedef struct interleaved_case {
    int nfields;
    dtype type[FIELDS];
    int ndim;
    int64_t shape[DIMS];
    records a, b, out, scale, mask;
    bool scaled, masked, in_place;
    char source[1024], types[512];
} interleaved_case;

/* ---- Layouts ---- */

static int align_of(dtype t) { return dtypes[t].align; }

/* As C lays a struct out, or with gaps; fields in any order. The size is a multiple of each field's, so that strides in elements say it. */
static void layout_make(records *r, int nfields, const dtype *type) {
    int order[FIELDS], at = chance(15) ? 16 * (int)pick(0, 1) : 0, most = 1;
    for (int i = 0; i < nfields; i++)
        order[i] = i;
    for (int i = nfields - 1; i > 0 && chance(50); i--) {
        int j = (int)pick(0, i), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    r->nfields = nfields;
    for (int i = 0; i < nfields; i++) {
        int f = order[i];
        r->type[f] = type[f];
        at = (at + align_of(type[f]) - 1) / align_of(type[f]) * align_of(type[f]);
        r->offset[f] = at;
        at += dtypes[type[f]].size;
        most = dtypes[type[f]].size > most ? dtypes[type[f]].size : most;
    }
    r->bytes = (at + most - 1) / most * most;
    if (chance(15))
        r->bytes += most * (int)pick(1, 4);
}

/* Steps of contiguous records, or transposed, with gaps, backwards, or (inputs) the same for all of a dimension. */
static void steps_make(records *r, const interleaved_case *c, bool output, bool strange) {
    int64_t step = r->bytes;
    int order[DIMS] = {0, 1, 2};
    if (strange && chance(30) && c->ndim > 1) {
        order[c->ndim - 1] = 0;
        order[0] = c->ndim - 1;
    }
    for (int i = c->ndim - 1; i >= 0; i--) {
        int d = order[i];
        if (strange && chance(30))
            step *= pick(1, 3);
        r->step[d] = strange && chance(20) ? -step : step;
        step *= c->shape[d] ? c->shape[d] : 1;
        if (!output && strange && chance(20))
            r->step[d] = 0;
    }
    for (int f = 0; f < r->nfields; f++)
        for (int d = 0; d < c->ndim; d++)
            r->strides[f][d] = r->step[d] / dtypes[r->type[f]].size;
}

/* Memory for it, up to a guard page or from one on. shift: bytes, by which it is misaligned for wide accesses. */
static void memory_make(records *r, const interleaved_case *c, int shift) {
    int64_t low = 0, high = 0;
    int end = 0;
    for (int d = 0; d < c->ndim; d++)
        *(r->step[d] < 0 ? &low : &high) += r->step[d] * (c->shape[d] ? c->shape[d] - 1 : 0);
    for (int f = 0; f < r->nfields; f++)
        end = r->offset[f] + dtypes[r->type[f]].size > end ? r->offset[f] + dtypes[r->type[f]].size : end;
    size_t bytes = (size_t)(high - low + end), pages = (bytes + (size_t)shift + PAGE - 1 + 16) / PAGE + 2;
    r->mapped = pages * PAGE;
    r->map = mmap(NULL, r->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r->map == MAP_FAILED)
        abort();
    for (size_t i = PAGE; i < r->mapped - PAGE; i++)
        r->map[i] = (char)draw_bits();
    char *lowest = r->map + PAGE + shift; /* or the last byte is that of the page, as near as alignment allows */
    if (chance(50))
        lowest = r->map + r->mapped - PAGE - (bytes + 15) / 16 * 16 + (shift ? shift - 16 : 0);
    if (!shift && chance(50)) {
        int align = 1;
        for (int f = 0; f < r->nfields; f++)
            align = align_of(r->type[f]) > align ? align_of(r->type[f]) : align;
        lowest = r->map + r->mapped - PAGE - (bytes + (size_t)align - 1) / (size_t)align * (size_t)align;
    }
    r->first = lowest - low;
    mprotect(r->map, PAGE, PROT_NONE);
    mprotect(r->map + r->mapped - PAGE, PAGE, PROT_NONE);
}

static void records_free(records *r) {
    if (r->map)
        munmap(r->map, r->mapped);
}

static char *at(const records *r, int ndim, const int64_t *index, int f, const char *first) {
    for (int d = 0; d < ndim; d++)
        first += r->step[d] * index[d];
    return (char *)(uintptr_t)first + r->offset[f];
}

static bool next(const interleaved_case *c, int64_t *index) {
    for (int d = c->ndim - 1; d >= 0; d--) {
        if (++index[d] < c->shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static bool empty(const interleaved_case *c) {
    for (int d = 0; d < c->ndim; d++)
        if (!c->shape[d])
            return true;
    return false;
}

/* Small numbers, whose sums are exact in every dtype. */
static void fill(records *r, const interleaved_case *c) {
    int64_t index[DIMS] = {0};
    if (empty(c))
        return;
    do
        for (int f = 0; f < r->nfields; f++) {
            int64_t n = r->type[f] == DT_BOOL ? pick(0, 1) : pick(0, 30);
            number_write((number){.type = DT_COMPLEX128, .as.f = {(double)n, (double)pick(0, 20)}}, r->type[f],
                         at(r, c->ndim, index, f, r->first));
        }
    while (next(c, index));
}

/* ---- Cases ---- */

static bool is_moved(dtype t) { return t == DT_BOOL || dtype_is_half(t); }
static bool is_scaled(const interleaved_case *c) { return c->scaled && !is_moved(c->type[0]); }

/* Bools and halves are moved, as the simulator has no conversions of halves; others are added. */
static void text_make(interleaved_case *c) {
    text s = {0}, types = {0};
    for (int i = 0; i < 2; i++)
        for (int f = 0; f < c->nfields; f++) {
            text_printf(&s, "%s%c%d", i + f ? ", " : "(", "ab"[i], f);
            text_printf(&types, "%s%s", i + f ? "," : "", dtypes[c->type[f]].name);
        }
    if (c->scaled) {
        text_puts(&s, ", s");
        text_puts(&types, ",int8");
    }
    text_puts(&s, ") -> (");
    text_puts(&types, "->");
    for (int f = 0; f < c->nfields; f++) {
        text_printf(&s, "%sr%d", f ? ", " : "", f);
        text_printf(&types, "%s%s", f ? "," : "", dtypes[c->type[f]].name);
    }
    text_puts(&s, ") { ");
    for (int f = 0; f < c->nfields; f++)
        if (is_moved(c->type[f]))
            text_printf(&s, "r%d = %c%d; ", f, "ab"[f % 2], f);
        else
            text_printf(&s, "r%d = a%d + b%d%s; ", f, f, f, !f && is_scaled(c) ? " + s" : "");
    text_puts(&s, "}");
    snprintf(c->source, sizeof c->source, "%s", s.data);
    snprintf(c->types, sizeof c->types, "%s", types.data);
    text_free(&s);
    text_free(&types);
}

static void types_make(interleaved_case *c) {
    static const dtype plain[] = {DT_FLOAT32, DT_FLOAT32, DT_FLOAT64, DT_INT8, DT_UINT8, DT_INT32, DT_INT16};
    dtype one = chance(70) ? plain[pick(0, (int64_t)COUNT(plain) - 1)] : (dtype)pick(0, DT_COUNT - 1);
    bool mixed = chance(40);
    c->nfields = (int)pick(2, FIELDS);
    for (int f = 0; f < c->nfields; f++)
        c->type[f] = mixed ? (dtype)pick(0, DT_COUNT - 1) : one;
}

static void case_make(interleaved_case *c, int64_t budget) {
    *c = (interleaved_case){.ndim = chance(60) ? 1 : (int)pick(2, DIMS), .masked = chance(15), .scaled = chance(25)};
    types_make(c);
    for (int d = 0; d < c->ndim; d++) {
        c->shape[d] = chance(5) ? 0 : chance(25) ? pick(1, 5) : pick(1, budget);
        budget = c->shape[d] ? budget / c->shape[d] + 1 : budget;
    }
    int strange = chance(50) ? 0 : 30;
    layout_make(&c->a, c->nfields, c->type);
    layout_make(&c->b, c->nfields, c->type);
    layout_make(&c->out, c->nfields, c->type);
    c->in_place = chance(20);
    if (c->in_place)
        memcpy(c->out.offset, c->a.offset, sizeof c->out.offset), c->out.bytes = c->a.bytes;
    layout_make(&c->scale, 1, (dtype[]){DT_INT8});
    layout_make(&c->mask, 1, (dtype[]){DT_BOOL});
    records *all[] = {&c->out, &c->a, &c->b, &c->scale, &c->mask};
    for (size_t i = 0; i < COUNT(all); i++) {
        steps_make(all[i], c, i == 0, chance(strange));
        memory_make(all[i], c, chance(70) ? 0 : (int)pick(0, 1) * 8);
        fill(all[i], c);
    }
    text_make(c);
}

/* What is in place has the output's memory and steps, once the output is there. */
static void case_place(interleaved_case *c) {
    if (!c->in_place)
        return;
    records_free(&c->a);
    c->a = c->out;
    c->a.map = NULL;
}

/* The output is the input moved by one record: the call must copy the input's records first. */
static void case_shift(interleaved_case *c) {
    if (!c->in_place || c->ndim > 1 || c->shape[0] < 2)
        return;
    c->shape[0]--;
    *(chance(50) ? &c->a.first : &c->out.first) += c->out.step[0];
}

static void case_free(interleaved_case *c) {
    records *all[] = {&c->out, &c->a, &c->b, &c->scale, &c->mask};
    for (size_t i = 0; i < COUNT(all); i++)
        records_free(all[i]);
}

static size_t watched(const records *r) { return r->mapped - (size_t)2 * PAGE; }

/* What the output's memory becomes. */
static char *expect(const interleaved_case *c) {
    int64_t index[DIMS] = {0};
    char *all = malloc(watched(&c->out));
    memcpy(all, c->out.map + PAGE, watched(&c->out));
    if (empty(c))
        return all;
    char *first = all + (c->out.first - c->out.map - PAGE);
    do {
        if (c->masked && !*at(&c->mask, c->ndim, index, 0, c->mask.first))
            continue;
        for (int f = 0; f < c->nfields; f++) {
            dtype t = c->type[f];
            const char *x = at(&c->a, c->ndim, index, f, c->a.first), *y = at(&c->b, c->ndim, index, f, c->b.first);
            char *to = at(&c->out, c->ndim, index, f, first);
            if (is_moved(t)) {
                memcpy(to, f % 2 ? y : x, dtypes[t].size);
                continue;
            }
            number p = number_read(t, x), q = number_read(t, y), sum = {.type = DT_COMPLEX128};
            int s = !f && is_scaled(c) ? *at(&c->scale, c->ndim, index, 0, c->scale.first) : 0;
            bool floating = dtypes[t].kind >= DK_FLOATING;
            sum.as.f[0] = s + (floating ? p.as.f[0] + q.as.f[0] : (double)(p.as.i + q.as.i));
            sum.as.f[1] = dtype_is_complex(t) ? p.as.f[1] + q.as.f[1] : 0;
            number_write(sum, t, to);
        }
    } while (next(c, index));
    return all;
}

static void show(const interleaved_case *c) {
    const records *all[] = {&c->a, &c->b, &c->out, &c->scale, &c->mask};
    print_message("%s\n%s\nscaled %d, masked %d, in place %d, shape", c->source, c->types, c->scaled, c->masked,
                  c->in_place);
    for (int d = 0; d < c->ndim; d++)
        print_message(" %lld", (long long)c->shape[d]);
    print_message("\n");
    for (size_t i = 0; i < COUNT(all); i++) {
        print_message("%zu: %d bytes at %p, offsets", i, all[i]->bytes, (void *)all[i]->first);
        for (int f = 0; f < all[i]->nfields; f++)
            print_message(" %d", all[i]->offset[f]);
        print_message(", steps");
        for (int d = 0; d < c->ndim; d++)
            print_message(" %lld", (long long)all[i]->step[d]);
        print_message("\n");
    }
}

static void compare(const interleaved_case *c, char *expected, const char *where) {
    for (size_t i = 0; i < watched(&c->out); i++)
        if (expected[i] != c->out.map[PAGE + i]) {
            show(c);
            fail_msg("%s: byte %td from the first record is %d, not %d", where, c->out.map + PAGE + i - c->out.first,
                     c->out.map[PAGE + i], expected[i]);
        }
    free(expected);
}

/* ---- Arguments ---- */

static DLTensor tensor_of(records *r, int f, interleaved_case *c) {
    return (DLTensor){.data = r->first + r->offset[f],
                      .device = {kDLCPU, 0},
                      .ndim = c->ndim,
                      .dtype = dtypes[r->type[f]].dl,
                      .shape = c->shape,
                      .strides = r->strides[f]};
}

static int tensors_make(interleaved_case *c, DLTensor *t) {
    int n = 0;
    for (int f = 0; f < c->nfields; f++)
        t[n++] = tensor_of(&c->a, f, c);
    for (int f = 0; f < c->nfields; f++)
        t[n++] = tensor_of(&c->b, f, c);
    if (c->scaled)
        t[n++] = tensor_of(&c->scale, 0, c);
    for (int f = 0; f < c->nfields; f++)
        t[n++] = tensor_of(&c->out, f, c);
    return n;
}

static void check(uf_status status, const interleaved_case *c) {
    if (status) {
        show(c);
        fail_msg("%s", uf_last_error()->message);
    }
}

/* ---- CPU: calls, and plans that run at other addresses ---- */

/* A plan that was made for other addresses, whose records do not lie together. */
static void run_plan(const uf_func *f, interleaved_case *c, int n, DLTensor *t, const uf_options *o) {
    DLTensor made[MOST];
    void *data[MOST + 1];
    uf_plan *p;
    memcpy(made, t, sizeof made);
    for (int k = 0; k < n; k++) {
        data[k] = t[k].data;
        if (chance(50))
            made[k].data = NULL;
    }
    data[n] = o->where ? o->where->data : NULL;
    check(uf_plan_new(&p, f, n, made, o), c);
    check(uf_plan_run(p, data, NULL), c);
    uf_plan_free(p);
}

static void test_cpu(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(60); i++) {
        interleaved_case c;
        DLTensor t[MOST];
        uf_func *f;
        case_make(&c, chance(20) ? 3000 : 100);
        case_place(&c);
        if (chance(50))
            case_shift(&c);
        DLTensor where = tensor_of(&c.mask, 0, &c);
        uf_options o = {.size = sizeof o, .where = c.masked ? &where : NULL, .threads = 1};
        char *expected = expect(&c);
        int n = tensors_make(&c, t);
        check(uf_vectorize(&f, "f", c.types, c.source), &c);
        if (chance(70))
            check(uf_call(f, n, t, &o), &c);
        else
            run_plan(f, &c, n, t, &o);
        compare(&c, expected, "CPU");
        uf_free(f);
        case_free(&c);
    }
}

/* ---- The simulated GPU ---- */

/* The loop, the groups and the variant that a call would have. */
typedef struct simulated {
    int64_t space[DIMS * (MOST + 1) + DIMS + MOST];
    nd_loop loop;
    nd_member member[VARIANT_OPERANDS];
    variant v;
    char *data[MOST];
} simulated;

static void arrays_of(const DLTensor *t, int n, int first_output, nd_array *out) {
    for (int k = 0; k < n; k++)
        out[k] = (nd_array){.data = t[k].data,
                            .shape = t[k].shape,
                            .strides = t[k].strides,
                            .ndim = t[k].ndim,
                            .size = dtypes[dtype_of_dl(t[k].dtype)].size,
                            .output = k >= first_output};
}

static void variant_fill(simulated *s, const DLTensor *t, int n, int nin, bool masked) {
    nd_place place[MOST] = {0};
    s->v = (variant){.nin = (uint8_t)nin, .nout = (uint8_t)(n - nin - masked), .masked = masked};
    for (int k = 0; k < n; k++) {
        dtype type = dtype_of_dl(t[k].dtype);
        s->data[k] = (char *)t[k].data + s->loop.offset[k] * dtypes[type].size;
        place[k] = (nd_place){(uintptr_t)s->data[k], dtypes[type].size, dtypes[type].align};
        s->v.operand[k] = (variant_operand){.memory = (uint8_t)type, .value = (uint8_t)type};
    }
    s->v.loop = (uint8_t)nd_interleave(&s->loop, place, nin, s->v.nout, s->member);
    for (int k = 0; k < n; k++) {
        const nd_member *m = &s->member[k];
        variant_operand *o = &s->v.operand[k];
        o->kind = m->record ? OPERAND_INTERLEAVED : s->loop.kind[k];
        o->group = m->group, o->offset = m->offset, o->record = m->record, o->align = m->align;
    }
}

static void simulate(interleaved_case *c, simulated *s, int nin) {
    static const code_target target = {.gpu = true, .arch = 90};
    uint64_t words[512];
    arena a = {0};
    tree *t;
    code_module m = {.flags = 0};
    grid g;
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop, .traits = &(code_traits){.nodes = chance(80) ? 8 : 200}});
    if (s->v.loop == LOOP_FLAT && chance(30))
        s->v.flat.vectors_per_thread *= 2;
    check(lang_try(&a, c->source, c->types, &t), c);
    check(ir_elementwise(&a, "f", t, &s->v, &target, &m), c);
    assert_true(schema_count(&s->v, NULL, true) <= (int)COUNT(words));
    launch l = {.v = &s->v, .loop = &s->loop, .data = s->data};
    check(gpu_layout(&l, &(occupancy){.block = 64u << pick(0, 2), .sms = (int)pick(1, 40)}, words, &g), c);
    const char *wrong = sim_run(&m, words, (int)g.parameters, (int)g.blocks, (int)g.threads);
    if (wrong) {
        show(c);
        fail_msg("%s", wrong);
    }
    assert_int_equal(nin, s->v.nin);
    text_free(&m.ir);
    arena_free(&a);
}

static void test_gpu(void **unused) {
    int seen[LOOP_CLASSES] = {0}, grouped = 0;
    (void)unused;
    if (!sim_there())
        skip();
    for (int64_t i = 0; i < trials(100); i++) {
        interleaved_case c;
        static simulated s;
        DLTensor t[MOST];
        nd_array arrays[MOST];
        case_make(&c, chance(20) ? 2500 : 150);
        case_place(&c);
        char *expected = expect(&c);
        int n = tensors_make(&c, t), nin = n - c.nfields;
        if (c.masked)
            t[n] = tensor_of(&c.mask, 0, &c);
        arrays_of(t, n + c.masked, nin, arrays);
        if (c.masked)
            arrays[n].output = false, arrays[n].mask = true;
        check(nd_plan(arrays, n + c.masked, nin, 0, s.space, &s.loop), &c);
        if (s.loop.count) {
            variant_fill(&s, t, n + c.masked, nin, c.masked);
            simulate(&c, &s, nin);
            seen[s.v.loop]++;
            for (int k = 0; k < n; k++)
                grouped += s.v.operand[k].group != 0;
        }
        compare(&c, expected, "GPU");
        case_free(&c);
    }
    assert_true(trials(1) < 1 || (seen[LOOP_FLAT] && seen[LOOP_GENERAL] && grouped));
}

/* ---- The accesses in the PTX of one-dimensional arrays of records ---- */

static void records_set(records *r, const interleaved_case *c, int bytes, const int *offset, char *first) {
    *r = (records){.nfields = c->nfields, .bytes = bytes, .step = {bytes}, .first = first};
    for (int f = 0; f < c->nfields; f++) {
        r->type[f] = c->type[f];
        r->offset[f] = offset[f];
        r->strides[f][0] = bytes / dtypes[c->type[f]].size;
    }
}

static int count(const char *in, const char *what) {
    int n = 0;
    for (const char *p = in; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static const char *ptx_of(interleaved_case *c, simulated *s, int arch) {
    DLTensor t[MOST];
    nd_array arrays[MOST];
    arena a = {0};
    tree *made;
    code_module m = {.flags = 0};
    const char *ptx;
    text_make(c);
    int n = tensors_make(c, t), nin = n - c->nfields;
    arrays_of(t, n, nin, arrays);
    check(nd_plan(arrays, n, nin, 0, s->space, &s->loop), c);
    variant_fill(s, t, n, nin, false);
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop, .traits = &(code_traits){.nodes = 5}});
    check(lang_try(&a, c->source, c->types, &made), c);
    check(ir_elementwise(&a, "f", made, &s->v, &(code_target){.gpu = true, .arch = arch}, &m), c);
    const char *wrong = nvvm_judge(&m, arch, true, &ptx);
    if (wrong)
        fail_msg("%s\n%s", wrong, m.ir.data);
    text_free(&m.ir);
    arena_free(&a);
    return ptx;
}

static void test_ptx(void **unused) {
    static const struct {
        int nfields;
        dtype type[FIELDS];
        int bytes, offset[FIELDS];
        int64_t shape[DIMS], gap; /* gap: bytes between rows of two dimensions */
        const char *load, *store; /* the widest accesses, after "global." */
        int loads, stores;        /* of these */
    } facts[] = {
        {4, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, 16, {0, 4, 8, 12}, {1000}, 0, "v4", "v4", 2, 1},
        {3, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, 12, {0, 4, 8}, {1000}, 0, "v4", "v4", 6, 3},
        {2, {DT_FLOAT32, DT_INT32}, 8, {0, 4}, {1000}, 0, "v4", "v4", 2, 1},
        {3, {DT_FLOAT64, DT_FLOAT64, DT_FLOAT64}, 24, {0, 8, 16}, {1000}, 0, "v2", "v4", 6, 3},
        {4, {DT_FLOAT64, DT_INT64, DT_FLOAT64, DT_FLOAT64}, 32, {0, 8, 16, 24}, {1000}, 0, "v2", "v4", 4, 2},
        {3, {DT_UINT8, DT_UINT8, DT_UINT8}, 3, {0, 1, 2}, {1000}, 0, "v4", "v4", 6, 3},
        {3, {DT_FLOAT64, DT_FLOAT32, DT_INT32}, 16, {0, 8, 12}, {1000}, 0, "v4", "v4", 2, 1},
        {2, {DT_COMPLEX64, DT_COMPLEX64}, 16, {8, 0}, {1000}, 0, "v4", "v4", 2, 1},
        /* Rows, and a general loop, whose groups have an alignment. */
        {4, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, 16, {0, 4, 8, 12}, {100, 50}, 16, "v4", "v4", 2, 1},
        {2, {DT_FLOAT64, DT_FLOAT64}, 16, {0, 8}, {100, 5}, 16, "v2", "v2", 8, 4},
    };
    static const int archs[] = {75, 90, 100};
    (void)unused;
    if (!nvvm_found())
        skip();
    for (size_t i = 0; i < COUNT(facts); i++) {
        interleaved_case c = {.nfields = facts[i].nfields, .ndim = facts[i].shape[1] ? 2 : 1};
        static simulated s;
        memcpy(c.type, facts[i].type, sizeof c.type);
        memcpy(c.shape, facts[i].shape, sizeof c.shape);
        records *all[] = {&c.a, &c.b, &c.out};
        for (int k = 0; k < 3; k++) {
            records_set(all[k], &c, facts[i].bytes, facts[i].offset, (char *)(uintptr_t)(0x10000 * (k + 1)));
            for (int f = 0; f < c.nfields && c.ndim > 1; f++) {
                int size = dtypes[c.type[f]].size;
                all[k]->strides[f][1] = all[k]->strides[f][0];
                all[k]->strides[f][0] = (facts[i].bytes * c.shape[1] + facts[i].gap) / size;
            }
        }
        const char *ptx = ptx_of(&c, &s, archs[i % COUNT(archs)]);
        char load[32], store[32];
        snprintf(load, sizeof load, "ld.global.%s", facts[i].load);
        snprintf(store, sizeof store, "st.global.%s", facts[i].store);
        assert_int_equal(s.v.operand[2 * c.nfields].staged, s.v.loop == LOOP_FLAT && facts[i].stores > 1);
        if (count(ptx, load) != facts[i].loads || count(ptx, store) != facts[i].stores || strstr(ptx, ".local"))
            fail_msg("fact %zu: %d loads, %d stores\n%s", i, count(ptx, load), count(ptx, store), ptx);
    }
}

/* The CPU's IR for a kernel of records of n float32, on a processor that reads faster by narrow vectors or not; the text is the caller's. */
static code_module cpu_module(arena *a, int n, const char *source, bool narrow) {
    code_target host = judge_host();
    interleaved_case c = {.nfields = n, .ndim = 1, .shape = {1000}};
    static simulated s;
    DLTensor t[MOST];
    nd_array arrays[MOST];
    tree *made;
    code_module m = {.flags = 0};
    int offset[FIELDS];
    host.narrow_reads = narrow;
    for (int f = 0; f < n; f++) {
        c.type[f] = DT_FLOAT32;
        offset[f] = 4 * f;
    }
    records *all[] = {&c.a, &c.b, &c.out};
    for (int k = 0; k < 3; k++)
        records_set(all[k], &c, 4 * n, offset, (char *)(uintptr_t)(0x10000 * (k + 1)));
    text_make(&c);
    int count = tensors_make(&c, t);
    arrays_of(t, count, 2 * n, arrays);
    check(nd_plan(arrays, count, 2 * n, 0, s.space, &s.loop), &c);
    variant_fill(&s, t, count, 2 * n, false);
    cpu_engine.specialise(&s.v, &(loop_problem){.loop = &s.loop, .traits = &(code_traits){.nodes = 5}});
    check(lang_try(a, source, c.types, &made), &c);
    check(ir_elementwise(a, "f", made, &s.v, &host, &m), &c);
    return m;
}

/* On the CPU fields of one type become vectors, also where they are not computed alike. */
static void test_cpu_vectors(void **unused) {
    (void)unused;
    static const char *const sources[] = {
        "(a, b, c, d) -> (r, s) { r = a + c; s = b - d; }",
        "(a, b, c, d, e, f) -> (r, s, t) { r = a + d; s = b + e; t = c - f; }",
        "(a, b, c, d, e, f, g, h) -> (r, s, t, u) { r = a + e; s = b + f; t = c + g; u = d - h; }",
    };
    const code_target host = judge_host();
    if (host.vector_bits < 256)
        skip();
    for (int n = 2; n <= 4; n++) {
        arena a = {0};
        code_module m = cpu_module(&a, n, sources[n - 2], false);
        const char *best = judge_optimised(judge_count() - 1, m.ir.data, "", host.f16c ? "+avx2" : "");
        if (!strstr(best, "fadd <") ||
            !strstr(best, "%wide.vec = load <")) /* whole records, taken apart or as they are */
            fail_msg("%d fields\n%s", n, best);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Where all fields are computed alike, they are elements of longer arrays: one load for each operand, and one store.
 * Where that is all but all, and narrow vectors read faster, there is a second loop for what several of these leave over. */
static void test_alike(void **unused) {
    (void)unused;
    static const struct {
        const char *source;
        bool alike, little;
    } cases[] = {
        {"(a, b, c, d) -> (r, s) { r = a + c; s = b + d; }", true, true},
        {"(a, b, c, d) -> (r, s) { auto t = b * 2, u = a * 2; s = max(t, d) - 1; r = max(u, c) - 1; }", true, false},
        {"f(x, y) { return x * y + 1; } (a, b, c, d) -> (r, s) { r = f(a, c); s = f(b, d); }", true, false},
        {"f(x, y) { return x * y + 1; } (a, b, c, d) -> (r, s) { r = f(a, c); s = b * d + 1; }", true, true},
        {"(a, b, c, d) -> (r, s) { r = 0; s = 0; }", true, true},
        {"(a, b, c, d) -> (r, s) { r = a + c; s = b - d; }", false, false},
        {"(a, b, c, d) -> (r, s) { r = a + c; s = d + b; }", false, false}, /* NaNs may differ */
        {"(a, b, c, d) -> (r, s) { r = b + d; s = a + c; }", false, false},
        {"(a, b, c, d) -> (r, s) { r = a + d; s = b + c; }", false, false},
        {"(a, b, c, d) -> (r, s) { r = a + c; s = a + c; }", false, false},
        {"(a, b, c, d) -> (r, s) { r = a + 1; s = b + 2; }", false, false},
        {"(a, b, c, d) -> (r, s) { if (a > 0) { r = a; s = b; } }", false, false},
    };
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        arena a = {0};
        bool narrow = i % 2, little = cases[i / 2].little;
        code_module m = cpu_module(&a, 2, cases[i / 2].source, narrow);
        int accesses = count(m.ir.data, ", align 4, !llvm.access.group");
        int want = (cases[i / 2].alike ? 3 : 6) * (narrow && little ? 2 : 1);
        if (accesses != want)
            fail_msg("%s: %d accesses, not %d\n%s", cases[i / 2].source, accesses, want, m.ir.data);
        for (int j = 0; j < judge_count(); j++)
            assert_null(judge_ir(j, m.ir.data));
        text_free(&m.ir);
        arena_free(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),         cmocka_unit_test(test_gpu),   cmocka_unit_test(test_ptx),
        cmocka_unit_test(test_cpu_vectors), cmocka_unit_test(test_alike),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
