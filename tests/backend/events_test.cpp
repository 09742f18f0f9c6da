// Events of every backend: waiting, chaining between queues and devices, times.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "balm/error.hpp"
#include "devices.hpp"

namespace balm::test {

namespace {

using runtime::driver_device;
using runtime::event_handle;

/// A launch at work in a queue, and commands of other threads that have to wait for it; ends the process.
void wait_for_commands_of_other_threads() {
    bool is_right = true;
    for (const auto& device : driver_devices()) {
        if (device->info().api != backend::opencl) continue;
        const auto program = device->compile(
            "kernel void slow(uint n, global uint* x) {\n"
            "    uint value = 0;\n"
            "    for (uint k = 0; k < n; ++k) value = value * 5 + k;\n"
            "    x[get_global_id(0)] = value | 1;\n"
            "}\n",
            "");
        const auto first = device->make_queue({}), second = device->make_queue({});
        const device_memory memory(*device, 256);
        std::atomic<int> launched{0};
        std::thread launches([&] {
            const auto kernel = program->make_kernel("slow");
            const runtime::argument arguments[] = {value_argument(std::uint32_t{200'000}),
                                                   memory_argument(memory.get())};
            for (; launched < 20; ++launched) {
                const event_handle point = first->record();
                second->record({&point, 1});
                event_handle done;
                first->launch(*kernel, line(64, 64), arguments, {{}, &done});
                const std::uint32_t zero = 0;
                second->fill(memory.get(), 0, 256, std::as_bytes(std::span(&zero, 1)), {{&done, 1}, nullptr});
            }
        });
        while (launched < 20) {
            const event_handle point = first->record(), other = second->record({&point, 1});
            other->wait();
            is_right = is_right && point->is_complete();
        }
        launches.join();
        first->finish();
        second->finish();
    }
    std::exit(is_right ? 0 : 1);
}

}  // namespace

// PoCL's basic devices run commands inside the calls that enqueue them, and lock themselves up where one has
// to wait: see device::enqueuing.
TEST(C22_queues, of_devices_that_work_in_the_calling_thread_take_commands_of_several) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT((::setenv("POCL_DEVICES", "basic", 1), ::alarm(60), wait_for_commands_of_other_threads()),
                testing::ExitedWithCode(0), "");
}

TEST(C15_events, complete_once_waited_for) {
    on_every_device([](driver_device& device) {
        const auto queue = device.make_queue({});
        const device_memory buffer(device, 1 << 20);
        std::vector<std::byte> host(1 << 20, std::byte{42}), back(1 << 20);
        event_handle written, read;
        queue->write(buffer.get(), 0, host.data(), host.size(), {{}, &written});
        queue->read(back.data(), buffer.get(), 0, back.size(), {{}, &read});
        ASSERT_NE(written, nullptr);
        ASSERT_NE(read, nullptr);
        read->wait();
        EXPECT_TRUE(read->is_complete());
        EXPECT_TRUE(written->is_complete());
        EXPECT_EQ(back, host);
    });
}

TEST(C15_events, polling_alone_gets_there) {
    on_every_device([](driver_device& device) {
        const auto queue = device.make_queue({});
        const device_memory buffer(device, 4096);
        const std::uint32_t zero = 0;
        event_handle filled;
        queue->fill(buffer.get(), 0, 4096, std::as_bytes(std::span(&zero, 1)), {{}, &filled});
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!filled->is_complete() && std::chrono::steady_clock::now() < deadline)
            std::this_thread::yield();
        EXPECT_TRUE(filled->is_complete());
    });
}

TEST(C15_events, order_the_work_of_two_queues) {
    on_every_device([](driver_device& device) {
        const auto first = device.make_queue({}), second = device.make_queue({false});
        const std::size_t count = 1 << 18;
        const device_memory buffer(device, count * 4);
        std::vector<std::uint32_t> back(count);
        for (std::uint32_t turn = 0; turn < 20; ++turn) {
            event_handle filled, read;
            first->fill(buffer.get(), 0, count * 4, std::as_bytes(std::span(&turn, 1)), {{}, &filled});
            second->read(back.data(), buffer.get(), 0, count * 4, {{&filled, 1}, &read});
            read->wait();
            ASSERT_EQ(back, std::vector<std::uint32_t>(count, turn));
        }
    });
}

TEST(C15_events, many_can_be_waited_for_and_null_ones_have_happened) {
    on_every_device([](driver_device& device) {
        const auto first = device.make_queue({}), second = device.make_queue({});
        const device_memory buffer(device, 32 * 4);
        std::vector<event_handle> all;
        for (std::uint32_t i = 0; i < 32; ++i) {
            first->fill(buffer.get(), i * 4, 4, std::as_bytes(std::span(&i, 1)), {{}, &all.emplace_back()});
            all.push_back(nullptr);
        }
        std::vector<std::uint32_t> back(32);
        event_handle read;
        second->read(back.data(), buffer.get(), 0, 32 * 4, {all, &read});
        read->wait();
        for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(back[i], i);
    });
}

TEST(C15_events, of_another_device_of_the_same_driver_can_be_waited_for) {
    for (const auto& one : driver_devices()) {
        for (const auto& other : driver_devices()) {
            if (one->info().api != other->info().api) continue;
            const auto queue = one->make_queue({}), elsewhere = other->make_queue({});
            const device_memory buffer(*one, 4), far(*other, 4);
            const std::uint32_t value = 42;
            std::uint32_t back = 0;
            event_handle filled, read;
            queue->fill(buffer.get(), 0, 4, std::as_bytes(std::span(&value, 1)), {{}, &filled});
            elsewhere->fill(far.get(), 0, 4, std::as_bytes(std::span(&value, 1)), {{&filled, 1}, nullptr});
            elsewhere->read(&back, far.get(), 0, 4, {{}, &read});
            read->wait();
            EXPECT_EQ(back, value);
        }
    }
}

TEST(C15_events, a_recorded_point_follows_the_work_before_it) {
    on_every_device([](driver_device& device) {
        const auto queue = device.make_queue({});
        const device_memory buffer(device, 4);
        const std::uint32_t value = 7;
        std::uint32_t back = 0;
        queue->fill(buffer.get(), 0, 4, std::as_bytes(std::span(&value, 1)), {});
        queue->read(&back, buffer.get(), 0, 4, {});
        queue->record()->wait();
        EXPECT_EQ(back, value);
    });
}

TEST(C15_events, outlive_their_queue_and_may_be_dropped) {
    on_every_device([](driver_device& device) {
        const device_memory buffer(device, 1 << 20);
        const std::uint32_t value = 3;
        event_handle kept;
        {
            const auto queue = device.make_queue({});
            for (int i = 0; i < 10; ++i) {
                event_handle dropped;
                queue->fill(buffer.get(), 0, 1 << 20, std::as_bytes(std::span(&value, 1)), {{}, &dropped});
            }
            kept = queue->record();
        }
        kept->wait();
        EXPECT_TRUE(kept->is_complete());
        EXPECT_GT(kept->times().ended, 0u);
    });
}

TEST(C15_events, times_are_in_order) {
    on_every_device([](driver_device& device) {
        const auto queue = device.make_queue({});
        const std::size_t bytes = 1 << 24;
        const device_memory buffer(device, bytes);
        const std::uint32_t value = 3;
        event_handle first, second;
        queue->fill(buffer.get(), 0, bytes, std::as_bytes(std::span(&value, 1)), {});
        queue->fill(buffer.get(), 0, bytes, std::as_bytes(std::span(&value, 1)), {{}, &first});
        queue->fill(buffer.get(), 0, bytes, std::as_bytes(std::span(&value, 1)), {{}, &second});
        const timestamps before = first->times(), after = second->times();
        for (const timestamps& at : {before, after}) {
            EXPECT_LE(at.queued, at.submitted);
            EXPECT_LE(at.submitted, at.started);
            EXPECT_LT(at.started, at.ended);
            EXPECT_EQ(at.host_clock_before_start, device.info().api == backend::cuda);
        }
        EXPECT_LE(before.ended, after.started + 2 * device.info().timer_resolution);
        EXPECT_LT(after.duration(), std::uint64_t{60} * 1'000'000'000);
    });
}

TEST(C15_events, a_queue_that_does_not_time_says_so) {
    on_every_device([](driver_device& device) {
        const auto queue = device.make_queue({false});
        const device_memory buffer(device, 4);
        const std::uint32_t value = 7;
        event_handle filled;
        queue->fill(buffer.get(), 0, 4, std::as_bytes(std::span(&value, 1)), {{}, &filled});
        for (const event_handle& each : {filled, queue->record()}) {
            EXPECT_THROW(each->times(), usage_error);
            EXPECT_NO_THROW(each->wait());
        }
    });
}

}  // namespace balm::test
