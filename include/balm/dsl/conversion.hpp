#pragma once
// convert, convert_sat and bit_cast of device values: OpenCL C's convert_int_sat_rtp(x) and as_int(x), with
// the type as a template argument.

#include "balm/conversion.hpp"
#include "balm/dsl/value.hpp"

namespace balm::dsl {

using balm::rounding;

namespace detail {

template <device_value A>
using value_type_of = typename value_type<std::remove_cvref_t<A>>::type;

/// An operand as a value that may be used more than once: elements (`x[i]`) are read here.
template <device_value A>
Var<value_type_of<A>> held(A&& a) {
    return Var<value_type_of<A>>(static_cast<A&&>(a));
}

}  // namespace detail

/// x as a T, rounded as told. From floating point to integer, NaN gives 0 and what is out of range the
/// nearest end of the range, in every mode; between integers the bits that fit are kept, as in C++.
///
///     Int whole = convert<int, rounding::down>(x);         // -1.5f -> -2
///     Float below = convert<float, rounding::down>(wide);  // the largest float that is not above the Double
template <scalar_type T, rounding How = balm::detail::usual_rounding<T>, device_value A>
Var<canonical<T>> convert(A&& a) {
    return balm::detail::converted<canonical<T>, How, detail::value_type_of<A>>(
        detail::held(static_cast<A&&>(a)));
}

/// x as an integer type; what is beyond its range becomes the nearest end of the range.
///
///     UChar pixel = convert_sat<unsigned char, rounding::nearest_even>(255 * light);
template <scalar_type T, rounding How = rounding::toward_zero, device_value A>
Var<canonical<T>> convert_sat(A&& a) {
    return balm::detail::saturated<canonical<T>, How, detail::value_type_of<A>>(
        detail::held(static_cast<A&&>(a)));
}

/// The bits of x as a T of the same size: std::bit_cast for device values.
///
///     Int bits = bit_cast<int>(x);       // of a Float
///     Float infinity = bit_cast<float>(Int(0x7f800000));
template <scalar_type T, device_value A>
Var<canonical<T>> bit_cast(A&& a) {
    return balm::detail::reinterpreted_as<canonical<T>, detail::value_type_of<A>>(
        detail::held(static_cast<A&&>(a)));
}

}  // namespace balm::dsl
