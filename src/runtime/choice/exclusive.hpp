#pragma once
// Exclusive use of devices among processes: takes a device and returns a lock that other processes see, or
// none.

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "balm/device_info.hpp"
#include "base/system.hpp"

namespace balm::runtime {

/// An advisory lock that keeps other processes from a device. Within this process it is shared, and released
/// with its last handle.
class device_lock {
public:
    /// Null if another process holds the device. Throws usage_error if the lock file cannot be used.
    static std::shared_ptr<device_lock> try_acquire(const device_info&);
    /// The path of the lock file: the same for a card through every backend.
    static std::string path_for(const device_info&);

    /// Use try_acquire.
    explicit device_lock(std::string path) : path_(std::move(path)) {}
    device_lock(const device_lock&) = delete;
    device_lock& operator=(const device_lock&) = delete;
    ~device_lock();

private:
    std::string path_;
    bool is_counted_ = false;
};

/// The lock for trying devices: one process tries at a time, so that none is refused a device that another is
/// only trying. Waits for at most this long, then throws no_device_error.
file_lock lock_choice(std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace balm::runtime
