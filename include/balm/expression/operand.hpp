#pragma once
// Concepts of operands of array expressions: vectors, views and expressions, and the host values beside them;
// the types of their elements; and the messages for refused uses.

#include <type_traits>

#include "balm/conversion.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/value.hpp"
#include "balm/types.hpp"

/// Messages for common mistakes with arrays.
#define BALM_MANY_VALUES                                                                                 \
    "Balm: an array is many values, not one: use balm::sum(x) or x[i]; for elementwise functions write " \
    "sin(x), not std::sin(x)"
#define BALM_MANY_CONDITIONS                                                                  \
    "Balm: an expression is many values, not one; use balm::all(x > 0), balm::any(x > 0) or " \
    "select(condition, a, b) instead of if, while and ?:"
#define BALM_HOST_ELEMENTS                                                                               \
    "Balm: these elements are on the host; copy them to the device: balm::vector<float> d(x.context(), " \
    "host)"
#define BALM_NOT_ASSIGNED \
    "Balm: an expression cannot be assigned to; assign to a vector, or to a view of one, that is not const"
#define BALM_CONST_VECTOR                                                                                    \
    "Balm: this vector is const and cannot be assigned to; use one that is not const: balm::vector<float>& " \
    "x, or a [&] or mutable lambda"
#define BALM_NO_STEPS "Balm: arrays have no ++ and --; write y += 1"
#define BALM_DATA                                                                                          \
    "Balm: the elements are on a device; x.to_host() copies them, x.map() maps them, and balm::native(x) " \
    "of <balm/interop.hpp> is the driver's handle"
#define BALM_WHOLE_POSITIONS "Balm: positions must be integers; convert them: x[balm::cast<int>(y)]"
#define BALM_TO_HOST "Balm: write std::vector<float> h = x.to_host()"
#define BALM_WHICH_ELEMENTS \
    "Balm: x[i] is a copy of the element; set an element with x.set(i, value), several with x.map()"

namespace balm {

template <class T>
class vector;
template <class T>
class view;
template <class T, int N>
class sampled_image;
template <class T>
class expr;

namespace detail {

/// The return type of the deleted begin() and end() of arrays, whose elements are on a device: compilers
/// report its name. They are deleted, not BALM_REFUSED, since libraries test whether any type is a range.
struct loop_over_x_to_host_or_x_map;

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<vector<T>> = true;
template <class T>
inline constexpr bool is_expr = false;
template <class T>
inline constexpr bool is_expr<expr<T>> = true;
template <>
inline constexpr bool is_expr<expr<void>> = false;
/// Expressions that can be assigned to: lanes and members of a vector's elements.
template <class T>
inline constexpr bool is_part_of_elements = false;
template <class T>
inline constexpr bool is_view = false;
template <class T>
inline constexpr bool is_view<view<T>> = true;

/// The type that elements of a vector of T have in expressions: `half` is computed as float, and complex
/// types of the same precision are the same type.
template <class T>
struct array_element {
    using type = dsl::detail::loaded_type<dsl::detail::memory_element<T>>;
};
template <scalar_type T>
struct array_element<T> {
    using type = canonical<T>;
};
template <class A>
using element_of = typename array_element<typename std::remove_cvref_t<A>::value_type>::type;

/// The device type of the elements of a vector of T.
template <class T>
trace::type array_type() {
    return type_of_element<dsl::detail::memory_element<T>>();
}
template <scalar_type T>
constexpr trace::type array_type() {
    return scalar_of<T>;
}

}  // namespace detail

/// A vector, a view or an expression.
template <class A>
concept array_value = detail::is_vector<std::remove_cvref_t<A>> || detail::is_view<std::remove_cvref_t<A>> ||
    detail::is_expr<std::remove_cvref_t<A>>;
/// An operand beside one: a host scalar, short vector or complex number, or a call of a function with these.
template <class A>
concept array_operand = array_value<A> || scalar_type<std::remove_cvref_t<A>> || vector_type<A> ||
    complex_type<std::remove_cvref_t<A>> || detail::is_host_call<std::remove_cvref_t<A>>;
template <class... A>
concept array_operands = (array_operand<A> && ...) && (array_value<A> || ...);

namespace detail {

/// Arrays of integers, which can be positions in others.
template <class A>
concept array_of_positions =
    array_value<A> && std::integral<element_of<A>> && !std::same_as<element_of<A>, bool>;
/// Operands that cannot be positions.
template <class A>
concept no_position = std::floating_point<std::remove_cvref_t<A>> ||
    (array_value<A> && !array_of_positions<A>);

/// Host memory of several elements: std::vector, std::array, balm::host_array, a string.
template <class A>
concept host_elements = !array_operand<A> && requires(const std::remove_cvref_t<A>& a) {
    a.data();
    a.size();
};
template <class L, class R>
concept array_beside_host_elements = (array_value<L> && host_elements<R>) ||
                                     (host_elements<L> && array_value<R>);
template <class L, class R>
concept array_beside_what_is_no_number = (array_value<L> && dsl::detail::not_a_number<R>) ||
                                         (dsl::detail::not_a_number<L> && array_value<R>);

/// Operands that cannot be the target of a compound assignment: expressions, and const vectors.
template <class A>
concept never_assigned = (is_expr<std::remove_cvref_t<A>> && !is_part_of_elements<std::remove_cvref_t<A>>) ||
                         (is_vector<std::remove_cvref_t<A>> && std::is_const_v<std::remove_reference_t<A>>);

/// The type of an array's elements if they are scalars, else `nothing`.
template <class A>
constexpr scalar array_scalar() {
    if constexpr (array_value<A>) {
        if constexpr (scalar_type<element_of<A>>) return scalar_of<element_of<A>>;
    }
    return scalar::nothing;
}
/// Whether all of these are scalars, or arrays of scalars.
template <class... A>
constexpr bool are_scalars() {
    return ((array_scalar<A>() != scalar::nothing || scalar_type<std::remove_cvref_t<A>>)&&...);
}

/// Whether one of these is a call with host values only.
template <class... A>
inline constexpr bool have_host_call = (is_host_call<std::remove_cvref_t<A>> || ...);

}  // namespace detail

}  // namespace balm
