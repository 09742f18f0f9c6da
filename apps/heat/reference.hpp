#pragma once
// The serial heat step. In: a world. Out: the world n steps later. It is the oracle for the results of every
// device, so it is written to be obviously correct, and shares no code with `step`.

#include <vector>

#include "world.hpp"

namespace heat {

/// Advances a world by n steps of dt seconds, in single precision, in the order of operations of the heat
/// course's programs (the results are bit-identical).
///
/// With outer = alpha * dt and inner = 1 - outer / 4, a normal cell becomes the mean of itself, with weight
/// inner, and its neighbours above, below, left and right, each with weight outer; insulators and neighbours
/// outside the world are left out. The mean is clamped to [0, 1], and NaN to 0, so that a dt that is too
/// large for the scheme gives a wrong but valid world. Other cells keep their temperature.
///
/// Throws std::invalid_argument if dt is negative or not finite, if alpha * dt is not finite, or if `check`
/// refuses the world. Complexity: n * width * height.
void step_serial(world& world, float dt, unsigned n);

/// The same in double precision, to assess long runs, in which single-precision rounding accumulates. Leaves
/// the world unchanged and returns the temperatures after n steps.
std::vector<double> step_serial_double(const world& world, float dt, unsigned n);

/// The largest difference between two states, cell by cell. Throws std::invalid_argument unless they have
/// the same size.
double max_difference(const std::vector<float>& a, const std::vector<float>& b);
double max_difference(const std::vector<float>& a, const std::vector<double>& b);

/// Throws std::invalid_argument, with a message of one sentence, unless a world with this alpha can be
/// advanced by dt.
void check_step(float alpha, float dt);

}  // namespace heat
