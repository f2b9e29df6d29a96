/* What is computed long before it is used goes to where it is used, and what nobody uses goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "failing.h"
#include "ir/common/sinking.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

static void sinks(const char *module, const char *want) {
    text t = {0};
    text_puts(&t, module);
    sink_values(&t);
    assert_false(t.failed);
    assert_string_equal(t.data, want);
    text_free(&t);
}

#define HEAD "define void @f(i64 %a, i64 %b, i1 %c) nounwind {\n"

static void test_branches(void **state) {
    (void)state;
    /* one branch uses both; a load, a call and what two branches use stay; what nobody uses goes, with what it uses */
    sinks(HEAD "  %r1 = mul i64 %a, %b\n  %r2 = add i64 %r1, 1\n  %r3 = sub i64 %a, %b\n  %r4 = load i64, i64* %p\n  "
               "%r5 = call i64 @g()\n"
               "  %r6 = xor i64 %a, 9\n  %r7 = or i64 %r6, 1\n  br i1 %c, label %L1, label %L2\nL1:\n  call void "
               "@h(i64 %r2, i64 %r3)\n"
               "  br label %L3\nL2:\n  call void @h(i64 %r3, i64 %r4)\n  br label %L3\nL3:\n  ret void\n}\n",
          HEAD "  %r3 = sub i64 %a, %b\n  %r4 = load i64, i64* %p\n  %r5 = call i64 @g()\n  br i1 %c, label %L1, label "
               "%L2\nL1:\n"
               "  %r1 = mul i64 %a, %b\n  %r2 = add i64 %r1, 1\n  call void @h(i64 %r2, i64 %r3)\n  br label %L3\nL2:\n"
               "  call void @h(i64 %r3, i64 %r4)\n  br label %L3\nL3:\n  ret void\n}\n");
    /* behind phis; not in front of a branch to where a phi takes it */
    sinks(HEAD
          "  %r1 = mul i64 %a, %b\n  %r2 = mul i64 %b, %b\n  br i1 %c, label %L1, label %L2\nL1:\n  br label %L2\nL2:\n"
          "  %r3 = phi i64 [ %r1, %L0 ], [ 0, %L1 ]\n  call void @h(i64 %r2, i64 %r3)\n  ret void\n}\n",
          HEAD "  %r1 = mul i64 %a, %b\n  br i1 %c, label %L1, label %L2\nL1:\n  br label %L2\nL2:\n"
               "  %r3 = phi i64 [ %r1, %L0 ], [ 0, %L1 ]\n  %r2 = mul i64 %b, %b\n  call void @h(i64 %r2, i64 %r3)\n  "
               "ret void\n}\n");
}

static void test_loops(void **state) {
    (void)state;
    /* before a loop that uses it, from the block before that; and behind the loop, if that is where it is used */
    sinks(HEAD "  %r1 = mul i64 %a, %b\n  %r2 = mul i64 %b, %b\n  br label %L1\nL1:\n  br label %L2\nL2:\n  call void "
               "@h(i64 %r1)\n"
               "  br i1 %c, label %L2, label %L3\nL3:\n  call void @h(i64 %r2)\n  ret void\n}\n",
          HEAD
          "  br label %L1\nL1:\n  %r1 = mul i64 %a, %b\n  br label %L2\nL2:\n  call void @h(i64 %r1)\n"
          "  br i1 %c, label %L2, label %L3\nL3:\n  %r2 = mul i64 %b, %b\n  call void @h(i64 %r2)\n  ret void\n}\n");
    /* what phis take from the end of their loop stays, with all that it is made of, though it is defined behind them */
    const char *carried =
        HEAD "  br label %L1\nL1:\n  %c1 = phi i64 [ 0, %L0 ], [ %r3, %L2 ]\n  br i1 %c, label %L2, label %L3\nL2:\n"
             "  %r1 = mul i64 %c1, %a\n  %r2 = add i64 %r1, %b\n  %r3 = xor i64 %r2, 1\n  br label %L1\nL3:\n"
             "  call void @h(i64 %c1)\n  ret void\n}\n";
    sinks(carried, carried);
    /* a function whose blocks are in another order is left as it is */
    const char *odd = HEAD "  %r1 = mul i64 %a, %b\n  br i1 %c, label %L1, label %L2\nL1:\n  br label %L2\nL2:\n"
                           "  br i1 %c, label %L1, label %L3\nL3:\n  call void @h(i64 %r1)\n  ret void\n}\n";
    sinks(odd, odd);
}

static void test_no_memory(void **state) {
    (void)state;
    bool reached = true;
    for (int64_t good = 0; reached; good++) {
        text t = {0};
        text_puts(&t, HEAD "  %r1 = mul i64 %a, %b\n  br label %L1\nL1:\n  call void @h(i64 %r1)\n  ret void\n}\n");
        allocation_fails_after(good);
        sink_values(&t);
        reached = allocations_succeed();
        assert_int_equal(t.failed, reached);
        text_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_branches), cmocka_unit_test(test_loops),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
