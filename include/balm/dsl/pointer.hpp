#pragma once
// Pointers on the device. The address space is part of the type: Ptr<T> points to global memory,
// LocalPtr<T> and PrivatePtr<T> to local and private memory; they do not convert to each other. Ptr<const T>
// is read-only.
//
//     Ptr<int> q = address_of(numbers[0]);
//     q += 1;
//     *q = 99;

#include <cstdint>
#include <type_traits>

#include "balm/dsl/memory.hpp"

namespace balm::dsl {

template <class T>
using LocalPtr = Ptr<T, space::local>;
template <class T>
using PrivatePtr = Ptr<T, space::private_>;
/// A pointer to constant memory: to a constant_array(…) or a module's constant, or a `__constant` pointer of
/// kernel text.
template <class T>
using ConstantPtr = Ptr<const T, space::constant>;

namespace detail {

template <class T>
inline constexpr bool is_pointer = false;
template <class T, space Where>
inline constexpr bool is_pointer<Ptr<T, Where>> = true;

/// The IR type of a pointee: an element of memory, or another pointer.
template <class T>
trace::type pointed_type() {
    if constexpr (is_pointer<T>)
        return T::type();
    else
        return balm::detail::type_of_element<T>();
}

/// The type of the pointer to an Element or Field.
template <class A>
struct addressed {};
template <class T, trace::access Use, space Where>
struct addressed<Element<T, Use, Where>> {
    static_assert(Use != trace::access::out, "Balm: Out<T> is write-only; take the address of InOut<T>");
    using type = Ptr<std::conditional_t<Use == trace::access::in, const T, T>, Where>;
};
template <class T, trace::access Use, space Where>
struct addressed<Field<T, Use, Where>> {
    using type = Ptr<std::conditional_t<Use == trace::access::in, const T, T>, Where>;
};

}  // namespace detail

/// An element that is itself a pointer, in an array of pointers or reached through a pointer to a pointer.
template <class T, space Pointed, trace::access Use, space Where>
class Element<Ptr<T, Pointed>, Use, Where> {
public:
    using element_type = Ptr<T, Pointed>;

    explicit Element(const detail::memory_place& place) : place_(place) {}
    Element(const Element&) = delete;
    void operator=(Element&& other) && { place_.store(other.place_.load()); }
    void operator=(const Ptr<T, Pointed>& p) && { place_.store(trace::read(p.node())); }
    auto operator[](located_index i) const { return pointer()[i]; }
    auto operator*() const { return *pointer(); }
    const detail::memory_place& balm_place() const { return place_; }

private:
    Ptr<T, Pointed> pointer() const { return Ptr<T, Pointed>(place_.load()); }
    detail::memory_place place_;
};

/// A pointer to elements of T. It is a variable: it can be assigned to and advanced.
template <class T, space Where>
class [[maybe_unused]] Ptr {
    using plain = std::remove_const_t<T>;
    static constexpr trace::access use = std::is_const_v<T> ? trace::access::in : trace::access::mixed;
    using element = Element<plain, use, Where>;

public:
    using pointed_type = T;

    /// A null pointer.
    Ptr() : node_(trace::constant(type(), 0)) {}
    Ptr(const Ptr& other) : node_(trace::read(other.node_)) {}
    /// Converts Ptr<T> to Ptr<const T>.
    template <class U>
    requires(std::is_const_v<T>&& std::same_as<U, plain>) Ptr(const Ptr<U, Where>& other)  // NOLINT
        : node_(trace::reinterpret(trace::read(other.node()), type())) {}
    /// Refuses all other conversions.
    template <class U, space From>
    requires(!std::same_as<Ptr<U, From>, Ptr> && !(std::same_as<U, plain> && From == Where))
        Ptr(const Ptr<U, From>&) {  // NOLINT(google-explicit-constructor)
        static_assert(
            From == Where,
            "Balm: pointers keep their address space: Ptr<T> points to global memory, LocalPtr<T> to local, "
            "PrivatePtr<T> to private memory");
        static_assert(From != Where || !std::same_as<std::remove_const_t<U>, plain>,
                      "Balm: a pointer to const does not convert to a pointer to non-const");
        static_assert(From != Where || std::same_as<std::remove_const_t<U>, plain>,
                      "Balm: converting a pointer to another type needs pointer_cast<T>(p)");
    }
    template <trace::access Use>
    Ptr(const Element<Ptr, Use, space::private_>& e) : node_(e.balm_place().load()) {}  // NOLINT
    explicit Ptr(const trace::node& pointer) : node_(pointer) {}

    Ptr& operator=(const Ptr& other) & {
        trace::write(node_, trace::read(other.node_));
        return *this;
    }

    element operator[](located_index i) const {
        return element(detail::memory_place(trace::read(node_), i.value, i.where));
    }
    element operator*() const {
        return element(detail::memory_place(trace::read(node_), trace::constant(scalar::i32, 0), {}));
    }
    /// Members of the structure pointed to: `p->pos`.
    auto operator->() const requires structure_type<plain> {
        struct arrow {
            element e;
            element* operator->() { return &e; }
        };
        return arrow{**this};
    }

    Ptr& operator+=(located_index i) & { return *this = *this + i; }
    Ptr& operator-=(located_index i) & { return *this = *this - i; }
    Ptr& operator++() & { return *this += 1; }
    Ptr& operator--() & { return *this -= 1; }

    friend Ptr operator+(const Ptr& p, located_index i) {
        return Ptr(trace::offset(trace::read(p.node_), i.value));
    }
    friend Ptr operator-(const Ptr& p, located_index i) {
        const Index forward(trace::convert(i.value, scalar::i64));
        return Ptr(trace::offset(trace::read(p.node_), trace::read(Index(-forward).node())));
    }
    /// The distance, in elements, between two pointers into the same memory.
    friend Index operator-(const Ptr& a, const Ptr& b) {
        return Index(cast<std::int64_t>(a.address()) - cast<std::int64_t>(b.address())) /
               static_cast<std::int64_t>(size_of(detail::pointed_type<plain>()));
    }
    friend Bool operator==(const Ptr& a, const Ptr& b) { return a.address() == b.address(); }
    friend Bool operator!=(const Ptr& a, const Ptr& b) { return a.address() != b.address(); }
    friend Bool operator<(const Ptr& a, const Ptr& b) { return a.address() < b.address(); }
    friend Bool operator>(const Ptr& a, const Ptr& b) { return a.address() > b.address(); }
    friend Bool operator<=(const Ptr& a, const Ptr& b) { return a.address() <= b.address(); }
    friend Bool operator>=(const Ptr& a, const Ptr& b) { return a.address() >= b.address(); }

    /// The address as a number.
    ULong address() const { return ULong(trace::convert(trace::read(node_), scalar::u64)); }

    static trace::type type() {
        return trace::pointer_to(detail::pointed_type<plain>(), Where, std::is_const_v<T>);
    }
    const trace::node& node() const { return node_; }

private:
    trace::node node_;
};

/// The address of an element: `address_of(numbers[i])`.
template <class T, trace::access Use, space Where>
auto address_of(Element<T, Use, Where>&& e) {
    return typename detail::addressed<Element<T, Use, Where>>::type(e.balm_place().address());
}
/// The address of a member of a structure.
template <class T, trace::access Use, space Where>
auto address_of(const detail::Field<T, Use, Where>& f) {
    return typename detail::addressed<detail::Field<T, Use, Where>>::type(f.balm_place().address());
}
/// The address of a variable. From then on the variable is in private memory.
template <detail::number T>
PrivatePtr<T> address_of(Var<T>& v) {
    return PrivatePtr<T>(trace::address_of(v.node()));
}
template <structure_type S>
PrivatePtr<S> address_of(Var<S>& v) {
    return PrivatePtr<S>(v.balm_place().address());
}
template <class T, space Pointed>
PrivatePtr<Ptr<T, Pointed>> address_of(Ptr<T, Pointed>& p) {
    return PrivatePtr<Ptr<T, Pointed>>(trace::address_of(p.node()));
}

/// The same address as a pointer to elements of another type: `pointer_cast<unsigned>(p)`.
template <class U, class T, space Where>
auto pointer_cast(const Ptr<T, Where>& p) {
    using target = Ptr<std::conditional_t<std::is_const_v<T>, const U, U>, Where>;
    return target(trace::reinterpret(trace::read(p.node()), target::type()));
}

namespace detail {

/// The value of a variable of any kind, as an argument or result of a function.
template <class A>
node result_node(const A& a) {
    if constexpr (requires { a.balm_place(); })
        return a.balm_place().load();
    else
        return trace::read(a.node());
}

}  // namespace detail

}  // namespace balm::dsl
