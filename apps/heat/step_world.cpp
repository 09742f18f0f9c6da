// step_world [dt] [n] [binary]: reads a heat world from stdin, advances it by n steps of dt seconds on the
// best device, and writes it to stdout.

#include <CLI/CLI.hpp>
#include <balm/balm.hpp>

#include "stage.hpp"
#include "step.hpp"

int main(int argc, char** argv) {
    CLI::App app("Advances the heat world on stdin and writes it to stdout.", "step_world");
    return heat::run_stage(app, argc, argv, [](heat::world& world, float dt, unsigned n) {
        if (n == 0) return;
        balm::context context;
        heat::step(world, dt, n, context);
    });
}
