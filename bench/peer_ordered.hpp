#pragma once
// Merges, set operations and top-k selections: hand-written with OpenMP and the standard library, and those
// of Thrust and CUB.

#include <cstddef>
#include <cstdint>

#include "peer_work.hpp"

namespace peer {

enum class ordered : int { merge, merge_by_key, set_union, set_intersection, top_k };

/// Element i of sorted array 0 or 1; about half of the elements are in both.
inline std::uint32_t sorted_element(std::uint32_t i, std::uint32_t array) {
    return 2 * i + ((i ^ array * 0x55555555u) * 2654435769u >> 31);
}

/// The functions that `peer_cuda_ordered_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select.
struct cuda_ordered_functions {
    /// Two arrays of n sorted elements (with floats beside them), and room for 2 n; for top_k an array of n
    /// floats.
    void* (*make)(ordered what, std::size_t n, std::size_t k);
    /// thrust::merge …; for top_k cub::DeviceRadixSort with positions, whatever k is. The copy reads and
    /// writes 2 n elements, for top_k n.
    cuda_work_functions on_work;
};

namespace openmp {

/// Threads have shares of the output, whose ends a binary search finds, and call std::merge.
void merge(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* to, std::size_t n);
void merge_by_key(const std::uint32_t* a, const float* x, const std::uint32_t* b, const float* y,
                  std::uint32_t* to, float* z, std::size_t n);
/// Threads have shares of `a`; they count their results, then store them. Returns the number of results.
std::size_t set_union(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* to, std::size_t n);
std::size_t set_intersection(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* to,
                             std::size_t n);
/// Each thread calls std::partial_sort_copy for its share; a last call combines the results.
void top_k(const float* x, std::size_t n, std::size_t k, float* values);

}  // namespace openmp

}  // namespace peer
