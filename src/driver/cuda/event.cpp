#include "driver/cuda/event.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "balm/error.hpp"
#include "driver/cuda/check.hpp"

namespace balm::cuda {

bool event::is_complete() {
    const current_context current(*context_);
    // A failed command has completed, too; wait() throws its failure.
    return driver().cuEventQuery(end_.get()) != CUDA_ERROR_NOT_READY;
}

void event::wait() {
    const current_context current(*context_);
    check(driver().cuEventSynchronize(end_.get()), "cuEventSynchronize", "the work before an event",
          context_->device_name());
}

std::uint64_t event::elapsed(CUevent from, CUevent to) const {
    float milliseconds = 0;
    check(driver().cuEventElapsedTime(&milliseconds, from, to), "cuEventElapsedTime", "the time of a command",
          context_->device_name());
    return static_cast<std::uint64_t>(std::max(0.0, double{milliseconds} * 1e6));
}

timestamps event::times() {
    if (timing_.from == nullptr)
        throw usage_error(
            fmt::format("This event of device '{}' has no timestamps: its queue was created without timing. "
                        "Create the queue with make_queue(true).",
                        context_->device_name()));
    wait();
    const current_context current(*context_);
    const bool is_point = timing_.start.get() == nullptr;
    CUevent start = is_point ? end_.get() : timing_.start.get();
    timestamps at;
    at.started = timing_.from->time + elapsed(timing_.from->event.get(), start);
    // Measured separately, not as the difference of two times from the anchor, which are coarser.
    at.ended = at.started + (is_point ? 0 : elapsed(start, end_.get()));
    at.host_clock_before_start = true;
    // The two clocks agree within some microseconds; a command does not start before it is submitted.
    at.submitted = std::min(timing_.submitted, at.started);
    at.queued = std::min(timing_.queued, at.submitted);
    return at;
}

}  // namespace balm::cuda
