#pragma once
// Device memory between two uses. What a buffer gives back is kept for the next one of about its size, with
// the commands that used it last: the new owner's commands come after those, as they would if the memory had
// been its own all the time. So giving back never waits, and taking costs no call of the driver.

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "balm/inline_vector.hpp"
#include "runtime/backend.hpp"

namespace balm::runtime {

/// A command by its queue and its number there.
struct command_id {
    std::uint64_t queue = 0;
    std::uint64_t sequence = 0;
};

class memory_pool {
public:
    /// An allocation of the driver's, and what it is to come after.
    struct block {
        memory native;
        std::size_t bytes = 0;
        balm::detail::inline_vector<command_id, 2> last_uses;
    };

    explicit memory_pool(driver_device&);
    memory_pool(const memory_pool&) = delete;
    memory_pool& operator=(const memory_pool&) = delete;
    ~memory_pool() { trim(); }

    /// The size of the blocks that serve so many bytes: at most an eighth more, and from 64 MiB on 2 MiB.
    static std::size_t block_bytes(std::size_t bytes);

    /// A block of exactly this size, if there is one.
    std::optional<block> take(std::size_t bytes);
    /// Keeps a block, and frees others where that are more than limit() bytes.
    void give(block) noexcept;
    /// Frees the largest blocks until no more than `keep` bytes are kept; gives the bytes freed.
    std::size_t trim(std::size_t keep = 0) noexcept;

    std::size_t cached_bytes() const;
    void set_limit(std::size_t bytes);

private:
    void free_largest() noexcept;

    driver_device& driver_;
    mutable std::mutex mutex_;
    std::map<std::size_t, std::vector<block>> blocks_;  // by size; the last given is the first taken
    std::size_t cached_ = 0;
    std::size_t limit_;
};

}  // namespace balm::runtime
