#pragma once
// Array expressions whose elements are more than scalars: short vectors, complex numbers, structures. They
// follow the kernel language's rules because they are its operations: a step of the expression names the
// function that records one. Included by balm/expr.hpp.
//
//     balm::vector<balm::float4> position(ctx, n), velocity(ctx, n);
//     position += dt * velocity;
//     balm::vector<float> speed = length(velocity), x = balm::lane<0>(position);

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "balm/dsl/complex.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/dsl/fields.hpp"
#include "balm/dsl/lanes.hpp"
#include "balm/expr.hpp"

namespace balm {

namespace detail {

// ---- what enters an operation ----

/// The scalar type of an element's numbers; `nothing` for structures.
template <class T>
constexpr scalar number_scalar() {
    if constexpr (is_complex_value<T>)
        return scalar_of<typename T::value_type>;
    else if constexpr (scalar_type<T> || vector_type<T>)
        return element_scalar<T>();
    else
        return scalar::nothing;
}
/// The host type of an operand's elements, as it is.
template <class A>
struct own_element {
    using type = std::remove_cvref_t<A>;
};
template <array_value A>
struct own_element<A> {
    using type = element_of<A>;
};
template <class A>
requires(!array_value<A> && complex_type<std::remove_cvref_t<A>>) struct own_element<A> {
    using type = complex_value<typename std::remove_cvref_t<A>::value_type>;
};
template <class A>
requires(!array_value<A> && scalar_type<std::remove_cvref_t<A>>) struct own_element<A> {
    using type = canonical<std::remove_cvref_t<A>>;
};
template <class A>
using own_element_of = typename own_element<A>::type;

/// What host scalars are among: the lanes of vectors, the parts of complex numbers (arrays' ahead of the
/// host's), or arrays of scalars.
struct operand_context {
    scalar lanes = scalar::nothing;
    scalar array_complex = scalar::nothing;
    scalar host_complex = scalar::nothing;
    scalar strong = scalar::nothing;

    constexpr scalar complex() const {
        return array_complex != scalar::nothing ? array_complex : host_complex;
    }
};
template <class... A>
constexpr operand_context context_of() {
    operand_context found;
    const auto look = [&]<class X>(std::type_identity<X>) {
        using T = own_element_of<X>;
        if constexpr (vector_type<T>)
            found.lanes = number_scalar<T>();
        else if constexpr (is_complex_value<T>)
            (array_value<X> ? found.array_complex : found.host_complex) = number_scalar<T>();
        else if constexpr (array_value<X> && scalar_type<T>)
            found.strong = strong_type({{found.strong}, {scalar_of<T>}});
    };
    (look(std::type_identity<A>{}), ...);
    return found;
}

/// The scalar with which host scalar number K of `count` operands enters an operation.
template <class Operation>
constexpr scalar host_entering(scalar own, const operand_context& among, std::size_t k, std::size_t count) {
    scalar wanted = among.complex() != scalar::nothing ? among.complex()
                    : among.lanes != scalar::nothing   ? among.lanes
                                                       : among.strong;
    if constexpr (Operation::row != builtin::count)
        if (among.complex() == scalar::nothing && among.lanes != scalar::nothing)
            wanted = lane_operand(Operation::row, among.lanes, k, count);
    return entering_type({own, true}, wanted);
}
/// The type with which an operand enters.
template <class Operation, class A, std::size_t K, class... All>
constexpr auto entering_element() {
    using own = own_element_of<A>;
    if constexpr (!array_value<A> && scalar_type<own>) {
        constexpr scalar s =
            host_entering<Operation>(scalar_of<own>, context_of<All...>(), K, sizeof...(All));
        return std::type_identity<typename host_type<s>::type>{};
    } else if constexpr (!array_value<A> && is_complex_value<own>) {
        constexpr scalar precision = context_of<All...>().complex();
        static_assert(
            number_scalar<own>() <= precision,
            "Balm: a host value of double precision beside complex numbers of single precision would "
            "lose digits");
        return std::type_identity<complex_value<typename host_type<precision>::type>>{};
    } else {
        return std::type_identity<own>{};
    }
}

template <class T>
inline constexpr bool is_half_vector = false;
template <int N>
inline constexpr bool is_half_vector<vec<half, N>> = true;

/// A host value as an element of T: itself, a number that fills all lanes, or one without an imaginary part.
template <class T, class A>
T host_element(const A& a) {
    if constexpr (std::same_as<T, A>) {
        return a;
    } else if constexpr (std::same_as<A, half>) {
        return host_element<T>(static_cast<float>(a));
    } else if constexpr (is_half_vector<A> && lanes_of<A> == lanes_of<T>) {
        T converted{};
        for (int k = 0; k < T::size(); ++k)
            converted[k] = host_element<typename T::value_type>(static_cast<float>(a[k]));
        return converted;
    } else if constexpr (std::same_as<T, half>) {
        static_assert(scalar_type<A>, "Balm: a half is made of a number");
        return half(static_cast<float>(a));
    } else if constexpr (vector_type<T>) {
        using lane = typename T::value_type;
        static_assert(scalar_type<A>,
                      "Balm: a short vector is made of another of the same type, or of a number "
                      "for all lanes");
        T filled{};
        if constexpr (scalar_type<A>) {
            static_assert(std::same_as<lane, half> || kind_of(scalar_of<A>) <= kind_of(element_scalar<T>()),
                          "Balm: this number would narrow in the lanes; write a vector of them");
            for (int k = 0; k < T::size(); ++k) filled[k] = host_element<lane>(a);
        }
        return filled;
    } else if constexpr (complex_type<T>) {
        using part = typename T::value_type;
        static_assert(complex_type<A> || scalar_type<A>,
                      "Balm: a complex number is made of one, or of a number");
        if constexpr (complex_type<A>) {
            static_assert(sizeof(A) <= sizeof(T), "Balm: this complex number would lose digits; cast it");
            return T{static_cast<part>(a.real()), static_cast<part>(a.imag())};
        } else {
            return T{static_cast<part>(a), part(0)};
        }
    } else {
        static_assert(scalar_type<T> && scalar_type<A>, "Balm: a structure is made of one of the same type");
        return static_cast<T>(a);
    }
}

/// Appends a host value as an argument of type T.
template <class T, class A>
void append_host(array::tape& list, const A& a) {
    if constexpr (scalar_type<T>) {
        list.push_value(array::step::kind::scalar, scalar_of<T>, entering_bits<scalar_of<T>>(a));
    } else {
        const T value = host_element<T>(a);
        list.push_bytes(array_type<T>(), &value, sizeof value);
    }
}
}  // namespace detail

/// A host value as an expression: an argument of the kernel that keeps its own type. A plain number takes the
/// type of the elements that it stands beside; this one converts with them as two expressions do. A number, a
/// short vector, a complex number or a structure. It says nothing of how many elements there are.
///
///     balm::vector<float> x(ctx, n);
///     balm::vector<double> y = x * balm::argument(0.1);  // double precision; x * 0.1 is computed in float
template <class T>
requires element_type<T> || complex_type<T>
auto argument(const T& value) {
    using element = typename detail::array_element<T>::type;
    array::tape_handle list;
    detail::append_host<element>(*list, value);
    return expr<element>(std::move(list));
}

namespace detail {

template <class Operation, class T, class A>
void append_entering(array::tape& list, const A& a) {
    if constexpr (array_value<A>) {
        append<scalar::nothing>(list, a);
    } else {
        if constexpr (scalar_type<T> &&
                      !(Operation::row != builtin::count && takes_bit_patterns(Operation::row)))
            refuse_wrapping<scalar_of<T>>(a);
        append_host<T>(list, a);
    }
}

// ---- recording ----

/// The operation on variables of these types.
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

// ---- operations ----

/// What is no row of builtins.def.
struct named_operation {
    static constexpr builtin row = builtin::count;
};

template <class A>
inline constexpr bool is_complex_variable = false;
template <class T>
inline constexpr bool is_complex_variable<dsl::Complex<T>> = true;

/// A row on complex numbers.
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
    BALM_COMPLEX_ROW(sqrt)
    BALM_COMPLEX_ROW(sinh)
    BALM_COMPLEX_ROW(cosh)
    BALM_COMPLEX_ROW(tanh)
    BALM_COMPLEX_ROW(sin)
    BALM_COMPLEX_ROW(cos)
    BALM_COMPLEX_ROW(tan)
#undef BALM_COMPLEX_ROW
    else static_assert(
        dsl::detail::always_false<row_operation<B>>,
        "Balm: complex numbers have no such operator or function; they have + - * / == != and "
        "abs, arg, norm, conj, real, imag, exp, log, sqrt, pow, sin, cos, tan, sinh, cosh, tanh");
}

template <builtin B>
struct row_operation {
    static constexpr builtin row = B;
    static constexpr const char* name = nullptr;

    template <class... A>
    static auto on(const A&... a) {
        static_assert(
            !(structure_type<typename held_by<A>::type> || ...),
            "Balm: a structure has no operators; name a member with balm::field<&S::member>(e), or write a "
            "function");
        if constexpr ((structure_type<typename held_by<A>::type> || ...))
            return dsl::Bool();  // one message is enough
        else if constexpr ((is_complex_variable<A> || ...))
            return complex_row<B>(a...);
        else
            return dsl::apply<B>(a...);
    }
};

#define BALM_NAMED_OPERATION(id)                 \
    struct id##_operation : named_operation {    \
        static constexpr const char* name = #id; \
        template <class... A>                    \
        static auto on(const A&... a) {          \
            return dsl::id(a...);                \
        }                                        \
    };
BALM_NAMED_OPERATION(select)
BALM_NAMED_OPERATION(dot)
BALM_NAMED_OPERATION(cross)
BALM_NAMED_OPERATION(length)
BALM_NAMED_OPERATION(distance)
BALM_NAMED_OPERATION(normalize)
BALM_NAMED_OPERATION(real)
BALM_NAMED_OPERATION(imag)
BALM_NAMED_OPERATION(arg)
BALM_NAMED_OPERATION(norm)
BALM_NAMED_OPERATION(conj)
BALM_NAMED_OPERATION(polar)
#undef BALM_NAMED_OPERATION

/// A value of T, made as the kernel language makes a variable of it.
template <class T>
struct compose_operation : named_operation {
    static constexpr const char* name = "compose";
    template <class... A>
    static dsl::Var<T> on(const A&... a) {
        return dsl::Var<T>(a...);
    }
};

template <class T, class A>
void append_as(array::tape& list, const A& a) {
    if constexpr (!array_value<A>) {
        append_host<T>(list, a);
    } else if constexpr (std::same_as<element_of<A>, T>) {
        append<scalar::nothing>(list, a);
    } else {
        list.append(recorded<compose_operation<T>>(a).tape());
    }
}

/// Whether a number is of a greater kind than the elements; what is no number is for the kernel language to
/// say.
template <class A, class T>
constexpr bool narrows() {
    if constexpr (are_scalars<A>() && scalar_type<T>)
        return kind_of(scalar_of<own_element_of<A>>) > kind_of(scalar_of<T>);
    else
        return false;
}
/// What is assigned to elements of a vector of T.
template <class T, class A>
array::tape_handle assigned(A&& a) {
    using element = typename array_element<T>::type;
    static_assert(
        !narrows<A, element>(),
        "Balm: assigning this would narrow (floating to integer, integer to bool); write cast<T>(…)");
    if constexpr (!array_value<A>) {
        array::tape list;
        append_host<element>(list, a);
        return list;
    } else if constexpr (std::same_as<element_of<A>, element> || (scalar_type<element> && are_scalars<A>())) {
        return begin<array_scalar<A>()>(static_cast<A&&>(a));
    } else {
        return recorded<compose_operation<element>>(static_cast<A&&>(a)).tape();
    }
}

template <class T>
struct cast_operation : named_operation {
    static constexpr const char* name = "cast";
    template <class A>
    static auto on(const A& a) {
        if constexpr (is_complex_variable<A>)
            return dsl::complex_cast<T>(a);
        else
            return dsl::cast<T>(a);
    }
};
template <class T, rounding How, bool Saturates>
struct convert_operation : named_operation {
    static constexpr const char* name = Saturates ? "convert_sat" : "convert";
    template <class A>
    static auto on(const A& a) {
        if constexpr (Saturates)
            return dsl::convert_sat<T, How>(a);
        else
            return dsl::convert<T, How>(a);
    }
};
template <class T>
struct bit_cast_operation : named_operation {
    static constexpr const char* name = "bit_cast";
    template <class A>
    static auto on(const A& a) {
        return dsl::bit_cast<T>(a);
    }
};

/// Lanes of a vector, in this order.
template <int... K>
struct lanes_operation : named_operation {
    static constexpr const char* name = "lanes";
    template <class V>
    static auto on(const dsl::Var<V>& v) {
        constexpr int lanes = lanes_of<V>;
        static_assert(((K >= 0 && K < lanes) && ...), "Balm: the short vector has no such lane");
        std::uint64_t order = 0;
        int at = 0;
        ((order |= static_cast<std::uint64_t>(K) << at, at += 4), ...);
        return dsl::detail::var_of_lanes<element_scalar<V>(), sizeof...(K)>(
            trace::swizzle(trace::read(v.node()), order, sizeof...(K)));
    }
};
template <bool All>
struct lanes_truth_operation : named_operation {
    static constexpr const char* name = All ? "all_lanes" : "any_lane";
    template <class V>
    static auto on(const dsl::Var<V>& v) {
        if constexpr (All)
            return dsl::all(v);
        else
            return dsl::any(v);
    }
};

template <class M>
struct member_pointer;
template <class S, class T>
struct member_pointer<T S::*> {
    using structure = S;
    using member = T;
};
[[noreturn]] void member_not_described(const char* structure);
/// The member's number among those that BALM_STRUCT names.
template <auto Member>
int member_index() {
    using S = typename member_pointer<decltype(Member)>::structure;
    const S probe{};
    const auto offset = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(probe.*Member)) -
                                                 reinterpret_cast<const std::byte*>(&probe));
    const trace::structure& described = balm_structure(&probe);
    for (std::uint32_t k = 0; k < described.member_count; ++k)
        if (described.members[k].offset == offset) return static_cast<int>(k);
    member_not_described(described.name);
}
template <auto Member>
struct field_operation : named_operation {
    static constexpr const char* name = "field";
    using T = typename member_type<typename member_pointer<decltype(Member)>::member>::type;
    static_assert(!std::is_array_v<T>,
                  "Balm: this member is an array; write a function that says which element of it is meant");

    static auto on(const dsl::Var<typename member_pointer<decltype(Member)>::structure>& s) {
        const trace::node at = trace::member_of(s.balm_place().address(), member_index<Member>());
        return dsl::Var<typename array_element<T>::type>(
            trace::load(at, trace::constant(scalar::i32, 0), {}));
    }
};

/// Arrays whose elements are short vectors, complex numbers or structures.
template <class A>
concept vector_array = array_value<A> && vector_type<element_of<A>>;
template <class A>
concept complex_array = array_value<A> && is_complex_value<element_of<A>>;
template <class A>
concept structure_array = array_value<A> && structure_type<element_of<A>>;

}  // namespace detail

// ---- short vectors ----

/// One lane of each element, and several in any order as shorter or longer vectors.
///
///     balm::vector<float> height = balm::lane<2>(position);
///     balm::vector<balm::float2> flat = balm::lanes<0, 1>(position);
template <int K, detail::vector_array A>
auto lane(A&& a) {
    return detail::recorded<detail::lanes_operation<K>>(static_cast<A&&>(a));
}
template <int... K, detail::vector_array A>
requires(sizeof...(K) > 1) auto lanes(A&& a) {
    return detail::recorded<detail::lanes_operation<K...>>(static_cast<A&&>(a));
}

/// Elements of T put together as the kernel language does: a short vector of its lanes, from scalars and
/// shorter vectors in order; a complex number of its parts.
///
///     p = balm::compose<balm::float4>(x, y, z, 1.f);
///     z = balm::compose<std::complex<float>>(re, im);
template <class T, class... A>
requires array_operands<A...> &&(vector_type<T> || complex_type<T>)auto compose(A&&... a) {
    return detail::recorded<detail::compose_operation<typename detail::array_element<T>::type>>(
        static_cast<A&&>(a)...);
}

/// Whether any lane, or every lane, of a vector of truth values holds.
template <detail::vector_array A>
auto any_lane(A&& a) {
    return detail::recorded<detail::lanes_truth_operation<false>>(static_cast<A&&>(a));
}
template <detail::vector_array A>
auto all_lanes(A&& a) {
    return detail::recorded<detail::lanes_truth_operation<true>>(static_cast<A&&>(a));
}

/// The geometric functions of short vectors, as in kernels: the sum of the lanes' products; its square root
/// for one vector; the length of the difference; the vector of length 1; the product of x, y, z.
#define BALM_DEFINE_2(id)                                                                                \
    template <class A, class B>                                                                          \
    requires array_operands<A, B> &&(detail::vector_array<A> || detail::vector_array<B>)auto id(A&& a,   \
                                                                                                B&& b) { \
        return detail::recorded<detail::id##_operation>(static_cast<A&&>(a), static_cast<B&&>(b));       \
    }
BALM_DEFINE_2(dot)
BALM_DEFINE_2(distance)
BALM_DEFINE_2(cross)
#undef BALM_DEFINE_2
template <detail::vector_array A>
auto length(A&& a) {
    return detail::recorded<detail::length_operation>(static_cast<A&&>(a));
}
template <detail::vector_array A>
auto normalize(A&& a) {
    return detail::recorded<detail::normalize_operation>(static_cast<A&&>(a));
}

/// Conversions lane by lane: `cast<float>(v)` and `cast<float4>(v)` say the same of four lanes.
template <dsl::detail::number T, array_value A>
requires(detail::vector_array<A> || (vector_type<T> && detail::are_scalars<A>())) auto cast(A&& a) {
    return detail::recorded<detail::cast_operation<T>>(static_cast<A&&>(a));
}
template <dsl::detail::number T, rounding How = detail::usual_rounding<dsl::detail::converted_lane_type<T>>,
          detail::vector_array A>
auto convert(A&& a) {
    return detail::recorded<detail::convert_operation<T, How, false>>(static_cast<A&&>(a));
}
template <dsl::detail::number T, rounding How = rounding::toward_zero, detail::vector_array A>
auto convert_sat(A&& a) {
    return detail::recorded<detail::convert_operation<T, How, true>>(static_cast<A&&>(a));
}
/// The bits as a T of the same size, of as many lanes or others.
template <dsl::detail::number T, array_value A>
requires(detail::vector_array<A> || (vector_type<T> && detail::are_scalars<A>())) auto bit_cast(A&& a) {
    return detail::recorded<detail::bit_cast_operation<T>>(static_cast<A&&>(a));
}

// ---- complex numbers ----

/// The parts of complex numbers, their angle, the square of their distance from 0 and their conjugates. (abs,
/// exp, pow … are those of balm/expr.hpp.)
#define BALM_DEFINE_1(id)                                                     \
    template <detail::complex_array A>                                        \
    auto id(A&& a) {                                                          \
        return detail::recorded<detail::id##_operation>(static_cast<A&&>(a)); \
    }
BALM_DEFINE_1(real)
BALM_DEFINE_1(imag)
BALM_DEFINE_1(arg)
BALM_DEFINE_1(norm)
BALM_DEFINE_1(conj)
#undef BALM_DEFINE_1
/// The numbers of these distances from 0 and these angles.
template <class A, class B>
requires array_operands<A, B> &&(detail::are_scalars<A, B>()) auto polar(A&& distance, B&& angle) {
    return detail::recorded<detail::polar_operation>(static_cast<A&&>(distance), static_cast<B&&>(angle));
}
/// The same numbers in another precision.
template <std::floating_point T, detail::complex_array A>
auto complex_cast(A&& a) {
    return detail::recorded<detail::cast_operation<T>>(static_cast<A&&>(a));
}

// ---- structures ----

/// A member of each element, which is a structure that BALM_STRUCT has described.
///
///     balm::vector<particle> particles(ctx, n);
///     balm::vector<balm::float4> where = balm::field<&particle::pos>(particles);
template <auto Member, detail::structure_array A>
auto field(A&& a) {
    return detail::recorded<detail::field_operation<Member>>(static_cast<A&&>(a));
}

/// A short vector or complex number that is part of the kernel's source.
template <class T>
requires vector_type<T> || complex_type<T>
auto constant(const T& value) {
    using element = typename detail::array_element<T>::type;
    if constexpr (vector_type<T>) return [&]<std::size_t... K>(std::index_sequence<K...>) {
            return compose<element>(constant(value[static_cast<int>(K)])...);
        }
    (std::make_index_sequence<T::size()>{});
    else return compose<element>(constant(value.real()), constant(value.imag()));
}

}  // namespace balm
