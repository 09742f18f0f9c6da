#pragma once
// Random numbers as the Random123 headers and the host's long double give them. Nothing of Balm's generators
// and distributions is used here.

#include <Random123/philox.h>
#include <Random123/threefry.h>

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>

#include "balm/random.hpp"

namespace balm::test {

using random_words = std::array<std::uint32_t, 4>;

inline std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
inline std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// Block number k, by the authors' own headers.
template <class Generator>
random_words reference_block(std::uint64_t k, std::uint64_t seed, std::uint64_t stream);
template <>
inline random_words reference_block<philox>(std::uint64_t k, std::uint64_t seed, std::uint64_t stream) {
    const r123::Philox4x32::ctr_type counter = {
        {low_word(k), high_word(k), low_word(stream), high_word(stream)}};
    const r123::Philox4x32::key_type key = {{low_word(seed), high_word(seed)}};
    const auto made = r123::Philox4x32()(counter, key);
    return {made[0], made[1], made[2], made[3]};
}
template <>
inline random_words reference_block<threefry>(std::uint64_t k, std::uint64_t seed, std::uint64_t stream) {
    const r123::Threefry4x32::ctr_type counter = {{low_word(k), high_word(k), 0, 0}};
    const r123::Threefry4x32::key_type key = {
        {low_word(seed), high_word(seed), low_word(stream), high_word(stream)}};
    const auto made = r123::Threefry4x32()(counter, key);
    return {made[0], made[1], made[2], made[3]};
}

/// Word j of element i, of elements of w words.
template <class Generator>
std::uint32_t reference_word(std::uint64_t i, std::uint64_t w, std::uint64_t j, std::uint64_t seed,
                             std::uint64_t stream) {
    const std::uint64_t block = w >= 4 ? i * (w / 4) + j / 4 : i / (4 / w);
    const std::uint64_t place = w >= 4 ? j % 4 : i % (4 / w) * w + j;
    return reference_block<Generator>(block, seed, stream)[place];
}

template <class Generator, class T>
T reference_uniform(std::uint64_t i, std::uint64_t seed, std::uint64_t stream) {
    const std::uint64_t a = reference_word<Generator>(i, sizeof(T) == 8 ? 2 : 1, 0, seed, stream);
    if constexpr (std::same_as<T, float>)
        return static_cast<float>(std::ldexp(static_cast<double>(a >> 8), -24));
    else if constexpr (std::same_as<T, bool>)
        return (a & 1) != 0;
    else if constexpr (sizeof(T) < 8)
        return static_cast<T>(a);
    else {
        const std::uint64_t both = a | std::uint64_t{reference_word<Generator>(i, 2, 1, seed, stream)} << 32;
        if constexpr (std::same_as<T, double>)
            return std::ldexp(static_cast<double>(both >> 11), -53);
        else
            return static_cast<T>(both);
    }
}

/// Box and Muller in long double: the number at this index, from the same words.
template <class Generator, class T>
long double reference_normal(std::uint64_t i, std::uint64_t seed, std::uint64_t stream) {
    constexpr std::uint64_t size = sizeof(T) / 4;
    const auto whole = [&](std::uint64_t k) {  // number k of the pair, as a part of 2^32 or 2^64
        std::uint64_t word = reference_word<Generator>(i / 2 * 2 + k, size, 0, seed, stream);
        if (size == 2)
            word |= std::uint64_t{reference_word<Generator>(i / 2 * 2 + k, size, 1, seed, stream)} << 32;
        return word;
    };
    // The radius' number as floating point has it: f32 rounds it, f64 takes 53 bits.
    const long double unit =
        size == 1 ? static_cast<long double>(std::fma(static_cast<float>(whole(0)), 0x1p-32f, 0x1p-33f))
                  : static_cast<long double>(std::fma(static_cast<double>(whole(0) >> 11), 0x1p-53, 0x1p-54));
    // The two highest bits say which of four arcs, the others where on it.
    const std::uint64_t bits = size * 32, word = whole(1);
    const auto mirrors = (word >> (bits - 1) & 1) != 0, swaps = (word >> (bits - 2) & 1) != 0;
    const std::int64_t within = static_cast<std::int64_t>(word << (66 - bits)) >> (66 - bits);
    const long double angle = std::ldexp(static_cast<long double>(within), static_cast<int>(1 - bits)) *
                              std::numbers::pi_v<long double>;
    const long double along = mirrors ? -std::cos(angle) : std::cos(angle), across = std::sin(angle);
    return std::sqrt(-2 * std::log(unit)) * ((i % 2 == 0) != swaps ? along : across);
}

}  // namespace balm::test
