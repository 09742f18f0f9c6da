#pragma once
// The reductions that one would write with OpenMP, and those of CUB.

#include <cstddef>

#include "peer_work.hpp"

namespace peer {

enum class reduction {
    dot,            ///< of two arrays
    most_of_abs,    ///< the largest of |x|
    least_most_sum  ///< three results of one pass over x
};

/// Those of libpeer_cuda.so, got with `peer_cuda_reduce_functions`, on the device that cuda_functions::select
/// has chosen. Asynchronous but for make and finish.
struct cuda_reduce_functions {
    /// Two arrays of n elements, doubles or floats, and what CUB needs besides.
    void* (*make)(bool of_doubles, reduction what, std::size_t n);
    /// By cub::DeviceReduce, whose result stays on the device; the copy moves as many bytes, read and
    /// written, as the reduction reads.
    cuda_work_functions on_work;
};

namespace openmp {

/// Memory as peer::openmp::allocate gives it.
template <class T>
T* numbers(std::size_t n, double value);
template <class T>
T dot(const T* x, const T* y, std::size_t n);
template <class T>
T most_of_abs(const T* x, std::size_t n);
/// Gives the sum; the others through the pointers.
template <class T>
T least_most_sum(const T* x, std::size_t n, T* least, T* most);

}  // namespace openmp

}  // namespace peer
