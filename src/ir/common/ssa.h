/* ssa.h - a value of IR, as the emitter holds it: what it is, and how the IR spells it. The spelling (text) is for writing
 * lines alone; what is known of a value is asked with the functions below, and nobody reads it out of the spelling. The IR
 * type of a value stands in the lines that use it, where every parser checks it, and not here. */
#ifndef UF_IR_SSA_H
#define UF_IR_SSA_H

#include <string.h>

#include "base/base.h"

typedef enum ssa_kind {
    SSA_NONE,     /* there is no value; zeroed memory has this kind */
    SSA_REGISTER, /* %r<number>, which emit_value has defined */
    SSA_NAMED,    /* a parameter, variable or global with a name of its own: %rank, %w3, @shared */
    SSA_INTEGER,  /* an integer constant; an i1 is 0 or 1, and spelled false or true */
    SSA_LITERAL   /* any other constant: floating, complex, null, undef */
} ssa_kind;

typedef struct ssa {
    int64_t number; /* of a register; the value of an integer constant */
    uint8_t kind;
    char text[55]; /* a complex constant takes 54 with its end */
} ssa;

static inline ssa ssa_none(void) { return (ssa){.kind = SSA_NONE}; }
ssa ssa_register(int number);
ssa ssa_named(const char *format, ...) PRINTF(1, 2);
ssa ssa_constant(int64_t value);
ssa ssa_bool(bool value);
ssa ssa_literal(const char *format, ...) PRINTF(1, 2);

/* Is there a value? */
static inline bool ssa_is_set(ssa x) { return x.kind != SSA_NONE; }
/* Is it an integer constant? *value: which (i1: 0 or 1). */
static inline bool ssa_is_constant(ssa x, int64_t *value) {
    *value = x.number;
    return x.kind == SSA_INTEGER;
}
/* Is it this integer constant? */
static inline bool ssa_is(ssa x, int64_t value) { return x.kind == SSA_INTEGER && x.number == value; }
/* Is it the same register, name or constant as another one, which has the same IR type? */
bool ssa_same(const ssa *a, const ssa *b);
/* A condition (i1), which is true where none is given. */
static inline ssa ssa_or_true(ssa x) { return ssa_is_set(x) ? x : ssa_bool(true); }

/* A short piece of a line that is no value: a type, the name of a function, or what stands behind an instruction. */
typedef struct fragment {
    char text[56];
} fragment;

fragment fragment_of(const char *format, ...) PRINTF(1, 2);
static inline fragment fragment_none(void) { return (fragment){""}; }

#endif
