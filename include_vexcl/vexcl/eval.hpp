#pragma once
// Evaluation of expressions for their side effects: functions that write memory.

#include <cstddef>
#include <cstdint>
#include <utility>
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
/// The same on these queues. The last number of the partition is that of the elements, if the expression has
/// no vectors of its own.
///
///     vex::eval(next(vex::raw_pointer(state), vex::element_index()), ctx, {0, n});
template <detail::vexpr A>
void eval(const A& a, const std::vector<command_queue>& queues,
          const std::vector<std::size_t>& partition = {}) {
    const detail::on_queues scope(queues);
    auto all = a.balm_expr();
    using expression = decltype(all);
    balm::array::tape list = std::move(all).tape();
    if (list.size < 0 && !partition.empty()) list.size = static_cast<std::int64_t>(partition.back());
    balm::eval(expression(std::move(list)));
}

}  // namespace vex
