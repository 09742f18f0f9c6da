#pragma once
// Functions with two results. OpenCL C returns the second through a pointer; Balm returns both as values.
//
//     auto [mantissa, exponent] = frexp(x);
//
// For vectors both results are vectors.

#include "balm/dsl/lanes.hpp"
#include "balm/dsl/value.hpp"

namespace balm::dsl {

namespace detail {

/// An Int, or a vector of ints with as many lanes as T.
template <number T>
using int_beside = var_of_lanes<scalar::i32, balm::detail::lanes_of<T>>;

}  // namespace detail

/// The result of frexp: value == mantissa * 2^exponent, 0.5 <= |mantissa| < 1. For 0, infinities and NaN the
/// mantissa is the value itself and the exponent is 0.
template <detail::number T>
struct frexp_parts {
    Var<T> mantissa;
    detail::int_beside<T> exponent;
};
/// The result of modf: value == fraction + whole, both with the value's sign.
template <detail::number T>
struct modf_parts {
    Var<T> fraction, whole;
};
/// The result of fract_floor: fract(x) and floor(x).
template <detail::number T>
struct fract_parts {
    Var<T> fraction, floor;
};
/// The result of remquo: remainder(x, y), and the low seven bits of the rounded quotient with its sign (0 if
/// the remainder is NaN).
template <detail::number T>
struct remquo_parts {
    Var<T> remainder;
    detail::int_beside<T> quotient;
};
/// The result of sincos: sin(x) and cos(x), bit for bit.
template <detail::number T>
struct sincos_parts {
    Var<T> sine, cosine;
};
/// The result of lgamma_r: lgamma(x), and the sign of gamma(x): 1 or -1.
template <detail::number T>
struct lgamma_parts {
    Var<T> value;
    detail::int_beside<T> sign;
};

namespace detail {

/// The operand of a floating-point function as a variable, for repeated use; integers become f64.
template <scalar Strong, class A>
auto held_floating(A&& a) {
    constexpr scalar own = operand_scalar<builtin::trunc, A>(Strong);
    return var_of < is_floating(own) ? own : scalar::f64 > (static_cast<A&&>(a));
}
template <device_value A>
auto held_floating(A&& a) {
    if constexpr (lanes_in<A>() > 1)
        return as_vector(static_cast<A&&>(a));
    else
        return held_floating<strong_scalar<A>()>(static_cast<A&&>(a));
}
template <class V>
using element_of = typename std::remove_cvref_t<V>::value_type;

}  // namespace detail

/// Mantissa and exponent: after `auto [m, e] = frexp(x);`, x == ldexp(m, e).
template <device_value A>
auto frexp(A&& a) {
    const auto x = detail::held_floating(static_cast<A&&>(a));
    return frexp_parts<detail::element_of<decltype(x)>>{frexp_mantissa(x), frexp_exponent(x)};
}
/// The fraction and the whole part, both with the sign of x: `auto [part, whole] = modf(x);`
template <device_value A>
auto modf(A&& a) {
    const auto x = detail::held_floating(static_cast<A&&>(a));
    return modf_parts<detail::element_of<decltype(x)>>{modf_fraction(x), trunc(x)};
}
/// x - floor(x) and floor(x): OpenCL C's fract with a pointer argument.
template <device_value A>
auto fract_floor(A&& a) {
    const auto x = detail::held_floating(static_cast<A&&>(a));
    return fract_parts<detail::element_of<decltype(x)>>{fract(x), floor(x)};
}
/// The remainder of x / y rounded to the nearest integer, and the low bits of that integer:
/// `auto [r, q] = remquo(x, y);`
template <class A, class B>
requires device_operands<A, B>
auto remquo(A&& a, B&& b) {
    if constexpr (detail::common_lanes<A, B>() > 1) {
        constexpr scalar element = detail::lane_scalar<A, B>();
        const detail::var_of_lanes<element, detail::common_lanes<A, B>()> x(static_cast<A&&>(a)),
            y(static_cast<B&&>(b));
        return remquo_parts<detail::element_of<decltype(x)>>{remainder(x, y), remquo_quotient(x, y)};
    } else {
        constexpr scalar strong = detail::strong_of<A, B>();
        constexpr scalar common =
            balm::detail::result_of(builtin::remainder, detail::operand_scalar<builtin::remainder, A>(strong),
                                    detail::operand_scalar<builtin::remainder, B>(strong));
        const var_of<common> x(static_cast<A&&>(a)), y(static_cast<B&&>(b));
        return remquo_parts<detail::element_of<decltype(x)>>{remainder(x, y), remquo_quotient(x, y)};
    }
}
/// Sine and cosine of one angle: `auto [s, c] = sincos(x);`
template <device_value A>
auto sincos(A&& a) {
    const auto x = detail::held_floating(static_cast<A&&>(a));
    return sincos_parts<detail::element_of<decltype(x)>>{sin(x), cos(x)};
}
/// The logarithm of |gamma(x)| and the sign of gamma(x): `auto [value, sign] = lgamma_r(x);`
template <device_value A>
auto lgamma_r(A&& a) {
    const auto x = detail::held_floating(static_cast<A&&>(a));
    return lgamma_parts<detail::element_of<decltype(x)>>{lgamma(x), lgamma_sign(x)};
}

}  // namespace balm::dsl
