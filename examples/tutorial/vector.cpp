// Step 1, vectors: temperatures of a day, computed on a device.

#include <balm/balm.hpp>
#include <iostream>
#include <numbers>
#include <vector>

int main() {
    balm::context ctx;  // the best device: a GPU if there is one, else the CPU
    const std::size_t hours = 24;
    balm::vector<double> hour(ctx, hours), celsius(ctx, hours);

    hour = balm::cast<double>(balm::element_index());                   // 0, 1, 2, …
    celsius = 12 + 6 * sin(2 * std::numbers::pi * (hour - 9) / hours);  // one kernel
    std::cout << celsius << '\n';

    std::vector<double> correction(hours, -0.5);  // the thermometer shows half a degree too much
    celsius += balm::vector<double>(ctx, correction);

    balm::vector<double> fahrenheit = 1.8 * celsius + 32;
    std::vector<double> on_the_host = fahrenheit.to_host();
    std::cout << "at noon " << celsius[12] << " C, " << on_the_host[12] << " F\n";
}
