/* mock_child.c - see mock_child.h. */
#include "mock_child.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

char mock_path[4096];
const mock_functions *mock;

bool mock_find(void) {
    const char *chosen = getenv("UF_MOCK_CUDA");
    ssize_t n = readlink("/proc/self/exe", mock_path, sizeof mock_path - 32);
    if (chosen) {
        snprintf(mock_path, sizeof mock_path, "%s", chosen);
    } else if (n > 0) {
        mock_path[n] = 0;
        strcpy(strrchr(mock_path, '/') + 1, "libmockcuda.so");
    }
    return access(mock_path, R_OK) == 0;
}

static void use_mock(void) {
    CHECK(setenv("UFUNC_CUDA_DRIVER", mock_path, 1) == 0);
    void *handle = dlopen(mock_path, RTLD_NOW | RTLD_LOCAL);
    CHECK(handle);
    const mock_functions *(*control)(void);
    *(void **)&control = dlsym(handle, "mock_control");
    CHECK(control);
    mock = control();
}

int child_status(void (*body)(void *), void *user) {
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
        for (size_t i = 0; i < COUNT(caught); i++)
            signal(caught[i], SIG_DFL); /* cmocka's would go on with the tests, in the child */
        use_mock();
        body(user);
        _exit(0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

char *ptx_of(const char *name, int words, int threads) {
    static char out[1 << 19];
    char *p = out + sprintf(out, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry %s(", name);
    for (int i = 0; i < words; i++)
        p += sprintf(p, "%s\n\t.param .u64 %s_param_%d", i ? "," : "", name, i);
    sprintf(p, "\n)\n.maxntid %d, 1, 1\n{\n\tret;\n}\n", threads);
    return out;
}
