#pragma once
// The one place where a kernel is fitted to a kind of device. In: a kernel as traced. Out: a kernel without
// grid_for, in which the shape of the loop, the pointers' aliasing and the vector width are decided.

#include <cstddef>

#include "ir/grid.hpp"
#include "ir/ir.hpp"

namespace balm::ir {

/// What is known of a launch when the kernel is compiled for it.
struct launch_facts {
    bool on_cpu = false;
    bool distinct = true;     ///< no memory that the kernel writes overlaps another of its arguments
    bool covers = false;      ///< the grid is laid out as `lowered` says
    grid_facts grid{};        ///< what the driver's grid is of the user's
    bool is_shifted = false;  ///< memory arguments begin within allocations: each is followed by its offset
    bool is_tight = false;    ///< memory may begin and end where no short vector does
    group_size only_for{};    ///< the launch's work-groups, where the compiler must be told to leave room
    friend bool operator==(const launch_facts&, const launch_facts&) = default;
};

/// A kernel fitted to a launch, and the grid that covers n indices of its grid_range: groups of `local_size`
/// work-items, each taking `elements_per_item`.
struct lowered {
    function kernel;
    std::size_t elements_per_item = 1;
    std::size_t local_size = 256;
};

lowered lower(const function& kernel, const launch_facts&);

}  // namespace balm::ir
