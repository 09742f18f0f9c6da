#pragma once
// Vectors in constant memory.

#include "vexcl/operations.hpp"
#include "vexcl/vector.hpp"
#include "vexcl/vector_pointer.hpp"

namespace vex {

/// The vector, read from constant memory if it fits; see balm::constant_memory.
template <class T>
decltype(auto) constant(const vector<T>& x) {
    return detail::wrap(balm::constant_memory(x.balm_vector()), x.queues());
}

}  // namespace vex
