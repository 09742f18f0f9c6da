// A landscape from scattered measurements: 400 heights at random positions, a smooth surface through them,
// and a picture of it. `surface [file.png]` writes the surface, lit from the north-west, with the
// measurements as dots.

#include <balm/balm.hpp>
#include <balm/png.hpp>
#include <balm/spline.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <tuple>
#include <vector>

namespace {

constexpr std::size_t measurements = 400;
constexpr std::int64_t side = 512;

/// Two hills and a hollow on a slope. Made only of + - * /.
template <class X>
auto height(const X& x, const X& y) {
    const auto hill = [&](double middle_x, double middle_y, double radius) {
        const auto dx = (x - middle_x) / radius, dy = (y - middle_y) / radius;
        return 1.0 / (1.0 + dx * dx + dy * dy);
    };
    return hill(0.3, 0.3, 0.2) + 0.7 * hill(0.7, 0.6, 0.15) - 0.8 * hill(0.35, 0.75, 0.15) + 0.5 * y;
}

}  // namespace

int main(int argc, char** argv) {
    const balm::context ctx;

    // Heights measured at random positions.
    std::mt19937 random(2026);
    std::vector<double> x, y, heights;
    for (std::size_t k = 0; k < measurements; ++k) {
        x.push_back(static_cast<double>(random()) / 4294967296.0);
        y.push_back(static_cast<double>(random()) / 4294967296.0);
        heights.push_back(height(x[k], y[k]));
    }
    const balm::spline_bounds<2> land{{0, 0}, {1, 1}};
    for (int levels = 1; levels <= 7; levels += 2) {
        const balm::scattered_spline<2> rough(ctx, land, std::tie(x, y), heights, {.levels = levels});
        std::printf("%d level%s: the measurements are met within %.2g\n", rough.levels(),
                    rough.levels() == 1 ? "" : "s", rough.residual_max());
    }
    const balm::scattered_spline<2> surface(ctx, land, std::tie(x, y), heights);

    // The surface between the measurements, compared with the landscape itself.
    const auto pixel = balm::element_index(0, side * side);
    const auto u = (balm::cast<double>(pixel % side) + 0.5) / side;
    const auto v = (balm::cast<double>(pixel / side) + 0.5) / side;
    const double error = balm::sum(abs(surface(u, v) - height(u, v))) / (side * side);
    std::printf("everywhere the surface differs from the land by %.3f on average\n", error);

    if (argc > 1) {
        balm::vector<unsigned char> picture(ctx, side * side);
        constexpr double step = 1.0 / side;
        const auto light = 0.5 + 0.03 * (surface(u + step, v + step) - surface(u - step, v - step)) / step;
        picture = balm::cast<unsigned char>(255.0 * balm::clamp(light, 0.0, 1.0));
        balm::vector<std::int32_t> dots(ctx, measurements);
        const balm::vector<double> east(ctx, x), south(ctx, y);
        dots = balm::cast<std::int32_t>(south * side) * static_cast<std::int32_t>(side) +
               balm::cast<std::int32_t>(east * side);
        picture[dots] = static_cast<unsigned char>(255);
        const auto shape = balm::view(picture, {side, side});
        balm::write_png(argv[1], shape);
    }
}
