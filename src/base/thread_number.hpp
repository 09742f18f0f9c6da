#pragma once
// Identifies the thread that an error concerns if the error appears in another thread.

#include <atomic>
#include <cstdint>

namespace balm::runtime {

/// A number that no other thread of the process ever has; a std::thread::id may be reused.
inline std::uint64_t this_thread_number() noexcept {
    static constinit std::atomic<std::uint64_t> last{0};
    static constinit thread_local std::uint64_t own = 0;  // trivial: usable while the thread exits
    if (own == 0) own = ++last;
    return own;
}

}  // namespace balm::runtime
