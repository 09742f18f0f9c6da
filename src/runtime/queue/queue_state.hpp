#pragma once
// A queue of the runtime: takes commands with the allocations they use and the events they wait for, submits
// them to the driver in order, with exactly the waits that are needed, and numbers them. What asynchronous
// commands use is kept alive here until they have completed.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "balm/event.hpp"
#include "base/thread_number.hpp"
#include "runtime/backend.hpp"
#include "runtime/memory/storage.hpp"
#include "runtime/queue/command.hpp"
#include "runtime/queue/command_list.hpp"
#include "runtime/queue/deferred_command.hpp"
#include "runtime/queue/host_parts.hpp"
#include "runtime/queue/poller.hpp"

namespace balm::runtime {

class command_observer;
class device_state;
class kernel_lease;

/// An in-order queue; any thread may enqueue. Created by device_state, which owns the default one; others
/// finish when their last handle is destroyed.
///
/// A command with a dependency that its driver cannot wait for (an event of another backend, a user event) is
/// deferred: it and the commands after it are numbered, mark their allocations, and stay here until a thread
/// of the runtime submits them to the driver. Neither the caller nor the driver blocks: driver calls must not
/// wait for what the host has yet to do (cuMemFree waits for all streams, a stream that waits for a value in
/// memory can delay others). Only the program itself can cause a deadlock: the commands that a driver has
/// depend on no command that it does not have.
///
/// While a thread records (command_list), the commands that it enqueues are added to the list instead: they
/// have no number, mark nothing, and reach no driver.
class queue_state {
public:
    /// `keep` keeps the device alive; null for the device's own queue. `is_timed` says whether the driver's
    /// queue is timed.
    queue_state(device_state&, std::shared_ptr<device_state> keep, std::unique_ptr<driver_queue>,
                bool is_timed);
    queue_state(const queue_state&) = delete;
    queue_state& operator=(const queue_state&) = delete;
    ~queue_state();
    /// Waits for the queue's commands; the device keeps their errors.
    void close() noexcept;

    /// Launches; `reads` and `writes` are the allocations that the kernel may read and write (one may be in
    /// both). `made`, if not null, receives the event of the launch. The lease may end right after. A program
    /// that awaits its first launch is passed to the background thread that stores programs on disk.
    void enqueue_launch(kernel_lease&, const grid&, std::span<const argument>,
                        std::span<storage* const> reads, std::span<storage* const> writes,
                        std::span<const event> waits = {}, event* made = nullptr);
    /// The same for a kernel that does not belong to a program of the runtime, and must live until the driver
    /// has the launch: the call waits for deferred commands.
    void enqueue_launch(driver_kernel&, const grid&, std::span<const argument>,
                        std::span<storage* const> reads, std::span<storage* const> writes,
                        std::span<const event> waits = {}, event* made = nullptr);

    /// Multiplies matrices by the vendor's library of the device, which must have one.
    void enqueue_multiply(const matrix_product&, std::span<storage* const> reads,
                          std::span<storage* const> writes, std::span<const event> waits = {},
                          event* made = nullptr);

    /// Submits recorded commands that use this memory.
    void enqueue_batch(std::shared_ptr<driver_batch>, std::span<storage* const> reads,
                       std::span<storage* const> writes);

    /// Writes from host memory that `keep` owns and that is released once the bytes are read. Without `keep`,
    /// up to 4 MiB are copied aside; more are sent before the call returns. A region is a box of bytes, or
    /// contiguous bytes if its row_pitch is 0; on the host, rows are packed. The write may be the end of a
    /// mapping.
    void enqueue_write_region(storage& to, const region_layout&, const region_extent&, const void* from,
                              host_memory_owner keep, std::span<const event> waits = {},
                              event* made = nullptr, std::optional<use> ends_mapping = std::nullopt);
    void enqueue_write(storage& to, std::size_t offset, const void* from, std::size_t bytes,
                       host_memory_owner keep, std::span<const event> waits = {}, event* made = nullptr,
                       std::optional<use> ends_mapping = std::nullopt) {
        enqueue_write_region(to, {offset}, {bytes}, from, std::move(keep), waits, made, ends_mapping);
    }
    /// Reads into host memory that `keep` owns, or that the caller keeps alive until the event.
    void enqueue_read_region(void* to, storage& from, const region_layout&, const region_extent&,
                             host_memory_owner keep, std::span<const event> waits = {},
                             event* made = nullptr);
    void enqueue_read(void* to, storage& from, std::size_t offset, std::size_t bytes, host_memory_owner keep,
                      std::span<const event> waits = {}, event* made = nullptr) {
        enqueue_read_region(to, from, {offset}, {bytes}, std::move(keep), waits, made);
    }
    /// Reads and waits.
    void read_region(void* to, storage& from, const region_layout&, const region_extent&,
                     std::span<const event> waits = {});
    void read(void* to, storage& from, std::size_t offset, std::size_t bytes,
              std::span<const event> waits = {}) {
        read_region(to, from, {offset}, {bytes}, waits);
    }
    /// Copies between allocations of this device; within one allocation, both regions have the same pitches
    /// and do not overlap.
    void enqueue_copy_region(storage& to, const region_layout& to_layout, storage& from,
                             const region_layout& from_layout, const region_extent&,
                             std::span<const event> waits = {}, event* made = nullptr);
    /// Copies between allocations of this device, or from another device to this one: by the driver, or in
    /// pieces through the host if path_from says so.
    void enqueue_copy(storage& to, std::size_t to_offset, storage& from, std::size_t from_offset,
                      std::size_t bytes, std::span<const event> waits = {}, event* made = nullptr);
    /// Repeats the pattern of 1, 2, 4, 8 or 16 bytes.
    void enqueue_fill(storage& to, std::size_t offset, std::size_t bytes, std::span<const std::byte> pattern,
                      std::span<const event> waits = {}, event* made = nullptr);
    /// Maps a range of the allocation and returns its address on the host, valid once the event has
    /// completed; for devices that map memory, and for managed memory. `made` is not null. Marks the
    /// allocation as mapped.
    void* enqueue_map(storage&, std::size_t offset, std::size_t bytes, map_use,
                      std::span<const event> waits = {}, event* made = nullptr);
    /// Unmaps it; the allocation is no longer marked as mapped.
    void enqueue_unmap(storage&, void* mapped, use, event* made = nullptr);
    /// The same where errors cannot be reported.
    void unmap_quietly(storage&, void* mapped, use) noexcept;

    /// Calls `give`, which enqueues commands in the driver's queue: they are ordered as a command with these
    /// uses would be. It may use Balm. If commands are deferred, the call waits for them.
    void enqueue_native(const std::function<void(void* queue)>& give, std::span<storage* const> reads,
                        std::span<storage* const> writes, std::span<const event> waits, event* made);

    /// Adds a host part to this command: the first thread that waits for the command runs it.
    void when_done(const event&, host_parts::entries&& prepared) noexcept;
    /// Called by a thread that has waited for this command: runs the host parts of the completed commands.
    /// Throws the failure of this command, or else an unreported failure of a command of this thread.
    void run_host_parts(std::uint64_t waited_for);
    /// Runs the host parts of the commands that this one of another queue, which has completed, follows.
    void find_failures_before(const command_id& completed) noexcept;
    /// Notes that a command of any queue reads what another one wrote; see host_parts.
    void follow(const command_id& writer, const command_id& reader) {
        if (!host_parts_.is_empty()) host_parts_.follow(writer, reader);
    }
    /// The number of pending host parts.
    std::size_t pending_host_parts() const { return host_parts_.is_empty() ? 0 : host_parts_.pending(); }

    /// Waits until no command is between its check and its submission to the driver.
    void let_submissions_pass() { const std::lock_guard lock(mutex_); }

    void flush();
    /// Waits for all commands, and throws an unreported failure.
    void finish();
    /// The same where nothing can be thrown: errors are kept for the threads whose commands failed.
    void finish_quietly() noexcept;
    /// The point at which all commands so far and these events have completed.
    event record(std::span<const event> waits = {});

    device_state& device() const { return device_; }
    std::uint64_t id() const { return id_; }
    driver_queue& driver() { return *driver_; }
    /// The number of the last command enqueued.
    std::uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
    /// The number up to which commands are known to have completed.
    std::uint64_t completed() const { return completed_.load(std::memory_order_acquire); }

    /// A driver event for a point at or after this command; null if the command is known to have completed.
    /// Safe from any thread, with any lock held but this queue's point_mutex_.
    event_handle point_after(std::uint64_t sequence);
    /// Called by a thread that has waited: commands up to this one have completed.
    void note_completed(std::uint64_t sequence) noexcept;
    /// Called by a thread that sees a command fail and reports it; what the command wrote must not be read.
    void note_failed(std::uint64_t sequence, std::exception_ptr) noexcept;
    /// Throws device_error if this command failed.
    void check_not_failed(std::uint64_t sequence, const storage& written) const;
    bool has_failures() const { return has_failures_.load(std::memory_order_acquire); }

    /// Sets the first observers of a queue that no other thread knows yet: takes no lock.
    void begin_with(std::vector<std::shared_ptr<command_observer>> observers) {
        observers_ = std::move(observers);
    }
    /// Reports every command except recorded points to the observer until it is removed; once, however often
    /// it is added.
    void add_observer(std::shared_ptr<command_observer>);
    void remove_observer(const command_observer*) noexcept;
    bool is_observed() const {
        const std::lock_guard lock(mutex_);
        return !observers_.empty();
    }
    /// Whether its events have times.
    bool is_timed() const { return is_timed_; }

    /// The last command that is not deferred: the driver has it, or never will because it failed.
    std::uint64_t last_handed_over() const {
        return std::min(submitted(), first_deferred_.load(std::memory_order_acquire) - 1);
    }
    /// Whether this command is not deferred.
    bool is_handed_over(std::uint64_t sequence) const {
        return sequence < first_deferred_.load(std::memory_order_acquire);
    }
    /// Waits until no command up to this one is deferred.
    void wait_until_handed_over(std::uint64_t sequence);

    /// Called by the device that created it: the handle through which events refer to it.
    void set_handle(std::weak_ptr<queue_state> handle) { handle_ = std::move(handle); }
    /// Null once the last handle is destroyed.
    std::shared_ptr<queue_state> handle() const { return handle_.lock(); }

private:
    void copy_through_host(storage& to, std::size_t to_offset, storage& from, std::size_t from_offset,
                           std::size_t bytes, std::span<const event> waits, event* made);

    /// The dependencies of a command.
    struct needs {
        /// Those that the driver cannot wait for.
        struct lateness {
            std::vector<event> events;
            std::vector<command_id> conflicts;  // of other queues, deferred there
        };

        std::vector<event_handle> events;  // for the driver to wait for
        std::vector<command_id> reached;   // the commands that they cover
        std::unique_ptr<lateness> late;    // mostly null

        lateness& add_late() {
            if (late == nullptr) late = std::make_unique<lateness>();
            return *late;
        }
    };
    /// Memory that a command uses; a list of one is created before the driver has the command.
    struct held {
        std::uint64_t sequence;
        event_handle done;
        std::shared_ptr<const void> object;
        std::size_t bytes;
    };

    std::uint64_t enqueue(const command&, std::span<const event> waits, event* made,
                          event_handle* driver_made);
    void prepare(storage&, use, needs&, std::optional<use> ends_mapping, bool may_be_foreign = false);
    static void note_mapping(const command&) noexcept;
    void follow_writers(const storage&, std::uint64_t sequence);
    void add_late_events(std::span<const event> waits, needs&) const;
    bool chains_on(const event&) const;
    void add_waits(std::span<const event> waits, needs&) const;
    void add_conflicts(const storage&, use, needs&) const;
    bool comes_after(const command_id&) const;
    void note_reached(std::span<const command_id>) noexcept;
    [[noreturn]] void refuse_foreign(const storage&) const;
    void check_own_writers(const storage&) const;
    void hold(std::list<held>&& one) noexcept;
    void release_done(bool ask_driver);
    void release_now_and_then();
    void wait_for(const event_handle&, std::uint64_t sequence);
    void flush_quietly() noexcept;
    void finish_driver_quietly() noexcept;
    void find_failures() noexcept;
    /// Also those of other queues on which commands up to this one depend.
    void find_failures(std::uint64_t waited_for) noexcept;
    void tell_other_queues(const failed_command&) noexcept;
    void add_failure(std::list<failed_command>&& one) noexcept;
    void throw_failure(std::uint64_t waited_for, bool of_all_threads);
    void hand_on_failures() noexcept;

    // Deferred commands (queue_deferral.cpp). All under mutex_, except advance and wait_for_turn.
    bool is_deferring() const { return first_deferred_.load(std::memory_order_relaxed) != none_deferred; }
    /// Makes the poller submit the deferred commands. False at process exit, when it no longer does.
    bool ensure_polled();
    std::shared_ptr<promised_event> defer(deferred_command, needs&&);
    poller::outcome advance() noexcept;
    bool is_ready(const deferred_command&) const noexcept;
    void hand_over(deferred_command&) noexcept;
    event_handle submit(deferred_command&);
    void wait_for_turn(const needs&);

    device_state& device_;
    std::shared_ptr<device_state> keep_;
    const std::uint64_t id_;
    const bool is_timed_;
    std::unique_ptr<driver_queue> driver_;
    std::weak_ptr<queue_state> handle_;
    bool is_closed_ = false;

    static constexpr std::uint64_t none_deferred = ~std::uint64_t{0};

    mutable std::mutex mutex_;  // submission: the driver's order is the order of the numbers
    std::atomic<std::uint64_t> submitted_{0};
    std::atomic<std::uint64_t> completed_{0};
    std::vector<command_id> waited_;  // of other queues: what later commands are already ordered after
    std::vector<std::shared_ptr<command_observer>> observers_;
    std::list<deferred_command> deferred_;
    std::atomic<std::uint64_t> first_deferred_{none_deferred};  // the number of the first of them

    std::mutex point_mutex_;
    event_handle point_;
    std::uint64_t point_sequence_ = 0;

    std::mutex held_mutex_;
    std::list<held> held_;
    std::size_t held_bytes_ = 0;
    std::atomic<bool> holds_{false};

    mutable std::mutex failures_mutex_;
    std::list<failed_command> failures_;
    std::atomic<bool> has_failures_{false};

    host_parts host_parts_;
    std::unique_ptr<driver_queue> reader_;  // of host parts; created when one runs
};

}  // namespace balm::runtime
