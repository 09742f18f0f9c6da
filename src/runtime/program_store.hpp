#pragma once
// The programs of one device: an identity and a way to print its source come in, a compiled program goes
// out, from memory, from the disk, or from the driver's compiler. Each identity is compiled once, however
// many threads ask.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/hash.hpp"

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
    compiled_program(std::unique_ptr<driver_program>, std::string kernel_name);
    compiled_program(const compiled_program&) = delete;
    compiled_program& operator=(const compiled_program&) = delete;
    ~compiled_program();

    kernel_lease lease_kernel();
    const std::string& kernel_name() const { return kernel_name_; }
    std::size_t max_work_group_size() const { return max_work_group_size_; }

    /// How its binary is to be kept on disk.
    struct disk_entry {
        hash128 key;
        std::string description;
    };
    /// Said of a program that was not on disk, with the entry under which its binary is to be kept, if any:
    /// now, or after the first launch, as the driver needs it.
    void compiled_now(const device_state& on, std::optional<disk_entry>);
    /// The device that compiled it, which need not be there any more; null for what was on disk.
    const device_state* compiled_on() const { return compiled_on_; }
    /// True until the first launch of a program that the driver compiles to the end only then (PoCL).
    bool awaits_launch() const { return awaits_launch_.load(std::memory_order_relaxed); }
    /// Called after a launch while awaits_launch(): waits for it, once in the program's life, so that the
    /// driver's compiler is never at work when the process exits; then the background thread keeps the
    /// binary.
    void launched(driver_event& done);
    /// Fetches the binary and stores it; never throws.
    void save() noexcept;

private:
    friend class kernel_lease;
    void give_back(std::unique_ptr<driver_kernel>) noexcept;

    std::unique_ptr<driver_program> driver_;
    std::string kernel_name_;
    std::size_t max_work_group_size_ = 0;
    std::atomic<driver_kernel*> spare_{nullptr};  // the one kernel that most programs ever need
    std::mutex pool_mutex_;
    std::vector<std::unique_ptr<driver_kernel>> pool_;
    const device_state* compiled_on_ = nullptr;
    std::optional<disk_entry> entry_;
    std::atomic<bool> awaits_launch_{false};
};

class program_store {
public:
    explicit program_store(device_state& device) : device_(device) {}

    /// The program of this identity on this device; `make` prints its source and is called only when the
    /// program is not in memory. Throws build_error; the next call tries again.
    std::shared_ptr<compiled_program> get(const hash128& identity,
                                          const std::function<program_source()>& make);

private:
    struct slot {
        std::mutex mutex;
        std::shared_ptr<compiled_program> program;
    };
    std::shared_ptr<compiled_program> build(const program_source&);

    device_state& device_;
    std::shared_mutex mutex_;
    std::unordered_map<hash128, std::shared_ptr<slot>, hash128_bucket> slots_;
};

}  // namespace balm::runtime
