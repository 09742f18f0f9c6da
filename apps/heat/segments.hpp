#pragma once
// How the strips of a world are cut into segments for sub-groups that sweep down them. Costs come in,
// segments go out. Here because the slowest sub-group decides how long a launch takes: all run side by side,
// and what a row costs differs.

#include <balm/short_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "layout.hpp"

namespace heat {

/// Strip, first row, rows, and nothing: some rows of a strip, counted from the layout's first without border.
using segment = balm::int4;

/// What rows of tiles cost, strip by strip.
struct strip_costs {
    /// All the same.
    explicit strip_costs(const layout& where);
    /// By `plain` (of plain_rows): while a row that is not plain passes through the steps of a launch, each
    /// row that comes in costs more.
    strip_costs(const plan& plan, const layout& where, const std::vector<std::uint8_t>& plain);

    std::size_t strips, tiles;
    std::vector<float> before;  ///< strip * (tiles + 1) + t: the cost of the rows of tiles before t, in rows
};

/// Cuts `rows` of all strips into about `wanted` segments, a few less if need be, but at least one a strip,
/// so that the dearest one costs as little as can be.
std::vector<segment> cut(const strip_costs& costs, const plan& plan, const tile_rows& rows,
                         std::size_t wanted);

}  // namespace heat
