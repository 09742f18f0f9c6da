// A program that advances a world. In: its arguments, a world on stdin, a step. Out: the world on stdout.

#include "stage.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "command.hpp"
#include "reference.hpp"

namespace heat {

int run_stage(CLI::App& app, int argc, char** argv, const step_function& step) {
    float dt = 0.1f;
    unsigned n = 1, binary = 0;
    add_number(app, "dt", dt, "time step, in seconds");
    add_number(app, "n", n, 0, 0xFFFFFFFF, "number of steps");
    add_number(app, "binary", binary, 0, 1, "output format: 0 text, 1 binary");
    return run_command(app, argc, argv, [&] {
        world world = read_world(std::cin);
        std::cerr << fmt::format("Loaded world with w={}, h={}\n", world.width, world.height);
        check_step(world.alpha, dt);
        std::cerr << fmt::format("Stepping by dt={:g} for n={}\n", dt, n);
        step(world, dt, n);
        write_world(std::cout, world, binary ? format::binary : format::text);
        return 0;
    });
}

}  // namespace heat
