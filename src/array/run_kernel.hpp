#pragma once
// How every kernel of arrays and algorithms reaches its device: a plan, the parameters, a body, and a grid.

#include <concepts>
#include <functional>
#include <memory>
#include <string_view>

#include "array/kernel_cache.hpp"
#include "array/parameters.hpp"
#include "balm/trace.hpp"

namespace balm::array {

/// The device of a kernel, and the expression that it computes with.
struct kernel_site {
    std::string_view name;  ///< in the printed source
    runtime::device_state& device;
    ir::launch_facts facts;
    const tape& values = empty_tape();
    const layout& leaves = no_leaves();
    int dimensions = 1;  ///< of the grid
};

/// The traced kernel: declare(list) names its parameters, and body(recording, parameters) finishes the
/// recording.
template <class Declare, class Body>
std::shared_ptr<const ir::function> trace_kernel(const kernel_site& site, const Declare& declare,
                                                 const Body& body) {
    trace::recording r(site.name, site.dimensions, {});
    parameter_list parameters(r);
    declare(parameters);
    return body(r, parameters);
}

/// Work-groups side by side.
inline runtime::grid groups_of(std::size_t groups, std::size_t items) {
    runtime::grid g;
    g.local[0] = items;
    g.global[0] = groups * items;
    return g;
}

/// At least n work-items, in groups of up to `most`: the kernel works in groups of any size.
inline runtime::grid items_in_groups(std::size_t n, std::size_t most, const kernels::device_kernel& kernel) {
    const std::size_t items = group_size_of(kernel, most);
    return groups_of((n - 1) / items + 1, items);
}

/// Launches the kernel of a plan in the default queue of its device. Kernels of equal plans, expressions and
/// facts are the same; the first is traced. declare(list) declares the parameters and binds the arguments, a
/// line for each. `grid` is a runtime::grid, or makes one for the compiled kernel.
template <class Plan, class Declare, class Body, class Grid>
void run_kernel(const kernel_site& site, const Plan& plan, const Declare& declare, const Body& body,
                const Grid& grid) {
    const auto trace = [&] { return trace_kernel(site, declare, body); };
    const std::shared_ptr<const kernels::device_kernel> kernel =
        kernel_for(site.device, plan, site.values, site.leaves, site.facts, std::cref(trace));
    const runtime::scratch<kernels::launch_lists> lists;
    parameter_bindings arguments(*lists);
    const auto launch = [&](const runtime::grid& g) {
        declare(arguments);
        kernels::enqueue(site.device.default_queue(), *kernel, g, *lists);
    };
    if constexpr (std::invocable<const Grid&, const kernels::device_kernel&>)
        launch(grid(*kernel));
    else
        launch(grid);
}

}  // namespace balm::array
