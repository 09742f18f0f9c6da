// Reductions: one value from many elements. Several share one pass over memory, results may stay on the
// device, and the order of additions can be the same on all devices.

#include <balm/balm.hpp>
#include <iostream>

int main() {
    balm::context ctx;
    const std::size_t n = 1000;
    const auto i = balm::element_index(0, n);
    balm::vector<double> x = 0.5 * balm::cast<double>(i % 100) - 20.0;
    balm::vector<double> y = balm::cast<double>(i % 7);

    std::cout << "dot product " << balm::sum(x * y) << '\n';

    const auto [least, most, total] = balm::reduce(balm::min_of(x), balm::max_of(x), balm::sum_of(x));
    std::cout << "from " << least << " to " << most << ", together " << total << '\n';

    const auto [value, position] = balm::arg_max(x * y);
    std::cout << "the largest product, " << value << ", stands at " << position << '\n';

    std::cout << balm::count(x < 0) << " are negative; any above 30: " << std::boolalpha << balm::any(x > 30)
              << '\n';

    // A function of two elements: the greatest common divisor.
    using namespace balm::dsl;
    const auto divisor = balm::function("divisor", [](Long a, Long b) {
        WHILE (b != 0) {
            Long rest = a % b;
            a = b;
            b = rest;
        }
        return Long(a);
    });
    std::cout << "common divisor " << balm::fold(12 * (i + 5) * (i + 6), 0, divisor) << '\n';

    // A result that stays on the device is used there.
    balm::vector<double> norm(ctx, 1);
    balm::sum_into(norm, y * y);
    balm::vector<double> unit = y / balm::sqrt(norm[0 * i]);
    std::cout << "length after scaling " << balm::sum(unit * unit) << '\n';

    // A million values, most of them tiny, in single precision: nothing is lost.
    const auto tiny = balm::select(balm::element_index(0, 1 << 20) == 0, 1.f, balm::constant(0x1p-24f));
    std::cout << "one and many tiny ones " << balm::sum(tiny, balm::policy::portable) << '\n';
}
