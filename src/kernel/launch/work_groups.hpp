#pragma once
// Divides a grid into work-groups, and into subgrids if a driver does not accept it in one launch; checks
// sizes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/lower/lower.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::kernels {

bool is_empty(const runtime::grid&);
/// Throws usage_error for negative sizes, and for more work-items or larger indices than can be counted.
/// `local` and `offset` may be null.
void check_sizes(const runtime::grid&, const std::size_t* local, const std::int64_t* offset,
                 const std::string& kernel);

/// Chooses the work-group size of a launch without one: at most `limit` work-items. If the kernel cannot
/// observe its groups, the size need not divide the grid. On a GPU, the last groups are padded, and the
/// excess work-items return at once. On a CPU, whose compiler does not vectorise work-items that may return
/// early, the rest of the rows becomes a subgrid.
void choose_local(const ir::function& kernel, runtime::grid&, std::size_t limit, const device_info&,
                  ir::launch_facts&);
/// Sets the work-group size that a kernel's text requires; returns false if it requires none. Throws
/// usage_error if `given` differs.
bool take_required_local(const ir::function& kernel, runtime::grid&, const std::size_t* given);
/// Throws usage_error for work-groups that do not divide the grid or exceed the device's limits.
void check_local(const runtime::grid&, const std::string& kernel, const device_info&);
void check_group_size(const runtime::grid&, const std::string& kernel, const device_info&,
                      std::size_t of_program);

/// Leaves the offset to the driver for kernels given as OpenCL C, which ask the driver for their place;
/// returns false if Balm adds it. Throws usage_error if the driver cannot take it.
bool leave_offset_to_driver(const ir::function& kernel, const runtime::device_state&, runtime::grid&,
                            const std::int64_t* offset);

/// Whether the driver accepts all work-groups in one launch.
bool fits_at_once(const runtime::grid&, const device_info&);
/// Throws usage_error for kernels that subgrids would break: texts ask the driver for their place, and each
/// subgrid would walk a whole grid_range.
void check_can_be_divided(const ir::function& kernel, const runtime::grid&, const device_info&);

/// A range of one launch in one dimension.
struct subgrid_range {
    std::size_t first, size, local;
};
using subgrid = std::array<subgrid_range, 3>;
/// The whole grid in one launch.
subgrid whole_of(const runtime::grid&);
/// The ranges that the driver accepts in one launch, by dimension.
std::array<std::vector<subgrid_range>, 3> subgrids_of(const runtime::grid&, const device_info&,
                                                      bool is_padded);

}  // namespace balm::kernels
