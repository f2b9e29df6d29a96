/* cpu.h - what the files of the CPU engine share. */
#ifndef UF_CPU_CPU_H
#define UF_CPU_CPU_H

#include <stdatomic.h>

#include "engine.h"
#include "type/schema.h"

/* A compiled kernel; type/schema.h has its parameters. */
typedef void cpu_kernel(const uint64_t *parameters);

enum {
    COST_SIZES = 48
};

struct code {
    cpu_kernel *run;
    void *tracker;             /* ORC's, owns the memory of the code */
    struct debug_image *image; /* what debuggers are told of it */
    /* What an element costs, in ticks / 1024; 0: not known yet. Learned from runs, to choose the number of threads. Of a
     * generalized ufunc, what one step of an inner call costs, by log2 of its steps; see call_steps. */
    _Atomic uint32_t cost[COST_SIZES];
};

/* jit.c */
uf_status cpu_compile(const code_module *module, const code_target *target, int device, code **out);
void cpu_release(code *c);
uf_status cpu_inspect(const code_module *module, const code_target *target, int device, uf_view view, text *out);

/* elf.c: what is asked of an object file that LLVM just made, and changed in it. */
/* Calls visit(user, name) for each symbol it needs from elsewhere; stops at the first error. */
uf_status elf_needs(const char *object, size_t size, uf_status (*visit)(void *user, const char *name), void *user);
/* Bytes of code and of read-only data. */
void elf_sizes(const char *object, size_t size, size_t *code_bytes, size_t *data_bytes);
/* The number of the section with a name, with its content; 0: there is none. */
int elf_section(const char *object, size_t size, const char *name, const char **content, size_t *bytes);
/* Where the function `entry` begins in its section. */
uint64_t elf_offset(const char *object, size_t size, const char *entry);
/* Calls visit for each function in the section of the function `entry`, with where it begins there. */
typedef void elf_function(void *user, const char *name, uint64_t offset, uint64_t bytes);
void elf_functions(const char *object, size_t size, const char *entry, elf_function *visit, void *user);
/* Calls visit for each relocation of section `target`. value: what is put there, relative to the section of its symbol. */
typedef void elf_relocation(void *user, uint64_t offset, uint64_t value);
void elf_relocations(const char *object, size_t size, int target, elf_relocation *visit, void *user);
/* The unwind information is not to be loaded with the code: the C++ runtime would be told of it, and from the first kernel on
 * take a lock at every exception of the program. Debuggers read it in their image. */
void elf_keep_frames_back(char *object, size_t size);
/* For debuggers: the section of `entry` is in memory, the function itself at `address`, and no other section is; the function
 * gets a name that is not longer. */
void elf_place(char *object, size_t size, const char *entry, const char *name, uintptr_t address);

/* lines.c: calls visit for each row of the object's line table: code from `offset` on, counted from the beginning of its section,
 * belongs to `line`; line 0: an end. Nothing without line information (UF_LINES). */
typedef void line_row(void *user, uint64_t offset, unsigned line);
void lines_each(const char *object, size_t size, line_row *visit, void *user);

/* debugger.c: an image of an object file for debuggers. Between llvm_enter and llvm_leave. */
typedef struct debug_image debug_image;
debug_image *debug_image_new(const char *object, size_t size); /* a copy; NULL: out of memory */
const char *debug_image_bytes(const debug_image *d); /* the object file as it came from LLVM, until it is shown */
/* The code is at `address`; debuggers are told, and know its function `entry` as `name`. */
void debug_image_show(debug_image *d, const char *entry, const char *name, uintptr_t address);
void debug_image_hide(debug_image *d); /* debuggers forget it; frees it. One that was not shown is given to mem_free */

/* perf.c: the files that the profiler perf reads, if UFUNC_PERF asks for them. Between llvm_enter and llvm_leave. */
/* Code that was loaded: the object file that it came from, and the address of its function `entry`, called `name` in the file.
 * Never fails: what went wrong is told by perf_info. */
void perf_write(const char *object, size_t size, const char *entry, const char *name, uintptr_t address);
void perf_info(text *out); /* a line of uf_system_info */

/* launch.c */
uf_status cpu_launch(const code *c, const launch *l);
/* Elements first .. first + n - 1 of rows row .. row + rows - 1 of a loop that is not flat. */
void rows_run(const code *c, const launch *l, int64_t first, int64_t n, int64_t row, int64_t rows);

/* at.c: LOOP_AT. */
void cpu_at_launch(code *c, const launch *l);

/* forall.c: LOOP_FORALL. */
void cpu_forall_specialise(variant *v, const loop_problem *p);
void cpu_forall_launch(code *c, const launch *l);
uf_status cpu_launch_info(const code *c, const launch *l, uf_launch *out);

/* work.c: the work of one launch, in units that may be cut anywhere. */
enum {
    TICKS_TIMED = 2500, /* runs that should take less are not timed */
    PROBE_MIN = 16,     /* what probe_min is for units that are light .. */
    PROBE_MIN_CALLS = 2 /* .. and for those that may take long */
};
typedef struct work {
    code *c;
    const launch *l;
    void (*run)(const struct work *w, int64_t first, int64_t last); /* units first .. last-1 */
    int64_t units;
    double unit_steps;     /* elements in a unit; of inner calls, their steps */
    int size;              /* which of the costs they have */
    int64_t probe_min;     /* a kernel of unknown cost is timed on some units first if there are so many */
    int64_t lead, grain;   /* large parts are cut at lead + k * grain; lead < grain */
    int64_t pieces, piece; /* loops of more dimensions: pieces a row, and elements in a piece */
    int64_t parts;         /* folds: of each result; forall: rows in a unit */
    bool stream;
    void *user; /* run's own */
} work;
/* Runs it all, on as many threads as pay and l->threads allows. */
void work_run(const work *w);
/* Is it known to pay on several? */
bool work_parallel(const work *w);
/* Units are rows of a loop; where there are few, pieces of rows that are multiples of `grain` elements. */
void work_cut_rows(work *w, int64_t rows, int64_t n, int64_t grain);
/* Which of a kernel's costs belongs to calls or results of so many steps. */
int cost_size(double steps);

static inline uint32_t cost_at(const code *c, int size) {
    return atomic_load_explicit(&c->cost[size], memory_order_relaxed);
}
/* Do n elements of a flat loop take so little time that there is nothing to decide? */
static inline bool work_is_short(const code *c, int64_t n) {
    uint32_t cost = cost_at(c, 0);
    return cost && n < TICKS_TIMED && n * cost < TICKS_TIMED * INT64_C(1024);
}

/* Runs the code of a flat loop for n elements from `first` on. outputs: where they go instead; NULL: to where the launch says. */
enum {
    FLAT_PARAMETERS = VARIANT_OPERANDS * 2 + 1
};
static inline void flat_run(const code *c, const launch *l, int64_t first, int64_t n, char *const *outputs) {
    const variant *v = l->v;
    uint64_t parameters[FLAT_PARAMETERS];
    parameter_writer w = parameters_write(parameters, v, NULL, false);
    for (int k = 0, count = variant_operands(v); k < count; k++) {
        const variant_operand *o = &v->operand[k];
        int64_t skip = o->kind == OPERAND_CONTIGUOUS ? first * dtypes[o->memory].size : 0;
        bool moved = outputs && k >= v->nin && k < v->nin + v->nout;
        put_operand(&w, k, moved ? (uintptr_t)outputs[k - v->nin] : (uintptr_t)l->data[k] + (uint64_t)skip, l->numbers);
    }
    put_parameter(&w, CPU_FLAT_ELEMENTS, n);
    parameters_finish(&w);
    c->run(parameters);
}

/* scan.c: accumulations. */
void cpu_scan_specialise(variant *v, const fold_problem *s);
void cpu_scan_launch(code *c, const launch *l);
/* fold.c */
int64_t cpu_fold_specialise(variant *v, const fold_problem *s);
void cpu_fold_launch(code *c, const launch *l);

/* stream.c: results that are too large for the caches. Does a loop over so many bytes go past them? */
bool nontemporal_pays(double bytes);
/* Copies past the caches; both addresses have the same place in their line. Others see it after stream_end. */
void nontemporal_copy(char *to, const char *from, int64_t bytes);
void nontemporal_end(void);
/* Flat loops. */
bool nontemporal_wanted(const launch *l, int64_t n);
/* Runs elements first .. first + n - 1 of a loop for which that was true. */
void nontemporal_run(const code *c, const launch *l, int64_t first, int64_t n);

#endif
