#pragma once
// Hand-written convolutions of floats: to[i] is the sum of weights[k] * from[i + count / 2 - k], with zeros
// beyond the ends.

#include <cstddef>

#include "peer_work.hpp"

namespace peer {

/// The functions that `peer_cuda_convolution_functions` of libpeer_cuda.so returns. Asynchronous except make,
/// read and finish.
struct cuda_convolution_functions {
    /// n floats, a multiple of 4, with up to 4,096 weights: tiles in shared memory, loaded and stored 16
    /// bytes at a time; weights in constant memory. Counts of 5 and 33 weights are compile-time constants.
    void* (*make)(std::size_t n, const float* weights, std::size_t count);
    cuda_work_functions on_work;
    void (*read)(void* work, float* to);
};

namespace openmp {
/// Each thread has a share; each pass over a block of results applies several weights.
void convolve(float* to, const float* from, std::size_t n, const float* weights, std::size_t count);
}  // namespace openmp

/// The elements and weights of the benchmark.
inline float convolved_value(std::size_t i) { return static_cast<float>(i % 1009) * 0.001f; }
inline float convolution_weight(std::size_t k) { return static_cast<float>(k % 7 + 1) * 0.01f; }

}  // namespace peer
