// The sweep kernel of the heat step. In: a plan, whose numbers are constants of the kernel; C++ loops over
// them are unrolled while the kernel is traced. Out: the kernel. A step needs only three rows of the previous
// step, so a sub-group that goes down a strip row by row can compute all steps of a launch at once, with two
// rows per step in registers; its lanes exchange only one cell at each side.

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "conductance.hpp"
#include "step_kernels.hpp"

namespace heat {

using namespace balm::dsl;

namespace {

constexpr int cells_of_word = 4;

/// The dimensions of a sweep.
struct sweep_shape {
    sweep_shape(const plan& p, unsigned steps_of_launch)
        : steps(static_cast<int>(steps_of_launch)),
          margin(static_cast<int>(p.margin())),
          columns(static_cast<int>(p.item_width)),
          rows(std::gcd(static_cast<int>(p.item_height), 2 * steps)),
          inner_width(static_cast<int>(p.inner_width())) {}

    int words() const { return columns / cells_of_word; }
    /// Lanes at each side that write nothing.
    int margin_lanes() const { return margin / columns; }
    /// A bit for each row that some step of an iteration computes; bit 0 is the newest row.
    std::uint32_t rows_in_work() const { return ((1u << (steps + rows)) - 1u) & ~1u; }

    int steps;
    int margin;   // cells at each side that are not written
    int columns;  // of a lane
    int rows;     // that come in at once, so that their steps overlap
    int inner_width;
};

/// The state of one step: the cells of the newest row and, for each column, the cell above plus the cell to
/// the left. The sum for (r + 1, c + 1) is also that of the cells to the right of and below (r, c), so a
/// cell's four neighbours cost two additions.
struct level {
    explicit level(int columns) {
        cells.reserve(static_cast<std::size_t>(columns));
        pairs.reserve(static_cast<std::size_t>(columns));
        for (int c = 0; c < columns; ++c) {
            cells.emplace_back(0.0f);
            pairs.emplace_back(0.0f);
        }
    }
    std::vector<Float> cells, pairs;
};

struct weights {
    Float keep, take;
};

/// Takes the next row of a level, and returns what the previous row becomes in the next step. A lane's
/// columns are adjacent to those of the neighbouring lanes.
template <class WeightsOfColumn>
std::vector<Float> advance(level& of, const std::vector<Float>& row, WeightsOfColumn weights_of) {
    const std::size_t columns = row.size();
    const Float left = shuffle_up(row.back(), 1), right = shuffle_down(of.cells.front(), 1);
    std::vector<Float> pairs;
    pairs.reserve(columns + 1);
    pairs.emplace_back(of.cells[0] + left);
    for (std::size_t c = 1; c < columns; ++c) pairs.emplace_back(of.cells[c] + row[c - 1]);
    pairs.emplace_back(right + row.back());

    std::vector<Float> next;
    next.reserve(columns);
    for (std::size_t c = 0; c < columns; ++c) {
        const weights cell = weights_of(c);
        next.emplace_back(cell.keep * of.cells[c] + cell.take * (of.pairs[c] + pairs[c + 1]));
    }
    for (std::size_t c = 0; c < columns; ++c) {
        of.pairs[c] = pairs[c];
        of.cells[c] = row[c];
    }
    return next;
}

}  // namespace

bool is_sweep(const plan& plan) {
    return plan.item_width % cells_of_word == 0 && plan.item_width > 0 &&
           plan.tile_width == plan.item_width * lanes_of_sweep && plan.margin() % plan.item_width == 0 &&
           plan.tile_width > 2 * plan.margin() && plan.item_height > 0 &&
           plan.inner_height() % plan.item_height == 0 && plan.steps + plan.item_height < 32 &&
           plan.at_once > 0;
}

sweep_kernel make_sweep_kernel(const plan& plan, unsigned steps) {
    if (!is_sweep(plan))
        throw std::invalid_argument("a heat sweep of this shape cannot be read by whole words");
    const sweep_shape shape(plan, steps);
    return balm::kernel<1>(
        "heat_sweep(words, strips, segments, keep, take, coefficients, cells, plain, from, to, table)",
        [&](Int words, Int strips, In<balm::int4> segments, Float keep, Float take, In<float> coefficients,
            In<std::uint32_t> cells, In<std::uint8_t> plain, In<balm::float4> from, Out<balm::float4> to,
            Local<balm::float2> table) {
            const Int lane = named("lane", lane_id());
            const Int4 segment = named("segment", segments[group_id(0)]);
            const Int strip = named("strip", segment.x);
            const Int count = named("count", segment.z + 2 * shape.steps);  // rows that are read
            const Int top = named("top", segment.y + (shape.margin - shape.steps));
            const Int corner = named(
                "corner", top * words + strip * (shape.inner_width / cells_of_word) + lane * shape.words());
            const Int flags = named("flags", top * strips + strip);
            const Bool writes = named(
                "writes", lane >= shape.margin_lanes() && lane < lanes_of_sub_group - shape.margin_lanes());

            IF (lane < static_cast<int>(code_count)) {
                table[lane] = Float2(coefficients[lane], coefficients[lane + static_cast<int>(code_count)]);
            }
            local_barrier();

            std::vector<level> levels;
            levels.reserve(static_cast<std::size_t>(shape.steps));
            for (int step = 0; step < shape.steps; ++step) levels.emplace_back(shape.columns);

            // Rows are read an iteration before they are needed.
            std::vector<Float4> coming;
            coming.reserve(static_cast<std::size_t>(shape.rows * shape.words()));
            for (int r = 0; r < shape.rows; ++r)
                for (int w = 0; w < shape.words(); ++w) coming.emplace_back(from[corner + r * words + w]);

            UInt special = named("special", UInt(0u));
            for (Int y : range(Int(0), count, shape.rows)) {
                const Int newest = named("newest", corner + y * words);
                std::vector<std::vector<Float>> rows(static_cast<std::size_t>(shape.rows));
                for (int r = 0; r < shape.rows; ++r)
                    for (int c = 0; c < shape.columns; ++c)
                        rows[static_cast<std::size_t>(r)].emplace_back(coming[static_cast<std::size_t>(
                            r * shape.words() + c / cells_of_word)][c % cells_of_word]);
                for (int r = 0; r < shape.rows; ++r) {
                    const Int next = named("next", corner + min(y + (shape.rows + r), count - 1) * words);
                    for (int w = 0; w < shape.words(); ++w)
                        coming[static_cast<std::size_t>(r * shape.words() + w)] = from[next + w];
                    special = special << 1 | select(plain[flags + (y + r) * strips] != 0, 0u, 1u);
                }

                // The rows that leave the last step.
                std::vector<std::vector<Float>> done(rows.size());
                for (std::vector<Float>& row : done) {
                    row.reserve(static_cast<std::size_t>(shape.columns));
                    for (int c = 0; c < shape.columns; ++c) row.emplace_back(0.0f);
                }
                const auto advance_rows = [&](auto weights_of) {
                    for (int r = 0; r < shape.rows; ++r) {
                        std::vector<Float> row = rows[static_cast<std::size_t>(r)];
                        for (int step = 1; step <= shape.steps; ++step)
                            row = advance(levels[static_cast<std::size_t>(step - 1)], row,
                                          weights_of(step - r));
                        for (std::size_t c = 0; c < row.size(); ++c)
                            done[static_cast<std::size_t>(r)][c] = row[c];
                    }
                };
                IF ((special & shape.rows_in_work()) == 0u) {
                    advance_rows([&](int) { return [&](std::size_t) { return weights{keep, take}; }; });
                }
                ELSE {
                    advance_rows([&](int rows_above) {
                        // There is no row above the very first one; any value may be read instead.
                        const Int at = named("codes_at", max(newest - rows_above * words, 0));
                        return [&, at](std::size_t c) {
                            const auto k = static_cast<int>(c);
                            const UInt code =
                                cells[at + k / cells_of_word] >> (8 * (k % cells_of_word)) & 0xFFu;
                            const Float2 both = table[code];
                            return weights{both.x, both.y};
                        };
                    });
                }
                for (int r = 0; r < shape.rows; ++r)
                    IF (writes && y + r >= 2 * shape.steps) {
                        const Int at = named("at", newest + (r - shape.steps) * words);
                        for (int w = 0; w < shape.words(); ++w) {
                            const auto cell = [&](int c) {
                                return to_unit_range(done[static_cast<std::size_t>(r)]
                                                         [static_cast<std::size_t>(w * cells_of_word + c)]);
                            };
                            to[at + w] = Float4(cell(0), cell(1), cell(2), cell(3));
                        }
                    }
            }
        });
}

}  // namespace heat
