/* unroll_jam.h - GPU: unroll and jam. One thread computes several iterations of a construct, here called instances, together: what they
 * need from memory is loaded for all of them before the first is computed, by vectors where instances are neighbours in memory. */
#ifndef UF_UNROLL_JAM_H
#define UF_UNROLL_JAM_H

#include "ir/construct/construct.h"

enum {
    JAM_VARIABLES = 8, /* ranges of a construct that are jammed */
    JAM_MOST = 128     /* instances */
};

/* The variable of a range: its value in each instance, which is base + lane. Instances that have the same base are neighbours. */
typedef struct jam_variable {
    int local;
    int width; /* lanes of a base */
    ssa *value, *base;
    int *lane;
} jam_variable;

/* The values of an expression by instance; none: not known for that one. */
typedef struct known_values {
    const node *of;
    ssa *value;
    struct known_values *next;
} known_values;

struct jam {
    /* For the terms of a reduction: the instances of the forall around it; NULL: none. Unless `fixed`, the first count / outer->count
     * instances belong to its first instance, and so on. */
    jam *outer;
    int fixed;      /* the one outer instance that all instances belong to; -1: they are shared out among all */
    int count, now; /* instances; the one that is being written */
    int nvariables;
    jam_variable variable[JAM_VARIABLES];
    known_values *known;
    bool *own;    /* by local: declared in the body, so that each instance has its own; shared with the outer jam */
    bool *within; /* by local: declared by a sequence within an expression (jam_enter); shared with the outer jam */
};

/* Begins a jam of `count` instances, which becomes b->jam; what b->jam was is the outer one. of_each: the instances are shared out among
 * those of the outer jam; else all belong to the outer instance that is being written. The caller adds the variables and their
 * values. */
jam *jam_begin(body *b, int count, bool of_each);
void jam_end(body *b);
jam_variable *jam_add(body *b, jam *t, int variable, int width);
/* Makes instance i the one that is being written: binds the variables. */
void jam_now(body *b, int i);
/* Loads what an expression reads from core operands, unless only some of its branches do. */
void jam_load(body *b, const node *n);
/* Notes the values of an expression, value[i] in instance i, until jam_forget. */
void jam_know(body *b, const node *n, ssa *value);
void jam_forget(body *b);
bool jam_depends(const node *n, int variable); /* does n read this local? */
/* Notes the variables that the statements of a sequence within an expression declare. They have their values only while the sequence is written for an
 * instance; what depends on none of them (jam_is_early) can be written before, for all instances. */
void jam_enter(body *b, const node *list);
bool jam_is_early(const body *b, const node *n);
/* Does n depend on what differs between the instances? */
bool jam_varies(const body *b, const node *n);
/* The variable that is the index along the unit dimension of a core element and occurs in no other index, so that its lanes are
 * neighbours in memory; NULL: there is none, or the indices are not proved to be in range. */
const jam_variable *jam_along(const body *b, const node *element);

#endif
