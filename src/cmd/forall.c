/* forall.c - `ufunc forall`: runs a kernel over indices. Its arguments are arrays of files, numbers, and the outputs: new arrays,
 * and copies of those of files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

enum {
    PARAMETER_SIZE = 32 + UF_MAX_NDIM /* bytes of a parameter in a list */
};

/* ---- Arguments ---- */

/* Reads DTYPE[N,..]. */
static bool read_new(const char *text, DLTensor *out) {
    char part[UF_MAX_NDIM * 21 + 1];
    size_t name = strcspn(text, "["), length = strlen(text);
    if (!text[name] || text[length - 1] != ']' || length - name - 2 >= sizeof part || name >= sizeof part)
        return false;
    snprintf(part, sizeof part, "%.*s", (int)name, text);
    const dtype_row *type = dtype_given(part);
    snprintf(part, sizeof part, "%.*s", (int)(length - name - 2), text + name + 1);
    if (!type || !read_integers(part, UF_MAX_NDIM, out->shape, &out->ndim) || !out->ndim)
        return false;
    out->dtype = type->type;
    return true;
}

static int make_new(call *c, int k) {
    DLTensor *t = &c->args[k];
    if (uf_empty(&c->made[k], (DLDevice){kDLCPU, 0}, t->dtype, t->ndim, t->shape))
        return library_failed(FORALL);
    *t = c->made[k]->dl_tensor;
    if (array_bytes(t))
        memset(t->data, 0, array_bytes(t));
    return DONE;
}

static int make_copy(call *c, int k) {
    if (device_copy(&c->made[k], (DLDevice){kDLCPU, 0}, &c->files[k].array, true))
        return library_failed(FORALL);
    c->args[k] = c->made[k]->dl_tensor;
    return DONE;
}

/* Reads argument k: a number, a new array, a copy, or a file's array, in which the kernel may write, but not in the file. */
static int read_argument(call *c, int k) {
    const char *text = c->job->inputs[k];
    bool copy = strncmp(text, "copy:", 5) == 0;
    c->args[k] = (DLTensor){.device = {kDLCPU, 0}, .shape = c->shapes[k]};
    if (read_new(text, &c->args[k]))
        return make_new(c, k);
    int status = read_input(c->job, text + (copy ? 5 : 0), &c->numbers[k], &c->files[k], &c->args[k]);
    if (status == DONE && copy)
        return c->args[k].ndim ? make_copy(c, k) : failed("%s: a number cannot be copied", text);
    return status == DONE && !npy_make_writable(&c->files[k]) ? failed("%s: out of memory", text) : status;
}

/* ---- Parameters and space ---- */

/* The parameters that the arguments are: "float64[,], int64". */
static void derive_parameters(const call *c, char *to) {
    for (int k = 0; k < c->nargs; k++) {
        to += sprintf(to, "%s%s", k ? ", " : "", dtype_of(c->args[k].dtype)->name);
        for (int d = 0; d < c->args[k].ndim; d++)
            *to++ = d ? ',' : '[';
        if (c->args[k].ndim)
            *to++ = ']';
    }
    *to = 0;
}

/* Registers or loads the function; a kernel without parameters has those that its arguments are. */
static int make_kernel_function(call *c) {
    function_request r = c->job->function;
    char parameters[UF_MAX_OPERANDS * PARAMETER_SIZE];
    const bool own = !r.kernel && is_function(r.what);
    for (int k = 0; !own && !r.signatures && k < c->nargs; k++)
        if (c->args[k].dtype.lanes > 1)
            return bad_usage("forall", "%s has records; --parameters says which", c->job->inputs[k]);
    if (!own && !r.signatures) {
        derive_parameters(c, parameters);
        r.signatures = parameters;
    }
    if (!own)
        r.flags |= UF_KERNEL;
    int status = make_function(&r, c->job->verb, &c->func);
    c->about.size = sizeof c->about;
    if (status == DONE && uf_describe(c->func, &c->about))
        status = library_failed(FORALL);
    if (status == DONE && strcmp(c->about.kind, "kernel") != 0)
        status = bad_usage("forall", "%s is no kernel over indices", c->about.name);
    return status;
}

static bool same_shape(const DLTensor *a, const DLTensor *b) {
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

/* The space of the command line, or the shape that all arrays have, of which there is one: an output. */
static int find_space(const call *c, int64_t extents[UF_MAX_NDIM], int *ndim) {
    if (c->job->nshapes) {
        read_integers(c->job->shapes[c->job->nshapes - 1], UF_MAX_NDIM, extents, ndim);
        return DONE;
    }
    int output = 0;
    while (!c->made[output])
        output++;
    const DLTensor *first = &c->args[output];
    for (int k = 0; k < c->nargs; k++)
        if (c->args[k].ndim && !same_shape(first, &c->args[k]))
            return bad_usage("forall",
                             "--shape N,.. is needed, the extents of the space, since the arrays have several shapes");
    *ndim = first->ndim;
    memcpy(extents, first->shape, (size_t)first->ndim * sizeof *extents);
    return DONE;
}

/* ---- The run ---- */

/* Of a space that the library has yet to check. */
static int64_t points_of(int ndim, const int64_t *extents) {
    int64_t n = 1;
    for (int d = 0; d < ndim; d++)
        n = extents[d] <= 0 ? 0 : n > INT64_MAX / extents[d] ? INT64_MAX : n * extents[d];
    return n;
}

static uf_status launch(const call *c, int ndim, const int64_t *extents, const DLTensor *args) {
    const job *j = c->job;
    uf_options options = {.size = sizeof options,
                          .signature = j->signature,
                          .threads = j->threads,
                          .flags = j->flags,
                          .block = j->block,
                          .elements = j->elements,
                          .progress = progress_share()};
    progress_begin("computing", points_of(ndim, extents), " points");
    uf_status s = uf_forall(c->func, ndim, extents, c->nargs, args, &options);
    s = s || c->job->device.device_type == kDLCPU ? s : uf_sync(c->job->device, NULL);
    progress_end();
    return s;
}

/* Copies the arrays to the device, runs there, and copies the outputs back. */
static uf_status launch_on_device(call *c, int ndim, const int64_t *extents) {
    DLManagedTensor *copies[UF_MAX_OPERANDS] = {0};
    DLTensor there[UF_MAX_OPERANDS];
    uf_status s = UF_OK;
    memcpy(there, c->args, sizeof there);
    for (int k = 0; !s && k < c->nargs; k++)
        if (c->args[k].ndim) {
            s = device_copy(&copies[k], c->job->device, &c->args[k], true);
            there[k] = s ? there[k] : copies[k]->dl_tensor;
        }
    s = s ? s : launch(c, ndim, extents, there);
    for (int k = 0; !s && k < c->nargs; k++)
        if (c->made[k])
            s = uf_copy(&c->args[k], &there[k], NULL);
    release(copies, UF_MAX_OPERANDS);
    return s;
}

static int deliver_outputs(const call *c) {
    int status = DONE;
    for (int k = 0, n = 0; status == DONE && k < c->nargs; k++)
        if (c->made[k])
            status = deliver(c->job->noutputs ? c->job->outputs[n++] : NULL, &c->args[k], NULL);
    return status;
}

static int check_outputs(const call *c) {
    int n = 0;
    for (int k = 0; k < c->nargs; k++)
        n += c->made[k] != NULL;
    if (!n)
        return bad_usage("forall",
                         "no argument is an output, which is DTYPE[N,..] or copy:FILE, so that nothing would be kept");
    if (c->job->noutputs && c->job->noutputs != n)
        return bad_usage("forall", "%d argument%s an output, but -o is there %d time%s", n, n == 1 ? " is" : "s are",
                         c->job->noutputs, c->job->noutputs == 1 ? "" : "s");
    int status = DONE;
    for (int k = 0, output = 0; status == DONE && k < c->nargs; k++)
        if (c->made[k] && c->args[k].dtype.lanes > 1)
            return failed("%s has records, which `ufunc forall` does not write", c->job->inputs[k]);
        else if (c->made[k])
            status = check_delivery(c->job->noutputs ? c->job->outputs[output++] : NULL, c->args[k].ndim, false);
    return status;
}

static int perform(call *c) {
    int64_t extents[UF_MAX_NDIM] = {0};
    int ndim = 0, status = DONE;
    c->nargs = c->job->ninputs;
    for (int k = 0; status == DONE && k < c->nargs; k++)
        status = read_argument(c, k);
    if (status == DONE)
        status = check_outputs(c);
    if (status == DONE)
        status = find_space(c, extents, &ndim);
    if (status == DONE)
        status = make_kernel_function(c);
    if (status != DONE)
        return status;
    bool here = c->job->device.device_type == kDLCPU;
    uf_status s = here ? launch(c, ndim, extents, c->args) : launch_on_device(c, ndim, extents);
    return s ? call_failed(c) : deliver_outputs(c);
}

int run_forall(const job *j) {
    call *c = call_new(j);
    if (!c)
        return failed("out of memory");
    int status = perform(c);
    call_free(c);
    return status;
}
