#pragma once
// Array expressions: `2 * y - sin(z)` is a tape, a flat list of operations and leaves that operators append
// to in place. Expressions are lazy: assignment or reduction computes one in one fused kernel. This header
// includes operands, operators, functions and sources, and declares the operations on whole expressions.

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
/// Computes the tape for every index in one kernel, and stores nothing.
void evaluate(tape&&);
/// Places a tape without vectors on the devices of the context.
void place_on(const context&, tape&);
}  // namespace array

/// Places an expression without vectors (random numbers, indices, images) on the devices of a context.
/// Without `on`, it is computed on the device of its images, else on that of a default context. Each of
/// several devices computes its share, as if the expression were a vector of the context. An assignment runs
/// on the devices of its target. Throws usage_error if the expression contains vectors on other devices.
///
///     auto inside = length(rnd(balm::element_index(0, n), seed)) < 1.0;
///     double pi = 4.0 * balm::sum(balm::on(all_gpus, inside)) / n;
template <array_value A>
expr<detail::element_of<A>> on(const context& where, A&& a) {
    array::tape_handle list = detail::begin<detail::array_scalar<A>()>(static_cast<A&&>(a));
    array::place_on(where, *list);
    return expr<detail::element_of<A>>(std::move(list));
}

/// Evaluates an expression only for its side effects: functions that write memory, print or check. Nothing is
/// stored. Throws usage_error if nothing in the expression determines its number of elements, or if it writes
/// memory and its vectors are over several devices.
template <class T>
void eval(expr<T> e) {
    array::evaluate(std::move(e).tape());
}

/// Computes an expression once, and passes it to a function that may use it any number of times. (Common
/// subexpressions are eliminated anyway. `let` is for expressions with side effects; for scalars, each
/// occurrence of which is a separate argument; and for tapes that would grow long.)
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
    static_assert(array_value<decltype(body)>, "Balm: the function passed to let must return an expression");
    using result = detail::element_of<decltype(body)>;
    detail::append<detail::array_scalar<decltype(body)>()>(list, body);
    list.push_within(detail::array_type<result>());
    return expr<result>(std::move(list));
}

}  // namespace balm
