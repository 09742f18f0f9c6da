#pragma once
// Hand-written stencils of floats. Arrays are m x m, or m x m x m, row-major; cells at the borders are
// unchanged.

#include <cstddef>

namespace peer {

struct stencil_functions {
    /// to = 2 from - other + 0.1 (up + down + left + right - 4 from)
    void (*wave)(float* to, const float* from, const float* other, std::size_t m);
    /// The sum of 0.01 k times neighbour k of 5 x 5, for k = 0 to 24.
    void (*points25)(float* to, const float* from, const float*, std::size_t m);
    /// The sum of six neighbours minus 6 times the cell.
    void (*points7)(float* to, const float* from, const float*, std::size_t m);
};

namespace openmp {
extern const stencil_functions stencils;
}

/// libpeer_cuda.so returns its stencils from `peer_cuda_stencils` (one cell per thread) and
/// `peer_cuda_tiled_stencils` (tiles in shared memory).

}  // namespace peer
