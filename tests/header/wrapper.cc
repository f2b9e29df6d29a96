// wrapper.cc - ufunc.hpp first and alone in strict C++17 to 23: what it takes as arguments, what each verb does and refuses, who
// releases what, and that a call allocates nothing. Compiled, linked and run.
#include <ufunc.hpp>

#include <cstdio>
#include <new>
#include <vector>
#if __has_include(<span>) && __cplusplus > 201703L
#include <span>
#endif
#if __has_include(<mdspan>) && __cplusplus > 202002L
#include <mdspan>
#endif

static long allocations; // by the program, not by the library

#ifndef OWN_NEW // an optimising compiler warns of these
#define OWN_NEW 1
#endif
#if OWN_NEW
void *operator new(std::size_t size) {
    allocations++;
    if (void *block = std::malloc(size))
        return block;
    throw std::bad_alloc();
}
void operator delete(void *block) noexcept { std::free(block); }
void operator delete(void *block, std::size_t) noexcept { std::free(block); }
#endif

static int failures;

static void expect(bool right, const char *what, int line) {
    if (!right) {
        std::printf("wrapper.cc:%d: %s\n", line, what);
        failures++;
    }
}
#define EXPECT(...) expect((__VA_ARGS__), #__VA_ARGS__, __LINE__)

// The call throws an error of this status whose message has this part.
template <class Call> static void throws(uf_status status, const char *part, Call call, int line) {
    try {
        call();
        expect(false, "throws", line);
    } catch (const uf::error &e) {
        expect(e.status() == status && std::strstr(e.what(), part), e.what(), line);
    }
}
#define THROWS(status, part, ...) \
    throws(                       \
        status, part, [&] { __VA_ARGS__; }, __LINE__)

struct particle {
    float mass, x[2];
};
template <> struct uf::dtype_of<particle> : uf::record_of<particle> {};

// What std::mdspan has, for standard libraries without it: columns that lie one behind the other.
struct columns {
    using element_type = float;
    float *at;
    std::size_t rows, count;
    static constexpr std::size_t rank() { return 2; }
    float *data_handle() const { return at; }
    std::size_t extent(std::size_t d) const { return d ? count : rows; }
    std::size_t stride(std::size_t d) const { return d ? rows : 1; }
};

static bool is_type(DLDataType t, int code, int bits, int lanes = 1) {
    return t.code == code && t.bits == bits && t.lanes == lanes;
}

static void types() {
    EXPECT(is_type(uf::dtype_of<bool>::value, UF_BOOL_CODE, 8) && is_type(uf::dtype_of<signed char>::value, kDLInt, 8));
    EXPECT(is_type(uf::dtype_of<unsigned short>::value, kDLUInt, 16) &&
           is_type(uf::dtype_of<long>::value, kDLInt, 8 * sizeof(long)));
    EXPECT(is_type(uf::dtype_of<std::int64_t>::value, kDLInt, 64) &&
           is_type(uf::dtype_of<std::uint32_t>::value, kDLUInt, 32));
    EXPECT(is_type(uf::dtype_of<float>::value, kDLFloat, 32) && is_type(uf::dtype_of<double>::value, kDLFloat, 64));
    EXPECT(is_type(uf::dtype_of<std::complex<float>>::value, kDLComplex, 64));
    EXPECT(is_type(uf::dtype_of<std::complex<double>>::value, kDLComplex, 128));
    EXPECT(is_type(uf::dtype_of<particle>::value, kDLUInt, 8, 12));
#ifdef UF_HAS_FLOAT16_
    EXPECT(is_type(uf::dtype_of<uf_float16_>::value, kDLFloat, 16));
#endif
#ifdef UF_HAS_BFLOAT16_
    EXPECT(is_type(uf::dtype_of<uf_bfloat16_>::value, kDLBfloat, 16));
#endif
#ifdef __STDCPP_FLOAT16_T__
    EXPECT(is_type(uf::dtype_of<decltype(0.0f16)>::value, kDLFloat, 16));
#endif
#ifdef __STDCPP_BFLOAT16_T__
    EXPECT(is_type(uf::dtype_of<decltype(0.0bf16)>::value, kDLBfloat, 16));
#endif
    EXPECT((UF_ORDERED | UF_FIRST_MATCH | UF_DEBUG) == 0x13); // C++20 has flags of one verb be of one enumeration
}

static bool is_array(const uf::view &v, const void *data, std::initializer_list<std::int64_t> shape, bool is_const) {
    const DLTensor t = v.tensor();
    bool same = t.data == data && t.ndim == static_cast<int>(shape.size()) && v.is_const() == is_const && v;
    int d = 0;
    for (std::int64_t extent : shape)
        same = same && t.shape[d++] == extent;
    return same;
}

static void views() {
    std::vector<float> v(3);
    const std::vector<double> c(2);
    std::array<std::array<int, 4>, 3> nested = {};
    std::vector<std::array<std::int16_t, 2>> pairs(5);
    const float matrix[2][3][4] = {};
    std::vector<particle> swarm(7);
    EXPECT(is_array(v, v.data(), {3}, false) && is_array(c, c.data(), {2}, true));
    EXPECT(is_array(nested, &nested, {3, 4}, false) && is_array(pairs, pairs.data(), {5, 2}, false));
    EXPECT(is_array(matrix, matrix, {2, 3, 4}, true) && is_type(uf::view(matrix).tensor().dtype, kDLFloat, 32));
    EXPECT(is_array(swarm, swarm.data(), {7}, false) && is_type(uf::view(swarm).tensor().dtype, kDLUInt, 8, 12));
    EXPECT(is_array(uf::at(v.data(), {3, 1}), v.data(), {3, 1}, false));
    EXPECT(is_array(uf::at(c.data(), {2}, uf::cuda(1)), c.data(), {2}, true));
    EXPECT(uf::at(c.data(), {2}, uf::cuda(1)).tensor().device.device_id == 1);
    EXPECT(is_array(uf::strided(v.data(), {2}, {2}), v.data(), {2}, false));
    const std::size_t rows = 3;
    const unsigned char one = 1;
    EXPECT(is_array(uf::at(v.data(), {rows, one, 1L}), v.data(), {3, 1, 1}, false));
    EXPECT(is_array(uf::at(v.data(), {v.size()}), v.data(), {3}, false) &&
           is_array(uf::at(v.data(), {}), v.data(), {}, false));
    EXPECT(uf::strided(v.data(), {2}, {-1}).tensor().strides[0] == -1 && !uf::view(v).tensor().strides);
    const columns m = {v.data(), 3, 1};
    EXPECT(is_array(m, v.data(), {3, 1}, false) && uf::view(m).tensor().strides[1] == 3);
    float total = 0;
    EXPECT(is_array(uf::out(total), &total, {}, false) && uf::out(total).tensor().shape != uf_number_shape);
    EXPECT(uf::view(2.5).tensor().shape == uf_number_shape && !uf::view());
    EXPECT(*static_cast<double *>(uf::view(2.5).tensor().data) == 2.5);
#ifdef __cpp_lib_span
    std::span<const float> part(v.data(), 2);
    EXPECT(is_array(part, v.data(), {2}, true) && is_array(std::span<float, 3>(v.data(), 3), v.data(), {3}, false));
#endif
#ifdef __cpp_lib_mdspan
    std::mdspan grid(v.data(), 3, 1);
    EXPECT(is_array(grid, v.data(), {3, 1}, false));
#endif
    THROWS(UF_ERR_ARGUMENT, "as many strides", uf::strided(v.data(), {2}, {1, 1}));
    THROWS(UF_ERR_ARGUMENT, "at most 8", uf::at(v.data(), {1, 1, 1, 1, 1, 1, 1, 1, 3}));
}

static void calls() {
    std::vector<float> x = {1, 2, 3}, r(3);
    const std::array<double, 3> y = {4, 2, 1};
    float table[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[2][3];
    const bool mask[] = {true, false, true};
    uf::function f =
        uf::function::vectorize("rel_diff", "ff->f; dd->d", UF_SOURCE((x, y) { return 2 * (x - y) / (x + y); }));
    const uf::function add = uf::function::load("add");
    EXPECT(f.inputs() == 2 && f.outputs() == 1 && f);
    f(x, y, r);
    EXPECT(r[0] == -1.2f && r[1] == 0 && r[2] == 1);
    add(table, x, sums);
    EXPECT(sums[1][2] == 9);
    add.call({table, 10, sums}, uf::options().with_where(mask).with_threads(1));
    EXPECT(sums[0][0] == 11 && sums[0][1] == 4 && sums[1][2] == 16);
    volatile double share = 0;
    add.call({x, x, r}, uf::options().with_progress(&share));
    EXPECT(share == 1 && r[2] == 2 * x[2]);
#if __cplusplus > 201703L
    add.call({table, 10, sums}, {.where = mask, .threads = 1});
    EXPECT(sums[1][0] == 14);
#endif
    float total = 0;
    add(1, 0.5f, uf::out(total));
    EXPECT(total == 1.5f);
#ifdef UF_HAS_FLOAT16_
    std::vector<uf_float16_> halves(3, static_cast<uf_float16_>(1.5f));
    add(halves, static_cast<uf_float16_>(0.25f), halves);
    EXPECT(static_cast<float>(halves[2]) == 1.75f);
#endif
    THROWS(UF_ERR_ARGUMENT, "takes 2 inputs and 1 output, but got 2", add(x, x));
    THROWS(UF_ERR_ARGUMENT, "argument 2: is const, and an output", add(x, x, y));
    THROWS(UF_ERR_ARGUMENT, "is a number", add(1, 0.5f, total));
    THROWS(UF_ERR_SHAPE, "", add(x, std::vector<float>(4), r));
    THROWS(UF_ERR_ARGUMENT, "threads is -1", add.call({x, x, r}, uf::options().with_threads(-1)));
    THROWS(UF_ERR_SYNTAX, "wrapper.cc:", uf::function::vectorize("f", "f->f", UF_SOURCE((x) { return x + ; })));
    THROWS(UF_ERR_ARGUMENT, "no_such", uf::function::load("no_such"));
    THROWS(UF_ERR_ARGUMENT, "func is NULL", uf::function()(x, x, r));
    THROWS(UF_ERR_ARGUMENT, "func is NULL", uf::function().result({x, x}));
    THROWS(UF_ERR_ARGUMENT, "func is NULL", uf::function().reduced({x}));
    THROWS(UF_ERR_ARGUMENT, "DLManagedTensor * is NULL", add(x, static_cast<DLManagedTensor *>(nullptr), r));
    try {
        add(x, std::vector<float>(4), r);
    } catch (const uf::error &e) {
        EXPECT(e.detail().status == UF_ERR_SHAPE && e.detail().argument == uf_last_error()->argument);
    }
    uf::error first(uf_error{}), moved(std::move(first));
    EXPECT(!first.what()[0] && !moved.what()[0] && std::is_nothrow_copy_constructible_v<uf::error>);
    first = std::move(moved);
    EXPECT(!moved.what()[0]);
}

// Options that are set on a temporary are a value, and may be kept.
static void kept_options() {
    static_assert(std::is_same_v<decltype(uf::options().with_threads(1)), uf::options>, "a value");
    static_assert(std::is_same_v<decltype(uf::reduce_options().with_scratch(nullptr, 0)), uf::reduce_options>,
                  "a value");
    const uf::options &one = uf::options().with_threads(1).with_casting(UF_CAST_SAFE);
    const uf::reduce_options &two = uf::reduce_options().with_keepdims().with_axes({0, 2});
    uf::options three;
    EXPECT(&three.with_block(32).with_elements(2) == &three && three.block == 32 && three.elements == 2);
    EXPECT(one.threads == 1 && one.casting == UF_CAST_SAFE && two.keepdims && two.axes.data()[1] == 2);
}

static void ownership() {
    std::vector<double> x = {1, 2, 3};
    uf::function add = uf::function::load("add"), other = std::move(add), third;
    EXPECT(!add && other);
    third = uf::function::load("negative");
    third = std::move(other); // negative is released, not handed over
    EXPECT(!!third && third.inputs() == 2 && !other);
    uf::function &itself = third;
    third = std::move(itself);
    EXPECT(!!third);
    uf::array sum = third.result({x, 1});
    EXPECT(sum.ndim() == 1 && sum.extent(0) == 3 && sum.size() == 3 && sum.data<double>()[2] == 4);
    THROWS(UF_ERR_ARGUMENT, "of another type", sum.data<float>());
    uf::array more = third.result({sum, sum}), copy = uf::array::copy_of(more);
    more = uf::array();
    EXPECT(copy.data<const double>()[0] == 4);
    uf::array blank = uf::array::empty<std::int32_t>({2, 3});
    uf::copy(blank, 7);
    EXPECT(blank.data<int>()[5] == 7);
    THROWS(UF_ERR_ARGUMENT, "const", uf::copy(std::as_const(x), 7));
    THROWS(UF_ERR_ARGUMENT, "shape[0] is -1", uf::array::empty<float>({-1}));
    const uf::array fixed = uf::array::copy_of(x);
    THROWS(UF_ERR_ARGUMENT, "argument 2: is const", third(x, x, fixed));
    THROWS(UF_ERR_ARGUMENT, "the uf::array is empty", third(x, uf::array(), x));
    THROWS(UF_ERR_ARGUMENT, "the uf::array is empty", more.size());
    third(fixed, fixed, fixed.get()); // a handle
    EXPECT(fixed.data<double>()[2] == 6);
    uf::sync(uf::cpu);
    DLManagedTensor *raw = copy.give_up();
    raw->deleter(raw);
    uf::kernel_module m = uf::kernel_module::load("dual"),
                      own = uf::kernel_module::make("own", "h(a) { return 2 * a; }");
    EXPECT(m && own);
    THROWS(UF_ERR_ARGUMENT, "one output", uf::function::load("divmod").result({x, 2}));
}

static void verbs() {
    float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, r[2][3], columns[3], kept[2][1], total = 0;
    uf::function sum = uf::function::load("sum"), add = uf::function::load("add");
    sum.reduce(x, uf::out(total));
    EXPECT(total == 21);
    sum.reduce({x, columns}, uf::reduce_options().with_axes(0));
    EXPECT(columns[2] == 9);
    add.reduce({x, kept}, uf::reduce_options().with_axes({-1}).with_keepdims().with_initial(100));
    EXPECT(kept[1][0] == 115);
    add.reduce({x, r}, uf::reduce_options().with_axes(uf::no_axes));
    EXPECT(r[1][2] == 6);
    volatile double share = 0;
    sum.reduce({x, uf::out(total)}, uf::reduce_options().with_progress(&share));
    EXPECT(share == 1 && total == 21);
#if __cplusplus > 201703L
    add.reduce({x, columns}, {.axes = 0});
    add.reduce({x, uf::out(total)}, {.axes = {0, 1}, .initial = 1});
    EXPECT(columns[1] == 7 && total == 22);
#endif
    EXPECT(add.reduced({x}, uf::reduce_options().with_axes(1)).data<float>()[1] == 15);
    add.accumulate({x, r}, 1);
    EXPECT(r[1][2] == 15);
    add.reduceat({x, r}, std::array<int, 3>{0, 2, 1}, 1);
    EXPECT(r[0][0] == 3 && r[0][2] == 5);
    float all[3][3] = {};
    add.outer({x[0], x[1], all}, uf::options().with_where(std::array<bool, 3>{true, false, true}));
    EXPECT(all[2][0] == 7 && all[2][1] == 0);
    add.at(x, {std::vector<int>{0, 0}, std::vector<int>{1, 1}}, 10);
    EXPECT(x[0][1] == 22);
    uf::function twice =
        uf::function::kernel("twice", "float32[,], float32[,]", UF_SOURCE([i, j](a, b) { b[i][j] = 2 * a[i][j]; }));
    twice.forall({2, 3}, {x, r});
    EXPECT(r[0][1] == 44);
    uf_reduction_def def = {};
    def.combine = "(a, b) { return a + b; }";
    uf::function own = uf::function::reduction("own", "f->f", def);
    own.reduce(x, uf::out(total));
    EXPECT(total == 41);
    const uf_section only = {"f->f", "(x) { return x * x; }"};
    uf_definition d = {};
    d.name = "square_";
    d.nsections = 1;
    d.sections = &only;
    uf::function square = uf::function::define(d), slope = square.derivative();
    uf::function both = uf::function::compose("both", "x", "square_(x) + 1", square);
    slope(x, r);
    EXPECT(r[1][2] == 12);
    both(x, r);
    EXPECT(r[1][2] == 37);
    uf::function norm =
        uf::function::guvectorize("norm_", "(n)->()", "f->f", "(x) -> (r) { r = sum(i : n, x[i] * x[i]); }");
    float norms[2];
    norm(x, norms);
    EXPECT(norms[1] == 77);
    THROWS(UF_ERR_ARGUMENT, "axis 2", add.reduce({x, r}, uf::reduce_options().with_axes(2)));
    THROWS(UF_ERR_ARGUMENT, "argument 1: is const",
           add.reduce({x, std::as_const(columns)}, uf::reduce_options().with_axes(0)));
    THROWS(UF_ERR_ARGUMENT, "const", add.at(std::as_const(x), {0}, 1));
    THROWS(UF_ERR_ARGUMENT, "ndim is 1", twice.forall({2}, {x, r}));
}

static void plans() {
    float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, r[2][3];
    uf::function add = uf::function::load("add");
    uf::plan p = add.planned({x, x, r}, uf::options().with_threads(1));
    p.run(x, x, r);
    EXPECT(r[1][2] == 12);
    add.reduce_planned({x, r[0]}, uf::reduce_options().with_axes(0)).run(x, r);
    EXPECT(r[0][2] == 9);
    add.accumulate_planned({x, r}, 1).run(x, r);
    EXPECT(r[1][2] == 15);
    uf::function twice = uf::function::kernel("twice", "float32[], float32[]", "[i](a, b) { b[i] = 2 * a[i]; }");
    twice.forall_planned({6}, {uf::at(&x[0][0], {6}), uf::at(&r[0][0], {6})}).run(x, r);
    EXPECT(r[1][2] == 12);
    THROWS(UF_ERR_ARGUMENT, "argument 2: its data is NULL", p.run(x, x, static_cast<float *>(nullptr)));
    THROWS(UF_ERR_ARGUMENT, "each of 3 arguments, but got 2", p.run(x, x));
    THROWS(UF_ERR_ARGUMENT, "each of 3 arguments, but got 0", p.run());
    uf::plan other = std::move(p);
    THROWS(UF_ERR_ARGUMENT, "each of 3 arguments, but got 4", other.run(x, x, r, r));
    THROWS(UF_ERR_ARGUMENT, "each of 2 arguments, but got 1", add.reduce_planned({x, uf::out(r[0][0])}).run(x));
    uf::plan taken(other.give_up());
    taken.run(x, x, r);
    EXPECT(r[0][1] == 4);
}

static void records() {
    std::vector<particle> swarm = {{1, {2, 3}}, {4, {5, 6}}};
    float masses[2];
    uf::function mass = uf::function::vectorize("mass", "particle->float32",
                                                "struct particle { float mass, x[2]; }; (p) { return p.mass; }");
    mass(swarm, masses);
    EXPECT(masses[1] == 4);
}

// No call allocates: neither arguments, nor options, nor outputs of ours.
static void costs() {
    std::vector<float> x(16), y(16), r(16);
    const bool mask[16] = {};
    float total;
    uf::function add = uf::function::load("add");
    uf::plan p = add.planned({x, y, r});
    for (int round = 0; round < 2; round++) { // the first one compiles
        long before = allocations;
        add(x, y, r);
        add.call({x, 1, r}, uf::options().with_where(mask));
        add.reduce({x, uf::out(total)}, uf::reduce_options().with_axes({0}));
        add.accumulate({x, r});
        p.run(x.data(), y.data(), r.data());
        EXPECT(round == 0 || allocations == before);
    }
}

int main() {
    types();
    views();
    calls();
    kept_options();
    ownership();
    verbs();
    plans();
    records();
    costs();
    return failures != 0;
}
