#pragma once
// Where the time of a program goes: named sections of the host's code, and what the devices did for them.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "balm/device.hpp"
#include "balm/queue.hpp"

namespace balm {

namespace runtime {
class profiler_state;
struct profiler_node;
}  // namespace runtime

/// A section of a profiler's table; times in nanoseconds.
struct profile_row {
    std::string name;
    int depth = 0;                   ///< how many sections it is in
    std::uint64_t count = 0;         ///< how often it was entered
    std::uint64_t host_total = 0;    ///< from its beginnings to its ends
    std::uint64_t host_self = 0;     ///< less that of the sections in it
    std::uint64_t commands = 0;      ///< enqueued in it and in the sections in it
    std::uint64_t device_total = 0;  ///< execution time of these commands
    std::uint64_t device_self = 0;   ///< of those enqueued in none of the sections in it
};

/// The commands of one name: the launches of a kernel, or all transfers of a kind.
struct profiled_command {
    std::string name{};            ///< of the kernel; or "copy", "fill", "write", "read", "map", "unmap"
    std::uint64_t count = 0;       ///< how many were enqueued
    std::uint64_t bytes = 0;       ///< transferred
    std::uint64_t work_items = 0;  ///< of launches
    std::uint64_t device = 0;      ///< execution time in nanoseconds
};

/// What profiler::section() gives: the section lasts until it goes.
class [[nodiscard]] profiled_section {
public:
    profiled_section(const profiled_section&) = delete;
    profiled_section& operator=(const profiled_section&) = delete;
    ~profiled_section();

private:
    friend class profiler;
    profiled_section(std::shared_ptr<runtime::profiler_state>, std::string_view name);

    std::shared_ptr<runtime::profiler_state> state_;
    runtime::profiler_node* node_;
    std::uint64_t begun_;
};

/// Measures named sections, nested and on any threads: the host's time, and the time on the devices of the
/// commands that the section's thread enqueues meanwhile, whenever they run. Nothing is waited for until the
/// table is asked for. Sections of one name in the same section are one row; each thread has sections of its
/// own. An observed command costs the host an event, a microsecond or less.
///
///     balm::profiler prof(device);
///     for (int i = 0; i < steps; ++i) {
///         auto s = prof.section("step");
///         {
///             auto inner = prof.section("assembly");
///             matrix = …;
///         }
///         x = solve(matrix, x);
///     }
///     std::cout << prof.summary();
class profiler {
public:
    /// Observes the commands of one queue. Throws usage_error if it does not time.
    explicit profiler(const queue&);
    /// Observes the commands of a device's queues, also of those made later, except queues that do not time.
    explicit profiler(const device&);
    profiler(const profiler&) = delete;
    profiler& operator=(const profiler&) = delete;
    ~profiler();

    /// Observes a further queue, of any device.
    void observe(const queue&);
    /// Observes a further device.
    void observe(const device&);

    /// Begins a section of the calling thread; it ends with the object, on the same thread.
    profiled_section section(std::string_view name) { return {state_, name}; }

    /// The sections that have ended so far, each followed by those in it, and a row for the commands outside
    /// of all. Waits for the commands that are under way.
    std::vector<profile_row> rows() const;
    /// The commands by name, in all sections and outside, those that took longest first. Waits for the
    /// commands that are under way.
    ///
    ///     for (const balm::profiled_command& each : prof.commands())
    ///         std::cout << each.name << ": " << each.device / 1e6 << " ms\n";
    std::vector<profiled_command> commands() const;
    /// The rows as a table, then the commands: shares are of the time of all sections, and of the device's
    /// time.
    std::string summary() const;

private:
    std::shared_ptr<runtime::profiler_state> state_;
};

}  // namespace balm
