#pragma once
// Commands as data: what a queue submits to its driver, with the allocations that a command reads and writes.
// A command refers to objects of its caller, so that enqueuing it needs no heap; an owned_command owns them,
// for as long as the command is deferred or recorded.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/backend.hpp"

namespace balm::runtime {

class compiled_program;
class storage;
enum class use : std::uint8_t;

/// Keeps host memory alive until a command has completed. Pinned memory is bounded by its owner; other memory
/// counts towards the bytes that a queue holds.
struct host_memory_owner {
    host_memory_owner(std::nullptr_t = nullptr) {}
    template <class T>
    host_memory_owner(std::shared_ptr<T> owner, bool pinned = false)
        : object(std::move(owner)), is_pinned(pinned) {}

    std::shared_ptr<const void> object;
    bool is_pinned = false;
};

/// A copy of host memory.
std::shared_ptr<std::byte[]> copy_aside(const void* from, std::size_t bytes);

/// Bytes of device memory: contiguous from layout.offset on if layout.row_pitch is 0, else a box.
struct device_bytes {
    memory native;
    region_layout layout;

    bool is_contiguous() const { return layout.row_pitch == 0; }
};

struct launch_command {
    compiled_program* program;  ///< null: the kernel does not belong to a program of the runtime
    driver_kernel* kernel;      ///< null: one is leased from the program when the command is issued
    grid over;
    std::span<const argument> arguments;
};
/// Matrix products by the vendor's library of the device.
struct multiply_command {
    matrix_product what;
    std::string_view name;  ///< lives as long as the program
};
/// Both sides are contiguous or neither is.
struct copy_command {
    device_bytes to;
    device_bytes from;
    region_extent size;
    std::shared_ptr<driver_device> source;  ///< null: the device itself
};
struct fill_command {
    memory to;
    std::size_t offset;
    std::size_t bytes;
    std::array<std::byte, 16> pattern;
    std::size_t pattern_bytes;
};
struct write_command {
    device_bytes to;
    const void* from;  ///< contiguous
    region_extent size;
    host_memory_owner* keep;  ///< empty: own() copies the bytes and makes the copy the owner
};
struct read_command {
    void* to;  ///< contiguous
    device_bytes from;
    region_extent size;
};
/// With a null handle the host sees the memory anyway, and the command only marks a point in the queue.
struct map_command {
    memory from;
    std::size_t offset;
    std::size_t bytes;
    map_use use;
    void** address;  ///< set when the command is issued
};
struct unmap_command {
    memory from;
    void* address;
};
/// A point in the queue, not reported to observers.
struct marker_command {
    bool is_immediate = false;  ///< native commands follow immediately: it cannot be deferred
};
/// Commands that the program enqueued in the driver's queue since a marker. Issuing this command does not
/// enqueue them: that may use Balm, and queues are locked while a command is issued.
struct native_command {
    event_handle begin;  ///< of the marker
};

/// Recorded commands that the driver keeps.
struct batch_command {
    std::shared_ptr<driver_batch> batch;
};

struct command {
    std::variant<launch_command, multiply_command, copy_command, fill_command, write_command, read_command,
                 map_command, unmap_command, marker_command, native_command, batch_command>
        what;
    std::span<storage* const> reads;
    std::span<storage* const> writes;
    /// How the host maps the command's allocation from then on, or did until then. Whoever finds it unmapped
    /// also finds the command that unmapped it.
    std::optional<use> begins_mapping = std::nullopt, ends_mapping = std::nullopt;
};

/// Submits a command to the driver.
void issue(const command&, driver_queue&, const dependencies&);

/// False if the caller needs the result of issuing it, or if it refers to objects that cannot be owned.
bool can_be_deferred(const command&);
inline bool is_marker(const command& of) { return std::holds_alternative<marker_command>(of.what); }
/// Whether it reads the memory of another device.
bool reads_other_device(const command&);
/// The name of the kernel or of the library's function, or "copy", "fill", "write", "read", "map", "unmap",
/// "marker", "native", "batch".
std::string_view name_of(const command&);
/// The bytes that it transfers; 0 for launches, whose bytes are unknown here.
std::size_t bytes_of(const command&);
/// The event at which its time begins, if that is not its own event; else null.
event_handle begin_of(const command&);
/// The work-items of a launch; 0 for other commands.
std::size_t work_items_of(const command&);
inline std::size_t bytes_of(const region_extent& size) { return size.row_bytes * size.rows * size.planes; }

/// A command that owns everything it refers to, except the host memory that a read writes to.
struct owned_command {
    command what;
    std::vector<std::shared_ptr<storage>> reads;
    std::vector<std::shared_ptr<storage>> writes;
    std::shared_ptr<compiled_program> program;
    std::unique_ptr<argument[]> arguments;  ///< of a launch
    std::vector<std::shared_ptr<const std::byte[]>> long_values;
};

/// Requires can_be_deferred.
owned_command own(const command&);

/// Memory that takes the place of other memory in recorded commands.
struct memory_replacement {
    storage* recorded;
    std::shared_ptr<storage> by;
};
/// The same command on other memory; `kept` owns what a write reads on the host. Throws usage_error if it
/// refers to replaced memory in another way than as an argument.
owned_command with_memory(const owned_command&, std::span<const memory_replacement>, host_memory_owner kept);

}  // namespace balm::runtime
