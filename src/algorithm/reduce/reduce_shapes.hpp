#pragma once
// How all reductions divide elements among work-items.

#include <algorithm>
#include <bit>
#include <cstddef>

#include "array/layout.hpp"

namespace balm::array {

/// Elements per work-item on CPUs: 36 GB/s on two cores (PoCL 3.1); 2 % less with 8 k and 128 k.
inline constexpr std::size_t cpu_elements = 32768;
/// Bytes that a work-item of a GPU has in flight at once.
inline constexpr std::size_t bytes_under_way = 64;

/// Rows of 32 elements of a piece that are loaded before they are combined.
inline constexpr std::size_t rows_at_once = 8;
/// The number of elements that a work-item of a grid loads before it combines them.
inline std::size_t loads_at_once(const layout& leaves) {
    std::size_t bytes = 0;
    for (const vector_state* v : leaves.vectors) bytes += v->element_size();
    return std::clamp<std::size_t>(std::bit_floor(bytes_under_way / std::max<std::size_t>(bytes, 4)), 1, 16);
}
/// The same for reductions of all elements. Operands of up to four vectors are combined alike, so that
/// reductions of `x * y` and `x * x` can share a pass.
inline std::size_t elements_at_once(const layout& leaves) {
    std::size_t widest = 4;
    for (const vector_state* v : leaves.vectors) widest = std::max(widest, v->element_size());
    const std::size_t parts = std::max<std::size_t>(std::bit_ceil(leaves.vectors.size()), 4) / 2;
    return std::max<std::size_t>(std::bit_floor(bytes_under_way / (widest * parts)), 1);
}

/// The number of neighbours that a work-item of a GPU takes together: those of a block of random numbers, or
/// a load of 16 bytes if elements are read in order.
inline int lanes_of_grid(const tape& p, const layout& leaves) {
    if (is_cheaper_in_fours(p)) return 4;
    const bool reads_elsewhere = std::any_of(p.steps.begin(), p.steps.end(), [](const step& s) {
        return s.what == step::kind::at || s.what == step::kind::memory;
    });
    if (reads_elsewhere || !leaves.has_whole_vectors()) return 1;
    std::size_t widest = 4;
    for (const vector_state* v : leaves.vectors) widest = std::max(widest, v->element_size());
    return widest > 8 ? 1 : static_cast<int>(16 / widest);
}

/// For tests: all devices divide later reductions as GPUs do if `everywhere`, else each in its own way.
void use_shapes_of_gpus(bool everywhere);
/// Whether they do.
bool are_shapes_of_gpus();

}  // namespace balm::array
