/* views.c - see views.h. */
#include "views.h"

#include <stdlib.h>
#include <string.h>

#include "draw.h"

bool views_on_gpu(void) {
    const char *wanted = getenv("UF_TEST_GPU");
    return wanted && strcmp(wanted, "1") == 0;
}

static size_t bytes_of(const view *v) { return (size_t)v->elements * (size_t)(v->host.dtype.bits / 8); }

static void *must(void *block) {
    if (!block)
        abort();
    return block;
}

static void set_up(view *v, DLDataType type, int ndim, const int64_t *shape) {
    memset(v, 0, sizeof *v);
    if (ndim)
        memcpy(v->shape, shape, (size_t)ndim * sizeof *shape);
    v->host = (DLTensor){.device = {kDLCPU, 0}, .ndim = ndim, .dtype = type};
}

/* The tensor's pointers are the view's own. */
static void point(view *v, int64_t first, bool strides) {
    v->host.data = v->block + first * (v->host.dtype.bits / 8);
    v->host.shape = v->shape;
    v->host.strides = strides ? v->strides : NULL;
    v->used = v->host;
}

/* Strides of the dimensions in a random order, each past what those before it reach, some backwards. */
static int64_t draw_strides(view *v) {
    int order[VIEW_RANK];
    int64_t reach = 1, first = pick(0, 3);
    for (int d = 0; d < v->host.ndim; d++) {
        int other = (int)pick(0, d);
        order[d] = order[other];
        order[other] = d;
    }
    for (int i = 0; i < v->host.ndim; i++) {
        int d = order[i];
        int64_t stride = reach + (chance(25) ? pick(1, 2) : 0), last = v->shape[d] ? v->shape[d] - 1 : 0;
        bool back = chance(25);
        v->strides[d] = back ? -stride : stride;
        first += back ? stride * last : 0;
        reach += stride * last;
    }
    v->elements = reach + 6;
    return first;
}

void view_make_plain(view *v, DLDataType type, int ndim, const int64_t *shape) {
    set_up(v, type, ndim, shape);
    v->elements = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        v->strides[d] = v->elements;
        v->elements *= shape[d];
    }
    v->elements += 6;
    v->block = must(calloc(1, bytes_of(v)));
    point(v, pick(0, 6), chance(50));
}

void view_make(view *v, DLDataType type, int ndim, const int64_t *shape) {
    if (chance(25)) {
        view_make_plain(v, type, ndim, shape);
        return;
    }
    set_up(v, type, ndim, shape);
    int64_t first = draw_strides(v);
    v->block = must(calloc(1, bytes_of(v)));
    point(v, first, true);
}

void *view_at(const view *v, int ndim, const int64_t *index) {
    int64_t offset = 0;
    for (int d = 0; d < v->host.ndim; d++)
        offset += v->shape[d] == 1 ? 0 : v->strides[d] * index[ndim - v->host.ndim + d];
    return (char *)v->host.data + offset * (v->host.dtype.bits / 8);
}

static DLTensor flat(view *v) {
    return (DLTensor){
        .data = v->block, .device = {kDLCPU, 0}, .ndim = 1, .dtype = v->host.dtype, .shape = &v->elements};
}

const char *view_send(view *v) {
    if (!views_on_gpu())
        return NULL;
    DLTensor all = flat(v);
    int64_t room = (v->elements + 3) / 4 * 4; /* the 4 bytes around the last element are exchanged as a whole */
    if (!v->memory && uf_empty(&v->memory, (DLDevice){kDLCUDA, 0}, all.dtype, 1, &room))
        return uf_last_error()->message;
    v->memory->dl_tensor.shape[0] = v->elements;
    if (uf_copy(&v->memory->dl_tensor, &all, NULL))
        return uf_last_error()->message;
    v->used = v->host;
    v->used.device = v->memory->dl_tensor.device;
    v->used.data = (char *)v->memory->dl_tensor.data + ((char *)v->host.data - v->block);
    return NULL;
}

const char *view_fetch(view *v) {
    if (!v->memory)
        return NULL;
    DLTensor all = flat(v);
    return uf_copy(&all, &v->memory->dl_tensor, NULL) ? uf_last_error()->message : NULL;
}

void view_copy(view *to, const view *from) {
    *to = *from;
    to->memory = NULL;
    to->block = must(malloc(bytes_of(from)));
    memcpy(to->block, from->block, bytes_of(from));
    point(to, ((char *)from->host.data - from->block) / (from->host.dtype.bits / 8), from->host.strides != NULL);
}

void view_free(view *v) {
    if (v->memory)
        v->memory->deleter(v->memory);
    free(v->block);
    memset(v, 0, sizeof *v);
}

bool index_next(int ndim, const int64_t *shape, int64_t *index) {
    for (int d = ndim - 1; d >= 0; d--) {
        if (++index[d] < shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}
