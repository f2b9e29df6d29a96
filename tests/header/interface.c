/* interface.c - the header first and alone in strict C11, and twice; its macros. Compiled, linked and run. */
#include <ufunc.h>

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

static int macros(void) {
    static double matrix[3][4];
    const float constant[5] = {1, 2, 3, 4, 5};
    _Bool flags[2] = {0, 1};
    float _Complex z[1] = {1};
    int64_t rows = 3;
    const char *source = UF_SOURCE((x, y) { return pow(x, y); });
    DLTensor there = UF_CUDA(1, ((DLDataType){kDLFloat, 16, 1}), 0, 7, rows);
    return is_array(UF_ARRAY(&matrix[0][0], rows, 4), 2, 4, kDLFloat, 64) &&
           is_array(UF_ARRAY(constant, 5), 1, 5, kDLFloat, 32) && is_array(UF_ARRAY(flags, 2), 1, 2, UF_BOOL_CODE, 8) &&
           is_array(UF_ARRAY(z, 1), 1, 1, kDLComplex, 64) && UF_ARRAY(constant, 5).data == constant &&
           *(int *)UF_SCALAR(20).data == 20 && *(double *)UF_SCALAR(0.5).data == 0.5 &&
           there.device.device_type == kDLCUDA && there.device.device_id == 1 && there.ndim == 2 &&
           there.shape[1] == 3 && source[0] == '(';
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

int main(void) { return types() && macros() && works() && works_over_indices() ? 0 : 1; }
