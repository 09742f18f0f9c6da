#pragma once
// Scans (prefix sums) of vectors.

#include <utility>

#include <balm/scan.hpp>

#include "vexcl/detail/reductions_of_elements.hpp"

namespace vex {
namespace detail {

/// output = elements_from(scan(reduction, lane)…), with one scan for each lane.
template <class T, class Oper, class Scan>
void scan_into(const vector<T>& input, vector<T>& output, const Oper& oper, const Scan& scan) {
    precondition(input.size() == output.size(), "The input and output of a scan differ in size");
    if (input.empty()) return;
    const on_queues scope(output.queues());
    with_reductions(oper, input, [&](auto... reductions) {
        [&]<int... Lane>(std::integer_sequence<int, Lane...>) {
            output.balm_vector() = elements_from<T>(scan(std::move(reductions), Lane)...);
        }
        (std::make_integer_sequence<int, sizeof...(reductions)>());
    });
}
/// Lane k of a short vector; a scalar itself.
template <class T>
auto lane_of(const T& value, [[maybe_unused]] int k) {
    if constexpr (host_scalar<T>)
        return value;
    else
        return value.s[k];
}

}  // namespace detail

/// Element k of the output combines the elements 0 … k of the input by an associative functor, whose first
/// argument is the earlier one. The initial value is ignored. The output may be the input.
///
///     vex::inclusive_scan(x, y);
template <class T, class Oper>
void inclusive_scan(const vector<T>& input, vector<T>& output, T, Oper oper) {
    detail::scan_into(input, output, oper,
                      [](auto&& reduction, int) { return balm::inclusive_scan(std::move(reduction)); });
}
template <class T>
void inclusive_scan(const vector<T>& input, vector<T>& output, T init = T()) {
    inclusive_scan(input, output, init, plus<T>());
}

/// Element k of the output combines the initial value and the elements 0 … k - 1.
///
///     vex::exclusive_scan(counts, offsets);
template <class T, class Oper>
void exclusive_scan(const vector<T>& input, vector<T>& output, T init, Oper oper) {
    detail::scan_into(input, output, oper, [&](auto&& reduction, int lane) {
        return balm::exclusive_scan(std::move(reduction), detail::lane_of(init, lane));
    });
}
template <class T>
void exclusive_scan(const vector<T>& input, vector<T>& output, T init = T()) {
    exclusive_scan(input, output, init, plus<T>());
}

}  // namespace vex
