/* interleaved.c - fields of neighbouring records between memory and registers. The records are one block of bytes, of which an access takes a
 * piece: 16 bytes, or half of that, and so on, as alignment allows and as fields cover it. In registers a piece is a vector of words, out
 * of which fields are taken, and into which they are put, by shifts; a word is a field's component where all in the piece have 8 bytes,
 * else 4 bytes (less in a smaller piece). Loads take bytes between fields along, but none behind the last one, where memory may end.
 * Stores write the bytes of fields alone. */
#include "ir/common/internal.h"

#include <assert.h>

/* A component of a field of one record. */
typedef struct cell {
    dtype type;
    int at; /* bytes from the block's beginning */
    ssa value;
} cell;

/* The block: its address, typed as memory of `base`, and its cells: of each field in turn, of each record, of a complex number two. */
typedef struct block {
    emit *e;
    dtype base;
    ssa pointer;
    int ncells, end; /* the byte behind the last cell */
    cell *cells;
} block;

static int cell_size(const cell *c) { return dtypes[c->type].size; }

static block block_of(emit *e, const interleaved *r, dtype base, ssa pointer) {
    block b = {.e = e, .base = base, .pointer = pointer};
    b.cells = arena_alloc(e->a, (size_t)(2 * r->nfields * r->count) * sizeof *b.cells);
    for (int f = 0; f < r->nfields; f++)
        for (int i = 0; i < r->count; i++)
            for (int part = 0; part < (dtype_is_complex(r->field[f].type) ? 2 : 1); part++) {
                dtype type = (dtype)dtypes[r->field[f].type].component;
                int at = i * r->step + r->field[f].offset + part * dtypes[type].size;
                assert(at % dtypes[type].size == 0);
                b.cells[b.ncells++] = (cell){.type = type, .at = at};
                b.end = at + dtypes[type].size > b.end ? at + dtypes[type].size : b.end;
            }
    return b;
}

/* Does the cell lie in the piece of so many bytes from `at` on? */
static bool lies_in(const cell *c, int at, int bytes) { return c->at < at + bytes && at < c->at + cell_size(c); }

/* How many bytes of a piece, of at most 16, cells cover. */
static int covered(const block *b, int at, int bytes) {
    unsigned mask = 0;
    for (int i = 0; i < b->ncells; i++)
        for (int j = 0; j < cell_size(&b->cells[i]) && lies_in(&b->cells[i], at, bytes); j++)
            if (b->cells[i].at + j >= at && b->cells[i].at + j < at + bytes)
                mask |= 1u << (b->cells[i].at + j - at);
    return __builtin_popcount(mask);
}

/* ---- Words ---- */

/* How a piece lies in registers: words of so many bytes. */
typedef struct piece {
    int at, bytes, word, words;
    fragment type; /* "i64", "<4 x i32>" */
} piece;

static piece piece_of(const block *b, int at, int bytes) {
    int smallest = bytes;
    for (int i = 0; i < b->ncells; i++)
        if (lies_in(&b->cells[i], at, bytes) && cell_size(&b->cells[i]) < smallest)
            smallest = cell_size(&b->cells[i]);
    int word = smallest == 8 ? 8 : bytes < 4 ? bytes : 4;
    piece p = {.at = at, .bytes = bytes, .word = word, .words = bytes / word};
    p.type = p.words > 1 ? fragment_of("<%d x i%d>", p.words, 8 * word) : fragment_of("i%d", 8 * word);
    return p;
}

static ssa piece_pointer(const block *b, const piece *p) {
    ssa at = emit_field(b->e, b->base, b->pointer, p->at, DT_INT8);
    return emit_pointer_as(b->e, ir_memory_type(DT_INT8), at, p->type.text);
}

static ssa wide_word(emit *e, ssa low, ssa high) {
    ssa up = emit_value(e, "shl i64 %s, 32", emit_widen(e, high).text);
    return emit_op(e, "or i64", emit_widen(e, low), up);
}

/* A cell's value out of the words of its piece. */
static ssa cell_read(emit *e, const cell *c, const piece *p, const ssa *words) {
    int size = cell_size(c), at = c->at - p->at, bits = 8 * size;
    const char *type = ir_memory_type(c->type);
    ssa word = words[at / p->word];
    if (size > p->word) {
        word = wide_word(e, word, words[at / p->word + 1]);
    } else if (size < p->word) {
        if (at % p->word)
            word = emit_value(e, "lshr i%d %s, %d", 8 * p->word, word.text, at % p->word * 8);
        word = emit_value(e, "trunc i%d %s to i%d", 8 * p->word, word.text, bits);
    }
    return type[0] == 'i' ? word : emit_value(e, "bitcast i%d %s to %s", bits, word.text, type);
}

/* Puts it into them; words that are not set hold nothing yet. */
static void cell_write(emit *e, const cell *c, const piece *p, ssa *words) {
    int size = cell_size(c), at = c->at - p->at, bits = 8 * size, place = at / p->word;
    const char *type = ir_memory_type(c->type);
    ssa value = type[0] == 'i' ? c->value : emit_value(e, "bitcast %s %s to i%d", type, c->value.text, bits);
    if (size == p->word) {
        words[place] = value;
    } else if (size > p->word) {
        words[place] = emit_value(e, "trunc i64 %s to i32", value.text);
        value = emit_value(e, "lshr i64 %s, 32", value.text);
        words[place + 1] = emit_value(e, "trunc i64 %s to i32", value.text);
    } else {
        value = emit_value(e, "zext i%d %s to i%d", bits, value.text, 8 * p->word);
        if (at % p->word)
            value = emit_value(e, "shl i%d %s, %d", 8 * p->word, value.text, at % p->word * 8);
        words[place] = ssa_is_set(words[place])
                           ? emit_value(e, "or i%d %s, %s", 8 * p->word, words[place].text, value.text)
                           : value;
    }
}

/* ---- Pieces ---- */

static void load_piece(block *b, int at, int bytes) {
    emit *e = b->e;
    piece p = piece_of(b, at, bytes);
    ssa words[ACCESS_BYTES], all = emit_load_as(e, p.type.text, piece_pointer(b, &p), bytes);
    for (int i = 0; i < p.words; i++)
        words[i] = p.words == 1 ? all : emit_value(e, "extractelement %s %s, i32 %d", p.type.text, all.text, i);
    for (int i = 0; i < b->ncells; i++)
        if (lies_in(&b->cells[i], at, bytes))
            b->cells[i].value = cell_read(e, &b->cells[i], &p, words);
}

static void store_piece(const block *b, int at, int bytes) {
    emit *e = b->e;
    piece p = piece_of(b, at, bytes);
    ssa words[ACCESS_BYTES] = {ssa_none()}, all = ssa_literal("undef");
    for (int i = 0; i < b->ncells; i++)
        if (lies_in(&b->cells[i], at, bytes))
            cell_write(e, &b->cells[i], &p, words);
    for (int i = 0; i < p.words && p.words > 1; i++)
        all = emit_value(e, "insertelement %s %s, i%d %s, i32 %d", p.type.text, all.text, 8 * p.word, words[i].text, i);
    emit_store_as(e, p.type.text, p.words > 1 ? all : words[0], piece_pointer(b, &p), bytes);
}

/* A piece in which one half has nothing, or which reaches beyond the last cell, is loaded by halves. */
static void load_span(block *b, int at, int bytes) {
    int low = covered(b, at, bytes / 2), all = covered(b, at, bytes);
    if (!all)
        return;
    if (bytes > 1 && (low == 0 || low == all || at + bytes > b->end)) {
        load_span(b, at, bytes / 2);
        load_span(b, at + bytes / 2, bytes / 2);
    } else {
        load_piece(b, at, bytes);
    }
}

/* A piece that has gaps is stored by halves. */
static void store_span(const block *b, int at, int bytes) {
    int all = covered(b, at, bytes);
    if (all == bytes) {
        store_piece(b, at, bytes);
    } else if (all) {
        store_span(b, at, bytes / 2);
        store_span(b, at + bytes / 2, bytes / 2);
    }
}

ssa emit_field(emit *e, dtype from, ssa pointer, int offset, dtype to) {
    const char *type = ir_memory_type(from), *wanted = ir_memory_type(to);
    int size = dtypes[dtypes[from].component].size;
    if (offset % size) {
        pointer = emit_pointer_as(e, type, pointer, ir_memory_type(DT_INT8));
        type = ir_memory_type(DT_INT8);
        size = 1;
    }
    if (offset)
        pointer = emit_value(e, "getelementptr inbounds %s, %s%s %s, i64 %d", type, type, ir_global_pointer(e),
                             pointer.text, offset / size);
    return strcmp(type, wanted) ? emit_pointer_as(e, type, pointer, wanted) : pointer;
}

void emit_load_interleaved(emit *e, const interleaved *r, dtype t, ssa pointer, ssa *values) {
    block b = block_of(e, r, t, pointer);
    for (int at = 0; at < b.end; at += r->width)
        load_span(&b, at, r->width);
    const cell *c = b.cells;
    for (int f = 0; f < r->nfields; f++)
        for (int i = 0; i < r->count; i++) {
            bool pair = dtype_is_complex(r->field[f].type);
            ssa parts[2] = {c[0].value, pair ? c[1].value : ssa_none()};
            values[f * r->count + i] = emit_value_of_parts(e, r->field[f].type, parts);
            c += pair ? 2 : 1;
        }
}

void emit_store_interleaved(emit *e, const interleaved *r, dtype t, ssa pointer, const ssa *values) {
    block b = block_of(e, r, t, pointer);
    cell *c = b.cells;
    for (int f = 0; f < r->nfields; f++)
        for (int i = 0; i < r->count; i++) {
            ssa parts[2];
            int n = emit_parts_of(e, r->field[f].type, values[f * r->count + i], parts);
            for (int part = 0; part < n; part++)
                (c++)->value = parts[part];
        }
    for (int at = 0; at < b.end; at += r->width)
        store_span(&b, at, r->width);
}
