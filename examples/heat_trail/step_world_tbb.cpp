// step_world_tbb [dt] [n] [binary]: the rows of a step shared out over the cores by oneTBB, each row
// vectorised.
//
// Every cell of a row takes the same path: what a neighbour adds is multiplied by its weight, which is 0 for
// an insulator. Without branches the compiler turns the loop into vector instructions. Adding 0 changes no
// bit, so the result is the serial one.

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "stage.hpp"

namespace {

// A row of properties and temperatures. Where there is none (above the first row, below the last), one of
// insulators.
struct row {
    const std::uint32_t* properties;
    const float* state;
};

// Cells [first, last) of a row. `left` and `right`: 1 where the cell has such a neighbour, else 0.
inline void step_cells(std::size_t first, std::size_t last, std::size_t left, std::size_t right, float inner,
                       float outer, row above, row own, row below, float* __restrict buffer) {
    for (std::size_t x = first; x < last; ++x) {
        float weight = inner;
        float sum = inner * own.state[x];
        const auto add = [&](const row& from, std::size_t at, bool is_there) {
            const float share = is_there && from.properties[at] != heat::insulator ? outer : 0.0f;
            weight += share;
            sum += share * from.state[at];
        };
        add(above, x, true);
        add(below, x, true);
        add(own, x - left, left != 0);
        add(own, x + right, right != 0);
        const float mean = sum / weight;
        const float hot = mean > 0.0f ? mean : 0.0f;
        const float next = hot < 1.0f ? hot : 1.0f;
        buffer[x] = own.properties[x] == heat::normal ? next : own.state[x];
    }
}

void step_row(std::size_t w, float inner, float outer, row above, row own, row below, float* buffer) {
    const std::size_t right_of_first = w > 1;
    step_cells(0, 1, 0, right_of_first, inner, outer, above, own, below, buffer);
    if (w == 1) return;
    step_cells(1, w - 1, 1, 1, inner, outer, above, own, below, buffer);
    step_cells(w - 1, w, 1, 0, inner, outer, above, own, below, buffer);
}

void step_world_tbb(heat::world& world, float dt, unsigned n) {
    const std::size_t w = world.width, h = world.height;
    const float outer = world.alpha * dt;
    const float inner = 1 - outer / 4;
    std::vector<float> buffer(w * h);
    const std::vector<std::uint32_t> outside_properties(w, heat::insulator);
    const std::vector<float> outside_state(w);
    const row outside{outside_properties.data(), outside_state.data()};
    for (unsigned t = 0; t < n; ++t) {
        const auto row_of = [&](std::size_t y) {
            return row{world.properties.data() + y * w, world.state.data() + y * w};
        };
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, h), [&](const auto& rows) {
            for (std::size_t y = rows.begin(); y < rows.end(); ++y)
                step_row(w, inner, outer, y > 0 ? row_of(y - 1) : outside, row_of(y),
                         y + 1 < h ? row_of(y + 1) : outside, buffer.data() + y * w);
        });
        std::swap(world.state, buffer);
    }
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Advances the heat world on stdin with oneTBB, and writes it to stdout.", "step_world_tbb");
    return heat::run_stage(app, argc, argv, step_world_tbb);
}
