#pragma once
// Work on the host after a command of a queue has completed: reading and showing what a kernel printed, and
// evaluating its checks. The thread that waits does it, in the order of the commands.

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

#include "runtime/memory/memory_pool.hpp"

namespace balm::runtime {

class driver_queue;
class print_outlet;
struct event_state;

/// A command that failed, and the commands of any queue that read its results before the failure was known.
struct failed_command {
    std::vector<command_id> commands;  ///< the failed one first
    std::uint64_t thread = 0;          ///< that enqueued it
    std::exception_ptr failure;
    std::weak_ptr<const event_state> event;  ///< throws the failure while it is alive
    bool was_late = false;       ///< the driver succeeded but a host part failed: the driver reports nothing
    bool spoils_memory = false;  ///< what the commands wrote must not be read
    bool is_told = false;

    bool concerns(const command_id&) const;
};

class host_parts {
public:
    /// `pending` counts the parts of several queues.
    explicit host_parts(std::atomic<std::size_t>& pending) : all_pending_(pending) {}

    /// Takes an otherwise empty driver queue to read with; sets the outlet before it adds text to it.
    /// Exceptions of the part and of the outlet's function are failures of the command; a check_error
    /// invalidates what the command wrote.
    using part = std::function<void(driver_queue&, std::shared_ptr<print_outlet>&)>;

    /// A part with all the memory that is needed to add it and to note its failure.
    struct entry {
        part what;
        std::list<failed_command> command;  // exactly one
        std::uint64_t runner = 0;           ///< the number of the thread that runs it
    };
    using entries = std::list<entry>;
    using failure_sink = std::function<void(std::list<failed_command>&&)>;
    static entries prepare(part);

    /// Adds a prepared part to a command that has been submitted.
    void add(const command_id&, entries&& prepared, std::weak_ptr<const event_state> event) noexcept;
    /// Costs one load.
    bool is_empty() const { return is_empty_.load(std::memory_order_acquire); }
    /// The number of parts that have not finished.
    std::size_t pending() const;
    /// Notes that a command reads what another one wrote, whose parts may be pending: if they fail, the
    /// reader has failed, too.
    void follow(const command_id& writer, const command_id& reader);
    /// The last command with pending parts that this command, or one before it in its queue, follows; 0:
    /// none. It has completed if this one has.
    std::uint64_t followed_by(const command_id&) const;
    /// Runs the parts of the commands up to `completed`, each once, and reports their failures to `failed`;
    /// `reader` is called for each part. Waits for parts that other threads run, except within an outlet's
    /// function.
    void run(std::uint64_t completed, const std::function<driver_queue&()>& reader,
             const failure_sink& failed) noexcept;

private:
    entries::iterator begin_next(std::uint64_t completed);
    void end(entries::iterator, const failure_sink& failed) noexcept;
    void wait_for_others(std::uint64_t completed) noexcept;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::mutex running_;  // parts run one at a time, and so add their text in order
    entries parts_;
    std::atomic<std::size_t>& all_pending_;
    std::atomic<bool> is_empty_{true};
};

}  // namespace balm::runtime
