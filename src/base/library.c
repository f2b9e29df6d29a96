/* library.c - opens shared libraries at run time, in programs that have a dynamic linker to do it. */
#include <dlfcn.h>
#include <link.h>

#include "base/base.h"

/* Does this object name a dynamic linker (PT_INTERP)? A dynamically linked program does, and so does the C library; in
 * a statically linked program nothing does. */
static int wants_linker(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size;
    (void)unused;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_INTERP)
            return 1;
    return 0;
}

/* The dynamic linker's last message, without the file's name, which it mostly puts in front. */
static const char *loader_error(const char *file) {
    const char *reason = dlerror();
    size_t length = strlen(file);
    if (!reason)
        return "cannot be loaded";
    return !strncmp(reason, file, length) && !strncmp(reason + length, ": ", 2) ? reason + length + 2 : reason;
}

void *library_load(const char *file, int flags, const char **why) {
    *why = NULL;
    if (!dl_iterate_phdr(wants_linker, NULL)) {
        *why = "this program is linked statically, and opening a library would end it; link it without -static";
        return NULL;
    }
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | flags);
    if (!handle)
        *why = loader_error(file);
    return handle;
}
