/* whole_line.c - see whole_line.h. */
#include <stdio.h>

#include "ir/common/whole_line.h"

#include "ir/common/nodes.h"

/* Bytes of the pieces that a line is computed and stored by. */
static int piece_of(const emit *e) {
    int bytes = e->target->vector_bits / 8;
    return bytes < 16 ? 16 : bytes > LINE_BYTES ? LINE_BYTES : bytes;
}

ssa whole_line_array(emit *e) { return emit_value(e, "alloca [%d x i8], align %d", LINE_BYTES, LINE_BYTES); }

ssa whole_line_elements(emit *e, ssa array, dtype type) {
    return emit_value(e, "bitcast [%d x i8]* %s to %s*", LINE_BYTES, array.text, ir_memory_type(type));
}

void whole_line_hints(emit *e, int size, int hints[WHOLE_LINE_HINTS]) {
    int piece = piece_of(e);
    hints[0] = emit_metadata(e, "!{!\"llvm.loop.vectorize.width\", i32 %d}", piece / size);
    hints[1] = emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 %d}", LINE_BYTES / piece);
    hints[2] = loop_no_unroll(e);
    e->module->outer_vectors = true; /* the passes that remove loops of one iteration, and then arrays */
}

void whole_line_store(emit *e, ssa array, dtype type, ssa to) {
    int piece = piece_of(e), past = emit_metadata(e, "!{i32 1}");
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
