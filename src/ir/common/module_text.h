/* module_text.h - reading a GPU's module as text: its lines, and how the blocks of a function follow each other. */
#ifndef UF_MODULE_TEXT_H
#define UF_MODULE_TEXT_H

#include "base/base.h"

enum {
    NO_BLOCK = -1
};

typedef struct block {
    int dominator; /* the block that is passed last on every way to this one; NO_BLOCK: the first block, or one that is never reached */
    int depth;    /* how many blocks dominate it; -1: it is never reached */
    int loop_end; /* the last block of the loops that begin here; NO_BLOCK: none does */
} block;

/* The blocks of a function, in the order of its text. */
typedef struct flow {
    block *blocks;
    int count;
    map labels; /* name -> number of its block, from 1 */
} flow;

/* Reads a function from its first line behind the head to `end`, behind its last one. Dominators are found in one pass, since the emitter
 * writes a block behind those that lead to it, but for loops, whose last block leads back to the first: false if it is not so, or if
 * there is no memory (*failed). flow_free in any case. */
bool flow_read(flow *f, arena *memory, const char *body, const char *end, bool *failed);
void flow_free(flow *f);
bool flow_dominates(const flow *f, int above, int b);
int flow_common(const flow *f, int a, int b); /* the last block that every way to both passes */

/* Writes a module again: of each function, what rewrite adds to *out in place of its text from `body` to `end`. rewrite returns false if
 * there is no memory, and then, and if there is none for the module, module->failed is set. */
void module_each_function(text *module, bool (*rewrite)(void *user, text *out, const char *body, const char *end),
                          void *user);

bool text_begins(const char *at, const char *with);
/* Does the text from `at` to `end` continue with `with`? Then *at moves past it. */
bool text_passes(const char **at, const char *end, const char *with);
/* Where a text first stands between `at` and `end`; NULL: nowhere. */
const char *text_find(const char *at, const char *end, const char *what);
const char *line_end(const char *line);
bool line_is_label(const char *line);
/* How long an instruction is without what only debuggers want to know of it. */
size_t line_bare_length(const char *at, size_t length);
/* Has an instruction no effect but its result, which depends on its operands alone? Calls and loads are others. */
bool instruction_is_plain(const char *at);
/* The length of a register's or variable's name, with its %. */
size_t name_length(const char *at);
/* The next name from `at` on and before `end`, outside of strings; NULL: none. */
const char *next_name(const char *at, const char *end);

#endif
