#pragma once
// The formulas behind balm::uniform and balm::normal, written once for numbers of the host and for numbers of
// a device that are being recorded: U is std::uint32_t or UInt.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "balm/dsl/conversion.hpp"
#include "balm/dsl/value.hpp"

namespace balm::random {

/// The types of one world.
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

/// A number as another type, and its bits as one.
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

/// In 64 bits, so that compilers see one multiplication: GPUs have one that gives all of the product, and
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

// The polynomials below interpolate at Chebyshev's nodes, in the interval that is reduced to (mpmath, 60
// digits); with exact arithmetic their errors are below 0.35 (logarithm) and 0.06 units of the last place.

/// log(x) for normal x > 0, to 2 units of the last place. x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
template <class W>
typename W::f32 log_of(const typename W::f32& x) {
    using F = typename W::f32;
    using I = typename W::i32;
    constexpr float c[] = {0.333333307f, -0.250003064f, 0.200010451f, -0.166412815f,
                           0.142144959f, -0.129981838f, 0.126223198f, -0.0790274377f};
    constexpr std::int32_t least = 0x3F3504F3;  // the bits of sqrt(1/2)
    const I exponent = I(I(bits_as<I>(x) - least) >> 23);
    const F f = F(bits_as<F>(I(bits_as<I>(x) - exponent * (1 << 23))) - 1.f);
    const F square = F(f * f), e = as<F>(exponent);
    // e log 2 in two parts, the first of which is exact.
    const F small =
        F(fma(F(square * f), polynomial(f, c), F(fma(e, F(-2.121944401e-4f), F(square * -0.5f)))));
    return F(fma(e, F(0.693359375f), F(f + small)));
}
template <class W>
typename W::f64 log_of(const typename W::f64& x) {
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
    return F(fma(e, F(0.69314718036912381649), F(f + low)));
}

/// Sine and cosine of an angle, given in quarter turns from -1/2 to 1/2.
template <class F>
struct sine_cosine {
    F sine, cosine;
};
inline constexpr float sine_f32[] = {1.570796322f, -0.6459634777f, 0.07968021765f, -0.004602149213f};
inline constexpr float cosine_f32[] = {-1.233700549f, 0.2536694104f, -0.02086152834f, 0.0009067398984f};
inline constexpr double sine_f64[] = {
    1.5707963267948966143,     -0.64596409750624431573,  0.079692626246043003134, -0.0046817541323409759917,
    0.00016044115074219091052, -3.598643352982309702e-6, 5.6339337815378539538e-8};
inline constexpr double cosine_f64[] = {-1.2337005501361698269,      0.25366950790104782321,
                                        -0.020863480763340772521,    0.00091926027454684461873,
                                        -0.000025202039028029176105, 4.7106784055052271063e-7,
                                        -6.3293963449674235121e-9};
template <class F, class C, std::size_t N>
sine_cosine<F> of_quarter(const F& t, const C (&sine)[N], const C (&cosine)[N]) {
    const F square = F(t * t);
    return {F(t * polynomial(square, sine)), F(fma(square, polynomial(square, cosine), F(C(1))))};
}

/// Turns by whole quarters, of which the two lowest bits count.
template <class F, class U>
sine_cosine<F> turned(const sine_cosine<F>& by, const U& quarters) {
    const auto odd = (quarters & U(1)) != U(0);
    const F sine = choose(odd, by.cosine, by.sine), cosine = choose(odd, by.sine, by.cosine);
    return {choose((quarters & U(2)) != U(0), F(-sine), sine),
            choose(((quarters + U(1)) & U(2)) != U(0), F(-cosine), cosine)};
}

/// Two independent normal numbers of two words each of the numbers' size.
template <class W>
std::array<typename W::f32, 2> normal_pair(const typename W::u32& radius, const typename W::u32& angle) {
    using F = typename W::f32;
    using U = typename W::u32;
    const F unit = F(fma(as<F>(radius), F(0x1p-32f), F(0x1p-33f)));  // in (0, 1]
    const F length = F(sqrt(F(log_of<W>(unit) * -2.f)));
    const U quarters = U(U(angle + 0x20000000u) >> 30);
    const F t = F(as<F>(bits_as<typename W::i32>(U(angle - (quarters << 30)))) * 0x1p-30f);
    const sine_cosine<F> direction = turned(of_quarter(t, sine_f32, cosine_f32), quarters);
    return {F(length * direction.cosine), F(length * direction.sine)};
}
template <class W>
std::array<typename W::f64, 2> normal_pair(const typename W::u64& radius, const typename W::u64& angle) {
    using F = typename W::f64;
    using U = typename W::u64;
    const F unit = F(fma(as<F>(U(radius >> 11)), F(0x1p-53), F(0x1p-54)));
    const F length = F(sqrt(F(log_of<W>(unit) * -2.0)));
    const U quarters = U(U(angle + (std::uint64_t{1} << 61)) >> 62);
    const F t = F(as<F>(bits_as<typename W::i64>(U(angle - (quarters << 62)))) * 0x1p-62);
    const sine_cosine<F> direction = turned(of_quarter(t, sine_f64, cosine_f64), quarters);
    return {F(length * direction.cosine), F(length * direction.sine)};
}

}  // namespace balm::random
