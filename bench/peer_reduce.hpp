#pragma once
// Reductions: hand-written with OpenMP, and CUB's.

#include <cstddef>

#include "peer_work.hpp"

namespace peer {

enum class reduction {
    dot,            ///< of two arrays
    most_of_abs,    ///< the largest of |x|
    least_most_sum  ///< three results of one pass over x
};

/// The functions that `peer_cuda_reduce_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select. Asynchronous except make and finish.
struct cuda_reduce_functions {
    /// Two arrays of n elements, doubles or floats, and what else CUB needs.
    void* (*make)(bool of_doubles, reduction what, std::size_t n);
    /// cub::DeviceReduce, whose result stays on the device; the copy moves as many bytes, read and written,
    /// as the reduction reads.
    cuda_work_functions on_work;
};

namespace openmp {

/// Memory with the values of peer::openmp::allocate.
template <class T>
T* numbers(std::size_t n, double value);
template <class T>
T dot(const T* x, const T* y, std::size_t n);
template <class T>
T most_of_abs(const T* x, std::size_t n);
/// Returns the sum; stores the others through the pointers.
template <class T>
T least_most_sum(const T* x, std::size_t n, T* least, T* most);

}  // namespace openmp

}  // namespace peer
