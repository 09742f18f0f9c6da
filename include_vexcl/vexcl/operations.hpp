#pragma once
// Operators and built-in functions of expressions. Results are const, so that std::tie takes them.

#include "vexcl/detail/builtins.hpp"
#include "vexcl/detail/expression.hpp"

namespace vex {

#define VEX_BINARY_OPERATOR(symbol)                                                                    \
    template <class L, class R>                                                                        \
    requires detail::operands<L, R>                                                                    \
    const auto operator symbol(const L& l, const R& r) {                                               \
        return detail::combine([](auto a, auto b) { return std::move(a) symbol std::move(b); }, l, r); \
    }
#define VEX_BINARY_OPERATOR_ROW(symbol, row) VEX_BINARY_OPERATOR(symbol)
BALM_BINARY_OPERATORS(VEX_BINARY_OPERATOR_ROW)
VEX_BINARY_OPERATOR(&&)
VEX_BINARY_OPERATOR(||)
#undef VEX_BINARY_OPERATOR_ROW
#undef VEX_BINARY_OPERATOR

#define VEX_UNARY_OPERATOR(symbol)                                             \
    template <detail::vexpr A>                                                 \
    const auto operator symbol(const A& a) {                                   \
        return detail::combine([](auto e) { return symbol std::move(e); }, a); \
    }
VEX_UNARY_OPERATOR(-)
VEX_UNARY_OPERATOR(+)
VEX_UNARY_OPERATOR(~)
VEX_UNARY_OPERATOR(!)
#undef VEX_UNARY_OPERATOR

#define VEX_BUILTIN_1(name)                                                         \
    template <detail::vexpr A>                                                      \
    const auto name(const A& a) {                                                   \
        return detail::combine([](auto x) { return balm::name(std::move(x)); }, a); \
    }
#define VEX_BUILTIN_2(name)                                                                                  \
    template <class A, class B>                                                                              \
    requires detail::operands<A, B>                                                                          \
    const auto name(const A& a, const B& b) {                                                                \
        return detail::combine([](auto x, auto y) { return balm::name(std::move(x), std::move(y)); }, a, b); \
    }
#define VEX_BUILTIN_3(name)                                                                                 \
    template <class A, class B, class C>                                                                    \
    requires detail::operands<A, B, C>                                                                      \
    const auto name(const A& a, const B& b, const C& c) {                                                   \
        return detail::combine(                                                                             \
            [](auto x, auto y, auto z) { return balm::name(std::move(x), std::move(y), std::move(z)); }, a, \
            b, c);                                                                                          \
    }
VEX_BUILTINS(VEX_BUILTIN_1, VEX_BUILTIN_2, VEX_BUILTIN_3)
#undef VEX_BUILTIN_1
#undef VEX_BUILTIN_2
#undef VEX_BUILTIN_3

/// The elements of `b` where `condition` is true, of `a` elsewhere: OpenCL's order.
template <class A, class B, class C>
requires detail::operands<A, B, C>
const auto select(const A& a, const B& b, const C& condition) {
    return detail::combine(
        [](auto x, auto y, auto c) { return balm::select(std::move(c), std::move(y), std::move(x)); }, a, b,
        condition);
}
/// Whether some lane, or every lane, of a short vector is true.
template <detail::vexpr A>
const auto any(const A& a) {
    return detail::combine([](auto x) { return balm::any_lane(std::move(x)); }, a);
}
template <detail::vexpr A>
const auto all(const A& a) {
    return detail::combine([](auto x) { return balm::all_lanes(std::move(x)); }, a);
}

/// `condition ? if_true : if_false`, element by element.
///
///     y = vex::if_else(x > 0, x, -x);
template <class C, class A, class B>
requires detail::operands<C, A, B>
const auto if_else(const C& condition, const A& if_true, const B& if_false) {
    return detail::combine(
        [](auto c, auto x, auto y) { return balm::select(std::move(c), std::move(x), std::move(y)); },
        condition, if_true, if_false);
}

}  // namespace vex
