#pragma once
// A CUDA event, or a pair around a command where the queue times, behind the runtime's event interface.

#include <memory>

#include "backend/cuda/context.hpp"
#include "runtime/backend.hpp"

namespace balm::cuda {

class event final : public runtime::driver_event {
public:
    /// What an event that can tell times knows besides its end.
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

private:
    /// From one recorded event to another, in nanoseconds.
    std::uint64_t elapsed(CUevent from, CUevent to) const;

    std::shared_ptr<context> context_;  // first: the events below go back to its pool
    pooled_event end_;
    timing timing_;
};

}  // namespace balm::cuda
