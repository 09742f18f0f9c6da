#pragma once
// Array expressions: `2 * y - sin(z)` is a flat list of operations and leaves, appended to in place. Nothing
// is computed until it is assigned to a vector or reduced; then it becomes one kernel. This header is all of
// them: what stands in one, the operators, functions and sources; and here what is done with a whole one.

#include <type_traits>
#include <utility>

#include "balm/array_elements.hpp"
#include "balm/expression/appending.hpp"
#include "balm/expression/expression.hpp"
#include "balm/expression/operators.hpp"
#include "balm/expression/sources.hpp"
#include "balm/function_calls.hpp"

namespace balm {

class context;

namespace array {
/// One kernel that computes the tape for every index, and keeps nothing of it.
void evaluate(tape&&);
/// Has a tape without vectors computed on the devices of the context.
void place_on(const context&, tape&);
}  // namespace array

/// The expression, to be computed on the devices of a context where no vector in it says on which: of random
/// numbers, indices and images alone. Otherwise that is the device of a default context. Over several devices
/// each computes its share, as if the expression was a vector of the context. Throws usage_error for an
/// expression of vectors on other devices. An assignment computes where its target is.
///
///     auto inside = length(rnd(balm::element_index(0, n), seed)) < 1.0;
///     double pi = 4.0 * balm::sum(balm::on(all_gpus, inside)) / n;
template <array_value A>
expr<detail::element_of<A>> on(const context& where, A&& a) {
    array::tape_handle list = detail::begin<detail::array_scalar<A>()>(static_cast<A&&>(a));
    array::place_on(where, *list);
    return expr<detail::element_of<A>>(std::move(list));
}

/// Computes an expression for its effects alone: those of functions that write memory, print or check.
/// Nothing is stored. Throws usage_error where no vector in it says how many elements it has, or on which
/// device they are.
template <class T>
void eval(expr<T> e) {
    array::evaluate(std::move(e).tape());
}

/// An expression computed once, and used as often as the function given uses it. (What is the same by the
/// look of it is computed once anyway; this is for what has effects, for scalars, which are arguments each
/// time that they are written, and for lists that would grow long.)
///
///     y = balm::let(sin(s * x), [](auto z) { return z * z + z; });
template <array_value A, class F>
auto let(A&& a, F&& f) {
    array::tape list = detail::begin<detail::array_scalar<A>()>(static_cast<A&&>(a));
    const trace::type type = detail::array_type<detail::element_of<A>>();
    array::tape name;
    name.size = list.size;
    name.push_kept(type, list.push_keep(type));
    auto body = static_cast<F&&>(f)(expr<detail::element_of<A>>(std::move(name)));
    static_assert(array_value<decltype(body)>, "Balm: the function that let is given returns an expression");
    using result = detail::element_of<decltype(body)>;
    detail::append<detail::array_scalar<decltype(body)>()>(list, body);
    list.push_within(detail::array_type<result>());
    return expr<result>(std::move(list));
}

}  // namespace balm
