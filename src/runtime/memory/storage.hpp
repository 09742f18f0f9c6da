#pragma once
// A device allocation and who used it last. Queues ask it what they have to wait for and leave their mark;
// the memory is freed with it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "balm/host_array.hpp"
#include "runtime/backend.hpp"
#include "runtime/memory/memory_pool.hpp"

namespace balm::runtime {

class device_state;

/// How a command uses an allocation.
enum class use : std::uint8_t { read, write };

/// Where memory comes from: a block of the device's pool, an allocation of its own that the host sees too, or
/// somebody else's, which is shared.
enum class memory_origin : std::uint8_t { pool, managed, adopted, image };

/// What an allocation is for: put into words only where somebody asks, as most are made too often for that.
struct memory_label {
    std::string what;  ///< "a vector"; a few letters, which take no heap
    shape extents{};
    std::size_t element_bytes = 0;  ///< 0: `what` says all

    std::string words() const;
};

/// RAII of one block of device memory. It may go at any time, also while commands use it: they go with the
/// block to the pool, and its next owner's commands come after them.
///
/// Hazards: per queue the numbers of the last command that wrote it and of the last that read it. The first
/// queue that uses it is its home and keeps its numbers in plain atomics: an allocation that one queue alone
/// uses costs two loads and a store a command, and no lock. Other queues share a list behind a mutex.
class storage : public std::enable_shared_from_this<storage> {
public:
    /// Use device_state::allocate or allocate_image.
    storage(std::shared_ptr<device_state> device, const memory_pool::block&, std::size_t bytes,
            memory_label label, memory_origin = memory_origin::pool);
    storage(const storage&) = delete;
    storage& operator=(const storage&) = delete;
    ~storage();

    memory native() const { return native_; }

    /// Frees the memory now, once the commands that use it are done; later ones throw usage_error. Throws
    /// usage_error while the host has it mapped.
    void free();
    /// Whether it is freed or mapped, so that a command has to ask check_usable. One load.
    bool is_restricted() const { return restrictions_.load(std::memory_order_acquire) != 0; }
    bool is_freed() const { return (restrictions_.load(std::memory_order_acquire) & freed) != 0; }
    /// Throws usage_error where a command may not use it so: it was freed, or the host has it mapped.
    void check_usable(use) const;
    /// Notes that the host has a part of it mapped, to write it or only to read.
    void begin_mapping(use);
    void end_mapping(use) noexcept;

    memory_origin origin() const { return origin_; }
    /// Whether short vectors that begin inside may pass the end, and are aligned: of Balm's own blocks.
    bool is_padded() const { return origin_ != memory_origin::adopted; }
    /// Where the host sees it, of managed memory; else null.
    void* address() const { return address_; }
    /// Once, before it is used.
    void set_address(void* of_the_host) { address_ = of_the_host; }
    /// What it consists of, if it is an image; else null.
    const image_description* image() const { return image_.get(); }
    /// Once, before it is used.
    void set_image(const image_description& of) { image_ = std::make_unique<const image_description>(of); }
    /// What the driver lets no kernel do with it; once, before it is used.
    void forbid_kernels(bool to_read, bool to_write) {
        unreadable_ = to_read;
        unwritable_ = to_write;
    }
    /// Throws usage_error where a kernel may not use it so.
    void check_kernel_may(use how) const {
        if (how == use::write ? unwritable_ : unreadable_) [[unlikely]]
            refuse_kernel(how);
    }

    /// As asked for; the block is larger (memory_pool::block_bytes).
    std::size_t bytes() const { return bytes_; }
    std::size_t allocated_bytes() const { return allocated_; }
    device_state& device() const { return *device_; }
    const std::shared_ptr<device_state>& device_handle() const { return device_; }
    /// What it is for, for messages.
    std::string label() const { return label_.words(); }

    /// Whether this queue has used it and no other: its commands wait for nobody. Free of locks.
    bool is_used_by_only(std::uint64_t queue) const {
        return home_.load(std::memory_order_acquire) == queue && !shared_.load(std::memory_order_acquire);
    }
    /// Makes room for the marks of this queue, so that they cannot fail once the driver has the command.
    /// Whether other queues use the allocation, too.
    bool admit(std::uint64_t queue);
    /// The commands of other queues that a command of this queue must come after.
    void collect_conflicts(std::uint64_t queue, use, std::vector<command_id>& into) const;
    /// Notes a command that has been enqueued, of a queue that was admitted. Calls of one queue are ordered
    /// by that queue's mutex.
    void mark(std::uint64_t queue, use how, std::uint64_t sequence) noexcept {
        if (is_used_by_only(queue)) [[likely]]
            (how == use::write ? home_written_ : home_read_).store(sequence, std::memory_order_release);
        else
            mark_shared(queue, how, sequence);
    }
    /// Whether this is among what collect_writers gives.
    bool was_written_last_by(const command_id&) const noexcept;
    /// The last command of each queue that wrote it and was not overwritten since.
    void collect_writers(std::vector<command_id>& into) const;

private:
    struct queue_use {
        std::uint64_t queue = 0;
        std::uint64_t written = 0;
        std::uint64_t read = 0;
    };
    static constexpr std::uint32_t freed = std::uint32_t{1} << 31;
    static constexpr std::uint32_t one_writer = std::uint32_t{1} << 16;  // mappings, counted
    static constexpr std::uint32_t one_reader = 1;

    friend class device_state;
    [[noreturn]] void refuse_kernel(use) const;
    void mark_shared(std::uint64_t queue, use, std::uint64_t sequence) noexcept;
    bool note_freed();
    /// The block, with the last command of each queue that used it.
    memory_pool::block block() const;
    queue_use* find_use(std::uint64_t queue);

    std::shared_ptr<device_state> device_;
    memory native_;
    std::size_t bytes_;
    std::size_t allocated_;
    memory_label label_;
    memory_origin origin_;
    void* address_ = nullptr;
    std::unique_ptr<const image_description> image_;
    bool unreadable_ = false;  // by kernels
    bool unwritable_ = false;
    std::atomic<std::uint32_t> restrictions_{0};  // freed, and the mappings there are

    std::atomic<std::uint64_t> home_{0};  // the first queue; never changes once set
    std::atomic<std::uint64_t> home_written_{0};
    std::atomic<std::uint64_t> home_read_{0};
    std::atomic<bool> shared_{false};  // others_ is not empty
    mutable std::mutex others_mutex_;
    std::vector<queue_use> others_;
};

/// The allocations that a launch reads or writes.
using storage_list = balm::detail::inline_vector<storage*, 8>;

}  // namespace balm::runtime
