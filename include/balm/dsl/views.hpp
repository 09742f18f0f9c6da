#pragma once
// Views of memory whose accesses are not plain ones: volatile, so that work-items see each other's writes
// without waiting at a barrier, or streaming, past the caches. And prefetches.
//
//     auto shared = as_volatile(sums);
//     shared[lane] = value;
//     Float beside = shared[lane + 1];  // always loads from memory, here
//
//     prefetch(in, i + ahead);
//     as_streaming(out)[i] = in[i] * 2.f;

#include <concepts>
#include <type_traits>

#include "balm/dsl/array.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/pointer.hpp"

namespace balm::dsl {

/// A view of memory in which every load and store is of this kind.
template <class T, trace::access Use, space Where, trace::access_kind How>
class View {
public:
    using element = Element<T, Use, Where>;

    explicit View(const trace::node& pointer) : pointer_(pointer) {}

    element operator[](located_index i) const {
        return element(detail::memory_place(pointer_, i.value, i.where, How));
    }
    element operator*() const { return (*this)[0]; }
    /// The view from element i on.
    friend View operator+(const View& v, located_index i) { return View(trace::offset(v.pointer_, i.value)); }

private:
    trace::node pointer_;
};

namespace detail {

template <class T>
concept number_in_memory = scalar_type<T> || std::same_as<T, half> || vector_type<T>;

template <trace::access_kind How, class T, space Where>
auto view_through(const Ptr<T, Where>& p) {
    constexpr trace::access use = std::is_const_v<T> ? trace::access::in : trace::access::mixed;
    return View<std::remove_const_t<T>, use, Where, How>(trace::read(p.node()));
}

}  // namespace detail

/// Volatile access to a memory parameter: `as_volatile(sums)[i]`. Each load and store of the kernel is
/// performed, in place. This does not order accesses between work-items: barriers and fences do.
template <scalar_type T, trace::access Use, space Where>
auto as_volatile(const detail::memory<T, Use, Where>& m) {
    return View<T, Use, Where, trace::access_kind::volatile_>(m.node());
}
/// Volatile access through a pointer. The view keeps its address when the pointer is advanced.
template <class T, space Where>
requires scalar_type<std::remove_const_t<T>>
auto as_volatile(const Ptr<T, Where>& p) { return detail::view_through<trace::access_kind::volatile_>(p); }
/// Volatile access to an array, with flat indices.
template <scalar_type T, std::size_t... N>
auto as_volatile(const LocalArray<T, N...>& a) {
    return as_volatile(a.data());
}
template <scalar_type T, std::size_t... N>
auto as_volatile(const Array<T, N...>& a) {
    return as_volatile(a.data());
}

/// Streaming access to global memory: `as_streaming(out)[i] = value`. It tells the device that the elements
/// are not used again soon: CPUs write whole cache lines without reading them first (vectors of 64 bytes),
/// NVIDIA's GPUs evict them first (through CUDA). Where there is no such access, it is a plain one. Results
/// are the same.
template <detail::number_in_memory T, trace::access Use>
auto as_streaming(const detail::memory<T, Use, space::global>& m) {
    return View<T, Use, space::global, trace::access_kind::streaming>(m.node());
}
/// Streaming access through a pointer. The view keeps its address when the pointer is advanced.
template <class T>
requires detail::number_in_memory<std::remove_const_t<T>>
auto as_streaming(const Ptr<T, space::global>& p) {
    return detail::view_through<trace::access_kind::streaming>(p);
}

/// Tells the device that element i is used soon: it loads the element's cache line while the work-item goes
/// on. `memory` is In or InOut, or a pointer to global memory; the index may be out of range. Results are the
/// same.
template <class T, trace::access Use>
void prefetch(const detail::memory<T, Use, space::global>& memory, located_index i) {
    trace::prefetch(memory.node(), i.value, i.where);
}
template <class T>
void prefetch(const Ptr<T, space::global>& p, located_index i) {
    trace::prefetch(trace::read(p.node()), i.value, i.where);
}

}  // namespace balm::dsl
