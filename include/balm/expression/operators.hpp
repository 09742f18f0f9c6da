#pragma once
// Operators, conversions, built-in functions and select on array expressions. An operation on scalars is a
// step of the tape, with the type that the kernel language would deduce; other operations are recorded (see
// balm/expression/recorded.hpp).

#include <cstdint>
#include <type_traits>
#include <utility>

#include "balm/builtin.hpp"
#include "balm/conversion.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/expression/appending.hpp"
#include "balm/expression/recorded.hpp"
#include "balm/refused.hpp"
#include "balm/types.hpp"

namespace balm {

/// Applies a row of builtins.def element by element.
template <builtin B, class... A>
requires array_operands<A...>
auto apply(A&&... a) {
    if constexpr (detail::have_host_call<A...>) {
        return apply<B>(detail::per_element(static_cast<A&&>(a))...);
    } else if constexpr (!detail::are_scalars<A...>()) {
        return detail::recorded<detail::row_operation<B>>(static_cast<A&&>(a)...);
    } else {
        constexpr scalar strong = detail::array_strong<A...>();
        constexpr scalar result = detail::result_of(B, detail::array_entering<B, A>(strong)...);
        static_assert(result != scalar::nothing,
                      "Balm: this operator or built-in does not take elements of these types (does it "
                      "require integers?)");
        array::tape_handle list = detail::joined<B, strong>(static_cast<A&&>(a)...);
        array::step& s = list->push(array::step::kind::apply);
        s.type = result;
        s.detail = static_cast<std::uint16_t>(B);
        s.arity = sizeof...(A);
        return detail::expr_of<result>(std::move(list));
    }
}

#define BALM_OPERAND array_value
#define BALM_OPERANDS array_operands
BALM_BINARY_OPERATORS(BALM_APPLY_OPERATOR)
#define BALM_BINARY(symbol, id)                                                           \
    template <class L, class R>                                                           \
    requires detail::array_beside_host_elements<L, R> BALM_REFUSED(BALM_HOST_ELEMENTS)    \
    expr<float> operator symbol(L&& l, R&& r);                                            \
    template <class L, class R>                                                           \
    requires detail::array_beside_what_is_no_number<L, R> BALM_REFUSED(BALM_NOT_A_NUMBER) \
    expr<float> operator symbol(L&& l, R&& r);
BALM_BINARY_OPERATORS(BALM_BINARY)
#undef BALM_BINARY
#define BALM_COMPOUND(symbol, id)                                                                            \
    template <detail::never_assigned L, class R>                                                             \
    requires array_operands<L, R> && detail::is_expr<std::remove_cvref_t<L>> BALM_REFUSED(BALM_NOT_ASSIGNED) \
    void operator symbol(L&& l, R&& r);                                                                      \
    template <detail::never_assigned L, class R>                                                             \
    requires array_operands<L, R> && detail::is_vector<std::remove_cvref_t<L>> BALM_REFUSED(                 \
        BALM_CONST_VECTOR)                                                                                   \
    void operator symbol(L&& l, R&& r);
BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND
template <array_value A>
BALM_REFUSED(BALM_NO_STEPS)
void operator++(A&& a);
template <array_value A>
BALM_REFUSED(BALM_NO_STEPS)
void operator++(A&& a, int);
template <array_value A>
BALM_REFUSED(BALM_NO_STEPS)
void operator--(A&& a);
template <array_value A>
BALM_REFUSED(BALM_NO_STEPS)
void operator--(A&& a, int);

/// Converts the elements as C++ does, but floating point to integer saturates, and converts NaN to 0. For
/// short vectors, lane by lane, see balm/array_elements.hpp.
template <scalar_type T, array_value A>
requires(detail::are_scalars<A>()) expr<canonical<T>> cast(A&& a) {
    array::tape_handle list = detail::begin<detail::array_scalar<A>()>(static_cast<A&&>(a));
    array::step& s = list->push(array::step::kind::convert);
    s.type = scalar_of<T>;
    s.arity = 1;
    return expr<canonical<T>>(std::move(list));
}

namespace detail {

/// The elements as truth values: a number counts as true unless it is zero.
template <class A>
decltype(auto) as_condition(A&& a) {
    static_assert(are_scalars<A>(),
                  "Balm: a short vector or a complex number is not a condition; compare it; for vectors of "
                  "booleans write any_lane(v) or all_lanes(v)");
    if constexpr (scalar_type<std::remove_cvref_t<A>>)
        return a != std::remove_cvref_t<A>{};
    else if constexpr (array_scalar<A>() == scalar::boolean)
        return static_cast<A&&>(a);
    else
        return cast<bool>(static_cast<A&&>(a));
}

}  // namespace detail

template <array_value A>
auto operator-(A&& a) {
    return apply<builtin::neg>(static_cast<A&&>(a));
}
template <array_value A>
auto operator+(A&& a) {
    if constexpr (detail::are_scalars<A>())
        return cast<typename detail::host_type<promote(detail::array_scalar<A>())>::type>(
            static_cast<A&&>(a));
    else
        return expr<detail::element_of<A>>(detail::begin<scalar::nothing>(static_cast<A&&>(a)));
}
template <array_value A>
auto operator~(A&& a) {
    return apply<builtin::bit_not>(static_cast<A&&>(a));
}
template <array_value A>
auto operator!(A&& a) {
    if constexpr (detail::are_scalars<A>())
        return apply<builtin::logical_not>(detail::as_condition(static_cast<A&&>(a)));
    else
        return apply<builtin::logical_not>(static_cast<A&&>(a));
}
template <class L, class R>
requires array_operands<L, R>
auto operator&&(L&& l, R&& r) {
    return apply<builtin::bit_and>(detail::as_condition(detail::per_element(static_cast<L&&>(l))),
                                   detail::as_condition(detail::per_element(static_cast<R&&>(r))));
}
template <class L, class R>
requires array_operands<L, R>
auto operator||(L&& l, R&& r) {
    return apply<builtin::bit_or>(detail::as_condition(detail::per_element(static_cast<L&&>(l))),
                                  detail::as_condition(detail::per_element(static_cast<R&&>(r))));
}

/// The built-in functions, element by element: one template for each row of builtins.def, with the row's
/// name.
#define BALM_BUILTIN(id, arity, ...) BALM_APPLY_##arity(id)
#include "balm/builtins.def"
#undef BALM_OPERAND
#undef BALM_OPERANDS

/// Converts the elements with a rounding mode; see dsl::convert.
template <scalar_type T, rounding How = detail::usual_rounding<T>, array_value A>
requires(detail::are_scalars<A>()) expr<canonical<T>> convert(A&& a) {
    return detail::converted<canonical<T>, How, detail::element_of<A>>(static_cast<A&&>(a));
}
/// Converts the elements to an integer type; values outside its range saturate.
template <scalar_type T, rounding How = rounding::toward_zero, array_value A>
requires(detail::are_scalars<A>()) expr<canonical<T>> convert_sat(A&& a) {
    return detail::saturated<canonical<T>, How, detail::element_of<A>>(static_cast<A&&>(a));
}
/// The elements' bits as a type of the same size.
template <scalar_type T, array_value A>
requires(detail::are_scalars<A>()) expr<canonical<T>> bit_cast(A&& a) {
    return detail::reinterpreted_as<canonical<T>, detail::element_of<A>>(static_cast<A&&>(a));
}

namespace detail {

struct select_operation : named_operation {
    static constexpr const char* name = "select";
    template <class... A>
    static auto on(const A&... a) {
        return dsl::select(a...);
    }
};

}  // namespace detail

/// `condition ? if_true : if_false`, element by element.
template <class C, class A, class B>
requires array_operands<C, A, B>
auto select(C&& condition, A&& if_true, B&& if_false) {
    if constexpr (detail::have_host_call<C, A, B>) {
        return select(detail::per_element(static_cast<C&&>(condition)),
                      detail::per_element(static_cast<A&&>(if_true)),
                      detail::per_element(static_cast<B&&>(if_false)));
    } else if constexpr (!detail::are_scalars<C, A, B>()) {
        return detail::recorded<detail::select_operation>(
            static_cast<C&&>(condition), static_cast<A&&>(if_true), static_cast<B&&>(if_false));
    } else {
        constexpr scalar strong = detail::array_strong<A, B>();
        constexpr scalar a = detail::array_entering<A>(strong), b = detail::array_entering<B>(strong);
        constexpr scalar result = detail::chosen_type(a, b);
        detail::refuse_wrapping<a>(if_true);
        detail::refuse_wrapping<b>(if_false);
        array::tape list = detail::begin<scalar::boolean>(detail::as_condition(static_cast<C&&>(condition)));
        detail::append<a>(list, if_true);
        detail::append<b>(list, if_false);
        array::step& s = list.push(array::step::kind::select);
        s.type = result;
        s.arity = 3;
        return detail::expr_of<result>(std::move(list));
    }
}

namespace detail {

/// An expression of integers as positions (i64).
template <class A>
array::tape positions(A&& a) {
    static_assert(kind_of(array_scalar<A>()) == scalar_kind::integer, "Balm: positions must be integers");
    return cast<std::int64_t>(static_cast<A&&>(a)).tape();
}

}  // namespace detail

}  // namespace balm

namespace std {  // NOLINT(cert-dcl58-cpp): see BALM_REFUSED_OF_STD

BALM_REFUSED_OF_STD(max, balm::array_operands, "Balm: on arrays write balm::max(x, y), not std::max(x, y)")
BALM_REFUSED_OF_STD(min, balm::array_operands, "Balm: on arrays write balm::min(x, y), not std::min(x, y)")
BALM_REFUSED_OF_STD(clamp, balm::array_operands,
                    "Balm: on arrays write balm::clamp(x, low, high), not std::clamp")

}  // namespace std
