// The Mandelbrot set: how fast points escape, against the host's orbits, and the picture that is written of
// it, read back by libpng.

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <string>

#include "balm/balm.hpp"
#include "balm/png.hpp"
#include "support/devices.hpp"
#include "support/scratch_directory.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using std::fma;

constexpr int mandelbrot_width = 48, mandelbrot_height = 40, most_turns = 60;

/// z -> z^2 + c, for host and device. Every rounding is explicit, so both find the same numbers.
template <class T>
struct orbit_of {
    T cx, cy, x = cx, y = cy, xx = x * x, yy = y * y;

    orbit_of(const T& column, const T& row, float step)
        : cx(fma(column, T(step), T(-2.2f))), cy(fma(row, T(step), T(-1.2f))) {}
    auto is_near() const { return xx + yy < 4.f; }
    void turn() {
        y = fma(x + x, y, cy);
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
    }
};

/// 0 inside, and up to 255 for points that escape at once.
int shade_of(int turns) { return turns == most_turns ? 0 : 255 - 4 * turns; }

}  // namespace

TEST(G2_mandelbrot, turns_are_the_hosts_and_the_picture_is_theirs) {
    constexpr float step = 2.4f / mandelbrot_height;
    const auto kernel =
        balm::kernel<2>("mandelbrot(turns, shades)", [](Out<int, 2> turns, Out<unsigned char, 2> shades) {
            const Int column = cast<int>(global_id(0)), row = cast<int>(global_id(1));
            orbit_of<Float> z(cast<float>(column), cast<float>(row), step);
            Int count = 0;
            WHILE (count < most_turns && z.is_near()) {
                z.turn();
                ++count;
            }
            turns[row * mandelbrot_width + column] = count;
            shades[row * mandelbrot_width + column] =
                cast<unsigned char>(select(count == most_turns, Int(0), 255 - 4 * count));
        });
    const scratch_directory folder;
    const std::string path = folder / "mandelbrot.png";
    on_all_devices([&](const device& on) {
        auto turns = on.out_buffer<int>(mandelbrot_height, mandelbrot_width);
        auto shades = on.out_buffer<unsigned char>(mandelbrot_height, mandelbrot_width);
        on.execute(kernel(turns, shades), {mandelbrot_width, mandelbrot_height});
        const auto got = turns.read();
        write_png(path, shades.read());

        png_image image{};
        image.version = PNG_IMAGE_VERSION;
        ASSERT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0) << image.message;
        image.format = PNG_FORMAT_GRAY;
        host_array<unsigned char> pixels(shape(image.height, image.width));
        ASSERT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr), 0) << image.message;
        ASSERT_EQ(pixels.shape(), shape(mandelbrot_height, mandelbrot_width));

        int inside = 0, fast = 0;
        for (int row = 0; row < mandelbrot_height; ++row)
            for (int column = 0; column < mandelbrot_width; ++column) {
                orbit_of<float> z(static_cast<float>(column), static_cast<float>(row), step);
                int count = 0;
                for (; count < most_turns && z.is_near(); ++count) z.turn();
                const std::size_t at =
                    static_cast<std::size_t>(row) * mandelbrot_width + static_cast<std::size_t>(column);
                ASSERT_EQ(got[at], count) << row << ' ' << column;
                ASSERT_EQ(pixels[at], shade_of(count)) << row << ' ' << column;
                inside += count == most_turns ? 1 : 0;
                fast += count < 3 ? 1 : 0;
            }
        EXPECT_GT(inside, 100);
        EXPECT_GT(fast, 100);
    });
}

}  // namespace balm::test
