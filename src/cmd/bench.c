/* bench.c - `ufunc bench`: how long a call takes, what rate of memory that is, and what share of a copy's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

enum {
    BATCHES = 7,
    MOST_CALLS = 1 << 20
};

static const double batch_seconds = 0.05;

typedef struct bench {
    call *c;
    const method *m;
    DLManagedTensor *inputs[UF_MAX_OPERANDS], *copies[2];
} bench;

/* ---- Arrays ---- */

/* Fills with numbers near 1: floating ones from 0.5 to 1.5, integers 0 to 3. */
static void fill(const DLTensor *t) {
    const dtype_row *type = dtype_of(t->dtype);
    const int64_t n = array_elements(t) * (type->kind == 'c' ? 2 : 1),
                  size = type->kind == 'c' ? type->size / 2 : type->size;
    uint64_t state = 88172645463325252U;
    for (int64_t i = 0; i < n; i++) {
        char *at = (char *)t->data + i * size;
        state = state * 6364136223846793005U + 1442695040888963407U;
        double f = 0.5 + (double)(state >> 40) / (1 << 24);
        float g = (float)f;
        uint16_t half = (uint16_t)(0x3800 | (state >> 54)), brain = (uint16_t)(0x3f00 | (state >> 57)); /* 0.5 to 1 */
        uint64_t whole = type->kind == 'b' ? state >> 63 : state >> 62;
        const void *from = type->kind == 'V'                        ? (void *)&brain
                           : type->kind != 'f' && type->kind != 'c' ? (void *)&whole
                           : size == 8                              ? (void *)&f
                           : size == 4                              ? (void *)&g
                                                                    : (void *)&half;
        memcpy(at, from, (size_t)size);
    }
}

static uf_status make_array(DLManagedTensor **out, DLDevice device, DLTensor *t, bool filled) {
    DLManagedTensor *host;
    uf_status s = uf_empty(&host, (DLDevice){kDLCPU, 0}, t->dtype, t->ndim, t->shape);
    if (s)
        return s;
    if (filled)
        fill(&host->dl_tensor);
    if (device.device_type == kDLCPU) {
        *out = host;
    } else {
        s = device_copy(out, device, &host->dl_tensor, filled);
        host->deleter(host);
    }
    if (!s)
        *t = (*out)->dl_tensor;
    return s;
}

/* ---- Kernels over indices ---- */

/* All parameters are inputs, in which the kernel may write. */
static const char *fit_forall(call *c) {
    c->nin = c->about.nin;
    return strcmp(c->about.kind, "kernel") == 0 ? NULL : "is no kernel over indices";
}

static uf_status infer_nothing(call *c) {
    (void)c;
    return UF_OK;
}

/* The space is the shape of the first array. */
static uf_status compute_forall(call *c) {
    const uf_options options = call_options(c);
    int k = 0;
    while (k < c->nin - 1 && !c->args[k].ndim)
        k++;
    return uf_forall(c->func, c->args[k].ndim, c->args[k].shape, c->nin, c->args, &options);
}

static const method forall_method = {.fit = fit_forall, .infer = infer_nothing, .compute = compute_forall};

/* Is parameter k of a list such as "float32[,], int64" a number? */
static bool is_number(const char *parameters, int k) {
    int depth = 0, at = 0;
    for (const char *p = parameters; p && *p && *p != ';'; p++) {
        depth += *p == '[';
        if (at == k && *p == '[')
            return false;
        depth -= *p == ']';
        at += *p == ',' && !depth;
    }
    return parameters && at >= k;
}

/* ---- What is measured ---- */

/* Reads the list of types, float32 without one: a type for all inputs, or one for each. */
static int read_types(bench *b) {
    const char *list = b->c->job->types ? b->c->job->types : "float32";
    const int nin = b->c->nin;
    int n = 0;
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL, n++) {
        char name[32];
        at += strspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ", "), at);
        const dtype_row *type = dtype_given(name);
        if (!type)
            return bad_usage("bench", "--types needs dtypes, e.g. float32,float32, not \"%s\"", list);
        for (int k = n; k < (n ? n + 1 : nin) && k < nin; k++)
            b->c->args[k].dtype = type->type;
    }
    if (n == 1 || n == nin)
        return DONE;
    return bad_usage("bench", "%s has %d input%s, but --types has %d dtypes", b->c->about.name, nin,
                     nin == 1 ? "" : "s", n);
}

static int make_inputs(bench *b) {
    const job *j = b->c->job;
    if (!j->nshapes)
        return bad_usage("bench", "--shape N,.. is needed, once for all inputs of %s or once for each",
                         b->c->about.name);
    if (j->nshapes != 1 && j->nshapes != b->c->nin)
        return bad_usage("bench", "%s has %d input%s, but --shape is there %d times", b->c->about.name, b->c->nin,
                         b->c->nin == 1 ? "" : "s", j->nshapes);
    if (read_types(b) != DONE)
        return BAD_USAGE;
    for (int k = 0; k < b->c->nin; k++) {
        DLTensor *t = &b->c->args[k];
        bool by_value = b->m == &forall_method && is_number(b->c->about.signatures, k);
        *t = (DLTensor){.device = {kDLCPU, 0}, .dtype = t->dtype, .shape = b->c->shapes[k]};
        if (!by_value)
            read_integers(j->shapes[j->nshapes == 1 ? 0 : k], UF_MAX_NDIM, t->shape, &t->ndim);
        if (make_array(&b->inputs[k], by_value ? t->device : j->device, t, true))
            return library_failed(BENCH);
    }
    return DONE;
}

static int make_outputs(bench *b) {
    call *c = b->c;
    for (int k = c->nin; k < c->nargs; k++)
        c->args[k] = (DLTensor){.device = c->job->device, .shape = c->shapes[k]};
    if (b->m->infer(c))
        return library_failed(BENCH);
    for (int k = c->nin; k < c->nargs; k++)
        if (make_array(&c->made[k], c->job->device, &c->args[k], false))
            return library_failed(BENCH);
    return DONE;
}

static double bytes_of(const call *c) {
    double bytes = 0;
    for (int k = 0; k < c->nargs; k++)
        bytes += (double)array_bytes(&c->args[k]);
    return bytes;
}

static uf_status call_once(bench *b) { return b->m->compute(b->c); }
static uf_status copy_once(bench *b) { return uf_copy(&b->copies[1]->dl_tensor, &b->copies[0]->dl_tensor, NULL); }

static uf_status batch(bench *b, uf_status (*once)(bench *), int calls, double *seconds) {
    uf_status s = UF_OK;
    double begin = seconds_now();
    for (int i = 0; !s && i < calls; i++)
        s = once(b);
    s = s ? s : uf_sync(b->c->job->device, NULL);
    *seconds = (seconds_now() - begin) / calls;
    return s;
}

static int by_size(const void *a, const void *b) {
    return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}

/* The median of the batches, of as many calls as take a twentieth of a second. The first call, which compiles, does not count. */
static uf_status measure(bench *b, uf_status (*once)(bench *), double *seconds, int *calls) {
    double times[BATCHES];
    uf_status s = batch(b, once, 1, &times[0]);
    s = s ? s : batch(b, once, 1, &times[0]);
    double fit = batch_seconds / (times[0] > 1e-9 ? times[0] : 1e-9);
    *calls = fit < 1 ? 1 : fit > MOST_CALLS ? MOST_CALLS : (int)fit;
    for (int i = 0; !s && i < BATCHES; i++)
        s = batch(b, once, *calls, &times[i]);
    qsort(times, BATCHES, sizeof *times, by_size);
    *seconds = times[BATCHES / 2];
    return s;
}

/* ---- The report ---- */

static void print_array_kind(const DLTensor *t) {
    printf("%s (", dtype_of(t->dtype)->name);
    for (int d = 0; d < t->ndim; d++)
        printf(d ? ", %lld" : "%lld", (long long)t->shape[d]);
    printf(")");
}

static void print_head(const call *c) {
    printf("call      %s: ", c->about.name);
    for (int k = 0; k < c->nargs; k++) {
        printf("%s", k == c->nin ? " -> " : k ? ", " : "");
        print_array_kind(&c->args[k]);
    }
    printf(c->job->device.device_type == kDLCPU ? ", on the CPU\n" : ", on CUDA device %d\n", c->job->device.device_id);
}

static void print_rate(const call *c, double seconds, int calls) {
    char text[32];
    int64_t elements = 0;
    for (int k = 0; k < c->nargs; k++)
        elements = array_elements(&c->args[k]) > elements ? array_elements(&c->args[k]) : elements;
    printf("time      %.4g us, the median of %d times %d calls\n", seconds * 1e6, (int)BATCHES, calls);
    scaled_text((double)elements / seconds, "", text);
    printf("elements  %s/s\n", text);
    scaled_text(bytes_of(c), "B", text);
    printf("bytes     %s read and written, ", text);
    scaled_text(bytes_of(c) / seconds, "B", text);
    printf("%s/s\n", text);
}

/* A copy that moves as many bytes: it reads one half and writes the other. */
static int print_copy(bench *b, double seconds) {
    char text[32];
    double bytes = bytes_of(b->c), took;
    int64_t half = (int64_t)(bytes / 8) + 1;
    int calls;
    DLTensor t = {.device = {kDLCPU, 0}, .dtype = {kDLFloat, 32, 1}, .ndim = 1, .shape = &half};
    for (int i = 0; i < 2; i++) {
        DLTensor one = t;
        if (make_array(&b->copies[i], b->c->job->device, &one, true))
            return library_failed(BENCH);
    }
    if (measure(b, copy_once, &took, &calls))
        return library_failed(BENCH);
    scaled_text(8 * (double)half / took, "B", text);
    printf("copy      %s/s; the call has %.0f %% of that\n", text, 100 * bytes / seconds * took / (8 * (double)half));
    return DONE;
}

/* ---- The verb ---- */

typedef struct way {
    const char *name;
    const method *m;
    int least_axes, most_axes; /* that --axis may have, if it is there */
} way;

static const way ways[] = {{"run", &call_method, 1, 1},
                           {"outer", &outer_method, 0, -1},
                           {"reduce", &reduce_method, 0, UF_MAX_NDIM},
                           {"accumulate", &accumulate_method, 1, 1},
                           {"forall", &forall_method, 0, -1},
                           {NULL, NULL, 0, 0}};

const char *way_choice(int i) { return ways[i].name; }

/* The way that --as says, or the one of the function's kind. */
static const way *way_of(const call *c) {
    const char *name = c->job->way                               ? c->job->way
                       : strcmp(c->about.kind, "reduction") == 0 ? "reduce"
                       : strcmp(c->about.kind, "kernel") == 0    ? "forall"
                                                                 : "run";
    int i = 0;
    while (strcmp(ways[i].name, name) != 0)
        i++;
    return &ways[i];
}

static int check_axes(const call *c, const way *w) {
    const job *j = c->job;
    if (!j->has_axes || (j->naxes >= w->least_axes && j->naxes <= w->most_axes))
        return DONE;
    if (w->most_axes < 0)
        return bad_usage("bench", "--axis is there, but `ufunc %s` has no axis", w->name);
    return bad_usage("bench", "--axis has %d axes, but `ufunc %s` goes along one", j->naxes, w->name);
}

/* The function of the command line; text that begins with indices, or is to be measured as such, is a kernel over indices. */
static int make_measured(call *c) {
    function_request r = c->job->function;
    const char *text = r.kernel ? r.kernel : r.what;
    if ((c->job->way && strcmp(c->job->way, "forall") == 0 && !is_function(text)) || text[strspn(text, " \t\n")] == '[')
        r.flags |= UF_KERNEL;
    return make_function(&r, c->job->verb, &c->func);
}

static int perform(bench *b) {
    call *c = b->c;
    double seconds;
    int calls, status = make_measured(c);
    c->about.size = sizeof c->about;
    if (status == DONE && uf_describe(c->func, &c->about))
        status = library_failed(BENCH);
    if (status != DONE)
        return status;
    const way *w = way_of(c);
    b->m = w->m;
    if (check_axes(c, w) != DONE)
        return BAD_USAGE;
    const char *unfit = b->m->fit(c);
    if (unfit)
        return bad_usage("bench", "%s %s", c->about.name, unfit);
    c->nargs = c->nin + c->about.nout;
    status = make_inputs(b);
    status = status == DONE ? make_outputs(b) : status;
    if (status != DONE)
        return status;
    if (measure(b, call_once, &seconds, &calls))
        return library_failed(BENCH);
    print_head(c);
    print_rate(c, seconds, calls);
    return print_copy(b, seconds);
}

int run_bench(const job *j) {
    bench b = {.c = call_new(j)};
    if (!b.c)
        return failed("out of memory");
    int status = perform(&b);
    release(b.inputs, UF_MAX_OPERANDS);
    release(b.copies, 2);
    call_free(b.c);
    return status;
}
