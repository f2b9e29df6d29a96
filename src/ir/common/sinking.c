/* sinking.c - an instruction whose result is used in later blocks alone moves to the head of the last block that every way to these passes,
 * but into no loop, and one whose result nobody uses goes. So a thread does not keep the address of an output, say, while it
 * computes. libNVVM does the same, with -opt=3. */
#include "ir/common/sinking.h"

#include "ir/common/module_text.h"

typedef struct line {
    const char *at, *end;
    int block;   /* that it is in */
    int to;      /* that it goes to; NO_BLOCK: nobody has used it so far */
    bool moves;  /* it may */
    size_t name; /* length of the name that it defines; 0: none */
} line;

typedef struct sinking {
    arena memory; /* of one function */
    flow blocks;
    line *lines;
    int count;
    map defined; /* name -> number of its line, from 1 */
    int *loop;   /* by block: the block where the innermost loop begins that it is in; NO_BLOCK: it is in none */
    bool failed;
} sinking;

static bool is_phi(const char *at) {
    const char *is = text_find(at, line_end(at), " = ");
    return is && text_begins(is, " = phi ");
}

static void read_line(sinking *s, line *l, const char *at, int here) {
    *l = (line){.at = at, .end = line_end(at), .block = here, .to = here};
    if (!text_begins(at, "  %"))
        return;
    l->name = name_length(at + 2);
    const char *is = at + 2 + l->name;
    l->moves = text_passes(&is, l->end, " = ") && instruction_is_plain(is);
    l->to = l->moves ? NO_BLOCK : here;
    s->failed |= !map_put(&s->defined, at + 2, l->name, (void *)(intptr_t)(l - s->lines + 1));
}

static void read_lines(sinking *s, const char *body, const char *end) {
    int here = line_is_label(body) ? NO_BLOCK : 0, count = 0;
    for (const char *at = body; at < end; at = line_end(at) + 1)
        s->count++;
    s->lines = arena_alloc(&s->memory, (size_t)s->count * sizeof *s->lines);
    s->failed |= !s->lines;
    for (const char *at = body; at < end && !s->failed; at = line_end(at) + 1) {
        here += line_is_label(at);
        read_line(s, &s->lines[count++], at, here);
    }
}

static void find_loops(sinking *s) {
    s->loop = arena_alloc(&s->memory, (size_t)s->blocks.count * sizeof *s->loop);
    s->failed |= !s->loop;
    for (int b = 0; s->loop && b < s->blocks.count; b++)
        s->loop[b] = NO_BLOCK;
    for (int head = 0; s->loop && head < s->blocks.count; head++) /* inner loops begin behind outer ones */
        for (int b = head; b <= s->blocks.blocks[head].loop_end; b++)
            s->loop[b] = head;
}

/* A line uses what another one defines: where that can go. */
static void use(sinking *s, line *defined, const line *by, bool phi) {
    int to = phi ? defined->block : by->to;
    if (!defined->moves)
        return;
    if (s->blocks.blocks[to].depth < 0 || s->blocks.blocks[defined->block].depth < 0)
        to = defined->block; /* in code that is never reached */
    else if (defined->to != NO_BLOCK)
        to = flow_common(&s->blocks, defined->to, to);
    while (to != defined->block && s->loop[to] != s->loop[defined->block])
        to = s->blocks.blocks[to].dominator;
    defined->to = to;
}

static void use_all(sinking *s, const line *l, bool phi) {
    const char *name = next_name(l->at + (l->name ? 2 + l->name : 0), l->end);
    for (; name; name = next_name(name + 1, l->end)) {
        intptr_t of = (intptr_t)map_get(&s->defined, name, name_length(name));
        if (of)
            use(s, &s->lines[of - 1], l, phi);
    }
}

/* From the last line to the first, so that it is known where a line goes before what it uses is asked for. Only phis use what is defined
 * behind them, in their loop: they come before all others. */
static void find_places(sinking *s) {
    for (int phis = 1; phis >= 0; phis--)
        for (int i = s->count - 1; i >= 0; i--) {
            const line *l = &s->lines[i];
            if (is_phi(l->at) == phis && l->to != NO_BLOCK) /* else it goes, and uses nothing */
                use_all(s, l, phis);
        }
}

static void write_lines(sinking *s, text *out) {
    for (int i = 0, head = NO_BLOCK; i < s->count; i++) {
        const line *l = &s->lines[i];
        bool label = line_is_label(l->at);
        if (!label && !is_phi(l->at) && l->block != head) { /* behind a block's label and phis */
            head = l->block;
            for (int k = 0; k < i; k++)
                if (s->lines[k].to == head && s->lines[k].block != head)
                    text_add(out, s->lines[k].at, (size_t)(s->lines[k].end - s->lines[k].at) + 1);
        }
        if (l->to == l->block)
            text_add(out, l->at, (size_t)(l->end - l->at) + 1);
    }
}

static bool sink_function(void *user, text *out, const char *body, const char *end) {
    sinking s = {0};
    (void)user;
    if (flow_read(&s.blocks, &s.memory, body, end, &s.failed)) {
        read_lines(&s, body, end);
        find_loops(&s);
        if (!s.failed) {
            find_places(&s);
            write_lines(&s, out);
        }
    } else {
        text_add(out, body, (size_t)(end - body));
    }
    flow_free(&s.blocks);
    map_free(&s.defined);
    arena_free(&s.memory);
    return !s.failed;
}

void sink_values(text *module) {
    if (!module->failed && module->data)
        module_each_function(module, sink_function, NULL);
}
