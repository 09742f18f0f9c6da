#pragma once
// Device values: `Int`, `Float` … record the operations on them. Reading a variable yields its value at that
// point of the program; copies and moves copy; `Int x;` is zero.

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "balm/dsl/operand.hpp"

namespace balm::dsl {

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
    BALM_REFUSED(BALM_DEVICE_CONDITION)
    explicit operator bool() const;
    BALM_REFUSED(BALM_DEVICE_VALUE)
    operator T() const {                                            // NOLINT(google-explicit-constructor)
        static_assert(detail::always_false<T>, BALM_DEVICE_VALUE);  // Clang 14 accepts a switch
        return T();
    }
    template <detail::not_a_number A>
    BALM_REFUSED(BALM_NOT_A_NUMBER)
    Var(A value);  // NOLINT(google-explicit-constructor)

    const trace::node& node() const { return node_; }

    // Non-template friends: overload resolution prefers them to function templates of the same name that
    // `using namespace std` makes visible.
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
            static_assert(detail::lanes_in<A>() == 1, BALM_VECTOR_TO_SCALAR);
            using from = typename detail::value_type<plain>::type;
            static_assert(kind_of(scalar_of<from>) <= kind_of(scalar_of<T>), BALM_NARROWS);
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
/// The type of global_id, local_id and group_id: 64 bits, signed, so that `i - 1` of the first item is -1.
using Index = Var<std::int64_t>;

namespace detail {

/// A place in memory, and the accesses to it.
class memory_place {
public:
    memory_place(node pointer, node index, location where, trace::access_kind how = trace::access_kind::plain)
        : pointer_(pointer), index_(index), where_(where), how_(how) {}

    node load() const { return trace::load(pointer_, index_, where_, how_); }
    /// An operand as a T, to be stored here: a Double becomes a half in one step.
    template <class T, class A>
    node converted(A&& a) const;
    void store(node value) const { trace::store(pointer_, index_, value, where_, how_); }
    /// An atomic operation; returns the old value.
    node atomic(trace::atomic_op what, const node* values, std::size_t count, location where) const {
        return trace::atomic(what, pointer_, index_, values, count, where);
    }
    /// pointer + index
    node address() const { return trace::offset(pointer_, index_); }

    node load_vector(int lanes) const { return trace::load_vector(pointer_, index_, lanes, where_, how_); }
    void store_vector(node value) const { trace::store_vector(pointer_, index_, value, where_, how_); }

    node load_lanes(std::uint64_t order, int count) const {
        if (count == 1) return trace::load(lane(order & 15), trace::constant(scalar::i32, 0), where_);
        return trace::swizzle(load(), order, count);
    }
    /// Writes the lanes that `order` names, and no others.
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
    trace::access_kind how_;
};

template <class T, class A>
node memory_place::converted(A&& a) const {
    if constexpr (std::same_as<T, float> && lanes_in<A>() == 1 && type_of_operand<A>().type == scalar::f64)
        if (trace::pointee(pointer_.type).element == scalar::f16)
            return trace::rounded_for_half(Var<double>(static_cast<A&&>(a)).node());
    return Var<T>(static_cast<A&&>(a)).node();
}

template <trace::access Use>
inline constexpr bool may_read = Use != trace::access::out;
template <trace::access Use>
inline constexpr bool may_write = Use != trace::access::in;

/// Whether converting a scalar to T would narrow to a smaller kind.
template <class A, class T>
constexpr bool narrows_to() {
    if constexpr (lanes_in<A>() == 1) return kind_of(type_of_operand<A>().type) > kind_of(scalar_of<T>);
    return false;
}

}  // namespace detail

/// An element of memory, `x[i]`. It converts and assigns only as an rvalue, so one that is kept in a variable
/// cannot be used later.
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
        store(place_.template converted<value_type>(static_cast<A&&>(a)));
    }

#define BALM_COMPOUND(symbol, id)                                                \
    template <operand A>                                                         \
    void operator symbol(A&& a)&& {                                              \
        store(place_.template converted<value_type>(                             \
            apply<builtin::id>(Var<value_type>(value()), static_cast<A&&>(a)))); \
    }
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND
#define BALM_KEPT(symbol, id)       \
    template <operand A>            \
    BALM_REFUSED(BALM_KEPT_ELEMENT) \
    void operator symbol(A&& a)&;
    BALM_COMPOUND_ASSIGNMENTS(BALM_KEPT)
    BALM_KEPT(=, id)
#undef BALM_KEPT
    BALM_REFUSED(BALM_KEPT_ELEMENT) void operator++() &;
    BALM_REFUSED(BALM_KEPT_ELEMENT) void operator++(int) &;
    BALM_REFUSED(BALM_KEPT_ELEMENT) void operator--() &;
    BALM_REFUSED(BALM_KEPT_ELEMENT) void operator--(int) &;
    /// `++x[i]` returns the new value, `x[i]++` the old one.
    Var<value_type> operator++() && { return stepped<builtin::add>().after; }
    Var<value_type> operator--() && { return stepped<builtin::sub>().after; }
    Var<value_type> operator++(int) && { return stepped<builtin::add>().before; }
    Var<value_type> operator--(int) && { return stepped<builtin::sub>().before; }

    template <class B = T>
    BALM_REFUSED(BALM_DEVICE_CONDITION)
    explicit operator bool() const;
    BALM_REFUSED(BALM_DEVICE_VALUE)
    operator value_type() const {  // NOLINT(google-explicit-constructor)
        static_assert(detail::always_false<T>, BALM_DEVICE_VALUE);
        return value_type();
    }
    template <detail::not_a_number A>
    BALM_REFUSED(BALM_NOT_A_NUMBER)
    void operator=(A value);
    template <operand A>
    requires(detail::narrows_to<A, value_type>()) BALM_REFUSED(BALM_NARROWS)
    void operator=(A&& a) &&;
    template <operand A>
    requires(detail::lanes_in<A>() > 1) BALM_REFUSED(BALM_VECTOR_TO_SCALAR)
    void operator=(A&& a) &&;
    template <class A>
    requires(!operand<A> && !detail::not_a_number<A>) BALM_REFUSED(BALM_NO_ELEMENT)
    void operator=(const A& a) &&;

    trace::node load() && { return value(); }
    /// The elements from `lanes` * the index on, as a vector, and the reverse.
    trace::node load_vector(int lanes) && {
        check_read();
        return place_.load_vector(lanes);
    }
    void store_vector(trace::node stored) && {
        check_write();
        place_.store_vector(stored);
    }
    const detail::memory_place& balm_place() const { return place_; }

    friend Var<value_type> min(Element&& a, Element&& b) {
        return Var<value_type>(apply<builtin::min>(static_cast<Element&&>(a), static_cast<Element&&>(b)));
    }
    friend Var<value_type> max(Element&& a, Element&& b) {
        return Var<value_type>(apply<builtin::max>(static_cast<Element&&>(a), static_cast<Element&&>(b)));
    }

private:
    static void check_read() {
        static_assert(detail::may_read<Use>, "Balm: Out<T> is write-only; use InOut<T> to read and write");
    }
    static void check_write() { static_assert(detail::may_write<Use>, "Balm: this memory is read-only"); }
    trace::node value() const {
        check_read();
        return place_.load();
    }
    void store(trace::node stored) const {
        check_write();
        place_.store(stored);
    }

    struct step_values {
        Var<value_type> before, after;
    };
    template <builtin B>
    step_values stepped() {
        static_assert(!std::same_as<T, bool>, "Balm: a Bool cannot be incremented or decremented");
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

}  // namespace balm::dsl

#include "balm/dsl/operators.hpp"
