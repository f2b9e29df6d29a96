/* cmd.h - what the verbs of the tool `ufunc` share. Each verb is a file of its own, and a row of the table in verbs.c.
 * The tool uses the public header only, and of the library's own code the distance of words. */
#ifndef CMD_H
#define CMD_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ufunc.h>

/* Exit statuses. */
enum {
    DONE = 0,
    FAILED = 1,    /* the library or the system reported an error */
    BAD_USAGE = 2, /* the command line cannot be understood */
    HELP = -1      /* returned by functions that read a command line: it asks for the usage */
};

typedef struct job job;

/* ---- Verbs (verbs.c) ---- */

/* Bits for the verbs, by which the table of options says which verbs have an option. */
enum {
    INFO = 1,
    LIST = 2,
    INSPECT = 4,
    RUN = 8,
    OUTER = 0x10,
    FORALL = 0x20,
    AT = 0x40,
    REDUCE = 0x80,
    ACCUMULATE = 0x100,
    REDUCEAT = 0x200,
    BENCH = 0x400,
    CALLS = RUN | OUTER | AT | REDUCE | ACCUMULATE | REDUCEAT, /* those that run functions with inputs and outputs */
    COMPUTING = CALLS | FORALL
};

typedef struct verb {
    const char *name;
    unsigned bit;
    const char *arguments; /* what follows the name in the usage line */
    const char *summary;   /* one line that says what the verb does */
    const char *details;   /* lines that say more about it alone, or "" */
    const char *examples;  /* command lines, which end with a newline each, or "" */
    bool function;         /* the first operand is the function */
    int most;              /* largest number of operands behind it */
    int (*run)(const job *j);
} verb;

/* Entry i of the table, in the order of the help; NULL past its end. */
const verb *verb_at(int i);
/* NULL: there is none. */
const verb *verb_named(const char *name);
/* The name that is like this one: of a verb that has another name elsewhere, or is misspelt; NULL: none is. */
const char *verb_like(const char *name);

int run_accumulate(const job *j);
int run_at(const job *j);
int run_bench(const job *j);
int run_forall(const job *j);
int run_info(const job *j);
int run_inspect(const job *j);
int run_list(const job *j);
int run_outer(const job *j);
int run_reduce(const job *j);
int run_reduceat(const job *j);
int run_run(const job *j);

/* A paragraph about what several verbs have in common; lines. */
typedef struct note {
    unsigned verbs;
    const char *text;
} note;

/* Entry i of the table; NULL past its end. */
const note *note_at(int i);

/* A page of the manual about several verbs. */
typedef struct page {
    const char *name, *summary;
    unsigned verbs;
} page;

/* Entry i of the table; NULL past its end. */
const page *page_at(int i);

/* ---- Help and messages (help.c, messages.c, wording.c, nearest.c) ---- */

typedef struct exit_status {
    const char *status, *meaning;
} exit_status;

/* Entry i of the table; NULL past its end. */
const exit_status *exit_status_at(int i);
extern const char tool_purpose[];

void print_overview(FILE *to);
void print_help(const verb *v);
/* Prints a page of the manual: of "ufunc", or of "ufunc-run" and the other groups and verbs. False: there is none. (man.c) */
bool print_man(const char *name);
/* Prints what a shell, bash or zsh, needs for completion. False: it is another shell. (completion.c) */
bool print_completion(const char *shell);

/* Writes to stderr what is wrong with the command line; BAD_USAGE. */
int bad_usage(const char *verb_name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Write to stderr why something failed, or the library's last error in the words of the tool; FAILED. argument: what the argument
 * that the error is about is on the command line. */
int failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
int library_failed(unsigned verb_bit);
int argument_failed(unsigned verb_bit, const char *argument);
/* Writes a text to stdout, adds a newline if it has none at its end, and frees it; DONE. */
int print_text(char *text);

/* A message of the library, in which the names of C functions, options and flags are those of verbs and options. The text is
 * static, and stays until the next call. */
const char *worded(const char *message);
/* What helps on the command line of a verb when the library says this; NULL: nothing that is known here. */
const char *advice(const char *message, unsigned verb_bit);

/* How many letters must be inserted, removed, changed, or swapped with their neighbours, to make one name of the other. */
int letters_apart(const char *a, const char *b);
/* Is a name so near to the one that was meant that it may be a slip? */
bool is_near(const char *given, const char *name);

/* ---- Progress and signals (progress.c, signals.c) ---- */

/* Begins to watch work on so many elements, if it is wanted: from a second on a line of the terminal says how far it is. One work at
 * a time. */
void progress_begin(const char *what, int64_t total, const char *unit);
/* Where a call is to say which share of it is done (uf_options.progress). */
volatile double *progress_share(void);
void progress_end(void);
/* Wipes the line away, if there is one; may be called by the handler of a signal. */
void progress_wipe(void);
double seconds_now(void);
/* A number with three digits and a unit with its prefix, "1.07 GB". */
void scaled_text(double value, const char *unit, char to[32]);

/* Has signals that end the program clean up first: the line of progress, and the temporary file. */
void signals_watch(void);
/* Names that file; NULL: there is none. Between making it and naming it, signals are to be held. */
void signals_temporary(const char *path);
void signals_hold(bool hold);

/* ---- Functions (function.c) ---- */

typedef struct function_request {
    const char *kernel, *what; /* one of them: a kernel, or something that names or holds a function */
    const char *signatures, *layout;
    unsigned fast, flags;
    int max_registers;
    int64_t max_steps;
    bool derived; /* its derivative by that input is meant */
    int input;
} function_request;

/* Does uf_load load it, because it is a path that ends in .uf, or a name of the catalogue? */
bool is_function(const char *what);
/* Loads `what` if it is a function; else registers a kernel: that of -e, or `what` itself if it is one or a formula, or the
 * content of the file `what` ("-": of standard input). *out is to be released with uf_free. Errors are printed. */
int make_function(const function_request *r, const verb *v, uf_func **out);

/* The kernel that an expression stands for: "(x, y) { return x * y; }" of "x * y", whose names are the parameters, in the order in
 * which they appear. The functions of the catalogue that it calls, and kernel C has not, are in front: "use softplus; ". Released with free. NULL: out of memory. (formula.c) */
char *formula_kernel(const char *expression);
/* A copy in which the comments of kernel C are blanks, released with free. NULL: out of memory. */
char *without_comments(const char *text);
/* Could the text be an expression, and not the path of a file? */
bool is_formula(const char *text);

/* ---- Dtypes and values (value.c) ---- */

typedef struct dtype_row {
    const char *name; /* the library's name */
    char kind;        /* the letter that .npy files have for its kind */
    uint8_t size;     /* bytes */
    uint8_t align;    /* bytes; of a complex dtype those of its component */
    DLDataType type;
} dtype_row;

enum {
    DTYPES = 15
};

extern const dtype_row dtype_rows[DTYPES];
/* NULL: there is none. */
const dtype_row *dtype_named(const char *name);
/* A dtype as a command line has it: by its name, or as NumPy has it, "f4". NULL: it is none. */
const dtype_row *dtype_given(const char *name);
const dtype_row *dtype_of(DLDataType type);

/* A number of the command line. */
typedef struct number {
    const dtype_row *type;
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double f[2]; /* real, imaginary */
    } value;
} number;

/* Reads true, false, an integer (int64, or uint64 if it does not fit that), a floating number or a complex one (1+2j).
 * False: the text is none of these. */
bool read_number(const char *text, number *out);
/* A 0-d array whose data are the number's: the number must not move. */
DLTensor number_tensor(number *n);
/* Entry i of the list of names; NULL past its end. */
const char *dtype_choice(int i);
const char *casting_choice(int i);
const char *device_choice(int i);
const char *way_choice(int i); /* the verbs that `ufunc bench` measures (bench.c) */
/* A casting rule of NumPy's. */
bool read_casting(const char *name, uf_casting *out);
/* A count from 0 on; a number of steps from 1 on; a list of at most `most` integers, "0,-1", whose number is *n. False:
 * the text is something else. */
bool read_count(const char *text, int *out);
bool read_steps(const char *text, int64_t *out);
bool read_integers(const char *text, int most, int64_t *list, int *n);
/* cpu, cuda, cuda:N. */
bool read_device(const char *name, DLDevice *out);

/* Prints a C-contiguous host array: dtype, shape and elements, with the middle of long dimensions left out; of an array
 * of rank 0 only the element. */
void print_array(const DLTensor *array);

enum {
    CELL = 64 /* bytes of the text of one element */
};

/* Writes element i of a C-contiguous host array as text that reads back to the same value; its length. */
int format_element(const DLTensor *array, int64_t i, char to[CELL]);

/* ---- .npy files (npy_header.c, npy_read.c, npy_write.c) ---- */

enum {
    WHY_SIZE = 256,          /* bytes of a text that says why; it does not name the file */
    NPY_FIELDS_SIZE = 2048,  /* bytes of the longest text that says which scalars a record has */
    NPY_DESCR_SIZE = 8192,   /* bytes of the longest descr of records that is written */
    NPY_HEADER_SIZE = 12288, /* bytes of the longest header that npy_format makes */
    NPY_PREFIX_SIZE = 12     /* bytes at the beginning of a file that say where its header ends */
};

/* refuse(why, format, ..) writes a text to `why`; false. Analysers see that, as they would not of a function that takes `..`. */
static inline bool refused(int length) { return (void)length, false; }
#define refuse(why, ...) refused(snprintf(why, WHY_SIZE, __VA_ARGS__))
static inline bool refuse_by_errno(char why[WHY_SIZE]) { return refuse(why, "%s", strerror(errno)); }

/* What a header says. */
typedef struct npy_header {
    const dtype_row *type; /* of records: uint8 */
    int element;           /* bytes of an element, which for records are more than those of the type */
    /* Of records: where their scalars are, "f8@0;f8@8;"; else "". */
    char fields[NPY_FIELDS_SIZE];
    bool opaque;  /* the dtype in the file is V2, which is how bfloat16 is written; `type` is bfloat16 */
    bool swapped; /* the data are in the other byte order than this machine's */
    bool fortran;
    int ndim;
    int64_t shape[UF_MAX_NDIM];
    size_t offset, size; /* of the data, in bytes */
} npy_header;

/* Finds where the header ends and the data begin, from the first bytes of a file. */
bool npy_prefix(const unsigned char *bytes, size_t length, size_t *offset, char why[WHY_SIZE]);
/* Reads the header from the first bytes of a file, of which as many are enough as npy_prefix says. */
bool npy_parse(const unsigned char *bytes, size_t length, npy_header *out, char why[WHY_SIZE]);
/* Writes the header of a C-contiguous array, and returns its length, a multiple of 64. descr: of records, "[('lo', '<f8'), ..]", of
 * less than NPY_DESCR_SIZE bytes; else NULL. */
size_t npy_format(const DLTensor *array, const char *descr, unsigned char to[NPY_HEADER_SIZE]);

/* An array that was read from a file. */
typedef struct npy {
    DLTensor array; /* on the host, in this machine's byte order, and read-only */
    int64_t shape[UF_MAX_NDIM], strides[UF_MAX_NDIM];
    char fields[NPY_FIELDS_SIZE]; /* as in the header */
    bool opaque;
    void *map; /* the file's mapping, or NULL */
    size_t mapped;
    void *memory; /* the data, where they could not be used as they are in the file, or NULL */
} npy;

/* Reads a file ("-": standard input), by mapping it if that is possible. bfloat16: data of dtype V2 are bfloat16;
 * without it they are an error. *out must not move, and is to be released with npy_close, which is not necessary after
 * a failure. */
bool npy_read(npy *out, const char *path, bool bfloat16, char why[WHY_SIZE]);
void npy_close(npy *file);
/* All bytes of a file ("-": standard input), for forms other than .npy: mapped if that is possible, else read. They are released
 * with npy_close, also after a failure. */
bool npy_bytes(npy *out, const char *path, const unsigned char **bytes, size_t *length, char why[WHY_SIZE]);
/* Is it said what the data are? Of dtype V2 they are bfloat16 if the command line has that. */
bool npy_known(const npy_header *h, bool bfloat16, char why[WHY_SIZE]);
/* Makes the array that a header describes of data in out->map, out->memory or elsewhere. */
bool npy_take(npy *out, const npy_header *h, const unsigned char *data, char why[WHY_SIZE]);
/* Lets the array be changed, but not the file. False: errno says why. */
bool npy_make_writable(npy *file);
/* How an array is written to an open file. descr: of records, else NULL. False: errno says why. */
typedef bool array_writer(int to, const DLTensor *array, const char *descr);
array_writer npy_put, raw_put, csv_put, tsv_put, txt_put;
/* Writes all bytes, and goes on after interruptions. False: errno says why. */
bool write_all(int to, const void *data, size_t size);
/* Writes a C-contiguous host array to a file ("-": standard output). An existing file is replaced once everything is
 * written, and is unchanged after a failure; what cannot be replaced, or is open for writing already, is written to. descr: as
 * above. */
bool write_with(array_writer *writer, const char *path, const DLTensor *array, const char *descr, char why[WHY_SIZE]);
/* Could an array be written to that path, as far as can be known without writing? */
bool path_accepts(const char *path, char why[WHY_SIZE]);
/* The full name of the file that writing to the path replaces or makes, released with free. NULL: it does neither, or there is no
 * such folder, or no memory. */
char *file_replaced(const char *path);

/* ---- Files of all forms (forms.c) ---- */

/* Reads the array that a text of the command line names: a PATH, whose form its suffix says, or PATH:FORM. As npy_read. */
bool file_read(npy *out, const char *text, bool bfloat16, char why[WHY_SIZE]);
/* Can an array of that rank, of records or of numbers, be written to a PATH, or PATH:FORM, as far as its form goes, and as
 * path_accepts? */
bool file_accepts(const char *text, int ndim, bool records, char why[WHY_SIZE]);
/* Writes an array to a PATH, or PATH:FORM, as write_with. */
bool file_write(const char *text, const DLTensor *array, const char *descr, char why[WHY_SIZE]);

/* Do two such texts name one file, or one standard output, so that the second output would take the place of the first? */
bool same_output(const char *a, const char *b);

/* Does a text name a file of data, by what stands behind its colon, its suffix or its first bytes? One of text may also hold a
 * kernel. */
bool names_data(const char *text);

/* ---- Raw data, text, archives (raw.c, text_read.c, text_write.c, zip.c, npz.c) ---- */

/* Reads DTYPE[N,..], with -1 for an extent that the data say, [] for one such, "<" or ">" before the dtype, and @BYTES behind it,
 * where the data begin. */
bool raw_parse(const char *form, npy_header *out);
bool raw_read(npy *out, const char *path, const npy_header *form, char why[WHY_SIZE]);
/* Reads numbers in rows and columns. */
bool text_read(npy *out, const char *path, char why[WHY_SIZE]);
/* Reads an array of a .npz file; member NULL: the only one. */
bool npz_read(npy *out, const char *path, const char *member, bool bfloat16, char why[WHY_SIZE]);

/* A file in a zip archive. */
typedef struct zip_member {
    const char *name; /* not terminated */
    size_t name_length;
    const unsigned char *data; /* as stored */
    size_t packed, size;       /* bytes as stored, and of the file */
    int method;                /* 0: stored, 8: deflated */
    uint32_t crc;
} zip_member;

/* The members of an archive, one after the other. */
typedef struct zip_walk {
    const unsigned char *bytes, *at, *end; /* the archive; what is left of its directory */
    size_t length;
    uint64_t left; /* entries */
} zip_walk;

bool zip_open(zip_walk *out, const unsigned char *bytes, size_t length, char why[WHY_SIZE]);
/* 1, or 0 if there is no further member, or -1: the archive is damaged. */
int zip_next(zip_walk *z, zip_member *out, char why[WHY_SIZE]);
/* Unpacks a deflated member, whose size is what the directory says, into memory of its own, released with free. NULL: why. */
unsigned char *zip_unpack(const zip_member *m, char why[WHY_SIZE]);
/* Are the bytes of the file those that the directory has the checksum of? */
bool zip_intact(const zip_member *m, const unsigned char *file, char why[WHY_SIZE]);

/* Bytes of an element of any array. */
static inline size_t element_bytes(DLDataType t) { return (size_t)t.bits / 8 * t.lanes; }

/* The number of elements of an array that is there, so that it does not overflow; and their bytes. */
static inline int64_t array_elements(const DLTensor *t) {
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++)
        n *= t->shape[d];
    return n;
}

static inline size_t array_bytes(const DLTensor *t) { return (size_t)array_elements(t) * element_bytes(t->dtype); }

/* ---- Command lines (options.c) ---- */

/* A command line. */
struct job {
    const verb *verb;
    function_request function;
    const char *signature; /* of a function that has signatures of its own: the one that is to be used, or NULL */
    int ninputs, noutputs;
    const char *inputs[UF_MAX_OPERANDS], *outputs[UF_MAX_OPERANDS];
    const char *types;      /* of the inputs of code that is looked at, or NULL */
    const dtype_row *dtype; /* of the outputs; NULL: the function's */
    bool bfloat16;
    DLDevice device;
    uf_view view;
    uf_casting casting;
    int naxes, axes[UF_MAX_NDIM];
    bool has_axes, keepdims;
    int nlists; /* of axes, for each argument */
    const char *lists[UF_MAX_OPERANDS];
    int nshapes;
    const char *shapes[UF_MAX_OPERANDS]; /* each is a list of integers */
    int ninitial;
    number initial[UF_MAX_STATE];
    const char *where, *starts, *way;
    int threads, block, elements;
    unsigned flags;
};

/* An option. */
typedef struct option_row {
    const char *name;
    char letter; /* of the short option, or 0 */
    unsigned verbs;
    const char *value; /* what stands for the value in the help; NULL: the option has none */
    const char *needs; /* what the value must be, for messages */
    const char *help;  /* lines */
    bool (*take)(job *j, const char *value);
    const char *(*choice)(int i); /* entry i of the list of possible values; NULL: there is no such list */
} option_row;

/* Entry i of the table, in the order of the help; NULL past its end. */
const option_row *option_at(int i);
/* Reads the command line of a verb, whose name is argv[0]; DONE, HELP or BAD_USAGE. */
int read_job(job *out, const verb *v, int argc, char **argv);

/* ---- Calls (call.c) ---- */

/* A command line that is being executed. */
typedef struct call {
    const job *job;
    uf_func *func;
    uf_description about;
    int nin, nargs;    /* of the call: a binary function that reduces has one input */
    int ninputs_named; /* so many of the first inputs are the arguments that the library's errors name, from 0 on */
    DLTensor args[UF_MAX_OPERANDS];
    npy files[UF_MAX_OPERANDS]; /* of the inputs */
    number numbers[UF_MAX_OPERANDS];
    int64_t shapes[UF_MAX_OPERANDS][UF_MAX_NDIM]; /* of the outputs */
    npy where, starts;
    number initial[UF_MAX_STATE];
    DLTensor initials[UF_MAX_STATE];
    const DLTensor *mask;
    DLManagedTensor *made[UF_MAX_OPERANDS]; /* the outputs, which are on the host */
} call;

/* Does a signature of the function, or the one asked for, have records with the scalars that the input files say? (structured.c) */
bool records_fit(const call *c);
/* Writes the descr of argument k, which has records: those of such a signature. False: there is none. */
bool record_descr(const call *c, int k, char descr[NPY_DESCR_SIZE]);

/* How a verb computes. */
typedef struct method {
    bool stages;                 /* `compute` copies host arrays to job->device and back by itself (UF_STAGE) */
    const char *(*fit)(call *c); /* sets nin; returns why the verb cannot use the function, or NULL */
    uf_status (*infer)(call *c); /* sets dtypes and shapes of the outputs */
    uf_status (*compute)(call *c);
    /* Must input k, a number, be copied to the device? NULL: none must, since numbers travel by value. */
    bool (*moves_number)(const call *c, int k);
} method;

extern const method call_method, outer_method, reduce_method, accumulate_method;

/* The `fit` of the verbs that reduce (reduce.c). */
const char *fit_reducing(call *c);
/* Options that all calls with uf_options have. */
uf_options call_options(const call *c);
/* The axis on the command line, or the first one. */
int first_axis(const call *c);

/* Reads one input: a number, whose value *n holds, or a file. Errors are printed. */
int read_input(const job *j, const char *text, number *n, npy *file, DLTensor *out);
/* Can an array of that rank, of records or of numbers, be delivered? Errors are printed. */
int check_delivery(const char *path, int ndim, bool records);
/* Prints an array, or writes it to the file of that name, if there is one. descr: as for file_write. Errors are printed. */
int deliver(const char *path, const DLTensor *array, const char *descr);
/* A copy of an array, of its dtype, on a device, with its content or without. */
uf_status device_copy(DLManagedTensor **copy, DLDevice device, const DLTensor *t, bool content);
/* Prints the library's last error; if it is about an argument that the command line has, also which that is. */
int call_failed(const call *c);

/* An empty call, NULL if there is no memory; what is in a call is released with it. */
call *call_new(const job *j);
void call_free(call *c);
void release(DLManagedTensor **copies, int n);

/* Reads the inputs, computes, and writes or prints the outputs. Returns the program's exit status. */
int run_method(const method *m, const job *j);

#endif
