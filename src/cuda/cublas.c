/* cublas.c - cuBLAS: its functions, its errors, and what its handles are told. */
#include "cuda/cublas.h"

cublas_functions cublas;

/* clang-format off */
static const char *const names[] = {
#define X(name, result, parameters) #name,
    CUBLAS_FUNCTIONS(X)
#undef X
#define X(member, name, parameters) "cublasS" #name,
    CUBLAS_ROUTINES(X)
#undef X
#define X(member, name, parameters) "cublasD" #name,
    CUBLAS_ROUTINES(X)
#undef X
#define X(member, name, parameters) "cublasC" #name,
    CUBLAS_ROUTINES(X)
#undef X
#define X(member, name, parameters) "cublasZ" #name,
    CUBLAS_ROUTINES(X)
#undef X
};
/* clang-format on */
_Static_assert(sizeof cublas == COUNT(names) * sizeof(void *), "a name for each function");

uf_status cublas_fail(int status, const char *call) {
    return fail(status == CUBLAS_ALLOC_FAILED ? UF_ERR_MEMORY : UF_ERR_DEVICE, "%s: %s (%d): %s", call,
                cublas.cublasGetStatusName(status), status, cublas.cublasGetStatusString(status));
}

static uf_status create(void **out) {
    CUBLAS(cublasCreate_v2, out);
    return UF_OK;
}

cuda_library cublas_library = {.title = "cuBLAS",
                               .variable = "UFUNC_CUBLAS",
                               .wheel = "cublas",
                               .property = "cublasGetProperty",
                               .without = "products of matrices run as generated code",
                               .files = {{"libcublas.so.13", 13}, {"libcublas.so.12", 12}},
                               .functions = names,
                               .table = &cublas,
                               .count = COUNT(names),
                               .create = create};

void cublas_info(text *out) { library_info(&cublas_library, out); }

/* A new stream takes the workspace away: cuBLAS then has its own. */
static uf_status tell_stream(library_handle *h, cu_stream stream, void *workspace, size_t size) {
    CUBLAS(cublasSetStream_v2, h->handle, stream);
    if (workspace)
        CUBLAS(cublasSetWorkspace_v2, h->handle, workspace, size);
    return UF_OK;
}

uf_status cublas_tell(library_handle *h, cu_stream stream, uint64_t id, void *workspace, size_t size, int math) {
    if (!id || h->stream != id || h->workspace != workspace) {
        h->stream = 0; /* until it is told */
        TRY(tell_stream(h, stream, workspace, size));
        h->stream = id;
        h->workspace = workspace;
    }
    if (h->math != math) /* a new handle has mode 0 */
        CUBLAS(cublasSetMathMode, h->handle, math);
    h->math = math;
    return UF_OK;
}
