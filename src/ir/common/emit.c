/* emit.c - the text of a module: head and tail, registers, labels, declarations, attributes, metadata. */
#include "ir/common/internal.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>

#include "ir/common/target.h"

const char *ir_value_type(dtype t) {
    static const char *const names[DT_COUNT] = {[DT_BOOL] = "i1",
                                                [DT_INT8] = "i8",
                                                [DT_INT16] = "i16",
                                                [DT_INT32] = "i32",
                                                [DT_INT64] = "i64",
                                                [DT_UINT8] = "i8",
                                                [DT_UINT16] = "i16",
                                                [DT_UINT32] = "i32",
                                                [DT_UINT64] = "i64",
                                                [DT_FLOAT16] = "i16",
                                                [DT_BFLOAT16] = "i16",
                                                [DT_FLOAT32] = "float",
                                                [DT_FLOAT64] = "double",
                                                [DT_COMPLEX64] = "{ float, float }",
                                                [DT_COMPLEX128] = "{ double, double }"};
    assert(names[t]);
    return names[t];
}

const char *ir_memory_type(dtype t) { return t == DT_BOOL ? "i8" : ir_value_type((dtype)dtypes[t].component); }

const char *ir_global_pointer(const emit *e) { return e->shared ? " addrspace(3)*" : target_pointer(e->target); }

/* ---- Lines ---- */

int emit_metadata(emit *e, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_printf(&e->metadata, "!%d = ", ++e->nmetadata);
    text_vprintf(&e->metadata, format, arguments);
    text_puts(&e->metadata, "\n");
    va_end(arguments);
    return e->nmetadata;
}

/* The metadata number of the current line in the current scope. */
static int location(emit *e) {
    int key[2] = {e->line, e->scope};
    intptr_t place = (intptr_t)map_get(&e->locations, key, sizeof key);
    if (!place) {
        place = emit_metadata(e, "!DILocation(line: %d, scope: !%d)", e->line, e->scope);
        e->failed |= !map_put(&e->locations, key, sizeof key, (void *)place);
    }
    return (int)place;
}

static void finish_line(emit *e) {
    e->written.lines++;
    if (e->scope)
        text_printf(e->out, ", !dbg !%d", location(e));
    text_puts(e->out, "\n");
}

void emit_line(emit *e, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_puts(e->out, "  ");
    text_vprintf(e->out, format, arguments);
    va_end(arguments);
    finish_line(e);
}

ssa emit_value(emit *e, const char *format, ...) {
    ssa result = ssa_register(++e->registers);
    va_list arguments;
    va_start(arguments, format);
    text_printf(e->out, "  %s = ", result.text);
    text_vprintf(e->out, format, arguments);
    va_end(arguments);
    finish_line(e);
    return result;
}

/* ---- How much there is ---- */

void emit_bound(const emit *e) {
    if (e->written.lines > e->most_lines)
        longjmp(*e->a->escape, UF_ERR_COMPILE);
}

static void reach(emit *e, int depth) {
    if (e->nesting + depth > e->written.depth)
        e->written.depth = e->nesting + depth;
}

void emit_loop_begin(emit *e) {
    e->nesting++;
    e->written.loops++;
    reach(e, 0);
}

void emit_loop_end(emit *e) {
    assert(e->nesting > 0); /* loops are well nested */
    e->nesting--;
}

bool emit_is_short(const emit *e, const char *name, int lines) {
    const ir_size *size = map_get(&e->sizes, name, strlen(name));
    return size && size->lines <= lines && !size->loops;
}

ssa emit_invoke(emit *e, const char *result, const char *name, const char *arguments, const char *more) {
    const ir_size *callee = map_get(&e->sizes, name, strlen(name));
    if (callee) {
        e->written.lines += callee->lines;
        e->written.loops += callee->loops;
        reach(e, callee->depth);
    }
    arguments = arguments ? arguments : "";
    more = more ? more : "";
    return emit_value(e, "call %s @%s(%s%s)", result, name, arguments,
                      more + (*arguments || !*more ? 0 : strlen(", ")));
}

int emit_label_new(emit *e) { return ++e->labels; }

void emit_label(emit *e, int label) {
    e->block = label;
    text_printf(e->out, "L%d:\n", label);
}

void emit_branch(emit *e, int label) { emit_line(e, "br label %%L%d", label); }

void emit_branch_if(emit *e, ssa condition, int yes, int no) {
    assert(ssa_is_set(condition));
    emit_line(e, "br i1 %s, label %%L%d, label %%L%d", condition.text, yes, no);
}

/* ---- Things said once a module ---- */

bool emit_once(emit *e, const char *key) {
    if (map_get(&e->declared, key, strlen(key)))
        return false;
    e->failed |= !map_put(&e->declared, key, strlen(key), e);
    return true;
}

void emit_declare(emit *e, const char *format, ...) {
    text line = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&line, format, arguments);
    va_end(arguments);
    e->failed |= line.failed;
    if (!line.failed && emit_once(e, line.data))
        text_printf(&e->declarations, "%s\n", line.data);
    text_free(&line);
}

void emit_used(emit *e, const char *name, const char *type, int arity) {
    text_printf(&e->used, "%si8* bitcast (%s (%s", e->nused++ ? ", " : "", type, type);
    for (int i = 1; i < arity; i++)
        text_printf(&e->used, ", %s", type);
    text_printf(&e->used, ")* @%s to i8*)", name);
}

int emit_attributes(emit *e, const char *format, ...) {
    text line = {0};
    intptr_t group = 0;
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&line, format, arguments);
    va_end(arguments);
    e->failed |= line.failed;
    if (!line.failed && !(group = (intptr_t)map_get(&e->attributes, line.data, line.length))) {
        group = ++e->groups;
        e->failed |= !map_put(&e->attributes, line.data, line.length, (void *)group);
        text_printf(&e->declarations, "attributes #%d = { %s }\n", (int)group, line.data);
    }
    text_free(&line);
    return (int)group;
}

/* Arena memory without the arena's jump: what emit owns on the heap would be lost. */
static void *quiet_alloc(emit *e, size_t size) {
    jmp_buf *escape = e->a->escape;
    e->a->escape = NULL;
    void *block = arena_alloc(e->a, size);
    e->a->escape = escape;
    e->failed |= !block;
    return block;
}

void emit_symbol(emit *e, const char *name, const void *address) {
    code_module *m = e->module;
    char key[128];
    snprintf(key, sizeof key, "symbol %s", name);
    if (!emit_once(e, key))
        return;
    if (m->nsymbols == e->symbol_capacity) {
        int capacity = e->symbol_capacity ? 2 * e->symbol_capacity : 64;
        code_symbol *more = quiet_alloc(e, (size_t)capacity * sizeof *more);
        if (!more)
            return;
        if (m->nsymbols)
            memcpy(more, m->symbols, (size_t)m->nsymbols * sizeof *more);
        m->symbols = more;
        e->symbol_capacity = capacity;
    }
    size_t size = strlen(name) + 1;
    char *copy = quiet_alloc(e, size);
    if (copy)
        m->symbols[m->nsymbols++] = (code_symbol){memcpy(copy, name, size), address};
}

bool emit_define(emit *e, definition *s, const char *head, ...) {
    *s = (definition){.out = e->out, .scope = e->scope, .block = e->block};
    va_list arguments;
    va_start(arguments, head);
    text_vprintf(&s->body, head, arguments);
    va_end(arguments);
    if (s->body.failed || !emit_once(e, s->body.data)) {
        e->failed |= s->body.failed;
        text_free(&s->body);
        return false;
    }
    text_puts(&s->body, " {\n");
    e->out = &s->body;
    e->scope = 0;
    return true;
}

void emit_define_end(emit *e, definition *s) {
    assert(e->out == &s->body); /* definitions end in the opposite order to that in which they began */
    text_puts(&s->body, "}\n");
    e->failed |= s->body.failed;
    if (!s->body.failed)
        text_printf(&e->declarations, "%s\n", s->body.data);
    text_free(&s->body);
    e->out = s->out;
    e->scope = s->scope;
    e->block = s->block;
}

/* ---- Debug information ---- */

/* On the GPU DebugDirectivesOnly: anything else makes ptxas compile without optimisation. */
static void debug_begin(emit *e, const char *name) {
    e->unit = emit_metadata(e, "!DIFile(filename: \"%s\", directory: \".\")", name);
    emit_metadata(
        e,
        "distinct !DICompileUnit(language: DW_LANG_C99, file: !%d, producer: \"libufunc\", isOptimized: true, "
        "runtimeVersion: 0, emissionKind: %s)",
        e->unit, e->target->gpu ? "DebugDirectivesOnly" : "LineTablesOnly");
    int types = emit_metadata(e, "!{null}");
    emit_metadata(e, "!DISubroutineType(types: !%d)", types);
}

fragment emit_scope(emit *e, const char *name, int line) {
    if (!e->unit)
        return fragment_none();
    assert(!e->scope); /* a function ends before the next one begins */
    e->line = line > 0 ? line : 1;
    e->scope = emit_metadata(e,
                             "distinct !DISubprogram(name: \"%s\", scope: !%d, file: !%d, line: %d, type: !%d, "
                             "isLocal: false, isDefinition: true, scopeLine: %d, isOptimized: true, unit: !%d)",
                             name, e->unit, e->unit, e->line, e->unit + 3, e->line, e->unit + 1);
    return fragment_of(" !dbg !%d", e->scope);
}

void emit_scope_end(emit *e) { e->scope = 0; }

/* ---- Head and tail ---- */

void emit_kernel_annotation(emit *e, const char *function_type, int max_threads, int resident, int cluster) {
    if (!e->target->gpu)
        return;
    text entry = {0};
    text_printf(&entry, "!{%s* @%s, !\"kernel\", i32 1", function_type, e->module->entry);
    if (max_threads)
        text_printf(&entry, ", !\"maxntidx\", i32 %d", max_threads);
    if (resident && !e->module->max_registers)
        text_printf(&entry, ", !\"minctasm\", i32 %d", resident);
    if (e->module->max_registers)
        text_printf(&entry, ", !\"maxnreg\", i32 %d", e->module->max_registers);
    if (cluster > 1)
        text_printf(&entry, ", !\"cluster_dim_x\", i32 %d, !\"cluster_dim_y\", i32 1, !\"cluster_dim_z\", i32 1",
                    cluster);
    e->failed |= entry.failed;
    if (!entry.failed)
        text_printf(&e->kernels, "%s!%d", e->kernels.length ? ", " : "", emit_metadata(e, "%s}", entry.data));
    text_free(&entry);
}

/* "f32", "i64", "u8", "c128", "bf16", "bool": the letters that tell, and the bits. */
static void add_dtype(text *out, dtype t) {
    const char *name = dtypes[t].name, *bits = name + strcspn(name, "0123456789");
    int letters = t == DT_BOOL ? 4 : t == DT_BFLOAT16 ? 2 : 1;
    text_printf(out, "_%.*s%s", letters, name, bits);
}

static void add_dtypes(text *out, const variant *v) {
    int n = v->nin + v->nout, same = 1;
    while (same < n && v->operand[same].memory == v->operand[0].memory)
        same++;
    for (int k = 0; k < (same < n ? n : 1); k++)
        add_dtype(out, (dtype)v->operand[k].memory);
}

static void add_class(text *out, const variant *v) {
    static const char *const words[LOOP_CLASSES] = {
        [LOOP_FLAT] = "flat",     [LOOP_ROWS] = "rows",     [LOOP_GENERAL] = "general",
        [LOOP_GUFUNC] = "gufunc", [LOOP_FOLD] = "reduce",   [LOOP_SCAN] = "scan",
        [LOOP_AT] = "at",         [LOOP_FORALL] = "forall", [LOOP_TILE] = "tile"};
    bool reduces = v->loop == LOOP_FOLD || v->loop == LOOP_SCAN;
    text_printf(out, "_%s%s%s", words[v->loop], reduces && v->reduction.from_states ? "_from_states" : "",
                reduces && v->reduction.to_states ? "_to_states" : "");
}

/* Out of memory: the name is shorter. */
void emit_name(code_module *module, const char *name, const variant *v) {
    enum {
        NAME_MIN = 24 /* letters of a long name that are kept, if the dtypes need the others */
    };
    text end = {0};
    add_class(&end, v);
    add_dtypes(&end, v);
    int most = (int)sizeof module->entry - 1 - (int)strlen("uf_"), room = most - (int)end.length;
    snprintf(module->entry, sizeof module->entry, "uf_%.*s%s", room > NAME_MIN ? room : NAME_MIN, name,
             end.failed ? "" : end.data);
    text_free(&end);
    for (char *c = module->entry; *c; c++)
        if (!isalnum((unsigned char)*c) || (unsigned char)*c > 127)
            *c = '_';
}

void emit_begin(emit *e, arena *a, code_module *module, const code_target *target, const char *name) {
    *e = (emit){.a = a, .out = &module->ir, .target = target, .module = module, .most_lines = INT_MAX};
    module->symbols = NULL;
    module->nsymbols = 0;
    text_printf(e->out, "; %s\n%s\n", name, target_head(target));
    if (module->flags & (UF_DEBUG | UF_LINES))
        debug_begin(e, name);
}

static void finish_metadata(emit *e) {
    if (e->kernels.length)
        text_printf(e->out, "!nvvm.annotations = !{%s}\n", e->kernels.data);
    if (e->target->gpu)
        text_printf(e->out, "!nvvmir.version = !{!%d}\n", emit_metadata(e, "!{i32 2, i32 0, i32 3, i32 1}"));
    if (e->unit) {
        text_printf(e->out, "!llvm.dbg.cu = !{!%d}\n", e->unit + 1);
        text_printf(e->out, "!llvm.module.flags = !{!%d}\n",
                    emit_metadata(e, "!{i32 2, !\"Debug Info Version\", i32 3}"));
    }
    if (e->metadata.length)
        text_puts(e->out, e->metadata.data);
}

uf_status emit_finish(emit *e) {
    e->out = &e->module->ir;
    for (int i = 0; !e->target->gpu && i < target_symbol_count; i++)
        emit_symbol(e, target_symbols[i].name, target_symbols[i].address);
    e->failed |= e->declarations.failed || e->used.failed || e->metadata.failed || e->kernels.failed;
    if (!e->failed) {
        if (e->declarations.length)
            text_printf(e->out, "%s\n", e->declarations.data);
        if (e->nused)
            text_printf(e->out, "@llvm.compiler.used = appending global [%d x i8*] [%s], section \"llvm.metadata\"\n",
                        e->nused, e->used.data);
        finish_metadata(e);
    }
    bool failed = e->failed || e->metadata.failed || e->out->failed;
    text *texts[] = {&e->declarations, &e->used, &e->metadata, &e->kernels};
    for (size_t i = 0; i < COUNT(texts); i++)
        text_free(texts[i]);
    for (size_t i = 0; i < COUNT(e->writing); i++) /* of a function that memory did not suffice for */
        if (e->writing[i])
            text_free(e->writing[i]);
    map *maps[] = {&e->declared, &e->functions,  &e->exact_functions, &e->sizes,
                   &e->tables,   &e->attributes, &e->locations};
    for (size_t i = 0; i < COUNT(maps); i++)
        map_free(maps[i]);
    return failed ? fail_memory() : UF_OK;
}
