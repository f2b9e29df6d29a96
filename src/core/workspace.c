/* workspace.c - memory on the host whose size depends on the rank of arrays: first the words that its owner has,
 * then the heap. */
#include "core/core.h"

typedef struct workspace_block {
    struct workspace_block *next;
    int64_t words[];
} workspace_block;

void *workspace_take(workspace *s, size_t size) {
    size_t words = (size + sizeof(int64_t) - 1) / sizeof(int64_t);
    if (words <= s->left) {
        s->left -= words;
        s->words += words;
        return s->words - words;
    }
    workspace_block *block = size < SIZE_MAX - sizeof *block ? mem_alloc(sizeof *block + size) : NULL;
    if (!block)
        return NULL;
    block->next = s->blocks;
    s->blocks = block;
    return block->words;
}

void workspace_free(workspace *s) {
    for (workspace_block *block = s->blocks, *next; block; block = next) {
        next = block->next;
        mem_free(block);
    }
    s->blocks = NULL;
}
