// Programs: compiled once, kept on disk, loaded again, used by many threads; and the end of the process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string_view>
#include <thread>

#include "balm/error.hpp"
#include "balm/user_event.hpp"
#include "null_driver/device.hpp"
#include "runtime/devices.hpp"
#include "runtime/fake_device.hpp"
#include "runtime/program/disk_cache.hpp"
#include "runtime/program/program_saver.hpp"

namespace balm::test {

namespace {

using runtime::compiled_program;
using runtime::device_state;
using runtime::digest;
using runtime::hasher;
using runtime::program_source;
using testing::HasSubstr;

// A source that no disk has seen before.
std::string fresh_text(const std::string& around = "kernel void f() {}\n") {
    return around + "/* " + std::to_string(std::random_device{}()) + std::to_string(std::random_device{}()) +
           " */\n";
}

digest identity_of(const std::string& text) { return hasher{}.text(text).result(); }

std::shared_ptr<compiled_program> get_program(device_state& device, const std::string& text,
                                              const std::string& name = "f") {
    return device.programs().get({identity_of(text)}, [&] { return program_source{text, name, {}}; });
}

}  // namespace

TEST(B5_programs, are_compiled_once_however_many_threads_ask) {
    const auto fake = std::make_shared<fake_device>();
    const auto device = device_state::make(fake);
    const std::string text = fresh_text();
    std::atomic<int> printed{0};
    std::vector<std::shared_ptr<compiled_program>> got(8);
    std::vector<std::thread> threads;
    for (auto& each : got)
        threads.emplace_back([&] {
            each = device->programs().get({identity_of(text)}, [&] {
                ++printed;
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                return program_source{text, "f", {}};
            });
        });
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(printed, 1);
    EXPECT_EQ(fake->log->compiles, 1);
    for (const auto& each : got) EXPECT_EQ(each, got.front());
}

TEST(B5_programs, are_found_on_disk_by_the_next_process) {
    if (!runtime::default_cache().enabled()) GTEST_SKIP() << "the disk cache is off";
    const std::string text = fresh_text();
    const auto first = std::make_shared<fake_device>(), second = std::make_shared<fake_device>();
    get_program(*device_state::make(first), "// from a.cpp:1\n" + text);
    runtime::finish_saving();
    get_program(*device_state::make(second), "// from b.cpp:99\n" + text);
    EXPECT_EQ(first->log->compiles, 1);
    EXPECT_EQ(second->log->compiles, 0) << "the first line is no part of the key";
    EXPECT_EQ(second->log->loads, 1);
}

TEST(B5_programs, are_compiled_again_where_the_driver_refuses_the_kept_binary) {
    if (!runtime::default_cache().enabled()) GTEST_SKIP() << "the disk cache is off";
    const std::string text = fresh_text();
    const auto first = std::make_shared<fake_device>(), second = std::make_shared<fake_device>();
    get_program(*device_state::make(first), text);
    runtime::finish_saving();
    second->log->refuses_binaries = true;
    const auto program = get_program(*device_state::make(second), text);
    EXPECT_NE(program, nullptr);
    EXPECT_EQ(second->log->loads, 1);
    EXPECT_EQ(second->log->compiles, 1);
}

TEST(B5_programs, are_kept_after_their_first_launch_where_the_binary_needs_one) {
    if (!runtime::default_cache().enabled()) GTEST_SKIP() << "the disk cache is off";
    const std::string text = fresh_text();
    const auto first = std::make_shared<fake_device>();
    first->log->binary_needs_launch = true;
    const auto device = device_state::make(first);
    const auto program = get_program(*device, text);
    runtime::finish_saving();
    EXPECT_TRUE(program->awaits_launch());
    {
        const auto early = std::make_shared<fake_device>();
        get_program(*device_state::make(early), "// not saved by this one either\n" + text + " ");
        EXPECT_EQ(early->log->loads, 0);
    }
    {
        auto kernel = program->lease_kernel();
        device->default_queue().enqueue_launch(kernel, {}, {}, {}, {});
    }
    EXPECT_FALSE(program->awaits_launch());
    runtime::finish_saving();
    const auto second = std::make_shared<fake_device>();
    get_program(*device_state::make(second), text);
    EXPECT_EQ(second->log->loads, 1);
    EXPECT_EQ(second->log->compiles, 0);
}

TEST(B5_programs, do_not_have_the_caller_of_their_first_launch_wait) {
    const auto fake = std::make_shared<fake_device>();
    fake->log->binary_needs_launch = true;
    fake->log->events_complete_at_once = false;
    const auto device = device_state::make(fake);
    const auto program = get_program(*device, fresh_text());
    std::promise<void> enqueued;
    std::thread caller([&] {
        auto kernel = program->lease_kernel();
        device->default_queue().enqueue_launch(kernel, {}, {}, {}, {});
        enqueued.set_value();
    });
    EXPECT_EQ(enqueued.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
    EXPECT_FALSE(program->awaits_launch());
    fake->log->complete_all();
    caller.join();
    runtime::finish_saving();
    EXPECT_EQ(fake->log->fetches, runtime::default_cache().enabled() ? 1 : 0);
}

TEST(B5_programs, do_not_hold_up_commands_that_are_handed_over_beside_their_first_launch) {
    const auto fake = std::make_shared<fake_device>();
    fake->log->binary_needs_launch = true;
    fake->log->events_complete_at_once = false;
    const auto device = device_state::make(fake);
    const auto program = get_program(*device, fresh_text());
    const auto memory = device->allocate(64, {"x"});
    const auto other = device->make_queue();
    const user_event go_first, go_second;
    const event waits[] = {go_first, go_second};
    {
        auto kernel = program->lease_kernel();
        device->default_queue().enqueue_launch(kernel, {}, {}, {}, {}, {&waits[0], 1});
    }
    const std::byte zero{};
    event filled;
    other->enqueue_fill(*memory, 0, 64, {&zero, 1}, {&waits[1], 1}, &filled);
    const auto is_handed_over = [&](std::string_view what) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (std::chrono::steady_clock::now() < until) {
            {
                const std::lock_guard lock(fake->log->mutex);
                for (const fake_command& each : fake->log->commands)
                    if (each.what == what) return true;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return false;
    };
    go_first.complete();
    EXPECT_TRUE(is_handed_over("launch"));
    go_second.complete();
    EXPECT_TRUE(is_handed_over("fill"));
    fake->log->complete_all();
    runtime::finish_saving();
    fake->log->complete_all();
}

TEST(B5_programs, are_fetched_when_no_device_is_at_work) {
    if (!runtime::default_cache().enabled()) GTEST_SKIP() << "the disk cache is off";
    const auto fake = std::make_shared<fake_device>(), busy = std::make_shared<fake_device>();
    fake->log->binary_needs_launch = true;
    busy->log->events_complete_at_once = false;
    const auto device = device_state::make(fake), at_work = device_state::make(busy);
    const auto program = get_program(*device, fresh_text());
    const auto memory = at_work->allocate(64, {"x"});
    const std::byte zero{};
    at_work->default_queue().enqueue_fill(*memory, 0, 64, {&zero, 1});
    {
        auto kernel = program->lease_kernel();
        device->default_queue().enqueue_launch(kernel, {}, {}, {}, {});
    }
    const auto fetches = [&] {
        const std::lock_guard lock(fake->log->mutex);
        return fake->log->fetches;
    };
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // of which half a second is long enough
    EXPECT_EQ(fetches(), 0);
    {
        const std::lock_guard lock(busy->log->mutex);
        busy->log->events_complete_at_once = true;
    }
    busy->log->complete_all();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (fetches() == 0 && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(fetches(), 1);
}

TEST(B5_programs, that_do_not_compile_say_so_each_time) {
    const auto fake = std::make_shared<fake_device>();
    const auto device = device_state::make(fake);
    EXPECT_THROW(get_program(*device, "broken"), build_error);
    EXPECT_THROW(get_program(*device, "broken"), build_error);
}

TEST(C22_kernels, are_leased_to_one_thread_each) {
    const auto fake = std::make_shared<fake_device>();
    const auto program = get_program(*device_state::make(fake), fresh_text());
    {
        const auto first = program->lease_kernel();
        const auto second = program->lease_kernel();
        EXPECT_NE(&*first, &*second);
        EXPECT_EQ(first->max_work_group_size(), 256u);
    }
    for (int i = 0; i < 10; ++i) {
        const auto first = program->lease_kernel(), second = program->lease_kernel();
    }
    EXPECT_EQ(fake->log->kernels, 2) << "kernels go back to the pool";
}

TEST(C22_kernels, give_right_results_to_many_threads) {
    on_every_handle([](const device& dev) {
        const auto program = program_of(dev, slow_source, "slow");
        std::vector<std::thread> threads;
        for (std::uint32_t t = 0; t < 8; ++t)
            threads.emplace_back([&, t] {
                auto own = dev.mixed_buffer<std::uint32_t>(256);
                own.fill(t);
                for (std::uint32_t turn = 0; turn < 100; ++turn)
                    launch_slow(dev.state()->default_queue(), *program, *own.storage(), t + 1);
                EXPECT_EQ(own.read(), std::vector<std::uint32_t>(256, slow_on_host(t, 100 * (t + 1))));
            });
        for (std::thread& each : threads) each.join();
    });
}

TEST(B5_programs, of_real_drivers_come_back_from_the_disk) {
    if (!runtime::default_cache().enabled()) GTEST_SKIP() << "the disk cache is off";
    on_every_handle([](const device& dev) {
        const std::string text = fresh_text(slow_source.for_device(dev.state()->driver()));
        const auto run = [&](device_state& on) {
            const auto program = get_program(on, text, "slow");
            const auto memory = on.allocate(256, {"x"});
            const std::uint32_t one = 1;
            on.default_queue().enqueue_fill(*memory, 0, 256, std::as_bytes(std::span(&one, 1)));
            launch_slow(on.default_queue(), *program, *memory, 5);
            std::vector<std::uint32_t> got(64);
            on.default_queue().read(got.data(), *memory, 0, 256);
            EXPECT_EQ(got, std::vector<std::uint32_t>(64, slow_on_host(1, 5)));
        };
        // Two states of one driver device share no memory of programs, as two processes.
        run(*device_state::make(dev.state()->driver_handle()));
        runtime::finish_saving();
        const auto before = runtime::default_cache().counts();
        run(*device_state::make(dev.state()->driver_handle()));
        EXPECT_EQ(runtime::default_cache().counts().hits, before.hits + 1);
    });
}

TEST(B1_programs, are_shown_on_request) {
    const auto fake = std::make_shared<fake_device>();
    const auto device = device_state::make(fake);
    ::setenv("BALM_SHOW_KERNELS", "1", 1);
    testing::internal::CaptureStderr();
    const std::string text = fresh_text();
    get_program(*device, text);
    get_program(*device, text);
    const std::string shown = testing::internal::GetCapturedStderr();
    ::unsetenv("BALM_SHOW_KERNELS");
    EXPECT_EQ(shown, "// Balm: kernel 'f' for device 'fake' (null), compiled now\n" + text);
}

// ---- the end of the process: each in a process of its own ----

namespace {

/// Destroyed after everything that main made; uses the device to the last. A driver that has shut down by
/// then (CUDA's does) is an error like any other, and no crash.
struct late_user {
    std::vector<device> devices;
    std::vector<mixed_buffer<std::uint32_t>> buffers;
    ~late_user() {
        for (auto& each : buffers) {
            try {
                each.fill(1u);
            } catch (const device_error& gone) {
                std::fprintf(stderr, "%s\n", gone.what());
            }
        }
    }
};

void exit_with_work_in_flight() {
    static late_user user;
    user.devices = all_handles();
    for (const device& dev : user.devices) {
        const std::string text = fresh_text(slow_source.for_device(dev.state()->driver()));
        const auto program = get_program(*dev.state(), text, "slow");
        auto a = dev.mixed_buffer<std::uint32_t>(1 << 12);
        const event filled = a.fill(1u);
        for (int i = 0; i < 10; ++i)
            launch_slow(dev.state()->default_queue(), *program, *a.storage(), 20'000);
        user.buffers.push_back(a);
    }
    std::exit(0);
}

/// Drivers begin when their first device is used, however much others have compiled by then.
void exit_after_many_programs_of_another_device() {
    static const auto other = device_state::make(std::make_shared<fake_device>());
    for (int k = 0; k < 100; ++k) get_program(*other, fresh_text());
    exit_with_work_in_flight();
}

void exit_from_a_thread() { std::thread(exit_with_work_in_flight).join(); }

}  // namespace

TEST(B5_exit, finishes_work_and_saves) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";  // a fresh process, not a fork of this one
    EXPECT_EXIT(exit_with_work_in_flight(), testing::ExitedWithCode(0), "");
}

TEST(B5_exit, may_come_after_many_programs_of_another_device) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(exit_after_many_programs_of_another_device(), testing::ExitedWithCode(0), "");
}

TEST(B5_exit, may_come_from_a_thread) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(exit_from_a_thread(), testing::ExitedWithCode(0), "");
}

// ---- what a launch costs ----

TEST(B8_launch, costs_the_host_much_less_than_a_microsecond) {
    const auto state = device_state::make(null::make_null_device(runtime::dialect::opencl_c));
    const auto program = get_program(*state, fresh_text());
    const auto a = state->allocate(64, {"a"}), b = state->allocate(64, {"b"}), c = state->allocate(64, {"c"});
    runtime::storage* const reads[] = {a.get(), b.get()};
    runtime::storage* const writes[] = {c.get()};
    const std::vector<runtime::argument> arguments{memory_argument(a->native()), memory_argument(b->native()),
                                                   memory_argument(c->native())};
    runtime::queue_state& queue = state->default_queue();
    constexpr int launches = 20'000;
    double best = 1e9;
    for (int attempt = 0; attempt < 10; ++attempt) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < launches; ++i) {
            auto kernel = program->lease_kernel();
            queue.enqueue_launch(kernel, line(64, 64), arguments, reads, writes);
        }
        const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
        best = std::min(best, taken.count() / launches);
    }
    RecordProperty("nanoseconds", static_cast<int>(best));
    std::cout << "host share of lease and launch: " << best << " ns\n";
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    EXPECT_LT(best, 500.0);
#endif
}

}  // namespace balm::test
