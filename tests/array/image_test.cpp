// Images in array expressions: sampled at places that vectors give, by `sample` and by functions that take
// images.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

std::vector<float> random_between(std::size_t n, float least, float most, std::mt19937_64& random) {
    std::vector<float> made(n);
    for (float& x : made) x = std::uniform_real_distribution<float>(least, most)(random);
    return made;
}

/// Between elements of one row, held at the edges; in double.
double between(const std::vector<float>& row, double x) {
    const double u = x - 0.5;
    const auto at = [&](double i) {
        const double last = static_cast<double>(row.size() - 1);
        return static_cast<double>(row[static_cast<std::size_t>(std::clamp(i, 0.0, last))]);
    };
    const double first = std::floor(u);
    return at(first) + (u - first) * (at(first + 1) - at(first));
}

constexpr double weight_step = 1.0 / 256;  // of GPUs, at most: CUDA C++ Programming Guide, Linear Filtering

}  // namespace

TEST(V19_images, are_sampled_in_expressions) {
    on_all_contexts([](const context& ctx) {
        auto random = seeded_random();
        constexpr std::size_t width = 33, n = 1000;
        const auto row = random_between(width, -1, 1, random),
                   places = random_between(n, -3, width + 3, random);
        auto line = ctx.device(0).image<float>(width);
        line.write(row);
        vector<float> x(ctx, places), y(ctx, n);
        const sampler linear{.filter = image_filter::linear};
        y = 2 * sample(line.sampled(linear), x) + 1;
        const auto got = y.to_host();
        for (std::size_t i = 0; i < n; ++i)
            ASSERT_NEAR(got[i], 2 * between(row, static_cast<double>(places[i])) + 1, 4 * weight_step + 1e-4)
                << "at " << places[i];
        // In a reduction, with a double coordinate, two samplers on one image: the nearest of each place is
        // itself.
        vector<double> centres(ctx, width);
        centres = element_index() + 0.5;
        const auto difference = sample(line.sampled(), centres) -
                                sample(line.sampled({.coordinates = image_coordinates::normalised}),
                                       centres / static_cast<double>(width));
        EXPECT_EQ(sum(abs(difference)), 0.f);
        EXPECT_NE(sum(abs(sample(line.sampled(), centres))), 0.f);
    });
}

TEST(V19_images, of_two_and_three_dimensions_are_sampled_in_expressions) {
    on_all_contexts([](const context& ctx) {
        auto random = seeded_random();
        constexpr std::size_t width = 7, height = 5, depth = 3, n = width * height * depth;
        const auto values = random_between(n, 0, 100, random);
        auto volume = ctx.device(0).image<float>(depth, height, width);
        volume.write(values);
        vector<float> all(ctx, n);
        const auto at = element_index();
        all = sample(volume.sampled(), at % 7 + 0.5, at / 7 % 5 + 0.5, at / 35 + 0.5);
        EXPECT_EQ(all.to_host(), std::span<const float>(values));
        auto plane = ctx.device(0).image<std::uint16_t>(height, width);
        std::vector<std::uint16_t> numbers(width * height);
        for (auto& each : numbers) each = static_cast<std::uint16_t>(random());
        plane.write(numbers);
        vector<std::uint16_t> turned(ctx, width * height);
        turned = sample(plane.sampled(), 6.5 - element_index() % 7, 4.5 - element_index() / 7);
        std::reverse(numbers.begin(), numbers.end());
        EXPECT_EQ(turned.to_host(), std::span<const std::uint16_t>(numbers));
    });
}

TEST(V19_images, of_vectors_are_sampled_in_expressions) {
    auto random = seeded_random();
    host_array<float4> pixels{shape(5)};
    for (float4& each : pixels)
        for (int k = 0; k < 4; ++k) each[k] = random_value<float>(random);
    on_all_contexts([&](const context& ctx) {
        auto photo = ctx.device(0).image<float4>(5);
        photo.write(pixels);
        vector<float4> turned(ctx, 5);
        turned = sample(photo.sampled(), 4.5 - element_index());
        vector<float> last(ctx, 5);
        last = lane<3>(sample(photo.sampled(), element_index() + 0.5));
        for (std::size_t i = 0; i < 5; ++i) {
            EXPECT_EQ(turned[i], pixels[4 - i]);
            EXPECT_EQ(last[i], pixels[i].w);
        }
    });
}

TEST(V19_images, are_taken_by_functions_in_expressions) {
    using namespace balm::dsl;
    static const auto green =
        balm::function("green", [](Sampled<normalised<uchar4>, 2> photo, InImage<int, 1> rows, Float x) {
            return photo(x + 0.5f, 0.5f).y + cast<float>(rows(cast<int>(x)));
        });
    on_all_contexts([](const context& ctx) {
        auto photo = ctx.device(0).image<normalised<uchar4>>(1, 4);
        photo.write({{0, 255, 0, 0}, {0, 0, 9, 9}, {9, 51, 0, 0}, {0, 102, 0, 0}});
        auto rows = ctx.device(0).image<int>(4);
        rows.write({10, 20, 30, 40});
        vector<float> y(ctx, 4);
        y = green(photo.sampled(), rows, element_index());
        const auto got = y.to_host();
        const float expected[] = {11.f, 20.f, 30.2f, 40.4f};
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], expected[i], 1e-5f);
        // Another image and sampler, the same kernel.
        auto other = ctx.device(0).image<normalised<uchar4>>(1, 2);
        other.fill({0, 51, 0, 0});
        y = green(other.sampled({.address = address_mode::clamp_to_border}), rows, element_index());
        const auto again = y.to_host();
        const float wanted[] = {10.2f, 20.2f, 30.f, 40.f};
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(again[i], wanted[i], 1e-5f);
    });
}

}  // namespace balm::test
