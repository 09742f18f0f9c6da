#pragma once
// What stands in array expressions, for the compiler to choose by: vectors, views and expressions, the host
// values beside them, of what type their elements are, and what is refused with a sentence.

#include <type_traits>

#include "balm/conversion.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/value.hpp"
#include "balm/types.hpp"

/// What a beginner's mistakes with arrays are answered with.
#define BALM_MANY_VALUES                                                                              \
    "Balm: an array is many values, not one: balm::sum(x) or x[i] is one; functions of elements are " \
    "Balm's: sin(x), not std::sin(x)"
#define BALM_MANY_CONDITIONS                                                                  \
    "Balm: an expression is many values, not one; use balm::all(x > 0), balm::any(x > 0) or " \
    "select(condition, a, b) instead of if, while and ?:"
#define BALM_HOST_ELEMENTS                                                                               \
    "Balm: these elements are on the host; copy them to the device: balm::vector<float> d(x.context(), " \
    "host)"
#define BALM_NOT_ASSIGNED                                                                              \
    "Balm: an expression is computed, not assigned to; assign to a vector, or to a view of one, that " \
    "is not const"
#define BALM_CONST_VECTOR                                                                                    \
    "Balm: this vector is const, so it is only read; assign to one that is not: balm::vector<float>& x, or " \
    "a [&] or mutable lambda"
#define BALM_NO_STEPS "Balm: arrays have no ++ and --; write y += 1"
#define BALM_DATA                                                                                          \
    "Balm: the elements are on a device; x.to_host() copies them, x.map() maps them, and balm::native(x) " \
    "of <balm/interop.hpp> is the driver's handle"
#define BALM_WHOLE_POSITIONS "Balm: positions are integers; convert them: x[balm::cast<int>(y)]"
#define BALM_TO_HOST "Balm: write std::vector<float> h = x.to_host()"
#define BALM_WHICH_ELEMENTS \
    "Balm: x[i] is the value of an element; set one by x.set(i, value), several at once in x.map()"

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

/// What begin() of an array would give, for the compiler to say: elements are on a device. Deleted, not
/// BALM_REFUSED, since libraries ask of any type whether it is a range.
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
/// Expressions that are assigned to: lanes and members of a vector's elements.
template <class T>
inline constexpr bool is_part_of_elements = false;
template <class T>
inline constexpr bool is_view = false;
template <class T>
inline constexpr bool is_view<view<T>> = true;

/// What the elements of a vector of T are in expressions: `half` is computed with as float, and all complex
/// types of one precision are one.
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

/// The device's type for the elements of a vector of T.
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
/// What may stand beside one: a host scalar, short vector or complex number, or a function's call with these.
template <class A>
concept array_operand = array_value<A> || scalar_type<std::remove_cvref_t<A>> || vector_type<A> ||
    complex_type<std::remove_cvref_t<A>> || detail::is_host_call<std::remove_cvref_t<A>>;
template <class... A>
concept array_operands = (array_operand<A> && ...) && (array_value<A> || ...);

namespace detail {

/// Arrays of integers, which are positions in others.
template <class A>
concept array_of_positions =
    array_value<A> && std::integral<element_of<A>> && !std::same_as<element_of<A>, bool>;
/// What is written where positions are wanted, and is none.
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

/// What a compound assignment never changes: expressions, and vectors that are const.
template <class A>
concept never_assigned = (is_expr<std::remove_cvref_t<A>> && !is_part_of_elements<std::remove_cvref_t<A>>) ||
                         (is_vector<std::remove_cvref_t<A>> && std::is_const_v<std::remove_reference_t<A>>);

/// The type of an array's elements, where they are scalars.
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

/// Whether one of these is a call with host values alone.
template <class... A>
inline constexpr bool have_host_call = (is_host_call<std::remove_cvref_t<A>> || ...);

}  // namespace detail

}  // namespace balm
