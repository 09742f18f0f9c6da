#pragma once
// The only place where a kernel is specialised for a kind of device. In: a traced kernel. Out: a kernel
// without grid_for, with the shape of the loop, the pointers' aliasing and the vector width decided.

#include <array>
#include <cstddef>

#include "ir/ir.hpp"

namespace balm::ir {

using runtime::launch_facts;

/// A kernel specialised for a launch, and the grid that covers n indices of its grid_range: groups of
/// `local_size` work-items, each taking `elements_per_item`.
struct lowered {
    function kernel;
    std::size_t elements_per_item = 1;
    std::size_t most_peeled = 0;  ///< indices by which the first work-item may begin ahead of 0
    std::size_t local_size = 256;
    std::array<std::size_t, 2> rows_per_item{1, 1};  ///< as elements_per_item, for the grid's next dimensions
    std::uint32_t max_registers = 0;                 ///< per work-item; 0: any
    bool is_optimised = true;  ///< false: the device's compiler miscompiles the kernel if it optimises it
};

lowered lower(const function& kernel, const launch_facts&);

}  // namespace balm::ir
