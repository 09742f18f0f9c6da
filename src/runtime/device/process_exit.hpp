#pragma once
// Orderly process exit: commands and saves finish while the drivers are still alive. Drivers register exit
// handlers and static objects as they are used, and handlers run in reverse order; so ours is registered
// again after each step that may have made a driver register something. What a driver registers while a
// binary is fetched in the background still comes later: if the main thread ends the process, a thread_local
// object of its own, which is destroyed before any of these, waits for the saver.

#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

namespace balm::runtime {

class device_state;

/// Makes the process finish all devices and pending saves at exit, before anything registered so far is torn
/// down. Called after each step that may have made a driver register something, with the name of its
/// platform, or an empty name if no driver is involved.
void finish_at_exit(std::string_view after_step_of) noexcept;

/// Called when a device is created and destroyed.
void device_made(device_state&);
void device_gone(device_state&) noexcept;

/// The live devices in the order of their addresses: `for (const auto& each : live_devices())`. Allocates
/// nothing and holds no lock between two devices; devices may be created and destroyed meanwhile.
class live_devices {
public:
    class iterator {
    public:
        explicit iterator(std::shared_ptr<device_state> at) noexcept : at_(std::move(at)) {}
        const std::shared_ptr<device_state>& operator*() const noexcept { return at_; }
        iterator& operator++() noexcept {
            at_ = next(at_.get());
            return *this;
        }
        bool operator==(std::default_sentinel_t) const noexcept { return at_ == nullptr; }

    private:
        std::shared_ptr<device_state> at_;
    };
    iterator begin() const noexcept { return iterator(next(nullptr)); }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    /// The first after this address; null if there is none.
    static std::shared_ptr<device_state> next(const device_state* after) noexcept;
};

}  // namespace balm::runtime
