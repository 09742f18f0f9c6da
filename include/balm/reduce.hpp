#pragma once
// Reductions of vectors and expressions to one host value: sum, min, max. The expression is computed inside
// the reduction's kernel; nothing is stored in between.

#include <cstdint>

#include "balm/expr.hpp"

namespace balm {

namespace array {

enum class reduction : std::uint8_t { sum, min, max };
/// The bits of the result, of the reduction's type.
std::uint64_t reduce(reduction, program&&, scalar result);
/// The type in which elements are added up: booleans are counted in 64 bits, small integers in 32.
constexpr scalar sum_type(scalar s) { return s == scalar::boolean ? scalar::i64 : promote(s); }

}  // namespace array

namespace detail {

template <scalar Result, class A>
auto reduce(array::reduction how, A&& a) {
    using T = typename host_type<Result>::type;
    const std::uint64_t bits = array::reduce(how, begin<array_scalar<A>()>(static_cast<A&&>(a)), Result);
    if constexpr (sizeof(T) == 4 && std::floating_point<T>)
        return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
    else if constexpr (std::floating_point<T>)
        return std::bit_cast<T>(bits);
    else
        return static_cast<T>(bits);
}

}  // namespace detail

/// The sum of all elements; of booleans, how many are true (64 bits). 0 for no elements. The order of the
/// additions depends on the device, not on the run. Blocks.
///
///     double dot = balm::sum(x * y);
template <array_value A>
auto sum(A&& a) {
    return detail::reduce<array::sum_type(detail::array_scalar<A>())>(array::reduction::sum,
                                                                      static_cast<A&&>(a));
}
/// The smallest element; NaNs are passed over. Throws usage_error for no elements. Blocks.
template <array_value A>
auto min(A&& a) {
    return detail::reduce<detail::array_scalar<A>()>(array::reduction::min, static_cast<A&&>(a));
}
/// The largest element; NaNs are passed over. Throws usage_error for no elements. Blocks.
template <array_value A>
auto max(A&& a) {
    return detail::reduce<detail::array_scalar<A>()>(array::reduction::max, static_cast<A&&>(a));
}

}  // namespace balm
