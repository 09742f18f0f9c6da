#pragma once
// How the elements of scans and compactions are divided: in chunks of consecutive ones, or in tiles of a
// group.

#include <cstddef>
#include <cstdint>

#include "algorithm/block/tile.hpp"
#include "algorithm/scan/scan_strategy.hpp"
#include "array/kernel_cache.hpp"
#include "array/layout.hpp"

namespace balm::array {

/// The part of it that decides a kernel.
struct tile_plan {
    std::size_t group = 1;  ///< work-items, at most
    bool is_exact = true;   ///< groups have as many
    bool has_sub_groups = false;
    block::runs tile{1, 1};           ///< of a work-item in a group's tile
    bool loads_vectors = false;       ///< each run of a tile is one
    std::uint32_t max_registers = 0;  ///< of a work-item; 0: any

    bool on_item() const { return is_exact && group == 1; }
    std::size_t elements() const { return group * static_cast<std::size_t>(tile.elements()); }

    friend bool operator==(const tile_plan&, const tile_plan&) = default;
    void add_to(runtime::table_hash& hash) const {
        hash.add(group, is_exact, has_sub_groups, tile.count, tile.length, loads_vectors, max_registers);
    }
};

/// A tile on a GPU.
struct tile_shape {
    std::size_t group;                ///< work-items
    std::size_t bytes;                ///< of states that a work-item has
    std::uint32_t max_registers = 0;  ///< of a work-item, where few steps compute an element; 0: any
};

/// What is to be divided.
struct divided_work {
    std::size_t n;                  ///< elements
    std::size_t bytes;              ///< of an element's state
    std::size_t widest_result;      ///< bytes
    bool may_be_one_pass;           ///< nothing needs the total before it is computed
    tile_shape large_tiles;         ///< of a long input
    std::size_t most_local_memory;  ///< bytes that the states of a tile may take
};

struct work_division {
    scan_strategy strategy = scan_strategy::chunk_an_item;
    tile_plan tiles;
    std::size_t chunk = 0, chunks = 0;  ///< elements of a chunk; how many there are
};

/// The fastest one for the device, or the one that tests ask for.
work_division divide(const runtime::device_state&, bool on_cpu, const tape&, const layout& leaves,
                     const divided_work&);

runtime::grid grid_of(std::size_t groups, const tile_plan&, const cached_kernel&);

}  // namespace balm::array
