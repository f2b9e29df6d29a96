/* main.c - the tool `ufunc`: the table of verbs, the usage, and errors. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

#define WHAT_AND_INPUTS "(NAME | FILE.uf | KERNEL | FILE | -e KERNEL) INPUT .. [OPTION ..]"
#define FUNCTION_AND_INPUTS                                                                                           \
    "NAME is a function of the catalogue, FILE.uf a function file; a FILE may hold a KERNEL. INPUT is a .npy file,\n" \
    "- for one from standard input, or a number: 1, -2.5, 1+2j, true. Numbers and 0-d arrays follow the dtypes of\n"  \
    "the other inputs. Without -o the outputs are printed.\n\n"                                                       \
    "  -o, --output OUT.npy      where the output goes, - is standard output; once for each output, in their order\n" \
    "  -t, --dtype DTYPE         of the outputs; bfloat16: inputs of dtype V2 are that\n"                             \
    "  -s, --signatures LIST     of a kernel; of a NAME or FILE.uf the one signature to be used\n"                    \
    "  -d, --device DEVICE       cpu (default), cuda or cuda:N, where arrays are copied to and back\n"                \
    "  -j, --threads N           largest number of threads on the CPU; default: all\n"                                \
    "  -f, --fast                of a kernel: contract, approximate division, flush subnormals\n"                     \
    "  -M, --max-steps N         of a kernel: an element that takes more steps of loops is an error\n"

#define ORDER_OPTIONS                                                                \
    "  -O, --ordered             the function is associative, but not commutative\n" \
    "  -S, --serial              it is neither: a left fold\n"

static const verb verbs[] = {
    {"info", "", "what this machine has: engines, libraries, devices, and what is missing", "", run_info},
    {"list", "[NAME | FILE.uf ..]", "the catalogue, or what functions are for: layout, signatures, doc", "", run_list},
    {"inspect", "(-e KERNEL | FILE | - | FILE.uf | NAME) [OPTION ..]", "the code a kernel is compiled to",
     "FILE holds a kernel's text, - is standard input; FILE.uf is a function file, NAME a function of the "
     "catalogue.\n\n"
     "  -e, --expression KERNEL   the kernel, e.g. '(x, y) { return x + y; }'\n"
     "  -s, --signatures LIST     e.g. 'float32,float32->float32; dd->d'; default: any types\n"
     "  -l, --layout LAYOUT       core dimensions, e.g. '(m,n),(n)->(m)'; default: elementwise\n"
     "  -p, --parameters LIST     of a kernel over indices, e.g. 'float32[,], int32'\n"
     "  -t, --types LIST          input types to compile for, e.g. float32,float32; default: the first signature's;\n"
     "                            of a kernel over indices a parameter list\n"
     "  -d, --device DEVICE       cpu (default), cuda, cuda:N, or sm_NN for an architecture without a device\n"
     "  -v, --view VIEW           tree, ir (default), ptx, asm or resources\n"
     "  -f, --fast                contract, approximate division, flush subnormals\n"
     "  -g, --debug               with the checks that report what goes wrong\n"
     "  -L, --lines               line information\n"
     "  -r, --max-registers N     registers a GPU thread may use\n"
     "  -M, --max-steps N         with what counts the steps of loops that are not proved short\n",
     run_inspect},
    {"run", WHAT_AND_INPUTS, "applies a function to arrays",
     FUNCTION_AND_INPUTS
     "  -l, --layout LAYOUT       core dimensions of a kernel, e.g. '(m,n),(n)->(m)'; default: elementwise\n"
     "  -a, --axis N              the axis of the one core dimension; default: the last\n"
     "  -k, --keepdims            core dimensions stay, with extent 1\n"
     "  -n, --shape N,..          of the output, with --dtype, where its size is known from it alone\n"
     "  -w, --where MASK.npy      bool; where it is false outputs are 0\n",
     run_run},
    {"reduce", WHAT_AND_INPUTS, "folds arrays along axes",
     "The function is a reduction, or has two inputs and one output, and then folds one array.\n" FUNCTION_AND_INPUTS
     "  -a, --axis N,..           the axes to be reduced; default: all; '' is none\n"
     "  -k, --keepdims            reduced axes stay, with extent 1\n"
     "  -i, --initial NUMBER,..   where the fold begins: a number for each value of the state\n"
     "  -w, --where MASK.npy      bool; elements where it is false take no part\n" ORDER_OPTIONS,
     run_reduce},
    {"accumulate", WHAT_AND_INPUTS, "folds arrays along an axis, every step an element of the output",
     "The function is as for `ufunc reduce`.\n" FUNCTION_AND_INPUTS
     "  -a, --axis N              the axis; default: the first\n"
     "  -D, --deterministic       on a GPU: the same bits in each run\n" ORDER_OPTIONS,
     run_accumulate},
};

enum {
    VERBS = sizeof verbs / sizeof *verbs
};

static const verb *find_verb(const char *name) {
    for (int i = 0; i < VERBS; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static void print_overview(FILE *to) {
    fprintf(to, "usage: ufunc VERB ..\n\n");
    for (int i = 0; i < VERBS; i++)
        fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    fprintf(to, "\n`ufunc VERB --help` shows a verb's options; `ufunc --version` the version.\n");
}

int print_usage(const char *verb_name) {
    const verb *v = find_verb(verb_name);
    printf("usage: ufunc %s %s\n%s\n", v->name, v->arguments, v->summary);
    if (*v->details)
        printf("\n%s", v->details);
    return DONE;
}

int bad_usage(const char *verb_name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "ufunc %s: ", verb_name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "; `ufunc %s --help` shows the usage\n", verb_name);
    va_end(arguments);
    return BAD_USAGE;
}

int failed(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "ufunc: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    return FAILED;
}

int library_failed(void) { return failed("%s", uf_last_error()->message); }

int print_text(char *text) {
    size_t length = strlen(text);
    fputs(text, stdout);
    if (length && text[length - 1] != '\n')
        putchar('\n');
    free(text);
    return DONE;
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        print_overview(stderr);
        return BAD_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_overview(stdout);
        return DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("ufunc %s\n", uf_version());
        return DONE;
    }
    const verb *v = find_verb(argv[1]);
    if (!v) {
        fprintf(stderr, "ufunc: there is no verb \"%s\"; `ufunc --help` lists them\n", argv[1]);
        return BAD_USAGE;
    }
    return v->run(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    int status = run(argc, argv);
    if (fflush(stdout) || ferror(stdout))
        return failed("standard output: %s", strerror(errno));
    return status;
}
