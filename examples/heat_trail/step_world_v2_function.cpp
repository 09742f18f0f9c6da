// step_world_v2_function [dt] [n] [binary]: the same body as a function that sees only its parameters.
//
// A device has its own memory, so a kernel cannot capture a host variable. The parameter list states what
// must be transferred: numbers by value, arrays as pointers to elements of a fixed size. What is const is
// transferred one way.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "command.hpp"
#include "stage.hpp"

namespace {

void kernel_xy(std::uint32_t x, std::uint32_t y, std::uint32_t w, std::uint32_t h, float inner, float outer,
               const std::uint32_t* properties, const float* state, float* buffer) {
    const std::size_t index = std::size_t{y} * w + x;
    if (properties[index] != heat::normal) {
        buffer[index] = state[index];
        return;
    }
    float weight = inner;
    float sum = inner * state[index];
    if (y > 0 && properties[index - w] != heat::insulator) {
        weight += outer;
        sum += outer * state[index - w];
    }
    if (y + 1 < h && properties[index + w] != heat::insulator) {
        weight += outer;
        sum += outer * state[index + w];
    }
    if (x > 0 && properties[index - 1] != heat::insulator) {
        weight += outer;
        sum += outer * state[index - 1];
    }
    if (x + 1 < w && properties[index + 1] != heat::insulator) {
        weight += outer;
        sum += outer * state[index + 1];
    }
    buffer[index] = std::min(1.0f, std::max(0.0f, sum / weight));
}

void step_world_v2_function(heat::world& world, float dt, unsigned n) {
    const std::uint32_t w = world.width, h = world.height;
    const float outer = world.alpha * dt;
    const float inner = 1 - outer / 4;
    std::vector<float> buffer(world.size());
    for (unsigned t = 0; t < n; ++t) {
        for (std::uint32_t y = 0; y < h; ++y)
            for (std::uint32_t x = 0; x < w; ++x)
                kernel_xy(x, y, w, h, inner, outer, world.properties.data(), world.state.data(),
                          buffer.data());
        std::swap(world.state, buffer);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto app =
        heat::command_line("Advances the heat world on stdin by a function a cell, and writes it to stdout.",
                           "step_world_v2_function");
    return heat::run_stage(*app, argc, argv, step_world_v2_function);
}
