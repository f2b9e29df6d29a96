/* bundle.h - several instances of a construct's body that one thread computes together (GPU): what they need from memory is
 * loaded for all of them before the first is computed, by vectors where they are neighbours. */
#ifndef UF_BUNDLE_H
#define UF_BUNDLE_H

#include "ir/construct/construct.h"

enum {
    JAM_VARIABLES = 8, /* ranges of a construct that are bundled */
    JAM_MOST = 128     /* instances */
};

/* A variable of a range: its value in each instance, which is base + lane; lanes of one base are neighbours. */
typedef struct jam_variable {
    int local;
    int width; /* lanes of a base */
    ssa *value, *base;
    int *lane;
} jam_variable;

/* Values of an expression by instance; empty: not known for that one. */
typedef struct known_values {
    const node *of;
    ssa *value;
    struct known_values *next;
} known_values;

struct jam {
    jam *outer; /* of the forall around a reduction's terms: instance i is of its instance i / count * outer->count */
    int fixed;  /* the one outer instance that all instances are of; -1: each outer one has some */
    int count, now; /* instances; the one that is being written */
    int nvariables;
    jam_variable variable[JAM_VARIABLES];
    known_values *known;
    bool *own; /* by local: declared in the body, so that each instance has one; not with an outer bundle */
};

/* A bundle of so many instances inside b->bundle, which then is the outer one: for each of its instances, those of one following
 * each other, or for the one that is being written. Its variables' values are to be filled in. */
jam *jam_begin(body *b, int count, bool of_each);
void jam_end(body *b);
jam_variable *jam_add(body *b, jam *t, int variable, int width);
/* Makes instance i the one that is being written: binds the variables. */
void jam_now(body *b, int i);
/* Loads what an expression reads from core operands, unless only some of its branches do. */
void jam_load(body *b, const node *n);
/* Notes the values of an expression: value[i] of instance i. */
void jam_know(body *b, const node *n, ssa *value);
void jam_forget(body *b);
bool jam_depends(const node *n, int variable); /* does n read this local? */
/* Does n depend on what differs between the instances? */
bool jam_varies(const body *b, const node *n);
/* The variable that alone walks along the unit dimension of a core element, so that its lanes are neighbours in memory;
 * NULL: there is none, or its index is not proved. */
const jam_variable *jam_along(const body *b, const node *element);

#endif
