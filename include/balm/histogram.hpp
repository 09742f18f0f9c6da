#pragma once
// Histograms: the number of elements in each bin, or the sum of their weights.
//
//     counts = balm::bincount(bytes, 256);
//     counts = balm::histogram(x, 1024, 0.0, 1.0);
//     totals = balm::bincount(cell, cells, mass);

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
};

/// The counts as a materialised operand, with a row for each of several channels. Bins out of range,
/// including negative ones, are ignored.
tape binned(tape&& elements, const binning&);

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
template <class W>
auto added_up(array::tape&& bins, array::binning how, W&& weights) {
    static_assert(are_scalars<W>(), "Balm: weights must be numbers");
    using R = weight_sum<W>;
    bins.append(begin<array_scalar<W>()>(static_cast<W&&>(weights)));
    how.has_weights = true;
    how.sum = scalar_of<R>;
    return expr<R>(array::binned(std::move(bins), how));
}

/// The bin of each element, of bins with equal width in [low, high); -1 outside.
template <std::floating_point T, class A>
expr<int> even_bin(const A& x, std::size_t bins, double low, double high) {
    if (!(low < high) || high - low > std::numeric_limits<double>::max()) array::refuse_bins(low, high);
    const auto own_low = static_cast<T>(low), own_high = static_cast<T>(high);
    const auto scale = static_cast<T>(static_cast<double>(bins) / (high - low));
    const auto last = static_cast<int>(bins) - 1;
    return select(x >= own_low && x < own_high, min(cast<int>((x - own_low) * scale), last), constant(-1));
}
template <std::integral T, class A>
expr<int> even_bin(const A& x, std::size_t bins, T low, T high) {
    if (!(low < high)) array::refuse_bins(static_cast<double>(low), static_cast<double>(high));
    using wide = std::uint64_t;
    const wide range = static_cast<wide>(high) - static_cast<wide>(low);
    const auto distance = cast<wide>(x) - static_cast<wide>(low);
    const auto chosen = [&](expr<int> bin) {
        return select(x >= low && x < high, std::move(bin), constant(-1));
    };
    if (range == bins) return chosen(cast<int>(distance));
    if (range % bins == 0 && range <= std::numeric_limits<std::uint32_t>::max())
        return chosen(cast<int>(cast<std::uint32_t>(distance) / static_cast<std::uint32_t>(range / bins)));
    if (range <= std::numeric_limits<wide>::max() / bins)
        return chosen(cast<int>(distance * static_cast<wide>(bins) / range));
    const double scale = static_cast<double>(bins) / static_cast<double>(range);
    return chosen(min(cast<int>(cast<double>(distance) * scale), static_cast<int>(bins) - 1));
}
template <class A, class L>
array::tape even_bins(const A& x, std::size_t bins, L low, L high) {
    static_assert(are_scalars<A>(),
                  "Balm: a histogram takes numbers; for short vectors use their lanes (balm::lane<0>(v))");
    array::check_bins(bins, 1);
    using T = element_of<A>;
    static_assert(!std::same_as<T, bool>, "Balm: a histogram takes numbers; for booleans use count(x)");
    if constexpr (std::floating_point<T>)
        return even_bin<T>(x, bins, static_cast<double>(low), static_cast<double>(high)).tape();
    else {
        static_assert(std::integral<L>,
                      "Balm: the bounds of a histogram of integers must be integers; cast the elements");
        using wide = std::conditional_t<std::same_as<T, std::uint64_t>, std::uint64_t, std::int64_t>;
        const expr<T> own(begin<scalar_of<T>>(x));
        return even_bin<wide>(cast<wide>(own), bins, static_cast<wide>(low), static_cast<wide>(high)).tape();
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
/// The sum of the weights of the elements in each bin, with the type of sum(weights). Integers wrap. GPUs add
/// floating-point weights in unspecified order, so the last digits may differ between runs; sort and
/// reduce_by_key are reproducible to the bit.
///
///     mass_of_cell = balm::bincount(cell, cells, mass);
template <array_list L, array_value W>
auto bincount(const L& labels, std::size_t bins, W&& weights) {
    return detail::added_up(detail::bins_of(labels), detail::binning_of(labels, bins),
                            static_cast<W&&>(weights));
}

/// The number of elements in each of `bins` bins of equal width in [low, high): an expression of 64-bit
/// counts. The bin of a floating-point number is (x - low) * (bins / (high - low)), rounded down, in the
/// elements' precision. The bin of an integer is exact if (high - low) * bins is below 2^64, else it is
/// computed in double precision. Values outside, and NaN, are not counted. Otherwise as bincount. Throws
/// usage_error unless low < high and both are finite.
///
///     counts = balm::histogram(x, 1024, 0.0, 1.0);
template <array_value A, scalar_type L, scalar_type H>
expr<std::int64_t> histogram(const A& x, std::size_t bins, L low, H high) {
    using limit = std::common_type_t<L, H>;
    return detail::counted(detail::even_bins(x, bins, static_cast<limit>(low), static_cast<limit>(high)),
                           {bins});
}
/// The sum of the weights of the elements in each of these bins; see bincount.
template <array_value A, scalar_type L, scalar_type H, array_value W>
auto histogram(const A& x, std::size_t bins, L low, H high, W&& weights) {
    using limit = std::common_type_t<L, H>;
    return detail::added_up(detail::even_bins(x, bins, static_cast<limit>(low), static_cast<limit>(high)),
                            {bins}, static_cast<W&&>(weights));
}
/// Bins of any width: bin k counts the elements in [edges[k], edges[k + 1]). Edges must ascend; there is one
/// bin less than edges. Bins are found by binary search. Throws usage_error for fewer than two edges.
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
