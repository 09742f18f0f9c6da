#pragma once
// Selections and reductions by key: hand-written with OpenMP, and CUB's.

#include <cstddef>
#include <cstdint>

#include "peer_work.hpp"

namespace peer {

enum class selection : int { copy_if, unique, reduce_by_key, run_length_encode };

/// The functions that `peer_cuda_select_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select. Asynchronous except make and finish.
struct cuda_select_functions {
    /// Arrays of n 32-bit keys and floats, room for the results, and what else CUB needs. copy_if selects a
    /// float if a hash of its position is below 2^32 * share; keys are in runs of `run` elements.
    void* (*make)(selection what, std::size_t n, double share, std::size_t run);
    /// cub::DeviceSelect, DeviceReduce::ReduceByKey and DeviceRunLengthEncode; the copy reads and writes all
    /// keys.
    cuda_work_functions on_work;
};

namespace openmp {

/// Copies the positive elements, in order, in two passes; returns their number. Each element is stored where
/// the next positive one goes, so that no branch depends on it.
std::size_t copy_positive(const float* from, float* to, std::size_t n);
/// Copies the first element of each run.
std::size_t unique(const std::int32_t* from, std::int32_t* to, std::size_t n);
/// Keys and sums of runs, in two passes: each thread counts the runs that begin in its share, then sums them.
std::size_t reduce_by_key(const std::int32_t* keys, const float* values, std::int32_t* to_keys, float* sums,
                          std::size_t n);

}  // namespace openmp

}  // namespace peer
