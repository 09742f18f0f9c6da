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
/// The beginning of a vector on one device, for functions that take vex::constant_ptr<T>.
template <class T>
const pointer<detail::balm_element<T>> constant_pointer(const vector<T>& x) {
    precondition(x.nparts() == 1, "constant_pointer is for vectors on one device");
    return {x.balm_vector().share(), x.queues(), true};
}

}  // namespace vex
