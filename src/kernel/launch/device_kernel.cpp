// Hidden arguments, subgrids, and the records of prints.

#include "kernel/launch/device_kernel.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "balm/error.hpp"
#include "kernel/launch/work_groups.hpp"
#include "kernel/print/print_records.hpp"
#include "runtime/program/reciprocal.hpp"
#include "runtime/queue/event_state.hpp"

namespace balm::kernels {

namespace {

/// The sources of hidden arguments.
struct hidden_sources {
    const runtime::grid& grid;      ///< the whole grid; its groups determine the size of hidden local memory
    const std::int64_t* offset;     ///< null: none
    const launch_records* records;  ///< null: none
};

void set_local(runtime::argument& a, std::size_t bytes) {
    a.what = runtime::argument::kind::local;
    a.size = static_cast<std::uint32_t>(bytes);
}
std::size_t items_of_group(const runtime::grid& g) { return g.local[0] * g.local[1] * g.local[2]; }

/// Appends the arguments that follow those of the kernel's own parameters.
void append_hidden(std::vector<runtime::argument>& list, const runtime::launch_plan& plan,
                   const hidden_sources& from, const subgrid& at) {
    using runtime::origin;
    for (std::size_t k = list.size(); k < plan.parameters.size(); ++k) {
        const runtime::parameter_origin& parameter = plan.parameters[k];
        const std::size_t number = parameter.number;
        runtime::argument& a = list.emplace_back();
        switch (parameter.from) {
            case origin::exchange:
                set_local(a, items_of_group(from.grid) * size_of(static_cast<scalar>(number)));
                break;
            case origin::records: a = runtime::argument::of(from.records->memory().native()); break;
            case origin::offset: a.set_number(static_cast<std::uint64_t>(from.offset[number])); break;
            case origin::first: a.set_number(at[number].first); break;
            case origin::size: a.set_number(from.grid.global[number]); break;
            case origin::reciprocal: a = runtime::reciprocal_argument(list[number], parameter); break;
            case origin::user:
            case origin::shift:
            case origin::extent:
            case origin::constant:
            case origin::item: throw std::logic_error("internal: an argument of a launch is missing");
        }
    }
}

runtime::grid grid_of(const runtime::grid& whole, const subgrid& at, bool is_padded) {
    runtime::grid g = whole;
    for (std::size_t d = 0; d < 3; ++d) {
        g.local[d] = at[d].local;
        g.global[d] = is_padded ? (at[d].size + at[d].local - 1) / at[d].local * at[d].local : at[d].size;
    }
    return g;
}

/// The grid as the kernel's author sees it.
runtime::grid grid_with_offset(runtime::grid g, const std::int64_t* offset) {
    for (std::uint32_t d = 0; offset != nullptr && d < g.dimensions; ++d)
        g.offset[d] = static_cast<std::size_t>(offset[d]);
    return g;
}

/// Completes the arguments of a launch.
void bind_hidden(const device_kernel& kernel, const hidden_sources& from, const subgrid& at,
                 const device_info& device, std::vector<runtime::argument>& list) {
    append_hidden(list, kernel.program->plan(), from, at);
    if (kernel.traced != nullptr && kernel.traced->exchanges != 0)
        check_local_memory(*kernel.traced, local_bytes_of<runtime::argument>(list), device);
}

/// Launches the subgrids in order; `done` completes with the last of them.
void enqueue_subgrids(runtime::queue_state& queue, const device_kernel& kernel, runtime::kernel_lease& lease,
                      const hidden_sources& from, launch_lists& lists, std::span<const event> waits,
                      event* done) {
    const device_info& device = queue.device().info();
    const std::size_t own = lists.arguments.size();
    const auto ranges = subgrids_of(from.grid, device, kernel.grid.is_padded);
    event last;
    runtime::event_handle first;
    for (const subgrid_range& z : ranges[2])
        for (const subgrid_range& y : ranges[1])
            for (const subgrid_range& x : ranges[0]) {
                const subgrid at{x, y, z};
                lists.arguments.resize(own);
                bind_hidden(kernel, from, at, device, lists.arguments);
                // Each subgrid waits: if an event fails, none may run.
                queue.enqueue_launch(lease, grid_of(from.grid, at, kernel.grid.is_padded), lists.arguments,
                                     lists.reads, lists.writes, waits, &last);
                if (first == nullptr) first = last.state()->driver;
            }
    last.state()->begin = std::move(first);
    if (done != nullptr) *done = std::move(last);
}

void enqueue_from(const hidden_sources& from, runtime::queue_state& queue, const device_kernel& kernel,
                  launch_lists& lists, std::span<const event> waits, event* done) {
    runtime::kernel_lease lease = kernel.program->lease_kernel();
    if (kernel.grid.is_subgrid) return enqueue_subgrids(queue, kernel, lease, from, lists, waits, done);
    const bool has_hidden = lists.arguments.size() < kernel.program->plan().parameters.size();
    if (has_hidden) bind_hidden(kernel, from, whole_of(from.grid), queue.device().info(), lists.arguments);
    const auto enqueue_over = [&](const runtime::grid& g) {
        queue.enqueue_launch(lease, g, lists.arguments, lists.reads, lists.writes, waits, done);
    };
    if (kernel.grid.is_padded)
        enqueue_over(grid_of(from.grid, whole_of(from.grid), true));
    else
        enqueue_over(from.grid);
}

}  // namespace

void enqueue(runtime::queue_state& queue, const device_kernel& kernel, const runtime::grid& grid,
             launch_lists& lists, const launch_options& options) {
    if (kernel.traced == nullptr || !kernel.traced->has_output) [[likely]]
        return enqueue_from({grid, options.offset, nullptr}, queue, kernel, lists, options.waits,
                            options.done);
    launch_records records(queue, kernel.traced, grid_with_offset(grid, options.offset));
    lists.writes.push_back(&records.memory());
    event done;
    enqueue_from({grid, options.offset, &records}, queue, kernel, lists, options.waits, &done);
    records.launched(done);
    if (options.done != nullptr) *options.done = std::move(done);
}

void check_local_memory(const ir::function& kernel, std::uint64_t bytes_of_arguments,
                        const device_info& device) {
    const std::uint64_t bytes = kernel.local_bytes + bytes_of_arguments;
    if (bytes > device.local_memory)
        throw usage_error(
            fmt::format("kernel '{}' needs {} bytes of local memory, but '{}' has {} per work-group",
                        kernel.name, bytes, device.name, device.local_memory));
}

}  // namespace balm::kernels
