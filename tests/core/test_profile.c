/* test_profile.c - what debuggers and profilers are told of compiled code: gdb's list of images, and the files of perf. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

/* What the name of an elementwise kernel over contiguous float32 has behind the function's. */
#define SUFFIX "_flat_f32"

/* gdb's interface, as its manual has it. */
struct jit_code_entry {
    struct jit_code_entry *next, *previous;
    const char *image;
    uint64_t size;
};
extern struct {
    uint32_t version, action;
    struct jit_code_entry *changed, *first;
} __jit_debug_descriptor;

enum {
    N = 1000
};
static float x[N], y[N], r[N];
static char folder[64];

static uf_func *make(const char *name, const char *source, unsigned flags) {
    uf_func *f = NULL;
    uf_definition d = {.size = sizeof d,
                       .name = name,
                       .nsections = 1,
                       .sections = &(uf_section){"float32,float32->float32", source},
                       .flags = flags};
    if (uf_define(&f, &d))
        fail_msg("%s", uf_last_error()->message);
    return f;
}

__attribute__((noinline)) static void program_frame(const uf_func *f) {
    if (UF_CALL(f, UF_ARRAY(x, N), UF_ARRAY(y, N), UF_ARRAY(r, N)))
        fail_msg("%s", uf_last_error()->message);
}

/* Runs a function that is there for this one call. */
static void run_new(const char *name, const char *source) {
    uf_func *f = make(name, source, 0);
    program_frame(f);
    uf_free(f);
}

static const char lined[] = "(x, y) {\n"
                            "    auto s = x;\n"
                            "    for (int i = 0; i < 100; i++)\n"
                            "        s = s * y +\n"
                            "            x;\n"
                            "    return s;\n"
                            "}";

/* ---- Debuggers ---- */

/* The image that has a function so called, with the address that the image gives it; NULL: none. */
static const struct jit_code_entry *image_of(const char *name, uintptr_t *address) {
    for (const struct jit_code_entry *e = __jit_debug_descriptor.first; e; e = e->next) {
        const Elf64_Ehdr *head = (const Elf64_Ehdr *)e->image;
        const Elf64_Shdr *section = (const Elf64_Shdr *)(e->image + head->e_shoff);
        for (int s = 0; s < head->e_shnum; s++) {
            const Elf64_Sym *symbol = (const Elf64_Sym *)(e->image + section[s].sh_offset);
            const char *names = e->image + section[section[s].sh_link].sh_offset;
            for (size_t k = 0; section[s].sh_type == SHT_SYMTAB && k < section[s].sh_size / sizeof *symbol; k++)
                if (!strcmp(names + symbol[k].st_name, name)) {
                    *address = section[symbol[k].st_shndx].sh_addr + symbol[k].st_value;
                    return e;
                }
        }
    }
    return NULL;
}

static void registered(void **unused) {
    (void)unused;
    uintptr_t first = 0, second = 0;
    assert_int_equal(__jit_debug_descriptor.version, 1);
    uf_func *f = make("registered", "(x, y) { return x + 41 * y; }", 0);
    uf_func *g = make("other", "(x, y) { return x + 43 * y; }", 0);
    program_frame(f);
    const struct jit_code_entry *image = image_of("uf_registered" SUFFIX, &first);
    assert_non_null(image);
    assert_non_null((void *)first);
    assert_memory_equal(image->image, ELFMAG, SELFMAG);
    program_frame(g);
    assert_non_null(image_of("uf_other" SUFFIX, &second));
    assert_true(first != second);
    assert_null(__jit_debug_descriptor.changed);
    assert_int_equal(__jit_debug_descriptor.action, 0);
    uf_free(f);
    uf_free(g);
}

/* Code that is let go of leaves the list: 600 kernels, of which at most 256 are kept for later. */
static void forgotten(void **unused) {
    (void)unused;
    for (int k = 0; k < 600; k++) {
        char source[64];
        snprintf(source, sizeof source, "(x, y) { return x + %d * y; }", 1000 + k);
        uf_func *f = make("many", source, 0);
        program_frame(f);
        uf_free(f);
    }
    int count = 0;
    const struct jit_code_entry *previous = NULL;
    for (const struct jit_code_entry *e = __jit_debug_descriptor.first; e; previous = e, e = e->next, count++)
        assert_ptr_equal(e->previous, previous);
    assert_true(count > 0 && count <= 300);
}

static void read_all(FILE *in, char *out, size_t size) {
    size_t n = fread(out, 1, size - 1, in);
    out[n] = '\0';
    while (fgetc(in) != EOF) /* so that the writer can end */
        ;
}

/* Runs this program in gdb, with a role, stops in the kernel, goes on for some instructions and shows who called it. */
static void in_gdb(const char *role, char *out, size_t size) {
    char command[1024];
    if (system("gdb --version >/dev/null 2>&1"))
        skip();
    snprintf(command, sizeof command,
             "CHILD=%s DEBUGINFOD_URLS= timeout 120 gdb -q -nx -batch -iex 'set auto-load no' -ex 'set breakpoint "
             "pending on' "
             "-ex 'handle SIGSEGV nostop noprint pass' -ex 'break uf_seen" SUFFIX "' -ex run -ex bt -ex 'stepi 30' "
             "-ex 'echo AFTER\\n' -ex bt -ex kill /proc/%d/exe 2>&1 </dev/null",
             role, (int)getpid());
    FILE *in = popen(command, "r");
    assert_non_null(in);
    read_all(in, out, size);
    pclose(in);
    if (strstr(out, "ptrace: ") || strstr(out, "Could not trace the inferior") || strstr(out, "sanitizer")) {
        print_message("gdb cannot run programs here: %.200s\n", out);
        skip();
    }
}

static void expect_in(const char *text, const char *part) {
    if (!text || !strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text ? text : "(nothing)");
}

static void backtrace_names(void **unused) {
    (void)unused;
    char out[32768];
    in_gdb("plain", out, sizeof out);
    expect_in(out, "uf_seen" SUFFIX " ()");
    const char *after = strstr(out, "AFTER");
    expect_in(after, "uf_seen" SUFFIX " ()");
    expect_in(after, "program_frame");
}

static void backtrace_lines(void **unused) {
    (void)unused;
    char out[32768];
    in_gdb("lines", out, sizeof out);
    expect_in(out, "uf_seen" SUFFIX " () at seen:1");
    const char *after = strstr(out, "AFTER");
    expect_in(after, " at seen:");
    expect_in(after, "program_frame");
}

static void child_kernel(unsigned flags) {
    uf_func *f = make("seen", lined, flags);
    program_frame(f);
    uf_free(f);
}

static void role_plain(void) { child_kernel(0); }
static void role_lines(void) { child_kernel(UF_LINES); }

/* ---- perf ---- */

typedef struct function {
    uint64_t address, bytes;
    char name[128];
    int lines; /* different ones */
    unsigned lowest, highest;
} function;

static const function *find(const function *all, int n, const char *name) {
    for (int k = 0; k < n; k++)
        if (!strcmp(all[k].name, name))
            return &all[k];
    return NULL;
}

static int map_read(const char *path, function *out, int most) {
    FILE *in = fopen(path, "r");
    int n = 0;
    unsigned long long address, bytes;
    while (in && n < most && fscanf(in, "%llx %llx %127s\n", &address, &bytes, out[n].name) == 3) {
        out[n].address = address;
        out[n++].bytes = bytes;
    }
    if (in)
        fclose(in);
    return n;
}

static uint64_t number(const char *at, size_t bytes) {
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

static void dump_lines(const char *body, const char *end, function *f) {
    uint64_t count = number(body + 8, 8), last = 0;
    f->lines = (int)count;
    f->lowest = UINT32_MAX;
    f->highest = 0;
    body += 16;
    for (uint64_t k = 0; k < count; k++) {
        uint64_t address = number(body, 8);
        unsigned line = (unsigned)number(body + 8, 4);
        assert_true(address >= last);
        last = address;
        f->lowest = line < f->lowest ? line : f->lowest;
        f->highest = line > f->highest ? line : f->highest;
        body += 16 + strlen(body + 16) + 1;
    }
    assert_ptr_equal(body, end);
}

/* The functions of a dump whose code is `process`'; each has the bytes that are in memory now. */
static int dump_read(const char *path, function *out, int most) {
    static char data[1 << 20];
    FILE *in = fopen(path, "r");
    if (!in)
        return 0;
    size_t size = fread(data, 1, sizeof data, in);
    fclose(in);
    assert_true(size >= 40 && size < sizeof data);
    assert_int_equal(number(data, 4), 0x4A695444);
    assert_int_equal(number(data + 4, 4), 1);
    assert_int_equal(number(data + 8, 4), 40);
    assert_int_equal(number(data + 20, 4), getpid());
    int n = 0;
    function with_lines = {0};
    for (const char *at = data + 40, *end = data + size; at < end; at += number(at + 4, 4)) {
        const char *body = at + 16, *next = at + number(at + 4, 4);
        assert_true(next > body && next <= end && n < most);
        if (number(at, 4) == 2) {
            with_lines.address = number(body, 8);
            dump_lines(body, next, &with_lines);
            continue;
        }
        assert_int_equal(number(at, 4), 0);
        assert_int_equal(number(body, 4), getpid());
        function *f = &out[n];
        uint64_t address = number(body + 8, 8);
        *f = address == with_lines.address ? with_lines : (function){0};
        f->address = address;
        f->bytes = number(body + 24, 8);
        assert_int_equal(number(body + 16, 8), f->address);
        assert_int_equal(number(body + 32, 8), n);
        snprintf(f->name, sizeof f->name, "%s", body + 40);
        const char *code = body + 40 + strlen(body + 40) + 1;
        assert_ptr_equal(code + f->bytes, next);
        assert_memory_equal(code, (const void *)(uintptr_t)f->address, f->bytes);
        n++;
    }
    return n;
}

static bool is_private(const char *path) {
    struct stat s;
    return !lstat(path, &s) && S_ISREG(s.st_mode) && (s.st_mode & 0777) == 0600;
}

static void info_has(const char *part) {
    char *text;
    assert_int_equal(uf_system_info(&text), UF_OK);
    expect_in(text, part);
    free(text);
}

static void map_path(char *out) { snprintf(out, 64, "/tmp/perf-%d.map", (int)getpid()); }

/* The roles run in processes of their own: the environment is read as it is, and files are named by process. */
static void role_map(void) {
    char path[64];
    function all[64];
    uintptr_t address;
    map_path(path);
    uf_func *f = make("mapped", "(x, y) { for (int i = 0; i < 3; i++) x += atan2(x, y); return x; }", 0);
    program_frame(f);
    int n = map_read(path, all, 64);
    const function *kernel = find(all, n, "uf_mapped" SUFFIX);
    assert_true(n > 1 && is_private(path));
    assert_non_null(image_of("uf_mapped" SUFFIX, &address));
    assert_non_null(kernel);
    assert_int_equal(kernel->address, address);
    assert_true(kernel->bytes > 16);
    assert_non_null(find(all, n, "uf_mapped" SUFFIX ":m_atan2_f32"));
    info_has(path);
    uf_free(f);
    unlink(path);
}

/* A child writes a file of its own, and nothing to its parent's. */
static void role_fork(void) {
    char path[64], inside[64];
    function all[64];
    map_path(path);
    run_new("parent", "(x, y) { return x + 7 * y; }");
    int before = map_read(path, all, 64), status;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        run_new("child", "(x, y) { return x + 8 * y; }");
        map_path(inside);
        int n = map_read(inside, all, 64);
        unlink(inside);
        _exit(find(all, n, "uf_child" SUFFIX) && !find(all, n, "uf_parent" SUFFIX) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(map_read(path, all, 64), before);
    run_new("later", "(x, y) { return x + 9 * y; }");
    int n = map_read(path, all, 64);
    assert_true(find(all, n, "uf_later" SUFFIX) && !find(all, n, "uf_child" SUFFIX));
    unlink(path);
}

static void role_dump(void) {
    char path[128];
    function all[64];
    uintptr_t address;
    uf_func *f = make("dumped", lined, UF_LINES), *g = make("bare", "(x, y) { return x / y; }", 0);
    program_frame(f);
    program_frame(g);
    snprintf(path, sizeof path, "%s/jit-%d.dump", getenv("UFUNC_PERF_DIR"), (int)getpid());
    int n = dump_read(path, all, 64);
    const function *kernel = find(all, n, "uf_dumped" SUFFIX), *bare = find(all, n, "uf_bare" SUFFIX);
    assert_true(kernel && bare && is_private(path));
    assert_non_null(image_of("uf_dumped" SUFFIX, &address));
    assert_int_equal(kernel->address, address);
    assert_true(kernel->lines > 2 && kernel->lowest == 1 && kernel->highest >= 4 && kernel->highest <= 6);
    assert_int_equal(bare->lines, 0);
    info_has(path);

    FILE *maps = fopen("/proc/self/maps", "r"); /* the page by which perf finds the file */
    char line[512];
    bool mapped = false;
    while (maps && fgets(line, sizeof line, maps))
        mapped |= strstr(line, path) && strstr(line, " r-xp ");
    fclose(maps);
    assert_true(mapped);
    unlink(path);
    uf_free(f);
    uf_free(g);
}

/* A link that lies where the file would be is not followed, nor is a file that is there written to; calls do not notice. */
static void role_link(void) {
    char path[64], target[128];
    function all[4];
    map_path(path);
    snprintf(target, sizeof target, "%s/victim", folder);
    assert_int_equal(symlink(target, path), 0);
    run_new("linked", "(x, y) { return x - y; }");
    assert_int_equal(access(target, F_OK), -1);
    info_has("cannot make it: File exists");
    run_new("again", "(x, y) { return x - 2 * y; }");
    unlink(path);
    assert_int_equal(map_read(path, all, 4), 0);
}

static void role_nowhere(void) {
    run_new("lost", "(x, y) { return x - 3 * y; }");
    info_has("cannot make it: No such file or directory");
}

static void role_unknown(void) {
    run_new("nothing", "(x, y) { return x - 4 * y; }");
    info_has("off: UFUNC_PERF is \"pmap\"; known are map and dump");
}

static void role_off(void) {
    char path[64];
    map_path(path);
    run_new("unseen", "(x, y) { return x - 5 * y; }");
    assert_int_equal(access(path, F_OK), -1);
    info_has("off (UFUNC_PERF)");
}

static const struct role {
    const char *name;
    void (*run)(void);
    const char *perf, *perf_folder;
} roles[] = {
    {"plain", role_plain, NULL, NULL},
    {"lines", role_lines, NULL, NULL},
    {"map", role_map, "map", NULL},
    {"fork", role_fork, "map", NULL},
    {"dump", role_dump, "dump", folder},
    {"link", role_link, "map", NULL},
    {"nowhere", role_nowhere, "dump", "/nowhere/at/all"},
    {"unknown", role_unknown, "pmap", NULL},
    {"off", role_off, NULL, NULL},
};

static void files_of_perf(void **unused) {
    (void)unused;
    for (size_t k = 0; k < sizeof roles / sizeof *roles; k++) {
        fflush(NULL);
        pid_t child = fork();
        if (!child) {
            dup2(STDERR_FILENO, STDOUT_FILENO); /* what it says is no result of this program */
            setenv("CHILD", roles[k].name, 1);
            setenv("FOLDER", folder, 1);
            if (roles[k].perf)
                setenv("UFUNC_PERF", roles[k].perf, 1);
            if (roles[k].perf_folder)
                setenv("UFUNC_PERF_DIR", roles[k].perf_folder, 1);
            execl("/proc/self/exe", "test_profile", (char *)NULL);
            _exit(126);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status)
            fail_msg("%s: status %d", roles[k].name, status);
    }
}

static const struct role *chosen;

static void role_run(void **unused) {
    (void)unused;
    chosen->run();
}

static int run_role(const char *role) {
    const struct CMUnitTest own[] = {cmocka_unit_test(role_run)};
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 3);
        y[i] = 1;
    }
    if (getenv("FOLDER"))
        snprintf(folder, sizeof folder, "%s", getenv("FOLDER"));
    for (size_t k = 0; k < sizeof roles / sizeof *roles; k++)
        if (!strcmp(role, roles[k].name))
            chosen = &roles[k];
    cmocka_set_message_output(CM_OUTPUT_STDOUT);
    return chosen ? cmocka_run_group_tests_name(role, own, NULL, NULL) : 126;
}

static int setup(void **unused) {
    (void)unused;
    snprintf(folder, sizeof folder, "/tmp/test_profile.XXXXXX");
    return mkdtemp(folder) ? 0 : 1;
}

static int teardown(void **unused) {
    (void)unused;
    return rmdir(folder); /* nothing was left */
}

int main(void) {
    const char *role = getenv("CHILD");
    if (role)
        return run_role(role);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registered),      cmocka_unit_test(forgotten),     cmocka_unit_test(backtrace_names),
        cmocka_unit_test(backtrace_lines), cmocka_unit_test(files_of_perf),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
