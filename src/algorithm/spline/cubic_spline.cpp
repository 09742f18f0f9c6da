// The control points c of a line of values f solve (c[i - 1] + 4 c[i] + c[i + 1]) / 6 = f[i]. One solution is
// the convolution of the values, mirrored at the ends, with √3 z^|k|, z = √3 - 2. All others differ from it
// by multiples of z^i and z^(n - 1 - i), which the conditions at the ends determine.

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

/// Up to which exponent the powers of the pole are significant in T.
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

/// The significant powers of the pole, from exponent -1 on.
template <class T>
std::vector<T> pole_powers() {
    std::vector<T> powers;
    for (int k = -1; k <= reach<T>(); ++k) powers.push_back(static_cast<T>(std::pow(pole, k)));
    return powers;
}

/// A sum that is 0 at an end, of its first five control points from -1 on, with these weights. The multiple
/// of an end's powers is `own` times that sum of the convolution at this end, plus `other` times that at the
/// other end.
struct end_condition {
    std::array<double, 5> weights{};
    double own = 0, other = 0;
};

end_condition end_condition_of(spline_ends ends, std::size_t values) {
    end_condition made;
    if (ends == spline_ends::flat)
        made.weights = {-1, 0, 1, 0, 0};
    else if (ends == spline_ends::not_a_knot && values > 3)
        made.weights = {1, -4, 6, -4, 1};
    else
        made.weights = {1, -2, 1, 0, 0};
    long double own = 0, other = 0;  // the sums of z^i at this end, and of z^(n - 1 - i)
    for (int k = 0; k < 5; ++k) {
        const long double weight = made.weights[static_cast<std::size_t>(k)];
        if (weight == 0) continue;
        own += weight * std::pow(pole, k - 1);
        other += weight * std::pow(pole, static_cast<long double>(values) - k);
    }
    made.own = static_cast<double>(-own / (own * own - other * other));
    made.other = static_cast<double>(other / (own * own - other * other));
    return made;
}

/// The multiples of the powers at both ends of a line of n + 2 control points along a dimension whose
/// neighbours are `inner` elements apart.
template <class T>
const auto& found_multiples() {
    using namespace dsl;
    static const auto& made = *new auto(function(
        "find_multiples(line, lattice, n, inner, w0, w1, w2, w3, w4, own, other, of_first, of_last)",
        [](Long line, In<T> lattice, UInt n, UInt inner, Var<T> w0, Var<T> w1, Var<T> w2, Var<T> w3,
           Var<T> w4, Var<T> own, Var<T> other, Out<T> of_first, Out<T> of_last) {
            const UInt l = cast<std::uint32_t>(line), outer = l / inner;
            const UInt begin = outer * (n + 2u) * inner + (l - outer * inner), end = begin + (n + 1u) * inner;
            // Lines of four control points have no fifth one, and no weight for it.
            const UInt step = inner, third = 3u * inner, fourth = min(UInt(4u), UInt(n + 1u)) * inner;
            const Var<T> first = w0 * lattice[begin] + w1 * lattice[begin + step] +
                                 w2 * lattice[begin + 2u * step] + w3 * lattice[begin + third] +
                                 w4 * lattice[begin + fourth];
            const Var<T> last = w0 * lattice[end] + w1 * lattice[end - step] + w2 * lattice[end - 2u * step] +
                                w3 * lattice[end - third] + w4 * lattice[end - fourth];
            of_first[l] = own * first + other * last;
            of_last[l] = own * last + other * first;
        }));
    return made;
}

/// Adds these multiples of the powers where they are significant: to `ends` control points of each line, half
/// of them at its left end.
template <class T>
const auto& added_powers() {
    using namespace dsl;
    static const auto& made = *new auto(
        function("add_powers(element, of_first, of_last, powers, power_count, n, inner, ends, lattice)",
                 [](Long element, In<T> of_first, In<T> of_last, In<T> powers, UInt power_count, UInt n,
                    UInt inner, UInt ends, InOut<T> lattice) {
                     const UInt e = cast<std::uint32_t>(element);
                     const UInt row = e / inner, offset = e - row * inner;
                     const UInt outer = row / ends, k = row - outer * ends;
                     const UInt line = outer * inner + offset;
                     const UInt i = select(k < ends >> 1u, k, UInt(n + 2u - ends + k)), from_end = n + 1u - i;
                     const auto power = [&](const UInt& number) {
                         const Var<T> there = powers[min(number, UInt(power_count - 1u))];
                         return select(number < power_count, there, T(0));
                     };
                     lattice[(outer * (n + 2u) + i) * inner + offset] +=
                         of_first[line] * power(i) + of_last[line] * power(from_end);
                 }));
    return made;
}

/// The values, surrounded by zeros.
template <class T>
vector<T> surrounded(const std::shared_ptr<runtime::device_state>& on, const expr<T>& values,
                     const shape& extents, const shape& lattice) {
    vector<T> made(std::make_shared<vector_state>(on, balm::detail::array_type<T>(), lattice.count()));
    made = T(0);
    const auto inside = [&](int d) {
        return slice(std::int64_t{1}, static_cast<std::int64_t>(extents[d]) + 1);
    };
    const view<T> all(made, lattice);
    switch (extents.dimensions()) {
        case 1: all(inside(0)) = values; break;
        case 2: all(inside(0), inside(1)) = values; break;
        default: all(inside(0), inside(1), inside(2)) = values;
    }
    return made;
}

/// Replaces the values in a lattice by control points, along one dimension.
template <class T>
void solve_along(int dimension, vector<T>& lattice, const shape& extents, spline_ends ends) {
    const std::vector<T> host_powers = pole_powers<T>();
    lattice =
        convolve(border::mirror, view(lattice, extents), inverse_weights<T>(), {.dimension = dimension});
    const std::size_t n = extents[dimension] - 2, lines = lattice.size() / (n + 2);
    std::size_t inner = 1;
    for (int d = dimension + 1; d < extents.dimensions(); ++d) inner *= extents[d];
    const end_condition at_ends = end_condition_of(ends, n);
    const auto& w = at_ends.weights;

    const vector_state& near = *lattice.state();
    vector<T> of_first = vector_like<T>(near, lines), of_last = vector_like<T>(near, lines);
    vector<T> powers = vector_like<T>(near, host_powers.size());
    powers.write(host_powers);
    const auto count = [](std::size_t number) { return static_cast<std::uint32_t>(number); };
    eval(found_multiples<T>()(element_index(0, lines), lattice, count(n), count(inner), static_cast<T>(w[0]),
                              static_cast<T>(w[1]), static_cast<T>(w[2]), static_cast<T>(w[3]),
                              static_cast<T>(w[4]), static_cast<T>(at_ends.own),
                              static_cast<T>(at_ends.other), of_first, of_last));
    const std::size_t of_line = std::min(n + 2, 2 * host_powers.size());
    eval(added_powers<T>()(element_index(0, lines * of_line), of_first, of_last, powers,
                           count(host_powers.size()), count(n), count(inner), count(of_line), lattice));
}

}  // namespace

template <class T>
std::shared_ptr<const spline_lattice<T>> interpolating(const expr<T>& values, const spline_request& bounds,
                                                       spline_ends ends) {
    spline_request asked = bounds;
    const shape extents = box_of(values.tape());
    if (extents.dimensions() != asked.dimensions)
        throw usage_error(fmt::format(
            "a cubic spline of {} dimension{} got values whose number of dimensions is {} (extents {}); set "
            "it with view(values, extents)",
            asked.dimensions, asked.dimensions == 1 ? "" : "s", extents.dimensions(), to_string(extents)));
    std::vector<std::size_t> sizes;
    for (int d = 0; d < asked.dimensions; ++d) {
        if (extents[d] < 2)
            throw usage_error(
                fmt::format("a cubic spline got {} value{} along dimension {}; it needs at least two, one at "
                            "each end of the bounds",
                            extents[d], extents[d] == 1 ? "" : "s", d));
        asked.cells[static_cast<std::size_t>(d)] = extents[d] - 1;
        sizes.push_back(extents[d] + 2);
    }
    check_bounds<T>(asked);
    control_points_of(asked, "a cubic spline", "give fewer values");
    const std::shared_ptr<vector_state> near = vector_near(values.tape(), balm::detail::array_type<T>());
    const shape lattice_extents(sizes);
    vector<T> lattice;
    if (near->is_spread()) {
        const vector<T> here = on_first_device(vector<T>(values));
        lattice =
            surrounded<T>(near->device_handle(), expr<T>(view(here, extents)), extents, lattice_extents);
    } else {
        lattice = surrounded<T>(near->device_handle(), values, extents, lattice_extents);
    }
    for (int d = 0; d < asked.dimensions; ++d) solve_along(d, lattice, lattice_extents, ends);
    auto made = std::make_shared<spline_lattice<T>>(lattice_of<T>(asked));
    made->control = on_devices_of(*near, std::move(lattice));
    return made;
}

template std::shared_ptr<const spline_lattice<float>> interpolating(const expr<float>&, const spline_request&,
                                                                    spline_ends);
template std::shared_ptr<const spline_lattice<double>> interpolating(const expr<double>&,
                                                                     const spline_request&, spline_ends);

}  // namespace balm::array
