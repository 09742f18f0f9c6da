// Buffers: what goes in comes out, in the buffer's shape; what does not fit is refused; memory given away
// or staged lives long enough.

#include "balm/buffer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <numeric>
#include <random>
#include <thread>

#include "balm/error.hpp"
#include "null_driver/device.hpp"
#include "runtime/devices.hpp"
#include "runtime/fake_device.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

template <class T>
std::vector<T> fresh_numbers(std::size_t n) {
    std::mt19937_64 random = fresh_random();
    std::vector<T> numbers(n);
    for (T& each : numbers) each = static_cast<T>(random() % 1000);
    return numbers;
}

template <class B>
concept host_can_write = requires(B b, std::span<const typename B::value_type> s) {
    b.write(s);
};
template <class B>
concept host_can_read = requires(const B& b) {
    b.read();
};

}  // namespace

TEST(C3_buffers, refuse_use_against_their_direction_at_compile_time) {
    static_assert(host_can_write<in_buffer<float>> && !host_can_read<in_buffer<float>>);
    static_assert(!host_can_write<out_buffer<float>> && host_can_read<out_buffer<float>>);
    static_assert(host_can_write<mixed_buffer<float>> && host_can_read<mixed_buffer<float>>);
    static_assert(in_buffer<int>::kernels_may_read && !in_buffer<int>::kernels_may_write);
    static_assert(!out_buffer<int>::kernels_may_read && out_buffer<int>::kernels_may_write);
}

TEST(C4_transfers, bring_back_what_was_written) {
    on_every_handle([](const device& dev) {
        const std::size_t n = 100'003;
        auto a = dev.mixed_buffer<float>(n);
        const auto host = fresh_numbers<float>(n);
        const event written = a.write(host);
        EXPECT_EQ(a.read(written), host);
    });
}

TEST(C4_transfers, read_back_in_the_buffers_shape) {
    on_every_handle([](const device& dev) {
        auto a = dev.in_buffer<int>(2, 3);
        auto b = dev.out_buffer<int>(3, 2);
        a.write({1, 2, 3, 4, 5, 6});
        a.copy_to(b);
        const host_array<int> got = b.read();
        EXPECT_EQ(got.shape(), shape(3, 2));
        EXPECT_EQ(got(2, 0), 5);
        EXPECT_EQ(to_string(got.shape()), "3 x 2");
    });
}

TEST(C4_transfers, take_any_host_memory) {
    on_every_handle([](const device& dev) {
        auto a = dev.mixed_buffer<std::int16_t>(4);
        const std::vector<std::int16_t> kept{1, 2, 3, 4};
        a.write(kept);
        EXPECT_EQ(a.read(), kept);
        a.write(std::vector<std::int16_t>{5, 6, 7, 8});
        EXPECT_EQ(a.read(), (std::vector<std::int16_t>{5, 6, 7, 8}));
        host_array<std::int16_t> array(shape(2, 2));
        std::iota(array.begin(), array.end(), std::int16_t{9});
        a.write(array);
        EXPECT_EQ(a.read()[3], 12);
        a.write(std::move(array));
        EXPECT_EQ(a.read()[0], 9);
        const std::array<std::int16_t, 4> fixed{3, 1, 4, 1};
        a.write(std::span<const std::int16_t>(fixed));
        EXPECT_EQ(a.read(), fixed);
        std::array<std::int16_t, 4> into{};
        a.read_into(into);
        EXPECT_EQ(into, fixed);
    });
}

TEST(C4_transfers, keep_booleans_as_bytes) {
    on_every_handle([](const device& dev) {
        auto a = dev.mixed_buffer<bool>(5);
        a.write({true, false, true, true, false});
        EXPECT_EQ(a.size_bytes(), 5u);
        EXPECT_EQ(a.read(), (host_array<bool>{true, false, true, true, false}));
        a.fill(true);
        EXPECT_EQ(a.read(), (host_array<bool>{true, true, true, true, true}));
    });
}

// NVIDIA's OpenCL takes the low 32 bits of the size.
TEST(C4_transfers, fill_more_than_four_gibibytes_on_gpus) {
    on_every_handle([](const device& on) {
        const std::size_t n = (std::size_t{on.info().type == device_type::cpu ? 1u : 4u} << 30) + 64;
        if (on.info().global_memory < 2 * n) return;
        auto b = on.mixed_buffer<std::uint8_t>(n);
        b.fill(std::uint8_t{1});
        b.fill(std::uint8_t{3});
        const std::size_t tested = 16;
        for (const std::size_t from :
             {std::size_t{0}, (n >> 1) - 8, (std::size_t{1} << 30) - 8, n - tested}) {
            std::vector<std::uint8_t> some(tested);
            b.range(from, from + tested).read_into(some);
            EXPECT_EQ(some, std::vector<std::uint8_t>(tested, 3)) << from;
        }
    });
}

TEST(C4_transfers, fill_with_elements_of_any_size) {
    struct particle {
        double position[3];
        bool operator==(const particle&) const = default;
    };
    on_every_handle([](const device& dev) {
        auto doubles = dev.mixed_buffer<double>(1001);
        doubles.fill(2.5);
        EXPECT_EQ(doubles.read(), std::vector<double>(1001, 2.5));
        auto complex = dev.mixed_buffer<std::complex<double>>(17);
        complex.fill({1, -1});
        EXPECT_EQ(complex.read(), std::vector<std::complex<double>>(17, {1, -1}));
        auto particles = dev.out_buffer<particle>(33);
        particles.fill({{1, 2, 3}});
        EXPECT_EQ(particles.read()[32], (particle{{1, 2, 3}}));
    });
}

TEST(C4_transfers, may_have_no_elements) {
    on_every_handle([](const device& dev) {
        auto a = dev.mixed_buffer<float>(0), b = dev.mixed_buffer<float>(0, 7);
        const event written = a.write(std::vector<float>{});
        a.fill(1.f, written);
        a.copy_to(b);
        EXPECT_TRUE(b.read().empty());
        EXPECT_TRUE(written.is_complete());
    });
}

TEST(C4_transfers, leave_spans_free_for_reuse) {
    on_every_handle([](const device& dev) {
        // Below and above the size up to which bytes are copied aside.
        for (const std::size_t n : {std::size_t{1000}, std::size_t{3} << 20}) {
            auto a = dev.mixed_buffer<std::uint32_t>(n);
            std::vector<std::uint32_t> host(n, 1);
            const event written = a.write(std::span<const std::uint32_t>(host));
            std::fill(host.begin(), host.end(), 2u);
            EXPECT_EQ(a.read(written), std::vector<std::uint32_t>(n, 1));
        }
    });
}

TEST(C4_transfers, run_while_the_program_goes_on) {
    on_every_handle([](const device& dev) {
        auto a = dev.mixed_buffer<double>(100, 100);
        const auto host = fresh_numbers<double>(10'000);
        std::vector<pending_read<double>> later;
        for (int i = 0; i < 20; ++i) {
            const event written = a.write(host);
            later.push_back(a.read_async(written));
        }
        { const auto dropped = a.read_async(); }
        for (auto& each : later) EXPECT_EQ(each.get(), host);
    });
}

TEST(C4_transfers, copy_between_devices) {
    const std::vector<device> all = all_handles();
    const auto host = fresh_numbers<int>(5000);
    for (const device& from : all)
        for (const device& to : all) {
            auto a = from.in_buffer<int>(5000);
            auto b = to.out_buffer<int>(50, 100);
            const event written = a.write(host);
            const event copied = a.copy_to(b, written);
            EXPECT_EQ(b.read(copied), host);
        }
}

TEST(C4_transfers, name_both_sizes_where_they_differ) {
    const device dev(runtime::device_state::make(null::make_null_device(runtime::dialect::opencl_c)));
    auto a = dev.mixed_buffer<float>(2, 3), b = dev.mixed_buffer<float>(7);
    const auto message = [](auto&& body) {
        try {
            body();
        } catch (const usage_error& fault) {
            return std::string(fault.what());
        }
        return std::string("nothing was thrown");
    };
    const std::string text = message([&] { a.write(std::vector<float>(5)); });
    EXPECT_THAT(text, HasSubstr("write of 5 elements"));
    EXPECT_THAT(text, HasSubstr("6 elements (2 x 3)"));
    EXPECT_THAT(message([&] { a.write({1, 2}); }), HasSubstr("write of 2 elements"));
    EXPECT_THAT(message([&] {
                    std::vector<float> to(1);
                    a.read_into(to);
                }),
                HasSubstr("read of 1 elements"));
    EXPECT_THAT(message([&] { a.copy_to(b); }), HasSubstr("copy of 6 elements"));
    EXPECT_NO_THROW(a.write(std::vector<float>(6)));
}

TEST(C20_buffers, are_freed_with_the_last_handle_and_their_memory_counted) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(runtime::device_state::make(fake));
    {
        auto a = dev.mixed_buffer<float>(100);
        const auto copy = a;
        EXPECT_EQ(a.storage(), copy.storage());
        EXPECT_EQ(a.device(), dev);
        EXPECT_EQ(fake->log->live_allocations, 1);
        EXPECT_EQ(dev.state()->allocated_bytes(), 448u) << "400 bytes, rounded up for wide loads";
    }
    EXPECT_EQ(dev.state()->allocated_bytes(), 0u);
    EXPECT_EQ(dev.trim(), 448u);
    EXPECT_EQ(fake->log->live_allocations, 0);
}

TEST(C20_buffers, keep_their_device) {
    const auto fake = std::make_shared<fake_device>();
    auto dev = std::make_unique<device>(runtime::device_state::make(fake));
    auto a = dev->mixed_buffer<int>(3);
    dev.reset();
    a.write({1, 2, 3});
    EXPECT_EQ(a.read(), (host_array<int>{1, 2, 3}));
}

TEST(C20_buffers, name_the_largest_when_memory_is_out) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(runtime::device_state::make(fake));
    fake->log->room = 1 << 20;
    auto small = dev.mixed_buffer<char>(10, 10), large = dev.mixed_buffer<char>(900, 1000);
    try {
        dev.mixed_buffer<double>(1'000'000);
        FAIL() << "nothing was thrown";
    } catch (const out_of_memory_error& fault) {
        const std::string text = fault.what();
        EXPECT_THAT(text, HasSubstr("8000000 bytes"));
        EXPECT_THAT(text, HasSubstr("1000000 elements of 8 bytes"));
        EXPECT_THAT(text, HasSubstr("The driver said no."));
        EXPECT_LT(text.find("900 x 1000"), text.find("10 x 10"));
    }
    EXPECT_THROW(dev.mixed_buffer<int>(-1), usage_error);
    EXPECT_THROW(dev.mixed_buffer<char>(-1), usage_error);
    EXPECT_THROW(dev.mixed_buffer<int>(1ull << 40, 1ull << 40), usage_error);
}

TEST(C4_transfers, use_memory_that_is_given_away_without_copying_until_it_has_been_read) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(runtime::device_state::make(fake));
    auto a = dev.mixed_buffer<int>(3);
    fake->log->events_complete_at_once = false;
    auto owner = std::make_shared<std::vector<int>>(3, 7);
    const std::weak_ptr<std::vector<int>> alive = owner;
    const int* const elements = owner->data();
    event written;
    dev.state()->default_queue().enqueue_write(*a.storage(), 0, elements, 12, std::move(owner), {}, &written);
    EXPECT_FALSE(alive.expired());
    fake->log->complete_all();
    EXPECT_TRUE(written.is_complete());
    dev.finish();
    EXPECT_TRUE(alive.expired());
}

TEST(C22_buffers, are_written_and_read_by_many_threads_at_once) {
    on_every_handle([](const device& dev) {
        std::vector<std::thread> threads;
        for (int t = 0; t < 8; ++t)
            threads.emplace_back([&dev, t] {
                auto a = dev.mixed_buffer<int>(1000), b = dev.mixed_buffer<int>(1000);
                for (int turn = 0; turn < 50; ++turn) {
                    const event written = a.write(std::vector<int>(1000, t * 1000 + turn));
                    const event copied = a.copy_to(b, written);
                    EXPECT_EQ(b.read(copied), std::vector<int>(1000, t * 1000 + turn));
                }
            });
        for (std::thread& each : threads) each.join();
    });
}

}  // namespace balm::test
