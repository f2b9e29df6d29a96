/* convert.c - constants, and conversions between any two dtypes with kernel C's total semantics: integers wrap, floats
 * truncate and saturate to integers, halves are rounded once. No operation here is ever given an input for which LLVM says
 * poison. Conversions of some length are functions of the module (@float16_of_double), defined at their first use. */
#include <math.h>

#include "ir/common/internal.h"
#include "ir/common/target.h"

#define CONVERSION "nounwind readnone alwaysinline"

/* ---- Constants ---- */

/* LLVM writes a float32 constant as the double of the same value. */
static uint64_t double_bits(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return isnan(d) ? UINT64_C(0x7FF8000000000000) : bits;
}

ssa emit_constant(number value, dtype type) {
    union {
        unsigned char bytes[16];
        bool b;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f[2];
        double d[2];
    } as = {{0}};
    number_write(value, type, as.bytes);
    switch (type) {
    case DT_BOOL:
        return ssa_bool(as.u8);
    case DT_INT8:
    case DT_UINT8:
        return ssa_constant((int8_t)as.u8);
    case DT_INT16:
    case DT_UINT16:
    case DT_FLOAT16:
    case DT_BFLOAT16:
        return ssa_constant((int16_t)as.u16);
    case DT_INT32:
    case DT_UINT32:
        return ssa_constant((int32_t)as.u32);
    case DT_INT64:
    case DT_UINT64:
        return ssa_constant((int64_t)as.u64);
    case DT_FLOAT32:
        return ssa_literal("0x%016llX", (unsigned long long)double_bits((double)as.f[0]));
    case DT_FLOAT64:
        return ssa_literal("0x%016llX", (unsigned long long)double_bits(as.d[0]));
    case DT_COMPLEX64:
        return ssa_literal("{float 0x%016llX,float 0x%016llX}", (unsigned long long)double_bits((double)as.f[0]),
                           (unsigned long long)double_bits((double)as.f[1]));
    case DT_COMPLEX128:
        return ssa_literal("{double 0x%016llX,double 0x%016llX}", (unsigned long long)double_bits(as.d[0]),
                           (unsigned long long)double_bits(as.d[1]));
    default:
        return ssa_literal("undef");
    }
}

/* ---- Complex ---- */

ssa emit_complex(emit *e, dtype type, ssa re, ssa im) {
    const char *pair = ir_value_type(type), *part = ir_memory_type(type);
    ssa half = emit_value(e, "insertvalue %s undef, %s %s, 0", pair, part, re.text);
    return emit_value(e, "insertvalue %s %s, %s %s, 1", pair, half.text, part, im.text);
}

ssa emit_part(emit *e, dtype type, ssa value, int part) {
    return emit_value(e, "extractvalue %s %s, %d", ir_value_type(type), value.text, part);
}

/* ---- Halves ---- */

/* Calls a function of the module of one parameter. */
static ssa call(emit *e, const char *result, const char *name, const char *type, ssa value) {
    return emit_value(e, "call %s @%s(%s %s)", result, name, type, value.text);
}

static bool hardware_float16(const emit *e) { return e->target->gpu || e->target->f16c; }

/* Rounds to nearest even in integers. Subnormals: adding 0.5 puts the unit of float16's subnormals at the end of the
 * fraction. */
static void float16_of_float_software(emit *e) {
    ssa bits = emit_value(e, "bitcast float %%x to i32");
    ssa high = emit_value(e, "lshr i32 %s, 16", bits.text);
    ssa sign = emit_value(e, "and i32 %s, 32768", high.text);
    ssa a = emit_value(e, "and i32 %s, 2147483647", bits.text);
    ssa shifted = emit_value(e, "lshr i32 %s, 13", a.text);
    ssa odd = emit_value(e, "and i32 %s, 1", shifted.text);
    ssa based = emit_value(e, "add i32 %s, %d", a.text, (int)(0xFFF - (112u << 23)));
    ssa rounded = emit_value(e, "add i32 %s, %s", based.text, odd.text);
    ssa normal = emit_value(e, "lshr i32 %s, 13", rounded.text);
    ssa magnitude = emit_value(e, "bitcast i32 %s to float", a.text);
    ssa moved = emit_value(e, "fadd float %s, 5.0e-01", magnitude.text);
    ssa moved_bits = emit_value(e, "bitcast float %s to i32", moved.text);
    ssa small = emit_value(e, "sub i32 %s, %d", moved_bits.text, 0x3F000000);
    ssa is_small = emit_value(e, "icmp ult i32 %s, %d", a.text, 0x38800000);
    ssa finite = emit_value(e, "select i1 %s, i32 %s, i32 %s", is_small.text, small.text, normal.text);
    ssa is_large = emit_value(e, "icmp uge i32 %s, %d", a.text, 0x47800000);
    ssa is_nan = emit_value(e, "icmp ugt i32 %s, %d", a.text, 0x7F800000);
    ssa special = emit_value(e, "select i1 %s, i32 32256, i32 31744", is_nan.text);
    ssa result = emit_value(e, "select i1 %s, i32 %s, i32 %s", is_large.text, special.text, finite.text);
    ssa signed_result = emit_value(e, "or i32 %s, %s", result.text, sign.text);
    ssa half = emit_value(e, "trunc i32 %s to i16", signed_result.text);
    emit_line(e, "ret i16 %s", half.text);
}

static void float_of_float16_software(emit *e) {
    ssa h = emit_value(e, "zext i16 %%x to i32");
    ssa sign_bit = emit_value(e, "and i32 %s, 32768", h.text);
    ssa sign = emit_value(e, "shl i32 %s, 16", sign_bit.text);
    ssa low = emit_value(e, "and i32 %s, 32767", h.text);
    ssa m = emit_value(e, "shl i32 %s, 13", low.text);
    ssa normal = emit_value(e, "add i32 %s, %d", m.text, 112 << 23);
    ssa special = emit_value(e, "or i32 %s, %d", m.text, 0x7F800000);
    ssa based = emit_value(e, "add i32 %s, %d", m.text, 113 << 23);
    ssa based_float = emit_value(e, "bitcast i32 %s to float", based.text);
    ssa small_float = emit_value(e, "fsub float %s, 0x3F10000000000000", based_float.text);
    ssa small = emit_value(e, "bitcast float %s to i32", small_float.text);
    ssa is_special = emit_value(e, "icmp uge i32 %s, 31744", low.text);
    ssa is_small = emit_value(e, "icmp ult i32 %s, 1024", low.text);
    ssa some = emit_value(e, "select i1 %s, i32 %s, i32 %s", is_small.text, small.text, normal.text);
    ssa all = emit_value(e, "select i1 %s, i32 %s, i32 %s", is_special.text, special.text, some.text);
    ssa bits = emit_value(e, "or i32 %s, %s", all.text, sign.text);
    ssa result = emit_value(e, "bitcast i32 %s to float", bits.text);
    emit_line(e, "ret float %s", result.text);
}

static ssa float16_of_float(emit *e, ssa x) {
    if (hardware_float16(e)) {
        ssa half = emit_value(e, "fptrunc float %s to half", x.text);
        return emit_value(e, "bitcast half %s to i16", half.text);
    }
    definition s;
    if (emit_define(e, &s, "define internal i16 @float16_of_float(float %%x) " CONVERSION)) {
        float16_of_float_software(e);
        emit_define_end(e, &s);
    }
    return call(e, "i16", "float16_of_float", "float", x);
}

/* The float32 of a half. LLVM computes and compares in halves what it knows to come from halves, and makes one element at a time of
 * that on a CPU without such instructions. It does not know that the last 13 bits are 0, so clearing them hides where the value is
 * from, for one instruction a vector. */
static ssa unnarrowed(emit *e, ssa x) {
    if (e->target->gpu)
        return x;
    ssa bits = emit_value(e, "bitcast float %s to i32", x.text);
    ssa cleared = emit_value(e, "and i32 %s, -8192", bits.text);
    return emit_value(e, "bitcast i32 %s to float", cleared.text);
}

static ssa float_of_float16(emit *e, ssa x) {
    if (hardware_float16(e)) {
        ssa half = emit_value(e, "bitcast i16 %s to half", x.text);
        return unnarrowed(e, emit_value(e, "fpext half %s to float", half.text));
    }
    definition s;
    if (emit_define(e, &s, "define internal float @float_of_float16(i16 %%x) " CONVERSION)) {
        float_of_float16_software(e);
        emit_define_end(e, &s);
    }
    return call(e, "float", "float_of_float16", "i16", x);
}

enum {
    ARCH_BFLOAT16 =
        80 /* the first whose instructions convert to bfloat16; the intrinsic for it, libNVVM does not know */
};

static ssa bfloat16_of_float(emit *e, ssa x) {
    if (e->target->gpu && e->target->arch >= ARCH_BFLOAT16)
        return emit_value(e, "call i16 asm \"cvt.rn.bf16.f32 $0, $1;\", \"=h,f\"(float %s)", x.text);
    definition s;
    if (emit_define(e, &s, "define internal i16 @bfloat16_of_float(float %%x) " CONVERSION)) {
        ssa bits = emit_value(e, "bitcast float %%x to i32");
        ssa high = emit_value(e, "lshr i32 %s, 16", bits.text);
        ssa odd = emit_value(e, "and i32 %s, 1", high.text);
        ssa half_unit = emit_value(e, "add i32 %s, 32767", odd.text);
        ssa sum = emit_value(e, "add i32 %s, %s", bits.text, half_unit.text);
        ssa rounded = emit_value(e, "lshr i32 %s, 16", sum.text);
        ssa quiet = emit_value(e, "or i32 %s, 64", high.text);
        ssa is_nan = emit_value(e, "fcmp uno float %%x, 0.0");
        ssa result = emit_value(e, "select i1 %s, i32 %s, i32 %s", is_nan.text, quiet.text, rounded.text);
        ssa half = emit_value(e, "trunc i32 %s to i16", result.text);
        emit_line(e, "ret i16 %s", half.text);
        emit_define_end(e, &s);
    }
    return call(e, "i16", "bfloat16_of_float", "float", x);
}

static ssa float_of_bfloat16(emit *e, ssa x) {
    ssa wide = emit_value(e, "zext i16 %s to i32", x.text);
    ssa bits = emit_value(e, "shl i32 %s, 16", wide.text);
    return emit_value(e, "bitcast i32 %s to float", bits.text);
}

/* Two of them at once, by one instruction where there is one: the first is the lower half of the word. */
static void bfloat16s_of_floats(emit *e, const ssa *x, ssa *halves) {
    ssa both = emit_value(e, "call i32 asm \"cvt.rn.bf16x2.f32 $0, $1, $2;\", \"=r,f,f\"(float %s, float %s)",
                          x[1].text, x[0].text);
    both = emit_value(e, "bitcast i32 %s to <2 x i16>", both.text);
    for (int i = 0; i < 2; i++)
        halves[i] = emit_value(e, "extractelement <2 x i16> %s, i32 %d", both.text, i);
}

static ssa half_of_float(emit *e, dtype half, ssa x) {
    return half == DT_FLOAT16 ? float16_of_float(e, x) : bfloat16_of_float(e, x);
}

static ssa float_of_half(emit *e, dtype half, ssa x) {
    return half == DT_FLOAT16 ? float_of_float16(e, x) : float_of_bfloat16(e, x);
}

/* The float32 towards zero, its last bit set if anything was lost: rounding that to a shorter format is rounding once. */
static ssa odd_float_of_double(emit *e, ssa x) {
    definition s;
    if (emit_define(e, &s, "define internal float @odd_float_of_double(double %%x) " CONVERSION)) {
        ssa nearest = emit_value(e, "fptrunc double %%x to float");
        ssa bits = emit_value(e, "bitcast float %s to i32", nearest.text);
        ssa back = emit_value(e, "fpext float %s to double", nearest.text);
        ssa back_bits = emit_value(e, "bitcast double %s to i64", back.text);
        ssa x_bits = emit_value(e, "bitcast double %%x to i64");
        ssa back_magnitude = emit_value(e, "and i64 %s, 9223372036854775807", back_bits.text);
        ssa x_magnitude = emit_value(e, "and i64 %s, 9223372036854775807", x_bits.text);
        ssa above = emit_value(e, "icmp ugt i64 %s, %s", back_magnitude.text, x_magnitude.text);
        ssa one = emit_value(e, "zext i1 %s to i32", above.text);
        ssa truncated = emit_value(e, "sub i32 %s, %s", bits.text, one.text);
        ssa inexact = emit_value(e, "fcmp one double %s, %%x", back.text);
        ssa sticky = emit_value(e, "zext i1 %s to i32", inexact.text);
        ssa odd = emit_value(e, "or i32 %s, %s", truncated.text, sticky.text);
        ssa is_nan = emit_value(e, "fcmp uno double %%x, 0.0");
        ssa result = emit_value(e, "select i1 %s, i32 2143289344, i32 %s", is_nan.text, odd.text);
        ssa value = emit_value(e, "bitcast i32 %s to float", result.text);
        emit_line(e, "ret float %s", value.text);
        emit_define_end(e, &s);
    }
    return call(e, "float", "odd_float_of_double", "double", x);
}

/* A double that rounds to any half as the 64-bit integer does: from 2^53 on the last eleven bits, which a double has no room
 * for, become one bit above them that says whether any was set. */
static ssa sticky_double_of_integer(emit *e, bool is_signed, ssa x) {
    const char *name = is_signed ? "sticky_double_of_int64" : "sticky_double_of_uint64";
    definition s;
    if (emit_define(e, &s, "define internal double @%s(i64 %%x) " CONVERSION, name)) {
        ssa shifted = is_signed ? emit_value(e, "add i64 %%x, 9007199254740992") : ssa_named("%%x");
        ssa exact = emit_value(e, "icmp ult i64 %s, %lld", shifted.text, 1LL << (is_signed ? 54 : 53));
        ssa low = emit_value(e, "and i64 %%x, 2047");
        ssa lost = emit_value(e, "icmp ne i64 %s, 0", low.text);
        ssa bit = emit_value(e, "select i1 %s, i64 2048, i64 0", lost.text);
        ssa high = emit_value(e, "and i64 %%x, -2048");
        ssa sticky = emit_value(e, "or i64 %s, %s", high.text, bit.text);
        ssa chosen = emit_value(e, "select i1 %s, i64 %%x, i64 %s", exact.text, sticky.text);
        ssa result = emit_value(e, "%s i64 %s to double", is_signed ? "sitofp" : "uitofp", chosen.text);
        emit_line(e, "ret double %s", result.text);
        emit_define_end(e, &s);
    }
    return call(e, "double", name, "i64", x);
}

/* ---- Between real types ---- */

/* int32 to 64 bits without `sext`: libNVVM's older dialect (below compute_100) takes several of x + constant for one of x
 * and adds the constants in 64 bits, which is wrong where the int32 wraps. */
static ssa wide_of_int32(emit *e, ssa x) {
    ssa sign = emit_value(e, "ashr i32 %s, 31", x.text);
    ssa high = emit_value(e, "zext i32 %s to i64", sign.text), low = emit_value(e, "zext i32 %s to i64", x.text);
    ssa upper = emit_value(e, "shl i64 %s, 32", high.text);
    return emit_value(e, "or i64 %s, %s", upper.text, low.text);
}

static ssa integer_of_integer(emit *e, ssa x, dtype from, dtype to) {
    if (dtypes[from].size == dtypes[to].size && from != DT_BOOL)
        return x;
    if (e->target->gpu && from == DT_INT32 && dtypes[to].size == 8)
        return wide_of_int32(e, x);
    const char *how = from != DT_BOOL && dtypes[from].size > dtypes[to].size ? "trunc"
                      : dtypes[from].is_signed                               ? "sext"
                                                                             : "zext";
    return emit_value(e, "%s %s %s to %s", how, ir_value_type(from), x.text, ir_value_type(to));
}

/* to: float32 or float64. */
static ssa float_of_integer(emit *e, ssa x, dtype from, dtype to) {
    return emit_value(e, "%s %s %s to %s", dtypes[from].is_signed ? "sitofp" : "uitofp", ir_value_type(from), x.text,
                      ir_value_type(to));
}

static ssa half_of_integer(emit *e, ssa x, dtype from, dtype to) {
    if (dtypes[from].size <= 2) /* bool too; exact in float32 */
        return half_of_float(e, to, float_of_integer(e, x, from, DT_FLOAT32));
    ssa exact = dtypes[from].size == 4 ? float_of_integer(e, x, from, DT_FLOAT64)
                                       : sticky_double_of_integer(e, dtypes[from].is_signed, x);
    return half_of_float(e, to, odd_float_of_double(e, exact));
}

/* The operand, in range, as an integer of 64 bits by instructions that there are for vectors: its upper and its lower 32 bits are each the last bits of
 * a sum with a large number. */
static ssa wide_of_double(emit *e, ssa x, bool is_signed) {
    const char *large = is_signed ? "0x4338000000000000" : "0x4330000000000000"; /* 1.5 2^52, 2^52 */
    emit_declare(e, "declare double @llvm.trunc.f64(double)");
    emit_declare(e, "declare double @llvm.floor.f64(double)");
    emit_declare(e, "declare double @llvm.fma.f64(double, double, double)");
    x = emit_value(e, "call double @llvm.trunc.f64(double %s)", x.text);
    ssa up = emit_value(e, "fmul double %s, 0x3DF0000000000000", x.text); /* 2^-32 */
    up = emit_value(e, "call double @llvm.floor.f64(double %s)", up.text);
    ssa low =
        emit_value(e, "call double @llvm.fma.f64(double %s, double 0xC1F0000000000000, double %s)", up.text, x.text);
    ssa high = emit_value(e, "fadd double %s, %s", up.text, large);
    low = emit_value(e, "fadd double %s, 0x4330000000000000", low.text);
    high = emit_value(e, "shl i64 %s, 32", emit_value(e, "bitcast double %s to i64", high.text).text);
    low = emit_value(e, "and i64 %s, 4294967295", emit_value(e, "bitcast double %s to i64", low.text).text);
    return emit_op(e, "or i64", high, low);
}

/* The input is clamped to what truncates into range, where that can be by comparisons that x86's maximum and minimum make, too; what the clamp
 * cannot reach (the type's maximum has more bits than the fraction) and NaN are put right by selects. Of unsigned integers the clamp makes NaN 0: "from 1 on", since of a magnitude ptxas takes "not
 * below 0" for true, whether it is a number or not, and LLVM and libNVVM leave out the maximum with 0 of a maximum with 0, though the latter may
 * be NaN. */
static ssa integer_of_float(emit *e, ssa x, dtype from, dtype to) {
    const char *source = from == DT_FLOAT32 ? "float" : "double", *target = ir_value_type(to);
    bool is_signed = dtypes[to].is_signed;
    int bits = 8 * dtypes[to].size - is_signed, fraction = from == DT_FLOAT32 ? 24 : 53;
    definition s;
    if (emit_define(e, &s, "define internal %s @%s_of_%s(%s %%x) " CONVERSION, target, dtypes[to].name, source,
                    source)) {
        double lowest = is_signed ? -ldexp(1, bits) : 0;
        double highest = bits <= fraction ? ldexp(1, bits) - 1 : ldexp(1, bits) - ldexp(1, bits - fraction);
        unsigned long long low = double_bits(lowest), high = double_bits(highest);
        const char *wide = bits < 31 ? "i32" : target; /* short ones by way of int32 */
        ssa above = is_signed ? emit_value(e, "fcmp ogt %s %%x, 0x%016llX", source, (unsigned long long)low)
                              : emit_value(e, "fcmp oge %s %%x, 0x%016llX", source, (unsigned long long)double_bits(1));
        ssa raised = emit_value(e, "select i1 %s, %s %%x, %s 0x%016llX", above.text, source, source, low);
        ssa below =
            emit_value(e, "fcmp %s %s %s, 0x%016llX", bits > fraction ? "ole" : "olt", source, raised.text, high);
        ssa clamped = raised;
        if (bits <= fraction || e->target->gpu) /* else what is too large truncates to anything, and is not taken */
            clamped = emit_value(e, "select i1 %s, %s %s, %s 0x%016llX", below.text, source, raised.text, source, high);
        if (is_signed) { /* before it is truncated: a condition for integers of another size would have to be made smaller */
            ssa ordered = emit_value(e, "fcmp ord %s %%x, 0.0", source);
            clamped = emit_value(e, "select i1 %s, %s %s, %s 0.0", ordered.text, source, clamped.text, source);
        }
        ssa r;
        if (bits > 32 && !target_has_wide_conversion(e->target))
            r = wide_of_double(
                e, from == DT_FLOAT32 ? emit_value(e, "fpext float %s to double", clamped.text) : clamped, is_signed);
        else
            r = emit_value(e, "%s %s %s to %s", is_signed || bits < 31 ? "fptosi" : "fptoui", source, clamped.text,
                           wide);
        if (bits > fraction)
            r = emit_value(e, "select i1 %s, %s %s, %s %lld", below.text, wide, r.text, wide,
                           is_signed ? (long long)(INT64_MAX >> (63 - bits)) : -1LL);
        if (wide != target)
            r = emit_value(e, "trunc i32 %s to %s", r.text, target);
        emit_line(e, "ret %s %s", target, r.text);
        emit_define_end(e, &s);
    }
    return emit_value(e, "call %s @%s_of_%s(%s %s)", target, dtypes[to].name, source, source, x.text);
}

static ssa float_of_float(emit *e, ssa x, dtype from, dtype to) {
    if (from == to)
        return x;
    return emit_value(e, "%s %s %s to %s", from == DT_FLOAT32 ? "fpext" : "fptrunc", ir_value_type(from), x.text,
                      ir_value_type(to));
}

static ssa bool_of(emit *e, ssa x, dtype from) {
    if (dtype_is_half(from)) {
        ssa magnitude = emit_value(e, "and i16 %s, 32767", x.text);
        return emit_value(e, "icmp ne i16 %s, 0", magnitude.text);
    }
    if (dtype_is_floating(from))
        return emit_value(e, "fcmp une %s %s, 0.0", ir_value_type(from), x.text);
    return emit_value(e, "icmp ne %s %s, 0", ir_value_type(from), x.text);
}

static ssa convert_real(emit *e, ssa x, dtype from, dtype to) {
    if (from == to)
        return x;
    if (to == DT_BOOL)
        return bool_of(e, x, from);
    if (!dtype_is_floating(from)) {
        if (!dtype_is_floating(to))
            return integer_of_integer(e, x, from, to);
        return dtype_is_half(to) ? half_of_integer(e, x, from, to) : float_of_integer(e, x, from, to);
    }
    if (dtype_is_half(from)) { /* exact */
        x = float_of_half(e, from, x);
        from = DT_FLOAT32;
    }
    if (dtype_is_half(to))
        return half_of_float(e, to, from == DT_FLOAT64 ? odd_float_of_double(e, x) : x);
    return dtype_is_floating(to) ? float_of_float(e, x, from, to) : integer_of_float(e, x, from, to);
}

static bool is_whole_number(dtype t) { return t == DT_BOOL || dtype_is_integer(t); }

/* An integer constant as another dtype's; its bits are sign-extended whatever its dtype is (emit_constant). */
static ssa convert_constant(int64_t x, dtype from, dtype to) {
    unsigned char bytes[16] = {0};
    memcpy(bytes, &x, sizeof x);
    return emit_constant(number_read(from, bytes), to);
}

ssa emit_convert(emit *e, ssa value, dtype from, dtype to) {
    int64_t x;
    if (from == to)
        return value;
    if (is_whole_number(from) && is_whole_number(to) && ssa_is_constant(value, &x))
        return convert_constant(x, from, to);
    dtype part = (dtype)dtypes[from].component, target = (dtype)dtypes[to].component;
    if (!dtype_is_complex(from)) {
        if (!dtype_is_complex(to))
            return convert_real(e, value, from, to);
        return emit_complex(e, to, convert_real(e, value, from, target), ssa_literal("0.0"));
    }
    ssa re = convert_real(e, emit_part(e, from, value, 0), part, target);
    if (!dtype_is_complex(to) && to != DT_BOOL)
        return re;
    ssa im = convert_real(e, emit_part(e, from, value, 1), part, target);
    return to == DT_BOOL ? emit_value(e, "or i1 %s, %s", re.text, im.text) : emit_complex(e, to, re, im);
}

void emit_convert_all(emit *e, ssa *values, int n, dtype from, dtype to) {
    int i = 0;
    if (from == DT_FLOAT32 && to == DT_BFLOAT16 && e->target->gpu && e->target->arch >= ARCH_BFLOAT16)
        for (; i + 1 < n; i += 2)
            bfloat16s_of_floats(e, (ssa[]){values[i], values[i + 1]}, values + i);
    for (; i < n; i++)
        values[i] = emit_convert(e, values[i], from, to);
}
