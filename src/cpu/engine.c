/* engine.c - the table of the CPU engine: target, memory, information. */
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "cpu/blas.h"
#include "cpu/cpu.h"
#include "cpu/lapack.h"
#include "cpu/llvm.h"

enum {
    NARROW_MAX = 8,     /* the extent of a narrow dimension, but .. */
    NARROW_BYTES = 96,  /* of as many elements, */
    NARROW_COMPLEX = 8, /* and complex numbers; */
    LIGHT_NODES = 12,   /* .. CPU_NARROW_MAX for a kernel of at most so many nodes */
    WAYS_LEAST = 8,     /* lines with equal low bits of their addresses that a first level cache holds, at least, .. */
    WAYS_FREE = 2       /* .. and those of them for operands that do not lie across */
};

/* The width of the widest vectors of this processor. AVX-512 counts if DQ, VL and BW come with it, as in all server
 * processors. */
static int host_vector_bits(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        return 512;
    return __builtin_cpu_supports("avx2") ? 256 : 128;
#else
    return 128;
#endif
}

static bool host_f16c(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
#else
    return true;
#endif
}

static bool host_vbmi(void) {
#if defined(__x86_64__)
    return host_vector_bits() == 512 && __builtin_cpu_supports("avx512vbmi");
#else
    return false;
#endif
}

static bool host_is_amd(void) {
#if defined(__x86_64__)
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

/* Zen 4, which has vectors of 512 bits and is of the family of Zen 3. It foresees better what two reads of each line ask for than what one
 * does: x + y of 6 to 24 MB in the last level cache takes 5 to 15 % less by vectors of 256 bits. */
static bool host_reads_narrowly(void) {
#if defined(__x86_64__)
    enum {
        ZEN_3_AND_4 = 0x19
    };
    unsigned a, b, c, d;
    bool known = host_is_amd() && __get_cpuid(1, &a, &b, &c, &d);
    return known && host_vector_bits() == 512 && (a >> 8 & 0xf) + (a >> 20 & 0xff) == ZEN_3_AND_4;
#else
    return false;
#endif
}

static uf_status cpu_target(int device, code_target *out) {
    const llvm *l;
    if (device < 0)
        return fail(UF_ERR_ARGUMENT, "the CPU has no device %d", device);
    TRY(llvm_open(&l));
    memset(out, 0, sizeof *out);
    out->vector_bits = host_vector_bits();
    out->f16c = host_f16c();
    out->vbmi = host_vbmi();
    out->narrow_reads = host_reads_narrowly();
    out->narrow_lines = host_is_amd() && host_vector_bits() == 512;
    return UF_OK;
}

enum {
    WORD = 4,             /* bytes of the smallest numbers that calls in lanes compute with, .. */
    LANE_BITS_MOST = 256, /* .. of vectors of them, .. */
    LANE_LINES = 70,      /* .. lines of IR of a call, at least, .. */
    LINES_A_COPY = 44,    /* .. and of those of all lanes together, for each element of a call that is copied */
    UNROLLED_MOST = 2000, /* lines of IR of an inner call without loops, .. */
    UNROLLED_MANY = 4000, /* .. in lanes, of so many calls that it pays to compile them for a tenth of a second, .. */
    MANY_CALLS = 1 << 16,
    UNROLLED_LANES = 1500, /* .. that has constructs alone, in lanes, .. */
    UNROLLED_ROWS = 700,   /* .. or not */
    ROWS_MOST = 64,        /* elements of a row */
    STRIP_LEAST = 32,      /* calls that lie side by side, .. */
    STRIP_LINE = 64,       /* .. or with AVX2 so many bytes of an element of each, if they are not unrolled, .. */
    STRIP_CALLS = STRIP_LINE / 8, /* .. which are so many, at least, .. */
    STRIP_BYTES = 2 << 20,        /* .. and bytes of a strip of them, at most, .. */
    FEW_BYTES = 512 << 10,        /* .. where there are fewer than STRIP_LEAST calls, .. */
    SHORT_ROW = 32,  /* .. or rows are copied, of so many elements at most, where functions of vectors are called, .. */
    MUCH_NODES = 80, /* .. or much is computed, in nodes of the text */
    UNROLLED_SHORT = 1000, /* up to which that is compiled sooner than loops are */
};

/* 1 + the last core dimension along which an operand's elements are contiguous; 0: none is. A dimension of at most
 * one element may count as such. It is taken if there is no other, so that fewer variants are compiled. */
static uint8_t unit_of(const layout_operand *o, const int64_t *core) {
    uint8_t unit = 0, spare = 0;
    for (int d = 0; d < o->rank; d++) {
        if (core[o->dim[d]] <= 1)
            spare = (uint8_t)(1 + d);
        else if (core[o->strides + d] == 1)
            unit = (uint8_t)(1 + d);
    }
    return unit ? unit : spare;
}

static void specialise_calls(variant *v, const core_layout *layout, const int64_t *core, const code_traits *traits) {
    for (int k = 0; k < v->nin + v->nout; k++)
        if (v->operand[k].kind != OPERAND_NUMBER)
            v->operand[k].unit = unit_of(&layout->operands[k], core);
    v->gufunc.along = !v->reports && code_prefers_outer(v, traits);
}

/* All elements of a record are computed in one iteration, which takes long to compile where much is computed. */
static int cpu_tile_narrow(const code_traits *traits) {
    return traits->nodes <= LIGHT_NODES && !traits->has_loop ? CPU_NARROW_MAX : NARROW_MAX;
}

/* Are records so long that they are gathered, all of them inputs, and of a square's elements at least? Then squares take half the time. */
static bool squares_pay(const variant *v, const nd_loop *loop) {
    bool pay = loop->extent[1] > RECORD_SHUFFLED;
    for (int k = 0; k < v->nin + v->nout; k++)
        if (v->operand[k].kind != OPERAND_NUMBER && nd_is_dense(loop, k))
            pay &= k < v->nin && loop->extent[1] * dtypes[v->operand[k].memory].size >= ACCESS_BYTES &&
                   dtypes[v->operand[k].memory].size < ACCESS_BYTES;
    return pay;
}

/* How many columns may be read in turn, an element of each, whose lines the first level cache then has for the next elements, wherever they lie. */
static int columns_kept(void) {
    static _Atomic int known;
    int columns = atomic_load_explicit(&known, memory_order_relaxed);
    if (!columns) {
        long ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC);
        columns = (ways > WAYS_LEAST ? (int)ways : WAYS_LEAST) - WAYS_FREE;
        atomic_store_explicit(&known, columns, memory_order_relaxed);
    }
    return columns;
}

/* The extent of dimension 1 if it is narrow; 0: it is not, or elements of so many bytes, or complex ones, would be picked out of more lines than the
 * cache keeps, or of more vectors than it takes to copy them. */
static uint8_t narrow_extent(const variant *v, const nd_loop *loop, const code_traits *traits) {
    int64_t extent = loop->extent[1];
    bool narrow = extent <= cpu_tile_narrow(traits) && !squares_pay(v, loop);
    for (int k = 0; k < variant_operands(v); k++) {
        dtype t = (dtype)v->operand[k].memory;
        bool small = extent * dtypes[t].size <= NARROW_BYTES && !(dtype_is_complex(t) && extent > NARROW_COMPLEX);
        narrow &= small || extent <= columns_kept();
    }
    return narrow ? (uint8_t)extent : 0;
}

/* Inputs that lie side by side along dimension 1 alone are copied to where they do so along dimension 0; where that dimension is narrow,
 * operands may be records of it. */
static void specialise_tile(variant *v, const nd_loop *loop, const code_traits *traits) {
    v->tile.narrow = narrow_extent(v, loop, traits);
    for (int k = 0, count = variant_operands(v); k < count; k++) {
        variant_operand *o = &v->operand[k];
        bool output = k >= v->nin && k < v->nin + v->nout, narrow = v->tile.narrow;
        o->unit = o->kind != OPERAND_NUMBER && loop->stride[loop->narrays + k] == 1;
        o->staged = !narrow && !output && o->kind == OPERAND_STRIDED && nd_is_across(loop, k);
        o->record = narrow && nd_is_dense(loop, k) ? (uint8_t)(v->tile.narrow * dtypes[o->memory].size) : 0;
        o->kind = o->staged ? OPERAND_CONTIGUOUS : o->record ? OPERAND_INTERLEAVED : o->kind;
    }
}

/* Has the core no gaps, dimension `inner` being the innermost one, and the others in C order? */
static bool is_packed_along(const layout_operand *o, const int64_t *core, int inner) {
    int64_t count = o->rank ? core[o->dim[inner]] : 1;
    bool packed = count == 1 || core[o->strides + inner] == 1;
    for (int d = o->rank - 1; d >= 0 && packed; d--) {
        if (d == inner)
            continue;
        packed = core[o->dim[d]] == 1 || core[o->strides + d] == count;
        count *= core[o->dim[d]];
    }
    return packed;
}

static bool is_packed(const layout_operand *o, const int64_t *core) { return is_packed_along(o, core, o->rank - 1); }

/* Log2 of the unrolled calls that are computed together, each in a lane of vectors (ir/gufunc/lane_calls.c). Their operands are copied, which
 * pays where much is computed of an element, but for those without a unit, whose calls lie side by side. 16-bit floating numbers are computed as float32. */
static uint8_t calls_together(const variant *v, const loop_problem *p) {
    int size = 0, elements = 0;
    for (int k = 0; k < v->nin + v->nout; k++) {
        const variant_operand *o = &v->operand[k];
        dtype t = (dtype)o->memory;
        int own = dtypes[t].size;
        if (o->kind == OPERAND_NUMBER)
            continue;
        if (dtype_is_complex(t) || (own < WORD && !dtype_is_floating(t)) || (size && own != size) ||
            o->value != o->memory)
            return 0;
        size = own;
        if (o->unit || !p->layout->operands[k].rank)
            elements += core_bytes(v, p->layout, k) / own;
    }
    int vector = host_vector_bits() < LANE_BITS_MOST ? host_vector_bits() : LANE_BITS_MOST,
        lanes = vector / 8 / (size > WORD ? size : WORD);
    bool pays = size && p->unrolled >= LANE_LINES && (int64_t)p->unrolled * lanes >= (int64_t)LINES_A_COPY * elements;
    return pays ? (uint8_t)__builtin_ctz((unsigned)lanes) : 0;
}

/* The elements of a row from which on LLVM's loops over it pay, which take several vectors at a time and what is left element by element. */
static int long_row(dtype t) {
    int size = dtypes[t].size;
    if (size < WORD)
        return dtype_is_floating(t) ? 32 : 16;
    return size == WORD && host_vector_bits() < 512 ? 32 : 128 / (size > WORD ? size : 2 * WORD);
}

static bool rows_are_short(const variant *v, const loop_problem *p) {
    int64_t longest = 0;
    bool all = true;
    for (int d = 0; d < p->layout->ndims; d++)
        longest = p->core[d] > longest ? p->core[d] : longest;
    for (int k = 0; k < v->nin + v->nout; k++)
        all &= longest < long_row((dtype)v->operand[k].memory);
    return all;
}

/* Has no operand a row, and lie calls side by side instead? */
static bool calls_are_beside(const variant *v, const loop_problem *p) {
    bool beside = true;
    for (int k = 0; k < v->nin + v->nout && beside; k++)
        beside = !p->layout->operands[k].rank || (!v->operand[k].unit && p->loop->stride[k] == 1);
    return beside;
}

/* Loops of the text are unrolled as long as that is not too much; constructs alone, which LLVM makes vector loops of, where these would
 * not pay. */
static bool unrolls(const variant *v, const loop_problem *p, bool lanes) {
    if (p->traits->plain_loops || !p->traits->nconstructs)
        return p->unrolled <= (lanes && p->loop->count >= MANY_CALLS ? UNROLLED_MANY : UNROLLED_MOST);
    return (rows_are_short(v, p) || (lanes && calls_are_beside(v, p))) &&
           p->unrolled <= (lanes ? UNROLLED_LANES : UNROLLED_ROWS);
}

/* Log2 of the lanes of the vectors that loops take along rows of less elements than LLVM's loops go by: these take four vectors at a time, and
 * then element by element what is left, which of 16 to 31 float64 is all of them. Vectors that leave least are the fastest; an element takes
 * as long as a vector and a half. 0: LLVM chooses. */
static uint8_t lanes_of_rows(const variant *v, const loop_problem *p) {
    int64_t n = 0, least = INT64_MAX;
    int size = WORD, best = 0;
    bool alike = p->traits->nconstructs && !p->traits->plain_loops; /* whose loops are such */
    for (int k = 0; k < v->nin + v->nout; k++) {
        const variant_operand *o = &v->operand[k];
        int64_t row = o->unit && k < v->nin ? p->core[p->layout->operands[k].dim[o->unit - 1]] : n;
        alike &= dtypes[o->memory].size >= WORD && (!n || row == n); /* smaller numbers are converted */
        n = row;
        size = dtypes[o->memory].size > size ? dtypes[o->memory].size : size;
    }
    for (int lanes = 4; lanes <= host_vector_bits() / 8 / size && alike && n >= lanes && n < ROWS_MOST; lanes *= 2) {
        int64_t takes = 2 * (n / lanes) + 3 * (n % lanes);
        best = takes <= least ? lanes : best;
        least = takes < least ? takes : least;
    }
    return best ? (uint8_t)__builtin_ctz((unsigned)best) : 0;
}

/* Must operand k be copied to have vectors along the columns, if these are the range that has so many behind it (gufunc.columns)? */
static bool is_across(const variant *v, const loop_problem *p, int behind, int k) {
    int d = p->traits->column_of[behind][k] - 1;
    return d >= 0 && d != v->operand[k].unit - 1 && p->core[p->layout->operands[k].dim[d]] != 1;
}

/* Cores to be copied for vectors along that range; UF_MAX_OPERANDS: those do not go, as the kernel is another, or a core that is across has no rows
 * that share its copy. Calls that lie side by side are copied together. */
static int columns_copy(const variant *v, const loop_problem *p, int behind) {
    bool goes = p->traits->columns >> behind & 1, rows = p->traits->columns == (1 << COLUMN_RANGES) - 1;
    int copies = 0;
    for (int k = 0; k < v->nin + v->nout; k++)
        if (is_across(v, p, behind, k)) {
            goes &= rows || !v->operand[k].unit;
            copies++;
        }
    return goes ? copies : UF_MAX_OPERANDS;
}

/* gufunc.columns; calls that are short enough to be unrolled are not copied. */
static uint8_t choose_columns(const variant *v, const loop_problem *p, bool short_enough) {
    int best = 0, least = short_enough ? 1 : UF_MAX_OPERANDS;
    for (int r = 0; r < COLUMN_RANGES; r++) {
        int copies = columns_copy(v, p, r);
        best = copies < least ? 1 + r : best;
        least = copies < least ? copies : least;
    }
    return (uint8_t)best;
}

/* Sizes as constants: all loops unrolled, or vectors along a range of products, which are faster where no core is copied for them. */
static void choose_sizes(variant *v, const loop_problem *p) {
    bool known = p->unrolled && !v->reports && !v->masked, alike = known;
    memset(v->gufunc.size, 0, sizeof v->gufunc.size);
    for (int d = 0; d < p->layout->ndims && known; d++)
        v->gufunc.size[d] = (uint8_t)p->core[d];
    for (int k = 0; k < v->nin + v->nout; k++)
        alike &= v->operand[k].memory == v->operand[k].value;
    uint8_t calls = known ? calls_together(v, p) : 0;
    bool short_enough = known && !cores_convert(v) && unrolls(v, p, calls);
    v->gufunc.columns = alike ? choose_columns(v, p, short_enough) : 0;
    v->gufunc.unrolled = short_enough && !v->gufunc.columns;
    v->gufunc.calls = v->gufunc.unrolled ? calls : 0;
    if (!v->gufunc.columns && !v->gufunc.unrolled)
        memset(v->gufunc.size, 0, sizeof v->gufunc.size);
    for (int k = 0; k < v->nin + v->nout; k++) {
        const layout_operand *l = &p->layout->operands[k];
        variant_operand *o = &v->operand[k];
        if (v->gufunc.columns) {
            o->staged = is_across(v, p, v->gufunc.columns - 1, k);
            o->fixed = !o->staged && o->unit && is_packed_along(l, p->core, o->unit - 1);
        } else {
            bool packed = v->gufunc.unrolled && is_packed(l, p->core);
            o->staged = packed || (v->gufunc.calls && o->unit);
            o->fixed = packed && v->gufunc.calls;
        }
    }
}

/* Cores of calls that lie side by side are copied to where their elements do (ir/gufunc/call_groups.h), unless they are that large that few
 * calls have room. */
static void choose_groups(variant *v, const loop_problem *p) {
    bool staged[UF_MAX_OPERANDS] = {false};
    int64_t bytes = 0;
    if (v->gufunc.columns || v->gufunc.unrolled || v->gufunc.strips || v->reports || v->masked ||
        p->loop->extent[0] < CALL_GROUP_LEAST)
        return;
    for (int k = 0; k < v->nin + v->nout; k++) {
        const layout_operand *o = &p->layout->operands[k];
        int64_t size = dtypes[v->operand[k].memory].size, core = size;
        for (int d = 0; d < o->rank && core < CALL_GROUP_BYTES; d++) /* more is as much */
            core *= p->core[o->dim[d]] < CALL_GROUP_BYTES ? p->core[o->dim[d]] : CALL_GROUP_BYTES;
        staged[k] = o->rank && !v->operand[k].unit && core > size && p->loop->stride[k] == 1;
        bytes += staged[k] ? call_group_pitch(core) : 0;
    }
    for (int k = 0; k < v->nin + v->nout && bytes * CALL_GROUP_LEAST <= CALL_GROUP_BYTES; k++)
        if (staged[k]) {
            v->operand[k].staged = 1;
            v->operand[k].unit = p->layout->operands[k].rank;
        }
}

_Static_assert((int)FEW_BYTES <= (int)CALL_GROUP_BYTES, "copies of rows have room (ir/gufunc/call_strips.c), ..");
_Static_assert(STRIP_BYTES / CALL_STRIP * LANE_BITS_MOST / 32 <= CALL_GROUP_BYTES,
               ".. and so have those of a vector's calls");

/* Where an operand of calls lies. */
typedef enum placement {
    PLACE_SHARED, /* it is the same for all, */
    PLACE_BESIDE, /* or those of neighbouring calls lie side by side, */
    PLACE_ROW,    /* or its own elements do, along the last dimension, */
    PLACE_ELSEWHERE
} placement;

static placement placement_of(const variant *v, const loop_problem *p, int k) {
    int64_t stride = v->operand[k].kind == OPERAND_NUMBER ? 0 : p->loop->stride[k];
    int rank = p->layout->operands[k].rank;
    if (!stride)
        return k < v->nin ? PLACE_SHARED : PLACE_ELSEWHERE;
    if (stride == 1)
        return PLACE_BESIDE;
    return !rank || v->operand[k].unit == rank ? PLACE_ROW : PLACE_ELSEWHERE;
}

/* longest: elements of the longest row that is copied; 0: there is none. bytes: of a whole strip of all that is not shared, and of the largest elements.
 * Few calls are as fast by rows, or unrolled, but with AVX2, and so are rows. */
static bool strips_pay(const variant *v, const loop_problem *p, double longest, double bytes, int largest) {
    int64_t calls = p->loop->extent[0];
    bool much = p->traits->vectored || p->traits->nodes >= MUCH_NODES;
    if (!longest && calls >= STRIP_LEAST)
        return bytes <= STRIP_BYTES;
    return host_vector_bits() < 512 && !v->gufunc.unrolled && calls >= STRIP_LINE / largest && bytes <= FEW_BYTES &&
           (!longest || (much && longest <= SHORT_ROW));
}

/* Calls that lie side by side, none of whose operands has a row but those that are the same for all, are computed by strips: unless they are
 * unrolled, which is as fast where functions of vectors do not take most of the time. So are calls with short rows where those functions do, which
 * are copied (staged). */
static void choose_strips(variant *v, const loop_problem *p) {
    bool fits = p->traits->strips && !v->gufunc.columns && !v->reports && !v->masked &&
                (p->traits->vectored || !v->gufunc.unrolled) && p->loop->extent[0] >= STRIP_CALLS;
    placement at[UF_MAX_OPERANDS];
    double bytes = 0, longest = 0;
    int largest = 1;
    for (int k = 0; k < v->nin + v->nout && fits; k++) {
        at[k] = placement_of(v, p, k);
        fits = at[k] != PLACE_ELSEWHERE;
        int size = dtypes[v->operand[k].memory].size;
        double core = 1;
        for (int d = 0; d < p->layout->operands[k].rank; d++)
            core *= (double)p->core[p->layout->operands[k].dim[d]];
        longest = at[k] == PLACE_ROW && core > longest ? core : longest;
        bytes += at[k] == PLACE_BESIDE ? CALL_STRIP * core * size : at[k] == PLACE_ROW ? STAGED_STRIP * core * size : 0;
        largest = size > largest ? size : largest;
    }
    if (!fits || !strips_pay(v, p, longest, bytes, largest))
        return;
    for (int k = 0; k < v->nin + v->nout; k++) {
        v->operand[k].fixed = 0;
        v->operand[k].staged = at[k] == PLACE_ROW;
        if (at[k] != PLACE_SHARED)
            v->operand[k].unit = p->layout->operands[k].rank + 1;
    }
    memset(v->gufunc.size, 0, sizeof v->gufunc.size);
    v->gufunc.unrolled = v->gufunc.calls = 0;
    v->gufunc.strips = v->gufunc.along = 1;
}

/* Can lines of them be computed by vectors, or, of complex numbers, as pairs of their parts (ir/elementwise/pairs.c)? */
static bool has_lines(dtype memory, const code_traits *traits) {
    return dtype_is_integer(memory) || memory == DT_FLOAT32 || memory == DT_FLOAT64 ||
           (dtype_is_complex(memory) && traits->sums);
}

/* Flat loops over more than stays in the caches, which write whole lines past them if all elements have one size and little is computed: the
 * vectors of their code are then lines. */
static void choose_lines(variant *v, const loop_problem *p) {
    int size = 0, kind = 0, bytes = 0;
    bool alike = !v->masked && !v->reports && !p->traits->has_loop;
    for (int k = 0; k < v->nin + v->nout; k++) {
        const variant_operand *o = &v->operand[k];
        dtype memory = (dtype)o->memory;
        if (o->kind != OPERAND_CONTIGUOUS && o->kind != OPERAND_INTERLEAVED) {
            alike &= k < v->nin && (o->kind == OPERAND_NUMBER || o->kind == OPERAND_CONSTANT);
            continue;
        }
        if (!bytes) {
            size = dtypes[memory].size;
            kind = o->kind;
        }
        if (kind == OPERAND_CONTIGUOUS || o->group == k + 1)
            bytes += kind == OPERAND_CONTIGUOUS ? size : o->record;
        alike &=
            o->value == o->memory && dtypes[memory].size == size && o->kind == kind && has_lines(memory, p->traits);
    }
    bool lines = alike && nontemporal_pays((double)p->loop->count * bytes);
    for (int k = v->nin; k < v->nin + v->nout; k++)
        v->operand[k].nontemporal = lines;
}

/* Are vectors of every second element of this type shuffles of what is loaded whole, if that is said? LLVM makes none of 16 bits beside elements
 * of 8 and 64, and with AVX2 takes twice as long where there are halves. */
static bool shuffles_pairs(const variant *v, dtype memory) {
    int size = dtypes[memory].size;
    bool all = size <= 8 && !dtype_is_half(memory) && !dtype_is_complex(memory);
    for (int k = 0; k < v->nin + v->nout; k++) {
        dtype other = (dtype)v->operand[k].memory;
        all &= size != 2 || dtypes[other].size == 2 || dtypes[other].size == 4;
        all &= !dtype_is_half(other) || host_vector_bits() == 512;
    }
    return all;
}

/* Inputs of which every second element counts are known to be so in long rows: of short ones the last vector goes element by element. */
static void fix_strides(variant *v, const nd_loop *loop) {
    enum {
        APART = 2,
        LEAST = 64 /* elements */
    };
    for (int k = 0; k < v->nin && loop->extent[0] >= LEAST; k++) {
        variant_operand *o = &v->operand[k];
        if (o->kind != OPERAND_STRIDED || loop->stride[k] != APART || !shuffles_pairs(v, (dtype)o->memory))
            continue;
        o->kind = OPERAND_INTERLEAVED;
        o->record = (uint8_t)(APART * dtypes[o->memory].size);
        o->group = o->offset = 0;
    }
}

static void cpu_specialise(variant *v, const loop_problem *p) {
    if (v->loop == LOOP_FORALL) {
        cpu_forall_specialise(v, p);
        return;
    }
    for (int k = 0; k < variant_operands(v); k++)
        v->operand[k].fixed = v->operand[k].align = 0;
    if (p->layout) {
        specialise_calls(v, p->layout, p->core, p->traits);
        choose_sizes(v, p);
        choose_strips(v, p);
        choose_groups(v, p);
        v->gufunc.lanes = v->gufunc.columns || v->gufunc.unrolled || v->gufunc.strips ? 0 : lanes_of_rows(v, p);
    }
    if (v->loop == LOOP_TILE)
        specialise_tile(v, p->loop, p->traits);
    if ((v->loop == LOOP_ROWS || v->loop == LOOP_GENERAL) && !v->masked && !v->reports)
        fix_strides(v, p->loop);
    for (int j = 0; j < v->nindices; j++)
        v->operand[variant_index(v) + j].unit = p->indexed[2 * j + 1] == 1;
    if (v->loop == LOOP_FLAT)
        choose_lines(v, p);
    v->ndim = (uint8_t)(p->loop->ndim < 2 ? p->loop->ndim : 2);
    v->wide = 0;
    for (int k = 0, count = variant_operands(v); k < count; k++) {
        variant_operand *o = &v->operand[k];
        if (o->kind != OPERAND_INTERLEAVED)
            o->group = o->offset = 0; /* only strides that LLVM knows make vectors */
    }
}

static int64_t cpu_specialise_fold(variant *v, const fold_problem *s) {
    if (v->loop == LOOP_FOLD)
        return cpu_fold_specialise(v, s);
    cpu_scan_specialise(v, s);
    return 0;
}

enum {
    ALIGN = 64,
    HUGE_PAGE = 2 << 20
};

/* The word before the block that is given out has the address of the one that mem_alloc gave. */
static uf_status cpu_alloc(DLDevice device, size_t size, void **out) {
    (void)device;
    *out = NULL;
    size_t align = size >= 2 * (size_t)HUGE_PAGE ? HUGE_PAGE : ALIGN;
    char *raw = size <= SIZE_MAX - align - sizeof(void *) ? mem_alloc(size + align + sizeof(void *)) : NULL;
    if (!raw)
        return fail_memory();
    uintptr_t at = ((uintptr_t)raw + sizeof(void *) + align - 1) / align * align;
    memcpy((char *)at - sizeof raw, &raw, sizeof raw);
    if (align == HUGE_PAGE)
        /* Only a hint: with small pages everything works as well. */
        madvise((void *)at, size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    *out = (void *)at;
    return UF_OK;
}

static void cpu_free(DLDevice device, void *block) {
    (void)device;
    void *raw;
    if (!block)
        return;
    memcpy(&raw, (char *)block - sizeof raw, sizeof raw);
    mem_free(raw);
}

static uf_status cpu_scratch(int device, size_t size, void *stream, void **out) {
    (void)stream;
    return cpu_alloc((DLDevice){kDLCPU, device}, size, out);
}

static void cpu_scratch_free(int device, void *block, void *stream) {
    (void)stream;
    cpu_free((DLDevice){kDLCPU, device}, block);
}

static uf_status cpu_copy(int device, void *dst, const void *src, size_t size, void *stream, bool wait) {
    (void)device, (void)stream, (void)wait;
    if (size)
        memcpy(dst, src, size);
    return UF_OK;
}

static uf_status cpu_sync(int device, void *stream) {
    (void)device, (void)stream;
    return UF_OK;
}

/* Writes a message of several lines, with the later ones indented like the first. */
static void add_indented(text *out, const char *message) {
    for (const char *line = message, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        text_printf(out, "%s%.*s", line == message ? "" : "               ", (int)(end - line), line);
    }
    text_puts(out, "\n");
}

static void cpu_info(text *out) {
    const llvm *l;
    text_printf(out, "CPU\n  threads      %d\n  vectors      %d bits\n", cpu_count(), host_vector_bits());
    if (llvm_open(&l)) {
        text_puts(out, "  libLLVM      missing: ");
        add_indented(out, uf_last_error()->message);
    } else {
        text_printf(out, "  libLLVM      %s, %s\n  host         %s, %s\n", l->version, l->path, l->cpu, l->triple);
    }
    perf_info(out);
    const char *why;
    void *libmvec = library_load("libmvec.so.1", 0, &why);
    text_printf(out, "  libmvec      %s\n",
                libmvec ? "present" : "missing: most math functions run one element at a time");
    if (libmvec)
        dlclose(libmvec);
    blas_info(out);
}

const engine cpu_engine = {
    .name = "cpu",
    .target = cpu_target,
    .specialise = cpu_specialise,
    .tile_narrow = cpu_tile_narrow,
    .segments_inside = 32, /* a launch for each line takes as long as some of them */
    .specialise_fold = cpu_specialise_fold,
    .compile = cpu_compile,
    .release = cpu_release,
    .takes = blas_takes,
    .launch = cpu_launch,
    .keep = cpu_keep,
    .repeat = cpu_repeat,
    .few_lines = UNROLLED_SHORT,
    .lapack_pays = lapack_pays,
    .lapack_open = lapack_open,
    .lapack_run = cpu_lapack_run,
    .lapack_most = (size_t)1 << 26,
    .launch_info = cpu_launch_info,
    .inspect = cpu_inspect,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .scratch = cpu_scratch,
    .scratch_free = cpu_scratch_free,
    .copy = cpu_copy,
    .sync = cpu_sync,
    .info = cpu_info,
};
