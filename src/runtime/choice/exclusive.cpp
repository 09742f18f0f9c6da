// Exclusive use of devices among processes: takes a device and returns a lock that other processes see, or
// none.

#include "runtime/choice/exclusive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "balm/error.hpp"

namespace balm::runtime {

namespace {

using namespace std::chrono_literals;

/// A file that this process has locked, and the number of handles that share it. Counted instead of a
/// weak_ptr: the last handle is released and the file unlocked in one step under the mutex, so no thread sees
/// a half-released lock.
struct held_file {
    file_lock lock;
    std::size_t users = 0;
};
struct held_files {
    std::mutex mutex;
    std::map<std::string, held_file> by_path;
};

held_files& all_held() {
    static auto* const held = new held_files;  // static contexts release their locks at exit
    return *held;
}

/// Identifies the device on this machine, as part of a file name.
std::string identity_of(const device_info& info) {
    std::string text = info.uuid_text();
    if (text.empty()) text = info.pci_address;
    if (text.empty()) text = info.name;
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    };
    std::replace_if(
        text.begin(), text.end(), [&](char c) { return !is_plain(c); }, '-');
    return text.substr(0, 100);
}

std::string path_of(const std::string& name) {
    return (lock_directory() / fmt::format("balm-{}.lock", name)).string();
}

[[noreturn]] void throw_unusable(const std::string& path, const std::error_code& fault) {
    throw usage_error(
        fmt::format("Exclusive use of devices was requested, but the lock file '{}' cannot be used: {}. Set "
                    "BALM_LOCK_DIR to a directory in which every user of the devices can create files.",
                    path, fault.message()));
}

}  // namespace

std::string device_lock::path_for(const device_info& info) { return path_of("device-" + identity_of(info)); }

std::shared_ptr<device_lock> device_lock::try_acquire(const device_info& info) {
    auto made = std::make_shared<device_lock>(path_for(info));
    held_files& held = all_held();
    const std::lock_guard guard(held.mutex);
    held_file& file = held.by_path[made->path_];
    if (file.users == 0) {
        std::error_code fault;
        file.lock = file_lock::acquire(made->path_, 0ms, fault);
        if (fault == std::errc::resource_unavailable_try_again) return nullptr;
        if (fault) throw_unusable(made->path_, fault);
    }
    ++file.users;
    made->is_counted_ = true;
    return made;
}

device_lock::~device_lock() {
    if (!is_counted_) return;
    held_files& held = all_held();
    const std::lock_guard guard(held.mutex);
    const auto found = held.by_path.find(path_);
    if (--found->second.users == 0) held.by_path.erase(found);
}

file_lock lock_choice(std::chrono::milliseconds patience) {
    const std::string path = path_of("choice");
    std::error_code fault;
    file_lock made = file_lock::acquire(path, patience, fault);
    if (made) return made;
    if (fault != std::errc::resource_unavailable_try_again) throw_unusable(path, fault);
    throw no_device_error(
        fmt::format("Exclusive use of devices was requested, but another process has been choosing its "
                    "devices for {} seconds: it holds '{}'. If it hangs, terminate it.",
                    static_cast<double>(patience.count()) / 1000, path));
}

}  // namespace balm::runtime
