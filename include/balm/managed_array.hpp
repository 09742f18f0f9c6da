#pragma once
// Managed memory: one address for host and device, without copies by Balm. OpenCL calls it shared virtual
// memory.

#include <cstddef>
#include <memory>

#include "balm/buffer.hpp"

namespace balm {

namespace detail {
std::shared_ptr<runtime::storage> managed_allocate(const std::shared_ptr<runtime::device_state>&,
                                                   const shape&, std::size_t element_size);
void* storage_address(const runtime::storage&);
}  // namespace detail

/// An array in memory that has the same address on host and device. It can be used wherever a mixed buffer
/// can. Host and device take turns: the host owns the elements while they are mapped, which is in place on
/// every device. The driver migrates what is accessed (CUDA: by pages), so a structure of which each side
/// accesses little causes little traffic. If a side processes the whole array, a buffer is faster.
///
///     balm::managed_array<node> nodes = device.managed_array<node>(n);
///     {
///         auto view = nodes.map();             // waits for the commands that use it
///         view[0].next = nodes.address() + 5;  // an address that kernels may follow within the array
///     }
///     device.execute(walk(nodes), {1});
///
/// A handle: copies share the elements. They are freed with the last handle or range, once the commands that
/// use them have completed.
template <class T>
class managed_array : public buffer_range<T, access::mixed> {
public:
    /// Use device.managed_array<T>(…). Throws usage_error on a device without managed memory,
    /// out_of_memory_error.
    managed_array(const std::shared_ptr<runtime::device_state>& on, const balm::shape& extents)
        : buffer_range<T, access::mixed>(
              {detail::managed_allocate(on, extents, sizeof(T)), sizeof(T), extents}) {}

    /// The address of the first element, for host and device. The host may access it only through map().
    T* address() const { return static_cast<T*>(detail::storage_address(*this->storage())); }

    /// Frees the memory now, as buffer::free() does.
    void free() { detail::storage_free(*this->storage()); }
};

}  // namespace balm
