// Segments of strips: they hold every row once, and none costs much more than the others.

#include "segments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "generate.hpp"
#include "step_kernels.hpp"

namespace {

const heat::plan sweep{heat::method::sweep, 4, 128, 4 + 8, 4, 4, 8};

/// Rows of a strip, with those that a segment reads beyond its own.
float cost(const heat::strip_costs& costs, const heat::segment& of) {
    const auto height = static_cast<int>(sweep.inner_height());
    const float* const before = costs.before.data() + static_cast<std::size_t>(of.x) * (costs.tiles + 1);
    const float own = before[(of.y + of.z) / height] - before[of.y / height];
    return own * (1 + 2.0f * static_cast<float>(sweep.steps) / static_cast<float>(of.z));
}

void expect_cover(const std::vector<heat::segment>& all, std::size_t strips, const heat::tile_rows& tiles) {
    const std::size_t height = sweep.inner_height();
    std::vector<int> seen(strips * tiles.count * height);
    for (const heat::segment& each : all) {
        ASSERT_GT(each.z, 0);
        ASSERT_EQ(each.y % static_cast<int>(height), 0);
        ASSERT_EQ(each.z % static_cast<int>(height), 0);
        for (int y = each.y; y < each.y + each.z; ++y) {
            const std::size_t row = static_cast<std::size_t>(y) - tiles.first * height;
            ASSERT_LT(row, tiles.count * height);
            ++seen.at(static_cast<std::size_t>(each.x) * tiles.count * height + row);
        }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(seen.size()));
}

TEST(H4_segments, hold_every_row_once) {
    std::mt19937 random(7);
    for (int k = 0; k < 300; ++k) {
        const heat::layout where(1 + random() % 700, 1 + random() % 900, sweep);
        std::vector<std::uint8_t> plain(where.tiles_x * where.rows);
        const unsigned density = random() % 4;
        for (std::uint8_t& each : plain) each = random() % 4 >= density ? 1 : 0;
        const heat::strip_costs costs(sweep, where, plain);
        const std::size_t first = random() % where.tiles_y;
        const heat::tile_rows tiles{first, 1 + random() % (where.tiles_y - first)};
        const std::size_t wanted = 1 + random() % 200;
        const std::vector<heat::segment> all = heat::cut(costs, sweep, tiles, wanted);
        expect_cover(all, where.tiles_x, tiles);
        EXPECT_LE(all.size(), std::max(wanted, where.tiles_x));
    }
}

TEST(H4_segments, cost_about_the_same) {
    // Of eleven strips one is special in all rows, and so are 40 rows of the others.
    const heat::layout where(11 * sweep.inner_width(), 4000, sweep);
    std::vector<std::uint8_t> plain(where.tiles_x * where.rows, 1);
    for (std::size_t row = 0; row < where.rows; ++row)
        for (std::size_t strip = 0; strip < where.tiles_x; ++strip)
            if (strip == 3 || (row >= 1000 && row < 1040)) plain[row * where.tiles_x + strip] = 0;
    const heat::strip_costs costs(sweep, where, plain);
    const std::vector<heat::segment> all = heat::cut(costs, sweep, where.all_tiles(), 240);
    expect_cover(all, where.tiles_x, where.all_tiles());
    EXPECT_GE(all.size(), 225u);
    EXPECT_LE(all.size(), 240u);
    std::vector<float> each_cost;
    for (const heat::segment& each : all) each_cost.push_back(cost(costs, each));
    const auto [least, most] = std::minmax_element(each_cost.begin(), each_cost.end());
    EXPECT_LT(*most, *least * 1.25f);
    const auto of_strip = [&](int strip) {
        return std::count_if(all.begin(), all.end(),
                             [&](const heat::segment& each) { return each.x == strip; });
    };
    EXPECT_GT(of_strip(3), of_strip(2) * 3 / 2) << "what costs more is cut more often";
}

TEST(H4_segments, are_one_a_strip_where_few_are_wanted) {
    const heat::layout where(500, 300, sweep);
    const std::vector<heat::segment> all = heat::cut(heat::strip_costs(where), sweep, where.all_tiles(), 1);
    EXPECT_EQ(all.size(), where.tiles_x);
    expect_cover(all, where.tiles_x, where.all_tiles());
}

}  // namespace
