/* report.c - see report.h. */
#include "ir/common/report.h"

#include "ir/common/skeleton.h"

void report_parameters(text *out) { text_puts(out, ", i64 %report, i64 %element"); }

void report_arguments(text *out, ssa address, ssa element) {
    text_printf(out, ", i64 %s, i64 %s", address.text, element.text);
}

void report_helper_parameters(const emit *e, text *out) {
    report_parameters(out);
    text_puts(out, counts_steps(e) ? ", i64 %line, i64* %steps" : ", i64 %line");
}

static ssa line_of(const body *b, int line) {
    if (!line && !b->f->body->line) /* of the prelude */
        return ssa_named("%%line");
    return ssa_constant(line ? line : b->e->line);
}

void report_helper_arguments(const body *b, text *out, int line) {
    report_arguments(out, ssa_named("%%report"), ssa_named("%%element"));
    text_printf(out, ", i64 %s%s", line_of(b, line).text, counts_steps(b->e) ? ", i64* %steps" : "");
}

/* A function of the module: the first that comes claims the report and fills it. */
static void define_report(emit *e) {
    static const char *const members[] = {"what", "line", "operand", "dimension", "value", "extent", "element"};
    const char *star = ir_global_pointer(e);
    definition s;
    if (!emit_define(e, &s,
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
    emit_define_end(e, &s);
}

static int way_out(body *b) {
    if (!b->ended)
        b->ended = emit_label_new(b->e);
    return b->ended;
}

/* Where the i1 is false, reports and leaves; else goes on at a label. */
static void report_or(body *b, ssa holds, const failure *f, int good) {
    emit *e = b->e;
    int bad = emit_label_new(e);
    define_report(e);
    emit_branch_if(e, holds, good, bad);
    emit_label(e, bad);
    emit_line(e, "call void @report(i64 %%report, i64 %d, i64 %s, i64 %d, i64 %d, i64 %s, i64 %s, i64 %%element)",
              (int)f->what, line_of(b, f->line).text, f->operand, f->dimension, f->value.text, f->extent.text);
    if (!e->frame)
        emit_line(e, "store i64 -1, i64* %%steps, align 8");
    emit_branch(e, way_out(b));
}

void report_unless(body *b, ssa holds, const failure *f) {
    int good = emit_label_new(b->e);
    report_or(b, holds, f, good);
    emit_label(b->e, good);
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
    ssa all =
        emit_value(e, "insertvalue %s %s, i1 true, %d", type, e->frame ? "undef" : "zeroinitializer", ended_at(b->f));
    emit_line(e, "ret %s %s", type, all.text);
}

/* ---- Steps ---- */

enum {
    SLICE = 4096 /* steps from one look at the flag to the next */
};

static ssa steps_rest(emit *e) { return emit_value(e, "getelementptr inbounds i64, i64* %%steps, i64 1"); }

static void steps_variable(emit *e) {
    emit_line(e, "%%steps = getelementptr inbounds [2 x i64], [2 x i64]* %%own_steps, i64 0, i64 0");
}

const char report_shared_arguments[] = ", i64 %report, i64 0, i64 1, i64* %steps";

const char *report_shared_parameters(const emit *e) { return reports(e) ? ", i64 %report, i64* %steps" : ""; }

void report_shared(skeleton *s) {
    emit *e = s->e;
    emit_line(e, "%%report = add i64 %s, 0", skeleton_report(s).text);
    emit_line(e, "%%own_steps = alloca [2 x i64]");
    steps_variable(e);
    emit_line(e, "store i64 0, i64* %%steps, align 8");
}

/* Ends this element at once if an earlier call of the thread has ended its own. */
static void end_with_others(body *b) {
    emit *e = b->e;
    int go_on = emit_label_new(e);
    ssa left = emit_value(e, "load i64, i64* %%steps, align 8");
    emit_branch_if(e, emit_value(e, "icmp slt i64 %s, 0", left.text), way_out(b), go_on);
    emit_label(e, go_on);
}

/* All steps are available from the beginning; but where the flag is read, in slices, of which the first is empty, so that the first
 * step reads the flag. */
void steps_begin(body *b) {
    emit *e = b->e;
    if (!counts_steps(e))
        return;
    if (e->frame) {
        text_puts(&b->slots, "  %own_steps = alloca [2 x i64]\n");
        steps_variable(e);
    } else {
        end_with_others(b);
    }
    bool slices = e->reports & REPORTS_CANCEL;
    long long all = e->reports & REPORTS_STEPS ? e->module->max_steps : INT64_MAX / 2;
    emit_line(e, "store i64 %lld, i64* %%steps, align 8", slices ? 0 : all);
    emit_line(e, "store i64 %lld, i64* %s, align 8", slices ? all : 0, steps_rest(e).text);
}

static failure end_of(report_what what, int line, long long value) {
    return (failure){.what = what,
                     .line = line,
                     .operand = -1,
                     .dimension = -1,
                     .value = ssa_constant(value),
                     .extent = ssa_constant(0)};
}

/* Is the flag 0? (i1) */
static ssa not_cancelled(emit *e) {
    const char *star = ir_global_pointer(e);
    ssa at = emit_value(e, "add i64 %%report, %zu", offsetof(report, cancel));
    ssa pointer = emit_value(e, "inttoptr i64 %s to i64%s", at.text, star);
    ssa flag = emit_value(e, "load i64, i64%s %s, align 8", star, pointer.text);
    ssa place = emit_value(e, "inttoptr i64 %s to i32%s", flag.text, star);
    ssa value = emit_value(e, "load volatile i32, i32%s %s, align 4", star, place.text);
    return emit_value(e, "icmp eq i32 %s, 0", value.text);
}

/* The slice is used up: if the call is not cancelled and n steps are left, takes them, and makes the next slice of the rest. */
static void slice_take(body *b, ssa left, ssa n, int line) {
    emit *e = b->e;
    int go_on = emit_label_new(e), enough = emit_label_new(e);
    const failure cancelled = end_of(REPORT_CANCEL, line, 0), spent = end_of(REPORT_STEPS, line, e->module->max_steps);
    report_or(b, not_cancelled(e), &cancelled, go_on);
    emit_label(e, go_on);
    ssa rest = steps_rest(e), more = emit_value(e, "load i64, i64* %s, align 8", rest.text);
    ssa all = emit_value(e, "add i64 %s, %s", left.text, more.text),
        after = emit_value(e, "sub i64 %s, %s", all.text, n.text);
    report_or(b, emit_value(e, "icmp sge i64 %s, 0", after.text), &spent, enough);
    emit_label(e, enough);
    ssa few = emit_value(e, "icmp slt i64 %s, %d", after.text, SLICE);
    ssa slice = emit_value(e, "select i1 %s, i64 %s, i64 %d", few.text, after.text, SLICE);
    emit_line(e, "store i64 %s, i64* %%steps, align 8", slice.text);
    emit_line(e, "store i64 %s, i64* %s, align 8", emit_value(e, "sub i64 %s, %s", after.text, slice.text).text,
              rest.text);
}

void steps_take(body *b, ssa n, int line) {
    emit *e = b->e;
    int more = emit_label_new(e), end = emit_label_new(e), take = emit_label_new(e);
    ssa left = emit_value(e, "load i64, i64* %%steps, align 8");
    ssa enough = emit_value(e, "icmp sge i64 %s, %s", left.text, n.text);
    if (e->reports & REPORTS_CANCEL) {
        emit_branch_if(e, enough, take, more);
        emit_label(e, more);
        slice_take(b, left, n, line);
        emit_branch(e, end);
    } else {
        const failure spent = end_of(REPORT_STEPS, line, e->module->max_steps);
        report_or(b, enough, &spent, take);
    }
    emit_label(e, take);
    emit_line(e, "store i64 %s, i64* %%steps, align 8", emit_value(e, "sub i64 %s, %s", left.text, n.text).text);
    emit_branch(e, end);
    emit_label(e, end);
}

void steps_count(body *b, const node *loop) {
    if ((loop->counted || (loop->sized && b->e->reports & REPORTS_SIZES)) && counts_steps(b->e))
        steps_take(b, ssa_constant(1), loop->line);
}
