#pragma once
// In: compiled programs, each under a key made of everything that it depends on. Out: the same bytes in a
// later process, or nothing. It saves later processes the compilation; any error on the disk only means that
// a program is compiled again.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"

namespace balm::runtime {

/// Everything that a compiled program depends on.
struct program_key_fields {
    std::string_view kind;     ///< what the bytes are: "opencl-binary", "cuda-cubin", "cuda-ptx" …
    std::string_view source;   ///< the source text, prelude included
    std::string_view options;  ///< the compiler's options and version
    std::string_view device;   ///< platform and device names, architecture, anything that distinguishes them
    std::string_view driver_version;  ///< of the device's driver, as it reports it
    std::string_view balm_version;    ///< of the library that printed the source
};

digest make_key(const program_key_fields& fields) noexcept;

/// A directory of compiled programs, shared by any number of threads and processes, on any file system.
///
/// An entry is one file, `<key>.bin`, readable only by its user. Before its payload is returned, its header,
/// length, key and payload digest are checked, and that only this user (or root) can have written it or can
/// write to the directory or one above it: a CPU device's binary is native code. A directory that others may
/// write to is not used; a message on standard error says so once. No function throws.
class disk_cache {
public:
    struct statistics {
        std::uint64_t hits = 0;
        std::uint64_t misses = 0;   ///< there was no entry
        std::uint64_t damaged = 0;  ///< there was an entry, but unreadable, corrupt or not ours
        std::uint64_t writes = 0;
        std::uint64_t failed_writes = 0;
        std::uint64_t evicted = 0;
    };

    struct entry {
        digest key;
        std::string description;                            ///< empty if damaged
        std::uint64_t bytes = 0;                            ///< of the file
        std::chrono::system_clock::time_point last_used{};  ///< to within ten minutes
        std::uint64_t uses = 0;  ///< the compilation and later loads; loads within ten minutes count once
        bool damaged = false;    ///< the header is corrupt or not ours
    };

    struct total {
        std::uint64_t entries = 0;
        std::uint64_t bytes = 0;
    };

    /// Without a directory the cache is off: nothing is found, nothing is stored.
    disk_cache(std::optional<std::filesystem::path> directory, std::uint64_t limit_bytes) noexcept;

    disk_cache(const disk_cache&) = delete;
    disk_cache& operator=(const disk_cache&) = delete;

    /// Whether there is a directory to which only this user can write.
    bool enabled() const noexcept { return directory_ && !refusal(); }
    /// Why its directory is not used, as text; nothing if it is used or there is none.
    std::optional<std::string> refusal() const noexcept;
    const std::optional<std::filesystem::path>& directory() const noexcept { return directory_; }
    std::uint64_t limit_bytes() const noexcept { return limit_bytes_; }

    /// The payload stored under this key; nothing if there is no valid one.
    std::optional<std::vector<std::byte>> load(const digest& key) noexcept;

    /// Stores the payload if possible. The least recently used entries are evicted to make room; one larger
    /// than the limit is not stored. `description` (kernel name, device) is for `balm cache list`, truncated
    /// to 256 bytes.
    void store(const digest& key, std::span<const std::byte> payload,
               std::string_view description = {}) noexcept;

    statistics counts() const noexcept;

    /// The entries, most recently used first. Reads every header, no payload.
    std::vector<entry> list() const noexcept;

    /// The number of entries, and their bytes on disk.
    total size() const noexcept;

    /// Removes every entry and every temporary, and nothing else. Returns the number of files removed.
    std::uint64_t clear() noexcept;

private:
    bool is_refused() noexcept;
    bool try_store(const digest& key, std::span<const std::byte> payload, std::string_view description);
    void make_room(std::uint64_t needed);
    void end_write(std::uint64_t bytes) noexcept;
    void scan_and_evict(std::uint64_t needed);

    std::optional<std::filesystem::path> directory_;
    std::uint64_t limit_bytes_;
    std::atomic<bool> told_of_refusal_{false};

    std::mutex room_;
    bool scanned_ = false;
    std::uint64_t estimated_bytes_ = 0;  // at the last scan, plus what this process wrote since
    std::uint64_t being_written_ = 0;    // by this process: a scan may not see it yet
    std::uint64_t written_since_scan_ = 0;

    std::atomic<std::uint64_t> hits_{0}, misses_{0}, damaged_{0}, writes_{0}, failed_writes_{0}, evicted_{0};
};

struct disk_cache_settings {
    std::optional<std::filesystem::path> directory;
    std::uint64_t limit_bytes = 0;
};

/// The settings of BALM_CACHE (0: off), BALM_CACHE_DIR and BALM_CACHE_SIZE (MiB; 512 if absent or not a
/// number).
disk_cache_settings disk_cache_settings_from_environment();

/// The process's cache, created from the environment on first use; one that is off if there is no memory for
/// it. Never destroyed: background threads and static objects may use it to the end.
disk_cache& default_cache() noexcept;

}  // namespace balm::runtime
