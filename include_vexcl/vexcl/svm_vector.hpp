#pragma once
// Vectors in memory that has the same address on host and device.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <balm/managed_array.hpp>

#include "vexcl/vector.hpp"
#include "vexcl/vector_pointer.hpp"

namespace vex {

/// A vector in shared virtual memory (OpenCL) or managed memory (CUDA) of one device. While it is mapped, it
/// is a host array. The constructor throws balm::error on devices without such memory.
///
///     vex::svm_vector<int> x(ctx.queue(0), n);
///     {
///         auto p = x.map(vex::backend::MAP_WRITE);
///         p[0] = 42;
///     }
///     y = x * 2;
template <class T>
class svm_vector : public vector<T> {
    using D = detail::balm_element<T>;

public:
    svm_vector(const command_queue& queue, std::size_t n)
        : svm_vector(queue, queue.balm_device().template managed_array<D>(n)) {}
    svm_vector(const svm_vector&) = delete;

    using mapped_array = backend::mapped_array<T>;
    /// Waits for commands that use the elements. With MAP_READ alone, commands may read them meanwhile.
    mapped_array map(backend::map_flags flags = backend::MAP_READ | backend::MAP_WRITE) {
        return backend::mapped<T>(memory_, flags);
    }
    const command_queue& queue() const { return this->queue_list()[0]; }
    /// The address of the elements, on host and device.
    T* get() const { return reinterpret_cast<T*>(memory_.address()); }

    using vector<T>::operator=;
    const svm_vector& operator=(const svm_vector& other) {  // NOLINT
        vector<T>::operator=(static_cast<const vector<T>&>(other));
        return *this;
    }

private:
    svm_vector(const command_queue& queue, balm::managed_array<D> memory)
        : vector<T>(std::vector<command_queue>{queue},
                    balm::as_vector(balm::buffer_range<D, balm::access::mixed>(memory))),
          memory_(std::move(memory)) {}

    balm::managed_array<D> memory_;
};

}  // namespace vex
