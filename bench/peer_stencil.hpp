#pragma once
// Stencils of floats as one writes them by hand. Arrays are m x m, or m x m x m, row by row; the cells at
// the borders stay as they are.

#include <cstddef>

namespace peer {

struct stencil_functions {
    /// to = 2 from - other + 0.1 (up + down + left + right - 4 from)
    void (*wave)(float* to, const float* from, const float* other, std::size_t m);
    /// The sum of 0.01 k times neighbour k of 5 x 5, k = 0 to 24.
    void (*points25)(float* to, const float* from, const float*, std::size_t m);
    /// The sum of six neighbours, less 6 times the cell.
    void (*points7)(float* to, const float* from, const float*, std::size_t m);
};

namespace openmp {
extern const stencil_functions stencils;
}

/// Those of libpeer_cuda.so are got with `peer_cuda_stencils` (a cell a thread) and
/// `peer_cuda_tiled_stencils` (tiles in shared memory).

}  // namespace peer
