/* table.c - tables of the tree (local.table): read-only globals of the module, one for all locals that have the same elements. */
#include "ir/common/internal.h"

/* The element in memory form: a bool is a byte, a complex two components. */
static void element(text *out, dtype t, number value) {
    dtype component = (dtype)dtypes[t].component;
    const char *type = ir_memory_type(t);
    if (t == DT_BOOL)
        text_printf(out, "%s %d", type, value.as.u != 0);
    else if (dtype_is_complex(t))
        for (int i = 0; i < 2; i++)
            text_printf(out, "%s%s %s", i ? ", " : "", type,
                        emit_constant((number){.type = component, .as.f = {value.as.f[i]}}, component).text);
    else
        text_printf(out, "%s %s", type, emit_constant(value, t).text);
}

/* "[12 x float]" */
static fragment array_type(const local *l, int64_t *size) {
    *size = 1;
    for (int d = 0; d < l->rank; d++)
        *size *= l->extent[d];
    return fragment_of("[%lld x %s]", (long long)*size * (dtype_is_complex(l->type) ? 2 : 1), ir_memory_type(l->type));
}

static void define(emit *e, const local *l, intptr_t id) {
    int64_t size;
    fragment type = array_type(l, &size);
    text *out = &e->declarations;
    text_printf(out, "@table%d = internal unnamed_addr %sconstant %s [", (int)id, e->target->gpu ? "addrspace(1) " : "",
                type.text);
    for (int64_t i = 0; i < size; i++) {
        text_puts(out, i ? ", " : "");
        element(out, l->type, l->table[i]);
    }
    text_printf(out, "], align %d\n", TABLE_ALIGN);
}

ssa emit_table(emit *e, const local *l) {
    int64_t size;
    fragment type = array_type(l, &size);
    const char *star = ir_global_pointer(e);
    intptr_t id = (intptr_t)map_get(&e->tables, &l->table, sizeof l->table);
    if (!id) {
        id = ++e->ntables;
        e->failed |= !map_put(&e->tables, &l->table, sizeof l->table, (void *)id);
        define(e, l, id);
    }
    return emit_value(e, "getelementptr inbounds %s, %s%s @table%d, i64 0, i64 0", type.text, type.text, star, (int)id);
}
