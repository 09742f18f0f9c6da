#pragma once
// Processes that were forked after Balm was used. They have the parent's memory, but neither its threads nor
// drivers that work, and a lock may be held by a thread that is not there: a first call would wait for ever.

#include <atomic>

namespace balm::runtime {

namespace detail {

inline constinit std::atomic<bool> is_forked{false};
[[noreturn]] void throw_forked();

}  // namespace detail

/// From here on, processes forked from this one are such ones. Called before the first driver is opened and
/// before the first thread starts.
void note_use() noexcept;

/// Whether this is such a process. What it has of the parent's is then left as it is: nothing is waited for,
/// nothing given back.
inline bool is_forked() noexcept { return detail::is_forked.load(std::memory_order_relaxed); }

/// Throws usage_error in such a process. Called before a lock is taken or a driver entered; costs one load.
inline void refuse_if_forked() {
    if (is_forked()) [[unlikely]]
        detail::throw_forked();
}

}  // namespace balm::runtime
