#pragma once
// A cache of released device memory. The memory of a buffer is kept for the next buffer of about its size,
// with the commands that used it last: the new owner's commands are ordered after those, as if it had owned
// the memory all the time. So releasing memory never waits, and reusing it costs no driver call.

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "balm/inline_vector.hpp"
#include "runtime/backend.hpp"

namespace balm::runtime {

/// A command, identified by its queue and its number there.
struct command_id {
    std::uint64_t queue = 0;
    std::uint64_t sequence = 0;
    friend bool operator==(const command_id&, const command_id&) = default;
};

class memory_pool {
public:
    /// A driver allocation, and the commands that its next use must be ordered after.
    struct block {
        memory native;
        std::size_t bytes = 0;
        balm::detail::inline_vector<command_id, 2> last_uses;
    };

    explicit memory_pool(driver_device&);
    memory_pool(const memory_pool&) = delete;
    memory_pool& operator=(const memory_pool&) = delete;
    ~memory_pool() { trim(); }

    /// The size of the blocks for so many bytes: larger by at most an eighth or 64 bytes, and from 64 MiB on
    /// by at most 2 MiB.
    static std::size_t block_bytes(std::size_t bytes);

    /// A block of exactly this size, if there is one.
    std::optional<block> take(std::size_t bytes);
    /// Caches a block, and frees the largest ones while more bytes than the limit are cached.
    void give(block) noexcept;
    /// Frees the largest blocks until at most `keep` bytes are cached; returns the bytes freed.
    std::size_t trim(std::size_t keep = 0) noexcept;

    std::size_t cached_bytes() const;
    void set_limit(std::size_t bytes);

private:
    void free_largest() noexcept;

    driver_device& driver_;
    mutable std::mutex mutex_;
    std::map<std::size_t, std::vector<block>> blocks_;  // by size; last in, first out
    std::size_t cached_ = 0;
    std::size_t limit_;
};

}  // namespace balm::runtime
