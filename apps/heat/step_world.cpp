// step_world [dt] [n] [binary]: reads a heat world from stdin, advances it by n steps of dt seconds on the
// best device, and writes it to stdout.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <balm/balm.hpp>
#include <iostream>

#include "command.hpp"
#include "reference.hpp"
#include "step.hpp"

int main(int argc, char** argv) {
    float dt = 0.1f;
    unsigned n = 1, binary = 0;
    CLI::App app("Advances the heat world on stdin and writes it to stdout.", "step_world");
    heat::add_number(app, "dt", dt, "time step, in seconds");
    heat::add_number(app, "n", n, 0, 0xFFFFFFFF, "number of steps");
    heat::add_number(app, "binary", binary, 0, 1, "format of the output: 0 text, 1 binary");
    return heat::run_command(app, argc, argv, [&] {
        heat::world world = heat::read_world(std::cin);
        std::cerr << fmt::format("Loaded world with w={}, h={}\n", world.width, world.height);
        heat::check_step(world.alpha, dt);
        std::cerr << fmt::format("Stepping by dt={:g} for n={}\n", dt, n);
        if (n > 0) {
            balm::context context;
            heat::step(world, dt, n, context);
        }
        heat::write_world(std::cout, world, binary ? heat::format::binary : heat::format::text);
        return 0;
    });
}
