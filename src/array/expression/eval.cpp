// `eval(expression)`: one kernel that computes an expression for every index and discards the results. Only
// what its functions write, print and check remains.

#include <algorithm>

#include "array/kernel_cache.hpp"
#include "array/layout.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "balm/expr.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// The expression alone determines the kernel.
struct evaluation_key {
    friend bool operator==(const evaluation_key&, const evaluation_key&) = default;
    void add_to(runtime::table_hash&) const {}
};

template <class List>
void list(List& to, const tape& p, const layout& leaves) {
    to.number("n", element_count(p));
    list_leaves(to, p, leaves);
}

std::shared_ptr<const ir::function> trace_evaluation(const tape& p, const layout& leaves) {
    trace::recording r("evaluate", 1, {});
    parameter_list given(r);
    list(given, p, leaves);
    r.describe(describe(p, leaves, given)[0]);
    trace::node index;
    const std::uint32_t loop = trace::open_grid_for(given["n"], index, {});
    const trace::node i = trace::read(index);
    trace::name(i, "i");
    record(p, leaves, given, i);
    trace::close(loop);
    return r.finish(nullptr);
}

/// One kernel on one device.
void launch(const tape& p) {
    runtime::device_state& device = *device_of(p);
    const std::size_t n = element_count(p);
    const layout leaves(p);
    ir::launch_facts facts = kernels::facts_for(device);
    facts.covers = true;
    facts.is_tight = !leaves.has_whole_vectors();
    const std::shared_ptr<const cached_kernel> kernel =
        kernel_for(device, evaluation_key(), p, leaves, facts, [&] { return trace_evaluation(p, leaves); });

    runtime::grid g;
    g.local[0] = std::min(kernel->program->plan().local_size, kernel->program->max_work_group_size());
    g.global[0] = (kernel->program->plan().items_for(n) - 1) / g.local[0] * g.local[0] + g.local[0];
    enqueue(*kernel, device, g, [&](auto& to) { list(to, p, leaves); });
}

}  // namespace

void evaluate(tape&& p) {
    if (element_count(p) == 0) return;
    materialise(p);
    refuse_written_overlap(p, {});
    if (!is_spread(p)) return launch(p);
    for (const piece& each : pieces_of(p)) launch(each.values);
}

}  // namespace balm::array
