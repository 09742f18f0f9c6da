#pragma once
// The order of device numbers of any two types: by value, not as converted to one of the types.

#include <concepts>
#include <limits>
#include <type_traits>

#include "balm/dsl/conversion.hpp"
#include "balm/dsl/operators.hpp"

namespace balm::detail {

/// Whether C represents every value of X.
template <class C, class X>
inline constexpr bool represents_all_of =
    (std::floating_point<C> || (std::integral<X> && std::is_signed_v<X> <= std::is_signed_v<C>)) &&
    std::numeric_limits<X>::digits <= std::numeric_limits<C>::digits;

/// The first of the types that represents all values of A and of B, void if there is none.
template <class A, class B, class... C>
struct first_common {
    using type = void;
};
template <class A, class B, class C, class... Others>
struct first_common<A, B, C, Others...> {
    using type = typename std::conditional_t<represents_all_of<C, A> && represents_all_of<C, B>,
                                             std::type_identity<C>, first_common<A, B, Others...>>::type;
};
/// The type in which all values of A and B compare exactly. It is double only if A or B is: other numbers
/// also compare on devices without doubles.
template <class A, class B>
using exact_common = typename first_common<
    A, B, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float,
    std::conditional_t<std::same_as<A, double> || std::same_as<B, double>, double, float>>::type;

/// Whether a is less than b as mathematics has it, whatever their types: 2^53 is less than 2^53 + 1, also as
/// a double and a 64-bit integer, and -1 is less than every unsigned number. NaNs are greater than all other
/// numbers and equal to each other, so arrays that balm::sort has sorted are ordered, too; -0 equals +0.
template <class A, class B>
dsl::Bool exact_less(const dsl::Var<A>& a, const dsl::Var<B>& b) {
    using namespace dsl;
    using common = exact_common<A, B>;
    if constexpr (std::integral<common>) {
        return cast<common>(a) < cast<common>(b);
    } else if constexpr (std::floating_point<common>) {
        const Var<common> x = cast<common>(a), y = cast<common>(b);
        return !isnan(x) && !(x >= y);
    } else if constexpr (std::floating_point<B>) {
        const B end = static_cast<B>(A{1} << (std::numeric_limits<A>::digits - 1)) * B{2};
        return !(b < end) || a < convert<A, rounding::up>(b);
    } else if constexpr (std::floating_point<A>) {
        const A least = static_cast<A>(std::numeric_limits<B>::min());
        return a < least || (!isnan(a) && convert<B, rounding::down>(a) < b);
    } else if constexpr (std::is_signed_v<A>) {
        return a < A{0} || cast<B>(a) < b;
    } else {
        return b >= B{0} && a < cast<A>(b);
    }
}

}  // namespace balm::detail
