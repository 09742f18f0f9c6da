#pragma once
// Operations of the kernel language as steps of an expression: the step refers to a function that records the
// operation when the kernel is traced. Elements that are not scalars thus follow the rules of the kernel
// language; arrays add none.

#include <cstddef>
#include <type_traits>
#include <utility>

#include "balm/builtin.hpp"
#include "balm/dsl/complex.hpp"
#include "balm/dsl/lanes.hpp"
#include "balm/expression/host_operand.hpp"
#include "balm/tape.hpp"

namespace balm::detail {

/// The host type of a device variable.
template <class P>
struct held_by {
    using type = void;
};
template <class T>
struct held_by<dsl::Var<T>> {
    using type = T;
};

/// Records the operation on variables of these types.
template <class Operation, class... T>
struct recorder {
    using result = typename held_by<
        std::remove_cvref_t<decltype(Operation::on(std::declval<const dsl::Var<T>&>()...))>>::type;

    static trace::node record(const trace::node* operands) {
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            return dsl::detail::result_node(Operation::on(dsl::Var<T>(operands[K])...));
        }
        (std::index_sequence_for<T...>{});
    }
    static constexpr array::operation operation{&record, Operation::name};
};

template <class Operation, class A, std::size_t K, class... All>
using entering_of = typename decltype(entering_element<Operation, A, K, All...>())::type;

template <class Operation, std::size_t... K, class First, class... Rest>
auto recorded_with(std::index_sequence<0, K...>, First&& first, Rest&&... rest) {
    using first_element = entering_of<Operation, First, 0, First, Rest...>;
    using step = recorder<Operation, first_element, entering_of<Operation, Rest, K, First, Rest...>...>;
    array::tape list;
    if constexpr (array_value<First>)
        list = begin<scalar::nothing>(static_cast<First&&>(first));
    else
        append_entering<Operation, first_element>(list, first);
    (append_entering<Operation, entering_of<Operation, Rest, K, First, Rest...>>(list, rest), ...);
    list.push_operation(step::operation, array_type<typename step::result>(), 1 + sizeof...(Rest),
                        Operation::row);
    return expr<typename step::result>(std::move(list));
}
template <class Operation, class... A>
auto recorded(A&&... a) {
    if constexpr (have_host_call<A...>)
        return recorded<Operation>(per_element(static_cast<A&&>(a))...);
    else
        return recorded_with<Operation>(std::index_sequence_for<A...>{}, static_cast<A&&>(a)...);
}

/// An operation that is not a row of builtins.def.
struct named_operation {
    static constexpr builtin row = builtin::count;
};

template <class A>
inline constexpr bool is_complex_variable = false;
template <class T>
inline constexpr bool is_complex_variable<dsl::Complex<T>> = true;

/// Applies a row of builtins.def to complex numbers.
template <builtin B, class... A>
auto complex_row(const A&... a) {
    using enum builtin;
    if constexpr (B == add)
        return (a + ...);
    else if constexpr (B == sub)
        return (a - ...);
    else if constexpr (B == mul)
        return (a * ...);
    else if constexpr (B == div)
        return (a / ...);
    else if constexpr (B == equal)
        return (a == ...);
    else if constexpr (B == not_equal)
        return (a != ...);
    else if constexpr (B == neg)
        return (-a, ...);
    else if constexpr (B == builtin::pow)
        return dsl::pow(a...);
#define BALM_COMPLEX_ROW(id) else if constexpr (B == builtin::id) return dsl::id(a...);
    BALM_COMPLEX_ROW(abs)
    BALM_COMPLEX_ROW(exp)
    BALM_COMPLEX_ROW(log)
    BALM_COMPLEX_ROW(log10)
    BALM_COMPLEX_ROW(sqrt)
    BALM_COMPLEX_ROW(sinh)
    BALM_COMPLEX_ROW(cosh)
    BALM_COMPLEX_ROW(tanh)
    BALM_COMPLEX_ROW(sin)
    BALM_COMPLEX_ROW(cos)
    BALM_COMPLEX_ROW(tan)
    BALM_COMPLEX_ROW(asin)
    BALM_COMPLEX_ROW(acos)
    BALM_COMPLEX_ROW(atan)
    BALM_COMPLEX_ROW(asinh)
    BALM_COMPLEX_ROW(acosh)
    BALM_COMPLEX_ROW(atanh)
#undef BALM_COMPLEX_ROW
    else static_assert(dsl::detail::always_false<std::integral_constant<builtin, B>>,
                       "Balm: complex numbers have no such operator or function; they have + - * / == != and "
                       "abs, arg, norm, conj, proj, real, imag, exp, log, log10, sqrt, pow, sin, cos, tan, "
                       "sinh, cosh, tanh, "
                       "asin, acos, atan, asinh, acosh, atanh");
}

template <builtin B>
struct row_operation {
    static constexpr builtin row = B;
    static constexpr const char* name = nullptr;

    template <class... A>
    static auto on(const A&... a) {
        static_assert(!(structure_type<typename held_by<A>::type> || ...),
                      "Balm: a structure has no operators; select a member with balm::field<&S::member>(e), "
                      "or write a function");
        if constexpr ((structure_type<typename held_by<A>::type> || ...))
            return dsl::Bool();  // one message is enough
        else if constexpr ((is_complex_variable<A> || ...))
            return complex_row<B>(a...);
        else
            return dsl::apply<B>(a...);
    }
};

}  // namespace balm::detail
