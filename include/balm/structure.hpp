#pragma once
// Structures in kernels: BALM_STRUCT names the members of an aggregate once, in order.
//
//     struct particle { balm::float4 pos, vel; };
//     BALM_STRUCT(particle, pos, vel)
//
//     Var<particle> p = particles[i];
//     p.pos += dt * p.vel;
//     particles[i] = p;
//
// Use the macro in the structure's namespace. Members are scalars, enumerations (in kernels their underlying
// integers), short vectors, structures declared with BALM_STRUCT, and arrays of these.

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "balm/complex_value.hpp"
#include "balm/device_type.hpp"
#include "balm/short_vector.hpp"

namespace balm {

/// A type declared with BALM_STRUCT.
template <class T>
concept structure_type = requires(const T* s) {
    { balm_structure(s) } -> std::same_as<const trace::structure&>;
};

/// A type that elements of memory can have in kernels.
template <class T>
concept element_type = scalar_type<T> || vector_type<T> || structure_type<T> || std::same_as<T, half> ||
    detail::is_complex_value<T>;

namespace detail {

template <class T>
constexpr scalar element_scalar() {
    if constexpr (vector_type<T>)
        return element_scalar<typename T::value_type>();
    else if constexpr (std::same_as<T, half>)
        return scalar::f16;
    else
        return scalar_of<T>;
}

/// The device type of a host type.
template <element_type T>
trace::type type_of_element() {
    if constexpr (structure_type<T>) {
        static const trace::type known =
            trace::type_of_structure(balm_structure(static_cast<const T*>(nullptr)));
        return known;
    } else if constexpr (is_complex_value<T>) {
        return trace::type(scalar_of<typename T::value_type>, 2);
    } else {
        return trace::type(element_scalar<T>(), static_cast<std::uint8_t>(lanes_of<T>));
    }
}

/// The type of a member in kernels: numbers by size and signedness (char, long long …), enumerations by their
/// underlying integers; everything else is unchanged.
template <class Member>
struct member_type {
    using type = Member;
};
template <scalar_type Member>
struct member_type<Member> {
    using type = canonical<Member>;
};
template <class Member>
requires std::is_enum_v<Member>
struct member_type<Member> : member_type<std::underlying_type_t<Member>> {
};
template <class Member, std::size_t N>
struct member_type<Member[N]> {
    using type = typename member_type<Member>::type[N];
};

/// The type and number of elements of a member.
template <class Member>
trace::member describe_member(const char* name, std::size_t offset) {
    using element = std::remove_all_extents_t<typename member_type<Member>::type>;
    static_assert(element_type<element> && !is_complex_value<element>,
                  "Balm: a member of a structure must be a scalar, an enumeration, a short vector, another "
                  "structure declared with BALM_STRUCT, or an array of these");
    return {name, type_of_element<element>(), static_cast<std::uint32_t>(offset),
            static_cast<std::uint32_t>(sizeof(Member) / sizeof(element))};
}

}  // namespace detail
}  // namespace balm

#define BALM_EXPAND(...) BALM_EXPAND_3(BALM_EXPAND_3(BALM_EXPAND_3(__VA_ARGS__)))
#define BALM_EXPAND_3(...) BALM_EXPAND_2(BALM_EXPAND_2(BALM_EXPAND_2(__VA_ARGS__)))
#define BALM_EXPAND_2(...) BALM_EXPAND_1(BALM_EXPAND_1(BALM_EXPAND_1(__VA_ARGS__)))
#define BALM_EXPAND_1(...) __VA_ARGS__
#define BALM_PARENTHESES ()
/// macro(S, member) for each member, separated by `separator()`; up to 27 members.
#define BALM_FOR_EACH(macro, separator, S, ...) \
    __VA_OPT__(BALM_EXPAND(BALM_FOR_EACH_STEP(macro, separator, S, __VA_ARGS__)))
#define BALM_FOR_EACH_STEP(macro, separator, S, member, ...) \
    macro(S, member)                                         \
        __VA_OPT__(separator() BALM_FOR_EACH_AGAIN BALM_PARENTHESES(macro, separator, S, __VA_ARGS__))
#define BALM_FOR_EACH_AGAIN() BALM_FOR_EACH_STEP
#define BALM_COMMA() ,
#define BALM_NOTHING()
#define BALM_DESCRIBE_MEMBER(S, member) \
    ::balm::detail::describe_member<decltype(S::member)>(#member, offsetof(S, member))
#define BALM_DECLARE_FIELD(S, member)                                                                    \
    typename BalmAccess::template field<typename ::balm::detail::member_type<decltype(S::member)>::type> \
        member;
#define BALM_MAKE_FIELD(S, member) member(balm_pointer, balm_next++)

/// Declares the aggregate `S` for use in kernels, with its members in order.
#define BALM_STRUCT(S, ...)                                                                           \
    [[maybe_unused]] inline const ::balm::trace::structure& balm_structure(const S*) {                \
        static const ::balm::trace::member members[] = {                                              \
            BALM_FOR_EACH(BALM_DESCRIBE_MEMBER, BALM_COMMA, S, __VA_ARGS__)};                         \
        static const ::balm::trace::structure description{#S, sizeof(S), alignof(S), members,         \
                                                          sizeof(members) / sizeof(members[0])};      \
        static_assert(::std::is_trivially_copyable_v<S>,                                              \
                      "Balm: a structure is copied byte by byte and must be trivially copyable");     \
        return description;                                                                           \
    }                                                                                                 \
    template <class BalmAccess>                                                                       \
    struct balm_fields_##S {                                                                          \
        explicit balm_fields_##S(const typename BalmAccess::pointer& balm_pointer, int balm_next = 0) \
            : BALM_FOR_EACH(BALM_MAKE_FIELD, BALM_COMMA, S, __VA_ARGS__) {}                           \
        BALM_FOR_EACH(BALM_DECLARE_FIELD, BALM_NOTHING, S, __VA_ARGS__)                               \
    };                                                                                                \
    template <class BalmAccess>                                                                       \
    balm_fields_##S<BalmAccess> balm_fields_of(BalmAccess, const S*);
