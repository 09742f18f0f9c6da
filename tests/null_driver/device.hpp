#pragma once
// A device that does nothing, at once: takes every call of the driver interface and counts it. Benchmarks
// measure the host's own work against it; tests look at what the runtime asked for.

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/backend.hpp"

namespace balm::null {

/// What was asked of a null device so far.
struct counters {
    std::atomic<std::uint64_t> allocations{0};
    std::atomic<std::uint64_t> live_allocations{0};
    std::atomic<std::uint64_t> live_pinned{0};
    std::atomic<std::uint64_t> queues{0};
    std::atomic<std::uint64_t> writes{0};
    std::atomic<std::uint64_t> reads{0};
    std::atomic<std::uint64_t> copies{0};
    std::atomic<std::uint64_t> fills{0};
    std::atomic<std::uint64_t> launches{0};
    std::atomic<std::uint64_t> most_groups{0};  ///< of a launch
    std::atomic<std::uint64_t> too_large{0};    ///< launches in larger groups than the kernel allows
    std::atomic<std::uint64_t> events{0};
    std::atomic<std::uint64_t> waits{0};  ///< events that commands had to wait for
    std::atomic<std::uint64_t> flushes{0};
    std::atomic<std::uint64_t> finishes{0};
    std::atomic<std::uint64_t> compiles{0};
    std::atomic<std::uint64_t> loads{0};
};

class device final : public runtime::driver_device {
public:
    explicit device(runtime::dialect);

    const device_info& info() const override { return info_; }
    runtime::dialect language() const override { return language_; }
    std::string compile_options() const override { return "-null"; }
    std::unique_ptr<runtime::driver_queue> make_queue(const runtime::queue_options&) override;
    /// A number that no other live allocation has; there is no memory behind it.
    runtime::memory allocate(std::size_t bytes) override;
    void free(runtime::memory) noexcept override;
    /// Ordinary host memory.
    runtime::pinned_memory allocate_pinned(std::size_t bytes) override;
    void free_pinned(runtime::pinned_memory) noexcept override;
    /// Takes any source. The program's binary is the source.
    std::unique_ptr<runtime::driver_program> compile(const std::string& source,
                                                     const std::string& options) override;
    std::unique_ptr<runtime::driver_program> load(std::span<const std::byte> binary) override;
    void* native_context() override { return this; }
    void* native_device() override { return this; }

    const counters& counts() const { return *counters_; }
    /// The most work-items of a group of kernels that are compiled from now on, unless they are compiled for
    /// groups of one size.
    void limit_groups(std::size_t most_items) { most_items_ = most_items; }

private:
    runtime::dialect language_;
    device_info info_;
    std::size_t most_items_ = 1024;
    std::shared_ptr<counters> counters_;  // queues count, too, and may outlive the device
};

/// A null device that says it takes programs in this language.
std::shared_ptr<device> make_null_device(runtime::dialect);

}  // namespace balm::null
