/* wording.c - messages of the library in the words of the tool: what C calls uf_options.where is --where here, uf_reduce is
 * `ufunc reduce`; and which option helps. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

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
    {"uf_reduction_def", "definition"},
    {"uf_definition", "definition"},
    {"UF_ORDERED", "--ordered"},
    {"UF_SERIAL", "--serial"},
    {"UF_STAGE", "--device"},
    {"UF_DEBUG", "--debug"},
    {"UF_DETERMINISTIC", "--deterministic"},
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

/* The longest term that stands at this place as a word of its own; -1: none does. */
static int term_at(const char *message, const char *at) {
    int found = -1;
    size_t longest = 0;
    if (at > message && in_word(at[-1]))
        return -1;
    for (int i = 0; i < TERMS; i++) {
        size_t length = strlen(terms[i].c);
        if (length > longest && strncmp(at, terms[i].c, length) == 0 && !in_word(at[length])) {
            found = i;
            longest = length;
        }
    }
    return found;
}

const char *worded(const char *message) {
    static char text[3 * sizeof((uf_error *)0)->message];
    size_t used = 0;
    for (const char *at = message; *at && used + 128 < sizeof text;) {
        int i = term_at(message, at);
        used += (size_t)sprintf(text + used, i < 0 ? "%.1s" : "%s", i < 0 ? at : terms[i].tool);
        at += i < 0 ? 1 : strlen(terms[i].c);
    }
    return text;
}

const char *advice(const char *message, unsigned verb_bit) {
    for (int i = 0; i < HINTS; i++)
        if (hints[i].verbs & verb_bit && strstr(message, hints[i].fragment))
            return hints[i].hint;
    return NULL;
}
