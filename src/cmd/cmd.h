/* cmd.h - what the verbs of the `ufunc` tool share. A verb is a file of its own and a row of the table in main.c. */
#ifndef CMD_H
#define CMD_H

#include <ufunc.h>

/* Exit statuses. */
enum {
    DONE = 0,
    FAILED = 1,    /* the library or the system reported an error */
    BAD_USAGE = 2, /* the command line cannot be understood */
    HELP = -1      /* of parse functions: the usage is asked for; no status of the program */
};

typedef struct verb {
    const char *name;
    const char *arguments;             /* the usage line, after the name */
    const char *summary;               /* one line */
    const char *details;               /* the options, one a line, or "" */
    int (*run)(int argc, char **argv); /* argv[0] is the verb */
} verb;

int run_accumulate(int argc, char **argv);
int run_info(int argc, char **argv);
int run_inspect(int argc, char **argv);
int run_list(int argc, char **argv);
int run_reduce(int argc, char **argv);
int run_run(int argc, char **argv);

/* Says on stderr what is wrong with the command line; BAD_USAGE. */
int bad_usage(const char *verb_name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says on stderr why something failed, or what the library's last error is; FAILED. */
int failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
int library_failed(void);
/* Prints the usage of a verb; DONE. */
int print_usage(const char *verb_name);
/* Writes a text and a newline, if it has none at its end, to stdout, and releases it; DONE or FAILED. */
int print_text(char *text);

/* ---- Functions (function.c) ---- */

typedef struct function_request {
    const char *kernel, *what; /* one of them: a kernel, or what names or holds one */
    const char *signatures, *layout;
    unsigned fast, flags;
    int max_registers;
    int64_t max_steps;
} function_request;

/* Is it something for uf_load: a path that ends in .uf, or a name of the catalogue? */
bool is_function(const char *what);
/* Loads what is a function; else registers a kernel: that of -e, `what` itself if it has a '{', or the content of the file
 * `what` ("-": of standard input). *out is for uf_free. Errors are printed. */
int make_function(const function_request *r, const char *verb_name, uf_func **out);

/* ---- Values (value.c) ---- */

typedef struct element {
    const char *name; /* as the library writes it */
    char kind;        /* NumPy's letter, that of .npy files */
    uint8_t size;     /* bytes */
    uint8_t align;    /* bytes: of a complex number, its component's */
    DLDataType type;
} element;

enum {
    ELEMENTS = 15
};

extern const element elements[ELEMENTS];
/* NULL: there is none. */
const element *element_named(const char *name);
const element *element_of(DLDataType type);

/* A number of the command line. */
typedef struct number {
    const element *type;
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double f[2]; /* real, imaginary */
    } value;
} number;

/* Reads true, false, an integer (int64, else uint64), a floating or a complex number (1+2j). False: it is none of these. */
bool read_number(const char *text, number *out);
/* A 0-d array of the number, which must stay where it is. */
DLTensor number_tensor(number *n);
/* A count, and a list of integers, "0,-1"; *n is how many there are, at most `most`. False: something else is there. */
bool read_count(const char *text, int *out);
bool read_steps(const char *text, int64_t *out); /* a count from 1 on */
bool read_integers(const char *text, int most, int64_t *list, int *n);
/* cpu, cuda, cuda:N. */
bool read_device(const char *name, DLDevice *out);

/* Prints a C-contiguous host array: dtype, shape and elements, the middle of long ones left out; at rank 0 the element. */
void print_array(const DLTensor *array);

/* ---- .npy files (npy_header.c, npy_read.c, npy_write.c) ---- */

enum {
    WHY_SIZE = 256,         /* of the texts that say why, which name no file */
    NPY_HEADER_SIZE = 2048, /* the longest header that npy_format makes */
    NPY_PREFIX_SIZE = 12    /* bytes that say where a header ends; every file has more */
};

/* What a header says. */
typedef struct npy_header {
    const element *type;
    bool opaque;  /* the dtype was V2, which is what files say of bfloat16; type is that */
    bool swapped; /* not in the byte order of this machine */
    bool fortran;
    int ndim;
    int64_t shape[UF_MAX_NDIM];
    size_t offset, size; /* of the data, in bytes */
} npy_header;

/* Finds where the header ends and the data begins, from the first bytes of a file. */
bool npy_prefix(const unsigned char *bytes, size_t length, size_t *offset, char why[WHY_SIZE]);
/* Reads the header in the first bytes of a file, of which it needs no more than npy_prefix says. */
bool npy_parse(const unsigned char *bytes, size_t length, npy_header *out, char why[WHY_SIZE]);
/* Writes the header of a C-contiguous array; its length, a multiple of 64. */
size_t npy_format(const DLTensor *array, unsigned char to[NPY_HEADER_SIZE]);

/* An array that was read. */
typedef struct npy {
    DLTensor array; /* on the host, in this machine's byte order, not to be written */
    int64_t shape[UF_MAX_NDIM], strides[UF_MAX_NDIM];
    bool opaque;
    void *map; /* the file, or NULL */
    size_t mapped;
    void *memory; /* what could not be used in place, or NULL */
} npy;

/* Reads a file ("-": standard input), if it can by mapping it; with bfloat16, data of dtype V2 are that, else an error.
 * *out stays where it is and is for npy_close, which after a failure has nothing to do. */
bool npy_read(npy *out, const char *path, bool bfloat16, char why[WHY_SIZE]);
void npy_close(npy *file);
/* Writes a C-contiguous host array to a file ("-": standard output). One that is there is replaced once everything is
 * written, and left alone on failure. */
bool npy_write(const char *path, const DLTensor *array, char why[WHY_SIZE]);

/* ---- Calls (job.c, call.c) ---- */

/* The command line of a verb that computes. */
typedef struct job {
    const char *verb;
    function_request function;
    const char *signature; /* of a function that has its own, the one to be used, or NULL */
    int ninputs, noutputs;
    const char *inputs[UF_MAX_OPERANDS], *outputs[UF_MAX_OPERANDS];
    const element *dtype; /* of the outputs, or NULL */
    bool bfloat16;
    DLDevice device;
    int naxes, axes[UF_MAX_NDIM];
    bool has_axes, keepdims;
    int nshapes;
    const char *shapes[UF_MAX_OPERANDS]; /* of the outputs, lists of integers */
    int ninitial;
    number initial[UF_MAX_STATE];
    const char *where;
    int threads;
    unsigned flags;
} job;

/* The verbs that have an option, by which the rows of a table in job.c are marked. */
enum {
    RUN = 1,
    REDUCE = 2,
    ACCUMULATE = 4
};

/* Reads the command line of one of these verbs; DONE, HELP or BAD_USAGE. */
int read_job(job *out, int verb_bit, int argc, char **argv);

/* A job at work. */
typedef struct call {
    const job *job;
    uf_func *func;
    uf_description about;
    int nin, nargs; /* of the call: a function of two inputs reduces one */
    DLTensor args[UF_MAX_OPERANDS];
    npy files[UF_MAX_OPERANDS]; /* of the inputs */
    number numbers[UF_MAX_OPERANDS];
    int64_t shapes[UF_MAX_OPERANDS][UF_MAX_NDIM]; /* of the outputs */
    npy where;
    number initial[UF_MAX_STATE];
    DLTensor initials[UF_MAX_STATE];
    const DLTensor *mask;
    DLManagedTensor *made[UF_MAX_OPERANDS]; /* the outputs, on the host */
} call;

/* What a verb does with its arguments. */
typedef struct method {
    int bit;
    bool stages;                 /* compute takes host arrays to job->device by itself */
    const char *(*fit)(call *c); /* sets nin; why the function is none for the verb, or NULL */
    uf_status (*infer)(call *c); /* dtypes and shapes of the outputs */
    uf_status (*compute)(call *c);
} method;

/* The `fit` of verbs that fold (reduce.c). */
const char *fit_reducing(call *c);

/* Reads the inputs, computes, and writes or prints the outputs; a status of the program. */
int run_method(const method *m, int argc, char **argv);

#endif
