/* search.c - finds libnvvm and libdevice. First come the environment variables that name the files; then roots: the
 * wheels of the active virtual environment, CONDA_PREFIX, CUDA_PATH, CUDA_HOME, what the loader finds,
 * /usr/local/cuda. Both files come from the same root unless a variable names one of them. If no root has both, one
 * with libnvvm alone is taken, as many kernels need no libdevice. */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/toolkit.h"

static const char help[] =
    "UFUNC_NVVM and UFUNC_LIBDEVICE name files; VIRTUAL_ENV, CONDA_PREFIX, CUDA_PATH and CUDA_HOME name roots\n"
    "install: pip install nvidia-nvvm (virtual environment), conda install cuda-nvvm, or the CUDA toolkit;\n"
    "Debian (non-free): apt install nvidia-cuda-toolkit";

static const char *const directories[] = {"nvvm/lib64", "lib64", "lib"};
static const char *const libraries[] = {"libnvvm.so.4", "libnvvm.so.3", "libnvvm.so"};
static const char libdevice_name[] = "libdevice.10.bc";

typedef struct library {
    void *handle;
    char path[PATH_MAX];
    char libdevice[PATH_MAX]; /* "": it was not found */
    toolkit kit;
} library;

typedef struct search {
    text tried;
    const char *libdevice; /* the value of UFUNC_LIBDEVICE, or NULL */
    /* What the search ends with, or else the first library without libdevice. */
    library *found, *spare;
} search;

static struct {
    pthread_mutex_t lock;
    atomic_bool ready;
    toolkit kit;
    char *libdevice, *libdevice_path; /* the content of libdevice, and where it was read */
    size_t libdevice_size;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *variable(const char *name) {
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

static bool join(char path[PATH_MAX], const char *a, const char *b, const char *c) {
    int n = snprintf(path, PATH_MAX, "%s/%s%s%s", a, b, c ? "/" : "", c ? c : "");
    return n > 0 && n < PATH_MAX;
}

static bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- One library ---- */

static const char *bind_functions(void *handle, toolkit *kit) {
#define X(name, parameters)                      \
    *(void **)&kit->name = dlsym(handle, #name); \
    if (!kit->name)                              \
        return "it has no " #name ": not a libnvvm of CUDA 12 or later";
    NVVM_FUNCTIONS(X)
#undef X
    *(void **)&kit->nvvmGetErrorString = dlsym(handle, "nvvmGetErrorString");
    return kit->nvvmGetErrorString ? NULL : "it has no nvvmGetErrorString: not libnvvm";
}

/* Loads a file, or a name that the loader looks for. NULL, with a line in s->tried, if that fails. */
static library *library_open(search *s, const char *path) {
    library *lib = mem_zero(1, sizeof *lib);
    if (!lib) {
        s->tried.failed = true;
        return NULL;
    }
    struct link_map *loaded = NULL;
    const char *reason;
    lib->handle = library_load(path, 0, &reason);
    if (lib->handle)
        reason = bind_functions(lib->handle, &lib->kit);
    if (lib->handle && !reason) {
        bool known = dlinfo(lib->handle, RTLD_DI_LINKMAP, &loaded) == 0 && loaded && loaded->l_name && *loaded->l_name;
        snprintf(lib->path, sizeof lib->path, "%s", known ? loaded->l_name : path);
        return lib;
    }
    text_printf(&s->tried, "  %s: %s\n", path, reason);
    if (lib->handle)
        dlclose(lib->handle);
    mem_free(lib);
    return NULL;
}

static void library_close(library *lib) {
    if (!lib)
        return;
    dlclose(lib->handle);
    mem_free(lib);
}

/* Looks for libdevice at a path. */
static bool libdevice_at(search *s, library *lib, const char *path) {
    if (access(path, R_OK)) {
        text_printf(&s->tried, "  %s: %s\n", path, strerror(errno));
        return false;
    }
    snprintf(lib->libdevice, sizeof lib->libdevice, "%s", path);
    return true;
}

/* Looks for libdevice near a library that was found without a root: in up to three directories above it, and where
 * Debian puts it. */
static void libdevice_near(search *s, library *lib) {
    static const char *const places[] = {"libdevice", "nvvm/libdevice", "nvidia-cuda-toolkit/libdevice"};
    char directory[PATH_MAX], path[PATH_MAX];
    if (!realpath(lib->path, directory))
        snprintf(directory, sizeof directory, "%s", lib->path);
    char *slash = strrchr(directory, '/');
    for (int up = 0; up < 3 && slash && slash != directory; up++) {
        *slash = 0;
        slash = strrchr(directory, '/');
        if (!slash)
            break;
        *slash = 0;
        for (size_t i = 0; i < COUNT(places); i++)
            if (join(path, directory, places[i], libdevice_name) && access(path, R_OK) == 0) {
                libdevice_at(s, lib, path);
                return;
            }
        *slash = '/';
    }
    text_printf(&s->tried, "  %s: no libdevice/%s near it\n", lib->path, libdevice_name);
}

/* Considers a library for the result. True: the search ends. */
static bool library_take(search *s, library *lib) {
    if (s->libdevice || *lib->libdevice) {
        s->found = lib;
        return true;
    }
    if (s->spare)
        library_close(lib);
    else
        s->spare = lib;
    return false;
}

/* ---- Places ---- */

static bool try_loader(search *s) {
    for (size_t i = 0; i < 2; i++) {
        library *lib = library_open(s, libraries[i]);
        if (!lib)
            continue;
        libdevice_near(s, lib);
        if (library_take(s, lib))
            return true;
    }
    return false;
}

static bool try_directory(search *s, const char *root, const char *directory) {
    char path[PATH_MAX];
    bool any = false;
    for (size_t i = 0; i < COUNT(libraries); i++) {
        if (!join(path, root, directory, libraries[i]) || access(path, F_OK))
            continue;
        any = true;
        library *lib = library_open(s, path);
        if (!lib)
            continue;
        if (join(path, root, "nvvm/libdevice", libdevice_name))
            libdevice_at(s, lib, path);
        if (library_take(s, lib))
            return true;
    }
    if (!any)
        text_printf(&s->tried, "  %s/%s/libnvvm.so.4, .so.3, .so: no such file\n", root, directory);
    return false;
}

static bool try_root(search *s, const char *root) {
    if (!root)
        return false;
    if (!is_directory(root)) {
        text_printf(&s->tried, "  %s: no such directory\n", root);
        return false;
    }
    for (size_t i = 0; i < COUNT(directories); i++)
        if (try_directory(s, root, directories[i]))
            return true;
    return false;
}

static bool try_wheels(search *s) {
    static const char *const packages[] = {"cu13", "cuda_nvcc"};
    const char *environment = variable("VIRTUAL_ENV");
    char pattern[PATH_MAX];
    bool done = false;
    for (size_t i = 0; environment && i < COUNT(packages) && !done; i++) {
        glob_t hits = {0};
        if (!join(pattern, environment, "lib/python3*/site-packages/nvidia", packages[i]))
            break;
        if (glob(pattern, 0, NULL, &hits) || !hits.gl_pathc)
            text_printf(&s->tried, "  %s: no such directory\n", pattern);
        for (size_t k = 0; k < hits.gl_pathc && !done; k++)
            done = try_root(s, hits.gl_pathv[k]);
        globfree(&hits);
    }
    return done;
}

static void try_all(search *s) {
    const char *file = variable("UFUNC_NVVM");
    if (file) {
        library *lib = library_open(s, file);
        if (lib && !s->libdevice)
            libdevice_near(s, lib);
        if (lib)
            library_take(s, lib);
    } else if (try_wheels(s) || try_root(s, variable("CONDA_PREFIX")) || try_root(s, variable("CUDA_PATH")) ||
               try_root(s, variable("CUDA_HOME")) || try_loader(s)) {
        return;
    } else {
        try_root(s, "/usr/local/cuda");
    }
}

/* ---- The result ---- */

static uf_status keep(search *s, library *lib) {
    toolkit kit = lib->kit;
    kit.nvvm_path = mem_copy_text(lib->path);
    kit.libdevice_path = *lib->libdevice ? mem_copy_text(lib->libdevice) : NULL;
    kit.libdevice_missing = *lib->libdevice || s->libdevice ? NULL : mem_copy_text(s->tried.data ? s->tried.data : "");
    bool missing_wanted = !*lib->libdevice && !s->libdevice;
    if (!kit.nvvm_path || (*lib->libdevice && !kit.libdevice_path) || (missing_wanted && !kit.libdevice_missing)) {
        mem_free(kit.nvvm_path);
        mem_free(kit.libdevice_path);
        mem_free(kit.libdevice_missing);
        return fail_memory();
    }
    state.kit = kit;
    atomic_store_explicit(&state.ready, true, memory_order_release);
    return UF_OK;
}

/* Runs on a big stack: the loader and the many paths take much. */
static uf_status find_locked(void *unused) {
    (void)unused;
    search s = {.libdevice = variable("UFUNC_LIBDEVICE")};
    uf_status status = UF_OK;
    try_all(&s);
    library *lib = s.found ? s.found : s.spare;
    if (s.found)
        library_close(s.spare);
    if (s.tried.failed)
        status = fail_memory();
    else if (!lib)
        status = fail(UF_ERR_LIBRARY, "libnvvm, which compiles for CUDA, was not found; tried in order:\n%s%s",
                      s.tried.data ? s.tried.data : "", help);
    else
        status = keep(&s, lib);
    if (status && lib)
        dlclose(lib->handle);
    mem_free(lib); /* its handle stays open if the library is kept */
    text_free(&s.tried);
    return status;
}

uf_status toolkit_find(const toolkit **out) {
    uf_status s = UF_OK;
    if (!atomic_load_explicit(&state.ready, memory_order_acquire)) {
        pthread_mutex_lock(&state.lock);
        if (!atomic_load(&state.ready))
            s = on_big_stack(find_locked, NULL);
        pthread_mutex_unlock(&state.lock);
    }
    *out = s ? NULL : &state.kit;
    return s;
}

/* ---- libdevice ---- */

static uf_status libdevice_error(const char *path, const char *reason) {
    return fail(UF_ERR_LIBRARY, "libdevice, the math functions of CUDA, cannot be used\n  %s: %s\n%s", path, reason,
                help);
}

static uf_status read_file(const char *path, FILE *file, char **data, size_t *size) {
    struct stat st;
    if (fstat(fileno(file), &st))
        return libdevice_error(path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size < 4 || st.st_size > (64 << 20))
        return libdevice_error(path, "not a bitcode file");
    *size = (size_t)st.st_size;
    *data = mem_alloc(*size);
    if (!*data)
        return fail_memory();
    if (fread(*data, 1, *size, file) != *size)
        return libdevice_error(path, "cannot be read to its end");
    if (memcmp(*data, "BC\xC0\xDE", 4) != 0)
        return libdevice_error(path, "not a bitcode file");
    return UF_OK;
}

static uf_status libdevice_read(void) {
    const char *path = variable("UFUNC_LIBDEVICE");
    char *data = NULL;
    size_t size = 0;
    if (!path)
        path = state.kit.libdevice_path;
    if (!path)
        return fail(UF_ERR_LIBRARY, "libdevice, the math functions of CUDA, was not found; tried in order:\n%s%s",
                    state.kit.libdevice_missing ? state.kit.libdevice_missing : "", help);
    FILE *file = fopen(path, "rb");
    if (!file)
        return libdevice_error(path, strerror(errno));
    uf_status s = read_file(path, file, &data, &size);
    fclose(file);
    char *kept = s ? NULL : mem_copy_text(path);
    if (!s && !kept)
        s = fail_memory();
    if (s) {
        mem_free(data);
        return s;
    }
    state.libdevice_path = kept;
    state.libdevice = data;
    state.libdevice_size = size;
    return UF_OK;
}

uf_status toolkit_libdevice(const char **data, size_t *size) {
    const toolkit *kit;
    TRY(toolkit_find(&kit));
    pthread_mutex_lock(&state.lock);
    uf_status s = state.libdevice ? UF_OK : libdevice_read();
    *data = state.libdevice;
    *size = state.libdevice_size;
    pthread_mutex_unlock(&state.lock);
    return s;
}

const char *toolkit_libdevice_path(void) {
    pthread_mutex_lock(&state.lock);
    const char *path = state.libdevice_path ? state.libdevice_path : "";
    pthread_mutex_unlock(&state.lock);
    return path;
}
