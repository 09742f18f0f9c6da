// `eval(expression)`: one kernel that computes an expression for every index and discards the results. Only
// what its functions write, print and check remains.

#include <algorithm>

#include "array/layout.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "balm/expr.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// The expression alone determines the kernel.
struct evaluation_key {
    friend bool operator==(const evaluation_key&, const evaluation_key&) = default;
};

template <class List>
void declare_parameters(List& to, const tape& p, const layout& leaves) {
    to.number("n", element_count(p));
    declare_leaves(to, p, leaves);
}

std::shared_ptr<const ir::function> trace_evaluation(trace::recording& r, const parameter_list& given,
                                                     const tape& p, const layout& leaves) {
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
    facts.grid_covers_loop = true;
    facts.is_tight = !leaves.has_whole_vectors();
    run_kernel(
        {"evaluate", device, facts, p, leaves}, evaluation_key(),
        [&](auto& to) { declare_parameters(to, p, leaves); },
        [&](trace::recording& r, const parameter_list& given) {
            return trace_evaluation(r, given, p, leaves);
        },
        [&](const kernels::device_kernel& kernel) {
            const runtime::launch_plan& plan = kernel.program->plan();
            const std::size_t items = std::min(plan.local_size, kernel.program->max_work_group_size());
            return groups_of((plan.items_for(n) - 1) / items + 1, items);
        });
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
