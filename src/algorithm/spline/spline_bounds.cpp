#include "algorithm/spline/spline_bounds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "balm/error.hpp"

namespace balm {

namespace detail {

void spline_without_lattice() {
    throw usage_error(
        "this spline has no control points because it was default-constructed; assign a spline to it first");
}

}  // namespace detail

namespace array {

template <class T>
void check_bounds(const spline_request& asked) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(asked.dimensions); ++d) {
        const double lower = asked.lower[d], upper = asked.upper[d];
        const T from = static_cast<T>(lower), to = static_cast<T>(upper);
        if (!std::isfinite(from) || !std::isfinite(to) || !std::isfinite(to - from))
            throw usage_error(
                fmt::format("the bounds of a spline along dimension {} are {} and {}; they and their "
                            "difference must be finite",
                            d, lower, upper));
        if (!(from < to))
            throw usage_error(
                fmt::format("the bounds of a spline along dimension {} are {} and {}; the lower one must be "
                            "less than the upper one{}",
                            d, lower, upper, lower < upper ? ", also when rounded to float" : ""));
        if (!std::isfinite(static_cast<T>(static_cast<double>(asked.cells[d]) / (to - from))))
            throw usage_error(
                fmt::format("the bounds of a spline along dimension {}, {} and {}, are so close that the "
                            "number of cells per unit overflows; scale the coordinates",
                            d, lower, upper));
    }
}

std::size_t control_points_of(const spline_request& asked, const std::string& of, const char* instead) {
    std::optional<std::size_t> count = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(asked.dimensions) && count; ++d) {
        const std::optional<std::size_t> extent = balm::detail::checked_sum(asked.cells[d], std::size_t{3});
        count = extent ? balm::detail::checked_product(*count, *extent) : std::nullopt;
    }
    if (!count || *count > most_control_points)
        throw usage_error(
            fmt::format("{} would have more than {} control points; {}", of, most_control_points, instead));
    return *count;
}

template <class T>
spline_lattice<T> lattice_of(const spline_request& asked) {
    spline_lattice<T> made;
    for (std::size_t d = 0; d < static_cast<std::size_t>(asked.dimensions); ++d) {
        made.cells[d] = static_cast<std::int32_t>(asked.cells[d]);
        made.lower[d] = static_cast<T>(asked.lower[d]);
        made.scale[d] = static_cast<T>(
            static_cast<double>(asked.cells[d]) /
            (static_cast<double>(static_cast<T>(asked.upper[d])) - static_cast<double>(made.lower[d])));
    }
    return made;
}

template void check_bounds<float>(const spline_request&);
template void check_bounds<double>(const spline_request&);
template spline_lattice<float> lattice_of(const spline_request&);
template spline_lattice<double> lattice_of(const spline_request&);

}  // namespace array
}  // namespace balm
