#pragma once
// Operators and built-in functions of expressions. They return const objects, so that std::tie accepts them.

#include <cstddef>
#include <tuple>
#include <vector>

#include "vexcl/detail/builtins.hpp"
#include "vexcl/detail/expression.hpp"

namespace vex {

// Not implemented by detail::combine, which takes three times as long to compile: programs contain many
// operators.
#define VEX_BINARY_OPERATOR(symbol)                                                     \
    template <class L, class R>                                                         \
    requires detail::operands<L, R>                                                     \
    decltype(auto) operator symbol(const L& l, const R& r) {                            \
        auto a = detail::lower(l);                                                      \
        auto b = detail::lower(r);                                                      \
        detail::match(a, b);                                                            \
        return detail::wrap(std::move(a) symbol std::move(b), detail::queues_of(l, r)); \
    }
#define VEX_BINARY_OPERATOR_ROW(symbol, row) VEX_BINARY_OPERATOR(symbol)
BALM_BINARY_OPERATORS(VEX_BINARY_OPERATOR_ROW)
VEX_BINARY_OPERATOR(&&)
VEX_BINARY_OPERATOR(||)
#undef VEX_BINARY_OPERATOR_ROW
#undef VEX_BINARY_OPERATOR

#define VEX_UNARY_OPERATOR(symbol)                                          \
    template <detail::vexpr A>                                              \
    decltype(auto) operator symbol(const A& a) {                            \
        return detail::wrap(symbol detail::lower(a), detail::queues_in(a)); \
    }
VEX_UNARY_OPERATOR(-)
VEX_UNARY_OPERATOR(+)
VEX_UNARY_OPERATOR(~)
VEX_UNARY_OPERATOR(!)
#undef VEX_UNARY_OPERATOR

#define VEX_BUILTIN_1(name)                                                      \
    template <detail::vexpr A>                                                   \
    decltype(auto) name(const A& a) {                                            \
        return detail::wrap(balm::name(detail::lower(a)), detail::queues_in(a)); \
    }
#define VEX_BUILTIN_2(name)                                                                   \
    template <class A, class B>                                                               \
    requires detail::operands<A, B>                                                           \
    decltype(auto) name(const A& a, const B& b) {                                             \
        auto x = detail::lower(a);                                                            \
        auto y = detail::lower(b);                                                            \
        detail::match(x, y);                                                                  \
        return detail::wrap(balm::name(std::move(x), std::move(y)), detail::queues_of(a, b)); \
    }
#define VEX_BUILTIN_3(name)                                                       \
    template <class A, class B, class C>                                          \
    requires detail::operands<A, B, C>                                            \
    decltype(auto) name(const A& a, const B& b, const C& c) {                     \
        auto x = detail::lower(a);                                                \
        auto y = detail::lower(b);                                                \
        auto z = detail::lower(c);                                                \
        detail::match(x, y, z);                                                   \
        return detail::wrap(balm::name(std::move(x), std::move(y), std::move(z)), \
                            detail::queues_of(a, b, c));                          \
    }
VEX_BUILTINS(VEX_BUILTIN_1, VEX_BUILTIN_2, VEX_BUILTIN_3)
#undef VEX_BUILTIN_1
#undef VEX_BUILTIN_2
#undef VEX_BUILTIN_3

namespace detail {

/// Geometry of expressions whose elements are short vectors, or scalars: vectors of one component.
struct geometry {
    template <class E>
    static auto length(E x) {
        if constexpr (balm::vector_type<typename E::value_type>)
            return balm::length(std::move(x));
        else
            return balm::fabs(std::move(x));
    }
    template <class E>
    static auto normalize(E x) {
        if constexpr (balm::vector_type<typename E::value_type>)
            return balm::normalize(std::move(x));
        else
            return balm::sign(std::move(x));
    }
    template <class E, class F>
    static auto dot(E x, F y) {
        if constexpr (balm::vector_type<typename E::value_type>)
            return balm::dot(std::move(x), std::move(y));
        else
            return std::move(x) * std::move(y);
    }
    template <class E, class F>
    static auto distance(E x, F y) {
        return length(std::move(x) - std::move(y));
    }
    template <class E>
    static auto fast_length(E x) {
        return length(std::move(x));
    }
    template <class E>
    static auto fast_normalize(E x) {
        return normalize(std::move(x));
    }
    template <class E, class F>
    static auto fast_distance(E x, F y) {
        return distance(std::move(x), std::move(y));
    }
};

}  // namespace detail
#define VEX_BUILTIN_1(name)                                                                     \
    template <detail::vexpr A>                                                                  \
    decltype(auto) name(const A& a) {                                                           \
        return detail::combine([](auto x) { return detail::geometry::name(std::move(x)); }, a); \
    }
#define VEX_BUILTIN_2(name)                                                                           \
    template <class A, class B>                                                                       \
    requires detail::operands<A, B>                                                                   \
    decltype(auto) name(const A& a, const B& b) {                                                     \
        return detail::combine(                                                                       \
            [](auto x, auto y) { return detail::geometry::name(std::move(x), std::move(y)); }, a, b); \
    }
VEX_GEOMETRIC_BUILTINS(VEX_BUILTIN_1, VEX_BUILTIN_2)
#undef VEX_BUILTIN_1
#undef VEX_BUILTIN_2

/// The elements of `b` where `condition` is true, of `a` elsewhere: OpenCL's order of arguments.
template <class A, class B, class C>
requires detail::operands<A, B, C>
decltype(auto) select(const A& a, const B& b, const C& condition) {
    return detail::combine(
        [](auto x, auto y, auto c) { return balm::select(std::move(c), std::move(y), std::move(x)); }, a, b,
        condition);
}
namespace detail {
/// The truth of lanes of booleans; of integers, as OpenCL has it, their sign bits.
template <class E>
auto truth_of_lanes(E e) {
    if constexpr (std::same_as<typename E::value_type::value_type, bool>)
        return e;
    else
        return std::move(e) < typename E::value_type::value_type(0);
}
}  // namespace detail
/// Whether any lane, or every lane, of each short vector is true.
template <detail::vexpr A>
decltype(auto) any(const A& a) {
    return detail::combine([](auto x) { return balm::any_lane(detail::truth_of_lanes(std::move(x))); }, a);
}
template <detail::vexpr A>
decltype(auto) all(const A& a) {
    return detail::combine([](auto x) { return balm::all_lanes(detail::truth_of_lanes(std::move(x))); }, a);
}

/// `condition ? if_true : if_false`, element by element.
///
///     y = vex::if_else(x > 0, x, -x);
template <class C, class A, class B>
requires detail::operands<C, A, B>
decltype(auto) if_else(const C& condition, const A& if_true, const B& if_false) {
    return detail::combine(
        [](auto c, auto x, auto y) { return balm::select(std::move(c), std::move(x), std::move(y)); },
        condition, if_true, if_false);
}

/// The queues of an expression and its number of elements, 0 if undetermined. For a tuple, the queues of the
/// first expression that has queues, and the size of the first that has a size.
///
///     const auto [queues, size] = vex::expression_properties(2 * x);
template <detail::operand A>
std::tuple<std::vector<command_queue>, std::size_t> expression_properties(const A& a) {
    const auto e = detail::lower(a);
    return {detail::queues_in(a).queues(), e.has_extents() ? e.size() : 0};
}
template <class... A>
std::tuple<std::vector<command_queue>, std::size_t> expression_properties(const std::tuple<A...>& all) {
    std::tuple<std::vector<command_queue>, std::size_t> found;
    const auto look = [&](const auto& each) {
        const auto [queues, size] = expression_properties(each);
        if (std::get<0>(found).empty()) std::get<0>(found) = queues;
        if (std::get<1>(found) == 0) std::get<1>(found) = size;
    };
    std::apply([&](const A&... each) { (look(each), ...); }, all);
    return found;
}

}  // namespace vex
