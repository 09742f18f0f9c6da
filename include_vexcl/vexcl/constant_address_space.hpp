#pragma once
// Vectors in the constant memory of a device.

#include "vexcl/operations.hpp"
#include "vexcl/vector.hpp"
#include "vexcl/vector_pointer.hpp"

namespace vex {

/// The vector, read from constant memory if that has room for it.
template <class T>
decltype(auto) constant(const vector<T>& x) {
    return detail::wrap(balm::constant_memory(x.balm_vector()), x.queues());
}

}  // namespace vex
