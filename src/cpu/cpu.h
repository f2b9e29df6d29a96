/* cpu.h - what the files of the CPU engine share. */
#ifndef UF_CPU_CPU_H
#define UF_CPU_CPU_H

#include <stdatomic.h>

#include "engine.h"
#include "type/schema.h"

/* A compiled kernel; type/schema.h has its parameters. */
typedef void cpu_kernel(const uint64_t *parameters);

enum {
    COST_SIZES = 48,
    CPU_NARROW_MAX = 15 /* engine.tile_narrow gives no more */
};

struct code {
    cpu_kernel *run;
    void *tracker;             /* of LLVM's ORC; it owns the memory of the code */
    struct debug_image *image; /* what debuggers are told of the code */
    /* What one step costs, in ticks / 1024; 0: not known yet. It is learned from runs, to choose the number of
     * threads. The step of a generalized ufunc is one of an inner call, and its costs are kept by log2 of the steps
     * in an inner call (call_steps); else a step is an element. */
    _Atomic uint32_t cost[COST_SIZES];
};

/* jit.c */
uf_status cpu_compile(const code_module *module, const code_target *target, int device, code **out);
void cpu_release(code *c);
uf_status cpu_inspect(const code_module *module, const code_target *target, int device, uf_view view, text *out);

/* elf.c: reads and changes an object file that LLVM just made. */
/* Calls visit(user, name) for each symbol that the object needs from elsewhere. Stops at the first error. */
uf_status elf_needs(const char *object, size_t size, uf_status (*visit)(void *user, const char *name), void *user);
/* The bytes of code and of read-only data. */
void elf_sizes(const char *object, size_t size, size_t *code_bytes, size_t *data_bytes);
/* The number of the section of that name, and its content; 0: there is none. */
int elf_section(const char *object, size_t size, const char *name, const char **content, size_t *bytes);
/* The offset in its section at which the function `entry` begins. */
uint64_t elf_offset(const char *object, size_t size, const char *entry);
/* Calls visit for each function in the section of the function `entry`, with its offset there. */
typedef void elf_function(void *user, const char *name, uint64_t offset, uint64_t bytes);
void elf_functions(const char *object, size_t size, const char *entry, elf_function *visit, void *user);
/* Calls visit for each relocation of section `target`. value: what is put there, relative to the section of its
 * symbol. */
typedef void elf_relocation(void *user, uint64_t offset, uint64_t value);
void elf_relocations(const char *object, size_t size, int target, elf_relocation *visit, void *user);
/* Keeps the unwind information from being loaded with the code. The C++ runtime would be told of it, and from the
 * first kernel on take a lock at every exception of the program. Debuggers read it in their image. */
void elf_keep_frames_back(char *object, size_t size);
/* Makes the object an image for debuggers: only the section of `entry` is in memory, with that function at
 * `address`, and the function is renamed to `name`, which must not be longer. */
void elf_place(char *object, size_t size, const char *entry, const char *name, uintptr_t address);

/* lines.c: calls visit for each row of the object's line table. Code from `offset` in its section on belongs to
 * `line`; line 0 ends a range. There are no rows without line information (UF_LINES). */
typedef void line_row(void *user, uint64_t offset, unsigned line);
void lines_each(const char *object, size_t size, line_row *visit, void *user);

/* debugger.c: an image of an object file, for debuggers. To be called between llvm_enter and llvm_leave. */
typedef struct debug_image debug_image;
debug_image *debug_image_new(const char *object, size_t size); /* a copy; NULL: out of memory */
const char *debug_image_bytes(const debug_image *d); /* the object file as it came from LLVM, until it is shown */
/* Tells debuggers that the function `entry` of the image is at `address`, and is called `name`. */
void debug_image_show(debug_image *d, const char *entry, const char *name, uintptr_t address);
/* Makes debuggers forget the image, and frees it. An image that was not shown is given to mem_free. */
void debug_image_hide(debug_image *d);

/* perf.c: the files that the profiler perf reads, if UFUNC_PERF asks for them. To be called between llvm_enter and
 * llvm_leave. */
/* Writes code that was loaded: its object file, and the address of its function `entry`, which is called `name` in
 * what perf reads. It never fails; perf_info says what went wrong. */
void perf_write(const char *object, size_t size, const char *entry, const char *name, uintptr_t address);
void perf_info(text *out); /* writes a line of uf_system_info */

/* launch.c */
uf_status cpu_launch(const code *c, const launch *l);
bool cpu_keep(const code *c, const launch *l, kept_launch *out);
bool cpu_repeat(const kept_launch *k);
/* Runs a job of the caller's thread with the floating-point environment that a program begins with. */
uf_status cpu_default_mode(uf_status (*job)(void *user), void *user);
/* Runs elements first .. first + n - 1 of rows row .. row + rows - 1 of a loop that is not flat. */
void rows_run(const code *c, const launch *l, int64_t first, int64_t n, int64_t row, int64_t rows);

/* at.c: runs LOOP_AT. */
void cpu_at_launch(code *c, const launch *l);

/* forall.c: LOOP_FORALL. */
void cpu_forall_specialise(variant *v, const loop_problem *p);
void cpu_forall_launch(code *c, const launch *l);
uf_status cpu_launch_info(const code *c, const launch *l, uf_launch *out);

/* work.c: the work of a launch, in units that may be divided over threads anywhere. */
enum {
    /* Runs that should take less than this are not timed. */
    TICKS_TIMED = 2500,
    /* probe_min of units that take little time each. */
    PROBE_MIN = 16,
    /* probe_min of units that may take long. */
    PROBE_MIN_CALLS = 2
};
typedef struct work {
    code *c;
    const launch *l;
    void (*run)(const struct work *w, int64_t first, int64_t last); /* runs units first .. last-1 */
    int64_t units;
    double unit_steps; /* steps in a unit, of which a cost is the time of one */
    int size;          /* the index of the kernel's cost that these steps have */
    /* A kernel of unknown cost is timed on some of the units first, if there are more of them than this. */
    int64_t probe_min;
    int64_t lead, grain; /* large parts are cut at lead + k * grain; lead < grain */
    /* Loops of several dimensions: how many pieces a row is cut into, and the elements in one. */
    int64_t pieces, piece;
    int64_t parts; /* reductions: parts of each result; forall: rows in a unit */
    bool stream;
    uint32_t
        cost_min; /* of a step, as costs are kept, at least: where runs may end early, and so seem to cost nothing */
    void *user;   /* for run */
    double share; /* what part of the launch this work is; 0: all of it */
} work;
/* Runs all units, on as many threads as make it faster and l->threads allows. */
void work_run(const work *w);
/* Is it known already that several threads make it faster? */
bool work_parallel(const work *w);
/* Makes units of the rows of a loop. Where there are few, rows are cut into pieces that are multiples of `grain`
 * elements. */
void work_cut_rows(work *w, int64_t rows, int64_t n, int64_t grain);
/* The index of the kernel's cost that calls or results of so many steps have. */
int cost_size(double steps);

static inline uint32_t cost_at(const code *c, int size) {
    return atomic_load_explicit(&c->cost[size], memory_order_relaxed);
}
/* Do n elements of a flat loop take so little time that there is nothing to decide? */
static inline bool work_is_short(const code *c, int64_t n) {
    uint32_t cost = cost_at(c, 0);
    return cost && n < TICKS_TIMED && n * cost < TICKS_TIMED * INT64_C(1024);
}

/* Parameters of the code of a flat loop over n elements from `first` on. outputs: where they go instead; NULL: to where the launch says.
 * lines: they are whole lines of the outputs, which the code is to write past the caches. */
enum {
    FLAT_PARAMETERS = VARIANT_OPERANDS * 2 + 2
};
static inline void flat_parameters(uint64_t *to, const launch *l, int64_t first, int64_t n, char *const *outputs,
                                   bool lines) {
    const variant *v = l->v;
    parameter_writer w = parameters_write(to, v, NULL, false);
    for (int k = 0, count = variant_operands(v); k < count; k++) {
        const variant_operand *o = &v->operand[k];
        int64_t skip = o->kind == OPERAND_CONTIGUOUS    ? first * dtypes[o->memory].size
                       : o->kind == OPERAND_INTERLEAVED ? first * o->record
                                                        : 0;
        bool moved = outputs && k >= v->nin && k < v->nin + v->nout;
        put_operand(&w, k, moved ? (uintptr_t)outputs[k - v->nin] : (uintptr_t)l->data[k] + (uint64_t)skip, l->numbers);
    }
    put_parameter(&w, CPU_FLAT_ELEMENTS, n);
    if (variant_has_nontemporal(v))
        put_parameter(&w, CPU_FLAT_LINES, lines);
    parameters_finish(&w);
}

static inline void flat_run(const code *c, const launch *l, int64_t first, int64_t n, char *const *outputs,
                            bool lines) {
    uint64_t parameters[FLAT_PARAMETERS];
    flat_parameters(parameters, l, first, n, outputs, lines);
    c->run(parameters);
}

/* scan.c: prepares and runs accumulations. */
void cpu_scan_specialise(variant *v, const fold_problem *s);
void cpu_scan_launch(code *c, const launch *l);
/* fold.c: prepares and runs reductions. */
int64_t cpu_fold_specialise(variant *v, const fold_problem *s);
void cpu_fold_launch(code *c, const launch *l);

/* nontemporal.c: stores that bypass the caches, for results that are too large for them. Are they faster in a loop
 * over so many bytes? */
bool nontemporal_pays(double bytes);
/* Copies with such stores. Both addresses must have the same offset in their cache line. Other threads see the bytes
 * once nontemporal_end was called. */
void nontemporal_copy(char *to, const char *from, int64_t bytes);
void nontemporal_end(void);
/* Should a flat loop be run with such stores? */
bool nontemporal_wanted(const launch *l, int64_t n);
/* Runs elements first .. first + n - 1 of a loop for which the answer was yes. */
void nontemporal_run(const code *c, const launch *l, int64_t first, int64_t n);

#endif
