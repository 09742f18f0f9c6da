#pragma once
// Shared by all programs that advance a world, as a stage of a pipeline, so that such a program consists only
// of its step. In: a world on stdin. Out: the world n steps later on stdout.

#include <functional>

#include "world.hpp"

namespace CLI {
class App;
}

namespace heat {

/// Advances a world by n steps of dt seconds. dt passes `check_step` for this world; n may be 0.
using step_function = std::function<void(world& world, float dt, unsigned n)>;

/// Runs the program `app`: adds the arguments `[dt] [n] [binary]`, reads a world from stdin, reports on
/// stderr what it does, calls `step`, and writes the world to stdout. Returns the exit code, as `run_command`
/// does.
int run_stage(CLI::App& app, int argc, char** argv, const step_function& step);

}  // namespace heat
