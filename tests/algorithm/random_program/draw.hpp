#pragma once
// What random programs of algorithms draw: sizes, and elements of many distributions.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <type_traits>
#include <vector>

#include "algorithm/sort_ways.hpp"

namespace balm::test::random_algorithms {

using generator = std::mt19937_64;
inline bool is_drawn(generator& random) { return below(random, 2) == 0; }

/// Sizes at the borders of work-items, groups, tiles and chunks.
inline std::size_t drawn_size(generator& random, bool is_small) {
    constexpr std::size_t small[] = {0, 1, 2, 31, 32, 33, 63, 255, 256, 257, 1000, 1023, 1025, 2048, 3999};
    constexpr std::size_t large[] = {4096,  4097,  16384,  16385,  65535,  65536,
                                     65537, 99999, 131072, 131073, 262145, 1000003};
    switch (below(random, is_small ? 3 : 6)) {
        case 0:
        case 1: return small[below(random, std::size(small))];
        case 2: return below(random, 5000);
        case 3:
        case 4: return large[below(random, std::size(large) - (below(random, 4) == 0 ? 0 : 1))];
        default: return below(random, 300000);
    }
}
/// Whole numbers whose sums are exact.
template <class T>
T small_value(generator& random) {
    const int value = static_cast<int>(below(random, 9));
    return static_cast<T>(std::is_signed_v<T> ? value - 4 : value);
}
template <class T>
std::vector<T> small_values(generator& random, std::size_t n) {
    std::vector<T> made(n);
    for (T& each : made) each = small_value<T>(random);
    return made;
}
inline std::vector<std::int32_t> numbers_in_runs(generator& random, std::size_t n) {
    constexpr std::size_t lengths[] = {1, 2, 5, 100, 3000, 1000000};
    const std::size_t length = lengths[below(random, std::size(lengths))];
    std::vector<std::int32_t> made(n);
    std::int32_t own = 0;
    for (std::int32_t& each : made) {
        if (below(random, length) == 0) own = static_cast<std::int32_t>(below(random, 40)) - 8;
        each = own;
    }
    return made;
}

}  // namespace balm::test::random_algorithms
