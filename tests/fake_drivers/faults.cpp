#include "fake_drivers/faults.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace balm::test {

namespace {

constinit std::atomic<std::uint64_t> calls{0}, fails_at{0};
constinit std::atomic<const char*> failed{nullptr};
constinit std::atomic<int> live{0};
constinit thread_local int depth = 0;

std::recursive_mutex& driver_mutex() {
    static auto* const made = new std::recursive_mutex;  // drivers are called to the very end
    return *made;
}

}  // namespace

void fail_driver_call(std::uint64_t nth) {
    fails_at = 0;
    calls = 0;
    failed = nullptr;
    fails_at = nth;
}

const char* failed_driver_call() { return failed; }

bool driver_call_fails(const char* name) {
    if (calls.fetch_add(1) + 1 != fails_at.load()) return false;
    failed = name;
    return true;
}

in_driver::in_driver() : lock_(driver_mutex()) { ++depth; }
in_driver::~in_driver() { --depth; }
bool is_in_driver() { return depth > 0; }

driver_object::driver_object() { ++live; }
driver_object::~driver_object() { --live; }
int live_driver_objects() { return live; }

void refuse(const char* why) {
    std::fprintf(stderr, "fake driver: %s\n", why);
    std::abort();
}

}  // namespace balm::test
