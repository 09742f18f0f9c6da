#pragma once
// Volatile access: memory through which work-items see each other's writes while neither waits at a barrier.
//
//     auto shared = as_volatile(sums);
//     shared[lane] = value;
//     Float beside = shared[lane + 1];  // read from memory, here, whatever was known of it

#include <type_traits>

#include "balm/dsl/array.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/pointer.hpp"

namespace balm::dsl {

/// A view of memory whose elements are read and written as often as the kernel says so, where it says so.
/// That alone orders nothing between work-items: barriers and fences do.
template <scalar_type T, trace::access Use, space Where>
class Volatile {
public:
    using element = Element<T, Use, Where>;

    explicit Volatile(const trace::node& pointer) : pointer_(pointer) {}

    element operator[](located_index i) const {
        return element(detail::memory_place(pointer_, i.value, i.where, true));
    }
    element operator*() const { return (*this)[0]; }
    /// The view from element i on.
    friend Volatile operator+(const Volatile& v, located_index i) {
        return Volatile(trace::offset(v.pointer_, i.value));
    }

private:
    trace::node pointer_;
};

/// The memory of a parameter as volatile: `as_volatile(sums)[i]`.
template <scalar_type T, trace::access Use, space Where>
auto as_volatile(const detail::memory<T, Use, Where>& m) {
    return Volatile<T, Use, Where>(m.node());
}
/// What a pointer points to as volatile; the view stays where it is when the pointer moves on.
template <class T, space Where>
requires scalar_type<std::remove_const_t<T>>
auto as_volatile(const Ptr<T, Where>& p) {
    constexpr trace::access use = std::is_const_v<T> ? trace::access::in : trace::access::mixed;
    return Volatile<std::remove_const_t<T>, use, Where>(trace::read(p.node()));
}
/// An array as volatile, with flat indices.
template <scalar_type T, std::size_t... N>
auto as_volatile(const LocalArray<T, N...>& a) {
    return as_volatile(a.data());
}
template <scalar_type T, std::size_t... N>
auto as_volatile(const Array<T, N...>& a) {
    return as_volatile(a.data());
}

}  // namespace balm::dsl
