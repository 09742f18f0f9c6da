#pragma once
// Expressions of several components: the results of operators, functions and products of multivectors. Each
// component is an ordinary expression.
//
// * detail::multi<A>: a multivector or an expression of multivectors. It has A::components and
//   a.component<K>().
// * detail::multi_operands<A, …>: at least one of these; the others may also be vectors, expressions,
//   numbers, or a std::array or std::tuple with an operand for each component.
// * detail::each_component(f, a, …): the multi_expression whose component K is f(component<K>(a), …).

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "vexcl/detail/expression.hpp"

namespace vex {

/// One expression for each component.
template <class... E>
class multi_expression : public multi_base {
public:
    static constexpr std::size_t components = sizeof...(E);

    explicit multi_expression(E... each) : each_(std::move(each)...) {}

    template <std::size_t K>
    const auto& component() const {
        return std::get<K>(each_);
    }

private:
    std::tuple<E...> each_;
};

namespace detail {

// components_of: the number of components of an operand; 0 if it is an operand of every component.
template <multi A>
inline constexpr std::size_t components_of<A> = A::components;
template <class T, std::size_t N>
inline constexpr std::size_t components_of<std::array<T, N>> = N;
template <class... A>
inline constexpr std::size_t components_of<std::tuple<A...>> = sizeof...(A);

/// An operand that can be combined with a multivector.
template <class A>
concept multi_operand = operand<A> ||(components_of<std::remove_cvref_t<A>> > 0);
template <class... A>
concept multi_operands = (multi_operand<A> && ...) && (multi<A> || ...);

/// Component K of an operand; the operand itself if it has no components.
template <std::size_t K, class A>
decltype(auto) component(const A& a) {
    if constexpr (multi<A>)
        return a.template component<K>();
    else if constexpr (components_of<A> > 0)
        return std::get<K>(a);
    else
        return (a);
}

template <class... A>
constexpr bool agree(std::size_t count) {
    return ((components_of<A> == 0 || components_of<A> == count) && ...);
}

template <class F, class... A>
auto each_component(F&& f, const A&... a) {
    constexpr std::size_t count = std::max({components_of<A>...});
    static_assert(agree<A...>(count), "the operands have different numbers of components");
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
        const auto of = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
            return f(component<J>(a)...);
        };
        return multi_expression(of(std::integral_constant<std::size_t, K>())...);
    }
    (std::make_index_sequence<count>());
}

}  // namespace detail
}  // namespace vex
