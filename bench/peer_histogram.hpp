#pragma once
// Histograms: hand-written with OpenMP, and CUB's.

#include <cstddef>
#include <cstdint>

#include "peer_work.hpp"

namespace peer {

/// The functions that `peer_cuda_histogram_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select. Asynchronous except make and finish.
struct cuda_histogram_functions {
    /// An array of n bytes, counted in 256 bins, or of n floats below 1, counted in 1,024 even ones. Each
    /// element is a hash of its position, or all are equal.
    void* (*make)(bool of_floats, bool are_equal, std::size_t n);
    /// cub::DeviceHistogram; the copy moves all elements.
    cuda_work_functions on_work;
};

namespace openmp {

/// counts[k]: the number of bytes that equal k. Each thread counts in its own tables.
void histogram(const std::uint8_t* x, std::size_t n, std::int64_t* counts);
/// counts[k]: the number of elements with floor(1024 x) = k.
void histogram(const float* x, std::size_t n, std::int64_t* counts);

}  // namespace openmp

}  // namespace peer
