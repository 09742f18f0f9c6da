#pragma once
// A table that never grows beyond a bound: entries are found by a hash and a comparison, and the least
// recently used are evicted. A look-up takes a shared lock, and a hit writes to memory that other threads
// read only after an insertion.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace balm::runtime {

template <class Entry>
class bounded_table {
public:
    /// Holds up to `most` entries; evicts an eighth of them when it is full.
    explicit bounded_table(std::size_t most) : most_(most) {}

    /// The entry with this hash for which `is_it` holds; null if there is none. It stays valid while it is
    /// held, evicted or not.
    template <class IsIt>
    std::shared_ptr<Entry> find(std::uint64_t hash, IsIt&& is_it) const {
        const std::shared_lock lock(mutex_);
        return found(hash, is_it);
    }

    /// Inserts and returns an entry, or returns an equal one that another thread has inserted.
    template <class IsIt>
    std::shared_ptr<Entry> insert(std::uint64_t hash, std::shared_ptr<Entry> added, IsIt&& is_it) {
        std::vector<std::shared_ptr<Entry>> evicted;  // destroyed after unlocking: destructors run other code
        const std::lock_guard lock(mutex_);
        if (std::shared_ptr<Entry> known = found(hash, is_it)) return known;
        if (most_ == 0) return added;
        if (nodes_.size() >= most_) evict(evicted);
        const std::uint64_t now = clock_.fetch_add(1, std::memory_order_relaxed) + 1;
        nodes_.emplace(std::piecewise_construct, std::forward_as_tuple(hash),
                       std::forward_as_tuple(added, now));
        return added;
    }

    /// Calls `visit` with each entry, under the lock.
    template <class Visit>
    void for_each(Visit&& visit) const {
        const std::shared_lock lock(mutex_);
        for (const auto& [hash, each] : nodes_) visit(std::as_const(*each.entry));
    }

    /// Evicts all entries; later ones are not kept.
    void close() noexcept {
        nodes gone;
        const std::lock_guard lock(mutex_);
        most_ = 0;
        gone.swap(nodes_);
    }

    std::size_t size() const {
        const std::shared_lock lock(mutex_);
        return nodes_.size();
    }

private:
    struct node {
        node(std::shared_ptr<Entry> what, std::uint64_t now) : entry(std::move(what)), last_use(now) {}
        std::shared_ptr<Entry> entry;
        mutable std::atomic<std::uint64_t> last_use;  ///< in ticks of clock_
    };
    using nodes = std::unordered_multimap<std::uint64_t, node>;

    template <class IsIt>
    std::shared_ptr<Entry> found(std::uint64_t hash, IsIt& is_it) const {
        const auto [first, last] = nodes_.equal_range(hash);
        for (auto at = first; at != last; ++at) {
            if (!is_it(std::as_const(*at->second.entry))) continue;
            const std::uint64_t now = clock_.load(std::memory_order_relaxed);
            if (at->second.last_use.load(std::memory_order_relaxed) != now)
                at->second.last_use.store(now, std::memory_order_relaxed);
            return at->second.entry;
        }
        return nullptr;
    }

    void evict(std::vector<std::shared_ptr<Entry>>& evicted) {
        std::vector<typename nodes::iterator> all;
        all.reserve(nodes_.size());
        for (auto at = nodes_.begin(); at != nodes_.end(); ++at) all.push_back(at);
        const std::size_t count = std::max<std::size_t>(all.size() / 8, 1);
        evicted.reserve(count);
        std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count - 1), all.end(),
                         [](const auto& a, const auto& b) {
                             return a->second.last_use.load(std::memory_order_relaxed) <
                                    b->second.last_use.load(std::memory_order_relaxed);
                         });
        for (std::size_t k = 0; k < count; ++k) {
            evicted.push_back(std::move(all[k]->second.entry));
            nodes_.erase(all[k]);
        }
    }

    mutable std::shared_mutex mutex_;
    nodes nodes_;
    std::size_t most_;
    // Counts insertions, not uses: entries used since the last insertion are equally recent, and a hit mostly
    // finds its time up to date.
    std::atomic<std::uint64_t> clock_{0};
};

}  // namespace balm::runtime
