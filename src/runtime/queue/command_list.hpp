#pragma once
// Recorded commands: while a thread records, its queues add their commands to a list instead of submitting
// them, and each replay enqueues them again. A recorded command owns what it refers to.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "balm/event.hpp"
#include "runtime/backend.hpp"
#include "runtime/queue/command.hpp"
#include "runtime/queue/host_parts.hpp"

namespace balm::detail {
class replay_preparation;
}

namespace balm::runtime {

class device_state;
class queue_state;

/// Commands that a layer above holds back while a thread records, to combine them with later ones.
class held_commands {
public:
    held_commands() = default;
    held_commands(const held_commands&) = delete;
    held_commands& operator=(const held_commands&) = delete;
    virtual ~held_commands() = default;
    virtual void enqueue() = 0;
    /// Enqueues those that must come before a command that uses this memory, and those before them. Returns
    /// whether others remain.
    virtual bool enqueue_before(std::span<storage* const> reads, std::span<storage* const> writes) = 0;
};

class command_list : public std::enable_shared_from_this<command_list> {
public:
    /// For commands of these devices: others are refused.
    explicit command_list(std::vector<std::shared_ptr<device_state>>);
    command_list(const command_list&) = delete;
    command_list& operator=(const command_list&) = delete;
    ~command_list();

    /// The list that this thread records; null if it records none. Costs one load if no thread does.
    static command_list* of_thread() noexcept { return are_open() ? innermost() : nullptr; }
    static bool are_open() noexcept { return open_lists.load(std::memory_order_relaxed) > 0; }

    /// Adds a command instead of enqueuing it; `made`, if not null, receives an event for later commands to
    /// wait for. Throws usage_error for a command that cannot be recorded.
    void add(queue_state&, const command&, std::span<const event> waits, event* made);
    /// Holds commands back: they are enqueued before others are held back, before a command that they must
    /// precede, and by enqueue_held().
    void hold(std::unique_ptr<held_commands>);
    /// What is held back; null if nothing is.
    held_commands* held() const { return held_.get(); }
    void enqueue_held();
    /// Enqueues what is held back; no command follows.
    void finish();
    /// Notes that nobody needs after a replay what the commands write to this memory.
    void add_temporary(std::shared_ptr<storage>, std::size_t offset, std::size_t bytes);
    /// Whether these bytes were noted so, no command so far uses the memory, and none follows what is held
    /// back.
    bool is_unused_temporary(const storage&, std::size_t offset, std::size_t bytes) const;
    /// The lines that describe() has for the next command that is added, after its name.
    using further_lines = std::function<std::vector<std::string>()>;
    void describe_next(further_lines text) { next_text_ = std::move(text); }
    /// Adds host parts to the last command: they run after each replay.
    void add_host_parts(host_parts::entries&& prepared) noexcept;
    /// Keeps an object alive that the last command refers to.
    void keep(host_memory_owner);

    /// Enqueues the commands, in the queues in which they were recorded; those of default queues in the
    /// default queue of the calling thread. One replay at a time, also of the same commands on other memory.
    /// The preparation, if not null, enqueues its commands first.
    void replay(const balm::detail::replay_preparation* = nullptr);

    /// The same commands on other memory. Throws usage_error if these are commands that cannot be.
    std::shared_ptr<command_list> with(std::span<const memory_replacement>) const;
    /// Whether a command uses the memory.
    bool uses(const storage&) const;

    /// Replays the commands until a byte of memory is not 0 after them, at most `most` times (1 or more), as
    /// one command of the driver, and waits. Returns the number of replays; nullopt, having done nothing, if
    /// the driver has no loops for these commands.
    std::optional<std::size_t> replay_until(const std::shared_ptr<storage>& stop, std::size_t offset,
                                            std::size_t most,
                                            const balm::detail::replay_preparation* = nullptr);

    std::size_t size() const { return entries_.size(); }
    /// The commands, each in a line, and further lines of what is known of them.
    std::string describe() const;
    bool is_open() const { return is_open_; }
    /// Called for a wait while it is recorded, which does nothing. Throws usage_error if the program may wait
    /// for memory that was read to the host.
    void check_finish() const;
    /// Throws usage_error if this thread has paused a recording whose commands write the memory: none has
    /// run.
    static void check_written(std::span<storage* const> reads);
    /// The event of a read in the last replay. Throws usage_error if there is none.
    event last_read(std::size_t number) const;
    /// Whether the command with this number reads memory to the host.
    bool is_read(std::size_t number) const {
        return std::holds_alternative<read_command>(entries_[number].what.what.what);
    }

private:
    friend class recording_scope;
    friend class recording_pause;

    struct entry {
        std::shared_ptr<device_state> device;
        std::shared_ptr<queue_state> queue;  ///< null: the default queue
        owned_command what;
        std::vector<storage*> reads, writes;
        std::vector<event> waits;                  ///< for commands that are not recorded here
        std::vector<std::size_t> waits_for, then;  ///< earlier commands, and later ones that wait for it
        host_parts::entries parts;
        host_memory_owner kept;
        further_lines text;  ///< for describe(); empty if there are none

        bool needs_event() const {
            return !waits_for.empty() || !then.empty() || !parts.empty() ||
                   std::holds_alternative<read_command>(what.what.what);
        }
        bool uses_host_memory() const {
            return std::holds_alternative<write_command>(what.what.what) ||
                   std::holds_alternative<read_command>(what.what.what);
        }
    };
    struct issuer;
    /// Consecutive commands that the driver keeps, and the memory that they use.
    struct batch {
        std::size_t first = 0, count = 0;
        std::shared_ptr<driver_batch> kept;
        std::vector<storage*> reads, writes;
    };

    /// What replays of the same commands share, whatever memory they use: memory of the host, and vectors
    /// that the statements declared.
    struct replays {
        std::mutex running;
        std::vector<event> printed;  ///< launches whose output may not have been read
        std::vector<event> last;     ///< of the last replay, by command; empty for those that need none
    };

    static command_list* innermost() noexcept;
    void enqueue_held_before(const command&);
    void make_loop(const batch&, const std::shared_ptr<storage>& stop, std::size_t offset);
    [[noreturn]] void refuse(const command&, const queue_state&) const;
    void add_waits(entry&, std::span<const event>) const;
    /// The driver's batches, made by the first call: for the second replay, since what is replayed once gains
    /// nothing from them.
    std::span<const batch> batches();
    batch batch_from(std::size_t first) const;
    void replay_one(std::size_t number, std::vector<event>& made);
    void wait_for_prints(std::unique_lock<std::mutex>&);

    inline static constinit std::atomic<int> open_lists{0};

    std::vector<std::shared_ptr<device_state>> devices_;
    std::vector<queue_state*> default_queues_;  ///< of the devices when the recording began
    std::vector<entry> entries_;
    std::unique_ptr<held_commands> held_;
    struct temporary {
        std::shared_ptr<storage> memory;
        std::size_t begin = 0, end = 0;  ///< bytes
    };
    std::vector<temporary> temporaries_;
    bool is_last_ = false;  ///< no command follows what is held back
    further_lines next_text_;
    std::shared_ptr<replays> replays_ = std::make_shared<replays>();  ///< also of what with() made
    std::optional<std::vector<batch>> batches_;
    /// Of the last condition.
    struct loop {
        std::shared_ptr<storage> stop, turns;
        std::size_t offset = 0;
        std::shared_ptr<driver_batch> kept;  ///< null if the driver has none
        std::vector<storage*> reads, writes;
    };
    std::optional<loop> loop_;
    bool is_open_ = true, was_replayed_ = false;
};

/// Records the commands of this thread in a list, until it is destroyed. Throws usage_error if the thread
/// records already.
class recording_scope {
public:
    explicit recording_scope(std::shared_ptr<command_list>);
    recording_scope(const recording_scope&) = delete;
    recording_scope& operator=(const recording_scope&) = delete;
    ~recording_scope();

private:
    std::shared_ptr<command_list> list_;
};

/// Lets this thread enqueue commands while it records: those that prepare what outlives the recording, once.
class recording_pause {
public:
    recording_pause() noexcept;
    recording_pause(const recording_pause&) = delete;
    recording_pause& operator=(const recording_pause&) = delete;
    ~recording_pause();

private:
    command_list *paused_, *outer_;
};

/// Throws usage_error if one of them is the event of a recorded command: `use` is what it cannot be used for.
void refuse_recorded(std::span<const event>, std::string_view use);

}  // namespace balm::runtime
