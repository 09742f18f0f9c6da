#pragma once
// Who an error concerns, where it shows in another thread than the one whose command failed.

#include <atomic>
#include <cstdint>

namespace balm::runtime {

/// A number that no other thread of the process ever has, as std::thread::id may be given again.
inline std::uint64_t this_thread_number() noexcept {
    static constinit std::atomic<std::uint64_t> last{0};
    static constinit thread_local std::uint64_t own = 0;  // trivial: there while the thread's objects go
    if (own == 0) own = ++last;
    return own;
}

}  // namespace balm::runtime
