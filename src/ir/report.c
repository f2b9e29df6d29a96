/* report.c - see report.h. */
#include "ir/report.h"

void report_parameters(text *out) { text_puts(out, ", i64 %report, i64 %element"); }

void report_arguments(text *out, ssa address, ssa element) {
    text_printf(out, ", i64 %s, i64 %s", address.text, element.text);
}

void report_helper_parameters(text *out) {
    report_parameters(out);
    text_puts(out, ", i64 %line");
}

static ssa line_of(const body *b, int line) {
    if (!line && !b->f->body->line) /* of the prelude */
        return ssa_text("%%line");
    return ssa_text("%d", line ? line : b->e->line);
}

void report_helper_arguments(const body *b, text *out, int line) {
    report_arguments(out, ssa_text("%%report"), ssa_text("%%element"));
    text_printf(out, ", i64 %s", line_of(b, line).text);
}

/* A function of the module: the first that comes claims the report and fills it. */
static void define_report(emit *e) {
    static const char *const members[] = {"what", "line", "operand", "dimension", "value", "extent", "element"};
    const char *star = ir_global_pointer(e);
    aside s;
    if (!emit_aside(e, &s,
                    "define internal void @report(i64 %%report, i64 %%what, i64 %%line, i64 %%operand, "
                    "i64 %%dimension, i64 %%value, i64 %%extent, i64 %%element) noinline nounwind"))
        return;
    int begin = emit_label_new(e), claim = emit_label_new(e), fill = emit_label_new(e), end = emit_label_new(e);
    emit_label(e, begin);
    ssa at = emit_value(e, "inttoptr i64 %%report to i64%s", star);
    ssa state = emit_value(e, "load volatile i64, i64%s %s, align 8", star, at.text);
    emit_branch_if(e, emit_value(e, "icmp eq i64 %s, 0", state.text), claim, end);
    emit_label(e, claim);
    ssa pair = emit_value(e, "cmpxchg i64%s %s, i64 0, i64 1 monotonic monotonic", star, at.text);
    emit_branch_if(e, emit_value(e, "extractvalue { i64, i1 } %s, 1", pair.text), fill, end);
    emit_label(e, fill);
    for (size_t i = 0; i < COUNT(members); i++) {
        ssa member = emit_value(e, "getelementptr inbounds i64, i64%s %s, i64 %zu", star, at.text, i + 1);
        emit_line(e, "store i64 %%%s, i64%s %s, align 8", members[i], star, member.text);
    }
    emit_branch(e, end);
    emit_label(e, end);
    emit_line(e, "ret void");
    emit_aside_end(e, &s);
}

static int way_out(body *b) {
    if (!b->ended)
        b->ended = emit_label_new(b->e);
    return b->ended;
}

void report_unless(body *b, ssa holds, const failure *f) {
    emit *e = b->e;
    int good = emit_label_new(e), bad = emit_label_new(e);
    define_report(e);
    emit_branch_if(e, holds, good, bad);
    emit_label(e, bad);
    emit_line(e, "call void @report(i64 %%report, i64 %d, i64 %s, i64 %d, i64 %d, i64 %s, i64 %s, i64 %%element)",
              (int)f->what, line_of(b, f->line).text, f->operand, f->dimension, f->value.text, f->extent.text);
    emit_branch(e, way_out(b));
    emit_label(e, good);
}

/* Where the last member is: behind the scalar results. */
static int ended_at(const function *f) {
    int results = 0;
    for (int k = f->nparams; k < f->nparams + f->nresults; k++)
        results += !f->locals[k].core;
    return results;
}

ssa report_ended(emit *e, const function *f, const char *type, ssa all) {
    return emit_value(e, "extractvalue %s %s, %d", type, all.text, ended_at(f));
}

void report_pass_on(body *b, const function *callee, const char *type, ssa all) {
    emit *e = b->e;
    int go_on = emit_label_new(e);
    emit_branch_if(e, report_ended(e, callee, type, all), way_out(b), go_on);
    emit_label(e, go_on);
}

void report_exit(body *b, const char *type) {
    emit *e = b->e;
    if (!b->ended)
        return;
    emit_label(e, b->ended);
    ssa all = emit_value(e, "insertvalue %s undef, i1 true, %d", type, ended_at(b->f));
    emit_line(e, "ret %s %s", type, all.text);
}
