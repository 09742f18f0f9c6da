// Step 2, views: temperatures of several stations as a matrix, by rows, columns and blocks.

#include <balm/balm.hpp>
#include <iostream>
#include <numbers>

int main() {
    balm::context ctx;
    const std::size_t stations = 4, hours = 24;
    balm::vector<double> celsius(ctx, stations * hours);
    auto T = balm::view(celsius, {stations, hours});  // copies nothing

    const auto station = balm::cast<double>(balm::element_index() / hours);
    const auto hour = balm::cast<double>(balm::element_index() % hours);
    celsius = 12 - 2 * station + 6 * sin(2 * std::numbers::pi * (hour - 9) / hours);

    std::cout << "station 2, every sixth hour:  " << T(2, balm::slice(0, hours, 6)) << '\n';
    std::cout << "all stations at noon:         " << T(balm::all, 12) << '\n';
    std::cout << "the same, from the last one:  " << T(balm::reversed, 12) << '\n';

    T(3, balm::all) = T(2, balm::all) - 1;   // a row from another
    T(balm::all, balm::slice(0, 6)) -= 0.5;  // the nights were colder
    T(balm::slice(0, 2), 12) = 20.0;         // two elements
    std::cout << "at noon, after the changes:   " << T(balm::all, 12) << '\n';

    // A vector of a value for each station beside a matrix: the same value in every column.
    balm::vector<double> altitude(ctx, {0, 300, 600, 900});
    auto at_each_hour = balm::view(altitude, {stations, std::size_t{1}}).broadcast({stations, hours});
    T += 0.0065 * at_each_hour;  // as at sea level
    std::cout << "at noon, as at sea level:     " << T(balm::all, 12) << '\n';
}
