#include "runtime/host_parts.hpp"

#include <algorithm>

#include "balm/error.hpp"

namespace balm::runtime {

void host_parts::add(std::uint64_t sequence, part what) {
    const std::lock_guard lock(mutex_);
    // Threads may come here in another order than their commands were enqueued in.
    const auto behind =
        std::find_if(parts_.begin(), parts_.end(), [&](const auto& each) { return each.first > sequence; });
    parts_.emplace(behind, sequence, std::move(what));
    is_empty_.store(false, std::memory_order_release);
}

std::size_t host_parts::pending() const {
    const std::lock_guard lock(mutex_);
    return parts_.size();
}

bool host_parts::take(std::uint64_t completed, std::uint64_t& sequence, part& taken) {
    const std::lock_guard lock(mutex_);
    if (parts_.empty() || parts_.front().first > completed) return false;
    sequence = parts_.front().first;
    taken = std::move(parts_.front().second);
    parts_.pop_front();
    is_empty_.store(parts_.empty() && failures_.empty(), std::memory_order_release);
    return true;
}

void host_parts::run(std::uint64_t completed, std::uint64_t waited_for,
                     const std::function<driver_queue&()>& reader,
                     const std::function<void(std::uint64_t, const char*)>& failed) {
    if (is_empty()) return;
    std::exception_ptr first;
    {
        const std::lock_guard running(running_);
        std::uint64_t sequence = 0;
        for (part each; take(completed, sequence, each);) {
            try {
                each(reader());
            } catch (const check_error& fault) {
                if (!first) first = std::current_exception();
                failed(sequence, fault.what());
                const std::lock_guard lock(mutex_);
                failures_.emplace_back(sequence, std::current_exception());
                is_empty_.store(false, std::memory_order_release);
            } catch (...) {
                if (!first) first = std::current_exception();
            }
        }
    }
    if (!first) {
        const std::lock_guard lock(mutex_);
        for (const auto& [sequence, fault] : failures_)
            if (sequence == waited_for) first = fault;
    }
    if (first) std::rethrow_exception(first);
}

}  // namespace balm::runtime
