// The serial heat step, in single and double precision. In: a world, dt, n. Out: the world n steps later.
// The constants were derived from the golden worlds; tests/heat/reference_test.cpp checks them.

#include "reference.hpp"

#include <algorithm>
#include <cmath>

namespace heat {
namespace {

template <class Real>
Real clamped(Real value) {
    if (!(value > 0)) return 0;  // NaN becomes 0, too
    return value < 1 ? value : 1;
}

template <class Real>
Real next_temperature(const world& world, const std::vector<Real>& state, std::size_t x, std::size_t y,
                      Real inner, Real outer) {
    const std::size_t width = world.width;
    const std::size_t index = y * width + x;
    Real weight = inner;
    Real sum = inner * state[index];
    const auto add = [&](std::size_t neighbour) {
        if (world.properties[neighbour] == insulator) return;
        weight += outer;
        sum += outer * state[neighbour];
    };
    if (y > 0) add(index - width);
    if (y + 1 < world.height) add(index + width);
    if (x > 0) add(index - 1);
    if (x + 1 < width) add(index + 1);
    return clamped(sum / weight);
}

template <class Real>
void advance(const world& world, std::vector<Real>& state, float dt, unsigned n) {
    const Real outer = static_cast<Real>(world.alpha) * static_cast<Real>(dt);
    const Real inner = 1 - outer / 4;
    std::vector<Real> next = state;  // cells that are not normal are already correct in both
    for (unsigned step = 0; step < n; ++step) {
        for (std::size_t y = 0, index = 0; y < world.height; ++y)
            for (std::size_t x = 0; x < world.width; ++x, ++index)
                if (world.properties[index] == normal)
                    next[index] = next_temperature(world, state, x, y, inner, outer);
        std::swap(state, next);
    }
}

template <class Real>
double largest_difference(const std::vector<float>& a, const std::vector<Real>& b) {
    if (a.size() != b.size()) throw std::invalid_argument("the two states have different sizes");
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
    return largest;
}

}  // namespace

void check_step(float alpha, float dt) {
    if (!std::isfinite(dt) || dt < 0)
        throw std::invalid_argument("the time step dt must be a finite number of at least 0");
    if (!std::isfinite(alpha * dt))
        throw std::invalid_argument("the propagation constant times the time step is too large for a float");
}

void step_serial(world& world, float dt, unsigned n) {
    check(world);
    check_step(world.alpha, dt);
    advance(world, world.state, dt, n);
}

std::vector<double> step_serial_double(const world& world, float dt, unsigned n) {
    check(world);
    check_step(world.alpha, dt);
    std::vector<double> state(world.state.begin(), world.state.end());
    advance(world, state, dt, n);
    return state;
}

double max_difference(const std::vector<float>& a, const std::vector<float>& b) {
    return largest_difference(a, b);
}

double max_difference(const std::vector<float>& a, const std::vector<double>& b) {
    return largest_difference(a, b);
}

}  // namespace heat
