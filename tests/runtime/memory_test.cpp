// Memory of the device and of the host: parts of buffers, against host arrays that are treated the same;
// pinned memory, mapping, freeing, pointers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <complex>
#include <fstream>
#include <list>
#include <numeric>
#include <random>
#include <thread>

#include "balm/device.hpp"
#include "balm/error.hpp"
#include "null_driver/device.hpp"
#include "runtime/devices.hpp"
#include "runtime/fake_device.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct interval {
    std::size_t first, last;
    std::size_t size() const { return last - first; }
};
interval random_interval(std::mt19937_64& random, std::size_t n) {
    const std::size_t a = below(random, n + 1), b = below(random, n + 1);
    return {std::min(a, b), std::max(a, b)};
}

/// Three bytes: a size that no driver fills by itself, at addresses of no alignment.
struct rgb {
    std::uint8_t r = 0, g = 0, b = 0;
    rgb() = default;
    explicit rgb(std::uint64_t x)
        : r(static_cast<std::uint8_t>(x)),
          g(static_cast<std::uint8_t>(x >> 1)),
          b(static_cast<std::uint8_t>(x >> 2)) {}
    bool operator==(const rgb&) const = default;
};

/// Random transfers of random ranges; what the device holds is what two host arrays hold.
template <class T>
void compare_ranges(const device& dev, std::mt19937_64& random) {
    const std::size_t n = 1 + below(random, 300);
    mixed_buffer<T> buffers[] = {dev.mixed_buffer<T>(n), dev.mixed_buffer<T>(n)};
    std::vector<T> hosts[] = {random_numbers<T>(random, n), random_numbers<T>(random, n)};
    for (int k = 0; k < 2; ++k) buffers[k].write(hosts[k]);
    const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    for (int turn = 0; turn < 60; ++turn) {
        const std::size_t which = below(random, 2);
        auto& buffer = buffers[which];
        auto& host = hosts[which];
        const interval part = random_interval(random, n);
        switch (below(random, 5)) {
            case 0: {
                const auto values = random_numbers<T>(random, part.size());
                buffer.range(part.first, part.last).write(values);
                std::copy(values.begin(), values.end(), host.begin() + at(part.first));
                break;
            }
            case 1: {
                const auto got = buffer.range(part.first, part.last).read();
                ASSERT_TRUE(std::equal(got.begin(), got.end(), host.begin() + at(part.first),
                                       host.begin() + at(part.last)));
                break;
            }
            case 2: {
                const T value = static_cast<T>(random() % 1000);
                buffer.range(part.first, part.last).fill(value);
                std::fill(host.begin() + at(part.first), host.begin() + at(part.last), value);
                break;
            }
            default: {
                const std::size_t to = below(random, 2), start = below(random, n - part.size() + 1);
                const event copied = buffer.range(part.first, part.last)
                                         .copy_to(buffers[to].range(start, start + part.size()));
                const std::vector<T> moved(host.begin() + at(part.first), host.begin() + at(part.last));
                std::copy(moved.begin(), moved.end(), hosts[to].begin() + at(start));
            }
        }
    }
    for (int k = 0; k < 2; ++k) ASSERT_EQ(buffers[k].read(), std::span<const T>(hosts[k]));
}

device null_handle() {
    return device(runtime::device_state::make(null::make_null_device(runtime::dialect::opencl_c)));
}

}  // namespace

TEST(C5_ranges, hold_what_the_same_ranges_of_host_arrays_hold) {
    auto random = seeded_random();
    on_every_handle([&](const device& dev) {
        for (int turn = 0; turn < 8; ++turn) {
            compare_ranges<float>(dev, random);
            compare_ranges<std::uint8_t>(dev, random);
            compare_ranges<double>(dev, random);
            compare_ranges<rgb>(dev, random);
        }
    });
}

TEST(C5_ranges, may_be_open_at_either_end_and_taken_of_ranges) {
    on_every_handle([](const device& dev) {
        auto a = dev.mixed_buffer<int>(2, 5);
        a.write({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
        EXPECT_THAT(a.from(7).read(), ElementsAre(7, 8, 9));
        EXPECT_THAT(a.until(2).read(), ElementsAre(0, 1));
        EXPECT_THAT(a.range(2, 8).from(1).until(3).read(), ElementsAre(3, 4, 5));
        EXPECT_EQ(a.range(2, 8).shape(), shape(6));
        EXPECT_TRUE(a.range(10, 10).read().empty());
        a.from(8).write({80, 90});
        EXPECT_THAT(a.from(7).read(), ElementsAre(7, 80, 90));
        const auto kept = [&] { return dev.mixed_buffer<int>(4).until(2); }();
        auto part = kept;
        part.write({5, 6});
        EXPECT_THAT(kept.read(), ElementsAre(5, 6)) << "a range keeps its buffer";
    });
}

TEST(C5_ranges, are_transferred_while_the_program_goes_on_and_wait_for_events) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(runtime::device_state::make(fake));
    auto a = dev.mixed_buffer<int>(8), b = dev.mixed_buffer<int>(8);
    a.write({0, 1, 2, 3, 4, 5, 6, 7});
    auto elsewhere = dev.mixed_buffer<int>(1);
    balm::queue other = dev.make_queue();
    fake->log->events_complete_at_once = false;
    const auto command = [&] {
        event made;
        other.state()->enqueue_fill(*elsewhere.storage(), 0, 4, std::as_bytes(std::span("\0", 1)), {}, &made);
        return made;
    };
    const event before = command();
    const auto waits = [&] { return fake->log->waits_of_last(); };
    const event written = a.range(1, 3).write({10, 20}, before);
    EXPECT_EQ(waits(), 1u);
    const event later = command();
    const event copied = a.range(1, 3).copy_to(b.until(2), later, written);
    EXPECT_EQ(waits(), 1u) << "the queue's own command needs no waiting";
    const event latest = command();
    const event filled = b.from(4).fill(9, latest);
    EXPECT_EQ(waits(), 1u);
    const event last = command();
    auto read = b.range(0, 5).read_async(last);
    EXPECT_EQ(waits(), 1u);
    EXPECT_FALSE(copied.is_complete());
    fake->log->complete_all();
    const auto got = read.get();
    EXPECT_EQ(got[0], 10);
    EXPECT_EQ(got[1], 20);
    EXPECT_EQ(got[4], 9);
}

TEST(C5_ranges, leave_host_memory_free_for_reuse) {
    on_every_handle([](const device& dev) {
        for (const std::size_t n : {std::size_t{100}, std::size_t{1100}}) {  // copied aside, and sent at once
            auto m = dev.mixed_buffer<std::uint32_t>(n + 3, n + 5);
            std::vector<std::uint32_t> host(n * n, 1);
            const event written = m.region({1, 2}, {n, n}).write(host);
            std::fill(host.begin(), host.end(), 2u);
            const auto got = m.region({1, 2}, {n, n}).read(written);
            EXPECT_EQ(got, std::vector<std::uint32_t>(n * n, 1));
        }
    });
}

TEST(C5_ranges, are_filled_beyond_the_first_two_gigabytes) {
    on_every_handle([](const device& dev) {
        constexpr std::size_t far = std::size_t{1} << 31;
        if (dev.info().max_allocation < far + (std::size_t{64} << 20)) return;
        auto a = dev.mixed_buffer<std::uint8_t>(far + (std::size_t{40} << 20));
        auto part = a.range(far - 100, far + (std::size_t{36} << 20));  // more than one block
        part.fill(std::uint8_t{7});
        a.range(far - 200, far - 100).fill(std::uint8_t{1});
        const auto got = part.read();
        EXPECT_EQ(std::count(got.begin(), got.end(), std::uint8_t{7}),
                  static_cast<std::ptrdiff_t>(got.size()));
        EXPECT_EQ(a.range(far - 101, far - 99).read(), (std::vector<std::uint8_t>{1, 7}));
    });
}

TEST(C5_ranges, are_filled_with_elements_that_are_larger_than_their_alignment) {
    on_every_handle([](const device& dev) {
        auto a = dev.mixed_buffer<float>(9);
        a.fill(0);
        a.range(1, 7).as<std::complex<float>>().fill({1, 2});
        EXPECT_THAT(a.read(), ElementsAre(0, 1, 2, 1, 2, 1, 2, 0, 0));
        struct three {
            float x, y, z;
        };
        a.range(2, 8).as<three>().fill({7, 8, 9});
        EXPECT_THAT(a.read(), ElementsAre(0, 1, 7, 8, 9, 7, 8, 9, 0));
    });
}

TEST(C5_ranges, name_both_sizes_before_anything_is_sent) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(runtime::device_state::make(fake));
    auto a = dev.mixed_buffer<float>(2, 3), b = dev.mixed_buffer<float>(2);
    EXPECT_THAT(usage_message_of([&] { a.range(2, 9); }),
                HasSubstr("range [2, 9) does not fit a buffer of 6 elements (2 x 3)"));
    EXPECT_THAT(usage_message_of([&] { a.range(4, 3); }), HasSubstr("[4, 3)"));
    EXPECT_THAT(usage_message_of([&] { a.from(7); }), HasSubstr("[7, 6)"));
    EXPECT_THAT(usage_message_of([&] { a.range(1, 5).until(5); }), HasSubstr("a range of 4 elements"));
    EXPECT_THAT(usage_message_of([&] {
                    a.range(1, 4).write({1, 2});
                }),
                HasSubstr("write of 2 elements does not fit a range of 3 elements"));
    EXPECT_THAT(usage_message_of([&] { a.range(1, 4).copy_to(b); }),
                HasSubstr("copy of 3 elements does not fit a buffer of 2 elements"));
    EXPECT_THAT(usage_message_of([&] {
                    std::array<float, 5> to{};
                    a.until(2).read_into(to);
                }),
                HasSubstr("read of 5 elements does not fit a range of 2"));
    EXPECT_THAT(usage_message_of([&] { a.from(1).reshaped({2, 2}); }), HasSubstr("5 elements"));
    EXPECT_TRUE(fake->log->commands.empty());
}

// ---- regions ----

namespace {

struct part_of_array {
    shape origin, extents;
};
part_of_array random_part(std::mt19937_64& random, const shape& within, const shape* extents = nullptr) {
    std::array<std::size_t, 3> origin{}, size{};
    for (int d = 0; d < within.dimensions(); ++d) {
        const auto k = static_cast<std::size_t>(d);
        size[k] = extents ? (*extents)[d] : 1 + below(random, within[d]);
        origin[k] = below(random, within[d] - size[k] + 1);
    }
    if (within.dimensions() == 1) return {shape(origin[0]), shape(size[0])};
    if (within.dimensions() == 2) return {shape(origin[0], origin[1]), shape(size[0], size[1])};
    return {shape(origin[0], origin[1], origin[2]), shape(size[0], size[1], size[2])};
}

/// Where the elements of a part_of_array lie in an array of the shape, in the part_of_array's order.
std::vector<std::size_t> places_of(const part_of_array& of, const shape& within) {
    const auto three = [](const shape& s, std::size_t missing) {
        const int d = s.dimensions();
        return std::array{d > 2 ? s[0] : missing, d > 1 ? s[d - 2] : missing, s[d - 1]};
    };
    const auto origin = three(of.origin, 0), size = three(of.extents, 1), whole = three(within, 1);
    std::vector<std::size_t> places;
    for (std::size_t z = 0; z < size[0]; ++z)
        for (std::size_t y = 0; y < size[1]; ++y)
            for (std::size_t x = 0; x < size[2]; ++x)
                places.push_back(((origin[0] + z) * whole[1] + origin[1] + y) * whole[2] + origin[2] + x);
    return places;
}

template <class T>
void compare_regions(const device& dev, const device& second, const shape& extents, std::mt19937_64& random) {
    const std::size_t header = below(random, 7);  // so that rows do not begin at multiples of the pitch
    mixed_buffer<T> buffers[] = {dev.mixed_buffer<T>(header + extents.count()),
                                 second.mixed_buffer<T>(header + extents.count())};
    std::vector<T> hosts[2];
    std::vector<buffer_range<T, access::mixed>> views;
    for (std::size_t k = 0; k < 2; ++k) {
        hosts[k] = random_numbers<T>(random, extents.count());
        views.push_back(buffers[k].from(header).reshaped(extents));
        views[k].write(hosts[k]);
    }
    for (int turn = 0; turn < 40; ++turn) {
        const std::size_t which = below(random, 2);
        auto& host = hosts[which];
        const part_of_array part = random_part(random, extents);
        const auto places = places_of(part, extents);
        auto region = views[which].region(part.origin, part.extents);
        switch (below(random, 6)) {
            case 0: {
                const auto values = random_numbers<T>(random, places.size());
                region.write(values);
                for (std::size_t i = 0; i < places.size(); ++i) host[places[i]] = values[i];
                break;
            }
            case 1: {
                const host_array<T> got = region.read();
                ASSERT_EQ(got.shape(), part.extents);
                for (std::size_t i = 0; i < places.size(); ++i) ASSERT_EQ(got[i], host[places[i]]);
                const host_array<T> later = region.read_async().get();
                ASSERT_EQ(later, got);
                break;
            }
            case 2: {
                const T value = static_cast<T>(random() % 1000);
                region.fill(value);
                for (const std::size_t place : places) host[place] = value;
                break;
            }
            case 3: {  // to a part_of_array of other extents, with neighbouring elements only
                const std::size_t to = below(random, 2), n = places.size();
                const std::size_t start = below(random, extents.count() - n + 1);
                const event copied = region.copy_to(views[to].range(start, start + n));
                std::vector<T> moved;
                for (const std::size_t place : places) moved.push_back(host[place]);
                std::copy(moved.begin(), moved.end(), hosts[to].begin() + static_cast<std::ptrdiff_t>(start));
                break;
            }
            default: {
                const std::size_t to = below(random, 2);
                const part_of_array target = random_part(random, extents, &part.extents);
                const event copied = region.copy_to(views[to].region(target.origin, target.extents));
                std::vector<T> moved;
                for (const std::size_t place : places) moved.push_back(host[place]);
                const auto into = places_of(target, extents);
                for (std::size_t i = 0; i < into.size(); ++i) hosts[to][into[i]] = moved[i];
            }
        }
    }
    for (std::size_t k = 0; k < 2; ++k) ASSERT_EQ(views[k].read(), std::span<const T>(hosts[k]));
}

}  // namespace

TEST(C5_regions, hold_what_the_same_boxes_of_host_arrays_hold) {
    auto random = seeded_random();
    on_every_handle([&](const device& dev) {
        for (int turn = 0; turn < 6; ++turn) {
            compare_regions<float>(dev, dev, shape(1 + below(random, 40)), random);
            compare_regions<float>(dev, dev, shape(1 + below(random, 20), 1 + below(random, 20)), random);
            compare_regions<rgb>(dev, dev, shape(1 + below(random, 9), 1 + below(random, 17)), random);
            compare_regions<std::int16_t>(
                dev, dev, shape(1 + below(random, 7), 1 + below(random, 8), 1 + below(random, 9)), random);
        }
    });
}

TEST(C5_regions, are_copied_between_devices) {
    auto random = seeded_random();
    const device fake(runtime::device_state::make(std::make_shared<fake_device>()));
    on_every_handle([&](const device& dev) {
        compare_regions<float>(dev, fake, shape(9, 11), random);
        compare_regions<double>(fake, dev, shape(4, 5, 6), random);
    });
}

TEST(C5_regions, are_rows_columns_and_tiles) {
    on_every_handle([](const device& dev) {
        auto m = dev.mixed_buffer<int>(3, 4);
        m.write({0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
        EXPECT_THAT(m.region({0, 1}, {3, 1}).read(), ElementsAre(1, 11, 21));
        EXPECT_THAT(m.region({1, 0}, {1, 4}).read(), ElementsAre(10, 11, 12, 13));
        const host_array<int> tile = m.region({1, 2}, {2, 2}).read();
        EXPECT_EQ(tile.shape(), shape(2, 2));
        EXPECT_EQ(tile(1, 0), 22);
        // A column becomes a row's beginning: other extents, and both in one buffer.
        m.region({0, 3}, {3, 1}).copy_to(m.region({0, 0}, {1, 3}));
        EXPECT_THAT(m.region({0, 0}, {1, 4}).read(), ElementsAre(3, 13, 23, 3));
        m.region({0, 0}, {2, 2}).fill(7);
        EXPECT_THAT(m.read(), ElementsAre(7, 7, 23, 3, 7, 7, 12, 13, 20, 21, 22, 23));
    });
}

TEST(C5_regions, must_lie_inside_and_have_the_dimensions) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(runtime::device_state::make(fake));
    auto m = dev.mixed_buffer<int>(3, 4);
    EXPECT_THAT(usage_message_of([&] {
                    m.region({1, 2}, {2, 3});
                }),
                AllOf(HasSubstr("2 x 3 elements at (1 x 2)"), HasSubstr("a buffer of 3 x 4 elements")));
    EXPECT_THAT(usage_message_of([&] { m.region({4, 0}, {0, 1}); }), HasSubstr("must lie inside"));
    EXPECT_THAT(usage_message_of([&] { m.region({0}, {3}); }), HasSubstr("same number of dimensions"));
    EXPECT_THAT(usage_message_of([&] {
                    m.region({0, 0}, {static_cast<std::size_t>(-1), 1});
                }),
                HasSubstr("negative"));
    EXPECT_THAT(usage_message_of([&] {
                    m.region({0, 0}, {2, 2}).write({1, 2, 3});
                }),
                HasSubstr("write of 3 elements does not fit a region of 4 elements (2 x 2)"));
    EXPECT_TRUE(m.region({1, 1}, {0, 2}).read().empty());
    EXPECT_TRUE(fake->log->commands.empty());
}

// ---- the host's side ----

TEST(C4_host_memory, may_be_any_range_and_any_iterators) {
    on_every_handle([](const device& dev) {
        auto a = dev.mixed_buffer<std::int64_t>(4);
        const std::list<long long> list{1, 2, 3, 4};
        a.write(list);
        EXPECT_THAT(a.read(), ElementsAre(1, 2, 3, 4));
        const std::vector<std::int64_t> more{9, 8, 7, 6, 5};
        a.write(more.begin() + 1, more.end());
        EXPECT_THAT(a.read(), ElementsAre(8, 7, 6, 5));
        a.write(more.data(), more.data() + 4, event{});
        EXPECT_THAT(a.read(), ElementsAre(9, 8, 7, 6));
        a.write(list.begin(), list.end());
        const std::int64_t fixed[] = {4, 3, 2, 1};
        a.until(3).write(std::next(list.begin()), list.end());
        EXPECT_THAT(a.read(), ElementsAre(2, 3, 4, 4));
        a.write(fixed);
        std::list<std::int64_t> into(4);
        a.read_into(into.begin(), into.end());
        EXPECT_THAT(into, ElementsAre(4, 3, 2, 1));
        std::array<std::int64_t, 2> two{};
        a.from(2).read_into(two);
        EXPECT_THAT(two, ElementsAre(2, 1));
        auto bits = dev.mixed_buffer<bool>(3);
        bits.write(std::vector<bool>{true, false, true});
        EXPECT_THAT(bits.read(), ElementsAre(true, false, true));
        EXPECT_THAT(usage_message_of([&] { a.write(std::list<std::int64_t>(5)); }),
                    HasSubstr("write of 5 elements"));
        EXPECT_THAT(usage_message_of([&] { a.write(std::list<std::int64_t>(3)); }),
                    HasSubstr("write of 3 elements"));
        EXPECT_THAT(usage_message_of([&] { a.read_into(into.begin(), std::next(into.begin())); }),
                    HasSubstr("read of 1 elements"));
    });
}

TEST(C3_values, are_buffers_of_one_element) {
    on_every_handle([](const device& dev) {
        auto a = dev.in_buffer<float>();
        auto b = dev.out_buffer<float>();
        auto c = dev.mixed_buffer<int>();
        const event written = a.write(2.5f);
        a.copy_to(b, written);
        const float got = b.read();
        EXPECT_EQ(got, 2.5f);
        c.write(7);
        c.fill(9);
        EXPECT_EQ(c.read(), 9);
        EXPECT_EQ(c.shape(), shape(1));
        static_assert(std::is_same_v<decltype(b.read()), float>);
    });
}

TEST(C6_sizes, are_those_of_the_elements_on_the_device) {
    const device dev = null_handle();
    EXPECT_EQ(dev.in_buffer<double>(3, 5).size_bytes(), 120u);
    EXPECT_EQ(dev.mixed_buffer<std::int16_t>(9).range(2, 7).size_bytes(), 10u);
    EXPECT_EQ(size_on_device(dev.mixed_buffer<float>(8, 8).region({0, 0}, {2, 3})), 24u);
    EXPECT_EQ(size_on_device(host_array<double>(shape(2, 3))), 48u);
    EXPECT_EQ(size_on_device(std::vector<bool>(9)), 9u);
    EXPECT_EQ(size_on_device(std::list<int>(3)), 12u);
    EXPECT_EQ(size_on_device(std::vector<rgb>(5)), 15u);
    const float fixed[3] = {};
    EXPECT_EQ(size_on_device(fixed), 12u);
    EXPECT_EQ(size_on_device(1.5), 8u);
    EXPECT_EQ(size_on_device(dev.pinned_array<int>(4)), 16u);
}

// ---- pinned memory ----

TEST(C4_pinned, brings_elements_there_and_back) {
    auto random = seeded_random();
    on_every_handle([&](const device& dev) {
        for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{3} << 20}) {
            auto a = dev.mixed_buffer<std::uint32_t>(n);
            const pinned_array<std::uint32_t> in = dev.pinned_array<std::uint32_t>(n),
                                              out = dev.pinned_array<std::uint32_t>(n);
            for (std::uint32_t& each : in) each = static_cast<std::uint32_t>(random());
            const event written = a.write(in);
            const event read = a.read_into(out, written);
            read.wait();
            EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin(), out.end()));
            EXPECT_EQ(a.read(), std::span<const std::uint32_t>(in));
            // A span of pinned memory is memory like other.
            std::fill(out.begin(), out.end(), 5u);
            a.read_into(std::span<std::uint32_t>(out));
            EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin()));
        }
    });
}

TEST(C4_pinned, has_parts_and_a_shape) {
    const std::vector<device> all = all_handles();
    for (const device& pinned_on : all)
        for (const device& dev : all) {
            auto p = pinned_on.pinned_array<int>(2, 4);
            std::iota(p.begin(), p.end(), 0);
            auto a = dev.mixed_buffer<int>(5);
            a.write(p.from(3));
            EXPECT_THAT(a.read(), ElementsAre(3, 4, 5, 6, 7));
            a.range(1, 3).read_into(p.until(2));
            EXPECT_THAT(std::vector<int>(p.begin(), p.end()), ElementsAre(4, 5, 2, 3, 4, 5, 6, 7));
            auto m = dev.mixed_buffer<int>(4, 4);
            m.fill(0);
            m.region({0, 2}, {4, 2}).write(p);
            EXPECT_THAT(m.region({1, 0}, {1, 4}).read(), ElementsAre(0, 0, 2, 3));
            m.region({2, 2}, {2, 2}).read_into(p.range(4, 8));
            EXPECT_THAT(std::vector<int>(p.begin(), p.end()), ElementsAre(4, 5, 2, 3, 4, 5, 6, 7));
            EXPECT_EQ(p.shape(), shape(2, 4));
            EXPECT_THAT(usage_message_of([&] { p.range(3, 9); }),
                        HasSubstr("[3, 9) does not fit a pinned array"));
            EXPECT_THAT(usage_message_of([&] { a.write(p); }), HasSubstr("write of 8 elements"));
            EXPECT_TRUE(pinned_on.pinned_array<int>(0).empty());
        }
}

TEST(C4_pinned, is_used_in_place_and_kept_until_transfers_are_done) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(runtime::device_state::make(fake));
    auto a = dev.mixed_buffer<int>(3);
    fake->log->events_complete_at_once = false;
    event written, read;
    {
        const auto p = dev.pinned_array<int>(3), q = dev.pinned_array<int>(3);
        std::iota(p.begin(), p.end(), 1);
        written = a.write(p);
        read = a.read_into(q);
        EXPECT_FALSE(read.is_complete());
        EXPECT_THAT(std::vector<int>(q.begin(), q.end()), ElementsAre(1, 2, 3));
    }
    EXPECT_EQ(fake->log->live_pinned, 2);
    fake->log->complete_all();
    dev.finish();
    EXPECT_EQ(fake->log->live_pinned, 0);
}

TEST(C4_pinned, serves_small_reads_that_somebody_waits_for) {
    const auto fake = std::make_shared<fake_device>();
    {
        const device dev(runtime::device_state::make(fake));
        auto a = dev.mixed_buffer<int>(3);
        a.write(std::vector<int>{1, 2, 3});
        EXPECT_THAT(a.read(), ElementsAre(1, 2, 3));
        EXPECT_THAT(a.from(1).read(), ElementsAre(2, 3));
        EXPECT_EQ(fake->log->live_pinned, 1) << "one after the other";

        const std::vector<char> many((std::size_t{64} << 10) + 1, 'x');
        auto b = dev.mixed_buffer<char>(many.size());
        b.write(many);
        EXPECT_EQ(b.read(), many);
        EXPECT_EQ(fake->log->live_pinned, 1);

        fake->log->refusals = 1;
        EXPECT_THROW(a.read(), device_error);
        EXPECT_THAT(a.read(), ElementsAre(1, 2, 3));
        EXPECT_EQ(fake->log->live_pinned, 1) << "what failed is over";
        dev.trim();
        EXPECT_EQ(fake->log->live_pinned, 0);
        EXPECT_THAT(a.read(), ElementsAre(1, 2, 3));
    }
    EXPECT_EQ(fake->log->live_pinned, 0);
    fake->log->has_pinned = false;
    const device without(runtime::device_state::make(fake));
    auto a = without.mixed_buffer<int>(3);
    a.write(std::vector<int>{1, 2, 3});
    EXPECT_THAT(a.read(), ElementsAre(1, 2, 3));
}

TEST(C4_pinned, refuses_sizes_that_cannot_be) {
    const device dev = null_handle();
    EXPECT_THROW(dev.pinned_array<int>(-1), usage_error);
    EXPECT_THROW(dev.pinned_array<char>(-1), usage_error);
}

// ---- mapping ----

TEST(C4_mapping, shows_the_elements_and_takes_what_is_written) {
    auto random = seeded_random();
    const auto check = [&](const device& dev) {
        const std::size_t n = 1000;
        auto a = dev.mixed_buffer<float>(n);
        auto host = random_numbers<float>(random, n);
        const event written = a.write(host);
        {
            auto view = a.range(10, 500).map(written);
            static_assert(std::is_same_v<decltype(view), mapped<float>>);
            ASSERT_EQ(view.size(), 490u);
            EXPECT_TRUE(std::equal(view.begin(), view.end(), host.begin() + 10));
            for (std::size_t i = 0; i < view.size(); i += 3) view[i] += 1, host[10 + i] += 1;
        }
        EXPECT_EQ(a.read(), std::span<const float>(host));
        {
            const auto view = a.map_to_read();
            static_assert(std::is_same_v<decltype(view), const mapped<const float>>);
            EXPECT_EQ(a.range(3, 5).read()[0], host[3]) << "to read while the host reads";
            EXPECT_EQ(view[n - 1], host[n - 1]);
        }
        auto all = a.map_to_overwrite();
        std::iota(all.begin(), all.end(), 0.f);
        std::iota(host.begin(), host.end(), 0.f);
        const event back = all.release();
        EXPECT_TRUE(all.empty());
        EXPECT_EQ(a.read(back), std::span<const float>(host));
        auto in = dev.in_buffer<float>(2);
        in.write({1, 2});
        in.map()[1] = 5;
        auto out = dev.out_buffer<float>(2);
        in.copy_to(out);
        const auto results = out.map();
        static_assert(std::is_same_v<decltype(results), const mapped<const float>>);
        EXPECT_THAT(results, ElementsAre(1, 5));
        EXPECT_EQ(dev.mixed_buffer<int>(0).map().size(), 0u);
    };
    on_every_handle(check);
    SCOPED_TRACE("a device that does not map");
    check(device(runtime::device_state::make(std::make_shared<fake_device>())));
}

TEST(C4_mapping, keeps_commands_away_until_it_is_given_back) {
    const auto check = [](const device& dev) {
        auto a = dev.mixed_buffer<int>(4);
        a.write({1, 2, 3, 4});
        {
            const auto view = a.map();
            EXPECT_THAT(usage_message_of([&] { a.fill(0); }), HasSubstr("is mapped by the host, to write"));
            EXPECT_THAT(usage_message_of([&] { a.from(2).read(); }), HasSubstr("release the mapping"));
            EXPECT_THAT(usage_message_of([&] { a.map(); }), HasSubstr("mapped"));
            EXPECT_THAT(usage_message_of([&] { a.free(); }),
                        HasSubstr("cannot be freed while the host has it mapped"));
        }
        {
            const auto one = a.map_to_read(), two = a.map_to_read();
            EXPECT_THAT(usage_message_of([&] { a.fill(0); }), HasSubstr("mapped by the host, to read"));
            EXPECT_EQ(one[3], two[3]);
        }
        EXPECT_THAT(a.read(), ElementsAre(1, 2, 3, 4));
        auto moved = a.map();
        auto view = std::move(moved);
        view[0] = 9;
        view.release();
        view.release();
        EXPECT_EQ(a.read()[0], 9);
    };
    on_every_handle(check);
    SCOPED_TRACE("a device that does not map");
    check(device(runtime::device_state::make(std::make_shared<fake_device>())));
}

// ---- freeing ----

TEST(C20_free, gives_a_buffers_memory_back_and_refuses_every_later_use) {
    const auto check = [](const device& dev) {
        const std::size_t before = dev.state()->allocated_bytes();
        auto a = dev.mixed_buffer<int>(4), b = dev.mixed_buffer<int>(4);
        a.write({1, 2, 3, 4});
        const auto copy = a;
        const auto part = a.from(1);
        a.free();
        EXPECT_EQ(dev.state()->allocated_bytes(), before + 64);
        const char* const words = "was freed by free()";
        EXPECT_THAT(usage_message_of([&] { a.write({1, 2, 3, 4}); }), HasSubstr(words));
        EXPECT_THAT(usage_message_of([&] { copy.read(); }), HasSubstr(words));
        EXPECT_THAT(usage_message_of([&] { part.read_async(); }), HasSubstr(words));
        EXPECT_THAT(usage_message_of([&] { a.copy_to(b); }), HasSubstr(words));
        EXPECT_THAT(usage_message_of([&] { b.copy_to(a); }), HasSubstr(words));
        EXPECT_THAT(usage_message_of([&] { a.fill(1); }), HasSubstr(words));
        EXPECT_THAT(usage_message_of([&] { a.map(); }), HasSubstr(words));
        EXPECT_THAT(usage_message_of([&] { a.until(0).read(); }), HasSubstr(words));
        EXPECT_EQ(a.size(), 4u);
        EXPECT_NO_THROW(a.free());
        b.fill(3);
        EXPECT_EQ(b.read()[0], 3);
    };
    on_every_handle(check);
    check(device(runtime::device_state::make(std::make_shared<fake_device>())));
}

TEST(C20_free, waits_for_the_commands_that_use_the_memory) {
    on_every_handle([](const device& dev) {
        const std::uint32_t n = 1 << 14, turns = 2000;
        auto a = dev.mixed_buffer<std::uint32_t>(n), b = dev.mixed_buffer<std::uint32_t>(n);
        a.fill(1);
        const auto program = program_of(dev, slow_source, "slow");
        launch_slow(dev.state()->default_queue(), *program, *a.storage(), turns);
        const event copied = a.copy_to(b);
        a.free();
        EXPECT_EQ(b.read(copied)[n - 1], slow_on_host(1, turns));
    });
}

TEST(C20_free, meets_other_threads_at_any_time) {
    const auto check = [](const device& dev) {
        for (int turn = 0; turn < 50; ++turn) {
            auto a = dev.mixed_buffer<int>(100), b = dev.mixed_buffer<int>(100);
            std::atomic<int> refused{0}, began{0};
            std::vector<std::thread> users;
            for (int t = 0; t < 3; ++t)
                users.emplace_back([&, t] {
                    queue own = dev.make_queue();
                    for (;;) try {
                            ++began;
                            if (t == 0) a.range(10, 20).fill(turn);
                            if (t == 1) a.copy_to(b);
                            if (t == 2)
                                own.state()->enqueue_fill(*a.storage(), 0, 4,
                                                          std::as_bytes(std::span("abc", 4)));
                        } catch (const usage_error&) {
                            ++refused;
                            return;
                        }
                });
            while (began < 6) std::this_thread::yield();
            a.free();
            for (std::thread& each : users) each.join();
            EXPECT_EQ(refused, 3);
        }
    };
    on_every_handle(check);
    const auto fake = std::make_shared<fake_device>();
    check(device(runtime::device_state::make(fake)));
    EXPECT_EQ(fake->log->live_allocations, 0);
}

TEST(C20_free, of_a_device_finishes_it_and_frees_what_it_holds) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(runtime::device_state::make(fake));
    auto a = dev.mixed_buffer<int>(4);
    balm::queue other = dev.make_queue();
    fake->log->events_complete_at_once = false;
    const event written = a.write({1, 2, 3, 4});
    EXPECT_FALSE(written.is_complete());
    dev.free();
    EXPECT_TRUE(written.is_complete());
    EXPECT_EQ(fake->log->live_allocations, 0);
    EXPECT_EQ(dev.state()->allocated_bytes(), 0u);
    const char* const words = "was freed by free()";
    EXPECT_THAT(usage_message_of([&] { dev.in_buffer<int>(1); }), HasSubstr(words));
    EXPECT_THAT(usage_message_of([&] { dev.pinned_array<int>(1); }), HasSubstr(words));
    EXPECT_THAT(usage_message_of([&] { a.read(); }), HasSubstr(words));
    EXPECT_THAT(usage_message_of([&] { a.write({1, 2, 3, 4}); }), HasSubstr(words));
    EXPECT_THAT(usage_message_of([&] { other.record(); }), HasSubstr(words));
    EXPECT_THAT(usage_message_of([&] { dev.finish(); }), HasSubstr(words));
    EXPECT_EQ(dev.name(), "fake");
    EXPECT_NO_THROW(dev.free());
    EXPECT_NO_THROW(a.free());
}

TEST(C20_free, of_a_device_tells_of_work_that_failed) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(runtime::device_state::make(fake));
    fake->log->events_complete_at_once = false;
    auto a = dev.mixed_buffer<int>(2);
    {
        const auto forgotten = a.fill(1);
        fake->log->complete_all("It broke.");
    }
    EXPECT_THROW(dev.free(), device_error);
    EXPECT_EQ(fake->log->live_allocations, 0);
    EXPECT_NO_THROW(dev.free());
}

TEST(C20_free, of_a_device_lets_a_new_context_open_it_again) {
    context first;
    const device dev = first.device(0);
    auto a = dev.mixed_buffer<int>(2);
    a.write({1, 2});
    dev.free();
    EXPECT_THROW(a.read(), usage_error);
    context second;
    EXPECT_EQ(second.device(0).name(), dev.name());
    auto b = second.device(0).mixed_buffer<int>(2);
    b.write({3, 4});
    EXPECT_THAT(b.read(), ElementsAre(3, 4));
}

TEST(C20_memory, does_not_leak_over_ten_thousand_cycles) {
    const auto fake = std::make_shared<fake_device>();
    const device dev(runtime::device_state::make(fake));
    for (int turn = 0; turn < 10'000; ++turn) {
        auto a = dev.mixed_buffer<int>(1 + turn % 100), b = dev.mixed_buffer<int>(7);
        auto p = dev.pinned_array<int>(7);
        const event written = b.write(p);
        b.range(1, 4).copy_to(b.range(2, 5), written);
        b.map()[0] = turn;
        if (turn % 2 == 0) a.free();
    }
    dev.finish();
    dev.trim();
    EXPECT_EQ(fake->log->live_allocations, 0);
    EXPECT_EQ(fake->log->live_pinned, 0);
    EXPECT_EQ(dev.state()->allocated_bytes(), 0u);
    // More than the device has, one after the other.
    on_every_handle([](const device& on) {
        const std::size_t before = on.state()->allocated_bytes();
        for (int turn = 0; turn < 10'000; ++turn) {
            auto a = on.mixed_buffer<char>(64 << 20);
            if (turn % 2 == 0) a.free();
        }
        for (int turn = 0; turn < 10'000; ++turn) on.pinned_array<int>(100);
        EXPECT_EQ(on.state()->allocated_bytes(), before);
    });
}

TEST(C20_memory, of_cpus_begins_at_a_large_page_and_goes_back_to_the_system) {
    const auto pages_of_this_process = [] {
        std::uint64_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        return pages;
    };
    on_every_handle([&](const device& on) {
        if (on.info().type != device_type::cpu) return;
        const std::uint64_t before = pages_of_this_process();
        for (int turn = 0; turn < 100; ++turn) {
            auto a = on.mixed_buffer<char>(64 << 20);
            a.range(5, 6).fill('a');
            {
                const auto view = a.map();
                EXPECT_EQ(std::bit_cast<std::uintptr_t>(view.data()) % (2 << 20), 0u);
                EXPECT_EQ(view[5], 'a');
            }
            a.free();
            on.trim();
        }
        EXPECT_LT(pages_of_this_process(), before + (1u << 30) / 4096);
    });
}

// ---- by pointer ----

TEST(A2_pointers, move_and_are_reinterpreted_as_in_cpp) {
    on_every_handle([](const device& dev) {
        const auto p = dev.allocate<std::uint32_t>(8);
        p.range().write({0, 1, 2, 3, 4, 5, 6, 7});
        auto q = p + 2;
        EXPECT_THAT(q.range(3).read(), ElementsAre(2, 3, 4));
        EXPECT_EQ(q - p, 2);
        EXPECT_TRUE(p < q && q == 2 + p && q != p && q >= p);
        ++q;
        q += 2;
        EXPECT_THAT((q--).range().read(), ElementsAre(5, 6, 7));
        EXPECT_THAT((--q - 1).range(1).read(), ElementsAre(2));
        const auto bytes = (p + 1).as<std::uint8_t>();
        EXPECT_THAT(bytes.range(8).read(), ElementsAre(1, 0, 0, 0, 2, 0, 0, 0));
        (bytes + 4).range(1).write({255});
        EXPECT_THAT(p.range(3).read(), ElementsAre(0, 1, 255));
        EXPECT_EQ((p + 8).range().size(), 0u);
        EXPECT_EQ(((p - 5) + 5).range().size(), 8u) << "only what is used must be inside";

        auto b = dev.mixed_buffer<float>(6);
        const device_pointer to_three(b.from(3));
        b.fill(0);
        to_three.range(2).fill(1);
        EXPECT_THAT(b.read(), ElementsAre(0, 0, 0, 1, 1, 0));
        EXPECT_THAT(b.range(2, 6).as<std::uint32_t>().read(), ElementsAre(0, 0x3f800000, 0x3f800000, 0));
    });
}

TEST(A2_pointers, say_where_they_point_when_that_is_outside) {
    const device dev = null_handle();
    const auto p = dev.allocate<double>(4), other = dev.allocate<double>(4);
    EXPECT_THAT(usage_message_of([&] { (p + 1).range(4); }),
                AllOf(HasSubstr("4 of them"), HasSubstr("byte 8"), HasSubstr("32 bytes")));
    EXPECT_THAT(usage_message_of([&] { (p - 1).range(); }), HasSubstr("byte -8"));
    EXPECT_THAT(usage_message_of([&] { (p + 5).byte_offset(); }), HasSubstr("byte 40"));
    EXPECT_THAT(usage_message_of([&] { (p.as<char>() + 3).as<int>().range(1); }),
                HasSubstr("a multiple of 4"));
    EXPECT_THAT(usage_message_of([&] { static_cast<void>(p - other); }), HasSubstr("different allocations"));
    EXPECT_THAT(usage_message_of([&] { static_cast<void>(p < other); }), HasSubstr("different allocations"));
    EXPECT_FALSE(p == other);
    EXPECT_THAT(usage_message_of([&] { device_pointer<int>().range(); }), HasSubstr("null device_pointer"));
    EXPECT_THAT(usage_message_of([&] { dev.mixed_buffer<char>(7).as<int>(); }), HasSubstr("7 bytes"));
    auto freed = dev.allocate<int>(1);
    freed.free();
    EXPECT_THAT(usage_message_of([&] { freed.range().fill(1); }), HasSubstr("was freed"));
}

}  // namespace balm::test
