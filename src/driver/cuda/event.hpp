#pragma once
// A CUDA event, or a pair around a command if the queue records times, behind the runtime's event interface.

#include <memory>

#include "driver/cuda/context.hpp"
#include "runtime/backend.hpp"

namespace balm::cuda {

class event final : public runtime::driver_event {
public:
    /// The times of an event besides its end. The last two are set while it is recorded.
    struct timing {
        pooled_event start;                  ///< empty for an event without a command: it starts when it ends
        std::shared_ptr<const anchor> from;  ///< null if the queue does not record times
        std::uint64_t queued = 0;
        std::uint64_t submitted = 0;
    };

    event(std::shared_ptr<context> of, pooled_event end, timing times)
        : context_(std::move(of)), end_(std::move(end)), timing_(std::move(times)) {}

    bool is_complete() override;
    void wait() override;
    timestamps times() override;

    CUevent get() const { return end_.get(); }
    /// Stores the time before the command is passed to the driver; returns the event to record then.
    CUevent queue_now() {
        if (timing_.from != nullptr) timing_.queued = host_time();
        return timing_.start.get();
    }
    /// Stores the time at which the driver has the command.
    void submit_now() {
        if (timing_.from != nullptr) timing_.submitted = host_time();
    }

private:
    /// The time between two recorded events, in nanoseconds.
    std::uint64_t elapsed(CUevent from, CUevent to) const;

    std::shared_ptr<context> context_;  // first: the events below return to its pool
    pooled_event end_;
    timing timing_;
};

}  // namespace balm::cuda
