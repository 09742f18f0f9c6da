#pragma once
// Short vectors on the device, such as Float4. Lanes are members, singly or several in any order, to read and
// to write: `v.x`, `v.zyx = w.xyz`; longer vectors have s0 … s9, sa … sf. Operators and built-ins work lane
// by lane; a scalar beside a vector is broadcast to all lanes.
//
//     Float4 v = positions[i];
//     v.xyz += dt * velocity.xyz;
//     positions[i].w = length(v.xyz);

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "balm/all.hpp"
#include "balm/dsl/value.hpp"

#define BALM_VECTOR_TO_VECTOR                                                                        \
    "Balm: converting a vector to another vector type needs cast<float4>(v); a scalar that fits is " \
    "broadcast to all lanes"

namespace balm::dsl {

namespace detail {

/// The lanes that a name denotes, 4 bits each: "xy", "s0f".
constexpr std::uint64_t lane_order(const char* name) {
    std::uint64_t order = 0;
    const bool numbered = name[0] == 's';
    for (int k = numbered ? 1 : 0, at = 0; name[k] != '\0'; ++k, at += 4) {
        const char c = name[k];
        const int lane = !numbered ? (c == 'w' ? 3 : c - 'x') : c <= '9' ? c - '0' : c - 'a' + 10;
        order |= static_cast<std::uint64_t>(lane) << at;
    }
    return order;
}
/// `count` lanes from `first`, `step` apart.
constexpr std::uint64_t lane_order(int first, int step, int count) {
    std::uint64_t order = 0;
    for (int k = 0; k < count; ++k) order |= static_cast<std::uint64_t>(first + k * step) << 4 * k;
    return order;
}
constexpr bool names_a_lane_twice(std::uint64_t order, int count) {
    for (int a = 0; a < count; ++a)
        for (int b = 0; b < a; ++b)
            if ((order >> 4 * a & 15) == (order >> 4 * b & 15)) return true;
    return false;
}

/// A vector that is a variable.
class variable_holder {
public:
    explicit variable_holder(node n) : node_(n) {}
    const node& variable() const { return node_; }
    node load_lanes(std::uint64_t order, int count) const {
        return trace::swizzle(trace::read(node_), order, count);
    }
    void store_lanes(std::uint64_t order, int, node value) const {
        trace::write(node_, trace::insert(trace::read(node_), order, value));
    }

private:
    node node_;
};

template <class T, int Count>
struct lanes_of_type {
    using type = vec<T, Count>;
};
template <class T>
struct lanes_of_type<T, 1> {
    using type = T;
};

/// Named lanes of a vector: the type of `v.xy`. It is a member of the vector and cannot be copied.
template <class Holder, class T, std::uint64_t Order, int Count>
class Lanes {
public:
    using value_type = typename lanes_of_type<T, Count>::type;

    Lanes(const Lanes&) = delete;
    void operator=(const Lanes& other) const { store(other.load()); }
    template <operand A>
    void operator=(A&& a) const {
        store(converted(static_cast<A&&>(a)));
    }
#define BALM_COMPOUND(symbol, id)                                                           \
    template <operand A>                                                                    \
    void operator symbol(A&& a) const {                                                     \
        store(converted(apply<builtin::id>(Var<value_type>(load()), static_cast<A&&>(a)))); \
    }
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND
    template <class B = T>
    BALM_REFUSED(BALM_DEVICE_CONDITION)
    explicit operator bool() const;
    BALM_REFUSED(BALM_DEVICE_VALUE) operator value_type() const;  // NOLINT(google-explicit-constructor)
    node load() const { return holder_.load_lanes(Order, Count); }

private:
    template <class A>
    node converted(A&& a) const {
        if constexpr (requires { holder_.balm_place(); })
            return holder_.balm_place().template converted<value_type>(static_cast<A&&>(a));
        else
            return Var<value_type>(static_cast<A&&>(a)).node();
    }
    void store(node value) const {
        static_assert(!names_a_lane_twice(Order, Count), "Balm: a lane is written twice: v.xx = …");
        holder_.store_lanes(Order, Count, value);
    }
    Holder holder_;
};

template <class Holder, class T, std::uint64_t Order, int Count>
inline constexpr bool is_proxy<Lanes<Holder, T, Order, Count>> = true;

// One name for each lane, pair, triple and quadruple of the lanes x, y (z, w), repetitions included.
#define BALM_LANE(name, count) Lanes<Holder, T, lane_order(#name), count> name;
#define BALM_A_2(next, n, p) next(n, p##x) next(n, p##y)
#define BALM_B_2(next, n, p) next(n, p##x) next(n, p##y)
#define BALM_C_2(next, n, p) next(n, p##x) next(n, p##y)
#define BALM_D_2(next, n, p) next(n, p##x) next(n, p##y)
#define BALM_A_3(next, n, p) next(n, p##x) next(n, p##y) next(n, p##z)
#define BALM_B_3(next, n, p) next(n, p##x) next(n, p##y) next(n, p##z)
#define BALM_C_3(next, n, p) next(n, p##x) next(n, p##y) next(n, p##z)
#define BALM_D_3(next, n, p) next(n, p##x) next(n, p##y) next(n, p##z)
#define BALM_A_4(next, n, p) next(n, p##x) next(n, p##y) next(n, p##z) next(n, p##w)
#define BALM_B_4(next, n, p) next(n, p##x) next(n, p##y) next(n, p##z) next(n, p##w)
#define BALM_C_4(next, n, p) next(n, p##x) next(n, p##y) next(n, p##z) next(n, p##w)
#define BALM_D_4(next, n, p) next(n, p##x) next(n, p##y) next(n, p##z) next(n, p##w)
#define BALM_QUADRUPLE(n, p) BALM_LANE(p, 4)
#define BALM_TRIPLE(n, p) BALM_LANE(p, 3) BALM_D_##n(BALM_QUADRUPLE, n, p)
#define BALM_PAIR(n, p) BALM_LANE(p, 2) BALM_C_##n(BALM_TRIPLE, n, p)
#define BALM_SINGLE(n, p) BALM_LANE(p, 1) BALM_B_##n(BALM_PAIR, n, p)
#define BALM_HALVES(count)                                                     \
    Lanes<Holder, T, lane_order(0, 1, (count) / 2), (count) / 2> lo;           \
    Lanes<Holder, T, lane_order((count) / 2, 1, (count) / 2), (count) / 2> hi; \
    Lanes<Holder, T, lane_order(0, 2, (count) / 2), (count) / 2> even;         \
    Lanes<Holder, T, lane_order(1, 2, (count) / 2), (count) / 2> odd;
#define BALM_FIRST_EIGHT \
    BALM_LANE(s0, 1)     \
    BALM_LANE(s1, 1)     \
    BALM_LANE(s2, 1) BALM_LANE(s3, 1) BALM_LANE(s4, 1) BALM_LANE(s5, 1) BALM_LANE(s6, 1) BALM_LANE(s7, 1)
#define BALM_LAST_EIGHT \
    BALM_LANE(s8, 1)    \
    BALM_LANE(s9, 1)    \
    BALM_LANE(sa, 1) BALM_LANE(sb, 1) BALM_LANE(sc, 1) BALM_LANE(sd, 1) BALM_LANE(se, 1) BALM_LANE(sf, 1)

/// The named lanes of a vector of N lanes. They share the storage of the holder: each begins with one.
template <class Holder, class T, int N>
struct lane_names;
#define BALM_LANE_NAMES(N, ...)                                         \
    template <class Holder, class T>                                    \
    struct lane_names<Holder, T, N> {                                   \
        union {                                                         \
            Holder holder_;                                             \
            __VA_ARGS__                                                 \
        };                                                              \
        explicit lane_names(const Holder& h) : holder_(h) {}            \
        lane_names(const lane_names& other) : holder_(other.holder_) {} \
        void operator=(const lane_names&) = delete;                     \
    };
BALM_LANE_NAMES(2, BALM_A_2(BALM_SINGLE, 2, ) BALM_HALVES(2))
BALM_LANE_NAMES(3, BALM_A_3(BALM_SINGLE, 3, ))
BALM_LANE_NAMES(4, BALM_A_4(BALM_SINGLE, 4, ) BALM_HALVES(4))
BALM_LANE_NAMES(8, BALM_FIRST_EIGHT BALM_HALVES(8))
BALM_LANE_NAMES(16, BALM_FIRST_EIGHT BALM_LAST_EIGHT BALM_HALVES(16))
#undef BALM_LANE
#undef BALM_A_2
#undef BALM_B_2
#undef BALM_C_2
#undef BALM_D_2
#undef BALM_A_3
#undef BALM_B_3
#undef BALM_C_3
#undef BALM_D_3
#undef BALM_A_4
#undef BALM_B_4
#undef BALM_C_4
#undef BALM_D_4
#undef BALM_QUADRUPLE
#undef BALM_TRIPLE
#undef BALM_PAIR
#undef BALM_SINGLE
#undef BALM_HALVES
#undef BALM_FIRST_EIGHT
#undef BALM_LAST_EIGHT
#undef BALM_LANE_NAMES

/// The value of a vector from an operand that converts to one.
template <vector_type V, class A>
node vector_node(A&& a) {
    using plain = std::remove_cvref_t<A>;
    constexpr scalar element = balm::detail::element_scalar<V>();
    static_assert(fits_lanes<A>(element, balm::detail::lanes_of<V>), BALM_VECTOR_TO_VECTOR);
    if constexpr (scalar_type<plain> && std::integral<plain> && !std::same_as<plain, bool>) {
        const node lane = constant_of<typename V::value_type>(a);
        return trace::compose(balm::detail::type_of_element<V>(), &lane, 1);
    } else {
        const node value = lane_node<element>(static_cast<A&&>(a));
        return trace::compose(balm::detail::type_of_element<V>(), &value, 1);
    }
}
/// Concatenates scalars and vectors into a vector.
template <vector_type V, class... A>
node vector_of_parts(A&&... a) {
    static_assert((lanes_in<A>() + ...) == balm::detail::lanes_of<V>,
                  "Balm: the arguments must have exactly as many lanes in total as the vector");
    constexpr scalar element = balm::detail::element_scalar<V>();
    const node parts[] = {lane_node<element>(static_cast<A&&>(a))...};
    return trace::compose(balm::detail::type_of_element<V>(), parts, sizeof...(A));
}

}  // namespace detail

/// A short vector.
template <vector_type V>
class [[maybe_unused]] Var<V>
    : public detail::lane_names<detail::variable_holder, typename V::value_type, balm::detail::lanes_of<V>> {
    using names =
        detail::lane_names<detail::variable_holder, typename V::value_type, balm::detail::lanes_of<V>>;
    static constexpr int N = balm::detail::lanes_of<V>;
    static_assert(!std::same_as<typename V::value_type, half>,
                  "Balm: half is a storage type (In<half4>, Out<half4> …); kernels compute with Float4");

public:
    using value_type = V;
    using lane_type = typename V::value_type;

    Var() : Var(lane_type(0)) {}
    Var(const Var& other) : names(detail::variable_holder(trace::read(other.node()))) {}
    template <operand A>
    Var(A&& a)  // NOLINT(google-explicit-constructor)
        : names(detail::variable_holder(detail::vector_node<V>(static_cast<A&&>(a)))) {}
    /// From scalars and shorter vectors, in order: `Float4(v.xyz, 1.f)`.
    template <operand A, operand B, operand... C>
    Var(A&& a, B&& b, C&&... c)
        : names(detail::variable_holder(detail::vector_of_parts<V>(static_cast<A&&>(a), static_cast<B&&>(b),
                                                                   static_cast<C&&>(c)...))) {}
    explicit Var(trace::node result) : names(detail::variable_holder(result)) {}

    Var& operator=(const Var& other) & {
        trace::write(node(), trace::read(other.node()));
        return *this;
    }
    template <operand A>
    Var& operator=(A&& a) & {
        trace::write(node(), detail::vector_node<V>(static_cast<A&&>(a)));
        return *this;
    }
    template <operand A>
    void operator=(A&&) && {
        static_assert(detail::always_false<A>,
                      "Balm: this is a value, not a variable: In<T> and constants are read-only; write to "
                      "InOut<T> or Out<T>");
    }
#define BALM_COMPOUND(symbol, id)                                           \
    template <operand A>                                                    \
    Var& operator symbol(A&& a)& {                                          \
        return *this = Var(apply<builtin::id>(*this, static_cast<A&&>(a))); \
    }
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND

    /// A lane by index, which is a host or device value. Throws trace_error for a host index that is out of
    /// range; a device index that is out of range selects the first lane.
    template <detail::scalar_operand I>
    Var<lane_type> operator[](I&& index) const {
        if constexpr (std::integral<std::remove_cvref_t<I>>) {
            trace::check_lane(static_cast<std::int64_t>(index), N);
            return lane(static_cast<std::uint64_t>(index));
        } else {
            const Var<std::int64_t> which(static_cast<I&&>(index));
            Var<lane_type> chosen = lane(0);
            for (std::uint64_t k = 1; k < N; ++k)
                chosen = Var<lane_type>(select(which == static_cast<std::int64_t>(k), lane(k), chosen));
            return chosen;
        }
    }
    /// Writes a lane by index. Throws trace_error for a host index that is out of range; a device index that
    /// is out of range writes nothing.
    template <detail::scalar_operand I, operand A>
    void set(I&& index, A&& value) {
        if constexpr (std::integral<std::remove_cvref_t<I>>)
            trace::check_lane(static_cast<std::int64_t>(index), N);
        const Var<std::int64_t> which(static_cast<I&&>(index));
        const Var<lane_type> written(static_cast<A&&>(value));
        Var changed(*this);
        for (std::uint64_t k = 0; k < N; ++k) {
            const Var<lane_type> kept(select(which == static_cast<std::int64_t>(k), written, lane(k)));
            changed = Var(trace::insert(trace::read(changed.node()), k, trace::read(kept.node())));
        }
        *this = changed;
    }

    template <class B = V>
    BALM_REFUSED(
        "Balm: a device value has no value while the kernel is traced; use IF (any(v)), WHILE or "
        "select(condition, a, b) instead of if, while and ?:")
    explicit
    operator bool() const;

    const trace::node& node() const { return this->holder_.variable(); }

private:
    Var<lane_type> lane(std::uint64_t k) const {
        return Var<lane_type>(trace::swizzle(trace::read(node()), k, 1));
    }
};

#define BALM_VECTORS(Name, name)        \
    using Name##2 = Var<balm::name##2>; \
    using Name##3 = Var<balm::name##3>; \
    using Name##4 = Var<balm::name##4>; \
    using Name##8 = Var<balm::name##8>; \
    using Name##16 = Var<balm::name##16>;
BALM_VECTORS(Bool, bool)
BALM_VECTORS(Char, char)
BALM_VECTORS(UChar, uchar)
BALM_VECTORS(Short, short)
BALM_VECTORS(UShort, ushort)
BALM_VECTORS(Int, int)
BALM_VECTORS(UInt, uint)
BALM_VECTORS(Long, long)
BALM_VECTORS(ULong, ulong)
BALM_VECTORS(Float, float)
BALM_VECTORS(Double, double)
#undef BALM_VECTORS

namespace detail {

/// A vector in memory.
template <trace::access Use>
class memory_holder {
public:
    explicit memory_holder(const memory_place& place) : place_(place) {}
    const memory_place& balm_place() const { return place_; }
    node load_lanes(std::uint64_t order, int count) const {
        static_assert(may_read<Use>, "Balm: Out<T> is write-only; use InOut<T> to read and write");
        return place_.load_lanes(order, count);
    }
    void store_lanes(std::uint64_t order, int count, node value) const {
        static_assert(may_write<Use>, "Balm: this memory is read-only");
        place_.store_lanes(order, count, value);
    }

private:
    memory_place place_;
};

}  // namespace detail

/// An element that is a vector: `out[i] = v`, `out[i].xy = w`.
template <vector_type V, trace::access Use, space Where>
class Element<V, Use, Where>
    : public detail::lane_names<detail::memory_holder<Use>, typename detail::loaded_type<V>::value_type,
                                balm::detail::lanes_of<V>> {
    using names = detail::lane_names<detail::memory_holder<Use>, typename detail::loaded_type<V>::value_type,
                                     balm::detail::lanes_of<V>>;

public:
    using element_type = V;
    using value_type = detail::loaded_type<V>;

    explicit Element(const detail::memory_place& place) : names(detail::memory_holder<Use>(place)) {}
    Element(const Element&) = delete;

    void operator=(Element&& other) && { store(static_cast<Element&&>(other).load()); }
    template <operand A>
    void operator=(A&& a) && {
        store(Var<value_type>(static_cast<A&&>(a)).node());
    }
    template <operand A>
    requires(!detail::fits_lanes<A>(balm::detail::element_scalar<value_type>(), balm::detail::lanes_of<V>))
        BALM_REFUSED(BALM_VECTOR_TO_VECTOR)
    void operator=(A&& a) &&;
    template <class A>
    requires(!operand<A>) BALM_REFUSED(BALM_NO_ELEMENT)
    void operator=(const A& a) &&;
#define BALM_COMPOUND(symbol, id)                                                                         \
    template <operand A>                                                                                  \
    void operator symbol(A&& a)&& {                                                                       \
        store(Var<value_type>(apply<builtin::id>(Var<value_type>(value()), static_cast<A&&>(a))).node()); \
    }
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND

    trace::node load() && { return value(); }
    const detail::memory_place& balm_place() const { return this->holder_.balm_place(); }

private:
    trace::node value() const {
        static_assert(detail::may_read<Use>, "Balm: Out<T> is write-only; use InOut<T> to read and write");
        return balm_place().load();
    }
    void store(trace::node stored) const {
        static_assert(detail::may_write<Use>, "Balm: this memory is read-only");
        balm_place().store(stored);
    }
};

namespace detail {

template <int N, trace::access Use, space Where>
inline constexpr bool is_proxy<Element<vec<half, N>, Use, Where>> = true;

template <class A>
concept vector_operand = device_value<A> && lanes_in<A>()
> 1;
template <class A>
concept truth_lanes = vector_operand<A> && strong_scalar<A>()
== scalar::boolean;
/// A vector as a variable, which has named lanes.
template <class A>
auto as_vector(A&& a) {
    constexpr int lanes = lanes_in<A>();
    constexpr scalar element = strong_scalar<A>();
    return var_of_lanes<element, lanes>(node_of<element>(static_cast<A&&>(a)));
}
/// lane 0 (op) lane 1 (op) …
template <builtin B, class V>
auto across_lanes(const Var<V>& v) {
    auto result = v[0];
    for (int k = 1; k < balm::detail::lanes_of<V>; ++k)
        result = std::remove_cvref_t<decltype(result)>(apply<B>(result, v[k]));
    return result;
}

}  // namespace detail

/// Whether any lane, or every lane, of a boolean vector is true.
template <detail::truth_lanes A>
Bool any(A&& v) {
    return detail::across_lanes<builtin::bit_or>(detail::as_vector(static_cast<A&&>(v)));
}
template <detail::truth_lanes A>
Bool every(A&& v) {
    return detail::across_lanes<builtin::bit_and>(detail::as_vector(static_cast<A&&>(v)));
}
using balm::all;  // all(v) is every(v)

/// The sum of the products of the lanes of two vectors, in the order of the lanes; for floating-point lanes
/// fma(a.w, b.w, fma(a.z, b.z, fma(a.x, b.x, a.y * b.y))) on every device.
template <class A, class B>
requires device_operands<A, B> &&(detail::common_lanes<A, B>() > 1) auto dot(A&& a, B&& b) {
    const auto x = detail::as_vector(static_cast<A&&>(a));
    const auto y = detail::as_vector(static_cast<B&&>(b));
    auto sum = x[0] * y[0];
    for (int k = 1; k < detail::common_lanes<A, B>(); ++k) sum = sum + x[k] * y[k];
    return sum;
}
namespace detail {

/// A power of two by which a vector is multiplied before its lanes are squared, and its inverse: 1, unless
/// squares would overflow or lose digits.
template <class T>
struct scale_of_squares {
    template <class V>
    explicit scale_of_squares(const Var<V>& v) {
        constexpr int range = std::numeric_limits<T>::max_exponent;
        constexpr T up = power_of_two(3 * range / 4), down = 1 / up;
        Var<T> largest = fabs(v[0]);
        for (int k = 1; k < balm::detail::lanes_of<V>; ++k) largest = fmax(largest, Var<T>(fabs(v[k])));
        const Bool is_large = largest > power_of_two(range / 2 - 4);
        const Bool is_small = largest < 1 / power_of_two(3 * range / 8);
        factor = select(is_large, down, Var<T>(select(is_small, up, T(1))));
        inverse = select(is_large, up, Var<T>(select(is_small, down, T(1))));
    }
    static constexpr T power_of_two(int exponent) {
        T power = 1;
        for (; exponent > 0; --exponent) power *= 2;
        return power;
    }

    Var<T> factor, inverse;
};

}  // namespace detail

/// The square root of dot(v, v), of floating-point vectors. Squares that overflow or lose digits are scaled,
/// as OpenCL C requires; fast_length does not.
template <detail::vector_operand A>
auto length(A&& a) {
    const auto v = detail::as_vector(static_cast<A&&>(a));
    if constexpr (is_floating(detail::strong_scalar<A>())) {
        using V = typename std::remove_cvref_t<decltype(v)>::value_type;
        const detail::scale_of_squares<typename V::value_type> scale(v);
        const auto w = v * scale.factor;
        return sqrt(dot(w, w)) * scale.inverse;
    } else {
        return sqrt(dot(v, v));
    }
}
/// length(a - b)
template <class A, class B>
requires device_operands<A, B> &&(detail::common_lanes<A, B>() > 1) auto distance(A&& a, B&& b) {
    return length(apply<builtin::sub>(static_cast<A&&>(a), static_cast<B&&>(b)));
}
/// The vector of length 1 in the same direction; a vector of zeros is returned unchanged.
template <detail::vector_operand A>
auto normalize(A&& a) {
    const auto given = detail::as_vector(static_cast<A&&>(a));
    using T = std::remove_cvref_t<decltype(given)>;
    const detail::scale_of_squares<typename T::value_type::value_type> scale(given);
    const T v(given * scale.factor);
    const auto l = sqrt(dot(v, v));
    return T(select(l == 0, given, T(v / l)));
}
/// OpenCL C's fast_ variants, without scaling: squares that overflow make the length infinite, and squares
/// that underflow make it 0.
template <detail::vector_operand A>
auto fast_length(A&& a) {
    const auto v = detail::as_vector(static_cast<A&&>(a));
    return sqrt(dot(v, v));
}
template <class A, class B>
requires device_operands<A, B> &&(detail::common_lanes<A, B>() > 1) auto fast_distance(A&& a, B&& b) {
    return fast_length(apply<builtin::sub>(static_cast<A&&>(a), static_cast<B&&>(b)));
}
template <detail::vector_operand A>
auto fast_normalize(A&& a) {
    const auto v = detail::as_vector(static_cast<A&&>(a));
    const auto l = fast_length(v);
    using T = std::remove_cvref_t<decltype(v)>;
    return T(select(l == 0, v, T(v / l)));
}
/// The cross product of x, y, z; with four lanes, the last is 0.
template <class A, class B>
requires device_operands<A, B> &&
    (detail::common_lanes<A, B>() == 3 || detail::common_lanes<A, B>() == 4) auto cross(A&& left, B&& right) {
    const auto a = detail::as_vector(static_cast<A&&>(left));
    const auto b = detail::as_vector(static_cast<B&&>(right));
    using V = std::remove_cvref_t<decltype(a)>;
    const auto p = a.yzx * b.zxy - a.zxy * b.yzx;
    if constexpr (detail::common_lanes<A, B>() == 4)
        return V(p, 0);
    else
        return V(p);
}

}  // namespace balm::dsl
