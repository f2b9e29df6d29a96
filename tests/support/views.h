/* views.h - arrays of random strides for tests of calls: permuted, negative, with gaps, in blocks of memory whose other
 * elements are watched. On the host; with UF_TEST_GPU=1 calls get a copy in device memory. */
#ifndef UF_TEST_VIEWS_H
#define UF_TEST_VIEWS_H

#include "ufunc.h"

enum {
    VIEW_RANK = 8
};

typedef struct view {
    DLTensor host; /* what the test reads and writes */
    DLTensor used; /* what calls get */
    int64_t shape[VIEW_RANK], strides[VIEW_RANK];
    char *block;
    int64_t elements; /* of the block */
    DLManagedTensor *memory;
} view;

bool views_on_gpu(void);

/* All of the block is zero. strides NULL one time in four. Aborts when out of memory. */
void view_make(view *v, DLDataType type, int ndim, const int64_t *shape);
/* The same with C-contiguous strides. */
void view_make_plain(view *v, DLDataType type, int ndim, const int64_t *shape);
/* Element of an index that may have more dimensions in front, and broadcasts. */
void *view_at(const view *v, int ndim, const int64_t *index);
/* Copies the block to where calls see it, and back. NULL, or the library's error. */
const char *view_send(view *v);
const char *view_fetch(view *v);
/* A copy of all of it; with the same strides. */
void view_copy(view *to, const view *from);
void view_free(view *v);
/* The next index of a shape, last dimension first; false past the end. */
bool index_next(int ndim, const int64_t *shape, int64_t *index);

#endif
