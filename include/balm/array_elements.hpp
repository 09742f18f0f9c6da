#pragma once
// Functions of array expressions whose elements are short vectors, complex numbers or structures. Operators
// and built-in functions are in balm/expression/operators.hpp. Included by balm/expr.hpp.
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
#include "balm/expression/assigned.hpp"
#include "balm/expression/operators.hpp"
#include "balm/expression/part_of_elements.hpp"
#include "balm/structure.hpp"

namespace balm {

namespace detail {

/// Arrays whose elements are short vectors, complex numbers or structures.
template <class A>
concept vector_array = array_value<A> && vector_type<element_of<A>>;
template <class A>
concept complex_array = array_value<A> && is_complex_value<element_of<A>>;
template <class A>
concept structure_array = array_value<A> && structure_type<element_of<A>>;

#define BALM_NAMED_OPERATION(id)                 \
    struct id##_operation : named_operation {    \
        static constexpr const char* name = #id; \
        template <class... A>                    \
        static auto on(const A&... a) {          \
            return dsl::id(a...);                \
        }                                        \
    };
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
BALM_NAMED_OPERATION(proj)
BALM_NAMED_OPERATION(polar)
#undef BALM_NAMED_OPERATION

}  // namespace detail

// ---- short vectors ----

namespace detail {

/// The lane numbers, 4 bits each.
template <int... K>
constexpr std::uint64_t order_of_lanes() {
    std::uint64_t order = 0;
    int at = 0;
    ((order |= static_cast<std::uint64_t>(K) << at, at += 4), ...);
    return order;
}
/// Lanes of a vector, in this order.
template <int... K>
struct lanes_operation : named_operation {
    static constexpr const char* name = "lanes";
    template <class V>
    static auto on(const dsl::Var<V>& v) {
        constexpr int lanes = lanes_of<V>;
        static_assert(((K >= 0 && K < lanes) && ...), "Balm: the short vector has no such lane");
        return dsl::detail::var_of_lanes<element_scalar<V>(), sizeof...(K)>(
            trace::swizzle(trace::read(v.node()), order_of_lanes<K...>(), sizeof...(K)));
    }
};
/// Whether the lanes are distinct.
template <int... K>
inline constexpr bool names_each_once =
    !dsl::detail::names_a_lane_twice(order_of_lanes<K...>(), sizeof...(K));
/// The vector with these lanes replaced.
template <int... K>
struct set_lanes_operation : named_operation {
    static constexpr const char* name = "set_lanes";
    template <class V, class T>
    static auto on(const dsl::Var<V>& v, const dsl::Var<T>& lanes) {
        return dsl::Var<V>(
            trace::insert(trace::read(v.node()), order_of_lanes<K...>(), trace::read(lanes.node())));
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

}  // namespace detail

/// One lane of each element, or several in any order as a shorter or longer vector. The lanes of a vector or
/// view can be assigned to; the other lanes keep their values.
///
///     balm::vector<float> height = balm::lane<2>(position);
///     balm::vector<balm::float2> flat = balm::lanes<0, 1>(position);
///     balm::lane<2>(position) = max(height, 0.f);
template <int K, detail::vector_array A>
auto lane(A&& a) {
    return detail::part_of<detail::lanes_operation<K>, detail::set_lanes_operation<K>,
                           typename std::remove_cvref_t<A>::value_type>(static_cast<A&&>(a));
}
template <int... K, detail::vector_array A>
requires(sizeof...(K) > 1) auto lanes(A&& a) {
    if constexpr (detail::names_each_once<K...>)
        return detail::part_of<detail::lanes_operation<K...>, detail::set_lanes_operation<K...>,
                               typename std::remove_cvref_t<A>::value_type>(static_cast<A&&>(a));
    else
        return detail::recorded<detail::lanes_operation<K...>>(static_cast<A&&>(a));
}

/// Composes elements of T as the kernel language does: a short vector from scalars and shorter vectors in
/// order, a complex number from its parts.
///
///     p = balm::compose<balm::float4>(x, y, z, 1.f);
///     z = balm::compose<std::complex<float>>(re, im);
template <class T, class... A>
requires array_operands<A...> &&(vector_type<T> || complex_type<T>)auto compose(A&&... a) {
    return detail::recorded<detail::compose_operation<typename detail::array_element<T>::type>>(
        static_cast<A&&>(a)...);
}

/// Whether any lane, or every lane, of a boolean vector is true.
template <detail::vector_array A>
auto any_lane(A&& a) {
    return detail::recorded<detail::lanes_truth_operation<false>>(static_cast<A&&>(a));
}
template <detail::vector_array A>
auto all_lanes(A&& a) {
    return detail::recorded<detail::lanes_truth_operation<true>>(static_cast<A&&>(a));
}

/// The geometric functions of short vectors, as in kernels: dot(a, b) is the sum of the products of the
/// lanes, length(v) the square root of dot(v, v), distance(a, b) the length of a - b, normalize(v) the vector
/// of length 1 in the same direction, cross(a, b) the cross product of x, y, z.
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

namespace detail {

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

}  // namespace detail

/// Converts lane by lane: `cast<float>(v)` and `cast<float4>(v)` are equivalent for vectors of four lanes.
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
/// The bits as a T of the same size; the number of lanes may differ.
template <dsl::detail::number T, array_value A>
requires(detail::vector_array<A> || (vector_type<T> && detail::are_scalars<A>())) auto bit_cast(A&& a) {
    return detail::recorded<detail::bit_cast_operation<T>>(static_cast<A&&>(a));
}

// ---- complex numbers ----

/// The parts of complex numbers, their angle, the square of their distance from 0 (norm), their conjugates
/// and their projections onto the Riemann sphere. (abs, exp, pow … are in balm/expression/operators.hpp.)
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
BALM_DEFINE_1(proj)
#undef BALM_DEFINE_1
/// The complex numbers with these distances from 0 and these angles.
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

namespace detail {

template <class M>
struct member_pointer;
template <class S, class T>
struct member_pointer<T S::*> {
    using structure = S;
    using member = T;
};
[[noreturn]] void member_not_described(const char* structure, std::size_t offset);
/// The index of the member in the list of BALM_STRUCT.
template <auto Member>
int member_index() {
    using S = typename member_pointer<decltype(Member)>::structure;
    const S probe{};
    const auto offset = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(probe.*Member)) -
                                                 reinterpret_cast<const std::byte*>(&probe));
    const trace::structure& described = balm_structure(&probe);
    for (std::uint32_t k = 0; k < described.member_count; ++k)
        if (described.members[k].offset == offset) return static_cast<int>(k);
    member_not_described(described.name, offset);
}
template <auto Member>
struct field_operation : named_operation {
    static constexpr const char* name = "field";
    using T = typename member_type<typename member_pointer<decltype(Member)>::member>::type;
    static_assert(!std::is_array_v<T>,
                  "Balm: this member is an array; write a function that selects one of its elements");

    static auto on(const dsl::Var<typename member_pointer<decltype(Member)>::structure>& s) {
        const trace::node at = trace::member_of(s.balm_place().address(), member_index<Member>());
        return dsl::Var<typename array_element<T>::type>(
            trace::load(at, trace::constant(scalar::i32, 0), {}));
    }
};

/// The structure with this member replaced.
template <auto Member>
struct set_field_operation : named_operation {
    static constexpr const char* name = "set_field";
    using S = typename member_pointer<decltype(Member)>::structure;

    template <class T>
    static dsl::Var<S> on(const dsl::Var<S>& s, const dsl::Var<T>& member) {
        const trace::node at = trace::member_of(s.balm_place().address(), member_index<Member>());
        trace::store(at, trace::constant(scalar::i32, 0), dsl::detail::result_node(member), {});
        return s;
    }
};

}  // namespace detail

/// A member of each element, a structure that is declared with BALM_STRUCT. The members of a vector or view
/// can be assigned to; the other members keep their values.
///
///     balm::vector<particle> particles(ctx, n);
///     balm::vector<balm::float4> where = balm::field<&particle::pos>(particles);
///     balm::field<&particle::pos>(particles) += dt * balm::field<&particle::vel>(particles);
template <auto Member, detail::structure_array A>
auto field(A&& a) {
    return detail::part_of<detail::field_operation<Member>, detail::set_field_operation<Member>,
                           typename detail::member_pointer<decltype(Member)>::member>(static_cast<A&&>(a));
}

}  // namespace balm
