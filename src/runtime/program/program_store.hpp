#pragma once
// The programs of one device: from an identity and a function that prints its source to a compiled program,
// from memory, from the disk, or from the driver's compiler. Each identity is compiled once, however many
// threads request it. The least recently used programs are evicted, and unloaded once no launch uses them.

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
#include "base/launch_plan.hpp"
#include "runtime/backend.hpp"

namespace balm::runtime {

class device_state;
class compiled_program;

/// What a program is compiled from. A first line that is a comment says where the source came from and is not
/// part of the key.
struct program_source {
    std::string text;
    std::string kernel_name;
    std::string options;  ///< in addition to those of every program on the device
    std::string why{};    ///< why it was compiled: what distinguishes it from earlier programs
    launch_plan plan{};   ///< not part of the key
};

/// A driver kernel for use by one thread; returned to its program's pool. Must not outlive the program.
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

/// A program loaded on a device, with kernels for as many threads as use it concurrently.
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

    /// The key and description under which its binary is stored on disk.
    struct disk_entry {
        digest key;
        std::string description;
    };
    /// Called for a program that was not on disk, with the entry under which to store its binary, if any:
    /// now, or after the first launch if the driver requires that.
    void compiled_now(const device_state& on, std::optional<disk_entry>);
    /// The platform whose driver compiled it; empty if it was on disk.
    const std::string& compiled_by() const { return compiled_by_; }
    /// True until the first launch of a program whose compilation the driver completes only then (PoCL).
    bool awaits_launch() const { return awaits_launch_.load(std::memory_order_relaxed); }
    /// Called after a launch in this queue while awaits_launch(): the background thread waits for it, so that
    /// the driver's compiler is never running when the process exits, and stores the binary.
    void launched(driver_queue&) noexcept;
    /// Whether its binary is to be stored on disk.
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
    std::atomic<driver_kernel*> spare_{nullptr};  // the only kernel that most programs need
    std::mutex pool_mutex_;
    std::vector<std::unique_ptr<driver_kernel>> pool_;
    std::string compiled_by_;
    std::optional<disk_entry> entry_;
    std::atomic<bool> awaits_launch_{false};
};

/// The key of a program in memory: there is one program per identity.
struct program_identity {
    digest kernel;     ///< of its code or text
    digest options{};  ///< of additional compiler options; zero for none
    launch_facts facts{};

    friend bool operator==(const program_identity&, const program_identity&) = default;
};

class program_store {
public:
    /// The programs kept per device, and as many kernels of expressions again: 95 KiB each on PoCL 3.1, some
    /// 400 MB if a process has created all of them.
    static constexpr std::size_t most_programs = 2048;

    explicit program_store(device_state& device) : device_(device) {}

    /// The program of this identity if it is in memory, else null.
    std::shared_ptr<compiled_program> find(const program_identity&) const;
    /// The program of this identity on this device; `make` prints its source and is called only if the
    /// program is not in memory. Throws build_error; the next call tries again.
    std::shared_ptr<compiled_program> get(const program_identity&,
                                          const std::function<program_source()>& make);
    /// Evicts all programs, and keeps none from then on.
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
