/* options.c - the table of options, and how a command line is read by it. Numbers may stand among the operands, also negative
 * ones, which getopt alone would take for options. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

/* ---- What options do ---- */

static bool take_kernel(job *j, const char *value) { return (j->function.kernel = value); }
static bool take_signatures(job *j, const char *value) { return (j->function.signatures = value); }
static bool take_parameters(job *j, const char *value) {
    j->function.flags |= UF_KERNEL;
    return (j->function.signatures = value);
}
static bool take_layout(job *j, const char *value) { return (j->function.layout = value); }
static bool take_fast(job *j, const char *value) {
    (void)value;
    j->function.fast = UF_FAST_ALL;
    return true;
}
static bool take_debug(job *j, const char *value) { return (void)value, j->function.flags |= UF_DEBUG; }
static bool take_lines(job *j, const char *value) { return (void)value, j->function.flags |= UF_LINES; }
static bool take_registers(job *j, const char *value) { return read_count(value, &j->function.max_registers); }
static bool take_derivative(job *j, const char *value) {
    return j->function.derived = read_count(value, &j->function.input);
}
static bool take_steps(job *j, const char *value) { return read_steps(value, &j->function.max_steps); }
static bool take_types(job *j, const char *value) { return (j->types = value); }
static bool take_device(job *j, const char *value) { return read_device(value, &j->device); }
static bool take_threads(job *j, const char *value) { return read_count(value, &j->threads); }
static bool take_block(job *j, const char *value) { return read_count(value, &j->block); }
static bool take_elements(job *j, const char *value) { return read_count(value, &j->elements); }
static bool take_casting(job *j, const char *value) { return read_casting(value, &j->casting); }
static bool take_way(job *j, const char *value) {
    for (int i = 0; way_choice(i); i++)
        if (strcmp(way_choice(i), value) == 0)
            return (j->way = value);
    return false;
}
static bool take_where(job *j, const char *value) { return (j->where = value); }
static bool take_starts(job *j, const char *value) { return (j->starts = value); }
static bool take_keepdims(job *j, const char *value) { return (void)value, j->keepdims = true; }
static bool take_ordered(job *j, const char *value) { return (void)value, j->flags |= UF_ORDERED; }
static bool take_serial(job *j, const char *value) { return (void)value, j->flags |= UF_SERIAL; }
static bool take_uneven(job *j, const char *value) { return (void)value, j->flags |= UF_UNEVEN; }
static bool take_deterministic(job *j, const char *value) { return (void)value, j->flags |= UF_DETERMINISTIC; }
static bool take_first(job *j, const char *value) { return (void)value, j->flags |= UF_FIRST_MATCH; }
static bool take_strong(job *j, const char *value) { return (void)value, j->flags |= UF_STRONG_NUMBERS; }

/* A device as read_device has it, or an architecture without a device, sm_NN. */
static bool take_target(job *j, const char *value) {
    int n = 0;
    if (strncmp(value, "sm_", 3) != 0)
        return take_device(j, value);
    bool good = read_count(value + 3, &n) && n > 0;
    j->device = (DLDevice){kDLCUDA, -n};
    return good;
}

static const struct {
    const char *name;
    uf_view view;
} views[] = {{"tree", UF_VIEW_TREE},
             {"ir", UF_VIEW_IR},
             {"ptx", UF_VIEW_PTX},
             {"asm", UF_VIEW_ASSEMBLY},
             {"assembly", UF_VIEW_ASSEMBLY},
             {"resources", UF_VIEW_RESOURCES},
             {NULL, UF_VIEW_IR}};

static const char *view_choice(int i) { return views[i].name; }

static bool take_view(job *j, const char *value) {
    for (int i = 0; views[i].name; i++)
        if (strcmp(views[i].name, value) == 0) {
            j->view = views[i].view;
            return true;
        }
    return false;
}

static bool take_output(job *j, const char *value) {
    if (j->noutputs == UF_MAX_OPERANDS)
        return false;
    for (int k = 0; k < j->noutputs; k++)
        if (same_output(j->outputs[k], value))
            return false;
    j->outputs[j->noutputs++] = value;
    return true;
}

static bool take_dtype(job *j, const char *value) {
    j->dtype = dtype_given(value);
    j->bfloat16 |= strcmp(value, "bfloat16") == 0;
    return j->dtype != NULL;
}

static bool take_bfloat16(job *j, const char *value) { return j->bfloat16 = strcmp(value, "bfloat16") == 0; }

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

static bool take_axis(job *j, const char *value) { return take_axes(j, value) && j->naxes == 1; }

/* A list of integers, kept as text. */
static bool take_list(const char *value, int *n, const char *lists[UF_MAX_OPERANDS]) {
    int64_t list[UF_MAX_NDIM];
    int count;
    if (*n == UF_MAX_OPERANDS || !read_integers(value, UF_MAX_NDIM, list, &count))
        return false;
    lists[(*n)++] = value;
    return true;
}

static bool take_axis_list(job *j, const char *value) { return take_list(value, &j->nlists, j->lists); }
static bool take_shape(job *j, const char *value) { return take_list(value, &j->nshapes, j->shapes); }

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

/* ---- The table ---- */

#define FOLDS (REDUCE | ACCUMULATE | REDUCEAT)
#define WITH_FUNCTION (COMPUTING | INSPECT | BENCH)

static const option_row rows[] = {
    {"expression", 'e', FORALL, "KERNEL", "a kernel", "a kernel in place of the first operand, wherever it stands",
     take_kernel, NULL},
    {"expression", 'e', CALLS | INSPECT | BENCH, "KERNEL", "a kernel",
     "a kernel or a formula in place of the first operand, wherever it\nstands: '(x, y) { return x + y; }', 'x + y'",
     take_kernel, NULL},
    {"output", 'o', COMPUTING, "OUT", "a path, another one for each output",
     "the file that the output goes to, - is standard output; once\nfor each output, in their order; without it "
     "outputs are "
     "printed",
     take_output, NULL},
    {"dtype", 't', CALLS, "DTYPE", "a dtype, e.g. float32", "of the outputs; bfloat16: inputs of dtype V2 are that",
     take_dtype, dtype_choice},
    {"dtype", 't', FORALL, "bfloat16", "bfloat16", "inputs of dtype V2 are bfloat16", take_bfloat16, NULL},
    {"types", 't', INSPECT, "LIST", "types",
     "input types to compile for, e.g. float32,float32; default: the\nfirst signature's; of a kernel over indices a "
     "parameter list",
     take_types, NULL},
    {"types", 't', BENCH, "LIST", "types", "dtypes of the inputs, one for all or one for each; default: float32",
     take_types, NULL},
    {"as", 'A', BENCH, "VERB", "run, outer, reduce, accumulate or forall",
     "the verb to be measured; default: run, reduce or forall, by its kind", take_way, way_choice},
    {"signatures", 's', CALLS | BENCH, "LIST", "signatures",
     "of a kernel: the types it is for, e.g. 'ff->f; dd->d'; of a NAME\nor FILE.uf the one signature to be used",
     take_signatures, NULL},
    {"signatures", 's', INSPECT, "LIST", "signatures", "e.g. 'float32,float32->float32; dd->d'; default: any types",
     take_signatures, NULL},
    {"parameters", 'p', INSPECT, "LIST", "parameters", "of a kernel over indices, e.g. 'float32[,], int32'",
     take_parameters, NULL},
    {"parameters", 'p', FORALL, "LIST", "parameters",
     "of a kernel, e.g. 'float32[,], int32'; default: the dtypes and\nranks of the arguments; of a NAME or FILE.uf the "
     "list to be used",
     take_parameters, NULL},
    {"derivative", 'y', RUN | OUTER | INSPECT | BENCH, "N", "the number of an input, from 0 on",
     "the derivative of the function by its input N, from 0 on", take_derivative, NULL},
    {"layout", 'l', RUN | INSPECT | BENCH, "LAYOUT", "a layout",
     "core dimensions of a kernel, e.g. '(m,n),(n)->(m)';\ndefault: elementwise", take_layout, NULL},
    {"shape", 'n', RUN, "N,..", "extents, e.g. 3,4, once for each output",
     "of the output, with --dtype, where its size is known from it alone;\nonce for each output", take_shape, NULL},
    {"shape", 'n', FORALL, "N,..", "extents, e.g. 3,4, one for each index",
     "the extents of the space; default: the shape that all arrays have", take_shape, NULL},
    {"shape", 'n', BENCH, "N,..", "extents, e.g. 1000,1000, once for all inputs or once for each",
     "of the inputs, once for all or once for each", take_shape, NULL},
    {"axis", 'a', BENCH, "N,..", "a list of axes, e.g. 0,2", "the axes to be reduced, or the axis", take_axes, NULL},
    {"axis", 'a', RUN, "N", "an axis", "the axis of the one core dimension; default: the last", take_axis, NULL},
    {"axis", 'a', ACCUMULATE | REDUCEAT, "N", "an axis", "the axis; default: the first", take_axis, NULL},
    {"axis", 'a', REDUCE, "N,..", "a list of axes, e.g. 0,2", "the axes to be reduced; default: all; '' is none",
     take_axes, NULL},
    {"axes", 'A', RUN, "N,..", "a list of axes, e.g. 0,1, once for each argument",
     "the axes of an argument's core dimensions, once for each argument", take_axis_list, NULL},
    {"keepdims", 'k', RUN, NULL, NULL, "core dimensions stay, with extent 1", take_keepdims, NULL},
    {"keepdims", 'k', REDUCE, NULL, NULL, "reduced axes stay, with extent 1", take_keepdims, NULL},
    {"starts", 'x', REDUCEAT, "STARTS", "where the segments begin", "where the segments begin: 0,4,8 or a file",
     take_starts, NULL},
    {"uneven", 'u', REDUCEAT, NULL, NULL, "on a GPU: some segments may be much longer than most", take_uneven, NULL},
    {"initial", 'i', REDUCE, "NUMBER,..", "up to 16 numbers, e.g. 0,1.5",
     "where the fold begins: a number for each value of the state", take_initial, NULL},
    {"where", 'w', RUN | OUTER, "MASK", "a path", "a file of bool; where it is false outputs are 0", take_where, NULL},
    {"where", 'w', REDUCE, "MASK", "a path", "a file of bool; elements where it is false take no part", take_where,
     NULL},
    {"ordered", 'O', FOLDS, NULL, NULL, "the function is associative, but not commutative", take_ordered, NULL},
    {"serial", 'S', FOLDS, NULL, NULL, "it is neither: a left fold", take_serial, NULL},
    {"deterministic", 'D', AT | ACCUMULATE | REDUCEAT, NULL, NULL, "on a GPU: the same bits in each run",
     take_deterministic, NULL},
    {"casting", 'c', CALLS, "RULE", "no, equiv, safe, same_kind or unsafe",
     "how the outputs may be cast: no, equiv, safe, same_kind (default)\nor unsafe; under a forced signature the "
     "inputs, "
     "too",
     take_casting, casting_choice},
    {"first-match", 'F', COMPUTING | BENCH, NULL, NULL,
     "the first signature that fits, as in NumPy, and not the narrowest", take_first, NULL},
    {"strong-numbers", 'N', RUN | OUTER | AT | FORALL, NULL, NULL, "numbers count by their dtype, as arrays do",
     take_strong, NULL},
    {"device", 'd', COMPUTING, "DEVICE", "cpu, cuda or cuda:N",
     "cpu (default), cuda or cuda:N, where arrays are copied to and back", take_device, device_choice},
    {"device", 'd', BENCH, "DEVICE", "cpu, cuda or cuda:N", "cpu (default), cuda or cuda:N, where the arrays are",
     take_device, device_choice},
    {"device", 'd', INSPECT, "DEVICE", "cpu, cuda, cuda:N or sm_NN",
     "cpu (default), cuda, cuda:N, or sm_NN for an architecture without\na device", take_target, device_choice},
    {"threads", 'j', COMPUTING | BENCH, "N", "a number of threads",
     "largest number of threads on the CPU; default: all", take_threads, NULL},
    {"block", 'B', FORALL, "N", "a number of threads", "on a GPU: threads in a block", take_block, NULL},
    {"elements", 'E', FORALL, "N", "a number of points", "on a GPU: points that a thread takes", take_elements, NULL},
    {"view", 'v', INSPECT, "VIEW", "tree, ir, ptx, asm or resources", "tree, ir (default), ptx, asm or resources",
     take_view, view_choice},
    {"fast", 'f', WITH_FUNCTION, NULL, NULL, "of a kernel: contract, approximate division, flush subnormals", take_fast,
     NULL},
    {"debug", 'g', WITH_FUNCTION, NULL, NULL,
     "of a kernel: with checks that report indices out of range, integer\ndivisions by 0 and failing asserts",
     take_debug, NULL},
    {"lines", 'L', INSPECT, NULL, NULL, "line information", take_lines, NULL},
    {"max-registers", 'r', WITH_FUNCTION, "N", "a number of registers", "of a kernel: registers a GPU thread may use",
     take_registers, NULL},
    {"max-steps", 'M', WITH_FUNCTION, "N", "a number of steps, from 1 on",
     "of a kernel: an element that takes more steps of loops is an error", take_steps, NULL},
    {"help", 'h', ~0U, NULL, NULL, "this text", NULL, NULL},
};

enum {
    ROWS = sizeof rows / sizeof *rows,
    LONG = 256 /* added to the index of a row is what getopt_long returns for its long form */
};

const option_row *option_at(int i) { return i < ROWS ? &rows[i] : NULL; }

/* ---- Options that are not there ---- */

/* The verbs that have such an option: "; it is an option of `ufunc run`, `ufunc reduce`". */
static const char *verbs_with(unsigned verbs) {
    static char text[512];
    size_t used = 0;
    *text = 0;
    for (int i = 0; verb_at(i) && used + 40 < sizeof text; i++)
        if (verbs & verb_at(i)->bit)
            used +=
                (size_t)sprintf(text + used, "%s`ufunc %s`", used ? ", " : "; it is an option of ", verb_at(i)->name);
    return text;
}

/* The option of the verb whose name is most like this one; NULL: none is like it. */
static const option_row *option_like(unsigned bit, const char *name) {
    const option_row *best = NULL;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].verbs & bit && is_near(name, rows[i].name) &&
            (!best || letters_apart(name, rows[i].name) < letters_apart(name, best->name)))
            best = &rows[i];
    return best;
}

static int unknown_long(const job *j, const char *name) {
    const option_row *like = option_like(j->verb->bit, name);
    unsigned verbs = 0;
    for (int i = 0; i < ROWS; i++)
        verbs |= strcmp(rows[i].name, name) == 0 ? rows[i].verbs : 0;
    if (like && !verbs)
        return bad_usage(j->verb->name, "unknown option \"--%s\"; did you mean \"--%s\"?", name, like->name);
    return bad_usage(j->verb->name, "unknown option \"--%s\"%s", name, verbs_with(verbs));
}

/* The character that begins with a byte of a group of short options, which getopt takes for a letter. It stands in the argument
 * that getopt is at, or, if it was the last byte, in the one before. */
static void letter_text(char **argv, int letter, char to[8]) {
    const char *at = argv[optind] && argv[optind][0] == '-' ? strchr(argv[optind], letter) : NULL;
    int n = 1;
    while (at && n < 4 && ((unsigned char)at[n] & 0xC0) == 0x80)
        n++;
    if (at)
        snprintf(to, 8, "%.*s", n, at);
    else
        snprintf(to, 8, "%c", letter);
}

static int unknown_letter(const job *j, int letter, char **argv) {
    char text[8];
    unsigned verbs = 0;
    for (int i = 0; i < ROWS; i++)
        verbs |= rows[i].letter == letter ? rows[i].verbs : 0;
    letter_text(argv, letter, text);
    return bad_usage(j->verb->name, "unknown option \"-%s\"%s", text, verbs_with(verbs));
}

/* What getopt_long could not take: a misspelt option, an abbreviation of several, or a value where none may be. optopt has the
 * letter of a short option, and of a long one that has no value its number. */
static int unknown_option(const job *j, char **argv) {
    const char *text = argv[optind - 1];
    char name[64];
    const option_row *first = NULL;
    if (optopt >= LONG)
        return bad_usage(j->verb->name, "option \"--%s\" has no value", rows[optopt - LONG].name);
    if (optopt)
        return unknown_letter(j, optopt, argv);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text + 2, "="), text + 2);
    for (int i = 0; i < ROWS; i++) {
        if (!(rows[i].verbs & j->verb->bit) || strncmp(rows[i].name, name, strlen(name)) != 0)
            continue;
        if (first)
            return bad_usage(j->verb->name, "\"--%s\" can be \"--%s\" or \"--%s\"", name, first->name, rows[i].name);
        first = &rows[i];
    }
    return unknown_long(j, name);
}

/* ---- Reading ---- */

/* The options of a verb in the form that getopt_long takes. */
static void options_of(unsigned bit, struct option options[ROWS + 1], char letters[2 * ROWS + 4]) {
    int n = 0;
    char *end = stpcpy(letters, "-:");
    for (int i = 0; i < ROWS; i++)
        if (rows[i].verbs & bit) {
            int argument = rows[i].value ? required_argument : no_argument;
            options[n++] = (struct option){rows[i].name, argument, NULL, LONG + i};
            if (rows[i].letter)
                end += sprintf(end, rows[i].value ? "%c:" : "%c", rows[i].letter);
        }
    options[n] = (struct option){0};
}

static const option_row *row_of(unsigned bit, int got) {
    if (got >= LONG)
        return &rows[got - LONG];
    for (int i = 0; i < ROWS; i++)
        if (rows[i].letter == got && rows[i].verbs & bit)
            return &rows[i];
    return NULL;
}

static int take_input(job *j, const char *text) {
    if (!j->verb->most)
        return bad_usage(j->verb->name, "unexpected \"%s\"", text);
    if (j->ninputs == j->verb->most)
        return bad_usage(j->verb->name, "more than %d operands", j->verb->most);
    j->inputs[j->ninputs++] = text;
    return DONE;
}

/* The first operand is the function, unless -e stands before it. */
static int take_operand(job *j, const char *text) {
    if (!j->verb->function || j->function.kernel || j->function.what)
        return take_input(j, text);
    j->function.what = text;
    return DONE;
}

/* Says which values an option has, and which of them may have been meant. */
static int bad_value(const job *j, const option_row *o, const char *value) {
    for (int i = 0; o->choice && o->choice(i); i++)
        if (is_near(value, o->choice(i)))
            return bad_usage(j->verb->name, "--%s needs %s, not \"%s\"; did you mean \"%s\"?", o->name, o->needs, value,
                             o->choice(i));
    return bad_usage(j->verb->name, "--%s needs %s, not \"%s\"", o->name, o->needs, value);
}

static int take_option(job *j, int got, char **argv) {
    const option_row *o = got == ':' || got == '?' ? NULL : row_of(j->verb->bit, got);
    if (got == ':')
        return bad_usage(j->verb->name, "option \"%s\" needs a value", argv[optind - 1]);
    if (!o)
        return unknown_option(j, argv);
    if (!o->take)
        return HELP;
    return o->take(j, optarg) ? DONE : bad_value(j, o, optarg);
}

static int read_operands_behind(job *j, int argc, char **argv) {
    int status = DONE;
    for (; status == DONE && optind < argc; optind++)
        status = take_operand(j, argv[optind]);
    return status;
}

/* -e stood behind the first operand, which was taken for the function, and is the first input. */
static int give_function_back(job *j) {
    const char *first = j->function.what;
    j->function.what = NULL;
    int status = take_input(j, first);
    if (status != DONE)
        return status;
    memmove(j->inputs + 1, j->inputs, (size_t)(j->ninputs - 1) * sizeof *j->inputs);
    j->inputs[0] = first;
    return DONE;
}

/* Decides, once the whole line was read, what the function is, and where signatures that were given belong: to a kernel, or to the
 * call of a function that has its own. */
static int settle_function(job *j) {
    if (!j->verb->function)
        return DONE;
    if (j->function.kernel)
        return j->function.what ? give_function_back(j) : DONE;
    if (!j->function.what)
        return bad_usage(j->verb->name, "a function is needed: a name of the catalogue, a file, a kernel or a formula");
    if (j->verb->bit & (COMPUTING | BENCH) && is_function(j->function.what)) {
        j->signature = j->function.signatures;
        j->function.signatures = NULL;
        j->function.flags &= ~(unsigned)UF_KERNEL;
    }
    return DONE;
}

/* Is it an operand, though it may begin as options do: a number, or standard input of some form? */
static bool is_operand(const char *text) {
    number unused;
    return read_number(text, &unused) || strncmp(text, "-:", 2) == 0;
}

int read_job(job *out, const verb *v, int argc, char **argv) {
    struct option options[ROWS + 1];
    char letters[2 * ROWS + 4];
    options_of(v->bit, options, letters);
    *out = (job){.verb = v, .device = {kDLCPU, 0}, .view = UF_VIEW_IR};
    opterr = 0;
    for (int status = DONE; status == DONE;) {
        bool operand_next = optind < argc && is_operand(argv[optind]);
        int got = operand_next ? 1 : getopt_long(argc, argv, letters, options, NULL);
        if (got == -1)
            break;
        status = got != 1 ? take_option(out, got, argv) : take_operand(out, operand_next ? argv[optind++] : optarg);
        if (status != DONE)
            return status;
    }
    int status = read_operands_behind(out, argc, argv); /* those behind "--" */
    return status == DONE ? settle_function(out) : status;
}
