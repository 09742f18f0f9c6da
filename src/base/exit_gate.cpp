#include "base/exit_gate.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace balm::runtime {

namespace {

using clock = std::chrono::steady_clock;

constinit thread_local int passes_of_thread = 0;

// The handler may wait for a callback that waits for a thread held back here, and a static object that is
// destroyed after the handler may join one.
constexpr std::chrono::seconds longest_wait{30}, wait_after_handler{5};

struct exit_gate {
    std::mutex mutex;
    std::condition_variable changed;
    int handlers = 0;  // running
    clock::time_point last_end;
};

exit_gate& the_gate() {
    static auto* const made = new exit_gate;  // threads wait until the process is gone
    return *made;
}

}  // namespace

void detail::wait_for_end_of_process() noexcept {
    if (passes_of_thread > 0) return;
    exit_gate& gate = the_gate();
    const clock::time_point at_most = clock::now() + longest_wait;
    std::unique_lock lock(gate.mutex);
    for (;;) {
        const clock::time_point until =
            gate.handlers > 0 ? at_most : std::min(at_most, gate.last_end + wait_after_handler);
        if (clock::now() >= until) return;
        gate.changed.wait_until(lock, until);
    }
}

exit_pass::exit_pass() noexcept { ++passes_of_thread; }

exit_pass::~exit_pass() { --passes_of_thread; }

exit_in_progress::exit_in_progress() noexcept {
    ++passes_of_thread;  // for good
    exit_gate& gate = the_gate();
    const std::lock_guard lock(gate.mutex);
    ++gate.handlers;
    detail::exit_has_begun.store(true, std::memory_order_seq_cst);
}

exit_in_progress::~exit_in_progress() {
    exit_gate& gate = the_gate();
    const std::lock_guard lock(gate.mutex);
    --gate.handlers;
    gate.last_end = clock::now();
    gate.changed.notify_all();
}

}  // namespace balm::runtime
