// Memory and queues of every backend: what is written is read, copies and fills touch their range only.

#include <algorithm>
#include <thread>

#include "balm/error.hpp"
#include "devices.hpp"

namespace balm::test {

namespace {

using runtime::driver_device;
using runtime::driver_queue;

std::vector<std::byte> read_all(driver_queue& queue, runtime::memory from, std::size_t bytes) {
    std::vector<std::byte> host(bytes);
    queue.read(host.data(), from, 0, bytes, {});
    queue.finish();
    return host;
}

}  // namespace

TEST(C14_backend, reads_what_was_written_at_any_offset) {
    auto random = fresh_random();
    on_every_device([&](driver_device& device) {
        const std::size_t bytes = 4099;
        const auto queue = device.make_queue({});
        const device_memory buffer(device, bytes);
        auto expected = random_bytes(random, bytes);
        queue->write(buffer.get(), 0, expected.data(), bytes, {});
        for (const std::size_t offset : {1, 7, 64, 1000, 4000}) {
            const auto part = random_bytes(random, 99);
            queue->write(buffer.get(), offset, part.data(), part.size(), {});
            queue->finish();
            std::copy(part.begin(), part.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
            std::vector<std::byte> back(part.size());
            queue->read(back.data(), buffer.get(), offset, back.size(), {});
            queue->finish();
            EXPECT_EQ(back, part) << "at offset " << offset;
        }
        EXPECT_EQ(read_all(*queue, buffer.get(), bytes), expected);
    });
}

TEST(C14_backend, copies_between_and_within_buffers) {
    auto random = fresh_random();
    on_every_device([&](driver_device& device) {
        const std::size_t bytes = 2048;
        const auto queue = device.make_queue({});
        const device_memory from(device, bytes), to(device, bytes);
        const auto source = random_bytes(random, bytes);
        auto expected = random_bytes(random, bytes);
        queue->write(from.get(), 0, source.data(), bytes, {});
        queue->write(to.get(), 0, expected.data(), bytes, {});
        queue->copy(to.get(), 13, from.get(), 501, 700, {});
        std::copy_n(source.begin() + 501, 700, expected.begin() + 13);
        queue->copy(to.get(), 1500, to.get(), 20, 300, {});
        std::copy_n(expected.begin() + 20, 300, expected.begin() + 1500);
        EXPECT_EQ(read_all(*queue, to.get(), bytes), expected);
    });
}

TEST(C14_backend, fills_with_patterns_of_every_size_at_every_offset) {
    auto random = fresh_random();
    on_every_device([&](driver_device& device) {
        const std::size_t bytes = 1 << 12;
        const auto queue = device.make_queue({});
        const device_memory buffer(device, bytes);
        for (const std::size_t size : {1, 2, 4, 8, 16}) {
            for (const std::size_t first : {0, 1, 3, 10}) {
                for (const std::size_t count : {1, 2, 3, 5, 64, 100, 177}) {
                    for (const bool uniform : {false, true}) {
                        auto pattern = random_bytes(random, size);
                        if (uniform) std::fill(pattern.begin(), pattern.end(), pattern[0]);
                        auto expected = random_bytes(random, bytes);
                        queue->write(buffer.get(), 0, expected.data(), bytes, {});
                        queue->fill(buffer.get(), first * size, count * size, pattern, {});
                        for (std::size_t i = 0; i < count * size; ++i)
                            expected[first * size + i] = pattern[i % size];
                        ASSERT_EQ(read_all(*queue, buffer.get(), bytes), expected)
                            << "pattern of " << size << ", first " << first << ", count " << count;
                    }
                }
            }
        }
    });
}

TEST(C14_backend, fills_large_ranges) {
    on_every_device([&](driver_device& device) {
        const std::size_t count = (std::size_t{5} << 20) + 3;
        const auto queue = device.make_queue({});
        const device_memory buffer(device, count * 8);
        const std::uint64_t word = 0x0123456789abcdefULL;
        queue->fill(buffer.get(), 0, count * 8, std::as_bytes(std::span(&word, 1)), {});
        std::vector<std::uint64_t> host(count);
        queue->read(host.data(), buffer.get(), 0, count * 8, {});
        queue->finish();
        EXPECT_EQ(static_cast<std::size_t>(std::count(host.begin(), host.end(), word)), count);
    });
}

TEST(C14_backend, says_how_much_was_asked_when_memory_runs_out) {
    on_every_device([&](driver_device& device) {
        const std::size_t bytes = std::size_t{1} << 50;
        try {
            device.free(device.allocate(bytes));
            FAIL() << "a petabyte was given";
        } catch (const out_of_memory_error& fault) {
            const std::string text = fault.what();
            EXPECT_NE(text.find(std::to_string(bytes)), text.npos) << text;
            EXPECT_NE(text.find(device.info().name), text.npos) << text;
        }
    });
}

TEST(C14_backend, many_threads_may_use_a_device_first) {
    on_every_device([&](driver_device& device) {
        std::vector<std::thread> threads;
        std::vector<std::uint32_t> back(8);
        for (std::uint32_t i = 0; i < back.size(); ++i)
            threads.emplace_back([&, i] {
                const auto queue = device.make_queue({});
                const device_memory buffer(device, 4);
                queue->fill(buffer.get(), 0, 4, std::as_bytes(std::span(&i, 1)), {});
                queue->read(&back[i], buffer.get(), 0, 4, {});
                queue->finish();
            });
        for (std::thread& thread : threads) thread.join();
        for (std::uint32_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], i);
    });
}

TEST(C14_backend, gives_the_drivers_own_handles) {
    on_every_device([&](driver_device& device) {
        const auto queue = device.make_queue({});
        EXPECT_NE(queue->native(), nullptr);
        EXPECT_NE(device.native_context(), nullptr);
        EXPECT_EQ(device.native_context(), device.native_context());
    });
}

TEST(C14_backend, knows_the_device) {
    on_every_device([&](driver_device& device) {
        const device_info& info = device.info();
        EXPECT_FALSE(info.name.empty());
        EXPECT_FALSE(info.platform.empty());
        EXPECT_FALSE(info.driver_version.empty());
        EXPECT_GT(info.global_memory, 0u);
        EXPECT_GT(info.max_allocation, 0u);
        EXPECT_GT(info.local_memory, 0u);
        EXPECT_GT(info.compute_units, 0u);
        EXPECT_GT(info.max_work_group_size, 0u);
        EXPECT_GT(info.max_work_item_sizes[0], 0u);
        EXPECT_GT(info.max_group_counts[0], 0u);
        EXPECT_TRUE(info.address_bits == 32 || info.address_bits == 64);
        EXPECT_FALSE(device.compile_options().empty());
    });
}

}  // namespace balm::test
