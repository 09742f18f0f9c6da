// The control points c of a line of values f solve (c[i - 1] + 4 c[i] + c[i + 1]) / 6 = f[i]. One solution is
// the convolution of the values, mirrored at the ends, with √3 z^|k|, z = √3 - 2. All others differ from it
// by multiples of z^i and z^(n - 1 - i), which are found from what holds at the ends.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithm/spline/spline_bounds.hpp"
#include "algorithm/spline/spline_functions.hpp"
#include "balm/dsl/control.hpp"
#include "balm/error.hpp"
#include "balm/stencil.hpp"

namespace balm::array {

namespace {

constexpr long double pole = -0.267949192431122706472553658494127633L;  // √3 - 2

/// How far the powers of the pole count in T.
template <class T>
int reach() {
    return static_cast<int>(std::ceil(std::log(std::numeric_limits<T>::epsilon() / 4.0L) / std::log(-pole)));
}

template <class T>
std::vector<T> inverse_weights() {
    const int last = reach<T>();
    std::vector<T> weights;
    for (int k = -last; k <= last; ++k)
        weights.push_back(static_cast<T>(std::sqrt(3.0L) * std::pow(pole, std::abs(k))));
    return weights;
}

/// The powers of the pole that count, from -1 on.
template <class T>
std::vector<T> pole_powers() {
    std::vector<T> powers;
    for (int k = -1; k <= reach<T>(); ++k) powers.push_back(static_cast<T>(std::pow(pole, k)));
    return powers;
}

/// What is 0 at an end, a sum of its first five control points from -1 on, and how multiples follow from what
/// it is of the mirrored solution at both ends: that of an end's powers is near * its own + far * the
/// other's.
struct end_condition {
    std::array<double, 5> weights{};
    double near = 0, far = 0;
};

end_condition end_condition_of(spline_ends ends, std::size_t values) {
    end_condition made;
    if (ends == spline_ends::flat)
        made.weights = {-1, 0, 1, 0, 0};
    else if (ends == spline_ends::not_a_knot && values > 3)
        made.weights = {1, -4, 6, -4, 1};
    else
        made.weights = {1, -2, 1, 0, 0};
    long double own = 0, other = 0;  // of z^i at this end, and of z^(n - 1 - i)
    for (int k = 0; k < 5; ++k) {
        const long double weight = made.weights[static_cast<std::size_t>(k)];
        if (weight == 0) continue;
        own += weight * std::pow(pole, k - 1);
        other += weight * std::pow(pole, static_cast<long double>(values) - k);
    }
    made.near = static_cast<double>(-own / (own * own - other * other));
    made.far = static_cast<double>(other / (own * own - other * other));
    return made;
}

/// The control point of an element of lines of n + 2 along a dimension whose neighbours are `inner` elements
/// apart, from the n of the mirrored solution.
template <class T>
const auto& completed_line() {
    using namespace dsl;
    static const auto& made = *new auto(function(
        "complete_line(element, mirrored, powers, reach, n, inner, w0, w1, w2, w3, w4, near, far)",
        [](Long element, In<T> mirrored, In<T> powers, Int reach, Int n, Int inner, Var<T> w0, Var<T> w1,
           Var<T> w2, Var<T> w3, Var<T> w4, Var<T> near, Var<T> far) {
            const Int e = cast<std::int32_t>(element);
            const Int outer = e / inner, offset = e - outer * inner;
            const Int line = outer / (n + 2), i = outer - line * (n + 2) - 1;  // -1 … n
            const Int start = line * n * inner + offset;
            const auto at = [&](const Int& k) {
                return Var<T>(mirrored[start + min(max(k, Int(0)), Int(n - 1)) * inner]);
            };
            Var<T> value = at(i);
            const Int from_end = n - 1 - i;
            BALM_IF (i < reach || from_end < reach) {
                const Int end = n - 1;
                const Var<T> first = w0 * at(-1) + w1 * at(0) + w2 * at(1) + w3 * at(2) + w4 * at(3);
                const Var<T> last =
                    w0 * at(n) + w1 * at(end) + w2 * at(end - 1) + w3 * at(end - 2) + w4 * at(end - 3);
                const auto power = [&](const Int& k) {
                    return select(k < reach, Var<T>(powers[min(k, Int(reach - 1)) + 1]), T(0));
                };
                value +=
                    (near * first + far * last) * power(i) + (near * last + far * first) * power(from_end);
            }
            return value;
        }));
    return made;
}

/// The elements of a vector, which has these extents, as control points along all dimensions.
template <class T>
vector<T> control_points(vector<T>&& values, const shape& extents, spline_ends ends) {
    const vector_state& near = *values.state();
    const std::vector<T> weights = inverse_weights<T>(), host_powers = pole_powers<T>();
    vector<T> powers = vector_like<T>(near, host_powers.size());
    powers.write(host_powers);
    vector<T> mirrored = std::move(values);
    const int dimensions = extents.dimensions();
    for (int d = 0; d < dimensions; ++d)
        mirrored = vector<T>(convolve(border::mirror, view(mirrored, extents), weights, {.dimension = d}));
    std::vector<std::size_t> sizes;
    for (int d = 0; d < dimensions; ++d) sizes.push_back(extents[d]);
    for (int d = dimensions - 1; d >= 0; --d) {
        const auto along = static_cast<std::size_t>(d);
        const std::size_t n = sizes[along];
        const end_condition at_ends = end_condition_of(ends, n);
        const shape inner(std::span<const std::size_t>(sizes).subspan(along));
        sizes[along] += 2;
        vector<T> completed = vector_like<T>(*mirrored.state(), shape(sizes).count());
        const auto& w = at_ends.weights;
        completed = completed_line<T>()(
            element_index(0, completed.size()), mirrored, powers, static_cast<std::int32_t>(reach<T>() + 1),
            static_cast<std::int32_t>(n), static_cast<std::int32_t>(inner.count() / n), static_cast<T>(w[0]),
            static_cast<T>(w[1]), static_cast<T>(w[2]), static_cast<T>(w[3]), static_cast<T>(w[4]),
            static_cast<T>(at_ends.near), static_cast<T>(at_ends.far));
        mirrored = std::move(completed);
    }
    return mirrored;
}

}  // namespace

template <class T>
std::shared_ptr<const spline_lattice<T>> interpolating(vector<T>&& values, const shape& extents,
                                                       const spline_request& bounds, spline_ends ends) {
    spline_request asked = bounds;
    if (extents.dimensions() != asked.dimensions)
        throw usage_error(fmt::format(
            "a cubic spline of {} dimension{} is given values of {}: {}; view(values, extents) says how they "
            "lie",
            asked.dimensions, asked.dimensions == 1 ? "" : "s", extents.dimensions(), to_string(extents)));
    for (int d = 0; d < asked.dimensions; ++d) {
        if (extents[d] < 2)
            throw usage_error(
                fmt::format("a cubic spline is given {} value{} along dimension {}; it needs two at least, "
                            "one at each end "
                            "of the bounds",
                            extents[d], extents[d] == 1 ? "" : "s", d));
        asked.cells[static_cast<std::size_t>(d)] = extents[d] - 1;
    }
    check_bounds<T>(asked);
    control_points_of(asked, "a cubic spline", "give fewer values");
    auto made = std::make_shared<spline_lattice<T>>(lattice_of<T>(asked));
    const std::shared_ptr<vector_state> near = values.state();
    made->control = on_devices_of(*near, control_points(on_first_device(std::move(values)), extents, ends));
    return made;
}

template std::shared_ptr<const spline_lattice<float>> interpolating(vector<float>&&, const shape&,
                                                                    const spline_request&, spline_ends);
template std::shared_ptr<const spline_lattice<double>> interpolating(vector<double>&&, const shape&,
                                                                     const spline_request&, spline_ends);

}  // namespace balm::array
