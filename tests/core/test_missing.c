/* test_missing.c - each library that is opened at run time is missing, alone: the call that needs it says UF_ERR_LIBRARY, with
 * the paths tried and the reasons, the variables and an install line; all others work; nothing is printed; and once it is
 * there the same call succeeds. Each case runs in a child, as libraries stay loaded. The driver that is there is the mock's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ufunc.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const DLDevice CPU = {kDLCPU, 0}, GPU = {kDLCUDA, 0}, SM_90 = {kDLCUDA, -90};
static const DLDataType F32 = {kDLFloat, 32, 1};
static char mock[4096]; /* path of the mock driver, "": not built */
static bool toolkit;    /* libnvvm and libdevice are here */

/* ---- Children ---- */

static int report; /* where a child says what went wrong */

static void require(bool right, const char *what, int line) {
    if (right)
        return;
    dprintf(report, "%s:%d: %s\nlast error: %d %s\n", __FILE__, line, what, (int)uf_last_error()->status,
            uf_last_error()->message);
    _exit(1);
}

#define NEED(condition) require(condition, #condition, __LINE__)

static size_t read_all(int file, char *buffer, size_t size) {
    size_t used = 0;
    for (ssize_t n = 1; n > 0 && used<size - 1; used += n> 0 ? (size_t)n : 0)
        n = read(file, buffer + used, size - 1 - used);
    buffer[used] = 0;
    close(file);
    return used;
}

/* Runs body in a child with a variable set (NULL: none); its exit status. What it prints fails the test. */
static int in_child(void (*body)(void), const char *variable, const char *value) {
    static char printed[65536], said[65536];
    int output[2], reports[2], status;
    assert_true(!pipe(output) && !pipe(reports));
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        report = reports[1];
        dup2(output[1], 1);
        dup2(output[1], 2);
        close(output[0]), close(output[1]), close(reports[0]);
        if (variable)
            setenv(variable, value, 1);
        body();
        exit(0);
    }
    close(output[1]), close(reports[1]);
    read_all(output[0], printed, sizeof printed);
    read_all(reports[0], said, sizeof said);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (*printed || *said)
        print_error("%s=%s\n%sprinted: \"%s\"\n", variable ? variable : "", variable ? value : "", said, printed);
    assert_string_equal(printed, "");
    assert_string_equal(said, "");
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* ---- What needs which library ---- */

static uf_func *registered(const char *source) {
    uf_func *f;
    NEED(uf_vectorize(&f, "f", "float32->float32", source) == UF_OK);
    return f;
}

static bool has(const char *text, const char *part) { return strstr(text, part) != NULL; }

/* The error of a missing library: its text has each part, NULL-terminated. */
static void missing(uf_status s, const char *const *parts, int line) {
    require(s == UF_ERR_LIBRARY && uf_last_error()->status == s, "UF_ERR_LIBRARY", line);
    for (; *parts; parts++)
        require(has(uf_last_error()->message, *parts), *parts, line);
}
#define MISSING(status, ...) missing(status, (const char *[]){__VA_ARGS__, NULL}, __LINE__)

static uf_status inspect(const uf_func *f, DLDevice device, uf_view view) {
    char *text;
    uf_status s = uf_inspect(f, NULL, device, view, &text);
    NEED((s == UF_OK) == (text != NULL));
    free(text);
    return s;
}

/* What no library is needed for. */
static void texts_work(void) {
    DLManagedTensor *t;
    uf_func *bad, *f = registered("(x) { return sin(x) + 1; }");
    uf_description d = {.size = sizeof d};
    int64_t three[] = {3}, storage[UF_MAX_NDIM];
    NEED(uf_vectorize(&bad, "f", "f->f", "(x) { return x +; }") == UF_ERR_SYNTAX);
    NEED(uf_describe(f, &d) == UF_OK);
    NEED(inspect(f, CPU, UF_VIEW_TREE) == UF_OK && inspect(f, GPU, UF_VIEW_TREE) == UF_OK);
    NEED(uf_empty(&t, CPU, F32, 1, three) == UF_OK);
    DLTensor args[] = {t->dl_tensor, {.shape = storage}};
    NEED(uf_infer(f, 2, args, NULL) == UF_OK && storage[0] == 3);
    NEED(uf_sync(CPU, NULL) == UF_OK);
    uf_func *matvec;
    NEED(uf_load(&matvec, "matvec") == UF_OK);
    DLTensor arrays[] = {
        {.device = CPU, .ndim = 2, .dtype = F32, .shape = (int64_t[]){4, 3}}, t->dl_tensor, {.shape = storage}};
    NEED(uf_infer(matvec, 3, arrays, NULL) == UF_OK && storage[0] == 4);
    NEED(inspect(matvec, CPU, UF_VIEW_TREE) == UF_OK);
    uf_free(matvec);
    t->deleter(t);
    uf_free(f);
}

static void cpu_works(void) {
    uf_func *f = registered("(x) { return 2 * x; }");
    float x[5] = {1, 2, 3, 4, 5}, r[5] = {0};
    NEED(UF_CALL(f, UF_ARRAY(x, 5), UF_ARRAY(r, 5)) == UF_OK && r[4] == 10);
    NEED(uf_copy(&UF_ARRAY(x, 5), &UF_ARRAY(r, 5), NULL) == UF_OK && x[4] == 10);
    NEED(inspect(f, CPU, UF_VIEW_ASSEMBLY) == UF_OK);
    uf_free(f);
}

static void ptx_works(void) {
    uf_func *f = registered("(x) { return 2 * x; }"), *g = registered("(x) { return sin(x); }");
    if (toolkit) {
        NEED(inspect(f, SM_90, UF_VIEW_PTX) == UF_OK);
        NEED(inspect(g, SM_90, UF_VIEW_PTX) == UF_OK);
    }
    uf_free(f);
    uf_free(g);
}

/* A device array, where the mock plays the driver. */
static DLManagedTensor *device_array(void) {
    DLManagedTensor *t;
    NEED(uf_empty(&t, GPU, F32, 1, (int64_t[]){5}) == UF_OK);
    return t;
}

static void memory_works(void) {
    float x[5] = {1, 2, 3, 4, 5}, r[5] = {0};
    DLManagedTensor *t = device_array();
    NEED(uf_copy(&t->dl_tensor, &UF_ARRAY(x, 5), NULL) == UF_OK);
    NEED(uf_copy(&UF_ARRAY(r, 5), &t->dl_tensor, NULL) == UF_OK);
    NEED(uf_sync(GPU, NULL) == UF_OK);
    t->deleter(t);
}

static uf_status call_there(const uf_func *f) {
    DLManagedTensor *t = device_array();
    uf_status s = UF_CALL(f, t->dl_tensor, t->dl_tensor);
    t->deleter(t);
    return s;
}

/* A product of n by n matrices, whose result is looked at. */
static uf_status product(int n) {
    enum {
        MOST = 200
    };
    static float a[MOST * MOST], r[MOST * MOST];
    uf_func *f;
    for (int i = 0; i < n * n; i++)
        a[i] = (float)(i % 5);
    NEED(uf_load(&f, "matmul") == UF_OK);
    uf_status s = UF_CALL(f, UF_ARRAY(a, n, n), UF_ARRAY(a, n, n), UF_ARRAY(r, n, n));
    float want = 0;
    for (int k = 0; k < n; k++)
        want += a[n + k] * a[k * n + 2];
    NEED(s || r[n + 2] == want);
    uf_free(f);
    return s;
}

static bool openblas_missing(void) {
    char *text;
    NEED(uf_system_info(&text) == UF_OK);
    bool missing = has(text, "OpenBLAS     missing");
    free(text);
    return missing;
}

/* uf_system_info never fails, and has each part. */
static void info_says(const char *const *parts, int line) {
    char *text;
    require(uf_system_info(&text) == UF_OK, "uf_system_info", line);
    for (; *parts; parts++)
        require(has(text, *parts), *parts, line);
    free(text);
}
#define INFO(...) info_says((const char *[]){__VA_ARGS__, NULL}, __LINE__)

/* ---- The cases ---- */

static const char nowhere[] = "/nonexistent/library.so";
#define NO_FILE "  /nonexistent/library.so: cannot open shared object file: No such file or directory\n"

static void no_llvm(void) {
    texts_work();
    uf_func *f = registered("(x) { return 2 * x; }");
    uf_plan *plan;
    char *text;
    float x[3] = {1, 2, 3}, r[3] = {7, 7, 7};
    for (int round = 0; round < 2; round++) {
        MISSING(UF_CALL(f, UF_ARRAY(x, 3), UF_ARRAY(r, 3)), "libLLVM, version 15 to 22", NO_FILE, "UFUNC_LLVM",
                "apt-get install libllvm");
        NEED(r[0] == 7 && r[2] == 7);
        MISSING(uf_plan_new(&plan, f, 2, (DLTensor[]){UF_ARRAY(x, 3), UF_ARRAY(r, 3)}, NULL), nowhere);
        NEED(!plan);
        MISSING(uf_copy(&UF_ARRAY(r, 3), &UF_ARRAY(x, 3), NULL), nowhere);
        MISSING(uf_inspect(f, NULL, CPU, UF_VIEW_ASSEMBLY, &text), nowhere);
        NEED(!text);
    }
    ptx_works();
    if (*mock && toolkit)
        NEED(call_there(f) == UF_OK);
    MISSING(product(3), nowhere);
    if (openblas_missing())
        MISSING(product(200), nowhere);
    else
        NEED(product(200) == UF_OK); /* which needs no code */
    INFO("libLLVM      missing", nowhere, "UFUNC_LLVM", "libufunc ", "CUDA");
    unsetenv("UFUNC_LLVM");
    NEED(UF_CALL(f, UF_ARRAY(x, 3), UF_ARRAY(r, 3)) == UF_OK && r[2] == 6);
    uf_free(f);
    cpu_works();
}

static void wrong_llvm(void) {
    texts_work();
    uf_func *f = registered("(x) { return x; }");
    float x[3] = {0};
    MISSING(UF_CALL(f, UF_ARRAY(x, 3), UF_ARRAY(x, 3)), "  libm.so.6: has no function LLVM", "versions 15 to 22");
    uf_free(f);
}

static void no_driver(void) {
    texts_work();
    cpu_works();
    ptx_works();
    uf_func *f = registered("(x) { return 2 * x; }");
    DLManagedTensor *t;
    float x[3];
    DLTensor there = UF_CUDA(0, F32, 0x1000, 3);
    MISSING(uf_empty(&t, GPU, F32, 1, (int64_t[]){3}), "the CUDA driver", NO_FILE, "UFUNC_CUDA_DRIVER", "install: ");
    NEED(!t);
    MISSING(UF_CALL(f, there, there), nowhere);
    MISSING(uf_copy(&there, &UF_ARRAY(x, 3), NULL), nowhere);
    MISSING(uf_sync(GPU, NULL), nowhere);
    MISSING(inspect(f, GPU, UF_VIEW_PTX), nowhere);
    INFO("CUDA driver  missing", nowhere, "UFUNC_CUDA_DRIVER", "install: ");
    if (*mock) {
        setenv("UFUNC_CUDA_DRIVER", mock, 1);
        memory_works();
    }
    uf_free(f);
}

static void wrong_driver(void) {
    MISSING(uf_sync(GPU, NULL), "libm.so.6: it has no cu", "older than CUDA 12.0, or not a driver");
    cpu_works();
}

static void no_nvvm(void) {
    texts_work();
    cpu_works();
    uf_func *f = registered("(x) { return 2 * x; }");
    MISSING(inspect(f, SM_90, UF_VIEW_PTX), "libnvvm", "tried in order", NO_FILE, "UFUNC_NVVM", "VIRTUAL_ENV",
            "CONDA_PREFIX", "CUDA_PATH", "CUDA_HOME", "install: ", "apt install nvidia-cuda-toolkit");
    MISSING(inspect(f, SM_90, UF_VIEW_IR), nowhere);
    if (*mock) {
        memory_works();
        MISSING(call_there(f), "libnvvm", nowhere);
        MISSING(inspect(f, GPU, UF_VIEW_PTX), nowhere);
    }
    INFO("libnvvm      missing", nowhere, "UFUNC_NVVM", "install: ");
    unsetenv("UFUNC_NVVM");
    ptx_works();
    if (*mock && toolkit)
        NEED(call_there(f) == UF_OK);
    uf_free(f);
}

static void wrong_nvvm(void) {
    uf_func *f = registered("(x) { return 2 * x; }");
    MISSING(inspect(f, SM_90, UF_VIEW_PTX), "  libm.so.6: it has no nvvm");
    uf_free(f);
    cpu_works();
}

/* Roots that are not there are passed over. */
static void no_roots(void) {
    setenv("VIRTUAL_ENV", "/nonexistent/venv", 1);
    setenv("CUDA_PATH", "/nonexistent/path", 1);
    setenv("CUDA_HOME", "/nonexistent/home", 1);
    ptx_works();
    if (toolkit)
        return;
    uf_func *f = registered("(x) { return x; }");
    MISSING(inspect(f, SM_90, UF_VIEW_PTX), "/nonexistent/venv", "  /nonexistent/conda: no such directory\n",
            "  /nonexistent/path: no such directory\n", "  /nonexistent/home: no such directory\n", "libnvvm.so.4",
            "/usr/local/cuda");
    const char *text = uf_last_error()->message;
    NEED(strstr(text, "/venv") < strstr(text, "/conda") && strstr(text, "/conda") < strstr(text, "/path") &&
         strstr(text, "/path") < strstr(text, "/home") && strstr(text, "/home") < strstr(text, "/usr/local/cuda"));
    uf_free(f);
}

static void no_libdevice(void) {
    texts_work();
    cpu_works();
    uf_func *plain = registered("(x) { return 2 * x; }"), *math = registered("(x) { return sin(x); }");
    if (toolkit) {
        NEED(inspect(plain, SM_90, UF_VIEW_PTX) == UF_OK);
        MISSING(inspect(math, SM_90, UF_VIEW_PTX), "libdevice",
                "  /nonexistent/library.so: No such file or directory\n", "UFUNC_LIBDEVICE", "install: ");
        INFO("libnvvm      /", "libdevice    missing", nowhere, "UFUNC_LIBDEVICE");
    }
    if (toolkit && *mock) {
        memory_works();
        NEED(call_there(plain) == UF_OK);
        MISSING(call_there(math), "libdevice", nowhere);
    }
    unsetenv("UFUNC_LIBDEVICE");
    uf_free(plain);
    uf_free(math);
}

static void wrong_libdevice(void) {
    uf_func *math = registered("(x) { return sin(x); }");
    if (toolkit)
        MISSING(inspect(math, SM_90, UF_VIEW_PTX), "/proc/self/exe: not a bitcode file");
    uf_free(math);
}

/* Variables that are set but empty are as if they were not. */
static void empty_variables(void) {
    setenv("UFUNC_NVVM", "", 1);
    setenv("UFUNC_LIBDEVICE", "", 1);
    cpu_works();
    ptx_works();
}

/* Products of matrices are computed by generated code. */
static void no_openblas(void) {
    texts_work();
    cpu_works();
    NEED(openblas_missing());
    NEED(product(200) == UF_OK);
    INFO("OpenBLAS     missing", getenv("UFUNC_OPENBLAS"), "libLLVM      ");
}

static void all_missing(void) {
    static const char *const variables[] = {"UFUNC_LLVM", "UFUNC_CUDA_DRIVER", "UFUNC_NVVM", "UFUNC_LIBDEVICE",
                                            "UFUNC_OPENBLAS"};
    for (size_t i = 0; i < COUNT(variables); i++)
        setenv(variables[i], nowhere, 1);
    texts_work();
    INFO("libLLVM      missing", "CUDA driver  missing", "libnvvm      missing", "OpenBLAS     missing");
}

/* ---- Running them ---- */

static void has_toolkit(void) {
    uf_func *f = registered("(x) { return sin(x); }");
    char *text;
    uf_status s = uf_inspect(f, NULL, SM_90, UF_VIEW_PTX, &text);
    uf_free(f);
    free(s ? NULL : text);
    if (s)
        exit(3);
}

#define CASE_OF(name, child, variable, value)                  \
    static void test_##name(void **state) {                    \
        (void)state;                                           \
        assert_int_equal(in_child(child, variable, value), 0); \
    }
#define CASE(name, variable, value) CASE_OF(name, name, variable, value)
CASE(no_llvm, "UFUNC_LLVM", nowhere)
CASE(wrong_llvm, "UFUNC_LLVM", "libm.so.6")
CASE(no_driver, "UFUNC_CUDA_DRIVER", nowhere)
CASE(wrong_driver, "UFUNC_CUDA_DRIVER", "libm.so.6")
CASE(no_nvvm, "UFUNC_NVVM", nowhere)
CASE(wrong_nvvm, "UFUNC_NVVM", "libm.so.6")
CASE(no_roots, "CONDA_PREFIX", "/nonexistent/conda")
CASE(no_libdevice, "UFUNC_LIBDEVICE", nowhere)
CASE(wrong_libdevice, "UFUNC_LIBDEVICE", "/proc/self/exe")
CASE(no_openblas, "UFUNC_OPENBLAS", nowhere)
CASE_OF(wrong_openblas, no_openblas, "UFUNC_OPENBLAS", "libm.so.6")
CASE(empty_variables, "UFUNC_LLVM", "")
CASE(all_missing, NULL, NULL)

static int set_up(void **state) {
    (void)state;
    ssize_t n = readlink("/proc/self/exe", mock, sizeof mock - 32);
    mock[n > 0 ? n : 0] = 0;
    char *slash = strrchr(mock, '/');
    if (slash)
        strcpy(slash + 1, "libmockcuda.so");
    if (access(mock, R_OK))
        *mock = 0;
    toolkit = in_child(has_toolkit, NULL, NULL) == 0;
    print_message("mock driver: %s; CUDA toolkit: %s\n", *mock ? "present" : "missing",
                  toolkit ? "present" : "missing");
    setenv("UFUNC_CUDA_DRIVER", *mock ? mock : nowhere, 1);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_llvm),         cmocka_unit_test(test_wrong_llvm),
        cmocka_unit_test(test_no_driver),       cmocka_unit_test(test_wrong_driver),
        cmocka_unit_test(test_no_nvvm),         cmocka_unit_test(test_wrong_nvvm),
        cmocka_unit_test(test_no_roots),        cmocka_unit_test(test_no_libdevice),
        cmocka_unit_test(test_wrong_libdevice), cmocka_unit_test(test_empty_variables),
        cmocka_unit_test(test_all_missing),     cmocka_unit_test(test_no_openblas),
        cmocka_unit_test(test_wrong_openblas),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
