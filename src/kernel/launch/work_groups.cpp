#include "kernel/launch/work_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "balm/bound_kernel.hpp"
#include "balm/error.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm {

namespace kernels {

namespace {

/// The largest index of a work-item.
constexpr std::size_t most_items_in_grid = std::numeric_limits<std::int64_t>::max();

/// "64 x 48". Sizes beyond the range of signed numbers are printed as the negative numbers that they were.
template <class Sizes>
std::string product(const runtime::grid& g, const Sizes& of) {
    std::string words;
    for (std::uint32_t d = 0; d < g.dimensions; ++d)
        words += fmt::format("{}{}", d == 0 ? "" : " x ", static_cast<std::int64_t>(of[d]));
    return words;
}

std::size_t largest_divisor(std::size_t n, std::size_t limit) {
    for (std::size_t d = std::min(n, limit); d > 1; --d)
        if (n % d == 0) return d;
    return 1;
}

/// Work-items of a group in the first dimension, in which memory is contiguous, for grids of several
/// dimensions.
constexpr std::size_t row_length = 32;

/// The most work-items of a group in dimension d if the group has room for `room`.
std::size_t most_items(const runtime::grid& g, std::uint32_t d, std::size_t room, const device_info& device) {
    const std::size_t most = std::min(room, device.max_work_item_sizes[d]);
    return d == 0 && g.dimensions > 1 ? std::min(most, row_length) : most;
}

/// Sets the group's sizes to `size_for(global, most)` per dimension, beginning with the first.
template <class SizeFor>
void fill_group(runtime::grid& g, std::size_t room, const device_info& device, SizeFor&& size_for) {
    for (std::uint32_t d = 0; d < g.dimensions; ++d) {
        g.local[d] = size_for(g.global[d], most_items(g, d, room, device));
        if (d + 1 < g.dimensions) room = std::max<std::size_t>(room / g.local[d], 1);
    }
}

bool divides_grid(const runtime::grid& g) {
    for (std::size_t d = 0; d < g.dimensions; ++d)
        if (g.global[d] % g.local[d] != 0) return false;
    return true;
}

/// Smaller groups waste most of a CPU's vector lanes, and their time is mostly that of starting a group.
constexpr std::size_t small_group = 64;

bool asks_in_text(const ir::function& f) {
    const std::vector<const ir::function*> all = ir::with_callees(f);
    return std::any_of(all.begin(), all.end(),
                       [](const ir::function* each) { return each->text && each->text->asks_for_its_place; });
}

using sizes = std::array<std::size_t, 3>;

sizes group_counts(const runtime::grid& g) {
    sizes counts{1, 1, 1};
    for (std::uint32_t d = 0; d < g.dimensions; ++d) counts[d] = (g.global[d] - 1) / g.local[d] + 1;
    return counts;
}
/// The number of groups that the driver accepts in one launch.
sizes most_groups(const runtime::grid& g, const device_info& device) {
    sizes most = group_counts(g);
    std::size_t room = device.max_groups;
    for (std::uint32_t d = 0; d < g.dimensions; ++d) {
        most[d] = std::min({most[d], device.max_group_counts[d], room});
        if (d + 1 < g.dimensions) room /= most[d];
    }
    return most;
}
std::vector<subgrid_range> ranges_of(std::size_t global, std::size_t local, std::size_t most_groups,
                                     bool is_padded) {
    const std::size_t whole = is_padded ? global : global / local * local;
    const std::size_t step = most_groups > whole / local ? whole : most_groups * local;
    std::vector<subgrid_range> list;
    for (std::size_t first = 0; first < whole; first += step)
        list.push_back({first, std::min(step, whole - first), local});
    if (whole < global) list.push_back({whole, global - whole, global - whole});
    return list;
}

}  // namespace

bool is_empty(const runtime::grid& g) {
    return std::find(g.global.begin(), g.global.end(), std::size_t{0}) != g.global.end();
}

void check_sizes(const runtime::grid& g, const std::size_t* local, const std::int64_t* offset,
                 const std::string& kernel) {
    const auto is_negative = [](std::size_t size) { return size > most_items_in_grid; };
    const std::size_t* const global = g.global.data();
    if (std::any_of(global, global + g.dimensions, is_negative))
        throw usage_error(
            fmt::format("kernel '{}' is launched over {} work-items: grid sizes cannot be negative", kernel,
                        product(g, global)));
    if (local != nullptr && std::any_of(local, local + g.dimensions, is_negative))
        throw usage_error(
            fmt::format("kernel '{}' is launched over {} work-items in work-groups of {}: work-group sizes "
                        "must be positive",
                        kernel, product(g, global), product(g, local)));
    if (is_empty(g)) return;
    std::size_t room = most_items_in_grid;
    for (std::uint32_t d = 0; d < g.dimensions; ++d) {
        if (global[d] > room)
            throw usage_error(
                fmt::format("kernel '{}' is launched over {} work-items, more than the maximum of {}", kernel,
                            product(g, global), most_items_in_grid));
        if (d + 1 < g.dimensions) room /= global[d];
        if (offset != nullptr && offset[d] > 0 &&
            global[d] > most_items_in_grid - static_cast<std::size_t>(offset[d]))
            throw usage_error(
                fmt::format("kernel '{}' is launched over {} work-items at offset {} in dimension {}: their "
                            "sum exceeds {}",
                            kernel, global[d], offset[d], d, most_items_in_grid));
    }
}

void choose_local(const ir::function& kernel, runtime::grid& g, std::size_t limit, const device_info& device,
                  ir::launch_facts& facts) {
    const std::size_t room = std::min(limit, kernels::usual_local_size);
    if (!kernel.sees_groups && !facts.on_cpu) {
        fill_group(g, room, device, [](std::size_t n, std::size_t most) { return std::min(n, most); });
        facts.grid.is_padded = !divides_grid(g);
        return;
    }
    fill_group(g, room, device, largest_divisor);
    const std::size_t items = g.local[0] * g.local[1] * g.local[2];
    const std::size_t all = g.global[0] * g.global[1] * g.global[2];
    if (kernel.sees_groups || items >= std::min(all, small_group)) return;
    g.local = {std::min(g.global[0], room), 1, 1};
    facts.grid.is_subgrid = !divides_grid(g);
}

void check_local(const runtime::grid& g, const std::string& kernel, const device_info& device) {
    for (std::uint32_t d = 0; d < g.dimensions; ++d) {
        if (g.local[d] == 0 || g.global[d] % g.local[d] != 0)
            throw usage_error(
                fmt::format("kernel '{}': the local size {} does not divide the global size {} in "
                            "dimension {}",
                            kernel, g.local[d], g.global[d], d));
        if (g.local[d] > device.max_work_item_sizes[d])
            throw usage_error(
                fmt::format("kernel '{}': the local size {} in dimension {} exceeds the {} that '{}' allows",
                            kernel, g.local[d], d, device.max_work_item_sizes[d], device.name));
    }
}

void check_group_size(const runtime::grid& g, const std::string& kernel, const device_info& device,
                      std::size_t of_program) {
    const std::size_t items = g.local[0] * g.local[1] * g.local[2];
    const std::size_t limit = std::min(of_program, device.max_work_group_size);
    if (items > limit)
        throw usage_error(
            fmt::format("kernel '{}': work-groups of {} work-items were requested, but on '{}' this kernel "
                        "allows at most {}",
                        kernel, items, device.name, limit));
}

bool leave_offset_to_driver(const ir::function& kernel, const runtime::device_state& device, runtime::grid& g,
                            const std::int64_t* offset) {
    if (!kernel.text && asks_in_text(kernel))
        throw usage_error(
            fmt::format("kernel '{}' is launched with an offset, but a function that it calls is given as "
                        "text and queries its position in the grid: pass the position to it as a value",
                        kernel.name));
    if (!kernel.text || !kernels::features_of(device).has_grid_offset) return false;
    for (std::uint32_t d = 0; d < g.dimensions; ++d) {
        if (offset[d] < 0)
            throw usage_error(
                fmt::format("kernel '{}' is given as text and launched with the offset {}; OpenCL has no "
                            "negative offsets",
                            kernel.name, offset[d]));
        g.offset[d] = static_cast<std::size_t>(offset[d]);
    }
    return true;
}

bool take_required_local(const ir::function& kernel, runtime::grid& g, const std::size_t* given) {
    if (!kernel.text || kernel.text->required_local[0] == 0) return false;
    const auto& required = kernel.text->required_local;
    for (std::uint32_t d = 0; d < g.dimensions; ++d) {
        if (given && given[d] != required[d])
            throw usage_error(
                fmt::format("kernel '{}' requires work-groups of {} x {} x {} (reqd_work_group_size), but is "
                            "launched with {} in dimension {}",
                            kernel.name, required[0], required[1], required[2], given[d], d));
        g.local[d] = required[d];
    }
    return true;
}

bool fits_at_once(const runtime::grid& g, const device_info& device) {
    return most_groups(g, device) == group_counts(g);
}

void check_can_be_divided(const ir::function& kernel, const runtime::grid& g, const device_info& device) {
    const bool walks = std::any_of(kernel.code.begin(), kernel.code.end(),
                                   [](const ir::instruction& i) { return i.op == ir::opcode::grid_for; });
    if (!walks && !kernel.text && !asks_in_text(kernel)) return;
    const sizes most = most_groups(g, device);
    throw usage_error(fmt::format(
        "kernel '{}', {}, is launched over {} work-items in work-groups of {}, more than the {} groups that "
        "'{}' allows per launch; launch {}",
        kernel.name,
        walks ? "which uses grid_range" : "which is given as text or calls text that queries its position",
        product(g, g.global), product(g, g.local), product(g, most), device.name,
        walks ? "fewer work-items, each of which then processes more elements"
              : "larger groups, or several smaller grids"));
}

subgrid whole_of(const runtime::grid& g) {
    subgrid all;
    for (std::size_t d = 0; d < 3; ++d) all[d] = {0, g.global[d], g.local[d]};
    return all;
}

std::array<std::vector<subgrid_range>, 3> subgrids_of(const runtime::grid& g, const device_info& device,
                                                      bool is_padded) {
    std::array<std::vector<subgrid_range>, 3> all;
    const sizes most = most_groups(g, device);
    for (std::size_t d = 0; d < 3; ++d) all[d] = ranges_of(g.global[d], g.local[d], most[d], is_padded);
    return all;
}

}  // namespace kernels

std::size_t detail::work_items(std::size_t count, std::size_t size) {
    if (size == 0) throw usage_error("work-groups of 0 work-items were requested; the size must be positive");
    if (count > kernels::most_items_in_grid || size > kernels::most_items_in_grid)
        throw usage_error(
            fmt::format("{} work-groups of {} work-items were requested: neither number can be negative",
                        static_cast<std::int64_t>(count), static_cast<std::int64_t>(size)));
    if (count > kernels::most_items_in_grid / size)
        throw usage_error(
            fmt::format("{} work-groups of {} work-items exceed the largest possible grid", count, size));
    return count * size;
}

}  // namespace balm
