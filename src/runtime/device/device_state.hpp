#pragma once
// What the runtime keeps of a device: its driver, its queues, its allocations, its programs, and errors that
// nobody has seen yet.

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

/// A table of kernels that a layer above keeps for each device, and that goes with the device.
class kernel_table {
public:
    virtual ~kernel_table() = default;
    /// Evicts all, and keeps nothing from here on.
    virtual void close() noexcept = 0;
};

class device_state : public std::enable_shared_from_this<device_state> {
public:
    /// The only way to make one. Starts nothing on the device.
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

    /// The queue that everything goes to which names no other: the one of the thread's queue_scope, else the
    /// device's own, made at first use.
    queue_state& default_queue();
    /// The same as a handle that keeps the device.
    std::shared_ptr<queue_state> default_queue_handle();
    std::shared_ptr<queue_state> make_queue(const queue_options& = {});
    /// A driver's queue that somebody else made. Throws usage_error where it is not of this device.
    std::shared_ptr<queue_state> adopt_queue(void* native);
    /// The queue of this number, if it lives or has work to do; one that does not has finished. It may be one
    /// of another device, once copies between devices have met.
    std::shared_ptr<queue_state> find_queue(std::uint64_t id) noexcept;
    /// Tells the observer of every command of the queues that time, also of those made later.
    void add_observer(const std::shared_ptr<command_observer>&);
    void remove_observer(const command_observer*) noexcept;
    /// Waits for all queues.
    void finish();
    /// Finishes, frees all memory of it that there is, and refuses whatever is asked of it later.
    void free();
    bool is_freed() const { return is_freed_.load(std::memory_order_acquire); }
    /// Returns when no command that uses its memory is between being checked and being with its driver.
    void let_submissions_pass();
    /// Called before the first command that uses memory of two devices: from then on either looks for the
    /// other's queues, too.
    static void devices_meet() noexcept;
    /// How many commands its queues have taken; falls when queues go.
    std::uint64_t commands_taken();
    /// Whether one of them has yet to complete.
    bool is_at_work() noexcept;
    /// The same as finish(), when nobody can be told of errors.
    void finish_quietly() noexcept;

    /// Memory of at least this many bytes, zero too; the block is a multiple of 64, so that wide loads may
    /// pass the end. Throws out_of_memory_error with the sizes and the largest live buffers.
    std::shared_ptr<storage> allocate(std::size_t bytes, memory_label);
    /// The same, which the host sees under the device's address; it goes to no pool. Throws usage_error where
    /// the device has none.
    std::shared_ptr<storage> allocate_managed(std::size_t bytes, memory_label);
    /// Memory that somebody else made, and what its handle names of it; the same memory for the same
    /// allocation, also for one of Balm's own. Throws usage_error where this device cannot use it.
    std::shared_ptr<storage> adopt(std::uintptr_t handle, foreign_memory& found);
    /// An image, which is not pooled: one that is gone is freed when the commands that use it are done and
    /// somebody wants memory. Throws usage_error where the device has no such images, out_of_memory_error as
    /// allocate.
    std::shared_ptr<storage> allocate_image(const image_description&, memory_label);
    /// Unloads a program that nobody holds any more, once the launches of it that are in flight are done.
    void retire(std::unique_ptr<compiled_program>) noexcept;
    /// Frees images and programs that are gone and that no command uses any more; or waits for those that use
    /// them.
    void free_retired(bool waits = false) noexcept;
    /// Page-locked host memory. Throws out_of_memory_error.
    std::shared_ptr<pinned_block> allocate_pinned(std::size_t bytes);
    /// Bytes that live allocations take.
    std::size_t allocated_bytes() const { return allocated_.load(std::memory_order_relaxed); }
    memory_statistics statistics() const;
    void reset_high_water() { high_water_.store(allocated_bytes(), std::memory_order_relaxed); }
    memory_pool& pool() { return pool_; }
    /// Bytes of a piece of a large copy that passes through the host.
    static constexpr std::size_t copy_piece = std::size_t{8} << 20;
    /// What small reads that somebody waits for pass through.
    pinned_staging& read_staging() { return read_staging_; }
    /// What pieces of large copies to other devices pass through.
    pinned_staging& copy_staging() { return copy_staging_; }
    void trim_staging() noexcept {
        read_staging_.trim();
        copy_staging_.trim();
    }

    /// Where what its kernels print goes: to the outlet added last, else to std::cout.
    std::shared_ptr<print_outlet> outlet();
    void add_outlet(std::shared_ptr<print_outlet>);
    void remove_outlet(const std::shared_ptr<print_outlet>&) noexcept;
    /// Whether one of these commands of a queue is the last that wrote an allocation which is there.
    bool has_memory_written_by(std::uint64_t queue, const failed_command&) noexcept;
    /// Waits for launches whose prints nobody has seen. Errors are kept for whom they concern.
    void show_prints() noexcept;

    program_store& programs() { return programs_; }
    /// The table of expressions' kernels: the one that the first call makes.
    kernel_table& expressions(std::unique_ptr<kernel_table> (*made_by)()) {
        if (kernel_table* const ready = ready_expressions_.load(std::memory_order_acquire)) [[likely]]
            return *ready;
        return make_expressions(made_by);
    }

    /// Throws an error of this thread's that it has not seen yet, once. Every command asks; nothing to tell
    /// costs one load.
    void check() {
        refuse_if_forked();
        if (has_late_error_.load(std::memory_order_relaxed)) [[unlikely]]
            throw_late_error();
    }
    /// Keeps an error that could not be thrown where it showed for the thread that it concerns. One that is
    /// kept by several devices is thrown by the first that is asked: they share `told`.
    void note_late_error(std::exception_ptr, std::uint64_t thread = this_thread_number(),
                         std::shared_ptr<std::atomic<bool>> told = nullptr) noexcept;

private:
    friend class storage;
    void forget(storage&) noexcept;
    void forget(const queue_state&) noexcept;
    /// Takes back the memory of a storage that is gone or freed.
    void take_back(const storage&) noexcept;
    /// Gives the driver the memory of a storage, or its share of it.
    void release(const storage&) noexcept;
    void wait_for(const memory_pool::block&) noexcept;
    std::shared_ptr<storage> note_allocated(std::shared_ptr<storage>);
    std::shared_ptr<queue_state> add_queue(const std::shared_ptr<queue_state>&);
    memory_pool::block take_block(std::size_t bytes);
    void make_room(std::size_t bytes);
    bool trim_all() noexcept;
    void retire(memory_pool::block image);
    /// What nobody holds any more: a program, or else an image, and the commands that may still use it.
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
    /// The live one with the least number beyond this one; null behind the last.
    std::shared_ptr<queue_state> next_queue(std::uint64_t after) noexcept;
    template <class Call>
    void for_each_queue(Call&&);

    std::shared_ptr<driver_device> driver_;

    std::mutex queues_mutex_;
    std::unique_ptr<queue_state> default_queue_;
    std::atomic<queue_state*> ready_queue_{nullptr};    // default_queue_, once made
    std::vector<std::shared_ptr<queue_state>> queues_;  // the others, until their work is done
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
    std::vector<late_error> late_errors_;      // at most one a thread: others are caused by it
    std::atomic<bool> has_late_error_{false};  // or it is freed
    std::atomic<bool> is_freed_{false};

    program_store programs_{*this};
    std::mutex expressions_mutex_;
    std::unique_ptr<kernel_table> expressions_;
    std::atomic<kernel_table*> ready_expressions_{nullptr};  // expressions_, once made
};

}  // namespace balm::runtime
