/* gufunc_work.c - what inner calls do and read, as the traits of their constructs and the cores say: what the choice of a variant asks. */
#include "gpu/calls.h"

enum {
    GRID_WORK = 1 << 18 /* iterations of a call that are worth several blocks, if there are few calls */
};

/* ---- Vectors ---- */

/* Is operand k moved along its unit dimension by the range that goes by vectors? */
bool is_by_vectors(const variant *v, const code_traits *traits, int k) {
    int unit = v->operand[k].unit;
    for (int i = 0; i < traits->nconstructs && unit; i++) {
        const code_construct *x = &traits->construct[i];
        for (int j = 0; j < x->naccesses; j++) {
            const code_access *a = &x->access[j];
            if (a->operand == k && (x->nested && !v->gufunc.along ? a->inner : a->outer) == unit)
                return true;
        }
    }
    return false;
}

/* Bytes of the widest element that is moved by vectors; 0: none is. */
int widest_by_vectors(const cores *c, const code_traits *traits) {
    int widest = 0;
    for (int k = 0; k < variant_operands(c->v); k++)
        if (is_by_vectors(c->v, traits, k) && element_size(c->v, k) > widest)
            widest = element_size(c->v, k);
    return widest;
}

/* Bytes of the widest array in one vector. */
int vector_bytes(const variant *v) {
    int widest = 1;
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind != OPERAND_NUMBER && element_size(v, k) > widest)
            widest = element_size(v, k);
    return widest * v->gufunc.vector;
}

void set_repeat(variant *v, int repeat, int copies) {
    while (repeat > 1 && repeat * v->gufunc.vector > copies)
        repeat /= 2;
    v->gufunc.steps = (uint8_t)repeat;
}

/* ---- Work ---- */

/* Have all calls the same core in every operand with this dimension, which has no other one? */
static bool is_shared(const cores *c, int dimension) {
    for (int k = 0; k < c->layout->nin + c->layout->nout; k++)
        for (int i = 0; i < rank_of(c, k); i++) {
            bool has = c->layout->operands[k].dim[i] == dimension;
            if (has && rank_of(c, k) > 1)
                return false;
            for (int d = 0; d < c->loop->ndim && has; d++)
                if (c->loop->extent[d] > 1 && stride_of(c->loop, d, k))
                    return false;
        }
    return c->loop->count > 0;
}

/* Ranges over something else than a dimension, whose extents are data, count as much as the largest dimension; or, if all calls share
 * that, as the rows of a sparse matrix share its elements, as much as each call has of it in the mean. */
static int64_t range_extent(const cores *c, int dimension) {
    int largest = 0;
    if (dimension >= 0)
        return c->core[dimension];
    for (int d = 1; d < c->layout->ndims; d++)
        if (c->core[d] > c->core[largest])
            largest = d;
    if (!c->layout->ndims || c->core[largest] < 1)
        return 1;
    return is_shared(c, largest) ? (c->core[largest] - 1) / c->loop->count + 1 : c->core[largest];
}

static work measure(const cores *c, const code_construct *x) {
    work w = {.construct = x, .rows = 1, .last = 1, .length = 1};
    for (int i = 0; i + 1 < x->nouter; i++)
        w.rows = times(w.rows, range_extent(c, x->outer[i]));
    if (x->nouter)
        w.last = range_extent(c, x->outer[x->nouter - 1]);
    for (int i = 0; i < x->ninner && x->nested; i++)
        w.length = times(w.length, range_extent(c, x->inner[i]));
    w.all = times(times(w.rows, w.last), w.length);
    return w;
}

work find_work(const cores *c, const code_traits *traits) {
    work most = measure(c, &traits->construct[0]);
    for (int i = 1; i < traits->nconstructs; i++) {
        work w = measure(c, &traits->construct[i]);
        if (w.all > most.all)
            most = w;
    }
    return most;
}

/* Copies of the body that a thread may have. */
int copies_most(const code_traits *traits, const work *w) {
    int nodes = w->construct->nodes;
    if (nodes == UINT8_MAX && traits->nodes > nodes)
        nodes = traits->nodes;
    return nodes < BODY_NODES_MAX ? BODY_NODES_MAX / (nodes > 0 ? nodes : 1) : 1;
}

/* Several blocks a call: where it is much work and calls are few, or where a block would read its core from far away for
 * each construct again. */
bool wants_grid(const cores *c, const code_traits *traits, const work *w) {
    return (w->all >= GRID_WORK && c->loop->count < GRID_CALLS) ||
           (traits->nconstructs > 1 && core_total(c, false) > BLOCK_CORE);
}

/* Do the traits tell of every construct? Of so many there may be more. */
bool knows_all(const code_traits *traits) { return traits->nconstructs < CODE_CONSTRUCTS; }

/* The core dimension that all constructs go along, and along nothing else; -1: there is none. */
int one_range(const code_traits *traits) {
    int d = knows_all(traits) ? traits->construct[0].outer[0] : -1;
    for (int i = 0; i < traits->nconstructs; i++) {
        const code_construct *x = &traits->construct[i];
        if (x->nested || x->nouter != 1 || x->outer[0] != d)
            return -1;
    }
    return d;
}

/* ---- Inputs that are staged whole ---- */

/* Constructs that read operand k. */
int readers(const code_traits *traits, int k) {
    int n = 0;
    for (int i = 0; i < traits->nconstructs; i++) {
        bool reads = false;
        for (int j = 0; j < traits->construct[i].naccesses; j++)
            reads |= traits->construct[i].access[j].operand == k;
        n += reads;
    }
    return n;
}

/* Is there an array that is read once, as weights are? */
bool reads_once(const cores *c, const code_traits *traits) {
    bool any = false;
    for (int k = 0; k < c->v->nin; k++)
        any |= rank_of(c, k) && readers(traits, k) == 1;
    return any;
}

bool reads_often(const cores *c, const code_traits *traits, int k) {
    return k < c->v->nin && rank_of(c, k) == 1 && readers(traits, k) > 1;
}

static bool may_stage(const cores *c, const code_traits *traits, int k) {
    const variant_operand *o = &c->v->operand[k];
    return reads_often(c, traits, k) && (c->v->gufunc.across || (o->unit && !o->shifted));
}

int64_t whole_bytes(const cores *c, const code_traits *traits) {
    int64_t bytes = 0;
    for (int k = 0; k < c->v->nin; k++)
        if (may_stage(c, traits, k))
            bytes = plus(bytes, whole_part(c, k, 1));
    return bytes;
}

void stage_whole(const cores *c, variant *v, const code_traits *traits) {
    for (int k = 0; k < v->nin; k++) {
        v->operand[k].staged = may_stage(c, traits, k);
        if (v->operand[k].staged && v->gufunc.across)
            v->operand[k].unit = 0; /* in shared memory neighbours are those of neighbouring calls */
    }
}

int64_t shared_most(const loop_problem *s) {
    return (s->shared > SHARED_FREE ? s->shared : SHARED_FREE) - WHOLE_RESERVED;
}

/* Bytes of the smallest element. */
int smallest(const cores *c) {
    int bytes = SECTOR;
    for (int k = 0; k < c->layout->nin + c->layout->nout; k++)
        if (rank_of(c, k) && element_size(c->v, k) < bytes)
            bytes = element_size(c->v, k);
    return bytes;
}

/* ---- Inputs that are held in registers ---- */

/* May threads hold parts of operand k, where all constructs go over that dimension? It has no other one, whose elements that index might not
 * reach, or not only. */
bool may_hold(const cores *c, const code_traits *traits, int k, int dimension) {
    return reads_often(c, traits, k) && c->layout->operands[k].dim[0] == dimension;
}

/* Registers that the elements of index i in all operands that threads may hold take. */
int held_words(const cores *c, const code_traits *traits, int dimension) {
    int words = 0;
    for (int k = 0; k < c->v->nin; k++)
        if (may_hold(c, traits, k, dimension))
            words += element_size(c->v, k) > 4 ? element_size(c->v, k) / 4 : 1;
    return words;
}
