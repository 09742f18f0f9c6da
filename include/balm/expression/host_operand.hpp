#pragma once
// Host values as operands beside elements that are not all scalars: the type to which a number, a short
// vector, a complex number or a structure is converted, and its bytes on the tape.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "balm/complex_value.hpp"
#include "balm/expression/appending.hpp"
#include "balm/short_vector.hpp"

namespace balm::detail {

/// The scalar type of an element's lanes or parts; `nothing` for structures.
template <class T>
constexpr scalar number_scalar() {
    if constexpr (is_complex_value<T>)
        return scalar_of<typename T::value_type>;
    else if constexpr (scalar_type<T> || vector_type<T>)
        return element_scalar<T>();
    else
        return scalar::nothing;
}
/// The host type of an operand's elements, before conversion.
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

/// The operands that decide the type of host scalars beside them: the lanes of short vectors, the parts of
/// complex numbers (arrays take precedence over host values), or arrays of scalars.
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

/// The type to which a host scalar, number k of `count` operands, is converted.
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
/// The type to which an operand is converted.
template <class Operation, class A, std::size_t K, class... All>
constexpr auto entering_element() {
    using own = own_element_of<A>;
    if constexpr (!array_value<A> && scalar_type<own>) {
        constexpr scalar s =
            host_entering<Operation>(scalar_of<own>, context_of<All...>(), K, sizeof...(All));
        return std::type_identity<typename host_type<s>::type>{};
    } else if constexpr (!array_value<A> && is_complex_value<own>) {
        constexpr scalar precision = context_of<All...>().complex();
        static_assert(number_scalar<own>() <= precision,
                      "Balm: combining a host value of double precision with complex numbers of single "
                      "precision would lose precision");
        return std::type_identity<complex_value<typename host_type<precision>::type>>{};
    } else {
        return std::type_identity<own>{};
    }
}

template <class T>
inline constexpr bool is_half_vector = false;
template <int N>
inline constexpr bool is_half_vector<vec<half, N>> = true;

/// A host value as an element of T. A number fills all lanes of a short vector, or becomes a complex number
/// without an imaginary part.
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
        static_assert(scalar_type<A>, "Balm: a half can only be constructed from a number");
        return half(a);
    } else if constexpr (vector_type<T>) {
        using lane = typename T::value_type;
        static_assert(scalar_type<A>,
                      "Balm: a short vector can only be constructed from one of the same type, or from a "
                      "number for all lanes");
        T filled{};
        if constexpr (scalar_type<A>) {
            static_assert(std::same_as<lane, half> || kind_of(scalar_of<A>) <= kind_of(element_scalar<T>()),
                          "Balm: this number would narrow to the type of the lanes; cast it");
            for (int k = 0; k < T::size(); ++k) filled[k] = host_element<lane>(a);
        }
        return filled;
    } else if constexpr (complex_type<T>) {
        using part = typename T::value_type;
        static_assert(complex_type<A> || scalar_type<A>,
                      "Balm: a complex number can only be constructed from a real or complex number");
        if constexpr (complex_type<A>) {
            static_assert(sizeof(A) <= sizeof(T), "Balm: this complex number would lose precision; cast it");
            return T{static_cast<part>(a.real()), static_cast<part>(a.imag())};
        } else {
            return T{static_cast<part>(a), part(0)};
        }
    } else {
        static_assert(scalar_type<T> && scalar_type<A>,
                      "Balm: a structure can only be constructed from one of the same type");
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

}  // namespace balm::detail
