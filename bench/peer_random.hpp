#pragma once
// Philox 4x32-10 numbers of f32, uniform and normal, by the libraries that one would take.

#include <cstddef>
#include <cstdint>

namespace peer {

/// Those of libpeer_cuda.so, got with `peer_cuda_random_functions`, on the device that cuda_functions::select
/// has chosen: cuRAND's host API, whose library is opened when first used. Asynchronous but for make and
/// finish.
struct cuda_random_functions {
    /// Null where there is no cuRAND.
    void* (*make)(std::size_t n);
    void (*uniform)(void*);
    void (*normal)(void*);
    void (*finish)();
    void (*release)(void*);
};

namespace openmp {

/// The Random123 headers, four numbers a block.
void uniform(std::uint64_t seed, float* out, std::size_t n);
/// The same with Box and Muller by the C library, in pairs.
void normal(std::uint64_t seed, float* out, std::size_t n);

}  // namespace openmp

}  // namespace peer
