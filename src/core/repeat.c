/* repeat.c - calls that their thread made before, with the same function, options and arrays: the plan of such a call is kept, and runs
 * again. What a program calls in a loop is mostly such a call, and laying a plan takes longer than computing a few hundred elements, or than
 * the GPU takes for a small matrix. Where the engine can keep the launch, too, that is repeated in place of a run, and so it is for runs of
 * the program's own plans with the same addresses.
 *
 * A thread has SLOTS of them; a call's slot follows from its function and the addresses of its first and last argument. The plan is
 * kept when the slot sees the call for the second time in succession, so that calls that are made once pay no more than a comparison.
 * All that a plan follows from is compared: a function does not change while it lives, nor does a plan, and each has a number that no other
 * one had. */
#include <pthread.h>

#include "core/core.h"

enum {
    SLOTS_LOG = 3,
    SLOTS = 1 << SLOTS_LOG, /* of a thread; a plan has 12 KiB */
    MOST_ARGUMENTS = 16,
    MOST_WORDS = 64 /* extents and strides of all arguments together */
};

/* What a plan follows from of an argument, beside extents and strides. */
typedef struct argument {
    void *data;
    uint64_t byte_offset;
    const int64_t *number; /* the shape of a rank of 0, which tells numbers from variables; else NULL */
    DLDevice device;
    DLDataType dtype;
    int ndim;
    bool strided;
} argument;

typedef struct repeat {
    unsigned flags;
    uf_casting casting;
    int threads;
    bool apart; /* see plan_run */
    bool again; /* a repetition of `launch` is all that there is to do */
    kept_launch launch;
    argument arguments[MOST_ARGUMENTS];
    int64_t words[MOST_WORDS];
    void *data[PLAN_ARGUMENTS];
    uf_plan plan;
} repeat;

/* A call, or the run of a plan, at first sight. */
typedef struct sighting {
    uint64_t number; /* of the function or plan */
    const void *first, *last;
} sighting;

typedef struct slot {
    sighting kept, last; /* the call whose plan is kept, and the last one of another kind */
    sighting refused;    /* the last one whose plan was made here and could not be kept: calls that it makes may be */
    repeat *call;        /* NULL: none was kept yet */
} slot;

static _Thread_local slot slots[SLOTS];
/* Does a plan of a slot run? Calls that it makes are none of the program's, and leave the slots alone. */
static _Thread_local bool running;

/* ---- Memory ---- */

static pthread_key_t key; /* a thread's value is not NULL if it keeps plans */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool keyed;

/* When a thread ends. The destructors of other keys may call functions after this, which keep plans again. */
static void plans_free(void *user) {
    (void)user;
    for (int i = 0; i < SLOTS; i++) {
        mem_free(slots[i].call);
        slots[i] = (slot){.call = NULL};
    }
}

static void key_make(void) { keyed = pthread_key_create(&key, plans_free) == 0; }

static repeat *repeat_make(void) {
    pthread_once(&once, key_make);
    if (!keyed || pthread_setspecific(key, slots))
        return NULL;
    return mem_alloc(sizeof(repeat));
}

/* ---- Comparing ---- */

static argument argument_of(const DLTensor *t) {
    return (argument){.data = t->data,
                      .byte_offset = t->byte_offset,
                      .number = t->ndim ? NULL : t->shape,
                      .device = t->device,
                      .dtype = t->dtype,
                      .ndim = t->ndim,
                      .strided = t->strides};
}

static inline bool argument_is(const argument *a, const DLTensor *t) {
    return a->data == t->data && a->byte_offset == t->byte_offset && a->device.device_type == t->device.device_type &&
           a->device.device_id == t->device.device_id && a->dtype.code == t->dtype.code &&
           a->dtype.bits == t->dtype.bits && a->dtype.lanes == t->dtype.lanes && a->ndim == t->ndim &&
           a->strided == !!t->strides && (t->ndim ? !!t->shape : a->number == t->shape);
}

/* Does argument k, if it is a number, fit the dtype that the plan has for it? Others decide the signature by their value. */
static inline bool fits(const repeat *x, int k) {
    const plan_argument *a = &x->plan.argument[k];
    return !a->number || number_fits(number_read((dtype)a->type, x->data[k]), x->plan.binding->types[k]);
}

static bool is_repeated(const repeat *x, const plan_request *r) {
    const uf_options *o = r->options;
    const int64_t *words = x->words;
    if (x->flags != o->flags || x->casting != o->casting || x->threads != o->threads)
        return false;
    for (int k = 0; k < r->nargs; k++) {
        const DLTensor *t = &r->args[k];
        if (!argument_is(&x->arguments[k], t) || !fits(x, k))
            return false;
        for (int d = 0; d < t->ndim; d++, words++)
            if (*words != t->shape[d])
                return false;
        for (int d = 0; t->strides && d < t->ndim; d++, words++)
            if (*words != t->strides[d])
                return false;
    }
    return true;
}

/* ---- Keeping ---- */

/* May it be a call whose plan is kept? Nothing else than what is compared decides such a plan, and it points to nothing of the caller's. */
static bool may_repeat(const plan_request *r) {
    const uf_options *o = r->options;
    bool call = r->verb == &elementwise_verb || r->verb == &gufunc_verb;
    if (!call || r->how || o->signature || o->where || o->cancel || o->progress || o->axes || r->nargs > MOST_ARGUMENTS)
        return false;
    DLDeviceType device = r->args[r->nargs - 1].device.device_type;
    return device == kDLCPU || device == kDLCUDA;
}

/* May the plan of a call, which was made, run again? It has nothing but its own memory, the value of no number decided its signature, and
 * there is room for what else it follows from. */
static bool may_keep(const repeat *x, const plan_request *r) {
    int words = 0;
    bool held = false;
    for (int k = 0; k < r->nargs; k++) {
        words += r->args[k].ndim * (r->args[k].strides ? 2 : 1);
        held |= x->plan.binding->key.type[k] & BINDING_HELD;
    }
    return words <= MOST_WORDS && !held && !x->plan.space.blocks && !x->plan.chain && !x->plan.lapack;
}

static void remember(repeat *x, const plan_request *r) {
    const uf_options *o = r->options;
    int64_t *words = x->words;
    x->flags = o->flags;
    x->casting = o->casting;
    x->threads = o->threads;
    for (int k = 0; k < r->nargs; k++) {
        const DLTensor *t = &r->args[k];
        x->arguments[k] = argument_of(t);
        for (int d = 0; d < t->ndim; d++)
            *words++ = t->shape[d];
        for (int d = 0; t->strides && d < t->ndim; d++)
            *words++ = t->strides[d];
    }
}

static plan_run run_of(repeat *x, const plan_request *r) {
    return (plan_run){.plan = &x->plan,
                      .data = x->data,
                      .stream = r->options->stream,
                      .options = r->options,
                      .name = r->name,
                      .apart = x->apart};
}

static uf_status run(plan_run *run) {
    running = true;
    uf_status s = plan_execute(run);
    running = false;
    return s;
}

static bool launch_again(const repeat *x, const uf_plan *p) {
    return x->again && engines[p->engine]->repeat(&x->launch);
}

static uf_status run_again(repeat *x, const plan_request *r) {
    if (launch_again(x, &x->plan))
        return UF_OK;
    plan_run now = run_of(x, r);
    uf_status s = run(&now);
    x->apart = now.apart;
    return s;
}

/* Makes the plan of a call and runs it; *keeps: it may run again. */
static uf_status make_and_run(repeat *x, const plan_request *r, bool *keeps) {
    x->apart = false;
    plan_run now = run_of(x, r);
    uf_status s = plan_make(&x->plan, r, x->data);
    if (!s)
        s = run(&now);
    *keeps = !s && may_keep(x, r);
    if (*keeps) {
        remember(x, r);
        x->apart = now.apart;
        x->again = plan_keep(&now, &x->launch);
    }
    plan_end(&x->plan);
    return s;
}

static bool same_sight(const sighting *a, const sighting *b) {
    return a->number == b->number && a->first == b->first && a->last == b->last;
}

static slot *slot_of(const sighting *call) {
    uint64_t mixed = call->number ^ (uintptr_t)call->first * 3 ^ (uintptr_t)call->last;
    return &slots[mixed * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOTS_LOG)];
}

/* Is it the second time in succession that the slot sees this? Then there is room to keep it, and nothing is kept there. */
static bool is_to_keep(slot *s, const sighting *call) {
    if (same_sight(&s->refused, call))
        return false;
    if (!same_sight(&s->last, call)) {
        s->last = *call;
        return false;
    }
    s->kept = (sighting){.number = 0};
    return s->call || (s->call = repeat_make());
}

bool repeat_run(const plan_request *r, uf_status *status) {
    if (running || !may_repeat(r))
        return false;
    const sighting call = {r->func->number, r->args[0].data, r->args[r->nargs - 1].data};
    slot *s = slot_of(&call);
    if (same_sight(&s->kept, &call) && is_repeated(s->call, r)) {
        *status = run_again(s->call, r);
        return true;
    }
    if (!is_to_keep(s, &call))
        return false;
    bool keeps;
    *status = make_and_run(s->call, r, &keeps);
    if (!*status)
        *(keeps ? &s->kept : &s->refused) = call;
    return true;
}

/* ---- Runs of plans ---- */

static sighting sighting_of(const uf_plan *p, void *const *data) {
    return (sighting){p->number, data[0], data[p->nargs - 1]};
}

static bool plan_may_repeat(const uf_plan *p) {
    return !running && p->verb == &elementwise_verb && engines[p->engine]->keep && p->nargs <= MOST_ARGUMENTS;
}

bool repeat_plan(const uf_plan *p, void *const *data) {
    if (!plan_may_repeat(p))
        return false;
    const sighting call = sighting_of(p, data);
    const slot *s = slot_of(&call);
    return same_sight(&s->kept, &call) && !memcmp(s->call->data, data, (size_t)p->nargs * sizeof *data) &&
           launch_again(s->call, p);
}

void repeat_plan_keep(const plan_run *r) {
    if (!plan_may_repeat(r->plan))
        return;
    const sighting call = sighting_of(r->plan, r->data);
    slot *s = slot_of(&call);
    if (!is_to_keep(s, &call))
        return;
    repeat *x = s->call;
    memcpy(x->data, r->data, (size_t)r->plan->nargs * sizeof *r->data);
    x->again = plan_keep(r, &x->launch);
    *(x->again ? &s->kept : &s->refused) = call;
}
