// The Lorenz system for many parameters at once, integrated by Boost.odeint: the state is a multivector, the
// right-hand side is one kernel, and so is each stage of the stepper. lorenz_ensemble.cpp does the same with
// its own kernels.

#include <algorithm>
#include <balm/balm.hpp>
#include <balm/odeint.hpp>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <cstdio>

namespace odeint = boost::numeric::odeint;
using state = balm::multivector<double, 3>;

int main() {
    constexpr std::size_t n = 1 << 14;
    constexpr double sigma = 10, b = 8.0 / 3;

    balm::context ctx;
    balm::vector<double> r(ctx, n);
    r = 0.1 + 19.9 * balm::element_index() / (n - 1);

    const auto lorenz = [&](const state& p, state& change, double) {
        balm::tie(change(0), change(1), change(2)) =
            std::tuple(sigma * (p(1) - p(0)), (r - p(2)) * p(0) - p(1), p(0) * p(1) - b * p(2));
    };

    // Fixed steps: the Runge-Kutta method of order 4.
    state p(ctx, n, 10.0);
    odeint::integrate_const(odeint::runge_kutta4<state>(), lorenz, p, 0.0, 4.0, 0.01);

    // Adaptive steps, whose length an error of 1e-10 in the worst of all systems determines, and values
    // between them. Steppers end where a step ends, so the observer keeps the state at t = 4.
    state q(ctx, n, 10.0), last;
    std::size_t moments = 0;
    double highest = 0;
    const auto watch = [&](const state& now, double) {
        ++moments;
        last = now;
        highest = std::max(highest, balm::max(now(2)));
    };
    const auto dense = odeint::make_dense_output<odeint::runge_kutta_dopri5<state>>(1e-10, 1e-10);
    odeint::integrate_const(dense, lorenz, q, 0.0, 4.0, 0.5, watch);

    // For r < 1 a system comes to rest at 0, for larger r at one of two fixed points.
    std::printf("r = %.1f: x = %.4f, y = %.4f, z = %.4f\n", r[0], last(0)[0], last(1)[0], last(2)[0]);
    const double rest = std::sqrt(b * (r[n / 3] - 1));
    std::printf("r = %.4f: x is %s 0.05 of a fixed point\n", r[n / 3],
                std::fabs(std::fabs(last(0)[n / 3]) - rest) < 0.05 ? "within" : "NOT WITHIN");
    std::printf("%zu moments watched, z at most %.1f\n", moments, highest);
    std::printf("the steppers differ by %s 1e-2\n",
                balm::max(abs(p(0) - last(0))) < 1e-2 ? "less than" : "MORE THAN");
}
