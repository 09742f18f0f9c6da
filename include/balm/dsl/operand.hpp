#pragma once
// Operands of the kernel language: what operators and built-ins accept, the types to which they convert their
// operands, and how operands are recorded.

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "balm/refused.hpp"
#include "balm/short_vector.hpp"
#include "balm/structure.hpp"
#include "balm/trace.hpp"
#include "balm/types.hpp"

/// Messages for common mistakes with device values.
#define BALM_DEVICE_CONDITION                                                         \
    "Balm: a device value has no value while the kernel is traced; use IF, WHILE or " \
    "select(condition, a, b) instead of if, while and ?:"
#define BALM_DEVICE_VALUE                                                                             \
    "Balm: a device value has no value while the kernel is traced; write Float v or auto v instead "  \
    "of float v; use IF, WHILE or select(condition, a, b) instead of if, while and ?:; index In<T>, " \
    "Array<T, N> or balm::constant_array instead of host arrays"
#define BALM_NOT_A_NUMBER \
    "Balm: enumerations and long double are not device types; cast them: static_cast<int>(red)"
#define BALM_NARROWS                                                                                 \
    "Balm: a device value does not narrow implicitly (floating to integer, integer to bool); write " \
    "cast<int>(value) or value != 0"
#define BALM_VECTOR_TO_SCALAR "Balm: a vector does not convert to a scalar; select a lane: v.x"
#define BALM_NO_ELEMENT                                                                                     \
    "Balm: this cannot be assigned to an element; assign an element of memory, b[i] = a[i], a member of a " \
    "structure, a[i].mass, or a part of a complex number, real(z); pass host values as kernel arguments: "  \
    "In<float> a, Float x"
#define BALM_KEPT_ELEMENT \
    "Balm: an element (x[i]) cannot be kept with auto; write the type (Float v = x[i];) or use x[i] itself"

namespace balm::detail {

template <class R>
class host_call;
template <class A>
inline constexpr bool is_host_call = false;
template <class R>
inline constexpr bool is_host_call<host_call<R>> = true;
/// Whether these are calls with host values only, or host scalars, and at least one is such a call.
template <class... A>
inline constexpr bool are_host_calls = (is_host_call<std::remove_cvref_t<A>> || ...) &&
                                       ((is_host_call<std::remove_cvref_t<A>> ||
                                         scalar_type<std::remove_cvref_t<A>>)&&...);
/// Applies a row of builtins.def to such calls: see balm/kernel/host_call.hpp.
template <builtin B, scalar Strong, scalar Result, class... A>
auto row_of_host_values(const A&... a);

}  // namespace balm::detail

namespace balm::dsl {

/// A variable or value on the device: of a scalar (`Int`, `Float` …), of a short vector (`Float4` …), or of a
/// structure declared with BALM_STRUCT.
template <class T>
class Var;
/// An element of memory, `x[i]`.
template <class T, trace::access Use, space Where>
class Element;

namespace detail {

using balm::trace::location;
using balm::trace::node;

/// A host type whose device values operators accept.
template <class T>
concept number = scalar_type<T> || vector_type<T>;

template <class T>
inline constexpr bool is_var = false;
template <number T>
inline constexpr bool is_var<Var<T>> = true;
/// Proxies of numbers: elements and fields of memory, lanes of a vector.
template <class T>
inline constexpr bool is_proxy = false;
/// Proxies that must not be kept in a variable: `x[i]`.
template <class T>
inline constexpr bool is_element = false;

/// The type of a value loaded from a proxy, or memory, of T: f16 is computed as f32.
template <class T>
struct loaded {
    using type = T;
};
template <>
struct loaded<half> {
    using type = float;
};
template <int N>
struct loaded<vec<half, N>> {
    using type = vec<float, N>;
};
template <class T>
using loaded_type = typename loaded<T>::type;

template <class T>
struct value_type {};
template <class T>
requires is_var<T> || is_proxy<T>
struct value_type<T> {
    using type = typename T::value_type;
};

template <class T>
inline constexpr bool always_false = false;

/// Host types that cannot be operands beside device values: enumerations and long double.
template <class T>
inline constexpr bool is_not_a_number = std::is_enum_v<T> || std::is_same_v<T, long double>;
template <class T>
concept not_a_number = is_not_a_number<std::remove_cvref_t<T>>;

/// The bit pattern of a host scalar as a constant of the device type.
template <scalar_type T>
std::uint64_t bits_of(T value) {
    if constexpr (std::same_as<T, float>)
        return std::bit_cast<std::uint32_t>(value);
    else if constexpr (std::same_as<T, double>)
        return std::bit_cast<std::uint64_t>(value);
    else
        return static_cast<std::uint64_t>(value) & (~std::uint64_t{0} >> (64 - 8 * sizeof(T)));
}
[[noreturn]] void constant_does_not_fit(scalar type, scalar given, std::uint64_t value);
[[noreturn]] void unsigned_constant_does_not_fit(scalar type, std::uint64_t value);

/// Whether T can hold an integer or its bits: -1 for an unsigned type means all ones, as in C++.
template <class T, class H>
constexpr bool fits([[maybe_unused]] H value) {
    if constexpr (std::integral<T> && std::integral<H> && !std::same_as<T, bool> && sizeof(H) > sizeof(T)) {
        const T converted = static_cast<T>(value);
        return static_cast<H>(converted) == value ||
               static_cast<H>(static_cast<std::make_signed_t<T>>(converted)) == value ||
               static_cast<H>(static_cast<std::make_unsigned_t<T>>(converted)) == value;
    }
    return true;
}
/// A host scalar as a constant of type T; an integer that does not fit is refused.
template <scalar_type T, scalar_type H>
node constant_of(H value) {
    if (!fits<T>(value)) constant_does_not_fit(scalar_of<T>, scalar_of<H>, static_cast<std::uint64_t>(value));
    return trace::constant(scalar_of<T>, bits_of(static_cast<T>(value)));
}

/// Refuses a host constant beyond the range of the signed type to which it is converted. Not for operations
/// that take bit patterns.
template <scalar_type T, scalar_type H>
void refuse_wrapping(H value) {
    if (balm::detail::wraps_as<T>(value))
        unsigned_constant_does_not_fit(scalar_of<T>, static_cast<std::uint64_t>(value));
}

}  // namespace detail

/// A device value: a variable, or the result of an operation.
template <class T>
concept device_value = detail::is_var<std::remove_cvref_t<T>> || detail::is_proxy<std::remove_cvref_t<T>>;
/// An operand beside a device value: another one, a host scalar or a host vector.
template <class T>
concept operand = device_value<T> || detail::number<std::remove_cvref_t<T>>;

namespace detail {

template <class T>
constexpr scalar strong_scalar() {
    using plain = std::remove_cvref_t<T>;
    if constexpr (device_value<T>)
        return balm::detail::element_scalar<typename value_type<plain>::type>();
    else if constexpr (vector_type<plain>)
        return balm::detail::element_scalar<plain>();
    else
        return scalar::nothing;
}
/// The number of lanes of an operand.
template <class T>
constexpr int lanes_in() {
    using plain = std::remove_cvref_t<T>;
    if constexpr (device_value<T>)
        return balm::detail::lanes_of<typename value_type<plain>::type>;
    else
        return balm::detail::lanes_of<plain>;
}
/// An operand that is not a vector.
template <class T>
concept scalar_operand = operand<T> && lanes_in<T>()
== 1;

template <class T>
constexpr balm::detail::operand_type type_of_operand() {
    using plain = std::remove_cvref_t<T>;
    if constexpr (device_value<T> || vector_type<plain>)
        return {strong_scalar<T>()};
    else
        return {scalar_of<plain>, true};
}
template <class... A>
constexpr scalar strong_of() {
    return balm::detail::strong_type({type_of_operand<A>()...});
}
template <class T>
constexpr scalar entering_scalar(scalar strong) {
    return balm::detail::entering_type(type_of_operand<T>(), strong);
}
template <builtin B, class T>
constexpr scalar operand_scalar(scalar strong) {
    return balm::detail::entering_type(B, type_of_operand<T>(), strong);
}

/// The node of an operand, at this point of the program.
template <scalar Entering, class A>
node node_of(A&& a) {
    using plain = std::remove_cvref_t<A>;
    if constexpr (is_var<plain>)
        return trace::read(a.node());
    else if constexpr (is_proxy<plain>) {
        static_assert(!is_element<plain> || !std::is_lvalue_reference_v<A>,
                      "Balm: an element (x[i]) cannot be kept with auto; write the type: Float v = x[i];");
        return static_cast<A&&>(a).load();
    } else if constexpr (vector_type<plain>) {
        node lanes[balm::detail::lanes_of<plain>];
        for (int k = 0; k < balm::detail::lanes_of<plain>; ++k)
            lanes[k] = trace::constant(strong_scalar<plain>(), bits_of(a[k]));
        return trace::compose(balm::detail::type_of_element<plain>(), lanes, balm::detail::lanes_of<plain>);
    } else
        return constant_of<typename balm::detail::host_type<Entering>::type>(a);
}

}  // namespace detail

namespace detail {

/// The node of an operand as a truth value: a number counts as true unless it is zero.
template <class A>
node condition_of(A&& a) {
    static_assert(lanes_in<A>() == 1,
                  "Balm: a vector of booleans is not a condition; write any(v) or all(v)");
    constexpr scalar own = entering_scalar<A>(scalar::boolean);
    const node value = node_of<own>(static_cast<A&&>(a));
    if constexpr (own == scalar::boolean) return value;
    const node operands[] = {value, trace::constant(own, 0)};
    return trace::apply(builtin::not_equal, operands, 2);
}

}  // namespace detail

template <scalar S>
using var_of = Var<typename balm::detail::host_type<S>::type>;

namespace detail {

/// The node of an operand of row B.
template <builtin B, scalar Strong, class A>
node row_operand(A&& a) {
    constexpr scalar entering = operand_scalar<B, A>(Strong);
    if constexpr (!device_value<A> && !balm::detail::takes_bit_patterns(B))
        refuse_wrapping<typename balm::detail::host_type<entering>::type>(a);
    return node_of<entering>(static_cast<A&&>(a));
}

/// The host type with this number of lanes of scalar S.
template <scalar S, int Lanes>
struct lanes_type {
    using type = vec<typename balm::detail::host_type<S>::type, Lanes>;
};
template <scalar S>
struct lanes_type<S, 1> {
    using type = typename balm::detail::host_type<S>::type;
};
template <scalar S, int Lanes>
using var_of_lanes = Var<typename lanes_type<S, Lanes>::type>;

template <class... A>
constexpr int common_lanes() {
    int most = 1;
    ((most = lanes_in<A>() > most ? lanes_in<A>() : most), ...);
    return most;
}
/// The element type of the vectors among the operands.
template <class... A>
constexpr scalar lane_scalar() {
    scalar found = scalar::nothing;
    ((found = lanes_in<A>() > 1 && found == scalar::nothing ? strong_scalar<A>() : found), ...);
    return found;
}
/// Whether an operand combines with vectors of this type: a vector of the same type, or a scalar that fits
/// the lanes without narrowing.
template <class A>
constexpr bool fits_lanes(scalar element, int lanes) {
    using plain = std::remove_cvref_t<A>;
    if constexpr (lanes_in<A>() > 1)
        return lanes_in<A>() == lanes && strong_scalar<A>() == element;
    else if constexpr (device_value<A>)
        return kind_of(strong_scalar<A>()) < kind_of(element) ||
               (kind_of(strong_scalar<A>()) == kind_of(element) &&
                size_of(strong_scalar<A>()) <= size_of(element));
    else
        return kind_of(scalar_of<plain>) <= kind_of(element);
}
/// The node of an operand beside vectors of this element type.
template <scalar Element, class A>
node lane_node(A&& a) {
    if constexpr (lanes_in<A>() > 1)
        return node_of<Element>(static_cast<A&&>(a));
    else
        return trace::convert(node_of<entering_scalar<A>(Element)>(static_cast<A&&>(a)), Element);
}

/// The node of an operand of row B on vectors of this element type.
template <builtin B, scalar Element, class A>
node lane_operand(A&& a) {
    if constexpr (scalar_type<std::remove_cvref_t<A>> && !balm::detail::takes_bit_patterns(B))
        refuse_wrapping<typename balm::detail::host_type<Element>::type>(a);
    return lane_node<Element>(static_cast<A&&>(a));
}

template <builtin B, std::size_t... K, class... A>
auto apply_lanes(std::index_sequence<K...>, A&&... a) {
    constexpr std::size_t count = sizeof...(A);
    constexpr int lanes = common_lanes<A...>();
    constexpr scalar element = lane_scalar<A...>();
    static_assert((fits_lanes<A>(balm::detail::lane_operand(B, element, K, count), lanes) && ...),
                  "Balm: a vector combines only with vectors of the same type, and with scalars that its "
                  "lanes can hold; write cast<float4>(v)");
    constexpr scalar operands[] = {balm::detail::lane_operand(B, element, K, count)...};
    constexpr scalar result = balm::detail::resolve_lanes(B, operands, count).result;
    static_assert(result != scalar::nothing,
                  "Balm: this operator or built-in does not take vectors of this type");
    const trace::node nodes[] = {lane_operand<B, operands[K]>(static_cast<A&&>(a))...};
    return var_of_lanes<result, lanes>(trace::apply(B, nodes, count));
}

}  // namespace detail

/// Applies a row of builtins.def to operands, at least one of which is a device value; on vectors it operates
/// lane by lane. If the operands are calls with host values only, so is the result.
template <builtin B, operand... A>
requires(detail::common_lanes<A...>() > 1) auto apply(A&&... a) {
    return detail::apply_lanes<B>(std::index_sequence_for<A...>{}, static_cast<A&&>(a)...);
}
template <builtin B, detail::scalar_operand... A>
auto apply(A&&... a) {
    constexpr scalar strong = detail::strong_of<A...>();
    constexpr scalar result = balm::detail::result_of(B, detail::operand_scalar<B, A>(strong)...);
    static_assert(
        result != scalar::nothing,
        "Balm: this operator or built-in does not take operands of these types (does it require integers?)");
    if constexpr (balm::detail::are_host_calls<A...>) {
        return balm::detail::row_of_host_values<B, strong, result>(a...);
    } else {
        const trace::node nodes[] = {detail::row_operand<B, strong>(static_cast<A&&>(a))...};
        return var_of<result>(trace::apply(B, nodes, sizeof...(A)));
    }
}

/// An index, from any integer, with its C++ line.
struct located_index {
    trace::node value;
    trace::location where;

    template <detail::scalar_operand A>
    located_index(A&& a, const char* file = __builtin_FILE(),  // NOLINT(google-explicit-constructor)
                  std::uint32_t line = __builtin_LINE())
        : value(node_of(static_cast<A&&>(a))), where{file, line} {}

private:
    template <class A>
    static trace::node node_of(A&& a) {
        // A host integer takes 32 bits if it fits, so that indices computed from Int stay 32-bit: tile[y][3].
        if constexpr (!device_value<A> && entering<A>() == scalar::i64)
            if (std::in_range<std::int32_t>(static_cast<std::int64_t>(a)))
                return trace::constant(scalar::i32, detail::bits_of(static_cast<std::int32_t>(a)));
        return detail::node_of<entering<A>()>(static_cast<A&&>(a));
    }
    template <class A>
    static constexpr scalar entering() {
        constexpr scalar s = detail::entering_scalar<A>(scalar::i64);
        static_assert(is_integer(s), "Balm: an index must be an integer");
        return s;
    }
};

/// The left operand of `&&` and `||`. It marks where recording of the right operand begins, so that the right
/// operand is evaluated only if the left one does not decide the result.
struct guard_operand {
    trace::node value;
    trace::position after;

    template <operand A>
    guard_operand(A&& a)  // NOLINT(google-explicit-constructor)
        : value(detail::condition_of(static_cast<A&&>(a))), after(trace::here()) {}
};

}  // namespace balm::dsl
