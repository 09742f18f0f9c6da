#pragma once
// Scans: hand-written with OpenMP, and CUB's.

#include <cstddef>
#include <cstdint>

#include "peer_work.hpp"

namespace peer {

/// The functions that `peer_cuda_scan_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select. Asynchronous except make and finish.
struct cuda_scan_functions {
    /// An array of n elements, doubles or 32-bit integers, one for the results, and what else CUB needs.
    void* (*make)(bool of_doubles, std::size_t n);
    /// The same of 32-bit integers in runs of `run` equal keys, which are 32-bit integers, too.
    void* (*make_by_key)(std::size_t run, std::size_t n);
    /// cub::DeviceScan; the copy moves as many bytes, read and written, as a scan that reads each element
    /// once.
    cuda_work_functions on_work;
};

namespace openmp {

/// to[k] = from[0] + … + from[k], in two passes: each thread sums its share, then scans it.
template <class T>
void inclusive_scan(const T* from, T* to, std::size_t n);

}  // namespace openmp

}  // namespace peer
