#pragma once
// Evaluation of expressions for their side effects: functions that write memory.

#include <vector>

#include "vexcl/detail/expression.hpp"

namespace vex {

/// Evaluates the expression for every element and discards the results, on the given queues if any.
///
///     vex::eval(count(vex::raw_pointer(bins), x));
template <detail::vexpr A>
void eval(const A& a) {
    const detail::on_queues scope(detail::queues_of(a));
    balm::eval(a.balm_expr());
}
template <detail::vexpr A>
void eval(const A& a, const std::vector<command_queue>& queues, const std::vector<std::size_t>& = {}) {
    const detail::on_queues scope(queues);
    balm::eval(a.balm_expr());
}

}  // namespace vex
