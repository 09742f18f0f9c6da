#pragma once
// Device values: `Int`, `Float` … record what is done with them. A value read from a variable is the value
// at that point of the program; copies and moves copy; `Int x;` is zero.

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "balm/short_vector.hpp"
#include "balm/structure.hpp"
#include "balm/trace.hpp"
#include "balm/types.hpp"

namespace balm::detail {

template <class R>
class host_call;
template <class A>
inline constexpr bool is_host_call = false;
template <class R>
inline constexpr bool is_host_call<host_call<R>> = true;
/// Calls with host values alone, and host scalars beside them.
template <class... A>
inline constexpr bool are_host_calls = (is_host_call<std::remove_cvref_t<A>> || ...) &&
                                       ((is_host_call<std::remove_cvref_t<A>> ||
                                         scalar_type<std::remove_cvref_t<A>>)&&...);
/// A row on these: see balm/kernel.hpp.
template <builtin B, scalar Strong, scalar Result, class... A>
auto row_of_host_values(const A&... a);

}  // namespace balm::detail

namespace balm::dsl {

/// A variable or value on the device: of a scalar (`Int`, `Float` …), of a short vector (`Float4` …), or of a
/// structure that BALM_STRUCT has described.
template <class T>
class Var;
/// What stands at `x[i]`.
template <class T, trace::access Use, space Where>
class Element;

namespace detail {

using balm::trace::location;
using balm::trace::node;

/// A host type for which there are device values that operators take.
template <class T>
concept number = scalar_type<T> || vector_type<T>;

template <class T>
inline constexpr bool is_var = false;
template <number T>
inline constexpr bool is_var<Var<T>> = true;
/// Proxies of numbers, by what they are: elements and fields of memory, lanes of a vector.
template <class T>
inline constexpr bool is_proxy = false;
/// Proxies that must not be kept: `x[i]`.
template <class T>
inline constexpr bool is_element = false;

/// What a proxy, or memory, of T gives when it is read: f16 is computed with as f32.
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
[[noreturn]] void constant_does_not_fit(scalar type);
[[noreturn]] void unsigned_constant_does_not_fit(scalar type, std::uint64_t value);

/// Whether an integer is one of T, or its bits are: -1 for an unsigned type means all ones as in C++.
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
    if (!fits<T>(value)) constant_does_not_fit(scalar_of<T>);
    return trace::constant(scalar_of<T>, bits_of(static_cast<T>(value)));
}

/// Refuses an unsigned host constant beyond the range of the signed type that it takes, where its number
/// counts: `Int x; x > 3000000000u` would compare with a negative number.
template <scalar_type T, scalar_type H>
void refuse_wrapping([[maybe_unused]] H value) {
    if constexpr (std::signed_integral<T> && std::integral<H> && sizeof(H) >= sizeof(T))
        if (value > H{0} &&
            static_cast<std::uint64_t>(value) > static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
            unsigned_constant_does_not_fit(scalar_of<T>, static_cast<std::uint64_t>(value));
}

}  // namespace detail

/// A device value: a variable, or the result of an operation.
template <class T>
concept device_value = detail::is_var<std::remove_cvref_t<T>> || detail::is_proxy<std::remove_cvref_t<T>>;
/// What may stand beside a device value: another one, a host scalar, or a host vector.
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
/// The lanes of an operand.
template <class T>
constexpr int lanes_in() {
    using plain = std::remove_cvref_t<T>;
    if constexpr (device_value<T>)
        return balm::detail::lanes_of<typename value_type<plain>::type>;
    else
        return balm::detail::lanes_of<plain>;
}
/// An operand that is no vector.
template <class T>
concept scalar_operand = operand<T> && lanes_in<T>()
== 1;

constexpr scalar common_strong(scalar a, scalar b) {
    return a == scalar::nothing ? b : b == scalar::nothing || a == b ? a : common_scalar(a, b);
}
/// The scalar type with which an operand enters an operation among operands of the strong type.
template <class T>
constexpr scalar entering_scalar(scalar strong) {
    using plain = std::remove_cvref_t<T>;
    if constexpr (device_value<T> || vector_type<plain>)
        return strong_scalar<T>();
    else
        return kind_of(scalar_of<plain>) <= kind_of(strong) ? strong : scalar_of<plain>;
}
/// The same for an operator or built-in, where small integers mostly count as i32: `Char x; x + 200` is what
/// C++ says.
template <builtin B, class T>
constexpr scalar operand_scalar(scalar strong) {
    const scalar entering = entering_scalar<T>(strong);
    return device_value<T> ? entering : balm::detail::weak_operand(B, entering);
}
template <class... A>
constexpr scalar strong_of() {
    scalar strong = scalar::nothing;
    ((strong = common_strong(strong, strong_scalar<A>())), ...);
    return strong;
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
                  "Balm: a vector of truth values is no condition; write any(v) or all(v)");
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

/// The node of a row's operand.
template <builtin B, scalar Strong, class A>
node row_operand(A&& a) {
    constexpr scalar entering = operand_scalar<B, A>(Strong);
    if constexpr (!device_value<A> && !balm::detail::takes_bit_patterns(B))
        refuse_wrapping<typename balm::detail::host_type<entering>::type>(a);
    return node_of<entering>(static_cast<A&&>(a));
}

/// The host type of S in so many lanes.
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
/// Whether an operand goes with vectors of this type: the same, or a scalar that it holds without narrowing.
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
/// An operand among vectors of this element type.
template <scalar Element, class A>
node lane_node(A&& a) {
    if constexpr (lanes_in<A>() > 1)
        return node_of<Element>(static_cast<A&&>(a));
    else
        return trace::convert(node_of<entering_scalar<A>(Element)>(static_cast<A&&>(a)), Element);
}

/// The node of operand K of a row on vectors of this element type.
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
                  "Balm: vectors meet only vectors of the same type, and scalars that their lanes can hold; "
                  "write cast<float4>(v)");
    constexpr scalar operands[] = {balm::detail::lane_operand(B, element, K, count)...};
    constexpr scalar result = balm::detail::resolve_lanes(B, operands, count).result;
    static_assert(result != scalar::nothing,
                  "Balm: this operator or built-in does not take vectors of this type");
    const trace::node nodes[] = {lane_operand<B, operands[K]>(static_cast<A&&>(a))...};
    return var_of_lanes<result, lanes>(trace::apply(B, nodes, count));
}

}  // namespace detail

/// Applies a row of builtins.def to operands, at least one of which is a device value; to vectors, lane by
/// lane. Calls with host values alone give another value of host values alone.
template <builtin B, operand... A>
requires(detail::common_lanes<A...>() > 1) auto apply(A&&... a) {
    return detail::apply_lanes<B>(std::index_sequence_for<A...>{}, static_cast<A&&>(a)...);
}
template <builtin B, detail::scalar_operand... A>
auto apply(A&&... a) {
    constexpr scalar strong = detail::strong_of<A...>();
    constexpr scalar result = balm::detail::result_of(B, detail::operand_scalar<B, A>(strong)...);
    static_assert(result != scalar::nothing,
                  "Balm: this operator or built-in does not take operands of these types (integers wanted?)");
    if constexpr (balm::detail::are_host_calls<A...>) {
        return balm::detail::row_of_host_values<B, strong, result>(a...);
    } else {
        const trace::node nodes[] = {detail::row_operand<B, strong>(static_cast<A&&>(a))...};
        return var_of<result>(trace::apply(B, nodes, sizeof...(A)));
    }
}

/// An index with its C++ line; any integer serves.
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
        // A host number has 32 bits where they do, so that indices made of Int stay so: tile[y][3].
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

/// The left operand of `&&` and `||`: it remembers where the right one begins to be recorded, so that the
/// right one is evaluated only where the left one asks for it.
struct guard_operand {
    trace::node value;
    trace::position after;

    template <operand A>
    guard_operand(A&& a)  // NOLINT(google-explicit-constructor)
        : value(detail::condition_of(static_cast<A&&>(a))), after(trace::here()) {}
};

/// A scalar.
template <scalar_type T>
class [[maybe_unused]] Var<T> {
public:
    using value_type = T;
    static_assert(std::same_as<T, canonical<T>>, "Balm: write Var<balm::canonical<T>>");

    Var() : node_(trace::constant(scalar_of<T>, 0)) {}
    Var(const Var& other) : node_(trace::read(other.node_)) {}
    template <operand A>
    Var(A&& a) : node_(converted(static_cast<A&&>(a))) {}  // NOLINT(google-explicit-constructor)
    explicit Var(trace::node result) : node_(result) {}

    Var& operator=(const Var& other) & {
        trace::write(node_, trace::read(other.node_));
        return *this;
    }
    template <operand A>
    Var& operator=(A&& a) & {
        trace::write(node_, converted(static_cast<A&&>(a)));
        return *this;
    }
    template <operand A>
    void operator=(A&&) && {
        static_assert(
            detail::always_false<A>,
            "Balm: this is a value, not a variable: In<T> and constants are only read; write to Mixed<T> or "
            "Out<T>");
    }

#define BALM_COMPOUND(symbol, id)                                           \
    template <operand A>                                                    \
    Var& operator symbol(A&& a)& {                                          \
        return *this = Var(apply<builtin::id>(*this, static_cast<A&&>(a))); \
    }
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND
    Var& operator++() & { return *this += T(1); }
    Var& operator--() & { return *this -= T(1); }
    Var operator++(int) & {
        Var before(*this);
        ++*this;
        return before;
    }
    Var operator--(int) & {
        Var before(*this);
        --*this;
        return before;
    }

    template <class B = T>
    explicit operator bool() const {
        static_assert(detail::always_false<B>,
                      "Balm: a device value has no value while the kernel is traced; use IF, WHILE or "
                      "select(condition, a, b) instead of if, while and ?:");
        return false;
    }

    const trace::node& node() const { return node_; }

    // Non-template friends: preferred to any function template of the same name that a
    // `using namespace std` brings in.
    friend Var min(const Var& a, const Var& b) { return apply<builtin::min>(a, b).template as<T>(); }
    friend Var max(const Var& a, const Var& b) { return apply<builtin::max>(a, b).template as<T>(); }
    friend Var clamp(const Var& x, const Var& low, const Var& high) {
        return apply<builtin::clamp>(x, low, high).template as<T>();
    }

    template <scalar_type U>
    Var<canonical<U>> as() const {
        return Var<canonical<U>>(trace::convert(trace::read(node_), scalar_of<U>));
    }

private:
    template <class A>
    static trace::node converted(A&& a) {
        using plain = std::remove_cvref_t<A>;
        if constexpr (scalar_type<plain>) {
            static_assert(kind_of(scalar_of<plain>) <= kind_of(scalar_of<T>),
                          "Balm: this would narrow; write cast<T>(value)");
            return detail::constant_of<T>(a);
        } else {
            static_assert(detail::lanes_in<A>() == 1,
                          "Balm: a vector does not become a scalar; name a lane: v.x");
            using from = typename detail::value_type<plain>::type;
            static_assert(kind_of(scalar_of<from>) <= kind_of(scalar_of<T>),
                          "Balm: a device value does not narrow to a variable of a smaller kind by itself "
                          "(floating to integer, integer to bool); write cast<int>(value) or value != 0");
            return trace::convert(detail::node_of<scalar_of<from>>(static_cast<A&&>(a)), scalar_of<T>);
        }
    }

    trace::node node_;
};

using Bool = Var<bool>;
using Char = Var<std::int8_t>;
using UChar = Var<std::uint8_t>;
using Short = Var<std::int16_t>;
using UShort = Var<std::uint16_t>;
using Int = Var<std::int32_t>;
using UInt = Var<std::uint32_t>;
using Long = Var<std::int64_t>;
using ULong = Var<std::uint64_t>;
using Float = Var<float>;
using Double = Var<double>;
/// What global_id and its kin give: 64 bits, signed, so that `i - 1` of the first item is -1.
using Index = Var<std::int64_t>;

namespace detail {

/// An address and what is done there.
class memory_place {
public:
    memory_place(node pointer, node index, location where, bool is_volatile = false)
        : pointer_(pointer), index_(index), where_(where), is_volatile_(is_volatile) {}

    node load() const { return trace::load(pointer_, index_, where_, is_volatile_); }
    void store(node value) const { trace::store(pointer_, index_, value, where_, is_volatile_); }
    /// An atomic operation; gives what was there.
    node atomic(trace::atomic_op what, const node* values, std::size_t count, location where) const {
        return trace::atomic(what, pointer_, index_, values, count, where);
    }
    /// pointer + index
    node address() const { return trace::offset(pointer_, index_); }

    node load_lanes(std::uint64_t order, int count) const {
        if (count == 1) return trace::load(lane(order & 15), trace::constant(scalar::i32, 0), where_);
        return trace::swizzle(load(), order, count);
    }
    /// Writes the lanes named, and touches no other.
    void store_lanes(std::uint64_t order, int count, node value) const {
        for (int k = 0; k < count; ++k) {
            const node one = count == 1 ? value : trace::swizzle(value, static_cast<std::uint64_t>(k), 1);
            trace::store(lane(order >> 4 * k & 15), trace::constant(scalar::i32, 0), one, where_);
        }
    }

private:
    node lane(std::uint64_t k) const { return trace::member_of(address(), static_cast<int>(k)); }

    node pointer_;
    node index_;
    location where_;
    bool is_volatile_;
};

template <trace::access Use>
inline constexpr bool may_read = Use != trace::access::out;
template <trace::access Use>
inline constexpr bool may_write = Use != trace::access::in;

}  // namespace detail

/// An element of memory, `x[i]`: converts and assigns only where it is written, so that a kept one cannot
/// be misused later.
template <class T, trace::access Use, space Where>
requires scalar_type<T> || std::same_as<T, half>
class Element<T, Use, Where> {
public:
    using element_type = T;
    using value_type = detail::loaded_type<T>;

    explicit Element(const detail::memory_place& place) : place_(place) {}
    Element(const Element&) = delete;

    void operator=(Element&& other) && { store(static_cast<Element&&>(other).load()); }
    template <operand A>
    void operator=(A&& a) && {
        store(Var<value_type>(static_cast<A&&>(a)).node());
    }

#define BALM_COMPOUND(symbol, id)                                                                         \
    template <operand A>                                                                                  \
    void operator symbol(A&& a)&& {                                                                       \
        store(Var<value_type>(apply<builtin::id>(Var<value_type>(value()), static_cast<A&&>(a))).node()); \
    }
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND
    /// `++x[i]` gives the new value, `x[i]++` the one before.
    Var<value_type> operator++() && { return stepped<builtin::add>().after; }
    Var<value_type> operator--() && { return stepped<builtin::sub>().after; }
    Var<value_type> operator++(int) && { return stepped<builtin::add>().before; }
    Var<value_type> operator--(int) && { return stepped<builtin::sub>().before; }

    template <class B = T>
    explicit operator bool() const {
        static_assert(detail::always_false<B>,
                      "Balm: a device value has no value while the kernel is traced; use IF, WHILE or "
                      "select(condition, a, b) instead of if, while and ?:");
        return false;
    }

    trace::node load() && { return value(); }
    const detail::memory_place& balm_place() const { return place_; }

    friend Var<value_type> min(Element&& a, Element&& b) {
        return Var<value_type>(apply<builtin::min>(static_cast<Element&&>(a), static_cast<Element&&>(b)));
    }
    friend Var<value_type> max(Element&& a, Element&& b) {
        return Var<value_type>(apply<builtin::max>(static_cast<Element&&>(a), static_cast<Element&&>(b)));
    }

private:
    trace::node value() const {
        static_assert(detail::may_read<Use>, "Balm: Out<T> is write-only; use Mixed<T> to read and write");
        return place_.load();
    }
    void store(trace::node stored) const {
        static_assert(detail::may_write<Use>, "Balm: this memory is only read");
        place_.store(stored);
    }

    struct step_values {
        Var<value_type> before, after;
    };
    template <builtin B>
    step_values stepped() {
        static_assert(!std::same_as<T, bool>, "Balm: a Bool cannot be counted up or down");
        const Var<value_type> before(value());
        const step_values values{before, Var<value_type>(apply<B>(before, value_type(1)))};
        store(values.after.node());
        return values;
    }

    detail::memory_place place_;
};

namespace detail {

template <number T, trace::access Use, space Where>
inline constexpr bool is_proxy<Element<T, Use, Where>> = true;
template <trace::access Use, space Where>
inline constexpr bool is_proxy<Element<half, Use, Where>> = true;
template <class T, trace::access Use, space Where>
inline constexpr bool is_element<Element<T, Use, Where>> = true;

}  // namespace detail

template <class... A>
concept device_operands = (operand<A> && ...) && (device_value<A> || ...);

#define BALM_BINARY(symbol, id)                                              \
    template <class L, class R>                                              \
    requires device_operands<L, R>                                           \
    auto operator symbol(L&& l, R&& r) {                                     \
        return apply<builtin::id>(static_cast<L&&>(l), static_cast<R&&>(r)); \
    }
BALM_BINARY_OPERATORS(BALM_BINARY)
#undef BALM_BINARY

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

/// The right operand is evaluated only where the left one leaves the answer open. It is taken as it is,
/// which makes these better matches than the built-in operators on bool.
template <operand R>
Bool operator&&(const guard_operand& l, R&& r) {
    return Bool(trace::guard(true, l.value, l.after, detail::condition_of(static_cast<R&&>(r))));
}
template <operand R>
Bool operator||(const guard_operand& l, R&& r) {
    return Bool(trace::guard(false, l.value, l.after, detail::condition_of(static_cast<R&&>(r))));
}

/// With a host value on one side nothing is left to guard: it decides while the kernel is traced.
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

/// The built-in functions: one template a row of builtins.def, named as the row.
#define BALM_DEFINE_1(id)                               \
    template <device_value A>                           \
    auto id(A&& a) {                                    \
        return apply<builtin::id>(static_cast<A&&>(a)); \
    }
#define BALM_DEFINE_2(id)          \
    template <class A, class B>    \
    requires device_operands<A, B> \
    auto id(A&& a, B&& b) { return apply<builtin::id>(static_cast<A&&>(a), static_cast<B&&>(b)); }
#define BALM_DEFINE_3(id)                                                                         \
    template <class A, class B, class C>                                                          \
    requires device_operands<A, B, C>                                                             \
    auto id(A&& a, B&& b, C&& c) {                                                                \
        return apply<builtin::id>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c)); \
    }
#define BALM_BUILTIN(id, arity, ...) BALM_DEFINE_##arity(id)
#include "balm/builtins.def"
#undef BALM_DEFINE_1
#undef BALM_DEFINE_2
#undef BALM_DEFINE_3

/// The value as another type, as C++ converts it; floating to integer saturates and turns NaN into 0. A
/// vector lane by lane: `cast<float>(v)` and `cast<float4>(v)` say the same of an Int4.
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

/// The type of a branch of select: as it enters beside the other, or its own where both are host scalars.
template <class A>
constexpr scalar branch_scalar(scalar strong) {
    if constexpr (scalar_type<std::remove_cvref_t<A>>)
        if (strong == scalar::nothing) return scalar_of<std::remove_cvref_t<A>>;
    return entering_scalar<A>(strong);
}
template <scalar Entering, class A>
node branch_node(A&& a, scalar result) {
    if constexpr (!device_value<A>) refuse_wrapping<typename balm::detail::host_type<Entering>::type>(a);
    return trace::convert(node_of<Entering>(static_cast<A&&>(a)), result);
}

/// Lane by lane where the condition is a vector, else one vector or the other.
template <class C, class A, class B>
auto select_lanes(C&& condition, A&& if_true, B&& if_false) {
    constexpr int lanes = common_lanes<C, A, B>();
    constexpr scalar given = lane_scalar<A, B>();
    constexpr scalar strong = given != scalar::nothing ? given : strong_of<A, B>();
    constexpr scalar element = strong != scalar::nothing
                                   ? strong
                                   : common_scalar(branch_scalar<A>(strong), branch_scalar<B>(strong));
    static_assert(
        fits_lanes<A>(element, lanes) && fits_lanes<B>(element, lanes) &&
            (lanes_in<C>() == 1 || (lanes_in<C>() == lanes && strong_scalar<C>() == scalar::boolean)),
        "Balm: select takes two vectors of one type, or scalars, and a truth value or a vector of as "
        "many");
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
    constexpr scalar a = detail::branch_scalar<A>(strong), b = detail::branch_scalar<B>(strong);
    constexpr scalar result = a == b ? a : common_scalar(a, b);
    const trace::node test = detail::condition_of(static_cast<C&&>(condition));
    const trace::node yes = detail::branch_node<a>(static_cast<A&&>(if_true), result);
    const trace::node no = detail::branch_node<b>(static_cast<B&&>(if_false), result);
    return var_of<result>(trace::select(test, yes, no));
}

/// Gives a value the word that the printed source uses for it: `Float sum = named("sum", 0.f);`
template <operand A>
auto named(const char* word, A&& a) {
    constexpr scalar own = detail::entering_scalar<A>(scalar::boolean);
    const trace::node value = trace::read(detail::node_of<own>(static_cast<A&&>(a)));
    trace::name(value, word);
    return detail::var_of_lanes<own, detail::lanes_in<A>()>(value);
}

}  // namespace balm::dsl
