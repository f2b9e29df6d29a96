/* gpu_sim.c - see gpu_sim.h. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "draw.h"
#include "gpu_sim.h"
#include "ir_check.h"

enum {
    THREADS = 1024,
    CLUSTER_MOST = 64, /* blocks of a cluster, or of a grid whose blocks wait for each other */
    VISIT = 4,         /* turns that a block's threads have there before the next block's */
    TURNS_MOST = 1 << 20,
    STACK = 128 * 1024,
    /* Stacks end at different places within pages, so that not all of them share a few sets of the caches. */
    STACKS_APART = 13 * 64,
    STACKS_SHIFTED = 32 * 1024,
    WARP_LANES = 32,
    VARIABLES_MOST = 256, /* in the shared memory of a block */
    COPIES_MOST = 1 << 16,
    RECENT = 8 /* modules whose code is kept */
};

typedef enum state {
    READY,
    AT_BARRIER,
    AT_WARP, /* bar.warp.sync */
    AT_SHUFFLE,
    AT_CLUSTER, /* barrier.cluster.wait */
    AT_ARRIVAL, /* mbarrier.try_wait */
    DONE
} state;

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
/* A jump of the compiler's own, which keeps fewer registers, and does not ask what threads there are. */
typedef void *place[5];
#define MARK(p) __builtin_setjmp(p)
#define JUMP(p) __builtin_longjmp(p, 1)
#else
typedef jmp_buf place;
#define MARK(p) _setjmp(p)
#define JUMP(p) _longjmp(p, 1)
#endif

/* The first time a thread runs, its context begins; after that it and the scheduler jump to where the other one waits, which asks nothing
 * of the kernel, as swapcontext does for the sake of signals. */
typedef struct resumption {
    ucontext_t context;
    place waits;
} resumption;

typedef struct lane {
    state state;
    bool begun;
    uint32_t mask, value, by, clamp, result;
    char mode;       /* of the shuffle: 'b' bfly, 'd' down, 'u' up, 'i' idx; 'v': a ballot */
    int arrivals;    /* at barriers of the cluster */
    uint32_t awaits; /* the address of the mbarrier that it waits for */
} lane;

/* An mbarrier whose phases end when one thread has arrived and no bytes are outstanding. */
typedef struct arrival {
    int32_t bytes; /* that are still to come */
    int16_t threads, phase;
} arrival;

/* A variable in shared memory. Its bytes are those of the block that runs; what the other blocks of the cluster have there is kept. */
typedef struct shared_variable {
    char *at;
    size_t size;
    char *kept[CLUSTER_MOST];
} shared_variable;

/* A cp.async that its thread has not waited for. */
typedef struct pending_copy {
    const lane *of;
    uint32_t to, bytes;
    uint64_t from;
} pending_copy;

static pending_copy copies[COPIES_MOST];
static int ncopies;

static lane *all_lanes, *lanes; /* of the cluster, and of the block that runs */
static resumption *resumptions; /* of all lanes */
static char *stacks;
static int threads_now, thread_now, block_now, blocks_now, cluster_now;
static bool meets; /* the blocks meet through memory: they wait by reading it again and again */
static shared_variable variables[VARIABLES_MOST];
static int nvariables;
static place scheduler;
static uint64_t *argument;
static void (*entry)(const uint64_t *words);

/* The thread sanitizer counts the calls and returns of functions that it instruments as those of one stack, which the threads
 * of a kernel do not have: it would take their stacks for one that grows without end. */
#define SWITCHES_STACKS __attribute__((no_sanitize_thread))

static resumption *resumption_of(const lane *l) { return &resumptions[l - all_lanes]; }

SWITCHES_STACKS static void sim_yield(void) {
    if (!MARK(resumption_of(&lanes[thread_now])->waits))
        JUMP(scheduler);
}

/* Lets the thread run until it waits, yields or is done. */
SWITCHES_STACKS static void resume(lane *l) {
    if (MARK(scheduler))
        return;
    if (l->begun)
        JUMP(resumption_of(l)->waits);
    l->begun = true;
    setcontext(&resumption_of(l)->context);
}

SWITCHES_STACKS static void wait_for(state s) {
    lanes[thread_now].state = s;
    sim_yield();
}

/* ---- What the module calls ---- */

static int32_t sim_tid(void) { return thread_now; }
static int32_t sim_ntid(void) { return threads_now; }
static int32_t sim_ctaid(void) { return block_now; }
static int32_t sim_nctaid(void) { return blocks_now; }
static void sim_nothing(void) {}
static void sim_prefetch(int64_t at) { (void)at; }

/* What is an error on a GPU, and none on the host. */
static void sim_access(int64_t at, int32_t alignment) {
    if (at % alignment) {
        fprintf(stderr, "gpu_sim: an access to %#llx, which is not aligned to %d bytes\n", (unsigned long long)at,
                alignment);
        abort();
    }
}

/* Rounds to nearest even; any NaN is the one that the instruction makes. */
static uint16_t sim_bfloat16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? 0x7FFF : (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
static uint32_t sim_bfloat16s(float high, float low) { return (uint32_t)sim_bfloat16(high) << 16 | sim_bfloat16(low); }

/* The instructions on pairs of halves. */
static uint32_t sim_pair(uint32_t a, uint32_t b, dtype half, char o) {
    uint32_t result = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        uint16_t bits[] = {(uint16_t)(a >> shift), (uint16_t)(b >> shift)}, rounded;
        double x = number_read(half, &bits[0]).as.f[0], y = number_read(half, &bits[1]).as.f[0];
        double z = o == '+' ? x + y : o == '-' ? x - y : x * y; /* exact enough: doubles have 53 bits */
        number_write((number){.type = half, .as.f = {z}}, half, &rounded);
        result |= (uint32_t)(isnan(z) ? 0x7FFF : rounded) << shift;
    }
    return result;
}
static uint32_t sim_add_f16s(uint32_t a, uint32_t b) { return sim_pair(a, b, DT_FLOAT16, '+'); }
static uint32_t sim_sub_f16s(uint32_t a, uint32_t b) { return sim_pair(a, b, DT_FLOAT16, '-'); }
static uint32_t sim_mul_f16s(uint32_t a, uint32_t b) { return sim_pair(a, b, DT_FLOAT16, '*'); }
static uint32_t sim_add_bf16s(uint32_t a, uint32_t b) { return sim_pair(a, b, DT_BFLOAT16, '+'); }
static uint32_t sim_sub_bf16s(uint32_t a, uint32_t b) { return sim_pair(a, b, DT_BFLOAT16, '-'); }
static uint32_t sim_mul_bf16s(uint32_t a, uint32_t b) { return sim_pair(a, b, DT_BFLOAT16, '*'); }

/* Those that add to a pair in memory. */
static void sim_red_f16s(uint64_t at, uint32_t x) {
    uint32_t *word = (uint32_t *)(uintptr_t)at;
    *word = sim_add_f16s(*word, x);
}
static void sim_red_bf16s(uint64_t at, uint32_t x) {
    uint32_t *word = (uint32_t *)(uintptr_t)at;
    *word = sim_add_bf16s(*word, x);
}

/* The instructions max.NaN and min.NaN, for which +0 is greater than -0. */
static float sim_extreme(float a, float b, bool larger) {
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return (signbit(a) != 0) == larger ? b : a;
    return (a > b) == larger ? a : b;
}
static float sim_greater(float a, float b) { return sim_extreme(a, b, true); }
static float sim_smaller(float a, float b) { return sim_extreme(a, b, false); }
SWITCHES_STACKS static void sim_barrier(void) { wait_for(AT_BARRIER); }

/* ---- Clusters ---- */

static void sim_cluster_arrive(void) { lanes[thread_now].arrivals++; }
SWITCHES_STACKS static void sim_cluster_wait(void) { wait_for(AT_CLUSTER); }
SWITCHES_STACKS static void sim_cluster_barrier(void) {
    sim_cluster_arrive();
    sim_cluster_wait();
}

/* Where a 32-bit address points, and in which variable that is. */
static shared_variable *find_shared(uint32_t address, size_t *offset) {
    for (int i = 0; i < nvariables; i++) {
        *offset = address - (uint32_t)(uintptr_t)variables[i].at;
        if (*offset < variables[i].size)
            return &variables[i];
    }
    fprintf(stderr, "gpu_sim: %#x is no address in shared memory\n", address);
    abort();
}

/* Shared memory of a block may be written by others only once it is known to run: once its threads have come to a barrier. */
static void demand_begun(uint32_t block) {
    for (int t = 0; t < threads_now; t++) {
        const lane *l = &all_lanes[(int)block * threads_now + t];
        if (!l->arrivals && l->state != DONE) {
            fprintf(stderr, "gpu_sim: a store to shared memory of a block of the cluster that may not have begun\n");
            abort();
        }
    }
}

/* Bytes in the shared memory of a block. */
static char *bytes_of(uint32_t block, uint32_t address) {
    size_t offset;
    shared_variable *v = find_shared(address, &offset);
    return ((int)block == block_now % cluster_now ? v->at : v->kept[block]) + offset;
}

static void arrival_changed(uint32_t block, uint32_t address) {
    arrival *a = (void *)bytes_of(block, address);
    if (a->threads || a->bytes)
        return;
    a->threads = 1;
    a->phase++;
    for (int t = 0; t < threads_now; t++) {
        lane *l = &all_lanes[(int)block * threads_now + t];
        if (l->state == AT_ARRIVAL && l->awaits == address)
            l->state = READY;
    }
}

static void sim_arrival_init(uint32_t address) {
    memcpy(bytes_of((uint32_t)(block_now % cluster_now), address), &(arrival){.threads = 1}, sizeof(arrival));
}

static void sim_arrival_expect(uint32_t address, uint32_t bytes) {
    uint32_t block = (uint32_t)(block_now % cluster_now);
    arrival *a = (void *)bytes_of(block, address);
    a->threads--;
    a->bytes += (int32_t)bytes;
    arrival_changed(block, address);
}

/* Returns once the phase with this parity has ended. */
SWITCHES_STACKS static uint32_t sim_arrival_wait(uint32_t address, uint32_t parity) {
    const arrival *a = (void *)bytes_of((uint32_t)(block_now % cluster_now), address);
    if (((uint32_t)a->phase & 1) == parity) {
        lanes[thread_now].awaits = address;
        wait_for(AT_ARRIVAL);
    }
    return 1;
}

static void sim_cluster_store(uint32_t address, uint32_t block, uint32_t word, uint32_t count) {
    if ((int)block != block_now % cluster_now)
        demand_begun(block);
    memcpy(bytes_of(block, address), &word, sizeof word);
    ((arrival *)(void *)bytes_of(block, count))->bytes -= (int32_t)sizeof word;
    arrival_changed(block, count);
}

/* Copies are made when their thread waits for them. */
static void sim_copy(uint32_t to, uint64_t from, uint32_t bytes) {
    if (to % bytes || from % bytes || ncopies == COPIES_MOST) {
        fprintf(stderr, "gpu_sim: a copy of %u bytes to %#x that is not aligned, or one too many\n", bytes, to);
        abort();
    }
    copies[ncopies++] = (pending_copy){&lanes[thread_now], to, bytes, from};
}

static void sim_near_copy(uint32_t to, uint64_t from, uint32_t bytes) {
    sim_copy(to, from, bytes);
} /* by the first cache */

static void sim_copies_wait(void) {
    int left = 0;
    for (int i = 0; i < ncopies; i++) {
        const pending_copy *c = &copies[i];
        size_t offset;
        if (c->of != &lanes[thread_now]) {
            copies[left++] = *c;
            continue;
        }
        shared_variable *v = find_shared(c->to, &offset);
        memcpy(v->at + offset, (const void *)(uintptr_t)c->from, c->bytes);
    }
    ncopies = left;
}

SWITCHES_STACKS static void sim_warp(int32_t mask) {
    lanes[thread_now].mask = (uint32_t)mask;
    wait_for(AT_WARP);
}

static int32_t exchange(char mode, int32_t mask, int32_t value, int32_t by, int32_t clamp) {
    lane *l = &lanes[thread_now];
    l->mode = mode;
    l->mask = (uint32_t)mask;
    l->value = (uint32_t)value;
    l->by = (uint32_t)by;
    l->clamp = (uint32_t)clamp;
    wait_for(AT_SHUFFLE);
    return (int32_t)l->result;
}

static int32_t sim_bfly(int32_t mask, int32_t v, int32_t by, int32_t clamp) {
    return exchange('b', mask, v, by, clamp);
}
static int32_t sim_down(int32_t mask, int32_t v, int32_t by, int32_t clamp) {
    return exchange('d', mask, v, by, clamp);
}
static int32_t sim_up(int32_t mask, int32_t v, int32_t by, int32_t clamp) { return exchange('u', mask, v, by, clamp); }
static int32_t sim_idx(int32_t mask, int32_t v, int32_t by, int32_t clamp) { return exchange('i', mask, v, by, clamp); }

static int32_t sim_ballot(int32_t mask, uint8_t vote) { return exchange('v', mask, vote & 1, 0, 31); }

static float sim_add_f32(float *p, float x) {
    float old = *p;
    *p += x;
    return old;
}
static double sim_add_f64(double *p, double x) {
    double old = *p;
    *p += x;
    return old;
}

static float sim_shared_add_f32(float *p, float x) { return sim_add_f32(p, x); }
static double sim_shared_add_f64(double *p, double x) { return sim_add_f64(p, x); }

static int32_t sim_mulhi_ui(uint32_t a, uint32_t b) { return (int32_t)((uint64_t)a * b >> 32); }
/* Bytes of a and b by number; without what repeats a sign. */
static int32_t sim_prmt(uint32_t a, uint32_t b, uint32_t which) {
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t out = 0;
    for (int i = 0; i < 4; i++)
        out |= (uint32_t)(both >> 8 * (which >> 4 * i & 7) & 255) << 8 * i;
    return (int32_t)out;
}
static int64_t sim_mulhi_ull(uint64_t a, uint64_t b) {
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), one = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t other = (a & UINT32_MAX) * (b >> 32) + (one & UINT32_MAX);
    return (int64_t)((a >> 32) * (b >> 32) + (one >> 32) + (other >> 32));
}

/* Arithmetic by the host's rounding mode, which the compiler does not know of: the operands and the result go through memory. */
#define DIRECTED(operation, way, mode, kind, type, expression)             \
    static type sim_##operation##_##way##_##kind(type a, type b, type c) { \
        volatile type x = a, y = b, z = c, r;                              \
        (void)y, (void)z;                                                  \
        fesetround(mode);                                                  \
        r = expression;                                                    \
        fesetround(FE_TONEAREST);                                          \
        return r;                                                          \
    }
#define ALL_WAYS(operation, kind, type, expression)               \
    DIRECTED(operation, rn, FE_TONEAREST, kind, type, expression) \
    DIRECTED(operation, rm, FE_DOWNWARD, kind, type, expression)  \
    DIRECTED(operation, rp, FE_UPWARD, kind, type, expression)
#define BOTH_TYPES(operation, narrow, wide) \
    ALL_WAYS(operation, f, float, narrow)   \
    ALL_WAYS(operation, d, double, wide)
BOTH_TYPES(add, x + y, x + y)
BOTH_TYPES(mul, x *y, x *y)
BOTH_TYPES(div, x / y, x / y)
BOTH_TYPES(sqrt, sqrtf(x), sqrt(x))
BOTH_TYPES(fma, fmaf(x, y, z), fma(x, y, z))

/* Subnormal arguments and results are 0. */
static float sim_ex2(float x) {
    float power = exp2f(fabsf(x) < FLT_MIN ? 0 : x);
    return power < FLT_MIN ? 0 : power;
}

/* A wide one has as many bits as the processor says. */
static float sim_reciprocal_root(float x) { return 1 / sqrtf(x); }
static double sim_reciprocal_root_wide(double x) { return (1 - 0x1p-22) / sqrt(x); }

static const struct {
    const char *gpu, *host;
    const void *address;
} names[] = {
#define ROW(gpu, name) \
    { gpu, #name, __extension__(const void *) name }
#define ROWS(operation, kind)                                                   \
    ROW("llvm.nvvm." #operation ".rn." #kind, sim_##operation##_rn_##kind),     \
        ROW("llvm.nvvm." #operation ".rm." #kind, sim_##operation##_rm_##kind), \
        ROW("llvm.nvvm." #operation ".rp." #kind, sim_##operation##_rp_##kind)
    ROW("llvm.nvvm.read.ptx.sreg.tid.x", sim_tid),
    ROWS(add, f),
    ROWS(mul, f),
    ROWS(div, f),
    ROWS(sqrt, f),
    ROWS(fma, f),
    ROWS(add, d),
    ROWS(mul, d),
    ROWS(div, d),
    ROWS(sqrt, d),
    ROWS(fma, d),
    ROW("llvm.nvvm.read.ptx.sreg.ntid.x", sim_ntid),
    ROW("llvm.nvvm.read.ptx.sreg.ctaid.x", sim_ctaid),
    ROW("llvm.nvvm.read.ptx.sreg.nctaid.x", sim_nctaid),
    ROW("llvm.nvvm.membar.gl", sim_nothing),
    ROW("llvm.nvvm.barrier0", sim_barrier),
    ROW("llvm.nvvm.bar.warp.sync", sim_warp),
    ROW("llvm.nvvm.shfl.sync.bfly.i32", sim_bfly),
    ROW("llvm.nvvm.shfl.sync.down.i32", sim_down),
    ROW("llvm.nvvm.shfl.sync.up.i32", sim_up),
    ROW("llvm.nvvm.shfl.sync.idx.i32", sim_idx),
    ROW("llvm.nvvm.vote.ballot.sync", sim_ballot),
    ROW("llvm.nvvm.atomic.load.add.f32.p1f32", sim_add_f32),
    ROW("llvm.nvvm.atomic.load.add.f64.p1f64", sim_add_f64),
    ROW("llvm.nvvm.atomic.load.add.f32.p3f32", sim_shared_add_f32),
    ROW("llvm.nvvm.atomic.load.add.f64.p3f64", sim_shared_add_f64),
    ROW("llvm.nvvm.mulhi.ull", sim_mulhi_ull),
    ROW("llvm.nvvm.mulhi.ui", sim_mulhi_ui),
    ROW("llvm.nvvm.prmt", sim_prmt),
    ROW("prefetch", sim_prefetch),
    ROW("access", sim_access),
    ROW("bfloat16s", sim_bfloat16s),
    ROW("bfloat16", sim_bfloat16),
    ROW("add_f16s", sim_add_f16s),
    ROW("add_bf16s", sim_add_bf16s),
    ROW("sub_f16s", sim_sub_f16s),
    ROW("sub_bf16s", sim_sub_bf16s),
    ROW("mul_f16s", sim_mul_f16s),
    ROW("mul_bf16s", sim_mul_bf16s),
    ROW("red_f16s", sim_red_f16s),
    ROW("red_bf16s", sim_red_bf16s),
    ROW("greater", sim_greater),
    ROW("smaller", sim_smaller),
    ROW("yield", sim_yield),
    ROW("llvm.nvvm.ex2.approx.ftz.f", sim_ex2),
    ROW("llvm.nvvm.rsqrt.approx.f", sim_reciprocal_root),
    ROW("llvm.nvvm.rsqrt.approx.d", sim_reciprocal_root_wide),
    ROW("cluster_barrier", sim_cluster_barrier),
    ROW("cluster_arrive", sim_cluster_arrive),
    ROW("cluster_wait", sim_cluster_wait),
    ROW("cluster_store", sim_cluster_store),
    ROW("arrival_init", sim_arrival_init),
    ROW("arrival_expect", sim_arrival_expect),
    ROW("arrival_wait", sim_arrival_wait),
    ROW("copy", sim_copy),
    ROW("near_copy", sim_near_copy),
    ROW("copies_wait", sim_copies_wait),
};

/* ---- Threads ---- */

SWITCHES_STACKS static void run_thread(void) {
    entry(argument);
    wait_for(DONE);
}

static const char *fault(const char *what, int thread) {
    static char why[128];
    snprintf(why, sizeof why, "%s: thread %d of block %d", what, thread, block_now);
    return why;
}

/* The lane that a shuffle reads, by the PTX manual. */
static int source_lane(int own, const lane *l) {
    int segment = (int)(l->clamp >> 8 & 31), limit = (own & segment) | ((int)(l->clamp & 31) & ~segment);
    int first = own & segment, from = l->mode == 'b' ? own ^ (int)l->by : own + (int)l->by;
    if (l->mode == 'u')
        return own - (int)l->by >= limit ? own - (int)l->by : own;
    if (l->mode == 'i')
        from = first | ((int)l->by & ~segment);
    return from <= limit ? from : own;
}

static uint32_t votes(const lane *warp, uint32_t mask) {
    uint32_t all = 0;
    for (int i = 0; i < WARP_LANES; i++)
        all |= (mask >> i & 1 ? warp[i].value : 0) << i;
    return all;
}

/* Goes on with the lanes of a warp that all wait for each other; *moved: there were some. */
static const char *resolve_warp(lane *warp, int base, bool *moved) {
    for (int i = 0; i < WARP_LANES && base + i < threads_now; i++) {
        state s = warp[i].state;
        uint32_t mask = warp[i].mask;
        bool all = true;
        if (s != AT_WARP && s != AT_SHUFFLE)
            continue;
        if (!(mask >> i & 1))
            return fault("not in its own mask", base + i);
        for (int j = 0; j < WARP_LANES; j++)
            if (mask >> j & 1)
                all &= base + j < threads_now && warp[j].state == s && warp[j].mask == mask;
        if (!all)
            continue;
        for (int j = 0; j < WARP_LANES; j++) {
            int from = s == AT_SHUFFLE ? source_lane(j, &warp[j]) : j;
            if (!(mask >> j & 1))
                continue;
            bool alike = warp[j].mode == warp[i].mode && (warp[j].by == warp[i].by || warp[i].mode == 'i');
            if (!(mask >> from & 1) || (s == AT_SHUFFLE && !alike))
                return fault("reads a lane that takes no part", base + j);
            warp[j].result = warp[j].mode == 'v' ? votes(warp, mask) : warp[from].value;
        }
        for (int j = 0; j < WARP_LANES; j++)
            if (mask >> j & 1)
                warp[j].state = READY;
        *moved = true;
    }
    return NULL;
}

/* How many of the block's threads are in each state. */
typedef struct census {
    int in[DONE + 1];
} census;

static census take_census(void) {
    census c = {{0}};
    for (int t = 0; t < threads_now; t++)
        c.in[lanes[t].state]++;
    return c;
}

static const char *resolve(void) {
    census before = take_census();
    bool moved = before.in[READY] > 0;
    for (int base = 0; base < threads_now && before.in[AT_WARP] + before.in[AT_SHUFFLE]; base += WARP_LANES) {
        const char *wrong = resolve_warp(lanes + base, base, &moved);
        if (wrong)
            return wrong;
    }
    if (before.in[AT_BARRIER] == threads_now) {
        for (int t = 0; t < threads_now; t++)
            lanes[t].state = READY;
        moved = true;
    }
    if (moved)
        return NULL;
    for (int t = 0; t < threads_now; t++)
        if (lanes[t].state != DONE && lanes[t].state != AT_CLUSTER && lanes[t].state != AT_ARRIVAL)
            return fault(lanes[t].state == AT_BARRIER ? "waits at a barrier for ever" : "waits in a warp for ever", t);
    return NULL;
}

/* getcontext returns twice, as far as a compiler knows: it has a function of its own. */
static void thread_begin(lane *l) {
    ucontext_t *context = &resumption_of(l)->context;
    int index = (int)(l - all_lanes);
    getcontext(context);
    context->uc_stack.ss_sp = stacks + (size_t)index * STACK;
    context->uc_stack.ss_size = (size_t)(STACK - index * STACKS_APART % STACKS_SHIFTED);
    context->uc_link = NULL;
    *l = (lane){.state = READY};
    makecontext(context, run_thread, 0);
}

/* Do they all wait for the cluster, or are they done? */
static bool block_rests(void) {
    census c = take_census();
    return c.in[DONE] + c.in[AT_CLUSTER] + c.in[AT_ARRIVAL] == threads_now;
}

/* Runs the block's threads until all wait for the cluster or are done. Where blocks meet, until it is another one's turn. */
static const char *run_block(void) {
    const char *wrong = NULL;
    for (int turn = 0; !wrong && !(meets && turn == VISIT) && !block_rests(); turn++) {
        int first = (int)pick(0, threads_now - 1), flip = (int)pick(0, threads_now - 1);
        for (int i = 0; i < threads_now; i++) {
            thread_now = ((i ^ flip) + first) % threads_now;
            if (lanes[thread_now].state == READY)
                resume(&lanes[thread_now]);
        }
        wrong = resolve();
    }
    return wrong;
}

/* Makes block number q of the cluster the one that runs: its threads and its shared memory. */
static void enter_block(int q) {
    int before = block_now % cluster_now;
    for (int i = 0; i < nvariables && cluster_now > 1 && q != before; i++) {
        memcpy(variables[i].kept[before], variables[i].at, variables[i].size);
        memcpy(variables[i].at, variables[i].kept[q], variables[i].size);
    }
    block_now += q - before;
    lanes = all_lanes + q * threads_now;
}

/* Goes on with the threads that all others of the cluster have arrived for. Those that are done count as arrived. */
static const char *resolve_cluster(bool *done) {
    int threads = threads_now * cluster_now, least = INT32_MAX;
    bool moved = false;
    *done = true;
    for (int t = 0; t < threads; t++) {
        *done &= all_lanes[t].state == DONE;
        if (all_lanes[t].state != DONE && all_lanes[t].arrivals < least)
            least = all_lanes[t].arrivals;
    }
    for (int t = 0; t < threads; t++) {
        if (all_lanes[t].state == AT_CLUSTER && all_lanes[t].arrivals <= least)
            all_lanes[t].state = READY;
        moved |= all_lanes[t].state == READY;
    }
    return *done || moved ? NULL : fault("waits for its cluster for ever", 0);
}

static const char *run_cluster(void) {
    const char *wrong = NULL;
    bool done = false;
    for (int q = 0; q < cluster_now; q++) {
        enter_block(q);
        for (int t = 0; t < threads_now; t++)
            thread_begin(&lanes[t]);
    }
    for (int turn = 0; !wrong && !done; turn++) {
        int first = (int)pick(0, cluster_now - 1);
        if (turn == TURNS_MOST)
            return fault("waits for other blocks for ever", 0);
        for (int i = 0; i < cluster_now && !wrong; i++) {
            enter_block((first + i) % cluster_now);
            wrong = run_block();
        }
        if (!wrong)
            wrong = resolve_cluster(&done);
    }
    enter_block(0);
    return wrong;
}

/* ---- The module ---- */

static void replace(text *t, const char *from, const char *to) {
    text out = {0};
    const char *p = t->data;
    for (const char *q; (q = strstr(p, from)); p = q + strlen(from)) {
        text_add(&out, p, (size_t)(q - p));
        text_puts(&out, to);
    }
    text_puts(&out, p);
    text_free(t);
    *t = out;
}

/* The thread sanitizer takes coroutines for calls that do not return, and remembers them until memory ends. */
#if defined(__SANITIZE_THREAD__)
static const bool may_simulate = false;
#else
static const bool may_simulate = true;
#endif

bool sim_there(void) { return may_simulate && judge_count(); }

bool sim_can(const code_module *m) { return sim_there() && !m->math && !strstr(m->ir.data, "@__nv"); }

/* A function of (words) around the kernel, whose head says what its parameters are. */
static void add_entry(text *ir, const char *name, int nparameters) {
    char head[128];
    text parameters = {0};
    snprintf(head, sizeof head, "define void @%s(", name);
    const char *from = strstr(ir->data, head) + strlen(head);
    text_add(&parameters, from, (size_t)(strstr(from, ") nounwind") - from));
    text_puts(ir, "define void @sim_entry(i64* %words) {\n");
    char *type = parameters.data;
    for (int i = 0; i < nparameters; i++) {
        char *end = strstr(type, " %w");
        *end = 0;
        text_printf(ir,
                    " %%a%d = getelementptr i64, i64* %%words, i64 %d\n %%b%d = bitcast i64* %%a%d to %s*\n"
                    " %%w%d = load %s, %s* %%b%d\n",
                    i, i, i, i, type, i, type, type, i);
        *end = ' ';
        type = strchr(end + 1, ',');
        type = type ? type + 2 : end;
    }
    text_printf(ir, " call void @%s(%s)\n ret void\n}\n", name, parameters.data);
    text_free(&parameters);
}

/* Inline assembly, and what takes its place. */
static const struct {
    const char *assembly, *host, *declaration;
} instructions[] = {
    {"asm sideeffect \"prefetch.global.L2 [$0];\", \"l\"", "@sim_prefetch", "declare void @sim_prefetch(i64)\n"},
    {"asm \"cvt.rn.bf16.f32 $0, $1;\", \"=h,f\"", "@sim_bfloat16", "declare i16 @sim_bfloat16(float)\n"},
    {"asm \"cvt.rn.bf16x2.f32 $0, $1, $2;\", \"=r,f,f\"", "@sim_bfloat16s",
     "declare i32 @sim_bfloat16s(float, float)\n"},
    {"asm \"add.rn.f16x2 $0, $1, $2;\", \"=r,r,r\"", "@sim_add_f16s", "declare i32 @sim_add_f16s(i32, i32)\n"},
    {"asm \"add.rn.bf16x2 $0, $1, $2;\", \"=r,r,r\"", "@sim_add_bf16s", "declare i32 @sim_add_bf16s(i32, i32)\n"},
    {"asm \"sub.rn.f16x2 $0, $1, $2;\", \"=r,r,r\"", "@sim_sub_f16s", "declare i32 @sim_sub_f16s(i32, i32)\n"},
    {"asm \"sub.rn.bf16x2 $0, $1, $2;\", \"=r,r,r\"", "@sim_sub_bf16s", "declare i32 @sim_sub_bf16s(i32, i32)\n"},
    {"asm \"mul.rn.f16x2 $0, $1, $2;\", \"=r,r,r\"", "@sim_mul_f16s", "declare i32 @sim_mul_f16s(i32, i32)\n"},
    {"asm \"mul.rn.bf16x2 $0, $1, $2;\", \"=r,r,r\"", "@sim_mul_bf16s", "declare i32 @sim_mul_bf16s(i32, i32)\n"},
    {"asm sideeffect \"red.global.add.noftz.f16x2 [$0], $1;\", \"l,r,~{memory}\"", "@sim_red_f16s",
     "declare void @sim_red_f16s(i64, i32)\n"},
    {"asm sideeffect \"red.global.add.noftz.bf16x2 [$0], $1;\", \"l,r,~{memory}\"", "@sim_red_bf16s",
     "declare void @sim_red_bf16s(i64, i32)\n"},
    {"asm \"max.NaN.f32 $0, $1, $2;\", \"=f,f,f\"", "@sim_greater", "declare float @sim_greater(float, float)\n"},
    {"asm \"min.NaN.f32 $0, $1, $2;\", \"=f,f,f\"", "@sim_smaller", "declare float @sim_smaller(float, float)\n"},
    {"asm sideeffect \"cp.async.cg.shared.global [$0], [$1], $2;\", \"r,l,n,~{memory}\"", "@sim_copy",
     "declare void @sim_copy(i32, i64, i32)\n"},
    {"asm sideeffect \"cp.async.ca.shared.global [$0], [$1], $2;\", \"r,l,n,~{memory}\"", "@sim_near_copy",
     "declare void @sim_near_copy(i32, i64, i32)\n"},
    {"asm sideeffect \"cp.async.wait_all;\", \"~{memory}\"", "@sim_copies_wait", "declare void @sim_copies_wait()\n"},
    {"asm sideeffect \"barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\", \"~{memory}\"",
     "@sim_cluster_barrier", "declare void @sim_cluster_barrier()\n"},
    {"asm sideeffect \"barrier.cluster.arrive.relaxed.aligned;\", \"~{memory}\"", "@sim_cluster_arrive",
     "declare void @sim_cluster_arrive()\n"},
    {"asm sideeffect \"barrier.cluster.wait.aligned;\", \"~{memory}\"", "@sim_cluster_wait",
     "declare void @sim_cluster_wait()\n"},
    {"asm sideeffect \"{ .reg .b32 there, count; mapa.shared::cluster.u32 there, $0, $1; mapa.shared::cluster.u32 "
     "count, "
     "$3, $1; st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [there], $2, [count]; }\", "
     "\"r,r,r,r,~{memory}\"",
     "@sim_cluster_store", "declare void @sim_cluster_store(i32, i32, i32, i32)\n"},
    {"asm sideeffect \"mbarrier.init.shared::cta.b64 [$0], 1;\", \"r,~{memory}\"", "@sim_arrival_init",
     "declare void @sim_arrival_init(i32)\n"},
    {"asm sideeffect \"fence.mbarrier_init.release.cluster;\", \"~{memory}\"", "@sim_nothing",
     "declare void @sim_nothing()\n"},
    {"asm sideeffect \"mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;\", \"r,r,~{memory}\"",
     "@sim_arrival_expect", "declare void @sim_arrival_expect(i32, i32)\n"},
    {"asm sideeffect \"{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done, [$1], $2; selp.u32 $0, 1, 0, "
     "done; }\", \"=r,r,r,~{memory}\"",
     "@sim_arrival_wait", "declare i32 @sim_arrival_wait(i32, i32)\n"},
};

static void replace_assembly(text *ir) {
    for (size_t i = 0; i < COUNT(instructions); i++)
        if (strstr(ir->data, instructions[i].assembly)) {
            replace(ir, instructions[i].assembly, instructions[i].host);
            text_puts(ir, instructions[i].declaration);
        }
}

/* Appends a function to `out` that tells where the variables in shared memory are, and their sizes; returns how many there are. */
static int describe_variables(const text *ir, text *out) {
    static const char space[] = " addrspace(3) global ";
    int n = 0;
    text_puts(out, "define void @sim_variables(i64* %out) {\n");
    for (const char *at = ir->data; (at = strstr(at, space)); at++) {
        const char *name = at, *type = at + strlen(space);
        while (name > ir->data && name[-1] != '\n')
            name--;
        char spelled[64] = "[262144 x i8]"; /* the dynamic one */
        if (strncmp(type, "[0 x i8]", 8) != 0)
            snprintf(spelled, sizeof spelled, "%.*s",
                     (int)(*type == '[' ? strcspn(type, "]") + 1 : strcspn(type, " ,")), type);
        text_printf(
            out,
            " %%a%d = getelementptr i64, i64* %%out, i64 %d\n store i64 ptrtoint (%s* %.*s to i64), i64* %%a%d\n"
            " %%s%d = getelementptr i64, i64* %%out, i64 %d\n"
            " store i64 ptrtoint (%s* getelementptr (%s, %s* null, i32 1) to i64), i64* %%s%d\n",
            n, 2 * n, spelled, (int)strcspn(name, " "), name, n, n, 2 * n + 1, spelled, spelled, spelled, n);
        n++;
    }
    text_puts(out, " ret void\n}\n");
    if (n > VARIABLES_MOST)
        abort();
    return n;
}

static void variables_find(const judged *compiled) {
    int64_t found[2 * VARIABLES_MOST];
    ((void (*)(int64_t *))judge_address(compiled, "sim_variables"))(found);
    for (int i = 0; i < nvariables; i++) {
        variables[i] = (shared_variable){.at = (char *)(uintptr_t)found[2 * i], .size = (size_t)found[2 * i + 1]};
        for (int q = 0; q < cluster_now; q++)
            variables[i].kept[q] = malloc(variables[i].size);
    }
}

static void variables_free(void) {
    for (int i = 0; i < nvariables; i++)
        for (int q = 0; q < cluster_now; q++)
            free(variables[i].kept[q]);
}

/* Do its blocks meet (construct/cooperative.c)? */
static bool blocks_meet(const code_module *m) { return strstr(m->ir.data, "@coop_reductions"); }

/* Blocks of a cluster. */
static int cluster_of(const code_module *m) {
    const char *annotation = strstr(m->ir.data, "cluster_dim_x\", i32 ");
    return annotation ? atoi(strstr(annotation, "i32 ") + 4) : 1;
}

/* Before a line that accesses memory, a call that looks whether the address is as aligned as the line says. */
static void check_access(text *out, const char *line, int value) {
    static const char says[] = ", align ";
    const char *at = strstr(line, says);
    if (!at || at[-1] == ')' || (!strstr(line, "load ") && !strstr(line, "store ")))
        return;
    int alignment = atoi(at + strlen(says));
    const char *pointer = at, *type;
    while (pointer[-1] != ' ')
        pointer--;
    for (type = pointer - 1; type[-1] != ','; type--)
        ;
    if (alignment > 1)
        text_printf(out, "  %%access%d = ptrtoint%.*s to i64\n  call void @sim_access(i64 %%access%d, i32 %d)\n", value,
                    (int)(at - type), type, value, alignment);
}

static void to_host(code_module *m, int nparameters) {
    text *ir = &m->ir, table = {0};
    nvariables = describe_variables(ir, &table);
    text_puts(ir, table.data);
    text_free(&table);
    replace(ir, " addrspace(1)", "");
    replace(ir, " addrspace(3)", "");
    replace(ir, "@shared = external global [0 x i8]", "@shared = internal global [262144 x i8] zeroinitializer");
    replace(ir, "[0 x i8]", "[262144 x i8]");
    replace_assembly(ir);
    replace(ir, "@__nv_", "@"); /* the host's functions have the names of libdevice's, where there are any */
    for (size_t i = 0; i < COUNT(names); i++)
        replace(ir, names[i].gpu, !strncmp(names[i].gpu, "llvm", 4) ? names[i].host : names[i].gpu);
    /* others may be what a thread waits for, or come in between */
    text out = {0};
    int lines = 0;
    for (char *line = ir->data, *end; line; line = end ? end + 1 : NULL, lines++) {
        end = strchr(line, '\n');
        if (end)
            *end = 0; /* a search ends with the line */
        if (strstr(line, "= load volatile") || strstr(line, "= cmpxchg"))
            text_puts(&out, "  call void @sim_yield()\n");
        check_access(&out, line, lines);
        text_puts(&out, line);
        text_puts(&out, "\n");
    }
    text_free(ir);
    *ir = out;
    text_puts(ir, "declare void @sim_yield()\ndeclare void @sim_access(i64, i32)\n");
    add_entry(ir, m->entry, nparameters);
}

/* Versions 16 and 17 lose the order of a load and a store behind it: where they read one number for what is put together from elements of a
 * loaded vector, and others of its elements are used, too (LLVM issue 80911). Code of GPUs does that with fields of records. */
static bool loses_order(const char *llvm) { return strstr(llvm, "-16.") || strstr(llvm, "-17."); }

/* What was compiled last, by the text of its module: a program often launches a kernel several times. */
static struct {
    text ir;
    judged *code;
    int variables;
} recent[RECENT];

/* Most of the time of a simulation is that of the compiler, which need not optimise each module to be tested with it. */
static judged *compile(code_module *m, int nparameters) {
    code_symbol symbols[COUNT(names)];
    for (size_t i = 0; i < COUNT(names); i++)
        symbols[i] = (code_symbol){names[i].host, names[i].address};
    to_host(m, nparameters);
    m->symbols = symbols;
    m->nsymbols = COUNT(names);
    int judge = (int)pick(0, judge_count() - 1), level = chance(30);
    return judge_compile(judge, m, loses_order(judge_name(judge)) ? 0 : level);
}

static judged *find_compiled(code_module *m, int nparameters) {
    static int oldest;
    for (int i = 0; i < RECENT; i++)
        if (recent[i].code && !strcmp(recent[i].ir.data, m->ir.data)) {
            nvariables = recent[i].variables;
            return recent[i].code;
        }
    int i = oldest++ % RECENT;
    judge_free(recent[i].code);
    text_free(&recent[i].ir);
    text_puts(&recent[i].ir, m->ir.data);
    recent[i].code = compile(m, nparameters);
    recent[i].variables = nvariables;
    return recent[i].code;
}

const char *sim_run(code_module *m, const uint64_t *words, int nparameters, int blocks, int threads) {
    const char *wrong = NULL;
    if (!stacks) {
        stacks = mmap(NULL, (size_t)CLUSTER_MOST * THREADS * STACK, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        all_lanes = calloc((size_t)CLUSTER_MOST * THREADS, sizeof *all_lanes);
        resumptions = calloc((size_t)CLUSTER_MOST * THREADS, sizeof *resumptions);
    }
    meets = blocks_meet(m);
    cluster_now = meets ? blocks : cluster_of(m);
    if (cluster_now > CLUSTER_MOST)
        return "more blocks than can run together";
    const judged *compiled = find_compiled(m, nparameters);
    entry = (void (*)(const uint64_t *))judge_address(compiled, "sim_entry");
    argument = malloc((size_t)(nparameters + 1) * sizeof *argument);
    memcpy(argument, words, (size_t)nparameters * sizeof *argument);
    threads_now = threads;
    blocks_now = blocks;
    variables_find(compiled);
    for (block_now = 0; block_now < blocks && !wrong; block_now += cluster_now)
        wrong = run_cluster();
    variables_free();
    free(argument);
    return wrong;
}
