#pragma once
// Scans (prefix sums) of vectors and expressions: element k of the result combines the elements up to k
// (inclusive) or before k (exclusive).
//
//     offsets = balm::exclusive_scan(counts);
//     highest = balm::inclusive_scan(balm::max_of(x));
//     totals = balm::inclusive_scan_by_key(keys, x);

#include <cstdint>
#include <type_traits>
#include <utility>

#include "balm/compaction.hpp"
#include "balm/reduce.hpp"
#include "balm/view.hpp"

namespace balm {

namespace array {

/// The parameters of a scan, apart from its expressions.
struct scan {
    reduction what;
    bool is_inclusive = true;
    element_bytes init = {};  ///< a value of the result's type; empty: none
};

/// The scan as a materialised operand of expressions.
tape scanned(tape&& values, const scan&);
/// The segments of a scan by key.
struct segments {
    tape starts;  ///< of booleans: whether an element begins a segment
    tape keys;    ///< of each element, at which kernels compare neighbours that they load together
    std::size_t key_count = 1;
    std::shared_ptr<const ir::function> same = {};  ///< compares the keys of two elements; null: ==
};
/// The same, restarted where segments begin.
tape scanned(tape&& values, const scan&, segments&&);

}  // namespace array

namespace detail {

template <class R>
array::scan scan_of(const lazy_reduction<R>& what, bool is_inclusive) {
    static_assert(!is_with_position<R>,
                  "Balm: a scan yields one value per element, but arg_min and arg_max yield a value and a "
                  "position: scan min_of(x) or max_of(x)");
    return {what.how(), is_inclusive};
}
template <class R, detail::host_element_value I>
array::scan scan_of(const lazy_reduction<R>& what, bool is_inclusive, const I& init) {
    array::scan how = scan_of(what, is_inclusive);
    if constexpr (scalar_type<R>) {
        static_assert(scalar_type<I> && kind_of(scalar_of<I>) <= kind_of(scalar_of<R>),
                      "Balm: the initial value of this scan has a wider type than the results; cast it");
        const std::uint64_t bits = entering_bits<scalar_of<R>>(init);
        how.init = bytes_of_element(result_from<R>(&bits));
    } else {
        how.init = bytes_of_element(host_element<R>(init));
    }
    return how;
}

/// Segments of equal keys.
template <class K>
array::segments segments_of(K&& keys) {
    static_assert(
        are_scalars<K>(),
        "Balm: the keys of a scan must be numbers; for other elements pass a function that compares "
        "neighbours");
    const expr<element_of<K>> own(begin<array_scalar<K>()>(keys));
    const auto here = element_index();
    return {(own != own[balm::max(here - 1, std::int64_t{0})]).tape(), own.tape()};
}

/// Segments of keys that belong together, as decided by a function.
template <class K, class... P>
array::segments segments_of(const K& keys, const device_function<dsl::Bool, P...>& same) {
    static_assert(
        sizeof...(P) == 2 * array_count<K>,
        "Balm: a function that compares neighbours takes the keys of one element, then those of the next");
    return std::apply(
        [&](const auto&... each) {
            const auto here = element_index();
            const auto before = balm::max(here - 1, std::int64_t{0});
            array::tape own;
            (own.append(begin<array_scalar<decltype(each)>()>(each)), ...);
            return array::segments{
                (here > 0 && !call_function(same, expr<element_of<decltype(each)>>(each)[before]..., each...))
                    .tape(),
                std::move(own), array_count<K>, same.function()};
        },
        listed_arrays(keys));
}

/// A reduction as scans take it; for an expression, its sum.
template <class R>
lazy_reduction<R> as_reduction(lazy_reduction<R> what) {
    return what;
}
template <array_value A>
auto as_reduction(A&& a) {
    return sum_of(static_cast<A&&>(a));
}

template <class R, class... I>
auto scanned(lazy_reduction<R> what, bool is_inclusive, const I&... init) {
    const array::scan how = scan_of(what, is_inclusive, init...);
    return expr<R>(array::scanned(std::move(what).tape(), how));
}
template <class R, class... I>
auto scanned_in_segments(lazy_reduction<R> what, bool is_inclusive, array::segments&& of, const I&... init) {
    const array::scan how = scan_of(what, is_inclusive, init...);
    return expr<R>(array::scanned(std::move(what).tape(), how, std::move(of)));
}

template <class V>
inline constexpr bool is_lazy_reduction = false;
template <class R>
inline constexpr bool is_lazy_reduction<lazy_reduction<R>> = true;

}  // namespace detail

/// The operand of a scan: a lazy reduction (sum_of(x), max_of(x), fold_of(x, identity, function) …), or an
/// array, which is summed: of numbers, complex numbers or short vectors.
template <class V>
concept scannable = array_value<V> || detail::is_lazy_reduction<std::remove_cvref_t<V>>;

/// Element k of the result combines the elements 0 … k, in row-major order, by the reduction; an array is
/// summed. The elements have the type of the reduction's result: sums of integers of 8 and 16 bits have 64
/// bits. The function of a fold must be associative, but need not commute: its first argument is the earlier
/// one. min and max ignore NaNs. Sums and products may be of complex numbers and short vectors, folds of any
/// elements.
///
/// The result is an expression with the extents of the operand. It is computed as a whole before the
/// expression that it is part of, and only once, however often the same object occurs. Assigned alone it is
/// computed in its target, which may be the scanned vector. The same device returns the same bits in every
/// run. Every vector is read once or twice, and the result is written once.
///
///     v = balm::inclusive_scan(v);
///     highest = balm::inclusive_scan(balm::max_of(balm::abs(x)));
template <scannable V>
auto inclusive_scan(V&& values) {
    return detail::scanned(detail::as_reduction(static_cast<V&&>(values)), true);
}
/// The same, starting from an initial value.
template <scannable V, detail::host_element_value I>
auto inclusive_scan(V&& values, const I& init) {
    return detail::scanned(detail::as_reduction(static_cast<V&&>(values)), true, init);
}

/// Element k of the result combines the elements 0 … k - 1. The first element is the identity: 0 for sums, 1
/// for products, the identity of a fold (zeros if it has none); for min and max the other end of the type's
/// range, NaN for floating types. Everything else is as for inclusive_scan.
///
///     offsets = balm::exclusive_scan(counts);
template <scannable V>
auto exclusive_scan(V&& values) {
    return detail::scanned(detail::as_reduction(static_cast<V&&>(values)), false);
}
/// The same, starting from an initial value, which is the first element of the result.
///
///     offsets = balm::exclusive_scan(counts, first_offset);
template <scannable V, detail::host_element_value I>
auto exclusive_scan(V&& values, const I& init) {
    return detail::scanned(detail::as_reduction(static_cast<V&&>(values)), false, init);
}

/// An inclusive scan within each segment of equal neighbouring keys. There are as many keys as values.
///
///     totals = balm::inclusive_scan_by_key(keys, x);
template <array_value K, scannable V>
auto inclusive_scan_by_key(K&& keys, V&& values) {
    return detail::scanned_in_segments(detail::as_reduction(static_cast<V&&>(values)), true,
                                       detail::segments_of(static_cast<K&&>(keys)));
}
/// … with an initial value, from which each segment starts.
template <array_value K, scannable V, detail::host_element_value I>
auto inclusive_scan_by_key(K&& keys, V&& values, const I& init) {
    return detail::scanned_in_segments(detail::as_reduction(static_cast<V&&>(values)), true,
                                       detail::segments_of(static_cast<K&&>(keys)), init);
}
/// … without the element itself.
template <array_value K, scannable V>
auto exclusive_scan_by_key(K&& keys, V&& values) {
    return detail::scanned_in_segments(detail::as_reduction(static_cast<V&&>(values)), false,
                                       detail::segments_of(static_cast<K&&>(keys)));
}
/// … with an initial value, which is each segment's first result.
template <array_value K, scannable V, detail::host_element_value I>
auto exclusive_scan_by_key(K&& keys, V&& values, const I& init) {
    return detail::scanned_in_segments(detail::as_reduction(static_cast<V&&>(values)), false,
                                       detail::segments_of(static_cast<K&&>(keys)), init);
}

/// The same with a function that decides whether neighbours belong to one segment, as in reduce_by_key:
/// `same(a, b)`, or for two arrays of keys `same(a, c, b, d)` with the keys (a, c) and (b, d), those of the
/// earlier element first.
///
///     running = balm::inclusive_scan_by_key(std::tie(year, month), same_quarter, sales);
template <array_list K, class... P, scannable V, class... I>
requires(sizeof...(I) <= 1 && (detail::host_element_value<I> && ...)) auto inclusive_scan_by_key(
    const K& keys, const device_function<dsl::Bool, P...>& same, V&& values, const I&... init) {
    return detail::scanned_in_segments(detail::as_reduction(static_cast<V&&>(values)), true,
                                       detail::segments_of(keys, same), init...);
}
template <array_list K, class... P, scannable V, class... I>
requires(sizeof...(I) <= 1 && (detail::host_element_value<I> && ...)) auto exclusive_scan_by_key(
    const K& keys, const device_function<dsl::Bool, P...>& same, V&& values, const I&... init) {
    return detail::scanned_in_segments(detail::as_reduction(static_cast<V&&>(values)), false,
                                       detail::segments_of(keys, same), init...);
}

}  // namespace balm
