/* type.h - dtypes and numbers of them; casting and promotion; the texts of signatures, of layouts and of parameter
 * lists; and which signature a call's inputs select. */
#ifndef UF_TYPE_H
#define UF_TYPE_H

#include "base/base.h"

/* The tables of type/dtype.c follow this order, and so do all others that are marked ORDER dtype. */
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
} dtype_kind; /* from the least to the most general */

typedef struct dtype_info {
    const char *name; /* "float32" */
    char code;        /* NumPy's type character, 'f'; bfloat16, which NumPy lacks, has 'E' */
    uint8_t size;     /* bytes */
    uint8_t align;    /* bytes: the size; of a complex dtype, that of its component */
    uint8_t kind;     /* dtype_kind */
    uint8_t is_signed;
    uint8_t component; /* dtype of a complex one's parts; itself for the others */
    DLDataType dl;
} dtype_info;
extern const dtype_info dtypes[DT_COUNT];

static inline bool dtype_is_integer(dtype t) { return t >= DT_INT8 && t <= DT_UINT64; }
static inline bool dtype_is_floating(dtype t) { return t >= DT_FLOAT16 && t <= DT_FLOAT64; }
static inline bool dtype_is_complex(dtype t) { return t == DT_COMPLEX64 || t == DT_COMPLEX128; }
static inline bool dtype_is_half(dtype t) { return t == DT_FLOAT16 || t == DT_BFLOAT16; }

/* The dtype plus 1 (0: none), by DLPack's type code and log2 of the bytes. */
extern const uint8_t dtype_by_dl[UF_BOOL_CODE + 1][5];
/* DT_NONE: none of these; lanes must be 1. Inline, because every call looks up each of its arguments. */
static inline dtype dtype_of_dl(DLDataType type) {
    unsigned bits = type.bits;
    bool known = type.code <= UF_BOOL_CODE && type.lanes == 1 && bits >= 8 && (bits & (bits - 1)) == 0;
    unsigned found = known ? dtype_by_dl[type.code][__builtin_ctz(bits) - 3] : 0;
    return found ? (dtype)(found - 1) : DT_NONE;
}
dtype dtype_of_name(const char *name, size_t length);          /* "float32"; DT_NONE if unknown */
dtype dtype_of_code(char code);                                /* by NumPy's type character; DT_NONE if unknown */
bool dtype_can_cast(dtype from, dtype to, uf_casting casting); /* UF_CAST_DEFAULT is same_kind */
dtype dtype_promote(dtype a, dtype b);                         /* NumPy's promotion, defined for every pair */
const char *casting_name(uf_casting casting);                  /* "same_kind" */
uf_casting casting_least(dtype from, dtype to);                /* the strictest rule under which it casts */

/* A value of any dtype on the host. All floating dtypes, the 16-bit ones too, are held as a double, complex ones as
 * two. */
typedef struct number {
    dtype type;
    union {
        int64_t i;   /* signed */
        uint64_t u;  /* bool, unsigned */
        double f[2]; /* floating: f[0]; complex: f[0] + i f[1] */
    } as;
} number;
/* Reads an element of an array. data need not be aligned. */
number number_read(dtype type, const void *data);
/* Converts a number as kernel C does (floating to integer saturates, integer to integer wraps), and writes it as an
 * element. */
void number_write(number value, dtype type, void *data);
/* Does the dtype hold the number's value? True for every number that is not an integer, and for every dtype that is not
 * one. */
bool number_fits(number value, dtype type);
/* The narrowest signed dtype that holds an integer number; uint64 if none does. */
dtype number_holder(number value);
/* The two 16-bit floating dtypes to and from double. A double is rounded once, to nearest, ties to even. */
uint16_t half_of_double(double value);
/* value rounded to float32. It must stay a function of another file: where gcc 12 makes vectors of two such roundings
 * in a row (-O2, -O3), it forgets the rounding. */
double rounded_to_single(double value);
double half_to_double(uint16_t bits);
uint16_t bfloat16_of_double(double value);
double bfloat16_to_double(uint16_t bits);

/* What a parameter of a kernel over indices takes in place of one dtype (pattern.c). */
typedef enum pattern_kind {
    PATTERN_NONE, /* it takes its dtype */
    PATTERN_ANY,
    PATTERN_INTEGER,
    PATTERN_FLOATING,
    PATTERN_COMPLEX,
    PATTERN_VARIABLE /* one dtype for all parameters of the list that have this name */
} pattern_kind;
enum {
    PATTERN_NAME = sizeof "complex128"
};
typedef struct type_pattern {
    uint8_t kind;
    char name[PATTERN_NAME]; /* as it is written, "any", "T" */
} type_pattern;

/* A list of signatures with the same number of inputs and outputs: types[s * (nin + nout) + k] is operand k of
 * signature s. The list of a kernel over indices has a parameter list in place of each signature: nout is 0, and each
 * parameter has a rank beside its dtype, which is 0 for a number. */
typedef struct signature_list {
    int count, nin, nout;
    dtype *types;
    const struct record *
        *records; /* as types: the record that an operand is, whose dtype is DT_NONE; NULL: there are none */
    const type_pattern *patterns; /* as types, whose dtypes are then DT_NONE; NULL: there are none */
    uint8_t *ranks;               /* as types; NULL: not of a kernel over indices */
    uint8_t *indices;             /* by signature: how many indices its kernel has; NULL where ranks is */
} signature_list;

/* Where a name that is no dtype's is looked up while signatures are read: as a record's, "interval(float32)". Errors: TYPE (there is
 * none), MEMORY. */
typedef struct record_lookup {
    uf_status (*find)(void *user, const char *name, size_t length, const struct record **out);
    void *user;
} record_lookup;

/* Parses a list, in any of the three spellings of signature.c, into arena memory. records: NULL, if none can be named. Signatures are separated by ';' or by
 * new lines; blanks may stand anywhere, and empty entries are passed over. nin may be 0; nout is at least 1. Errors:
 * SYNTAX with a caret (no signature at all, another nin or nout than the first one's, a signature that is there twice;
 * two that differ in their outputs alone are allowed), MEMORY. */
uf_status signatures_parse(arena *a, const char *text, const record_lookup *records, signature_list *out);
/* One signature, in any of the three spellings: inputs, then outputs. Allocates nothing. */
uf_status signature_parse(const char *text, dtype types[UF_MAX_OPERANDS], int *nin, int *nout);
/* The dtypes of inputs, "float32,float32" or "ff"; none if the text is empty. *count is their number, at most
 * UF_MAX_OPERANDS. */
uf_status types_parse(const char *text, dtype *types, int *count);
/* Lists of `width` dtypes and records each, "float32,int64; float64,int64", separated as signatures are, in arena memory: nin of *out
 * is width, nout 0. Errors: SYNTAX with a caret, MEMORY. */
uf_status type_lists_parse(arena *a, const char *text, const record_lookup *records, int width, signature_list *out);
/* "float32,float32->float32"; without the arrow if nout is 0. */
enum {
    SIGNATURE_TEXT = UF_MAX_OPERANDS * sizeof "complex128" + sizeof "->"
};
void signature_format(char buffer[SIGNATURE_TEXT], const dtype *types, int nin, int nout);
void signature_print(text *out, const dtype *types, int nin, int nout);

/* ---- Layouts of generalized ufuncs (layout.c) ---- */

enum {
    LAYOUT_MAX_RANK = 8, /* core dimensions of an operand */
    LAYOUT_MAX_DIMS = 64 /* different core dimensions of a layout */
};

/* One step of computing a size on a stack, in reverse Polish notation: pushes a number or the size of another
 * dimension, or replaces the last two values by what an operator makes of them. */
enum {
    STEP_MIN = '<', /* the lesser of two sizes, "min(m,n)" */
    STEP_MAX = '>'
};
typedef struct layout_step {
    char op; /* 'n': pushes value; 'd': pushes the size of dim; '+', '-', '*', '/', STEP_MIN, STEP_MAX */
    int dim;
    int64_t value;
} layout_step;

/* A core dimension of a layout. All occurrences of one name are one dimension; so are all of one frozen size, and all
 * of one computed size that are spelled alike. */
typedef struct layout_dim {
    const char *name;         /* NULL: frozen or computed */
    int64_t frozen;           /* the size, at least 1; 0: not frozen */
    const layout_step *steps; /* of a computed size, in terms of named dimensions; else NULL */
    int nsteps;
    bool optional;    /* written "n?", at every occurrence */
    bool output_only; /* a name that no input has: its size comes from an output */
} layout_dim;

typedef struct layout_operand {
    uint8_t rank;
    uint8_t dim[LAYOUT_MAX_RANK];  /* index into dims, outermost first */
    bool stretch[LAYOUT_MAX_RANK]; /* written "n|1": an extent of 1 broadcasts to the dimension's size */
    int strides;                   /* index of the operand's first stride among the core parameters */
} layout_operand;

/* A layout: which core dimensions each operand has. The core parameters are what a call makes of it, the 64-bit values that
 * describe the cores of its operands: first the size of each dimension (1 for an optional one that is missing), then
 * the core strides of each operand in turn, in elements (0 where the extent is 1, and so for missing and stretched
 * dimensions too). */
typedef struct core_layout {
    int nin, nout, ndims, nparameters;
    /* 0: a generalized ufunc. Otherwise the layout of a kernel over so many indices: its parameters are the operands,
     * all of them inputs, although arrays are written in place; behind them stand the indices as operands of rank 0,
     * outermost first. Dimensions 0 .. nindices-1 are the extents of the index space, and each dimension of each array
     * is one more. No dimension has a name. */
    int nindices;
    const layout_dim *dims;
    const layout_operand *operands; /* inputs, then outputs */
} core_layout;

/* The layout by which an elementwise function is compiled as a generalized ufunc: any number of operands without core
 * dimensions. */
extern const core_layout layout_scalars;
/* How many elements operand k's core has. */
static inline int64_t core_elements(const core_layout *l, const int64_t *core, int k) {
    int64_t n = 1;
    for (int d = 0; d < l->operands[k].rank; d++)
        n *= core[l->operands[k].dim[d]];
    return n;
}

/* Parses a layout into arena memory. Errors: SYNTAX with a caret, MEMORY. */
uf_status layout_parse(arena *a, const char *source, core_layout *out);
/* Writes the canonical spelling, "(m,n),(n)->(m)". Parsing that gives the same layout. */
void layout_print(text *out, const core_layout *l);
/* The value of a computed size, from the sizes of all dimensions. False, and *value says why: 0 for a division by zero,
 * INT64_MAX for an overflow, else the size itself, which is negative. */
bool layout_compute(const layout_dim *d, const int64_t *sizes, int64_t *value);
/* Dimension d as it was written, "n", "3" or "m+n-1", for messages. */
void layout_dim_print(text *out, const core_layout *l, int d);

/* ---- Parameters of kernels over indices (parameters.c) ---- */

/* Parses "float64[], float64[,], int32; float32[], float32[,], int32" into arena memory. A parameter is a dtype, by its
 * name or its type character; an array has brackets behind it, whose rank is one more than the commas in them, at most
 * LAYOUT_MAX_RANK. Separators and blanks are as for signatures. A text without entries is one list without parameters.
 * `indices` is left for the caller to set. Errors: SYNTAX with a caret (a list of another length than the first, a list
 * that is there twice), MEMORY. In place of a dtype may stand a pattern. */
uf_status parameters_parse(arena *a, const char *text, const record_lookup *records, signature_list *out);
/* One parameter list. Allocates nothing. */
uf_status parameter_list_parse(const char *text, dtype types[UF_MAX_OPERANDS], uint8_t ranks[UF_MAX_OPERANDS],
                               int *nparams);
/* "float64[,], int32" */
enum {
    PARAMETER_TEXT = sizeof "complex128" + LAYOUT_MAX_RANK + 1,
    PARAMETERS_TEXT = UF_MAX_OPERANDS * (PARAMETER_TEXT + 1)
};
void parameter_format(char buffer[PARAMETER_TEXT], dtype type, int rank);
void parameters_format(char buffer[PARAMETERS_TEXT], const dtype *types, const uint8_t *ranks, int nparams);
/* Parameter k of list s. */
void list_parameter_format(char buffer[PARAMETER_TEXT], const signature_list *list, int s, int k);
/* Signature or parameter list s of a list, in its canonical spelling. */
enum {
    ENTRY_TEXT = PARAMETERS_TEXT /* the text of a signature is not longer: signature_list_format asserts it */
};
void signature_list_format(char buffer[ENTRY_TEXT], const signature_list *list, int s); /* one without records */
void signature_list_print(text *out, const signature_list *list, int s);
/* Does signature s have an operand that is a record? */
bool signature_has_records(const signature_list *list, int s);
/* The layout whose operand k stands leaves[k] times for operand k of `from`, in arena memory. Errors: MEMORY. */
uf_status layout_expand(arena *a, const core_layout *from, const int *leaves, core_layout *out);
/* The layout of a kernel over so many indices, with parameters of these ranks, in arena memory. Errors: SYNTAX (more
 * dimensions than LAYOUT_MAX_DIMS), MEMORY. */
uf_status parameters_layout(arena *a, const uint8_t *ranks, int nparams, int nindices, core_layout *out);

/* ---- Choosing a signature (dispatch.c) ---- */

/* What the choice of a signature knows of one input. */
typedef struct dispatch_input {
    dtype type;
    bool is_number; /* a 0-d host array */
    int rank;       /* of an array, for kernels over indices */
    number value;   /* of a number */
} dispatch_input;

/* The dtype by which a weak number takes part in the choice, beside arrays of which `arrays` is the most general kind:
 * the default dtype of its kind (int64, float64 or complex128) if its kind is more general than theirs, where complex
 * is no more general than floating; else DT_NONE, and the number takes part by its kind alone. */
dtype number_counts_as(dtype type, dtype_kind arrays);

/* Chooses the signature of a call; uf_call in ufunc.h states the rule. *chosen is its index in the list. Allocates
 * nothing.
 *
 * Numbers are weak, unless flags has UF_STRONG_NUMBERS or no input is an array. A weak number counts as the dtype of
 * number_counts_as; if that is none, or a signature is forced, it matches every operand of its kind or of a more
 * general one. The choice does not depend on values, and so holds for all calls with the same dtypes, as long as the
 * integer dtypes that it gives to weak numbers hold these. Where one does not, the number counts as its number_holder,
 * and the signature chosen then must have the same outputs. Every dtype holds 0.
 *
 * casting: UF_CAST_NO and UF_CAST_EQUIV ask that arrays match exactly; any other rule makes no difference, unless a
 * signature is forced. forced: NULL, or the text of a signature, which must be in the list; inputs must then cast to it
 * under `casting`. Errors: SIGNATURE (none matches: the message lists all, each with the first argument that does not
 * fit; forced: it is not in the list), CAST (a weak integer is not held; forced: an input does not cast), SYNTAX
 * (forced). */
enum {
    DISPATCH_BY_KIND = 1 << 16 /* among the flags: numbers count by their kinds, whatever stands beside them */
};
uf_status dispatch(const char *name, const signature_list *list, const dispatch_input *inputs, unsigned flags,
                   uf_casting casting, const char *forced, int *chosen);
/* The pattern that a word names. False: none. */
bool pattern_read(const char *word, size_t length, type_pattern *out);
bool signature_has_patterns(const signature_list *list, int s);
/* Writes the dtypes of all lists of a kernel over indices, as `types` of the list has them, with those that the arguments of a call have
 * in place of patterns. Arrays have their own. Numbers are weak, but with UF_STRONG_NUMBERS among the flags: for a variable that an
 * array has they have its dtype; else an integer is int64, and floating and complex ones are as wide as the arrays beside them.
 * DT_NONE stands where an argument does not fit. */
void patterns_match(const signature_list *list, const dispatch_input *inputs, unsigned flags, dtype *types);
/* The same for a list of dtypes that is asked for. */
void patterns_force(const signature_list *list, const dtype *forced, const uint8_t *ranks, dtype *types);

/* The same for kernels over indices; of the lists, those take part whose kernels have so many indices. Arrays are used
 * in place, and so an array matches only an array of its own dtype and rank; a forced list whose arrays do not match is
 * an error SIGNATURE. If no list takes all numbers as the dtypes that they count as, they take part by their kinds. */
uf_status dispatch_kernel(const char *name, const signature_list *list, int nindices, const dispatch_input *inputs,
                          unsigned flags, const char *forced, int *chosen);

#endif
