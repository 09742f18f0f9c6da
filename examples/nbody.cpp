// Bodies that attract each other: each step is three vector expressions, in which a function reads the
// positions of all bodies. Energy and momentum are conserved.

#include <balm/balm.hpp>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

int main() {
    using namespace balm::dsl;
    constexpr int n = 1024;
    constexpr double dt = 1e-3, softening = 1e-2;

    // The acceleration of body i in one direction, `along`, by all others (the gravitational constant is 1).
    auto acceleration = balm::function(
        "acceleration(i, along, x, y, z, mass)",
        [=](Long i, In<double> along, In<double> x, In<double> y, In<double> z, In<double> mass) {
            Double sum = named("sum", 0.0);
            for (Int j : range(n)) {
                Double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
                Double near = rsqrt(dx * dx + dy * dy + dz * dz + softening);
                sum += mass[j] * (along[j] - along[i]) * near * near * near;
            }
            return sum;
        });
    // Half of the potential energy between body i and all others.
    auto potential = balm::function("potential(i, x, y, z, mass)", [=](Long i, In<double> x, In<double> y,
                                                                       In<double> z, In<double> mass) {
        Double sum = named("sum", 0.0);
        for (Int j : range(n)) {
            Double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            sum -= select(i == j, 0.0, mass[i] * mass[j] * rsqrt(dx * dx + dy * dy + dz * dz + softening));
        }
        return sum / 2;
    });

    // A rotating disc.
    balm::context ctx;
    balm::vector<double> turn(ctx, n), radius(ctx, n);
    turn = 2 * std::numbers::pi * 0.618033988749895 * balm::element_index();
    radius = sqrt((balm::element_index() + 0.5) / n);
    const balm::vector<double> mass(ctx, n, 1.0 / n);
    balm::vector<double> x = radius * cos(turn), y = radius * sin(turn), z = 0.05 * sin(7 * turn);
    balm::vector<double> u = -0.8 * y, v = 0.8 * x, w = 0.0 * x;

    const auto i = balm::element_index();
    auto energy = [&] {
        return balm::sum(mass * (u * u + v * v + w * w) / 2) +
               balm::sum(potential(balm::element_index(0, n), x, y, z, mass));
    };
    auto kick = [&](double time) {
        u += time * acceleration(i, x, x, y, z, mass);
        v += time * acceleration(i, y, x, y, z, mass);
        w += time * acceleration(i, z, x, y, z, mass);
    };

    const double before = energy(), momentum = balm::sum(mass * (x * v - y * u));
    kick(dt / 2);
    for (int step = 0; step < 100; ++step) {
        x += dt * u;
        y += dt * v;
        z += dt * w;
        kick(step == 99 ? dt / 2 : dt);
    }
    const double drift = std::abs(energy() - before) / std::abs(before);
    const double turned = std::abs(balm::sum(mass * (x * v - y * u)) - momentum) / momentum;
    std::printf("energy at the beginning: %.6f\n", before);
    std::printf("relative change in 100 steps: %s 1e-5\n", drift < 1e-5 ? "below" : "ABOVE");
    std::printf("of the angular momentum: %s 1e-12\n", turned < 1e-12 ? "below" : "ABOVE");
}
