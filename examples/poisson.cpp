// Poisson's equation on a periodic square by Fourier transforms: -Δu = f becomes |k|² u = f for each wave.
// The error falls faster than any power of the grid spacing, down to rounding.

#include <balm/balm.hpp>
#include <balm/fft.hpp>
#include <cmath>
#include <complex>
#include <cstdio>

namespace {

using doubles = balm::vector<double>;

constexpr double turn = 6.283185307179586;

/// The largest error on n x n points; the exact solution is u = exp(sin x + cos y), up to a constant.
double solve(const balm::context& ctx, std::size_t n) {
    const double h = turn / static_cast<double>(n);
    const balm::shape points(n, n), waves(n, n / 2 + 1);
    // Coordinates along a row and a column, broadcast to all points.
    doubles line(ctx, n), kx(ctx, n / 2 + 1), ky(ctx, n);
    line = h * balm::cast<double>(balm::element_index());
    kx = turn * balm::rfftfreq(n, h);
    ky = turn * balm::fftfreq(n, h);
    const auto x = balm::view(line, {std::size_t{1}, n}).broadcast(points);
    const auto y = balm::view(line, {n, std::size_t{1}}).broadcast(points);
    const auto k2 = balm::view(kx, {std::size_t{1}, n / 2 + 1}).broadcast(waves) *
                        balm::view(kx, {std::size_t{1}, n / 2 + 1}).broadcast(waves) +
                    balm::view(ky, {n, std::size_t{1}}).broadcast(waves) *
                        balm::view(ky, {n, std::size_t{1}}).broadcast(waves);

    doubles exact(ctx, n * n), f(ctx, n * n), inverse(ctx, n * (n / 2 + 1)), u(ctx, n * n);
    exact = exp(sin(x) + cos(y));
    f = (sin(x) - cos(x) * cos(x) + cos(y) - sin(y) * sin(y)) * exact;
    inverse = balm::select(k2 == 0.0, 0.0, 1.0 / k2);  // the mean is arbitrary: 0

    u = balm::irfft(balm::view(inverse, waves) * balm::rfft(balm::view(f, points)), n);

    const double mean = balm::sum(exact) / static_cast<double>(n * n);
    return balm::max(abs(u - (exact - mean)));
}

}  // namespace

int main() {
    const balm::context ctx;
    for (const std::size_t n : {8, 16, 24, 64}) {
        const double error = solve(ctx, n);
        if (error > 1e-12)
            std::printf("%2zu x %2zu points: the largest error is %.0e\n", n, n, error);
        else
            std::printf("%2zu x %2zu points: the largest error is rounding\n", n, n);
    }
}
