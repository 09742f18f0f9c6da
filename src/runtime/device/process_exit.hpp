#pragma once
// The orderly end of a process: work and saves are finished while the drivers still live. Drivers register
// exit handlers and static objects of their own as they are used; handlers run in reverse order, so ours is
// registered again after each step that may have made them register. What they register while they are asked
// for a binary in the background comes after it all the same: where the main thread ends the process, a
// thread_local object of its own, which goes before any of these, waits for the saver.

#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

namespace balm::runtime {

class device_state;

/// Has the process finish all devices and pending saves when it exits, before anything that has been
/// registered until now is torn down. Called after each step that may have made a driver register something,
/// with the name of its platform, or empty if no driver is concerned.
void finish_at_exit(std::string_view after_step_of) noexcept;

/// Devices say when they come and go.
void device_made(device_state&);
void device_gone(device_state&) noexcept;

/// The devices that are alive, by address: `for (const auto& each : live_devices())`. Allocates nothing and
/// holds no lock between two of them; devices may come and go meanwhile.
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
