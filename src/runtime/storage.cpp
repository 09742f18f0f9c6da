// The marks that commands leave on an allocation: numbers of the last write and the last read, per queue.

#include "runtime/storage.hpp"

#include <algorithm>
#include <utility>

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
    device_->driver().free(native_);
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
