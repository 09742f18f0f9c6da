#pragma once
// The type of array expressions: a tape of steps in postfix order (balm/tape.hpp) with the type of its
// elements. Operators append to it in place; assignment or reduction computes it in one fused kernel.

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/expression/operand.hpp"
#include "balm/host_array.hpp"
#include "balm/refused.hpp"
#include "balm/shape.hpp"
#include "balm/shared_state.hpp"
#include "balm/tape.hpp"

namespace balm {

namespace detail {

/// Appends a vector. A vector without a device counts as empty.
template <class T>
void append_vector(array::tape& list, const vector<T>& v) {
    if (v.state()) [[likely]]
        list.push_vector(v.state());
    else
        list.push_no_elements(array_type<element_of<vector<T>>>());
}

}  // namespace detail

/// An expression whose elements are of type T: a scalar, a short vector, complex_value of float or double, or
/// a structure declared with BALM_STRUCT. It keeps its vectors alive. After `auto e = a + b;`, an assignment
/// of e uses the vectors' values at that time.
template <class T>
class [[nodiscard("Balm: an expression computes nothing until it is assigned: y = x + 1")]] expr {
public:
    using value_type = T;
    static_assert(std::same_as<T, typename detail::array_element<T>::type>);

    /// Use a + b, balm::argument(…) or balm::constant(…).
    explicit expr(array::tape_handle && list) : list_(std::move(list)) {}
    template <class U>
    requires std::same_as<detail::element_of<vector<U>>, T> expr(const vector<U>& v) {  // NOLINT
        detail::append_vector(*list_, v);
    }
    template <class U>
    requires std::same_as<detail::element_of<view<U>>, T> expr(const view<U>& v)  // NOLINT
        : list_(array::read(v.what())) {}

    /// Whether a vector, a view or element_index(offset, size) in it determines the number of elements.
    /// Scalars, element_index() and memory that functions take do not.
    bool has_extents() const { return tape().size >= 0; }
    /// The extents: those of a view in it with several dimensions, else one dimension. Throws usage_error if
    /// nothing in it determines the number of elements.
    ///
    ///     auto image = balm::view(2 * x - y, (2 * x - y).extents());
    shape extents() const { return array::box_of(tape()); }
    /// The number of elements. Throws usage_error if nothing in it determines it.
    std::size_t size() const { return extents().count(); }
    /// Computes the elements and returns them in the expression's extents. Blocks. Throws usage_error if
    /// nothing in it determines the number of elements.
    ///
    ///     std::vector<float> sums = (x + y).to_host();
    [[nodiscard]] host_array<T> to_host() const;

    /// Whether a function in it takes memory that it may write (InOut<T>, Out<T>, Ptr<T>). Such an expression
    /// can be assigned or evaluated, but not reduced.
    bool writes_memory() const { return tape().writes_memory; }

    const array::tape& tape() const& { return *list(); }
    array::tape&& tape()&& { return std::move(*list()); }
    const array::tape_handle& handle() const& { return list(); }
    array::tape_handle&& handle()&& { return std::move(list()); }

    /// The elements at the positions in an array of integers: `(a * b)[n - 1 - balm::element_index()]`.
    /// Positions are not checked.
    template <detail::array_of_positions A>
    view<const T> operator[](A&& position) const;

    template <std::same_as<bool> B>
    requires(!std::same_as<T, B>) BALM_REFUSED(BALM_MANY_CONDITIONS)
    explicit operator B() const;
    BALM_REFUSED(BALM_MANY_CONDITIONS)
    operator T() const requires std::same_as<T, bool>;  // NOLINT(google-explicit-constructor)
    BALM_REFUSED(BALM_MANY_VALUES)
    operator T() const requires(!std::same_as<T, bool>);  // NOLINT(google-explicit-constructor)
    template <std::integral I>
    BALM_REFUSED(
        "Balm: an expression does not store elements; assign it, balm::vector<float> z = x + y, and read z[i], or write z.set(i, value)")
    T operator[](I index) const;
    template <detail::no_position A>
    BALM_REFUSED(BALM_WHOLE_POSITIONS)
    expr operator[](A&& position) const;
    template <class A>
    requires(!std::same_as<std::remove_cvref_t<A>, expr>) BALM_REFUSED(BALM_NOT_ASSIGNED)
    expr& operator=(A&& a);
    BALM_REFUSED(BALM_DATA) T* data() const;
    BALM_REFUSED(BALM_TO_HOST)
    operator std::vector<T>() const;  // NOLINT(google-explicit-constructor)
    detail::loop_over_x_to_host_or_x_map begin() const = delete;
    detail::loop_over_x_to_host_or_x_map end() const = delete;

private:
    /// Throws usage_error after a move, which may take the tape or only its steps.
    const array::tape_handle& list() const {
        if ((*list_).steps.size() == 0) [[unlikely]]
            detail::moved_from("an expression");
        return list_;
    }
    array::tape_handle& list() { return const_cast<array::tape_handle&>(std::as_const(*this).list()); }

    array::tape_handle list_;
};

/// A call of a function without a result; only balm::eval accepts it.
template <>
class [[nodiscard("Balm: the call is lazy; run it with balm::eval(f(x))")]] expr<void> {
public:
    explicit expr(array::tape && list) : tape_(std::move(list)) {}

    const array::tape& tape() const& { return tape_; }
    array::tape&& tape()&& { return std::move(tape_); }

private:
    array::tape tape_;
};

namespace detail {

/// The operand; a call with host values only is converted to an expression.
template <class A>
A&& per_element(A&& a) {
    return static_cast<A&&>(a);
}
template <class A>
requires is_host_call<std::remove_cvref_t<A>>
auto per_element(A&& a) {
    return expr<typename std::remove_cvref_t<A>::value_type>(
        array::tape_handle(array::tape(a.expression().list())));
}

}  // namespace detail

}  // namespace balm
