#pragma once
// Vectors: arrays on a device that stand in expressions.

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "balm/context.hpp"
#include "balm/expr.hpp"
#include "balm/host_array.hpp"

namespace balm {

namespace detail {
[[noreturn]] void index_out_of_range(std::size_t index, std::size_t size);
[[noreturn]] void vector_without_device();
}  // namespace detail

namespace array {

std::shared_ptr<vector_state> make_vector(const context&, scalar type, std::size_t size);
std::shared_ptr<vector_state> make_vector_like(const program&, scalar type);
std::size_t size_of(const vector_state&);
const std::shared_ptr<runtime::storage>& storage_of(const vector_state&);
std::size_t offset_of(const vector_state&);
void write(vector_state&, std::size_t offset, const void* from, std::size_t count);
void read(const vector_state&, std::size_t offset, void* to, std::size_t count);
void fill(vector_state&, const void* value);
void copy(vector_state& to, const vector_state& from);
/// One kernel: target[i] = program(i).
void assign(vector_state& target, program&&);

}  // namespace array

/// An array of `size()` elements of T on the device of a context. Copying is deep; moving is not.
///
///     balm::context ctx;
///     balm::vector<double> a(ctx, {1, 2, 3}), b(ctx, 3);
///     b = 2 * a + 1;
///     std::cout << b.to_host()[2];  // 7
template <scalar_type T>
class vector {
    static_assert(std::same_as<T, canonical<T>>, "Balm: write the fixed-width type (std::int64_t, not long)");

public:
    using value_type = T;
    static constexpr bool kernels_may_read = true;
    static constexpr bool kernels_may_write = true;

    /// No elements, and no device: assign to it.
    vector() = default;
    /// `size` elements, not set. Throws out_of_memory_error.
    vector(const context& where, std::size_t size) : state_(array::make_vector(where, scalar_of<T>, size)) {}
    /// `size` elements of one value.
    vector(const context& where, std::size_t size, T value) : vector(where, size) { *this = value; }
    /// The elements of host memory, copied.
    vector(const context& where, std::span<const T> elements) : vector(where, elements.size()) {
        write(elements);
    }
    vector(const context& where, std::initializer_list<T> elements)
        : vector(where, std::span<const T>(elements.begin(), elements.size())) {}
    vector(const context& where, const std::vector<T>& elements) requires(!std::same_as<T, bool>)
        : vector(where, std::span<const T>(elements)) {}
    /// As many elements as the expression, on the device of its vectors, computed.
    vector(expr<T> e) : state_(array::make_vector_like(e.program(), scalar_of<T>)) {  // NOLINT
        array::assign(*state_, std::move(e).program());
    }

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
            return *this = vector(expr<T>(other));
        else
            array::copy(*state_, *other.state_);
        return *this;
    }
    vector& operator=(vector&& other) noexcept = default;

    /// Computes the expression for every element, in one kernel. The sizes must be equal; an empty vector
    /// takes the expression's. Throws usage_error.
    template <class A>
    requires array_operands<A> || scalar_type<std::remove_cvref_t<A>> vector& operator=(A&& a) {
        if constexpr (scalar_type<std::remove_cvref_t<A>>) {
            static_assert(kind_of(scalar_of<std::remove_cvref_t<A>>) <= kind_of(scalar_of<T>),
                          "Balm: assigning this to the vector would narrow (floating to integer, integer to "
                          "bool); write cast<T>(…)");
            const T value = static_cast<T>(a);
            if (state_) array::fill(*state_, &value);
        } else {
            static_assert(kind_of(detail::array_scalar<A>()) <= kind_of(scalar_of<T>),
                          "Balm: assigning this to the vector would narrow (floating to integer, integer to "
                          "bool); write cast<T>(…)");
            array::program list = detail::begin<detail::array_scalar<A>()>(static_cast<A&&>(a));
            if (!state_) state_ = array::make_vector_like(list, scalar_of<T>);
            array::assign(*state_, std::move(list));
        }
        return *this;
    }

#define BALM_COMPOUND(symbol, id)                                       \
    template <class A>                                                  \
    requires array_operands<vector, A> vector& operator symbol(A&& a) { \
        return *this = apply<builtin::id>(*this, static_cast<A&&>(a));  \
    }
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND

    std::size_t size() const { return state_ ? array::size_of(*state_) : 0; }
    bool empty() const { return size() == 0; }

    /// Copies all elements to the host. Blocks.
    host_array<T> to_host() const {
        host_array<T> got{shape(size())};
        read(got);
        return got;
    }
    /// Copies all elements to the caller's memory of the same size. Blocks.
    void read(std::span<T> to) const {
        check_size("read", to.size());
        if (state_) array::read(*state_, 0, to.data(), to.size());
    }
    /// Copies all elements from host memory of the same size; it may be reused at once.
    void write(std::span<const T> from) {
        check_size("write", from.size());
        if (state_) array::write(*state_, 0, from.data(), from.size());
    }
    /// The value of one element. Blocks.
    T operator[](std::size_t i) const {
        T value{};
        check_index(i);
        array::read(*state_, i, &value, 1);
        return value;
    }
    /// The elements at the positions that an expression of integers gives, which may be in any order, and of
    /// any number: `y = x[n - 1 - balm::element_index()]`. Positions are not checked.
    template <array_value A>
    expr<T> operator[](A&& position) const {
        static_assert(kind_of(detail::array_scalar<A>()) == scalar_kind::integer,
                      "Balm: positions are integers");
        array::program list;
        list.push_memory(state_, scalar_of<T>);
        detail::append<detail::array_scalar<A>()>(list, position);
        array::step s;
        s.what = array::step::kind::element;
        s.type = scalar_of<T>;
        s.arity = 2;
        list.push(s);
        return expr<T>(std::move(list));
    }
    /// Sets one element.
    void set(std::size_t i, T value) {
        check_index(i);
        array::write(*state_, i, &value, 1);
    }

    /// The elements as those of a buffer: ranges of them to write, read, copy and fill, from iterators too,
    /// and as matrices in regions. They are the same memory, which the range keeps. Throws usage_error for a
    /// vector without a device.
    ///
    ///     x.elements().range(2, 5).write({1, 2, 3});
    ///     x.elements().from(100).copy_to(y.elements().until(n));
    buffer_range<T, access::mixed> elements() const {
        if (!state_) detail::vector_without_device();
        return buffer_range<T, access::mixed>(
            {array::storage_of(*state_), sizeof(T), shape(size()), byte_offset(), 0, 0, "a vector"});
    }
    /// Maps the elements into the host's memory, to read and to write, and waits; see balm::mapped.
    ///
    ///     for (double& value : x.map()) value += 1;
    mapped<T> map() const { return elements().map(); }

    friend void swap(vector& a, vector& b) noexcept { a.state_.swap(b.state_); }

    const std::shared_ptr<array::vector_state>& state() const { return state_; }
    /// The memory, as kernels take it.
    const std::shared_ptr<runtime::storage>& storage() const {
        check_index(0);
        return array::storage_of(*state_);
    }
    /// Where it begins in that, in bytes: 0 but for as_vector(…).
    std::size_t byte_offset() const { return state_ ? array::offset_of(*state_) : 0; }
    /// Bytes that the elements take on the device.
    std::size_t size_bytes() const { return size() * sizeof(T); }

private:
    void check_size(const char* what, std::size_t host) const {
        if (host != size()) detail::buffer_size_mismatch(what, shape(size()), host);
    }
    void check_index(std::size_t i) const {
        if (i >= size()) detail::index_out_of_range(i, size());
    }

    std::shared_ptr<array::vector_state> state_;
};

}  // namespace balm
