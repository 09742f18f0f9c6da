#pragma once
// convert, convert_sat and bit_cast of device values: OpenCL C's convert_int_sat_rtp(x) and as_int(x), with
// the type as a template argument. Vectors are converted lane by lane: `convert<int>(v)` and
// `convert<int4>(v)` are equivalent for a Float4.

#include "balm/conversion.hpp"
#include "balm/dsl/lanes.hpp"
#include "balm/dsl/value.hpp"

namespace balm::dsl {

using balm::rounding;

namespace detail {

template <device_value A>
using value_type_of = typename value_type<std::remove_cvref_t<A>>::type;
/// The scalar type of a device value, or of each of its lanes.
template <device_value A>
using lane_type_of = typename balm::detail::host_type<strong_scalar<A>()>::type;

/// An operand as a value that can be used more than once: elements (`x[i]`) are read here.
template <device_value A>
Var<value_type_of<A>> held(A&& a) {
    return Var<value_type_of<A>>(static_cast<A&&>(a));
}

/// The scalar type that a conversion's template argument names.
template <class T>
struct converted_lane {};
template <scalar_type T>
struct converted_lane<T> {
    using type = canonical<T>;
};
template <vector_type V>
struct converted_lane<V> {
    using type = typename V::value_type;
    static_assert(!std::same_as<type, half>,
                  "Balm: half is a storage type (Out<half4> …); kernels compute with Float4");
};
template <class T>
using converted_lane_type = typename converted_lane<T>::type;
/// Whether a conversion to T accepts this number of lanes; to a scalar type, any number.
template <class T>
constexpr bool takes_lanes(int lanes) {
    return scalar_type<T> || balm::detail::lanes_of<T> == lanes;
}
/// The result type of converting A to lanes of T.
template <class T, class A>
using converted_var = var_of_lanes<scalar_of<converted_lane_type<T>>, lanes_in<A>()>;

}  // namespace detail

/// x converted to T with a rounding mode. From floating point to integer, every mode converts NaN to 0 and
/// saturates to the range of T; between integers, the bits that fit are kept, as in C++.
///
///     Int whole = convert<int, rounding::down>(x);         // -1.5f -> -2
///     Float below = convert<float, rounding::down>(wide);  // the largest float that is not above the Double
///     Int4 lanes = convert<int4, rounding::up>(v);
template <detail::number T, rounding How = balm::detail::usual_rounding<detail::converted_lane_type<T>>,
          device_value A>
detail::converted_var<T, A> convert(A&& a) {
    static_assert(
        detail::takes_lanes<T>(detail::lanes_in<A>()),
        "Balm: a conversion keeps the number of lanes; write convert<int4>(v) for a v of four lanes");
    return balm::detail::converted<detail::converted_lane_type<T>, How, detail::lane_type_of<A>>(
        detail::held(static_cast<A&&>(a)));
}

/// x as an integer type, saturated to its range.
///
///     UChar pixel = convert_sat<unsigned char, rounding::nearest_even>(255 * light);
///     UChar4 colour = convert_sat<uchar4>(v);
template <detail::number T, rounding How = rounding::toward_zero, device_value A>
detail::converted_var<T, A> convert_sat(A&& a) {
    static_assert(
        detail::takes_lanes<T>(detail::lanes_in<A>()),
        "Balm: a conversion keeps the number of lanes; write convert_sat<int4>(v) for a v of four lanes");
    return balm::detail::saturated<detail::converted_lane_type<T>, How, detail::lane_type_of<A>>(
        detail::held(static_cast<A&&>(a)));
}

namespace detail {

/// The unsigned integer with this number of bytes.
template <std::size_t Bytes>
using unsigned_of_size =
    typename balm::detail::host_type<static_cast<scalar>(Bytes == 1   ? static_cast<int>(scalar::u8)
                                                         : Bytes == 2 ? static_cast<int>(scalar::u16)
                                                         : Bytes == 4 ? static_cast<int>(scalar::u32)
                                                                      : static_cast<int>(scalar::u64))>::type;

/// Unsigned lanes as unsigned lanes of another size, the first in the lowest bits: the layout of all devices.
template <class Lane, int Count, class V>
auto regrouped(const V& v) {
    using from = lane_type_of<V>;
    constexpr int given = lanes_in<V>();
    const auto lane = [&](int k) {
        if constexpr (given == 1)
            return v;
        else
            return Var<from>(v[k]);
    };
    node made[Count];
    for (int k = 0; k < Count; ++k) {
        if constexpr (sizeof(from) > sizeof(Lane)) {
            constexpr int parts = sizeof(from) / sizeof(Lane);
            const int shift = static_cast<int>(8 * sizeof(Lane)) * (k % parts);
            made[k] = trace::read(cast<Lane>(lane(k / parts) >> shift).node());
        } else {
            constexpr int parts = sizeof(Lane) / sizeof(from);
            Var<Lane> whole = cast<Lane>(lane(k * parts));
            for (int p = 1; p < parts; ++p)
                whole = cast<Lane>(whole | cast<Lane>(lane(k * parts + p))
                                               << static_cast<int>(8 * sizeof(from)) * p);
            made[k] = trace::read(whole.node());
        }
    }
    if constexpr (Count == 1)
        return Var<Lane>(made[0]);
    else
        return Var<vec<Lane, Count>>(trace::compose(trace::type(scalar_of<Lane>, Count), made, Count));
}

}  // namespace detail

/// The bits of x as a T of the same size: std::bit_cast for device values. The number of lanes may change;
/// the first lane has the lowest bits, as in memory.
///
///     Int bits = bit_cast<int>(x);       // of a Float
///     Float infinity = bit_cast<float>(Int(0x7f800000));
///     UInt2 words = bit_cast<uint2>(bytes);  // of a UChar8
template <detail::number T, device_value A>
auto bit_cast(A&& a) {
    using to = detail::converted_lane_type<T>;
    using from = detail::lane_type_of<A>;
    constexpr int given = detail::lanes_in<A>();
    constexpr int wanted = balm::detail::lanes_of<T>;
    static_assert(sizeof(to) * wanted == sizeof(from) * given,
                  "Balm: bit_cast<T>(x) needs a T of the same size as x");
    if constexpr (wanted == given) {
        return detail::converted_var<T, A>(
            balm::detail::reinterpreted_as<to, from>(detail::held(static_cast<A&&>(a))));
    } else {
        static_assert(!std::same_as<to, bool> && !std::same_as<from, bool>,
                      "Balm: a Bool has no bits to reinterpret; write cast<T>(x)");
        const auto bits = balm::detail::reinterpreted_as<detail::unsigned_of_size<sizeof(from)>, from>(
            detail::held(static_cast<A&&>(a)));
        const auto regrouped = detail::regrouped<detail::unsigned_of_size<sizeof(to)>, wanted>(bits);
        return detail::var_of_lanes<scalar_of<to>, wanted>(
            balm::detail::reinterpreted_as<to, detail::unsigned_of_size<sizeof(to)>>(regrouped));
    }
}

}  // namespace balm::dsl
