/* threads.c - the library's threads: a pool that runs the parts of a loop, and a few threads with large stacks.
 *
 * Threads are started at their first need, detached, never end, and have every asynchronous signal blocked and the default
 * floating-point environment. The shared library is never unmapped (-z nodelete), so none outlives its code. After fork
 * the child has none of them and starts anew. */
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
    ROOM_ALIGN = 64,
    WORKER_STACK = 8 << 20,
    SPIN_NS = 10000, /* how long a thread looks out for work, or for the end of it, before it sleeps */
    BIG_STACK = 64 << 20
};

static bool fork_watched; /* the handler that forgets the parent's threads is in place */

int cpu_count(void) {
    cpu_set_t sets[32]; /* 32768 CPUs */
    if (sched_getaffinity(0, sizeof sets, sets))
        return 1;
    int n = CPU_COUNT_S(sizeof sets, sets);
    return n > 0 ? n : 1;
}

/* Starts a thread that never ends. Faults of its own stay deliverable: handlers of the host may want to see them. */
static bool start(void *(*run)(void *), void *user, size_t stack) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t blocked, before;
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    if (!fork_watched || pthread_attr_init(&attributes))
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

/* ---- Rooms ---- */

static pthread_key_t room_key; /* its value is the block that the room is in */
static bool room_keyed;
static _Thread_local char *room;

/* Others' destructors, which run later, may make another. */
static void room_end(void *block) {
    room = NULL;
    mem_free(block);
}

static bool room_make(void) {
    void *block = room_keyed ? mem_alloc(THREAD_SCRATCH_BYTES + ROOM_ALIGN) : NULL;
    if (!block || pthread_setspecific(room_key, block)) {
        mem_free(block);
        return false;
    }
    room = (char *)(((uintptr_t)block + ROOM_ALIGN - 1) & ~(uintptr_t)(ROOM_ALIGN - 1));
    return true;
}

void *thread_scratch(size_t offset) { return room || room_make() ? room + offset : NULL; }

/* ---- The pool ---- */

/* What a worker is doing. The caller invites, takes back invitations that were not accepted, and awaits those at work. */
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

static struct worker workers[MAX_WORKERS]; /* [0] stands for the caller */

static atomic_bool pool_taken;

/* Below: of the caller that took the pool; read by the workers it invited. */
static int workers_started = 1; /* counting the caller */
static int coop;                /* how many take part, the caller included */
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

/* Looks at a worker's state for a short while: true if it became (wanted) or ceased to be (!wanted) `state`. */
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

/* Each member of the cooperative group invites two more, so that waking many takes few steps. */
static void invite_below(int k) {
    for (int child = 2 * k + 1; child <= 2 * k + 2 && child < coop; child++)
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
    _Alignas(ROOM_ALIGN) char own[THREAD_SCRATCH_BYTES]; /* its stack is large enough */
    struct worker *w = self;
    fesetenv(FE_DFL_ENV);
    room = own;
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

/* Takes back an invitation, or waits for the end of the work. */
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
    coop = wanted < workers_started ? wanted : workers_started;
    pool_part = part;
    pool_user = user;
    pool_parts = parts;
    atomic_store(&pool_next, 0);
    invite_below(0);
    run_parts();
    for (int k = 1; k < coop; k++) /* in this order: who invited worker k is done before k is looked at */
        dismiss(&workers[k]);
    atomic_store(&pool_taken, false);
}

/* ---- Big stacks ---- */

/* A job that waits for a thread, or runs. Lives on its caller's stack. */
typedef struct request {
    uf_status (*job)(void *user);
    void *user;
    uf_status status;
    uf_error *error; /* the caller's */
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

static _Thread_local bool on_big; /* this is one of those threads */

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
    uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* numbers are read and written with a point */
    pthread_mutex_lock(&big.lock);
    for (;;) {
        request *r = take_request();
        pthread_mutex_unlock(&big.lock);
        r->status = r->job(r->user);
        if (r->status)
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

uf_status on_big_stack(uf_status (*job)(void *user), void *user) {
    if (on_big)
        return job(user);
    request r = {.job = job, .user = user, .error = error_slot(), .finished = PTHREAD_COND_INITIALIZER};
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling); /* r must outlive the job */
    pthread_mutex_lock(&big.lock);
    post_request(&r);
    if (big.threads) {
        pthread_cond_signal(&big.posted);
        while (!r.done)
            pthread_cond_wait(&r.finished, &big.lock);
    } else { /* r is alone in the queue */
        big.first = NULL;
        big.queued = 0;
        r.status = fail_memory();
    }
    pthread_mutex_unlock(&big.lock);
    pthread_cond_destroy(&r.finished);
    pthread_setcancelstate(cancelling, NULL);
    return r.status;
}

/* ---- Fork ---- */

/* In the child: none of the threads exist, and whoever held a lock does not either. */
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
    fork_watched = pthread_atfork(NULL, NULL, forget_threads) == 0;
    room_keyed = pthread_key_create(&room_key, room_end) == 0;
}
