#pragma once
// Where runs and segments of equal keys begin.

#include <memory>

#include "algorithm/block/values.hpp"
#include "array/layout.hpp"
#include "balm/dsl/value.hpp"

namespace balm::array {

/// Whether the keys of neighbours differ, as decided by a function; without one, by !=.
inline dsl::Bool differ(const block::values& before, const block::values& own,
                        const std::shared_ptr<const ir::function>& same) {
    if (same != nullptr) {
        block::values operands = block::joined(before, own);
        for (std::size_t k = 0; k < operands.size(); ++k)
            operands[k] = as_element(operands[k], same->parameters[k].what);
        return !dsl::Bool(trace::call(same, operands.data(), operands.size(), {}));
    }
    trace::node made = trace::apply(builtin::not_equal, before[0], own[0]);
    for (std::size_t k = 1; k < own.size(); ++k)
        made = trace::apply(builtin::bit_or, made, trace::apply(builtin::not_equal, before[k], own[k]));
    return dsl::Bool(made);
}

}  // namespace balm::array
