#include "algorithm/histogram/even_bins.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "balm/device_function.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/conversion.hpp"

namespace balm::array {

namespace {

template <class T>
using word_of_number = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Added to a number, it leaves no fraction; the lower bits of the sum are the nearest integer.
template <class T>
constexpr T whole_numbers = sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52);

/// x * factor; a number that vanishes becomes the least one of its sign.
template <class T>
T scaled_bound(T x, T factor) {
    const T made = x * factor;
    return x == 0 ? T(0) : std::copysign(std::max(std::fabs(made), std::numeric_limits<T>::min()), x);
}

/// Compares with the nearest edge. Distances from `low` and their products with integers are sums of two
/// floating-point numbers (Dekker, A floating-point technique for extending the available precision, 1971).
template <class T>
const auto& exact_bin_function() {
    using namespace dsl;
    using F = Var<T>;
    static const auto& made = *new auto(function(  // outlives static objects
        "exact_bin(x, low, high, factor, start, scale, range, range_error, bins)",
        [](F x, F low, F high, F factor, F start, F scale, F range, F range_error, Int bins) {
            Int bin = -1;
            BALM_IF (x >= low && x < high) {
                const F place = fma(x, factor, -start) * scale;
                bin = clamp(cast<int>(place), 0, bins - 1);
                const Int edge = bin + select(place - cast<T>(bin) < T(0.5), 0, 1);
                // A negative number that vanishes beside the range is still less than 0.
                const F scaled = x * factor;
                const F at = select(x < T(0), min(scaled, -std::numeric_limits<T>::min()), scaled);
                const F distance = at - start, moved = distance - at;
                const F distance_error = (at - (distance - moved)) - (start + moved);
                const F count = cast<T>(bins), k = cast<T>(edge);
                const F product = count * distance, product_error = fma(count, distance, -product);
                // Near the edge the leading terms cancel without rounding.
                const F leading_terms = fma(-k, range, product) + product_error;
                const F above = leading_terms + (count * distance_error - k * range_error);
                bin = clamp(edge - select(above < T(0), 1, 0), 0, bins - 1);
            }
            return bin;
        }));
    return made;
}

}  // namespace

template <class T>
even_bins<T>::even_bins(const binning& how)
    : low(static_cast<T>(how.low)),
      high(static_cast<T>(how.high)),
      bins(static_cast<std::int64_t>(how.bins)) {
    using limits = std::numeric_limits<T>;
    if (!(low < high) || low < limits::lowest() || high > limits::max()) refuse_bins(how.low, how.high);
    const bool is_large = std::max(std::fabs(low), std::fabs(high)) >= 1;
    const int exponent = is_large ? std::ilogb(high / 2 - low / 2) + 1 : std::ilogb(high - low);
    factor = std::ldexp(T(1), std::clamp(-exponent, limits::min_exponent - 1, limits::max_exponent - 1));
    start = scaled_bound(low, factor);
    const T end = scaled_bound(high, factor);
    range = end - start;
    const T moved = range - end;
    range_error = (end - (range - moved)) - (start + moved);
    scale = static_cast<T>(bins) / range;
    // An approximate position has five roundings, of half an epsilon each. No edge is half a bin away: of too
    // many bins, none is certain.
    tolerance = std::min(static_cast<T>(bins) * 4 * limits::epsilon(), T(0.5));
}

template <class T>
template <class List>
void even_bins<T>::declare_parameters(List& to) const {
    using word = word_of_number<T>;
    const auto number = [&](const char* name, T value) {
        to.value(name, scalar_of<T>, std::bit_cast<word>(value));
    };
    number("low", low);
    number("high", high);
    number("factor", factor);
    number("start", start);
    number("scale", scale);
    number("tolerance", tolerance);
    number("range", range);
    number("range_error", range_error);
}

template <class T>
approximate_bin bin_near(const parameter_list& given, const dsl::Var<T>& x) {
    using namespace dsl;
    using F = Var<T>;
    using word = word_of_number<T>;
    const F start(given["start"]);
    const F place = fma(x, F(given["factor"]), -start) * F(given["scale"]);
    const F shifted = place + whole_numbers<T>;  // by the nearest edge
    const F beyond = place - (shifted - whole_numbers<T>);
    const Var<word> edge = bit_cast<word>(shifted) - std::bit_cast<word>(whole_numbers<T>);
    return {UInt(cast<unsigned>(edge) - select(beyond < T(0), 1u, 0u)),
            Bool(fabs(beyond) > F(given["tolerance"]))};
}

template <class T>
dsl::Int exact_bin(const parameter_list& given, const dsl::Var<T>& x) {
    using F = dsl::Var<T>;
    const auto of = [&](const char* name) { return F(given[name]); };
    return exact_bin_function<T>()(x, of("low"), of("high"), of("factor"), of("start"), of("scale"),
                                   of("range"), of("range_error"), dsl::cast<int>(dsl::Index(given["bins"])));
}

template struct even_bins<float>;
template struct even_bins<double>;
template void even_bins<float>::declare_parameters(parameter_list&) const;
template void even_bins<double>::declare_parameters(parameter_list&) const;
template void even_bins<float>::declare_parameters(parameter_bindings&) const;
template void even_bins<double>::declare_parameters(parameter_bindings&) const;
template approximate_bin bin_near(const parameter_list&, const dsl::Var<float>&);
template approximate_bin bin_near(const parameter_list&, const dsl::Var<double>&);
template dsl::Int exact_bin(const parameter_list&, const dsl::Var<float>&);
template dsl::Int exact_bin(const parameter_list&, const dsl::Var<double>&);

}  // namespace balm::array
