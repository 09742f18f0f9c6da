// A project outside Balm's tree: the vector sum, against an installed Balm.

#include <balm/balm.hpp>
#include <balm/version.hpp>

#include <cstddef>
#include <iostream>
#include <vector>

int main() {
    balm::context ctx;
    const std::size_t n = 1 << 20;
    std::vector<double> a(n, 1), b(n, 2);
    balm::vector<double> A(ctx, a), B(ctx, b), C(ctx, n);
    C = A + B;
    std::cout << C.to_host()[42] << '\n';
}
