// Algorithms written on a template type: the host's numbers give what the recorded ones give.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

/// A polynomial of any length by Horner's rule, with its derivative: a loop of the host's, which unrolls.
template <class T, std::size_t N>
std::array<T, 2> value_and_slope(const std::array<double, N>& c, const T& x) {
    T value = T(c[N - 1]), slope = T(0.0);
    for (std::size_t k = N - 1; k-- > 0;) {
        slope = slope * x + value;
        value = value * x + c[k];
    }
    return {value, slope};
}

/// Newton's method, some steps of it.
template <class T>
T root(const std::array<double, 4>& c, T x, int steps) {
    for (int k = 0; k < steps; ++k) {
        const auto at = value_and_slope(c, x);
        x = x - at[0] / at[1];
    }
    return x;
}

TEST(V17_generic, algorithms_give_on_devices_what_they_give_on_the_host) {
    auto random = seeded_random();
    constexpr std::size_t n = 257;
    const auto start = random_values<double>(random, n);
    const std::array<double, 4> c{-2, 3, 1, 0.5};  // one real root, about 0.57
    const auto solve = balm::kernel<1>("solve(x, out)", [&](In<double> x, Out<double> out) {
        out[global_id(0)] = root<Double>(c, Double(x[global_id(0)]), 20);
    });
    auto function = balm::function("root_of(x)", [&](Double x) { return root(c, x, 20); });
    on_all_contexts([&](const context& on) {
        vector<double> x(on, std::span<const double>(start)), out(on, n), again(on, n);
        x = 1 + 0.25 * sin(x);
        on.device(0).execute(solve(x, out), {n});
        again = function(x);
        for (std::size_t i = 0; i < n; ++i) {
            const double wanted = root(c, x[i], 20);
            EXPECT_NEAR(value_and_slope(c, wanted)[0], 0, 1e-14);
            EXPECT_NEAR(out[i], wanted, 1e-14) << i;
            EXPECT_EQ(again[i], out[i]) << i;
        }
    });
}

/// Any state that adds and takes factors; the classical method of Runge and Kutta.
template <class T>
struct pair {
    T a, b;
    friend pair operator+(const pair& x, const pair& y) { return {T(x.a + y.a), T(x.b + y.b)}; }
    friend pair operator*(double f, const pair& x) { return {T(f * x.a), T(f * x.b)}; }
};
template <class State, class System>
State runge_kutta(const System& change, const State& now, double dt) {
    const State k1 = change(now), k2 = change(now + dt / 2 * k1), k3 = change(now + dt / 2 * k2),
                k4 = change(now + dt * k3);
    return now + dt / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
}

TEST(V17_generic, runge_kutta_of_an_ensemble_follows_the_exact_solution) {
    auto random = seeded_random();
    constexpr std::size_t n = 300;
    const auto phases = random_values<double>(random, n);
    const auto turn = balm::kernel<1>(
        "turn(steps, frequency, phase, out)",
        [](Int steps, Double frequency, In<double> phase, Out<double> out) {
            Index i = global_id(0);
            Double x = named("x", cos(Double(phase[i]))), y = named("y", sin(Double(phase[i])));
            for ([[maybe_unused]] Int step : range(steps)) {
                const auto rotate = [&](const pair<Double>& now) {
                    return pair<Double>{Double(-frequency * now.b), Double(frequency * now.a)};
                };
                const auto next = runge_kutta(rotate, pair<Double>{x, y}, 0.01);
                x = next.a;
                y = next.b;
            }
            // A branch of the language's own, by the value at the end.
            IF (x > 0.0) {
                out[i] = x;
            }
            ELSE { out[i] = -x; }
        });
    on_all_contexts([&](const context& on) {
        vector<double> phase(on, std::span<const double>(phases)), out(on, n);
        phase = atan(phase);
        for (const double frequency : {0.5, 2.0}) {
            on.device(0).execute(turn(200, frequency, phase, out), {n});
            for (std::size_t i = 0; i < n; ++i)
                ASSERT_NEAR(out[i], std::fabs(std::cos(phase[i] + 2 * frequency)), 1e-8) << i;
        }
    });
}

}  // namespace

}  // namespace balm::test
