// Copies between devices: what arrives, in which order, and which way it went. Against host arrays that are
// copied alike.

#include <CL/cl.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "balm/balm.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/devices.hpp"
#include "runtime/fake_device.hpp"
#include "support/child_process.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::AnyOf;
using testing::Eq;

/// Random copies between two devices, both ways, on several queues, with fills and kernels between them.
void compare_with_host(const device& first, const device& second, std::mt19937_64& random) {
    const auto add = [] {
        using namespace balm::dsl;
        return kernel<1>("add(x, by)", [](Mixed<int> x, Int by) { x[global_id(0)] += by; });
    }();
    const device devices[] = {first, second};
    queue others[] = {first.make_queue(), second.make_queue()};
    const std::size_t n = 1 + random() % 3000;
    mixed_buffer<int> buffers[] = {first.mixed_buffer<int>(n), second.mixed_buffer<int>(n),
                                   first.mixed_buffer<int>(n), second.mixed_buffer<int>(n)};
    std::vector<int> hosts[4];
    for (int k = 0; k < 4; ++k) {
        hosts[k] = random_numbers<int>(random, n);
        buffers[k].write(hosts[k]);
    }
    std::vector<event> running;  // nothing waits but at the end
    for (int turn = 0; turn < 60; ++turn) {
        const std::size_t k = random() % 4;
        if (random() % 3 == 0) {
            const int by = static_cast<int>(random() % 1000);
            running.push_back(random() % 2 == 0 ? devices[k % 2].execute(add(buffers[k], by), {n})
                                                : others[k % 2].execute(add(buffers[k], by), {n}));
            for (int& each : hosts[k]) each += by;
            continue;
        }
        const std::size_t to = random() % 4, start = random() % n, end = start + random() % (n - start + 1);
        const std::size_t shift = random() % (n - (end - start) + 1);
        running.push_back(
            buffers[k].range(start, end).copy_to(buffers[to].range(shift, shift + end - start)));
        const std::vector<int> moved(hosts[k].begin() + static_cast<std::ptrdiff_t>(start),
                                     hosts[k].begin() + static_cast<std::ptrdiff_t>(end));
        std::copy(moved.begin(), moved.end(), hosts[to].begin() + static_cast<std::ptrdiff_t>(shift));
    }
    for (int k = 0; k < 4; ++k) ASSERT_EQ(buffers[k].read(), std::span<const int>(hosts[k])) << k;

    // Boxes, which lie in rows of different lengths.
    auto a = first.mixed_buffer<int>(20, 30), b = second.mixed_buffer<int>(15, 40);
    const auto from = random_numbers<int>(random, 600), below = random_numbers<int>(random, 600);
    a.write(from);
    b.write(below);
    a.region({3, 7}, {10, 11}).copy_to(b.region({2, 5}, {10, 11}));
    const auto got = b.read();
    for (std::size_t row = 0; row < 15; ++row)
        for (std::size_t column = 0; column < 40; ++column) {
            const bool inside = row >= 2 && row < 12 && column >= 5 && column < 16;
            ASSERT_EQ(got[row * 40 + column],
                      inside ? from[(row + 1) * 30 + column + 2] : below[row * 40 + column]);
        }

    const vector<int> x(context({first}), hosts[0]);
    vector<int> y(context({second}), n);
    y = x;  // a copy, not an expression
    EXPECT_EQ(y.to_host(), std::span<const int>(hosts[0]));
}

/// Copies of several pieces, some of them in flight at the same time.
void copy_much(const device& first, const device& second, std::mt19937_64& random) {
    const std::size_t n =
        2 * runtime::device_state::copy_piece / sizeof(std::uint64_t) + 1 + random() % 100'000;
    std::vector<std::uint64_t> host(n);
    std::iota(host.begin(), host.end(), random());
    auto from = first.mixed_buffer<std::uint64_t>(n), back = first.mixed_buffer<std::uint64_t>(n);
    auto to = second.mixed_buffer<std::uint64_t>(n + 1), other = second.mixed_buffer<std::uint64_t>(n);
    from.write(host);
    from.copy_to(to.range(1, n + 1));
    const event there = from.copy_to(other);
    const event emptied = from.fill(0, there);  // what is copied is what was there before
    const event again = to.range(1, n + 1).copy_to(back);
    EXPECT_EQ(other.read(there), std::span<const std::uint64_t>(host));
    EXPECT_EQ(back.read(again), std::span<const std::uint64_t>(host));
    EXPECT_EQ(from.read(emptied)[n - 1], 0u);
}

struct fake_pair {
    std::shared_ptr<fake_device> drivers[2] = {std::make_shared<fake_device>(),
                                               std::make_shared<fake_device>()};
    device a{runtime::device_state::make(drivers[0])}, b{runtime::device_state::make(drivers[1])};

    explicit fake_pair(bool direct) {
        for (const auto& each : drivers) each->log->copies_from_others = direct;
    }
    void let_events_wait() {
        for (const auto& each : drivers) each->log->events_complete_at_once = false;
    }
    void complete_all() {
        for (const auto& each : drivers) each->log->complete_all();
    }
    std::size_t waits_of_last(int which) { return drivers[which]->log->waits_of_last(); }
    bool has(int which, const std::string& what) {
        const auto& all = drivers[which]->log->commands;
        return std::any_of(all.begin(), all.end(),
                           [&](const fake_command& each) { return each.what == what; });
    }
};

}  // namespace

TEST(G5_copies_between_devices, bring_what_host_arrays_hold) {
    auto random = seeded_random();
    const auto& all = present_devices();
    if (all.size() < 2) GTEST_SKIP() << "one device";
    for (const device& first : all)
        for (const device& second : all) {
            if (first == second) continue;
            SCOPED_TRACE(words(first) + " and " + words(second));
            for (int turn = 0; turn < 3; ++turn) compare_with_host(first, second, random);
            copy_much(first, second, random);
            const copy_path way = first.copies_from(second);
            EXPECT_EQ(first.copies_from(first), copy_path::within_device);
            if (first.info().api == backend::cuda && second.info().api == backend::cuda)
                EXPECT_THAT(way, AnyOf(Eq(copy_path::peer_to_peer), Eq(copy_path::by_driver)));
            else
                EXPECT_EQ(way, copy_path::through_host);
        }
}

TEST(G5_copies_between_devices, of_one_opencl_context_are_the_drivers) {
    auto random = seeded_random();
    bool any = false;
    for (const device& a : present_devices())
        for (const device& b : present_devices()) {
            if (a == b || a.info().api != backend::opencl || a.info().platform != b.info().platform) continue;
            const cl_device_id both[] = {native(a).device, native(b).device};
            cl_int code = CL_SUCCESS;
            cl_context context = clCreateContext(nullptr, 2, both, nullptr, nullptr, &code);
            ASSERT_EQ(code, CL_SUCCESS);
            any = true;
            {
                const device first = adopt_opencl(context, both[0]), second = adopt_opencl(context, both[1]);
                EXPECT_NE(first, second);
                EXPECT_EQ(first.copies_from(second), copy_path::by_driver);
                EXPECT_EQ(a.copies_from(second), copy_path::through_host);
                for (int turn = 0; turn < 3; ++turn) compare_with_host(first, second, random);
                compare_with_host(a, second, random);
            }
            clReleaseContext(context);
        }
    if (!any) GTEST_SKIP() << "no two devices of one OpenCL platform";
}

TEST(G5_copies_between_devices, are_right_between_two_devices_of_pocl) {
    run_on_devices_of_pocl("pthread pthread", "test_runtime", "G5_copies_between_devices.*");
}

TEST(G5_copies_between_devices, come_after_both_devices_commands_and_before_later_ones) {
    fake_pair fakes(true);
    auto from = fakes.a.mixed_buffer<int>(4);
    auto to = fakes.b.mixed_buffer<int>(4);
    queue other = fakes.b.make_queue();
    fakes.let_events_wait();
    const event written = from.write({1, 2, 3, 4});
    const event read_before = run_native(other, reads(to), writes(), [](native_handle) {});
    const event copied = from.copy_to(to);
    EXPECT_TRUE(fakes.has(1, "copy from another device"));
    EXPECT_EQ(fakes.waits_of_last(1), 2u) << "for the write on its device, and for the target's reader";
    const event again = from.write({5, 6, 7, 8});
    EXPECT_EQ(fakes.waits_of_last(0), 1u) << "for the copy on the other device";
    const event filled = to.fill(0);
    EXPECT_EQ(fakes.waits_of_last(1), 0u) << "its own queue is in order";
    fakes.complete_all();
    copied.wait();
    again.wait();
    EXPECT_FALSE(fakes.has(0, "read")) << "nothing passed through the host";
    fakes.a.finish();
    fakes.b.finish();
}

TEST(G5_copies_between_devices, keep_their_source_until_they_are_done) {
    fake_pair fakes(true);
    auto to = fakes.b.mixed_buffer<int>(4);
    fakes.let_events_wait();
    std::uintptr_t source = 0;
    event copied;
    {
        auto from = fakes.a.mixed_buffer<int>(4);
        source = native(from).handle.value();
        copied = from.copy_to(to);
    }
    EXPECT_NE(native(fakes.a.mixed_buffer<int>(4)).handle.value(), source);
    fakes.complete_all();
    fakes.b.finish();
    bool is_free = false;  // now it is among those that the pool gives
    auto first = fakes.a.mixed_buffer<int>(4), second = fakes.a.mixed_buffer<int>(4);
    for (const auto& each : {first, second}) is_free = is_free || native(each).handle.value() == source;
    EXPECT_TRUE(is_free);
}

TEST(G5_copies_between_devices, wait_on_the_host_for_what_no_driver_has) {
    for (const bool direct : {true, false}) {
        fake_pair fakes(direct);
        auto from = fakes.a.mixed_buffer<int>(4);
        auto to = fakes.b.mixed_buffer<int>(4);
        from.write({1, 2, 3, 4});
        to.fill(0);
        user_event go;
        const event copied = from.copy_to(to, go);
        const event later = from.write({5, 6, 7, 8});  // after the copy, on the other device
        EXPECT_FALSE(copied.is_complete());
        go.complete();
        const auto got = to.read(copied);
        EXPECT_EQ(got, (std::vector<int>{1, 2, 3, 4}));
        later.wait();
        EXPECT_EQ(from.read()[0], 5);
        EXPECT_EQ(fakes.has(1, "copy from another device"), direct);
    }
}

TEST(G5_copies_between_devices, pass_through_two_blocks_of_the_host_in_pieces) {
    auto random = seeded_random();
    for (const bool has_pinned : {true, false}) {
        fake_pair fakes(false);
        for (const auto& each : fakes.drivers) each->log->has_pinned = has_pinned;
        constexpr std::size_t n = 7 * runtime::device_state::copy_piece / (2 * sizeof(std::uint64_t));
        std::vector<std::uint64_t> host(n);
        std::iota(host.begin(), host.end(), random());
        auto from = fakes.a.mixed_buffer<std::uint64_t>(n);
        auto to = fakes.b.mixed_buffer<std::uint64_t>(n);
        from.write(host);
        user_event go;
        const event copied = from.copy_to(to, go);
        EXPECT_FALSE(copied.is_complete());
        go.complete();
        EXPECT_EQ(to.read(copied), std::span<const std::uint64_t>(host));
        const auto& commands = fakes.drivers[0]->log->commands;
        EXPECT_EQ(std::count_if(commands.begin(), commands.end(),
                                [](const fake_command& each) { return each.what == "read"; }),
                  4);
        EXPECT_EQ(fakes.drivers[0]->log->live_pinned, has_pinned ? 2 : 0);
        EXPECT_FALSE(fakes.has(1, "copy from another device"));
        copy_much(fakes.a, fakes.b, random);
        fakes.a.finish();
        fakes.b.finish();
        fakes.a.trim();
        EXPECT_EQ(fakes.drivers[0]->log->live_pinned, 0) << "no copy is in flight";
    }
}

}  // namespace balm::test
