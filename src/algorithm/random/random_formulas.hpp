#pragma once
// The formulas behind balm::uniform and balm::normal, written once for host numbers and for recorded device
// numbers: U is std::uint32_t or UInt.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include "balm/dsl/conversion.hpp"
#include "balm/dsl/value.hpp"

namespace balm::random {

/// The number types of the host, and of a kernel.
struct on_host {
    using u32 = std::uint32_t;
    using i32 = std::int32_t;
    using u64 = std::uint64_t;
    using i64 = std::int64_t;
    using f32 = float;
    using f64 = double;
};
struct on_device {
    using u32 = dsl::UInt;
    using i32 = dsl::Int;
    using u64 = dsl::ULong;
    using i64 = dsl::Long;
    using f32 = dsl::Float;
    using f64 = dsl::Double;
};

inline std::uint32_t rotate(std::uint32_t a, std::uint32_t by) { return std::rotl(a, static_cast<int>(by)); }
inline float fma(float a, float b, float c) { return std::fma(a, b, c); }
inline double fma(double a, double b, double c) { return std::fma(a, b, c); }
inline float sqrt(float a) { return std::sqrt(a); }
inline double sqrt(double a) { return std::sqrt(a); }
inline float clamp(float a, float least, float most) { return std::fmin(std::fmax(a, least), most); }

/// A number converted to another type, and its bits reinterpreted as one.
template <class To, class From>
To as(const From& value) {
    if constexpr (dsl::device_value<From>)
        return To(dsl::cast<typename To::value_type>(value));
    else
        return static_cast<To>(value);
}
template <class To, class From>
To bits_as(const From& value) {
    if constexpr (dsl::device_value<From>)
        return To(dsl::bit_cast<typename To::value_type>(value));
    else
        return std::bit_cast<To>(value);
}
template <class C, class T>
T choose(const C& condition, const T& if_true, const T& if_false) {
    if constexpr (dsl::device_value<T>)
        return T(dsl::select(condition, if_true, if_false));
    else
        return condition ? if_true : if_false;
}

template <class U>
using block = std::array<U, 4>;

/// In 64 bits, so that compilers see one multiplication: GPUs have one that yields the whole product, and
/// PoCL's mul_hi is a slow function.
template <class W>
typename W::u64 product(const typename W::u32& a, std::uint32_t b) {
    return typename W::u64(as<typename W::u64>(a) * std::uint64_t{b});
}

template <class W, class U = typename W::u32>
block<U> philox4x32(block<U> counter, std::array<U, 2> key) {
    constexpr std::uint32_t multipliers[] = {0xD2511F53u, 0xCD9E8D57u};
    constexpr std::uint32_t steps[] = {0x9E3779B9u, 0xBB67AE85u};  // the golden ratio, and sqrt(3) - 1
    const auto high = [](const typename W::u64& x) { return as<U>(typename W::u64(x >> 32)); };
    for (int round = 0; round < 10; ++round) {
        const auto first = product<W>(counter[0], multipliers[0]);
        const auto second = product<W>(counter[2], multipliers[1]);
        counter = {U(high(second) ^ counter[1] ^ key[0]), as<U>(second), U(high(first) ^ counter[3] ^ key[1]),
                   as<U>(first)};
        key = {U(key[0] + steps[0]), U(key[1] + steps[1])};
    }
    return counter;
}

template <class U>
block<U> threefry4x32(block<U> x, const std::array<U, 4>& key) {
    constexpr std::uint32_t turns[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5},
                                           {6, 20},  {17, 11}, {25, 10}, {18, 20}};
    const std::array<U, 5> keys{key[0], key[1], key[2], key[3],
                                U(key[0] ^ key[1] ^ key[2] ^ key[3] ^ 0x1BD11BDAu)};
    for (std::size_t k = 0; k < 4; ++k) x[k] = U(x[k] + keys[k]);
    for (std::uint32_t round = 0; round < 20; ++round) {
        const std::size_t first = round % 2 == 0 ? 1 : 3, second = 4 - first;
        x[0] = U(x[0] + x[first]);
        x[first] = U(rotate(x[first], U(turns[round % 8][0])) ^ x[0]);
        x[2] = U(x[2] + x[second]);
        x[second] = U(rotate(x[second], U(turns[round % 8][1])) ^ x[2]);
        if (round % 4 != 3) continue;
        const std::uint32_t turn = round / 4 + 1;
        for (std::size_t k = 0; k < 4; ++k) x[k] = U(x[k] + keys[(turn + k) % 5]);
        x[3] = U(x[3] + turn);
    }
    return x;
}

/// In [0, 1).
template <class W>
typename W::f32 unit_float(const typename W::u32& word) {
    return typename W::f32(as<typename W::f32>(typename W::u32(word >> 8)) * 0x1p-24f);
}
template <class W>
typename W::f64 unit_double(const typename W::u64& words) {
    return typename W::f64(as<typename W::f64>(typename W::u64(words >> 11)) * 0x1p-53);
}

/// c[0] + c[1] x + c[2] x^2 + …
template <class F, class C, std::size_t N>
F polynomial(const F& x, const C (&c)[N]) {
    F sum = F(c[N - 1]);
    for (std::size_t k = N - 1; k-- > 0;) sum = F(fma(sum, x, F(c[k])));
    return sum;
}

// The polynomials of f32 are the best of their degree (Remez algorithm; mpmath, 40 digits), those of f64
// interpolate at Chebyshev nodes (60 digits), in the reduced interval. In exact arithmetic the errors are
// 2.6e-8 (f32) and 0.35 units in the last place (f64) for the logarithms, 3.2e-9 for the sine and 3.2e-8 for
// the cosine of f32, and 0.06 units for those of f64.

/// -2 log(x) for normal x > 0, to 2 units in the last place. x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
template <class W>
typename W::f32 minus_twice_log(const typename W::f32& x) {
    using F = typename W::f32;
    using I = typename W::i32;
    constexpr float c[] = {-2.f,          0.9999997616f,  -0.6666837335f, 0.5000414848f, -0.3991366029f,
                           0.3312482536f, -0.2990463972f, 0.28733477f,    -0.1744419336f};
    constexpr std::int32_t least = 0x3F3504F3;  // the bits of sqrt(1/2)
    // e in the position of the exponent bits, for which `per_step` compensates.
    const I exponent = I(I(bits_as<I>(x) - least) & I(-0x800000));
    const F f = F(bits_as<F>(I(bits_as<I>(x) - exponent)) - 1.f);
    constexpr auto per_step = static_cast<float>(-2 * std::numbers::ln2 * 0x1p-23);
    return F(fma(f, polynomial(f, c), F(as<F>(exponent) * per_step)));
}
template <class W>
typename W::f64 minus_twice_log(const typename W::f64& x) {
    using F = typename W::f64;
    using I = typename W::i64;
    constexpr double c[] = {0.66666666666666696862, 0.3999999999989950449, 0.28571428625975484921,
                            0.22222211134795079855, 0.1818288912526172208, 0.15331721600556041269,
                            0.1461644968504340586};
    constexpr std::int64_t least = 0x3FE6A09E667F3BCD;
    const I exponent = I(I(bits_as<I>(x) - least) >> 52);
    const F f = F(bits_as<F>(I(bits_as<I>(x) - exponent * (std::int64_t{1} << 52))) - 1.0);
    // log(1 + f) = 2 artanh(s) = 2 s + s^3 P(s^2), and 2 s = f - s f
    const F s = F(f / F(f + 2.0)), square = F(s * s), e = as<F>(exponent);
    const F correction = F(s * F(fma(square, polynomial(square, c), F(-f))));
    const F low = F(fma(e, F(1.9082149292705878161e-10), correction));
    // e log 2 in two parts, the first of which is exact.
    return F(F(fma(e, F(0.69314718036912381649), F(f + low))) * -2.0);
}

/// Sine and cosine of an angle, given in quarter turns from -1/2 to 1/2.
template <class F>
struct sine_cosine {
    F sine, cosine;
};
inline constexpr float sine_f32[] = {1.570796371f, -0.64596349f, 0.07968003303f, -0.004601657856f};
inline constexpr float cosine_f32[] = {-1.23369801f, 0.2536063492f, -0.02042625099f};
inline constexpr double sine_f64[] = {
    1.5707963267948966143,     -0.64596409750624431573,  0.079692626246043003134, -0.0046817541323409759917,
    0.00016044115074219091052, -3.598643352982309702e-6, 5.6339337815378539538e-8};
inline constexpr double cosine_f64[] = {-1.2337005501361698269,      0.25366950790104782321,
                                        -0.020863480763340772521,    0.00091926027454684461873,
                                        -0.000025202039028029176105, 4.7106784055052271063e-7,
                                        -6.3293963449674235121e-9};
template <class F, class C, std::size_t N, std::size_t M>
sine_cosine<F> of_quarter(const F& t, const C (&sine)[N], const C (&cosine)[M]) {
    const F square = F(t * t);
    return {F(t * polynomial(square, sine)), F(fma(square, polynomial(square, cosine), F(C(1))))};
}

/// A point of the unit circle from the bits of a word: all but the two highest are an angle within an eighth
/// of a turn of the first axis, the highest mirrors it in the second axis, the next one in the diagonal. Each
/// word has its own arc, so that this is as uniform as the word times a turn, and needs no sum.
template <class F, class I, class U, class C, std::size_t N, std::size_t M>
std::array<F, 2> direction(const U& word, const C (&sine)[N], const C (&cosine)[M]) {
    constexpr int bits = 8 * sizeof(C);
    constexpr C quarters = bits == 32 ? C(0x1p-32) : C(0x1p-64);
    using constant = std::conditional_t<bits == 32, std::uint32_t, std::uint64_t>;
    const sine_cosine<F> by = of_quarter(F(as<F>(bits_as<I>(U(word << 2))) * quarters), sine, cosine);
    const U sign = U(word & U(constant{1} << (bits - 1)));
    const F along = bits_as<F>(U(bits_as<U>(by.cosine) ^ sign));
    const auto swaps = (word & U(constant{1} << (bits - 2))) != U(constant{0});
    return {choose(swaps, by.sine, along), choose(swaps, along, by.sine)};
}

/// Two independent normal numbers from two words of their size.
template <class W>
std::array<typename W::f32, 2> normal_pair(const typename W::u32& radius, const typename W::u32& angle) {
    using F = typename W::f32;
    const F unit = F(fma(as<F>(radius), F(0x1p-32f), F(0x1p-33f)));  // in (0, 1]
    // It is at most 46 and, unless 0, at least 2^-24; the clamp spares GPUs the code for other numbers.
    const F length = F(sqrt(F(clamp(minus_twice_log<W>(unit), F(0x1p-100f), F(0x1p10f)))));
    const auto toward = direction<F, typename W::i32>(angle, sine_f32, cosine_f32);
    return {F(length * toward[0]), F(length * toward[1])};
}
template <class W>
std::array<typename W::f64, 2> normal_pair(const typename W::u64& radius, const typename W::u64& angle) {
    using F = typename W::f64;
    const F unit = F(fma(as<F>(typename W::u64(radius >> 11)), F(0x1p-53), F(0x1p-54)));
    const F length = F(sqrt(minus_twice_log<W>(unit)));
    const auto toward = direction<F, typename W::i64>(angle, sine_f64, cosine_f64);
    return {F(length * toward[0]), F(length * toward[1])};
}

}  // namespace balm::random
