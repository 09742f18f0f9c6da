#pragma once
// How a kind of device advances a world. In: the properties of a device. Out: a plan. This is the only place
// where the heat step depends on the device.

#include <set>
#include <span>
#include <string>
#include <vector>

#include "balm/device_info.hpp"

namespace heat {

/// The kernels that advance a world.
enum class method {
    single,  ///< one cell per work-item, one step per launch: on every device, for every dt
    tile,    ///< a work-group holds a tile in registers, and its work-items exchange edges: for GPUs
    sweep,   ///< a sub-group sweeps down a strip, with two rows of each step in registers: for GPUs
    stream,  ///< a work-item streams down a strip of cells that stay in the L1 cache: for CPUs
};

/// A kernel and its shape. All lengths are in cells.
struct plan {
    heat::method method = heat::method::single;
    unsigned steps = 1;        ///< a launch advances the world by up to this many steps
    unsigned tile_width = 64;  ///< cells that a work-group holds, the outer `steps` on each side read-only;
    unsigned tile_height = 4;  ///< for method::single, the work-group
    unsigned item_width = 1;   ///< cells that a work-item holds (method::tile), columns and rows that it
    unsigned item_height = 1;  ///< advances at once (method::sweep)
    unsigned at_once = 0;      ///< sub-groups resident on a compute unit (method::sweep)

    /// Work-items of a work-group.
    unsigned work_items() const;
    /// Cells of a tile that are written.
    unsigned inner_width() const { return tile_width - 2 * margin(); }
    unsigned inner_height() const { return tile_height - 2 * margin(); }
    unsigned margin() const { return method == heat::method::single ? 0 : steps; }
    /// Cells around the world, so that no read is out of bounds.
    unsigned border() const { return method == heat::method::single ? 1 : steps; }

    friend bool operator==(const plan&, const plan&) = default;
};

/// The numbers of steps of the launches that advance a world by each of these numbers; of a whole launch if
/// there are none. Methods with a kernel for each number of steps need one for each of them.
std::set<unsigned> launch_steps(const plan& plan, std::span<const unsigned> advances);

/// A plan in words: "tile of 128 x 128 cells, 4 x 16 a work-item, 8 steps a launch".
std::string describe(const plan& plan);

/// The table: the fastest known plan for a kind of device.
plan plan_for(const balm::device_info& device);

/// The plan of one cell per work-item.
plan single_plan(balm::device_type type);

/// Whether a device has the work-group size, local memory and sub-groups of a plan.
bool runs_on(const balm::device_info& device, const plan& plan);

/// Registers per work-item of a sweep, so that a compute unit with 65,536 holds plan.at_once sub-groups.
unsigned registers_of(const plan& plan);

/// The plans that a search for the fastest one tries on a device, a few dozen: the table's first, then only
/// plans for which `runs_on` is true.
std::vector<plan> candidate_plans(const balm::device_info& device);

}  // namespace heat
