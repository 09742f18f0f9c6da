#include "balm/statistics.hpp"

#include <fmt/format.h>

#include <cmath>

#include "balm/error.hpp"

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

}  // namespace balm::detail
