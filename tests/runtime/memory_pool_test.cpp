// The pool of device memory: what it keeps, what it counts, and that a new owner's commands come after those
// of the one before.

#include "runtime/memory/memory_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "balm/device.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "runtime/devices.hpp"
#include "runtime/fake_device.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

TEST(C20_pool, rounds_sizes_up_by_little) {
    using runtime::memory_pool;
    EXPECT_EQ(memory_pool::block_bytes(0), 64u);
    auto random = seeded_random();
    for (int turn = 0; turn < 100'000; ++turn) {
        const std::size_t bytes = 1 + (random() >> (random() % 40 + 24));
        const std::size_t block = memory_pool::block_bytes(bytes);
        ASSERT_GE(block, bytes);
        ASSERT_EQ(block % 64, 0u) << bytes;
        ASSERT_EQ(memory_pool::block_bytes(block), block) << bytes;
        ASSERT_LE(block - bytes, std::max<std::size_t>(63, std::min(bytes / 8, std::size_t{8} << 20)))
            << bytes;
    }
    const std::size_t gigabyte = std::size_t{1} << 30;
    EXPECT_LE(memory_pool::block_bytes(37 * gigabyte + 1) - 37 * gigabyte, std::size_t{2} << 20);
}

TEST(C20_pool, serves_the_next_buffer_of_the_size_and_counts) {
    const auto fake = std::make_shared<fake_device>();
    {
        const device dev(runtime::device_state::make(fake));
        const std::size_t block = runtime::memory_pool::block_bytes(4000);
        { const auto a = dev.mixed_buffer<float>(1000), b = dev.mixed_buffer<float>(1000); }
        memory_statistics now = dev.memory();
        EXPECT_EQ(now.in_use, 0u);
        EXPECT_EQ(now.cached, 2 * block);
        EXPECT_EQ(now.high_water, 2 * block);
        EXPECT_EQ(now.requests, 2u);
        EXPECT_EQ(now.driver_allocations, 2u);
        dev.reset_high_water();
        {
            const auto c = dev.mixed_buffer<float>(999);
            const auto other = dev.mixed_buffer<float>(10);
            now = dev.memory();
            EXPECT_EQ(now.in_use, block + 64);
            EXPECT_EQ(now.cached, block);
            EXPECT_EQ(now.high_water, block + 64);
            EXPECT_EQ(now.driver_allocations, 3u);
        }
        EXPECT_EQ(dev.trim(block + 64), block);
        EXPECT_EQ(dev.memory().cached, block + 64);
        EXPECT_EQ(fake->log->live_allocations, 2);
        dev.set_memory_cache(100);
        EXPECT_EQ(dev.memory().cached, 64u);
        EXPECT_EQ(dev.trim(), 64u);
        EXPECT_EQ(fake->log->live_allocations, 0);
        { const auto a = dev.mixed_buffer<float>(1000); }
        EXPECT_EQ(dev.memory().cached, 0u) << "larger than what may be kept";
        { const auto a = dev.mixed_buffer<char>(64), b = dev.mixed_buffer<char>(64); }
        EXPECT_EQ(dev.memory().cached, 64u);
        dev.set_memory_cache(1000);
        auto a = dev.mixed_buffer<char>(64);
        a.free();
        EXPECT_EQ(dev.memory().cached, 64u);
    }
    EXPECT_EQ(fake->log->live_allocations, 0) << "the device gives back what it keeps";
}

TEST(C20_pool, is_emptied_before_memory_is_out) {
    const auto fake = std::make_shared<fake_device>();
    fake->log->room = 1 << 20;
    const device dev(runtime::device_state::make(fake));
    dev.set_memory_cache(1 << 20);
    for (std::size_t k = 1; k <= 8; ++k) dev.mixed_buffer<char>(k * 50'000);
    const auto large = dev.mixed_buffer<char>(900'000);
    EXPECT_EQ(dev.memory().cached, 0u);
    EXPECT_THROW(dev.mixed_buffer<char>(900'000), out_of_memory_error);
    EXPECT_EQ(fake->log->live_allocations, 1);
}

TEST(C20_pool, has_other_queues_wait_for_the_last_owner) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(runtime::device_state::make(fake));
    const balm::queue other = dev.make_queue();
    fake->log->events_complete_at_once = false;
    {
        auto a = dev.mixed_buffer<float>(100);
        const event written = a.fill(1);
    }
    auto b = dev.mixed_buffer<float>(100);
    EXPECT_EQ(dev.memory().driver_allocations, 1u);
    event filled;
    const float two = 2;
    other.state()->enqueue_fill(*b.storage(), 0, 400, std::as_bytes(std::span(&two, 1)), {}, &filled);
    EXPECT_EQ(fake->log->waits_of_last(), 1u) << "the fill of what was there before";
    fake->log->complete_all();
    // Once they are known to be over nobody waits.
    dev.finish();
    { const auto gone = std::move(b); }
    auto c = dev.mixed_buffer<float>(100);
    EXPECT_EQ(dev.memory().driver_allocations, 1u);
    other.state()->enqueue_fill(*c.storage(), 0, 400, std::as_bytes(std::span(&two, 1)), {}, &filled);
    EXPECT_EQ(fake->log->waits_of_last(), 0u);
    fake->log->complete_all();
}

TEST(C20_pool, keeps_what_threads_and_queues_compute_apart) {
    on_every_handle([](const device& on) {
        auto work = [&on](std::uint64_t seed, std::string& fault) {
            std::mt19937_64 random(seed);
            balm::queue mine = on.make_queue();
            for (int turn = 0; turn < 200 && fault.empty(); ++turn) {
                const std::size_t n = 1000 + random() % 50;
                auto a = on.mixed_buffer<std::uint32_t>(n), b = on.mixed_buffer<std::uint32_t>(n);
                const auto value = static_cast<std::uint32_t>(random());
                const bool on_mine = random() % 2 == 0;
                event done;
                if (on_mine)
                    mine.state()->enqueue_fill(*a.storage(), 0, 4 * n, std::as_bytes(std::span(&value, 1)),
                                               {}, &done);
                else
                    done = a.fill(value);
                if (random() % 3 == 0) continue;  // dropped while it is written
                const event copied = a.copy_to(b);
                if (random() % 2 == 0) a.free();
                const auto got = b.read(copied);
                if (std::any_of(got.begin(), got.end(), [&](std::uint32_t each) { return each != value; }))
                    fault = "elements of another buffer were read";
            }
        };
        std::vector<std::string> faults(8);
        std::vector<std::thread> threads;
        auto random = seeded_random();
        for (std::string& fault : faults) threads.emplace_back(work, random(), std::ref(fault));
        for (std::thread& each : threads) each.join();
        for (const std::string& fault : faults) EXPECT_EQ(fault, "");
        EXPECT_GT(on.memory().requests, on.memory().driver_allocations);
    });
}

}  // namespace

}  // namespace balm::test
