/* test_base.c - errors, memory, text, maps and threads, each against an oracle of its own; every allocation failing once. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "failing.h"

#include <cmocka.h>
#undef fail /* ours */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* ---- Random numbers and failing allocations ---- */

static uint64_t random_state;

static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static size_t random_below(size_t n) { return random_bits() % n; }

/* Runs `work` with every allocation failing in turn, until it succeeds; work returns false on lack of memory. Returns how
 * many allocations it made. */
static long fail_each_allocation(bool (*work)(void)) {
    for (long n = 0;; n++) {
        allocations_fail_after(n);
        bool done = work();
        allocations_succeed();
        if (done)
            return n;
        assert_true(n < 10000);
    }
}

/* ---- Errors ---- */

static bool valid_utf8(const char *s) {
    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        int more = *p < 0x80 ? 0 : (*p & 0xE0) == 0xC0 ? 1 : (*p & 0xF0) == 0xE0 ? 2 : (*p & 0xF8) == 0xF0 ? 3 : -1;
        if (more < 0)
            return false;
        for (p++; more > 0; more--, p++)
            if ((*p & 0xC0) != 0x80)
                return false;
    }
    return true;
}

static void error_fields(void **state) {
    (void)state;
    assert_int_equal(fail(UF_ERR_SHAPE, "got %d, needed %d", 3, 4), UF_ERR_SHAPE);
    const uf_error *e = uf_last_error();
    assert_int_equal(e->status, UF_ERR_SHAPE);
    assert_int_equal(e->argument, -1);
    assert_int_equal(e->dimension, -1);
    assert_int_equal(e->line, 0);
    assert_string_equal(e->message, "got 3, needed 4");

    assert_int_equal(fail_argument(UF_ERR_CAST, 2, -1, "is %s", "odd"), UF_ERR_CAST);
    assert_int_equal(e->argument, 2);
    assert_int_equal(e->dimension, -1);
    assert_string_equal(e->message, "argument 2: is odd");

    fail_argument(UF_ERR_SHAPE, 1, 3, "is %d", 5);
    assert_int_equal(e->argument, 1);
    assert_int_equal(e->dimension, 3);
    assert_string_equal(e->message, "argument 1: dimension 3 is 5");

    assert_int_equal(fail_memory(), UF_ERR_MEMORY);
    assert_string_equal(e->message, "out of memory");
}

static void error_caret(void **state) {
    (void)state;
    const uf_error *e = uf_last_error();
    fail_source(UF_ERR_SYNTAX, "(x)\n{ retrun x; }\n", 6, "unknown name");
    assert_int_equal(e->line, 2);
    assert_int_equal(e->column, 3);
    assert_string_equal(e->message, "2:3: unknown name\n  { retrun x; }\n    ^");

    fail_source(UF_ERR_TYPE, "", 0, "empty");
    assert_string_equal(e->message, "1:1: empty\n  \n  ^");

    /* A tab stays a tab, so that the caret stands under it; a character of several bytes is one column. */
    fail_source(UF_ERR_TYPE, "\tä + b", 6, "b");
    assert_int_equal(e->column, 6);
    assert_string_equal(e->message, "1:6: b\n  \tä + b\n  \t    ^");

    const char *lines = "a\n\nbc";
    int line, column;
    source_position(lines, 2, &line, &column);
    assert_true(line == 2 && column == 1);
    source_position(lines, 100, &line, &column); /* past the end: the end */
    assert_true(line == 3 && column == 3);
}

/* On a long line a window is shown; the caret stands under the character at the offset, wherever that is. */
static void error_caret_in_long_lines(void **state) {
    (void)state;
    char source[1000];
    for (size_t i = 0; i < sizeof source - 1; i++)
        source[i] = (char)('a' + i % 26);
    source[sizeof source - 1] = 0;
    for (size_t offset = 0; offset < sizeof source; offset += 1 + random_below(40)) {
        fail_source(UF_ERR_SYNTAX, source, offset, "here");
        const char *shown = strchr(uf_last_error()->message, '\n'), *caret = strrchr(uf_last_error()->message, '\n');
        assert_true(shown && caret > shown && caret - shown < 120);
        size_t column = strlen(caret + 1) - 1;
        assert_int_equal(caret[1 + column], '^');
        if (source[offset])
            assert_int_equal(shown[1 + column], source[offset]);
        assert_int_equal(uf_last_error()->column, offset + 1);
    }
}

static void error_is_cut_between_characters(void **state) {
    (void)state;
    static char wide[6000];
    for (int shift = 0; shift < 4; shift++) {
        size_t n = 0;
        for (int i = 0; i < shift; i++)
            wide[n++] = 'x';
        while (n + 3 < sizeof wide) {
            memcpy(wide + n, "\xE2\x82\xAC", 3); /* the euro sign */
            n += 3;
        }
        wide[n] = 0;
        fail(UF_ERR_IO, "%s", wide);
        const char *message = uf_last_error()->message;
        size_t length = strlen(message);
        assert_in_range(length, 4085, 4095);
        assert_true(valid_utf8(message));
        assert_string_equal(message + length - 3, " ..");

        fail_source(UF_ERR_SYNTAX, "x y", 2, "%s", wide); /* nor does the caret run over */
        assert_in_range(strlen(message), 4085, 4095);
        assert_true(valid_utf8(message));
    }
}

static void status_texts(void **state) {
    (void)state;
    for (int s = UF_OK; s <= UF_ERR_IO; s++) {
        assert_string_not_equal(uf_status_text((uf_status)s), "unknown status");
        for (int other = UF_OK; other < s; other++)
            assert_string_not_equal(uf_status_text((uf_status)s), uf_status_text((uf_status)other));
    }
    assert_string_equal(uf_status_text((uf_status)99), "unknown status");
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", UF_VERSION_MAJOR, UF_VERSION_MINOR, UF_VERSION_PATCH);
    assert_string_equal(uf_version(), version);
}

static void *fail_elsewhere(void *unused) {
    (void)unused;
    assert_int_equal(uf_last_error()->status, UF_OK);
    fail(UF_ERR_IO, "of another thread");
    return NULL;
}

static void error_is_of_the_thread(void **state) {
    (void)state;
    pthread_t thread;
    fail(UF_ERR_SHAPE, "mine");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(uf_last_error()->message, "mine");
}

/* ---- Memory ---- */

static void memory_overflow(void **state) {
    (void)state;
    assert_null(mem_zero(SIZE_MAX / 2, 3));
    char *block = mem_zero(1000, 3);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(block[i], 0);
    mem_free(block);
    mem_free(NULL);
    void *nothing = mem_alloc(0); /* not NULL: that means out of memory */
    assert_non_null(nothing);
    mem_free(nothing);
}

static void arena_blocks(void **state) {
    (void)state;
    enum {
        N = 2000
    };
    static struct {
        unsigned char *at;
        size_t size;
    } made[N];
    arena a = {0};
    for (size_t i = 0; i < N; i++) {
        made[i].size = random_below(i % 100 == 0 ? 50000 : 100);
        made[i].at = arena_alloc(&a, made[i].size);
        assert_non_null(made[i].at);
        assert_int_equal((uintptr_t)made[i].at % 16, 0);
        for (size_t k = 0; k < made[i].size; k++)
            assert_int_equal(made[i].at[k], 0);
        memset(made[i].at, (int)(i % 251), made[i].size);
    }
    for (size_t i = 0; i < N; i++) /* nobody wrote into a neighbour */
        for (size_t k = 0; k < made[i].size; k++)
            assert_int_equal(made[i].at[k], i % 251);
    assert_string_equal(arena_text(&a, "abcdef", 3), "abc");
    arena_free(&a);
    assert_null(a.blocks);
}

static void arena_out_of_memory(void **state) {
    (void)state;
    arena a = {0};
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_int_equal(uf_last_error()->status, UF_ERR_MEMORY);
    assert_null(arena_alloc(&a, SIZE_MAX - 20));
    jmp_buf escape;
    a.escape = &escape;
    int status = setjmp(escape);
    if (status == UF_OK) {
        arena_alloc(&a, SIZE_MAX / 2 + 100);
        assert_true(!"arena_alloc came back");
    }
    assert_int_equal(status, UF_ERR_MEMORY);
    assert_non_null(arena_alloc(&a, 10)); /* usable afterwards */
    arena_free(&a);
}

static bool use_an_arena(void) {
    arena a = {0};
    bool done = true;
    for (int i = 0; done && i < 50; i++)
        done = arena_alloc(&a, 1000) != NULL && arena_text(&a, "text", 4) != NULL;
    arena_free(&a);
    return done;
}

static bool use_a_text(void) {
    text t = {0};
    for (int i = 0; i < 100; i++)
        text_printf(&t, "%0*d", 1 + i * 10, i);
    char *s = text_take(&t);
    assert_true(!t.data && !t.failed); /* reusable either way */
    if (s)
        assert_int_equal(strlen(s), 100 + 10 * 99 * 100 / 2);
    mem_free(s);
    return s != NULL;
}

static bool use_a_map(void) {
    map m = {0};
    bool done = true;
    size_t put = 0;
    for (; done && put < 300; put++)
        done = map_put(&m, &put, sizeof put, &m);
    assert_int_equal(m.count, done ? 300 : put - 1); /* what failed left the map as it was */
    for (size_t i = 0; i < m.count; i++)
        assert_ptr_equal(map_get(&m, &i, sizeof i), &m);
    map_free(&m);
    return done;
}

static bool copy_a_text(void) {
    char *copy = mem_copy_text("copy");
    if (copy)
        assert_string_equal(copy, "copy");
    mem_free(copy);
    return copy != NULL;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    assert_true(fail_each_allocation(use_an_arena) > 2);
    assert_true(fail_each_allocation(use_a_text) > 2);
    assert_true(fail_each_allocation(use_a_map) > 300);
    assert_int_equal(fail_each_allocation(copy_a_text), 1);
}

/* ---- Text ---- */

static void text_grows(void **state) {
    (void)state;
    static char expected[400000];
    size_t length = 0;
    text t = {0};
    for (int i = 0; i < 2000; i++) {
        char piece[400];
        size_t n = random_below(sizeof piece);
        memset(piece, 'a' + i % 26, n);
        piece[n < sizeof piece ? n : n - 1] = 0;
        switch (i % 3) {
        case 0:
            text_add(&t, piece, n);
            break;
        case 1:
            text_puts(&t, piece);
            break;
        default:
            text_printf(&t, "%s", piece);
        }
        if (length + n > sizeof expected)
            break;
        memcpy(expected + length, piece, n);
        length += n;
        assert_int_equal(t.length, length);
        assert_int_equal(t.data[length], 0);
    }
    assert_memory_equal(t.data, expected, length);
    text_free(&t);
    assert_null(t.data);

    char *empty = text_take(&t);
    assert_string_equal(empty, "");
    mem_free(empty);
}

static void text_grows_in_the_middle(void **state) {
    (void)state;
    text t = {0};
    text_insert(&t, 0, "ad", 2);
    text_insert(&t, 1, "bc", 2);
    text_insert(&t, 4, "e", 1);
    text_insert(&t, 0, "", 0);
    assert_string_equal(t.data, "abcde");
    for (int i = 0; i < 1000; i++)
        text_insert(&t, 1, "x", 1);
    assert_int_equal(t.length, 1005);
    assert_string_equal(t.data + 1000, "xbcde");
    allocations_fail_after(0);
    text_insert(&t, 1, t.data, t.length);
    allocations_succeed();
    assert_true(t.failed);
    text_free(&t);
}

static void text_failure_is_sticky(void **state) {
    (void)state;
    text t = {0};
    text_puts(&t, "before");
    allocations_fail_after(0);
    text_printf(&t, "%1000d", 1);
    allocations_succeed();
    text_puts(&t, "after");
    assert_true(t.failed);
    assert_null(text_take(&t));
}

/* ---- Maps ---- */

enum {
    KEYS = 400,
    KEY_BYTES = 3
};

/* The oracle: a plain list. */
typedef struct pair {
    unsigned char key[KEY_BYTES];
    size_t size;
    void *value;
} pair;

static pair *pair_find(pair *list, size_t count, const void *key, size_t size) {
    for (size_t i = 0; i < count; i++)
        if (list[i].size == size && memcmp(list[i].key, key, size) == 0)
            return &list[i];
    return NULL;
}

static void map_against_a_list(void **state) {
    (void)state;
    static char values[1000];
    pair list[KEYS];
    size_t count = 0;
    map m = {0};
    assert_null(map_get(&m, "x", 1));
    assert_null(map_remove(&m, "x", 1));
    for (int step = 0; step < 20000; step++) {
        unsigned char key[KEY_BYTES] = {(unsigned char)random_below(16), (unsigned char)random_below(4), 0};
        size_t size = random_below(KEY_BYTES + 1);
        void *value = &values[random_below(sizeof values)];
        pair *known = pair_find(list, count, key, size);
        assert_ptr_equal(map_get(&m, key, size), known ? known->value : NULL);
        if (random_below(3)) {
            assert_true(map_put(&m, key, size, value));
            if (!known) {
                known = &list[count++];
                memcpy(known->key, key, sizeof key);
                known->size = size;
            }
            known->value = value;
        } else {
            assert_ptr_equal(map_remove(&m, key, size), known ? known->value : NULL);
            if (known)
                *known = list[--count];
        }
        assert_int_equal(m.count, count);
    }
    map_free(&m);
    assert_int_equal(m.count, 0);
}

/* ---- The pool ---- */

enum {
    MAX_PARTS = 5000
};

typedef struct tally {
    atomic_int taken[MAX_PARTS];
    atomic_int at_once, most_at_once;
    int gather; /* each part waits until so many were seen at once, or for ten seconds */
} tally;

static void take_part(void *user, int64_t k) {
    tally *t = user;
    int now = atomic_fetch_add(&t->at_once, 1) + 1, most = atomic_load(&t->most_at_once);
    while (most < now && !atomic_compare_exchange_weak(&t->most_at_once, &most, now))
        ;
    atomic_fetch_add(&t->taken[k], 1);
    for (int i = 0; i < 100000 && atomic_load(&t->most_at_once) < t->gather; i++)
        usleep(100);
    atomic_fetch_sub(&t->at_once, 1);
}

static void run_and_check(tally *t, int threads, int parts) {
    memset(t, 0, offsetof(tally, gather));
    pool_run(threads, parts, take_part, t);
    assert_int_equal(t->at_once, 0);
    for (int k = 0; k < MAX_PARTS; k++)
        assert_int_equal(t->taken[k], k < parts);
    if (threads)
        assert_true(t->most_at_once <= threads);
}

static void pool_runs_every_part_once(void **state) {
    (void)state;
    static tally t;
    static const int parts[] = {0, 1, 2, 3, 7, 8, 9, 100, MAX_PARTS};
    t.gather = 0;
    for (int threads = 0; threads <= 8; threads++)
        for (size_t i = 0; i < COUNT(parts); i++)
            run_and_check(&t, threads, parts[i]);
    for (int i = 0; i < 2000; i++) /* short runs, back to back: workers come late, spin, and are sent away */
        run_and_check(&t, 1 + (int)random_below(8), (int)random_below(20));
}

static void pool_uses_its_threads(void **state) {
    (void)state;
    static tally t;
    for (int threads = 2; threads <= 8; threads *= 2) {
        t.gather = threads;
        run_and_check(&t, threads, 4 * threads);
        assert_int_equal(t.most_at_once, threads);
    }
    usleep(50000); /* all asleep by now: woken again */
    run_and_check(&t, 8, 40);
    assert_int_equal(t.most_at_once, 8);
}

static void *call_the_pool(void *user) {
    tally *t = user;
    for (int i = 0; i < 100; i++)
        run_and_check(t, 4, 1 + i * 5);
    return NULL;
}

static void pool_with_several_callers(void **state) {
    (void)state;
    static tally tallies[6];
    pthread_t threads[COUNT(tallies)];
    for (size_t i = 0; i < COUNT(tallies); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_the_pool, &tallies[i]), 0);
    for (size_t i = 0; i < COUNT(tallies); i++)
        pthread_join(threads[i], NULL);
}

static void run_within(void *user, int64_t k) {
    (void)k;
    static _Thread_local tally inner;
    run_and_check(&inner, 4, 10);
    atomic_fetch_add((atomic_int *)user, 1);
}

static void pool_within_the_pool(void **state) {
    (void)state;
    atomic_int done = 0;
    pool_run(4, 50, run_within, &done);
    assert_int_equal(done, 50);
}

static pthread_t pool_caller;
static atomic_int wrongly_blocked;

static void check_signals(void *user, int64_t k) {
    sigset_t blocked;
    take_part(user, k);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    int worker = !pthread_equal(pthread_self(), pool_caller);
    if (sigismember(&blocked, SIGINT) != worker || sigismember(&blocked, SIGALRM) != worker ||
        sigismember(&blocked, SIGSEGV))
        atomic_fetch_add(&wrongly_blocked, 1);
}

static void pool_threads_take_no_signals(void **state) {
    (void)state;
    static tally t = {.gather = 4};
    pool_caller = pthread_self();
    pool_run(4, 40, check_signals, &t);
    assert_int_equal(t.most_at_once, 4);
    assert_int_equal(wrongly_blocked, 0);
}

static void cpus(void **state) {
    (void)state;
    assert_true(cpu_count() >= 1);
    cpu_set_t all, one;
    CPU_ZERO(&one);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    for (int cpu = 0; !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(cpu_count(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(cpu_count(), CPU_COUNT(&all));
}

/* ---- Big stacks ---- */

static size_t deep(volatile char *above, int levels) {
    volatile char frame[4096];
    frame[0] = above[0];
    frame[sizeof frame - 1] = (char)levels;
    return levels ? deep(frame, levels - 1) + (size_t)frame[0] : (size_t)frame[0];
}

static uf_status recurse(void *user) {
    char one = 1;
    *(size_t *)user = deep(&one, 10000); /* 40 MiB, and more under a sanitizer */
    return UF_OK;
}

static uf_status fail_inside(void *user) {
    return fail_source(UF_ERR_SYNTAX, user, 4, "failed on a thread of the library's");
}

static uf_status nest(void *user) { return on_big_stack(fail_inside, user); }

static void big_stack(void **state) {
    (void)state;
    size_t levels = 0;
    fail(UF_ERR_IO, "left alone");
    assert_int_equal(on_big_stack(recurse, &levels), UF_OK);
    assert_int_equal(levels, 10001);
    assert_string_equal(uf_last_error()->message, "left alone");

    for (int i = 0; i < 2; i++) {
        assert_int_equal(on_big_stack(i ? nest : fail_inside, "abc def"), UF_ERR_SYNTAX);
        assert_int_equal(uf_last_error()->status, UF_ERR_SYNTAX);
        assert_int_equal(uf_last_error()->column, 5);
        assert_string_equal(uf_last_error()->message, "1:5: failed on a thread of the library's\n  abc def\n      ^");
        fail(UF_ERR_IO, "between");
    }
}

static uf_status count_jobs(void *user) {
    take_part(user, 0);
    return UF_OK;
}

static void *post_jobs(void *user) {
    for (int i = 0; i < 20; i++)
        assert_int_equal(on_big_stack(i % 5 == 4 ? nest : count_jobs, i % 5 == 4 ? "abc def" : user),
                         i % 5 == 4 ? UF_ERR_SYNTAX : UF_OK);
    return NULL;
}

static void big_stack_with_many_callers(void **state) {
    (void)state;
    static tally t;
    pthread_t threads[16];
    memset(&t, 0, sizeof t);
    t.gather = 2;
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, post_jobs, &t), 0);
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(t.taken[0], COUNT(threads) * 16);
    assert_in_range(t.most_at_once, 2, cpu_count() > 2 ? cpu_count() : 2);
}

static uf_status take_and_fail(void *user) {
    take_part(user, 0);
    return fail(UF_ERR_IO, "nobody is told");
}

static uf_status both_inside(void *user) {
    void *users[] = {user, user};
    return on_big_stacks(count_jobs, users, 2);
}

static void big_stacks_together(void **state) {
    (void)state;
    static tally t;
    void *users[] = {&t, &t};
    memset(&t, 0, sizeof t);
    t.gather = 2; /* each waits for the other one */
    fail(UF_ERR_IO, "left alone");
    assert_int_equal(on_big_stacks(count_jobs, users, 2), UF_OK);
    assert_int_equal(t.most_at_once, 2);
    assert_int_equal(on_big_stacks(take_and_fail, users, 2), UF_OK);
    assert_int_equal(on_big_stacks(take_and_fail, users, 1), UF_OK);
    assert_int_equal(on_big_stacks(NULL, NULL, 0), UF_OK);
    assert_int_equal(t.taken[0], 5);
    memset(&t, 0, sizeof t);
    assert_int_equal(on_big_stack(both_inside, &t), UF_OK); /* one after the other */
    assert_int_equal(t.taken[0], 2);
    assert_int_equal(t.most_at_once, 1);
    assert_string_equal(uf_last_error()->message, "left alone");
}

/* ---- Fork, and threads that cannot be made ---- */

/* 0 if everything works in this process. */
static int try_threads(void) {
    static tally t;
    memset(&t, 0, sizeof t);
    t.gather = 4;
    pool_run(4, 40, take_part, &t);
    for (int k = 0; k < 40; k++)
        if (t.taken[k] != 1)
            return 1;
    if (t.most_at_once != 4)
        return 2;
    size_t levels = 0;
    if (on_big_stack(recurse, &levels) || levels != 10001)
        return 3;
    return on_big_stack(fail_inside, "abc def") == UF_ERR_SYNTAX ? 0 : 4;
}

static int child_status(int (*run)(void)) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(run());
    }
    assert_true(child > 0);
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void *keep_calling(void *stop) {
    static tally t;
    while (!atomic_load((atomic_bool *)stop)) {
        pool_run(4, 20, take_part, &t);
        on_big_stack(count_jobs, &t);
    }
    return NULL;
}

static void fork_starts_anew(void **state) {
    (void)state;
    assert_int_equal(try_threads(), 0);
    assert_int_equal(child_status(try_threads), 0);
    atomic_bool stop = false; /* and forks while another thread uses all of it */
    pthread_t caller;
    assert_int_equal(pthread_create(&caller, NULL, keep_calling, &stop), 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(child_status(try_threads), 0);
    stop = true;
    pthread_join(caller, NULL);
    assert_int_equal(try_threads(), 0);
}

/* In a process that has no room for stacks. */
static int try_without_room(void) {
    static tally t;
    struct rlimit none = {0, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &none);
    size_t levels;
    if (on_big_stack(recurse, &levels) != UF_ERR_MEMORY || uf_last_error()->status != UF_ERR_MEMORY)
        return 1;
    void *users[] = {&t, &t};
    if (on_big_stacks(count_jobs, users, 2) != UF_ERR_MEMORY || t.taken[0])
        return 4;
    pool_run(4, 40, take_part, &t); /* on the caller's thread, then */
    for (int k = 0; k < 40; k++)
        if (t.taken[k] != 1)
            return 2;
    none.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_AS, &none);
    return try_threads() ? 3 : 0;
}

static void no_room_for_threads(void **state) {
    (void)state;
    if (SANITIZED) {
        print_message("sanitizers need address space of their own\n");
        skip();
    }
    assert_int_equal(child_status(try_without_room), 0);
}

int main(void) {
    const char *seed = getenv("UF_SEED");
    random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
    print_message("# UF_SEED=%llu\n", (unsigned long long)random_state);
    random_state |= 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_fields),
        cmocka_unit_test(error_caret),
        cmocka_unit_test(error_caret_in_long_lines),
        cmocka_unit_test(error_is_cut_between_characters),
        cmocka_unit_test(status_texts),
        cmocka_unit_test(error_is_of_the_thread),
        cmocka_unit_test(memory_overflow),
        cmocka_unit_test(arena_blocks),
        cmocka_unit_test(arena_out_of_memory),
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(text_grows_in_the_middle),
        cmocka_unit_test(text_failure_is_sticky),
        cmocka_unit_test(map_against_a_list),
        cmocka_unit_test(no_room_for_threads), /* before there are stacks that the C library would use again */
        cmocka_unit_test(pool_runs_every_part_once),
        cmocka_unit_test(pool_uses_its_threads),
        cmocka_unit_test(pool_with_several_callers),
        cmocka_unit_test(pool_within_the_pool),
        cmocka_unit_test(pool_threads_take_no_signals),
        cmocka_unit_test(cpus),
        cmocka_unit_test(big_stack),
        cmocka_unit_test(big_stack_with_many_callers),
        cmocka_unit_test(big_stacks_together),
        cmocka_unit_test(fork_starts_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
