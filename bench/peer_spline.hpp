#pragma once
// Cubic B-splines of two dimensions on the unit square as one writes them by hand: evaluated at points, and
// fitted to scattered points (multilevel B-splines from one cell on, without a trend). A lattice of n cells
// has n + 3 control points along each dimension.

#include <cstddef>

#include "peer_work.hpp"

namespace peer {

/// Those of libpeer_cuda.so, got with `peer_cuda_spline_functions`. Arrays are of doubles, or of floats.
/// Asynchronous but for make, read and finish.
struct cuda_spline_functions {
    /// The spline at n points, one a thread.
    void* (*make_evaluation)(bool of_doubles, std::size_t cells, const void* lattice, std::size_t n,
                             const void* x, const void* y);
    /// A fit of n points: sums of a level are added atomically, so that their bits differ from run to run.
    void* (*make_fit)(bool of_doubles, int levels, std::size_t n, const void* x, const void* y,
                      const void* values);
    /// The copy moves as many bytes as the points and values have.
    cuda_work_functions on_work;
    /// Runs it once more: the values, or the last level's lattice.
    void (*read)(void* work, void* to);
};

namespace openmp {

template <class T>
void evaluate_spline(T* to, const T* lattice, std::size_t cells, std::size_t n, const T* x, const T* y);
/// Each thread adds its points up in a lattice of its own.
template <class T>
void fit_spline(T* lattice, int levels, std::size_t n, const T* x, const T* y, const T* values);

}  // namespace openmp

}  // namespace peer
