// `eval(expression)`: one kernel that computes an expression for every index and keeps nothing of it. What
// its functions write, print and check is all that remains.

#include <algorithm>

#include "array/kernel_cache.hpp"
#include "array/layout.hpp"
#include "array/parts.hpp"
#include "balm/error.hpp"
#include "balm/expr.hpp"
#include "kernel/launch.hpp"

namespace balm::array {

namespace {

std::shared_ptr<const ir::function> trace_evaluation(const program& p, const layout& leaves) {
    trace::recording r("evaluate(n" + parameter_names(p, leaves) + ")", 1, {});
    r.describe(describe(p, leaves)[0]);
    const trace::node n = r.parameter(scalar::i64, trace::access::value);
    const bound_leaves nodes = declare(r, p, leaves);
    trace::node index;
    const std::uint32_t loop = trace::open_grid_for(n, index, {});
    const trace::node i = trace::read(index);
    trace::name(i, "i");
    record(p, leaves, nodes, i);
    trace::close(loop);
    return r.finish(nullptr);
}

/// One kernel on one device.
void launch(const program& p) {
    runtime::device_state& device = *device_of(p);
    const std::size_t n = element_count(p);
    const layout leaves(p);
    ir::launch_facts facts = kernels::facts_for(device);
    facts.covers = true;
    facts.is_tight = !leaves.has_whole_vectors();
    const std::shared_ptr<const cached_kernel> kernel =
        kernel_for(device, purpose::evaluate, p, leaves, facts, [&] { return trace_evaluation(p, leaves); });

    runtime::grid g;
    g.local[0] = std::min(kernel->program->plan().local_size, kernel->program->max_work_group_size());
    const std::size_t last_item = (n - 1) / kernel->program->plan().elements_per_item;
    g.global[0] = last_item / g.local[0] * g.local[0] + g.local[0];

    const runtime::scratch<launch_lists> lists;
    auto& [arguments, reads, writes] = *lists;
    append_argument(arguments, scalar::i64, n);
    append_arguments(p, leaves, {}, arguments);
    append_memory(p, leaves, reads, writes);
    enqueue(*kernel, device, g, arguments, reads, writes);
}

}  // namespace

void evaluate(program&& p) {
    if (element_count(p) == 0) return;
    materialise(p);
    refuse_written_overlap(p, {});
    if (!is_spread(p)) return launch(p);
    for (const piece& each : pieces_of(p)) launch(each.values);
}

}  // namespace balm::array
