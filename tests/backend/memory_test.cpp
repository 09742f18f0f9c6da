// Memory and queues of every backend: what is written is read, copies and fills touch their range only.

#include <algorithm>
#include <array>
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

namespace {

/// The rows of a box, copied on the host.
void copy_rows(std::byte* to, const runtime::region_layout& to_layout, const std::byte* from,
               const runtime::region_layout& from_layout, const runtime::region_extent& size) {
    for (std::size_t plane = 0; plane < size.planes; ++plane)
        for (std::size_t row = 0; row < size.rows; ++row)
            std::memcpy(
                to + to_layout.offset + plane * to_layout.plane_pitch + row * to_layout.row_pitch,
                from + from_layout.offset + plane * from_layout.plane_pitch + row * from_layout.row_pitch,
                size.row_bytes);
}

}  // namespace

TEST(C14_backend, writes_reads_and_copies_boxes_of_any_pitch) {
    auto random = fresh_random();
    on_every_device([&](driver_device& device) {
        const std::size_t bytes = 20'000;
        const auto queue = device.make_queue({});
        const device_memory first(device, bytes), second(device, bytes);
        for (int turn = 0; turn < 50; ++turn) {
            const runtime::region_extent size{1 + random() % 40, 1 + random() % 9, 1 + random() % 5};
            const auto layout = [&] {
                const std::size_t row = size.row_bytes + random() % 20;
                const std::size_t plane = row * (size.rows + random() % 4);
                return runtime::region_layout{random() % 3000, row, plane};
            };
            const runtime::region_layout host = layout(), one = layout(), two = layout();
            auto source = random_bytes(random, bytes), a = random_bytes(random, bytes),
                 b = random_bytes(random, bytes), back = random_bytes(random, bytes);
            auto expected = back;
            queue->write(first.get(), 0, a.data(), bytes, {});
            queue->write(second.get(), 0, b.data(), bytes, {});
            queue->write_region(first.get(), one, source.data(), host, size, {});
            queue->copy_region(second.get(), two, first.get(), one, size, {});
            queue->read_region(back.data(), host, second.get(), two, size, {});
            queue->finish();
            copy_rows(a.data(), one, source.data(), host, size);
            copy_rows(b.data(), two, a.data(), one, size);
            copy_rows(expected.data(), host, b.data(), two, size);
            ASSERT_EQ(read_all(*queue, first.get(), bytes), a);
            ASSERT_EQ(read_all(*queue, second.get(), bytes), b);
            ASSERT_EQ(back, expected);
        }
        // Within one allocation: a column to its neighbour.
        auto host = random_bytes(random, bytes);
        queue->write(first.get(), 0, host.data(), bytes, {});
        const runtime::region_layout from{3, 100, 1000}, to{7, 100, 1000};
        queue->copy_region(first.get(), to, first.get(), from, {4, 10, 3}, {});
        copy_rows(host.data(), to, host.data(), from, {4, 10, 3});
        EXPECT_EQ(read_all(*queue, first.get(), bytes), host);
    });
}

TEST(C14_backend, takes_rows_that_lie_gigabytes_apart) {
    on_every_device([](driver_device& device) {
        const std::size_t pitch = (std::size_t{5} << 30) / 2;  // beyond CUDA's largest pitch
        if (device.info().max_allocation < pitch + 8 || device.info().type == device_type::cpu) return;
        const auto queue = device.make_queue({});
        const device_memory memory(device, pitch + 8);
        const std::array<std::uint32_t, 2> host{0x01020304, 0x05060708};
        const runtime::region_layout apart{4, pitch, 2 * pitch}, behind{0, 4, 8};
        queue->write_region(memory.get(), apart, host.data(), behind, {4, 2, 1}, {});
        std::array<std::uint32_t, 2> back{};
        queue->read_region(back.data(), behind, memory.get(), apart, {4, 2, 1}, {});
        queue->finish();
        EXPECT_EQ(back, host);
    });
}

TEST(C14_backend, transfers_from_and_to_pinned_memory) {
    auto random = fresh_random();
    on_every_device([&](driver_device& device) {
        const std::size_t bytes = 1 << 20;
        const auto queue = device.make_queue({});
        const device_memory memory(device, bytes);
        const runtime::pinned_memory from = device.allocate_pinned(bytes), to = device.allocate_pinned(bytes);
        const auto host = random_bytes(random, bytes);
        std::memcpy(from.address, host.data(), bytes);
        std::memset(to.address, 0, bytes);
        queue->write(memory.get(), 0, from.address, bytes, {});
        queue->read(to.address, memory.get(), 0, bytes, {});
        queue->finish();
        EXPECT_EQ(std::memcmp(to.address, host.data(), bytes), 0);
        device.free_pinned(from);
        device.free_pinned(to);
        EXPECT_THROW(device.allocate_pinned(std::size_t{1} << 60), out_of_memory_error);
    });
}

TEST(C14_backend, maps_memory_where_it_says_so) {
    auto random = fresh_random();
    on_every_device([&](driver_device& device) {
        if (!device.maps_memory()) return;
        const std::size_t bytes = 5000;
        const auto queue = device.make_queue({});
        const device_memory memory(device, bytes);
        auto host = random_bytes(random, bytes);
        queue->write(memory.get(), 0, host.data(), bytes, {});
        const auto map = [&](std::size_t offset, std::size_t count, runtime::map_use how) {
            runtime::event_handle done;
            void* const address = queue->map(memory.get(), offset, count, how, {{}, &done});
            done->wait();
            return static_cast<std::byte*>(address);
        };
        std::byte* const seen = map(100, 1000, runtime::map_use::read);
        EXPECT_TRUE(std::equal(seen, seen + 1000, host.begin() + 100));
        queue->unmap(memory.get(), seen, {});
        std::byte* const written = map(7, 30, runtime::map_use::write);
        written[3] = host[10] = std::byte{0xab};
        queue->unmap(memory.get(), written, {});
        std::byte* const replaced = map(2000, 100, runtime::map_use::overwrite);
        std::memset(replaced, 0x5a, 100);
        std::memset(host.data() + 2000, 0x5a, 100);
        queue->unmap(memory.get(), replaced, {});
        EXPECT_EQ(read_all(*queue, memory.get(), bytes), host);
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
