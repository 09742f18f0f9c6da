// step_world_tbb [dt] [n] [binary]: oneTBB distributes the rows of a step over the cores, and each row is
// vectorised.
//
// Every cell of a row takes the same path, so the compiler can compute several at once: with a border of
// insulators around the world all neighbours exist, and an insulator adds its temperature with weight 0.
// Adding 0 changes no bit, so the result equals the serial one.

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "command.hpp"
#include "stage.hpp"

namespace {

// The world with a border of one cell around it.
struct bordered_world {
    explicit bordered_world(const heat::world& world)
        : w(world.width),
          h(world.height),
          pitch(w + 2),
          properties(pitch * (h + 2), heat::insulator),
          state(pitch * (h + 2)) {
        for (std::size_t y = 0; y < h; ++y) {
            std::copy_n(world.properties.data() + y * w, w, properties.data() + row(y));
            std::copy_n(world.state.data() + y * w, w, state.data() + row(y));
        }
    }

    // Where a row of the world begins.
    std::size_t row(std::size_t y) const { return (y + 1) * pitch + 1; }

    std::size_t w, h, pitch;
    std::vector<std::uint32_t> properties;
    std::vector<float> state;
};

void step_row(const bordered_world& world, std::size_t y, float inner, float outer, float* buffer) {
    const std::size_t begin = world.row(y), end = begin + world.w, pitch = world.pitch;
    const std::uint32_t* const properties = world.properties.data();
    const float* const state = world.state.data();
#pragma omp simd
    for (std::size_t index = begin; index < end; ++index) {
        const float above = properties[index - pitch] != heat::insulator ? outer : 0.0f;
        const float below = properties[index + pitch] != heat::insulator ? outer : 0.0f;
        const float left = properties[index - 1] != heat::insulator ? outer : 0.0f;
        const float right = properties[index + 1] != heat::insulator ? outer : 0.0f;
        const float weight = inner + above + below + left + right;
        const float sum = inner * state[index] + above * state[index - pitch] + below * state[index + pitch] +
                          left * state[index - 1] + right * state[index + 1];
        const float mean = sum / weight;
        const float not_cold = mean > 0.0f ? mean : 0.0f;
        const float next = not_cold < 1.0f ? not_cold : 1.0f;
        buffer[index] = properties[index] == heat::normal ? next : state[index];
    }
}

void step_world_tbb(heat::world& world, float dt, unsigned n) {
    const float outer = world.alpha * dt;
    const float inner = 1 - outer / 4;
    bordered_world bordered(world);
    std::vector<float> buffer = bordered.state;
    for (unsigned t = 0; t < n; ++t) {
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, bordered.h), [&](const auto& rows) {
            for (std::size_t y = rows.begin(); y < rows.end(); ++y)
                step_row(bordered, y, inner, outer, buffer.data());
        });
        std::swap(bordered.state, buffer);
    }
    for (std::size_t y = 0; y < bordered.h; ++y)
        std::copy_n(bordered.state.data() + bordered.row(y), bordered.w, world.state.data() + y * bordered.w);
}

}  // namespace

int main(int argc, char** argv) {
    const auto app = heat::command_line(
        "Advances the heat world on stdin with oneTBB, and writes it to stdout.", "step_world_tbb");
    return heat::run_stage(*app, argc, argv, step_world_tbb);
}
