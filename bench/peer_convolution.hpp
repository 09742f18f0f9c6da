#pragma once
// Convolutions of floats as one writes them by hand: to[i] is the sum of weights[k] * from[i + count / 2 -
// k], where nothing lies beyond the ends.

#include <cstddef>

#include "peer_work.hpp"

namespace peer {

/// Those of libpeer_cuda.so, got with `peer_cuda_convolution_functions`. Asynchronous but for make and
/// finish.
struct cuda_convolution_functions {
    /// n floats, a multiple of 4, by up to 4,096 weights: tiles in shared memory, loaded and stored 16 bytes
    /// at a time; weights in constant memory. 5 and 33 weights are known to the compiler.
    void* (*make)(std::size_t n, const float* weights, std::size_t count);
    cuda_work_functions on_work;
    void (*read)(void* work, float* to);
};

namespace openmp {
/// Each thread has a share; several weights a pass over a block of results.
void convolve(float* to, const float* from, std::size_t n, const float* weights, std::size_t count);
}  // namespace openmp

/// What the elements are.
inline float convolved_value(std::size_t i) { return static_cast<float>(i % 1009) * 0.001f; }
inline float convolution_weight(std::size_t k) { return static_cast<float>(k % 7 + 1) * 0.01f; }

}  // namespace peer
