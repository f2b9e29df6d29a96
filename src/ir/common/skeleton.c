/* skeleton.c - what kernel skeletons are made of: a kernel's parameters, its operands' values, loops, and batches of elements that
 * are loaded, computed and stored together. See skeleton.h. */
#include "ir/common/skeleton.h"
#include "ir/common/halves.h"
#include "ir/common/internal.h"
#include "ir/common/numbering.h"
#include "ir/common/report.h"
#include "ir/common/settled.h"
#include "ir/common/sinking.h"

#include <assert.h>
#include <limits.h>

bool skeleton_has_records(const variant *v) {
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind == OPERAND_INTERLEAVED)
            return true;
    return false;
}

bool skeleton_has_pairs(const variant *v) {
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind == OPERAND_CONTIGUOUS && dtype_is_complex((dtype)v->operand[k].memory))
            return true;
    return skeleton_has_records(v);
}

ssa skeleton_address(skeleton *s, int k, ssa pointer, ssa index) {
    assert(skeleton_is_array(s, k));
    return emit_element(s->e, skeleton_memory(s, k), pointer, index);
}

ssa skeleton_neighbour(skeleton *s, int k, ssa pointer, ssa index) {
    const variant_operand *o = &s->v->operand[k];
    int apart = o->record / dtypes[o->memory].size;
    /* Of every second element LLVM makes vectors that it loads whole and shuffles, if it knows that addresses do not wrap; else it gathers. */
    const char *mul = apart == 2 && !s->e->target->gpu ? "mul nsw" : "mul";
    if (o->kind == OPERAND_INTERLEAVED && !ssa_is(index, 0))
        index = emit_value(s->e, "%s i64 %s, %d", mul, index.text, apart);
    return skeleton_address(s, k, pointer, index);
}

/* ---- Elements between memory and registers: operands that are contiguous or alone, and groups ---- */

/* The members of a group, in order, as fields; which[f] is the operand. */
static interleaved group_of(const skeleton *s, int k, int n, int *which) {
    const variant_operand *first = &s->v->operand[k];
    interleaved r = {.count = n, .step = first->record};
    r.width = first->kind == OPERAND_INTERLEAVED ? record_width(n, first->record) : 1 << first->align;
    for (int i = 0; i < s->v->nin + s->v->nout; i++)
        if (s->v->operand[i].group == k + 1) {
            which[r.nfields] = i;
            r.field[r.nfields++] = (interleaved_field){skeleton_memory(s, i), s->v->operand[i].offset};
        }
    return r;
}

/* Where a group is not accessed as a whole. */
static bool by_fields(const skeleton *s, int k, bool whole) {
    return !whole && s->v->operand[k].kind == OPERAND_INTERLEAVED;
}

static void load_group(skeleton *s, int k, ssa pointer, int n, bool whole, ssa *in) {
    int which[UF_MAX_OPERANDS];
    interleaved r = group_of(s, k, n, which);
    ssa *values = arena_alloc(s->e->a, (size_t)(n * r.nfields) * sizeof *values);
    if (!by_fields(s, k, whole))
        emit_load_interleaved(s->e, &r, skeleton_memory(s, k), pointer, values);
    for (int f = 0; f < r.nfields; f++) {
        const interleaved_field *x = &r.field[f];
        if (by_fields(s, k, whole))
            values[f] = emit_load(s->e, x->type, emit_field(s->e, skeleton_memory(s, k), pointer, x->offset, x->type));
        for (int i = 0; i < n; i++)
            in[i * s->noperands + which[f]] = values[f * n + i];
    }
}

void skeleton_load(skeleton *s, int k, ssa pointer, int n, bool whole, ssa *in) {
    ssa lanes[BATCH_LANES];
    assert(whole || n == 1);
    if (s->v->operand[k].group) {
        load_group(s, k, pointer, n, whole, in);
        return;
    }
    if (whole)
        emit_load_vector(s->e, skeleton_memory(s, k), pointer, n, lanes);
    else
        lanes[0] = emit_load(s->e, skeleton_memory(s, k), pointer);
    for (int i = 0; i < n; i++)
        in[i * s->noperands + k] = lanes[i];
}

static void store_group(skeleton *s, int k, ssa pointer, int n, bool whole, const ssa *out) {
    int which[UF_MAX_OPERANDS];
    interleaved r = group_of(s, k, n, which);
    ssa *values = arena_alloc(s->e->a, (size_t)(n * r.nfields) * sizeof *values);
    for (int f = 0; f < r.nfields; f++) {
        const interleaved_field *x = &r.field[f];
        for (int i = 0; i < n; i++)
            values[f * n + i] = out[i * s->v->nout + which[f] - s->nin];
        if (by_fields(s, k, whole))
            emit_store(s->e, x->type, values[f], emit_field(s->e, skeleton_memory(s, k), pointer, x->offset, x->type));
    }
    if (!by_fields(s, k, whole))
        emit_store_interleaved(s->e, &r, skeleton_memory(s, k), pointer, values);
}

void skeleton_store(skeleton *s, int k, ssa pointer, int n, bool whole, const ssa *out) {
    ssa lanes[BATCH_LANES];
    assert(whole || n == 1);
    if (s->v->operand[k].group) {
        store_group(s, k, pointer, n, whole, out);
        return;
    }
    for (int i = 0; i < n; i++)
        lanes[i] = out[i * s->v->nout + k - s->nin];
    if (whole)
        emit_store_vector(s->e, skeleton_memory(s, k), lanes, pointer, n);
    else
        emit_store(s->e, skeleton_memory(s, k), lanes[0], pointer);
}

ssa skeleton_opaque_stride(emit *e, ssa stride) {
    const ssa least = ssa_constant(-(INT64_C(1) << 62)); /* no stride is below */
    ssa above = emit_op(e, "icmp sgt i64", stride, least);
    return emit_select_as(e, "i64", above, stride, least);
}

ssa emit_shared_address(emit *e, ssa offset, const char *type) {
    if (emit_once(e, "@shared"))
        text_puts(&e->declarations, "@shared = external addrspace(3) global [0 x i8], align 16\n");
    ssa at = emit_value(e, "getelementptr [0 x i8], [0 x i8] addrspace(3)* @shared, i64 0, i64 %s", offset.text);
    return emit_value(e, "bitcast i8 addrspace(3)* %s to %s addrspace(3)*", at.text, type);
}

ssa emit_special_register(emit *e, const char *name) {
    emit_declare(e, "declare i32 @llvm.nvvm.read.ptx.sreg.%s.x()", name);
    return emit_value(e, "call i32 @llvm.nvvm.read.ptx.sreg.%s.x()", name);
}

enum {
    LARGE_BODY = 64 /* nodes; a call of libdevice is as much */
};

int skeleton_single_step(const skeleton *s) {
    return s->e->plain || s->e->module->math || s->t->nodes > LARGE_BODY ? 1 : SINGLE_STEP;
}

/* ---- Parameters. GPU: %w0 %w1 .., arrays typed; CPU: i64 *%words. ---- */

/* Is parameter n of the kernel the address of an array? Its operand, else -1. */
static int array_at(const variant *v, int n) {
    int at = 0;
    for (int k = 0; k < variant_operands(v); at += operand_parameters(v, k++))
        if (at == n && operand_has_strides(v, k) && v->operand[k].kind != OPERAND_POSITION)
            return k;
    return -1;
}

/* log2 of the threads that must be in a block, or work together in one; 0: any number will do. */
static int threads_together(const variant *v) {
    switch (v->loop) {
    case LOOP_GUFUNC:
        return v->gufunc.across              ? variant_block_across(v)
               : v->gufunc.coop == COOP_GRID ? variant_grid_block(v)
                                             : v->gufunc.coop;
    case LOOP_FOLD:
        return v->fold.coop;
    case LOOP_SCAN:
        return v->scan.coop;
    case LOOP_FORALL:
        return v->forall.block;
    default:
        return 0;
    }
}

/* Threads of the largest block that engines launch. */
static int largest_block(const variant *v, const core_layout *layout) {
    if (v->loop == LOOP_GUFUNC && v->gufunc.unrolled)
        return core_threads(v, layout);
    int together = 1 << threads_together(v);
    return together > BLOCK_MAX ? together : BLOCK_MAX;
}

/* Does a thread hold elements of more than a word? */
static bool holds_wide(const variant *v) {
    bool any = false;
    for (int k = 0; k < v->nin; k++)
        any |= v->operand[k].held && dtypes[v->operand[k].memory].size > 4;
    return any;
}

/* Where threads hold columns, some of a multiprocessor's blocks are to load or store while others compute. With rows of two-word elements,
 * and much to hold of columns, fewer blocks do: left alone, ptxas saves registers for more of them, and spills. Pairs that are packed get along
 * with fewer registers, so that two large blocks fit. */
static int resident_with_held(const variant *v, int threads) {
    if (variant_packs_calls(v))
        return (HELD_THREADS_WIDE + threads - 1) / threads;
    bool much = v->gufunc.across ? v->gufunc.held << v->gufunc.calls > HELD_COLUMNS / 2 : holds_wide(v);
    return much ? HELD_THREADS_WIDE / threads : v->gufunc.across ? HELD_THREADS / threads : 0;
}

/* Where rows are in shared memory, this says how many blocks there can be. Left alone, ptxas saves registers for more of them, and has
 * fewer loads in flight; but of clusters it does well to, if nothing is loaded shifted, and of small blocks whose threads hold nothing. */
static int resident_with_rows(const variant *v, int threads) {
    if (v->gufunc.cluster)
        return variant_shifts(v) ? HELD_THREADS / threads : 0;
    return !v->gufunc.fine ? PIECE_FIT : v->gufunc.held ? 2 * PIECE_FIT : 0;
}

/* Where blocks of a grid take columns side by side, addresses take so many registers that, left alone, ptxas has room for one block. */
static int resident_blocks(const variant *v, int threads) {
    if (v->loop != LOOP_GUFUNC)
        return 0;
    return v->gufunc.held && !variant_holds_part(v) ? resident_with_held(v, threads)
           : v->gufunc.pieces && variant_stages(v)  ? resident_with_rows(v, threads)
           : variant_grid_across(v)                 ? PIECE_FIT
                                                    : 0;
}

static void gpu_head(skeleton *s) {
    emit *e = s->e;
    int count = schema_count(s->v, s->next.layout, true);
    text types = {0}, parameters = {0};
    text_puts(&types, "void (");
    for (int n = 0; n < count; n++) {
        int k = array_at(s->v, n);
        const char *comma = n ? ", " : "", *type = k < 0 ? "i64" : ir_memory_type(skeleton_memory(s, k));
        const char *star = k < 0 ? "" : ir_global_pointer(e);
        text_printf(&types, "%s%s%s", comma, type, star);
        text_printf(&parameters, "%s%s%s %%w%d", comma, type, star, n);
    }
    text_puts(&types, ")");
    e->failed |= types.failed || parameters.failed;
    if (!e->failed) {
        int threads = largest_block(s->v, s->next.layout);
        emit_kernel_annotation(e, types.data, threads, resident_blocks(s->v, threads),
                               s->v->loop == LOOP_GUFUNC ? 1 << s->v->gufunc.cluster : 1);
        text_printf(e->out, "define void @%s(%s) nounwind", e->module->entry, parameters.data);
    }
    text_free(&types);
    text_free(&parameters);
}

/* Vectors that a call of a function leaves in no register are kept on the stack, which LLVM aligns to 16 bytes alone: parts of two lines of the cache
 * take up to 1.7 times as long, and whether they are two differs from run to run. */
static void cpu_head(skeleton *s) {
    emit *e = s->e;
    bool calls = s->t && emit_vector_calls(e, s->t->kernel->body).count;
    text_printf(e->out, "define void @%s(i64* %%words) nounwind", e->module->entry);
    if (e->target->vector_bits && calls)
        text_printf(e->out, " alignstack(%d)", e->target->vector_bits / 8);
    if (e->target->vector_bits)
        text_printf(e->out, " \"prefer-vector-width\"=\"%d\"", e->target->vector_bits);
}

/* CPU: where parameter n stands. */
static ssa parameter_address(emit *e, int n) {
    return emit_value(e, "getelementptr inbounds i64, i64* %%words, i64 %d", n);
}

/* Parameter n, in 64 bits. */
static ssa parameter(emit *e, int n) {
    if (e->target->gpu)
        return ssa_named("%%w%d", n);
    return emit_value(e, "load i64, i64* %s, align 8", parameter_address(e, n).text);
}

ssa skeleton_parameter(skeleton *s, parameter_id id) {
    int n = s->next.number;
    parameter_type type = parameter_next(&s->next, id);
    ssa all = parameter(s->e, n);
    switch (type) {
    case TYPE_I64:
        break;
    case TYPE_I32:
        return emit_value(s->e, "trunc i64 %s to i32", all.text);
    case TYPE_I1:
        return emit_value(s->e, "icmp ne i64 %s, 0", all.text);
    }
    return all;
}

static bool reads_report_ahead(const emit *e) { return reports(e) && !e->frame; }

ssa skeleton_report(skeleton *s) {
    return parameter(s->e, schema_place(s->v, s->next.layout, s->e->target->gpu, PARAMETER_REPORT));
}

static ssa read_array(skeleton *s, int k) {
    int n = s->next.number;
    parameter_next(&s->next, PARAMETER_OPERANDS);
    if (s->e->target->gpu)
        return ssa_named("%%w%d", n);
    const char *type = ir_memory_type(skeleton_memory(s, k)), *star = ir_global_pointer(s->e);
    ssa slot = emit_value(s->e, "bitcast i64* %s to %s%s*", parameter_address(s->e, n).text, type, star);
    return emit_value(s->e, "load %s%s, %s%s* %s, align 8", type, star, type, star, slot.text);
}

/* The low bits of a parameter as a value that is no pair. */
static ssa number_of_bits(emit *e, dtype t, ssa all) {
    const char *type = ir_value_type(t);
    int bits = 8 * dtypes[t].size;
    ssa low = bits == 64 ? all : emit_value(e, "trunc i64 %s to i%d", all.text, bits);
    if (t == DT_BOOL)
        return emit_value(e, "icmp ne i8 %s, 0", low.text);
    return type[0] == 'i' ? low : emit_value(e, "bitcast i%d %s to %s", bits, low.text, type);
}

static ssa read_number(skeleton *s, int k) {
    emit *e = s->e;
    dtype t = (dtype)s->v->operand[k].value, part = (dtype)dtypes[t].component;
    ssa first = skeleton_parameter(s, PARAMETER_OPERANDS);
    if (!dtype_is_complex(t))
        return number_of_bits(e, t, first);
    ssa second =
        t == DT_COMPLEX128 ? skeleton_parameter(s, PARAMETER_OPERANDS) : emit_value(e, "lshr i64 %s, 32", first.text);
    ssa parts[] = {number_of_bits(e, part, first), number_of_bits(e, part, second)}, pair = ssa_literal("undef");
    for (int i = 0; i < 2; i++)
        pair = emit_value(e, "insertvalue %s %s, %s %s, %d", ir_value_type(t), pair.text, ir_value_type(part),
                          parts[i].text, i);
    return pair;
}

/* How large a module may be, in the fast form and in the plain one. A compiler's time grows with the number of lines, but much more
 * with that of loops, which it copies and makes vectors of, and with their nesting, since it moves conditions out of each loop. With
 * these bounds no module takes more than 5 s to compile (docs/measured.md, "Hostile texts"). On the CPU each variable that lives
 * across a vector loop may take some 200 bytes of stack, and a call must do with 64 KiB. */
static const ir_size most[2][2] = {{{.lines = 8000, .loops = 100, .depth = 16, .variables = 128}, /* CPU */
                                    {.lines = 60000, .loops = 1000, .depth = 1000, .variables = INT_MAX}},
                                   {{.lines = 40000, .loops = 100, .depth = 16, .variables = INT_MAX}, /* GPU */
                                    {.lines = 60000, .loops = 400, .depth = 1000, .variables = INT_MAX}}};

/* If arena memory runs out, or there are too many lines, control comes back here. */
static uf_status write_guarded(emit *e, void (*write)(emit *e, void *user), void *user) {
    jmp_buf *outer = e->a->escape, escape;
    uf_status status = (uf_status)setjmp(escape);
    if (!status) {
        e->a->escape = &escape;
        write(e, user);
    }
    e->a->escape = outer;
    return status;
}

int skeleton_measure(arena *a, const code_target *target, int limit, void (*write)(emit *e, void *user), void *user) {
    code_module module = {0};
    emit e;
    emit_begin(&e, a, &module, target, "");
    e.most_lines = limit;
    uf_status status = write_guarded(&e, write, user);
    const ir_size *kernel = status ? NULL : map_get(&e.sizes, "kernel", strlen("kernel"));
    int lines = kernel ? kernel->lines : status == UF_ERR_COMPILE ? INT_MAX : -1;
    if (emit_finish(&e))
        lines = -1;
    text_free(&module.ir);
    return lines;
}

static bool exceeds(const ir_size *x, const ir_size *limit) {
    return x->lines > limit->lines || x->loops > limit->loops || x->depth > limit->depth ||
           x->variables > limit->variables;
}

static bool has_half_results(const variant *v) {
    bool halves = v->nout;
    for (int k = v->nin; k < v->nin + v->nout; k++)
        halves &= dtype_is_half((dtype)v->operand[k].value);
    return halves;
}

/* UF_ERR_COMPILE: the module is too large. */
static uf_status write_module(arena *a, const char *name, const variant *v, const code_target *target,
                              code_module *module, void (*write)(emit *e, void *user), void *user) {
    emit e;
    const ir_size *limit = &most[target->gpu][module->plain];
    emit_begin(&e, a, module, target, name);
    e.plain = module->plain;
    e.half_results = has_half_results(v);
    e.most_lines = limit->lines;
    uf_status status = write_guarded(&e, write, user);
    assert(status || (!e.nesting && !e.scope && !e.shared && !e.invariant &&
                      e.out == &module->ir)); /* all that began has ended */
    module->settled = target->gpu && code_is_settled(&e, v);
    module->streamed = target->gpu && variant_has_nontemporal(v);
    uf_status finished = emit_finish(&e);
    return status ? status : finished ? finished : exceeds(&e.written, limit) ? UF_ERR_COMPILE : UF_OK;
}

uf_status skeleton_module(arena *a, const char *name, const variant *v, const code_target *target, code_module *module,
                          void (*write)(emit *e, void *user), void *user) {
    emit_name(module, name, v);
    for (int plain = 0; plain < 2; plain++) {
        text_free(&module->ir);
        module->math = module->outer_vectors = module->straight = false;
        module->plain = plain;
        uf_status status = write_module(a, name, v, target, module, write, user);
        if (!status && target->gpu && v->loop != LOOP_FORALL)
            number_values(&module->ir, module->settled);
        module->settled = module->settled && !status && !module->ir.failed && !code_multiplies_often(&module->ir);
        if (!status && module->settled)
            sink_values(&module->ir);
        if (status != UF_ERR_COMPILE)
            return status ? status : module->ir.failed ? fail_memory() : UF_OK;
    }
    const ir_size *limit = &most[target->gpu][true];
    return fail(UF_ERR_COMPILE,
                "the kernel '%s' is too large: for these types its code has more than %d instructions or %d loops",
                name, limit->lines, limit->loops);
}

void skeleton_begin(skeleton *s, emit *e, const tree *t, const variant *v, const core_layout *layout) {
    *s = (skeleton){.e = e, .t = t, .v = v, .noperands = variant_operands(v), .nin = v->nin};
    s->next = parameters_begin(v, layout, e->target->gpu);
    (e->target->gpu ? gpu_head : cpu_head)(s);
    text_printf(e->out, "%s {\n", emit_scope(e, e->module->entry, 1).text);
    for (int k = 0; k < s->noperands; k++) {
        s->uniform[k] = !skeleton_is_array(s, k);
        if (v->operand[k].kind == OPERAND_POSITION)
            s->value[k] = skeleton_parameter(s, PARAMETER_OPERANDS);
        else if (s->uniform[k])
            s->value[k] = read_number(s, k);
        else if (!variant_follows(v, k))
            s->base[k] = read_array(s, k);
    }
    if (reads_report_ahead(e))
        report_shared(s);
}

void skeleton_end(skeleton *s) {
    /* Every parameter has been read, in order; report_shared reads the last one out of turn. */
    if (reads_report_ahead(s->e))
        parameter_next(&s->next, PARAMETER_REPORT);
    assert(parameters_ended(&s->next));
    emit_line(s->e, "ret void");
    text_puts(s->e->out, "}\n");
    emit_scope_end(s->e);
}

static ssa to_signature(skeleton *s, int k, ssa loaded) {
    const variant_operand *o = &s->v->operand[k];
    return emit_convert(s->e, loaded, (dtype)o->memory, (dtype)o->value);
}

void skeleton_load_uniform(skeleton *s, int k, ssa pointer) {
    s->value[k] = to_signature(s, k, emit_load(s->e, skeleton_memory(s, k), pointer));
    s->uniform[k] = true;
}

/* ---- Division ---- */

divisor skeleton_divisor(skeleton *s, parameter_id id) {
    divisor d;
    d.extent = skeleton_parameter(s, id);
    d.magic = skeleton_parameter(s, id);
    d.shift = skeleton_parameter(s, id);
    return d;
}

void skeleton_divide(skeleton *s, const divisor *d, bool wide, ssa x, ssa *quotient, ssa *remainder) {
    emit *e = s->e;
    const char *i = wide ? "i64" : "i32", *mulhi = wide ? "llvm.nvvm.mulhi.ull" : "llvm.nvvm.mulhi.ui";
    emit_declare(e, "declare %s @%s(%s, %s)", i, mulhi, i, i);
    ssa high = emit_value(e, "call %s @%s(%s %s, %s %s)", i, mulhi, i, x.text, i, d->magic.text);
    ssa sum = emit_value(e, "add %s %s, %s", i, high.text, x.text);
    *quotient = emit_value(e, "lshr %s %s, %s", i, sum.text, d->shift.text);
    ssa whole = emit_value(e, "mul %s %s, %s", i, quotient->text, d->extent.text);
    *remainder = emit_value(e, "sub %s %s, %s", i, x.text, whole.text);
}

/* ---- Loops ---- */

/* some: it has an iteration, which is then not asked for. */
static counted_loop loop_begin(emit *e, const char *type, ssa from, ssa limit, bool some) {
    assert(ssa_is_set(from) && ssa_is_set(limit));
    int before = emit_label_new(e);
    counted_loop l = {type, .limit = limit, .head = emit_label_new(e), .latch = emit_label_new(e),
                      .end = emit_label_new(e)};
    l.i = ssa_named("%%i%d", l.head);
    l.next = ssa_named("%%next%d", l.head);
    emit_branch(e, before);
    emit_label(e, before);
    if (some)
        emit_branch(e, l.head);
    else
        emit_branch_if(e, emit_value(e, "icmp slt %s %s, %s", type, from.text, limit.text), l.head, l.end);
    emit_loop_begin(e);
    emit_label(e, l.head);
    emit_line(e, "%s = phi %s [ %s, %%L%d ], [ %s, %%L%d ]", l.i.text, type, from.text, before, l.next.text, l.latch);
    return l;
}

counted_loop counted_loop_begin(emit *e, const char *type, ssa from, ssa limit) {
    int64_t first, last;
    bool known = ssa_is_constant(from, &first) && ssa_is_constant(limit, &last);
    return loop_begin(e, type, from, limit, known && first < last);
}

counted_loop counted_loop_begin_some(emit *e, const char *type, ssa from, ssa limit) {
    return loop_begin(e, type, from, limit, true);
}

int loop_no_unroll(emit *e) { return emit_metadata(e, "!{!\"llvm.loop.unroll.disable\"}"); }

int loop_no_vectors(emit *e) { return emit_metadata(e, "!{!\"llvm.loop.vectorize.enable\", i1 false}"); }

ssa unknown_value(emit *e, ssa x) { return emit_value(e, "call i64 asm \"\", \"=r,0\"(i64 %s)", x.text); }

ssa unknown_each_time(emit *e, ssa x) {
    return emit_value(e, "call i64 asm sideeffect \"\", \"=r,0\"(i64 %s)", x.text);
}

ssa unknown_answer(emit *e, ssa condition) {
    ssa copy = unknown_each_time(e, emit_value(e, "zext i1 %s to i64", condition.text));
    return emit_value(e, "icmp ne i64 %s, 0", copy.text);
}

int loop_few_lanes(emit *e, int lanes, int hints[FEW_LANE_HINTS]) {
    hints[0] = emit_metadata(e, "!{!\"llvm.loop.vectorize.width\", i32 %d}", lanes);
    hints[1] = emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 1}");
    return FEW_LANE_HINTS;
}

void loop_one_vector(emit *e, int lanes, int hints[ONE_VECTOR_HINTS]) {
    hints[0] = loop_no_unroll(e);
    hints[1] = emit_metadata(e, "!{!\"llvm.loop.vectorize.enable\", i1 true}");
    hints[2] = emit_metadata(e, "!{!\"llvm.loop.vectorize.width\", i32 %d}", lanes);
    hints[3] = emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 1}");
}

fragment loop_hints(emit *e, const int *hints, int n) {
    text list = {0};
    fragment metadata = fragment_none();
    if (e->plain && e->target->gpu)
        text_printf(&list, ", !%d", loop_no_unroll(e));
    int self = e->nmetadata + 1;
    for (int i = 0; i < n; i++)
        text_printf(&list, ", !%d", hints[i]);
    e->failed |= list.failed;
    if (list.length && !list.failed)
        metadata = fragment_of(", !llvm.loop !%d", emit_metadata(e, "distinct !{!%d%s}", self, list.data));
    text_free(&list);
    return metadata;
}

/* On the GPU LLVM is not told that the counter never wraps: if it knew, it would keep a running address in registers for every
 * access. */
static void loop_end(emit *e, const counted_loop *l, ssa step, fragment metadata) {
    emit_branch(e, l->latch);
    emit_label(e, l->latch);
    const char *flags = e->target->gpu ? "" : "nuw nsw ";
    emit_line(e, "%s = add %s%s %s, %s", l->next.text, flags, l->type, l->i.text, step.text);
    ssa more = emit_value(e, "icmp slt %s %s, %s", l->type, l->next.text, l->limit.text);
    emit_line(e, "br i1 %s, label %%L%d, label %%L%d%s", more.text, l->head, l->end, metadata.text);
    emit_loop_end(e);
    emit_label(e, l->end);
}

void counted_loop_end_hints(emit *e, const counted_loop *l, ssa step, const int *hints, int n) {
    loop_end(e, l, step, loop_hints(e, hints, n));
}

void counted_loop_end(emit *e, const counted_loop *l, ssa step, int hint) {
    counted_loop_end_hints(e, l, step, &hint, hint != 0);
}

void counted_loop_end_short(emit *e, const counted_loop *l, ssa step, int hint) {
    int hints[] = {emit_metadata(e, "!{!\"llvm.loop.vectorize.predicate.enable\", i1 true}"), hint};
    counted_loop_end_hints(e, l, step, hints, 1 + (hint != 0));
}

/* ---- Batches ---- */

batch batch_new(skeleton *s, int groups, int vector, bool aligned) {
    assert(groups > 0 && vector > 0 && vector <= BATCH_LANES &&
           (aligned || vector == 1)); /* else accesses are single */
    batch b = {.groups = groups, .vector = vector, .aligned = aligned};
    size_t n = (size_t)groups * (size_t)s->noperands;
    b.in = arena_alloc(s->e->a, n * (size_t)vector * sizeof *b.in);
    b.at = arena_alloc(s->e->a, n * sizeof *b.at);
    return b;
}

static ssa *batch_in(const skeleton *s, const batch *b, int group, int lane, int k) {
    assert(group < b->groups && lane < b->vector && k < s->noperands);
    return &b->in[((size_t)group * (size_t)b->vector + (size_t)lane) * (size_t)s->noperands + (size_t)k];
}

static ssa *batch_at(const skeleton *s, const batch *b, int group, int k) {
    return &b->at[(size_t)group * (size_t)s->noperands + (size_t)k];
}

void batch_access(skeleton *s, batch *b, int group, int k, ssa pointer) {
    if (skeleton_is_output(s, k))
        *batch_at(s, b, group, k) = pointer;
    else
        skeleton_load(s, k, pointer, b->vector, b->aligned, batch_in(s, b, group, 0, 0));
}

void batch_broadcast(skeleton *s, batch *b, int group, int k, ssa pointer) {
    ssa one = emit_load(s->e, skeleton_memory(s, k), pointer);
    for (int i = 0; i < b->vector; i++)
        *batch_in(s, b, group, i, k) = one;
}

ssa *batch_lanes(skeleton *s, batch *b, int group) { return batch_in(s, b, group, 0, 0); }

void batch_copy(skeleton *s, batch *b, int group, const batch *from, int from_group, int k) {
    for (int i = 0; i < b->vector; i++)
        *batch_in(s, b, group, i, k) = *batch_in(s, from, from_group, i, k);
}

int skeleton_if(skeleton *s, ssa condition) {
    int yes = emit_label_new(s->e), end = emit_label_new(s->e);
    emit_branch_if(s->e, condition, yes, end);
    emit_label(s->e, yes);
    return end;
}

void skeleton_end_if(skeleton *s, int end) {
    emit_branch(s->e, end);
    emit_label(s->e, end);
}

void skeleton_compute(skeleton *s, const ssa *in, ssa *results) {
    ssa values[UF_MAX_OPERANDS];
    for (int k = 0; k < s->nin; k++) {
        assert(s->uniform[k] || ssa_is_set(in[k])); /* every input has been loaded */
        values[k] = s->uniform[k] ? s->value[k] : to_signature(s, k, in[k]);
    }
    ssa ended = emit_kernel_call(s->e, s->t, "kernel", values, results);
    for (int k = 0; k < s->v->nout; k++) {
        const variant_operand *o = &s->v->operand[s->nin + k];
        results[k] = emit_convert(s->e, results[k], (dtype)o->value, (dtype)o->memory);
    }
    if (ssa_is_set(ended)) /* an update in place that was ended leaves its element as it is */
        results[0] = emit_select(s->e, skeleton_memory(s, 0), ended, in[0], results[0]);
}

/* Elements 0 and 1 by instructions on pairs of halves. */
static void compute_pair(skeleton *s, const ssa *in, ssa *results) {
    ssa pair[UF_MAX_OPERANDS], of_pair[UF_MAX_OPERANDS];
    for (int k = 0; k < s->nin; k++) {
        ssa low = s->uniform[k] ? s->value[k] : in[k], high = s->uniform[k] ? low : in[s->noperands + k];
        pair[k] = halves_pack(s->e, low, high);
    }
    halves_compute(s->e, s->t, pair, of_pair);
    for (int k = 0; k < s->v->nout; k++)
        halves_unpack(s->e, of_pair[k], &results[k], &results[s->v->nout + k]);
}

void skeleton_compute_all(skeleton *s, const ssa *in, int n, ssa *results) {
    bool by_pairs = n > 1 && halves_suit(s->e, s->t, s->v);
    int i = 0;
    for (; by_pairs && i + 1 < n; i += 2)
        compute_pair(s, in + (size_t)i * (size_t)s->noperands, results + (size_t)i * s->v->nout);
    for (; i < n; i++)
        skeleton_compute(s, in + (size_t)i * (size_t)s->noperands, results + (size_t)i * s->v->nout);
}

static void finish_group(skeleton *s, batch *b, int group) {
    int nout = s->v->nout;
    ssa *out = arena_alloc(s->e->a, (size_t)(nout * b->vector) * sizeof *out); /* [lane][output] */
    skeleton_compute_all(s, batch_in(s, b, group, 0, 0), b->vector, out);
    for (int k = s->nin; k < s->nin + nout; k++)
        if (!variant_follows(s->v, k))
            skeleton_store(s, k, *batch_at(s, b, group, k), b->vector, b->aligned, out);
}

static void finish_lane(skeleton *s, batch *b, int group, int lane) {
    ssa results[UF_MAX_OPERANDS];
    skeleton_compute(s, batch_in(s, b, group, lane, 0), results);
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        if (!variant_follows(s->v, k))
            skeleton_store(s, k, skeleton_neighbour(s, k, *batch_at(s, b, group, k), ssa_constant(lane)), 1,
                           b->aligned && s->v->operand[k].group, results);
}

static ssa mask_of(const skeleton *s, const ssa *in) {
    int mask = s->nin + s->v->nout;
    return s->uniform[mask] ? s->value[mask] : in[mask];
}

static void store_outputs(skeleton *s, int n, bool whole, const ssa *at, int lane, const ssa *results) {
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        if (!variant_follows(s->v, k))
            skeleton_store(s, k, lane ? skeleton_neighbour(s, k, at[k], ssa_constant(lane)) : at[k], n, whole, results);
}

void skeleton_store_where(skeleton *s, const ssa *in, int n, bool whole, const ssa *at, const ssa *results) {
    emit *e = s->e;
    ssa all = mask_of(s, in);
    for (int i = 1; i < n; i++)
        all = emit_op(e, "and i1", all, mask_of(s, in + i * s->noperands));
    int together = emit_label_new(e), each = n > 1 ? emit_label_new(e) : 0, end = emit_label_new(e);
    emit_branch_if(e, all, together, n > 1 ? each : end);
    emit_label(e, together);
    store_outputs(s, n, whole, at, 0, results);
    emit_branch(e, end);
    if (n > 1) {
        emit_label(e, each);
        for (int i = 0; i < n; i++) {
            int skip = skeleton_if(s, mask_of(s, in + i * s->noperands));
            store_outputs(s, 1, false, at, i, results + i * s->v->nout);
            skeleton_end_if(s, skip);
        }
        emit_branch(e, end);
    }
    emit_label(e, end);
}

/* Do vectors of results take many stores if they are stored one by one? Of words and more they take few, and a branch around all that an element
 * takes saves what is loaded for it. */
static bool stores_many(const skeleton *s, const batch *b) {
    bool many = b->vector > 1;
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        many &= dtypes[skeleton_memory(s, k)].size < (int)sizeof(uint32_t);
    return many;
}

/* Where the mask is false nothing is computed either: on values that are masked out a kernel might loop for long. */
static void finish_masked_group(skeleton *s, batch *b, int group) {
    if (skeleton_ignores_mask(s) && stores_many(s, b)) {
        ssa *results = arena_alloc(s->e->a, (size_t)(s->v->nout * b->vector) * sizeof *results);
        skeleton_compute_all(s, batch_in(s, b, group, 0, 0), b->vector, results);
        skeleton_store_where(s, batch_in(s, b, group, 0, 0), b->vector, b->aligned, batch_at(s, b, group, 0), results);
        return;
    }
    for (int i = 0; i < b->vector; i++) {
        int end = skeleton_if(s, mask_of(s, batch_in(s, b, group, i, 0)));
        finish_lane(s, b, group, i);
        skeleton_end_if(s, end);
    }
}

void batch_finish_unmasked(skeleton *s, batch *b) {
    for (int g = 0; g < b->groups; g++)
        finish_group(s, b, g);
}

void batch_finish(skeleton *s, batch *b) {
    for (int g = 0; g < b->groups; g++)
        (s->v->masked ? finish_masked_group : finish_group)(s, b, g);
}
