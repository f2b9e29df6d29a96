// interface.cc - the header alone in strict C++17: every function can be called from there.
#include <ufunc.h>

int main() {
    uf_options options = {};
    options.size = sizeof options;
    uf_func *func = nullptr;
    uf_status (*call)(const uf_func *, int, const DLTensor *, const uf_options *) = uf_call;
    const uf_error *(*last)() = uf_last_error;
    return func == nullptr && call != nullptr && last != nullptr ? 0 : 1;
}
