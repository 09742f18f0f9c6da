#pragma once
// Sorting: vectors in place, with values that move with their keys, and expressions in order.
//
//     balm::sort(x);
//     balm::sort_by_key(keys, a, b, balm::descending);
//     balm::vector<std::uint32_t> order = balm::argsort(distances);

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "balm/along.hpp"
#include "balm/expr.hpp"
#include "balm/tie.hpp"
#include "balm/vector.hpp"

namespace balm {

/// Which way elements are sorted.
enum class sort_order : std::uint8_t {
    ascending,  ///< the least element first
    descending  ///< the greatest element first
};
inline constexpr sort_order ascending = sort_order::ascending, descending = sort_order::descending;

namespace array {

/// What is sorted by, and sorted itself.
struct sort_key {
    std::shared_ptr<vector_state> elements;
    sort_order order;
};
/// Sorts by the first key, where that is equal by the second … Values move with the keys.
void sort(std::span<const sort_key> keys, std::span<const std::shared_ptr<vector_state>> values);
/// The elements in order, as a leaf of expressions.
tape sorted(tape&& elements, trace::type, sort_order);
/// The elements of each row in order, in the extents of the expression.
tape sorted_rows(tape&& elements, trace::type, sort_order, const dimension_list& over);
/// The positions of the elements in order, of an integer type.
tape sorted_positions(tape&& keys, trace::type, sort_order, scalar position);

}  // namespace array

namespace detail {

template <class T>
concept sort_key_element = scalar_type<T> || std::same_as<T, half>;

template <class A>
inline constexpr bool is_tied = false;
template <class... T>
inline constexpr bool is_tied<tied<T...>> = true;
/// A vector that may be written.
template <class A>
inline constexpr bool is_written_vector = false;
template <class T>
inline constexpr bool is_written_vector<vector<T>&> = true;

/// The arguments of a sort.
class sort_arguments {
public:
    explicit sort_arguments(sort_order order) : order_(order) {}

    template <class K>
    void add_key(K&& key) {
        using plain = std::remove_cvref_t<K>;
        if constexpr (is_tied<plain>) {
            std::apply([&](auto&... each) { (add_key(each), ...); }, key.values());
        } else {
            static_assert(
                array_value<K>,
                "Balm: keys are vectors, expressions, or several vectors as balm::tie(first, second)");
            using element = std::remove_const_t<typename plain::value_type>;
            static_assert(sort_key_element<element>,
                          "Balm: keys are numbers; sort structures by an expression of their members: "
                          "sort_by_key(key, x)");
            if constexpr (is_written_vector<K&&>)
                add_key_state(key.state());
            else
                add_key_state(vector<element>(static_cast<K&&>(key)).state());
        }
    }
    template <class V>
    void add_value(V&& value) {
        using plain = std::remove_cvref_t<V>;
        if constexpr (is_tied<plain>) {
            std::apply([&](auto&... each) { (add_value(each), ...); }, value.values());
        } else if constexpr (!std::same_as<plain, sort_order>) {
            static_assert(is_written_vector<V&&>,
                          "Balm: the values that a sort moves are vectors that can be assigned to");
            values_.push_back(value.state());
        }
    }
    void sort() const { array::sort({keys_.begin(), keys_.size()}, {values_.begin(), values_.size()}); }

private:
    void add_key_state(const std::shared_ptr<array::vector_state>& state) {
        keys_.push_back({state, order_});
    }

    sort_order order_;
    inline_vector<array::sort_key, 2> keys_;
    inline_vector<std::shared_ptr<array::vector_state>, 4> values_;
};

/// The order among the arguments of a sort, which is the last one, if any.
template <class... V>
constexpr sort_order order_among(const V&... values) {
    sort_order order = sort_order::ascending;
    const auto look = [&]<class A>(const A& each) {
        if constexpr (std::same_as<A, sort_order>) order = each;
    };
    (look(values), ...);
    return order;
}
template <class... V>
constexpr bool is_order_last() {
    constexpr std::size_t count = sizeof...(V);
    const std::array<bool, count + 1> is_order{std::same_as<std::remove_cvref_t<V>, sort_order>..., false};
    for (std::size_t k = 0; k + 1 < count; ++k)
        if (is_order[k]) return false;
    return true;
}

}  // namespace detail

/// Sorts a vector of numbers on its device. The order is total: -0 is ahead of +0 (behind it, if descending),
/// and NaNs are the last elements either way. Takes as much memory again while it runs. Vectors over several
/// devices are sorted by the first one. Radix sort: the vector is read and written once for each 8 bits of an
/// element (4 bits on GPUs that are not NVIDIA's), but for bits that all elements share.
///
///     balm::sort(x);
///     balm::sort(x, balm::descending);
///
/// Several vectors of the same size, tied, are sorted together, by the first, where that is equal by the
/// second …
///
///     balm::sort(balm::tie(year, month));
template <class K>
requires detail::is_written_vector<K&&> || detail::is_tied<std::remove_cvref_t<K>>
void sort(K&& keys, sort_order order = ascending) {
    detail::sort_arguments arguments(order);
    arguments.add_key(static_cast<K&&>(keys));
    arguments.sort();
}

/// Sorts keys, and moves the elements of any number of vectors with them. The sort is stable: elements of
/// equal keys keep their order. Keys are a vector of numbers, several tied vectors, or an expression, which
/// is computed first and not changed: that sorts structures by their members. Values are vectors of elements
/// of any type. The last argument may be the order. Throws usage_error where sizes differ, vectors are on
/// other devices, or one occurs twice.
///
///     balm::sort_by_key(keys, a, b);
///     balm::sort_by_key(balm::tie(year, month), sales, balm::descending);
///     balm::sort_by_key(mass(particles), particles);  // a function of structures
///
/// One value of up to 8 bytes moves with its key. Of several or larger ones, and with several keys, only
/// positions move with the keys, and each vector is then permuted once.
template <class K, class... V>
requires array_value<K> || detail::is_tied<std::remove_cvref_t<K>>
void sort_by_key(K&& keys, V&&... values_and_order) {
    static_assert(detail::is_order_last<V...>(), "Balm: the order is the last argument of a sort");
    detail::sort_arguments arguments(detail::order_among(values_and_order...));
    arguments.add_key(static_cast<K&&>(keys));
    (arguments.add_value(static_cast<V&&>(values_and_order)), ...);
    arguments.sort();
}

/// The elements of a vector or expression in order, as an expression of one dimension. It is computed as a
/// whole before the expression that it is part of, once however often the same object occurs. All else is as
/// for sort.
///
///     median = balm::sorted(abs(x))[n / 2 + 0 * balm::element_index(0, 1)];
///     y = balm::sorted(x, balm::descending);
template <array_value A>
auto sorted(A&& elements, sort_order order = ascending) {
    using T = detail::element_of<A>;
    static_assert(scalar_type<T>, "Balm: numbers are sorted; sort structures by sort_by_key(key, x)");
    return expr<T>(array::sorted(expr<T>(static_cast<A&&>(elements)).tape(), detail::array_type<T>(), order));
}

/// The elements of each row of a view in order, as an expression of the view's extents. Rows extend along the
/// last dimension, which `over` names; to sort columns, transpose the view and the result. Throws usage_error
/// for other dimensions.
///
///     auto M = balm::view(x, {rows, columns});
///     x = balm::sorted(M, balm::along(1));
template <array_value A>
auto sorted(A&& elements, const array::dimension_list& over, sort_order order = ascending) {
    using T = detail::element_of<A>;
    static_assert(scalar_type<T>, "Balm: numbers are sorted; sort structures by sort_by_key(key, x)");
    return expr<T>(
        array::sorted_rows(expr<T>(static_cast<A&&>(elements)).tape(), detail::array_type<T>(), order, over));
}

/// The positions of a vector's or an expression's elements in order, as an expression: `x[argsort(x)]` is
/// sorted. Equal elements keep their order. I is an integer type that counts the elements; throws usage_error
/// where it does not.
///
///     balm::vector<std::uint32_t> order = balm::argsort(distances);
///     nearest = particles[balm::argsort(distances)];
///     auto order = balm::argsort<std::int64_t>(x, balm::descending);
template <std::integral I = std::uint32_t, array_value A>
auto argsort(A&& keys, sort_order order = ascending) {
    using T = detail::element_of<A>;
    static_assert(scalar_type<T>, "Balm: keys are numbers");
    return expr<canonical<I>>(array::sorted_positions(expr<T>(static_cast<A&&>(keys)).tape(),
                                                      detail::array_type<T>(), order, scalar_of<I>));
}

}  // namespace balm
