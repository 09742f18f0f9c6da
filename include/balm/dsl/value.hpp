#pragma once
// Device values: `Int`, `Float` … record what is done with them. A value read from a variable is the value
// at that point of the program; copies and moves copy; `Int x;` is zero.

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "balm/trace.hpp"
#include "balm/types.hpp"

namespace balm::dsl {

template <scalar_type T>
class Var;
template <scalar_type T, bool Readable>
class Element;

namespace detail {

using balm::trace::location;
using balm::trace::node;

template <class T>
inline constexpr bool is_var = false;
template <class T>
inline constexpr bool is_var<Var<T>> = true;
template <class T>
inline constexpr bool is_element = false;
template <class T, bool R>
inline constexpr bool is_element<Element<T, R>> = true;

template <class T>
struct value_type {};
template <class T>
struct value_type<Var<T>> {
    using type = T;
};
template <class T, bool R>
struct value_type<Element<T, R>> {
    using type = T;
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

/// A host scalar as a constant of type T; an integer that does not fit is refused, -1 for an unsigned type
/// means all ones as in C++.
template <scalar_type T, scalar_type H>
node constant_of(H value) {
    const T converted = static_cast<T>(value);
    if constexpr (std::integral<T> && std::integral<H> && !std::same_as<T, bool> && sizeof(H) > sizeof(T)) {
        const bool fits = static_cast<H>(converted) == value ||
                          static_cast<H>(static_cast<std::make_signed_t<T>>(converted)) == value ||
                          static_cast<H>(static_cast<std::make_unsigned_t<T>>(converted)) == value;
        if (!fits) constant_does_not_fit(scalar_of<T>);
    }
    return trace::constant(scalar_of<T>, bits_of(converted));
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
concept device_value = detail::is_var<std::remove_cvref_t<T>> || detail::is_element<std::remove_cvref_t<T>>;
/// What may stand beside a device value: another one, or a host scalar.
template <class T>
concept operand = device_value<T> || scalar_type<std::remove_cvref_t<T>>;

namespace detail {

template <class T>
constexpr scalar strong_scalar() {
    if constexpr (device_value<T>)
        return scalar_of<typename value_type<std::remove_cvref_t<T>>::type>;
    else
        return scalar::nothing;
}
constexpr scalar common_strong(scalar a, scalar b) {
    return a == scalar::nothing ? b : b == scalar::nothing || a == b ? a : common_scalar(a, b);
}
/// The scalar type with which an operand enters an operation among operands of the strong type.
template <class T>
constexpr scalar entering_scalar(scalar strong) {
    using plain = std::remove_cvref_t<T>;
    if constexpr (device_value<T>)
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
    else if constexpr (is_element<plain>) {
        static_assert(!std::is_lvalue_reference_v<A>,
                      "Balm: an element (x[i]) cannot be kept with auto; write the type: Float v = x[i];");
        return static_cast<plain&&>(a).load();
    } else
        return constant_of<typename balm::detail::host_type<Entering>::type>(a);
}

}  // namespace detail

namespace detail {

/// The node of an operand as a truth value: a number counts as true unless it is zero.
template <class A>
node condition_of(A&& a) {
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

}  // namespace detail

/// Applies a row of builtins.def to operands, at least one of which is a device value.
template <builtin B, operand... A>
auto apply(A&&... a) {
    constexpr scalar strong = detail::strong_of<A...>();
    constexpr scalar result = balm::detail::result_of(B, detail::operand_scalar<B, A>(strong)...);
    static_assert(result != scalar::nothing,
                  "Balm: this operator or built-in does not take operands of these types (integers wanted?)");
    const trace::node nodes[] = {detail::row_operand<B, strong>(static_cast<A&&>(a))...};
    return var_of<result>(trace::apply(B, nodes, sizeof...(A)));
}

/// An index with its C++ line; any integer serves.
struct located_index {
    trace::node value;
    trace::location where;

    template <operand A>
    located_index(A&& a, const char* file = __builtin_FILE(),  // NOLINT(google-explicit-constructor)
                  std::uint32_t line = __builtin_LINE())
        : value(detail::node_of<entering<A>()>(static_cast<A&&>(a))), where{file, line} {}

private:
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

/// A variable or value of type T on the device.
template <scalar_type T>
class [[maybe_unused]] Var {
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

#define BALM_COMPOUND(symbol, id)                                           \
    template <operand A>                                                    \
    Var& operator symbol(A&& a)& {                                          \
        return *this = Var(apply<builtin::id>(*this, static_cast<A&&>(a))); \
    }
    BALM_COMPOUND(+=, add)
    BALM_COMPOUND(-=, sub)
    BALM_COMPOUND(*=, mul)
    BALM_COMPOUND(/=, div)
    BALM_COMPOUND(%=, rem)
    BALM_COMPOUND(&=, bit_and)
    BALM_COMPOUND(|=, bit_or)
    BALM_COMPOUND(^=, bit_xor)
    BALM_COMPOUND(<<=, shl)
    BALM_COMPOUND(>>=, shr)
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

/// An element of memory, `x[i]`: converts and assigns only where it is written, so that a kept one cannot
/// be misused later.
template <scalar_type T, bool Readable>
class Element {
public:
    using value_type = T;

    Element(trace::node pointer, located_index index)
        : pointer_(pointer), index_(index.value), where_(index.where) {}
    Element(const Element&) = delete;

    void operator=(Element&& other) && { store(static_cast<Element&&>(other).load()); }
    template <operand A>
    void operator=(A&& a) && {
        store(Var<T>(static_cast<A&&>(a)).node());
    }

#define BALM_COMPOUND(symbol, id)                                                       \
    template <operand A>                                                                \
    void operator symbol(A&& a)&& {                                                     \
        store(Var<T>(apply<builtin::id>(Var<T>(value()), static_cast<A&&>(a))).node()); \
    }
    BALM_COMPOUND(+=, add)
    BALM_COMPOUND(-=, sub)
    BALM_COMPOUND(*=, mul)
    BALM_COMPOUND(/=, div)
    BALM_COMPOUND(%=, rem)
    BALM_COMPOUND(&=, bit_and)
    BALM_COMPOUND(|=, bit_or)
    BALM_COMPOUND(^=, bit_xor)
    BALM_COMPOUND(<<=, shl)
    BALM_COMPOUND(>>=, shr)
#undef BALM_COMPOUND
    /// `++x[i]` gives the new value, `x[i]++` the one before.
    Var<T> operator++() && { return stepped<builtin::add>().after; }
    Var<T> operator--() && { return stepped<builtin::sub>().after; }
    Var<T> operator++(int) && { return stepped<builtin::add>().before; }
    Var<T> operator--(int) && { return stepped<builtin::sub>().before; }

    template <class B = T>
    explicit operator bool() const {
        static_assert(detail::always_false<B>,
                      "Balm: a device value has no value while the kernel is traced; use IF, WHILE or "
                      "select(condition, a, b) instead of if, while and ?:");
        return false;
    }

    trace::node load() && { return value(); }

    friend Var<T> min(Element&& a, Element&& b) {
        return Var<T>(apply<builtin::min>(static_cast<Element&&>(a), static_cast<Element&&>(b)));
    }
    friend Var<T> max(Element&& a, Element&& b) {
        return Var<T>(apply<builtin::max>(static_cast<Element&&>(a), static_cast<Element&&>(b)));
    }

private:
    trace::node value() const {
        static_assert(Readable, "Balm: Out<T> is write-only; use Mixed<T> to read and write");
        return trace::load(pointer_, index_, where_);
    }
    void store(trace::node stored) { trace::store(pointer_, index_, stored, where_); }

    struct step_values {
        Var<T> before, after;
    };
    template <builtin B>
    step_values stepped() {
        static_assert(!std::same_as<T, bool>, "Balm: a Bool cannot be counted up or down");
        const Var<T> before(value());
        const step_values values{before, Var<T>(apply<B>(before, T(1)))};
        store(values.after.node());
        return values;
    }

    trace::node pointer_;
    trace::node index_;
    trace::location where_;
};

template <class... A>
concept device_operands = (operand<A> && ...) && (device_value<A> || ...);

#define BALM_BINARY(symbol, id)                                              \
    template <class L, class R>                                              \
    requires device_operands<L, R>                                           \
    auto operator symbol(L&& l, R&& r) {                                     \
        return apply<builtin::id>(static_cast<L&&>(l), static_cast<R&&>(r)); \
    }
BALM_BINARY(+, add)
BALM_BINARY(-, sub)
BALM_BINARY(*, mul)
BALM_BINARY(/, div)
BALM_BINARY(%, rem)
BALM_BINARY(<<, shl)
BALM_BINARY(>>, shr)
BALM_BINARY(&, bit_and)
BALM_BINARY(|, bit_or)
BALM_BINARY(^, bit_xor)
BALM_BINARY(<, less)
BALM_BINARY(>, greater)
BALM_BINARY(<=, less_equal)
BALM_BINARY(>=, greater_equal)
BALM_BINARY(==, equal)
BALM_BINARY(!=, not_equal)
#undef BALM_BINARY

template <device_value A>
auto operator-(A&& a) {
    return apply<builtin::neg>(static_cast<A&&>(a));
}
template <device_value A>
auto operator+(A&& a) {
    constexpr scalar own = detail::strong_scalar<A>();
    return var_of<promote(own)>(trace::convert(detail::node_of<own>(static_cast<A&&>(a)), promote(own)));
}
template <device_value A>
auto operator~(A&& a) {
    return apply<builtin::bit_not>(static_cast<A&&>(a));
}
template <device_value A>
Bool operator!(A&& a) {
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

/// The value as another type, as C++ converts it; floating to integer saturates and turns NaN into 0.
template <scalar_type T, device_value A>
Var<canonical<T>> cast(A&& a) {
    return Var<canonical<T>>(
        trace::convert(detail::node_of<detail::strong_scalar<A>()>(static_cast<A&&>(a)), scalar_of<T>));
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

}  // namespace detail

/// `condition ? if_true : if_false`. Both values are computed; `if_else` computes only one.
template <class C, class A, class B>
requires device_operands<C, A, B>
auto select(C&& condition, A&& if_true, B&& if_false) {
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
    return var_of<own>(value);
}

}  // namespace balm::dsl
