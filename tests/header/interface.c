/* interface.c - the header first and alone in strict C11, and twice; its macros. Compiled, linked and run. */
#include <ufunc.h>

#include <string.h>

#include "abi.h"

static int is_dtype(DLDataType t, int code, int bits) { return t.code == code && t.bits == bits && t.lanes == 1; }

static int is_array(DLTensor t, int ndim, int64_t last, int code, int bits) {
    return t.ndim == ndim && t.shape[ndim - 1] == last && is_dtype(t.dtype, code, bits) && t.strides == NULL &&
           t.byte_offset == 0 && t.device.device_type == kDLCPU && t.device.device_id == 0;
}

static int is_number(DLTensor t, int code, int bits) { return t.data && t.ndim == 0 && is_dtype(t.dtype, code, bits); }

/* Every C type of the table in the header, as a value and as what a pointer points to. */
#define TYPE(type, code, bits) \
    (is_number(UF_SCALAR((type)1), code, bits) && is_dtype(UF_DTYPE_OF(*(const type *)0), code, bits))

static int types(void) {
    enum {
        PLAIN_CHAR = (char)-1 < 0 ? kDLInt : kDLUInt,
        LONG = 8 * sizeof(long)
    };
    return TYPE(_Bool, UF_BOOL_CODE, 8) && TYPE(char, PLAIN_CHAR, 8) && TYPE(signed char, kDLInt, 8) &&
           TYPE(short, kDLInt, 16) && TYPE(int, kDLInt, 32) && TYPE(long, kDLInt, LONG) &&
           TYPE(long long, kDLInt, 64) && TYPE(unsigned char, kDLUInt, 8) && TYPE(unsigned short, kDLUInt, 16) &&
           TYPE(unsigned, kDLUInt, 32) && TYPE(unsigned long, kDLUInt, LONG) && TYPE(unsigned long long, kDLUInt, 64) &&
           TYPE(float, kDLFloat, 32) && TYPE(double, kDLFloat, 64) && TYPE(float _Complex, kDLComplex, 64) &&
           TYPE(double _Complex, kDLComplex, 128) && TYPE(int8_t, kDLInt, 8) && TYPE(int16_t, kDLInt, 16) &&
           TYPE(int32_t, kDLInt, 32) && TYPE(int64_t, kDLInt, 64) && TYPE(uint8_t, kDLUInt, 8) &&
           TYPE(uint16_t, kDLUInt, 16) && TYPE(uint32_t, kDLUInt, 32) && TYPE(uint64_t, kDLUInt, 64);
}

/* UF_SOURCE is `#line LINE "FILE"` and, on the next line, what is in its parentheses. */
static int is_source(const char *source, const char *file, const char *text) {
    const char *quote = strchr(source, '"'), *end = strchr(source, '\n');
    return strncmp(source, "#line ", 6) == 0 && quote && end && strncmp(quote + 1, file, strlen(file)) == 0 &&
           end == quote + 2 + strlen(file) && strcmp(end + 1, text) == 0;
}

static int macros(void) {
    static double matrix[3][4];
    const float constant[5] = {1, 2, 3, 4, 5};
    _Bool flags[2] = {0, 1};
    float _Complex z[1] = {1};
    float total = 0;
    int64_t rows = 3;
    const char *source = UF_SOURCE((x, y) { return pow(x, y); });
    DLTensor there = UF_CUDA(1, ((DLDataType){kDLFloat, 16, 1}), 0, 7, rows);
    return is_array(UF_ARRAY(matrix), 2, 4, kDLFloat, 64) && is_array(UF_ARRAY(constant), 1, 5, kDLFloat, 32) &&
           is_array(UF_ARRAY(flags), 1, 2, UF_BOOL_CODE, 8) && is_array(UF_RECORDS(flags), 1, 2, kDLUInt, 8) &&
           UF_STRIDED(constant, (2, rows), (-1, 2)).strides[1] == 2 && UF_STRIDED(constant, (2), (1)).ndim == 1 &&
           UF_SCALAR(20).shape == uf_number_shape && UF_OUT(total).data == &total && UF_AXES(1, 2).axes[1] == 2 &&
           UF_AXES_EACH(UF_AXES(1))->count == 1 && is_array(UF_ARRAY(&matrix[0][0], rows, 4), 2, 4, kDLFloat, 64) &&
           is_array(UF_ARRAY(constant, 5), 1, 5, kDLFloat, 32) && is_array(UF_ARRAY(flags, 2), 1, 2, UF_BOOL_CODE, 8) &&
           is_array(UF_ARRAY(z, 1), 1, 1, kDLComplex, 64) && UF_ARRAY(constant, 5).data == constant &&
           *(int *)UF_SCALAR(20).data == 20 && *(double *)UF_SCALAR(0.5).data == 0.5 &&
           there.device.device_type == kDLCUDA && there.device.device_id == 1 && there.ndim == 2 &&
           there.shape[1] == 3 && is_source(source, __FILE__, "(x, y) { return pow(x, y); }");
}

/* The first page of the manual. */
static int works(void) {
    const float x[3] = {1, 2, 3};
    float r[3];
    uf_func *f;
    int good = uf_vectorize(&f, "rel_diff", "float32,float32->float32; float64,float64->float64",
                            UF_SOURCE((x, y) { return 2 * (x - y) / (x + y); })) == UF_OK &&
               UF_CALL(f, UF_ARRAY(x, 3), UF_SCALAR(1), UF_ARRAY(r, 3)) == UF_OK && r[0] == 0 && r[2] == 1;
    uf_free(f);
    return good;
}

/* Arguments in place and options by name, within UF_CHECK, too, and where options override defaults. */
static int works_by_name(void) {
    float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, r[2][3], total;
    const _Bool mask[3] = {1, 1, 0};
    uf_func *add, *twice;
    uf_plan *plan;
    DLManagedTensor *made[4];
    UF_CHECK(uf_load(&add, "add"));
    UF_CHECK(uf_kernel(&twice, "twice", "float32[,], float32[,]", UF_SOURCE([i, j](a, b) { b[i][j] = 2 * a[i][j]; })));
    UF_CHECK(UF_NEW(&made[0], add, UF_ARRAY(x), UF_ARRAY(x[0]), .threads = 1));
    UF_CHECK(UF_NEW(&made[1], add, UF_ARRAY(x), UF_ARRAY(x[0])));
    UF_CHECK(UF_REDUCE_NEW(&made[2], add, UF_ARRAY(x), .axis = 1, .keepdims = 1));
    UF_CHECK(UF_ACCUMULATE_NEW(&made[3], add, UF_ARRAY(x), .axis = 1));
    for (int k = 0; k < 4; k++)
        made[k]->deleter(made[k]);
    int good = UF_CALL(add, UF_ARRAY(x), UF_SCALAR(1), UF_ARRAY(r), .where = &UF_ARRAY(mask), .threads = 1) == UF_OK &&
               r[1][1] == 6 && UF_REDUCE(add, UF_ARRAY(x), UF_OUT(total)) == UF_OK && total == 21 &&
               UF_REDUCE(add, UF_ARRAY(x), UF_ARRAY(r[0]), .axis = 0, .initial = &UF_SCALAR(1)) == UF_OK &&
               UF_REDUCE(add, UF_ARRAY(x), UF_OUT(total), .axes = UF_AXES(0, 1)) == UF_OK && r[0][0] == 6 &&
               UF_ACCUMULATE(add, UF_ARRAY(x), UF_ARRAY(r), .axis = 1) == UF_OK && r[1][2] == 15 &&
               UF_FORALL(twice, (2, 3), UF_ARRAY(x), UF_ARRAY(r), .threads = 1) == UF_OK && r[1][2] == 12;
    UF_CHECK(UF_PLAN(&plan, add, UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(r)));
    UF_CHECK(uf_plan_run(plan, (void *[]){x, x, r}, NULL));
    uf_plan_free(plan);
    UF_CHECK(UF_REDUCE_PLAN(&plan, add, UF_ARRAY(x), UF_OUT(total)));
    uf_plan_free(plan);
    UF_CHECK(UF_ACCUMULATE_PLAN(&plan, add, UF_ARRAY(x), UF_ARRAY(r), .axis = 1));
    uf_plan_free(plan);
    UF_CHECK(UF_FORALL_PLAN(&plan, twice, (2, 3), UF_ARRAY(x), UF_ARRAY(r)));
    uf_plan_free(plan);
    uf_free(add);
    uf_free(twice);
    return good && r[1][2] == 12;
}

/* A call within a call, and beside names of the program's own. */
static int works_within(void) {
    float x[3] = {1, 2, 3}, r[3];
    int uf_named_ = 7;
    uf_func *add;
    UF_CHECK(uf_load(&add, "add"));
    int good = UF_CALL(UF_CALL(add, UF_ARRAY(x), UF_SCALAR(1), UF_ARRAY(r)) == UF_OK ? add : NULL, UF_ARRAY(r),
                       UF_SCALAR(uf_named_), UF_ARRAY(r)) == UF_OK &&
               r[2] == 11;
    uf_free(add);
    return good;
}

/* The first page about kernels over indices. */
static int works_over_indices(void) {
    float u[9] = {0, 0, 0, 0, 8, 0, 0, 0, 0}, v[9] = {0};
    uf_func *step;
    int good = uf_kernel(&step, "step", "float32[,], float32[,], float32", UF_SOURCE([i : n, j : m](u, v, k) {
                   if (i > 0 && i < n - 1 && j > 0 && j < m - 1)
                       v[i][j] = u[i][j] + k * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
               })) == UF_OK &&
               uf_forall(step, 2, (int64_t[]){3, 3}, 3,
                         (DLTensor[]){UF_ARRAY(u, 3, 3), UF_ARRAY(v, 3, 3), UF_SCALAR(0.125f)}, NULL) == UF_OK &&
               v[4] == 4 && v[1] == 0;
    uf_free(step);
    return good;
}

int main(void) {
    return types() && macros() && works() && works_by_name() && works_within() && works_over_indices() ? 0 : 1;
}
