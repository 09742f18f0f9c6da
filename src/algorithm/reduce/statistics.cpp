#include "balm/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "balm/error.hpp"
#include "balm/quantiles.hpp"

namespace balm::detail {

std::size_t counted_beyond(std::size_t lost, const array::tape& list) {
    const std::size_t count = array::box_of(list).count();
    if (count > lost) return count;
    throw usage_error(
        count == 0
            ? "the mean and the variance of no elements are undefined"
            : fmt::format(
                  "a variance with {} degrees of freedom subtracted needs more elements than that; it got {}",
                  lost, count));
}

float square_root(float x) { return std::sqrt(x); }
double square_root(double x) { return std::sqrt(x); }
float scaled(float x, int k) { return std::ldexp(x, k); }
double scaled(double x, int k) { return std::ldexp(x, k); }

namespace {

template <class T>
int scaling_exponent_of(T largest) {
    if (largest == 0 || !std::isfinite(largest)) return 0;
    constexpr int most = std::numeric_limits<T>::max_exponent - 28;  // 2^most and its inverse are normal
    return std::clamp(std::ilogb(largest), -most, most);
}

}  // namespace

int scaling_exponent(float largest) { return scaling_exponent_of(largest); }
int scaling_exponent(double largest) { return scaling_exponent_of(largest); }

}  // namespace balm::detail

namespace balm::array {

quantile_place place_of_quantile(double q, std::size_t count) {
    if (!(q >= 0 && q <= 1))
        throw usage_error(fmt::format("a quantile is a share of the elements, from 0 to 1; it got {}", q));
    if (count == 0) throw usage_error("the quantiles of no elements are undefined");
    const double place = q * static_cast<double>(count - 1);
    const auto below = std::min(static_cast<std::size_t>(place), count - 1);
    return {below, below + 1 < count ? place - static_cast<double>(below) : 0};
}

shape without_last(const shape& extents) {
    std::vector<std::size_t> kept;
    for (int d = 0; d + 1 < extents.dimensions(); ++d) kept.push_back(extents[d]);
    return kept.empty() ? shape(1) : shape(kept);
}

}  // namespace balm::array
