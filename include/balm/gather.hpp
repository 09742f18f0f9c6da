#pragma once
// Conditional gather and scatter; differences of neighbours.
//
//     y = balm::gather_if(x, positions, positions >= 0, 0.0);
//     balm::scatter_if(y, positions, x, x > 0);
//     widths = balm::adjacent_difference(edges);

#include <cstdint>
#include <type_traits>
#include <utility>

#include "balm/dsl/control.hpp"
#include "balm/vector.hpp"

namespace balm {

namespace array {
/// Evaluates a call of a function that writes elements of `to`. Throws usage_error if the expression also
/// reads them.
void scatter(tape&&, const vector_state& to);
}  // namespace array

/// x[position] where the condition is true, else `otherwise`, without reading x. Positions are integers, and
/// are not checked. For unconditional gathers use x[positions].
///
///     y = balm::gather_if(x, parent, parent >= 0, 0.0);
///     y = balm::gather_if(x, positions, is_known, y);
template <scalar_type T, array_value P, array_value C, array_operand O>
expr<canonical<T>> gather_if(const vector<T>& x, P&& positions, C&& condition, O&& otherwise) {
    static_assert(kind_of(detail::array_scalar<P>()) == scalar_kind::integer,
                  "Balm: positions must be integers");
    static const auto& gathered = *new auto(
        function("gather_if(x, position, condition, otherwise)",
                 [](dsl::In<T> from, dsl::Long position, dsl::Bool is_read, dsl::Var<canonical<T>> other) {
                     dsl::Var<canonical<T>> value = other;
                     BALM_IF (is_read) {
                         value = from[position];
                     }
                     return value;
                 }));
    if (!x.state()) detail::vector_without_device();
    return gathered(x, static_cast<P&&>(positions), detail::as_condition(static_cast<C&&>(condition)),
                    static_cast<O&&>(otherwise));
}

/// to[position] = value where the condition is true. Positions are integers, and are not checked; if one
/// repeats, which value wins is unspecified. For unconditional scatters use to[positions] = values. Throws
/// usage_error for vectors over several devices, and if any operand reads `to`.
///
///     balm::scatter_if(y, positions, x, x > 0);
template <scalar_type T, array_value P, array_operand V, array_value C>
void scatter_if(vector<T>& to, P&& positions, V&& values, C&& condition) {
    static_assert(kind_of(detail::array_scalar<P>()) == scalar_kind::integer,
                  "Balm: positions must be integers");
    static const auto& scattered = *new auto(
        function("scatter_if(to, position, value, condition)",
                 [](dsl::Out<T> into, dsl::Long position, dsl::Var<canonical<T>> value, dsl::Bool is_set) {
                     BALM_IF (is_set) {
                         into[position] = value;
                     }
                 }));
    if (!to.state()) detail::vector_without_device();
    array::scatter(scattered(to, static_cast<P&&>(positions), static_cast<V&&>(values),
                             detail::as_condition(static_cast<C&&>(condition)))
                       .tape(),
                   *to.state());
}

/// The first element, then each element minus the one before it, as std::adjacent_difference. Small integers
/// are promoted to 32 bits.
///
///     widths = balm::adjacent_difference(edges);
template <array_value A>
auto adjacent_difference(A&& a) {
    static_assert(detail::are_scalars<A>(), "Balm: adjacent_difference takes numbers");
    const expr<detail::element_of<A>> own(detail::begin<detail::array_scalar<A>()>(static_cast<A&&>(a)));
    const auto here = element_index();
    auto difference = own - own[balm::max(here - 1, std::int64_t{0})];
    return select(here == 0, cast<typename decltype(difference)::value_type>(own), std::move(difference));
}

}  // namespace balm
