// Finishes devices and saves when the process exits, before the drivers' own handlers run.

#include "runtime/device/process_exit.hpp"

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/compiler_use.hpp"
#include "base/exit_gate.hpp"
#include "base/forked.hpp"
#include "base/system.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/program/program_saver.hpp"
#include "runtime/queue/poller.hpp"
#include "runtime/queue/promised_event.hpp"

namespace balm::runtime {

namespace {

// Per driver: after a few compilations, a driver has registered all its handlers.
constexpr int most_registrations = 64;

struct process_state {
    std::mutex mutex;
    std::map<const device_state*, std::weak_ptr<device_state>> devices;
    std::map<std::string, int, std::less<>> registrations;  // of our handler, by driver
};

process_state& state() {
    static auto* const the_state = new process_state;  // static objects may use it after any destructor
    return *the_state;
}

void finish_devices() noexcept {
    for (const auto& each : live_devices()) each->finish_quietly();
}

void at_exit() {
    if (is_forked()) return;
    const exit_in_progress others_stay_out;
    for (const auto& each : live_devices()) each->let_submissions_pass();  // later ones are held back
    compile_in_all_threads();
    fail_open_user_events();  // their waiters would block forever
    finish_devices();
    callback_poller().end();
    finish_devices();  // callbacks may have used them
    for (const auto& each : live_devices()) each->trim_staging();
    submission_poller().end();
    end_saving();
    end_compiling();
    finish_devices();  // PoCL compiles what was launched meanwhile
}

/// exit() destroys this first, in the thread that calls it: before every static object and exit handler,
/// including those that a driver creates while a binary is fetched in the background, which would otherwise
/// be destroyed before our handler runs.
struct end_of_thread {
    ~end_of_thread() {
        if (is_forked()) return;
        if (is_main_thread()) {
            compile_in_main_thread_only();
            begin_end_of_saving();
        } else {  // this thread may have called exit()
            const compiler_pause
                others_wait;  // PoCL's compiler for launches may not get its turn beside them
            finish_first_launches();
        }
    }
};

void watch_end_of_thread() {
    thread_local const end_of_thread end;  // NOLINT(clang-diagnostic-exit-time-destructors)
}

/// Main may leave all use of Balm to other threads.
[[maybe_unused]] const bool main_thread_is_watched = [] {
    const bool is_main = is_main_thread();
    if (is_main) watch_end_of_thread();
    return is_main;
}();

}  // namespace

void finish_at_exit(std::string_view after_step_of) noexcept {
    if (is_forked()) return;
    note_use();
    watch_end_of_thread();
    try {
        const std::lock_guard lock(state().mutex);
        auto& all = state().registrations;
        auto known = all.find(after_step_of);
        if (known == all.end()) known = all.emplace(after_step_of, 0).first;
        if (known->second >= most_registrations) return;
        ++known->second;
        std::atexit(at_exit);
    } catch (...) {  // out of memory: the next call registers it
    }
}

void device_made(device_state& made) {
    const std::lock_guard lock(state().mutex);
    state().devices.emplace(&made, made.weak_from_this());
}

std::shared_ptr<device_state> live_devices::next(const device_state* after) noexcept {
    const std::lock_guard lock(state().mutex);
    const auto& all = state().devices;
    for (auto each = all.upper_bound(after); each != all.end(); ++each)
        if (auto handle = each->second.lock()) return handle;
    return nullptr;
}

void device_gone(device_state& gone) noexcept {
    if (is_forked()) return;
    const std::lock_guard lock(state().mutex);
    state().devices.erase(&gone);
}

}  // namespace balm::runtime
