/* code.c - compiled code of the whole process, by a key that is all it depends on. The same kernel for the same
 * dtypes and target is compiled once, by one thread, while others wait. Entries that nobody holds are kept for the
 * next user, up to IDLE_MAX of them; beyond that the one that was unused for longest is freed. */
#include <pthread.h>

#include "core/core.h"

enum {
    IDLE_MAX = 256
};

struct code_entry {
    int holders; /* functions that use it, threads that wait for it */
    enum {
        COMPILING,
        READY,
        FAILED
    } state;
    int engine;
    unsigned generation; /* the number of forks when it was begun */
    code *code;
    uf_error error;            /* if FAILED */
    code_entry *newer, *older; /* in the list of idle entries, if holders is 0 */
    size_t key_size;
    unsigned char key[];
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t done; /* an entry is no longer COMPILING */
    map entries;
    code_entry *newest, *oldest; /* idle */
    int idle;
    /* How many forks led to this process. A compilation begun before a fork has no thread in the child to end it. */
    unsigned generation;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void fork_prepare(void) { pthread_mutex_lock(&cache.lock); }
static void fork_parent(void) { pthread_mutex_unlock(&cache.lock); }

static void fork_child(void) {
    pthread_cond_init(&cache.done, NULL);
    cache.generation++;
    pthread_mutex_unlock(&cache.lock);
}

static void watch_forks(void) { pthread_atfork(fork_prepare, fork_parent, fork_child); }

typedef struct key_head {
    code_target target;
    int32_t engine, device, max_registers;
    uint32_t fast, flags;
    int64_t max_steps; /* 0 where the variant counts no steps: its code does not depend on the limit */
    uint64_t layout_size;
} key_head;

static void *key_make(const compile_job *job, size_t *size) {
    uint8_t variant_form[VARIANT_BYTES];
    size_t variant_size = variant_bytes(job->v, variant_form), source_size = strlen(job->source),
           layout_size = strlen(job->layout);
    *size = sizeof(key_head) + variant_size + layout_size + source_size;
    char *key = mem_alloc(*size);
    if (!key)
        return NULL;
    key_head head;
    memset(&head, 0, sizeof head);
    head.target = job->target;
    head.engine = job->engine;
    head.device = job->device;
    head.max_registers = job->max_registers;
    head.max_steps = job->v->reports & REPORTS_STEPS ? job->max_steps : 0;
    head.fast = job->fast;
    head.flags = job->flags;
    head.layout_size = layout_size;
    memcpy(key, &head, sizeof head);
    memcpy(key + sizeof head, variant_form, variant_size);
    memcpy(key + sizeof head + variant_size, job->layout, layout_size);
    memcpy(key + sizeof head + variant_size + layout_size, job->source, source_size);
    return key;
}

static void idle_add(code_entry *e) {
    e->older = cache.newest;
    e->newer = NULL;
    *(cache.newest ? &cache.newest->newer : &cache.oldest) = e;
    cache.newest = e;
    cache.idle++;
}

static void idle_remove(code_entry *e) {
    *(e->newer ? &e->newer->older : &cache.newest) = e->older;
    *(e->older ? &e->older->newer : &cache.oldest) = e->newer;
    cache.idle--;
}

static void entry_free(code_entry *e) {
    if (e->code)
        engines[e->engine]->release(e->code);
    mem_free(e);
}

/* The entry for a key, held once more. *mine: the entry is new, and the caller must compile it. NULL: out of memory.
 * The lock is taken. */
static code_entry *entry_hold(const compile_job *job, const void *key, size_t size, bool *mine) {
    code_entry *e = map_get(&cache.entries, key, size);
    if (e && e->state == COMPILING && e->generation != cache.generation)
        e = NULL; /* and map_put below puts a new entry in its place */
    *mine = !e;
    if (e) {
        if (e->holders++ == 0)
            idle_remove(e);
        return e;
    }
    e = mem_alloc(sizeof *e + size);
    if (!e)
        return NULL;
    *e = (code_entry){
        .holders = 1, .state = COMPILING, .engine = job->engine, .generation = cache.generation, .key_size = size};
    memcpy(e->key, key, size);
    if (map_put(&cache.entries, key, size, e))
        return e;
    mem_free(e);
    return NULL;
}

/* Lets go of a failed entry. It was taken out of the map when it failed, so that the next call compiles again. The
 * lock is taken. */
static void failed_drop(code_entry *e) {
    if (--e->holders == 0)
        entry_free(e);
}

/* An entry that this thread must compile. */
typedef struct compiling {
    code_entry *entry;
    const compile_job *job;
} compiling;

/* Ends the compilation: with the error, if the status is one. */
static void entry_end(code_entry *e, code *made, uf_status s) {
    pthread_mutex_lock(&cache.lock);
    e->code = made;
    e->state = s ? FAILED : READY;
    if (s) {
        e->error = *error_slot();
        map_remove(&cache.entries, e->key, e->key_size);
    }
    pthread_cond_broadcast(&cache.done);
    pthread_mutex_unlock(&cache.lock);
}

static uf_status entry_compile(void *user) {
    const compiling *x = user;
    code *made = NULL;
    uf_status s = compile_code(x->job, &made);
    entry_end(x->entry, made, s);
    return UF_OK;
}

static void compile_all(compiling *all, int n) {
    void *users[CODE_TOGETHER];
    for (int i = 0; i < n; i++)
        users[i] = &all[i];
    uf_status s = n ? on_big_stacks(entry_compile, users, n) : UF_OK;
    for (int i = 0; i < n && s; i++)
        entry_end(all[i].entry, NULL, s);
}

/* Takes the job's entry, held once more. *mine: this thread must compile it. */
static uf_status entry_take(const compile_job *job, code_entry **out, bool *mine) {
    size_t size;
    void *key = key_make(job, &size);
    if (!key)
        return fail_memory();
    pthread_mutex_lock(&cache.lock);
    *out = entry_hold(job, key, size, mine);
    pthread_mutex_unlock(&cache.lock);
    mem_free(key);
    *mine &= *out != NULL;
    return *out ? UF_OK : fail_memory();
}

static uf_status entry_await(code_entry *e) {
    uf_status s = UF_OK;
    pthread_mutex_lock(&cache.lock);
    while (e->state == COMPILING)
        pthread_cond_wait(&cache.done, &cache.lock);
    if (e->state == FAILED) {
        *error_slot() = e->error;
        s = e->error.status;
        failed_drop(e);
    }
    pthread_mutex_unlock(&cache.lock);
    return s;
}

/* All entries are taken before the first is compiled: a thread of those that compile never waits for another one. */
uf_status code_get(const compile_job *jobs, int n, code_entry **out) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    compiling mine[CODE_TOGETHER];
    int taken = 0, count = 0;
    uf_status s = UF_OK;
    while (taken < n && !s) {
        bool own = false;
        s = entry_take(&jobs[taken], &out[taken], &own);
        if (own)
            mine[count++] = (compiling){out[taken], &jobs[taken]};
        taken += !s;
    }
    compile_all(mine, count);
    for (int i = taken - 1; i >= 0; i--) { /* the first one's error stays */
        uf_status own = entry_await(out[i]);
        if (own)
            out[i] = NULL;
        s = own ? own : s;
    }
    for (int i = 0; i < taken && s; i++)
        if (out[i])
            code_drop(out[i]);
    return s;
}

void code_drop(code_entry *e) {
    code_entry *evicted = NULL;
    pthread_mutex_lock(&cache.lock);
    if (--e->holders == 0) {
        idle_add(e);
        if (cache.idle > IDLE_MAX) {
            evicted = cache.oldest;
            idle_remove(evicted);
            map_remove(&cache.entries, evicted->key, evicted->key_size);
        }
    }
    pthread_mutex_unlock(&cache.lock);
    if (evicted)
        entry_free(evicted);
}

const code *code_of(const code_entry *e) { return e->code; }
