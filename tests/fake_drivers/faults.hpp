#pragma once
// Faults that a test asks for: the n-th call of a fake driver fails, once. Calls run one at a time.

#include <cstdint>
#include <mutex>

namespace balm::test {

/// The n-th driver call from now on that may fail does; 0: none does.
void fail_driver_call(std::uint64_t nth);
/// The one that failed; null: none did.
const char* failed_driver_call();
/// Counts a call; true: it is to fail.
bool driver_call_fails(const char* name);

/// While one lives, its thread is inside a driver, alone: allocations there are not the library's.
class in_driver {
public:
    in_driver();
    ~in_driver();
    in_driver(const in_driver&) = delete;
    in_driver& operator=(const in_driver&) = delete;

private:
    std::lock_guard<std::recursive_mutex> lock_;
};
bool is_in_driver();

/// What a program takes from a fake driver and has to give back.
class driver_object {
public:
    driver_object();
    driver_object(const driver_object&) = delete;
    driver_object& operator=(const driver_object&) = delete;
    virtual ~driver_object();
};
int live_driver_objects();

/// Ends the process: a real driver would hang, or worse.
[[noreturn]] void refuse(const char* why);

}  // namespace balm::test
