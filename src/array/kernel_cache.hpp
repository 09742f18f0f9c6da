#pragma once
// The kernels of expressions that were seen before. A hash finds candidates; the stored structure decides.

#include <cstdint>
#include <functional>
#include <memory>

#include "array/layout.hpp"
#include "ir/lower.hpp"

namespace balm::array {

/// What a kernel does with an expression's values.
enum class purpose : std::uint8_t { assign, sum, min, max };

/// The kernel of an expression on a device, lowered for the given facts; traced by `trace` when it is
/// not known. `into` is the type of what it writes; `target`, null or a vector that the expression may read.
/// The result lives as long as the process.
runtime::compiled_program& kernel_for(runtime::device_state&, purpose, scalar into, const vector_state* target,
                                const program&, const layout&, ir::launch_facts,
                                const std::function<std::shared_ptr<const ir::function>()>& trace);

}  // namespace balm::array
