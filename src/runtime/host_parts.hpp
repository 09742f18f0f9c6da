#pragma once
// What is left to do on the host when a command of a queue is done: read and show what a kernel has printed,
// throw what it has checked. Done by whoever waits, in the order of the commands.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace balm::runtime {

class driver_queue;

class host_parts {
public:
    /// Is given a queue of the driver's to read with, on which nothing else stands. A check_error that it
    /// throws belongs to the command; other exceptions to who waits.
    using part = std::function<void(driver_queue&)>;

    void add(std::uint64_t sequence, part);
    /// False costs one load.
    bool is_empty() const { return is_empty_.load(std::memory_order_acquire); }
    /// How many have not run yet.
    std::size_t pending() const;
    /// Runs those of the commands up to `completed`, each once; `reader` is called if there are any. Tells
    /// `failed` of commands whose checks failed. Then throws the first error, or, if there is none, what the
    /// command `waited_for` was found to have failed with before.
    void run(std::uint64_t completed, std::uint64_t waited_for, const std::function<driver_queue&()>& reader,
             const std::function<void(std::uint64_t sequence, const char* what)>& failed);

private:
    bool take(std::uint64_t completed, std::uint64_t& sequence, part& taken);

    mutable std::mutex mutex_;
    std::recursive_mutex running_;  // parts run one after the other; what they call may wait for events
    std::deque<std::pair<std::uint64_t, part>> parts_;
    std::vector<std::pair<std::uint64_t, std::exception_ptr>> failures_;
    std::atomic<bool> is_empty_{true};  // neither parts nor failures
};

}  // namespace balm::runtime
