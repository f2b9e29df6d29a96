/* at_case.h - random updates in place, and what comes of them one after the other: small integers, exact in all dtypes. */
#ifndef UF_AT_CASE_H
#define UF_AT_CASE_H

#include "type/type.h"
#include "views.h"

enum {
    AT_INDICES = 3,
    AT_RULES = 7
};

typedef struct at_rule {
    const char *source;
    bool unary, ordered; /* do results depend on the order of updates? */
    bool complex;        /* does it take complex numbers? */
} at_rule;
extern const at_rule at_rules[AT_RULES];

typedef struct at_case {
    int rule, nindices, rest, ndim; /* ndim: of the updates */
    dtype type, operand_type;
    int64_t shape[VIEW_RANK]; /* of the updates */
    view target, expected, index[AT_INDICES], operand;
    bool number, deterministic;
    _Alignas(16) char value[16]; /* of a number */
} at_case;

/* strays: some indices are out of range. */
void at_draw(at_case *p, bool strays);
/* Does to `expected`, which is what the target was at first, what updates in order do to it; indices out of range do nothing. */
void at_expect(at_case *p);
void at_release(at_case *p);

#endif
