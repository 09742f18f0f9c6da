#pragma once
// Cubic B-splines of one to three dimensions: surfaces through scattered points, and through values on a
// regular grid. They are evaluated inside vector expressions and kernels.
//
//     balm::scattered_spline<2> surface({{0, 0}, {1, 1}}, std::tie(x, y), heights);
//     z = 2 * surface(u, v) + w;
//     balm::cubic_spline<1> curve(ctx, {{0}, {10}}, samples, {n});

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "balm/vector.hpp"

namespace balm {

/// The box in which a spline of D dimensions is defined: lower[d] < upper[d].
///
///     balm::spline_bounds<2> unit_square{{0, 0}, {1, 1}};
template <int D>
struct spline_bounds {
    std::array<double, D> lower{}, upper{};
};

/// The function that is fitted before the first level, and that the surface approaches away from points.
enum class spline_trend : std::uint8_t {
    none,   ///< 0, as in the paper
    mean,   ///< the mean of the values
    linear  ///< the linear function that fits them best, in the least-squares sense
};

/// How a scattered_spline is fitted.
template <int D>
struct scattered_options {
    /// Cells of the first level's grid along each dimension; 0 means 1.
    std::array<std::size_t, D> cells{};
    /// The maximum number of levels; each has twice the cells of the previous one along each dimension. 0:
    /// until a level would have more than four cells for each point.
    int levels = 0;
    /// No further level is added once no residual exceeds this.
    double tolerance = 0;
    spline_trend trend = spline_trend::linear;
};

/// The conditions at both ends of each dimension of a cubic_spline. The interpolant needs two conditions in
/// addition to the values.
enum class spline_ends : std::uint8_t {
    not_a_knot,  ///< the first two cubics are the same, and so are the last two: cubics are reproduced.
                 ///< With two or three values along a dimension: natural.
    natural,     ///< the second derivative is 0
    flat         ///< the first derivative is 0
};

namespace array {

/// A lattice of control points in row-major order, and its position. Dimensions that the spline lacks have
/// one cell.
template <class T>
struct spline_lattice {
    vector<T> control;                    ///< cells[d] + 3 along each dimension
    std::array<std::int32_t, 3> cells{};  ///< along each dimension
    std::array<T, 3> lower{}, scale{};    ///< (x - lower) * scale is in cells
};
/// A fitted lattice.
template <class T>
struct scattered_lattice : spline_lattice<T> {
    std::size_t points = 0;
    int levels = 0;
    double residual_max = 0, residual_rms = 0;
};

/// What the templates pass to the implementation.
struct spline_request {
    int dimensions = 0;
    std::array<double, 3> lower{}, upper{};
    std::array<std::size_t, 3> cells{};
    int levels = 0;
    double tolerance = 0;
    spline_trend trend = spline_trend::linear;
};

/// Fits a lattice to points, and overwrites their vectors. For float and double, and D from 1 to 3.
template <int D, class T>
std::shared_ptr<const scattered_lattice<T>> fitted(std::array<vector<T>, D>&& points, vector<T>&& values,
                                                   const spline_request&);
/// The lattice that interpolates values on a grid, whose extents are those of the expression. For float and
/// double.
template <class T>
std::shared_ptr<const spline_lattice<T>> interpolating(const expr<T>& values, const spline_request&,
                                                       spline_ends);

std::string describe(const scattered_lattice<float>&, int dimensions);
std::string describe(const scattered_lattice<double>&, int dimensions);

}  // namespace array

namespace detail {

[[noreturn]] void spline_without_lattice();

/// The type of the function that evaluates a spline. It takes the lattice, then for each dimension a
/// coordinate, then lower, scale and cells.
template <class T, class = void>
struct spline_function;
template <class T, std::size_t... K>
struct spline_function<T, std::index_sequence<K...>> {
    template <std::size_t, class V>
    using each = V;
    using type = device_function<dsl::Var<T>, dsl::In<T>, each<K, dsl::Var<T>>..., each<K, dsl::Var<T>>...,
                                 each<K, dsl::Var<T>>..., each<K, dsl::Int>...>;
};
template <int D, class T>
const typename spline_function<T, std::make_index_sequence<D>>::type& spline_value();

template <class T>
concept spline_element = std::same_as<T, float> || std::same_as<T, double>;

/// The common base of both kinds of spline.
template <int D, class T, class Lattice>
class spline {
    static_assert(D >= 1 && D <= 3, "Balm: a spline has one to three dimensions");
    static_assert(spline_element<T>, "Balm: a spline must have the type float or double");

public:
    using value_type = T;
    static constexpr int dimensions = D;

    /// The spline at the given coordinates, one vector, expression or number for each dimension: an
    /// expression, fused into the kernel that it is part of. Coordinates beyond the bounds are clamped to
    /// them; if a coordinate is NaN, so is the value.
    template <class... X>
    requires((balm::array_operand<X> && ...)) auto operator()(X&&... at) const {
        static_assert(sizeof...(X) == D, "Balm: a spline takes one coordinate per dimension");
        return call(lattice(), static_cast<X&&>(at)...);
    }
    /// The same in a kernel that takes the lattice as a parameter, In<T>: pass lattice() to it. The bounds
    /// and the lattice's extents become constants of the kernel.
    template <class... X>
    auto operator()(const dsl::In<T>& control_points, X&&... at) const {
        static_assert(sizeof...(X) == D, "Balm: a spline takes one coordinate per dimension");
        return call(control_points, dsl::Var<T>(static_cast<X&&>(at))...);
    }

    /// The lattice_extents() control points, in row-major order.
    const vector<T>& lattice() const { return state().control; }
    /// The number of control points along each dimension: 3 more than cells.
    shape lattice_extents() const {
        std::array<std::size_t, D> extents{};
        for (int d = 0; d < D; ++d) extents[d] = static_cast<std::size_t>(state().cells[d]) + 3;
        return shape(std::span<const std::size_t>(extents));
    }

protected:
    spline() = default;
    explicit spline(std::shared_ptr<const Lattice> state) : state_(std::move(state)) {}
    const Lattice& state() const {
        if (!state_) spline_without_lattice();
        return *state_;
    }

private:
    template <class L, class... X>
    auto call(const L& control_points, X&&... at) const {
        const Lattice& s = state();
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            return spline_value<D, T>()(control_points, static_cast<X&&>(at)..., s.lower[K]..., s.scale[K]...,
                                        s.cells[K]...);
        }
        (std::make_index_sequence<D>());
    }

    std::shared_ptr<const Lattice> state_;
};

template <int D>
array::spline_request spline_request_of(const spline_bounds<D>& bounds) {
    array::spline_request made;
    made.dimensions = D;
    for (std::size_t d = 0; d < D; ++d) {
        made.lower[d] = bounds.lower[d];
        made.upper[d] = bounds.upper[d];
    }
    return made;
}
template <int D>
array::spline_request spline_request_of(const spline_bounds<D>& bounds, const scattered_options<D>& how) {
    array::spline_request made = spline_request_of(bounds);
    for (std::size_t d = 0; d < D; ++d) made.cells[d] = how.cells[d];
    made.levels = how.levels;
    made.tolerance = how.tolerance;
    made.trend = how.trend;
    return made;
}

}  // namespace detail

/// A smooth function of one to three dimensions that approximates values at scattered points: a uniform cubic
/// B-spline, twice continuously differentiable. T is float or double. A handle: copies are the same spline.
///
///     balm::scattered_spline<2> surface({{0, 0}, {1, 1}}, std::tie(x, y), heights);
///     z = surface(u, v);              // u, v, z: vectors or expressions
///     std::cout << surface.residual_max() << '\n';
///
/// The first level's grid has few cells; each further level halves their size and approximates the residual
/// of the earlier levels. All levels are merged into one lattice of control points, so a value takes 4^D
/// loads for any number of levels. A level takes time proportional to the number of points times 4^D, plus
/// its control points. The same points in the same order produce the same bits in each run on a device.
///
/// Source: S. Lee, G. Wolberg, S. Y. Shin, Scattered data interpolation with multilevel B-splines, IEEE
/// Transactions on Visualization and Computer Graphics 3(3), 1997 (algorithm MBA with refinement).
template <int D, class T = double>
class scattered_spline : public detail::spline<D, T, array::scattered_lattice<T>> {
    using base = detail::spline<D, T, array::scattered_lattice<T>>;

public:
    /// No spline: assign one to it.
    scattered_spline() = default;
    /// Fits points whose coordinates are vectors or expressions of T, one for each dimension, with a value
    /// for each point. The spline is on their devices. Of several devices, the first one fits it.
    ///
    /// Throws usage_error for bounds that are empty or not finite, no points, different numbers of
    /// coordinates and values, the first point outside the bounds, a value that is not finite, a negative
    /// tolerance, and levels or cells that need more than 2^31 - 1 control points. Throws
    /// out_of_memory_error. Waits for the residual of each level.
    template <class... P, array_value V>
    requires((array_value<P> && ...))
        scattered_spline(const spline_bounds<D>& bounds, const std::tuple<P...>& points, const V& values,
                         const scattered_options<D>& how = {})
        : scattered_spline(
              detail::spline_request_of(bounds, how), points, [](const auto& list) { return computed(list); },
              values) {}
    /// The same for points in host memory: std::vector, std::array, std::span … of T.
    template <detail::contiguous_range<T>... P, detail::contiguous_range<T> V>
    scattered_spline(const context& where, const spline_bounds<D>& bounds, const std::tuple<P...>& points,
                     const V& values, const scattered_options<D>& how = {})
        : scattered_spline(
              detail::spline_request_of(bounds, how), points,
              [&](const auto& list) { return vector<T>(where, list); }, values) {}

    /// The number of levels.
    int levels() const { return this->state().levels; }
    /// The largest difference between a value and the spline at its point, and the root mean square.
    double residual_max() const { return this->state().residual_max; }
    double residual_rms() const { return this->state().residual_rms; }

    /// Levels, control points and residuals in one line.
    ///
    ///     std::cout << describe(surface);
    ///     // 6 levels, 35 x 35 control points (9.6 KiB); residuals of 1000 points: 0.0012 at most, 0.0003
    ///     rms
    friend std::string describe(const scattered_spline& s) { return array::describe(s.state(), D); }

private:
    template <class A>
    static vector<T> computed(const A& a) {
        static_assert(std::same_as<detail::element_of<A>, T>,
                      "Balm: points and values must have the spline's type; convert them with cast<T>(x)");
        return vector<T>(expr<T>(a));
    }
    template <class... P, class F, class V>
    scattered_spline(const array::spline_request& asked, const std::tuple<P...>& points, F&& moved,
                     const V& values)
        : base(std::apply(
              [&](const auto&... each) {
                  static_assert(sizeof...(P) == D,
                                "Balm: scattered points need one coordinate per dimension of the spline");
                  return array::fitted<D, T>({moved(each)...}, moved(values), asked);
              },
              points)) {}
};

/// The cubic spline through values on a regular grid of one to three dimensions, which includes the corners
/// of the bounds. T is float or double. A handle: copies are the same spline.
///
///     balm::cubic_spline<1> curve({{0}, {1}}, balm::view(samples, {n}));
///     balm::cubic_spline<2> picture({{0, 0}, {1, 1}}, balm::view(heights, {rows, columns}));
///     z = picture(u, v);
///
/// The interpolation error of smooth functions is of the order of the fourth power of the spacing. The
/// control points are the values convolved along each dimension with the inverse of the sampled B-spline,
/// √3 (√3 - 2)^|k|, truncated below the precision of T; the end conditions add two decaying solutions. No
/// step is recursive.
///
/// Source: M. Unser, Splines: a perfect fit for signal and image processing, IEEE Signal Processing Magazine
/// 16(6), 1999.
template <int D, class T = double>
class cubic_spline : public detail::spline<D, T, array::spline_lattice<T>> {
    using base = detail::spline<D, T, array::spline_lattice<T>>;

public:
    /// No spline: assign one to it.
    cubic_spline() = default;
    /// Interpolates a view or expression of T with D dimensions; the first coordinate is the row. The spline
    /// is on its devices. Of several devices, the first one computes it.
    ///
    /// Throws usage_error for bounds that are empty or not finite, another number of dimensions, fewer than
    /// two values along a dimension, and more than 2^31 - 1 control points. Throws out_of_memory_error.
    template <array_value V>
    cubic_spline(const spline_bounds<D>& bounds, const V& values, spline_ends ends = spline_ends::not_a_knot)
        : base(made(bounds, expr<detail::element_of<V>>(values), ends)) {}
    /// The same for values in host memory, in row-major order. Also throws usage_error if their number
    /// differs from that of the extents.
    template <detail::contiguous_range<T> V>
    cubic_spline(const context& where, const spline_bounds<D>& bounds, const V& values,
                 const std::array<std::size_t, D>& extents, spline_ends ends = spline_ends::not_a_knot)
        : base(made(bounds,
                    expr<T>(view(vector<T>(where, values), shape(std::span<const std::size_t>(extents)))),
                    ends)) {}

private:
    template <class E>
    static auto made(const spline_bounds<D>& bounds, const expr<E>& values, spline_ends ends) {
        static_assert(std::same_as<E, T>,
                      "Balm: the values must have the spline's type; convert them with cast<T>(x)");
        return array::interpolating<T>(values, detail::spline_request_of(bounds), ends);
    }
};

}  // namespace balm
