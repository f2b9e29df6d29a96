// interface.cc - the header first and alone in strict C++17: a program that registers, calls and sees an error.
#include <ufunc.h>

#include "abi.h"

static DLTensor array(float *data, int64_t *length) {
    DLTensor t = {};
    t.data = data;
    t.device.device_type = kDLCPU;
    t.ndim = 1;
    t.dtype.code = kDLFloat;
    t.dtype.bits = 32;
    t.dtype.lanes = 1;
    t.shape = length;
    return t;
}

int main() {
    float x[] = {1, 2, 3}, r[3] = {};
    int64_t length = 3;
    const DLTensor args[] = {array(x, &length), array(r, &length)};
    uf_options options = {};
    options.size = sizeof options;
    options.casting = UF_CAST_SAFE;
    uf_func *func = nullptr;
    bool good = uf_vectorize(&func, "twice", "f->f", UF_SOURCE((x) { return 2 * x; })) == UF_OK &&
                uf_call(func, 2, args, &options) == UF_OK && r[2] == 6 &&
                uf_call(func, 1, args, &options) == UF_ERR_ARGUMENT && uf_last_error()->status == UF_ERR_ARGUMENT;
    uf_free(func);
    return good ? 0 : 1;
}
