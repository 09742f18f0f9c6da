// Images in kernels against an oracle on the host, written from the definitions and in double: elements by
// position, samplers of every kind, integers that count as fractions, sizes, and what is refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "balm/balm.hpp"
#include "ir/ir.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

constexpr address_mode all_modes[] = {address_mode::clamp_to_edge, address_mode::clamp_to_border,
                                      address_mode::repeat, address_mode::mirrored_repeat};

bool repeats(address_mode mode) {
    return mode == address_mode::repeat || mode == address_mode::mirrored_repeat;
}

// ---- the oracle

using lanes = std::array<double, 4>;

/// An image as the oracle sees it: x runs fastest.
struct host_image {
    std::array<long, 3> size{1, 1, 1};
    std::vector<lanes> elements;

    /// The element at a position anywhere, as the address mode has it.
    lanes at(std::array<long, 3> position, address_mode mode) const {
        for (std::size_t d = 0; d < 3; ++d) {
            const long n = size[d], period = mode == address_mode::mirrored_repeat ? 2 * n : n;
            long& i = position[d];
            if (mode == address_mode::clamp_to_border && (i < 0 || i >= n)) return {};
            if (mode == address_mode::clamp_to_edge) i = std::clamp(i, 0L, n - 1);
            if (repeats(mode)) i = (i % period + period) % period;
            if (i >= n) i = 2 * n - 1 - i;
        }
        return elements[static_cast<std::size_t>((position[2] * size[1] + position[1]) * size[0] +
                                                 position[0])];
    }

    lanes sampled(const std::array<double, 3>& coordinates, int dimensions, const sampler& through) const {
        std::array<long, 3> first{};
        std::array<double, 3> weight{};
        for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
            const bool is_normalised = through.coordinates == image_coordinates::normalised;
            const double u = coordinates[d] * (is_normalised ? static_cast<double>(size[d]) : 1.0) -
                             (through.filter == image_filter::linear ? 0.5 : 0.0);
            first[d] = static_cast<long>(std::floor(u));
            weight[d] = through.filter == image_filter::linear ? u - std::floor(u) : 0.0;
        }
        lanes sum{};
        for (int corner = 0; corner < 1 << dimensions; ++corner) {
            std::array<long, 3> position = first;
            double share = 1;
            for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
                const bool is_next = (corner >> d & 1) != 0;
                if (is_next) ++position[d];
                share *= is_next ? weight[d] : 1 - weight[d];
            }
            const lanes part = at(position, through.address);
            for (std::size_t k = 0; k < 4; ++k) sum[k] += share * part[k];
        }
        return sum;
    }
};

// ---- elements

template <class H>
constexpr int count_of = balm::detail::lanes_of<H>;

/// A number of an element.
template <class H>
double number(const H& value, int k) {
    if constexpr (std::same_as<H, half>)
        return static_cast<double>(static_cast<float>(value));
    else if constexpr (count_of<H> > 1)
        return number(value[k], 0);
    else
        return static_cast<double>(value);
}

/// What kernels make of an element's number.
template <class T>
double as_seen(double number) {
    using S = balm::detail::image_host<T>;
    if constexpr (!balm::detail::image_element<T>::is_normalised) return number;
    constexpr scalar s = balm::detail::element_scalar<S>();
    const double scale = std::ldexp(1.0, static_cast<int>(8 * size_of(s)) - (is_signed(s) ? 1 : 0)) - 1;
    return std::max(number / scale, -1.0);
}

template <class S>
S random_number(std::mt19937_64& random) {
    if constexpr (std::same_as<S, half>)
        return half(std::uniform_real_distribution<float>(-8, 8)(random));
    else if constexpr (std::floating_point<S>)
        return std::uniform_real_distribution<S>(-1, 1)(random);
    else
        return static_cast<S>(random());
}
template <class H>
H random_image_element(std::mt19937_64& random) {
    if constexpr (count_of<H> == 1) {
        return random_number<H>(random);
    } else {
        H made{};
        for (int k = 0; k < count_of<H>; ++k) made[k] = random_number<typename H::value_type>(random);
        return made;
    }
}
template <class T>
host_array<balm::detail::image_host<T>> random_elements(const shape& extents, std::mt19937_64& random) {
    host_array<balm::detail::image_host<T>> made(extents);
    for (auto& each : made) each = random_image_element<balm::detail::image_host<T>>(random);
    return made;
}

template <class T>
host_image seen_by_kernels(const host_array<balm::detail::image_host<T>>& of) {
    host_image made;
    const shape& s = of.shape();
    for (int d = 0; d < s.dimensions(); ++d)
        made.size[static_cast<std::size_t>(d)] = static_cast<long>(s[s.dimensions() - 1 - d]);
    for (const auto& each : of) {
        lanes seen{};
        for (int k = 0; k < count_of<balm::detail::image_host<T>>; ++k)
            seen[static_cast<std::size_t>(k)] = as_seen<T>(number(each, k));
        made.elements.push_back(seen);
    }
    return made;
}

shape random_shape(int dimensions, std::mt19937_64& random) {
    std::uniform_int_distribution<std::size_t> size(1, dimensions == 3 ? 9 : 23);
    if (dimensions == 1) return shape(size(random));
    if (dimensions == 2) return shape(size(random), size(random));
    return shape(size(random), size(random), size(random));
}

/// Calls the body where the device has such images; elsewhere looks at what the refusal says.
template <class T, int N, class Body>
void with_image(const device& on, const shape& extents, Body&& body) {
    try {
        body(on.image<T, N>(extents));
    } catch (const usage_error& refused) {
        EXPECT_NE(std::string(refused.what()).find("does not support images of"), std::string::npos)
            << refused.what();
        // OpenCL 1.2 asks only vectors of four of a device, and no signed fractions (table 5.8).
        const trace::type type = balm::detail::type_of_image<T>(N);
        const bool is_signed_fraction = is_normalised(type) && is_signed(type.element);
        EXPECT_TRUE(type.lanes < 4 || is_signed_fraction) << refused.what();
    }
}

// ---- by position

template <class T>
using kernel_value = decltype(balm::detail::image_value<T>());

/// Writes the image turned round in all dimensions, and what it reads of the first to a buffer.
template <class T, int N>
auto turn_round() {
    const auto text = "turn_round(in, out, seen)";
    if constexpr (N == 1)
        return balm::kernel<1>(text, [](InImage<T, 1> in, OutImage<T, 1> out, Out<kernel_value<T>> seen) {
            Index x = global_id(0);
            Var<kernel_value<T>> value = in(x);
            out(in.width() - 1 - x) = value;
            seen[x] = value;
        });
    else if constexpr (N == 2)
        return balm::kernel<2>(text, [](InImage<T, 2> in, OutImage<T, 2> out, Out<kernel_value<T>> seen) {
            Index x = global_id(0), y = global_id(1);
            Var<kernel_value<T>> value = in(y, x);
            out(in.height() - 1 - y, in.width() - 1 - x) = value;
            seen[y * global_size(0) + x] = value;
        });
    else
        return balm::kernel<3>(text, [](InImage<T, 3> in, OutImage<T, 3> out, Out<kernel_value<T>> seen) {
            Index x = global_id(0), y = global_id(1), z = global_id(2);
            Var<kernel_value<T>> value = in(z, y, x);
            out(in.depth() - 1 - z, in.height() - 1 - y, in.width() - 1 - x) = value;
            seen[(z * global_size(1) + y) * global_size(0) + x] = value;
        });
}

template <int N>
extent<N> grid_of(const shape& s) {
    extent<N> sizes{};
    for (int d = 0; d < N; ++d) sizes[static_cast<std::size_t>(d)] = s[N - 1 - d];
    return sizes;
}

template <class T, int N>
void turns_round(const device& on) {
    SCOPED_TRACE(ir::to_string(balm::detail::type_of_image<T>(N)));
    static const auto kernel = turn_round<T, N>();
    auto random = seeded_random();
    const shape extents = random_shape(N, random);
    with_image<T, N>(on, extents, [&](image<T, N> in) {
        auto out = on.image<T, N>(extents);
        auto seen = on.out_buffer<kernel_value<T>>(extents);
        const auto given = random_elements<T>(extents, random);
        in.write(std::span<const balm::detail::image_host<T>>(given));
        on.execute(kernel(in, out, seen), grid_of<N>(extents));
        const auto got = out.read();
        const auto values = seen.read();
        const host_image expected = seen_by_kernels<T>(given);
        for (std::size_t i = 0; i < given.size(); ++i)
            for (int k = 0; k < count_of<balm::detail::image_host<T>>; ++k) {
                const double wanted = expected.elements[i][static_cast<std::size_t>(k)];
                // Fractions are divided: within 1.5 ulp of a float (OpenCL 1.2, section 8.3.1).
                const double room = balm::detail::image_element<T>::is_normalised ? 2e-7 : 0;
                ASSERT_NEAR(number(values[i], k), wanted, room) << "element " << i;
                const double back = number(got[given.size() - 1 - i], k);
                ASSERT_NEAR(as_seen<T>(back), wanted, room) << "element " << i;
            }
    });
}

template <class T>
void turns_round_in_all_dimensions(const device& on) {
    turns_round<T, 1>(on);
    turns_round<T, 2>(on);
    turns_round<T, 3>(on);
}

// ---- samplers

/// Samples at coordinates that a buffer gives.
template <class T, int N>
auto look_at() {
    const auto text = "look_at(image, places, seen)";
    return balm::kernel<1>(text, [](Sampled<T, N> image, In<float> places, Out<kernel_value<T>> seen) {
        Index i = global_id(0);
        if constexpr (N == 1)
            seen[i] = image(places[i]);
        else if constexpr (N == 2)
            seen[i] = image(places[2 * i], places[2 * i + 1]);
        else
            seen[i] = image(places[3 * i], places[3 * i + 1], places[3 * i + 2]);
    });
}

constexpr std::size_t places_tried = 500;

/// Places from one image before to one behind, not near the edges between elements where the nearest is
/// meant: there the last bit of a coordinate decides.
std::vector<float> random_coordinates(const host_image& of, int dimensions, const sampler& through,
                                      std::mt19937_64& random) {
    std::vector<float> places;
    std::uniform_real_distribution<double> within(through.filter == image_filter::nearest ? 0.1 : 0.0,
                                                  through.filter == image_filter::nearest ? 0.9 : 1.0);
    for (std::size_t i = 0; i < places_tried; ++i)
        for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
            const long n = of.size[d];
            const double u = static_cast<double>(std::uniform_int_distribution<long>(-n, 2 * n - 1)(random)) +
                             within(random);
            const bool is_normalised = through.coordinates == image_coordinates::normalised;
            places.push_back(static_cast<float>(is_normalised ? u / static_cast<double>(n) : u));
        }
    return places;
}

template <class T, int N>
void samples(const device& on, const sampler& through) {
    SCOPED_TRACE(ir::to_string(balm::detail::type_of_image<T>(N)) + ", filter " +
                 std::to_string(static_cast<int>(through.filter)) + ", mode " +
                 std::to_string(static_cast<int>(through.address)) + ", coordinates " +
                 std::to_string(static_cast<int>(through.coordinates)));
    static const auto kernel = look_at<T, N>();
    auto random = seeded_random();
    const shape extents = random_shape(N, random);
    with_image<T, N>(on, extents, [&](image<T, N> looked_at) {
        const auto given = random_elements<T>(extents, random);
        looked_at.write(std::span<const balm::detail::image_host<T>>(given));
        const host_image oracle = seen_by_kernels<T>(given);
        const std::vector<float> places = random_coordinates(oracle, N, through, random);
        auto where = on.in_buffer<float>(places.size());
        where.write(places);
        auto seen = on.out_buffer<kernel_value<T>>(places_tried);
        on.execute(kernel(looked_at.sampled(through), where, seen), {places_tried});
        const auto got = seen.read();

        double range = 0;
        for (const lanes& each : oracle.elements)
            for (double x : each) range = std::max(range, std::abs(x));
        // GPUs weigh with 8 bits of fraction, which are off by up to 2^-8 in each dimension, times a
        // difference of up to twice the largest number; CPUs with floats.
        const bool is_cpu = on.info().type == device_type::cpu;
        const double room = through.filter == image_filter::linear ? 2 * range * (is_cpu ? 2e-5 : N / 256.0)
                            : balm::detail::image_element<T>::is_normalised ? 2e-7
                                                                            : 0;
        for (std::size_t i = 0; i < places_tried; ++i) {
            std::array<double, 3> at{};
            for (std::size_t d = 0; d < N; ++d) at[d] = static_cast<double>(places[N * i + d]);
            const lanes wanted = oracle.sampled(at, N, through);
            for (int k = 0; k < count_of<kernel_value<T>>; ++k)
                ASSERT_NEAR(number(got[i], k), wanted[static_cast<std::size_t>(k)], room)
                    << "place " << at[0] << ", " << at[1] << ", " << at[2] << " in " << to_string(extents);
        }
    });
}

/// Through every sampler that there is for the elements.
template <class T, int N>
void samples_in_all_ways(const device& on) {
    const bool can_be_linear = is_floating(value_of_image(balm::detail::type_of_image<T>(N)).element);
    for (const address_mode mode : all_modes)
        for (const auto filter : {image_filter::nearest, image_filter::linear})
            for (const auto coordinates : {image_coordinates::elements, image_coordinates::normalised}) {
                if (filter == image_filter::linear && !can_be_linear) continue;
                if (repeats(mode) && coordinates == image_coordinates::elements) continue;
                samples<T, N>(on, {filter, mode, coordinates});
            }
}

}  // namespace

TEST(G3_images, of_every_element_are_read_and_written_by_position) {
    on_all_devices([](const device& on) {
        turns_round_in_all_dimensions<float>(on);
        turns_round_in_all_dimensions<float4>(on);
        turns_round<float2, 2>(on);
        turns_round<half, 2>(on);
        turns_round<half4, 3>(on);
        turns_round<std::int8_t, 1>(on);
        turns_round<char4, 2>(on);
        turns_round<std::uint8_t, 2>(on);
        turns_round<uchar2, 3>(on);
        turns_round<uchar4, 3>(on);
        turns_round<std::int16_t, 2>(on);
        turns_round<short4, 1>(on);
        turns_round<std::uint16_t, 3>(on);
        turns_round<ushort4, 2>(on);
        turns_round<std::int32_t, 2>(on);
        turns_round<int4, 3>(on);
        turns_round<std::uint32_t, 1>(on);
        turns_round<uint2, 2>(on);
        turns_round<uint4, 2>(on);
    });
}

TEST(G3_images, of_normalised_integers_are_fractions) {
    on_all_devices([](const device& on) {
        turns_round<normalised<std::uint8_t>, 1>(on);
        turns_round<normalised<uchar4>, 2>(on);
        turns_round<normalised<std::int8_t>, 2>(on);
        turns_round<normalised<char4>, 3>(on);
        turns_round<normalised<std::uint16_t>, 2>(on);
        turns_round<normalised<ushort4>, 3>(on);
        turns_round<normalised<std::int16_t>, 1>(on);
        turns_round<normalised<short4>, 2>(on);
    });
}

namespace {

/// What a kernel's floats become in an image of fractions.
template <class S>
void rounds(const device& on) {
    static const auto kernel = balm::kernel<1>(
        "store(in, out)",
        [](In<float> in, OutImage<normalised<S>, 1> out) { out(global_id(0)) = in[global_id(0)]; });
    auto random = seeded_random();
    std::vector<float> values{0.f, 1.f, -1.f, 2.f, -2.f, 0.5f, 1e30f, -1e30f};
    for (int i = 0; i < 200; ++i)
        values.push_back(std::uniform_real_distribution<float>(-1.2f, 1.2f)(random));
    auto in = on.in_buffer<float>(values.size());
    in.write(values);
    with_image<normalised<S>, 1>(on, shape(values.size()), [&](image<normalised<S>, 1> out) {
        on.execute(kernel(in, out), {values.size()});
        const auto got = out.read();
        const double scale = std::numeric_limits<S>::max();
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double least = std::numeric_limits<S>::min();
            const double exact = std::clamp(static_cast<double>(values[i]) * scale, least, scale);
            // OpenCL 1.2, section 8.3.1.1: preferably to the nearest, in any case within 0.6. Two integers
            // are -1, and NVIDIA's OpenCL writes the other one.
            const double other = values[i] <= -1 ? std::max(-scale, least) : exact;
            EXPECT_LE(std::min(std::abs(got[i] - exact), std::abs(got[i] - other)), 0.6) << values[i];
        }
    });
}

}  // namespace

TEST(G3_images, of_fractions_take_the_nearest_and_saturate) {
    on_all_devices([](const device& on) {
        rounds<std::uint8_t>(on);
        rounds<std::int8_t>(on);
        rounds<std::uint16_t>(on);
        rounds<std::int16_t>(on);
    });
}

TEST(G3_images, are_sampled_between_elements_and_beyond_edges_in_1_dimension) {
    on_all_devices([](const device& on) {
        samples_in_all_ways<float, 1>(on);
        samples_in_all_ways<float4, 1>(on);
    });
}

TEST(G3_images, are_sampled_between_elements_and_beyond_edges_in_2_dimensions) {
    on_all_devices([](const device& on) {
        samples_in_all_ways<float, 2>(on);
        samples_in_all_ways<float2, 2>(on);
        samples_in_all_ways<float4, 2>(on);
        samples_in_all_ways<half4, 2>(on);
    });
}

TEST(G3_images, are_sampled_between_elements_and_beyond_edges_in_3_dimensions) {
    on_all_devices([](const device& on) {
        samples_in_all_ways<float, 3>(on);
        samples_in_all_ways<float4, 3>(on);
    });
}

TEST(G3_images, of_fractions_are_sampled_linearly) {
    on_all_devices([](const device& on) {
        samples_in_all_ways<normalised<uchar4>, 2>(on);
        samples_in_all_ways<normalised<std::int8_t>, 2>(on);
        samples_in_all_ways<normalised<std::uint16_t>, 1>(on);
        samples_in_all_ways<normalised<short4>, 3>(on);
    });
}

TEST(G3_images, of_integers_are_sampled_at_the_nearest) {
    on_all_devices([](const device& on) {
        samples_in_all_ways<std::uint8_t, 2>(on);
        samples_in_all_ways<char4, 2>(on);
        samples_in_all_ways<std::uint16_t, 3>(on);
        samples_in_all_ways<int4, 1>(on);
        samples_in_all_ways<uint4, 2>(on);
    });
}

TEST(G3_images, are_zero_beyond_their_edges_and_keep_what_is_written_there_out) {
    static const auto around =
        balm::kernel<2>("around(in, out)", [](InImage<float, 2> in, Out<float, 2> out) {
            Index x = global_id(0), y = global_id(1);
            out[y * global_size(0) + x] = in(y - 2, x - 2);
        });
    static const auto fill = balm::kernel<2>("fill(out)", [](OutImage<int4, 2> out) {
        Index x = global_id(0), y = global_id(1);
        out(y - 2, x - 2) = Int4(cast<int>(x), cast<int>(y), 0, 1);
    });
    on_all_devices([](const device& on) {
        constexpr std::size_t height = 3, width = 5;
        auto in = on.image<float>(height, width);
        in.fill(7.f);
        auto seen = on.out_buffer<float>(height + 4, width + 4);
        on.execute(around(in, seen), {width + 4, height + 4});
        const auto got = seen.read();
        auto out = on.image<int4>(height, width);
        on.execute(fill(out), {width + 4, height + 4});
        const auto filled = out.read();
        for (std::size_t y = 0; y < height + 4; ++y)
            for (std::size_t x = 0; x < width + 4; ++x) {
                const bool inside = x >= 2 && x < width + 2 && y >= 2 && y < height + 2;
                EXPECT_EQ(got(y, x), inside ? 7.f : 0.f) << y << ", " << x;
                if (!inside) continue;
                EXPECT_EQ(filled(y - 2, x - 2), (int4{static_cast<int>(x), static_cast<int>(y), 0, 1}));
            }
    });
}

TEST(G3_images, say_their_sizes) {
    static const auto sizes = balm::kernel<1>(
        "sizes(line, plane, room, out)",
        [](InImage<float, 1> line, Sampled<float4, 2> plane, OutImage<std::uint32_t, 3> room, Out<int> out) {
            out[0] = line.width();
            out[1] = plane.width();
            out[2] = plane.height();
            out[3] = room.width();
            out[4] = room.height();
            out[5] = room.depth();
        });
    on_all_devices([](const device& on) {
        auto out = on.out_buffer<int>(6);
        auto room = on.image<std::uint32_t>(4, 5, 6);
        EXPECT_EQ((std::array{room.width(), room.height(), room.depth()}),
                  (std::array<std::size_t, 3>{6, 5, 4}));
        on.execute(sizes(on.image<float>(3), on.image<float4>(7, 8).sampled(), room, out), {1});
        EXPECT_EQ(out.read(), (host_array<int>{3, 8, 7, 6, 5, 4}));
    });
}

TEST(G3_images, one_kernel_serves_every_sampler_and_function) {
    static const auto blend = balm::function(
        "blend(a, b, x)",
        [](Sampled<float, 1> a, InImage<float, 1> b, Float x) { return a(x) + b(cast<int>(x)); });
    static const auto inner = balm::kernel<1>(
        "inner(a, b, out)", [](Sampled<float, 1> a, InImage<float, 1> b, OutImage<float, 1> out) {
            Index i = global_id(0);
            out(i) = blend(a, b, cast<float>(i) + 1.f);
        });
    static const auto outer = balm::kernel<1>(
        "outer(a, b, out)",
        [](Sampled<float, 1> a, InImage<float, 1> b, OutImage<float, 1> out) { inner(a, b, out); });
    on_all_devices([](const device& on) {
        auto a = on.image<float>(4), b = on.image<float>(4), out = on.image<float>(4);
        a.write({0, 2, 4, 6});
        b.write({10, 20, 30, 40});
        on.execute(outer(a.sampled(), b, out), {4});
        EXPECT_EQ(out.read(), (host_array<float>{22, 34, 46, 6}));
        on.execute(outer(a.sampled({.filter = image_filter::linear}), b, out), {4});
        EXPECT_EQ(out.read(), (host_array<float>{21, 33, 45, 6}));
    });
}

TEST(G3_images, are_read_where_they_stand_in_loops_and_branches) {
    static const auto walk = balm::kernel<1>("walk(in, out)", [](InImage<int, 1> in, Out<int> out) {
        Int sum = 0, at = cast<int>(global_id(0));
        for (Int k : range(10)) {
            Int next = in(at);
            IF (next >= 0) {
                sum += next * (k + 1) + in(at);
                at = next % in.width();
            }
            ELSE { at += 1; }
        }
        out[global_id(0)] = sum;
    });
    on_all_devices([](const device& on) {
        auto random = seeded_random();
        constexpr int n = 37;
        std::vector<int> values(n);
        for (int& v : values) v = std::uniform_int_distribution<int>(-5, 100)(random);
        auto in = on.image<int>(n);
        in.write(values);
        auto out = on.out_buffer<int>(n);
        on.execute(walk(in, out), {n});
        const auto got = out.read();
        for (int i = 0; i < n; ++i) {
            int sum = 0, at = i;
            const auto value = [&](int k) { return k < n ? values[static_cast<std::size_t>(k)] : 0; };
            for (int k = 0; k < 10; ++k) {
                const int next = value(at);
                if (next >= 0) {
                    sum += next * (k + 1) + value(at);
                    at = next % n;
                } else {
                    at += 1;
                }
            }
            EXPECT_EQ(got[static_cast<std::size_t>(i)], sum) << i;
        }
    });
}

TEST(G3_images, are_ordered_by_themselves_between_queues) {
    static const auto add_one = balm::kernel<1>(
        "add_one(in, out)",
        [](InImage<int, 1> in, OutImage<int, 1> out) { out(global_id(0)) = in(global_id(0)) + 1; });
    on_all_devices([](const device& on) {
        constexpr std::size_t n = 1000;
        queue queues[] = {on.make_queue(), on.make_queue()};
        image<int, 1> images[] = {on.image<int>(n), on.image<int>(n)};
        images[0].fill(0);
        event last;
        for (std::size_t k = 0; k < 20; ++k)
            last = queues[k % 2].execute(add_one(images[k % 2], images[(k + 1) % 2]), {n});
        const auto got = images[0].read();  // in a third queue
        EXPECT_TRUE(std::all_of(got.begin(), got.end(), [](int v) { return v == 20; })) << got[0];
    });
}

TEST(G3_images, refuse_samplers_that_no_device_has) {
    on_all_devices([](const device& on) {
        const auto numbers = on.image<std::uint8_t>(4, 4);
        EXPECT_THAT(message_of<usage_error>([&] { numbers.sampled({.filter = image_filter::linear}); }),
                    testing::AllOf(testing::HasSubstr("linear"), testing::HasSubstr("balm::normalised")));
        const auto floats = on.image<float>(4, 4);
        for (const address_mode mode : {address_mode::repeat, address_mode::mirrored_repeat})
            EXPECT_THAT(message_of<usage_error>([&] { floats.sampled({.address = mode}); }),
                        testing::HasSubstr("image_coordinates::normalised"));
    });
}

TEST(G3_images, refuse_to_be_read_by_the_launch_that_writes_them) {
    static const auto copy = balm::kernel<1>(
        "copy(in, out)",
        [](InImage<float, 1> in, OutImage<float, 1> out) { out(global_id(0)) = in(global_id(0)); });
    on_all_devices([](const device& on) {
        const auto both = on.image<float>(4);
        EXPECT_THAT(message_of<usage_error>([&] { on.execute(copy(both, both), {4}); }),
                    testing::HasSubstr("arguments 1 and 2"));
    });
}

TEST(G3_images, refuse_kernels_given_as_text) {
    const auto define = [] {
        return balm::source_kernel<1, void(InImage<float, 2>)>("look",
                                                               "kernel void look(read_only image2d_t i) {}");
    };
    EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(define().function()); }),
                testing::HasSubstr("is an image"));
}

}  // namespace balm::test
