/* numbering.c - value numbering of a GPU's module, as text: an instruction that computes what one before it has computed, on every way
 * to it, goes, and so does a load of a local variable whose value is known. libNVVM finds the same, but takes a multiple of the time for
 * it that is spent here, and with -opt=0, which is four times as fast, it does not look (docs/code-generation.md, "libNVVM").
 * A function whose blocks are not in the order that flow_read wants stays as it is. */
#include "ir/common/numbering.h"

#include <stdio.h>

/* ---- What is known of a function ---- */

/* A variable of the function (an alloca). Where everything that is done with it is a load or store of the whole of it, it is known. */
typedef struct variable {
    const char *name, *type;
    bool escapes;
    int *stores; /* the blocks that store to it, ascending */
    int nstores;
    const char *value; /* what it has; NULL: nobody knows */
    int block;         /* where that was last known */
} variable;

/* An instruction that others may repeat. */
typedef struct number {
    struct number *next; /* with the same text, in blocks that do not dominate each other */
    const char *name;
    int block;
} number;

void *numbering_take(numbering *n, size_t size) {
    void *memory = arena_alloc(&n->memory, size);
    n->failed |= !memory;
    return memory;
}

const char *numbering_copy(numbering *n, const char *at, size_t length) {
    const char *bytes = arena_text(&n->memory, at, length);
    n->failed |= !bytes;
    return bytes;
}

void numbering_put(numbering *n, map *m, const char *key, size_t length, void *value) {
    n->failed |= !map_put(m, key, length, value);
}

/* ---- Reading lines ---- */

/* "load T, T* %v", maybe with an alignment behind it. */
static bool loads(const char *at, const char *end, const variable *v) {
    return text_passes(&at, end, "load ") && text_passes(&at, end, v->type) && text_passes(&at, end, ", ") &&
           text_passes(&at, end, v->type) && text_passes(&at, end, "* ") && text_passes(&at, end, v->name) &&
           (at == end || text_begins(at, ", align "));
}

/* "store T x, T* %v": *value and *length are of x. */
static bool stores(const char *at, const char *end, const variable *v, const char **value, size_t *length) {
    char tail[160];
    int size = snprintf(tail, sizeof tail, ", %s* %s", v->type, v->name);
    if (size >= (int)sizeof tail || !text_passes(&at, end, "store ") || !text_passes(&at, end, v->type) ||
        !text_passes(&at, end, " "))
        return false;
    *value = at;
    const char *address = text_find(at, end, tail);
    if (!address || !(address + size == end || text_begins(address + size, ", align ")))
        return false;
    *length = (size_t)(address - at);
    return true;
}

/* ---- Variables ---- */

static void add_variable(numbering *n, const char *name, size_t length, const char *type, const char *end) {
    variable *v = numbering_take(n, sizeof *v);
    if (!v)
        return;
    const char *align = text_find(type, end, ", align ");
    *v = (variable){.name = numbering_copy(n, name, length),
                    .type = numbering_copy(n, type, (size_t)((align ? align : end) - type))};
    numbering_put(n, &n->variables, name, length, v);
}

/* What a line does with the variable whose name stands at `name` in it. */
static void use_variable(numbering *n, variable *v, const char *line, const char *end, const char *name, int here) {
    const char *value, *is = text_find(line, end, " = ");
    size_t length;
    if (is && loads(is + strlen(" = "), end, v))
        return;
    if (!stores(line + 2, end, v, &value, &length) || name < value + length) {
        v->escapes = true;
    } else if (!v->nstores || v->stores[v->nstores - 1] != here) {
        if ((v->nstores & (v->nstores - 1)) == 0) { /* the next power of two */
            int *more = numbering_take(n, (size_t)(v->nstores ? 2 * v->nstores : 1) * sizeof *more);
            if (!more)
                return;
            if (v->nstores)
                memcpy(more, v->stores, (size_t)v->nstores * sizeof *more);
            v->stores = more;
        }
        v->stores[v->nstores++] = here;
    }
}

static void find_variables(numbering *n, const char *body, const char *end) {
    static const char alloca[] = " = alloca ";
    int here = line_is_label(body) ? -1 : 0;
    for (const char *line = body; line < end; line = line_end(line) + 1) {
        const char *stop = line + line_bare_length(line, (size_t)(line_end(line) - line));
        if (line_is_label(line)) {
            here++;
            continue;
        }
        for (const char *name = next_name(line, stop); name; name = next_name(name + 1, stop)) {
            size_t length = name_length(name);
            if (name == line + 2 && text_begins(name + length, alloca)) {
                add_variable(n, name, length, name + length + strlen(alloca), stop);
                break;
            }
            variable *v = map_get(&n->variables, name, length);
            if (v)
                use_variable(n, v, line, stop, name, here);
        }
    }
}

/* ---- Which instructions have no effect but their result ---- */

/* Besides functions that are declared or defined so: what the emitter calls of intrinsics. */
static const char *const pure_intrinsics[] = {"llvm.ceil.",
                                              "llvm.copysign.",
                                              "llvm.ctlz.",
                                              "llvm.ctpop.",
                                              "llvm.cttz.",
                                              "llvm.fabs.",
                                              "llvm.floor.",
                                              "llvm.fma.",
                                              "llvm.sqrt.",
                                              "llvm.nvvm.ex2.approx.",
                                              "llvm.nvvm.mulhi.",
                                              "llvm.nvvm.prmt",
                                              "llvm.nvvm.read.ptx.sreg.ctaid.",
                                              "llvm.nvvm.read.ptx.sreg.nctaid.",
                                              "llvm.nvvm.read.ptx.sreg.ntid.",
                                              "llvm.nvvm.read.ptx.sreg.tid.",
                                              "llvm.nvvm.rsqrt.approx."};

static bool calls_pure(const numbering *n, const char *at, size_t length) {
    const char *name = memchr(at, '@', length), *quote = memchr(at, '"', length);
    if (!name || quote) /* an asm: who writes one in two places means two */
        return false;
    name++;
    for (size_t i = 0; i < COUNT(pure_intrinsics); i++)
        if (text_begins(name, pure_intrinsics[i]))
            return true;
    return map_get(&n->pure, name, strcspn(name, "("));
}

static bool is_pure(const numbering *n, const char *at, size_t length) {
    if (text_begins(at, "call "))
        return calls_pure(n, at, length);
    if (text_begins(at, "load "))
        return text_find(at, at + length, ", !invariant.load ");
    return instruction_is_plain(at);
}

/* The names of functions that are readnone: "define internal float @fdiv_float(..) nounwind readnone alwaysinline {". */
static void find_pure(numbering *n, const char *module) {
    for (const char *line = module; *line; line = *line_end(line) ? line_end(line) + 1 : line_end(line)) {
        if (!text_begins(line, "define ") && !text_begins(line, "declare "))
            continue;
        const char *end = line_end(line), *name = text_find(line, end, "@");
        if (name && text_find(name, end, " readnone"))
            numbering_put(n, &n->pure, name + 1, strcspn(name + 1, "("), n);
    }
}

/* ---- Writing a function again ---- */

/* The line with the names that stand for others. */
static void rename_line(numbering *n, const char *line, const char *end) {
    n->line.length = 0;
    for (const char *name; (name = next_name(line, end)) != NULL;) {
        size_t length = name_length(name);
        const char *other = map_get(&n->renamed, name, length);
        text_add(&n->line, line, (size_t)(name - line));
        text_add(&n->line, other ? other : name, other ? strlen(other) : length);
        line = name + length;
    }
    text_add(&n->line, line, (size_t)(end - line));
}

/* Does a variable have the value in block `here` that it is known to have had before? A loop that has begun since then may
 * store another one before it comes to its first block again. */
static bool still_known(const numbering *n, const variable *v, int here) {
    if (!v->value || !flow_dominates(&n->blocks, v->block, here))
        return false;
    for (int b = here; b != v->block; b = n->blocks.blocks[b].dominator)
        for (int i = 0; i < v->nstores; i++)
            if (v->stores[i] >= b && v->stores[i] <= n->blocks.blocks[b].loop_end)
                return false;
    return true;
}

static void know(variable *v, const char *value, int here) {
    v->value = value;
    v->block = here;
}

/* A store, if it is one: what the variable has from then on. */
static void note_store(numbering *n, const char *line, const char *end, int here) {
    const char *value, *name = end;
    size_t length;
    while (name > line && *name != '%')
        name--;
    variable *v = map_get(&n->variables, name, name_length(name));
    if (v && !v->escapes && stores(line + 2, end, v, &value, &length))
        know(v, numbering_copy(n, value, length), here);
}

/* A phi may have values that are defined behind it, which therefore nothing can stand for. */
static void await(numbering *n, const char *at, const char *end) {
    for (const char *name = next_name(at, end); name; name = next_name(name + 1, end))
        numbering_put(n, &n->awaited, name, name_length(name), n);
}

/* Is the value of an instruction, which defines `name`, there already? Then that stands for it. Else it is there from now on. */
static const char *same_value(numbering *n, const char *name, const char *at, size_t length, int here) {
    const char *variable_name = next_name(at, at + length);
    if (text_begins(at, "phi "))
        await(n, at, at + length);
    if (map_get(&n->awaited, name, strlen(name)))
        return NULL;
    variable *v = text_begins(at, "load ") && variable_name
                      ? map_get(&n->variables, variable_name, name_length(variable_name))
                      : NULL;
    if (v && !v->escapes && loads(at, at + length, v)) {
        if (still_known(n, v, here))
            return v->value;
        know(v, name, here);
        return NULL;
    }
    if (!is_pure(n, at, length))
        return NULL;
    number *first = map_get(&n->numbers, at, length);
    for (number *k = first; k; k = k->next)
        if (flow_dominates(&n->blocks, k->block, here)) {
            const char *other = map_get(&n->renamed, k->name, strlen(k->name));
            return other ? other : k->name;
        }
    number *k = numbering_take(n, sizeof *k);
    if (k) {
        *k = (number){.next = first, .name = name, .block = here};
        numbering_put(n, &n->numbers, at, length, k);
    }
    return NULL;
}

const char *numbering_besides(numbering *n, const char *name, const char *more, const char *instruction, int here) {
    char own[80];
    int length = snprintf(own, sizeof own, "%s%s", name, more);
    if (length >= (int)sizeof own)
        return NULL;
    const char *kept = numbering_copy(n, own, (size_t)length),
               *same = kept ? same_value(n, kept, instruction, strlen(instruction), here) : NULL;
    if (kept && !same)
        text_printf(n->out, "  %s = %s\n", kept, instruction);
    return same ? same : kept;
}

static void write_line(numbering *n, const char *at, size_t length) {
    text_add(n->out, at, length);
    text_puts(n->out, "\n");
}

/* An instruction, which the current line has from `at` on: either something stands for it, or it is written. bare: as far as the line goes
 * but for what debuggers want. */
static void define(numbering *n, const char *name, const char *at, size_t bare, int here) {
    size_t length = bare - (size_t)(at - n->line.data);
    const char *same = name ? same_value(n, name, at, length, here) : NULL;
    if (same)
        numbering_put(n, &n->renamed, name, strlen(name), (void *)(uintptr_t)same);
    else if (name && !(n->settled && write_cheaper(n, name, at, length, here)))
        write_line(n, n->line.data, n->line.length);
}

static void write_body(numbering *n, const char *body, const char *end) {
    int here = line_is_label(body) ? -1 : 0;
    for (const char *line = body; line < end && !n->failed; line = line_end(line) + 1) {
        const char *stop = line_end(line);
        here += line_is_label(line);
        rename_line(n, line, stop);
        if ((n->failed |= n->line.failed))
            return;
        const char *is = text_begins(n->line.data, "  %") ? strstr(n->line.data, " = ") : NULL;
        size_t bare = line_bare_length(n->line.data, n->line.length);
        if (text_begins(n->line.data, "  store "))
            note_store(n, n->line.data, n->line.data + bare, here);
        if (is)
            define(n, numbering_copy(n, n->line.data + 2, (size_t)(is - n->line.data) - 2), is + strlen(" = "), bare,
                   here);
        else
            write_line(n, n->line.data, n->line.length);
    }
}

static void free_function(numbering *n) {
    map *maps[] = {&n->variables, &n->numbers, &n->renamed, &n->sums,
                   &n->multiples, &n->walks,   &n->halves,  &n->awaited};
    for (size_t i = 0; i < COUNT(maps); i++) {
        map_free(maps[i]);
        *maps[i] = (map){0};
    }
    flow_free(&n->blocks);
    arena_free(&n->memory);
    n->memory = (arena){0};
}

static bool number_function(void *user, text *out, const char *body, const char *end) {
    numbering *n = user;
    n->out = out;
    if (flow_read(&n->blocks, &n->memory, body, end, &n->failed)) {
        find_variables(n, body, end);
        write_body(n, body, end);
    } else {
        text_add(out, body, (size_t)(end - body));
    }
    free_function(n);
    return !n->failed;
}

void number_values(text *module, bool settled) {
    numbering n = {.settled = settled};
    if (module->failed || !module->data)
        return;
    find_pure(&n, module->data);
    module_each_function(module, number_function, &n);
    module->failed |= n.failed;
    map_free(&n.pure);
    text_free(&n.line);
}
