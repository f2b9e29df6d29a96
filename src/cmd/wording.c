/* wording.c - messages of the library in the words of the tool: what C calls uf_options.where is --where here, uf_reduce is
 * `ufunc reduce`; and which option helps. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

/* # is a number. */
static const struct {
    const char *c, *tool;
} terms[] = {
    {"uf_call", "`ufunc run`"},
    {"uf_infer", "`ufunc run`"},
    {"uf_plan_new", "`ufunc run`"},
    {"uf_outer", "`ufunc outer`"},
    {"uf_forall", "`ufunc forall`"},
    {"uf_launch_info", "`ufunc forall`"},
    {"uf_kernel", "`ufunc forall`"},
    {"UF_KERNEL", "`ufunc forall`"},
    {"uf_at", "`ufunc at`"},
    {"uf_reduce", "`ufunc reduce`"},
    {"uf_accumulate", "`ufunc accumulate`"},
    {"uf_reduceat", "`ufunc reduceat`"},
    {"uf_inspect", "`ufunc inspect`"},
    {"uf_module_load", "`use` in the text of a kernel"},
    {"uf_load", "`ufunc list`"},
    {"uf_catalogue", "`ufunc list`"},
    {"uf_options.signature", "--signatures"},
    {"options->signature", "--signatures"},
    {"uf_options.where", "--where"},
    {"uf_options.casting", "--casting"},
    {"options->casting", "--casting"},
    {"uf_options.device", "--device"},
    {"options->device", "--device"},
    {"uf_options.axes", "--axes"},
    {"options->axes", "--axes"},
    {"uf_options.block", "--block"},
    {"uf_options.elements", "--elements"},
    {"uf_options.flags", "the command line"},
    {"uf_reduce_options.flags", "the command line"},
    {"uf_options.threads", "--threads"},
    {"uf_reduce_options.threads", "--threads"},
    {"uf_reduce_options.axes", "--axis"},
    {"uf_reduce_options.initial", "--initial"},
    {"uf_axes.axis", "--axis"},
    {"uf_axes.keepdims", "--keepdims"},
    {"uf_axes.lists", "--axes"},
    {"uf_axes.count", "the number of lists of --axes"},
    {"uf_axes", "--axes"},
    {"uf_axes.lists[#].count is #", "list # of --axes has # of them"},
    {"uf_axes has both lists and axis", "--axes and --axis are both there"},
    {"uf_options.axes is for functions that have some",
     "--axis, --axes and --keepdims are for functions that have some"},
    {"nindices is #, but the rank of target is #", "there are # indices, but the target has # dimensions"},
    {"nindices is #", "the number of indices is #"},
    {"ndim is #, but its number of indices", "the space has # dimensions, but its number of indices"},
    {"naxes is #, but", "--axis has # axes, but"},
    {"target: argument 1", "the output"}, /* of `ufunc at`, which makes it of the target by a call */
    {"whose signatures are NULL", "without --signatures"},
    {"uf_reduction_def", "definition"},
    {"uf_definition", "definition"},
    {"UF_ORDERED", "--ordered"},
    {"UF_SERIAL", "--serial"},
    {"UF_STAGE", "--device"},
    {"UF_DEBUG", "--debug"},
    {"UF_DETERMINISTIC", "--deterministic"},
    {"UF_UNEVEN", "--uneven"},
    {"UF_STRONG_NUMBERS", "--strong-numbers"},
    {"UF_FIRST_MATCH", "--first-match"},
    {"UF_CAST_UNSAFE", "--casting unsafe"},
    {"UF_MAX_STATE", "16"},
    {"uf_copy", "a copy"},
    {"uf_sync", "waiting"},
    {"uf_options", "the command line"},
    {"uf_reduce_options", "the command line"},
    {"max_steps", "--max-steps"},
    {"max_registers", "--max-registers"},
};

static const struct {
    const char *fragment; /* of the message */
    unsigned verbs;
    const char *hint;
} hints[] = {
    {"name the dtypes of its inputs", INSPECT, "-t says them, e.g. -t float32,float32"},
    {"is known from the outputs alone", RUN, "--shape N,.. and --dtype DTYPE say what the output is"},
    {"only kernels over indices", INSPECT,
     "-p gives the parameters of a kernel over indices, e.g. -p 'float32[,], float32'"},
    {"only kernels over indices", CALLS, "`ufunc forall` runs it"},
    {"its number of indices is", FORALL, "--shape N,.. is the space: an extent for each index"},
    {"does not cast", CALLS, "--dtype DTYPE gives the output another dtype, --casting RULE allows more casts"},
};

enum {
    TERMS = sizeof terms / sizeof *terms,
    HINTS = sizeof hints / sizeof *hints
};

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static size_t digits(const char *at) { return strspn(at, "-0123456789"); }

/* How many bytes of a message a term is; 0: another text is there. */
static size_t term_length(const char *term, const char *at) {
    const char *end = at;
    for (; *term; term++)
        if (*term == '#' && digits(end))
            end += digits(end);
        else if (*term == '#' || *end++ != *term)
            return 0;
    return in_word(*end) ? 0 : (size_t)(end - at);
}

/* The longest term that stands at this place as a word of its own; -1: none does. What stands in quotes was given by the caller. */
static int term_at(const char *message, const char *at, size_t *length) {
    int found = -1;
    *length = 0;
    if (at > message && in_word(at[-1]))
        return -1;
    for (int i = 0; i < TERMS; i++) {
        size_t n = term_length(terms[i].c, at);
        if (n > *length) {
            found = i;
            *length = n;
        }
    }
    bool quoted = at > message && strchr("'\"", at[-1]) && at[*length] == at[-1];
    return quoted ? -1 : found;
}

/* Writes a term as the tool has it, with the numbers of the message; the end. */
static char *put_term(char *to, const char *tool, const char *at) {
    for (; *tool; tool++) {
        if (*tool != '#') {
            *to++ = *tool;
            continue;
        }
        at += strcspn(at, "-0123456789");
        memcpy(to, at, digits(at));
        to += digits(at);
        at += digits(at);
    }
    *to = 0;
    return to;
}

/* Is the line that begins here one of a text that the caller gave, with a caret below it? */
static bool is_excerpt(const char *line) {
    const char *next = strchr(line, '\n');
    return next && next[1 + strspn(next + 1, " \t")] == '^';
}

const char *worded(const char *message) {
    static char text[3 * sizeof((uf_error *)0)->message];
    char *end = text;
    bool excerpt = false;
    size_t length;
    *end = 0;
    for (const char *at = message; *at && end + 128 < text + sizeof text;) {
        if (at == message || at[-1] == '\n')
            excerpt = is_excerpt(at);
        int i = excerpt ? -1 : term_at(message, at, &length);
        if (i >= 0) {
            end = put_term(end, terms[i].tool, at);
            at += length;
        } else {
            *end++ = *at++;
            *end = 0;
        }
    }
    return text;
}

const char *advice(const char *message, unsigned verb_bit) {
    for (int i = 0; i < HINTS; i++)
        if (hints[i].verbs & verb_bit && strstr(message, hints[i].fragment))
            return hints[i].hint;
    return NULL;
}
