/* ufunc.h - write the scalar, call it on arrays.
 *
 * A scalar kernel, given as text, becomes a function over arrays of any shape, stride and dtype, on the CPU or on an
 * NVIDIA GPU. This header is the manual. Each entry says what a function does, in which units, who owns what, and which errors
 * it returns; an error ARGUMENT is UF_ERR_ARGUMENT.
 *
 * Words
 *   array        a DLTensor. Strides are in elements, byte_offset in bytes; strides may be NULL (C-contiguous), negative,
 *                zero (inputs) or permuted, and are ignored along extents of 0 or 1. ndim is 0 to UF_MAX_NDIM; shape may
 *                be NULL at rank 0, data at size 0. lanes is 1, but of arrays of records (see "Records"). Element 0 is aligned to its
 *                size (complex: its component).
 *   dtype        bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64
 *                complex128. Bool is DLPack code 6 with 8 bits; a byte that is not zero is true.
 *   device       kDLCPU, kDLCUDA; kDLCUDAHost counts as either; kDLCUDAManaged is CUDA unless every other array is on the
 *                CPU. The device of the arrays decides where a call runs. Nothing is moved unless UF_STAGE asks for it.
 *   number       a 0-d host array among the inputs. It travels by value, to any device, and is weak, as Python's numbers are
 *                in NumPy: beside arrays it counts by its kind (bool, integer, floating, complex) and not by its width. If its
 *                kind is more general than that of every array, an integer counts as int64, a floating number as float64, a
 *                complex one as complex128; beside floating arrays a complex number keeps their width. See uf_call for
 *                integers that do not fit. One whose shape is uf_number_shape, as UF_SCALAR makes it, is no output.
 *   signature    "float32,float32->float32": the dtypes a kernel is compiled for. docs/kernel-c.md specifies the kernels.
 *   element      what a kernel computes at once: an element of the outputs; of a generalized ufunc an inner call, of a
 *                kernel over indices a point.
 *
 * Errors     Every verb returns a uf_status; what was got, what was needed and where is in uf_last_error(). A failed call
 *            writes no output unless said otherwise, leaks nothing, and leaves the library usable. Nothing is printed but by
 *            uf_check.
 * Memory     Running out of it is UF_ERR_MEMORY, with one exception: libLLVM and libnvvm end the process when malloc gives them
 *            none. Only a call that compiles can meet this: the first call of a function for its dtypes, its layout of memory
 *            and its device, whichever verb it is (plans, uf_launch_info, uf_inspect, the scratch sizes, and uf_copy between
 *            dtypes or strides included). Calls of what is compiled use neither library.
 * Stack      No call needs more than 64 KiB of its thread's stack, the first one included; what the CUDA driver takes for
 *            itself comes on top. Compilers run on threads of the library's own. A thread that reduces, scans or runs kernels
 *            over indices on the CPU gets up to 1 MiB of memory for large accumulators once, and has it until it ends.
 * Threads    Every function may be called from any thread at any time. A uf_func never changes once made.
 * Ownership  What a function makes is released with the function its entry names; arguments are only read during the call.
 */
#ifndef UFUNC_H
#define UFUNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dlpack/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UF_VERSION_MAJOR 0
#define UF_VERSION_MINOR 1
#define UF_VERSION_PATCH 0

#if defined(__GNUC__)
#define UF_API __attribute__((visibility("default")))
#else
#define UF_API
#endif

enum {
    UF_MAX_NDIM = 64,     /* ranks of arrays */
    UF_MAX_OPERANDS = 64, /* inputs and outputs of a function, together */
    UF_MAX_STATE = 16,    /* values of a reduction's state */
    UF_BOOL_CODE = 6      /* DLDataType.code of bool (Debian's dlpack.h is older than kDLBool) */
};

/* ---- Errors ------------------------------------------------------------------------------------------------------- */

typedef enum uf_status {
    UF_OK = 0,
    UF_ERR_ARGUMENT = 1,  /* an argument of the C function is wrong */
    UF_ERR_SYNTAX = 2,    /* a kernel, signature or layout cannot be read */
    UF_ERR_TYPE = 3,      /* a kernel does not type-check for a signature */
    UF_ERR_SIGNATURE = 4, /* no signature matches the inputs */
    UF_ERR_SHAPE = 5,     /* extents do not agree */
    UF_ERR_CAST = 6,      /* an output or input does not cast under the casting rule; a number does not fit */
    UF_ERR_DEVICE = 7,    /* arrays on different devices; an error of the CUDA driver */
    UF_ERR_LIBRARY = 8,   /* libLLVM, libcuda, libnvvm or libdevice is missing or unusable */
    /* The code that a kernel needs for the types of a call is too large (docs/kernel-c.md, section 16). Else LLVM, libNVVM or
     * the driver refused generated code, which is a bug in this library or in theirs. */
    UF_ERR_COMPILE = 9,
    UF_ERR_KERNEL = 10, /* a kernel reported an error (UF_DEBUG), took more than max_steps, or was cancelled */
    UF_ERR_MEMORY = 11, /* out of memory, host or device */
    UF_ERR_IO = 12      /* a file cannot be read or written */
} uf_status;

typedef struct uf_error {
    uf_status status;
    int argument;  /* index of the argument concerned, from 0, or -1 */
    int dimension; /* dimension of that argument, from 0, or -1 */
    int line;      /* position in the source text, from 1; 0: the error is about no text */
    int column;
    char message[4096]; /* UTF-8, NUL-terminated, one fact a line, no newline at the end */
    /* The text that line and column are counted in: "f" is the kernel of a function f (of a later section: "f, section 1"); "layout
     * of f", "signatures of f", "identity of f", "map of f", .. are its other texts; "signature of the options" and "types" are
     * those of a call. Of uf_load it is the path of the file, or the last 1023 bytes of a longer one; of UF_SOURCE the C file, in
     * which line is that of the macro, while column is counted in its text. "" where line is 0. */
    char source[1024];
} uf_error;

/* The calling thread's last error. Its content is meaningful directly after a call on this thread that did not return
 * UF_OK; a call that succeeds leaves it as it was. The pointer is valid as long as the thread. Never fails, never NULL. */
UF_API const uf_error *uf_last_error(void);

/* The fixed sentence for a status, "unknown status" for others. Static storage. */
UF_API const char *uf_status_text(uf_status status);

/* "0.1.0", the version of the library that runs. Static storage. */
UF_API const char *uf_version(void);

/* For examples and short programs: unless status is UF_OK, prints "file:line: " and the calling thread's last error to stderr and ends
 * the program with exit(1). UF_CHECK(uf_load(&f, "add")) says where it stands. */
UF_API void uf_check(uf_status status, const char *file, int line);
#define UF_CHECK(...) uf_check((__VA_ARGS__), __FILE__, __LINE__)

/* ---- Functions ---------------------------------------------------------------------------------------------------- */

typedef struct uf_func uf_func;
typedef struct uf_plan uf_plan;
typedef struct uf_module uf_module;

/* Registers an elementwise function.
 *
 * name        [A-Za-z_][A-Za-z0-9_]*, up to 127 characters; used in errors and in generated code.
 * signatures  an ordered list, separated by ';' or newlines, in any of three spellings: "float32,float32->float32",
 *             NumPy's "ff->f", Numba's "float32(float32,float32)"; records stand among names (see "Records"). In place of the
 *             library's names may stand C's, with the meaning that they have in C ("float,unsigned int->double", "size_t"), and
 *             NumPy's short ones ("f4", "<i8"; big-endian ones are an error). Every one must
 *             have the same number of inputs and outputs as the kernel, and the kernel must type-check for it. NULL: any types;
 *             the kernel is specialised on the dtypes of each call, and its outputs have the types of the expressions returned.
 *             A number beside arrays then has the dtype that the arrays promote to, if that is of the number's kind or of a
 *             more general one; else the number is int64, float64, or the complex dtype as wide as the arrays (a bool stays
 *             bool).
 * source      kernel C, e.g. "(x, y) { return 2 * (x - y) / (x + y); }"; docs/kernel-c.md is its specification.
 *
 * Compilation to machine code happens at the first call that needs it. All texts are copied.
 * *out is released with uf_free; NULL on failure.
 * Errors: ARGUMENT, SYNTAX and TYPE (with line, column and a caret), MEMORY. */
UF_API uf_status uf_vectorize(uf_func **out, const char *name, const char *signatures, const char *source);

/* Registers a generalized ufunc: a kernel over core dimensions, mapped over all others.
 *
 * layout      the core dimensions of each operand, "(m,n),(n)->(m)", in NumPy's grammar and more. A name stands for one size
 *             wherever it occurs; () is a scalar. "3" is a frozen size. "n?" is a dimension that operands may lack. "(n|1)" is
 *             an input dimension whose extent of 1 broadcasts to n. A name that only outputs have gets its size from them.
 *             "(m+n-1)", "(n*(n-1)/2)" and "(min(m,n))" are computed, with + - * / (as C divides), min, max and parentheses over
 *             names and integers.
 *             The core dimensions are the last ones of an array, unless options->axes says otherwise. Blanks may stand
 *             anywhere.
 * source      kernel C. The outputs are named: "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }". The
 *             names of the layout are sizes (int64) in it. Elements of an output with core dimensions that the kernel does
 *             not assign keep what they held; a () output starts at 0.
 *
 * Otherwise as uf_vectorize. Errors: ARGUMENT, SYNTAX and TYPE (with line, column and a caret), MEMORY. */
UF_API uf_status uf_guvectorize(uf_func **out, const char *name, const char *layout, const char *signatures,
                                const char *source);

/* One kernel text and the signatures it serves. */
typedef struct uf_section {
    const char *signatures; /* as for uf_vectorize; NULL only if it is the only section */
    const char *source;
} uf_section;

/* Departures from exact arithmetic, chosen for a function. Each is a bit. Without any of them CPU and GPU agree to the bit on
 * + - * / sqrt and integers. They do not enter helpers that are marked `exact`, nor what these call (docs/kernel-c.md). */
enum {
    UF_FAST_CONTRACT = 1, /* a * b + c may be one fused operation */
    UF_FAST_DIVIDE = 2,   /* float32 division on the GPU may be approximate (2 ULP) */
    UF_FAST_FLUSH = 4,    /* float32 subnormals on the GPU may be flushed to zero */
    /* Products of float32 and complex64 matrices that cuBLAS computes may round their operands to TF32 (11 significant bits), and
     * those of float16 and bfloat16 may add partial sums in the operands' dtype; see uf_definition.blas */
    UF_FAST_TF32 = 8,
    UF_FAST_ALL = 15
};

/* Flags of a definition, and behind them those of a call: one enumeration, since UF_ORDERED and UF_SERIAL are flags of both. */
enum {
    UF_UNCHECKED = 1, /* no index checks: an index out of range is undefined behaviour */
    /* An index out of range, an integer division by 0 and a failing assert(..) of the kernel end their element, and are
     * reported. What the element has not stored keeps what it held; other elements are computed. The report is the error KERNEL,
     * which names the kernel, the line in its text, what happened, and the indices of the element. On the CPU the call itself
     * returns it. On CUDA the next call that waits does: uf_sync, or a uf_copy that waits, which copies all the same. It tells
     * of one element of the first launch that failed, among those on the device that are done; the reports of the others are
     * then forgotten. The dimensions that it names of a generalized ufunc's arguments are core dimensions. Such functions are slower,
     * have line information (UF_LINES), and cannot be captured. With UF_UNCHECKED indices are not checked here either.
     * Reductions, scans and uf_at report none of these. */
    UF_DEBUG = 2,
    UF_LINES = 4, /* line information in PTX and assembly, for debuggers and profilers too, at full speed */
    /* How a binary function reduces, or how a reduction combines. Without either flag the operator is taken to be associative
     * and commutative; that of a generalized ufunc, whose order is always kept, to be associative. uf_reduce, uf_accumulate and
     * uf_reduceat take these flags too, in place of the function's own. */
    UF_ORDERED = 0x10, /* associative, not commutative: the order of the elements is kept, their grouping is free */
    UF_SERIAL = 0x20,  /* neither: a left fold, one element after the other */
    /* The sections are kernels over indices, and their signatures are lists of parameters: see uf_kernel. */
    UF_KERNEL = 0x100,
    /* Elementwise binary functions: reductions of integers below 64 bits and of bool accumulate in 64 bits, those of halves in
     * float32, unless a signature or the output's dtype says otherwise. NumPy's add and multiply do so. */
    UF_WIDEN = 0x80,
    /* Flags of a call, of which uf_reduce, uf_accumulate and uf_reduceat take UF_ORDERED and UF_SERIAL, too. A flag that a verb
     * does not take is an ARGUMENT error.
     * All verbs: the first signature of the list that the inputs cast to safely, as in NumPy and Numba. */
    UF_FIRST_MATCH = 1,
    /* uf_call, uf_infer, uf_plan_new, uf_outer, uf_at and kernels over indices: numbers count by their dtype, as arrays do. */
    UF_STRONG_NUMBERS = 2,
    /* uf_call, uf_infer and uf_outer: host arrays are copied to options->device, computed there, and copied back. */
    UF_STAGE = 4,
    /* uf_reduceat on a GPU: some segments may be much longer than most, as rows of a graph's matrix are. Several blocks then have parts of
     * such a segment, by a second launch, which takes all calls some microseconds. Without it one block has all of a segment, at a hundredth
     * of the speed of the memory. Sums of floating numbers are grouped otherwise. On the CPU it does nothing. */
    UF_UNEVEN = 8,
    /* uf_at on a GPU: the same bits in each run for floating dtypes too, at some cost. What the other verbs give is the same in
     * each run anyway, so they take the flag and do nothing about it; kernels over indices refuse it. */
    UF_DETERMINISTIC = 0x40
};

typedef struct uf_definition {
    size_t size;                /* sizeof(uf_definition) */
    const char *name;           /* as for uf_vectorize */
    const char *doc;            /* NULL: none */
    int nsections;              /* at least 1 */
    const uf_section *sections; /* tried in order; their signatures form one list */
    unsigned fast;              /* UF_FAST_* */
    /* UF_UNCHECKED, UF_DEBUG, UF_LINES, UF_KERNEL; functions that reduce: UF_ORDERED, UF_SERIAL; elementwise ones of these:
     * UF_WIDEN */
    unsigned flags;
    int max_registers;  /* GPU: registers a thread, 16 to 255; 0: the compiler's choice */
    const char *layout; /* as for uf_guvectorize; NULL: elementwise */
    /* The form of BLAS or LAPACK that the kernel is; NULL: none. The layout must be that of the form, and the kernel must compute it;
     * results differ by rounding, and in what is left open (signs of eigenvectors). A library that is installed then computes the calls
     * whose sizes make it pay; which calls follows from dtypes, sizes and strides alone. On the GPU an error of the library is one of the
     * call (DEVICE, MEMORY).
     * BLAS: "gemm", "gemv", "gevm" (vector times matrix), "gevmc" (its vector conjugated), "dot", "dotc" (its first vector
     * conjugated), "ger"; by OpenBLAS on the CPU (float32, float64, complex) and cuBLAS on the GPU (and float16 and bfloat16, adding in
     * float32), where they can take the strides. A matrix that broadcasts over a loop dimension of vectors becomes one product of
     * matrices. Nothing is copied. What cuBLAS enqueues can be captured, and is the same from run to run to the bit.
     * LAPACK: "solve", "inv", "det", "cholesky", "qr", "eigh", "svd", "lstsq" (docs/function-files.md has the layouts and what they
     * compute), in float32, float64 and complex; by OpenBLAS on the CPU and cuSOLVER on the GPU, for sizes beyond max_extent, too.
     * Arrays are copied to scratch memory, at most about 64 MiB at a time on the host, 256 MiB on a device. Results of solve, inv and
     * cholesky are computed in the output if it lies as the library leaves them. A call that fails when some arrays are done, or
     * while it computes in the output, has written to it. A matrix without a result gives NaN; with UF_DEBUG it is reported. */
    const char *blas;
    /* Elementwise binary functions: what uf_reduce begins with where there are no initial values, and so the result of reducing
     * no elements. An expression of kernel C ("0", "INFINITY"), converted to the dtype of the accumulator. f(identity, x) must
     * be x, or what may stand for x from then on: the magnitude of x for hypot, 0.0 for -0.0. NULL: there is none, and reducing
     * no elements is an error.
     * Generalized ufuncs that reduce (see "Reductions"): such an expression, which is the value of every element of the core, or a
     * kernel over the core's indices, "[i, j]() { return i == j; }". */
    const char *identity;
    const struct uf_reduction_def *reduction; /* a reduction: one section, whose source is NULL; else NULL */
    /* How many steps of loops an element may take; counted are loops that are not proved short, and those over sizes of the call
     * where these are large. 0: any number. See "Kernels that take long". */
    int64_t max_steps;
    /* What all texts see, beside what they name by `use`: modules (see "Modules"), and functions, which texts call by their names:
     * elementwise ones, and reductions as reduce(NAME, ..). In either list no two have one name. The function keeps them alive. */
    int nmodules;
    uf_module *const *modules;
    int nfunctions;
    uf_func *const *functions;
    /* Generalized ufuncs: the largest core dimension that the kernel takes; 0: any. A call with a larger one, in which no core
     * dimension is 0, is computed by the form of LAPACK that `blas` names; it is the error LIBRARY if the library is missing, and
     * SHAPE if there is no such form. */
    int64_t max_extent;
} uf_definition;

/* ---- Kernels that take long ----
 *
 * A kernel can harm nothing, but it may run for ever. Two things end it: max_steps of its definition, and the flag `cancel` of
 * the options of a call.
 *
 * A step is one pass through the body of a loop that comes to its end, or one value of a range of a construct (sum, max, reduce,
 * forall, ..); a call of jn(n, x) or yn(n, x) is |n| steps. Every element counts its own, and only in loops and constructs that are
 * not proved short. Proved short are those over ranges, and loops with counters, whose bounds are constants or sizes of the call
 * (those of the layout, len(), the extents of indices), if they and the loops around and within them, in helpers too, make together
 * at most 2^20 passes, or 2^20 times the product of at most four sizes, and compute in these passes at most 2^26 operators, of
 * which a math function counts as 32: some 50 ms, or that many times the sizes.
 *   Under max_steps those over sizes count as well, in each call whose sizes may allow an element more steps: where the operators
 * above times the product of the sizes (all taken as the largest one of the call) are more than max_steps, or other loops count.
 * So no element takes more than max_steps steps, beside loops over constants, however large the arrays are. Functions that name a
 * form of a library (`blas`) are excepted.
 *   With `cancel` those over sizes count as well where the operators above times the product of the sizes are more than 2^36, which
 * take some tens of seconds.
 *   A call without anything to count runs the same code with and without max_steps, and does not look at `cancel` within an element.
 * Code that counts costs a few percent more. Where code for reductions, gufuncs and kernels over indices would compute several
 * elements together, or spread one over several threads, it does not do so for kernels that count, which may then take several
 * times as long, and round sums in another order.
 *
 * max_steps  An element that would take one step more ends: what it has not stored keeps what it held, and all others are
 *            computed. It is the error KERNEL, "f: line 3: the kernel took more than 10000 steps, at (17)", returned as for
 *            UF_DEBUG: on the CPU by the call itself, on CUDA by the next call that waits (uf_sync, or a uf_copy that waits).
 *            The context and all arrays stay usable. Such calls cannot be captured.
 * cancel     An int that is 0 until another thread stores something else in it, atomically (as an atomic_int, whose address is cast,
 *            is stored to). No other memory is ordered by that: the read is relaxed. An element looks at the flag in its first
 *            counted step and then every 4096 steps; once the flag is not 0 it ends as above, and the call is the error KERNEL,
 *            "f: the call was cancelled". On the CPU the flag is also looked at between parts of the work of a call, whatever the
 *            kernel. A call of jn or yn is not interrupted. A plan has the flag of the options that it was made with. The library
 *            never sets the flag back to 0.
 *
 * Reductions, accumulations, uf_reduceat and uf_at count the steps of each call of one of their texts by itself. Once one has
 * ended, its thread goes on with zeros in place of results, and what the call has stored means nothing; uf_at leaves elements
 * as they are instead. Their errors do not say at which element. */

/* How elements reduce. Every text is kernel C. */
typedef struct uf_reduction_def {
    size_t size; /* sizeof(uf_reduction_def) */
    /* From the inputs of one element to a state: "(x) -> (sum, squares) { sum = x; squares = x * x; }". With "[k](x) -> .."
     * k is the position of the element (int64): in uf_reduce among the elements that are reduced, from 0, in C order of the
     * reduced axes; in uf_accumulate and uf_reduceat its index along the axis. NULL: the inputs themselves, converted to the
     * state. */
    const char *map;
    /* Two states to one: "(a, b) { return a + b; }"; for a state of several values "(a, i, b, j) -> (c, k) { .. }". */
    const char *combine;
    /* From the state to the outputs: "(sum, squares, n) -> (r) { .. }"; n, which may be left out, is the number of elements
     * that took part (int64; initial values do not count). NULL: the state, converted to the outputs. */
    const char *finish;
    /* Dtypes of the state, "float32,int64": one list for all signatures, or one for each, in their order, with ';' or newlines
     * between. NULL: the outputs' dtypes, if there are as many; without signatures, the dtypes that combining gives for what
     * the map returns (without a map, for the inputs): int8 values added give int32. */
    const char *state;
    /* Comma-separated expressions of constants, one for each value of the state, converted to its dtype: what uf_reduce begins
     * with where there are no initial values. Combining with it, anywhere and any number of times, must give the same as
     * combining with it once in front; and that must change nothing that matters: 0.0 + -0.0 is 0.0. NULL: there is none, and
     * reducing no elements without initial values is an error. */
    const char *identity;
    unsigned flags; /* UF_ORDERED, UF_SERIAL */
    int unused;     /* not read */
    /* As in uf_definition, of which the lists are those of uf_define, and these must then be empty. */
    int nmodules;
    uf_module *const *modules;
    int nfunctions;
    uf_func *const *functions;
} uf_reduction_def;

/* Registers a reduction, which uf_reduce, uf_accumulate and uf_reduceat run.
 *
 * signatures  of the inputs and outputs: "float32->float32; float64->float64". NULL: any types; the outputs have the types
 *             that finish (else combine) returns. They and the state name records as combine sees them, else map, else finish.
 *
 * A state has at most UF_MAX_STATE values. What combining gives must not depend, but for rounding, on how elements are grouped,
 * nor on their order, unless def->flags says so. Otherwise as uf_vectorize.
 * Errors: ARGUMENT, SYNTAX and TYPE (with the name of the text, the line and column in it, and a caret), MEMORY. */
UF_API uf_status uf_reduction(uf_func **out, const char *name, const char *signatures, const uf_reduction_def *def);

/* Reads a function from a file, or takes it from the catalogue that is built into the library.
 *
 * what   a path if it has a '/' or ends in ".uf", else a name of the catalogue. docs/function-files.md specifies the files.
 * *out is released with uf_free; NULL on failure.
 * Errors: IO (no such file, not readable, or not a regular file: a FIFO is not waited for), ARGUMENT (no such name; the message
 * has the nearest one), SYNTAX and TYPE with line and column in the file and a caret, MEMORY. */
UF_API uf_status uf_load(uf_func **out, const char *what);

/* The names of the catalogue in alphabetical order: i counts from 0; NULL past the end and for negative i. Static storage. */
UF_API const char *uf_catalogue(int64_t i);

/* Registers a function of any kind, with every option. definition->size is the size of the caller's struct: 0 is an error, and
 * in a longer struct than the library knows the rest must be zero. Otherwise as uf_vectorize. */
UF_API uf_status uf_define(uf_func **out, const uf_definition *definition);

/* Makes a function from an expression of calls, names and numbers over functions: "multiply(add(x, y), z)".
 *
 * inputs      the names of its inputs, in order: "x, y, z"
 * expression  calls the functions given and then those of the catalogue, which hide the built-in ones of kernel C. Each call chooses a
 *             signature for the types of its arguments, as uf_call does, and all become one kernel without temporaries. A reduction may
 *             stand outermost, "sum(hypot(add(x, y), z))"; this makes a reduction whose elements the arguments are.
 *
 * The function has no signatures: it is specialised on the dtypes of each call. It keeps the functions alive. *out is released with
 * uf_free; NULL on failure. Errors: ARGUMENT, SYNTAX and TYPE (with line and column in the expression, and a caret), MEMORY. */
UF_API uf_status uf_compose(uf_func **out, const char *name, const char *inputs, const char *expression, int nfunctions,
                            uf_func *const *functions);

/* Makes the derivative of an elementwise function by one of its inputs (from 0), as a function of the same inputs; of a function with
 * several outputs it has that of each. Its name is that of f with "_d" and the input's number behind it.
 *
 * It is computed by the text of f over dual numbers (forward mode; docs/dual.md): exact up to rounding, at the cost of a few
 * evaluations of f. Where f has a case for some values (?:, if), the derivative is that of the case. Steps such as floor, casts to
 * integers and integer inputs count as constants. All is computed in the dtype that the inputs have in common.
 *
 * It has the signatures of f whose input `input` and outputs are floating; none if f has none. It keeps what it needs of f. It is a
 * function like others: its derivative is the second one. *out is released with uf_free; NULL on failure.
 * Errors: ARGUMENT (f is not elementwise; there is no such input), SIGNATURE (no signature is floating there), TYPE (the kernel of f does
 * something that has no derivative, or needs a number: it casts to a floating type, stores the input in a variable declared as a number,
 * or calls a function that the module dual does not have; with line and column in the text of f, and a caret), MEMORY. */
UF_API uf_status uf_derivative(uf_func **out, const uf_func *f, int input);

/* Releases a function. NULL does nothing. Plans, and work that is queued on a stream, keep what they need of it. A captured CUDA
 * graph does not: keep the function, or a plan of it, as long as the graph. */
UF_API void uf_free(uf_func *func);

/* ---- Modules ------------------------------------------------------------------------------------------------------
 *
 * A module is a text without a kernel: types, helpers, constants and tables, for use in the texts of functions and of other modules.
 * A text sees the modules that its definition lists, and those that it names at its head: `use interval;` is the file interval.uf
 * beside the text's own, if it is in a file and there is one, and else the module, or the elementwise function or reduction, of
 * that name in the catalogue. Texts that use each other in a circle are an error, and so are two visible modules that define one
 * name. An error in the text of a module says so in uf_error.source, also where a kernel calls it: "module interval", or the path
 * of its file; line and column are then of that text.
 *
 * A module never changes once made. Any number of threads may use it. */

typedef struct uf_module_definition {
    size_t size;        /* sizeof(uf_module_definition) */
    const char *name;   /* as for uf_vectorize */
    const char *doc;    /* NULL: none */
    const char *source; /* docs/kernel-c.md says what a module's text has */
    int nmodules;       /* modules that the text sees, beside those that it names by `use` */
    uf_module *const *modules;
} uf_module_definition;

/* Makes a module. All texts are copied; the modules that it sees are kept alive. *out is released with uf_module_free; NULL on
 * failure. definition->size is as for uf_define. Errors: ARGUMENT, SYNTAX and TYPE (with line, column and a caret), MEMORY. */
UF_API uf_status uf_module_new(uf_module **out, const uf_module_definition *definition);

/* Reads a module from a file, or takes it from the catalogue; `what` is as for uf_load. *out is released with uf_module_free; NULL
 * on failure. Errors: those of uf_load. */
UF_API uf_status uf_module_load(uf_module **out, const char *what);

/* The names of the catalogue's modules in alphabetical order, as uf_catalogue has those of its functions. */
UF_API const char *uf_catalogue_module(int64_t i);

/* Releases a module. NULL does nothing. Functions and modules made with it keep what they need of it. */
UF_API void uf_module_free(uf_module *module);

typedef struct uf_module_description {
    size_t size;      /* sizeof(uf_module_description), set by the caller */
    const char *name; /* all texts live as long as the module */
    const char *doc;  /* "" if there is none */
    const char
        *records; /* the record types that it defines, "; " between them; "(T)" follows one that has a type parameter */
    const char *helpers; /* its helpers as they are declared, one a line */
} uf_module_description;

/* Describes a module. Members that out->size has no room for are left out. Errors: ARGUMENT. */
UF_API uf_status uf_module_describe(const uf_module *module, uf_module_description *out);

/* ---- Records ------------------------------------------------------------------------------------------------------
 *
 * Texts define record types, `struct interval(T) { T lo, hi; };`, and signatures name them beside dtypes:
 * "interval(float64),interval(float64)->interval(float64); float64,float64->float64". So do parameter lists ("particle[], float64")
 * and states of reductions. They lie in memory as C lays out a struct of the same fields.
 *
 * An array of records is a DLTensor whose elements have lanes: of dtype uint8 with as many lanes as the record has bytes, or, if all
 * scalars in it have one dtype and lie without gaps, of that dtype with as many lanes as there are scalars. Strides are in records;
 * element 0 is aligned to the record. Every verb takes such arrays where the signature has a record, and uf_empty and uf_copy do, too.
 * The array does not say which record it holds: it matches every record of its layout. If several signatures fit that way, the call
 * is the error SIGNATURE, which names them, and options->signature chooses. Functions without signatures take records under a
 * forced signature only. Records of arrays are not converted; arrays of dtypes beside them must cast safely to the signature. A 0-d host
 * array of a record travels by value, as numbers do. Where scalars of records are limited, as in states, a complex number counts as two. */

/* A field of a record. */
typedef struct uf_field {
    size_t size;      /* sizeof(uf_field) */
    const char *name; /* texts live as long as what the record was asked of */
    const char *type; /* "float32", or the name of a record, "interval(float32)" */
    DLDataType dtype; /* of an array of such elements */
    int64_t offset;   /* bytes from the record's beginning */
    int ndim;         /* 0: no array */
    const int64_t *shape;
} uf_field;

typedef struct uf_record {
    size_t size;      /* sizeof(uf_record), set by the caller */
    const char *name; /* "interval(float32)" */
    int64_t bytes;    /* sizeof the struct in C */
    int align;        /* _Alignof */
    int nfields;
    const uf_field *const *fields;
    int nscalars;     /* of all fields, elements of arrays counted one by one, a complex number as one */
    DLDataType dtype; /* of an array of it: the lanes of one dtype, if there is one, else bytes */
} uf_record;

/* Describes a record that a module's text sees, so that a program can compare it with its struct: "interval(float32)" names one.
 * Members that out->size has no room for are left out. All that *out points to lives as long as the module.
 * Errors: ARGUMENT, TYPE (there is no such record), MEMORY. */
UF_API uf_status uf_record_layout(const uf_module *module, const char *record, uf_record *out);
/* The same of a record that the texts of a function see. */
UF_API uf_status uf_function_record(const uf_func *func, const char *record, uf_record *out);

/* Views an array whose last dimension holds the scalars of a record as an array of the record, without a copy: of the dtype that all
 * scalars have, with that many elements, or of uint8 with as many elements as the record has bytes. That dimension must be
 * contiguous, all other strides whole numbers of records, and element 0 aligned to the record. out->shape and out->strides point at
 * storage of the caller's for UF_MAX_NDIM extents each; all other members are written. Errors: ARGUMENT. */
UF_API uf_status uf_as_records(DLTensor *out, const DLTensor *array, const uf_record *record);
/* The inverse, for records whose scalars have one dtype: the last dimension of *out holds them. Storage as for uf_as_records.
 * Errors: ARGUMENT. */
UF_API uf_status uf_as_fields(DLTensor *out, const DLTensor *array, const uf_record *record);

/* ---- Calls -------------------------------------------------------------------------------------------------------- */

/* Casting rules, NumPy's. */
typedef enum uf_casting {
    UF_CAST_DEFAULT = 0, /* same_kind */
    UF_CAST_NO = 1,
    UF_CAST_EQUIV = 2,
    UF_CAST_SAFE = 3,
    UF_CAST_SAME_KIND = 4,
    UF_CAST_UNSAFE = 5
} uf_casting;

/* Axes of one argument, in the order of its core dimensions; negative ones count from the end. */
typedef struct uf_axis_list {
    int count;
    const int *axes; /* may be NULL if count is 0 */
} uf_axis_list;

/* Which dimensions of the arguments are core dimensions: NumPy's axes, axis and keepdims. Only one of lists and axis may be
 * given. */
typedef struct uf_axes {
    size_t size; /* sizeof(uf_axes) */
    int count;   /* of lists: one per argument, or one per input where no output has core dimensions; 0: none */
    const uf_axis_list *lists; /* lists[k].count is the number of core dimensions that argument k has in this call */
    /* The one axis of every argument with a core dimension, for functions with a single shared core dimension; NULL: not
     * given. */
    const int *axis;
    /* The core dimensions of the inputs stay in the outputs, with extent 1: for functions whose inputs have equally many
     * core dimensions and whose outputs have none. */
    bool keepdims;
} uf_axes;

/* Options of uf_call, uf_infer, uf_plan_new, uf_outer and uf_at, of scans (uf_accumulate, uf_reduceat) and of kernels over indices.
 * The entry of a verb says which of them it refuses. */
typedef struct uf_options {
    size_t size;     /* sizeof(uf_options) */
    void *stream;    /* CUstream; NULL: the legacy default stream */
    DLDevice device; /* with UF_STAGE: where host arrays are computed */
    /* How the outputs may be cast; under a forced signature the inputs, too. There UF_CAST_UNSAFE also takes numbers that do not
     * fit, and integers wrap. Kernels over indices use arrays in place and take the default only. */
    uf_casting casting;
    const char *signature; /* force this one of the list, e.g. "float32,float32->float32" */
    const DLTensor *where; /* bool; broadcasts to the loop shape; false leaves the output alone */
    int threads;           /* CPU: largest number of threads; 0: all */
    unsigned flags;        /* see "Flags of a call" */
    const uf_axes *axes;   /* generalized ufuncs; NULL: the last dimensions */
    /* Scans on CUDA: memory on the arrays' device for the call's own use, until its work on the stream is done. It is aligned to
     * 256 bytes and has at least the bytes that uf_accumulate_scratch_size or uf_reduceat_scratch_size says. NULL: the library
     * finds some (see "Reductions"). */
    void *scratch;
    size_t scratch_size;
    /* uf_forall on CUDA; 0: the library chooses. See uf_launch_info. */
    int block;    /* threads in a block: 32, 64, 128, 256, 512 or 1024 */
    int elements; /* points a thread takes: 1, 2, 4, 8 or 16 */
    /* A flag that another thread sets to something else than 0 to end the call; NULL: none. See "Kernels that take long". It is
     * read until the call returns, on CUDA until its work is done. On CUDA it must be host memory that the device can read,
     * kDLCUDAHost or kDLCUDAManaged of uf_empty, or registered with CUDA by the caller; other memory is an ARGUMENT error. */
    const volatile int *cancel;
    /* Where another thread finds how much of the call is done; NULL: nowhere. On the CPU the call sets it to 0 when it begins, to 1
     * when it has ended without an error, and meanwhile to the share that is done, which never falls: each time a part of the work
     * ends, some 10 ms, or one inner call or result, after the one before. It stays 0 where another library does the work, and in
     * calls that consist of others (those of LAPACK's forms, reductions of large cores). A call that is refused, as its arguments are
     * wrong, leaves it as it was. It is stored atomically. Results are the same with it. A plan has that of the options it was made
     * with. On CUDA nothing is written to it. */
    volatile double *progress;
} uf_options;

/* Applies a function.
 *
 * args      inputs, then outputs, in signature order; nargs is their number. The inputs broadcast to the loop shape; every
 *           output has the loop shape, which is what the inputs broadcast to or larger.
 * options   NULL: all defaults.
 *
 * The signature is the narrowest that every input casts to safely: A is narrower than B if A's inputs cast safely to B's
 * and not the other way round. Of several such ones it is the one with the fewest inputs that change kind, and of these the
 * first of the list. Outputs are cast from the signature's dtype under options->casting. Casts cost no extra pass over memory.
 *
 * A number matches every operand of its kind and of more general kinds. Where it counts as a dtype (see "number"), it matches
 * those that this dtype casts to safely: 1e6 beside int8 arrays is float64, and matches no operand of float32. Under a forced
 * signature a number counts by its kind. Values do not choose a signature, so that the dtypes of results do not depend on them.
 * If an integer does not fit the integer dtype of its operand, it is taken for the narrowest of int8 .. int64 that holds it, or
 * else for uint64; if the signature for that dtype gives results of the same dtypes it is used, and otherwise the error is CAST.
 * So with x of uint8, x < 300 is true, x / 300 is a float64, and x + 300 is an error.
 *
 * The loop dimensions of a generalized ufunc broadcast in the same way. Its core dimensions do not, but for those marked |1: each
 * name of the layout has one size. A mask (where) needs a function without core dimensions.
 *
 * An elementwise function is computed in place if an output is the same array as an input (address, strides and dtype). Any
 * other overlap of an input with an output behaves as if the input had been copied first; so does every overlap in a
 * generalized ufunc. An output with two elements at one address, and two outputs that overlap, are errors.
 *
 * A thread keeps what was decided about calls that it makes more than once with the same arrays, which makes these faster: up to eight of
 * them, 13 KiB each, until it ends. Calls with where, axes, a forced signature, cancel or progress are not kept.
 *
 * On the CPU the results are there on return. On CUDA the work is enqueued on options->stream, in the current context if that
 * belongs to the arrays' device, else in the device's primary context; the current context is left as found. Once its code is
 * compiled, a call on CUDA neither waits nor allocates, with exceptions that take memory in stream order: an overlap that needs a
 * copy, and inner calls of a generalized ufunc that are so large that several blocks compute one together (32 KiB for each of
 * those that are computed at a time). What cuBLAS and cuSOLVER compute (uf_definition.blas) takes memory as reductions do (see
 * "Reductions"), and cuSOLVER's "eigh", "svd" and "lstsq" of larger matrices wait for the device. A call can be captured into a CUDA graph once
 * compiled, but for these three: call it once before the capture, with arrays of the same dtypes, shapes, strides and alignment,
 * since small sizes may have code of their own; or make a plan.
 *
 * Errors: ARGUMENT, SIGNATURE (lists every signature and the first argument that does not fit), SHAPE, CAST, DEVICE,
 * LIBRARY, COMPILE, MEMORY; TYPE where signatures were NULL and the kernel does not type-check for the dtypes of the call;
 * KERNEL under UF_DEBUG, max_steps and cancel. */
UF_API uf_status uf_call(const uf_func *func, int nargs, const DLTensor *args, const uf_options *options);

/* Writes dtype, ndim and extents of the outputs that a call would have. args[k].shape of each output points at storage of the
 * caller's for UF_MAX_NDIM extents; data and strides of outputs are neither read nor written. Errors as for uf_call. */
UF_API uf_status uf_infer(const uf_func *func, int nargs, DLTensor *args, const uf_options *options);

/* Makes the outputs that a call with these inputs would have, with undefined content: uf_infer and uf_empty in one step. It does
 * not make the call.
 *
 * out     one pointer for each output of func, all of which are set; NULL on failure. Release each as those of uf_empty.
 * inputs  nin arrays, in signature order. Where they are on a GPU so are the outputs (kDLCUDA), else they are on kDLCPU. Their data
 *         may be NULL.
 *
 * Errors as for uf_infer and uf_empty. */
UF_API uf_status uf_new(DLManagedTensor **out, const uf_func *func, int nin, const DLTensor *inputs,
                        const uf_options *options);

/* A call with everything decided and compiled beforehand. Shapes, strides, dtypes and devices are those of args and
 * options; addresses are given at each run. Arrays need not be kept (their data may be NULL); options->stream and scratch are not
 * used. Numbers are not read: dtypes alone choose the signature, and each run's must fit it. UF_STRONG_NUMBERS makes room for all
 * that their dtypes hold.
 *
 * Every verb has such a plan: uf_plan_new that of uf_call, and uf_reduce_plan, uf_accumulate_plan, uf_reduceat_plan, uf_at_plan and
 * uf_forall_plan, which stand beside their verbs. A plan never changes once made; what it needs for its runs is in it.
 * *out is released with uf_plan_free; it keeps func alive; NULL on failure. Errors as for uf_call. */
UF_API uf_status uf_plan_new(uf_plan **out, const uf_func *func, int nargs, const DLTensor *args,
                             const uf_options *options);

/* Runs a plan: does what the call would do that it is the plan of. data[k] is the address of element 0 of argument k (byte_offset
 * included), for each argument in the order of the verb:
 *
 *   uf_plan_new, uf_reduce_plan, uf_accumulate_plan, uf_forall_plan   inputs, outputs (parameters)
 *   uf_reduceat_plan                                                  inputs, outputs, starts
 *   uf_at_plan                                                        target, indices, operand
 *
 * then that of `where` if there was one, then those of the initial values if there were any. An address may be NULL where an array
 * has no elements, or where nothing is computed. What the host reads is read again, and checked, at each run: numbers, initial
 * values, and starts and indices in host memory. Any number of threads may run one plan at once.
 *
 * A run allocates nothing, on the host or on a device, waits for nothing and compiles nothing, but for this: scratch memory is taken
 * as by the calls (see "Reductions"), on the CPU from the heap where it is more than 512 bytes, copies of a target of uf_at that is small
 * beside the indices among it; overlap is copied as by the calls; more than 63 starts in host memory take memory on the host, unless
 * they are int64, side by side, and read by the CPU; and addresses that are not aligned as those which a plan of uf_forall, uf_at, a
 * generalized ufunc or a reduction was made with, or that overlap where those did not, may need code of their own, which is compiled by the
 * first run with such (addresses that were NULL count as aligned and apart). So a run can be captured into a CUDA
 * graph at once, but for one that reads starts in host memory, for reductions of large cores that begin with an initial value, and
 * for "eigh", "svd" and "lstsq" of matrices so large that cuSOLVER waits (docs/function-files.md).
 *
 * Errors: ARGUMENT (NULL or misaligned data; an index or a start out of range; outputs that overlap), CAST (a number does not
 * fit), DEVICE, MEMORY; COMPILE and LIBRARY where code is compiled; KERNEL under UF_DEBUG, max_steps and cancel. */
UF_API uf_status uf_plan_run(const uf_plan *plan, void *const *data, void *stream);

/* Releases a plan once no run of it is in progress; work that is queued on a stream keeps its code. NULL does nothing. */
UF_API void uf_plan_free(uf_plan *plan);

/* ---- Reductions --------------------------------------------------------------------------------------------------
 *
 * The functions that reduce are those of uf_reduction, and elementwise functions of two inputs and one output whose output casts
 * safely to the inputs. The latter fold one input: f(f(x0, x1), x2) .., in any grouping and order unless they are flagged
 * UF_ORDERED or UF_SERIAL.
 *
 * Generalized ufuncs of two inputs and one output reduce, too, if all their operands can have cores of one shape: (n,n),(n,n)->(n,n),
 * (4),(4)->(4) for quaternions, (m,n),(n,p)->(m,p) for square matrices. The elements of the reduction are then vectors or matrices, and
 * products of them are in order: x0 x1 x2 .., in any grouping unless UF_SERIAL. The core dimensions are the last ones of input and
 * output, and of initial values, which have the core's shape. Axes are counted among the others, the loop dimensions, from either end.
 * The kernel must assign every element of its output; what it reads of the output before, or leaves as it was, is unspecified. Dtypes
 * are chosen as for elementwise functions. uf_reduce takes cores of any size, uf_accumulate and uf_reduceat those of 1 to UF_MAX_STATE
 * scalars, which all three keep in registers. With more, uf_reduce is a chain of calls of the function (of its BLAS form, too, where it
 * has one) on pairs of neighbours, then on pairs of the results, and needs scratch memory of about the size of its input; under
 * UF_SERIAL it makes a call for each element. A mask then needs an identity, and a call or run with an initial value cannot be
 * captured into a CUDA graph.
 *
 * A fold begins as in NumPy. uf_reduce begins with the initial values if there are any; else with the identity if there is one;
 * else with the first element that takes part. uf_accumulate, and each segment of uf_reduceat, begin with their first element.
 * So hypot, whose identity is 0, reduces -3 to 3; add reduces -0.0 to 0.0, and to -0.0 if the initial value is -0.0. Where no
 * element takes part, the result is what the fold began with. All this is the same for every order, shape and device.
 *
 * Results are the same, bit for bit, in each run on one device, however many threads or streams are at work. Sums of floating
 * dtypes are within 2 eps log2(n) sum|x|. An output may overlap an input: it behaves as if the input had been copied first.
 *
 * On CUDA the work is enqueued, as for uf_call. Where several blocks compute one result together, they need memory for what they
 * tell each other. That is options->scratch, if given. Else the library has a piece of memory for each device and stream, or two, which
 * it keeps, and which grow to 64 MiB. Memory in stream order is taken instead if more is needed, if other threads are just
 * enqueuing calls on the same stream, and if the stream is being captured; then it becomes part of the graph. Calls of one
 * function may be under way on several streams at once. */

enum {
    UF_NO_AXES = -1 /* uf_reduce_options.naxes: no axis is reduced */
};

typedef struct uf_reduce_options {
    size_t size;        /* sizeof(uf_reduce_options) */
    void *stream;       /* CUstream; NULL: the legacy default stream */
    uf_casting casting; /* as in uf_options */
    const char
        *signature; /* force this one: of a reduction's list, or of a binary function's ("float64,float64->float64") */
    int naxes; /* how many axes are reduced. 0, with axes NULL: all of them; UF_NO_AXES: none, and axes is not read */
    const int *axes; /* those to be reduced; negative ones count from the end. Axes with naxes 0 are an error */
    bool keepdims;   /* reduced axes stay in the outputs, with extent 1 */
    /* What the fold begins with, as its left operand, in place of the identity: 0-d host arrays, as many as the state has values
     * (of a binary function one), which may be records; of a generalized ufunc one host array of its core's shape. Converted to
     * the state's dtypes under same_kind; integers must fit. NULL: none. */
    const DLTensor *initial;
    const DLTensor *where; /* bool; broadcasts with the inputs; where it is false the element takes no part */
    void *scratch;         /* as in uf_options */
    size_t scratch_size;
    int threads;                /* CPU: largest number of threads; 0: all */
    unsigned flags;             /* UF_ORDERED, UF_SERIAL, UF_FIRST_MATCH, UF_DETERMINISTIC */
    const volatile int *cancel; /* as in uf_options */
    volatile double *progress;  /* as in uf_options */
} uf_reduce_options;

/* Reduces.
 *
 * args  inputs, then outputs. Inputs broadcast against each other (and the mask), and axes are those of the shape they broadcast
 *       to; outputs have that shape without the reduced axes.
 *
 * Of a reduction the signature is the narrowest that the inputs cast to safely, as in uf_call. Of a binary function it is, as in
 * NumPy, the one for an operand of the output's dtype and one of the input's. The operands of that signature must have one dtype:
 * elements are accumulated in it, and the result has it before it is cast to the output. uf_reduce_infer, which has no output
 * yet, takes the input's dtype in place of the output's, or the wide accumulator's (UF_WIDEN); halves are then accumulated in
 * float32 and result in halves. A function that gives bool for operands of other dtypes, such as &&, is folded over bools, if it
 * has a kernel for bools and is not UF_SERIAL.
 *
 * Reducing no elements gives the initial values or the identity. Without either it is an error, even if there are no results to
 * compute; a mask (where) without either is an error, too.
 *
 * Errors: ARGUMENT (axes, initial, a function that does not reduce), SIGNATURE, SHAPE, CAST, DEVICE, LIBRARY, COMPILE, MEMORY;
 * TYPE as for uf_call; KERNEL under max_steps and cancel. */
UF_API uf_status uf_reduce(const uf_func *func, int nargs, const DLTensor *args, const uf_reduce_options *options);

/* A plan of uf_reduce, as uf_plan_new makes that of uf_call. Addresses for uf_plan_run: inputs, outputs, then `where`, then the initial
 * values, whose dtypes alone are looked at here. A plan of several launches takes its scratch memory from the library's at each
 * run; options->stream and scratch are not used. Errors as for uf_reduce. */
UF_API uf_status uf_reduce_plan(uf_plan **out, const uf_func *func, int nargs, const DLTensor *args,
                                const uf_reduce_options *options);

/* Accumulates along an axis (a scan): element i of an output is the reduction of elements 0 .. i of the input's line. Outputs
 * have the shape that the inputs broadcast to.
 * options  where, axes and device are errors. flags: UF_ORDERED, UF_SERIAL, UF_FIRST_MATCH, UF_DETERMINISTIC.
 * Errors as for uf_reduce. */
UF_API uf_status uf_accumulate(const uf_func *func, int nargs, const DLTensor *args, int axis,
                               const uf_options *options);

/* A plan of uf_accumulate, as uf_reduce_plan. Addresses: inputs, outputs. Errors as for uf_accumulate. */
UF_API uf_status uf_accumulate_plan(uf_plan **out, const uf_func *func, int nargs, const DLTensor *args, int axis,
                                    const uf_options *options);

/* Reduces segments of an axis. Segment i goes from starts[i] up to, but without, starts[i+1], the last one to the end of the axis;
 * if starts[i+1] is not above starts[i], the segment is the one element at starts[i]. The outputs have as many elements along the
 * axis as there are starts.
 *
 * starts   one-dimensional, of any integer dtype. On the host, a start outside of 0 .. extent-1 is an error; in device memory it
 *          leaves its results as they are. Starts on the host are read during the call, so a captured CUDA graph needs them in
 *          device memory.
 * options  as for uf_accumulate. flags: UF_UNEVEN, too.
 *
 * The position of an element ([k] of the map) is counted along the whole axis. Errors as for uf_reduce. */
UF_API uf_status uf_reduceat(const uf_func *func, int nargs, const DLTensor *args, const DLTensor *starts, int axis,
                             const uf_options *options);

/* A plan of uf_reduceat, as uf_reduce_plan, for so many starts of that dtype, stride and device. Addresses: inputs, outputs, starts.
 * Each run reads starts in host memory and checks them; those in device memory are read by the work that it enqueues. Errors as for
 * uf_reduceat. */
UF_API uf_status uf_reduceat_plan(uf_plan **out, const uf_func *func, int nargs, const DLTensor *args,
                                  const DLTensor *starts, int axis, const uf_options *options);

/* Write the shapes and dtypes that the outputs of these calls have, as uf_infer does. Errors as for the calls. */
UF_API uf_status uf_reduce_infer(const uf_func *func, int nargs, DLTensor *args, const uf_reduce_options *options);
UF_API uf_status uf_accumulate_infer(const uf_func *func, int nargs, DLTensor *args, int axis,
                                     const uf_options *options);

/* Make the outputs of these calls, as uf_new does. Errors as for the calls and uf_empty. */
UF_API uf_status uf_reduce_new(DLManagedTensor **out, const uf_func *func, int nin, const DLTensor *inputs,
                               const uf_reduce_options *options);
UF_API uf_status uf_accumulate_new(DLManagedTensor **out, const uf_func *func, int nin, const DLTensor *inputs,
                                   int axis, const uf_options *options);

/* How many bytes of device memory the call with these arguments needs as options->scratch; 0 on the CPU. Errors as for the call. */
UF_API uf_status uf_reduce_scratch_size(size_t *bytes, const uf_func *func, int nargs, const DLTensor *args,
                                        const uf_reduce_options *options);
UF_API uf_status uf_accumulate_scratch_size(size_t *bytes, const uf_func *func, int nargs, const DLTensor *args,
                                            int axis, const uf_options *options);
UF_API uf_status uf_reduceat_scratch_size(size_t *bytes, const uf_func *func, int nargs, const DLTensor *args,
                                          const DLTensor *starts, int axis, const uf_options *options);

/* Applies an elementwise function to all combinations of elements: output[i.., j..] = f(a[i..], b[j..]), for any number of
 * inputs. The rank of the outputs is the sum of the inputs' ranks. Otherwise as uf_call; options->where broadcasts to the outputs'
 * shape. */
UF_API uf_status uf_outer(const uf_func *func, int nargs, const DLTensor *args, const uf_options *options);

/* Updates elements in place: target[indices] = f(target[indices], operand), or f(target[indices]) if f has one input (operand is
 * then NULL). It does so once for each occurrence of an index, so that repeated indices add up.
 *
 * indices  nindices arrays of any integer dtype, one for each of the first dimensions of target, which broadcast against each
 *          other. Negative indices count from the end: index i of an extent n must be in -n .. n-1. On the host any other index
 *          is an error, and nothing is written; in device memory its update is left out.
 * operand  broadcasts to the shape of the indices followed by the remaining dimensions of target. A 0-d host array is a number.
 * options  where, axes and UF_STAGE are errors.
 *
 * The signature is the narrowest for target and operand, as in uf_call; its output is cast to target's dtype under
 * options->casting. No two elements of target may be at one address. If operand or indices overlap target, it is as if they had
 * been copied first. Either all arrays are on the host and target is on the CPU, or all are on one device.
 *
 * On the CPU the updates happen in the order of the indices (C order). On a GPU several updates of one element happen in any
 * order, each in one atomic step. + - & | ^ min max of 32- and 64-bit integers, and + - of float32, float64 and complex dtypes,
 * use the atomic instructions of the hardware (that for float32 takes subnormals for zero); + - of float16, and from compute
 * capability 9.0 on of bfloat16, do where target is one piece of memory without gaps (a NaN that is the other half of a word may get
 * other bits, of a NaN). Other operators and dtypes compare and swap the aligned 4 or 8 bytes that an element is in, or that a
 * record of 4 or 8 bytes is. Operands of updates of one element by + and -, and of integers by & | ^ min max, may be combined with
 * each other first, in their dtype or a wider one.
 *
 * Some results depend on the order of the updates: those of floating dtypes, and those of operators that have no instruction. With
 * UF_DETERMINISTIC in options->flags these are computed in the CPU's order: every element belongs to one warp, and each warp
 * goes through all indices, which is much slower. That way is always taken for what cannot be compared and swapped: operators
 * without an instruction on complex128, and on complex64 that is not aligned to 8 bytes; and updates of records of several scalars
 * that do not have 4 or 8 bytes, or are not aligned to as many.
 *
 * Errors count target as argument 0, then indices, then operand: ARGUMENT (a function of another form; an index out of range,
 * with its place), SHAPE, SIGNATURE, CAST, DEVICE, LIBRARY, COMPILE, MEMORY; TYPE as for uf_call; KERNEL under max_steps and
 * cancel. */
UF_API uf_status uf_at(const uf_func *func, const DLTensor *target, int nindices, const DLTensor *indices,
                       const DLTensor *operand, const uf_options *options);

/* A plan of uf_at, as uf_plan_new makes that of uf_call. Addresses for uf_plan_run: target, each of the indices, then operand unless it
 * is NULL. Each run looks at indices in host memory before anything is written; a number as operand is read again. Of the addresses
 * given here only the target's alignment is looked at. Errors as for uf_at. */
UF_API uf_status uf_at_plan(uf_plan **out, const uf_func *func, const DLTensor *target, int nindices,
                            const DLTensor *indices, const DLTensor *operand, const uf_options *options);

/* ---- Kernels over indices ----------------------------------------------------------------------------------------
 *
 * A kernel over indices is a loop body, run once for every point of a space of one to eight dimensions; there is no grid, block
 * or guard to write. Its parameters are arrays, which it reads and writes at any indices, and numbers, passed by value:
 *
 *     uf_kernel(&step, "step", "float32[,], float32[,], float32",
 *               UF_SOURCE([i : n, j : m](u, v, k) {
 *                   if (i > 0 && i < n - 1 && j > 0 && j < m - 1)
 *                       v[i][j] = u[i][j] + k * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1] - 4 * u[i][j]);
 *               }));
 *     uf_forall(step, 2, (int64_t[]){rows, columns}, 3, (DLTensor[]){u, v, UF_SCALAR(0.1f)}, NULL);
 *
 * The points run in any order, and many at once. So a point must not rely on what another point of the same call writes: whether
 * it reads the value before or after is a matter of chance. If two points write one element, one of the two values stays in it.
 * To add up, count, or take the largest of values from several points, use the atomic functions. */

/* Registers a kernel over indices.
 *
 * parameters  an ordered list of parameter lists, separated by ';' or newlines. A parameter is a dtype (by name, or NumPy's
 *             code), for an array with brackets, in which commas count dimensions: "float64[,], float32[], int32". Each list has
 *             as many parameters as the kernel, which must type-check for it; within one section all have the same ranks.
 *             In place of a dtype may stand `any`, a kind (`integer`, `floating`, `complex`), or a name that begins with a capital
 *             letter and stands for one dtype throughout its list: "T[], T[,], T; floating[], any[,], integer". The kernel is then
 *             specialised on the dtypes of each call. A number has there the dtype of its variable if an array has that variable;
 *             else an integer is int64, and a floating or complex number is as wide as the arrays are. NULL: any dtypes; the ranks are
 *             those with which the text indexes its parameters.
 * source      kernel C: "[i](a, b) { b[i] = 2 * a[i]; }". "[i, j : m](..)" has two indices, of which the last one runs fastest;
 *             m is the extent of the second. docs/kernel-c.md, section 10, says what bodies are made of: len(a), extent(a, 1),
 *             atomic_add(h[b], 1), random_uniform(seed, i, 0), assert(..).
 *
 * Otherwise as uf_vectorize. Errors: ARGUMENT, SYNTAX and TYPE (with line, column and a caret), MEMORY. */
UF_API uf_status uf_kernel(uf_func **out, const char *name, const char *parameters, const char *source);

/* Runs a kernel for every point of a space.
 *
 * ndim, extents  of the space: as many as the kernel has indices; none negative, their product below 2^63. Where one is 0,
 *                nothing is done.
 * args           arrays and numbers, one for each parameter. Arrays match by exact dtype (or pattern) and rank, and are read and written in
 *                place. They may have any strides and may overlap each other, but an array that is written to must not have two
 *                elements at one address. The parameter list is chosen as a signature is in uf_call, among those whose kernel has
 *                ndim indices. If no list takes a number as the dtype that it counts as, numbers count by their kind alone, so
 *                that "uint8[], float32" takes 0.5. An integer that does not fit the dtype of its list goes to a list in which
 *                it fits.
 * options        stream, signature (a parameter list), threads, flags (UF_FIRST_MATCH, UF_STRONG_NUMBERS), block, elements,
 *                cancel; all others are errors.
 *
 * The arrays decide where it runs, as in uf_call; on CUDA the work is enqueued. Once its code is compiled, a call neither waits
 * nor allocates, and can be captured into a CUDA graph. Small arrays that the kernel only counts in (atomic_add(h[b], 1)) are
 * counted in a copy for each block, or thread, first, and added up at its end.
 *
 * Errors: ARGUMENT (also for extents, and for an array that is written to and overlaps itself), SIGNATURE (lists every parameter
 * list and the first argument that does not fit), SHAPE (the product of the extents), CAST, DEVICE, LIBRARY, COMPILE, MEMORY;
 * KERNEL under UF_DEBUG, max_steps and cancel. */
UF_API uf_status uf_forall(const uf_func *kernel, int ndim, const int64_t *extents, int nargs, const DLTensor *args,
                           const uf_options *options);

/* A uf_forall with everything decided and compiled beforehand: as uf_plan_new, with the space of uf_forall. uf_plan_run runs it;
 * if the addresses of a run are aligned or overlap unlike those of the plan, it may compile other code first. */
UF_API uf_status uf_forall_plan(uf_plan **out, const uf_func *kernel, int ndim, const int64_t *extents, int nargs,
                                const DLTensor *args, const uf_options *options);

/* What the blocks of a kernel over indices hold in shared memory, found by looking at the kernel's text; bits. */
enum {
    /* copies of arrays that are only counted in (atomic_add ..), which a block adds to the array at its end */
    UF_STAGED_COUNTERS = 1,
    UF_STAGED_ROWS = 2, /* short rows that a loop reads in all points alike, as that of a body over all bodies */
    UF_STAGED_PAIRS = 4 /* elements that a reduction reads at [i][k] and [j][k] or [k][j], for a tile of points i, j */
};

/* How a kernel over indices is launched. Members that the device does not have are 0. */
typedef struct uf_launch {
    size_t size;  /* sizeof(uf_launch), set by the caller */
    int64_t grid; /* CUDA: blocks */
    int block;    /* CUDA: threads in a block */
    int elements; /* CUDA: points that a thread takes; 1 also where the lanes of a warp compute a point together */
    int vector; /* how many of these are neighbours along the last index whose elements are read and written together */
    int registers;            /* of a thread */
    int shared_bytes;         /* of a block */
    int local_bytes;          /* of a thread: registers that did not fit, and arrays of the kernel */
    int blocks_per_processor; /* how many a multiprocessor holds at once */
    double occupancy;         /* threads that a multiprocessor holds, of those it could hold: 0 to 1 */
    int threads;              /* CPU: largest number of threads that take part */
    int across; /* CUDA: threads of a block that stand side by side along the last index, the others behind them along the index
                   before it, as where an array is written across the space (b[j][i] = a[i][j]); 0: all follow in C order */
    int interior; /* CUDA: 1 if points that are far enough from all borders of the space and its arrays run code of their own, in which no
                     index that is the point's plus a constant is checked, clamped or wrapped; 0: all run the same */
    int staged; /* CUDA: UF_STAGED_ bits */
} uf_launch;

/* Says how uf_forall with these arguments would be launched, and compiles the code if need be. Members that out->size has no room
 * for are left out. Errors as for uf_forall. */
UF_API uf_status uf_launch_info(const uf_func *kernel, int ndim, const int64_t *extents, int nargs,
                                const DLTensor *args, const uf_options *options, uf_launch *out);

/* ---- Memory ------------------------------------------------------------------------------------------------------- */

/* Makes a C-contiguous array with undefined content, of numbers or of records (lanes), on kDLCPU (64-byte aligned), kDLCUDA (256),
 * kDLCUDAHost or kDLCUDAManaged. Release it with (*out)->deleter(*out), once no queued work uses it. *out is NULL on failure.
 * Errors: ARGUMENT, MEMORY, LIBRARY, DEVICE. */
UF_API uf_status uf_empty(DLManagedTensor **out, DLDevice device, DLDataType dtype, int ndim, const int64_t *shape);

/* Copies src to dst between any two devices and strides; src broadcasts to dst's shape and is cast under same_kind. Overlap
 * behaves as if src had been copied first. Within a GPU the copy is enqueued on stream. Between host and device it is done on
 * return, unless the host array is pinned (kDLCUDAHost) and contiguous: then it may still be under way on the stream.
 * Errors: ARGUMENT, SHAPE, CAST, DEVICE, LIBRARY, COMPILE, MEMORY; KERNEL if it waits, and earlier work on the device has an error
 * to report (UF_DEBUG, max_steps, cancel); the copy is made all the same. */
UF_API uf_status uf_copy(const DLTensor *dst, const DLTensor *src, void *stream);

/* Waits for everything enqueued on a stream of a CUDA device; does nothing for kDLCPU. Errors: DEVICE, LIBRARY; KERNEL if work on
 * the device has an error to report (UF_DEBUG, max_steps, cancel). */
UF_API uf_status uf_sync(DLDevice device, void *stream);

/* ---- Looking at things -------------------------------------------------------------------------------------------- */

typedef struct uf_description {
    size_t size;      /* sizeof(uf_description), set by the caller */
    const char *name; /* all texts live as long as the function */
    const char *doc;  /* "" if there is none */
    const char *kind; /* "elementwise", "gufunc", "reduction", "kernel" (nout is 0; signatures are parameter lists) */
    int nin, nout;
    const char *signatures; /* in canonical spelling, "; " between them; NULL: any types */
    const char *layout;     /* in canonical spelling; NULL: elementwise */
    const char *identity;   /* as registered; NULL: none */
    unsigned order;         /* in which it reduces: 0, UF_ORDERED or UF_SERIAL */
    int nstate;             /* values of the state; 0: it does not reduce */
} uf_description;

/* Describes a function. Members that out->size has no room for are left out. Errors: ARGUMENT. */
UF_API uf_status uf_describe(const uf_func *func, uf_description *out);

typedef enum uf_view {
    UF_VIEW_TREE = 0,     /* the typed tree */
    UF_VIEW_IR = 1,       /* LLVM IR as generated */
    UF_VIEW_PTX = 2,      /* PTX (CUDA devices; needs libnvvm but no GPU) */
    UF_VIEW_ASSEMBLY = 3, /* host assembly (CPU) */
    UF_VIEW_RESOURCES = 4 /* what the compiled code uses: registers, spills, occupancy (CUDA); bytes of code (CPU) */
} uf_view;

/* Shows the code for one signature, that of contiguous arrays. types: the input dtypes, "float32,float32"; of a kernel over
 * indices a parameter list; NULL: the first signature. device {kDLCUDA, n} with n >= 0 is a device of this machine;
 * {kDLCUDA, -arch} is an architecture without a device, e.g. -90. *text is released with free(); NULL on failure.
 * Errors as for uf_call. */
UF_API uf_status uf_inspect(const uf_func *func, const char *types, DLDevice device, uf_view view, char **text);

/* Says which libraries and devices were found, where, which version, and what is missing. *text is released with free().
 * A missing library is not an error here. Errors: ARGUMENT, MEMORY. */
UF_API uf_status uf_system_info(char **text);

/* ---- Arguments in place, options by name ----
 *
 * What the macros UF_CALL, UF_REDUCE, .. (see "Comfort") fill in and hand to the library: options, and behind them the arrays, for
 * which such a macro makes just the room that they need. A program that uses the macros does not name these. Their first members
 * are the same: `size` is offsetof(uf_call_args, args) and its like, `room` the number of `args`, of which those from the first
 * one on that is all zero do not count. */

enum {
    UF_NO_AXIS = -0x7FFFFFFF - 1 /* no axis was given */
};

/* Whoever gets a struct with room for n arrays looks at it as at one with room for another number. */
#if defined(__GNUC__)
#define UF_MAY_ALIAS_ __attribute__((__may_alias__))
#else
#define UF_MAY_ALIAS_
#endif

/* clang-format off */

/* Of UF_CALL, UF_PLAN and UF_NEW. Members that are not described here are those of uf_options. */
#define UF_CALL_ARGS_(n)                                                                                   \
    struct UF_MAY_ALIAS_ {                                                                                 \
        size_t size;                                                                                       \
        int room;                                                                                          \
        int axis;                    /* generalized ufuncs: uf_axes.axis, or UF_NO_AXIS */                 \
        void *stream;                                                                                      \
        DLDevice device;                                                                                   \
        uf_casting casting;                                                                                \
        int threads;                                                                                       \
        const char *signature;                                                                             \
        const DLTensor *where;                                                                             \
        unsigned flags;                                                                                    \
        bool keepdims;               /* uf_axes.keepdims */                                                \
        const uf_axes *axes;         /* UF_AXES_EACH(UF_AXES(0, 1), UF_AXES(0)): those of each argument */ \
        const volatile int *cancel;                                                                        \
        volatile double *progress;                                                                         \
        DLTensor args[n];                                                                                  \
    }
typedef UF_CALL_ARGS_(1) uf_call_args;

/* Of UF_REDUCE, UF_REDUCE_PLAN and UF_REDUCE_NEW. Members that are not described here are those of uf_reduce_options. */
#define UF_REDUCE_ARGS_(n)                                                                                        \
    struct UF_MAY_ALIAS_ {                                                                                        \
        size_t size;                                                                                              \
        int room;                                                                                                 \
        int axis;                    /* the one axis that is reduced, or UF_NO_AXIS */                            \
        uf_axis_list axes;           /* UF_AXES(0, 2): several; UF_AXES_NONE: none. Without axis and axes: all */ \
        bool keepdims;                                                                                            \
        unsigned flags;                                                                                           \
        const DLTensor *initial;                                                                                  \
        const DLTensor *where;                                                                                    \
        void *stream;                                                                                             \
        uf_casting casting;                                                                                       \
        int threads;                                                                                              \
        const char *signature;                                                                                    \
        void *scratch;                                                                                            \
        size_t scratch_size;                                                                                      \
        const volatile int *cancel;                                                                               \
        volatile double *progress;                                                                                \
        DLTensor args[n];                                                                                         \
    }
typedef UF_REDUCE_ARGS_(1) uf_reduce_args;

/* Of UF_ACCUMULATE, UF_ACCUMULATE_PLAN and UF_ACCUMULATE_NEW. Members that are not described here are those of uf_options. */
#define UF_ACCUMULATE_ARGS_(n)                                               \
    struct UF_MAY_ALIAS_ {                                                   \
        size_t size;                                                         \
        int room;                                                            \
        int axis;                    /* 0 if it is not given, as in NumPy */ \
        void *stream;                                                        \
        uf_casting casting;                                                  \
        int threads;                                                         \
        const char *signature;                                               \
        void *scratch;                                                       \
        size_t scratch_size;                                                 \
        unsigned flags;                                                      \
        const volatile int *cancel;                                          \
        volatile double *progress;                                           \
        DLTensor args[n];                                                    \
    }
typedef UF_ACCUMULATE_ARGS_(1) uf_accumulate_args;

/* Of UF_FORALL and UF_FORALL_PLAN. Members that are not described here are those of uf_options. */
#define UF_FORALL_ARGS_(n)          \
    struct UF_MAY_ALIAS_ {          \
        size_t size;                \
        int room;                   \
        int threads;                \
        void *stream;               \
        const char *signature;      \
        unsigned flags;             \
        int block;                  \
        int elements;               \
        const volatile int *cancel; \
        volatile double *progress;  \
        DLTensor args[n];           \
    }
typedef UF_FORALL_ARGS_(1) uf_forall_args;

/* clang-format on */

/* Each is the function that its name begins with. Errors: those of that function; ARGUMENT for axis and axes together. */
UF_API uf_status uf_call_with(const uf_func *func, const uf_call_args *args);
UF_API uf_status uf_plan_with(uf_plan **out, const uf_func *func, const uf_call_args *args);
UF_API uf_status uf_new_with(DLManagedTensor **out, const uf_func *func, const uf_call_args *args);
UF_API uf_status uf_reduce_with(const uf_func *func, const uf_reduce_args *args);
UF_API uf_status uf_reduce_plan_with(uf_plan **out, const uf_func *func, const uf_reduce_args *args);
UF_API uf_status uf_reduce_new_with(DLManagedTensor **out, const uf_func *func, const uf_reduce_args *args);
UF_API uf_status uf_accumulate_with(const uf_func *func, const uf_accumulate_args *args);
UF_API uf_status uf_accumulate_plan_with(uf_plan **out, const uf_func *func, const uf_accumulate_args *args);
UF_API uf_status uf_accumulate_new_with(DLManagedTensor **out, const uf_func *func, const uf_accumulate_args *args);
UF_API uf_status uf_forall_with(const uf_func *kernel, int ndim, const int64_t *extents, const uf_forall_args *args);
UF_API uf_status uf_forall_plan_with(uf_plan **out, const uf_func *kernel, int ndim, const int64_t *extents,
                                     const uf_forall_args *args);

/* The shape of numbers that UF_SCALAR makes, by which an output that is one is refused. */
UF_API extern const int64_t uf_number_shape[1];

#ifdef __cplusplus
}
#endif

/* ---- Comfort ------------------------------------------------------------------------------------------------------ */

#define UF_TEXT_(...) UF_TEXT_AS_IT_IS_(__VA_ARGS__)
#define UF_TEXT_AS_IT_IS_(...) #__VA_ARGS__

/* A kernel written in place: UF_SOURCE((x, y) { return x + y; }). An error in it names the C file and the line of the macro. The
 * preprocessor makes one line of its text, so that the line of an error is that of the macro (of its beginning by gcc, of its end by
 * clang), and what stands there is shown with the error. Errors in string literals and files have lines of their own. A text is one
 * UF_SOURCE: two that stand side by side are none. */
#define UF_SOURCE(...) "#line " UF_TEXT_(__LINE__) " \"" __FILE__ "\"\n" #__VA_ARGS__

/* _Float16 and __bf16, where the compiler has them. Clang has a __bf16 that computes since version 17, and no macro for it. */
#ifdef __FLT16_MANT_DIG__
#define UF_HAS_FLOAT16_
__extension__ typedef _Float16 uf_float16_;
#endif
#if defined(__BFLT16_MANT_DIG__) || (defined(__clang__) && __clang_major__ >= 17 && defined(__SSE2__))
#define UF_HAS_BFLOAT16_
__extension__ typedef __bf16 uf_bfloat16_;
#endif

#ifndef __cplusplus

/* clang-format off */

#ifdef UF_HAS_FLOAT16_
#define UF_FLOAT16_ROW_(...) __VA_ARGS__
#else
#define UF_FLOAT16_ROW_(...)
#endif
#ifdef UF_HAS_BFLOAT16_
#define UF_BFLOAT16_ROW_(...) __VA_ARGS__
#else
#define UF_BFLOAT16_ROW_(...)
#endif

/* The DLDataType of an expression's type, or of what a pointer points to. */
#define UF_DTYPE_OF(value)                                                                                            \
    _Generic((value),                                                                                                 \
        UF_FLOAT16_ROW_(uf_float16_: (DLDataType){kDLFloat, 16, 1},)                                                  \
        UF_BFLOAT16_ROW_(uf_bfloat16_: (DLDataType){kDLBfloat, 16, 1},)                                               \
        _Bool: (DLDataType){UF_BOOL_CODE, 8, 1},                                                                      \
        char: (DLDataType){((char)-1 < 0) ? kDLInt : kDLUInt, 8, 1},                                                  \
        signed char: (DLDataType){kDLInt, 8, 1},                                                                      \
        short: (DLDataType){kDLInt, 16, 1},                                                                           \
        int: (DLDataType){kDLInt, 32, 1},                                                                             \
        long: (DLDataType){kDLInt, 8 * sizeof(long), 1},                                                              \
        long long: (DLDataType){kDLInt, 64, 1},                                                                       \
        unsigned char: (DLDataType){kDLUInt, 8, 1},                                                                   \
        unsigned short: (DLDataType){kDLUInt, 16, 1},                                                                 \
        unsigned: (DLDataType){kDLUInt, 32, 1},                                                                       \
        unsigned long: (DLDataType){kDLUInt, 8 * sizeof(long), 1},                                                    \
        unsigned long long: (DLDataType){kDLUInt, 64, 1},                                                             \
        float: (DLDataType){kDLFloat, 32, 1},                                                                         \
        double: (DLDataType){kDLFloat, 64, 1},                                                                        \
        float _Complex: (DLDataType){kDLComplex, 64, 1},                                                              \
        double _Complex: (DLDataType){kDLComplex, 128, 1})

#define UF_NDIM_(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* 0, if the condition holds. */
#define UF_ASSERT_(condition, message) (0 * (int)sizeof(struct { _Static_assert(condition, message); char unused; }))

/* What a list in parentheses has in them: UF_LIST_IN_PARENTHESES_ (3, 4) is 3, 4. */
#define UF_LIST_IN_PARENTHESES_(...) __VA_ARGS__

/* UF_BY_COUNT_(one, more, ..) is `one` if one argument follows, and `more` if 2 to 65 do. */
#define UF_BY_COUNT_(one, more, ...) UF_BEHIND_65_(__VA_ARGS__, UF_32_(more), UF_32_(more), one, 0)
#define UF_BEHIND_65_(...) UF_BEHIND_65_AS_IT_IS_(__VA_ARGS__)
#define UF_BEHIND_65_AS_IT_IS_(a, b0, b1, b2, b3, b4, b5, b6, b7, c0, c1, c2, c3, c4, c5, c6, c7, d0, d1, d2, d3, d4, \
    d5, d6, d7, e0, e1, e2, e3, e4, e5, e6, e7, f0, f1, f2, f3, f4, f5, f6, f7, g0, g1, g2, g3, g4, g5, g6, g7, h0,   \
    h1, h2, h3, h4, h5, h6, h7, i0, i1, i2, i3, i4, i5, i6, i7, which, ...) which
#define UF_8_(a) a, a, a, a, a, a, a, a
#define UF_32_(a) UF_8_(a), UF_8_(a), UF_8_(a), UF_8_(a)

/* How many of 1 to 65 arguments follow. */
#define UF_COUNT_(...) UF_BEHIND_65_(__VA_ARGS__, 65, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49,  \
    48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21,    \
    20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

/* How many of 0 to 65 a list in parentheses has: of (3, 4) it is 2, and of () 0. */
#define UF_LENGTH_(list) (sizeof(UF_TEXT_(UF_LIST_IN_PARENTHESES_ list)) == 1 ? 0 : UF_COUNT_ list)

/* A C array of any rank, of which only the type is known. UF_ELEMENT_k_ is its element at k indices that are 0. An array has one
 * where its rank is at least k, which UF_DEEP_k_ tells; where it is less UF_ELEMENT_k_ is a char. */
#define UF_IF_TYPE_(condition, yes, no) _Generic((char (*)[1 + (condition)])0, char (*)[2]: (yes), default: (no))
#define UF_IS_POINTER_(value) (__builtin_classify_type(value) == 5)
#define UF_IS_ARRAY_(value) (!__builtin_types_compatible_p(__typeof__(value), __typeof__(((void)0, (value)))))
#define UF_ELEMENT_1_(a) (a)[0]
#define UF_DEEP_2_(a) UF_IS_POINTER_(UF_ELEMENT_1_(a))
#define UF_ELEMENT_2_(a) UF_IF_TYPE_(UF_DEEP_2_(a), a, (char (*)[1])0)[0][0]
#define UF_DEEP_3_(a) UF_IS_POINTER_(UF_ELEMENT_2_(a))
#define UF_ELEMENT_3_(a) UF_IF_TYPE_(UF_DEEP_3_(a), a, (char (*)[1][1])0)[0][0][0]
#define UF_DEEP_4_(a) UF_IS_POINTER_(UF_ELEMENT_3_(a))
#define UF_ELEMENT_4_(a) UF_IF_TYPE_(UF_DEEP_4_(a), a, (char (*)[1][1][1])0)[0][0][0][0]
#define UF_DEEP_5_(a) UF_IS_POINTER_(UF_ELEMENT_4_(a))
#define UF_ELEMENT_5_(a) UF_IF_TYPE_(UF_DEEP_5_(a), a, (char (*)[1][1][1][1])0)[0][0][0][0][0]
#define UF_DEEP_6_(a) UF_IS_POINTER_(UF_ELEMENT_5_(a))
#define UF_ELEMENT_6_(a) UF_IF_TYPE_(UF_DEEP_6_(a), a, (char (*)[1][1][1][1][1])0)[0][0][0][0][0][0]
#define UF_DEEP_7_(a) UF_IS_POINTER_(UF_ELEMENT_6_(a))
#define UF_RANK_(a) (1 + UF_DEEP_2_(a) + UF_DEEP_3_(a) + UF_DEEP_4_(a) + UF_DEEP_5_(a) + UF_DEEP_6_(a))
#define UF_SCALAR_OF_(a)                                                                                              \
    _Generic((char (*)[UF_RANK_(a)])0,                                                                                \
        char (*)[1]: UF_ELEMENT_1_(a), char (*)[2]: UF_ELEMENT_2_(a), char (*)[3]: UF_ELEMENT_3_(a),                  \
        char (*)[4]: UF_ELEMENT_4_(a), char (*)[5]: UF_ELEMENT_5_(a), char (*)[6]: UF_ELEMENT_6_(a))
#define UF_SHAPE_OF_(a)                                                                                               \
    ((int64_t[]){sizeof(a) / sizeof(UF_ELEMENT_1_(a)), sizeof(UF_ELEMENT_1_(a)) / sizeof(UF_ELEMENT_2_(a)),           \
                 sizeof(UF_ELEMENT_2_(a)) / sizeof(UF_ELEMENT_3_(a)),                                                 \
                 sizeof(UF_ELEMENT_3_(a)) / sizeof(UF_ELEMENT_4_(a)),                                                 \
                 sizeof(UF_ELEMENT_4_(a)) / sizeof(UF_ELEMENT_5_(a)),                                                 \
                 sizeof(UF_ELEMENT_5_(a)) / sizeof(UF_ELEMENT_6_(a))})
#define UF_NDIM_OF_(a, name)                                                                                          \
    UF_RANK_(a) +                                                                                                     \
        UF_ASSERT_(UF_IS_ARRAY_(a), name " of one argument takes an array; of a pointer it takes the extents, too") + \
        UF_ASSERT_((!UF_DEEP_2_(a) || UF_IS_ARRAY_(UF_ELEMENT_1_(a))) &&                                              \
                   (!UF_DEEP_3_(a) || UF_IS_ARRAY_(UF_ELEMENT_2_(a))) &&                                              \
                   (!UF_DEEP_4_(a) || UF_IS_ARRAY_(UF_ELEMENT_3_(a))) &&                                              \
                   (!UF_DEEP_5_(a) || UF_IS_ARRAY_(UF_ELEMENT_4_(a))) &&                                              \
                   (!UF_DEEP_6_(a) || UF_IS_ARRAY_(UF_ELEMENT_5_(a))),                                                \
                   name " takes no array of pointers: its elements lie in one piece of memory") +                     \
        UF_ASSERT_(!UF_DEEP_7_(a), name " takes arrays of up to six dimensions; of a pointer it takes 64 extents")

/* An array in host memory, C-contiguous, with the dtype of its elements:
 *
 *   UF_ARRAY(m)                     a whole C array, float m[3][4], of up to six dimensions
 *   UF_ARRAY(p, rows, columns)      what a pointer points to, with its extents
 *
 * const is cast away, and inputs are never written. An array of variable length is evaluated more than once, so that it must not
 * have side effects, as in UF_ARRAY(row[i++]).
 * Lives as long as the enclosing block, as all macros of this kind do. A branch of an if and the body of a loop are blocks, with
 * braces or without: `if (c) t = UF_ARRAY(x); else t = UF_ARRAY(y);` leaves t with extents that are gone, while
 * `t = c ? UF_ARRAY(x) : UF_ARRAY(y);` is right. */
#define UF_ARRAY(...) UF_BY_COUNT_(UF_ARRAY_WHOLE_, UF_ARRAY_AT_, __VA_ARGS__)(__VA_ARGS__)
#define UF_ARRAY_AT_(pointer, ...)                                                                                    \
    ((DLTensor){.data = (void *)(uintptr_t)(pointer),                                                                 \
                .device = {kDLCPU, 0},                                                                                \
                .ndim = UF_NDIM_(__VA_ARGS__),                                                                        \
                .dtype = UF_DTYPE_OF(*(pointer)),                                                                     \
                .shape = (int64_t[]){__VA_ARGS__}})
#define UF_ARRAY_WHOLE_(array)                                                                                        \
    ((DLTensor){.data = (void *)(uintptr_t)(array),                                                                   \
                .device = {kDLCPU, 0},                                                                                \
                .ndim = UF_NDIM_OF_(array, "UF_ARRAY"),                                                               \
                .dtype = UF_DTYPE_OF(UF_SCALAR_OF_(array)),                                                           \
                .shape = UF_SHAPE_OF_(array)})

/* The same for C structs, for functions over records: UF_RECORDS(particles), UF_RECORDS(pointer, 1000). They have at most 65535
 * bytes. */
#define UF_RECORDS(...) UF_BY_COUNT_(UF_RECORDS_WHOLE_, UF_RECORDS_AT_, __VA_ARGS__)(__VA_ARGS__)
#define UF_BYTES_(record)                                                                                             \
    (sizeof(record) + UF_ASSERT_(sizeof(record) <= 65535, "a record has at most 65535 bytes"))
#define UF_RECORDS_AT_(pointer, ...)                                                                                  \
    ((DLTensor){.data = (void *)(uintptr_t)(pointer),                                                                 \
                .device = {kDLCPU, 0},                                                                                \
                .ndim = UF_NDIM_(__VA_ARGS__),                                                                        \
                .dtype = {kDLUInt, 8, UF_BYTES_(*(pointer))},                                                         \
                .shape = (int64_t[]){__VA_ARGS__}})
#define UF_RECORDS_WHOLE_(array)                                                                                      \
    ((DLTensor){.data = (void *)(uintptr_t)(array),                                                                   \
                .device = {kDLCPU, 0},                                                                                \
                .ndim = UF_NDIM_OF_(array, "UF_RECORDS"),                                                             \
                .dtype = {kDLUInt, 8, UF_BYTES_(UF_SCALAR_OF_(array))},                                               \
                .shape = UF_SHAPE_OF_(array)})

/* An array in host memory with strides, in elements, from the element that the pointer points to: UF_STRIDED(p, (3, 4), (1, 3)).
 * Of rank 0 both lists are (), which ISO C does not know. */
#define UF_STRIDED(pointer, extents, steps)                                                                           \
    ((DLTensor){.data = (void *)(uintptr_t)(pointer),                                                                 \
                .device = {kDLCPU, 0},                                                                                \
                .ndim = UF_LENGTH_(extents) + UF_ASSERT_(UF_LENGTH_(extents) == UF_LENGTH_(steps),                    \
                                                         "UF_STRIDED needs as many strides as extents"),              \
                .dtype = UF_DTYPE_OF(*(pointer)),                                                                     \
                .shape = __extension__(int64_t[]){UF_LIST_IN_PARENTHESES_ extents},                                   \
                .strides = __extension__(int64_t[]){UF_LIST_IN_PARENTHESES_ steps}})

/* A C-contiguous array in device memory: UF_CUDA(0, ((DLDataType){kDLFloat, 32, 1}), pointer, 1000). */
#define UF_CUDA(id, type, pointer, ...)                                                                               \
    ((DLTensor){.data = (void *)(uintptr_t)(pointer),                                                                 \
                .device = {kDLCUDA, (id)},                                                                            \
                .ndim = UF_NDIM_(__VA_ARGS__),                                                                        \
                .dtype = (type),                                                                                      \
                .shape = (int64_t[]){__VA_ARGS__}})

/* A number: UF_SCALAR(20), UF_SCALAR(0.5f). It is a copy, and refused as an output. */
#define UF_SCALAR(value)                                                                                              \
    ((DLTensor){.data = _Generic((value),                                                                             \
                    UF_FLOAT16_ROW_(uf_float16_: (void *)(uf_float16_[]){(uf_float16_)(value)},)                      \
                    UF_BFLOAT16_ROW_(uf_bfloat16_: (void *)(uf_bfloat16_[]){(uf_bfloat16_)(value)},)                  \
                    _Bool: (void *)(_Bool[]){(_Bool)(value)},                                                         \
                    char: (void *)(char[]){(char)(value)},                                                            \
                    signed char: (void *)(signed char[]){(signed char)(value)},                                       \
                    short: (void *)(short[]){(short)(value)},                                                         \
                    int: (void *)(int[]){(int)(value)},                                                               \
                    long: (void *)(long[]){(long)(value)},                                                            \
                    long long: (void *)(long long[]){(long long)(value)},                                             \
                    unsigned char: (void *)(unsigned char[]){(unsigned char)(value)},                                 \
                    unsigned short: (void *)(unsigned short[]){(unsigned short)(value)},                              \
                    unsigned: (void *)(unsigned[]){(unsigned)(value)},                                                \
                    unsigned long: (void *)(unsigned long[]){(unsigned long)(value)},                                 \
                    unsigned long long: (void *)(unsigned long long[]){(unsigned long long)(value)},                  \
                    float: (void *)(float[]){(float)(value)},                                                         \
                    double: (void *)(double[]){(double)(value)},                                                      \
                    float _Complex: (void *)(float _Complex[]){(float _Complex)(value)},                              \
                    double _Complex: (void *)(double _Complex[]){(double _Complex)(value)}),                          \
                .device = {kDLCPU, 0},                                                                                \
                .ndim = 0,                                                                                            \
                .dtype = UF_DTYPE_OF(value),                                                                          \
                .shape = (int64_t *)(uintptr_t)uf_number_shape})

/* A variable that a call writes its one result to: UF_REDUCE(sum, UF_ARRAY(x), UF_OUT(total)). */
#define UF_OUT(variable)                                                                                              \
    ((DLTensor){.data = &(variable), .device = {kDLCPU, 0}, .ndim = 0, .dtype = UF_DTYPE_OF(variable)})

/* clang-format on */

/* Calls with arrays in place, and then options by name, in any order, which are the members of the structs above ("Arguments in
 * place"); 65 at most, together:
 *
 *   UF_CALL(add, UF_ARRAY(x), UF_ARRAY(y), UF_ARRAY(r))                              uf_call
 *   UF_CALL(add, UF_ARRAY(x), UF_SCALAR(1), UF_ARRAY(r), .where = &UF_ARRAY(mask), .threads = 1)
 *   UF_REDUCE(sum, UF_ARRAY(table), UF_ARRAY(r), .axis = 1, .keepdims = true)        uf_reduce
 *   UF_REDUCE(sum, UF_ARRAY(cube), UF_ARRAY(r), .axes = UF_AXES(0, 2))
 *   UF_ACCUMULATE(add, UF_ARRAY(x), UF_ARRAY(r), .axis = -1)                         uf_accumulate
 *   UF_FORALL(step, (rows, columns), UF_ARRAY(u), UF_ARRAY(v), UF_SCALAR(0.1f))      uf_forall
 *
 * UF_PLAN, UF_REDUCE_PLAN, UF_ACCUMULATE_PLAN and UF_FORALL_PLAN make plans of these and take a uf_plan ** first. UF_NEW,
 * UF_REDUCE_NEW and UF_ACCUMULATE_NEW make the outputs, take a DLManagedTensor ** first and only the inputs as arrays:
 *
 *   UF_NEW(&r, add, UF_ARRAY(x), UF_ARRAY(y))                                        uf_new
 *
 * Each is a uf_status. They are statement expressions, which gcc and clang have, for use in functions. */
#define UF_CALL(func, ...) UF_NAMED_(uf_call_with, UF_CALL_ARGS_, .axis = UF_NO_AXIS, ((func)), __VA_ARGS__)
#define UF_PLAN(out, func, ...) UF_NAMED_(uf_plan_with, UF_CALL_ARGS_, .axis = UF_NO_AXIS, ((out), (func)), __VA_ARGS__)
#define UF_NEW(out, func, ...) UF_NAMED_(uf_new_with, UF_CALL_ARGS_, .axis = UF_NO_AXIS, ((out), (func)), __VA_ARGS__)
#define UF_REDUCE(func, ...) UF_NAMED_(uf_reduce_with, UF_REDUCE_ARGS_, .axis = UF_NO_AXIS, ((func)), __VA_ARGS__)
#define UF_REDUCE_PLAN(out, func, ...) \
    UF_NAMED_(uf_reduce_plan_with, UF_REDUCE_ARGS_, .axis = UF_NO_AXIS, ((out), (func)), __VA_ARGS__)
#define UF_REDUCE_NEW(out, func, ...) \
    UF_NAMED_(uf_reduce_new_with, UF_REDUCE_ARGS_, .axis = UF_NO_AXIS, ((out), (func)), __VA_ARGS__)
#define UF_ACCUMULATE(func, ...) UF_NAMED_(uf_accumulate_with, UF_ACCUMULATE_ARGS_, .axis = 0, ((func)), __VA_ARGS__)
#define UF_ACCUMULATE_PLAN(out, func, ...) \
    UF_NAMED_(uf_accumulate_plan_with, UF_ACCUMULATE_ARGS_, .axis = 0, ((out), (func)), __VA_ARGS__)
#define UF_ACCUMULATE_NEW(out, func, ...) \
    UF_NAMED_(uf_accumulate_new_with, UF_ACCUMULATE_ARGS_, .axis = 0, ((out), (func)), __VA_ARGS__)
#define UF_FORALL(kernel, extents, ...) \
    UF_NAMED_(uf_forall_with, UF_FORALL_ARGS_, .flags = 0, ((kernel), UF_EXTENTS_(extents)), __VA_ARGS__)
#define UF_FORALL_PLAN(out, kernel, extents, ...) \
    UF_NAMED_(uf_forall_plan_with, UF_FORALL_ARGS_, .flags = 0, ((out), (kernel), UF_EXTENTS_(extents)), __VA_ARGS__)

/* Axes of .axes, no axes, and a list of them for each argument of a generalized ufunc. */
#define UF_AXES_NONE ((uf_axis_list){UF_NO_AXES, NULL})
#define UF_AXES(...) ((uf_axis_list){(int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (const int[]){__VA_ARGS__}})
#define UF_AXES_EACH(...)                                                                     \
    (&(uf_axes){.size = sizeof(uf_axes),                                                      \
                .count = (int)(sizeof((uf_axis_list[]){__VA_ARGS__}) / sizeof(uf_axis_list)), \
                .lists = (uf_axis_list[]){__VA_ARGS__}})

#define UF_EXTENTS_(extents) \
    UF_NDIM_ extents, (const int64_t[]) { UF_LIST_IN_PARENTHESES_ extents }

/* An option may be given after its default, which compilers warn of. A number or a pointer where a struct belongs, as in .axes = 0
 * and in a call with pointers for arrays, would be taken for the first member of the struct, since C lets braces be left out; it is
 * an error. */
#if defined(__clang__)
#define UF_OVERRIDE_BEGIN_                                                                           \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Winitializer-overrides\"") \
        _Pragma("clang diagnostic error \"-Wmissing-braces\"")
#define UF_OVERRIDE_END_ _Pragma("clang diagnostic pop")
#else
#define UF_OVERRIDE_BEGIN_                                                               \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverride-init\"") \
        _Pragma("GCC diagnostic error \"-Wmissing-braces\"")
#define UF_OVERRIDE_END_ _Pragma("GCC diagnostic pop")
#endif

#define UF_NAMED_(function, args_with, default_option, first, ...)                                                   \
    __extension__({                                                                                                  \
        UF_OVERRIDE_BEGIN_                                                                                           \
        function(UF_LIST_IN_PARENTHESES_ first,                                                                      \
                 (const void *)&(args_with(UF_COUNT_(__VA_ARGS__))){.size = sizeof(args_with(1)) - sizeof(DLTensor), \
                                                                    .room = UF_COUNT_(__VA_ARGS__),                  \
                                                                    default_option,                                  \
                                                                    .args[0] = __VA_ARGS__});                        \
        UF_OVERRIDE_END_                                                                                             \
    })

#endif /* !__cplusplus */

#endif /* UFUNC_H */
