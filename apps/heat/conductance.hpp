#pragma once
// A world's properties, packed for the device: one code per cell, and a few coefficients. In: a world and dt.
// With the codes, no kernel needs the property of a neighbour.
//
// Insulators hold 0 on the device, so they add nothing to the sum of a cell's four neighbours, and
//
//     new = keep[code] * own + take[code] * (above + below + left + right)
//
// holds for every cell: one that keeps its temperature has keep 1 and take 0.

#include <array>
#include <cstdint>
#include <vector>

#include "world.hpp"

namespace heat {

/// The code of a normal cell is the number of its neighbours that conduct, 0 to 4.
inline constexpr std::uint8_t plain_code = 4;
/// The code of a cell that keeps its temperature: fixed, insulator, or outside the world.
inline constexpr std::uint8_t hold_code = 5;
inline constexpr std::size_t code_count = 6;

/// The code of each cell. Throws like `check`.
std::vector<std::uint8_t> cell_codes(const world& world);

/// The coefficients of a step, by code.
struct conductance {
    float outer = 0;                         ///< weight of a neighbour: alpha * dt
    float inner = 0;                         ///< weight of the cell itself: 1 - outer / 4
    std::array<float, code_count> weight{};  ///< the sum of the weights that the mean is divided by
    std::array<float, code_count> keep{};    ///< inner / weight
    std::array<float, code_count> take{};    ///< outer / weight, up to the last bits

    /// Whether every step is a mean with non-negative weights. Then only rounding moves a temperature out of
    /// [0, 1], and clamping may be deferred over several steps.
    bool is_mean() const { return inner >= 0; }
};

/// The coefficients for a propagation constant and a time step. `weight` is summed as in `step_serial`; its
/// rounding makes temperatures grow or shrink by up to 1e-7 per step. `take` is chosen so that
/// keep + code * take grows equally: after 10,000 steps of the golden slalom the difference is 8e-6; with an
/// exact mean it would be 4e-5.
conductance make_conductance(float alpha, float dt);

}  // namespace heat
