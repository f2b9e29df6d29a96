/* base.h - errors, memory, text, maps, libraries, threads. Knows nothing of the rest of the library. */
#ifndef UF_BASE_H
#define UF_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "ufunc.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#if defined(__GNUC__)
#define PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF(text, first)
#endif

/* ---- Errors (error.c). Set once, at the place that knows; propagated untouched. ---- */

/* Sets the thread's error (argument, dimension -1; line, column 0; source "") and returns status. */
uf_status fail(uf_status status, const char *format, ...) PRINTF(2, 3);
/* The same, naming an argument and one of its dimensions (-1: none). The message does not repeat "argument 2:"; it is put
 * in front. */
uf_status fail_argument(uf_status status, int argument, int dimension, const char *format, ...) PRINTF(4, 5);
/* The same for a position in a source text; the line of the text and a caret are appended to the message. */
uf_status fail_source(uf_status status, const char *source, size_t offset, const char *format, ...) PRINTF(4, 5);
/* The same for the text of a file, whose path is put in front, and is the error's source; of a long path its end. */
uf_status fail_file(uf_status status, const char *path, const char *source, size_t offset, const char *format, ...)
    PRINTF(5, 6);
/* Names the text that an error with a line is about, unless it has a name; returns status. */
uf_status fail_named(uf_status status, const char *format, ...) PRINTF(2, 3);
uf_status fail_memory(void);
/* Line and column, from 1, of an offset into a text. */
void source_position(const char *source, size_t offset, int *line, int *column);
/* Carries an error from a thread of the library's to the caller's. */
uf_error *error_slot(void);

#define TRY(expression)                      \
    do {                                     \
        uf_status try_status = (expression); \
        if (try_status)                      \
            return try_status;               \
    } while (0)

/* ---- Memory (memory.c). Everything the library allocates goes through here. ---- */

void *mem_alloc(size_t size);               /* NULL when out of memory; the caller says fail_memory() */
void *mem_zero(size_t count, size_t size);  /* zeroed, overflow checked */
void *mem_resize(void *block, size_t size); /* as realloc */
void mem_free(void *block);
char *mem_copy_text(const char *text);
/* Tests set it: asked before each allocation; false makes that one fail. */
extern bool (*mem_may_alloc)(size_t size);

/* An arena: many small allocations, freed together. Zero-initialised is empty. */
typedef struct arena {
    struct arena_block *blocks;
    jmp_buf *escape; /* if set, running out of memory jumps there with UF_ERR_MEMORY (error already set) */
} arena;
void *arena_alloc(arena *a, size_t size); /* zeroed, 16-byte aligned; NULL when out of memory and no escape is set */
char *arena_text(arena *a, const char *text, size_t length);
void arena_free(arena *a);

/* ---- Text (text.c): a growing buffer. Zero-initialised is empty. Running out of memory is sticky. ---- */

typedef struct text {
    char *data; /* NUL-terminated once something was added */
    size_t length, capacity;
    bool failed;
} text;
void text_add(text *t, const char *bytes, size_t length);
void text_puts(text *t, const char *s);
void text_printf(text *t, const char *format, ...) PRINTF(2, 3);
void text_vprintf(text *t, const char *format, va_list arguments);
void text_free(text *t);
/* Hands the content over as a malloc'd string ("" if nothing was added) and empties t; NULL when out of memory. */
char *text_take(text *t);

/* The letters to insert, remove, replace or swap with their neighbour to turn one word into another; of words of more than
 * 127 letters the beginnings are compared. */
int word_distance(const char *a, size_t na, const char *b, size_t nb);

/* ---- Maps (map.c): bytes -> pointer. Not locked; owners lock. ---- */

typedef struct map {
    struct map_entry **slots;
    size_t count, capacity; /* capacity is 0 or a power of two */
} map;
uint64_t hash_bytes(const void *bytes, size_t size);
void *map_get(const map *m, const void *key, size_t size);       /* NULL: absent */
bool map_put(map *m, const void *key, size_t size, void *value); /* copies the key; false: out of memory */
void *map_remove(map *m, const void *key, size_t size);          /* the value, or NULL */
void map_free(map *m);

/* ---- Libraries (library.c) ---- */

/* As dlopen(file, RTLD_NOW | RTLD_LOCAL | flags). NULL: *why is the reason, which does not repeat the file, and is valid until
 * the thread opens another. In a program without a dynamic linker (cc -static), which dlopen would crash, that is the reason. */
void *library_load(const char *file, int flags, const char **why);

/* ---- Threads (threads.c) ---- */

int cpu_count(void); /* CPUs this process may run on, at least 1 */

/* Runs job(user) on a thread of the library's with a stack of 64 MiB and returns its status with its error. Used for
 * everything that recurses over a user's text, calls a compiler or opens a library. Several callers run at once. */
uf_status on_big_stack(uf_status (*job)(void *user), void *user);

/* Memory of the calling thread's own, ROOM_BYTES aligned to 64, in place of a stack that the caller may not have: the address of
 * its byte `offset`. It is there until the thread ends, and its content is undefined. NULL: out of memory; not in parts that
 * the pool runs on threads of its own, nor once the thread has had it. */
enum {
    THREAD_SCRATCH_BYTES = 1 << 20
};
void *thread_scratch(size_t offset);

/* Calls part(user, k) for k = 0 .. parts-1, spread over at most `threads` threads (0: all), and returns when all are done.
 * Parts run on the caller's thread if the pool is busy or there is one thread. Which part a thread takes has no order.
 * After fork the pool starts anew. */
void pool_run(int threads, int64_t parts, void (*part)(void *user, int64_t k), void *user);

#endif
