// Images as memory: transfers of whole images and regions against host arrays that are treated the same; what
// is refused, what is counted, and when they are freed.

#include "balm/image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "balm/device.hpp"
#include "balm/error.hpp"
#include "null_driver/device.hpp"
#include "runtime/devices.hpp"
#include "runtime/fake_device.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::AllOf;
using testing::HasSubstr;

device fake_handle(std::shared_ptr<fake_log>& log) {
    const auto driver = std::make_shared<fake_device>();
    log = driver->log;
    return device(runtime::device_state::make(driver));
}

std::size_t between(std::mt19937_64& random, std::size_t least, std::size_t most) {
    return least + random() % (most - least + 1);
}

shape shape_of(int dimensions, const std::array<std::size_t, 3>& sizes) {
    return dimensions == 1   ? shape(sizes[0])
           : dimensions == 2 ? shape(sizes[0], sizes[1])
                             : shape(sizes[0], sizes[1], sizes[2]);
}

shape random_shape(int dimensions, std::mt19937_64& random) {
    return shape_of(dimensions, {between(random, 1, 13), between(random, 1, 11), between(random, 1, 9)});
}

template <class T>
host_array<T> random_elements(const shape& extents, std::mt19937_64& random) {
    host_array<T> made(extents);
    for (T& each : made)
        for (std::size_t k = 0; k < sizeof(T); ++k)
            reinterpret_cast<std::uint8_t*>(&each)[k] = static_cast<std::uint8_t>(random() % 100);  // no NaN
    return made;
}

struct box {
    shape origin, extents;
};
box random_box(const shape& within, const shape& extents, std::mt19937_64& random) {
    std::array<std::size_t, 3> origin{};
    for (int d = 0; d < within.dimensions(); ++d)
        origin[static_cast<std::size_t>(d)] = between(random, 0, within[d] - extents[d]);
    return {shape_of(within.dimensions(), origin), extents};
}
shape smaller(const shape& than, std::mt19937_64& random) {
    std::array<std::size_t, 3> sizes{1, 1, 1};
    for (int d = 0; d < than.dimensions(); ++d)
        sizes[static_cast<std::size_t>(d)] = between(random, 1, than[d]);
    return shape_of(than.dimensions(), sizes);
}

/// Element (i, j, k) of a box, counted from the first of the array, whatever the number of dimensions.
template <class T>
T& element(host_array<T>& of, const shape& at, std::size_t flat_in_box, const shape& extents) {
    std::size_t rest = flat_in_box, index = 0, stride = 1;
    for (int d = extents.dimensions() - 1; d >= 0; --d) {
        index += (at[d] + rest % extents[d]) * stride;
        rest /= extents[d];
        stride *= of.shape()[d];
    }
    return of[index];
}

template <class T>
host_array<T> part(host_array<T>& of, const box& b) {
    host_array<T> taken(b.extents);
    for (std::size_t i = 0; i < taken.size(); ++i) taken[i] = element(of, b.origin, i, b.extents);
    return taken;
}
template <class T>
void put(host_array<T>& into, const box& b, const host_array<T>& from) {
    for (std::size_t i = 0; i < from.size(); ++i) element(into, b.origin, i, b.extents) = from[i];
}

/// Random transfers between an image, another one, a buffer and the host, beside host arrays.
template <class T, int N>
void compare_transfers(const device& on, std::mt19937_64& random) {
    const shape extents = random_shape(N, random);
    auto a = on.image<T, N>(extents), b = on.image<T, N>(extents);
    auto buffer = on.mixed_buffer<T>(extents);
    host_array<T> in_a = random_elements<T>(extents, random), in_b = in_a, in_buffer = in_a;
    a.write(std::span<const T>(in_a));
    a.copy_to(b);
    event copied = a.copy_to(buffer);
    for (int step = 0; step < 25; ++step) {
        const shape size = smaller(extents, random);
        const box from = random_box(extents, size, random), to = random_box(extents, size, random);
        switch (random() % 7) {
            case 0: {
                const auto written = random_elements<T>(size, random);
                copied = a.region(to.origin, to.extents).write(std::span<const T>(written), copied);
                put(in_a, to, written);
                break;
            }
            case 1:  // they may overlap
                copied = a.region(from.origin, size).copy_to(a.region(to.origin, size), copied);
                put(in_a, to, part(in_a, from));
                break;
            case 2:
                copied = b.region(from.origin, size).copy_to(a.region(to.origin, size));
                put(in_a, to, part(in_b, from));
                break;
            case 3:
                copied = buffer.region(from.origin, size).copy_to(b.region(to.origin, size), copied);
                put(in_b, to, part(in_buffer, from));
                break;
            case 4:
                copied = a.region(from.origin, size).copy_to(buffer.region(to.origin, size));
                put(in_buffer, to, part(in_a, from));
                break;
            case 5: {
                const auto value = random_elements<T>(shape(1), random);
                copied = b.region(to.origin, size).fill(value[0], copied);
                host_array<T> all(size);
                for (T& each : all) each = value[0];
                put(in_b, to, all);
                break;
            }
            default: {
                auto later = a.region(from.origin, size).read_async();
                EXPECT_EQ(b.region(from.origin, size).read(), part(in_b, from));
                EXPECT_EQ(later.get(), part(in_a, from));
            }
        }
    }
    EXPECT_EQ(a.read(), in_a);
    EXPECT_EQ(b.read(copied), in_b);
    EXPECT_EQ(buffer.read(), in_buffer);
    buffer.copy_to(a);
    EXPECT_EQ(a.read(), in_buffer);
}

template <int N>
void compare_transfers_of_elements(const device& on) {
    auto random = seeded_random();
    for (int round = 0; round < 4; ++round) {
        compare_transfers<float, N>(on, random);
        compare_transfers<float4, N>(on, random);
        compare_transfers<std::uint8_t, N>(on, random);
        compare_transfers<uchar4, N>(on, random);
        compare_transfers<std::int16_t, N>(on, random);
    }
}

}  // namespace

TEST(G3_images, of_1_dimension_are_transferred_like_host_arrays) {
    on_every_handle(compare_transfers_of_elements<1>);
}
TEST(G3_images, of_2_dimensions_are_transferred_like_host_arrays) {
    on_every_handle(compare_transfers_of_elements<2>);
}
TEST(G3_images, of_3_dimensions_are_transferred_like_host_arrays) {
    on_every_handle(compare_transfers_of_elements<3>);
}

TEST(G3_images, are_transferred_like_host_arrays_by_any_driver) {
    std::shared_ptr<fake_log> log;
    const device on = fake_handle(log);
    compare_transfers_of_elements<1>(on);
    compare_transfers_of_elements<2>(on);
    compare_transfers_of_elements<3>(on);
}

TEST(G3_images, are_copied_into_images_of_other_shapes_and_fractions) {
    on_every_handle([](const device& on) {
        auto random = seeded_random();
        const auto given = random_elements<uchar4>(shape(6, 10), random);
        auto a = on.image<uchar4>(6, 10);
        a.write(std::span<const uchar4>(given));
        auto line = on.image<uchar4>(60);
        a.copy_to(line);
        EXPECT_EQ(line.read(), std::span<const uchar4>(given));
        auto fractions = on.image<normalised<uchar4>>(3, 4, 5);
        line.copy_to(fractions);
        const host_array<uchar4> got = fractions.read();
        EXPECT_EQ(got.shape(), shape(3, 4, 5));
        EXPECT_EQ(got, std::span<const uchar4>(given));
    });
}

TEST(G3_images, are_copied_between_devices) {
    std::shared_ptr<fake_log> first, second;
    const device a = fake_handle(first), b = fake_handle(second);
    auto from = a.image<float>(4, 8);
    auto to = b.image<float>(4, 8);
    auto random = seeded_random();
    const auto given = random_elements<float>(shape(4, 8), random);
    from.write(std::span<const float>(given));
    from.copy_to(to);
    EXPECT_EQ(to.read(), given);
}

TEST(G3_images, take_every_kind_of_host_memory) {
    on_every_handle([](const device& on) {
        auto image = on.image<float>(2, 3);
        image.write({1, 2, 3, 4, 5, 6});
        auto pinned = on.pinned_array<float>(6);
        image.read_into(pinned).wait();
        EXPECT_EQ(pinned[5], 6.f);
        std::vector<float> moved{6, 5, 4, 3, 2, 1};
        event done = image.write(std::move(moved));
        std::vector<float> got(6);
        image.read_into(std::span<float>(got), done);
        EXPECT_EQ(got, (std::vector<float>{6, 5, 4, 3, 2, 1}));
        EXPECT_EQ(size_on_device(image), 24u);
        EXPECT_EQ(image.device(), on);
    });
}

TEST(G3_images, check_sizes_before_anything_is_sent) {
    std::shared_ptr<fake_log> log;
    const device on = fake_handle(log);
    auto image = on.image<float>(4, 8);
    EXPECT_THAT(message_of<usage_error>([&] { image.write(std::vector<float>(31)); }),
                AllOf(HasSubstr("31 elements"), HasSubstr("an image of 32 elements (4 x 8)")));
    EXPECT_THAT(message_of<usage_error>([&] { image.region({1, 1}, {4, 4}); }), HasSubstr("must lie inside"));
    EXPECT_THAT(message_of<usage_error>([&] { image.region({1}, {4}); }),
                HasSubstr("same number of dimensions"));
    EXPECT_THAT(message_of<usage_error>([&] { image.copy_to(on.image<float>(4, 7)); }),
                HasSubstr("28 elements"));
    const std::lock_guard lock(log->mutex);
    EXPECT_TRUE(log->commands.empty());
}

TEST(G3_images, refuse_what_the_device_has_not) {
    std::shared_ptr<fake_log> log;
    const device on = fake_handle(log);
    EXPECT_THAT(message_of<usage_error>([&] { on.image<float>(65); }), HasSubstr("a width of 1 to 64"));
    EXPECT_THAT(message_of<usage_error>([&] { on.image<float>(33, 64); }), HasSubstr("a height of 1 to 32"));
    EXPECT_THAT(message_of<usage_error>([&] { on.image<float>(17, 1, 1); }), HasSubstr("a depth of 1 to 16"));
    EXPECT_THAT(message_of<usage_error>([&] { on.image<float>(3, 0); }), HasSubstr("3 x 0"));
    EXPECT_THAT(message_of<usage_error>([&] { on.image<char2>(3, 3); }),
                HasSubstr("images of 2 dimensions whose elements are 2 signed integers of 8 bits"));
    EXPECT_THAT(message_of<usage_error>([&] { on.image<normalised<std::int8_t>>(3); }),
                HasSubstr("1 signed normalised integers"));
    EXPECT_THAT(message_of<usage_error>([&] { (on.image<float, 2>(shape(3))); }),
                AllOf(HasSubstr("2 dimensions"), HasSubstr("which has 1")));
    const device none(runtime::device_state::make(null::make_null_device(runtime::dialect::opencl_c)));
    EXPECT_THAT(message_of<usage_error>([&] { none.image<float>(3); }), HasSubstr("balm::filter::images"));
    EXPECT_EQ(log->live_images, 0);
}

TEST(G3_images, are_as_large_as_the_device_says) {
    on_every_handle([](const device& on) {
        const image_limits& most = on.info().images;
        auto image = on.image<uchar4>(1, most.size_2d[0]);
        image.fill({1, 2, 3, 4});
        const auto got = image.read();
        EXPECT_EQ(got[most.size_2d[0] - 1], (uchar4{1, 2, 3, 4}));
        EXPECT_EQ(on.image<float4>(most.size_1d).width(), most.size_1d);
        EXPECT_THROW(on.image<uchar4>(1, most.size_2d[0] + 1), usage_error);
        EXPECT_THROW(on.image<uchar4>(most.size_1d + 1), usage_error);
    });
}

TEST(G3_images, are_counted_and_named_like_buffers) {
    std::shared_ptr<fake_log> log;
    const device on = fake_handle(log);
    {
        const auto image = on.image<float4>(8, 16);
        EXPECT_EQ(on.memory().in_use, 8u * 16 * 16);
        log->room = 100;
        EXPECT_THAT(message_of<out_of_memory_error>([&] { on.image<float>(32, 32); }),
                    AllOf(HasSubstr("4096 bytes (an image of 32 x 32 elements of 4 bytes)"),
                          HasSubstr("an image of 8 x 16 elements of 16 bytes")));
    }
    EXPECT_EQ(on.memory().in_use, 0u);
    EXPECT_EQ(on.memory().cached, 0u);
    EXPECT_EQ(on.memory().high_water, 8u * 16 * 16);
}

TEST(G3_images, that_are_gone_are_freed_once_no_command_uses_them) {
    std::shared_ptr<fake_log> log;
    const device on = fake_handle(log);
    log->events_complete_at_once = false;
    {
        auto image = on.image<float>(4);
        const event kept = image.write({1, 2, 3, 4});
    }
    EXPECT_EQ(on.trim(), 0u);
    EXPECT_EQ(log->live_images, 1);  // the device still writes it
    log->complete_all();
    on.trim();
    log->complete_all();  // the point that trim asked for
    on.trim();
    EXPECT_EQ(log->live_images, 0);
}

TEST(G3_images, are_freed_to_make_room) {
    std::shared_ptr<fake_log> log;
    const device on = fake_handle(log);
    log->room = 9000;
    for (int k = 0; k < 20; ++k) {
        auto image = on.image<float>(32, 32);  // 4096 bytes, and as many to fill them
        image.fill(static_cast<float>(k));
    }
    on.trim();
    EXPECT_EQ(log->live_images, 0);
}

TEST(G3_images, do_not_leak) {
    on_every_handle([](const device& on) {
        const std::size_t before = on.memory().in_use;
        for (int k = 0; k < 10'000; ++k) {
            auto image = on.image<float4>(16, 16);
            if (k % 100 == 0) image.fill({1, 2, 3, 4});
        }
        EXPECT_EQ(on.memory().in_use, before);
    });
    std::shared_ptr<fake_log> log;
    {
        const device on = fake_handle(log);
        for (int k = 0; k < 100; ++k) {
            auto image = on.image<float4>(16, 16);
            image.fill({1, 2, 3, 4});
        }
        EXPECT_LE(log->live_images, 2);
    }
    EXPECT_EQ(log->live_images, 0);
    EXPECT_EQ(log->live_allocations, 0);
}

TEST(G3_images, freed_by_hand_or_with_their_device_are_refused) {
    on_every_handle([](const device& on) {
        auto image = on.image<float>(4, 4);
        const auto handle = image;
        image.fill(1.f);
        image.free();
        image.free();
        EXPECT_THAT(message_of<usage_error>([&] { handle.read(); }), HasSubstr("freed by free()"));
    });
    std::shared_ptr<fake_log> log;
    const device on = fake_handle(log);
    auto image = on.image<float>(4, 4);
    image.fill(1.f);
    on.free();
    EXPECT_EQ(log->live_images, 0);
    EXPECT_THROW(image.read(), usage_error);
    EXPECT_THROW(on.image<float>(4), usage_error);
}

}  // namespace balm::test
