// Finishes devices and saves when the process exits, before the drivers' own handlers run.

#include "runtime/process_exit.hpp"

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/device_state.hpp"
#include "runtime/poller.hpp"
#include "runtime/program_saver.hpp"
#include "runtime/promised_event.hpp"
#include "runtime/system.hpp"

namespace balm::runtime {

namespace {

// Drivers have registered all they ever do after a few compilations; each begins when it is first used.
constexpr int most_registrations = 64;

struct process_state {
    std::mutex mutex;
    std::map<const device_state*, std::weak_ptr<device_state>> devices;
    std::uint64_t process = process_id();
    std::map<const device_state*, int> registrations;
};

process_state& state() {
    static auto* const the_state = new process_state;  // static objects may come here after any destructor
    return *the_state;
}

void finish_devices() noexcept {
    for (const std::shared_ptr<device_state>& each : live_devices()) each->finish_quietly();
}

// A forked child has neither the parent's threads nor a driver that works.
bool is_forked() { return state().process != process_id(); }

void at_exit() {
    if (is_forked()) return;
    fail_open_user_events();  // what waits for them would wait for ever
    finish_devices();
    callback_poller().end();
    finish_devices();  // callbacks may have used them
    for (const std::shared_ptr<device_state>& each : live_devices()) each->staging().trim();
    submission_poller().end();
    end_saving();
}

/// What exit() destroys first, in the thread that it is called in: before every static object and handler,
/// those included that a driver makes while it is asked for a binary in the background, and which would else
/// be gone before our handler runs.
struct end_of_thread {
    ~end_of_thread() {
        if (is_main_thread() && !is_forked()) finish_saving();
    }
};

}  // namespace

void finish_at_exit(const device_state* after_step_of) noexcept {
    thread_local const end_of_thread end;
    const std::lock_guard lock(state().mutex);
    if (state().registrations[after_step_of]++ < most_registrations) std::atexit(at_exit);
}

void device_made(device_state& made) {
    const std::lock_guard lock(state().mutex);
    state().devices.emplace(&made, made.weak_from_this());
    state().registrations.erase(&made);  // another one's, that was at this address
}

std::vector<std::shared_ptr<device_state>> live_devices() noexcept {
    std::vector<std::shared_ptr<device_state>> live;
    const std::lock_guard lock(state().mutex);
    for (const auto& [address, device] : state().devices)
        if (auto handle = device.lock()) live.push_back(std::move(handle));
    return live;
}

void device_gone(device_state& gone) noexcept {
    const std::lock_guard lock(state().mutex);
    state().devices.erase(&gone);
}

}  // namespace balm::runtime
