// The marks that commands leave on an allocation: the numbers of the last write and the last read, per queue.

#include "runtime/memory/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "balm/error.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::runtime {

std::string memory_label::words() const {
    return element_bytes == 0
               ? what
               : fmt::format("{} of {} elements of {} bytes", what, to_string(extents), element_bytes);
}

storage::storage(std::shared_ptr<device_state> device, const memory_pool::block& from, std::size_t bytes,
                 memory_label label, memory_origin origin)
    : device_(std::move(device)),
      native_(from.native),
      bytes_(bytes),
      allocated_(from.bytes),
      label_(std::move(label)),
      origin_(origin) {
    // Marked as reads: later writes wait for these commands, and their failures do not matter.
    for (const command_id& each : from.last_uses) {
        admit(each.queue);
        mark(each.queue, use::read, each.sequence);
    }
}

storage::~storage() {
    device_->forget(*this);
    if (!is_freed()) device_->take_back(*this);
}

memory_pool::block storage::block() const {
    memory_pool::block made{native_, allocated_, {}};
    const auto add = [&](std::uint64_t queue, std::uint64_t written, std::uint64_t read) {
        if (const std::uint64_t last = std::max(written, read)) made.last_uses.push_back({queue, last});
    };
    const std::lock_guard lock(others_mutex_);
    add(home_.load(std::memory_order_acquire), home_written_.load(std::memory_order_acquire),
        home_read_.load(std::memory_order_acquire));
    for (const queue_use& other : others_) add(other.queue, other.written, other.read);
    return made;
}

bool storage::note_freed() {
    std::uint32_t found = restrictions_.load(std::memory_order_acquire);
    do {
        if ((found & freed) != 0) return false;
        if (found != 0)
            throw usage_error(
                fmt::format("Memory ({}) on {} cannot be freed while the host has it mapped; release the "
                            "mapping first.",
                            label(), device_->words()));
    } while (!restrictions_.compare_exchange_weak(found, freed, std::memory_order_acq_rel));
    return true;
}

void storage::free() {
    if (!note_freed()) return;
    device_->forget(*this);
    device_->let_submissions_pass();  // commands that have passed their check are submitted first
    device_->take_back(*this);
}

void storage::check_usable(use how, std::optional<use> ends_mapping) const {
    std::uint32_t found = restrictions_.load(std::memory_order_acquire);
    if (ends_mapping) found -= unit_of(*ends_mapping);
    if ((found & freed) != 0)
        throw usage_error(fmt::format(
            "Memory ({}) on {} was freed by free() and can no longer be used; create a new buffer.", label(),
            device_->words()));
    if (found >= one_writer || (found != 0 && how == use::write))
        throw usage_error(fmt::format(
            "Memory ({}) on {} is mapped by the host, to {}; release the mapping before a command {} it.",
            label(), device_->words(), found >= one_writer ? "write" : "read",
            how == use::write ? "writes" : "reads"));
}

void storage::refuse_kernel(use how) const {
    throw usage_error(fmt::format(
        "Memory ({}) on {} was created for kernels that only {} it ({}), but a kernel was launched that may "
        "{} it; bind it to another parameter, or create it with CL_MEM_READ_WRITE.",
        label(), device_->words(), how == use::write ? "read" : "write",
        how == use::write ? "CL_MEM_READ_ONLY" : "CL_MEM_WRITE_ONLY", how == use::write ? "write" : "read"));
}

void storage::begin_mapping(use how) noexcept {
    restrictions_.fetch_add(unit_of(how), std::memory_order_acq_rel);
}

void storage::end_mapping(use how) noexcept {
    restrictions_.fetch_sub(unit_of(how), std::memory_order_acq_rel);
}

void storage::collect_conflicts(std::uint64_t queue, use how, std::vector<command_id>& into) const {
    const auto add = [&](const queue_use& other) {
        if (other.queue == queue || other.queue == 0) return;
        const std::uint64_t last = how == use::write ? std::max(other.written, other.read) : other.written;
        if (last != 0) into.push_back({other.queue, last});
    };
    const std::lock_guard lock(others_mutex_);
    add({home_.load(std::memory_order_acquire), home_written_.load(std::memory_order_acquire),
         home_read_.load(std::memory_order_acquire)});
    for (const queue_use& other : others_) add(other);
}

bool storage::was_written_last_by(const command_id& command) const noexcept {
    const std::lock_guard lock(others_mutex_);
    if (home_.load(std::memory_order_acquire) == command.queue)
        return home_written_.load(std::memory_order_acquire) == command.sequence;
    return std::any_of(others_.begin(), others_.end(), [&](const queue_use& other) {
        return other.queue == command.queue && other.written == command.sequence;
    });
}

void storage::collect_writers(std::vector<command_id>& into) const {
    const std::lock_guard lock(others_mutex_);
    if (const std::uint64_t written = home_written_.load(std::memory_order_acquire))
        into.push_back({home_.load(std::memory_order_acquire), written});
    for (const queue_use& other : others_)
        if (other.written != 0) into.push_back({other.queue, other.written});
}

storage::queue_use* storage::find_use(std::uint64_t queue) {
    const auto found = std::find_if(others_.begin(), others_.end(),
                                    [&](const queue_use& other) { return other.queue == queue; });
    return found == others_.end() ? nullptr : &*found;
}

bool storage::admit(std::uint64_t queue) {
    const std::lock_guard lock(others_mutex_);
    std::uint64_t home = 0;
    if (home_.compare_exchange_strong(home, queue) || home == queue) return !others_.empty();
    if (find_use(queue) == nullptr) {
        others_.push_back({queue, 0, 0});
        shared_.store(true, std::memory_order_release);
    }
    return true;
}

void storage::mark_shared(std::uint64_t queue, use how, std::uint64_t sequence) noexcept {
    const std::lock_guard lock(others_mutex_);
    const bool is_home = home_.load(std::memory_order_acquire) == queue;
    if (how == use::write) {
        // A write is ordered after all earlier uses, so commands that wait for it need no other marks.
        if (!is_home) {
            home_written_.store(0, std::memory_order_release);
            home_read_.store(0, std::memory_order_release);
        }
        for (queue_use& other : others_) other.written = other.read = 0;
    }
    if (is_home) {
        (how == use::write ? home_written_ : home_read_).store(sequence, std::memory_order_release);
        return;
    }
    queue_use& mine = *find_use(queue);
    (how == use::write ? mine.written : mine.read) = sequence;
}

}  // namespace balm::runtime
