#pragma once
// How a grid is cut into work-groups, and into subgrids where a driver does not take it at once; which sizes
// are refused.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/lower/lower.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::kernels {

bool is_empty(const runtime::grid&);
/// Refuses negative sizes, more work-items than can be counted, and places that cannot be. `local` and
/// `offset` may be null.
void check_sizes(const runtime::grid&, const std::size_t* local, const std::int64_t* offset,
                 const std::string& kernel);

/// Chooses the work-group size of a launch that gives none, of at most `limit` work-items. Where the kernel
/// cannot tell, the size need not divide the grid: on a GPU the last groups are filled up, and the work-items
/// beyond leave at once; on a CPU, whose compiler makes no vectors of work-items that may leave, the rest of
/// the rows becomes a subgrid.
void choose_local(const ir::function& kernel, runtime::grid&, std::size_t limit, const device_info&,
                  ir::launch_facts&);
/// Takes the work-group size that a kernel's text says it needs, or refuses another one; false if it says
/// none.
bool take_required_local(const ir::function& kernel, runtime::grid&, const std::size_t* given);
/// Refuses work-groups that do not divide the grid, or that the device has not.
void check_local(const runtime::grid&, const std::string& kernel, const device_info&);
void check_group_size(const runtime::grid&, const std::string& kernel, const device_info&,
                      std::size_t of_program);

/// OpenCL C as text asks the driver for its place, so that there the driver is told of the offset; false
/// where Balm adds it.
bool leave_offset_to_driver(const ir::function& kernel, const runtime::device_state&, runtime::grid&,
                            const std::int64_t* offset);

/// Whether the driver takes all work-groups at once.
bool fits_at_once(const runtime::grid&, const device_info&);
/// Texts ask the driver for their place, and a grid_range would be walked once in each subgrid.
void check_can_be_divided(const ir::function& kernel, const runtime::grid&, const device_info&);

/// What is launched at once, by dimension.
struct subgrid_range {
    std::size_t first, size, local;
};
using subgrid = std::array<subgrid_range, 3>;
/// The whole grid at once.
subgrid whole_of(const runtime::grid&);
/// By dimension, the ranges that the driver takes at once.
std::array<std::vector<subgrid_range>, 3> subgrids_of(const runtime::grid&, const device_info&,
                                                      bool is_filled);

}  // namespace balm::kernels
