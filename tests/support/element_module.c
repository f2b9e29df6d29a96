/* element_module.c - see element_module.h. */
#include "element_module.h"

#include <stdlib.h>

static void write_element(emit *e, const tree *t, const ssa *base, ssa index) {
    const function *f = t->kernel;
    ssa in[UF_MAX_OPERANDS], out[UF_MAX_OPERANDS];
    for (int k = 0; k < f->nparams; k++)
        in[k] = emit_load(e, f->locals[k].type, emit_element(e, f->locals[k].type, base[k], index));
    emit_kernel_call(e, t, "kernel", in, out);
    for (int k = 0; k < f->nresults; k++) {
        dtype type = f->locals[f->nparams + k].type;
        emit_store(e, type, out[k], emit_element(e, type, base[f->nparams + k], index));
    }
}

static void cpu_entry(emit *e, const tree *t, const char *name) {
    const function *f = t->kernel;
    ssa base[UF_MAX_OPERANDS] = {0};
    int entry = emit_label_new(e), head = emit_label_new(e), end = emit_label_new(e);
    text_printf(e->out, "define void @%s(i8** %%arrays, i64 %%n) nounwind \"prefer-vector-width\"=\"512\"%s {\n", name,
                emit_scope(e, name, 1).text);
    emit_label(e, entry);
    for (int k = 0; k < f->nparams + f->nresults; k++) {
        const char *type = ir_memory_type(f->locals[k].type);
        ssa slot = emit_value(e, "getelementptr i8*, i8** %%arrays, i64 %d", k);
        ssa typed = emit_value(e, "bitcast i8** %s to %s**", slot.text, type);
        base[k] = emit_value(e, "load %s*, %s** %s", type, type, typed.text);
    }
    emit_branch(e, head);
    emit_label(e, head);
    emit_line(e, "%%i%d = phi i64 [ 0, %%L%d ], [ %%j%d, %%L%d ]", head, entry, head, head + 1000);
    write_element(e, t, base, ssa_named("%%i%d", head));
    emit_branch(e, head + 1000);
    emit_label(e, head + 1000);
    emit_line(e, "%%j%d = add i64 %%i%d, 1", head, head);
    ssa more = emit_value(e, "icmp ult i64 %%j%d, %%n", head);
    emit_branch_if(e, more, head, end);
    emit_label(e, end);
    emit_line(e, "ret void");
    text_puts(e->out, "}\n\n");
    emit_scope_end(e);
}

static void gpu_entry(emit *e, const tree *t, const char *name) {
    const function *f = t->kernel;
    ssa base[UF_MAX_OPERANDS] = {0};
    text types = {0};
    text_printf(e->out, "define void @%s(", name);
    text_puts(&types, "void (");
    for (int k = 0; k < f->nparams + f->nresults; k++) {
        const char *comma = k ? ", " : "", *type = ir_memory_type(f->locals[k].type);
        text_printf(e->out, "%s%s%s %%w%d", comma, type, ir_global_pointer(e), k);
        text_printf(&types, "%s%s%s", comma, type, ir_global_pointer(e));
        base[k] = ssa_named("%%w%d", k);
    }
    text_puts(&types, ")");
    text_printf(e->out, ") nounwind%s {\n", emit_scope(e, name, 1).text);
    emit_declare(e, "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
    ssa thread = emit_value(e, "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
    write_element(e, t, base, emit_value(e, "zext i32 %s to i64", thread.text));
    emit_line(e, "ret void");
    text_puts(e->out, "}\n\n");
    emit_scope_end(e);
    emit_kernel_annotation(e, types.data, 256, 0, 1);
    text_free(&types);
}

code_module element_module(arena *a, const tree *t, const code_target *target, unsigned fast, unsigned flags) {
    code_module m = {.entry = "entry", .fast = fast, .flags = flags};
    emit e;
    emit_begin(&e, a, &m, target, "example");
    emit_functions(&e, t, "kernel");
    (target->gpu ? gpu_entry : cpu_entry)(&e, t, "entry");
    if (emit_finish(&e) != UF_OK)
        abort();
    return m;
}
