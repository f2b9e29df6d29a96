/* module.c - modules: texts of types, helpers and constants that other texts use. A module never changes once made, and lives as
 * long as somebody holds it: its maker, and the functions and modules that were made with it. */
#include <stdio.h>

#include "core/core.h"

struct uf_module {
    atomic_int references;
    arena arena; /* texts and the syntax tree */
    scope scope; /* what the text sees */
    const char *name, *doc, *source;
    const char *title; /* what errors call the text: "module interval", or the path of its file */
    const char *records, *helpers;
    const syntax *syntax;
    char key[DIGEST_TEXT]; /* stands for the text, and all that it sees */
    _Atomic(struct layout_kept *) layouts;
};

const char *module_name(const uf_module *m) { return m->name; }
const syntax *module_syntax(const uf_module *m) { return m->syntax; }
const char *module_key(const uf_module *m) { return m->key; }
_Atomic(struct layout_kept *) *module_layouts(const uf_module *m) { return &((uf_module *)(uintptr_t)m)->layouts; }
void module_keep(uf_module *m) { atomic_fetch_add(&m->references, 1); }

void module_drop(uf_module *m) {
    if (atomic_fetch_sub(&m->references, 1) != 1)
        return;
    layouts_free(atomic_load(&m->layouts));
    scope_free(&m->scope);
    arena_free(&m->arena);
    mem_free(m);
}

/* ---- Making ---- */

static uf_status keep_text(uf_module *m, const char *s, const char **out) {
    *out = arena_text(&m->arena, s, strlen(s));
    return *out ? UF_OK : UF_ERR_MEMORY;
}

/* Writes what the text defines, as a description shows it: "interval(T); point", and a helper a line. */
static uf_status contents_write(uf_module *m) {
    text records = {0}, helpers = {0};
    bool has_parameter;
    const char *name;
    for (int i = 0; (name = lang_record_name(&m->arena, m->syntax, i, &has_parameter)); i++)
        text_printf(&records, "%s%s%s", i ? "; " : "", name, has_parameter ? "(T)" : "");
    for (int i = 0; (name = lang_helper_text(&m->arena, m->syntax, i)); i++) {
        text_puts(&helpers, i ? "\n" : "");
        text_puts(&helpers, name);
    }
    uf_status s = records.failed || helpers.failed ? fail_memory() : UF_OK;
    if (!s)
        s = keep_text(m, records.data ? records.data : "", &m->records);
    if (!s)
        s = keep_text(m, helpers.data ? helpers.data : "", &m->helpers);
    text_free(&records);
    text_free(&helpers);
    return s;
}

static void key_write(uf_module *m) {
    digest d;
    digest_begin(&d);
    digest_add_text(&d, m->name);
    digest_add_text(&d, m->source);
    digest_add_text(&d, m->scope.key);
    digest_end(&d, m->key);
}

typedef struct making {
    uf_module *module;
    const uf_module_definition *definition;
    const text_origin *from;
} making;

/* Runs on a big stack, as parsing recurses over the text. */
static uf_status module_read(void *user) {
    const making *x = user;
    const uf_module_definition *d = x->definition;
    uf_module *m = x->module;
    char title[160];
    snprintf(title, sizeof title, "module %s", d->name);
    const text_origin own = {.title = title}, *from = x->from ? x->from : &own;
    TRY(keep_text(m, d->name, &m->name));
    TRY(keep_text(m, d->doc ? d->doc : "", &m->doc));
    TRY(keep_text(m, d->source, &m->source));
    TRY(keep_text(m, from->title, &m->title));
    TRY(scope_open(&m->scope, m->title, d->nmodules, d->modules, 0, NULL, x->from));
    TRY(fail_named(lang_parse_module(&m->arena, m->title, m->source, &m->scope.names, &m->syntax), "%s", m->title));
    TRY(scope_close(&m->scope));
    key_write(m);
    return contents_write(m);
}

uf_status module_make(uf_module **out, const uf_module_definition *d, const text_origin *from) {
    *out = NULL;
    TRY(name_check(d->name));
    if (!d->source)
        return fail(UF_ERR_ARGUMENT, "module %s: the source is NULL", d->name);
    uf_module *m = mem_zero(1, sizeof *m);
    if (!m)
        return fail_memory();
    atomic_init(&m->references, 1);
    uf_status s = on_big_stack(module_read, &(making){m, d, from});
    if (s)
        module_drop(m);
    else
        *out = m;
    return s;
}

uf_status uf_module_new(uf_module **out, const uf_module_definition *definition) {
    uf_module_definition d;
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    *out = NULL;
    if (!definition)
        return fail(UF_ERR_ARGUMENT, "the definition is NULL");
    TRY(struct_read(definition, &d, sizeof d, "uf_module_definition"));
    return module_make(out, &d, NULL);
}

uf_status uf_module_load(uf_module **out, const char *what) {
    imported found = {0};
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    *out = NULL;
    if (!what)
        return fail(UF_ERR_ARGUMENT, "what is NULL; a path or a name of the catalogue's modules is needed");
    if (is_path(what)) {
        TRY(path_load(&found, what, NULL));
    } else {
        const catalogue_entry *entry = catalogue_find(&catalogue_modules, what);
        TRY(entry ? catalogue_import(what, entry, true, NULL, &found) : catalogue_unknown(&catalogue_modules, what));
    }
    if (found.func) {
        func_drop(found.func);
        return fail(UF_ERR_ARGUMENT, "%s is no module; uf_load reads functions", what);
    }
    *out = found.module;
    return UF_OK;
}

void uf_module_free(uf_module *m) {
    if (m)
        module_drop(m);
}

uf_status uf_module_describe(const uf_module *m, uf_module_description *out) {
    if (!m || !out)
        return fail(UF_ERR_ARGUMENT, "%s is NULL", m ? "out" : "module");
    const uf_module_description all = {.name = m->name, .doc = m->doc, .records = m->records, .helpers = m->helpers};
    return struct_write(&all, sizeof all, out, "uf_module_description");
}
