// How the program learns that work is over: waiting for a time, callbacks, coroutines; and the end of the
// process with all of that going on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <thread>

#include "balm/coroutine.hpp"
#include "balm/error.hpp"
#include "balm/event.hpp"
#include "balm/user_event.hpp"
#include "null_driver/device.hpp"
#include "runtime/devices.hpp"
#include "runtime/fake_device.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace std::chrono_literals;
using runtime::device_state;
using testing::HasSubstr;

constexpr std::size_t slow_elements = 1 << 12;

/// Launches over one buffer that take some milliseconds, and what they leave there.
struct slow_work {
    device on;
    mixed_buffer<std::uint32_t> memory;
    std::shared_ptr<runtime::compiled_program> program;
    std::uint32_t expected = 1;

    explicit slow_work(const device& where)
        : on(where),
          memory(on.mixed_buffer<std::uint32_t>(slow_elements)),
          program(program_of(on, slow_source, "slow")) {
        memory.fill(1u);
    }
    event launch(std::uint32_t turns = 20'000) {
        expected = slow_on_host(expected, turns);
        return launch_slow(on.state()->default_queue(), *program, *memory.storage(), turns);
    }
    void check() const { EXPECT_EQ(memory.read(), std::vector<std::uint32_t>(slow_elements, expected)); }
};

struct open_device {
    std::shared_ptr<fake_device> driver = std::make_shared<fake_device>();
    device dev{device_state::make(driver)};
    mixed_buffer<int> memory = dev.mixed_buffer<int>(3);

    open_device() { driver->log->events_complete_at_once = false; }
    ~open_device() { complete(); }
    event work() { return memory.fill(1); }
    void complete(const std::string& failure = {}) { driver->log->complete_all(failure); }
};

/// The value of a future, in time.
template <class T>
T value_of(std::future<T> from) {
    if (from.wait_for(20s) != std::future_status::ready) throw std::runtime_error("it never came");
    return from.get();
}

}  // namespace

// ---- waiting for a time ----

TEST(G4_waits, for_a_time_tell_whether_the_work_is_done) {
    open_device on;
    const event done = on.work();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(done.wait_for(15ms));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 15ms);
    EXPECT_FALSE(done.wait_for(0s));
    EXPECT_FALSE(done.wait_for(-1h));
    EXPECT_FALSE(done.wait_until(std::chrono::steady_clock::now() + 5ms));
    EXPECT_FALSE(done.wait_until(std::chrono::system_clock::now() + 5ms));
    EXPECT_FALSE(done.wait_until(std::chrono::system_clock::now() - 1h));
    std::thread other([&] {
        std::this_thread::sleep_for(10ms);
        on.complete();
    });
    using days =
        std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<int, std::ratio<86400>>>;
    EXPECT_FALSE(done.wait_until(days::min())) << "before what nanoseconds count";
    EXPECT_TRUE(done.wait_until(days(days::duration(376200)))) << "the year 3000";
    EXPECT_TRUE(done.wait_for(std::chrono::hours::max())) << "longer than clocks count";
    EXPECT_TRUE(done.wait_until(std::chrono::system_clock::now()));
    other.join();
}

TEST(G4_waits, for_a_time_throw_what_failed) {
    open_device on;
    const event done = on.work();
    on.complete("The card fell off.");
    EXPECT_THAT(message_of<device_error>([&] { done.wait_for(1s); }), HasSubstr("The card fell off."));
}

TEST(G4_waits, for_a_time_see_real_work) {
    on_every_handle([](const device& dev) {
        slow_work work(dev);
        event last;
        for (int i = 0; i < 10; ++i) last = work.launch();
        while (!last.wait_for(1ms)) {
        }
        EXPECT_TRUE(last.is_complete());
        work.check();
    });
}

TEST(G4_waits, for_lists_wait_for_all) {
    open_device first, second;
    const event good = first.work(), bad = second.work();
    const wait_list both(good, bad, event{});
    EXPECT_FALSE(both.is_complete());
    EXPECT_FALSE(both.wait_for(1ms));
    second.complete("The card fell off.");
    EXPECT_FALSE(both.is_complete());
    std::thread other([&] {
        std::this_thread::sleep_for(10ms);
        first.complete();
    });
    EXPECT_THAT(message_of<device_error>([&] { both.wait(); }), HasSubstr("The card fell off."));
    EXPECT_TRUE(good.is_complete()) << "failures are thrown when all are over";
    other.join();
    EXPECT_TRUE(both.is_complete());
    EXPECT_TRUE(wait_list().is_complete());
}

// ---- callbacks ----

TEST(G4_callbacks, come_once_from_another_thread) {
    on_every_handle([](const device& dev) {
        slow_work work(dev);
        std::promise<std::thread::id> called;
        std::atomic<int> calls{0};
        const event done = work.launch();
        done.on_complete([&](const std::exception_ptr& failure) {
            EXPECT_EQ(failure, nullptr);
            EXPECT_TRUE(done.is_complete());
            ++calls;
            called.set_value(std::this_thread::get_id());
        });
        EXPECT_NE(value_of(called.get_future()), std::this_thread::get_id());
        work.check();
        std::this_thread::sleep_for(5ms);
        EXPECT_EQ(calls, 1);
    });
}

TEST(G4_callbacks, come_for_what_has_happened_and_for_user_events_and_lists) {
    std::promise<void> none, user, list, empty;
    event{}.on_complete([&] { none.set_value(); });
    value_of(none.get_future());
    const user_event go;
    event(go).on_complete([&](const std::exception_ptr& failure) {
        try {
            std::rethrow_exception(failure);
        } catch (const std::range_error&) {
            user.set_value();
        }
    });
    const user_event first, second;
    std::atomic<bool> both_set{false};
    wait_list(first, second).on_complete([&] { both_set ? list.set_value() : list.set_exception(nullptr); });
    wait_list().on_complete([&] { empty.set_value(); });
    go.fail(std::range_error("far"));
    value_of(user.get_future());
    value_of(empty.get_future());
    second.complete();
    std::this_thread::sleep_for(5ms);
    both_set = true;
    first.complete();
    value_of(list.get_future());
}

TEST(G4_callbacks, take_callables_that_only_move) {
    std::promise<int> got;
    auto owned = std::make_unique<int>(42);
    event{}.on_complete([&got, owned = std::move(owned)] { got.set_value(*owned); });
    EXPECT_EQ(value_of(got.get_future()), 42);
}

TEST(G4_callbacks, hear_of_failures) {
    open_device on;
    std::promise<std::string> heard;
    on.work().on_complete([&](const std::exception_ptr& failure) {
        heard.set_value(message_of<device_error>([&] { std::rethrow_exception(failure); }));
    });
    on.complete("The card fell off.");
    EXPECT_EQ(value_of(heard.get_future()), "The card fell off.");
    EXPECT_NO_THROW(on.dev.finish()) << "who was told needs no second telling";
}

TEST(G4_callbacks, that_do_not_hear_of_failures_leave_them_to_the_device) {
    open_device on;
    std::promise<void> called;
    on.work().on_complete([&] { called.set_value(); });
    on.complete("The card fell off.");
    value_of(called.get_future());
    EXPECT_THAT(message_of<device_error>([&] { on.dev.finish(); }), HasSubstr("The card fell off."));
    EXPECT_NO_THROW(on.dev.finish());
}

TEST(G4_callbacks, that_throw_leave_it_to_the_device) {
    open_device on;
    on.driver->log->events_complete_at_once = true;
    for (int kind = 0; kind < 3; ++kind) {
        std::promise<void> next;
        on.work().on_complete([kind](const std::exception_ptr&) {
            if (kind == 0) throw std::runtime_error("No such file.");
            if (kind == 1) throw 42;
            throw usage_error("No such row.");
        });
        event{}.on_complete([&] { next.set_value(); });  // behind it
        value_of(next.get_future());
        const char* const words[] = {"No such file.", "not derived from std::exception", "No such row."};
        EXPECT_THAT(message_of<callback_error>([&] { on.work(); }), HasSubstr(words[kind]));
        EXPECT_NO_THROW(on.work()) << "it is told once";
    }
    std::promise<void> next;
    event{}.on_complete([] { throw std::runtime_error("Of no device."); });
    event{}.on_complete([&] { next.set_value(); });
    value_of(next.get_future());
    EXPECT_THAT(message_of<callback_error>([&] { on.dev.finish(); }), HasSubstr("Of no device."));
}

TEST(G4_callbacks, may_use_the_device) {
    on_every_handle([](const device& dev) {
        slow_work work(dev);
        std::promise<void> done;
        const user_event go;
        const event gated = work.memory.fill(9u, go);
        std::promise<bool> behind_the_gate;
        dev.queue().record().on_complete([&] { behind_the_gate.set_value(event(go).is_complete()); });
        balm::queue other = dev.make_queue();
        other.record().on_complete([&] {
            auto more = dev.mixed_buffer<std::uint32_t>(slow_elements);
            EXPECT_NO_THROW(other.record().wait());
            go.complete();
            EXPECT_NO_THROW(gated.wait()) << "callbacks may wait for what the runtime has to hand over";
            event last = more.fill(4u);
            last.on_complete([&, more] {
                EXPECT_EQ(more.read(), std::vector<std::uint32_t>(slow_elements, 4));
                done.set_value();
            });
        });
        value_of(done.get_future());
        EXPECT_TRUE(value_of(behind_the_gate.get_future()));
    });
}

TEST(G4_callbacks, of_many_threads_are_all_called) {
    on_every_handle([](const device& dev) {
        std::atomic<int> calls{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 8; ++t)
            threads.emplace_back([&] {
                balm::queue own = dev.make_queue();
                for (int i = 0; i < 250; ++i) own.record().on_complete([&] { ++calls; });
            });
        for (std::thread& each : threads) each.join();
        std::promise<void> last;
        event{}.on_complete([&] { last.set_value(); });
        value_of(last.get_future());
        const auto until = std::chrono::steady_clock::now() + 20s;
        while (calls < 2000 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
        EXPECT_EQ(calls, 2000);
    });
}

// ---- coroutines ----

#if defined(__cpp_impl_coroutine)

namespace {

/// A coroutine that starts at once and tells a future how it ended.
template <class T>
struct task {
    struct promise_type {
        std::promise<T> result;
        task get_return_object() { return {result.get_future()}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_value(T value) { result.set_value(std::move(value)); }
        void unhandled_exception() { result.set_exception(std::current_exception()); }
    };
    std::future<T> result;
};

task<host_array<std::uint32_t>> double_round(device dev) {
    auto a = dev.mixed_buffer<std::uint32_t>(slow_elements),
         b = dev.mixed_buffer<std::uint32_t>(slow_elements);
    co_await a.fill(3u);
    const event copied = a.copy_to(b);
    const event filled = a.fill(5u);
    co_await wait_list(copied, filled);
    auto got = b.read_async();
    co_await got.done();
    co_await event{};
    host_array<std::uint32_t> all = got.get();
    const host_array<std::uint32_t> other = a.read();
    for (std::size_t i = 0; i < slow_elements; ++i) all[i] = all[i] * 10 + other[i];
    co_return all;
}

task<std::string> outcome_of(event awaited) {
    try {
        co_await awaited;
    } catch (const device_error& fault) {
        co_return fault.what();
    }
    co_return "done";
}

task<std::thread::id> thread_after(user_event awaited) {
    co_await awaited;
    co_return std::this_thread::get_id();
}

}  // namespace

TEST(G4_coroutines, await_events_pendings_and_lists) {
    on_every_handle([](const device& dev) {
        std::vector<task<host_array<std::uint32_t>>> all;
        for (int i = 0; i < 20; ++i) all.push_back(double_round(dev));
        for (auto& each : all)
            EXPECT_EQ(value_of(std::move(each.result)), std::vector<std::uint32_t>(slow_elements, 35));
    });
}

TEST(G4_coroutines, get_what_went_wrong) {
    open_device on;
    auto good = outcome_of(on.work());
    EXPECT_EQ(good.result.wait_for(5ms), std::future_status::timeout);
    on.complete();
    EXPECT_EQ(value_of(std::move(good.result)), "done");
    auto bad = outcome_of(on.work());
    on.complete("The card fell off.");
    EXPECT_EQ(value_of(std::move(bad.result)), "The card fell off.");
}

TEST(G4_coroutines, go_on_at_once_where_nothing_is_left_to_wait_for) {
    const user_event set, open;
    set.complete();
    EXPECT_EQ(value_of(thread_after(set).result), std::this_thread::get_id());
    auto later = thread_after(open);
    open.complete();
    EXPECT_NE(value_of(std::move(later.result)), std::this_thread::get_id());
}

#endif

// ---- the end of the process, each in one of its own ----

namespace {

std::atomic<int> calls_at_end{0};

/// Outlives main; counts what the end of the process called.
struct end_check {
    int expected = 0;
    ~end_check() {
        if (calls_at_end != expected) {
            std::fprintf(stderr, "%d of %d callbacks\n", calls_at_end.load(), expected);
            std::_Exit(1);
        }
    }
};

void exit_with_everything_open() {
    static end_check check;
    static user_event never;  // set by nobody
    static std::vector<event> kept;
    static std::vector<balm::queue> queues;
    for (const device& dev : all_handles()) {
        auto a = dev.mixed_buffer<std::uint32_t>(slow_elements);
        queues.push_back(dev.make_queue());
        kept.push_back(queues.back().record());
        kept.back().on_complete([] { ++calls_at_end; });
        kept.push_back(a.fill(1u, never));
        kept.back().on_complete([](const std::exception_ptr& failure) { calls_at_end += failure ? 1 : 100; });
        event(a.fill(2u)).on_complete([dev] {  // uses the device at the end
            auto b = dev.mixed_buffer<std::uint32_t>(slow_elements);
            b.fill(3u);
            if (b.read()[7] == 3) ++calls_at_end;
        });
        check.expected += 3;
    }
    std::exit(0);
}

struct late_callbacks {
    explicit late_callbacks(const device& dev) : memory(dev.mixed_buffer<std::uint32_t>(slow_elements)) {
        memory.fill(2u);
    }
    mixed_buffer<std::uint32_t> memory;
    ~late_callbacks() {
        event(memory.fill(1u)).on_complete([] { ++calls_at_end; });
        const user_event after_the_end;
        const event fails = after_the_end;
        if (!fails.is_complete()) std::_Exit(2);
    }
};

void use_callbacks_after_the_end() {
    static end_check check;
    static std::vector<std::unique_ptr<late_callbacks>> users;
    event{}.on_complete([] {});
    for (const device& dev : all_handles())
        if (dev.info().api == backend::opencl) users.push_back(std::make_unique<late_callbacks>(dev));
    check.expected = static_cast<int>(users.size());
    std::exit(0);
}

void exit_in_a_callback() {
    const user_event go;
    event(go).on_complete([] { std::exit(0); });
    go.complete();
    std::this_thread::sleep_for(60s);
    std::_Exit(3);
}

}  // namespace

TEST(G4_exit, makes_open_events_fail_and_calls_what_is_left) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(exit_with_everything_open(), testing::ExitedWithCode(0), "");
}

TEST(G4_exit, lets_static_objects_go_on) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(use_callbacks_after_the_end(), testing::ExitedWithCode(0), "");
}

TEST(G4_exit, may_come_from_a_callback) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(exit_in_a_callback(), testing::ExitedWithCode(0), "");
}

}  // namespace balm::test
