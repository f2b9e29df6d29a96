/* test_record_layouts.c - random records lie in memory as the C compiler lays out the same structs: offsets, sizes, alignment, and the lanes
 * of their arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h" /* before cmocka, which has a macro of the name of a function of it */

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>

#include "c_code.h"
#include "draw.h"
#include "expect.h"
#include "record_types.h"

enum {
    FACTS = 2 + RECORDS_FIELDS /* of a struct: its size, its alignment, its fields' offsets */
};

static const dtype types[] = {DT_BOOL,     DT_INT8,    DT_INT16,   DT_INT32,     DT_INT64,
                              DT_UINT8,    DT_UINT16,  DT_UINT32,  DT_UINT64,    DT_FLOAT16,
                              DT_BFLOAT16, DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};

typedef struct layouts_module {
    random_records all;
    char prefix[24];
} layouts_module;

static void module_draw(layouts_module *m, int64_t place) {
    *m = (layouts_module){0};
    snprintf(m->prefix, sizeof m->prefix, "m%lld", (long long)place);
    m->all.prefix = m->prefix;
    m->all.most_leaves = UF_MAX_OPERANDS;
    for (int64_t n = pick(3, RECORDS_DEFINITIONS); n > 0; n--) {
        random_record_define(&m->all, types, COUNT(types));
        for (int64_t k = pick(1, 3); k > 0; k--)
            random_record_any(&m->all, types, COUNT(types));
    }
}

static void facts_put(text *definitions, text *facts, const random_records *all) {
    text_puts(definitions, all->c.data ? all->c.data : "");
    for (int i = 0; i < all->nrecords; i++) {
        const random_record *r = &all->record[i];
        text_printf(facts, "{sizeof(%s), _Alignof(%s)", r->c, r->c);
        for (int k = 0; k < r->nfields; k++)
            text_printf(facts, ", offsetof(%s, %s)", r->c, r->field[k].name);
        text_puts(facts, "},\n");
    }
}

static void compare(const layouts_module *m, const uf_module *module, const random_record *r, const int64_t *facts) {
    uf_record got = {.size = sizeof got};
    OK(uf_record_layout(module, r->kernel, &got));
    bool same = got.bytes == facts[0] && got.align == facts[1] && got.nfields == r->nfields &&
                got.nscalars == r->nscalars && !strcmp(got.name, r->kernel);
    for (int k = 0; same && k < r->nfields; k++) {
        const uf_field *f = got.fields[k];
        same = f->offset == facts[2 + k] && f->ndim == r->field[k].rank && !strcmp(f->name, r->field[k].name) &&
               !strcmp(f->type, kernel_type_name(r->field[k].type));
        for (int d = 0; d < f->ndim; d++)
            same &= f->shape[d] == r->field[k].extent[d];
    }
    /* An array's element has the size that the struct has, whatever the dtype of its lanes. */
    same &= (int64_t)got.dtype.bits / 8 * got.dtype.lanes == facts[0];
    if (!same) {
        print_error("%s\n%s: %lld bytes, alignment %d; C: %lld, %lld\n", m->all.kernel.data, r->kernel,
                    (long long)got.bytes, got.align, (long long)facts[0], (long long)facts[1]);
        for (int k = 0; k < got.nfields; k++)
            print_error("%s at %lld; C: %lld\n", got.fields[k]->name, (long long)got.fields[k]->offset,
                        (long long)facts[2 + k]);
        fail_msg("a record lies otherwise than the struct");
    }
}

static void layouts_are_those_of_c(void **unused) {
    (void)unused;
    if (!c_compiler_there()) {
        print_message("no C compiler here\n");
        skip();
    }
    int64_t wanted = trials(1000), count = 0, nmodules = 0;
    layouts_module *modules = calloc((size_t)wanted + 1, sizeof *modules);
    text source = {0}, facts = {0};
    text_puts(&source, "#include <stddef.h>\n#include <stdint.h>\n");
    for (; count < wanted; nmodules++) {
        module_draw(&modules[nmodules], nmodules);
        facts_put(&source, &facts, &modules[nmodules].all);
        count += modules[nmodules].all.nrecords;
    }
    text_printf(&source, "const int64_t facts[][%d] = {%s};\n", FACTS, facts.data);
    const int64_t(*row)[FACTS] = (const int64_t(*)[FACTS])dlsym(c_code_load(source.data), "facts");
    assert_non_null(row);
    for (int64_t i = 0; i < nmodules; i++) {
        layouts_module *m = &modules[i];
        uf_module *module;
        OK(uf_module_new(
            &module,
            &(uf_module_definition){.size = sizeof(uf_module_definition), .name = "m", .source = m->all.kernel.data}));
        for (int k = 0; k < m->all.nrecords; k++)
            compare(m, module, &m->all.record[k], *row++);
        uf_module_free(module);
        random_records_free(&m->all);
    }
    print_message("%lld records lie as C lays them out\n", (long long)count);
    text_free(&source);
    text_free(&facts);
    free(modules);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(layouts_are_those_of_c)};
    return cmocka_run_group_tests_name("layouts of records", tests, draw_seed, NULL);
}
