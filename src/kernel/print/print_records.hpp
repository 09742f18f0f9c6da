#pragma once
// The records that kernels write to print or check. A pass adds a hidden parameter, a buffer of u32 words,
// and turns each print into the call of a function that reserves a record there, by one atomic addition, and
// fills it. The launch binds the buffer, and the host reads it when the launch has completed.

#include <cstddef>
#include <memory>

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

/// The records of one launch of a kernel that prints or checks.
///
///     launch_records records(queue, kernel, grid);
///     writes.push_back(&records.memory());
///     queue.enqueue_launch(…, &done);
///     records.launched(done);
class launch_records {
public:
    /// The grid is what failed checks report positions in.
    launch_records(runtime::queue_state&, const std::shared_ptr<const ir::function>& kernel,
                   const runtime::grid&);
    /// The buffer, which is a hidden argument.
    runtime::storage& memory() const { return *memory_; }
    /// Lets waits for this event read the records.
    void launched(const event& done) noexcept;

private:
    runtime::queue_state& queue_;
    std::shared_ptr<runtime::storage> memory_;
    runtime::host_parts::entries left_;
};

}  // namespace balm::kernels
