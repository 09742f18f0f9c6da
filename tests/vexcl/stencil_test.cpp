// Stencils against sums on the host, where neighbours beyond the ends are the end elements.

#include <algorithm>
#include <array>
#include <cmath>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

std::vector<double> convolved(const std::vector<double>& s, std::size_t center, const double* x,
                              std::size_t n) {
    std::vector<double> made(n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < s.size(); ++k) {
            const auto at = static_cast<std::ptrdiff_t>(i + k) - static_cast<std::ptrdiff_t>(center);
            made[i] += s[k] * x[std::clamp<std::ptrdiff_t>(at, 0, static_cast<std::ptrdiff_t>(n) - 1)];
        }
    return made;
}

TEST(B9_vexcl_stencil, weights) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        struct size {
            std::size_t n, width, center;
        };
        for (const auto& [n, width, center] : {size{1024, 5, 1}, {128, 24, 23}, {4096, 2048, 700}}) {
            const std::vector<double> s = numbers<double>(random, width), host = numbers<double>(random, n);
            const std::vector<double> wanted = convolved(s, center, host.data(), n);
            const vex::stencil<double> S(ctx, s, static_cast<unsigned>(center));
            const vex::vector<double> x(ctx, host);
            vex::vector<double> y(ctx, n);
            y = 1;
            y += x * S;
            expect_elements(y, [&](std::size_t i) { return 1 + wanted[i]; });
            y = 42 * (S * x) - x;
            expect_elements(y, [&](std::size_t i) { return 42 * wanted[i] - host[i]; });
        }
    });
}

TEST(B9_vexcl_stencil, made_of_iterators_and_lists_and_on_multivectors) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 1000;
        const std::vector<double> s{0.25, 0.5, 0.25, 0, -1}, host = numbers<double>(random, 2 * n);
        const vex::stencil<double> S(ctx, s.begin(), s.end(), 1), T(ctx, {0.25, 0.5, 0.25, 0.0, -1.0}, 1);
        const vex::multivector<double, 2> x(ctx, host);
        vex::multivector<double, 2> y(ctx, n);
        y = x * S + x * T;
        for (const int k : {0, 1}) {
            const std::vector<double> wanted = convolved(s, 1, host.data() + k * n, n);
            expect_elements(y(k), [&](std::size_t i) { return 2 * wanted[i]; });
        }
    });
}

TEST(B9_vexcl_stencil, operators_of_the_program) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 1000;
        VEX_STENCIL_OPERATOR(bend, double, 3, 1, "return sin(X[1] - X[0]) + sin(X[0] - X[-1]);", ctx);
        const std::vector<double> host = numbers<double>(random, n);
        const vex::vector<double> x(ctx, host);
        vex::vector<double> y(ctx, n);
        const auto wanted = [&](std::size_t i) {
            const double left = host[i == 0 ? 0 : i - 1], right = host[std::min(i + 1, n - 1)];
            return std::sin(right - host[i]) + std::sin(host[i] - left);
        };
        y = bend(x);
        expect_elements(y, wanted);
        y = 41 * bend(x) + bend(x);
        expect_elements(y, [&](std::size_t i) { return 42 * wanted(i); });
    });
}

}  // namespace

}  // namespace balm::test
