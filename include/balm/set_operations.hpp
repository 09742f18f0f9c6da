#pragma once
// Set operations on sorted arrays.
//
//     auto both = balm::set_intersection(a, b);
//     auto any = balm::set_union(a, b);
//     auto rest = balm::set_difference(a, b);
//     auto one = balm::set_symmetric_difference(a, b);

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>

#include "balm/merge.hpp"

namespace balm {

namespace array {

enum class set_operation : std::uint8_t {
    unite,      ///< elements of either array
    intersect,  ///< elements of both
    subtract,   ///< elements of the first that are not in the second
    differ      ///< elements of exactly one array
};
/// Makes vectors of the results. Blocks until their number is known, and returns it.
std::size_t combine_sets(set_operation, const sorted_pair&, std::shared_ptr<vector_state>* made);
/// The same into existing vectors of the same size; their number is stored in a vector of one element.
void combine_sets_into(set_operation, vector_list into, vector_state* count, const sorted_pair&);

}  // namespace array

namespace detail {

template <class A, class B, class... Manner>
auto combined_sets(array::set_operation what, const char* name, const A& a, const B& b,
                   const Manner&... manner) {
    return made_by<kept_vectors_of<A>>([&](std::shared_ptr<array::vector_state>* made) {
        with_sorted_pair(
            name, a, b, [&](const array::sorted_pair& both) { array::combine_sets(what, both, made); },
            manner...);
    });
}
template <class... T, class A, class B, class... Manner>
void combine_sets_into(array::set_operation what, const char* name, const std::tuple<vector<T>&...>& into,
                       const vector<std::int64_t>& count, const A& a, const B& b, const Manner&... manner) {
    check_targets<std::tuple<vector<T>...>, A>();
    with_sorted_pair(
        name, a, b,
        [&](const array::sorted_pair& both) {
            array::combine_sets_into(what, targets_in(into), count.state().get(), both);
        },
        manner...);
}

}  // namespace detail

#define BALM_SET_OPERATION(name, what)                                                                    \
    template <array_list A, array_list B, class... Manner>                                                \
    auto name(const A& a, const B& b, const Manner&... order_or_comparison) {                             \
        return detail::combined_sets(array::set_operation::what, #name, a, b, order_or_comparison...);    \
    }                                                                                                     \
    template <class T, array_list A, array_list B, class... Manner>                                       \
    void name##_into(vector<T>& into, vector<std::int64_t>& count, const A& a, const B& b,                \
                     const Manner&... order_or_comparison) {                                              \
        detail::combine_sets_into(array::set_operation::what, #name "_into", std::tie(into), count, a, b, \
                                  order_or_comparison...);                                                \
    }                                                                                                     \
    template <class... T, array_list A, array_list B, class... Manner>                                    \
    void name##_into(std::tuple<vector<T>&...> into, vector<std::int64_t>& count, const A& a, const B& b, \
                     const Manner&... order_or_comparison) {                                              \
        detail::combine_sets_into(array::set_operation::what, #name "_into", into, count, a, b,           \
                                  order_or_comparison...);                                                \
    }

/// set_union, set_intersection, set_difference, set_symmetric_difference: vectors of the elements of two
/// arrays that are sorted in the same order, with the semantics of std::set_union …. Of m equal elements of a
/// and n of b
///
/// * the union has max(m, n): all of a, then the surplus ones of b;
/// * the intersection has min(m, n): the first ones of a;
/// * the difference has max(m - n, 0): the last ones of a;
/// * the symmetric difference has |m - n|: the last ones of the array that has more.
///
/// Arrays, the order and results are as for merge; for lists of arrays, elements are compared together. All
/// NaNs are equal, and -0 is not +0. Blocks until the number of results is known. Reads each
/// element twice, writes each result once.
///
/// `…_into` does not block: results are stored in an existing vector on the same device, or several of the
/// same size, and their number in a vector of one element. Target elements beyond the results are unchanged;
/// results that do not fit are dropped, but counted. Throws usage_error if the call also reads a target, or
/// if the sizes of targets differ.
///
///     auto both = balm::set_intersection(a, b);
///     auto rest = balm::set_difference(a, b, balm::descending);
///     balm::set_union_into(any, count, a, b);
BALM_SET_OPERATION(set_union, unite)
BALM_SET_OPERATION(set_intersection, intersect)
BALM_SET_OPERATION(set_difference, subtract)
BALM_SET_OPERATION(set_symmetric_difference, differ)
#undef BALM_SET_OPERATION

}  // namespace balm
