#pragma once
// Vectors: arrays on one or several devices, operands of expressions.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/context.hpp"
#include "balm/expr.hpp"
#include "balm/host_array.hpp"
#include "balm/view.hpp"

#define BALM_OTHER_ELEMENTS                                                                                  \
    "Balm: the host elements and the vector have different element types; copy the elements to a vector of " \
    "their type and assign it, or convert them on the host"
#define BALM_NOWHERE \
    "Balm: a vector needs a context: balm::context ctx; balm::vector<float> x(ctx, n), or x(ctx, elements)"

namespace balm {

namespace detail {
[[noreturn]] void index_out_of_range(std::size_t index, std::size_t size);
[[noreturn]] void vector_without_device();
const std::shared_ptr<runtime::storage>& no_memory();
}  // namespace detail

namespace array {

std::shared_ptr<vector_state> make_vector(const context&, trace::type, std::size_t size);
/// The same, with the C++ line by which messages name it.
std::shared_ptr<vector_state> make_vector(const context&, trace::type, std::size_t size,
                                          trace::location made_at);
/// A vector for the tape's elements, on its devices; null if it has no elements and names no device.
std::shared_ptr<vector_state> make_vector_like(const tape&, trace::type, trace::location made_at = {});
/// A vector with other elements on the same devices, partitioned by the same weights.
std::shared_ptr<vector_state> make_like(const vector_state&, trace::type, std::size_t size);
/// The same bytes as other elements. Throws usage_error if a device's part is not a whole number of them, or
/// misaligned.
std::shared_ptr<vector_state> reinterpreted(const vector_state&, trace::type, std::size_t alignment);
/// The devices and weights of a vector.
context context_of(const vector_state&);
std::size_t size_of(const vector_state&);
/// Throws usage_error for a vector over several devices.
const std::shared_ptr<runtime::storage>& storage_of(const vector_state&);
/// The elements on each device, in order.
std::vector<balm::detail::memory_part> memory_of(const vector_state&);
std::size_t offset_of(const vector_state&);
void write(vector_state&, std::size_t offset, const void* from, std::size_t count);
void read(const vector_state&, std::size_t offset, void* to, std::size_t count);
void fill(vector_state&, const void* value);
void copy(vector_state& to, const vector_state& from);
/// One kernel: target[i] = tape(i).
void assign(vector_state& target, tape&&);
/// The source of the kernel that assigns the tape to a new vector.
std::string source_of(tape&&, trace::type);
/// Prints the elements; null for a vector without a device.
std::ostream& print(std::ostream&, const vector_state*);
std::ostream& print(std::ostream&, trace::type, const void* elements, std::size_t count);

}  // namespace array

namespace detail {

/// Host memory of contiguous elements of T: std::span, std::array, std::string, host_array …
template <class R, class T>
concept contiguous_range = !array_value<R> && requires(const R& r) {
    { std::data(r) } -> std::convertible_to<const T*>;
    std::size(r);
};
/// Host memory of another element type; elements are not converted in transfers.
template <class R, class T>
concept elements_of_another_type = host_elements<R> && !contiguous_range<R, T> && requires(const R& r) {
    { *r.data() } -> std::convertible_to<T>;
};
/// The C++ line of a call: the default argument of a constructor's last parameter. Programs cannot create
/// another one, so no list or number is mistaken for it.
class call_site {
public:
    static constexpr call_site here(const char* file = __builtin_FILE(),
                                    std::uint32_t line = __builtin_LINE()) {
        return call_site(only_here{}, {file, line});
    }
    constexpr trace::location where() const { return where_; }

private:
    struct only_here {
        explicit only_here() = default;
    };
    constexpr call_site(only_here, trace::location where) : where_(where) {}

    trace::location where_;
};
template <class It, class T>
concept element_iterator = std::forward_iterator<It> && std::convertible_to<std::iter_reference_t<It>, T>;
template <class T, class It>
host_array<T> listed(It first, It last) {
    host_array<T> made{shape(static_cast<std::size_t>(std::distance(first, last)))};
    for (T& each : made) each = static_cast<T>(*first++);
    return made;
}

}  // namespace detail

/// An array of `size()` elements of T on the devices of a context. Over several devices, each has contiguous
/// elements, in proportion to the devices' bandwidths or to the context's weights. T is a scalar, a short
/// vector (balm::float4 …), half, std::complex of float or double, or a structure declared with BALM_STRUCT.
/// Copying is deep; moving is not.
///
///     balm::context ctx;
///     balm::vector<double> a(ctx, {1, 2, 3}), b(ctx, 3);
///     b = 2 * a + 1;
///     std::cout << b.to_host()[2];  // 7
template <class T>
class vector {
    using element = typename detail::array_element<T>::type;
    static_assert(!scalar_type<T> || std::same_as<T, typename dsl::detail::memory_element<T>>,
                  "Balm: use a fixed-width type: std::int8_t for char, std::int64_t for a long or long long "
                  "of 64 bits");

public:
    using value_type = T;
    static constexpr bool kernels_may_read = true;
    static constexpr bool kernels_may_write = true;

    /// No elements, and no device: assign to it.
    vector() = default;
    /// `size` uninitialised elements. Throws out_of_memory_error. Messages about expressions identify the
    /// vector by the line of this call; the same holds for the other constructors.
    vector(const balm::context& where, std::size_t size, detail::call_site from = detail::call_site::here())
        : state_(array::make_vector(where, detail::array_type<T>(), size, from.where())) {}
    /// `size` elements with one value.
    vector(const balm::context& where, std::size_t size, T value,
           detail::call_site from = detail::call_site::here())
        : vector(where, size, from) {
        *this = value;
    }
    /// Copies the elements of host memory.
    vector(const balm::context& where, std::span<const T> elements,
           detail::call_site from = detail::call_site::here())
        : vector(where, elements.size(), from) {
        write(elements);
    }
    vector(const balm::context& where, std::initializer_list<T> elements,
           detail::call_site from = detail::call_site::here())
        : vector(where, std::span<const T>(elements.begin(), elements.size()), from) {}
    template <detail::contiguous_range<T> R>
    vector(const balm::context& where, const R& elements, detail::call_site from = detail::call_site::here())
        : vector(where, std::span<const T>(std::data(elements), std::size(elements)), from) {}
    template <detail::element_iterator<T> It>
    vector(const balm::context& where, It first, It last, detail::call_site from = detail::call_site::here())
        : vector(where, detail::listed<T>(first, last), from) {}
    template <std::same_as<std::vector<bool>> R>
    BALM_REFUSED(
        "Balm: std::vector<bool> stores bits, not elements; pass its begin() and end(), or a "
        "balm::host_array<bool>")
    vector(const balm::context&, const R&);
    template <detail::elements_of_another_type<T> R>
    BALM_REFUSED(BALM_OTHER_ELEMENTS)
    vector(const balm::context& where, const R& elements);
    template <std::integral I>
    BALM_REFUSED(BALM_NOWHERE)
    explicit vector(I size);
    template <detail::contiguous_range<T> R>
    BALM_REFUSED(BALM_NOWHERE)
    vector(const R& elements);  // NOLINT(google-explicit-constructor)
    BALM_REFUSED(BALM_NOWHERE)
    vector(std::initializer_list<T> elements);
    template <std::same_as<balm::device> D, class... A>
    BALM_REFUSED(
        "Balm: a vector needs a context, not a device: balm::context on({device}); balm::vector<float> x(on, "
        "n)")
    vector(const D& device, const A&... elements);
    /// Computes an expression into a new vector of its size, on the devices of its vectors.
    vector(expr<element> e,  // NOLINT(google-explicit-constructor)
           detail::call_site from = detail::call_site::here())
        : state_(array::make_vector_like(e.tape(), detail::array_type<T>(), from.where())) {
        if (state_) array::assign(*state_, std::move(e).tape());
    }

    template <class U>
    requires std::same_as<detail::element_of<view<U>>, element> vector(  // NOLINT
        const view<U>& v, detail::call_site from = detail::call_site::here())
        : vector(expr<element>(v), from) {}

    /// Use as_vector(…).
    explicit vector(std::shared_ptr<array::vector_state> state) : state_(std::move(state)) {}

    vector(const vector& other) { *this = other; }
    vector(vector&& other) noexcept = default;
    ~vector() = default;
    /// Copies the elements, on the device. An empty vector takes the other's size and device.
    vector& operator=(const vector& other) {
        if (this == &other) return *this;
        if (!other.state_)
            state_.reset();
        else if (!state_)
            return *this = vector(expr<element>(other));
        else
            array::copy(*state_, *other.state_);
        return *this;
    }
    vector& operator=(vector&& other) noexcept = default;

    /// Computes the expression for every element, in one kernel. The sizes must be equal; an empty vector
    /// takes the expression's. Throws usage_error.
    template <class A>
    requires array_operand<A> || std::same_as<std::remove_cvref_t<A>, T> vector& operator=(A&& a) {
        if constexpr (detail::have_host_call<A>) {
            return *this = detail::per_element(static_cast<A&&>(a));
        } else if constexpr (!array_value<A>) {
            static_assert(!detail::narrows<A, element>(),
                          "Balm: assigning this would narrow; write cast<T>(…)");
            const T value = detail::host_element<T>(a);
            if (state_) array::fill(*state_, &value);
        } else {
            array::tape_handle list = detail::assigned<T>(static_cast<A&&>(a));
            if (!state_) state_ = array::make_vector_like(*list, detail::array_type<T>());
            if (state_) array::assign(*state_, std::move(*list));
        }
        return *this;
    }

    /// Copies the elements of host memory, which may be reused immediately. Throws usage_error if the sizes
    /// differ, and for a vector without a device.
    template <detail::contiguous_range<T> R>
    vector& operator=(const R& elements) {
        if (!state_) detail::vector_without_device();
        write(std::span<const T>(std::data(elements), std::size(elements)));
        return *this;
    }

    /// The same for a list: `x = {1, 2, 3}`. `x = {}` is `x = balm::vector<T>()`: no elements, and no device.
    vector& operator=(std::initializer_list<T> elements) {
        if (elements.size() == 0) return *this = vector();
        return *this = std::span<const T>(elements.begin(), elements.size());
    }
    template <detail::elements_of_another_type<T> R>
    BALM_REFUSED(BALM_OTHER_ELEMENTS)
    vector& operator=(const R& elements);
    template <dsl::detail::not_a_number A>
    BALM_REFUSED(BALM_NOT_A_NUMBER)
    vector& operator=(A value);
    template <class A>
    requires array_operand<A> || std::same_as<std::remove_cvref_t<A>, T> BALM_REFUSED(BALM_CONST_VECTOR)
    const vector& operator=(A&& a) const;
    template <detail::contiguous_range<T> R>
    BALM_REFUSED(BALM_CONST_VECTOR)
    const vector& operator=(const R& elements) const;
    BALM_REFUSED(BALM_CONST_VECTOR)
    const vector& operator=(std::initializer_list<T> elements) const;

    template <class A>
    requires std::same_as<std::remove_cvref_t<A>, expr<void>> vector& operator=(A&&) {
        static_assert(dsl::detail::always_false<A>,
                      "Balm: the function returns nothing that can be assigned; write balm::eval(…)");
        return *this;
    }

#define BALM_COMPOUND(symbol, id)                                       \
    template <class A>                                                  \
    requires array_operands<vector, A> vector& operator symbol(A&& a) { \
        return *this = apply<builtin::id>(*this, static_cast<A&&>(a));  \
    }
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND
#define BALM_COMPOUND(symbol, id)      \
    template <detail::host_elements A> \
    BALM_REFUSED(BALM_HOST_ELEMENTS)   \
    vector& operator symbol(const A& a);
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND

    std::size_t size() const { return state_ ? array::size_of(*state_) : 0; }
    bool empty() const { return size() == 0; }
    /// The extents: one dimension of size().
    shape extents() const { return shape(size()); }
    /// The devices of the elements, with the weights of the vector's context, if it had some: vectors made on
    /// this context have the same partition. State of a context's own handle, such as print_to and exclusive
    /// use, is not included. Throws usage_error for a vector without a device.
    ///
    ///     balm::vector<int> flags(x.context(), x.size(), 0);
    balm::context context() const { return array::context_of(own_state()); }

    /// A handle to the same elements: assignments to one are visible in the other. A copy, `vector(x)`, has
    /// elements of its own. Move assignment rebinds a handle to other elements. Throws usage_error for a
    /// vector without a device.
    ///
    ///     struct solver { balm::vector<double> x; … };
    ///     solver s{x.share()};
    [[nodiscard]] vector share() const {
        own_state();
        return vector(state_);
    }
    /// A handle to the same bytes as elements of another type. Throws usage_error if a device's part is not a
    /// whole number of these elements, or misaligned for them, and for a vector without a device.
    ///
    ///     balm::vector<balm::float4> fours = floats.template as<balm::float4>();
    template <class U>
    [[nodiscard]] vector<U> as() const {
        return vector<U>(array::reinterpreted(own_state(), detail::array_type<U>(), alignof(U)));
    }
    detail::loop_over_x_to_host_or_x_map begin() const = delete;
    detail::loop_over_x_to_host_or_x_map end() const = delete;
    template <std::same_as<bool> B>
    BALM_REFUSED(
        "Balm: a vector is many values, not one; use balm::all(x), balm::any(x), x.empty() or "
        "select(condition, a, b) instead of if, while and ?:")
    explicit
    operator B() const;
    BALM_REFUSED(BALM_MANY_VALUES)
    operator T() const requires(!std::same_as<T, bool>);  // NOLINT(google-explicit-constructor)
    BALM_REFUSED(BALM_TO_HOST)
    operator std::vector<T>() const;  // NOLINT(google-explicit-constructor)

    BALM_REFUSED(BALM_DATA) T* data() const;
    /// Copies all elements to the host. Blocks.
    [[nodiscard]] host_array<T> to_host() const {
        host_array<T> got{shape(size())};
        read(got);
        return got;
    }
    /// Copies all elements to the caller's memory. Throws usage_error if the sizes differ. Blocks.
    void read(std::span<T> to) const {
        check_size("read", to.size());
        if (state_) array::read(*state_, 0, to.data(), to.size());
    }
    /// Copies all elements from host memory, which may be reused immediately. Throws usage_error if the sizes
    /// differ.
    void write(std::span<const T> from) {
        check_size("write", from.size());
        if (state_) array::write(*state_, 0, from.data(), from.size());
    }
    /// A copy of one element; use set(i, value) to change one, map() to change several. Throws usage_error if
    /// the index is out of range. Blocks.
    detail::copy_of_an_element<T> operator[](std::size_t i) const {
        T value{};
        check_index(i);
        array::read(*state_, i, &value, 1);
        return value;
    }
    /// The elements at the positions that an expression of integers computes, to read and to assign.
    /// Positions are not checked; if one repeats, which value wins is unspecified.
    ///
    ///     y = x[n - 1 - balm::element_index()];
    ///     x[2 * balm::element_index(0, n / 2)] = 0.0;
    template <detail::array_of_positions A>
    view<T> operator[](A&& position) {
        return view<T>({expr<element>(*this).tape(), detail::positions(static_cast<A&&>(position))});
    }
    template <detail::array_of_positions A>
    view<const T> operator[](A&& position) const {
        return view<const T>({expr<element>(*this).tape(), detail::positions(static_cast<A&&>(position))});
    }
    template <detail::no_position A>
    BALM_REFUSED(BALM_WHOLE_POSITIONS)
    view<const T> operator[](A&& position) const;
    /// A range of the elements, to read and to assign: `x(balm::slice(0, n, 2)) = 1.0`.
    view<T> operator()(const array::slice_part& part) { return view<T>(*this, shape(size()))(part); }
    view<const T> operator()(const array::slice_part& part) const {
        return view<const T>(*this, shape(size()))(part);
    }
    template <std::integral... I>
    BALM_REFUSED(BALM_WHICH_ELEMENTS)
    view<T> operator()(I... index) const;
    /// Sets one element. Throws usage_error if the index is out of range.
    void set(std::size_t i, T value) {
        check_index(i);
        array::write(*state_, i, &value, 1);
    }

    /// The elements as a range of a buffer: subranges can be written, read, copied and filled, from iterators
    /// too, and as matrices in regions. The range refers to the same memory and keeps it alive. Throws
    /// usage_error for a vector without a device, or over several devices.
    ///
    ///     x.elements().range(2, 5).write({1, 2, 3});
    ///     x.elements().from(100).copy_to(y.elements().until(n));
    buffer_range<T, access::mixed> elements() const {
        return buffer_range<T, access::mixed>(
            {array::storage_of(own_state()), sizeof(T), shape(size()), byte_offset(), 0, 0, "a vector"});
    }
    /// The elements on each device of the vector's context, in order, as ranges of buffers; some may be
    /// empty. Launch your own kernels on each with `part.device().execute(…)`.
    ///
    ///     for (const auto& part : x.parts()) part.device().execute(scale(2.0, part), {part.size()});
    std::vector<buffer_range<T, access::mixed>> parts() const {
        std::vector<buffer_range<T, access::mixed>> list;
        if (!state_) return list;
        for (detail::memory_part& part : array::memory_of(*state_)) list.emplace_back(std::move(part));
        return list;
    }
    /// Maps the elements into host memory, to read and to write. Blocks; see balm::mapped.
    ///
    ///     for (double& value : x.map()) value += 1;
    mapped<T> map() const { return elements().map(); }

    /// Prints the elements in braces, in the format of the stream; of more than 20 the first and last ones.
    /// Blocks.
    friend std::ostream& operator<<(std::ostream& to, const vector& x) {
        return array::print(to, x.state_.get());
    }
    friend void swap(vector& a, vector& b) noexcept { a.state_.swap(b.state_); }

    const std::shared_ptr<array::vector_state>& state() const { return state_; }
    /// The memory, for kernels; null for a vector without a device. Throws usage_error for a vector over
    /// several devices.
    const std::shared_ptr<runtime::storage>& storage() const {
        return state_ ? array::storage_of(*state_) : detail::no_memory();
    }
    /// The offset of the first element in the memory, in bytes: 0 except for as_vector(…).
    std::size_t byte_offset() const { return state_ ? array::offset_of(*state_) : 0; }
    /// The size of the elements in bytes.
    std::size_t size_bytes() const { return size() * sizeof(T); }

private:
    array::vector_state& own_state() const {
        if (!state_) detail::vector_without_device();
        return *state_;
    }
    void check_size(const char* what, std::size_t host) const {
        if (host != size()) detail::buffer_size_mismatch(what, shape(size()), host);
    }
    void check_index(std::size_t i) const {
        if (i >= size()) detail::index_out_of_range(i, size());
    }

    std::shared_ptr<array::vector_state> state_;
};

template <class T>
host_array<T> expr<T>::to_host() const {
    host_array<T> got(extents());
    vector<T>(*this).read(got);
    return got;
}

/// Prints the elements of host memory like those of a vector.
template <class T>
std::ostream& operator<<(std::ostream& to, const host_array<T>& x) {
    return array::print(to, detail::array_type<T>(), x.data(), x.size());
}
/// Computes a view or expression, and prints its elements like those of a vector. Blocks.
template <array_value A>
requires(!detail::is_vector<A>) std::ostream& operator<<(std::ostream& to, const A& a) {
    using element = detail::element_of<A>;
    array::tape_handle list = detail::assigned<element>(a);
    const auto computed = array::make_vector_like(*list, detail::array_type<element>());
    if (computed) array::assign(*computed, std::move(*list));
    return array::print(to, computed.get());
}

/// A vector of the same size as another, or of `size`, uninitialised, on the same devices; with the same
/// size, in the same partition. Throws usage_error for a vector without a device, and out_of_memory_error.
///
///     auto y = balm::make_like(x);           // of x's type
///     auto flags = balm::make_like<bool>(x);
template <class U = void, class T>
[[nodiscard]] auto make_like(const vector<T>& model, std::size_t size) {
    using element = std::conditional_t<std::is_void_v<U>, T, U>;
    if (!model.state()) detail::vector_without_device();
    return vector<element>(array::make_like(*model.state(), detail::array_type<element>(), size));
}
template <class U = void, class T>
[[nodiscard]] auto make_like(const vector<T>& model) {
    return make_like<U>(model, model.size());
}

/// The vector as a table in constant memory, to be read at positions: fastest if the work-items of a group
/// read the same element at the same time. It is read from global memory if constant memory has no room for
/// it, if the expression also reads or writes it elsewhere, and always on CUDA, whose read-only cache serves
/// such reads.
///
///     y = balm::constant_memory(weights)[balm::element_index() / 1024] * x;
template <class T>
expr<detail::element_of<vector<T>>> constant_memory(const vector<T>& x) {
    array::tape_handle list;
    list->push_constant_memory(x.state());
    return expr<detail::element_of<vector<T>>>(std::move(list));
}

/// The program that computes an expression into a new vector, as the device's compiler receives it: OpenCL C
/// or CUDA C++. Nothing is launched except for materialised operands. If vectors are over several devices, it
/// is the first device's program; the vectors must then have elements. Throws usage_error as an assignment
/// would.
///
///     std::cout << balm::generated_source(2 * x + sin(y));
template <array_value A>
std::string generated_source(A&& a) {
    using element = detail::element_of<A>;
    return array::source_of(detail::assigned<element>(static_cast<A&&>(a)), detail::array_type<element>());
}

}  // namespace balm
