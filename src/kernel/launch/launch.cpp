// Launches a user-defined kernel: checks the grid and the arguments, compiles for the facts of the launch,
// and lists the arguments and the memory that the kernel reads and writes.

#include "kernel/launch/kernel_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "balm/bound_kernel.hpp"
#include "balm/error.hpp"
#include "balm/module.hpp"
#include "balm/queue.hpp"
#include "balm/shared_state.hpp"
#include "ir/passes/own_index.hpp"
#include "kernel/launch/device_kernel.hpp"
#include "kernel/launch/work_groups.hpp"
#include "kernel/module/module_state.hpp"

namespace balm {

namespace {

using runtime::storage;

bool overlap(const bound_argument& a, const bound_argument& b) {
    return a.memory == b.memory && a.offset < b.offset + b.extent && b.offset < a.offset + a.extent;
}

/// Whether a launch may be given overlapping memory as two arguments. The authors of texts decide that
/// themselves, and a single work-item accesses it in order.
bool may_overlap(const bound_call& call, const runtime::grid& g, std::size_t k, std::size_t other) {
    if (call.function->text || g.global[0] * g.global[1] * g.global[2] == 1) return true;
    const bound_argument &a = call.arguments[k], &b = call.arguments[other];
    // Pointers reach to the end of their memory: how much of it the kernel accesses is unknown.
    if (a.offset != b.offset && a.offset + a.extent == b.offset + b.extent) return true;
    return a.offset == b.offset && a.inner_extents == b.inner_extents &&
           ir::share_their_own_index(*call.function, k, other);
}

/// Whether no written memory is bound to a second parameter. Throws usage_error if that would let results
/// depend on the order of work-items.
bool is_distinct(const bound_call& call, const runtime::grid& g) {
    const auto& all = call.arguments;
    bool distinct = true;
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (!all[k].memory || ir::is_only_read(call.function->parameters[k])) continue;
        for (std::size_t other = 0; other < all.size(); ++other) {
            if (other == k || !all[other].memory || !overlap(all[k], all[other])) continue;
            distinct = false;
            if (!may_overlap(call, g, k, other))
                throw usage_error(fmt::format(
                    "kernel '{}' is given overlapping memory as arguments {} and {}, and writes it: what a "
                    "work-item reads would depend on the others. Declare one InOut<T> parameter in place of "
                    "both, or write to other memory and copy it. (Memory that each work-item accesses at one "
                    "index only, its global id or one of grid_range, may be bound twice.)",
                    call.function->name, std::min(k, other) + 1, std::max(k, other) + 1));
        }
    }
    return distinct;
}

/// Whether memory begins at an offset that the driver cannot bind, so that the kernel needs it as an
/// argument. Kernels given as text are compiled unchanged and cannot take one: throws usage_error.
bool needs_shift(const bound_call& call, const runtime::device_state& device) {
    if (kernels::features_of(device).passes_addresses) return false;
    const std::size_t alignment = std::max<std::size_t>(device.info().memory_alignment, 1);
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
        const bound_argument& given = call.arguments[k];
        if (!given.memory || given.offset % alignment == 0) continue;
        if (call.function->text)
            throw usage_error(
                fmt::format("argument {} of kernel '{}' begins at byte {} of its allocation, but for kernels "
                            "given as OpenCL C text {} supports only offsets that are multiples of {} bytes; "
                            "use such an offset, or pass the whole buffer and the offset as a value",
                            k + 1, call.function->name, given.offset, device.words(), alignment));
        return true;
    }
    return false;
}

/// Lists the memory that the kernel reads and writes. Throws usage_error for memory of other devices.
void list_memory(const bound_call& call, const runtime::device_state& device, kernels::launch_lists& lists) {
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
        storage* memory = call.arguments[k].memory.get();
        if (!memory && call.arguments[k].what == bound_argument::kind::memory)
            throw usage_error(
                fmt::format("argument {} of kernel '{}' is an empty vector without a device; give it a size, "
                            "balm::vector<T>(context, n), or assign to it first",
                            k + 1, call.function->name));
        if (!memory) continue;
        if (&memory->device() != &device)
            throw usage_error(
                fmt::format("argument {} of kernel '{}' lives on {}, but the kernel is launched on {}", k + 1,
                            call.function->name, memory->device().words(), device.words()));
        const ir::parameter& parameter = call.function->parameters[k];
        if (!ir::is_only_read(parameter)) lists.writes.push_back(memory);
        if (ir::is_only_read(parameter) || parameter.use == trace::access::mixed)
            lists.reads.push_back(memory);
    }
}

/// Throws usage_error if memory has another number of dimensions than the kernel indexes it by.
void check_memory_dimensions(const bound_call& call) {
    const auto& all = call.function->parameters;
    for (std::size_t k = call.arguments.size(); k < all.size(); ++k) {
        const std::size_t number = all[k].origin.number, which = number / 4;
        const auto same = [&](const ir::parameter& p) { return p.origin.number / 4u == which; };
        const auto dimensions =
            1 +
            std::count_if(all.begin() + static_cast<std::ptrdiff_t>(call.arguments.size()), all.end(), same);
        const bound_argument& given = call.arguments[which];
        if (given.dimensions != dimensions)
            throw usage_error(fmt::format(
                "argument {} of kernel '{}' has {} dimension{}, but the kernel uses {} indices for it; pass "
                "a buffer of {} dimensions, or reshape it: x.elements().reshaped({{…}})",
                which + 1, call.function->name, given.dimensions, given.dimensions == 1 ? "" : "s",
                dimensions, dimensions));
    }
}

/// Throws usage_error for an image that is written and bound a second time: what a kernel then reads from it
/// is undefined.
void check_images(const bound_call& call) {
    const auto& all = call.arguments;
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (call.function->parameters[k].use != trace::access::out_image) continue;
        for (std::size_t other = 0; other < all.size(); ++other)
            if (other != k && all[other].memory == all[k].memory)
                throw usage_error(fmt::format(
                    "kernel '{}' is given the same image as arguments {} and {}, and writes it: an image "
                    "that a launch writes can be bound only once. Write to another image and copy it",
                    call.function->name, std::min(k, other) + 1, std::max(k, other) + 1));
    }
}

void set_argument(runtime::argument& a, const bound_argument& given, trace::access use) {
    if (given.what == bound_argument::kind::image) {
        a = runtime::argument::of(given.memory->native(), kernels::image_use_of(use), given.sampler);
        return;
    }
    if (given.memory) return a.set(given.memory->native(), given.offset);
    a.what = static_cast<runtime::argument::kind>(given.what);  // a value, or local memory
    a.size = given.size;
    a.alignment = given.alignment;
    a.bytes = given.bytes;
    if (given.long_value) a.long_value = given.long_value->data();
}

/// Lists the arguments of the parameters that are not hidden, in their order. Each is written in its place:
/// copies of what was just written by parts would wait for the writes.
void list_arguments(const bound_call& call, const detail::instance_state* within,
                    const runtime::launch_plan& plan, std::vector<runtime::argument>& list) {
    using runtime::origin;
    const ir::function& kernel = *call.function;
    for (const runtime::parameter_origin& parameter : plan.parameters) {
        const std::size_t k = parameter.number;
        switch (parameter.from) {
            case origin::user:
                set_argument(list.emplace_back(), call.arguments[k], kernel.parameters[k].use);
                break;
            case origin::shift: {  // the driver does not get the offset
                list.emplace_back().set_number(call.arguments[k].offset);
                runtime::argument& memory = list[list.size() - 2];
                memory.set(memory.memory_handle());
                break;
            }
            case origin::extent:
                list.emplace_back().set_number(
                    static_cast<std::uint64_t>(call.arguments[k / 4].inner_extents[k % 4 - 1]));
                break;
            case origin::constant:
                list.emplace_back().set(within->memory_of(*kernel.given[k], kernel).native());
                break;
            default: return;
        }
    }
}

ir::group_size group_size_of(const runtime::grid& g) {
    ir::group_size size;
    std::transform(g.local.begin(), g.local.end(), size.begin(),
                   [](std::size_t each) { return static_cast<std::uint32_t>(each); });
    return size;
}

/// Chooses the work-group size of a launch, and compiles the kernel for it.
kernels::device_kernel compiled_for_grid(const std::shared_ptr<const ir::function>& traced,
                                         runtime::device_state& device, const std::size_t* local,
                                         runtime::grid& g, ir::launch_facts facts,
                                         const detail::instance_state* within) {
    const ir::function& kernel = *traced;
    const device_info& info = device.info();
    const bool is_given = kernels::take_required_local(kernel, g, local) || local;
    if (local) std::copy_n(local, g.dimensions, g.local.begin());
    if (is_given) kernels::check_local(g, kernel.name, info);
    const runtime::grid_facts given = facts.grid;
    for (std::size_t limit = info.max_work_group_size;;) {
        facts.grid = given;
        if (!is_given) kernels::choose_local(kernel, g, limit, info, facts);
        if (!kernels::fits_at_once(g, info)) {
            kernels::check_can_be_divided(kernel, g, info);
            facts.grid.is_subgrid = true;
        }
        auto program = is_given ? kernels::program_for_groups(device, kernel, facts, group_size_of(g), within)
                                : kernels::program_for(device, kernel, facts, within);
        if (is_given || g.local[0] * g.local[1] * g.local[2] <= program->max_work_group_size()) {
            kernels::check_group_size(g, kernel.name, info, program->max_work_group_size());
            return {std::move(program), traced, facts.grid};
        }
        limit = program->max_work_group_size();
    }
}

/// Launches with the module's constants and options if `within` is not null.
event launch_within(const detail::instance_state* within, const std::shared_ptr<runtime::queue_state>& queue,
                    const bound_call& call, const detail::nd_range& range, const wait_list& waits) {
    if (!call.function) detail::moved_from("a kernel with its arguments");
    runtime::device_state& device = queue->device();
    const ir::function& kernel = *call.function;
    const runtime::scratch<kernels::launch_lists> lists;
    list_memory(call, device, *lists);
    check_memory_dimensions(call);
    check_images(call);
    kernels::check_local_memory(kernel, kernels::local_bytes_of<bound_argument>(call.arguments),
                                device.info());  // before compiling
    const auto [dimensions, global, local, offset] = range;
    runtime::grid g;
    g.dimensions = static_cast<std::uint32_t>(dimensions);
    std::copy_n(global, dimensions, g.global.begin());
    kernels::check_sizes(g, local, offset, kernel.name);
    if (kernels::is_empty(g)) return waits.empty() ? event{} : queue->record(waits.events());

    ir::launch_facts facts = kernels::facts_for(device);
    facts.distinct = is_distinct(call, g);
    facts.is_shifted = needs_shift(call, device);
    facts.grid.is_offset =
        offset && std::any_of(offset, offset + dimensions, [](std::int64_t at) { return at != 0; });
    if (facts.grid.is_offset && kernels::leave_offset_to_driver(kernel, device, g, offset))
        facts.grid.is_offset = false;
    const kernels::device_kernel compiled = compiled_for_grid(call.function, device, local, g, facts, within);
    list_arguments(call, within, compiled.program->plan(), lists->arguments);
    for (const auto& each : kernel.given) lists->reads.push_back(&within->memory_of(*each, kernel));
    event done;
    kernels::enqueue(*queue, compiled, g, *lists, {offset, waits.events(), &done});
    return done;
}

}  // namespace

event queue::launch(const bound_call& call, const detail::nd_range& range, const wait_list& waits) const {
    return launch_within(nullptr, state_, call, range, waits);
}
event device::launch(const bound_call& call, const detail::nd_range& range, const wait_list& waits) const {
    return launch_within(nullptr, queue().state(), call, range, waits);
}
event program::launch(const bound_call& call, const detail::nd_range& range, const wait_list& waits) const {
    return launch_within(state_.get(), device_.queue().state(), call, range, waits);
}

}  // namespace balm
