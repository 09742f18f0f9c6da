#pragma once
// What the runtime keeps of a device: its driver, its queues, its allocations, its programs, and errors that
// nobody has seen yet.

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "balm/memory_statistics.hpp"
#include "runtime/backend.hpp"
#include "runtime/pinned_block.hpp"
#include "runtime/print_outlet.hpp"
#include "runtime/program_store.hpp"
#include "runtime/queue_state.hpp"
#include "runtime/read_staging.hpp"
#include "runtime/storage.hpp"

namespace balm::runtime {

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

    /// The queue that everything goes to which names no other; made at first use.
    queue_state& default_queue();
    /// The same as a handle that keeps the device.
    std::shared_ptr<queue_state> default_queue_handle();
    std::shared_ptr<queue_state> make_queue(const queue_options& = {});
    /// A driver's queue that somebody else made. Throws usage_error where it is not of this device.
    std::shared_ptr<queue_state> adopt_queue(void* native);
    /// The queue of this number, if it lives or has work to do; one that does not has finished. It may be one
    /// of another device, once copies between devices have met.
    std::shared_ptr<queue_state> find_queue(std::uint64_t id);
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
    /// Frees images that are gone and that no command uses any more; or waits for those that use them.
    void free_retired_images(bool waits = false) noexcept;
    /// Page-locked host memory. Throws out_of_memory_error.
    std::shared_ptr<pinned_block> allocate_pinned(std::size_t bytes);
    /// Bytes that live allocations take.
    std::size_t allocated_bytes() const { return allocated_.load(std::memory_order_relaxed); }
    memory_statistics statistics() const;
    void reset_high_water() { high_water_.store(allocated_bytes(), std::memory_order_relaxed); }
    memory_pool& pool() { return pool_; }
    read_staging& staging() { return staging_; }

    /// Where what its kernels print goes: to the outlet added last, else to std::cout.
    std::shared_ptr<print_outlet> outlet();
    void add_outlet(std::shared_ptr<print_outlet>);
    void remove_outlet(const std::shared_ptr<print_outlet>&) noexcept;
    /// Waits for launches whose prints nobody has seen. Errors are kept for the next call.
    void show_prints() noexcept;

    program_store& programs() { return programs_; }

    /// Throws an error that nobody has seen yet, once. Every command asks; nothing to tell costs one load.
    void check() {
        if (has_late_error_.load(std::memory_order_relaxed)) [[unlikely]]
            throw_late_error();
    }
    /// Keeps an error that could not be thrown where it showed. One that is kept by several devices is thrown
    /// by the first that is asked: they share `told`.
    void note_late_error(std::exception_ptr, std::shared_ptr<std::atomic<bool>> told = nullptr) noexcept;

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
    void retire(const storage& image) noexcept;
    bool is_done(const command_id&, bool waits);
    void throw_late_error();
    [[noreturn]] void throw_out_of_memory(std::size_t bytes, const memory_label&, const char* driver);
    std::vector<std::shared_ptr<queue_state>> live_queues();
    std::shared_ptr<queue_state> find_own_queue(std::uint64_t id);

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
    read_staging staging_{*driver_};
    std::mutex retired_mutex_;
    std::vector<memory_pool::block> retired_images_;

    std::mutex outlets_mutex_;
    std::vector<std::shared_ptr<print_outlet>> outlets_;

    std::mutex late_mutex_;
    std::exception_ptr late_error_;
    std::shared_ptr<std::atomic<bool>> late_error_told_;
    std::atomic<bool> has_late_error_{false};  // or it is freed
    std::atomic<bool> is_freed_{false};

    program_store programs_{*this};
};

}  // namespace balm::runtime
