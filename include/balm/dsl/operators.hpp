#pragma once
// Operators, built-in functions, conversions and selection on device values. Included by balm/dsl/value.hpp.

#include <iosfwd>

#include "balm/dsl/value.hpp"

namespace balm::dsl {

template <class... A>
concept device_operands = (operand<A> && ...) && (device_value<A> || ...);

#define BALM_OPERAND device_value
#define BALM_OPERANDS device_operands
BALM_BINARY_OPERATORS(BALM_APPLY_OPERATOR)

#define BALM_BINARY(symbol, id)                                                               \
    template <class L, class R>                                                               \
    requires(detail::not_a_number<L> && device_value<R>) ||                                   \
        (device_value<L> && detail::not_a_number<R>)BALM_REFUSED(BALM_NOT_A_NUMBER) Var<bool> \
        operator symbol(L&& l, R&& r);
BALM_BINARY_OPERATORS(BALM_BINARY)
#undef BALM_BINARY
/// Work-items print with print(…).
template <device_value A>
BALM_REFUSED(
    "Balm: a device value has no value while the kernel is traced; to print in a kernel, write "
    "print(\"{}\\n\", x)")
std::ostream&
operator<<(std::ostream& to, A&& a);

template <device_value A>
auto operator-(A&& a) {
    return apply<builtin::neg>(static_cast<A&&>(a));
}
template <device_value A>
auto operator+(A&& a) {
    constexpr scalar own = detail::strong_scalar<A>();
    if constexpr (constexpr int lanes = detail::lanes_in<A>(); lanes > 1)
        return detail::var_of_lanes<own, lanes>(detail::node_of<own>(static_cast<A&&>(a)));
    else
        return var_of<promote(own)>(trace::convert(detail::node_of<own>(static_cast<A&&>(a)), promote(own)));
}
template <device_value A>
auto operator~(A&& a) {
    return apply<builtin::bit_not>(static_cast<A&&>(a));
}
template <device_value A>
auto operator!(A&& a) {
    if constexpr (detail::lanes_in<A>() > 1)
        return apply<builtin::logical_not>(static_cast<A&&>(a));
    else
        return apply<builtin::logical_not>(Bool(detail::condition_of(static_cast<A&&>(a))));
}

/// The right operand is evaluated only if the left one does not decide the result. Its parameter deduces the
/// operand's own type, so overload resolution prefers these to the built-in operators on bool.
template <operand R>
Bool operator&&(const guard_operand& l, R&& r) {
    return Bool(trace::guard(true, l.value, l.after, detail::condition_of(static_cast<R&&>(r))));
}
template <operand R>
Bool operator||(const guard_operand& l, R&& r) {
    return Bool(trace::guard(false, l.value, l.after, detail::condition_of(static_cast<R&&>(r))));
}

/// A host value on one side needs no guard: it decides while the kernel is traced.
template <device_value L, class R>
requires scalar_type<std::remove_cvref_t<R>> Bool operator&&(L&& l, R&& r) {
    return r ? Bool(detail::condition_of(static_cast<L&&>(l))) : Bool(false);
}
template <class L, device_value R>
requires scalar_type<std::remove_cvref_t<L>> Bool operator&&(L&& l, R&& r) {
    return l ? Bool(detail::condition_of(static_cast<R&&>(r))) : Bool(false);
}
template <device_value L, class R>
requires scalar_type<std::remove_cvref_t<R>> Bool operator||(L&& l, R&& r) {
    return r ? Bool(true) : Bool(detail::condition_of(static_cast<L&&>(l)));
}
template <class L, device_value R>
requires scalar_type<std::remove_cvref_t<L>> Bool operator||(L&& l, R&& r) {
    return l ? Bool(true) : Bool(detail::condition_of(static_cast<R&&>(r)));
}

/// The built-in functions: one template for each row of builtins.def, with the row's name.
#define BALM_BUILTIN(id, arity, ...) BALM_APPLY_##arity(id)
#include "balm/builtins.def"
#undef BALM_OPERAND
#undef BALM_OPERANDS

/// Converts a value as C++ does, but floating point to integer saturates, and converts NaN to 0. Vectors
/// convert lane by lane: for an Int4, `cast<float>(v)` and `cast<float4>(v)` are the same.
template <scalar_type T, device_value A>
auto cast(A&& a) {
    return detail::var_of_lanes<scalar_of<T>, detail::lanes_in<A>()>(
        trace::convert(detail::node_of<detail::strong_scalar<A>()>(static_cast<A&&>(a)), scalar_of<T>));
}
template <vector_type V, device_value A>
requires(detail::lanes_in<A>() == balm::detail::lanes_of<V>) Var<V> cast(A&& a) {
    return cast<typename V::value_type>(static_cast<A&&>(a));
}

namespace detail {

template <scalar Entering, class A>
node branch_node(A&& a, scalar result) {
    if constexpr (!device_value<A>) refuse_wrapping<typename balm::detail::host_type<Entering>::type>(a);
    return trace::convert(node_of<Entering>(static_cast<A&&>(a)), result);
}

/// Selects lane by lane if the condition is a vector, else one whole vector.
template <class C, class A, class B>
auto select_lanes(C&& condition, A&& if_true, B&& if_false) {
    constexpr int lanes = common_lanes<C, A, B>();
    constexpr scalar given = lane_scalar<A, B>();
    constexpr scalar strong = given != scalar::nothing ? given : strong_of<A, B>();
    constexpr scalar element = strong != scalar::nothing
                                   ? strong
                                   : common_scalar(entering_scalar<A>(strong), entering_scalar<B>(strong));
    static_assert(
        fits_lanes<A>(element, lanes) && fits_lanes<B>(element, lanes) &&
            (lanes_in<C>() == 1 || (lanes_in<C>() == lanes && strong_scalar<C>() == scalar::boolean)),
        "Balm: select takes a Bool, or a vector of booleans with the same number of lanes as the values, and "
        "two vectors of the same type or two scalars");
    node test;
    if constexpr (lanes_in<C>() > 1)
        test = node_of<scalar::boolean>(static_cast<C&&>(condition));
    else
        test = condition_of(static_cast<C&&>(condition));
    const trace::type whole(element, lanes);
    const node yes = lane_node<element>(static_cast<A&&>(if_true));
    const node no = lane_node<element>(static_cast<B&&>(if_false));
    return var_of_lanes<element, lanes>(
        trace::select(test, trace::compose(whole, &yes, 1), trace::compose(whole, &no, 1)));
}

}  // namespace detail

/// `condition ? if_true : if_false`. Both values are computed; `if_else` computes only one.
template <class C, class A, class B>
requires device_operands<C, A, B> &&
    (detail::common_lanes<C, A, B>() > 1) auto select(C&& condition, A&& if_true, B&& if_false) {
    return detail::select_lanes(static_cast<C&&>(condition), static_cast<A&&>(if_true),
                                static_cast<B&&>(if_false));
}
template <class C, class A, class B>
requires device_operands<C, A, B> &&
    (detail::common_lanes<C, A, B>() == 1) auto select(C&& condition, A&& if_true, B&& if_false) {
    constexpr scalar strong = detail::strong_of<A, B>();
    constexpr scalar a = detail::entering_scalar<A>(strong), b = detail::entering_scalar<B>(strong);
    constexpr scalar result = balm::detail::chosen_type(a, b);
    const trace::node test = detail::condition_of(static_cast<C&&>(condition));
    const trace::node yes = detail::branch_node<a>(static_cast<A&&>(if_true), result);
    const trace::node no = detail::branch_node<b>(static_cast<B&&>(if_false), result);
    return var_of<result>(trace::select(test, yes, no));
}

/// Sets the name that the printed source uses for a value: `Float sum = named("sum", 0.f);`
template <operand A>
auto named(const char* word, A&& a) {
    constexpr scalar own = detail::entering_scalar<A>(scalar::boolean);
    const trace::node value = trace::read(detail::node_of<own>(static_cast<A&&>(a)));
    trace::name(value, word);
    return detail::var_of_lanes<own, detail::lanes_in<A>()>(value);
}

}  // namespace balm::dsl

namespace std {  // NOLINT(cert-dcl58-cpp): see BALM_REFUSED_OF_STD

BALM_REFUSED_OF_STD(max, balm::dsl::device_operands,
                    "Balm: on device values write max(x, y), not std::max(x, y)")
BALM_REFUSED_OF_STD(min, balm::dsl::device_operands,
                    "Balm: on device values write min(x, y), not std::min(x, y)")
BALM_REFUSED_OF_STD(clamp, balm::dsl::device_operands,
                    "Balm: on device values write clamp(x, low, high), not std::clamp")

}  // namespace std
