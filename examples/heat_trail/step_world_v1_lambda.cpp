// step_world_v1_lambda [dt] [n] [binary]: the serial step, with its inner body extracted as a lambda.
//
// The loops over x and y carry no dependency: a cell's next temperature depends only on the state before the
// step. The lambda makes that body visible. It still captures everything by reference.

#include <algorithm>
#include <utility>
#include <vector>

#include "command.hpp"
#include "stage.hpp"

namespace {

void step_world_v1_lambda(heat::world& world, float dt, unsigned n) {
    const std::size_t w = world.width, h = world.height;
    const float outer = world.alpha * dt;  // weight of a neighbour
    const float inner = 1 - outer / 4;     // weight of the cell itself
    std::vector<float> buffer(w * h);

    const auto kernel_xy = [&](std::size_t x, std::size_t y) {
        const std::size_t index = y * w + x;
        if (world.properties[index] != heat::normal) {
            buffer[index] = world.state[index];  // fixed cells and insulators keep their temperature
            return;
        }
        float weight = inner;
        float sum = inner * world.state[index];
        const auto add = [&](std::size_t neighbour) {
            if (world.properties[neighbour] == heat::insulator) return;
            weight += outer;
            sum += outer * world.state[neighbour];
        };
        if (y > 0) add(index - w);
        if (y + 1 < h) add(index + w);
        if (x > 0) add(index - 1);
        if (x + 1 < w) add(index + 1);
        buffer[index] = std::min(1.0f, std::max(0.0f, sum / weight));
    };

    for (unsigned t = 0; t < n; ++t) {
        for (std::size_t y = 0; y < h; ++y)
            for (std::size_t x = 0; x < w; ++x) kernel_xy(x, y);
        std::swap(world.state, buffer);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto app =
        heat::command_line("Advances the heat world on stdin by a lambda a cell, and writes it to stdout.",
                           "step_world_v1_lambda");
    return heat::run_stage(*app, argc, argv, step_world_v1_lambda);
}
