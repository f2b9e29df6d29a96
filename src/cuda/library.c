/* library.c - see library.h. A library is looked for where the environment variable says, else among what the process has loaded, then
 * in the wheels of the active virtual environment, CONDA_PREFIX, CUDA_PATH, CUDA_HOME, by the loader, and in /usr/local/cuda. A version
 * newer than the driver is left out, since it could not run. */
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/library.h"

enum {
    UNTRIED,
    MISSING,
    PRESENT
};

static struct {
    pthread_mutex_t opening, handles;
    library_handle *unused; /* handles that no call holds */
} state = {.opening = PTHREAD_MUTEX_INITIALIZER, .handles = PTHREAD_MUTEX_INITIALIZER};

/* ---- One file ---- */

static bool refuse(cuda_library *l, const char *file, const char *reason) {
    snprintf(l->reason, sizeof l->reason, "%s: %s", file, reason);
    return false;
}

/* Fills the table. The name of a function that the file lacks, or NULL. */
static const char *bind(const cuda_library *l, void *handle) {
    for (size_t k = 0; k < l->count; k++) {
        void *address = dlsym(handle, l->functions[k]);
        if (!address && k < l->count - l->optional)
            return l->functions[k];
        memcpy((char *)l->table + k * sizeof address, &address, sizeof address);
    }
    return NULL;
}

static bool read_version(cuda_library *l, void *handle) {
    int (*property)(int which, int *value);
    *(void **)&property = dlsym(handle, l->property);
    for (int i = 0; i < 3 && property; i++)
        if (property(i, &l->version[i]))
            return false;
    return property;
}

static void note_path(cuda_library *l, void *handle, const char *file) {
    struct link_map *loaded = NULL;
    bool known = !dlinfo(handle, RTLD_DI_LINKMAP, &loaded) && loaded && loaded->l_name && *loaded->l_name;
    snprintf(l->path, sizeof l->path, "%s", known ? loaded->l_name : file);
}

/* flags: of dlopen. */
static bool try_file(cuda_library *l, const char *file, int flags) {
    char reason[128];
    const char *why;
    void *handle = library_load(file, flags, &why);
    if (!handle)
        return refuse(l, file, why);
    const char *lacks = bind(l, handle);
    if (!lacks && !read_version(l, handle))
        lacks = l->property;
    if (lacks) {
        snprintf(reason, sizeof reason, "it has no function %s of CUDA 12 or later", lacks);
        dlclose(handle);
        return refuse(l, file, reason);
    }
    note_path(l, handle, file);
    return true;
}

/* ---- Places ---- */

/* A folder below a root: that which an environment variable names, or a fixed one. */
static const struct {
    const char *variable, *root, *folder;
    bool wheel; /* the library's own folder and lib follow */
} places[] = {
    {"VIRTUAL_ENV", NULL, "lib/python3*/site-packages/nvidia/cu13/lib", false},
    {"VIRTUAL_ENV", NULL, "lib/python3*/site-packages/nvidia", true},
    {"CONDA_PREFIX", NULL, "lib", false},
    {"CUDA_PATH", NULL, "lib64", false},
    {"CUDA_HOME", NULL, "lib64", false},
    {NULL, NULL, NULL, false}, /* the loader's */
    {NULL, "/usr/local/cuda", "lib64", false},
};

static const char *value_of(const char *variable) {
    const char *value = variable ? secure_getenv(variable) : NULL;
    return value && *value ? value : NULL;
}

static bool try_pattern(cuda_library *l, const char *pattern) {
    glob_t hits = {0};
    bool found = false;
    if (!glob(pattern, 0, NULL, &hits))
        for (size_t i = 0; i < hits.gl_pathc && !found; i++)
            found = try_file(l, hits.gl_pathv[i], 0);
    globfree(&hits);
    return found;
}

static bool try_place(cuda_library *l, size_t place, const char *name) {
    const char *root = places[place].root ? places[place].root : value_of(places[place].variable);
    char pattern[PATH_MAX];
    if (!places[place].folder)
        return try_file(l, name, 0);
    if (!root)
        return false;
    int n = snprintf(pattern, sizeof pattern, "%s/%s/%s%s%s", root, places[place].folder,
                     places[place].wheel ? l->wheel : "", places[place].wheel ? "/lib/" : "", name);
    return n < (int)sizeof pattern && try_pattern(l, pattern);
}

/* Runs on a big stack, as the loader takes much. */
static uf_status find(void *user) {
    cuda_library *l = user;
    const char *file = value_of(l->variable);
    bool found = file && try_file(l, file, 0);
    int driver = cuda_driver_version() / 1000;
    for (int loaded = 1; loaded >= 0 && !file; loaded--)
        for (const library_file *f = l->files; f->name && !found; f++)
            if (f->cuda > driver)
                continue;
            else if (loaded)
                found = try_file(l, f->name, RTLD_NOLOAD);
            else
                for (size_t i = 0; i < COUNT(places) && !found; i++)
                    found = try_place(l, i, f->name);
    return found ? UF_OK : UF_ERR_LIBRARY;
}

bool library_open(cuda_library *l) {
    int found = atomic_load_explicit(&l->found, memory_order_acquire);
    if (found)
        return found == PRESENT;
    pthread_mutex_lock(&state.opening);
    if (!atomic_load_explicit(&l->found, memory_order_relaxed))
        atomic_store_explicit(&l->found, on_big_stack(find, l) ? MISSING : PRESENT, memory_order_release);
    pthread_mutex_unlock(&state.opening);
    return atomic_load_explicit(&l->found, memory_order_acquire) == PRESENT;
}

/* Why a library that was looked for is missing. */
static const char *reason_of(const cuda_library *l, const char *none) { return *l->reason ? l->reason : none; }

uf_status library_need(cuda_library *l) {
    if (library_open(l))
        return UF_OK;
    return fail(UF_ERR_LIBRARY, "%s, %s\n%s names its file", l->title,
                reason_of(l, "of which there is none for this driver"), l->variable);
}

void library_info(cuda_library *l, text *out) {
    if (!*cuda_driver_path())
        text_printf(out, "%-12s not looked for, as the driver is missing\n", l->title);
    else if (library_open(l))
        text_printf(out, "%-12s %s, version %d.%d.%d\n", l->title, l->path, l->version[0], l->version[1],
                    l->version[2]);
    else
        text_printf(out, "%-12s missing: %s\n             %s\n", l->title,
                    reason_of(l, "there is none for this driver"), l->without);
}

/* ---- Handles ----
 *
 * A handle that is not held waits in a list for the next call in its context. There are as many as calls were made at the same
 * time. Those of a context that was destroyed stay behind: no call can release them without it. */

static library_handle *find_unused(const cuda_library *l, const cuda_device *d, uint64_t context) {
    library_handle *h = NULL;
    pthread_mutex_lock(&state.handles);
    for (library_handle **at = &state.unused; *at && !h; at = h ? at : &(*at)->next)
        if ((*at)->library == l && (*at)->device == d && (*at)->context == context) {
            h = *at;
            *at = h->next;
        }
    pthread_mutex_unlock(&state.handles);
    return h;
}

uf_status library_take(cuda_library *l, const cuda_device *d, const cuda_scope *scope, library_handle **out) {
    uint64_t context = 0;
    if (scope->context != atomic_load_explicit(&d->primary, memory_order_relaxed))
        CU(cuCtxGetId, scope->context, &context);
    *out = find_unused(l, d, context);
    if (*out)
        return UF_OK;
    library_handle *h = mem_zero(1, sizeof *h);
    if (!h)
        return fail_memory();
    *h = (library_handle){.library = l, .device = d, .context = context};
    uf_status s = l->create(&h->handle);
    if (s)
        mem_free(h);
    else
        *out = h;
    return s;
}

void library_give(library_handle *h) {
    pthread_mutex_lock(&state.handles);
    h->next = state.unused;
    state.unused = h;
    pthread_mutex_unlock(&state.handles);
}
