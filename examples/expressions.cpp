// A tour of vector expressions: each statement is one kernel.

#include <balm/balm.hpp>
#include <iostream>

int main() {
    balm::context ctx;
    const size_t n = 1000;
    balm::vector<double> x(ctx, n), y(ctx, n, 1.0);
    x = 0.5 * balm::element_index();  // 0, 0.5, 1, …
    y += 2 * x - min(x, 3.0);         // a scalar is an argument: changing it never recompiles
    std::cout << y[10] << ' ' << y[999] << '\n';

    balm::vector<int> bins(ctx, n);
    bins = cast<int>(x) % 7;  // cast rounds toward zero
    std::cout << balm::sum(bins == 3) << ' ' << balm::max(bins) << '\n';

    y = select(x > 250, sqrt(x), balm::constant(0.0));
    std::cout << balm::sum(y * y) << ' ' << balm::min(y) << '\n';
}
