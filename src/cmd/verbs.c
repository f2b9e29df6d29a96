/* verbs.c - the table of verbs: what each is called, takes and does. */
#include <string.h>

#include "cmd.h"

#define FUNCTION "(NAME | FILE.uf | KERNEL | FORMULA | FILE | -e KERNEL)"
#define INDEX_KERNEL "(NAME | FILE.uf | KERNEL | FILE | -e KERNEL)"

static const verb verbs[] = {
    {"info", INFO, "", "what this machine has: engines, libraries, devices, and what is missing", "", "", false, 0,
     run_info},
    {"list", LIST, "[NAME | FILE.uf ..]",
     "the catalogue, or what functions and modules are for: layout, signatures, doc", "",
     "ufunc list\nufunc list softmax interval\n", false, UF_MAX_OPERANDS, run_list},
    {"inspect", INSPECT, FUNCTION " [OPTION ..]", "the code a kernel is compiled to", "",
     "ufunc inspect 'x + y' -t float32,float32\n"
     "ufunc inspect matmul -t float32,float32 --device sm_90 --view ptx\n"
     "ufunc inspect '[i](a, b) { b[i] = 2 * a[i]; }' -p 'float32[], float32[]' --view asm\n",
     true, 0, run_inspect},
    {"run", RUN, FUNCTION " INPUT .. [OPTION ..]", "applies a function to arrays", "",
     "ufunc run '2 * (x - y) / (x + y)' x.npy y.npy -o r.npy\n"
     "ufunc run 'hypot(x, y)' points.npz:x points.npz:y -o -:csv\n"
     "ufunc run sqrt 'pixels.bin:uint8[-1,640]' -o roots.npy\n"
     "ufunc run softmax x.npy --axis 0 --device cuda -o y.npy\n"
     "ufunc run histogram x.npy 0 10 --shape 64 --dtype int64\n",
     true, UF_MAX_OPERANDS, run_run},
    {"outer", OUTER, FUNCTION " INPUT .. [OPTION ..]", "applies a function to all combinations of elements",
     "The output has the dimensions of the first input, then those of the second, and so on.\n",
     "ufunc outer multiply x.npy y.npy -o table.npy\n", true, UF_MAX_OPERANDS, run_outer},
    {"forall", FORALL, INDEX_KERNEL " ARGUMENT .. [OPTION ..]", "runs a kernel over indices for every point of a space",
     "An ARGUMENT is a file, which the kernel reads; a number; DTYPE[N,..], a new array of zeros; or copy:FILE, a copy "
     "of a\n"
     "file's array. New arrays and copies are the outputs: the kernel changes them, and -o names files for them in "
     "their\n"
     "order. What it writes to arrays of other files is not kept.\n",
     "ufunc forall '[i : n](u, v) { if (i > 0 && i < n - 1) v[i] = u[i-1] - 2 * u[i] + u[i+1]; }' u.npy copy:u.npy -o "
     "v.npy\n"
     "ufunc forall '[i](x, h) { atomic_add(h[x[i]], 1); }' bytes.npy 'int64[256]' --shape 1000000 -o h.npy\n",
     true, UF_MAX_OPERANDS, run_forall},
    {"at", AT, FUNCTION " TARGET INDEX .. [OPERAND] [OPTION ..]",
     "updates elements of an array, once for each of the indices",
     "TARGET is a file, which stays as it is: the output is its array with the updates. There is an INDEX, a file or a "
     "number,\n"
     "for each of its first dimensions, and an OPERAND if the function has two inputs.\n",
     "ufunc at add counts.npy indices.npy 1 -o counts.npy\n", true, UF_MAX_OPERANDS - 1, run_at},
    {"reduce", REDUCE, FUNCTION " INPUT .. [OPTION ..]", "folds arrays along axes",
     "The function is a reduction, or has two inputs and one output, and then folds one array.\n",
     "ufunc reduce sum x.npy --axis 0,2 --keepdims -o s.npy\nufunc reduce 'x + y - x * y' p.npy --initial 0\n", true,
     UF_MAX_OPERANDS, run_reduce},
    {"accumulate", ACCUMULATE, FUNCTION " INPUT .. [OPTION ..]",
     "folds arrays along an axis, every step an element of the output", "The function is as for `ufunc reduce`.\n",
     "ufunc accumulate maximum x.npy --axis 1 -o y.npy\n", true, UF_MAX_OPERANDS, run_accumulate},
    {"reduceat", REDUCEAT, FUNCTION " INPUT .. --starts STARTS [OPTION ..]", "folds segments of an axis",
     "Segment i goes from start i up to, but without, the next start, or the end of the axis; if the next start is not "
     "above\n"
     "it, the segment is one element. The function is as for `ufunc reduce`.\n",
     "ufunc reduceat add x.npy --starts 0,4,8 -o sums.npy\n", true, UF_MAX_OPERANDS, run_reduceat},
    {"bench", BENCH, FUNCTION " --shape N,.. [OPTION ..]",
     "how fast a function is, and what share of a copy's rate that is",
     "Inputs of the given shape are filled with numbers near 1. Bytes are those of all inputs and outputs; the copy "
     "moves as\n"
     "many. Of a kernel over indices, whose space is the shape of its first array, all parameters are inputs, but for "
     "the\n"
     "numbers of --signatures 'float32[], float32'.\n",
     "ufunc bench softmax --shape 65536,1024\nufunc bench matmul --shape 2048,2048 -t float64 --device cuda\n"
     "ufunc bench add --as reduce --shape 100000000\n"
     "ufunc bench '[i : n](x, y) { y[i] = 2 * x[i]; }' --shape 100000000\n",
     true, 0, run_bench},
};

static const note notes[] = {
    {CALLS | INSPECT | BENCH, "NAME is a function of the catalogue (`ufunc list`), FILE.uf a function file. A KERNEL "
                              "is '(x, y) { return x * y; }';\n"
                              "of a FORMULA such as 'x * y' the names are the parameters, in the order in which they "
                              "appear. A FILE may hold either.\n"
                              "A FORMULA may call functions of the catalogue, too: 'softplus(x) + 1'.\n"},
    {FORALL,
     "NAME and FILE.uf are a kernel over indices in a function file. A KERNEL is '[i](x, y) { y[i] = 2 * x[i]; }'; a "
     "FILE may hold one.\n"},
    {CALLS, "INPUT is a file or a number: 1, -2.5, 1+2j, true. Numbers and 0-d arrays follow the dtypes of the other "
            "inputs.\n"},
    {COMPUTING,
     "The form of a file follows from its name: .npy; .npz, whose array X is FILE.npz:X unless it has one alone; .csv, "
     ".tsv\n"
     "and .txt, numbers in rows and columns, with commas, semicolons or blanks between them, one of these in a file, "
     "and\n"
     "decimal points. Raw data are FILE:float32[100,3], where -1 is an extent that they say, [] one dimension, < or > "
     "in\n"
     "front their byte order, and @BYTES behind the place where they begin. FILE:FORM overrides the name, and - is\n"
     "standard input: -:csv. Outputs have the forms npy, csv, tsv, txt and raw (also .bin).\n"},
};

static const page pages[] = {
    {"ufunc-run", "applies functions to arrays", RUN | OUTER | FORALL | AT},
    {"ufunc-reduce", "folds arrays", REDUCE | ACCUMULATE | REDUCEAT},
    {"ufunc-inspect", "looks at functions, their code and their speed", INFO | LIST | INSPECT | BENCH},
};

/* What verbs are called elsewhere. */
static const struct {
    const char *name, *verb;
} synonyms[] = {
    {"call", "run"},        {"apply", "run"},        {"map", "run"},
    {"eval", "run"},        {"vectorize", "run"},    {"kernel", "forall"},
    {"launch", "forall"},   {"scan", "accumulate"},  {"cumulate", "accumulate"},
    {"fold", "reduce"},     {"aggregate", "reduce"}, {"segment", "reduceat"},
    {"scatter", "at"},      {"show", "list"},        {"ls", "list"},
    {"catalogue", "list"},  {"describe", "list"},    {"dump", "inspect"},
    {"compile", "inspect"}, {"devices", "info"},     {"system", "info"},
    {"benchmark", "bench"}, {"time", "bench"},       {"measure", "bench"},
};

enum {
    VERBS = sizeof verbs / sizeof *verbs,
    NOTES = sizeof notes / sizeof *notes,
    PAGES = sizeof pages / sizeof *pages,
    SYNONYMS = sizeof synonyms / sizeof *synonyms
};

const verb *verb_at(int i) { return i < VERBS ? &verbs[i] : NULL; }

const note *note_at(int i) { return i < NOTES ? &notes[i] : NULL; }

const page *page_at(int i) { return i < PAGES ? &pages[i] : NULL; }

const verb *verb_named(const char *name) {
    for (int i = 0; i < VERBS; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

const char *verb_like(const char *name) {
    const char *best = NULL;
    for (int i = 0; i < SYNONYMS; i++)
        if (strcmp(synonyms[i].name, name) == 0)
            return synonyms[i].verb;
    for (int i = 0; i < VERBS; i++)
        if (is_near(name, verbs[i].name) && (!best || letters_apart(name, verbs[i].name) < letters_apart(name, best)))
            best = verbs[i].name;
    return best;
}
