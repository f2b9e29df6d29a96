/* test_ranges.c - the ranges that NVTX tools are told of, in processes of their own (this program again, steered by CHILD): a
 * process looks for a tool once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "expect.h"

static char mock[PATH_MAX];

/* The log of the mock, if the process has it open; else NULL. */
static const char *told(void) {
    void *handle = dlopen(mock, RTLD_NOW | RTLD_NOLOAD);
    const char *(*get)(void) = handle ? (const char *(*)(void))(uintptr_t)dlsym(handle, "mocknvtx_log") : NULL;
    return get ? get() : NULL;
}

static void info_has(const char *part) {
    char *info;
    OK(uf_system_info(&info));
    if (!strstr(info, part))
        fail_msg("no \"%s\" in:\n%s", part, info);
    free(info);
}

static void every_verb(void) {
    float x[4] = {1, 2, 3, 4}, y[4] = {1, 1, 1, 1}, r[16];
    int64_t at[2] = {0, 2};
    uf_func *add, *kernel;
    uf_plan *plan;
    OK(uf_load(&add, "add"));
    OK(uf_kernel(&kernel, "fill", "float32[]", "[i](a) { a[i] = i; }"));
    OK(UF_CALL(add, UF_ARRAY(x, 4), UF_ARRAY(y, 4), UF_ARRAY(r, 4)));
    OK(uf_plan_new(&plan, add, 3, (DLTensor[]){UF_ARRAY(x, 4), UF_ARRAY(y, 4), UF_ARRAY(r, 4)}, NULL));
    OK(uf_plan_run(plan, (void *[]){x, y, r}, NULL));
    OK(uf_outer(add, 3, (DLTensor[]){UF_ARRAY(x, 4), UF_ARRAY(y, 4), UF_ARRAY(r, 4, 4)}, NULL));
    DLTensor total = UF_ARRAY(r, 1);
    total.ndim = 0;
    OK(uf_reduce(add, 2, (DLTensor[]){UF_ARRAY(x, 4), total}, NULL));
    OK(uf_accumulate(add, 2, (DLTensor[]){UF_ARRAY(x, 4), UF_ARRAY(r, 4)}, 0, NULL));
    DLTensor starts = UF_ARRAY(at, 2);
    OK(uf_reduceat(add, 2, (DLTensor[]){UF_ARRAY(x, 4), UF_ARRAY(r, 2)}, &starts, 0, NULL));
    DLTensor target = UF_ARRAY(x, 4), operand = UF_ARRAY(y, 2), source = UF_ARRAY(y, 4);
    OK(uf_at(add, &target, 1, &starts, &operand, NULL));
    OK(uf_forall(kernel, 1, (int64_t[]){4}, 1, (DLTensor[]){UF_ARRAY(x, 4)}, NULL));
    OK(uf_copy(&target, &source, NULL));
    assert_int_not_equal(UF_CALL(add, UF_ARRAY(x, 4), UF_ARRAY(y, 3), UF_ARRAY(r, 4)), UF_OK);
    assert_int_not_equal(uf_call(NULL, 0, NULL, NULL), UF_OK);
    assert_int_not_equal(uf_plan_run(NULL, NULL, NULL), UF_OK);
    uf_plan_free(plan);
    uf_free(add);
    uf_free(kernel);
}

/* Ranges of a failing call end too; a function that uses another is around its range. */
static void role_on(void) {
    static const char expected[] = "domain libufunc\n"
                                   "+uf_call add\n-\n"
                                   "+uf_plan_run add\n-\n"
                                   "+uf_outer add\n+uf_call add\n-\n-\n"
                                   "+uf_reduce add\n-\n"
                                   "+uf_accumulate add\n-\n"
                                   "+uf_reduceat add\n-\n"
                                   "+uf_at add\n-\n"
                                   "+uf_forall fill\n-\n"
                                   "+uf_copy\n+uf_call copy\n-\n-\n"
                                   "+uf_call add\n-\n"
                                   "+uf_call\n-\n"
                                   "+uf_plan_run\n-\n";
    every_verb();
    assert_non_null(told());
    assert_string_equal(told(), expected);
    info_has("NVTX         on, /");
    info_has(mock);
}

static void role_off(void) {
    every_verb();
    assert_null(told());
    info_has("NVTX         off (UFUNC_NVTX)");
}

static void role_alone(void) {
    every_verb();
    info_has("nobody listens: the tool sets NVTX_INJECTION64_PATH; it is not set");
}

static void role_refuse(void) {
    every_verb();
    info_has("libmocknvtx.so: the tool refused to start");
}

static void role_deaf(void) {
    every_verb();
    assert_string_equal(told(), "");
    info_has("libmocknvtx.so: the tool does not ask for ranges");
}

static void role_other(void) {
    every_verb();
    info_has("libm.so.6: has no function InitializeInjectionNvtx2");
}

static void role_missing(void) {
    every_verb();
    info_has("/nowhere/tool.so: cannot open shared object file");
}

static const struct role {
    const char *name;
    void (*run)(void);
    const char *wanted, *path, *how;
} roles[] = {
    {"on", role_on, "1", mock, ""},
    {"off", role_off, NULL, mock, ""},
    {"other value", role_off, "0", mock, ""},
    {"alone", role_alone, "1", NULL, ""},
    {"refuse", role_refuse, "1", mock, "refuse"},
    {"deaf", role_deaf, "1", mock, "deaf"},
    {"other", role_other, "1", "libm.so.6", ""},
    {"missing", role_missing, "1", "/nowhere/tool.so", ""},
};

enum {
    ROLES = sizeof roles / sizeof *roles
};

static void set(const char *name, const char *value) {
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void run_as(const struct role *role) {
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        dup2(STDERR_FILENO, STDOUT_FILENO); /* what it says is no result of this program */
        set("CHILD", role->name);
        set("UFUNC_NVTX", role->wanted);
        set("NVTX_INJECTION64_PATH", role->path);
        set("MOCKNVTX", role->how);
        execl("/proc/self/exe", "test_ranges", (char *)NULL);
        _exit(126);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status)
        fail_msg("%s: status %d", role->name, status);
}

static void roles_run(void **unused) {
    (void)unused;
    for (int k = 0; k < ROLES; k++)
        run_as(&roles[k]);
}

static const struct role *chosen;

static void role_run(void **unused) {
    (void)unused;
    chosen->run();
}

int main(void) {
    const char *role = getenv("CHILD");
    ssize_t length = readlink("/proc/self/exe", mock, sizeof mock - 32);
    if (length <= 0)
        return 1;
    mock[length] = '\0';
    strcpy(strrchr(mock, '/') + 1, "libmocknvtx.so");
    for (int k = 0; role && k < ROLES; k++)
        if (!strcmp(role, roles[k].name))
            chosen = &roles[k];
    const struct CMUnitTest tests[] = {cmocka_unit_test(roles_run)}, own[] = {cmocka_unit_test(role_run)};
    if (!role)
        return cmocka_run_group_tests(tests, NULL, NULL);
    cmocka_set_message_output(CM_OUTPUT_STDOUT);
    return chosen ? cmocka_run_group_tests_name(role, own, NULL, NULL) : 126;
}
