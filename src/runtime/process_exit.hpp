#pragma once
// The orderly end of a process: work and saves are finished while the drivers still live. Drivers register
// exit handlers and static objects of their own as they are used; handlers run in reverse order, so ours is
// registered again after each step that may have made them register. What they register while they are asked
// for a binary in the background comes after it all the same: where the main thread ends the process, a
// thread_local object of its own, which goes before any of these, waits for the saver.

#include <memory>
#include <vector>

namespace balm::runtime {

class device_state;

/// Has the process finish all devices and pending saves when it exits, before anything that has been
/// registered until now is torn down. Called after each step of a device (which need not be there any more)
/// that may have made its driver register something; null: after one of Balm's own.
void finish_at_exit(const device_state* after_step_of) noexcept;

/// Devices say when they come and go.
void device_made(device_state&);
void device_gone(device_state&) noexcept;
/// Those that are there.
std::vector<std::shared_ptr<device_state>> live_devices() noexcept;

}  // namespace balm::runtime
