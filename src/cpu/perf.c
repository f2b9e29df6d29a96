/* perf.c - tells Linux's profiler perf of compiled code, if the environment variable UFUNC_PERF asks for it:
 *
 *   map    /tmp/perf-PID.map, a line for each function: address, size, name. `perf report` reads it by itself.
 *   dump   DIR/jit-PID.dump, DIR being UFUNC_PERF_DIR or /tmp: the code too, and its lines. `perf record -k mono` sees the file
 *          because a page of it is mapped as code; `perf inject --jit` then makes object files of it. The format is that of
 *          tools/perf/Documentation/jitdump-specification.txt in Linux, version 1.
 *
 * The file is made when the first kernel is compiled, and is readable by its owner only. A file that is there
 * already is never written to, as another user might have put a link there. A child after fork begins a file of its
 * own; for code that it inherited, perf looks into its parent's file. After a failure nothing more is written. The
 * call does not fail, and perf_info says what went wrong. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cpu/cpu.h"

typedef struct place {
    const char *object, *entry, *name;
    size_t size;
    uintptr_t base; /* the address of the section of `entry` */
    text *out;      /* what will be written */
    /* dump: where in the section the function is whose lines are wanted. */
    uint64_t begin, end;
    uint64_t rows;
} place;

typedef struct format {
    const char *word; /* the value of UFUNC_PERF */
    const char *path; /* made of the folder and the process's number */
    const char *(*begin)(void);
    elf_function *function; /* its user is a `place` */
} format;

static const char *map_begin(void), *dump_begin(void);
static void map_function(void *user, const char *name, uint64_t offset, uint64_t bytes);
static void dump_function(void *user, const char *name, uint64_t offset, uint64_t bytes);

static const format formats[] = {
    {"map", "%s/perf-%d.map", map_begin, map_function},
    {"dump", "%s/jit-%d.dump", dump_begin, dump_function},
};

/* Taken between llvm_enter and llvm_leave, so that it is free in a child after fork. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    pid_t process;       /* whose file it is; 0: none was begun */
    int file;            /* -1: there is none, or it failed */
    const char *failure; /* what failed; `error` is why */
    int error;
    char path[512];
    uint64_t functions; /* how many were written to the dump */
    void *marker;       /* the page of the dump that is mapped as code */
    size_t page;
} perf = {.file = -1};

/* ---- The file ---- */

/* The format that UFUNC_PERF names. NULL: it names none, or an unknown one. */
static const format *wanted_format(const char **word) {
    *word = secure_getenv("UFUNC_PERF");
    for (size_t k = 0; *word && k < COUNT(formats); k++)
        if (!strcmp(*word, formats[k].word))
            return &formats[k];
    return NULL;
}

/* The folder of the file: perf looks for maps in /tmp and nowhere else. */
static const char *folder(const format *f) {
    const char *named = f->function == dump_function ? secure_getenv("UFUNC_PERF_DIR") : NULL;
    return named && *named ? named : "/tmp";
}

static void file_close(void) {
    if (perf.marker)
        munmap(perf.marker, perf.page);
    if (perf.file >= 0)
        close(perf.file);
    perf.marker = NULL;
    perf.file = -1;
}

static void stop(const char *what) {
    perf.error = errno;
    perf.failure = what;
    file_close();
}

static const char *write_all(const char *bytes, size_t count) {
    while (count) {
        ssize_t n = write(perf.file, bytes, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return "write to it";
        bytes += n;
        count -= (size_t)n;
    }
    return NULL;
}

static const char *map_begin(void) { return NULL; }

/* Begins a file for this process unless it has one. */
static void file_begin(const format *f) {
    pid_t process = getpid();
    if (perf.process == process)
        return;
    file_close(); /* the parent's */
    perf.process = process;
    perf.failure = NULL;
    perf.functions = 0;
    if (snprintf(perf.path, sizeof perf.path, f->path, folder(f), (int)process) >= (int)sizeof perf.path) {
        errno = ENAMETOOLONG;
        stop("make it");
        return;
    }
    perf.file = open(perf.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0600);
    const char *failure = perf.file < 0 ? "make it" : f->begin();
    if (failure)
        stop(failure);
}

/* ---- Names ---- */

/* Writes the name of a function: the kernel's as in the generated code, that of one that it calls together with the
 * kernel's. */
static void add_name(const place *p, const char *function) {
    if (!strcmp(function, p->entry))
        text_puts(p->out, p->name);
    else
        text_printf(p->out, "%s:%s", p->name, function);
}

/* ---- Maps ---- */

static void map_function(void *user, const char *name, uint64_t offset, uint64_t bytes) {
    const place *p = user;
    text_printf(p->out, "%llx %llx ", (unsigned long long)(p->base + offset), (unsigned long long)bytes);
    add_name(p, name);
    text_puts(p->out, "\n");
}

/* ---- Dumps ---- */

enum {
    DUMP_MAGIC = 0x4A695444, /* "JiTD" */
    DUMP_VERSION = 1,
    DUMP_LOAD = 0,
    DUMP_LINES = 2,
    DUMP_MACHINE =
#if defined(__x86_64__)
        EM_X86_64
#else
        EM_AARCH64
#endif
};

typedef struct dump_head {
    uint32_t magic, version, size, machine, unused, process;
    uint64_t time, flags;
} dump_head;

typedef struct dump_record {
    uint32_t kind, size;
    uint64_t time;
} dump_record;

typedef struct dump_load {
    uint32_t process, thread;
    uint64_t address, same_address, bytes, number;
} dump_load;

typedef struct dump_lines {
    uint64_t address, count;
} dump_lines;

typedef struct dump_line {
    uint64_t address;
    uint32_t line, discriminator;
} dump_line;

/* The time on the clock of `perf record -k mono`. */
static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static const char *dump_begin(void) {
    dump_head head = {.magic = DUMP_MAGIC,
                      .version = DUMP_VERSION,
                      .size = sizeof head,
                      .machine = DUMP_MACHINE,
                      .process = (uint32_t)getpid(),
                      .time = now()};
    perf.page = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, perf.page, PROT_READ | PROT_EXEC, MAP_PRIVATE, perf.file, 0);
    if (page == MAP_FAILED)
        return "map it as code";
    perf.marker = page;
    return write_all((const char *)&head, sizeof head);
}

static void add_bytes(const place *p, const void *bytes, size_t count) { text_add(p->out, bytes, count); }

/* Writes the head of a record at its end, as only then the size is known. */
static void record_end(const place *p, size_t begin, uint32_t kind) {
    dump_record head = {.kind = kind, .size = (uint32_t)(p->out->length - begin), .time = now()};
    if (!p->out->failed)
        memcpy(p->out->data + begin, &head, sizeof head);
}

static void count_row(void *user, uint64_t offset, unsigned line) {
    place *p = user;
    p->rows += line && offset >= p->begin && offset < p->end;
}

static void add_row(void *user, uint64_t offset, unsigned line) {
    const place *p = user;
    if (!line || offset < p->begin || offset >= p->end)
        return;
    add_bytes(p, &(dump_line){p->base + offset, line, 0}, sizeof(dump_line));
    add_bytes(p, p->name, strlen(p->name) + 1); /* the name of the file */
}

static void dump_function_lines(place *p) {
    size_t begin = p->out->length;
    p->rows = 0;
    lines_each(p->object, p->size, count_row, p);
    if (!p->rows)
        return;
    add_bytes(p, &(dump_record){0}, sizeof(dump_record));
    add_bytes(p, &(dump_lines){p->base + p->begin, p->rows}, sizeof(dump_lines));
    lines_each(p->object, p->size, add_row, p);
    record_end(p, begin, DUMP_LINES);
}

static void dump_function(void *user, const char *name, uint64_t offset, uint64_t bytes) {
    place *p = user;
    p->begin = offset;
    p->end = offset + bytes;
    dump_function_lines(p); /* they must come before the code */
    size_t begin = p->out->length;
    add_bytes(p, &(dump_record){0}, sizeof(dump_record));
    dump_load load = {.process = (uint32_t)getpid(),
                      .thread = (uint32_t)syscall(SYS_gettid),
                      .address = p->base + offset,
                      .same_address = p->base + offset,
                      .bytes = bytes,
                      .number = perf.functions++};
    add_bytes(p, &load, sizeof load);
    add_name(p, name);
    add_bytes(p, "", 1);
    add_bytes(p, (const char *)(p->base + offset), bytes);
    record_end(p, begin, DUMP_LOAD);
}

/* ---- For the engine ---- */

static void write_functions(const format *f, place *p) {
    text out = {0};
    p->out = &out;
    elf_functions(p->object, p->size, p->entry, f->function, p);
    errno = ENOMEM;
    const char *failure = out.failed ? "write to it" : write_all(out.data, out.length);
    if (failure)
        stop(failure);
    text_free(&out);
}

void perf_write(const char *object, size_t size, const char *entry, const char *name, uintptr_t address) {
    const char *word;
    const format *f = wanted_format(&word);
    if (!f)
        return;
    place p = {.object = object,
               .size = size,
               .entry = entry,
               .name = name,
               .base = address - elf_offset(object, size, entry)};
    pthread_mutex_lock(&lock);
    file_begin(f);
    if (perf.file >= 0)
        write_functions(f, &p);
    pthread_mutex_unlock(&lock);
}

static void tell_file(const format *f, text *out) {
    if (perf.process != getpid())
        text_printf(out, "%s, in %s when a kernel is compiled%s\n", f->word, folder(f),
                    access(folder(f), W_OK | X_OK) ? ", which is not a folder that can be written to" : "");
    else if (perf.failure)
        text_printf(out, "%s, %s: cannot %s: %s\n", f->word, perf.path, perf.failure, strerror(perf.error));
    else
        text_printf(out, "%s, %s\n", f->word, perf.path);
}

void perf_info(text *out) {
    const char *word;
    const format *f = wanted_format(&word);
    text_puts(out, "  perf         ");
    pthread_mutex_lock(&lock);
    if (f)
        tell_file(f, out);
    else
        text_printf(out, word && *word ? "off: UFUNC_PERF is \"%s\"; known are map and dump\n" : "off (UFUNC_PERF)\n",
                    word);
    pthread_mutex_unlock(&lock);
}
