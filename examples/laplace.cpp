// Laplace's equation in one dimension by Jacobi's method: each element becomes the mean of its neighbours,
// which are read by position; the ends are fixed. The residual is a reduction of the same kind of expression.

#include <balm/balm.hpp>
#include <cstdio>
#include <utility>

int main() {
    constexpr std::int64_t n = 33;
    balm::context ctx;
    balm::vector<double> u(ctx, n, 0.0), next(ctx, n);
    u.set(n - 1, 1.0);

    const auto i = balm::element_index(0, n);
    const auto is_end = i == 0 || i == n - 1;
    // A select computes both operands, so the positions stay inside.
    const auto before = max(i - 1, 0), after = min(i + 1, n - 1);

    for (int sweep = 0; sweep < 5000; ++sweep) {
        next = select(is_end, u, (u[before] + u[after]) / 2);
        swap(u, next);
    }
    const double residual = balm::max(select(is_end, 0.0, abs(u[before] - 2 * u + u[after])));
    const double error = balm::max(abs(u - balm::cast<double>(i) / (n - 1)));
    std::printf("residual %s 1e-9, error %s 1e-7\n", residual < 1e-9 ? "below" : "ABOVE",
                error < 1e-7 ? "below" : "ABOVE");
    std::printf("in the middle: %.6f\n", u[n / 2]);
}
