#pragma once
// Histograms: the number of elements in each bin, or the sum of their weights.
//
//     counts = balm::bincount(bytes, 256);
//     counts = balm::histogram(x, 1024, 0.0, 1.0);
//     totals = balm::bincount(cell, cells, mass);

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "balm/compaction.hpp"
#include "balm/search.hpp"

namespace balm {

namespace array {

/// How to count elements. A tape contains the bin of each element, for each channel, and its weight if any.
struct binning {
    std::size_t bins = 0;  ///< of each channel
    std::size_t channels = 1;
    bool has_weights = false;
    trace::type sum = scalar::i64;  ///< of the results
    bool are_checked = true;        ///< bins may be out of range
    scalar even = scalar::nothing;  ///< f32 or f64: the tape has numbers of this type, in one channel; their
    double low = 0, high = 0;       ///< bins have equal width in [low, high)
};

/// The counts as a materialised operand, with a row for each of several channels. Bins out of range,
/// including negative ones, are ignored.
tape binned(tape&& elements, const binning&);

/// Bins of equal width in [low, high), which are rounded to the numbers' type. Throws usage_error unless
/// low < high and both are finite.
binning even_binning(scalar numbers, std::size_t bins, double low, double high);

/// Throws usage_error for no bins or too many.
void check_bins(std::size_t bins, std::size_t channels);
[[noreturn]] void refuse_bins(double low, double high);
[[noreturn]] void refuse_edges(std::size_t count);

}  // namespace array

namespace detail {

template <class L>
array::tape bins_of(const L& labels) {
    static_assert(all_scalars<decltype(listed_arrays(labels))>, "Balm: bin indices must be integers");
    array::tape list;
    std::apply(
        [&](const auto&... each) {
            static_assert(((kind_of(array_scalar<decltype(each)>()) == scalar_kind::integer) && ...),
                          "Balm: bin indices must be integers; cast them, or sort numbers into bins with "
                          "histogram(x, …)");
            (list.append(begin<array_scalar<decltype(each)>()>(each)), ...);
        },
        listed_arrays(labels));
    return list;
}
template <class T>
bool is_always_below(std::size_t bins) {
    return std::is_unsigned_v<T> && std::numeric_limits<T>::max() < bins;
}
template <class L>
array::binning binning_of(const L& labels, std::size_t bins) {
    array::binning how{bins, array_count<L>};
    how.are_checked = !std::apply(
        [&](const auto&... each) { return (is_always_below<element_of<decltype(each)>>(bins) && ...); },
        listed_arrays(labels));
    return how;
}
template <class W>
using weight_sum = typename host_type<array::sum_type(array_scalar<W>())>::type;

inline expr<std::int64_t> counted(array::tape&& bins, const array::binning& how) {
    return expr<std::int64_t>(array::binned(std::move(bins), how));
}
/// Complex numbers are added up part by part, and short vectors lane by lane.
template <class W>
auto added_up(array::tape&& bins, array::binning how, W&& weights) {
    if constexpr (complex_array<W>) {
        return compose<element_of<W>>(added_up(array::tape(bins), how, real(weights)),
                                      added_up(array::tape(bins), how, imag(weights)));
    } else if constexpr (vector_array<W>) {
        using R = typename reduced_element<element_of<W>>::sum;
        return [&]<int... K>(std::integer_sequence<int, K...>) {
            return compose<R>(added_up(array::tape(bins), how, lane<K>(weights))...);
        }
        (std::make_integer_sequence<int, lanes_of<R>>());
    } else {
        static_assert(are_scalars<W>(), "Balm: weights must be numbers, complex numbers or short vectors");
        using R = weight_sum<W>;
        bins.append(begin<array_scalar<W>()>(static_cast<W&&>(weights)));
        how.has_weights = true;
        how.sum = scalar_of<R>;
        return expr<R>(array::binned(std::move(bins), how));
    }
}

/// distance * bins / range, rounded down, for distance < range and a product of more than 64 bits: the
/// quotient of the leading bits is at most two less.
inline const auto& wide_bin_function() {
    using namespace dsl;
    static const auto& made = *new auto(function(  // outlives static objects
        "wide_bin(distance, bins, range, shift, divisor)",
        [](ULong distance, ULong bins, ULong range, Int shift, ULong divisor) {
            const ULong high = mul_hi(distance, bins), low = distance * bins;
            ULong bin = ((high << (64 - shift)) | (low >> shift)) / divisor;
            for (int k = 0; k < 2; ++k) {
                const ULong next = bin + std::uint64_t{1};
                const ULong next_high = mul_hi(next, range), next_low = next * range;
                const Bool is_reached = next_high < high || (next_high == high && next_low <= low);
                bin += select(is_reached, std::uint64_t{1}, std::uint64_t{0});
            }
            return Int(cast<int>(bin));
        }));
    return made;
}
/// W is the elements' type, widened to 64 bits.
template <std::integral W, std::integral L, std::integral H>
expr<int> even_bin(const expr<W>& x, std::size_t bins, L low, H high) {
    using wide = std::uint64_t;
    using limits = std::numeric_limits<W>;
    const wide range = static_cast<wide>(high) - static_cast<wide>(low);
    const bool is_wider = std::cmp_less(low, 0) && std::cmp_greater(high, 0) &&
                          static_cast<wide>(high) >= static_cast<wide>(low);
    if (!std::cmp_less(low, high) || is_wider)
        array::refuse_bins(static_cast<double>(low), static_cast<double>(high));
    // The elements of W that are in the range; none if it is beyond W.
    const bool is_beyond = std::cmp_greater(low, limits::max()) || std::cmp_less_equal(high, limits::min());
    const W first = is_beyond                           ? limits::max()
                    : std::cmp_less(low, limits::min()) ? limits::min()
                                                        : static_cast<W>(low);
    const W last = is_beyond                               ? limits::min()
                   : std::cmp_greater(high, limits::max()) ? limits::max()
                                                           : static_cast<W>(static_cast<W>(high) - W{1});
    const auto distance = cast<wide>(x) - static_cast<wide>(low);
    const auto chosen = [&](expr<int> bin) {
        return select(x >= first && x <= last, std::move(bin), constant(-1));
    };
    if (range == bins) return chosen(cast<int>(distance));
    if (range % bins == 0 && range <= std::numeric_limits<std::uint32_t>::max())
        return chosen(cast<int>(cast<std::uint32_t>(distance) / static_cast<std::uint32_t>(range / bins)));
    if (range <= std::numeric_limits<wide>::max() / bins)
        return chosen(cast<int>(distance * static_cast<wide>(bins) / range));
    const int shift = static_cast<int>(std::bit_width(range)) - 32;
    return chosen(
        wide_bin_function()(distance, static_cast<wide>(bins), range, shift, (range >> shift) + wide{1}));
}
/// The tape, and how to count its elements.
template <class A, class L, class H>
std::pair<array::tape, array::binning> even_bins(const A& x, std::size_t bins, L low, H high) {
    static_assert(are_scalars<A>(),
                  "Balm: a histogram takes numbers; for short vectors use their lanes (balm::lane<0>(v))");
    array::check_bins(bins, 1);
    using T = element_of<A>;
    static_assert(!std::same_as<T, bool>, "Balm: a histogram takes numbers; for booleans use count(x)");
    if constexpr (std::floating_point<T>) {
        constexpr scalar own = scalar_of<T>;
        return {begin<own>(x),
                array::even_binning(own, bins, static_cast<double>(low), static_cast<double>(high))};
    } else {
        static_assert(std::integral<L> && std::integral<H>,
                      "Balm: the bounds of a histogram of integers must be integers; cast the elements");
        using wide = std::conditional_t<std::same_as<T, std::uint64_t>, std::uint64_t, std::int64_t>;
        const expr<T> own(begin<scalar_of<T>>(x));
        // + because the standard library does not compare bool and char.
        return {even_bin(expr<wide>(cast<wide>(own)), bins, +low, +high).tape(), {bins}};
    }
}
template <class A, class T>
array::tape bins_between(const A& x, const vector<T>& edges) {
    if (edges.size() < 2) array::refuse_edges(edges.size());
    return (search<searched::bin>(edges, x) - 1).tape();
}

}  // namespace detail

/// The number of elements with each of the values 0 to bins - 1: an expression of `bins` 64-bit counts.
/// Values are integers; values outside this range are not counted. Several arrays are channels: they are
/// counted separately in one pass, and the result has the extents {channels, bins}.
///
/// The result is a materialised operand, computed once even if the same object occurs several times. Every
/// vector is read once. If the vectors are over several devices, the first device counts all elements. Throws
/// usage_error for no bins, and for 2^31 bins or more in all channels together.
///
///     counts = balm::bincount(bytes, 256);
///     auto [r, g, b] = std::tuple(balm::lane<0>(pixels), balm::lane<1>(pixels), balm::lane<2>(pixels));
///     auto colours = balm::view(balm::bincount(std::tie(r, g, b), 256), {3, 256});
template <array_list L>
expr<std::int64_t> bincount(const L& labels, std::size_t bins) {
    return detail::counted(detail::bins_of(labels), detail::binning_of(labels, bins));
}
/// The sum of the weights of the elements in each bin, with the type of sum(weights): 64 bits for integers of
/// 8 and 16 bits. Integers wrap. Weights may be complex numbers or short vectors, which take a pass for each
/// part or lane. GPUs add floating-point weights in unspecified order, so the last digits may differ between
/// runs; sort and reduce_by_key are reproducible to the bit.
///
///     mass_of_cell = balm::bincount(cell, cells, mass);
template <array_list L, array_value W>
auto bincount(const L& labels, std::size_t bins, W&& weights) {
    return detail::added_up(detail::bins_of(labels), detail::binning_of(labels, bins),
                            static_cast<W&&>(weights));
}

/// The number of elements in each of `bins` bins of equal width in [low, high): an expression of 64-bit
/// counts. Bin k has the elements from low + k w on, below low + (k + 1) w, with w = (high - low) / bins.
/// Bounds are rounded to the type of floating-point elements; edges are exact, up to 2^20 bins for 32-bit
/// floats, beyond which an element may be in the bin beside its own. Values outside, and NaN, are not
/// counted. Otherwise as bincount. Throws usage_error unless low < high and both are finite, and for integers
/// if high - low is 2^64 or more.
///
///     counts = balm::histogram(x, 1024, 0.0, 1.0);
template <array_value A, scalar_type L, scalar_type H>
expr<std::int64_t> histogram(const A& x, std::size_t bins, L low, H high) {
    auto [elements, how] = detail::even_bins(x, bins, low, high);
    return detail::counted(std::move(elements), how);
}
/// The sum of the weights of the elements in each of these bins; see bincount.
template <array_value A, scalar_type L, scalar_type H, array_value W>
auto histogram(const A& x, std::size_t bins, L low, H high, W&& weights) {
    auto [elements, how] = detail::even_bins(x, bins, low, high);
    return detail::added_up(std::move(elements), how, static_cast<W&&>(weights));
}
/// Bins of any width: bin k counts the elements in [edges[k], edges[k + 1]). Edges must ascend; there is one
/// bin less than edges. Elements and edges of different types compare exactly. Bins are found by binary
/// search. Throws usage_error for fewer than two edges.
///
///     balm::vector<float> decades(ctx, {1.f, 10.f, 100.f, 1000.f});
///     counts = balm::histogram(x, decades);
template <array_value A, class T>
expr<std::int64_t> histogram(const A& x, const vector<T>& edges) {
    return detail::counted(detail::bins_between(x, edges), {edges.size() - 1});
}
template <array_value A, class T, array_value W>
auto histogram(const A& x, const vector<T>& edges, W&& weights) {
    return detail::added_up(detail::bins_between(x, edges), {edges.size() - 1}, static_cast<W&&>(weights));
}

}  // namespace balm
