#pragma once
// The serial heat step: a world comes in, the world n steps later goes out. Here as the oracle that every
// device's result is judged by, so it is written to be plainly right, and shares no code with `step`.

#include <vector>

#include "world.hpp"

namespace heat {

/// Advances a world by n steps of dt seconds, in single precision, in the order of operations of the heat
/// course's programs (their results are met to the last bit).
///
/// With outer = alpha * dt and inner = 1 - outer / 4, a normal cell becomes the mean of itself, with weight
/// inner, and its neighbours above, below, left and right, each with weight outer; insulators, and what lies
/// outside, are left out. The mean is clamped to [0, 1], and to 0 where it is no number, so that a dt that is
/// too large for the scheme gives a wrong world but a valid one. Other cells keep their temperature.
///
/// Throws std::invalid_argument when dt is negative or not finite, when alpha * dt is not finite, or when
/// `check` refuses the world. Complexity: n * width * height.
void step_serial(world& world, float dt, unsigned n);

/// The same in double precision, for judging long runs, where the rounding of single precision adds up. The
/// world stays as it is; the temperatures after n steps are returned.
std::vector<double> step_serial_double(const world& world, float dt, unsigned n);

/// The largest difference between two states, cell by cell. Throws std::invalid_argument unless they have
/// the same size.
double max_difference(const std::vector<float>& a, const std::vector<float>& b);
double max_difference(const std::vector<float>& a, const std::vector<double>& b);

/// Throws std::invalid_argument, in one sentence, unless a world with this alpha can be stepped by dt.
void check_step(float alpha, float dt);

}  // namespace heat
