#pragma once
// The one place where a kernel is fitted to a kind of device. In: a kernel as traced. Out: a kernel without
// grid_for, in which the shape of the loop, the pointers' aliasing and the vector width are decided.

#include "ir/ir.hpp"

namespace balm::ir {

/// What is known of a launch when the kernel is compiled for it.
struct launch_facts {
    bool on_cpu = false;
    bool distinct = true;  ///< no memory that the kernel writes overlaps another of its arguments
    bool covers = false;   ///< the grid has a work-item for every index of grid_range
    friend bool operator==(const launch_facts&, const launch_facts&) = default;
};

function lower(const function& kernel, const launch_facts&);

}  // namespace balm::ir
