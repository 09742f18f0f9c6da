// Generic C++, recorded: the classical Runge-Kutta method is written once, for any number and any state. The
// host runs it with double, kernels are recorded with Double, and one launch integrates a whole ensemble of
// oscillators.

#include <balm/balm.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

// Nothing here depends on devices: T is double, Double, or any type that adds and multiplies.
template <class T>
struct state {
    T position, velocity;
    friend state operator+(const state& a, const state& b) {
        return {a.position + b.position, a.velocity + b.velocity};
    }
    friend state operator*(double a, const state& b) { return {a * b.position, a * b.velocity}; }
};

template <class State, class System>
State rk4(const System& change, const State& now, double dt) {
    const State k1 = change(now);
    const State k2 = change(now + dt / 2 * k1);
    const State k3 = change(now + dt / 2 * k2);
    const State k4 = change(now + dt * k3);
    return now + dt / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
}

// Van der Pol's oscillator, x'' = damping (1 - x x) x' - x.
template <class T>
struct van_der_pol {
    T damping;
    state<T> operator()(const state<T>& now) const {
        return {now.velocity, damping * (1 - now.position * now.position) * now.velocity - now.position};
    }
};

int main() {
    using namespace balm::dsl;
    constexpr std::size_t n = 4096;
    constexpr int steps = 1000;
    constexpr double dt = 0.01;

    // A loop on the device takes all steps, in one launch.
    auto oscillate = balm::kernel<1>("oscillate(steps, damping, x, v)",
                                     [](Int count, In<double> damping, InOut<double> x, InOut<double> v) {
                                         Index i = global_id(0);
                                         const van_der_pol<Double> system{damping[i]};
                                         state<Double> now{x[i], v[i]};
                                         for ([[maybe_unused]] Int step : range(count)) {
                                             const state<Double> next = rk4(system, now, dt);
                                             now.position = next.position;
                                             now.velocity = next.velocity;
                                         }
                                         x[i] = now.position;
                                         v[i] = now.velocity;
                                     });

    balm::context ctx;
    balm::vector<double> damping(ctx, n), x(ctx, n, 0.5), v(ctx, n, 0.0);
    damping = 3.0 * balm::element_index() / n;
    ctx.device(0).execute(oscillate(steps, damping, x, v), {n});

    // The same on the host, with double. The device may contract a * b + c: the last digits differ.
    double worst = 0;
    const auto got = x.to_host();
    for (std::size_t i = 0; i < n; ++i) {
        const van_der_pol<double> system{3.0 * static_cast<double>(i) / n};
        state<double> now{0.5, 0.0};
        for (int step = 0; step < steps; ++step) now = rk4(system, now, dt);
        worst = std::fmax(worst, std::fabs(now.position - got[i]));
    }
    // Without damping it is a cosine.
    std::printf("undamped at t = 10: %.6f, cosine: %.6f\n", got[0], 0.5 * std::cos(10.0));
    std::printf("host and device differ by %s 1e-10\n", worst < 1e-10 ? "less than" : "MORE THAN");
}
