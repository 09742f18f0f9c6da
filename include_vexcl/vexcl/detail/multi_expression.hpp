#pragma once
// Expressions of several components: what operators, functions and products of multivectors give. Each
// component is an ordinary expression.
//
//     detail::multi<A>                  a multivector or an expression of them: A::components,
//     a.component<K>() detail::multi_operands<…>         one of these, beside others, vectors, numbers, and
//     std::array or std::tuple
//                                       with a coefficient for each component
//     detail::each_component(f, a, …)   the multi_expression whose k-th component is f of the arguments' k-th

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "vexcl/detail/expression.hpp"

namespace vex {

/// Expressions E, one for each component.
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

// components_of: how many components an operand has; 0 of one that counts for every component.
template <multi A>
inline constexpr std::size_t components_of<A> = A::components;
template <class T, std::size_t N>
inline constexpr std::size_t components_of<std::array<T, N>> = N;
template <class... A>
inline constexpr std::size_t components_of<std::tuple<A...>> = sizeof...(A);

/// What may stand beside a multivector.
template <class A>
concept multi_operand = operand<A> ||(components_of<std::remove_cvref_t<A>> > 0);
template <class... A>
concept multi_operands = (multi_operand<A> && ...) && (multi<A> || ...);

/// What an operand is in component K.
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
