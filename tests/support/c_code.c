/* c_code.c - see c_code.h. */
#include "c_code.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool c_compiler_there(void) {
    static int known = -1;
    if (known < 0)
        known = system("echo 'int main(void) { return 0; }' | ${CC:-cc} -x c - -o /dev/null 2>/dev/null") == 0;
    return known;
}

static void must(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "C code of a test: %s\n", what);
    abort();
}

void *c_code_load(const char *source) {
    char folder[] = "/tmp/c_code.XXXXXX", path[64], command[512];
    must(mkdtemp(folder), "no folder for it");
    snprintf(path, sizeof path, "%s/code.c", folder);
    FILE *file = fopen(path, "w");
    must(file && fputs(source, file) >= 0 && fclose(file) == 0, "cannot be written");
    snprintf(command, sizeof command,
             "cd %s && ${CC:-cc} -std=gnu11 -O0 -w -Wno-psabi -fwrapv -ffp-contract=off -fPIC -shared code.c -o "
             "code.so -lm >&2",
             folder);
    must(system(command) == 0, "does not compile");
    snprintf(path, sizeof path, "%s/code.so", folder);
    void *code = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    must(code, "cannot be loaded");
    snprintf(command, sizeof command, "rm -r %s", folder);
    must(system(command) == 0, "cannot be removed");
    return code;
}
