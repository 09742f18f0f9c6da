#pragma once
// Hand-written cubic B-splines of two dimensions on the unit square: evaluated at points, and fitted to
// scattered points (multilevel B-splines starting from one cell, without a trend). A lattice of n cells has n
// + 3 control points along each dimension.

#include <cstddef>

#include "peer_work.hpp"

namespace peer {

/// The functions that `peer_cuda_spline_functions` of libpeer_cuda.so returns. Arrays hold doubles or floats.
/// Asynchronous except make, read and finish.
struct cuda_spline_functions {
    /// The spline at n points, one per thread.
    void* (*make_evaluation)(bool of_doubles, std::size_t cells, const void* lattice, std::size_t n,
                             const void* x, const void* y);
    /// A fit of n points. The sums of a level are added atomically, so their bits differ from run to run.
    void* (*make_fit)(bool of_doubles, int levels, std::size_t n, const void* x, const void* y,
                      const void* values);
    /// The copy moves as many bytes as the points and values have.
    cuda_work_functions on_work;
    /// Runs the work once more and copies the values, or the last level's lattice.
    void (*read)(void* work, void* to);
};

namespace openmp {

template <class T>
void evaluate_spline(T* to, const T* lattice, std::size_t cells, std::size_t n, const T* x, const T* y);
/// Each thread adds up its points in its own lattice.
template <class T>
void fit_spline(T* lattice, int levels, std::size_t n, const T* x, const T* y, const T* values);

}  // namespace openmp

}  // namespace peer
