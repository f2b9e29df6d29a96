/* debugger.c - tells gdb, and other debuggers that know its JIT interface, of compiled code. The interface is a list of
 * ELF images in memory, which a debugger reads when it stops in `__jit_debug_register_code`, or when it attaches.
 * Without a debugger that function does nothing, and the list is all there is: the image of a kernel is a copy of its
 * object file, of some kilobytes.
 *
 * The two symbols have hidden visibility. A debugger finds them in the symbol table of the program or the library
 * all the same. If they were exported, libLLVM's own pair would be resolved to them, and two libraries would change
 * one list under two locks. */
#include <pthread.h>

#include "cpu/cpu.h"

/* The interface, as gdb's manual has it ("JIT Compilation Interface"). */
typedef enum jit_action {
    JIT_NOTHING,
    JIT_REGISTER,
    JIT_UNREGISTER
} jit_action;

typedef struct jit_code_entry {
    struct jit_code_entry *next, *previous;
    const char *image;
    uint64_t size;
} jit_code_entry;

struct jit_descriptor {
    uint32_t version;
    uint32_t action; /* jit_action */
    jit_code_entry *changed, *first;
};

extern struct jit_descriptor __jit_debug_descriptor;
void __jit_debug_register_code(void);

__attribute__((used)) struct jit_descriptor __jit_debug_descriptor = {.version = 1};

/* Debuggers set a breakpoint here, so that it must be a function of its own at every level of optimisation. */
__attribute__((noinline, used)) void __jit_debug_register_code(void) { __asm__ volatile("" ::: "memory"); }

struct debug_image {
    jit_code_entry entry;
    char bytes[] __attribute__((aligned(16)));
};

/* Taken between llvm_enter and llvm_leave, so that it is free in a child after fork. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void announce(jit_action action, jit_code_entry *changed) {
    __jit_debug_descriptor.action = action;
    __jit_debug_descriptor.changed = changed;
    __jit_debug_register_code();
    __jit_debug_descriptor.action = JIT_NOTHING;
    __jit_debug_descriptor.changed = NULL;
}

debug_image *debug_image_new(const char *object, size_t size) {
    debug_image *d = mem_alloc(sizeof *d + size);
    if (!d)
        return NULL;
    d->entry = (jit_code_entry){.image = d->bytes, .size = size};
    memcpy(d->bytes, object, size);
    return d;
}

const char *debug_image_bytes(const debug_image *d) { return d->bytes; }

void debug_image_show(debug_image *d, const char *entry, const char *name, uintptr_t address) {
    elf_place(d->bytes, d->entry.size, entry, name, address);
    pthread_mutex_lock(&lock);
    d->entry.next = __jit_debug_descriptor.first;
    if (d->entry.next)
        d->entry.next->previous = &d->entry;
    __jit_debug_descriptor.first = &d->entry;
    announce(JIT_REGISTER, &d->entry);
    pthread_mutex_unlock(&lock);
}

void debug_image_hide(debug_image *d) {
    pthread_mutex_lock(&lock);
    *(d->entry.previous ? &d->entry.previous->next : &__jit_debug_descriptor.first) = d->entry.next;
    if (d->entry.next)
        d->entry.next->previous = d->entry.previous;
    announce(JIT_UNREGISTER, &d->entry);
    pthread_mutex_unlock(&lock);
    mem_free(d);
}
