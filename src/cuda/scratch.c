/* scratch.c - memory for a call's own use: the piece of the library's that belongs to the stream, or memory that is
 * allocated in stream order. */
#include <pthread.h>

#include "cuda/code.h"

/* ---- Memory in stream order, within a context of the device ---- */

static uf_status stream_alloc(const cuda_device *d, size_t size, cu_stream stream, cu_pointer *out) {
    if (d->pools)
        CU(cuMemAllocAsync, out, size, stream);
    else
        CU(cuMemAlloc, out, size);
    return UF_OK;
}

static void stream_free(const cuda_device *d, cu_pointer block, cu_stream stream) {
    if (d->pools) {
        cuda.cuMemFreeAsync(block, stream);
    } else {
        cuda.cuStreamSynchronize(stream);
        cuda.cuMemFree(block);
    }
}

/* ---- Pieces ----
 *
 * A piece is allocated, grown and used in the order of its stream, and held by one call at a time: what that call
 * enqueues comes after everything that earlier calls enqueued. A third call at the same time on the same stream, or a
 * call in a capture, gets memory that is allocated in stream order. The driver never uses the id of a stream twice. So
 * a stream that is gone leaves a piece behind that nobody takes; when the table is full, rows that were not used for
 * long are cleared. */

enum {
    PIECES = 64,
    /* The first rows are for contexts other than the primary one, which take no others: a context that is destroyed
     * leaves its rows behind for good. */
    PIECES_FOREIGN = 16,
    /* Pieces of one stream: a call's own, and that of a call which it makes meanwhile, as programs of linear algebra do. */
    PIECES_STREAM = 2,
    /* How many pieces are taken from one search for unused ones to the next. */
    PIECE_PERIOD = 4096
};

#define PIECE_LEAST ((size_t)1 << 20)
#define PIECE_MOST ((size_t)64 << 20)

typedef struct piece {
    /* The ids of both; context 0 is the primary one. */
    uint64_t context, stream;
    /* The number of the take when it was last taken; 0: the row is free. */
    uint64_t taken;
    cu_pointer block;
    size_t size;
    /* Only who holds a piece changes it; its block and size also need the lock. */
    bool held;
} piece;

struct cuda_pieces {
    /* looked: the number of the take when unused pieces were last searched for. */
    uint64_t takes, looked;
    piece row[PIECES];
};

static pthread_mutex_t pieces_lock = PTHREAD_MUTEX_INITIALIZER;

/* A piece of the stream's that no call holds, or a free row if the stream may have one more. NULL: there is neither; full: for want of
 * rows. */
static piece *piece_find(struct cuda_pieces *all, uint64_t context, uint64_t stream, bool *full) {
    piece *spare = NULL;
    int end = context ? PIECES_FOREIGN : PIECES, held = 0;
    *full = false;
    for (int i = context ? 0 : PIECES_FOREIGN; i < end; i++) {
        piece *p = &all->row[i];
        if (!p->taken)
            spare = spare ? spare : p;
        else if (p->stream == stream && p->context == context && !p->held)
            return p;
        else
            held += p->stream == stream && p->context == context;
    }
    *full = !spare && held < PIECES_STREAM;
    return held < PIECES_STREAM ? spare : NULL;
}

/* Holds the piece of a stream. NULL: another call holds it, or the table is full, which *full says. */
static piece *piece_hold(struct cuda_pieces *all, uint64_t context, uint64_t stream, bool *full) {
    pthread_mutex_lock(&pieces_lock);
    piece *p = piece_find(all, context, stream, full);
    all->takes++;
    if (p) {
        p->context = context;
        p->stream = stream;
        p->taken = all->takes;
        p->held = true;
    }
    pthread_mutex_unlock(&pieces_lock);
    return p;
}

/* Sets a piece that is held. Without a block the row becomes free. */
static void piece_set(piece *p, cu_pointer block, size_t size, bool held) {
    pthread_mutex_lock(&pieces_lock);
    p->block = block;
    p->size = size;
    p->held = held;
    if (!held && !block)
        p->taken = 0;
    pthread_mutex_unlock(&pieces_lock);
}

/* Holds the pieces of a context that were not taken since the last search for such, if that is PIECE_PERIOD takes
 * ago. The number of them. */
static int hold_unused(struct cuda_pieces *all, uint64_t context, piece **out) {
    int n = 0;
    pthread_mutex_lock(&pieces_lock);
    bool due = all->takes - all->looked >= PIECE_PERIOD;
    for (int i = 0; due && i < PIECES; i++) {
        piece *p = &all->row[i];
        if (p->taken && p->taken <= all->looked && !p->held && p->context == context) {
            p->held = true;
            out[n++] = p;
        }
    }
    if (due)
        all->looked = all->takes;
    pthread_mutex_unlock(&pieces_lock);
    return n;
}

/* Frees pieces of the current context that are not used any more. Their streams may be gone, so the context is
 * waited for, which is not possible while it is being captured. True if rows became free. */
static bool pieces_clear(struct cuda_pieces *all, uint64_t context) {
    piece *unused[PIECES];
    int n = hold_unused(all, context, unused), mode = CU_MODE_RELAXED;
    if (!n)
        return false;
    bool relaxed = !cuda.cuThreadExchangeStreamCaptureMode(&mode), done = relaxed && context_drain();
    for (int i = 0; i < n; i++) {
        if (done)
            cuda.cuMemFree(unused[i]->block);
        piece_set(unused[i], done ? 0 : unused[i]->block, done ? 0 : unused[i]->size, false);
    }
    if (relaxed)
        cuda.cuThreadExchangeStreamCaptureMode(&mode);
    return done;
}

static uf_status pieces_of(cuda_device *d, struct cuda_pieces **out) {
    pthread_mutex_lock(&pieces_lock);
    if (!d->pieces)
        d->pieces = mem_zero(1, sizeof *d->pieces);
    *out = d->pieces;
    pthread_mutex_unlock(&pieces_lock);
    return *out ? UF_OK : fail_memory();
}

static uf_status piece_grow(const cuda_device *d, piece *p, size_t size, cu_stream stream) {
    cu_pointer block = 0, old = p->block;
    size_t now = PIECE_LEAST;
    while (now < size)
        now *= 2;
    piece_set(p, 0, 0, true);
    if (old)
        stream_free(d, old, stream);
    uf_status s = stream_alloc(d, now, stream, &block);
    piece_set(p, s ? 0 : block, s ? 0 : now, !s);
    return s;
}

/* Takes the stream's piece into *out; it stays empty if there is no piece that the call can have. */
static uf_status piece_take(cuda_device *d, cu_context context, size_t size, cu_stream stream, stream_memory *out) {
    int capturing = 0;
    bool full;
    uint64_t context_id = 0;
    struct cuda_pieces *all;
    if (size > PIECE_MOST)
        return UF_OK;
    CU(cuStreamIsCapturing, stream, &capturing);
    if (capturing)
        return UF_OK;
    CU(cuStreamGetId, stream, &out->stream);
    if (context != atomic_load_explicit(&d->primary, memory_order_relaxed))
        CU(cuCtxGetId, context, &context_id);
    TRY(pieces_of(d, &all));
    piece *p = piece_hold(all, context_id, out->stream, &full);
    if (full && pieces_clear(all, context_id))
        p = piece_hold(all, context_id, out->stream, &full);
    if (p && p->size < size)
        TRY(piece_grow(d, p, size, stream));
    out->piece = p;
    out->block = p ? p->block : 0;
    return UF_OK;
}

static void piece_give(piece *p) {
    pthread_mutex_lock(&pieces_lock);
    p->held = false;
    pthread_mutex_unlock(&pieces_lock);
}

/* The piece that a block is; NULL: it is none. */
static piece *piece_of(const cuda_device *d, cu_pointer block) {
    piece *found = NULL;
    pthread_mutex_lock(&pieces_lock);
    for (int i = 0; d->pieces && i < PIECES && !found; i++)
        if (d->pieces->row[i].held && d->pieces->row[i].block == block)
            found = &d->pieces->row[i];
    pthread_mutex_unlock(&pieces_lock);
    return found;
}

uf_status scratch_hold(cuda_device *d, const cuda_scope *scope, size_t size, cu_stream stream, stream_memory *out) {
    *out = (stream_memory){0};
    TRY(piece_take(d, scope->context, size, stream, out));
    return out->piece ? UF_OK : stream_alloc(d, size, stream, &out->block);
}

void scratch_release(const cuda_device *d, const stream_memory *m, cu_stream stream) {
    if (m->piece)
        piece_give(m->piece);
    else
        stream_free(d, m->block, stream);
}

uf_status memory_scratch(int device, size_t size, void *stream, void **out) {
    cuda_device *d;
    cuda_scope scope;
    stream_memory m = {0};
    *out = NULL;
    TRY(cuda_device_get(device, &d));
    TRY(cuda_enter(d, &scope));
    uf_status s = scratch_hold(d, &scope, size ? size : 1, stream, &m);
    cuda_leave(&scope);
    *out = (void *)(uintptr_t)m.block;
    return s;
}

void memory_scratch_free(int device, void *block, void *stream) {
    cuda_device *d;
    cuda_scope scope;
    if (!block || cuda_device_get(device, &d))
        return;
    stream_memory m = {.block = (uintptr_t)block, .piece = piece_of(d, (uintptr_t)block)};
    if (m.piece) {
        piece_give(m.piece);
    } else if (!cuda_enter(d, &scope)) {
        stream_free(d, m.block, stream);
        cuda_leave(&scope);
    }
}
