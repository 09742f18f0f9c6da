#pragma once
// Sorts by the C++ library, oneTBB and CUB.

#include <cstddef>
#include <cstdint>

#include "peer_work.hpp"

namespace peer {

enum class sort_keys : std::uint8_t { u32, u64, f32 };
enum class sort_way : std::uint8_t {
    keys,             ///< cub::DeviceRadixSort
    keys_and_values,  ///< the same, with values of 32 bits
    comparison,       ///< cub::DeviceMergeSort
    rows              ///< cub::DeviceSegmentedSort
};
/// Elements per row.
inline constexpr std::size_t sort_row = 256;

/// The key of an element: the finaliser of MurmurHash3, whose digits are evenly distributed.
constexpr std::uint64_t hashed(std::uint64_t k) {
    k = (k ^ k >> 33) * 0xff51afd7ed558ccdull;
    k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53ull;
    return k ^ k >> 33;
}

/// The functions that `peer_cuda_sort_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select. Asynchronous except make and finish.
struct cuda_sort_functions {
    /// n keys, the low bits of hashed(i), and what else CUB needs.
    void* (*make)(sort_keys, sort_way, std::size_t n);
    /// Sorts from one array into another; the copy moves the same elements once.
    cuda_work_functions on_work;
};

namespace cpu {

template <class T>
void std_sort(T* first, std::size_t n);
/// By oneTBB; if that is missing, by the parallel mode of libstdc++ on OpenMP's threads.
template <class T>
void parallel_sort(T* first, std::size_t n);
/// The name of parallel_sort's implementation.
const char* parallel_sort_name();

}  // namespace cpu

}  // namespace peer
