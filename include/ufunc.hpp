// ufunc.hpp - libufunc for C++17 and later: functions, plans, modules and arrays that release themselves, containers as arguments,
// options by name, errors as exceptions. It adds no state of its own to what ufunc.h declares, which stays the manual: each member
// function says which function of it it calls. A call allocates nothing on the heap, but for the exception of one that fails.
//
//     uf::function rel_diff = uf::function::vectorize("rel_diff", "ff->f; dd->d", UF_SOURCE((x, y) { return 2 * (x - y) / (x + y); }));
//     std::vector<float> x = {1, 2, 3}, y = {4, 2, 1}, r(3);
//     rel_diff(x, y, r);                                       // uf_call
//     rel_diff.call({x, y, r}, uf::options().with_threads(1)); // in C++20 also rel_diff.call({x, y, r}, {.threads = 1})
#ifndef UFUNC_HPP
#define UFUNC_HPP

#include <array>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <ufunc.h>

namespace uf {

// ---- Errors ----

// What a call that failed throws: a copy of uf_last_error().
class error : public std::exception {
  public:
    explicit error(const uf_error &what) : error_(std::make_shared<const uf_error>(what)) {}
    error(const error &) = default; // and none that moves, which would leave an error without a message
    error &operator=(const error &) = default;
    const char *what() const noexcept override { return error_->message; }
    uf_status status() const noexcept { return error_->status; }
    const uf_error &detail() const noexcept { return *error_; } // argument, dimension, line, column, source

  private:
    std::shared_ptr<const uf_error> error_; // copies of an exception must not throw
};

inline void check(uf_status status) {
    if (status != UF_OK)
        throw error(*uf_last_error());
}

namespace detail {

[[noreturn]] inline void refuse(int argument, const char *message) {
    uf_error e = {};
    e.status = UF_ERR_ARGUMENT;
    e.argument = argument;
    e.dimension = -1;
    std::strncpy(e.message, message, sizeof e.message - 1);
    throw error(e);
}

template <class T> constexpr bool never = false;

constexpr DLDataType dtype(int code, std::size_t bits, int lanes = 1) {
    return DLDataType{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits),
                      static_cast<std::uint16_t>(lanes)};
}

} // namespace detail

// ---- Types ----

// The DLDataType of a C++ type. For a struct that arrays of records are made of:
//     template <> struct uf::dtype_of<particle> : uf::record_of<particle> {};
template <class T, class = void> struct dtype_of {
    static_assert(detail::never<T>,
                  "T is none of the fifteen dtypes; for a struct derive uf::dtype_of<T> from uf::record_of<T>");
};
template <class T> struct record_of {
    static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>, "a record is a struct as C has it");
    static_assert(sizeof(T) <= 65535, "a record has at most 65535 bytes, which are the lanes of its elements");
    static constexpr DLDataType value = detail::dtype(kDLUInt, 8, static_cast<int>(sizeof(T)));
};
template <class T> struct dtype_of<T, std::enable_if_t<std::is_integral_v<T>>> {
    static constexpr DLDataType value = detail::dtype(std::is_same_v<T, bool> ? static_cast<int>(UF_BOOL_CODE)
                                                      : std::is_signed_v<T>   ? static_cast<int>(kDLInt)
                                                                              : static_cast<int>(kDLUInt),
                                                      8 * sizeof(T));
};
template <> struct dtype_of<float> { static constexpr DLDataType value = detail::dtype(kDLFloat, 32); };
template <> struct dtype_of<double> { static constexpr DLDataType value = detail::dtype(kDLFloat, 64); };
template <class T> struct dtype_of<std::complex<T>> {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "complex numbers are of float or double");
    static constexpr DLDataType value = detail::dtype(kDLComplex, 16 * sizeof(T));
};
#ifdef UF_HAS_FLOAT16_ // std::float16_t and std::bfloat16_t are these types, where there are any
template <> struct dtype_of<uf_float16_> { static constexpr DLDataType value = detail::dtype(kDLFloat, 16); };
#endif
#ifdef UF_HAS_BFLOAT16_
template <> struct dtype_of<uf_bfloat16_> { static constexpr DLDataType value = detail::dtype(kDLBfloat, 16); };
#endif

inline constexpr DLDevice cpu = {kDLCPU, 0};
constexpr DLDevice cuda(int id = 0) { return DLDevice{kDLCUDA, id}; }

namespace detail {

template <class T> struct is_complex : std::false_type {};
template <class T> struct is_complex<std::complex<T>> : std::true_type {};
template <class T> struct is_half : std::false_type {}; // std::is_arithmetic leaves them out before C++23
#ifdef UF_HAS_FLOAT16_
template <> struct is_half<uf_float16_> : std::true_type {};
#endif
#ifdef UF_HAS_BFLOAT16_
template <> struct is_half<uf_bfloat16_> : std::true_type {};
#endif
template <class T> constexpr bool is_number = std::is_arithmetic_v<T> || is_complex<T>::value || is_half<T>::value;

// A type of elements that may be arrays themselves, T[4] and std::array<T, 4>: their extents, and what is innermost.
template <class T> struct nested {
    using scalar = T;
    static constexpr int rank = 0;
    static void write(std::int64_t *) {}
};
template <class T, std::size_t N> struct nested<T[N]> {
    using scalar = typename nested<T>::scalar;
    static constexpr int rank = 1 + nested<T>::rank;
    static void write(std::int64_t *shape) {
        *shape = static_cast<std::int64_t>(N);
        nested<T>::write(shape + 1);
    }
};
template <class T, std::size_t N> struct nested<std::array<T, N>> : nested<T[N]> {};
template <class T, std::size_t N> struct nested<const std::array<T, N>> : nested<const T[N]> {};

template <class C, class = void> struct is_range : std::false_type {};
template <class C>
struct is_range<C, std::void_t<decltype(std::data(std::declval<C &>())), decltype(std::size(std::declval<C &>()))>>
    : std::true_type {};

template <class M, class = void> struct is_mdspan : std::false_type {};
template <class M>
struct is_mdspan<M, std::void_t<typename M::element_type, decltype(std::declval<const M &>().data_handle()),
                                decltype(std::declval<const M &>().stride(0)),
                                decltype(std::declval<const M &>().extent(0)), decltype(M::rank())>> : std::true_type {
};

} // namespace detail

// ---- Arguments ----

constexpr int max_rank = 8; // of the arrays whose shapes an argument holds itself; a DLTensor may have any

// Extents or strides: {3, 4}. Their numbers are of any integer types: a std::size_t is no narrowing here.
class extents {
    struct one {
        template <class T,
                  std::enable_if_t<std::is_convertible_v<T, std::int64_t> && !std::is_floating_point_v<T>, int> = 0>
        one(T number) : value(static_cast<std::int64_t>(number)) {}
        std::int64_t value;
    };

  public:
    extents(std::initializer_list<one> list) : extents(list.size()) {
        int d = 0;
        for (one extent : list)
            values_[d++] = extent.value;
    }
    extents(const std::int64_t *values, std::size_t count) : extents(count) {
        for (int d = 0; d < count_; d++)
            values_[d] = values[d];
    }
    int count() const { return count_; }
    const std::int64_t *data() const { return values_; }

  private:
    explicit extents(std::size_t count) : count_(static_cast<int>(count)) {
        if (count > static_cast<std::size_t>(max_rank))
            detail::refuse(-1, "extents: at most 8 are possible here; a DLTensor may have more");
    }

    int count_;
    std::int64_t values_[max_rank];
};

class array;

// An argument of a call: an array that lies somewhere else, or a number. It is made of
//   - containers of numbers or of arrays of them: std::vector, std::array, std::span, float[3][4], and what else has std::data
//   - std::mdspan, and what has its members
//   - numbers, which are inputs; uf::out(x) is an output
//   - uf::array, DLTensor, DLManagedTensor *, uf::at(..), uf::strided(..)
// It does not own what it refers to, and is meant for the time of a call. Outputs must not be const, which of a DLTensor is not
// looked at: it is a handle.
class view {
  public:
    view() : t_{} {} // the extents that are used are written by those that use them

    template <class T, std::enable_if_t<detail::is_number<T>, int> = 0> view(T number) : view() {
        static_assert(sizeof number <= sizeof number_, "a number has at most 16 bytes");
        t_.device = cpu;
        t_.dtype = dtype_of<T>::value;
        std::memcpy(number_, &number, sizeof number);
        is_number_ = true;
    }

    template <class T, std::size_t N> view(T (&array)[N]) : view() { nest<T>(&array[0], N); }

    template <class C, std::enable_if_t<detail::is_range<std::remove_reference_t<C>>::value &&
                                            !detail::is_mdspan<std::decay_t<C>>::value &&
                                            !std::is_array_v<std::remove_reference_t<C>>,
                                        int> = 0>
    view(C &&container) : view() {
        nest<std::remove_pointer_t<decltype(std::data(container))>>(std::data(container), std::size(container));
    }

    template <class M, std::enable_if_t<detail::is_mdspan<std::decay_t<M>>::value, int> = 0> view(const M &m) : view() {
        static_assert(M::rank() <= max_rank, "arrays of up to 8 dimensions");
        hold<typename M::element_type>(m.data_handle(), static_cast<int>(M::rank()));
        strided_ = true;
        for (std::size_t d = 0; d < M::rank(); d++) {
            shape_[d] = static_cast<std::int64_t>(m.extent(d));
            strides_[d] = static_cast<std::int64_t>(m.stride(d));
        }
    }

    view(const DLTensor &tensor) : view() {
        t_ = tensor;
        outside_ = true;
    }
    view(const DLManagedTensor *tensor) : view(tensor ? tensor->dl_tensor : DLTensor{}) {
        if (!tensor)
            detail::refuse(-1, "a DLManagedTensor * is NULL, where an array is needed");
    }
    view(std::nullptr_t) = delete;
    inline view(array &owner);
    inline view(const array &owner);

    template <class T> static view of(T *data, const extents &shape, const extents *strides, DLDevice device) {
        view v;
        if (strides && strides->count() != shape.count())
            detail::refuse(-1, "strided: there must be as many strides as extents");
        v.hold<T>(data, shape.count());
        v.t_.device = device;
        v.strided_ = strides != nullptr;
        for (int d = 0; d < shape.count(); d++) {
            v.shape_[d] = shape.data()[d];
            v.strides_[d] = strides ? strides->data()[d] : 0;
        }
        return v;
    }

    // The DLTensor; it refers to the view, and to what that refers to.
    DLTensor tensor() const {
        DLTensor t = t_;
        if (outside_)
            return t;
        t.data = is_number_ ? const_cast<unsigned char *>(number_) : t.data;
        t.shape = const_cast<std::int64_t *>(is_number_ ? uf_number_shape : shape_);
        t.strides = strided_ ? const_cast<std::int64_t *>(strides_) : nullptr;
        return t;
    }
    bool is_const() const { return const_; }
    explicit operator bool() const { return t_.device.device_type != 0; } // false: made of nothing

  private:
    template <class T> void hold(T *data, int ndim) {
        t_.data = const_cast<void *>(static_cast<const volatile void *>(data));
        t_.device = cpu;
        t_.ndim = ndim;
        t_.dtype = dtype_of<std::remove_cv_t<T>>::value;
        const_ = std::is_const_v<T>;
    }
    template <class T> void nest(T *data, std::size_t count) {
        using nested = detail::nested<T>;
        static_assert(1 + nested::rank <= max_rank, "arrays of up to 8 dimensions");
        hold(reinterpret_cast<typename nested::scalar *>(data), 1 + nested::rank);
        shape_[0] = static_cast<std::int64_t>(count);
        nested::write(shape_ + 1);
    }

    DLTensor t_;
    bool const_ = false, strided_ = false, is_number_ = false, outside_ = false;
    alignas(16) unsigned char number_[16];
    std::int64_t shape_[max_rank], strides_[max_rank];
};

// A C-contiguous array at a pointer, or one with strides in elements; device memory, too.
template <class T> view at(T *data, const extents &shape, DLDevice device = cpu) {
    return view::of(data, shape, nullptr, device);
}
template <class T> view strided(T *data, const extents &shape, const extents &strides, DLDevice device = cpu) {
    return view::of(data, shape, &strides, device);
}
// A variable as an output: sum.reduce(x, uf::out(total)).
template <class T> view out(T &variable) { return view::of(&variable, {}, nullptr, cpu); }

namespace detail {

// The arguments of a call as the C functions take them, at most `most`. Those from `inputs` on are outputs.
template <std::size_t most = UF_MAX_OPERANDS> class tensors {
  public:
    tensors(const view *views, std::size_t count, int inputs) : count_(static_cast<int>(count)) {
        if (count > most)
            refuse(static_cast<int>(most), "more than 64 arguments");
        for (int k = 0; k < count_; k++) {
            if (views[k].is_const() && k >= inputs)
                refuse(k, ("argument " + std::to_string(k) + ": is const, and an output").c_str());
            t_[k] = views[k].tensor();
        }
    }
    int count() const { return count_; }
    const DLTensor *data() const { return t_; }

  private:
    int count_;
    DLTensor t_[most];
};

// What owns a pointer of the library.
template <class T, void (*release)(T *)> class owner {
  public:
    owner() = default;
    explicit owner(T *pointer) noexcept : pointer_(pointer) {}
    owner(owner &&other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
    owner &operator=(owner &&other) noexcept {
        owner taken(std::move(other));
        std::swap(pointer_, taken.pointer_); // what this one had is released with `taken`, and `other` is empty
        return *this;
    }
    ~owner() { release(pointer_); }
    T *get() const noexcept { return pointer_; }
    T *give_up() noexcept { return std::exchange(pointer_, nullptr); } // the caller releases it then
    explicit operator bool() const noexcept { return pointer_ != nullptr; }

  private:
    T *pointer_ = nullptr;
};

inline void array_free(DLManagedTensor *tensor) {
    if (tensor && tensor->deleter)
        tensor->deleter(tensor);
}

} // namespace detail

// ---- Options ----

// Axes: 1, or {0, 2}; without any, all. uf::no_axes: none.
class axes {
  public:
    axes() = default;
    axes(int axis) : count_(1) { values_[0] = axis; }
    axes(std::initializer_list<int> list) : count_(static_cast<int>(list.size())) {
        if (list.size() > static_cast<std::size_t>(UF_MAX_NDIM))
            detail::refuse(-1, "axes: more than 64");
        int k = 0;
        for (int axis : list)
            values_[k++] = axis;
        if (!count_)
            count_ = UF_NO_AXES;
    }
    int count() const { return count_; }
    const int *data() const { return count_ > 0 ? values_ : nullptr; }

  private:
    int count_ = 0; // as uf_reduce_options.naxes
    int values_[UF_MAX_NDIM];
};
inline const axes no_axes = axes(std::initializer_list<int>{});

// A function that sets an option by name. What it returns of a temporary is a value, which may outlive the statement.
#define UF_WITH_(options, name, parameters, assignment)               \
    options &with_##name parameters & { return (assignment), *this; } \
    options with_##name parameters && { return (assignment), *this; }

// Options of calls, scans and kernels over indices: members as in uf_options, set by name in C++20 and by with_.. before.
struct options {
    void *stream = nullptr;
    DLDevice device = {};
    uf_casting casting = UF_CAST_DEFAULT;
    const char *signature = nullptr;
    view where = {};
    int threads = 0;
    unsigned flags = 0;
    const uf_axes *axes = nullptr;
    void *scratch = nullptr;
    std::size_t scratch_size = 0;
    int block = 0, elements = 0;
    const volatile int *cancel = nullptr;
    volatile double *progress = nullptr;

    UF_WITH_(options, stream, (void *value), stream = value)
    UF_WITH_(options, device, (DLDevice value), device = value)
    UF_WITH_(options, casting, (uf_casting value), casting = value)
    UF_WITH_(options, signature, (const char *value), signature = value)
    UF_WITH_(options, where, (const view &value), where = value)
    UF_WITH_(options, threads, (int value), threads = value)
    UF_WITH_(options, flags, (unsigned value), flags = value)
    UF_WITH_(options, axes, (const uf_axes *value), axes = value)
    UF_WITH_(options, scratch, (void *value, std::size_t size), (scratch = value, scratch_size = size))
    UF_WITH_(options, block, (int value), block = value)
    UF_WITH_(options, elements, (int value), elements = value)
    UF_WITH_(options, cancel, (const volatile int *value), cancel = value)
    UF_WITH_(options, progress, (volatile double *value), progress = value)
};

// Options of reductions: members as in uf_reduce_options.
struct reduce_options {
    uf::axes axes = {};
    bool keepdims = false;
    view initial = {}; // of reductions of one value; for states of several values see uf_reduce
    view where = {};
    void *stream = nullptr;
    uf_casting casting = UF_CAST_DEFAULT;
    const char *signature = nullptr;
    void *scratch = nullptr;
    std::size_t scratch_size = 0;
    int threads = 0;
    unsigned flags = 0;
    const volatile int *cancel = nullptr;
    volatile double *progress = nullptr;

    UF_WITH_(reduce_options, axes, (const uf::axes &value), axes = value)
    UF_WITH_(reduce_options, keepdims, (bool value = true), keepdims = value)
    UF_WITH_(reduce_options, initial, (const view &value), initial = value)
    UF_WITH_(reduce_options, where, (const view &value), where = value)
    UF_WITH_(reduce_options, stream, (void *value), stream = value)
    UF_WITH_(reduce_options, casting, (uf_casting value), casting = value)
    UF_WITH_(reduce_options, signature, (const char *value), signature = value)
    UF_WITH_(reduce_options, scratch, (void *value, std::size_t size), (scratch = value, scratch_size = size))
    UF_WITH_(reduce_options, threads, (int value), threads = value)
    UF_WITH_(reduce_options, flags, (unsigned value), flags = value)
    UF_WITH_(reduce_options, cancel, (const volatile int *value), cancel = value)
    UF_WITH_(reduce_options, progress, (volatile double *value), progress = value)
};

namespace detail {

// An options struct of the C functions, and the mask that it points to.
class c_options {
  public:
    explicit c_options(const options &o) : where_(o.where.tensor()), options_{} {
        options_.size = sizeof options_;
        options_.stream = o.stream;
        options_.device = o.device;
        options_.casting = o.casting;
        options_.signature = o.signature;
        options_.where = o.where ? &where_ : nullptr;
        options_.threads = o.threads;
        options_.flags = o.flags;
        options_.axes = o.axes;
        options_.scratch = o.scratch;
        options_.scratch_size = o.scratch_size;
        options_.block = o.block;
        options_.elements = o.elements;
        options_.cancel = o.cancel;
        options_.progress = o.progress;
    }
    c_options(const c_options &) = delete;
    const uf_options *get() const { return &options_; }

  private:
    DLTensor where_;
    uf_options options_;
};

class c_reduce_options {
  public:
    explicit c_reduce_options(const reduce_options &o)
        : where_(o.where.tensor()), initial_(o.initial.tensor()), options_{} {
        options_.size = sizeof options_;
        options_.stream = o.stream;
        options_.casting = o.casting;
        options_.signature = o.signature;
        options_.naxes = o.axes.count();
        options_.axes = o.axes.data();
        options_.keepdims = o.keepdims;
        options_.initial = o.initial ? &initial_ : nullptr;
        options_.where = o.where ? &where_ : nullptr;
        options_.scratch = o.scratch;
        options_.scratch_size = o.scratch_size;
        options_.threads = o.threads;
        options_.flags = o.flags;
        options_.cancel = o.cancel;
        options_.progress = o.progress;
    }
    c_reduce_options(const c_reduce_options &) = delete;
    const uf_reduce_options *get() const { return &options_; }

  private:
    DLTensor where_, initial_;
    uf_reduce_options options_;
};

} // namespace detail

#undef UF_WITH_

// ---- Arrays that are owned ----

// An array of the library's, or any DLManagedTensor, which it releases.
class array : public detail::owner<DLManagedTensor, detail::array_free> {
  public:
    using owner::owner;
    // uf_empty, of undefined content
    static array empty(DLDevice device, DLDataType dtype, const extents &shape) {
        DLManagedTensor *made;
        check(uf_empty(&made, device, dtype, shape.count(), shape.data()));
        return array(made);
    }
    template <class T> static array empty(const extents &shape, DLDevice device = cpu) {
        return empty(device, dtype_of<T>::value, shape);
    }
    // An array on a device with the shape, dtype and content of another one.
    static array copy_of(const view &source, DLDevice device = cpu, void *stream = nullptr) {
        const DLTensor from = source.tensor();
        DLManagedTensor *made;
        check(uf_empty(&made, device, from.dtype, from.ndim, from.shape));
        array copy(made);
        check(uf_copy(&made->dl_tensor, &from, stream));
        return copy;
    }

    const DLTensor &tensor() const { // throws if it is empty: made of nothing, or moved from
        if (!get())
            detail::refuse(-1, "the uf::array is empty");
        return get()->dl_tensor;
    }
    int ndim() const { return tensor().ndim; }
    std::int64_t extent(int d) const { return tensor().shape[d]; }
    std::int64_t size() const {
        std::int64_t n = 1;
        for (int d = 0; d < ndim(); d++)
            n *= extent(d);
        return n;
    }
    // Element 0. Throws if T is not the type of the elements.
    template <class T> T *data() const {
        const DLDataType is = tensor().dtype, wanted = dtype_of<std::remove_cv_t<T>>::value;
        if (is.code != wanted.code || is.bits != wanted.bits || is.lanes != wanted.lanes)
            detail::refuse(-1, "array::data: the elements are of another type");
        return static_cast<T *>(static_cast<void *>(static_cast<char *>(tensor().data) + tensor().byte_offset));
    }
};

inline view::view(array &owner) : view(owner.tensor()) {}
inline view::view(const array &owner) : view(owner.tensor()) { const_ = true; }

// uf_copy and uf_sync
inline void copy(const view &to, const view &from, void *stream = nullptr) {
    const DLTensor dst = to.tensor(), src = from.tensor();
    if (to.is_const())
        detail::refuse(0, "copy: the destination is const");
    check(uf_copy(&dst, &src, stream));
}
inline void sync(DLDevice device, void *stream = nullptr) { check(uf_sync(device, stream)); }

// ---- Plans, modules ----

class plan : public detail::owner<uf_plan, uf_plan_free> {
  public:
    plan() = default;
    // Takes a plan over. Its runs take `addresses` of them; without that number how many they are given is not looked at.
    explicit plan(uf_plan *pointer, int addresses = any) : owner(pointer), addresses_(addresses) {}
    // uf_plan_run with the addresses of the arguments, in the order of the verb
    template <class... T> void run(T *...addresses) const { run_on(nullptr, addresses...); }
    template <class... T> void run_on(void *stream, T *...addresses) const {
        void *const data[] = {const_cast<void *>(static_cast<const volatile void *>(addresses))..., nullptr};
        const int given = static_cast<int>(sizeof...(T));
        if (addresses_ != any && addresses_ != given)
            detail::refuse(-1, ("the plan needs an address for each of " + std::to_string(addresses_) +
                                " arguments, but got " + std::to_string(given))
                                   .c_str());
        check(uf_plan_run(get(), data, stream));
    }

  private:
    static constexpr int any = -1;
    int addresses_ = any;
};

class kernel_module : public detail::owner<uf_module, uf_module_free> {
  public:
    using owner::owner;
    static kernel_module load(const char *what) { // uf_module_load
        uf_module *made;
        check(uf_module_load(&made, what));
        return kernel_module(made);
    }
    static kernel_module make(const char *name, const char *source) { // uf_module_new
        uf_module_definition d = {};
        uf_module *made;
        d.size = sizeof d;
        d.name = name;
        d.source = source;
        check(uf_module_new(&made, &d));
        return kernel_module(made);
    }
};

// ---- Functions ----

class function : public detail::owner<uf_func, uf_free> {
  public:
    using arguments = std::initializer_list<view>;

    function() = default;
    // Takes a function over; it is released by this one.
    explicit function(uf_func *func) : owner(func) {
        uf_description d = {};
        d.size = sizeof d;
        if (!func)
            return;
        check(uf_describe(func, &d));
        inputs_ = d.nin;
        outputs_ = d.nout;
        folded_ = d.nstate > 0 && d.nin == 2 && std::strcmp(d.kind, "reduction") != 0 ? 1 : d.nin;
    }

    static function load(const char *what) { return made(uf_load, what); }
    static function vectorize(const char *name, const char *signatures, const char *source) {
        return made(uf_vectorize, name, signatures, source);
    }
    static function guvectorize(const char *name, const char *layout, const char *signatures, const char *source) {
        return made(uf_guvectorize, name, layout, signatures, source);
    }
    static function kernel(const char *name, const char *parameters, const char *source) {
        return made(uf_kernel, name, parameters, source);
    }
    // def.size need not be set
    static function reduction(const char *name, const char *signatures, uf_reduction_def def) {
        def.size = sizeof def;
        return made(uf_reduction, name, signatures, &def);
    }
    // definition.size need not be set
    static function define(uf_definition definition) {
        definition.size = sizeof definition;
        return made(uf_define, &definition);
    }
    template <class... F>
    static function compose(const char *name, const char *inputs, const char *expression, const F &...functions) {
        uf_func *const list[] = {functions.get()..., nullptr};
        return made(uf_compose, name, inputs, expression, static_cast<int>(sizeof...(F)), list);
    }
    function derivative(int input = 0) const { return made(uf_derivative, get(), input); }

    int inputs() const { return inputs_; }
    int outputs() const { return outputs_; }

    // uf_call
    template <class... A> void operator()(A &&...args) const {
        static_assert(sizeof...(A) > 0, "a call takes arguments: the inputs, then the outputs");
        const view views[] = {view(std::forward<A>(args))...};
        const detail::tensors<sizeof...(A)> t(views, sizeof...(A), inputs_);
        check(uf_call(get(), t.count(), t.data(), nullptr));
    }
    void call(arguments args, const options &o = {}) const {
        const detail::tensors<> t(args.begin(), args.size(), inputs_);
        check(uf_call(get(), t.count(), t.data(), detail::c_options(o).get()));
    }
    // uf_new and uf_call: the result of a function with one output, in a new array where the inputs are
    array result(arguments inputs, const options &o = {}) const {
        const detail::tensors<> t(inputs.begin(), inputs.size(), UF_MAX_OPERANDS);
        const detail::c_options c(o);
        single();
        DLManagedTensor *fresh;
        check(uf_new(&fresh, get(), t.count(), t.data(), c.get()));
        array r(fresh);
        check(uf_call(get(), t.count() + 1, with(t, r).data(), c.get()));
        return r;
    }
    // uf_outer
    void outer(arguments args, const options &o = {}) const {
        const detail::tensors<> t(args.begin(), args.size(), inputs_);
        check(uf_outer(get(), t.count(), t.data(), detail::c_options(o).get()));
    }

    // uf_reduce; of all axes
    template <class... A> void reduce(A &&...args) const {
        static_assert(sizeof...(A) > 0, "a call takes arguments: the inputs, then the outputs");
        const view views[] = {view(std::forward<A>(args))...};
        const detail::tensors<sizeof...(A)> t(views, sizeof...(A), folded_);
        check(uf_reduce(get(), t.count(), t.data(), nullptr));
    }
    void reduce(arguments args, const reduce_options &o = {}) const {
        const detail::tensors<> t(args.begin(), args.size(), folded_);
        check(uf_reduce(get(), t.count(), t.data(), detail::c_reduce_options(o).get()));
    }
    // uf_reduce_new and uf_reduce
    array reduced(arguments inputs, const reduce_options &o = {}) const {
        const detail::tensors<> t(inputs.begin(), inputs.size(), UF_MAX_OPERANDS);
        const detail::c_reduce_options c(o);
        single();
        DLManagedTensor *fresh;
        check(uf_reduce_new(&fresh, get(), t.count(), t.data(), c.get()));
        array r(fresh);
        check(uf_reduce(get(), t.count() + 1, with(t, r).data(), c.get()));
        return r;
    }
    // uf_accumulate, uf_reduceat
    void accumulate(arguments args, int axis = 0, const options &o = {}) const {
        const detail::tensors<> t(args.begin(), args.size(), folded_);
        check(uf_accumulate(get(), t.count(), t.data(), axis, detail::c_options(o).get()));
    }
    void reduceat(arguments args, const view &starts, int axis = 0, const options &o = {}) const {
        const detail::tensors<> t(args.begin(), args.size(), folded_);
        const DLTensor s = starts.tensor();
        check(uf_reduceat(get(), t.count(), t.data(), &s, axis, detail::c_options(o).get()));
    }
    // uf_at; the function of one input takes no operand
    void at(const view &target, arguments indices, const view &operand = {}, const options &o = {}) const {
        const detail::tensors<> t(indices.begin(), indices.size(), UF_MAX_OPERANDS);
        const DLTensor to = target.tensor(), value = operand.tensor();
        if (target.is_const())
            detail::refuse(0, "at: the target is const");
        check(uf_at(get(), &to, t.count(), t.data(), operand ? &value : nullptr, detail::c_options(o).get()));
    }
    // uf_forall. Of the arguments those that the kernel writes to must not be const, which is not looked at.
    void forall(const extents &space, arguments args, const options &o = {}) const {
        const detail::tensors<> t(args.begin(), args.size(), UF_MAX_OPERANDS);
        check(uf_forall(get(), space.count(), space.data(), t.count(), t.data(), detail::c_options(o).get()));
    }

    // uf_plan_new, uf_reduce_plan, uf_accumulate_plan, uf_forall_plan
    plan planned(arguments args, const options &o = {}) const {
        const detail::tensors<> t(args.begin(), args.size(), inputs_);
        uf_plan *p;
        check(uf_plan_new(&p, get(), t.count(), t.data(), detail::c_options(o).get()));
        return plan(p, t.count());
    }
    plan reduce_planned(arguments args, const reduce_options &o = {}) const {
        const detail::tensors<> t(args.begin(), args.size(), folded_);
        uf_plan *p;
        check(uf_reduce_plan(&p, get(), t.count(), t.data(), detail::c_reduce_options(o).get()));
        return plan(p, t.count());
    }
    plan accumulate_planned(arguments args, int axis = 0, const options &o = {}) const {
        const detail::tensors<> t(args.begin(), args.size(), folded_);
        uf_plan *p;
        check(uf_accumulate_plan(&p, get(), t.count(), t.data(), axis, detail::c_options(o).get()));
        return plan(p, t.count());
    }
    plan forall_planned(const extents &space, arguments args, const options &o = {}) const {
        const detail::tensors<> t(args.begin(), args.size(), UF_MAX_OPERANDS);
        uf_plan *p;
        check(uf_forall_plan(&p, get(), space.count(), space.data(), t.count(), t.data(), detail::c_options(o).get()));
        return plan(p, t.count());
    }

  private:
    template <class Make, class... A> static function made(Make make, A... args) {
        uf_func *func;
        check(make(&func, args...));
        return function(func);
    }
    void single() const {
        if (!get())
            detail::refuse(-1, "func is NULL");
        if (outputs_ != 1)
            detail::refuse(-1, "a function with one output is needed; uf_new makes several");
    }
    // The inputs with an output behind them.
    static std::array<DLTensor, UF_MAX_OPERANDS + 1> with(const detail::tensors<> &inputs, const array &output) {
        std::array<DLTensor, UF_MAX_OPERANDS + 1> all;
        for (int k = 0; k < inputs.count(); k++)
            all[static_cast<std::size_t>(k)] = inputs.data()[k];
        all[static_cast<std::size_t>(inputs.count())] = output.tensor();
        return all;
    }

    int inputs_ = 0, outputs_ = 0, folded_ = 0; // folded_: inputs of a reduction by it
};

} // namespace uf

#endif // UFUNC_HPP
