// Events and queues: what waits for what, what is made only when needed, and where errors come out.

#include "balm/event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "balm/error.hpp"
#include "balm/user_event.hpp"
#include "null_driver/device.hpp"
#include "runtime/devices.hpp"
#include "runtime/fake_device.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using runtime::device_state;
using runtime::queue_state;
using runtime::storage;
using testing::HasSubstr;

/// A fake device with three queues whose events stay open, and two allocations.
struct three_queues {
    std::shared_ptr<fake_device> driver = std::make_shared<fake_device>();
    std::shared_ptr<device_state> state = device_state::make(driver);
    fake_log& log = *driver->log;
    std::shared_ptr<storage> x = state->allocate(64, {"x"}), y = state->allocate(64, {"y"});
    std::shared_ptr<queue_state> a = state->make_queue(), b = state->make_queue(), c = state->make_queue();

    three_queues() { log.events_complete_at_once = false; }
    ~three_queues() { log.complete_all(); }

    // How many events the driver was told to wait for.
    std::size_t reads(queue_state& queue, storage& memory) { return launch(queue, {&memory}, {}); }
    std::size_t writes(queue_state& queue, storage& memory) { return launch(queue, {}, {&memory}); }
    std::size_t launch(queue_state& queue, std::vector<storage*> read, std::vector<storage*> written,
                       std::vector<event> waits = {}, event* made = nullptr) {
        fake_kernel kernel;
        queue.enqueue_launch(kernel, {}, {}, read, written, waits, made);
        return log.waits_of_last();
    }
    int events() {
        const std::lock_guard lock(log.mutex);
        return static_cast<int>(log.events.size());
    }
};

}  // namespace

TEST(C15_events, that_are_default_constructed_have_happened) {
    const event none;
    EXPECT_TRUE(none.is_complete());
    none.wait();
    EXPECT_THROW(none.profile(), usage_error);
}

TEST(C15_events, tell_the_times_of_their_command) {
    on_every_handle([](const device& dev) {
        const auto program = program_of(dev, slow_source, "slow");
        auto a = dev.mixed_buffer<std::uint32_t>(1 << 12);
        a.fill(1u);
        const event done = launch_slow(dev.state()->default_queue(), *program, *a.storage(), 10'000);
        const timestamps times = done.profile();
        EXPECT_LE(times.queued, times.submitted);
        EXPECT_LE(times.submitted, times.started);
        EXPECT_LT(times.started, times.ended);
        EXPECT_GT(times.duration(), 0u);
        EXPECT_EQ(a.read()[7], slow_on_host(1, 10'000));
    });
}

TEST(C15_events, have_times_on_every_queue_that_takes_them) {
    on_every_handle([](const device& dev) {
        auto a = dev.mixed_buffer<std::uint32_t>(1 << 16);
        a.fill(1u);
        const user_event go;
        balm::queue timed = dev.make_queue(), untimed = dev.make_queue(false);
        const std::uint32_t two = 2;
        const auto fill = [&](const balm::queue& on, std::vector<event> waits = {}) {
            event done;
            on.state()->enqueue_fill(*a.storage(), 0, a.size_bytes(), std::as_bytes(std::span(&two, 1)),
                                     waits, &done);
            return done;
        };
        const std::vector<event> with{fill(dev.queue()), fill(timed), timed.record(), fill(timed, {go}),
                                      timed.record()};
        const std::vector<event> without{fill(untimed), untimed.record()};
        go.complete();
        for (const event& each : with) {
            const timestamps at = each.profile();
            EXPECT_LE(at.queued, at.submitted);
            EXPECT_LE(at.submitted, at.started);
            EXPECT_LE(at.started, at.ended);
            EXPECT_GT(at.queued, 0u);
            EXPECT_THAT(at.summary(), HasSubstr("duration"));
        }
        for (const event& each : without)
            EXPECT_THAT(message_of<usage_error>([&] { each.profile(); }),
                        HasSubstr("Create the queue with make_queue(true)"));
    });
}

TEST(C15_events, print_a_summary) {
    const timestamps times{1000, 1100, 1500, 4500, true};
    EXPECT_EQ(times.summary(),
              "queued                0 ns  (host clock)\n"
              "submitted           100 ns  (host clock)\n"
              "started             500 ns\n"
              "ended              3500 ns\n"
              "duration           3000 ns\n");
}

TEST(C15_events, come_from_pendings_and_make_wait_lists) {
    const device dev(device_state::make(null::make_null_device(runtime::dialect::opencl_c)));
    auto a = dev.mixed_buffer<int>(3);
    const event first = a.write({1, 2, 3});
    const wait_list two(first, a.fill(0));
    EXPECT_EQ(two.events().size(), 2u);
    const wait_list three(two, first);
    EXPECT_EQ(three.events().size(), 3u);
    static_assert(waitable<pending> && waitable<const event&> && waitable<pending&> && !waitable<int>);
}

TEST(C4_pendings, that_nobody_keeps_are_waited_for) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(device_state::make(fake));
    auto a = dev.mixed_buffer<int>(3);
    fake->log->events_complete_at_once = false;
    std::atomic<bool> returned{false};
    std::thread user([&] {
        a.fill(1);
        returned = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(returned);
    fake->log->complete_all();
    user.join();
    fake->log->events_complete_at_once = false;
    { const event kept = a.fill(2); }  // dropping an event does not wait
    {
        auto named = a.fill(3);
        const wait_list taken(named);  // nor does a pending whose event was taken
    }
    fake->log->complete_all();
}

TEST(C4_pendings, with_names_are_waited_for_and_passed_on) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(device_state::make(fake));
    auto a = dev.mixed_buffer<int>(3), b = dev.mixed_buffer<int>(3);
    auto first = a.fill(1);
    auto second = b.fill(2, first);
    const event same = first;
    EXPECT_EQ(same.state(), event(first).state());
    first.wait();
    second.wait();
    second.wait();
    EXPECT_TRUE(event(second).is_complete());
}

TEST(G4_queues, need_no_event_and_no_wait_while_a_buffer_stays_on_one) {
    three_queues on;
    EXPECT_EQ(on.writes(*on.a, *on.x), 0u);
    EXPECT_EQ(on.reads(*on.a, *on.x), 0u);
    EXPECT_EQ(on.writes(*on.a, *on.x), 0u);
    EXPECT_EQ(on.events(), 0);
}

TEST(G4_queues, wait_for_writers_and_readers_of_other_queues) {
    three_queues on;
    on.writes(*on.a, *on.x);
    EXPECT_EQ(on.reads(*on.b, *on.x), 1u) << "read after write";
    EXPECT_EQ(on.reads(*on.b, *on.x), 0u) << "it comes after that write already";
    EXPECT_EQ(on.reads(*on.c, *on.x), 1u);
    EXPECT_EQ(on.reads(*on.a, *on.x), 0u) << "reads wait for no reads";
    EXPECT_EQ(on.events(), 1) << "one point of queue a serves both";
    EXPECT_EQ(on.writes(*on.a, *on.x), 2u) << "write after the reads of b and c";
    EXPECT_EQ(on.writes(*on.b, *on.x), 1u) << "write after write";
    EXPECT_EQ(on.reads(*on.c, *on.x), 1u) << "b's write came after all others";
    EXPECT_EQ(on.reads(*on.a, *on.y), 0u);
}

TEST(G4_queues, do_not_wait_for_what_is_known_to_be_done) {
    three_queues on;
    on.writes(*on.a, *on.x);
    on.a->finish();
    EXPECT_EQ(on.reads(*on.b, *on.x), 0u);
    EXPECT_EQ(on.writes(*on.c, *on.x), 1u) << "b's read is open";
    event done;
    on.launch(*on.c, {}, {on.x.get()}, {}, &done);
    on.log.complete_all();
    done.wait();
    EXPECT_EQ(on.reads(*on.a, *on.x), 0u) << "waiting for an event is knowing";
}

TEST(G4_queues, that_are_gone_are_done) {
    three_queues on;
    on.writes(*on.a, *on.x);
    on.a.reset();
    EXPECT_EQ(on.reads(*on.b, *on.x), 0u);
    EXPECT_EQ(on.writes(*on.b, *on.x), 0u);
}

TEST(G4_queues, wait_for_events_of_others_and_not_for_their_own) {
    three_queues on;
    event of_a;
    on.launch(*on.a, {}, {on.x.get()}, {}, &of_a);
    EXPECT_EQ(on.launch(*on.a, {}, {}, {of_a}), 0u);
    EXPECT_EQ(on.launch(*on.b, {}, {}, {of_a, event{}}), 1u);
    EXPECT_EQ(on.launch(*on.b, {}, {}, {of_a}), 0u) << "once is enough";
}

TEST(G4_queues, wait_on_the_host_for_events_of_other_devices) {
    three_queues on;
    const auto other = device_state::make(null::make_null_device(runtime::dialect::cuda_cpp));
    const event elsewhere = other->default_queue().record();
    EXPECT_EQ(on.launch(*on.a, {}, {}, {elsewhere}), 0u);
}

TEST(G4_queues, refuse_memory_of_another_device) {
    three_queues on;
    const auto other = device_state::make(null::make_null_device(runtime::dialect::cuda_cpp));
    const auto foreign = other->allocate(64, {"foreign"});
    EXPECT_THROW(on.reads(*on.a, *foreign), usage_error);
}

TEST(G4_queues, order_real_work_by_the_buffers_it_shares) {
    on_every_handle([](const device& dev) {
        const auto program = program_of(dev, slow_source, "slow");
        auto first = dev.state()->make_queue(), second = dev.state()->make_queue();
        auto a = dev.mixed_buffer<std::uint32_t>(1 << 14), b = dev.mixed_buffer<std::uint32_t>(1 << 14);
        a.fill(3u);
        std::uint32_t expected = 3;
        for (std::uint32_t turn = 0; turn < 10; ++turn) {
            launch_slow(turn % 2 ? *first : *second, *program, *a.storage(), 2000 + turn);
            expected = slow_on_host(expected, 2000 + turn);
        }
        a.copy_to(b);
        EXPECT_EQ(b.read(), std::vector<std::uint32_t>(1 << 14, expected));
    });
}

TEST(G4_queues, take_commands_from_many_threads) {
    on_every_handle([](const device& dev) {
        const auto program = program_of(dev, slow_source, "slow");
        auto shared = dev.mixed_buffer<std::uint32_t>(64);
        shared.fill(1u);
        std::vector<std::thread> threads;
        for (int t = 0; t < 6; ++t)
            threads.emplace_back([&, t] {
                auto queue = t % 2 ? dev.state()->make_queue() : dev.state()->default_queue_handle();
                auto own = dev.mixed_buffer<std::uint32_t>(64);
                std::uint32_t expected = 1;
                own.fill(1u);
                for (std::uint32_t turn = 0; turn < 50; ++turn) {
                    launch_slow(*queue, *program, *own.storage(), turn);
                    expected = slow_on_host(expected, turn);
                    if (turn % 10 == 0) {  // reading what others read, too, is safe
                        std::vector<std::uint32_t> got(64);
                        queue->read(got.data(), *shared.storage(), 0, 256);
                        EXPECT_EQ(got, std::vector<std::uint32_t>(64, 1));
                    }
                }
                EXPECT_EQ(own.read(), std::vector<std::uint32_t>(64, expected));
            });
        for (std::thread& each : threads) each.join();
    });
}

TEST(C4_errors, that_show_late_are_thrown_by_the_next_call) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(device_state::make(fake));
    auto a = dev.mixed_buffer<int>(3), b = dev.mixed_buffer<int>(3);
    fake->log->events_complete_at_once = false;
    std::thread failure([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        fake->log->complete_all("The card fell off.");
    });
    a.fill(1);  // not kept: waits, and must not throw from a destructor
    failure.join();
    fake->log->events_complete_at_once = true;
    const std::string text = message_of<device_error>([&] { b.fill(2); });
    EXPECT_THAT(text, HasSubstr("The card fell off."));
    EXPECT_THAT(text, HasSubstr("device 'fake'"));
    EXPECT_NO_THROW(b.fill(2)) << "it is told once";
    EXPECT_THAT(message_of<device_error>([&] { a.read(); }), HasSubstr("The card fell off."))
        << "the buffer holds nothing";
    a.fill(3);
    EXPECT_EQ(a.read(), (host_array<int>{3, 3, 3})) << "until it is written again";
}

TEST(C4_errors, are_thrown_by_waiting_for_the_event) {
    three_queues on;
    event failed;
    on.launch(*on.a, {}, {on.x.get()}, {}, &failed);
    on.log.complete_all("The card fell off.");
    EXPECT_TRUE(failed.is_complete());
    EXPECT_THAT(message_of<device_error>([&] { failed.wait(); }), HasSubstr("The card fell off."));
    EXPECT_THAT(message_of<device_error>([&] { on.reads(*on.b, *on.x); }), HasSubstr("(x)"))
        << "from another queue, too";
    EXPECT_NO_THROW(on.writes(*on.b, *on.x));
    EXPECT_NO_THROW(on.reads(*on.a, *on.x));
}

}  // namespace balm::test
