#pragma once
// Appending operands to the tape of an expression: vectors, other expressions, views, and host scalars,
// converted as C++ would convert them beside the other operands.

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "balm/builtin.hpp"
#include "balm/conversion.hpp"
#include "balm/expression/expression.hpp"
#include "balm/tape.hpp"

namespace balm::detail {

template <class A>
constexpr operand_type type_of_operand() {
    if constexpr (array_value<A>)
        return {array_scalar<A>()};
    else
        return {scalar_of<std::remove_cvref_t<A>>, true};
}
template <class... A>
constexpr scalar array_strong() {
    return strong_type({type_of_operand<A>()...});
}
template <class A>
constexpr scalar array_entering(scalar strong) {
    return entering_type(type_of_operand<A>(), strong);
}
template <builtin B, class A>
constexpr scalar array_entering(scalar strong) {
    return entering_type(B, type_of_operand<A>(), strong);
}
[[noreturn]] void array_scalar_does_not_fit(scalar type);
[[noreturn]] void array_scalar_wraps(scalar type, std::uint64_t value);
/// Refuses a host value beyond the range of the signed type to which it is converted.
template <scalar Entering, class A>
void refuse_wrapping([[maybe_unused]] const A& value) {
    if constexpr (std::integral<A>)
        if (wraps_as<typename host_type<Entering>::type>(value))
            array_scalar_wraps(Entering, static_cast<std::uint64_t>(value));
}

template <scalar Entering, class A>
std::uint64_t entering_bits(A value) {
    using T = typename host_type<Entering>::type;
    if (!dsl::detail::fits<T>(value)) array_scalar_does_not_fit(Entering);
    return dsl::detail::bits_of(static_cast<T>(value));
}

/// Appends an operand of any kind.
template <scalar Entering, class A>
void append(array::tape& list, A&& a) {
    using plain = std::remove_cvref_t<A>;
    if constexpr (is_vector<plain>)
        append_vector(list, a);
    else if constexpr (is_expr<plain>)
        list.append(static_cast<A&&>(a).tape());
    else if constexpr (is_view<plain>)
        list.append(array::read(a.what()));
    else
        list.push_value(array::step::kind::scalar, Entering, entering_bits<Entering>(a));
}
/// The tape to append to: that of the first operand if it is an expression, reused if that is an rvalue.
template <scalar Entering, class A>
array::tape_handle begin(A&& a) {
    if constexpr (is_expr<std::remove_cvref_t<A>>)
        return static_cast<A&&>(a).handle();
    else {
        array::tape_handle list;
        append<Entering>(*list, a);
        return list;
    }
}

template <scalar S>
using expr_of = expr<typename host_type<S>::type>;

template <builtin B, scalar Strong, class First, class... Rest>
array::tape_handle joined(First&& first, Rest&&... rest) {
    if constexpr (!takes_bit_patterns(B)) {
        refuse_wrapping<array_entering<B, First>(Strong)>(first);
        (refuse_wrapping<array_entering<B, Rest>(Strong)>(rest), ...);
    }
    array::tape_handle list = begin<array_entering<B, First>(Strong)>(static_cast<First&&>(first));
    (append<array_entering<B, Rest>(Strong)>(*list, static_cast<Rest&&>(rest)), ...);
    return list;
}

}  // namespace balm::detail
