#pragma once
// Selections and reductions by key that one would write with OpenMP, and those of CUB.

#include <cstddef>
#include <cstdint>

#include "peer_work.hpp"

namespace peer {

enum class selection : int { copy_if, unique, reduce_by_key, run_length_encode };

/// Those of libpeer_cuda.so, got with `peer_cuda_select_functions`, on the device that cuda_functions::select
/// has chosen. Asynchronous but for make and finish.
struct cuda_select_functions {
    /// Arrays of n 32-bit keys and floats, room for the results, and what CUB needs besides. Of copy_if a
    /// float is selected if a hash of its position is below 2^32 * share; keys are in runs of so many
    /// elements.
    void* (*make)(selection what, std::size_t n, double share, std::size_t run);
    /// By cub::DeviceSelect, DeviceReduce::ReduceByKey and DeviceRunLengthEncode; the copy reads and writes
    /// all keys.
    cuda_work_functions on_work;
};

namespace openmp {

/// The positive ones, in order, in two passes; returns how many. Each element is stored where the next
/// positive one goes, so that no branch depends on it.
std::size_t copy_positive(const float* from, float* to, std::size_t n);
/// The first elements of runs.
std::size_t unique(const std::int32_t* from, std::int32_t* to, std::size_t n);
/// Keys and sums of runs, in two passes: each thread counts the runs that begin in its share, then adds them
/// up.
std::size_t reduce_by_key(const std::int32_t* keys, const float* values, std::int32_t* to_keys, float* sums,
                          std::size_t n);

}  // namespace openmp

}  // namespace peer
