#pragma once
// Initial worlds. In: sizes and a propagation constant. Out: a world. The heat course starts from its slalom;
// tests need random worlds.

#include <cstdint>

#include "world.hpp"

namespace heat {

/// The slalom of the heat course: a box of insulators; a hot row (1) along the top; a cold cell (0) in the
/// middle near the bottom; between them one wall from the left at a third of the height and one to the
/// right at two thirds, each with a barb, so that heat has to wind its way down. All else is cold.
/// In a world too small for all of it (below 10 x 10) the box overrides the hot row, which overrides the cold
/// cell, which overrides the walls.
/// Throws std::invalid_argument unless both sizes are at least 1 and alpha is finite and at least 0.
world make_slalom(unsigned width, unsigned height, float alpha);

/// The composition of a random world.
struct random_options {
    double insulators = 0.05;   ///< share of the cells
    double fixed = 0.05;        ///< share of the cells
    bool closed_border = true;  ///< cells on the edge are insulators; else random like all others
};

/// A world with random kinds and temperatures, the same for the same arguments on every system.
/// Throws like `make_slalom`.
world make_random(unsigned width, unsigned height, float alpha, std::uint64_t seed,
                  random_options options = {});

}  // namespace heat
