/* type.h - dtypes, casting, promotion, signatures. */
#ifndef UF_TYPE_H
#define UF_TYPE_H

#include "base/base.h"

/* ORDER dtype: type/dtype.c's table, and the promotion table in it. */
typedef enum dtype {
    DT_BOOL,
    DT_INT8,
    DT_INT16,
    DT_INT32,
    DT_INT64,
    DT_UINT8,
    DT_UINT16,
    DT_UINT32,
    DT_UINT64,
    DT_FLOAT16,
    DT_BFLOAT16,
    DT_FLOAT32,
    DT_FLOAT64,
    DT_COMPLEX64,
    DT_COMPLEX128,
    DT_COUNT,
    DT_NONE = 255
} dtype;

typedef enum dtype_kind {
    DK_BOOL,
    DK_INTEGER,
    DK_FLOATING,
    DK_COMPLEX
} dtype_kind; /* in order of generality */

typedef struct dtype_info {
    const char *name; /* "float32" */
    char code;        /* NumPy's, 'f'; bfloat16 has 'E' */
    uint8_t size;     /* bytes */
    uint8_t align;    /* bytes: the size, for complex that of the component */
    uint8_t kind;     /* dtype_kind */
    uint8_t is_signed;
    uint8_t component; /* dtype of a complex's parts; itself for the others */
    DLDataType dl;
} dtype_info;
extern const dtype_info dtypes[DT_COUNT];

static inline bool dtype_is_integer(dtype t) { return t >= DT_INT8 && t <= DT_UINT64; }
static inline bool dtype_is_floating(dtype t) { return t >= DT_FLOAT16 && t <= DT_FLOAT64; }
static inline bool dtype_is_complex(dtype t) { return t == DT_COMPLEX64 || t == DT_COMPLEX128; }
static inline bool dtype_is_half(dtype t) { return t == DT_FLOAT16 || t == DT_BFLOAT16; }

/* By DLPack code and log2 of the bytes, one more than the dtype. */
extern const uint8_t dtype_by_dl[UF_BOOL_CODE + 1][5];
/* DT_NONE if it is none of ours (lanes other than 1 included). Each call asks for every argument. */
static inline dtype dtype_of_dl(DLDataType type) {
    unsigned bits = type.bits;
    bool known = type.code <= UF_BOOL_CODE && type.lanes == 1 && bits >= 8 && (bits & (bits - 1)) == 0;
    unsigned found = known ? dtype_by_dl[type.code][__builtin_ctz(bits) - 3] : 0;
    return found ? (dtype)(found - 1) : DT_NONE;
}
dtype dtype_of_name(const char *name, size_t length);          /* "float32"; DT_NONE if unknown */
dtype dtype_of_code(char code);                                /* NumPy's type character; DT_NONE if unknown */
bool dtype_can_cast(dtype from, dtype to, uf_casting casting); /* UF_CAST_DEFAULT is same_kind */
dtype dtype_promote(dtype a, dtype b);                         /* NumPy's promotion; DT_NONE never occurs */
const char *casting_name(uf_casting casting);                  /* "same_kind" */

/* A value of any dtype on the host. Integers as themselves, floats as double, complex as two doubles; halves are held as
 * double too. */
typedef struct number {
    dtype type;
    union {
        int64_t i;   /* signed */
        uint64_t u;  /* bool, unsigned */
        double f[2]; /* floating: f[0]; complex: f[0] + i f[1] */
    } as;
} number;
/* Reads an element. data need not be aligned. */
number number_read(dtype type, const void *data);
/* Converts as kernel C does (saturating float to integer, wrapping integer to integer) and writes an element. */
void number_write(number value, dtype type, void *data);
/* True if an integer number fits the integer dtype exactly, or type is not an integer. */
bool number_fits(number value, dtype type);
/* The narrowest signed dtype that holds an integer number, else uint64. */
dtype number_holder(number value);
/* float32/64 <-> halves, rounding to nearest even once. */
uint16_t half_of_double(double value);
/* value rounded to float32. A call, as gcc 12 forgets the rounding where it makes vectors of two of them in a row (-O2, -O3). */
double rounded_to_single(double value);
double half_to_double(uint16_t bits);
uint16_t bfloat16_of_double(double value);
double bfloat16_to_double(uint16_t bits);

/* A list of signatures with one arity. types[s * (nin + nout) + k] is operand k of signature s. Of kernels over indices it is
 * one of parameter lists: nout is 0, and each parameter has a rank, 0 for a number, in the place of its dtype. */
typedef struct signature_list {
    int count, nin, nout;
    dtype *types;
    uint8_t *ranks;   /* NULL: no kernel over indices */
    uint8_t *indices; /* and then: how many the kernel of each list has */
} signature_list;

/* Parses a list in any of the three spellings into arena memory. Separators are ';' and newline; blanks go anywhere;
 * empty entries are passed over, an empty list is an error. All signatures must have the same nin and nout (as found in
 * the first); duplicates are an error, two that differ in their outputs alone are not. nin may be 0, nout is at least 1.
 * Errors: SYNTAX with caret, MEMORY. */
uf_status signatures_parse(arena *a, const char *text, signature_list *out);
/* One signature, in any of the three spellings; allocates nothing. Inputs, then outputs. */
uf_status signature_parse(const char *text, dtype types[UF_MAX_OPERANDS], int *nin, int *nout);
/* Input dtypes only: "float32,float32" or "ff", none if empty; *count is their number, at most UF_MAX_OPERANDS. */
uf_status types_parse(const char *text, dtype *types, int *count);
/* Lists of `width` dtypes each, "float32,int64; float64,int64", separated like signatures. Errors: SYNTAX with caret, MEMORY. */
uf_status type_lists_parse(arena *a, const char *text, int width, dtype **types, int *count);
/* "float32,float32->float32"; without the arrow if nout is 0. */
enum {
    SIGNATURE_TEXT = UF_MAX_OPERANDS * sizeof "complex128" + sizeof "->"
};
void signature_format(char buffer[SIGNATURE_TEXT], const dtype *types, int nin, int nout);
void signature_print(text *out, const dtype *types, int nin, int nout);

/* ---- Layouts of generalized ufuncs (layout.c) ---- */

enum {
    LAYOUT_MAX_RANK = 8, /* core dimensions of an operand */
    LAYOUT_MAX_DIMS = 64 /* different core dimensions of a function */
};

/* One step of a computed size, for a stack: a number, the size of another dimension, or an operator on the last two. */
typedef struct layout_step {
    char op; /* 'n' value, 'd' dim, '+', '-', '*', '/' */
    int dim;
    int64_t value;
} layout_step;

/* A core dimension: a name, wherever it occurs; a frozen size, wherever it occurs; or a computed size, each for itself unless
 * it is spelled alike. */
typedef struct layout_dim {
    const char *name;         /* NULL: frozen or computed */
    int64_t frozen;           /* the size, at least 1; 0: not frozen */
    const layout_step *steps; /* computed: in terms of named dimensions; else NULL */
    int nsteps;
    bool optional;    /* "n?" (then every occurrence is) */
    bool output_only; /* a name that no input has: known from the outputs alone */
} layout_dim;

typedef struct layout_operand {
    uint8_t rank;
    uint8_t dim[LAYOUT_MAX_RANK];  /* index into dims, outermost first */
    bool stretch[LAYOUT_MAX_RANK]; /* "|1": an extent of 1 broadcasts to the size */
    int strides;                   /* index of its first stride among the core words */
} layout_operand;

/* Core words are what a call makes of a layout: the size of each dimension (1 for an optional one that is missing), then the
 * core strides, in elements, of each operand in turn (0 where the extent is 1, so also for missing and stretched ones). */
typedef struct core_layout {
    int nin, nout, ndims, nwords;
    /* 0: a generalized ufunc. Else a kernel over so many indices, whose parameters are the operands, all inputs, arrays read and
     * written in place; the indices follow them as operands of rank 0, outermost first. Dimensions 0 .. nindices-1 are the
     * extents of the index space; each dimension of an array is one of its own. No dimension has a name. */
    int nindices;
    const layout_dim *dims;
    const layout_operand *operands; /* inputs, then outputs */
} core_layout;

/* That of elementwise functions where they stand in as generalized ufuncs: any number of operands without core dimensions. */
extern const core_layout layout_scalars;
/* The number of elements of operand k's core. */
static inline int64_t core_elements(const core_layout *l, const int64_t *core, int k) {
    int64_t n = 1;
    for (int d = 0; d < l->operands[k].rank; d++)
        n *= core[l->operands[k].dim[d]];
    return n;
}

/* Parses a layout into arena memory. Errors: SYNTAX with caret (each of NumPy's, and ours), MEMORY. */
uf_status layout_parse(arena *a, const char *source, core_layout *out);
/* The canonical spelling, "(m,n),(n)->(m)"; parsing it gives the same layout. */
void layout_print(text *out, const core_layout *l);
/* A computed size from those of the names; false if it divides by zero, overflows or is negative. *value is then 0,
 * INT64_MAX or the negative number. */
bool layout_compute(const layout_dim *d, const int64_t *sizes, int64_t *value);
/* "n", "3", "m+n-1": how errors call dimension d. */
void layout_dim_print(text *out, const core_layout *l, int d);

/* ---- Parameters of kernels over indices (parameters.c) ---- */

/* Parses "float64[], float64[,], int32; float32[], float32[,], int32" into arena memory: a dtype by name, or a code of NumPy's,
 * and for arrays brackets, whose rank is one more than the commas in them, at most LAYOUT_MAX_RANK. Separators and blanks as
 * for signatures; a text without entries is one list without parameters. `indices` is left to the caller. Errors: SYNTAX with
 * caret (lists of another length than the first, duplicates), MEMORY. */
uf_status parameters_parse(arena *a, const char *text, signature_list *out);
/* One list; allocates nothing. */
uf_status parameter_list_parse(const char *text, dtype types[UF_MAX_OPERANDS], uint8_t ranks[UF_MAX_OPERANDS],
                               int *nparams);
/* "float64[,], int32" */
enum {
    PARAMETER_TEXT = sizeof "complex128" + LAYOUT_MAX_RANK + 1,
    PARAMETERS_TEXT = UF_MAX_OPERANDS * (PARAMETER_TEXT + 1)
};
void parameter_format(char buffer[PARAMETER_TEXT], dtype type, int rank);
void parameters_format(char buffer[PARAMETERS_TEXT], const dtype *types, const uint8_t *ranks, int nparams);
/* Signature s of a list in its canonical spelling. */
enum {
    ENTRY_TEXT = PARAMETERS_TEXT /* no signature is longer */
};
void signature_list_format(char buffer[ENTRY_TEXT], const signature_list *list, int s);
/* The layout of a kernel with these parameters over so many indices, in arena memory. Errors: SYNTAX (more dimensions than
 * LAYOUT_MAX_DIMS), MEMORY. */
uf_status parameters_layout(arena *a, const uint8_t *ranks, int nparams, int nindices, core_layout *out);

/* ---- Choosing a signature (dispatch.c) ---- */

/* What dispatch knows of one input. */
typedef struct dispatch_input {
    dtype type;
    bool is_number; /* a 0-d host array */
    int rank;       /* of an array, for kernels over indices */
    number value;   /* of a number */
} dispatch_input;

/* The dtype that a weak number counts as beside arrays of which `arrays` is the most general kind: int64, float64 or complex128
 * where its kind exceeds theirs (complex does not exceed floating); DT_NONE: it counts by its kind alone. */
dtype number_counts_as(dtype type, dtype_kind arrays);

/* Chooses among list for the inputs: see uf_call. *chosen is the index of the signature. Nothing is allocated.
 * Numbers are weak unless UF_STRONG_NUMBERS is set or no input is an array: they count as number_counts_as says, or match every
 * operand of their kind or a more general one; under a forced signature all do. Values take no part in the choice (it holds for
 * all calls with these dtypes) as long as the integer dtypes so chosen for them hold them. Where one does not, the number counts
 * as its number_holder, and what is chosen then must have the same outputs. A value of 0 fits always.
 * casting: UF_CAST_NO and UF_CAST_EQUIV narrow the match of arrays, others do not matter.
 * forced (may be NULL): a signature text that must be in the list; inputs must then cast to it under `casting`.
 * Errors: SIGNATURE (every signature with the first argument that does not fit; forced: not in the list), CAST (a weak
 * integer does not fit; forced: an input does not cast), SYNTAX (forced). */
uf_status dispatch(const char *name, const signature_list *list, const dispatch_input *inputs, unsigned flags,
                   uf_casting casting, const char *forced, int *chosen);
/* The same for kernels over indices, among the lists of those that have so many. An array matches an array of its dtype and
 * rank alone; where one does not match that is forced, the error is SIGNATURE. Where no list takes all numbers as what they count
 * as, they count by their kinds. */
uf_status dispatch_kernel(const char *name, const signature_list *list, int nindices, const dispatch_input *inputs,
                          unsigned flags, const char *forced, int *chosen);

#endif
