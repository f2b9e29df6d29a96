/* record_types.c - see record_types.h. */
#include "record_types.h"

#include <stdio.h>

#include "draw.h"

const char *kernel_type_name(random_type t) { return t.record ? t.record->kernel : dtypes[t.type].name; }

const char *c_type_name(random_type t) {
    static const char *const names[DT_COUNT] = {[DT_BOOL] = "_Bool",
                                                [DT_INT8] = "int8_t",
                                                [DT_INT16] = "int16_t",
                                                [DT_INT32] = "int32_t",
                                                [DT_INT64] = "int64_t",
                                                [DT_UINT8] = "uint8_t",
                                                [DT_UINT16] = "uint16_t",
                                                [DT_UINT32] = "uint32_t",
                                                [DT_UINT64] = "uint64_t",
                                                [DT_FLOAT16] = "uint16_t",
                                                [DT_BFLOAT16] = "uint16_t",
                                                [DT_FLOAT32] = "float",
                                                [DT_FLOAT64] = "double",
                                                [DT_COMPLEX64] = "float _Complex",
                                                [DT_COMPLEX128] = "double _Complex"};
    return t.record ? t.record->c : names[t.type];
}

static int elements(const random_field *f) {
    return (f->rank > 0 ? f->extent[0] : 1) * (f->rank > 1 ? f->extent[1] : 1);
}

static void put_extents(text *out, const random_field *f) {
    for (int d = 0; d < f->rank; d++)
        text_printf(out, "[%d]", f->extent[d]);
}

/* ---- Definitions ---- */

static void field_draw(random_records *all, struct random_definition_field *f, bool has_parameter, const dtype *types,
                       int ntypes) {
    f->of_parameter = -1;
    f->field.rank = chance(70) ? 0 : chance(70) ? 1 : 2;
    for (int d = 0; d < 2; d++)
        f->field.extent[d] = (int)pick(1, 3);
    f->field.type = (random_type){types[pick(0, ntypes - 1)], NULL};
    if (has_parameter && chance(50)) {
        int other = all->ndefinitions ? (int)pick(0, all->ndefinitions - 1) : 0;
        f->field.is_parameter = true;
        if (chance(25) && all->ndefinitions && all->definition[other].has_parameter) {
            f->field.is_parameter = false;
            f->of_parameter = other;
        }
    } else if (all->nrecords && chance(30)) {
        f->field.type = (random_type){DT_NONE, &all->record[pick(0, all->nrecords - 1)]};
    }
}

static void definition_put(random_records *all, const random_definition *d) {
    text *out = &all->kernel;
    text_printf(out, "struct %s%s {\n", d->name, d->has_parameter ? "(T)" : "");
    for (int i = 0; i < d->nfields; i++) {
        const random_field *f = &d->field[i].field;
        if (d->field[i].of_parameter >= 0)
            text_printf(out, "    %s(T) %s", all->definition[d->field[i].of_parameter].name, f->name);
        else
            text_printf(out, "    %s %s", f->is_parameter ? "T" : kernel_type_name(f->type), f->name);
        put_extents(out, f);
        text_puts(out, ";\n");
    }
    text_puts(out, "};\n");
}

static int leaves_of(const random_definition *d) {
    int count = 0;
    for (int i = 0; i < d->nfields; i++) {
        const random_field *f = &d->field[i].field;
        count += elements(f) * (f->type.record ? f->type.record->nleaves : scalar_leaves(f->type.type));
    }
    return count;
}

/* Leaves out fields of a record that has too many scalars. One with a type parameter may have too many for some arguments. */
static void definition_cut(random_definition *d, int most) {
    while (!d->has_parameter && leaves_of(d) > most) {
        if (d->nfields > 1)
            d->nfields--;
        else
            d->field[0].field.rank = 0;
    }
}

void random_record_define(random_records *all, const dtype *types, int ntypes) {
    if (all->ndefinitions == RECORDS_DEFINITIONS)
        return;
    random_definition *d = &all->definition[all->ndefinitions];
    *d = (random_definition){.has_parameter = chance(50), .nfields = (int)pick(1, RECORDS_FIELDS)};
    snprintf(d->name, sizeof d->name, "rec%d", all->ndefinitions);
    for (int i = 0; i < d->nfields; i++) {
        snprintf(d->field[i].field.name, sizeof d->field[i].field.name, "f%d", i);
        field_draw(all, &d->field[i], d->has_parameter, types, ntypes);
    }
    definition_cut(d, all->most_leaves);
    definition_put(all, d);
    all->ndefinitions++;
}

/* ---- Records ---- */

static bool type_same(random_type a, random_type b) { return a.type == b.type && a.record == b.record; }

/* Names without parentheses and blanks. */
static void c_name(random_records *all, random_record *r) {
    const char *name = all->definition[r->definition].name;
    if (!all->definition[r->definition].has_parameter)
        snprintf(r->c, sizeof r->c, "%s_%s", all->prefix, name);
    else
        snprintf(r->c, sizeof r->c, "%s_%s_%d", all->prefix, name, all->nrecords);
}

static void c_put(random_records *all, const random_record *r) {
    text_puts(&all->c, "typedef struct {\n");
    for (int i = 0; i < r->nfields; i++) {
        text_printf(&all->c, "    %s %s", c_type_name(r->field[i].type), r->field[i].name);
        put_extents(&all->c, &r->field[i]);
        text_puts(&all->c, ";\n");
    }
    text_printf(&all->c, "} %s;\n", r->c);
}

const random_record *random_record_of(random_records *all, int definition, random_type argument) {
    const random_definition *d = &all->definition[definition];
    random_record r = {.definition = definition, .argument = argument, .nfields = d->nfields};
    if (!d->has_parameter)
        r.argument = (random_type){DT_NONE, NULL};
    for (int i = 0; i < all->nrecords; i++)
        if (all->record[i].definition == definition && type_same(all->record[i].argument, r.argument))
            return &all->record[i];
    const char *name = d->has_parameter ? kernel_type_name(argument) : "";
    if (strlen(name) > 100)
        return NULL;
    snprintf(r.kernel, sizeof r.kernel, "%s%s%s%s", d->name, *name ? "(" : "", name, *name ? ")" : "");
    for (int i = 0; i < d->nfields; i++) {
        random_field *f = &r.field[i];
        *f = d->field[i].field;
        if (f->is_parameter)
            f->type = argument;
        if (d->field[i].of_parameter >= 0)
            f->type = (random_type){DT_NONE, random_record_of(all, d->field[i].of_parameter, argument)};
        if (f->type.type == DT_NONE && !f->type.record)
            return NULL;
        r.nscalars += elements(f) * (f->type.record ? f->type.record->nscalars : 1);
        r.nleaves += elements(f) * (f->type.record ? f->type.record->nleaves : scalar_leaves(f->type.type));
    }
    if (r.nleaves > all->most_leaves || all->nrecords == RECORDS_TYPES)
        return NULL;
    c_name(all, &r);
    c_put(all, &r);
    all->record[all->nrecords] = r;
    return &all->record[all->nrecords++];
}

const random_record *random_record_any(random_records *all, const dtype *types, int ntypes) {
    random_type argument = {types[pick(0, ntypes - 1)], NULL};
    if (all->nrecords && chance(20))
        argument = (random_type){DT_NONE, &all->record[pick(0, all->nrecords - 1)]};
    return random_record_of(all, (int)pick(0, all->ndefinitions - 1), argument);
}

void random_records_free(random_records *all) {
    text_free(&all->kernel);
    text_free(&all->c);
}
