/* lanes.c - values between the lanes of a warp, as 32-bit words; barriers. See lanes.h. */
#include "ir/common/lanes.h"

#include "ir/common/skeleton.h"

enum {
    ALL_LANES = 31 /* clamp of a shuffle over the warp */
};

/* ---- Values as words ---- */

static int scalar_words(emit *e, dtype type, ssa value, ssa *words) {
    const char *t = ir_value_type(type);
    int bits = type == DT_BOOL ? 1 : 8 * dtypes[type].size;
    if (t[0] != 'i')
        value = emit_value(e, "bitcast %s %s to i%d", t, value.text, bits);
    if (bits < 64) {
        words[0] = bits == 32 ? value : emit_value(e, "zext i%d %s to i32", bits, value.text);
        return 1;
    }
    words[0] = emit_value(e, "trunc i64 %s to i32", value.text);
    words[1] = emit_value(e, "trunc i64 %s to i32", emit_value(e, "lshr i64 %s, 32", value.text).text);
    return 2;
}

int lanes_words(emit *e, dtype type, ssa value, ssa *words) {
    if (!dtype_is_complex(type))
        return scalar_words(e, type, value, words);
    dtype part = (dtype)dtypes[type].component;
    int n = scalar_words(e, part, emit_part(e, type, value, 0), words);
    return n + scalar_words(e, part, emit_part(e, type, value, 1), words + n);
}

static ssa scalar_value(emit *e, dtype type, const ssa *words) {
    const char *t = ir_value_type(type);
    int bits = type == DT_BOOL ? 1 : 8 * dtypes[type].size;
    ssa v = words[0];
    if (bits == 64) {
        ssa high = emit_value(e, "shl i64 %s, 32", emit_widen(e, words[1]).text);
        v = emit_value(e, "or i64 %s, %s", emit_widen(e, words[0]).text, high.text);
    } else if (bits < 32) {
        v = emit_value(e, "trunc i32 %s to i%d", v.text, bits);
    }
    return t[0] == 'i' ? v : emit_value(e, "bitcast i%d %s to %s", bits, v.text, t);
}

ssa lanes_value(emit *e, dtype type, const ssa *words) {
    if (!dtype_is_complex(type))
        return scalar_value(e, type, words);
    dtype part = (dtype)dtypes[type].component;
    ssa re = scalar_value(e, part, words), im = scalar_value(e, part, words + dtypes[part].size / 4);
    return emit_complex(e, type, re, im);
}

int lanes_word_count(dtype type) { return dtypes[type].size < 4 ? 1 : dtypes[type].size / 4; }

/* ---- Shuffles ---- */

ssa lanes_mask(emit *e, int lanes) {
    if (lanes == COOP_WARP)
        return ssa_constant(-1);
    ssa first = emit_value(e, "and i32 %s, %d", emit_special_register(e, "tid").text, 31 & ~((1 << lanes) - 1));
    return emit_value(e, "shl i32 %d, %s", (int)((1u << (1 << lanes)) - 1), first.text);
}

static ssa shuffle_word(emit *e, const char *mode, ssa mask, ssa word, ssa by, int lanes) {
    int group = !strcmp(mode, "bfly") ? 0 : (32 - (1 << lanes)) << 8,
        clamp = strcmp(mode, "up") ? group | ALL_LANES : group;
    emit_declare(e, "declare i32 @llvm.nvvm.shfl.sync.%s.i32(i32, i32, i32, i32) convergent nounwind", mode);
    return emit_value(e, "call i32 @llvm.nvvm.shfl.sync.%s.i32(i32 %s, i32 %s, i32 %s, i32 %d)", mode, mask.text,
                      word.text, by.text, clamp);
}

ssa lanes_shuffle(emit *e, const char *mode, ssa mask, dtype type, ssa value, ssa by, int lanes) {
    ssa words[LANE_WORDS];
    int n = lanes_words(e, type, value, words);
    for (int i = 0; i < n; i++)
        words[i] = shuffle_word(e, mode, mask, words[i], by, lanes);
    return lanes_value(e, type, words);
}

ssa lanes_ballot(emit *e, ssa is) {
    emit_declare(e, "declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)");
    return emit_value(e, "call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %s)", is.text);
}

/* ---- Barriers ---- */

void emit_block_barrier(emit *e) {
    emit_declare(e, "declare void @llvm.nvvm.barrier0() convergent nounwind");
    emit_line(e, "call void @llvm.nvvm.barrier0()");
}

void emit_warp_barrier(emit *e, ssa mask) {
    emit_declare(e, "declare void @llvm.nvvm.bar.warp.sync(i32) convergent nounwind");
    emit_line(e, "call void @llvm.nvvm.bar.warp.sync(i32 %s)", mask.text);
}

void emit_device_fence(emit *e) {
    emit_declare(e, "declare void @llvm.nvvm.membar.gl() nounwind");
    emit_line(e, "call void @llvm.nvvm.membar.gl()");
}
