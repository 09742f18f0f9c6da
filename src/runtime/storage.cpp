// The marks that commands leave on an allocation: numbers of the last write and the last read, per queue.

#include "runtime/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "balm/error.hpp"
#include "runtime/device_state.hpp"

namespace balm::runtime {

storage::storage(std::shared_ptr<device_state> device, memory native, std::size_t bytes,
                 std::size_t allocated, std::string label)
    : device_(std::move(device)),
      native_(native),
      bytes_(bytes),
      allocated_(allocated),
      label_(std::move(label)) {}

storage::~storage() {
    device_->forget(*this);
    if (!is_freed()) device_->driver().free(native_);
}

bool storage::note_freed() {
    std::uint32_t found = restrictions_.load(std::memory_order_acquire);
    do {
        if ((found & freed) != 0) return false;
        if (found != 0)
            throw usage_error(
                fmt::format("Memory ({}) on {} cannot be freed while the host has it mapped; release the "
                            "mapping first.",
                            label_, device_->words()));
    } while (!restrictions_.compare_exchange_weak(found, freed, std::memory_order_acq_rel));
    return true;
}

void storage::free() {
    if (!note_freed()) return;
    device_->forget(*this);
    device_->let_submissions_pass();  // a thread that found it usable hands its command on first
    device_->driver().free(native_);
}

void storage::check_usable(use how) const {
    const std::uint32_t found = restrictions_.load(std::memory_order_acquire);
    if ((found & freed) != 0)
        throw usage_error(
            fmt::format("Memory ({}) on {} was freed by free() and can no longer be used; make a new buffer.",
                        label_, device_->words()));
    if (found >= one_writer || (found != 0 && how == use::write))
        throw usage_error(fmt::format(
            "Memory ({}) on {} is mapped by the host, to {}; release the mapping before a command {} it.",
            label_, device_->words(), found >= one_writer ? "write" : "read",
            how == use::write ? "writes" : "reads"));
}

void storage::begin_mapping(use how) {
    restrictions_.fetch_add(how == use::write ? one_writer : one_reader, std::memory_order_acq_rel);
}

void storage::end_mapping(use how) noexcept {
    restrictions_.fetch_sub(how == use::write ? one_writer : one_reader, std::memory_order_acq_rel);
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

void storage::collect_writers(std::vector<command_id>& into) const {
    const std::lock_guard lock(others_mutex_);
    if (const std::uint64_t written = home_written_.load(std::memory_order_acquire))
        into.push_back({home_.load(std::memory_order_acquire), written});
    for (const queue_use& other : others_)
        if (other.written != 0) into.push_back({other.queue, other.written});
}

void storage::mark_shared(std::uint64_t queue, use how, std::uint64_t sequence) {
    const std::lock_guard lock(others_mutex_);
    std::uint64_t home = 0;
    const bool is_home = home_.compare_exchange_strong(home, queue) || home == queue;
    if (how == use::write) {
        // A write comes after everything before it, so whoever waits for it needs to know nothing else.
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
    auto mine = std::find_if(others_.begin(), others_.end(),
                             [&](const queue_use& other) { return other.queue == queue; });
    if (mine == others_.end()) mine = others_.insert(others_.end(), {queue, 0, 0});
    (how == use::write ? mine->written : mine->read) = sequence;
    shared_.store(true, std::memory_order_release);
}

}  // namespace balm::runtime
