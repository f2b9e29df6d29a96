/* core_texts.c - the texts of the forms of a generalized ufunc that reduces: its kernel as a helper with array parameters, called by a
 * kernel over the scalars of two cores; and its identity, for each scalar. */
#include <stdio.h>

#include "core/cores.h"

/* ---- Texts as helpers ---- */

/* Writes into `out` a beginning of names that none of these texts has (a text may be NULL). */
static void prefix_choose(const char *a, const char *b, char *out, size_t size) {
    snprintf(out, size, "core_");
    while ((strstr(a, out) || (b && strstr(b, out))) && strlen(out) + 1 < size)
        strcat(out, "_");
}

static void newlines_add(text *t, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (from[i] == '\n')
            text_puts(t, "\n");
}

/* Writes the parameters of the kernel as arrays: "a[m][n], b[n][p], c[m][p]". */
static void arrays_print(text *t, const uf_func *f, const section *s, const char *prefix) {
    const core_layout *l = f->layout;
    for (int k = 0; k < 3; k++) {
        const layout_operand *o = &l->operands[k];
        int length;
        const char *name = lang_operand_name(s->syntax, k, &length);
        text_printf(t, "%s%.*s", k ? ", " : "", length, name);
        for (int i = 0; i < o->rank; i++)
            if (l->dims[o->dim[i]].name)
                text_printf(t, "[%s]", l->dims[o->dim[i]].name);
            else
                text_printf(t, "[%ssize%d]", prefix, o->dim[i]);
    }
}

/* Writes a text whose kernel is a helper: what stands before it, this head, and its body on the lines where it was. */
static void helper_print(text *t, const section *s, const char *head) {
    const kernel_text at = lang_kernel_text(s->syntax);
    text_add(t, s->source, at.head);
    text_puts(t, head);
    newlines_add(t, s->source + at.head, at.body - at.head);
    text_puts(t, s->source + at.body);
    text_puts(t, "\n");
}

/* Writes prefix, letter and number of each scalar: "core_a0, core_a1". */
static void scalars_print(text *t, const char *prefix, char letter, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        text_printf(t, "%s%s%c%lld", i ? ", " : "", prefix, letter, (long long)i);
}

/* Writes what stands behind the name of an array for its scalar `at`: "[1][2]"; or as arguments, "(int64)1, (int64)2". */
static void index_print(text *t, const core *x, int64_t at, bool arguments) {
    int64_t index[LAYOUT_MAX_RANK];
    for (int i = x->rank - 1; i >= 0; i--) {
        index[i] = at ? at % x->size[i] : 0;
        at = at ? at / x->size[i] : 0;
    }
    for (int i = 0; i < x->rank; i++)
        if (arguments)
            text_printf(t, "%s(int64)%lld", i ? ", " : "", (long long)index[i]);
        else
            text_printf(t, "[%lld]", (long long)index[i]);
}

static void array_declare(text *t, const core *x, const char *prefix, char letter, bool initialised) {
    text_printf(t, "    %s %s%c", dtypes[x->type].name, prefix, letter);
    for (int i = 0; i < x->rank; i++)
        text_printf(t, "[%lld]", (long long)x->size[i]);
    if (initialised) {
        text_puts(t, " = {");
        scalars_print(t, prefix, letter, x->count);
        text_puts(t, "}");
    }
    text_puts(t, ";\n");
}

/* Writes the combination of two cores, each given by its scalars. */
static void combine_print(text *t, const uf_func *f, const core *x, const char *prefix) {
    const section *s = &f->sections[x->section];
    text head = {0};
    text_printf(&head, "%scombine(", prefix);
    arrays_print(&head, f, s, prefix);
    text_puts(&head, ") ");
    t->failed |= head.failed;
    helper_print(t, s, head.failed ? "" : head.data);
    text_free(&head);
    text_puts(t, "(");
    scalars_print(t, prefix, 'a', x->count);
    text_puts(t, ", ");
    scalars_print(t, prefix, 'b', x->count);
    text_puts(t, ") -> (");
    scalars_print(t, prefix, 'c', x->count);
    text_puts(t, ") {\n");
    for (int k = 0; k < 3; k++)
        array_declare(t, x, prefix, "abc"[k], k < 2);
    text_printf(t, "    %scombine(%sa, %sb, %sc);\n", prefix, prefix, prefix, prefix);
    for (int64_t i = 0; i < x->count; i++) {
        text_printf(t, "    %sc%lld = %sc", prefix, (long long)i, prefix);
        index_print(t, x, i, false);
        text_puts(t, ";\n");
    }
    text_puts(t, "}\n");
}

/* ---- The identity ---- */

/* Writes what stands before a kernel that uses the identity. */
static void identity_head_print(text *t, const uf_func *f, const core *x, const char *prefix) {
    const section *s = &f->identity;
    if (!lang_indices(s->syntax)) {
        text_add(t, s->source, lang_kernel_text(s->syntax).head);
        return;
    }
    text head = {0};
    text_printf(&head, "%sidentity(", prefix);
    for (int i = 0; i < x->rank; i++) {
        int length;
        const char *name = lang_operand_name(s->syntax, i, &length);
        text_printf(&head, "%s%.*s", i ? ", " : "", length, name);
    }
    text_puts(&head, ") ");
    t->failed |= head.failed;
    helper_print(t, s, head.failed ? "" : head.data);
    text_free(&head);
}

/* Writes the identity of scalar `at`; of the one that the indices of a forall say, if it is negative. */
static void identity_value_print(text *t, const uf_func *f, const core *x, const char *prefix, int64_t at) {
    const section *s = &f->identity;
    if (!lang_indices(s->syntax)) {
        text_printf(t, "(%s\n)", s->source + lang_kernel_text(s->syntax).head);
        return;
    }
    text_printf(t, "%sidentity(", prefix);
    if (at >= 0)
        index_print(t, x, at, true);
    for (int i = 0; i < x->rank && at < 0; i++)
        text_printf(t, "%s%si%d", i ? ", " : "", prefix, i);
    text_puts(t, ")");
}

/* Writes the identity of so many scalars. */
static void identity_print(text *t, const uf_func *f, const core *x, int64_t count, const char *prefix) {
    identity_head_print(t, f, x, prefix);
    text_puts(t, "() -> (");
    scalars_print(t, prefix, 'c', count);
    text_puts(t, ") {\n");
    for (int64_t i = 0; i < count; i++) {
        text_printf(t, "    %sc%lld = ", prefix, (long long)i);
        identity_value_print(t, f, x, prefix, i);
        text_puts(t, ";\n");
    }
    text_puts(t, "}\n");
}

static void element_print(text *t, const core *x, const char *prefix, char letter) {
    text_printf(t, "%s%c", prefix, letter);
    for (int i = 0; i < x->rank; i++)
        text_printf(t, "[%si%d]", prefix, i);
}

/* Writes the kernel that fills a core with the identity, or where a mask is false. */
static void select_print(text *t, const uf_func *f, const core *x, const char *prefix, bool selects) {
    identity_head_print(t, f, x, prefix);
    text_puts(t, "(");
    if (selects)
        text_printf(t, "%sa, ", prefix);
    text_printf(t, "%sm) -> (%sc) {\n    forall (", prefix, prefix);
    for (int i = 0; i < x->rank; i++)
        text_printf(t, "%s%si%d : n%d", i ? ", " : "", prefix, i, i);
    text_puts(t, ") {\n");
    if (selects) {
        text_printf(t, "        if (%sm) ", prefix);
        element_print(t, x, prefix, 'c');
        text_puts(t, " = ");
        element_print(t, x, prefix, 'a');
        text_puts(t, ";\n        else\n    ");
    }
    text_puts(t, "        ");
    element_print(t, x, prefix, 'c');
    text_puts(t, " = ");
    identity_value_print(t, f, x, prefix, -1);
    text_puts(t, ";\n    }\n}\n");
}

/* ---- The texts of a form ---- */

/* A text in the arena of a function; frees t. */
static uf_status text_keep(uf_func *h, text *t, const char **out) {
    *out = t->failed ? NULL : arena_text(&h->arena, t->data, t->length);
    text_free(t);
    return *out ? UF_OK : fail_memory();
}

uf_status core_texts(uf_func *h, const uf_func *f, const core *x, core_purpose purpose, const char **source,
                     const char **identity) {
    char prefix[64];
    text t = {0}, begin = {0};
    prefix_choose(f->sections[x->section].source, f->identity.source, prefix, sizeof prefix);
    *identity = NULL;
    if (purpose >= CORE_FILLS)
        select_print(&t, f, x, prefix, purpose == CORE_SELECTS);
    else if (purpose == CORE_LOOPS)
        text_puts(&t, "(a, b) -> (c) { c = a; }");
    else
        combine_print(&t, f, x, prefix);
    TRY(text_keep(h, &t, source));
    if (purpose >= CORE_FILLS || !f->identity.syntax)
        return UF_OK;
    identity_print(&begin, f, x, purpose == CORE_LOOPS ? 1 : x->count, prefix);
    return text_keep(h, &begin, identity);
}
