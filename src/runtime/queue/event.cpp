// Waiting for events, which also updates the queue: which commands have completed, or what failed.

#include "balm/event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "balm/error.hpp"
#include "base/exit_gate.hpp"
#include "base/forked.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/device/process_exit.hpp"
#include "runtime/queue/command_list.hpp"
#include "runtime/queue/event_state.hpp"
#include "runtime/queue/poller.hpp"

namespace balm {

namespace {

// Times before `queued` can only be noise between two clocks.
std::uint64_t since(std::uint64_t start, std::uint64_t time) { return time > start ? time - start : 0; }

}  // namespace

std::string runtime::words_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& fault) {
        return fault.what();
    } catch (...) {
        return "an exception not derived from std::exception";
    }
}

event runtime::host_only(const event& of) {
    if (of.state() == nullptr) return of;
    event_state state = *of.state();
    state.device = nullptr;
    return event(std::make_shared<event_state>(std::move(state)));
}

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

namespace {

using runtime::event_state;
using runtime::words_of;

bool is_over(const event& of) {
    if (of.state() == nullptr) return true;
    runtime::refuse_if_forked();
    return of.state()->driver->is_complete();
}

// Waits, and updates the queue: which commands have completed, or what failed.
void wait_for_one(const event& of) {
    if (of.state() == nullptr) return;
    runtime::refuse_if_forked();
    const event_state& state = *of.state();
    const std::shared_ptr<runtime::queue_state> queue = state.queue.lock();
    try {
        state.driver->wait();
    } catch (...) {
        runtime::stay_out_of_exit();
        if (queue != nullptr) queue->note_failed(state.sequence, std::current_exception());
        throw;
    }
    if (queue == nullptr) return;
    queue->note_completed(state.sequence);
    queue->run_host_parts(state.sequence);
}

std::exception_ptr first_failure(std::span<const event> all) noexcept {
    std::exception_ptr first;
    for (const event& each : all) {
        try {
            wait_for_one(each);
        } catch (...) {
            if (first == nullptr) first = std::current_exception();
        }
    }
    return first;
}

// Keeps a failure for the thread's next call on the event's device, or on any device if the event has none.
void note_late_error(const event& of, const std::exception_ptr& failure, std::uint64_t thread) noexcept {
    const event_state* const state = of.state().get();
    if (state != nullptr)
        if (const auto queue = state->queue.lock()) return queue->device().note_late_error(failure, thread);
    try {
        const auto told = std::make_shared<std::atomic<bool>>(false);
        for (const auto& device : runtime::live_devices())
            if (state == nullptr || state->device == nullptr || state->device == device->driver_handle())
                device->note_late_error(failure, thread, told);
    } catch (...) {  // out of memory
    }
}

void call(detail::completion& what, std::span<const event> all, std::uint64_t given_by) noexcept {
    const std::exception_ptr failure = first_failure(all);
    const event of = all.empty() ? event{} : all.front();
    if (failure != nullptr && !what.hears_failure) note_late_error(of, failure, given_by);
    try {
        what.call(failure);
    } catch (...) {
        try {
            note_late_error(of,
                            std::make_exception_ptr(callback_error(
                                fmt::format("A callback passed to on_complete threw an exception: {}",
                                            words_of(std::current_exception())))),
                            given_by);
        } catch (...) {  // out of memory for the message
            note_late_error(of, std::current_exception(), given_by);
        }
    }
}

}  // namespace

bool detail::all_complete(std::span<const event> all) { return std::all_of(all.begin(), all.end(), is_over); }

void detail::wait_for_all(std::span<const event> all) {
    if (const std::exception_ptr failure = first_failure(all)) std::rethrow_exception(failure);
}

bool detail::wait_for_all(std::span<const event> all, double seconds) {
    using clock = std::chrono::steady_clock;
    constexpr double longest = 1e9;  // within the clock's range
    const clock::time_point last =
        clock::now() + std::chrono::duration_cast<clock::duration>(
                           std::chrono::duration<double>(std::clamp(seconds, 0.0, longest)));
    const runtime::patience since;
    while (!all_complete(all)) {
        const clock::duration left = last - clock::now();
        if (left <= clock::duration::zero()) return false;
        std::this_thread::sleep_for(std::min<clock::duration>(since.next(), left));
    }
    wait_for_all(all);
    return true;
}

void detail::call_when_complete(std::span<const event> all, std::shared_ptr<completion> what) {
    using outcome = runtime::poller::outcome;
    runtime::refuse_recorded(all, "given a callback");
    std::vector<event> own(all.begin(), all.end());
    runtime::callback_poller().add(
        [own = std::move(own), what = std::move(what), given_by = runtime::this_thread_number()] {
            try {
                if (!all_complete(own)) return outcome::waiting;
            } catch (...) {  // the driver cannot tell: waiting will
            }
            call(*what, own, given_by);
            return outcome::done;
        });
}

timestamps event::profile() const {
    if (state_ == nullptr)
        throw usage_error(
            "This event belongs to no command (it was default-constructed, or its transfer had no elements), "
            "so it has no timestamps.");
    wait_for_one(*this);
    timestamps times = state_->driver->times();
    if (state_->begin != nullptr) {
        const timestamps first = state_->begin->times();
        times.queued = first.queued;
        times.submitted = first.submitted;
        times.started = first.started;
    }
    return times;
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
