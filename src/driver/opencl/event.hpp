#pragma once
// A cl_event behind the runtime's event interface: waiting, polling, the four profiling times.

#include <atomic>
#include <span>
#include <vector>

#include "driver/opencl/api.hpp"
#include "runtime/backend.hpp"

namespace balm::opencl {

class event final : public runtime::driver_event {
public:
    /// Made before the command, so that nothing can fail once the driver has it; keeps a reference to the
    /// queue.
    event(cl_command_queue, cl_context);
    /// Takes over the reference to what the driver made.
    void set(cl_event made) noexcept { event_ = owned_event(made); }

    bool is_complete() override;
    void wait() override;
    timestamps times() override;

    cl_event get() const { return event_.get(); }
    cl_context context() const { return context_; }
    cl_command_queue queue() const { return queue_.get(); }
    /// Submits the work up to this event. OpenCL starts nothing that was not flushed, so whoever polls, or
    /// waits from another queue, flushes first (OpenCL 1.2, 5.13).
    void flush() noexcept;

private:
    owned_event event_;
    owned_queue queue_;
    cl_context context_;  // event_ keeps it alive
    std::atomic<bool> flushed_{false};
};

/// A wait list in the form of the clEnqueue calls. Events of another context (another device) cannot be
/// chained on in OpenCL: these are waited for at once; all are, where the context is null.
class wait_list {
public:
    wait_list(std::span<const runtime::event_handle>, cl_command_queue, cl_context);
    cl_uint count() const { return count_; }
    const cl_event* events() const {
        if (count_ == 0) return nullptr;
        return many_.empty() ? few_.data() : many_.data();
    }

private:
    std::array<cl_event, 8> few_;
    std::vector<cl_event> many_;  // used instead of few_ where that is too small
    cl_uint count_ = 0;
};

}  // namespace balm::opencl
