/* whole_line.c - see whole_line.h. */
#include <stdio.h>

#include "ir/common/whole_line.h"

#include "ir/common/nodes.h"

enum {
    WORD = 4
};

/* x + y of arrays that do not begin at the same place of a line, 48 MB, one thread of a Zen 5 guest, ns an element of float32 and float64: by
 * whole lines 0.24 and 0.48, by halves 0.19 and 0.37; of arrays that do 0.18 and 0.37, and 0.19 and 0.38. Of exp halves take twice as long,
 * and of products of bytes, which are computed in 16 bits, 1.4 times. */
int whole_line_piece(const emit *e, int size, bool little) {
    bool halves = little && size >= WORD && e->target->narrow_lines;
    int bytes = e->target->vector_bits / 8, most = halves ? LINE_BYTES / 2 : LINE_BYTES;
    return bytes < 16 ? 16 : bytes > most ? most : bytes;
}

ssa whole_line_array(emit *e) { return emit_value(e, "alloca [%d x i8], align %d", LINE_BYTES, LINE_BYTES); }

ssa whole_line_elements(emit *e, ssa array, dtype type) {
    return emit_value(e, "bitcast [%d x i8]* %s to %s*", LINE_BYTES, array.text, ir_memory_type(type));
}

void whole_line_hints(emit *e, int size, int piece, int hints[WHOLE_LINE_HINTS]) {
    hints[0] = emit_metadata(e, "!{!\"llvm.loop.vectorize.width\", i32 %d}", piece / size);
    hints[1] = emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 %d}", LINE_BYTES / piece);
    hints[2] = loop_no_unroll(e);
    e->module->outer_vectors = true; /* the passes that remove loops of one iteration, and then arrays */
}

void whole_line_store(emit *e, ssa array, dtype type, int piece, ssa to) {
    int past = emit_metadata(e, "!{i32 1}");
    char v[32];
    snprintf(v, sizeof v, "<%d x i64>", piece / 8);
    ssa from = emit_value(e, "bitcast [%d x i8]* %s to %s*", LINE_BYTES, array.text, v),
        line = emit_value(e, "bitcast %s* %s to %s*", ir_memory_type(type), to.text, v);
    for (int i = 0; i < LINE_BYTES / piece; i++) {
        ssa at = emit_value(e, "getelementptr %s, %s* %s, i64 %d", v, v, from.text, i);
        ssa part = emit_value(e, "load %s, %s* %s, align %d", v, v, at.text, piece);
        at = emit_value(e, "getelementptr %s, %s* %s, i64 %d", v, v, line.text, i);
        emit_line(e, "store %s %s, %s* %s, align %d, !nontemporal !%d", v, part.text, v, at.text, piece, past);
    }
}
