#pragma once
// Histograms that one would write with OpenMP, and those of CUB.

#include <cstddef>
#include <cstdint>

#include "peer_work.hpp"

namespace peer {

/// Those of libpeer_cuda.so, got with `peer_cuda_histogram_functions`, on the device that
/// cuda_functions::select has chosen. Asynchronous but for make and finish.
struct cuda_histogram_functions {
    /// An array of n bytes, counted in 256 bins, or of n floats below 1, in 1,024 even ones. Each is made of
    /// a hash of its position, or all are the same.
    void* (*make)(bool of_floats, bool are_equal, std::size_t n);
    /// By cub::DeviceHistogram; the copy moves all elements.
    cuda_work_functions on_work;
};

namespace openmp {

/// counts[k]: how many bytes are k. Each thread counts in a table of its own.
void histogram(const std::uint8_t* x, std::size_t n, std::int64_t* counts);
/// counts[k]: how many numbers have floor(1024 x) = k.
void histogram(const float* x, std::size_t n, std::int64_t* counts);

}  // namespace openmp

}  // namespace peer
