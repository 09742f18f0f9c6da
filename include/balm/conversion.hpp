#pragma once
// Conversions with a rounding mode and with saturation, and reinterpretation of bits, composed of rows of
// builtins.def. Shared by device values (dsl/conversion.hpp) and array expressions
// (expression/operators.hpp).

#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

#include "balm/types.hpp"

namespace balm {

/// How a conversion rounds values that its result type cannot represent. OpenCL C's suffixes: _rte, _rtz,
/// _rtp, _rtn.
enum class rounding {
    nearest_even,  ///< to nearest, ties to even: the default for floating-point results
    toward_zero,   ///< the default for integer results
    up,            ///< towards plus infinity
    down           ///< towards minus infinity
};

namespace detail {

template <scalar_type T>
inline constexpr rounding usual_rounding =
    std::floating_point<T> ? rounding::nearest_even : rounding::toward_zero;

/// x, of host type From, as a T. Calls the functions of x's own kind, device values or arrays.
template <class T, rounding How, class From, class X>
auto converted(X&& x) {
    static_assert(!std::same_as<T, bool>,
                  "Balm: conversions to bool do not round; write cast<bool>(x) or x != 0");
    if constexpr (std::integral<T>) {
        if constexpr (!std::floating_point<From> || How == rounding::toward_zero)
            return cast<T>(static_cast<X&&>(x));
        else if constexpr (How == rounding::nearest_even)
            return cast<T>(rint(static_cast<X&&>(x)));
        else if constexpr (How == rounding::up)
            return cast<T>(ceil(static_cast<X&&>(x)));
        else
            return cast<T>(floor(static_cast<X&&>(x)));
    } else if constexpr (How == rounding::nearest_even || std::same_as<From, bool>) {
        return cast<T>(static_cast<X&&>(x));
    } else if constexpr (sizeof(T) == 4) {
        if constexpr (How == rounding::toward_zero)
            return convert_float_rtz(static_cast<X&&>(x));
        else if constexpr (How == rounding::up)
            return convert_float_rtp(static_cast<X&&>(x));
        else
            return convert_float_rtn(static_cast<X&&>(x));
    } else {
        if constexpr (How == rounding::toward_zero)
            return convert_double_rtz(static_cast<X&&>(x));
        else if constexpr (How == rounding::up)
            return convert_double_rtp(static_cast<X&&>(x));
        else
            return convert_double_rtn(static_cast<X&&>(x));
    }
}

/// The same, with values outside the range of T saturated to its nearest end.
template <class T, rounding How, class From, class X>
auto saturated(X&& x) {
    static_assert(
        std::integral<T> && !std::same_as<T, bool>,
        "Balm: only integers saturate, as floating-point numbers have infinities; write convert<T>(x)");
    if constexpr (std::floating_point<From> || std::same_as<From, bool>) {
        return converted<T, How, From>(static_cast<X&&>(x));  // which saturates
    } else {
        using to = std::numeric_limits<T>;
        using from = std::numeric_limits<From>;
        constexpr bool below = std::cmp_less(from::min(), to::min());
        constexpr bool above = std::cmp_greater(from::max(), to::max());
        if constexpr (below && above)
            return cast<T>(clamp(static_cast<X&&>(x), From{to::min()}, From{to::max()}));
        else if constexpr (below)
            return cast<T>(max(static_cast<X&&>(x), static_cast<From>(to::min())));
        else if constexpr (above)
            return cast<T>(min(static_cast<X&&>(x), static_cast<From>(to::max())));
        else
            return cast<T>(static_cast<X&&>(x));
    }
}

template <class T, class From, class X>
auto reinterpreted_as(X&& x) {
    static_assert(sizeof(T) == sizeof(From), "Balm: bit_cast<T>(x) needs a T of the same size as x");
    static_assert(std::same_as<T, bool> == std::same_as<From, bool>,
                  "Balm: a Bool has no bits to reinterpret; write cast<T>(x)");
    if constexpr (!std::floating_point<T> && !std::floating_point<From>)
        return cast<T>(static_cast<X&&>(x));  // between integers of one size: the same bits
    else if constexpr (scalar_of<T> == scalar::i32)
        return as_int(static_cast<X&&>(x));
    else if constexpr (scalar_of<T> == scalar::u32)
        return as_uint(static_cast<X&&>(x));
    else if constexpr (scalar_of<T> == scalar::i64)
        return as_long(static_cast<X&&>(x));
    else if constexpr (scalar_of<T> == scalar::u64)
        return as_ulong(static_cast<X&&>(x));
    else if constexpr (scalar_of<T> == scalar::f32)
        return as_float(static_cast<X&&>(x));
    else
        return as_double(static_cast<X&&>(x));
}

}  // namespace detail
}  // namespace balm
