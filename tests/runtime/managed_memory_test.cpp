// Memory under one address for host and device: against host arithmetic, on every device that has it; and
// what the others say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "balm/balm.hpp"
#include "null_driver/device.hpp"
#include "runtime/devices.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

bool has_managed_memory(const device& of) {
    const shared_virtual_memory_support& has = of.info().shared_virtual_memory;
    return has.allocations && (of.info().api != backend::cuda || has.at_once);
}

template <class Body>
void on_devices_with_managed_memory(Body&& body) {
    bool any = false;
    on_all_devices([&](const device& each) {
        if (!has_managed_memory(each)) return;
        any = true;
        body(each);
    });
    if (!any) GTEST_SKIP() << "no device with managed memory";
}

const auto& increase() {
    static const auto made =
        kernel<1>("increase(x, by)", [](Mixed<int> x, Int by) { x[global_id(0)] += by; });
    return made;
}

}  // namespace

TEST(V19_managed_memory, host_and_device_take_turns_in_place) {
    auto random = seeded_random();
    on_devices_with_managed_memory([&](const device& dev) {
        for (int turn = 0; turn < 5; ++turn) {
            const std::size_t n = 1 + random() % 5000;
            std::vector<int> host(n);
            managed_array<int> m = dev.managed_array<int>(n);
            ASSERT_NE(m.address(), nullptr);
            {
                auto view = m.map_to_overwrite();
                EXPECT_EQ(view.data(), m.address());
                for (std::size_t i = 0; i < n; ++i) view[i] = host[i] = static_cast<int>(random() % 1000);
            }
            queue other = dev.make_queue();
            for (int step = 0; step < 6; ++step) {
                const int by = static_cast<int>(random() % 100);
                const event done = (step % 2 == 0 ? dev.queue() : other).execute(increase()(m, by), {n});
                const std::size_t first = random() % n, last = first + 1 + random() % (n - first);
                auto view = m.range(first, last).map();  // waits for the kernel
                ASSERT_EQ(view.data(), m.address() + first);
                for (int& each : host) each += by;
                for (std::size_t i = first; i < last; ++i) {
                    ASSERT_EQ(view[i - first], host[i]) << i;
                    view[i - first] = host[i] = -host[i];
                }
            }
            const auto got = m.read();
            ASSERT_TRUE(std::equal(got.begin(), got.end(), host.begin()));
        }
    });
}

TEST(V19_managed_memory, has_one_address_for_host_and_device) {
    const auto follow = source_kernel<1, void(Mixed<std::int64_t>)>(
        "follow", "kernel void follow(global long* x) { x[1] = (long)x; x[2] = *(global long*)x[0]; }");
    on_devices_with_managed_memory([&](const device& dev) {
        auto m = dev.managed_array<std::int64_t>(100);
        {
            auto view = m.map();
            view[0] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(m.address() + 42));
            view[42] = 4711;
        }
        dev.execute(follow(m), {1});
        const auto view = m.map_to_read();
        EXPECT_EQ(view[1], static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(m.address())));
        EXPECT_EQ(view[2], 4711);
    });
}

TEST(V19_managed_memory, is_used_wherever_a_buffer_is) {
    auto random = seeded_random();
    on_devices_with_managed_memory([&](const device& dev) {
        const std::size_t rows = 1 + random() % 20, columns = 2 + random() % 50, n = rows * columns;
        std::vector<int> host(n);
        for (int& each : host) each = static_cast<int>(random() % 1000);
        auto m = dev.managed_array<int>(rows, columns);
        auto plain = dev.mixed_buffer<int>(n);
        m.write(host);
        dev.execute(scale()(2, m, plain), {n});                      // In
        dev.execute(scale()(3, plain, m), {n});                      // Out
        dev.execute(scale()(5, m.range(0, n / 2), plain), {n / 2});  // a part
        m.range(0, n / 2).copy_to(plain.range(0, n / 2));
        const auto copied = plain.read();
        for (std::size_t i = 0; i < n; ++i)
            ASSERT_EQ(copied[i], i < n / 2 ? 3 * (2 * host[i] + 1) + 1 : 2 * host[i] + 1);
        m.region({0, 1}, {rows, 1}).fill(9);
        EXPECT_EQ(m.read()[columns + 1 < n ? columns + 1 : 1], 9);
        device_pointer<int> pointer(m.from(1));
        pointer.range(1).write({5});
        vector<int> x = as_vector(m);
        x = x + 1;
        const auto view = m.map_to_read();
        EXPECT_EQ(view[1], 6);
        EXPECT_EQ(sum(x), std::accumulate(view.begin(), view.end(), 0));
    });
}

TEST(V19_managed_memory, is_the_hosts_alone_while_it_is_mapped) {
    on_devices_with_managed_memory([&](const device& dev) {
        auto m = dev.managed_array<std::uint32_t>(64);
        m.fill(1u);
        const auto program = program_of(dev, slow_source, "slow");
        queue other = dev.make_queue();
        const event slow = launch_slow(*other.state(), *program, *m.storage(), 200'000);
        auto view = m.map();
        EXPECT_TRUE(slow.is_complete());
        EXPECT_EQ(view[63], slow_on_host(1, 200'000));
        EXPECT_THAT(usage_message_of([&] { m.fill(2u); }), HasSubstr("is mapped by the host"));
        EXPECT_THAT(usage_message_of([&] { m.free(); }), HasSubstr("mapped"));
        view.release();
        m.fill(2u);
        const auto seen = m.map_to_read();
        EXPECT_EQ(m.read()[0], 2u) << "to read, both may";
        EXPECT_EQ(seen[0], 2u);
    });
}

TEST(V19_managed_memory, counts_and_goes_when_its_commands_are_done) {
    on_devices_with_managed_memory([&](const device& dev) {
        dev.finish();
        const memory_statistics before = dev.memory();
        {
            auto m = dev.managed_array<double>(1000);
            EXPECT_GE(dev.memory().in_use, before.in_use + 8000);
            EXPECT_GE(dev.memory().high_water, before.in_use + 8000);
            EXPECT_EQ(dev.memory().requests, before.requests + 1);
        }
        EXPECT_EQ(dev.memory().in_use, before.in_use);
        EXPECT_EQ(dev.memory().cached, before.cached) << "it goes to no pool";
        const auto program = program_of(dev, slow_source, "slow");
        queue other = dev.make_queue();
        event slow;
        for (int k = 0; k < 50; ++k) {
            auto m = dev.managed_array<std::uint32_t>(64);
            m.fill(1u);
            slow = launch_slow(k % 2 ? *other.state() : dev.state()->default_queue(), *program, *m.storage(),
                               5000);
        }
        EXPECT_TRUE(slow.is_complete()) << "the memory waits for what uses it";
        auto freed = dev.managed_array<int>(4);
        freed.free();
        EXPECT_EQ(dev.memory().in_use, before.in_use);
        EXPECT_THAT(usage_message_of([&] { freed.map(); }), HasSubstr("was freed"));
        EXPECT_THROW(dev.managed_array<char>(std::size_t{1} << 50), out_of_memory_error);
        dev.managed_array<int>(4).fill(1);  // goes on
    });
}

TEST(V19_managed_memory, is_refused_by_devices_without_it) {
    const device null(runtime::device_state::make(null::make_null_device(runtime::dialect::opencl_c)));
    EXPECT_THAT(usage_message_of([&] { null.managed_array<int>(4); }),
                testing::AllOf(HasSubstr("device 'null'"), HasSubstr("use a buffer and map it")));
    on_all_devices([](const device& dev) {
        if (has_managed_memory(dev)) return;
        EXPECT_THAT(usage_message_of([&] { dev.managed_array<int>(4); }), HasSubstr("shared_virtual_memory"));
    });
}

}  // namespace balm::test
