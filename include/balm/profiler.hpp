#pragma once
// Where a program spends its time: named sections of host code, and the device commands enqueued in them.

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

/// A row of a profiler's table: one section. Times are in nanoseconds.
struct profile_row {
    std::string name;
    int depth = 0;                   ///< the number of enclosing sections
    std::uint64_t count = 0;         ///< how often it was entered
    std::uint64_t host_total = 0;    ///< time from entry to exit
    std::uint64_t host_self = 0;     ///< the same without nested sections
    std::uint64_t commands = 0;      ///< enqueued in it, including nested sections
    std::uint64_t device_total = 0;  ///< execution time of these commands
    std::uint64_t device_self = 0;   ///< the same without nested sections
};

/// All commands of one name: the launches of a kernel, or the transfers of a kind.
struct profiled_command {
    std::string name{};            ///< of the kernel; or "copy", "fill", "write", "read", "map", "unmap"
    std::uint64_t count = 0;       ///< how many were enqueued
    std::uint64_t bytes = 0;       ///< transferred
    std::uint64_t work_items = 0;  ///< of launches
    std::uint64_t device = 0;      ///< execution time in nanoseconds
};

/// Returned by profiler::section(). The section lasts as long as this object.
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

/// Measures named sections, which may be nested and on any thread: the host time, and the device time of the
/// commands that the section's thread enqueues meanwhile, whenever they run. Does not wait before results are
/// requested. Sections with the same name and parent share a row; each thread nests its own sections. An
/// observed command costs the host an event, a microsecond or less.
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
    /// Observes one queue. Throws usage_error if it does not record times.
    explicit profiler(const queue&);
    /// Observes all queues of a device, including those made later, except queues that do not record times.
    explicit profiler(const device&);
    profiler(const profiler&) = delete;
    profiler& operator=(const profiler&) = delete;
    ~profiler();

    /// Observes another queue, of any device.
    void observe(const queue&);
    /// Observes another device.
    void observe(const device&);

    /// Begins a section on the calling thread. It ends with the object, on the same thread.
    profiled_section section(std::string_view name) { return {state_, name}; }

    /// The sections that have ended so far, each followed by its nested sections, and a row for the commands
    /// outside all sections. Waits for the commands in flight.
    std::vector<profile_row> rows() const;
    /// The commands by name, inside and outside sections, longest total time first. Waits for the commands in
    /// flight.
    ///
    ///     for (const balm::profiled_command& each : prof.commands())
    ///         std::cout << each.name << ": " << each.device / 1e6 << " ms\n";
    std::vector<profiled_command> commands() const;
    /// The rows as a table, then the commands. Shares are relative to the time of all sections, and to the
    /// device time.
    std::string summary() const;

private:
    std::shared_ptr<runtime::profiler_state> state_;
};

}  // namespace balm
