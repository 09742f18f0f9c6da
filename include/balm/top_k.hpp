#pragma once
// The first elements in sorted order, without sorting all of them.
//
//     auto [values, positions] = balm::top_k(scores, 10);
//     double median = balm::nth_element(x, x.size() / 2);

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "balm/histogram.hpp"
#include "balm/merge.hpp"
#include "balm/select.hpp"

namespace balm {

namespace array {

/// The elements as unsigned integers that ascend in the order, the same for all NaNs: of 64 bits for elements
/// of 64 bits, otherwise of 32.
tape ordered_numbers(tape&& elements, scalar type, sort_order);
/// The elements on one device: the vector itself, or a copy on its first device.
std::shared_ptr<vector_state> on_one_device(const std::shared_ptr<vector_state>&);
/// The numbers 0, 1, 2 … of 64 bits, as many as the vector has elements, on its device.
std::shared_ptr<vector_state> positions_like(const vector_state&);
/// The first `count` elements along the dimension.
tape first_along(tape&&, const dimension_list& over, std::size_t count);
[[noreturn]] void refuse_top(std::size_t count, std::size_t size);
[[noreturn]] void refuse_rank(std::size_t rank, std::size_t size);

}  // namespace array

/// The result of top_k: elements in order, and their positions.
template <class T>
struct top_elements {
    vector<T> values;
    vector<std::int64_t> positions;
};

/// The result of top_k along a dimension: elements in order, and their positions along the dimension.
template <class T>
struct top_elements_along {
    expr<T> values;
    expr<std::int64_t> positions;
};

namespace detail {

template <class T>
vector<T> first_of(const vector<T>& list, std::size_t count) {
    if (list.size() == count) return list;
    return list(slice(0, static_cast<std::int64_t>(count)));
}

/// Finds the first elements in an order, or the element of a rank, by radix selection: counts the elements of
/// each digit, the most significant first, until few candidates are left. Other elements are dropped once
/// they are most of the elements.
template <class U>
class radix_selection {
public:
    /// Numbers of `bits` bits, which ascend in the order.
    radix_selection(expr<U> numbers, std::size_t size, int bits)
        : numbers_(std::move(numbers)), positions_(element_index()), size_(size), unknown_(bits) {}

    /// The positions of the first `count` elements, in order; equal elements in the order of their positions.
    vector<std::int64_t> first(std::size_t count) {
        enough_ = 4 * count > few ? 4 * count : few;
        narrow(count);
        if (!is_narrowed_) return first_of(vector<std::int64_t>(argsort<std::int64_t>(numbers_)), count);
        if (candidates() > enough_) return with_equal_ones(count);
        return first_of(sorted_candidates(), count);
    }
    /// The position of the element that `rank` elements precede.
    std::size_t at(std::size_t rank) {
        is_single_ = true;
        enough_ = few;
        narrow(rank + 1);
        std::int64_t position = 0;
        if (!is_narrowed_)
            position = vector<std::int64_t>(argsort<std::int64_t>(numbers_))[rank];
        else if (candidates() > enough_)
            // NaNs are equal, and differ in their bits.
            position = vector<std::int64_t>(copy_if(positions_, numbers_ == prefix_))[rank - ahead_];
        else
            position = sorted_candidates()[rank - ahead_];
        return static_cast<std::size_t>(position);
    }

private:
    /// With digits of 12 bits, a sixteenth of uniform floats from 0 to 1 have the most frequent digit. The
    /// counts take 16 KB of local memory.
    static constexpr int digit_bits = 12;
    /// At most this many candidates are sorted rather than counted again.
    static constexpr std::size_t few = 8192;
    /// Candidates are compacted when at most one element in eight is a candidate.
    static constexpr std::size_t least_reduction = 8;

    void narrow(std::size_t count) {
        left_ = size_;
        while (candidates() > enough_ && unknown_ > 0) {
            const int bits = digit_bits < unknown_ ? digit_bits : unknown_;
            const auto counts = counts_of_digits(bits).to_host();
            unknown_ -= bits;
            prefix_ = static_cast<U>(prefix_ << bits);
            is_narrowed_ = true;
            for (const std::int64_t own : counts) {
                left_ = ahead_ + static_cast<std::size_t>(own);
                if (left_ >= count) break;
                ahead_ = left_;
                ++prefix_;
            }
            if (candidates() > enough_ && candidates() <= size_ / least_reduction) leave_others_behind();
        }
    }
    std::size_t candidates() const { return is_single_ ? left_ - ahead_ : left_; }
    vector<std::int64_t> counts_of_digits(int bits) const {
        const std::size_t digits = std::size_t{1} << bits;
        auto digit =
            cast<std::int32_t>((numbers_ >> static_cast<U>(unknown_ - bits)) & static_cast<U>(digits - 1));
        if (!is_narrowed_) return bincount(digit, digits);
        return bincount(select(numbers_ >> static_cast<U>(unknown_) == prefix_, digit, -1), digits);
    }
    std::tuple<vector<U>, vector<std::int64_t>> kept() const {
        const auto leading = numbers_ >> static_cast<U>(unknown_);
        const std::tuple both(numbers_, positions_);
        return is_single_ ? copy_if(both, leading == prefix_) : copy_if(both, leading <= prefix_);
    }
    void leave_others_behind() {
        auto [numbers, positions] = kept();
        size_ = numbers.size();
        numbers_ = expr<U>(numbers);
        positions_ = expr<std::int64_t>(positions);
    }
    vector<std::int64_t> sorted_candidates() const {
        auto [numbers, positions] = kept();
        sort_by_key(numbers, positions);
        return std::move(positions);
    }
    /// Used when all bits of the last element are known, and very many elements are equal to it.
    vector<std::int64_t> with_equal_ones(std::size_t count) const {
        const vector<std::int64_t> equal = copy_if(positions_, numbers_ == prefix_);
        if (ahead_ == 0) return first_of(equal, count);
        auto [numbers, positions] = copy_if(std::tuple(numbers_, positions_), numbers_ < prefix_);
        sort_by_key(numbers, positions);
        const auto here = element_index(0, count);
        const auto behind = static_cast<std::int64_t>(ahead_);
        return select(here < behind, positions[balm::min(here, behind - 1)],
                      equal[balm::max(here - behind, std::int64_t{0})]);
    }

    expr<U> numbers_;
    expr<std::int64_t> positions_;
    std::size_t size_, enough_ = 0;
    int unknown_;                       ///< least significant bits of the last element that are unknown
    U prefix_ = 0;                      ///< its other bits
    bool is_narrowed_ = false;          ///< whether some bits are known
    bool is_single_ = false;            ///< elements below the prefix are not candidates
    std::size_t ahead_ = 0, left_ = 0;  ///< numbers of elements below the prefix, and not above it
};

/// The elements of an array as a vector on one device.
template <class A>
auto as_one_vector(const A& a) {
    if constexpr (is_vector<A>) {
        if (!a.state()) vector_without_device();
        return A(array::on_one_device(a.state()));
    } else {
        return kept_vector<A>(array::on_one_device(kept_vector<A>(a).state()));
    }
}

template <class T>
auto selection_of(const vector<T>& elements, sort_order order) {
    static_assert(sort_key_element<T>,
                  "Balm: only numbers have a default order; for other elements pass a comparison");
    using element = element_of<vector<T>>;
    using bits = std::conditional_t<sizeof(element) == 8, std::uint64_t, std::uint32_t>;
    return radix_selection<bits>(
        expr<bits>(array::ordered_numbers(expr<element>(elements).tape(), scalar_of<element>, order)),
        elements.size(), 8 * static_cast<int>(sizeof(element)));
}
template <class T>
top_elements<T> first_elements(const vector<T>& elements, std::size_t count, sort_order order) {
    auto positions = selection_of(elements, order).first(count);
    vector<T> values(elements[positions]);
    return {std::move(values), std::move(positions)};
}
template <class T>
T element_at(const vector<T>& elements, std::size_t rank, sort_order order) {
    return elements[selection_of(elements, order).at(rank)];
}

/// A comparison sorts all elements.
template <class T, class P>
top_elements<T> first_elements(const vector<T>& elements, std::size_t count,
                               const device_function<dsl::Bool, P, P>& is_ahead) {
    vector<T> values(elements);
    vector<std::int64_t> positions(array::positions_like(*elements.state()));
    sort_by_key(values, positions, is_ahead);
    return {first_of(values, count), first_of(positions, count)};
}
template <class T, class P>
T element_at(const vector<T>& elements, std::size_t rank, const device_function<dsl::Bool, P, P>& is_ahead) {
    vector<T> values(elements);
    sort(values, is_ahead);
    return std::as_const(values)[rank];
}

}  // namespace detail

/// The first k elements of a vector or expression in sorted order, and their positions. The default order is
/// descending, so the k largest elements come first; the last argument may be balm::ascending, or a
/// comparison as for balm::sort. Equal elements are in the order of their positions; NaNs are equal and
/// last in both directions. Throws usage_error if there are fewer than k elements.
///
/// Radix selection counts the elements of each digit of 12 bits, the most significant first, until at most
/// 4 k or 8,192 are left, and sorts these. Uniform numbers are read twice; each further digit reads all
/// elements, or the candidates if they are at most an eighth. Waits for the counts. A comparison sorts all
/// elements.
///
///     auto [values, positions] = balm::top_k(scores, 10);
///     auto nearest = balm::top_k(distances, 5, balm::ascending).positions;
template <array_value A, class Manner = sort_order>
auto top_k(const A& a, std::size_t k, const Manner& order_or_comparison = descending) {
    static_assert(detail::is_sort_manner<Manner>,
                  "Balm: the last argument of top_k must be an order, or a comparison that returns a Bool");
    const auto elements = detail::as_one_vector(a);
    if (k > elements.size()) array::refuse_top(k, elements.size());
    return detail::first_elements(elements, k, order_or_comparison);
}

/// The first k elements of each row of a view, or along another dimension, in sorted order, and their
/// positions there, as expressions with the view's extents, of which this one is k. Sorts all elements; does
/// not wait. Everything else is as for top_k of a vector. Throws usage_error if there are fewer than k
/// elements along the dimension, if it does not exist, or if there are several.
///
///     auto M = balm::view(scores, {players, games});
///     auto [best, games_of_best] = balm::top_k(M, 3, balm::along(1));
template <array_value A>
auto top_k(const A& a, std::size_t k, const array::dimension_list& over, sort_order order = descending) {
    using T = detail::element_of<A>;
    static_assert(scalar_type<T>, "Balm: only numbers have an order");
    const expr<T> elements(a);
    const array::three_dimensions box = array::along_one("top_k", elements.tape(), over);
    if (k > box.rows) array::refuse_top(k, box.rows);
    expr<std::int64_t> positions(
        array::first_along(argsort<std::int64_t>(elements, over, order).tape(), over, k));
    const auto inner = static_cast<std::int64_t>(box.inner),
               chosen = static_cast<std::int64_t>(k * box.inner),
               of_outer = static_cast<std::int64_t>(box.rows * box.inner);
    // Without elements nothing is divided.
    const auto here = element_index();
    const auto first = here / (chosen > 0 ? chosen : 1) * of_outer + here % (inner > 0 ? inner : 1);
    expr<T> values(elements[first + positions * inner]);
    return top_elements_along<T>{std::move(values), std::move(positions)};
}

/// The element that `rank` elements precede in sorted order: the value of x[rank] if x were sorted. The
/// default order is ascending; the last argument may be balm::descending, or a comparison. Everything else is
/// as for top_k, for one element. Throws usage_error unless there are more than `rank` elements.
///
///     double median = balm::nth_element(x, x.size() / 2);
template <array_value A, class Manner = sort_order>
auto nth_element(const A& a, std::size_t rank, const Manner& order_or_comparison = ascending) {
    static_assert(
        detail::is_sort_manner<Manner>,
        "Balm: the last argument of nth_element must be an order, or a comparison that returns a Bool");
    const auto elements = detail::as_one_vector(a);
    if (rank >= elements.size()) array::refuse_rank(rank, elements.size());
    return detail::element_at(elements, rank, order_or_comparison);
}

}  // namespace balm
