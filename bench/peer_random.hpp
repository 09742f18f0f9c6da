#pragma once
// Philox 4x32-10 random numbers in f32, uniform and normal, by cuRAND and Random123.

#include <cstddef>
#include <cstdint>

namespace peer {

/// The functions that `peer_cuda_random_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select: cuRAND's host API, whose library is opened on first use. Asynchronous except make
/// and finish.
struct cuda_random_functions {
    /// Null if cuRAND is missing.
    void* (*make)(std::size_t n);
    void (*uniform)(void*);
    void (*normal)(void*);
    void (*finish)();
    void (*release)(void*);
};

namespace openmp {

/// The Random123 headers, four numbers per block.
void uniform(std::uint64_t seed, float* out, std::size_t n);
/// The same with the Box-Muller transform by the C library's functions, in pairs.
void normal(std::uint64_t seed, float* out, std::size_t n);

}  // namespace openmp

}  // namespace peer
