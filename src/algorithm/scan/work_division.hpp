#pragma once
// How the elements of scans and compactions are divided: into chunks of contiguous elements, or into tiles of
// a group.

#include <cstddef>
#include <cstdint>

#include "algorithm/block/tile.hpp"
#include "algorithm/scan/scan_strategy.hpp"
#include "array/kernel_cache.hpp"
#include "array/layout.hpp"

namespace balm::array {

/// The part of a division that determines a kernel.
struct tile_plan {
    std::size_t group = 1;  ///< work-items, at most
    bool is_exact = true;   ///< groups have exactly that many
    bool has_sub_groups = false;
    block::runs tile{1, 1};           ///< a work-item's runs in a group's tile
    bool loads_vectors = false;       ///< each run of a tile is loaded as one vector
    std::uint32_t max_registers = 0;  ///< per work-item; 0: no limit

    bool on_item() const { return is_exact && group == 1; }
    std::size_t elements() const { return group * static_cast<std::size_t>(tile.elements()); }

    friend bool operator==(const tile_plan&, const tile_plan&) = default;
};

/// A tile on a GPU.
struct tile_shape {
    std::size_t group;                ///< work-items
    std::size_t bytes;                ///< of states per work-item
    std::uint32_t max_registers = 0;  ///< per work-item, if few steps compute an element; 0: no limit
};

/// The work to divide.
struct divided_work {
    std::size_t n;              ///< elements
    std::size_t bytes;          ///< of an element's state
    std::size_t widest_result;  ///< bytes
    bool may_be_one_pass;       ///< no result needs the total first
    bool may_look_back;         ///< tiles can announce their states
    tile_shape large_tiles;     ///< for a long input
};

struct work_division {
    scan_strategy strategy = scan_strategy::chunk_an_item;
    tile_plan tiles;
    std::size_t chunk = 0, chunks = 0;  ///< elements per chunk; number of chunks
};

/// The fastest division for the device, or the one that tests force.
work_division divide(const runtime::device_state&, bool on_cpu, const tape&, const layout& leaves,
                     const divided_work&);

runtime::grid grid_of(std::size_t groups, const tile_plan&, const kernels::device_kernel&);

}  // namespace balm::array
