/* scope.c - what the texts of a definition see beside themselves: the modules and functions that it lists, and those that the texts
 * name by `use`. These are found beside the file that a text is in, else in the catalogue. What of the catalogue was used once is
 * kept as long as the process, so that all functions share it. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "core/core.h"

enum {
    CHAIN_MOST = 32 /* texts that use each other, one the next */
};

/* ---- Imports: a module or a function, held ---- */

static void import_hold(const imported *x) {
    if (x->module)
        module_keep(x->module);
    if (x->func)
        func_keep(x->func);
}

static void import_drop(const imported *x) {
    if (x->module)
        module_drop(x->module);
    if (x->func)
        func_drop(x->func);
}

/* Adds a copy of *x, held once more, to a list. */
static uf_status import_add(imported **list, const char *name, const imported *x) {
    size_t length = strlen(name) + 1;
    imported *own = mem_alloc(sizeof *own + length);
    if (!own)
        return fail_memory();
    *own = (imported){.next = *list, .module = x->module, .func = x->func};
    own->name = memcpy(own + 1, name, length);
    import_hold(own);
    *list = own;
    return UF_OK;
}

static const imported *import_find(const imported *list, const char *name) {
    while (list && strcmp(list->name, name) != 0)
        list = list->next;
    return list;
}

void imports_free(imported *list) {
    for (imported *next; list; list = next) {
        next = list->next;
        import_drop(list);
        mem_free(list);
    }
}

/* ---- Cycles ---- */

static uf_status cycle_fail(const text_origin *from, const char *title) {
    text t = {0};
    const text_origin *chain[CHAIN_MOST + 1];
    int n = 0;
    for (const text_origin *o = from; n <= CHAIN_MOST; o = o->from) {
        chain[n++] = o;
        if (strcmp(o->title, title) == 0)
            break;
    }
    text_printf(&t, "%s would use itself: %s", title, title);
    for (int i = n - 2; i >= 0; i--)
        text_printf(&t, " uses %s, which", chain[i]->title);
    text_printf(&t, " uses %s", title);
    uf_status s = t.failed ? fail_memory() : fail(UF_ERR_ARGUMENT, "%s", t.data);
    text_free(&t);
    return s;
}

/* Checks that a text does not use itself, by way of those that use it. Errors: ARGUMENT. */
static uf_status origin_check(const text_origin *from, const char *title) {
    int depth = 0;
    for (const text_origin *o = from; o; o = o->from, depth++)
        if (strcmp(o->title, title) == 0)
            return cycle_fail(from, title);
    if (depth >= CHAIN_MOST)
        return fail(UF_ERR_ARGUMENT, "more than %d texts that use one another", (int)CHAIN_MOST);
    return UF_OK;
}

/* ---- Files beside the one that a text is in ---- */

/* Finds what a name stands for among the files beside the text's. *out stays empty if there is no such file. */
static uf_status beside_find(const text_origin *from, const char *name, imported *out) {
    const char *slash = strrchr(from->path, '/');
    int head = slash ? (int)(slash + 1 - from->path) : 0;
    text path = {0};
    text_printf(&path, "%.*s", head, from->path);
    text_puts(&path, name);
    text_puts(&path, ".uf");
    uf_status s = path.failed ? fail_memory() : UF_OK;
    if (!s && !(access(path.data, F_OK) && (errno == ENOENT || errno == ENOTDIR))) {
        const imported *known = import_find(*from->loaded, path.data);
        if (known) {
            *out = *known;
            import_hold(out);
        } else {
            s = origin_check(from, path.data);
            if (!s)
                s = path_load(out, path.data, from);
            if (!s && (s = import_add(from->loaded, path.data, out)))
                import_drop(out);
        }
    }
    text_free(&path);
    return s;
}

/* ---- The catalogue ---- */

static _Atomic(imported *) kept; /* by "module NAME" and "function NAME"; entries are added at the head and stay */

/* Keeps *x, and makes it what is kept under this title, if another thread was faster. */
static uf_status keep(const char *title, imported *x) {
    imported *mine = NULL, *head = atomic_load(&kept);
    TRY(import_add(&mine, title, x));
    do {
        const imported *first = import_find(head, title);
        if (first) {
            imports_free(mine);
            import_drop(x);
            *x = *first;
            import_hold(x);
            return UF_OK;
        }
        mine->next = head;
    } while (!atomic_compare_exchange_weak(&kept, &head, mine));
    return UF_OK;
}

uf_status catalogue_import(const char *name, const catalogue_entry *entry, bool is_module, const text_origin *from,
                           imported *out) {
    char title[160];
    snprintf(title, sizeof title, "%s %.127s", is_module ? "module" : "function", name);
    const imported *known = import_find(atomic_load(&kept), title);
    if (known) {
        *out = *known;
        import_hold(out);
        return UF_OK;
    }
    TRY(origin_check(from, title));
    TRY(source_load(out, title, NULL, (const char *)entry->source, entry->length, from));
    uf_status s = keep(title, out);
    if (s)
        import_drop(out);
    return s;
}

static uf_status catalogue_use(const scope *x, const char *name, imported *out) {
    const catalogue_entry *module = catalogue_find(&catalogue_modules, name), *func = catalogue_find(&catalogue, name);
    const char *near;
    if (module)
        return catalogue_import(name, module, true, x->origin, out);
    if (func)
        return catalogue_import(name, func, false, x->origin, out);
    near = catalogue_nearest(&catalogue_modules, name);
    near = near ? near : catalogue_nearest(&catalogue, name);
    return fail(UF_ERR_ARGUMENT, "the catalogue has no module and no function \"%.127s\"%s%s%s%s", name,
                x->origin && x->origin->path ? ", and no such file is beside this one" : "",
                near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* ---- What `use name;` stands for ---- */

static uf_status import_give(const imported *x, const char *name, lang_import *out) {
    *out = (lang_import){.module = x->module ? module_syntax(x->module) : NULL,
                         .function = x->func ? func_callable(x->func) : NULL};
    if (!out->module && !out->function)
        return fail(UF_ERR_ARGUMENT, "%s is a %s; texts call elementwise functions and reductions", name,
                    func_kind(x->func));
    return UF_OK;
}

static uf_status scope_use(void *user, const char *name, lang_import *out) {
    scope *x = user;
    const imported *known = import_find(x->imports, name);
    if (known)
        return import_give(known, name, out);
    imported found = {0};
    const imported *like = x->origin && x->origin->like ? import_find(x->origin->like->imports, name) : NULL;
    if (like) {
        found = *like;
        import_hold(&found);
    } else if (x->origin && x->origin->path) {
        TRY(beside_find(x->origin, name, &found));
    }
    if (!found.module && !found.func)
        TRY(catalogue_use(x, name, &found));
    uf_status s = import_give(&found, name, out);
    if (!s)
        s = import_add(&x->imports, name, &found);
    import_drop(&found);
    return s;
}

/* ---- What a definition lists ---- */

static uf_status list_check(const char *owner, const char *what, int n, const void *list) {
    if (n < 0)
        return fail(UF_ERR_ARGUMENT, "%s: n%s is %d", owner, what, n);
    if (n && !list)
        return fail(UF_ERR_ARGUMENT, "%s: n%s is %d, but %s is NULL", owner, what, n, what);
    return UF_OK;
}

/* Checks entry i of a list: it is there, and has a name that none before it has. */
static uf_status entry_check(const char *owner, const char *what, int i, const char *name, const char *const *before) {
    if (!name)
        return fail(UF_ERR_ARGUMENT, "%s: %s[%d] is NULL", owner, what, i);
    for (int k = 0; k < i; k++)
        if (strcmp(before[k], name) == 0)
            return fail(UF_ERR_ARGUMENT, "%s: %s[%d] and %s[%d] are both called %s", owner, what, k, what, i, name);
    return UF_OK;
}

static uf_status modules_take(scope *x, const char *owner, int n, uf_module *const *modules) {
    TRY(list_check(owner, "modules", n, modules));
    const syntax **trees = arena_alloc(&x->arena, (size_t)n * sizeof *trees);
    const char **names = arena_alloc(&x->arena, (size_t)n * sizeof *names);
    x->modules = arena_alloc(&x->arena, (size_t)n * sizeof *x->modules);
    if (!trees || !names || !x->modules)
        return UF_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        TRY(entry_check(owner, "modules", i, modules[i] ? module_name(modules[i]) : NULL, names));
        names[i] = module_name(modules[i]);
        trees[i] = module_syntax(modules[i]);
        module_keep(modules[i]);
        x->modules[x->names.nmodules++] = modules[i];
    }
    x->names.modules = trees;
    return UF_OK;
}

static uf_status functions_take(scope *x, const char *owner, int n, uf_func *const *functions) {
    TRY(list_check(owner, "functions", n, functions));
    const lang_function **callables = arena_alloc(&x->arena, (size_t)n * sizeof *callables);
    const char **names = arena_alloc(&x->arena, (size_t)n * sizeof *names);
    x->functions = arena_alloc(&x->arena, (size_t)n * sizeof *x->functions);
    if (!callables || !names || !x->functions)
        return UF_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        TRY(entry_check(owner, "functions", i, functions[i] ? functions[i]->name : NULL, names));
        names[i] = functions[i]->name;
        callables[i] = func_callable(functions[i]);
        if (!callables[i])
            return fail(UF_ERR_ARGUMENT,
                        "%s: functions[%d], %s, is a %s; texts call elementwise functions and reductions", owner, i,
                        names[i], func_kind(functions[i]));
        func_keep(functions[i]);
        x->functions[x->names.nfunctions++] = functions[i];
    }
    x->names.functions = callables;
    return UF_OK;
}

/* ---- What stands for it all in keys ---- */

static int by_name(const imported *a, const imported *b) { return strcmp(a->name, b->name); }

/* Orders a list by names, since the texts may have used them in any order. */
static imported *sorted(imported *list) {
    imported *out = NULL;
    for (imported *next; list; list = next) {
        next = list->next;
        imported **at = &out;
        while (*at && by_name(*at, list) < 0)
            at = &(*at)->next;
        list->next = *at;
        *at = list;
    }
    return out;
}

uf_status scope_close(scope *x) {
    digest d;
    x->origin = NULL;
    if (!x->names.nmodules && !x->names.nfunctions && !x->imports)
        return UF_OK;
    x->imports = sorted(x->imports);
    digest_begin(&d);
    for (int i = 0; i < x->names.nmodules; i++)
        digest_add_text(&d, module_key(x->modules[i]));
    digest_add_text(&d, NULL);
    for (int i = 0; i < x->names.nfunctions; i++)
        digest_add_text(&d, x->functions[i]->key);
    digest_add_text(&d, NULL);
    for (const imported *i = x->imports; i; i = i->next) {
        digest_add_text(&d, i->name);
        digest_add_text(&d, i->module ? module_key(i->module) : i->func->key);
    }
    digest_end(&d, x->key);
    return UF_OK;
}

uf_status scope_text_key(const scope *x, arena *a, const char *source, const char **out) {
    size_t size = strlen(source) + 1 + DIGEST_TEXT;
    *out = source;
    if (!x->key[0])
        return UF_OK;
    char *joined = arena_alloc(a, size);
    if (!joined)
        return UF_ERR_MEMORY;
    /* No text of kernel C has the character between them, so that no other text is the same. */
    snprintf(joined, size, "%s\001%s", source, x->key);
    *out = joined;
    return UF_OK;
}

uf_status scope_open(scope *x, const char *owner, int nmodules, uf_module *const *modules, int nfunctions,
                     uf_func *const *functions, const text_origin *from) {
    x->origin = from;
    x->names.use = scope_use;
    x->names.user = x;
    TRY(modules_take(x, owner, nmodules, modules));
    return functions_take(x, owner, nfunctions, functions);
}

void scope_free(scope *x) {
    for (int i = 0; i < x->names.nmodules; i++)
        module_drop(x->modules[i]);
    for (int i = 0; i < x->names.nfunctions; i++)
        func_drop(x->functions[i]);
    imports_free(x->imports);
    arena_free(&x->arena);
}
