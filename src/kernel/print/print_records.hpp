#pragma once
// The records that kernels write to print or check. A pass adds a hidden parameter, a buffer of u32 words,
// and turns each print into the call of a function that reserves a record there, by one atomic addition, and
// fills it. The launch binds the buffer, and the host reads it when the launch has completed.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "balm/event.hpp"
#include "ir/ir.hpp"
#include "runtime/backend.hpp"
#include "runtime/memory/storage.hpp"
#include "runtime/program/program_store.hpp"
#include "runtime/queue/queue_state.hpp"

namespace balm::kernels {

/// The kernel with its prints and checks expanded; its last parameter is the buffer. A kernel without any is
/// unchanged.
ir::function write_out_prints(const ir::function& kernel);

/// The records of one launch; empty, and free of cost, if the kernel neither prints nor checks.
///
///     launch_records records(queue, kernel);
///     arguments.push_back(records.argument());  // if is_needed()
///     records.prepare(writes, grid);
///     queue.enqueue_launch(…, &done);
///     records.launched(done);
class launch_records {
public:
    launch_records(runtime::queue_state&, const std::shared_ptr<const ir::function>& kernel);
    bool is_needed() const { return memory_ != nullptr; }
    /// The hidden argument.
    runtime::argument argument() const { return runtime::argument::of(memory_->native()); }
    /// Adds the memory to the launch's writes, and prepares to read the records of a launch over this grid.
    void prepare(runtime::storage_list& writes, const runtime::grid&);
    /// Lets waits for this event read the records.
    void launched(const event& done) noexcept;

private:
    runtime::queue_state& queue_;
    std::shared_ptr<const ir::function> kernel_;
    std::shared_ptr<runtime::storage> memory_;
    runtime::host_parts::entries left_;
};

/// Launches a kernel that prints, and whose only hidden parameter is the buffer.
void enqueue_printing(runtime::queue_state&, const std::shared_ptr<const ir::function>& kernel,
                      runtime::kernel_lease&, const runtime::grid&,
                      std::span<const runtime::argument> arguments, std::span<runtime::storage* const> reads,
                      std::span<runtime::storage* const> writes);

}  // namespace balm::kernels
