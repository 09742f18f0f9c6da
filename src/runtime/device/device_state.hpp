#pragma once
// The runtime's state of a device: its driver, queues, allocations, programs and unreported errors.

#include <atomic>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "balm/memory_statistics.hpp"
#include "base/exit_gate.hpp"
#include "base/forked.hpp"
#include "base/thread_number.hpp"
#include "runtime/backend.hpp"
#include "runtime/memory/pinned_block.hpp"
#include "runtime/memory/pinned_staging.hpp"
#include "runtime/memory/storage.hpp"
#include "runtime/program/program_store.hpp"
#include "runtime/queue/print_outlet.hpp"
#include "runtime/queue/queue_state.hpp"

namespace balm::runtime {

/// A table of kernels that a layer above keeps per device; destroyed with the device.
class kernel_table {
public:
    virtual ~kernel_table() = default;
    /// Evicts all kernels, and keeps none from then on.
    virtual void close() noexcept = 0;
};

class device_state : public std::enable_shared_from_this<device_state> {
public:
    /// The only way to create one. Initialises nothing on the device.
    static std::shared_ptr<device_state> make(std::shared_ptr<driver_device>);
    /// Use make.
    explicit device_state(std::shared_ptr<driver_device>);
    device_state(const device_state&) = delete;
    device_state& operator=(const device_state&) = delete;
    /// Finishes its work.
    ~device_state();

    const device_info& info() const { return driver_->info(); }
    driver_device& driver() const { return *driver_; }
    const std::shared_ptr<driver_device>& driver_handle() const { return driver_; }
    /// "device 'NVIDIA H100' (cuda)", for messages.
    std::string words() const;

    /// The queue of all commands that name no other: that of the thread's queue_scope, else the device's own,
    /// created on first use.
    queue_state& default_queue();
    /// The same as a handle that keeps the device alive.
    std::shared_ptr<queue_state> default_queue_handle();
    std::shared_ptr<queue_state> make_queue(const queue_options& = {});
    /// The queue that wraps a driver's queue: one of this device's, or a new one. Throws usage_error if it is
    /// not of this device.
    std::shared_ptr<queue_state> adopt_queue(void* native);
    /// The queue with this number if it is alive or has unfinished commands, else null: its commands have
    /// completed. After devices_meet() it may be a queue of another device.
    std::shared_ptr<queue_state> find_queue(std::uint64_t id) noexcept;
    /// Reports every command of the timed queues to the observer, also of queues that are created later.
    void add_observer(const std::shared_ptr<command_observer>&);
    void remove_observer(const command_observer*) noexcept;
    /// Waits for all queues.
    void finish();
    /// Finishes all queues, frees all memory of the device, and refuses any later use.
    void free();
    bool is_freed() const { return is_freed_.load(std::memory_order_acquire); }
    /// Waits until no command that uses its memory is between its check and its submission to the driver.
    void let_submissions_pass();
    /// Called before the first command that uses memory of two devices: from then on, devices also search
    /// each other's queues.
    static void devices_meet() noexcept;
    /// How many commands its queues have accepted; decreases when queues are destroyed.
    std::uint64_t commands_taken();
    /// Whether one of them has not completed yet.
    bool is_at_work() noexcept;
    /// The same as finish(), where errors cannot be reported.
    void finish_quietly() noexcept;

    /// Memory of at least this many bytes, which may be 0. Blocks are padded to a multiple of 64 bytes, so
    /// that vector loads may over-read. Throws out_of_memory_error with the sizes and the largest live
    /// buffers.
    std::shared_ptr<storage> allocate(std::size_t bytes, memory_label);
    /// The same with one address on host and device; not pooled. Throws usage_error if the device does not
    /// support it.
    std::shared_ptr<storage> allocate_managed(std::size_t bytes, memory_label);
    /// The allocation of a native handle; `found` receives the range that the handle names. One allocation is
    /// always the same storage, even if Balm allocated it. Throws usage_error if this device cannot use it.
    std::shared_ptr<storage> adopt(std::uintptr_t handle, foreign_memory& found);
    /// An image, which the device must support; not pooled: a released image is freed by a later allocation,
    /// once the commands that use it have completed. Throws out_of_memory_error as allocate.
    std::shared_ptr<storage> allocate_image(const image_description&, memory_label);
    /// Unloads a program without owners once its launches in flight have completed.
    void retire(std::unique_ptr<compiled_program>) noexcept;
    /// Frees the retired images and programs that no command in flight uses; with `waits`, waits for those
    /// commands.
    void free_retired(bool waits = false) noexcept;
    /// Page-locked host memory. Throws out_of_memory_error.
    std::shared_ptr<pinned_block> allocate_pinned(std::size_t bytes);
    /// The bytes of live allocations.
    std::size_t allocated_bytes() const { return allocated_.load(std::memory_order_relaxed); }
    memory_statistics statistics() const;
    void reset_high_water() { high_water_.store(allocated_bytes(), std::memory_order_relaxed); }
    memory_pool& pool() { return pool_; }
    /// The bytes per piece of a large copy through the host.
    static constexpr std::size_t copy_piece = std::size_t{8} << 20;
    /// The staging blocks of small blocking reads.
    pinned_staging& read_staging() { return read_staging_; }
    /// The staging blocks for the pieces of large copies to other devices.
    pinned_staging& copy_staging() { return copy_staging_; }
    void trim_staging() noexcept {
        read_staging_.trim();
        copy_staging_.trim();
    }

    /// The outlet for what its kernels print: the one added last, else std::cout.
    std::shared_ptr<print_outlet> outlet();
    void add_outlet(std::shared_ptr<print_outlet>);
    void remove_outlet(const std::shared_ptr<print_outlet>&) noexcept;
    /// Whether one of these commands is the last that wrote a live allocation.
    bool has_memory_written_by(const failed_command&) noexcept;
    /// Host parts of the device's queues. Costs one load.
    bool has_host_parts() const { return pending_host_parts_.load(std::memory_order_acquire) > 0; }
    std::atomic<std::size_t>& pending_host_parts() { return pending_host_parts_; }
    /// The same in all queues of the device; see queue_state.
    void follow(const command_id& writer, const command_id& reader);
    void find_failures_before(const command_id& completed) noexcept;
    /// Waits for launches whose prints have not been shown. Errors are kept for the threads that they
    /// concern.
    void show_prints() noexcept;

    program_store& programs() { return programs_; }
    /// The table of expression kernels, created by the first call.
    kernel_table& expressions(std::unique_ptr<kernel_table> (*made_by)()) {
        if (kernel_table* const ready = ready_expressions_.load(std::memory_order_acquire)) [[likely]]
            return *ready;
        return make_expressions(made_by);
    }

    /// Throws a pending error of this thread, once. Every command calls it; without an error it costs three
    /// loads.
    void check() {
        refuse_if_forked();
        stay_out_of_exit();
        if (has_late_error_.load(std::memory_order_relaxed)) [[unlikely]]
            throw_late_error();
    }
    /// Keeps an error that could not be thrown where it occurred, for the thread that it concerns. If several
    /// devices keep the same error, the first that is checked throws it: they share `told`.
    void note_late_error(std::exception_ptr, std::uint64_t thread = this_thread_number(),
                         std::shared_ptr<std::atomic<bool>> told = nullptr) noexcept;

private:
    friend class storage;
    void forget(storage&) noexcept;
    void forget(const queue_state&) noexcept;
    /// Takes back the memory of a destroyed or freed storage.
    void take_back(const storage&) noexcept;
    /// Releases the memory of a storage, or the reference to adopted memory, to the driver.
    void release(const storage&) noexcept;
    void wait_for(const memory_pool::block&) noexcept;
    std::shared_ptr<storage> note_allocated(std::shared_ptr<storage>);
    std::shared_ptr<queue_state> add_queue(const std::shared_ptr<queue_state>&);
    memory_pool::block take_block(std::size_t bytes);
    void make_room(std::size_t bytes);
    bool trim_all() noexcept;
    void retire(memory_pool::block image);
    /// A program or else an image without owners, and the commands that may still use it.
    struct retired {
        memory_pool::block image{};
        std::unique_ptr<compiled_program> program{};
    };
    void free(retired&) noexcept;
    kernel_table& make_expressions(std::unique_ptr<kernel_table> (*made_by)());
    bool is_done(const command_id&, bool waits);
    void throw_late_error();
    [[noreturn]] void throw_out_of_memory(std::size_t bytes, const memory_label&, const char* driver);
    std::shared_ptr<queue_state> find_own_queue(std::uint64_t id) noexcept;
    /// The live queue with the smallest number above this one; null after the last.
    std::shared_ptr<queue_state> next_queue(std::uint64_t after) noexcept;
    template <class Call>
    void for_each_queue(Call&&);
    /// In queues_, whose mutex is locked.
    std::vector<std::shared_ptr<queue_state>>::const_iterator first_after(std::uint64_t id) const noexcept;

    std::shared_ptr<driver_device> driver_;

    std::atomic<std::size_t> pending_host_parts_{0};

    std::mutex queues_mutex_;
    std::unique_ptr<queue_state> default_queue_;
    std::atomic<queue_state*> ready_queue_{nullptr};    // default_queue_, once created
    std::vector<std::shared_ptr<queue_state>> queues_;  // the others by id, until their work is done
    std::vector<std::shared_ptr<command_observer>> observers_;

    std::mutex allocations_mutex_;
    std::unordered_set<storage*> allocations_;
    std::atomic<std::size_t> allocated_{0};
    std::atomic<std::size_t> high_water_{0};
    std::atomic<std::uint64_t> requests_{0};
    std::atomic<std::uint64_t> driver_allocations_{0};
    memory_pool pool_{*driver_};
    pinned_staging read_staging_{*driver_, std::size_t{64} << 10, std::size_t{1} << 10};
    pinned_staging copy_staging_{*driver_, copy_piece, 8};
    std::mutex retired_mutex_;
    std::list<retired> retired_;

    std::mutex outlets_mutex_;
    std::vector<std::shared_ptr<print_outlet>> outlets_;

    struct late_error {
        std::uint64_t thread;
        std::exception_ptr error;
        std::shared_ptr<std::atomic<bool>> told;
    };
    std::mutex late_mutex_;
    std::vector<late_error> late_errors_;      // at most one per thread: later ones are its consequences
    std::atomic<bool> has_late_error_{false};  // or the device is freed
    std::atomic<bool> is_freed_{false};

    program_store programs_{*this};
    std::mutex expressions_mutex_;
    std::unique_ptr<kernel_table> expressions_;
    std::atomic<kernel_table*> ready_expressions_{nullptr};  // expressions_, once created
};

}  // namespace balm::runtime
