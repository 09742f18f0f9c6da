// Pi by chance: the share of random points of a square that are in its inscribed circle. The numbers are a
// function of seed, stream and index, so nothing is stored: drawing, comparing and counting are one kernel,
// and every device counts the same.

#include <balm/balm.hpp>
#include <cmath>
#include <cstdint>
#include <iostream>

int main() {
    constexpr std::size_t n = std::size_t{1} << 24;
    constexpr std::uint64_t seed = 2026, horizontal = 0, vertical = 1;
    const balm::uniform<float> number;
    const auto i = balm::element_index(0, n);

    const auto x = 2.f * number(i, seed, horizontal) - 1.f, y = 2.f * number(i, seed, vertical) - 1.f;
    const std::int64_t inside = balm::sum(x * x + y * y < 1.f);
    const double pi = 4.0 * static_cast<double>(inside) / static_cast<double>(n);

    std::cout << inside << " of " << n << " points: pi is about " << pi << '\n';
    const double deviation = std::sqrt(3.14159265 * (4 - 3.14159265) / static_cast<double>(n));
    return std::abs(pi - 3.14159265) < 4 * deviation ? 0 : 1;
}
