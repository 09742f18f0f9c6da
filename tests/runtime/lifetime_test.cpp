// Objects that go in any order, on any thread, with work of theirs under way; and sequences in the middle of
// which memory runs out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <any>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "balm/error.hpp"
#include "balm/profiler.hpp"
#include "balm/user_event.hpp"
#include "runtime/devices.hpp"
#include "runtime/fake_device.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace std::chrono_literals;
using runtime::device_state;
using testing::HasSubstr;

std::vector<std::shared_ptr<runtime::driver_device>> drivers_and_a_fake() {
    std::vector<std::shared_ptr<runtime::driver_device>> all = driver_devices();
    all.push_back(std::make_shared<fake_device>());
    return all;
}

/// Everything that a program may hold, with work under way between it: copies over two queues, some of it
/// held back by a user event that is set or never is.
std::vector<std::any> objects_at_work(const std::shared_ptr<runtime::driver_device>& driver,
                                      std::atomic<int>& callbacks, bool set_gate) {
    const device dev(device_state::make(driver));
    const user_event gate;
    balm::queue first = dev.make_queue(), second = dev.make_queue();
    auto prof = std::make_shared<profiler>(dev);
    auto a = dev.mixed_buffer<std::uint32_t>(some_elements),
         b = dev.mixed_buffer<std::uint32_t>(some_elements);
    const event filled = a.fill(1u), copied = a.copy_to(b, filled);
    const event held = b.fill(2u, gate), behind = b.copy_to(a);
    const event joined = first.record(behind), apart = second.record(joined, gate);
    apart.on_complete([&callbacks](const std::exception_ptr&) { ++callbacks; });
    wait_list(filled, copied, held).on_complete([&callbacks, b, dev](const std::exception_ptr&) {
        ++callbacks;
    });
    auto read = std::make_shared<pending_read<std::uint32_t>>(a.read_async());
    if (set_gate) gate.complete();
    return {dev, gate, first, second, prof, a, b, filled, copied, held, behind, joined, apart, read};
}

}  // namespace

TEST(C20_lifetime, objects_go_in_any_order_and_on_any_thread) {
    auto random = seeded_random();
    std::atomic<int> callbacks{0};
    int expected = 0;
    std::vector<std::shared_ptr<fake_log>> logs;
    for (int turn = 0; turn < 40; ++turn) {
        for (const auto& driver : drivers_and_a_fake()) {
            if (const auto* const fake = dynamic_cast<fake_device*>(driver.get())) logs.push_back(fake->log);
            std::vector<std::any> all = objects_at_work(driver, callbacks, turn % 2 == 0);
            expected += 2;
            std::shuffle(all.begin(), all.end(), random);
            const std::size_t half = random() % all.size();
            std::thread other([&] {
                for (std::size_t i = 0; i < half; ++i) all[i].reset();
            });
            for (std::size_t i = half; i < all.size(); ++i) all[i].reset();
            other.join();
        }
    }
    const auto until = std::chrono::steady_clock::now() + 30s;
    const auto live = [&] {
        int sum = 0;
        for (const auto& each : logs) {
            const std::lock_guard lock(each->mutex);
            sum += each->live_allocations;
        }
        return sum;
    };
    while ((callbacks < expected || live() > 0) && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(1ms);
    EXPECT_EQ(callbacks, expected);
    EXPECT_EQ(live(), 0) << "all memory is freed";
}

TEST(C4_errors, of_allocation_leave_a_sequence_as_it_was) {
    for (const auto& driver : drivers_and_a_fake()) {
        const device dev(device_state::make(driver));
        SCOPED_TRACE(dev.state()->words());
        if (auto* const fake = dynamic_cast<fake_device*>(driver.get())) fake->log->room = 16 * some_elements;
        auto a = dev.mixed_buffer<std::uint32_t>(some_elements),
             b = dev.mixed_buffer<std::uint32_t>(some_elements);
        const user_event gate;
        const event filled = a.fill(7u, gate);
        for (const std::size_t too_many : {std::size_t{1} << 45, ~std::size_t{0} / 8})
            EXPECT_THAT(message_of<out_of_memory_error>([&] { dev.mixed_buffer<std::uint32_t>(too_many); }),
                        HasSubstr("Out of memory"));
        const event copied = a.copy_to(b, filled);
        EXPECT_FALSE(copied.is_complete());
        gate.complete();
        EXPECT_EQ(b.read(copied), std::vector<std::uint32_t>(some_elements, 7));
        EXPECT_NO_THROW(dev.finish());
        auto more = dev.mixed_buffer<std::uint32_t>(some_elements);
        b.copy_to(more);
        EXPECT_EQ(more.read(), std::vector<std::uint32_t>(some_elements, 7));
    }
}

// ---- static objects, in a process of its own ----

namespace {

std::atomic<int> calls{0};

struct static_objects {
    std::vector<std::any> all;
    ~static_objects() { std::reverse(all.begin(), all.end()); }
};

void leave_everything_to_static_objects() {
    static static_objects first;
    static static_objects second;  // goes before the first
    auto random = seeded_random();
    for (const auto& driver : driver_devices()) {
        std::vector<std::any> all;
        std::thread([&] { all = objects_at_work(driver, calls, random() % 2 == 0); }).join();
        for (std::any& each : all) (random() % 2 ? first : second).all.push_back(std::move(each));
    }
    std::exit(0);
}

}  // namespace

TEST(C20_lifetime, objects_may_be_static_and_from_other_threads) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    for (int turn = 0; turn < 5; ++turn)
        EXPECT_EXIT(leave_everything_to_static_objects(), testing::ExitedWithCode(0), "");
}

}  // namespace balm::test
