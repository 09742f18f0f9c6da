#include "base/compiler_use.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "balm/error.hpp"
#include "base/system.hpp"

namespace balm::runtime {

namespace {

constinit thread_local int uses_of_thread = 0;

struct compilers {
    std::mutex mutex;
    std::condition_variable changed;
    int uses = 0;
    int waiting = 0;  // threads that wait for the uses
    int pauses = 0;
    bool only_main = false, may_be_gone = false;

    bool may_begin() const {
        return may_be_gone || uses_of_thread > 0 ||
               (waiting == 0 && pauses == 0 && (!only_main || is_main_thread()));
    }
    void wait_for_uses(std::unique_lock<std::mutex>& lock) {
        ++waiting;
        changed.wait(lock, [this] { return uses == 0; });
        --waiting;
        changed.notify_all();
    }
};

/// The main thread may end alone (pthread_exit), or wait for a thread that is held back here.
constexpr std::chrono::seconds patience{1};

compilers& all() {
    static auto* const made = new compilers;
    return *made;
}

}  // namespace

compiler_use::compiler_use(std::string_view what, std::string_view done) {
    std::unique_lock lock(all().mutex);
    while (!all().may_begin()) {
        if (all().waiting > 0)
            all().changed.wait(lock);
        else if (!all().changed.wait_for(lock, patience,
                                         [] { return all().waiting > 0 || all().may_begin(); })) {
            all().only_main = false;
            break;
        }
    }
    if (all().may_be_gone && uses_of_thread == 0) {  // else end_compiling() waits for this thread
        lock.unlock();
        stay_out_of_exit();
        throw device_error(
            fmt::format("The {} cannot be {}: the process is exiting, and the driver's compiler may already "
                        "have been destroyed. Use it once before the process exits, or construct the object "
                        "that uses it in its destructor after the last kernel was compiled.",
                        what, done));
    }
    ++all().uses;
    ++uses_of_thread;
    until_compiled_.emplace();
}

compiler_use::~compiler_use() {
    const std::lock_guard lock(all().mutex);
    --uses_of_thread;
    if (--all().uses == 0) all().changed.notify_all();
}

compiler_pause::compiler_pause() {
    std::unique_lock lock(all().mutex);
    ++all().pauses;
    all().wait_for_uses(lock);
}

compiler_pause::~compiler_pause() {
    const std::lock_guard lock(all().mutex);
    --all().pauses;
    all().changed.notify_all();
}

void compile_in_main_thread_only() {
    std::unique_lock lock(all().mutex);
    all().only_main = true;
    all().wait_for_uses(lock);
}

void compile_in_all_threads() {
    const std::lock_guard lock(all().mutex);
    all().only_main = false;
    all().changed.notify_all();
}

void end_compiling() {
    std::unique_lock lock(all().mutex);
    all().may_be_gone = true;
    all().changed.notify_all();
    all().changed.wait(lock, [] { return all().uses == 0; });
}

bool has_ended_compiling() {
    const std::lock_guard lock(all().mutex);
    return all().may_be_gone;
}

}  // namespace balm::runtime
