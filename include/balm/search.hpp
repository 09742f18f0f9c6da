#pragma once
// Binary search for many needles in a sorted vector, as an expression.
//
//     positions = balm::lower_bound(sorted, needles);
//     counts = balm::upper_bound(sorted, needles) - balm::lower_bound(sorted, needles);

#include <cstdint>

#include "balm/dsl/control.hpp"
#include "balm/dsl/exact_less.hpp"
#include "balm/vector.hpp"

namespace balm {

namespace detail {

/// The number of leading elements of a sorted array for which is_before(element) holds: each step halves the
/// range, without a branch.
template <class T, class F>
dsl::Long leading(const dsl::In<T>& sorted, const dsl::Long& size, F&& is_before) {
    dsl::Long first = 0, count = size;
    BALM_WHILE (count > 0) {
        const dsl::Long half = (count + 1) >> 1;
        first += dsl::select(is_before(dsl::Var<T>(sorted[first + half - 1])), half, std::int64_t{0});
        count -= half;
    }
    return first;
}

enum class searched : std::uint8_t { lower, upper, bin };

template <searched What, class T, class X>
const auto& search_function() {
    using namespace dsl;
    static const auto& made = *new auto(function(  // outlives static objects
        What == searched::lower   ? "lower_bound(x, sorted, size)"
        : What == searched::upper ? "upper_bound(x, sorted, size)"
                                  : "bin(x, edges, size)",
        [](Var<X> x, In<T> sorted, Long size) {
            const auto leading_ones = leading(sorted, size, [&](const Var<T>& element) {
                if constexpr (What == searched::lower)
                    return exact_less(element, x);
                else
                    return Bool(!exact_less(x, element));
            });
            if constexpr (What == searched::bin && std::floating_point<X>)
                return Long(select(isnan(x), std::int64_t{0}, leading_ones));
            else
                return Long(leading_ones);
        }));
    return made;
}

template <searched What, class T, class A>
expr<std::int64_t> search(const vector<T>& sorted, A&& needles) {
    static_assert(scalar_type<T> && are_scalars<A>(),
                  "Balm: searches take numbers, both as sorted elements and as values to find");
    if (!sorted.state()) vector_without_device();
    return search_function<What, canonical<T>, canonical<element_of<A>>>()(
        static_cast<A&&>(needles), sorted, static_cast<std::int64_t>(sorted.size()));
}

}  // namespace detail

/// For each needle, the position of the first element that is not less than it, as std::lower_bound finds it;
/// the size if there is none. The vector must be sorted in ascending order, as by balm::sort: NaNs are last,
/// and equal to each other; -0 equals +0. Needles may have another type than the elements: values compare
/// exactly, without conversion to one of the types. With several devices, each has a copy of the vector.
/// Takes log2(size) steps per needle.
///
///     positions = balm::lower_bound(sorted, needles);
template <class T, array_value A>
expr<std::int64_t> lower_bound(const vector<T>& sorted, A&& needles) {
    return detail::search<detail::searched::lower>(sorted, static_cast<A&&>(needles));
}
/// The same for the first element that is greater than the needle, as std::upper_bound finds it.
template <class T, array_value A>
expr<std::int64_t> upper_bound(const vector<T>& sorted, A&& needles) {
    return detail::search<detail::searched::upper>(sorted, static_cast<A&&>(needles));
}

}  // namespace balm
