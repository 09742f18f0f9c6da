// Segments of equal cost. In: the cost of each row of tiles in each strip. Out: the segments of each strip.

#include "segments.hpp"

#include <algorithm>
#include <cmath>

namespace heat {
namespace {

/// The cost of a special row, in plain rows (H200, a slalom of 5000 x 5000: 2,602 Gcell/s; 1.7 2,549, 2.4
/// 2,378).
constexpr float special_cost = 2;

/// The number of segments of a strip such that each costs at most `most`. A segment also reads rows of its
/// neighbours, whose cost is `ramp`.
std::size_t pieces(float cost, float ramp, float most, std::size_t tiles) {
    if (most <= ramp) return tiles;
    return std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(cost / (most - ramp))), 1, tiles);
}

}  // namespace

strip_costs::strip_costs(const layout& where)
    : strips(where.tiles_x), tiles(where.tiles_y), before(strips * (tiles + 1)) {
    for (std::size_t s = 0, at = 0; s < strips; ++s)
        for (std::size_t t = 0; t <= tiles; ++t) before[at++] = static_cast<float>(t * where.tile_height);
}

strip_costs::strip_costs(const plan& plan, const layout& where, const std::vector<std::uint8_t>& plain)
    : strip_costs(where) {
    for (std::size_t s = 0; s < strips; ++s) {
        float* const sum = before.data() + s * (tiles + 1);
        std::size_t passing = 0;  // rows until the last special one has left the last step
        for (std::size_t t = 0, row = 0; t < tiles; ++t) {
            float cost = 0;
            for (const std::size_t end = (t + 1) * where.tile_height; row < end; ++row) {
                const bool is_plain = plain[(row + where.border) * strips + s] != 0;
                passing = !is_plain ? plan.steps + 1 : passing > 0 ? passing - 1 : 0;
                cost += passing > 0 ? special_cost : 1;
            }
            sum[t + 1] = sum[t] + cost;
        }
    }
}

std::vector<segment> cut(const strip_costs& costs, const plan& plan, const tile_rows& rows,
                         std::size_t wanted) {
    const auto height = static_cast<int>(plan.inner_height());
    const float all_rows = static_cast<float>(rows.count) * static_cast<float>(height);
    const float ramp_rows = 2 * static_cast<float>(plan.steps);
    const auto sum = [&](std::size_t strip, std::size_t t) {
        return costs.before[strip * (costs.tiles + 1) + rows.first + t];
    };
    const auto cost_of = [&](std::size_t strip) { return sum(strip, rows.count) - sum(strip, 0); };
    const auto pieces_of = [&](std::size_t strip, float most) {
        const float cost = cost_of(strip);
        return pieces(cost, ramp_rows * cost / all_rows, most, rows.count);
    };
    const auto count = [&](float most) {
        std::size_t all = 0;
        for (std::size_t s = 0; s < costs.strips; ++s) all += pieces_of(s, most);
        return all;
    };
    // Finds the cost of the most expensive segment by bisection; 24 iterations are finer than one row.
    float least = 0, most = special_cost * (all_rows + ramp_rows);
    for (int k = 0; k < 24; ++k) {
        const float middle = (least + most) / 2;
        (count(middle) > wanted ? least : most) = middle;
    }
    std::vector<segment> result;
    for (std::size_t s = 0; s < costs.strips; ++s) {
        const std::size_t n = pieces_of(s, most);
        std::size_t first = 0;
        for (std::size_t k = 1; k <= n; ++k) {
            const float until = sum(s, 0) + cost_of(s) * static_cast<float>(k) / static_cast<float>(n);
            std::size_t end = first;
            while (end < rows.count && (k == n || sum(s, end + 1) <= until)) ++end;
            if (end > first)
                result.push_back({static_cast<int>(s), static_cast<int>(rows.first + first) * height,
                                  static_cast<int>(end - first) * height, 0});
            first = end;
        }
    }
    return result;
}

}  // namespace heat
