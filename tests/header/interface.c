/* interface.c - the header alone, first and only, in strict C11; its pinned values and its macros. Compiled, and run. */
#include <ufunc.h>

#define SAME(a, b) _Static_assert((a) == (b), #a)

SAME(UF_OK, 0);
SAME(UF_ERR_ARGUMENT, 1);
SAME(UF_ERR_SYNTAX, 2);
SAME(UF_ERR_TYPE, 3);
SAME(UF_ERR_SIGNATURE, 4);
SAME(UF_ERR_SHAPE, 5);
SAME(UF_ERR_CAST, 6);
SAME(UF_ERR_DEVICE, 7);
SAME(UF_ERR_LIBRARY, 8);
SAME(UF_ERR_COMPILE, 9);
SAME(UF_ERR_KERNEL, 10);
SAME(UF_ERR_MEMORY, 11);
SAME(UF_ERR_IO, 12);
SAME(UF_CAST_DEFAULT, 0);
SAME(UF_CAST_UNSAFE, 5);
SAME(UF_VIEW_TREE, 0);
SAME(UF_VIEW_RESOURCES, 4);
SAME(UF_BOOL_CODE, 6);
SAME(offsetof(uf_options, size), 0);
SAME(offsetof(uf_definition, size), 0);
SAME(sizeof(((uf_error *)0)->message), 4096);

static int is_array(DLTensor t, int ndim, int64_t last, int code, int bits) {
    return t.ndim == ndim && t.shape[ndim - 1] == last && t.dtype.code == code && t.dtype.bits == bits &&
           t.dtype.lanes == 1 && t.strides == NULL && t.byte_offset == 0 && t.device.device_type == kDLCPU;
}

static int is_number(DLTensor t, int code, int bits) {
    return t.ndim == 0 && t.dtype.code == code && t.dtype.bits == bits;
}

int main(void) {
    static double matrix[3][4];
    const float constant[5] = {1, 2, 3, 4, 5};
    _Bool flags[2] = {0, 1};
    float _Complex z[1] = {1};
    const char *source = UF_SOURCE((x, y) { return x, y; });
    int good = is_array(UF_ARRAY(&matrix[0][0], 3, 4), 2, 4, kDLFloat, 64) &&
               is_array(UF_ARRAY(constant, 5), 1, 5, kDLFloat, 32) &&
               is_array(UF_ARRAY(flags, 2), 1, 2, UF_BOOL_CODE, 8) && is_array(UF_ARRAY(z, 1), 1, 1, kDLComplex, 64) &&
               is_number(UF_SCALAR(20), kDLInt, 32) && is_number(UF_SCALAR(0.5f), kDLFloat, 32) &&
               is_number(UF_SCALAR((unsigned char)7), kDLUInt, 8) && *(int *)UF_SCALAR(20).data == 20 &&
               UF_CUDA(1, ((DLDataType){kDLFloat, 16, 1}), 0, 7).device.device_id == 1 && source[0] == '(';
    return good ? 0 : 1;
}
