/* test_lapack_steps.c - the steps of linear algebra on a GPU (core/lapack.c) without one: the CPU's engine borrows the routines of cuSOLVER
 * and cuBLAS, whose mocks compute by LAPACK in the host's memory, while its own code computes the kernels between them. Results beside
 * those of its own library, for matrices and outputs of random shapes and strides; ranks of matrices short of rank. */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/code.h"
#include "cuda/cusolver.h"
#include "engine.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "mock/mockcusolver.h"
#include "mock_child.h"

enum {
    LOOPS = 2,
    RANK = LOOPS + 2,
    OPERANDS = 7,
    EXTENT = 4, /* of a loop dimension, at most */
    ELEMENTS = 1 << 18
};

static const mock_cusolver *solver;

/* The engine's table is constant, and lies in memory that is only read. */
static engine *writable_engine(void) {
    engine *cpu = (engine *)(uintptr_t)&cpu_engine;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)cpu & ~(page - 1);
    CHECK(!mprotect((void *)first, (uintptr_t)(cpu + 1) - first, PROT_READ | PROT_WRITE));
    return cpu;
}

static lapack_routine cusolvers_svd(int device, const lapack_problem *p) {
    (void)device;
    return cusolver_svd(p->m, p->n);
}

static lapack_routine function_svd(int device, const lapack_problem *p) {
    (void)device;
    return p->form == LAPACK_SVD ? ROUTINE_SVD : ROUTINE_SVD_FUNCTION;
}

static void borrow_routines(void) {
    engine *cpu = writable_engine();
    cpu->lapack_pays = cuda_engine.lapack_pays;
    cpu->lapack_open = cuda_engine.lapack_open;
    cpu->lapack_run = cuda_engine.lapack_run;
    cpu->lapack_svd = cusolvers_svd;
    cpu->lapack_reflects = cuda_engine.lapack_reflects;
    cpu->lapack_points = cuda_engine.lapack_points;
}

static void use_mocks(void) {
    static char path[2][4096 + 32];
    const mock_cusolver *(*control)(void);
    int folder = (int)(strrchr(mock_path, '/') + 1 - mock_path);
    snprintf(path[0], sizeof path[0], "%.*slibmockcusolver.so", folder, mock_path);
    snprintf(path[1], sizeof path[1], "%.*slibmockcublas.so", folder, mock_path);
    CHECK(setenv("UFUNC_CUSOLVER", path[0], 1) == 0 && setenv("UFUNC_CUBLAS", path[1], 1) == 0);
    void *handle = dlopen(path[0], RTLD_NOW | RTLD_LOCAL);
    CHECK(handle);
    *(void **)&control = dlsym(handle, "mock_cusolver_control");
    CHECK(control);
    solver = control();
}

/* ---- Calls ---- */

typedef struct function {
    const char *name, *types;    /* of the operands: T the dtype, R its real numbers, i int32 */
    const char *shape[OPERANDS]; /* by letter; k: the lesser of m and n */
    int inputs, operands;
    bool phases;   /* results are unique but for signs or phases */
    int64_t least; /* rows; of fewer the kernel puts NaN elsewhere */
} function;

static const function functions[] = {
    {"solve", "TTT", {"nn", "n", "n"}, 2, 3, false, 0},
    {"inv", "TT", {"nn", "nn"}, 1, 2, false, 0},
    {"det", "TT", {"nn", ""}, 1, 2, false, 0},
    {"cholesky", "TT", {"nn", "nn"}, 1, 2, false, 32},
    {"qr", "TTT", {"mn", "mk", "kn"}, 1, 3, true, 0},
    {"eigh", "TRT", {"nn", "n", "nn"}, 1, 3, true, 0},
    {"svd", "TTRT", {"mn", "mk", "k", "kn"}, 1, 4, true, 0},
    {"lstsq", "TTRTRiR", {"mn", "mr", "", "nr", "r", "", "k"}, 3, 7, false, 0},
};

/* An operand in a block of memory, with gaps where strides are not those of packed elements. */
typedef struct operand {
    DLTensor array;
    int64_t shape[RANK], strides[RANK], elements;
    char *block;
} operand;

static int64_t extent_of(char letter, const int64_t *mnr) {
    int64_t m = mnr[0], n = mnr[1];
    return letter == 'm' ? m : letter == 'n' ? n : letter == 'r' ? mnr[2] : m < n ? m : n;
}

/* Loop dimensions and core dimensions; a packed operand's are in the order of memory, without gaps. */
static void operand_make(operand *o, dtype type, int nloops, const int64_t *loop, const char *letters,
                         const int64_t *mnr, bool packed) {
    int ndim = nloops + (int)strlen(letters);
    *o = (operand){.elements = 1};
    for (int d = 0; d < ndim; d++)
        o->shape[d] = d < nloops ? loop[d] : extent_of(letters[d - nloops], mnr);
    bool turned = !packed && chance(50); /* the first dimension is innermost */
    for (int i = ndim - 1; i >= 0; i--) {
        int d = turned ? ndim - 1 - i : i;
        o->strides[d] = o->elements;
        o->elements *= o->shape[d] + (packed ? 0 : pick(0, 1));
    }
    CHECK(o->elements <= ELEMENTS);
    CHECK(o->block = calloc((size_t)o->elements, dtypes[type].size));
    o->array = (DLTensor){.data = o->block,
                          .device = {kDLCPU, 0},
                          .ndim = ndim,
                          .dtype = dtypes[type].dl,
                          .shape = o->shape,
                          .strides = o->strides};
}

static double get(dtype type, const char *at, int64_t i) {
    return type == DT_INT32                           ? (double)((const int32_t *)(const void *)at)[i]
           : dtypes[dtypes[type].component].size == 4 ? (double)((const float *)(const void *)at)[i]
                                                      : ((const double *)(const void *)at)[i];
}

static void put(dtype type, char *at, int64_t i, double v) {
    if (type == DT_INT32)
        ((int32_t *)(void *)at)[i] = (int32_t)v;
    else if (dtypes[dtypes[type].component].size == 4)
        ((float *)(void *)at)[i] = (float)v;
    else
        ((double *)(void *)at)[i] = v;
}

static dtype type_of(char letter, dtype type) {
    return letter == 'i' ? DT_INT32 : letter == 'T' ? type : dtypes[type].component;
}

static void fill(const operand *o, dtype type) {
    for (int64_t i = 0; i < o->elements * (dtype_is_complex(type) ? 2 : 1); i++)
        put(type, o->block, i, (double)pick(-1000, 1000) / 1000);
}

/* The offset of an element of a matrix, whose loop indices are those of matrix number `call`. */
static int64_t place_of(const operand *o, int nloops, int64_t call, int64_t i, int64_t j) {
    int64_t at = i * o->strides[nloops] + j * o->strides[nloops + 1];
    for (int d = nloops - 1; d >= 0; d--) {
        at += call % o->shape[d] * o->strides[d];
        call /= o->shape[d];
    }
    return at;
}

static int64_t calls_of(int nloops, const int64_t *loop) {
    int64_t n = 1;
    for (int d = 0; d < nloops; d++)
        n *= loop[d];
    return n;
}

/* Square matrices become symmetric and positive definite, but one of some that stays as it is times -1, and (with_nan) one with a NaN. */
static void matrices_make(const operand *a, dtype type, int nloops, const int64_t *loop, bool with_nan) {
    int parts = dtype_is_complex(type) ? 2 : 1;
    int64_t n = a->shape[nloops], calls = calls_of(nloops, loop);
    for (int64_t call = 0; call < calls; call++) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) {
                int64_t here = parts * place_of(a, nloops, call, i, j), there = parts * place_of(a, nloops, call, j, i);
                put(type, a->block, there, get(type, a->block, here) + (i == j ? (double)n : 0));
                if (parts == 2)
                    put(type, a->block, there + 1, i == j ? 0 : -get(type, a->block, here + 1));
            }
        int64_t last = parts * place_of(a, nloops, call, n - 1, n - 1);
        if (calls > 1 && call == 1 && with_nan)
            put(type, a->block, last, NAN);
        else if (calls > 1 && call == 2)
            for (int64_t j = 0; j < n; j++)
                for (int part = 0; part < parts; part++) {
                    put(type, a->block, parts * place_of(a, nloops, call, n - 1, j) + part, 0);
                    put(type, a->block, parts * place_of(a, nloops, call, j, n - 1) + part, 0);
                }
    }
}

/* Two results: the same but for rounding, or of absolute values. */
static bool alike(const function *f, const operand *x, const char *y, dtype type) {
    bool complex = dtype_is_complex(type);
    for (int64_t i = 0; i < x->elements; i++) {
        double a[2] = {0}, b[2] = {0};
        for (int part = 0; part <= complex; part++) {
            a[part] = get(type, x->block, i * (1 + complex) + part);
            b[part] = get(type, y, i * (1 + complex) + part);
        }
        double apart = f->phases ? fabs(hypot(a[0], a[1]) - hypot(b[0], b[1])) : hypot(a[0] - b[0], a[1] - b[1]);
        bool none = isnan(a[0]) || isnan(a[1]);
        if (none != (isnan(b[0]) || isnan(b[1])) || (!none && !(apart <= 1e-7 * (1 + hypot(b[0], b[1])))))
            return false;
    }
    return true;
}

static char *copy_of(const char *from, size_t bytes) {
    char *to = malloc(bytes);
    CHECK(to);
    return memcpy(to, from, bytes);
}

static void call_is_right(const function *f, dtype type) {
    static const int64_t sizes[] = {17, 20, 31, 32, 33, 40, 66};
    int nloops = (int)pick(0, LOOPS);
    int64_t loop[LOOPS] = {pick(1, EXTENT), pick(1, EXTENT)},
            mnr[] = {sizes[pick(0, 6)], sizes[pick(0, 6)], pick(1, 3)};
    bool square = f->shape[0][0] == 'n', in_place = false;
    mnr[1] = mnr[1] < f->least ? f->least : mnr[1];
    operand own[OPERANDS] = {0};
    DLTensor args[OPERANDS];
    uf_func *func;
    char *before[OPERANDS] = {0}, *first[OPERANDS] = {0};
    CHECK(!uf_load(&func, f->name));
    for (int k = 0; k < f->operands; k++) {
        dtype t = type_of(f->types[k], type);
        bool scalar = k == 2 && f->inputs == 3, shares = !k && chance(20);
        operand_make(&own[k], t, scalar || shares ? 0 : nloops, loop, f->shape[k], mnr, chance(60));
        fill(&own[k], t);
        if (!k && square)
            /* which elements of an inverse are NaN then depends on the routine, and in OpenBLAS on the processor */
            matrices_make(&own[k], t, shares ? 0 : nloops, loop, strcmp(f->name, "inv") != 0);
        if (scalar)
            put(t, own[k].block, 0, -1);
        args[k] = own[k].array;
    }
    in_place = own[0].array.ndim == own[f->inputs].array.ndim && f->inputs == 1 && square &&
               !memcmp(own[0].shape, own[f->inputs].shape, sizeof own[0].shape) && chance(30);
    if (in_place)
        args[f->inputs] = args[0];
    for (int k = 0; k < f->operands; k++) {
        size_t bytes = (size_t)own[k].elements * dtypes[type_of(f->types[k], type)].size;
        before[k] = copy_of(own[k].block, bytes);
    }
    CHECK(!uf_call(func, f->operands, args, NULL));
    for (int k = 0; k < f->operands; k++) {
        size_t bytes = (size_t)own[k].elements * dtypes[type_of(f->types[k], type)].size;
        first[k] = copy_of(own[k].block, bytes);
        memcpy(own[k].block, before[k], bytes);
    }
    const engine saved = cpu_engine;
    borrow_routines();
    uf_status s = uf_call(func, f->operands, args, NULL);
    *(engine *)(uintptr_t)&cpu_engine = saved;
    CHECK(!s);
    for (int k = 0; k < f->operands; k++) {
        dtype t = type_of(f->types[k], type);
        if (!alike(f, &own[k], first[k], t)) {
            fprintf(stderr, "%s, %s, operand %d, %lld x %lld, loops %d of %lld %lld%s\n", f->name, dtypes[type].name, k,
                    (long long)mnr[0], (long long)mnr[1], nloops, (long long)loop[0], (long long)loop[1],
                    in_place ? ", in place" : "");
            CHECK(!"the same results");
        }
        free(before[k]), free(first[k]), free(own[k].block);
    }
    uf_free(func);
}

static void steps_body(void *unused) {
    (void)unused;
    draw_seed(NULL);
    use_mocks();
    for (int64_t i = 0; i < trials(12); i++)
        for (size_t k = 0; k < COUNT(functions); k++)
            call_is_right(&functions[k], chance(50) ? DT_FLOAT64 : DT_COMPLEX128);
}

/* ---- Ranks ---- */

/* A matrix of that rank, rounded to the dtype: products of numbers of either sign. */
static void short_of_rank(const operand *a, dtype type, int64_t m, int64_t n, int64_t rank) {
    double u[2][32][32], v[2][32][32];
    for (int64_t i = 0; i < 32; i++)
        for (int64_t k = 0; k < rank; k++)
            for (int part = 0; part < 2; part++) {
                u[part][i][k] = part && !dtype_is_complex(type) ? 0 : (double)pick(-1000, 1000) / 1000;
                v[part][i][k] = part && !dtype_is_complex(type) ? 0 : (double)pick(-1000, 1000) / 1000;
            }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double re = 0, im = 0;
            for (int64_t k = 0; k < rank; k++) {
                re += u[0][i][k] * v[0][j][k] - u[1][i][k] * v[1][j][k];
                im += u[0][i][k] * v[1][j][k] + u[1][i][k] * v[0][j][k];
            }
            int64_t at = i * a->strides[0] + j * a->strides[1];
            put(type, a->block, dtype_is_complex(type) ? 2 * at : at, re);
            if (dtype_is_complex(type))
                put(type, a->block, 2 * at + 1, im);
        }
}

/* A routine that leaves small values up to 30 units, and vectors as bad, does not raise the rank; values descend. */
static void rank_is_right(dtype type) {
    const function *f = &functions[COUNT(functions) - 1];
    int64_t mnr[] = {pick(2, 32), pick(17, 32), 2}, k, rank;
    operand own[OPERANDS];
    DLTensor args[OPERANDS];
    uf_func *func;
    if (chance(50)) {
        int64_t t = mnr[0];
        mnr[0] = mnr[1], mnr[1] = t;
    }
    k = extent_of('k', mnr);
    rank = pick(1, k > 6 ? 6 : k - 1); /* so few that the least value is far above the cut */
    CHECK(!uf_load(&func, f->name));
    for (int i = 0; i < f->operands; i++) {
        operand_make(&own[i], type_of(f->types[i], type), 0, NULL, f->shape[i], mnr, chance(50));
        fill(&own[i], type_of(f->types[i], type));
        args[i] = own[i].array;
    }
    short_of_rank(&own[0], type, mnr[0], mnr[1], rank);
    put(own[2].array.dtype.bits == 32 ? DT_FLOAT32 : DT_FLOAT64, own[2].block, 0, -1);
    CHECK(!uf_call(func, f->operands, args, NULL));
    int32_t found = *(const int32_t *)(const void *)own[5].block;
    if (found != rank)
        fprintf(stderr, "%s, %lld x %lld of rank %lld: %d\n", dtypes[type].name, (long long)mnr[0], (long long)mnr[1],
                (long long)rank, (int)found);
    CHECK(found == rank);
    dtype real = dtypes[type].component;
    for (int64_t i = 1; i < k; i++)
        CHECK(get(real, own[6].block, i * own[6].strides[0]) <= get(real, own[6].block, (i - 1) * own[6].strides[0]));
    for (int i = 0; i < f->operands; i++)
        free(own[i].block);
    uf_free(func);
}

static void ranks_body(void *unused) {
    static const dtype types[] = {DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};
    (void)unused;
    draw_seed(NULL);
    use_mocks();
    borrow_routines();
    for (int64_t i = 0; i < trials(40); i++) {
        solver->spoil((double)pick(0, 60));
        rank_is_right(types[pick(0, 3)]);
    }
}

/* Least squares by the function svd, where an engine says that this has code of its own. */
static void own_svd_body(void *unused) {
    static const dtype types[] = {DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};
    (void)unused;
    draw_seed(NULL);
    writable_engine()->lapack_svd = function_svd;
    for (int64_t i = 0; i < trials(40); i++)
        rank_is_right(types[pick(0, 3)]);
}

/* ---- Where results lie ---- */

/* The first element of the Cholesky factor of 4 I, which the mock's routine makes if the output holds the matrix when it is called: the
 * mock driver runs no kernels, so that nothing else gets there. */
static double factor_in(DLDevice where, int64_t stride, uint64_t byte_offset) {
    enum {
        N = 40
    };
    static const DLDataType type = {kDLComplex, 128, 1};
    int64_t shape[] = {N, N}, whole[] = {N + 1, stride}, strides[] = {stride, 1};
    DLManagedTensor *a, *l;
    uf_func *f;
    CHECK(!uf_empty(&a, (DLDevice){kDLCUDA, 0}, type, 2, shape) && !uf_empty(&l, where, type, 2, whole));
    double *data = (double *)(void *)((char *)l->dl_tensor.data + byte_offset);
    memset(data, 0, 2 * sizeof(double) * N * (size_t)stride);
    for (int64_t i = 0; i < N; i++)
        data[2 * (i * stride + i)] = 4;
    DLTensor args[] = {a->dl_tensor, l->dl_tensor};
    args[1].shape = shape;
    args[1].strides = strides;
    args[1].byte_offset = byte_offset;
    CHECK(!uf_load(&f, "cholesky") && !uf_call(f, 2, args, NULL));
    double first = data[0];
    uf_free(f);
    a->deleter(a);
    l->deleter(l);
    return first;
}

/* Packed results in memory of the device are made where they are to be; others, and complex numbers at odd places, are copied there. */
static void places_body(void *unused) {
    code_target target;
    (void)unused;
    if (cuda_engine.target(0, &target))
        _exit(77); /* no libnvvm */
    use_mocks();
    CHECK(factor_in((DLDevice){kDLCUDA, 0}, 40, 0) == 2 && solver->count("cusolverDnZpotrf") == 1);
    CHECK(factor_in((DLDevice){kDLCUDA, 0}, 40, 8) == 4);
    CHECK(factor_in((DLDevice){kDLCUDAManaged, 0}, 40, 0) == 2);
    CHECK(factor_in((DLDevice){kDLCUDA, 0}, 41, 0) == 4);
    CHECK(factor_in((DLDevice){kDLCUDAHost, 0}, 40, 0) == 4);
    CHECK(solver->count("cusolverDnZpotrf") == 5 && !cuda_engine.lapack_lands((const void *)0x77));
}

static void places(void **unused) {
    (void)unused;
    int status = child_status(places_body, NULL);
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
}

/* Leaves numbers that a count of lines may be where the next calls have their variables. */
static __attribute__((noinline)) void leave_numbers(void) {
    volatile int numbers[1 << 16];
    for (size_t i = 0; i < COUNT(numbers); i++)
        numbers[i] = 100;
}

/* A plan is not cleared before it is made. Sizes that a variant has no room for are not asked of it, whatever the plan held before. */
static void uncleared_body(void *unused) {
    static char path[4096 + 32];
    (void)unused;
    snprintf(path, sizeof path, "%.*slibsimcuda.so", (int)(strrchr(mock_path, '/') + 1 - mock_path), mock_path);
    for (size_t i = 0; i < 3; i++)
        CHECK(!setenv(((const char *[]){"UFUNC_CUDA_DRIVER", "UFUNC_NVVM", "UFUNC_LIBDEVICE"})[i], path, 1));
    CHECK(!setenv("UFUNC_CUSOLVER", "/nowhere", 1));
    uf_func *f;
    CHECK(!uf_load(&f, "solve"));
    for (int64_t n = 255; n <= 512; n += n == 257 ? 255 : 1) {
        DLManagedTensor *memory[3];
        DLTensor args[3];
        for (int k = 0; k < 3; k++) {
            CHECK(
                !uf_empty(&memory[k], (DLDevice){kDLCUDA, 0}, dtypes[DT_FLOAT32].dl, k ? 2 : 3, (int64_t[]){64, n, n}));
            args[k] = memory[k]->dl_tensor;
        }
        leave_numbers();
        CHECK_FAILS(uf_call(f, 3, args, NULL), UF_ERR_LIBRARY, "cuSOLVER");
        for (int k = 0; k < 3; k++)
            memory[k]->deleter(memory[k]);
    }
    uf_free(f);
}

#define TEST(name)                    \
    static void name(void **unused) { \
        (void)unused;                 \
        in_child(name##_body, NULL);  \
    }
TEST(steps)
TEST(ranks)
TEST(own_svd)
TEST(uncleared)

static int find_mocks(void **unused) {
    (void)unused;
    return mock_find() ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps), cmocka_unit_test(ranks), cmocka_unit_test(own_svd),
                                       cmocka_unit_test(places), cmocka_unit_test(uncleared)};
    return cmocka_run_group_tests(tests, find_mocks, NULL);
}
