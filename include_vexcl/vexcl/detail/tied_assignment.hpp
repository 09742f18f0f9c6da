#pragma once
// Several assignments in one kernel, all computed from the elements before the assignment: vex::tie, and
// assignments to multivectors.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <balm/tie.hpp>

#include "vexcl/detail/assignments.hpp"
#include "vexcl/detail/multi_expression.hpp"
#include "vexcl/operations.hpp"

namespace vex {
namespace detail {

template <class T>
balm::shape shape_of(const balm::vector<T>& v) {
    return balm::shape(v.size());
}
template <class T>
balm::shape shape_of(const balm::view<T>& v) {
    return v.extents();
}
/// A target in one dimension. (An assignment to a view would assign its elements.)
template <class T>
balm::vector<T>& flat(balm::vector<T>& v) {
    return v;
}
template <class T>
balm::view<T> flat(const balm::view<T>& v) {
    return v.reshape(balm::shape(v.size()));
}

/// Assigns value(k) to the k-th target; k is passed as a std::integral_constant.
template <class... Target, class Value>
void assign_together(const std::tuple<const Target&...>& targets, const Value& value) {
    const on_queues scope(std::apply([](const Target&... each) { return queues_of(each...); }, targets));
    [&]<std::size_t... K>(std::index_sequence<K...>) {
        auto values = std::tuple_cat(
            std::get<K>(targets).balm_values(value(std::integral_constant<std::size_t, K>()))...);
        auto into = std::tuple_cat(std::get<K>(targets).balm_targets()...);
        const auto assign = [&](auto&&... each) {
            balm::tie(std::forward<decltype(each)>(each)...) = values;
        };
        extents_met met;
        std::apply([&](const auto&... each) { (met.look(each), ...); }, values);
        std::apply([&](const auto&... each) { (met.look(shape_of(each)), ...); }, into);
        if (!met.differ()) return std::apply(assign, std::move(into));
        std::apply([](auto&... each) { (flatten(each), ...); }, values);
        std::apply([&](auto&... each) { assign(flat(each)...); }, into);
    }
    (std::index_sequence_for<Target...>());
}

}  // namespace detail

/// Vectors and views that are assigned together; see tie.
template <class... Target>
class tied_targets {
public:
    explicit tied_targets(const Target&... targets) : targets_(targets...) {}

    /// Assigns a std::tuple, std::array or multivector with one component per target, or a single operand to
    /// all targets.
    template <detail::multi_operand A>
    const tied_targets& operator=(const A& values) const {  // NOLINT(misc-unconventional-assign-operator)
        static_assert(detail::agree<A>(sizeof...(Target)),
                      "the assignment has different numbers of targets and values");
        detail::assign_together(targets_, [&](auto k) -> decltype(auto) {
            return detail::component<decltype(k)::value>(values);
        });
        return *this;
    }
#define VEX_COMPOUND(symbol, operation)                                              \
    template <detail::multi_operand A>                                               \
    const tied_targets& operator symbol(const A& values) const {                     \
        static_assert(detail::agree<A>(sizeof...(Target)),                           \
                      "the assignment has different numbers of targets and values"); \
        detail::assign_together(targets_, [&](auto k) {                              \
            return std::get<decltype(k)::value>(targets_)                            \
                operation detail::component<decltype(k)::value>(values);             \
        });                                                                          \
        return *this;                                                                \
    }
    VEX_COMPOUND_ASSIGNMENTS(VEX_COMPOUND)
#undef VEX_COMPOUND

private:
    std::tuple<const Target&...> targets_;
};

/// Several vectors or views, assigned together by one kernel.
///
///     vex::tie(x, y) = std::tie(x + y, x - y);
template <class... Target>
tied_targets<Target...> tie(const Target&... targets) {
    return tied_targets<Target...>(targets...);
}

}  // namespace vex
