/* test_at.c - uf_at against plain loops: random ranks, index arrays, strides, dtypes, numbers, functions of one input; the order
 * of updates; overlap; what it refuses. On the CPU; the GPU where UF_TEST_GPU=1, where updates whose order matters are asked for
 * with UF_DETERMINISTIC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "at_case.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"

#define OK(...)                                                              \
    do {                                                                     \
        uf_status ok_status = (__VA_ARGS__);                                 \
        if (ok_status)                                                       \
            print_error("%s: %s\n", #__VA_ARGS__, uf_last_error()->message); \
        assert_int_equal(ok_status, UF_OK);                                  \
    } while (0)

#define FAILS(expected, part, ...)                                  \
    do {                                                            \
        assert_int_equal((__VA_ARGS__), expected);                  \
        assert_int_equal(uf_last_error()->status, expected);        \
        if (!strstr(uf_last_error()->message, part))                \
            print_error("message: %s\n", uf_last_error()->message); \
        assert_non_null(strstr(uf_last_error()->message, part));    \
    } while (0)

#define GOOD(expression)                \
    do {                                \
        const char *wrong = expression; \
        if (wrong)                      \
            print_error("%s\n", wrong); \
        assert_null(wrong);             \
    } while (0)

static uf_func *make(const char *signatures, const char *source) {
    uf_func *f;
    OK(uf_vectorize(&f, "f", signatures, source));
    return f;
}

/* ---- Random problems ---- */

static void send(at_case *p) {
    GOOD(view_send(&p->target));
    GOOD(view_send(&p->operand));
    for (int i = 0; i < p->nindices; i++)
        GOOD(view_send(&p->index[i]));
}

static void random_problems(void **state) {
    (void)state;
    uf_func *f[AT_RULES];
    for (int i = 0; i < AT_RULES; i++)
        f[i] = make(NULL, at_rules[i].source);
    for (int64_t i = trials(views_on_gpu() ? 150 : 300); i > 0; i--) {
        at_case p;
        DLTensor indices[AT_INDICES];
        at_draw(&p, views_on_gpu());
        send(&p);
        for (int k = 0; k < p.nindices; k++)
            indices[k] = p.index[k].used;
        DLTensor operand = p.operand.used,
                 value = {.data = p.value, .device = {kDLCPU, 0}, .dtype = p.operand.host.dtype};
        OK(uf_at(f[p.rule], &p.target.used, p.nindices, indices,
                 at_rules[p.rule].unary ? NULL
                 : p.number             ? &value
                                        : &operand,
                 &(uf_options){.size = sizeof(uf_options),
                               .casting = UF_CAST_UNSAFE,
                               .flags = p.deterministic ? UF_DETERMINISTIC : 0}));
        GOOD(view_fetch(&p.target));
        at_expect(&p);
        assert_memory_equal(p.target.block, p.expected.block, (size_t)p.target.elements * (size_t)dtypes[p.type].size);
        at_release(&p);
    }
    for (int i = 0; i < AT_RULES; i++)
        uf_free(f[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(random_problems, draw_seed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
