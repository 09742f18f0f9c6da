#include "base/compiler_use.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>

#include "balm/error.hpp"

namespace balm::runtime {

namespace {

struct compilers {
    std::mutex mutex;
    std::condition_variable idle;
    int uses = 0;
    bool may_be_gone = false;
};

compilers& all() {
    static auto* const made = new compilers;
    return *made;
}

}  // namespace

compiler_use::compiler_use(std::string_view compiled) {
    const std::lock_guard lock(all().mutex);
    if (all().may_be_gone)
        throw device_error(
            fmt::format("The {} cannot be compiled: the process is exiting, and the driver's compiler may "
                        "already have been destroyed. Launch it once before the process exits, or construct "
                        "the object that launches it in its destructor after the last kernel was compiled.",
                        compiled));
    ++all().uses;
}

compiler_use::~compiler_use() {
    const std::lock_guard lock(all().mutex);
    if (--all().uses == 0) all().idle.notify_all();
}

void end_compiling() {
    std::unique_lock lock(all().mutex);
    all().may_be_gone = true;
    all().idle.wait(lock, [] { return all().uses == 0; });
}

}  // namespace balm::runtime
