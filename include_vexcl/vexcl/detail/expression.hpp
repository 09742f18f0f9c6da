#pragma once
// What every header of this folder builds on. An expression is a Balm expression and the queues of its
// vectors.
//
// * vex::expression<D> is the result of an operator: elements of the Balm type D.
// * Everything in expressions is derived from expression_base and has a.balm_expr(), its balm::expr<D>, and
//   a.queues(), its detail::queue_list, which is empty if nothing in it has queues. detail::vexpr<A> names
//   such a type, detail::operand<A> one of these or a host value.
// * detail::lower(a) is the balm::expr<D> of any operand; host numbers keep their types, as in C.
// * detail::converted<D>(e) is e as elements of D, as C converts; detail::assigned<D>(a) the same of an
// operand.
// * detail::wrap(e, q) is the vex::expression of a Balm expression; detail::queues_of(a, …) are the first
//   queues among the arguments.
// * detail::match(e, f, …) lets expressions of as many elements in other extents meet, as rows.
//
// What can be assigned to has, beside operators, what several assignments in one kernel are made of:
//
// * a.balm_targets(): a tuple of what balm::tie takes (vectors, by reference, and views);
// * a.balm_values(b): a tuple of as many expressions, what the assignment of b stores in them.

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <balm/expr.hpp>
#include <balm/vector.hpp>
#include <balm/view.hpp>

#include "vexcl/detail/queue_list.hpp"
#include "vexcl/types.hpp"

namespace vex {

/// What stands in expressions is derived from it.
struct expression_base {};
/// So are multivectors and expressions of them from this, and numbers of vex::generator from the last.
struct multi_base {};
struct symbolic_base {};

template <class T>
class vector;

/// An expression whose elements have the Balm type D. Nothing is computed before it is assigned or reduced.
template <class D>
class expression : public expression_base {
public:
    typedef detail::host_element<D> value_type;

    expression(balm::expr<D> of, detail::queue_list queues)
        : of_(std::move(of)), queues_(std::move(queues)) {}

    const balm::expr<D>& balm_expr() const& { return of_; }
    balm::expr<D>&& balm_expr() && { return std::move(of_); }
    const detail::queue_list& queues() const { return queues_; }

private:
    balm::expr<D> of_;
    detail::queue_list queues_;
};

namespace detail {

template <class T>
inline constexpr bool is_integral_constant = false;
template <class T, T v>
inline constexpr bool is_integral_constant<std::integral_constant<T, v>> = true;

/// A vector, a view, an expression, a constant of VEX_CONSTANT, …
template <class A>
concept vexpr = std::derived_from<std::remove_cvref_t<A>, expression_base>;
template <class A>
concept multi = std::derived_from<std::remove_cvref_t<A>, multi_base>;
template <class A>
concept symbolic = std::derived_from<std::remove_cvref_t<A>, symbolic_base>;
/// std::integral_constant<T, v>, which becomes a part of the kernel.
template <class A>
concept literal = is_integral_constant<std::remove_cvref_t<A>>;
/// What may stand in an expression.
template <class A>
concept operand = vexpr<A> || host_value<A> || literal<A>;
template <class... A>
concept operands = (operand<A> && ...) && (vexpr<A> || ...);

/// An operand as a Balm expression. A host number is an argument of the kernel that keeps its type: beside
/// floats a double makes doubles, as in C.
template <operand A>
auto lower(const A& a) {
    if constexpr (vexpr<A>)
        return a.balm_expr();
    else if constexpr (literal<A>)
        return balm::constant(A::value);
    else
        return balm::argument(to_balm(a));
}
template <class D>
balm::expr<D> lower(const expression<D>& a) {
    return a.balm_expr();
}
/// The Balm type of an operand's elements.
template <operand A>
using element_of = typename decltype(lower(std::declval<const A&>()))::value_type;

/// The queues of an operand: none of a host value.
template <class A>
const queue_list& queues_in(const A& a) {
    static const queue_list none;
    if constexpr (requires { a.queues(); })
        return a.queues();
    else
        return none;
}
inline const queue_list& first_of(const queue_list& only) { return only; }
template <class... Rest>
const queue_list& first_of(const queue_list& first, const Rest&... rest) {
    return first ? first : first_of(rest...);
}
template <class... A>
queue_list queues_of(const A&... a) {
    return first_of(queues_in(a)...);
}

/// Const, so that std::tie takes the results of operators.
template <class D>
const expression<D> wrap(balm::expr<D> of, queue_list queues) {
    return {std::move(of), std::move(queues)};
}

/// The elements as another type, as C converts them, narrowing too: numbers to numbers, a number to every
/// lane of a short vector, lanes to lanes.
template <class To, class D>
balm::expr<To> converted(balm::expr<D> e) {
    if constexpr (std::same_as<To, D>)
        return e;
    else if constexpr (balm::vector_type<To> && balm::scalar_type<D>)
        return balm::compose<To>(balm::cast<typename To::value_type>(std::move(e)));
    else
        return balm::cast<To>(std::move(e));
}
/// What an assignment of an operand to elements of To stores.
template <class To, operand A>
balm::expr<To> assigned(const A& a) {
    return converted<To>(lower(a));
}

/// Extents of several dimensions among those of some expressions, or that they are all alike.
class extents_met {
public:
    template <class D>
    void look(const balm::expr<D>& e) {
        if (e.has_extents()) look(e.extents());
    }
    void look(const balm::shape& extents) {
        if (!seen_)
            first_ = extents;
        else
            differ_ = differ_ || !(extents == first_);
        seen_ = true;
    }
    bool differ() const { return differ_; }

private:
    balm::shape first_;
    bool seen_ = false, differ_ = false;
};
/// The elements in a row.
template <class D>
void flatten(balm::expr<D>& e) {
    if (!e.has_extents()) return;
    const balm::shape extents = e.extents();
    if (extents.dimensions() > 1)
        e = balm::expr<D>(balm::view<const D>(std::move(e), balm::shape(extents.count())));
}
/// VexCL counts elements where Balm compares extents: expressions of other extents meet as rows.
template <class... D>
void match(balm::expr<D>&... e) {
    extents_met all;
    (all.look(e), ...);
    if (all.differ()) (flatten(e), ...);
}

// multivector.hpp defines these: f of each component, as an expression of a multivector; how many components
// there are; component K.
template <class F, class... A>
auto each_component(F&& f, const A&... a);
template <class A>
inline constexpr std::size_t components_of = 0;
template <std::size_t K, class A>
decltype(auto) component(const A& a);

/// An operation on Balm expressions, of operands.
template <class F, class... A>
decltype(auto) combine(F&& operation, const A&... a) {
    return [&](auto... e) -> decltype(auto) {
        match(e...);
        return wrap(operation(std::move(e)...), queues_of(a...));
    }(lower(a)...);
}

}  // namespace detail
}  // namespace vex
