#pragma once
// Scans that write to vectors immediately: several in one pass over the elements, and scans of a stream in
// pieces, whose totals stay on the device.
//
//     balm::inclusive_scan_into(std::tie(sums, highest), balm::sum_of(x), balm::max_of(y));
//     for (const auto& piece : pieces) balm::inclusive_scan_into(out, carry, piece);

#include <tuple>
#include <type_traits>
#include <utility>

#include "balm/scan.hpp"
#include "balm/tie.hpp"

namespace balm {

namespace array {

/// Scans each reduction's expression, in the order of the tape's values, into a vector of the same size.
/// `carry`, if not null, has a vector of one element for each scan, which starts from its value and replaces
/// it by the total.
void scan_into(vector_state* const* into, vector_state* const* carry, tape&&, const reduction* first,
               std::size_t count, bool is_inclusive);

}  // namespace array

namespace detail {

template <class... T, class... R>
void scan_into(bool is_inclusive, const std::tuple<vector<T>&...>& into, array::vector_state* const* carry,
               lazy_reduction<R>... what) {
    static_assert(sizeof...(T) == sizeof...(R), "Balm: each scan needs one target");
    static_assert((!is_with_position<R> && ...),
                  "Balm: a scan yields one value per element, but arg_min and arg_max yield a value and a "
                  "position: scan min_of(x) or max_of(x)");
    static_assert(
        (holds_result<T, R> && ...),
        "Balm: the target of a scan must have the result's type as its element type; cast the expression");
    const array::reduction asked[] = {what.how()...};
    array::tape list = joined_programs(std::move(what)...);
    std::apply(
        [&](vector<T>&... target) {
            array::vector_state* const targets[] = {target_of(target, list).vector...};
            array::scan_into(targets, carry, std::move(list), asked, sizeof...(R), is_inclusive);
        },
        into);
}
template <class... T, class... C, class... R>
void scan_with_carry(bool is_inclusive, const std::tuple<vector<T>&...>& into,
                     const std::tuple<vector<C>&...>& carry, lazy_reduction<R>... what) {
    static_assert(sizeof...(C) == sizeof...(R) && (holds_result<C, R> && ...),
                  "Balm: each scan needs one carry, a vector of one element of the result's type");
    std::apply(
        [&](vector<C>&... of) {
            array::vector_state* const each[] = {of.state().get()...};
            scan_into(is_inclusive, into, each, std::move(what)...);
        },
        carry);
}

}  // namespace detail

/// Scans like inclusive_scan into a vector of the results' type on the same device. Several scans are one
/// kernel, which reads each vector once, however many scans use it. Their expressions have the same number of
/// elements as the targets; an empty target takes the size and device of the values. A target may be a
/// scanned vector. Does not block. Throws usage_error if sizes or devices differ, or if a target occurs
/// twice.
///
///     balm::inclusive_scan_into(y, x);
///     balm::inclusive_scan_into(std::tie(sums, highest), balm::sum_of(x), balm::max_of(y));
template <class T, scannable V>
void inclusive_scan_into(vector<T>& into, V&& values) {
    detail::scan_into(true, std::tie(into), nullptr, detail::as_reduction(static_cast<V&&>(values)));
}
template <class... T, scannable... V>
requires(sizeof...(V) > 0) void inclusive_scan_into(const std::tuple<vector<T>&...>& into, V&&... values) {
    detail::scan_into(true, into, nullptr, detail::as_reduction(static_cast<V&&>(values))...);
}
/// The same with a carry: a vector of one element on the device. The scan starts from its value and replaces
/// it by the total, so that a stream can be scanned in pieces without involving the host. For no elements the
/// carry is unchanged. A carry must be neither a target nor read.
///
///     balm::vector<double> carry(ctx, 1, 0.0);
///     for (const auto& piece : pieces) {
///         balm::inclusive_scan_into(out, carry, piece);
///         …
///     }
template <class T, class C, scannable V>
void inclusive_scan_into(vector<T>& into, vector<C>& carry, V&& values) {
    detail::scan_with_carry(true, std::tie(into), std::tie(carry),
                            detail::as_reduction(static_cast<V&&>(values)));
}
template <class... T, class... C, scannable... V>
requires(sizeof...(V) > 0) void inclusive_scan_into(const std::tuple<vector<T>&...>& into,
                                                    const std::tuple<vector<C>&...>& carry, V&&... values) {
    detail::scan_with_carry(true, into, carry, detail::as_reduction(static_cast<V&&>(values))...);
}

/// The same without the element itself, as exclusive_scan.
///
///     balm::exclusive_scan_into(offsets, total, counts);
template <class T, scannable V>
void exclusive_scan_into(vector<T>& into, V&& values) {
    detail::scan_into(false, std::tie(into), nullptr, detail::as_reduction(static_cast<V&&>(values)));
}
template <class... T, scannable... V>
requires(sizeof...(V) > 0) void exclusive_scan_into(const std::tuple<vector<T>&...>& into, V&&... values) {
    detail::scan_into(false, into, nullptr, detail::as_reduction(static_cast<V&&>(values))...);
}
/// … with a carry.
template <class T, class C, scannable V>
void exclusive_scan_into(vector<T>& into, vector<C>& carry, V&& values) {
    detail::scan_with_carry(false, std::tie(into), std::tie(carry),
                            detail::as_reduction(static_cast<V&&>(values)));
}
template <class... T, class... C, scannable... V>
requires(sizeof...(V) > 0) void exclusive_scan_into(const std::tuple<vector<T>&...>& into,
                                                    const std::tuple<vector<C>&...>& carry, V&&... values) {
    detail::scan_with_carry(false, into, carry, detail::as_reduction(static_cast<V&&>(values))...);
}

}  // namespace balm
