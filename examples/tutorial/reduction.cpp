// Step 3, reductions: one value of many, several in one pass, and along a dimension.

#include <balm/balm.hpp>
#include <iostream>
#include <numbers>

int main() {
    balm::context ctx;
    const std::size_t stations = 4, hours = 24;
    const auto station = balm::element_index() / hours, hour = balm::element_index() % hours;
    balm::vector<double> celsius(ctx, stations * hours);
    celsius = 13 - 2 * balm::cast<double>(station) +
              6 * sin(2 * std::numbers::pi * balm::cast<double>(hour - 9) / hours);
    auto T = balm::view(celsius, {stations, hours});

    std::cout << "mean " << balm::mean(celsius) << ", above 14.5 C: " << balm::count(celsius > 14.5) << '\n';

    // Nothing is stored in between: the expression is computed inside the reduction's kernel.
    const double spread = balm::sum((celsius - 10) * (celsius - 10)) / (stations * hours);
    std::cout << "mean square distance from 10 C: " << spread << '\n';

    const auto [coldest, warmest] = balm::reduce(balm::min_of(celsius), balm::max_of(celsius));  // one pass
    const auto [value, position] = balm::arg_max(celsius);
    std::cout << coldest << " to " << warmest << ", the warmest at station " << position / hours << ", hour "
              << position % hours << '\n';

    // Along the hours: a value for each station, which stays on the device.
    balm::vector<double> of_stations = balm::sum(T, balm::along(1)) / hours;
    std::cout << "means of the stations: " << of_stations << '\n';
}
