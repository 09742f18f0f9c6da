#pragma once
// What is left to do on the host when a command of a queue is done: read and show what a kernel has printed,
// find what it has checked. Done by whoever waits, in the order of the commands.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace balm::runtime {

class driver_queue;
class print_outlet;
struct event_state;

/// A command that failed, and those that had read what it wrote before anybody knew.
struct failed_command {
    std::vector<std::uint64_t> commands;  ///< their numbers, its own first
    std::uint64_t thread = 0;             ///< that enqueued it
    std::exception_ptr failure;
    std::weak_ptr<const event_state> event;  ///< throws it as long as it is there
    bool was_late = false;       ///< the driver succeeded, a host part failed: the driver tells nobody
    bool spoils_memory = false;  ///< what the commands wrote is not to be read
    bool is_told = false;

    bool concerns(std::uint64_t command) const;
};

class host_parts {
public:
    /// Is given a queue of the driver's to read with, on which nothing else stands; names the outlet that it
    /// adds text to, before it does. What it throws, and what the outlet's function throws, is a failure of
    /// the command; a check_error spoils what the command wrote.
    using part = std::function<void(driver_queue&, std::shared_ptr<print_outlet>&)>;

    /// A part with all the memory that adding it and its failure will need.
    struct entry {
        part what;
        std::list<failed_command> command;  // one
        std::uint64_t runner = 0;           ///< the number of the thread that runs it
    };
    using entries = std::list<entry>;
    using failure_sink = std::function<void(std::list<failed_command>&&)>;
    static entries prepare(part);

    /// Adds what was prepared to a command that the driver has.
    void add(std::uint64_t sequence, entries&& prepared, std::weak_ptr<const event_state> event) noexcept;
    /// False costs one load.
    bool is_empty() const { return is_empty_.load(std::memory_order_acquire); }
    /// How many have not run yet.
    std::size_t pending() const;
    /// A command reads what another one wrote, whose parts may be pending: if they fail, so has the reader.
    void follow(std::uint64_t writer, std::uint64_t reader);
    /// Runs those of the commands up to `completed`, each once, and tells of the failures; `reader` is called
    /// if there are any. Waits for those that other threads run, but where an outlet's function waits.
    void run(std::uint64_t completed, const std::function<driver_queue&()>& reader,
             const failure_sink& failed) noexcept;

private:
    entries::iterator begin_next(std::uint64_t completed);
    void end(entries::iterator, const failure_sink& failed) noexcept;
    void wait_for_others(std::uint64_t completed) noexcept;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::mutex running_;  // parts run one after the other, and so add their text in order
    entries parts_;
    std::atomic<bool> is_empty_{true};
};

}  // namespace balm::runtime
