/* base.h - errors, memory, text, maps, libraries and threads, which every layer uses. It knows nothing of the other
 * layers. */
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

/* ---- Errors (error.c). The function that finds an error sets it, once; its callers pass the status on by TRY. ---- */

/* Sets the calling thread's error, with no argument or dimension (-1), no line or column (0) and no source ("");
 * returns status. */
uf_status fail(uf_status status, const char *format, ...) PRINTF(2, 3);
/* The same, for an argument and one of its dimensions (-1: none). "argument 2: " or "argument 2: dimension 1 " is put
 * in front of the message, which therefore does not repeat it. */
uf_status fail_argument(uf_status status, int argument, int dimension, const char *format, ...) PRINTF(4, 5);
/* The same, for a position in a source text: line and column are put in front of the message, and the line itself, with
 * a caret below the position, follows it. */
uf_status fail_source(uf_status status, const char *source, size_t offset, const char *format, ...) PRINTF(4, 5);
/* The same, for a position in the text of a file: the path, of a long one its end, is put in front too, and is the
 * error's source. */
uf_status fail_file(uf_status status, const char *path, const char *source, size_t offset, const char *format, ...)
    PRINTF(5, 6);
/* The same, for a position in a text of kernel C. One that has a head names its file and the line in that, and no column, since its lines
 * may have been joined. */
uf_status fail_kernel(uf_status status, const char *source, size_t offset, const char *format, ...) PRINTF(4, 5);
/* Names the text that an error is about, in uf_error.source, if the error has a line and no name yet. Returns
 * status. */
uf_status fail_named(uf_status status, const char *format, ...) PRINTF(2, 3);
/* Puts the name of a function in front of the message, "add: argument 1: ..", if it is about one of its arguments or their shapes and
 * does not begin with it. Returns status. */
uf_status fail_about(uf_status status, const char *name);
/* How much of an error's message says where in a text it is: "1:23: ", "f.uf:1:23: " or "program.c:12: ". */
size_t fail_place_length(const uf_error *e);
uf_status fail_memory(void);
/* Replaces the number N in each `what`N of the thread's message, "argument 2", by number(user, N). */
void fail_renumber(const char *what, int (*number)(const void *user, int n), const void *user);
/* Line and column, both counted from 1, of an offset into a text. A column is a character of UTF-8. */
void source_position(const char *source, size_t offset, int *line, int *column);
/* What UF_SOURCE puts at the head of a text of kernel C: `#line 12 "program.c"` and a newline, for the text behind it. */
typedef struct text_head {
    size_t length;    /* of the head; 0: the text has none */
    int line;         /* that of what follows, from 1 */
    const char *path; /* in the text; not NUL-terminated */
    int path_length;
} text_head;
text_head text_head_read(const char *source);
/* As source_position, of a text of kernel C: lines count from that of its head. */
void kernel_position(const char *source, size_t offset, int *line, int *column);
/* The calling thread's error, to be filled in further, or copied when an error goes from one of the library's threads
 * to the caller's. */
uf_error *error_slot(void);

#define TRY(expression)                      \
    do {                                     \
        uf_status try_status = (expression); \
        if (try_status)                      \
            return try_status;               \
    } while (0)

/* ---- Memory (memory.c). Everything that the library allocates comes from here. ---- */

void *mem_alloc(size_t size);               /* NULL: out of memory; the caller returns fail_memory() */
void *mem_zero(size_t count, size_t size);  /* zeroed; NULL also where the product overflows */
void *mem_resize(void *block, size_t size); /* as realloc */
void mem_free(void *block);
char *mem_copy_text(const char *text);
/* A hook for tests. It is called before each allocation, which fails if it returns false. */
extern bool (*mem_may_alloc)(size_t size);

/* An arena: many small allocations that are freed together. Zero-initialised is empty. */
typedef struct arena {
    struct arena_block *blocks;
    jmp_buf *escape; /* if set, an allocation that fails jumps there with UF_ERR_MEMORY, the error being set already */
} arena;
void *arena_alloc(arena *a, size_t size); /* zeroed, 16-byte aligned; NULL: out of memory, with no escape set */
char *arena_text(arena *a, const char *text, size_t length);
void arena_free(arena *a);

/* ---- Text (text.c): a growing buffer. Zero-initialised is empty. Once it could not grow, `failed` stays set. ---- */

typedef struct text {
    char *data; /* NUL-terminated once something was added */
    size_t length, capacity;
    bool failed;
} text;
void text_add(text *t, const char *bytes, size_t length);
void text_insert(text *t, size_t at, const char *bytes, size_t length); /* before what follows at that place */
void text_puts(text *t, const char *s);
void text_printf(text *t, const char *format, ...) PRINTF(2, 3);
void text_vprintf(text *t, const char *format, va_list arguments);
void text_free(text *t);
/* Hands the content over as a string from malloc ("" if nothing was added), and empties t. NULL: an allocation
 * failed. */
char *text_take(text *t);

/* ---- The nearest word (nearest.c), for errors about words that are not known ---- */

/* A search for the known word that is most like a word. Only words that are so much like it that it may be one of them, misspelled,
 * are found: those that differ in capital letters alone, or in few letters for its length. */
typedef struct nearest_word {
    const char *word;
    size_t length;
    int distance;     /* that of the best word so far; a word must be nearer than this */
    const char *best; /* the first of the nearest words; NULL: none is like it */
    size_t best_length;
} nearest_word;
nearest_word nearest_begin(const char *word, size_t length);
void nearest_try(nearest_word *n, const char *known, size_t length); /* `known` must live as long as the search */
void nearest_try_text(nearest_word *n, const char *known);

/* ---- Maps (map.c): from bytes to a pointer. A map has no lock: whoever shares one between threads locks it. ---- */

typedef struct map {
    struct map_entry **slots;
    size_t count, capacity; /* capacity is 0 or a power of two */
} map;
uint64_t hash_bytes(const void *bytes, size_t size);
void *map_get(const map *m, const void *key, size_t size);       /* NULL: absent */
bool map_put(map *m, const void *key, size_t size, void *value); /* copies the key; false: out of memory */
void *map_remove(map *m, const void *key, size_t size);          /* the value, or NULL */
void map_free(map *m);

/* ---- Digests (digest.c): SHA-256, which stands for a text of any length. ---- */

typedef struct digest {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    unsigned char block[64];
} digest;
enum {
    DIGEST_TEXT = 65 /* the digits of a digest, and a NUL */
};
void digest_begin(digest *d);
void digest_add(digest *d, const void *bytes, size_t size);
/* Adds a string with its length, so that where one ends and the next begins is part of the digest. NULL: none. */
void digest_add_text(digest *d, const char *s);
void digest_end(digest *d, char out[DIGEST_TEXT]);

/* ---- Libraries (library.c) ---- */

/* dlopen(file, RTLD_NOW | RTLD_LOCAL | flags). NULL: *why is the reason. It does not repeat the file's name, and is
 * valid until the same thread calls this again. A program that is linked statically (cc -static) has no dynamic linker,
 * and dlopen would crash in it: there the reason says so. */
void *library_load(const char *file, int flags, const char **why);

/* ---- Threads (threads.c) ---- */

int cpu_count(void); /* CPUs this process may run on, at least 1 */

/* Runs job(user) on a thread of the library's with a stack of 64 MiB, waits for it, and returns its status; its error
 * becomes the caller's. For everything that recurses over a user's text, calls a compiler or opens a library, since the
 * caller's stack may be too small for that. Several callers can run jobs at once. */
uf_status on_big_stack(uf_status (*job)(void *user), void *user);
enum {
    BIG_TOGETHER = 2
};
/* Runs up to BIG_TOGETHER jobs at the same time, as far as there are threads, and waits for all of them. What comes of a
 * job is for it to leave where `user` points: statuses and errors are not passed on. Errors: MEMORY, and then no job was run. */
uf_status on_big_stacks(uf_status (*job)(void *user), void *const *users, int n);

/* Memory of the calling thread's own for generated code that needs more than its caller's stack may have:
 * THREAD_SCRATCH_BYTES, aligned to 64. Returns the address of its byte `offset`. It lasts until the thread ends, and
 * its content is undefined. NULL: out of memory, which can happen only at a thread's first call, and never on the
 * threads of the pool. */
enum {
    THREAD_SCRATCH_BYTES = 1 << 20
};
void *thread_scratch(size_t offset);

/* Calls part(user, k) for k = 0 .. parts-1, spread over at most `threads` threads (0: as many as there are CPUs), and
 * returns when all calls have returned. If another caller is using the pool, or there is one thread only, all parts run
 * on the caller's thread. Neither the order of the parts nor the thread that runs one is defined. In the child of a
 * fork the pool starts new threads. */
void pool_run(int threads, int64_t parts, void (*part)(void *user, int64_t k), void *user);

#endif
