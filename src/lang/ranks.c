/* ranks.c - the parameters of a kernel over indices whose dtypes nobody names: any, of the ranks with which the text indexes them. */
#include "lang/syntax.h"

/* What the text does with a parameter. */
typedef struct uses {
    const syntax *s;
    int id;
    int rank;      /* of the first element that it names; 0: it names none */
    size_t other;  /* offset of an element with another number of indices, or 0 */
    size_t length; /* offset of a call that asks for an extent, or 0 */
} uses;

static bool is_name(const syn *s, int id) { return s && s->kind == S_NAME && s->name == id; }

static bool asks_extent(const uses *u, const syn *call) {
    const name *n = &u->s->names[call->name];
    return (n->length == 3 && !memcmp(n->text, "len", 3)) || (n->length == 6 && !memcmp(n->text, "extent", 6));
}

static void look(uses *u, const syn *s) {
    for (; s; s = s->next) {
        int count = 0;
        for (const syn *i = s->kind == S_INDEX && is_name(s->kid[0], u->id) ? s->list : NULL; i; i = i->next)
            count++;
        if (count && u->rank && count != u->rank)
            u->other = s->at;
        u->rank = u->rank ? u->rank : count;
        if (s->kind == S_CALL && is_name(s->list, u->id) && asks_extent(u, s))
            u->length = s->at;
        for (int k = 0; k < 3; k++)
            look(u, s->kid[k]);
        look(u, s->list);
        look(u, s->body);
        look(u, s->other);
    }
}

uf_status lang_parameters(const syntax *s, text *out) {
    text_puts(out, "");
    for (int k = 0; k < lang_inputs(s); k++) {
        uses u = {.s = s, .id = s->kernel->params[k].name};
        const name *n = &s->names[u.id];
        look(&u, s->kernel->body);
        if (u.other)
            return fail_source(
                UF_ERR_TYPE, s->source, u.other,
                "'%.*s' has another number of indices here than before; its rank is not known without parameters",
                n->length, n->text);
        if (u.length && !u.rank)
            return fail_source(
                UF_ERR_TYPE, s->source, u.length,
                "the rank of '%.*s' is not known without parameters, since the text names no element of it", n->length,
                n->text);
        text_puts(out, k ? ", any" : "any");
        for (int d = 0; d < u.rank; d++)
            text_puts(out, d ? "," : "[");
        text_puts(out, u.rank ? "]" : "");
    }
    return out->failed ? fail_memory() : UF_OK;
}
