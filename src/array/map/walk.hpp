#pragma once
// The loops that visit the elements of a box, as few as the strides of the operands allow.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "balm/affine_map.hpp"

namespace balm::array {

/// Nested loops, outermost first, and the strides and offsets of several maps in them.
struct walk {
    using numbers = std::array<std::int64_t, shape::max_dimensions>;
    struct map {
        numbers strides{};
        std::int64_t offset = 0;
    };

    int loops = 0;  ///< at least one, once constructed
    numbers counts{};
    std::vector<map> maps;

    /// Visits every element of the maps' common box once, in the memory order of the first map. Dimensions
    /// that are contiguous in every map are fused.
    static walk in_memory_order(std::span<const affine_map> maps);
    /// Visits every element of the map's box in row-major order.
    static walk in_row_major_order(const affine_map&);

    /// Whether a map numbers the elements in the order in which the walk visits them.
    bool is_the_order(const map&) const;
};

}  // namespace balm::array
