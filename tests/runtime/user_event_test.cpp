// User events, and what follows from them: commands that wait on the host until their driver can have them.

#include "balm/user_event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "balm/error.hpp"
#include "null_driver/device.hpp"
#include "runtime/devices.hpp"
#include "runtime/fake_device.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace std::chrono_literals;
using runtime::device_state;
using runtime::queue_state;
using runtime::storage;
using testing::HasSubstr;

/// Every handle, and a fake device, whose commands run as soon as it has them.
template <class Body>
void on_every_handle_and_a_fake(Body&& body) {
    std::vector<device> all = all_handles();
    all.emplace_back(device_state::make(std::make_shared<fake_device>()));
    for (const device& each : all) {
        SCOPED_TRACE(each.state()->words());
        body(each);
    }
}

std::vector<std::uint32_t> counted_from(std::uint32_t first, std::size_t count = some_elements) {
    std::vector<std::uint32_t> all(count);
    for (std::uint32_t& each : all) each = first++;
    return all;
}

event copy(queue_state& on, const mixed_buffer<std::uint32_t>& from, const mixed_buffer<std::uint32_t>& to,
           std::vector<event> waits = {}) {
    event made;
    on.enqueue_copy(*to.storage(), 0, *from.storage(), 0, from.size_bytes(), waits, &made);
    return made;
}

}  // namespace

TEST(G4_user_events, hold_commands_back_and_not_their_caller) {
    on_every_handle_and_a_fake([](const device& dev) {
        auto a = dev.mixed_buffer<std::uint32_t>(some_elements),
             b = dev.mixed_buffer<std::uint32_t>(some_elements);
        a.write(counted_from(7));
        b.fill(1u);
        const user_event go;
        const event written = a.write(counted_from(100), go);
        const event copied = a.copy_to(b, written);
        auto got = b.read_async(copied);
        std::this_thread::sleep_for(20ms);
        EXPECT_FALSE(written.is_complete());
        EXPECT_FALSE(copied.is_complete());
        EXPECT_FALSE(got.is_complete());
        EXPECT_TRUE(go.complete());
        EXPECT_EQ(got.get(), counted_from(100));
        EXPECT_EQ(a.read(), counted_from(100));
        EXPECT_TRUE(copied.is_complete());
    });
}

TEST(G4_user_events, that_are_set_hold_nothing_back) {
    on_every_handle_and_a_fake([](const device& dev) {
        auto a = dev.mixed_buffer<std::uint32_t>(some_elements);
        const user_event go;
        EXPECT_TRUE(go.complete());
        EXPECT_FALSE(go.complete()) << "once";
        EXPECT_FALSE(go.fail(usage_error("late")));
        const event done = a.write(counted_from(3), go);
        EXPECT_EQ(a.read(done), counted_from(3));
        const event set = go;
        EXPECT_TRUE(set.is_complete());
        EXPECT_THAT(message_of<usage_error>([&] { set.profile(); }), HasSubstr("set by the program"));
    });
}

TEST(G4_user_events, hold_back_other_queues_by_the_buffers_they_share_and_no_others) {
    on_every_handle_and_a_fake([](const device& dev) {
        auto a = dev.mixed_buffer<std::uint32_t>(some_elements),
             b = dev.mixed_buffer<std::uint32_t>(some_elements),
             c = dev.mixed_buffer<std::uint32_t>(some_elements),
             d = dev.mixed_buffer<std::uint32_t>(some_elements);
        a.write(counted_from(1));
        b.write(counted_from(2));
        c.write(counted_from(3));
        d.write(counted_from(4));
        dev.finish();
        const auto first = dev.state()->make_queue(), second = dev.state()->make_queue(),
                   third = dev.state()->make_queue();
        const user_event go;
        copy(*first, a, b, {go});
        const event behind = copy(*second, b, c);  // reads what the first writes
        const event over = copy(*third, d, a);     // overwrites what the first reads
        const event last = third->record();        // behind `over`
        const auto fourth = dev.state()->make_queue();
        auto e = dev.mixed_buffer<std::uint32_t>(some_elements);
        copy(*fourth, d, e).wait();  // shares only what is read
        EXPECT_FALSE(behind.is_complete());
        EXPECT_FALSE(over.is_complete());
        EXPECT_FALSE(last.is_complete());
        go.complete();
        dev.finish();
        for (const auto& each : {first, second, third}) each->finish();
        EXPECT_EQ(b.read(), counted_from(1));
        EXPECT_EQ(c.read(), counted_from(1));
        EXPECT_EQ(a.read(), counted_from(4));
        EXPECT_EQ(e.read(), counted_from(4));
    });
}

TEST(G4_user_events, chain_devices_and_backends) {
    on_every_handle_and_a_fake([](const device& one) {
        on_every_handle_and_a_fake([&](const device& other) {
            auto a = one.mixed_buffer<std::uint32_t>(some_elements),
                 c = one.mixed_buffer<std::uint32_t>(some_elements);
            auto b = other.mixed_buffer<std::uint32_t>(some_elements);
            const user_event go;
            const event written = a.write(counted_from(5), go);
            const event there = a.copy_to(b, written);
            const event back = b.copy_to(c, there);
            EXPECT_FALSE(back.wait_for(5ms));
            go.complete();
            EXPECT_EQ(c.read(back), counted_from(5));
            EXPECT_EQ(b.read(), counted_from(5));
        });
    });
}

TEST(G4_user_events, let_a_device_wait_for_one_of_another_context) {
    // The same devices found again: their contexts are others, so their events cannot be chained.
    for (const device& one : all_handles()) {
        for (const auto& found : driver_devices()) {
            const device other(device_state::make(found));
            SCOPED_TRACE(one.state()->words() + " and " + other.state()->words());
            const auto program = program_of(one, slow_source, "slow");
            auto a = one.mixed_buffer<std::uint32_t>(some_elements);
            auto b = other.mixed_buffer<std::uint32_t>(some_elements);
            a.fill(3u);
            b.fill(1u);
            event last;
            for (int i = 0; i < 5; ++i)
                last = launch_slow(one.state()->default_queue(), *program, *a.storage(), 50'000);
            const event after = b.fill(2u, last);  // not before: the rest shows
            EXPECT_EQ(b.read(after), std::vector<std::uint32_t>(some_elements, 2));
            EXPECT_TRUE(last.is_complete());
            EXPECT_EQ(a.read(), std::vector<std::uint32_t>(some_elements, slow_on_host(3, 250'000)));
        }
    }
}

TEST(G4_user_events, that_fail_fail_what_waits_for_them) {
    on_every_handle_and_a_fake([](const device& dev) {
        struct own_error : std::runtime_error {
            using std::runtime_error::runtime_error;
        };
        auto a = dev.mixed_buffer<std::uint32_t>(some_elements),
             b = dev.mixed_buffer<std::uint32_t>(some_elements),
             c = dev.mixed_buffer<std::uint32_t>(some_elements);
        a.write(counted_from(1));
        b.write(counted_from(2));
        c.write(counted_from(3));
        const user_event go;
        const event written = a.write(counted_from(9), go);
        const event reads_it = a.copy_to(b);
        const event unrelated = c.fill(8u);
        EXPECT_TRUE(go.fail(own_error("The file is empty.")));
        EXPECT_THROW(written.wait(), own_error) << "the exception itself";
        EXPECT_THAT(message_of<device_error>([&] { reads_it.wait(); }), HasSubstr("The file is empty."));
        EXPECT_NO_THROW(unrelated.wait());
        EXPECT_EQ(c.read(), std::vector<std::uint32_t>(some_elements, 8));
        EXPECT_THAT(message_of<device_error>([&] { a.read(); }), HasSubstr("The file is empty."));
        EXPECT_THAT(message_of<device_error>([&] { b.read(); }), HasSubstr("contents are undefined"));
        EXPECT_THROW(c.fill(1u, go), own_error) << "it has failed already";
        a.write(counted_from(4));
        a.copy_to(b);
        EXPECT_EQ(b.read(), counted_from(4)) << "until it is written again";
    });
}

TEST(G4_user_events, that_fail_tell_other_queues_and_devices) {
    on_every_handle_and_a_fake([](const device& dev) {
        auto a = dev.mixed_buffer<std::uint32_t>(some_elements),
             b = dev.mixed_buffer<std::uint32_t>(some_elements);
        a.write(counted_from(1));
        const auto elsewhere = device_state::make(null::make_null_device(runtime::dialect::cuda_cpp));
        const auto first = dev.state()->make_queue(), second = dev.state()->make_queue();
        const user_event go;
        const event written = copy(*first, b, a, {go});
        const event reads_it = copy(*second, a, b);
        const event far = elsewhere->default_queue().record({&written, 1});
        go.fail(usage_error("No luck today."));
        EXPECT_THAT(message_of<device_error>([&] { reads_it.wait(); }), HasSubstr("No luck today."));
        EXPECT_THAT(message_of<usage_error>([&] { far.wait(); }), HasSubstr("No luck today."));
    });
}

TEST(G4_user_events, that_are_dropped_fail) {
    on_every_handle_and_a_fake([](const device& dev) {
        auto a = dev.mixed_buffer<std::uint32_t>(some_elements);
        a.fill(1u);
        event done;
        {
            const user_event go;
            const user_event copy = go;
            done = a.fill(2u, copy);
        }
        EXPECT_THAT(message_of<usage_error>([&] { done.wait(); }), HasSubstr("destroyed before it was set"));
    });
}

TEST(G4_user_events, keep_what_their_commands_use) {
    on_every_handle_and_a_fake([](const device& dev) {
        constexpr std::size_t many = (std::size_t{5} << 20) / 4;  // more than is copied aside otherwise
        const user_event go;
        auto kept = dev.mixed_buffer<std::uint32_t>(many);
        event done;
        {
            balm::queue own = dev.make_queue();  // goes while its commands wait
            auto a = dev.mixed_buffer<std::uint32_t>(many), b = dev.mixed_buffer<std::uint32_t>(many);
            auto host = counted_from(11, many);
            a.write(std::span<const std::uint32_t>(host), go).operator event();
            std::fill(host.begin(), host.end(), 0u);
            copy(*own.state(), a, b);
            done = copy(*own.state(), b, kept);
        }
        EXPECT_FALSE(done.is_complete());
        go.complete();
        EXPECT_EQ(kept.read(done), counted_from(11, many));
    });
}

TEST(G4_user_events, have_launches_keep_their_program_and_arguments) {
    on_every_handle([](const device& dev) {
        auto a = dev.mixed_buffer<std::uint32_t>(some_elements);
        a.fill(5u);
        const user_event go;
        event done;
        {
            const auto program = program_of(dev, slow_source, "slow");
            const event gate = go;
            done = launch_slow(dev.state()->default_queue(), *program, *a.storage(), 100, {&gate, 1});
            for (int i = 0; i < 3; ++i)
                done = launch_slow(dev.state()->default_queue(), *program, *a.storage(), 100);
        }
        go.complete();
        const timestamps times = done.profile();
        EXPECT_LE(times.queued, times.started);
        EXPECT_LT(times.started, times.ended);
        EXPECT_EQ(a.read(), std::vector<std::uint32_t>(some_elements, slow_on_host(5, 400)));
    });
}

TEST(G4_user_events, free_what_waited) {
    const auto fake = std::make_shared<fake_device>();
    {
        const device dev(device_state::make(fake));
        const user_event go;
        {
            auto a = dev.mixed_buffer<std::uint32_t>(some_elements);
            const event done = a.fill(1u, go);
        }
        EXPECT_EQ(fake->log->live_allocations, 1) << "its driver does not know yet that it is used";
        go.complete();
        dev.finish();
    }
    const auto until = std::chrono::steady_clock::now() + 10s;
    const auto live = [&] {
        const std::lock_guard lock(fake->log->mutex);
        return fake->log->live_allocations;
    };
    while (live() > 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(live(), 0);
}

TEST(G4_user_events, hold_back_recorded_points_and_empty_commands) {
    on_every_handle_and_a_fake([](const device& dev) {
        const user_event go;
        balm::queue own = dev.make_queue();
        const event before = own.record();
        const event point = own.record(go);
        const event behind = own.record();
        EXPECT_TRUE(before.wait_for(10s));
        EXPECT_FALSE(point.wait_for(2ms));
        EXPECT_FALSE(behind.is_complete());
        go.complete();
        EXPECT_TRUE(behind.wait_for(10s));
        EXPECT_TRUE(point.is_complete());
    });
}

TEST(G4_user_events, may_be_set_from_any_thread_while_a_call_blocks) {
    on_every_handle_and_a_fake([](const device& dev) {
        auto a = dev.mixed_buffer<std::uint32_t>(some_elements);
        a.fill(1u);
        const user_event first, second;
        std::thread setter([&] {
            std::this_thread::sleep_for(10ms);
            first.complete();
            std::this_thread::sleep_for(10ms);
            second.complete();
        });
        a.fill(2u, first);  // nobody keeps it: waits
        EXPECT_TRUE(event(first).is_complete());
        EXPECT_EQ(a.read(second), std::vector<std::uint32_t>(some_elements, 2));
        setter.join();
    });
}

TEST(G4_user_events, leave_errors_of_the_driver_with_the_event) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(device_state::make(fake));
    auto a = dev.mixed_buffer<std::uint32_t>(some_elements),
         b = dev.mixed_buffer<std::uint32_t>(some_elements);
    const user_event go;
    const event broken = a.fill(1u, go), fine = b.fill(2u);
    {
        const std::lock_guard lock(fake->log->mutex);
        fake->log->refusals = 1;
    }
    go.complete();
    EXPECT_THAT(message_of<device_error>([&] { broken.wait(); }), HasSubstr("The driver said no."));
    EXPECT_NO_THROW(fine.wait());
    EXPECT_THAT(message_of<device_error>([&] { a.read(); }), HasSubstr("The driver said no."));
    EXPECT_EQ(b.read(), std::vector<std::uint32_t>(some_elements, 2));
}

TEST(G4_user_events, leave_errors_that_no_event_tells_to_the_device) {
    const device dev(device_state::make(std::make_shared<fake_device>()));
    auto a = dev.mixed_buffer<std::uint32_t>(some_elements);
    const user_event go;
    const event held = dev.state()->default_queue().record(std::vector<event>{go});
    const std::uint32_t one = 1;
    event gate = go;
    dev.state()->default_queue().enqueue_fill(*a.storage(), 0, 64, std::as_bytes(std::span(&one, 1)),
                                              {&gate, 1});
    go.fail(usage_error("No luck today."));
    EXPECT_THROW(held.wait(), usage_error);
    EXPECT_THAT(message_of<device_error>([&] { dev.finish(); }), HasSubstr("No luck today."));
    EXPECT_NO_THROW(dev.finish()) << "it is told once";
}

// Commands over several queues and buffers, held back here and there by user events that another thread sets
// in any order: the buffers must hold what the commands give one after the other.
TEST(G4_user_events, keep_the_order_of_any_program) {
    on_every_handle_and_a_fake([](const device& dev) {
        std::mt19937_64 random = seeded_random();
        constexpr std::size_t queues = 4, buffers = 5, commands = 60;
        for (int turn = 0; turn < 12; ++turn) {
            std::vector<std::shared_ptr<queue_state>> on;
            for (std::size_t i = 0; i < queues; ++i) on.push_back(dev.state()->make_queue());
            std::vector<mixed_buffer<std::uint32_t>> memory;
            std::vector<std::vector<std::uint32_t>> expected;
            for (std::size_t i = 0; i < buffers; ++i) {
                memory.push_back(dev.mixed_buffer<std::uint32_t>(some_elements));
                expected.push_back(counted_from(static_cast<std::uint32_t>(random())));
                memory.back().write(expected.back());
            }
            dev.finish();
            std::vector<user_event> gates;
            std::vector<event> made;
            for (std::size_t i = 0; i < commands; ++i) {
                std::vector<event> waits;
                if (random() % 4 == 0) waits.push_back(gates.emplace_back());
                if (random() % 4 == 0 && !made.empty()) waits.push_back(made[random() % made.size()]);
                const std::size_t from = random() % buffers, to = random() % buffers;
                queue_state& queue = *on[random() % queues];
                event* const done = random() % 2 ? &made.emplace_back() : nullptr;
                if (from == to) {
                    const auto value = static_cast<std::uint32_t>(random());
                    queue.enqueue_fill(*memory[to].storage(), 0, some_elements * 4,
                                       std::as_bytes(std::span(&value, 1)), waits, done);
                    expected[to].assign(some_elements, value);
                } else if (random() % 2) {
                    queue.enqueue_copy(*memory[to].storage(), 0, *memory[from].storage(), 0,
                                       some_elements * 4, waits, done);
                    expected[to] = expected[from];
                } else {
                    const auto values = counted_from(static_cast<std::uint32_t>(random()));
                    queue.enqueue_write(*memory[to].storage(), 0, values.data(), some_elements * 4, nullptr,
                                        waits, done);
                    expected[to] = values;
                }
                if (random() % 16 == 0 && !gates.empty()) gates[random() % gates.size()].complete();
            }
            std::shuffle(gates.begin(), gates.end(), random);
            std::thread setter([&] {
                for (const user_event& each : gates) each.complete();
            });
            for (std::size_t i = 0; i < buffers; ++i) EXPECT_EQ(memory[i].read(), expected[i]);
            setter.join();
            for (const event& each : made) each.wait();
        }
    });
}

}  // namespace balm::test
