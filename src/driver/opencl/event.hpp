#pragma once
// A cl_event behind the runtime's event interface: waiting, polling, the four profiling times.

#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "driver/opencl/api.hpp"
#include "runtime/backend.hpp"

namespace balm::opencl {

class event final : public runtime::driver_event {
public:
    /// Created before the command, so that nothing can fail once the driver has the command; retains the
    /// queue.
    event(cl_command_queue, cl_context);
    /// Takes ownership of the driver's event.
    void set(cl_event made) noexcept { event_ = owned_event(made); }
    /// For an event after several of the driver's commands: their time begins when this one ends.
    void begin_after(runtime::event_handle begin) noexcept { begin_ = std::move(begin); }

    bool is_complete() override;
    void wait() override;
    timestamps times() override;

    cl_event get() const { return event_.get(); }
    cl_context context() const { return context_; }
    cl_command_queue queue() const { return queue_.get(); }
    /// Submits the work up to this event. OpenCL need not start commands that were not flushed, so polling,
    /// or waiting from another queue, requires a flush (OpenCL 1.2, 5.13).
    void flush() noexcept;

private:
    owned_event event_;
    runtime::event_handle begin_;  // mostly null
    owned_queue queue_;
    cl_context context_;  // event_ keeps it alive
    std::atomic<bool> flushed_{false};
};

/// A wait list in the form that clEnqueue calls take. OpenCL commands cannot depend on events of another
/// context (another device): the constructor waits for those events, and for all of them if the context is
/// null.
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
    std::vector<cl_event> many_;  // used instead of few_ if that is too small
    cl_uint count_ = 0;
};

}  // namespace balm::opencl
