// A project outside Balm's tree: the vector sum, against an installed Balm, beside two libraries that use it
// too.

#include <balm/balm.hpp>
#include <balm/version.hpp>

#include <cstddef>
#include <iostream>
#include <vector>

#include "faults.hpp"

int first_library(int value, int n);
int second_library(int value, int n);

int main() {
    balm::context ctx;
    const std::size_t n = 1 << 20;
    std::vector<double> a(n, 1), b(n, 2);
    balm::vector<double> A(ctx, a), B(ctx, b), C(ctx, n);
    C = A + B;
    const bool libraries_are_right =
        first_library(3, 100) == 600 && second_library(5, 10) == 100 && first_library(1, 1) == 2;
    C = C * 1.0;
    if (kept_faults(ctx.device(0)) != 4) return 2;
    if (!libraries_are_right) return 3;
    std::cout << C.to_host()[42] << '\n';
}
