#pragma once
// A CUDA event, or a pair around a command where the queue times, behind the runtime's event interface.

#include <memory>

#include "driver/cuda/context.hpp"
#include "runtime/backend.hpp"

namespace balm::cuda {

class event final : public runtime::driver_event {
public:
    /// What an event that can tell times knows besides its end. The last two are noted as it is recorded.
    struct timing {
        pooled_event start;                  ///< empty for a mere point: it starts when it ends
        std::shared_ptr<const anchor> from;  ///< null where the queue does not time
        std::uint64_t queued = 0;
        std::uint64_t submitted = 0;
    };

    event(std::shared_ptr<context> of, pooled_event end, timing times)
        : context_(std::move(of)), end_(std::move(end)), timing_(std::move(times)) {}

    bool is_complete() override;
    void wait() override;
    timestamps times() override;

    CUevent get() const { return end_.get(); }
    /// Notes the time before the command is given to the driver; the event to record then.
    CUevent queue_now() {
        if (timing_.from != nullptr) timing_.queued = host_time();
        return timing_.start.get();
    }
    /// Notes the time at which the driver has the command.
    void submit_now() {
        if (timing_.from != nullptr) timing_.submitted = host_time();
    }

private:
    /// From one recorded event to another, in nanoseconds.
    std::uint64_t elapsed(CUevent from, CUevent to) const;

    std::shared_ptr<context> context_;  // first: the events below go back to its pool
    pooled_event end_;
    timing timing_;
};

}  // namespace balm::cuda
