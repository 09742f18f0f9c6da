// The Lorenz system for many parameters at once, by the explicit Runge-Kutta method of order 4, in two forms:
// a kernel per step, as in a program that looks at every step, and a kernel with the loop over time inside,
// which reads and writes memory once. Both call the same generic C++, and so does the host.

#include <array>
#include <balm/balm.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>

constexpr double sigma = 10, b = 8.0 / 3, dt = 0.01;

template <class T>
std::array<T, 3> change(const std::array<T, 3>& p, const T& r) {
    return {T(sigma * (p[1] - p[0])), T(r * p[0] - p[1] - p[0] * p[2]), T(p[0] * p[1] - b * p[2])};
}

template <class T>
std::array<T, 3> moved(const std::array<T, 3>& p, double by, const std::array<T, 3>& along) {
    return {T(p[0] + by * along[0]), T(p[1] + by * along[1]), T(p[2] + by * along[2])};
}

template <class T>
std::array<T, 3> next(const std::array<T, 3>& p, const T& r) {
    const auto k1 = change(p, r), k2 = change(moved(p, dt / 2, k1), r), k3 = change(moved(p, dt / 2, k2), r),
               k4 = change(moved(p, dt, k3), r);
    return moved(moved(moved(moved(p, dt / 6, k1), dt / 3, k2), dt / 3, k3), dt / 6, k4);
}

int main() {
    using namespace balm::dsl;
    using clock = std::chrono::steady_clock;
    constexpr std::size_t n = 1 << 14;
    constexpr int steps = 400;

    auto one_step = balm::kernel<1>(
        "one_step(r, x, y, z)", [](In<double> r, InOut<double> x, InOut<double> y, InOut<double> z) {
            Index i = global_id(0);
            const auto p = next<Double>({Double(x[i]), Double(y[i]), Double(z[i])}, Double(r[i]));
            x[i] = p[0];
            y[i] = p[1];
            z[i] = p[2];
        });
    auto all_steps = balm::kernel<1>(
        "all_steps(steps, r, x, y, z)",
        [](Int count, In<double> r, InOut<double> x, InOut<double> y, InOut<double> z) {
            Index i = global_id(0);
            Double own = r[i];
            Double u = named("u", Double(x[i])), v = named("v", Double(y[i])), w = named("w", Double(z[i]));
            for ([[maybe_unused]] Int step : range(count)) {
                const auto p = next<Double>({u, v, w}, own);
                u = p[0];
                v = p[1];
                w = p[2];
            }
            x[i] = u;
            y[i] = v;
            z[i] = w;
        });

    balm::context ctx;
    const balm::device dev = ctx.device(0);
    balm::vector<double> r(ctx, n), x(ctx, n), y(ctx, n), z(ctx, n);
    r = 0.1 + 50.0 * balm::element_index() / n;
    const auto begin = [&] {
        x = 10.0;
        y = 10.0;
        z = 10.0;
        dev.finish();
        return clock::now();
    };
    const auto report = [&](const char* what, clock::time_point since) {
        dev.finish();
        std::fprintf(stderr, "%s: %.1f ms\n", what,
                     std::chrono::duration<double>(clock::now() - since).count() * 1e3);
    };

    auto since = begin();
    for (int step = 0; step < steps; ++step) dev.execute(one_step(r, x, y, z), {n});
    report("a kernel a step", since);
    const auto stepwise = x.to_host();

    since = begin();
    dev.execute(all_steps(steps, r, x, y, z), {n});
    report("all steps in one kernel", since);
    const auto at_once = x.to_host();

    double forms = 0, host = 0;
    for (std::size_t i = 0; i < n; i += 37) {
        std::array<double, 3> p{10, 10, 10};
        const double own = 0.1 + 50.0 * static_cast<double>(i) / n;
        for (int step = 0; step < steps; ++step) p = next(p, own);
        forms = std::fmax(forms, std::fabs(stepwise[i] - at_once[i]));
        host = std::fmax(host, std::fabs(p[0] - at_once[i]));
    }
    // In 4 units of time a difference grows by about e^4; the device may contract a * b + c.
    std::printf("the two forms: %s\n", forms == 0 ? "equal bit for bit" : "DIFFERENT");
    std::printf("host and device differ by %s 1e-8\n", host < 1e-8 ? "less than" : "MORE THAN");
}
