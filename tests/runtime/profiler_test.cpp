// The profiler: whose time goes where, on the host and on the devices.

#include "balm/profiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <thread>

#include "balm/error.hpp"
#include "balm/user_event.hpp"
#include "runtime/devices.hpp"
#include "runtime/fake_device.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace std::chrono_literals;
using runtime::device_state;
using testing::HasSubstr;

profile_row row_of(const std::vector<profile_row>& all, const std::string& name) {
    for (const profile_row& each : all)
        if (each.name == name) return each;
    ADD_FAILURE() << "there is no row " << name;
    return {};
}

std::uint64_t sum_of_durations(const std::vector<event>& events) {
    std::uint64_t sum = 0;
    for (const event& each : events) sum += each.profile().duration();
    return sum;
}

/// Has a call return at once.
void go_on(const event&) {}

constexpr std::uint64_t milliseconds(std::uint64_t count) { return count * 1'000'000; }

}  // namespace

TEST(V23_profiler, gives_each_section_the_commands_that_were_enqueued_in_it) {
    on_every_handle([](const device& dev) {
        const auto program = program_of(dev, slow_source, "slow");
        auto a = dev.mixed_buffer<std::uint32_t>(some_elements);
        const event before = a.fill(1u);
        before.wait();
        balm::profiler prof(dev);
        balm::queue other = dev.make_queue();
        std::vector<event> outer, inner, deep, outside;
        const auto launch = [&](std::vector<event>& into, runtime::queue_state& on) {
            into.push_back(launch_slow(on, *program, *a.storage(), 500));
        };
        for (int turn = 0; turn < 5; ++turn) {
            const auto step = prof.section("step");
            launch(outer, dev.state()->default_queue());
            for (int i = 0; i < 2; ++i) {
                const auto assembly = prof.section("assembly");
                launch(inner, *other.state());
                const auto again = prof.section("step");  // within another: a row of its own
                launch(deep, dev.state()->default_queue());
            }
            launch(outer, *other.state());
        }
        launch(outside, dev.state()->default_queue());

        const std::vector<profile_row> rows = prof.rows();
        ASSERT_EQ(rows.size(), 4u);
        EXPECT_EQ(rows[0].name, "step");
        EXPECT_EQ(rows[1].name, "assembly");
        EXPECT_EQ(rows[2].name, "step");
        EXPECT_EQ(rows[3].name, "(outside sections)");
        const std::array<int, 4> depths{0, 1, 2, 0};
        const std::array<std::uint64_t, 4> counts{5, 10, 10, 0}, commands{30, 20, 10, 1};
        for (std::size_t k = 0; k < 4; ++k) {
            EXPECT_EQ(rows[k].depth, depths[k]);
            EXPECT_EQ(rows[k].count, counts[k]);
            EXPECT_EQ(rows[k].commands, commands[k]);
        }
        EXPECT_EQ(rows[0].device_self, sum_of_durations(outer));
        EXPECT_EQ(rows[1].device_self, sum_of_durations(inner));
        EXPECT_EQ(rows[2].device_self, sum_of_durations(deep));
        EXPECT_EQ(rows[3].device_self, sum_of_durations(outside));
        EXPECT_EQ(rows[1].device_total, rows[1].device_self + rows[2].device_self);
        EXPECT_EQ(rows[0].device_total, rows[0].device_self + rows[1].device_total);
        EXPECT_GT(rows[0].device_self, 0u);
        EXPECT_EQ(rows[0].host_self, rows[0].host_total - rows[1].host_total);
        EXPECT_EQ(prof.rows()[0].device_total, rows[0].device_total) << "asking twice counts once";
    });
}

TEST(V23_profiler, measures_the_host) {
    const device dev(device_state::make(std::make_shared<fake_device>()));
    balm::profiler prof(dev);
    const auto start = std::chrono::steady_clock::now();
    {
        const auto outer = prof.section("outer");
        std::this_thread::sleep_for(20ms);
        for (int i = 0; i < 3; ++i) {
            const auto inner = prof.section("inner");
            std::this_thread::sleep_for(10ms);
        }
    }
    const std::chrono::nanoseconds whole = std::chrono::steady_clock::now() - start;
    const std::vector<profile_row> rows = prof.rows();
    const profile_row outer = row_of(rows, "outer"), inner = row_of(rows, "inner");
    EXPECT_GE(outer.host_total, milliseconds(50));
    EXPECT_LE(outer.host_total, static_cast<std::uint64_t>(whole.count()));
    EXPECT_GE(inner.host_total, milliseconds(30));
    EXPECT_GE(outer.host_self, milliseconds(20));
    EXPECT_EQ(outer.host_self + inner.host_total, outer.host_total);
    EXPECT_EQ(inner.count, 3u);
}

TEST(V23_profiler, waits_for_nothing_before_it_is_asked) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(device_state::make(fake));
    auto a = dev.mixed_buffer<std::uint32_t>(some_elements);
    fake->log->events_complete_at_once = false;
    balm::profiler prof(dev);
    {
        const auto s = prof.section("open");
        for (std::uint32_t i = 0; i < 3000; ++i) go_on(a.fill(i));  // more than are held back
    }
    std::thread later([&] {
        std::this_thread::sleep_for(10ms);
        fake->log->complete_all();
    });
    const profile_row row = row_of(prof.rows(), "open");
    later.join();
    EXPECT_EQ(row.commands, 3000u);
    EXPECT_EQ(row.device_self, 3000u * 40) << "a fake command runs from 30 to 70";
}

TEST(V23_profiler, keeps_the_threads_apart) {
    on_every_handle([](const device& dev) {
        constexpr int threads = 8, turns = 100;
        balm::profiler prof(dev);
        std::vector<std::thread> all;
        for (int t = 0; t < threads; ++t)
            all.emplace_back([&, t] {
                auto own = dev.mixed_buffer<std::uint32_t>(some_elements);
                for (std::uint32_t i = 0; i < turns; ++i) {
                    const auto outer = prof.section("thread " + std::to_string(t % 2));
                    go_on(own.fill(i));
                    const auto inner = prof.section("inner");
                    go_on(own.fill(i));
                    go_on(own.fill(i));
                    if (i % 50 == 0) prof.summary();
                }
            });
        for (std::thread& each : all) each.join();
        const std::vector<profile_row> rows = prof.rows();
        ASSERT_EQ(rows.size(), 4u);
        for (const std::size_t k : {0, 2}) {
            EXPECT_EQ(rows[k].count, threads / 2 * turns);
            EXPECT_EQ(rows[k].commands, 3u * threads / 2 * turns);
            EXPECT_EQ(rows[k + 1].name, "inner");
            EXPECT_EQ(rows[k + 1].commands, 2u * threads / 2 * turns);
        }
    });
}

TEST(V23_profiler, sees_deferred_commands_and_failures) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(device_state::make(fake));
    auto a = dev.mixed_buffer<std::uint32_t>(some_elements);
    balm::profiler prof(dev);
    const user_event go, never;
    event good, bad;
    {
        const auto s = prof.section("deferred");
        good = a.fill(1u, go);
        bad = a.fill(2u, never);
    }
    go.complete();
    never.fail(std::runtime_error("not today"));
    const profile_row row = row_of(prof.rows(), "deferred");
    EXPECT_EQ(row.commands, 2u);
    EXPECT_EQ(row.device_self, 40u);
    EXPECT_THROW(bad.wait(), std::runtime_error);
}

TEST(V23_profiler, observes_what_it_is_told_to_and_while_it_lives) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(device_state::make(fake));
    balm::queue one = dev.make_queue(), other = dev.make_queue(), untimed = dev.make_queue(false);
    const auto memory = dev.state()->allocate(64, {"x"});
    const std::uint32_t zero = 0;
    const auto fill = [&](const balm::queue& on) {
        on.state()->enqueue_fill(*memory, 0, 64, std::as_bytes(std::span(&zero, 1)));
    };
    const auto events = [&] {
        const std::lock_guard lock(fake->log->mutex);
        return fake->log->events.size();
    };
    {
        balm::profiler prof(one);
        fill(one);
        fill(other);
        fill(untimed);
        ASSERT_EQ(prof.rows().size(), 1u);
        EXPECT_EQ(prof.rows()[0].commands, 1u);
        prof.observe(other);
        prof.observe(dev);  // both again, and all others that time
        fill(one);
        fill(other);
        fill(untimed);
        fill(dev.make_queue());
        one.record();
        EXPECT_EQ(prof.rows()[0].commands, 4u);
        EXPECT_THAT(message_of<usage_error>([&] { prof.observe(untimed); }), HasSubstr("make_queue(true)"));
    }
    const std::size_t before = events();
    fill(one);
    EXPECT_EQ(events(), before) << "nobody asks for the event any more";
}

TEST(V23_profiler, prints_a_table) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(device_state::make(fake));
    auto a = dev.mixed_buffer<std::uint32_t>(some_elements);
    balm::profiler prof(dev);
    {
        const auto s = prof.section("solve");
        go_on(a.fill(1u));
        const auto inner = prof.section("matrix times vector");
        for (std::uint32_t i = 0; i < 3; ++i) go_on(a.fill(i));
    }
    go_on(a.fill(1u));
    std::string table = prof.summary();
    // Of the host's times only the shares are known.
    EXPECT_THAT(table, HasSubstr("section                   count        host        self     share"));
    EXPECT_THAT(table,
                testing::ContainsRegex("\nsolve  .* 1 .* 100.0 % .* 4 .* 160 ns .* 40 ns .* 80.0 %\n"));
    EXPECT_THAT(table,
                testing::ContainsRegex("\n  matrix times vector  .* 3 .* 120 ns .* 120 ns .* 60.0 %\n"));
    EXPECT_THAT(table, testing::ContainsRegex("\n.outside sections.  .* 1 .* 40 ns .* 40 ns .* 20.0 %\n"));
    EXPECT_THAT(table, testing::ContainsRegex("\ncommand +count +size +device +share\n"));
    EXPECT_THAT(table, testing::ContainsRegex("\nfill +5 +20.5 kB +200 ns +100.0 %\n"));
}

TEST(V23_profiler, knows_commands_by_name_bytes_and_work_items) {
    on_every_handle([](const device& dev) {
        const auto program = program_of(dev, slow_source, "slow");
        auto a = dev.mixed_buffer<std::uint32_t>(some_elements),
             b = dev.mixed_buffer<std::uint32_t>(some_elements);
        a.fill(1u).wait();
        balm::profiler prof(dev);
        runtime::queue_state& queue = dev.state()->default_queue();
        std::vector<event> launches, copies;
        for (int turn = 0; turn < 3; ++turn) {
            launches.push_back(launch_slow(queue, *program, *a.storage(), 10));
            copies.push_back(a.copy_to(b));
        }
        go_on(b.fill(7u));
        const host_array<std::uint32_t> got = b.read();
        EXPECT_EQ(got[0], 7u);

        std::map<std::string, profiled_command> by_name;
        for (const profiled_command& each : prof.commands()) by_name[each.name] = each;
        EXPECT_EQ(by_name.size(), 4u);
        EXPECT_EQ(by_name["slow"].count, 3u);
        EXPECT_EQ(by_name["slow"].work_items, 3 * some_elements);
        EXPECT_EQ(by_name["slow"].bytes, 0u);
        EXPECT_EQ(by_name["slow"].device, sum_of_durations(launches));
        EXPECT_EQ(by_name["copy"].count, 3u);
        EXPECT_EQ(by_name["copy"].bytes, 3 * 4 * some_elements);
        EXPECT_EQ(by_name["copy"].device, sum_of_durations(copies));
        EXPECT_EQ(by_name["fill"].bytes, 4 * some_elements);
        EXPECT_EQ(by_name["read"].bytes, 4 * some_elements);
        EXPECT_EQ(by_name[prof.commands().front().name].device,
                  std::max({by_name["slow"].device, by_name["copy"].device, by_name["fill"].device,
                            by_name["read"].device}));
    });
}

}  // namespace balm::test
