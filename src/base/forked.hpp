#pragma once
// Processes forked after Balm was used. They have the parent's memory, but not its threads, and drivers do
// not work. A lock may be held by a thread that does not exist: a first call would wait forever.

#include <atomic>

namespace balm::runtime {

namespace detail {

inline constinit std::atomic<bool> is_forked{false};
[[noreturn]] void throw_forked();

}  // namespace detail

/// Processes forked from this one count as forked from now on. Called before the first driver is opened and
/// before the first thread starts.
void note_use() noexcept;

/// Whether this is such a process. It leaves the state inherited from the parent alone: it waits for nothing
/// and releases nothing.
inline bool is_forked() noexcept { return detail::is_forked.load(std::memory_order_relaxed); }

/// Throws usage_error in such a process. Called before a lock is taken or a driver entered; costs one load.
inline void refuse_if_forked() {
    if (is_forked()) [[unlikely]]
        detail::throw_forked();
}

}  // namespace balm::runtime
