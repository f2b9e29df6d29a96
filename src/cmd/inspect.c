/* inspect.c - `ufunc inspect`: shows the code that a kernel or a function is compiled to. */
#include "cmd.h"

int run_inspect(const job *j) {
    uf_func *func;
    char *text;
    int status = make_function(&j->function, j->verb, &func);
    if (status != DONE)
        return status;
    status = uf_inspect(func, j->types, j->device, j->view, &text) ? library_failed(j->verb->bit) : print_text(text);
    uf_free(func);
    return status;
}
