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

/// A compiled kernel, and the grid it is laid out for.
struct cached_kernel {
    std::shared_ptr<runtime::compiled_program> program;
    std::size_t elements_per_item = 1;
    std::size_t local_size = 256;
    std::shared_ptr<const ir::function> printing{};  ///< the kernel, where it prints or checks
};

/// The kernel of an expression on a device, lowered for the given facts; traced by `trace` when it is
/// not known. `into` is the type of what it writes; `target`, null or a vector that the expression may read.
/// The result lives as long as the process.
const cached_kernel* kernel_for(runtime::device_state&, purpose, scalar into, const vector_state* target,
                                const program&, const layout&, ir::launch_facts,
                                const std::function<std::shared_ptr<const ir::function>()>& trace);

}  // namespace balm::array
