#pragma once
// How all reductions share out elements among work-items.

#include <algorithm>
#include <bit>
#include <cstddef>

#include "array/layout.hpp"

namespace balm::array {

/// Elements of a work-item on CPUs: 36 GB/s at two cores (PoCL 3.1); 2 % less at 8 k and 128 k.
inline constexpr std::size_t cpu_elements = 32768;
/// Bytes that a work-item of a GPU has under way at once.
inline constexpr std::size_t bytes_under_way = 64;

/// Rows of 32 elements of a piece that are loaded before they are combined.
inline constexpr std::size_t rows_at_once = 8;
/// How many elements a work-item of a grid loads before it combines them.
inline std::size_t loads_at_once(const layout& leaves) {
    std::size_t bytes = 0;
    for (const vector_state* v : leaves.vectors) bytes += v->element_size();
    return std::clamp<std::size_t>(std::bit_floor(bytes_under_way / std::max<std::size_t>(bytes, 4)), 1, 16);
}

/// How many neighbours a work-item of a GPU takes together: those of a block of random numbers, or what makes
/// a load of 16 bytes, where elements are read side by side.
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

/// For tests: from now on all devices share out reductions as GPUs do, or each its own way again.
void use_shapes_of_gpus(bool everywhere);
/// Whether they do.
bool are_shapes_of_gpus();

}  // namespace balm::array
