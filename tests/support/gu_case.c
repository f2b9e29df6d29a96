/* gu_case.c - draws the arrays of a call, runs it by the interpreter and by the library, compares whole buffers: every
 * element that the kernel assigns, those that it leaves alone, and what lies between and around them. */
#include "gu_case.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#undef fail /* base.h's */
#include <cmocka.h>

enum {
    CANARY = 64
};

static int64_t pick(gu_case *x, int64_t low, int64_t high) { return random_between(&x->s, low, high); }
static bool chance(gu_case *x, int percent) { return random_chance(&x->s, percent); }
static int operands(const gu_case *x) { return x->c.p.nin + x->c.p.nout; }

/* ---- Reports ---- */

static void print_extents(const char *what, int n, const int64_t *values) {
    print_error("%s", what);
    for (int d = 0; d < n; d++)
        print_error(" %lld", (long long)values[d]);
}

static void report(const gu_case *x, const char *where, const char *what) {
    const program *p = &x->c.p;
    print_error("UF_SEED=%llu, %s: %s\n%s\n%s\n", (unsigned long long)x->seed, where, what, x->c.layout.data,
                p->signature);
    fputs(p->source.data, stderr); /* print_error cuts long texts */
    for (int i = 0; i < CORE_NAMES; i++)
        print_error("%s is %lld%s, ", core_names[i], (long long)x->sizes[i], x->missing[i] ? " (missing)" : "");
    print_extents("loop", x->ndim, x->extent);
    print_error(", %d axes, axis %d (%s), keepdims %d, %d threads, planned %d\n", x->axes.count, x->axis,
                x->axes.axis ? "given" : "not given", x->axes.keepdims, x->options.threads, x->planned);
    for (int k = 0; k < operands(x); k++) {
        const gu_array *a = &x->args[k];
        print_error("argument %d: %s", k, dtypes[a->type].name);
        print_extents(", shape", a->tensor.ndim, a->shape);
        print_extents(", strides", a->tensor.ndim, a->strides);
        print_extents(", loop strides", x->ndim, a->loop_stride);
        print_extents(", core strides", x->c.operand[k].rank, a->core_stride);
        print_error(", buffer %d at %zu\n", a->buffer, a->at);
    }
}

void gu_must(const gu_case *x, const char *where, uf_status status) {
    if (status == UF_OK)
        return;
    report(x, where, uf_last_error()->message);
    fail_msg("%s: %s", uf_status_text(status), uf_last_error()->message);
}

/* ---- Sizes ---- */

bool gu_check(gu_case *x) {
    program *p = &x->c.p;
    const syntax *s;
    tree *t;
    core_layout *l = arena_alloc(&x->a, sizeof *l);
    if (!l || layout_parse(&x->a, x->c.layout.data, l))
        fail_msg("%s: %s", x->c.layout.data, uf_last_error()->message);
    if (lang_parse(&x->a, p->source.data, NULL, &s) ||
        lang_check(&x->a, s, l, NULL, p->types, p->nin, &p->types[p->nin], p->nout, false, &t))
        return false;
    assert_in_range(l->nparameters, 0, GU_WORDS);
    x->tree = t;
    return true;
}

/* A 0-d input of an operand without core dimensions travels by value. One that lacks all of its dimensions does not. */
static bool is_number(const gu_case *x, int k) {
    return k < x->c.p.nin && x->c.operand[k].rank == 0 && x->args[k].loops == 0;
}

static bool is_missing(const gu_case *x, const core_dim *d) { return d->kind == CORE_NAME && x->missing[d->name]; }

/* At most so many: an operand may lack the loop dimensions that are empty. */
static int64_t elements_of(const gu_case *x, int k) {
    int64_t count = 1;
    for (int d = 0; d < x->ndim; d++)
        count *= x->extent[d] ? x->extent[d] : 1;
    for (int d = 0; d < x->c.operand[k].rank; d++) {
        int64_t extent = core_extent(&x->c.operand[k].dim[d], x->sizes);
        count *= extent > 0 ? extent : 1;
    }
    return count;
}

/* Is there little enough for the interpreter? */
static bool fits(const gu_case *x, int class) {
    static const int64_t most[] = {1 << 12, 1 << 14, 1 << 17, 1 << 20};
    for (int k = 0; k < operands(x); k++)
        if (elements_of(x, k) > most[class])
            return false;
    return true;
}

static bool negative_size(const gu_case *x) {
    for (int k = 0; k < operands(x); k++)
        for (int d = 0; d < x->c.operand[k].rank; d++)
            if (core_extent(&x->c.operand[k].dim[d], x->sizes) < 0)
                return true;
    return false;
}

static int64_t *largest(int64_t *values, int n, int64_t *than) {
    for (int i = 0; i < n; i++)
        if (*than < values[i])
            than = &values[i];
    return than;
}

/* Optional dimensions of one operand are missing together. */
static void draw_missing(gu_case *x) {
    for (int i = 0; i < CORE_NAMES; i++)
        x->missing[i] = x->c.optional[i] && x->c.in_inputs[i] && chance(x, 50);
    for (int k = 0; k < operands(x); k++) {
        bool both[CORE_NAMES] = {false}, any = false;
        for (int d = 0; d < x->c.operand[k].rank; d++) {
            const core_dim *c = &x->c.operand[k].dim[d];
            both[c->name] |= c->kind == CORE_NAME && x->c.optional[c->name];
            any |= is_missing(x, c);
        }
        for (int i = 0; i < CORE_NAMES; i++)
            x->missing[i] |= any && both[i];
    }
}

static void draw_sizes(gu_case *x, int class) {
    static const int64_t core[][2] = {{1, 8}, {9, 64}, {65, 4096}, {100001, 1 << 18}};
    static const int64_t loop[] = {12, 6, 3, 2};
    int64_t none = 1;
    int big = (int)pick(x, 0, CORE_NAMES - 1);
    draw_missing(x);
    for (int i = 0; i < CORE_NAMES; i++) {
        int c = class < 2 || i == big ? class : (int)pick(x, 0, class - 1);
        x->sizes[i] = x->missing[i] ? 1 : chance(x, 3) ? 0 : chance(x, 8) ? 1 : pick(x, core[c][0], core[c][1]);
    }
    if (!x->c.in_inputs[big] && !x->c.in_outputs[big] && class > 0)
        x->sizes[0] = pick(x, core[class][0], core[class][1]);
    x->ndim = (int)pick(x, 0, GU_LOOP);
    for (int d = 0; d < x->ndim; d++)
        x->extent[d] = chance(x, 3) ? 0 : pick(x, 1, loop[class]);
    if (class == 0 && x->ndim > 0 && chance(x, 20))
        x->extent[x->ndim - 1] = pick(x, 1, 2000);
    if (x->planes) {
        x->ndim = 2;
        x->extent[0] = pick(x, 2, 40);
        x->extent[1] = pick(x, 2, 20);
    }
    while (!fits(x, class)) {
        int64_t *much = largest(x->extent, x->ndim, &none);
        much = much == &none ? largest(x->sizes, CORE_NAMES, much) : much;
        *much /= 2;
    }
    while (negative_size(x))
        for (int i = 0; i < CORE_NAMES; i++)
            x->sizes[i] += x->sizes[i] == 0;
}

/* ---- Arrays ---- */

/* How many loop dimensions an argument has. One input that lacks an optional dimension must have none, to show that. */
static int loop_dims(gu_case *x, int k, bool *shown) {
    const core_operand *o = &x->c.operand[k];
    int lacks = 0;
    for (int d = 0; d < o->rank; d++)
        lacks += is_missing(x, &o->dim[d]);
    if (k >= x->c.p.nin)
        return x->ndim;
    if (!lacks || (*shown && chance(x, 50)))
        return (int)pick(x, chance(x, 60) ? x->ndim : 0, x->ndim);
    *shown = true;
    return 0;
}

/* The first input that has a dimension must show it: the rest follows. */
static void draw_loops(gu_case *x) {
    for (int i = 0; i < CORE_NAMES; i++)
        for (bool first = x->missing[i]; first; first = false)
            for (int k = 0; k < x->c.p.nin && first; k++)
                for (int d = 0; d < x->c.operand[k].rank && first; d++)
                    if (x->c.operand[k].dim[d].kind == CORE_NAME && x->c.operand[k].dim[d].name == i) {
                        bool shown = false;
                        x->args[k].loops = loop_dims(x, k, &shown);
                        first = false;
                    }
    for (int k = 0; k < operands(x); k++) {
        bool shown = true;
        if (x->args[k].loops < 0)
            x->args[k].loops = loop_dims(x, k, &shown);
    }
}

static int64_t core_size(const gu_case *x, const core_dim *d) {
    return is_missing(x, d) ? 1 : core_extent(d, x->sizes);
}

/* Extents of an argument, loop dimensions first. keepdims adds dimensions of 1 to outputs. */
static void draw_extents(gu_case *x, int k, int stretched) {
    gu_array *a = &x->args[k];
    const core_operand *o = &x->c.operand[k];
    bool input = k < x->c.p.nin;
    for (int d = 0; d < a->loops; d++)
        a->extent[d] = input && chance(x, 15) ? 1 : x->extent[x->ndim - a->loops + d];
    a->cores = 0;
    for (int d = 0; d < o->rank; d++)
        if (!is_missing(x, &o->dim[d])) {
            bool one = o->dim[d].kind == CORE_STRETCH && stretched;
            a->extent[a->loops + a->cores++] = one ? 1 : core_extent(&o->dim[d], x->sizes);
        }
    for (int d = 0; x->axes.keepdims && !input && d < x->c.operand[0].rank; d++)
        a->extent[a->loops + a->cores++] = 1;
}

/* Strides in elements: dense in a random order of the dimensions, padded, some backwards; inputs: some 0. */
static void draw_strides(gu_case *x, int k) {
    gu_array *a = &x->args[k];
    int n = a->loops + a->cores, order[GU_NDIM];
    bool input = k < x->c.p.nin, plain = x->planes || chance(x, 45);
    int64_t step = plain || chance(x, 75) ? 1 : pick(x, 2, 3);
    a->low = a->high = 0;
    for (int d = 0; d < n; d++)
        order[d] = n - 1 - d; /* the last dimension is the innermost */
    for (int i = a->cores; i > 0 && x->planes && a->loops; i--) {
        int t = order[i];
        order[i] = order[i - 1];
        order[i - 1] = t;
    }
    for (int d = n - 1; d > 0 && !plain && chance(x, 60); d--) {
        int other = (int)pick(x, 0, d), t = order[d];
        order[d] = order[other];
        order[other] = t;
    }
    bool empty = false;
    for (int i = 0; i < n; i++) {
        int d = order[i];
        bool zero = input && !plain && chance(x, 12), back = !plain && chance(x, 15);
        a->stride[d] = zero ? 0 : back ? -step : step;
        *(back ? &a->low : &a->high) += a->stride[d] * (a->extent[d] - 1);
        step *= zero || a->extent[d] == 0 ? 1 : a->extent[d];
        step += plain || chance(x, 70) ? 0 : pick(x, 1, 3);
        empty |= a->extent[d] == 0;
        if (a->extent[d] <= 1)
            a->stride[d] = chance(x, 50) ? a->stride[d] : pick(x, -9, 9); /* ignored */
    }
    for (int d = 0; d < n; d++)
        if (empty)
            a->low = a->high = 0;
}

/* The strides as the interpreter wants them. */
static void core_strides(gu_case *x, int k) {
    gu_array *a = &x->args[k];
    int present = a->loops, skip = x->ndim - a->loops;
    for (int d = 0; d < x->ndim; d++)
        a->loop_stride[d] = d < skip || a->extent[d - skip] <= 1 ? 0 : a->stride[d - skip];
    for (int d = 0; d < x->c.operand[k].rank; d++) {
        bool missing = is_missing(x, &x->c.operand[k].dim[d]);
        a->core_stride[d] = missing || a->extent[present] <= 1 ? 0 : a->stride[present];
        present += !missing;
    }
}

static void draw_types(gu_case *x, int k) {
    const dtype sig = x->c.p.types[k];
    gu_array *a = &x->args[k];
    bool input = k < x->c.p.nin;
    a->type = sig;
    if (is_number(x, k) || chance(x, 65)) /* a number has the very type */
        return;
    do
        a->type = (dtype)pick(x, 0, DT_COUNT - 1);
    while (input ? !dtype_can_cast(a->type, sig, UF_CAST_SAFE) : !dtype_can_cast(sig, a->type, UF_CAST_SAME_KIND));
}

/* ---- Axes ---- */

/* Has the function one core dimension, that of every argument that has any? */
static bool single_dimension(const gu_case *x) {
    int name = -1;
    for (int k = 0; k < operands(x); k++) {
        const core_operand *o = &x->c.operand[k];
        if (o->rank > 1 || (o->rank == 1 && (o->dim[0].kind != CORE_NAME || x->c.optional[o->dim[0].name])))
            return false;
        if (o->rank && name >= 0 && o->dim[0].name != name)
            return false;
        name = o->rank ? o->dim[0].name : name;
    }
    return name >= 0;
}

static bool may_keepdims(const gu_case *x) {
    for (int k = 0; k < operands(x); k++) {
        if (x->c.operand[k].rank != (k < x->c.p.nin ? x->c.operand[0].rank : 0))
            return false;
        for (int d = 0; d < x->c.operand[k].rank; d++)
            if (x->c.optional[x->c.operand[k].dim[d].name])
                return false;
    }
    return x->c.operand[0].rank > 0;
}

static void draw_list(gu_case *x, int k, int *axes) {
    gu_array *a = &x->args[k];
    int n = a->loops + a->cores;
    uint64_t used = 0;
    for (int d = 0; d < a->cores; d++) {
        do
            a->axes[d] = (int)pick(x, 0, n - 1);
        while (used >> a->axes[d] & 1);
        used |= (uint64_t)1 << a->axes[d];
        axes[d] = chance(x, 50) ? a->axes[d] : a->axes[d] - n;
    }
    x->lists[k] = (uf_axis_list){.count = a->cores, .axes = a->cores || chance(x, 50) ? axes : NULL};
}

static void draw_lists(gu_case *x) {
    static int axes[PROGRAM_TYPES][CORE_RANK];
    bool outputs = false;
    for (int k = 0; k < operands(x); k++) {
        draw_list(x, k, axes[k]);
        outputs |= k >= x->c.p.nin && x->c.operand[k].rank > 0;
    }
    x->axes.count = outputs || chance(x, 50) ? operands(x) : x->c.p.nin;
    x->axes.lists = x->lists;
}

static void draw_axis(gu_case *x) {
    int least = GU_NDIM;
    for (int k = 0; k < operands(x); k++) {
        const gu_array *a = &x->args[k];
        if (a->cores && a->loops + a->cores < least)
            least = a->loops + a->cores;
    }
    x->axis = (int)pick(x, -least, least - 1);
    x->axes.axis = &x->axis;
    for (int k = 0; k < operands(x); k++)
        x->args[k].axes[0] = x->axis < 0 ? x->args[k].loops + x->args[k].cores + x->axis : x->axis;
}

/* The shape as the caller gives it: core dimensions where the axes say. */
static void place_axes(gu_case *x, int k) {
    gu_array *a = &x->args[k];
    int n = a->loops + a->cores, from = 0;
    uint64_t used = 0;
    for (int d = 0; d < a->cores; d++) {
        used |= (uint64_t)1 << a->axes[d];
        a->shape[a->axes[d]] = a->extent[a->loops + d];
        a->strides[a->axes[d]] = a->stride[a->loops + d];
    }
    for (int at = 0; at < n; at++)
        if (!(used >> at & 1)) {
            a->shape[at] = a->extent[from];
            a->strides[at] = a->stride[from++];
        }
}

/* ---- Buffers ---- */

static bool is_contiguous(const gu_array *a) {
    int64_t step = 1;
    for (int d = a->tensor.ndim - 1; d >= 0; d--) {
        if (a->shape[d] > 1 && a->strides[d] != step)
            return false;
        step *= a->shape[d];
    }
    return true;
}

static number small_number(gu_case *x, dtype t) {
    int64_t low = t == DT_BOOL || (t >= DT_UINT8 && t <= DT_UINT64) ? 0 : -8;
    number n = {.type = DT_COMPLEX128, .as.f = {(double)pick(x, low, 8), (double)pick(x, low, 8)}};
    return ref_convert(n, t);
}

static number tolerant_number(gu_case *x, dtype t) {
    number n = {.type = DT_COMPLEX128,
                .as.f = {(double)pick(x, -4096, 4096) / 1024, (double)pick(x, -4096, 4096) / 1024}};
    return ref_convert(n, t);
}

/* Every element that a view of this type and alignment may see. */
static void fill(gu_case *x, gu_buffer *b, dtype t, size_t at) {
    size_t size = dtypes[t].size;
    for (size_t i = 0; i < b->size; i++)
        b->before[i] = (char)0xA5;
    for (size_t i = at % size; i + size <= b->size; i += size) {
        number n = x->tolerant ? tolerant_number(x, t) : x->c.tame ? small_number(x, t) : random_number(&x->s, t);
        number_write(n, t, b->before + i);
        if (t == DT_BOOL && chance(x, 10))
            b->before[i] = (char)pick(x, 2, 127); /* true as well */
    }
}

/* An array in memory of its own, or (an input) in an output's. */
static void draw_buffer(gu_case *x, int k, int in) {
    gu_array *a = &x->args[k], *o = &x->args[in];
    size_t size = dtypes[a->type].size, align = dtypes[a->type].align;
    gu_buffer *b = &x->buffers[in];
    a->buffer = in;
    if (k != in) {
        int64_t room = (int64_t)(b->size - 2 * CANARY) / (int64_t)size - 2 - (a->high - a->low);
        a->at = o->at % size + CANARY + (size_t)(pick(x, 0, room) - a->low) * size;
        return;
    }
    int64_t span = a->high - a->low + 1;
    for (int i = 0; i < k; i++)
        if (x->args[i].buffer == k && x->args[i].high - x->args[i].low >= span)
            span = x->args[i].high - x->args[i].low + 1;
    b->size = (size_t)(span + 6) * size + 2 * CANARY;
    a->at = CANARY + (size_t)pick(x, 0, 1) * align * (size_t)pick(x, 0, 3) + (size_t)(-a->low) * size;
    b->before = malloc(b->size);
    b->expected = malloc(b->size);
    b->used = aligned_alloc(64, (b->size + 63) / 64 * 64);
    b->slack = x->tolerant ? calloc(b->size / size + 1, sizeof *b->slack) : NULL;
    if (!b->before || !b->expected || !b->used)
        abort(); /* the tests' own memory */
    fill(x, b, a->type, a->at);
}

/* Outputs have their own buffers; some inputs lie in one of them. */
static void draw_buffers(gu_case *x) {
    for (int k = 0; k < x->c.p.nin; k++) {
        int other = (int)pick(x, x->c.p.nin, operands(x) - 1);
        bool share = !is_number(x, k) && !x->tolerant && x->args[other].type == x->args[k].type && chance(x, 12);
        x->args[k].buffer = share ? other : k;
    }
    for (int k = operands(x) - 1; k >= 0; k--)
        if (k >= x->c.p.nin || x->args[k].buffer == k)
            draw_buffer(x, k, k);
    for (int k = 0; k < x->c.p.nin; k++)
        if (x->args[k].buffer != k)
            draw_buffer(x, k, x->args[k].buffer);
}

static void draw_tensor(gu_case *x, int k) {
    gu_array *a = &x->args[k];
    a->tensor =
        (DLTensor){.device = {kDLCPU, 0}, .ndim = a->loops + a->cores, .dtype = dtypes[a->type].dl, .shape = a->shape};
    if (!is_contiguous(a) || chance(x, 50))
        a->tensor.strides = a->strides;
    if (a->tensor.ndim == 0 && chance(x, 50))
        a->tensor.shape = a->tensor.strides = NULL;
    a->tensor.byte_offset = chance(x, 25) ? a->at : 0;
}

/* ---- The core parameters ---- */

static void make_words(gu_case *x) {
    const core_layout *l = x->tree->layout;
    for (int k = 0; k < operands(x); k++)
        for (int d = 0; d < x->c.operand[k].rank; d++) {
            x->words[l->operands[k].dim[d]] = core_size(x, &x->c.operand[k].dim[d]);
            x->words[l->operands[k].strides + d] = x->args[k].core_stride[d];
        }
}

static void draw_axes(gu_case *x) {
    bool keepdims = x->axes.keepdims, axis = single_dimension(x) && chance(x, 50);
    for (int k = 0; k < operands(x); k++)
        for (int d = 0; d < x->args[k].cores; d++)
            x->args[k].axes[d] = x->args[k].loops + d;
    if (axis)
        draw_axis(x);
    else if (!keepdims && chance(x, 25))
        draw_lists(x);
    if (axis || keepdims || x->axes.count || chance(x, 10))
        x->options.axes = &x->axes;
}

void gu_draw(gu_case *x, int class) {
    x->options = (uf_options){.size = sizeof x->options, .threads = (int)pick(x, 0, 3), .flags = UF_STRONG_NUMBERS};
    x->axes = (uf_axes){.size = sizeof x->axes, .keepdims = may_keepdims(x) && chance(x, 30)};
    x->planned = chance(x, 20);
    if (chance(x, 10))
        x->options.signature = x->c.p.signature;
    draw_sizes(x, class);
    for (int k = 0; k < operands(x); k++)
        x->args[k] = (gu_array){.loops = -1};
    draw_loops(x);
    for (int k = 0; k < operands(x); k++) {
        draw_extents(x, k, chance(x, 50));
        draw_strides(x, k);
        core_strides(x, k);
        draw_types(x, k);
    }
    draw_axes(x);
    draw_buffers(x);
    for (int k = 0; k < operands(x); k++) {
        place_axes(x, k);
        draw_tensor(x, k);
    }
    make_words(x);
}

void gu_release(gu_case *x) {
    for (int k = 0; k < PROGRAM_TYPES; k++) {
        gu_buffer *b = &x->buffers[k];
        free(b->before);
        free(b->expected);
        free(b->used);
        free(b->slack);
        *b = (gu_buffer){.size = 0};
    }
}

/* ---- The oracle ---- */

static double epsilon_of(dtype t) {
    dtype c = dtypes[t].component;
    return c == DT_FLOAT16 ? 0x1p-10 : c == DT_BFLOAT16 ? 0x1p-7 : c == DT_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;
}

/* Notes how far the elements of one call's outputs may be off: what the sums may, and the rounding of products of
 * numbers below 4 that cancel in a complex one. */
static void note_slack(gu_case *x, const int64_t *at, double doubt) {
    for (int k = x->c.p.nin; k < operands(x); k++) {
        const gu_array *a = &x->args[k];
        const core_operand *o = &x->c.operand[k];
        double product = 64 * fmin(epsilon_of(x->c.p.types[k]), FLT_EPSILON);
        int64_t size = dtypes[a->type].size, index[CORE_RANK] = {0}, count = 1;
        for (int d = 0; d < o->rank; d++)
            count *= core_size(x, &o->dim[d]);
        for (int64_t i = 0; i < count; i++) {
            int64_t offset = at[k];
            for (int d = 0; d < o->rank; d++)
                offset += index[d] * a->core_stride[d] * size;
            x->buffers[a->buffer].slack[offset / size] = doubt + product;
            for (int d = o->rank - 1; d >= 0 && ++index[d] == core_size(x, &o->dim[d]); d--)
                index[d] = 0;
        }
    }
}

/* All inner calls, into `expected` or `used` of the outputs' buffers. False: too long. */
static bool run_order(gu_case *x, ref_order order, bool expected) {
    int64_t index[GU_LOOP] = {0}, at[PROGRAM_TYPES], count = 1;
    char *data[PROGRAM_TYPES];
    dtype types[PROGRAM_TYPES];
    ref_core core = {.data = data, .types = types, .words = x->words, .order = order, .steps = x->steps};
    for (int k = 0; k < operands(x); k++) {
        gu_buffer *b = &x->buffers[x->args[k].buffer];
        types[k] = x->args[k].type;
        memcpy(expected ? b->expected : b->used, b->before, b->size);
    }
    for (int d = 0; d < x->ndim; d++)
        count *= x->extent[d];
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < operands(x); k++) {
            const gu_array *a = &x->args[k];
            const gu_buffer *b = &x->buffers[a->buffer];
            at[k] = (int64_t)a->at;
            for (int d = 0; d < x->ndim; d++)
                at[k] += index[d] * a->loop_stride[d] * dtypes[a->type].size;
            data[k] = (k < x->c.p.nin ? b->before : expected ? b->expected : b->used) + at[k];
        }
        core.doubt = 0;
        const char *wrong = ref_run_core(x->tree, &core);
        if (wrong == ref_endless)
            return false;
        if (wrong) {
            report(x, "interpreter", wrong);
            fail_msg("%s", wrong);
        }
        if (x->tolerant)
            note_slack(x, at, core.doubt);
        for (int d = x->ndim - 1; d >= 0 && ++index[d] == x->extent[d]; d--)
            index[d] = 0;
    }
    return true;
}

/* t: in memory; value: of the signature. */
static bool close_enough(dtype t, dtype value, const char *a, const char *b, double slack) {
    double epsilon = fmax(epsilon_of(t), epsilon_of(value));
    number m = number_read(t, a), n = number_read(t, b);
    if (ref_same(m, n))
        return true;
    if (dtypes[t].kind < DK_FLOATING)
        return false;
    for (int part = 0; part < 1 + dtype_is_complex(t); part++)
        if (!(fabs(m.as.f[part] - n.as.f[part]) <=
              slack + epsilon * fabs(n.as.f[part]) + (epsilon > FLT_EPSILON ? 0x1p-24 : 0)))
            return false;
    return true;
}

/* The array whose view of a buffer the comparison goes by: the one that owns it. */
static int64_t next_difference(const gu_case *x, int buffer, int64_t from) {
    const gu_array *a = &x->args[buffer];
    const gu_buffer *b = &x->buffers[buffer];
    int64_t size = dtypes[a->type].size, skew = (int64_t)a->at % size;
    if (!memcmp(b->used, b->expected, b->size))
        return -1;
    for (int64_t i = from; i < skew; i++)
        if (b->used[i] != b->expected[i])
            return i;
    for (int64_t i = from < skew ? skew : from; i + size <= (int64_t)b->size; i += size) {
        if (!memcmp(b->used + i, b->expected + i, (size_t)size))
            continue;
        if (x->tolerant ? !close_enough(a->type, x->c.p.types[buffer], b->used + i, b->expected + i, b->slack[i / size])
                        : !ref_same(number_read(a->type, b->used + i), number_read(a->type, b->expected + i)))
            return i;
    }
    return -1;
}

gu_verdict gu_interpret(gu_case *x) {
    static const ref_order others[] = {REF_SCATTERED, REF_BACKWARD};
    if (!run_order(x, x->tolerant ? REF_EXACT : REF_FORWARD, true))
        return GU_LONG;
    for (size_t i = 0; i < COUNT(others) && !x->tolerant; i++) {
        run_order(x, others[i], false);
        for (int k = 0; k < operands(x); k++)
            if (x->args[k].buffer == k && next_difference(x, k, 0) >= 0)
                return GU_AMBIGUOUS;
    }
    return GU_FINE;
}

/* ---- The library ---- */

static void print_number(const char *what, number n) {
    if (dtypes[n.type].kind >= DK_FLOATING)
        print_error("  %s: %a %a (%.9g %.9g)\n", what, n.as.f[0], n.as.f[1], n.as.f[0], n.as.f[1]);
    else
        print_error("  %s: %lld (0x%llx)\n", what, (long long)n.as.i, (unsigned long long)n.as.u);
}

static void compare(const gu_case *x, const char *where) {
    for (int k = 0; k < operands(x); k++) {
        const gu_array *a = &x->args[k];
        const gu_buffer *b = &x->buffers[k];
        int64_t at = a->buffer == k ? next_difference(x, k, 0) : -1;
        if (at < 0)
            continue;
        report(x, where, "results differ");
        if (at + dtypes[a->type].size <= (int64_t)b->size) {
            print_error("argument %d, element %lld from its first:\n", k,
                        (long long)((at - (int64_t)a->at) / dtypes[a->type].size));
            print_number("before", number_read(a->type, b->before + at));
            print_number("interpreter", number_read(a->type, b->expected + at));
            print_number("library", number_read(a->type, b->used + at));
        }
        int64_t more = 0, size = dtypes[a->type].size;
        while ((at = next_difference(x, k, at + size)) >= 0)
            more++;
        print_error("  and %lld more, of %zu\n", (long long)more, b->size / (size_t)size);
        fail_msg("results differ");
    }
}

static void call(gu_case *x, const char *where, const uf_func *f, DLTensor *tensors) {
    int n = operands(x);
    void *data[PROGRAM_TYPES];
    uf_plan *plan;
    if (!x->planned || x->options.flags & UF_STAGE) {
        gu_must(x, where, uf_call(f, n, tensors, &x->options));
        return;
    }
    for (int k = 0; k < n; k++) {
        data[k] = (char *)tensors[k].data + tensors[k].byte_offset;
        tensors[k].data = chance(x, 50) ? tensors[k].data : NULL;
    }
    gu_must(x, where, uf_plan_new(&plan, f, n, tensors, &x->options));
    gu_must(x, where, uf_plan_run(plan, data, NULL));
    uf_plan_free(plan);
}

/* The tensors over `used`, which has its first content again. */
static void host_tensors(gu_case *x, DLTensor *tensors) {
    for (int k = 0; k < operands(x); k++) {
        const gu_array *a = &x->args[k];
        gu_buffer *b = &x->buffers[a->buffer];
        if (a->buffer == k)
            memcpy(b->used, b->before, b->size);
        tensors[k] = a->tensor;
        tensors[k].data = b->used + (a->tensor.byte_offset ? 0 : a->at);
    }
}

/* On a machine that is there for its GPU, libLLVM may be missing. */
static bool no_cpu_here(const uf_func *f) {
    static int missing = -1;
    char *assembly = NULL;
    if (missing < 0 && getenv("UF_TEST_GPU")) {
        missing = uf_inspect(f, NULL, (DLDevice){kDLCPU, 0}, UF_VIEW_ASSEMBLY, &assembly) == UF_ERR_LIBRARY;
        if (missing)
            print_message("CPU left out: %s\n", uf_last_error()->message);
        free(assembly);
    }
    return missing == 1;
}

void gu_run_cpu(gu_case *x, const uf_func *f) {
    DLTensor tensors[PROGRAM_TYPES];
    if (no_cpu_here(f))
        return;
    host_tensors(x, tensors);
    call(x, "CPU", f, tensors);
    compare(x, "CPU");
}

static DLTensor bytes_of(gu_buffer *b, int64_t *size) {
    *size = (int64_t)b->size;
    return (DLTensor){.data = b->used, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLUInt, 8, 1}, .shape = size};
}

static void upload(gu_case *x, DLTensor *tensors) {
    static const DLDevice gpu = {kDLCUDA, 0};
    int64_t size;
    for (int k = 0; k < operands(x); k++)
        if (x->args[k].buffer == k && !is_number(x, k)) {
            gu_buffer *b = &x->buffers[k];
            DLTensor host = bytes_of(b, &size);
            gu_must(x, "GPU", uf_empty(&b->device, gpu, host.dtype, 1, &size));
            gu_must(x, "GPU", uf_copy(&b->device->dl_tensor, &host, NULL));
        }
    for (int k = 0; k < operands(x); k++) {
        const gu_buffer *b = &x->buffers[x->args[k].buffer];
        if (!b->device)
            continue; /* a number stays on the host */
        tensors[k].device = gpu;
        tensors[k].data = (char *)b->device->dl_tensor.data + ((char *)tensors[k].data - b->used);
    }
}

void gu_run_gpu(gu_case *x, const uf_func *f) {
    DLTensor tensors[PROGRAM_TYPES];
    int64_t size;
    host_tensors(x, tensors);
    if (chance(x, 8)) {
        x->options.flags |= UF_STAGE;
        x->options.device = (DLDevice){kDLCUDA, 0};
    } else {
        upload(x, tensors);
    }
    call(x, "GPU", f, tensors);
    x->options.flags &= ~(unsigned)UF_STAGE;
    for (int k = 0; k < operands(x); k++) {
        gu_buffer *b = &x->buffers[k];
        if (!b->device)
            continue;
        DLTensor host = bytes_of(b, &size);
        gu_must(x, "GPU", uf_copy(&host, &b->device->dl_tensor, NULL));
        b->device->deleter(b->device);
        b->device = NULL;
    }
    compare(x, "GPU");
}

/* ---- uf_infer ---- */

/* Do the inputs alone make the loop that was drawn? */
static bool inputs_fill_loop(const gu_case *x) {
    for (int d = 0; d < x->ndim; d++) {
        bool filled = false;
        for (int k = 0; k < x->c.p.nin; k++) {
            int at = d - (x->ndim - x->args[k].loops);
            filled |= at >= 0 && (x->args[k].extent[at] == x->extent[d]);
        }
        if (!filled)
            return false;
    }
    return true;
}

void gu_run_infer(gu_case *x, const uf_func *f) {
    DLTensor tensors[PROGRAM_TYPES];
    int64_t shapes[PROGRAM_TYPES][UF_MAX_NDIM];
    bool unknown = false;
    if (!inputs_fill_loop(x))
        return;
    host_tensors(x, tensors);
    for (int k = 0; k < operands(x); k++)
        for (int d = 0; d < x->c.operand[k].rank; d++) {
            const core_dim *c = &x->c.operand[k].dim[d];
            unknown |= c->kind == CORE_NAME && !x->c.in_inputs[c->name];
        }
    for (int k = x->c.p.nin; k < operands(x); k++)
        tensors[k] = (DLTensor){.shape = shapes[k]};
    uf_status status = uf_infer(f, operands(x), tensors, &x->options);
    if (unknown) {
        if (status != UF_ERR_SHAPE)
            report(x, "uf_infer", "knows what only outputs say");
        assert_int_equal(status, UF_ERR_SHAPE);
        return;
    }
    gu_must(x, "uf_infer", status);
    for (int k = x->c.p.nin; k < operands(x); k++) {
        const gu_array *a = &x->args[k];
        bool same = tensors[k].ndim == a->tensor.ndim && tensors[k].dtype.code == dtypes[x->c.p.types[k]].dl.code &&
                    tensors[k].dtype.bits == dtypes[x->c.p.types[k]].dl.bits;
        for (int d = 0; d < a->tensor.ndim && same; d++)
            same = shapes[k][d] == a->shape[d];
        if (same)
            continue;
        report(x, "uf_infer", "wrong shape");
        print_extents("inferred", tensors[k].ndim, shapes[k]);
        fail_msg("wrong shape of argument %d", k);
    }
}
