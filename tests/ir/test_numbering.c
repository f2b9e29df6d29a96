/* Value numbering of a module: what goes, what has to stay, and what becomes cheaper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"
#include "failing.h"
#include "ir/common/numbering.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

/* The module, with its values numbered, is `want`. */
static void numbers(const char *module, bool settled, const char *want) {
    text t = {0};
    text_puts(&t, module);
    number_values(&t, settled);
    assert_false(t.failed);
    assert_string_equal(t.data, want);
    text_free(&t);
}

static void stays(const char *module) { numbers(module, true, module); }

#define HEAD "define void @f(i64 %a, i64 %b, i1 %c, float addrspace(1)* %p) nounwind {\n"

static void test_repeated(void **state) {
    (void)state;
    numbers(
        HEAD
        "  %r1 = mul i64 %a, %b\n  %r2 = mul i64 %a, %b\n  %r3 = sub i64 %r2, %r1\n  %r4 = sub i64 %r1, %r1, !dbg !3\n"
        "  store i64 %r4, i64* %r3\n  ret void\n}\n",
        false, HEAD "  %r1 = mul i64 %a, %b\n  %r3 = sub i64 %r1, %r1\n  store i64 %r3, i64* %r3\n  ret void\n}\n");
    /* what a block has that every way to another one passes; not what one branch alone has */
    numbers(
        HEAD "  br i1 %c, label %L1, label %L2\nL1:\n  %r1 = add i64 %a, %b\n  %r2 = add i64 %a, %b\n  call void "
             "@g(i64 %r2)\n"
             "  br label %L2\nL2:\n  %r3 = add i64 %a, %b\n  call void @g(i64 %r3)\n  ret void\n}\n",
        false,
        HEAD
        "  br i1 %c, label %L1, label %L2\nL1:\n  %r1 = add i64 %a, %b\n  call void @g(i64 %r1)\n  br label %L2\nL2:\n"
        "  %r3 = add i64 %a, %b\n  call void @g(i64 %r3)\n  ret void\n}\n");
    /* names of one function are nothing to another one */
    stays("define void @f(i64 %a) {\n  %r1 = add i64 %a, %a\n  call void @g(i64 %r1)\n  ret void\n}\n"
          "define void @h(i64 %a) {\n  %r2 = add i64 %a, %a\n  call void @g(i64 %r2)\n  ret void\n}\n");
}

static void test_calls(void **state) {
    (void)state;
    numbers("declare float @pure(float) nounwind readnone\n" HEAD
            "  %r1 = call float @pure(float 0x0)\n  %r2 = call float @pure(float 0x0)\n  %r3 = call float @other(float "
            "%r2)\n"
            "  %r4 = call float @other(float %r1)\n  %r5 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
            "  %r6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  call void @g(i32 %r6)\n  ret void\n}\n",
            false,
            "declare float @pure(float) nounwind readnone\n" HEAD
            "  %r1 = call float @pure(float 0x0)\n  %r3 = call float @other(float %r1)\n  %r4 = call float "
            "@other(float %r1)\n"
            "  %r5 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  call void @g(i32 %r5)\n  ret void\n}\n");
    stays(HEAD "  %r1 = call i32 asm \"\", \"=r,0\"(i32 1)\n  %r2 = call i32 asm \"\", \"=r,0\"(i32 1)\n"
               "  %r3 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %r1, i32 0, i32 31)\n"
               "  %r4 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %r1, i32 0, i32 31)\n  ret void\n}\n");
    /* a name within an asm's text is no value */
    numbers(HEAD "  %r1 = add i64 %a, 1\n  %r2 = add i64 %a, 1\n  call void asm sideeffect \"mov $0, %r2;\", \"l\"(i64 "
                 "%r2)\n  ret void\n}\n",
            false,
            HEAD "  %r1 = add i64 %a, 1\n  call void asm sideeffect \"mov $0, %r2;\", \"l\"(i64 %r1)\n  ret void\n}\n");
}

static void test_loads(void **state) {
    (void)state;
    numbers(HEAD
            "  %r1 = load float, float addrspace(1)* %p, align 4, !invariant.load !1\n"
            "  %r2 = load float, float addrspace(1)* %p, align 4, !invariant.load !1\n"
            "  %r3 = load float, float addrspace(1)* %p, align 4\n  %r4 = load float, float addrspace(1)* %p, align 4\n"
            "  %r5 = fadd float %r2, %r4\n  ret void\n}\n",
            false,
            HEAD
            "  %r1 = load float, float addrspace(1)* %p, align 4, !invariant.load !1\n"
            "  %r3 = load float, float addrspace(1)* %p, align 4\n  %r4 = load float, float addrspace(1)* %p, align 4\n"
            "  %r5 = fadd float %r1, %r4\n  ret void\n}\n");
}

static void test_variables(void **state) {
    (void)state;
    numbers(
        HEAD
        "  %v0 = alloca i64\n  %v1 = alloca { float, float }\n  store i64 %a, i64* %v0\n  %r1 = load i64, i64* %v0\n"
        "  store { float, float } zeroinitializer, { float, float }* %v1\n  %r2 = load { float, float }, { float, "
        "float }* %v1\n"
        "  call void @g(i64 %r1, { float, float } %r2)\n  ret void\n}\n",
        false,
        HEAD "  %v0 = alloca i64\n  %v1 = alloca { float, float }\n  store i64 %a, i64* %v0\n"
             "  store { float, float } zeroinitializer, { float, float }* %v1\n"
             "  call void @g(i64 %a, { float, float } zeroinitializer)\n  ret void\n}\n");
    /* one of two branches stores */
    stays(HEAD "  %v0 = alloca i64\n  store i64 %a, i64* %v0\n  br i1 %c, label %L1, label %L2\nL1:\n  store i64 %b, "
               "i64* %v0\n"
               "  br label %L2\nL2:\n  %r1 = load i64, i64* %v0\n  call void @g(i64 %r1)\n  ret void\n}\n");
    /* its address is given away, or a part of it is written */
    stays(HEAD "  %v0 = alloca i64\n  store i64 %a, i64* %v0\n  call void @h(i64* %v0)\n  %r1 = load i64, i64* %v0\n  "
               "ret void\n}\n");
    stays(HEAD
          "  %v0 = alloca i64\n  store i64 %a, i64* %v0\n  %r1 = bitcast i64* %v0 to i32*\n  store i32 1, i32* %r1\n"
          "  %r2 = load i64, i64* %v0\n  ret void\n}\n");
}

/* A loop that waits, and one that stores to the variable, in an inner loop whose last block stands behind its own. */
static void test_loops(void **state) {
    (void)state;
    numbers(
        HEAD
        "  %v0 = alloca i64\n  store i64 %a, i64* %v0\n  br label %L1\nL1:\n  %r1 = call i1 @done()\n"
        "  br i1 %r1, label %L2, label %L1\nL2:\n  %r2 = load i64, i64* %v0\n  call void @g(i64 %r2)\n  ret void\n}\n",
        false,
        HEAD "  %v0 = alloca i64\n  store i64 %a, i64* %v0\n  br label %L1\nL1:\n  %r1 = call i1 @done()\n"
             "  br i1 %r1, label %L2, label %L1\nL2:\n  call void @g(i64 %a)\n  ret void\n}\n");
    stays(HEAD "  %v0 = alloca i64\n  store i64 %a, i64* %v0\n  br label %L1\nL1:\n  %r1 = load i64, i64* %v0\n"
               "  call void @g(i64 %r1)\n  br label %L2\nL2:\n  %r2 = call i1 @done()\n  br i1 %r2, label %L1, label "
               "%L3\nL3:\n"
               "  store i64 %b, i64* %v0\n  br label %L2\n}\n");
    /* what comes to the first block from behind has to be there */
    stays(
        HEAD
        "  %r0 = add i64 %a, 1\n  br label %L1\nL1:\n  %i = phi i64 [ %r0, %L0 ], [ %r1, %L1 ]\n  %r1 = add i64 %a, 1\n"
        "  br i1 %c, label %L1, label %L2\nL2:\n  ret void\n}\n");
    /* a way back to a block that can be passed by: the function is left as it is */
    stays(HEAD
          "  %r0 = add i64 %a, 1\n  %r9 = add i64 %a, 1\n  br i1 %c, label %L1, label %L2\nL1:\n  br label %L2\nL2:\n"
          "  br i1 %c, label %L1, label %L3\nL3:\n  ret void\n}\n");
}

static void test_addresses(void **state) {
    (void)state;
    numbers(
        HEAD "  %r1 = add i64 %a, 8\n  %r2 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r1\n"
             "  %r3 = add i64 %r1, 8\n  %r4 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r3\n"
             "  %r5 = add nuw i32 %t, 5\n  %r6 = zext i32 %r5 to i64\n  %r7 = add i32 %t, 5\n  %r8 = zext i32 %r7 to "
             "i64\n  ret void\n}\n",
        true,
        HEAD
        "  %r1 = add i64 %a, 8\n  %r2_b = getelementptr float, float addrspace(1)* %p, i64 %a\n"
        "  %r2 = getelementptr float, float addrspace(1)* %r2_b, i64 8\n  %r3 = add i64 %r1, 8\n"
        "  %r4 = getelementptr float, float addrspace(1)* %r2_b, i64 16\n  %r5 = add nuw i32 %t, 5\n"
        "  %r6_z = zext i32 %t to i64\n  %r6 = add i64 %r6_z, 5\n  %r7 = add i32 %t, 5\n  %r8 = zext i32 %r7 to i64\n"
        "  ret void\n}\n");
    stays(HEAD "  %r1 = add i64 %a, 8\n  %r2 = getelementptr [9 x i32], [9 x i32] addrspace(3)* @x, i64 0, i64 %r1\n  "
               "ret void\n}\n");
}

/* Halves of words: each is one operation on its word, and both together are that. */
/* What is computed of constants, and what changes nothing. */
static void test_constants(void **state) {
    (void)state;
    numbers(HEAD
            "  %r1 = mul i64 256, 32\n  %r2 = add i64 %r1, -8192\n  %r3 = add i64 %r2, %a\n  %r4 = sub i64 %r3, 0\n"
            "  %r5 = mul i64 1, %r4\n  %r6 = shl i64 %r5, 0\n  %r7 = and i1 true, %c\n  %r8 = and i64 %r6, -1\n"
            "  call void @g(i64 %r8, i64 %r1, i1 %r7)\n  ret void\n}\n",
            true, HEAD "  call void @g(i64 %a, i64 8192, i1 %c)\n  ret void\n}\n");
    /* the left one of a difference and a shift counts; of 32 bits sums might wrap; and a phi has what comes behind it */
    stays(HEAD "  %r1 = sub i64 0, %a\n  %r2 = shl i64 0, %a\n  %r3 = add i32 2147483647, 1\n  %r4 = mul i64 %a, 0\n"
               "  %r5 = add nuw i64 %a, 0\n  ret void\n}\n");
    stays(HEAD "  br label %L1\nL1:\n  %r1 = phi i64 [ %a, %L0 ], [ %r2, %L1 ]\n  %r2 = add i64 %b, 0\n"
               "  br i1 %c, label %L1, label %L2\nL2:\n  ret void\n}\n");
    /* nobody looks for that if a compiler does */
    numbers(HEAD "  %r1 = add i64 %a, 0\n  call void @g(i64 %r1)\n  ret void\n}\n", false,
            HEAD "  %r1 = add i64 %a, 0\n  call void @g(i64 %r1)\n  ret void\n}\n");
}

/* Multiples of a stride: each from the last one before it on, if every way leads past that. */
static void test_walks(void **state) {
    (void)state;
    numbers(HEAD "  %r1 = mul i64 %a, 1\n  %r2 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r1\n"
                 "  %r3 = mul i64 %a, 2\n  %r4 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r3\n"
                 "  %r5 = mul i64 %a, 5\n  %r6 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r5\n"
                 "  %r7 = mul i64 %a, 8\n  %r8 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r7\n"
                 "  %r9 = mul i64 %b, 2\n  %r10 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r9\n"
                 "  %r11 = mul i64 %a, %b\n  %r12 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r11\n"
                 "  ret void\n}\n",
            true,
            HEAD "  %r2 = getelementptr inbounds float, float addrspace(1)* %p, i64 %a\n"
                 "  %r3 = mul i64 %a, 2\n  %r4 = getelementptr float, float addrspace(1)* %r2, i64 %a\n"
                 "  %r5 = mul i64 %a, 5\n  %r6_s = mul i64 %a, 3\n"
                 "  %r6 = getelementptr float, float addrspace(1)* %r4, i64 %r6_s\n"
                 "  %r7 = mul i64 %a, 8\n  %r8 = getelementptr float, float addrspace(1)* %r6, i64 %r6_s\n"
                 "  %r9 = mul i64 %b, 2\n"
                 "  %r10 = getelementptr float, float addrspace(1)* %p, i64 %r9\n"
                 "  %r11 = mul i64 %a, %b\n  %r12 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r11\n"
                 "  ret void\n}\n");
    /* back is no step; and what one branch has, the other one has not */
    stays(HEAD "  %r1 = mul i64 %a, -2\n  %r2 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r1\n  ret "
               "void\n}\n");
    numbers(HEAD "  %r1 = mul i64 %a, 2\n  %r2 = mul i64 %a, 3\n  br i1 %c, label %L1, label %L2\nL1:\n"
                 "  %r3 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r1\n  ret void\nL2:\n"
                 "  %r4 = getelementptr inbounds float, float addrspace(1)* %p, i64 %r2\n  ret void\n}\n",
            true,
            HEAD "  %r1 = mul i64 %a, 2\n  %r2 = mul i64 %a, 3\n  br i1 %c, label %L1, label %L2\nL1:\n"
                 "  %r3 = getelementptr float, float addrspace(1)* %p, i64 %r1\n  ret void\nL2:\n"
                 "  %r4 = getelementptr float, float addrspace(1)* %p, i64 %r2\n  ret void\n}\n");
}

static void test_halves(void **state) {
    (void)state;
    numbers(HEAD "  %r1 = bitcast i32 %w to <2 x i16>\n  %r2 = extractelement <2 x i16> %r1, i32 0\n"
                 "  %r3 = extractelement <2 x i16> %r1, i32 1\n  %r4 = insertelement <2 x i16> undef, i16 %r2, i32 0\n"
                 "  %r5 = insertelement <2 x i16> %r4, i16 %r3, i32 1\n  %r6 = bitcast <2 x i16> %r5 to i32\n"
                 "  %r7 = bitcast <2 x i16> %r5 to i32\n  call void @g(i32 %r6, i32 %r7)\n  ret void\n}\n",
            true,
            HEAD
            "  %r1 = bitcast i32 %w to <2 x i16>\n  %r2 = extractelement <2 x i16> %r1, i32 0\n"
            "  %r3 = extractelement <2 x i16> %r1, i32 1\n  %r4 = insertelement <2 x i16> undef, i16 %r2, i32 0\n"
            "  %r5 = insertelement <2 x i16> %r4, i16 %r3, i32 1\n  call void @g(i32 %w, i32 %w)\n  ret void\n}\n");
    numbers(HEAD "  %r1 = trunc i32 %w to i16\n  %r2 = lshr i32 %w, 16\n  %r3 = trunc i32 %r2 to i16\n  %r4 = zext i16 "
                 "%r1 to i32\n"
                 "  %r5 = shl i32 %r4, 16\n  %r6 = zext i16 %r3 to i32\n  %r7 = shl i32 %r6, 16\n  ret void\n}\n",
            true,
            HEAD "  %r1 = trunc i32 %w to i16\n  %r2 = lshr i32 %w, 16\n  %r3 = trunc i32 %r2 to i16\n  %r4 = and i32 "
                 "%w, 65535\n"
                 "  %r5 = shl i32 %w, 16\n  %r6 = lshr i32 %w, 16\n  %r7 = and i32 %w, -65536\n  ret void\n}\n");
    /* the other way round, of two words, or of an element that is none of both */
    stays(HEAD
          "  %r1 = bitcast i32 %w to <2 x i16>\n  %r2 = extractelement <2 x i16> %r1, i32 0\n"
          "  %r3 = extractelement <2 x i16> %r1, i32 1\n  %r4 = insertelement <2 x i16> undef, i16 %r3, i32 0\n"
          "  %r5 = insertelement <2 x i16> %r4, i16 %r2, i32 1\n  %r6 = bitcast <2 x i16> %r5 to i32\n"
          "  %r7 = insertelement <2 x i16> undef, i16 %x, i32 0\n  %r8 = insertelement <2 x i16> %r7, i16 %r3, i32 1\n"
          "  %r9 = bitcast <2 x i16> %r8 to i32\n  ret void\n}\n");
}

/* What the lines of a division compute: each is "name = operation type x, y", with the operations that there may be. */
static uint64_t run(const char *lines, uint64_t n) {
    map values = {0};
    uint64_t result = 0;
    while (*lines) {
        char name[32], operation[16], type[8], x[32], y[32];
        assert_int_equal(sscanf(lines, " %31s = %15s %7s %31[^, ] %*[,] %31s", name, operation, type, x, y) >= 4, 1);
        bool wide = strcmp(type, "i64") == 0;
        if (strcmp(operation, "zext") == 0 || strcmp(operation, "trunc") == 0)
            assert_int_equal(sscanf(lines, " %31s = %15s %7s %31s to %31s", name, operation, type, x, y), 5);
        uint64_t a = strcmp(x, "%n") == 0 ? n : (uint64_t)(uintptr_t)map_get(&values, x, strlen(x));
        uint64_t b = *y == '%' ? (uint64_t)(uintptr_t)map_get(&values, y, strlen(y)) : strtoull(y, NULL, 10);
        switch (*operation) {
        case 'z':
            result = a;
            wide = true;
            break;
        case 't':
            result = (uint32_t)a;
            break;
        case 'm':
            result = a * b;
            break;
        case 'l':
            result = a >> b;
            break;
        case 's':
            result = a - b;
            break;
        default:
            result = strcmp(operation, "and") == 0    ? a & b
                     : strcmp(operation, "ashr") == 0 ? (uint64_t)((wide ? (int64_t)a : (int32_t)a) >> b)
                                                      : a + b;
        }
        result = wide ? result : (uint32_t)result;
        map_put(&values, name, strlen(name), (void *)(uintptr_t)result);
        lines += strcspn(lines, "\n") + 1;
    }
    map_free(&values);
    return result;
}

static void divide(uint32_t n, uint32_t d) {
    char line[64];
    text out = {0};
    int length = snprintf(line, sizeof line, "udiv i32 %%n, %u", d);
    assert_true(write_constant_division(&out, "%q", line, (size_t)length));
    if (run(out.data, n) != n / d)
        fail_msg("%u / %u:\n%s", n, d, out.data);
    text_free(&out);
}

/* Of signed integers, by powers of two. */
static void divide_signed(int32_t n, int by) {
    static const char *const types[] = {"i32", "i64"};
    for (int k = 0; k < 4; k++) {
        char line[64];
        text out = {0};
        int64_t x = k & 1 ? (int64_t)n * 1000003 : n, d = (int64_t)1 << by, want = k & 2 ? x % d : x / d;
        int length =
            snprintf(line, sizeof line, "%s %s %%n, %lld", k & 2 ? "srem" : "sdiv", types[k & 1], (long long)d);
        assert_true(write_constant_division(&out, "%q", line, (size_t)length));
        uint64_t got = run(out.data, (uint64_t)x);
        if (got != (k & 1 ? (uint64_t)want : (uint32_t)want))
            fail_msg("%s of %lld: %lld\n%s", line, (long long)x, (long long)got, out.data);
        text_free(&out);
    }
}

static void test_division(void **state) {
    (void)state;
    for (int64_t k = 0; k < trials(2000); k++) {
        int by = (int)pick(1, 30);
        divide_signed((int32_t)draw_bits() >> pick(0, 31), by);
        divide_signed((int32_t)((uint32_t)draw_bits() >> by << by), by);
        divide_signed((int32_t)k - 1000, by);
    }
    for (int64_t k = 0; k < trials(5000); k++) {
        uint32_t d = (uint32_t)draw_bits() >> pick(1, 31), n = (uint32_t)draw_bits();
        divide(k % 4 ? n : UINT32_MAX - (uint32_t)k, d ? d : 3);
        divide(d ? n / d * d : 0, d ? d : 1);
        divide(d ? n / d * d - 1 : 0, d ? d : 1);
    }
    text out = {0};
    assert_true(write_constant_division(&out, "%q", "urem i64 %n, 8", 14));
    assert_string_equal(out.data, "  %q = and i64 %n, 7\n");
    const char *others[] = {"udiv i64 %n, 7", "urem i32 %n, 7", "udiv i32 %n, %d", "udiv i32 %n, 0",
                            "sdiv i32 %n, 7", "srem i16 %n, 8", "sdiv i64 %n, 1",  "fdiv float %n, 8"};
    for (size_t k = 0; k < COUNT(others); k++)
        assert_false(write_constant_division(&out, "%q", others[k], strlen(others[k])));
    text_free(&out);
}

static void test_no_memory(void **state) {
    (void)state;
    bool reached = true;
    for (int64_t good = 0; reached; good++) {
        text t = {0};
        text_puts(
            &t, HEAD
            "  %v0 = alloca i64\n  store i64 %a, i64* %v0\n  %r1 = load i64, i64* %v0\n  %r2 = add i64 %r1, 8\n"
            "  %r3 = add i64 %r1, 8\n  %r4 = getelementptr float, float addrspace(1)* %p, i64 %r3\n  ret void\n}\n");
        allocation_fails_after(good);
        number_values(&t, true);
        reached = allocations_succeed();
        assert_int_equal(t.failed, reached);
        text_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeated),  cmocka_unit_test(test_calls),    cmocka_unit_test(test_loads),
        cmocka_unit_test(test_variables), cmocka_unit_test(test_loops),    cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_constants), cmocka_unit_test(test_walks),    cmocka_unit_test(test_halves),
        cmocka_unit_test(test_division),  cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
