#pragma once
// What is known of a launch when its kernel is compiled for it. Launches of which other things are known have
// other programs.

#include <array>
#include <cstdint>

#include "runtime/table_hash.hpp"

namespace balm::runtime {

/// What the driver's grid is of the user's.
struct grid_facts {
    bool is_offset = false;  ///< global_id begins at an offset
    bool is_part = false;    ///< of a grid that is launched in several
    bool is_filled = false;  ///< up to whole work-groups: the work-items beyond do nothing
    friend bool operator==(const grid_facts&, const grid_facts&) = default;

    bool any() const { return is_offset || is_part || is_filled; }
};

struct launch_facts {
    bool on_cpu = false;
    bool distinct = true;     ///< no memory that the kernel writes overlaps another of its arguments
    bool covers = false;      ///< the grid is laid out as `lowered` says
    grid_facts grid{};        ///< what the driver's grid is of the user's
    bool is_shifted = false;  ///< memory arguments begin within allocations: each is followed by its offset
    bool is_tight = false;    ///< memory may begin and end where no short vector does
    std::array<std::uint32_t, 3> only_for{};  ///< the launch's work-groups, where the compiler must be told
                                              ///< to leave room; zeros: any
    friend bool operator==(const launch_facts&, const launch_facts&) = default;

    void add_to(table_hash& hash) const {
        hash.add(on_cpu, distinct, covers, grid.is_offset, grid.is_part, grid.is_filled, is_shifted, is_tight,
                 only_for[0], only_for[1], only_for[2]);
    }
};

}  // namespace balm::runtime
