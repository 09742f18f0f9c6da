#pragma once
// The scans that one would write with OpenMP, and those of CUB.

#include <cstddef>
#include <cstdint>

#include "peer_work.hpp"

namespace peer {

/// Those of libpeer_cuda.so, got with `peer_cuda_scan_functions`, on the device that cuda_functions::select
/// has chosen. Asynchronous but for make and finish.
struct cuda_scan_functions {
    /// An array of n elements, doubles or 32-bit integers, one for the results, and what CUB needs besides.
    void* (*make)(bool of_doubles, std::size_t n);
    /// By cub::DeviceScan; the copy moves as many bytes, read and written, as a scan that reads each element
    /// once.
    cuda_work_functions on_work;
};

namespace openmp {

/// to[k] = from[0] + … + from[k], in two passes: each thread adds up its share, then scans it.
template <class T>
void inclusive_scan(const T* from, T* to, std::size_t n);

}  // namespace openmp

}  // namespace peer
