/* memory.c - array memory: elements and vectors of elements between memory and registers. Memory holds a bool as a byte and a
 * complex as two components; in registers they are an i1 and a pair. An access of up to 16 bytes is a single instruction on the GPU:
 * vectors of types below 32 bits are accessed as 32-bit words, because the legacy dialect of libNVVM splits them otherwise. */
#include "ir/common/internal.h"

#include <assert.h>
#include <stdio.h>

/* ", align 4, !llvm.access.group !7": what follows the address. */
static fragment suffix(const emit *e, int align) {
    return e->access_group ? fragment_of(", align %d, !llvm.access.group !%d", align, e->access_group)
                           : fragment_of(", align %d", align);
}

ssa emit_load_as(emit *e, const char *type, ssa pointer, int align) {
    fragment unchanging = e->invariant ? fragment_of(", !invariant.load !%d", e->invariant) : fragment_none();
    return emit_value(e, "load %s, %s%s %s%s%s", type, type, ir_global_pointer(e), pointer.text, suffix(e, align).text,
                      unchanging.text);
}

void emit_store_as(emit *e, const char *type, ssa value, ssa pointer, int align) {
    emit_line(e, "store %s %s, %s%s %s%s", type, value.text, type, ir_global_pointer(e), pointer.text,
              suffix(e, align).text);
}

ssa emit_pointer_as(emit *e, const char *from, ssa pointer, const char *to) {
    const char *star = ir_global_pointer(e);
    return emit_value(e, "bitcast %s%s %s to %s%s", from, star, pointer.text, to, star);
}

void emit_prefetch(emit *e, const char *type, ssa pointer, ssa bytes, prefetch how) {
    static const char *const hints[] = {
        [PREFETCH_READ] = "i32 0, i32 3", [PREFETCH_READ_L2] = "i32 0, i32 2", [PREFETCH_WRITE_L2] = "i32 1, i32 2"};
    emit_declare(e, "declare void @llvm.prefetch.p0i8(i8*, i32, i32, i32)");
    ssa base = emit_pointer_as(e, type, pointer, "i8");
    ssa at = emit_value(e, "getelementptr i8, i8* %s, i64 %s", base.text, bytes.text);
    emit_line(e, "call void @llvm.prefetch.p0i8(i8* %s, %s, i32 1)", at.text, hints[how]);
}

static ssa element_at(emit *e, const char *type, ssa base, ssa index) {
    if (ssa_is(index, 0))
        return base;
    return emit_value(e, "getelementptr inbounds %s, %s%s %s, i64 %s", type, type, ir_global_pointer(e), base.text,
                      index.text);
}

/* From what lies in memory to a value, component-wise for complex, and back. */
ssa emit_value_of_parts(emit *e, dtype t, const ssa *parts) {
    if (t == DT_BOOL)
        return emit_value(e, "icmp ne i8 %s, 0", parts[0].text);
    if (!dtype_is_complex(t))
        return parts[0];
    const char *pair = ir_value_type(t), *part = ir_memory_type(t);
    ssa re = emit_value(e, "insertvalue %s undef, %s %s, 0", pair, part, parts[0].text);
    return emit_value(e, "insertvalue %s %s, %s %s, 1", pair, re.text, part, parts[1].text);
}

int emit_parts_of(emit *e, dtype t, ssa value, ssa *parts) {
    if (t == DT_BOOL) {
        parts[0] = emit_value(e, "zext i1 %s to i8", value.text);
    } else if (dtype_is_complex(t)) {
        for (int i = 0; i < 2; i++)
            parts[i] = emit_value(e, "extractvalue %s %s, %d", ir_value_type(t), value.text, i);
    } else {
        parts[0] = value;
    }
    return dtype_is_complex(t) ? 2 : 1;
}

static int parts_count(dtype t) { return dtype_is_complex(t) ? 2 : 1; }

enum {
    ALIGN = 64
};

ssa emit_scratch(emit *e, int offset) {
    emit_declare(e, "declare noalias i8* @uf_thread_scratch(i64)");
    emit_symbol(e, "uf_thread_scratch", __extension__(const void *) thread_scratch);
    return emit_value(e, "call noalias align %d i8* @uf_thread_scratch(i64 %d)", ALIGN, offset);
}

ssa emit_array(emit *e, dtype t, int count) {
    enum {
        STACKED_MOST = 10 << 10
    };
    const char *type = ir_memory_type(t);
    int size = (count * dtypes[t].size + ALIGN - 1) / ALIGN * ALIGN;
    count *= dtype_is_complex(t) ? 2 : 1;
    if (e->stack_bytes + size <= STACKED_MOST) {
        e->stack_bytes += size;
        ssa all = emit_value(e, "alloca [%d x %s], align %d", count, type, ALIGN);
        return emit_value(e, "getelementptr [%d x %s], [%d x %s]* %s, i64 0, i64 0", count, type, count, type,
                          all.text);
    }
    ssa all = emit_scratch(e, e->scratch_bytes);
    e->scratch_bytes += size;
    return emit_value(e, "bitcast i8* %s to %s*", all.text, type);
}

void emit_clear(emit *e, ssa at, int64_t bytes) {
    emit_declare(e, "declare void @llvm.memset.p0i8.i64(i8*, i8, i64, i1)");
    emit_line(e, "call void @llvm.memset.p0i8.i64(i8* %s, i8 0, i64 %lld, i1 false)", at.text, (long long)bytes);
}

ssa emit_element(emit *e, dtype t, ssa base, ssa index) {
    assert(ssa_is_set(base) && ssa_is_set(index));
    if (dtype_is_complex(t) && !ssa_is(index, 0))
        index = emit_value(e, "shl i64 %s, 1", index.text);
    return element_at(e, ir_memory_type(t), base, index);
}

ssa emit_element_beyond(emit *e, dtype t, ssa base, ssa index) {
    if (dtype_is_complex(t))
        index = emit_value(e, "shl i64 %s, 1", index.text);
    return emit_value(e, "getelementptr %s, %s* %s, i64 %s", ir_memory_type(t), ir_memory_type(t), base.text,
                      index.text);
}

ssa emit_load(emit *e, dtype t, ssa pointer) {
    ssa parts[2];
    for (int i = 0; i < parts_count(t); i++) {
        ssa at = element_at(e, ir_memory_type(t), pointer, ssa_constant(i));
        parts[i] = emit_load_as(e, ir_memory_type(t), at, dtypes[t].align);
    }
    return emit_value_of_parts(e, t, parts);
}

void emit_store(emit *e, dtype t, ssa value, ssa pointer) {
    ssa parts[2];
    emit_parts_of(e, t, value, parts);
    for (int i = 0; i < parts_count(t); i++) {
        ssa at = element_at(e, ir_memory_type(t), pointer, ssa_constant(i));
        emit_store_as(e, ir_memory_type(t), parts[i], at, dtypes[t].align);
    }
}

/* A vector type for one access: `lanes` of `lane` type, of which each holds `packed` elements of `type`. */
typedef struct pack {
    const char *type; /* of an element in memory */
    char lane[16];
    char access[32];
    int lanes, packed, bytes;
    bool naturals; /* elements are numbers from 0 to 255 */
} pack;

static pack pack_of(dtype component, int bytes) {
    int size = dtypes[component].size;
    pack p = {.type = ir_memory_type(component), .bytes = bytes, .naturals = component == DT_UINT8};
    if (size >= 4 || size == bytes)
        snprintf(p.lane, sizeof p.lane, "%s", p.type);
    else
        snprintf(p.lane, sizeof p.lane, "i%d", bytes < 4 ? 8 * bytes : 32);
    int lane_bytes = size >= 4 ? size : bytes < 4 ? bytes : 4;
    p.lanes = bytes / lane_bytes;
    p.packed = lane_bytes / size;
    if (p.lanes > 1)
        snprintf(p.access, sizeof p.access, "<%d x %s>", p.lanes, p.lane);
    else
        snprintf(p.access, sizeof p.access, "%s", p.lane);
    return p;
}

/* A byte of a word, as a number from 0 to 255. It is one instruction, which the compiler must not see through: of a shift and a mask it makes
 * two, and puts what is then computed with the number between them. */
static ssa natural_byte(emit *e, ssa word, int byte) {
    /* Which bytes the result has, the last one first: 0 to 3 are the word's, and 4 to 7 those of the number 0. */
    enum {
        ZEROS = 0x4440
    };
    if (!e->byte_range)
        e->byte_range = emit_metadata(e, "!{i32 0, i32 256}");
    emit_declare(e, "declare i32 @llvm.nvvm.prmt(i32, i32, i32)");
    return emit_value(e, "call i32 @llvm.nvvm.prmt(i32 %s, i32 0, i32 %d), !range !%d", word.text, ZEROS | byte,
                      e->byte_range);
}

/* The elements that a lane holds. On the GPU bytes are taken out of their word: out of a vector, they would pass through registers of 16
 * bits, and then be masked. */
static void unpack(emit *e, const pack *p, ssa lane, ssa *parts) {
    if (e->target->gpu && !strcmp(p->type, "i8")) {
        for (int j = 0; j < p->packed; j++) {
            ssa low = p->naturals && p->packed == 4 ? natural_byte(e, lane, j)
                      : j                           ? emit_value(e, "lshr %s %s, %d", p->lane, lane.text, 8 * j)
                                                    : lane;
            parts[j] = emit_value(e, "trunc %s %s to i8", p->lane, low.text);
        }
        return;
    }
    ssa few = emit_value(e, "bitcast %s %s to <%d x %s>", p->lane, lane.text, p->packed, p->type);
    for (int j = 0; j < p->packed; j++)
        parts[j] = emit_value(e, "extractelement <%d x %s> %s, i32 %d", p->packed, p->type, few.text, j);
}

static void load_pack(emit *e, const pack *p, ssa pointer, ssa *parts) {
    if (strcmp(p->access, p->type))
        pointer = emit_pointer_as(e, p->type, pointer, p->access);
    ssa all = emit_load_as(e, p->access, pointer, p->bytes);
    for (int i = 0; i < p->lanes; i++) {
        ssa lane = p->lanes == 1 ? all : emit_value(e, "extractelement %s %s, i32 %d", p->access, all.text, i);
        if (p->packed == 1)
            parts[i] = lane;
        else
            unpack(e, p, lane, parts + i * p->packed);
    }
}

/* count elements of a type joined into a vector register. */
static ssa join(emit *e, const char *type, const ssa *elements, int count) {
    ssa all = ssa_literal("undef");
    for (int i = 0; i < count; i++)
        all = emit_value(e, "insertelement <%d x %s> %s, %s %s, i32 %d", count, type, all.text, type, elements[i].text,
                         i);
    return all;
}

static void store_pack(emit *e, const pack *p, const ssa *parts, ssa pointer) {
    ssa lanes[ACCESS_BYTES];
    for (int i = 0; i < p->lanes; i++) {
        lanes[i] = parts[i];
        if (p->packed > 1) {
            ssa few = join(e, p->type, parts + i * p->packed, p->packed);
            lanes[i] = emit_value(e, "bitcast <%d x %s> %s to %s", p->packed, p->type, few.text, p->lane);
        }
    }
    if (strcmp(p->access, p->type))
        pointer = emit_pointer_as(e, p->type, pointer, p->access);
    emit_store_as(e, p->access, p->lanes == 1 ? lanes[0] : join(e, p->lane, lanes, p->lanes), pointer, p->bytes);
}

/* How n elements are accessed: returns the elements of one access, and its form in *p. */
static int split(dtype t, int n, pack *p) {
    int bytes = n * dtypes[t].size;
    assert(n > 0 && (bytes <= ACCESS_BYTES || bytes % ACCESS_BYTES == 0)); /* an access is never cut */
    *p = pack_of(dtypes[t].component, bytes < ACCESS_BYTES ? bytes : ACCESS_BYTES);
    return bytes < ACCESS_BYTES ? n : ACCESS_BYTES / dtypes[t].size;
}

void emit_load_vector(emit *e, dtype t, ssa pointer, int n, ssa *values) {
    pack p;
    int step = split(t, n, &p);
    for (int i = 0; i < n; i += step) {
        ssa parts[ACCESS_BYTES];
        load_pack(e, &p, emit_element(e, t, pointer, ssa_constant(i)), parts);
        for (int j = 0; j < step; j++)
            values[i + j] = emit_value_of_parts(e, t, parts + j * parts_count(t));
    }
}

void emit_store_vector(emit *e, dtype t, const ssa *values, ssa pointer, int n) {
    pack p;
    int step = split(t, n, &p);
    for (int i = 0; i < n; i += step) {
        ssa parts[ACCESS_BYTES];
        for (int j = 0; j < step; j++)
            emit_parts_of(e, t, values[i + j], parts + j * parts_count(t));
        store_pack(e, &p, parts, emit_element(e, t, pointer, ssa_constant(i)));
    }
}

void emit_fill(emit *e, const char *type, ssa value, ssa pointer, int n, int align) {
    fragment all = fragment_of("<%d x %s>", n, type), zeros = fragment_of("<%d x i32> zeroinitializer", n);
    ssa first = emit_value(e, "insertelement %s undef, %s %s, i32 0", all.text, type, value.text);
    ssa splat = emit_value(e, "shufflevector %s %s, %s undef, %s", all.text, first.text, all.text, zeros.text);
    emit_line(e, "store %s %s, %s* %s, align %d", all.text, splat.text, all.text,
              emit_pointer_as(e, type, pointer, all.text).text, align);
}
