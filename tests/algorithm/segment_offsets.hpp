#pragma once
// Random segments of arrays.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "algorithm/sort_ways.hpp"

namespace balm::test {

/// Offsets of segments of very different lengths, many of them empty.
inline std::vector<std::int32_t> offsets_of(std::mt19937_64& random, std::size_t n) {
    std::vector<std::int32_t> made{0};
    while (static_cast<std::size_t>(made.back()) < n) {
        const std::size_t most = below(random, 3) == 0 ? 1 : std::size_t{1} << below(random, 15);
        const std::size_t end = static_cast<std::size_t>(made.back()) + below(random, most + 1);
        made.push_back(static_cast<std::int32_t>(std::min(end, n)));
    }
    made.insert(made.end(), below(random, 3), static_cast<std::int32_t>(n));
    return made;
}
/// Calls f(begin, end) for each segment.
template <class F>
void for_each_segment(const std::vector<std::int32_t>& offsets, F&& f) {
    for (std::size_t k = 0; k + 1 < offsets.size(); ++k)
        f(static_cast<std::ptrdiff_t>(offsets[k]), static_cast<std::ptrdiff_t>(offsets[k + 1]));
}

}  // namespace balm::test
