#pragma once
// The kernels of expressions that were seen before. A hash finds candidates; the stored structure decides.

#include <functional>
#include <memory>

#include "array/kernel_key.hpp"
#include "array/layout.hpp"
#include "ir/lower.hpp"

namespace balm::array {

/// A compiled kernel, and the grid it is laid out for.
struct cached_kernel {
    std::shared_ptr<runtime::compiled_program> program;
    std::shared_ptr<const ir::function> printing{};  ///< the kernel, where it prints or checks
};

/// The kernel of an expression on a device, lowered for the given facts; traced by `trace` when it is not
/// known. The key says what it makes of the values. Holding the kernel keeps its program loaded.
std::shared_ptr<const cached_kernel> kernel_for(
    runtime::device_state&, const kernel_key&, const program&, const layout&, ir::launch_facts,
    const std::function<std::shared_ptr<const ir::function>()>& trace);

/// Launches it on the device's own queue.
void enqueue(const cached_kernel&, runtime::device_state&, const runtime::grid&, const launch_lists&);

}  // namespace balm::array
