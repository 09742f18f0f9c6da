#pragma once
// The programs of one device: an identity and a way to print its source come in, a compiled program goes
// out, from memory, from the disk, or from the driver's compiler. Each identity is compiled once, however
// many threads ask. Programs that were not used for long are evicted, and unloaded once no launch uses them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bounded_table.hpp"
#include "base/hash.hpp"
#include "runtime/backend.hpp"
#include "runtime/program/launch_plan.hpp"

namespace balm::runtime {

class device_state;
class compiled_program;

/// What a program is compiled from. A first line that is a comment tells where the source came from and is
/// no part of its key.
struct program_source {
    std::string text;
    std::string kernel_name;
    std::string options;  ///< besides those that always hold on the device
    std::string why{};    ///< what no program before it had, in words
    launch_plan plan{};   ///< no part of its key
};

/// A driver kernel for one thread's use; goes back to its program's pool. Must not outlive the program.
class kernel_lease {
public:
    kernel_lease(compiled_program& program, std::unique_ptr<driver_kernel> kernel)
        : program_(&program), kernel_(std::move(kernel)) {}
    kernel_lease(kernel_lease&&) noexcept = default;
    kernel_lease& operator=(kernel_lease&&) = delete;
    ~kernel_lease();

    driver_kernel& operator*() const { return *kernel_; }
    driver_kernel* operator->() const { return kernel_.get(); }
    compiled_program& program() const { return *program_; }

private:
    compiled_program* program_;
    std::unique_ptr<driver_kernel> kernel_;
};

/// A program loaded on a device, with kernels for as many threads as use it at once.
class compiled_program : public std::enable_shared_from_this<compiled_program> {
public:
    compiled_program(std::unique_ptr<driver_program>, std::string kernel_name, launch_plan);
    compiled_program(const compiled_program&) = delete;
    compiled_program& operator=(const compiled_program&) = delete;
    ~compiled_program();

    kernel_lease lease_kernel();
    const std::string& kernel_name() const { return kernel_name_; }
    const launch_plan& plan() const { return plan_; }
    std::size_t max_work_group_size() const { return max_work_group_size_; }

    /// How its binary is to be kept on disk.
    struct disk_entry {
        digest key;
        std::string description;
    };
    /// Said of a program that was not on disk, with the entry under which its binary is to be kept, if any:
    /// now, or after the first launch, as the driver needs it.
    void compiled_now(const device_state& on, std::optional<disk_entry>);
    /// The platform whose driver compiled it; empty for what was on disk.
    const std::string& compiled_by() const { return compiled_by_; }
    /// True until the first launch of a program that the driver compiles to the end only then (PoCL).
    bool awaits_launch() const { return awaits_launch_.load(std::memory_order_relaxed); }
    /// Called after a launch in this queue while awaits_launch(): the background thread waits for it, so that
    /// the driver's compiler is never at work when the process exits, and keeps the binary.
    void launched(driver_queue&) noexcept;
    /// Whether its binary is to be kept on disk.
    bool is_kept() const { return entry_.has_value(); }
    /// Fetches the binary and stores it; never throws.
    void save() noexcept;

private:
    friend class kernel_lease;
    void give_back(std::unique_ptr<driver_kernel>) noexcept;

    std::unique_ptr<driver_program> driver_;
    std::string kernel_name_;
    launch_plan plan_;
    std::size_t max_work_group_size_ = 0;
    std::atomic<driver_kernel*> spare_{nullptr};  // the one kernel that most programs ever need
    std::mutex pool_mutex_;
    std::vector<std::unique_ptr<driver_kernel>> pool_;
    std::string compiled_by_;
    std::optional<disk_entry> entry_;
    std::atomic<bool> awaits_launch_{false};
};

/// What a program is known by while the process lives. Programs of one identity are one program.
struct program_identity {
    digest kernel;     ///< of its code or text
    digest options{};  ///< of additional compiler options; zero for none
    launch_facts facts{};

    friend bool operator==(const program_identity&, const program_identity&) = default;
};

class program_store {
public:
    /// Programs kept for a device, and as many kernels of expressions again: 95 KiB each on PoCL 3.1, some
    /// 400 MB where a process has made all of them.
    static constexpr std::size_t most_programs = 2048;

    explicit program_store(device_state& device) : device_(device) {}

    /// The program of this identity, if it is in memory.
    std::shared_ptr<compiled_program> find(const program_identity&) const;
    /// The program of this identity on this device; `make` prints its source and is called only when the
    /// program is not in memory. Throws build_error; the next call tries again.
    std::shared_ptr<compiled_program> get(const program_identity&,
                                          const std::function<program_source()>& make);
    /// Lets go of all programs, and keeps none from here on.
    void close() noexcept { slots_.close(); }

private:
    struct slot {
        program_identity identity;
        std::mutex mutex{};
        std::shared_ptr<compiled_program> program{};  ///< constant once is_ready
        std::atomic<bool> is_ready{false};
    };
    static std::uint64_t hash_of(const program_identity&);
    std::shared_ptr<compiled_program> build(const program_source&);
    std::shared_ptr<compiled_program> loaded(std::unique_ptr<driver_program>, const program_source&);
    std::shared_ptr<compiled_program> from_disk(const digest& key, const program_source&);

    device_state& device_;
    bounded_table<slot> slots_{most_programs};
};

}  // namespace balm::runtime
