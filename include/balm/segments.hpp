#pragma once
// Sorts and reductions of segments, which an array of offsets defines: segment k is the elements from
// offsets[k] up to, not including, offsets[k + 1].
//
//     balm::sort_segments(x, offsets);
//     auto longest = balm::reduce_segments(offsets, balm::max_of(x));

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/function_ref.hpp"
#include "balm/reduce_by_key.hpp"
#include "balm/search.hpp"
#include "balm/select.hpp"
#include "balm/sort.hpp"
#include "balm/top_k.hpp"

namespace balm {

namespace array {

/// What a sort asks about its segments.
struct segment_lengths {
    detail::function_ref<std::int64_t()> longest;
    /// The begin and the end of each segment of more than `most` elements.
    detail::function_ref<std::vector<std::int64_t>(std::int64_t most)> longer_than;
};
/// Sorts each segment on a CPU that has all vectors; values move with their keys. Returns false, having done
/// nothing, if vectors are elsewhere or not valid: sort them by segment number.
bool sort_segments(const sort_key& keys, const std::shared_ptr<vector_state>& offsets, const segment_lengths&,
                   std::span<const std::shared_ptr<vector_state>> values);
/// Sorts by segment number, then by key; values move with their keys. `segments` are ascending 32-bit
/// numbers, which are the same afterwards.
void sort_segments(const sort_key& keys, const std::shared_ptr<vector_state>& segments,
                   std::span<const std::shared_ptr<vector_state>> values);
/// Reduces each segment of the elements into an element of `into`, on a CPU that has all of them. Returns
/// false, having done nothing, if they are elsewhere: reduce them by segment number.
bool reduce_segments(vector_state& into, const vector_state& offsets, tape&& elements, const reduction&);
/// An expression of one element of unspecified value, on the device of a vector.
tape one_element(trace::type, const vector_state& near);
[[noreturn]] void refuse_no_offsets(const char* name);
[[noreturn]] void refuse_offsets(const char* name, std::int64_t first, std::int64_t last, std::size_t size);
[[noreturn]] void refuse_offsets(const char* name, std::size_t position, std::int64_t offset,
                                 std::int64_t next);

}  // namespace array

namespace detail {

/// Offsets as a vector. Throws usage_error if they are not valid for `size` elements.
template <class O>
auto checked_offsets(const char* name, const O& offsets, std::size_t size) {
    static_assert(kind_of(array_scalar<O>()) == scalar_kind::integer, "Balm: offsets must be integers");
    const auto own = as_one_vector(offsets);
    if (own.empty()) array::refuse_no_offsets(name);
    const auto offset = [&](std::size_t k) {
        return static_cast<std::int64_t>(static_cast<typename decltype(own)::value_type>(own[k]));
    };
    const std::size_t last = own.size() - 1;
    if (offset(0) != 0 || offset(last) != static_cast<std::int64_t>(size))
        array::refuse_offsets(name, offset(0), offset(last), size);
    if (last == 0) return own;
    const auto end = static_cast<std::int64_t>(last);
    const auto here = element_index(0, last);
    const std::int64_t fault =
        min(select(cast<std::int64_t>(own[here]) > cast<std::int64_t>(own[here + 1]), here, end));
    if (fault < end) {
        const auto k = static_cast<std::size_t>(fault);
        array::refuse_offsets(name, k, offset(k), offset(k + 1));
    }
    return own;
}
/// The number of each element's segment, counted from 1.
template <class O>
vector<std::uint32_t> segments_of(const vector<O>& offsets, std::size_t size) {
    const vector<std::int64_t> wide(cast<std::int64_t>(offsets));
    return cast<std::uint32_t>(upper_bound(wide, element_index(0, size)));
}

template <class K, class O, class... V>
void sort_segments_with(const char* name, vector<K>& keys, const O& offsets, V&... values_and_order) {
    array::sort_key by{keys.state(), sort_order::ascending};
    inline_vector<std::shared_ptr<array::vector_state>, 4> values;
    const auto take = [&]<class A>(A& each) {
        if constexpr (std::same_as<std::remove_cvref_t<A>, sort_order>) {
            by.order = each;
        } else {
            static_assert(
                is_written_vector<A&>,
                "Balm: the values of a sort must be assignable vectors; only an order may follow them");
            values.push_back(each.state());
        }
    };
    (take(values_and_order), ...);
    const auto own = checked_offsets(name, offsets, keys.size());
    if (keys.size() < 2) return;
    const auto here = element_index(0, own.size() - 1);
    const auto length = cast<std::int64_t>(own[here + 1]) - cast<std::int64_t>(own[here]);
    const auto longest = [&]() -> std::int64_t { return max(length); };
    const auto longer_than = [&](std::int64_t most) {
        const vector<std::int64_t> begins = copy_if(cast<std::int64_t>(own[here]), length > most),
                                   ends = copy_if(cast<std::int64_t>(own[here + 1]), length > most);
        std::vector<std::int64_t> made(2 * begins.size());
        for (std::size_t k = 0; k < begins.size(); ++k) {
            made[2 * k] = begins[k];
            made[2 * k + 1] = ends[k];
        }
        return made;
    };
    if (array::sort_segments(by, own.state(), {longest, longer_than}, {values.begin(), values.size()}))
        return;
    const vector<std::uint32_t> segments = segments_of(own, keys.size());
    array::sort_segments(by, segments.state(), {values.begin(), values.size()});
}

}  // namespace detail

/// Sorts each segment of a vector of numbers. Segments may have any length, also 0. `offsets`, a vector or
/// expression of integers, has one element more than there are segments: it must begin at 0, not decrease,
/// and end at the vector's size; otherwise throws usage_error. Blocks until the offsets are checked. The
/// order is as for balm::sort; equal elements keep their order.
///
/// On CPUs a work-item sorts consecutive segments. On GPUs, and over several devices, elements are sorted by
/// key, with their segment numbers as values, then by segment number.
///
///     balm::sort_segments(x, offsets);
///     balm::sort_segments(x, offsets, balm::descending);
template <class T, array_value O>
void sort_segments(vector<T>& x, const O& offsets, sort_order order = ascending) {
    static_assert(detail::sort_key_element<T>,
                  "Balm: sort_segments takes numbers; to sort structures, sort positions by a member");
    detail::sort_segments_with("sort_segments", x, offsets, order);
}
/// The same with values: vectors of any type that move with their keys. The last argument may be the order.
/// Throws usage_error if sizes differ.
///
///     balm::sort_segments_by_key(keys, offsets, a, b, balm::descending);
template <class T, array_value O, class... V>
void sort_segments_by_key(vector<T>& keys, const O& offsets, V&&... values_and_order) {
    static_assert(detail::sort_key_element<T>, "Balm: keys must be numbers");
    detail::sort_segments_with("sort_segments_by_key", keys, offsets, values_and_order...);
}

/// Reduces each segment to one value, and returns a vector of them. `what` is an array, whose elements are
/// summed, or a lazy reduction, as for reduce_by_key. An empty segment has the value that exclusive_scan
/// begins with: 0 for sums, 1 for products, the identity of a fold; for min and max the other end of the
/// type's range, NaN for floating types. Offsets are as for sort_segments. The same device returns the same
/// bits in every run. Blocks until the offsets are checked.
///
///     auto totals = balm::reduce_segments(offsets, x);
///     auto highest = balm::reduce_segments(offsets, balm::max_of(x));
template <array_value O, scannable V>
auto reduce_segments(const O& offsets, V&& what) {
    auto reduction = detail::as_reduction(static_cast<V&&>(what));
    using R = typename decltype(reduction)::result_type;
    const array::reduction how = reduction.how();
    const std::size_t size = array::box_of(reduction.tape()).count();
    const auto own = detail::checked_offsets("reduce_segments", offsets, size);
    const auto ahead = own[element_index(0, own.size() - 1)];
    vector<R> made(array::make_vector_like(expr<std::int64_t>(cast<std::int64_t>(ahead)).tape(),
                                           detail::array_type<R>()));
    if (made.empty()) return made;
    if (size > 0 && array::reduce_segments(*made.state(), *own.state(), array::tape(reduction.tape()), how))
        return made;
    const vector<R> of_none(
        expr<R>(array::scanned(array::one_element(how.element, *own.state()), {how, false})));
    made = R{of_none[0]};
    if (size == 0) return made;
    const auto [segments, results] = reduce_by_key(detail::segments_of(own, size), std::move(reduction));
    made[cast<std::int64_t>(segments) - std::int64_t{1}] = results;
    return made;
}

}  // namespace balm
