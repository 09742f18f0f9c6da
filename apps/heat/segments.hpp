#pragma once
// Cuts the strips of a world into segments for sub-groups that sweep down them. In: costs. Out: segments. All
// sub-groups run concurrently and the costs of rows differ, so the slowest sub-group determines the time of a
// launch.

#include <balm/short_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "layout.hpp"

namespace heat {

/// Some rows of a strip: strip, first row, number of rows, 0. The layout's first row inside the border is 0.
using segment = balm::int4;

/// The costs of rows of tiles, strip by strip.
struct strip_costs {
    /// Equal costs for all rows.
    explicit strip_costs(const layout& where);
    /// Costs according to `plain` (from plain_rows): while a row that is not plain passes through the steps
    /// of a launch, each incoming row costs more.
    strip_costs(const plan& plan, const layout& where, const std::vector<std::uint8_t>& plain);

    std::size_t strips, tiles;
    std::vector<float> before;  ///< strip * (tiles + 1) + t: the cost of the rows of tiles before t, in rows
};

/// Cuts `rows` of all strips into about `wanted` segments, possibly a few fewer, but at least one per strip,
/// so that the most expensive one costs as little as possible.
std::vector<segment> cut(const strip_costs& costs, const plan& plan, const tile_rows& rows,
                         std::size_t wanted);

}  // namespace heat
