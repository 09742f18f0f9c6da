// Waiting for events, and what follows from it: the queue learns how far it has come, or what failed.

#include "balm/event.hpp"

#include <fmt/format.h>

#include <exception>

#include "balm/error.hpp"
#include "runtime/device_state.hpp"
#include "runtime/event_state.hpp"

namespace balm {

namespace {

// Times before `queued` can only be noise of two clocks.
std::uint64_t since(std::uint64_t start, std::uint64_t time) { return time > start ? time - start : 0; }

}  // namespace

std::string timestamps::summary() const {
    const char* const clock = host_clock_before_start ? "  (host clock)" : "";
    return fmt::format(
        "queued     {:>12} ns{}\n"
        "submitted  {:>12} ns{}\n"
        "started    {:>12} ns\n"
        "ended      {:>12} ns\n"
        "duration   {:>12} ns\n",
        0, clock, since(queued, submitted), clock, since(queued, started), since(queued, ended), duration());
}

bool event::is_complete() const { return state_ == nullptr || state_->driver->is_complete(); }

void event::wait() const {
    if (state_ == nullptr) return;
    const std::shared_ptr<runtime::queue_state> queue = state_->queue.lock();
    try {
        state_->driver->wait();
    } catch (const std::exception& fault) {
        if (queue != nullptr) queue->note_failed(state_->sequence, fault.what());
        throw;
    }
    if (queue == nullptr) return;
    queue->note_completed(state_->sequence);
    queue->run_host_parts(state_->sequence);
}

timestamps event::profile() const {
    if (state_ == nullptr)
        throw usage_error(
            "This event stands for no command (it was default-constructed, or its transfer had no elements), "
            "so "
            "it has no times.");
    wait();
    return state_->driver->times();
}

void pending::wait_quietly() noexcept {
    try {
        event_.wait();
    } catch (...) {
        if (const auto queue = event_.state()->queue.lock())
            queue->device().note_late_error(std::current_exception());
    }
}

}  // namespace balm
