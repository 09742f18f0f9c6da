#pragma once
// A device allocation and the commands that used it last. Queues ask it which commands to wait for, and leave
// their marks; the memory is freed with it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
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

/// Where memory comes from: the device's pool, a managed allocation, an allocation of the program that is
/// shared, or an image.
enum class memory_origin : std::uint8_t { pool, managed, adopted, image };

/// What an allocation is for. The text is created only on request, since allocations are frequent.
struct memory_label {
    std::string what;  ///< "a vector"; short enough to need no heap
    shape extents{};
    std::size_t element_bytes = 0;  ///< 0: `what` is the whole text

    std::string words() const;
};

/// RAII for a block of device memory. It may be destroyed while commands use it: they are noted with the
/// block in the pool, and the next owner's commands are ordered after them.
///
/// Hazards: for each queue, the numbers of the last command that wrote it and of the last that read it. The
/// first queue that uses it is its home, whose numbers are plain atomics: an allocation that only one queue
/// uses costs two loads and a store per command, and no lock. Other queues share a list behind a mutex.
class storage : public std::enable_shared_from_this<storage> {
public:
    /// Use device_state::allocate or allocate_image.
    storage(std::shared_ptr<device_state> device, const memory_pool::block&, std::size_t bytes,
            memory_label label, memory_origin = memory_origin::pool);
    storage(const storage&) = delete;
    storage& operator=(const storage&) = delete;
    ~storage();

    memory native() const { return native_; }

    /// Frees the memory explicitly, once the commands that use it have completed; later ones throw
    /// usage_error. Throws usage_error while the host has it mapped.
    void free();
    /// Whether it is freed or mapped, so that commands must call check_usable. One load.
    bool is_restricted() const { return restrictions_.load(std::memory_order_acquire) != 0; }
    bool is_freed() const { return (restrictions_.load(std::memory_order_acquire) & freed) != 0; }
    /// Throws usage_error if a command may not use it this way: it was freed, or the host has it mapped.
    /// The command itself may end a mapping.
    void check_usable(use, std::optional<use> ends_mapping = std::nullopt) const;
    /// Notes that the host has mapped a range of it, to write or only to read.
    void begin_mapping(use) noexcept;
    void end_mapping(use) noexcept;

    memory_origin origin() const { return origin_; }
    /// Whether vector loads may over-read and are aligned: in all memory that Balm allocated.
    bool is_padded() const { return origin_ != memory_origin::adopted; }
    /// The host address of managed memory; else null.
    void* address() const { return address_; }
    /// Called once, before it is used.
    void set_address(void* of_the_host) { address_ = of_the_host; }
    /// Its format and size, if it is an image; else null.
    const image_description* image() const { return image_.get(); }
    /// Called once, before it is used.
    void set_image(const image_description& of) { image_ = std::make_unique<const image_description>(of); }
    /// Sets what the driver forbids kernels to do with it. Called once, before it is used.
    void forbid_kernels(bool to_read, bool to_write) {
        unreadable_ = to_read;
        unwritable_ = to_write;
    }
    /// Throws usage_error if a kernel may not use it this way.
    void check_kernel_may(use how) const {
        if (how == use::write ? unwritable_ : unreadable_) [[unlikely]]
            refuse_kernel(how);
    }

    /// As requested; the block may be larger (memory_pool::block_bytes).
    std::size_t bytes() const { return bytes_; }
    std::size_t allocated_bytes() const { return allocated_; }
    device_state& device() const { return *device_; }
    const std::shared_ptr<device_state>& device_handle() const { return device_; }
    /// What it is for, for messages.
    std::string label() const { return label_.words(); }

    /// Whether only this queue has used it, so that its commands wait for no other queue. Lock-free.
    bool is_used_by_only(std::uint64_t queue) const {
        return home_.load(std::memory_order_acquire) == queue && !shared_.load(std::memory_order_acquire);
    }
    /// Reserves room for the marks of this queue, so that mark() cannot fail once the driver has the command.
    /// Returns whether other queues use the allocation, too.
    bool admit(std::uint64_t queue);
    /// The commands of other queues that a command of this queue must be ordered after.
    void collect_conflicts(std::uint64_t queue, use, std::vector<command_id>& into) const;
    /// Notes an enqueued command of an admitted queue. Calls for one queue are ordered by that queue's mutex.
    void mark(std::uint64_t queue, use how, std::uint64_t sequence) noexcept {
        if (is_used_by_only(queue)) [[likely]]
            (how == use::write ? home_written_ : home_read_).store(sequence, std::memory_order_release);
        else
            mark_shared(queue, how, sequence);
    }
    /// Whether this is one of the commands that collect_writers returns.
    bool was_written_last_by(const command_id&) const noexcept;
    /// The last write of each queue, unless it was overwritten since.
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
    static constexpr std::uint32_t unit_of(use how) { return how == use::write ? one_writer : one_reader; }

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
    std::atomic<std::uint32_t> restrictions_{0};  // freed, and the number of mappings

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
