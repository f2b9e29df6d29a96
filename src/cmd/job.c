/* job.c - reads the command line of the verbs that compute, by a table of options that says which verbs have each.
 * Numbers may stand among the inputs, also negative ones, which getopt alone would take for options. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

typedef struct option_row {
    const char *name;
    int letter; /* of the short option */
    unsigned verbs;
    const char *value; /* what the value must be, for messages; NULL: the option has no value */
    bool (*take)(job *j, const char *value);
} option_row;

static bool take_kernel(job *j, const char *value) { return (j->function.kernel = value); }
static bool take_signatures(job *j, const char *value) { return (j->function.signatures = value); }
static bool take_layout(job *j, const char *value) { return (j->function.layout = value); }
static bool take_fast(job *j, const char *value) {
    (void)value;
    j->function.fast = UF_FAST_ALL;
    return true;
}
static bool take_steps(job *j, const char *value) { return read_steps(value, &j->function.max_steps); }
static bool take_device(job *j, const char *value) { return read_device(value, &j->device); }
static bool take_threads(job *j, const char *value) { return read_count(value, &j->threads); }
static bool take_where(job *j, const char *value) { return (j->where = value); }
static bool take_keepdims(job *j, const char *value) { return (void)value, j->keepdims = true; }
static bool take_ordered(job *j, const char *value) { return (void)value, j->flags |= UF_ORDERED; }
static bool take_serial(job *j, const char *value) { return (void)value, j->flags |= UF_SERIAL; }
static bool take_deterministic(job *j, const char *value) { return (void)value, j->flags |= UF_DETERMINISTIC; }

static bool take_output(job *j, const char *value) {
    if (j->noutputs == UF_MAX_OPERANDS)
        return false;
    for (int k = 0; k < j->noutputs; k++)
        if (strcmp(j->outputs[k], value) == 0 && strcmp(value, "/dev/null") != 0)
            return false;
    j->outputs[j->noutputs++] = value;
    return true;
}

static bool take_dtype(job *j, const char *value) {
    j->dtype = dtype_named(value);
    j->bfloat16 |= strcmp(value, "bfloat16") == 0;
    return j->dtype != NULL;
}

static bool take_axes(job *j, const char *value) {
    int64_t list[UF_MAX_NDIM];
    if (!read_integers(value, UF_MAX_NDIM, list, &j->naxes))
        return false;
    for (int i = 0; i < j->naxes; i++) {
        if (list[i] < INT_MIN || list[i] > INT_MAX)
            return false;
        j->axes[i] = (int)list[i];
    }
    return j->has_axes = true;
}

static bool take_shape(job *j, const char *value) {
    int64_t list[UF_MAX_NDIM];
    int n;
    if (j->nshapes == UF_MAX_OPERANDS || !read_integers(value, UF_MAX_NDIM, list, &n))
        return false;
    j->shapes[j->nshapes++] = value;
    return true;
}

static bool take_axis(job *j, const char *value) { return take_axes(j, value) && j->naxes == 1; }

/* Numbers with commas between them. */
static bool take_initial(job *j, const char *value) {
    char one[64];
    for (j->ninitial = 0; j->ninitial < UF_MAX_STATE; value++) {
        size_t length = strcspn(value, ",");
        if (length >= sizeof one)
            return false;
        memcpy(one, value, length);
        one[length] = 0;
        if (!read_number(one, &j->initial[j->ninitial++]))
            return false;
        value += length;
        if (!*value)
            return true;
    }
    return false;
}

static const option_row rows[] = {
    {"expression", 'e', RUN | REDUCE | ACCUMULATE, "a kernel", take_kernel},
    {"signatures", 's', RUN | REDUCE | ACCUMULATE, "signatures", take_signatures},
    {"layout", 'l', RUN, "a layout", take_layout},
    {"fast", 'f', RUN | REDUCE | ACCUMULATE, NULL, take_fast},
    {"max-steps", 'M', RUN | REDUCE | ACCUMULATE, "a number of steps, from 1 on", take_steps},
    {"output", 'o', RUN | REDUCE | ACCUMULATE, "a path, another one for each output", take_output},
    {"dtype", 't', RUN | REDUCE | ACCUMULATE, "a dtype, e.g. float32", take_dtype},
    {"device", 'd', RUN | REDUCE | ACCUMULATE, "cpu, cuda or cuda:N", take_device},
    {"threads", 'j', RUN | REDUCE | ACCUMULATE, "a number of threads", take_threads},
    {"axis", 'a', RUN | ACCUMULATE, "an axis", take_axis},
    {"axis", 'a', REDUCE, "a list of axes, e.g. 0,2", take_axes},
    {"shape", 'n', RUN, "extents, e.g. 3,4, once for each output", take_shape},
    {"keepdims", 'k', RUN | REDUCE, NULL, take_keepdims},
    {"where", 'w', RUN | REDUCE, "a path", take_where},
    {"initial", 'i', REDUCE, "up to 16 numbers, e.g. 0,1.5", take_initial},
    {"ordered", 'O', REDUCE | ACCUMULATE, NULL, take_ordered},
    {"serial", 'S', REDUCE | ACCUMULATE, NULL, take_serial},
    {"deterministic", 'D', ACCUMULATE, NULL, take_deterministic},
};

enum {
    ROWS = sizeof rows / sizeof *rows
};

/* The options of a verb in the form that getopt_long takes. */
static void options_of(unsigned bit, struct option options[ROWS + 2], char letters[2 * ROWS + 4]) {
    int n = 0;
    char *end = stpcpy(letters, "-:h");
    options[n++] = (struct option){"help", no_argument, NULL, 'h'};
    for (int i = 0; i < ROWS; i++)
        if (rows[i].verbs & bit) {
            int argument = rows[i].value ? required_argument : no_argument;
            options[n++] = (struct option){rows[i].name, argument, NULL, rows[i].letter};
            end += sprintf(end, rows[i].value ? "%c:" : "%c", rows[i].letter);
        }
    options[n] = (struct option){0};
}

static int take_operand(job *j, const char *text) {
    if (!j->function.kernel && !j->function.what)
        j->function.what = text;
    else if (j->ninputs == UF_MAX_OPERANDS)
        return bad_usage(j->verb, "more than %d inputs", UF_MAX_OPERANDS);
    else
        j->inputs[j->ninputs++] = text;
    return DONE;
}

static int take_option(job *j, unsigned bit, int letter, char **argv) {
    if (letter == 'h')
        return HELP;
    if (letter == ':')
        return bad_usage(j->verb, "option \"%s\" needs a value", argv[optind - 1]);
    for (int i = 0; i < ROWS; i++)
        if (rows[i].letter == letter && rows[i].verbs & bit)
            return rows[i].take(j, optarg)
                       ? DONE
                       : bad_usage(j->verb, "--%s needs %s, not \"%s\"", rows[i].name, rows[i].value, optarg);
    return bad_usage(j->verb, "unknown option \"%s\"", argv[optind - 1]);
}

int read_job(job *out, int verb_bit, int argc, char **argv) {
    struct option options[ROWS + 2];
    char letters[2 * ROWS + 4];
    options_of((unsigned)verb_bit, options, letters);
    *out = (job){.verb = argv[0], .device = {kDLCPU, 0}};
    opterr = 0;
    for (int status = DONE; status == DONE;) {
        number unused;
        bool number_next = optind < argc && read_number(argv[optind], &unused);
        int letter = number_next ? 1 : getopt_long(argc, argv, letters, options, NULL);
        if (letter == -1)
            break;
        status = letter != 1 ? take_option(out, (unsigned)verb_bit, letter, argv)
                             : take_operand(out, number_next ? argv[optind++] : optarg);
        if (status != DONE)
            return status;
    }
    for (; optind < argc; optind++) /* arguments behind "--" */
        if (take_operand(out, argv[optind]) != DONE)
            return BAD_USAGE;
    if (!out->function.kernel && !out->function.what)
        return bad_usage(out->verb, "a function is needed: a name of the catalogue, a file or a kernel");
    if (!out->function.kernel && is_function(out->function.what)) {
        out->signature = out->function.signatures;
        out->function.signatures = NULL;
    }
    return DONE;
}
