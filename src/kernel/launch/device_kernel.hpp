#pragma once
// A compiled kernel, and its launch. Every launch, of a user's kernel, a statement or an algorithm, lists the
// arguments of its own parameters and the memory that it accesses; enqueue() does the rest.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/launch_plan.hpp"
#include "base/thread_stock.hpp"
#include "ir/ir.hpp"
#include "runtime/program/program_store.hpp"
#include "runtime/queue/queue_state.hpp"

namespace balm::kernels {

/// A kernel that is compiled for a device and for the facts of its launches.
struct device_kernel {
    std::shared_ptr<runtime::compiled_program> program;
    std::shared_ptr<const ir::function> traced{};  ///< null if its launches do not need it
    runtime::grid_facts grid{};
};

/// The arguments of a launch and the memory that it accesses; runtime::scratch<launch_lists> avoids
/// allocations.
struct launch_lists {
    std::vector<runtime::argument> arguments;
    std::vector<runtime::storage*> reads, writes;

    void clear() noexcept {
        arguments.clear();
        reads.clear();
        writes.clear();
    }
};

/// Whether launches need the traced function: for the buffer of its prints, or the size of its local memory.
inline bool is_needed_to_launch(const ir::function& f) { return f.has_output || f.exchanges != 0; }

/// What only some launches have.
struct launch_options {
    const std::int64_t* offset = nullptr;  ///< of the grid
    std::span<const event> waits{};
    event* done = nullptr;  ///< receives the event of the launch
};

/// Enqueues a launch. The lists hold the arguments of the kernel's own parameters; those of the others are
/// appended here. A kernel that is compiled for subgrids is launched over each that the driver accepts.
/// Throws usage_error if sub-groups need more local memory than the device has.
void enqueue(runtime::queue_state&, const device_kernel&, const runtime::grid&, launch_lists&,
             const launch_options& = {});

/// The bytes of local memory among arguments.
template <class Argument>
std::uint64_t local_bytes_of(std::span<const Argument> arguments) {
    std::uint64_t bytes = 0;
    for (const Argument& a : arguments)
        if (a.what == Argument::kind::local) bytes += a.size;
    return bytes;
}
/// Throws usage_error if the kernel's local arrays and arguments of these bytes exceed the device's local
/// memory.
void check_local_memory(const ir::function&, std::uint64_t bytes_of_arguments, const device_info&);

}  // namespace balm::kernels
