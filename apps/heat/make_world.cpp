// make_world [n] [alpha] [binary]: writes the heat course's slalom world of n x n cells to stdout.

#include <iostream>

#include "command.hpp"
#include "generate.hpp"

int main(int argc, char** argv) {
    unsigned n = 10, binary = 0;
    float alpha = 0.1f;
    const auto app = heat::command_line("Writes a slalom heat world to stdout.", "make_world");
    heat::add_number(*app, "n", n, 1, 0xFFFFFFFF, "cells per row, and rows");
    heat::add_number(*app, "alpha", alpha, "propagation constant, per second");
    heat::add_number(*app, "binary", binary, 0, 1, "output format: 0 text, 1 binary");
    return heat::run_command(*app, argc, argv, [&] {
        const heat::world world = heat::make_slalom(n, n, alpha);
        heat::write_world(std::cout, world, binary ? heat::format::binary : heat::format::text);
        return 0;
    });
}
