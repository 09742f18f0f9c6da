#pragma once
// Smooth approximation of scattered data by multilevel B-splines.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <balm/spline.hpp>

#include "vexcl/vector.hpp"

namespace vex {

/// A function of one to three coordinates that approximates values at scattered points by a hierarchy of
/// uniform cubic B-splines. Coordinates outside the box are clamped to it.
///
/// Source: S. Lee, G. Wolberg, S. Y. Shin, Scattered data interpolation with multilevel B-splines, 1997.
///
///     vex::mba<2> surface(ctx, lower, upper, points, values, {5, 5});
///     z = surface(x, y);
template <std::size_t N, class Real = double>
class mba {
    static_assert(N >= 1 && N <= 3, "vex::mba: N must be 1, 2 or 3");
    using D = detail::balm_element<Real>;

public:
    typedef Real value_type;
    static constexpr std::size_t ndim = N;
    typedef std::array<std::size_t, N> index;
    typedef std::array<Real, N> point;

    /// Fits points in host memory, which lie between `low` and `high`, with a value for each. The first level
    /// has `grid` - 1 cells along each dimension, each further level twice as many as the previous one. No
    /// level is added after `levels`, or once no residual exceeds the tolerance.
    template <class Points, class Values>
    requires requires(const Points& p, const Values& v) { std::begin(p), std::begin(v); }
    mba(const std::vector<command_queue>& queues, const point& low, const point& high, const Points& points,
        const Values& values, const index& grid, std::size_t levels = 8, Real tolerance = Real(1e-8))
        : mba(queues, low, high, std::begin(points), std::end(points), std::begin(values), grid, levels,
              tolerance) {}
    template <class PointIterator, class ValueIterator>
    mba(const std::vector<command_queue>& queues, const point& low, const point& high, PointIterator begin,
        PointIterator end, ValueIterator values, const index& grid, std::size_t levels = 8,
        Real tolerance = Real(1e-8))
        : queues_(queues) {
        precondition(queues_.context() != nullptr, "vex::mba needs a device; the list of queues is empty");
        std::array<std::vector<D>, N> coordinates;
        std::vector<D> own;
        double squares = 0;
        for (; begin != end; ++begin, ++values) {
            bool is_inside = true;  // points outside the box are ignored
            for (std::size_t d = 0; d < N; ++d)
                is_inside = is_inside && low[d] <= (*begin)[d] && (*begin)[d] <= high[d];
            if (!is_inside) continue;
            for (std::size_t d = 0; d < N; ++d) coordinates[d].push_back((*begin)[d]);
            own.push_back(*values);
            squares += static_cast<double>(own.back()) * static_cast<double>(own.back());
        }
        if (own.empty()) {  // then the function is 0
            for (std::size_t d = 0; d < N; ++d) coordinates[d].push_back(low[d] + (high[d] - low[d]) / 2);
            own.push_back(0);
        }
        balm::spline_bounds<static_cast<int>(N)> bounds;
        balm::scattered_options<static_cast<int>(N)> how;
        for (std::size_t d = 0; d < N; ++d) {
            bounds.lower[d] = low[d];
            bounds.upper[d] = high[d];
            how.cells[d] = grid[d] > 1 ? grid[d] - 1 : 1;
        }
        how.levels = static_cast<int>(levels);
        // Relative to the values, as in VexCL, whose rule, of squared residuals, ends no later.
        const double rms = std::sqrt(squares / static_cast<double>(own.size()));
        how.tolerance =
            rms * std::max(static_cast<double>(tolerance), 16.0 * std::numeric_limits<D>::epsilon());
        how.trend = balm::spline_trend::none;
        const detail::on_queues scope(queues_);
        of_ = {*queues_.context(), bounds,
               std::apply([](const auto&... each) { return std::tuple(each...); }, coordinates), own, how};
    }

    /// The value at the given coordinates, an expression.
    template <class... X>
    requires(sizeof...(X) == N && detail::operands<X...>) decltype(auto) operator()(const X&... at) const {
        detail::queue_list queues = detail::queues_of(at...);
        if (!queues) queues = queues_;
        return [&](auto... coordinate) {
            detail::match(coordinate...);
            return detail::wrap(balm::expr<D>(of_(std::move(coordinate)...)), std::move(queues));
        }(detail::assigned<D>(at)...);
    }

private:
    detail::queue_list queues_;
    balm::scattered_spline<static_cast<int>(N), D> of_;
};

}  // namespace vex
