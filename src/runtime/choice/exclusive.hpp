#pragma once
// Exclusive use of devices among processes: a device in, a lock out that others see, or none.

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "balm/device_info.hpp"
#include "base/system.hpp"

namespace balm::runtime {

/// A device held against other processes; within this one it is shared, and goes with its last handle.
class device_lock {
public:
    /// Nothing if another process holds the device. Throws usage_error if the lock's file cannot be used.
    static std::shared_ptr<device_lock> try_acquire(const device_info&);
    /// The file that is locked: the same for a card through every backend.
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

/// The right to try devices one after the other: one process at a time, so that none is refused a device that
/// another has only tried. Waits for at most this long, then throws no_device_error.
file_lock lock_choice(std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace balm::runtime
