#pragma once
// Volatile access: work-items see each other's writes to memory without waiting at a barrier.
//
//     auto shared = as_volatile(sums);
//     shared[lane] = value;
//     Float beside = shared[lane + 1];  // always loads from memory, here

#include <type_traits>

#include "balm/dsl/array.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/pointer.hpp"

namespace balm::dsl {

/// A view of memory in which every load and store of the kernel is performed, in place. This does not order
/// accesses between work-items: barriers and fences do.
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

/// Volatile access to a memory parameter: `as_volatile(sums)[i]`.
template <scalar_type T, trace::access Use, space Where>
auto as_volatile(const detail::memory<T, Use, Where>& m) {
    return Volatile<T, Use, Where>(m.node());
}
/// Volatile access through a pointer. The view keeps its address when the pointer is advanced.
template <class T, space Where>
requires scalar_type<std::remove_const_t<T>>
auto as_volatile(const Ptr<T, Where>& p) {
    constexpr trace::access use = std::is_const_v<T> ? trace::access::in : trace::access::mixed;
    return Volatile<std::remove_const_t<T>, use, Where>(trace::read(p.node()));
}
/// Volatile access to an array, with flat indices.
template <scalar_type T, std::size_t... N>
auto as_volatile(const LocalArray<T, N...>& a) {
    return as_volatile(a.data());
}
template <scalar_type T, std::size_t... N>
auto as_volatile(const Array<T, N...>& a) {
    return as_volatile(a.data());
}

}  // namespace balm::dsl
