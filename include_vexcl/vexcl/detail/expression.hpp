#pragma once
// The basis of all headers in this folder. An expression is a Balm expression and the queues of its vectors.
//
// * vex::expression<D> is the result of an operator; its elements have the Balm type D.
// * Every operand that is not a host value derives from expression_base and has a.balm_expr(), its
//   balm::expr<D>, and a.queues(), its detail::queue_list, which is empty if it contains no vectors.
//   The concept detail::vexpr<A> means such a type; detail::operand<A> includes host values.
// * detail::lower(a) is the balm::expr<D> of any operand; host numbers keep their types, as in C.
// * detail::converted<D>(e) converts the elements to D; detail::assigned<D>(a) does so for any operand.
// * detail::wrap(e, q) makes a vex::expression of a Balm expression; detail::queues_of(a, …) returns the
//   first queues among the arguments.
// * detail::placed(e, own, q) places an expression without vectors on queues.
// * detail::match(e, f, …) flattens expressions of equal element count but different extents.
//
// An assignable operand also has what an assignment of several targets in one kernel requires:
//
// * a.balm_targets(): a tuple of arguments for balm::tie (vectors, by reference, and views);
// * a.balm_values(b): a tuple of as many expressions, whose values the assignment of b stores in the targets.

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

/// The base class of vectors, views and expressions.
struct expression_base {};
/// The base class of multivectors and expressions of them.
struct multi_base {};
/// The base class of symbolic numbers (vex::generator).
struct symbolic_base {};

template <class T>
class vector;

/// An expression whose elements have the Balm type D. It is lazy: computed when it is assigned or reduced.
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
/// std::integral_constant<T, v>, which becomes a literal in the kernel.
template <class A>
concept literal = is_integral_constant<std::remove_cvref_t<A>>;
/// An operand of an expression.
template <class A>
concept operand = vexpr<A> || host_value<A> || literal<A>;
template <class... A>
concept operands = (operand<A> && ...) && (vexpr<A> || ...);

/// An operand as a Balm expression. A host number becomes a kernel argument of its own type, so a double
/// combined with floats yields doubles, as in C.
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

/// The queues of an operand; none for a host value.
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

/// Returns a const object, so that std::tie accepts the results of operators.
template <class D>
const expression<D> wrap(balm::expr<D> of, queue_list queues) {
    return {std::move(of), std::move(queues)};
}

/// An expression without vectors, placed on these queues; others as they are.
template <class D>
balm::expr<D> placed(balm::expr<D> e, const queue_list& own, const queue_list& on) {
    return !own && on.context() != nullptr ? balm::on(*on.context(), std::move(e)) : e;
}

/// Converts the elements to another type, also if this narrows: scalars to scalars, a scalar to every lane of
/// a short vector, lanes to lanes.
template <class To, class D>
balm::expr<To> converted(balm::expr<D> e) {
    if constexpr (std::same_as<To, D>)
        return e;
    else if constexpr (balm::vector_type<To> && balm::scalar_type<D>)
        return balm::compose<To>(balm::cast<typename To::value_type>(std::move(e)));
    else
        return balm::cast<To>(std::move(e));
}
/// The values that an assignment of an operand to elements of To stores.
template <class To, operand A>
balm::expr<To> assigned(const A& a) {
    return converted<To>(lower(a));
}

/// Determines whether the extents of some expressions differ.
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
    /// Memory has no elements that meet others.
    template <class D>
    void look(const balm::vector<D>&) {}
    bool differ() const { return differ_; }

private:
    balm::shape first_;
    bool seen_ = false, differ_ = false;
};
/// Reshapes an expression to one dimension.
template <class D>
void flatten(balm::expr<D>& e) {
    if (!e.has_extents()) return;
    const balm::shape extents = e.extents();
    if (extents.dimensions() > 1)
        e = balm::expr<D>(balm::view<const D>(std::move(e), balm::shape(extents.count())));
}
/// Memory stays as it is.
template <class T>
void flatten(balm::vector<T>&) {}
/// VexCL requires equal element counts, Balm equal extents: flattens the expressions if their extents differ.
template <class... E>
void match(E&... e) {
    extents_met all;
    (all.look(e), ...);
    if (all.differ()) (flatten(e), ...);
}

// Defined in multi_expression.hpp: f applied to each component, as a multi_expression; the number of
// components; component K.
template <class F, class... A>
auto each_component(F&& f, const A&... a);
template <class A>
inline constexpr std::size_t components_of = 0;
template <std::size_t K, class A>
decltype(auto) component(const A& a);

/// Applies an operation on Balm expressions to operands.
template <class F, class... A>
decltype(auto) combine(F&& operation, const A&... a) {
    return [&](auto... e) -> decltype(auto) {
        match(e...);
        return wrap(operation(std::move(e)...), queues_of(a...));
    }(lower(a)...);
}

}  // namespace detail
}  // namespace vex
