#pragma once
// The heat step as a CPU and a CUDA programmer write it who look at one cell at a time: byte codes,
// coefficients from a table in place of a division, insulators that hold 0 in place of neighbour tests.

#include <cstddef>
#include <cstdint>

namespace peer {

/// A world with a border of one cell: row by row, `pitch` = width + 2 cells a row, height + 2 rows. The six
/// coefficients of each kind are by code, as in apps/heat/conductance.hpp.
struct heat_world {
    std::size_t width, height;
    const std::uint8_t* codes;
    const float* keep;
    const float* take;
    const float* state;
};

namespace openmp {

struct heat;
heat* heat_make(const heat_world&);
void heat_advance(heat*, unsigned steps);
/// The state with its border.
const float* heat_state(const heat*);
void heat_release(heat*);

}  // namespace openmp

/// The same of libpeer_cuda.so, got with `peer_cuda_heat_functions`, on the device that
/// cuda_functions::select has chosen. advance is asynchronous.
struct cuda_heat_functions {
    void* (*make)(const heat_world&);
    void (*advance)(void*, unsigned steps);
    void (*finish)(void*);
    /// Copies the state with its border.
    void (*read)(void*, float* state);
    void (*release)(void*);
};

}  // namespace peer
