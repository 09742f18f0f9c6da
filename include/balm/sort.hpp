#pragma once
// Sorting: vectors in place, alone or with values that move with their keys, and sorted expressions.
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

/// The direction of a sort.
enum class sort_order : std::uint8_t {
    ascending,  ///< the least element first
    descending  ///< the greatest element first
};
inline constexpr sort_order ascending = sort_order::ascending, descending = sort_order::descending;

namespace array {

/// A vector of keys, which is sorted too, and its order.
struct sort_key {
    std::shared_ptr<vector_state> elements;
    sort_order order;
};
/// Sorts keys lexicographically (by the first one, ties by the second …), and moves values with them. Over
/// several devices all keys must have the same order.
void sort(std::span<const sort_key> keys, std::span<const std::shared_ptr<vector_state>> values);
/// A function that returns whether its first argument precedes its second.
using comparison = std::shared_ptr<const ir::function>;
/// Sorts by a comparison of two keys.
void sort(const std::shared_ptr<vector_state>& keys, const comparison& is_ahead,
          std::span<const std::shared_ptr<vector_state>> values);
/// The sorted elements, as a materialised operand.
tape sorted(tape&& elements, trace::type, sort_order);
/// The elements sorted along a dimension, with the extents of the expression, as a materialised operand.
tape sorted_along(tape&& elements, trace::type, sort_order, const dimension_list& over);
/// The positions of the elements in sorted order, of an integer type, as a materialised operand.
tape sorted_positions(tape&& keys, trace::type, sort_order, scalar position);
/// The same along a dimension.
tape sorted_positions_along(tape&& keys, trace::type, sort_order, scalar position,
                            const dimension_list& over);

}  // namespace array

namespace detail {

template <class T>
concept sort_key_element = scalar_type<T> || std::same_as<T, half>;

/// A vector that is not const.
template <class A>
inline constexpr bool is_written_vector = false;
template <class T>
inline constexpr bool is_written_vector<vector<T>&> = true;

template <class F>
inline constexpr bool is_comparison = false;
template <class P>
inline constexpr bool is_comparison<device_function<dsl::Bool, P, P>> = true;
/// The order or the comparison of a sort, as opposed to a vector.
template <class A>
inline constexpr bool is_sort_manner = std::same_as<A, sort_order> || is_comparison<A>;

/// Whether F compares elements of K.
template <class K, class F>
inline constexpr bool compares = false;
template <class K, class P>
inline constexpr bool compares<K, device_function<dsl::Bool, P, P>> =
    std::same_as<typename held_by<P>::type, element_of<K>> &&
    !std::same_as<typename std::remove_cvref_t<K>::value_type, half>;

/// The arguments of a sort.
class sort_arguments {
public:
    /// Keys are one or several vectors of numbers; with a comparison, one vector of any element type.
    template <bool IsCompared, class K>
    void add_key(K&& key) {
        using plain = std::remove_cvref_t<K>;
        if constexpr (is_tied<plain>) {
            static_assert(!IsCompared,
                          "Balm: a comparison takes the elements of a single vector; make the keys the "
                          "members of a structure");
            std::apply([&](auto&... each) { (add_key<IsCompared>(each), ...); }, key.values());
        } else {
            static_assert(
                array_value<K>,
                "Balm: keys must be vectors, expressions, or several vectors as balm::tie(first, second)");
            using element = std::remove_const_t<typename plain::value_type>;
            static_assert(sort_key_element<element> || IsCompared,
                          "Balm: keys must be numbers; sort structures by an expression of their members, "
                          "sort_by_key(key, x), or with a comparison, sort(x, is_ahead)");
            if constexpr (is_written_vector<K&&>)
                keys_.push_back({key.state(), {}});
            else
                keys_.push_back({vector<element>(static_cast<K&&>(key)).state(), {}});
        }
    }
    template <class V>
    void add_value(V&& value) {
        using plain = std::remove_cvref_t<V>;
        if constexpr (is_tied<plain>) {
            std::apply([&](auto&... each) { (add_value(each), ...); }, value.values());
        } else if constexpr (!is_sort_manner<plain>) {
            static_assert(!is_device_function<plain>,
                          "Balm: a comparison must take two keys and return a Bool: whether the first one "
                          "precedes the second");
            static_assert(is_written_vector<V&&> || is_device_function<plain>,
                          "Balm: the values of a sort must be assignable vectors");
            if constexpr (is_written_vector<V&&>) values_.push_back(value.state());
        }
    }
    void sort(sort_order order) {
        for (array::sort_key& each : keys_) each.order = order;
        array::sort({keys_.begin(), keys_.size()}, {values_.begin(), values_.size()});
    }
    void sort(const array::comparison& is_ahead) {
        array::sort(keys_[0].elements, is_ahead, {values_.begin(), values_.size()});
    }

private:
    inline_vector<array::sort_key, 2> keys_;
    inline_vector<std::shared_ptr<array::vector_state>, 4> values_;
};

/// Sorts by the order or comparison in the last argument, if there is one.
template <class K, class... V>
void sort_with(K&& keys, V&&... values) {
    constexpr std::size_t count = sizeof...(V);
    constexpr std::array<bool, count + 1> is_manner{is_sort_manner<std::remove_cvref_t<V>>..., false};
    constexpr std::array<bool, count + 1> is_function{is_comparison<std::remove_cvref_t<V>>..., false};
    static_assert(
        [&] {
            for (std::size_t k = 0; k + 1 < count; ++k)
                if (is_manner[k]) return false;
            return true;
        }(),
        "Balm: the order or comparison must be the last argument of a sort");
    constexpr bool is_compared = count > 0 && is_function[count == 0 ? 0 : count - 1];
    sort_arguments arguments;
    arguments.add_key<is_compared>(static_cast<K&&>(keys));
    (arguments.add_value(static_cast<V&&>(values)), ...);
    if constexpr (is_compared) {
        const auto& is_ahead = std::get<count - 1>(std::tie(values...));
        static_assert(compares<K, std::remove_cvref_t<decltype(is_ahead)>>,
                      "Balm: a comparison must take two elements of the keys, with the keys' type");
        arguments.sort(is_ahead.function());
    } else {
        sort_order order = sort_order::ascending;
        const auto look = [&]<class A>(const A& each) {
            if constexpr (std::same_as<A, sort_order>) order = each;
        };
        (look(values), ...);
        arguments.sort(order);
    }
}

}  // namespace detail

/// Sorts a vector of numbers in place, on its device or devices. -0 precedes +0 (follows it, if descending).
/// NaNs are last in both directions; all of them are equal, whatever their bits, so they keep their order. A
/// sort needs temporary memory of the size of the
/// vector, on more than two devices up to twice that. Radix sort: each pass reads and writes the vector once,
/// for 8 bits of an element (4 bits on GPUs other than NVIDIA's); bits that all elements share need no pass.
///
///     balm::sort(x);
///     balm::sort(x, balm::descending);
///
/// Tied vectors of the same size are sorted together, lexicographically: by the first one, ties by
/// the second …
///
///     balm::sort(balm::tie(year, month));
///
/// A comparison is a device function that returns whether its first argument precedes its second. It sorts
/// elements of any type but half, including structures. It must be a strict order: no element precedes
/// itself. Elements of which neither precedes the other keep their order. Merge sort: each doubling of the
/// sorted length reads and writes the vector once.
///
///     auto heavier = balm::function(
///         "heavier", [](Var<particle> a, Var<particle> b) { return a.mass > b.mass; });
///     balm::sort(particles, heavier);
template <class K, class... Manner>
requires(detail::is_written_vector<K&&> ||
         detail::is_tied<std::remove_cvref_t<K>>) void sort(K&& keys, const Manner&... order_or_comparison) {
    static_assert(sizeof...(Manner) <= 1 && (detail::is_sort_manner<Manner> && ...),
                  "Balm: a sort takes an order, or a comparison that returns a Bool; to move values along "
                  "with keys, write sort_by_key(keys, values)");
    detail::sort_with(static_cast<K&&>(keys), order_or_comparison...);
}
template <detail::host_elements K, class... Manner>
BALM_REFUSED(BALM_HOST_ELEMENTS)
void sort(K& keys, const Manner&... order_or_comparison);
template <array_value K, class... Manner>
requires(!detail::is_written_vector<K&&>) BALM_REFUSED(
    "Balm: sort modifies a vector in place; for an expression, a view or a const vector write y = "
    "balm::sorted(x)")
void sort(K&& keys, const Manner&... order_or_comparison);

/// Sorts keys, and moves the elements of any number of vectors with them. The sort is stable: elements with
/// equal keys keep their order. Keys are a vector of numbers, several tied vectors, or an expression; an
/// expression is computed first and not changed, so structures can be sorted by their members. Values are
/// vectors of any element type. The last argument may be the order. Throws usage_error if sizes differ,
/// vectors are on different devices, or a vector occurs twice.
///
///     balm::sort_by_key(keys, a, b);
///     balm::sort_by_key(balm::tie(year, month), sales, balm::descending);
///     balm::sort_by_key(mass(particles), particles);  // a function of structures
///
/// A single value of up to 8 bytes moves with its key. For larger or several values, and with several keys,
/// only positions move with the keys, and each vector is then permuted once.
template <class K, class... V>
requires array_value<K> || detail::is_tied<std::remove_cvref_t<K>>
void sort_by_key(K&& keys, V&&... values_and_order) {
    detail::sort_with(static_cast<K&&>(keys), static_cast<V&&>(values_and_order)...);
}

/// The sorted elements of a vector or expression, as an expression of one dimension. It is a materialised
/// operand: computed before the expression that it is part of, once however often the same object occurs.
/// Everything else is as for sort.
///
///     y = balm::sorted(x, balm::descending);
template <array_value A>
auto sorted(A&& elements, sort_order order = ascending) {
    using T = detail::element_of<A>;
    static_assert(scalar_type<T>, "Balm: sorted takes numbers; sort structures with sort_by_key(key, x)");
    return expr<T>(array::sorted(expr<T>(static_cast<A&&>(elements)).tape(), detail::array_type<T>(), order));
}

/// The elements of a view, sorted along one dimension, as an expression with the view's extents. Along
/// another dimension than the last, elements are transposed first, and the result afterwards. Throws
/// usage_error if the dimension does not exist, or if there are several.
///
///     auto M = balm::view(x, {rows, columns});
///     x = balm::sorted(M, balm::along(1));  // each row
///     x = balm::sorted(M, balm::along(0));  // each column
template <array_value A>
auto sorted(A&& elements, const array::dimension_list& over, sort_order order = ascending) {
    using T = detail::element_of<A>;
    static_assert(scalar_type<T>, "Balm: sorted takes numbers; sort structures with sort_by_key(key, x)");
    return expr<T>(array::sorted_along(expr<T>(static_cast<A&&>(elements)).tape(), detail::array_type<T>(),
                                       order, over));
}

/// The positions of the elements of a vector or expression in sorted order, as an expression: `x[argsort(x)]`
/// is sorted. Equal elements keep their order. Throws usage_error if the integer type I cannot represent the
/// number of elements.
///
///     balm::vector<std::uint32_t> order = balm::argsort(distances);
///     nearest = particles[balm::argsort(distances)];
///     auto order = balm::argsort<std::int64_t>(x, balm::descending);
template <std::integral I = std::uint32_t, array_value A>
auto argsort(A&& keys, sort_order order = ascending) {
    using T = detail::element_of<A>;
    static_assert(scalar_type<T>, "Balm: keys must be numbers");
    return expr<canonical<I>>(array::sorted_positions(expr<T>(static_cast<A&&>(keys)).tape(),
                                                      detail::array_type<T>(), order, scalar_of<I>));
}

/// The positions within each row, or along another dimension, of the elements in sorted order, as an
/// expression with the view's extents: element (…, k, …) is the position of the element that is the k-th one
/// in sorted order. Equal elements keep their order. Throws usage_error if the dimension does not exist, if
/// there are several, or if I cannot represent the positions.
///
///     auto M = balm::view(scores, {players, games});
///     ranking = balm::argsort(M, balm::along(1), balm::descending);
template <std::integral I = std::uint32_t, array_value A>
auto argsort(A&& keys, const array::dimension_list& over, sort_order order = ascending) {
    using T = detail::element_of<A>;
    static_assert(scalar_type<T>, "Balm: keys must be numbers");
    return expr<canonical<I>>(array::sorted_positions_along(
        expr<T>(static_cast<A&&>(keys)).tape(), detail::array_type<T>(), order, scalar_of<I>, over));
}

}  // namespace balm
