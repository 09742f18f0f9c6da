// A hundred thousand pendulums by the Runge-Kutta method of order 4, written as vector statements with a
// vector for every slope. Recorded once, a step is one kernel that stores no slope.

#include <balm/balm.hpp>
#include <chrono>
#include <cstdio>

int main() {
    using clock = std::chrono::steady_clock;
    constexpr std::size_t n = 100'000;
    constexpr double dt = 0.01;
    constexpr int steps = 200;

    balm::context ctx;
    balm::vector<double> angle(ctx, n), speed(ctx, n), energy(ctx, 1);
    angle = 3.0 * (balm::element_index() + 1.0) / n;
    speed = 0.0;

    const auto step = [&] {
        using slope = balm::vector<double>;
        slope a1 = 1.0 * speed, s1 = -sin(angle);
        slope a2 = speed + dt / 2 * s1, s2 = -sin(angle + dt / 2 * a1);
        slope a3 = speed + dt / 2 * s2, s3 = -sin(angle + dt / 2 * a2);
        slope a4 = speed + dt * s3, s4 = -sin(angle + dt * a3);
        angle += dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        speed += dt / 6 * (s1 + 2 * s2 + 2 * s3 + s4);
    };
    const auto total_energy = [&] { return balm::sum(speed * speed / 2 - cos(angle)) / n; };

    const double before = total_energy();
    const balm::recording recorded = balm::record(ctx, step);
    recorded();
    ctx.device().finish();
    const auto begin = clock::now();
    recorded.repeat(steps - 1);
    ctx.device().finish();
    const auto middle = clock::now();
    const double after = total_energy();
    step();
    ctx.device().finish();
    const auto statements = clock::now();
    for (int k = 1; k < 20; ++k) step();
    ctx.device().finish();
    const auto end = clock::now();

    std::printf("a step is %zu kernel; after %d steps the energy has changed by less than 1e-8: %s\n",
                recorded.size(), steps, std::abs(after - before) < 1e-8 ? "yes" : "no");
    const auto microseconds = [](auto time, int count) {
        return std::chrono::duration<double, std::micro>(time).count() / count;
    };
    std::fprintf(stderr, "recorded: %.0f us per step, by single statements: %.0f us\n",
                 microseconds(middle - begin, steps - 1), microseconds(end - statements, 19));
}
