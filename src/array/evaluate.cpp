// `target = expression`: finds or traces the kernel `out[i] = expression(i)`, binds its arguments, launches.

#include <fmt/format.h>

#include <algorithm>

#include "array/kernel_cache.hpp"
#include "array/layout.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "kernel/launch.hpp"
#include "kernel/print_records.hpp"

namespace balm::array {

namespace {

std::shared_ptr<const ir::function> trace_assignment(const program& p, const layout& leaves,
                                                     const vector_state& target) {
    const bool reads_target =
        std::find(leaves.vectors.begin(), leaves.vectors.end(), &target) != leaves.vectors.end();
    trace::recording r("elementwise(n, out" + parameter_names(p, leaves, &target) + ")", 1, {});
    r.describe("out = " + describe(p, leaves, &target));
    const trace::node n = r.parameter(scalar::i64, trace::access::value);
    const trace::node out =
        r.parameter(target.type(), reads_target ? trace::access::mixed : trace::access::out);
    const bound_leaves nodes = declare(r, p, leaves, &target, out);
    trace::node index;
    const std::uint32_t loop = trace::open_grid_for(n, index, {});
    const trace::node i = trace::read(index);
    trace::name(i, "i");
    trace::store(out, i, trace::convert(record(p, leaves, nodes, i), target.type()), {});
    trace::close(loop);
    return r.finish(nullptr);
}

}  // namespace

std::shared_ptr<vector_state> make_vector_like(const program& p, scalar type) {
    return std::make_shared<vector_state>(device_of(p), type, element_count(p));
}

void assign(vector_state& target, program&& p) {
    if (p.size >= 0 && static_cast<std::size_t>(p.size) != target.size())
        throw usage_error(
            fmt::format("an expression of {} elements is assigned to a vector of {}", p.size, target.size()));
    runtime::device_state& device = target.device();
    if (!p.vectors.empty() && device_of(p).get() != &device)
        throw usage_error(fmt::format("an expression on {} is assigned to a vector on {}",
                                      device_of(p)->words(), device.words()));
    if (target.size() == 0) return;
    const layout leaves(p);
    // An element may be read after its new value was written.
    if (reads_as_memory(p, target) || reads_through_another(leaves, target)) {
        vector_state computed(target.device_handle(), target.type(), target.size());
        assign(computed, std::move(p));
        copy(target, computed);
        return;
    }

    ir::launch_facts facts = kernels::facts_for(device);
    facts.covers = true;
    facts.is_tight = (facts.on_cpu || is_cheaper_in_fours(p)) &&
                     !(target.is_whole() && std::all_of(leaves.vectors.begin(), leaves.vectors.end(),
                                                        [](const auto* v) { return v->is_whole(); }));
    const cached_kernel& kernel = *kernel_for(device, purpose::assign, target.type(), &target, p, leaves,
                                              facts, [&] { return trace_assignment(p, leaves, target); });

    runtime::grid g;
    g.local[0] = std::min(kernel.local_size, kernel.program->max_work_group_size());
    const std::size_t last_item = (target.size() - 1) / kernel.elements_per_item;
    g.global[0] = last_item / g.local[0] * g.local[0] + g.local[0];

    thread_local std::vector<runtime::argument> arguments;
    thread_local std::vector<runtime::storage*> reads;
    arguments.clear();
    reads.clear();
    arguments.push_back(argument_of(scalar::i64, target.size()));
    arguments.push_back(argument_of(target));
    append_arguments(p, leaves, &target, arguments);
    append_reads(p, leaves, reads);
    runtime::storage* const writes[] = {target.memory().get()};
    runtime::kernel_lease lease = kernel.program->lease_kernel();
    if (kernel.printing != nullptr) [[unlikely]]
        kernels::enqueue_printing(device.default_queue(), kernel.printing, lease, g, arguments, reads,
                                  writes);
    else
        device.default_queue().enqueue_launch(lease, g, arguments, reads, writes);
}

}  // namespace balm::array
