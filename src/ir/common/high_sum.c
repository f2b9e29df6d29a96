/* high_sum.c - the upper half of x y + z, of integers without signs of 32 or 64 bits, where z has twice as many: on the CPU, for loops of vectors.
 *
 * Vectors have products of the lower halves of lanes of 64 bits. Of 32 bits LLVM would extend the factors of a vector to two vectors of such lanes,
 * and put halves of these together again, which are half of the instructions. But lanes in even places need nothing, and those in odd places
 * a shift, so that is written as a function of whole vectors. Of 64 bits the product is made of four. */
#include "ir/common/internal.h"
#include "ir/common/target.h"

/* ---- 32 bits ---- */

/* <first, first + width, first + 2, first + 2 + width ..>: of two vectors the lanes in even places, or in odd ones, by turns */
static ssa interleave(emit *e, int width, int first, ssa a, ssa b) {
    text places = {0};
    for (int i = 0; i < width; i++)
        text_printf(&places, "%si32 %d", i ? ", " : "", first + (i & ~1) + (i & 1) * width);
    e->failed |= places.failed;
    ssa r = emit_value(e, "shufflevector <%d x i32> %s, <%d x i32> %s, <%d x i32> <%s>", width, a.text, width, b.text,
                       width, places.failed ? "" : places.data);
    text_free(&places);
    return r;
}

static ssa cast(emit *e, int width, ssa a, bool doubled) {
    return doubled ? emit_value(e, "bitcast <%d x i32> %s to <%d x i64>", width, a.text, width / 2)
                   : emit_value(e, "bitcast <%d x i64> %s to <%d x i32>", width / 2, a.text, width);
}

/* a op b, in lanes of 64 bits */
static ssa doubled(emit *e, const char *operator, int width, ssa a, ssa b) {
    return emit_value(e, "%s <%d x i64> %s, %s", operator, width / 2, a.text, b.text);
}

static ssa constant(emit *e, int width, uint64_t x) {
    return emit_value(e, "shufflevector <1 x i64> <i64 %llu>, <1 x i64> undef, <%d x i32> zeroinitializer",
                      (unsigned long long)x, width / 2);
}

/* Of factors %x0 and %x1 and the halves %x2 and %x3 of what is added. */
static void define_vector(emit *e, const char *name, int width) {
    definition s;
    if (!emit_define(
            e, &s,
            "define internal <%d x i32> @%s(<%d x i32> %%x0, <%d x i32> %%x1, <%d x i32> %%x2, <%d x i32> %%x3) "
            "nounwind readnone alwaysinline",
            width, name, width, width, width, width))
        return;
    ssa low = constant(e, width, UINT32_MAX), half = constant(e, width, 32);
    ssa x = cast(e, width, ssa_named("%%x0"), true);
    ssa y = doubled(e, "and", width, cast(e, width, ssa_named("%%x1"), true), low);
    ssa z = cast(e, width, interleave(e, width, 0, ssa_named("%%x2"), ssa_named("%%x3")), true);
    ssa sums[] = {doubled(e, "and", width, x, low), doubled(e, "lshr", width, x, half)};
    for (int i = 0; i < 2; i++)
        sums[i] = cast(e, width, doubled(e, "add", width, doubled(e, "mul", width, sums[i], y), z), false);
    emit_line(e, "ret <%d x i32> %s", width, interleave(e, width, 1, sums[0], sums[1]).text);
    emit_define_end(e, &s);
}

/* Of what a vector loop leaves over: under the head that emit_form_call has for it, which then writes none. */
static void define_scalar(emit *e, const char *name) {
    definition s;
    if (!emit_define(
            e, &s, "define internal i32 @%s(i32 %%x0, i32 %%x1, i32 %%x2, i32 %%x3) noinline nounwind readnone", name))
        return;
    ssa x[4];
    for (int i = 0; i < 4; i++)
        x[i] = emit_value(e, "zext i32 %%x%d to i64", i);
    ssa z = emit_op(e, "or i64", x[2], emit_value(e, "shl i64 %s, 32", x[3].text));
    ssa sum = emit_op(e, "add i64", emit_op(e, "mul i64", x[0], x[1]), z);
    ssa high = emit_value(e, "lshr i64 %s, 32", sum.text);
    emit_line(e, "ret i32 %s", emit_value(e, "trunc i64 %s to i32", high.text).text);
    emit_define_end(e, &s);
}

static ssa high_sum_32(emit *e, const ssa args[4]) {
    static const char vector[] = "high_sums", scalar[] = "high_sum";
    char isa;
    define_vector(e, vector, target_lanes(e->target, DT_INT32, &isa));
    define_scalar(e, scalar);
    return emit_form_call(e, scalar, vector, DT_INT32, 4, args);
}

/* ---- 64 bits ---- */

static ssa high_sum_64(emit *e, const ssa args[4]) {
    ssa lower[3], upper[3];
    for (int i = 0; i < 3; i++) {
        lower[i] = emit_value(e, "and i64 %s, %llu", args[i].text, (unsigned long long)UINT32_MAX);
        upper[i] = emit_value(e, "lshr i64 %s, 32", args[i].text);
    }
    ssa first = emit_op(e, "add i64", emit_op(e, "mul i64", lower[0], lower[1]), lower[2]);
    ssa second = emit_op(e, "add i64", emit_op(e, "mul i64", upper[0], lower[1]), upper[2]);
    second = emit_op(e, "add i64", second, emit_value(e, "lshr i64 %s, 32", first.text));
    ssa third = emit_value(e, "and i64 %s, %llu", second.text, (unsigned long long)UINT32_MAX);
    third = emit_op(e, "add i64", emit_op(e, "mul i64", lower[0], upper[1]), third);
    ssa sum = emit_op(e, "add i64", emit_op(e, "mul i64", upper[0], upper[1]), args[3]);
    sum = emit_op(e, "add i64", sum, emit_value(e, "lshr i64 %s, 32", second.text));
    return emit_op(e, "add i64", sum, emit_value(e, "lshr i64 %s, 32", third.text));
}

ssa emit_high_sum(emit *e, int bits, ssa x, ssa y, ssa low, ssa high) {
    const ssa args[] = {x, y, low, high};
    return bits == 32 ? high_sum_32(e, args) : high_sum_64(e, args);
}
