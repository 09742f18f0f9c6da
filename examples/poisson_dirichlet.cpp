// Poisson's equation -Δu = f on a square whose border is held at zero, by sine transforms, which diagonalise
// the difference of neighbours. First an analytic solution, whose error falls by 4 when the spacing is
// halved; then the potential of charges in a grounded box as a PNG, with equipotential lines.
// `poisson_dirichlet [file.png]`

#include <balm/balm.hpp>
#include <balm/png.hpp>
#include <balm/spectral.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using doubles = balm::vector<double>;
using floats = balm::vector<float>;

constexpr double pi = 3.14159265358979323846;

/// u at the n x n inner points, with spacing 1 / (n + 1), from f there.
doubles solved(const balm::context& ctx, const doubles& f, std::size_t n) {
    const double h = 1.0 / static_cast<double>(n + 1);
    const balm::shape points(n, n);
    // The eigenvalues of -u'' along a line; in two dimensions, their sums.
    doubles line(ctx, n);
    line = (2 - 2 * cos(pi * h * balm::cast<double>(balm::element_index(1)))) / (h * h);
    const auto along_y = balm::view(line, {n, std::size_t{1}}).broadcast(points);
    const auto along_x = balm::view(line, {std::size_t{1}, n}).broadcast(points);
    return balm::idst(balm::dst(balm::view(f, points), 1) / (along_x + along_y), 1);
}

/// The largest error on n x n points; the exact solution is u = x (1 - x) exp(x) sin(2 π y).
double error_of(const balm::context& ctx, std::size_t n) {
    const auto at = balm::element_index(0, n * n);
    const auto count = static_cast<std::int64_t>(n);
    const double h = 1.0 / static_cast<double>(n + 1);
    doubles x(ctx, n * n), y(ctx, n * n), exact(ctx, n * n), f(ctx, n * n);
    x = h * balm::cast<double>(at % count + 1);
    y = h * balm::cast<double>(at / count + 1);
    exact = x * (1 - x) * exp(x) * sin(2 * pi * y);
    f = (3 * x + x * x) * exp(x) * sin(2 * pi * y) + 4 * pi * pi * exact;
    const doubles u = solved(ctx, f, n);
    return balm::max(abs(u - exact));
}

struct charge {
    std::size_t row, column;
    double value;
};

}  // namespace

int main(int argc, char** argv) {
    const std::string file = argc > 1 ? argv[1] : "poisson_dirichlet.png";
    const balm::context ctx;
    double before = 0;
    for (const std::size_t n : {15, 31, 63}) {
        const double error = error_of(ctx, n);
        if (before > 0)
            std::printf("%zu x %zu points: the error falls by %.1f\n", n, n, before / error);
        else
            std::printf("%zu x %zu points: the largest error is %.0e\n", n, n, error);
        before = error;
    }

    // Charges in a grounded box: red where the potential is positive, blue where it is negative.
    constexpr std::size_t n = 511;
    doubles f(ctx, n * n, 0);
    for (const charge& each : {charge{150, 140, 1}, charge{150, 370, -1}, charge{340, 255, 1.5},
                               charge{420, 90, -0.7}, charge{430, 430, -0.7}})
        f.set(each.row * n + each.column, each.value * (n + 1) * (n + 1));
    const doubles u = solved(ctx, f, n);
    floats v(ctx, n * n);
    v = balm::cast<float>(u);
    const auto strength = balm::let(balm::min(abs(v) * 1.6f, 1.0f), [](auto s) { return sqrt(s); });
    const auto warm = balm::select(v > 0.0f, 1.0f, 0.0f);
    // Equipotential lines, one per step of the potential, wider where it is flatter.
    constexpr float step = 0.03f;
    const auto steps = v / step + 0.5f;
    const auto line = abs(steps - rint(steps)) < 0.06f;
    const auto shade = [&](auto tone) {
        return balm::cast<unsigned char>(255 * balm::select(line, 0.35f * tone, tone));
    };
    balm::vector<balm::uchar4> picture(ctx, n * n);
    picture = balm::compose<balm::uchar4>(shade(1 - (1 - warm) * strength), shade(1 - 0.75f * strength),
                                          shade(1 - warm * strength), std::uint8_t{255});
    balm::write_png(file, balm::view(picture, {n, n}));

    const auto potential = u.to_host();
    std::size_t positive = 0;
    for (const double value : potential) positive += value > 0;
    std::printf("the potential is positive in %.0f %% of the box\n",
                100.0 * static_cast<double>(positive) / static_cast<double>(n * n));
}
