/* call.c - what the verbs that call functions share: they read inputs from files and the command line, make a call, and write
 * the outputs to files or to standard output. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

int call_failed(const call *c) {
    int k = uf_last_error()->argument;
    return argument_failed(c->job->verb->bit, k >= 0 && k < c->ninputs_named ? c->job->inputs[k] : NULL);
}

static int read_array(const char *path, const job *j, npy *out) {
    char why[WHY_SIZE];
    return file_read(out, path, j->bfloat16, why) ? DONE : failed("%s: %s", path, why);
}

int read_input(const job *j, const char *text, number *n, npy *file, DLTensor *out) {
    if (read_number(text, n)) {
        *out = number_tensor(n);
        return DONE;
    }
    int status = read_array(text, j, file);
    *out = file->array;
    return status;
}

/* Reads the starts of segments, from a list on the command line or from a file. */
static int read_starts(call *c) {
    const char *text = c->job->starts;
    npy *s = &c->starts;
    size_t most = strlen(text) / 2 + 1;
    int n;
    if (strcmp(text, "-") == 0 || text[strspn(text, "0123456789,+-")])
        return read_array(text, c->job, s);
    s->memory = calloc(most, sizeof(int64_t));
    if (!s->memory)
        return failed("out of memory");
    if (most > INT_MAX || !read_integers(text, (int)most, s->memory, &n))
        return bad_usage(c->job->verb->name, "--starts needs 0,4,8 or a file, not \"%s\"", text);
    s->shape[0] = n;
    s->array =
        (DLTensor){.data = s->memory, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = s->shape};
    return DONE;
}

static int read_inputs(call *c) {
    const job *j = c->job;
    for (int k = 0; k < j->ninputs; k++) {
        int status = read_input(j, j->inputs[k], &c->numbers[k], &c->files[k], &c->args[k]);
        if (status != DONE)
            return status;
    }
    for (int k = 0; k < j->ninitial; k++) {
        c->initial[k] = j->initial[k];
        c->initials[k] = number_tensor(&c->initial[k]);
    }
    int status = j->starts ? read_starts(c) : DONE;
    if (status != DONE)
        return status;
    if (!j->where)
        return DONE;
    c->mask = &c->where.array;
    return read_array(j->where, j, &c->where);
}

/* The dtype that the outputs are asked to have. If --dtype bfloat16 says what an input of dtype V2 is, it says nothing
 * about the outputs, which have the function's dtype. */
static const dtype_row *output_dtype(const call *c) {
    const dtype_row *e = c->job->dtype;
    for (int k = 0; e && e->kind == 'V' && k < c->job->ninputs; k++)
        if (c->files[k].opaque)
            return NULL;
    return e;
}

/* Decides dtypes and shapes of the outputs, by the command line, and else by the function. With --shape only the command line says
 * them. */
static int decide_outputs(call *c, const method *m) {
    const dtype_row *given = c->job->nshapes ? c->job->dtype : output_dtype(c);
    for (int k = c->nin; k < c->nargs; k++)
        c->args[k] = (DLTensor){.device = {kDLCPU, 0}, .shape = c->shapes[k]};
    if (!c->job->nshapes && m->infer(c))
        return call_failed(c);
    for (int k = c->nin; k < c->nargs; k++) {
        if (c->job->nshapes)
            read_integers(c->job->shapes[k - c->nin], UF_MAX_NDIM, c->shapes[k], &c->args[k].ndim);
        if (given)
            c->args[k].dtype = given->type;
    }
    return DONE;
}

static const char *output_path(const call *c, int k) { return c->job->noutputs ? c->job->outputs[k - c->nin] : NULL; }

/* Writes what .npy files say about the records of output k. */
static int describe_records(const call *c, int k, char descr[NPY_DESCR_SIZE]) {
    if (!output_path(c, k))
        return failed("output %d has records; -o writes them to a file", k - c->nin);
    if (!record_descr(c, k, descr))
        return failed("output %d: no signature of %s says which records these are", k - c->nin, c->about.name);
    return DONE;
}

/* Checks, before anything is computed, that each output can be delivered. */
static int check_outputs(const call *c) {
    char descr[NPY_DESCR_SIZE];
    int status = DONE;
    for (int k = c->nin; status == DONE && k < c->nargs; k++) {
        bool records = c->args[k].dtype.lanes > 1;
        status = records ? describe_records(c, k, descr) : DONE;
        status = status == DONE ? check_delivery(output_path(c, k), c->args[k].ndim, records) : status;
    }
    return status;
}

static int make_outputs(call *c, const method *m) {
    int status = decide_outputs(c, m);
    status = status == DONE ? check_outputs(c) : status;
    for (int k = c->nin; status == DONE && k < c->nargs; k++) {
        DLTensor *t = &c->args[k];
        if (uf_empty(&c->made[k], (DLDevice){kDLCPU, 0}, t->dtype, t->ndim, t->shape))
            return library_failed(c->job->verb->bit);
        *t = c->made[k]->dl_tensor;
        if ((c->mask || c->about.layout) && array_bytes(t)) /* elements that the call does not write are to be 0 */
            memset(t->data, 0, array_bytes(t));
    }
    return status;
}

void release(DLManagedTensor **copies, int n) {
    for (int k = 0; k < n; k++)
        if (copies[k])
            copies[k]->deleter(copies[k]);
}

uf_status device_copy(DLManagedTensor **copy, DLDevice device, const DLTensor *t, bool content) {
    uf_status s = uf_empty(copy, device, t->dtype, t->ndim, t->shape);
    if (s)
        return s;
    return content ? uf_copy(&(*copy)->dl_tensor, t, NULL) : UF_OK;
}

/* Puts a copy of *t, on the device, in its place. */
static uf_status to_device(DLManagedTensor **copy, DLDevice device, DLTensor *t, bool content) {
    uf_status s = device_copy(copy, device, t, content);
    if (!s)
        *t = (*copy)->dl_tensor;
    return s;
}

/* The elements of the largest array. */
static int64_t elements_of(const call *c) {
    int64_t elements = 0;
    for (int k = 0; k < c->nargs; k++) {
        int64_t n = array_elements(&c->args[k]);
        elements = n > elements ? n : elements;
    }
    return elements;
}

/* Computes, also what is enqueued on a device, to its end, with progress on the terminal. */
static uf_status compute_watched(call *c, const method *m) {
    const DLDevice device = c->job->device;
    progress_begin("computing", elements_of(c), " elements");
    uf_status s = m->compute(c);
    s = s || m->stages || device.device_type == kDLCPU ? s : uf_sync(device, NULL);
    progress_end();
    return s;
}

/* Copies the arrays of the call, but not the numbers, to the device, computes there, and copies the outputs back. */
static uf_status compute_on_device(call *c, const method *m, DLManagedTensor **copies) {
    DLTensor host[UF_MAX_OPERANDS], mask;
    uf_status s = UF_OK;
    memcpy(host, c->args, sizeof host);
    for (int k = 0; !s && k < c->nargs; k++)
        if (k >= c->nin || c->args[k].ndim || (m->moves_number && m->moves_number(c, k)))
            s = to_device(&copies[k], c->job->device, &c->args[k], k < c->nin);
    if (!s && c->mask) {
        mask = *c->mask;
        c->mask = &mask;
        s = to_device(&copies[c->nargs], c->job->device, &mask, true);
    }
    s = s ? s : compute_watched(c, m);
    for (int k = c->nin; !s && k < c->nargs; k++)
        s = uf_copy(&host[k], &c->args[k], NULL);
    memcpy(c->args, host, sizeof host);
    return s;
}

static uf_status compute(call *c, const method *m) {
    if (m->stages || c->job->device.device_type == kDLCPU)
        return compute_watched(c, m);
    DLManagedTensor *copies[UF_MAX_OPERANDS + 1] = {0};
    uf_status s = compute_on_device(c, m, copies);
    release(copies, UF_MAX_OPERANDS + 1);
    return s;
}

int check_delivery(const char *path, int ndim, bool records) {
    char why[WHY_SIZE];
    return !path || file_accepts(path, ndim, records, why) ? DONE : failed("%s: %s", path, why);
}

int deliver(const char *path, const DLTensor *array, const char *descr) {
    char why[WHY_SIZE];
    if (!path)
        print_array(array);
    else if (!file_write(path, array, descr, why))
        return failed("%s: %s", path, why);
    return DONE;
}

static int write_outputs(const call *c) {
    char descr[NPY_DESCR_SIZE];
    int status = DONE;
    for (int k = c->nin; status == DONE && k < c->nargs; k++) {
        bool records = c->args[k].dtype.lanes > 1;
        status = records ? describe_records(c, k, descr) : DONE;
        status = status == DONE ? deliver(output_path(c, k), &c->args[k], records ? descr : NULL) : status;
    }
    return status;
}

/* Checks that the command line has as many inputs, outputs, initial values and shapes as the function takes. */
static int check_counts(const call *c) {
    const job *j = c->job;
    const int nout = c->about.nout;
    if (j->ninputs != c->nin)
        return bad_usage(j->verb->name, "%s takes %d input%s, but %d %s given", c->about.name, c->nin,
                         c->nin == 1 ? "" : "s", j->ninputs, j->ninputs == 1 ? "is" : "are");
    if (j->noutputs && j->noutputs != nout)
        return bad_usage(j->verb->name, "%s has %d output%s, but -o is there %d time%s", c->about.name, nout,
                         nout == 1 ? "" : "s", j->noutputs, j->noutputs == 1 ? "" : "s");
    if (j->ninitial && j->ninitial != c->about.nstate)
        return bad_usage(j->verb->name, "%s begins with %d number%s, but --initial has %d", c->about.name,
                         c->about.nstate, c->about.nstate == 1 ? "" : "s", j->ninitial);
    if (j->nshapes && (j->nshapes != nout || !j->dtype))
        return bad_usage(j->verb->name, "--shape is needed for each output of %s, and --dtype with it", c->about.name);
    return DONE;
}

/* Checks that the scalars of records that files hold are those of the records of a signature. */
static int check_fields(const call *c) {
    for (int k = 0; k < c->nin; k++)
        if (c->files[k].fields[0] && !records_fit(c))
            return failed("%s: its records have the scalars %.200s, which those of no signature of %s have: %.500s",
                          c->job->inputs[k], c->files[k].fields, c->about.name,
                          c->about.signatures ? c->about.signatures : "it has none, and needs --signature");
    return DONE;
}

static int check_function(call *c, const method *m) {
    c->about.size = sizeof c->about;
    if (uf_describe(c->func, &c->about))
        return library_failed(c->job->verb->bit);
    const char *unfit = m->fit(c);
    if (unfit)
        return bad_usage(c->job->verb->name, "%s %s", c->about.name, unfit);
    c->nargs = c->nin + c->about.nout;
    return check_counts(c);
}

static int perform(call *c, const method *m) {
    int status = check_function(c, m);
    if (status == DONE)
        status = read_inputs(c);
    if (status == DONE)
        status = check_fields(c);
    if (status == DONE)
        status = make_outputs(c, m);
    if (status == DONE && compute(c, m))
        status = call_failed(c);
    return status == DONE ? write_outputs(c) : status;
}

call *call_new(const job *j) {
    call *c = calloc(1, sizeof *c);
    if (c)
        *c = (call){.job = j, .ninputs_named = j->ninputs};
    return c;
}

void call_free(call *c) {
    for (int k = 0; k < UF_MAX_OPERANDS; k++)
        npy_close(&c->files[k]);
    npy_close(&c->where);
    npy_close(&c->starts);
    release(c->made, UF_MAX_OPERANDS);
    uf_free(c->func);
    free(c);
}

int run_method(const method *m, const job *j) {
    call *c = call_new(j);
    if (!c)
        return failed("out of memory");
    int status = make_function(&j->function, j->verb, &c->func);
    if (status == DONE)
        status = perform(c, m);
    call_free(c);
    return status;
}

uf_options call_options(const call *c) {
    const job *j = c->job;
    bool staged = j->verb->bit & (RUN | OUTER) && j->device.device_type != kDLCPU;
    return (uf_options){.size = sizeof(uf_options),
                        .device = staged ? j->device : (DLDevice){0},
                        .casting = j->casting,
                        .signature = j->signature,
                        .where = c->mask,
                        .threads = j->threads,
                        .flags = j->flags | (staged ? UF_STAGE : 0),
                        .progress = progress_share()};
}

int first_axis(const call *c) { return c->job->has_axes ? c->job->axes[0] : 0; }
