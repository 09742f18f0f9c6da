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
    bool only_main = false, may_be_gone = false;

    bool may_begin() const { return !only_main || may_be_gone || uses_of_thread > 0 || is_main_thread(); }
};

/// The main thread may end alone (pthread_exit), or wait for a thread that is held back here.
constexpr std::chrono::seconds patience{1};

compilers& all() {
    static auto* const made = new compilers;
    return *made;
}

}  // namespace

compiler_use::compiler_use(std::string_view compiled) {
    std::unique_lock lock(all().mutex);
    if (!all().changed.wait_for(lock, patience, [] { return all().may_begin(); })) all().only_main = false;
    if (all().may_be_gone)
        throw device_error(
            fmt::format("The {} cannot be compiled: the process is exiting, and the driver's compiler may "
                        "already have been destroyed. Launch it once before the process exits, or construct "
                        "the object that launches it in its destructor after the last kernel was compiled.",
                        compiled));
    ++all().uses;
    ++uses_of_thread;
}

compiler_use::~compiler_use() {
    const std::lock_guard lock(all().mutex);
    --uses_of_thread;
    if (--all().uses == 0) all().changed.notify_all();
}

void compile_in_main_thread_only() {
    std::unique_lock lock(all().mutex);
    all().only_main = true;
    all().changed.wait(lock, [] { return all().uses == 0 || !all().only_main; });
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
