// One device function in a vector expression and in a kernel; a generic C++ function on host and device.

#include <balm/balm.hpp>
#include <iostream>
#include <vector>

// Ordinary generic C++: the host calls it with double, a kernel records it with Double.
template <class T>
T logistic(T x, int turns) {
    for (int k = 0; k < turns; ++k) x = 3.5 * x * (1.0 - x);
    return x;
}

int main() {
    using namespace balm::dsl;

    auto norm = balm::function("norm(x, y)", [](Double x, Double y) { return sqrt(x * x + y * y); });
    auto map = balm::function("map(x)", [](Double x) { return logistic(x, 4); });

    balm::context ctx;
    balm::vector<double> x(ctx, {3, 5, 8}), y(ctx, {4, 12, 15}), z(ctx, 3);
    z = norm(x, y) + 1;
    for (double value : z.to_host()) std::cout << value << ' ';
    std::cout << '\n';

    x = map(x / 10);
    std::cout << x[0] << ' ' << logistic(0.3, 4) << '\n';
}
