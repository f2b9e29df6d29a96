/* test_cuda_calls.c - inner calls on the GPU: what is chosen for random layouts and constructs, against the definitions of
 * type/variant.h tried out element by element; words and grids, read back as a kernel reads them; what is chosen for the
 * kernels that matter; launches against the mock driver, every call of which fails in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/code.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "mock_child.h"
#include "type/tile.h"

__extension__ typedef unsigned __int128 wide;

/* ---- Cases ---- */

enum {
    MAX_ARRAYS = 5,
    MAX_DIMS = 4,
    MAX_RANK = 3,
    MAX_LOOP = 4,
    MAX_WORDS = 600
};

typedef struct sample {
    variant v;
    nd_loop loop;
    core_layout layout;
    layout_dim dims[MAX_DIMS];
    layout_operand operands[MAX_ARRAYS];
    int64_t core[MAX_DIMS + MAX_ARRAYS * MAX_RANK];
    int64_t extent[MAX_LOOP], stride[MAX_LOOP * MAX_ARRAYS], offset[MAX_ARRAYS];
    char *data[MAX_ARRAYS];
    uint64_t numbers[MAX_ARRAYS][2];
    code_traits size;
    launch l;
    occupancy r;
    grid g;
    uint64_t words[MAX_WORDS];
} sample;

static sample the_sample;

static int count_of(const sample *s) { return s->v.nin + s->v.nout; }
static int64_t size_of(const sample *s, int k) { return dtypes[s->v.operand[k].memory].size; }
static bool is_number(const sample *s, int k) { return s->v.operand[k].kind == OPERAND_NUMBER; }
static int rank_of(const sample *s, int k) { return s->operands[k].rank; }
static int64_t extent_at(const sample *s, int k, int i) { return s->core[s->operands[k].dim[i]]; }
static int64_t *stride_at(sample *s, int k, int i) { return &s->core[s->operands[k].strides + i]; }
static int64_t core_stride(const sample *s, int k, int i) { return s->core[s->operands[k].strides + i]; }
static int64_t *loop_stride(sample *s, int d, int k) { return &s->stride[d * s->loop.narrays + k]; }

static void sample_begin(sample *s, int nin, int nout, int ndims, int ndim) {
    memset(s, 0, sizeof *s);
    s->v.loop = LOOP_GUFUNC;
    s->v.nin = (uint8_t)nin;
    s->v.nout = (uint8_t)nout;
    s->layout = (core_layout){
        .nin = nin, .nout = nout, .ndims = ndims, .nparameters = ndims, .dims = s->dims, .operands = s->operands};
    s->loop = (nd_loop){.ndim = ndim,
                        .narrays = nin + nout,
                        .count = 1,
                        .extent = s->extent,
                        .stride = s->stride,
                        .offset = s->offset,
                        .loop = LOOP_GUFUNC};
    s->l = (launch){.v = &s->v,
                    .loop = &s->loop,
                    .data = s->data,
                    .numbers = (const uint64_t(*)[2])s->numbers,
                    .stream = (void *)0x55,
                    .layout = &s->layout,
                    .core = s->core};
    s->size = (code_traits){.nodes = 10, .maps_to_threads = true};
    s->r = (occupancy){.block = 256, .sms = 132, .resident = 264, .cooperative = true};
}

/* Operand k has these dimensions; its core in C order, each dimension's extent padded by so much. */
static void set_operand(sample *s, int k, dtype type, int rank, const int *dims, int64_t pad) {
    s->v.operand[k] = (variant_operand){.memory = (uint8_t)type, .value = (uint8_t)type, .kind = OPERAND_STRIDED};
    s->operands[k] = (layout_operand){.rank = (uint8_t)rank, .strides = s->layout.nparameters};
    s->layout.nparameters += rank;
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        s->operands[k].dim[i] = (uint8_t)dims[i];
        *stride_at(s, k, i) = s->core[dims[i]] == 1 ? 0 : stride;
        stride = (int64_t)((uint64_t)stride * (uint64_t)(s->core[dims[i]] + pad));
    }
    for (int d = 0; d < s->loop.ndim; d++) {
        *loop_stride(s, d, k) = stride;
        stride = (int64_t)((uint64_t)stride * (uint64_t)s->extent[d]);
    }
    s->data[k] = (char *)(uintptr_t)(0x7f0000000000 + 0x1000000000 * k);
}

static void specialise(sample *s) {
    s->loop.count = 1;
    for (int d = 0; d < s->loop.ndim; d++)
        s->loop.count *= s->extent[d];
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop, .layout = &s->layout, .core = s->core, .traits = &s->size});
}

static void lay(sample *s) {
    int words = schema_count(&s->v, &s->layout, true);
    assert_true(words <= MAX_WORDS);
    s->words[words] = 0x123456789;
    assert_int_equal(gpu_layout(&s->l, &s->r, s->words, &s->g), UF_OK);
    assert_int_equal(s->g.parameters, words);
    assert_true(s->words[words] == 0x123456789);
}

/* ---- Random cases ---- */

static int64_t draw_size(void) {
    return chance(10)   ? pick(0, 2)
           : chance(40) ? pick(2, 9)
           : chance(50) ? 4 * pick(1, 10)
           : chance(60) ? (int64_t)1 << pick(1, 9)
                        : pick(10, 700);
}

/* Strides other than those of packed arrays. */
static void disturb(sample *s, int k) {
    int rank = rank_of(s, k);
    if (rank == 2 && chance(20)) { /* a transposed matrix */
        *stride_at(s, k, 0) = extent_at(s, k, 0) == 1 ? 0 : 1;
        *stride_at(s, k, 1) = extent_at(s, k, 1) == 1 ? 0 : extent_at(s, k, 0);
    }
    for (int i = 0; i < rank && chance(15); i++)
        if (extent_at(s, k, i) != 1)
            *stride_at(s, k, i) = chance(30) ? -core_stride(s, k, i) : pick(-3, 8);
    for (int d = 0; d < s->loop.ndim; d++)
        if (chance(10))
            *loop_stride(s, d, k) = chance(50) ? 0 : pick(1, 40);
    if (chance(8))
        s->data[k] += dtypes[s->v.operand[k].memory].align * pick(1, 7);
}

static void draw_construct(sample *s, code_construct *x) {
    int n = count_of(s);
    x->nested = chance(50);
    x->reduces = !x->nested && chance(60);
    x->nodes = (uint8_t)(chance(10) ? pick(100, 255) : pick(1, 30));
    x->nouter = (uint8_t)pick(1, 2);
    x->ninner = (uint8_t)(x->nested ? pick(1, 2) : 0);
    for (int i = 0; i < 2; i++) {
        x->outer[i] = (int8_t)pick(chance(10) ? -1 : 0, s->layout.ndims - 1);
        x->inner[i] = (int8_t)pick(chance(10) ? -1 : 0, s->layout.ndims - 1);
    }
    if (x->nested && x->nouter == 2 && x->ninner == 1 && chance(50))
        x->tiles = (uint8_t)(1 << pick(0, 2));
    for (int i = 0; i < 6 && chance(80); i++) {
        int k = (int)pick(0, n - 1);
        code_access *a = &x->access[x->naccesses];
        if (is_number(s, k) || !rank_of(s, k))
            continue;
        *a = (code_access){.operand = (uint8_t)k};
        for (int j = 0; j < rank_of(s, k); j++) {
            int dim = s->operands[k].dim[j];
            if (dim == x->outer[x->nouter - 1] && !a->outer)
                a->outer = (uint8_t)(j + 1);
            else if (x->nested && dim == x->inner[x->ninner - 1] && !a->inner)
                a->inner = (uint8_t)(j + 1);
        }
        x->naccesses++;
    }
}

static void draw_sample(sample *s) {
    int ndims = (int)pick(1, MAX_DIMS);
    sample_begin(s, (int)pick(0, 3), (int)pick(1, 2), ndims, chance(60) ? 1 : (int)pick(2, MAX_LOOP));
    for (int d = 0; d < ndims; d++)
        s->core[d] = draw_size();
    for (int d = 0; d < s->loop.ndim; d++)
        s->extent[d] = s->loop.ndim == 1 ? (chance(10) ? 1 : pick(1, chance(50) ? 3000 : 40)) : pick(2, 9);
    for (int k = 0; k < count_of(s); k++) {
        int dims[MAX_RANK], rank = (int)pick(0, MAX_RANK);
        for (int i = 0; i < MAX_RANK; i++)
            dims[i] = (int)pick(0, ndims - 1);
        dtype type = (dtype)(chance(60) ? DT_FLOAT32 : pick(0, DT_COUNT - 1));
        set_operand(s, k, type, rank, dims, chance(25) ? pick(1, 4) : 0);
        disturb(s, k);
        if (!rank && k < s->v.nin && chance(50)) {
            s->v.operand[k].kind = OPERAND_NUMBER;
            s->data[k] = NULL;
            s->numbers[k][0] = draw_bits();
            s->numbers[k][1] = draw_bits();
        }
    }
    s->size.maps_to_threads = chance(75);
    s->size.nodes = (int)pick(1, chance(10) ? 3000 : 60);
    s->size.nconstructs = (int)pick(0, 3);
    for (int i = 0; i < s->size.nconstructs; i++)
        draw_construct(s, &s->size.construct[i]);
    s->r = (occupancy){.block = 32u << pick(0, 3), .sms = (int)pick(1, 150), .cooperative = chance(90)};
    s->r.resident = s->r.sms * (int)pick(1, 4);
    s->v.gufunc.coop = s->v.gufunc.lanes = s->v.gufunc.along = 0xff; /* whatever was there is overwritten */
    specialise(s);
}

/* ---- What a variant must be, tried out ---- */

/* The last dimension of stride 1, one with an extent first. */
static int expected_unit(const sample *s, int k) {
    for (int least = 2; least >= 0; least -= 2)
        for (int i = is_number(s, k) ? 0 : rank_of(s, k); i > 0; i--)
            if (core_stride(s, k, i - 1) == 1 && extent_at(s, k, i - 1) >= least)
                return i;
    return 0;
}

static bool vectored(const sample *s, int k) {
    for (int c = 0; c < s->size.nconstructs; c++)
        for (int i = 0; i < s->size.construct[c].naccesses; i++) {
            const code_access *a = &s->size.construct[c].access[i];
            int at = s->size.construct[c].nested && !s->v.gufunc.along ? a->inner : a->outer;
            if (a->operand == k && at && at == expected_unit(s, k))
                return true;
        }
    return false;
}

/* Goes through a box of indices, the last fastest; false at the end. */
static bool advance(int n, int64_t *at, const int64_t *extent) {
    for (int i = n - 1; i >= 0; i--) {
        if (++at[i] < extent[i])
            return true;
        at[i] = 0;
    }
    return false;
}

/* Is every vector of operand k aligned, its address taken as `base`? Two steps along each dimension show it. */
static bool vectors_aligned(const sample *s, int k, int unit, int vector, uintptr_t base) {
    int64_t at[MAX_RANK + MAX_LOOP] = {0}, extent[MAX_RANK + MAX_LOOP], stride[MAX_RANK + MAX_LOOP];
    int n = 0;
    for (int i = 0; i < rank_of(s, k); i++, n++) {
        extent[n] = extent_at(s, k, i);
        stride[n] = core_stride(s, k, i);
        if (i + 1 == unit) {
            stride[n] = vector;
            extent[n] = 2;
        }
    }
    for (int d = 0; d < s->loop.ndim; d++, n++) {
        extent[n] = s->extent[d];
        stride[n] = s->stride[d * s->loop.narrays + k];
    }
    for (int i = 0; i < n; i++)
        extent[i] = extent[i] > 2 ? 2 : extent[i];
    do {
        int64_t offset = 0;
        for (int i = 0; i < n; i++)
            offset += at[i] * stride[i];
        if ((base + (uintptr_t)(offset * size_of(s, k))) % (uintptr_t)(vector * size_of(s, k)))
            return false;
    } while (advance(n, at, extent));
    return true;
}

/* Could every access by vectors have so many elements? */
static bool width_fits(const sample *s, int vector) {
    for (int k = 0; k < count_of(s) && vector > 1; k++) {
        if (!vectored(s, k))
            continue;
        int unit = expected_unit(s, k);
        if (vector * size_of(s, k) > 16 || extent_at(s, k, unit - 1) < vector ||
            !vectors_aligned(s, k, unit, vector, 0))
            return false;
    }
    return true;
}

/* The elements of an access by 16 bytes of the widest operand that is accessed by vectors. */
static int widest_vector(const sample *s) {
    int vector = 16;
    for (int k = 0; k < count_of(s); k++)
        if (vectored(s, k) && vector * size_of(s, k) > 16)
            vector = 16 / size_of(s, k);
    return vector;
}

/* Pieces: do the rows of operand k lie at places that differ from the lead's by whole vectors? */
static bool moves_alike(const sample *s, int k) {
    int lead = variant_lead(&s->v), unit = s->v.operand[k].unit;
    int64_t apart = (int64_t)((uintptr_t)s->data[k] / (uintptr_t)size_of(s, k)) -
                    (int64_t)((uintptr_t)s->data[lead] / (uintptr_t)size_of(s, lead));
    bool good = apart % s->v.gufunc.vector == 0 && (uintptr_t)s->data[k] % (uintptr_t)size_of(s, k) == 0;
    for (int i = 0; i < rank_of(s, k); i++)
        good &= i + 1 == unit || extent_at(s, k, i) <= 1 || core_stride(s, k, i) % s->v.gufunc.vector == 0;
    for (int d = 0; d < s->loop.ndim; d++)
        good &= s->extent[d] <= 1 ||
                (s->stride[d * s->loop.narrays + k] - s->stride[d * s->loop.narrays + lead]) % s->v.gufunc.vector == 0;
    return good;
}

/* Rows that begin anywhere, of constructs over one range: in shared memory, or since they would else go by narrow accesses, even if
 * half of the widest is then what leaves fewer registers empty. If there is one construct, outputs along its rows stay what is accessed by vectors. */
static void check_pieces(const sample *s) {
    const code_construct *x = s->size.construct;
    assert_true(variant_lead(&s->v) >= 0);
    for (int j = 0; j < x->naccesses && s->size.nconstructs == 1; j++) {
        int k = x->access[j].operand;
        bool along = k >= s->v.nin && x->access[j].outer && rank_of(s, k) == 1 && core_stride(s, k, 0) == 1;
        assert_true(!along || s->v.operand[k].unit);
    }
    assert_true(variant_stages(&s->v) || (s->v.gufunc.vector > 1 && !width_fits(s, widest_vector(s))));
    for (int i = 0; i < s->size.nconstructs; i++)
        assert_true(!x[i].nested && x[i].nouter == 1 && x[i].outer[0] == x[0].outer[0]);
    for (int k = 0; k < count_of(s); k++)
        if (s->v.operand[k].unit)
            assert_int_equal(s->layout.operands[k].dim[s->v.operand[k].unit - 1], x[0].outer[0]);
}

static bool any_vectored(const sample *s) {
    for (int k = 0; k < count_of(s); k++)
        if (vectored(s, k))
            return true;
    return false;
}

static bool heavy(const sample *s) {
    for (int c = 0; c < s->size.nconstructs; c++)
        if (s->size.construct[c].nodes > 60)
            return true;
    return false;
}

static void check_units(const sample *s) {
    for (int k = 0; k < count_of(s); k++) {
        int unit = expected_unit(s, k), is = s->v.operand[k].unit;
        if (is == unit)
            continue;
        assert_int_equal(is, 0); /* given up: it is not accessed by vectors, and would be in their way */
        assert_true(s->v.gufunc.vector > 1 && !vectored(s, k) && extent_at(s, k, unit - 1) >= s->v.gufunc.vector);
        assert_false(vectors_aligned(s, k, unit, s->v.gufunc.vector, 0));
    }
}

/* Elements of operand k's core if those of neighbouring calls lie in one piece, one after the other; else 0. */
static int64_t piece(const sample *s, int k) {
    int64_t at[MAX_RANK] = {0}, extent[MAX_RANK], next = 0;
    int rank = rank_of(s, k);
    for (int i = 0; i < rank; i++)
        if (!(extent[i] = extent_at(s, k, i)))
            return 0;
    do {
        int64_t offset = 0;
        for (int i = 0; i < rank; i++)
            offset += at[i] * core_stride(s, k, i);
        if (offset != next++)
            return 0;
    } while (next <= 2000 && advance(rank, at, extent));
    return !is_number(s, k) && s->loop.ndim == 1 && s->stride[k] == next ? next : 0;
}

/* Staged whole: inputs with one dimension, of stride 1, for a block; if their rows are not aligned for vectors, without a unit. */
static void check_whole(const sample *s) {
    int64_t bytes = 0;
    for (int k = 0; k < count_of(s); k++) {
        if (!s->v.operand[k].staged)
            continue;
        assert_true(k < s->v.nin && rank_of(s, k) == 1 && core_stride(s, k, 0) == 1);
        assert_true(s->v.gufunc.coop > COOP_WARP && s->v.gufunc.coop <= COOP_BLOCK);
        bytes += extent_at(s, k, 0) * size_of(s, k);
    }
    assert_true(bytes <= 48 * 1024);
}

static void check_staged(const sample *s) {
    int64_t bytes = 0, most = 0;
    if (s->v.gufunc.coop) {
        check_whole(s);
        return;
    }
    for (int k = 0; k < count_of(s); k++) {
        int64_t count = piece(s, k), padded = count * size_of(s, k) + 16;
        if (s->v.operand[k].staged) {
            assert_true(count > 1 && count <= 1024);
            bytes += count * size_of(s, k);
        } else if (s->v.gufunc.coop == 0 && count > 1 && padded > most) {
            most = padded;
        }
    }
    assert_true(bytes <= 48 * 1024 / 32);
    /* what is left did not fit; the others are padded as well */
    assert_true(!most || bytes + most + 16 * MAX_ARRAYS > 48 * 1024 / 32 || most > 1024);
}

/* An access along a unit dimension begins at a multiple of its width, and the extent is one too. */
static void check_tile_vectors(const sample *s) {
    int64_t vector = s->v.gufunc.vector;
    assert_true(s->size.nconstructs == 1 && s->size.construct[0].tiles && s->v.gufunc.steps == 1);
    for (int k = 0; k < count_of(s); k++) {
        int unit = s->v.operand[k].unit;
        for (int i = 0; i < rank_of(s, k) && unit; i++)
            assert_true((i + 1 == unit || extent_at(s, k, i) <= 1 ? extent_at(s, k, unit - 1) : core_stride(s, k, i)) %
                            vector ==
                        0);
        assert_true(!rank_of(s, k) || vector * size_of(s, k) <= 16);
    }
}

static void check_choice(const sample *s) {
    const variant *v = &s->v;
    int last = v->gufunc.coop < 5 ? v->gufunc.coop : 5;
    assert_int_equal(v->ndim, s->loop.ndim);
    assert_int_equal(v->wide, 0);
    assert_true(v->gufunc.vector && v->gufunc.vector <= 16 && !(v->gufunc.vector & (v->gufunc.vector - 1)));
    assert_true(v->gufunc.steps && v->gufunc.steps <= 8 && !(v->gufunc.steps & (v->gufunc.steps - 1)));
    assert_true(v->gufunc.coop <= COOP_GRID && v->gufunc.lanes <= last && !(v->gufunc.lanes && v->gufunc.along));
    if (!s->size.maps_to_threads || !s->size.nconstructs)
        assert_int_equal(v->gufunc.coop, 0);
    if (v->gufunc.coop)
        assert_int_equal(v->gufunc.along, code_prefers_outer(v, &s->size));
    if (v->gufunc.tile) {
        check_tile_vectors(s);
    } else if (v->gufunc.coop) {
        if (v->gufunc.pieces)
            check_pieces(s);
        else
            assert_true(width_fits(s, v->gufunc.vector) && (v->gufunc.vector == 1 || any_vectored(s)));
        if (any_vectored(s) && !heavy(s) && !v->gufunc.pieces)
            assert_false(width_fits(s, 2 * v->gufunc.vector));
    } else {
        assert_true(!v->gufunc.along && !v->gufunc.lanes && v->gufunc.steps == 1 && v->gufunc.vector == 1);
    }
    if (!v->gufunc.pieces)
        check_units(s);
    check_staged(s);
}

/* ---- Parameters, as a kernel reads them, row by row of the schema ---- */

typedef struct reader {
    const sample *s;
    parameter_cursor next;
} reader;

static uint64_t parameter(reader *r, parameter_id id) {
    int at = r->next.number;
    assert_true(at < (int)r->s->g.parameters);
    parameter_next(&r->next, id);
    return r->s->words[at];
}

typedef struct divisor {
    uint64_t extent, magic, shift;
} divisor;

static uint64_t divide(const divisor *d, uint64_t x, bool is_wide, uint64_t *rest) {
    uint64_t q = is_wide ? ((uint64_t)((wide)x * d->magic >> 64) + x) >> d->shift
                         : (uint32_t)((uint32_t)(x * d->magic >> 32) + (uint32_t)x) >> d->shift;
    assert_true(is_wide || (d->magic <= UINT32_MAX && d->shift < 32));
    *rest = x - q * d->extent;
    return q;
}

static void read_operands(reader *r) {
    const sample *s = r->s;
    for (int k = 0; k < count_of(s); k++) {
        uint64_t first = parameter(r, PARAMETER_OPERANDS);
        assert_true(first == (is_number(s, k) ? s->numbers[k][0] : (uint64_t)(uintptr_t)s->data[k]));
        if (is_number(s, k) && s->v.operand[k].value == DT_COMPLEX128)
            assert_true(parameter(r, PARAMETER_OPERANDS) == s->numbers[k][1]);
    }
}

/* The parameters of the loop lead to the same elements as an odometer over it. */
static void read_loop(reader *r) {
    const sample *s = r->s;
    divisor extent[MAX_LOOP] = {{0}};
    int64_t stride[MAX_ARRAYS][MAX_LOOP] = {{0}};
    for (int d = 0; d < s->v.ndim - 1; d++) {
        extent[d].extent = parameter(r, GPU_GUFUNC_EXTENTS);
        extent[d].magic = parameter(r, GPU_GUFUNC_EXTENTS);
        extent[d].shift = parameter(r, GPU_GUFUNC_EXTENTS);
    }
    for (int k = 0; k < count_of(s); k++)
        for (int d = 0; d < s->v.ndim && !is_number(s, k); d++)
            stride[k][d] = (int64_t)parameter(r, GPU_GUFUNC_STRIDES);
    for (int i = 0; i < 20; i++) {
        uint64_t call = (uint64_t)pick(0, s->loop.count - 1), rest = call, index;
        int64_t got[MAX_ARRAYS] = {0}, expected[MAX_ARRAYS] = {0}, left = (int64_t)call;
        for (int d = 0; d < s->v.ndim; d++) {
            index = rest;
            if (d < s->v.ndim - 1)
                rest = divide(&extent[d], rest, s->v.wide, &index);
            for (int k = 0; k < count_of(s); k++) {
                got[k] += (int64_t)index * stride[k][d];
                if (!is_number(s, k))
                    expected[k] += left % s->extent[d] * s->stride[d * s->loop.narrays + k];
            }
            left /= s->extent[d];
        }
        assert_memory_equal(got, expected, sizeof got);
    }
}

/* Do a warp's threads, each at the same element of its own core, meet different banks? As far as 32 banks of 4 bytes allow. */
static bool is_free_of_conflicts(int64_t pitch, int64_t size) {
    int at_once = size <= 4 ? 32 : size == 8 ? 16 : 8;
    uint32_t banks = 0;
    for (int t = 0; t < at_once; t++)
        for (int64_t b = 0; b < (size < 4 ? 4 : size); b += 4) {
            uint32_t bank = 1u << (t * pitch * size + b) / 4 % 32;
            if (banks & bank)
                return false;
            banks |= bank;
        }
    return true;
}

static int read_whole(reader *r) {
    const sample *s = r->s;
    uint64_t end = 0, more = 0; /* the last one's may have two vectors more */
    int staged = 0;
    for (int k = 0; k < count_of(s); k++) {
        if (!s->v.operand[k].staged)
            continue;
        more = s->v.gufunc.pieces ? 2 * (uint64_t)(s->v.gufunc.vector * size_of(s, k)) : 0;
        assert_true(parameter(r, GPU_GUFUNC_STAGED) == (uint64_t)extent_at(s, k, 0));
        assert_true(parameter(r, GPU_GUFUNC_STAGED) == 0);
        uint64_t offset = parameter(r, GPU_GUFUNC_STAGED);
        assert_true(offset >= end && offset % 16 == 0);
        end = offset + (uint64_t)(extent_at(s, k, 0) * size_of(s, k));
        staged++;
    }
    assert_true(end <= s->g.shared && s->g.shared <= end + more + 15);
    return staged;
}

static int read_staged(reader *r) {
    const sample *s = r->s;
    uint64_t end = 0;
    int staged = 0;
    if (s->v.gufunc.coop)
        return read_whole(r);
    for (int k = 0; k < count_of(s); k++) {
        if (!s->v.operand[k].staged)
            continue;
        int64_t count = (int64_t)parameter(r, GPU_GUFUNC_STAGED), pitch = (int64_t)parameter(r, GPU_GUFUNC_STAGED);
        uint64_t offset = parameter(r, GPU_GUFUNC_STAGED);
        assert_int_equal(count, piece(s, k));
        assert_true(pitch >= count && (pitch - count) * size_of(s, k) < (size_of(s, k) < 8 ? 8 : 17));
        assert_true(is_free_of_conflicts(pitch, size_of(s, k)));
        assert_true(offset >= end && offset % 16 == 0);
        end = offset + (uint64_t)(pitch * size_of(s, k)) * s->g.threads;
        staged++;
    }
    assert_true(end == s->g.shared && end <= 48 * 1024 && (!staged || s->g.threads <= 128));
    return staged;
}

static bool expected_aligned(const sample *s) {
    for (int k = 0; k < count_of(s); k++) {
        int unit = s->v.operand[k].unit;
        if (s->v.gufunc.pieces) {
            bool whole = (uintptr_t)s->data[k] % (uintptr_t)size_of(s, k) == 0;
            if (unit && !(s->v.operand[k].shifted ? whole : moves_alike(s, k)))
                return false;
            continue;
        }
        if (unit && extent_at(s, k, unit - 1) >= s->v.gufunc.vector &&
            !vectors_aligned(s, k, unit, s->v.gufunc.vector, (uintptr_t)s->data[k] % ACCESS_BYTES))
            return false;
    }
    return true;
}

static bool is_empty(const sample *s) {
    for (int d = 0; d < s->layout.ndims; d++)
        if (!s->core[d])
            return true;
    return false;
}

/* Is operand k whole vectors, and its first one aligned, if it is accessed by vectors? */
static bool is_whole(const sample *s, const variant *v, int k) {
    int unit = v->operand[k].unit, vector = v->gufunc.vector, bytes = unit ? vector * size_of(s, k) : 1;
    return (!unit || extent_at(s, k, unit - 1) % vector == 0) &&
           (uintptr_t)s->data[k] % (uintptr_t)(bytes < ACCESS_BYTES ? bytes : ACCESS_BYTES) == 0;
}

/* With addresses the choice is the same, but that the code knows that accesses by vectors are aligned, and whether they come out even. */
static void check_known_alignment(const sample *s) {
    variant v = s->v;
    uint8_t misalignment[VARIANT_OPERANDS];
    for (int k = 0; k < variant_operands(&v); k++)
        misalignment[k] = (uintptr_t)s->data[k] % ACCESS_BYTES;
    gpu_specialise(
        &v,
        &(loop_problem){
            .loop = &s->loop, .layout = &s->layout, .core = s->core, .traits = &s->size, .misalignment = misalignment});
    if (!is_empty(s) && !v.gufunc.calls)
        assert_int_equal(v.gufunc.aligned,
                         v.gufunc.vector > 1 && expected_aligned(s) &&
                             (v.gufunc.even || !v.gufunc.pieces || (v.gufunc.held && v.gufunc.coop != COOP_GRID)));
    for (int k = 0; k < variant_operands(&v) && v.gufunc.even && v.gufunc.vector > 1; k++)
        assert_true(is_whole(s, &v, k));
    v.gufunc.aligned = v.gufunc.even = 0;
    assert_memory_equal(&v, &s->v, variant_size(&v));
}

static int check_words(const sample *s) {
    reader r = {s, parameters_begin(&s->v, &s->layout, true)};
    read_operands(&r);
    assert_true(parameter(&r, GPU_GUFUNC_CALLS) == (uint64_t)s->loop.count);
    uint64_t aligned = parameter(&r, GPU_GUFUNC_ALIGNED);
    assert_true(aligned <= 1);
    if (!is_empty(s)) /* where there is nothing, whatever */
        assert_int_equal(aligned, expected_aligned(s));
    read_loop(&r);
    read_staged(&r);
    bool coops = s->v.gufunc.coop == COOP_GRID;
    if (coops || s->v.gufunc.tile)
        assert_int_equal(parameter(&r, GPU_GUFUNC_BLOCKS), coops ? s->g.coop_blocks : s->g.call_blocks);
    if (coops || s->v.gufunc.split) {
        assert_ptr_equal(s->words + r.next.number, s->g.slots);
        parameter(&r, GPU_GUFUNC_SLOTS);
    } else {
        assert_null(s->g.slots);
    }
    for (int i = 0; i < s->layout.nparameters; i++)
        assert_true(parameter(&r, PARAMETER_CORE) == (uint64_t)s->core[i]);
    assert_true(parameters_ended(&r.next));
    return (int)aligned;
}

/* ---- Grids ---- */

/* A block for each part of each tile of the first output of rank 2, and memory for what the parts leave. */
static void check_tiles(const sample *s) {
    const tile_shape *t = &tile_shapes[s->v.gufunc.tile - 1];
    const grid *g = &s->g;
    int64_t tiles = 1, parts = (int64_t)1 << s->v.gufunc.split;
    for (int k = count_of(s) - 1; k >= s->v.nin; k--)
        if (rank_of(s, k) == 2)
            tiles = ((extent_at(s, k, 0) + tile_rows(t) - 1) / tile_rows(t)) *
                    ((extent_at(s, k, 1) + tile_columns(t) - 1) / tile_columns(t));
    if (!tiles)
        tiles = 1;
    assert_int_equal(g->threads, 1 << (t->down + t->across));
    assert_int_equal(g->call_blocks, tiles * parts);
    assert_int_equal(g->blocks, tiles * parts * s->loop.count);
    if (!s->v.gufunc.split)
        return;
    tiles *= s->loop.count;
    assert_true(parts <= 256 && g->slots_at == (size_t)tiles * 128 && g->slots_zeroed == g->slots_at);
    assert_true(g->slots_bytes >=
                g->slots_at + (size_t)(tiles * 2 * parts * tile_rows(t) * tile_columns(t)) * PARTS_VALUE);
}

static void check_grid(const sample *s) {
    const grid *g = &s->g;
    int64_t n = s->loop.count;
    unsigned coop = s->v.gufunc.coop;
    assert_true(g->threads >= 32 && g->threads <= 1024 && !(g->threads & (g->threads - 1)) && g->blocks);
    assert_true(!g->coops == (coop != COOP_GRID));
    if (coop == COOP_GRID) {
        assert_int_equal(g->threads, 512);
        assert_int_equal(g->blocks, (int64_t)g->coops * g->coop_blocks);
        assert_true(g->coop_blocks <= COOP_BLOCKS_MAX && (int)g->blocks <= s->r.resident && g->coops <= n);
        assert_true(s->r.cooperative || g->coop_blocks == 1);
        /* another cooperative group would not fit, or have nothing to do */
        assert_true(g->coops == n || (int)(g->blocks + g->coop_blocks) > s->r.resident);
    } else if (s->v.gufunc.tile) {
        check_tiles(s);
    } else if (coop > COOP_WARP) {
        assert_int_equal(g->threads, 1 << coop);
        assert_int_equal(g->blocks, n);
    } else {
        int64_t each = g->threads >> coop;
        assert_true(g->threads <= s->r.block && (g->blocks - 1) * each < n && g->blocks * each >= n);
        assert_true(g->threads == 32 || (int)g->blocks >= s->r.sms); /* few calls are spread over the device */
    }
}

/* Words do not depend on how a variant was chosen. */
static void change_vectors(sample *s) {
    s->v.gufunc.vector = (uint8_t)(1 << pick(0, 4));
    for (int k = 0; k < count_of(s); k++)
        s->v.operand[k].unit = (uint8_t)expected_unit(s, k);
}

static void test_random(void **unused) {
    sample *s = &the_sample;
    int alone = 0, staged = 0, vectors = 0, aligned = 0, blocks = 0, grids = 0, alongs = 0;
    (void)unused;
    for (int64_t i = 0; i < trials(20000); i++) {
        uint64_t before = draw_state;
        draw_sample(s);
        if (getenv("UF_VERBOSE"))
            print_message("state %llu coop %d\n", (unsigned long long)before, s->v.gufunc.coop);
        check_choice(s);
        check_known_alignment(s);
        vectors += s->v.gufunc.vector > 1;
        if (s->v.gufunc.coop && chance(30))
            change_vectors(s);
        lay(s);
        int is_aligned = check_words(s);
        check_grid(s);
        alone += !s->v.gufunc.coop;
        staged += s->g.shared != 0;
        aligned += s->v.gufunc.vector > 1 && is_aligned;
        alongs += s->v.gufunc.along;
        blocks += s->v.gufunc.coop > COOP_WARP && s->v.gufunc.coop <= COOP_BLOCK;
        grids += s->v.gufunc.coop == COOP_GRID;
    }
    if (getenv("UF_VERBOSE"))
        print_message("alone %d staged %d vectors %d aligned %d along %d blocks %d grids %d\n", alone, staged, vectors,
                      aligned, alongs, blocks, grids);
    assert_true(alone > 400 && staged > 60 && vectors > 200 && aligned > 100 && blocks > 400 && grids > 100 &&
                alongs > 40);
}

/* ---- What is chosen ---- */

/* A construct by a picture: "i" a sum over i, "i:j" a forall over i with a reduction over j, "ij:k" over i and j. Dimensions
 * are letters from a; an access is operand and what indexes its dimensions, '.' for something else. */
static void set_construct(sample *s, const char *ranges, const char *accesses) {
    code_construct *x = &s->size.construct[s->size.nconstructs++];
    const char *colon = strchr(ranges, ':');
    size_t nouter = colon ? (size_t)(colon - ranges) : strlen(ranges);
    x->nested = colon != NULL;
    x->reduces = !colon;
    x->nodes = 4;
    for (size_t i = 0; i < nouter; i++)
        x->outer[x->nouter++] = (int8_t)(ranges[i] - 'a');
    for (const char *p = colon ? colon + 1 : ""; *p; p++)
        x->inner[x->ninner++] = (int8_t)(*p - 'a');
    for (const char *p = accesses; *p;) {
        code_access *a = &x->access[x->naccesses++];
        a->operand = (uint8_t)(*p++ - '0');
        for (uint8_t i = 1; *p && *p != ' '; p++, i++) {
            if (*p == ranges[nouter - 1])
                a->outer = i;
            if (colon && *p == colon[strlen(colon) - 1])
                a->inner = i;
        }
        while (*p == ' ')
            p++;
    }
}

typedef struct choice {
    const char *what;
    dtype type;
    int64_t calls, sizes[MAX_DIMS];
    const char *operands[4]; /* dimensions by letter; the last is the output */
    const char *ranges, *accesses;
    int coop, lanes, repeat, vector, along;
} choice;

/* clang-format off */
#define F DT_FLOAT32
#define D DT_FLOAT64
#define MATVEC {"ab", "b", "a"}, "a:b", "0ab 1b"
#define VECMAT {"a", "ab", "b"}, "b:a", "0a 1ab"
#define MATMUL {"ab", "bc", "ac"}, "ac:b", "0ab 1bc"
#define SUM {"a", ""}, "a", "0a"
#define MILLION (1 << 20)

static const choice choices[] = {
    {"sum of 3", F, MILLION, {3}, SUM, 0, 0, 1, 1, 0},
    {"sum of 12", F, MILLION, {12}, SUM, 1, 0, 1, 4, 0},
    {"sum of 16", F, MILLION, {16}, SUM, 1, 0, 2, 4, 0},
    {"sum of 64", F, MILLION, {64}, SUM, 2, 0, 4, 4, 0},
    {"sum of 63", F, MILLION, {63}, SUM, 2, 0, 4, 4, 0},
    {"sum of 64 doubles", D, MILLION, {64}, SUM, 3, 0, 4, 2, 0},
    {"sum of 1024", F, 1 << 18, {1024}, SUM, 5, 0, 4, 4, 0},
    {"sum of 2^14", F, 1 << 14, {1 << 14}, SUM, 7, 0, 4, 4, 0},
    {"sum of 2^28", F, 1, {1 << 28}, SUM, COOP_GRID, 0, 2, 4, 0},
    {"many sums of 2^18", F, 1 << 10, {1 << 18}, SUM, 9, 0, 4, 4, 0},
    {"matvec 3", F, MILLION, {3, 3}, MATVEC, 0, 0, 1, 1, 0},
    {"matvec 4", F, MILLION, {4, 4}, MATVEC, 1, 0, 2, 4, 0},
    {"matvec 8", F, MILLION, {8, 8}, MATVEC, 1, 0, 4, 4, 0},
    {"matvec 16", F, MILLION, {16, 16}, MATVEC, 3, 1, 4, 4, 0},
    {"matvec 32", F, 1 << 16, {32, 32}, MATVEC, 6, 3, 4, 4, 0},
    {"matvec 256", F, 1 << 12, {256, 256}, MATVEC, 8, 5, 4, 4, 0},
    {"matvec 255 x 256", F, 1 << 12, {255, 256}, MATVEC, 8, 5, 4, 4, 0},
    {"matvec 2^14", F, 1, {1 << 14, 1 << 14}, MATVEC, COOP_GRID, 5, 4, 4, 0},
    {"vecmat 32", F, 1 << 16, {32, 32}, VECMAT, 3, 0, 1, 4, 1},
    {"vecmat 256", F, 1 << 12, {256, 256}, VECMAT, 6, 0, 1, 4, 1},
    {"matmul 3", F, MILLION, {3, 3, 3}, MATMUL, 0, 0, 1, 1, 0},
    {"matmul 4", F, MILLION, {4, 4, 4}, MATMUL, 0, 0, 1, 1, 0},
    {"matmul 16", F, MILLION, {16, 16, 16}, MATMUL, 4, 0, 4, 4, 1},
    {"matmul 32", F, 1 << 16, {32, 32, 32}, MATMUL, 6, 0, 4, 4, 1},
    {"matmul 64", F, 1 << 16, {64, 64, 64}, MATMUL, 7, 0, 4, 4, 1},
    {"matmul 1024", F, 1, {1024, 1024, 1024}, MATMUL, COOP_GRID, 0, 4, 4, 1},
    {"dot products of rows", F, 1 << 12, {16, 16, 256}, {"ac", "bc", "ab"}, "ab:c", "0ac 1bc", 8, 5, 4, 4, 0},
};
/* clang-format on */

static void make_choice(sample *s, const choice *c) {
    int n = 0, ndims = 0;
    while (n < 4 && c->operands[n])
        n++;
    while (ndims < MAX_DIMS && c->sizes[ndims])
        ndims++;
    sample_begin(s, n - 1, 1, ndims, 1);
    s->extent[0] = c->calls;
    memcpy(s->core, c->sizes, (size_t)ndims * sizeof *s->core);
    for (int k = 0; k < n; k++) {
        int dims[MAX_RANK], rank = 0;
        for (const char *p = c->operands[k]; *p; p++)
            dims[rank++] = *p - 'a';
        set_operand(s, k, c->type, rank, dims, 0);
    }
    set_construct(s, c->ranges, c->accesses);
    specialise(s);
}

static void test_choices(void **unused) {
    sample *s = &the_sample;
    (void)unused;
    for (size_t i = 0; i < COUNT(choices); i++) {
        const choice *c = &choices[i];
        make_choice(s, c);
        const variant *v = &s->v;
        if (v->gufunc.coop != c->coop || v->gufunc.lanes != c->lanes || v->gufunc.steps != c->repeat ||
            v->gufunc.vector != c->vector || v->gufunc.along != c->along)
            fail_msg("%s: coop %d, lanes %d, repeat %d, vector %d, along %d", c->what, v->gufunc.coop, v->gufunc.lanes,
                     v->gufunc.steps, v->gufunc.vector, v->gufunc.along);
        lay(s);
        assert_int_equal(check_words(s), 1);
        check_grid(s);
        assert_int_equal(s->g.shared != 0, v->gufunc.coop == 0);
    }
}

static const choice *find_choice(const char *what) {
    for (size_t i = 0; i < COUNT(choices); i++)
        if (!strcmp(choices[i].what, what))
            return &choices[i];
    fail_msg("no %s", what);
    return NULL;
}

/* What bars a choice. */
static void test_bars(void **unused) {
    sample *s = &the_sample;
    (void)unused;
    make_choice(s, find_choice("matmul 16"));
    s->size.construct[0].nodes = 200; /* a heavy body: fewer copies of it, down to one */
    specialise(s);
    assert_true(s->v.gufunc.vector == 4 && s->v.gufunc.steps == 1);
    s->size.construct[0].nodes = 255;
    s->size.nodes = 3000;
    specialise(s);
    assert_true(s->v.gufunc.vector == 1 && s->v.gufunc.steps == 1);
    /* several passes over a core that does not stay near a block */
    make_choice(s, find_choice("many sums of 2^18"));
    set_construct(s, "a", "0a");
    specialise(s);
    assert_int_equal(s->v.gufunc.coop, COOP_GRID);
    /* y's rows are not aligned; no access to y goes by vectors, so it does not count */
    make_choice(s, find_choice("matvec 255 x 256"));
    assert_true(!s->v.operand[2].unit && s->v.operand[0].unit == 2 && s->v.operand[1].unit == 1);
    /* arrays that are no AoS of packed cores are read where they lie */
    make_choice(s, find_choice("sum of 3"));
    assert_true(s->v.operand[0].staged && !s->v.operand[1].staged);
    *stride_at(s, 0, 0) = MILLION;
    *loop_stride(s, 0, 0) = 1;
    specialise(s);
    assert_false(s->v.operand[0].staged);
    assert_int_equal(s->v.operand[0].unit, 0);
}

/* A function along the columns of a matrix of n x count, which reads its input twice. */
static void columns_of(sample *s, dtype type, int64_t n, int64_t count) {
    sample_begin(s, 1, 1, 1, 1);
    s->extent[0] = s->loop.count = count;
    s->core[0] = n;
    for (int k = 0; k < 2; k++) {
        set_operand(s, k, type, 1, (const int[]){0}, 0);
        *stride_at(s, k, 0) = count;
        *loop_stride(s, 0, k) = 1;
    }
    set_construct(s, "a", "0a");
    set_construct(s, "a", "0a 1a");
    s->size.uniform = true;
}

/* Two neighbouring columns a thread, where elements have less than a word, and there is an even number of them side by side. */
static void test_pairs(void **unused) {
    sample *s = &the_sample;
    (void)unused;
    static const struct {
        dtype type;
        int64_t n, count;
        bool masked;
        int calls, held, coop;
    } cases[] = {
        {DT_BFLOAT16, 64, 1000, false, 1, 8, 3},  {DT_BFLOAT16, 64, 1001, false, 0, 8, 3},
        {DT_FLOAT32, 64, 1000, false, 0, 8, 3},   {DT_BFLOAT16, 64, 1000, true, 0, 8, 3},
        {DT_UINT8, 200, 1000, false, 1, 7, 5},    {DT_BFLOAT16, 256, 4096, false, 1, 16, 4},
        {DT_BFLOAT16, 30, 1000, false, 0, 0, -1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        columns_of(s, cases[i].type, cases[i].n, cases[i].count);
        s->v.masked = cases[i].masked;
        s->v.operand[2] = (variant_operand){.memory = DT_BOOL, .value = DT_BOOL, .kind = OPERAND_STRIDED};
        specialise(s);
        const variant *v = &s->v;
        if (v->gufunc.calls != cases[i].calls || v->gufunc.held != cases[i].held ||
            (cases[i].coop >= 0 && v->gufunc.coop != cases[i].coop))
            fail_msg("case %zu: calls %d, held %d, coop %d", i, v->gufunc.calls, v->gufunc.held, v->gufunc.coop);
        s->v.masked = 0;
        lay(s);
        if (v->gufunc.held)
            assert_int_equal(s->g.blocks, ((cases[i].count - 1) >> (v->gufunc.across + v->gufunc.calls)) + 1);
    }
    /* they are moved together where all addresses, and the rows, are at multiples of two */
    columns_of(s, DT_BFLOAT16, 64, 1000);
    specialise(s);
    assert_true(s->v.gufunc.calls && !s->v.operand[0].fixed);
    for (int odd = 0; odd < 4; odd++) {
        s->data[0] = (char *)(uintptr_t)(0x7f0000000000 + 2 * (odd == 1));
        *stride_at(s, 1, 0) = odd == 2 ? 1001 : 1000;
        s->data[1] = (char *)(uintptr_t)(0x7e0000000000 + 4 * (odd == 3));
        lay(s);
        reader r = {s, parameters_begin(&s->v, &s->layout, true)};
        read_operands(&r);
        parameter(&r, GPU_GUFUNC_CALLS);
        assert_int_equal(parameter(&r, GPU_GUFUNC_ALIGNED), odd == 0 || odd == 3);
    }
    /* an input that all calls share stays where it is; one that lies apart bars pairs */
    columns_of(s, DT_BFLOAT16, 64, 1000);
    *loop_stride(s, 0, 0) = 0;
    specialise(s);
    assert_true(s->v.gufunc.calls && s->v.operand[0].fixed);
    columns_of(s, DT_BFLOAT16, 64, 1000);
    *loop_stride(s, 0, 0) = 2;
    specialise(s);
    assert_int_equal(s->v.gufunc.calls, 0);
}

typedef struct cluster_case {
    const char *arch, *driver;
    bool clusters;
} cluster_case;

static void driver_body(void *user) {
    const cluster_case *c = user;
    sample *s = &the_sample;
    setenv("MOCK_ARCH", c->arch, 1);
    setenv("MOCK_VERSION", c->driver, 1);
    columns_of(s, DT_FLOAT32, 4096, 100000);
    launch_specialise(&s->v,
                      &(loop_problem){.loop = &s->loop, .layout = &s->layout, .core = s->core, .traits = &s->size});
    CHECK((s->v.gufunc.cluster > 0) == c->clusters);
}

/* Columns are shared by clusters of blocks where device and driver have them, and st.async for what they tell each other. */
static void test_clusters(void **unused) {
    static const cluster_case cases[] = {
        {"90", "13000", true}, {"90", "12010", true}, {"90", "12000", false}, {"80", "13000", false}};
    (void)unused;
    if (!mock_find())
        skip();
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(child_status(driver_body, (void *)(uintptr_t)&cases[i]), 0);
}

/* Many calls: 64-bit indices, and a grid that does not cover them. */
static void test_huge(void **unused) {
    sample *s = &the_sample;
    choice c = *find_choice("sum of 2^14");
    (void)unused;
    for (int bits = 30; bits <= 40; bits++) {
        c.calls = (int64_t)1 << bits;
        make_choice(s, &c);
        assert_int_equal(s->v.wide, bits > 30);
        lay(s);
        check_words(s);
        assert_true(s->g.blocks == (bits < 31 ? 1u << bits : (uint32_t)INT32_MAX));
    }
    c.calls = INT32_MAX;
    make_choice(s, &c);
    assert_int_equal(s->v.wide, 0);
    c.calls = (int64_t)INT32_MAX + 1;
    make_choice(s, &c);
    assert_int_equal(s->v.wide, 1);
    /* sizes whose products leave 64 bits: a dimension may be broadcast */
    static const choice vast = {"", F, 1, {(int64_t)1 << 62, (int64_t)1 << 61}, {"a", "b", "ab"}, "a:b", "0a 1b", 0, 0,
                                0,  0, 0};
    make_choice(s, &vast);
    assert_int_equal(s->v.gufunc.coop, COOP_GRID);
    lay(s);
    check_grid(s);
}

/* Blocks of a cooperative group: pieces of a size, more of them for a device that would be idle. */
static void test_team_blocks(void **unused) {
    static const struct {
        int64_t calls, bytes;
        int resident;
        uint32_t blocks, coops;
    } cases[] = {
        {1, (int64_t)1 << 32, 528, 256, 1},
        {1, 1 << 20, 528, 64, 1},
        {8, 1 << 20, 528, 64, 8},
        {16, 1 << 20, 528, 33, 16},
        {200, 1 << 20, 528, 8, 66},
        {100, 1 << 22, 528, 32, 16},
        {1, 1 << 24, 12, 12, 1},
        {500, 1 << 24, 12, 12, 1},
    };
    sample *s = &the_sample;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        choice c = *find_choice("sum of 2^28");
        c.calls = cases[i].calls;
        c.sizes[0] = cases[i].bytes / 4 - 1; /* and the result */
        make_choice(s, &c);
        s->v.gufunc.coop = COOP_GRID;
        s->r.resident = cases[i].resident;
        lay(s);
        check_grid(s);
        if (s->g.coop_blocks != cases[i].blocks || s->g.coops != cases[i].coops)
            fail_msg("case %zu: %u blocks, %u coops", i, s->g.coop_blocks, s->g.coops);
        s->r.cooperative = false;
        lay(s);
        check_grid(s);
    }
}

/* ---- Launches ---- */

static code *load(const sample *s, int threads) {
    cuda_device *d;
    code *c = NULL;
    CHECK(!cuda_device_get(0, &d));
    CHECK(!code_load(ptx_of("k", schema_count(&s->v, &s->layout, true), threads), "k", 0, 0, d, &c));
    return c;
}

static void make_named(sample *s, const char *what) {
    for (size_t i = 0; i < COUNT(choices); i++)
        if (!strcmp(choices[i].what, what))
            make_choice(s, &choices[i]);
}

/* The parameters but for the slots, the grid, the shared memory. */
static void check_launched(sample *s) {
    const mock_launch *m = mock->launch(&(int){0});
    lay(s);
    if (s->g.coops)
        *s->g.slots = m->words[s->g.slots - s->words];
    CHECK(m->bytes == 8 * s->g.parameters && !memcmp(m->words, s->words, m->bytes));
    CHECK(m->blocks == s->g.blocks && m->threads == s->g.threads && m->shared == s->g.shared);
    CHECK(m->stream == s->l.stream && m->cooperative == (s->g.coop_blocks > 1));
}

static void plain_body(void *what) {
    sample *s = &the_sample;
    make_named(s, what);
    code *c = load(s, s->v.gufunc.coop > 8 ? 1 << s->v.gufunc.coop : 256);
    s->r = (occupancy){.block = 256, .sms = 4};
    CHECK(!cuda_engine.launch(c, &s->l));
    check_launched(s);
    mock->fail_at(0, 0);
    CHECK(!cuda_engine.launch(c, &s->l));
    CHECK(mock->calls() == 4); /* nothing but the context and the launch */
    s->loop.count = 0;
    CHECK(!cuda_engine.launch(c, &s->l) && mock->calls() == 4);
    cuda_engine.release(c);
}

/* A thousand rows that are read twice. */
static loop_problem make_long_row(sample *s, int64_t n) {
    sample_begin(s, 1, 1, 1, 1);
    s->core[0] = n;
    s->extent[0] = 1000;
    set_operand(s, 0, DT_FLOAT32, 1, (int[]){0}, 0);
    set_operand(s, 1, DT_FLOAT32, 1, (int[]){0}, 0);
    s->loop.count = 1000;
    s->size = (code_traits){.nodes = 20, .maps_to_threads = true, .uniform = true, .nconstructs = 2};
    for (int i = 0; i < 2; i++)
        s->size.construct[i] = (code_construct){.reduces = !i,
                                                .nodes = 5,
                                                .nouter = 1,
                                                .naccesses = 2,
                                                .access = {{.operand = 0, .outer = 1}, {(uint8_t)i, 1, 0}}};
    return (loop_problem){.loop = &s->loop, .layout = &s->layout, .core = s->core, .traits = &s->size};
}

/* A row that is read twice takes more shared memory than a block has unasked: the driver is asked once, and again where it failed. */
static void long_row_body(void *unused) {
    sample *s = &the_sample;
    cuda_device *d;
    (void)unused;
    CHECK(!cuda_device_get(0, &d) && d->shared == 227 << 10);
    loop_problem problem = make_long_row(s, 20000);
    cuda_engine.specialise(&s->v, &problem);
    CHECK(s->v.operand[0].staged && s->v.gufunc.coop);
    code *c = load(s, 1 << s->v.gufunc.coop);
    s->r = (occupancy){.block = 256, .sms = 4};
    CHECK(!cuda_engine.launch(c, &s->l));
    check_launched(s);
    CHECK(s->g.shared == 80016);
    mock->fail_at(0, 0);
    CHECK(!cuda_engine.launch(c, &s->l) && mock->calls() == 4);
    problem.device = -1; /* an architecture: what any device has */
    gpu_specialise(&s->v, &problem);
    CHECK(!s->v.operand[0].staged);
    cuda_engine.release(c);
}

/* Rows that the blocks of a cluster hold: no memory of the launch's own, and no cooperative launch. */
static void cluster_body(void *unused) {
    sample *s = &the_sample;
    (void)unused;
    loop_problem problem = make_long_row(s, 100001);
    cuda_engine.specialise(&s->v, &problem);
    CHECK(s->v.gufunc.cluster == 3 && s->v.gufunc.pieces && s->v.operand[0].staged && s->v.gufunc.vector == 4);
    code *c = load(s, 1 << s->v.gufunc.coop);
    s->r = (occupancy){.block = 256, .sms = 4};
    CHECK(!cuda_engine.launch(c, &s->l));
    check_launched(s);
    CHECK(s->g.blocks == s->loop.count * 8 && 8 * (int64_t)s->g.shared >= 4 * 100001 && !s->g.slots);
    cuda_engine.release(c);
}

/* Rows far longer than a cluster holds: each is shared out over the shared memory of several blocks. */
static void pieces_body(void *unused) {
    sample *s = &the_sample;
    (void)unused;
    setenv("MOCK_SMS", "16", 1);
    loop_problem problem = make_long_row(s, 420001);
    cuda_engine.specialise(&s->v, &problem);
    CHECK(s->v.gufunc.coop == COOP_GRID && s->v.gufunc.pieces && s->v.operand[0].staged && s->v.gufunc.vector == 4);
    code *c = load(s, 512);
    s->r = (occupancy){.block = 256, .sms = 16, .resident = 32, .cooperative = true, .shared = 227 << 10};
    for (int i = 0; i < 2; i++) {
        CHECK(!cuda_engine.launch(c, &s->l));
        check_launched(s);
        CHECK(s->g.coop_blocks > 1 && s->g.coop_blocks * (int64_t)s->g.shared >= 4 * 420001 && s->g.shared < 114 << 10);
    }
    problem.device = -1; /* an architecture: blocks that wait for each other may not be there */
    gpu_specialise(&s->v, &problem);
    CHECK(!s->v.operand[0].staged);
    cuda_engine.release(c);
}

static int looks;

/* The slots are there, zeroed; they are left as cooperative groups may leave them. */
static void look_at_slots(const mock_launch *m) {
    const sample *s = &the_sample;
    int at = schema_place(&s->v, &s->layout, true, GPU_GUFUNC_SLOTS);
    char *slots = (char *)(uintptr_t)m->words[at];
    CHECK(mock->live().allocations == 1 && m->words[at - 1] && m->blocks % m->words[at - 1] == 0);
    size_t bytes = m->blocks / m->words[at - 1] * COOP_SLOT;
    for (size_t i = 0; i < bytes; i++)
        CHECK(slots[i] == 0);
    memset(slots, 0xaa, bytes);
    looks++;
}

typedef struct teams_case {
    const char *pools, *cooperative;
    int calls; /* of the driver, for a launch */
} teams_case;

static void teams_body(void *user) {
    const teams_case *t = user;
    sample *s = &the_sample;
    setenv("MOCK_POOLS", t->pools, 1);
    setenv("MOCK_COOPERATIVE", t->cooperative, 1);
    make_named(s, "sum of 2^28");
    s->r = (occupancy){.block = 256, .sms = 4, .resident = 12, .cooperative = *t->cooperative == '1'};
    lay(s);
    code *c = load(s, 512);
    mock->on_launch(look_at_slots);
    for (int i = 0; i < 3; i++) {
        mock->fail_at(0, 0);
        CHECK(!cuda_engine.launch(c, &s->l));
        CHECK(i == 0 || mock->calls() == t->calls);
        check_launched(s);
        CHECK(mock->live().allocations == 1 && mock->live().depth == 0 && looks == i + 1); /* the stream's piece */
    }
    CHECK(s->g.coops == 1 && s->g.blocks == (*t->cooperative == '1' ? 12 : 1));
    cuda_engine.release(c);
}

/* More parameters than CUDA has, and as many as need memory of their own. */
static void words_body(void *unused) {
    static variant v = {.loop = LOOP_GUFUNC, .nin = 60, .nout = 1};
    static int64_t extent[62], stride[62 * 61], core[1];
    static char *data[61];
    static layout_operand operands[61];
    core_layout layout = {.nin = 60, .nout = 1, .ndims = 1, .nparameters = 1, .operands = operands};
    cuda_device *d;
    code *c;
    (void)unused;
    CHECK(!cuda_device_get(0, &d));
    for (int ndim = 20; ndim <= 62; ndim += 42) {
        nd_loop loop = {ndim, 61, 2, extent, stride, NULL, LOOP_GUFUNC, {0}};
        for (int k = 0; k < 61; k++)
            v.operand[k] = (variant_operand){.memory = DT_INT8, .value = DT_INT8, .kind = OPERAND_STRIDED};
        for (int i = 0; i < ndim; i++)
            extent[i] = i ? 1 : 2;
        launch l = {.v = &v, .loop = &loop, .data = data, .numbers = NULL, .layout = &layout, .core = core};
        gpu_specialise(
            &v, &(loop_problem){.loop = &loop, .layout = &layout, .core = core, .traits = &(code_traits){.nodes = 1}});
        int words = schema_count(&v, &layout, true);
        CHECK(words == 61 + 2 + 3 * (ndim - 1) + 61 * ndim + 1);
        CHECK(!code_load(ptx_of("k", words, 256), "k", 0, 0, d, &c));
        if (words <= PARAMETERS_MAX)
            CHECK(!cuda_engine.launch(c, &l) && mock->launch(&(int){0})->bytes == 8 * (size_t)words);
        else
            CHECK_FAILS(cuda_engine.launch(c, &l), UF_ERR_ARGUMENT, "of kernel parameters; CUDA has 32760");
        cuda_engine.release(c);
    }
}

static void test_launches(void **unused) {
    static const char *const plain[] = {"sum of 3", "sum of 64", "matvec 256", "sum of 2^14", "matmul 4"};
    (void)unused;
    for (size_t i = 0; i < COUNT(plain); i++)
        in_child(plain_body, (void *)(uintptr_t)plain[i]);
    in_child(teams_body, &((teams_case){"1", "1", 8}));
    in_child(teams_body, &((teams_case){"0", "1", 8}));
    in_child(teams_body, &((teams_case){"1", "0", 8}));
    in_child(words_body, NULL);
    in_child(long_row_body, NULL);
    in_child(cluster_body, NULL);
    in_child(pieces_body, NULL);
}

/* ---- Every driver call failing in turn ---- */

typedef struct failure {
    int nth, error;
    const char *pools;
} failure;

static uf_status use_coops(void) {
    cuda_device *d;
    code *c = NULL;
    sample *s = &the_sample;
    TRY(cuda_device_get(0, &d));
    uf_status status = code_load(ptx_of("k", schema_count(&s->v, &s->layout, true), 512), "k", 0, 0, d, &c);
    for (int i = 0; i < 2 && !status; i++)
        status = cuda_engine.launch(c, &s->l);
    cuda_engine.release(c);
    code_reap(d);
    return status;
}

/* Calls whose failure nobody is told of: what releases something, and what asks before a release. */
static bool is_silent(const char *name) {
    static const char *const silent[] = {"cuMemFreeAsync",
                                         "cuMemFree_v2",
                                         "cuStreamSynchronize",
                                         "cuLibraryUnload",
                                         "cuCtxPopCurrent_v2",
                                         "cuThreadExchangeStreamCaptureMode",
                                         "cuCtxSynchronize",
                                         "cuStreamIsCapturing",
                                         "cuCtxGetCurrent",
                                         "cuCtxPushCurrent_v2",
                                         "cuDevicePrimaryCtxRelease_v2"};
    for (size_t i = 0; i < COUNT(silent); i++)
        if (!strcmp(name, silent[i]))
            return true;
    return false;
}

static void failure_body(void *user) {
    const failure *f = user;
    setenv("MOCK_POOLS", f->pools, 1);
    make_named(&the_sample, "sum of 2^28");
    mock->fail_at(f->nth, f->error);
    uf_status s = use_coops();
    const char *failed = mock->failed();
    if (!failed)
        _exit(77); /* fewer calls than that */
    char plain[64];
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(failed, "_"), failed);
    CHECK(s || is_silent(failed));
    if (s)
        CHECK(s == (f->error == 2 ? UF_ERR_MEMORY : UF_ERR_DEVICE) && strstr(error_slot()->message, plain));
    mock->fail_at(0, 0);
    mock_live live = mock->live();
    CHECK(live.depth == 0 && live.retained <= 1 && live.allocations <= 1 && live.libraries == code_dead());
    CHECK(use_coops() == UF_OK); /* usable afterwards */
    live = mock->live();
    CHECK(live.allocations == 1 && live.depth == 0 && live.libraries == 0 && code_dead() == 0);
}

static void test_failures(void **unused) {
    int tried = 0;
    (void)unused;
    for (int i = 0; i < 4; i++)
        for (int nth = 1;; nth++) {
            failure f = {nth, i % 2 ? 2 : 999, i / 2 ? "1" : "0"};
            int status = child_status(failure_body, &f);
            if (status == 77)
                break;
            if (status)
                fail_msg("driver call %d failing with %d, pools %s", nth, f.error, f.pools);
            tried++;
        }
    assert_true(tried > 4 * 40);
}

/* ---- main ---- */

static int begin(void **unused) {
    assert_true(mock_find());
    return draw_seed(unused);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),      cmocka_unit_test(test_choices),  cmocka_unit_test(test_bars),
        cmocka_unit_test(test_pairs),       cmocka_unit_test(test_clusters), cmocka_unit_test(test_huge),
        cmocka_unit_test(test_team_blocks), cmocka_unit_test(test_launches), cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
