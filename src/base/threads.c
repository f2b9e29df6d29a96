/* threads.c - the library's threads: a pool that runs the parts of a loop, and a few threads with large stacks.
 *
 * A thread is started when it is first needed, detached, and never ends. All asynchronous signals are blocked in it, so
 * that the program's handlers run on the program's threads, and its floating-point environment is the default one. The
 * shared library is never unmapped (it is linked with -z nodelete), so that no thread outlives its code. A child of
 * fork has none of its parent's threads, and starts its own. */
#include <assert.h>
#include <fenv.h>
#include <limits.h>
#include <linux/futex.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

enum {
    MAX_WORKERS = 1024,
    CACHE_LINE = 64,
    SCRATCH_ALIGN = 64,
    WORKER_STACK = 8 << 20,
    SPIN_NS = 10000, /* how long a thread spins, for work or for the end of it, before it sleeps */
    BIG_STACK = 64 << 20
};

static bool fork_handled; /* the handler that makes a child forget its parent's threads is in place */

int cpu_count(void) {
    cpu_set_t sets[32]; /* enough for 32768 CPUs */
    if (sched_getaffinity(0, sizeof sets, sets))
        return 1;
    int n = CPU_COUNT_S(sizeof sets, sets);
    return n > 0 ? n : 1;
}

/* Starts a thread that never ends. Signals of its own faults are not blocked: a program's handler may want to see
 * those. */
static bool start(void *(*run)(void *), void *user, size_t stack) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t blocked, before;
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    if (!fork_handled || pthread_attr_init(&attributes))
        return false;
    sigfillset(&blocked);
    for (size_t i = 0; i < COUNT(faults); i++)
        sigdelset(&blocked, faults[i]);
    bool ready = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                 pthread_attr_setstacksize(&attributes, stack) == 0;
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    bool started = ready && pthread_create(&thread, &attributes, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

/* ---- Scratch memory of each thread ---- */

static pthread_key_t scratch_key; /* a thread's value is the block that its scratch memory is in */
static bool scratch_keyed;
static _Thread_local char *scratch;

/* When a thread ends. The destructors of other keys may run after this and ask for scratch memory again, which makes a
 * new block. */
static void scratch_free(void *block) {
    scratch = NULL;
    mem_free(block);
}

static bool scratch_make(void) {
    void *block = scratch_keyed ? mem_alloc(THREAD_SCRATCH_BYTES + SCRATCH_ALIGN) : NULL;
    if (!block || pthread_setspecific(scratch_key, block)) {
        mem_free(block);
        return false;
    }
    scratch = (char *)(((uintptr_t)block + SCRATCH_ALIGN - 1) & ~(uintptr_t)(SCRATCH_ALIGN - 1));
    return true;
}

void *thread_scratch(size_t offset) { return scratch || scratch_make() ? scratch + offset : NULL; }

/* ---- The pool ---- */

/* The states of a worker. The caller invites workers, takes back the invitations that were not accepted, and waits for
 * those that are at work. */
enum {
    IDLE,
    PARKED, /* asleep until invited */
    INVITED,
    WORKING,
    AWAITED /* working, and the caller sleeps until it is done */
};

struct worker {
    _Alignas(CACHE_LINE) atomic_uint state;
};

static struct worker workers[MAX_WORKERS]; /* workers[0] stands for the caller */

static atomic_bool pool_taken;

/* The variables below belong to the caller that took the pool; the workers that it invited read them. */
static int workers_started = 1; /* counting the caller */
static int participants;        /* threads that take part in this call, the caller included */
static void (*pool_part)(void *user, int64_t k);
static void *pool_user;
static int64_t pool_parts;
static _Alignas(CACHE_LINE) _Atomic int64_t pool_next;

static void futex_sleep(atomic_uint *word, unsigned while_it_is) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_it_is, NULL, NULL, 0);
}

static void futex_wake(atomic_uint *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0); }

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Spins on a worker's state for SPIN_NS: true as soon as the state is `state` (wanted) or another one (!wanted). */
static bool spin_until(struct worker *w, unsigned state, bool wanted) {
    int64_t end = now_ns() + SPIN_NS;
    do {
        for (int i = 0; i < 32; i++, relax())
            if ((atomic_load(&w->state) == state) == wanted)
                return true;
    } while (now_ns() < end);
    return false;
}

static void invite(int k) {
    if (atomic_exchange(&workers[k].state, INVITED) == PARKED)
        futex_wake(&workers[k].state);
}

/* Each participant invites two more, as in a binary heap, so that waking n of them takes log n steps. */
static void invite_below(int k) {
    for (int child = 2 * k + 1; child <= 2 * k + 2 && child < participants; child++)
        invite(child);
}

static void run_parts(void) {
    for (int64_t k; (k = atomic_fetch_add(&pool_next, 1)) < pool_parts;)
        pool_part(pool_user, k);
}

static void await_invitation(struct worker *w) {
    unsigned idle = IDLE;
    if (!spin_until(w, INVITED, true) && atomic_compare_exchange_strong(&w->state, &idle, PARKED))
        futex_sleep(&w->state, PARKED);
}

static void *worker_main(void *self) {
    _Alignas(SCRATCH_ALIGN) char own[THREAD_SCRATCH_BYTES]; /* WORKER_STACK is large enough for it */
    struct worker *w = self;
    fesetenv(FE_DFL_ENV);
    scratch = own;
    for (;;) {
        unsigned invited = INVITED;
        if (!atomic_compare_exchange_strong(&w->state, &invited, WORKING)) {
            if (invited == PARKED)
                futex_sleep(&w->state, PARKED);
            else
                await_invitation(w);
            continue;
        }
        invite_below((int)(w - workers));
        run_parts();
        if (atomic_exchange(&w->state, IDLE) == AWAITED)
            futex_wake(&w->state);
    }
    return NULL;
}

/* Takes back a worker's invitation if it was not accepted; else waits until the worker has done its parts. */
static void dismiss(struct worker *w) {
    unsigned state = INVITED;
    if (atomic_compare_exchange_strong(&w->state, &state, IDLE) || state != WORKING || spin_until(w, WORKING, false))
        return;
    state = WORKING;
    atomic_compare_exchange_strong(&w->state, &state, AWAITED);
    while (atomic_load(&w->state) == AWAITED)
        futex_sleep(&w->state, AWAITED);
}

void pool_run(int threads, int64_t parts, void (*part)(void *user, int64_t k), void *user) {
    int wanted = threads > 0 ? threads : cpu_count();
    if (wanted > parts)
        wanted = (int)parts;
    if (wanted > MAX_WORKERS)
        wanted = MAX_WORKERS;
    if (wanted <= 1 || atomic_exchange(&pool_taken, true)) {
        for (int64_t k = 0; k < parts; k++)
            part(user, k);
        return;
    }
    while (workers_started < wanted && start(worker_main, &workers[workers_started], WORKER_STACK))
        workers_started++;
    participants = wanted < workers_started ? wanted : workers_started;
    pool_part = part;
    pool_user = user;
    pool_parts = parts;
    atomic_store(&pool_next, 0);
    invite_below(0);
    run_parts();
    /* in this order: whoever was to invite worker k has been dismissed before, so that no invitation comes late */
    for (int k = 1; k < participants; k++)
        dismiss(&workers[k]);
    atomic_store(&pool_taken, false);
}

/* ---- Threads with large stacks ---- */

/* A job that waits for a thread or is running. It lives on its caller's stack. */
typedef struct request {
    uf_status (*job)(void *user);
    void *user;
    uf_status status;
    uf_error *error; /* the caller's; NULL: it asks for none */
    bool done;
    pthread_cond_t finished;
    struct request *next;
} request;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t posted;
    request *first, *last;
    int queued, idle, threads;
} big = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER};

static _Thread_local bool on_big; /* the calling thread is one of these */

static request *take_request(void) {
    while (!big.first) {
        big.idle++;
        pthread_cond_wait(&big.posted, &big.lock);
        big.idle--;
    }
    request *r = big.first;
    big.first = r->next;
    big.queued--;
    return r;
}

static void *big_main(void *unused) {
    (void)unused;
    on_big = true;
    fesetenv(FE_DFL_ENV);
    uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* so that numbers are read and written with a decimal point */
    pthread_mutex_lock(&big.lock);
    for (;;) {
        request *r = take_request();
        pthread_mutex_unlock(&big.lock);
        r->status = r->job(r->user);
        if (r->status && r->error)
            *r->error = *error_slot();
        pthread_mutex_lock(&big.lock);
        r->done = true;
        pthread_cond_signal(&r->finished);
    }
    return NULL;
}

static void post_request(request *r) {
    if (big.first)
        big.last->next = r;
    else
        big.first = r;
    big.last = r;
    big.queued++;
    int cpus = cpu_count();
    if (big.queued > big.idle && big.threads < (cpus > 2 ? cpus : 2) && start(big_main, NULL, BIG_STACK))
        big.threads++;
}

/* Runs the jobs, and waits for all of them. False: no thread could be started, and none was run. */
static bool run_requests(request *r, int n) {
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling); /* the jobs use r until they end */
    pthread_mutex_lock(&big.lock);
    for (int i = 0; i < n; i++) {
        pthread_cond_init(&r[i].finished, NULL);
        post_request(&r[i]);
        pthread_cond_signal(&big.posted);
    }
    bool runs = big.threads > 0;
    for (int i = 0; i < n && runs; i++)
        while (!r[i].done)
            pthread_cond_wait(&r[i].finished, &big.lock);
    if (!runs) { /* these are alone in the queue */
        big.first = NULL;
        big.queued = 0;
    }
    pthread_mutex_unlock(&big.lock);
    for (int i = 0; i < n; i++)
        pthread_cond_destroy(&r[i].finished);
    pthread_setcancelstate(cancelling, NULL);
    return runs;
}

uf_status on_big_stack(uf_status (*job)(void *user), void *user) {
    if (on_big)
        return job(user);
    request r = {.job = job, .user = user, .error = error_slot()};
    return run_requests(&r, 1) ? r.status : fail_memory();
}

uf_status on_big_stacks(uf_status (*job)(void *user), void *const *users, int n) {
    request r[BIG_TOGETHER];
    assert(n <= BIG_TOGETHER);
    for (int i = 0; i < n; i++)
        r[i] = (request){.job = job, .user = users[i], .status = on_big ? job(users[i]) : UF_OK};
    return on_big || run_requests(r, n) ? UF_OK : fail_memory();
}

/* ---- Fork ---- */

/* In the child of a fork: the parent's threads do not exist, and neither does whoever held a lock. */
static void forget_threads(void) {
    for (int k = 0; k < MAX_WORKERS; k++)
        if (atomic_load(&workers[k].state) != IDLE)
            atomic_store(&workers[k].state, IDLE);
    workers_started = 1;
    atomic_store(&pool_taken, false);
    big.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    big.posted = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    big.first = NULL;
    big.queued = big.idle = big.threads = 0;
}

__attribute__((constructor)) static void begin(void) {
    fork_handled = pthread_atfork(NULL, NULL, forget_threads) == 0;
    scratch_keyed = pthread_key_create(&scratch_key, scratch_free) == 0;
}
