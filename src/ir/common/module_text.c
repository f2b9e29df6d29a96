/* module_text.c - see module_text.h. */
#include "ir/common/module_text.h"

#include <ctype.h>

/* ---- Lines ---- */

bool text_begins(const char *at, const char *with) { return strncmp(at, with, strlen(with)) == 0; }

size_t name_length(const char *at) {
    size_t length = 1;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
        length++;
    return length;
}

const char *next_name(const char *at, const char *end) {
    for (bool quoted = false; at < end; at++) {
        quoted ^= *at == '"';
        if (*at == '%' && !quoted)
            return at;
    }
    return NULL;
}

const char *text_find(const char *at, const char *end, const char *what) {
    size_t length = strlen(what);
    for (; (size_t)(end - at) >= length && (at = memchr(at, *what, (size_t)(end - at) - length + 1)) != NULL; at++)
        if (memcmp(at, what, length) == 0)
            return at;
    return NULL;
}

const char *line_end(const char *line) { return line + strcspn(line, "\n"); }

bool line_is_label(const char *line) { return isalpha((unsigned char)*line) && line_end(line)[-1] == ':'; }
static bool is_jump(const char *line) { return text_begins(line, "  br ") || text_begins(line, "  switch "); }

size_t line_bare_length(const char *at, size_t length) {
    const char *debug = text_find(at, at + length, ", !dbg ");
    return debug ? (size_t)(debug - at) : length;
}

bool text_passes(const char **at, const char *end, const char *with) {
    size_t length = strlen(with);
    if ((size_t)(end - *at) < length || memcmp(*at, with, length) != 0)
        return false;
    *at += length;
    return true;
}

static const char *const plain_instructions[] = {"add",
                                                 "and",
                                                 "ashr",
                                                 "bitcast",
                                                 "extractelement",
                                                 "extractvalue",
                                                 "fadd",
                                                 "fcmp",
                                                 "fdiv",
                                                 "fmul",
                                                 "fpext",
                                                 "fptosi",
                                                 "fptoui",
                                                 "fptrunc",
                                                 "frem",
                                                 "fsub",
                                                 "getelementptr",
                                                 "icmp",
                                                 "insertelement",
                                                 "insertvalue",
                                                 "inttoptr",
                                                 "lshr",
                                                 "mul",
                                                 "or",
                                                 "ptrtoint",
                                                 "sdiv",
                                                 "select",
                                                 "sext",
                                                 "shl",
                                                 "shufflevector",
                                                 "sitofp",
                                                 "srem",
                                                 "sub",
                                                 "trunc",
                                                 "udiv",
                                                 "uitofp",
                                                 "urem",
                                                 "xor",
                                                 "zext"};

bool instruction_is_plain(const char *at) {
    size_t word = strcspn(at, " ");
    for (size_t i = 0; i < COUNT(plain_instructions); i++)
        if (strlen(plain_instructions[i]) == word && memcmp(plain_instructions[i], at, word) == 0)
            return true;
    return false;
}

/* ---- Blocks ---- */

bool flow_dominates(const flow *f, int above, int b) {
    while (b != NO_BLOCK && f->blocks[b].depth > f->blocks[above].depth)
        b = f->blocks[b].dominator;
    return b == above;
}

static int block_of(const flow *f, const char *name, size_t length) {
    return (int)(intptr_t)map_get(&f->labels, name, length) - 1;
}

static bool find_blocks(flow *f, arena *memory, const char *body, const char *end) {
    f->count = !line_is_label(body); /* a first block may have no name */
    for (const char *line = body; line < end; line = line_end(line) + 1)
        if (line_is_label(line) &&
            !map_put(&f->labels, line, (size_t)(line_end(line) - line) - 1, (void *)(intptr_t)++f->count))
            return false;
    f->blocks = arena_alloc(memory, (size_t)f->count * sizeof *f->blocks);
    for (int b = 0; f->blocks && b < f->count; b++)
        f->blocks[b] = (block){NO_BLOCK, b ? -1 : 0, NO_BLOCK};
    return f->blocks;
}

int flow_common(const flow *f, int a, int b) {
    while (a != b)
        if (f->blocks[a].depth < f->blocks[b].depth)
            b = f->blocks[b].dominator;
        else
            a = f->blocks[a].dominator;
    return a;
}

/* A way from block `from` to `to`. False: it leads back, and not to a block that every way to `from` passes. */
static bool add_edge(flow *f, int from, int to) {
    block *b = &f->blocks[to];
    if (f->blocks[from].depth < 0)
        return true; /* never reached itself */
    if (to <= from) {
        b->loop_end = from > b->loop_end ? from : b->loop_end;
        return flow_dominates(f, to, from);
    }
    b->dominator = b->depth < 0 ? from : flow_common(f, b->dominator, from);
    b->depth = f->blocks[b->dominator].depth + 1;
    return true;
}

static bool find_dominators(flow *f, const char *body, const char *end) {
    int here = line_is_label(body) ? -1 : 0;
    for (const char *line = body; line < end; line = line_end(line) + 1) {
        here += line_is_label(line);
        if (!is_jump(line))
            continue;
        const char *stop = line_end(line);
        for (const char *to = text_find(line, stop, "label %"); to; to = text_find(to, stop, "label %")) {
            to += strlen("label %");
            int target = block_of(f, to, name_length(to - 1) - 1);
            if (target < 0 || !add_edge(f, here, target))
                return false;
        }
    }
    /* A loop ends where those end that begin in it. */
    for (int b = f->count - 1; b >= 0; b--)
        for (int inner = b + 1; inner <= f->blocks[b].loop_end; inner++)
            if (f->blocks[inner].loop_end > f->blocks[b].loop_end)
                f->blocks[b].loop_end = f->blocks[inner].loop_end;
    return true;
}

bool flow_read(flow *f, arena *memory, const char *body, const char *end, bool *failed) {
    *f = (flow){0};
    bool found = find_blocks(f, memory, body, end);
    *failed |= !found;
    return found && find_dominators(f, body, end);
}

void flow_free(flow *f) { map_free(&f->labels); }

/* ---- Functions ---- */

void module_each_function(text *module, bool (*rewrite)(void *user, text *out, const char *body, const char *end),
                          void *user) {
    text out = {0};
    bool good = true;
    for (const char *line = module->data; *line && good;) {
        const char *next = line_end(line) + (*line_end(line) != 0), *end;
        text_add(&out, line, (size_t)(next - line));
        if (text_begins(line, "define ") && (end = strstr(next, "\n}")) != NULL) {
            good = rewrite(user, &out, next, end + 1);
            next = end + 1;
        }
        line = next;
    }
    text_free(module);
    *module = out;
    module->failed |= !good;
}
