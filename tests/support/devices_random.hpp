#pragma once
// Random values that meet the corners of a type as often as its middle.

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "balm/host_array.hpp"

namespace balm::test {

/// A random number less than `end`; 0 where there is none.
inline std::size_t below(std::mt19937_64& random, std::size_t end) { return end == 0 ? 0 : random() % end; }

/// Any value of an integer type, its ends and small values more often than by chance; of a floating type,
/// values of moderate size, among them whole numbers, powers of two and zero.
template <class T>
T random_value(std::mt19937_64& random) {
    using limits = std::numeric_limits<T>;
    const std::uint64_t bits = random();
    if constexpr (std::same_as<T, bool>)
        return (bits >> 8) % 2 == 1;
    else if constexpr (std::integral<T>) {
        switch (bits % 8) {
            case 0: return limits::max();
            case 1: return limits::lowest();
            case 2: return static_cast<T>(static_cast<int>(bits >> 8 & 3) - 1);
            case 3:
            case 4: return static_cast<T>(static_cast<int>(bits >> 8 & 63) - 32);
            default: return static_cast<T>(bits >> 8);
        }
    } else {
        switch (bits % 8) {
            case 0: return T(0);
            case 1: return T(-1);
            case 2: return std::ldexp(T(1), static_cast<int>(bits >> 8 & 63) - 32);
            case 3:
            case 4: return std::uniform_real_distribution<T>(-4, 4)(random);
            default: return std::uniform_real_distribution<T>(-1e6, 1e6)(random);
        }
    }
}

template <class T>
host_array<T> random_values(std::mt19937_64& random, std::size_t count) {
    host_array<T> values{shape(count)};
    for (T& value : values) value = random_value<T>(random);
    return values;
}

/// The same within bounds, both included.
template <class T>
host_array<T> random_values(std::mt19937_64& random, std::size_t count, T least, T most) {
    host_array<T> values{shape(count)};
    for (T& value : values) {
        if constexpr (std::floating_point<T>)
            value = std::uniform_real_distribution<T>(least, most)(random);
        else
            value = static_cast<T>(std::uniform_int_distribution<std::int64_t>(least, most)(random));
    }
    return values;
}

/// Whole numbers so small that sums of them and of their products are exact in every type.
template <class T>
T small_number(std::mt19937_64& random) {
    if constexpr (std::is_arithmetic_v<T>) {
        const int number = static_cast<int>(below(random, 17));
        return static_cast<T>(std::is_unsigned_v<T> ? number : number - 8);
    } else {  // complex
        using part = typename T::value_type;
        const part real = small_number<part>(random);
        return T(real, small_number<part>(random));
    }
}
template <class T>
std::vector<T> small_numbers(std::mt19937_64& random, std::size_t n) {
    std::vector<T> made(n);
    for (T& each : made) each = small_number<T>(random);
    return made;
}

}  // namespace balm::test
