/* pieces.c - a call in pieces along the outer dimensions of its outputs, so that its progress is seen. Each element is computed as in one
 * call; methods say where that is so. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

enum {
    FIRST = 1 << 14,  /* elements that the first piece has or reads, at most, */
    FIRST_SHARE = 64, /* and of the whole */
    MASK = UF_MAX_OPERANDS
};

typedef struct pieces {
    call *c;
    const method *m;
    DLTensor whole[UF_MAX_OPERANDS + 1]; /* the arguments, and the mask */
    DLTensor mask;                       /* that of the piece */
    int64_t shapes[UF_MAX_OPERANDS + 1][UF_MAX_NDIM], strides[UF_MAX_OPERANDS + 1][UF_MAX_NDIM]; /* of the piece */
    int rank;
    int64_t start[UF_MAX_NDIM], count[UF_MAX_NDIM]; /* the piece, in the outputs */
    int64_t most;                                   /* elements of the next piece */
    int64_t weight;                                 /* elements that one of the outputs stands for */
} pieces;

int trailing_dimension(const call *c, int ndim, int d) {
    int own = d - (c->args[c->nin].ndim - ndim);
    return own < 0 ? -1 : own;
}

static int own_dimension(const pieces *p, int k, int d) {
    const int ndim = p->whole[k].ndim;
    return k >= p->c->nin && k != MASK ? trailing_dimension(p->c, ndim, d)
                                       : p->m->dimension(p->c, k == MASK ? -1 : k, ndim, d);
}

/* The part of an argument that a piece needs. Numbers stay as they are, and so do dimensions that broadcast. */
static DLTensor view(pieces *p, int k) {
    DLTensor t = p->whole[k];
    int64_t stride = 1;
    if (!t.ndim)
        return t;
    for (int j = t.ndim; j-- > 0; stride *= t.shape[j]) {
        p->shapes[k][j] = t.shape[j];
        p->strides[k][j] = t.strides ? t.strides[j] : stride;
    }
    for (int d = 0; d < p->rank; d++) {
        int own = own_dimension(p, k, d);
        if (own < 0 || t.shape[own] == 1)
            continue;
        t.data = (char *)t.data + p->start[d] * p->strides[k][own] * (int64_t)element_bytes(t.dtype);
        p->shapes[k][own] = p->count[d];
    }
    t.shape = p->shapes[k];
    t.strides = p->strides[k];
    return t;
}

static int64_t elements_from(const pieces *p, int d) {
    int64_t n = 1;
    for (; d < p->rank; d++)
        n *= p->count[d];
    return n;
}

/* Computes, also what is enqueued on a device, to its end. */
static uf_status compute(call *c, const method *m) {
    const DLDevice device = c->job->device;
    uf_status s = m->compute(c);
    return s || m->stages || device.device_type == kDLCPU ? s : uf_sync(device, NULL);
}

/* Pieces grow while they take less than a tenth of a second. */
static uf_status run_piece(pieces *p) {
    double begin = seconds_now();
    for (int k = 0; k < p->c->nargs; k++)
        p->c->args[k] = view(p, k);
    if (p->c->mask)
        p->mask = view(p, MASK);
    uf_status s = compute(p->c, p->m);
    double passed = seconds_now() - begin;
    progress_step(elements_from(p, 0) * p->weight);
    if (passed < 0.1)
        p->most *= 2;
    else if (passed > 0.4 && p->most > 1)
        p->most /= 2;
    return s;
}

/* Computes what is left of the outputs from dimension d on. */
static uf_status run_from(pieces *p, int d) {
    uf_status s = UF_OK;
    if (elements_from(p, d) <= p->most)
        return run_piece(p);
    const int64_t extent = p->count[d], rest = elements_from(p, d + 1);
    for (int64_t i = 0; !s && i < extent; i += p->count[d]) {
        int64_t n = p->most / rest > 1 ? p->most / rest : 1;
        p->start[d] = i;
        p->count[d] = n < extent - i ? n : extent - i;
        s = p->count[d] == 1 ? run_from(p, d + 1) : run_piece(p);
    }
    p->start[d] = 0;
    p->count[d] = extent;
    return s;
}

static uf_status run_pieces(pieces *p) {
    call *c = p->c;
    const DLTensor *mask = c->mask, *out = &c->args[c->nin];
    memcpy(p->whole, c->args, sizeof c->args);
    if (mask) {
        p->whole[MASK] = *mask;
        c->mask = &p->mask;
    }
    p->rank = out->ndim;
    memcpy(p->count, out->shape, (size_t)out->ndim * sizeof *p->count);
    uf_status s = run_from(p, 0);
    memcpy(c->args, p->whole, sizeof c->args);
    c->mask = mask;
    return s;
}

/* Only work that is watched is cut, and only if an error does not tell a place in the array. Where --shape says the outputs' shapes,
 * nothing has compared them with those of the inputs before the call does, which must see them whole. */
static bool is_cut(const call *c, const method *m) {
    const function_request *r = &c->job->function;
    return m->is_divisible && m->is_divisible(c) && progress_wanted() && !c->job->nshapes && !r->max_steps &&
           !(r->flags & UF_DEBUG);
}

/* The elements of the largest array. */
static int64_t elements_of(const call *c) {
    int64_t elements = 0;
    for (int k = 0; k < c->nargs; k++) {
        int64_t n = array_elements(&c->args[k]);
        elements = n > elements ? n : elements;
    }
    return elements;
}

uf_status compute_watched(call *c, const method *m) {
    pieces *p = is_cut(c, m) ? calloc(1, sizeof *p) : NULL;
    const int64_t elements = elements_of(c), outputs = p ? array_elements(&c->args[c->nin]) : 0;
    const int64_t weight = outputs ? elements / outputs : 1;
    assert(weight > 0); /* outputs are among the arrays */
    progress_begin("computing", elements, " elements");
    uf_status s;
    if (p) {
        *p = (pieces){.c = c, .m = m, .most = FIRST / weight, .weight = weight};
        p->most = p->most < outputs / FIRST_SHARE ? p->most : outputs / FIRST_SHARE;
        p->most += !p->most;
        s = run_pieces(p);
    } else {
        s = compute(c, m);
    }
    progress_end();
    free(p);
    return s;
}
