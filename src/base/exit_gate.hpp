#pragma once
// Keeps threads out of the drivers while another thread ends the process: what they enqueued would never be
// waited for, or for ever, and an error of a driver that has shut down would end the process in its own way.

#include <atomic>

namespace balm::runtime {

namespace detail {

inline constinit std::atomic<bool> exit_has_begun{false};
void wait_for_end_of_process() noexcept;

}  // namespace detail

inline bool exit_has_begun() noexcept { return detail::exit_has_begun.load(std::memory_order_relaxed); }

/// Once a thread ends the process, holds back all others, for good unless the process waits for them: until
/// five seconds after Balm's exit handler has ended, and for at most thirty. Called without locks before a
/// driver is entered, and before an error is thrown that the exit may have caused; costs one load.
inline void stay_out_of_exit() noexcept {
    if (exit_has_begun()) [[unlikely]]
        detail::wait_for_end_of_process();
}

/// A thread that has one is not held back, such as Balm's threads, for which the exit handler waits.
class exit_pass {
public:
    exit_pass() noexcept;
    exit_pass(const exit_pass&) = delete;
    exit_pass& operator=(const exit_pass&) = delete;
    ~exit_pass();
};

/// Lives as long as the exit handler runs. Its thread is never held back from then on.
class exit_in_progress {
public:
    exit_in_progress() noexcept;
    exit_in_progress(const exit_in_progress&) = delete;
    exit_in_progress& operator=(const exit_in_progress&) = delete;
    ~exit_in_progress();
};

}  // namespace balm::runtime
