/* coalesced.c - finds coalesced accesses, see coalesced.h. One index of such an access is the last index of the space plus a constant, another
 * may be the one before it plus a constant, or these two are exchanged (turned); all others must be expressions that are the same for a
 * whole tile. */
#include "ir/forall/coalesced.h"
#include "ir/common/nodes.h"

#include <limits.h>

/* May an access be moved to the head of the kernel? */
typedef enum guard {
    ALWAYS, /* yes: every point does it */
    GUARDED, /* yes: a condition decides, but memory is read in sectors, so reading an element that is not needed costs little */
    NEVER /* no: few points do it, or each point many times */
} guard;

typedef struct finding {
    const function *f;
    int nindices, first_index;                        /* their first parameter */
    bool assigned[UF_MAX_OPERANDS + LAYOUT_MAX_RANK]; /* by parameter */
    const bool *eligible;
    bool proved;
    bool refused[UF_MAX_OPERANDS]; /* arrays whose accesses are not coalesced after all */
    bool written[UF_MAX_OPERANDS];
    guard after; /* for all that follows, since a return may have left the kernel */
    bool full;
    coalesced *out;
} finding;

/* ---- Indices ---- */

static bool is_index(const finding *f, const node *n, int d) {
    return n->kind == N_LOCAL && n->local == f->first_index + d;
}

/* n = index d + *distance. */
static bool is_near(const finding *f, const node *n, int d, int *distance) {
    const node *constant = NULL;
    *distance = 0;
    if (d < 0)
        return false;
    if (is_index(f, n, d))
        return true;
    if (n->kind != N_BINARY || n->type != DT_INT64 || (n->op != OP_ADD && n->op != OP_SUB))
        return false;
    if (is_index(f, n->kid[0], d))
        constant = n->kid[1];
    else if (n->op == OP_ADD && is_index(f, n->kid[1], d))
        constant = n->kid[0];
    if (!constant || constant->kind != N_CONST || constant->value.as.i > COALESCED_REACH ||
        constant->value.as.i < -COALESCED_REACH)
        return false;
    *distance = (int)(n->op == OP_SUB ? -constant->value.as.i : constant->value.as.i);
    return true;
}

/* Is it made by + - * of the first `indices` indices, sizes, constants, and numbers that are not assigned? */
static bool is_pure(const finding *f, const node *n, int indices) {
    switch (n->kind) {
    case N_CONST:
    case N_SIZE:
        return true;
    case N_LOCAL:
        if (n->local >= f->f->nparams || f->assigned[n->local])
            return false;
        return n->local < f->first_index || n->local < f->first_index + indices;
    case N_CONVERT:
    case N_UNARY:
        return is_pure(f, n->kid[0], indices);
    case N_BINARY:
        return (n->op == OP_ADD || n->op == OP_SUB || n->op == OP_MUL) && is_pure(f, n->kid[0], indices) &&
               is_pure(f, n->kid[1], indices);
    default:
        return false;
    }
}

/* Reads an access; false: it is none that moves with the last index. */
static bool access_read(const finding *f, const node *n, coalesced_access *out) {
    const local *l = &f->f->locals[n->local];
    *out = (coalesced_access){.array = n->local, .element = n, .row_dim = -1};
    out->checked = !(n->unchecked || (n->conditional && f->proved));
    const node *last = element_index(n, l->rank, l->rank - 1);
    out->turned = is_near(f, last, f->nindices - 2, &out->column);
    if (!out->turned && !is_near(f, last, f->nindices - 1, &out->column))
        return false;
    for (int d = 0; d < l->rank - 1; d++) {
        const node *i = element_index(n, l->rank, d);
        if (out->row_dim < 0 && is_near(f, i, f->nindices - (out->turned ? 1 : 2), &out->row))
            out->row_dim = d;
        else if (!is_pure(f, i, f->nindices > 1 ? f->nindices - 2 : 0))
            return false;
    }
    return !out->turned || out->row_dim >= 0;
}

/* Do two accesses of one array differ in row and column alone? */
static bool is_family(const finding *f, const coalesced_access *a, const coalesced_access *b) {
    int rank = f->f->locals[a->array].rank;
    if (a->array != b->array || a->row_dim != b->row_dim || a->turned != b->turned)
        return false;
    for (int d = 0; d < rank - 1; d++)
        if (d != a->row_dim &&
            !node_same(element_index(a->element, rank, d), element_index(b->element, rank, d), -1, -1))
            return false;
    return true;
}

/* ---- Conditions ---- */

/* Does a condition on the indices hold (if `truth`, else fail) for few points alone, as at an edge of the space? */
static bool is_rare(const finding *f, const node *n, bool truth) {
    switch (n->kind) {
    case N_AND:
    case N_OR: {
        bool one = is_rare(f, n->kid[0], truth), other = is_rare(f, n->kid[1], truth);
        return (n->kind == N_AND) == truth ? one || other : one && other;
    }
    case N_UNARY:
        return n->op == OP_LNOT && is_rare(f, n->kid[0], !truth);
    case N_BINARY:
        return n->op == (truth ? OP_EQ : OP_NE) && is_pure(f, n->kid[0], f->nindices) &&
               is_pure(f, n->kid[1], f->nindices);
    default:
        return false;
    }
}

static guard later(guard a, guard b) { return a > b ? a : b; }

static guard branch_guard(const finding *f, guard now, const node *condition, bool truth) {
    return later(now, is_rare(f, condition, truth) ? NEVER : GUARDED);
}

/* ---- Accesses ---- */

static void coalesced_add(finding *f, const node *n, coalesced_access found, guard now, bool reads, bool writes) {
    coalesced *s = f->out;
    int k = 0;
    for (; k < s->count; k++)
        if (is_family(f, &s->of[k], &found) && s->of[k].row == found.row && s->of[k].column == found.column)
            break;
    if (k == COALESCED_MOST || s->naccesses == ACCESSES_MOST) {
        f->full = true;
        return;
    }
    coalesced_access *at = &s->of[k];
    if (k == s->count) {
        *at = found;
        at->family = k;
        at->checked = false;
        for (int other = 0; other < k; other++)
            if (is_family(f, &s->of[other], at)) {
                at->family = s->of[other].family;
                break;
            }
        s->count++;
    }
    at->read |= reads;
    at->written |= writes;
    at->checked |= found.checked;
    at->guarded |= now > ALWAYS;
    s->access[s->naccesses].element = n;
    s->access[s->naccesses++].number = k;
}

/* Notes one access. Of an array that is only read, accesses that cannot be moved stay as they are; in one that is written, all accesses
 * are moved or none. */
static void note_access(finding *f, const node *n, guard now, bool reads, bool writes) {
    coalesced_access found;
    int k = n->local;
    if (!f->f->locals[k].core || !f->eligible[k])
        return;
    if (!access_read(f, n, &found)) {
        f->refused[k] |= f->written[k];
        return;
    }
    if (f->written[k]) {
        bool own = !found.row && !found.column && (f->nindices < 2 || found.row_dim >= 0);
        if (!own || (reads && now == NEVER))
            f->refused[k] = true;
    } else if (now == NEVER) {
        return;
    }
    coalesced_add(f, n, found, now, reads, writes);
}

/* ---- The walk ---- */

static void walk(finding *f, const node *n, guard now);

static void walk_list(finding *f, const node *list, guard now) {
    for (; list; list = list->next)
        walk(f, list, later(now, f->after));
}

static void walk_indices(finding *f, const node *element, guard now) {
    for (int k = 0; k < 3; k++)
        if (element->kid[k])
            walk(f, element->kid[k], now);
    walk_list(f, element->args, now);
}

static void walk_place(finding *f, const node *place, guard now, bool reads) {
    walk_indices(f, place, now);
    if (place->kind == N_ELEMENT)
        note_access(f, place, now, reads, true);
}

static void walk_branches(finding *f, const node *n, guard now) {
    guard yes = branch_guard(f, now, n->kid[0], true), no = branch_guard(f, now, n->kid[0], false);
    walk(f, n->kid[0], now);
    if (n->kind == N_IF) {
        walk_list(f, n->body, yes);
        walk_list(f, n->other, no);
        return;
    }
    walk(f, n->kid[1], n->kind == N_OR ? no : yes);
    if (n->kid[2])
        walk(f, n->kid[2], no);
}

/* What leaves it does not keep anything behind it from being done. */
static void walk_inline(finding *f, const node *n, guard now) {
    guard after = f->after;
    walk_list(f, n->body, now);
    f->after = after;
}

static void walk(finding *f, const node *n, guard now) {
    switch (n->kind) {
    case N_ELEMENT:
        walk_indices(f, n, now);
        note_access(f, n, now, true, false);
        return;
    case N_ASSIGN:
    case N_COMPOUND:
    case N_UPDATE:
        walk_place(f, n->kid[0], now, n->kind != N_ASSIGN);
        if (n->kid[1])
            walk(f, n->kid[1], now);
        return;
    case N_ATOMIC: /* its array is not eligible */
        walk_indices(f, n->kid[0], now);
        for (int k = 1; k < 3; k++)
            if (n->kid[k])
                walk(f, n->kid[k], now);
        return;
    case N_IF:
    case N_SELECT:
    case N_AND:
    case N_OR:
        walk_branches(f, n, now);
        return;
    case N_ASSERT:
        return;
    case N_RETURN:
    case N_LEAVE:
        f->after = later(f->after, now);
        return;
    case N_INLINE:
        walk_inline(f, n, now);
        return;
    case N_REDUCE: /* without ranges it is a step that is done once */
        now = n->args ? NEVER : now;
        break;
    case N_LOOP:
    case N_FORALL:
    case N_SWITCH:
        now = NEVER;
        break;
    default:
        break;
    }
    for (int k = 0; k < 3; k++)
        if (n->kid[k])
            walk(f, n->kid[k], now);
    walk_list(f, n->args, now);
    walk_list(f, n->body, now);
    walk_list(f, n->step, now);
}

static void note_assigned(const node *n, void *user) {
    finding *f = user;
    for (const node *to = node_assigned(n); to; to = to->next)
        if (to->local < f->f->nparams)
            f->assigned[to->local] = true;
    bool assigns = n->kind == N_ASSIGN || n->kind == N_COMPOUND || n->kind == N_UPDATE;
    if (assigns && n->kid[0]->kind == N_ELEMENT && n->kid[0]->local < f->f->nparams)
        f->written[n->kid[0]->local] = true;
}

static void walk_kernel(finding *f) {
    f->after = ALWAYS;
    f->full = false;
    f->out->count = f->out->naccesses = 0;
    walk_list(f, f->f->body, ALWAYS);
    for (int i = 0; i < f->out->count; i++) /* what is written has one place for each point */
        for (int k = 0; k < i; k++)
            if (f->out->of[i].array == f->out->of[k].array && f->written[f->out->of[i].array])
                f->refused[f->out->of[i].array] = true;
}

/* Takes one array out: one that is refused and still eligible, or, if there are too many accesses, the last; false: no need to. */
static bool drop_array(const finding *f, bool *eligible) {
    int last = -1;
    for (int k = 0; k < f->f->nparams; k++) {
        if (eligible[k] && f->refused[k]) {
            eligible[k] = false;
            return true;
        }
        last = eligible[k] ? k : last;
    }
    if (!f->full || last < 0)
        return false;
    eligible[last] = false;
    return true;
}

void coalesced_find(const tree *t, const bool *eligible, bool proved, coalesced *out) {
    bool left[UF_MAX_OPERANDS];
    finding f = {.f = t->kernel,
                 .nindices = t->layout->nindices,
                 .first_index = t->kernel->nparams - t->layout->nindices,
                 .eligible = left,
                 .proved = proved,
                 .out = out};
    memcpy(left, eligible, sizeof left);
    node_each(t->kernel->body, note_assigned, &f);
    do
        walk_kernel(&f);
    while (drop_array(&f, left));
}

int coalesced_of(const coalesced *s, const node *element) {
    for (int i = 0; i < s->naccesses; i++)
        if (s->access[i].element == element)
            return s->access[i].number;
    return -1;
}

void coalesced_rows(const coalesced *s, int *rows, int *more) {
    *rows = *more = 0;
    for (int k = 0; k < s->count; k++) {
        int first = INT_MAX, last = INT_MIN;
        for (int i = k; i < s->count; i++)
            if (s->of[i].family == k && s->of[i].read) {
                first = s->of[i].row < first ? s->of[i].row : first;
                last = s->of[i].row > last ? s->of[i].row : last;
            }
        if (first > last)
            continue;
        *rows += s->of[k].row_dim >= 0;
        *more += s->of[k].row_dim >= 0 ? last - first : 1;
    }
}

void coalesced_parameters(text *out, const tree *t, const coalesced *s) {
    for (int k = 0; k < s->count; k++) {
        text_printf(out, ", %s* %%q%d", ir_value_type(t->kernel->locals[s->of[k].array].type), k);
        if (s->of[k].written)
            text_printf(out, ", i1* %%f%d", k);
    }
}
