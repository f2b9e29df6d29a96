/* test_record_views.c - arrays of random records of every kind of strides, through every verb on the CPU. Arrays lie against pages that cannot
 * be touched, and all memory is compared after a call: gaps in and between records, and what is beside them, stay as they are.
 *
 * Records are combined scalar by scalar by what is exact and associative on the values that are here: the sum of small numbers, the larger
 * one of halves, the exclusive or of truths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "type/record.h"

#include "draw.h"
#include "record_types.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "expect.h"

enum {
    DIMS = 3,
    PAGE = 4096,
    STATE = 16,  /* scalars in the state of a reduction, which a function of two such records is made for, too */
    INDEXED = 12 /* of three arrays with 5 dimensions in all, of whose scalars' arrays a kernel takes 64 dimensions */
};

typedef struct leaf {
    char path[64];
    dtype type;
    int64_t offset;
} leaf;

/* A record, and what a text for it has before the kernel. */
typedef struct subject {
    random_records all;
    const random_record *r;
    int nleaves;
    leaf leaves[UF_MAX_OPERANDS];
    int64_t bytes;
    int align;
    DLDataType uniform; /* the dtype that an array of it can have beside bytes */
    uf_module *module;
} subject;

/* An array of records. */
typedef struct array {
    const subject *s;
    int ndim;
    int64_t shape[DIMS], strides[DIMS]; /* in records */
    char *map, *first;
    size_t mapped;
    DLTensor tensor;
} array;

/* ---- Records ---- */

static void leaves_find(subject *s, const random_record *r, const char *path, int64_t at) {
    uf_record u = {.size = sizeof u};
    OK(uf_record_layout(s->module, r->kernel, &u));
    for (int k = 0; k < r->nfields; k++) {
        const random_field *f = &r->field[k];
        int rows = f->rank > 0 ? f->extent[0] : 1, columns = f->rank > 1 ? f->extent[1] : 1;
        uf_record of = {.size = sizeof of};
        if (f->type.record)
            OK(uf_record_layout(s->module, f->type.record->kernel, &of));
        int64_t each = f->type.record ? of.bytes : dtypes[f->type.type].size;
        for (int i = 0; i < rows * columns; i++) {
            char name[64], index[32] = "";
            if (f->rank == 1)
                snprintf(index, sizeof index, "[%d]", i);
            if (f->rank == 2)
                snprintf(index, sizeof index, "[%d][%d]", i / columns, i % columns);
            snprintf(name, sizeof name, "%s.%s%s", path, f->name, index);
            int64_t offset = at + u.fields[k]->offset + i * each;
            if (f->type.record) {
                leaves_find(s, f->type.record, name, offset);
                continue;
            }
            leaf *l = &s->leaves[s->nleaves++];
            *l = (leaf){.type = f->type.type, .offset = offset};
            snprintf(l->path, sizeof l->path, "%s", name);
        }
    }
}

/* Appends "add(R a, R b) { .. }". */
static void add_put(subject *s, text *out) {
    text_printf(out, "add(%s a, %s b) {\n    auto r = a;\n", s->r->kernel, s->r->kernel);
    for (int i = 0; i < s->nleaves; i++) {
        const char *p = s->leaves[i].path;
        if (dtype_is_half(s->leaves[i].type))
            text_printf(out, "    r%s = max(a%s, b%s);\n", p, p, p);
        else
            text_printf(out, "    r%s = a%s %s b%s;\n", p, p, s->leaves[i].type == DT_BOOL ? "^" : "+", p);
    }
    text_puts(out, "    return r;\n}\n");
}

static uf_module *module_of(const char *source) {
    uf_module *m = NULL;
    OK(uf_module_new(&m, &(uf_module_definition){.size = sizeof(uf_module_definition), .name = "m", .source = source}));
    return m;
}

static void subject_free(subject *s) {
    uf_module_free(s->module);
    random_records_free(&s->all);
}

/* A random record of at most so many scalars, often all of one dtype. */
static void subject_draw(subject *s, int most) {
    static const dtype types[] = {DT_BOOL,    DT_INT8,    DT_INT16,   DT_INT32,     DT_INT64,     DT_UINT8,
                                  DT_UINT16,  DT_UINT32,  DT_UINT64,  DT_FLOAT16,   DT_BFLOAT16,  DT_FLOAT32,
                                  DT_FLOAT64, DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};
    for (;;) {
        int one = (int)pick(0, (int64_t)COUNT(types) - 1);
        bool alike = chance(40);
        uf_record u = {.size = sizeof u};
        text source = {0};
        *s = (subject){.all = {.prefix = "s", .most_leaves = most}};
        for (int64_t n = pick(1, 3); n > 0 || !s->r; n--) {
            random_record_define(&s->all, alike ? &types[one] : types, alike ? 1 : (int)COUNT(types));
            s->r = random_record_of(&s->all, s->all.ndefinitions - 1,
                                    (random_type){types[alike ? one : pick(0, (int64_t)COUNT(types) - 1)], NULL});
            if (s->all.ndefinitions == RECORDS_DEFINITIONS)
                break;
        }
        if (!s->r) {
            random_records_free(&s->all);
            continue;
        }
        s->module = module_of(s->all.kernel.data);
        OK(uf_record_layout(s->module, s->r->kernel, &u));
        s->bytes = u.bytes;
        s->align = u.align;
        s->uniform = u.dtype;
        leaves_find(s, s->r, "", 0);
        text_puts(&source, s->all.kernel.data);
        add_put(s, &source);
        uf_module_free(s->module);
        s->module = module_of(source.data);
        text_free(&source);
        return;
    }
}

static uf_func *define_on(const subject *s, const char *layout, const char *signature, const char *source,
                          unsigned flags) {
    const uf_section only = {.signatures = signature, .source = source};
    uf_func *f = NULL;
    OK(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                      .name = "f",
                                      .nsections = 1,
                                      .sections = &only,
                                      .layout = layout,
                                      .flags = flags,
                                      .nmodules = 1,
                                      .modules = &s->module}));
    return f;
}

/* The function a + b. */
static uf_func *add_function(const subject *s) {
    char signature[600];
    const char *r = s->r->kernel;
    snprintf(signature, sizeof signature, "%s,%s->%s", r, r, r);
    return define_on(s, NULL, signature, "(a, b) { return add(a, b); }", 0);
}

static void value_draw(const leaf *l, char *at_record) {
    int64_t n = l->type == DT_BOOL ? pick(0, 1) : pick(0, 3);
    number_write((number){.type = DT_COMPLEX128, .as.f = {(double)n, (double)pick(0, 3)}}, l->type,
                 at_record + l->offset);
}

/* to = a + b, in what leaves cover. */
static void combine(const subject *s, char *to, const char *a, const char *b) {
    for (int i = 0; i < s->nleaves; i++) {
        const leaf *l = &s->leaves[i];
        number x = number_read(l->type, a + l->offset), y = number_read(l->type, b + l->offset);
        if (l->type == DT_BOOL) {
            x.as.u ^= y.as.u;
        } else if (dtype_is_half(l->type)) {
            x.as.f[0] = x.as.f[0] > y.as.f[0] ? x.as.f[0] : y.as.f[0];
        } else if (dtypes[l->type].kind < DK_FLOATING) {
            x.as.u += y.as.u;
        } else {
            x.as.f[0] += y.as.f[0];
            x.as.f[1] += y.as.f[1];
        }
        if (dtypes[l->type].kind < DK_FLOATING && l->type != DT_BOOL) { /* modulo its width */
            memcpy(to + l->offset, &x.as.u, (size_t)dtypes[l->type].size);
            continue;
        }
        number_write(x, l->type, to + l->offset);
    }
}

static void copy_record(const subject *s, char *to, const char *from) {
    for (int i = 0; i < s->nleaves; i++)
        memcpy(to + s->leaves[i].offset, from + s->leaves[i].offset, (size_t)dtypes[s->leaves[i].type].size);
}

/* ---- Arrays ---- */

/* Strides of the dimensions: contiguous, or in another order, with gaps, backwards, and for inputs 0. */
static void strides_draw(array *x, bool is_output) {
    int order[DIMS] = {0, 1, 2};
    bool strange = chance(60);
    int64_t step = 1;
    for (int d = x->ndim - 1; d > 0 && strange; d--) {
        int other = (int)pick(0, d), t = order[d];
        order[d] = order[other];
        order[other] = t;
    }
    for (int i = x->ndim - 1; i >= 0; i--) {
        int d = order[i];
        step *= strange && chance(30) ? pick(2, 3) : 1;
        x->strides[d] = strange && chance(25) ? -step : step;
        step *= x->shape[d] ? x->shape[d] : 1;
        if (!is_output && strange && chance(15))
            x->strides[d] = 0;
    }
}

static void extent_of(const array *x, int64_t *low, int64_t *high) {
    *low = *high = 0;
    for (int d = 0; d < x->ndim; d++)
        *(x->strides[d] < 0 ? low : high) += x->strides[d] * (x->shape[d] ? x->shape[d] - 1 : 0);
}

static bool next(const array *x, int64_t *index) {
    for (int d = x->ndim - 1; d >= 0; d--) {
        if (++index[d] < x->shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static bool is_empty(const array *x) {
    for (int d = 0; d < x->ndim; d++)
        if (!x->shape[d])
            return true;
    return false;
}

static char *at(const array *x, const int64_t *index) {
    int64_t offset = 0;
    for (int d = 0; d < x->ndim; d++)
        offset += x->strides[d] * index[d];
    return x->first + offset * x->s->bytes;
}

/* The tensor's pointers are the array's own. */
static void tensor_set(array *x) {
    bool plain = true;
    int64_t step = 1;
    for (int d = x->ndim - 1; d >= 0; d--) {
        plain &= x->strides[d] == step;
        step *= x->shape[d];
    }
    x->tensor = (DLTensor){.data = x->first,
                           .device = {kDLCPU, 0},
                           .ndim = x->ndim,
                           .dtype = chance(50) ? x->s->uniform : (DLDataType){kDLUInt, 8, (uint16_t)x->s->bytes},
                           .shape = x->shape,
                           .strides = plain && chance(50) ? NULL : x->strides};
}

/* Memory of random bytes for so many records around those that the array has, up to a guard page or from one on. */
static void memory_make(array *x, int64_t more) {
    int64_t low, high;
    extent_of(x, &low, &high);
    size_t bytes = (size_t)((high - low + 1 + more) * x->s->bytes);
    x->mapped = (bytes + PAGE - 1) / PAGE * PAGE + 2 * (size_t)PAGE;
    x->map = mmap(NULL, x->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (x->map == MAP_FAILED)
        abort();
    for (size_t i = PAGE; i < x->mapped - PAGE; i++)
        x->map[i] = (char)draw_bits();
    char *lowest = x->map + PAGE;
    if (chance(70)) /* the size is a multiple of the alignment, so its end can be the page's */
        lowest = x->map + x->mapped - PAGE - bytes;
    x->first = lowest + (chance(50) ? more : 0) * x->s->bytes - low * x->s->bytes;
    mprotect(x->map, PAGE, PROT_NONE);
    mprotect(x->map + x->mapped - PAGE, PAGE, PROT_NONE);
}

static void fill(const array *x) {
    int64_t index[DIMS] = {0};
    if (is_empty(x))
        return;
    do
        for (int i = 0; i < x->s->nleaves; i++)
            value_draw(&x->s->leaves[i], at(x, index));
    while (next(x, index));
}

static void array_make(array *x, const subject *s, int ndim, const int64_t *shape, bool is_output) {
    *x = (array){.s = s, .ndim = ndim};
    for (int d = 0; d < ndim; d++)
        x->shape[d] = shape[d];
    strides_draw(x, is_output);
    memory_make(x, chance(50) ? 0 : pick(1, 3));
    fill(x);
    tensor_set(x);
}

static void array_free(array *x) {
    if (x->map)
        munmap(x->map, x->mapped);
    x->map = NULL;
}

static void shape_draw(int ndim, int64_t *shape) {
    int64_t budget = chance(15) ? 3000 : 60;
    for (int d = 0; d < ndim; d++) {
        shape[d] = chance(4) ? 0 : chance(15) ? 1 : pick(1, budget);
        budget = shape[d] ? budget / shape[d] + 1 : budget;
    }
}

/* ---- What memory becomes ---- */

/* All memory of an array, with a place in it for each of its addresses. */
typedef struct image {
    const array *of;
    char *bytes;
} image;

static image image_make(const array *x) {
    image m = {x, malloc(x->mapped - 2 * (size_t)PAGE)};
    memcpy(m.bytes, x->map + PAGE, x->mapped - 2 * (size_t)PAGE);
    return m;
}

static char *in_image(const image *m, const char *address) { return m->bytes + (address - m->of->map - PAGE); }

static void show(const array *x, const char *name) {
    fprintf(stderr, "%s: %p", name, (void *)x->first);
    for (int d = 0; d < x->ndim; d++)
        fprintf(stderr, " %lld(%lld)", (long long)x->shape[d], (long long)x->strides[d]);
    fprintf(stderr, "\n");
}

/* Compares and frees. */
static void compare(image *m, const char *verb) {
    const array *x = m->of;
    for (size_t i = 0; i < x->mapped - 2 * (size_t)PAGE; i++)
        if (m->bytes[i] != x->map[PAGE + i]) {
            int64_t from_first = (int64_t)(x->map + PAGE + i - x->first);
            fprintf(stderr, "%s: byte %lld of record %lld is %d, not %d\n%s\n%s: %lld bytes\n", verb,
                    (long long)(((from_first % x->s->bytes) + x->s->bytes) % x->s->bytes),
                    (long long)(from_first / x->s->bytes), x->map[PAGE + i], m->bytes[i], x->s->all.kernel.data,
                    x->s->r->kernel, (long long)x->s->bytes);
            show(x, "output");
            fail_msg("%s: memory differs", verb);
        }
    free(m->bytes);
}

static void must(const subject *s, const char *verb, uf_status status) {
    if (!status)
        return;
    fprintf(stderr, "%s: %s\n%s\n%s\n", verb, uf_last_error()->message, s->all.kernel.data, s->r->kernel);
    fail_msg("%s: %s", verb, uf_last_error()->message);
}

/* ---- Elementwise: outputs of their own, in place, overlapping, broadcast inputs, numbers ---- */

/* The second input: of the whole shape, or with extents of 1, or fewer dimensions. */
static void broadcast_draw(array *b, const subject *s, int ndim, const int64_t *shape) {
    int64_t own[DIMS];
    int left_out = chance(25) ? (int)pick(0, ndim) : 0;
    for (int d = left_out; d < ndim; d++)
        own[d - left_out] = chance(15) ? 1 : shape[d];
    array_make(b, s, ndim - left_out, own, false);
}

static char *at_broadcast(const array *b, int ndim, const int64_t *index) {
    int64_t own[DIMS] = {0};
    for (int d = 0; d < b->ndim; d++)
        own[d] = b->shape[d] == 1 ? 0 : index[ndim - b->ndim + d];
    return at(b, own);
}

/* The first input is the output, or that array some records on or back, or an array of its own. */
static void first_draw(array *a, const array *out) {
    int64_t low, high;
    if (chance(60)) {
        array_make(a, out->s, out->ndim, out->shape, false);
        return;
    }
    *a = *out;
    a->map = NULL;
    extent_of(out, &low, &high);
    char *lowest = out->first + low * out->s->bytes, *end = out->first + (high + 1) * out->s->bytes;
    if (chance(50) && lowest - out->s->bytes >= out->map + PAGE)
        a->first -= out->s->bytes;
    else if (chance(50) && end + out->s->bytes <= out->map + out->mapped - PAGE)
        a->first += out->s->bytes;
    if (a->first != out->first && !is_empty(a)) /* what lies outside of the output has values, too */
        fill(a);
    tensor_set(a);
    if (a->first == out->first && !a->tensor.strides && out->ndim)
        a->tensor.strides = a->strides;
}

static void elementwise(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(60); i++) {
        subject s;
        array a, b, out;
        int64_t shape[DIMS] = {0}, index[DIMS] = {0};
        int ndim = (int)pick(0, DIMS);
        subject_draw(&s, STATE);
        shape_draw(ndim, shape);
        array_make(&out, &s, ndim, shape, true);
        first_draw(&a, &out);
        broadcast_draw(&b, &s, ndim, shape);
        image expected = image_make(&out), before = image_make(&out);
        if (!is_empty(&out))
            do {
                char *x = at(&a, index);
                if (!a.map)
                    x = in_image(&before, x);
                combine(&s, in_image(&expected, at(&out, index)), x, at_broadcast(&b, ndim, index));
            } while (next(&out, index));
        uf_func *f = add_function(&s);
        must(&s, "call", uf_call(f, 3, (DLTensor[]){a.tensor, b.tensor, out.tensor}, NULL));
        compare(&expected, "call");
        free(before.bytes);
        uf_free(f);
        array_free(&a);
        array_free(&b);
        array_free(&out);
        subject_free(&s);
    }
}

/* Of as many scalars as a record can have and be an operand: the output is one alone, made of numbers. */
static void large_records(void **unused) {
    (void)unused;
    for (int leaves = 1; leaves < UF_MAX_OPERANDS; leaves += (int)pick(1, 9)) {
        subject s = {.bytes = 4 * leaves, .align = 4, .nleaves = leaves};
        random_record r = {.nfields = 1};
        text source = {0};
        array out;
        int64_t shape[1] = {pick(0, 70)}, index[DIMS] = {0};
        int32_t k[70];
        s.uniform = (DLDataType){kDLInt, 32, (uint16_t)leaves};
        s.r = &r;
        strcpy(r.kernel, "wide");
        text_printf(&source, "struct wide { int32 f[%d]; };", leaves);
        text_puts(&s.all.kernel, source.data);
        for (int i = 0; i < leaves; i++)
            s.leaves[i] = (leaf){.type = DT_INT32, .offset = 4 * i};
        s.module = module_of(source.data);
        text_free(&source);
        text_puts(&source, "(k) { wide w;");
        for (int i = 0; i < leaves; i++)
            text_printf(&source, " w.f[%d] = k * %d;", i, i + 1);
        text_puts(&source, " return w; }");
        uf_func *f = define_on(&s, NULL, "int32->wide", source.data, 0);
        array_make(&out, &s, 1, shape, true);
        image expected = image_make(&out);
        for (int i = 0; i < shape[0]; i++) {
            k[i] = (int32_t)pick(-9, 9);
            index[0] = i;
            for (int j = 0; j < leaves; j++) {
                int32_t v = k[i] * (j + 1);
                memcpy(in_image(&expected, at(&out, index)) + 4 * j, &v, 4);
            }
        }
        must(&s, "wide", uf_call(f, 2, (DLTensor[]){UF_ARRAY(k, shape[0]), out.tensor}, NULL));
        compare(&expected, "wide");
        array_free(&out);
        text_free(&source);
        uf_free(f);
        subject_free(&s);
    }
}

/* ---- Reductions and scans ---- */

/* The shape without an axis, or with another extent there. */
static int shape_along(const array *a, int axis, int64_t extent, int64_t *shape) {
    int n = 0;
    for (int d = 0; d < a->ndim; d++)
        if (d != axis || extent >= 0)
            shape[n++] = d == axis ? extent : a->shape[d];
    return n;
}

enum verb {
    REDUCE,
    ACCUMULATE,
    REDUCEAT
};

typedef struct fold_case {
    enum verb verb;
    int axis, nstarts;
    int64_t starts[5];
} fold_case;

/* One result: from what element up to what other along the axis, and these combined in order. `to` is its index in the output. */
static void result_expect(const fold_case *c, const array *a, const int64_t *to, char *result) {
    int64_t from[DIMS] = {0}, first = 0, end = a->shape[c->axis];
    for (int d = 0; d < a->ndim; d++)
        if (d != c->axis || c->verb != REDUCE)
            from[d] = *to++;
    int64_t place = from[c->axis];
    if (c->verb == ACCUMULATE)
        end = place + 1;
    if (c->verb == REDUCEAT) {
        first = c->starts[place];
        if (place + 1 < c->nstarts)
            end = c->starts[place + 1] > first ? c->starts[place + 1] : first + 1;
    }
    for (from[c->axis] = first; from[c->axis] < end; from[c->axis]++) {
        if (from[c->axis] == first)
            copy_record(a->s, result, at(a, from));
        else
            combine(a->s, result, result, at(a, from));
    }
}

static uf_status fold_call(const fold_case *c, const uf_func *f, const array *a, const array *out) {
    const DLTensor args[2] = {a->tensor, out->tensor};
    const uf_reduce_options only = {.size = sizeof only, .naxes = 1, .axes = &c->axis};
    if (c->verb == REDUCE)
        return uf_reduce(f, 2, args, &only);
    if (c->verb == ACCUMULATE)
        return uf_accumulate(f, 2, args, c->axis, NULL);
    return uf_reduceat(f, 2, args, &UF_ARRAY(c->starts, c->nstarts), c->axis, NULL);
}

static void fold(void **unused) {
    static const char *const names[] = {"reduce", "accumulate", "reduceat"};
    (void)unused;
    for (int64_t i = 0; i < trials(60); i++) {
        subject s;
        array a, out;
        int64_t shape[DIMS] = {0}, kept[DIMS] = {0}, to[DIMS] = {0};
        int ndim = (int)pick(1, DIMS);
        fold_case c = {.verb = (enum verb)pick(0, 2), .axis = (int)pick(0, ndim - 1), .nstarts = (int)pick(1, 5)};
        subject_draw(&s, STATE);
        shape_draw(ndim, shape);
        shape[c.axis] = shape[c.axis] ? shape[c.axis] : 1; /* there is no identity */
        array_make(&a, &s, ndim, shape, false);
        for (int k = 0; k < c.nstarts; k++)
            c.starts[k] = pick(0, shape[c.axis] - 1);
        int64_t extent = c.verb == REDUCE ? -1 : c.verb == ACCUMULATE ? shape[c.axis] : c.nstarts;
        int nd = shape_along(&a, c.axis, extent, kept);
        array_make(&out, &s, nd, kept, true);
        image expected = image_make(&out);
        if (!is_empty(&out))
            do
                result_expect(&c, &a, to, in_image(&expected, at(&out, to)));
            while (next(&out, to));
        uf_func *f = add_function(&s);
        must(&s, names[c.verb], fold_call(&c, f, &a, &out));
        compare(&expected, names[c.verb]);
        uf_free(f);
        array_free(&a);
        array_free(&out);
        subject_free(&s);
    }
}

/* ---- Outer, at ---- */

static void outer(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(25); i++) {
        subject s;
        array a, b, out;
        int64_t shape[DIMS] = {0}, index[DIMS] = {0};
        int first = (int)pick(0, 2), second = (int)pick(0, DIMS - first);
        subject_draw(&s, STATE);
        shape_draw(first + second, shape);
        array_make(&a, &s, first, shape, false);
        array_make(&b, &s, second, shape + first, false);
        array_make(&out, &s, first + second, shape, true);
        image expected = image_make(&out);
        if (!is_empty(&out))
            do
                combine(&s, in_image(&expected, at(&out, index)), at(&a, index), at(&b, index + first));
            while (next(&out, index));
        uf_func *f = add_function(&s);
        must(&s, "outer", uf_outer(f, 3, (DLTensor[]){a.tensor, b.tensor, out.tensor}, NULL));
        compare(&expected, "outer");
        uf_free(f);
        array_free(&a);
        array_free(&b);
        array_free(&out);
        subject_free(&s);
    }
}

static void updates(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(25); i++) {
        subject s;
        array target, operand;
        int32_t indices[40];
        int64_t shape[DIMS] = {0}, n = pick(0, 40);
        subject_draw(&s, STATE);
        shape_draw(1, shape);
        shape[0] = shape[0] ? shape[0] : 1;
        array_make(&target, &s, 1, shape, true);
        array_make(&operand, &s, 1, &n, false);
        image expected = image_make(&target);
        for (int64_t k = 0; k < n; k++) {
            indices[k] = (int32_t)pick(-shape[0], shape[0] - 1);
            int64_t place = indices[k] < 0 ? indices[k] + shape[0] : indices[k];
            char *to = in_image(&expected, at(&target, &place));
            combine(&s, to, to, at(&operand, &k));
        }
        uf_func *f = add_function(&s);
        must(&s, "at", uf_at(f, &target.tensor, 1, &UF_ARRAY(indices, n), &operand.tensor, NULL));
        compare(&expected, "at");
        uf_free(f);
        array_free(&target);
        array_free(&operand);
        subject_free(&s);
    }
}

/* ---- Core dimensions, kernels over indices ---- */

/* Rows are added up. */
static void core_dimensions(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(25); i++) {
        subject s;
        array a, out;
        char signature[400];
        int64_t shape[DIMS] = {0}, index[DIMS] = {0}, element[DIMS] = {0};
        int ndim = (int)pick(1, DIMS);
        subject_draw(&s, UF_MAX_OPERANDS / 2);
        shape_draw(ndim, shape);
        array_make(&a, &s, ndim, shape, false);
        array_make(&out, &s, ndim - 1, shape, true);
        image expected = image_make(&out);
        if (!is_empty(&out))
            do {
                char zero[1024] = {0}, *to = in_image(&expected, at(&out, index));
                copy_record(&s, to, zero);
                memcpy(element, index, sizeof element);
                for (int64_t k = 0; k < shape[ndim - 1]; k++) {
                    element[ndim - 1] = k;
                    combine(&s, to, to, at(&a, element));
                }
            } while (next(&out, index));
        snprintf(signature, sizeof signature, "%s->%s", s.r->kernel, s.r->kernel);
        uf_func *f =
            define_on(&s, "(n)->()", signature, "(x) -> (r) { for (int64 i = 0; i < n; i++) r = add(r, x[i]); }", 0);
        must(&s, "gufunc", uf_call(f, 2, (DLTensor[]){a.tensor, out.tensor}, NULL));
        compare(&expected, "gufunc");
        uf_free(f);
        array_free(&a);
        array_free(&out);
        subject_free(&s);
    }
}

static void kernels(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(25); i++) {
        subject s;
        array a, b, out;
        char parameters[600];
        int64_t shape[DIMS] = {0}, index[DIMS] = {0};
        subject_draw(&s, INDEXED);
        shape_draw(2, shape);
        array_make(&a, &s, 2, shape, false);
        array_make(&b, &s, 1, shape, false);
        array_make(&out, &s, 2, shape, true);
        image expected = image_make(&out);
        if (!is_empty(&out))
            do
                combine(&s, in_image(&expected, at(&out, index)), at(&a, index), at(&b, index));
            while (next(&out, index));
        snprintf(parameters, sizeof parameters, "%s[,], %s[], %s[,]", s.r->kernel, s.r->kernel, s.r->kernel);
        uf_func *f = define_on(&s, NULL, parameters, "[i, j](a, b, r) { r[i][j] = add(a[i][j], b[i]); }", UF_KERNEL);
        must(&s, "forall", uf_forall(f, 2, shape, 3, (DLTensor[]){a.tensor, b.tensor, out.tensor}, NULL));
        compare(&expected, "forall");
        uf_free(f);
        array_free(&a);
        array_free(&b);
        array_free(&out);
        subject_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(elementwise), cmocka_unit_test(large_records),
                                       cmocka_unit_test(fold),        cmocka_unit_test(outer),
                                       cmocka_unit_test(updates),     cmocka_unit_test(core_dimensions),
                                       cmocka_unit_test(kernels)};
    return cmocka_run_group_tests_name("views of records", tests, draw_seed, NULL);
}
