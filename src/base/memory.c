/* memory.c - the only place that calls malloc, so that tests can make every allocation fail; and arenas. */
#include <stdlib.h>

#include "base/base.h"

bool (*mem_may_alloc)(size_t size);

void *mem_resize(void *block, size_t size) {
    if (mem_may_alloc && !mem_may_alloc(size))
        return NULL;
    return realloc(block, size ? size : 1);
}

void *mem_alloc(size_t size) { return mem_resize(NULL, size); }

void *mem_zero(size_t count, size_t size) {
    if (size && count > SIZE_MAX / size)
        return NULL;
    void *block = mem_alloc(count * size);
    if (block)
        memset(block, 0, count * size);
    return block;
}

void mem_free(void *block) { free(block); }

char *mem_copy_text(const char *s) {
    size_t size = strlen(s) + 1;
    char *copy = mem_alloc(size);
    return copy ? memcpy(copy, s, size) : NULL;
}

enum {
    ALIGN = 16,
    BLOCK = 16384,
    HEAD = 32
};

struct arena_block {
    struct arena_block *next;
    size_t used, size; /* bytes, of the memory that follows the block's first HEAD bytes */
};

static struct arena_block *block_new(arena *a, size_t size) {
    struct arena_block *b = mem_alloc(HEAD + size);
    if (!b)
        return NULL;
    *b = (struct arena_block){.next = a->blocks, .size = size};
    return a->blocks = b;
}

void *arena_alloc(arena *a, size_t size) {
    struct arena_block *b = a->blocks;
    size_t need = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (need < size || need > SIZE_MAX / 2)
        b = NULL;
    else if (!b || b->size - b->used < need)
        b = block_new(a, need > BLOCK ? need : BLOCK);
    if (!b) {
        fail_memory();
        if (a->escape)
            longjmp(*a->escape, UF_ERR_MEMORY);
        return NULL;
    }
    void *p = (char *)b + HEAD + b->used;
    b->used += need;
    return memset(p, 0, need);
}

char *arena_text(arena *a, const char *s, size_t length) {
    char *copy = arena_alloc(a, length + 1);
    return copy ? memcpy(copy, s, length) : NULL;
}

void arena_free(arena *a) {
    for (struct arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        mem_free(b);
    }
    a->blocks = NULL;
}
