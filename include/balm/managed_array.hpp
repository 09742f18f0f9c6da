#pragma once
// Managed memory: under one address for host and device, without a copy of Balm's making. OpenCL calls it
// shared virtual memory.

#include <cstddef>
#include <memory>

#include "balm/buffer.hpp"

namespace balm {

namespace detail {
std::shared_ptr<runtime::storage> managed_allocate(const std::shared_ptr<runtime::device_state>&,
                                                   const shape&, std::size_t element_size);
void* storage_address(const runtime::storage&);
}  // namespace detail

/// An array in memory that host and device see under one address. It is used as a mixed buffer is, wherever
/// one is. The host takes turns with the device: it has the elements while they are mapped, in place,
/// whatever the device; the driver moves what is touched (CUDA: by pages), so that a structure of which each
/// side touches little travels little. For arrays that a side works through as a whole a buffer is faster.
///
///     balm::managed_array<node> nodes = device.managed_array<node>(n);
///     {
///         auto view = nodes.map();             // waits for the commands that use it
///         view[0].next = nodes.address() + 5;  // an address that kernels may follow within the array
///     }
///     device.execute(walk(nodes), {1});
///
/// A handle: copies share the elements. They are freed, once the commands that use them are done, with the
/// last handle or range.
template <class T>
class managed_array : public buffer_range<T, access::mixed> {
public:
    /// Use device.managed_array<T>(…). Throws usage_error on a device without such memory,
    /// out_of_memory_error.
    managed_array(const std::shared_ptr<runtime::device_state>& on, const balm::shape& extents)
        : buffer_range<T, access::mixed>(
              {detail::managed_allocate(on, extents, sizeof(T)), sizeof(T), extents}) {}

    /// The address of the first element, for host and device. The host goes there through map() only.
    T* address() const { return static_cast<T*>(detail::storage_address(*this->storage())); }

    /// Gives the memory back now, as buffer::free().
    void free() { detail::storage_free(*this->storage()); }
};

}  // namespace balm
