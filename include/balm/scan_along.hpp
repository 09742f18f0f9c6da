#pragma once
// Scans (prefix sums) along one dimension of a view or expression, such as each row of a matrix.
//
//     auto M = balm::view(x, {rows, columns});
//     of_rows = balm::inclusive_scan(M, balm::along(1));
//     of_columns = balm::exclusive_scan(balm::max_of(abs(M)), balm::along(0));

#include <utility>

#include "balm/along.hpp"
#include "balm/scan.hpp"

namespace balm {

namespace array {

/// The scan as a materialised operand of expressions, with the extents of `of`.
tape scanned_along(tape&& of, const scan&, const dimension_list& along);

}  // namespace array

namespace detail {

template <class R, class... I>
auto scanned_along(const array::dimension_list& along, lazy_reduction<R> what, bool is_inclusive,
                   const I&... init) {
    const array::scan how = scan_of(what, is_inclusive, init...);
    return expr<R>(array::scanned_along(std::move(what).tape(), how, along));
}

}  // namespace detail

/// Scans along one dimension: element (…, k, …) combines the elements (…, 0, …) … (…, k, …). Everything else
/// is as for inclusive_scan(v): `v` is an array, which is summed, or a reduction; the result is an expression
/// with the extents of the operand, and may be assigned to it.
///
/// Each element is read once and written once, except that these are read twice: columns (scans along another
/// dimension than the last) if there are too few for the device; and, on devices without look-back, long rows
/// that are few or do not fill tiles. For vectors over several devices, the first one scans all elements.
/// Throws usage_error if the dimension does not exist, or if there are several.
///
///     auto M = balm::view(x, {rows, columns});
///     auto of_rows = balm::inclusive_scan(M, balm::along(1));
///     auto area = balm::inclusive_scan(of_rows, balm::along(0));  // a summed-area table
template <scannable V>
auto inclusive_scan(V&& values, const array::dimension_list& along) {
    return detail::scanned_along(along, detail::as_reduction(static_cast<V&&>(values)), true);
}
/// The same with an initial value, from which each row starts.
template <scannable V, detail::host_element_value I>
auto inclusive_scan(V&& values, const I& init, const array::dimension_list& along) {
    return detail::scanned_along(along, detail::as_reduction(static_cast<V&&>(values)), true, init);
}

/// The same without the element itself: element (…, k, …) combines the elements (…, 0, …) … (…, k - 1, …).
///
///     offsets = balm::exclusive_scan(counts, balm::along(0));
template <scannable V>
auto exclusive_scan(V&& values, const array::dimension_list& along) {
    return detail::scanned_along(along, detail::as_reduction(static_cast<V&&>(values)), false);
}
/// The same with an initial value, which is each row's first result.
template <scannable V, detail::host_element_value I>
auto exclusive_scan(V&& values, const I& init, const array::dimension_list& along) {
    return detail::scanned_along(along, detail::as_reduction(static_cast<V&&>(values)), false, init);
}

}  // namespace balm
