#pragma once
// The heat step as CPU and CUDA programmers write it cell by cell: byte codes, coefficients from a table in
// place of a division, insulators that hold 0 in place of neighbour tests.

#include <cstddef>
#include <cstdint>

namespace peer {

/// A world with a border of one cell, row-major: height + 2 rows of `pitch` = width + 2 cells. The six
/// coefficients of each kind are indexed by code, as in apps/heat/conductance.hpp.
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
/// The state including its border.
const float* heat_state(const heat*);
void heat_release(heat*);

}  // namespace openmp

/// The same functions on CUDA, which `peer_cuda_heat_functions` of libpeer_cuda.so returns, on the device
/// chosen by cuda_functions::select. advance is asynchronous.
struct cuda_heat_functions {
    void* (*make)(const heat_world&);
    void (*advance)(void*, unsigned steps);
    void (*finish)(void*);
    /// Copies the state including its border.
    void (*read)(void*, float* state);
    void (*release)(void*);
};

}  // namespace peer
