// Pictures, read back by libpng; colours by the definition of OKLab's lightness.

#include "balm/png.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/scratch_directory.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

/// A file's pixels as red, green, blue and opacity.
host_array<uchar4> decoded(const std::string& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0) << image.message;
    image.format = PNG_FORMAT_RGBA;
    host_array<uchar4> pixels(shape(image.height, image.width));
    EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr), 0) << image.message;
    return pixels;
}

double lightness(const uchar4& of) {
    const auto linear = [](std::uint8_t part) {
        const double x = part / 255.0;
        return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
    };
    const double r = linear(of.x), g = linear(of.y), b = linear(of.z);
    return 0.2104542553 * std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) +
           0.7936177850 * std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) -
           0.0040720468 * std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
}

}  // namespace

TEST(B11_png, pixels_are_those_that_were_written) {
    auto random = seeded_random();
    const scratch_directory folder;
    const std::string path = folder / "x.png";
    host_array<uchar4> colours(shape(7, 5));
    host_array<unsigned char> greys(shape(5, 7));
    std::vector<unsigned char> rgb(3 * 6);
    for (uchar4& each : colours)
        for (int k = 0; k < 4; ++k) each[k] = static_cast<unsigned char>(k == 3 ? 255 : random() % 256);
    for (unsigned char& each : greys) each = static_cast<unsigned char>(random() % 256);
    for (unsigned char& each : rgb) each = static_cast<unsigned char>(random() % 256);
    write_png(path, colours);
    EXPECT_EQ(decoded(path), colours);
    write_png(path, greys);
    const auto grey = decoded(path);
    ASSERT_EQ(grey.shape(), greys.shape());
    for (std::size_t k = 0; k < grey.size(); ++k)
        EXPECT_EQ(grey[k], (uchar4{greys[k], greys[k], greys[k], 255}));
    write_png(path, png_pixels{rgb.data(), 2, 3, 3});
    const auto three = decoded(path);
    ASSERT_EQ(three.shape(), shape(2, 3));
    for (std::size_t k = 0; k < 6; ++k)
        EXPECT_EQ(three[k], (uchar4{rgb[3 * k], rgb[3 * k + 1], rgb[3 * k + 2], 255}));
}

TEST(B11_png, numbers_are_shown_by_a_map) {
    const scratch_directory folder;
    const std::string path = folder / "x.png";
    const float none = std::numeric_limits<float>::quiet_NaN(),
                beyond = std::numeric_limits<float>::infinity();
    on_all_devices([&](const device& dev) {
        const context ctx({dev});
        const vector<float> x(ctx, {-1, 0, 1, 3, none, beyond});
        write_png(path, view(x, {2, 3}), {.map = colour_map::grey});
        const auto got = decoded(path);
        ASSERT_EQ(got.shape(), shape(2, 3));
        for (const auto& [at, grey] : {std::pair(0, 0), {1, 64}, {2, 128}, {3, 255}, {5, 255}}) {
            const auto g = static_cast<unsigned char>(grey);
            EXPECT_EQ(got[static_cast<std::size_t>(at)], (uchar4{g, g, g, 255})) << at;
        }
        EXPECT_EQ(got[4].w, 0);
        write_png(path, 2 * view(x, {2, 3}), {.map = colour_map::grey, .from = 0, .to = 4});
        EXPECT_EQ(decoded(path)[2], (uchar4{128, 128, 128, 255}));
        EXPECT_EQ(decoded(path)[0], (uchar4{0, 0, 0, 255}));
        EXPECT_THAT(usage_message_of([&] { write_png(path, x); }),
                    HasSubstr("write balm::view(x, {rows, columns})"));
    });
    for (int shade = 1; shade <= 255; ++shade) {
        const float at = static_cast<float>(shade) / 255;
        EXPECT_NEAR(lightness(colour_of(colour_map::perceptual, at)), 0.2 + 0.75 * at, 0.01) << shade;
    }
    host_array<double> same(shape(2, 2));
    for (double& each : same) each = 5;
    write_png(path, same);
    EXPECT_EQ(decoded(path)[3], colour_of(colour_map::perceptual, 0));
}

TEST(B11_png, refuses_what_no_file_can_be_with_words) {
    const scratch_directory folder;
    const host_array<unsigned char> picture(shape(2, 2));
    EXPECT_THAT(usage_message_of([&] { write_png(folder / "no/such.png", picture); }),
                HasSubstr("such.png' cannot be written: No such file"));
    EXPECT_THAT(
        usage_message_of([&] { write_png(folder / "x.png", host_array<unsigned char>(shape(0, 2))); }),
        HasSubstr("not 0 x 2"));
    if (std::FILE* const full = std::fopen("/dev/full", "wb")) {
        std::setvbuf(full, nullptr, _IONBF, 0);
        EXPECT_EQ(usage_message_of([&] {
                      write_png(full, {picture.data(), 2, 2, 1});
                  }),
                  "No space left on device");
        std::fclose(full);
    }
}

}  // namespace balm::test
