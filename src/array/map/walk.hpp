#pragma once
// The loops that visit the elements of a box, as few as the strides of what they touch allow.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "balm/affine_map.hpp"

namespace balm::array {

/// Loops, the slowest first, each once around the ones behind it, and where several maps are in them.
struct walk {
    using numbers = std::array<std::int64_t, shape::max_dimensions>;
    struct map {
        numbers strides{};
        std::int64_t offset = 0;
    };

    int loops = 0;  ///< at least one, once it is made
    numbers counts{};
    std::vector<map> maps;

    /// Every element of the maps' common box once, in the order of memory of the first map, which all others
    /// follow. Dimensions that lie behind each other in every map are one loop.
    static walk in_memory_order(std::span<const affine_map> maps);
    /// Every element of the map's box in row-major order.
    static walk in_row_major_order(const affine_map&);

    /// Whether a map counts the elements as the walk visits them.
    bool is_the_order(const map&) const;
};

}  // namespace balm::array
